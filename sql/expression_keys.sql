-- Expressions, sorted by and selected: evaluated once for each row, in the order of the target
-- list, while the other columns are copied from their pages.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_expressions;
SET search_path = gpusort_expressions, gpusort_test, gpusort_parallel, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET gpusort.late_rows = off;
SET jit = off;

-- Columns that were dropped and added; strings in pages, compressed, and in the TOAST table
CREATE TABLE t AS SELECT i AS id, i AS gone, nullif(i * 7919 % 1009, 5) AS k, (i % 50)::int4 AS v,
	left(md5((i % 300)::text), i % 20)::varchar(20) AS s, timestamp '2000-01-01' + i % 1000 * interval '1 hour' AS ts,
	nullif(md5((i % 70)::text), md5('7')) AS c, (i * 31 % 777)::numeric / 7 AS n, i % 3 = 0 AS b,
	jsonb_build_object('x', md5((i % 500)::text), 'n', i % 91) AS j, ARRAY[i % 7, i % 5, i] AS a,
	(SELECT string_agg(md5((i * n)::text), '') FROM generate_series(1, CASE WHEN i % 4 > 0 THEN i % 7 ELSE i % 200 END) n) AS wide
FROM generate_series(1, 3000) i;
ALTER TABLE t DROP COLUMN gone;
ALTER TABLE t ADD COLUMN added text DEFAULT 'added later', ADD COLUMN none int;
INSERT INTO t (id, k, v, s, c, added, none) SELECT i, i, i % 11, 'new', md5(i::text), i::text, i FROM generate_series(3001, 3300) i;
UPDATE t SET b = NOT b WHERE id % 4 = 0;
CREATE TABLE fixed AS SELECT i AS id, i * 7919::int8 % 1009 AS k, (i % 50)::int4 AS v, date '2000-01-01' + i % 100 AS d, md5(i::text)::uuid AS u
FROM generate_series(1, 1000) i;
CREATE TABLE other AS SELECT i AS id, 100 - i AS w FROM generate_series(0, 99) i;
CREATE TABLE many AS SELECT i AS id, i * 7919::int8 % 10007 AS k FROM generate_series(1, 10000) i;
CREATE TABLE first_ones AS SELECT i AS id, nullif(left(md5((i % 400)::text), i % 9), '') AS s, nullif(i * 7919 % 13, 4)::int8 AS n,
	CASE WHEN i % 5 > 0 THEN repeat(md5((i % 70)::text), i % 90) END AS wide, nullif(i % 6, 0)::int2 AS small, i % 2 = 0 AS b
FROM generate_series(1, 2000) i;
CREATE TABLE eight AS SELECT i AS c1, i AS c2, i AS c3, i AS c4, i AS c5, left(md5(i::text), i % 5) AS c6, nullif(i % 3, 1) AS c7, nullif(i % 7, 1) AS c8
FROM generate_series(1, 500) i;
ANALYZE t, fixed, other, many, first_ones, eight;

CREATE FUNCTION expanded(int[]) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	a int[] := $1;
BEGIN
	a[2] := a[1] + 1;
	RETURN a;
END $$;

-- What it looks like
SELECT plan_lines('SELECT id, s, k + v AS sum FROM t ORDER BY lower(c), c COLLATE "C", k % 10, id', 'COSTS OFF, VERBOSE');
-- ... and that all rows but the first come straight from their pages, if a scan makes them
SELECT query, (executed(query, 'GpuSort') ->> 'Rows From Pages')::int AS from_pages FROM unnest(ARRAY[
	'SELECT * FROM fixed ORDER BY k',
	'SELECT id, u FROM fixed ORDER BY k, d',
	'SELECT v, k FROM fixed ORDER BY k + v',
	'SELECT id, nullif(k, 7) FROM fixed ORDER BY d + 1, k',
	'SELECT id FROM fixed WHERE v < 25 ORDER BY k % 10, id',
	'SELECT id, k FROM fixed ORDER BY u::text COLLATE "C"',
	'SELECT id, u FROM fixed ORDER BY u::text COLLATE "C", k LIMIT 7',
	-- attributes that a tuple has not, expressions of subplans, system columns
	'SELECT id, none FROM t WHERE id <= 3000 ORDER BY k + v',
	'SELECT id, (SELECT max(id) FROM other WHERE w = v) AS m FROM fixed ORDER BY m',
	'SELECT id FROM fixed ORDER BY ctid',
	-- no scan
	'SELECT id, count(*) FROM fixed GROUP BY id ORDER BY id % 10']) query;

