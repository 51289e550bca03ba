-- Sorts that return nothing but what they sort by make rows of their keys, and store none.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_keys;
SET search_path = gpusort_keys, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET gpusort.late_rows = off;
SET jit = off;

CREATE TABLE t AS SELECT i AS id,
	(i * 7919::int8 % 100003 - 50000) * 10000000000001 AS wide,
	(i * 7919 % 4001 - 2000)::int8 AS k, (i * 31 % 3001 - 1500)::int4 AS v, (i % 700 - 350)::int2 AS s,
	date '2000-01-01' + i * 7919 % 4001 AS d, timestamp '1999-12-31 23:00' + i * 7919 % 4001 * interval '1.7 hours' AS ts,
	timestamptz '2000-01-01 00:00+02' - i % 900 * interval '3 days' AS tz, time '00:00' + i * interval '13 seconds' AS tm,
	(i % 97)::money AS m, (i * 7919::int8 % 4001 * 1000003 % 4294967296)::oid AS o, i % 3 = 0 AS b, chr(32 + i % 90)::"char" AS c,
	('0/' || to_hex(i * 7919))::pg_lsn AS lsn, ((i % 500)::float4 / 3 - 50)::float4 AS f4, i * 7919 % 4001 / 7.0::float8 - 200 AS f8
FROM generate_series(1, 2500) i;
-- nulls, and values at the ends
INSERT INTO t (id) SELECT i FROM generate_series(5001, 5100) i;
INSERT INTO t SELECT 5300, -9223372036854775808, -9223372036854775808, -2147483648, -32768, '-infinity', '-infinity', '-infinity',
	'00:00', '-92233720368547758.08', 0, false, chr(1)::"char", '0/0', '-Infinity', '-Infinity';
INSERT INTO t SELECT 5301, 9223372036854775807, 9223372036854775807, 2147483647, 32767, 'infinity', 'infinity', 'infinity',
	'24:00', '92233720368547758.07', 4294967295, true, '\377', 'FFFFFFFF/FFFFFFFF', 'Infinity', 'Infinity';
INSERT INTO t (id, f4, f8) SELECT 5302 + i, v::float4, v::float8
FROM unnest('{NaN,-0,0,-0,0,1e-30,-1e-30,NaN,3e38,-3e38,1e-45,-1e-45}'::text[]) WITH ORDINALITY AS u (v, i);
ALTER TABLE t ADD COLUMN added int4 DEFAULT 17;
INSERT INTO t (id, added) SELECT i, i % 40 FROM generate_series(6000, 6100) i;
ANALYZE t;
-- tables whose columns lie elsewhere, the first one with nulls
CREATE TABLE parts (d date, k int8, v int4) PARTITION BY LIST (v);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 (gone text, v int4, k int8, d date);
ALTER TABLE parts_2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES IN (2);
INSERT INTO parts SELECT date '2000-01-01' + i % 99, nullif(i * 7919::int8 % 4001 - 2000, i % 11), 1 + i % 2 FROM generate_series(1, 3000) i;
ANALYZE parts;

-- What it looks like
CREATE VIEW looks AS SELECT query, executed(query, 'GpuSort') ->> 'Rows' AS rows FROM (VALUES
	('SELECT k FROM t ORDER BY k'), ('SELECT v + 1 FROM t WHERE v < 9000 ORDER BY v + 1'), ('SELECT v, b FROM t ORDER BY v, b'),
	('SELECT b, s, v FROM t ORDER BY v, s, b'), ('SELECT k FROM t ORDER BY k OFFSET 1'),
	('SELECT v FROM t ORDER BY v, s'),
	('SELECT f8 FROM t ORDER BY f8'), ('SELECT v, f4 FROM t ORDER BY v, f4'),
	-- not so: more columns, too many bytes, equal floats that differ, a bound, other types
	('SELECT k, id FROM t ORDER BY k'), ('SELECT wide, v FROM t ORDER BY wide, v'), ('SELECT v, f4 FROM t ORDER BY f4, v'),
	('SELECT k FROM t ORDER BY k LIMIT 7'), ('SELECT k::numeric FROM t ORDER BY k::numeric')) q (query);
