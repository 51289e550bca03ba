-- DISTINCT and DISTINCT ON above our sorts, chosen by cost.
LOAD 'gpusort';
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE visits AS
SELECT i AS id, gpusort_test.random('customer', i, 20000)::int AS customer, gpusort_test.random('day', i, 3000)::int AS day,
	md5((i % 700)::text) COLLATE "C" AS place, repeat('x', 100) AS pad
FROM generate_series(1, 50000) i;
CREATE INDEX visits_customer ON visits (customer);
VACUUM ANALYZE visits;

-- Few groups, too
SELECT gpusort_test.plan_lines('SELECT DISTINCT place FROM visits');
-- what is in order already, by constants or an index, needs no sort
SELECT gpusort_test.matches('SELECT DISTINCT customer, place FROM visits WHERE customer = 5 AND place = ''x''', 'GpuSort');
SELECT gpusort_test.matches('SELECT DISTINCT customer FROM visits ORDER BY customer', 'GpuSort');

-- The same rows as PostgreSQL's, at the same places
SET enable_hashagg = off;
SELECT q, gpusort_test.check_rows(q, true, ARRAY['Unique\)?\n *->  Custom Scan \(GpuSort\)'], '{}')
FROM unnest(ARRAY[
	'SELECT DISTINCT customer, day FROM visits ORDER BY customer, day',
	'SELECT DISTINCT customer, day FROM visits ORDER BY day DESC, customer',
	'SELECT DISTINCT place, customer % 10 AS digit FROM visits ORDER BY digit DESC, place',
	'SELECT DISTINCT ON (customer) * FROM visits ORDER BY customer, day, id',
	'SELECT DISTINCT ON (place, customer) place, customer, id FROM visits ORDER BY customer DESC, place, id DESC',
	'SELECT DISTINCT ON (customer) id FROM visits ORDER BY customer, id',
	'SELECT DISTINCT ON (customer % 100) id, place FROM visits ORDER BY customer % 100, place, id',
	'SELECT DISTINCT customer, 1 AS one, day FROM visits WHERE day > 100 ORDER BY customer, day',
	'SELECT DISTINCT ON (customer) customer, n FROM (SELECT customer, count(*) AS n, day FROM visits GROUP BY customer, day) g ORDER BY customer, n DESC, day',
	'SELECT DISTINCT customer, day FROM visits ORDER BY customer, day OFFSET 100',
	'SELECT DISTINCT a.customer, b.day FROM visits a JOIN visits b ON a.id = b.id + 1 ORDER BY 1, 2'
]) q;
RESET enable_hashagg;
-- Of rows of a set operation
SELECT gpusort_test.check_rows('SELECT DISTINCT customer FROM (SELECT customer FROM visits UNION ALL SELECT id FROM visits) u ORDER BY customer',
	true, ARRAY['GpuSort|HashAggregate'], '{}');

-- With workers: they collect the rows, or those that each has made distinct; or sort them together
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET gpusort.cost_gather = 0;
SET gpusort.enable_shared_sort = off;
SELECT q, gpusort_test.check_rows(q, true, ARRAY['Unique\)?\n *->  Custom Scan \(GpuSort\)\n.*Gather'], ARRAY['enable_hashagg=off'])
FROM unnest(ARRAY[
	'SELECT DISTINCT customer, day FROM visits ORDER BY customer, day',
	'SELECT DISTINCT ON (customer) customer, day, id FROM visits ORDER BY customer, day DESC, id'
]) q;
RESET gpusort.enable_shared_sort;
-- ... where collecting costs more than what one process does with strings, whoever collects
SET gpusort.cost_row = 0.02;
SELECT q, gpusort_test.check_rows(q, q ~ 'ORDER BY', ARRAY['Gather.*Unique\)?\n *->  Parallel Custom Scan \(GpuSort Shared\)'], ARRAY['enable_hashagg=off'])
FROM unnest(ARRAY[
	'SELECT DISTINCT customer, place FROM visits ORDER BY customer, place',
	'SELECT DISTINCT customer, place FROM visits',
	'SELECT DISTINCT ON (customer) customer, day, id FROM visits ORDER BY customer, day DESC, id',
	'SELECT DISTINCT ON (place, customer) customer, place, id FROM visits ORDER BY place DESC, customer, id',
	'SELECT DISTINCT nullif(customer % 7, 3) AS k FROM visits',
	'SELECT count(*), sum(customer) FROM (SELECT DISTINCT customer, day FROM visits) d',
	'SELECT DISTINCT customer, count(*) OVER (PARTITION BY customer) FROM visits'
]) q;
RESET gpusort.cost_row;
SELECT q, gpusort_test.check_rows(q, q ~ 'ORDER BY', '{}', ARRAY['enable_hashagg=off', 'gpusort.force=on'])
FROM unnest(ARRAY[
	'SELECT DISTINCT place FROM visits WHERE id + 0 > 50000',
	'SELECT DISTINCT customer, generate_series(1, 2) AS i FROM visits ORDER BY 1, 2',
	'SELECT d.customer, v.id FROM (SELECT DISTINCT customer, day FROM visits) d JOIN visits v ON v.id = d.day WHERE d.customer < 500',
	'SELECT DISTINCT customer FROM visits ORDER BY customer LIMIT 10'
]) q;

