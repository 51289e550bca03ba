-- Numerics: the first four base-10000 digits are in the key's first word.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;

CREATE TABLE t_numeric (id int, k numeric);
-- Both signs of values at the edges: display scales, borrows, all weights.
INSERT INTO t_numeric SELECT 0, (sign || value)::numeric
FROM unnest('{"",-}'::text[]) sign,
	unnest('{0,0.00,1,1.0,1.000,2,9999,10000,10001,99999999,100000000,0.1,0.10,0.01,0.0001,0.00001,
	0.99999999,1234.5678,256,2.56,0.0256,65536,
	9999999999999999,9999999999999999.0001,9999999999999999.9999,9999999999999999.99999999,
	10000000000000000,10000000000000000.0001,10000000000000000.00000001,
	1234567812345678,1234567812345678.0255,1234567812345678.0256,1234567812345678.02560000,
	1234567812345678.02560001,1234567812345678.02559999,
	12345678901234567890123456789012345678901234567890,
	123456789012345678901234567890123456789012345678900000,
	1e16,1e17,1e100,1e1000,1e1836,1e1840,1.5e1840,1e1844,1e1848,1e1900,1.5e1900,1e5000,9.99e5000,
	1e100000,1e131071,9.99999e131071,
	1e-17,1e-100,1e-1000,1e-1836,1e-1840,1e-1844,1e-1848,1.5e-1848,1e-2000,1.5e-2000,2.0e-10000,
	1e-16383,9e-16383,Infinity,Infinity}'::text[]) value;
INSERT INTO t_numeric VALUES (0, 'NaN'), (0, 'NaN'), (0, NULL), (0, NULL);
SELECT check_directions('t_numeric');

-- What is usual: prices, counts, averages.
CREATE TABLE t_numeric_usual (id int, k numeric, price numeric(12, 2));
INSERT INTO t_numeric_usual
	SELECT i, (random('n', i) - 500000000)::numeric / (1 + random('d', i, 1000)),
		(random('price', i, 2000000) - 1000000) / 100.0
	FROM generate_series(1, 5000) i;
INSERT INTO t_numeric_usual SELECT i, random('few', i, 100), NULL FROM generate_series(1, 1000) i;
SELECT check_directions('t_numeric_usual');
SELECT check_directions('t_numeric_usual', 'price');

-- Long ones with long common beginnings, and thousands of digits, TOASTed.
CREATE TABLE t_numeric_long (id int, k numeric);
INSERT INTO t_numeric_long
	SELECT i, (CASE i % 2 WHEN 0 THEN '-' ELSE '' END || '12345678901234567890' ||
			   CASE i % 3 WHEN 0 THEN '' ELSE repeat('0', 40) END || '.' || random('a', i, 30) ||
			   CASE i % 5 WHEN 0 THEN '' ELSE '0000000' || random('b', i, 12) END)::numeric
	FROM generate_series(1, 4000) i;
INSERT INTO t_numeric_long
	SELECT i, (CASE i % 2 WHEN 0 THEN '-' ELSE '' END || repeat('1234567890', 900 + (i % 3)) ||
			   random('c', i, 100))::numeric
	FROM generate_series(1, 200) i;
INSERT INTO t_numeric_long
	SELECT i, (CASE i % 2 WHEN 0 THEN '-' ELSE '' END || '1.' || random('m', i, 100) ||
			   'e' || random('e', i, 9000) - 4500)::numeric
	FROM generate_series(1, 2000) i;
SELECT check_directions('t_numeric_long');
