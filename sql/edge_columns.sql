-- Rows that are columns of a table, put together from its tuples on the page: they must be
-- what PostgreSQL makes of them, byte by byte.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_columns;
SET search_path = gpusort_columns, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;

-- The tuples of a table, in their order.
CREATE FUNCTION tuples(source regclass) RETURNS TABLE (place int8, tuple text) LANGUAGE sql AS $$
	SELECT row_number() OVER (ORDER BY block, lp),
		format('%s %s %s %s %s', t_infomask & 7, t_infomask2 & 2047, t_hoff, t_bits, t_data)
	FROM generate_series(0, pg_relation_size(source) / current_setting('block_size')::int - 1) block,
		heap_page_items(get_raw_page(source::text, block::int))
$$;

-- Store the rows of a query, whose order leaves no choice, as PostgreSQL and as gpusort
-- sort them, and compare the two tables.
CREATE FUNCTION check_columns(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan text;
	problem text;
	n int8;
BEGIN
	PERFORM set_config('gpusort.enabled', 'off', false);
	EXECUTE 'CREATE TABLE theirs AS ' || query;
	PERFORM set_config('gpusort.enabled', 'on', false);
	EXECUTE 'CREATE TABLE ours AS ' || query;
	plan := (SELECT string_agg(line, E'\n') FROM gpusort_test.plan_lines(query) line);
	IF plan !~ '^Custom Scan \(GpuSort\)\n.*\n  ->  Seq Scan' THEN
		problem := E'planned otherwise:\n' || plan;
	ELSE
		SELECT format('row %s: %s instead of %s', place, o.tuple, t.tuple) INTO problem
		FROM tuples('ours') o FULL JOIN tuples('theirs') t USING (place)
		WHERE o.tuple IS DISTINCT FROM t.tuple ORDER BY place LIMIT 1;
	END IF;
	n := (SELECT count(*) FROM ours);
	DROP TABLE ours, theirs;
	RETURN format('%s rows, %s', n, coalesce(problem, 'same'));
END $$;

CREATE TABLE t (id int, k int8, gone text, small int2, flag bool, sign "char", long name, u uuid, v text COLLATE "C", n numeric,
	since timestamptz, padded char(5), last int);
INSERT INTO t
SELECT i, r, 'gone', r % 100, r % 3 = 0, chr(65 + (r % 26)::int)::"char", 'name ' || r % 1000, md5(r::text)::uuid,
	repeat('v' || r % 97, (r % 50)::int), r / 7.0, timestamptz '2024-01-01 UTC' + r % 100000 * interval '1 minute', r % 1000, -i
FROM (SELECT i, gpusort_test.random('columns', i) AS r FROM generate_series(1, 2000) i) s;
VACUUM ANALYZE t;

-- without nulls: at fixed places and behind strings, one and several, in any order, repeated
CREATE TABLE queries (query text);
INSERT INTO queries VALUES
	('SELECT k FROM t ORDER BY k, id'), ('SELECT id FROM t ORDER BY id DESC'), ('SELECT last FROM t ORDER BY last'),
	('SELECT small, k FROM t ORDER BY small, k, id'), ('SELECT flag, small, sign FROM t ORDER BY flag DESC, sign, small, id'),
	('SELECT u FROM t ORDER BY u, id'), ('SELECT long, id FROM t ORDER BY long, id DESC'), ('SELECT v FROM t ORDER BY v, id'),
	('SELECT v, n FROM t ORDER BY n DESC, id'), ('SELECT since, padded, v FROM t ORDER BY padded, v, id'),
	('SELECT last, v, id, v AS again, last AS too FROM t ORDER BY since, id'), ('SELECT k AS a, k AS b FROM t ORDER BY a, id'),
	('SELECT padded, n, v, flag, id FROM t ORDER BY flag, v DESC, n, id'),
	('SELECT last, padded, since, n, v, u, long, sign, flag, small, k, id FROM t ORDER BY v, id'),
	('SELECT v FROM t WHERE small < 50 AND n > 1000 ORDER BY v, id'), ('SELECT id FROM t WHERE id = 77 ORDER BY k'),
	('SELECT k FROM t WHERE id < 0 ORDER BY k');
SELECT query, check_columns(query) FROM queries;

-- with rows that still have a column that was dropped, and rows that lack some that were added
ALTER TABLE t DROP COLUMN gone;
SELECT check_columns(query) FROM queries;
ALTER TABLE t ADD COLUMN late int DEFAULT 3, ADD COLUMN later text COLLATE "C";
INSERT INTO queries VALUES ('SELECT late, k FROM t ORDER BY late, k, id'), ('SELECT later, late, v FROM t ORDER BY later NULLS FIRST, v, id'),
	('SELECT later FROM t ORDER BY k, id'), ('SELECT id, later FROM t ORDER BY later DESC, id');
SELECT check_columns(query) FROM queries;

-- with nulls everywhere
INSERT INTO t
SELECT i, nullif(r, r / 5 * 5), nullif(r % 100, r % 2), nullif(r % 3 = 0, r % 5 = 0), CASE WHEN r % 4 > 0 THEN chr(65 + (r % 26)::int)::"char" END,
	CASE WHEN r % 3 > 0 THEN 'name ' || r % 1000 END, CASE WHEN r % 6 > 0 THEN md5(r::text)::uuid END,
	CASE WHEN r % 7 > 0 THEN repeat('v' || r % 97, (r % 50)::int) END, CASE WHEN r % 8 > 0 THEN r / 7.0 END,
	CASE WHEN r % 9 > 0 THEN timestamptz '2024-01-01 UTC' + r % 100000 * interval '1 minute' END, nullif(r % 10, 3), nullif(-i, -2222),
	nullif(i % 7, 3), CASE WHEN i % 3 > 0 THEN 'later ' || i END
FROM (SELECT i, gpusort_test.random('nulls', i) AS r FROM generate_series(2001, 4000) i) s;
SELECT check_columns(query) FROM queries;
SELECT check_columns(query) FROM queries, set_config('gpusort.inject_fault', 'codec', false);
SELECT check_columns(query) FROM queries, set_config('gpusort.inject_fault', 'memory', false);
SELECT check_columns(query) FROM queries, set_config('gpusort.inject_fault', 'verify', false);
RESET gpusort.inject_fault;
DO $$
BEGIN
	EXECUTE 'CREATE TABLE many (id int, ' || (SELECT string_agg(format('c%s int', i), ', ') FROM generate_series(1, 100) i) || ')';
	EXECUTE 'INSERT INTO many SELECT i, ' || (SELECT string_agg(format('nullif(i * %s %% 11, %s)', i, i % 11), ', ') FROM generate_series(1, 100) i) || ' FROM generate_series(1, 300) i';
END $$;
SELECT n, check_columns((SELECT format('SELECT %s FROM many ORDER BY c99 DESC, id', string_agg('c' || i * 97 % 101, ', ')) FROM generate_series(1, n) i))
FROM unnest(ARRAY[1, 7, 8, 9, 16, 17, 64, 65, 72, 73, 100]) n;

-- what the scan has to project: expressions, system columns, whole rows
SELECT check_columns('SELECT id + 1 AS x, v FROM t ORDER BY k, id');
SELECT check_columns('SELECT ctid AS place, tableoid AS source, id FROM t ORDER BY k DESC, id');
SELECT check_columns('SELECT t AS r, id FROM t ORDER BY v, id');
SELECT check_columns('SELECT 1 AS one FROM t ORDER BY id');

-- compressed values and ones out of line, which are the copy's own
CREATE TABLE wide (id int, compressed text, external text COLLATE "C", short text);
ALTER TABLE wide ALTER external SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, repeat('compressed ' || i, i % 7 * 500), repeat(md5(i::text), i % 5 * 100), 's' || i FROM generate_series(1, 200) i;
SELECT check_columns('SELECT short, compressed FROM wide WHERE length(compressed) < 10000 ORDER BY compressed, id');
CREATE TABLE copy AS SELECT external, short, id FROM wide ORDER BY external, id;
DROP TABLE wide;
SELECT count(*), count(*) FILTER (WHERE external = repeat(md5(id::text), id % 5 * 100) AND short = 's' || id) AS right,
	bool_and(ordered) AS ordered FROM (SELECT *, (external, id) > lag((external, id)) OVER (ORDER BY ctid) IS NOT FALSE AS ordered FROM copy) s;

-- done again, with other rows each time
SELECT o, sum(s.k), count(s.v), (array_agg(s.v))[2] FROM generate_series(500, 3500, 500) o,
	LATERAL (SELECT k, v FROM t WHERE id BETWEEN o AND o + 700 ORDER BY v, id OFFSET 0) s GROUP BY o ORDER BY o;
