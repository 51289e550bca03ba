-- The first rows of joins, in the order of one table, which is sorted before it is joined.
LOAD 'gpusort';
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;
SET search_path = gpusort_test, public;
CREATE TABLE events AS SELECT i AS id, i * 7919 % 10007 AS person, i * 104729 % 100003 AS at, md5((i % 900)::text) COLLATE "C" AS kind, nullif(i % 50, 7) AS n
FROM generate_series(1, 20000) i;
CREATE TABLE people AS SELECT i AS id, i % 9 AS team, 'name ' || i AS name FROM generate_series(0, 10006) i;
ALTER TABLE people ADD PRIMARY KEY (id);
CREATE INDEX events_person ON events (person);
CREATE TABLE teams AS SELECT i AS n, i % 9 AS team FROM generate_series(1, 300) i;
CREATE TABLE marks AS SELECT i AS n, i % 50 AS team FROM generate_series(1, 20000) i;
CREATE INDEX marks_team ON marks (team);
VACUUM ANALYZE events, people, teams, marks;
-- Is there a sort below a nested loop?
CREATE FUNCTION sorted_early(query text) RETURNS bool LANGUAGE sql AS
$$ SELECT string_agg(line, ' ') ~ 'Nested Loop.*GpuSort' FROM plan_lines(query) line $$;

-- Below a nested loop, which stops when it has found enough
SELECT plan_lines('SELECT e.id, x.* FROM events e CROSS JOIN LATERAL (SELECT count(*), max(o.at) FROM events o WHERE o.person = e.person) x ORDER BY e.at, e.id LIMIT 5');
SELECT sorted_early('SELECT e.id, x.* FROM events e CROSS JOIN LATERAL (SELECT count(*), max(o.at) FROM events o WHERE o.person = e.person) x ORDER BY e.at, e.id LIMIT 5');
-- ... not without a limit, of a single table, in the order of two tables, or if gpusort is off
SELECT sorted_early('SELECT e.id, x.* FROM events e CROSS JOIN LATERAL (SELECT count(*), max(o.at) FROM events o WHERE o.person = e.person) x ORDER BY e.at, e.id');
SELECT sorted_early('SELECT * FROM events ORDER BY at, id LIMIT 5');
SELECT sorted_early('SELECT e.id, x.* FROM events e CROSS JOIN LATERAL (SELECT count(*), max(o.at) AS m FROM events o WHERE o.person = e.person) x ORDER BY e.at, x.m, e.id LIMIT 5');
-- ... nor by what may fail, or with a loop that takes far too long if few rows have partners
SELECT sorted_early('SELECT e.id, x.* FROM events e CROSS JOIN LATERAL (SELECT count(*), max(o.at) FROM events o WHERE o.person = e.person) x ORDER BY 1 / (e.at - 7), e.id LIMIT 5');
SELECT sorted_early('SELECT e.id FROM events e JOIN people p ON p.name = e.kind ORDER BY e.at, e.id LIMIT 1');
-- ... nor where the planner's own sort on top costs less
SELECT sorted_early('SELECT e.id, p.name FROM events e LEFT JOIN people p ON p.id = e.person ORDER BY e.at, e.id LIMIT 1');
-- ... whatever its inner side is: the last of two loops looks one row up, and one that looks up many for each row
SELECT sorted_early('SELECT e.id FROM events e JOIN people p ON p.id = e.person JOIN teams t ON t.n = p.team + e.n ORDER BY e.at, e.id LIMIT 1');
SELECT sorted_early('SELECT e.id FROM events e WHERE EXISTS (SELECT FROM marks m WHERE m.team = e.n AND m.n > e.id + 30000) ORDER BY e.at, e.id LIMIT 1');
-- ... or one row, but of which nobody knows whether it is there; in a left join it does not matter
SELECT sorted_early('SELECT e.id FROM events e JOIN people p ON p.id = e.person WHERE p.team * p.id < 0 ORDER BY e.at, e.id LIMIT 1');
SELECT sorted_early('SELECT e.id, x.m FROM events e LEFT JOIN LATERAL (SELECT count(*) AS m FROM events o WHERE o.person = e.person HAVING count(*) > 1) x ON true ORDER BY e.at, e.id LIMIT 1');
-- ... unless the planner makes such a loop itself, of what workers sort
SELECT sorted_early('SELECT e.id FROM events e JOIN marks m ON m.team = e.n WHERE e.at - m.n <> 0 ORDER BY e.at, e.id LIMIT 10');
SET max_parallel_workers_per_gather = 2;
SET min_parallel_table_scan_size = 0;
SET parallel_setup_cost = 10;
SELECT sorted_early('SELECT e.id FROM events e JOIN marks m ON m.team = e.n WHERE e.at - m.n <> 0 ORDER BY e.at, e.id LIMIT 10');
SET enable_gathermerge = off;
SELECT sorted_early('SELECT e.id FROM events e JOIN marks m ON m.team = e.n WHERE e.at - m.n <> 0 ORDER BY e.at, e.id LIMIT 10');
RESET enable_gathermerge;
SELECT sorted_early('SELECT e.id FROM events e JOIN marks m ON m.team = e.n JOIN teams t ON t.n = e.n WHERE e.at - m.n <> 0 ORDER BY e.at, e.id LIMIT 10');
RESET parallel_setup_cost;
RESET min_parallel_table_scan_size;
SET max_parallel_workers_per_gather = 0;
SET gpusort.enabled = off;
SELECT matches('SELECT e.id, x.* FROM events e CROSS JOIN LATERAL (SELECT count(*), max(o.at) FROM events o WHERE o.person = e.person) x ORDER BY e.at, e.id LIMIT 5', 'GpuSort');
RESET gpusort.enabled;

