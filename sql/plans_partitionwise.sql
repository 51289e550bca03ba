-- Partitions that are joined and grouped one by one.
LOAD 'gpusort';
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET search_path = gpusort_test, public;
CREATE TABLE parts (k int8, v int4, s text COLLATE "C") PARTITION BY RANGE (k);
CREATE TABLE parts_few PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE parts_none PARTITION OF parts FOR VALUES FROM (10) TO (11);
CREATE TABLE parts_many PARTITION OF parts FOR VALUES FROM (11) TO (20000) PARTITION BY HASH (k);
CREATE TABLE parts_many_0 PARTITION OF parts_many FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_many_1 (s text COLLATE "C", v int4, k int8);
ALTER TABLE parts_many ATTACH PARTITION parts_many_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE parts_other PARTITION OF parts DEFAULT;
CREATE TABLE others (LIKE parts) PARTITION BY RANGE (k);
CREATE TABLE others_few PARTITION OF others FOR VALUES FROM (MINVALUE) TO (10);
CREATE TABLE others_none PARTITION OF others FOR VALUES FROM (10) TO (11);
CREATE TABLE others_many PARTITION OF others FOR VALUES FROM (11) TO (20000);
CREATE TABLE others_other PARTITION OF others DEFAULT;
INSERT INTO parts SELECT nullif(CASE WHEN i % 10 = 0 THEN i % 7 ELSE i * 7919 % 30011 END, 10), i % 300, md5((i % 800)::text) FROM generate_series(1, 30000) i;
INSERT INTO others SELECT nullif(i * 104729 % 30011, 10), i % 200, md5((i % 500)::text) FROM generate_series(1, 20000) i;
VACUUM ANALYZE parts, others;
SET enable_partitionwise_aggregate = on;
SET enable_partitionwise_join = on;

-- One sort costs less than a hash table for each partition, where there are many groups.
SELECT plan_lines('SELECT k, count(*) FROM parts GROUP BY k');
SET gpusort.enabled = off;
SELECT matches('SELECT k, count(*) FROM parts GROUP BY k', 'HashAggregate') > 1 AS hashed;
RESET gpusort.enabled;

-- The same rows, however they are grouped and joined
CREATE TABLE ways AS SELECT * FROM unnest(ARRAY[
	'SELECT k, count(*), max(v) FROM parts GROUP BY k ORDER BY k',
	'SELECT k, v, sum(v) FROM parts GROUP BY k, v HAVING count(*) > 1 ORDER BY k, v',
	'SELECT v, count(*), min(s) FROM parts GROUP BY v ORDER BY v',
	'SELECT s, k, array_agg(v ORDER BY v) FROM parts GROUP BY s, k ORDER BY s, k',
	'SELECT k, count(DISTINCT v) FROM parts GROUP BY k ORDER BY k DESC',
	'SELECT DISTINCT k, s FROM parts ORDER BY k, s',
	'SELECT DISTINCT ON (k) k, v, s FROM parts ORDER BY k, v, s',
	'SELECT k, rank() OVER (PARTITION BY k ORDER BY v, s) FROM parts ORDER BY k, 2',
	'SELECT p.k, p.v, o.v AS w FROM parts p JOIN others o USING (k) ORDER BY p.k, p.v, o.v',
	'SELECT p.k, count(*) FROM parts p JOIN others o USING (k) GROUP BY p.k ORDER BY p.k',
	'SELECT p.k, o.k AS l, count(*) FROM parts p FULL JOIN others o USING (k) GROUP BY p.k, o.k ORDER BY p.k, o.k',
	'SELECT p.k, p.v, p.s FROM parts p WHERE EXISTS (SELECT FROM others o WHERE o.k = p.k AND o.v < 20) ORDER BY p.k, p.v, p.s',
	'SELECT k FROM parts UNION SELECT k FROM others ORDER BY 1',
	'SELECT k, count(*) FROM parts WHERE k < 5 GROUP BY k ORDER BY k']) q;
SELECT name, q, check_rows(q, true, ARRAY['GpuSort'], '{gpusort.force=on}' || way)
FROM ways, (VALUES ('as it is', '{}'::text[]), ('no hashing', '{enable_hashagg=off,enable_hashjoin=off}'),
	('workers', '{max_parallel_workers_per_gather=2,parallel_setup_cost=0,parallel_tuple_cost=0.01,min_parallel_table_scan_size=0}')) w(name, way)
WHERE q !~ 'k < 5' OR name = 'no hashing';
DROP TABLE parts, others, ways;
