-- Every way in which a btree gets built, who builds it, and that it comes out as
-- PostgreSQL would have built it.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_index_builds;
SET search_path = gpusort_index_builds, gpusort_test, public;
SET gpusort.min_rows = 100;
-- also without workers, when the server does not ask the planner
SET max_parallel_maintenance_workers = 0;

-- What became of the builds since the last call.
CREATE FUNCTION builds() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	now record;
	before int8[] := coalesce(nullif(current_setting('gpusort_test.builds', true), ''), '{0,0,0}');
BEGIN
	SELECT * INTO now FROM gpusort_index_builds();
	PERFORM set_config('gpusort_test.builds', format('{%s,%s,%s}', now.built, now.given_up, now.left_alone), false);
	RETURN format('built %s, given up %s', now.built - before[1], now.given_up - before[2]);
END $$;

-- Whether an index is valid and has the pages that PostgreSQL would give it now; what is
-- built to see that is undone.
CREATE FUNCTION pages_of(index regclass) RETURNS text LANGUAGE sql AS $$
	SELECT concat(bt_metap(index::text), string_agg(md5(page_used(index, block)), ' ' ORDER BY block))
	FROM generate_series(1, pg_relation_size(index) / current_setting('block_size')::int - 1) block
$$;
CREATE FUNCTION is_as_postgres_builds_it(index regclass) RETURNS bool LANGUAGE plpgsql SET gpusort.enabled = off AS $$
DECLARE
	ours text := pages_of(index);
	theirs text;
BEGIN
	PERFORM bt_index_parent_check(index, true, true);
	BEGIN
		EXECUTE format('REINDEX INDEX %s', index);
		theirs := pages_of(index);
		RAISE EXCEPTION USING errcode = 'GS000';
	EXCEPTION WHEN SQLSTATE 'GS000' THEN
		RETURN ours = theirs;
	END;
END $$;
CREATE FUNCTION valid() RETURNS text LANGUAGE sql AS $$
	SELECT count(*) FILTER (WHERE same) || ' valid' ||
		coalesce(', not as PostgreSQL builds it: ' || string_agg(i::text, ' ') FILTER (WHERE NOT same), '') ||
		coalesce(', not valid: ' || string_agg(i::text, ' ') FILTER (WHERE same IS NULL), '')
	FROM (SELECT oid::regclass AS i, CASE WHEN indisvalid THEN is_as_postgres_builds_it(oid) END AS same
		  FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		  WHERE relnamespace = 'gpusort_index_builds'::regnamespace AND relkind = 'i' AND
			relam = (SELECT oid FROM pg_am WHERE amname = 'btree') ORDER BY relname) s
$$;

CREATE TABLE t (id int, k int8, s text COLLATE "C");
INSERT INTO t SELECT i, random('build', i), md5(i::text) FROM generate_series(1, 3000) i;
SELECT builds() IS NOT NULL;
CREATE INDEX t_k ON t (k);
SELECT builds(), valid();
CREATE INDEX CONCURRENTLY t_s ON t (s);
SELECT builds(), valid();
CREATE UNIQUE INDEX CONCURRENTLY t_id ON t (id DESC);
SELECT builds(), valid();
ALTER TABLE t ADD PRIMARY KEY (id);
SELECT builds(), valid();
ALTER TABLE t ADD EXCLUDE USING btree (s WITH =);
SELECT builds(), valid();
CREATE INDEX t_expression ON t ((k % 100), lower(s));
SELECT builds(), valid();
CREATE INDEX t_partial ON t (k) WHERE id % 3 = 0;
SELECT builds(), valid();
-- other access methods, and a type that we have no codec for
CREATE INDEX t_hash ON t USING hash (k);
CREATE INDEX t_array ON t ((ARRAY[id]));
SELECT builds(), valid();
DROP INDEX t_hash, t_array;

REINDEX INDEX t_k;
SELECT builds(), valid();
REINDEX TABLE t;
SELECT builds(), valid();
REINDEX (CONCURRENTLY) INDEX t_k;
SELECT builds(), valid();
-- but not the exclusion constraint
REINDEX TABLE CONCURRENTLY t;
SELECT builds(), valid();
REINDEX SCHEMA gpusort_index_builds;
SELECT builds(), valid();
VACUUM FULL t;
SELECT builds(), valid();
VACUUM (FULL, ANALYZE) t;
SELECT builds(), valid();
CLUSTER t USING t_k;
SELECT builds(), valid();
ALTER TABLE t ALTER k TYPE numeric;
SELECT builds(), valid();
ALTER TABLE t SET UNLOGGED;
SELECT builds(), valid();
ALTER TABLE t SET LOGGED;
SELECT builds(), valid();
-- nothing to build from
TRUNCATE t;
SELECT builds(), valid();
INSERT INTO t SELECT i, random('build', i), md5(i::text) FROM generate_series(1, 3000) i;
REINDEX TABLE t;
SELECT builds(), valid();

