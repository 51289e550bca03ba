-- Joins of two sorts in a node of our own, against PostgreSQL's joins.
SET gpusort.force = on;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET jit = off;

-- Run a query with PostgreSQL's joins and with ours, without workers and with two, and compare the
-- rows, whatever their order, and their number, which joins without further conditions count by themselves.
-- Nothing if all is well, else what is wrong.
CREATE FUNCTION gpusort_test.compare_join(query text) RETURNS SETOF text LANGUAGE plpgsql
SET client_min_messages = warning AS $$
DECLARE
	fingerprint text := format('SELECT row(count(*), sum(hashtextextended(q::text, 0)), min(q::text), max(q::text))::text FROM (%s) q',
							   query);
	counted text := format('SELECT count(*) FROM (%s) q', query);
	theirs text;
	ours text;
	number int8;
	our_number int8;
	node text;
BEGIN
	SET LOCAL gpusort.enabled = off;
	SET LOCAL max_parallel_workers_per_gather = 0;
	EXECUTE fingerprint INTO theirs;
	EXECUTE counted INTO number;
	SET LOCAL gpusort.enabled = on;
	SET LOCAL enable_hashjoin = off;
	SET LOCAL enable_mergejoin = off;
	SET LOCAL enable_nestloop = off;
	FOR workers IN 0 .. 1 LOOP
		PERFORM set_config('max_parallel_workers_per_gather', (2 * workers)::text, true);
		node := CASE workers WHEN 0 THEN '-> *Custom Scan \(GpuSort Join\)'
				ELSE '-> *Parallel Custom Scan \(GpuSort Join\)' END;
		IF gpusort_test.matches(fingerprint, node) = 0 THEN
			RETURN NEXT 'planned otherwise: ' || query;
			RETURN QUERY SELECT gpusort_test.plan_lines(fingerprint);
		END IF;
		EXECUTE fingerprint INTO ours;
		IF ours IS DISTINCT FROM theirs THEN
			RETURN NEXT format(E'%s with %s workers:\n%s instead of\n%s', query, 2 * workers, ours, theirs);
		END IF;
		EXECUTE counted INTO our_number;
		IF our_number IS DISTINCT FROM number THEN
			RETURN NEXT format('%s with %s workers: counts %s instead of %s', query, 2 * workers, our_number, number);
		END IF;
		IF gpusort_test.matches(counted, 'GpuSort Count') > 0 THEN
			PERFORM set_config('gpusort_test.counted', 'yes', false);
		END IF;
	END LOOP;
	RESET enable_hashjoin;
	RESET enable_mergejoin;
	RESET enable_nestloop;
	RESET max_parallel_workers_per_gather;
END $$;

-- All types of joins of two tables on a condition, with other conditions and without; or a few.
CREATE FUNCTION gpusort_test.check_joins(label text, a text, b text, condition text, brief bool DEFAULT false)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	problem text;
	bad bool := false;
	cases int := 0;
	query text;
BEGIN
	SET gpusort_test.counted = 'no';
	FOR query IN
		SELECT format('SELECT a.*, b.* FROM %s a %s JOIN %s b ON %s%s%s', a, kind, b, condition, further, qual)
		FROM unnest(ARRAY['INNER', 'LEFT', 'RIGHT', 'FULL']) kind,
			unnest(ARRAY['', ' AND a.v < b.w', ' AND a.v % 3 = b.w % 3 AND a.v > 20']) further,
			unnest(ARRAY['', ' WHERE (a.v + b.w) % 2 = 0 OR b.w IS NULL']) qual
		WHERE CASE WHEN brief THEN qual = '' AND further = CASE kind WHEN 'RIGHT' THEN ' AND a.v < b.w' ELSE '' END AND kind <> 'INNER'
				   ELSE kind <> 'FULL' OR further = '' END
		UNION ALL
		SELECT format('SELECT a.* FROM %s a WHERE %s EXISTS (SELECT FROM %s b WHERE %s%s)', a, no, b, condition, further)
		FROM unnest(ARRAY['', 'NOT']) no, unnest(ARRAY['', ' AND a.v < b.w']) further
		WHERE NOT brief OR (no = '' AND further <> '')
		UNION ALL
		SELECT format('SELECT FROM %s a JOIN %s b ON %s', a, b, condition)
		UNION ALL
		SELECT format('SELECT b.* FROM %s a RIGHT JOIN %s b ON %s', a, b, condition) WHERE NOT brief
	LOOP
		cases := cases + 1;
		FOR problem IN SELECT gpusort_test.compare_join(query) LOOP
			bad := true;
			RETURN NEXT problem;
		END LOOP;
	END LOOP;
	bad := bad OR current_setting('gpusort_test.counted') <> 'yes';
	RETURN NEXT format('%s: %s queries %s', label, cases, CASE WHEN bad THEN 'FAILED' ELSE 'ok' END);
