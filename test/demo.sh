#!/bin/bash
# demo.sh
#		make demo: the same sorts without and with gpusort, side by side.
#
# Installs what is missing, builds, starts a throw-away server, loads a few
# million rows and sorts them; prints plans, times and ratios, and checks that both
# answers are the same.  Less than three minutes; nothing stays behind.
# ROWS=n takes other numbers of rows.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

ROWS=${ROWS:-2000000}
SETTINGS="SET max_parallel_workers_per_gather = 0; SET work_mem = '2GB';"
SUMMARY=()

load()
{
	local start

	start=$(now_ms)
	say "Loading $ROWS rows twice ..."
	as_server "$BINDIR/pgbench" -i -q -s $(((ROWS + 99999) / 100000)) postgres >"$WORK/pgbench.log" 2>&1 ||
		die "pgbench -i failed: see $WORK/pgbench.log"
	sql <<-SQL || die "could not load"
		UPDATE pgbench_accounts SET abalance = hashint4(aid) % 5000;
		CREATE TABLE measurements AS
			SELECT hashint8extended(i, 0) AS k, i AS n,
				'sensor-' || (hashint4(i) & 65535) || '-' || md5(i::text) AS label
			FROM generate_series(1, $ROWS) i;
		VACUUM ANALYZE;
	SQL
	say "... $(seconds $(($(now_ms) - start)))"
}

# explained off|on QUERY: EXPLAIN ANALYZE of the second run in a session.
explained()
{
	sql -At <<-SQL
		SET gpusort.enabled = $1; $SETTINGS
		EXPLAIN (ANALYZE, TIMING OFF) $2 \\g /dev/null
		EXPLAIN (ANALYZE, TIMING OFF) $2;
	SQL
}

# digest off|on QUERY: the answer, row after row.
digest()
{
	sql -At <<-SQL | md5sum
		SET gpusort.enabled = $1; $SETTINGS
		$2 \\g |cat
	SQL
}

execution_ms()
{
	sed -nE 's/^Execution Time: ([0-9.]+) ms$/\1/p' "$1"
}

compare()
{
	local label=$1 query=$2 mode digest_off digest_on ms_off ms_on

	printf '\n=== %s\n    %s\n' "$label" "$query"
	for mode in off on; do
		explained $mode "$query" >"$WORK/plan" || die "the query failed"
		printf '\n--- gpusort.enabled = %s\n' $mode
		cat "$WORK/plan"
		eval "ms_$mode=$(execution_ms "$WORK/plan")"
	done
	digest_off=$(digest off "$query")
	digest_on=$(digest on "$query")
	if [ "$digest_off" = "$digest_on" ] && [ -n "$digest_on" ]; then
		NPASSED=$((NPASSED + 1))
	else
		NFAILED=$((NFAILED + 1))
		say "THE ANSWERS DIFFER"
	fi
	SUMMARY+=("$(awk -v label="$label" -v off="$ms_off" -v on="$ms_on" \
		'BEGIN { printf "%-42s %8.0f ms %8.0f ms %6.1f x", label, off, on, off / on }')")
}

need_packages build server
private_begin demo
cluster_start main "shared_preload_libraries = 'gpusort'" "shared_buffers = 1GB" "max_wal_size = 8GB" \
	"wal_level = minimal" "max_wal_senders = 0" "autovacuum = off"
say "$("$PG_CONFIG" --version), throw-away server in ${WORK#"$TREE"/}, $(nproc) CPUs"
load

compare "pgbench_accounts by three columns" 'SELECT * FROM pgbench_accounts ORDER BY abalance, filler, aid DESC'
compare "whole rows by an int8" 'SELECT * FROM measurements ORDER BY k'
compare "text, byte order" 'SELECT * FROM measurements ORDER BY label COLLATE "C"'

printf '\n%-42s %11s %11s %8s\n' "execution time" PostgreSQL gpusort ratio
printf '%s\n' "${SUMMARY[@]}"
if [ "$NFAILED" -eq 0 ]; then
	say "Both answers are the same, row by row, in all $NPASSED."
fi
[ "$NFAILED" -eq 0 ]
