-- EXPLAIN in all formats and with all options, the reasons for leaving a sort,
-- the hand-over to PostgreSQL's sort, and injected faults.
LOAD 'gpusort';
SET client_min_messages = warning;
SET search_path = gpusort_plan, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
SET gpusort.pool_quota = 0;
SET jit = off;
VACUUM ANALYZE t, u;

-- A plan as text; numbers that depend on the machine become N.
CREATE FUNCTION explain(options text, query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (%s) %s', options, query) LOOP
		CONTINUE WHEN line ~ '^\s*(Buffers|Planning|Execution|I/O|Settings|Query Identifier|Storage|Index Searches)';
		line := regexp_replace(line, '\d+\.\d+', 'N', 'g');
		line := regexp_replace(line, '\d+kB', 'NkB', 'g');
		line := regexp_replace(line, 'Key: \d+ bits  Passes: \d+  Refined Rows: \d+', 'Key: N bits  Passes: N  Refined Rows: N');
		-- 18 prints actual rows with decimals
		line := regexp_replace(line, '\(actual [^)]*\)', '(actual)');
		RETURN NEXT line;
	END LOOP;
END $$;
CREATE FUNCTION explain_json(options text, query text) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT JSON%s) %s', options, query) INTO plan;
	RETURN plan -> 0 -> 'Plan';
END $$;
-- parsed by servers that know XML
CREATE FUNCTION explain_xml(query text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT XML, COSTS OFF) ' || query INTO plan;
	BEGIN
		PERFORM plan::xml;
	EXCEPTION WHEN feature_not_supported THEN
		NULL;
	END;
	RETURN plan;
END $$;
-- the lines of the first node's keys
CREATE FUNCTION explain_yaml(query text) RETURNS SETOF text
LANGUAGE plpgsql AS $$
DECLARE
	plan text;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT YAML, COSTS OFF) ' || query INTO plan;
	RETURN QUERY SELECT line FROM string_to_table(plan, E'\n') line WHERE line ~ 'Provider|Sort Key|^ +- ';
END $$;

SELECT explain('COSTS OFF', 'SELECT * FROM t ORDER BY a, b DESC NULLS LAST');
SELECT explain('COSTS OFF, VERBOSE', 'SELECT id FROM t ORDER BY a, b DESC NULLS LAST');
SELECT line FROM explain('COSTS OFF, VERBOSE', 'SELECT t.id FROM t JOIN u USING (id) ORDER BY t.b COLLATE "POSIX", u.n') line
WHERE line ~ 'Sort|Key';
SELECT explain('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF', 'SELECT id FROM t ORDER BY a');
SELECT explain('COSTS OFF, ANALYZE', 'SELECT id FROM t ORDER BY b, n');
-- never executed
SELECT explain('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF', 'SELECT id FROM (SELECT id FROM t ORDER BY a LIMIT 0) s');

-- other formats: they parse, and tell the same
SELECT plan ->> 'Node Type' AS node, plan ->> 'Custom Plan Provider' AS provider, plan -> 'Sort Key' AS keys
FROM explain_json('', 'SELECT * FROM t ORDER BY a, b DESC NULLS LAST') plan;
SELECT plan -> 'Sort Key' AS keys, plan -> 'Key Encoding' AS encoding
FROM explain_json(', VERBOSE', 'SELECT * FROM t ORDER BY a, b COLLATE "POSIX", n') plan;
-- every field of ANALYZE, with its type
SELECT key, jsonb_typeof(value) AS type,
	CASE WHEN jsonb_typeof(value) <> 'number' THEN value END AS value
FROM explain_json(', ANALYZE', 'SELECT id FROM t ORDER BY a') plan, jsonb_each(plan)
WHERE key ~ '^(Sort|Engine|Key|Partition|Refined|Presorted|Verified|Collect|Refine|Verify|Handed|Rows Before|Memory|Worker)' ORDER BY key COLLATE "C";
SELECT substring(plan, '<Custom-Plan-Provider>([^<]*)') AS provider,
	ARRAY(SELECT m[1] FROM regexp_matches(substring(plan, '<Sort-Key>(.*)</Sort-Key>'), '<Item>([^<]*)', 'g') m) AS keys
