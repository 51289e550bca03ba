-- COPY FROM with FREEZE: the same pages, and the same bits of the visibility map, on the same conditions.
SET client_min_messages = warning;
SET gpusort.force = on;
CREATE EXTENSION IF NOT EXISTS pageinspect;
CREATE EXTENSION IF NOT EXISTS pg_visibility;
SELECT current_setting('data_directory') || '/frozen' AS file \gset
SELECT current_setting('data_directory') || '/frozen_odd' AS odd \gset
COPY (SELECT i, repeat('x', i % 50), CASE WHEN i % 777 = 0 THEN (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 500) j) END
	FROM generate_series(1, 5000) i) TO :'file';
-- PostgreSQL takes over at a number that is not spelled in the usual way
COPY (SELECT CASE i WHEN 3000 THEN ' ' ELSE '' END || i, 'y', NULL FROM generate_series(1, 4000) i) TO :'odd' (FORMAT csv);

CREATE TABLE frozen (id int4, t text, u text);
CREATE TABLE frozen_theirs (id int4, t text, u text);
CREATE TABLE frozen_keyed (id int4 PRIMARY KEY, t text, u text);

-- What is to be seen of a table's pages: rows, their order and states, the pages' flags, the map.
CREATE FUNCTION frozen_pages(tab regclass, block OUT int8, lp OUT int4, infomask OUT int4, infomask2 OUT int4, at OUT tid, flags OUT int4, visible OUT bool, frozen OUT bool)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT block, i.lp, i.t_infomask, i.t_infomask2, i.t_ctid, h.flags, v.all_visible, v.all_frozen
	FROM generate_series(0, pg_relation_size(tab) / current_setting('block_size')::int4 - 1) block, get_raw_page(tab::text, block::int4) page, page_header(page) h, heap_page_items(page) i,
		pg_visibility_map(tab, block) v
$$;
-- Pages are numbered without empty ones: from 16 on PostgreSQL adds several at a time, of which a COPY may leave some.
CREATE FUNCTION frozen_numbered(tab regclass, page OUT int8, lp OUT int4, infomask OUT int4, infomask2 OUT int4, is_there OUT bool, flags OUT int4, visible OUT bool, frozen OUT bool)
RETURNS SETOF record LANGUAGE sql AS $$
	SELECT dense_rank() OVER (ORDER BY block), lp, infomask, infomask2, at = format('(%s,%s)', block, lp)::tid, flags, visible, frozen FROM frozen_pages(tab)
$$;
CREATE FUNCTION compare_frozen() RETURNS text LANGUAGE sql AS $$
	SELECT format('%s rows, %s pages, %s frozen, %s different; %s rows not what the map says', count(*), count(DISTINCT page), count(DISTINCT page) FILTER (WHERE o.frozen), count(*) FILTER (WHERE o IS DISTINCT FROM t),
		(SELECT count(*) FROM pg_check_frozen('frozen')) + (SELECT count(*) FROM pg_check_visible('frozen')))
	FROM frozen_numbered('frozen') o FULL JOIN frozen_numbered('frozen_theirs') t USING (page, lp)
$$;
SELECT format('COPY frozen FROM %L (FREEZE)', :'file') AS ours, format('COPY frozen_theirs FROM %L (FREEZE)', :'file') AS theirs \gset

-- It is gpusort that does it.
BEGIN;
TRUNCATE frozen;
SET LOCAL client_min_messages = debug1;
:ours;
COMMIT;
SET gpusort.enable_copy = off;
BEGIN;
TRUNCATE frozen_theirs;
:theirs;
COMMIT;
SET gpusort.enable_copy = on;
SELECT compare_frozen();
SELECT sum((pg_visibility_map_summary(reltoastrelid)).all_frozen) FROM pg_class WHERE relname IN ('frozen', 'frozen_theirs');
SELECT relname, count(*) > 0 AS some, bool_and(infomask & 768 = 768) AS frozen FROM pg_class, frozen_pages(reltoastrelid) WHERE relname IN ('frozen', 'frozen_theirs') GROUP BY 1 ORDER BY 1;
SELECT sum(length(u)) FROM frozen;

