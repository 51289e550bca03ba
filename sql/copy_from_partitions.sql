-- COPY FROM into partitioned tables, and into partitions.
SET client_min_messages = warning;
SET gpusort.force = on;
SET statement_timeout = '60s';
\set VERBOSITY terse

-- The rows that are in a table's partitions after a COPY of these lines, with their places, or its error.
CREATE FUNCTION parted_rows(tab text, cols text, tail text, ours bool, what text DEFAULT 'tableoid::regclass || '' '' || ctid || '' '' || l ORDER BY tableoid, ctid') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
	copied int8;
	message text;
	detail text;
	context text;
BEGIN
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('TRUNCATE %s RESTART IDENTITY', tab);
	EXECUTE format('COPY %s %s FROM %L %s', tab, cols, current_setting('data_directory') || '/parted', tail);
	GET DIAGNOSTICS copied = ROW_COUNT;
	EXECUTE format('SELECT count(*) || '' '' || string_agg(E''\n'' || %s) FROM %s l', replace(what, ' ORDER', ', '''' ORDER'), tab) INTO rows;
	RETURN format(E'%s rows\n', copied) || coalesce(rows, 'none');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s: %s, %s; %s', SQLSTATE, message, detail, regexp_replace(context, '(^|\n)(SQL statement|PL/pgSQL function parted).*', ''));
END $$;

-- Load lines in both ways, by up to two workers, and say whether what came of it is the same, and what.
-- If PostgreSQL uses free space, ours are to be in the order of id.
CREATE FUNCTION compare_parted(tab text, lines text, tail text DEFAULT '', cols text DEFAULT '', places bool DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, convert_to(lines, 'UTF8'));
	theirs text;
	ours text;
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/parted');
	PERFORM lo_unlink(object);
	theirs := CASE WHEN places THEN parted_rows(tab, cols, tail, false) ELSE parted_rows(tab, cols, tail, false, 'tableoid::regclass || '' '' || l ORDER BY tableoid, id') END;
	FOR workers IN 0 .. 2 LOOP
		PERFORM set_config('max_parallel_maintenance_workers', workers::text, true);
		ours := CASE WHEN places THEN parted_rows(tab, cols, tail, true) ELSE parted_rows(tab, cols, tail, true, 'tableoid::regclass || '' '' || l ORDER BY tableoid, ctid') END;
		IF ours IS DISTINCT FROM theirs THEN
			RETURN format(E'DIFFERENT, %s workers: %s\nis not %s', workers, left(ours, 2000), left(theirs, 2000));
		END IF;
	END LOOP;
	RETURN CASE WHEN theirs LIKE '% rows%' THEN split_part(theirs, E'\n', 1) ELSE theirs END;
END $$;

-- Who loads a table.
CREATE FUNCTION parted_by(tab text, lines text, tail text DEFAULT '', cols text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, convert_to(lines, 'UTF8'));
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/parted');
	PERFORM lo_unlink(object);
	PERFORM set_config('client_min_messages', 'debug1', true);
	EXECUTE format('COPY %s %s FROM %L %s', tab, cols, current_setting('data_directory') || '/parted', tail);
	PERFORM set_config('client_min_messages', 'warning', true);
END $$;

-- By list, range and hash; partitions whose columns lie otherwise; their own constraints.
CREATE TABLE parted (id int4 NOT NULL, t text, n numeric(8, 2), d date DEFAULT '2000-01-01') PARTITION BY LIST (t);
CREATE TABLE parted_a PARTITION OF parted FOR VALUES IN ('a', 'b');
CREATE TABLE parted_c (gone int4, d date DEFAULT '1900-01-01', n numeric(8, 2) CHECK (n <> 6), gone2 text, t text, id int4 NOT NULL);
ALTER TABLE parted_c DROP gone, DROP gone2;
ALTER TABLE parted ATTACH PARTITION parted_c FOR VALUES IN ('c', NULL);
CREATE TABLE parted_r PARTITION OF parted FOR VALUES IN ('r', 's', 't') PARTITION BY RANGE (id, (n * 2));
CREATE TABLE parted_r1 PARTITION OF parted_r FOR VALUES FROM (MINVALUE, MINVALUE) TO (100, 20);
CREATE TABLE parted_r2 (n numeric(8, 2), id int4 NOT NULL, d date, t text) WITH (fillfactor = 20);
ALTER TABLE parted_r ATTACH PARTITION parted_r2 FOR VALUES FROM (100, 20) TO (1000, MAXVALUE);
CREATE TABLE parted_h PARTITION OF parted DEFAULT PARTITION BY HASH (id, t);
CREATE TABLE parted_h0 PARTITION OF parted_h FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE parted_h1 (t text NOT NULL, id int4 NOT NULL, d date, n numeric(8, 2));
ALTER TABLE parted_h1 ALTER t SET STORAGE PLAIN;
ALTER TABLE parted_h ATTACH PARTITION parted_h1 FOR VALUES WITH (MODULUS 3, REMAINDER 1);

SELECT parted_by('parted', E'1\ta\t1\t2000-02-01\n2\tc\t2.5\t\\N\n3\t\\N\t\\N\t\\N\n4\tr\t10\t2000-02-02\n999\tr\t1\t2000-02-02\n');
SELECT parted_by('parted', E'1\ta\t1\t2000-02-01\n2\tc\t6\t\\N\n');
SELECT compare_parted('parted', string_agg(format(E'%s\t%s\t%s\t%s\n', CASE WHEN i % 8 IN (6, 7) THEN j ELSE i END, (ARRAY['a', 'b', 'c', '\N', 'r', 's', 'x', 'y'])[i % 8 + 1], i % 20 + 7, date '2000-01-01' + i), ''))
	FROM generate_series(1, 900) i, LATERAL (SELECT j FROM generate_series(1, 40) j WHERE satisfies_hash_partition('parted_h'::regclass, 3, 0, j, (ARRAY['x', 'y'])[i % 8 - 5]) OR i % 8 < 6 OFFSET i % 5 LIMIT 1) j;
-- in order, at random, by some columns, by WHERE
SELECT compare_parted('parted', string_agg(format(E'%s\t%s\t12\n', i, (ARRAY['a', 'c', 'r', 't'])[abs(hashint4(i)) % 4 + 1]), ''), '', '(id, t, n)'), compare_parted('parted', string_agg(format(E'%s\t%s\n', i, chr(97 + i % 3)), ''), 'WHERE t <> ''c'' AND id % 7 > 1', '(id, t)')
	FROM generate_series(1, 950) i;

-- Rows without a partition, refused by one, of an odd kind: whatever there is before and behind them.
SELECT line, compare_parted('parted', E'1\ta\t1\n2\tc\t2\n' || line || E'\n3\tr\t3\n', '', '(id, t, n)')
	FROM unnest(ARRAY[E'1000\tr\t1', E'1001\tr\t1', E'7\tc\t6', E'\\N\ta\t1', E'\\N\tc\t1', E'5\tr\t\\N', E'2\tx\t1', E'3\tx\t1', E'4\tx\t1', E'\\N\tx\t1', E'5\ta', E'5\ta\tx', E'5\tr\t999999.99', E'\\N\tr\t1']) line;

-- A key that fails.
CREATE TABLE parted_failing (id int4, t text) PARTITION BY RANGE ((100 / (id - 50)));
CREATE TABLE parted_failing_1 PARTITION OF parted_failing FOR VALUES FROM (-100) TO (2);
CREATE TABLE parted_failing_2 PARTITION OF parted_failing DEFAULT;
SELECT compare_parted('parted_failing', string_agg(format(E'%s\t%s\n', i, i), '')) FROM generate_series(1, 49) i;
SELECT compare_parted('parted_failing', string_agg(format(E'%s\t%s\n', i, i), '')) FROM generate_series(1, 100) i;
DROP TABLE parted_failing;

-- Partitions that are named.
SELECT tab, parted_by(tab, lines), compare_parted(tab, lines || line) FROM (VALUES
	('parted_a', E'1\ta\t1\t\\N\n2\tb\t1\t2000-01-01\n', ''), ('parted_a', E'1\ta\t1\t\\N\n', E'2\tc\t1\t\\N\n'), ('parted_a', E'1\ta\t1\t\\N\n', E'2\t\\N\t1\t\\N\n'),
	('parted_c', E'2000-01-01\t1\tc\t3\n\\N\t\\N\t\\N\t4\n', ''), ('parted_c', E'2000-01-01\t1\tc\t3\n', E'\\N\t\\N\ta\t4\n'),
	('parted_r', E'1\tr\t2\t\\N\n500\ts\t2\t\\N\n', ''), ('parted_r', E'1\tr\t2\t\\N\n500\ts\t2\t\\N\n', E'1\ta\t1\t\\N\n'), ('parted_r', E'1\tr\t2\t\\N\n', E'5000\tr\t1\t\\N\n'),
	('parted_r2', E'2\t500\t\\N\tr\n', E'2\t5\t\\N\tr\n'), ('parted_r2', E'2\t500\t\\N\tr\n', E'2\t500\t\\N\ta\n'), ('parted_h', E'', E'1\ta\t2\t\\N\n')) v (tab, lines, line);
SELECT j, compare_parted('parted_h0', E'' || j || E'\tx\t1\t\\N\n') LIKE '1 rows' = satisfies_hash_partition('parted_h'::regclass, 3, 0, j, 'x'::text) FROM generate_series(1, 5) j;
SELECT parted_by('parted_h0', j || E'\tx\t1\t\\N\n') FROM generate_series(1, 40) j WHERE satisfies_hash_partition('parted_h'::regclass, 3, 0, j, 'x'::text) LIMIT 1;

-- Generated columns of partitions, defaults of the parent, sequences, an identity.
CREATE SEQUENCE parted_numbers;
CREATE TABLE parted_computed (id int4, t text DEFAULT 'parent', twice int4 GENERATED ALWAYS AS (id * 2) STORED, k int8 DEFAULT nextval('parted_numbers'), CONSTRAINT few CHECK (twice < 1000)) PARTITION BY RANGE (id);
CREATE TABLE parted_computed_1 PARTITION OF parted_computed FOR VALUES FROM (0) TO (100);
CREATE TABLE parted_computed_2 (k int8 DEFAULT 77, t text DEFAULT 'child', twice int4 GENERATED ALWAYS AS (id * 2) STORED, id int4, CONSTRAINT few CHECK (twice < 1000));
ALTER TABLE parted_computed ATTACH PARTITION parted_computed_2 FOR VALUES FROM (100) TO (1000);
SELECT parted_by('parted_computed', E'5\n500\n', '', '(id)');
ALTER SEQUENCE parted_numbers RESTART;
CREATE FUNCTION compare_numbers(lines text, tail text, cols text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, convert_to(lines, 'UTF8'));
	theirs text;
	ours text;
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/parted');
	PERFORM lo_unlink(object);
	ALTER SEQUENCE parted_numbers RESTART;
	theirs := parted_rows('parted_computed', cols, tail, false) || currval('parted_numbers');
	ALTER SEQUENCE parted_numbers RESTART;
	ours := parted_rows('parted_computed', cols, tail, true) || currval('parted_numbers');
	RETURN CASE WHEN ours = theirs THEN split_part(theirs, E'\n', 1) ELSE format('DIFFERENT: %s is not %s', ours, theirs) END;
END $$;
SELECT compare_numbers(string_agg(format(E'%s\n', i), ''), '', '(id)') FROM generate_series(1, 400) i;
SELECT compare_numbers(string_agg(format(E'%s\n', i), ''), '', '(id)') FROM generate_series(400, 600) i;
SELECT compare_numbers(string_agg(format(E'%s\n', i), ''), '', '(id)') FROM generate_series(900, 1100, 20) i;
SELECT compare_numbers(string_agg(format(E'%s\n', i), ''), 'WHERE id % 2 = 0', '(id)') FROM generate_series(1, 10) i;
DROP TABLE parted_computed;
DROP FUNCTION compare_numbers;

-- Long values, by whoever may put them into a TOAST table, beside others.
CREATE TABLE parted_long (id int4, t text) PARTITION BY LIST ((id % 3));
CREATE TABLE parted_long_0 PARTITION OF parted_long FOR VALUES IN (0);
CREATE UNLOGGED TABLE parted_long_1 PARTITION OF parted_long FOR VALUES IN (1);
CREATE TABLE parted_long_2 PARTITION OF parted_long DEFAULT;
ALTER TABLE parted_long_2 ALTER t SET STORAGE EXTERNAL;
SELECT compare_parted('parted_long', string_agg(format(E'%s\t%s\n', i, repeat(md5(i::text), CASE WHEN i % 50 = 0 THEN 200 ELSE i % 30 END)), ''), places => false) FROM generate_series(1, 3000) i;

-- Rows are added to what is there, and the free space of the last page is used.
TRUNCATE parted_long;
SELECT parted_by('parted_long', E'1\ta\n2\tb\n3\tc\n') FROM generate_series(1, 3);
SELECT tableoid::regclass, array_agg(ctid::text || id ORDER BY ctid) FROM parted_long GROUP BY 1 ORDER BY 1;
-- No free space map was made, which takes longer than the rows.
SELECT sum(pg_relation_size(relid, 'fsm')) FROM pg_partition_tree('parted_long') WHERE isleaf;
DROP TABLE parted_long;

-- Many of them, of which each gets a few rows of a chunk.
CREATE TABLE parted_many (id int4, k int4, t text) PARTITION BY RANGE (k);
DO $$
BEGIN
	FOR i IN 1 .. 150 LOOP
		EXECUTE format('CREATE TABLE parted_many_%s PARTITION OF parted_many FOR VALUES FROM (%s) TO (%s)', i, i, i + 1);
	END LOOP;
END $$;
SELECT compare_parted('parted_many', string_agg(format(E'%s\t%s\t%s\n', i, abs(hashint4(i)) % 150 + 1, repeat('x', i % 100)), ''), places => false) FROM generate_series(1, 40000) i;
DROP TABLE parted_many;

-- In a transaction that made it, that has savepoints, that is undone.
BEGIN;
CREATE TABLE parted_new (id int4) PARTITION BY HASH (id);
CREATE TABLE parted_new_0 PARTITION OF parted_new FOR VALUES WITH (MODULUS 2, REMAINDER 0);
SAVEPOINT s;
CREATE TABLE parted_new_1 PARTITION OF parted_new FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT compare_parted('parted_new', string_agg(i || E'\n', '')) FROM generate_series(1, 5000) i;
SAVEPOINT t;
SELECT compare_parted('parted_new', string_agg(i || E'\n', '')) FROM generate_series(1, 5000) i;
ROLLBACK TO t;
SELECT count(*), count(DISTINCT id), count(DISTINCT tableoid) FROM parted_new;
COMMIT;
SELECT count(*) FROM parted_new;
CREATE TEMP TABLE parted_temp (id int4) PARTITION BY LIST ((id % 2));
CREATE TEMP TABLE parted_temp_0 PARTITION OF parted_temp DEFAULT;
SELECT compare_parted('parted_temp', string_agg(i || E'\n', '')) FROM generate_series(1, 100) i;

-- Nobody sees rows of others on a page that was visible to all.
BEGIN;
TRUNCATE parted_a;
SELECT parted_by('parted_a', E'1\ta\t1\t2000-02-01\n', '(FREEZE)');
COMMIT;
BEGIN;
SELECT parted_by('parted', E'2\ta\t1\t2000-02-01\n');
ROLLBACK;
SELECT id FROM parted_a;

-- What is left to PostgreSQL, and why.
CREATE FUNCTION parted_key(int4) RETURNS int4 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
CREATE FUNCTION parted_left(what text, made text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TABLE parted_left (id int4, t text) %s; CREATE TABLE parted_other PARTITION OF parted_left FOR VALUES FROM (-10) TO (-5); %s', what, made);
	PERFORM parted_by('parted_left', E'1\ta\n');
	DROP TABLE parted_left;
END $$;
CREATE FUNCTION parted_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FOREIGN DATA WRAPPER parted_wrapper;
CREATE SERVER parted_server FOREIGN DATA WRAPPER parted_wrapper;
SELECT what, made, parted_left(what, made) FROM (VALUES
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT; CREATE INDEX ON parted_left_1 (id)'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT; CREATE INDEX ON parted_left (id)'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT; CREATE TRIGGER x BEFORE INSERT ON parted_left_1 FOR EACH ROW EXECUTE FUNCTION parted_trigger()'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT; CREATE TRIGGER x AFTER INSERT ON parted_left FOR EACH ROW EXECUTE FUNCTION parted_trigger()'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT; CREATE TRIGGER x AFTER INSERT ON parted_left FOR EACH STATEMENT EXECUTE FUNCTION parted_trigger()'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT; CREATE FOREIGN TABLE parted_left_2 PARTITION OF parted_left FOR VALUES FROM (5) TO (6) SERVER parted_server'),
	('PARTITION BY RANGE (parted_key(id))', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT PARTITION BY LIST (parted_key(id)); CREATE TABLE parted_left_2 PARTITION OF parted_left_1 DEFAULT'),
	('PARTITION BY RANGE (id)', 'CREATE TABLE parted_left_1 PARTITION OF parted_left DEFAULT; ALTER TABLE parted_left_1 ADD CHECK (parted_key(id) > 0)')) v (what, made);

SET client_min_messages = warning;
DROP TABLE parted, parted_new, parted_temp;
DROP SERVER parted_server;
DROP FOREIGN DATA WRAPPER parted_wrapper;
DROP SEQUENCE parted_numbers;
DROP FUNCTION parted_rows, compare_parted, parted_by, parted_key, parted_left, parted_trigger;
