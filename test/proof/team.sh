#!/bin/bash
# team.sh [--short] [TEST]...
#		Every sort that can have workers by three processes, through SQL tests.
#
# TESTs are files of sql/ (without one: all; with --short a few).  A process that sorts 16 rows or
# more starts two workers for it, and does so before it has looked at what is to be refined and
# verified.  The engine has buckets of 16 rows, and stretches of the order have eight, so that a few
# hundred rows are enough for three processes to have something to do.  Built with the assertions
# of the server's headers, and under UBSan.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"
. "$TREE/test/lib/team.sh"

export SANITIZE=undefined WITH_CUDA=0 COPT=$FEW_ROWS
TESTS=$(all_sql_tests)
if [ "${1:-}" = --short ]; then
	shift
	TESTS='index_unique spill types_text'
fi
[ $# -eq 0 ] || TESTS=$*
FORCED=("gpusort.max_sort_workers = 2" "gpusort.min_sort_worker_rows = 2" "gpusort.pool_size = 256MB"
	"max_worker_processes = 16" "max_parallel_workers = 12" "max_parallel_maintenance_workers = 2")

count_processes()
{
	cluster_start processes "shared_preload_libraries = 'gpusort'" "${FORCED[@]}"
	tally_team
	cluster_stop processes || tally "processes stops" 0 1
}

need_packages build server tap locales
build_apart few-rows
private_begin team
private_locales cs_CZ hu_HU tr_TR
copy_sql_tests
hide_work
count_processes
sql_suite team "${FORCED[@]}"
finish
