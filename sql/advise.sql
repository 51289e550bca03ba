-- gpusort_advise(): the sorts of a query, whose they are, and what would change it.
SET max_parallel_workers_per_gather = 0;
CREATE TABLE advised AS SELECT i AS id, i * 7919 % 100003 AS k, point(i, i) AS p, md5(i::text) COLLATE "C" AS s
FROM generate_series(1, 100000) i;
ANALYZE advised;
CREATE VIEW advised_view AS SELECT * FROM advised ORDER BY k;
CREATE FUNCTION advice(query text, OUT node text, OUT kind text, OUT sort_key text, OUT taken_over bool, OUT reason text,
	OUT setting text, OUT dearer text) RETURNS SETOF record LANGUAGE sql AS $$
	SELECT node, kind, sort_key, taken_over, reason, setting,
		CASE WHEN sort_cost > 0 THEN CASE WHEN sort_cost_without > sort_cost THEN 'PostgreSQL''s sort' ELSE 'ours' END END
	FROM gpusort_advise(query)
$$;
\pset null -
SELECT * FROM advice('SELECT * FROM advised ORDER BY k DESC, s');
SELECT * FROM advice('SELECT id FROM advised ORDER BY k LIMIT 10');
SELECT * FROM advice('SELECT * FROM advised WHERE id < 100 ORDER BY k');
SELECT * FROM advice('SELECT k, rank() OVER (PARTITION BY s ORDER BY id) FROM advised');
SELECT * FROM advice('SELECT * FROM advised WHERE k > $1 ORDER BY s');
SELECT * FROM advice('SELECT 1');
SELECT * FROM advice('INSERT INTO advised SELECT * FROM advised ORDER BY id');
SELECT count(*) FROM advised;
CREATE RULE told AS ON INSERT TO advised DO ALSO NOTIFY advised;
SELECT node, taken_over FROM gpusort_advise('INSERT INTO advised SELECT * FROM advised ORDER BY id');
DROP RULE told ON advised;
SELECT estimated_rows, query_gain > 1 AS query_gain, query_gain < sort_gain AS diluted, query_cost_without > query_cost AS whole,
	query_gain = round((query_cost_without / query_cost)::numeric, 1) AS rounded
FROM gpusort_advise('SELECT * FROM advised_view');

-- What is planned within another statement, which is not executed.
SELECT q, a.node, a.sort_key, a.taken_over FROM unnest(ARRAY[
	'EXPLAIN SELECT * FROM advised ORDER BY k',
	'EXPLAIN (ANALYZE, COSTS OFF) CREATE TABLE never AS SELECT * FROM advised ORDER BY k',
	'CREATE TABLE never AS SELECT * FROM advised ORDER BY k',
	'CREATE MATERIALIZED VIEW never AS SELECT * FROM advised ORDER BY k',
	'SELECT * INTO never FROM advised ORDER BY k',
	'SELECT * INTO never FROM advised UNION ALL SELECT * FROM advised ORDER BY 2',
	'COPY (SELECT * FROM advised ORDER BY k) TO STDOUT',
	'DECLARE c CURSOR FOR SELECT * FROM advised ORDER BY k']) q, gpusort_advise(q) a ORDER BY q COLLATE "C";
SELECT to_regclass('never'), (SELECT count(*) FROM pg_cursors);

-- Builds of indexes: of a table, and of each partition of one.
CREATE TABLE advised_parts (k int, s text COLLATE "C", p point) PARTITION BY RANGE (k);
CREATE TABLE advised_low PARTITION OF advised_parts FOR VALUES FROM (MINVALUE) TO (100);
CREATE TABLE advised_high PARTITION OF advised_parts FOR VALUES FROM (100) TO (MAXVALUE);
INSERT INTO advised_parts SELECT k, s, p FROM advised;
ANALYZE advised_parts;
SELECT q, a.node, a.kind, a.sort_key, a.taken_over, a.reason, a.setting FROM unnest(ARRAY[
	'CREATE INDEX ON advised (k DESC, s) INCLUDE (id) WHERE id > 5',
	'CREATE UNIQUE INDEX CONCURRENTLY never ON advised ((lower(s)), id)',
	'CREATE INDEX ON advised (s text_pattern_ops, (-k))',
	'CREATE INDEX ON advised ((ROW(k, id)))',
	'CREATE INDEX ON advised_parts (k)']) q, gpusort_advise(q) a ORDER BY q COLLATE "C", a.reason COLLATE "C" NULLS FIRST;
