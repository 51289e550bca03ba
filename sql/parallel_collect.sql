-- One sort whose rows parallel workers collect: when it is planned, how it is
-- executed, what EXPLAIN says.
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
CALL have_workers();

-- It wins by its costs, at least where workers cost nothing to start.
SELECT plan_lines('SELECT * FROM par ORDER BY k, id');
SELECT plan_lines('SELECT id FROM par WHERE k > 100 ORDER BY pad DESC, n NULLS FIRST, id');
SELECT plan_lines('SELECT id + 1, random() FROM par ORDER BY n, id LIMIT 16000');
-- not where they are dear, or not allowed
SET parallel_setup_cost = 1e6;
SELECT plan_lines('SELECT * FROM par ORDER BY k, id');
SET parallel_setup_cost = 0;
SET max_parallel_workers_per_gather = 0;
SELECT plan_lines('SELECT * FROM par ORDER BY k, id');
RESET max_parallel_workers_per_gather;
-- nor without the pool
SET gpusort.pool_quota = 0;
SELECT matches('SELECT * FROM par ORDER BY k, id', 'Collect');
RESET gpusort.pool_quota;
SET gpusort.enable_parallel_collect = off;
SELECT matches('SELECT * FROM par ORDER BY k, id', 'Collect');
RESET gpusort.enable_parallel_collect;
SET gpusort.enable_order_by = off;
SELECT matches('SELECT * FROM par ORDER BY k, id', 'GpuSort');
RESET gpusort.enable_order_by;
-- nor for types without an encoding
SELECT matches('SELECT * FROM par ORDER BY ARRAY[k], id', 'GpuSort');
-- A limit lets participants drop rows.  A small one of a collation is PostgreSQL's, also if it is
-- seen late.
SELECT plan_lines('SELECT * FROM par ORDER BY k, id LIMIT 10');
SELECT plan_lines('SELECT * FROM par ORDER BY pad COLLATE "en-x-icu", id LIMIT 10');
SELECT plan_lines('SELECT * FROM (SELECT * FROM par ORDER BY pad COLLATE "en-x-icu", id OFFSET 0) s LIMIT 10');
SELECT check_rows('SELECT * FROM (SELECT * FROM par ORDER BY pad COLLATE "en-x-icu", id OFFSET 0) s LIMIT 10', true, ARRAY['Sort'], '{}');
-- ... if the limit is known: workers below a Gather Merge keep to the first of several
SET parallel_tuple_cost = 5;
SET enable_material = off;
SET parallel_leader_participation = off;
PREPARE growing AS SELECT s.id, n FROM (VALUES (1), (300), (100000)) l(n), LATERAL (SELECT * FROM (SELECT id, pad FROM par ORDER BY pad COLLATE "en-x-icu", id OFFSET 0) s LIMIT n) s;
EXPLAIN (COSTS OFF) EXECUTE growing;
CREATE TEMP TABLE limited AS EXECUTE growing;
SELECT n, count(*) FROM limited GROUP BY n ORDER BY n;
RESET parallel_leader_participation;
RESET enable_material;
RESET parallel_tuple_cost;
-- Rows that are locked are read by the leader alone.
SELECT matches('SELECT * FROM par ORDER BY k, id FOR UPDATE', 'Gather');
-- Sorts in other places are serial ones, or below Gather Merge.
SELECT plan_lines('SELECT * FROM few JOIN (SELECT * FROM par ORDER BY k, id OFFSET 0) s USING (id) ORDER BY id');

