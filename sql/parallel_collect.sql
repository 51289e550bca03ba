-- One sort whose rows parallel workers collect: when it is planned, how it is
-- executed, what EXPLAIN says.  Also the helpers of the other parallel_* tests.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_parallel;
SET search_path = gpusort_parallel, public;

-- A plan's lines, without costs and without what only some versions print.
CREATE FUNCTION lines(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line !~ '^\s*(Disabled|Window|Storage|Index Searches|Params Evaluated):' THEN
			line := regexp_replace(line, ' \(returns \$\d+\)', '');
			line := regexp_replace(line, ' OVER (\(\?\)|w\d+)', ' OVER w', 'g');
			RETURN NEXT regexp_replace(line, '\(InitPlan (\d+)\)\.col1', '$\1');
		END IF;
	END LOOP;
END $$;

-- A query's rows in the order in which they come.  Loops of plpgsql would run
-- without workers.
CREATE FUNCTION rows(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT r::text FROM (%s) r', query);
END $$;

-- Run a query, whose order leaves no choice, with PostgreSQL's sort and with ours,
-- under further settings ('name=value'): the same rows must be at the same places.
-- The plan must collect in parallel, and match the pattern.
CREATE FUNCTION compare(query text, pattern text DEFAULT '', VARIADIC settings text[] DEFAULT '{}')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	setting text;
	plan text;
	core text[];
	ours text[];
	problem text;
	before text[] := ARRAY(SELECT current_setting(split_part(s, '=', 1)) FROM unnest(settings) s);
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	PERFORM set_config('gpusort.enabled', 'off', true);
	core := ARRAY(SELECT rows(query));
	PERFORM set_config('gpusort.enabled', 'on', true);
	plan := (SELECT string_agg(line, E'\n') FROM lines(query) line);
	ours := ARRAY(SELECT rows(query));
	IF plan !~ 'Custom Scan \(GpuSort\)\n.*->  Gather\n.*->  Parallel Custom Scan \(GpuSort Collect\)' OR
		plan ~ '->  Sort' OR plan !~ pattern THEN
		problem := E'planned otherwise:\n' || plan;
	ELSIF core IS DISTINCT FROM ours THEN
		SELECT format('row %s: %s instead of %s', r.place, r.our, r.their) INTO problem
		FROM unnest(ours, core) WITH ORDINALITY r(our, their, place)
		WHERE r.our IS DISTINCT FROM r.their ORDER BY r.place LIMIT 1;
	END IF;
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), before[i], true);
	END LOOP;
	RETURN format('%s rows, %s', cardinality(ours), coalesce(problem, 'same'));
END $$;

-- A query's rows in the order in which they come, by a plan like that of the query alone.
CREATE FUNCTION stored_rows(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	stored text[];
BEGIN
	DROP TABLE IF EXISTS pg_temp.stored;
	EXECUTE format('CREATE TEMP TABLE stored AS %s', query);
	SELECT array_agg(s::text ORDER BY ctid) INTO stored FROM pg_temp.stored s;
	RETURN stored;
END $$;

-- Run a query with and without gpusort, under further settings ('name=value'): the same
-- rows, and at the same places if the query is an ordered one.  The plan must have workers
-- sort together, and match the pattern.
CREATE FUNCTION together(query text, pattern text DEFAULT '', VARIADIC settings text[] DEFAULT '{}')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	setting text;
	plan text;
	core text[];
	ours text[];
	problem text;
	before text[] := ARRAY(SELECT current_setting(split_part(s, '=', 1)) FROM unnest(settings) s);
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	PERFORM set_config('gpusort.enabled', 'off', true);
	core := stored_rows(query);
	PERFORM set_config('gpusort.enabled', 'on', true);
	plan := (SELECT string_agg(line, E'\n') FROM lines(query) line);
	ours := stored_rows(query);
	IF query !~ 'ORDER BY [^)]*$' THEN
		core := ARRAY(SELECT r FROM unnest(core) r ORDER BY r COLLATE "C");
		ours := ARRAY(SELECT r FROM unnest(ours) r ORDER BY r COLLATE "C");
	END IF;
	IF plan !~ 'Gather.*Parallel Custom Scan \(GpuSort Shared\)' OR plan !~ pattern THEN
		problem := E'planned otherwise:\n' || plan;
	ELSIF core IS DISTINCT FROM ours THEN
		SELECT format('row %s: %s instead of %s', i, ours[i], core[i]) INTO problem
		FROM (SELECT i, o, c FROM unnest(ours, core) WITH ORDINALITY u(o, c, i) WHERE o IS DISTINCT FROM c LIMIT 1) d;
	END IF;
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), before[i], true);
	END LOOP;
	RETURN format('%s rows, %s', coalesce(cardinality(ours), 0), coalesce(problem, 'same'));
END $$;

