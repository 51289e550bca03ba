-- Window functions in parallel workers, which sort together what they have read.
SET gpusort.enable_join = off;
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
CALL have_workers();
SET gpusort.force = on;
SET gpusort.cost_key_collated = 0;
SET gpusort.cost_startup = 2;
SET parallel_tuple_cost = 0.001;
SET enable_incremental_sort = off;

-- Each partition is computed by one worker.
SELECT plan_lines('SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par');
SELECT ltrim(line) AS line FROM plan_lines('SELECT r, count(*) FROM (SELECT row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s GROUP BY r') line WHERE line ~ 'Gather|Partial|WindowAgg|Shared|Sliced|Scan on';
SELECT plan_lines('SELECT id, sum(k) OVER w, lag(id) OVER v FROM par WINDOW w AS (PARTITION BY k, pad ORDER BY id), v AS (PARTITION BY k ORDER BY n, id)');
SELECT plan_lines('SELECT k, id, rank() OVER (PARTITION BY k ORDER BY id) FROM par ORDER BY k, id');
SELECT plan_lines('SELECT k, id, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par ORDER BY r, k');
-- Fewer rows of each partition.
SELECT plan_lines('SELECT * FROM (SELECT id, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s WHERE r <= 2');

-- When all partitions have nothing in common, or there are none.
SELECT shared('SELECT rank() OVER (ORDER BY k) FROM par');
SELECT shared('SELECT sum(id) OVER () FROM par');
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id), sum(id) OVER (PARTITION BY pad) FROM par');
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id), sum(id) OVER (ORDER BY k) FROM par');
-- one in common is enough, whichever is sorted by first
SELECT shared('SELECT rank() OVER (PARTITION BY k, n ORDER BY id), sum(id) OVER (PARTITION BY n) FROM par');
SELECT shared('SELECT rank() OVER (PARTITION BY k, n ORDER BY id), sum(id) OVER (PARTITION BY k) FROM par');
-- a constant
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id) FROM par WHERE k = 3');
SELECT shared('SELECT rank() OVER (PARTITION BY ARRAY[k] ORDER BY id) FROM par');
-- where it is not allowed, or too small
SET gpusort.enable_shared_sort = off;
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id) FROM par');
RESET gpusort.enable_shared_sort;
SET gpusort.enable_order_by = off;
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id) FROM par');
RESET gpusort.enable_order_by;
SET gpusort.pool_quota = 0;
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id) FROM par');
RESET gpusort.pool_quota;
SET gpusort.force = off;
SET gpusort.min_rows = 24000;
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id) FROM par');
RESET gpusort.min_rows;
SET gpusort.force = on;
SET max_parallel_workers_per_gather = 0;
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id) FROM par');
SET max_parallel_workers_per_gather = 2;
-- a row through Gather has its price
SET parallel_tuple_cost = 1;
SELECT shared('SELECT rank() OVER (PARTITION BY k ORDER BY id) FROM par');
SELECT shared('SELECT sum(r) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s');
SET parallel_tuple_cost = 0.001;

