-- Sorts of what an Append returns: partitions and members of a UNION ALL, read one after the other,
-- each page by page with columns of its own.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_append;
SET search_path = gpusort_append, gpusort_test, gpusort_parallel, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET gpusort.late_rows = off;
SET jit = off;

-- Partitions whose columns lie at different places, one of partitions itself; columns dropped and added;
-- empty ones; one that is read by an index
CREATE TABLE p (id int, k int8, s text COLLATE "C", v int4, wide text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1200);
CREATE TABLE p2 (wide text, gone int, v int4, s text COLLATE "C", k int8, id int);
ALTER TABLE p2 DROP COLUMN gone;
ALTER TABLE p ATTACH PARTITION p2 FOR VALUES FROM (1200) TO (2400);
CREATE TABLE p3 PARTITION OF p FOR VALUES FROM (2400) TO (4800) PARTITION BY LIST (v);
CREATE TABLE p3_a (k int8, gone text, gone_too int, v int4, id int, wide text, s text COLLATE "C");
ALTER TABLE p3_a DROP COLUMN gone, DROP COLUMN gone_too;
ALTER TABLE p3 ATTACH PARTITION p3_a FOR VALUES IN (0, 1, 2, 3);
CREATE TABLE p3_b PARTITION OF p3 DEFAULT;
CREATE TABLE p4 PARTITION OF p FOR VALUES FROM (4800) TO (4900);
CREATE TABLE p5 PARTITION OF p DEFAULT;
CREATE FUNCTION filled(f int, t int) RETURNS TABLE (id int, k int8, s text, v int4, wide text) LANGUAGE sql AS $$
	SELECT i, nullif(i * 7919::int8 % 4001, 5) - 2000, nullif(left(md5((i % 900)::text), i % 20), ''), i % 11,
		CASE WHEN i % 7 = 0 THEN (SELECT string_agg(md5((i * n)::text), '') FROM generate_series(1, i % 200) n) END
	FROM generate_series(f, t) i
$$;
INSERT INTO p SELECT * FROM filled(0, 2399);
ALTER TABLE p ADD COLUMN added text DEFAULT 'added later', ADD COLUMN none int;
INSERT INTO p SELECT *, 'not so late', id FROM filled(2400, 4799);
INSERT INTO p SELECT * FROM filled(5400, 5800);
DELETE FROM p WHERE id % 17 = 3;
CREATE TABLE fixed (id int, k int8, d date) PARTITION BY HASH (id);
CREATE TABLE fixed1 PARTITION OF fixed FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE fixed2 (d date, k int8, id int);
ALTER TABLE fixed ATTACH PARTITION fixed2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO fixed SELECT i, i * 7919 % 9007, date '2000-01-01' + i % 1000 FROM generate_series(1, 9000) i;
VACUUM ANALYZE p, fixed;

