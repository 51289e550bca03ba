-- COPY FROM of rows of which something is computed: defaults, WHERE, generated columns, constraints, domains.
SET client_min_messages = warning;
SET gpusort.force = on;
SET statement_timeout = '60s';
\set VERBOSITY terse

-- The rows that are in a table after a COPY of these lines, in their order, or its error.
CREATE FUNCTION computed_rows(tab text, cols text, tail text, ours bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text;
	copied int8;
	message text;
	detail text;
	context text;
BEGIN
	PERFORM set_config('gpusort.enable_copy', ours::text, true);
	EXECUTE format('TRUNCATE %s RESTART IDENTITY', tab);
	EXECUTE format('COPY %s %s FROM %L %s', tab, cols, current_setting('data_directory') || '/computed', tail);
	GET DIAGNOSTICS copied = ROW_COUNT;
	EXECUTE format('SELECT count(*) || '' '' || string_agg(l::text, E''\n'' ORDER BY ctid) FROM %s l', tab) INTO rows;
	RETURN format(E'%s rows\n', copied) || coalesce(rows, 'none');
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
	RETURN format('%s: %s, %s; %s', SQLSTATE, message, detail, regexp_replace(context, '(^|\n)(SQL statement|PL/pgSQL function computed).*', ''));
END $$;

-- Load lines in both ways, by up to two workers, and say whether what came of it is the same, and what.
CREATE FUNCTION compare_computed(tab text, lines text, tail text DEFAULT '', cols text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, convert_to(lines, 'UTF8'));
	theirs text;
	ours text;
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/computed');
	PERFORM lo_unlink(object);
	theirs := computed_rows(tab, cols, tail, false);
	FOR workers IN 0 .. 2 LOOP
		PERFORM set_config('max_parallel_maintenance_workers', workers::text, true);
		ours := computed_rows(tab, cols, tail, true);
		IF ours IS DISTINCT FROM theirs THEN
			RETURN format(E'DIFFERENT, %s workers: %s\nis not %s', workers, left(ours, 2000), left(theirs, 2000));
		END IF;
	END LOOP;
	RETURN CASE WHEN theirs LIKE '% rows%' THEN split_part(theirs, E'\n', 1) ELSE left(theirs, 5) END;
END $$;

-- Who loads a table.
CREATE FUNCTION computed_by(tab text, lines text, tail text DEFAULT '', cols text DEFAULT '') RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	object oid := lo_from_bytea(0, convert_to(lines, 'UTF8'));
BEGIN
	PERFORM lo_export(object, current_setting('data_directory') || '/computed');
	PERFORM lo_unlink(object);
	PERFORM set_config('client_min_messages', 'debug1', true);
	EXECUTE format('COPY %s %s FROM %L %s', tab, cols, current_setting('data_directory') || '/computed', tail);
	PERFORM set_config('client_min_messages', 'warning', true);
END $$;

-- Constraints of a table.
CREATE TYPE computed_enum AS ENUM ('low', 'mid', 'high');
CREATE TABLE computed_checks (id int4 NOT NULL CHECK (id <> 13), t text CHECK (length(t) < 8), e computed_enum CHECK (e < 'high'),
	d date, pad text, CHECK (d > '1990-01-01' OR t = 'old'), CHECK (10 / (id - 77) < 100), CHECK (t ~ '^[a-z0-9]*$' AND t IN ('a', 'b', 'c', 'old', 'longer') OR id > 1000));
SELECT computed_by('computed_checks', E'1\ta\tlow\t2000-01-01\n', '', '(id, t, e, d)');
SELECT compare_computed('computed_checks', E'1\ta\tlow\t2000-01-01\n2\told\tmid\t1980-01-01\n3\t\\N\t\\N\t\\N\n' || line || E'\n5\tb\tlow\t2000-01-01\n', '', '(id, t, e, d)')
	FROM unnest(ARRAY[E'4\tb\tmid\t2000-01-01', E'13\tb\tmid\t2000-01-01', E'4\tlongest1\tlow\t2000-01-01', E'4\tb\thigh\t2000-01-01', E'4\tb\tlow\t1985-01-01',
		E'77\tb\tlow\t2000-01-01', E'\\N\tb\tlow\t2000-01-01', E'4\tZ\tlow\t2000-01-01', E'4\tb\tnone\t2000-01-01', E'\\N']) line;
SELECT compare_computed('computed_checks', string_agg(format(E'%s,"%s",low,2010-05-%s,%s\n', i, i % 1000, i % 28 + 1, repeat('x', 900)), '' ORDER BY i) || tail, '(FORMAT csv)')
	FROM generate_series(1001, 3600) i, (VALUES (''), (E'13,c,low,2000-01-01,\n'), (E'77,c,low,2000-01-01,\n')) v (tail) GROUP BY tail ORDER BY tail;

-- Generated columns, and constraints on them.
CREATE TABLE computed_generated (a int4, half numeric GENERATED ALWAYS AS (a / 2.0) STORED CHECK (half < 40000), t text,
	low text GENERATED ALWAYS AS (lower(t) || a) STORED NOT NULL, arr int4[] GENERATED ALWAYS AS (array_append(ARRAY[a, 7], a)) STORED,
	f float8 GENERATED ALWAYS AS (100 / nullif(a, 50)::float8) STORED, v varchar(5) GENERATED ALWAYS AS (left(t, 5)) STORED,
	name name GENERATED ALWAYS AS (t::name) STORED, long text GENERATED ALWAYS AS (CASE WHEN a % 100 = 3 THEN repeat(t, 30) END) STORED);
SELECT computed_by('computed_generated', E'1\tA\n');
SELECT * FROM computed_generated;
SELECT compare_computed('computed_generated', E'1\tA\n50\tBCDEFGH\n2\tc\n' || line || E'\n7\tx\n')
	FROM unnest(ARRAY[E'4\tb', E'\\N\t\\N', E'90000\tb', E'0\tb', E'4\t', E'4\tb\tc']) line;
SELECT compare_computed('computed_generated', string_agg(format(E'%s,"X%s\n%s"\n', i, i % 1000, repeat(md5(i::text), 30)), '' ORDER BY i) || tail, '(FORMAT csv)')
	FROM generate_series(1, 2400) i, (VALUES (''), (E'0,z\n'), (E'90000,z\n')) v (tail) GROUP BY tail ORDER BY tail;

-- Defaults.
CREATE TABLE computed_defaults (id serial, a text, c int4 DEFAULT 7 CHECK (c < 100), t text DEFAULT 'none' || repeat('e', 5), n int4 DEFAULT NULL, d date DEFAULT current_date,
	ts timestamptz DEFAULT now(), u text DEFAULT current_user, arr text[] DEFAULT '{x,y}', own int8 GENERATED BY DEFAULT AS IDENTITY, twice int4 GENERATED ALWAYS AS (c * 2) STORED);
SELECT computed_by('computed_defaults', E'1\n2\n', '', '(a)');
SELECT id, a, c, t, n, d = current_date, ts = now(), u = current_user, arr, own, twice FROM computed_defaults;
SELECT compare_computed('computed_defaults', E'1\t2\n3\t4\n', '', cols) FROM unnest(ARRAY['(a, c)', '(c, a)', '(id, own)', '(id, a)', '(own, t)', '(t, n)', '(d, a)', '(a, twice)']) cols;
SELECT compare_computed('computed_defaults', string_agg(format(E'%s\t%s\n', repeat('x', 800 + i % 500), i % 50), '' ORDER BY i) || tail, '', '(a, c)')
	FROM generate_series(1, 2400) i, (VALUES (''), (E'1\t1000\n'), (E'1\tx\n')) v (tail) GROUP BY tail ORDER BY tail;
ALTER TABLE computed_defaults DROP COLUMN id, DROP COLUMN own;
SELECT compare_computed('computed_defaults', string_agg(format(E'%s\t%s\n', repeat('x', 800 + i % 500), i % 50), '' ORDER BY i) || tail, '', '(a, c)')
	FROM generate_series(1, 2400) i, (VALUES (''), (E'1\t1000\n'), (E'1\tx\n')) v (tail) GROUP BY tail ORDER BY tail;
-- fields that ask for them (from 16 on; the number of rows is the same before)
CREATE FUNCTION compare_marked(lines text, tail text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN CASE WHEN current_setting('server_version_num')::int4 < 160000 THEN 'later' ELSE compare_computed('computed_defaults', lines, tail) END;
END $$;
SELECT string_agg(compared, ',' ORDER BY n) FILTER (WHERE compared NOT IN ('later', '3 rows', '22P04', '22P02', '23514')) FROM (SELECT n, compare_marked(
	E'a\t\\D\tb\t1\t2000-01-01\t2000-01-01\tu\t{}\n' || line || E'\nb\t\\D\t\\D\t\\N\t\\D\t\\D\t\\D\t\\D\n', '(DEFAULT ''\D'')')
	FROM unnest(ARRAY[E'b\t2\t\\D\t\\N\t\\D\t\\D\t\\D\t\\D', E'\\D\t2\tb\t1\t2000-01-01\t2000-01-01\tu\t{}', E'b\tx\t\\D\t\\N\t\\D\t\\D\t\\D\t\\D', E'b\t2\t\\D',
		E'b\t2\t\\\\D\t\\N\t\\D\t\\D\t\\D\t\\D', E'b\t200\t\\D\t\\N\t\\D\t\\D\t\\D\t\\D']) WITH ORDINALITY l (line, n)) c (n, compared);
SELECT compare_marked(string_agg(format(E'%s,%s,"D",,D,D,"x",D\n', repeat('x', 800 + i % 500), CASE WHEN i % 3 = 0 THEN 'D' ELSE '4' END), ''), '(FORMAT csv, DEFAULT ''D'')') IN ('later', '2400 rows') FROM generate_series(1, 2400) i;
-- a sequence that ends
CREATE SEQUENCE computed_sequence MAXVALUE 3;
CREATE TABLE computed_ending (a int4, id int4 DEFAULT nextval('computed_sequence'));
ALTER SEQUENCE computed_sequence OWNED BY computed_ending.id;
SELECT compare_computed('computed_ending', E'1\n2\n3\n4\n5\n', '', '(a)');
SELECT compare_computed('computed_ending', E'1\n2\n3\n', '', '(a)');
-- ... or whose values a default refuses: it is not asked again
CREATE SEQUENCE computed_taken;
CREATE DOMAIN computed_not_three AS int8 CHECK (VALUE <> 3);
CREATE TABLE computed_refused (a int4, id int4 DEFAULT 10 / (nextval('computed_taken') - 3), own computed_not_three DEFAULT nextval('computed_taken'));
ALTER SEQUENCE computed_taken OWNED BY computed_refused.id;
SELECT computed_by('computed_refused', E'1\t2\n', '', '(a, id)'), computed_by('computed_refused', E'1\t2\n', '', '(a, own)');
SELECT compare_computed('computed_refused', E'1\t2\n2\t2\n3\t2\n4\t2\n', '', '(a, ' || col || ')') FROM unnest(ARRAY['id', 'own']) col;
CREATE TABLE computed_numbers (a int4, id text DEFAULT 'no-' || lpad(nextval('computed_taken')::text, 4, '0'), i int4 GENERATED ALWAYS AS IDENTITY, CHECK (id < 'no-0005'));
ALTER SEQUENCE computed_taken OWNED BY computed_numbers.id;
SELECT computed_by('computed_numbers', E'1\n', '', '(a)');
SELECT compare_computed('computed_numbers', left(E'1\n2\n3\n4\n5\n', 2 * n), '', '(a)') FROM generate_series(4, 5) n;
ALTER SEQUENCE computed_taken OWNED BY NONE;
ALTER TABLE computed_numbers ALTER id SET DEFAULT nextval('computed_taken') || '-' || nextval('computed_taken'), ALTER i DROP IDENTITY, ALTER i SET DEFAULT coalesce(nextval('computed_taken'), 7);
SELECT computed_by('computed_numbers', E'1\t2\n', '', '(a, i)');
SELECT computed_by('computed_numbers', E'1\ta\n', '', '(a, id)');

-- WHERE.
CREATE TABLE computed_where (id int4 NOT NULL, t text, c int4 DEFAULT 5);
SELECT computed_by('computed_where', E'1\ta\n2\tb\n', 'WHERE id > 1', '(id, t)');
SELECT compare_computed('computed_where', E'1\ta\n2\tb\n\\N\tb\n3\tc\n' || line || E'\n20\tx\n', 'WHERE ' || condition, '(id, t)')
	FROM unnest(ARRAY[E'4\td', E'x\td', E'\\N\td', E'4', E'10\td']) line,
	unnest(ARRAY['id > 2', 't <> ''b''', 'id IS NOT NULL AND c = 5', 'id / (id - 10) >= 0 AND id > 0', 'false', 'true', 'NULL', 'nosuch', 'id', 'computed_where IS NOT NULL', 'EXISTS (SELECT 1)']) condition ORDER BY condition, line;
SELECT compare_computed('computed_where', string_agg(format(E'%s,"%s\n%s"\n', i, i % 1000, repeat(md5(i::text), 24 + i % 9)), '' ORDER BY i) || tail, '(FORMAT csv, HEADER) WHERE ' || condition, '(id, t)')
	FROM generate_series(0, 2700) i, (VALUES (''), (E'x,z\n'), (E'2701,z\n')) v (tail), unnest(ARRAY['id % 3 = 0', 'id > 2690', 'length(t) > 900 OR 10 / (2701 - id) < 5']) condition GROUP BY tail, condition ORDER BY condition, tail;

-- Domains.
CREATE DOMAIN computed_positive AS int4 NOT NULL CHECK (VALUE > 0);
CREATE DOMAIN computed_small AS computed_positive CHECK (VALUE < 1000) CHECK (100 / (VALUE - 500) < 101);
CREATE DOMAIN computed_word AS varchar(6) DEFAULT 'word' CHECK (VALUE ~ '^[a-z]*$');
CREATE TABLE computed_domains (a computed_small, w computed_word, arr computed_positive[], pad text, CHECK (a <> 3), s int4 GENERATED ALWAYS AS (a::computed_positive + 1) STORED);
SELECT computed_by('computed_domains', E'1\tx\t{1,2}\n', '', '(a, w, arr)');
SELECT compare_computed('computed_domains', E'1\ta\t{1}\n2\t\\N\t{}\n' || line || E'\n4\tx\t\\N\n', '', '(a, w, arr)')
	FROM unnest(ARRAY[E'4\tb\t{1,2}', E'\\N\tb\t{}', E'0\tb\t{}', E'1000\tb\t{}', E'500\tb\t{}', E'3\tb\t{}', E'4\tabcdefg\t{}', E'4\tB\t{}', E'4\tb\t{0}', E'4\tb\t{NULL}', E'x\tb\t{}']) line;
SELECT compare_computed('computed_domains', E'1\n2\n', '', '(a)'), compare_computed('computed_domains', E'a\n', '', '(w)');
SELECT compare_computed('computed_domains', string_agg(format(E'%s,"word",{%s},%s\n', i % 400 + 4, i, repeat('x', 900)), '' ORDER BY i) || tail, '(FORMAT csv)')
	FROM generate_series(1, 2500) i, (VALUES (''), (E'0,z,{},\n'), (E'1000,z,{},\n')) v (tail) GROUP BY tail ORDER BY tail;

-- Columns that are virtual, and constraints that are not enforced (from 18 on).
CREATE FUNCTION compare_virtual(line text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	IF current_setting('server_version_num')::int4 < 180000 THEN
		RETURN 'later';
	END IF;
	CREATE TABLE computed_virtual (a int4, t text DEFAULT 'none', s int4 GENERATED ALWAYS AS (a + 1) STORED, CHECK (a <> 9));
	EXECUTE 'ALTER TABLE computed_virtual ADD v int4 GENERATED ALWAYS AS (a * 2) VIRTUAL NOT NULL CHECK (v < 100),
		ADD w text GENERATED ALWAYS AS (CASE WHEN a > 5 THEN t END) VIRTUAL, ADD CHECK (w IS NULL OR a < 40), ADD CHECK (a > 3) NOT ENFORCED';
	line := compare_computed('computed_virtual', E'1\n6\n' || line || E'\n2\n', '', '(a)');
	DROP TABLE computed_virtual;
	RETURN line;
END $$;
SELECT string_agg(compare_virtual(line), ' ' ORDER BY n) IN ('later later later later later later', '4 rows 23514 23514 23514 23502 22P02')
	FROM unnest(ARRAY['7', '9', '45', '60', '\N', 'x']) WITH ORDINALITY l (line, n);

-- What could look at the table is left to PostgreSQL.
CREATE TABLE computed_left (a int4, b int4);
CREATE FUNCTION computed_count(x int4) RETURNS int4 STABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM computed_left) + 0 * x; END';
CREATE FUNCTION computed_count_now(x int4) RETURNS int4 VOLATILE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM computed_left) + 0 * x; END';
CREATE FUNCTION computed_inlined(x int4) RETURNS int4 IMMUTABLE PARALLEL SAFE LANGUAGE sql AS 'SELECT $1 + 1';
CREATE FUNCTION computed_lines(n int4) RETURNS text LANGUAGE sql AS $$ SELECT string_agg(i || E'\n', '' ORDER BY i) FROM generate_series(1, n) i $$;
CREATE FUNCTION computed_left(change text, n int4 DEFAULT 3, tail text DEFAULT '', cols text DEFAULT '(a)') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	outcome text;
BEGIN
	EXECUTE change;
	PERFORM computed_by('computed_left', computed_lines(3), tail, cols);
	outcome := compare_computed('computed_left', computed_lines(n), tail, cols);
	DROP TABLE computed_left;
	CREATE TABLE computed_left (a int4, b int4);
	RETURN outcome;
END $$;
SELECT computed_left('ALTER TABLE computed_left ADD CHECK (computed_count(a) = 0)', 1200);
SELECT computed_left('ALTER TABLE computed_left ADD CHECK (computed_count_now(a) < 2000)', 1200);
SELECT computed_left('ALTER TABLE computed_left ALTER b SET DEFAULT computed_count(1)', 1200);
SELECT computed_left('ALTER TABLE computed_left ALTER b SET DEFAULT computed_count_now(1)', 1200);
SELECT computed_left('ALTER TABLE computed_left ALTER b SET DEFAULT random() * 0', 1200);
SELECT computed_left('ALTER TABLE computed_left ADD CHECK (pg_get_viewdef(0 * a) IS NULL)', 1200);
SELECT computed_left('SELECT', 1200, 'WHERE computed_count(a) = 0');
SELECT computed_left('SELECT', 1200, 'WHERE computed_count_now(a) < 2000');
SELECT computed_left('ALTER TABLE computed_left ADD CHECK (computed_inlined(a) < 2000)', 1200);
SELECT computed_left('CREATE DOMAIN computed_looking AS int4 CHECK (computed_count_now(VALUE) < 2000); ALTER TABLE computed_left ALTER a TYPE computed_looking', 1200);
SELECT computed_left('ALTER TABLE computed_left ALTER a TYPE int4, ADD r computed_looking[], ALTER r SET DEFAULT ''{1}''', 1200);
SELECT computed_left('ALTER TABLE computed_left ADD CHECK ((a::text)::computed_looking > 0)', 1200);
CREATE FUNCTION computed_generating(x int4) RETURNS int4 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN computed_count_now(x); END';
SELECT computed_left('ALTER TABLE computed_left DROP b, ADD b int4 GENERATED ALWAYS AS (computed_generating(a)) STORED', 1200);
-- ... which is not called by several planners either
CREATE FUNCTION computed_constant(x int4) RETURNS int4 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RAISE WARNING ''planned''; RETURN x; END';
SELECT computed_left('ALTER TABLE computed_left ADD CHECK (a > computed_constant(0)), ALTER b SET DEFAULT 5');
-- ... by way of an operator class of the server's types
CREATE FUNCTION computed_point_cmp(x point, y point) RETURNS int4 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN computed_count_now(0) - 1000; END';
CREATE OPERATOR CLASS computed_points DEFAULT FOR TYPE point USING btree AS
	OPERATOR 1 <<, OPERATOR 5 >>, FUNCTION 1 computed_point_cmp(point, point);
SELECT computed_left('ALTER TABLE computed_left ADD CHECK (GREATEST(point(a, 0), point(0, a)) ~= point(0, a))', 1200);
DROP OPERATOR FAMILY computed_points USING btree;
-- ... by way of a row's type, and an operator class of a range
CREATE TYPE computed_row AS (x computed_looking, y int4);
CREATE FUNCTION computed_cmp(x int4, y int4) RETURNS int4 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS 'BEGIN RETURN btint4cmp(x, y) + 0 * computed_count_now(1); END';
CREATE OPERATOR CLASS computed_ops FOR TYPE int4 USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 computed_cmp(int4, int4);
CREATE TYPE computed_range AS RANGE (SUBTYPE = int4, SUBTYPE_OPCLASS = computed_ops);
CREATE TABLE computed_by_type (r computed_row, g computed_range);
SELECT computed_by('computed_by_type', E'(1,2)\n', '', '(r)');
SELECT computed_by('computed_by_type', E'[1,2)\n', '', '(g)');
SELECT compare_computed('computed_by_type', E'(1,2)\t[1,2)\n(3,4)\t[5,6)\n');

DROP TABLE computed_checks, computed_generated, computed_defaults, computed_ending, computed_refused, computed_numbers, computed_where, computed_domains, computed_left, computed_by_type;
DROP TYPE computed_range, computed_row, computed_enum;
DROP OPERATOR FAMILY computed_ops USING btree;
DROP SEQUENCE computed_taken;
DROP DOMAIN computed_not_three, computed_small, computed_word, computed_looking;
DROP DOMAIN computed_positive;
DROP FUNCTION compare_marked, compare_virtual, computed_rows, compare_computed, computed_by, computed_count, computed_count_now, computed_inlined, computed_lines, computed_left, computed_cmp, computed_constant, computed_point_cmp, computed_generating;
