-- COPY TO: the bytes are PostgreSQL's, for all types, formats and options.
SET client_min_messages = warning;
-- What gpusort writes itself.
SET DateStyle = ISO;

CREATE TYPE copied_enum AS ENUM ('a', 'b,c', 'd"e');
CREATE DOMAIN copied_domain AS int4;
CREATE TYPE copied_row AS (a int4, t text);

-- Text with everything that may need care, and the values of many types.
CREATE TABLE copied (
	i2 int2, i4 int4, i8 int8, o oid, b bool, f4 float4, f8 float8, n numeric, t text, v varchar(40), c char(5),
	nm name, ch "char", d date, ts timestamp, tz timestamptz, tm time, tt timetz, iv interval, u uuid, by bytea,
	j json, jb jsonb, e copied_enum, dm copied_domain, r copied_row, a int4[], at text[], rg int4range, p point,
	ip inet, bt varbit, m money);
INSERT INTO copied SELECT (i % 65536 - 32768)::int2, hashint4(i), hashint8extended(i, 1), abs(hashint4(i))::oid, i % 3 = 0,
	(hashint4(i) / 7.0)::float4, hashint4(i) / 7.0::float8, (hashint8extended(i, 2) / 1000.0)::numeric,
	repeat(chr(i % 127 + 1), i % 40) || E'\\' || chr(i % 31 + 1) || 'ü€' || i, 'v' || i, 'c' || i % 100, 'name ' || i, chr(i % 90 + 33)::"char",
	date '2000-01-01' + (i * 37 - 9000), timestamp '2000-01-01' + i * interval '12345.678 s', timestamptz '1900-01-01' + i * interval '123456.7 s',
	time '00:00' + i * interval '1.5 s', timetz '00:00+03' + i * interval '1.5 s', i * interval '1 day 1.1 s', md5(i::text)::uuid,
	decode(md5(i::text), 'hex'), json_build_object('k', i, 't', E'\n"\\'), jsonb_build_object('k', i), (enum_range(NULL::copied_enum))[i % 3 + 1],
	i, ROW(i, 'x,"y')::copied_row, ARRAY[i, NULL, 3], ARRAY['a,b', 'c"d', NULL], int4range(i, i + 5), point(i, -i), ('10.0.0.' || i % 256)::inet,
	i::bit(10)::varbit, i::money
	FROM generate_series(1, 300) i;
INSERT INTO copied (i4, t) VALUES (NULL, ''), (1, '\N'), (2, '\.'), (3, NULL), (4, 'NULL'), (5, E'\r'), (6, ','), (7, '"'), (8, E'\b\f\x0b\t'),
	(9, repeat('0123456789abcdef,', 3)), (10, repeat('x', 200000)), (11, repeat('"' || E'\\' || ',', 10000)), (12, ' '), (13, E'\x01\x1f\x7f');
INSERT INTO copied (i2, i4, i8, o, f4, f8, n, d, ts, tz, iv, t) VALUES
	(-32768, -2147483648, -9223372036854775808, 4294967295, 'Infinity', '-Infinity', 'NaN', 'infinity', '-infinity', 'infinity', '178000000 years', 'least'),
	(32767, 2147483647, 9223372036854775807, 0, 'NaN', 'NaN', 'Infinity', '4713-01-01 BC', '4713-01-01 BC', '4713-01-01 BC', '-178000000 years', 'greatest'),
	(0, 0, 0, 1, '-0', 1e308, 1e-100, '5874897-12-31', '294276-12-31 23:59:59.999999', '294276-12-30 23:59:59.999999', '0', 'far'),
	(-1, -10, -100, 10, 1e-45, 5e-324, -0.0001, '0001-01-01', '0001-01-01 00:00:00.1', '9999-12-31 23:59:59.99', '1 us', 'near'),
	(9, 99, 999, 9, 0.1, 0.1, 1e100, '9999-12-31', '1999-12-31 23:59:59.999999', '2000-02-29 00:00:00.000001', '-1 us', 'round'),
	(10, 100, 1000, 10, 16777216, 123456789012345, 100, '10000-01-01', '10000-01-01', '1969-12-31 23:59:59.5', '1 mon', 'years of five digits');
