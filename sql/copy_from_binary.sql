-- COPY FROM (FORMAT binary): the same rows and errors by gpusort and by PostgreSQL.
SET client_min_messages = warning;
SET gpusort.force = on;
SELECT current_setting('data_directory') || '/binary' AS file \gset

-- What comes of a COPY into a table: how many rows, in their order, or the error.
CREATE FUNCTION binary_outcome(name text, copy text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
	message text;
	detail text;
	context text;
BEGIN
	EXECUTE 'TRUNCATE ' || name || ' RESTART IDENTITY';
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE replace(copy, 'FILE', quote_literal(current_setting('data_directory') || '/binary'));
	EXECUTE format('SELECT count(*) || '' '' || md5(string_agg(tableoid::regclass || t::text, E''\n'' ORDER BY tableoid, ctid)) FROM %s t', name) INTO rows;
	RETURN coalesce(rows, '0 rows');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s %s; %s; %s', SQLSTATE, message, detail, regexp_replace(context, '(^|\n)SQL statement.*', ''));
END $$;
-- Does it in both ways.
CREATE FUNCTION compare_binary(name text, copy text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	theirs text := binary_outcome(name, copy, false);
	ours text := binary_outcome(name, copy, true);
BEGIN
	RETURN CASE WHEN ours = theirs THEN regexp_replace(ours, '^(\d+) [0-9a-f]{32}$', '\1 rows') ELSE format(E'DIFFERENT: %s\nis not %s', ours, theirs) END;
END $$;
-- ... with an input of these bytes.
CREATE FUNCTION compare_bytes(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, bytes);
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/binary');
	PERFORM lo_unlink(object);
	RETURN compare_binary('binary_small', 'COPY binary_small FROM FILE (FORMAT binary)');
END $$;
CREATE FUNCTION binary_header() RETURNS bytea LANGUAGE sql AS $$ SELECT '\x5047434f50590aff0d0a00'::bytea || int4send(0) || int4send(0) $$;
CREATE FUNCTION binary_record(VARIADIC fields bytea[]) RETURNS bytea LANGUAGE sql AS $$
	SELECT int2send(cardinality(fields)::int2) || string_agg(coalesce(int4send(length(field)) || field, int4send(-1)), '' ORDER BY n) FROM unnest(fields) WITH ORDINALITY AS f (field, n)
$$;

-- All types, nulls in all columns, and limits.
CREATE TYPE binary_colour AS ENUM ('red', 'green');
CREATE DOMAIN binary_short AS text CHECK (length(VALUE) < 12);
CREATE TABLE binary_all (b bool, s int2, i int4, l int8, f4 float4, f8 float8, n numeric, n2 numeric(8,2), t text, v varchar, v5 varchar(5), c4 char(4), c bpchar, "char" "char", name name,
	bytes bytea, d date, tm time, tm1 time(1), tz timetz, ts timestamp, ts2 timestamp(2), tsz timestamptz, tsz0 timestamptz(0), iv interval, iv1 interval(1), u uuid, o oid, j json, jb jsonb,
	a int4[], at text[], r int4range, nr numrange, e binary_colour, ea binary_colour[], dom binary_short, ip inet, cd cidr, m macaddr, m8 macaddr8, bit bit(3), vb varbit, mo money, tv tsvector,
	p point, ls lseg, bx box, pa path, po polygon, ln line, ci circle, tid tid, lsn pg_lsn);
INSERT INTO binary_all SELECT i % 2 = 0, i, i * 1000, i * 10000000000, i / 3.0, i / 7.0, i / 9.0, i / 11.0, 'text ' || i, repeat('é€', i % 9), left(i || 'abcde', 5), left('x' || i, 4), 'c  ', chr(65 + i % 26)::"char", 'n' || i,
	decode(lpad(to_hex(i), 8, '0'), 'hex'), date '2000-01-01' + i, time '00:00' + i * interval '1.234567 s', time '00:00' + i * interval '1.234567 s', timetz '00:00+01' + i * interval '1 s', timestamp '2000-01-01' + i * interval '1.234567 s',
	timestamp '2000-01-01' + i * interval '1.234567 s', timestamptz '2000-01-01 00:00+00' + i * interval '1.234567 s', timestamptz '2000-01-01 00:00+00' + i * interval '1.234567 s', i * interval '1 day 2.345 s', i * interval '1 month 2.345 s',
	md5(i::text)::uuid, i, ('[1, ' || i || ']')::json, ('{"a": ' || i || '}')::jsonb, ARRAY[i, NULL, i + 1], ARRAY['é', 'x' || i], int4range(i, i + 5), numrange(i, NULL), (ARRAY['red', 'green'])[1 + i % 2]::binary_colour, '{red,green}', 'é' || i,
	'10.0.0.1', '10.0.0.0/8', '08:00:2b:01:02:03', '08:00:2b:01:02:03:04:05', (i % 8)::bit(3), B'10110', i::money, 'a:1 b:2A', point(i, 1), '[(1,2),(3,4)]', '((1,2),(3,4))', '[(1,2),(3,4),(5,6)]', '((1,2),(3,4),(5,6))', '{1,2,3}',
	circle(point(i, 2), 3), '(1,2)', '16/B374D848' FROM generate_series(0, 3000) i;
INSERT INTO binary_all DEFAULT VALUES;
INSERT INTO binary_all (f4, f8, d, ts, tsz, n, tm, r, a, t, bytes) VALUES ('NaN', '-0', 'infinity', '-infinity', 'infinity', 'NaN', '24:00', 'empty', '{}', '', ''),
	('-Infinity', '1e308', '4713-01-01 BC', '294276-12-31 23:59:59.999999', '4713-01-01 00:00+00 BC', 1e-100, '00:00', '(,)', '[0:1]={1,2}', repeat('toasted ', 2000), decode(repeat(md5('x'), 400), 'hex')),
	('Infinity', '-1e308', '-infinity', 'infinity', '-infinity', -1e100, '12:34:56.789', '[1,1]', '{{1},{2}}', repeat('é', 100), '\x00ff');
COPY binary_all TO :'file' (FORMAT binary);
CREATE TABLE binary_copy (LIKE binary_all);
SELECT workers, set_config('max_parallel_maintenance_workers', workers::text, false) = workers::text AS set, compare_binary('binary_copy', 'COPY binary_copy FROM FILE (FORMAT binary)') FROM generate_series(0, 3) workers;
SELECT count(*) AS rows, count(*) FILTER (WHERE c::text IS DISTINCT FROM a::text) AS differ FROM (SELECT row_number() OVER (ORDER BY ctid), a FROM binary_all a) AS a FULL JOIN (SELECT row_number() OVER (ORDER BY ctid), c FROM binary_copy c) AS c USING (row_number);

-- It is gpusort that loads them: from a file, a program and the client.
CREATE TABLE binary_small (i int4, t text, ts timestamp);
INSERT INTO binary_small SELECT i, 'row ' || i, timestamp '2000-01-01' + i * interval '1 hour' FROM generate_series(1, 50000) i;
COPY binary_small TO :'file' (FORMAT binary);
CREATE TABLE binary_kept AS SELECT * FROM binary_small;
TRUNCATE binary_small;
SET max_parallel_maintenance_workers = 1;
SET client_min_messages = debug1;
COPY binary_small FROM :'file' (FORMAT binary);
COPY binary_small FROM :'file' BINARY;
SET max_parallel_maintenance_workers = 0;
\set program 'cat ' :file
COPY binary_small FROM PROGRAM :'program' (FORMAT binary);
-- ... of which PostgreSQL has read the beginning, and its stream some more
\set program '(head -c 3000 ' :file '; sleep 0.2; tail -c +3001 ' :file ' | head -c 60000; sleep 0.2; tail -c +63001 ' :file ')'
COPY binary_small FROM PROGRAM :'program' (FORMAT binary);
\set command '\\copy binary_small FROM ' :file ' (FORMAT binary)'
:command
\set program 'head -c 1000000 ' :file
COPY binary_small FROM PROGRAM :'program' (FORMAT binary);
SET client_min_messages = warning;
SELECT count(*) FROM (SELECT i, t, ts FROM binary_small GROUP BY i, t, ts HAVING count(*) <> 5) AS s;
SELECT count(*) FROM (SELECT i, t, ts FROM binary_small EXCEPT SELECT * FROM binary_kept) AS s;

-- An input without a trailer, without rows, with rows of nulls; flags that are not critical, an extension.
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL));
SELECT compare_bytes(binary_header());
SELECT compare_bytes(binary_header() || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(NULL, NULL, NULL) || binary_record(int4send(-1), '', int8send(0)) || '\xffff');
SELECT compare_bytes(substr(binary_header(), 1, 11) || int4send(65535) || int4send(5) || 'extra' || binary_record(int4send(1), 'x', NULL) || '\xffff');

