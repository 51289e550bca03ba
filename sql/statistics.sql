-- Counts of sorts, by what they were for, and sorts that are running.
SET gpusort.force = on;
SET max_parallel_workers_per_gather = 0;
SET enable_hashagg = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
CREATE TABLE statistics_rows AS SELECT i AS id, i * 7919 % 1000 AS k, md5(i::text) COLLATE "C" AS s
FROM generate_series(1, 5000) i;
ANALYZE statistics_rows;
CREATE TEMP VIEW t AS SELECT * FROM statistics_rows;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT pg_stat_gpusort_reset(oid) FROM pg_database WHERE datname = current_database();

-- sorts of a statement, since the last look
CREATE TEMP VIEW news AS
SELECT kind, sorts, rows, parallel FROM pg_stat_gpusort WHERE datname = current_database() AND sorts > 0;
CREATE TEMP TABLE before (kind text, sorts bigint, rows bigint, parallel bigint);
CREATE PROCEDURE news() LANGUAGE plpgsql AS $$
DECLARE
	r record;
BEGIN
	SET LOCAL gpusort.enabled = off;
	FOR r IN SELECT n.kind, n.sorts - coalesce(b.sorts, 0) AS sorts, n.rows - coalesce(b.rows, 0) AS rows,
			n.parallel - coalesce(b.parallel, 0) AS parallel
		FROM news n LEFT JOIN before b USING (kind) ORDER BY 1 LOOP
		CONTINUE WHEN r.sorts = 0;
		RAISE INFO '%: % sorts, % rows, % parallel', r.kind, r.sorts, r.rows, r.parallel;
	END LOOP;
	DELETE FROM before;
	INSERT INTO before SELECT * FROM news;
END $$;

