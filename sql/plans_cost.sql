-- Which sorts are taken over for their cost: by kind of key, width and order of the input.
LOAD 'gpusort';
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE cost_rows AS
SELECT i AS id, hashint4(i) AS number,
	lpad(i::text, 8, '0') COLLATE "C" AS bytes_sorted,
	lpad(i::text, 8, '0') COLLATE "C.utf8" AS text_sorted,
	md5(i::text) COLLATE "C.utf8" AS text_random,
	repeat('x', 1000) AS pad
FROM generate_series(1, 10000) i;
VACUUM ANALYZE cost_rows;
CREATE FUNCTION sort_node(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Sort' THEN
			RETURN trim(line);
		END IF;
	END LOOP;
END $$;

-- Integers and bytes, also those that come in order, and wide rows
SELECT sort_node('SELECT number FROM cost_rows ORDER BY number');
SELECT sort_node('SELECT id FROM cost_rows ORDER BY id');
SELECT sort_node('SELECT bytes_sorted FROM cost_rows ORDER BY bytes_sorted');
SELECT sort_node('SELECT * FROM cost_rows ORDER BY number');

-- libc's keys cost more than finding out that the input is in order, ...
SELECT sort_node('SELECT text_random FROM cost_rows ORDER BY text_random');
SELECT sort_node('SELECT text_sorted FROM cost_rows ORDER BY text_sorted');
-- ... if it is: by this operator, under this collation, in this table, by this column alone
SELECT sort_node('SELECT text_sorted FROM cost_rows ORDER BY text_sorted DESC');
SELECT sort_node('SELECT text_sorted FROM cost_rows ORDER BY text_sorted COLLATE "en-x-icu"');
SELECT sort_node('SELECT text_sorted FROM cost_rows ORDER BY text_sorted || ''x''');
SELECT sort_node('SELECT text_sorted FROM cost_rows ORDER BY text_sorted, id');
SELECT sort_node('SELECT text_sorted FROM (SELECT * FROM cost_rows OFFSET 0) s ORDER BY text_sorted');
-- without statistics nobody knows
DELETE FROM pg_statistic WHERE starelid = 'cost_rows'::regclass;
SELECT sort_node('SELECT text_sorted FROM cost_rows ORDER BY text_sorted');

-- Strings that begin alike tie on their first word, as the histogram tells, and cost more to sort: a hash table of groups
-- is taken where one of other strings, as long, is not.  What all strings have in common is no tie.
CREATE TABLE cost_alike AS SELECT x || v AS alike, v || x AS other, '/shop/south-shoe/' || v AS common, (x || v) COLLATE "C" AS alike_bytes,
	(v || x) COLLATE "C" AS other_bytes
FROM (SELECT (ARRAY['/shop/north-shoe/', '/shop/south-shoe/', '/shop/smart-lamp/', '/shop/acme--lamp/'])[1 + i % 4] AS x,
	left(md5((i % 25000)::text), 8) COLLATE "en-x-icu" AS v FROM generate_series(1, 50000) i) s;
VACUUM ANALYZE cost_alike;
SELECT c, gpusort_test.matches(format('SELECT DISTINCT %s FROM cost_alike', c), 'HashAggregate') AS hashed
FROM unnest(ARRAY['alike', 'other', 'common', 'alike_bytes', 'other_bytes']) c;
DROP TABLE cost_alike;

-- Where keys tell the rows, which are not stored then, a sort costs less than the index of the keys
CREATE TABLE cost_keys AS SELECT hashint8extended(i, 0) AS k FROM generate_series(1::int8, 300000) i;
CREATE INDEX ON cost_keys (k);
VACUUM (FREEZE, ANALYZE) cost_keys;
SET cpu_index_tuple_cost = 0.0035;
SELECT sort_node('SELECT k FROM cost_keys ORDER BY k');
RESET cpu_index_tuple_cost;
DROP TABLE cost_keys;

-- Hash tables of workers lack as much as others: where PostgreSQL has no workers for them, neither have we
CREATE TABLE cost_groups AS SELECT 'clerk ' || i % 500 AS name, i AS n, repeat('x', 20) AS pad
FROM generate_series(1, 150000) i;
ANALYZE cost_groups;
SET max_parallel_workers_per_gather = 2;
SELECT gpusort_test.matches('SELECT name, sum(n) FROM cost_groups GROUP BY name ORDER BY name', 'Gather');
SET max_parallel_workers_per_gather = 0;
DROP TABLE cost_groups;

-- Rows that a scan has projected are read from pages; those that a subquery filters are not, and are charged for that
CREATE FUNCTION cost_of_row(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	plan := plan -> 0 -> 'Plan';
	RETURN ((plan ->> 'Total Cost')::float8 - (plan -> 'Plans' -> 0 ->> 'Total Cost')::float8) / (plan ->> 'Plan Rows')::float8;
END $$;
SELECT sort_node(query), cost_of_row(query) - cost_of_row('SELECT number, id FROM cost_rows ORDER BY number') > 0.01 AS is_more
FROM unnest(ARRAY['SELECT number, id + 1 FROM cost_rows ORDER BY number', 'SELECT number, id + 1 FROM (SELECT number, id FROM cost_rows OFFSET 0) s ORDER BY number',
	'SELECT number, id FROM (SELECT number, id FROM cost_rows OFFSET 0) s WHERE id > -1 ORDER BY number']) query;
DROP FUNCTION cost_of_row;

-- A key that costs nothing is never left
SET gpusort.cost_key_collated = 0;
ANALYZE cost_rows;
SELECT sort_node('SELECT text_sorted FROM cost_rows ORDER BY text_sorted');
SET gpusort.cost_key_collated = 100;
SELECT sort_node('SELECT text_random FROM cost_rows ORDER BY text_random');
RESET gpusort.cost_key_collated;
DROP TABLE cost_rows;
DROP FUNCTION sort_node;

-- Of partitions of which one comes in order: all are sorted as one if there are many to be merged, but not if there are two
CREATE TABLE cost_merged (k int8, p int) PARTITION BY LIST (p);
DO $$ BEGIN
	FOR p IN 1 .. 8 LOOP
		EXECUTE format('CREATE TABLE cost_merged_%s PARTITION OF cost_merged FOR VALUES IN (%1$s)', p);
	END LOOP;
END $$;
CREATE INDEX ON cost_merged_8 (k, p);
INSERT INTO cost_merged SELECT hashint8(i), 1 + i % 8 FROM generate_series(1, 40000) i;
VACUUM (FREEZE, ANALYZE) cost_merged;
EXPLAIN (COSTS OFF) SELECT * FROM cost_merged ORDER BY k;
SET client_min_messages = debug1;
EXPLAIN (COSTS OFF) SELECT * FROM cost_merged WHERE p > 6 ORDER BY k;
SET client_min_messages = warning;
DROP TABLE cost_merged;

-- A sort of rows that workers collect, worth its cost but for a limit outside its query: below a Gather Merge, which wants few
-- rows of each worker, PostgreSQL's bounded sorts find them faster
CREATE TABLE cost_gathered WITH (parallel_workers = 2) AS SELECT i, md5(i::text) COLLATE "en-x-icu" AS t FROM generate_series(1, 60000) i;
VACUUM (FREEZE, ANALYZE) cost_gathered;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET min_parallel_table_scan_size = 0;
SET gpusort.cost_gather = 0;
SET cpu_operator_cost = 0.01;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM cost_gathered ORDER BY t, i OFFSET 0) s;
SET client_min_messages = debug1;
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT * FROM cost_gathered ORDER BY t, i OFFSET 0) s LIMIT 5;
SET client_min_messages = warning;
SELECT * FROM (SELECT * FROM cost_gathered ORDER BY t, i OFFSET 0) s LIMIT 5;
RESET max_parallel_workers_per_gather;
DROP TABLE cost_gathered;
