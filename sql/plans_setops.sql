-- UNION, INTERSECT and EXCEPT above our sorts, in the leader and in slices that workers make.
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, public, gpusort_test;
CREATE SCHEMA setops;
CREATE TABLE setops.a WITH (parallel_workers = 2) AS
SELECT i AS id, random('a', i, 2500)::int8 AS k, CASE WHEN i % 9 > 0 THEN random('s', i, 20)::int END AS small,
	CASE WHEN i % 7 > 0 THEN md5(random('t', i, 1200)::text) END COLLATE "C" AS word, (random('n', i, 500) / 4)::numeric AS n
FROM generate_series(1, 5000) i;
CREATE TABLE setops.b WITH (parallel_workers = 2) AS
SELECT i AS id, random('b', i, 2500)::int8 AS k, CASE WHEN i % 10 > 0 THEN random('u', i, 20)::int END AS small,
	CASE WHEN i % 8 > 0 THEN md5(random('v', i, 1200)::text) END COLLATE "C" AS word, (random('m', i, 500) / 4)::numeric AS n
FROM generate_series(1, 6000) i;
CREATE TABLE setops.none (LIKE setops.a);
ALTER TABLE setops.none SET (parallel_workers = 2);
CREATE TABLE setops.one WITH (parallel_workers = 2) AS SELECT * FROM setops.a WHERE id = 77;
VACUUM ANALYZE setops.a, setops.b, setops.none, setops.one;
SET search_path = gpusort_parallel, public, gpusort_test, setops;

