-- What has no key encoding is left to PostgreSQL's sort.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;
SET gpusort.force = on;

CREATE TYPE pair AS (a int, b int);
CREATE TABLE t_none (id int, i int, a int[], r int4range, m int4multirange, j jsonb, v tsvector, o oidvector, p pair);
CREATE FUNCTION sort_node(key text) RETURNS text LANGUAGE sql AS $$
	SELECT trim(line) FROM plan_lines(format('SELECT * FROM t_none ORDER BY %s', key)) line LIMIT 1
$$;
SELECT key, sort_node(key) FROM unnest('{i,a,r,m,j,v,o,p,"i, a","a, i","p USING *<"}'::text[]) key;

-- An operator class of one's own, even for a type that has an encoding.
CREATE FUNCTION reverse_cmp(int, int) RETURNS int LANGUAGE sql IMMUTABLE STRICT AS 'SELECT btint4cmp($2, $1)';
CREATE FUNCTION reverse_lt(int, int) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $2 < $1';
CREATE FUNCTION reverse_eq(int, int) RETURNS bool LANGUAGE sql IMMUTABLE STRICT AS 'SELECT $1 = $2';
CREATE OPERATOR <^ (LEFTARG = int, RIGHTARG = int, FUNCTION = reverse_lt);
CREATE OPERATOR =^ (LEFTARG = int, RIGHTARG = int, FUNCTION = reverse_eq);
CREATE OPERATOR CLASS reverse_ops FOR TYPE int USING btree AS
	OPERATOR 1 <^, OPERATOR 3 =^, FUNCTION 1 reverse_cmp(int, int);
SELECT sort_node('i USING <^');
