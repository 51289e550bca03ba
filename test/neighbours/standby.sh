# A hot standby: it sorts what it has by WAL, reads indexes that the primary's gpusort has built, gives back what a
# sort had that recovery cancels, and goes on, sorts in the middle of their rows included, when it is promoted.
SETTINGS=("wal_level = replica" "max_wal_senders = 5" "hot_standby = on" "wal_keep_size = 256MB")

QUERIES=(
	'SELECT id, s FROM t ORDER BY s DESC, id'
	'SELECT k, row_number() OVER (PARTITION BY k % 10 ORDER BY s, id) AS n FROM t ORDER BY k, 2'
	'SELECT DISTINCT ON (k) k, id FROM t ORDER BY k, s, id'
	'SELECT a.id, b.k FROM t a JOIN t b ON a.k = b.id ORDER BY b.s, a.id'
	'SELECT id FROM t ORDER BY i, id LIMIT 20'
)

# start_standby: a copy of the primary that follows it; PGPORT is its from then on
start_standby()
{
	local data=$WORK/standby_copy

	PRIMARY=$PGPORT
	as_server "$BINDIR/pg_basebackup" -D "$data" -R -c fast -p "$PRIMARY" --no-sync >"$WORK/basebackup.log" 2>&1 || { cat "$WORK/basebackup.log"; return 1; }
	STANDBY=$((PRIMARY + 500))
	as_server sh -c 'printf "port = %s\nmax_standby_streaming_delay = 0\n" "$1" >>"$0/postgresql.conf"' "$data" "$STANDBY"
	CLUSTERS+=(standby_copy)
	as_server "$BINDIR/pg_ctl" -D "$data" -l "$WORK/standby_copy.log" -w -t 120 start >/dev/null 2>&1 || { tail -n 20 "$WORK/standby_copy.log"; return 1; }
	PGPORT=$STANDBY
}

# replayed: the standby has all there is
replayed()
{
	local i lsn

	lsn=$(sql -At -p "$PRIMARY" -c 'SELECT pg_current_wal_flush_lsn()')
	for i in $(seq 300); do
		[ "$(sql -At -c "SELECT pg_last_wal_replay_lsn() >= '$lsn'")" != t ] || return 0
		sleep 0.1
	done
	tally "$NEIGHBOUR: replayed" 0 1
}

# compare LABEL: all queries, forced here, and without gpusort on the primary, which may prune what it reads: nothing
# of that is to be replayed while the standby reads
compare()
{
	local query theirs

	for query in "${QUERIES[@]}"; do
		theirs=$(without -p "$PRIMARY" -c "$query" | md5sum)
		[ "$(sql -At -c 'SELECT pg_is_in_recovery()')" != t ] || replayed
		is "$1: ${query#SELECT }" "$(forced -c "$query" | md5sum)" "$theirs"
	done
}

pool_is_free()
{
	is "$1: the pool is free" "$(with -c 'SELECT coalesce(sum(sorts), 0) FROM gpusort_pool()')" 0
}

# amcheck can't lock indexes as it wants to during recovery
check_indexes_there()
{
	without -c "SELECT count(bt_index_check(indexrelid, true)::text) || ' valid' FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		WHERE indrelid >= 16384 AND relkind = 'i' AND relname ~ '^t_'"
}

# counted: sorts of this server; a session has added its own to them when it has ended
counted()
{
	with -c "SELECT coalesce(sum(sorts), 0) FROM pg_stat_gpusort WHERE datname = 'postgres'"
}

# check_counts: this server has its own counts, which nobody else's change, and which a restart keeps
check_counts()
{
	local before there sorts

	there=$(PGPORT=$PRIMARY counted)
	before=$(counted)
	forced -c "${QUERIES[0]}" -c "${QUERIES[0]}" >/dev/null
	sorts=$(counted)
	is "standby: sorts are counted" "$((sorts - before))" 2
	is "... here only" "$(PGPORT=$PRIMARY counted)" "$there"
	PGPORT=$PRIMARY forced -c "${QUERIES[0]}" >/dev/null
	is "... and not those of the primary" "$(counted)" "$sorts"
	is "standby: running sorts can be read" "$(with -c 'SELECT count(*) FROM pg_stat_gpusort_activity')" 0
	is "standby: EXPLAIN ANALYZE" "$(forced -c "EXPLAIN (ANALYZE, COSTS OFF) ${QUERIES[0]}" | grep -c 'Sort Method: radix')" 1
	sorts=$(counted)
	as_server "$BINDIR/pg_ctl" -D "$WORK/standby_copy" -l "$WORK/standby_copy.log" -m fast -w -t 120 restart >/dev/null 2>&1
	is "standby: a restart keeps counts" "$(counted)" "$sorts"
	forced -c "${QUERIES[0]}" >/dev/null
	is "... and counting goes on" "$(counted)" "$((sorts + 1))"
}

