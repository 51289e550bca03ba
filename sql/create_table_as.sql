-- CREATE TABLE AS and materialized views of sorted rows: the same rows in the same order, however they are stored.
SET client_min_messages = warning;
SET gpusort.force = on;
SET gpusort.late_rows = off;
CREATE EXTENSION IF NOT EXISTS amcheck;

CREATE TABLE source (i int4, gone int4, h int8, t text, big text, a int4[], n numeric, b bool);
ALTER TABLE source DROP COLUMN gone;
INSERT INTO source SELECT i, hashint8(i), CASE WHEN i % 5 > 0 THEN repeat('x', i % 120) || i END, CASE WHEN i % 300 = 0 THEN repeat(md5(i::text), i % 2000) END,
	ARRAY[i, NULL], i / 3.0, i % 2 = 0 FROM generate_series(1, 12000) i;
-- Out of line, compressed or not, and compressed in line.
ALTER TABLE source ALTER big SET STORAGE EXTERNAL;
UPDATE source SET big = repeat(md5(i::text), 200) WHERE i % 1000 = 1;
ALTER TABLE source ALTER big SET STORAGE EXTENDED;
UPDATE source SET big = repeat('compressed ', 300) WHERE i % 1000 = 2;
ALTER TABLE source ADD COLUMN later int4 DEFAULT 7;
VACUUM ANALYZE source;

