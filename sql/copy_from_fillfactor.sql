-- Pages that COPY FROM fills are as full as PostgreSQL's, whatever the fillfactor: rows one at a time, few and many, behind one another.
SET client_min_messages = warning;
SET gpusort.force = on;
SET max_parallel_maintenance_workers = 0;

CREATE TABLE filled (id int4, t text) WITH (autovacuum_enabled = off, fillfactor = 35);
CREATE TABLE filled_parted (id int4, t text) PARTITION BY LIST ((id % 3));
CREATE TABLE filled_0 PARTITION OF filled_parted FOR VALUES IN (0) WITH (autovacuum_enabled = off, fillfactor = 20);
CREATE TABLE filled_1 PARTITION OF filled_parted FOR VALUES IN (1) WITH (autovacuum_enabled = off, fillfactor = 70);
CREATE TABLE filled_2 PARTITION OF filled_parted FOR VALUES IN (2) WITH (autovacuum_enabled = off);
\set ECHO none
SELECT format('COPY (SELECT CASE %1$s WHEN 1 THEN 3 ELSE i END, repeat(''x'', 96) FROM generate_series(1, %1$s) i) TO %2$L', count, current_setting('data_directory') || '/filled_' || count) FROM unnest('{1,31,24000}'::int4[]) count \gexec
\set ECHO all

-- Files of so many rows into a table, one after the other; how many rows are in each page that has any.
CREATE FUNCTION fill_pages(tab text, counts int4[], ours bool) RETURNS TABLE (part oid, page int8, rows int8) LANGUAGE plpgsql AS $$
DECLARE
	count int4;
BEGIN
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('TRUNCATE %s', tab);
	FOREACH count IN ARRAY counts LOOP
		EXECUTE format('COPY %s FROM %L', tab, current_setting('data_directory') || '/filled_' || count);
	END LOOP;
	RETURN QUERY EXECUTE format('SELECT tableoid, row_number() OVER (PARTITION BY tableoid ORDER BY (ctid::text::point)[0]), count(*) FROM %s GROUP BY tableoid, (ctid::text::point)[0]', tab);
END $$;

CREATE FUNCTION compare_filled(tab text, counts int4[]) RETURNS TABLE (rows numeric, pages int8, fullest int8, different int8) LANGUAGE sql AS $$
	SELECT sum(o.rows), count(*), max(t.rows), count(*) FILTER (WHERE o IS DISTINCT FROM t)
	FROM fill_pages(tab, counts, false) t FULL JOIN fill_pages(tab, counts, true) o USING (part, page);
$$;

SELECT tab, loads, f.* FROM (VALUES ('filled'), ('filled_parted')) v (tab), (VALUES
	('one row, 90 times', array_fill(1, '{90}')), ('31 rows, 20 times', array_fill(31, '{20}')), ('24000 rows, twice', '{24000,24000}'),
	('a mixture', '{31,1,1,1,31,24000,1,1,1,1,1,1,1,1,1,1,1,1,31,1,24000,31}')) w (loads, counts), compare_filled(tab, counts) f;

SET client_min_messages = debug1;
\set ECHO none
SELECT format('COPY %s FROM %L', tab, current_setting('data_directory') || '/filled_31') FROM unnest('{filled,filled_parted}'::text[]) tab \gexec
\set ECHO all
SET client_min_messages = warning;

-- By several participants: into partitions the same; of a table each chunk's last page may have less, but none has more.
SET max_parallel_maintenance_workers = 2;
SELECT * FROM compare_filled('filled_parted', '{24000,1,1,1,1,1,24000}');
SELECT max(t.rows) AS theirs, max(o.rows) AS ours, count(o) - count(t) BETWEEN 0 AND 8 AS pages
	FROM fill_pages('filled', '{24000,1,1,24000}', false) t FULL JOIN fill_pages('filled', '{24000,1,1,24000}', true) o USING (part, page);
DROP TABLE filled, filled_parted;
DROP FUNCTION fill_pages, compare_filled;