SET gpusort.force = on;
SELECT compare('SELECT * FROM par ORDER BY k, id');
SELECT compare('SELECT id FROM par ORDER BY pad DESC NULLS LAST, id DESC');
SELECT compare('SELECT pad, n FROM par ORDER BY n NULLS FIRST, id');
SELECT compare('SELECT id, k FROM par WHERE n > 0 ORDER BY k % 10, upper(pad), id');
SELECT compare('SELECT id, pad || k AS p, n * 2 AS d FROM par ORDER BY pad || k, id');
SELECT compare('SELECT id, k FROM par WHERE id + k < 0 ORDER BY k, id');
SELECT compare('SELECT id, k FROM par WHERE id + k < 1000 AND id % 77 < 5 ORDER BY k, id');
SELECT compare('SELECT id, k FROM par ORDER BY k, id LIMIT 18000');
SELECT compare('SELECT id, k FROM par ORDER BY k, id LIMIT 1000 OFFSET 18000');
SELECT compare('SELECT id, k, rank() OVER (ORDER BY k, id) FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s', 'WindowAgg');
SELECT compare('SELECT id, 1 AS one, NULL::int AS nothing FROM par ORDER BY k, id');
SELECT compare('SELECT id, (SELECT max(k) FROM few) AS m FROM par ORDER BY k, id');
SELECT compare('SELECT id FROM par WHERE k > (SELECT max(k) FROM few) ORDER BY k, id', 'InitPlan');
SELECT compare('SELECT id, current_setting(''server_version_num'') FROM par ORDER BY k, id');
SELECT compare('WITH s AS MATERIALIZED (SELECT * FROM par ORDER BY k, id) SELECT a.id, b.k FROM s a JOIN few b ON a.id = b.id ORDER BY a.id',
	'', 'gpusort.force=off', 'gpusort.min_rows=1000', 'enable_mergejoin=off');
SELECT compare('(SELECT id, k FROM par ORDER BY k, id) UNION ALL (SELECT id, k FROM par ORDER BY pad DESC, id)', 'Append');
-- the leader alone, workers alone, one worker, and more than there are
SELECT compare('SELECT * FROM par ORDER BY k, id', '', 'parallel_leader_participation=off');
SELECT compare('SELECT * FROM par ORDER BY k, id', '', 'max_parallel_workers=0');
SELECT compare('SELECT * FROM par ORDER BY k, id', '', 'max_parallel_workers=0', 'parallel_leader_participation=off');
SELECT compare('SELECT * FROM par ORDER BY k, id', '', 'max_parallel_workers=1');
SELECT compare('SELECT * FROM par ORDER BY k, id', 'Planned: 1', 'max_parallel_workers_per_gather=1');
-- rows that go through Gather, or are handed over; how many do for want of room depends on the
-- size of the pool (see the TAP tests)
SELECT compare('SELECT * FROM par ORDER BY pad, id', '', 'gpusort.pool_quota=1', 'work_mem=64kB');
SELECT compare('SELECT * FROM par ORDER BY pad, id', '', 'gpusort.inject_fault=memory');
SELECT compare('SELECT * FROM par ORDER BY n, id', '', 'gpusort.inject_fault=codec');
SELECT compare('SELECT * FROM par ORDER BY n, id', '', 'gpusort.inject_fault=verify');
SELECT compare('SELECT * FROM par ORDER BY n, pad, id', '', 'gpusort.verify=on');
SELECT compare('SELECT * FROM par ORDER BY n, pad, id', '', 'gpusort.keep_memory=0');

-- EXPLAIN ANALYZE counts the rows of all participants.
CREATE FUNCTION counts(query text, OUT collected int8, OUT gathered int8, OUT participants int8) LANGUAGE sql AS $$
	SELECT total(node, 'Rows Collected'), total(node, 'Rows Through Gather'), jsonb_array_length(node -> 'Participants')
	FROM executed(query, 'GpuSort Collect') node