-- How many nodes of a plan are shared sorts.
CREATE FUNCTION shared(query text) RETURNS int8 LANGUAGE sql AS
$$ SELECT count(*) FROM lines(query) line WHERE line ~ 'GpuSort Shared' $$;

-- Rows collected, rows that went through Gather, and participants, of an execution.
CREATE FUNCTION counts(query text, OUT collected int8, OUT gathered int8, OUT total bool, OUT participants int8)
LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	node jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	node := jsonb_path_query_first(plan, '$.**  ? (@."Custom Plan Provider" == "GpuSort Collect")');
	collected := node -> 'Rows Collected';
	gathered := node -> 'Rows Through Gather';
	participants := jsonb_array_length(node -> 'Participants');
	total := collected = (SELECT sum((p -> 'Rows Collected')::int8) FROM jsonb_array_elements(node -> 'Participants') p)
		AND gathered = (SELECT sum((p -> 'Rows Through Gather')::int8) FROM jsonb_array_elements(node -> 'Participants') p)
		AND collected + gathered = (jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "GpuSort")') -> 'Actual Rows')::numeric;
END $$;

CREATE TABLE par WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 1009 AS k, nullif(md5((i % 7000)::text), md5('7')) COLLATE "C" AS pad,
	CASE WHEN i % 11 > 0 THEN (hashint4(i) / 7)::numeric END AS n
FROM generate_series(1, 50000) i;
CREATE TABLE few (id int, k int);
INSERT INTO few SELECT i, i % 3 FROM generate_series(1, 10) i;
ANALYZE par, few;

-- It wins by its costs, at least where workers cost nothing to start.
SET parallel_setup_cost = 0;
SET gpusort.cost_gather = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT lines('SELECT * FROM par ORDER BY k, id');
SELECT lines('SELECT id FROM par WHERE k > 100 ORDER BY pad DESC, n NULLS FIRST, id');
SELECT lines('SELECT id + 1, random() FROM par ORDER BY n, id LIMIT 40000');
-- not where they are dear, or not allowed
SET parallel_setup_cost = 1e6;
SELECT lines('SELECT * FROM par ORDER BY k, id');
SET parallel_setup_cost = 0;
SET max_parallel_workers_per_gather = 0;
SELECT lines('SELECT * FROM par ORDER BY k, id');
RESET max_parallel_workers_per_gather;
-- nor without the pool
SET gpusort.pool_quota = 0;
SELECT count(*) FROM lines('SELECT * FROM par ORDER BY k, id') line WHERE line ~ 'Collect';
RESET gpusort.pool_quota;
SET gpusort.enable_parallel_collect = off;
SELECT count(*) FROM lines('SELECT * FROM par ORDER BY k, id') line WHERE line ~ 'Collect';
RESET gpusort.enable_parallel_collect;
SET gpusort.enable_order_by = off;
SELECT count(*) FROM lines('SELECT * FROM par ORDER BY k, id') line WHERE line ~ 'GpuSort';
RESET gpusort.enable_order_by;
-- nor for types without an encoding
SELECT count(*) FROM lines('SELECT * FROM par ORDER BY ARRAY[k], id') line WHERE line ~ 'GpuSort';
-- A small limit is PostgreSQL's, also if it is seen late.
SELECT lines('SELECT * FROM par ORDER BY k, id LIMIT 10');
SELECT lines('SELECT * FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s LIMIT 10');
SELECT ARRAY(SELECT rows('SELECT * FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s LIMIT 10')) =
	ARRAY(SELECT s::text FROM (SELECT * FROM par ORDER BY k, id LIMIT 10) s) AS same;
-- Rows that are locked are read by the leader alone.
SELECT count(*) FROM lines('SELECT * FROM par ORDER BY k, id FOR UPDATE') line WHERE line ~ 'Gather';
-- Sorts in other places are serial ones, or below Gather Merge.
SELECT lines('SELECT * FROM few JOIN (SELECT * FROM par ORDER BY k, id OFFSET 0) s USING (id) ORDER BY id');

