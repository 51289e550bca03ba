-- Groups in parallel workers, which sort together what they have read: for aggregates that
-- can't be computed in parts.
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
CALL have_workers();
SET gpusort.force = on;
SET gpusort.cost_key_collated = 0;
SET parallel_tuple_cost = 0.001;
SET enable_incremental_sort = off;

-- The rows of a group may come in the order that mode() wants, where that is cheaper.
SELECT replace(line, 'k, id', 'k') AS line FROM plan_lines('SELECT k, mode() WITHIN GROUP (ORDER BY id) FROM par GROUP BY k') line;
SELECT plan_lines('SELECT k, pad, mode() WITHIN GROUP (ORDER BY id) FROM par GROUP BY k, pad ORDER BY k, pad');
-- Others are computed in parts, or by hashing.
SELECT shared('SELECT k, count(id) FROM par GROUP BY k');
SELECT shared('SELECT k, max(id) FROM par GROUP BY k ORDER BY k');
-- too many kinds of groups
SELECT shared('SELECT k, count(DISTINCT id) FROM par GROUP BY GROUPING SETS (k, pad)');
-- where it is not allowed
CREATE AGGREGATE restricted_sum(int) (SFUNC = int4pl, STYPE = int, INITCOND = 0, PARALLEL = RESTRICTED);
SELECT shared('SELECT k, restricted_sum(DISTINCT id) FROM par GROUP BY k');
SET gpusort.enable_shared_sort = off;
SELECT shared('SELECT k, count(DISTINCT id) FROM par GROUP BY k');
RESET gpusort.enable_shared_sort;
SET gpusort.pool_quota = 0;
SELECT shared('SELECT k, count(DISTINCT id) FROM par GROUP BY k');
RESET gpusort.pool_quota;

-- The same rows.
SELECT together(query, 'GroupAggregate') FROM (VALUES
	('SELECT k, count(DISTINCT id), max(pad) FROM par GROUP BY k'),
	('SELECT pad, array_agg(id ORDER BY id DESC) FROM par GROUP BY pad'),
	('SELECT n % 5 AS m, percentile_cont(0.5) WITHIN GROUP (ORDER BY id), mode() WITHIN GROUP (ORDER BY k) FROM par GROUP BY n % 5'),
	('SELECT k, pad, count(DISTINCT n) FILTER (WHERE id % 3 = 0) FROM par GROUP BY k, pad'),
	('SELECT k, count(DISTINCT pad) FROM par GROUP BY k HAVING count(DISTINCT pad) > 49 AND min(id) > 10'),
	('SELECT k < 0, count(DISTINCT id) FROM par GROUP BY 1'),
	('SELECT id, count(DISTINCT k) FROM par GROUP BY id'),
	('SELECT k, count(DISTINCT id) FROM par WHERE id % 1000 < 7 GROUP BY k'),
	('SELECT k, count(DISTINCT id) FROM par WHERE id + k < 0 GROUP BY k'),
	('SELECT k, count(DISTINCT id), generate_series(1, 2) FROM par GROUP BY k'),
	('SELECT DISTINCT count(DISTINCT id) FROM par GROUP BY k'),
	('SELECT c, count(*) FROM (SELECT k, count(DISTINCT id) AS c FROM par GROUP BY k) s GROUP BY c'),
	('SELECT k, c, rank() OVER (PARTITION BY k % 7 ORDER BY c, k) FROM (SELECT k, count(DISTINCT id) AS c FROM par GROUP BY k) s'),
	('SELECT k, count(DISTINCT id) FROM par GROUP BY k ORDER BY k'),
	('SELECT k, count(DISTINCT id) FROM par GROUP BY k ORDER BY k DESC'),
	('SELECT k, pad, count(DISTINCT id) AS c FROM par GROUP BY k, pad ORDER BY c, pad, k')) q(query);
-- input in order by more columns than are grouped by, some of which are no longer there
CREATE TABLE ids (id int PRIMARY KEY);
SELECT together(query, '(GroupAggregate|Ordered Set).*Sliced By: s.k\n.*WindowAgg.*Sliced By: par.k\n', 'parallel_tuple_cost=0.01')
FROM (VALUES
	('SELECT k, mode() WITHIN GROUP (ORDER BY n) FROM (SELECT id, k, n, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s LEFT JOIN ids USING (id) WHERE r + 0 < 40 GROUP BY k'),
	('SELECT k, mode() WITHIN GROUP (ORDER BY n), sum(id) FROM (SELECT id, k, n, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s LEFT JOIN ids USING (id) WHERE r + 0 < 40 GROUP BY k')) q(query);
SELECT setting, together('SELECT k, count(DISTINCT id), max(pad) FROM par GROUP BY k', 'GroupAggregate', setting)
FROM unnest(ARRAY['parallel_leader_participation=off', 'max_parallel_workers=0', 'max_parallel_workers=1',
	'gpusort.pool_quota=1', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify', 'work_mem=64kB']) setting;
