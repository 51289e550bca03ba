-- Index builds over tables in all states, and indexes in all sizes.
LOAD 'gpusort';
SET client_min_messages = warning;
SET default_toast_compression = pglz;
CREATE SCHEMA gpusort_index_tables;
SET search_path = gpusort_index_tables, gpusort_test, public;
SET max_parallel_maintenance_workers = 0;

-- sizes: no row, one, a page, a page and one, two levels, three
CREATE TABLE sizes (id int, k int8, pad text COLLATE "C");
CREATE FUNCTION check_sizes(columns text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	n int;
	total int := 0;
BEGIN
	TRUNCATE sizes;
	FOREACH n IN ARRAY ARRAY[0, 1, 2, 31, 32, 33, 203, 204, 366, 367, 368, 407, 408, 4000] LOOP
		INSERT INTO sizes SELECT i, random('sizes', i), repeat('x', 1500) || i FROM generate_series(total + 1, n) i;
		total := n;
		RETURN NEXT n || ' rows: ' || gpusort_test.check_index('CREATE INDEX %s ON sizes (' || columns || ')');
	END LOOP;
END $$;
SELECT check_sizes('k');
SELECT check_sizes('mod(k, 3)');
SELECT check_sizes('pad');
ALTER TABLE sizes ALTER pad SET STORAGE PLAIN;
SELECT check_sizes('pad');

-- storage parameters, duplicates and what forbids posting lists
CREATE TABLE t AS SELECT i AS id, random('tables', i, 40) AS few, random('tables', i) AS k,
	(random('tables', i, 40) / 8)::float8 AS f, (i / 9)::numeric AS n, CASE WHEN i % 5 = 0 THEN i END AS gaps
FROM generate_series(1, 20000) i;
SELECT check_index('CREATE INDEX %s ON t (few)');
SELECT check_index('CREATE INDEX %s ON t (few) WITH (deduplicate_items = off)');
SELECT check_index('CREATE INDEX %s ON t (few, k) WITH (fillfactor = 50)');
SELECT check_index('CREATE INDEX %s ON t (k) WITH (fillfactor = 100)');
SELECT check_index('CREATE INDEX %s ON t (few) WITH (fillfactor = 10)');
SELECT check_index('CREATE INDEX %s ON t (few) INCLUDE (k)');
SELECT check_index('CREATE INDEX %s ON t (f)');
SELECT check_index('CREATE INDEX %s ON t (n)');
SELECT check_index('CREATE INDEX %s ON t (gaps)');
SELECT check_index('CREATE UNIQUE INDEX %s ON t (gaps NULLS FIRST, id) NULLS NOT DISTINCT');
SELECT check_index('CREATE INDEX %s ON t (mod(k, 7), (few + 1)) WHERE few > 20');
SELECT check_index('CREATE INDEX %s ON t (id) WHERE false');
-- in the order of the index already, and the other way round
SELECT check_index('CREATE INDEX %s ON t (id)');
SELECT check_index('CREATE INDEX %s ON t (id DESC)');
DROP TABLE t;

-- Rows of all kinds: deleted, updated with and without HOT, redirected, rolled back;
-- many pages of them, and pages without.
CREATE TABLE t (id int, few int, k int8, other int) WITH (fillfactor = 70);
INSERT INTO t SELECT i, i % 10, random('tables', i), 0 FROM generate_series(1, 30000) i;
DELETE FROM t WHERE id % 37 = 0;
SELECT check_index('CREATE INDEX %s ON t (few)');
CREATE INDEX permanent ON t (id);
UPDATE t SET other = 1 WHERE id BETWEEN 5000 AND 9000;
SELECT check_index('CREATE INDEX %s ON t (few)');
SELECT check_index('CREATE INDEX %s ON t (k, few)');
UPDATE t SET few = few + 1 WHERE id BETWEEN 8000 AND 8500 OR id % 1000 = 0;
SELECT check_index('CREATE INDEX %s ON t (few)');
VACUUM t;
SELECT check_index('CREATE INDEX %s ON t (few)');
UPDATE t SET other = 2 WHERE id BETWEEN 5500 AND 8800;
BEGIN;
UPDATE t SET other = 3 WHERE id % 700 = 0;
INSERT INTO t SELECT i, i % 10, random('tables', i), 0 FROM generate_series(1, 3000) i;
DELETE FROM t WHERE id % 900 = 0;
ROLLBACK;
SELECT check_index('CREATE INDEX %s ON t (few)');
BEGIN;
UPDATE t SET k = k + 1 WHERE id % 700 = 0;
INSERT INTO t SELECT i, i % 10, random('tables', i), 0 FROM generate_series(1, 3000) i;
DELETE FROM t WHERE id % 900 = 0;
SELECT check_index('CREATE INDEX %s ON t (few)');
COMMIT;
SELECT check_index('CREATE INDEX %s ON t (few, id)');
DROP TABLE t;

-- columns that came and went
CREATE TABLE t (gone int, k int, name text COLLATE "C");
INSERT INTO t SELECT i, random('tables', i), 'row ' || i FROM generate_series(1, 2000) i;
ALTER TABLE t DROP gone;
ALTER TABLE t ADD added int DEFAULT 7, ADD later text COLLATE "C" DEFAULT 'something';
INSERT INTO t SELECT i, 'row ' || i, i % 9, NULL FROM generate_series(1, 2000) i;
SELECT check_index('CREATE INDEX %s ON t (k)');
SELECT check_index('CREATE INDEX %s ON t (added, k)');
SELECT check_index('CREATE INDEX %s ON t (later DESC, name)');
SELECT check_index('CREATE INDEX %s ON t (name, added) INCLUDE (later)');
DROP SCHEMA gpusort_index_tables CASCADE;
