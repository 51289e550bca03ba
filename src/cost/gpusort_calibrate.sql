-- gpusort_calibrate.sql
--		What sorting costs on this machine, and which gpusort.cost_* follow from that.
--
--	psql [-v rounds=5] [-v agree=1.2] [-v apply=on] -f $(pg_config --sharedir)/extension/gpusort_calibrate.sql
--
-- Temporary tables are sorted for about a minute; the machine should have nothing else to do.  A
-- constant of the planner's formula follows from two sorts that differ in nothing but the number of
-- sort columns, the width of rows, or the collation; the formula itself is asked of the planner, by
-- EXPLAIN with one setting above zero.  All of it is repeated in rounds.  A value is suggested if
-- the rounds agree on it, that is, if the largest is no more than 1.2 times the least; none is if they
-- don't agree on how long a scan takes, as the machine is busy then.  With apply, which is for superusers, what is suggested is set by ALTER
-- SYSTEM; otherwise nothing is changed.
\set ON_ERROR_STOP on
\if :{?rounds}
\else
\set rounds 5
\endif
\if :{?agree}
\else
\set agree 1.2
\endif
\if :{?apply}
\else
\set apply off
\endif
\set QUIET on
\pset footer off
SELECT current_setting('gpusort.enabled', true) IS NULL AS missing \gset
\if :missing
LOAD 'gpusort';
\endif
SET temp_buffers = '256MB';

-- ---------- timing ----------

