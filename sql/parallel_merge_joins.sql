-- Merge joins in parallel workers, which sort the inner side together.
SET gpusort.enable_join = off;
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
CALL have_workers();
SET gpusort.force = on;
SET gpusort.cost_key_collated = 0;
SET parallel_tuple_cost = 0.001;
SET enable_incremental_sort = off;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;

-- few values and NULLs on both sides, so that the inner side goes back to its mark
CREATE TABLE lefts WITH (parallel_workers = 2) AS
SELECT i AS id, nullif(hashint4(i) % 3000, 7) AS k, (i % 40)::int8 AS m, md5((i % 500)::text) COLLATE "C" AS t
FROM generate_series(1, 20000) i;
CREATE TABLE rights WITH (parallel_workers = 2) AS
SELECT i AS id, nullif(hashint4(-i) % 3000, 9) AS k, (i % 50)::int2 AS m, md5((i % 900)::text) COLLATE "C" AS t
FROM generate_series(1, 30000) i;
CREATE TABLE nobody (id int, k int) WITH (parallel_workers = 2);
ANALYZE lefts, rights, nobody;

-- It wins by its costs, unless a hash join may.
SELECT plan_lines('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m');
SELECT plan_lines('SELECT l.id, r.id FROM lefts l LEFT JOIN rights r ON l.t = r.t AND l.id < r.id WHERE l.k < 100');
SET enable_hashjoin = on;
SELECT shared('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m WHERE r.id > 20000');
-- ... whose table is larger than a cache
CREATE TABLE many WITH (parallel_workers = 2) AS SELECT r.* FROM rights r, generate_series(1, 4);
ANALYZE many;
SELECT shared('SELECT l.t, r.t FROM lefts l JOIN many r ON l.k = r.k AND l.m = r.m');
DROP TABLE many;
-- ... but by less than the planner would be told wrongly
SELECT shared('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m');
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT shared('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m');
RESET enable_mergejoin;
SET gpusort.enable_shared_sort = off;
SELECT shared('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m');
RESET gpusort.enable_shared_sort;
SET gpusort.pool_quota = 0;
SELECT shared('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m');
RESET gpusort.pool_quota;
SET gpusort.force = off;
SET gpusort.min_rows = 40000;
SELECT shared('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m');
RESET gpusort.min_rows;
SET gpusort.force = on;
-- Rows of the inner side that nobody has found a partner for are nobody's.
SELECT shared('SELECT l.id, r.id FROM lefts l FULL JOIN rights r ON l.k = r.k AND l.m = r.m');
-- nor without an encoding
SELECT shared('SELECT l.id, r.id FROM lefts l JOIN rights r ON ARRAY[l.k] = ARRAY[r.k] AND l.m = r.m');

-- The same rows.
SELECT together(query, 'Merge') FROM (VALUES
	('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m'),
	('SELECT l.id, r.id AS rid, r.t FROM lefts l JOIN rights r ON l.k = r.k WHERE l.id < 5000'),
	('SELECT l.id, r.id AS rid FROM lefts l LEFT JOIN rights r ON l.k = r.k AND l.m = r.m'),
	('SELECT l.id, r.id AS rid FROM lefts l LEFT JOIN rights r ON l.k = r.k AND l.m = r.m AND l.id % 3 = r.id % 3'),
	('SELECT l.id, r.id AS rid FROM lefts l RIGHT JOIN rights r ON l.k = r.k AND l.m = r.m'),
	('SELECT count(*), sum(l.id::int8 * r.id) FROM lefts l JOIN rights r ON l.m = r.m AND l.id < r.id'),
	('SELECT count(*), sum(l.id::int8 * r.id) FROM lefts l JOIN rights r ON l.t = r.t'),
	('SELECT l.id FROM lefts l WHERE EXISTS (SELECT FROM rights r WHERE r.k = l.k AND r.m = l.m AND r.id <> l.id)'),
	('SELECT l.id FROM lefts l WHERE NOT EXISTS (SELECT FROM rights r WHERE r.k = l.k AND r.m = l.m AND r.id <> l.id)'),
	('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.t = r.t AND l.k = r.k'),
	('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.t || ''x'' = r.t || ''x'' AND l.k + 1 = r.k + 1'),
	('SELECT l.m, count(*), sum(r.id) FROM lefts l JOIN rights r ON l.k = r.k GROUP BY l.m'),
	('SELECT a.id, b.id AS bid, c.id AS cid FROM lefts a JOIN rights b ON a.k = b.k AND a.m = b.m JOIN rights c ON b.id = c.id'),
	('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m WHERE l.id < 0')) q(query);
