-- week.sql
--		An analyst's week, for reports.pl --week: forty statements on a shop's log of visits, on people
--		and places in some twenty languages, and on TPC-H's sales.  "-- name" in a line begins a part.
--
-- A part is a query, or several statements, which are rolled back in the end: the last is a query
-- whose result is compared, the one before it is timed, those before that prepare it.  An index is
-- checked by amcheck and has its rows counted: several processes may leave other pages half empty.

-- tables
-- :names is the number of rows in `names`, :rows that of visits.
CREATE FUNCTION chance(i bigint, seed bigint) RETURNS float8 LANGUAGE sql IMMUTABLE PARALLEL SAFE
	AS 'SELECT (hashint8extended($1, $2) & 1073741823) / 1073741824.0::float8';
-- few visitors come often, most come once; pages likewise
CREATE TABLE visits AS
SELECT i AS id,
	timestamptz '2026-01-05 00:00+00' + i * interval '200 ms' + chance(i, 1) * interval '2 minutes' AS at,
	exp(chance(i, 2) * ln(:rows / 3.0))::bigint * 7919 % 1000000007 AS visitor,
	'/' || (array['shop', 'shop', 'shop', 'help', 'blog', 'search', 'account'])[1 + (chance(i, 3) * 7)::int % 7] || '/' ||
		(array['north', 'south', 'blue', 'acme', 'global', 'smart', 'old', 'new'])[1 + (chance(i, 4) * 8)::int % 8] || '-' ||
		(array['shoe', 'lamp', 'phone', 'table', 'chair'])[1 + (chance(i, 5) * 5)::int % 5] || '/' ||
		exp(chance(i, 6) * ln(20000))::int || CASE WHEN chance(i, 7) < 0.3 THEN '?ref=' || substr(md5(i::text), 1, 8) ELSE '' END AS url,
	(array[200, 200, 200, 200, 200, 200, 304, 304, 404, 500])[1 + (chance(i, 8) * 10)::int % 10]::int2 AS status,
	(exp(chance(i, 9) * 9) * 3)::int AS ms,
	(exp(chance(i, 10) * 14))::bigint AS bytes,
	(array['DE', 'FR', 'US', 'BR', 'JP', 'IN', 'PL', 'GB', 'CN', 'TR'])[1 + (chance(i, 11) * chance(i, 12) * 10)::int % 10]::char(2) AS country,
	jsonb_build_object('campaign', 'c' || (exp(chance(i, 13) * 6))::int, 'agent', 'Agent/' || (chance(i, 14) * 40)::int, 'screen', jsonb_build_array(1920, 1080)) AS facts
FROM generate_series(1, :rows) i;
CREATE TABLE people AS
SELECT i AS id, given.name AS name, place.name AS place, place.language AS language,
	date '1940-01-01' + (chance(i, 21) * 25000)::int AS born, 'user' || (chance(i, 22) * :rows)::int || '@example.' || place.language AS email
FROM generate_series(1, :rows / 2) i
	JOIN names given ON given.id = 1 + (chance(i, 23) * (:names - 1))::int
	JOIN names place ON place.id = 1 + (chance(i, 24) * chance(i, 25) * (:names - 1))::int;
ALTER TABLE people ADD PRIMARY KEY (id);

-- visits_export
COPY (SELECT id, at, visitor, url, status, ms, bytes, country, facts FROM visits ORDER BY visitor, at) TO PROGRAM 'cat >/dev/null';
SELECT count(*) FROM visits;
-- visits_load
CREATE TABLE loaded (LIKE visits);
CREATE INDEX ON loaded (id);
CREATE INDEX ON loaded (visitor, at);
COPY (SELECT * FROM visits) TO PROGRAM 'cat >/tmp/gpusort_week.csv' (FORMAT csv);
COPY loaded FROM PROGRAM 'cat /tmp/gpusort_week.csv' (FORMAT csv);
SELECT count(*), sum(hashtextextended(l::text, 0)::numeric) FROM loaded l;
-- visits_key
CREATE EXTENSION amcheck;
ALTER TABLE visits ADD PRIMARY KEY (id);
SELECT bt_index_parent_check('visits_pkey', true)::text, reltuples FROM pg_class WHERE relname = 'visits_pkey';
-- visits_by_visitor
CREATE EXTENSION amcheck;
CREATE INDEX visits_by_visitor ON visits (visitor, at);
SELECT bt_index_parent_check('visits_by_visitor', true)::text, reltuples FROM pg_class WHERE relname = 'visits_by_visitor';
-- visits_by_url
CREATE EXTENSION amcheck;
CREATE INDEX visits_by_url ON visits (url);
SELECT bt_index_parent_check('visits_by_url', true)::text, reltuples FROM pg_class WHERE relname = 'visits_by_url';
-- visits_by_campaign
CREATE EXTENSION amcheck;
CREATE INDEX visits_by_campaign ON visits ((facts->>'campaign'), at DESC);
SELECT bt_index_parent_check('visits_by_campaign', true)::text, reltuples FROM pg_class WHERE relname = 'visits_by_campaign';
-- visits_clustered
CREATE INDEX visits_at ON visits (visitor, at, id);
CLUSTER visits USING visits_at;
SELECT count(*), sum(hashtextextended(format('%s %s', place, id), 0)::numeric) FROM (SELECT row_number() OVER (ORDER BY ctid) AS place, id FROM visits) v;
-- visits_summary
CREATE TABLE summary AS SELECT visitor, at::date AS day, count(*) AS n, sum(bytes) AS bytes, min(at) AS first, max(at) AS last FROM visits GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*), sum(hashtextextended(s::text, 0)::numeric) FROM summary s;
-- visits_sorted_copy
CREATE TABLE sorted AS SELECT * FROM visits ORDER BY country, at;
SELECT count(*), sum(hashtextextended(s::text, 0)::numeric) FROM sorted s;
-- people_by_name
CREATE EXTENSION amcheck;
CREATE INDEX people_by_name ON people (name);
SELECT bt_index_parent_check('people_by_name', true)::text, reltuples FROM pg_class WHERE relname = 'people_by_name';
-- sessions
SELECT visitor, session, min(at), max(at), count(*) FROM (
	SELECT visitor, at, count(*) FILTER (WHERE gap > interval '30 minutes') OVER (PARTITION BY visitor ORDER BY at, id) AS session
	FROM (SELECT visitor, at, id, at - lag(at) OVER (PARTITION BY visitor ORDER BY at, id) AS gap FROM visits) g) s
