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

-- Members of a UNION ALL whose columns are cast, or more than scans
CREATE TABLE members AS SELECT * FROM unnest(ARRAY[
	'SELECT * FROM (SELECT id::int8 AS id, k, s FROM p5 UNION ALL SELECT i, i % 7, ''x'' FROM generate_series(1, 50) i UNION ALL SELECT k, id, d::text FROM fixed2) u ORDER BY k, id, s',
	'SELECT id, k FROM (SELECT id, k::numeric AS k FROM fixed UNION ALL SELECT v, k / 7.0 FROM p2) u ORDER BY k, id',
	'SELECT k FROM (SELECT k FROM fixed1 UNION ALL SELECT id FROM p1 WHERE v > 3 UNION ALL SELECT v FROM p2) u ORDER BY k',
	'SELECT k FROM (SELECT id AS k FROM fixed1 UNION ALL SELECT length(s) + v FROM p1 UNION ALL SELECT id FROM p5) u ORDER BY k DESC',
	'SELECT * FROM (SELECT id, lower(s) AS s, wide FROM p1 UNION ALL SELECT id, upper(s)::varchar(5), wide FROM p2) u ORDER BY s COLLATE "C", id',
	'SELECT * FROM (SELECT id, added, none FROM p UNION ALL SELECT v, wide::varchar(9), k::int FROM p3_a WHERE id % 2 = 0) u ORDER BY added COLLATE "C", none, id',
	-- not from pages: volatile, subplans, more than a scan
	'SELECT k FROM (SELECT k FROM fixed1 UNION ALL SELECT (id + random() * 0)::int FROM p1 UNION ALL SELECT max(id) FROM p2 GROUP BY v UNION ALL SELECT (SELECT count(*) FROM p5 WHERE p5.k < p1.k) FROM p1 WHERE id < 20) u ORDER BY k',
	'SELECT k FROM (SELECT k FROM fixed1 UNION ALL SELECT id FROM (SELECT id FROM p1 ORDER BY s LIMIT 9) s UNION ALL SELECT id FROM p1 JOIN fixed2 USING (id)) u ORDER BY k']) query;
SELECT query, (executed(query, 'GpuSort') ->> 'Rows From Pages')::int AS from_pages FROM members;
SELECT query, check_portal(query), check_portal(query, 'gpusort.inject_fault=codec'), check_portal(query, 'gpusort.inject_fault=memory', 'gpusort.enable_spill=off') FROM members;

-- What the planner would sort by partitions and merge, where it asks for no paths of ours: one sort of all rows
CREATE TABLE m (id int, k int8, v int4) PARTITION BY RANGE (id);
CREATE TABLE m1 PARTITION OF m FOR VALUES FROM (0) TO (3000);
CREATE TABLE m2 (v int4, k int8, id int);
ALTER TABLE m ATTACH PARTITION m2 FOR VALUES FROM (3000) TO (6000);
CREATE TABLE m3 PARTITION OF m FOR VALUES FROM (6000) TO (9000);
INSERT INTO m SELECT i, nullif(i * 7919::int8 % 4001, 17), i % 11 FROM generate_series(0, 8999) i;
CREATE INDEX ON m1 (k);
CREATE TABLE o AS SELECT i AS k, i % 7 AS w FROM generate_series(0, 4000, 2) i;
CREATE INDEX ON o (k);
VACUUM ANALYZE m, o;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_seqscan = off;
SELECT plan_lines('UPDATE m SET v = w FROM o WHERE m.k = o.k');
-- not for few rows, nor if it is switched off; then it is told why
SET gpusort.force = off;
SET gpusort.min_rows = 100000;
SELECT matches('UPDATE m SET v = w FROM o WHERE m.k = o.k', 'Merge Append');
RESET gpusort.min_rows;
SET gpusort.force = on;
CREATE FUNCTION updated(side text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	PERFORM set_config('gpusort.enabled', side, true);
	BEGIN
		UPDATE m SET v = w + 100 FROM o WHERE m.k = o.k;
		SELECT concat_ws(' ', count(*), sum(hashtextextended(m::text, 0))) INTO result FROM m;
		RAISE EXCEPTION USING ERRCODE = 'GP001';
	EXCEPTION WHEN SQLSTATE 'GP001' THEN
	END;
	RETURN result;
END $$;
SELECT updated('on') = updated('off') AS same;
-- a partition that is left out when the query begins
PREPARE pruned(int) AS UPDATE m SET v = w FROM o WHERE m.k = o.k AND m.id < $1;
SET plan_cache_mode = force_generic_plan;
SELECT matches('EXECUTE pruned(2000)', '\(GpuSort\)|Subplans Removed: 2');
BEGIN;
EXECUTE pruned(4000);
SELECT count(*) FROM m WHERE v <> id % 11;
ROLLBACK;
SET gpusort.enabled = off;
BEGIN;
EXECUTE pruned(4000);
SELECT count(*) FROM m WHERE v <> id % 11;
ROLLBACK;
SET gpusort.enabled = on;
RESET plan_cache_mode;
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_seqscan;

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
		('SELECT id, d FROM fixed ORDER BY k, id', 'Append'),
		('SELECT * FROM (SELECT id, k::numeric AS k FROM fixed UNION ALL SELECT v, k / 7.0 FROM p2) u ORDER BY k, id', 'Append')) q (query, pattern),
	(VALUES ('{}'::text[]), (ARRAY['enable_parallel_append=off']), (ARRAY['gpusort.pool_quota=1', 'work_mem=64kB', 'hash_mem_multiplier=1']),
		(ARRAY['gpusort.inject_fault=codec'])) s (settings)
WHERE (settings[1] IS DISTINCT FROM 'enable_parallel_append=off' OR query ~ 'fixed') AND NOT (query ~ 'numeric' AND settings[1] ~ 'quota|append');
SELECT together('SELECT id, rank() OVER (PARTITION BY v ORDER BY k, id) FROM p', 'Append');
SELECT together('SELECT id, rank() OVER (PARTITION BY v ORDER BY k, id) FROM p', 'Append', 'gpusort.inject_fault=codec');

DROP SCHEMA gpusort_append CASCADE;
