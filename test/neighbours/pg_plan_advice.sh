# pg_plan_advice: advice can be made of all plans with sorts of ours, and is followed when it is given
# back.  PostgreSQL has it from 19 on.

SETTINGS=("min_parallel_table_scan_size = 0" "parallel_setup_cost = 0" "parallel_tuple_cost = 0")

QUERIES=(
	'SELECT * FROM t ORDER BY k, id'
	'SELECT t.id FROM t JOIN u ON t.k = u.k ORDER BY t.s, t.id, u.id'
	'SELECT t.id FROM t JOIN u ON t.s = u.s JOIN v ON u.k = v.k ORDER BY t.s, t.id, v.id'
	'SELECT count(*) FROM t LEFT JOIN u ON t.s = u.s'
	'SELECT * FROM t WHERE k IN (SELECT k FROM u) ORDER BY s, id'
	'SELECT k, count(*) FROM (SELECT DISTINCT k, s FROM t) x GROUP BY k ORDER BY 2, 1'
	'SELECT t.id, r FROM t JOIN (SELECT id, rank() OVER (PARTITION BY k ORDER BY s) r FROM u) w USING (id) ORDER BY r, id'
)

# explain RUNNER ADVICE JOINS QUERY
explain()
{
	$1 -c "LOAD 'pg_plan_advice'" -c "SET pg_plan_advice.advice = '$2'" -c "SET enable_hashjoin = $3" -c "SET enable_nestloop = $3" \
		-c "EXPLAIN (COSTS OFF, PLAN_ADVICE) $4" 2>&1
}

check_neighbour()
{
	local query joins runner plan advice shared=0

	if [ "$PG_MAJOR" -lt 19 ]; then
		say "pg_plan_advice: PostgreSQL $PG_MAJOR does not have it"
		return
	fi
	sql <<-'SQL'
		CREATE TABLE t AS SELECT i AS id, i % 5000 AS k, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 50000) i;
		CREATE TABLE u AS SELECT * FROM t;
		CREATE TABLE v AS SELECT * FROM t;
		VACUUM ANALYZE t, u, v;
	SQL
	for query in "${QUERIES[@]}"; do
		for joins in on off; do
			for runner in with forced; do
				plan=$(explain $runner "" $joins "$query")
				advice=$(sed '1,/^ *Generated Plan Advice/d' <<<"$plan" | tr '\n' ' ')
				is "$runner, joins $joins: advice for $query" "$([ -n "$advice" ] && ! grep ERROR <<<"$plan" && echo made)" made
				plan=$(explain $runner "$advice" on "$query")
				is "$runner, joins $joins: advice is followed" "$(grep -E 'ERROR|/\*' <<<"$plan" | grep -v '/\* matched \*/$')" ""
			done
			plan=$(forced -c "SET enable_hashjoin = $joins" -c "SET enable_nestloop = $joins" -c "EXPLAIN (COSTS OFF) $query")
			! grep -q 'GpuSort Shared' <<<"$plan" || shared=$((shared + 1))
		done
	done
	is "sorts below joins are shared where no advice is made" $((shared > 0)) 1
}
