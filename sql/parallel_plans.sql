-- Sorts that the planner puts into plans by itself, their rows collected by parallel
-- workers: below window functions, grouping and joins, in subqueries.
SET gpusort.enable_join = off;
LOAD 'gpusort';
SET client_min_messages = warning;
-- rows enough for what they cost to decide
CREATE SCHEMA gpusort_plans;
CREATE TABLE gpusort_plans.par WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 1009 AS k, nullif(md5((i % 7000)::text), md5('7')) COLLATE "C" AS pad,
	CASE WHEN i % 11 > 0 THEN (hashint4(i) / 7)::numeric END AS n
FROM generate_series(1, 50000) i;
ANALYZE gpusort_plans.par;
SET search_path = gpusort_plans, gpusort_parallel, gpusort_test, public;
CALL have_workers();
SET gpusort.enable_shared_sort = off;
SET gpusort.cost_emit = 0;
SET parallel_tuple_cost = 0.001;
SET enable_incremental_sort = off;
SET enable_hashagg = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;

-- Gather Merge above Sort, and Sort above Gather, become one sort.
SELECT plan_lines('SELECT id, rank() OVER (ORDER BY k) FROM par');
SET enable_gathermerge = off;
SELECT plan_lines('SELECT id, rank() OVER (ORDER BY k) FROM par');
RESET enable_gathermerge;
SELECT plan_lines('SELECT DISTINCT ON (pad, n) pad, n FROM par');
SELECT plan_lines('SELECT pad, json_agg(id) FROM par GROUP BY pad');
SELECT plan_lines('SELECT a.id, b.id FROM par a FULL JOIN par b ON a.k = b.id');
-- a Gather Merge that leaves out a sort expression
CREATE FUNCTION leaders_rows(int) RETURNS SETOF int LANGUAGE plpgsql PARALLEL RESTRICTED ROWS 2
AS 'BEGIN RETURN NEXT $1; RETURN NEXT $1 + 1; END';
SET enable_nestloop = on;
SET enable_material = off;
SELECT plan_lines('SELECT DISTINCT ON (s.id, md5(pad)) s.id, md5(pad) FROM par, LATERAL (SELECT par.id FROM leaders_rows(1)) s');
RESET enable_material;
SET enable_nestloop = off;
-- a Gather that evaluates one
SELECT plan_lines('SELECT a.id, b.id FROM par a FULL JOIN par b ON a.k + 1 = b.id');

-- All rows count, not those of a worker; and what it costs.
SELECT matches('SELECT id, rank() OVER (ORDER BY k) FROM par', 'Collect');
SET gpusort.min_rows = 30000;
SELECT matches('SELECT id, rank() OVER (ORDER BY k) FROM par', 'Collect');
SET gpusort.min_rows = 60000;
SELECT plan_lines('SELECT id, rank() OVER (ORDER BY k) FROM par');
RESET gpusort.min_rows;
SET gpusort.cost_row = 1000;
SELECT plan_lines('SELECT id, rank() OVER (ORDER BY k) FROM par');
RESET gpusort.cost_row;
-- where it can't be had, all rows pass through the Gather
SET gpusort.enable_parallel_collect = off;
SELECT plan_lines('SELECT id, rank() OVER (ORDER BY k) FROM par');
RESET gpusort.enable_parallel_collect;
SET gpusort.pool_quota = 0;
SELECT plan_lines('SELECT id, rank() OVER (ORDER BY k) FROM par');
RESET gpusort.pool_quota;
SET gpusort.enable_order_by = off;
SELECT matches('SELECT id, rank() OVER (ORDER BY k) FROM par', 'GpuSort');
RESET gpusort.enable_order_by;
SELECT matches('SELECT id, rank() OVER (ORDER BY ARRAY[k]) FROM par', 'GpuSort');
-- a small limit of a collation is PostgreSQL's, other ones are not
SET enable_nestloop = on;
SET gpusort.cost_startup = 1000;
SELECT plan_lines('SELECT par.id FROM par ORDER BY pad COLLATE "en-x-icu" LIMIT 10');
SELECT plan_lines('SELECT par.id FROM par ORDER BY k LIMIT 10');
SELECT plan_lines('SELECT DISTINCT ON (k, id) k, id FROM par LIMIT 10');
RESET gpusort.cost_startup;
SET enable_nestloop = off;