SELECT a.estimated_rows, a.query_gain, a.sort_gain, a.query_cost, a.sort_cost FROM gpusort_advise('CREATE INDEX ON advised (k)') a;
SET gpusort.enable_index_build = off;
SELECT a.reason, a.setting FROM gpusort_advise('CREATE INDEX ON advised (k)') a;
RESET gpusort.enable_index_build;
SELECT * FROM gpusort_advise('CREATE INDEX ON advised USING gist (p)');
SELECT * FROM gpusort_advise('CREATE INDEX ON advised (p)');
SELECT * FROM gpusort_advise('CREATE INDEX ON advised (nonsense)');
SELECT * FROM gpusort_advise('CREATE INDEX ON nonsense (k)');
SELECT * FROM gpusort_advise('CREATE INDEX ON advised ((k + random()))');
SELECT * FROM gpusort_advise('CREATE INDEX ON advised (k) WHERE s > now()::text');
SELECT * FROM gpusort_advise('CREATE INDEX CONCURRENTLY ON advised_parts (k)');
CREATE TEMP TABLE advised_temp AS SELECT * FROM advised;
SELECT node FROM gpusort_advise('CREATE INDEX CONCURRENTLY ON advised_temp (k)');
DROP TABLE advised_temp;
SELECT count(*) FROM pg_index WHERE indrelid = 'advised'::regclass;
DROP TABLE advised_parts;

-- What each is for, as it is counted.
SET gpusort.force = on;
SET enable_hashagg = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT node, kind, sort_key FROM advice('SELECT count(*) FROM advised a JOIN advised b ON a.id = b.k');
SELECT node, kind, sort_key FROM advice('SELECT k, count(*) FROM (SELECT a.id % 10 AS k, b.s FROM advised a LEFT JOIN advised b ON a.id = b.k OFFSET 0) x GROUP BY k ORDER BY count(*)');
RESET enable_mergejoin;
SET gpusort.enable_join = off;
SELECT node, kind, sort_key FROM advice('SELECT count(*) FROM advised a JOIN advised b ON a.id = b.k');
RESET gpusort.enable_join;
RESET gpusort.force;
RESET enable_hashagg;
RESET enable_hashjoin;
RESET enable_nestloop;

-- Settings that would change it.
SET gpusort.enabled = off;
SELECT * FROM advice('SELECT * FROM advised ORDER BY k');
RESET gpusort.enabled;
SET gpusort.enable_order_by = off;
SELECT * FROM advice('SELECT * FROM advised ORDER BY k');
RESET gpusort.enable_order_by;
SET gpusort.cost_row = 1;
SELECT * FROM advice('SELECT * FROM advised ORDER BY k');
RESET gpusort.cost_row;
SHOW gpusort.enabled;

-- Expressions of an index are the parent's, whatever numbers the columns of a partition have.
CREATE TABLE advised_parts (gone1 int, gone2 int, a int, b text) PARTITION BY RANGE (a);
ALTER TABLE advised_parts DROP gone1, DROP gone2;
CREATE TABLE advised_part PARTITION OF advised_parts DEFAULT;
SELECT sort_key FROM gpusort_advise('CREATE INDEX ON advised_parts (lower(b), a)');
DROP TABLE advised_parts;

-- What is none.
SELECT * FROM gpusort_advise('CREATE INDEX ON advised (k) INCLUDE (lower(s))');
SELECT * FROM gpusort_advise('');
SELECT * FROM gpusort_advise('SELECT 1; SELECT 2');
SELECT * FROM gpusort_advise('COPY advised TO STDOUT');
SELECT * FROM gpusort_advise('EXPLAIN EXECUTE x');
SELECT * FROM gpusort_advise('SELECT nonsense FROM advised');
SELECT * FROM gpusort_advise('SELECT * FROM advised WHERE s = $1 ORDER BY $2');
SELECT count(*) FROM gpusort_advise(NULL);

