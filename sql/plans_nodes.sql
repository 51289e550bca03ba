-- Sorts that the planner puts below other nodes, and where sorted rows go.
SET gpusort.enable_join = off;
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_plan, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_hashagg = off;
SET enable_incremental_sort = off;

-- merge joins: duplicates on both sides need mark and restore
SELECT lines('SELECT t.id, u.id FROM t JOIN u ON t.a = u.a');
SELECT compare('SELECT t.id, u.id FROM t JOIN u ON t.a = u.a ORDER BY t.id, u.id');
SELECT compare('SELECT count(*), sum(t.id), sum(u.id), sum(t.id * u.id) FROM t JOIN u ON t.a = u.a');
SELECT compare('SELECT count(*), sum(t.id * u.id) FROM t JOIN u ON t.a = u.a', 'enable_material=off');
SELECT compare('SELECT t.id, u.id FROM t LEFT JOIN u ON t.a = u.a AND t.b = u.b ORDER BY t.id, u.id');
SELECT compare('SELECT t.id, u.id FROM t RIGHT JOIN u ON t.a = u.a AND t.b = u.b ORDER BY t.id, u.id');
SELECT compare('SELECT t.id, u.id FROM t FULL JOIN u ON t.a = u.a AND t.b = u.b ORDER BY t.id, u.id');
SELECT compare('SELECT t.id, u.id FROM t FULL JOIN u ON t.a % 5 = u.a % 7 AND t.id = u.id ORDER BY t.id, u.id');
SELECT compare('SELECT t.id FROM t WHERE EXISTS (SELECT FROM u WHERE u.a = t.a AND u.n = 3) ORDER BY t.id');
SELECT compare('SELECT t.id FROM t WHERE NOT EXISTS (SELECT FROM u WHERE u.a = t.a AND u.b = t.b) ORDER BY t.id');
SELECT compare('SELECT t.id, u.id, v.id FROM t JOIN u ON t.b = u.b JOIN u v ON v.a = u.a WHERE t.id < 40 AND v.id < 100 ORDER BY 1, 2, 3');
-- both sides sorted by one key, and no sort for the result
SELECT compare('SELECT t.a, count(*), sum(u.id) FROM t JOIN u ON t.a = u.a GROUP BY t.a ORDER BY t.a');

-- window functions with two different orders
SELECT lines('SELECT rank() OVER (ORDER BY a), rank() OVER (PARTITION BY b ORDER BY d DESC) FROM t');
SELECT compare('SELECT id, rank() OVER (ORDER BY a), rank() OVER (PARTITION BY b ORDER BY d DESC) FROM t ORDER BY id');
SELECT compare('SELECT id, row_number() OVER (ORDER BY a DESC NULLS LAST, id), lag(id) OVER (PARTITION BY b ORDER BY n, id) FROM t ORDER BY id');
SELECT compare('SELECT id, sum(id) OVER (PARTITION BY a ORDER BY id ROWS 3 PRECEDING), count(*) OVER (PARTITION BY a) FROM t ORDER BY id');

-- grouping, DISTINCT, ordered aggregates
SELECT lines('SELECT a, count(*) FROM t GROUP BY a');
SELECT compare('SELECT a, count(*), sum(id) FROM t GROUP BY a ORDER BY a');
SELECT compare('SELECT a, b, count(*) FROM t GROUP BY a, b HAVING count(*) > 1 ORDER BY a, b');
SELECT compare('SELECT a, b, count(*) FROM t GROUP BY GROUPING SETS ((a, b), (b), ()) ORDER BY a, b, count(*)');
SELECT compare('SELECT DISTINCT a FROM t ORDER BY a');
SELECT compare('SELECT DISTINCT n, b FROM t ORDER BY n DESC, b NULLS FIRST');
SELECT compare('SELECT DISTINCT ON (b) b, id FROM t ORDER BY b, id DESC');
-- from 16 on, the aggregate's order is a sort of the plan
SELECT replace(compare('SELECT count(DISTINCT a), array_agg(id ORDER BY d, id) FROM t'), 'no sort', 'our sort') AS compare;

-- set operations
SELECT compare('SELECT a FROM t UNION SELECT a FROM u ORDER BY a');
SELECT compare('SELECT a, b FROM t EXCEPT SELECT a, b FROM u ORDER BY a, b');
SELECT compare('SELECT a, b FROM t INTERSECT ALL SELECT a, b FROM u ORDER BY b, a');
SELECT compare('(SELECT id FROM t ORDER BY a, id LIMIT 20) UNION ALL (SELECT id FROM u ORDER BY b DESC, id LIMIT 20)');
SELECT compare('SELECT a, id FROM t UNION ALL SELECT a, -id FROM u ORDER BY 1 DESC, 2');

-- subqueries and CTEs
SELECT compare('SELECT * FROM (SELECT id, a FROM t ORDER BY a, id OFFSET 5) s WHERE id % 3 = 0');
SELECT compare('WITH c AS MATERIALIZED (SELECT id, b FROM t ORDER BY b, id LIMIT 500) SELECT * FROM c UNION ALL SELECT * FROM c');
SELECT compare('WITH RECURSIVE r (step, id) AS (SELECT 1, 0 UNION ALL SELECT step + 1, s.id FROM r, LATERAL (SELECT t.id FROM t WHERE t.id > r.id ORDER BY t.n DESC, t.id LIMIT 1) s WHERE step < 15) SELECT * FROM r',
	'enable_nestloop=on');

-- rescans with other parameters, and with the same
SELECT compare('SELECT o.id, s.id FROM (SELECT * FROM u WHERE id <= 30) o, LATERAL (SELECT t.id FROM t WHERE t.a = o.a ORDER BY t.b, t.id LIMIT 3) s ORDER BY 1, 2',
	'enable_nestloop=on', 'enable_memoize=off');