-- What it looks like, and that all rows but the first of each partition come straight from their pages
SELECT plan_lines('SELECT * FROM p ORDER BY k, id', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
CREATE TABLE queries AS SELECT * FROM unnest(ARRAY[
	'SELECT * FROM fixed ORDER BY k, id',
	'SELECT id, d FROM fixed ORDER BY k DESC, id',
	'SELECT id FROM fixed WHERE id % 3 = 0 ORDER BY d, k + 1',
	'SELECT * FROM p3_b ORDER BY k, id',
	'SELECT id, k, s, v, wide FROM p WHERE id < 1000 OR id BETWEEN 1800 AND 3000 ORDER BY s, id',
	'SELECT tableoid::regclass AS t, id FROM p WHERE id > 1800 ORDER BY t, k, id',
	'SELECT id, p FROM p ORDER BY k, id',
	'SELECT id, lower(s), added FROM p WHERE id BETWEEN 2000 AND 5500 ORDER BY lower(s) COLLATE "C" DESC, none, id',
	'SELECT * FROM (SELECT id, k FROM fixed UNION ALL SELECT v, id FROM p UNION ALL SELECT i, -i FROM generate_series(1, 100) i) u ORDER BY k, id',
	'SELECT id, (SELECT max(d) FROM fixed f WHERE f.id = fixed.id) AS m FROM fixed WHERE id < 20 ORDER BY m, id',
	'SELECT * FROM fixed WHERE id < 0 ORDER BY k']) query;
SELECT query, (executed(query, 'GpuSort') ->> 'Rows From Pages')::int AS from_pages FROM queries;
SELECT query, check_portal(query) FROM queries;

SELECT query, check_portal(query, VARIADIC settings) FROM unnest(ARRAY['SELECT * FROM p ORDER BY s, k, id', 'SELECT wide, id FROM p ORDER BY wide DESC, id',
		'SELECT id, k + v AS sum, added FROM p ORDER BY v, sum, id', 'SELECT id, k FROM fixed ORDER BY k, id']) query,
	(VALUES (ARRAY['gpusort.pool_quota=1', 'work_mem=64kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1', 'gpusort.enable_spill=off']), (ARRAY['gpusort.inject_fault=codec']),
		(ARRAY['gpusort.inject_fault=memory']), (ARRAY['gpusort.verify=on'])) s (settings);

-- Sorts that drop rows: the key of those that come later lies elsewhere in each partition, or its
-- place varies
CREATE TABLE bounded_queries AS SELECT * FROM unnest(ARRAY[
	'SELECT * FROM fixed ORDER BY id DESC LIMIT 10', 'SELECT id FROM fixed ORDER BY d, id LIMIT 1500',
	'SELECT id, v FROM p ORDER BY v DESC, id LIMIT 1000', 'SELECT * FROM p ORDER BY k, id LIMIT 100',
	'SELECT id, k FROM (SELECT id, k FROM fixed2 UNION ALL SELECT id, k FROM fixed1 UNION ALL SELECT id, k FROM p2 UNION ALL SELECT k, id FROM p3_a) u ORDER BY k, id LIMIT 2000']) query;
SELECT query, (executed(query, 'GpuSort') ->> 'Trims')::int > 0 AS bounded FROM bounded_queries;
SELECT query, check_portal(query) FROM bounded_queries;

-- Partitions that turn out at run time not to be wanted; sorts that are done again, of others each time
SET plan_cache_mode = force_generic_plan;
PREPARE between_them (int, int) AS SELECT id, k FROM p WHERE id BETWEEN $1 AND $2 ORDER BY k, id LIMIT 3;
EXECUTE between_them (1190, 1210);
EXECUTE between_them (2400, 4899);
EXECUTE between_them (4810, 4820);
SELECT (executed('EXECUTE between_them (1100, 2500)', 'GpuSort') ->> 'Rows From Pages')::int;
RESET plan_cache_mode;
SELECT check_rows(query, true, ARRAY['GpuSort', 'Append'], '{}') FROM unnest(ARRAY[
	'SELECT l.n, r.* FROM (VALUES (900, 100), (2390, 3), (2390, 3000), (4800, 1), (0, 9999)) l (n, m), LATERAL (SELECT id, k, s FROM p WHERE id BETWEEN n AND n + m ORDER BY k, id OFFSET 0) r',
	'SELECT l.n, r.* FROM generate_series(1, 3) l (n), LATERAL (SELECT id, k % n AS x, s FROM p WHERE id % n = 0 ORDER BY x, id LIMIT 700 * n) r']) query;

-- A cursor that goes back, and one below a row lock
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, k FROM fixed ORDER BY k, id;
FETCH 2 FROM c;
FETCH LAST FROM c;
FETCH BACKWARD 2 FROM c;
MOVE FIRST IN c;
FETCH 1 FROM c;
COMMIT;
SELECT id, k FROM p WHERE id > 2390 ORDER BY k, id LIMIT 3 FOR UPDATE;

-- Read by workers that share the partitions, some each, or take them in turn
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET gpusort.cost_gather = 0;
SET max_parallel_workers_per_gather = 2;
ALTER TABLE p2 SET (parallel_workers = 0);
SELECT query, total(node, 'Rows From Pages') BETWEEN rows - 3 * children AND rows - children AS from_pages
FROM (VALUES ('SELECT id, nullif(k, 5) FROM p ORDER BY k % 100, id', 'GpuSort Collect', 4895, 5),
		('SELECT id, rank() OVER (PARTITION BY k % 10 ORDER BY id) FROM fixed', 'GpuSort Shared', 9000, 2)) q (query, name, rows, children),
	executed(query, name) node;
SELECT query, check_rows(query, true, ARRAY[pattern, 'GpuSort Collect'], settings)
FROM (VALUES ('SELECT * FROM p ORDER BY s, k, id', 'Parallel Append'), ('SELECT id, v, wide FROM p WHERE id > 500 ORDER BY v, id', 'Append'),
		('SELECT id, d FROM fixed ORDER BY k, id', 'Append')) q (query, pattern),
	(VALUES ('{}'::text[]), (ARRAY['enable_parallel_append=off']), (ARRAY['gpusort.pool_quota=1', 'work_mem=64kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.inject_fault=codec'])) s (settings)
WHERE settings[1] IS DISTINCT FROM 'enable_parallel_append=off' OR query ~ 'fixed';
SELECT together('SELECT id, rank() OVER (PARTITION BY v ORDER BY k, id) FROM p', 'Append');
SELECT together('SELECT id, rank() OVER (PARTITION BY v ORDER BY k, id) FROM p', 'Append', 'gpusort.inject_fault=codec');

DROP SCHEMA gpusort_append CASCADE;
