# pgbouncer: many clients, few servers' processes, which are handed over after each transaction: what a sort
# leaves in a process meets the next client's. Cancels and clients that are gone give back what they had.
PROGRAMS='pgbouncer'
SETTINGS=("gpusort.keep_memory = '8MB'" "gpusort.pool_size = '64MB'" "client_connection_check_interval = '200ms'")

QUERIES=(
	'SELECT id, s FROM t ORDER BY s DESC, id'
	'SELECT k, row_number() OVER (PARTITION BY k % 10 ORDER BY s, id) AS n FROM t ORDER BY k, 2'
	'SELECT DISTINCT k FROM t ORDER BY k DESC'
	'SELECT a.id, b.k FROM t a JOIN t b ON a.k = b.id ORDER BY b.s, a.id'
	'SELECT id FROM t ORDER BY n, id LIMIT 20'
)

start_bouncer()
{
	BOUNCER=$((PGPORT + 1000))
	cat >"$WORK/pgbouncer.ini" <<-INI
		[databases]
		postgres = host=$PGHOST port=$PGPORT user=postgres
		[pgbouncer]
		listen_addr =
		listen_port = $BOUNCER
		unix_socket_dir = $SHORT
		auth_type = any
		admin_users = postgres
		pool_mode = transaction
		default_pool_size = 3
		max_client_conn = 100
		ignore_startup_parameters = extra_float_digits,options
		logfile = $WORK/pgbouncer.log
		pidfile = $WORK/pgbouncer.pid
	INI
	give_to_server "$WORK/pgbouncer.ini"
	program pgbouncer -d "$WORK/pgbouncer.ini" >"$WORK/pgbouncer.out" 2>&1 ||
		{ cat "$WORK/pgbouncer.out"; return 1; }
	at_exit 'kill "$(cat "$WORK/pgbouncer.pid" 2>/dev/null)" 2>/dev/null'
}

# bounced [OPTION]...: psql through pgbouncer
bounced()
{
	(unset PGOPTIONS; sql -At -p "$BOUNCER" "$@")
}

# digest QUERY: of all rows in order
digest()
{
	echo "SELECT md5(string_agg(q::text, ' ')) FROM ($1) q"
}

# all_free LABEL: no process sorts
all_free()
{
	local i state

	for i in $(seq 50); do
		state=$(with -c "SELECT sum(sorts) IS NULL OR sum(sorts) = 0 FROM gpusort_pool()")
		[ "$state" != t ] || break
		sleep 0.1
	done
	is "$1" "$state" t
}

check_neighbour()
{
	local query i wanted got pid

	start_bouncer || { tally "$NEIGHBOUR: starts" 0 1; return; }
	sql <<-'SQL'
		CREATE TABLE t AS SELECT i AS id, hashint4(i) % 5000 AS k, md5(i::text) COLLATE "C" AS s, (i * 7919 % 10007) / 7.0 AS n
			FROM generate_series(1, 20000) i;
		ANALYZE t;
		ALTER DATABASE postgres SET gpusort.force = on;
	SQL
	is "three processes at most" "$(bounced -c 'SHOW gpusort.force')" on

	# 12 clients of 3 processes, each transaction another sort, half of them without gpusort by SET LOCAL
	for query in "${QUERIES[@]}"; do
		wanted+=$(without -c "$(digest "$query")")$'\n'
	done
	for i in $(seq 12); do
		for query in "${QUERIES[@]}" "${QUERIES[@]}"; do
			printf 'BEGIN; SET LOCAL gpusort.enabled = %s; %s; COMMIT;\n' $((i % 2)) "$(digest "$query")"
		done >"$WORK/client-$i.sql"
		give_to_server "$WORK/client-$i.sql"
		bounced -f "$WORK/client-$i.sql" >"$WORK/client-$i.out" 2>&1 &
		PIDS[i]=$!
	done
	for i in $(seq 12); do
		wait "${PIDS[i]}"
	done
	got=$(cat "$WORK"/client-*.out | LC_ALL=C sort | uniq -c | awk '{print $1, $2}')
	is "answers of 12 clients" "$got" "$(for i in $(seq 24); do printf %s "$wanted"; done | LC_ALL=C sort | uniq -c | awk '{print $1, $2}')"
	is "processes" "$(with -c "SELECT count(*) <= 3 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()")" t
	is "SET LOCAL does not outlive its transaction" "$(for i in 1 2 3 4; do bounced -c 'SHOW gpusort.enabled'; done | sort -u)" on
	is "what one client sorts by, another one does" "$(bounced -c "EXPLAIN (COSTS OFF) ${QUERIES[0]}" | head -n 1)" 'Custom Scan (GpuSort)'
	all_free "sorts have given back their memory"

	# cursors that stay open in the middle of their rows: each transaction has its process
	for i in $(seq 3); do
		printf 'BEGIN; DECLARE c CURSOR FOR %s; MOVE 10000 FROM c; SELECT pg_sleep(0.3); FETCH 1 FROM c; COMMIT;\n' "${QUERIES[0]}" >"$WORK/cursor-$i.sql"
		give_to_server "$WORK/cursor-$i.sql"
		bounced -f "$WORK/cursor-$i.sql" >"$WORK/cursor-$i.out" 2>&1 &
		PIDS[i]=$!
	done
	for i in 1 2 3; do
		wait "${PIDS[i]}"
	done
	is "cursors" "$(grep -h '|' "$WORK"/cursor-*.out | uniq -c | awk '{print $1, $2}')" "3 $(without -c "SELECT id, s FROM t ORDER BY s DESC, id OFFSET 10000 LIMIT 1")"

	# a cancel, which pgbouncer hands on, and clients that are gone
	bounced -c "SET statement_timeout = 0; $(digest 'SELECT pg_sleep(0.001), s FROM t ORDER BY s')" >"$WORK/cancelled.out" 2>&1 &
	pid=$!
	sleep 0.7
	with -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(0.001)%' AND pid <> pg_backend_pid()" >/dev/null
	wait $pid
	is "cancel" "$(grep -c 'canceling statement due to user request' "$WORK/cancelled.out")" 1
	(trap - INT; exec "${BECOME[@]}" "$BINDIR/psql" -X -At -p "$BOUNCER" -c "$(digest 'SELECT pg_sleep(0.001), s FROM t ORDER BY s')") >/dev/null 2>&1 9>&- &
	pid=$!
	sleep 0.7
	kill -KILL $pid
	wait $pid 2>/dev/null
	all_free "clients that are gone have given back their memory"
	is "the next client" "$(bounced -c "$(digest "${QUERIES[0]}")")" "$(head -n 1 <<<"$wanted")"
	kill "$(cat "$WORK/pgbouncer.pid")"
	is "no errors but the cancels" "$(grep -hE '(ERROR|FATAL|WARNING|PANIC):' "$WORK/pgbouncer.log" "$WORK/$NEIGHBOUR.log" |
		grep -vE 'canceling statement|connection to client lost' | head -n 5)" ""
}
