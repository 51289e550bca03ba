-- COPY FROM that is left to PostgreSQL, and why.
SET gpusort.force = on;
SELECT current_setting('data_directory') || '/left' AS file \gset
COPY (SELECT i, 'x' || i FROM generate_series(1, 3) i) TO :'file';
\set copy 'COPY left_table FROM ':'file'
CREATE TABLE left_table (id int4, t text);
CREATE TYPE left_row AS (a int4, b int4);
SELECT format('COPY left_table FROM %L', :'file') AS command \gset
\set VERBOSITY terse
SET client_min_messages = debug1;

-- not so
:copy;
-- options
:copy (FORMAT csv, HEADER match);
:copy (FORMAT csv, DELIMITER ',', ESCAPE ',');
COPY left_table FROM PROGRAM 'echo';
SET gpusort.force = off;
:copy;
-- ... a byte less than 64 kB, and these
SET client_min_messages = warning;
CREATE TABLE left_bytes (t text);
SET client_min_messages = debug1;
COPY left_bytes FROM PROGRAM 'head -c 65535 /dev/zero | tr ''\0'' x';
COPY left_bytes FROM PROGRAM 'head -c 65536 /dev/zero | tr ''\0'' x';
-- ... and again: the last page, in which rows go on, is no free space
SET client_min_messages = warning;
TRUNCATE left_bytes;
COPY (SELECT repeat('x', 700) FROM generate_series(1, 100)) TO :'file';
SET client_min_messages = debug1;
COPY left_bytes FROM :'file';
COPY left_bytes FROM :'file';
COPY left_bytes FROM :'file';
-- ... for which no indexes are built
BEGIN;
SET LOCAL client_min_messages = warning;
TRUNCATE left_bytes;
CREATE INDEX ON left_bytes (t);
SET LOCAL client_min_messages = debug1;
COPY left_bytes FROM :'file';
COMMIT;
SET client_min_messages = warning;
DROP TABLE left_bytes;
COPY (SELECT i, 'x' || i FROM generate_series(1, 3) i) TO :'file';
SET client_min_messages = debug1;
SET gpusort.force = on;
:copy (FREEZE);
SET client_min_messages = warning;
CREATE TABLE left_generated (id int4, t text, twice int4 GENERATED ALWAYS AS (id * 2) STORED);
SET client_min_messages = debug1;
COPY left_generated (id, t) FROM :'file' WHERE id > 1;
SET client_min_messages = warning;
DROP TABLE left_generated;

-- free space, in a table and in a partition
SET client_min_messages = warning;
CREATE TEMP TABLE left_space (id int4, t text);
CREATE TEMP TABLE left_spaces (id int4, t text) PARTITION BY RANGE (id);
CREATE TEMP TABLE left_spaces_1 PARTITION OF left_spaces FOR VALUES FROM (0) TO (100000);
SELECT current_setting('data_directory') || '/left_long' AS long \gset
COPY (SELECT i, repeat('x', 100) FROM generate_series(1, 12000) i) TO :'long';
SET gpusort.force = off;
SET client_min_messages = debug1;
COPY left_space FROM :'long';
COPY left_spaces FROM :'long';
SET client_min_messages = warning;
DELETE FROM left_space WHERE id % 2 = 0;
DELETE FROM left_spaces WHERE id % 2 = 0;
VACUUM left_space, left_spaces;
SET client_min_messages = debug1;
COPY left_space FROM :'long';
COPY left_spaces FROM :'long';
SET client_min_messages = warning;
SELECT count(*), pg_relation_size('left_space') < 2 * 1500000 AS small FROM left_space;
SELECT count(*), pg_relation_size('left_spaces_1') < 2 * 1500000 AS small FROM left_spaces;
-- none is what the fillfactor keeps, or is less than a row
CREATE TEMP TABLE left_kept (id int4, t text) WITH (fillfactor = 80);
CREATE TEMP TABLE left_wide (id int4, t text);
SELECT current_setting('data_directory') || '/left_wide' AS wide \gset
COPY (SELECT i, repeat('x', 1640) FROM generate_series(1, 1000) i) TO :'wide';
COPY left_kept FROM :'long';
COPY left_wide FROM :'wide';
VACUUM left_kept, left_wide;
SET client_min_messages = debug1;
COPY left_kept FROM :'long';
COPY left_wide FROM :'wide';
SET client_min_messages = warning;
DELETE FROM left_kept WHERE id % 2 = 0;
DELETE FROM left_wide WHERE id % 2 = 0;
VACUUM left_kept, left_wide;
SET client_min_messages = debug1;
COPY left_kept FROM :'long';
COPY left_wide FROM :'wide';
SET client_min_messages = warning;
DROP TABLE left_space, left_spaces, left_kept, left_wide;
SET gpusort.force = on;

-- tables
SET client_min_messages = warning;
CREATE FUNCTION left_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER left_trigger AFTER INSERT ON left_table FOR EACH STATEMENT EXECUTE FUNCTION left_trigger();
SET client_min_messages = debug1;
:copy;
DROP TRIGGER left_trigger ON left_table;
SET client_min_messages = warning;
CREATE INDEX ON left_table (id);
SET client_min_messages = debug1;
:copy;
SET client_min_messages = warning;
DROP TABLE left_table;
CREATE TABLE left_table (id int4, t left_row);
COPY (SELECT i, '(1,2)' FROM generate_series(1, 3) i) TO :'file';
SET client_min_messages = debug1;
:copy;
SET client_min_messages = warning;
DROP TABLE left_table;
-- ... of a type whose input function has notices: each at its line, and once
CREATE TABLE left_table (id int4, q tsquery, o tsquery[]);
\set VERBOSITY default
\set SHOW_CONTEXT always
SET client_min_messages = notice;
COPY left_table FROM PROGRAM 'printf "1\ta\t{b}\n2\t \t{b,'' ''}\nx\ta\t{b}\n"';
\set SHOW_CONTEXT errors
\set VERBOSITY terse
SET client_min_messages = warning;
DROP TABLE left_table;
CREATE TABLE left_table (id int4, t text);
CREATE FUNCTION left_refused(command text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('client_min_messages', 'debug1', true);
	EXECUTE command;
	RETURN false;
EXCEPTION WHEN insufficient_privilege THEN
	RETURN true;
END $$;
CREATE ROLE regress_gpusort_loader;
GRANT INSERT ON left_table TO regress_gpusort_loader;
SET ROLE regress_gpusort_loader;
SELECT left_refused(:'command');
RESET ROLE;
SET client_min_messages = debug1;
BEGIN READ ONLY;
:copy;
ROLLBACK;

SET client_min_messages = warning;
DROP TABLE left_table;
DROP TYPE left_row;
DROP FUNCTION left_trigger, left_refused;
DROP ROLE regress_gpusort_loader;