-- Cut after each byte, and each byte changed in several ways: no difference; and how often each error comes.
CREATE TABLE binary_inputs AS SELECT binary_header() || binary_record(int4send(1), 'é', int8send(86400000000)) || binary_record(NULL, 'xy', NULL) || '\xffff'::bytea AS bytes;
SELECT outcome COLLATE "C" AS outcome, count(*) FROM (SELECT regexp_replace(compare_bytes(substr(bytes, 1, n)), ';.*', '') AS outcome FROM binary_inputs, generate_series(0, length(bytes)) n) AS s GROUP BY 1 ORDER BY 1;
SELECT n, change, outcome FROM (SELECT n, change, compare_bytes(set_byte(bytes, n, get_byte(bytes, n) # change)) AS outcome FROM binary_inputs, generate_series(0, length(bytes) - 1) n, unnest('{1, 64, 128, 255}'::int4[]) change) AS s WHERE outcome LIKE 'DIFFERENT%';
SELECT n, added, outcome FROM (SELECT n, added, compare_bytes(overlay(bytes PLACING added FROM n FOR 0)) AS outcome FROM binary_inputs, generate_series(1, length(bytes) + 1) n, unnest('{"\\xff", "\\xffff", "\\x0003"}'::bytea[]) added) AS s WHERE outcome LIKE 'DIFFERENT%';

-- What is wrong, in words: the header, counts, lengths, behind the trailer.
SELECT compare_bytes('PGCOPY');
SELECT compare_bytes(substr(binary_header(), 1, 11) || int4send(65536) || int4send(0) || '\xffff');
SELECT compare_bytes(substr(binary_header(), 1, 11) || int4send(131072) || int4send(0) || '\xffff');
SELECT compare_bytes(substr(binary_header(), 1, 15) || int4send(-1) || '\xffff');
SELECT compare_bytes(substr(binary_header(), 1, 15) || int4send(3) || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || binary_record(int4send(1), 'x') || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || int2send(-2::int2) || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || int2send(3::int2) || int4send(-2));
SELECT left(compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || int2send(3::int2) || int4send(2147483647) || 'x'), 5);
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || '\xffff00');
-- ... and values: too short, too long, out of range, no text.
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || binary_record(int2send(1::int2), 'x', NULL) || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || binary_record(int8send(1), 'x', NULL) || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || binary_record('', 'x', NULL) || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || binary_record(NULL, '\x61c3', NULL) || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || binary_record(NULL, '\x6100', NULL) || '\xffff');
SELECT compare_bytes(binary_header() || binary_record(int4send(1), 'x', NULL) || binary_record(NULL, NULL, int8send(9223371331200000000)) || '\xffff');

