-- Indexes that several processes write, beside PostgreSQL's: in small slices, so that
-- there are many seams.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_index_slices;
SET search_path = gpusort_index_slices, gpusort_test, public;
SET max_parallel_maintenance_workers = 2;
SET gpusort.slice_pages = 1;

-- The pages of an index, level by level from left to right, as their links say.
CREATE FUNCTION linked_pages(index regclass)
RETURNS TABLE (level int, place int, block int8, tuples text)
LANGUAGE sql AS $$
	WITH RECURSIVE linked AS (
		SELECT s.btpo_level::int AS level, 1 AS place, block, s.btpo_next
		FROM generate_series(1, pg_relation_size(index) / current_setting('block_size')::int - 1) block,
			bt_page_stats(index::text, block) s
		WHERE btpo_prev = 0
		UNION ALL
		SELECT l.level, l.place + 1, l.btpo_next, s.btpo_next
		FROM linked l, bt_page_stats(index::text, l.btpo_next) s
		WHERE l.btpo_next > 0 AND s.btpo_prev = l.block AND s.btpo_level = l.level)
	SELECT level, place, block,
		(SELECT string_agg(concat_ws(' ', i.ctid, i.itemlen, i.nulls, i.vars, i.data, i.tids), E'\n' ORDER BY i.itemoffset)
		 FROM bt_page_items(index::text, block) i
		 WHERE i.itemoffset > CASE WHEN btpo_next > 0 THEN 1 ELSE 0 END)
	FROM linked
$$;