SET gpusort.force = on;
SELECT compare('SELECT * FROM par ORDER BY k, id');
SELECT compare('SELECT id FROM par ORDER BY pad DESC NULLS LAST, id DESC');
SELECT compare('SELECT pad, n FROM par ORDER BY n NULLS FIRST, id');
SELECT compare('SELECT id, k FROM par WHERE n > 0 ORDER BY k % 10, upper(pad), id');
SELECT compare('SELECT id, pad || k, n * 2 FROM par ORDER BY pad || k, id');
SELECT compare('SELECT id, k FROM par WHERE id + k < 0 ORDER BY k, id');
SELECT compare('SELECT id, k FROM par WHERE id + k < 1000 AND id % 77 < 5 ORDER BY k, id');
SELECT compare('SELECT id, k FROM par ORDER BY k, id LIMIT 45000');
SELECT compare('SELECT id, k FROM par ORDER BY k, id LIMIT 1000 OFFSET 45000');
SELECT compare('SELECT id, k, rank() OVER (ORDER BY k, id) FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s', 'WindowAgg');
SELECT compare('SELECT id, 1 AS one, NULL::int AS nothing FROM par ORDER BY k, id');
SELECT compare('SELECT id, (SELECT max(k) FROM few) AS m FROM par ORDER BY k, id');
SELECT compare('SELECT id FROM par WHERE k > (SELECT max(k) FROM few) ORDER BY k, id', 'InitPlan');
SELECT compare('SELECT id, current_setting(''server_version_num'') FROM par ORDER BY k, id');
SELECT compare('WITH s AS MATERIALIZED (SELECT * FROM par ORDER BY k, id) SELECT a.id, b.id FROM s a JOIN few b ON a.id = b.id ORDER BY a.id',
	'', 'gpusort.force=off', 'gpusort.min_rows=1000');
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
SELECT collected, gathered, total, participants FROM counts('SELECT * FROM par ORDER BY k, id');
SET parallel_leader_participation = off;
SELECT collected, gathered, total, participants FROM counts('SELECT * FROM par ORDER BY k, id');
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT collected, gathered, total, participants FROM counts('SELECT * FROM par ORDER BY k, id');
RESET max_parallel_workers;
SET gpusort.inject_fault = codec;
SELECT collected > 0 AS some, gathered > 49000 AS most, total, participants FROM counts('SELECT * FROM par ORDER BY k, id');
RESET gpusort.inject_fault;
CREATE FUNCTION explain_analyze(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		line := regexp_replace(line, '\(actual rows=([0-9]+)(\.[0-9]+)? loops', '(actual rows=\1 loops');
		-- a third of the rows, rounded or not
		line := replace(line, 'rows=16666 ', 'rows=16667 ');
		RETURN NEXT regexp_replace(line, '(Memory|Pool): \d+kB', '\1: NkB', 'g');
	END LOOP;
END $$;
SELECT explain_analyze('SELECT * FROM par ORDER BY k, id');

-- Rescans: the same rows again, and others.
SET enable_material = off;
SELECT lines('SELECT few.id, s.id FROM few, (SELECT * FROM par ORDER BY k, id OFFSET 0) s WHERE s.n > few.id * 3e7');
SELECT compare('SELECT few.id, s.id AS sid FROM few, (SELECT * FROM par ORDER BY k, id OFFSET 0) s WHERE s.n > few.id * 3e7 ORDER BY few.id, s.k, s.id',
	'Nested Loop.*->  Custom Scan', 'parallel_setup_cost=50');
SELECT lines($$SELECT o.id, (SELECT string_agg(s.id::text, ' ') FROM
	(SELECT * FROM par WHERE k < (SELECT max(few.k) * 100 FROM few WHERE few.id <= o.id) ORDER BY pad, id OFFSET 0) s) AS ids FROM few o$$);
SELECT compare($$SELECT o.id, (SELECT string_agg(s.id::text, ' ') FROM
	(SELECT * FROM par WHERE k < (SELECT max(few.k) * 100 FROM few WHERE few.id <= o.id) ORDER BY pad, id OFFSET 0) s) AS ids FROM few o$$, '', setting)
FROM unnest(ARRAY['work_mem=4MB', 'gpusort.pool_quota=1', 'gpusort.inject_fault=codec', 'max_parallel_workers=0',
	'parallel_leader_participation=off']) setting;
RESET enable_material;

-- Prepared statements, tables made by queries, functions that must stay in the leader.
PREPARE p(int) AS SELECT id, k FROM par WHERE k > $1 ORDER BY k, id;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE p(500);
CREATE TABLE made AS EXECUTE p(500);
SELECT count(*), bool_and(ordered) FROM (SELECT (k, id) > lag((k, id)) OVER (ORDER BY ctid) IS NOT FALSE AS ordered FROM made) s;
RESET plan_cache_mode;
CREATE FUNCTION leaders(int) RETURNS int LANGUAGE plpgsql PARALLEL RESTRICTED AS 'BEGIN RETURN $1 + 1; END';
SELECT count(*) FROM lines('SELECT leaders(id) FROM par ORDER BY k, id') line WHERE line ~ 'Collect';

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
SELECT count(*) FROM (SELECT * FROM par ORDER BY 1 / (id - 45000), id OFFSET 0) s;
SELECT sum(1 / (id - 45000)) FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s;
DO $$
BEGIN
	PERFORM count(*) FROM (SELECT * FROM par ORDER BY 1 / (id - 45000), id OFFSET 0) s;
EXCEPTION WHEN division_by_zero THEN
	PERFORM count(*) FROM (SELECT * FROM par ORDER BY k, id OFFSET 0) s;
	RAISE WARNING 'caught';
END $$;
SELECT pool_bytes_free = pool_bytes AS free FROM gpusort_service();
SELECT compare('SELECT * FROM par ORDER BY k, id');
