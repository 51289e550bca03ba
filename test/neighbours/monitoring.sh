# Prometheus and its exporters, with what docs/monitoring has: both exporters show what the views show, a Prometheus with
# the file as it is counts everything once, and each panel of the dashboard has something to draw. DASHBOARD=file.svg draws it (test/lib/dashboard.py).
PROGRAMS='prometheus prometheus-postgres-exporter prometheus-sql-exporter'
SETTINGS=("gpusort.pool_size = '64MB'" "track_activities = on")
# How often Prometheus asks, and how long an exporter may take to answer: long on a busy machine.
SCRAPE=5s
BEGUN=()

# begin NAME COMMAND...: one that runs until end_programs, or the end
begin()
{
	local name=$1

	shift
	BEGUN+=("$WORK/$name.pid")
	program sh -c 'echo $$ >"$0"; exec "$@"' "$WORK/$name.pid" "$@" >"$WORK/$name.log" 2>&1 &
	at_exit "end_program '$WORK/$name.pid'"
}

# What reads this server would read the next neighbour's, which has its port
end_programs()
{
	local file

	for file in "${BEGUN[@]}"; do
		end_program "$file"
		rm -f "$file"
	done
	BEGUN=()
}

end_program()
{
	local i pid

	# waited for, so that its port is free again
	pid=$(cat "$1" 2>/dev/null) || return 0
	kill "$pid" 2>/dev/null
	for i in $(seq 100); do
		[ -d "/proc/$pid" ] || return 0
		sleep 0.1
	done
	kill -9 "$pid" 2>/dev/null
}

# free_port PORT: the first one from there on that nobody listens to
free_port()
{
	local port=$1

	while (exec 3<>"/dev/tcp/localhost/$port") 2>/dev/null; do
		port=$((port + 3))
	done
	echo $port
}

# copied FILE SED...: of docs/monitoring, for these servers
copied()
{
	local file=$1

	shift
	sed -E "$@" "$TREE/docs/monitoring/$file" >"$WORK/$file"
	give_to_server "$WORK/$file"
}

start_exporters()
{
	EXPORTER=$(free_port $((PGPORT + 14000))) SQL_EXPORTER=$(free_port $((PGPORT + 14001))) PROMETHEUS=$(free_port $((PGPORT + 14002)))
	OTHER=$(free_port $((PROMETHEUS + 1)))
	copied postgres_exporter.yaml ''
	copied sql_exporter.yaml -e 's/interval: 30s/interval: 1s/' \
		-e "s,postgres://[^ ]*,'postgres://postgres@/postgres?sslmode=disable\&host=$PGHOST\&port=$PGPORT',"
	copied prometheus.yaml -e "s/localhost:9187/localhost:$EXPORTER/" -e "s/localhost:9237/localhost:$SQL_EXPORTER/" \
		-e "s/^scrape_configs:/global: {scrape_interval: $SCRAPE, scrape_timeout: $SCRAPE}\n&/"
	# with the other job instead, which stands there as a comment
	sed -E -e '/^  - job_name: sql_exporter/,/^$/d' -e 's/^# (- job_name| +static_| +- targets)/  \1/' "$WORK/prometheus.yaml" >"$WORK/other.yaml"
	give_to_server "$WORK/other.yaml"
	begin postgres_exporter env DATA_SOURCE_NAME="host=$PGHOST port=$PGPORT user=postgres dbname=postgres sslmode=disable" \
		prometheus-postgres-exporter --web.listen-address="localhost:$EXPORTER" --disable-default-metrics --disable-settings-metrics \
		--extend.query-path="$WORK/postgres_exporter.yaml"
	begin sql_exporter env CONFIG="$WORK/sql_exporter.yaml" prometheus-sql-exporter -web.listen-address "localhost:$SQL_EXPORTER"
	begin prometheus prometheus --config.file="$WORK/prometheus.yaml" --storage.tsdb.path="$WORK/tsdb" --web.listen-address="localhost:$PROMETHEUS"
	begin other_prometheus prometheus --config.file="$WORK/other.yaml" --storage.tsdb.path="$WORK/other_tsdb" --web.listen-address="localhost:$OTHER"
}

# metric PORT NAME [LABEL]: its value, of the kind "order by"
metric()
{
	curl -s -m 30 "http://localhost:$1/metrics" | grep -E "^$2\{" | grep -F 'kind="order by"' | grep -F "${3:-}" |
		awk '{printf "%d\n", $NF}'
}

