-- A column of each type, and indexes of each column: ascending, descending with another column, and
-- unique; a NOTICE for what gpusort has not built.  For upgrade.sh, which tells how many rows there are,
-- and which columns have indexes.
CREATE EXTENSION gpusort;
CREATE VIEW watched AS SELECT datname, kind, sorts FROM pg_stat_gpusort;
CREATE ROLE watcher;
GRANT EXECUTE ON FUNCTION pg_stat_gpusort_reset(oid) TO watcher;
CREATE DATABASE older;
\connect older
CREATE EXTENSION gpusort VERSION '0.1';
CREATE VIEW watched AS SELECT engine FROM gpusort_engines();
\connect postgres
CREATE EXTENSION amcheck;
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE t AS SELECT i AS id, (i % 100)::int2 AS i2, hashint8(i) AS i4, hashint8(i)::int8 * 1000003 AS i8, i % 2 = 0 AS b,
	sin(i) AS f8, cos(i)::float4 AS f4, CASE WHEN i % 7 > 0 THEN hashint8(i)::numeric / 7 END AS n, (i % 5000)::text::money AS m,
	md5(i::text) COLLATE "C" AS c, md5((i % 500)::text) COLLATE "C" AS repeated, md5(i::text) AS def,
	chr(192 + i % 300) || md5(i::text) COLLATE "en-x-icu" AS icu, md5((i % 2000)::text) COLLATE ignore_case AS ic,
	left(md5(i::text), 10)::varchar(12) COLLATE "C" AS v, left(md5(i::text), 9)::char(12) COLLATE "C" AS p, ('n' || i)::name AS name,
	decode(md5(i::text), 'hex') AS bytes, i::bit(20) AS bits, i::bit(20)::varbit AS varbits, md5(i::text)::uuid AS u,
	date '2000-01-01' + i % 3000 AS d, timestamp '2000-01-01' + i * interval '1 hour' AS ts,
	timestamptz '2000-01-01' + i * interval '7 minutes' AS tz, time '00:00' + i * interval '1 second' AS tm,
	(time '00:00' + i * interval '1 second')::timetz AS ttz, i * interval '1 hour' AS iv, ('10.' || i % 200 || '.1.' || i % 250)::inet AS ip,
	('10.' || i % 200 || '.' || i % 99 || '.0/24')::cidr AS net, ('08:00:2b:01:' || lpad(to_hex(i % 256), 2, '0') || ':' || lpad(to_hex(i / 256 % 256), 2, '0'))::macaddr AS mac,
	i::oid AS o, ('0/' || to_hex(i * 100))::pg_lsn AS lsn, ('(' || i || ',1)')::tid AS tid
FROM generate_series(1, :rows) i;
VACUUM ANALYZE;
SELECT set_config('upgrade.columns', :'columns', false) \gset
DO $$
DECLARE c name; built int8;
BEGIN
	FOR c IN SELECT attname FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0
		AND attname ~ current_setting('upgrade.columns') LOOP
		built := (gpusort_index_builds()).built;
		EXECUTE format('CREATE INDEX %1$s_a ON t (%1$I)', c);
		EXECUTE format('CREATE INDEX %1$s_d ON t (%1$I DESC, id) INCLUDE (i2)', c);
		EXECUTE format('CREATE UNIQUE INDEX %1$s_u ON t (%1$I NULLS FIRST, id DESC) WITH (fillfactor = 70)', c);
		IF (gpusort_index_builds()).built <> built + 3 THEN
			RAISE NOTICE 'not all of the indexes of % are built by gpusort', c;
		END IF;
	END LOOP;
END $$;