SELECT together('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m ORDER BY l.k, l.m, l.id, r.id', 'Merge');
SELECT together('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m ORDER BY r.id, l.id', 'Merge');
SELECT together('SELECT l.k, l.m FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m ORDER BY l.m DESC, l.k DESC NULLS LAST', 'Merge');
-- an outer side that comes in order
CREATE INDEX ON lefts (k, m);
SET enable_indexscan = on;
SET min_parallel_index_scan_size = 0;
SELECT together('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m', 'Merge.*Parallel Index Scan', 'random_page_cost=0.1');
SET enable_indexscan = off;
-- nothing on one side, or on both
SELECT together('SELECT l.id, r.id AS rid FROM lefts l JOIN nobody r ON l.k = r.k', 'Merge', 'gpusort.cost_startup=0');
SELECT together('SELECT l.id, r.id AS rid FROM lefts l LEFT JOIN nobody r ON l.k = r.k AND l.id > r.id', 'Merge', 'gpusort.cost_startup=0');
SELECT together('SELECT l.id, r.id AS rid FROM nobody r LEFT JOIN lefts l ON l.k = r.k', 'Merge', 'gpusort.cost_startup=0');
-- partitions, each joined by itself or not
CREATE TABLE split (id int, k int) PARTITION BY RANGE (k);
CREATE TABLE split_1 PARTITION OF split FOR VALUES FROM (MINVALUE) TO (0) WITH (parallel_workers = 2);
CREATE TABLE split_2 PARTITION OF split FOR VALUES FROM (0) TO (MAXVALUE) WITH (parallel_workers = 2);
INSERT INTO split SELECT id, k FROM rights WHERE k IS NOT NULL;
ANALYZE split;
SELECT together('SELECT a.id, b.id AS bid FROM split a JOIN split b ON a.k = b.k WHERE a.id < 3000', 'Merge', setting)
FROM unnest(ARRAY['enable_partitionwise_join=on', 'enable_partitionwise_join=off']) setting;

-- Under all kinds of circumstances.
SELECT setting, together('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k WHERE r.id % 10 = 1', 'Merge', setting),
	together('SELECT l.id, r.id AS rid FROM lefts l LEFT JOIN rights r ON l.t = r.t AND l.m = r.m WHERE l.id % 10 = 1', 'Merge', setting)
FROM unnest(ARRAY['parallel_leader_participation=off', 'max_parallel_workers=0', 'max_parallel_workers=1', 'max_parallel_workers_per_gather=4',
	'gpusort.pool_quota=1', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify',
	'gpusort.verify=on', 'work_mem=64kB', 'enable_material=off', 'geqo_threshold=2']) setting;
SELECT together('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.m = r.m AND l.t = r.t WHERE l.id % 10 = 1', 'Merge', 'gpusort.inject_fault=codec', 'work_mem=64kB',
	'parallel_leader_participation=off');

-- Not to the end, and again.
SELECT together('SELECT count(*) FROM (SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m LIMIT 1234) s', 'Limit');
SET enable_nestloop = on;
SET enable_material = off;
SELECT together('SELECT o, s.id, s.rid FROM generate_series(1, 5) o, (SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m OFFSET 0) s WHERE s.id % 100 < o', 'Nested Loop.*Merge');
SELECT together('SELECT few.id, (SELECT sum(rid) FROM (SELECT r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m LIMIT few.id * 10) s) > 0 FROM few', 'Merge');
RESET enable_material;
SET enable_nestloop = off;
SET plan_cache_mode = force_generic_plan;
PREPARE joined(int) AS SELECT count(*), sum(l.id::int8 * r.id) FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m WHERE r.id < $1;
SELECT shared('EXECUTE joined(1)');
EXECUTE joined(10000);
EXECUTE joined(0);
EXECUTE joined(30000);
SET gpusort.enabled = off;
DEALLOCATE joined;
PREPARE joined(int) AS SELECT count(*), sum(l.id::int8 * r.id) FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m WHERE r.id < $1;
EXECUTE joined(10000);
EXECUTE joined(0);
EXECUTE joined(30000);
RESET gpusort.enabled;
RESET plan_cache_mode;
BEGIN;
DECLARE c CURSOR FOR SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m ORDER BY l.id, r.id;
FETCH 2 FROM c;
ROLLBACK;