END $$;

-- Rows of few, of many and of all different keys; nulls; rows without a partner on either side.
CREATE TABLE a AS
SELECT CASE WHEN i % 17 <> 0 THEN gpusort_test.random('a', i, 150)::int END AS k, CASE WHEN i % 7 > 0 THEN i % 4 END AS k2, i AS v
FROM generate_series(1, 400) i;
CREATE TABLE b AS
SELECT CASE WHEN i % 13 <> 0 THEN gpusort_test.random('b', i, 200)::int8 END AS k,
	(CASE WHEN i % 5 > 0 THEN i % 4 END)::int2 AS k2, i AS w
FROM generate_series(1, 300) i;
CREATE TABLE nothing AS SELECT * FROM b LIMIT 0;
CREATE TABLE one AS SELECT * FROM b WHERE k IS NOT NULL LIMIT 1;
CREATE TABLE only_null AS SELECT NULL::int8 AS k, 1::int2 AS k2, i AS w FROM generate_series(1, 50) i;
ANALYZE a, b, nothing, one, only_null;

SELECT gpusort_test.check_joins('one key, int4 and int8', 'a', 'b', 'a.k = b.k');
SELECT gpusort_test.check_joins('two keys, nulls in both', 'a', 'b', 'a.k = b.k AND a.k2 = b.k2');
SELECT gpusort_test.check_joins('an expression', 'a', 'b', 'a.k + 1 = b.k', true);
SELECT gpusort_test.check_joins('one row', 'a', 'one', 'a.k = b.k', true);
SELECT gpusort_test.check_joins('no rows', 'a', 'nothing', 'a.k = b.k', true);
SELECT gpusort_test.check_joins('only nulls', 'a', 'only_null', 'a.k = b.k', true);
SELECT gpusort_test.check_joins('both null', '(SELECT k, k2, w AS v FROM only_null)', 'only_null', 'a.k = b.k', true);

-- One key on both sides, in several pieces; and beside others.
CREATE TABLE a_same AS SELECT 7 AS k, i AS v FROM generate_series(1, 150) i;
CREATE TABLE b_same AS SELECT 7 AS k, i AS w FROM generate_series(1, 120) i;
CREATE TABLE a_skew AS SELECT CASE WHEN i % 2 = 0 THEN 50 ELSE i END AS k, i AS v FROM generate_series(1, 200) i;
CREATE TABLE b_skew AS SELECT CASE WHEN i % 3 = 0 THEN 50 ELSE i END AS k, i AS w FROM generate_series(1, 180) i;
ANALYZE a_same, b_same, a_skew, b_skew;
SELECT gpusort_test.check_joins('one value', 'a_same', 'b_same', 'a.k = b.k');
SELECT gpusort_test.check_joins('one value among others', 'a_skew', 'b_skew', 'a.k = b.k');
SELECT gpusort_test.check_joins('one value on one side', 'a_same', 'b_skew', 'a.k = b.k', true);

