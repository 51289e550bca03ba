-- Merge joins above our sorts, chosen by cost.
SET gpusort.enable_join = off;
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
-- few values and NULLs on both sides, so that the inner side goes back to its mark
CREATE TABLE lefts AS
SELECT i AS id, nullif(random('left', i, 9000), 7)::int AS k, (i % 40)::int8 AS m, md5((i % 500)::text) COLLATE "C" AS t, (i % 700)::numeric AS n
FROM generate_series(1, 20000) i;
CREATE TABLE rights AS
SELECT i AS id, nullif(random('right', i, 9000), 9)::int AS k, (i % 50)::int2 AS m, md5((i % 900)::text) COLLATE "C" AS t, (i % 900)::numeric(8, 2) AS n
FROM generate_series(1, 30000) i;
CREATE TABLE few AS SELECT id, k, m FROM rights WHERE id <= 100;
CREATE INDEX lefts_k ON lefts (k);
CREATE INDEX rights_k_m ON rights (k, m);
VACUUM ANALYZE lefts;
VACUUM ANALYZE rights;
VACUUM ANALYZE few;

-- It wins against a hash table of many rows, not of few; and is not thought of where it can't be
CREATE TABLE pairs AS SELECT i AS id, random('pairs', i, 100000) AS k FROM generate_series(1, 100000) i;
VACUUM ANALYZE pairs;
SELECT plan_lines('SELECT a.id, b.id FROM pairs a JOIN pairs b ON a.k = b.id');
SELECT plan_lines('SELECT a.id, b.id FROM pairs a LEFT JOIN pairs b ON a.k = b.id');
SELECT matches('SELECT l.id, r.id FROM lefts l JOIN few r ON l.id = r.id', 'Merge|GpuSort');
SELECT setting, check_rows('SELECT l.id, r.m FROM lefts l JOIN rights r ON l.id = r.id', false, ARRAY['^(Hash|Merge) Join\n.*\n *->  (Seq|Sort)'], ARRAY[setting])
FROM unnest(ARRAY['enable_mergejoin=off', 'gpusort.min_rows=50000', 'gpusort.enable_order_by=off', 'enable_sort=off']) setting;

-- Nor is it made where reading and sorting both sides costs more than a join that there is
SET client_min_messages = debug2;
EXPLAIN (COSTS OFF) SELECT l.id, r.id FROM few l JOIN rights r ON l.k = r.k AND l.m = r.m WHERE l.id < 5;
SET gpusort.force = on;
EXPLAIN (COSTS OFF) SELECT l.id, r.id FROM few l JOIN rights r ON l.k = r.k AND l.m = r.m WHERE l.id < 5;
RESET gpusort.force;
SET client_min_messages = warning;

-- All types of joins, with one key and with several, and conditions that are compared apart
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
CREATE FUNCTION merged(query text, pattern text DEFAULT '.', VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT check_rows(query, query ~ 'ORDER BY [^)]*$', ARRAY['Merge (\w+ )*Join\n( +Merge.*\n| +Join Filter.*\n)+ *->  Custom Scan \(GpuSort\)', pattern], settings)
$$;
SELECT join_type, condition, merged(format('SELECT l.id, r.id AS rid FROM lefts l %s JOIN rights r ON %s', join_type, condition))
FROM unnest(ARRAY['INNER', 'LEFT', 'RIGHT', 'FULL']) join_type,
	unnest(ARRAY['l.k = r.k', 'l.k = r.k AND l.m = r.m', 'l.m = r.m AND l.t = r.t', 'l.n = r.n AND l.t = r.t', 'l.id = r.id']) condition;
SELECT join_type, condition, merged(format('SELECT l.id, r.id AS rid FROM lefts l %s JOIN rights r ON %s', join_type, condition))
FROM unnest(ARRAY['INNER', 'LEFT', 'RIGHT']) join_type,
	unnest(ARRAY['l.k = r.k AND l.id < r.id', 'l.k = r.k AND l.m = r.m AND l.id % 2 = 0', 'l.k = r.k AND r.id % 3 = 0 AND l.id + r.id > 100']) condition;
SELECT inside, condition, merged(format('SELECT id, k FROM lefts l WHERE %s (SELECT FROM rights r WHERE %s)', inside, condition)),
	merged(format('SELECT id, k FROM rights r WHERE %s (SELECT FROM lefts l WHERE %s)', inside, condition))
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) inside,
	unnest(ARRAY['l.k = r.k', 'l.k = r.k AND l.m = r.m', 'l.k = r.k AND l.id < r.id', 'l.t = r.t AND l.id % 100 = r.m']) condition;
