/* gpusort--0.2.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION gpusort" to load this file. \quit

CREATE FUNCTION gpusort_version()
RETURNS text
AS 'MODULE_PATHNAME', 'gpusort_version'
LANGUAGE C STABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION gpusort_version() IS
'version of the loaded gpusort library';

CREATE FUNCTION gpusort_engines(
	OUT engine text,
	OUT available bool,
	OUT description text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gpusort_engines'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
ROWS 4;

COMMENT ON FUNCTION gpusort_engines() IS
'engines that can sort, and whether this server can use them';

CREATE FUNCTION gpusort_index_builds(
	OUT built int8,
	OUT given_up int8,
	OUT left_alone int8,
	OUT workers int8,
	OUT slices int8)
RETURNS record
AS 'MODULE_PATHNAME', 'gpusort_index_builds'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION gpusort_index_builds() IS
'btree builds of this session: by gpusort, given up by it, and left to PostgreSQL from the start; workers that helped it, and slices of indexes that were written by several processes';

CREATE FUNCTION gpusort_clusters(
	OUT sorted int8,
	OUT given_up int8,
	OUT left_alone int8)
RETURNS record
AS 'MODULE_PATHNAME', 'gpusort_clusters'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION gpusort_clusters() IS
'tables that this session has clustered: sorted by gpusort, given up by it, and left to PostgreSQL from the start';

CREATE FUNCTION gpusort_service(
	OUT state text,
	OUT message text,
	OUT pid int,
	OUT uptime interval,
	OUT restarts int,
	OUT engine text,
	OUT devices int,
	OUT jobs_done bigint,
	OUT jobs_failed bigint,
	OUT jobs_cancelled bigint,
	OUT jobs_open int,
	OUT jobs_queued int,
	OUT rows_sorted bigint,
	OUT fallbacks bigint,
	OUT device_bytes_used bigint,
	OUT pool_bytes bigint,
	OUT pool_bytes_free bigint,
	OUT pool_huge_pages bool)
RETURNS record
AS 'MODULE_PATHNAME', 'gpusort_service'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION gpusort_service() IS
'gpusortd, the program that sorts on GPUs: its state, its jobs, and the pool';

CREATE FUNCTION gpusort_devices(
	OUT number int,
	OUT name text,
	OUT memory_bytes bigint,
	OUT arena_bytes bigint,
	OUT peers int[],
	OUT state text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gpusort_devices'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
ROWS 8;

COMMENT ON FUNCTION gpusort_devices() IS
'devices that gpusortd sorts on';

CREATE FUNCTION gpusort_pool(
	OUT pid int,
	OUT leader_pid int,
	OUT role regrole,
	OUT sorts int,
	OUT short_sorts int,
	OUT pool_bytes bigint,
	OUT kept_bytes bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gpusort_pool_holders'
LANGUAGE C VOLATILE STRICT PARALLEL SAFE
ROWS 10;

COMMENT ON FUNCTION gpusort_pool() IS
'processes that sort in the pool or keep memory of finished sorts: how many sorts, how many of them others keep from having more of the pool, and memory';

CREATE FUNCTION gpusort_sorts_of(
	database oid,
	OUT kind text,
	OUT sorts bigint,
	OUT rows bigint,
	OUT bytes bigint,
	OUT parallel bigint,
	OUT bounded bigint,
	OUT host bigint,
	OUT cuda bigint,
	OUT simulated bigint,
	OUT devices bigint,
	OUT handed_over_memory bigint,
	OUT handed_over_value bigint,
	OUT handed_over_order bigint,
	OUT fallbacks_down bigint,
	OUT fallbacks_busy bigint,
	OUT fallbacks_memory bigint,
	OUT fallbacks_failed bigint,
	OUT short bigint,
	OUT spilled bigint,
	OUT spilled_bytes bigint,
	OUT runs bigint,
	OUT waited bigint,
	OUT total_time float8,
	OUT collect_time float8,
	OUT sort_time float8,
	OUT refine_time float8,
	OUT verify_time float8,
	OUT write_time float8,
	OUT read_time float8,
	OUT load_time float8,
	OUT wait_time float8,
	OUT stats_reset timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gpusort_sorts_of'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
ROWS 8;

COMMENT ON FUNCTION gpusort_sorts_of(oid) IS
'sorts of a database, by what they were for';

CREATE VIEW pg_stat_gpusort AS
SELECT d.oid AS datid, d.datname, s.kind, s.sorts, s.rows, s.bytes, s.parallel, s.bounded,
	s.host, s.cuda, s.simulated, s.devices,
	s.handed_over_memory + s.handed_over_value + s.handed_over_order AS handed_over,
	s.handed_over_memory, s.handed_over_value, s.handed_over_order,
	s.fallbacks_down + s.fallbacks_busy + s.fallbacks_memory + s.fallbacks_failed AS fallbacks,
	s.fallbacks_down, s.fallbacks_busy, s.fallbacks_memory, s.fallbacks_failed,
	s.short, s.spilled, s.spilled_bytes, s.runs, s.waited,
	s.total_time, s.collect_time, s.sort_time, s.refine_time, s.verify_time,
	s.write_time, s.read_time, s.load_time, s.wait_time, s.stats_reset
FROM (SELECT oid, datname FROM pg_catalog.pg_database UNION ALL SELECT 0, NULL) d,
	LATERAL gpusort_sorts_of(d.oid) s;

COMMENT ON VIEW pg_stat_gpusort IS
'sorts by database and by what they were for; times in milliseconds';

GRANT SELECT ON pg_stat_gpusort TO PUBLIC;

CREATE FUNCTION pg_stat_gpusort_reset(database oid DEFAULT 0)
RETURNS void
AS 'MODULE_PATHNAME', 'gpusort_sorts_reset'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION pg_stat_gpusort_reset(oid) IS
'counts sorts anew, in a database or, 0, in all';

REVOKE ALL ON FUNCTION pg_stat_gpusort_reset(oid) FROM PUBLIC;

CREATE FUNCTION gpusort_activity(
	OUT pid int,
	OUT leader_pid int,
	OUT datid oid,
	OUT usesysid oid,
	OUT kind text,
	OUT phase text,
	OUT percent float8,
	OUT engine text,
	OUT rows bigint,
	OUT estimated_rows float8,
	OUT bytes bigint,
	OUT pool_bytes bigint,
	OUT spilled_bytes bigint,
	OUT sort_start timestamptz)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gpusort_activity'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED
ROWS 10;

COMMENT ON FUNCTION gpusort_activity() IS
'sorts that are running, in each process that takes part';

CREATE VIEW pg_stat_gpusort_activity AS
SELECT a.pid, a.leader_pid, a.datid, d.datname, a.usesysid, u.rolname AS usename,
	a.kind, a.phase, a.percent, a.engine, a.rows, a.estimated_rows, a.bytes, a.pool_bytes, a.spilled_bytes,
	a.sort_start
FROM gpusort_activity() a
	LEFT JOIN pg_catalog.pg_database d ON a.datid = d.oid
	LEFT JOIN pg_catalog.pg_roles u ON a.usesysid = u.oid;

COMMENT ON VIEW pg_stat_gpusort_activity IS
'sorts that are running, in each process that takes part; those of other users for members of pg_read_all_stats';

GRANT SELECT ON pg_stat_gpusort_activity TO PUBLIC;

CREATE FUNCTION gpusort_advise(
	query text,
	OUT node text,
	OUT kind text,
	OUT sort_key text,
	OUT estimated_rows float8,
	OUT taken_over bool,
	OUT reason text,
	OUT setting text,
	OUT query_gain float8,
	OUT sort_gain float8,
	OUT query_cost_without float8,
	OUT query_cost float8,
	OUT sort_cost_without float8,
	OUT sort_cost float8)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gpusort_advise'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
COST 1000
ROWS 5;

COMMENT ON FUNCTION gpusort_advise(text) IS
'the sorts of a query, which is planned only, or of an index build: taken over or why not, what is gained, costs, and the setting that would change it';
