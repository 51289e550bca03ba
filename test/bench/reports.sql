-- reports.sql
--		Queries of reports.pl: those of TPC-H, with its validation parameters, and reports on its
--		tables that sort in all ways that SQL has.  "-- name" in a line begins a query.

-- h01
SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)),
	sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), avg(l_quantity), avg(l_extendedprice), avg(l_discount), count(*)
FROM lineitem WHERE l_shipdate <= date '1998-12-01' - interval '90 days'
GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus;
-- h02
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
FROM part, supplier, partsupp, nation, region
WHERE p_partkey = ps_partkey AND s_suppkey = ps_suppkey AND p_size = 15 AND p_type LIKE '%BRASS' AND s_nationkey = n_nationkey
	AND n_regionkey = r_regionkey AND r_name = 'EUROPE'
	AND ps_supplycost = (SELECT min(ps_supplycost) FROM partsupp, supplier, nation, region WHERE p_partkey = ps_partkey
		AND s_suppkey = ps_suppkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE')
ORDER BY s_acctbal DESC, n_name, s_name, p_partkey LIMIT 100;
-- h03
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate < date '1995-03-15'
	AND l_shipdate > date '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority ORDER BY revenue DESC, o_orderdate, l_orderkey LIMIT 10;
-- h04
SELECT o_orderpriority, count(*) FROM orders
WHERE o_orderdate >= date '1993-07-01' AND o_orderdate < date '1993-10-01'
	AND EXISTS (SELECT FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority ORDER BY o_orderpriority;
-- h05
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey
	AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'ASIA' AND o_orderdate >= date '1994-01-01'
	AND o_orderdate < date '1995-01-01'
GROUP BY n_name ORDER BY revenue DESC;
-- h06
SELECT sum(l_extendedprice * l_discount) FROM lineitem
WHERE l_shipdate >= date '1994-01-01' AND l_shipdate < date '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24;
-- h07
SELECT supp_nation, cust_nation, l_year, sum(volume)
FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, extract(year FROM l_shipdate) AS l_year,
		l_extendedprice * (1 - l_discount) AS volume
	FROM supplier, lineitem, orders, customer, nation n1, nation n2
	WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey
		AND c_nationkey = n2.n_nationkey AND (n1.n_name, n2.n_name) IN (('FRANCE', 'GERMANY'), ('GERMANY', 'FRANCE'))
		AND l_shipdate BETWEEN date '1995-01-01' AND date '1996-12-31') shipping
GROUP BY supp_nation, cust_nation, l_year ORDER BY supp_nation, cust_nation, l_year;
-- h08
SELECT o_year, sum(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / sum(volume)
FROM (SELECT extract(year FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, n2.n_name AS nation
	FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
	WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey
		AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
		AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN date '1995-01-01' AND date '1996-12-31'
		AND p_type = 'ECONOMY ANODIZED STEEL') all_nations
GROUP BY o_year ORDER BY o_year;
-- h09
SELECT nation, o_year, sum(amount)
FROM (SELECT n_name AS nation, extract(year FROM o_orderdate) AS o_year,
		l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
	FROM part, supplier, lineitem, partsupp, orders, nation
	WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey
		AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') profit
GROUP BY nation, o_year ORDER BY nation, o_year DESC;
-- h10
SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal, n_name, c_address, c_phone, c_comment
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= date '1993-10-01' AND o_orderdate < date '1994-01-01'
	AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment ORDER BY revenue DESC, c_custkey LIMIT 20;
-- h11
SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value FROM partsupp, supplier, nation
WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY'
GROUP BY ps_partkey
HAVING sum(ps_supplycost * ps_availqty) > (SELECT sum(ps_supplycost * ps_availqty) * 0.0001 FROM partsupp, supplier, nation
	WHERE ps_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'GERMANY')
ORDER BY value DESC, ps_partkey;
-- h12
SELECT l_shipmode, count(*) FILTER (WHERE o_orderpriority IN ('1-URGENT', '2-HIGH')),
	count(*) FILTER (WHERE o_orderpriority NOT IN ('1-URGENT', '2-HIGH'))
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
	AND l_receiptdate >= date '1994-01-01' AND l_receiptdate < date '1995-01-01'
GROUP BY l_shipmode ORDER BY l_shipmode;
-- h13
SELECT c_count, count(*) AS custdist
FROM (SELECT c_custkey, count(o_orderkey) AS c_count
	FROM customer LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%' GROUP BY c_custkey) c_orders
GROUP BY c_count ORDER BY custdist DESC, c_count DESC;
-- h14
SELECT 100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END) / sum(l_extendedprice * (1 - l_discount))
FROM lineitem, part WHERE l_partkey = p_partkey AND l_shipdate >= date '1995-09-01' AND l_shipdate < date '1995-10-01';
-- h15
WITH revenue AS (SELECT l_suppkey AS supplier_no, sum(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem
	WHERE l_shipdate >= date '1996-01-01' AND l_shipdate < date '1996-04-01' GROUP BY l_suppkey)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue FROM supplier, revenue
WHERE s_suppkey = supplier_no AND total_revenue = (SELECT max(total_revenue) FROM revenue) ORDER BY s_suppkey;
-- h16
SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS supplier_cnt FROM partsupp, part
WHERE p_partkey = ps_partkey AND p_brand <> 'Brand#45' AND p_type NOT LIKE 'MEDIUM POLISHED%' AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
	AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_type, p_size ORDER BY supplier_cnt DESC, p_brand, p_type, p_size;
-- h17
WITH quantities AS (SELECT l_partkey AS k, 0.2 * avg(l_quantity) AS q FROM lineitem GROUP BY l_partkey)
SELECT sum(l_extendedprice) / 7.0 FROM lineitem, part, quantities
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX' AND k = l_partkey AND l_quantity < q;
-- h18
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) FROM customer, orders, lineitem
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > 300)
	AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice ORDER BY o_totalprice DESC, o_orderdate, o_orderkey LIMIT 100;
-- h19
SELECT sum(l_extendedprice * (1 - l_discount)) FROM lineitem, part
WHERE p_partkey = l_partkey AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON'
	AND ((p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG') AND l_quantity BETWEEN 1 AND 11 AND p_size BETWEEN 1 AND 5)
		OR (p_brand = 'Brand#23' AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK') AND l_quantity BETWEEN 10 AND 20 AND p_size BETWEEN 1 AND 10)
		OR (p_brand = 'Brand#34' AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG') AND l_quantity BETWEEN 20 AND 30 AND p_size BETWEEN 1 AND 15));
-- h20
SELECT s_name, s_address FROM supplier, nation
WHERE s_suppkey IN (SELECT ps_suppkey FROM partsupp,
		(SELECT l_partkey, l_suppkey, 0.5 * sum(l_quantity) AS q FROM lineitem WHERE l_shipdate >= date '1994-01-01'
			AND l_shipdate < date '1995-01-01' GROUP BY l_partkey, l_suppkey) shipped
		WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%') AND l_partkey = ps_partkey
			AND l_suppkey = ps_suppkey AND ps_availqty > q)
	AND s_nationkey = n_nationkey AND n_name = 'CANADA'
ORDER BY s_name;
-- h21
SELECT s_name, count(*) AS numwait FROM supplier, lineitem l1, orders, nation
WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F' AND l1.l_receiptdate > l1.l_commitdate
	AND EXISTS (SELECT FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
	AND NOT EXISTS (SELECT FROM lineitem l3 WHERE l3.l_orderkey = l1.l_orderkey AND l3.l_suppkey <> l1.l_suppkey AND l3.l_receiptdate > l3.l_commitdate)
	AND s_nationkey = n_nationkey AND n_name = 'SAUDI ARABIA'
GROUP BY s_name ORDER BY numwait DESC, s_name LIMIT 100;
-- h22
SELECT cntrycode, count(*), sum(c_acctbal)
FROM (SELECT substring(c_phone FROM 1 FOR 2) AS cntrycode, c_acctbal FROM customer
	WHERE substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')
		AND c_acctbal > (SELECT avg(c_acctbal) FROM customer WHERE c_acctbal > 0.00 AND substring(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17'))
		AND NOT EXISTS (SELECT FROM orders WHERE o_custkey = c_custkey)) custsale
GROUP BY cntrycode ORDER BY cntrycode;

-- order_wide
SELECT * FROM orders ORDER BY o_totalprice DESC, o_orderkey;
-- order_text
SELECT * FROM customer ORDER BY c_name COLLATE "C" DESC;
-- order_two
SELECT l_orderkey, l_linenumber, l_extendedprice FROM lineitem ORDER BY l_shipdate, l_extendedprice DESC, l_orderkey, l_linenumber;
-- order_expression
SELECT o_orderkey, o_comment FROM orders ORDER BY lower(o_comment) COLLATE "C", o_orderkey;
-- order_case
SELECT o_orderkey FROM orders ORDER BY CASE o_orderpriority WHEN '1-URGENT' THEN 1 WHEN '2-HIGH' THEN 2 ELSE 3 END, o_totalprice, o_orderkey;
-- order_not_selected
SELECT o_comment FROM orders ORDER BY o_orderdate, o_custkey, o_orderkey;
-- order_join
SELECT o_orderdate, c_name, o_totalprice FROM orders JOIN customer ON c_custkey = o_custkey ORDER BY o_totalprice, o_orderkey;
-- order_uuid
SELECT o_orderkey, md5(o_orderkey::text)::uuid AS u FROM orders ORDER BY u;
-- order_limit
SELECT * FROM lineitem ORDER BY l_extendedprice DESC, l_orderkey, l_linenumber LIMIT 1000;
-- order_offset
SELECT l_orderkey, l_extendedprice FROM lineitem ORDER BY l_extendedprice DESC, l_orderkey, l_linenumber OFFSET 3000000 LIMIT 10;
-- order_prefix
SELECT o_orderkey, o_totalprice FROM orders ORDER BY o_orderkey / 1000, o_totalprice DESC, o_orderkey;
-- order_presorted
SELECT l_orderkey, l_linenumber, l_quantity FROM lineitem ORDER BY l_orderkey, l_quantity, l_linenumber;
-- distinct_two
SELECT DISTINCT o_custkey, o_orderdate FROM orders ORDER BY 1, 2;
-- distinct_one
SELECT DISTINCT l_partkey FROM lineitem ORDER BY 1;
-- distinct_many
SELECT count(*) FROM (SELECT DISTINCT l_orderkey, l_suppkey FROM lineitem) d;
-- distinct_text
SELECT DISTINCT l_shipmode, l_shipinstruct, l_returnflag FROM lineitem ORDER BY 1, 2, 3;
-- distinct_on
SELECT DISTINCT ON (o_custkey) o_custkey, o_orderdate, o_orderkey FROM orders ORDER BY o_custkey, o_orderdate DESC, o_orderkey;
-- distinct_on_key
SELECT DISTINCT ON (l_orderkey) l_orderkey, l_extendedprice FROM lineitem ORDER BY l_orderkey, l_extendedprice DESC, l_linenumber;
-- distinct_on_text
SELECT DISTINCT ON (o_clerk) o_clerk, o_orderkey, o_totalprice FROM orders ORDER BY o_clerk, o_totalprice DESC, o_orderkey;
-- window_rank
SELECT o_custkey, o_orderkey, rank() OVER (PARTITION BY o_custkey ORDER BY o_totalprice DESC) FROM orders;
-- window_sum
SELECT l_partkey, l_shipdate, sum(l_quantity) OVER (PARTITION BY l_partkey ORDER BY l_shipdate, l_orderkey, l_linenumber) FROM lineitem;
-- window_two
SELECT o_orderkey, row_number() OVER (ORDER BY o_totalprice, o_orderkey), lag(o_totalprice) OVER (PARTITION BY o_custkey ORDER BY o_orderdate, o_orderkey) FROM orders;
-- window_first
SELECT * FROM (SELECT o_custkey, o_orderkey, row_number() OVER (PARTITION BY o_custkey ORDER BY o_orderdate DESC, o_orderkey) AS n FROM orders) o WHERE n = 1;
-- window_moving
SELECT day, avg(total) OVER (ORDER BY day ROWS 6 PRECEDING) FROM (SELECT o_orderdate AS day, sum(o_totalprice) AS total FROM orders GROUP BY 1) d ORDER BY day;
-- window_ntile
SELECT bucket, count(*), min(o_totalprice), max(o_totalprice) FROM (SELECT o_totalprice, ntile(100) OVER (ORDER BY o_totalprice) AS bucket FROM orders) b GROUP BY 1 ORDER BY 1;
-- group_many
SELECT l_orderkey, l_partkey, sum(l_quantity) FROM lineitem GROUP BY l_orderkey, l_partkey ORDER BY 1, 2;
-- group_key
SELECT l_orderkey, sum(l_extendedprice) FROM lineitem GROUP BY l_orderkey ORDER BY l_orderkey;
-- group_distinct
SELECT o_custkey, count(DISTINCT o_orderpriority) FROM orders GROUP BY o_custkey ORDER BY 1;
-- group_array
SELECT o_custkey, array_agg(o_orderkey ORDER BY o_totalprice DESC, o_orderkey) FROM orders GROUP BY o_custkey ORDER BY 1;
-- group_percentile
SELECT l_suppkey, percentile_cont(0.5) WITHIN GROUP (ORDER BY l_extendedprice) FROM lineitem GROUP BY l_suppkey ORDER BY 1;
-- group_rollup
SELECT l_returnflag, l_shipmode, l_suppkey, sum(l_quantity) FROM lineitem GROUP BY ROLLUP (l_returnflag, l_shipmode, l_suppkey) ORDER BY 1, 2, 3;
-- group_cube
SELECT o_orderpriority, o_orderstatus, extract(year FROM o_orderdate) AS y, count(*) FROM orders GROUP BY CUBE (1, 2, 3) ORDER BY 1, 2, 3;
-- group_sets
SELECT o_custkey, o_orderdate, count(*), sum(o_totalprice) FROM orders GROUP BY GROUPING SETS ((o_custkey), (o_orderdate)) ORDER BY 1, 2;
-- group_text
SELECT o_clerk, count(*), max(o_totalprice) FROM orders GROUP BY o_clerk ORDER BY o_clerk;
-- group_order_by_sum
SELECT o_custkey, sum(o_totalprice) AS total FROM orders GROUP BY 1 ORDER BY total DESC, 1;
-- count_distinct
SELECT count(DISTINCT l_partkey), count(DISTINCT l_suppkey) FROM lineitem;
-- set_union
SELECT o_custkey AS k FROM orders UNION SELECT c_custkey FROM customer ORDER BY k;
-- set_intersect
SELECT l_orderkey, l_suppkey FROM lineitem WHERE l_shipmode = 'AIR' INTERSECT SELECT l_orderkey, l_suppkey FROM lineitem WHERE l_returnflag = 'N' ORDER BY 1, 2;
-- set_except
SELECT c_custkey FROM customer EXCEPT SELECT o_custkey FROM orders ORDER BY 1;
-- set_union_all
SELECT o_orderdate AS d, o_totalprice AS v FROM orders UNION ALL SELECT l_shipdate, l_extendedprice FROM lineitem ORDER BY d, v;
-- json_rows
SELECT o_custkey, jsonb_agg(jsonb_build_object('k', o_orderkey, 'p', o_totalprice) ORDER BY o_orderdate, o_orderkey) FROM orders WHERE o_custkey < 20000 GROUP BY 1 ORDER BY 1;
-- json_order
SELECT j->>'key' FROM (SELECT jsonb_build_object('key', o_clerk, 'price', o_totalprice) AS j, o_orderkey FROM orders) s ORDER BY (j->>'price')::numeric, o_orderkey;
-- cte_ranked
WITH totals AS (SELECT c_nationkey, c_custkey, sum(o_totalprice) AS total FROM customer JOIN orders ON c_custkey = o_custkey GROUP BY 1, 2),
	ranked AS (SELECT *, dense_rank() OVER (PARTITION BY c_nationkey ORDER BY total DESC) AS r FROM totals)
SELECT * FROM ranked WHERE r <= 10 ORDER BY c_nationkey, r, c_custkey;
-- cte_materialized
WITH o AS MATERIALIZED (SELECT * FROM orders ORDER BY o_totalprice DESC, o_orderkey) SELECT o_orderkey FROM o WHERE o_orderstatus = 'F';
-- recursive
WITH RECURSIVE days AS (SELECT min(o_orderdate) AS d FROM orders UNION ALL SELECT d + 30 FROM days WHERE d < date '1998-08-01')
SELECT d, (SELECT o_orderkey FROM orders WHERE o_orderdate >= d AND o_orderdate < d + 30 ORDER BY o_totalprice DESC, o_orderkey LIMIT 1) FROM days;
-- lateral_top
SELECT c_custkey, t.* FROM customer, LATERAL (SELECT o_orderkey, o_totalprice FROM orders WHERE o_custkey = c_custkey ORDER BY o_totalprice DESC, o_orderkey LIMIT 3) t
WHERE c_custkey < 20000 ORDER BY c_custkey, o_totalprice DESC, o_orderkey;
-- merge_join
SELECT count(*), sum(a.l_quantity) FROM lineitem a JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey;
-- full_join
SELECT count(*) FROM (SELECT DISTINCT o_custkey FROM orders) o FULL JOIN (SELECT DISTINCT c_custkey FROM customer) c ON o_custkey = c_custkey;