SELECT compare('SELECT o.id, s.id FROM (SELECT * FROM u WHERE id <= 30) o LEFT JOIN LATERAL (SELECT t.id FROM t WHERE t.id > o.a * 10 ORDER BY t.d, t.id OFFSET o.id % 4) s ON s.id % 50 = 0 ORDER BY 1, 2',
	'enable_nestloop=on', 'enable_memoize=off');
SELECT compare('SELECT o.id, s.id FROM (SELECT * FROM u WHERE id <= 5) o, (SELECT t.id FROM t ORDER BY t.f, t.id LIMIT 100) s WHERE (o.id + s.id) % 3 = 0 ORDER BY o.id, s.id',
	'enable_nestloop=on', 'enable_material=off', 'enable_mergejoin=off');
SELECT compare('SELECT u.id, (SELECT t.id FROM t WHERE t.a >= u.a ORDER BY t.n, t.id DESC LIMIT 1) FROM u WHERE u.id <= 40 ORDER BY 1');
SELECT compare('SELECT u.id, ARRAY(SELECT t.id FROM t WHERE t.a = u.a ORDER BY t.b DESC, t.id) FROM u WHERE u.id <= 40 ORDER BY 1');
SELECT compare('SELECT id FROM t WHERE id IN (SELECT id FROM u ORDER BY n, id LIMIT 50) ORDER BY id');
SELECT compare('SELECT id, (SELECT array_agg(id) FROM (SELECT id FROM u ORDER BY b, id LIMIT 5) s) FROM t WHERE id < 5 ORDER BY id');

-- views, partitions, inheritance
CREATE VIEW sorted_view AS SELECT id, a, b FROM t ORDER BY b DESC, id;
SELECT compare('SELECT * FROM sorted_view');
SELECT compare('SELECT * FROM sorted_view WHERE a < 20 ORDER BY a, id');
CREATE TABLE parts (id int, a int, b text COLLATE "C") PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (300);
CREATE TABLE parts_2 (b text COLLATE "C", dropped int, a int, id int);
ALTER TABLE parts_2 DROP COLUMN dropped;
ALTER TABLE parts ATTACH PARTITION parts_2 FOR VALUES FROM (300) TO (MAXVALUE);
INSERT INTO parts SELECT id, a, b FROM t;
ANALYZE parts;
SELECT compare('SELECT * FROM parts ORDER BY a, b, id');
SELECT compare('SELECT * FROM parts WHERE id < 200 ORDER BY b DESC, id');
SELECT compare('SELECT p.id, u.id FROM parts p JOIN u ON p.a = u.a AND p.b = u.b ORDER BY p.id, u.id', 'enable_partitionwise_join=on');
CREATE TABLE parent (id int, a int);
CREATE TABLE child (extra text) INHERITS (parent);
INSERT INTO parent SELECT id, a FROM t WHERE id % 2 = 0;
INSERT INTO child SELECT id, a, b FROM t WHERE id % 2 = 1;
ANALYZE parent, child;
SELECT compare('SELECT * FROM parent ORDER BY a DESC, id');

-- rows on their way into tables
CREATE TABLE target (pos serial, id int);
CREATE FUNCTION insert_sorted(side text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpusort.enabled', side, true);
	TRUNCATE target RESTART IDENTITY;
	EXECUTE 'INSERT INTO target (id) SELECT id FROM t ORDER BY b, n DESC, id';
	RETURN (SELECT md5(string_agg(id::text, ',' ORDER BY pos)) FROM target);
END $$;
SELECT lines('INSERT INTO target (id) SELECT id FROM t ORDER BY b, n DESC, id');
SELECT insert_sorted('off') = insert_sorted('on') AS inserted_alike;
BEGIN;
SET LOCAL gpusort.enabled = off;
CREATE TABLE ctas_core AS SELECT id FROM t ORDER BY f, id DESC;
SET LOCAL gpusort.enabled = on;
CREATE TABLE ctas_ours AS SELECT id FROM t ORDER BY f, id DESC;
CREATE MATERIALIZED VIEW matview AS SELECT id FROM t ORDER BY f, id DESC;
SELECT lines('CREATE TABLE ctas AS SELECT id FROM t ORDER BY f, id DESC');
SELECT (SELECT array_agg(id) FROM ctas_core) = (SELECT array_agg(id) FROM ctas_ours) AS created_alike,
	(SELECT array_agg(id) FROM ctas_core) = (SELECT array_agg(id) FROM matview) AS materialized_alike;
ROLLBACK;

-- changing what is sorted
BEGIN;
SELECT lines('SELECT id FROM t ORDER BY a, id FOR UPDATE');
SELECT compare('SELECT id FROM t ORDER BY a, id FOR UPDATE');
SELECT compare('SELECT id FROM t ORDER BY a, id LIMIT 7 FOR SHARE');
ROLLBACK;
BEGIN;
UPDATE t SET n = s.pos FROM (SELECT id, row_number() OVER (ORDER BY d, id) AS pos FROM t) s WHERE s.id = t.id;
SELECT compare('SELECT id, n FROM t ORDER BY n, id');
DELETE FROM t USING (SELECT id FROM t ORDER BY a NULLS FIRST, id LIMIT 100) s WHERE s.id = t.id;
SELECT compare('SELECT id, n FROM t ORDER BY a NULLS FIRST, n, id');
UPDATE parts SET a = s.id FROM (SELECT id FROM parts ORDER BY b, id LIMIT 400) s WHERE parts.id = s.id;
SELECT compare('SELECT * FROM parts ORDER BY a, b, id');
ROLLBACK;
