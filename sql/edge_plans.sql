-- Plans in which a sort is easily got wrong.
LOAD 'gpusort';
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;

-- expressions that look alike but are evaluated each on its own
CREATE TEMP TABLE t AS SELECT i FROM generate_series(1, 5000) i;
SELECT count(*) FILTER (WHERE r1 = r2) AS equal_pairs
FROM (SELECT random() r1, random() r2 FROM t ORDER BY 1, 2 OFFSET 0) s;

-- ... also if gpusort is switched off while the query is being planned
CREATE FUNCTION pg_temp.switch_off() RETURNS int IMMUTABLE LANGUAGE plpgsql AS
$$BEGIN PERFORM set_config('gpusort.enabled', 'off', false); RETURN 1; END$$;
SELECT count(*) FILTER (WHERE r1 = r2) AS equal_pairs, sum(one)
FROM (SELECT random() r1, random() r2 FROM t ORDER BY 1, 2 OFFSET 0) s,
	 (SELECT pg_temp.switch_off() AS one OFFSET 0) o;
RESET gpusort.enabled;

-- a plan that fails with gpusort off, while another one is made
CREATE FUNCTION pg_temp.fail_to_plan() RETURNS int IMMUTABLE LANGUAGE plpgsql SET gpusort.enabled = off AS
$$BEGIN EXECUTE 'WITH w AS MATERIALIZED (SELECT 1) SELECT 1 / 0 FROM w'; EXCEPTION WHEN division_by_zero THEN RETURN 1; END$$;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (i % 7) i FROM t WHERE i > pg_temp.fail_to_plan();

-- constants among the columns
SELECT * FROM (SELECT i, 5 AS five, NULL::text AS nothing, i + 1 FROM t ORDER BY i + 1 DESC OFFSET 0) s LIMIT 2;

-- a limit outside the query that sorts: few rows by a collation are left to the bounded sort
RESET gpusort.force;
SET work_mem = '64MB';
CREATE TEMP TABLE u AS SELECT i, (i * 7919) % 100003 AS k FROM generate_series(1, 50000) i;
ANALYZE u;
CREATE TEMP VIEW sorted AS SELECT * FROM u ORDER BY k;
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM sorted LIMIT 10;
SELECT * FROM sorted LIMIT 3;
CREATE TEMP VIEW collated AS SELECT * FROM u ORDER BY k::text COLLATE "en-x-icu";
EXPLAIN (COSTS OFF, VERBOSE) SELECT * FROM collated LIMIT 10;
SELECT * FROM collated LIMIT 3;
EXPLAIN (COSTS OFF) SELECT * FROM sorted LIMIT 40000;
EXPLAIN (COSTS OFF) SELECT * FROM sorted;

-- the private memory that a sort may have, it can use: 7.1 of 8 MB, no hand-over
RESET work_mem;
SET gpusort.pool_quota = 0;
CREATE TEMP TABLE v AS
SELECT md5(i::text)::uuid a, md5((i + 1)::text)::uuid b, md5((i + 2)::text)::uuid c, md5((i + 3)::text)::uuid d
FROM generate_series(1, 44000) i;
ANALYZE v;
CREATE FUNCTION pg_temp.methods(query text) RETURNS SETOF text LANGUAGE plpgsql AS
$$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query
	LOOP
		IF line ~ '(Sort Method|Handed Over)' THEN
			RETURN NEXT regexp_replace(trim(line), '[0-9]+kB', 'NkB');
		END IF;
	END LOOP;
END
$$;
SELECT * FROM pg_temp.methods('SELECT * FROM v ORDER BY a, b, c, d');
RESET gpusort.pool_quota;

-- interrupts that do not end the query do not keep it from ending by itself
SET gpusort.force = on;
SET work_mem = '64MB';
SET client_connection_check_interval = '1ms';
SET statement_timeout = '60s';
SELECT count(*) FROM (SELECT hashint8(i) FROM generate_series(1, 500000) i ORDER BY 1 OFFSET 0) s;
RESET client_connection_check_interval;
RESET statement_timeout;

-- more columns than a row can have
DO $$
BEGIN
	FOR t IN 1..3 LOOP
		EXECUTE (SELECT format('CREATE TEMP TABLE wide%s AS SELECT g AS k, %s FROM generate_series(1, 50) g', t,
			string_agg(format('(%s + g)::int2 AS c%s', i, i), ', ')) FROM generate_series(1, 750) i);
	END LOOP;
	EXECUTE (SELECT format('CREATE TEMP TABLE r AS SELECT row_number() OVER (ORDER BY a.k) AS rn, %s
		FROM wide1 a JOIN wide2 b ON a.k = b.k JOIN wide3 c ON c.k = a.k',
		string_agg(format('a.c%s::int8 + b.c%s + c.c%s AS d%s', i, i, i, i), ', ')) FROM generate_series(1, 750) i);
	RAISE NOTICE 'not reached';
EXCEPTION WHEN too_many_columns THEN
	RAISE NOTICE '%', SQLERRM;
END
$$;
