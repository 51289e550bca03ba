-- What parallel workers can collect from: all kinds of partial paths.
SET gpusort.enable_join = off;
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
CALL have_workers();
SET max_parallel_workers_per_gather = 3;
SET min_parallel_index_scan_size = 0;
SET gpusort.force = on;
SET gpusort.cost_startup = 0;
SET gpusort.cost_row = 0;
SET gpusort.cost_emit = 0;
SET gpusort.cost_key_collated = 0;
SET enable_incremental_sort = off;

-- partitions, with columns at different places, and a dropped one
CREATE TABLE parts (id int, k int, t text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10000);
CREATE TABLE parts_2 (gone int, t text COLLATE "C", k int, id int);
ALTER TABLE parts_2 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (10000) TO (15000);
CREATE TABLE parts_3 PARTITION OF parts FOR VALUES FROM (15000) TO (40000);
CREATE TABLE parts_4 PARTITION OF parts FOR VALUES FROM (40000) TO (50000);
INSERT INTO parts SELECT i, hashint4(i) % 1000, CASE WHEN i % 5 > 0 THEN md5((i % 3000)::text) END
FROM generate_series(0, 39999) i;
ANALYZE parts;
SELECT plan_lines('SELECT * FROM parts ORDER BY k, id');
SELECT compare('SELECT * FROM parts ORDER BY k, id', 'Parallel Append');
SELECT compare('SELECT * FROM parts ORDER BY t DESC, id', 'Append', 'enable_parallel_append=off');
SELECT compare('SELECT id, t FROM parts WHERE k > 0 ORDER BY t, id', 'Parallel Append', 'gpusort.pool_quota=1');
SELECT compare('SELECT * FROM (SELECT id, k FROM parts UNION ALL SELECT id + 100000, k FROM par) s ORDER BY k, id', 'Parallel Append');

-- joins
SELECT compare('SELECT a.id, b.id AS bid, b.pad FROM parts a JOIN par b ON a.id = b.k ORDER BY b.pad, a.id, b.id',
	'Parallel Hash Join', 'enable_mergejoin=off', 'enable_nestloop=off');
SELECT compare('SELECT a.id, b.id AS bid, b.pad FROM parts a JOIN par b ON a.id = b.k ORDER BY b.pad, a.id, b.id',
	'Parallel Hash Join', 'enable_mergejoin=off', 'enable_nestloop=off', 'gpusort.pool_quota=1', 'work_mem=64kB');
SELECT compare('SELECT a.id, b.id AS bid FROM parts a LEFT JOIN par b ON a.id = b.id AND b.k = 7 ORDER BY a.k, a.id',
	'Hash', 'enable_parallel_hash=off', 'enable_mergejoin=off', 'enable_nestloop=off');
CREATE TABLE indexed WITH (parallel_workers = 2) AS TABLE par;
CREATE INDEX ON indexed (id);
VACUUM ANALYZE indexed;
SELECT compare('SELECT a.id, b.pad FROM parts a JOIN indexed b ON b.id = a.id ORDER BY b.pad, a.id',
	'Nested Loop', 'enable_hashjoin=off', 'enable_mergejoin=off');

-- indexes
SELECT compare('SELECT * FROM indexed WHERE id BETWEEN 400 AND 12000 ORDER BY pad, id', 'Parallel Index Scan',
	'enable_seqscan=off', 'enable_bitmapscan=off');
SELECT compare('SELECT * FROM indexed WHERE id BETWEEN 400 AND 12000 ORDER BY pad, id', 'Parallel Bitmap Heap Scan',
	'enable_seqscan=off', 'enable_indexscan=off');
SELECT compare('SELECT * FROM indexed WHERE id BETWEEN 400 AND 12000 ORDER BY pad, id', 'Parallel Bitmap Heap Scan',
	'enable_seqscan=off', 'enable_indexscan=off', 'gpusort.inject_fault=codec');
SELECT compare('SELECT id FROM indexed WHERE id > 100 ORDER BY -id', 'Parallel Index Only Scan', 'enable_seqscan=off', 'enable_bitmapscan=off');

-- functions and subqueries
CREATE FUNCTION safe(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE IMMUTABLE AS 'BEGIN RETURN $1 % 77; END';
SELECT compare('SELECT safe(k), id FROM par ORDER BY safe(k), id');
SELECT compare('SELECT id, x FROM (SELECT id, k + id AS x, pad FROM par WHERE n IS NULL) s ORDER BY x, id');
SELECT compare('SELECT id, (k, pad)::text AS r FROM par ORDER BY k, id');

-- rows that are toasted, and rows without columns
CREATE TABLE wide WITH (parallel_workers = 2) AS
SELECT i AS id, string_agg(md5((i * 100 + j)::text), '') COLLATE "C" AS t
FROM generate_series(1, 2000) i, generate_series(1, 100) j GROUP BY i;
CREATE TABLE no_columns WITH (parallel_workers = 2) AS SELECT FROM generate_series(1, 1000);
ANALYZE wide, no_columns;
SELECT compare('SELECT id, md5(t) FROM wide ORDER BY t, id');
SELECT compare('SELECT id, md5(t) FROM wide ORDER BY substr(t, 5), id', '', 'gpusort.pool_quota=1');
SELECT compare('SELECT 1 AS one FROM no_columns ORDER BY ctid::text');

-- types
CREATE TABLE typed WITH (parallel_workers = 2) AS
SELECT i AS id, h::int2 % 100 AS s, h::int8 * 12345678901 AS b, h / 3.0 AS n, h::float8 / 7 AS f, md5(h::text)::uuid AS u,
	'2000-01-01'::timestamptz + h * interval '1 second' AS ts, decode(md5(h::text), 'hex') AS raw, md5(h::text) AS txt,
	CASE WHEN h % 3 > 0 THEN h % 2 = 0 END AS bo
FROM (SELECT i, hashint4(i) % 30000 AS h FROM generate_series(1, 20000) i) s;
ANALYZE typed;
SELECT key, compare(format('SELECT * FROM typed ORDER BY %s, id', key))
FROM unnest(ARRAY['s', 'b DESC', 'n', 'f', 'u DESC', 'ts', 'raw', 'txt', 'txt COLLATE "C"', 'bo NULLS FIRST', 'bo, s, u, raw DESC']) key;
SELECT key, compare(format('SELECT * FROM typed ORDER BY %s, id', key), '', 'gpusort.pool_quota=1', 'max_parallel_workers=1')
FROM unnest(ARRAY['s', 'n', 'txt', 'bo, s, u, raw DESC']) key;