FROM explain_xml('SELECT * FROM t ORDER BY a, upper(b)') plan;
SELECT line FROM explain_yaml('SELECT * FROM t ORDER BY a, upper(b)') line;

-- presorted input, verification
SELECT explain('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF', 'SELECT id FROM t ORDER BY id');
SET gpusort.verify = on;
SELECT explain('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF', 'SELECT id FROM t ORDER BY id');
RESET gpusort.verify;

-- why a sort is left alone
SET client_min_messages = debug1;
EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY arr;
SET gpusort.force = off;
EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY a;
SET gpusort.min_rows = 0;
SET gpusort.cost_startup = 1e6;
EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY a;
RESET gpusort.cost_startup;
EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY a::text COLLATE "en-x-icu" LIMIT 4;
SET gpusort.enable_spill = off;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SET gpusort.late_rows = off;
EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY a;
SET gpusort.enable_order_by = off;
EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY a;
RESET gpusort.enable_order_by;
RESET gpusort.min_rows;
SET gpusort.force = on;
SET client_min_messages = warning;

-- more rows than fit: handed over, and to disk
CREATE TABLE large AS SELECT i AS id, i * 7919 % 20011 AS k, md5(i::text) AS pad FROM generate_series(1, 20000) i;
ANALYZE large;
SET work_mem = '1MB';
SELECT regexp_replace(line, 'after \d+ rows', 'after N rows') AS line
FROM explain('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF', 'SELECT * FROM large ORDER BY k, id') line;
SELECT plan ->> 'Sort Method' AS method, plan ->> 'Sort Space Type' AS space, plan ->> 'Handed Over' AS handed_over,
	(plan ->> 'Rows Before Handover')::int BETWEEN 10 AND 19999 AS some_rows
FROM explain_json(', ANALYZE', 'SELECT * FROM large ORDER BY k, id') plan;
SELECT compare('SELECT * FROM large ORDER BY k, id');
SELECT compare('SELECT * FROM large ORDER BY pad COLLATE "C" DESC');
-- hardly any fit
SET gpusort.enable_spill = off;
SET work_mem = '64kB';
SELECT compare('SELECT * FROM large ORDER BY k, id');
SELECT compare('SELECT * FROM large ORDER BY pad COLLATE "C" DESC');
SELECT compare('SELECT a.id, b.id FROM large a JOIN large b ON a.k = b.k + 3 ORDER BY 1', 'enable_hashjoin=off', 'enable_nestloop=off');
SELECT compare('SELECT o.id, s.id FROM (SELECT * FROM u WHERE id <= 3) o, LATERAL (SELECT l.id FROM large l WHERE l.k > o.id ORDER BY l.pad, l.id LIMIT 5 OFFSET 1000) s ORDER BY 1, 2');
RESET work_mem;
RESET hash_mem_multiplier;

-- faults on the way
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
SELECT explain('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF', 'SELECT id FROM t ORDER BY a');
SELECT compare('SELECT * FROM t ORDER BY b, id');
SELECT compare('SELECT count(*), sum(t.id * u.id) FROM t JOIN u ON t.a = u.a', 'enable_hashjoin=off', 'enable_nestloop=off');
SET gpusort.inject_fault = codec;
SELECT explain('COSTS OFF, ANALYZE, TIMING OFF, SUMMARY OFF', 'SELECT id FROM t ORDER BY a');
SELECT compare('SELECT * FROM t ORDER BY b, id');
SET gpusort.inject_fault = verify;
SELECT compare('SELECT * FROM t ORDER BY b, id');
RESET gpusort.inject_fault;
SELECT compare('SELECT * FROM t ORDER BY b, id');

-- settings are checked
SET gpusort.engine = abacus;
SET gpusort.min_rows = -1;
SET gpusort.cost_row = -1;
SET gpusort.no_such_setting = 1;
SET ROLE pg_read_all_data;
SET gpusort.enable_spill = off;
SET gpusort.inject_fault = memory;
RESET ROLE;
