-- COPY FROM into partitioned tables whose partitions have indexes, and are new or in use: rows, indexes, and the line of the row that one of them refuses.
SET client_min_messages = warning;
SET gpusort.force = on;
SET default_toast_compression = pglz;
CREATE EXTENSION IF NOT EXISTS amcheck;
SELECT current_setting('data_directory') || '/leaves' AS file \gset

-- The rows that are in each partition after a COPY, of which indexes must know, or its error.  Where PostgreSQL uses free space, ours are in the order of id.
CREATE FUNCTION leaves_rows(tab text, options text, condition text, ours bool, what text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
	copied int8;
	message text;
	detail text;
	context text;
	name text;
BEGIN
	EXECUTE format('TRUNCATE %s', tab);
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY %s (id, k, t) FROM %L (%s) WHERE %s', tab, current_setting('data_directory') || '/leaves', options, condition);
	GET DIAGNOSTICS copied = ROW_COUNT;
	PERFORM bt_index_parent_check(indexrelid, true) FROM pg_index i JOIN pg_partition_tree(tab::regclass) p ON indrelid = relid JOIN pg_class c ON c.oid = indexrelid WHERE isleaf AND relam = 403;
	EXECUTE format('SELECT string_agg(sum, E''\n'' ORDER BY sum) FROM (SELECT concat(tableoid::regclass, '' '', count(*), '' '', md5(string_agg(%s))) AS sum FROM %s l GROUP BY tableoid) s', what, tab) INTO rows;
	RETURN copied || E'\n' || coalesce(rows, 'none');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT, name = CONSTRAINT_NAME;
	RETURN format('%s %s %s %s; %s', SQLSTATE, message, detail, name, regexp_replace(context, '(^|\n)(SQL statement|PL/pgSQL function leaves).*', ''));
END $$;
CREATE FUNCTION compare_leaves(tab text, options text DEFAULT 'FORMAT csv', condition text DEFAULT 'true', places bool DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	theirs text := leaves_rows(tab, options, condition, false, CASE WHEN places THEN 'ctid || l::text, '' '' ORDER BY ctid' ELSE 'l::text, '' '' ORDER BY id' END);
	ours text := leaves_rows(tab, options, condition, true, CASE WHEN places THEN 'ctid || l::text, '' '' ORDER BY ctid' ELSE 'l::text, '' '' ORDER BY ctid' END);
BEGIN
	RETURN CASE WHEN ours = theirs THEN regexp_replace(ours, '^(\d+)\n.*', '\1 rows') ELSE format(E'DIFFERENT: %s\nis not %s', ours, theirs) END;
END $$;

-- Levels, columns in another order, indexes of all and of some, few rows and many, a partition without any.
CREATE TABLE leaves (id int4 NOT NULL, k int4, t text, d date DEFAULT '2000-01-01', n numeric DEFAULT 7.5) PARTITION BY RANGE (k);
CREATE TABLE leaves_1 PARTITION OF leaves FOR VALUES FROM (0) TO (100);
CREATE TABLE leaves_2 (t text, gone int4, d date DEFAULT '1900-01-01', n numeric DEFAULT 7.5, k int4, id int4 NOT NULL);
ALTER TABLE leaves_2 DROP gone;
ALTER TABLE leaves ATTACH PARTITION leaves_2 FOR VALUES FROM (100) TO (200);
CREATE TABLE leaves_3 PARTITION OF leaves FOR VALUES FROM (200) TO (300) PARTITION BY HASH (id);
CREATE TABLE leaves_3_0 PARTITION OF leaves_3 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE leaves_3_1 PARTITION OF leaves_3 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE leaves_few PARTITION OF leaves FOR VALUES FROM (300) TO (301);
CREATE TABLE leaves_4 PARTITION OF leaves FOR VALUES FROM (310) TO (320);
CREATE TABLE leaves_rest PARTITION OF leaves DEFAULT;
CREATE UNIQUE INDEX ON leaves_1 (id);
CREATE INDEX ON leaves_1 USING gin (to_tsvector('simple', t));
CREATE UNIQUE INDEX ON leaves_2 ((id % 100000)) WHERE t <> 'x1';
CREATE INDEX ON leaves_2 (n, d, id);
CREATE UNIQUE INDEX ON leaves_3 (k, id);
CREATE INDEX ON leaves_3_1 USING hash (t);
ALTER TABLE leaves_few ADD PRIMARY KEY (id);
CREATE INDEX ON leaves_few USING brin (k);
CREATE INDEX ON leaves_4 (t, id);

-- Rows with numbers from 1 on, of which some come again, or with something else.
CREATE FUNCTION make_leaves(count int4, again text, options text DEFAULT 'FORMAT csv') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($copy$COPY (SELECT CASE %s ELSE repeat('0', %s) || i END, CASE WHEN i %% 100 = 50 THEN 300 ELSE i * 7 %% 330 END, CASE WHEN i %% 5 = 0 THEN E'x\ny"' ELSE 'x' || i %% 2 END FROM generate_series(1, %s) i) TO %L (%s)$copy$,
		again, CASE WHEN count > 5000 THEN 35 ELSE 0 END, count, current_setting('data_directory') || '/leaves', options);
END $$;

-- It is gpusort that loads them, and indexes are of use.
SELECT make_leaves(5000, 'WHEN i < 0 THEN ''''');
BEGIN;
TRUNCATE leaves;
SET LOCAL client_min_messages = debug1;
COPY leaves (id, k, t) FROM :'file' (FORMAT csv) WHERE k >= 315;
SET LOCAL client_min_messages = warning;
TRUNCATE leaves;
COPY leaves (id, k, t) FROM :'file' (FORMAT csv);
SET LOCAL enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM leaves_few WHERE id = 50;
SELECT (SELECT count(*) FROM leaves_few WHERE id = 50), (SELECT count(*) FROM leaves_3_1 WHERE t = 'x1'), (SELECT count(*) FROM leaves_1 WHERE to_tsvector('simple', t) @@ 'x1'), (SELECT count(*) FROM leaves_4 WHERE t = 'x1'),
	(SELECT count(*) FROM leaves_few WHERE k = 300), (SELECT count(*) FROM leaves_2 WHERE id % 100000 = 2045 AND t <> 'x1'), (SELECT count(*) FROM leaves_2 WHERE n = 7.5 AND d = '2000-01-01' AND id < 200);
ROLLBACK;

-- Nothing is wrong; a row comes again in one partition, then in another, whichever is built first, or has something else.
\set workers '(VALUES (0), (2)) w (workers), set_config(''max_parallel_maintenance_workers'', workers::text, false)'
\set compare 'SELECT workers, condition, compare_leaves(''leaves'', condition => condition) FROM :workers, (VALUES (''true''), (''id % 3 <> 1''), (''t <> E''''x\\ny"'''''')) c (condition)'
SELECT condition, compare_leaves('leaves', condition => condition) FROM (VALUES ('true'), ('id % 3 <> 1'), ('k < 100'), ('k >= 300')) c (condition);
SELECT make_leaves(5000, 'WHEN i = 2475 THEN ''15'' WHEN i = 4730 THEN ''10''');
:compare;
SELECT make_leaves(5000, 'WHEN i = 1250 THEN ''50'' WHEN i = 3630 THEN ''330'' WHEN i = 4900 THEN ''x''');
:compare;
SELECT make_leaves(5000, 'WHEN i = 1250 THEN ''x'' WHEN i = 3550 THEN ''50''');
:compare;
\set compare 'SELECT workers, condition, compare_leaves(''leaves'', condition => condition) FROM :workers, (VALUES (''true''), (''k NOT BETWEEN 200 AND 300'')) c (condition) WHERE workers > 0 OR condition = ''true'''
SELECT make_leaves(25000, 'WHEN i = 22032 THEN ''20'' WHEN i = 24000 THEN ''330''');
:compare;
SELECT make_leaves(25000, 'WHEN i = 24000 THEN ''330'' WHEN i = 21050 THEN ''50''');
:compare;
SELECT make_leaves(25000, 'WHEN i = 24000 THEN ''330''', 'ENCODING ''LATIN1''');
SELECT workers, compare_leaves('leaves', 'ENCODING ''LATIN1''') FROM :workers;

-- From a row on that has an unusual escape, PostgreSQL loads them, and finds in the indexes what was loaded before.
CREATE FUNCTION compare_odd(again text, odd int4) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('data_directory') || '/leaves';
	object oid;
BEGIN
	PERFORM make_leaves(25000, again, 'FORMAT text');
	object := lo_from_bytea(0, convert_to(regexp_replace(pg_read_file(file), format(E'(\n0*%s\t\\d+\t)x', odd), '\1\\xc3\\xa9'), 'UTF8'));
	PERFORM lo_export(object, file), lo_unlink(object);
	RETURN compare_leaves('leaves', 'FORMAT text');
END $$;
SELECT workers, compare_odd(again, odd) FROM :workers, (VALUES ('WHEN i < 0 THEN ''''', 23010), ('WHEN i = 24000 THEN ''330''', 21001), ('WHEN i = 21050 THEN ''50''', 23010)) v (again, odd) WHERE workers > 0 OR odd = 21001;
BEGIN;
TRUNCATE leaves;
SET LOCAL client_min_messages = debug1;
COPY leaves (id, k, t) FROM :'file' WHERE id BETWEEN 22990 AND 23030;
ROLLBACK;

-- An expression that fails, a row that is too large for an index, long ones by whoever may toast them.
SELECT make_leaves(5000, 'WHEN i < 0 THEN ''''');
TRUNCATE leaves;
CREATE INDEX leaves_divided ON leaves_3 ((100 / (id - 4000)));
SELECT workers, condition, compare_leaves('leaves', condition => condition) FROM :workers, (VALUES ('true'), ('id <> 4000')) c (condition);
DROP INDEX leaves_divided;
CREATE INDEX leaves_long ON leaves (md5(t), t);
COPY (SELECT i, i * 7 % 330, (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, CASE WHEN i % 500 = 7 THEN 200 ELSE i % 50 END) j) FROM generate_series(1, 5000) i) TO :'file' (FORMAT csv);
SELECT workers, condition, compare_leaves('leaves', condition => condition, places => false) FROM :workers, (VALUES ('true'), ('id <> 2007'), ('length(t) < 2000')) c (condition);
DROP INDEX leaves_long;
SELECT workers, compare_leaves('leaves') FROM :workers;
TRUNCATE leaves;

-- Partitions in use, beside others that are new: what comes again was there before, or not.  All is undone each time.
CREATE FUNCTION used_rows(condition text, ours bool, before text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	said text;
	message text;
	detail text;
	context text;
	name text;
BEGIN
	EXECUTE before;
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY leaves (id, k, t) FROM %L (FORMAT csv) WHERE %s', current_setting('data_directory') || '/leaves', condition);
	PERFORM bt_index_parent_check(indexrelid, true) FROM pg_index i JOIN pg_partition_tree('leaves') p ON indrelid = relid JOIN pg_class c ON c.oid = indexrelid WHERE isleaf AND relam = 403;
	SELECT string_agg(sum, E'\n' ORDER BY sum) INTO said FROM (SELECT concat(tableoid::regclass, ' ', count(*), ' ', md5(string_agg(l::text, ' ' ORDER BY id))) AS sum FROM leaves l GROUP BY tableoid) s;
	SET LOCAL enable_seqscan = off;
	SELECT concat(said, E'\n', (SELECT count(*) FROM leaves_1 WHERE to_tsvector('simple', t) @@ 'x1'), ' ', (SELECT count(*) FROM leaves_3_1 WHERE t = 'x1'), ' ', (SELECT count(*) FROM leaves_few WHERE k = 300)) INTO said;
	RAISE data_corrupted;
EXCEPTION WHEN data_corrupted THEN
	RETURN said;
WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT, name = CONSTRAINT_NAME;
	RETURN format('%s %s %s %s; %s', SQLSTATE, message, detail, name, regexp_replace(context, '(^|\n)(SQL statement|PL/pgSQL function used).*', ''));
END $$;
CREATE FUNCTION compare_used(condition text, before text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	theirs text := used_rows(condition, false, before);
	ours text := used_rows(condition, true, before);
BEGIN
	RETURN CASE WHEN ours <> theirs THEN format(E'DIFFERENT: %s\nis not %s', ours, theirs) WHEN ours LIKE 'leaves%' THEN regexp_replace(regexp_replace(ours, ' [0-9a-f]{32}', '', 'g'), E'\n', ', ', 'g') ELSE ours END;
END $$;
INSERT INTO leaves SELECT i, i * 7 % 330, 'x' || i % 2 FROM generate_series(30001, 32000) i;
\set compare 'SELECT workers, condition, before, compare_used(condition, before) FROM :workers, (VALUES (''true'', ''SELECT''), (''id % 3 <> 1'', ''TRUNCATE leaves_3''), (''k < 300'', ''TRUNCATE leaves_1'')) c (condition, before)'
SELECT make_leaves(5000, 'WHEN i < 0 THEN ''''');
:compare;
SELECT make_leaves(25000, 'WHEN i = 24000 THEN ''330'' WHEN i = 21050 THEN ''50''');
:compare WHERE workers > 0;
SELECT make_leaves(25000, 'WHEN i = 24050 THEN ''50'' WHEN i = 22020 THEN ''330''');
:compare WHERE workers > 0 AND before <> 'TRUNCATE leaves_3';
SELECT make_leaves(25000, 'WHEN i = 24050 THEN ''50'' WHEN i = 22032 THEN ''30010''');
:compare WHERE workers > 0;
SELECT make_leaves(25000, 'WHEN i = 24050 THEN ''50'' WHEN i = 21090 THEN ''30000''');
:compare WHERE workers > 0;
RESET max_parallel_maintenance_workers;

-- Who loads it: truncated, created, filled, changed, in savepoints, temporary.
SELECT make_leaves(200, 'WHEN i < 0 THEN ''''');
CREATE FUNCTION leaves_by(before text, tab text DEFAULT 'leaves') RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE before;
	PERFORM set_config('client_min_messages', 'debug1', true);
	EXECUTE format('COPY %s (id, k, t) FROM %L (FORMAT csv)', tab, current_setting('data_directory') || '/leaves');
	PERFORM set_config('client_min_messages', 'warning', true);
	RAISE data_corrupted;
EXCEPTION WHEN data_corrupted THEN
END $$;
SELECT leaves_by('SELECT');
SELECT leaves_by('TRUNCATE leaves');
SELECT leaves_by('TRUNCATE leaves_1, leaves_2, leaves_3, leaves_4; GRANT SELECT ON leaves_few TO public');
SELECT leaves_by('TRUNCATE leaves; INSERT INTO leaves_few VALUES (0, 300)');
SELECT leaves_by('TRUNCATE leaves; CREATE TABLE leaves_5 PARTITION OF leaves FOR VALUES FROM (400) TO (500)');
SELECT leaves_by('TRUNCATE leaves; ALTER TABLE leaves_rest ADD UNIQUE (id) DEFERRABLE');
SELECT leaves_by('TRUNCATE leaves; CREATE FUNCTION leaves_key(int4) RETURNS int4 IMMUTABLE LANGUAGE plpgsql AS ''BEGIN RETURN $1; END''; CREATE INDEX ON leaves_rest (leaves_key(id))');
SELECT leaves_by('CREATE FUNCTION leaves_key(int4) RETURNS int4 IMMUTABLE LANGUAGE plpgsql AS ''BEGIN RETURN $1; END''; CREATE INDEX ON leaves (leaves_key(id))');
SELECT leaves_by('TRUNCATE leaves; DROP INDEX leaves_4_t_id_idx');
SELECT leaves_by('SET LOCAL gpusort.copy_indexes = off; TRUNCATE leaves');
SELECT leaves_by('SET LOCAL gpusort.copy_indexes = empty');
SELECT leaves_by('SET LOCAL gpusort.copy_indexes = only_new');
SELECT leaves_by('SET LOCAL gpusort.copy_indexes = only_new; TRUNCATE leaves');
SELECT leaves_by('SET LOCAL gpusort.copy_indexes = only_new; TRUNCATE leaves_1, leaves_2, leaves_3, leaves_4');
BEGIN;
SAVEPOINT s;
TRUNCATE leaves;
ROLLBACK TO s;
SELECT leaves_by('SELECT');
SAVEPOINT s;
TRUNCATE leaves;
RELEASE s;
SELECT leaves_by('SELECT');
ROLLBACK;
TRUNCATE leaves;
-- Locks of empty partitions, but for those of one that an open cursor uses.
BEGIN;
SET LOCAL enable_seqscan = off;
DECLARE c CURSOR FOR SELECT 1 FROM leaves_few WHERE id = 5;
SET LOCAL gpusort.copy_indexes = empty;
SET LOCAL client_min_messages = debug1;
COPY leaves (id, k, t) FROM :'file' (FORMAT csv);
SELECT relation::regclass, mode FROM pg_locks WHERE pid = pg_backend_pid() AND relation::regclass::text ~ '^leaves_(1|few)' ORDER BY relation::regclass::text, mode;
ROLLBACK;
CREATE TEMP TABLE leaves_temp (id int4, k int4, t text, UNIQUE (k, id)) PARTITION BY RANGE (k);
CREATE TEMP TABLE leaves_temp_1 PARTITION OF leaves_temp FOR VALUES FROM (0) TO (300);
CREATE TEMP TABLE leaves_temp_2 PARTITION OF leaves_temp DEFAULT;
SELECT leaves_by('ALTER TABLE leaves_temp DROP CONSTRAINT leaves_temp_k_id_key; CREATE INDEX leaves_temp_few ON leaves_temp_2 (t)', 'leaves_temp');
SELECT compare_leaves('leaves_temp');
-- More rows than are kept in memory.
COPY (SELECT i, i % 300, repeat('t', 60) FROM generate_series(1, 60000) i) TO :'file' (FORMAT csv);
COPY leaves (id, k, t) FROM :'file' (FORMAT csv);
-- ... and may not be written to a file
SET temp_file_limit = 0;
DELETE FROM leaves WHERE id % 2 = 0;
COPY leaves (id, k, t) FROM :'file' (FORMAT csv) WHERE id % 2 = 0;
TRUNCATE leaves;
COPY leaves (id, k, t) FROM :'file' (FORMAT csv);
RESET temp_file_limit;
SELECT count(*), count(DISTINCT id), sum(pg_column_size(t)) FROM leaves;
SELECT count(bt_index_parent_check(indexrelid, true)) FROM pg_index i JOIN pg_partition_tree('leaves') p ON indrelid = relid JOIN pg_class c ON c.oid = indexrelid WHERE isleaf AND relam = 403;

DROP TABLE leaves, leaves_temp;
DROP FUNCTION leaves_rows, compare_leaves, make_leaves, compare_odd, leaves_by, used_rows, compare_used;
