-- Executing sorts that the participants of a Gather make together: slices, all rows to
-- each, what EXPLAIN says.  Plans are the business of parallel_windows and
-- parallel_merge_joins.
SET gpusort.enable_join = off;
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_parallel, gpusort_test, public;
CALL have_workers();
SET gpusort.force = on;
SET gpusort.cost_row = 0;
SET gpusort.cost_key_byte = 0;
SET gpusort.cost_key_collated = 0;
SET gpusort.cost_row_byte = 0;
SET gpusort.cost_emit = 0;
SET parallel_tuple_cost = 0;
SET enable_incremental_sort = off;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;

-- Groups of all sizes: of one row, of some, of more than a slice, of all; and of NULLs.
CREATE TABLE sizes WITH (parallel_workers = 2) AS
SELECT i AS id, hashint4(i) AS one, hashint4(i / 3) AS three, i / 37 AS several, i / 6000 AS many, 1 AS every,
	CASE WHEN i % 5 > 0 THEN i / 11 END AS nulls, NULL::int AS nothing,
	CASE WHEN i < 15000 THEN -1 ELSE i END AS skewed, md5((i / 20)::text) COLLATE "C" AS pad,
	repeat('shared', 3) || (i / 500) AS prefix, (i / 9)::numeric / 7 AS n
FROM generate_series(1, 20000) i ORDER BY hashint4(i);
ANALYZE sizes;

SELECT columns, together(format('SELECT id, row_number() OVER w AS r, count(*) OVER (PARTITION BY %s) AS c, lag(id) OVER w AS l FROM sizes WINDOW w AS (PARTITION BY %1$s ORDER BY id DESC)', columns), 'WindowAgg')
FROM unnest(ARRAY['one', 'three', 'several', 'many', 'every + id / 30000', 'nulls', 'nothing', 'skewed', 'pad', 'prefix', 'n', 'many, nulls', 'nothing, pad', 'nulls, three',
	'pad COLLATE "en-x-icu"', 'prefix COLLATE "en-x-icu"', 'id % 2 = 0']) columns;
-- sliced by the first columns of the sort only
SELECT columns, together(format('SELECT id, count(*) OVER (PARTITION BY %s) AS c, lag(id) OVER (PARTITION BY %1$s ORDER BY pad DESC, nulls NULLS FIRST, id) AS l FROM sizes', columns), 'Sliced By')
FROM unnest(ARRAY['several', 'many', 'nulls', 'skewed', 'prefix', 'nothing']) columns;
-- more participants than slices, and slices than rows
SELECT n, together('SELECT id, count(*) OVER (PARTITION BY several) AS c FROM sizes WHERE id + 0 < ' || n, 'WindowAgg')
FROM unnest(ARRAY[1, 2, 3, 16, 17, 31, 32, 33, 100, 400]) n;

-- All rows to each, and again from a mark.
SELECT columns, together(format('SELECT a.id, b.id AS j FROM sizes a LEFT JOIN sizes b USING (%s) WHERE a.id %% 50 = 1', columns), 'Merge.*each participant')
FROM unnest(ARRAY['one', 'three', 'several', 'nulls', 'nothing', 'pad', 'prefix', 'n', 'several, nulls', 'three, pad']) columns;
SELECT together('SELECT a.id, b.id AS j FROM sizes a JOIN sizes b ON a.several = b.several AND a.pad < b.pad WHERE b.id % 10 = 1', 'Merge');

-- Rows that parts refuse, and sorted rows that all participants need: within work_mem they take no file, no
-- more than they do in PostgreSQL; beyond it they do, and are found behind the others.
SELECT setting, memory, together('SELECT id, rank() OVER (PARTITION BY many ORDER BY n, id) AS r FROM sizes', 'Sliced By', VARIADIC setting || memory),
	together('SELECT a.id, b.id AS j FROM sizes a JOIN sizes b ON a.several = b.several AND a.pad <= b.pad WHERE b.id % 10 = 1', 'Merge.*each participant', VARIADIC setting || memory)
