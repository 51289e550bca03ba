-- percentile_cont(), percentile_disc() and mode() by position in a sorted result, of all rows and of groups;
-- in workers, of slices that cut no group.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA sets;
SET search_path = sets, gpusort_parallel, gpusort_test, public;
SET gpusort.force = on;
SET gpusort.cost_key_collated = 0;
SET parallel_tuple_cost = 0.001;
SET enable_incremental_sort = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE lots WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 10007 AS k, i % 13 AS g, nullif(i % 900, 77) AS nulls, (i % 500)::numeric(10, 2) / 7 AS n,
	CASE i % 800 WHEN 5 THEN 'NaN' WHEN 6 THEN '-Infinity' WHEN 7 THEN 'Infinity' ELSE (i % 800) / 3::float8 - 100 END AS f,
	md5((i % 300)::text) COLLATE "C" AS s, ('v' || i % 40) COLLATE "en-x-icu" AS c, make_interval(months => i % 7 - 3, days => i % 11, secs => i % 321) AS t,
	NULL::int AS nothing, CASE WHEN i % 13 < 2 THEN NULL ELSE i % 50 END::int2 AS part, date '2020-01-01' + i % 99 AS d, i % 2 = 0 AS b,
	repeat(md5((i % 70)::text), 10) AS wide, '{1}'::int[] || i % 60 AS a
FROM generate_series(1, 3000) i ORDER BY hashint4(i);
ANALYZE lots;

CREATE TABLE asked AS SELECT unnest(ARRAY[
	'percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS p',
	'percentile_cont(0) WITHIN GROUP (ORDER BY f) AS p, percentile_cont(1) WITHIN GROUP (ORDER BY f) AS q, percentile_cont(0.123) WITHIN GROUP (ORDER BY f) AS r',
	'percentile_cont(0.9) WITHIN GROUP (ORDER BY f DESC) AS p, percentile_disc(0.9) WITHIN GROUP (ORDER BY f DESC) AS q',
	'percentile_cont(0.5) WITHIN GROUP (ORDER BY k) AS p, percentile_cont(0.5) WITHIN GROUP (ORDER BY k) + 1 AS q',
	'percentile_cont(0.37) WITHIN GROUP (ORDER BY t) AS p, percentile_cont(ARRAY[0.3, 0.7]) WITHIN GROUP (ORDER BY t) AS q',
	'percentile_disc(0.4) WITHIN GROUP (ORDER BY k + g) AS p, count(*) AS n, count(1) AS m',
	'percentile_disc(ARRAY[[0, 0.1, NULL], [0.999, 1, 0.5]]) WITHIN GROUP (ORDER BY s) AS p, mode() WITHIN GROUP (ORDER BY s) AS m, max(s) AS x, min(s) AS y',
	'percentile_cont(ARRAY[0.9, 0.1, NULL, 0.1]) WITHIN GROUP (ORDER BY f) AS p, percentile_cont(''{}''::float8[]) WITHIN GROUP (ORDER BY f) AS e',
	'percentile_cont(''[3:4]={0.2,0.4}''::float8[]) WITHIN GROUP (ORDER BY part) AS p',
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY part) AS p, count(part) AS n, count(*) AS m, min(part) AS x, max(part) AS y',
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY part NULLS FIRST) AS p, mode() WITHIN GROUP (ORDER BY part NULLS FIRST) AS m, max(part) AS x',
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY part DESC) AS p, mode() WITHIN GROUP (ORDER BY part DESC) AS m, max(part) AS x, min(part) AS y',
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY nothing) AS p, mode() WITHIN GROUP (ORDER BY nothing) AS m, min(nothing) AS x, count(nothing) AS n',
	'percentile_cont(NULL::float8) WITHIN GROUP (ORDER BY f) AS p, percentile_cont(NULL::float8[]) WITHIN GROUP (ORDER BY f) AS q',
	'mode() WITHIN GROUP (ORDER BY nulls) AS m',
	'mode() WITHIN GROUP (ORDER BY f) AS m, mode() WITHIN GROUP (ORDER BY f) IS NULL AS n',
	'mode() WITHIN GROUP (ORDER BY c) AS m, percentile_disc(0.77) WITHIN GROUP (ORDER BY c) AS p',
	'mode() WITHIN GROUP (ORDER BY n) AS m, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS p',
	'mode() WITHIN GROUP (ORDER BY b) AS m, percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY b) AS p',
	'percentile_disc(0.2) WITHIN GROUP (ORDER BY d) AS p, mode() WITHIN GROUP (ORDER BY d) AS m, max(d) - min(d) AS days',
	'mode() WITHIN GROUP (ORDER BY wide) AS m, percentile_disc(ARRAY[0.5, 0.51]) WITHIN GROUP (ORDER BY wide) AS p',
	'percentile_disc(0.5) WITHIN GROUP (ORDER BY s::varchar(20)) AS p, mode() WITHIN GROUP (ORDER BY lower(s)) IS NULL AS m']) AS aggregates;