-- Values of other types that something is wrong with, which receive functions say in several ways.
CREATE FUNCTION compare_value(type text, bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, binary_header() || binary_record(NULL) || binary_record(bytes) || '\xffff');
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/binary');
	PERFORM lo_unlink(object);
	EXECUTE 'DROP TABLE IF EXISTS binary_value; CREATE TABLE binary_value (c ' || type || ')';
	RETURN compare_binary('binary_value', 'COPY binary_value FROM FILE (FORMAT binary)');
END $$;
SELECT type, CASE WHEN length(bytes) < 20 THEN bytes END AS bytes, regexp_replace(compare_value(type, bytes), '^(\w{5}) .*', '\1') AS code FROM (VALUES ('int2', '\x00'), ('float8', '\x00000000'), ('bool', '\x02'), ('bool', '\x0001'), ('date', int4send(2147483493)), ('date', int4send(-2451508)), ('time', int8send(86400000001)), ('time', int8send(-1)),
	('timestamptz', int8send(-211813488000000001)), ('timestamp(2)', int8send(1239999)), ('timestamp', int8send(0) || '\x00'), ('uuid', '\x00'), ('varchar(3)', 'abcd'), ('varchar(3)', 'abc   '), ('varchar(3)', 'ééé'), ('char(3)', 'a'), ('char(3)', 'abcd'),
	('numeric', '\x0001000000000000ffff'), ('numeric', '\x0001'), ('numeric(4,2)', numeric_send(100)), ('numeric(4,2)', numeric_send(99.995)), ('jsonb', '\x027b7d'), ('jsonb', '\x017b'), ('json', '{'), ('tsvector', '\x00000001'), ('int4[]', '\x00'),
	('int4[]', array_send('{x}'::text[])), ('binary_colour', 'blue'), ('binary_short', 'much longer than allowed'), ('int4range', '\x40'), ('inet', '\x0000'), ('bit(3)', bit_send(B'1')), ('macaddr', '\x00'), ('name', convert_to(repeat('n', 70), 'UTF8')),
	('text', ''), ('bytea', '\xff00c3'), ('"char"', ''), ('oid', '\xffffffff'), ('interval', '\x00'), ('tsquery', '\x00000001'), ('point', float8send(1)), ('polygon', int4send(-1)), ('timetz', int8send(0) || int4send(99999999))) AS v (type, bytes);

