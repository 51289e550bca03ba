-- Rows that workers and leader collect in parts, many enough for whole extents of each
-- plane: all in the pool, in part in the leader's private memory, and none in the pool.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_index_shared;
SET search_path = gpusort_index_shared, gpusort_test, public;
SET max_parallel_maintenance_workers = 2;
SET maintenance_work_mem = '1GB';

CREATE UNLOGGED TABLE t WITH (parallel_workers = 2) AS
SELECT CASE WHEN i % 11 > 0 THEN hashint8extended(i, 1) % 1000000 END AS k,
	'key ' || CASE WHEN i % 3 = 0 THEN (i % 90000)::text ELSE 'of some length ' || i % 70000 END COLLATE "C" AS s
FROM generate_series(1, 1000000) i;

-- Is an index with these columns right and as large as PostgreSQL's?  In order for amcheck,
-- which also finds every row of the table in it.
CREATE FUNCTION check_shared(columns text, quota int, OUT built bool, OUT workers bool, OUT same_size bool, OUT extents_held bigint)
LANGUAGE plpgsql AS $$
DECLARE
	before record;
	builds record;
BEGIN
	PERFORM set_config('gpusort.pool_quota', quota::text, true);
	SELECT * INTO before FROM gpusort_index_builds();
	EXECUTE format('CREATE INDEX ours ON t (%s)', columns);
	SELECT * INTO builds FROM gpusort_index_builds();
	built := builds.built > before.built;
	workers := builds.workers > before.workers;
	PERFORM bt_index_parent_check('ours', true, true);
	PERFORM set_config('gpusort.enabled', 'off', true);
	EXECUTE format('CREATE INDEX stock ON t (%s)', columns);
	PERFORM set_config('gpusort.enabled', 'on', true);
	same_size := abs(pg_relation_size('ours') - pg_relation_size('stock')) <= 0.005 * pg_relation_size('stock');
	DROP INDEX ours, stock;
	SELECT pool_bytes - pool_bytes_free INTO extents_held FROM gpusort_service();
END $$;

SELECT * FROM check_shared('k', 75);
SELECT * FROM check_shared('s DESC, k NULLS FIRST', 75);
SELECT * FROM check_shared('s DESC, k NULLS FIRST', 2);
SELECT * FROM check_shared('k', 0);
DROP TABLE t;