-- What becomes of them.
SELECT plan_lines('SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS median, count(*) FROM lots', 'COSTS OFF, VERBOSE');
SELECT plan_lines('SELECT g + 1, mode() WITHIN GROUP (ORDER BY k DESC) FROM lots GROUP BY g HAVING percentile_disc(0.5) WITHIN GROUP (ORDER BY k DESC) > g');
SELECT plan_lines('SELECT g, mode() WITHIN GROUP (ORDER BY k) FROM lots GROUP BY g HAVING count(*) > 230', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');

CREATE FUNCTION placed(query text, VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE sql AS
$$ SELECT check_rows(query, query ~ 'ORDER BY \w+$', ARRAY['GpuSort Ordered Set.*Custom Scan \(GpuSort\)'], settings) $$;
CREATE FUNCTION spilled(query text) RETURNS bool LANGUAGE sql SET gpusort.pool_quota = 0 SET work_mem = '64kB' AS
$$ SELECT bool_or(line ~ 'Portions') FROM plan_lines(query, 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF') line $$;
SELECT aggregates, placed(format('SELECT %s FROM lots', aggregates)) AS alone, placed(format('SELECT g, %s FROM lots GROUP BY g', aggregates)) AS groups,
	placed(format('SELECT %s FROM lots WHERE id + 0 > 3000', aggregates)) AS nothing, placed(format('SELECT g, %s FROM lots WHERE id + 0 > 3000 GROUP BY g', aggregates)) AS no_group,
	placed(format('SELECT %s FROM lots WHERE id + 0 > 2999', aggregates)) AS one
FROM asked WHERE aggregates !~ 'varchar';
SELECT aggregates, placed(format('SELECT id, %s FROM lots GROUP BY id', aggregates)) AS many FROM asked WHERE aggregates ~ 'part.*part|wide';
-- what has an order of its own for each
SELECT check_rows('SELECT ' || aggregates || ' FROM lots', false, '{}', '{}') FROM asked WHERE aggregates ~ 'varchar';
-- Other ways to come to the values: the rows lie elsewhere, or are compared.
SELECT setting, placed('SELECT mode() WITHIN GROUP (ORDER BY s) AS m, percentile_disc(ARRAY[0.1, 0.9]) WITHIN GROUP (ORDER BY s) AS p, count(s) AS n FROM lots', setting) AS mode,
	placed('SELECT percentile_cont(0.7) WITHIN GROUP (ORDER BY f) AS p, percentile_cont(0.3) WITHIN GROUP (ORDER BY f) AS q FROM lots', setting) AS of_keys,
	placed('SELECT g, b, mode() WITHIN GROUP (ORDER BY part) AS m, percentile_disc(ARRAY[0.6, 0.1]) WITHIN GROUP (ORDER BY part) AS p, count(*) AS n FROM lots GROUP BY g, b', setting) AS groups
FROM unnest(ARRAY['gpusort.verify=on', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify', 'work_mem=64kB']) setting;
-- Rows one by one, where those of a group do not fit into work_mem either.
SELECT q, placed(q, 'gpusort.inject_fault=codec', 'work_mem=64kB') FROM unnest(ARRAY[
	'SELECT g % 3 AS h, mode() WITHIN GROUP (ORDER BY k) AS m, percentile_disc(ARRAY[0.7, 0.1]) WITHIN GROUP (ORDER BY k) AS p FROM lots, generate_series(1, 9) GROUP BY g % 3',
	'SELECT g % 3 AS h, mode() WITHIN GROUP (ORDER BY wide) AS m, max(wide) FROM lots GROUP BY g % 3'
]) q;
-- Portions of a sort in files: of all rows, and of groups.
SELECT q, placed(q, 'gpusort.pool_quota=0', 'work_mem=64kB'), spilled(q) FROM unnest(ARRAY[
	'SELECT percentile_disc(ARRAY[0, 0.2, 0.9, 1]) WITHIN GROUP (ORDER BY part) AS p, count(part) AS n, count(*) AS m FROM lots, generate_series(1, 40)',
	'SELECT mode() WITHIN GROUP (ORDER BY k DESC) AS m, percentile_disc(0.7) WITHIN GROUP (ORDER BY k DESC) AS p FROM lots, generate_series(1, 40)',
	'SELECT g, mode() WITHIN GROUP (ORDER BY k) AS m, percentile_disc(0.7) WITHIN GROUP (ORDER BY k) AS p FROM lots, generate_series(1, 40) GROUP BY g'
]) q;
SELECT q, placed(q) FROM unnest(ARRAY[
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k) AS p FROM lots HAVING percentile_cont(0.5) WITHIN GROUP (ORDER BY k) > 1e9',
	'SELECT g, nulls % 5 AS h, percentile_disc(0.5) WITHIN GROUP (ORDER BY k) AS p FROM lots GROUP BY g, nulls % 5 HAVING count(*) > 1 ORDER BY p',
	'SELECT g % 3 AS h, g % 3 || ''!'' AS i, percentile_disc(0.5) WITHIN GROUP (ORDER BY id) AS p FROM lots GROUP BY g % 3 ORDER BY h',
	'SELECT g, percentile_disc(g / 13.0) WITHIN GROUP (ORDER BY k) AS p FROM lots GROUP BY g ORDER BY g',
	'SELECT g, f, percentile_disc(ARRAY[g / 13.0, 0.5]) WITHIN GROUP (ORDER BY k) AS p FROM lots GROUP BY f, g',
	'SELECT o, (SELECT percentile_cont(o / 9.0) WITHIN GROUP (ORDER BY f) FROM lots) AS p FROM generate_series(0, 9) o ORDER BY o',
	'SELECT o, (SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k + o) FROM lots WHERE g <> o) AS p FROM generate_series(0, 3) o ORDER BY o',
	'SELECT o, p FROM generate_series(0, 3) o, LATERAL (SELECT g, mode() WITHIN GROUP (ORDER BY k % 50 + o) AS p FROM lots WHERE g > o GROUP BY g) l ORDER BY o',
	'SELECT percentile_cont((SELECT 0.25)) WITHIN GROUP (ORDER BY f) AS p FROM lots',
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY m) AS p FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS m FROM lots GROUP BY nulls) l',
	'SELECT g, rank() OVER (ORDER BY m, g) AS r FROM (SELECT g, mode() WITHIN GROUP (ORDER BY k % 7) AS m FROM lots GROUP BY g) l ORDER BY r',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY a.k) AS p FROM lots a JOIN lots b ON a.id = b.id + 1',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY part) AS p, percentile_disc(0.5) WITHIN GROUP (ORDER BY part NULLS FIRST) AS q FROM lots',
	'SELECT g, generate_series(1, 2) AS i, mode() WITHIN GROUP (ORDER BY b) AS m FROM lots GROUP BY g'
]) q;
-- Left to an Agg: other columns are looked at, other orders, rows that a FILTER leaves out, what changes.
SELECT q, check_rows(q, false, ARRAY['^(?!.*Ordered Set)'], '{}') FROM unnest(ARRAY[
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS p, avg(k) AS a FROM lots',
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS p, percentile_cont(0.5) WITHIN GROUP (ORDER BY k) AS q FROM lots',
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) AS p, percentile_cont(0.5) WITHIN GROUP (ORDER BY f DESC) AS q FROM lots',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY s) AS p, min(s COLLATE "en-x-icu") AS m FROM lots',
	'SELECT mode() WITHIN GROUP (ORDER BY k) FILTER (WHERE g > 3) AS m FROM lots',
	'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY g) AS p FROM lots GROUP BY g',
	'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY k) AS p FROM lots GROUP BY GROUPING SETS (g, ())',
	'SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY k + random() * 0) IS NULL AS p FROM lots',
	'SELECT mode() WITHIN GROUP (ORDER BY a) AS m FROM lots',
	'SELECT rank(5) WITHIN GROUP (ORDER BY k) AS r FROM lots'
]) q;
-- Errors are PostgreSQL's own, and come when PostgreSQL's do.
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f) FROM lots;
SELECT percentile_cont(-0.1) WITHIN GROUP (ORDER BY f) FROM lots WHERE id + 0 > 3000;
SELECT percentile_cont('NaN') WITHIN GROUP (ORDER BY nothing) FROM lots;
SELECT g, percentile_disc(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY f) FROM lots GROUP BY g;
SELECT percentile_disc(ARRAY[0.5, 1.5]) WITHIN GROUP (ORDER BY f) FROM lots WHERE id + 0 > 3000;
SELECT percentile_disc(1 / nothing + 0 / (g - g)) WITHIN GROUP (ORDER BY f) FROM lots GROUP BY g, nothing;
SELECT g, percentile_disc(1 / (g - 5)) WITHIN GROUP (ORDER BY f) FROM lots GROUP BY g ORDER BY g;

