-- Floats: -0 = 0, every NaN equal and last, subnormal numbers, infinities.
LOAD 'gpusort';
SET search_path = gpusort_test, public;
SET client_min_messages = warning;
SET extra_float_digits = 1;

CREATE TABLE t_float4 (id int, k float4);
INSERT INTO t_float4 SELECT 0, unnest('{0,-0,0,-0,1,-1,NaN,NaN,Infinity,-Infinity,1e-45,-1e-45,
	1.17549435e-38,3.4028235e38,-3.4028235e38,NULL,NULL}'::float4[]);
INSERT INTO t_float4 SELECT 0, -k FROM t_float4 WHERE k = 'NaN';
INSERT INTO t_float4 SELECT i, (random('float4', i) - 500000000) * power(10::float8, random('exp', i, 60) - 40)
	FROM generate_series(1, 3000) i;
SELECT check_directions('t_float4');

CREATE TABLE t_float8 (id int, k float8);
INSERT INTO t_float8 SELECT 0, unnest('{0,-0,0,-0,1,-1,1.0000000000000002,0.9999999999999999,NaN,NaN,
	Infinity,-Infinity,5e-324,-5e-324,2.2250738585072014e-308,1.7976931348623157e308,
	-1.7976931348623157e308,NULL,NULL}'::float8[]);
INSERT INTO t_float8 SELECT i, (random('float8', i) - 500000000) * power(10::float8, random('exp', i, 590) - 300)
	FROM generate_series(1, 3000) i;
INSERT INTO t_float8 SELECT i, random('halves', i, 20) / 2.0 - 5 FROM generate_series(1, 1000) i;
INSERT INTO t_float8 SELECT 0, -k FROM t_float8 WHERE k = 'NaN';
SELECT check_directions('t_float8');
SELECT check_directions('t_float8', '-k');
