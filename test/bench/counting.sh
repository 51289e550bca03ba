#!/bin/bash
# counting.sh
#		What counting sorts (gpusort.track_sorts) and showing them (pg_stat_gpusort_activity) costs, in instructions.
#
# Sorts of 1, 2000 and 10,000 rows, each a statement of its own, are executed in a backend without a server
# around it (postgres --single) below valgrind's callgrind (package valgrind), which counts what the process
# does, the same on a busy machine: with both; with gpusort.track_sorts off; and with gpusort loaded by the session
# alone, where there are neither counts nor entries of running sorts. A session of no sorts is taken off. The
# last column is how many per cent of a statement's instructions counting is. Exit status 1: one or more.
#
#	SORTS=n		how many sorts of a session are counted (40)
#	ROWS='n..'	of these many rows (1 2000 10000)

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/bench/callgrind.sh"

SORTS=${SORTS:-40}
ROWS=${ROWS:-1 2000 10000}

need_packages build server
private_begin counting

# instructions SORTS ROWS OPTION...: of a session
instructions()
{
	local sorts=$1 rows=$2 out=$WORK/callgrind.out

	shift 2
	for ((i = 0; i < sorts + 2; i++)); do
		# the first two find caches empty, and are in both sessions
		echo "SELECT count(*) FROM (SELECT * FROM t$rows ORDER BY k OFFSET 0) x"
	done | as_server valgrind --tool=callgrind --callgrind-out-file="$out" "$BINDIR/postgres" --single -D "$WORK/counting" \
		-c gpusort.pool_size=0 -c gpusort.force=on -c gpusort.min_rows=0 -c max_parallel_workers_per_gather=0 \
		-c gpusort.engine=host "$@" postgres >"$WORK/session.log" 2>&1
	[ "$(grep -cE "count = \"$rows\"" "$WORK/session.log")" -eq $((sorts + 2)) ] || { tail -n 20 "$WORK/session.log" >&2; die "the session failed"; }
	counted "$out"
}

# a_sort ROWS OPTION...
a_sort()
{
	local rows=$1 none

	shift
	none=$(instructions 0 "$rows" "$@") || exit
	echo $((($(instructions "$SORTS" "$rows" "$@") - none) / SORTS))
}

cluster_start counting "autovacuum = off"
for rows in $ROWS; do
	sql -c "CREATE TABLE t$rows AS SELECT hashint8(i)::int8 AS k, i AS v, '0123456789abcdef'::text AS pad FROM generate_series(1, $rows) i"
	sql -c "VACUUM (FREEZE, ANALYZE) t$rows"
done
cluster_stop counting

printf '%8s %14s %14s %14s %10s\n' rows 'both' 'track off' 'neither' 'counting'
worst=0
for rows in $ROWS; do
	both=$(a_sort "$rows" -c shared_preload_libraries=gpusort) &&
		off=$(a_sort "$rows" -c shared_preload_libraries=gpusort -c gpusort.track_sorts=off) &&
		neither=$(a_sort "$rows" -c session_preload_libraries=gpusort) || exit 2
	share=$(percent_more "$both" "$off")
	printf '%8d %14d %14d %14d %8s %%\n' "$rows" "$both" "$off" "$neither" "$share"
	worst=$(awk -v a="$worst" -v b="$share" 'BEGIN {print (a > b ? a : b)}')
done
awk -v worst="$worst" 'BEGIN {exit !(worst < 1)}'
