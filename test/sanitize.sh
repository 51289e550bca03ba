#!/bin/bash
# sanitize.sh [TEST]...
#		The extension and gpusortd under ASan and UBSan, through SQL tests.
#
# TESTs are files of sql/ (without one: all), run once with the sessions sorting and once more with
# gpusortd on three simulated devices.  A report of a sanitizer ends the process that it is about, which
# the server takes for a crash: the run fails, and shows the report.  The server itself is not
# instrumented; memory contexts hide some errors from ASan, but planes, rows and pages are
# memory of our own.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"

export SANITIZE=address,undefined WITH_CUDA=0
TESTS=${*:-$(cd "$TREE/sql" && ls *.sql | sed 's/\.sql$//' | grep -v '^setup$')}

need_packages build server tap locales
private_begin sanitize
private_locales cs_CZ hu_HU tr_TR
mkdir -p "$WORK/tests" "$WORK/reports"
cp -r "$TREE/sql" "$TREE/expected" "$WORK/tests/"
give_to_server "$WORK/tests" "$WORK/reports"

# Leaks are no errors in a process that ends with its memory contexts.
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:log_path=$WORK/reports/asan
export UBSAN_OPTIONS=print_stacktrace=1:abort_on_error=1:log_path=$WORK/reports/ubsan

# The sanitizers' libraries have to be there before the server loads ours.
PRELOAD=$(gcc -print-file-name=libasan.so):$(gcc -print-file-name=libubsan.so)
eval "plain_$(declare -f as_server)"
as_server()
{
	case $1 in
		*/pg_ctl) plain_as_server env LD_PRELOAD="$PRELOAD" "$@" ;;
		*) plain_as_server "$@" ;;
	esac
}

run_suite()
{
	local name=$1

	shift
	cluster_start "$name" "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d" "$@"
	regress_suite "$name" "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" \
		--dbname="gpusort_$name" -- setup $TESTS
	cluster_stop "$name" || tally "server stops" 0 1
}

run_suite host
run_suite daemon "gpusort.engine = cuda" "gpusort.daemon = 'host:3'" "gpusort.min_gpu_rows = 0"
reports=$(find "$WORK/reports" -type f -size +0)
if [ -n "$reports" ]; then
	head -n 60 $reports
	tally "no reports" 0 1
else
	tally "no reports" 1 0
fi
finish
