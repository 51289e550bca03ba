-- lower() and upper() of columns, which sorts compute by themselves where they change letters of ASCII only.
SELECT NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'tr-x-icu' AND collprovider = 'i') AS skip_test \gset
\if :skip_test
\quit
\endif
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_letters;
SET search_path = gpusort_letters, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET gpusort.late_rows = off;

-- All characters of ASCII, at all places of strings of all lengths, and others among them
CREATE TABLE t AS SELECT i AS id, string_agg(chr(1 + (hashint4(i * 40 + n) & 127) % 127), '' ORDER BY n) || CASE WHEN i % 9 = 0 THEN 'ÉéİßΣǅ' || i ELSE '' END AS s,
	nullif(md5(i::text), md5('77'))::varchar(33) AS v, left(md5((i % 70)::text), i % 20)::char(20) AS c
FROM generate_series(1, 3000) i LEFT JOIN LATERAL generate_series(1, i % 37) n ON true GROUP BY i;
-- compressed, in the TOAST table, and empty
INSERT INTO t VALUES (3001, repeat('AbC', 2000), 'x', 'X'), (3002, (SELECT string_agg(md5(i::text), 'Q') FROM generate_series(1, 900) i), 'X', 'x'), (3003, '', '', '');
CREATE DOMAIN word AS text;
CREATE TABLE words AS SELECT id, s::word AS s FROM t;
VACUUM ANALYZE t, words;
-- what they were made of stays as it is
SELECT check_rows(format('SELECT *, lower(s COLLATE %1$I) AS l, upper(s COLLATE %1$I) AS u FROM t ORDER BY lower(s COLLATE %1$I), id', name), true, '{GpuSort}', '{}') AS lower,
	check_rows(format('SELECT id, s FROM t WHERE id %% 3 > 0 ORDER BY upper(s COLLATE %I) DESC, id', name), true, '{GpuSort}', '{}') AS upper
FROM unnest('{C,default,tr-x-icu,de-x-icu,lt-x-icu,und-x-icu}'::text[]) AS name;
SELECT check_rows(query, true, '{GpuSort}', '{}') FROM unnest(ARRAY[
	'SELECT id FROM t ORDER BY lower(v), id',
	'SELECT id, lower(v)::varchar(7) AS l, upper(lower(v)) AS u FROM t ORDER BY lower(v)::varchar(7) COLLATE "C", upper(lower(v)), id',
	'SELECT id, lower(c) FROM t ORDER BY lower(c) COLLATE "C", id',
	'SELECT id FROM t ORDER BY lower(s) COLLATE "POSIX", upper(v) COLLATE "C", id LIMIT 100',
	'SELECT id, upper(s) FROM words ORDER BY upper(s) COLLATE "C", id',
	'SELECT id, lower(v || id) FROM t ORDER BY lower(v || id) COLLATE "C", id',
	'SELECT id FROM t WHERE s IS NULL ORDER BY lower(s)']) query;
-- All values of ASCII, but the first row's and two that are toasted; where the collation has rules of its own, none
SELECT query, (executed(query, 'GpuSort') ->> 'Calls Saved')::int BETWEEN ascii - 3 AND ascii - 2 AS saved
FROM (SELECT count(*) AS ascii FROM t WHERE s ~ '^[\x01-\x7f]*$') a, unnest(ARRAY[
	'SELECT id FROM t ORDER BY lower(s COLLATE "C"), id', 'SELECT id FROM t ORDER BY upper(s COLLATE "C"), id', 'SELECT id FROM t ORDER BY lower(s COLLATE "de-x-icu"), id',
	'SELECT id FROM t ORDER BY lower(s COLLATE "tr-x-icu"), id', 'SELECT id FROM t ORDER BY lower(v || id) COLLATE "C", id']) query;
-- rows that a sort refuses; by workers
SELECT check_rows('SELECT *, lower(s) AS l FROM t ORDER BY lower(s) COLLATE "C", id', true, '{GpuSort}', ARRAY['gpusort.pool_quota=0', 'work_mem=64kB', 'hash_mem_multiplier=1']);
SELECT check_rows('SELECT *, lower(s) AS l FROM t ORDER BY lower(s) COLLATE "C", id', true, '{GpuSort}', ARRAY['max_parallel_workers_per_gather=2', 'parallel_setup_cost=0',
	'parallel_tuple_cost=0', 'min_parallel_table_scan_size=0']);
-- The collation has to be known, of rows only that there are
SELECT * FROM (SELECT id FROM t ORDER BY lower(s COLLATE "tr-x-icu") COLLATE "C" LIMIT 1) x WHERE false;
DROP SCHEMA gpusort_letters CASCADE;