-- Who may not call an aggregate may not have what it returns.
REVOKE EXECUTE ON FUNCTION mode(anyelement), count("any") FROM PUBLIC;
CREATE ROLE gpusort_no_mode;
GRANT USAGE ON SCHEMA sets TO gpusort_no_mode;
GRANT SELECT ON lots TO gpusort_no_mode;
SET ROLE gpusort_no_mode;
SELECT mode() WITHIN GROUP (ORDER BY k) FROM lots;
SELECT count(DISTINCT k) FROM lots;
RESET ROLE;
DROP OWNED BY gpusort_no_mode;
DROP ROLE gpusort_no_mode;
GRANT EXECUTE ON FUNCTION mode(anyelement), count("any") TO PUBLIC;

-- Prepared statements and cursors.
PREPARE part(float8, int) AS SELECT percentile_disc($1) WITHIN GROUP (ORDER BY k), count(*) FROM lots WHERE g <> $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE part(0.1, 3);
EXECUTE part(0.9, NULL);
EXECUTE part(2, 1);
EXECUTE part(NULL, 1);
-- groups of a constant: from 16 on by no column, and none if there are no rows
PREPARE of_one(int) AS SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY k), count(*) FROM lots WHERE g = $1 GROUP BY g;
EXECUTE of_one(3);
EXECUTE of_one(-3);
RESET plan_cache_mode;
BEGIN;
DECLARE groups SCROLL CURSOR FOR SELECT g, mode() WITHIN GROUP (ORDER BY d) FROM lots GROUP BY g;
FETCH 2 FROM groups;
SAVEPOINT s;
SELECT percentile_cont(7) WITHIN GROUP (ORDER BY f) FROM lots;
ROLLBACK TO s;
FETCH 1 FROM groups;
FETCH BACKWARD 2 FROM groups;
FETCH ABSOLUTE 13 FROM groups;
COMMIT;

