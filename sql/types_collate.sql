-- Needs ICU.
SELECT NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'und-x-icu' AND collprovider = 'i') AS skip_test \gset
\if :skip_test
\quit
\endif
-- Strings that sort by a collation of ICU or, where there is one, of libc.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

CREATE FUNCTION collate_sample(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE i % 5
		WHEN 0 THEN substr(md5('text' || i), 1, random('len', i, 12)::int)
		WHEN 1 THEN initcap(substr(md5('text' || i), 1, 4)) || ' ' || substr(md5('b' || i), 1, 5)
		WHEN 2 THEN (ARRAY['resume', 'Resume', U&'r\00E9sum\00E9', U&'R\00C9SUM\00C9', U&'re\0301sume\0301',
						   'co-op', 'coop', 'CO-OP', 'co op', U&'Stra\00DFe', 'Strasse', 'STRASSE',
						   U&'\00E4', 'ae', U&'\00C4', 'az', 'a', 'A', 'b', 'B', '', U&'\65E5\672C', U&'\3042',
						   U&'\30A2', U&'\D55C', U&'\+01F600', '1', '2', '10', U&'\FB01', 'fi'])[1 + random('word', i, 31)]
		WHEN 3 THEN (SELECT string_agg(chr((ARRAY[32, 45, 46, 65, 66, 97, 98, 196, 223, 228, 233, 776, 769,
												  12354, 26085])[1 + random('c' || j, i, 15)]), '')
					 FROM generate_series(1, 1 + i % 7) j)
		ELSE 'customer#' || random('customer', i, 300)
	END
$$;

CREATE TABLE t_collate (id int, k text);
INSERT INTO t_collate SELECT i, collate_sample(i) FROM generate_series(1, 4000) i;
INSERT INTO t_collate SELECT 0, unnest(ARRAY['', 'a', 'A', ' a', 'a ', NULL, NULL]);
INSERT INTO t_collate SELECT i, repeat(md5((i % 3)::text), 200) || i % 5 FROM generate_series(1, 20) i;

CREATE COLLATION natural_sort (provider = icu, locale = 'en-u-kn-true');
CREATE COLLATION upper_first (provider = icu, locale = 'en-u-kf-upper');
CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE COLLATION ignore_accents (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE COLLATION ignore_punctuation (provider = icu, locale = 'und-u-ka-shifted', deterministic = false);

SELECT check_directions('t_collate', 'k COLLATE "und-x-icu"');
SELECT check_directions('t_collate', 'k COLLATE "en-x-icu"');
SELECT check_directions('t_collate', 'k COLLATE "de-x-icu"');
SELECT check_directions('t_collate', 'k COLLATE "ja-x-icu"');
SELECT check_directions('t_collate', 'k COLLATE natural_sort');
SELECT check_directions('t_collate', 'k COLLATE upper_first');
SELECT check_directions('t_collate', 'k COLLATE ignore_case');
SELECT check_directions('t_collate', 'k COLLATE ignore_accents');
SELECT check_directions('t_collate', 'k COLLATE ignore_punctuation');

-- A pattern operator is bytewise under any collation.
SELECT check_directions('t_collate', 'k COLLATE "en-x-icu"', '~<~', '~>~');

CREATE TABLE t_collate_types (id int, v varchar(50) COLLATE "en-x-icu", b char(50) COLLATE "en-x-icu",
							  i char(50) COLLATE ignore_case, n name COLLATE "en-x-icu");
INSERT INTO t_collate_types SELECT id, left(k, 50), left(k, 50), left(k, 50), left(k, 50) FROM t_collate;
INSERT INTO t_collate_types SELECT 0, k, k, k, k FROM unnest('{"a  ","a ","a",""}'::bpchar[]) k;
SELECT check_directions('t_collate_types', 'v');
SELECT check_directions('t_collate_types', 'b');
SELECT check_directions('t_collate_types', 'i');
SELECT check_directions('t_collate_types', 'n');
SELECT check_sort('two collations', 'SELECT * FROM t_collate_types ORDER BY i, b DESC NULLS LAST', 'i', 'b');
SELECT check_index('CREATE INDEX %s ON t_collate_types (i)'), check_index('CREATE INDEX %s ON t_collate_types (i, id DESC)');

-- A string too long for a key: the whole sort is left to the comparison.
CREATE TABLE t_collate_long (id int, k text);
INSERT INTO t_collate_long SELECT * FROM t_collate LIMIT 200;
INSERT INTO t_collate_long SELECT i, repeat(chr(64 + i), 5000000) FROM generate_series(1, 2) i;
SELECT check_sort('too long', 'SELECT id, left(k, 10), md5(k) AS m FROM t_collate_long ORDER BY k COLLATE "en-x-icu", id', 'm');

-- libc: silent, for the locales are not the same everywhere.  Some take two letters for
-- one; none of these sorts may be handed over, as one of a wrong order would be.
CREATE TABLE t_collate_ascii AS
SELECT i AS id, (SELECT string_agg((ARRAY['c', 'h', 'C', 'd', 'z', 's', 'l', 'y', 'n', 'I', 'i', '-', ' ', '7'])[1 + random('ascii' || j, i, 14)], '')
				 FROM generate_series(1, 1 + i % 17) j) AS k
FROM generate_series(1, 1000) i;
INSERT INTO t_collate_ascii SELECT id, 'shared beginning ' || k FROM t_collate_ascii;
DO $$
DECLARE
	locale name;
	result text;
	plan json;
BEGIN
	FOR locale IN
		SELECT collname FROM pg_collation
		WHERE collprovider = 'c' AND collnamespace = 'pg_catalog'::regnamespace AND
			collname IN ('en_US.utf8', 'de_DE.utf8', 'cs_CZ.utf8', 'hu_HU.utf8', 'tr_TR.utf8', 'C.utf8') AND
			collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding()))
	LOOP
		FOR result IN
			SELECT check_directions('t_collate', format('k COLLATE %I', locale)) UNION ALL
			SELECT check_directions('t_collate_ascii', format('k COLLATE %I', locale)) UNION ALL
			SELECT check_directions('t_collate_types', format('b COLLATE %I', locale)) UNION ALL
			SELECT check_directions('t_collate_types', format('n COLLATE %I', locale))
		LOOP
			IF result !~ ': ok \d+ rows$' THEN
				RAISE WARNING '%', result;
			END IF;
		END LOOP;
		PERFORM set_config('gpusort.force', 'on', true);
		EXECUTE format('EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM t_collate_ascii ORDER BY k COLLATE %I', locale) INTO plan;
		IF plan -> 0 -> 'Plan' ->> 'Sort Method' IS DISTINCT FROM 'radix' THEN
			RAISE WARNING '%: %', locale, plan;
		END IF;
	END LOOP;
END $$;
