-- What the other tests use: run a query with and without gpusort and compare.
SET client_min_messages = warning;
CREATE SCHEMA gpusort_test;

-- Where the server has no ICU, libc stands in for what most tests use of it.
DO $$
DECLARE
	name text;
BEGIN
	FOREACH name IN ARRAY ARRAY['en-x-icu', 'und-x-icu'] LOOP
		CONTINUE WHEN EXISTS (SELECT FROM pg_collation WHERE collname = name);
		EXECUTE format('CREATE COLLATION pg_catalog.%I (provider = libc, locale = %L)', name,
			(SELECT collcollate FROM pg_collation WHERE collname IN ('en_US.utf8', 'C.utf8') ORDER BY collname = 'en_US.utf8' DESC LIMIT 1));
	END LOOP;
END $$;

-- Nodes of a plan that are shown to cost less than a node below them that is a sort of ours, or above one; but for Limits.
CREATE FUNCTION gpusort_test.costs_amiss(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN QUERY WITH RECURSIVE nodes(node) AS (
		SELECT plan -> 0 -> 'Plan' UNION ALL SELECT child FROM nodes, json_array_elements(node -> 'Plans') child)
	SELECT format('%s: %s above %s of %s', node ->> 'Node Type', node ->> 'Total Cost', child ->> 'Total Cost', child ->> 'Node Type')
	FROM nodes, json_array_elements(node -> 'Plans') child
	WHERE (node ->> 'Total Cost')::numeric < (child ->> 'Total Cost')::numeric AND node ->> 'Node Type' <> 'Limit'
		AND child::text ~ '"Custom Plan Provider": "GpuSort( Shared)?"' AND child ->> 'Parent Relationship' NOT IN ('InitPlan', 'SubPlan');
END $$;

-- The lines of a query's plan, without costs, what only some versions print, and what
-- depends on the machine.
CREATE FUNCTION gpusort_test.plan_lines(query text, options text DEFAULT 'COSTS OFF')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		CONTINUE WHEN line ~ '^\s*(Disabled|Window|Storage|Index Searches|Params Evaluated|Query Identifier|Buffers|Planning|Planning Time|Execution Time):';
		line := regexp_replace(line, ' \(returns \$\d+\)', '');
		line := regexp_replace(line, ' OVER (\(\?\)|w\d+)', ' OVER w', 'g');
		line := regexp_replace(line, '\(InitPlan \w+\)\.col1', '$1');
		line := regexp_replace(line, '(InitPlan|SubPlan) \w+', '\1');
		line := replace(line, '"*SELECT*"', 'unnamed_subquery');
		line := regexp_replace(line, '\(actual rows=(\d+)(\.\d+)? loops', '(actual rows=\1 loops');
		RETURN NEXT regexp_replace(line, '(Memory|Pool): \d+kB', '\1: NkB', 'g');
	END LOOP;
	RETURN QUERY SELECT gpusort_test.costs_amiss(query);
END $$;

-- How many of them match.
CREATE FUNCTION gpusort_test.matches(query text, pattern text) RETURNS int8 LANGUAGE sql AS
$$ SELECT count(*) FROM gpusort_test.plan_lines(query) line WHERE line ~ pattern $$;

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
	IF problem IS NULL AND (SELECT (count(*), sum(hashtextextended(whole_row, 0))) FROM gpusort_result)
		IS DISTINCT FROM (SELECT (count(*), sum(hashtextextended(whole_row, 0))) FROM postgres_result)
	THEN
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

-- Execute a query; our first node of this name in its plan, as EXPLAIN shows it.
CREATE FUNCTION gpusort_test.executed(query text, name text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, VERBOSE, BUFFERS, COSTS OFF, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == $name)', jsonb_build_object('name', name));
END $$;

-- Run a query with PostgreSQL's sort and with ours, under further settings
-- ('name=value'): the same rows must come, at the same places if they are ordered, which
-- must then leave no choice; and ours by a plan that all patterns match.  The rows are stored
-- in tables, so that the plan is the one shown, and has workers: loops have none.
CREATE FUNCTION gpusort_test.check_rows(query text, ordered bool, patterns text[], settings text[])
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	place text := CASE WHEN ordered THEN 'row_number() OVER ()' ELSE '0::int8' END;
	stored text := format('SELECT %s AS place, whole_row::text FROM %%I whole_row', place);
	ours text := format(stored, 'gpusort_rows');
	theirs text := format(stored, 'postgres_rows');
	digest text := format('SELECT concat_ws('' '', count(*), sum(%%s)) FROM (SELECT %s AS place, whole_row FROM %%I whole_row) s', place);
	hash text := 'hash_array_extended(ARRAY[record_send(whole_row)], place)';
	before text[] := ARRAY(SELECT current_setting(split_part(s, '=', 1)) FROM unnest(settings) s);
	our_digest text;
	their_digest text;
	plan text;
	problem text;
BEGIN
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), split_part(settings[i], '=', 2), true);
	END LOOP;
	SET LOCAL gpusort.enabled = on;
	plan := (SELECT string_agg(line, E'\n') FROM gpusort_test.plan_lines(query) line);
	EXECUTE 'CREATE TEMP TABLE gpusort_rows AS ' || query;
	SET LOCAL gpusort.enabled = off;
	EXECUTE 'CREATE TEMP TABLE postgres_rows AS ' || query;
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), before[i], true);
	END LOOP;

	IF EXISTS (SELECT FROM pg_attribute a JOIN pg_type t ON t.oid = atttypid
		WHERE attrelid = 'gpusort_rows'::regclass AND attnum > 0 AND typsend = 0) THEN
		hash := 'hashtextextended(whole_row::text, place)';
	END IF;
	EXECUTE format(digest, hash, 'gpusort_rows') INTO our_digest;
	EXECUTE format(digest, hash, 'postgres_rows') INTO their_digest;
	IF EXISTS (SELECT FROM unnest(patterns) pattern WHERE plan !~ pattern) THEN
		problem := E'planned otherwise:\n' || plan;
	ELSIF our_digest IS DISTINCT FROM their_digest THEN
		EXECUTE format($sql$
			SELECT string_agg(difference, ', ')
			FROM ((SELECT 'too many: ' || d::text AS difference FROM (%1$s EXCEPT ALL %2$s ORDER BY 1, 2 LIMIT 1) d)
				  UNION ALL
				  (SELECT 'missing: ' || d::text FROM (%2$s EXCEPT ALL %1$s ORDER BY 1, 2 LIMIT 1) d)) d
			$sql$, ours, theirs) INTO problem;
	END IF;
	DROP TABLE gpusort_rows, postgres_rows;
	SET LOCAL gpusort.enabled = on;
	RETURN format('%s rows, %s', split_part(our_digest, ' ', 1), coalesce(problem, 'same'));
