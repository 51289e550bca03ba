-- DISTINCT and count(DISTINCT) by what the sort knows of equal rows.
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
SET gpusort.force = on;
SET gpusort.cost_key_collated = 0;
SET enable_hashagg = off;
SET enable_incremental_sort = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE kinds WITH (parallel_workers = 2) AS
SELECT i AS id, nullif(i % 900, 5) AS i4, nullif(random('k', i, 5000), 7) - 2500 AS i8, (i % 40)::int2 AS i2,
	CASE i % 50 WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'NaN' WHEN 4 THEN 'Infinity' ELSE (i % 300 - 100)::text END::float8 AS f8,
	CASE WHEN i % 9 > 0 THEN (i % 30)::numeric(10, 2) / CASE i % 2 WHEN 0 THEN 1 ELSE 1.000 END END AS n,
	md5((i % 700)::text)::uuid AS u, i % 3 = 0 AS b, date '2000-01-01' + i % 77 AS d,
	nullif(repeat('a common prefix, longer than a word, ', i % 4) || i % 60, '7') COLLATE "C" AS s,
	repeat('x', 3000) || i % 20 AS long, (CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'A' ELSE 'b' END || i % 30) COLLATE "en-x-icu" AS icu,
	decode(md5((i % 100)::text), 'hex') AS bytes, NULL::int4 AS nothing
FROM generate_series(1, 12000) i ORDER BY hashint4(i);
ANALYZE kinds;
CREATE FUNCTION counted(query text) RETURNS text LANGUAGE sql AS
$$ SELECT check_rows(query, true, ARRAY['Custom Scan \(GpuSort Count\)\n *->  Custom Scan \(GpuSort\)'], '{}') $$;
CREATE FUNCTION unique_rows(query text) RETURNS text LANGUAGE sql AS
$$ SELECT check_rows(query, true, ARRAY['Custom Scan \(GpuSort Unique\)\n *->  Custom Scan \(GpuSort\)'], '{}') $$;
-- How equal rows were found.
CREATE FUNCTION found(query text) RETURNS text LANGUAGE sql AS
$$ SELECT coalesce(executed(query, 'GpuSort Count'), executed(query, 'GpuSort Unique')) ->> 'Equal Rows' $$;

-- All types, one column and several, in both directions
SELECT c, counted(format('SELECT count(DISTINCT %s) FROM kinds', c)) AS counted, found(format('SELECT count(DISTINCT %s) FROM kinds', c)) AS count_found,
	unique_rows(format('SELECT DISTINCT %s FROM kinds ORDER BY 1', c)) AS up, unique_rows(format('SELECT DISTINCT %s FROM kinds ORDER BY 1 DESC', c)) AS down,
	found(format('SELECT DISTINCT %s FROM kinds', c)) AS unique_found
