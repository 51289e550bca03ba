-- ORDER BY: when GpuSort takes a sort, when not, and what EXPLAIN shows of it.
-- Also the helpers of the other plans_* tests.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_plan;

CREATE FUNCTION gpusort_plan.lines(query text) RETURNS SETOF text LANGUAGE sql AS
$$ SELECT gpusort_test.plan_lines(query) $$;

-- A query's rows in the order in which they come.
CREATE FUNCTION gpusort_plan.rows(query text) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
	r record;
	result text[] := '{}';
BEGIN
	FOR r IN EXECUTE query LOOP
		result := result || r::text;
	END LOOP;
	RETURN result;
END $$;

-- Run a query, whose order leaves no choice, with PostgreSQL's sorts and with
-- ours, under further settings ('name=value'): the rows must be the same, at the
-- same places, and so must be the sort keys that EXPLAIN shows if both plans are
-- otherwise the same.  Tells whose sorts they were, not how many: that differs from
-- version to version.
CREATE FUNCTION gpusort_plan.compare(query text, VARIADIC settings text[] DEFAULT '{}')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	setting text;
	core_plan text[];
	our_plan text[];
	core_rows text[];
	our_rows text[];
	ours int;
	left_alone int;
	report text;
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	PERFORM set_config('gpusort.enabled', 'off', true);
	core_plan := ARRAY(SELECT gpusort_plan.lines(query));
	core_rows := gpusort_plan.rows(query);
	PERFORM set_config('gpusort.enabled', 'on', true);
	our_plan := ARRAY(SELECT gpusort_plan.lines(query));
	our_rows := gpusort_plan.rows(query);

	SELECT count(*) FILTER (WHERE line ~ '^\s*(->  )?Custom Scan \(GpuSort\)'),
		count(*) FILTER (WHERE line ~ '^\s*(->  )?Sort$')
	INTO ours, left_alone FROM unnest(our_plan) line;
	report := format('%s rows, ', cardinality(our_rows)) ||
		CASE WHEN ours + left_alone = 0 THEN 'no sort'
			WHEN ours = 0 THEN 'PostgreSQL''s sort'
			WHEN left_alone = 0 THEN 'our sort'
			ELSE format('%s sorts of %s', ours, ours + left_alone) END;

	IF our_rows <> core_rows THEN
		SELECT format('WRONG, %s: row %s is %s instead of %s', report, i, our_rows[i], core_rows[i])
		INTO report
		FROM generate_series(1, greatest(cardinality(our_rows), cardinality(core_rows))) i
		WHERE our_rows[i] IS DISTINCT FROM core_rows[i] LIMIT 1;
	ELSIF ARRAY(SELECT replace(line, 'Custom Scan (GpuSort)', 'Sort') FROM unnest(our_plan) line
				WHERE line !~ 'Sort Key') =
		ARRAY(SELECT line FROM unnest(core_plan) line WHERE line !~ 'Sort Key')
		AND ARRAY(SELECT line FROM unnest(our_plan) line WHERE line ~ 'Sort Key') <>
		ARRAY(SELECT line FROM unnest(core_plan) line WHERE line ~ 'Sort Key')
	THEN
		report := format(E'OTHER KEYS\n%s\ninstead of\n%s', array_to_string(our_plan, E'\n'),
						 array_to_string(core_plan, E'\n'));
	END IF;
	RETURN report;
END $$;

CREATE TABLE gpusort_plan.t (id int, a int, b text COLLATE "C", n numeric, d date, f float8, arr int[]);
INSERT INTO gpusort_plan.t
SELECT i, nullif(i * 7919 % 50, 7), nullif('text ' || i * 104729 % 30, 'text 3'), i * 31 % 100 / 10.0,
	date '2020-01-01' + i * 17 % 400, sqrt(i * 37 % 90), ARRAY[i % 3, i % 5]
