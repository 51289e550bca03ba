-- Aggregates over distinct values, of rows that come to them in order and distinct; and, in workers, in
-- slices that cut groups but no values.
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
SET gpusort.force = on;
SET gpusort.cost_key_collated = 0;
SET parallel_tuple_cost = 0.001;
SET enable_incremental_sort = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE sales WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 1009 AS k, i % 3 AS g, nullif(i / 9, 77) AS nulls, (i % 500)::numeric(10, 2) / 7 AS n, (i % 800)::float8 / 3 AS f,
	md5((i % 6000)::text) COLLATE "C" AS s, CASE WHEN i % 5 = 0 THEN 'a' || i % 70 ELSE 'A' || i % 70 END AS t, NULL::int AS nothing, (i % 300)::int2 AS k2
FROM generate_series(1, 30000) i ORDER BY hashint4(i);
ANALYZE sales;
CREATE AGGREGATE first_of(int) (SFUNC = int4larger, STYPE = int, PARALLEL = SAFE);
CREATE FUNCTION bumped(int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1; END';
-- From 16 on PostgreSQL may sort below aggregates by itself.
SELECT count(set_config(name, 'off', false)) < 2 FROM pg_settings WHERE name = 'enable_presorted_aggregate';

-- One process: the rows are made distinct below the aggregates.
CREATE FUNCTION alone(query text) RETURNS text LANGUAGE sql AS
$$ SELECT check_rows(query, query ~ 'ORDER BY [^)]*$', ARRAY['(Agg.*Unique|GpuSort Count)\)?\n *->  Custom Scan \(GpuSort\)'], '{}') $$;
SELECT plan_lines('SELECT count(DISTINCT s) FROM sales');
SELECT plan_lines('SELECT g, count(DISTINCT s) FROM sales GROUP BY g HAVING count(DISTINCT s) > 10');
SELECT q, alone(q) FROM unnest(ARRAY[
	'SELECT count(DISTINCT k) FROM sales',
	'SELECT count(DISTINCT k), sum(DISTINCT k), min(DISTINCT k), avg(DISTINCT k), count(DISTINCT k) + 1 AS more FROM sales',
	'SELECT count(DISTINCT nulls), count(DISTINCT nulls) = 0 AS none FROM sales',
	'SELECT count(DISTINCT nothing), sum(DISTINCT nothing) FROM sales',
	'SELECT count(DISTINCT s) FROM sales WHERE id + 0 > 30000',
	'SELECT sum(DISTINCT n), count(DISTINCT n) FROM sales',
	'SELECT sum(DISTINCT f), stddev(DISTINCT f) FROM sales',
	'SELECT array_agg(DISTINCT k), count(DISTINCT k) FROM sales',
	'SELECT array_agg(DISTINCT nulls) FROM sales',
	'SELECT string_agg(DISTINCT s, '','' ORDER BY s DESC) FROM sales',
	'SELECT first_of(DISTINCT k) FROM sales',
	'SELECT count(DISTINCT t) FROM sales',
	'SELECT count(DISTINCT lower(t)), max(DISTINCT lower(t)) FROM sales',
	'SELECT count(DISTINCT k + g) FROM sales HAVING count(DISTINCT k + g) > 100',
	'SELECT g, count(DISTINCT s) FROM sales GROUP BY g',
	'SELECT g, nulls, count(DISTINCT k), array_agg(DISTINCT k) FROM sales GROUP BY g, nulls ORDER BY nulls, g DESC',
	'SELECT g + 1 AS h, max(DISTINCT k2) - min(DISTINCT k2) AS spread FROM sales GROUP BY g + 1 ORDER BY h DESC',
	'SELECT k, sum(DISTINCT n) FROM sales GROUP BY k HAVING count(DISTINCT n) > 3 ORDER BY k LIMIT 20',
	'SELECT sum(c) FROM (SELECT g, count(DISTINCT s) AS c FROM sales GROUP BY g) x',
	'SELECT g, c, rank() OVER (ORDER BY c DESC, g) FROM (SELECT g, count(DISTINCT s) AS c FROM sales GROUP BY g) x',
	'SELECT g, count(DISTINCT s) AS c, generate_series(1, 2) AS i FROM sales GROUP BY g ORDER BY c, i',
	'SELECT DISTINCT count(DISTINCT s) FROM sales GROUP BY g',
	'SELECT count(DISTINCT a.k) FROM sales a JOIN sales b ON a.id = b.id + 1',
	'SELECT (SELECT count(DISTINCT k + o) FROM sales) AS c FROM generate_series(1, 2) o'
]) q;
-- What is left to PostgreSQL: other rows are looked at, other orders, values that change.
SELECT q, matches(q, 'Unique') FROM unnest(ARRAY[
	'SELECT count(DISTINCT k), count(DISTINCT s) FROM sales',
	'SELECT count(DISTINCT k), sum(id) FROM sales',
	'SELECT count(DISTINCT k) FILTER (WHERE g = 1) FROM sales',
	'SELECT string_agg(DISTINCT s, '','' ORDER BY s DESC), count(DISTINCT s) FROM sales',
	'SELECT count(DISTINCT bumped(k)) FROM sales',
	'SELECT count(DISTINCT k) FROM sales WHERE k = 5',
	'SELECT g, count(DISTINCT k) FROM sales GROUP BY ROLLUP (g)',
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k) FROM sales'
]) q;
-- The same rows, whatever the plan
SELECT q, check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT o, (SELECT count(DISTINCT k) FROM sales WHERE g < o) AS c FROM generate_series(0, 4) o ORDER BY o',
	'SELECT g, count(DISTINCT g) AS gs, count(DISTINCT (k, g)) AS ks FROM sales GROUP BY g ORDER BY g',
	'SELECT count(DISTINCT k + (SELECT min(id) FROM sales)) FROM sales WHERE id > (SELECT 5)',
	'SELECT count(DISTINCT k) AS ks, count(DISTINCT s), sum(id) FROM sales',
	'SELECT (SELECT count(DISTINCT s.k) FROM few LIMIT 1) FROM sales s GROUP BY s.g ORDER BY 1'
]) q;
-- What a FILTER keeps from failing
SELECT q, check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT count(DISTINCT 100 / k) FILTER (WHERE k <> 0) AS c FROM sales',
	'SELECT g, sum(id), count(DISTINCT 100 / k) FILTER (WHERE k <> 0) AS c FROM sales GROUP BY g ORDER BY g'
]) q;
PREPARE counts(int) AS SELECT count(DISTINCT k) FROM sales WHERE g <> $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE counts(1);
EXECUTE counts(7);
RESET plan_cache_mode;
DEALLOCATE counts;