-- Workers sort together, and each has whole groups; of one group they collect the rows.
CALL have_workers();
SELECT plan_lines('SELECT g, percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM lots GROUP BY g');
SELECT aggregates, together(format('SELECT g, %s FROM lots GROUP BY g', aggregates), 'Gather.*Ordered Set') AS groups,
	check_rows(format('SELECT %s FROM lots', aggregates), false, ARRAY['Ordered Set.*GpuSort\).*GpuSort Collect'], '{}') AS alone
FROM asked WHERE aggregates !~ 'varchar|id % 2';
SELECT setting, together('SELECT nulls, mode() WITHIN GROUP (ORDER BY k % 5) AS m, percentile_disc(0.7) WITHIN GROUP (ORDER BY k % 5) AS p FROM lots GROUP BY nulls', '', setting),
	together('SELECT b, mode() WITHIN GROUP (ORDER BY s) AS m, max(s), count(*) AS n FROM lots GROUP BY b', '', setting) AS two,
	check_rows('SELECT mode() WITHIN GROUP (ORDER BY s) AS m, percentile_disc(0.3) WITHIN GROUP (ORDER BY s) AS p FROM lots', false, ARRAY['Ordered Set'], ARRAY[setting]) AS alone
FROM unnest(ARRAY['parallel_leader_participation=off', 'max_parallel_workers=0', 'max_parallel_workers=1', 'work_mem=64kB', 'gpusort.verify=on',
	'gpusort.pool_quota=1', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify']) setting;
SELECT q, check_rows(q, false, ARRAY['Ordered Set'], '{gpusort.pool_quota=0,work_mem=64kB}'), spilled(q) FROM unnest(ARRAY[
	'SELECT percentile_disc(ARRAY[0.9, 0.2]) WITHIN GROUP (ORDER BY n) AS p, count(n) AS n, count(*) AS m FROM lots, generate_series(1, 40)',
	'SELECT g, mode() WITHIN GROUP (ORDER BY k) AS m, percentile_disc(0.7) WITHIN GROUP (ORDER BY k) AS p FROM lots, generate_series(1, 40) GROUP BY g'
]) q;
CREATE FUNCTION bumped(int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS 'BEGIN RETURN -$1; END';
CREATE FUNCTION half() RETURNS float8 LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS 'BEGIN RETURN 0.5; END';
SELECT check_rows('SELECT g, mode() WITHIN GROUP (ORDER BY bumped(k)) FROM lots GROUP BY g', false, ARRAY['^(?!.*(Shared|Collect))'], '{}'),
	check_rows('SELECT g, percentile_disc(half()) WITHIN GROUP (ORDER BY k) FROM lots GROUP BY g', false, ARRAY['^(?!.*Gather.*Ordered Set)'], '{}');
DROP SCHEMA sets CASCADE;