SELECT query, check_portal(query) FROM unnest(ARRAY[
	-- relabelled
	'SELECT id, c FROM t ORDER BY c COLLATE "C", id',
	'SELECT id, s FROM t ORDER BY s COLLATE "C" DESC, id',
	'SELECT id, s::text AS label, s, c FROM t ORDER BY c COLLATE "C", s COLLATE "POSIX", id',
	'SELECT added COLLATE "C" AS x, id FROM t ORDER BY x, id',
	'SELECT id FROM t ORDER BY c COLLATE "C", s COLLATE "C", added COLLATE "C", id',
	-- evaluated
	'SELECT id, c FROM t ORDER BY lower(s) COLLATE "C", id',
	'SELECT id, k, v FROM t ORDER BY k + v, id',
	'SELECT k + v AS sum, id FROM t ORDER BY sum DESC NULLS LAST, id',
	'SELECT id, ts FROM t ORDER BY ts::date, id',
	'SELECT id, j->>''x'' AS x FROM t ORDER BY (j->>''n'')::int, (j->>''x'') COLLATE "C", id',
	'SELECT id FROM t ORDER BY (j->>''x'') COLLATE "C", id',
	'SELECT id, CASE WHEN b THEN c END FROM t ORDER BY CASE WHEN v < 10 THEN n WHEN k > 0 THEN -n END, id',
	'SELECT id, b AND k > 500 AS bool FROM t ORDER BY bool, id',
	'SELECT id, n FROM t ORDER BY n * 2, id',
	'SELECT wide || ''x'' AS wider, id FROM t ORDER BY length(wide), id',
	'SELECT wide, left(wide, 200) AS part FROM t ORDER BY left(wide, 200) COLLATE "C", id',
	'SELECT CASE WHEN id > 0 THEN wide END AS same, id FROM t ORDER BY id % 100, id',
	'SELECT id, wide FROM t ORDER BY CASE WHEN id > 0 THEN wide END COLLATE "C", id',
	'SELECT expanded(a) AS b, id FROM t ORDER BY (expanded(a))[2], id',
	'SELECT s::name AS name, s::char(30) AS padded, id FROM t ORDER BY s::name COLLATE "C", id',
	'SELECT id, added || ''!'' AS loud, none + 1 AS more FROM t ORDER BY (added || v) COLLATE "C", id',
	'SELECT added, none, id + 0 AS id FROM t ORDER BY none + 1, id + 0',
	'SELECT ctid AS place, tableoid::regclass AS source, id FROM t ORDER BY ctid DESC',
	'SELECT t, id FROM t ORDER BY (t).v, id',
	'SELECT row(id, s)::text AS r FROM t ORDER BY v + 1, id',
	'SELECT 1 AS one, NULL::text AS nothing, current_date - current_date AS zero FROM t ORDER BY k + v, id',
	-- of fixed length, with and without nulls
	'SELECT id, k + 1 AS next, d + 1 AS day, u FROM fixed ORDER BY k + v, id',
	'SELECT nullif(k, 7) AS k, id FROM fixed ORDER BY nullif(v, 3), id',
	'SELECT v % 2 = 0 AS even, u, id::int2 AS small FROM fixed ORDER BY u',
	-- behind the table's first columns, with nulls among both
	'SELECT *, lower(s) COLLATE "C" AS l FROM first_ones ORDER BY l, id',
	'SELECT *, n + 1 AS next FROM first_ones ORDER BY s COLLATE "C" DESC, n, next, id',
	'SELECT *, n + 1 AS next FROM first_ones WHERE small IS NOT NULL AND wide IS NOT NULL ORDER BY n % 2, wide COLLATE "C", id',
	'SELECT id, s, n FROM first_ones ORDER BY n, s COLLATE "C", id',
	'SELECT id, s, n, b, s AS again, id AS more FROM first_ones ORDER BY small, s COLLATE "C", id',
	'SELECT id, s FROM first_ones ORDER BY n % 3, id',
	'SELECT id, s, n, wide, nullif(n, 3) AS x FROM first_ones ORDER BY x NULLS FIRST, wide COLLATE "C", id',
	'SELECT id, s, n, wide, small, b, wide || ''x'' AS wider FROM first_ones ORDER BY (wide || ''x'') COLLATE "C" NULLS FIRST, s COLLATE "C", id',
	'SELECT *, c1 + c8 AS c9 FROM eight ORDER BY c9 DESC, c6 COLLATE "C", c1',
	'SELECT *, c1 AS c9 FROM eight ORDER BY c8, c7, c6 COLLATE "C", c1',
	'SELECT c1, c2, c3, c4, c5, c6, c7, lower(c6) COLLATE "C" AS c9 FROM eight ORDER BY c9, c7, c1',
	-- of rows that are wanted
	'SELECT id, k + v FROM t WHERE v % 3 = 1 AND s > ''5'' ORDER BY k + v, id',
	'SELECT id, k + v FROM t ORDER BY k + v, id LIMIT 100',
	'SELECT id, k + v FROM t ORDER BY k, id LIMIT 100 OFFSET 20',
	-- with parameters and subplans
	'SELECT id, (SELECT w FROM other WHERE other.id = t.v) AS w FROM t ORDER BY w, t.id',
	'SELECT id, k + (SELECT max(w) FROM other) AS m FROM t ORDER BY m, id',
	'SELECT o.id, q.id AS inner_id, q.x FROM other o, LATERAL (SELECT t.id, t.k * o.w AS x FROM t WHERE t.v = o.id ORDER BY t.k % (o.w + 7), t.id DESC LIMIT 3) q ORDER BY o.id + 0, q.x, q.id',
	-- below others
	'SELECT id, rank() OVER (PARTITION BY v % 5 ORDER BY lower(c) COLLATE "C", id) FROM t ORDER BY id % 10, id',
	'SELECT k % 10 AS m, count(DISTINCT c) FROM t GROUP BY m ORDER BY count(DISTINCT c), m']) query
