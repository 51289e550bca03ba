/* gpusort--0.1--0.2.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION gpusort UPDATE TO '0.2'" to load this file. \quit

CREATE FUNCTION gpusort_clusters(
	OUT sorted int8,
	OUT given_up int8,
	OUT left_alone int8)
RETURNS record
AS 'MODULE_PATHNAME', 'gpusort_clusters'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;

COMMENT ON FUNCTION gpusort_clusters() IS
'tables that this session has clustered: sorted by gpusort, given up by it, and left to PostgreSQL from the start';

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

-- a script of psql now: gpusort_calibrate.sql
DROP FUNCTION gpusort_calibrate();
