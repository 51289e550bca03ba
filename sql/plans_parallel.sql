-- Sorts inside parallel workers, below Gather Merge and below joins.
LOAD 'gpusort';
SET gpusort.enable_shared_sort = off;
SET client_min_messages = warning;
SET search_path = gpusort_plan, public;
SET gpusort.force = on;
-- our own path for the ORDER BY, above Gather, is not to win: PostgreSQL's Sort
-- below Gather Merge does, and that is taken over in the finished plan
SET gpusort.cost_row = 1e6;
-- and the rows are not to be collected for a single sort
SET gpusort.enable_parallel_collect = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET enable_hashagg = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_incremental_sort = off;

CREATE TABLE par WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 1009 AS k, nullif(md5((i % 7000)::text), md5('7')) COLLATE "C" AS pad
FROM generate_series(1, 20000) i;
ANALYZE par;

-- Loops of plpgsql run without workers, RETURN QUERY with them.
CREATE FUNCTION parallel_rows(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT r::text FROM (%s) r', query);
END $$;
CREATE FUNCTION parallel_compare(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	core text[];
	ours text[];
BEGIN
	PERFORM set_config('gpusort.enabled', 'off', true);
	core := ARRAY(SELECT parallel_rows(query));
	PERFORM set_config('gpusort.enabled', 'on', true);
	plan := (SELECT string_agg(line, E'\n') FROM lines(format('SELECT r::text FROM (%s) r', query)) line);
	ours := ARRAY(SELECT parallel_rows(query));
	RETURN format('%s rows, %s', cardinality(ours), CASE WHEN core = ours THEN 'same' ELSE 'DIFFERENT' END) ||
		CASE WHEN plan !~ 'Gather' THEN E', not parallel\n' || plan ELSE '' END ||
		CASE WHEN plan !~ 'GpuSort' OR plan ~ '->  Sort' THEN E', not ours\n' || plan ELSE '' END;
END $$;

SELECT lines('SELECT * FROM par ORDER BY k, id');
SELECT parallel_compare('SELECT * FROM par ORDER BY k, id');
SET gpusort.cost_row = 0;
SELECT parallel_compare('SELECT * FROM par ORDER BY k, id');
SET gpusort.cost_row = 1e6;
SELECT parallel_compare('SELECT id, k FROM par ORDER BY pad DESC, id');
SELECT parallel_compare('SELECT id FROM par ORDER BY pad NULLS FIRST, k DESC, id LIMIT 1000');
SELECT parallel_compare('SELECT id FROM par WHERE id < 0 ORDER BY pad, id');
SELECT parallel_compare('SELECT k, count(*), sum(id) FROM par GROUP BY k ORDER BY k');
SELECT parallel_compare('SELECT DISTINCT pad FROM par ORDER BY pad');
SELECT parallel_compare('SELECT a.id, b.id FROM par a JOIN par b ON a.k = b.id ORDER BY 1, 2');
SELECT parallel_compare('SELECT id, rank() OVER (ORDER BY k) FROM (SELECT * FROM par WHERE id % 3 = 0) s ORDER BY id');
-- the leader alone, and workers alone
SET parallel_leader_participation = off;
SELECT parallel_compare('SELECT * FROM par ORDER BY k, id');
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT parallel_compare('SELECT * FROM par ORDER BY k, id');
RESET max_parallel_workers;
-- little memory in each of them
SET gpusort.pool_quota = 0;
SET gpusort.enable_spill = off;
SET work_mem = '64kB';
SELECT parallel_compare('SELECT * FROM par ORDER BY pad, id');
RESET work_mem;
RESET gpusort.pool_quota;
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
SELECT parallel_compare('SELECT * FROM par ORDER BY pad, id');
RESET gpusort.inject_fault;
SET gpusort.verify = on;
SELECT parallel_compare('SELECT * FROM par ORDER BY pad, id');
RESET gpusort.verify;

-- errors in workers leave nothing behind (who meets it first, a worker or the leader,
-- shows in the error's context)
\set SHOW_CONTEXT never
SELECT count(*) FROM (SELECT * FROM par ORDER BY 1 / (id - 15000), id OFFSET 0) s;
SELECT parallel_compare('SELECT * FROM par ORDER BY k, id');

-- EXPLAIN ANALYZE knows the workers
CREATE FUNCTION explain_parallel(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, BUFFERS OFF) ' || query LOOP
		RETURN NEXT line;
	END LOOP;
END $$;
SELECT count(*) FILTER (WHERE line ~ 'Custom Scan \(GpuSort\) \(actual rows=[0-9.]+ loops=3\)') AS nodes,
	count(*) FILTER (WHERE line ~ 'Sort Method: \w+') AS methods
FROM explain_parallel('SELECT * FROM par ORDER BY k, id') line;