-- The same rows at the same places.
SELECT compare('SELECT k, id, rank() OVER (ORDER BY k, id) FROM par', 'WindowAgg', setting)
FROM unnest(ARRAY['enable_gathermerge=on', 'enable_gathermerge=off', 'parallel_leader_participation=off', 'max_parallel_workers=0',
	'max_parallel_workers=1', 'gpusort.force=on', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec',
	'gpusort.inject_fault=verify', 'gpusort.verify=on']) setting;
SELECT compare('SELECT k, id, rank() OVER (ORDER BY pad DESC, id) FROM par', 'WindowAgg', 'gpusort.force=on', 'gpusort.pool_quota=1', 'work_mem=64kB');
SELECT compare('SELECT k, pad, id, lag(id) OVER (PARTITION BY k ORDER BY pad NULLS FIRST, id) FROM par', 'WindowAgg');
SELECT compare('SELECT id, rank() OVER (ORDER BY k, id), row_number() OVER (PARTITION BY n ORDER BY id) FROM par', 'WindowAgg.*WindowAgg');
SELECT check_sort('ties', 'SELECT k, id, rank() OVER (ORDER BY k) AS r FROM par', 'k', 'r');
SELECT compare('SELECT DISTINCT ON (pad, n) pad, n FROM par', 'Unique');
SELECT compare('SELECT DISTINCT ON (k) k, id, pad FROM par ORDER BY k, id DESC', 'Unique');
SELECT compare('SELECT pad, count(DISTINCT id), max(k) FROM par GROUP BY pad', 'GroupAggregate');
SELECT compare('SELECT k, id FROM par UNION SELECT k + 1, id FROM par', 'Unique.*Append');
SELECT compare('SELECT DISTINCT ON (s.id, md5(pad)) s.id, md5(pad) FROM par, LATERAL (SELECT par.id FROM leaders_rows(1)) s', 'Result', 'enable_nestloop=on', 'enable_material=off');
SELECT compare('SELECT id, rank() OVER (ORDER BY k, id) FROM par WHERE k > (SELECT max(k) FROM few)', 'InitPlan', 'parallel_tuple_cost=0.01');
SELECT compare('SELECT id, (SELECT md5(string_agg(concat(id, r), '' '')) FROM (SELECT id, rank() OVER (ORDER BY k, id) AS r FROM par) s) FROM few WHERE id = 1', 'InitPlan');
SELECT compare('SELECT * FROM (SELECT id, rank() OVER (ORDER BY k, id) AS r FROM par) s WHERE r % 3 = 0', 'Subquery Scan');
SELECT compare('(SELECT id, rank() OVER (ORDER BY k, id) FROM par) UNION ALL (SELECT id, rank() OVER (ORDER BY pad, id) FROM par)', 'Append.*Collect.*Collect');
SELECT compare('WITH s AS MATERIALIZED (SELECT id, rank() OVER (ORDER BY k, id) AS r FROM par) SELECT a.id, a.r FROM s a WHERE r > (SELECT max(r) - 10 FROM s)', 'CTE');
SELECT compare('SELECT id, rank() OVER (ORDER BY k, id) FROM par LIMIT 40000', 'Limit');
SELECT compare('SELECT id, rank() OVER (ORDER BY k, id) FROM par LIMIT 10', 'Limit');
SELECT compare('SELECT id, rank() OVER (ORDER BY k, id) FROM par OFFSET 49990', 'Limit');
-- Merge joins: the inner side goes back to a mark for each duplicate of the outer side.
SELECT compare('SELECT count(*), sum(hashint8(a.id * 100003::int8 + b.id)::int8) FROM (SELECT * FROM par WHERE id <= 5000) a FULL JOIN par b ON a.k = b.k',
	'Merge Full Join.*Collect.*Collect', setting, 'gpusort.force=on')