-- Of two columns that give more groups than the planner thinks, workers make the rows of their slice of a sort distinct (or
-- their own, and then the
-- leader all).  A cheap ORDER BY above must not make that a hash table of what comes out of hash tables.
RESET ALL;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0.005;
SET hash_mem_multiplier = 1;
CREATE TABLE two WITH (parallel_workers = 2) AS
SELECT (hashint4(i) & 2147483647) % 5000 AS customer, date '1992-01-01' + (hashint4(-i) & 2147483647) % 2400 AS day, repeat('x', 500) AS pad
FROM generate_series(1, 60000) i;
VACUUM ANALYZE two;
SELECT memory, set_config('work_mem', memory, false) = memory AS set,
	gpusort_test.matches(q, 'HashAggregate') < 2 AS one_table, gpusort_test.matches(q, 'Unique') AS uniques, gpusort_test.matches(q, 'GpuSort\)$') AS sorts
FROM unnest(ARRAY['SELECT DISTINCT customer, day FROM two ORDER BY 1, 2']) q, unnest(ARRAY['300kB', '700kB']) memory ORDER BY memory;
RESET ALL;
DROP TABLE two;

-- A hash table costs more than the planner thinks, and most where it has many groups; so does an Agg above
-- sorted rows, and where an index has these it is taken.
RESET ALL;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE wide AS SELECT hashint8(i)::int8 * i AS k, i % 10 AS d, repeat('x', 50) AS pad FROM generate_series(1, 100000) i;
ANALYZE wide;
SELECT q, gpusort_test.matches(q, 'HashAggregate') AS hashed, gpusort_test.matches(q, 'GpuSort\)') AS sorted
FROM unnest(ARRAY['SELECT DISTINCT k, pad FROM wide', 'SELECT DISTINCT d FROM wide', 'SELECT k, pad, count(*) FROM wide GROUP BY k, pad', 'SELECT pad, count(*) FROM wide GROUP BY pad']) q;
CREATE TABLE keys AS SELECT md5((i / 2)::text) COLLATE "C" AS k FROM generate_series(1, 100000) i;
CREATE INDEX ON keys (k);
VACUUM ANALYZE keys;
SELECT q, gpusort_test.matches(q, 'Index Only Scan') AS indexed FROM unnest(ARRAY['SELECT k, count(*) FROM keys GROUP BY k', 'SELECT DISTINCT k FROM keys']) q;
SET gpusort.enabled = off;
SELECT q, gpusort_test.matches(q, 'HashAggregate') AS hashed FROM unnest(ARRAY['SELECT k, count(*) FROM keys GROUP BY k', 'SELECT DISTINCT k FROM keys']) q;
DROP TABLE keys;
DROP TABLE wide;
DROP TABLE visits;
-- PostgreSQL's sort within an aggregate notices that its values come in the order of an index
RESET gpusort.enabled;
CREATE TABLE pairs AS SELECT i / 10 AS a, i * 7 % 1000 AS b, repeat('x', 100) AS pad FROM generate_series(1, 100000) i;
CREATE INDEX ON pairs (a, b);
VACUUM ANALYZE pairs;
SELECT q, gpusort_test.matches(q, 'Index Only Scan') AS indexed, gpusort_test.matches(q, 'GpuSort') AS sorted
FROM unnest(ARRAY['SELECT count(DISTINCT a), count(DISTINCT b) FROM pairs', 'SELECT count(DISTINCT b), sum(DISTINCT b) FROM pairs']) q;
DROP TABLE pairs;
