-- What the other tests use: run a query with and without gpusort and compare.
SET client_min_messages = warning;
CREATE SCHEMA gpusort_test;

-- The lines of a query's plan, without costs.
CREATE FUNCTION gpusort_test.plan_lines(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || query;
END $$;

-- Store a query's rows in a table, numbered in the order they come in; says what
-- is wrong if they were not sorted by the plan node wanted.
CREATE FUNCTION gpusort_test.store(result text, query text, node text, other_node text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	numbered text := format('SELECT row_number() OVER () AS pos, q::text AS whole_row, q.* FROM (%s) q',
							query);
	lines text[];
BEGIN
	SELECT array_agg(line) INTO lines FROM gpusort_test.plan_lines(numbered) line;
	IF NOT EXISTS (SELECT FROM unnest(lines) line WHERE line ~ ('^ *(->)? *' || node || '$'))
		OR EXISTS (SELECT FROM unnest(lines) line WHERE line ~ ('^ *(->)? *' || other_node || '$'))
	THEN
		RETURN format(E'planned without %s:\n%s', node, array_to_string(lines, E'\n'));
	END IF;
	EXECUTE format('DROP TABLE IF EXISTS %I', result);
	EXECUTE format('CREATE TEMP TABLE %I AS %s', result, numbered);
	RETURN NULL;
END $$;

-- Run a query with PostgreSQL's sort and with ours.  At every position, the sort
-- keys (output columns of the query) must be equal by their types' "="; and the
-- same rows must come out, whatever their order among equal keys.  One line
-- of result if all is well, else what differs.
CREATE FUNCTION gpusort_test.check_sort(label text, query text, VARIADIC keys text[])
RETURNS text LANGUAGE plpgsql
SET client_min_messages = warning
AS $$
DECLARE
	problem text;
	differs text := (SELECT string_agg(format('a.%1$I IS DISTINCT FROM b.%1$I', key), ' OR ')
					 FROM unnest(keys) key);
	ours text := (SELECT string_agg(format('a.%I', key), ', ') FROM unnest(keys) key);
	theirs text := (SELECT string_agg(format('b.%I', key), ', ') FROM unnest(keys) key);
	rows bigint;
BEGIN
	PERFORM set_config('gpusort.enabled', 'off', false);
	problem := gpusort_test.store('postgres_result', query, 'Sort', 'Custom Scan \(GpuSort\)');

	PERFORM set_config('gpusort.enabled', 'on', false);
	PERFORM set_config('gpusort.force', 'on', false);
	PERFORM set_config('gpusort.verify', 'off', false);
	problem := coalesce(problem,
						gpusort_test.store('gpusort_result', query, 'Custom Scan \(GpuSort\)', 'Sort'));

	PERFORM set_config('gpusort.enabled', 'off', false);
	IF problem IS NULL THEN
		EXECUTE format($sql$
			SELECT string_agg(format('position %%s: %%s instead of %%s', pos, ours, theirs), E'\n')
			FROM (SELECT pos, ROW(%2$s) AS ours, ROW(%3$s) AS theirs
				  FROM gpusort_result a FULL JOIN postgres_result b USING (pos)
				  WHERE %1$s ORDER BY pos LIMIT 3) d
			$sql$, differs, ours, theirs) INTO problem;
	END IF;
	IF problem IS NULL THEN
		WITH ours AS (SELECT whole_row FROM gpusort_result),
			 theirs AS (SELECT whole_row FROM postgres_result)
		SELECT string_agg(difference, E'\n') INTO problem
		FROM ((SELECT 'too many: ' || whole_row AS difference
			   FROM (SELECT * FROM ours EXCEPT ALL SELECT * FROM theirs) d
			   ORDER BY whole_row LIMIT 3)
			  UNION ALL
			  (SELECT 'missing: ' || whole_row
			   FROM (SELECT * FROM theirs EXCEPT ALL SELECT * FROM ours) d
			   ORDER BY whole_row LIMIT 3)) d;
	END IF;
	RESET gpusort.enabled;
	RESET gpusort.force;

	IF problem IS NOT NULL THEN
		RETURN format(E'%s: FAILED\n%s', label, problem);
	END IF;
	SELECT count(*) INTO rows FROM gpusort_result;
	RETURN format('%s: ok %s rows', label, rows);
END $$;

-- All directions of sorting a table by an expression, by the operators of its
-- type's default class or by two others.  Alone, the key's order is tested; with
-- a second key that differs between rows that look different, so is that
-- equal values have equal keys (0 and -0, 1.0 and 1.00).
CREATE FUNCTION gpusort_test.check_directions(source text, key text DEFAULT 'k',
											  less text DEFAULT NULL, greater text DEFAULT NULL)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	direction text;
	nulls text;
BEGIN
	FOREACH direction IN ARRAY ARRAY[coalesce('USING ' || less, 'ASC'),
									 coalesce('USING ' || greater, 'DESC')] LOOP
		FOREACH nulls IN ARRAY ARRAY['NULLS FIRST', 'NULLS LAST'] LOOP
			RETURN NEXT gpusort_test.check_sort(
				format('%s by %s %s %s', source, key, direction, nulls),
				format('SELECT *, %s AS sort_key FROM %s ORDER BY sort_key %s %s', key, source,
					   direction, nulls),
				'sort_key');
		END LOOP;
		RETURN NEXT gpusort_test.check_sort(
			format('%s by %s %s and another key', source, key, direction),
			format('SELECT *, %1$s AS sort_key, hashtext(%2$s::text) AS tie FROM %2$s ORDER BY sort_key %3$s, tie',
				   key, source, direction),
			'sort_key', 'tie');
	END LOOP;
END $$;

-- A pseudo-random number from 0 to below bound that depends on nothing but its
-- arguments.
CREATE FUNCTION gpusort_test.random(seed text, i int, bound bigint DEFAULT 1000000000)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || substr(md5(seed || i), 1, 15))::bit(60)::bigint % bound
$$;

-- The helpers themselves: a sort that is wrong must not pass.
LOAD 'gpusort';
CREATE TABLE gpusort_test.wrong (k int, id int);
INSERT INTO gpusort_test.wrong SELECT i % 10, i FROM generate_series(1, 1000) i;
SELECT gpusort_test.check_sort('right', 'SELECT k FROM gpusort_test.wrong ORDER BY k', 'k');
SELECT split_part(gpusort_test.check_sort('not sorted', 'SELECT k FROM gpusort_test.wrong', 'k'),
				  E'\n', 2);
SELECT gpusort_test.check_sort('wrong order', $$
	SELECT k FROM gpusort_test.wrong
	ORDER BY k * CASE current_setting('gpusort.enabled') WHEN 'on' THEN 1 ELSE -1 END$$, 'k');
SELECT gpusort_test.check_sort('wrong rows', $$
	SELECT k, id + CASE current_setting('gpusort.enabled') WHEN 'on' THEN 1 ELSE 0 END AS v
	FROM gpusort_test.wrong ORDER BY k$$, 'k');
SELECT gpusort_test.check_sort('lost row', $$
	SELECT k FROM gpusort_test.wrong
	WHERE current_setting('gpusort.enabled') = 'off' OR id <> 1000 ORDER BY k$$, 'k');

-- What an index consists of: links and statistics of each page, and its items.
CREATE EXTENSION IF NOT EXISTS gpusort;
CREATE EXTENSION amcheck;
CREATE EXTENSION pageinspect;
CREATE FUNCTION gpusort_test.index_pages(index regclass)
RETURNS TABLE (block int8, stats text, items text)
LANGUAGE sql AS $$
	SELECT block,
		(SELECT format('%s %s %s', s::text, h.lower, h.flags)
		 FROM bt_page_stats(index::text, block) s, page_header(get_raw_page(index::text, block::int)) h),
		(SELECT md5(string_agg(concat_ws(' ', i.ctid, i.itemlen, i.nulls, i.vars, i.data, i.tids),
							   E'\n' ORDER BY i.itemoffset))
		 FROM bt_page_items(index::text, block) i)
	FROM generate_series(1, pg_relation_size(index) / current_setting('block_size')::int - 1) block
$$;

-- In what way our index differs from PostgreSQL's, block by block; null if it
-- does not.
CREATE FUNCTION gpusort_test.index_differences(ours regclass, theirs regclass)
RETURNS text LANGUAGE sql AS $$
	SELECT string_agg(difference, E'\n')
	FROM ((SELECT format('block %s: %s %s instead of %s %s', block, a.stats, a.items, b.stats, b.items) AS difference
		   FROM gpusort_test.index_pages(ours) a
		   FULL JOIN gpusort_test.index_pages(theirs) b USING (block)
		   WHERE (a.stats, a.items) IS DISTINCT FROM (b.stats, b.items) ORDER BY block LIMIT 3)
		  UNION ALL
		  SELECT format('metapage: %s instead of %s', a, b)
		  FROM bt_metap(ours::text) a, bt_metap(theirs::text) b
		  WHERE a IS DISTINCT FROM b
		  UNION ALL
		  SELECT format('%s pages of %s rows instead of %s of %s', a.relpages, a.reltuples, b.relpages, b.reltuples)
		  FROM pg_class a, pg_class b
		  WHERE a.oid = ours AND b.oid = theirs AND (a.relpages, a.reltuples) <> (b.relpages, b.reltuples)) d
$$;

-- Create an index with PostgreSQL and with gpusort.  The definition has %s in
-- place of the name.  Ours must be built by us, be valid, and consist of the same
-- pages.  One line of result if all is well, else what is wrong.
CREATE FUNCTION gpusort_test.check_index(definition text)
RETURNS text LANGUAGE plpgsql
SET client_min_messages = warning
AS $$
DECLARE
	built int8;
	problem text;
	pages int8;
BEGIN
	PERFORM set_config('gpusort.enabled', 'off', false);
	EXECUTE format(definition, 'postgres_index');
	PERFORM set_config('gpusort.enabled', 'on', false);
	PERFORM set_config('gpusort.force', 'on', false);
	built := (gpusort_index_builds()).built;
	EXECUTE format(definition, 'gpusort_index');
	PERFORM set_config('gpusort.force', 'off', false);
	problem := gpusort_test.index_differences('gpusort_index', 'postgres_index');
	IF (gpusort_index_builds()).built <> built + 1 THEN
		problem := concat_ws(E'\n', 'not built by gpusort', problem);
	END IF;
	PERFORM bt_index_parent_check('gpusort_index', true, true);
	pages := pg_relation_size('gpusort_index') / current_setting('block_size')::int;
	DROP INDEX postgres_index, gpusort_index;
	RETURN CASE WHEN problem IS NULL THEN format('%s: ok %s pages', replace(definition, '%s ', ''), pages)
		ELSE format(E'%s: FAILED\n%s', replace(definition, '%s ', ''), problem) END;
END $$;
