-- CLUSTER: tables in the order of an index, as PostgreSQL's own CLUSTER leaves them.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_cluster;
SET search_path = gpusort_cluster, gpusort_test, public;
SET gpusort.min_rows = 100;
SET maintenance_work_mem = '16MB';

-- All that pages of a table say, but for LSNs.
CREATE FUNCTION heap_pages(heap regclass) RETURNS text LANGUAGE sql AS $$
	SELECT pg_relation_size(heap) || ' bytes ' || coalesce(string_agg(concat_ws(' ', block, lower, upper, special, flags, prune_xid, items), E'\n' ORDER BY block), '')
	FROM generate_series(0, pg_relation_size(heap) / current_setting('block_size')::int - 1) block,
		LATERAL get_raw_page(heap::text, block::int) page, page_header(page),
		LATERAL (SELECT string_agg(i::text, E'\n' ORDER BY lp) FROM heap_page_items(page) i) i(items)
$$;

-- Cluster a table with and without gpusort, and say how pages and rows differ; and whether
-- gpusort has sorted it.
CREATE FUNCTION check_cluster(heap text, index text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	command text := format('CLUSTER %s USING %s', heap, index);
	contents text := format('SELECT md5(string_agg(t::text, E''\n'' ORDER BY t::text)) FROM %s t', heap);
	before record;
	now record;
	rows_before text;
	rows_after text;
	theirs text;
	ours text;
	file oid := pg_relation_filenode(heap);
BEGIN
	EXECUTE contents INTO rows_before;
	BEGIN
		SET LOCAL gpusort.enabled = off;
		EXECUTE command;
		theirs := heap_pages(heap);
		RAISE EXCEPTION USING errcode = 'GS000';
	EXCEPTION WHEN SQLSTATE 'GS000' THEN
		before := gpusort_clusters();
		EXECUTE command;
		now := gpusort_clusters();
	END;
	ours := heap_pages(heap);
	EXECUTE contents INTO rows_after;
	RETURN concat_ws(', ', CASE
		WHEN now.sorted > before.sorted THEN 'sorted'
		WHEN now.given_up > before.given_up THEN 'given up'
		WHEN now.left_alone > before.left_alone THEN 'left alone'
		ELSE 'not asked' END,
		CASE WHEN ours <> theirs THEN 'other pages' END,
		CASE WHEN rows_after <> rows_before THEN 'other rows' END,
		CASE WHEN file = pg_relation_filenode(heap) THEN 'not clustered' END,
		(SELECT string_agg(msg, ' ') FROM verify_heapam(heap)));
END $$;

CREATE TABLE t (id int, k int8, f float8, s text COLLATE "C", n numeric, d date);
INSERT INTO t SELECT i, random('cluster', i), -random('cluster f', i) / 7.0, md5(i::text), (i % 1000) / 8.0,
	'2020-01-01'::date + i % 500
FROM generate_series(1, 3000) i;
UPDATE t SET k = NULL, s = NULL WHERE id % 10 = 0;
DELETE FROM t WHERE id % 7 = 0;

-- Types, directions, several columns
CREATE UNIQUE INDEX t_id ON t (id DESC);
CREATE INDEX t_k ON t (k NULLS FIRST, id);
CREATE INDEX t_f ON t (f, id);
CREATE INDEX t_s ON t (s DESC NULLS LAST, id) INCLUDE (n);
CREATE INDEX t_n ON t (n, d DESC, id);
CREATE INDEX t_icu ON t (s COLLATE "en-x-icu", id);
SELECT check_cluster('t', index) FROM unnest('{t_id, t_k, t_f, t_s, t_n, t_icu}'::text[]) index;

-- Expressions: first, last, between columns, of several words, of other collations, none but null
CREATE INDEX t_lower ON t (lower(s) DESC, id);
CREATE INDEX t_last ON t (k, abs(id - 1500) NULLS FIRST, id) INCLUDE (s);
CREATE INDEX t_between ON t ((d + 7) DESC NULLS LAST, n, (-k), (s || 'x') COLLATE "en-x-icu", id DESC);
CREATE INDEX t_long ON t ((CASE WHEN id % 3 > 0 THEN repeat(s, 5) END), ((f * 1000)::numeric), id);
CREATE INDEX t_nothing ON t (nullif(id, id), (left(s, 3)::name), id);
SELECT check_cluster('t', index) FROM unnest('{t_lower, t_last, t_between, t_long, t_nothing}'::text[]) index;
SET gpusort.verify = on;
SET gpusort.inject_fault = verify;
SELECT check_cluster('t', 't_lower');
RESET gpusort.inject_fault;
RESET gpusort.verify;

-- What was clustered is known, and its indexes are valid
SELECT indexrelid::regclass FROM pg_index WHERE indisclustered AND indrelid = 't'::regclass;
SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 't'::regclass;
SELECT reltuples, relpages = pg_relation_size('t') / current_setting('block_size')::int AS relpages FROM pg_class WHERE oid = 't'::regclass;

-- What it is left alone for
CREATE INDEX t_array ON t ((ARRAY[id]));
CREATE INDEX t_gist ON t USING gist (box(point(id, id), point(id, id)));
SELECT index, check_cluster('t', index) FROM unnest('{t_array, t_gist}'::text[]) index;
SET gpusort.enable_cluster = off;
SELECT check_cluster('t', 't_k');
RESET gpusort.enable_cluster;
SET gpusort.min_rows = 1000000;
SELECT check_cluster('t', 't_f');
SET gpusort.min_rows = 100;
SET enable_indexscan = off;
SELECT check_cluster('t', 't_k');
RESET enable_indexscan;

-- Given up: memory, a value, an order that is not confirmed
SET gpusort.verify = on;
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
SELECT check_cluster('t', 't_id');
SET gpusort.inject_fault = codec;
SELECT check_cluster('t', 't_k');
SET gpusort.inject_fault = verify;
SELECT check_cluster('t', 't_f');
RESET gpusort.inject_fault;
RESET gpusort.verify;
RESET gpusort.enable_spill;

-- Columns dropped and added, long ago and just now; a row without any
CREATE TABLE columns (a text, id int, b int, c text);
INSERT INTO columns SELECT repeat('a', i % 50), i * 7919 % 3001, i, 'c' FROM generate_series(1, 1000) i;
ALTER TABLE columns ADD d int DEFAULT 17, ADD e text DEFAULT 'missing', ADD f int;
INSERT INTO columns SELECT repeat('a', i % 50), i * 7919 % 3001, i, 'c', i, 'there', i FROM generate_series(1001, 2000) i;
CREATE UNIQUE INDEX columns_id ON columns (id);
SELECT check_cluster('columns', 'columns_id');
ALTER TABLE columns DROP a, DROP d;
ALTER TABLE columns ADD g text DEFAULT repeat('g', 100);
SELECT check_cluster('columns', 'columns_id');
INSERT INTO columns SELECT -i, i, 'c', 'later', i FROM generate_series(1, 1000) i;
CREATE UNIQUE INDEX columns_f ON columns (f DESC NULLS FIRST, id);
SELECT check_cluster('columns', 'columns_f');
CREATE INDEX columns_added ON columns ((e || g), abs(id), b, id);
SELECT check_cluster('columns', 'columns_added');
SELECT count(*), sum(id), count(DISTINCT g) FROM columns;

-- Values out of line, compressed, toasted keys; and rows too long that can't be
CREATE TABLE toasted (id int, key text COLLATE "C", long text, plain text);
ALTER TABLE toasted ALTER key SET STORAGE external, ALTER plain SET STORAGE plain;
INSERT INTO toasted SELECT i, CASE WHEN i % 3 = 0 THEN repeat(md5((i % 100)::text), 100) ELSE md5((i % 100)::text) END,
	CASE i % 4 WHEN 0 THEN repeat('x', 10000) WHEN 1 THEN (SELECT string_agg(md5((i * 100 + j)::text), '') FROM generate_series(1, 100) j) END,
	CASE WHEN i % 5 = 0 THEN repeat('p', 2500) END
FROM generate_series(1, 500) i;
CREATE UNIQUE INDEX toasted_id ON toasted (id DESC);
CREATE INDEX toasted_key ON toasted (substr(key, 1, 10), id);
SELECT check_cluster('toasted', 'toasted_id');
SELECT array_agg(DISTINCT msg) FROM verify_heapam('toasted', check_toast => true);
SELECT check_cluster('toasted', 'toasted_key');
CREATE INDEX toasted_long ON toasted (length(long) DESC, md5(key), id);
SELECT check_cluster('toasted', 'toasted_long');
SELECT array_agg(DISTINCT msg) FROM verify_heapam('toasted', check_toast => true);
CREATE TABLE toasted_keys AS SELECT * FROM toasted WHERE length(key) < 100 OR id < 50;
ALTER TABLE toasted_keys ALTER key SET STORAGE external;
UPDATE toasted_keys SET key = left(key, 2500);
CREATE INDEX toasted_keys_key ON toasted_keys (key, id) WITH (fillfactor = 100);
SELECT check_cluster('toasted_keys', 'toasted_keys_key');
CREATE INDEX toasted_keys_mixed ON toasted_keys (key DESC, (id % 7), id) WITH (fillfactor = 100);
SELECT check_cluster('toasted_keys', 'toasted_keys_mixed');
SELECT array_agg(DISTINCT msg) FROM verify_heapam('toasted_keys', check_toast => true);

-- Fillfactor; unlogged and temporary tables, materialized views, empty tables
CREATE TABLE loose WITH (fillfactor = 37) AS SELECT * FROM t;
CREATE INDEX loose_id ON loose (id);
SELECT check_cluster('loose', 'loose_id');
CREATE UNLOGGED TABLE unlogged AS SELECT * FROM t;
CREATE INDEX unlogged_id ON unlogged (id);
SELECT check_cluster('unlogged', 'unlogged_id');
CREATE TEMP TABLE temporary AS SELECT * FROM t;
CREATE INDEX temporary_id ON temporary (id);
SELECT check_cluster('temporary', 'temporary_id');
CREATE MATERIALIZED VIEW view AS SELECT * FROM t;
CREATE INDEX view_id ON view (id);
SELECT check_cluster('view', 'view_id');
CREATE TABLE empty (id int PRIMARY KEY);
SET gpusort.force = on;
SELECT check_cluster('empty', 'empty_pkey');
INSERT INTO empty SELECT generate_series(1, 500);
DELETE FROM empty;
SELECT check_cluster('empty', 'empty_pkey');
RESET gpusort.force;

-- Versions of the transaction's own, and chains of updates among them
CREATE TABLE versions (id int, v int, s text) WITH (fillfactor = 70);
INSERT INTO versions SELECT i * 7919 % 3001, 0, 'old' FROM generate_series(1, 1000) i;
CREATE INDEX versions_id ON versions (id, v);
CREATE INDEX versions_abs ON versions (abs(id), v, id);
BEGIN;
INSERT INTO versions SELECT 10000 - i, 0, 'new' FROM generate_series(1, 1000) i;
SELECT check_cluster('versions', 'versions_id');
DELETE FROM versions WHERE id % 13 = 0;
SELECT check_cluster('versions', 'versions_id');
UPDATE versions SET v = v + 1 WHERE id % 3 = 0;
UPDATE versions SET v = v + 1, id = -id WHERE id % 6 = 0;
SAVEPOINT a;
UPDATE versions SET v = v + 1 WHERE id % 2 = 0;
ROLLBACK TO a;
SELECT id FROM versions WHERE id % 5 = 0 ORDER BY id LIMIT 1 FOR SHARE;
SELECT check_cluster('versions', index) FROM unnest('{versions_id, versions_abs}'::text[]) index;
SELECT count(*), sum(v), sum(id) FROM versions;
COMMIT;
SELECT count(*), sum(v), sum(id) FROM versions;
SELECT check_cluster('versions', 'versions_id');

-- More than there is memory for
CREATE TABLE large AS SELECT (i * 7919 % 30011) AS id, md5(i::text) || md5((i + 1)::text) AS s, i FROM generate_series(1, 30000) i;
CREATE UNIQUE INDEX large_id ON large (id DESC);
SET maintenance_work_mem = '1MB';
SET gpusort.pool_quota = 0;
SELECT check_cluster('large', 'large_id');
SET gpusort.force = on;
SELECT check_cluster('large', 'large_id');
CREATE INDEX large_expression ON large (reverse(s), id);
SELECT check_cluster('large', 'large_expression');
RESET gpusort.force;
RESET gpusort.pool_quota;
SET maintenance_work_mem = '16MB';

-- All ways to say it
CREATE FUNCTION clusters(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before int8 := (gpusort_clusters()).sorted;
BEGIN
	EXECUTE statement;
	RETURN (gpusort_clusters()).sorted - before;
END $$;
SELECT clusters('CLUSTER t_k ON t');
SELECT clusters('CLUSTER t');
ALTER TABLE t SET WITHOUT CLUSTER;
ALTER TABLE t CLUSTER ON t_id;
SELECT clusters('CLUSTER t');
SELECT sorted AS before FROM gpusort_clusters() \gset
VACUUM FULL t;
SELECT sorted - :before AS sorted FROM gpusort_clusters();
CREATE TABLE parts (id int, s text) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (5000);
INSERT INTO parts SELECT i * 7919 % 3001, md5(i::text) FROM generate_series(1, 2000) i;
CREATE INDEX parts_id ON parts (id);
CLUSTER parts USING parts_id;
SELECT sorted - :before AS sorted FROM gpusort_clusters();
SELECT count(*), count(*) FILTER (WHERE id < before) AS unordered FROM (SELECT id, lag(id) OVER (PARTITION BY tableoid ORDER BY ctid) AS before FROM parts) s;

-- The planner's access method is heap's own again, after errors, too
CREATE FUNCTION fails(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('gpusort_test.fail', true) = 'on' THEN RAISE EXCEPTION 'index expression fails'; END IF;
	RETURN i;
END $$;
CREATE INDEX t_fails ON t (fails(id));
SET gpusort_test.fail = 'on';
CLUSTER t USING t_id;
CLUSTER t USING t_fails;
RESET gpusort_test.fail;
DROP INDEX t_fails;
CREATE INDEX t_after ON t (n);
SELECT check_cluster('t', 't_id');
SELECT count(*) FROM t;

DROP SCHEMA gpusort_cluster CASCADE;