END $$;

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
SELECT gpusort_test.check_rows(query, ordered, patterns, ARRAY['gpusort.force=on'])
FROM (VALUES ('SELECT id FROM gpusort_test.wrong ORDER BY k, id', true, ARRAY['^Custom', 'Sort Key: k, id']),
	('SELECT id FROM gpusort_test.wrong ORDER BY k, id', true, ARRAY['^Custom', 'Sort Key: k\n']),
	('SELECT k FROM gpusort_test.wrong ORDER BY k * CASE current_setting(''gpusort.enabled'') WHEN ''on'' THEN 1 ELSE -1 END', true, '{}'),
	('SELECT id FROM gpusort_test.wrong ORDER BY id * CASE current_setting(''gpusort.enabled'') WHEN ''on'' THEN 1 ELSE -1 END', false, '{}'),
	('SELECT id FROM gpusort_test.wrong WHERE id < 1000 OR current_setting(''gpusort.enabled'') = ''on''', false, '{}'),
	('SELECT k FROM gpusort_test.wrong WHERE id < 999 OR current_setting(''gpusort.enabled'') = ''off''', false, '{}'),
	('SELECT least(id, CASE current_setting(''gpusort.enabled'') WHEN ''on'' THEN 500 ELSE 501 END) FROM gpusort_test.wrong', false, '{}'))
	q(query, ordered, patterns);

