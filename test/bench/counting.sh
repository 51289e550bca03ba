#!/bin/bash
# counting.sh
#		What watching sorts costs: counts, running sorts, the log, a trace; in instructions and in CPU time.
#
# Sorts, each a statement of its own, are executed in a backend without a server around it (postgres --single).
# Ways: watched by default (counts and entries of running sorts), gpusort.track_sorts off, gpusort loaded by the
# session alone, where there are neither counts nor entries, gpusort.log_min_duration = 0, and
# gpusort.trace_file.
#
# Instructions are those of valgrind's callgrind (package valgrind), the same on a busy machine; a session of no
# sorts is taken off: for many rows that of the first way only, as it takes minutes.  Callgrind does not see what the system does for a line of the log, so that CPU time, the
# system's included, follows: medians of sessions of each way in turn.  Exit status 1: counting takes one per
# cent of some sort's instructions or more.
#
#	SORTS=n		how many sorts of a session are counted (40); one, from 100,000 rows on
#	ROWS='n..'	of these many rows (1 1000 10000 1000000)
#	ROUNDS=n	of CPU time (7), with sessions of so many sorts that they take 1,000,000 rows, or 2000
#	TIMED='n..'	of these many rows (1 1000 1000000)

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/bench/callgrind.sh"

SORTS=${SORTS:-40}
ROWS=${ROWS-1 1000 10000 1000000}
ROUNDS=${ROUNDS:-7}
TIMED=${TIMED-1 1000 1000000}
LARGE=100000
WAYS='default track_off session log trace'

need_packages build server
private_begin counting

# options_of WAY
options_of()
{
	local preloaded='-c shared_preload_libraries=gpusort'

	case $1 in
		default) echo "$preloaded" ;;
		track_off) echo "$preloaded -c gpusort.track_sorts=off" ;;
		session) echo '-c session_preload_libraries=gpusort' ;;
		log) echo "$preloaded -c gpusort.log_min_duration=0" ;;
		trace) echo "$preloaded -c gpusort.trace_file=$WORK/trace.json" ;;
	esac
}

# session STATEMENTS ROWS WAY [PROGRAM]...: run so many statements, below a program
session()
{
	local statements=$1 rows=$2 way=$3

	shift 3
	for ((i = 0; i < statements; i++)); do
		echo "SELECT count(*) FROM (SELECT * FROM t$rows ORDER BY k OFFSET 0) x"
	done >"$WORK/statements"
	# shellcheck disable=SC2046 # options are words
	as_server "$@" "$BINDIR/postgres" --single -D "$WORK/counting" -c gpusort.pool_size="$POOL" -c gpusort.force=on \
		-c gpusort.min_rows=0 -c max_parallel_workers_per_gather=0 -c gpusort.engine=host $(options_of "$way") \
		postgres <"$WORK/statements" >"$WORK/session.log" 2>&1
	[ "$(grep -cE "count = \"$rows\"" "$WORK/session.log")" -eq "$statements" ] || { tail -n 20 "$WORK/session.log" >&2; die "the session failed"; }
}

# instructions STATEMENTS ROWS WAY: of a session
instructions()
{
	session "$@" valgrind --tool=callgrind --callgrind-out-file="$WORK/callgrind.out"
	counted "$WORK/callgrind.out"
}

# a_sort ROWS WAY: its instructions; the first ones find caches empty, and are in both sessions
a_sort()
{
	local none

	none=$(instructions 2 "$@") || exit
	echo $((($(instructions $((2 + SORTS)) "$@") - none) / SORTS))
}

# one_sort ROWS WAY: likewise, the first of its session; a sort of one row stands for none
one_sort()
{
	[ -s "$WORK/none" ] || instructions 1 1 default >"$WORK/none" || exit
	echo $(($(instructions 1 "$@") - $(cat "$WORK/none")))
}

# timed ROWS WAY: microseconds of CPU a sort, with the session's start
timed()
{
	local sorts=$((1000000 / $1)) TIMEFORMAT='%U %S'

	[ $sorts -le 2000 ] || sorts=2000
	[ $sorts -ge 5 ] || sorts=5
	{ time session $sorts "$@"; } 2>&1 | tail -n 1 | awk -v n=$sorts '{printf "%.2f\n", ($1 + $2) * 1e6 / n}'
}

median()
{
	sort -n | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}

cluster_start counting "autovacuum = off"
for rows in $(printf '%s\n' 1 $ROWS $TIMED | sort -un); do
	sql -c "CREATE TABLE t$rows AS SELECT hashint8(i)::int8 AS k, i AS v, '0123456789abcdef'::text AS pad FROM generate_series(1, $rows) i" \
		-c "VACUUM (FREEZE, ANALYZE) t$rows"
done
cluster_stop counting

printf '| rows | default | track_sorts off | neither | log | trace | counting | log | trace |\n'
worst=0
for rows in $ROWS; do
	POOL=0 sort_of=a_sort
	[ "$rows" -lt $LARGE ] || { POOL=256MB; sort_of=one_sort; }
	line=
	for way in $WAYS; do
		n=$($sort_of "$rows" "$way") || exit 2
		line+=" $n"
	done
	# shellcheck disable=SC2086 # numbers are words
	set -- $line
	share=$(awk -v both="$1" -v off="$2" 'BEGIN {printf "%.3f", 100 * (both - off) / off}')
	awk -v rows="$rows" -v all="$line" -v share="$share" 'BEGIN {split(all, n, " ");
		printf "| %d | %d | %d | %d | %d | %d | %s %% | %+d | %+d |\n", rows, n[1], n[2], n[3], n[4], n[5], share, n[4] - n[1], n[5] - n[1]}'
	worst=$(awk -v a="$worst" -v b="$share" 'BEGIN {print (a > b ? a : b)}')
done

[ -z "$TIMED" ] || printf '\n| rows, us of CPU | default | track_sorts off | neither | log | trace |\n'
for rows in $TIMED; do
	POOL=256MB
	rm -f "$WORK"/times-*
	for ((round = 0; round < ROUNDS; round++)); do
		for way in $WAYS; do
			timed "$rows" "$way" >>"$WORK/times-$way"
		done
	done
	line="| $rows |"
	for way in $WAYS; do
		line+=" $(median <"$WORK/times-$way") |"
	done
	echo "$line"
done
awk -v worst="$worst" 'BEGIN {exit !(worst < 1)}'
