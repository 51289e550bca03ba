#!/bin/bash
# select_count.sh
#		What short queries cost with gpusort, and with gpusort.enable_select, in instructions.
#
# Queries of psql, on servers below valgrind's callgrind (package valgrind), which counts what a backend
# does in PortalStart() and PortalRun(), that is without parsing and planning, the same on a busy machine.
# Sorts of few rows, all taken over, with the setting off and on; and queries that sort nothing, without
# gpusort and with it: what hooks cost.  A session of fewer queries is taken off, so that what happens once
# is not in it.
#
#	QUERIES=n	how many of each are counted (60)
#	ROWS='n..'	that sorts return (1 190 300 1000)

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/bench/callgrind.sh"

QUERIES=${QUERIES:-60}
ROWS=${ROWS:-1 190 300 1000}

server()
{
	cluster_start "$1" "shared_preload_libraries = '$2'" "autovacuum = off" "max_parallel_workers_per_gather = 0"
	for rows in $ROWS; do
		sql -c "CREATE TABLE t$rows AS SELECT hashint8(i)::int8 AS k, i AS v FROM generate_series(1, $rows) i" || exit
	done
	sql -c "CREATE TABLE keyed AS SELECT i, i AS v FROM generate_series(1, 1000) i" -c "CREATE UNIQUE INDEX ON keyed (i)" \
		-c "VACUUM (FREEZE, ANALYZE)" || exit
}

# session COUNT QUERY [SETTING]...: instructions of so many
session()
{
	local count=$1 query=$2 settings='' setting pid

	shift 2
	for setting in "$@"; do
		settings+=" -c $setting"
	done
	pid=$( (echo 'SELECT pg_backend_pid();'
		numbered "$count" "$query \\g /dev/null") | PGOPTIONS=$settings sql -At) || die "the session failed"
	for ((i = 1; i <= 300; i++)); do
		[ ! -s "$WORK/counts/$pid" ] || break
		sleep 0.2
	done
	[ -s "$WORK/counts/$pid" ] || die "the session of process $pid has counted nothing"
	sleep 0.2
	counted "$WORK/counts/$pid"
}

need_packages build server
private_begin select_count
make_wrapper --toggle-collect=PortalStart --toggle-collect=PortalRun
POSTGRES=$WORK/postgres

QUIET=('SELECT 1' 'SELECT * FROM keyed WHERE i = %d' 'SELECT count(*) FROM keyed')
server without ''
for query in "${QUIET[@]}"; do
	without+=("$(each_query session "$query")") || exit
done
cluster_stop without
server with gpusort
for i in "${!QUIET[@]}"; do
	with=$(each_query session "${QUIET[i]}") || exit
	row "${QUIET[i]}" "${without[i]}" "$with"
done
for rows in $ROWS; do
	query="SELECT k, v FROM t$rows ORDER BY k"
	off=$(each_query session "$query" gpusort.force=on gpusort.min_rows=0 gpusort.enable_select=off) &&
		on=$(each_query session "$query" gpusort.force=on gpusort.min_rows=0) || exit
	row "$query" "$off" "$on"
done
cluster_stop with