FROM unnest(ARRAY['i4', 'i8', 'i2', 'f8 + 0', 'n', 'u', 'd', 's', 'long', 'lower(s)', 'icu', 'bytes', 'nothing', 'id', 'i4 + i8']) c;
SELECT q, unique_rows(q) FROM unnest(ARRAY[
	'SELECT DISTINCT i4, s FROM kinds ORDER BY s NULLS FIRST, i4 DESC',
	'SELECT DISTINCT s, n, b FROM kinds ORDER BY n DESC NULLS LAST, s, b DESC',
	'SELECT DISTINCT ON (s) s FROM kinds ORDER BY s DESC',
	'SELECT DISTINCT s, nothing, i2 FROM kinds ORDER BY nothing, s, i2',
	'SELECT DISTINCT s, long, i4 FROM kinds ORDER BY long, s, i4 LIMIT 1000 OFFSET 70',
	'SELECT DISTINCT i8, f8 FROM kinds WHERE id < 0 ORDER BY i8, f8',
	'SELECT DISTINCT i8, f8 FROM kinds WHERE id = 77 ORDER BY i8, f8',
	'SELECT DISTINCT id FROM kinds WHERE id <= 64 ORDER BY id',
	'SELECT DISTINCT id FROM kinds WHERE id <= 65 ORDER BY id',
	'SELECT o, x.* FROM generate_series(1, 3) o, LATERAL (SELECT DISTINCT i2 + o AS k FROM kinds OFFSET 0) x ORDER BY o, k',
	'SELECT i4 FROM kinds UNION SELECT i8 FROM kinds ORDER BY 1'
]) q;
SELECT q, counted(q) FROM unnest(ARRAY[
	'SELECT count(DISTINCT i4) + 1 AS more, count(DISTINCT i4) FROM kinds',
	'SELECT count(DISTINCT i4) FROM kinds WHERE id + 0 < 0',
	'SELECT count(DISTINCT i4) FROM kinds WHERE id + 0 < 2',
	'SELECT count(DISTINCT id) FROM kinds WHERE id + 0 <= 64',
	'SELECT count(DISTINCT id) FROM kinds WHERE id + 0 <= 129',
	'SELECT count(DISTINCT s::varchar) FROM kinds',
	'SELECT count(*) FROM (SELECT DISTINCT i4, s FROM kinds) x',
	'SELECT count(*), count(i4) AS i4s FROM (SELECT DISTINCT i4 FROM kinds) x',
	'SELECT count(DISTINCT f8) FROM kinds',
	'SELECT count(1), count(*) - (random() * 0)::int AS less FROM (SELECT DISTINCT i4, i2 FROM kinds) x',
	'SELECT count(*) FROM (SELECT i4 FROM kinds UNION SELECT i8 FROM kinds) x'
]) q;
-- From 16 on PostgreSQL may sort below aggregates by itself.
SELECT count(set_config(name, 'off', false)) < 2 FROM pg_settings WHERE name = 'enable_presorted_aggregate';
-- What has more to do than count, or other columns
SELECT q, matches(q, 'GpuSort Count') AS counts, matches(q, 'GpuSort Unique') AS uniques, check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT count(DISTINCT i4), sum(DISTINCT i4) FROM kinds',
	'SELECT count(DISTINCT i4) FROM kinds HAVING count(DISTINCT i4) > 1000',
	'SELECT count(i4), count(s) AS ss FROM (SELECT DISTINCT i4, s FROM kinds) x',
	'SELECT count(i4 + 1) FROM (SELECT DISTINCT i4 FROM kinds) x',
	'SELECT count(*) FILTER (WHERE i4 > 3) FROM (SELECT DISTINCT i4 FROM kinds) x',
	'SELECT count(*) FROM (SELECT DISTINCT i4 FROM kinds) x GROUP BY GROUPING SETS ((), ())',
	'SELECT DISTINCT ON (s) s, id FROM kinds ORDER BY s, id',
	'SELECT b, count(DISTINCT i4) FROM kinds GROUP BY b ORDER BY b'
]) q;
SELECT count(set_config(name, 'on', false)) < 2 FROM pg_settings WHERE name = 'enable_presorted_aggregate';
-- Again and again, in a subplan and in a cursor
SELECT q, check_rows(q, true, ARRAY['GpuSort (Count|Unique)'], '{}') FROM unnest(ARRAY[
	'SELECT o, (SELECT count(DISTINCT i4 + o) FROM kinds WHERE i2 < o) AS c FROM generate_series(0, 4) o ORDER BY o',
	'SELECT o, (SELECT max(k) FROM (SELECT DISTINCT i2 + o AS k FROM kinds OFFSET 0) x) AS c FROM generate_series(0, 4) o ORDER BY o',
	'SELECT o, (SELECT count(DISTINCT i4) FROM kinds) + o AS c FROM generate_series(0, 4) o ORDER BY o'
]) q;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT DISTINCT i2 FROM kinds;
FETCH 3 FROM c;
FETCH LAST FROM c;
FETCH PRIOR FROM c;
FETCH ABSOLUTE 2 FROM c;
COMMIT;
PREPARE counts(int) AS SELECT count(DISTINCT i4) FROM kinds WHERE i2 <> $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE counts(1);
EXECUTE counts(39);
RESET plan_cache_mode;
DEALLOCATE counts;

