#!/bin/bash
# sanitize.sh [--short] [TEST]...
#		The extension and gpusortd under UBSan, with assertions, through SQL tests.
#
# TESTs are files of sql/ (without one: all; with --short a few), run once with the sessions sorting,
# once more with gpusortd on three simulated devices, and, if they show neither plans nor memory,
# once more with room for few rows, so that nearly every sort spills.  A report of a sanitizer or a failed
# assertion ends the process that it is about, which the server takes for a crash: the run fails, and
# shows the report.  The server itself is Debian's: not instrumented, but what its headers assert in
# the extension is.  asan.sh has a server that is instrumented.  The short form has the build of
# team.sh, where a few hundred rows go through what otherwise takes many.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

export SANITIZE=undefined WITH_CUDA=0 COPT=-DUSE_ASSERT_CHECKING
TESTS=$(all_sql_tests) BUILD=ubsan
if [ "${1:-}" = --short ]; then
	shift
	TESTS='index_unique shared_sort types_numeric' BUILD=few-rows COPT=$FEW_ROWS
fi
[ $# -eq 0 ] || TESTS=$*

need_packages build server tap locales
build_apart $BUILD
private_begin sanitize
private_locales cs_CZ hu_HU tr_TR
copy_sql_tests
[ $BUILD = ubsan ] || hide_work
reports_begin UBSAN
sql_suite host
sql_suite daemon "gpusort.engine = cuda" "gpusort.daemon = 'host:3'" "gpusort.min_gpu_rows = 0"
# those that show neither plans nor memory
TESTS=$(printf '%s\n' $TESTS | grep -E '^(types_.*|index_(types|tables|unique|use)|edge_rows|collations|limits|spill)$')
sql_suite spill "gpusort.pool_size = 0" "work_mem = 64kB" "hash_mem_multiplier = 1" "maintenance_work_mem = 1MB"
no_reports
finish
