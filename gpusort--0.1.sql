/* gpusort--0.1.sql */

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

CREATE FUNCTION gpusort_calibrate(
	OUT name text,
	OUT unit text,
	OUT measured float8,
	OUT setting text,
	OUT current_value text,
	OUT suggested_value text,
	OUT meaning text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'gpusort_calibrate'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE
COST 100000
ROWS 15;

COMMENT ON FUNCTION gpusort_calibrate() IS
'what sorting costs on this machine, and settings that follow from it; takes seconds';

-- it keeps a processor busy for seconds
REVOKE ALL ON FUNCTION gpusort_calibrate() FROM PUBLIC;
