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
