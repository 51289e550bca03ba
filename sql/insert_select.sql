-- INSERT ... SELECT of sorted rows: the same rows, and the same errors, whatever the table is like.
SET client_min_messages = warning;
SET gpusort.force = on;
SET gpusort.late_rows = off;
SET gpusort.slice_pages = 4;
CREATE EXTENSION IF NOT EXISTS amcheck;

CREATE TABLE source (i int4, gone int4, h int8, t text, big text, n numeric, b bool);
ALTER TABLE source DROP COLUMN gone;
INSERT INTO source SELECT i, hashint8(i), CASE WHEN i % 5 > 0 THEN repeat('x', i % 120) || i END, CASE WHEN i % 300 = 0 THEN repeat(md5(i::text), i % 2000) END,
	i / 3.0, i % 2 = 0 FROM generate_series(1, 3000) i;
ALTER TABLE source ALTER big SET STORAGE EXTERNAL;
UPDATE source SET big = repeat(md5(i::text), 200) WHERE i % 1000 = 1;
ALTER TABLE source ADD COLUMN later int4 DEFAULT 7;
VACUUM ANALYZE source;

-- What a table has, and whether amcheck finds nothing.
CREATE FUNCTION contents() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	damaged int8;
BEGIN
	SELECT concat_ws(' ', count(*), md5(string_agg(x::text, chr(10) ORDER BY x::text COLLATE "C")), count(DISTINCT xmin::text), count(DISTINCT cmin::text)) INTO result FROM target x;
	SELECT count(*) INTO damaged FROM pg_class c, verify_heapam(c.oid, check_toast := true) WHERE c.oid = 'target'::regclass AND c.relpersistence <> 't' AND c.relkind = 'r';
	RETURN result || ' ' || damaged || ' damaged';
END $$;

