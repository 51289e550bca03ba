-- Aggregates over ordered values, of rows that come to them in that order; with GROUP BY also in workers,
-- in slices that cut no group.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA ordered;
SET search_path = ordered, gpusort_parallel, gpusort_test, public;
SET gpusort.force = on;
SET gpusort.cost_key_collated = 0;
SET parallel_tuple_cost = 0.001;
SET enable_incremental_sort = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE orders WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 10007 AS k, i % 13 AS g, nullif(i % 900, 77) AS nulls, (i % 500)::numeric(10, 2) / 7 AS n, (i % 800)::float8 / 3 AS f,
	md5((i % 3000)::text) COLLATE "C" AS s, make_interval(secs => i % 321) AS t, NULL::int AS nothing
FROM generate_series(1, 5000) i ORDER BY hashint4(i);
ANALYZE orders;
-- From 16 on PostgreSQL may sort below aggregates by itself.
SELECT count(set_config(name, 'off', false)) < 2 FROM pg_settings WHERE name = 'enable_presorted_aggregate';

CREATE TABLE asked AS SELECT unnest(ARRAY[
	'array_agg(id ORDER BY k)',
	'array_agg(id ORDER BY k DESC), string_agg(s, '','' ORDER BY k DESC), count(*), sum(n)',
	'string_agg(s, ''-'' ORDER BY s COLLATE "C" DESC, id), max(k)',
	'array_agg(nulls ORDER BY nulls NULLS FIRST), count(nulls ORDER BY nulls NULLS FIRST)',
	'array_agg(nothing ORDER BY nothing, id)',
	'json_agg(id ORDER BY n, id), array_agg(k ORDER BY n, id)',
	-- some share an order, others have one of their own
	'array_agg(id ORDER BY k), array_agg(k ORDER BY id), array_agg(s ORDER BY k, id)',
	'array_agg(id ORDER BY k) FILTER (WHERE nulls > 3), array_agg(id ORDER BY k)',
	'array_agg(id ORDER BY k + 1) FILTER (WHERE k <> 5), array_agg(id ORDER BY k)',
	'array_agg(id ORDER BY 1000 / (k - 5)) FILTER (WHERE k <> 5)',
	'array_agg(DISTINCT nulls), array_agg(id ORDER BY nulls, id), count(DISTINCT s)',
	'string_agg(DISTINCT s, '','' ORDER BY s DESC)',
	'string_agg(DISTINCT s, '','' ORDER BY s), array_agg(DISTINCT k ORDER BY k DESC)',
	-- ordered sets
	'percentile_cont(0.5) WITHIN GROUP (ORDER BY f), percentile_cont(0.25) WITHIN GROUP (ORDER BY f) AS q, avg(f ORDER BY f)',
	'percentile_disc(ARRAY[0, 0.1, NULL, 0.999, 1]) WITHIN GROUP (ORDER BY s), mode() WITHIN GROUP (ORDER BY s) AS m',
	'percentile_cont(ARRAY[0.3, 0.7]) WITHIN GROUP (ORDER BY t DESC), percentile_disc(0.5) WITHIN GROUP (ORDER BY nulls) AS d',
	'percentile_cont(0.5) WITHIN GROUP (ORDER BY nothing), mode() WITHIN GROUP (ORDER BY nothing)',
	'mode() WITHIN GROUP (ORDER BY nulls) FILTER (WHERE id % 2 = 0)',
	'rank(100, 5) WITHIN GROUP (ORDER BY nulls DESC, k), dense_rank(3.5) WITHIN GROUP (ORDER BY n) AS d, percent_rank(7) WITHIN GROUP (ORDER BY k) AS p, cume_dist(7) WITHIN GROUP (ORDER BY k) AS c']) AS aggregates;

-- What becomes of them.
SELECT plan_lines('SELECT array_agg(id ORDER BY k), percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM orders');
SELECT plan_lines('SELECT g, array_agg(id ORDER BY k), array_agg(id ORDER BY s), array_agg(id ORDER BY s, k) FROM orders GROUP BY g');

-- One process, one group, and several.  The fields of a row need names.
CREATE FUNCTION named(aggregates text) RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(part || CASE WHEN part ~ ' AS \w+$' THEN '' ELSE ' AS a' || i END, ', ' ORDER BY i)
	FROM regexp_split_to_table(aggregates, ', (?=[a-z_]+\((?![^()]*\) *\())') WITH ORDINALITY p(part, i)