CREATE EXTENSION IF NOT EXISTS gpusort;
CREATE EXTENSION amcheck;
CREATE EXTENSION pageinspect;

-- A page of an index without LSN, checksum and what is free.
CREATE FUNCTION gpusort_test.page_used(index regclass, block int8) RETURNS bytea LANGUAGE sql AS $$
	SELECT substr(page, 11, lower - 10) || substr(page, upper + 1)
	FROM get_raw_page(index::text, block::int) page, page_header(page)
$$;

-- The blocks of two indexes that are not the same, byte by byte.
CREATE FUNCTION gpusort_test.other_blocks(ours regclass, theirs regclass) RETURNS int8[] LANGUAGE sql AS $$
	SELECT array_agg(block)
	FROM (SELECT pg_relation_size(ours) / current_setting('block_size')::int AS our_blocks,
			pg_relation_size(theirs) / current_setting('block_size')::int AS their_blocks) size,
		generate_series(1, greatest(our_blocks, their_blocks) - 1) block
	WHERE CASE WHEN block < least(our_blocks, their_blocks)
		THEN gpusort_test.page_used(ours, block) <> gpusort_test.page_used(theirs, block) ELSE true END
$$;

-- What these blocks of an index consist of: links and statistics of each page, and its items.
CREATE FUNCTION gpusort_test.index_pages(index regclass, blocks int8[])
RETURNS TABLE (block int8, stats text, items text)
LANGUAGE sql AS $$
	SELECT block,
		(SELECT format('%s %s %s', s::text, h.lower, h.flags)
		 FROM bt_page_stats(index::text, block) s, page_header(get_raw_page(index::text, block::int)) h),
		(SELECT md5(string_agg(concat_ws(' ', i.ctid, i.itemlen, i.nulls, i.vars, i.data, i.tids),
							   E'\n' ORDER BY i.itemoffset))
		 FROM bt_page_items(index::text, block) i)
	FROM unnest(blocks) block
	WHERE block < pg_relation_size(index) / current_setting('block_size')::int
$$;

