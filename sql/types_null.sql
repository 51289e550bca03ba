-- Columns without a value, with one value, with hardly any, alone and in company.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

CREATE TABLE t_null (id int, i int8, n numeric, t text COLLATE "C", b bytea, u uuid, v varbit);
INSERT INTO t_null (id) SELECT i FROM generate_series(1, 1000) i;
SELECT check_directions('t_null', key) FROM unnest('{i,n,t,b,u,v}'::text[]) key;

INSERT INTO t_null VALUES (0, 1, 1, 'one', 'one', md5('one')::uuid, '1');
SELECT check_directions('t_null', key) FROM unnest('{i,n,t,b,u,v}'::text[]) key;

-- A null is not what the empty or the smallest or the largest value is.
INSERT INTO t_null VALUES
	(0, -9223372036854775808, '-Infinity', '', '', '00000000-0000-0000-0000-000000000000', ''),
	(0, 9223372036854775807, 'NaN', repeat(E'\177', 20), '\xffffffffffffffffffff',
	 'ffffffff-ffff-ffff-ffff-ffffffffffff', repeat('1', 80)::varbit);
SELECT check_directions('t_null', key) FROM unnest('{i,n,t,b,u,v}'::text[]) key;

-- Nulls in every place of several keys.
CREATE TABLE t_null_mixed AS
	SELECT nullif(random('a', i, 4), 0) AS a, nullif(random('b', i, 4), 0)::numeric AS b,
		nullif(repeat('common prefix ', random('c', i, 4)::int), '') COLLATE "C" AS c, i AS id
	FROM generate_series(1, 5000) i;
SELECT check_sort(format('a %s, b %s, c %s', x, y, z),
				  format('SELECT * FROM t_null_mixed ORDER BY a %s, b %s, c %s', x, y, z), 'a', 'b', 'c')
FROM unnest('{ASC NULLS FIRST,DESC NULLS LAST}'::text[]) x,
	unnest('{ASC NULLS LAST,DESC NULLS FIRST}'::text[]) y,
	unnest('{ASC NULLS FIRST,DESC NULLS FIRST}'::text[]) z;

-- No rows, one row.
CREATE TABLE t_few (id int, k int8);
SELECT check_directions('t_few');
INSERT INTO t_few VALUES (1, 1);
SELECT check_directions('t_few');
