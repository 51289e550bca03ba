-- Joins of two indexes by their leaf pages, against PostgreSQL's joins.
SET gpusort.min_rows = 0;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET jit = off;
-- other sessions may have kept VACUUM from marking pages all visible, which plans shall not depend on
SET enable_seqscan = off;
SET client_min_messages = warning;

-- Run a query with PostgreSQL's joins and with ours, without workers and with two, and compare the
-- rows, whatever their order: how many there are, or what is wrong.
CREATE FUNCTION gpusort_test.compare_index_join(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	fingerprint text := format('SELECT row(count(*), sum(hashtextextended(q::text, 0)))::text FROM (%s) q',
							   query);
	counted text := format('SELECT count(*) FROM (%s) q', query);
	theirs text;
	ours text;
	number int8;
	our_number int8;
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
		FOREACH query IN ARRAY ARRAY[fingerprint, counted] LOOP
			IF gpusort_test.matches(query, CASE workers WHEN 0 THEN '-> *Custom Scan' ELSE '-> *Parallel Custom Scan' END ||
									' \(GpuSort Index Join\)') = 0 THEN
				RETURN NEXT 'planned otherwise: ' || query;
				RETURN QUERY SELECT gpusort_test.plan_lines(query);
			END IF;
		END LOOP;
		EXECUTE fingerprint INTO ours;
		IF ours IS DISTINCT FROM theirs THEN
			RETURN NEXT format(E'%s with %s workers:\n%s instead of\n%s', fingerprint, 2 * workers, ours, theirs);
		END IF;
		EXECUTE counted INTO our_number;
		IF our_number IS DISTINCT FROM number THEN
			RETURN NEXT format('%s with %s workers: %s instead of %s', counted, 2 * workers, our_number, number);
		END IF;
	END LOOP;
	RETURN NEXT number || ' rows';
	RESET enable_hashjoin;
	RESET enable_mergejoin;
	RESET enable_nestloop;
	RESET max_parallel_workers_per_gather;
END $$;

-- Keys that are all different, frequent (in posting lists, over several pages), rare, and none.
CREATE SCHEMA gpusort_leaves;
SET search_path = gpusort_leaves, public;
CREATE TABLE a WITH (parallel_workers = 2) AS
SELECT i AS id, CASE WHEN i % 50 > 0 THEN gpusort_test.random('a', i, 9000) END AS k, i % 7 AS v, 'a' || i % 13 AS t
FROM generate_series(1, 20000) i;
INSERT INTO a SELECT i, CASE WHEN i > 20100 THEN 8000 ELSE 4000 + i % 2 END, i % 7, 'f' FROM generate_series(20001, 20500) i;
CREATE TABLE b WITH (parallel_workers = 2) AS
SELECT i AS id, CASE WHEN i % 50 > 0 THEN gpusort_test.random('b', i, 12000) + 3000 END AS k, i % 5 AS w, 'b' || i % 11 AS u
FROM generate_series(1, 20000) i;
INSERT INTO b SELECT i, CASE WHEN i > 20900 THEN 8000 ELSE 4001 + i % 3 END, i % 5, 'f' FROM generate_series(20001, 20920) i;
CREATE INDEX a_k ON a (k) INCLUDE (v, t);
CREATE INDEX b_k ON b (k, w) INCLUDE (u);
CREATE INDEX a_id ON a (id);
CREATE INDEX b_id ON b (id);
CREATE INDEX a_plain ON a (k);
CREATE INDEX b_plain ON b (k);
VACUUM ANALYZE a, b;

SELECT q, gpusort_test.compare_index_join(q)
FROM unnest(ARRAY[
	'SELECT 1 FROM a JOIN b USING (k)',
	'SELECT k FROM a JOIN b USING (k)',
	'SELECT a.id FROM a JOIN b USING (id)',
	'SELECT a.k, v, t, w, u FROM a JOIN b ON a.k = b.k',
	'SELECT t FROM a JOIN b ON a.k = b.k',
	'SELECT u, w + 1 FROM a JOIN b ON a.k = b.k',
	'SELECT a.k, v, w FROM a JOIN b ON a.k = b.k AND v < w',
	'SELECT a.k, v, w FROM a JOIN b ON a.k = b.k WHERE v > 3 AND u <> ''b3''',
	'SELECT a.k, v, w FROM a JOIN b ON a.k = b.k WHERE t = ''f'' AND u = ''f'' AND w = 2 AND a.k > 100',
	'SELECT a.k, v, w FROM a JOIN b ON a.k = b.k WHERE t = ''nowhere'' AND v = 1',
	'SELECT x.id, y.id FROM a x JOIN a y ON x.id = y.id']) q;

-- The result is in order, and the planner knows.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT gpusort_test.matches('SELECT k, count(*) FROM a JOIN b USING (k) GROUP BY k', 'Parallel .*GpuSort Index Join') AS joins;
SELECT count(*), count(*) FILTER (WHERE k < before) AS not_in_order
FROM (SELECT k, lag(k) OVER () AS before FROM (SELECT k, count(*) FROM a JOIN b USING (k) GROUP BY k) q) q;
SET max_parallel_workers_per_gather = 0;
SELECT gpusort_test.plan_lines('SELECT k, count(*) FROM a JOIN b USING (k) GROUP BY k');
SELECT count(*), count(*) FILTER (WHERE k < before) AS not_in_order
FROM (SELECT k, lag(k) OVER () AS before FROM (SELECT k, count(*) FROM a JOIN b USING (k) GROUP BY k) q) q;
RESET max_parallel_workers_per_gather;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;

-- Rows that are gone or new, before VACUUM has seen them, and after.
BEGIN;
DELETE FROM a WHERE id % 3 = 0;
UPDATE b SET k = k + 1 WHERE id % 4 = 0;
UPDATE b SET id = id WHERE id % 7 = 0;
INSERT INTO b SELECT id + 30000, k, w, u FROM b WHERE id % 100 = 0;
SELECT gpusort_test.compare_index_join('SELECT a.k, v, t, w, u FROM a JOIN b ON a.k = b.k');
ROLLBACK;
SELECT gpusort_test.compare_index_join('SELECT a.k, v, t, w, u FROM a JOIN b ON a.k = b.k');
DELETE FROM a WHERE id % 3 = 0;
UPDATE b SET k = k + 1 WHERE id % 4 = 0;
DELETE FROM a WHERE k BETWEEN 5000 AND 6000;
SELECT gpusort_test.compare_index_join('SELECT a.k, v, t, w, u FROM a JOIN b ON a.k = b.k');
VACUUM ANALYZE a, b;
SELECT gpusort_test.compare_index_join('SELECT a.k, v, t, w, u FROM a JOIN b ON a.k = b.k');

-- Types, directions, where nulls are; conditions that an index is for, and empty ones.
CREATE TABLE c WITH (parallel_workers = 2) AS
SELECT i::int2 AS i2, i AS i4, i::int8 AS i8, i::oid AS o, date '2000-01-01' + i AS d, timestamp '2000-01-01' + i * interval '1 s' AS ts,
	timestamptz '2000-01-01 UTC' + i * interval '1 s' AS tz, i / 8::float8 AS f8, (i / 8)::float4 AS f4, i % 3 AS part
FROM (SELECT CASE WHEN i % 40 > 0 THEN gpusort_test.random('c', i, 30000)::int - 15000 END AS i FROM generate_series(1, 12000) i) i;
INSERT INTO c (f8, f4) VALUES ('-0', '-0'), ('0', '0'), ('NaN', 'NaN'), ('NaN', 'NaN'), ('-Infinity', '-Infinity'), ('Infinity', 'Infinity');
INSERT INTO c (d, ts, tz) VALUES ('-infinity', '-infinity', '-infinity'), ('infinity', 'infinity', 'infinity');
INSERT INTO c (i8) VALUES (-9223372036854775808), (9223372036854775807), (9223372036854775807);
DO $$
DECLARE
	name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['i2', 'i4', 'i8', 'o', 'd', 'ts', 'tz', 'f8', 'f4'] LOOP
		EXECUTE format('CREATE INDEX c_%1$s ON c (%1$s)', name);
	END LOOP;
END $$;
VACUUM ANALYZE c;
SELECT format('%s = %s', l, r), gpusort_test.compare_index_join(format('SELECT x.%1$I, y.%2$I FROM c x JOIN c y ON x.%1$I = y.%2$I', l, r))
FROM (VALUES ('i2', 'i2'), ('i4', 'i4'), ('i8', 'i8'), ('o', 'o'), ('d', 'd'), ('ts', 'ts'), ('tz', 'tz'), ('f8', 'f8'), ('f4', 'f4'),
	('i2', 'i8'), ('i4', 'i8'), ('i4', 'i2')) t(l, r);
DROP INDEX c_i4, c_i8;
CREATE INDEX c_i4 ON c (i4 DESC);
CREATE INDEX c_i8 ON c (i8 DESC, part);
SELECT gpusort_test.compare_index_join('SELECT x.i4, y.i8, y.part FROM c x JOIN c y ON x.i4 = y.i8');
DROP INDEX c_i4, c_i8;
CREATE INDEX c_i4 ON c (i4 NULLS FIRST);
CREATE INDEX c_i8 ON c (i8 NULLS FIRST, part DESC);
SELECT gpusort_test.compare_index_join('SELECT x.i4, y.i8, y.part FROM c x JOIN c y ON x.i4 = y.i8');
DROP INDEX c_i4, c_i8;
CREATE INDEX c_i4 ON c (i4) WHERE part = 1;
CREATE INDEX c_i8 ON c (i8) WHERE part > 7;
SELECT gpusort_test.compare_index_join('SELECT x.i4 FROM c x JOIN c y USING (i4) WHERE x.part = 1 AND y.part = 1');
SELECT gpusort_test.compare_index_join('SELECT x.i4, y.i8 FROM c x JOIN c y ON x.i4 = y.i8 WHERE x.part = 1 AND y.part > 7');

-- What is left to others.
SELECT q, gpusort_test.matches(q, 'GpuSort Index Join')
FROM unnest(ARRAY['SELECT x.i2 FROM c x JOIN c y USING (i2) FOR UPDATE',
	'SELECT x.i2, x.ctid FROM c x JOIN c y USING (i2)',
	'SELECT x.ts FROM c x JOIN c y ON x.ts = y.d',
	'SELECT x.i4 FROM c x JOIN c y ON x.i4 = y.i4 WHERE x.part = 1',
	'UPDATE c SET i2 = c.i2 FROM c y WHERE c.i2 = y.i2']) q;

-- An index whose first column is a constant is in the order of its second column to the planner, not to
-- the node; and a first column of few values finds too many pairs for the second to be a filter.
CREATE TABLE e AS SELECT i % 2 = 0 AS flag, i % 4 AS few, i AS k FROM generate_series(1, 4000) i;
CREATE INDEX e_flag ON e (flag, k);
CREATE INDEX e_few ON e (few, k);
CREATE TABLE f AS SELECT i AS k FROM generate_series(1, 20000) i;
CREATE INDEX f_k ON f (k);
VACUUM ANALYZE e, f;
SELECT q, gpusort_test.matches(q, 'GpuSort Index Join')
FROM unnest(ARRAY['SELECT x.k FROM e x JOIN e y USING (k) WHERE x.flag AND y.flag',
	'SELECT x.k FROM e x JOIN e y USING (k) WHERE x.few = 3 AND y.few = 3',
	'SELECT x.k FROM e x JOIN e y USING (few, k)']) q;

-- The first rows may lie behind many that a condition leaves out, where PostgreSQL begins.
SELECT q, gpusort_test.matches(q, 'GpuSort Index Join')
FROM unnest(ARRAY['SELECT x.k FROM f x JOIN f y USING (k) LIMIT 500',
	'SELECT x.k FROM f x JOIN f y USING (k) WHERE x.k > 10000 AND y.k > 10000 LIMIT 500']) q;

-- Keys that lie where the other side has none: pages of such are passed by, on either side, in either direction.  The larger
-- side has 274 pages, of which no more than these blocks are read, with those of the other side and the tables'.
CREATE TABLE many WITH (parallel_workers = 2) AS SELECT i AS k, i % 5 AS v FROM generate_series(1, 100000) i;
CREATE TABLE few (k int, w int) WITH (parallel_workers = 2);
CREATE FUNCTION gpusort_test.check_shape(keys text, direction text, most_blocks int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	query text;
	plan jsonb;
BEGIN
	TRUNCATE few;
	EXECUTE format('INSERT INTO few SELECT %s, i %% 7 FROM generate_series(1, 3000) i', keys);
	IF direction IS NOT NULL THEN
		DROP INDEX IF EXISTS many_k, few_k;
		EXECUTE format('CREATE INDEX many_k ON many (k %s) INCLUDE (v)', direction);
		EXECUTE format('CREATE INDEX few_k ON few (k %s) INCLUDE (w)', direction);
	END IF;
	ANALYZE many, few;
	FOREACH query IN ARRAY ARRAY['SELECT v, w FROM many JOIN few USING (k)', 'SELECT w, v FROM few JOIN many USING (k) WHERE v <> 3'] LOOP
		RETURN QUERY SELECT gpusort_test.compare_index_join(query);
		PERFORM set_config(name, 'off', true) FROM unnest('{enable_hashjoin,enable_mergejoin,enable_nestloop}'::text[]) name;
		SET LOCAL max_parallel_workers_per_gather = 0;
		plan := gpusort_test.executed(query, 'GpuSort Index Join');
		IF (plan -> 'Shared Hit Blocks')::int + (plan -> 'Shared Read Blocks')::int <= most_blocks IS NOT TRUE THEN
			RETURN NEXT format('too many blocks: %s', plan);
		END IF;
	END LOOP;
END $$;
SELECT shape, direction, gpusort_test.check_shape(keys, direction, most_blocks) AS rows
FROM (VALUES ('begin', 'i + 98000', 90), ('end', 'i - 1000', 90), ('apart', 'i + 100000', 30), ('before', 'i - 3000', 30),
	('few', '(i / 1000 + 1) * 7000', 100), ('gaps', 'i / 500 * 15000 + i % 500', 150), ('ends', 'CASE i % 2 WHEN 0 THEN i ELSE 100000 - i END', 150),
	('steps', 'i * 33', 3000), ('nulls', 'CASE WHEN i > 2000 THEN 10000 + i END', 90)) s(shape, keys, most_blocks),
	(VALUES (''), ('DESC NULLS LAST'), ('NULLS FIRST')) d(direction)
WHERE direction = '' OR shape IN ('end', 'gaps', 'nulls');
-- where rows are gone, others have split the pages, and pages are empty, and gone
SELECT gpusort_test.check_shape('i / 500 * 15000 + i % 500', '', 150) AS gaps;
DELETE FROM many WHERE k % 3000 > 200;
INSERT INTO many SELECT k + 1500, v FROM many WHERE k % 2 = 0;
INSERT INTO many SELECT k, v FROM many WHERE k % 7 = 0;
SELECT shape, gpusort_test.check_shape(keys, NULL, 3000) AS rows
FROM (VALUES ('begin', 'i + 97000'), ('end', 'i - 1000'), ('gaps', 'i / 500 * 15000 + i % 500')) s(shape, keys);
VACUUM many;
SELECT shape, gpusort_test.check_shape(keys, NULL, 3000) AS rows
FROM (VALUES ('begin', 'i + 97000'), ('end', 'i - 1000'), ('gaps', 'i / 500 * 15000 + i % 500')) s(shape, keys);

-- What lies beyond the other side's last key is not charged, nor what lies before its first; the way down and the first pages are.
CREATE FUNCTION gpusort_test.costs_of(query text) RETURNS numeric[] LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "GpuSort Index Join")');
	RETURN ARRAY[plan ->> 'Startup Cost', plan ->> 'Total Cost'];
END $$;
CREATE TABLE whole AS SELECT i AS k FROM generate_series(1, 30000) i;
CREATE TABLE early AS SELECT i AS k FROM generate_series(-1000, 2000) i;
CREATE TABLE late AS SELECT i AS k FROM generate_series(28000, 31000) i;
CREATE INDEX ON whole (k);
CREATE INDEX ON early (k);
CREATE INDEX ON late (k);
VACUUM ANALYZE whole, early, late;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SET max_parallel_workers_per_gather = 0;
SELECT early[1] BETWEEN 1 AND 20 AS early_startup, late[1] BETWEEN 1 AND 20 AS late_startup, early[2] < whole[2] / 5 AS early_total, late[2] < whole[2] / 5 AS late_total
FROM gpusort_test.costs_of('SELECT FROM whole JOIN early USING (k)') early, gpusort_test.costs_of('SELECT FROM whole JOIN late USING (k)') late,
	gpusort_test.costs_of('SELECT FROM whole JOIN whole other USING (k)') whole;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_nestloop;
SELECT q, gpusort_test.matches(q, 'GpuSort Index Join')
FROM unnest(ARRAY['SELECT EXISTS (SELECT FROM whole JOIN late USING (k))', 'SELECT * FROM whole JOIN late USING (k) LIMIT 1',
	'SELECT count(*) FROM whole JOIN late USING (k)', 'SELECT count(*) FROM whole JOIN early USING (k)']) q;
RESET max_parallel_workers_per_gather;

-- Rows that are not on all-visible pages are fetched one by one, in the order of the index.  From a share of such pages on it costs
-- less to sort both tables, whatever the number of participants, also less than PostgreSQL's merge join of both indexes.  That
-- share is larger where the table is in the order of the index.
CREATE TABLE scattered AS SELECT i * 7919 % 40009 AS k FROM generate_series(1, 40000) i;
CREATE TABLE in_order AS SELECT k FROM scattered ORDER BY k;
CREATE INDEX ON scattered (k);
CREATE INDEX ON in_order (k);
VACUUM ANALYZE scattered, in_order;
CREATE FUNCTION gpusort_test.joined_by(tab regclass, visible float8, participants int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('ALTER TABLE %s SET (parallel_workers = %s)', tab, participants - 1);
	UPDATE pg_class SET relallvisible = relpages * visible WHERE oid = tab;
	PERFORM set_config('max_parallel_workers_per_gather', (participants - 1)::text, true);
	RETURN coalesce((SELECT substring(line, 'GpuSort Index Join|GpuSort Join|Merge Join|Hash Join|Nested Loop')
					 FROM gpusort_test.plan_lines(format('SELECT count(*) FROM %s x JOIN %1$s y USING (k)', tab)) line
					 WHERE line ~ 'Join \)|Join\)|Merge Join|Hash Join|Nested Loop' LIMIT 1), 'nothing');
END $$;
SET enable_seqscan = on;
SET enable_hashjoin = off;
SET gpusort.force = on;
SELECT tab, visible, array_agg(gpusort_test.joined_by(tab, visible, participants) ORDER BY participants) AS by_1_2_7_12
FROM unnest(ARRAY['scattered', 'in_order']::regclass[]) tab, unnest(ARRAY[1, 0.98, 0.9, 0.7, 0]) visible, unnest(ARRAY[1, 2, 7, 12]) participants
GROUP BY tab, visible ORDER BY tab::text DESC, visible DESC;
RESET gpusort.force;
RESET enable_hashjoin;
SET enable_seqscan = off;

-- Rows of one key on many pages are held in work_mem, and read again if they don't fit: there are no temporary files.
CREATE TABLE alike WITH (parallel_workers = 2) AS SELECT i / 3000 AS k, i AS v, 'long enough for some pages' AS t FROM generate_series(1, 8999) i;
CREATE TABLE alike_few WITH (parallel_workers = 2) AS SELECT i % 4 AS k, i AS w FROM generate_series(1, 20) i;
CREATE INDEX alike_k ON alike (k) INCLUDE (v, t);
CREATE INDEX alike_few_k ON alike_few (k) INCLUDE (w);
VACUUM ANALYZE alike, alike_few;
CREATE TABLE alike_posted WITH (parallel_workers = 2) AS SELECT k FROM alike;
CREATE INDEX alike_posted_k ON alike_posted (k);
VACUUM ANALYZE alike_posted;
SET temp_file_limit = 0;
SET enable_sort = off;
SELECT memory, q, gpusort_test.compare_index_join(q)
FROM (SELECT memory, q FROM unnest(ARRAY['64kB', '256kB', '16MB']) memory, unnest(ARRAY['SELECT v, t, w FROM alike JOIN alike_few USING (k)',
		'SELECT v, w FROM alike_few JOIN alike USING (k)', 'SELECT v, t FROM alike_few JOIN alike USING (k) WHERE v % 100 <= w',
		'SELECT v, w FROM alike_few JOIN alike USING (k) WHERE v % 3000 > 2000 AND w > 9', 'SELECT alike_posted.k, w FROM alike_few JOIN alike_posted USING (k)']) q) q
WHERE set_config('work_mem', memory, true) <> '';
DELETE FROM alike WHERE v % 9 < 4;
SELECT gpusort_test.compare_index_join('SELECT v, t, w FROM alike_few JOIN alike USING (k)') FROM set_config('work_mem', '64kB', true);
RESET temp_file_limit;
RESET enable_sort;

-- Cursors that stop and go on, joins that are done again and again, and in a serializable transaction.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
BEGIN;
DECLARE cur CURSOR FOR SELECT x.i2 FROM c x JOIN c y USING (i2);
FETCH 1 FROM cur;
CLOSE cur;
DECLARE cur SCROLL CURSOR FOR SELECT x.f4 FROM c x JOIN c y USING (f4) ORDER BY f4;
FETCH 3 FROM cur;
MOVE 20000 IN cur;
FETCH 2 FROM cur;
MOVE BACKWARD ALL IN cur;
FETCH 2 FROM cur;
COMMIT;
SET enable_nestloop = on;
SELECT sum(n) FROM generate_series(1, 3) g, LATERAL (SELECT count(*) + g * 0 AS n FROM c x JOIN c y USING (d) OFFSET 0) j;
SELECT g, (SELECT count(*) FROM a JOIN b ON a.k = b.k AND b.w <> g) FROM generate_series(1, 3) g;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM a JOIN b ON a.k = b.k;
SELECT DISTINCT relation::regclass, locktype FROM pg_locks WHERE mode = 'SIReadLock' ORDER BY 1;
COMMIT;

-- Volatile conditions are asked for no more rows than by PostgreSQL.
SELECT line FROM gpusort_test.plan_lines('SELECT count(*) FROM a JOIN b ON a.k = b.k WHERE a.v + random() < 2', 'COSTS OFF') line WHERE line ~ 'Index Join';

-- What EXPLAIN shows.
SET max_parallel_workers_per_gather = 0;
SELECT line FROM gpusort_test.plan_lines('SELECT a.k, t, u FROM a JOIN b ON a.k = b.k AND v + w > 4 WHERE t <> ''a1''', 'ANALYZE, COSTS OFF, TIMING OFF') line
WHERE line !~ 'Heap Fetches';
SELECT p -> 'Join Type', p -> 'Pieces', p -> 'Ranges', p -> 'Matches'
FROM gpusort_test.executed('SELECT a.k, t, u FROM a JOIN b ON a.k = b.k', 'GpuSort Index Join') p;
DROP SCHEMA gpusort_leaves CASCADE;
