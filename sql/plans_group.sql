-- GROUP BY and window functions above our sorts, chosen by cost; and what is left of incremental sorts.
LOAD 'gpusort';
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE visits AS
SELECT i AS id, gpusort_test.random('customer', i, 20000)::int AS customer, gpusort_test.random('day', i, 3000)::int AS day,
	md5((i % 700)::text) COLLATE "C" AS place, repeat('x', 100) AS pad
FROM generate_series(1, 50000) i;
CREATE INDEX visits_customer ON visits (customer);
VACUUM ANALYZE visits;

-- PostgreSQL's hash table for few groups
SELECT gpusort_test.plan_lines('SELECT place, count(*) FROM visits GROUP BY place');
-- what is in order already needs no sort
SELECT gpusort_test.matches('SELECT customer, count(*) FROM visits WHERE customer < 3 GROUP BY customer', 'GpuSort');
-- few rows are none of our business
SELECT gpusort_test.matches('SELECT customer, day, count(*) FROM visits WHERE id < 1000 GROUP BY customer, day', 'GpuSort');
-- A hash table that would not fit into memory
SET work_mem = '64kB';
SELECT gpusort_test.plan_lines('SELECT customer, day, place, count(*) FROM visits GROUP BY customer, day, place');
RESET work_mem;

-- In the place of an index scan that delivers some of the order; the same rows as PostgreSQL's, at the
-- same places
SET enable_hashagg = off;
SELECT q, gpusort_test.check_rows(q, true, ARRAY['Group.*Custom Scan \(GpuSort\)\n[^\n]*Sort Key[^\n]*\n *->  Seq Scan'], '{}')
FROM unnest(ARRAY[
	'SELECT customer, day, count(*) FROM visits GROUP BY customer, day ORDER BY customer, day',
	'SELECT customer, day FROM visits GROUP BY customer, day ORDER BY customer, day',
	'SELECT customer, day, sum(id) FROM visits GROUP BY customer, day HAVING count(*) > 1 ORDER BY customer DESC, day',
	'SELECT customer, day, array_agg(id ORDER BY id DESC) FROM visits GROUP BY customer, day ORDER BY customer, day',
	'SELECT customer, count(DISTINCT day), min(place) FROM visits GROUP BY customer ORDER BY customer',
	'SELECT customer, day, place, count(*) FROM visits GROUP BY ROLLUP (customer, day, place) ORDER BY customer, day, place',
	'SELECT customer, day, place, count(*) FROM visits GROUP BY GROUPING SETS ((customer, day), (place)) ORDER BY customer, day, place',
	'SELECT g.customer, g.n FROM (SELECT customer, day, count(*) AS n FROM visits GROUP BY customer, day) g ORDER BY g.customer, g.day'
]) q;
RESET enable_hashagg;
-- Without GROUP BY there is a row even of no rows
SELECT gpusort_test.check_rows('SELECT string_agg(place, '','' ORDER BY customer, day, id) FROM visits WHERE id + 0 > 50000', true, '{}', '{}');
SELECT q, gpusort_test.check_rows(q, false, ARRAY['WindowAgg.*Custom Scan \(GpuSort\)\n[^\n]*Sort Key[^\n]*\n *->  Seq Scan'], '{}')
FROM unnest(ARRAY[
	'SELECT id, rank() OVER (PARTITION BY customer ORDER BY day, id) FROM visits',
	'SELECT id, sum(day) OVER (PARTITION BY customer ORDER BY day, id), lag(id) OVER (PARTITION BY place ORDER BY id) FROM visits'
]) q;

-- With workers: they collect the rows, or the groups that each has made of its own
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT q, gpusort_test.check_rows(q, true, ARRAY['GroupAggregate.*Custom Scan \(GpuSort\)\n.*Gather'],
	ARRAY['enable_hashagg=off', 'gpusort.enable_shared_sort=off'])