SELECT * FROM looks;
SET gpusort.verify = on;
SELECT DISTINCT rows FROM looks;
RESET gpusort.verify;

-- Each type, both ways
SELECT check_sort(format('%s %s', attname, direction), format('SELECT %1$I FROM t ORDER BY %1$I %2$s', attname, direction), attname)
FROM pg_attribute, unnest('{ASC NULLS FIRST,DESC}'::text[]) direction WHERE attrelid = 't'::regclass AND attnum > 0
ORDER BY attnum, direction;
-- ... and to the bit, all other rows in between left out
SELECT attname, check_portal(format('SELECT %1$I FROM t WHERE id < 5302 ORDER BY %1$I DESC', attname))
FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum;
-- zeros of both signs, and numbers that are none, of both signs
CREATE TABLE nans AS SELECT CASE i % 5 WHEN 0 THEN 'NaN' WHEN 1 THEN -('NaN'::float8) WHEN 2 THEN -0.0::float8 WHEN 3 THEN 0.0::float8
	ELSE i END AS f8 FROM generate_series(1, 2000) i;
ANALYZE nans;
SELECT check_sort('nans', 'SELECT f8 FROM nans ORDER BY f8', 'f8'), check_sort('float4', 'SELECT f8::float4 AS f4 FROM nans ORDER BY f4 DESC', 'f4');
CREATE TEMP TABLE sorted AS SELECT float8send(f8) AS bits FROM (SELECT f8 FROM nans ORDER BY f8 OFFSET 0) s;
SELECT bits, count(*) FROM sorted WHERE bits IN (SELECT float8send(f8) FROM nans WHERE f8 = 'NaN' OR f8 = 0) GROUP BY bits
EXCEPT SELECT float8send(f8), count(*) FROM nans GROUP BY 1;

-- Several columns, of which some have one value only, or none
CREATE TABLE queries AS SELECT unnest(ARRAY[
	'SELECT k FROM t ORDER BY k',
	'SELECT v, s, b FROM t ORDER BY b DESC, s, v DESC',
	'SELECT s, v FROM t ORDER BY v NULLS FIRST, s DESC NULLS LAST',
	'SELECT s, v FROM t WHERE v IS NULL OR s > 300 ORDER BY v, s',
	'SELECT v, s FROM t WHERE v IS NULL ORDER BY v, s',
	'SELECT v, added FROM t WHERE v = 7 OR id > 6000 ORDER BY v, added',
	'SELECT v FROM t WHERE v = 7 ORDER BY v',
	'SELECT v FROM t WHERE false ORDER BY v',
	'SELECT added FROM t ORDER BY added',
	'SELECT d, b FROM t ORDER BY d, b',
	'SELECT d, v FROM t ORDER BY v DESC, d',
	'SELECT k FROM parts ORDER BY k DESC',
	'SELECT v, d FROM parts ORDER BY d DESC, v',
	'SELECT s, s AS again FROM t ORDER BY s',
	'SELECT lower(chr(65 + id % 20)) = ''b'' AS x, s FROM t ORDER BY x, s',
	'SELECT wide FROM t ORDER BY wide',
	'SELECT k FROM (SELECT k FROM t UNION ALL SELECT wide FROM t UNION ALL SELECT v FROM t) u ORDER BY k',
	'SELECT DISTINCT k FROM t ORDER BY k',
	'SELECT DISTINCT v, s FROM t ORDER BY v DESC, s',
	'SELECT k, count(*) FROM t GROUP BY k ORDER BY k',
	'SELECT count(DISTINCT k), count(k) AS n FROM t',
	'SELECT k FROM t ORDER BY k LIMIT 50',
	'SELECT k FROM t ORDER BY k OFFSET 2400',
	'SELECT a.k, b.k AS bk FROM t a FULL JOIN (SELECT k FROM t WHERE id % 3 = 0) b ON a.k = b.k ORDER BY 1, 2',
	'SELECT rank() OVER (ORDER BY k) FROM t ORDER BY 1']) AS query;