-- Make a table, and insert; returns what is in it then, or the error.
CREATE FUNCTION fill(make text, command text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	n int8;
BEGIN
	PERFORM set_config('gpusort.enable_insert', ours::text, true);
	BEGIN
		EXECUTE make;
		EXECUTE command;
		GET DIAGNOSTICS n = ROW_COUNT;
		result := contents() || ', inserted ' || n || ' ' || pg_stat_get_xact_tuples_inserted('target'::regclass);
		RAISE 'undo' USING ERRCODE = 'UE001';
	EXCEPTION WHEN SQLSTATE 'UE001' THEN NULL;
		WHEN OTHERS THEN result := sqlstate || ' ' || sqlerrm;
	END;
	RETURN result;
END $$;

-- Functions that look at the table.
CREATE FUNCTION look(i int4) RETURNS int8 LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN CASE WHEN i % 20 = 0 THEN (SELECT count(*) FROM target) ELSE 0 END; END $$;
CREATE FUNCTION look_twice(i int4, other int8 DEFAULT look(20)) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN look(i) >= 0; END $$;

CREATE DOMAIN looking AS int4 CHECK (look(VALUE) >= 0);
CREATE TYPE pair AS (a looking, b int4);
-- One that writes to it.
CREATE FUNCTION put() RETURNS int8 LANGUAGE plpgsql AS $$ BEGIN INSERT INTO target SELECT -1, 'put' FROM generate_series(1, 500); RETURN 1; END $$;

-- Rows that go to another table, both ways, alone and with workers.
CREATE TABLE cases (nr int4 GENERATED ALWAYS AS IDENTITY, make text, command text);
INSERT INTO cases (make, command) VALUES
	('CREATE TABLE target (LIKE source)', 'INSERT INTO target SELECT * FROM source ORDER BY h, i'),
	('CREATE UNLOGGED TABLE target (LIKE source)', 'INSERT INTO target SELECT * FROM source ORDER BY h, i'),
	('CREATE TEMP TABLE target (LIKE source)', 'INSERT INTO target SELECT * FROM source ORDER BY h, i'),
	('CREATE TABLE target (LIKE source) WITH (fillfactor = 40, toast_tuple_target = 256)', 'INSERT INTO target SELECT * FROM source ORDER BY h, i'),
	('CREATE TABLE target (LIKE source); INSERT INTO target SELECT * FROM source WHERE i < 900', 'INSERT INTO target SELECT * FROM source ORDER BY h, i LIMIT 2000 OFFSET 100'),
	('CREATE TABLE target (LIKE source); INSERT INTO target SELECT * FROM source WHERE i < 900; TRUNCATE target', 'INSERT INTO target SELECT * FROM source ORDER BY h, i'),
	('CREATE TABLE target (a text, gone int4, c int8, d int4, e numeric DEFAULT 1.5, f text DEFAULT ''some'' || ''text''); ALTER TABLE target DROP COLUMN gone', 'INSERT INTO target (c, d, a) SELECT i, h, t FROM source ORDER BY h, i'),
	('CREATE TABLE target (a text, gone int4, c int8, d varchar(5)); ALTER TABLE target DROP COLUMN gone', 'INSERT INTO target (c, d, a) SELECT i, left(t, 5), t FROM source ORDER BY n'),
	('CREATE TABLE target (c int8, big text)', 'INSERT INTO target SELECT i, big FROM source ORDER BY n'),
	('CREATE TABLE target (a int4, b int4 NOT NULL, CHECK (a > 0), CHECK (b > 0))', 'INSERT INTO target SELECT i, i * 2 FROM source ORDER BY h, i'),
	('CREATE TABLE target (a int4, b text NOT NULL)', 'INSERT INTO target SELECT i, t FROM source ORDER BY i'),
	('CREATE TABLE target (a int4, b text, CHECK (a <> 2711), CHECK (b <> ''x21''))', 'INSERT INTO target SELECT i, t FROM source ORDER BY i'),
	('CREATE TABLE target (a int4, b int2)', 'INSERT INTO target SELECT i, i * 14 FROM source ORDER BY i'),
	('CREATE TABLE target (a int4, b varchar(5))', 'INSERT INTO target SELECT i, repeat(''y'', i / 500) FROM source ORDER BY i'),
	('CREATE TABLE target (a int4 CHECK (100000 / (2750 - a) > 0))', 'INSERT INTO target SELECT i FROM source ORDER BY i'),
	('CREATE TABLE target (id serial, a int4)', 'INSERT INTO target (a) SELECT i FROM source ORDER BY h, i'),
	('CREATE TABLE target (id int4 GENERATED ALWAYS AS IDENTITY, a int4)', 'INSERT INTO target (a) SELECT i FROM source ORDER BY h, i'),
	('CREATE TABLE target (a int4, twice int8 GENERATED ALWAYS AS (a * 2) STORED)', 'INSERT INTO target (a) SELECT i FROM source ORDER BY h, i'),
	('CREATE TABLE target (a int4 PRIMARY KEY, h int8)', 'INSERT INTO target SELECT i, h FROM source ORDER BY h, i'),
	('CREATE TABLE target (a int4, h int8, UNIQUE (a)); INSERT INTO target VALUES (17, 0)', 'INSERT INTO target SELECT i, h FROM source ORDER BY h, i ON CONFLICT DO NOTHING'),
	('CREATE TABLE target (a int4) PARTITION BY RANGE (a); CREATE TABLE low PARTITION OF target FOR VALUES FROM (0) TO (1500); CREATE TABLE high PARTITION OF target DEFAULT', 'INSERT INTO target SELECT i FROM source ORDER BY h, i'),
	('CREATE TABLE whole (a int4) PARTITION BY RANGE (a); CREATE TABLE target PARTITION OF whole FOR VALUES FROM (0) TO (1500)', 'INSERT INTO target SELECT i FROM source ORDER BY i'),
	('CREATE TABLE whole (a int4) PARTITION BY RANGE (a); CREATE TABLE target PARTITION OF whole FOR VALUES FROM (0) TO (30000)', 'INSERT INTO target SELECT i FROM source ORDER BY i'),
	('CREATE TABLE target (LIKE source)', 'INSERT INTO target SELECT * FROM source WHERE i < 20 ORDER BY h, i'),
	('CREATE TABLE target (LIKE source)', 'INSERT INTO target SELECT * FROM source WHERE false ORDER BY h, i'),
	('CREATE TABLE target (LIKE source)', 'WITH d AS (DELETE FROM source RETURNING i, h, t) INSERT INTO target (i, h, t) SELECT * FROM d ORDER BY h, i'),
	('CREATE TABLE target (LIKE source)', 'WITH d AS (INSERT INTO target SELECT * FROM source ORDER BY h, i RETURNING i, h) INSERT INTO target (i, h) SELECT * FROM d ORDER BY h, i'),
	('CREATE TABLE target (LIKE source)', 'INSERT INTO target SELECT * FROM source ORDER BY h, i; INSERT INTO target SELECT * FROM target ORDER BY h DESC, i'),
	('CREATE TABLE target (a int4)', 'INSERT INTO target SELECT i FROM source ORDER BY random()'),
	('CREATE DOMAIN small AS int4 CHECK (VALUE < 2500); CREATE TABLE target (a small)', 'INSERT INTO target SELECT i FROM source ORDER BY i'),
	('CREATE TABLE base (i int4); CREATE VIEW target AS SELECT * FROM base WHERE i < 1000 WITH CHECK OPTION', 'INSERT INTO target SELECT i FROM source ORDER BY i'),
	('CREATE TABLE target (a int4, c int8)', 'INSERT INTO target SELECT i, look(i) FROM (SELECT i, h, n FROM source ORDER BY h, i) s'),
	('CREATE TABLE target (a int4, t text, CHECK (look_twice(a)))', 'INSERT INTO target SELECT i, t FROM source ORDER BY h, i'),
	('CREATE TABLE target (a text, j json)', 'INSERT INTO target SELECT s::text, row_to_json(s) FROM (SELECT i, t FROM source ORDER BY h, i) s'),
	('CREATE TABLE target (a int4, CHECK (tableoid::regclass::text = ''target''))', 'INSERT INTO target SELECT i FROM source ORDER BY h, i'),
	('CREATE TABLE target (a int4, t text); ALTER TABLE target ADD CHECK (target::text LIKE ''(%)'')', 'INSERT INTO target SELECT i, t FROM source ORDER BY h, i'),
	('CREATE TABLE target (a int8, t text)', 'INSERT INTO target SELECT CASE WHEN i % 1500 = 0 THEN (SELECT put()) + i ELSE i END, t FROM (SELECT i, h, t FROM source ORDER BY i OFFSET 0) s'),
	('CREATE TABLE target (a pair, t text)', 'INSERT INTO target SELECT (''('' || i || '',7)'')::pair, t FROM (SELECT i, h, t FROM source ORDER BY i OFFSET 0) s'),
	('CREATE TABLE target (a looking[], t text)', 'INSERT INTO target SELECT (''{'' || i || '',7}'')::text::looking[], t FROM (SELECT i, h, t FROM source ORDER BY i OFFSET 0) s'),
	('CREATE TABLE target (a pair, t text)', 'INSERT INTO target SELECT jsonb_populate_record(NULL::pair, jsonb_build_object(''a'', i)), t FROM (SELECT i, h, t FROM source ORDER BY i OFFSET 0) s'),
	('CREATE TABLE target (a int4, j jsonb); ALTER TABLE target ADD CHECK ((jsonb_populate_record(NULL::pair, j)).b = 7)', 'INSERT INTO target SELECT i, jsonb_build_object(''a'', i, ''b'', 7) FROM (SELECT i, h, t FROM source ORDER BY i OFFSET 0) s'),
	('CREATE SEQUENCE s; SELECT nextval(''s''); CREATE TABLE target (a int4, b int4 DEFAULT currval(''s''))', 'INSERT INTO target (a) SELECT i FROM source ORDER BY h, i');
CREATE TABLE results (nr int4, workers int4, used bool, theirs text, ours text);
DO $$
DECLARE
	c record;
	got text[];
BEGIN
	FOR c IN SELECT * FROM cases, unnest(ARRAY[0, 2]) workers ORDER BY nr, workers LOOP
		PERFORM set_config('max_parallel_workers_per_gather', c.workers::text, false);
		FOR side IN 0 .. 1 LOOP
			PERFORM setseed(0.5);
			got[side] := fill(c.make, c.command, side = 1);
		END LOOP;
		INSERT INTO results VALUES (c.nr, c.workers, false, got[0], got[1]);
	END LOOP;
END $$;
SELECT DISTINCT ON (nr) nr, CASE WHEN theirs = ours THEN regexp_replace(ours, ' [0-9a-f]{32}', '') ELSE theirs || ' // ' || ours END FROM results ORDER BY nr, theirs = ours, workers;
SELECT count(*), count(*) FILTER (WHERE theirs IS DISTINCT FROM ours) AS differ FROM results;

-- Tables that are not new.
TRUNCATE results;
CREATE PROCEDURE compare_used() LANGUAGE plpgsql AS $$
DECLARE
	c record;
	got text[];
BEGIN
	FOR c IN SELECT * FROM cases, unnest(ARRAY[2]) workers WHERE make !~ 'TEMP|DOMAIN|currval|base|PARTITION' ORDER BY nr, workers LOOP
		PERFORM set_config('max_parallel_workers_per_gather', c.workers::text, false);
		FOR side IN 0 .. 1 LOOP
			EXECUTE c.make;
			COMMIT;
			got[side] := fill('', c.command, side = 1);
			DROP TABLE target;
		END LOOP;
		INSERT INTO results VALUES (c.nr, c.workers, true, got[0], got[1]);
	END LOOP;
END $$;
CALL compare_used();
SELECT nr, workers, theirs, ours FROM results WHERE theirs IS DISTINCT FROM ours;
SELECT count(*) FROM results;

-- That it is gpusort which inserts, in order; and which rows it leaves to PostgreSQL.
DROP TABLE IF EXISTS target;
CREATE TABLE target (i int4, h int8);
SET max_parallel_workers_per_gather = 0;
SET client_min_messages = debug1;
INSERT INTO target SELECT i, h FROM source ORDER BY h, i;
BEGIN;
TRUNCATE target;
INSERT INTO target (h, i) SELECT h, i FROM source ORDER BY h, i;
SAVEPOINT s;
DO $$ BEGIN EXECUTE 'EXPLAIN (ANALYZE) INSERT INTO target SELECT i, h FROM source ORDER BY h, i'; END $$;
SELECT count(*) FROM target;
ROLLBACK TO s;
COMMIT;
SET client_min_messages = warning;
SELECT count(*), count(*) FILTER (WHERE h < last) AS backwards FROM (SELECT h, lag(h) OVER (ORDER BY ctid) AS last FROM target) q;
-- Space that VACUUM has found is used first.
DELETE FROM target WHERE i % 2 = 0;
VACUUM target;
SET client_min_messages = debug1;
INSERT INTO target SELECT i, h FROM source ORDER BY h, i LIMIT 1000;
SET client_min_messages = warning;

-- Triggers.
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '% % %: % rows', tg_when, tg_op, tg_level, (SELECT count(*) FROM target); RETURN NULL; END $$;
CREATE TRIGGER b BEFORE INSERT ON target EXECUTE FUNCTION tell();
CREATE TRIGGER a AFTER INSERT ON target EXECUTE FUNCTION tell();
TRUNCATE target;
SET client_min_messages = debug1;
INSERT INTO target SELECT i, h FROM source ORDER BY h, i;
SET client_min_messages = warning;
CREATE TRIGGER r BEFORE INSERT ON target FOR EACH ROW WHEN (new.i = 1) EXECUTE FUNCTION tell();
INSERT INTO target SELECT i, h FROM source ORDER BY h, i;
CREATE FUNCTION count_new() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '% new rows', (SELECT count(*) FROM fresh); RETURN NULL; END $$;
DROP TRIGGER r ON target;
CREATE TRIGGER t AFTER INSERT ON target REFERENCING NEW TABLE AS fresh EXECUTE FUNCTION count_new();
INSERT INTO target SELECT i, h FROM source ORDER BY h, i;
DROP TABLE target;

-- Prepared statements whose table changes; subtransactions; what the transaction itself sees.
CREATE TABLE target (i int4, h int8);
PREPARE fill AS INSERT INTO target SELECT i, h FROM source WHERE i > $1 ORDER BY h, i;
SET plan_cache_mode = force_generic_plan;
EXECUTE fill(0);
ALTER TABLE target ADD COLUMN more text DEFAULT 'more';
EXECUTE fill(10);
ALTER TABLE target ADD CHECK (i > 0), ALTER h SET NOT NULL;
EXECUTE fill(20);
EXECUTE fill(-1000);
CREATE INDEX ON target (i);
EXECUTE fill(30);
SELECT count(*), count(more), count(*) FILTER (WHERE i = 77) FROM target;
DROP TABLE target;
CREATE TABLE target (i int4, h int8);
BEGIN;
SAVEPOINT a;
INSERT INTO target SELECT i, h FROM source ORDER BY h, i;
ROLLBACK TO a;
INSERT INTO target SELECT i, h FROM source ORDER BY h, i;
SAVEPOINT b;
UPDATE target SET h = 0 WHERE i % 1000 = 0;
INSERT INTO target SELECT i, h FROM target ORDER BY h, i;
DELETE FROM target WHERE i % 1000 = 1;
SELECT count(*), count(*) FILTER (WHERE h = 0), count(DISTINCT cmin::text) FROM target;
ROLLBACK TO b;
SELECT count(*), count(*) FILTER (WHERE h = 0) FROM target;
COMMIT;
SELECT count(*) FROM verify_heapam('target');
-- A view, and somebody who may insert but not read.
CREATE VIEW seen AS SELECT h AS a, i AS b FROM target;
CREATE ROLE gpusort_inserts;
GRANT INSERT (i) ON target TO gpusort_inserts;
GRANT SELECT ON source TO gpusort_inserts;
GRANT INSERT ON seen TO gpusort_inserts;
DELETE FROM target WHERE i = 2001;
ALTER TABLE target ADD CHECK (i <> 2001);
SET ROLE gpusort_inserts;
INSERT INTO target SELECT i, h FROM source ORDER BY h, i;
INSERT INTO target (i) SELECT i FROM source ORDER BY i;
INSERT INTO target (i) SELECT i FROM source WHERE i <> 2001 ORDER BY h, i;
INSERT INTO seen SELECT h, i FROM source WHERE i <> 2001 ORDER BY h, i;
RESET ROLE;
SELECT count(*), count(h) FROM target;
ALTER TABLE target ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON target FOR INSERT TO gpusort_inserts WITH CHECK (i < 2500);
SET ROLE gpusort_inserts;
INSERT INTO target (i) SELECT i FROM source WHERE i <> 2001 ORDER BY i;
RESET ROLE;

DROP OWNED BY gpusort_inserts;
DROP ROLE gpusort_inserts;
DROP VIEW seen;
DROP TABLE target, source, cases, results;
DROP PROCEDURE compare_used;
DROP TYPE pair;
DROP DOMAIN looking;
DROP FUNCTION contents, fill, look_twice, look, put, tell, count_new;
