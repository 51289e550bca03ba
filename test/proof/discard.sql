-- Each way of sorting and of building indexes once, over a few rows, with all cached catalogs
-- forgotten as often as the server can (cassert.sh); without that below valgrind (valgrind.sh).
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_discard;
SET search_path = gpusort_discard, gpusort_parallel, gpusort_test, public;
SET gpusort.force = on;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
ALTER TYPE mood ADD VALUE 'glad' BEFORE 'happy';
CREATE TABLE few WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 101 AS k, nullif(i % 17, 3)::numeric / 7 AS n, md5((i / 3)::text) COLLATE "C" AS c,
	md5((i / 3)::text) COLLATE "en_US.utf8" AS loc, md5((i / 3)::text) COLLATE "en-x-icu" AS icu,
	((ARRAY['sad', 'glad', 'happy', 'ok'])[1 + i % 4])::mood AS mood, ROW(i % 7, 'r')::text AS r
FROM generate_series(1, 600) i;
ANALYZE few;

SET debug_discard_caches = 1;

-- by every kind of codec, and handed over to PostgreSQL's sort
SELECT columns, check_rows(format('SELECT * FROM few ORDER BY %s, id', columns), true, ARRAY['GpuSort'], '{}')
FROM unnest(ARRAY['k DESC', 'n NULLS FIRST', 'c, k', 'loc', 'icu DESC', 'mood, loc', 'lower(r)']) columns;
SELECT setting, check_rows('SELECT id, pg_typeof(mood) FROM few ORDER BY loc, mood, id', true, ARRAY['GpuSort'], ARRAY[setting])
FROM unnest(ARRAY['gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify', 'gpusort.verify=on']) setting;
SELECT check_rows('SELECT * FROM few ORDER BY mood, id LIMIT 40', true, ARRAY['GpuSort'], '{}');

-- rows fetched by TID
SELECT check_rows('SELECT * FROM few ORDER BY loc, mood, id', true, ARRAY['Rows: fetched by TID'], ARRAY['gpusort.late_rows=on']);

-- a cursor, backwards too; a merge join that goes back to a mark, and a join of ours
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM few WHERE id % 50 = 0 ORDER BY mood DESC, id;
FETCH 5 FROM c;
FETCH BACKWARD 2 FROM c;
CLOSE c;
COMMIT;
SELECT check_rows('SELECT a.id, b.id AS j FROM few a JOIN few b USING (mood, k)', false, ARRAY['Merge Join.*GpuSort'],
	ARRAY['gpusort.enable_join=off', 'enable_hashjoin=off', 'enable_nestloop=off', 'max_parallel_workers_per_gather=0']);
SELECT check_rows('SELECT a.id, b.id AS j FROM few a JOIN few b USING (mood, k)', false, ARRAY['GpuSort Join'],
	ARRAY['enable_hashjoin=off', 'enable_mergejoin=off', 'enable_nestloop=off', 'max_parallel_workers_per_gather=0']);

-- collected by workers, and sorted together
CALL have_workers();
SET parallel_tuple_cost = 0;
SELECT compare('SELECT id, mood, loc FROM few ORDER BY mood, loc, id');
SELECT together('SELECT id, count(*) OVER (PARTITION BY mood) AS c FROM few', 'WindowAgg', 'gpusort.cost_row=0', 'gpusort.cost_key_byte=0', 'gpusort.cost_row_byte=0', 'gpusort.cost_emit=0');
RESET max_parallel_workers_per_gather;

-- indexes, by one process and by several
SELECT check_index('CREATE INDEX %s ON few ' || columns)
FROM unnest(ARRAY['(k)', '(mood DESC, n)', '(loc, icu)', '((lower(r)) NULLS FIRST) INCLUDE (id)', '(c) WHERE k > 50']) columns;
CREATE UNIQUE INDEX twice ON few (mood, k);
SET max_parallel_maintenance_workers = 2;
SET min_parallel_table_scan_size = 0;
SELECT check_index('CREATE UNIQUE INDEX %s ON few (id, mood)');
CREATE INDEX CONCURRENTLY later ON few (loc);
REINDEX INDEX later;
SELECT bt_index_check('later', true);
RESET debug_discard_caches;
DROP TABLE few;
