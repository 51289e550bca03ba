-- Integers and what sorts like them: oid, bool, "char", money, pg_lsn, xid8, tid.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

CREATE TABLE t_int2 (id int, k int2);
INSERT INTO t_int2 SELECT 0, unnest('{-32768,-32768,-1,0,0,1,32767,NULL,NULL}'::int2[]);
INSERT INTO t_int2 SELECT i, random('int2', i, 65536) - 32768 FROM generate_series(1, 3000) i;
SELECT check_directions('t_int2');

CREATE TABLE t_int4 (id int, k int4);
INSERT INTO t_int4 SELECT 0, unnest('{-2147483648,-2147483648,-1,0,0,1,2147483647,NULL,NULL}'::int4[]);
INSERT INTO t_int4 SELECT i, random('int4', i, 4294967296) - 2147483648 FROM generate_series(1, 3000) i;
INSERT INTO t_int4 SELECT i, random('small', i, 100) - 50 FROM generate_series(1, 3000) i;
SELECT check_directions('t_int4');

CREATE TABLE t_int8 (id int, k int8);
INSERT INTO t_int8 SELECT 0, unnest('{-9223372036854775808,-9223372036854775808,-4294967296,-2147483649,
	-1,0,0,1,2147483648,4294967295,4294967296,9223372036854775807,NULL,NULL}'::int8[]);
INSERT INTO t_int8 SELECT i, (random('int8', i) - 500000000) * 9000000000 FROM generate_series(1, 3000) i;
SELECT check_directions('t_int8');

-- A narrow range far from zero, and one value only.
CREATE TABLE t_int8_narrow (id int, k int8);
INSERT INTO t_int8_narrow SELECT i, 9000000000000000000 + random('narrow', i, 1000)
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_int8_narrow');
CREATE TABLE t_int8_constant (id int, k int8);
INSERT INTO t_int8_constant SELECT i, -42 FROM generate_series(1, 1000) i;
SELECT check_directions('t_int8_constant');

-- Unsigned: oids above 2^31 are negative as int4.
CREATE TABLE t_oid (id int, k oid);
INSERT INTO t_oid SELECT 0, unnest('{0,0,1,2147483647,2147483648,4294967295,4294967295,NULL,NULL}'::oid[]);
INSERT INTO t_oid SELECT i, random('oid', i, 4294967296) FROM generate_series(1, 3000) i;
SELECT check_directions('t_oid');
CREATE TABLE t_regproc (id int, k regproc);
INSERT INTO t_regproc SELECT i, random('oid', i, 4294967296)::oid FROM generate_series(1, 1000) i;
SELECT check_directions('t_regproc');

CREATE TABLE t_bool (id int, k bool);
INSERT INTO t_bool SELECT i, (ARRAY[true, false, NULL])[1 + random('bool', i, 3)]
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_bool');

-- "char" is unsigned as well.
CREATE TABLE t_char (id int, k "char");
INSERT INTO t_char SELECT i, (random('char', i, 256) - 128)::int4::"char" FROM generate_series(1, 3000) i;
INSERT INTO t_char VALUES (0, ''), (0, NULL), (0, NULL);
SELECT check_directions('t_char');

CREATE TABLE t_money (id int, k money);
INSERT INTO t_money SELECT 0, k * 0.01 * 1::money
	FROM unnest('{-100,-1,0,0,1,99,100,NULL,NULL}'::float8[]) k;
INSERT INTO t_money SELECT i, (random('money', i) - 500000000) * 10000000 * 1::money
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_money');

CREATE TABLE t_pg_lsn (id int, k pg_lsn);
INSERT INTO t_pg_lsn SELECT 0, unnest('{0/0,0/0,0/1,1/0,7FFFFFFF/FFFFFFFF,80000000/0,FFFFFFFF/FFFFFFFF,
	FFFFFFFF/FFFFFFFF,NULL,NULL}'::pg_lsn[]);
INSERT INTO t_pg_lsn SELECT i, regexp_replace(substr(md5('lsn' || i), 1, 16), '^(.{8})', '\1/')::pg_lsn
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_pg_lsn');

CREATE TABLE t_xid8 (id int, k xid8);
INSERT INTO t_xid8 SELECT 0, unnest('{0,0,1,9223372036854775807,9223372036854775808,18446744073709551615,
	NULL,NULL}'::text[])::xid8;
INSERT INTO t_xid8 SELECT i, (random('xid8', i, 1000000)::numeric * 18446744073709)::text::xid8
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_xid8');

CREATE TABLE t_tid (id int, k tid);
INSERT INTO t_tid SELECT 0, unnest('{"(0,0)","(0,0)","(0,1)","(0,32768)","(0,65535)","(1,0)",
	"(2147483647,65535)","(2147483648,0)","(4294967295,65535)",NULL,NULL}'::tid[]);
INSERT INTO t_tid SELECT i, format('(%s,%s)', random('block', i, 4294967296), random('offset', i, 65536))::tid
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_tid');

-- Domains and several columns of different types, directions and null orders.
CREATE DOMAIN positive AS int8 CHECK (VALUE > 0);
CREATE TABLE t_mixed (a bool, b positive, c int2, id int);
INSERT INTO t_mixed SELECT (ARRAY[true, false, NULL])[1 + i % 3], nullif(1 + random('b', i, 20), 20),
	nullif(random('c', i, 2000) - 1000, 0), i FROM generate_series(1, 5000) i;
SELECT check_directions('t_mixed', 'b');
SELECT check_sort('three columns', 'SELECT * FROM t_mixed ORDER BY a DESC, b NULLS FIRST, c DESC NULLS LAST',
				  'a', 'b', 'c');
SELECT check_sort('three columns, other way', 'SELECT * FROM t_mixed ORDER BY c, b DESC, a', 'a', 'b', 'c');