-- The same rows at the same places, whatever is joined in what way
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET gpusort.enable_join = off;
SET gpusort.force = on;
SELECT check_rows(q, true, ARRAY['Nested Loop.*GpuSort\)'], '{}') FROM unnest(ARRAY[
	'SELECT e.id, x.* FROM events e CROSS JOIN LATERAL (SELECT count(*), max(o.at) FROM events o WHERE o.person = e.person) x ORDER BY e.at, e.id LIMIT 50',
	'SELECT e.*, p.name FROM events e JOIN people p ON p.id = e.person ORDER BY at DESC, e.id LIMIT 100 OFFSET 7',
	'SELECT e.id, p.name FROM events e LEFT JOIN people p ON p.id = e.person AND p.team < 4 ORDER BY kind, e.id DESC LIMIT 300',
	'SELECT e.id, n FROM events e LEFT JOIN people p ON p.id = e.person WHERE coalesce(team, 3) = 3 ORDER BY n NULLS FIRST, e.id LIMIT 20',
	'SELECT e.id, n FROM events e JOIN people p ON p.id = e.person ORDER BY n DESC NULLS LAST, at > 50000, e.id LIMIT 20',
	'SELECT e.id FROM events e WHERE NOT EXISTS (SELECT FROM people p WHERE p.id = e.person + 3 AND team = 0) ORDER BY at, id LIMIT 30',
	'SELECT e.id, p.name, q.team FROM events e JOIN people p ON p.id = e.person JOIN people q ON q.id = p.team ORDER BY kind COLLATE "POSIX", e.id LIMIT 20',
	'SELECT * FROM (SELECT e.id, p.name FROM events e JOIN people p ON p.id = e.person ORDER BY at, e.id LIMIT 40) s ORDER BY name, id',
	'SELECT e.id FROM events e JOIN people p ON p.id = e.person ORDER BY at, e.id LIMIT 10 FOR UPDATE OF e',
	'SELECT e.id FROM events e JOIN people p ON p.id = e.person WHERE e.id + at < 0 ORDER BY at, e.id LIMIT 10'
]) q;
-- what may fail of rows without a partner is computed of the join's
SELECT check_rows('SELECT e.id FROM events e JOIN people p ON p.id = e.person + 1 AND team < 2 WHERE e.at <> 7 OR p.id < 0 ORDER BY 1 / (e.at - 7), e.id LIMIT 20', true, '{}', '{}');
-- of the side that may be missing the order is not the join's
SELECT check_rows('SELECT p.id AS p, e.id AS e FROM people p LEFT JOIN events e ON e.person = p.id AND e.n > 40 ORDER BY e.at, e.id, p.id LIMIT 100', true, '{}', '{}');
-- once for each outer row
SELECT check_rows('SELECT t, (SELECT array_agg(id) FROM (SELECT e.id FROM events e JOIN people p ON p.id = e.person WHERE team = t ORDER BY at, e.id LIMIT 3) s) FROM generate_series(0, 10) t',
	true, '{}', '{}');
