-- COPY FROM: the rows, their order and the errors are PostgreSQL's, for all types, formats and options.
SET client_min_messages = warning;
SET gpusort.force = on;
CREATE EXTENSION IF NOT EXISTS amcheck;

CREATE TYPE loaded_enum AS ENUM ('a', 'b,c', 'd"e');
CREATE TABLE loaded (
	i2 int2, i4 int4, i8 int8, o oid, b bool, f4 float4, f8 float8, n numeric, n2 numeric(8, 2), t text, v varchar(12), c char(5),
	nm name, ch "char", d date, ts timestamp, ts0 timestamp(0), tz timestamptz, tm time, iv interval, u uuid, by bytea,
	j json, jb jsonb, e loaded_enum, a int4[], at text[], rg int4range, p point, ip inet, bt varbit, m money);
CREATE TABLE loaded_few (id int4 NOT NULL, dropped int4, t text, f float8);
ALTER TABLE loaded_few DROP COLUMN dropped;

-- A file with these bytes, in the data directory.
CREATE FUNCTION loaded_file(bytes bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('data_directory') || '/loaded';
	object oid := lo_from_bytea(0, bytes);
BEGIN
	PERFORM lo_export(object, file);
	PERFORM lo_unlink(object);
	RETURN file;
END $$;

-- The rows that are in a table after a COPY, in their order, or its error.
CREATE FUNCTION loaded_rows(tab text, cols text, options text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
	copied int8;
	state text;
	message text;
	detail text;
	hint text;
	context text;
BEGIN
	EXECUTE format('TRUNCATE %s', tab);
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY %s %s FROM %L %s', tab, cols, current_setting('data_directory') || '/loaded', options);
	GET DIAGNOSTICS copied = ROW_COUNT;
	EXECUTE format('SELECT string_agg(l::text, E''\n'' ORDER BY ctid) FROM %s l', tab) INTO rows;
	RETURN format(E'%s rows\n', copied) || coalesce(rows, 'none');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL,
		hint = PG_EXCEPTION_HINT, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s: %s, %s, %s; %s', state, message, detail, hint, regexp_replace(context, '(^|\n)SQL statement.*', ''));
END $$;

-- Load bytes in both ways, and say whether what came of it is the same.
CREATE FUNCTION compare_loads(tab text, bytes bytea, options text DEFAULT '', cols text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	theirs text;
	ours text;
BEGIN
	PERFORM loaded_file(bytes);
	theirs := loaded_rows(tab, cols, options, false);
	ours := loaded_rows(tab, cols, options, true);
	IF ours IS DISTINCT FROM theirs THEN
		RETURN format(E'DIFFERENT: %s\nis not %s', ours, theirs);
	END IF;
	RETURN 'same';
END $$;

-- It is gpusort that loads these.
SELECT loaded_file(E'1\\011one\\0111.5\\0122\\011two\\011\\\\N\\012') IS NOT NULL AS written;
SELECT format('COPY loaded_few FROM %L', current_setting('data_directory') || '/loaded') AS command \gset
SET client_min_messages = debug1;
:command;
SET client_min_messages = warning;
SELECT ctid, * FROM loaded_few ORDER BY ctid;

-- Values of many types, as they are written, and NULLs.
INSERT INTO loaded SELECT (i % 65536 - 32768)::int2, hashint4(i), hashint8extended(i, 1), abs(hashint4(i))::oid, i % 3 = 0,
	(hashint4(i) / 7.0)::float4, hashint4(i) / 7.0::float8, (hashint8extended(i, 2) / 1000.0)::numeric, i / 100.0,
	repeat(chr(i % 127 + 1), i % 40) || E'\\' || chr(i % 31 + 1) || 'ü€' || i, 'v' || i, 'c' || i % 100, 'name ' || i, chr(i % 90 + 33)::"char",
	date '2000-01-01' + (i * 37 - 9000), timestamp '2000-01-01' + i * interval '12345.678 s', timestamp '2000-01-01' + i * interval '12345.678 s',
	timestamptz '1900-01-01' + i * interval '123456.7 s', time '00:00' + i * interval '1.5 s', i * interval '1 day 1.1 s', md5(i::text)::uuid,
	decode(md5(i::text), 'hex'), json_build_object('k', i, 't', E'\n"\\'), jsonb_build_object('k', i), (enum_range(NULL::loaded_enum))[i % 3 + 1],
	ARRAY[i, NULL, 3], ARRAY['a,b', 'c"d', NULL], int4range(i, i + 5), point(i, -i), ('10.0.0.' || i % 256)::inet,
	i::bit(10)::varbit, i::money
	FROM generate_series(1, 300) i;
INSERT INTO loaded (i4, t) VALUES (NULL, ''), (1, '\N'), (2, '\.'), (3, NULL), (4, 'NULL'), (5, E'\r'), (6, ','), (7, '"'), (8, E'\b\f\x0b\t'),
	(9, repeat('0123456789abcdef,', 3)), (10, repeat('x', 200000)), (11, repeat('"' || E'\\' || ',', 10000)), (12, ' '), (13, E'\x01\x1f\x7f');
INSERT INTO loaded (i2, i4, i8, o, f4, f8, n, d, ts, tz, iv, t) VALUES
	(-32768, -2147483648, -9223372036854775808, 4294967295, 'Infinity', '-Infinity', 'NaN', 'infinity', '-infinity', 'infinity', '178000000 years', 'least'),
	(32767, 2147483647, 9223372036854775807, 0, 'NaN', 'NaN', 'Infinity', '4713-01-01 BC', '4713-01-01 BC', '1900-01-01', '-178000000 years', 'greatest'),
	(0, 0, 0, 1, '-0', 1e308, 1e-100, '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-30 23:59:59.999999', '0', 'far'),
	(-1, -10, -100, 10, 1e-45, 5e-324, -0.0001, '0001-01-01', '0001-01-01 00:00:00.1', '9999-12-31 23:59:59.99', '1 us', 'near');
CREATE TABLE loaded_from AS TABLE loaded;
CREATE FUNCTION compare_types(options text, style text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	theirs text;
	ours text;
BEGIN
	PERFORM set_config('datestyle', style, true);
	EXECUTE format('COPY loaded_from TO %L %s', current_setting('data_directory') || '/loaded', options);
	theirs := loaded_rows('loaded', '', options, false);
	ours := loaded_rows('loaded', '', options, true);
	RETURN CASE WHEN ours = theirs AND ours LIKE '318 rows%' THEN 'same' ELSE 'DIFFERENT' END;
END $$;
SELECT compare_types(options, style), count(*) FROM unnest(ARRAY['', '(FORMAT csv)', '(FORMAT csv, HEADER)',
	'(FORMAT csv, DELIMITER ''|'', QUOTE '''''''', ESCAPE ''\'')', '(DELIMITER '';'', NULL ''~'')', '(FORMAT csv, NULL ''NULL'')']) options,
	unnest(ARRAY['ISO', 'German', 'SQL, DMY']) style GROUP BY 1;
-- The bits, too.
SELECT bool_and(l.f4::text = f.f4::text AND float8send(l.f8) = float8send(f.f8) AND float4send(l.f4) = float4send(f.f4)) FROM loaded l JOIN loaded_from f USING (i4, t);

-- Spellings that are not the usual ones.
SELECT compare_loads('loaded', convert_to(line, 'UTF8'), '', '(' || col || ')'), count(*) FROM (VALUES
	('i4', E' 7\n+8\n-0\n007\n2147483647\n-2147483648\n'), ('i4', E'7\n2147483648\n'), ('i4', E'7\n0x10\n'), ('i4', E'7\n1_000\n'), ('i4', E'7\n\n'),
	('i2', E'-32768\n32767\n 5 \n'), ('i2', E'32768\n'), ('i8', E'-9223372036854775808\n9223372036854775807\n0000000000000000001\n'),
	('i8', E'9223372036854775808\n'), ('i8', E'-9223372036854775809\n'), ('i8', E'1\n--1\n'),
	('f8', E'0.1\n-0\n1e5\n1.\n.5\n 2.5 \ninf\nNaN\n123456789012345678\n0.000000000000001\n'), ('f8', E'1..2\n'), ('f8', E'1e400\n'),
	('f4', E'0.1\n16777217\n-0.0\n3.4028235e38\n0.30000001\n1234.5678\n'), ('f4', E'1e40\n'),
	('b', E't\nTRUE\nfalse\n 1\nno\noff\n'), ('b', E'maybe\n'), ('d', E'2000-02-29\n1999-12-31\n20000101\nJan 5 2001\n0001-01-01\n'), ('d', E'2001-02-29\n'),
	('d', E'2001-13-01\n'), ('d', E'0000-01-01\n'), ('ts', E'2000-01-01 00:00:00\n2000-01-01 24:00:00\n2000-01-01T01:02:03.1234567\n2000-01-01 23:59:60\n2000-01-01\n'),
	('ts', E'2000-01-01 25:00:00\n'), ('ts0', E'2000-01-01 00:00:00.5\n2000-01-01 00:00:01.5\n'),
	('tz', E'2000-01-01 00:00:00+00\n2000-01-01 00:00:00.25-14\n2000-01-01 00:00:00+05:30\n2000-06-01 00:00:00\n2000-01-01 00:00:00 UTC\n'),
	('u', E'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11\n{a0eebc999c0b4ef8bb6d6bb9bd380a11}\n'), ('u', E'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g\n'),
	('v', E'123456789012\nüüüüüüüüüüüü\n'), ('v', E'1234567890123\n'), ('v', E'123456789012   \n'), ('c', E'a\n12345\nüüüüü\n\n'), ('c', E'123456\n'),
	('n', E'1\n-1.50\n1e10\n.5\n'), ('n', E'1.5.\n'), ('n2', E'123456.789\n'), ('n2', E'1234567\n'), ('e', E'a\nb,c\n'), ('e', E'x\n'),
	('a', E'{1,2}\n{}\n'), ('a', E'{1,x}\n'), ('by', E'\\\\x00ff\n'), ('by', E'\\\\x0\n'), ('j', E'{"a":1}\n'), ('j', E'{"a":\n'), ('ip', E'1.2.3.4/8\n'), ('ip', E'1.2.3.4.5\n')) v (col, line) GROUP BY 1;

-- Text: escapes, ends of lines and of the data, columns too few and too many.
SELECT compare_loads('loaded_few', bytes), count(*) FROM unnest(ARRAY[
	E'1\\011a\\0111\\012'::bytea, E'1\\011a\\0111', E'1\\011a\\0111\\015\\0122\\011b\\0112\\015\\012', E'1\\011a\\0111\\0152\\011b\\0112\\015', '',
	E'1\\011\\\\\\\\.\\0111\\0122\\011b\\\\011c\\\\x41\\\\101\\\\q\\\\b\\0112\\012', E'1\\011a\\\\\\012b\\0111\\012', E'1\\011\\\\N\\011\\\\N\\012\\\\N\\011a\\0111\\012',
	E'1\\011a\\0111\\012\\\\.\\0122\\011b\\0112\\012', E'1\\011a\\0111\\012\\\\.', E'1\\011a\\0111\\012\\\\.x\\012', E'1\\011a\\\\.\\0111\\012',
	E'1\\011a\\0111\\0122\\011b\\012', E'1\\011a\\0111\\0122\\011b\\0112\\0113\\012', E'1\\011a\\0111\\012\\0122\\011b\\0112\\012', E'1\\011a\\0111\\0122\\011b\\0112\\015\\012',
	E'1\\011a\\0111\\015\\0122\\011b\\0112\\012', E'1\\011a\\015b\\0111\\012', E'1\\011a\\0111\\0122\\011\\000\\0112\\012', E'1\\011a\\0111\\0122\\011\\377\\0112\\0123\\011c\\0113\\012',
	E'1\\011\\303\\274\\0111\\0122\\011\\303\\0112\\012', E'1\\011\\\\303\\\\274\\0111\\012', E'1\\011\\\\377\\0111\\012', E'1\\011a\\0111\\012x\\011b\\0112\\012', E'1\\011a\\0111\\0122\\011a\\011x\\012',
	E'1\\011a\\0111\\0122\\011b\\0112\\\\'::bytea]) bytes GROUP BY 1;

-- CSV: quotes, escapes, lines within quotes.
SELECT compare_loads('loaded_few', convert_to(line, 'UTF8'), options), count(*) FROM (VALUES
	(E'1,a,1\n2,"b",2\n3,"b""c",3\n4,"b,c",4\n5,"",5\n6,,6\n'), (E'1,"a\nb",1\n2,"c\n\nd",2\n3,x,y\n'), (E'1,"a\r\nb\rc",1\r\n2,"c\r\rd",2\r\n3,x,y\r\n'), (E'1,"a\rb",1\n2,x,y\n'),
	(E'1,a"b,c"d,1\n2,"b"c,2\n'), (E'1,a,1\n2,"b,2\n3,c,3\n'), (E'1,a,1\n"2",b,"2"\n'), (E'1,a,1\n\\.\n2,b,2\n'), (E'1,a,1\n\\.'), (E'1,\\.,1\n\\.x,b,2\n'), (E'"\\.",b,1\n'),
	(E'1,a\n'), (E'1,a,1,1\n'), (E'1,NULL,1\n2,"NULL",2\n'), (E'1,a,1\n,b,2\n'), (E'1,a\\"b,1\n2,"a\\"b",2\n'), (E'1,"a\\\\",1\n2,b,2\n'), (E'id,t,f\n1,a,1\n'), (E'"id\nx",t,f\n1,a,x\n'), (E'\n'), (E'1,a,1\n\n')) l (line),
	unnest(ARRAY['(FORMAT csv)', '(FORMAT csv, HEADER)', '(FORMAT csv, ESCAPE ''\'')', '(FORMAT csv, NULL ''NULL'', FORCE_NULL (t))', '(FORMAT csv, FORCE_NOT_NULL (t))']) options GROUP BY 1;

-- Columns in another order, some of them.
SELECT compare_loads('loaded_few', E'a\\0111\\012b\\0112\\012', '', '(t, id)');
SELECT compare_loads('loaded_few', E'a\\012b\\012', '', '(t)');
SELECT compare_loads('loaded_few', E'1\\012', '', '(id, id)');

-- Many records, which workers load, too; an odd record far behind; rows that need the toaster, and a record that is too long.
SELECT compare_loads('loaded_few', convert_to(string_agg(i || ',"' || repeat('x', i % 300) || E'\n' || repeat('""', i % 7) || 'ü",' || i * 0.5 || E'\n', '' ORDER BY i), 'UTF8'), '(FORMAT csv)')
	FROM generate_series(1, 30000) i;
SELECT compare_loads('loaded_few', convert_to(string_agg(i || ',"' || repeat('x', i % 300) || E'\n' || repeat('""', i % 7) || 'ü",' || i * 0.5 || CASE WHEN i = 28000 THEN 'x' ELSE '' END || E'\n', '' ORDER BY i), 'UTF8'), '(FORMAT csv)')
	FROM generate_series(1, 30000) i;
SELECT compare_loads('loaded_few', convert_to(string_agg(i || E'\t' || repeat('x', CASE WHEN i = 1700 THEN 1500000 ELSE 2000 + i END) || E'\t1\n', '' ORDER BY i), 'UTF8'))
	FROM generate_series(1, 2000) i;
SET max_parallel_maintenance_workers = 0;
SELECT compare_loads('loaded_few', convert_to(string_agg(i || ',"' || repeat('x', i % 300) || E'\n' || repeat('""', i % 7) || 'ü",' || i * 0.5 || E'\n', '' ORDER BY i), 'UTF8'), '(FORMAT csv)')
	FROM generate_series(1, 30000) i;
SELECT compare_loads('loaded_few', convert_to(string_agg(i || ',"' || repeat('x', i % 300) || E'\n' || repeat('""', i % 7) || 'ü",' || i * 0.5 || CASE WHEN i = 28000 THEN 'x' ELSE '' END || E'\n', '' ORDER BY i), 'UTF8'), '(FORMAT csv)')
	FROM generate_series(1, 30000) i;
SELECT compare_loads('loaded_few', convert_to(string_agg(i || E'\t' || repeat('x', CASE WHEN i = 1700 THEN 1500000 ELSE 2000 + i END) || E'\t1\n', '' ORDER BY i), 'UTF8'))
	FROM generate_series(1, 2000) i;
RESET max_parallel_maintenance_workers;

-- Indexes of an empty table are built when its rows are there; what is wrong with a row is COPY's error.
SET gpusort.copy_indexes = empty;
CREATE TABLE loaded_keys (id int4 PRIMARY KEY, u int4, t text);
CREATE UNIQUE INDEX ON loaded_keys (u) INCLUDE (id);
CREATE INDEX ON loaded_keys (t, id DESC);
SELECT loaded_file(convert_to(string_agg(format(E'%s\t%s\tx%s\n', i, -i, i % 10), ''), 'UTF8')) IS NOT NULL AS written FROM generate_series(1, 5000) i;
SELECT format('COPY loaded_keys FROM %L', current_setting('data_directory') || '/loaded') AS command \gset
:command;
SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'loaded_keys'::regclass;
SET enable_seqscan = off;
SELECT count(*) FROM loaded_keys WHERE id BETWEEN 1001 AND 2000;
RESET enable_seqscan;
-- not empty any more, and keys that are there already
:command;
SELECT compare_loads('loaded_keys', convert_to(string_agg(format(E'%s,%s,"%s"\n', id, u, CASE WHEN i % 7 = 0 THEN E'a\nb' ELSE 'c' END), '' ORDER BY i), 'UTF8'), options)
	FROM unnest(ARRAY['(FORMAT csv)', '(FORMAT csv, HEADER)']) options, (VALUES (0, 0), (700, 1), (800, 800), (4999, 5001)) v (first, second), LATERAL
	(SELECT i, CASE WHEN i = 5000 THEN first ELSE i END AS id, CASE WHEN i = 4500 THEN second ELSE i END AS u FROM generate_series(1, 5000) i) r GROUP BY first, options;
SELECT compare_loads('loaded_keys', E'1\\0111\\011a\\012\\\\N\\0112\\011b\\012'), compare_loads('loaded_keys', E'1\\0111\\011a\\0122\\011\\\\N\\011b\\0123\\011\\\\N\\011b\\012');
SELECT compare_loads('loaded_keys', convert_to(E'1\t1\ta\n2\t2\t' || (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 1000) i) || E'\n3\t3\tc\n', 'UTF8'));
SELECT compare_loads('loaded_keys', E'1\\0111\\011a\\0122\\0112\\011b\\0123\\0113\\011c\\012x\\0114\\011c\\012'), compare_loads('loaded_keys', E'1\\0111\\011a\\0122\\0112\\011b\\0123\\0113\\011c\\012 4\\0114\\011c\\012\\\\.\\012');
-- a line within quotes that the value does not keep
SELECT compare_loads('loaded_keys', convert_to(string_agg(format(E'"%s%s",%s,"a\nb"\n', CASE i WHEN 4000 THEN 7 ELSE i END, CASE WHEN i % 1000 = 500 THEN E'\n' END, i), '' ORDER BY i), 'UTF8'), '(FORMAT csv)') FROM generate_series(1, 5000) i;
-- left to PostgreSQL
CREATE TABLE loaded_others (LIKE loaded_keys);
CREATE INDEX ON loaded_others ((id + u)) WHERE id > 1;
ALTER TABLE loaded_others ADD UNIQUE (id) DEFERRABLE INITIALLY DEFERRED;
SELECT compare_loads('loaded_others', E'1\\0111\\011a\\0122\\0112\\011b\\012');
-- rows that were loaded are there for what follows in the transaction, and gone with it
TRUNCATE loaded_keys;
SELECT loaded_file(convert_to(string_agg(format(E'%s\t%s\tx%s\n', i, -i, i % 10), ''), 'UTF8')) IS NOT NULL AS written FROM generate_series(1, 5000) i;
BEGIN;
:command;
SAVEPOINT s;
INSERT INTO loaded_keys VALUES (1, 1, 'again');
ROLLBACK TO s;
DELETE FROM loaded_keys WHERE id > 10;
SELECT count(*) FROM loaded_keys;
ROLLBACK;
SELECT count(*) FROM loaded_keys;
SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'loaded_keys'::regclass;

-- Which tables: did a COPY give the index a new file?
RESET gpusort.copy_indexes;
CREATE FUNCTION copy_builds(tab text) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
	file oid := pg_relation_filenode((tab || '_pkey')::regclass);
BEGIN
	EXECUTE format('COPY %s FROM %L', tab, current_setting('data_directory') || '/loaded');
	RETURN pg_relation_filenode((tab || '_pkey')::regclass) <> file;
END $$;
SELECT copy_builds('loaded_keys') AS empty_before;
BEGIN;
TRUNCATE loaded_keys;
SELECT copy_builds('loaded_keys') AS truncated;
TRUNCATE loaded_keys;
SET LOCAL gpusort.copy_indexes = off;
SELECT copy_builds('loaded_keys') AS truncated_off;
ROLLBACK;
BEGIN;
CREATE TABLE loaded_new (LIKE loaded_keys, PRIMARY KEY (id));
SELECT copy_builds('loaded_new') AS created;
ROLLBACK;
BEGIN;
DELETE FROM loaded_keys;
SAVEPOINT s;
TRUNCATE loaded_keys;
ROLLBACK TO s;
SELECT copy_builds('loaded_keys') AS not_truncated;
ROLLBACK;
TRUNCATE loaded_keys;
BEGIN;
SAVEPOINT s;
TRUNCATE loaded_keys;
ROLLBACK TO s;
SELECT copy_builds('loaded_keys') AS not_truncated;
ROLLBACK;
BEGIN;
CREATE TEMPORARY TABLE loaded_temporary (LIKE loaded_keys, PRIMARY KEY (id)) ON COMMIT DELETE ROWS;
SELECT copy_builds('loaded_temporary') AS new_temporary;
COMMIT;
SELECT copy_builds('loaded_temporary') AS temporary, count(*) AS left_rows FROM loaded_temporary;
SET gpusort.copy_indexes = empty;
TRUNCATE loaded_keys;
SELECT copy_builds('loaded_keys') AS setting_empty, copy_builds('loaded_temporary') AS setting_empty_temporary;
RESET gpusort.copy_indexes;

-- A temporary table that is filled and emptied once a transaction: the catalog's rows about it stay as they are.
CREATE FUNCTION temporary_versions() RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(xmin || ' ' || ctid, ' ' ORDER BY relname) FROM pg_class WHERE relname LIKE 'loaded_temporary%'
$$;
SELECT temporary_versions() AS versions \gset
SELECT format('COPY loaded_temporary FROM %L', current_setting('data_directory') || '/loaded') AS command \gset
BEGIN;
SET LOCAL client_min_messages = debug1;
:command;
SET LOCAL client_min_messages = warning;
SET LOCAL enable_seqscan = off;
SELECT count(*) FROM loaded_temporary WHERE id BETWEEN 1001 AND 2000;
COMMIT;
:command;
SELECT temporary_versions() = :'versions' AS unchanged, count(*) FROM loaded_temporary;
DROP TABLE loaded_temporary;
DROP FUNCTION temporary_versions;
SET gpusort.copy_indexes = empty;

-- A build that fails, not because of a row, and is caught: nothing of the block is left.
CREATE FUNCTION refusing_cmp(a int4, b int4) RETURNS int4 LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('loaded.refuse', true) = 'on' THEN
		RAISE 'refused' USING ERRCODE = 'disk_full';
	END IF;
	RETURN btint4cmp(a, b);
END $$;
CREATE OPERATOR CLASS refusing_ops FOR TYPE int4 USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 refusing_cmp(int4, int4);
CREATE TABLE loaded_refused (id int4 PRIMARY KEY, u int4, t text);
CREATE INDEX loaded_refused_u ON loaded_refused (u refusing_ops);
CREATE TABLE loaded_beside (id int4);
SET loaded.refuse = on;
DO $$
BEGIN
	INSERT INTO loaded_beside VALUES (1);
	BEGIN
		INSERT INTO loaded_beside VALUES (2);
		EXECUTE format('COPY loaded_refused FROM %L', current_setting('data_directory') || '/loaded');
	EXCEPTION WHEN OTHERS THEN
		INSERT INTO loaded_beside VALUES (CASE SQLSTATE WHEN '53100' THEN 3 ELSE 4 END);
	END;
END $$;
SET loaded.refuse = off;
SELECT id FROM loaded_beside ORDER BY id;
SELECT count(*) FROM loaded_refused;
INSERT INTO loaded_refused VALUES (77, 77);
SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'loaded_refused'::regclass;
-- ... nor of the statement, outside a transaction
SET loaded.refuse = on;
TRUNCATE loaded_refused;
SELECT format('COPY loaded_refused FROM %L', current_setting('data_directory') || '/loaded') AS command \gset
\set VERBOSITY terse
:command;
\set VERBOSITY default
SET loaded.refuse = off;
SELECT count(*) FROM loaded_refused;
:command;
SELECT count(*), count(DISTINCT id) FROM loaded_refused;
SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'loaded_refused'::regclass;
DROP TABLE loaded_keys, loaded_others, loaded_refused, loaded_beside;
DROP OPERATOR FAMILY refusing_ops USING btree;
DROP FUNCTION refusing_cmp, copy_builds;
RESET gpusort.copy_indexes;

-- In subtransactions that end either way, and in a temporary table.
TRUNCATE loaded_few;
SELECT format('COPY loaded_few FROM %L', current_setting('data_directory') || '/loaded') AS command \gset
SELECT loaded_file(E'1\\011one\\0111.5\\0122\\011two\\011\\\\N\\012') IS NOT NULL AS written;
BEGIN;
:command;
SAVEPOINT s;
:command;
ROLLBACK TO s;
SAVEPOINT s;
:command;
RELEASE s;
COMMIT;
SELECT ctid, * FROM loaded_few ORDER BY ctid;
CREATE TEMPORARY TABLE loaded_few (id int4, t text, f float8);
:command;
SELECT ctid, * FROM loaded_few ORDER BY ctid;
DROP TABLE loaded_few;

DROP TABLE loaded, loaded_from, loaded_few;
DROP TYPE loaded_enum;
DROP FUNCTION loaded_file, loaded_rows, compare_loads, compare_types;
