-- Unique indexes: what is a violation and what is not, and the words it is
-- reported in.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_index_unique;
SET search_path = gpusort_index_unique, gpusort_test, public;
SET max_parallel_maintenance_workers = 0;
SET gpusort.min_rows = 0;

-- The outcome of a command without and with gpusort: must be the same, and a
-- violation reported by PostgreSQL must be found by us.
CREATE FUNCTION check_command(command text, cleanup text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcome text[];
	message text;
	detail text;
	constraint_name text;
	counters text;
	before record;
BEGIN
	FOR i IN 1 .. 2 LOOP
		PERFORM set_config('gpusort.enabled', CASE i WHEN 1 THEN 'off' ELSE 'on' END, false);
		SELECT * INTO before FROM gpusort_index_builds();
		BEGIN
			EXECUTE command;
			outcome[i] := 'ok';
			PERFORM bt_index_parent_check(indexrelid, true, true) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
			WHERE relnamespace = 'gpusort_index_unique'::regnamespace AND relam = (SELECT oid FROM pg_am WHERE amname = 'btree');
			EXECUTE cleanup;
		EXCEPTION WHEN unique_violation THEN
			GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, constraint_name = CONSTRAINT_NAME;
			outcome[i] := concat_ws(' / ', message, detail, constraint_name);
		END;
	END LOOP;
	SELECT format('built %s, given up %s, left %s', built - before.built, given_up - before.given_up, left_alone - before.left_alone)
	INTO counters FROM gpusort_index_builds();
	RETURN format('%s: %s [%s]', command, outcome[2], counters) ||
		CASE WHEN outcome[1] <> outcome[2] THEN ' BUT POSTGRESQL: ' || outcome[1] ELSE '' END;
END $$;
CREATE FUNCTION check_unique(definition text) RETURNS text LANGUAGE sql AS $$
	SELECT check_command(format('CREATE UNIQUE INDEX i ON %s', definition), 'DROP INDEX i')
$$;

CREATE TABLE u AS
SELECT id, random('unique', id, 1 << 30) * 5000 + id AS k, CASE WHEN id % 3 > 0 THEN id END AS n,
	md5(id::text) COLLATE "C" AS t, (id / 1.0)::numeric AS m, 0 AS zero
FROM generate_series(1, 5000) id;
SELECT check_unique('u (k)');
SELECT check_unique('u (t)');
SELECT check_unique('u (m)');
SELECT check_unique('u (zero, t DESC)');
-- nulls
SELECT check_unique('u (n)');
SELECT check_unique('u (n) NULLS NOT DISTINCT');
SELECT check_unique('u (zero, n)');
SELECT check_unique('u (zero, n) NULLS NOT DISTINCT');
-- columns that are not key
SELECT check_unique('u (k) INCLUDE (zero)');
-- one pair too many; 1234.00 equals 1234.0
INSERT INTO u SELECT 5001, k, NULL, t, m + 0.00, 0 FROM u WHERE id = 1234;
SELECT check_unique('u (k)');
SELECT check_unique('u (t)');
SELECT check_unique('u (m)');
SELECT check_unique('u (m, k DESC)');
SELECT check_unique('u (k) INCLUDE (zero)');
SELECT check_unique('u (k, t, id)');
SELECT check_unique('u ((k + 1))');
SELECT check_unique('u (k) WHERE id <> 5001');
-- a long run of equals
SELECT check_unique('u (zero)');

-- strings that differ in case
CREATE TABLE s AS SELECT md5(i::text) AS t FROM generate_series(1, 1000) i;
INSERT INTO s SELECT upper(t) FROM s LIMIT 1;
SELECT check_unique('s (t COLLATE "C")');
SELECT check_unique('s (t COLLATE "en-x-icu")');

-- constraints and rebuilds
SELECT check_command('ALTER TABLE u ADD PRIMARY KEY (id)', 'ALTER TABLE u DROP CONSTRAINT u_pkey');
SELECT check_command('ALTER TABLE u ADD CONSTRAINT uk UNIQUE (k)', '');
SELECT check_command('ALTER TABLE u ADD CONSTRAINT uk UNIQUE (id) DEFERRABLE INITIALLY DEFERRED', 'ALTER TABLE u DROP CONSTRAINT uk');
SELECT check_command('ALTER TABLE u ADD CONSTRAINT ex EXCLUDE USING btree (id WITH =)', 'ALTER TABLE u DROP CONSTRAINT ex');
DO $$
BEGIN
	ALTER TABLE u ADD CONSTRAINT ex EXCLUDE USING btree (k WITH =);
EXCEPTION WHEN exclusion_violation THEN
	RAISE WARNING '%', sqlerrm;
END $$;
DELETE FROM u WHERE id = 5001;
CREATE UNIQUE INDEX ui ON u (k);
ALTER TABLE u ALTER k TYPE numeric;
DO $$
BEGIN
	ALTER TABLE u ALTER k TYPE int8 USING k::int8 / 1000000;
EXCEPTION WHEN unique_violation THEN
	RAISE WARNING '%', sqlerrm;
END $$;

-- Dead rows don't count: deleted, updated with and without HOT, rolled back.
CREATE TABLE d (id int, k int, other int);
INSERT INTO d SELECT i, i % 1000, i FROM generate_series(1, 2000) i;
DELETE FROM d WHERE id > 1000;
SELECT check_unique('d (k)');
UPDATE d SET k = k + 1000 WHERE id % 2 = 0;
UPDATE d SET k = k - 1000 WHERE id % 4 = 0;
UPDATE d SET other = other + 1 WHERE id % 7 = 0;
SELECT check_unique('d (k)');
DO $$
BEGIN
	INSERT INTO d SELECT i, i % 1000, i FROM generate_series(1, 2000) i;
	RAISE EXCEPTION 'no';
EXCEPTION WHEN raise_exception THEN
	NULL;
END $$;
SELECT check_unique('d (k)');
-- written by the same transaction
BEGIN;
UPDATE d SET k = k + 1 WHERE id % 5 = 0;
UPDATE d SET k = k - 1 WHERE id % 5 = 0;
SELECT check_unique('d (k)');
CREATE UNIQUE INDEX du ON d (k);
SELECT bt_index_parent_check('du', true, true), count(*) FROM bt_page_items('du', 1) WHERE htid IS NULL;
DROP INDEX du;
INSERT INTO d SELECT 3000, k, 0 FROM d WHERE id = 77;
SELECT check_unique('d (k)');
SAVEPOINT s;
DELETE FROM d WHERE id = 77;
SELECT check_unique('d (k)');
ROLLBACK TO s;
SELECT check_unique('d (k)');
COMMIT;
-- Rows that this transaction has inserted, some of which it has deleted, or taken back.
BEGIN;
CREATE TABLE own (k int4);
INSERT INTO own SELECT generate_series(1, 3000);
DELETE FROM own WHERE k % 3 = 0;
INSERT INTO own SELECT generate_series(3, 3000, 3);
SAVEPOINT s;
INSERT INTO own SELECT generate_series(1, 3000);
ROLLBACK TO s;
SELECT check_unique('own (k)');
INSERT INTO own VALUES (3);
SELECT check_unique('own (k)');
COMMIT;
DROP SCHEMA gpusort_index_unique CASCADE;