-- What a table is: columns, number of rows and of pages' worth of them, what they are in the order in which they lie, and whether amcheck finds nothing.
CREATE FUNCTION contents(made text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
	damaged int8;
BEGIN
	EXECUTE format('SELECT concat_ws('' '', count(*), md5(string_agg(x::text, chr(10) ORDER BY ctid)), count(DISTINCT xmin::text)) FROM %I x', made) INTO result;
	SELECT count(*) INTO damaged FROM pg_class c, verify_heapam(c.oid, check_toast := true) WHERE c.oid = made::regclass AND c.relpersistence <> 't';
	RETURN result || ' ' || damaged || ' damaged, ' || (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = made::regclass AND attnum > 0);
END $$;

-- Make a table of a query in both ways; says whether it is the same, and counts the rows that were inserted.
CREATE FUNCTION compare_made(command text, workers int4) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	made text[];
	inserted int8;
	pages int8[];
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
	FOR side IN 0 .. 1 LOOP
		PERFORM set_config('gpusort.enable_create_table_as', (side = 1)::text, true);
		EXECUTE command;
		made[side] := contents('made');
		pages[side] := pg_relation_size('made') / current_setting('block_size')::int8;
		inserted := pg_stat_get_xact_tuples_inserted('made'::regclass);
		EXECUTE CASE (SELECT relkind FROM pg_class WHERE oid = 'made'::regclass) WHEN 'm' THEN 'DROP MATERIALIZED VIEW made' ELSE 'DROP TABLE made' END;
	END LOOP;
	RETURN CASE WHEN made[0] <> made[1] THEN format('theirs: %s; ours: %s', made[0], made[1])
		WHEN pages[1] > pages[0] + pages[0] / 2 + 1 THEN format('%s pages, not %s', pages[1], pages[0])
		ELSE 'same, inserted ' || inserted END;
END $$;

-- Alone, and with workers: many small slices.
SET gpusort.slice_pages = 4;
SELECT workers, command, compare_made(command, workers) FROM unnest(ARRAY[
	'CREATE TABLE made AS SELECT * FROM source ORDER BY h, i',
	'CREATE UNLOGGED TABLE made AS SELECT i, t, n FROM source ORDER BY h, i',
	'CREATE TEMP TABLE made AS SELECT * FROM source ORDER BY h, i',
	'CREATE TABLE made WITH (fillfactor = 30) AS SELECT i, t FROM source ORDER BY h, i',
	'CREATE TABLE made (x, y) AS SELECT i AS a, h AS b, t AS c FROM source ORDER BY h, i',
	'CREATE TABLE made AS SELECT t, big, b FROM source ORDER BY h + 1, i',
	'CREATE TABLE made AS SELECT * FROM source ORDER BY h, i LIMIT 7000 OFFSET 100',
	'CREATE TABLE made AS SELECT FROM source ORDER BY h',
	'CREATE TABLE made AS SELECT * FROM source WHERE i < 20 ORDER BY h',
	'CREATE TABLE made AS SELECT * FROM source WHERE false ORDER BY h',
	'CREATE TABLE made AS SELECT * FROM source ORDER BY h, i WITH NO DATA',
	'CREATE MATERIALIZED VIEW made AS SELECT * FROM source ORDER BY h, i',
	'CREATE MATERIALIZED VIEW made AS SELECT * FROM source ORDER BY h, i; REFRESH MATERIALIZED VIEW made',
	'CREATE MATERIALIZED VIEW made AS SELECT * FROM source ORDER BY h, i; CREATE UNIQUE INDEX ON made (i); REFRESH MATERIALIZED VIEW CONCURRENTLY made',
	'PREPARE rows AS SELECT i, t FROM source ORDER BY h, i; CREATE TABLE made AS EXECUTE rows; DEALLOCATE rows']) WITH ORDINALITY command (command, nr), unnest(ARRAY[0, 2]) workers
	ORDER BY workers, nr;

-- That it is gpusort which fills the table.
SET client_min_messages = debug1;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE made AS SELECT i, h FROM source ORDER BY h, i;
DROP TABLE made;
SELECT i, h INTO made FROM source ORDER BY h, i;
SET client_min_messages = warning;
DROP TABLE made;
SET max_parallel_workers_per_gather = 2;

-- What happens to it in its own transaction, and in subtransactions.
BEGIN;
SAVEPOINT a;
CREATE TABLE made AS SELECT i, h, t FROM source ORDER BY h, i;
ROLLBACK TO a;
CREATE TABLE made AS SELECT i, h, t FROM source ORDER BY h, i;
SAVEPOINT b;
UPDATE made SET t = 'updated' WHERE i % 1000 = 0;
DELETE FROM made WHERE i % 1000 = 1;
INSERT INTO made VALUES (-1, -1, 'new');
CREATE INDEX ON made (i);
SELECT count(*), count(*) FILTER (WHERE t = 'updated'), min(i) FROM made;
ROLLBACK TO b;
SELECT count(*), count(*) FILTER (WHERE t = 'updated'), min(i) FROM made;
DECLARE c CURSOR FOR SELECT i FROM made ORDER BY h, i;
MOVE 11998 FROM c;
FETCH ALL FROM c;
COMMIT;
VACUUM (FREEZE) made;
SELECT count(*), sum(i), count(*) FILTER (WHERE h = (SELECT max(h) FROM source)) FROM made;
DROP TABLE made;

-- A row that is too large for a page; more than one command in a function.
CREATE FUNCTION make_wide() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'CREATE TABLE made AS SELECT ' || (SELECT string_agg('n AS n' || k, ', ') FROM generate_series(1, 1200) k) || ' FROM source ORDER BY h';
	RETURN 'no error';
EXCEPTION WHEN program_limit_exceeded THEN
	RETURN sqlerrm;
END $$;
SET gpusort.enable_create_table_as = off;
SELECT make_wide();
SET gpusort.enable_create_table_as = on;
SELECT make_wide();
DO $$ BEGIN FOR k IN 1 .. 3 LOOP CREATE TABLE made AS SELECT i, t FROM source ORDER BY h; DROP TABLE made; END LOOP; END $$;
-- Existing tables are left alone.
CREATE TABLE made AS SELECT 1 AS one;
CREATE TABLE IF NOT EXISTS made AS SELECT i FROM source ORDER BY h;
CREATE TABLE made AS SELECT i FROM source ORDER BY h;
SELECT * FROM made;

DROP TABLE made, source;
DROP FUNCTION contents, compare_made, make_wide;