$$;
SELECT * FROM counts('SELECT * FROM par ORDER BY k, id');
SET parallel_leader_participation = off;
SELECT * FROM counts('SELECT * FROM par ORDER BY k, id');
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT * FROM counts('SELECT * FROM par ORDER BY k, id');
RESET max_parallel_workers;
SET gpusort.inject_fault = codec;
SELECT collected > 0 AS some, gathered > 19000 AS most, collected + gathered AS rows, participants FROM counts('SELECT * FROM par ORDER BY k, id');
-- ... a value that one part has no encoding for has all rows handed over
SELECT node ->> 'Handed Over' AS why FROM executed('SELECT * FROM par ORDER BY k, id', 'GpuSort') node;
RESET gpusort.inject_fault;
-- a worker that comes when the others have collected only helps to sort
SELECT regexp_replace(regexp_replace(line, 'host  (Processes: \d  )?Key: 24 bits  Passes: \d', 'host  Key: 24 bits  Passes: 2'), '(Seq Scan on par).*', '\1') AS plan
FROM plan_lines('SELECT * FROM par ORDER BY k, id', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF') line;

-- Rescans: the same rows again, and others.
SET enable_material = off;
SELECT plan_lines('SELECT few.id, s.id FROM few, (SELECT * FROM par ORDER BY k, id OFFSET 0) s WHERE s.n > few.id * 3e7');
SELECT compare('SELECT few.id, s.id AS sid FROM few, (SELECT * FROM par ORDER BY k, id OFFSET 0) s WHERE s.n > few.id * 3e7 ORDER BY few.id, s.k, s.id',
	'Nested Loop.*->  Custom Scan', 'parallel_setup_cost=50');
SELECT plan_lines($$SELECT o.id, (SELECT md5(string_agg(s.id::text, ' ')) FROM
	(SELECT * FROM par WHERE k < (SELECT max(few.k) * 100 FROM few WHERE few.id <= o.id) ORDER BY pad, id OFFSET 0) s) AS ids FROM few o$$);
SELECT compare($$SELECT o.id, (SELECT md5(string_agg(s.id::text, ' ')) FROM
	(SELECT * FROM par WHERE k < (SELECT max(few.k) * 100 FROM few WHERE few.id <= o.id) ORDER BY pad, id OFFSET 0) s) AS ids FROM few o$$, '', setting)
FROM unnest(ARRAY['work_mem=4MB', 'gpusort.pool_quota=1', 'gpusort.inject_fault=codec', 'max_parallel_workers=0',
	'parallel_leader_participation=off']) setting;
RESET enable_material;

-- Prepared statements, tables made by queries, functions that must stay in the leader.
PREPARE p(int) AS SELECT id, k FROM par WHERE k > $1 ORDER BY k, id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE p(200);
CREATE TABLE made AS EXECUTE p(200);
SELECT count(*), bool_and(ordered) FROM (SELECT (k, id) > lag((k, id)) OVER (ORDER BY ctid) IS NOT FALSE AS ordered FROM made) s;
RESET plan_cache_mode;
CREATE FUNCTION leaders(int) RETURNS int LANGUAGE plpgsql PARALLEL RESTRICTED AS 'BEGIN RETURN $1 + 1; END';
SELECT matches('SELECT leaders(id) FROM par ORDER BY k, id', 'Collect');

-- Cursors, and results that are fetched in part, go without workers.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, k FROM par ORDER BY k, id;
FETCH 3 FROM c;
MOVE FORWARD ALL FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
CREATE FUNCTION loop_rows() RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n int := 0;
BEGIN
	FOR r IN SELECT id FROM par ORDER BY k, id LOOP
		n := n + 1;
		EXIT WHEN n = 1000;
	END LOOP;
	RETURN n;
END $$;
SELECT loop_rows();

-- Errors, wherever they happen, leave nothing behind.
\set SHOW_CONTEXT never
SELECT count(*) FROM (SELECT * FROM par ORDER BY 1 / (id - 18000), id OFFSET 0) s;
SELECT sum(1 / (id - 18000)) FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s;
DO $$
BEGIN
	PERFORM count(*) FROM (SELECT * FROM par ORDER BY 1 / (id - 18000), id OFFSET 0) s;
EXCEPTION WHEN division_by_zero THEN
	PERFORM count(*) FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s;
	RAISE WARNING 'caught';
END $$;
SELECT pool_bytes_free = pool_bytes AS free FROM gpusort_service();
SELECT compare('SELECT * FROM par ORDER BY k, id');