FROM unnest(ARRAY['gpusort.inject_fault=codec', 'gpusort.inject_fault=memory', 'gpusort.pool_quota=1', 'gpusort.pool_quota=20']) setting,
	(VALUES (ARRAY['temp_file_limit=0', 'work_mem=16MB', 'hash_mem_multiplier=1']), (ARRAY['temp_file_limit=-1', 'work_mem=256kB', 'hash_mem_multiplier=1'])) m(memory)
ORDER BY setting, memory[2];

-- ... also of rows that are longer than those before.
SELECT together('SELECT id, rank() OVER (PARTITION BY many ORDER BY n, repeat(pad, id / 400), id) AS r FROM sizes', 'Sliced By', 'gpusort.inject_fault=codec', 'work_mem=256kB', 'hash_mem_multiplier=1');

-- Rows in files, with one participant, again and again: the Gather is rescanned.
SET enable_nestloop = on;
SELECT setting, together('SELECT o, s.* FROM generate_series(1, 3) o LEFT JOIN (SELECT id, count(*) OVER (PARTITION BY several) AS c FROM sizes OFFSET 0) s ON s.id % 10 - o BETWEEN 0 AND 0', 'Nested Loop.*Function Scan.*Shared', setting),
	together('SELECT o, s.* FROM generate_series(1, 3) o LEFT JOIN (SELECT a.id, b.id AS j FROM sizes a JOIN sizes b ON a.three = b.three OFFSET 0) s ON s.id % 10 - o BETWEEN 0 AND 0', 'Nested Loop.*Function Scan.*Merge.*Shared',
		'enable_seqscan=on', setting)
FROM unnest(ARRAY['gpusort.inject_fault=none', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=memory', 'gpusort.inject_fault=verify', 'gpusort.pool_quota=1',
	'max_parallel_workers=0', 'parallel_leader_participation=off']) setting;
SET enable_nestloop = off;

-- Without dynamic shared memory the leader does it all: rows are fetched one at a time.
CREATE FUNCTION windows_one_by_one() RETURNS SETOF text VOLATILE LANGUAGE sql SET search_path = gpusort_parallel AS
$$ SELECT s::text FROM (SELECT id, count(*) OVER (PARTITION BY several ORDER BY id) AS c FROM sizes OFFSET 0) s $$;
CREATE FUNCTION join_one_by_one() RETURNS SETOF text VOLATILE LANGUAGE sql SET search_path = gpusort_parallel AS
$$ SELECT s::text FROM (SELECT a.id, b.id AS j FROM sizes a JOIN sizes b ON a.three = b.three AND a.pad <= b.pad OFFSET 0) s $$;
CREATE FUNCTION one_by_one(call text, VARIADIC settings text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	answers text[];
BEGIN
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), split_part(settings[i], '=', 2), true);
	END LOOP;
	FOR enabled IN 0 .. 1 LOOP
		PERFORM set_config('gpusort.enabled', enabled::text, true);
		EXECUTE format('SELECT $1 || (SELECT count(*) || '' '' || sum(hashtextextended(r, 0)) FROM (SELECT %s AS r) s)', call) INTO answers USING answers;
	END LOOP;
	RETURN format('%s rows, %s', split_part(answers[1], ' ', 1), CASE WHEN answers[1] = answers[2] THEN 'same' ELSE 'others' END);