check_neighbour()
{
	local i wanted kept

	sql <<-'SQL'
		CREATE EXTENSION amcheck;
		CREATE TABLE t AS SELECT i AS id, hashint4(i) % 5000 AS k, md5(i::text) COLLATE "C" AS s, md5(i::text) COLLATE "en-x-icu" AS i
			FROM generate_series(1, 30000) i;
		ANALYZE t;
		CREATE INDEX t_s ON t (s);
	SQL
	start_standby || { tally "$NEIGHBOUR: starts" 0 1; return; }
	sql -p "$PRIMARY" -c "UPDATE t SET s = md5(s) WHERE id % 3 = 0" -c 'CREATE UNIQUE INDEX t_id ON t (id) INCLUDE (k)' -c 'CREATE INDEX t_k ON t (k, i)' \
		-c 'REINDEX INDEX t_s' -c 'ANALYZE t'
	replayed
	is "it is in recovery" "$(with -c 'SELECT pg_is_in_recovery()')" t
	is "sorts by gpusort" "$(forced -c "EXPLAIN (COSTS OFF) ${QUERIES[0]}" | head -n 1)" 'Custom Scan (GpuSort)'
	compare "standby"
	is "standby, with workers" "$(forced -c 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0' -c "${QUERIES[0]}" | md5sum)" \
		"$(without -p "$PRIMARY" -c "${QUERIES[0]}" | md5sum)"
	is "standby, in temporary files" "$(PGOPTIONS='-c work_mem=64kB -c gpusort.pool_quota=1' forced -c "${QUERIES[0]}" | md5sum)" \
		"$(without -p "$PRIMARY" -c "${QUERIES[0]}" | md5sum)"
	is "indexes that were built on the primary" "$(check_indexes_there)" '3 valid'
	pool_is_free "after queries"
	check_counts

	# recovery cancels a sort that reads rows which the primary has vacuumed away
	forced -c 'BEGIN ISOLATION LEVEL REPEATABLE READ' -c "SELECT md5(string_agg(s, NULL)) FROM (SELECT pg_sleep(0.001), s FROM t ORDER BY s, id) q" >"$WORK/conflict.out" 2>&1 &
	i=$!
	sleep 0.5
	sql -p "$PRIMARY" -c 'DELETE FROM t WHERE id % 5 = 0' -c 'VACUUM t'
	wait $i
	is "a conflict with recovery" "$(grep -c 'canceling statement due to conflict with recovery' "$WORK/conflict.out")" 1
	replayed
	compare "after the conflict"
	pool_is_free "after the conflict"

	# a cursor in the middle of its rows, and a prepared statement, when the standby is promoted
	wanted=$(without -p "$PRIMARY" -c "${QUERIES[0]}" | md5sum)
	forced -c 'BEGIN' -c "DECLARE c CURSOR FOR ${QUERIES[0]}" -c "PREPARE p AS ${QUERIES[0]}" -c "FETCH 1000 FROM c" -c "SELECT 'opened'" \
		-c 'DO $$ BEGIN WHILE pg_is_in_recovery() LOOP PERFORM pg_sleep(0.05); END LOOP; END $$' \
		-c 'FETCH ALL FROM c' -c "SELECT 'closed'" -c 'EXECUTE p' -c 'COMMIT' >"$WORK/promoted.out" 2>&1 &
	i=$!
	sleep 1
	cluster_stop "$NEIGHBOUR" fast
	kept=$(counted)
	sql -c 'SELECT pg_promote()' >/dev/null
	wait $i
	is "counts over the promotion" "$(($(counted) - kept > 0 && kept > 0))" 1
	is "a cursor over the promotion" "$(sed -n '/^closed$/q;/^opened$/!p' "$WORK/promoted.out" | md5sum)" "$wanted"
	is "a prepared statement over the promotion" "$(sed '1,/^closed$/d' "$WORK/promoted.out" | md5sum)" "$wanted"
	is "it has been promoted" "$(with -c 'SELECT pg_is_in_recovery()')" f
	PRIMARY=$STANDBY
	sql -c 'INSERT INTO t SELECT 100000 + i, i, md5(i::text), md5(i::text) FROM generate_series(1, 5000) i' -c 'CREATE INDEX t_i ON t (i)' -c 'REINDEX INDEX t_k'
	compare "promoted"
	is "promoted: amcheck" "$(check_indexes '^t_')" '4 valid'
	is "promoted: built by gpusort" "$(SERVER=standby_copy built 't_[ik]')" 2
	pool_is_free "promoted"
	is "no errors but the conflict" "$(grep -hE '(ERROR|FATAL|WARNING|PANIC):' "$WORK/standby_copy.log" |
		grep -vE 'conflict with recovery|could not (connect|receive data|send)|terminating walreceiver|streaming replication' | head -n 5)" ""
	stop_server standby_copy
	# the primary has been stopped already
	primary_again
}

# run.sh stops a server of the neighbour's name at the end
primary_again()
{
	as_server "$BINDIR/pg_ctl" -D "$WORK/$NEIGHBOUR" -l "$WORK/$NEIGHBOUR.log" -w start >/dev/null 2>&1
}
