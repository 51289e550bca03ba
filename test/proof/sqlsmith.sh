#!/bin/bash
# sqlsmith.sh [--short] [SECONDS]
#		Debian's sqlsmith, for an hour, with every sort forced through gpusort.
#
# sqlsmith makes random statements from the catalog: joins, subqueries, window functions, MERGE.
# None may end in an internal error (XX000) unless PostgreSQL alone gives it too, which
# is asked by running the statement again without gpusort; and no process may crash.  One sqlsmith
# plans for one process, the other for workers.  SEED=n repeats their statements.
#
# --short takes 10 seconds and always the same statements.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

DURATION=3600 SAMPLED=0.02
if [ "${1:-}" = --short ]; then
	shift
	DURATION=10 SAMPLED=0.2 SEED=1
fi
DURATION=${1:-$DURATION}

need_packages build server locales sqlsmith
SMITH=$(command -v sqlsmith || echo /usr/games/sqlsmith)
export WITH_CUDA=0
private_begin sqlsmith
private_locales
cluster_start sqlsmith "shared_preload_libraries = 'gpusort, auto_explain'" "autovacuum_naptime = 1d" \
	"log_line_prefix = '%e|%p|'" "max_parallel_workers = 4" "gpusort.daemon = 'host:2'" \
	"auto_explain.log_min_duration = 0" "auto_explain.sample_rate = $SAMPLED"

# What the statements are about, and two roles without rights to do harm.
make_tables()
{
	local common="gpusort.force = on|jit = off|work_mem = '1MB'|temp_file_limit = '200MB'|enable_hashjoin = off|enable_hashagg = off|enable_nestloop = off"
	local role setting settings

	sql <<-SQL || die "cannot make the tables"
		CREATE EXTENSION gpusort;
		CREATE TABLE numbers AS SELECT i, (i * 7919 % 101)::int2 AS small, hashint8(i)::int8 AS big,
			CASE WHEN i % 7 <> 0 THEN (i % 91)::numeric / 7 END AS n, sin(i) AS f, sin(i)::float4 AS f4, i % 2 = 0 AS b
		FROM generate_series(1, 600) i;
		CREATE TABLE strings AS SELECT i, md5(i::text) AS t, md5((i % 50)::text) COLLATE "C" AS c, md5((i % 40)::text) COLLATE "en_US" AS e,
			(chr(192 + i % 200) || i) COLLATE "en-x-icu" AS u, left(md5(i::text), i % 20)::varchar(20) AS v, md5((i % 9)::text)::bpchar AS p,
			('n' || i % 30)::name AS name, decode(md5(i::text), 'hex') AS bytes
		FROM generate_series(1, 500) i;
		CREATE TABLE others AS SELECT i, md5((i % 80)::text)::uuid AS u, date '2000-01-01' + i % 100 AS d, timestamp '2000-01-01' + i * interval '1 hour' AS ts,
			timestamptz '2000-01-01' + i % 60 * interval '1 day' AS tz, (i % 24) * time '01:00' - time '00:00' AS iv, ('10.0.' || i % 3 || '.' || i % 250)::inet AS ip,
			('08:00:2b:01:02:' || lpad(to_hex(i % 250), 2, '0'))::macaddr AS mac, ARRAY[i % 5, i] AS a, int4range(i % 9, i % 9 + 10) AS r, jsonb_build_object('k', i % 9) AS j
		FROM generate_series(1, 400) i;
		CREATE TABLE parts (i int, k int, t text) PARTITION BY RANGE (k);
		CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO (50);
		CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (50) TO (MAXVALUE);
		INSERT INTO parts SELECT i, i % 100, md5(i::text) FROM generate_series(1, 500) i;
		CREATE INDEX ON parts (k, t);
		CREATE TABLE empty (LIKE strings);
		CREATE VIEW ranked AS SELECT u, rank() OVER (PARTITION BY c ORDER BY e, i) AS r FROM strings;
		CREATE VIEW ordered AS SELECT * FROM numbers ORDER BY small, n DESC OFFSET 0;
		CREATE VIEW ordered_text AS SELECT * FROM strings ORDER BY e, u DESC OFFSET 0;
		CREATE VIEW grouped AS SELECT small, n, count(*) AS count, max(f) AS f FROM numbers GROUP BY small, n;
		CREATE VIEW distinct_others AS SELECT DISTINCT u, d, ip FROM others;
		CREATE VIEW joined AS SELECT a.i, a.big, b.t, b.e FROM numbers a JOIN strings b ON a.i = b.i;
		CREATE VIEW ordered_parts AS SELECT t, k FROM parts ORDER BY t OFFSET 0;
		CREATE VIEW topmost AS SELECT ts, mac, ip FROM others ORDER BY mac DESC, ip LIMIT 50;
		CREATE ROLE smith_serial LOGIN;
		CREATE ROLE smith_parallel LOGIN;
		GRANT ALL ON ALL TABLES IN SCHEMA public TO smith_serial, smith_parallel;
	SQL
	for role in serial parallel; do
		settings="$common|max_parallel_workers_per_gather = 0"
		[ $role = serial ] || settings="$common|max_parallel_workers_per_gather = 2|parallel_setup_cost = 0|parallel_tuple_cost = 0|min_parallel_table_scan_size = 0|gpusort.cost_gather = 0|gpusort.late_rows = on"
		while IFS= read -r -d '|' setting; do
			sql -c "ALTER ROLE smith_$role SET $setting" || die "cannot set $setting"
		done <<<"$settings|"
	done
	sql -c 'VACUUM ANALYZE'
}