-- Functions that workers may not call: as window functions, in their arguments, filters, offsets.
CREATE FUNCTION restricted(int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS 'BEGIN RETURN $1; END';
CREATE AGGREGATE unsafe_sum(int) (SFUNC = int4pl, STYPE = int, INITCOND = 0);
CREATE AGGREGATE safe_sum(int) (SFUNC = int4pl, STYPE = int, INITCOND = 0, PARALLEL = SAFE);
SELECT query, shared(query) FROM (VALUES
	('SELECT unsafe_sum(1) OVER (PARTITION BY k ORDER BY id) FROM par'),
	('SELECT safe_sum(1) OVER (PARTITION BY k ORDER BY id) FROM par'),
	('SELECT sum(restricted(1)) OVER (PARTITION BY k ORDER BY id) FROM par'),
	('SELECT sum(restricted(id)) OVER (PARTITION BY k ORDER BY id) FROM par'),
	('SELECT restricted((sum(id) OVER (PARTITION BY k ORDER BY id))::int) FROM par'),
	('SELECT sum(1) FILTER (WHERE restricted(id) > 0) OVER (PARTITION BY k ORDER BY id) FROM par'),
	('SELECT sum(1) OVER (PARTITION BY k ORDER BY id ROWS restricted(1) PRECEDING) FROM par'),
	('SELECT sum(1) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN CURRENT ROW AND restricted(1) FOLLOWING) FROM par'),
	('SELECT * FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s WHERE r <= restricted(2)')) q(query);

-- A set-returning function is left to the leader, above all.
CREATE FUNCTION restricted_set(int8) RETURNS SETOF int8 LANGUAGE plpgsql PARALLEL RESTRICTED AS 'BEGIN RETURN NEXT $1; END';
SELECT plan_lines('SELECT DISTINCT restricted_set(rank() OVER (PARTITION BY k ORDER BY id)) FROM par');
SELECT matches('SELECT count(*) FROM (SELECT restricted_set(rank() OVER (PARTITION BY k ORDER BY id)) FROM par) s', 'Partial Aggregate');

-- The same rows.
SELECT together(query) FROM (VALUES
	('SELECT id, rank() OVER w, dense_rank() OVER w, row_number() OVER w, ntile(7) OVER w, cume_dist() OVER w, percent_rank() OVER w FROM par WINDOW w AS (PARTITION BY k ORDER BY id)'),
	('SELECT id, lag(id) OVER w, lead(id, 2, -1) OVER w, first_value(id) OVER w, last_value(id) OVER w, nth_value(id, 3) OVER w FROM par WINDOW w AS (PARTITION BY k ORDER BY pad DESC NULLS LAST, id)'),
	('SELECT id, rank() OVER (PARTITION BY k ORDER BY n) FROM par'),
	('SELECT id, rank() OVER (PARTITION BY pad ORDER BY n DESC, id DESC) FROM par'),
	('SELECT id, rank() OVER (PARTITION BY n ORDER BY id) FROM par'),
	('SELECT id, rank() OVER (PARTITION BY pad, n ORDER BY id) FROM par'),
	('SELECT id, row_number() OVER (PARTITION BY pad COLLATE "en-x-icu" ORDER BY id) FROM par'),
	('SELECT id, row_number() OVER (PARTITION BY k % 3 = 4 ORDER BY id) FROM par'),
	('SELECT id, row_number() OVER (PARTITION BY CASE WHEN id % 10 > 0 THEN 5 ELSE id END ORDER BY id) FROM par'),
	('SELECT id, row_number() OVER (PARTITION BY CASE WHEN id % 2 = 0 THEN (k % 50)::numeric ELSE (k % 50)::numeric(10,3) END ORDER BY id) FROM par'),
	('SELECT id, row_number() OVER (PARTITION BY id) FROM par'),
	('SELECT id, sum(id) OVER (PARTITION BY k) FROM par'),
	('SELECT id, count(pad) FILTER (WHERE id % 3 = 0) OVER (PARTITION BY k ORDER BY id), max(pad) OVER (PARTITION BY k) FROM par'),
	('SELECT id, sum(id) OVER (PARTITION BY k ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE CURRENT ROW) FROM par'),
	('SELECT id, sum(id) OVER (PARTITION BY k ORDER BY n RANGE BETWEEN 1000000 PRECEDING AND UNBOUNDED FOLLOWING) FROM par'),
	('SELECT id, count(*) OVER (PARTITION BY k ORDER BY n GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING EXCLUDE TIES) FROM par'),
	('SELECT id, safe_sum(id % 10) OVER (PARTITION BY k ORDER BY id) FROM par'),
	('SELECT id, sum(k + (SELECT max(k) FROM few)) OVER (PARTITION BY k ORDER BY id ROWS (SELECT min(id) FROM few) PRECEDING) FROM par'),
	('SELECT id, sum(k) OVER w, lag(id) OVER v FROM par WINDOW w AS (PARTITION BY k, pad ORDER BY id), v AS (PARTITION BY k ORDER BY n, id)'),
	('SELECT id, row_number() OVER (PARTITION BY k ORDER BY n, id), count(*) OVER (PARTITION BY k, n) FROM par'),
	('SELECT id, rank() OVER (PARTITION BY pad ORDER BY k), sum(id) OVER (PARTITION BY pad, k), count(*) OVER (PARTITION BY pad) FROM par'),
	('SELECT * FROM (SELECT id, k, rank() OVER (PARTITION BY k ORDER BY id DESC) AS r FROM par) s WHERE r <= 2'),
	('SELECT * FROM (SELECT id, rank() OVER (PARTITION BY k ORDER BY id) AS r, count(*) OVER (PARTITION BY k, pad ORDER BY id) AS c FROM par) s WHERE r <= 2 AND c < 3'),
	('SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par WHERE id % 1000 < 7'),
	('SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par WHERE id + k < 0'),
	('SELECT k, unnest(ARRAY[1, rank() OVER (PARTITION BY k ORDER BY id)]) FROM par')) q(query);
-- with positions
SELECT together('SELECT k, id, rank() OVER (PARTITION BY k ORDER BY id) FROM par ORDER BY k, id', 'Gather Merge');
SELECT together('SELECT k, id, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par ORDER BY r, k', 'GpuSort Collect.*WindowAgg');
SELECT together('SELECT k, id, lag(id) OVER (PARTITION BY k ORDER BY id) AS r FROM par ORDER BY pad, id', 'GpuSort Collect.*WindowAgg');
SELECT together('SELECT k, id, lag(id) OVER (PARTITION BY k ORDER BY id) AS r FROM par ORDER BY k DESC, id LIMIT 12000');

-- Above the windows: grouping, partial and not, DISTINCT, joins, UNION, LIMIT.
SELECT together('SELECT r, count(*), sum(id) FROM (SELECT id, row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s GROUP BY r', 'Partial.*WindowAgg');
SELECT together('SELECT r, string_agg(pad, '','' ORDER BY id) FROM (SELECT id, pad, row_number() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s GROUP BY r');
SELECT together('SELECT DISTINCT k, count(*) OVER (PARTITION BY k) FROM par', 'WindowAgg');
SELECT together('SELECT s.id, s.r, few.k FROM (SELECT id, k, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s JOIN few ON s.r = few.id', 'WindowAgg');
SELECT together('SELECT count(r) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par LIMIT 12345) s', 'Limit');
SELECT together('SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par UNION ALL SELECT id, rank() OVER (PARTITION BY pad ORDER BY id) FROM par', 'Append');
SELECT together('SELECT max(r) FROM (SELECT id, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par UNION ALL SELECT id, rank() OVER (PARTITION BY pad ORDER BY id) FROM par) s', 'Append', setting)
FROM unnest(ARRAY['enable_parallel_append=on', 'enable_parallel_append=off']) setting;
SELECT together('SELECT id, r, rank() OVER (PARTITION BY r ORDER BY id) FROM (SELECT id, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par) s', 'Shared.*Shared');
-- and below
SELECT together('SELECT a.id, rank() OVER (PARTITION BY b.k ORDER BY a.id) FROM par a JOIN par b ON a.id = b.id', 'Parallel Hash Join', 'enable_mergejoin=off');
SELECT together('SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM (SELECT id, k FROM par UNION ALL SELECT -id, k FROM par) s', 'Append');
-- grouped rows are read by nobody in parallel
SELECT shared('SELECT k, count(*), rank() OVER (PARTITION BY k % 7 ORDER BY k) FROM par GROUP BY k');

-- Under all kinds of circumstances.
SELECT setting, together('SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par', 'WindowAgg', setting),
	together('SELECT r, count(*) FROM (SELECT rank() OVER (PARTITION BY pad ORDER BY id) AS r FROM par) s GROUP BY r', 'WindowAgg', setting)
FROM unnest(ARRAY['parallel_leader_participation=off', 'max_parallel_workers=0', 'max_parallel_workers=1', 'max_parallel_workers_per_gather=4',
	'gpusort.pool_quota=1', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify',
	'gpusort.verify=on', 'work_mem=64kB', 'enable_hashagg=off', 'jit_above_cost=0']) setting;
SELECT together('SELECT id, rank() OVER (PARTITION BY pad ORDER BY id) FROM par', 'WindowAgg', 'gpusort.inject_fault=codec', 'work_mem=64kB',
	'parallel_leader_participation=off');

-- Rescans: the same rows again, and others.
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT together('SELECT o, s.id, s.r FROM generate_series(1, 5) o, (SELECT id, n, rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par OFFSET 0) s WHERE s.n > o * 3e7', 'Nested Loop');
SELECT together('SELECT few.id, (SELECT max(r) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par OFFSET few.id * 4000) s) FROM few');
SELECT together('SELECT few.id, (SELECT sum(r) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par LIMIT few.id * 10) s) > 0 FROM few');
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- Generic plans.
SET plan_cache_mode = force_generic_plan;
PREPARE ranks(int) AS SELECT count(*), sum(r) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par WHERE k < $1) s;
SELECT shared('EXECUTE ranks(1)');
EXECUTE ranks(100);
EXECUTE ranks(0);
EXECUTE ranks(200);
SET gpusort.enabled = off;
DEALLOCATE ranks;
PREPARE ranks(int) AS SELECT count(*), sum(r) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS r FROM par WHERE k < $1) s;
EXECUTE ranks(100);
EXECUTE ranks(0);
EXECUTE ranks(200);
RESET gpusort.enabled;
RESET plan_cache_mode;

-- Cursors go without workers.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par ORDER BY k, id;
FETCH ABSOLUTE 100 FROM c;
FETCH BACKWARD 2 FROM c;
ROLLBACK;