-- ... of which a full join that merges could not compare one
SELECT matches('SELECT l.id, r.id FROM lefts l FULL JOIN rights r ON l.k = r.k AND l.m = 5', 'Merge');

-- Keys that are expressions, of other types than the columns', of collations, or equal to a constant
SELECT merged(q) FROM unnest(ARRAY[
	'SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k + 1 = r.k AND lower(l.t) = upper(r.t) || ''x''',
	'SELECT l.id, r.id AS rid FROM lefts l LEFT JOIN rights r ON l.k / 2 = r.m AND l.id = r.id',
	'SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.id = r.n',
	'SELECT l.id, r.id AS rid FROM lefts l LEFT JOIN rights r ON l.t COLLATE "en-x-icu" = r.t AND l.id = r.id',
	'SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.id = r.id AND l.m = r.m WHERE l.m = 7 OR l.k > 10',
	'SELECT l, r FROM lefts l JOIN rights r ON l.id = r.id',
	'SELECT a.id, b.id AS bid FROM lefts a JOIN lefts b ON a.k = b.id']) q;

-- The order is good for what is above, and for other joins
SELECT plan_lines('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k ORDER BY l.k DESC NULLS LAST');
SELECT plan_lines('SELECT l.id, count(*) FROM lefts l JOIN rights r USING (id) JOIN rights s USING (id) GROUP BY l.id');
SELECT merged(q) FROM unnest(ARRAY[
	'SELECT l.k, l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k ORDER BY l.k, l.id, r.id',
	'SELECT l.m, l.t, count(*), sum(r.id) FROM lefts l JOIN rights r ON l.m = r.m AND l.t = r.t GROUP BY l.m, l.t ORDER BY l.t DESC, l.m',
	'SELECT id, count(*) FROM lefts JOIN rights USING (id) JOIN rights s USING (id) GROUP BY id ORDER BY id',
	'SELECT DISTINCT l.k FROM lefts l JOIN rights r ON l.k = r.k ORDER BY l.k',
	'SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m ORDER BY l.id, r.id OFFSET 10 LIMIT 1000',
	'SELECT l.id, row_number() OVER (PARTITION BY l.k ORDER BY l.id, r.id) FROM lefts l JOIN rights r ON l.k = r.k ORDER BY l.id, 2']) q;

-- One side comes in order
SET enable_indexscan = on;
SELECT q, merged(q, 'Index (Only )?Scan', 'enable_seqscan=off', 'enable_bitmapscan=off') FROM unnest(ARRAY[
	'SELECT l.id, r.id AS rid FROM lefts l JOIN (SELECT * FROM rights OFFSET 0) r ON l.k = r.k',
	'SELECT l.id, r.id AS rid FROM (SELECT * FROM lefts OFFSET 0) l LEFT JOIN rights r ON l.k = r.k',
	'SELECT l.id, r.id AS rid FROM (SELECT * FROM lefts OFFSET 0) l FULL JOIN rights r ON l.k = r.k AND l.m = r.m',
	'SELECT l.id, r.id AS rid FROM lefts l RIGHT JOIN (SELECT * FROM rights OFFSET 0) r ON l.k = r.k AND l.m = r.m',
	'SELECT l.id, r.id AS rid FROM lefts l JOIN (SELECT * FROM rights OFFSET 0) r ON l.k = r.k AND l.m = r.m AND l.id < 5000']) q;