-- With the rights of who asks.
CREATE ROLE gpusort_asker;
SET ROLE gpusort_asker;
SELECT * FROM gpusort_advise('SELECT * FROM advised ORDER BY k');
RESET ROLE;
GRANT SELECT ON advised TO gpusort_asker;
SET ROLE gpusort_asker;
SELECT taken_over FROM gpusort_advise('SELECT * FROM advised ORDER BY k');
SELECT taken_over FROM gpusort_advise('DELETE FROM advised');
SELECT taken_over FROM gpusort_advise('CREATE INDEX ON advised (k)');
RESET ROLE;

-- ... who needs EXECUTE, too, as EXPLAIN does.
CREATE FUNCTION advised_twice(k int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN 2 * k; END';
CREATE FUNCTION advised_thrice(k int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 3 * k';
CREATE FUNCTION advised_pair() RETURNS SETOF int LANGUAGE sql STABLE AS 'SELECT 1 UNION ALL SELECT 2';
CREATE AGGREGATE advised_sum(int) (SFUNC = int4pl, STYPE = int);
REVOKE EXECUTE ON FUNCTION advised_twice, advised_thrice, advised_pair, advised_sum FROM PUBLIC;
CREATE FUNCTION asked(query text, OUT explained text, OUT advised text) LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		EXECUTE 'EXPLAIN ' || query;
	EXCEPTION WHEN OTHERS THEN
		explained := SQLERRM;
	END;
	BEGIN
		PERFORM * FROM gpusort_advise(query);
	EXCEPTION WHEN OTHERS THEN
		advised := SQLERRM;
	END;
END $$;
SET ROLE gpusort_asker;
SELECT (asked(q)).*, q FROM unnest(ARRAY[
	'SELECT * FROM advised ORDER BY advised_twice(k)',
	'SELECT * FROM advised ORDER BY advised_thrice(k)',
	'SELECT * FROM advised WHERE k < advised_twice(7) ORDER BY k',
	'SELECT * FROM advised JOIN advised_pair() two ON two = id ORDER BY k',
	'SELECT k, advised_sum(id) FROM advised GROUP BY k ORDER BY k',
	'SELECT k, advised_sum(id) OVER (ORDER BY k) FROM advised',
	'SELECT * FROM advised ORDER BY k']) q;
RESET ROLE;
-- ... or the owner of the table, who would build the index.
CREATE TABLE advised_own AS SELECT k FROM advised LIMIT 10;
GRANT CREATE ON SCHEMA public TO gpusort_asker;
ALTER TABLE advised_own OWNER TO gpusort_asker;
SELECT a.*, q FROM unnest(ARRAY['(advised_twice(k))', '(k) WHERE advised_thrice(k) > 1', '((k + 1)) WHERE k > 0']) q,
	LATERAL (SELECT (asked('CREATE INDEX ON advised_own ' || q)).advised) a;
SET ROLE gpusort_asker;
CREATE INDEX ON advised_own (advised_twice(k));
CREATE INDEX ON advised_own (k) WHERE advised_thrice(k) > 1;
RESET ROLE;
DROP FUNCTION advised_twice, advised_thrice, advised_pair, asked;
DROP AGGREGATE advised_sum(int);

-- Partitions that depend on a parameter.
CREATE TABLE advised_parts (k int, s text) PARTITION BY LIST (k);
CREATE TABLE advised_one PARTITION OF advised_parts FOR VALUES IN (1);
CREATE TABLE advised_two PARTITION OF advised_parts FOR VALUES IN (2);
SELECT node, sort_key FROM gpusort_advise('SELECT * FROM advised_parts WHERE k = $1 ORDER BY s');
DROP TABLE advised_parts;
DROP OWNED BY gpusort_asker;
DROP ROLE gpusort_asker;
DROP FUNCTION advice;
DROP VIEW advised_view;
DROP TABLE advised;