-- Something wrong far behind, with several processes, and the same with an index.
SET max_parallel_maintenance_workers = 2;
COPY (SELECT CASE i WHEN 70000 THEN 1 END::int2 AS s, i, 'text ' || i AS t, CASE i WHEN 80000 THEN 'x' ELSE NULL END AS n FROM generate_series(1, 90000) i) TO :'file' (FORMAT binary);
CREATE TABLE binary_far (s int4, i int4, t text, n text);
SELECT compare_binary('binary_far', 'COPY binary_far FROM FILE (FORMAT binary)');
ALTER TABLE binary_far ALTER s TYPE int2, ALTER n TYPE int4 USING NULL;
SELECT compare_binary('binary_far', 'COPY binary_far FROM FILE (FORMAT binary)');
ALTER TABLE binary_far ALTER n TYPE text;
CREATE UNIQUE INDEX ON binary_far (i);
CREATE INDEX ON binary_far (t);
SELECT compare_binary('binary_far', 'COPY binary_far FROM FILE (FORMAT binary)');
SELECT compare_binary('binary_far', 'COPY binary_far FROM FILE (FORMAT binary) WHERE i % 1000 <> 7');
TRUNCATE binary_far;
CREATE UNIQUE INDEX binary_far_refuses ON binary_far ((i % 60000)) WHERE i > 10000;
SELECT compare_binary('binary_far', 'COPY binary_far FROM FILE (FORMAT binary) WHERE i % 3 > 0');
DROP INDEX binary_far_refuses;
TRUNCATE binary_far;
ALTER TABLE binary_far ADD CHECK (i <> 77777);
SELECT compare_binary('binary_far', 'COPY binary_far FROM FILE (FORMAT binary)');

-- Lists of columns, defaults, generated columns, identities, nulls that are not allowed.
COPY (SELECT 'text ' || i AS t, i FROM generate_series(1, 3000) i) TO :'file' (FORMAT binary);
CREATE TABLE binary_computed (id int4 GENERATED BY DEFAULT AS IDENTITY, i int4 NOT NULL, t text, d text DEFAULT 'é', g int4 GENERATED ALWAYS AS (i * 2) STORED);
SELECT compare_binary('binary_computed', 'COPY binary_computed (t, i) FROM FILE (FORMAT binary)');
SELECT count(*), max(id), bool_and(g = 2 * i AND id = i), min(d) FROM binary_computed;
SELECT compare_binary('binary_computed', 'COPY binary_computed (t, i, g) FROM FILE (FORMAT binary)');
COPY (SELECT 'text ' || i AS t, nullif(i, 2999) FROM generate_series(1, 3000) i) TO :'file' (FORMAT binary);
SELECT compare_binary('binary_computed', 'COPY binary_computed (t, i) FROM FILE (FORMAT binary)');