CREATE FUNCTION pg_temp.explained(query text, options text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	found json;
BEGIN
	EXECUTE format('EXPLAIN (%s, FORMAT JSON) %s', options, query) INTO found;
	RETURN found -> 0;
END $$;

-- Returns nanoseconds of a whole statement.
CREATE FUNCTION pg_temp.time_of(query text) RETURNS float8 LANGUAGE sql AS $$
	SELECT (pg_temp.explained(query, 'ANALYZE, TIMING OFF') ->> 'Execution Time')::float8 * 1e6
$$;

-- Returns nanoseconds until a sort has its first row, without and with those of the scan below it, and
-- those of the whole statement, in another execution, whose rows are not timed; nulls if another sort or
-- engine than the wanted one has done it.
CREATE FUNCTION pg_temp.time_sort(query text, wanted text, OUT sorted float8, OUT first_row float8, OUT whole float8)
LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb := pg_temp.explained(query, 'ANALYZE') -> 'Plan';
BEGIN
	IF plan ->> 'Engine' = wanted AND NOT plan ? 'Handed Over' THEN
		first_row := (plan ->> 'Actual Startup Time')::float8 * 1e6;
		sorted := first_row - (plan #>> '{Plans,0,Actual Total Time}')::float8 * 1e6;
		whole := pg_temp.time_of(query);
	END IF;
END $$;

-- Returns how often the planner charges a setting for a sort until it has its first row, and for what
-- follows.
CREATE FUNCTION pg_temp.charge_of(query text, setting text, OUT sorted float8, OUT returned float8)
LANGUAGE plpgsql AS $$
DECLARE
	-- the sort is to stay the cheaper one
	little CONSTANT float8 := 1e-4;
	plan jsonb;
BEGIN
	PERFORM set_config(setting, little::text, true);
	plan := pg_temp.explained(query, 'COSTS ON') -> 'Plan';
	PERFORM set_config(setting, '0', true);
	sorted := ((plan ->> 'Startup Cost')::float8 - (plan #>> '{Plans,0,Total Cost}')::float8) / little;
	returned := ((plan ->> 'Total Cost')::float8 - (plan ->> 'Startup Cost')::float8) / little;
END $$;

-- ---------- what is sorted ----------

CREATE TEMP TABLE narrow AS
	SELECT hashint8extended(i, 1) AS k1, hashint8extended(i, 2) AS k2, hashint8extended(i, 3) AS k3,
		hashint8extended(i, 4) AS k4, left(md5(i::text), 16) AS t
	FROM generate_series(1, 130000) i;
CREATE TEMP TABLE wide AS SELECT *, repeat('x', 200) AS pad FROM narrow LIMIT 65000;
CREATE TEMP TABLE two AS SELECT * FROM narrow LIMIT 2;
ANALYZE narrow, wide, two;

CREATE TEMP TABLE sorts (what text, query text, nrows float8);
INSERT INTO sorts VALUES
	('one', 'SELECT * FROM narrow ORDER BY k1', 130000),
	('four', 'SELECT * FROM narrow ORDER BY k1, k2, k3, k4', 130000),
	('wide', 'SELECT * FROM wide ORDER BY k1', 65000),
	('bytes', 'SELECT * FROM narrow ORDER BY t COLLATE "C"', 130000),
	('collated', 'SELECT * FROM narrow ORDER BY t', 130000);

-- Nanoseconds a row.
CREATE TEMP TABLE samples (round int, what text, sorted float8, first_row float8, whole float8);
CREATE TEMP TABLE charges (what text, setting text, sorted float8, returned float8);

CREATE FUNCTION pg_temp.least_of(in_round int, of_what text, OUT sorted float8, OUT returned float8)
LANGUAGE sql AS $$
	SELECT CASE WHEN count(s.sorted) = count(*) THEN min(s.sorted) END,
		CASE WHEN count(s.whole) = count(*) THEN min(s.whole) - min(s.first_row) END
	FROM samples s WHERE s.round = in_round AND s.what = of_what
$$;

CREATE FUNCTION pg_temp.charge(of_what text, of_setting text, OUT sorted float8, OUT returned float8)
LANGUAGE sql AS $$
	SELECT c.sorted, c.returned FROM charges c WHERE c.what = of_what AND c.setting = of_setting
$$;

-- ---------- measuring ----------

-- How few rows are worth a sort.
CREATE TEMP TABLE sizes AS SELECT unnest(ARRAY[100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000]) AS nrows;
SELECT format('CREATE TEMP TABLE few_%s AS SELECT * FROM narrow LIMIT %s', nrows, nrows) FROM sizes \gexec

-- For the time of a transaction: gpusort sorts, in this process, and nothing is charged for it.
CREATE FUNCTION pg_temp.prepare() RETURNS void LANGUAGE sql AS $$
	SELECT set_config(name, CASE name WHEN 'gpusort.cost_fetch' THEN '1000' ELSE '0' END, true)
	FROM pg_settings WHERE name LIKE 'gpusort.cost\_%';
	SELECT set_config(name, value, true) FROM (VALUES ('gpusort.force', 'on'), ('gpusort.engine', 'host'),
		('gpusort.verify', 'off'), ('work_mem', '256MB'), ('jit', 'off'), ('max_parallel_workers_per_gather', '0'),
		('gpusort.max_sort_workers', '0')) s(name, value)
$$;

BEGIN;
SELECT FROM pg_temp.prepare();
INSERT INTO charges
	SELECT what, s.name, c.sorted / nrows, c.returned / nrows
	FROM sorts, pg_settings s, LATERAL pg_temp.charge_of(query, s.name) c
	WHERE s.name LIKE 'gpusort.cost\_%' AND what <> 'two';
COMMIT;

-- Sorts that are compared are repeated in turn, so that what disturbs one of them for a while disturbs
-- all; of each the least time counts, since whatever else the machine does makes it longer.
CREATE PROCEDURE pg_temp.measure(rounds int) LANGUAGE plpgsql AS $$
DECLARE
	devices bool := false;
	workers CONSTANT text := greatest(current_setting('max_parallel_workers_per_gather')::int, 1);
	empty CONSTANT text := 'SELECT count(proowner) FROM pg_catalog.pg_proc';
BEGIN
	IF to_regprocedure('gpusort_service()') IS NOT NULL THEN
		EXECUTE 'SELECT state = ''up'' AND engine = ''cuda'' FROM gpusort_service()' INTO devices;
	END IF;
	FOR round IN 1 .. rounds LOOP
		FOR repeat IN 1 .. 5 LOOP
			PERFORM pg_temp.prepare();
			INSERT INTO samples
				SELECT round, 'scan', pg_temp.time_of('SELECT count(k1) FROM narrow') / nrows FROM sorts WHERE what = 'one'
				UNION ALL SELECT round, 'start', pg_temp.time_of('SELECT * FROM two ORDER BY k1') - pg_temp.time_of('SELECT * FROM two')
				UNION ALL SELECT round, 'alone', pg_temp.time_of(empty);
			INSERT INTO samples
				SELECT round, what, t.sorted / nrows, t.first_row / nrows, t.whole / nrows
				FROM sorts, LATERAL pg_temp.time_sort(query, 'host') t;
			INSERT INTO samples
				SELECT round, 'few ' || nrows, pg_temp.time_of(format('SELECT * FROM few_%s ORDER BY k1', nrows)) FROM sizes;
			PERFORM set_config('gpusort.enabled', 'off', true);
			INSERT INTO samples
				SELECT round, 'core ' || nrows, pg_temp.time_of(format('SELECT * FROM few_%s ORDER BY k1', nrows)) FROM sizes;
			PERFORM set_config('gpusort.enabled', 'on', true);
			IF devices THEN
				PERFORM set_config('gpusort.engine', 'cuda', true);
				INSERT INTO samples
					SELECT round, 'device', t.sorted / nrows FROM sorts, LATERAL pg_temp.time_sort(query, 'cuda') t WHERE what = 'one'
					UNION ALL SELECT round, 'device start', pg_temp.time_of('SELECT * FROM two ORDER BY k1') - pg_temp.time_of('SELECT * FROM two');
			END IF;
			PERFORM set_config(name, value, true) FROM (VALUES ('max_parallel_workers_per_gather', workers),
				('parallel_setup_cost', '0'), ('parallel_tuple_cost', '0'), ('min_parallel_table_scan_size', '0')) s(name, value);
			INSERT INTO samples SELECT round, 'workers', pg_temp.time_of(empty);
			COMMIT;
		END LOOP;
	END LOOP;
END $$;
\echo Measuring, in :rounds rounds ...
CALL pg_temp.measure(:rounds);

-- ---------- what follows ----------

-- The formula is solved for one constant after the other.  Nothing is free, though a difference of two
-- sorts may say so.
CREATE TEMP VIEW findings AS
	SELECT round, f.number, f.name, f.setting, f.ns, f.value
	FROM generate_series(1, :rounds) round,
		LATERAL pg_temp.least_of(round, 'scan') scan,
		LATERAL pg_temp.least_of(round, 'start') start,
		LATERAL pg_temp.least_of(round, 'one') one,
		LATERAL pg_temp.least_of(round, 'four') four,
		LATERAL pg_temp.least_of(round, 'wide') wide,
		LATERAL pg_temp.least_of(round, 'bytes') bytes,
		LATERAL pg_temp.least_of(round, 'collated') collated,
		LATERAL pg_temp.least_of(round, 'alone') alone,
		LATERAL pg_temp.least_of(round, 'workers') workers,
		LATERAL pg_temp.least_of(round, 'device') device,
		LATERAL pg_temp.least_of(round, 'device start') device_start,
		pg_temp.charge('one', 'gpusort.cost_key_byte') one_key,
		pg_temp.charge('four', 'gpusort.cost_key_byte') four_keys,
		pg_temp.charge('collated', 'gpusort.cost_key_byte') collated_key,
		pg_temp.charge('bytes', 'gpusort.cost_key_byte') bytes_key,
		pg_temp.charge('collated', 'gpusort.cost_key_collated') collated_whole,
		pg_temp.charge('one', 'gpusort.cost_row_byte') one_bytes,
		pg_temp.charge('wide', 'gpusort.cost_row_byte') wide_bytes,
		pg_temp.charge('one', 'gpusort.cost_emit') one_emit,
		pg_temp.charge('wide', 'gpusort.cost_emit') wide_emit,
		LATERAL (SELECT scan.sorted / (current_setting('cpu_tuple_cost')::float8 + current_setting('cpu_operator_cost')::float8) AS ns) unit,
		LATERAL (SELECT greatest((four.sorted - one.sorted) / (four_keys.sorted - one_key.sorted), 0.01) AS ns) key_byte,
		LATERAL (SELECT greatest(one.returned, 0.1) / one_emit.returned AS ns) emit,
		LATERAL (SELECT greatest((wide.sorted + wide.returned - one.sorted - one.returned - emit.ns * (wide_emit.returned - one_emit.returned)) /
			(wide_bytes.sorted - one_bytes.sorted), 0.01) AS ns) row_byte,
		LATERAL (SELECT greatest(one.sorted - key_byte.ns * one_key.sorted - row_byte.ns * one_bytes.sorted, 0.1) AS ns) "row",
		LATERAL (SELECT greatest(collated.sorted - bytes.sorted - key_byte.ns * (collated_key.sorted - bytes_key.sorted), 0.1) /
			nullif(collated_whole.sorted, 0) AS ns) key_collated,
		LATERAL (SELECT min(nrows) AS nrows FROM sizes, LATERAL pg_temp.least_of(round, 'few ' || nrows) ours,
			LATERAL pg_temp.least_of(round, 'core ' || nrows) core WHERE ours.sorted < core.sorted) break_even,
		LATERAL (VALUES
			(1, 'a scan, a row', NULL, scan.sorted, NULL),
			(2, 'starting a sort', 'gpusort.cost_startup', start.sorted, start.sorted / unit.ns),
			(3, 'collecting and sorting a row', 'gpusort.cost_row', "row".ns, "row".ns / unit.ns),
			(4, 'a byte of its key', 'gpusort.cost_key_byte', key_byte.ns, key_byte.ns / unit.ns),
			(5, 'a byte of the row', 'gpusort.cost_row_byte', row_byte.ns, row_byte.ns / unit.ns),
			(6, 'returning a row', 'gpusort.cost_emit', emit.ns, emit.ns / unit.ns),
			(7, 'a key of the database''s collation', 'gpusort.cost_key_collated', key_collated.ns, key_collated.ns / unit.ns),
			(8, 'parallel workers', 'gpusort.cost_gather', workers.sorted - alone.sorted,
				greatest((workers.sorted - alone.sorted) / unit.ns - current_setting('parallel_setup_cost')::float8, 0)),
			(9, 'rows worth a sort', 'gpusort.min_rows', NULL, 2 * break_even.nrows),
			(10, 'rows worth a GPU', 'gpusort.min_gpu_rows', device_start.sorted,
				2 * device_start.sorted / nullif(greatest(one.sorted - device.sorted, 0), 0))
		) f(number, name, setting, ns, value);

CREATE TEMP VIEW advice AS
	SELECT f.*, round(value::numeric, greatest(1 - floor(log(greatest(value, 1e-9))), 0)::int) AS suggested,
		CASE WHEN value IS NULL THEN CASE setting WHEN 'gpusort.min_rows' THEN 'never faster' ELSE 'not measured' END
			WHEN max(highest / nullif(lowest, 0)) FILTER (WHERE setting IS NULL) OVER () > :agree THEN 'the machine is busy'
			WHEN highest > lowest * greatest(:agree, CASE setting WHEN 'gpusort.min_rows' THEN 2.5 END) THEN 'rounds do not agree'
			WHEN current_setting(setting)::numeric BETWEEN value / 1.2 AND value * 1.2 THEN 'good as it is'
			ELSE 'suggested' END AS verdict
	FROM (SELECT number, name, setting, percentile_cont(0.5) WITHIN GROUP (ORDER BY ns) AS ns,
			percentile_cont(0.5) WITHIN GROUP (ORDER BY value)::numeric AS value,
			min(coalesce(value, ns)) AS lowest, max(coalesce(value, ns)) AS highest
		FROM findings GROUP BY number, name, setting) f;

SELECT name AS "what it takes", round(ns::numeric, 2) AS nanoseconds, round((highest / nullif(lowest, 0))::numeric, 2) AS spread,
	setting, current_setting(setting) AS current, CASE verdict WHEN 'suggested' THEN suggested END AS suggested,
	CASE WHEN setting IS NOT NULL THEN verdict END AS verdict
FROM advice ORDER BY number;
\if :apply
SELECT format('ALTER SYSTEM SET %s = %s', setting, suggested) FROM advice WHERE verdict = 'suggested' \gexec
SELECT pg_reload_conf() AS applied;
\else
\echo Nothing was changed: -v apply=on sets what is suggested.
\endif
