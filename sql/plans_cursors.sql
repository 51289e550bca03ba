-- Sorted rows read forward, backward and in pieces: cursors, loops, prepared
-- statements.
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_plan, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;

-- Move a cursor over a query about and put down what comes, on either side.
CREATE FUNCTION walk(query text, side text, scroll text, moves text[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	c refcursor;
	r record;
	move text;
	n int;
	result text := '';
BEGIN
	PERFORM set_config('gpusort.enabled', side, true);
	IF scroll = 'SCROLL' THEN
		OPEN c SCROLL FOR EXECUTE query;
	ELSE
		OPEN c NO SCROLL FOR EXECUTE query;
	END IF;
	FOREACH move IN ARRAY moves LOOP
		n := split_part(move, ' ', 2);
		CASE split_part(move, ' ', 1)
			WHEN 'next' THEN FETCH NEXT FROM c INTO r;
			WHEN 'prior' THEN FETCH PRIOR FROM c INTO r;
			WHEN 'first' THEN FETCH FIRST FROM c INTO r;
			WHEN 'last' THEN FETCH LAST FROM c INTO r;
			WHEN 'absolute' THEN FETCH ABSOLUTE n FROM c INTO r;
			WHEN 'relative' THEN FETCH RELATIVE n FROM c INTO r;
			WHEN 'all' THEN MOVE FORWARD ALL FROM c;
			WHEN 'back' THEN MOVE BACKWARD ALL FROM c;
		END CASE;
		result := result || move || ' ' || CASE WHEN FOUND THEN coalesce(r::text, '-') ELSE 'nothing' END || E'\n';
	END LOOP;
	CLOSE c;
	RETURN result;
END $$;

CREATE FUNCTION walks_alike(query text, scroll text, VARIADIC moves text[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	core text := walk(query, 'off', scroll, moves);
	ours text := walk(query, 'on', scroll, moves);
BEGIN
	IF core = ours THEN
		RETURN format('%s moves alike', cardinality(moves));
	END IF;
	RETURN format(E'%s\ninstead of\n%s', ours, core);
END $$;

SELECT walks_alike('SELECT id, a FROM t ORDER BY a, id', 'SCROLL',
	'next 0', 'next 0', 'prior 0', 'prior 0', 'prior 0', 'next 0', 'last 0', 'next 0', 'prior 0', 'prior 0',
	'absolute 500', 'relative -499', 'relative -1', 'next 0', 'absolute -1', 'absolute -1000', 'absolute -1001',
	'absolute 1000', 'absolute 1001', 'prior 0', 'all 0', 'prior 0', 'back 0', 'next 0', 'first 0', 'relative 0',
	'absolute 32', 'next 0', 'next 0', 'prior 0', 'absolute 33', 'prior 0', 'absolute 64', 'next 0', 'absolute 0', 'relative 65');
SELECT walks_alike('SELECT id, a FROM t WHERE id = 5 ORDER BY a, id', 'SCROLL',
	'prior 0', 'next 0', 'prior 0', 'next 0', 'next 0', 'next 0', 'prior 0', 'prior 0', 'last 0', 'first 0');
SELECT walks_alike('SELECT id, a FROM t WHERE id < 0 ORDER BY a, id', 'SCROLL',
	'prior 0', 'next 0', 'prior 0', 'last 0', 'first 0', 'absolute 3', 'relative -2');
SELECT walks_alike('SELECT id, a FROM t ORDER BY a, id LIMIT 10 OFFSET 5', 'SCROLL',
	'last 0', 'prior 0', 'next 0', 'next 0', 'prior 0', 'absolute -10', 'prior 0', 'next 0');
SELECT walks_alike('SELECT id, a FROM t ORDER BY a, id', 'NO SCROLL', 'next 0', 'next 0', 'relative 10', 'absolute 200', 'all 0', 'next 0');
-- the same where the sort has been handed over to PostgreSQL's
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
SELECT walks_alike('SELECT id, a FROM t ORDER BY a, id', 'SCROLL',
	'next 0', 'last 0', 'prior 0', 'absolute 500', 'prior 0', 'relative -499', 'relative -1', 'next 0', 'back 0', 'all 0', 'prior 0');
SET gpusort.inject_fault = none;

-- SQL cursors
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, a, b FROM t ORDER BY a DESC, b, id;
SELECT lines('DECLARE c SCROLL CURSOR FOR SELECT id, a, b FROM t ORDER BY a DESC, b, id');
FETCH 3 FROM c;
FETCH BACKWARD 5 FROM c;
FETCH ABSOLUTE 997 FROM c;
FETCH FORWARD ALL FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 100 FROM c;
FETCH RELATIVE -99 FROM c;
-- rows that come after a change are still those of the snapshot
DELETE FROM t WHERE id % 2 = 0;
FETCH LAST FROM c;
CLOSE c;
DECLARE n NO SCROLL CURSOR FOR SELECT id FROM t ORDER BY b, id;
FETCH 2 FROM n;
SAVEPOINT s;
FETCH BACKWARD 1 FROM n;
ROLLBACK TO s;
FETCH 2 FROM n;
ROLLBACK;

-- WITH HOLD: read to the end at commit
BEGIN;
DECLARE h CURSOR WITH HOLD FOR SELECT id, n FROM t ORDER BY n, id;
FETCH 2 FROM h;
COMMIT;
FETCH 2 FROM h;
CLOSE h;
BEGIN;
DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT id, n FROM t ORDER BY n DESC, id DESC;
COMMIT;
FETCH ABSOLUTE 500 FROM h;
FETCH PRIOR FROM h;
FETCH LAST FROM h;
CLOSE h;

-- WHERE CURRENT OF needs a plan that can tell the row: FOR UPDATE below the sort
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM t ORDER BY a, id FOR UPDATE;
FETCH 1 FROM c;
UPDATE t SET b = 'changed' WHERE CURRENT OF c;
SELECT id, b FROM t WHERE b = 'changed';
ROLLBACK;

-- loops that stop early, nest, and fail
CREATE FUNCTION loop_until(stop int) RETURNS SETOF int LANGUAGE plpgsql AS $$
DECLARE
	i int;
BEGIN
	FOR i IN SELECT id FROM t ORDER BY d DESC, id LOOP
		stop := stop - 1;
		EXIT WHEN stop < 0;
		RETURN NEXT i;
	END LOOP;
END $$;
CREATE FUNCTION nested_loops() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	x record;
	y record;
	total bigint := 0;
BEGIN
	FOR x IN SELECT id FROM t WHERE id <= 30 ORDER BY a, id LOOP
		FOR y IN SELECT id FROM u WHERE id <= 40 ORDER BY b DESC, id LOOP
			total := total * 3 % 1000003 + x.id * y.id;
		END LOOP;
	END LOOP;
	RETURN total;
END $$;
CREATE FUNCTION failing_loop() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n int := 0;
BEGIN
	FOR r IN SELECT 1 / (id - 300) AS x FROM t ORDER BY a, id LOOP
		n := n + 1;
	END LOOP;
	RETURN 'no error';
EXCEPTION WHEN division_by_zero THEN
	RETURN 'caught, ' || (SELECT string_agg(id::text, ' ') FROM (SELECT id FROM t ORDER BY f DESC, id LIMIT 3) s);
END $$;
CREATE FUNCTION sql_sorted(int) RETURNS SETOF int LANGUAGE sql AS 'SELECT id FROM t WHERE a > $1 ORDER BY b, id';
CREATE FUNCTION sql_first(int) RETURNS int LANGUAGE sql AS 'SELECT id FROM t WHERE a > $1 ORDER BY b DESC, id';
SELECT compare('SELECT * FROM loop_until(0)'), compare('SELECT * FROM loop_until(17)'), compare('SELECT * FROM loop_until(2000)');
SELECT compare('SELECT nested_loops()'), compare('SELECT failing_loop()'), failing_loop();
SELECT compare('SELECT * FROM sql_sorted(20)'), compare('SELECT sql_first(i) FROM generate_series(0, 45) i');
SELECT compare('SELECT i, sql_sorted(40 + i) FROM generate_series(1, 9) i');

-- prepared statements, custom and generic plans
PREPARE p (int, bigint) AS SELECT id, a FROM t WHERE id > $1 ORDER BY a, id LIMIT $2;
SET plan_cache_mode = force_generic_plan;
SELECT lines('EXECUTE p (990, 3)');
EXECUTE p (990, 3);
EXECUTE p (0, 2);
EXECUTE p (995, NULL);
SET plan_cache_mode = force_custom_plan;
EXECUTE p (990, 3);
EXECUTE p (995, NULL);
RESET plan_cache_mode;
DEALLOCATE p;
-- a plan made with one setting is still good under another
PREPARE q AS SELECT id FROM t ORDER BY b DESC, id LIMIT 3;
EXECUTE q;
SET gpusort.enabled = off;
EXECUTE q;
RESET gpusort.enabled;
SET gpusort.pool_quota = 0;
SET gpusort.enable_spill = off;
SET work_mem = '64kB';
EXECUTE q;
RESET work_mem;
RESET gpusort.pool_quota;
DEALLOCATE q;