ALTER TABLE copied ADD COLUMN dropped int4, ADD COLUMN later int4 DEFAULT 7, ADD COLUMN generated int8 GENERATED ALWAYS AS (i4::int8 + 1) STORED;
ALTER TABLE copied DROP COLUMN dropped;
INSERT INTO copied (i4) VALUES (1);

-- The file that a COPY writes; its rows as the command tells them are compared by the caller.
CREATE FUNCTION copied_bytes(what text, options text, ours bool) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('data_directory') || '/copied';
BEGIN
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('COPY %s TO %L %s', what, file, options);
	RETURN pg_read_binary_file(file);
END $$;

-- Copy in both ways, and say whether the bytes are the same.
CREATE FUNCTION compare_copies(what text, options text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours bytea;
	theirs bytea;
BEGIN
	theirs := copied_bytes(what, options, false);
	ours := copied_bytes(what, options, true);
	RETURN CASE WHEN ours = theirs THEN 'same' ELSE format('differ: %s bytes, not %s', length(ours), length(theirs)) END;
END $$;

-- Of the combinations of these, how many were copied, and those that differ.
CREATE FUNCTION compare_all(whats text[], options text[], OUT copies int8, OUT differing text[]) LANGUAGE sql AS $$
	SELECT count(*), array_agg(concat_ws(' ', what, option, result)) FILTER (WHERE result <> 'same')
	FROM (SELECT what, option, compare_copies(what, option) AS result FROM unnest(whats) what, unnest(options) option) x $$;

-- Every format and option, of a table, of some columns and of queries.
SELECT * FROM compare_all(ARRAY['copied', 'copied (t)', 'copied (n, t, i4, d, u)', '(SELECT * FROM copied ORDER BY i4, t COLLATE "C")', '(SELECT t FROM copied)',
	'(SELECT FROM copied)', '(SELECT * FROM copied WHERE false)', '(VALUES (1, ''x''), (NULL, NULL))'],
	ARRAY['', '(FORMAT text, HEADER)', '(DELIMITER '','')', '(DELIMITER E''\001'')', '(DELIMITER ''-'', NULL ''nichts'')',
	'(DELIMITER ''|'', NULL '''')', '(FORMAT csv)', '(FORMAT csv, HEADER)', '(FORMAT csv, DELIMITER E''\t'', NULL ''NULL'')',
	'(FORMAT csv, QUOTE '''''''', ESCAPE E''\\'')', '(FORMAT csv, FORCE_QUOTE *)', '(FORMAT csv, DELIMITER ''1'')', '(FORMAT csv, NULL ''1'')',
	'(FORMAT csv, QUOTE ''0'')', '(FORMAT csv, ESCAPE ''2'')', '(FORMAT binary)']);
SELECT * FROM compare_all(ARRAY['copied'], ARRAY['(FORMAT csv, FORCE_QUOTE (i4, d, n))', '(FORMAT csv, FORCE_QUOTE (t, u, f8))']);

-- A format that some versions have, and gpusort has not.
SELECT differing FROM compare_all(ARRAY['copied (i4, t)'], CASE WHEN current_setting('server_version_num')::int >= 190000 THEN ARRAY['(FORMAT json)'] ELSE '{}' END);

-- Other encodings, of which some have ASCII in the middle of characters.
CREATE TABLE encodable AS SELECT i, 'ü' || chr(i % 90 + 32) || '~' AS t FROM generate_series(1, 500) i;
CREATE TABLE japanese AS SELECT i, U&'\8868\30BD\80FD|"' || chr(i % 90 + 32) AS t FROM generate_series(1, 500) i;
SELECT * FROM compare_all(ARRAY['encodable'],
	ARRAY(SELECT format('(ENCODING %L%s)', encoding, options) FROM unnest(ARRAY['UTF8', 'LATIN1', 'WIN1252', 'SQL_ASCII']) encoding,
		unnest(ARRAY['', ', FORMAT csv', ', DELIMITER ''|''', ', NULL ''ü''']) options));
SELECT * FROM compare_all(ARRAY['japanese'],
	ARRAY(SELECT format('(ENCODING %L%s)', encoding, options) FROM unnest(ARRAY['SJIS', 'SHIFT_JIS_2004', 'EUC_JP', 'GB18030']) encoding,
		unnest(ARRAY['', ', FORMAT csv', ', DELIMITER ''|''', ', FORMAT csv, QUOTE ''|''']) options));
