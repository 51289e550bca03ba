#!/bin/bash
# planning_count.sh
#		What gpusort adds to the planning of short queries, in instructions.
#
# EXPLAINs of queries of few rows, in a backend without a server around it (postgres --single) below
# valgrind's callgrind (package valgrind), which counts what the process does, the same on a busy machine:
# without gpusort and with it. A session of fewer queries is taken off, so that starting up is not in it.
# Exit status 1: some query takes 1 % more.
#
#	QUERIES=n	how many of each are counted (100)

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/bench/callgrind.sh"

QUERIES=${QUERIES:-100}

need_packages build server
private_begin planning_count

# session COUNT QUERY OPTION...
session()
{
	local count=$1 query=$2 out=$WORK/callgrind.out

	shift 2
	numbered "$count" "EXPLAIN $query" |
		as_server valgrind --tool=callgrind --callgrind-out-file="$out" "$BINDIR/postgres" --single \
			-D "$WORK/planning_count" "$@" postgres >"$WORK/session.log" 2>&1
	counted "$out"
}

cluster_start planning_count "autovacuum = off"
sql <<-'SQL'
	CREATE TABLE s (id int PRIMARY KEY, k int8, v int4, t text);
	INSERT INTO s SELECT i, i * 7919 % 1000, i % 7, md5(i::text) FROM generate_series(1, 300) i;
	CREATE TABLE s2 (id int PRIMARY KEY, s int REFERENCES s, w int);
	INSERT INTO s2 SELECT i, i % 300 + 1, i FROM generate_series(1, 600) i;
	VACUUM (FREEZE, ANALYZE) s, s2;
SQL
cluster_stop planning_count

worst=0
while read -r query; do
	without=$(each_query session "$query") &&
		with=$(each_query session "$query" -c shared_preload_libraries=gpusort) || exit 2
	row "$query" "$without" "$with"
	worst=$(awk -v a="$worst" -v b="$(percent_more "$with" "$without")" 'BEGIN {print (a > b ? a : b)}')
done <<-'QUERIES'
	SELECT * FROM s WHERE id = %d
	SELECT k, v FROM s WHERE id < %d ORDER BY k
	SELECT s.k, s2.w FROM s JOIN s2 ON s2.s = s.id WHERE s2.w = %d
	SELECT v, count(*) FROM s WHERE k = %d GROUP BY v
QUERIES
awk -v worst="$worst" 'BEGIN {exit !(worst < 1)}'