CREATE TABLE setops.queries AS
SELECT format(pattern, operation) AS query
FROM unnest(ARRAY['UNION', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL']) WITH ORDINALITY o(operation, o),
	unnest(ARRAY['SELECT k, small FROM a %s SELECT k, small FROM b',
		'SELECT word FROM b %s SELECT word FROM a ORDER BY word NULLS FIRST',
		'SELECT small, n, word FROM a %s SELECT small, n, word FROM b WHERE id > 3',
		'SELECT k, small FROM a %s SELECT id, small FROM b ORDER BY 1, 2',
		'SELECT small FROM a %s SELECT small FROM b']) WITH ORDINALITY p(pattern, p)
UNION ALL
SELECT unnest(ARRAY[
	-- other types on both sides, constants, expressions, marks of operations within operations
	'SELECT id, n FROM a UNION SELECT k, small FROM b',
	'SELECT id::numeric, word::text COLLATE "C" FROM a EXCEPT SELECT small, word FROM b',
	'SELECT k % 100, ''a'' AS which FROM a UNION SELECT k % 70, ''b'' FROM b ORDER BY 2, 1',
	'SELECT k, small, k AS l FROM a INTERSECT SELECT k, small, k FROM b',
	'SELECT k FROM a UNION SELECT k + 1 FROM b UNION SELECT id FROM a',
	'(SELECT k FROM a UNION SELECT id FROM b) INTERSECT SELECT k FROM b',
	'SELECT k FROM a EXCEPT ALL (SELECT k FROM b INTERSECT ALL SELECT k FROM a)',
	'(SELECT k FROM a EXCEPT SELECT k FROM b) UNION ALL (SELECT k FROM b EXCEPT SELECT k FROM a)',
	'(SELECT k FROM a EXCEPT SELECT k FROM b) UNION (SELECT id FROM b INTERSECT SELECT k FROM a)',
	'(SELECT k::int4 FROM a INTERSECT SELECT id FROM b) UNION SELECT k FROM a',
	'SELECT DISTINCT k, small FROM a UNION SELECT k, max(small) FROM b GROUP BY k',
	-- inputs that are large and small, empty, and one row
	'SELECT k, word FROM a UNION SELECT k, word FROM none',
	'SELECT k, word FROM none UNION SELECT k, word FROM b',
	-- above: groups, joins, windows, limits
	'SELECT count(*), sum(k) FROM (SELECT k, small FROM a EXCEPT SELECT k, small FROM b) s',
	'SELECT small, count(*) FROM (SELECT small, k FROM a UNION SELECT small, k FROM b) s GROUP BY small',
	'SELECT b.id FROM b WHERE (k, small) IN (SELECT k, small FROM a INTERSECT SELECT id, small FROM b)',
	'SELECT k, row_number() OVER (ORDER BY k) FROM (SELECT k FROM a UNION SELECT k FROM b) s ORDER BY k',
	'SELECT k, word FROM a UNION SELECT k, word FROM b ORDER BY k DESC, word LIMIT 50 OFFSET 20']);

-- By the leader.  Hash tables are slower than they look, but not at this size.
SET max_parallel_workers_per_gather = 0;
SET enable_hashagg = off;
SELECT query, check_rows(query, query ~ 'ORDER BY [^)]*$', ARRAY['Custom Scan \(GpuSort\)'], ARRAY['gpusort.force=on']) FROM queries;

-- By workers.
CALL have_workers();
SET parallel_tuple_cost = 0;
-- Where passing rows on costs nothing, those of one short column are sorted by the leader from 18 on, and there those of strings by workers, and merged.
SELECT query, together(query, '', CASE WHEN query ~ '^SELECT small FROM a (INTERSECT|EXCEPT) S' THEN 'parallel_tuple_cost=0.01'
	WHEN query ~ '^SELECT small, n, word FROM a (INTERSECT|EXCEPT) ' THEN 'enable_gathermerge=off' ELSE 'parallel_tuple_cost=0' END)
FROM queries WHERE query !~ 'ORDER BY 2, 1|ORDER BY 1, 2';
SELECT query, check_rows(query, true, ARRAY['Gather( Merge)?\n.*Parallel'], '{}') FROM queries WHERE query ~ 'ORDER BY 2, 1|ORDER BY 1, 2';

-- Next to none of the rows on one side: it is sorted as the planner would have it.
SELECT query, check_rows(query, false, ARRAY['GpuSort'], '{}')
FROM unnest(ARRAY[
	'SELECT k, word FROM a EXCEPT SELECT k, word FROM none', 'SELECT k, word FROM none EXCEPT SELECT k, word FROM b',
	'SELECT k, word FROM a INTERSECT SELECT k, word FROM none', 'SELECT k, word FROM a INTERSECT ALL SELECT k, word FROM one',
	'SELECT k, word FROM one EXCEPT ALL SELECT k, word FROM a', 'SELECT k, word FROM a EXCEPT ALL SELECT k, word FROM one']) query;

-- The first participants take everything; none but the leader; a single worker.
SELECT query, together(query, '', setting)
FROM unnest(ARRAY['SELECT k, word FROM a INTERSECT ALL SELECT k, word FROM b', 'SELECT n, small FROM a UNION SELECT n, small FROM b',
		'SELECT n, k FROM a EXCEPT SELECT n, k FROM b']) query,
	unnest(ARRAY['parallel_leader_participation=off', 'max_parallel_workers=0', 'max_parallel_workers_per_gather=1', 'work_mem=64kB',
		'enable_parallel_append=off', 'gpusort.verify=on']) setting;

RESET enable_hashagg;

-- What is not had: types that cannot be sorted, no columns, UNION ALL, recursion, hash tables of few groups.
SELECT check_rows('SELECT (id % 50)::text::xid FROM a UNION SELECT (id % 70)::text::xid FROM b', false, ARRAY['^(?!.*GpuSort)'], '{}');
SELECT check_rows('SELECT FROM a UNION SELECT FROM b', false, ARRAY['^(?!.*GpuSort)'], '{}');
SELECT check_rows('SELECT k FROM a UNION ALL SELECT k FROM b', false, ARRAY['^(?!.*GpuSort)'], '{}');
SELECT check_rows('SELECT DISTINCT small FROM a UNION SELECT DISTINCT small FROM b', false, ARRAY['^(?!.*GpuSort)'], '{}');
SELECT check_rows('WITH RECURSIVE r AS (SELECT k FROM a UNION SELECT k + 1 FROM r WHERE k % 5 < 3) SELECT * FROM r', false, ARRAY['Recursive Union'], '{}');

-- An operation within another that is the planner's hash table.
SELECT check_rows('(SELECT small FROM a UNION SELECT small FROM b) INTERSECT SELECT small FROM a', false, '{}', setting)
FROM (VALUES ('{gpusort.force=on}'::text[]), ('{gpusort.force=on, max_parallel_workers_per_gather=0}')) s(setting);

-- Fetched in pieces, again and again, and with what changes between.
SET max_parallel_workers_per_gather = 0;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT k, small FROM a EXCEPT SELECT k, small FROM b ORDER BY k, small;
MOVE 500 FROM c;
FETCH 2 FROM c;
MOVE ABSOLUTE 500 FROM c;
FETCH 2 FROM c;
COMMIT;
SELECT outer_k, n FROM generate_series(1, 3) outer_k,
	LATERAL (SELECT count(*) AS n FROM (SELECT k + outer_k AS k FROM a INTERSECT SELECT k FROM b WHERE k % outer_k = 0) s) l;
PREPARE p(int) AS SELECT count(*), sum(k) FROM (SELECT k FROM a WHERE id > $1 EXCEPT ALL SELECT k FROM b WHERE id > $1) s;
EXECUTE p(0);
SET plan_cache_mode = force_generic_plan;
EXECUTE p(0);
EXECUTE p(4999);
SET gpusort.enabled = off;
EXECUTE p(0);
EXECUTE p(4999);
RESET gpusort.enabled;
RESET plan_cache_mode;
DROP SCHEMA setops CASCADE;