-- a failed CONCURRENTLY, and its repair
INSERT INTO t SELECT 5000, k, 'other' FROM t WHERE id = 100;
REINDEX TABLE t;
SELECT builds(), valid();
\set VERBOSITY terse
CREATE UNIQUE INDEX CONCURRENTLY t_unique ON t (k);
SELECT builds(), valid();
DELETE FROM t WHERE id = 5000;
REINDEX INDEX t_unique;
SELECT builds();
REINDEX TABLE t;
SELECT builds(), valid();
DROP TABLE t;

-- constraints of all kinds; an operator class that has no encoding
CREATE TABLE t (id int PRIMARY KEY, k int8 UNIQUE DEFERRABLE, a int, UNIQUE NULLS NOT DISTINCT (a, id));
INSERT INTO t SELECT i, random('build', i), CASE WHEN i % 3 > 0 THEN i - 1500 END FROM generate_series(1, 3000) i;
REINDEX TABLE t;
ALTER TABLE t ADD UNIQUE (k, id), ADD EXCLUDE USING btree (id WITH =) WHERE (a > 0);
SELECT builds(), valid();
CREATE FUNCTION abs_less(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1) < abs($2)';
CREATE FUNCTION abs_equal(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT abs($1) = abs($2)';
CREATE FUNCTION abs_compare(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp(abs($1), abs($2))';
CREATE OPERATOR |<| (FUNCTION = abs_less, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR |=| (FUNCTION = abs_equal, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR CLASS abs_ops FOR TYPE int USING btree AS OPERATOR 1 |<|, OPERATOR 3 |=|, FUNCTION 1 abs_compare(int, int);
CREATE INDEX t_abs ON t (a abs_ops);
SELECT builds(), valid();
ALTER TABLE t DROP COLUMN a CASCADE;
-- other rewrites
ALTER TABLE t ADD r float8 DEFAULT pg_catalog.random();
SELECT builds(), valid();
-- a table and its TOAST table, of rows enough; system tables
ALTER TABLE t ADD b bytea;
ALTER TABLE t ALTER b SET STORAGE EXTERNAL;
UPDATE t SET b = decode(repeat(md5(id::text), 160), 'hex');
VACUUM t;
SET gpusort.force = on;
SELECT left_alone AS before FROM gpusort_index_builds() \gset
REINDEX TABLE t;
REINDEX TABLE pg_attribute;
REINDEX INDEX pg_class_oid_index;
REINDEX TABLE pg_database;
SELECT left_alone - :before > 5 AS left_alone, builds(), valid() FROM gpusort_index_builds();
REINDEX SYSTEM :"DBNAME";
SELECT left_alone > :before + 100 AS left_alone, builds() FROM gpusort_index_builds();
REINDEX DATABASE :"DBNAME";
SELECT builds(), valid();
RESET gpusort.force;
DROP TABLE t;

-- a temporary and an unlogged table
CREATE TEMP TABLE temporary AS SELECT i AS id, random('build', i) AS k FROM generate_series(1, 3000) i;
CREATE UNIQUE INDEX temporary_k ON temporary (k, id);
SELECT builds(), bt_index_parent_check('temporary_k', true, true);
REINDEX TABLE temporary;
SELECT builds(), bt_index_parent_check('temporary_k', true, true);
CREATE TEMP TABLE short_lived (k int PRIMARY KEY) ON COMMIT DELETE ROWS;
BEGIN;
INSERT INTO short_lived SELECT generate_series(1, 3000);
REINDEX TABLE short_lived;
COMMIT;
SELECT builds(), bt_index_parent_check('short_lived_pkey', true, true);
CREATE UNLOGGED TABLE unlogged AS SELECT i AS id, random('build', i) AS k FROM generate_series(1, 3000) i;
ALTER TABLE unlogged ADD PRIMARY KEY (id);
SELECT builds(), valid();
DROP TABLE unlogged;

-- in the transaction that created the table
BEGIN;
CREATE TABLE t (id int PRIMARY KEY, k int8);
INSERT INTO t SELECT i, random('build', i) FROM generate_series(1, 3000) i;
CREATE INDEX t_k ON t (k);
SELECT builds(), valid();
TRUNCATE t;
INSERT INTO t SELECT i, random('build', i) FROM generate_series(1, 2000) i;
REINDEX TABLE t;
SELECT builds(), valid();
ROLLBACK;

-- partitions, of two levels
CREATE TABLE p (id int, k int8, region int) PARTITION BY LIST (region);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2) PARTITION BY RANGE (id);
CREATE TABLE p21 PARTITION OF p2 FOR VALUES FROM (0) TO (2000);
CREATE TABLE p22 PARTITION OF p2 FOR VALUES FROM (2000) TO (9000);
INSERT INTO p SELECT i, random('build', i), i % 2 + 1 FROM generate_series(1, 4000) i;
SELECT builds();
CREATE INDEX p_k ON p (k);
SELECT builds(), valid();
ALTER TABLE p ADD PRIMARY KEY (region, id);
SELECT builds(), valid();
REINDEX TABLE p;
SELECT builds(), valid();
REINDEX TABLE CONCURRENTLY p;
SELECT builds(), valid();
CREATE TABLE p3 (LIKE p INCLUDING INDEXES);
INSERT INTO p3 SELECT i, i, 3 FROM generate_series(1, 3000) i;
ALTER TABLE p3 DROP CONSTRAINT p3_pkey;
ALTER TABLE p ATTACH PARTITION p3 FOR VALUES IN (3);
SELECT builds(), valid();
DROP TABLE p;

-- materialized views
CREATE MATERIALIZED VIEW m AS SELECT i AS id, random('build', i) AS k FROM generate_series(1, 3000) i;
CREATE UNIQUE INDEX m_id ON m (id);
SELECT builds(), valid();
REFRESH MATERIALIZED VIEW m;
SELECT builds(), valid();
DROP MATERIALIZED VIEW m;

-- an index expression that builds an index, in its midst
CREATE TABLE inner_table AS SELECT i AS id, random('build', i) AS k FROM generate_series(1, 1000) i;
CREATE FUNCTION build_index(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON gpusort_index_builds.inner_table (k)', name);
END $$;
CREATE FUNCTION builds_index(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	IF i % 500 = 0 THEN
		PERFORM gpusort_index_builds.build_index('inner_' || i);
	END IF;
	RETURN -i;
END $$;
CREATE TABLE outer_table AS SELECT i AS id FROM generate_series(1, 1000) i;
CREATE INDEX outer_index ON outer_table (builds_index(id));
SELECT builds(), valid();
-- and one that fails
CREATE FUNCTION fails(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS $$
BEGIN
	RETURN 1 / (i - 700);
END $$;
CREATE INDEX failing_index ON outer_table (fails(id));
SELECT builds(), valid();
DROP TABLE inner_table, outer_table;

-- Who stays out: too few rows, switched off.
CREATE TABLE t AS SELECT i AS id FROM generate_series(1, 3000) i;
VACUUM ANALYZE t;
SET gpusort.min_rows = 3001;
CREATE INDEX i ON t (id);
SELECT builds();
SET gpusort.min_rows = 3000;
REINDEX INDEX i;
SELECT builds();
SET gpusort.enable_index_build = off;
REINDEX INDEX i;
SELECT builds();
SET gpusort.enable_index_build = on;
SET gpusort.enabled = off;
REINDEX INDEX i;
SELECT builds();
RESET gpusort.enabled;

-- Half-way back to PostgreSQL's build
SET gpusort.verify = on;
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
REINDEX INDEX i;
SELECT builds(), valid();
SET gpusort.inject_fault = codec;
REINDEX INDEX i;
SELECT builds(), valid();
SET gpusort.inject_fault = verify;
REINDEX INDEX i;
SELECT builds(), valid();
RESET gpusort.inject_fault;
REINDEX INDEX i;
SELECT builds(), valid();
RESET gpusort.verify;

-- memory that does not suffice: expected, and not expected
INSERT INTO t SELECT i FROM generate_series(3001, 100000) i;
SET gpusort.pool_quota = 0;
SET gpusort.enable_spill = off;
SET maintenance_work_mem = '1MB';
REINDEX INDEX i;
SELECT builds(), valid();
SET gpusort.force = on;
REINDEX INDEX i;
SELECT builds(), valid();
SET maintenance_work_mem = '64MB';
REINDEX INDEX i;
SELECT builds(), valid();
-- or by the pool
RESET gpusort.pool_quota;
SET gpusort.enable_spill = off;
SET maintenance_work_mem = '1MB';
RESET gpusort.force;
REINDEX INDEX i;
SELECT builds(), valid();
DROP SCHEMA gpusort_index_builds CASCADE;

-- a function with a setting of its own that fails does not leave ours behind
SET max_parallel_maintenance_workers = 0;
CREATE TABLE settles AS SELECT i FROM generate_series(1, 1000) i;
CREATE FUNCTION fails_late(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql SET max_parallel_maintenance_workers = 2 AS $$
BEGIN
	IF i = 900 THEN RAISE 'this is row %', i; END IF;
	RETURN i;
END $$;
\set VERBOSITY terse
CREATE INDEX settles_i ON settles (fails_late(i));
\set VERBOSITY default
SHOW max_parallel_maintenance_workers;
