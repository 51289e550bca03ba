-- Enums: labels in their order, which need not be that of their OIDs.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

CREATE TYPE color AS ENUM ('red', 'green', 'blue', 'black');
CREATE TABLE t_enum (id int, k color);
INSERT INTO t_enum SELECT i, (enum_range(NULL::color) || NULL::color)[1 + random('enum', i, 5)]
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_enum');

-- Labels added later have odd OIDs and fractional positions.
ALTER TYPE color ADD VALUE 'yellow' BEFORE 'green';
ALTER TYPE color ADD VALUE 'orange' BEFORE 'yellow';
ALTER TYPE color ADD VALUE 'infrared' BEFORE 'red';
ALTER TYPE color ADD VALUE 'white';
ALTER TYPE color ADD VALUE 'brown' AFTER 'orange';
ALTER TYPE color RENAME VALUE 'blue' TO 'azure';
INSERT INTO t_enum SELECT i, (enum_range(NULL::color))[1 + random('more', i, 9)] FROM generate_series(1, 3000) i;
SELECT check_directions('t_enum');

CREATE DOMAIN known_color AS color CHECK (VALUE <> 'black');
CREATE TABLE t_enum_domain (id int, k known_color);
INSERT INTO t_enum_domain SELECT id, k FROM t_enum WHERE k <> 'black';
SELECT check_sort('domain', 'SELECT *, k::color AS label FROM t_enum_domain ORDER BY k', 'label');
SELECT check_sort('domain, descending', 'SELECT *, k::color AS label FROM t_enum_domain ORDER BY k DESC', 'label');

-- Many labels, and one.
DO $$
BEGIN
	EXECUTE (SELECT format('CREATE TYPE many AS ENUM (%s)', string_agg(quote_literal(md5(i::text)), ','))
			 FROM generate_series(1, 1000) i);
END $$;
CREATE TABLE t_enum_many (id int, k many);
INSERT INTO t_enum_many SELECT i, md5((1 + random('many', i, 1000))::text)::many FROM generate_series(1, 3000) i;
SELECT check_directions('t_enum_many');
CREATE TYPE single AS ENUM ('label');
CREATE TABLE t_enum_single (id int, k single);
INSERT INTO t_enum_single SELECT i, CASE i % 2 WHEN 0 THEN 'label'::single END FROM generate_series(1, 100) i;
SELECT check_directions('t_enum_single');

-- A type made in the same transaction.
BEGIN;
CREATE TYPE fresh AS ENUM ('c', 'b', 'a');
CREATE TABLE t_enum_fresh (id int, k fresh);
INSERT INTO t_enum_fresh SELECT i, (enum_range(NULL::fresh))[1 + i % 3] FROM generate_series(1, 1000) i;
SELECT check_directions('t_enum_fresh');
ROLLBACK;
