-- Joins across types whose comparison is no order of both, since it asks for the session's time zone: they are left to
-- PostgreSQL, whose nested loops find all pairs, and whose merge joins notice; and so do ours, of whatever is no order.
LOAD 'gpusort';
SET client_min_messages = warning;
SET timezone = 'America/New_York';
SET gpusort.min_rows = 0;
SET gpusort.force = on;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
CREATE SCHEMA gpusort_orders;
SET search_path = gpusort_orders, gpusort_test, public;
CREATE TABLE a AS SELECT timestamp '2024-03-10 00:00' + g * interval '1 min' AS t, date '2024-01-01' + g % 700 AS d, g AS id
FROM generate_series(1, 900) g;
CREATE TABLE b AS SELECT timestamptz '2024-03-10 04:00+00' + g * interval '1 min' AS t, date '2024-01-01' + g % 700 AS d, g AS id
FROM generate_series(1, 900) g;
CREATE INDEX a_t ON a (t);
CREATE INDEX b_t ON b (t);
ANALYZE a, b;

-- How many rows, with gpusort and without, by all joins that there are, or the error.
CREATE FUNCTION count_rows(query text, setting text, setting2 text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config(split_part(s, '=', 1), split_part(s, '=', 2), true) FROM unnest(ARRAY[setting, setting2]) s;
	EXECUTE format('SELECT row(count(*), sum(hashtextextended(q::text, 0)))::text FROM (%s) q', query) INTO result;
	RETURN result;
EXCEPTION WHEN internal_error OR index_corrupted THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION compare_joins(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	theirs text;
	ours text;
	joins text;
BEGIN
	PERFORM set_config('gpusort.enabled', 'off', true);
	PERFORM set_config('max_parallel_workers_per_gather', '0', true);
	theirs := count_rows(query, 'enable_mergejoin=off', 'enable_hashjoin=off');
	PERFORM set_config('gpusort.enabled', 'on', true);
	FOR workers IN 0 .. 1 LOOP
		FOREACH joins IN ARRAY ARRAY['off', 'on'] LOOP
			ours := count_rows(query, 'max_parallel_workers_per_gather=' || 2 * workers, 'gpusort.enable_join=' || joins);
			IF ours <> theirs THEN
				RETURN NEXT format('%s workers, joins of ours are %s: %s is not %s', 2 * workers, joins, ours, theirs);
			END IF;
		END LOOP;
	END LOOP;
	RETURN NEXT matches(query, 'GpuSort (Index )?Join') || ' of ours';
END $$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
ALTER TABLE a SET (parallel_workers = 2);
ALTER TABLE b SET (parallel_workers = 2);
SELECT q, compare_joins(q)
FROM unnest(ARRAY['SELECT a.t, b.t AS u FROM a JOIN b ON a.t = b.t',
	'SELECT a.t, b.t AS u FROM b JOIN a ON b.t = a.t',
	'SELECT a.t, b.t AS u FROM a LEFT JOIN b ON a.t = b.t',
	'SELECT a.t, b.t AS u FROM a LEFT JOIN b ON a.t = b.t AND a.id <> b.id',
	'SELECT a.t, b.t AS u FROM b LEFT JOIN a ON a.t = b.t',
	'SELECT a.t FROM a WHERE EXISTS (SELECT FROM b WHERE a.t = b.t)',
	'SELECT b.t FROM b WHERE b.t IN (SELECT t FROM a)',
	'SELECT a.t FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.t = b.t)',
	'SELECT a.d, b.t FROM a JOIN b ON a.d = b.t',
	'SELECT a.t, b.t AS u FROM a JOIN b ON a.t = b.t AND a.id = b.id',
	'SELECT a.t, b.t AS u, c.d FROM a JOIN b ON a.t = b.t JOIN b c ON b.t = c.t',
	'SELECT a.t, b.t AS u FROM a JOIN b ON a.t = b.t WHERE EXISTS (SELECT FROM a c WHERE c.t = a.t AND c.t = b.t)']) q;

-- The planner's own merge joins take their chance, and may have sorts of ours, but are no cheaper by them.
CREATE FUNCTION plan_of(query text, enabled text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpusort.enabled', enabled, true);
	RETURN (SELECT string_agg(replace(line, 'Custom Scan (GpuSort)', 'Sort'), E'\n') FROM plan_lines(query) line);
END $$;
SET max_parallel_workers_per_gather = 0;
SET gpusort.enable_join = off;
SET gpusort.force = off;
SELECT q, plan_of(q, 'on') = plan_of(q, 'off') AS same_plan
FROM unnest(ARRAY['SELECT count(*) FROM a LEFT JOIN b ON a.t = b.t', 'SELECT count(*) FROM b LEFT JOIN a ON a.t = b.t']) q;
RESET gpusort.enable_join;
SET gpusort.force = on;

-- Orders and groups of such a join: what PostgreSQL sorts by is sorted.
SELECT q, compare_joins(q)
FROM unnest(ARRAY['SELECT row_number() OVER () AS n, t FROM (SELECT b.t FROM a JOIN b ON a.t = b.t ORDER BY b.t LIMIT 700) q',
	'SELECT row_number() OVER () AS n, t FROM (SELECT b.t FROM a JOIN b ON a.t = b.t ORDER BY b.t DESC LIMIT 30) q',
	'SELECT b.t, count(*) FROM a JOIN b ON a.t = b.t GROUP BY b.t',
	'SELECT a.t, count(DISTINCT b.t) FROM a JOIN b ON a.t = b.t GROUP BY a.t',
	'SELECT DISTINCT b.t FROM a JOIN b ON a.t = b.t',
	'SELECT a.t, rank() OVER (PARTITION BY b.t ORDER BY a.id) FROM a JOIN b ON a.t = b.t']) q;

-- Types whose comparison is an order are joined: dates and timestamps, floats, names and text.
CREATE TABLE c AS SELECT date '2024-01-01' + g % 300 AS d, (date '2024-01-01' + g % 400)::timestamp AS t, (g % 50)::float4 / 3 AS f4, (g % 70)::float8 / 3 AS f8,
	('n' || g % 90)::name AS n, 'n' || g % 110 AS x, (g % 40)::int2 AS i2, (g % 60)::int8 AS i8 FROM generate_series(1, 600) g;
ANALYZE c;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT l, r, compare_joins(format('SELECT l.%1$I AS l, r.%2$I AS r FROM c l JOIN c r ON l.%1$I = r.%2$I', l, r))
FROM (VALUES ('d', 't'), ('t', 'd'), ('f4', 'f8'), ('f8', 'f4'), ('i2', 'i8'), ('n', 'x'), ('x', 'n')) t(l, r);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;

-- A comparison that says of itself what is not so is found out: by two sorts in pieces, and read one after the other.
BEGIN;
UPDATE pg_proc SET provolatile = 'i' WHERE oid IN (SELECT amproc FROM pg_amproc WHERE amprocfamily = 434) OR
	oid IN (SELECT oprcode FROM pg_amop JOIN pg_operator o ON o.oid = amopopr WHERE amopfamily = 434);
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = off;
DROP INDEX a_t, b_t;
SELECT matches(q, 'GpuSort Join') AS joins, q, how, count_rows(q, how, CASE WHEN how !~ 'fault' THEN 'gpusort.inject_fault=none' ELSE 'jit=off' END)
FROM unnest(ARRAY['SELECT a.t FROM a JOIN b ON a.t = b.t', 'SELECT a.t FROM b LEFT JOIN a ON b.t = a.t',
	'SELECT a.t FROM a FULL JOIN b ON b.t = a.t']) q,
	unnest(ARRAY['gpusort.force=on', 'gpusort.force=off', 'gpusort.inject_fault=codec']) how;
ROLLBACK;

-- An index that is not in the order that it says it has.
CREATE TABLE e AS SELECT g AS k FROM generate_series(1, 3000) g;
CREATE TABLE f AS SELECT g AS k FROM generate_series(1, 3000) g;
CREATE INDEX e_k ON e (k);
CREATE INDEX f_k ON f (k DESC);
VACUUM ANALYZE e, f;
SET enable_seqscan = off;
BEGIN;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SET LOCAL enable_nestloop = off;
UPDATE pg_index SET indoption = '3' WHERE indexrelid = 'e_k'::regclass;
SELECT matches('SELECT e.k FROM e JOIN f USING (k)', 'GpuSort Index Join') AS joins, count_rows('SELECT e.k FROM e JOIN f USING (k)', 'gpusort.force=on', 'jit=off');
ROLLBACK;

-- From 18 on a join of a table with itself is left out, and what made its columns equal becomes a test for null.
CREATE TABLE same (k int UNIQUE, v int);
INSERT INTO same VALUES (1, 2), (NULL, 2), (2, 1);
ANALYZE same;
SELECT x.k, y.v, e.k AS other FROM same x JOIN same y ON x.k = y.k LEFT JOIN e ON x.k = e.k ORDER BY x.k;
DROP SCHEMA gpusort_orders CASCADE;
