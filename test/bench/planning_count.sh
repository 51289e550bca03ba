#!/bin/bash
# planning_count.sh [SET]...
#		What gpusort adds to planning, in instructions.
#
# Sets of queries: short, of few rows; joins, of 2 to 12 tables; tpch, and reports on TPC-H's tables, for which
# tpchgen-cli is needed (pip install tpchgen-cli).  Without an argument all.  Each is planned on a server without
# gpusort and on one with it, both below valgrind's callgrind (package valgrind), which counts what a backend does
# in the planner, the same on a busy machine.  Tables are small, but their statistics and the sizes of their files,
# which have holes, are those of tables 50 times as large: TPC-H's as of scale 1.
#
# Exit status 1: a query that has the same plan with gpusort takes 3 % more instructions, or one of the first
# set 1 %.
#
#	MOST=n		the per cent that it may take more (3)
#	OUTPUT=dir	keep the counts and plans there
#	SETTINGS='name=value..'		of both servers

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/bench/callgrind.sh"

SETS=${*:-short joins tpch reports}
MOST=${MOST:-3}

queries()
{
	"$TREE/test/bench/planning_count.pl" "$@"
}

# Let files be as large as pg_class says.
make_holes()
{
	local path bytes

	while IFS='|' read -r path bytes; do
		as_server truncate -s "$bytes" "$WORK/planning_count/$path" || exit
	done <"$WORK/sizes"
}

# count SIDE LIBRARIES
count()
{
	as_server "$BINDIR/pg_ctl" -D "$WORK/planning_count" -l "$WORK/planning_count.log" -p "$WORK/postgres" -w -t 300 \
		-o "-c shared_preload_libraries='$2'" start >"$WORK/start.log" 2>&1 || die "the server does not start: see $WORK"
	queries --count "$SETS" --counts "$WORK/counts" >"$WORK/$1" || exit 2
	cluster_stop planning_count
}

need_packages build server
private_begin planning_count
make_wrapper --toggle-collect=planner --dump-after=planner
# shellcheck disable=SC2086 # settings are words
cluster_start planning_count "autovacuum = off" ${SETTINGS:-}
queries --make "$SETS" || exit 2
sql -At -c "SELECT pg_relation_filepath(oid), relpages * 8192::int8 FROM pg_class
	WHERE relkind IN ('r', 'i') AND relpages * 8192::int8 > pg_relation_size(oid)" >"$WORK/sizes" || exit 2
cluster_stop planning_count
make_holes
count without ''
count with gpusort
[ -z "${OUTPUT:-}" ] || cp "$WORK/without" "$WORK/with" "$OUTPUT/"
queries --compare "$SETS" --without "$WORK/without" --with "$WORK/with" --most "$MOST"
