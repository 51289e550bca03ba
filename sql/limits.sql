-- Sorts below a LIMIT, which keep no more rows than may be among those wanted: that these are the
-- right ones, whatever the keys and the order of the input, and when sorts are bounded.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_limits;
SET search_path = gpusort_limits, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET gpusort.late_rows = off;

-- check_rows() of a query with a LIMIT, and whether the sort below it has dropped rows.
CREATE FUNCTION trims(query text) RETURNS int LANGUAGE sql AS $$
	SELECT (executed(query, 'GpuSort') ->> 'Trims')::int
$$;
CREATE FUNCTION bounded(query text, VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	setting text;
	result text := check_rows(query, true, ARRAY['Custom Scan \(GpuSort\)'], settings);
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	result := result || CASE WHEN trims(query) > 0 THEN ', bounded' ELSE ', not bounded' END;
	FOREACH setting IN ARRAY settings LOOP
		EXECUTE 'RESET ' || split_part(setting, '=', 1);
	END LOOP;
	RETURN result;
END $$;

SELECT coalesce(max(collname), 'C') AS libc FROM pg_collation
WHERE collname = 'en_US.utf8' AND pg_encoding_to_char(collencoding) = getdatabaseencoding() \gset
CREATE TABLE t (id int, k int8, few int2, f float8, n numeric, c text COLLATE "C", url text COLLATE "C",
	icu text COLLATE "en-x-icu", loc text COLLATE :"libc", u uuid, pad text);
INSERT INTO t
SELECT i, CASE WHEN i % 13 > 0 THEN hashint8(i)::int8 << (i % 30) END, i * 7919 % 5, sin(i),
	CASE WHEN i % 17 > 0 THEN (hashint4(i) % 20000)::numeric / 7 END, nullif(left(md5((i % 9000)::text), 1 + i % 31), ''),
	'https://example.org/' || CASE WHEN i % 2 = 0 THEN 'a/' ELSE '' END || md5((i % 20000)::text),
	nullif(left(md5(i::text), i % 6), ''), md5((i % 30000)::text), md5(i::text)::uuid, repeat('x', i % 50)
FROM generate_series(1, 20000) i;
-- columns that earlier rows do not have
ALTER TABLE t ADD COLUMN late_null int, ADD COLUMN late_default int DEFAULT 7;
INSERT INTO t (id, k, late_null, late_default) SELECT i, -i, i % 3000, i % 100 FROM generate_series(20001, 22500) i;
VACUUM ANALYZE t;

-- what EXPLAIN shows
SELECT plan_lines('SELECT id FROM t ORDER BY id LIMIT 3000', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
SELECT plan_lines('SELECT id FROM t ORDER BY id DESC LIMIT 10', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
SELECT (x ->> 'Bound')::int AS bound, x ->> 'Sort Method' AS method, (x ->> 'Trims')::int > 0 AS trimmed, (x ->> 'Dropped Rows')::int > 15000 AS dropped
FROM executed('SELECT id FROM t ORDER BY k, id LIMIT 3000', 'GpuSort') x;

-- every kind of key, both directions, nulls at both ends
SELECT key, direction, bounded(format('SELECT * FROM t ORDER BY %s %s, id LIMIT 3000', key, direction))
FROM unnest(ARRAY['k', 'few', 'f', 'n', 'c', 'url', 'icu', 'loc', 'u', 'pad', 'late_null', 'late_default', 'id']) key,
	unnest(ARRAY['ASC NULLS FIRST', 'ASC', 'DESC', 'DESC NULLS LAST']) direction;
-- several
SELECT keys, bounded(format('SELECT id, k, c FROM t ORDER BY %s LIMIT 2500', keys))
FROM unnest(ARRAY['few, id', 'few DESC, k NULLS FIRST, id', 'c, few DESC, id', 'few, c DESC, id DESC', 'url DESC, n, id',
	'few, n NULLS FIRST, id', 'n DESC, c, id', 'few, icu DESC, id', 'icu, k, id', 'few, loc, id', 'late_default, url, id']) keys;
-- equal keys only: as many as are wanted, of the right key
SELECT key, bounded(format('SELECT %s FROM t ORDER BY %1$s DESC NULLS LAST LIMIT 5000', key))
FROM unnest(ARRAY['few', 'few, late_default', 'pad', 'c', 'icu', 'late_default']) key;
-- rows of fixed length that end before the key
CREATE TABLE short AS SELECT i AS id, i * 7919 % 10007 AS k FROM generate_series(1, 10000) i;
ALTER TABLE short ADD COLUMN x int;
INSERT INTO short SELECT i, i, i % 700 FROM generate_series(10001, 13000) i;
SELECT bounded('SELECT * FROM short ORDER BY x NULLS FIRST, k LIMIT 4000');
SELECT bounded('SELECT * FROM short ORDER BY x, k, id LIMIT 4000');
-- strings as long as a page, and compressed
CREATE TABLE long AS
SELECT i AS id, (repeat(md5((i % 50)::text), 1 + i % 120) || md5(i::text)) COLLATE "C" AS c,
	(repeat('abc ', i % 800) || md5(i::text)) COLLATE "en-x-icu" AS icu
FROM generate_series(1, 8000) i;
SELECT bounded('SELECT * FROM long ORDER BY c, id LIMIT 1500');
SELECT bounded('SELECT * FROM long ORDER BY c DESC, id LIMIT 1500');
SELECT bounded('SELECT id, icu FROM long ORDER BY icu DESC, id LIMIT 1500');

-- any number of rows; rows in order already, and in the opposite order
SELECT n, bounded(format('SELECT id, c FROM t ORDER BY c, id LIMIT %s', n)) AS random,
	bounded(format('SELECT * FROM t ORDER BY id LIMIT %s', n)) AS presorted,
	bounded(format('SELECT * FROM t ORDER BY id DESC LIMIT %s', n)) AS reversed
FROM unnest(ARRAY[1, 2, 63, 64, 65, 2047, 2048, 2049, 4096, 5624, 5625, 11249, 11250, 11251, 22499, 22500, 25000]) n;
SELECT bounded('SELECT id FROM t ORDER BY k, id LIMIT 10 OFFSET 3000');
SELECT bounded('SELECT id FROM t ORDER BY k, id LIMIT 2000 OFFSET 21500');
SELECT bounded('SELECT id FROM t ORDER BY k, id LIMIT (SELECT 500) OFFSET (SELECT 500)');
SELECT bounded('SELECT id FROM t ORDER BY k, id LIMIT NULL OFFSET 500');
SELECT bounded('SELECT id FROM t ORDER BY k, id LIMIT 10 OFFSET 9223372036854775807');
SELECT bounded('SELECT few, count(*) OVER () FROM (SELECT few FROM t ORDER BY few FETCH FIRST 10 ROWS WITH TIES) s');

-- every kind of key of rows that come one by one, of which most are dropped before they are stored
SELECT key, direction, bounded(format('SELECT * FROM (SELECT * FROM t OFFSET 0) t ORDER BY %s %s, id LIMIT 1500', key, direction))
FROM unnest(ARRAY['k', 'few', 'f', 'n', 'c', 'url', 'icu', 'loc', 'u', 'pad', 'late_null', 'late_default', 'id']) key,
	unnest(ARRAY['ASC NULLS FIRST', 'DESC NULLS LAST']) direction;
SELECT bounded('SELECT * FROM (SELECT * FROM t OFFSET 0) t ORDER BY few DESC, k, id LIMIT 1500', 'gpusort.verify=on');
SELECT bounded('SELECT * FROM (SELECT * FROM long OFFSET 0) t ORDER BY c, icu DESC, id LIMIT 1500');
SELECT bounded('SELECT id, few FROM (SELECT * FROM t OFFSET 0) t ORDER BY few, n NULLS FIRST, c DESC, id LIMIT 5000');

-- rows from other nodes than a scan; through nodes that return all of them
SELECT bounded('SELECT id, k + 1 AS l FROM t WHERE id % 3 > 0 ORDER BY l, id LIMIT 1000');
SELECT bounded('SELECT a.id, b.c FROM t a JOIN t b ON a.id = b.id ORDER BY b.c DESC, a.id LIMIT 1000');
SELECT bounded('SELECT * FROM (SELECT id, n FROM t ORDER BY n, id OFFSET 0) s LIMIT 1000');
SELECT bounded('SELECT * FROM ((SELECT id, c FROM t ORDER BY c, id LIMIT 900) UNION ALL (SELECT id, c FROM t ORDER BY c DESC, id LIMIT 800)) s LIMIT 1600');
SELECT bounded('SELECT id, generate_series(1, 2) FROM t ORDER BY k, id LIMIT 1000');
-- and through nodes that don't: the bound is not the sort's
SELECT bounded('SELECT * FROM (SELECT id, n FROM t ORDER BY n, id OFFSET 0) s WHERE id % 100 = 1 LIMIT 10');
SELECT bounded('SELECT DISTINCT ON (few) few, id FROM t ORDER BY few, id LIMIT 4');
SELECT bounded('SELECT id, sum(id) OVER (ORDER BY k, id) FROM t ORDER BY k, id LIMIT 10');
SELECT bounded('SELECT id FROM t WHERE id > 100 ORDER BY k, id LIMIT 10', 'gpusort.late_rows=on');
SELECT bounded('SELECT * FROM t ORDER BY c, id LIMIT 2500', 'gpusort.late_rows=on');
SELECT bounded('SELECT * FROM t ORDER BY icu DESC, id LIMIT 2500', 'gpusort.late_rows=on');

-- verified; handed over; in little memory, which a trim may be enough for
SELECT bounded('SELECT * FROM t ORDER BY n, c, id LIMIT 2500', 'gpusort.verify=on');
SELECT bounded('SELECT * FROM t ORDER BY k, id LIMIT 2500', 'gpusort.verify=on', 'gpusort.inject_fault=verify');
SELECT bounded('SELECT * FROM t ORDER BY c, id LIMIT 2500', 'gpusort.inject_fault=memory');
SELECT bounded('SELECT * FROM t ORDER BY icu, id LIMIT 2500', 'gpusort.inject_fault=codec');
SELECT limit_rows, bounded(format('SELECT * FROM t ORDER BY url, id LIMIT %s', limit_rows), 'gpusort.pool_quota=0', 'work_mem=500kB')
FROM unnest(ARRAY[100, 2500, 4000, 8000]) limit_rows;

-- from now on there is no memory: rows that were trimmed have no keys any more
SELECT left(bounded('SELECT id, icu FROM long WHERE CASE WHEN id = 3000 THEN set_config(''gpusort.inject_fault'', ''memory'', true) > '''' ELSE true END ORDER BY icu, id LIMIT 1500'), 40);
SET gpusort.inject_fault = 'none';
SELECT left(bounded('SELECT id, c FROM long WHERE CASE WHEN id = 4090 THEN set_config(''gpusort.inject_fault'', ''memory'', true) > '''' ELSE true END ORDER BY c, id LIMIT 1500'), 40);
RESET gpusort.inject_fault;

-- another number of rows each time; the same input, or another
SELECT bounded(format('SELECT w.n, s.id, s.c FROM (SELECT n FROM unnest(ARRAY[5, 3, 5000, 7, 4000, 6000, NULL, 2, 1]) WITH ORDINALITY u (n, o) %s) w, LATERAL (SELECT id, c FROM t %s ORDER BY c, id LIMIT w.n) s',
	more, condition))
FROM (VALUES ('', ''), ('WHERE n <= 5000', ''), ('', 'WHERE id % 8 <> w.n % 8'), ('OFFSET 0', '')) v (more, condition);
PREPARE first_rows (int8, int8) AS SELECT count(*), min(id), max(id), sum(id) FROM (SELECT id FROM t ORDER BY k, id LIMIT $1 OFFSET $2) s;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE first_rows (1, 1);
EXECUTE first_rows (10, 0);
EXECUTE first_rows (3000, 100);
EXECUTE first_rows (NULL, 21500);
EXECUTE first_rows (3000, NULL);
EXECUTE first_rows (0, 10);
SET gpusort.enabled = off;
DEALLOCATE first_rows;
PREPARE first_rows (int8, int8) AS SELECT count(*), min(id), max(id), sum(id) FROM (SELECT id FROM t ORDER BY k, id LIMIT $1 OFFSET $2) s;
EXECUTE first_rows (10, 0);
EXECUTE first_rows (3000, 100);
EXECUTE first_rows (NULL, 21500);
EXECUTE first_rows (3000, NULL);
RESET gpusort.enabled;
RESET plan_cache_mode;

-- moved about in
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM t ORDER BY id DESC LIMIT 3000 OFFSET 10;
FETCH LAST FROM c;
FETCH NEXT FROM c;
FETCH PRIOR FROM c;
FETCH ABSOLUTE 1 FROM c;
FETCH PRIOR FROM c;
FETCH RELATIVE 2999 FROM c;
FETCH ABSOLUTE 3001 FROM c;
FETCH ABSOLUTE -3000 FROM c;
COMMIT;
SELECT id FROM t ORDER BY id DESC LIMIT 3 FOR UPDATE;

-- whose sort it is
RESET gpusort.force;
SET gpusort.min_rows = 1000;
SELECT matches('SELECT * FROM t ORDER BY k LIMIT 10', 'GpuSort') AS few,
	matches('SELECT * FROM t ORDER BY k LIMIT 10000', 'GpuSort') AS many,
	matches('SELECT * FROM t ORDER BY icu LIMIT 10', 'GpuSort') AS few_collated,
	matches('SELECT * FROM t ORDER BY icu LIMIT 8000', 'GpuSort') AS many_collated;
SELECT matches('SELECT * FROM t ORDER BY k FETCH FIRST 10 ROWS WITH TIES', 'GpuSort') AS ties,
	matches('SELECT * FROM t ORDER BY k LIMIT 10 FOR UPDATE', 'GpuSort') AS locked;
-- with a bound, rows fit that would not without
SET gpusort.pool_quota = 0;
SET gpusort.enable_spill = off;
SET work_mem = '2MB';
SELECT matches('SELECT * FROM t ORDER BY k', 'GpuSort') AS all, matches('SELECT * FROM t ORDER BY k LIMIT 2000', 'GpuSort') AS bounded;
RESET gpusort.enable_spill;
RESET gpusort.pool_quota;
RESET work_mem;

-- Collected by workers, each of which keeps what may be among the rows wanted.
CREATE TABLE par WITH (parallel_workers = 2) AS TABLE t;
ANALYZE par;
SET search_path = gpusort_limits, gpusort_parallel, gpusort_test, public;
CALL have_workers();
SET gpusort.force = on;
CREATE FUNCTION in_parts(query text, VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT compare(query, '', VARIADIC settings)
$$;
SELECT key, n, in_parts(format('SELECT * FROM gpusort_limits.par ORDER BY %s, id LIMIT %s', key, n))
FROM unnest(ARRAY['k', 'n DESC', 'c', 'url DESC', 'icu', 'few', 'late_null', 'late_default DESC']) key, unnest(ARRAY[7, 2500, 4000]) n;
SELECT in_parts('SELECT id, c FROM gpusort_limits.par WHERE id % 3 > 0 ORDER BY c, id LIMIT 10 OFFSET 2500');
SELECT in_parts('SELECT id, c FROM gpusort_limits.par ORDER BY c, id LIMIT 3000', 'gpusort.pool_quota=1', 'work_mem=64kB');
SELECT in_parts('SELECT id, c FROM gpusort_limits.par ORDER BY c, id LIMIT 3000', 'max_parallel_workers=0');
SELECT in_parts('SELECT id, c FROM gpusort_limits.par ORDER BY c, id LIMIT 3000', 'parallel_leader_participation=off');
SELECT in_parts('SELECT id, c FROM gpusort_limits.par ORDER BY c, id LIMIT 3000', 'gpusort.verify=on');
SELECT in_parts('SELECT id, c FROM gpusort_limits.par ORDER BY c, id LIMIT 3000', 'gpusort.inject_fault=verify');
SELECT in_parts('SELECT id, c FROM gpusort_limits.par ORDER BY c, id LIMIT 3000', 'gpusort.late_rows=on');
SELECT trims('SELECT * FROM gpusort_limits.par ORDER BY k, id LIMIT 2500') > 0 AS bounded,
	(executed('SELECT * FROM gpusort_limits.par ORDER BY k, id LIMIT 2500', 'GpuSort Collect') ->> 'Rows Collected')::int AS collected;

DROP SCHEMA gpusort_limits CASCADE;