-- Where rows don't lie in memory, they are compared; where PostgreSQL is asked about their order, it tells of equal ones, too
SELECT q, check_rows(q, true, '{}', ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1']) FROM unnest(ARRAY[
	'SELECT count(DISTINCT i8) FROM kinds', 'SELECT count(DISTINCT s) FROM kinds', 'SELECT DISTINCT s, i8 FROM kinds ORDER BY s, i8']) q;
SET gpusort.pool_quota = 0;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT found('SELECT count(DISTINCT i8) FROM kinds'), found('SELECT DISTINCT s, i8 FROM kinds');
RESET gpusort.pool_quota;
RESET work_mem;
RESET hash_mem_multiplier;
SET gpusort.verify = on;
SELECT found('SELECT count(DISTINCT i8) FROM kinds'), found('SELECT DISTINCT s, i8 FROM kinds'), counted('SELECT count(DISTINCT s) FROM kinds');
RESET gpusort.verify;
-- ... also of rows that are moved, as libc's functions disagree on them (glibc 2.36: -1b- and 1-B)
SELECT coalesce(max(collname), 'C') AS libc FROM pg_collation
WHERE collname = 'en_US.utf8' AND pg_encoding_to_char(collencoding) = getdatabaseencoding() \gset
CREATE TABLE odd AS SELECT i % 100 AS i, translate(left(md5((i % 3000)::text), 2 + i % 5), '0123456789abcdef', '1-B -b1 -Bb1A-a.') COLLATE :"libc" AS s
FROM generate_series(1, 9000) i;
ANALYZE odd;
SELECT q, unique_rows(q) FROM unnest(ARRAY['SELECT DISTINCT s FROM odd ORDER BY s', 'SELECT DISTINCT s, i FROM odd ORDER BY s DESC, i']) q;
SELECT counted('SELECT count(DISTINCT s) FROM odd'), found('SELECT count(DISTINCT s) FROM odd');
DROP TABLE odd;

-- Workers: each looks at its slices
CALL have_workers();
SELECT plan_lines('SELECT count(DISTINCT i4) FROM kinds', 'COSTS OFF, VERBOSE');
SELECT q, together(q, 'GpuSort (Count|Unique)\)\n *->  Parallel Custom Scan', 'parallel_tuple_cost=0', 'cpu_operator_cost=0.1') FROM unnest(ARRAY[
	'SELECT count(DISTINCT i4) FROM kinds', 'SELECT count(DISTINCT i8) FROM kinds', 'SELECT count(DISTINCT s) FROM kinds',
	'SELECT count(DISTINCT n) FROM kinds', 'SELECT count(DISTINCT nothing) FROM kinds', 'SELECT count(DISTINCT long) FROM kinds',
	'SELECT count(DISTINCT icu) FROM kinds', 'SELECT count(DISTINCT f8) FROM kinds', 'SELECT count(DISTINCT id) FROM kinds',
	'SELECT count(DISTINCT i4) FROM kinds WHERE id + 0 < 0', 'SELECT count(DISTINCT i4), sum(DISTINCT i4) FROM kinds',
	'SELECT count(*) FROM (SELECT DISTINCT i4, s FROM kinds) x',
	'SELECT DISTINCT i4, s FROM kinds', 'SELECT DISTINCT icu FROM kinds',
	'SELECT b, count(DISTINCT s) FROM kinds GROUP BY b ORDER BY b'
]) q;
SELECT q, together(q, 'GpuSort (Count|Unique)', 'gpusort.inject_fault=memory', 'parallel_tuple_cost=0', 'cpu_operator_cost=0.1') FROM unnest(ARRAY[
	'SELECT count(DISTINCT i8) FROM kinds', 'SELECT count(DISTINCT s) FROM kinds', 'SELECT DISTINCT i4, s FROM kinds']) q;
-- ... or the leader, of what they collect
SELECT q, check_rows(q, true, ARRAY['GpuSort (Count|Unique)\)\n *->  Custom Scan \(GpuSort\)\n.*Collect'], ARRAY['gpusort.enable_shared_sort=off'])
FROM unnest(ARRAY['SELECT count(DISTINCT i8) FROM kinds', 'SELECT count(DISTINCT s) FROM kinds', 'SELECT DISTINCT s, i8 FROM kinds ORDER BY s, i8']) q;
DROP TABLE kinds;
