-- Columns that are only sorted by: queries whose rows are a GpuSort's return them without a junk
-- filter, and like PostgreSQL's in every respect.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_junk;
SET search_path = gpusort_junk, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET gpusort.late_rows = off;
SET jit = off;

CREATE TABLE t AS SELECT i AS id, nullif(i * 7919 % 1009, 5) AS k, (i % 50)::int4 AS v,
	left(md5((i % 300)::text), i % 20) AS s, date '2000-01-01' + i % 100 AS d,
	nullif(md5((i % 70)::text), md5('7')) COLLATE "C" AS c, (i * 31 % 777)::numeric / 7 AS n, i % 3 = 0 AS b,
	repeat(md5(i::text), i % 100) AS wide
FROM generate_series(1, 4000) i;
-- a tuple that is as the query's, and one whose bitmap of nulls is longer with the columns that are not wanted
CREATE TABLE eight AS SELECT i AS c1, i AS c2, i AS c3, i AS c4, i AS c5, i AS c6, i AS c7, i AS c8,
	nullif(i % 5, 0) AS c9, nullif(i % 7, 1) AS c10, i * 7919 % 1009 AS c11
FROM generate_series(1, 500) i;
ANALYZE t, eight;

-- What it looks like
SELECT plan_lines('SELECT id, s FROM t ORDER BY k, v, id', 'COSTS OFF, VERBOSE');
-- ... and of how many columns rows are: fewer than are stored where nobody else looks at them
SELECT query, executed(query, 'GpuSort') ->> 'Columns Returned' AS columns FROM unnest(ARRAY[
	'SELECT id, s FROM t ORDER BY k, v',
	'SELECT id, s FROM t ORDER BY k, v LIMIT 10',
	'SELECT s FROM t WHERE b ORDER BY lower(c), d',
	'SELECT FROM t ORDER BY k',
	-- none are left out
	'SELECT id, s FROM t ORDER BY s, id',
	-- not so
	'SELECT id, s FROM t ORDER BY k FETCH FIRST 10 ROWS WITH TIES',
	'SELECT id, s FROM t ORDER BY k FOR UPDATE',
	'SELECT id, row_number() OVER (ORDER BY k) FROM t']) query;

-- Columns that rows have once more, under another label, are not stored twice
CREATE TABLE labels AS SELECT i AS id, left(md5((i % 700)::text), i % 12) AS s, nullif(md5((i % 70)::text), md5('7')) AS c,
	('n' || i * 7919 % 1009)::name AS n, (i % 90)::text::varchar(5) AS vc FROM generate_series(1, 4000) i;
ALTER TABLE labels ADD late text DEFAULT 'there before';
INSERT INTO labels SELECT i, 's', 'c', 'n', 'v', md5(i::text) FROM generate_series(4001, 4100) i;
ANALYZE labels;
CREATE TABLE queries AS SELECT unnest(ARRAY[
	'SELECT * FROM labels ORDER BY c COLLATE "C", id',
	'SELECT * FROM labels ORDER BY late COLLATE "POSIX", id',
	'SELECT c, id, s FROM labels ORDER BY s COLLATE "C" DESC, c COLLATE "POSIX" NULLS FIRST, id',
	'SELECT n, id FROM labels ORDER BY n COLLATE "POSIX", id',
	'SELECT vc, id FROM labels WHERE id % 3 > 0 ORDER BY vc COLLATE "C", id LIMIT 900',
	'SELECT c, c AS again, upper(s), id FROM labels ORDER BY c COLLATE "POSIX", id',
	-- all of them, or none
	'SELECT c, id FROM labels ORDER BY c COLLATE "C", s COLLATE "C", id',
	'SELECT c, id FROM labels ORDER BY c COLLATE "C", upper(s) COLLATE "C", id']) AS query;
SELECT query, columns FROM queries, LATERAL (SELECT substring(line FROM 'Columns Returned: (.*)') AS columns
	FROM plan_lines(query, 'COSTS OFF, VERBOSE') AS line WHERE line ~ 'Columns Returned') l;