-- Partitions.
CREATE TABLE binary_parted (t text, i int4) PARTITION BY RANGE (i);
CREATE TABLE binary_parted_1 PARTITION OF binary_parted FOR VALUES FROM (0) TO (1000);
CREATE TABLE binary_parted_2 (i int4 PRIMARY KEY, gone int4, t text);
ALTER TABLE binary_parted_2 DROP gone;
ALTER TABLE binary_parted ATTACH PARTITION binary_parted_2 FOR VALUES FROM (1000) TO (5000);
COPY (SELECT 'text ' || i AS t, (i * 7919) % 5000 FROM generate_series(0, 4999) i) TO :'file' (FORMAT binary);
SELECT compare_binary('binary_parted', 'COPY binary_parted FROM FILE (FORMAT binary)');
SELECT tableoid::regclass, count(*) FROM binary_parted GROUP BY 1 ORDER BY 1;
COPY (SELECT 'text ' || i AS t, CASE i WHEN 4000 THEN 6000 ELSE i END FROM generate_series(0, 4999) i) TO :'file' (FORMAT binary);
SELECT compare_binary('binary_parted', 'COPY binary_parted FROM FILE (FORMAT binary)');

-- FREEZE, and in a subtransaction.  The map of visibility tells what is frozen.
COPY (SELECT i, 'text', NULL FROM generate_series(1, 3000) i) TO :'file' (FORMAT binary);
BEGIN;
TRUNCATE binary_small;
COPY binary_small FROM :'file' (FORMAT binary, FREEZE);
SAVEPOINT s;
COPY binary_small FROM :'file' (FORMAT binary);
ROLLBACK TO s;
COMMIT;
CREATE EXTENSION IF NOT EXISTS pg_visibility;
SELECT count(*), (SELECT all_frozen > 0 FROM pg_visibility_map_summary('binary_small')) AS frozen FROM binary_small;

-- Text is converted from the client's encoding, whatever ENCODING says, by workers too; what can't be converted.
SET client_encoding = 'LATIN1';
COPY (SELECT i, repeat(CASE i % 3 WHEN 0 THEN U&'\00E9' WHEN 1 THEN U&'\00FC' ELSE 'x' END, i % 20), NULL FROM generate_series(1, 200000) i) TO :'file' (FORMAT binary);
SELECT compare_binary('binary_small', 'COPY binary_small FROM FILE (FORMAT binary)');
SELECT compare_binary('binary_small', 'COPY binary_small FROM FILE (FORMAT binary, ENCODING ''UTF8'')');
SELECT count(*), count(*) FILTER (WHERE t <> repeat(CASE i % 3 WHEN 0 THEN U&'\00E9' WHEN 1 THEN U&'\00FC' ELSE 'x' END, i % 20)) AS mistaken FROM binary_small;
SET client_encoding = 'WIN1252';
SELECT compare_bytes(binary_header() || binary_record(int4send(1), '\x80', NULL) || binary_record(int4send(1), '\x7881', NULL) || '\xffff');
SET client_encoding = 'SJIS';
SELECT compare_bytes(binary_header() || binary_record(int4send(1), '\x955c', NULL) || binary_record(int4send(1), '\x78fd', NULL) || '\xffff');
SET client_encoding = 'SQL_ASCII';
SELECT compare_bytes(binary_header() || binary_record(int4send(1), '\xc3a9', NULL) || binary_record(int4send(1), '\x78e9', NULL) || '\xffff');
SET client_encoding = 'UTF8';

-- What is left to PostgreSQL, and what it refuses.
CREATE TABLE binary_others (a aclitem, c binary_small);
SET client_min_messages = debug1;
COPY binary_others FROM :'file' (FORMAT binary);
COPY binary_others (c) FROM :'file' (FORMAT binary);
COPY binary_small FROM :'file' (FORMAT binary, HEADER);
COPY binary_small FROM :'file' (FORMAT binary, DELIMITER ',');
COPY binary_small FROM :'file' (FORMAT binary, NULL 'x');
SET client_min_messages = warning;

RESET max_parallel_maintenance_workers;
DROP TABLE binary_all, binary_copy, binary_kept, binary_inputs, binary_far, binary_computed, binary_parted, binary_others, binary_small, binary_value;
DROP FUNCTION binary_outcome, compare_binary, compare_bytes, compare_value, binary_header, binary_record;
DROP DOMAIN binary_short;
DROP TYPE binary_colour;
