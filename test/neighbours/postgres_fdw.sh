# postgres_fdw: an ORDER BY, or groups, that are pushed down without gpusort are pushed down with it, whether the
# remote server sorts by gpusort or not, and whatever the costs are of the network, or of gpusort's sorts.

QUERIES=(
	'SELECT * FROM f ORDER BY id'
	'SELECT * FROM f ORDER BY t DESC, id'
	'SELECT * FROM f ORDER BY t LIMIT 10'
	'SELECT * FROM f WHERE k % 7 = 0 ORDER BY k, id'
	'SELECT k, count(*) FROM f GROUP BY k ORDER BY k'
	'SELECT k, count(DISTINCT t) FROM f GROUP BY k'
	'SELECT a.id, b.t FROM f a JOIN f b USING (id) ORDER BY a.id, b.t'
	'SELECT id + 1, t FROM f ORDER BY t, id'
	'SELECT * FROM shards ORDER BY id'
	'SELECT * FROM shards ORDER BY k, id LIMIT 20'
)

# plans RUNNER: those that end in a remote query, or in a merge of such
plans()
{
	local query plan

	for query in "${QUERIES[@]}"; do
		plan=$($1 -c "EXPLAIN (VERBOSE, COSTS OFF) $query")
		if grep -qE '^ *(->)? *Foreign Scan' <<<"$plan" && ! grep -qE '^ *(->)? *(Sort|Custom Scan)' <<<"$plan"; then
			printf '%s\n' "$query" "$plan"
		fi
	done
}

# check_pushed LABEL WANTED: at least so many are pushed down without gpusort, and the same with it
check_pushed()
{
	local label=$1 alone

	alone=$(plans without)
	tally "$NEIGHBOUR: $label, alone" $(($(grep -c '^SELECT' <<<"$alone") >= $2)) $(($(grep -c '^SELECT' <<<"$alone") < $2))
	is "$label" "$(plans with)" "$alone"
	is "$label, forced" "$(plans forced)" "$alone"
}

check_neighbour()
{
	local query

	sql <<-SQL
		CREATE EXTENSION postgres_fdw;
		CREATE SERVER loopback FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$PGHOST', port '$PGPORT', dbname 'postgres', use_remote_estimate 'false', options '-c gpusort.enabled=on');
		CREATE USER MAPPING FOR postgres SERVER loopback;
		CREATE TABLE t AS SELECT i AS id, i % 1000 AS k, md5(i::text) COLLATE "C" AS t FROM generate_series(1, 50000) i;
		CREATE FOREIGN TABLE f (id int, k int, t text COLLATE "C") SERVER loopback OPTIONS (table_name 't');
		CREATE TABLE shards (id int, k int, t text COLLATE "C") PARTITION BY RANGE (id);
		CREATE TABLE t1 AS SELECT * FROM t WHERE id < 25000;
		CREATE TABLE t2 AS SELECT * FROM t WHERE id >= 25000;
		CREATE FOREIGN TABLE f1 PARTITION OF shards FOR VALUES FROM (0) TO (25000) SERVER loopback OPTIONS (table_name 't1');
		CREATE FOREIGN TABLE f2 PARTITION OF shards FOR VALUES FROM (25000) TO (90000) SERVER loopback OPTIONS (table_name 't2');
		ANALYZE t, t1, t2, f, f1, f2, shards;
	SQL
	check_pushed "costs guessed" 5
	sql -c "ALTER SERVER loopback OPTIONS (SET use_remote_estimate 'true')"
	check_pushed "costs of the remote server" 8
	sql -c "ALTER SERVER loopback OPTIONS (SET options '-c gpusort.enabled=off')"
	check_pushed "remote without gpusort" 8
	sql -c "ALTER SERVER loopback OPTIONS (ADD fdw_startup_cost '100000', ADD fdw_tuple_cost '1')"
	check_pushed "a dear network" 8
	sql -c "ALTER SERVER loopback OPTIONS (SET use_remote_estimate 'false')"
	check_pushed "a dear network, costs guessed" 5
	sql -c "ALTER SERVER loopback OPTIONS (SET use_remote_estimate 'true', DROP fdw_startup_cost, DROP fdw_tuple_cost)"
	sql -c "ALTER DATABASE postgres SET gpusort.cost_row = 1" -c "ALTER DATABASE postgres SET gpusort.cost_startup = 100000"
	check_pushed "dear sorts of gpusort" 8
	sql -c "ALTER DATABASE postgres RESET ALL"
	for query in "${QUERIES[@]}" 'SELECT * FROM f ORDER BY k + 1, t' 'SELECT a.k, b.t FROM f a JOIN f b USING (id) WHERE a.id % 3 = 0 ORDER BY b.k + a.k, b.t'; do
		same "${query#SELECT }" "SELECT md5(string_agg(q::text, ' ')) FROM ($query) q"
	done
}