FROM unnest(ARRAY[
	'SELECT customer, day, count(*) FROM visits GROUP BY customer, day ORDER BY customer, day',
	'SELECT customer, count(DISTINCT day) FROM visits GROUP BY customer ORDER BY customer'
]) q;
SELECT gpusort_test.check_rows('SELECT place, count(*) FROM visits GROUP BY place ORDER BY place', true,
	ARRAY['Finalize GroupAggregate.*Custom Scan \(GpuSort\)\n.*Gather.*Partial HashAggregate'],
	ARRAY['parallel_tuple_cost=1', 'gpusort.min_rows=0', 'gpusort.cost_gather=0']);
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- Incremental sorts that the planner puts into plans without asking, and why they are left alone
SET max_parallel_workers_per_gather = 0;
SET enable_seqscan = off;
SET enable_hashagg = off;
SELECT gpusort_test.plan_lines('SELECT count(*) FROM (SELECT customer FROM visits ORDER BY customer, day) v');
SET client_min_messages = debug1;
SET gpusort.min_rows = 100000;
EXPLAIN (COSTS OFF) SELECT customer, day FROM visits ORDER BY customer, day;
RESET gpusort.min_rows;
EXPLAIN (COSTS OFF) SELECT customer, day FROM visits ORDER BY customer, day LIMIT 10;
-- and sorts within aggregates
EXPLAIN (COSTS OFF) SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY day) FROM visits WHERE customer < 0;
SET client_min_messages = warning;
-- hash tables of other nodes
SET gpusort.cost_startup = 1000000;
SET enable_sort = off;
SET enable_hashagg = on;
SELECT q, a.node, a.reason FROM unnest(ARRAY[
	'SELECT customer FROM visits INTERSECT SELECT day FROM visits',
	'SELECT day, count(*) FROM visits GROUP BY day',
	'SELECT count(*) FROM visits a JOIN visits b USING (day)',
	'WITH RECURSIVE r(i) AS (SELECT day FROM visits UNION SELECT i + 1 FROM r WHERE i < 10) SELECT count(*) FROM r',
	'SELECT day, count(*) FROM visits GROUP BY CUBE (day)']) q, gpusort_advise(q) a ORDER BY q COLLATE "C", node COLLATE "C";
DROP TABLE visits;

-- How many values an expression has is a guess, if there are no statistics of it: as many as its columns.  So no hash
-- table is taken for slower by it; but it is by a column beside it, and by the expression's own values once they are known.
RESET gpusort.cost_startup;
RESET enable_sort;
RESET enable_hashagg;
RESET enable_seqscan;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE guesses AS
SELECT gpusort_test.random('k', i, 15000)::int AS k, md5(gpusort_test.random('t', i, 15000)::text) COLLATE "C" AS t
FROM generate_series(1, 20000) i;
CREATE TABLE guess_queries AS SELECT * FROM unnest(ARRAY[
	'SELECT k % 16, count(*) FROM guesses GROUP BY 1',
	'SELECT k, left(t, 2) FROM guesses GROUP BY 1, 2',
	'SELECT DISTINCT left(t, 1) FROM guesses',
	'SELECT DISTINCT left(t, 1), left(t, 2) FROM guesses',
	'SELECT left(t, 1) FROM guesses UNION SELECT left(t, 2) FROM guesses']) WITH ORDINALITY AS q (query, i);
VACUUM ANALYZE guesses;
SELECT query, gpusort_test.matches(query, 'GpuSort') > 0 AS sorted FROM guess_queries ORDER BY i;
CREATE STATISTICS guesses_16 ON (k % 16) FROM guesses;
CREATE STATISTICS guesses_1 ON (left(t, 1)) FROM guesses;
CREATE INDEX guesses_2 ON guesses (left(t, 2));
VACUUM ANALYZE guesses;
SET enable_indexscan = off;
SELECT query, gpusort_test.matches(query, 'GpuSort') > 0 AS sorted FROM guess_queries ORDER BY i;
RESET enable_indexscan;