-- PostgreSQL goes on; rows that are not frozen are in the table, and others that are come after them.
BEGIN;
TRUNCATE frozen;
COPY frozen FROM :'odd' (FORMAT csv, FREEZE);
COMMIT;
SELECT count(*), min(flags), max(flags), bool_and(frozen) FROM frozen_pages('frozen');
BEGIN;
TRUNCATE frozen;
INSERT INTO frozen VALUES (0, 'first', NULL);
:ours;
COMMIT;
SELECT block > 0 AS behind, flags, visible, frozen, min(infomask & 768) AS hints, count(*) > 0 AS some FROM frozen_pages('frozen') GROUP BY 1, 2, 3, 4 ORDER BY 1;

-- Several in a transaction, with other commands between: rows go on where the last page ends, which is frozen only if the first one was.
ALTER TABLE frozen SET (autovacuum_enabled = off);
ALTER TABLE frozen_theirs SET (autovacuum_enabled = off);
SELECT current_setting('data_directory') || '/frozen_few' AS few \gset
COPY (SELECT i, repeat('x', i % 50), NULL FROM generate_series(1, 30) i) TO :'few';
CREATE TABLE frozen_steps (number int4, name text, steps text);
INSERT INTO frozen_steps VALUES
	(1, 'two', 'TRUNCATE @; COPY @ FROM % (FREEZE); COPY @ FROM % (FREEZE)'),
	(2, 'into other pages', 'TRUNCATE @; COPY @ FROM % (FREEZE); COPY @ FROM ^ (FREEZE); COPY @ FROM ^ (FREEZE); COPY @ FROM % (FREEZE)'),
	(3, 'pages that are full', 'ALTER TABLE @ SET (fillfactor = 30); TRUNCATE @; COPY @ FROM % (FREEZE); COPY @ FROM % (FREEZE); COPY @ FROM % (FREEZE); ALTER TABLE @ RESET (fillfactor)'),
	(4, 'after a delete', 'TRUNCATE @; COPY @ FROM % (FREEZE); DELETE FROM @ WHERE id % 2 = 0; COPY @ FROM % (FREEZE); COPY @ FROM % (FREEZE)'),
	(5, 'with inserts between', 'TRUNCATE @; COPY @ FROM % (FREEZE); INSERT INTO @ SELECT i, repeat(''y'', 90) FROM generate_series(1, 10) i; COPY @ FROM % (FREEZE); INSERT INTO @ SELECT i, repeat(''y'', 90) FROM generate_series(1, 200) i; COPY @ FROM % (FREEZE)'),
	(6, 'behind an insert', 'TRUNCATE @; INSERT INTO @ VALUES (0); COPY @ FROM % (FREEZE); COPY @ FROM ^ (FREEZE); COPY @ FROM % (FREEZE)'),
	(7, 'not frozen', 'TRUNCATE @; COPY @ FROM %; COPY @ FROM ^; COPY @ FROM %'),
	(8, 'a mixture', 'TRUNCATE @; COPY @ FROM %; COPY @ FROM % (FREEZE); INSERT INTO @ VALUES (0); COPY @ FROM %; SAVEPOINT s; COPY @ FROM %; ROLLBACK TO s; COPY @ FROM ^; INSERT INTO @ VALUES (0)');
\set ECHO none
SELECT command FROM frozen_steps, (VALUES (1, 'frozen', 'on'), (2, 'frozen_theirs', 'off')) t (turn, tab, ours),
	unnest(('{SET gpusort.enable_copy = ' || ours || ',BEGIN}')::text[] || string_to_array(replace(replace(replace(steps, '@', tab), '^', quote_literal(:'file')), 'FROM %', 'FROM ' || quote_literal(:'few')), ';')
		|| ARRAY['COMMIT', CASE turn WHEN 2 THEN format('SELECT %L AS steps, compare_frozen()', name) END]) WITH ORDINALITY c (command, place)
	WHERE command IS NOT NULL ORDER BY number, turn, place \gexec
\set ECHO all
SET gpusort.enable_copy = on;