END $$;
SELECT one_by_one('windows_one_by_one()', 'gpusort.force=on');
SELECT one_by_one('join_one_by_one()', 'gpusort.force=on');
SELECT one_by_one('windows_one_by_one()', 'gpusort.inject_fault=codec');
SELECT one_by_one('join_one_by_one()', 'gpusort.inject_fault=codec');
SELECT one_by_one('join_one_by_one()', 'gpusort.inject_fault=none', 'gpusort.pool_quota=1', 'work_mem=64kB');
RESET gpusort.enabled;
RESET gpusort.inject_fault;
RESET gpusort.pool_quota;
RESET work_mem;
SELECT shared($$SELECT s::text FROM (SELECT id, count(*) OVER (PARTITION BY several ORDER BY id) AS c FROM sizes OFFSET 0) s$$);
SELECT shared($$SELECT s::text FROM (SELECT a.id, b.id AS j FROM sizes a JOIN sizes b ON a.three = b.three AND a.pad <= b.pad OFFSET 0) s$$);

-- What EXPLAIN says.
SELECT plan_lines('SELECT count(*) OVER (PARTITION BY several, pad COLLATE "POSIX" ORDER BY n DESC, id) FROM sizes');
EXPLAIN (COSTS OFF) SELECT a.id FROM sizes a JOIN sizes b ON a.several = b.several AND a.pad = b.pad;
CREATE FUNCTION explained(query text, OUT collected int8, OUT through_store int8, OUT method text, OUT sliced_by jsonb, OUT rows_to jsonb, OUT returned int8)
LANGUAGE sql AS $$
	SELECT total(node, 'Rows Collected'), total(node, 'Rows Through Store'), node ->> 'Sort Method', node -> 'Sliced By', node -> 'Rows To',
		round((node -> 'Actual Rows')::numeric * (node -> 'Actual Loops')::numeric, -2)
	FROM executed(query, 'GpuSort Shared') node
$$;
SELECT * FROM explained('SELECT count(*) OVER (PARTITION BY several ORDER BY id) FROM sizes');
SELECT collected, through_store, method, rows_to FROM explained('SELECT a.id FROM sizes a JOIN sizes b ON a.pad = b.pad AND a.one = b.one');
SET gpusort.inject_fault = codec;
SELECT method, sliced_by, rows_to, returned, collected + through_store AS rows FROM explained('SELECT count(*) OVER (PARTITION BY several ORDER BY id) FROM sizes');
SELECT through_store > 0 AS store, rows_to FROM explained('SELECT a.id FROM sizes a JOIN sizes b ON a.pad = b.pad AND a.one = b.one');
RESET gpusort.inject_fault;
SET max_parallel_workers = 0;
SELECT * FROM explained('SELECT count(*) OVER (PARTITION BY several ORDER BY id) FROM sizes');
RESET max_parallel_workers;

-- A Limit that wants more each time its input is rescanned: workers must not stop at what it wanted
-- at first, which is what PostgreSQL tells them still.
SET enable_material = off;
SET enable_hashagg = off;
SET enable_hashjoin = off;
SET enable_nestloop = on;
CREATE FUNCTION growing_limits(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	growing text := format('SELECT l.n, s.* FROM (VALUES (1), (300), (2), (100000)) l(n), LATERAL (SELECT * FROM (%s OFFSET 0) q LIMIT l.n) s', query);
	counts text;
BEGIN
	EXECUTE format('CREATE TEMP TABLE limited AS %s', growing);
	SELECT string_agg(format('%s of %s', rows, n), ', ' ORDER BY n) FROM (SELECT n, count(*) AS rows FROM limited GROUP BY n) c INTO counts;
	DROP TABLE limited;
	RETURN format('%s shared: %s', shared(growing), counts);
END $$;
SELECT leader, set_config('parallel_leader_participation', leader, false) = leader AS set, growing_limits(query) FROM unnest(ARRAY['off', 'on']) leader, unnest(ARRAY[
	'SELECT k, mode() WITHIN GROUP (ORDER BY id) FROM par GROUP BY k',
	'SELECT k, mode() WITHIN GROUP (ORDER BY id) FROM par GROUP BY k ORDER BY k',
	'SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par',
	'SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM par ORDER BY k, id',
	'SELECT a.id, b.pad FROM par a JOIN par b ON a.id = b.id']) query;
