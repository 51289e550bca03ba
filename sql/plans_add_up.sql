-- Costs that add up: no node above a sort of ours is shown to cost less than the node below it, but a Limit.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_add_up;
SET search_path = gpusort_add_up, gpusort_test, public;
CREATE TABLE many AS SELECT i AS id, i * 7919::int8 % 100003 AS k, i % 3 AS few, md5((i % 50000)::text) AS s, i * 31::int8 % 60007 AS o
FROM generate_series(1, 100000) i;
CREATE INDEX many_o ON many (o);
CREATE TABLE parted (k int8, v int) PARTITION BY HASH (k);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT k, few FROM many;
ANALYZE many, parted;
CREATE FUNCTION shapes() RETURNS SETOF text LANGUAGE sql AS $$ SELECT unnest(ARRAY[
	'SELECT k, count(*) FROM many GROUP BY k',
	'SELECT s, sum(k) FROM many GROUP BY s HAVING count(*) > 1',
	'SELECT s, sum(k) FROM many GROUP BY s ORDER BY 2 LIMIT 10',
	'SELECT * FROM (SELECT k, count(*) FROM many GROUP BY k OFFSET 0) x JOIN many USING (k)',
	'SELECT (SELECT count(*) FROM (SELECT DISTINCT k FROM many OFFSET 0) x)',
	'SELECT DISTINCT k FROM many',
	'SELECT DISTINCT ON (s) s, id FROM many ORDER BY s, id',
	'SELECT DISTINCT s FROM many LIMIT 100',
	'SELECT k FROM many UNION SELECT o FROM many',
	'SELECT k FROM many INTERSECT SELECT o FROM many',
	'SELECT k FROM many EXCEPT SELECT o FROM many ORDER BY k LIMIT 5',
	'SELECT count(DISTINCT k), count(DISTINCT s) FROM many',
	'SELECT few, count(DISTINCT k) FROM many GROUP BY few',
	'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY k) FROM many',
	'SELECT few, percentile_disc(0.9) WITHIN GROUP (ORDER BY k), mode() WITHIN GROUP (ORDER BY k) FROM many GROUP BY few',
	'SELECT array_agg(id ORDER BY s) FROM many GROUP BY few',
	'SELECT rank() OVER (PARTITION BY few ORDER BY k), sum(k) OVER (PARTITION BY s) FROM many',
	'SELECT * FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY id) AS n FROM many) x WHERE n = 1 ORDER BY s LIMIT 10',
	'SELECT count(*) FROM many a JOIN many b ON a.k = b.o',
	'SELECT * FROM many a LEFT JOIN many b USING (k) WHERE EXISTS (SELECT FROM many c WHERE c.o = a.k) ORDER BY a.s',
	'SELECT a.s, count(*) FROM many a JOIN many b ON a.k = b.o JOIN parted p ON p.k = a.id GROUP BY a.s ORDER BY 2 DESC LIMIT 3',
	'SELECT a.id FROM many a JOIN LATERAL (SELECT max(v) FROM parted p WHERE p.k = a.k) p ON true ORDER BY a.k LIMIT 10',
	'SELECT k, sum(v) FROM parted GROUP BY k',
	'SELECT * FROM parted a JOIN parted b USING (k) ORDER BY k',
	'SELECT few, k, count(*) FROM many GROUP BY ROLLUP (few, k)',
	'INSERT INTO parted SELECT k, count(*) FROM many GROUP BY k']) $$;
CREATE FUNCTION ours(query text) RETURNS bool LANGUAGE sql AS $$ SELECT matches(query, 'GpuSort') > 0 $$;
CREATE FUNCTION amiss(label text) RETURNS TABLE (settings text, shapes int8, ours bool, amiss text) LANGUAGE sql AS $$
	SELECT label, count(*), count(*) FILTER (WHERE ours(q)) >= 20, string_agg((SELECT string_agg(c, ', ') FROM costs_amiss(q) c), '; ')
	FROM shapes() q
$$;
\pset null -
SELECT * FROM amiss('as it is');
SET max_parallel_workers_per_gather = 0;
SELECT * FROM amiss('one process');
-- this one was a GroupAggregate that cost less than the sort below it
SELECT line ~ 'GroupAggregate' AS grouped, matches('SELECT k, count(*) FROM many GROUP BY k', 'GpuSort') > 0 AS sorted
FROM plan_lines('SELECT k, count(*) FROM many GROUP BY k') line LIMIT 1;
RESET max_parallel_workers_per_gather;
SET gpusort.force = on;
SELECT * FROM amiss('forced');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET gpusort.cost_gather = 0;
SELECT * FROM amiss('forced, workers for nothing');
RESET gpusort.force;
SELECT * FROM amiss('workers for nothing');
SET enable_partitionwise_aggregate = on;
SET enable_partitionwise_join = on;
SET enable_hashagg = off;
SET enable_hashjoin = off;
SELECT * FROM amiss('partitions, and no hash tables');
DROP SCHEMA gpusort_add_up CASCADE;