-- The last pages of partitions are gone on with, as far as their fillfactor says; one that is all-visible is not.
CREATE TEMP TABLE seen (LIKE frozen);
CREATE TEMP TABLE seen_ours (LIKE frozen) PARTITION BY RANGE (id);
CREATE TEMP TABLE seen_part PARTITION OF seen_ours FOR VALUES FROM (0) TO (10000) WITH (fillfactor = 30);
CREATE TEMP TABLE seen_theirs (LIKE frozen) PARTITION BY RANGE (id);
CREATE TEMP TABLE seen_their_part PARTITION OF seen_theirs FOR VALUES FROM (0) TO (10000) WITH (fillfactor = 30);
\set ECHO none
SELECT format('COPY %s FROM %L', tab, :'few') FROM (VALUES ('seen'), ('seen_ours')) t (tab), generate_series(1, 5) \gexec
SET gpusort.enable_copy = off;
SELECT format('COPY seen_theirs FROM %L', :'few') FROM generate_series(1, 5) \gexec
SET gpusort.enable_copy = on;
\set ECHO all
SELECT count(*), count(DISTINCT o.page), count(*) FILTER (WHERE o IS DISTINCT FROM t) AS different FROM frozen_numbered('seen_part') o FULL JOIN frozen_numbered('seen_their_part') t USING (page, lp);
VACUUM seen, seen_part;
\set ECHO none
SELECT format('COPY %s FROM %L', tab, :'few') FROM (VALUES ('seen'), ('seen_ours')) t (tab) \gexec
\set ECHO all
SELECT tab, (SELECT count(*) FILTER (WHERE visible) || ' of ' || count(*) FROM frozen_pages(tab)) AS visible, (SELECT count(*) FROM pg_check_visible(tab)) AS wrong FROM unnest('{seen,seen_part}'::regclass[]) tab;
DROP TABLE seen, seen_ours, seen_theirs;

-- Indexes, temporary and unlogged tables, those that are created; an index that refuses a row.
BEGIN;
TRUNCATE frozen_keyed;
COPY frozen_keyed FROM :'file' (FREEZE);
COMMIT;
SELECT count(*), bool_and(frozen) FROM frozen_pages('frozen_keyed');
SET enable_seqscan = off;
SELECT count(*) FROM frozen_keyed WHERE id < 10;
RESET enable_seqscan;
BEGIN;
TRUNCATE frozen_keyed;
COPY frozen_keyed FROM PROGRAM 'printf "1\tx\t\\N\n2\tx\t\\N\n1\tx\t\\N\n"' (FREEZE);
COMMIT;
BEGIN;
CREATE TEMP TABLE frozen_temp (LIKE frozen);
COPY frozen_temp FROM :'file' (FREEZE);
SELECT count(*), bool_and(frozen) FROM frozen_pages('frozen_temp');
CREATE UNLOGGED TABLE frozen_unlogged (LIKE frozen);
COPY frozen_unlogged FROM :'file' (FREEZE);
SELECT count(*), bool_and(frozen) FROM frozen_pages('frozen_unlogged');
COMMIT;

-- PostgreSQL's conditions: not its error, if the file is read before.
CREATE FUNCTION frozen_error(command text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE command;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
SELECT frozen_error(:'ours', false);
SELECT frozen_error(:'ours', true);
:ours;
SET gpusort.enable_copy = off;
:ours;
SET gpusort.enable_copy = on;
BEGIN;
TRUNCATE frozen;
SAVEPOINT s;
:ours;
ROLLBACK TO s;
TRUNCATE frozen;
RELEASE s;
:ours;
SELECT count(*), bool_and(frozen) FROM frozen_pages('frozen');
COMMIT;
BEGIN;
TRUNCATE frozen;
DECLARE c CURSOR FOR SELECT 1 FROM frozen_keyed;
FETCH c;
:ours;
ROLLBACK;
BEGIN;
SAVEPOINT s;
TRUNCATE frozen;
:ours;
ROLLBACK TO s;
COMMIT;
SELECT count(*), bool_and(frozen) FROM frozen_pages('frozen');

DROP TABLE frozen, frozen_theirs, frozen_steps, frozen_keyed, frozen_temp, frozen_unlogged;
DROP FUNCTION frozen_pages, frozen_numbered, compare_frozen, frozen_error;