SELECT query, check_portal(query) FROM queries;
-- Little memory, with and without files; memory that ends early; gpusortd, which there is none of
SELECT settings, query, check_portal(query, VARIADIC settings) FROM queries,
	(VALUES (ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1', 'gpusort.engine=host']),
		(ARRAY['gpusort.inject_fault=memory', 'gpusort.enable_spill=off', 'gpusort.engine=host']),
		(ARRAY['gpusort.inject_fault=memory', 'gpusort.engine=host']), (ARRAY['gpusort.inject_fault=codec']), (ARRAY['gpusort.engine=cuda'])) s (settings)
WHERE query ~ 'FROM t ORDER BY (k|v|b|d|wide)' AND query !~ 'LIMIT' ORDER BY settings, query;

-- Rows again
PREPARE again AS SELECT g, array_agg(k) FROM generate_series(1, 3) g, LATERAL (SELECT v::int8 + g % 2 AS k FROM t WHERE id < 1500 OR g = 3
	ORDER BY 1 OFFSET 0) s GROUP BY g ORDER BY g;
CREATE TEMP TABLE ours AS EXECUTE again;
SET gpusort.enabled = off;
CREATE TEMP TABLE theirs AS EXECUTE again;
SET gpusort.enabled = on;
SELECT (SELECT count(*) FROM ours), (SELECT count(*) FROM (TABLE ours EXCEPT TABLE theirs) d);
BEGIN;
DECLARE curs SCROLL CURSOR FOR SELECT v FROM t WHERE v IS NOT NULL ORDER BY v;
FETCH 3 FROM curs;
FETCH LAST FROM curs;
FETCH BACKWARD 2 FROM curs;
SET LOCAL gpusort.verify = on;
FETCH ABSOLUTE 1500 FROM curs;
FETCH FIRST FROM curs;
FETCH BACKWARD 1 FROM curs;
COMMIT;

-- Collected by workers; with rows that find no room; with files
SET search_path = gpusort_parallel, gpusort_test, public;
CALL have_workers();
SELECT query, executed(query, 'GpuSort') ->> 'Rows' AS rows, compare(query, 'GpuSort Collect'), compare(query, 'GpuSort Collect', 'gpusort.inject_fault=memory', 'gpusort.engine=host'),
	compare(query, 'GpuSort Collect', 'gpusort.inject_fault=memory', 'gpusort.enable_spill=off', 'gpusort.engine=host'), compare(query, 'GpuSort Collect', 'gpusort.engine=cuda'),
	compare(query, 'GpuSort Collect', 'gpusort.pool_quota=1', 'work_mem=64kB', 'gpusort.engine=host')
FROM unnest(ARRAY['SELECT id FROM par ORDER BY id', 'SELECT k FROM par ORDER BY k DESC', 'SELECT n FROM par ORDER BY n NULLS FIRST',
	'SELECT id % 1000 AS a, k AS b FROM par ORDER BY 1, 2']) query;
-- Whole granules of a worker's
CREATE UNLOGGED TABLE gpusort_keys.many AS SELECT i * 7919::int8 % 1000003 AS k, (i % 1009)::int4 AS v FROM generate_series(1, 1300000) i;
ANALYZE gpusort_keys.many;
SELECT query, compare(query, 'GpuSort Collect', 'max_parallel_workers_per_gather=2', 'parallel_leader_participation=off')
FROM unnest(ARRAY['SELECT k FROM gpusort_keys.many ORDER BY k', 'SELECT v FROM gpusort_keys.many ORDER BY v']) query;
DROP SCHEMA gpusort_keys CASCADE;
