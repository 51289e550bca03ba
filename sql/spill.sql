-- Sorts and index builds of more rows than their memory holds: runs in temporary files.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_spill;
SET search_path = gpusort_spill, gpusort_test, public;
SET gpusort.force = on;
SET max_parallel_workers_per_gather = 0;
SET max_parallel_maintenance_workers = 0;
SET gpusort.pool_quota = 0;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET maintenance_work_mem = '1MB';

CREATE TABLE t AS SELECT i AS id, random('spill', i) AS k, i % 50 AS few,
	CASE WHEN i % 7 > 0 THEN md5((i % 3000)::text) END AS s,
	'https://www.example.org/' || md5(i::text) AS url,
	repeat(chr(97 + i % 26), i % 400) AS pad
FROM generate_series(1, 20000) i;
ANALYZE t;

-- What EXPLAIN says of a query: whether there were runs and portions.
CREATE FUNCTION spilled(query text) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s runs, %s portions, %s written and read', CASE WHEN (n->>'Runs')::int > 1 THEN 'some' ELSE n->>'Runs' END,
		CASE WHEN (n->>'Portions')::int > 1 THEN 'some' ELSE n->>'Portions' END,
		CASE WHEN (n->>'Spilled')::int > 0 AND (n->>'Temp Written Blocks')::int >= (n->>'Spilled')::int / 8 AND
			(n->>'Temp Read Blocks')::int >= (n->>'Spilled')::int / 8 THEN 'all' ELSE n::text END)
	FROM executed(query, 'GpuSort') n
$$;
SELECT spilled('SELECT * FROM t ORDER BY k');
SELECT (executed('SELECT * FROM t ORDER BY k', 'GpuSort')->>'Merged Runs')::int > 1 AS merged;
SET work_mem = '1MB';
SELECT spilled('SELECT * FROM t ORDER BY k');
SELECT executed('SELECT id FROM t WHERE id < 100 ORDER BY k', 'GpuSort')->'Runs' IS NULL AS in_memory;
RESET work_mem;
SET gpusort.enable_spill = off;
SET work_mem = '64kB';
SELECT executed('SELECT * FROM t ORDER BY k', 'GpuSort')->>'Handed Over';
SET gpusort.enable_spill = on;

-- Temporary files that there are.
CREATE FUNCTION files() RETURNS int8 LANGUAGE sql AS $$SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false)$$;

-- Keys of all kinds.
SELECT check_sort('integers', 'SELECT * FROM t ORDER BY k', 'k');
SELECT check_sort('few values, a whole order', 'SELECT * FROM t ORDER BY few, id DESC', 'few', 'id');
SELECT check_sort('few values', 'SELECT few, pad FROM t ORDER BY few', 'few');
SELECT check_sort('one value', 'SELECT few * 0 AS z, id FROM t ORDER BY few * 0', 'z');
SELECT check_sort('nulls first', 'SELECT s, id FROM t ORDER BY s COLLATE "C" NULLS FIRST, id', 's', 'id');
SELECT check_sort('nulls last, descending', 'SELECT s, id FROM t ORDER BY s COLLATE "C" DESC NULLS LAST, id DESC', 's', 'id');
SELECT check_sort('a common prefix', 'SELECT url, pad FROM t ORDER BY url COLLATE "C" DESC', 'url');
SELECT check_sort('ICU', 'SELECT s, id FROM t ORDER BY s COLLATE "en-x-icu", id', 's', 'id');
SELECT check_sort('libc', 'SELECT url, id FROM t ORDER BY url COLLATE "default", id', 'url', 'id');
SELECT check_sort('numerics', 'SELECT (k * 0.001)::numeric AS n, id FROM t ORDER BY (k * 0.001)::numeric DESC, id', 'n', 'id');
SELECT check_sort('in order', 'SELECT * FROM t ORDER BY id', 'id');
SELECT check_sort('in reverse', 'SELECT * FROM t ORDER BY id DESC', 'id');
SELECT check_sort('rows of one length', 'SELECT id, k FROM t ORDER BY k', 'k');
SET gpusort.late_rows = on;
SELECT check_sort('late rows', 'SELECT * FROM t ORDER BY k DESC', 'k');
RESET gpusort.late_rows;

-- Rows that are larger than all of the memory, among others.
SELECT check_sort('wide rows', $$SELECT k, repeat('x', CASE WHEN id % 5000 = 0 THEN 200000 ELSE 10 END) AS wide FROM t ORDER BY k$$, 'k');