# smith ROLE SEED
smith()
{
	as_server timeout -k 5 "$DURATION" "$SMITH" --exclude-catalog --seed="$2" \
		--target="host=$PGHOST port=$PGPORT user=smith_$1 dbname=postgres" >"$WORK/smith_$1.log" 2>&1
}

# Statements of the log that ended in an internal error, each in a file of $WORK/internal.
find_internal_errors()
{
	mkdir -p "$WORK/internal"
	perl -ne '
		if (/^(\w{5})\|(\d+)\|(\w+):  (.*)/) {
			my ($code, $pid, $level, $text) = ($1, $2, $3, $4);
			$statement = undef;
			if ($level eq "ERROR" or $level eq "FATAL" or $level eq "PANIC") { $error{$pid} = $code =~ /^XX/ ? "$code $text" : undef }
			elsif ($level eq "STATEMENT" and $error{$pid}) {
				my $kind = $error{$pid};
				$kind =~ s/\d+/N/g;
				$statement = $seen{$kind}++ < 5 ? sprintf "%s/%04d.sql", $ARGV_DIR, ++$n : undef;
				$error{$pid} = undef;
				if ($statement) { open $out, ">", $statement; print $out "-- $kind\n$text\n" }
			}
		}
		elsif (/^\t/ and $statement) { print $out $_ }
		BEGIN { $ARGV_DIR = shift }' "$WORK/internal" "$WORK/sqlsmith.log"
}

# Does PostgreSQL alone give an internal error, too?  A statement that takes samples meets other rows each time.
is_theirs()
{
	local role roles='serial parallel'

	! grep -q tablesample "$1" || roles=$(printf "$roles %.0s" {1..20})
	for role in $roles; do
		{ echo "SET gpusort.enabled = off; BEGIN;"; grep -v '^-- ' "$1"; echo ";"; } |
			PGUSER=smith_$role as_server "$BINDIR/psql" -X -q -v VERBOSITY=sqlstate 2>&1 | grep -q 'XX[0-9A-Z]\{3\}' && return
	done
	return 1
}

make_tables
smith serial "${SEED:-$RANDOM}" &
serial=$!
smith parallel "$((${SEED:-$RANDOM} + 1))" &
parallel=$!
wait $serial
wait $parallel

find_internal_errors
theirs=0 ours=0
for statement in "$WORK"/internal/*.sql; do
	[ -f "$statement" ] || continue
	if is_theirs "$statement"; then
		theirs=$((theirs + 1))
	else
		ours=$((ours + 1))
		head -c 3000 "$statement"
	fi
done
statements=$(sql -At -c "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'postgres'")
plans=$(grep -c 'plan:$' "$WORK/sqlsmith.log")
taken=$(grep -c 'GpuSort' "$WORK/sqlsmith.log")
say "$statements statements; of the plans that were looked at ($plans), $taken nodes are gpusort's"
say "errors by class: $(sed -nE 's/^(\w{5})\|[0-9]+\|ERROR:.*/\1/p' "$WORK/sqlsmith.log" | sort | uniq -c | sort -rn | awk '{printf "%s %s, ", $1, $2}')"
say "internal errors that PostgreSQL has, too: $theirs kinds of statements"
tally "internal errors" $((ours == 0)) $ours
tally "sorts by gpusort" $((taken > 0)) $((taken == 0))
if grep -E 'PANIC|TRAP|terminated by signal|invalid memory|resource was not closed|leak' "$WORK/sqlsmith.log" | grep -v '|STATEMENT' | head -n 5 | grep .; then
	tally "no crash" 0 1
else
	tally "no crash" 1 0
fi
tally "server stops" $(cluster_stop sqlsmith && echo 1 0 || echo 0 1)
finish