# eventually LABEL WANTED COMMAND...: exporters and Prometheus are some seconds late, and minutes on a busy machine
eventually()
{
	local i label=$1 wanted=$2 got

	shift 2
	for i in $(seq 180); do
		got=$("$@")
		[ "$got" != "$wanted" ] || break
		sleep 1
	done
	is "$label" "$got" "$wanted"
}

# the dashboard's queries, with its variables replaced, one a line
panel_queries()
{
	perl -MJSON::PP -e 'local $/; my $d = decode_json(<>); for my $p (@{ $d->{panels} }) { print "$p->{title}\t$_->{expr}\n" for @{ $p->{targets} } }' \
		"$TREE/docs/monitoring/grafana.json" | sed -E 's/\$(instance|datname)/.*/g; s/\$__rate_interval/10m/g'
}

# ask QUERY: how many series Prometheus returns
ask()
{
	curl -s -m 60 -G "http://localhost:$PROMETHEUS/api/v1/query" --data-urlencode "query=$1" |
		perl -MJSON::PP -e 'local $/; my $d = eval { decode_json(<>) } // { error => "no answer" };
			print $d->{error} // scalar @{ $d->{data}{result} }, "\n"'
}

# ask_both QUERY: what the one returns, that reads sql_exporter, and what the other does
ask_both()
{
	echo "$(ask "$1") $(PROMETHEUS=$OTHER ask "$1")"
}

# some QUERY: "some" if it returns any
some()
{
	ask "$1" | sed 's/^[1-9][0-9]*$/some/'
}

# asked TIMES: how many exporters each Prometheus has asked so often
asked()
{
	ask_both "count_over_time(gpusort_sorts{kind=\"order by\",datname=\"postgres\"}[30m]) >= $1"
}

# work ROUNDS: sorts of all kinds, some of which spill
work()
{
	local i

	for ((i = 0; i < $1; i++)); do
		forced -c "SELECT count(*) FROM (SELECT * FROM t ORDER BY s OFFSET 0) q" -c "SELECT max(n) FROM (SELECT row_number() OVER (PARTITION BY k ORDER BY s) AS n FROM t) q" \
			-c 'SET enable_hashagg = off' -c 'SELECT count(*) FROM (SELECT k, max(s) FROM t GROUP BY k) q' -c 'REINDEX INDEX t_s' \
			-c "SET work_mem = '64kB'" -c 'SET gpusort.pool_quota = 4' -c "SELECT count(*) FROM (SELECT * FROM t ORDER BY k, s OFFSET 0) q" >/dev/null
		sleep "0.$((RANDOM % 9))"
	done
}

check_neighbour()
{
	local title query wanted

	sql -c 'CREATE TABLE t AS SELECT i AS id, hashint4(i) % 1000 AS k, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 20000) i' -c 'ANALYZE t' -c 'CREATE INDEX t_s ON t (s)'
	start_exporters
	work 1
	eventually "each Prometheus reads one" '1 1' asked 3
	work "${ROUNDS:-3}"
	for query in sorts rows bytes; do
		wanted=$(without -c "SELECT $query FROM pg_stat_gpusort WHERE datname = 'postgres' AND kind = 'order by'")
		eventually "postgres_exporter: $query" "$wanted" metric $EXPORTER "gpusort_$query"
		eventually "sql_exporter: $query" "$wanted" metric $SQL_EXPORTER "sql_gpusort" "col=\"$query\""
		eventually "both Prometheus have it: $query" '1 1' ask_both "gpusort_$query{kind=\"order by\",datname=\"postgres\"} == $wanted"
	done
	wanted=$(without -c 'SELECT pool_bytes FROM gpusort_service()')
	eventually "the pool is counted once" '1 1' ask_both "sum(gpusort_service_pool_bytes) == $wanted"
	while IFS=$'\t' read -r title query; do
		eventually "panel ${title}" some some "$query"
	done < <(panel_queries)
	is "no errors of the exporters' queries" "$(grep -h 'ERROR' "$WORK/$NEIGHBOUR.log" | head -n 3)" ""
	[ -z "${DASHBOARD:-}" ] || "$TREE/test/lib/dashboard.py" "http://localhost:$PROMETHEUS" "$TREE/docs/monitoring/grafana.json" "localhost:$SQL_EXPORTER" "$DASHBOARD"
	end_programs
}