ORDER BY query COLLATE "C";

-- In little memory, verified, handed over at any time
SELECT query, check_portal(query, VARIADIC settings), check_portal(query || ' LIMIT 600', VARIADIC settings)
FROM unnest(ARRAY['SELECT s, id, k FROM t ORDER BY c COLLATE "C", lower(s) COLLATE "C", id', 'SELECT wide || 1 AS w, id FROM t ORDER BY k + v, id',
		'SELECT id, nullif(k, 7) AS k FROM fixed ORDER BY k + v, id']) query,
	(VALUES (ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1', 'gpusort.enable_spill=off']),
		(ARRAY['gpusort.inject_fault=codec']), (ARRAY['gpusort.inject_fault=memory']), (ARRAY['gpusort.verify=on']), (ARRAY['gpusort.late_rows=on'])) s (settings);

-- Evaluated once, also for rows that find no room; in order; for all rows; and errors are errors.
CREATE SEQUENCE counter;
CREATE FUNCTION counted(query text, VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	sides text[] := '{}';
	side text;
BEGIN
	FOREACH side IN ARRAY settings LOOP
		PERFORM set_config(split_part(side, '=', 1), split_part(side, '=', 2), true);
	END LOOP;
	FOREACH side IN ARRAY ARRAY['off', 'on'] LOOP
		PERFORM setval('counter', 1, false), setseed(0.5);
		sides := sides || md5(rows_of(query, side)::text);
		sides := sides || format('%s, %s', nextval('counter'), random());
	END LOOP;
	RETURN CASE WHEN sides[1:2] = sides[3:4] THEN 'alike: ' || split_part(sides[4], ',', 1) ELSE sides::text END;
END $$;
SELECT counted('SELECT id FROM fixed ORDER BY nextval(''counter'') % 10, id');
SELECT counted('SELECT id, nextval(''counter'') * 7919 % 1009 AS a, nextval(''counter'') AS b FROM fixed ORDER BY a, b, id');
SELECT counted('SELECT id FROM many ORDER BY k, nextval(''counter'') LIMIT 5');
SELECT counted('SELECT id FROM t ORDER BY random()');
SELECT counted('SELECT id FROM t ORDER BY v % 2, nextval(''counter''), id', 'gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1');
SELECT counted('SELECT id FROM t ORDER BY v % 2, nextval(''counter''), id', 'gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1', 'gpusort.enable_spill=off');
SELECT counted('SELECT id FROM t ORDER BY nextval(''counter'') % 17, id', 'gpusort.inject_fault=codec');
SELECT id FROM fixed ORDER BY 1 / (id - 1000), id LIMIT 1;
SELECT id, 1 / (id - 1000) AS fraction FROM fixed ORDER BY k, fraction, id LIMIT 1;
SELECT id, 1 / (id - 1001) AS fraction FROM fixed ORDER BY k, fraction, id LIMIT 1;

-- Whether a function may be called is asked of who opens a cursor, not of who fetches from it
CREATE FUNCTION opposite(int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN -$1; END';
REVOKE EXECUTE ON FUNCTION opposite FROM PUBLIC;
CREATE ROLE regress_gpusort_fetches;
BEGIN;
DECLARE stays CURSOR FOR SELECT id, opposite(k) AS o FROM fixed ORDER BY o, id;
SET ROLE regress_gpusort_fetches;
FETCH 2 FROM stays;
MOVE ALL IN stays;
COMMIT;
RESET ROLE;
DROP ROLE regress_gpusort_fetches;

-- Evaluated by workers, with room for the rows in the pool and without
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_lines('SELECT id FROM t ORDER BY k + v, lower(s) COLLATE "C", id', 'COSTS OFF, VERBOSE');
SET gpusort.cost_gather = 0;
-- from pages, all but the first one that each of them reads
SELECT query, total(node, 'Rows From Pages') BETWEEN 9997 AND 9999 AS from_pages
FROM (VALUES ('SELECT id, nullif(k, 5) FROM many ORDER BY k % 100, id', 'GpuSort Collect'),
		('SELECT id, rank() OVER (PARTITION BY k % 10 ORDER BY id) FROM many', 'GpuSort Shared')) q (query, name), executed(query, name) node;
SELECT query, check_portal(query, VARIADIC settings), check_portal(query || ' LIMIT 600', VARIADIC settings)
FROM unnest(ARRAY['SELECT s, id, k FROM t ORDER BY c COLLATE "C", lower(s) COLLATE "C", id', 'SELECT wide || 1 AS w, id FROM t ORDER BY k + v, id',
		'SELECT id, nullif(k, 7) AS k FROM fixed ORDER BY k + v, id']) query,
	(VALUES (ARRAY[]::text[]), (ARRAY['gpusort.pool_quota=1', 'work_mem=64kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1']), (ARRAY['gpusort.inject_fault=codec']), (ARRAY['gpusort.enable_parallel_collect=off'])) s (settings);

DROP SCHEMA gpusort_expressions CASCADE;