-- a cursor, and a limit that is known later
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT e.id, at FROM events e JOIN people p ON p.id = e.person ORDER BY at, e.id LIMIT 6;
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
FETCH ALL FROM c;
ROLLBACK;
PREPARE first_events(int) AS SELECT e.id, at FROM events e JOIN people p ON p.id = e.person ORDER BY at, e.id LIMIT $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE first_events(2);
SET plan_cache_mode = force_custom_plan;
EXECUTE first_events(3);
RESET plan_cache_mode;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET gpusort.enable_join;
RESET gpusort.force;
-- a table, or a subquery, that costs so much more than sorting it that both cost the same for the planner
SET cpu_tuple_cost = 100;
SELECT check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT e.id, p.name FROM events e JOIN people p ON p.id = e.person ORDER BY at, e.id LIMIT 10',
	'SELECT e.*, p.name FROM (SELECT person, max(at) AS at FROM events GROUP BY person) e JOIN people p ON p.id = e.person ORDER BY at DESC, person LIMIT 10',
	'SELECT e.id, x.n FROM events e CROSS JOIN LATERAL (SELECT count(*) AS n FROM events o WHERE o.person = e.person) x ORDER BY e.at, e.id LIMIT 5']) q;
RESET cpu_tuple_cost;
SET enable_seqscan = off;
CREATE TABLE first_events AS SELECT id, at FROM events WHERE id <= 3000;
ANALYZE first_events;
SELECT check_rows(q, true, '{}', '{}') FROM unnest(ARRAY[
	'SELECT e.*, f.at AS second FROM events e JOIN first_events f ON e.id = f.id ORDER BY e.at LIMIT 5',
	'SELECT e.*, f.at AS second FROM events e JOIN first_events f ON e.id = f.id ORDER BY e.id LIMIT 5',
	'SELECT e.id FROM events e, first_events f WHERE e.id < f.id ORDER BY e.at LIMIT 5']) q;
DROP TABLE first_events;
RESET enable_seqscan;
-- a subquery that workers read in less time
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM events WHERE id > 0;
SELECT check_rows('SELECT e.id, p.name FROM guarded e JOIN people p ON p.id = e.person WHERE e.id + e.at > 0 ORDER BY e.at, e.id LIMIT 10', true, '{Nested Loop.*GpuSort.*Gather}',
	ARRAY['max_parallel_workers_per_gather=2', 'min_parallel_table_scan_size=0', 'parallel_setup_cost=0', 'parallel_tuple_cost=0', 'enable_gathermerge=off',
		'enable_hashjoin=off', 'enable_mergejoin=off', 'gpusort.enable_join=off', 'gpusort.force=on', setting])
FROM unnest(ARRAY['gpusort.enable_parallel_collect=off', 'gpusort.enable_parallel_collect=on']) setting;
DROP VIEW guarded;
DROP FUNCTION sorted_early;
DROP TABLE events, people, teams, marks;