-- Cursors: backward, absolute, and from either end.
CREATE FUNCTION walk(query text, moves text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	move text;
	result text := '';
BEGIN
	OPEN c SCROLL FOR EXECUTE query;
	FOREACH move IN ARRAY moves LOOP
		CASE split_part(move, ' ', 1)
			WHEN 'next' THEN FETCH NEXT FROM c INTO r;
			WHEN 'prior' THEN FETCH PRIOR FROM c INTO r;
			WHEN 'last' THEN FETCH LAST FROM c INTO r;
			WHEN 'first' THEN FETCH FIRST FROM c INTO r;
			WHEN 'absolute' THEN FETCH ABSOLUTE split_part(move, ' ', 2)::int FROM c INTO r;
			WHEN 'relative' THEN FETCH RELATIVE split_part(move, ' ', 2)::int FROM c INTO r;
			WHEN 'all' THEN MOVE FORWARD ALL FROM c;
		END CASE;
		result := result || move || ' ' || CASE WHEN FOUND THEN md5(r::text) ELSE 'nothing' END || E'\n';
	END LOOP;
	CLOSE c;
	RETURN result;
END $$;
CREATE FUNCTION walks_alike(query text, VARIADIC moves text[]) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	ours text := walk(query, moves);
BEGIN
	SET LOCAL gpusort.enabled = off;
	RETURN ours = walk(query, moves);
END $$;
SELECT walks_alike('SELECT * FROM t ORDER BY k, id', 'next 0', 'next 0', 'prior 0', 'last 0', 'prior 0', 'next 0', 'next 0', 'prior 0',
	'absolute 10000', 'prior 0', 'relative -700', 'relative 1400', 'first 0', 'prior 0', 'next 0', 'absolute -1', 'absolute -20000',
	'absolute 20001', 'all 0', 'prior 0', 'absolute 512', 'next 0', 'relative -64', 'relative 33');
SELECT walks_alike('SELECT * FROM t ORDER BY few, s, id', VARIADIC ARRAY(SELECT 'absolute ' || random('walk', i, 20002) FROM generate_series(1, 60) i));
SELECT walks_alike('SELECT * FROM t ORDER BY k, id', VARIADIC ARRAY(SELECT 'relative ' || 1 - random('walk', i, 2) * 2 * (i % 90) FROM generate_series(1, 300) i));

-- Marks, and being read again.
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_material = off;
SELECT check_rows('SELECT a.id, b.id AS other FROM t a JOIN t b ON a.few = b.few WHERE a.id < 300', false, ARRAY['Merge Join', 'GpuSort'], '{}');
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_material;
SET gpusort.min_rows = 1000;
SELECT check_rows($$SELECT x, (SELECT string_agg(id::text, ' ') FROM (SELECT id FROM t WHERE id % 20 >= x ORDER BY k, id OFFSET 0) u) AS ids FROM generate_series(1, 5) x$$,
	false, ARRAY['GpuSort'], '{}');
RESET gpusort.min_rows;
SELECT check_rows('SELECT id, count(*) OVER (PARTITION BY few ORDER BY k ROWS 10 PRECEDING), rank() OVER (PARTITION BY few ORDER BY k) FROM t', false, ARRAY['WindowAgg', 'GpuSort'], '{}');

-- Handing over when there are runs: a value without encoding, an order that is not confirmed.
SET gpusort.inject_fault = codec;
SELECT check_sort('no encoding', 'SELECT id, pad || pad || pad AS wide FROM t WHERE id > 300 ORDER BY few + id * 0.0, id', 'id');
SELECT (n->>'Handed Over') || ', ' || CASE WHEN (n->>'Rows Before Handover')::int > 200 THEN 'with runs' ELSE n::text END
FROM executed('SELECT * FROM (SELECT id, CASE WHEN id < 1000 THEN repeat(''x'', 1000) ELSE '''' END AS pad FROM t OFFSET 0) q ORDER BY id', 'GpuSort') n;
SET gpusort.inject_fault = verify;
SELECT check_sort('not confirmed', 'SELECT * FROM t ORDER BY k, id', 'k', 'id');
-- ... of a portion, when rows have been returned
SET gpusort.inject_fault = none;
SET gpusort.verify = on;
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT few, s, id FROM t ORDER BY few, s COLLATE "C", id;
FETCH 1 FROM c;
SET gpusort.inject_fault = verify;
CREATE FUNCTION rest_is_sorted() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	c refcursor := 'c';
	r record;
	last text := '';
	n int := 0;
	wrong int := 0;
BEGIN
	LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		wrong := wrong + (last > format('%s %s %s', r.few + 100, coalesce(r.s, 'null'), r.id + 100000) COLLATE "C")::int;
		last := format('%s %s %s', r.few + 100, coalesce(r.s, 'null'), r.id + 100000);
		n := n + 1;
	END LOOP;
	RETURN n || ' rows, ' || wrong || ' wrong';
END $$;
SELECT rest_is_sorted();
COMMIT;
RESET gpusort.inject_fault;
RESET gpusort.verify;

-- Nothing stays: after the end, an error, a cursor that was not read to the end.
SELECT files();
BEGIN;
DECLARE c CURSOR FOR SELECT * FROM t ORDER BY k, id;
FETCH 1 FROM c \gset
SELECT files() > 0 AS files;
SAVEPOINT s;
DECLARE d CURSOR FOR SELECT 1 / (id - 10000) FROM (SELECT id FROM t ORDER BY k, id OFFSET 0) q;
MOVE ALL FROM d;
ROLLBACK TO s;
MOVE 15000 FROM c;
FETCH 1 FROM c;
CLOSE c;
SELECT files();
COMMIT;
SET temp_file_limit = '100kB';
\set VERBOSITY sqlstate
SELECT count(*) FROM (SELECT * FROM t ORDER BY k OFFSET 0) q;
CREATE INDEX ON t (url, pad);
\set VERBOSITY default
RESET temp_file_limit;
SELECT files();

-- Where files may not be as large as memory, PostgreSQL decides when memory is full: it may do without.
SET temp_file_limit = 0;
SET work_mem = '16MB';
SET maintenance_work_mem = '16MB';
SET gpusort.inject_fault = memory;
SELECT check_sort('no files', 'SELECT * FROM t ORDER BY k', 'k');
CREATE TABLE c AS SELECT * FROM t;
CREATE INDEX by_k ON c (k);
CLUSTER c USING by_k;
SELECT array_agg(k) = array_agg(k ORDER BY k) AS clustered FROM (SELECT k FROM c OFFSET 0) q;
DROP TABLE c;
SET gpusort.inject_fault = none;
RESET temp_file_limit;
SET work_mem = '64kB';
SET maintenance_work_mem = '1MB';

-- Index builds.
SELECT check_index(definition)
FROM unnest(ARRAY['CREATE INDEX %s ON t (k)', 'CREATE UNIQUE INDEX %s ON t (id DESC)', 'CREATE INDEX %s ON t (few)', 'CREATE INDEX %s ON t (few, s)',
	'CREATE INDEX %s ON t (s COLLATE "C" DESC NULLS LAST) INCLUDE (id)', 'CREATE INDEX %s ON t (url)', 'CREATE UNIQUE INDEX %s ON t (s, id)',
	'CREATE INDEX %s ON t ((few * 0))', 'CREATE INDEX %s ON t ((few * 0)) WITH (deduplicate_items = off)', 'CREATE UNIQUE INDEX %s ON t ((CASE WHEN id %% 2 = 0 THEN id END))',
	'CREATE INDEX %s ON t (s COLLATE "en-x-icu")', 'CREATE INDEX %s ON t (k) WHERE id > 2']) definition;
CREATE UNIQUE INDEX ON t (few);
CREATE UNIQUE INDEX ON t ((few * 0));
CREATE UNIQUE INDEX ON t ((CASE WHEN id > 100 THEN id ELSE 50 + id / 100 * 50 END));
CREATE UNIQUE INDEX ON t ((CASE WHEN id % 2 = 0 THEN id END)) NULLS NOT DISTINCT;
-- versions of rows that are dead to new snapshots only
CREATE TABLE u AS SELECT i AS id FROM generate_series(1, 30000) i;
DELETE FROM u WHERE id % 3 = 0;
INSERT INTO u SELECT i FROM generate_series(3, 30000, 3) i;
SELECT check_index('CREATE UNIQUE INDEX %s ON u (id)');
SELECT files();

-- The first sort of a session under a collation, when strings' keys take more than encoders may
-- hold while rows are read back.
CREATE TABLE strings AS SELECT i AS id, repeat(md5(i::text), i % 100) AS s FROM generate_series(1, 4000) i;
\c -
SET gpusort.force = on;
SET gpusort.pool_quota = 0;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
DO $$
DECLARE
	r record;
	ids int[];
BEGIN
	FOR r IN EXECUTE 'SELECT id FROM gpusort_spill.strings ORDER BY s, id' LOOP
		ids := ids || r.id;
	END LOOP;
	SET LOCAL gpusort.enabled = off;
	RAISE NOTICE '% rows, %', cardinality(ids),
		CASE WHEN ids = (SELECT array_agg(id ORDER BY s, id) FROM gpusort_spill.strings) THEN 'same' ELSE 'NOT THE SAME' END;
END
$$;
SET client_min_messages = warning;
DROP SCHEMA gpusort_spill CASCADE;
