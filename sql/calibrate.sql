-- gpusort_calibrate(): what it reports, and that it leaves nothing behind.
SET client_min_messages = warning;
\set SHOW_CONTEXT never
CREATE EXTENSION IF NOT EXISTS gpusort;
CREATE TABLE calibration AS SELECT * FROM gpusort_calibrate();

-- What was measured, in which unit, and the setting that follows.
SELECT name, unit, setting FROM calibration;

-- Times are positive, and none is absurd; collations and gpusortd need not be there.
SELECT name, unit, measured FROM calibration
WHERE measured IS NULL AND name NOT IN ('collated_key', 'postgres_collation', 'device_round_trip',
										'device_sort')
	OR measured <= 0
	OR unit IN ('ns/row', 'ns/byte') AND measured > 1e5;

-- Every setting exists, has the value that is shown, and takes the suggested one.
SELECT name, current_value FROM calibration
WHERE setting IS NOT NULL AND current_setting(setting) <> current_value;
SELECT count(set_config(setting, suggested_value, true)) > 5 AS suggested FROM calibration
WHERE suggested_value IS NOT NULL;
SELECT name FROM calibration WHERE suggested_value::float8 < 0;

-- What it sets for itself, and what it takes, it gives back: also when cancelled.  (A timeout in one
-- message with its statement is over with it: it can't hit the next one.)
CREATE FUNCTION pool_in_use() RETURNS boolean LANGUAGE sql AS $$
	SELECT pool_bytes_free <> pool_bytes FROM gpusort_service()
$$;
SET work_mem = '5MB';
SET gpusort.engine = 'auto';
BEGIN;
SELECT count(*) FROM gpusort_calibrate();
SELECT current_setting('work_mem'), current_setting('gpusort.engine'), pool_in_use();
COMMIT;
SET statement_timeout = '1ms' \; SELECT count(*) FROM gpusort_calibrate();
SET statement_timeout = '100ms' \; SELECT count(*) FROM gpusort_calibrate();
SET statement_timeout = '300ms' \; SELECT count(*) FROM gpusort_calibrate();
SELECT current_setting('work_mem'), current_setting('gpusort.engine'), pool_in_use();
SELECT count(*) FROM pg_backend_memory_contexts WHERE name LIKE 'gpusort%';
DROP TABLE calibration;
DROP FUNCTION pool_in_use;

-- not for everybody
CREATE ROLE regress_gpusort_user;
SET ROLE regress_gpusort_user;
SELECT count(*) FROM gpusort_calibrate();
RESET ROLE;
DROP ROLE regress_gpusort_user;
