# pg_hint_plan: hints win, whichever of the two is loaded first.  Debian has it from PostgreSQL 17 on.
PACKAGES=pg-hint-plan PRELOAD=pg_hint_plan

# A hint, what must be in the plan, and the query.
CASES=(
	'SeqScan(t)|Seq Scan on t|SELECT * FROM t WHERE id < 10 ORDER BY id'
	'IndexScan(t t_id)|Index Scan using t_id|SELECT * FROM t ORDER BY id'
	'IndexScan(t t_k)|Index Scan using t_k|SELECT * FROM t ORDER BY k, id'
	'IndexOnlyScan(t t_id)|Index Only Scan using t_id|SELECT id FROM t ORDER BY id'
	'BitmapScan(t t_k)|Bitmap Heap Scan|SELECT * FROM t WHERE k < 90 ORDER BY id'
	'MergeJoin(t u)|Merge Join|SELECT * FROM t JOIN u ON t.k = u.k WHERE u.id < 300 ORDER BY t.k, t.id, u.id'
	'HashJoin(t u)|Hash Join|SELECT * FROM t JOIN u ON t.k = u.k ORDER BY t.k, t.id, u.id'
	'NestLoop(t u) IndexScan(t t_id) IndexScan(u u_id) Leading((t u))|Nested Loop|SELECT * FROM t JOIN u USING (id) ORDER BY id'
	'NoMergeJoin(t u)|(Hash|Nested)|SELECT * FROM t JOIN u USING (id) ORDER BY id'
	'Leading(((t v) u)) MergeJoin(t v) HashJoin(t v u)|Merge Join|SELECT * FROM t JOIN u USING (id) JOIN v USING (id) ORDER BY v.k, id'
	'Leading((u (v t))) HashJoin(t v) HashJoin(t u v)|Hash Join|SELECT * FROM t JOIN u USING (id) JOIN v USING (id) ORDER BY v.k, id'
	'Set(enable_hashagg off) SeqScan(t)|GroupAggregate|SELECT k, count(*) FROM t GROUP BY k ORDER BY k'
	'Set(enable_sort off)|Index Scan using t_k|SELECT * FROM t ORDER BY k'
	'Set(gpusort.enabled off) SeqScan(t)|Sort|SELECT * FROM t ORDER BY k, s'
	'Parallel(t 0 hard)|Seq Scan on t|SELECT * FROM t ORDER BY s'
	'Parallel(t 3 hard) SeqScan(t) Set(parallel_tuple_cost 0) Set(parallel_setup_cost 0)|Workers Planned: 3|SELECT * FROM t ORDER BY s'
	'Parallel(t 2 hard) Parallel(u 2 hard) MergeJoin(t u) SeqScan(t) SeqScan(u)|Workers Planned: 2|SELECT count(*) FROM t JOIN u ON t.s = u.s'
	'Rows(t u #7)|rows=7 |SELECT * FROM t JOIN u ON t.k = u.k ORDER BY t.s, u.id'
)

# plan RUNNER SETTINGS QUERY
plan()
{
	$1 -c "$2" -c 'SET enable_incremental_sort = off' -c "EXPLAIN $3" | sed -E 's/\(cost=[0-9.]* (rows=[0-9]+ )width=[0-9]+\)/\1/'
}

check_hints()
{
	local label=$1 case hint pattern query off with runner plan used

	for case in "${CASES[@]}"; do
		IFS='|' read -r hint pattern query <<<"${case/(Hash|Nested)/(Hash.Nested)}"
		pattern=${pattern/(Hash.Nested)/(Hash|Nested)}
		for runner in without with forced; do
			plan=$(plan $runner "SET max_parallel_workers_per_gather = $([[ $hint != *Parallel* ]] && echo 0 || echo 2)" "/*+ $hint */ $query")
			grep -qE "$pattern" <<<"$plan" && used=yes || { used=no; printf '%s\n' "$plan"; }
			is "$label, $runner: $hint" $used yes
			[[ $hint != *enabled* && $hint != *Parallel* && $hint != Rows* ]] || continue
			# all else as without gpusort
			plan=$(sorts_as_sort <<<"$plan" | sed -E 's/ rows=[0-9]+//')
			[ $runner = without ] && without=$plan || is "$label, $runner: all of the plan" "$plan" "$without"
		done
		[[ $hint != *enabled* ]] || is "$label: gpusort is off by a hint" "$(plan forced '' "/*+ $hint */ $query" | grep -c Gpu)" 0
		[ "$label" != first ] || same "$hint" "/*+ $hint */ SELECT md5(string_agg(q::text, ' ')) FROM ($query) q"
	done
	is "$label: sorts are taken over" "$(plan with '' '/*+ SeqScan(t) */ SELECT * FROM t ORDER BY s, id' | grep -c Gpu)" 1
}

check_neighbour()
{
	local order

	for order in first last; do
		if [ $order = last ]; then
			start_server "hint_plan_last" "shared_preload_libraries = 'gpusort, pg_hint_plan'"
		fi
		sql <<-'SQL'
			CREATE TABLE t AS SELECT i AS id, i % 5000 AS k, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 50000) i;
			CREATE TABLE u AS SELECT * FROM t;
			CREATE TABLE v AS SELECT * FROM t;
			CREATE INDEX t_id ON t (id);
			CREATE INDEX t_k ON t (k);
			CREATE INDEX u_id ON u (id);
			VACUUM ANALYZE t, u, v;
		SQL
		check_hints $order
	done
	stop_server hint_plan_last
}