FROM unnest(ARRAY['work_mem=4MB', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify']) setting;
-- A join with sorts of both its sides below the collection.
CREATE TABLE teams WITH (parallel_workers = 0) AS SELECT id, n FROM par WHERE id <= 2000 ORDER BY n;
ANALYZE teams;
SELECT compare('SELECT count(*) AS n, count(s.id) AS joined, sum(hashint8(s.id * 100003::int8 + c.k)::int8) FROM (SELECT a.id FROM par a JOIN teams b ON a.k = b.id WHERE a.pad < b.n::text) s FULL JOIN par c ON s.id = c.id',
	'Merge Full Join.*Collect.*Merge Join.*Sort Key: b.id\n', setting, 'enable_gathermerge=off', 'gpusort.force=on', 'gpusort.cost_row=1e6', 'parallel_tuple_cost=0.1')
FROM unnest(ARRAY['gpusort.late_rows=on', 'gpusort.late_rows=off']) setting;
-- Nodes with shared memory of their own below the collection.
SELECT compare('SELECT a.id, b.pad, rank() OVER (ORDER BY b.pad, a.id) FROM par a JOIN par b ON a.id = b.id', 'Parallel Hash Join', setting, 'enable_hashjoin=on', 'parallel_tuple_cost=0.02')
FROM unnest(ARRAY['enable_gathermerge=on', 'enable_gathermerge=off']) setting;

-- Rescans: the same rows again, and others.
SET enable_nestloop = on;
SET enable_material = off;
SELECT compare('SELECT o, s.id, s.r FROM generate_series(1, 4) o, (SELECT id, n, rank() OVER (ORDER BY k, id) AS r FROM par OFFSET 0) s WHERE s.n > o * 3e7',
	'Nested Loop.*WindowAgg', setting)
FROM unnest(ARRAY['enable_gathermerge=on', 'enable_gathermerge=off']) setting;
SELECT compare($$SELECT o, (SELECT md5(string_agg(concat(s.id, s.r), ' ')) FROM (SELECT id, rank() OVER (ORDER BY pad, id) AS r FROM par
	WHERE k < (SELECT max(few.k) * 100 FROM few WHERE few.id <= o)) s) AS ids FROM generate_series(1, 4) o$$, '', setting, 'gpusort.force=on')
FROM unnest(ARRAY['enable_gathermerge=on', 'enable_gathermerge=off', 'gpusort.pool_quota=1', 'gpusort.inject_fault=codec', 'max_parallel_workers=0',
	'parallel_leader_participation=off']) setting;
RESET enable_material;
SET enable_nestloop = off;

-- Prepared statements; counts of what the workers did; fetching in part.
PREPARE p(int) AS SELECT id, rank() OVER (ORDER BY k, id) FROM par WHERE k > $1;
SET plan_cache_mode = force_generic_plan;
SET parallel_tuple_cost = 0.01;
SELECT plan_lines('EXECUTE p(500)');
SET parallel_tuple_cost = 0.001;
CREATE TABLE ranks AS EXECUTE p(500);
SELECT count(*), bool_and(rank = ordinality) FROM (SELECT rank, row_number() OVER (ORDER BY ctid) AS ordinality FROM ranks) s;
RESET plan_cache_mode;
SELECT total(node, 'Rows Collected') AS collected, total(node, 'Rows Through Gather') AS gathered
FROM executed('SELECT id, rank() OVER (ORDER BY k) FROM par', 'GpuSort Collect') node;
CREATE FUNCTION loop_ranks() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n int := 0;
BEGIN
	FOR r IN SELECT id, rank() OVER (ORDER BY k, id) AS rank FROM par LOOP
		n := n + 1;
		EXIT WHEN n = 1000 OR r.rank <> n;
	END LOOP;
	RETURN n;
END $$;
SELECT loop_ranks();
SELECT pool_bytes_free = pool_bytes AS free FROM gpusort_service();
