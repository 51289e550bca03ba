-- COPY FROM in other encodings than the database's: the same rows and errors.
SET client_min_messages = warning;
SET gpusort.force = on;
CREATE TABLE encoded (id int4, t text, v varchar(8));
SELECT current_setting('data_directory') || '/encoded' AS file \gset

-- The rows that are in a table after a COPY, in their order, or its error.
CREATE FUNCTION encoded_rows(options text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
	message text;
	context text;
BEGIN
	TRUNCATE encoded;
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY encoded FROM %L (%s)', current_setting('data_directory') || '/encoded', options);
	SELECT count(*) || ' ' || md5(string_agg(e::text, E'\n' ORDER BY ctid)) INTO rows FROM encoded e;
	RETURN coalesce(rows, 'none');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s %s; %s', SQLSTATE, message, regexp_replace(context, '(^|\n)SQL statement.*', ''));
END $$;
-- Load bytes in both ways; says how many rows it were, or what error.
CREATE FUNCTION compare_encoded(bytes bytea, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, bytes);
	theirs text;
	ours text;
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/encoded');
	PERFORM lo_unlink(object);
	theirs := encoded_rows(options, false);
	ours := encoded_rows(options, true);
	RETURN CASE WHEN ours = theirs THEN split_part(ours, ' ', 1) ELSE format(E'DIFFERENT: %s\nis not %s', ours, theirs) END;
END $$;

-- What all encodings of a kind have; bytes of ASCII are the second ones of many characters in the last ones.
CREATE TABLE samples (encoding text, t text);
INSERT INTO samples VALUES ('UTF8', 'é€表𠀋'), ('LATIN1', 'éüß'), ('LATIN9', '€é'), ('WIN1252', '€„é'), ('WIN1251', 'Жы'), ('KOI8R', 'Жы'),
	('EUC_JP', '表ソ能'), ('EUC_KR', '가나'), ('EUC_CN', '中文'), ('EUC_TW', '中文'),
	('SJIS', '表ソ能十'), ('SHIFT_JIS_2004', '表ソ能十'), ('BIG5', '功許蓋'), ('GBK', '乗乣俓'), ('GB18030', '乗俓𠀋é'), ('UHC', '갂갃똠'), ('JOHAB', '가나');
SELECT encoding, string_agg(DISTINCT compare_encoded(convert_to(replace(text, '*', t), encoding), format('ENCODING %L%s', encoding, options)), ' | ')
FROM samples, (VALUES
	(E'1\t*a\t*\n2\t\\N\tx*\n3\t*\\\\*\\n\\t*\t\n', ''),
	(E'1|*a|*\r\n2|\\N|x*\r\n', ', DELIMITER ''|'''),
	(E'id,t,v\n1,"*""*\n*",*\n2,*,\n', ', FORMAT csv, HEADER'),
	(E'1^*^*\n2^''*\\''^''^\n', ', FORMAT csv, QUOTE '''''''', ESCAPE ''\'', DELIMITER ''^''')) AS inputs (text, options)
WHERE encoding <> 'UTF8' OR getdatabaseencoding() <> 'UTF8' GROUP BY encoding ORDER BY encoding COLLATE "C";

-- It is gpusort that loads them, and PostgreSQL that looks at what can't be converted.
SELECT compare_encoded('\x3109e909780a3209fc0978', 'ENCODING ''LATIN1''');
SET client_min_messages = debug1;
COPY encoded FROM :'file' (ENCODING 'LATIN1');
SET client_encoding = 'LATIN1';
COPY encoded FROM :'file';
SET client_encoding = 'UTF8';
SET client_min_messages = warning;
COPY encoded FROM :'file' (ENCODING 'WIN1253', HEADER match);
SELECT * FROM encoded;

-- What can't be: in the midst of it, in a header, cut at the end, before and behind an end marker, in a quoted field.
SELECT compare_encoded(convert_to(repeat(E'1\té\tx\n', 700), 'WIN1252') || '\x3209810978'::bytea || E'\n3\tx\ty\n', 'ENCODING ''WIN1252''');
SELECT compare_encoded('\x8109780978'::bytea || E'\n1\tx\ty\n', 'ENCODING ''WIN1252'', HEADER');
SELECT compare_encoded(convert_to(repeat(E'1\t表\tx\n', 600), 'SJIS') || '\x320941095c09'::bytea, 'ENCODING ''SJIS''');
SELECT compare_encoded(convert_to(repeat(E'1\t表\tx\n', 600), 'SJIS') || '\x3209410995'::bytea, 'ENCODING ''SJIS''');
SELECT compare_encoded(convert_to(E'1\t表\tx\n', 'SJIS') || '\x95'::bytea || E'\n2\t\tx\n', 'ENCODING ''SJIS''');
SELECT compare_encoded(convert_to(E'1\t表\tx\n\\.\n', 'SJIS') || '\x95'::bytea, 'ENCODING ''SJIS''');
SELECT compare_encoded(convert_to(E'1,"表\n表",x\n2,"\n', 'SJIS') || '\x95ff'::bytea || E'",\n', 'ENCODING ''SJIS'', FORMAT csv');
SELECT compare_encoded(convert_to(repeat(E'1,"表\n表",x\n', 300) || E'2,"\n表\n",\n', 'SJIS') || E'q,,\n', 'ENCODING ''SJIS'', FORMAT csv');
SELECT compare_encoded(convert_to(E'1\t表\t\\x95\n', 'SJIS'), 'ENCODING ''SJIS''');
SELECT compare_encoded(convert_to(E'1\té\t123456789\n', 'LATIN1'), 'ENCODING ''LATIN1''');
SELECT compare_encoded('\x31093009'::bytea || '\x00'::bytea || E'\n', 'ENCODING ''LATIN1''');
SELECT compare_encoded('\x3109e909780a'::bytea, 'ENCODING ''SQL_ASCII''') NOT LIKE 'DIFFERENT%' AS "as PostgreSQL";

-- Some MB, by workers: ends of chunks in all places.
SET max_parallel_maintenance_workers = 2;
COPY (SELECT i, repeat(CASE WHEN i % 7 < 3 THEN 'x' ELSE '表' END, i % 40) || chr(10) || i || '"' || 'ソ', '能\十' FROM generate_series(1, 40000) i) TO :'file' (ENCODING 'SJIS', FORMAT csv);
SELECT encoded_rows('ENCODING ''SJIS'', FORMAT csv', true) = encoded_rows('ENCODING ''SJIS'', FORMAT csv', false) AS same;
COPY (SELECT i, repeat(CASE WHEN i % 7 < 3 THEN 'x' ELSE '表' END, i % 40) || chr(10) || i || '"' || 'ソ', '能\十' FROM generate_series(1, 40000) i) TO :'file' (ENCODING 'SJIS');
SELECT encoded_rows('ENCODING ''SJIS''', true) = encoded_rows('ENCODING ''SJIS''', false) AS same;
COPY (SELECT CASE i WHEN 37000 THEN '-' END || i, repeat(CASE WHEN i % 7 < 3 THEN 'x' ELSE 'é' END, i % 40), 'ü' FROM generate_series(1, 80000) i) TO :'file' (ENCODING 'LATIN1', FORMAT csv, NULL '');
SELECT encoded_rows('ENCODING ''LATIN1'', FORMAT csv', true) = encoded_rows('ENCODING ''LATIN1'', FORMAT csv', false) AS same;
COPY (SELECT CASE WHEN i = 70000 THEN '-' ELSE '' END || i || CASE WHEN i = 75000 THEN 'x' ELSE '' END, repeat(CASE WHEN i % 7 < 3 THEN 'x' ELSE 'é' END, i % 40), 'ü' FROM generate_series(1, 80000) i) TO :'file' (ENCODING 'LATIN1', FORMAT csv);
SELECT encoded_rows('ENCODING ''LATIN1'', FORMAT csv', true);
SELECT encoded_rows('ENCODING ''LATIN1'', FORMAT csv', true) = encoded_rows('ENCODING ''LATIN1'', FORMAT csv', false) AS same;
RESET max_parallel_maintenance_workers;

-- Two characters that become one, wherever pieces end.
COPY (SELECT i, repeat(U&'\00E6\0300', i % 57) FROM generate_series(1, 300) i) TO :'file';
CREATE DATABASE encoded_jis ENCODING 'EUC_JIS_2004' TEMPLATE template0 LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C';
\set regression :DBNAME
\c encoded_jis
SET gpusort.force = on;
CREATE TABLE encoded (id int4, t text);
COPY encoded FROM :'file' (ENCODING 'UTF8');
SELECT count(*), count(*) FILTER (WHERE length(t) <> id % 57) AS mistaken FROM encoded;
\c :regression
SET client_min_messages = warning;
SET gpusort.force = on;
DROP DATABASE encoded_jis;

-- HEADER MATCH: the names, and what are none; it is gpusort that loads what is below.
SELECT options, header, compare_encoded(convert_to(header || E'\n' || CASE options WHEN '' THEN E'1\té\tx\n' ELSE E'1,é,x\n' END, 'LATIN1'),
	'ENCODING ''LATIN1'', HEADER match' || options)
FROM (VALUES ('', E'id\tt\tv'), ('', E'id\tt'), ('', E'id\tt\tv\tw'), ('', E'id\tv\tt'), ('', E'\\N\tt\tv'), ('', E'\\x69d\t\\t\tv'), ('', E'\\151\\x64\tt\tv'), ('', ''), ('', E'\\.'),
	(', FORMAT csv', 'id,t,v'), (', FORMAT csv', '"id",t,"v"'), (', FORMAT csv', '"i""d",t,v'), (', FORMAT csv', E'"id\n",t,v'), (', FORMAT csv', 'id,,v'), (', FORMAT csv, NULL ''v''', 'id,t,v'),
	(', FORMAT csv, NULL ''v''', 'id,t,"v"'), (', FORMAT csv', 'Id,t,v'), (', FORMAT csv', 'é,t,v'), (', FORMAT csv', E'id,t,v\r')) AS headers (options, header);
ALTER TABLE encoded RENAME id TO "ü";
SELECT compare_encoded(convert_to(E'ü,t,v\n1,é,x\n', 'LATIN1'), 'ENCODING ''LATIN1'', HEADER match, FORMAT csv');
SET client_min_messages = debug1;
COPY encoded FROM :'file' (ENCODING 'LATIN1', HEADER match, FORMAT csv);
SET client_min_messages = warning;

-- A user's own conversion may do anything.
CREATE FUNCTION encoded_conversion(int4, int4, cstring, internal, int4, bool) RETURNS int4 LANGUAGE c STRICT AS '$libdir/utf8_and_iso8859_1', 'iso8859_1_to_utf8';
CREATE DEFAULT CONVERSION encoded_conversion FOR 'LATIN1' TO 'UTF8' FROM encoded_conversion;
SET search_path = public, pg_catalog;
SET client_min_messages = debug1;
COPY encoded FROM :'file' (ENCODING 'LATIN1', HEADER match, FORMAT csv);
SET client_min_messages = warning;
RESET search_path;
DROP CONVERSION encoded_conversion;
DROP FUNCTION encoded_conversion, compare_encoded, encoded_rows;
DROP TABLE encoded, samples;