SET client_encoding = LATIN1;
SELECT * FROM compare_all(ARRAY['encodable'], ARRAY['', '(FORMAT csv)', '(FORMAT binary)']);
RESET client_encoding;

-- What settings do to types.
CREATE FUNCTION compare_settings(settings text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	setting text;
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	RETURN compare_copies('copied', '') || ', ' || compare_copies('copied', '(FORMAT csv)');
END $$;
SELECT compare_settings(ARRAY['DateStyle=SQL, DMY', 'IntervalStyle=iso_8601', 'extra_float_digits=0', 'bytea_output=escape']);
SELECT compare_settings(ARRAY['DateStyle=German', 'TimeZone=America/New_York', 'extra_float_digits=-3']);
SELECT compare_settings(ARRAY['DateStyle=Postgres, MDY', 'TimeZone=Asia/Kolkata']);
SELECT compare_settings(ARRAY['TimeZone=Europe/Amsterdam']);

-- Values at the edges of what is written without the types' functions: digits, scales, changes of zones, and bytes
-- that need care at each place of strings of each length; rows without nulls, with all kinds of columns.
CREATE TABLE digits AS SELECT sign * (p - 1 + d) AS i8, (sign * (p - 1 + d) % 2147483648)::int4 AS i4, (sign * (p - 1 + d) % 32768)::int2 AS i2,
		((p - 1 + d) % 4294967296)::oid AS o
	FROM (SELECT 10::int8 ^ e AS p FROM generate_series(0, 18) e) x(f), LATERAL (SELECT f::int8) y(p), generate_series(0, 2) d, unnest(ARRAY[-1, 1]) sign;
INSERT INTO digits SELECT hashint8extended(i, i) >> (i % 64), hashint8extended(i, i) >> (32 + i % 32), hashint8extended(i, i) >> (48 + i % 16),
		hashint8extended(i, 0) & (4294967295 >> (i % 32)) FROM generate_series(1, 2000) i;
CREATE TABLE scales AS SELECT round(hashint8extended(i, 1)::numeric * hashint8extended(i, 2) / 10::numeric ^ (i % 45), i % 23) AS n FROM generate_series(1, 5000) i
	UNION ALL SELECT n::numeric FROM unnest(ARRAY['0', '0.0', '-0.000', '1', '-1', '9999', '10000', '-10001', '9999.9999', '10000.0001', '0.0001', '-0.00001', '0.00000001', '100000000',
		'1e20', '1e-20', '1e30', '-1e-30', '1e60', '1e-60', '1e1000', '1e-1000', '1.000000000000000000000000000000', '12345678901234567890.123456789', 'NaN', 'Infinity', '-Infinity']) n;
CREATE TABLE moments AS SELECT tz, hashint8(extract(epoch FROM tz)::int8) AS h, (tz AT TIME ZONE 'UTC')::time AS tm FROM (
	SELECT timestamptz '1840-01-01 UTC' + i * interval '13 days 07:11:12.345' AS tz FROM generate_series(1, 8000) i
	UNION ALL SELECT timestamptz '2005-01-01 UTC' + i * interval '61 minutes' FROM generate_series(1, 9000) i
	UNION ALL SELECT timestamptz '2037-09-01 UTC' + i * interval '59 minutes' FROM generate_series(1, 3000) i
	UNION ALL SELECT timestamptz '1970-01-01 UTC' + i * interval '1 us' FROM generate_series(-2, 2) i
	UNION ALL SELECT ('0001-01-01 00:00:00 UTC'::timestamptz + i * interval '1 hour') FROM generate_series(-15, 15) i
	UNION ALL SELECT ('9999-12-31 23:59:59.999999 UTC'::timestamptz + i * interval '1 hour') FROM generate_series(-15, 15) i) x;
-- The rules of New York go on behind the last change that the server has in its table, which is one of these; half a year of another one later.
INSERT INTO moments SELECT t + k * interval '536870912 s', k, '12:00' FROM (
	SELECT ((d + (7 - extract(dow FROM d)::int4) % 7) + time '06:00') AT TIME ZONE 'UTC' AS t FROM (SELECT make_date(y, 11, 1) AS d FROM generate_series(2030, 3000) y) x) y, unnest(ARRAY[0, 30, 40]) k ORDER BY t, k;
INSERT INTO moments VALUES ('-infinity', 0, '00:00'), ('infinity', 1, '24:00'), ('4713-01-01 BC', 2, '23:59:59.999999'), ('294276-12-31 23:59:59.999999 UTC', 3, '00:00:00.000001');
CREATE TABLE places AS SELECT overlay(repeat('x', length) PLACING c FROM place FOR 1) AS t, length, place
	FROM generate_series(0, 35) length, generate_series(1, greatest(length, 1)) place, unnest(ARRAY['x', E'\\', E'\n', E'\t', ',', '"', E'\x01', 'ü']) c;
-- Intervals of all signs, zones, bytes that are half of a word, and labels and names that need care; also null strings that look like one of them.
CREATE TABLE parts AS SELECT make_interval(years => y, months => m, days => d) + us * interval '1 us' AS iv
	FROM unnest(ARRAY[-1, 0, 1, 2, 1000]) y, unnest(ARRAY[-11, -1, 0, 1]) m, unnest(ARRAY[-1, 0, 1, 40]) d, unnest(ARRAY[-1, 0, 1, -3600000000, 100000, 359999999999, 360000000000, -90061000001]) us;
INSERT INTO parts VALUES ('178956970 years 7 mons'), ('-178956970 years -8 mons'), ('2147483647 days'), ('-2147483648 days'), ('2562047788:00:54.775807'), (interval '-2562047788:00:54.775807' - interval '1 us'),
	('-178956970 years -7 mons -2147483648 days -2562047788:00:54.775807'), ('178956970 years 7 mons -2147483648 days -2562047788:00:54.775807'), (NULL);
INSERT INTO parts SELECT make_interval(months => (hashint8extended(i, 1) >> (32 + i % 32))::int4, days => (hashint8extended(i, 2) >> (32 + i * 7 % 32))::int4) + (hashint8extended(i, 3) >> (i * 5 % 64)) / 2 * interval '1 us'
	FROM generate_series(1, 3000) i;
CREATE TABLE zoned AS SELECT (((i * 7919) % 86401 * interval '1 s' + i % 3 * interval '0.1 s')::time::text || z)::timetz AS tt FROM generate_series(1, 300) i,
	unnest(ARRAY['+00', '-00:00:01', '+15:59:59', '-15:59:59', '+05:30', '-03:30', '+01', '-10']) z;
INSERT INTO zoned VALUES ('24:00+00'), ('23:59:59.999999-07');
CREATE TABLE halves AS SELECT substr(sha512(i::text::bytea) || sha512(i::text::bytea), 1, i % 70) AS by FROM generate_series(1, 700) i
	UNION ALL SELECT string_agg(set_byte('x', 0, b), '') FROM generate_series(0, 255) b;
INSERT INTO halves SELECT string_agg(sha512(i::text::bytea), '') FROM generate_series(1, 20000) i;
CREATE TYPE copied_labels AS ENUM ('plain', 'with, comma', E'back\\slash', '"', '', 'ü', 'NULL', 'Eight___', 'Sixteen_________');
CREATE TABLE labels AS SELECT (enum_range(NULL::copied_labels))[1 + i % 9] AS e, chr(32 + i % 90)::name AS nm, repeat(chr(32 + i % 90), i % 63)::name AS long FROM generate_series(1, 300) i;
CREATE TABLE whole AS SELECT i2, b, t, i4, nm, ch, i8, c, u, d, r, iv, by, f4, ip, p, m, f8, a, j, ts, v, tm, tt, n, o, e, bt FROM copied WHERE m IS NOT NULL;
SELECT * FROM compare_all(ARRAY['digits', 'scales', 'moments', '(SELECT tz, tm FROM moments ORDER BY h)', 'places', 'places (t)', 'whole', 'whole (m, t)', '(SELECT * FROM whole ORDER BY i4)'],
	ARRAY['', '(FORMAT csv)', '(FORMAT csv, NULL ''1'')', '(FORMAT csv, NULL ''x'')', '(DELIMITER '','')', '(DELIMITER '':'')', '(DELIMITER ''-'')', '(FORMAT csv, QUOTE ''x'')', '(FORMAT binary)', '(ENCODING GB18030)', '(ENCODING SQL_ASCII)']);
CREATE FUNCTION compare_moments(settings text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	setting text;
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	RETURN compare_copies('moments', '') || ', ' || compare_copies('(SELECT tz, tm FROM moments ORDER BY h)', '');
END $$;
SELECT zone, compare_moments(ARRAY['TimeZone=' || zone]) FROM unnest(ARRAY['UTC', 'America/New_York', 'Europe/Amsterdam', 'Europe/Dublin', 'Africa/Monrovia', 'Asia/Kolkata',
	'Australia/Lord_Howe', 'Pacific/Apia', 'America/Sao_Paulo', 'Antarctica/Troll', 'Africa/Casablanca', '<+03:30>-03:30', '<-00:07>+00:07', 'EST5EDT']) zone;
SELECT style, compare_moments(ARRAY['TimeZone=America/New_York', 'DateStyle=' || style]) FROM unnest(ARRAY['ISO, DMY', 'SQL, DMY', 'SQL, MDY', 'German', 'Postgres, DMY', 'Postgres, MDY']) style;
SELECT style, digits, output, compare_settings(ARRAY['IntervalStyle=' || style, 'extra_float_digits=' || digits, 'bytea_output=' || output])
	FROM (VALUES ('postgres', 1, 'hex'), ('postgres_verbose', 3, 'escape'), ('sql_standard', 0, 'hex'), ('iso_8601', -15, 'escape')) x(style, digits, output);
SELECT * FROM compare_all(ARRAY['parts', 'zoned', 'halves', 'labels'], ARRAY['', '(FORMAT csv)', '(DELIMITER '':'')', '(FORMAT csv, QUOTE ''x'')', '(ENCODING GB18030)', '(FORMAT csv, NULL E''\\x'')', '(FORMAT csv, NULL E''\\x4d'')', '(FORMAT csv, NULL ''plain'')', '(FORMAT csv, ESCAPE E''\\'')', '(FORMAT csv, DELIMITER E''\\'')', '(FORMAT csv, FORCE_QUOTE *)', '(FORMAT csv, NULL ''1 day'')']);

-- A label that is renamed while rows are written, and settings that change then.
CREATE FUNCTION rename_at(i int8) RETURNS int8 LANGUAGE plpgsql AS $$
BEGIN
	IF i = 150 THEN
		ALTER TYPE copied_labels RENAME VALUE 'plain' TO 'renamed';
		SET LOCAL bytea_output = 'escape';
		SET LOCAL IntervalStyle = 'iso_8601';
	END IF;
	RETURN i;
END $$;
CREATE FUNCTION compare_renamed() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	theirs text;
BEGIN
	FOR turn IN 0 .. 1 LOOP
		theirs := ours;
		BEGIN
			ours := convert_from(copied_bytes('(SELECT rename_at(row_number() OVER ()), e, by, iv FROM (SELECT e, substr(by, 1, 9) AS by, iv FROM labels, LATERAL (SELECT by FROM halves LIMIT 1) h, LATERAL (SELECT iv FROM parts LIMIT 1) p) x)', '', turn = 1), 'UTF8');
			RAISE EXCEPTION 'undone';
		EXCEPTION WHEN raise_exception THEN
		END;
	END LOOP;
	RETURN CASE WHEN ours = theirs THEN format('same, renamed: %s', ours LIKE '%plain%renamed%') ELSE 'different' END;
END $$;
SELECT compare_renamed();
DROP TABLE digits, scales, parts, zoned, halves, labels, moments, places, whole;
DROP FUNCTION compare_moments, rename_at, compare_renamed;
DROP TYPE copied_labels;

-- The same by parallel workers, in slices of few rows: of the table, of sorted rows, of some of these,
-- and of rows without what they are sorted by.
SET max_parallel_workers_per_gather = 2;
SET gpusort.force = on;
SET gpusort.slice_pages = 1;
SELECT * FROM compare_all(ARRAY['copied', 'copied (t, ts)', '(SELECT * FROM copied ORDER BY i4, t COLLATE "C")', '(SELECT * FROM copied ORDER BY i4, t COLLATE "C" LIMIT 200 OFFSET 30)',
	'(SELECT tz, r, a, at, b, o FROM copied ORDER BY i4, t COLLATE "C")', '(SELECT FROM copied ORDER BY i4)'],
	ARRAY['', '(FORMAT text, HEADER)', '(FORMAT csv, HEADER, FORCE_QUOTE *)', '(FORMAT binary)', '(ENCODING GB18030)', '(ENCODING SQL_ASCII, FORMAT csv)']);
SELECT compare_settings(ARRAY['DateStyle=SQL, DMY', 'IntervalStyle=iso_8601', 'extra_float_digits=0', 'bytea_output=escape', 'TimeZone=Asia/Kolkata']);


-- Values that workers can't read, rows that are large for them, and rows that have just been made.
CREATE TEMP TABLE temporary (i int4, t text, big text);
ALTER TABLE temporary ALTER t SET STORAGE EXTERNAL;
INSERT INTO temporary SELECT i, CASE WHEN i % 100 = 0 THEN repeat(i::text, 2000) END, CASE WHEN i = 500 THEN repeat('x', 5000000) END FROM generate_series(1, 2000) i;
CREATE TABLE toasted AS SELECT * FROM temporary;
CREATE FUNCTION temporary_rows() RETURNS SETOF temporary LANGUAGE plpgsql AS $$ BEGIN RETURN QUERY SELECT * FROM temporary; END $$;
BEGIN;
UPDATE toasted SET t = t || t WHERE i % 200 = 0;
SELECT * FROM compare_all(ARRAY['temporary', 'toasted', '(SELECT * FROM temporary ORDER BY i DESC)', '(SELECT * FROM toasted ORDER BY i DESC)', '(SELECT * FROM temporary_rows() ORDER BY i)'],
	ARRAY['', '(FORMAT binary)']);
COMMIT;

-- Number of rows in the command's tag.
SET gpusort.enable_copy = on;
CREATE FUNCTION copied_rows(what text) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
	n int8;
BEGIN
	EXECUTE format('COPY %s TO %L', what, '/dev/null');
	GET DIAGNOSTICS n = ROW_COUNT;
	RETURN n;
END $$;
SELECT copied_rows('copied'), copied_rows('(SELECT FROM copied ORDER BY i4 LIMIT 7)'), copied_rows('(SELECT 1 WHERE false)');

-- That it is gpusort which copies.
SET client_min_messages = debug1;
COPY (SELECT 1) TO '/dev/null';
SET client_min_messages = warning;

-- To the client.
COPY (SELECT i4, t, d FROM copied WHERE i4 BETWEEN 1 AND 9 ORDER BY i4, t COLLATE "C") TO STDOUT;
COPY (SELECT i4, t, d FROM copied WHERE i4 BETWEEN 1 AND 9 ORDER BY i4, t COLLATE "C") TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE *);
COPY (SELECT FROM generate_series(1, 2)) TO STDOUT;
COPY (SELECT 1 WHERE false) TO STDOUT (HEADER);

-- To a program.
COPY (SELECT i4 FROM copied ORDER BY i4 LIMIT 3) TO PROGRAM 'cat >/dev/null';
COPY copied TO PROGRAM 'exit 3';
COPY (SELECT t, generate_series(1, 10000) FROM copied) TO PROGRAM 'exit 0';

-- Errors are PostgreSQL's, and so is what happens to the file.
CREATE VIEW copied_view AS SELECT 1;
CREATE FUNCTION fails(int4) RETURNS int4 LANGUAGE plpgsql AS $$ BEGIN RETURN 10 / ($1 - 200); END $$;
CREATE FUNCTION error_of(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	state text;
	message text;
	detail text;
	hint text;
BEGIN
	EXECUTE command;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' | ', state, message, detail, hint);
END $$;
CREATE FUNCTION compare_errors(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	theirs text;
BEGIN
	PERFORM set_config('gpusort.enable_copy', 'on', true);
	ours := error_of(command);
	PERFORM set_config('gpusort.enable_copy', 'off', true);
	theirs := error_of(command);
	RETURN CASE WHEN ours <> theirs THEN format('ours: %s; theirs: %s', ours, theirs)
		WHEN ours = 'no error' THEN ours ELSE 'same error' END;
END $$;
-- The first row that fails is PostgreSQL's, whoever writes it.
CREATE TABLE unencodable AS SELECT i, CASE WHEN i IN (3000, 3500, 9000, 9001) THEN chr(20000 + i) ELSE repeat('x', 50) END AS t FROM generate_series(1, 10000) i;
SELECT command, compare_errors(command) FROM unnest(ARRAY[
	'COPY nothing TO ''/dev/null''', 'COPY copied (nothing) TO ''/dev/null''', 'COPY copied (t, t) TO ''/dev/null''', 'COPY copied (generated) TO ''/dev/null''',
	'COPY copied_view TO ''/dev/null''', 'COPY copied TO ''relative''', 'COPY copied TO ''/nowhere/file''', 'COPY copied TO ''/''',
	'COPY copied TO ''/dev/full''', 'COPY (SELECT * FROM copied ORDER BY i4) TO ''/dev/full''',
	'COPY copied TO ''/dev/null'' (FORMAT nothing)', 'COPY copied TO ''/dev/null'' (DELIMITER ''ab'')', 'COPY copied TO ''/dev/null'' (QUOTE ''"'')',
	'COPY copied TO ''/dev/null'' (FORMAT csv, FORCE_QUOTE (nothing))', 'COPY copied (t) TO ''/dev/null'' (FORMAT csv, FORCE_QUOTE (i4))',
	'COPY (SELECT 1 AS a) TO ''/dev/null'' (FORMAT csv, FORCE_QUOTE (b))',
	'COPY copied TO ''/dev/null'' (ENCODING ''nothing'')', 'COPY copied TO ''/dev/null'' (ENCODING LATIN1)',
	'COPY (SELECT nothing) TO ''/dev/null''', 'COPY (SELECT 1 INTO x) TO ''/dev/null''', 'COPY (SELECT 1 INTO x UNION SELECT 2) TO ''/dev/null''',
	'COPY (INSERT INTO encodable VALUES (1)) TO ''/dev/null''', 'COPY (INSERT INTO encodable VALUES (1) RETURNING i) TO ''/dev/null''',
	'COPY (SELECT fails(i) FROM encodable ORDER BY i) TO ''/dev/null''', 'COPY (SELECT ''[1,2)''::anyarray) TO ''/dev/null''',
	'COPY unencodable TO ''/dev/null'' (ENCODING LATIN1)', 'COPY (SELECT * FROM unencodable ORDER BY -i) TO ''/dev/null'' (ENCODING LATIN1)',
	'COPY pg_statistic TO ''/dev/null'' (FORMAT binary)', 'COPY copied TO PROGRAM ''exit 7''', 'COPY copied TO PROGRAM ''cat >/dev/null''']) command;

-- Rights: to files, to programs, to columns, and row security.
CREATE ROLE gpusort_copier;
GRANT SELECT (i) ON encodable TO gpusort_copier;
CREATE TABLE secured AS SELECT i FROM generate_series(1, 10) i;
ALTER TABLE secured ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON secured USING (i < 4);
GRANT SELECT ON secured TO gpusort_copier;
SET ROLE gpusort_copier;
SELECT command, compare_errors(command) FROM unnest(ARRAY['COPY encodable (i) TO ''/dev/null''', 'COPY encodable (i) TO PROGRAM ''cat''']) command;
COPY encodable (t) TO STDOUT;
COPY (SELECT t FROM encodable) TO STDOUT;
COPY secured TO STDOUT;
COPY (SELECT * FROM secured) TO STDOUT;
SET row_security = off;
COPY secured TO STDOUT;
RESET row_security;
RESET ROLE;
SELECT compare_copies('secured', '');

-- Rows that the statement's own transaction has made or deleted; a cached statement more than once.
BEGIN;
DELETE FROM secured WHERE i = 1;
INSERT INTO secured VALUES (11);
SELECT copied_rows('secured'), copied_rows('(SELECT * FROM secured ORDER BY i)');
ROLLBACK;
DO $$ BEGIN FOR i IN 1 .. 3 LOOP COPY (SELECT * FROM secured ORDER BY i) TO '/dev/null'; END LOOP; END $$;

-- In a read-only transaction.
BEGIN READ ONLY;
COPY (SELECT 1) TO STDOUT;
COMMIT;

DROP OWNED BY gpusort_copier;
DROP ROLE gpusort_copier;
DROP TABLE unencodable, toasted, secured, encodable, japanese, copied CASCADE;
DROP VIEW copied_view;
DROP FUNCTION temporary_rows, copied_bytes, compare_copies, compare_all, compare_settings, copied_rows, fails, error_of, compare_errors;
DROP TYPE copied_enum, copied_row;
DROP DOMAIN copied_domain;
