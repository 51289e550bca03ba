-- Sorts without rows, for which no memory is mapped, and joins one side of which has none, so that the other is not read.
LOAD 'gpusort';
SET client_min_messages = warning;
CREATE SCHEMA gpusort_empty;
SET search_path = gpusort_empty, gpusort_parallel, gpusort_test, public;
SET max_parallel_workers_per_gather = 0;
SET gpusort.force = on;
CREATE TABLE t AS SELECT i AS id, i * 7919 % 10007 AS k, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 6000) i;
CREATE TABLE u AS SELECT i AS id, i * 104729 % 10007 AS k, i % 50 AS n FROM generate_series(1, 5000) i;
VACUUM ANALYZE t, u;

-- Nothing is sorted
SELECT plan_lines('SELECT * FROM t WHERE id < 0 ORDER BY k, id', 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF');
SELECT check_rows(q, true, ARRAY['GpuSort'], '{}') FROM unnest(ARRAY[
	'SELECT * FROM t WHERE id < 0 ORDER BY k, id', 'SELECT s FROM t WHERE id < 0 ORDER BY k, id LIMIT 10', 'SELECT k FROM t WHERE id < 0 ORDER BY k',
	'SELECT DISTINCT k FROM t WHERE id < 0 ORDER BY k', 'SELECT k, count(*) FROM t WHERE id < 0 GROUP BY k ORDER BY k',
	'SELECT id, rank() OVER (ORDER BY k, id) FROM t WHERE id < 0',
	'SELECT * FROM (SELECT * FROM t WHERE id < 0 UNION ALL SELECT * FROM t WHERE id > 7000) v ORDER BY s, id']) q;
-- ... in late rows, and in temporary files
SELECT check_rows('SELECT * FROM t WHERE id < 0 ORDER BY k, id', true, ARRAY['GpuSort'], ARRAY['gpusort.late_rows=on']);
SELECT check_rows('SELECT * FROM t WHERE id < 0 ORDER BY k, id', true, ARRAY['GpuSort'], ARRAY['gpusort.pool_quota=0', 'work_mem=64kB']);
-- ... for some of the rows above, again and again, and if asked for the same once more
SELECT check_rows(format('SELECT o, l.* FROM generate_series(-2, 40) o %s (SELECT id, k FROM t WHERE id %% 40 = %s ORDER BY k, id LIMIT 3) l %s', kind, condition, final), true, ARRAY['GpuSort'], '{}')
FROM (VALUES ('CROSS JOIN LATERAL', 'o', ''), ('LEFT JOIN LATERAL', 'o / 2 * 2 + 1', 'ON true'), ('CROSS JOIN LATERAL', '-1', ''), ('LEFT JOIN LATERAL', '-1 - o % 2', 'ON true')) v (kind, condition, final);
-- ... backwards
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id FROM t WHERE id < 0 ORDER BY k, id;
FETCH BACKWARD FROM c;
FETCH 2 FROM c;
FETCH BACKWARD FROM c;
FETCH ABSOLUTE 1 FROM c;
MOVE ABSOLUTE 0 IN c;
FETCH ALL FROM c;
ROLLBACK;

-- Joins: all kinds, of which either side, the one that is expected to be larger or the other, has no rows
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_nestloop = off;
CREATE FUNCTION read_sides(query text) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(substring(line from 'on (\w+)') || CASE WHEN line ~ 'never' THEN ' not read' ELSE ' read' END, ', ' ORDER BY substring(line from 'on (\w+)')), 'none')
	FROM plan_lines(query, 'ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF') line WHERE line ~ 'Seq Scan on'
$$;
CREATE TABLE joins AS
SELECT kind, side, format(CASE
		WHEN kind = 'semi' THEN 'SELECT a.* FROM (SELECT * FROM t WHERE %1$s) a WHERE EXISTS (SELECT FROM u b WHERE b.k = a.k AND %2$s)'
		WHEN kind = 'anti' THEN 'SELECT a.* FROM (SELECT * FROM t WHERE %1$s) a WHERE NOT EXISTS (SELECT FROM u b WHERE b.k = a.k AND %2$s)'
		ELSE 'SELECT a.id, b.n FROM (SELECT * FROM t WHERE %1$s) a ' || kind || ' JOIN (SELECT * FROM u b WHERE %2$s) b ON a.k = b.k' END,
	CASE WHEN side ~ 'outer' THEN 't.id + 0 < 0' ELSE 't.id > 0' END, CASE WHEN side ~ 'inner' THEN 'b.id + 0 < 0' ELSE 'b.n >= 0' END) AS query
FROM unnest(ARRAY['INNER', 'LEFT', 'RIGHT', 'FULL', 'semi', 'anti']) kind, unnest(ARRAY['outer', 'inner', 'outer and inner', 'neither']) side;
SELECT kind, side, check_rows(query, false, ARRAY['GpuSort Join'], '{}'), read_sides(query) FROM joins ORDER BY kind COLLATE "C", side COLLATE "C";
-- ... once more for each row above
SELECT check_rows('SELECT o, l.* FROM generate_series(-2, 3) o, LATERAL (SELECT a.id, b.n FROM t a JOIN u b ON a.k = b.k WHERE a.id < o * 10 OFFSET 0) l', false, ARRAY['GpuSort Join'], ARRAY['enable_nestloop=on']);
SELECT check_rows('SELECT o, l.* FROM generate_series(-2, 3) o, LATERAL (SELECT a.id, b.n FROM t a JOIN u b ON a.k = b.k WHERE b.id < o * 10 OFFSET 0) l', false, ARRAY['GpuSort Join'], ARRAY['enable_nestloop=on']);
-- ... by workers
CALL have_workers();
SET gpusort.enable_parallel_collect = off;
SET parallel_tuple_cost = 0;
SELECT kind, side, check_rows(query, false, ARRAY['Gather.*Parallel Custom Scan \(GpuSort Join'], '{}'), read_sides(query)
FROM joins WHERE kind <> 'anti' AND side IN ('outer', 'inner') ORDER BY kind COLLATE "C", side COLLATE "C";
SELECT setting, check_rows(query, false, ARRAY['Gather.*Parallel Custom Scan \(GpuSort Join'], ARRAY[setting])
FROM joins, unnest(ARRAY['max_parallel_workers=0', 'parallel_leader_participation=off']) setting WHERE kind = 'INNER' AND side = 'inner' ORDER BY setting COLLATE "C";
SELECT check_rows('SELECT o, (SELECT count(*) FROM t a JOIN u b ON a.k = b.k WHERE a.id < o * 10) FROM generate_series(-2, 3) o', false, ARRAY['GpuSort Join'], ARRAY['enable_nestloop=on']);
DROP SCHEMA gpusort_empty CASCADE;
RESET ALL;
