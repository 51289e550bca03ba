-- Sorts of TIDs and sort columns whose rows are fetched from the table when they are
-- returned: where it is done, and that the rows are those of PostgreSQL's sort.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_late;
SET search_path = gpusort_late, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
SET jit = off;
SET gpusort.late_rows = on;

-- Are a query's rows fetched by TID?
CREATE FUNCTION fetched(query text) RETURNS bool LANGUAGE sql AS $$
	SELECT matches(query, 'Rows: fetched by TID') > 0
$$;

-- check_rows() of an ordered query whose rows are.
CREATE FUNCTION compare(query text, VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE sql AS $$
	SELECT check_rows(query, true, ARRAY['Rows: fetched by TID'], settings)
$$;

-- Every kind of column, in pages that are not full, with dead rows among the live; libc's
-- collation where the server has one.
SELECT coalesce(max(collname), 'C') AS libc FROM pg_collation
WHERE collname = 'en_US.utf8' AND pg_encoding_to_char(collencoding) = getdatabaseencoding() \gset
CREATE TABLE wide (
	id int, gone int, k int8, f float8, d date, u uuid, n numeric, c text COLLATE "C", loc text COLLATE :"libc",
	dropped text, pad text, doubled int8 GENERATED ALWAYS AS (k * 2) STORED);
INSERT INTO wide (id, gone, k, f, d, u, n, c, loc, dropped, pad)
SELECT i, i, nullif(i * 7919 % 1009, 5), sin(i), date '2000-01-01' + i % 100, md5(i::text)::uuid, (i * 31 % 777)::numeric / 7,
	nullif(md5((i % 70)::text), md5('7')), left(md5(i::text), 3 + i % 9), 'x', repeat(md5(i::text), 1 + i % 20)
FROM generate_series(1, 3000) i;
ALTER TABLE wide DROP COLUMN gone, DROP COLUMN dropped;
-- a column that earlier rows do not have
ALTER TABLE wide ADD COLUMN added int DEFAULT 42;
INSERT INTO wide (id, k, pad, added) SELECT i, i % 100, 'new', i FROM generate_series(3001, 3100) i;
UPDATE wide SET pad = pad || '!' WHERE id % 3 = 0;
DELETE FROM wide WHERE id % 10 = 1;
CREATE TABLE whole AS SELECT * FROM wide;
-- and one whose last column most rows do not have
CREATE TABLE shorter AS SELECT id, k FROM wide;
ALTER TABLE shorter ADD COLUMN v int DEFAULT 7;
ANALYZE wide, whole, shorter;

-- What it looks like
SELECT plan_lines('SELECT * FROM wide ORDER BY k, id') LIMIT 5;
SET gpusort.force = on;
SELECT plan_lines('SELECT * FROM wide ORDER BY k, id');
SELECT plan_lines('SELECT pad, id + 1 AS next FROM wide WHERE n > 3 ORDER BY k % 10 DESC, c NULLS FIRST, id LIMIT 50', 'COSTS OFF, VERBOSE');
SELECT plan_lines('SELECT * FROM wide ORDER BY k, id', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
-- pages are counted where they are read: by the node itself, beyond its child's
SELECT node -> 'Rows' AS rows, (node -> 'Shared Hit Blocks')::int - (node -> 'Plans' -> 0 -> 'Shared Hit Blocks')::int > 2000 AS fetches
FROM executed('SELECT * FROM wide ORDER BY k, id', 'GpuSort') node;
SET gpusort.late_rows = off;
SELECT plan_lines('SELECT * FROM wide ORDER BY k, id');
SET gpusort.late_rows = on;

-- Keys of all kinds
SELECT key, compare(format('SELECT * FROM wide ORDER BY %s, id', key)), compare(format('SELECT id, %s AS key FROM wide ORDER BY key DESC, id DESC', key))
FROM unnest(ARRAY['k', 'f', 'd', 'u', 'n', 'c', 'loc', 'pad', 'added', 'doubled', 'k % 7', 'upper(c)', 'f NULLS FIRST']) key
WHERE key !~ 'NULLS';
SELECT compare('SELECT * FROM wide ORDER BY n NULLS FIRST, c DESC NULLS LAST, d, id');
SELECT compare('SELECT * FROM wide ORDER BY id');
-- rows that are returned as they are stored
SELECT compare('SELECT * FROM whole ORDER BY k, id'), compare('SELECT whole, k FROM whole ORDER BY pad || k, id');
SELECT compare('SELECT * FROM (SELECT * FROM shorter ORDER BY k, id OFFSET 0) s ORDER BY v, id DESC');
-- and not, though all columns are wanted
CREATE TABLE twins AS SELECT id, id % 7 AS other FROM wide;
SELECT compare('SELECT other, id FROM twins ORDER BY other, id'), compare('SELECT id, id AS same FROM twins ORDER BY other, id');
-- what is returned: parts, whole rows, system columns, expressions, constants
SELECT compare('SELECT pad FROM wide ORDER BY id');
SELECT compare('SELECT id FROM wide ORDER BY id');
SELECT compare('SELECT added, pad, wide FROM wide ORDER BY k, id');
SELECT compare('SELECT tableoid::regclass AS source, ctid AS place, xmin AS made, xmax AS locked, cmin AS command, * FROM wide ORDER BY k, id');
SELECT compare('SELECT ctid AS place FROM wide ORDER BY ctid DESC');
SELECT compare('SELECT id || pad, length(pad), 1 AS one, NULL::text AS nothing, coalesce(k, added) FROM wide ORDER BY length(pad), id');
SELECT compare('SELECT added, doubled FROM wide ORDER BY added, id');
-- where: conditions, limits, views, row level security, subqueries, joins
SELECT compare('SELECT * FROM wide WHERE k < 500 AND c IS NOT NULL ORDER BY f, id');
SELECT compare('SELECT * FROM wide WHERE id < 0 ORDER BY f, id');
SELECT compare('SELECT * FROM wide ORDER BY f, id LIMIT 70');
SELECT compare('SELECT * FROM wide ORDER BY f, id LIMIT 70 OFFSET 1500');
SELECT compare('SELECT * FROM wide ORDER BY k, id FETCH FIRST 10 ROWS WITH TIES');
CREATE VIEW wide_view WITH (security_barrier) AS SELECT id, pad, k + 1 AS k FROM wide WHERE n < 50;
SELECT compare('SELECT * FROM (SELECT * FROM wide ORDER BY k, id OFFSET 0) s WHERE length(pad) > 100');
SELECT compare('SELECT id, k, rank() OVER (ORDER BY k DESC, id), lag(pad) OVER (ORDER BY k DESC, id) FROM wide');
SELECT compare('SELECT a.id, a.pad, b.pad AS other FROM (SELECT * FROM wide ORDER BY k, id OFFSET 0) a JOIN wide b USING (id)');
SELECT compare('SELECT a.id, a.pad, b.pad AS other FROM wide a JOIN wide b ON a.k = b.id ORDER BY a.id',
	'enable_hashjoin=off', 'enable_nestloop=off');
SELECT compare('(SELECT id, pad FROM wide ORDER BY k, id) UNION ALL (SELECT id, c FROM wide ORDER BY f DESC, id)');
CREATE ROLE regress_gpusort_late;
GRANT USAGE ON SCHEMA gpusort_late, gpusort_test TO regress_gpusort_late;
GRANT SELECT ON wide, wide_view TO regress_gpusort_late;
ALTER TABLE wide ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON wide USING (id % 2 = 0);
SET ROLE regress_gpusort_late;
SELECT compare('SELECT * FROM wide ORDER BY k, id');
SELECT compare('SELECT * FROM wide_view ORDER BY k, id');
RESET ROLE;
ALTER TABLE wide DISABLE ROW LEVEL SECURITY;
-- rows made by others are merely passed on
CREATE TABLE copied AS SELECT * FROM wide ORDER BY k DESC, id;
INSERT INTO copied SELECT * FROM wide ORDER BY k, id;
SELECT count(*), count(DISTINCT copied) FROM copied;

-- Expressions are evaluated once for a row, those of sort columns too, as calls of a function
-- show; others at most once
CREATE SEQUENCE calls;
CREATE FUNCTION counted(x anyelement) RETURNS anyelement LANGUAGE plpgsql STABLE AS $$ BEGIN PERFORM nextval('calls'); RETURN x; END $$;
CREATE FUNCTION fixed(x anyelement) RETURNS anyelement LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN PERFORM nextval('calls'); RETURN x; END $$;
CREATE FUNCTION vague(x anyelement) RETURNS anyelement LANGUAGE plpgsql VOLATILE AS $$ BEGIN PERFORM nextval('calls'); RETURN x; END $$;
-- calls a row, of all rows returned or of the first so many
CREATE FUNCTION calls_for(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	called int8;
	returned int8;
	input int8;
BEGIN
	PERFORM setval('calls', 1, false);
	EXECUTE format('SELECT count(q) FROM (%s) q', query) INTO returned;
	SELECT last_value - 1 + is_called::int INTO called FROM calls;
	SELECT count(*) INTO input FROM wide;
	RETURN format('%s, %s', CASE WHEN fetched(query) THEN 'fetched' ELSE 'stored' END, CASE
		WHEN called = input THEN 'once' WHEN called = 2 * input THEN 'twice' WHEN called = input + returned THEN 'once, and once for each row returned'
		ELSE called || ' calls' END);
END $$;
SELECT query, calls_for(query) FROM unnest(ARRAY[
	'SELECT id, counted(k) AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, fixed(k) AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, pad, fixed(pad) AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id FROM wide ORDER BY counted(k), id OFFSET 0',
	'SELECT id, counted(pad) AS c FROM wide ORDER BY k, id OFFSET 0',
	'SELECT id, counted(k) AS c, counted(pad) AS d FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, counted(k) AS c FROM wide ORDER BY c, id LIMIT 100',
	'SELECT id, counted(k) AS c, counted(pad) AS d FROM wide ORDER BY c, id LIMIT 100',
	'SELECT id, pad, fixed(k) AS c, rank() OVER (ORDER BY fixed(k), id) FROM wide']) query;
SELECT compare('SELECT id, counted(k) AS c, pad FROM wide ORDER BY c, id'), compare('SELECT counted(c) AS c, pad, counted(u) AS u, id FROM wide ORDER BY u, c, id');
SELECT compare('SELECT fixed(pad) AS p, id, k FROM wide ORDER BY p DESC, id', 'gpusort.inject_fault=codec');
SELECT compare('SELECT fixed(pad) AS p, id, k FROM wide ORDER BY p DESC, id', 'jit=on', 'jit_above_cost=0', 'jit_optimize_above_cost=0');
-- a sort column whose number is that of the table's column
CREATE TABLE pair AS SELECT id, k FROM wide;
SELECT compare('SELECT id, fixed(k) AS k FROM pair ORDER BY 2, id'), compare('SELECT id, k + 1 AS k FROM pair ORDER BY k + 1, id');
SELECT plan_lines('SELECT id, k + 1 AS next FROM pair ORDER BY next, id', 'COSTS OFF, VERBOSE');
-- volatile ones, wherever they hide, keep rows from being fetched, unless they are evaluated above the sort
SELECT query, calls_for(query) FROM unnest(ARRAY[
	'SELECT id, vague(k) AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, (vague(k) + 1) * 2 AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, CASE WHEN id > 0 THEN coalesce(vague(k), 0) END AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, (ARRAY[vague(k)])[1] AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, length(ROW(k, vague(pad))::text) AS c FROM wide ORDER BY c, id OFFSET 0',
	'SELECT id, ARRAY[vague(k)] AS c FROM wide ORDER BY k, id OFFSET 0']) query;

-- Not for what must be evaluated once, or belongs to somebody else, or may be checked anew
SELECT query, fetched(query) FROM unnest(ARRAY[
	'SELECT id, random() FROM wide ORDER BY 2',
	'SELECT id, (SELECT max(b.id) FROM wide b WHERE b.id = wide.id) AS m FROM wide ORDER BY m, id',
	'SELECT id, (SELECT count(*) FROM copied) AS m FROM wide ORDER BY m, id',
	'SELECT * FROM wide ORDER BY k, id FOR UPDATE',
	'SELECT * FROM (SELECT * FROM wide ORDER BY k, id OFFSET 0) s, copied FOR UPDATE OF copied',
	'UPDATE copied SET pad = (SELECT min(s.pad) FROM (SELECT * FROM wide ORDER BY k, id OFFSET 0) s)',
	'UPDATE copied SET pad = s.pad FROM (SELECT * FROM wide ORDER BY k, id OFFSET 0) s WHERE s.id = copied.id',
	'WITH w AS (DELETE FROM copied RETURNING *) SELECT * FROM wide ORDER BY k, id',
	'SELECT * FROM generate_series(1, 10) i ORDER BY i',
	'SELECT * FROM wide TABLESAMPLE SYSTEM (50) ORDER BY k, id',
	'SELECT k, count(*) FROM wide GROUP BY k ORDER BY 2, 1']) query;
CREATE TABLE parted (id int, k int, pad text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_2 (pad text, k int, id int);
ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES FROM (100) TO (1000);
INSERT INTO parted SELECT i, i * 7 % 11, repeat('x', i) FROM generate_series(0, 200) i;
SELECT fetched('SELECT * FROM parted ORDER BY k, id'), compare('SELECT tableoid::regclass AS source, * FROM parted WHERE id > 150 ORDER BY k, id');

-- Handed over to PostgreSQL's sort, verified, in private memory, by gpusortd's rules
SELECT compare('SELECT * FROM wide ORDER BY c, id', 'gpusort.inject_fault=memory');
SELECT compare('SELECT * FROM wide ORDER BY c, id', 'gpusort.inject_fault=codec');
SELECT compare('SELECT * FROM wide ORDER BY c, id', 'gpusort.inject_fault=verify');
SELECT compare('SELECT * FROM wide ORDER BY loc, c, n, id', 'gpusort.verify=on');
SELECT compare('SELECT * FROM wide ORDER BY k, id', 'gpusort.pool_quota=0', 'work_mem=64kB');
-- and with other distances to look ahead
SELECT compare('SELECT * FROM wide ORDER BY f, id', 'effective_io_concurrency=0');
SELECT compare('SELECT * FROM wide ORDER BY f, id', 'effective_io_concurrency=200');
SELECT compare('SELECT * FROM wide ORDER BY f, id', 'jit=on', 'jit_above_cost=0', 'jit_optimize_above_cost=0');
SELECT compare('SELECT pad || k, whole, u FROM whole ORDER BY n, id', 'jit=on', 'jit_above_cost=0');

-- Values that are stored elsewhere
CREATE TABLE toasted (id int, k int, plain text, packed text);
ALTER TABLE toasted ALTER plain SET STORAGE EXTERNAL;
INSERT INTO toasted SELECT i, i * 37 % 101, string_agg(md5((i * j)::text), ''), repeat('abc', 9000)
FROM generate_series(1, 200) i, generate_series(1, 400) j GROUP BY i;
SELECT compare('SELECT id, k, md5(packed) AS m, plain FROM toasted ORDER BY k, id');
SELECT compare('SELECT * FROM toasted ORDER BY plain DESC, id');
SELECT compare('SELECT * FROM toasted ORDER BY packed || k, id');

-- Rescans, of the same rows and of others
SET enable_material = off;
SELECT compare('SELECT o.i, s.id, s.pad FROM generate_series(1, 3) o(i), (SELECT * FROM wide ORDER BY k, id OFFSET 0) s WHERE s.k % 50 = o.i');
SELECT compare('SELECT o.i, s.* FROM generate_series(1, 5) o(i), LATERAL (SELECT id, pad FROM wide WHERE k > o.i * 150 ORDER BY k, id LIMIT 100) s');
SELECT compare('SELECT o.i, s.* FROM generate_series(1, 5) o(i), LATERAL (SELECT id, pad FROM wide WHERE k > o.i * 150 ORDER BY k, id LIMIT 1) s');
SELECT compare('SELECT o.i, (SELECT md5(string_agg(s.pad, '' '')) FROM (SELECT * FROM wide WHERE k < o.i ORDER BY f, id OFFSET 0) s) FROM generate_series(1, 5) o(i)',
	'gpusort.inject_fault=codec');
RESET enable_material;

-- Cursors: the rows of their snapshot, whatever this transaction does to them, in every direction.
-- The rows that moves come to, each after a change.
CREATE FUNCTION walk(side text, query text, changes text[], moves text[]) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	result text[];
BEGIN
	PERFORM set_config('gpusort.enabled', side, true);
	BEGIN
		-- rows that come and go in one transaction
		INSERT INTO wide (id, k, pad) SELECT i, i * 17 % 31, 'mine' FROM generate_series(5001, 5040) i;
		UPDATE wide SET pad = 'mine, updated' WHERE id BETWEEN 5001 AND 5010;
		OPEN c SCROLL FOR EXECUTE query;
		FOR i IN 1 .. cardinality(moves) LOOP
			EXECUTE coalesce(changes[i], 'SELECT');
			IF moves[i] IN ('all', 'back') THEN
				LOOP
					IF moves[i] = 'all' THEN
						FETCH NEXT FROM c INTO r;
					ELSE
						FETCH PRIOR FROM c INTO r;
					END IF;
					EXIT WHEN NOT FOUND;
					result := result || r::text;
				END LOOP;
			ELSE
				FETCH ABSOLUTE moves[i]::int FROM c INTO r;
				result := result || coalesce(r::text, 'nothing');
			END IF;
		END LOOP;
		CLOSE c;
		RAISE EXCEPTION 'undo' USING ERRCODE = 'UE000';
	EXCEPTION WHEN SQLSTATE 'UE000' THEN
		RETURN result;
	END;
END $$;
CREATE FUNCTION walks_alike(query text, changes text[], VARIADIC moves text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	core text[] := walk('off', query, changes, moves);
	ours text[] := walk('on', query, changes, moves);
BEGIN
	RETURN format('%s rows, %s, %s', cardinality(core), CASE WHEN fetched(query) THEN 'fetched' ELSE 'stored' END,
		CASE WHEN core = ours THEN 'same' ELSE 'different' END);
END $$;
SELECT walks_alike('SELECT * FROM wide ORDER BY k, id', NULL, '1', '100', '99', '2740', '2741', '-1', '-2', 'back', 'all', 'back');
SELECT walks_alike('SELECT * FROM wide ORDER BY k, id',
	ARRAY[NULL, 'UPDATE wide SET pad = ''changed'', k = -k', 'DELETE FROM wide WHERE id % 2 = 0', 'INSERT INTO wide (id, k, pad) SELECT id, k, pad FROM copied'],
	'10', 'all', 'back', 'all');
-- changed before the first row comes, and changed twice
SELECT walks_alike('SELECT * FROM wide WHERE id > 2900 ORDER BY k, id',
	ARRAY['UPDATE wide SET pad = ''changed''', 'UPDATE wide SET pad = ''again''', 'DELETE FROM wide', 'UPDATE copied SET id = 1'],
	'1', '50', 'all', 'back');
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
SELECT walks_alike('SELECT * FROM wide ORDER BY k, id', ARRAY[NULL, 'DELETE FROM wide'], '1', '100', '99', '-1', '-2', 'back', 'all');
SET gpusort.inject_fault = none;

-- A cursor that outlives its transaction, and one in a subtransaction
BEGIN;
DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT id, k, left(pad, 8) AS pad FROM wide ORDER BY k, id;
FETCH 2 FROM h;
DELETE FROM wide WHERE k < 100;
COMMIT;
FETCH 3 FROM h;
FETCH ABSOLUTE -1 FROM h;
CLOSE h;
BEGIN;
SAVEPOINT s;
DECLARE c CURSOR FOR SELECT id FROM wide ORDER BY k, id;
FETCH 2 FROM c;
DELETE FROM wide;
ROLLBACK TO s;
SELECT count(*) > 2000 AS back FROM wide;
DECLARE c CURSOR FOR SELECT id FROM wide ORDER BY k, id;
FETCH 2 FROM c;
-- what would move its rows is refused
\set VERBOSITY terse
SAVEPOINT t;
TRUNCATE wide;
ROLLBACK TO t;
ALTER TABLE wide ALTER id TYPE int8;
ROLLBACK;

-- Errors, in expressions that are evaluated late, and in the middle
SELECT count(1 / (id - 2000)) FROM (SELECT id, pad FROM wide ORDER BY k, id OFFSET 0) s;
SELECT count(x) FROM (SELECT 1 / (id - 2000) AS x, id FROM wide ORDER BY k, id OFFSET 0) s;
DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT * FROM wide ORDER BY k, id LOOP
		RAISE EXCEPTION 'stop';
	END LOOP;
EXCEPTION WHEN raise_exception THEN
	RAISE WARNING 'caught';
END $$;
SELECT pool_bytes_free = pool_bytes AS free FROM gpusort_service();

-- Prepared statements
PREPARE p(int) AS SELECT id, left(pad, 8) AS pad, $1 AS p FROM wide WHERE k > $1 ORDER BY k + $1, id;
SET plan_cache_mode = force_generic_plan;
SELECT plan_lines('EXECUTE p(400)', 'COSTS OFF, VERBOSE');
SELECT compare('SELECT * FROM wide ORDER BY k, id');
EXECUTE p(1007);
RESET plan_cache_mode;
DEALLOCATE p;

-- Parallel workers collect TIDs, the leader fetches.
SET parallel_setup_cost = 0;
SET gpusort.cost_gather = 0;
SET gpusort.cost_fetch = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
ALTER TABLE wide SET (parallel_workers = 2);
SELECT plan_lines('SELECT * FROM wide ORDER BY k, id', 'COSTS OFF, VERBOSE');
SELECT compare('SELECT * FROM wide ORDER BY k, id');
SELECT compare('SELECT id, pad || k FROM wide WHERE n > 3 ORDER BY pad || k, c, id');
SELECT compare('SELECT * FROM wide ORDER BY loc, id LIMIT 1000');
SELECT compare('SELECT * FROM wide ORDER BY loc, id', setting) FROM unnest(ARRAY['max_parallel_workers=0', 'parallel_leader_participation=off',
	'gpusort.inject_fault=memory', 'gpusort.inject_fault=codec', 'gpusort.inject_fault=verify', 'gpusort.verify=on']) setting;
SELECT compare('SELECT id, rank() OVER (ORDER BY k DESC, id) FROM wide');
-- a join compares the rows returned, whose columns are others than of those collected
SELECT check_rows('SELECT a.id, a.k, b.id AS other FROM wide a JOIN (SELECT k, id FROM whole OFFSET 0) b ON a.id = b.k AND b.id > a.added', false,
	ARRAY['GpuSort Join.*Rows: fetched by TID\n[^\n]*Gather\n[^\n]*\n[^\n]*GpuSort Collect'],
	ARRAY['gpusort.force=on', 'enable_hashjoin=off', 'enable_mergejoin=off', 'enable_nestloop=off', 'gpusort.enable_shared_sort=off']);
SET gpusort.enable_parallel_collect = off;
SELECT compare('SELECT * FROM wide ORDER BY k, id', 'gpusort.late_rows=on');
RESET gpusort.enable_parallel_collect;
SET max_parallel_workers_per_gather = 0;
RESET gpusort.cost_fetch;

-- By its costs: wide rows of which few are wanted, or which there is no room for
RESET gpusort.force;
SET gpusort.late_rows = auto;
SET gpusort.min_rows = 1000;
CREATE TABLE costs AS SELECT i AS id, hashint4(i) AS k, repeat(md5(i::text), 30) AS pad FROM generate_series(1, 20000) i;
VACUUM ANALYZE costs;
SELECT fetched('SELECT * FROM costs ORDER BY k::numeric LIMIT 500'), fetched('SELECT id, k FROM costs ORDER BY k');
SET gpusort.pool_quota = 0;
SET work_mem = '1500kB';
SELECT plan_lines('SELECT * FROM costs ORDER BY k', 'COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF');
SELECT compare('SELECT * FROM costs ORDER BY k, id');
-- where it is not possible, nobody counts on it
SELECT matches('SELECT s.id FROM copied, (SELECT * FROM costs ORDER BY k OFFSET 0) s FOR UPDATE OF copied', 'GpuSort');
-- few rows by a collation that fit into work_mem are for PostgreSQL's bounded sort; others are not
SELECT plan_lines('SELECT * FROM costs ORDER BY pad COLLATE "en-x-icu" LIMIT 90');
SELECT plan_lines('SELECT * FROM costs ORDER BY k LIMIT 90');
SET work_mem = '1000kB';
SELECT plan_lines('SELECT * FROM costs ORDER BY k LIMIT 1100');
SET gpusort.late_rows = off;
SELECT plan_lines('SELECT * FROM costs ORDER BY k');
RESET ALL;
DROP SCHEMA gpusort_late CASCADE;
DROP OWNED BY regress_gpusort_late;
DROP ROLE regress_gpusort_late;