-- Sides that are fetched by TID: sort columns are elsewhere in the rows that are sorted than in those joined.
CREATE FUNCTION gpusort_test.check_late_joins(a text, b text, condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	kind text;
	columns text;
	query text;
	late int8 := 0;
BEGIN
	FOR kind, columns IN SELECT * FROM unnest(ARRAY['INNER', 'LEFT', 'FULL']) k, unnest(ARRAY['a.k', 'a.k, a.v, b.w, b.k', 'a.pad, a.v, b.pad, b.w']) c LOOP
		query := format('SELECT %s FROM %s a %s JOIN %s b ON %s', columns, a, kind, b, condition);
		SET LOCAL enable_hashjoin = off;
		SET LOCAL enable_mergejoin = off;
		SET LOCAL enable_nestloop = off;
		SET LOCAL max_parallel_workers_per_gather = 0;
		late := late + gpusort_test.matches(query, 'Rows: fetched by TID');
		RETURN QUERY SELECT gpusort_test.compare_join(query);
	END LOOP;
	RETURN NEXT format('%s: %s sides fetched by TID', condition, late);
END $$;
CREATE TABLE a_late AS SELECT k, v, repeat('a', 20) || v AS pad, k2 FROM a;
CREATE TABLE b_late AS SELECT k, k2, w, repeat('b', 20) || w AS pad FROM b;
ANALYZE a_late, b_late;
SET gpusort.late_rows = on;
SELECT gpusort_test.check_late_joins('a_late', 'b_late', condition) FROM unnest(ARRAY['a.k = b.k', 'a.k2 = b.k2 AND a.k = b.k', 'a.k + 1 = b.k']) condition;
RESET gpusort.late_rows;
DROP TABLE a_late, b_late;

-- Types: words that tell all, that tell a part, and that tell nothing.
CREATE TABLE types_a AS
SELECT i AS v, n::numeric / 3 AS num, n::float8 / 4 AS f8, md5(n::text) AS hex, repeat('x', 20) || n AS alike,
	'2020-01-01'::date + n::int AS d, (n % 2 = 0) AS odd, decode(md5(n::text), 'hex') AS bin,
	md5(n::text)::uuid AS u, ('10.0.0.' || n % 250)::inet AS ip, to_char(n, 'FM000') COLLATE "C" AS c
FROM (SELECT i, nullif(gpusort_test.random('ta', i, 90), 0) AS n FROM generate_series(1, 200) i) s;
CREATE TABLE types_b AS
SELECT i AS w, n::numeric / 3 AS num, n::float4 / 4 AS f4, n::float8 / 4 AS f8, md5(n::text) AS hex, repeat('x', 20) || n AS alike,
	'2020-01-01'::date + n::int AS d, '2020-01-01'::timestamp + n * interval '1 day' AS ts,
	(n % 2 = 0) AS odd, decode(md5(n::text), 'hex') AS bin,
	md5(n::text)::uuid AS u, ('10.0.0.' || n % 250)::inet AS ip, to_char(n, 'FM000') COLLATE "C" AS c
FROM (SELECT i, nullif(gpusort_test.random('tb', i, 110), 1) AS n FROM generate_series(1, 150) i) s;
ANALYZE types_a, types_b;
SELECT gpusort_test.check_joins(condition, 'types_a', 'types_b', condition, true)
FROM unnest(ARRAY['a.num = b.num', 'a.f8 = b.f8', 'a.f8 = b.f4', 'a.hex = b.hex', 'a.alike = b.alike', 'a.c = b.c',
				  'a.d = b.d', 'a.d = b.ts', 'a.bin = b.bin', 'a.u = b.u', 'a.ip = b.ip',
				  'a.odd = b.odd AND a.hex COLLATE "C" = b.hex COLLATE "C"',
				  'a.hex COLLATE "en-x-icu" = b.hex COLLATE "en-x-icu"']) condition;

-- Without a pool for them, sides that have no room in memory, and sides that are handed over.
SET gpusort.inject_fault = codec;
SELECT gpusort_test.check_joins('handed over', 'a', 'b', 'a.k = b.k AND a.k2 = b.k2', true);
SET gpusort.inject_fault = memory;
SELECT gpusort_test.check_joins('out of memory', 'a', 'b', 'a.k = b.k AND a.k2 = b.k2', true);
SELECT gpusort_test.check_joins('out of memory, one value', 'a_skew', 'b_skew', 'a.k = b.k', true);
RESET gpusort.inject_fault;

-- The rows come in the join's order, and the planner knows.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET max_parallel_workers_per_gather = 0;
SELECT gpusort_test.plan_lines('SELECT a.k, v, w FROM a JOIN b ON a.k = b.k AND a.k2 = b.k2 ORDER BY a.k DESC, a.k2 DESC');
SELECT gpusort_test.plan_lines('SELECT * FROM a LEFT JOIN b USING (k) ORDER BY k NULLS FIRST');
SELECT count(*) AS out_of_order FROM
(SELECT k, lag(k) OVER () AS before, row_number() OVER () AS n FROM (SELECT k FROM a LEFT JOIN b USING (k) ORDER BY k NULLS FIRST OFFSET 0) q) r
WHERE before > k OR (k IS NULL AND before IS NOT NULL);
SELECT count(*) AS out_of_order FROM
(SELECT k, lag(k) OVER () AS before, row_number() OVER () AS n FROM (SELECT k FROM a LEFT JOIN b USING (k) ORDER BY k DESC NULLS LAST OFFSET 0) q) r
WHERE before < k OR (k IS NOT NULL AND before IS NULL AND n > 1);

-- Rescans, with other parameters and without; cursors that stop; a Limit above.
SELECT sum(n) FROM generate_series(1, 3) x,
LATERAL (SELECT count(*) AS n FROM (SELECT * FROM a WHERE v > x * 50 OFFSET 0) a JOIN b USING (k)) q;
SELECT sum(n) FROM generate_series(1, 3) x,
LATERAL (SELECT count(*) + x AS n FROM (SELECT a.v FROM a JOIN b USING (k) WHERE v + w > x OFFSET 0) q) r;
SET max_parallel_workers_per_gather = 2;
SELECT count(*) FROM (SELECT * FROM a JOIN b USING (k) LIMIT 20) q;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT a.k, b.k FROM a JOIN b USING (k) ORDER BY a.k, v, w;
FETCH 2 FROM c;
MOVE LAST FROM c;
FETCH BACKWARD 2 FROM c;
COMMIT;
-- ... that is read in pieces: without a sort above, of all rows
BEGIN;
DECLARE c CURSOR FOR SELECT a.k, b.k FROM a JOIN b USING (k) ORDER BY a.k;
FETCH 1 FROM c;
SAVEPOINT s;
FETCH 1 FROM c;
ROLLBACK TO s;
MOVE 300 IN c;
SELECT count(*) AS holds FROM pg_cursors WHERE name = 'c';
DO $$
DECLARE
	rest refcursor := 'c';
	n int := 0;
BEGIN
	LOOP
		MOVE FORWARD 7 IN rest;
		EXIT WHEN NOT FOUND;
		n := n + 1;
	END LOOP;
	RAISE NOTICE '% times 7 rows, the last time some', n;
END $$;
COMMIT;
PREPARE joined(int) AS SELECT count(*), sum(v + w) FROM a JOIN b USING (k) WHERE v > $1;
EXECUTE joined(10);
EXECUTE joined(390);
EXECUTE joined(1000);
DEALLOCATE joined;

-- Three of them.
SELECT count(*), sum(a.v + b.w + c.w) FROM a JOIN b USING (k) JOIN b c USING (k);
SET gpusort.enabled = off;
RESET enable_hashjoin;
SELECT count(*), sum(a.v + b.w + c.w) FROM a JOIN b USING (k) JOIN b c USING (k);
RESET gpusort.enabled;
SET enable_hashjoin = off;

-- EXPLAIN.
SELECT gpusort_test.plan_lines('SELECT count(*) FROM a LEFT JOIN b ON a.k = b.k AND a.v < b.w WHERE b.w IS NULL OR b.w > 3');
SET max_parallel_workers_per_gather = 0;
SET gpusort.engine = host;
SELECT gpusort_test.plan_lines('SELECT a.v + 1, w FROM a LEFT JOIN b ON a.k = b.k AND a.v < b.w WHERE b.w IS NULL OR b.w > 3',
	'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF, VERBOSE');
RESET gpusort.engine;
SET gpusort.inject_fault = codec;
SELECT gpusort_test.matches('SELECT count(*) FROM a JOIN b USING (k)', 'Read: row by row') AS "not before it is executed",
	count(*) AS streamed FROM gpusort_test.plan_lines('SELECT count(*) FROM a JOIN b USING (k)',
	'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Read: row by row';
RESET gpusort.inject_fault;

-- Left alone.
SET gpusort.enable_join = off;
SELECT gpusort_test.matches('SELECT count(*) FROM a JOIN b USING (k)', 'GpuSort Join');
RESET gpusort.enable_join;
SELECT gpusort_test.matches('SELECT count(*) FROM a FULL JOIN b ON a.k = b.k AND a.v < b.w', 'GpuSort Join');

-- A table that is too small for workers to scan, beside a large one: they scan it together all the same, if
-- they may.
CREATE TABLE small AS SELECT i AS k, i AS v FROM generate_series(1, 3000) i;
CREATE TABLE large AS SELECT i * 7 % 3500 AS k, i AS w, repeat('x', 100) AS pad FROM generate_series(1, 20000) i;
ALTER TABLE large SET (parallel_workers = 2);
ANALYZE small, large;
SET min_parallel_table_scan_size = '1MB';
SET max_parallel_workers_per_gather = 2;
SELECT gpusort_test.plan_lines('SELECT sum(v), sum(w) FROM small JOIN large USING (k)');
SELECT gpusort_test.compare_join(q) FROM unnest(ARRAY['SELECT small.*, w FROM small JOIN large USING (k)',
	'SELECT small.*, w FROM small FULL JOIN large USING (k)', 'SELECT small.*, w FROM large LEFT JOIN small USING (k) WHERE w % 5 > 0']) q;
ALTER TABLE small SET (parallel_workers = 0);
SELECT gpusort_test.matches('SELECT sum(v), sum(w) FROM small JOIN large USING (k)', 'Parallel Custom Scan .GpuSort Join');
DROP TABLE small, large;

-- A semijoin is compared with what the planner thinks of after it: rows made unique by a hash table, and, from
-- 18 on, a hash table of the outer side.  Not where the outer side has few rows.
RESET ALL;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE few AS SELECT i AS k FROM generate_series(1, 9000) i;
CREATE TABLE many AS SELECT i * 7 % 9000 AS k, i AS w FROM generate_series(1, 50000) i;
ANALYZE few, many;
SELECT q, gpusort_test.matches(q, 'GpuSort Join') AS ours FROM unnest(ARRAY[
	'SELECT count(*) FROM few WHERE EXISTS (SELECT FROM many WHERE many.k = few.k)',
	'SELECT count(*) FROM few WHERE k IN (SELECT k FROM many WHERE w > 10000)',
	'SELECT count(*) FROM (SELECT * FROM few WHERE k < 90 OFFSET 0) f WHERE EXISTS (SELECT FROM many WHERE many.k = f.k)']) q;
SELECT count(*) FROM few WHERE EXISTS (SELECT FROM many WHERE many.k = few.k);
DROP TABLE few, many;

-- By two columns a merge join above sorts is offered once more.
CREATE TABLE few AS SELECT i % 90 AS a, i % 101 AS b FROM generate_series(1, 20000) i;
CREATE TABLE many AS SELECT i % 91 AS a, i % 103 AS b FROM generate_series(1, 50000) i;
ANALYZE few, many;
SELECT gpusort_test.matches('SELECT count(*) FROM few WHERE (a, b) IN (SELECT a, b FROM many)', 'Merge Semi Join');
SELECT count(*) FROM few WHERE (a, b) IN (SELECT a, b FROM many);
DROP TABLE few, many;

-- A hash table in the cache is charged too little as well, and there is no other join that would be misled.
CREATE TABLE numbers AS SELECT i AS k FROM generate_series(1, 9000) i;
ANALYZE numbers;
SELECT gpusort_test.matches('SELECT count(*) FROM numbers a JOIN numbers b USING (k)', 'GpuSort Join');
DROP TABLE numbers;

-- Where the order of its keys is all that the query wants above, a join by them saves a sort.
CREATE TABLE words AS SELECT md5(i::text) COLLATE "C" AS k, i, repeat('x', 100) AS pad FROM generate_series(1, 9000) i;
ANALYZE words;
SELECT o, gpusort_test.matches('SELECT a.* FROM words a JOIN words b USING (k) ORDER BY ' || o, 'Merge Join')
FROM unnest(ARRAY['k', 'a.i']) o;
DROP TABLE words;
RESET ALL;
DROP TABLE a, b, nothing, one, only_null, a_same, b_same, a_skew, b_skew, types_a, types_b;
