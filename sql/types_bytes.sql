-- bytea and bit strings: bytes, including zeros, then the length.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

CREATE TABLE t_bytea (id int, k bytea);
INSERT INTO t_bytea SELECT 0, decode(hex, 'hex') FROM unnest('{"","",00,00,0000,000000,00000000000000,
	0000000000000000,000000000000000000,01,0100,010000,ff,ffff,ff00,00ff,7f,80,0102030405060708,
	010203040506070800,01020304050607080000,0102030405060707ff,NULL,NULL}'::text[]) hex;
INSERT INTO t_bytea SELECT i, substr(decode(repeat('00', 3 * (i % 4)) || md5((i % 700)::text), 'hex'),
									 1, random('len', i, 22)::int) FROM generate_series(1, 4000) i;
INSERT INTO t_bytea SELECT i, decode(repeat(md5((i % 3)::text), 500) || repeat('00', i % 5), 'hex')
	FROM generate_series(1, 60) i;
SELECT check_directions('t_bytea');

CREATE TABLE t_varbit (id int, k varbit);
INSERT INTO t_varbit SELECT 0, unnest('{"","",0,0,1,00,01,10,11,0000000,00000000,000000000,1111111,11111111,
	111111111,10000000,100000000,NULL,NULL}'::varbit[]);
INSERT INTO t_varbit SELECT 0, repeat('0', n)::varbit FROM generate_series(60, 70) n;
INSERT INTO t_varbit SELECT i, substr(random('bits', i, 1000)::int::bit(30)::text, 1, random('len', i, 31)::int)::varbit
	FROM generate_series(1, 4000) i;
SELECT check_directions('t_varbit');

CREATE TABLE t_bit (id int, k bit(11));
INSERT INTO t_bit SELECT i, nullif(random('bit', i, 2048), 0)::int::bit(11) FROM generate_series(1, 4000) i;
SELECT check_directions('t_bit');

CREATE TABLE t_uuid (id int, k uuid);
INSERT INTO t_uuid SELECT 0, unnest('{00000000-0000-0000-0000-000000000000,
	00000000-0000-0000-0000-000000000001,00000000-0000-0000-8000-000000000000,
	00000000-0000-0001-0000-000000000000,7fffffff-ffff-ffff-ffff-ffffffffffff,
	80000000-0000-0000-0000-000000000000,ffffffff-ffff-ffff-ffff-ffffffffffff,
	ffffffff-ffff-ffff-ffff-ffffffffffff,NULL,NULL}'::uuid[]);
INSERT INTO t_uuid SELECT i, md5(i::text)::uuid FROM generate_series(1, 3000) i;
INSERT INTO t_uuid SELECT i, ('01234567-89ab-4def-8' || substr(md5((i % 500)::text), 1, 15))::uuid
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_uuid');
