-- Index builds with parallel workers, beside PostgreSQL's without.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_index_parallel;
SET search_path = gpusort_index_parallel, gpusort_test, public;
SET max_parallel_maintenance_workers = 2;
SET gpusort.verify = on;

-- The result of check_index(), and whether workers took part.
CREATE FUNCTION check_parallel(definition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	before int8 := (gpusort_index_builds()).workers;
	result text := check_index(definition);
BEGIN
	RETURN result || CASE WHEN (gpusort_index_builds()).workers > before THEN ' with workers' ELSE ' without workers' END;
END $$;

CREATE TABLE t (id int, few int, k int8, s text COLLATE "C", n numeric, f float8) WITH (parallel_workers = 2);
INSERT INTO t SELECT i, i % 10, random('parallel', i), md5((i / 3)::text), CASE WHEN i % 7 > 0 THEN i / 10.0 END, i % 100
FROM generate_series(1, 30000) i;
SELECT check_parallel('CREATE INDEX %s ON t (k)');
SELECT check_parallel('CREATE UNIQUE INDEX %s ON t (id)');
-- equal keys: in the order of their TIDs, few and many of them, also behind strings
SELECT check_parallel('CREATE INDEX %s ON t (few)');
SELECT check_parallel('CREATE INDEX %s ON t (few DESC, s)');
SELECT check_parallel('CREATE INDEX %s ON t (s)');
SELECT check_parallel('CREATE INDEX %s ON t (n NULLS FIRST, few)');
SELECT check_parallel('CREATE INDEX %s ON t (f) INCLUDE (s)');
SELECT check_parallel('CREATE INDEX %s ON t (s COLLATE "en-x-icu", few)');
-- through the server's parallel scan
SELECT check_parallel('CREATE INDEX %s ON t (upper(s), few)');
SELECT check_parallel('CREATE INDEX %s ON t (k) WHERE few < 4');
SELECT check_parallel('CREATE INDEX %s ON t (k) WHERE few > 10');
-- what workers must not do
CREATE FUNCTION restricted(i int) RETURNS int IMMUTABLE PARALLEL RESTRICTED LANGUAGE plpgsql AS 'BEGIN RETURN i; END';
SELECT check_parallel('CREATE INDEX %s ON t (restricted(id))');
-- rows of all kinds
DELETE FROM t WHERE id % 37 = 0;
CREATE INDEX permanent ON t (id);
UPDATE t SET f = 1 WHERE id BETWEEN 5000 AND 9000;
UPDATE t SET few = few + 1 WHERE id BETWEEN 8000 AND 8500 OR id % 1000 = 0;
SELECT check_parallel('CREATE INDEX %s ON t (few)');
BEGIN;
UPDATE t SET f = 2 WHERE id BETWEEN 5500 AND 8800;
DELETE FROM t WHERE id % 900 = 0;
SELECT check_parallel('CREATE INDEX %s ON t (few, k)');
COMMIT;
-- values out of line
CREATE TABLE wide (id int, b bytea) WITH (parallel_workers = 2);
ALTER TABLE wide ALTER b SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, decode(repeat(md5((i % 60)::text), i % 5 * 30), 'hex') FROM generate_series(1, 2000) i;
SELECT check_parallel('CREATE INDEX %s ON wide (b DESC, id)');

-- CONCURRENTLY
SET gpusort.force = on;
SELECT workers AS before FROM gpusort_index_builds() \gset
CREATE INDEX CONCURRENTLY i ON t (k);
REINDEX TABLE CONCURRENTLY t;
SELECT workers - :before AS workers FROM gpusort_index_builds();
SELECT bt_index_parent_check(indexrelid, true, true) FROM pg_index WHERE indrelid = 't'::regclass;
DROP INDEX i;

-- violations and errors in workers
\set VERBOSITY terse
CREATE UNIQUE INDEX i ON t (few);
CREATE FUNCTION fails(i int) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN 1 / (i - 17000); END';
CREATE INDEX i ON t (fails(id));
-- giving up
SELECT given_up AS before FROM gpusort_index_builds() \gset
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
CREATE INDEX i ON t (k);
DROP INDEX i;
SET gpusort.inject_fault = codec;
CREATE INDEX i ON t (upper(s));
DROP INDEX i;
SET gpusort.inject_fault = verify;
CREATE INDEX i ON t (k);
RESET gpusort.inject_fault;
SELECT given_up - :before AS given_up FROM gpusort_index_builds();
SELECT bt_index_parent_check('i', true, true);
-- the leader does not count as one here; no workers to be had
SET parallel_leader_participation = off;
SELECT check_parallel('CREATE INDEX %s ON t (k, id)');
RESET parallel_leader_participation;
SET max_parallel_workers = 0;
SELECT check_parallel('CREATE INDEX %s ON t (k, id)');
RESET max_parallel_workers;
DROP SCHEMA gpusort_index_parallel CASCADE;
