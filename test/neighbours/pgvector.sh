# pgvector: its own regression suite, with everything forced through gpusort: what differs from what it expects differs
# without gpusort, too, in the same way; sorts by distances; its indexes. Its source is Debian's.
PACKAGES=pgvector

# run_suite NAME SETTING...: in a database of its own; its outputs into WORK/pgvector.NAME
run_suite()
{
	local name=$1 options=

	shift
	while [ $# -gt 0 ]; do
		options+=" -c $1"
		shift
	done
	mkdir -p "$WORK/pgvector.$name"
	give_to_server "$WORK/pgvector" "$WORK/pgvector.$name"
	as_server env PGOPTIONS="$options" "$PGXS_DIR/src/test/regress/pg_regress" --use-existing --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" \
		--bindir="$BINDIR" --inputdir="$WORK/pgvector/test" --outputdir="$WORK/pgvector.$name" --dbname="vector_$name" \
		"${TESTS[@]}" >"$WORK/pgvector.$name.log" 2>&1
}

check_neighbour()
{
	local test name query TESTS

	fetch_source pgvector || { tally "$NEIGHBOUR: source" 0 1; return; }
	mapfile -t TESTS < <(cd "$WORK/pgvector/test/sql" && ls -- *.sql | sed 's/\.sql$//')
	for name in without forced; do
		sql -c "CREATE DATABASE vector_$name TEMPLATE template0"
		PGDATABASE=vector_$name sql -c 'CREATE EXTENSION vector'
	done
	run_suite without gpusort.enabled=off
	run_suite forced gpusort.force=on gpusort.verify=on gpusort.min_rows=0
	for test in "${TESTS[@]}"; do
		is "$test" "$(cat "$WORK/pgvector.forced/results/$test.out")" "$(cat "$WORK/pgvector.without/results/$test.out")"
	done
	is "as pgvector expects" "$(grep -cE '^(ok|test .*ok)' "$WORK/pgvector.forced.log")" "$(grep -cE '^(ok|test .*ok)' "$WORK/pgvector.without.log")"
	tally "$NEIGHBOUR: there are tests" $((${#TESTS[@]} > 10)) $((${#TESTS[@]} <= 10))

	# its suite sorts few rows, and by vectors, which have no encoding; distances are numbers
	sql -c 'CREATE EXTENSION vector' -c 'CREATE TABLE items AS SELECT i AS id, ARRAY[hashint4(i) % 1000, hashint4(-i) % 1000, i % 7]::vector(3) AS v FROM generate_series(1, 5000) i' \
		-c 'ANALYZE items'
	for query in 'id FROM items ORDER BY v <-> $$[1,2,3]$$, id' 'id, v <=> $$[3,2,1]$$ AS d FROM items WHERE id % 3 = 0 ORDER BY d DESC, id' \
		'id FROM items ORDER BY v <#> $$[1,1,1]$$, id LIMIT 100' 'id FROM items ORDER BY v, id' 'count(*), count(DISTINCT v) FROM items' \
		'a.id, b.id FROM items a JOIN items b ON a.v = b.v ORDER BY a.v <-> $$[9,9,9]$$, a.id, b.id' \
		'id, rank() OVER (PARTITION BY id % 7 ORDER BY v <-> $$[1,2,3]$$, id) FROM items'; do
		same "${query}" "SELECT $query"
	done
	holds "sorted by gpusort" "SELECT sum(sorts) >= 5 FROM pg_stat_gpusort WHERE datname = 'postgres'"
	query='EXPLAIN (COSTS OFF) SELECT id FROM items ORDER BY v <-> $$[1,2,3]$$ LIMIT 5'
	sql -c 'CREATE INDEX items_v ON items USING hnsw (v vector_l2_ops)'
	is "its index is used" "$(with -c "$query")" "$(without -c "$query")"
	is "... indeed" "$(with -c "$query" | grep -c 'Index Scan using items_v')" 1
}
