# hypopg: a hypothetical index is judged as without gpusort, and as it will be when it exists.
PACKAGES=hypopg

QUERIES=(
	'SELECT * FROM t WHERE id = 5'
	'SELECT * FROM t WHERE id BETWEEN 100 AND 200 ORDER BY id'
	'SELECT * FROM t ORDER BY id LIMIT 10'
	'SELECT * FROM t WHERE id < 1000 ORDER BY other'
	'SELECT max(id) FROM t'
	'SELECT * FROM t ORDER BY id'
	'SELECT * FROM t ORDER BY other'
	'SELECT id FROM t ORDER BY id'
)

# plans RUNNER STATEMENT...: of all queries, after these statements, without the indexes' names
plans()
{
	local runner=$1 query

	shift
	for query in "${QUERIES[@]}"; do
		$runner "${@/#/-c}" -c "EXPLAIN (COSTS OFF) $query"
	done | sed -E '/^\(/d; s/"<[0-9]+>btree_t_id"|t_id_idx/INDEX/'
}

check_neighbour()
{
	local hypothetical="SELECT hypopg_create_index('CREATE INDEX ON t (id)')" alone beside forced

	sql <<-'SQL'
		CREATE EXTENSION hypopg;
		CREATE TABLE t AS SELECT i AS id, hashint4(i) AS other, repeat('x', 30) AS filler FROM generate_series(1, 100000) i;
		VACUUM ANALYZE t;
	SQL
	alone=$(plans without "$hypothetical")
	is "used by PostgreSQL alone" "$(grep -c INDEX <<<"$alone")" 7
	beside=$(plans with "$hypothetical")
	is "used beside gpusort" "$(grep -c INDEX <<<"$beside")" 5
	forced=$(plans forced "$hypothetical")
	holds "size of the index" "$hypothetical; SELECT hypopg_relation_size(indexrelid) > 0 FROM hypopg_list_indexes"

	sql -c 'CREATE INDEX ON t (id)' -c 'VACUUM ANALYZE t'
	is "as the real index, alone" "$(plans without)" "$alone"
	is "as the real index, beside gpusort" "$(plans with)" "$beside"
	is "as the real index, forced" "$(plans forced)" "$forced"
	is "built by gpusort" "$(built t_id_idx)" 1
}
