-- Index builds: every key type, direction and place of nulls, beside PostgreSQL's,
-- page by page.
LOAD 'gpusort';
SET client_min_messages = warning;
SET default_toast_compression = pglz;
CREATE SCHEMA gpusort_index_types;
SET search_path = gpusort_index_types, gpusort_test, public;
SET max_parallel_maintenance_workers = 0;
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN small AS int CHECK (VALUE < 1000000000);

-- one column per type, with nulls, duplicates and rows in no order
CREATE TABLE t AS
SELECT id, r, CASE WHEN r % 10 = 0 THEN NULL ELSE r END AS n, r % 50 AS few
FROM (SELECT id, gpusort_test.random('index', id, 5000) AS r FROM generate_series(1, 6000) id) s;
CREATE FUNCTION check_type(type text, expression text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	options text;
BEGIN
	EXECUTE format('CREATE TABLE typed AS SELECT id, few, (%s)::%s AS k FROM t', expression, type);
	FOREACH options IN ARRAY ARRAY['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'] LOOP
		RETURN NEXT type || ' ' || gpusort_test.check_index('CREATE INDEX %s ON typed (k' || options || ')');
	END LOOP;
	RETURN NEXT type || ' ' || gpusort_test.check_index('CREATE INDEX %s ON typed (few DESC, k, id)');
	RETURN NEXT type || ' ' || gpusort_test.check_index('CREATE UNIQUE INDEX %s ON typed (k, id) INCLUDE (few)');
	DROP TABLE typed;
END $$;
SELECT check_type('int2', 'n - 2500');
SELECT check_type('int4', 'n - 2500');
SELECT check_type('int8', '(n - 2500) * 1000000007');
SELECT check_type('oid', 'n * 858993');
SELECT check_type('small', 'n * 10');
SELECT check_type('bool', 'n % 2 = 1');
SELECT check_type('"char"', 'chr(32 + (n % 90)::int)');
SELECT check_type('float4', 'CASE n % 7 WHEN 1 THEN ''NaN'' WHEN 2 THEN ''-0'' WHEN 3 THEN 0 ELSE (n - 2500) / 7.0 END');
SELECT check_type('float8', 'CASE n % 7 WHEN 1 THEN ''Infinity'' WHEN 2 THEN ''-0'' WHEN 3 THEN 0 ELSE (n - 2500) / 7.0 END');
SELECT check_type('numeric', 'CASE n % 7 WHEN 1 THEN ''NaN'' WHEN 2 THEN 1.0 WHEN 3 THEN 1.00 ELSE (n - 2500) / 7.0 END');
SELECT check_type('money', '(n - 2500)::numeric');
SELECT check_type('date', '''2000-01-01''::date + n::int');
SELECT check_type('time', '''00:00''::time + n * interval ''17 s''');
SELECT check_type('timetz', '(''00:00''::time + n * interval ''17 s'')::text || ''+0'' || n % 9');
SELECT check_type('timestamp', '''2000-01-01''::timestamp + n * interval ''17 s''');
SELECT check_type('timestamptz', '''2000-01-01 UTC''::timestamptz + n * interval ''17 min''');
SELECT check_type('interval', 'CASE n % 2 WHEN 0 THEN n * interval ''1 day'' ELSE n * interval ''24 hours'' END');
SELECT check_type('uuid', 'md5(n::text)');
SELECT check_type('macaddr', 'left(md5(n::text), 12)');
SELECT check_type('macaddr8', 'left(md5(n::text), 16)');
SELECT check_type('inet', '(n % 200)::text || ''.'' || n % 7 || ''.0.1/'' || 8 + n % 24');
SELECT check_type('cidr', '(n % 200)::text || ''.'' || n % 7 || ''.0.0/16''');
SELECT check_type('pg_lsn', '''0/0''::pg_lsn + n * 100000');
SELECT check_type('bytea', 'decode(repeat(''00'', (n % 12)::int) || md5((n / 3)::text), ''hex'')');
SELECT check_type('bit(12)', 'n::bit(12)');
SELECT check_type('varbit', 'substr(n::bit(12)::text, 1, (n % 13)::int)::varbit');
SELECT check_type('mood', '(ARRAY[''sad'', ''ok'', ''happy''])[n % 3 + 1]');
SELECT check_type('name', '''a name '' || n / 2');
SELECT check_type('text COLLATE "C"', 'repeat(''x'', (n % 4)::int * 9) || n / 3');
SELECT check_type('varchar(40) COLLATE "C"', '''common to all '' || n / 3');
-- char(n) has posting lists in newer servers only, so the number of pages varies
SELECT regexp_replace(check_type('char(30) COLLATE "C"', 'n / 3'), ' \d+ pages$', '') AS check_type;
SELECT check_type('tid', 'format(''(%s,%s)'', n, n % 100 + 1)');
SELECT check_type('xid8', 'n::text');

-- strings under collations of ICU
CREATE TABLE strings AS
SELECT id, CASE r % 4 WHEN 0 THEN (ARRAY['resume', 'Resume', U&'r\00E9sum\00E9', 'co-op', 'coop', 'CO-OP', 'co op', U&'Stra\00DFe', ''])[n % 9 + 1]
	WHEN 1 THEN initcap(md5(few::text)) WHEN 2 THEN md5(few::text) ELSE left('Customer#000' || n, 3 + few::int) END AS k
FROM t;
SELECT check_index('CREATE INDEX %s ON strings (k COLLATE "en-x-icu")');
SELECT check_index('CREATE INDEX %s ON strings (k COLLATE "und-x-icu" DESC, id)');
SELECT check_index('CREATE INDEX %s ON strings (k COLLATE "C", k COLLATE "en-x-icu")');
-- ... and of libc: silent, for the locales are not the same everywhere.  Of digits, blanks and
-- letters of both cases come strings that strxfrm() and strcoll() disagree on.
CREATE TABLE ascii AS
SELECT id, (SELECT string_agg((ARRAY['c', 'h', 'C', 'H', '7', '1', '-', ' '])[1 + gpusort_test.random('ascii' || j, id, 8)], '')
			FROM generate_series(1, 2 + id % 6) j) AS k
FROM t;
DO $$
DECLARE
	result text;
BEGIN
	FOR result IN
		SELECT gpusort_test.check_index(format('CREATE INDEX %%s ON %s (k COLLATE %I)', source, collname))
		FROM pg_collation, (VALUES ('strings'), ('ascii')) AS sources (source)
		WHERE collprovider = 'c' AND collnamespace = 'pg_catalog'::regnamespace AND
			collname IN ('en_US.utf8', 'de_DE.utf8', 'cs_CZ.utf8', 'C.utf8') AND
			collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding()))
	LOOP
		IF result !~ ': ok \d+ pages$' THEN
			RAISE WARNING '%', result;
		END IF;
	END LOOP;
END $$;

-- other operator classes than the default
CREATE TABLE patterns AS
SELECT id, md5(few::text) COLLATE "C" AS t, rpad(md5(n::text), 8) COLLATE "C" AS v FROM t;
SELECT check_index('CREATE INDEX %s ON patterns (t text_pattern_ops, v varchar_pattern_ops DESC)');
SELECT regexp_replace(check_index('CREATE INDEX %s ON patterns ((v::char(8)) bpchar_pattern_ops, t)'), ' \d+ pages$', '') AS check_index;

-- NULLs of several columns; a column that comes twice
SELECT check_index('CREATE INDEX %s ON t (n, few NULLS FIRST, n DESC)');

-- values that are compressed or out of line in the table
CREATE TABLE wide (id int, k text COLLATE "C", b bytea);
ALTER TABLE wide ALTER b SET STORAGE EXTERNAL;
INSERT INTO wide SELECT i, repeat('key ', i % 7 * 400) || i % 100, decode(repeat(md5((i % 60)::text), i % 5 * 30), 'hex')
FROM generate_series(1, 1000) i;
SELECT check_index('CREATE INDEX %s ON wide (k)');
SELECT check_index('CREATE INDEX %s ON wide (b DESC, k)');
SELECT check_index('CREATE INDEX %s ON wide (id) INCLUDE (k, b)');
-- too long, whoever builds
SET gpusort.force = on;
\set VERBOSITY terse
BEGIN;
INSERT INTO wide VALUES (0, (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 500) i));
CREATE INDEX too_long ON wide (k);
ROLLBACK;
INSERT INTO wide VALUES (0, (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 120) i));
CREATE INDEX too_long ON wide (k);
DROP SCHEMA gpusort_index_types CASCADE;