-- Where PostgreSQL sorts below them
SELECT count(set_config(name, 'on', false)) < 2 FROM pg_settings WHERE name = 'enable_presorted_aggregate';
SELECT q, check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT count(DISTINCT k), sum(DISTINCT k) FROM sales',
	'SELECT g, count(DISTINCT s) AS ss, sum(id), count(DISTINCT s) FILTER (WHERE id % 2 = 0) FROM sales GROUP BY g ORDER BY g',
	'SELECT g, count(DISTINCT s), array_agg(DISTINCT k), count(DISTINCT t) AS ts FROM sales GROUP BY g ORDER BY g'
]) q;
CALL have_workers();
SELECT q, check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT count(DISTINCT k), sum(DISTINCT k), sum(id) AS ids FROM sales',
	'SELECT g, count(DISTINCT s) AS ss, sum(id), count(DISTINCT s) FILTER (WHERE id % 2 = 0) FROM sales GROUP BY g ORDER BY g',
	'SELECT g, count(DISTINCT s), array_agg(DISTINCT k), count(DISTINCT t) AS ts FROM sales GROUP BY g ORDER BY g'
]) q;
SELECT count(set_config(name, 'off', false)) < 2 FROM pg_settings WHERE name = 'enable_presorted_aggregate';

-- Workers
CALL have_workers();
SELECT plan_lines('SELECT count(DISTINCT s) FROM sales');
SELECT plan_lines('SELECT g, sum(id), count(DISTINCT s) FILTER (WHERE k > 5) FROM sales GROUP BY g', 'COSTS OFF, VERBOSE');
SELECT q, together(q, 'Finalize.*(Partial|GpuSort Count)') FROM unnest(ARRAY[
	'SELECT count(DISTINCT k) FROM sales',
	'SELECT count(DISTINCT k), sum(DISTINCT k), min(DISTINCT k), avg(DISTINCT k), count(DISTINCT k) + 1 AS more FROM sales',
	'SELECT count(DISTINCT nulls), sum(DISTINCT nulls) IS NULL AS none FROM sales HAVING count(DISTINCT nulls) > 1',
	'SELECT count(DISTINCT s) FROM sales WHERE id + 0 > 30000',
	'SELECT sum(DISTINCT n), avg(DISTINCT n), count(DISTINCT n), variance(DISTINCT n) FROM sales',
	'SELECT count(DISTINCT t) FROM sales',
	'SELECT count(DISTINCT lower(t)), max(DISTINCT lower(t)) FROM sales',
	'SELECT count(*) AS c, count(DISTINCT k), sum(id), avg(n) FROM sales',
	'SELECT count(DISTINCT k) AS ks, count(k), sum(DISTINCT k) AS s, sum(k) AS t, sum(DISTINCT k) FILTER (WHERE g = 1) FROM sales',
	'SELECT count(DISTINCT nulls) AS n, count(nulls), bool_or(g = 1), min(s) FROM sales',
	'SELECT g, count(DISTINCT s) AS a, sum(id), count(DISTINCT s) FILTER (WHERE id % 2 = 0) AS b FROM sales GROUP BY g',
	'SELECT g, count(DISTINCT s), max(id) FROM sales GROUP BY g HAVING count(DISTINCT s) > 10 AND min(id) < 9 ORDER BY g DESC'
]) q;
-- what a FILTER keeps from failing, and what only the leader may compute
CREATE TEMP TABLE leaders AS SELECT 7 AS i;
CREATE FUNCTION heading(int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED COST 0.001 AS 'BEGIN RETURN $1 % i FROM leaders; END';
SET seq_page_cost = 1000;
SELECT q, check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT count(DISTINCT 100 / k) FILTER (WHERE k <> 0) AS c FROM sales',
	'SELECT g, sum(id), count(DISTINCT 100 / k) FILTER (WHERE k <> 0) AS c FROM sales GROUP BY g ORDER BY g',
	'SELECT g, sum(id), count(DISTINCT 100 / (k + 1)) FILTER (WHERE k > 5) AS c, count(DISTINCT 100 / (k + 1)) FROM sales GROUP BY g ORDER BY g',
	'SELECT count(DISTINCT heading(k)) FROM sales',
	'SELECT g, count(DISTINCT heading(k)) FROM sales GROUP BY g ORDER BY g'
]) q;
RESET seq_page_cost;
DROP FUNCTION heading;
DROP TABLE leaders;
-- whole groups, for what can't be combined
SELECT q, together(q, 'GroupAggregate.*Sliced By: k\n') FROM unnest(ARRAY[
	'SELECT k, sum(DISTINCT f), array_agg(DISTINCT f) FROM sales GROUP BY k',
	'SELECT k, first_of(DISTINCT id) FROM sales GROUP BY k ORDER BY k'
]) q;
SELECT q, shared(q) FROM unnest(ARRAY['SELECT sum(DISTINCT f) FROM sales', 'SELECT array_agg(DISTINCT k) FROM sales', 'SELECT count(DISTINCT k), sum(f) FROM sales',
	'SELECT count(DISTINCT k), string_agg(s, '''') FROM sales']) q;
SELECT setting, together('SELECT count(DISTINCT s), max(DISTINCT s) FROM sales', 'Aggregate', setting),
	together('SELECT g, count(DISTINCT s), sum(id) FROM sales GROUP BY g', 'Aggregate', setting)
FROM unnest(ARRAY['parallel_leader_participation=off', 'max_parallel_workers=0', 'max_parallel_workers=1',
	'gpusort.pool_quota=1', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify', 'work_mem=64kB']) setting;
DROP TABLE sales;