SELECT query, check_portal(query) FROM queries;
SELECT query, check_portal(query, VARIADIC settings), check_portal(query || ' LIMIT 600', VARIADIC settings)
FROM unnest(ARRAY['SELECT * FROM labels ORDER BY c COLLATE "C", id', 'SELECT n, id FROM labels ORDER BY n COLLATE "POSIX", id',
		'SELECT s, md5(c), id FROM labels ORDER BY s COLLATE "C", id']) query,
	(VALUES (ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1', 'gpusort.enable_spill=off']),
		(ARRAY['gpusort.inject_fault=codec']), (ARRAY['gpusort.inject_fault=memory']), (ARRAY['gpusort.verify=on'])) s (settings);

-- Columns of all kinds, in all places
SELECT query, check_portal(query) FROM unnest(ARRAY[
	'SELECT id FROM t ORDER BY k, id',
	'SELECT s, id FROM t ORDER BY k, id',
	'SELECT s FROM t ORDER BY k, id',
	'SELECT k, v, s FROM t ORDER BY d, id',
	'SELECT k, v, s FROM t ORDER BY c, d DESC, id',
	'SELECT wide FROM t ORDER BY n, id',
	'SELECT v FROM t ORDER BY s, wide, id',
	'SELECT s, b FROM t ORDER BY n DESC NULLS FIRST, c NULLS FIRST, id DESC',
	'SELECT FROM t ORDER BY k, id',
	'SELECT 1 AS one, NULL::text AS nothing FROM t ORDER BY k, id',
	'SELECT id, t FROM t ORDER BY k, id',
	'SELECT id, k FROM t WHERE v < 10 ORDER BY c, id LIMIT 70',
	'SELECT id, k FROM t ORDER BY c, id LIMIT 70 OFFSET 3000',
	'SELECT id, k FROM t ORDER BY c, id LIMIT 0',
	'SELECT id, k FROM t ORDER BY c, id FETCH FIRST 77 ROWS WITH TIES',
	'SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM eight ORDER BY c9, c10, c11',
	'SELECT c1, c2, c3, c4, c5, c6, c7, c9 FROM eight ORDER BY c8 DESC, c10, c11',
	'SELECT c1, c9 FROM eight ORDER BY c11, c10, c8',
	'SELECT c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 FROM eight ORDER BY c11',
	'SELECT a.id, b.s FROM t a JOIN t b ON a.id = b.k ORDER BY b.c, a.v, a.id, b.id',
	'SELECT v, count(*) FROM t GROUP BY v, d ORDER BY d, v',
	'SELECT id, s FROM t WHERE id < 0 ORDER BY k']) query;
-- ... of subqueries, whose rows others look at
SELECT query, check_portal(query) FROM unnest(ARRAY[
	'SELECT s, q.k FROM (SELECT s, k, id FROM t ORDER BY v, c, id LIMIT 500) q ORDER BY k, id',
	'SELECT id, row_number() OVER (ORDER BY k, v, id) FROM t ORDER BY s, id',
	'WITH q AS MATERIALIZED (SELECT id, s FROM t ORDER BY k, id) SELECT s FROM q ORDER BY id',
	'(SELECT id, s FROM t ORDER BY k, id) UNION ALL (SELECT id, c FROM t ORDER BY v, id)',
	'SELECT id, (SELECT i.s FROM t i WHERE i.v = t.v ORDER BY i.k, i.id LIMIT 1) FROM t WHERE id < 100 ORDER BY k, id',
	'SELECT id, generate_series(1, 2) FROM t ORDER BY k, id']) query;

-- In little memory, verified, reordered, handed over at any time
SELECT query, check_portal(query, VARIADIC settings), check_portal(query || ' LIMIT 600', VARIADIC settings)
FROM unnest(ARRAY['SELECT s, id, k FROM t ORDER BY c, n, id', 'SELECT id FROM t ORDER BY wide, id', 'SELECT id, v FROM t ORDER BY k, id']) query,
	(VALUES (ARRAY['gpusort.pool_quota=0', 'work_mem=256kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.pool_quota=0', 'work_mem=256kB', 'hash_mem_multiplier=1', 'gpusort.enable_spill=off']),
		(ARRAY['gpusort.inject_fault=codec']), (ARRAY['gpusort.inject_fault=memory']), (ARRAY['gpusort.verify=on'])) s (settings);

-- Cursors that go back and forth
CREATE FUNCTION walk(query text, side text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	step int;
	result text := '';
BEGIN
	PERFORM set_config('gpusort.enabled', side, true);
	OPEN c SCROLL FOR EXECUTE query;
	FOREACH step IN ARRAY ARRAY[1, 1, -1, 40, -3, 2000, -70, 1, 900, 5000, -1, -1, -5000, 1] LOOP
		FETCH RELATIVE step FROM c INTO r;
		result := result || CASE WHEN FOUND THEN r::text ELSE 'none' END || E'\n';
	END LOOP;
	CLOSE c;
	RETURN result;
END $$;
SELECT query, work_mem, fault, set_config('work_mem', work_mem, true) = work_mem AND set_config('gpusort.inject_fault', fault, true) = fault AND
	walk(query, 'off') = walk(query, 'on') AS alike
FROM unnest(ARRAY['SELECT s, id FROM t ORDER BY c, n, id', 'SELECT id, c FROM t ORDER BY v, id']) query,
	unnest(ARRAY['64kB', '4MB']) work_mem, unnest(ARRAY['none', 'codec']) fault;
BEGIN;
DECLARE held SCROLL CURSOR WITH HOLD FOR SELECT s, id FROM t ORDER BY k, id;
FETCH 2 FROM held;
COMMIT;
FETCH 2 FROM held;
FETCH ABSOLUTE -1 FROM held;
FETCH BACKWARD 2 FROM held;
CLOSE held;
-- moving a cursor's row: PostgreSQL refuses
BEGIN;
DECLARE moved CURSOR FOR SELECT id, s FROM t ORDER BY k, id FOR UPDATE;
FETCH 2 FROM moved;
UPDATE t SET b = b WHERE CURRENT OF moved RETURNING id, s;
ROLLBACK;

-- Who takes rows: COPY, INSERT, functions, prepared statements
COPY (SELECT id, s FROM t WHERE id < 6 ORDER BY k, id) TO STDOUT;
CREATE TABLE copied (id int, s text, extra text DEFAULT 'x');
INSERT INTO copied SELECT id, s FROM t ORDER BY k, id LIMIT 5;
INSERT INTO copied (s, id) SELECT s, id FROM t ORDER BY v, c, id LIMIT 5 RETURNING *;
SELECT * FROM copied;
CREATE FUNCTION sql_rows() RETURNS SETOF copied LANGUAGE sql AS $$ SELECT id, s, c FROM t ORDER BY k, id LIMIT 4 $$;
CREATE FUNCTION sql_row() RETURNS copied LANGUAGE sql AS $$ SELECT id, s, c FROM t ORDER BY k, id $$;
CREATE FUNCTION plpgsql_rows() RETURNS TABLE (id int, s text) LANGUAGE plpgsql AS $$
BEGIN RETURN QUERY SELECT t.id, t.s FROM t ORDER BY k, t.id LIMIT 4; END $$;
SELECT * FROM sql_rows();
SELECT sql_row(), (SELECT id FROM t ORDER BY k, v, id LIMIT 1), ARRAY(SELECT id FROM t ORDER BY k, id LIMIT 3);
SELECT * FROM plpgsql_rows();
PREPARE p(int) AS SELECT id, s FROM t WHERE id > $1 ORDER BY k, id LIMIT $2;
EXECUTE p(10, 3);
EXECUTE p(3990, 3);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(10, 3);
EXECUTE p(3990, 3);
RESET plan_cache_mode;
SELECT plan_lines('EXECUTE p(5000, 3)', 'ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF');

-- Collected by workers, with room for the rows in the pool and without
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT matches('SELECT s, id FROM t ORDER BY c, n, id', 'GpuSort Collect') AS collected;
SELECT query, check_portal(query, VARIADIC settings), check_portal(query || ' LIMIT 600', VARIADIC settings)
FROM unnest(ARRAY['SELECT s, id, k FROM t ORDER BY c, n, id', 'SELECT id FROM t ORDER BY wide, id', 'SELECT id, v FROM t ORDER BY k, id']) query,
	(VALUES (ARRAY[]::text[]), (ARRAY['gpusort.pool_quota=1', 'work_mem=256kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.inject_fault=codec'])) s (settings);

DROP SCHEMA gpusort_junk CASCADE;
