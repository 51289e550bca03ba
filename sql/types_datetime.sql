-- Dates and times.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;
SET timezone = 'UTC';
SET datestyle = 'ISO';

CREATE TABLE t_date (id int, k date);
INSERT INTO t_date SELECT 0, unnest('{infinity,-infinity,infinity,-infinity,2000-01-01,1999-12-31,2000-01-01,
	4714-11-24 BC,5874897-12-31,NULL,NULL}'::date[]);
INSERT INTO t_date SELECT i, '2000-01-01'::date + random('date', i, 4000)::int - 2000 FROM generate_series(1, 3000) i;
SELECT check_directions('t_date');

CREATE TABLE t_time (id int, k time);
INSERT INTO t_time SELECT 0, unnest('{00:00,00:00,24:00,12:34:56.789012,23:59:59.999999,NULL,NULL}'::time[]);
INSERT INTO t_time SELECT i, '00:00'::time + random('time', i, 86400) * interval '1.000001 s' FROM generate_series(1, 3000) i;
SELECT check_directions('t_time');

CREATE TABLE t_timestamp (id int, k timestamp);
INSERT INTO t_timestamp SELECT 0, unnest('{infinity,-infinity,infinity,-infinity,2000-01-01,2000-01-01,
	1999-12-31 23:59:59.999999,4714-11-24 BC,294276-12-31 23:59:59.999999,NULL,NULL}'::timestamp[]);
INSERT INTO t_timestamp SELECT i, '2000-01-01'::timestamp + (random('timestamp', i) - 500000000) * interval '1.000001 s'
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_timestamp');

CREATE TABLE t_timestamptz (id int, k timestamptz);
INSERT INTO t_timestamptz SELECT id, k FROM t_timestamp;
SELECT check_directions('t_timestamptz');

-- By the time in UTC, then by the zone.
CREATE TABLE t_timetz (id int, k timetz);
INSERT INTO t_timetz SELECT 0, unnest('{00:00+00,00:00+15:59:59,00:00-15:59:59,24:00+00,24:00-15:59:59,
	24:00+15:59:59,12:00+00,13:00+01,11:00-01,13:00+01,12:00-01,12:00:00.000001+00,NULL,NULL}'::timetz[]);
INSERT INTO t_timetz SELECT i, ('00:00'::time + random('timetz', i, 96) * interval '15 min')::text::timetz
	AT TIME ZONE make_interval(mins => 15 * (random('zone', i, 96)::int - 48)) FROM generate_series(1, 3000) i;
SELECT check_directions('t_timetz');
-- A zone may be farther off than timetz_in() accepts.
SET timezone = '<far>-167';
INSERT INTO t_timetz VALUES (0, localtime::timetz - (localtime - '01:00'));
SET timezone = '<far>+167';
INSERT INTO t_timetz VALUES (0, localtime::timetz - (localtime - '01:00'));
SET timezone = 'UTC';
SELECT check_directions('t_timetz');

-- A month is 30 days, a day 24 hours.
CREATE TABLE t_interval (id int, k interval);
INSERT INTO t_interval SELECT 0, unnest('{0,1 day,24 hours,1 mon,30 days,29 days 24 hours,
	29 days 23:59:59.999999,-1 day,-24 hours,-1 mon,-30 days,-00:00:00.000001,00:00:00.000001,
	1 mon -30 days,1 day -24 hours,-1 day 24:00:01,360 days,1 year,365 days,-360 days,-1 year,
	178000000 years,-178000000 years,2147483647 days,-2147483648 days,2562047788 hours,-2562047788 hours,
	178000000 years 2147483647 days 2562047788 hours,-178000000 years -2147483648 days -2562047788 hours,
	NULL,NULL}'::interval[]);
INSERT INTO t_interval SELECT i, make_interval(months => random('mon', i, 9)::int - 4,
	days => random('day', i, 130)::int - 65, secs => (random('sec', i, 17) - 8) * 43200)
	FROM generate_series(1, 3000) i;
-- Infinite intervals exist from 17 on.
DO $$
DECLARE
	far text := CASE WHEN current_setting('server_version_num')::int >= 170000
		THEN 'infinity' ELSE '178000000 years' END;
BEGIN
	INSERT INTO t_interval VALUES (0, far::interval), (0, far::interval), (0, ('-' || far)::interval);
END $$;
SELECT check_directions('t_interval');