-- Create an index with PostgreSQL and with gpusort, in slices.  It must be valid; all
-- blocks must be in use; leaf tuples must be the same, in order; and there must be no
-- more leaf pages than one for each seam, or none if the pages are to be the same.
CREATE FUNCTION check_slices(definition text, same_pages bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before record;
	builds record;
	slices int8;
	ours record;
	theirs record;
	pages text := 'SELECT max(place) FILTER (WHERE level = 0) AS leaves, count(*) AS blocks,
		md5(string_agg(tuples, E''\n'' ORDER BY place) FILTER (WHERE level = 0)) AS tuples,
		md5(string_agg(tuples, E''\n\n'' ORDER BY place) FILTER (WHERE level = 0)) AS pages FROM linked_pages(''%s_index'')';
	problem text;
BEGIN
	SET LOCAL gpusort.enabled = off;
	EXECUTE format(definition, 'postgres_index');
	SET LOCAL gpusort.enabled = on;
	SET LOCAL gpusort.force = on;
	SELECT * INTO before FROM gpusort_index_builds();
	EXECUTE format(definition, 'gpusort_index');
	SELECT * INTO builds FROM gpusort_index_builds();
	SET LOCAL gpusort.force = off;
	slices := builds.slices - before.slices;
	EXECUTE format(pages, 'gpusort') INTO ours;
	EXECUTE format(pages, 'postgres') INTO theirs;
	PERFORM bt_index_parent_check('gpusort_index', true, true);
	problem := concat_ws(', ',
		CASE WHEN builds.built = before.built THEN 'not built by gpusort' END,
		CASE WHEN slices < 2 THEN format('%s slices', slices) END,
		CASE WHEN ours.blocks <> pg_relation_size('gpusort_index') / current_setting('block_size')::int - 1
			THEN 'some blocks are not in use' END,
		CASE WHEN ours.tuples <> theirs.tuples THEN 'other tuples' END,
		CASE WHEN same_pages AND ours.pages <> theirs.pages THEN 'other pages' END,
		CASE WHEN NOT ours.leaves BETWEEN theirs.leaves AND theirs.leaves + slices - 1
			THEN format('%s leaves instead of %s', ours.leaves, theirs.leaves) END);
	DROP INDEX postgres_index, gpusort_index;
	RETURN replace(definition, '%s ', '') ||
		CASE WHEN problem <> '' THEN ': FAILED ' || problem WHEN same_pages THEN ': ok, same pages' ELSE ': ok' END;
END $$;

CREATE TABLE t (id int, few int, k int8, s text COLLATE "C", n numeric, one int) WITH (parallel_workers = 2);
INSERT INTO t SELECT i, i % 10, random('slices', i) * 40000 + i, md5((i / 3)::text), CASE WHEN i % 7 > 0 THEN (i / 5) / 10.0 END, 1
FROM generate_series(1, 40000) i;
ANALYZE t;
-- tuples of one length, nothing to deduplicate: cut where pages end
SELECT check_slices('CREATE UNIQUE INDEX %s ON t (id)', true);
SELECT check_slices('CREATE INDEX %s ON t (k)', true);
SELECT check_slices('CREATE INDEX %s ON t (few DESC, id) WITH (fillfactor = 50)', true);
SELECT check_slices('CREATE INDEX %s ON t (few, id) WITH (fillfactor = 10)', true);
SELECT check_slices('CREATE INDEX %s ON t (one) WITH (deduplicate_items = off)', true);
SELECT check_slices('CREATE INDEX %s ON t (few) INCLUDE (id, one)', true);
-- posting lists: short ones, longer ones, longer than a slice
SELECT check_slices('CREATE INDEX %s ON t ((id / 3))', false);
SELECT check_slices('CREATE INDEX %s ON t ((id / 1000))', false);
SELECT check_slices('CREATE INDEX %s ON t (few DESC)', false);
SELECT check_slices('CREATE INDEX %s ON t (one)', false);
SELECT check_slices('CREATE INDEX %s ON t (one) WITH (fillfactor = 30)', false);
-- tuples of all lengths, nulls, equal ones that look different
SELECT check_slices('CREATE INDEX %s ON t (s)', false);
SELECT check_slices('CREATE INDEX %s ON t (s) WITH (deduplicate_items = off, fillfactor = 100)', false);
SELECT check_slices('CREATE INDEX %s ON t (n NULLS FIRST)', false);
SELECT check_slices('CREATE INDEX %s ON t (n DESC, s)', false);
SELECT check_slices('CREATE INDEX %s ON t (few, n, one)', false);
SELECT check_slices('CREATE UNIQUE INDEX %s ON t (id) INCLUDE (s)', false);
SELECT check_slices('CREATE INDEX %s ON t (s COLLATE "en-x-icu", few)', false);
SELECT check_slices('CREATE INDEX %s ON t (upper(s), few) WHERE few < 5', false);
CREATE TABLE wide (id int, b bytea) WITH (parallel_workers = 2);
ALTER TABLE wide ALTER b SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, decode(repeat(md5((i % 700)::text), i % 50 * 2), 'hex') FROM generate_series(1, 8000) i;
SELECT check_slices('CREATE INDEX %s ON wide (b)', false);
SELECT check_slices('CREATE INDEX %s ON wide (b DESC, id) WITH (fillfactor = 70)', false);
-- of one length, few on a page
CREATE TYPE long;
CREATE FUNCTION long_in(cstring) RETURNS long IMMUTABLE STRICT LANGUAGE internal AS 'textin';
CREATE FUNCTION long_out(long) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'textout';
CREATE TYPE long (INPUT = long_in, OUTPUT = long_out, internallength = 2604, alignment = int4);
CREATE TABLE few_a_page (id int, l long) WITH (parallel_workers = 2);
INSERT INTO few_a_page SELECT i, repeat('x', 2600)::long FROM generate_series(1, 6000) i;
SELECT check_slices('CREATE INDEX %s ON few_a_page (id) INCLUDE (l)', true);
CREATE UNLOGGED TABLE u WITH (parallel_workers = 2) AS SELECT * FROM t;
SELECT check_slices('CREATE INDEX %s ON u (k)', true);
SELECT check_slices('CREATE INDEX %s ON u (s, few)', false);

-- by other ways of building; dead rows
SET gpusort.force = on;
SELECT slices AS before FROM gpusort_index_builds() \gset
CREATE INDEX CONCURRENTLY i ON t (few, id);
DELETE FROM t WHERE id % 19 = 0;
BEGIN;
UPDATE t SET few = 11 WHERE id BETWEEN 1000 AND 2000;
ALTER TABLE t ADD UNIQUE (id);
COMMIT;
REINDEX TABLE CONCURRENTLY t;
REINDEX TABLE t;
SELECT slices - :before >= 4 * 4 AS slices FROM gpusort_index_builds();
SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 't'::regclass AND indisvalid;

-- by one process: too small; private memory; no workers
SELECT slices AS before FROM gpusort_index_builds() \gset
CREATE INDEX small ON t (k) WHERE few < 2 AND id < 20000;
SET gpusort.slice_pages = 1000;
CREATE INDEX one_slice ON t (k);
SET gpusort.slice_pages = 1;
SET gpusort.pool_quota = 0;
CREATE INDEX private ON t (k);
RESET gpusort.pool_quota;
SET max_parallel_maintenance_workers = 0;
CREATE INDEX alone ON t (k);
RESET max_parallel_maintenance_workers;
SELECT slices - :before AS slices FROM gpusort_index_builds();
SELECT count(bt_index_parent_check(indexrelid, true, true)) FROM pg_index WHERE indrelid = 't'::regclass AND indisvalid;

-- errors while slices are written
\set VERBOSITY terse
INSERT INTO wide SELECT -1, decode(string_agg(md5(i::text), ''), 'hex') FROM generate_series(1, 200) i;
CREATE INDEX too_long ON wide (b DESC);
CREATE TYPE longer;
CREATE FUNCTION longer_in(cstring) RETURNS longer IMMUTABLE STRICT LANGUAGE internal AS 'textin';
CREATE FUNCTION longer_out(longer) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'textout';
CREATE TYPE longer (INPUT = longer_in, OUTPUT = longer_out, internallength = 4104, alignment = int4);
CREATE TABLE one_a_page (id int, l longer) WITH (parallel_workers = 2);
INSERT INTO one_a_page SELECT i, repeat('x', 4100)::longer FROM generate_series(1, 6000) i;
CREATE INDEX too_long ON one_a_page (id) INCLUDE (l);

-- Verified by several processes; under libc's collations, some rows have to be moved
-- (silent, for the locales are not the same everywhere).
SET gpusort.verify = on;
SELECT check_slices('CREATE INDEX %s ON t (k)', true);
SELECT check_slices('CREATE INDEX %s ON t (s, one)', false);
SELECT check_slices('CREATE INDEX %s ON t (one)', false);
RESET gpusort.verify;
CREATE TABLE ascii WITH (parallel_workers = 2) AS
SELECT (SELECT string_agg((ARRAY['c', 'h', 'C', 'H', '7', '1', '-', ' '])[1 + random('slices' || j, i, 8)], '')
		FROM generate_series(1, 2 + i % 6) j) AS k
FROM generate_series(1, 20000) i;
DO $$
DECLARE
	result text;
BEGIN
	FOR result IN
		SELECT check_slices(format('CREATE INDEX %%s ON ascii (k COLLATE %I)', collname), false)
		FROM pg_collation
		WHERE collprovider = 'c' AND collnamespace = 'pg_catalog'::regnamespace AND
			collname IN ('en_US.utf8', 'cs_CZ.utf8') AND
			collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding()))
	LOOP
		IF result !~ ': ok$' THEN
			RAISE WARNING '%', result;
		END IF;
	END LOOP;
END $$;
DROP SCHEMA gpusort_index_slices CASCADE;
