-- COPY FROM into a new table with indexes of all kinds: the line of the row that one of them refuses, whatever was left out before.
SET client_min_messages = warning;
SET gpusort.force = on;
CREATE EXTENSION IF NOT EXISTS amcheck;
SELECT current_setting('data_directory') || '/lines' AS file \gset

-- The rows that are in a table after a COPY, in their order, or its error.
CREATE FUNCTION lines_rows(options text, condition text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
	copied int8;
	message text;
	detail text;
	context text;
BEGIN
	TRUNCATE lines;
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY lines FROM %L (%s) WHERE %s', current_setting('data_directory') || '/lines', options, condition);
	GET DIAGNOSTICS copied = ROW_COUNT;
	SELECT copied || ' ' || md5(count(*) || string_agg(l::text, E'\n' ORDER BY ctid)) INTO rows FROM lines l;
	RETURN coalesce(rows, 'none');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s %s %s; %s', SQLSTATE, message, detail, regexp_replace(context, '(^|\n)SQL statement.*', ''));
END $$;
CREATE FUNCTION compare_lines(options text, condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	theirs text := lines_rows(options, condition, false);
	ours text := lines_rows(options, condition, true);
BEGIN
	RETURN CASE WHEN ours = theirs THEN regexp_replace(ours, '^(\d+) [0-9a-f]{32}$', '\1 rows') ELSE format(E'DIFFERENT: %s\nis not %s', ours, theirs) END;
END $$;

CREATE TABLE lines (id int4 PRIMARY KEY, t text, j jsonb);
COPY (SELECT CASE i WHEN 4500 THEN 4497 WHEN 4900 THEN 7 ELSE i END, CASE WHEN i % 5 = 0 THEN E'x\ny"' ELSE 'x' || i % 2 END, CASE WHEN i % 7 = 0 THEN E'{"a":\n1}' ELSE '{}' END
	FROM generate_series(1, 5000) i) TO :'file' (FORMAT csv);
\set conditions '(VALUES (''true''), (''id % 3 <> 0''), (''id % 3 <> 1''), (''id % 3 <> 2''), (''id > 4496''), (''id < 8 OR id > 4890''), (''id NOT IN (7, 4497)''), (''id < 0''), (''t <> ''''x1'''' AND id <> 4497'')) c (condition)'

-- It is gpusort that loads them: there is nothing of which an index would be built.
BEGIN;
TRUNCATE lines;
SET LOCAL client_min_messages = debug1;
COPY lines FROM :'file' (FORMAT csv) WHERE id < 0;
SET LOCAL client_min_messages = warning;
COPY lines FROM :'file' (FORMAT csv) WHERE t <> 'x1' AND id NOT IN (7, 4497);
SELECT bt_index_check('lines_pkey', true);
ROLLBACK;

-- By one process, and by workers.
SELECT condition, compare_lines('FORMAT csv', condition) FROM :conditions;
SET max_parallel_maintenance_workers = 2;
COPY (SELECT CASE i WHEN 64500 THEN 4497 WHEN 64900 THEN 7 ELSE i END, CASE WHEN i % 5 = 0 THEN E'x\ny"' ELSE 'x' || i % 2 END, CASE WHEN i % 7 = 0 THEN E'{"a":\n1}' ELSE '{}' END
	FROM generate_series(1, 65000) i) TO :'file' (FORMAT csv);
SELECT condition, compare_lines('FORMAT csv', condition) FROM :conditions;
COPY (SELECT CASE i WHEN 64500 THEN 4497 WHEN 64900 THEN 7 ELSE i END, CASE WHEN i % 5 = 0 THEN E'x\ny"é' ELSE 'x' || i % 2 END, '{}' FROM generate_series(1, 65000) i) TO :'file' (ENCODING 'LATIN1');
SELECT condition, compare_lines('ENCODING ''LATIN1''', condition) FROM :conditions;
RESET max_parallel_maintenance_workers;

-- Of several errors the first is told, by one process and by workers: a key that is there already, no number, a NULL, no JSON.
\set compare 'SELECT workers, compare_lines(''FORMAT csv'', ''true'') FROM (VALUES (0), (2)) w (workers), set_config(''max_parallel_maintenance_workers'', workers::text, false)'
COPY (SELECT CASE i WHEN 5 THEN '3' WHEN 15000 THEN 'x' ELSE i::text END, repeat('x', 60), CASE i WHEN 2000 THEN '{' ELSE '{}' END FROM generate_series(1, 20000) i) TO :'file' (FORMAT csv);
:compare;
COPY (SELECT CASE i WHEN 15000 THEN NULL WHEN 16000 THEN '3' ELSE i::text END, repeat('x', 60), CASE i WHEN 900 THEN '{' ELSE '{}' END FROM generate_series(1, 20000) i) TO :'file' (FORMAT csv);
:compare;
COPY (SELECT CASE i WHEN 15000 THEN NULL WHEN 15001 THEN 'x' ELSE i::text END, repeat('x', 60), CASE i WHEN 15002 THEN '{' ELSE '{}' END FROM generate_series(1, 20000) i) TO :'file' (FORMAT csv);
:compare;
COPY (SELECT CASE i WHEN 1990 THEN '3' WHEN 2000 THEN '4' WHEN 15000 THEN 'x' ELSE i::text END, repeat('x', 60), CASE i WHEN 15001 THEN '{' ELSE '{}' END FROM generate_series(1, 20000) i) TO :'file' (FORMAT csv);
:compare;
RESET max_parallel_maintenance_workers;

-- Expressions, conditions, other kinds of indexes.
COPY (SELECT CASE i WHEN 4500 THEN 4497 WHEN 4900 THEN 7 ELSE i END, CASE WHEN i % 5 = 0 THEN E'x\ny"' ELSE 'x' || i % 2 END, CASE WHEN i % 7 = 0 THEN E'{"a":\n1}' ELSE '{}' END
	FROM generate_series(1, 5000) i) TO :'file' (FORMAT csv);
TRUNCATE lines;
ALTER TABLE lines DROP CONSTRAINT lines_pkey;
CREATE UNIQUE INDEX lines_partial ON lines ((id % 4800)) WHERE id > 10;
CREATE INDEX lines_gin ON lines USING gin (j);
CREATE INDEX lines_brin ON lines USING brin (id);
CREATE INDEX lines_hash ON lines USING hash (t);
CREATE INDEX lines_spgist ON lines USING spgist (t);
CREATE INDEX lines_gist ON lines USING gist (int4range(id, id + 1));
CREATE INDEX lines_divided ON lines ((100 / (id - 4999)), lower(t));
SELECT condition, compare_lines('FORMAT csv', condition) FROM :conditions;
SELECT compare_lines('FORMAT csv', 'id < 4497');
SET enable_seqscan = off;
SELECT (SELECT count(*) FROM lines WHERE j @> '{"a": 1}'), (SELECT count(*) FROM lines WHERE id BETWEEN 100 AND 199), (SELECT count(*) FROM lines WHERE t = 'x1'), (SELECT count(*) FROM lines WHERE t ^@ 'x0'),
	(SELECT count(*) FROM lines WHERE int4range(id, id + 1) && '[5, 9]'), (SELECT count(*) FROM lines WHERE 100 / (id - 4999) = 0), (SELECT count(*) FROM lines WHERE id % 4800 = 77 AND id > 10);
RESET enable_seqscan;
BEGIN;
TRUNCATE lines;
COPY (SELECT * FROM lines) TO :'file';
COPY (SELECT i, 'x', '{}' FROM generate_series(1, 100) i) TO :'file' (FORMAT csv);
SET LOCAL client_min_messages = debug1;
COPY lines FROM :'file' (FORMAT csv) WHERE id > 200;
ROLLBACK;

-- Left to PostgreSQL: constraints that are checked later, or by other indexes, and users' functions.
CREATE FUNCTION lines_own(int4) RETURNS int4 LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN $1; END';
CREATE TABLE lines_deferred (id int4 UNIQUE DEFERRABLE);
CREATE TABLE lines_excluded (id int4, t text, j jsonb, EXCLUDE USING gist (int4range(id, id + 1) WITH &&));
CREATE TABLE lines_others (id int4, t text, j jsonb);
CREATE INDEX ON lines_others (lines_own(id));
BEGIN;
TRUNCATE lines_deferred, lines_excluded, lines_others;
SET LOCAL client_min_messages = debug1;
COPY lines_excluded FROM :'file' (FORMAT csv);
COPY lines_others FROM :'file' (FORMAT csv);
COPY lines_deferred FROM PROGRAM 'echo 1';
ROLLBACK;
DROP TABLE lines, lines_deferred, lines_excluded, lines_others;
DROP FUNCTION lines_rows, compare_lines, lines_own;