$$;
CREATE FUNCTION alone(query text) RETURNS text LANGUAGE sql AS
$$ SELECT check_rows(query, query ~ 'ORDER BY \w+$', ARRAY['(Agg|Ordered Set).*Custom Scan \(GpuSort\)'], '{}') $$;
SELECT aggregates, alone(format('SELECT %s FROM orders', named(aggregates))) FROM asked WHERE aggregates !~ '1000 /';
SELECT aggregates, alone(format('SELECT g, %s FROM orders GROUP BY g ORDER BY g', named(aggregates))) FROM asked WHERE aggregates !~ '1000 /';
SELECT q, alone(q) FROM unnest(ARRAY[
	'SELECT array_agg(id ORDER BY k) FROM orders WHERE id + 0 < 0',
	'SELECT g, nulls, array_agg(id ORDER BY k) AS ids FROM orders GROUP BY g, nulls HAVING max(k ORDER BY k) > 5000 ORDER BY g, nulls',
	'SELECT g % 3 AS h, string_agg(s, '','' ORDER BY id) || ''!'' AS s, cardinality(array_agg(id ORDER BY id)) + 1 AS n FROM orders GROUP BY g % 3 ORDER BY h',
	'SELECT array_agg(id ORDER BY k, g) AS ids FROM orders GROUP BY g, k ORDER BY ids',
	'SELECT array_agg(id ORDER BY id) AS ids FROM orders WHERE g < 5 GROUP BY g ORDER BY ids',
	'SELECT g, first_value(max(k ORDER BY k)) OVER (ORDER BY g) AS m FROM orders GROUP BY g ORDER BY g',
	'SELECT DISTINCT cardinality(array_agg(id ORDER BY k)) AS c FROM orders GROUP BY g ORDER BY c',
	'SELECT array_agg(a.id ORDER BY a.k, b.id) FROM orders a JOIN orders b ON a.id = b.id + 1',
	'SELECT array_agg(x ORDER BY x DESC) FROM (SELECT string_agg(s, '''' ORDER BY id) AS x FROM orders GROUP BY g, nulls) o',
	'SELECT o, (SELECT array_agg(id + o ORDER BY k DESC) FROM orders) AS ids FROM generate_series(1, 2) o ORDER BY o',
	'SELECT g, percentile_disc(g / 13.0) WITHIN GROUP (ORDER BY k) AS p FROM orders GROUP BY g ORDER BY g'
]) q;

-- A FILTER keeps an expression from failing, and stays where it is; so do values that change, and what
-- has no order of ours.
SELECT q, check_rows(q, false, ARRAY['^(?!.*GpuSort)'], '{}') FROM unnest(ARRAY[
	'SELECT array_agg(id ORDER BY 1000 / (k - 5), id) FILTER (WHERE k <> 5) FROM orders',
	'SELECT cardinality(array_agg(id ORDER BY random())) FROM orders',
	'SELECT array_agg(id ORDER BY ARRAY[k], id) FROM orders',
	'SELECT array_agg(id ORDER BY k) FROM orders WHERE k = 5'
]) q;

-- Errors are PostgreSQL's own.
SELECT percentile_cont(1.5) WITHIN GROUP (ORDER BY f) FROM orders;
SELECT g, percentile_disc(ARRAY[0.5, -1]) WITHIN GROUP (ORDER BY f) FROM orders GROUP BY g;
SELECT array_agg(id ORDER BY 1000 / (k - 5)) FROM orders;

-- Workers sort together, and each has whole groups; of one group they collect the rows.
CALL have_workers();
SELECT plan_lines('SELECT g, array_agg(id ORDER BY k) FROM orders GROUP BY g');
SELECT aggregates, together(format('SELECT g, %s FROM orders GROUP BY g', named(aggregates))) FROM asked WHERE aggregates !~ '1000 /';
SELECT aggregates, check_rows(format('SELECT %s FROM orders', named(aggregates)), false, ARRAY['(Agg|Ordered Set).*GpuSort\).*GpuSort Collect'], '{}')
FROM asked WHERE aggregates !~ '1000 /';
SELECT setting, together('SELECT nulls, array_agg(id ORDER BY k), array_agg(DISTINCT s) AS d FROM orders GROUP BY nulls', '', setting)
FROM unnest(ARRAY['parallel_leader_participation=off', 'max_parallel_workers=0', 'work_mem=64kB', 'gpusort.verify=on']) setting;
-- What workers may not compute is computed by none.
CREATE FUNCTION bumped(int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL RESTRICTED AS 'BEGIN RETURN -$1; END';
SELECT check_rows('SELECT g, array_agg(id ORDER BY bumped(k)) FROM orders GROUP BY g', false, ARRAY['^(?!.*(Shared|Collect))'], '{}');

-- With PostgreSQL's own sorts below aggregates, from 16 on: the same results, whichever order it has taken.
SELECT count(set_config(name, 'on', false)) < 2 FROM pg_settings WHERE name = 'enable_presorted_aggregate';
SELECT aggregates, check_rows(format('SELECT g, %s FROM orders GROUP BY g', named(aggregates)), false, ARRAY['GpuSort'], '{}'),
	check_rows(format('SELECT %s FROM orders', named(aggregates)), false, '{}', '{max_parallel_workers_per_gather=0}')
FROM asked WHERE aggregates !~ '1000 /';
DROP SCHEMA ordered CASCADE;