SELECT matches('SELECT l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k', 'GpuSort');
SET enable_indexscan = off;

-- Under all kinds of circumstances
SELECT setting, merged('SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k', '.', setting),
	merged('SELECT l.id, r.id AS rid FROM lefts l FULL JOIN rights r ON l.t = r.t AND l.m = r.m', '.', setting)
FROM unnest(ARRAY['gpusort.pool_quota=1', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify', 
	'gpusort.verify=on', 'work_mem=64kB', 'enable_material=off', 'geqo_threshold=2', 'gpusort.force=on']) setting;
SELECT merged('SELECT few.id, (SELECT sum(rid) FROM (SELECT r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.id > few.k LIMIT few.id) s) > 0 FROM few WHERE id < 4', 'SubPlan');
SELECT merged('SELECT few.id, s.rid FROM few, LATERAL (SELECT r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.id + r.id = few.id OFFSET 0) s WHERE few.id < 4', '.', 'enable_nestloop=on');
SELECT merged('SELECT few.id, s.rid FROM few JOIN (SELECT r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k OFFSET 0) s ON few.id > s.rid', 'Nested Loop', 'enable_nestloop=on', 'enable_material=off');
SELECT merged('SELECT l.id, r.id AS rid FROM lefts l LEFT JOIN (rights r JOIN few ON r.k = few.k AND current_user = ''nobody'') ON l.k = r.k', '.', 'gpusort.force=on');
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT l.k, l.id, r.id FROM lefts l JOIN rights r ON l.k = r.k ORDER BY l.k, l.id, r.id;
FETCH 3 FROM c;
MOVE 100 IN c;
FETCH BACKWARD 2 FROM c;
ROLLBACK;
BEGIN;
WITH locked AS (SELECT l.id FROM lefts l JOIN rights r ON l.id = r.id FOR UPDATE) SELECT count(*), sum(id) FROM locked;
UPDATE lefts l SET m = r.m FROM rights r WHERE l.id = r.id AND l.t < r.t;
SELECT sum(id * m) FROM lefts;
ROLLBACK;
BEGIN;
SET LOCAL gpusort.enabled = off;
UPDATE lefts l SET m = r.m FROM rights r WHERE l.id = r.id AND l.t < r.t;
SELECT sum(id * m) FROM lefts;
ROLLBACK;

-- Partitions, joined each by itself or all together
CREATE TABLE split (id int, k int) PARTITION BY RANGE (k);
CREATE TABLE split_1 PARTITION OF split FOR VALUES FROM (MINVALUE) TO (5000);
CREATE TABLE split_2 (k int, id int);
ALTER TABLE split ATTACH PARTITION split_2 FOR VALUES FROM (5000) TO (MAXVALUE);
INSERT INTO split SELECT id, k FROM rights WHERE k IS NOT NULL;
ANALYZE split;
SELECT setting, merged('SELECT a.id, b.id AS bid FROM split a JOIN split b ON a.k = b.k WHERE a.id < 9000', '.', setting)
FROM unnest(ARRAY['enable_partitionwise_join=on', 'enable_partitionwise_join=off']) setting;

-- Workers collect the rows
CALL gpusort_parallel.have_workers();
SET parallel_tuple_cost = 10;
SET gpusort.enable_shared_sort = off;
SELECT merged(q, 'Merge.*GpuSort\).*GpuSort Collect.*GpuSort\).*GpuSort Collect') FROM unnest(ARRAY[
	'SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k AND l.m = r.m',
	'SELECT l.id, r.id AS rid FROM lefts l FULL JOIN rights r ON l.k = r.k AND l.m = r.m',
	'SELECT l.id, r.id AS rid FROM lefts l JOIN rights r ON l.k = r.k ORDER BY l.k, l.id, r.id']) q;
