-- Indexes that gpusort has built are like any other afterwards: read in both directions,
-- written, split, their posting lists split, cleaned, vacuumed, their pages deleted
-- and used again; also those that workers have written in slices.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_index_use;
SET search_path = gpusort_index_use, gpusort_test, public;

CREATE TABLE used (id int, k int, s text COLLATE "C", n numeric, gaps int, other int) WITH (autovacuum_enabled = off, parallel_workers = 2, fillfactor = 90);
INSERT INTO used SELECT i, random('used', i, 3000), md5((i % 2000)::text), random('used', i, 500) / 4.0,
	CASE WHEN i % 3 > 0 THEN i % 60 END, 0
FROM generate_series(1, 10000) i;
SET gpusort.force = on;
SELECT built AS before, slices AS slices_before FROM gpusort_index_builds() \gset
SET max_parallel_maintenance_workers = 0;
CREATE UNIQUE INDEX used_id ON used (id);
CREATE INDEX used_k ON used (k);
CREATE INDEX used_s ON used (s DESC) WITH (fillfactor = 100);
CREATE INDEX used_plain ON used ((k % 100), id) WITH (deduplicate_items = off);
SET max_parallel_maintenance_workers = 2;
SET gpusort.slice_pages = 1;
CREATE INDEX used_n ON used (n DESC NULLS LAST, k) INCLUDE (id);
CREATE INDEX used_gaps ON used (gaps NULLS FIRST);
CREATE INDEX used_partial ON used ((-id)) WHERE gaps IS NOT NULL;
SELECT built - :before AS built, slices - :slices_before >= 3 * 2 AS slices FROM gpusort_index_builds();
RESET gpusort.force;

-- Each index's first column in index order, forward and backward; must be what the
-- table has.
CREATE FUNCTION scan_problem(index regclass, expression text, condition text, ordering text)
RETURNS text LANGUAGE plpgsql SET gpusort.enabled = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
	query text := format('SELECT string_agg(x::text, '' '') FROM (SELECT %s AS x FROM used WHERE %s ORDER BY %s) s', expression, condition, ordering);
	plan text;
	line text;
	by_index text;
	by_table text;
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'on', true), set_config('enable_indexonlyscan', 'on', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := concat_ws(E'\n', plan, line);
	END LOOP;
	EXECUTE query INTO by_index;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true);
	EXECUTE query INTO by_table;
	RETURN CASE WHEN plan !~ (' using ' || index::text) THEN plan
		WHEN by_index IS DISTINCT FROM by_table THEN format('%s by %s: wrong answer', index, ordering) END;
END $$;
CREATE FUNCTION check_use() RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(E'\n', (SELECT count(bt_index_parent_check(indexrelid, true, true)) FROM pg_index WHERE indrelid = 'used'::regclass) || ' valid',
		(SELECT string_agg(problem, E'\n') FROM (VALUES
			('used_id'::regclass, 'id', 'true', 'id', 'id DESC'),
			('used_k', 'k', 'true', 'k', 'k DESC'),
			('used_s', 's', 'true', 's DESC', 's'),
			('used_n', 'trim_scale(n)', 'true', 'n DESC NULLS LAST', 'n NULLS FIRST'),
			('used_gaps', 'gaps', 'true', 'gaps NULLS FIRST', 'gaps DESC NULLS LAST'),
			('used_plain', 'k % 100', 'true', 'k % 100', 'k % 100 DESC'),
			('used_partial', '-id', 'gaps IS NOT NULL', '-id', '-id DESC')) v(index, expression, condition, forward, backward),
			LATERAL (VALUES (forward), (backward)) o(ordering), scan_problem(index, expression, condition, ordering) problem))
$$;
-- pages that VACUUM has deleted
CREATE FUNCTION has_deleted_pages(index text) RETURNS bool LANGUAGE sql AS $$
	SELECT bool_or((bt_page_stats(index, block)).type IN ('d', 'D'))
	FROM generate_series(1, pg_relation_size(index) / current_setting('block_size')::int - 1) block
$$;

SELECT check_use();
-- pages are split, in the middle and at both ends
INSERT INTO used SELECT i, random('more', i, 6000) - 1000, md5((i % 3000)::text), random('more', i, 1000) / 4.0, i % 90, 0
FROM generate_series(10001, 20000) i;
SELECT check_use();
-- places in the table become free and are taken by equal keys: posting lists are split
DELETE FROM used WHERE id % 3 = 0;
VACUUM used;
SELECT check_use();
INSERT INTO used SELECT -i, random('used', i, 3000), md5((i % 2000)::text), random('used', i, 500) / 4.0, i % 60, 0
FROM generate_series(1, 7000) i;
SELECT check_use();
-- versions of rows pile up; dead ones are found by scans and make room
UPDATE used SET k = k WHERE id % 5 = 0;
UPDATE used SET other = other + 1, gaps = gaps + 0 WHERE id % 7 = 0;
UPDATE used SET n = n + 1 WHERE id BETWEEN 1 AND 3000;
SELECT check_use();
UPDATE used SET n = n - 1 WHERE id BETWEEN 1 AND 3000;
UPDATE used SET k = k + 1 WHERE id BETWEEN 1 AND 3000;
SELECT check_use();
-- whole pages are deleted, and used again
DELETE FROM used WHERE k BETWEEN 500 AND 1500 OR id BETWEEN 12000 AND 18000 OR s BETWEEN '4' AND '8' OR gaps BETWEEN 20 AND 40;
VACUUM used;
SELECT check_use(), has_deleted_pages('used_id'), has_deleted_pages('used_k'), has_deleted_pages('used_s'), has_deleted_pages('used_gaps');
INSERT INTO used SELECT i, random('again', i, 6000), md5(i::text), i / 3.0, NULL, 0 FROM generate_series(30001, 40000) i;
SELECT check_use();
-- aborted ones, and the index's uniqueness
BEGIN;
INSERT INTO used SELECT i, i, 'aborted', i, i, 0 FROM generate_series(50001, 52000) i;
ROLLBACK;
SELECT check_use();
INSERT INTO used VALUES (30001, 0) ON CONFLICT DO NOTHING;
\set VERBOSITY terse
INSERT INTO used VALUES (30001, 0);
TRUNCATE used;
INSERT INTO used SELECT i, i FROM generate_series(1, 100) i;
SELECT check_use();
DROP SCHEMA gpusort_index_use CASCADE;