-- What the plan tells.
SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT count(*) FROM (SELECT k, count(*) FROM t GROUP BY k OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT count(*) FROM (SELECT DISTINCT k, s FROM t OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT sum(n) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS n FROM t OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT count(*) FROM t a JOIN t b ON a.id = b.k;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT count(*) FROM (SELECT k FROM t UNION SELECT id FROM t OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
-- from PostgreSQL 18 on each side is sorted, before both together
SELECT count(*) FROM (SELECT k FROM t EXCEPT SELECT id FROM t OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT sorts > 0 AS sorts, rows FROM news WHERE kind = 'set operation';
DELETE FROM before;
INSERT INTO before SELECT * FROM news;
SELECT count(d) FROM (SELECT array_agg(s ORDER BY id DESC) AS d FROM t GROUP BY k OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();

-- A join in a node of our own has two sorts, which are its, and where it joins row by row, too.
SET enable_mergejoin = off;
SELECT plan_lines FROM gpusort_test.plan_lines('SELECT count(*) FROM t a JOIN t b ON a.id = b.k') WHERE plan_lines ~ 'Join \(|GpuSort';
SELECT count(*) FROM t a JOIN t b ON a.id = b.k;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET gpusort.pool_quota = 0;
SELECT count(*) FROM t a LEFT JOIN t b ON a.s = b.s;
RESET work_mem;
RESET hash_mem_multiplier;
RESET gpusort.pool_quota;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT spilled > 0 AS spilled FROM pg_stat_gpusort WHERE datname = current_database() AND kind = 'join';
RESET enable_mergejoin;

-- COPY of a query is that query's sort, whoever writes the rows; COPY of a table is none.
COPY (SELECT * FROM t ORDER BY s DESC) TO '/dev/null';
COPY statistics_rows TO '/dev/null';
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SET gpusort.enable_copy = off;
COPY (SELECT * FROM t ORDER BY s DESC) TO '/dev/null';
RESET gpusort.enable_copy;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();

CREATE INDEX ON statistics_rows (s);
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
-- CLUSTER sorts the table, and builds its indexes anew.
CLUSTER statistics_rows USING statistics_rows_s_idx;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SET gpusort.enable_cluster = off;
CLUSTER statistics_rows;
RESET gpusort.enable_cluster;
DROP INDEX statistics_rows_s_idx;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();

-- What several processes do together is one sort.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT count(*) FROM (SELECT id, s FROM t ORDER BY k, id OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT sum(n) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS n FROM t) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SET enable_mergejoin = off;
SELECT count(*) FROM t a JOIN t b ON a.id = b.k;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
RESET enable_mergejoin;
SET max_parallel_workers_per_gather = 0;

-- Nothing is counted that is not to be.
SET gpusort.track_sorts = off;
SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x;
RESET gpusort.track_sorts;
SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x WHERE k < 0;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();

-- Rescans are sorts, reading the same result again is not; nor is a sort that was never begun.
SELECT count(*) FROM generate_series(1, 3) g, LATERAL (SELECT k FROM t WHERE k > g * 100 ORDER BY k OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();
SELECT count(*) FROM (SELECT k FROM t WHERE false ORDER BY k OFFSET 0) x;
SELECT pg_stat_force_next_flush() \g /dev/null
CALL news();

-- Handing over: by reason.
SET gpusort.inject_fault = codec;
SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x;
SET gpusort.inject_fault = verify;
SET gpusort.verify = on;
SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x;
RESET gpusort.verify;
RESET gpusort.inject_fault;
SELECT pg_stat_force_next_flush() \g /dev/null
SELECT handed_over, handed_over_memory, handed_over_value, handed_over_order, fallbacks,
	sorts = host + cuda + simulated + handed_over AS all_told,
	total_time >= collect_time AS times, bytes > 0 AS bytes, stats_reset <= now() AS since
FROM pg_stat_gpusort WHERE datname = current_database() AND kind = 'order by';

-- Running: a cursor that has returned a row.
BEGIN;
DECLARE c CURSOR FOR SELECT id, s FROM t ORDER BY k, s;
FETCH 1 FROM c;
SET gpusort.enabled = off;
SELECT pid = pg_backend_pid() AS own, leader_pid, datname = current_database() AS here, usename = session_user AS mine,
	kind, phase, rows, estimated_rows, bytes > 0 AS bytes, spilled_bytes, sort_start <= clock_timestamp() AS started
FROM pg_stat_gpusort_activity WHERE pid = pg_backend_pid();
CLOSE c;
SELECT count(*) FROM pg_stat_gpusort_activity WHERE pid = pg_backend_pid();
SET gpusort.enabled = on;
-- more than are shown of one process, and after an error none
DO $$
BEGIN
	FOR i IN 1 .. 12 LOOP
		EXECUTE format('DECLARE c%s CURSOR FOR SELECT id FROM t ORDER BY k', i);
		EXECUTE format('MOVE 1 FROM c%s', i);
	END LOOP;
END $$;
SET gpusort.enabled = off;
SELECT count(*) FROM pg_stat_gpusort_activity WHERE pid = pg_backend_pid();
CLOSE c3;
SELECT count(*) FROM pg_stat_gpusort_activity WHERE pid = pg_backend_pid();
SELECT 1 / 0;
ROLLBACK;
SELECT count(*) FROM pg_stat_gpusort_activity WHERE pid = pg_backend_pid();

-- Starting anew is for whom it is granted to.
CREATE ROLE gpusort_reader;
SET ROLE gpusort_reader;
SELECT count(*) > 0 FROM pg_stat_gpusort;
SELECT count(*) FROM pg_stat_gpusort_activity;
SELECT pg_stat_gpusort_reset();
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_stat_gpusort_reset(oid) TO gpusort_reader;
SET ROLE gpusort_reader;
SELECT pg_stat_gpusort_reset();
RESET ROLE;
SELECT coalesce(sum(sorts), 0) FROM pg_stat_gpusort WHERE datname = current_database();
REVOKE EXECUTE ON FUNCTION pg_stat_gpusort_reset(oid) FROM gpusort_reader;
DROP ROLE gpusort_reader;
DROP PROCEDURE news();
DROP TABLE statistics_rows CASCADE;