-- In what way our index differs from PostgreSQL's, block by block; null if it
-- does not.
CREATE FUNCTION gpusort_test.index_differences(ours regclass, theirs regclass)
RETURNS text LANGUAGE sql AS $$
	WITH other AS MATERIALIZED (SELECT gpusort_test.other_blocks(ours, theirs) AS blocks)
	SELECT string_agg(difference, E'\n')
	FROM ((SELECT format('block %s: %s %s instead of %s %s', block, a.stats, a.items, b.stats, b.items) AS difference
		   FROM (SELECT a.* FROM other, gpusort_test.index_pages(ours, blocks) a) a
		   FULL JOIN (SELECT b.* FROM other, gpusort_test.index_pages(theirs, blocks) b) b USING (block)
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

-- What the tests of parallel workers share: tables, settings, and looks at their plans.
CREATE SCHEMA gpusort_parallel;
CREATE TABLE gpusort_parallel.par WITH (parallel_workers = 2) AS
SELECT i AS id, i * 7919 % 401 AS k, nullif(md5((i % 2800)::text), md5('7')) COLLATE "C" AS pad,
	CASE WHEN i % 11 > 0 THEN (hashint4(i) / 7)::numeric END AS n
FROM generate_series(1, 20000) i;
CREATE TABLE gpusort_parallel.few AS SELECT i AS id, i % 3 AS k FROM generate_series(1, 10) i;
ANALYZE gpusort_parallel.par, gpusort_parallel.few;

-- Let the planner have two workers that cost nothing to start.
CREATE PROCEDURE gpusort_parallel.have_workers() LANGUAGE plpgsql AS $$
BEGIN
	SET max_parallel_workers_per_gather = 2;
	SET min_parallel_table_scan_size = 0;
	SET parallel_setup_cost = 0;
	SET gpusort.cost_gather = 0;
END $$;

-- check_rows() of an ordered query whose rows workers must collect for the leader.
CREATE FUNCTION gpusort_parallel.compare(query text, pattern text DEFAULT '', VARIADIC settings text[] DEFAULT '{}')
RETURNS text LANGUAGE sql AS $$
	SELECT gpusort_test.check_rows(query, true, ARRAY[pattern, '^(?!.*->  Sort)',
		'Custom Scan \(GpuSort\)\n.*->  Gather\n.*->  Parallel Custom Scan \(GpuSort Collect\)'], settings)
$$;

-- check_rows() of a query, ordered or not, for which workers must sort together.
CREATE FUNCTION gpusort_parallel.together(query text, pattern text DEFAULT '', VARIADIC settings text[] DEFAULT '{}')
RETURNS text LANGUAGE sql AS $$
	SELECT gpusort_test.check_rows(query, query ~ 'ORDER BY [^)]*$', ARRAY[pattern,
		'Gather.*Parallel Custom Scan \(GpuSort Shared\)'], settings)
$$;

-- How many sorts of a plan are made by workers together.
CREATE FUNCTION gpusort_parallel.shared(query text) RETURNS int8 LANGUAGE sql AS
$$ SELECT gpusort_test.matches(query, 'GpuSort Shared') $$;

-- A number of a node, if it is the sum of those of its participants.
CREATE FUNCTION gpusort_parallel.total(node jsonb, name text) RETURNS int8 LANGUAGE sql AS $$
	SELECT (node -> name)::int8 FROM jsonb_array_elements(node -> 'Participants') p
	HAVING sum((p -> name)::int8) = (node -> name)::int8
$$;

-- The rows of a query as a portal returns them, to one that asks for all and to a cursor.
CREATE FUNCTION gpusort_test.rows_of(query text, side text) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
	r record;
	result bytea[] := '{}';
BEGIN
	PERFORM set_config('gpusort.enabled', side, true);
	FOR r IN EXECUTE query LOOP
		result := result || record_send(r);
	END LOOP;
	RETURN result;
END $$;

-- The rows of a table that is made of the query, in the order in which they lie there.
CREATE FUNCTION gpusort_test.table_of(query text, side text) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
	result bytea[];
BEGIN
	PERFORM set_config('gpusort.enabled', side, true);
	EXECUTE 'CREATE TEMP TABLE made AS ' || query;
	SELECT array_agg(record_send(made) ORDER BY ctid) INTO result FROM made;
	DROP TABLE made;
	RETURN result;
END $$;

-- A query with a total order: are both the same on both sides, with these settings?
CREATE FUNCTION gpusort_test.check_portal(query text, VARIADIC settings text[] DEFAULT '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	setting text;
	before text[];
	ours bytea[];
	core bytea[];
	made bytea[];
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		before := before || current_setting(split_part(setting, '=', 1));
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
	PERFORM set_config('gpusort.enabled', 'on', true);
	IF gpusort_test.matches(query, 'GpuSort\)$') = 0 THEN
		RETURN 'planned without GpuSort';
	END IF;
	core := gpusort_test.rows_of(query, 'off');
	ours := gpusort_test.rows_of(query, 'on');
	made := gpusort_test.table_of(query, 'on');
	FOR i IN 1 .. cardinality(settings) LOOP
		PERFORM set_config(split_part(settings[i], '=', 1), before[i], true);
	END LOOP;
	IF core <> ours THEN
		RETURN (SELECT format('row %s is %s instead of %s', i, encode(ours[i], 'escape'), encode(core[i], 'escape'))
				FROM generate_series(1, greatest(cardinality(core), cardinality(ours))) i
				WHERE core[i] IS DISTINCT FROM ours[i] LIMIT 1);
	END IF;
	IF made <> gpusort_test.table_of(query, 'off') THEN
		RETURN 'a table of it is another';
	END IF;
	RETURN format('%s rows alike', cardinality(core));
END $$;
