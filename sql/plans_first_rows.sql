-- A first row soon: cursors, whose fraction the planner knows, and clients that don't say how many rows they will fetch.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_first;
SET search_path = gpusort_first, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
CREATE TABLE t AS SELECT i AS id, i + hashint4(i) % 3000 AS k, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 50000) i;
CREATE INDEX t_k ON t (k);
CREATE INDEX t_s ON t (s);
VACUUM ANALYZE t;
SET random_page_cost = 3;
CREATE FUNCTION first_node(query text) RETURNS text LANGUAGE sql AS $$ SELECT line FROM plan_lines(query) line LIMIT 1 $$;
CREATE FUNCTION nodes(query text, OUT postgres text, OUT gpusort text) LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL gpusort.enabled = off;
	postgres := first_node(query);
	SET LOCAL gpusort.enabled = on;
	gpusort := first_node(query);
END $$;
-- indexes are walked without gpusort, and not with it, if all rows are wanted
SELECT * FROM nodes('SELECT * FROM t ORDER BY k');
SELECT * FROM nodes('SELECT * FROM t ORDER BY s');
-- a cursor's fraction is the planner's to weigh
SELECT * FROM nodes('DECLARE c CURSOR FOR SELECT * FROM t ORDER BY k');
SELECT * FROM nodes('DECLARE c CURSOR FOR SELECT * FROM t ORDER BY s');
SELECT * FROM nodes('DECLARE c CURSOR FOR SELECT k, count(*) FROM t GROUP BY k ORDER BY k');
SELECT * FROM nodes('DECLARE c CURSOR FOR SELECT DISTINCT k FROM t ORDER BY k');
SET cursor_tuple_fraction = 1;
SELECT * FROM nodes('DECLARE c CURSOR FOR SELECT * FROM t ORDER BY k');
RESET cursor_tuple_fraction;
-- a portal without DECLARE
SET gpusort.first_row_weight = 100;
SELECT * FROM nodes('SELECT * FROM t ORDER BY k');
SELECT * FROM nodes('SELECT * FROM t ORDER BY s');
SELECT * FROM nodes('SELECT * FROM t ORDER BY id');
SELECT * FROM nodes('SELECT * FROM t ORDER BY k LIMIT 40000');
-- that by s costs half as much again as the sort, that by k an eighth
SET gpusort.first_row_weight = 1.3;
SELECT * FROM nodes('SELECT * FROM t ORDER BY k');
SELECT * FROM nodes('SELECT * FROM t ORDER BY s');
DROP SCHEMA gpusort_first CASCADE;
