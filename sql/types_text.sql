-- Strings that sort by their bytes.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

-- Short strings that begin alike, longer ones with long common prefixes, TOASTed ones.
CREATE FUNCTION text_sample(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE i % 8
		WHEN 0 THEN substr(md5('text' || i), 1, random('len', i, 10)::int)
		WHEN 1 THEN 'customer#' || lpad(random('customer', i, 500)::text, 9, '0')
		WHEN 2 THEN repeat('a', random('rep', i, 40)::int)
		WHEN 3 THEN md5('a' || i) || md5('b' || i)
		WHEN 4 THEN chr(1 + random('chr', i, 127)::int) || random('x', i, 3)
		WHEN 5 THEN repeat(md5('same'), 4) || random('y', i, 1000)
		WHEN 6 THEN (ARRAY['red', 'green', 'blue', 'Red', ''])[1 + random('color', i, 5)]
		ELSE repeat(' ', random('sp', i, 3)::int) || 'word' || repeat(' ', random('sp2', i, 3)::int)
	END
$$;

CREATE TABLE t_text (id int, k text COLLATE "C");
INSERT INTO t_text SELECT 0, unnest(ARRAY['', '', 'a', 'a', 'aa', 'a ', 'A', E'a\001', E'\001', E'\177', '~',
	'aaaaaaa', 'aaaaaaaa', 'aaaaaaaab', 'aaaaaaaaa', 'aaaaaaab', NULL, NULL]);
INSERT INTO t_text SELECT i, text_sample(i) FROM generate_series(1, 4000) i;
INSERT INTO t_text SELECT i, repeat(md5((i % 3)::text), 500) || i % 5 FROM generate_series(1, 20) i;
ALTER TABLE t_text ADD external text COLLATE "C";
ALTER TABLE t_text ALTER external SET STORAGE EXTERNAL;
UPDATE t_text SET external = k WHERE length(k) > 2000;
SELECT check_directions('t_text');
SELECT check_directions('t_text', 'external');
SELECT check_directions('t_text', 'k COLLATE "POSIX"');
SELECT check_directions('t_text', 'k COLLATE ucs_basic');
SELECT check_directions('t_text', 'k', '~<~', '~>~');

CREATE TABLE t_varchar (id int, k varchar(70) COLLATE "C");
INSERT INTO t_varchar SELECT id, k FROM t_text WHERE length(k) <= 70 OR k IS NULL;
SELECT check_directions('t_varchar');
SELECT check_directions('t_varchar', 'k', '~<~', '~>~');

-- Trailing blanks do not count.
CREATE TABLE t_bpchar (id int, k char(70) COLLATE "C");
INSERT INTO t_bpchar SELECT id, k FROM t_varchar;
INSERT INTO t_bpchar SELECT 0, unnest('{"",a,ab,"a b","a  b"}'::bpchar[]);
SELECT check_directions('t_bpchar');
SELECT check_directions('t_bpchar', 'k', '~<~', '~>~');
CREATE TABLE t_bpchar_any (id int, k bpchar COLLATE "C");
INSERT INTO t_bpchar_any SELECT i, repeat('x', i % 3) || repeat(' ', i % 5) FROM generate_series(1, 500) i;
SELECT check_directions('t_bpchar_any');

CREATE TABLE t_name (id int, k name);
INSERT INTO t_name SELECT id, k FROM t_text;
SELECT check_directions('t_name');

-- The database's collation, whatever it is.
CREATE TABLE t_default (id int, k text, b char(20));
INSERT INTO t_default SELECT id, k, left(k, 20) FROM t_text;
SELECT check_directions('t_default');
SELECT check_directions('t_default', 'b');

-- PostgreSQL's own collations of 17 and later are bytewise; before, these are C.
DO $$
BEGIN
	IF current_setting('server_version_num')::int < 170000 THEN
		CREATE COLLATION pg_c_utf8 FROM "C";
	END IF;
END $$;
SELECT check_directions('t_text', 'k COLLATE pg_c_utf8');