GROUP BY visitor, session
-- last_page
SELECT DISTINCT ON (visitor) visitor, at, url FROM visits ORDER BY visitor, at DESC, id
-- visitors_a_day
SELECT at::date AS day, count(*), count(DISTINCT visitor) FROM visits GROUP BY 1 ORDER BY 1
-- visitors_in_all
SELECT count(DISTINCT visitor), count(DISTINCT url) FROM visits
-- top_pages
SELECT url, count(*), avg(ms) FROM visits GROUP BY url ORDER BY count(*) DESC, url LIMIT 100
-- response_times
SELECT country, percentile_cont(array[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY ms) FROM visits GROUP BY country ORDER BY country
-- median_bytes
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY bytes), percentile_disc(0.5) WITHIN GROUP (ORDER BY ms) FROM visits
-- funnel
SELECT section, next, count(*) FROM (
	SELECT split_part(url, '/', 2) AS section, lead(split_part(url, '/', 2)) OVER (PARTITION BY visitor ORDER BY at, id) AS next FROM visits) f
GROUP BY section, next ORDER BY count(*) DESC, section, next
-- slowest
SELECT * FROM visits ORDER BY ms DESC, id LIMIT 1000
-- far_page
SELECT id, at, url FROM visits ORDER BY at DESC, id OFFSET 100000 LIMIT 50
-- timeline
SELECT visitor, at, url, ms FROM visits ORDER BY visitor, at, id
-- campaigns
SELECT facts->>'campaign' AS campaign, count(*), count(DISTINCT visitor) FROM visits GROUP BY 1 ORDER BY 2 DESC, 1
-- cohorts
SELECT date_trunc('day', first) AS day, count(*) FROM (SELECT visitor, min(at) AS first FROM visits GROUP BY visitor) f GROUP BY 1 ORDER BY 1
-- repeated
SELECT visitor, url, count(*) FROM visits GROUP BY visitor, url HAVING count(*) > 3 ORDER BY 3 DESC, 1, 2
-- running_bytes
SELECT id, sum(bytes) OVER (ORDER BY at, id) FROM visits
-- deciles
SELECT tenth, min(bytes), max(bytes) FROM (SELECT bytes, ntile(10) OVER (ORDER BY bytes) AS tenth FROM visits) d GROUP BY tenth ORDER BY tenth
-- favourite_page
SELECT country, mode() WITHIN GROUP (ORDER BY url) FROM visits GROUP BY country ORDER BY country
-- pages
SELECT DISTINCT url FROM visits ORDER BY url
-- gone_visitors
SELECT visitor FROM visits WHERE at < timestamptz '2026-01-07 00:00+00' EXCEPT SELECT visitor FROM visits WHERE at >= timestamptz '2026-01-07 00:00+00' ORDER BY 1
-- people_in_order
SELECT * FROM people ORDER BY name, id
-- people_icu
SELECT id, name, born FROM people ORDER BY name COLLATE "und-x-icu", id
-- people_by_place
SELECT place, name, born FROM people ORDER BY place COLLATE "C", born DESC, id
-- people_distinct
SELECT DISTINCT lower(name) FROM people
-- places
SELECT place, count(*), min(born), max(born) FROM people GROUP BY place ORDER BY count(*) DESC, place
-- families
SELECT place, array_agg(name ORDER BY name, id) FROM people GROUP BY place
-- languages
SELECT language, count(DISTINCT name), string_agg(DISTINCT left(email, 5), ',') FROM people GROUP BY language ORDER BY language
-- large_orders
SELECT o_orderkey, o_totalprice, count(*), sum(l_quantity) FROM orders JOIN lineitem ON l_orderkey = o_orderkey
GROUP BY o_orderkey, o_totalprice HAVING count(*) > 5 ORDER BY o_totalprice DESC, o_orderkey
-- best_customers
SELECT c_nationkey, c_name, revenue, rank() OVER (PARTITION BY c_nationkey ORDER BY revenue DESC)
FROM (SELECT o_custkey, sum(o_totalprice) AS revenue FROM orders GROUP BY o_custkey) o JOIN customer ON c_custkey = o_custkey
-- between_orders
SELECT o_custkey, avg(gap) FROM (SELECT o_custkey, o_orderdate - lag(o_orderdate) OVER (PARTITION BY o_custkey ORDER BY o_orderdate, o_orderkey) AS gap FROM orders) g
GROUP BY o_custkey ORDER BY 2 DESC NULLS LAST, 1 LIMIT 1000
-- cheapest_supplier
SELECT DISTINCT ON (ps_partkey) ps_partkey, ps_suppkey, ps_supplycost FROM partsupp ORDER BY ps_partkey, ps_supplycost, ps_suppkey
