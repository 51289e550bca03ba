-- Needs ICU.
SELECT NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu' AND collprovider = 'i') AS skip_test \gset
\if :skip_test
\quit
\endif
-- Collations whose sort keys and comparison disagree: what PostgreSQL compares by decides, in sorts
-- and in indexes.  Operator classes of users over built-in operators.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_collations;
SET search_path = gpusort_collations, gpusort_test, public;
SET max_parallel_maintenance_workers = 0;
SET max_parallel_workers_per_gather = 0;
CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public;

-- The smallest case: combining marks behind punctuation that is ignored.
CREATE TABLE marks (s text COLLATE "th-x-icu");
INSERT INTO marks VALUES (U&'*\20E3'), (U&'*\FE0F');
SET gpusort.force = on;
CREATE UNIQUE INDEX marks_key ON marks (s);
SELECT bt_index_check('marks_key', true);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM marks WHERE s = U&'*\20E3';
\set VERBOSITY terse
INSERT INTO marks VALUES (U&'*\20E3');
\set VERBOSITY default
RESET enable_seqscan;
RESET enable_bitmapscan;
RESET gpusort.force;

-- Strings of letters, ignorable characters, punctuation and marks in any order, of several scripts
CREATE FUNCTION odd_string(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(chr((ARRAY[42, 45, 32, 97, 98, 65, 233, 48, 57,
								 769, 775, 807, 803, 8419, 65039, 8203, 8205, 173,
								 3585, 3648, 3656, 2325, 2364, 2381, 3521, 3530, 4096, 4153, 4170,
								 6016, 6098, 3904, 3953, 3956, 44032, 4352, 12354, 26085])[1 + random('odd' || j, i, 38)]), '' ORDER BY j)
	FROM generate_series(1, 1 + i % 5) j
$$;
CREATE TABLE odd AS SELECT i AS id, odd_string(i) AS k FROM generate_series(1, 3000) i;
INSERT INTO odd SELECT id, '*' || k FROM odd WHERE id % 3 = 0;

CREATE COLLATION shifted (provider = icu, locale = 'und-u-ka-shifted');
CREATE COLLATION shifted_all (provider = icu, locale = 'und-u-ka-shifted-kv-symbol-kn');
CREATE COLLATION shifted_equal (provider = icu, locale = 'und-u-ka-shifted', deterministic = false);
CREATE COLLATION level1 (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE COLLATION level1_shifted (provider = icu, locale = 'und-u-ka-shifted-ks-level1', deterministic = false);
CREATE COLLATION level4 (provider = icu, locale = 'und-u-ka-shifted-ks-level4');
CREATE COLLATION digits_last (provider = icu, locale = 'en-u-kr-latn-digit');
CREATE COLLATION upper_first (provider = icu, locale = 'da-u-kf-upper-kc');
CREATE COLLATION normalised (provider = icu, locale = 'und-u-kk-true');
-- distinct values that are equal and not the same
SELECT gpusort_test.check_rows('SELECT g % 3 AS m, count(DISTINCT (CASE WHEN g % 5 = 0 THEN ''a'' ELSE ''A'' END || g % 70) COLLATE level1) FROM generate_series(1, 20000) g GROUP BY 1', false, '{GpuSort}', '{gpusort.force=on}');
CREATE COLLATION backwards (provider = icu, locale = 'fr-u-kb-true');

SELECT check_sort(collation_name, format('SELECT *, k COLLATE %I AS sort_key FROM odd ORDER BY sort_key %s', collation_name, direction), 'sort_key')
FROM unnest('{shifted,shifted_all,shifted_equal,level1,level1_shifted,level4,digits_last,upper_first,normalised,backwards,
			  th-x-icu,th-TH-x-icu,hi-x-icu,si-x-icu,my-x-icu,km-x-icu,bo-x-icu,ko-x-icu,cs-x-icu,en-x-icu}'::text[]) AS collation_name,
	unnest('{ASC,DESC}'::text[]) AS direction;

-- An index of each, like PostgreSQL's in every page: also where ICU's comparison is no order, and
-- PostgreSQL's own index is not right.
CREATE FUNCTION check_collation(name text, columns text DEFAULT 'k COLLATE %I, id DESC') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	differences text;
BEGIN
	PERFORM set_config('gpusort.enabled', 'off', true);
	EXECUTE format('CREATE INDEX theirs ON odd (' || columns || ')', name);
	PERFORM set_config('gpusort.enabled', 'on', true), set_config('gpusort.force', 'on', true);
	EXECUTE format('CREATE INDEX ours ON odd (' || columns || ')', name);
	PERFORM set_config('gpusort.force', 'off', true);
	differences := index_differences('ours', 'theirs');
	BEGIN
		PERFORM bt_index_parent_check('theirs', true, true);
		PERFORM bt_index_parent_check('ours', true, true);
	EXCEPTION WHEN index_corrupted THEN
		differences := differences || ', corrupt';
	END;
	DROP INDEX ours, theirs;
	RETURN name || ': ' || coalesce(differences, 'ok');
END $$;
SELECT check_collation(name), check_collation(name, 'k COLLATE %I')
FROM unnest('{shifted,shifted_all,shifted_equal,level1,level1_shifted,level4,digits_last,upper_first,normalised,backwards,
			  th-x-icu,hi-x-icu,si-x-icu,my-x-icu,km-x-icu,bo-x-icu,en-x-icu}'::text[]) AS name;
-- Those that are an order are ours.
SELECT check_index(format('CREATE INDEX %%s ON odd (k COLLATE %I)', name)) LIKE '%: ok %' AS ours
FROM unnest('{level1,upper_first,normalised,en-x-icu,cs-x-icu}'::text[]) AS name;

-- Uniqueness is what PostgreSQL says it is.
CREATE FUNCTION is_unique(name text, enabled text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('gpusort.enabled', enabled, true), set_config('gpusort.force', enabled, true);
	EXECUTE format('CREATE UNIQUE INDEX ON few (k COLLATE %I)', name);
	DROP INDEX few_k_idx;
	RETURN 'unique';
EXCEPTION WHEN unique_violation THEN
	RETURN 'not unique';
END $$;
CREATE FUNCTION differ_about_uniqueness(name text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	ours text;
	theirs text;
	uniques int := 0;
BEGIN
	FOR i IN 0..99 LOOP
		CREATE TEMP TABLE few AS SELECT k FROM odd WHERE id % 100 = i ORDER BY id LIMIT 8;
		ours := is_unique(name, 'on');
		theirs := is_unique(name, 'off');
		uniques := uniques + (theirs = 'unique')::int;
		IF ours <> theirs THEN
			RETURN NEXT format('%s: %s is %s, not %s', name, (SELECT array_agg(k) FROM few), theirs, ours);
		END IF;
		DROP TABLE few;
	END LOOP;
	IF uniques IN (0, 100) THEN
		RETURN NEXT format('%s: %s tables were unique', name, uniques);
	END IF;
END $$;
SELECT differ_about_uniqueness(name) FROM unnest('{shifted_equal,level1}'::text[]) AS name;
-- ... in its words
CREATE TABLE cases AS SELECT md5(i::text) AS k FROM generate_series(1, 1000) i;
INSERT INTO cases SELECT upper(k) FROM cases LIMIT 1;
SET gpusort.enabled = off;
CREATE UNIQUE INDEX cases_key ON cases (k COLLATE level1);
SET gpusort.enabled = on;
SET gpusort.force = on;
CREATE UNIQUE INDEX cases_key ON cases (k COLLATE level1);
RESET gpusort.force;
RESET gpusort.enabled;

-- Accents compared from the end go round in circles that no neighbours show: lists of strings that
-- differ in their marks only are in PostgreSQL's order.
CREATE FUNCTION marked_string(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT 'marked strings' || string_agg(chr((ARRAY[173, 1619, 1620])[1 + random('marked' || j, i, 3)]), '' ORDER BY j)
	FROM generate_series(1, 1 + i % 4) j
$$;
CREATE FUNCTION in_order(name text, list int, enabled text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	strings text[];
BEGIN
	PERFORM set_config('gpusort.enabled', enabled, true), set_config('gpusort.force', enabled, true);
	EXECUTE format('SELECT array_agg(k) FROM (SELECT k FROM marked WHERE list = $1 ORDER BY k COLLATE %I) lists', name)
	INTO strings USING list;
	RETURN strings;
END $$;
CREATE TABLE marked AS SELECT i % 100 AS list, marked_string(i) AS k FROM generate_series(1, 1300) i;
SELECT name, count(*) FROM unnest('{backwards,fr-CA-x-icu,fr-x-icu}'::text[]) AS name, generate_series(0, 99) list
WHERE in_order(name, list, 'on') = in_order(name, list, 'off')
GROUP BY name ORDER BY name COLLATE "C";

-- A merge join of an index of PostgreSQL's with a sort of ours
SET gpusort.enable_index_build = off;
CREATE TABLE left_side AS SELECT * FROM marks UNION ALL SELECT 'a' || s FROM marks;
CREATE INDEX ON left_side (s);
RESET gpusort.enable_index_build;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_seqscan = off;
SET gpusort.force = on;
SELECT count(*) FROM left_side a JOIN (SELECT s FROM left_side OFFSET 0) b USING (s);
RESET gpusort.force;
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_seqscan;

-- The planner opens no collation: one that has gone fails when it is used.
CREATE COLLATION broken (provider = libc, locale = 'C.utf8');
UPDATE pg_collation SET collcollate = 'xx_XX.utf8', collctype = 'xx_XX.utf8' WHERE collname = 'broken';
CREATE TABLE gone AS SELECT i::text AS t FROM generate_series(1, 10) i;
\c -
LOAD 'gpusort';
SET search_path = gpusort_collations, gpusort_test, public;
SET client_min_messages = warning;
SET max_parallel_maintenance_workers = 0;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
EXPLAIN (COSTS OFF) SELECT * FROM gone ORDER BY t COLLATE broken;
\set VERBOSITY sqlstate
SELECT * FROM gone ORDER BY t COLLATE broken;
\set VERBOSITY default
RESET gpusort.force;

-- An operator class of a user's: odd numbers before even ones, over int4's own operators
CREATE FUNCTION odd_first(a int, b int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN a % 2 <> b % 2 THEN b % 2 - a % 2 ELSE btint4cmp(a, b) END
$$;
CREATE OPERATOR CLASS odd_first_ops FOR TYPE int4 USING btree AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, FUNCTION 1 odd_first(int4, int4);
CREATE TABLE numbers AS SELECT i FROM generate_series(0, 999) i;
SET client_min_messages = debug1;
CREATE INDEX numbers_odd ON numbers (i odd_first_ops);
SET client_min_messages = warning;
SELECT bt_index_check('numbers_odd', true);
-- int4's own class is not affected
SELECT check_sort('numbers', 'SELECT i FROM numbers ORDER BY i DESC', 'i');
SELECT check_index('CREATE INDEX %s ON numbers (i)');
DROP OPERATOR FAMILY odd_first_ops USING btree CASCADE;

-- ... and one with operators of its own
CREATE FUNCTION last_digit_lt(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 10 < $2 % 10';
CREATE FUNCTION last_digit_le(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 10 <= $2 % 10';
CREATE FUNCTION last_digit_eq(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 10 = $2 % 10';
CREATE FUNCTION last_digit_ge(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 10 >= $2 % 10';
CREATE FUNCTION last_digit_gt(int, int) RETURNS bool LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 10 > $2 % 10';
CREATE FUNCTION last_digit_cmp(int, int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT btint4cmp($1 % 10, $2 % 10)';
CREATE OPERATOR <# (LEFTARG = int, RIGHTARG = int, FUNCTION = last_digit_lt);
CREATE OPERATOR <=# (LEFTARG = int, RIGHTARG = int, FUNCTION = last_digit_le);
CREATE OPERATOR =# (LEFTARG = int, RIGHTARG = int, FUNCTION = last_digit_eq);
CREATE OPERATOR >=# (LEFTARG = int, RIGHTARG = int, FUNCTION = last_digit_ge);
CREATE OPERATOR ># (LEFTARG = int, RIGHTARG = int, FUNCTION = last_digit_gt);
CREATE OPERATOR CLASS last_digit_ops FOR TYPE int4 USING btree AS
	OPERATOR 1 <#, OPERATOR 2 <=#, OPERATOR 3 =#, OPERATOR 4 >=#, OPERATOR 5 >#, FUNCTION 1 last_digit_cmp(int4, int4);
SET gpusort.force = on;
EXPLAIN (COSTS OFF) SELECT i FROM numbers ORDER BY i USING <#;
SELECT array_agg(d) FROM (SELECT DISTINCT ON (n / 100) i % 10 AS d FROM (SELECT i, row_number() OVER () - 1 AS n FROM (SELECT i FROM numbers ORDER BY i USING <#) s) r ORDER BY n / 100, n) t;
CREATE INDEX numbers_digit ON numbers (i last_digit_ops);
SELECT bt_index_check('numbers_digit', true);
RESET gpusort.force;

-- An empty string whose key is the first to be completed.
CREATE COLLATION identical (provider = icu, locale = 'und-u-ks-identic');
CREATE TABLE empty (id int, k text COLLATE identical);
INSERT INTO empty SELECT i, CASE WHEN i % 2 = 1 THEN '' ELSE U&'\00AD' END FROM generate_series(1, 20) i;
SELECT check_sort('identical', 'SELECT * FROM empty ORDER BY k', 'k');

-- Rules of a user's own, which PostgreSQL knows from 16 on: letters that others depend on, moved, ignored
-- or equal.  Weights are learned first, so that words and proofs rest on them.  Only what is wrong is returned.
CREATE TABLE tailored AS
SELECT i AS id, translate(left(md5(i::text), 1 + i % 6), '0123456789abcdef', 'abcdehxyz-19ABCa') AS k FROM generate_series(1, 3000) i;
CREATE TABLE learned AS SELECT md5(i::text) AS k FROM generate_series(1, 20500) i;
CREATE FUNCTION check_rules(rules text, is_deterministic bool) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows bigint;
	results text[];
BEGIN
	EXECUTE format('CREATE COLLATION tailored (provider = icu, locale = ''und'', rules = %L, deterministic = %s)', rules, is_deterministic::text);
	PERFORM set_config('gpusort.force', 'on', true);
	EXECUTE 'SELECT count(*) FROM (SELECT k FROM learned ORDER BY k COLLATE tailored OFFSET 0) s' INTO rows;
	results := ARRAY[check_sort('sort', 'SELECT id, k COLLATE tailored AS k FROM tailored ORDER BY k', 'k'),
					 check_sort('rows', 'SELECT DISTINCT ON (k COLLATE tailored) k COLLATE tailored AS k, id FROM tailored ORDER BY 1 DESC, id', 'k', 'id')];
	PERFORM set_config('gpusort.force', 'on', true);
	EXECUTE 'CREATE INDEX tailored_k ON tailored (k COLLATE tailored)';
	PERFORM bt_index_check('tailored_k', true);
	DROP INDEX tailored_k;
	DROP COLLATION tailored CASCADE;	-- the results, too
	RETURN (SELECT string_agg(result, ', ') FROM unnest(results) result WHERE result !~ ': ok');
EXCEPTION WHEN index_corrupted THEN
	DROP COLLATION IF EXISTS tailored CASCADE;
	RETURN SQLERRM;
END $$;
SELECT rules, d, check_rules(rules, d) AS wrong
FROM unnest(ARRAY[
	'&a < b|c', '&z < abc < ab', '&c < ch <<< Ch', '&x < aa < aaa', '&a < c / b', '&a = b', '&9 < a < b', '&a < 1 < 2', '&[first tertiary ignorable] = x',
	'&[last regular] < a', '[reorder Grek Latn]', '[alternate shifted]', '[backwards 2]', '[caseLevel on][strength 1]', '[numericOrdering on]'
]) rules, unnest(ARRAY[true, false]) d
WHERE current_setting('server_version_num')::int >= 160000 AND check_rules(rules, d) IS NOT NULL;

-- A collation that is dropped while prepared statements use it
CREATE FUNCTION run(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'EXECUTE ' || statement INTO result;
	RETURN result;
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
CREATE COLLATION lost (provider = icu, locale = 'de');
CREATE TABLE strings AS SELECT md5(i::text) AS k FROM generate_series(1, 100) i;
SET plan_cache_mode = force_generic_plan;
PREPARE theirs AS SELECT md5(string_agg(k, ',')) FROM (SELECT k FROM strings ORDER BY k COLLATE lost OFFSET 0) s;
PREPARE ours AS SELECT md5(string_agg(k, ',')) FROM (SELECT k FROM strings ORDER BY k COLLATE lost OFFSET 0) s;
SET gpusort.enabled = off;
SELECT run('theirs') AS before \gset
RESET gpusort.enabled;
SET gpusort.force = on;
SELECT run('ours') = :'before' AS same;
DROP COLLATION lost;
SELECT run('ours') = run('theirs') AS same;
RESET gpusort.force;
RESET plan_cache_mode;
DEALLOCATE ours;
DEALLOCATE theirs;
DROP SCHEMA gpusort_collations CASCADE;
