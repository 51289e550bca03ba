-- COPY FROM into tables that have rows, and indexes in use: rows, what indexes have of them, and errors are PostgreSQL's.
SET client_min_messages = warning;
SET gpusort.force = on;
SET default_toast_compression = pglz;
CREATE EXTENSION IF NOT EXISTS amcheck;
SELECT current_setting('data_directory') || '/used' AS file \gset

CREATE TABLE used (id int4, u int8, t text COLLATE "C", w text, few int4, a int4[], p point);

-- The table with rows 1 .. 1000, and after a COPY; or its error.
CREATE FUNCTION used_rows(options text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	copied int8;
	result text := '';
	one text;
	query text;
	state text;
	message text;
	detail text;
	context text;
BEGIN
	TRUNCATE used;
	INSERT INTO used SELECT i, -i, 't' || i, 'w' || i, i % 10, ARRAY[i, i % 7], point(i, i) FROM generate_series(1, 1000) i;
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY used FROM %L %s', current_setting('data_directory') || '/used', options);
	GET DIAGNOSTICS copied = ROW_COUNT;
	PERFORM bt_index_check(i.indexrelid, true) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
		WHERE i.indrelid = 'used'::regclass AND m.amname = 'btree';
	PERFORM set_config('enable_seqscan', 'off', true);
	FOREACH query IN ARRAY ARRAY['SELECT id, u FROM used ORDER BY id, u', 'SELECT u, id FROM used WHERE u <> 7 ORDER BY u, id', 'SELECT t, id FROM used ORDER BY t COLLATE "C" DESC, id',
		'SELECT id FROM used WHERE id + u > 5 ORDER BY id + u, id', 'SELECT w, id FROM used WHERE id > 3000 ORDER BY w, id', 'SELECT id FROM used WHERE a @> ARRAY[3] ORDER BY id',
		'SELECT id FROM used WHERE p <@ box(point(900, 900), point(2000, 2000)) ORDER BY id', 'SELECT id FROM used WHERE few BETWEEN 3 AND 4 ORDER BY id', 'SELECT id FROM used WHERE t = ''t1007'' ORDER BY id']
	LOOP
		EXECUTE format('SELECT md5(string_agg(q::text, E''\n'')) FROM (%s) q', query) INTO one;
		result := result || coalesce(one, 'none') || ' ';
	END LOOP;
	PERFORM set_config('enable_seqscan', 'on', true);
	SELECT md5(string_agg(l::text, E'\n' ORDER BY ctid)) FROM used l INTO one;
	RETURN format('%s rows: %s%s', copied, result, one);
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s: %s, %s; %s', state, message, detail, regexp_replace(context, '(^|\n)SQL statement.*', ''));
END $$;

-- Lines from a query to the file; what both make of it, if that is the same: of errors in words, else the number of rows.
CREATE FUNCTION compare_used(query text, options text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	object oid;
	bytes bytea;
	theirs text;
	ours text;
BEGIN
	EXECUTE query INTO bytes;
	object := lo_from_bytea(0, bytes);
	PERFORM lo_export(object, current_setting('data_directory') || '/used');
	PERFORM lo_unlink(object);
	theirs := used_rows(options, false);
	ours := used_rows(options, true);
	IF ours IS DISTINCT FROM theirs THEN
		RETURN format(E'DIFFERENT: %s\nis not %s', ours, theirs);
	END IF;
	RETURN regexp_replace(ours, 'rows: .*', 'rows');
END $$;

-- Rows of numbers 1001 .. 1000 + count, at random; some that are others at a place.
CREATE FUNCTION used_lines(count int4, changes jsonb DEFAULT '{}', separator text DEFAULT E'\t') RETURNS bytea LANGUAGE sql AS $$
	SELECT convert_to(string_agg(coalesce(changes->>place::text, concat_ws(separator, id, -id, 't' || id, 'w' || id % 100, id % 10, format('"{%s,%s}"', id, id % 7), format('"(%s,%s)"', id, id))) || E'\n', '' ORDER BY place), 'UTF8')
	FROM (SELECT i AS place, 1001 + (i * 7919::int8) % count AS id FROM generate_series(1, count) i) r
$$;
CREATE FUNCTION used_text(count int4, changes jsonb DEFAULT '{}') RETURNS bytea LANGUAGE sql AS $$
	SELECT convert_to(replace(convert_from(used_lines(count, changes), 'UTF8'), '"', ''), 'UTF8')
$$;

-- Which indexes, and that it is gpusort who does it.
CREATE UNIQUE INDEX used_id ON used (id);
CREATE UNIQUE INDEX used_u ON used (u DESC) INCLUDE (id);
CREATE INDEX used_t ON used (t DESC NULLS FIRST, few);
SELECT compare_used('SELECT used_text(6000)');
TRUNCATE used;
SET client_min_messages = debug1;
COPY used FROM :'file';
SET client_min_messages = warning;
TRUNCATE used;
SET gpusort.copy_indexes = off;
SET client_min_messages = debug1;
COPY used FROM :'file';
SET client_min_messages = warning;
TRUNCATE used;
SET gpusort.copy_indexes = only_new;
SET client_min_messages = debug1;
COPY used FROM :'file';
SET client_min_messages = warning;
RESET gpusort.copy_indexes;

-- A key that is in the table, one that is in the input, two of them in either index, and what is wrong otherwise.
SELECT changes, compare_used(format('SELECT used_text(6000, %L)', changes)) FROM unnest(ARRAY[
	'{"5000": "77\t8\tx\ty\t1\t{1}\t(1,1)"}',
	'{"5000": "1700\t8\tx\ty\t1\t{1}\t(1,1)"}',
	'{"5000": "8\t-77\tx\ty\t1\t{1}\t(1,1)", "4999": "9000\t-1700\tx\ty\t1\t{1}\t(1,1)"}',
	'{"4000": "77\t-77\tx\ty\t1\t{1}\t(1,1)", "2000": "78\t-1700\tx\ty\t1\t{1}\t(1,1)", "100": "9000\t-1\tx\ty\t1\t{1}\t(1,1)"}',
	'{"1": "9000\t-1\tx\ty\t1\t{1}\t(1,1)", "2": "1\t9\tx\ty\t1\t{1}\t(1,1)"}',
	'{"6000": "1\t9\tx\ty\t1\t{1}\t(1,1)"}',
	'{"3000": "1\t9\tx\ty\t1\t{1}\t(1,1)", "5000": "z"}',
	'{"3000": "z", "5000": "1\t9\tx\ty\t1\t{1}\t(1,1)"}',
	'{"3000": " 9000\t9\tx\ty\t1\t{1}\t(1,1)", "5000": "1\t9\tx\ty\t1\t{1}\t(1,1)"}',
	'{"3000": "9000\t9\tx\ty\t1\t{1}\t(1,1)", "3001": " 9000\t10\tx\ty\t1\t{1}\t(1,1)"}',
	'{"2000": "\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N", "4000": "\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N"}']) changes;
-- NULLs that are not distinct
TRUNCATE used;
DROP INDEX used_u;
CREATE UNIQUE INDEX used_u ON used (u DESC) INCLUDE (id) NULLS NOT DISTINCT;
SELECT compare_used($$SELECT used_text(6000, '{"2000": "9000\t\\N\tx\ty\t1\t{1}\t(1,1)"}')$$), compare_used($$SELECT used_text(6000, '{"2000": "9000\t\\N\tx\ty\t1\t{1}\t(1,1)", "4000": "9001\t\\N\tx\ty\t1\t{1}\t(1,1)"}')$$);
-- all of them
SELECT compare_used($$SELECT convert_to(string_agg(format(E'%s\t%s\tt\tw\t1\t{}\t(1,1)\n', 1 + i % 1000, i), ''), 'UTF8') FROM generate_series(1, 5000) i$$);
-- ... in an order that has each in front of the one refused before
SELECT compare_used($$SELECT convert_to(string_agg(format(E'%s\t%s\tt\tw\t1\t{}\t(1,1)\n', 1001 - i, i), ''), 'UTF8') FROM generate_series(1, 1000) i$$);
SET client_min_messages = debug1;
COPY used FROM :'file';
SET client_min_messages = warning;
TRUNCATE used;
-- lines that are no rows
SELECT options, compare_used($$SELECT used_lines(6000, '{"2": "9000,3,\"a\nb\nc\",w,1,{1},\"(1,1)\"", "5500": "1,1,x,y,1,{1},\"(1,1)\""}', ',')$$, options)
	FROM unnest(ARRAY['(FORMAT csv)', '(FORMAT csv, HEADER)', '(FORMAT csv) WHERE few <> 3', '(FORMAT csv) WHERE few = 1']) options;
-- an entry that is too long, and ones that are long
SELECT replace(compare_used(format($$SELECT used_text(6000, jsonb_build_object(%s, concat_ws(E'\t', 9000, 9000, (SELECT string_agg(md5(i::text), '') FROM generate_series(1, %s) i), 'w', 1, '{1}', '(1,1)')) || '%s')$$, place, words, other)), repeat('c4ca', 2), '...')
	FROM (VALUES (3000, 1000, '{}'), (3000, 1000, '{"1500": "1\t1\tx\ty\t1\t{1}\t(1,1)"}'), (3000, 1000, '{"4500": "1\t1\tx\ty\t1\t{1}\t(1,1)"}'), (3000, 70, '{"4000": "9000\t1\tx\ty\t1\t{1}\t(1,1)"}')) v (place, words, other);
SELECT compare_used($$SELECT used_text(3000, jsonb_object_agg(i * 10, concat_ws(E'\t', 9000 + i, i, repeat('x', 3000) || i, repeat('y', 9000), 1, '{1}', '(1,1)'))) FROM generate_series(1, 200) i$$);
-- ... of the same key, and of columns that are not long
CREATE FUNCTION used_word(count int4) RETURNS text LANGUAGE sql AS $$ SELECT substr(string_agg(encode(sha512(i::text::bytea), 'base64'), '' ORDER BY i), 1, count) FROM generate_series(1, 40) i $$;
DROP INDEX used_id;
CREATE UNIQUE INDEX used_id ON used (id) INCLUDE (t);
SELECT compare_used($$SELECT used_text(6000, jsonb_build_object(4000, E'1700\t9\t' || replace(used_word(2300), E'\n', '') || E'\tw\t1\t{1}\t(1,1)'))$$);
SELECT compare_used($$SELECT used_text(6000, jsonb_build_object(100, E'1700\t9\t' || replace(used_word(2300), E'\n', '') || E'\tw\t1\t{1}\t(1,1)'))$$);
DROP INDEX used_id;
CREATE UNIQUE INDEX used_id ON used (id) INCLUDE (t, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p, p);
SELECT compare_used($$SELECT used_text(6000, jsonb_build_object(4000, E'9000\t9\t' || replace(used_word(2300), E'\n', '') || E'\tw\t1\t{1}\t(1,1)', 4500, E'1\t10\tx\tw\t1\t{1}\t(1,1)'))$$);
DROP INDEX used_id;
CREATE UNIQUE INDEX used_id ON used (id);
CREATE TABLE used_names (k int4, t text, n name);
INSERT INTO used_names VALUES (0);
CREATE UNIQUE INDEX ON used_names (k) INCLUDE (t, n, n, n, n, n, n, n, n, n, n, n, n);
COPY (SELECT i, CASE i WHEN 10 THEN substr(replace(used_word(2200), E'\n', ''), 1, 2000) ELSE 'x' END, 'n' FROM generate_series(1, 30) i) TO :'file';
SET gpusort.enable_copy = off;
COPY used_names FROM :'file';
RESET gpusort.enable_copy;
COPY used_names FROM :'file';
DROP TABLE used_names;

-- Indexes that are given rows one by one, beside others.
CREATE INDEX ON used ((id + u), id);
CREATE UNIQUE INDEX used_some ON used (w, id) WHERE id > 3000;
CREATE INDEX ON used USING gin (a);
CREATE INDEX ON used USING gist (p);
CREATE INDEX ON used USING hash (t);
CREATE INDEX ON used USING brin (few);
CREATE UNIQUE INDEX used_tenth ON used ((10000 / (id - 8000)), id);
SELECT compare_used('SELECT used_text(6000)');
SELECT changes, compare_used(format('SELECT used_text(6000, %L)', changes)) FROM unnest(ARRAY[
	'{"5000": "8000\t8\tx\ty\t1\t{1}\t(1,1)"}',
	'{"5000": "8000\t8\tx\ty\t1\t{1}\t(1,1)", "3000": "1700\t8\tx\ty\t1\t{1}\t(1,1)"}',
	'{"5000": "1700\t8\tx\ty\t1\t{1}\t(1,1)", "3000": "8000\t8\tx\ty\t1\t{1}\t(1,1)"}',
	'{"3000": "8000\t-1\tx\ty\t1\t{1}\t(1,1)"}']) changes;
DROP INDEX used_id;
CREATE UNIQUE INDEX used_id ON used (id);
SELECT compare_used($$SELECT used_text(6000, '{"3000": "1\t-8000\tx\ty\t1\t{1}\t(1,1)", "3001": "8000\t-1\tx\ty\t1\t{1}\t(1,1)"}')$$);

DROP INDEX used_tenth;

-- Sorts of the server's: by a class of another order, small, or short of memory.
CREATE INDEX ON used (w text_pattern_ops, t);
SET gpusort.enable_index_build = off;
SELECT compare_used('SELECT used_text(6000)');
RESET gpusort.enable_index_build;
SET maintenance_work_mem = '1MB';
SELECT compare_used('SELECT used_text(20000)');
SET gpusort.enable_spill = off;
SET gpusort.pool_quota = 0;
SELECT compare_used('SELECT used_text(20000)');
RESET gpusort.enable_spill;
RESET gpusort.pool_quota;
RESET maintenance_work_mem;

-- Left to PostgreSQL: what is checked later, excludes, or calls functions of others.
CREATE FUNCTION used_function(int4) RETURNS int4 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE OPERATOR CLASS used_ops FOR TYPE int4 USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 btint4cmp(int4, int4);
CREATE FUNCTION used_cmp(a int4, b int4) RETURNS int4 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN btint4cmp(a, b); END';
CREATE OPERATOR CLASS used_other_ops FOR TYPE int4 USING btree AS OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 used_cmp(int4, int4);
CREATE TABLE used_left (id int4, p point);
SET client_min_messages = debug1;
COPY used_left FROM PROGRAM 'printf "1\t(1,1)\n"';
SET client_min_messages = warning;
ALTER TABLE used_left ADD UNIQUE (id) DEFERRABLE;
SET client_min_messages = debug1;
COPY used_left FROM PROGRAM 'printf "2\t(2,2)\n"';
SET client_min_messages = warning;
ALTER TABLE used_left DROP CONSTRAINT used_left_id_key, ADD EXCLUDE USING gist (p WITH ~=);
SET client_min_messages = debug1;
COPY used_left FROM PROGRAM 'printf "3\t(3,3)\n"';
SET client_min_messages = warning;
ALTER TABLE used_left DROP CONSTRAINT used_left_p_excl;
CREATE INDEX used_left_i ON used_left (used_function(id));
SET client_min_messages = debug1;
COPY used_left FROM PROGRAM 'printf "4\t(4,4)\n"';
SET client_min_messages = warning;
DROP INDEX used_left_i;
CREATE INDEX used_left_i ON used_left (id) WHERE used_function(id) > 0;
SET client_min_messages = debug1;
COPY used_left FROM PROGRAM 'printf "5\t(5,5)\n"';
SET client_min_messages = warning;
DROP INDEX used_left_i;
CREATE INDEX used_left_i ON used_left (id used_other_ops);
SET client_min_messages = debug1;
COPY used_left FROM PROGRAM 'printf "6\t(6,6)\n"';
SET client_min_messages = warning;
DROP INDEX used_left_i;
CREATE INDEX used_left_i ON used_left (id used_ops);
SET client_min_messages = debug1;
COPY used_left FROM PROGRAM 'printf "7\t(7,7)\n"';
SET client_min_messages = warning;
SELECT count(*), count(DISTINCT id) FROM used_left;

-- Rows that were put beside others, in subtransactions that end either way, in a temporary table, and from several processes.
SET max_parallel_maintenance_workers = 2;
CREATE TEMPORARY TABLE used_temporary (LIKE used INCLUDING INDEXES);
SELECT length(used_text(40000)) > 1048576 AS long, compare_used('SELECT used_text(40000)');
SELECT compare_used($$SELECT used_text(40000, '{"35000": "1700\t8\tx\ty\t1\t{1}\t(1,1)", "36000": "77\t8\tx\ty\t1\t{1}\t(1,1)"}')$$);
SELECT compare_used($$SELECT used_lines(40000, '{"2": "9000,3,\"a\nb\nc\",w,1,{1},\"(1,1)\"", "35000": "1,1,x,y,1,{1},\"(1,1)\""}', ',')$$, '(FORMAT csv) WHERE few <> 3');
SELECT compare_used('SELECT used_text(6000)');
INSERT INTO used_temporary SELECT * FROM used LIMIT 100;
COPY used_temporary FROM :'file' WHERE id > 2000;
SELECT count(*), count(DISTINCT id) FROM used_temporary;
SELECT count(bt_index_check(indexrelid, true)) AS checked FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am m ON m.oid = relam WHERE indrelid = 'used_temporary'::regclass AND amname = 'btree';
TRUNCATE used;
BEGIN;
SAVEPOINT s;
COPY used FROM :'file';
ROLLBACK TO s;
SAVEPOINT s;
COPY used FROM :'file' WHERE id <= 2000;
RELEASE s;
COPY used FROM :'file' WHERE id BETWEEN 2001 AND 3000;
DELETE FROM used WHERE id BETWEEN 2001 AND 2500;
COPY used FROM :'file' WHERE id BETWEEN 2001 AND 2500;
COMMIT;
SELECT count(*), count(DISTINCT id), min(id), max(id) FROM used;
SELECT count(bt_index_check(indexrelid, true)) AS checked FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am m ON m.oid = relam WHERE indrelid = 'used'::regclass AND amname = 'btree';

-- Where temporary files are limited, entries that have no room in memory are inserted in the order of the lines, into indexes in use and new ones.
SET temp_file_limit = 0;
SELECT compare_used($$SELECT used_text(40000, '{"35000": "1700\t8\tx\ty\t1\t{1}\t(1,1)", "36000": "77\t8\tx\ty\t1\t{1}\t(1,1)"}')$$);
SET gpusort.pool_quota = 0;
SET maintenance_work_mem = '1MB';
SET temp_file_limit = '100MB';
SELECT compare_used($$SELECT used_text(40000, '{"35000": "1700\t8\tx\ty\t1\t{1}\t(1,1)", "36000": "77\t8\tx\ty\t1\t{1}\t(1,1)"}')$$);
SET temp_file_limit = 0;
SELECT compare_used('SELECT used_text(40000)');
SELECT compare_used($$SELECT used_text(40000, '{"35000": "1700\t8\tx\ty\t1\t{1}\t(1,1)", "36000": "77\t8\tx\ty\t1\t{1}\t(1,1)"}')$$);
SELECT compare_used('SELECT used_text(40000)');
DELETE FROM used WHERE id > 1000;
SET client_min_messages = debug1;
COPY used FROM :'file';
SET client_min_messages = warning;
BEGIN;
TRUNCATE used;
COPY used FROM :'file';
COMMIT;
SELECT count(*) FROM used;
SELECT count(bt_index_check(indexrelid, true)) AS checked FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am m ON m.oid = relam WHERE indrelid = 'used'::regclass AND amname = 'btree';
RESET temp_file_limit;
RESET gpusort.pool_quota;
RESET maintenance_work_mem;
DROP TABLE used, used_left, used_temporary;
DROP OPERATOR FAMILY used_ops USING btree;
DROP OPERATOR FAMILY used_other_ops USING btree;
DROP FUNCTION used_rows, compare_used, used_lines, used_text, used_word, used_function, used_cmp;