FROM generate_series(1, 1000) i;
CREATE TABLE gpusort_plan.u (id int, a int, b text COLLATE "C", n numeric);
INSERT INTO gpusort_plan.u
SELECT i, nullif(i * 6007 % 60, 7), 'text ' || i * 7 % 40, i % 7
FROM generate_series(1, 500) i;
ANALYZE gpusort_plan.t, gpusort_plan.u;
SET search_path = gpusort_plan, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;

-- ORDER BY
SELECT lines('SELECT * FROM t ORDER BY a');
SELECT lines('SELECT id FROM t ORDER BY a DESC NULLS LAST, b COLLATE "POSIX", d NULLS FIRST');
SELECT line FROM lines('SELECT t.id, u.id FROM t, u WHERE t.id = u.id + 0 ORDER BY t.a + u.a, t.b DESC') line LIMIT 2;
SELECT lines('SELECT id AS x, -id AS y FROM t ORDER BY 2, a IS NULL DESC');
SELECT compare('SELECT * FROM t ORDER BY a, id');
SELECT compare('SELECT id FROM t ORDER BY a DESC, b NULLS FIRST, id DESC');
SELECT compare('SELECT id, a FROM t ORDER BY a DESC NULLS LAST, b COLLATE "POSIX", d NULLS FIRST, id');
SELECT compare('SELECT id FROM t ORDER BY b USING >, a USING <, id');
SELECT compare('SELECT id FROM t ORDER BY b USING ~<~, id USING >');
SELECT compare('SELECT id FROM t ORDER BY b USING ~>~ NULLS LAST, a USING > NULLS LAST, id');
SELECT compare('SELECT id FROM t ORDER BY upper(b), round(n), a % 3 DESC, id');
SELECT compare('SELECT id FROM t ORDER BY CASE WHEN id % 2 = 0 THEN b END NULLS FIRST, n DESC, f, id');
SELECT compare('SELECT b, lower(b COLLATE "POSIX") FROM t ORDER BY lower(b COLLATE "POSIX") DESC, id');
SELECT compare('SELECT t.*, t FROM t ORDER BY f DESC, d, id');
SELECT compare('SELECT id, generate_series(1, id % 3) AS g FROM t ORDER BY a, g, id');
SELECT compare('SELECT count(*), a FROM t GROUP BY a ORDER BY count(*) DESC, a NULLS FIRST');
SELECT compare('SELECT g FROM generate_series(1, 1000) g ORDER BY g % 10, -g');
SELECT compare('VALUES (3, 1), (2, 2), (NULL, 3), (1, 4) ORDER BY 1 DESC');
-- the sort column is not put out, and nothing else is
SELECT lines('SELECT FROM t ORDER BY a');
SELECT count(*) FROM (SELECT FROM t ORDER BY a OFFSET 0) s;

-- settings that keep it out
SELECT compare('SELECT * FROM t ORDER BY a, id', 'gpusort.enable_order_by=off');
BEGIN;
SET LOCAL gpusort.enabled = off;
SELECT lines('SELECT * FROM t ORDER BY a');
SET LOCAL gpusort.enabled = on;
SET LOCAL gpusort.force = off;
-- 1000 rows are fewer than min_rows
SELECT lines('SELECT * FROM t ORDER BY a');
SET LOCAL gpusort.min_rows = 1001;
SELECT lines('SELECT * FROM t ORDER BY a');
SET LOCAL gpusort.min_rows = 1000;
SET LOCAL gpusort.cost_startup = 0;
SELECT lines('SELECT * FROM t ORDER BY a');
-- costs
SET LOCAL gpusort.cost_row = 1000;
SELECT lines('SELECT * FROM t ORDER BY a');
RESET gpusort.cost_row;
-- below a LIMIT, small or large
SELECT lines('SELECT * FROM t ORDER BY a LIMIT 10');
SELECT lines('SELECT * FROM t ORDER BY a LIMIT 10 OFFSET 20');
SELECT lines('SELECT * FROM t ORDER BY a LIMIT 900');
SELECT lines('SELECT * FROM t ORDER BY a OFFSET 10');
SELECT lines('SELECT * FROM t ORDER BY a LIMIT ALL');
-- a limit that only execution will tell
SELECT lines('SELECT * FROM t ORDER BY a LIMIT (SELECT 1)');
-- rows that are estimated not to fit, nor to be fetched
SET LOCAL gpusort.late_rows = off;
SET LOCAL gpusort.pool_quota = 0;
SET LOCAL gpusort.enable_spill = off;
SET LOCAL work_mem = '64kB';
SET LOCAL hash_mem_multiplier = 1;
SELECT lines('SELECT * FROM t ORDER BY a');
COMMIT;

