-- Rows at the edges: none, one, wide, without columns, with many, with dropped
-- ones; and sorts that end early.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_edge;
SET search_path = gpusort_edge, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;

-- no rows, one row, and counts about powers of two and blocks of rows
CREATE FUNCTION counts(column_name text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	FOREACH n IN ARRAY ARRAY[0, 1, 2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1025, 4097, 20000] LOOP
		RETURN NEXT gpusort_test.check_sort(column_name || ' ' || n,
			format('SELECT i, %s AS k FROM (SELECT i, gpusort_test.random(''edge'', i) AS r FROM generate_series(1, %s) i) s ORDER BY k', column_name, n), 'k');
	END LOOP;
END $$;
SELECT counts('r::int');
SELECT counts('CASE WHEN r % 3 > 0 THEN (r % 100)::text COLLATE "C" END');

-- all equal, all null, two values, sorted and reversed
CREATE TABLE same AS SELECT i AS id, 42 AS one, NULL::text COLLATE "C" AS none, i % 2 = 0 AS two, i AS up, -i AS down,
	'a long prefix that all of them share ' || i % 10 || repeat('.', i % 5) COLLATE "C" AS prefix, '' COLLATE "C" AS empty
FROM generate_series(1, 5000) i;
SELECT gpusort_test.check_sort(key, format('SELECT * FROM same ORDER BY %s', key), regexp_replace(key, ' .*', ''))
FROM unnest(ARRAY['one', 'none', 'none NULLS FIRST', 'none DESC', 'two', 'two DESC', 'up', 'up DESC', 'down', 'down DESC', 'prefix', 'prefix DESC', 'empty']) key;
-- (check_sort has reset the settings)
SET gpusort.force = on;
-- equal keys come in the order in which they were read, as the sort is stable
SELECT bool_and(id > before) FROM (SELECT id, lag(id) OVER () AS before FROM (SELECT id FROM same ORDER BY one OFFSET 0) s) x WHERE before IS NOT NULL;

-- wide rows: values in line, compressed, out of line; as key and as payload
CREATE TABLE wide (id int, k text COLLATE "C", payload text, plain text);
ALTER TABLE wide ALTER plain SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, repeat('key ', i % 7 * 400) || i % 100, repeat(md5(i::text), i % 13 * 300), repeat(md5(i::text), i % 5 * 100)
FROM generate_series(1, 200) i;
SELECT gpusort_test.check_sort('wide by key', 'SELECT * FROM wide ORDER BY k, id', 'k', 'id');
SELECT gpusort_test.check_sort('wide by external key', 'SELECT * FROM wide ORDER BY plain DESC, id', 'plain', 'id');
SELECT gpusort_test.check_sort('wide by number', 'SELECT * FROM wide ORDER BY id DESC', 'id');
SELECT gpusort_test.check_sort('rows of 300 kB', $$SELECT i, repeat('x', 300000 + i) AS s FROM generate_series(1, 12) i ORDER BY i DESC$$, 'i');
SELECT gpusort_test.check_sort('keys of 300 kB', $$SELECT i, (repeat('x', 300000) || i) COLLATE "C" AS s FROM generate_series(1, 12) i ORDER BY s DESC$$, 's');
SET gpusort.pool_quota = 0;
SET work_mem = '256kB';
-- what lies in no pool is nothing for gpusortd
SET gpusort.engine = host;
SELECT gpusort_test.check_sort('rows larger than work_mem', $$SELECT i, repeat('x', 300000 + i) AS s FROM generate_series(1, 12) i ORDER BY i DESC$$, 'i');
SELECT gpusort_test.check_sort('wide in little memory', 'SELECT * FROM wide ORDER BY k, id', 'k', 'id');
RESET gpusort.engine;
RESET work_mem;
RESET gpusort.pool_quota;

-- no output columns, many columns, many keys
SET gpusort.force = on;
SELECT count(*) FROM (SELECT FROM same ORDER BY down OFFSET 0) s;
DO $$
BEGIN
	EXECUTE 'CREATE TABLE many (' || (SELECT string_agg(format('c%s int', i), ', ') FROM generate_series(1, 1000) i) || ')';
	EXECUTE 'INSERT INTO many SELECT ' || (SELECT string_agg(format('nullif(i * %s %% 11, %s)', i, i % 11), ', ') FROM generate_series(1, 1000) i) || ' FROM generate_series(1, 300) i';
END $$;
SELECT gpusort_test.check_sort('1000 columns', 'SELECT * FROM many ORDER BY c999 DESC, c1, c500 NULLS FIRST', 'c999', 'c1', 'c500');
SELECT gpusort_test.check_sort('60 keys', 'SELECT * FROM many ORDER BY ' || string_agg(format('c%s %s', i, CASE i % 3 WHEN 0 THEN 'DESC' ELSE 'NULLS FIRST' END), ', ' ORDER BY i), 'c1', 'c60')
FROM generate_series(1, 60) i;

-- rows that are stored with fewer columns than the table has now
CREATE TABLE altered AS SELECT i AS id, i % 7 AS k FROM generate_series(1, 500) i;
ALTER TABLE altered ADD COLUMN late int DEFAULT 3, ADD COLUMN later text COLLATE "C";
ALTER TABLE altered DROP COLUMN k;
INSERT INTO altered SELECT i, i % 5, nullif('v' || i % 3, 'v1') FROM generate_series(501, 1000) i;
SELECT gpusort_test.check_sort('altered', 'SELECT * FROM altered ORDER BY late DESC, later, id', 'late', 'later', 'id');
SELECT gpusort_test.check_sort('whole rows', 'SELECT altered, later FROM altered ORDER BY later NULLS FIRST, id', 'later');

-- nulls beside keys that the session's earlier sorts have left in memory
SELECT gpusort_test.check_sort('strings', $$SELECT md5(i::text) COLLATE "C" AS k FROM generate_series(1, 1000) i ORDER BY k$$, 'k');
SELECT gpusort_test.check_sort('nulls, then strings', $$SELECT i, CASE WHEN i % 7 = 0 THEN 'AbAbAbAb' || i END COLLATE "C" AS k FROM generate_series(500, 1, -1) i ORDER BY k DESC, i$$, 'k', 'i');
SELECT gpusort_test.check_sort('nulls, then numbers', $$SELECT i, CASE WHEN i % 7 = 0 THEN i / 3.0 END AS k FROM generate_series(500, 1, -1) i ORDER BY k NULLS FIRST, i$$, 'k', 'i');

-- errors while rows are collected, while expressions of the key are computed, and
-- cancelled sorts, whose timeout ends with their message; then the same session sorts again
SET gpusort.force = on;
SELECT count(*) FROM (SELECT 1 / (id - 4000) AS x FROM same ORDER BY x OFFSET 0) s;
SELECT count(*) FROM (SELECT * FROM same ORDER BY 1 / (id - 4000) OFFSET 0) s;
SET statement_timeout = '20ms' \; SELECT count(*) FROM (SELECT i, md5(i::text) FROM generate_series(1, 100000000) i ORDER BY 2 OFFSET 0) s;
SELECT gpusort_test.check_sort('after errors', 'SELECT * FROM same ORDER BY prefix, id', 'prefix', 'id');
SET gpusort.force = on;
BEGIN;
SAVEPOINT s;
SELECT count(*) FROM (SELECT * FROM same ORDER BY 1 / (id - 4000) OFFSET 0) s;
ROLLBACK TO s;
SELECT count(*) FROM (SELECT * FROM same ORDER BY prefix OFFSET 0) s;
COMMIT;

-- many sorts at once, and many after another with and without memory kept
SELECT count(*) FROM (SELECT id FROM same ORDER BY up OFFSET 0) a, LATERAL (SELECT id FROM same WHERE id < 3 ORDER BY down, a.id OFFSET 0) b WHERE a.id <= 500;
SET gpusort.keep_memory = 0;
SELECT gpusort_test.check_sort('nothing kept', 'SELECT * FROM same ORDER BY prefix, id', 'prefix', 'id');
SELECT gpusort_test.check_sort('nothing kept, again', 'SELECT * FROM same ORDER BY down', 'down');
RESET gpusort.keep_memory;
SELECT gpusort_test.check_sort('kept', 'SELECT * FROM same ORDER BY prefix, id', 'prefix', 'id');