-- forced, LIMIT is taken too
SELECT compare('SELECT * FROM t ORDER BY a, id LIMIT 10');
SELECT compare('SELECT * FROM t ORDER BY a, id LIMIT 10 OFFSET 995');
SELECT compare('SELECT * FROM t ORDER BY a, id OFFSET 2000');
SELECT compare('SELECT * FROM t ORDER BY a, id LIMIT 0');
SELECT compare('SELECT * FROM t ORDER BY a, id LIMIT NULL OFFSET NULL');
SELECT compare('SELECT a FROM t ORDER BY a FETCH FIRST 25 ROWS WITH TIES');
SELECT compare('SELECT id FROM t ORDER BY a, id LIMIT (SELECT 17) OFFSET (SELECT 3)');

-- left to PostgreSQL: keys without an encoding
CREATE TYPE pair AS (x int, y text);
CREATE FUNCTION abs_cmp(int, int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT btint4cmp(abs($1), abs($2))';
CREATE FUNCTION abs_lt(int, int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) < abs($2)';
CREATE FUNCTION abs_eq(int, int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) = abs($2)';
CREATE FUNCTION abs_gt(int, int) RETURNS bool IMMUTABLE LANGUAGE sql AS 'SELECT abs($1) > abs($2)';
CREATE OPERATOR |<| (FUNCTION = abs_lt, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR |=| (FUNCTION = abs_eq, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR |>| (FUNCTION = abs_gt, LEFTARG = int, RIGHTARG = int);
CREATE OPERATOR CLASS abs_ops FOR TYPE int USING btree AS
	OPERATOR 1 |<|, OPERATOR 3 |=|, OPERATOR 5 |>|, FUNCTION 1 abs_cmp(int, int);
SELECT compare('SELECT id, arr FROM t ORDER BY arr, id');
SELECT compare('SELECT id FROM t ORDER BY a, arr, id');
SELECT compare('SELECT id FROM t ORDER BY to_jsonb(a), id');
SELECT compare('SELECT id FROM t ORDER BY ROW(a, b), id');
SELECT compare('SELECT id FROM t ORDER BY ROW(a, b)::pair DESC, id');
SELECT compare('SELECT id FROM t ORDER BY t DESC');
SELECT compare('SELECT id FROM t ORDER BY int4range(a, a + 5), id');
SELECT compare('SELECT id FROM t ORDER BY (a - 25) USING |<|, id');
SELECT compare('SELECT id FROM t ORDER BY (a - 25) USING |>|, id');
-- such values as payload are no obstacle
SELECT compare('SELECT arr, to_jsonb(a), ROW(a, b) FROM t ORDER BY b, id');

-- sorted already, or in part: no full sort is needed
CREATE TABLE indexed AS SELECT * FROM t;
CREATE INDEX ON indexed (a);
CREATE UNIQUE INDEX ON indexed (id);
ANALYZE indexed;
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;
SELECT lines('SELECT * FROM indexed ORDER BY id');
SELECT count(*) FILTER (WHERE line ~ 'Incremental Sort') AS incremental,
	count(*) FILTER (WHERE line ~ 'Sort Key: a, b' OR line ~ 'Presorted Key: a') AS keys
FROM lines('SELECT * FROM indexed ORDER BY a, b LIMIT 20') line;
ROLLBACK;

-- ties come in the order in which they were read, or any other: all are there
SELECT count(*), count(DISTINCT id), bool_and(a >= before) FROM
	(SELECT id, a, lag(a) OVER () AS before FROM (SELECT id, a FROM t WHERE a IS NOT NULL ORDER BY a OFFSET 0) s) x;
