#!/bin/bash
# sanitize.sh [TEST]...
#		The extension and gpusortd under UBSan, through SQL tests.
#
# TESTs are files of sql/ (without one: all), run once with the sessions sorting and once more with
# gpusortd on three simulated devices.  A report of a sanitizer ends the process that it is about, which
# the server takes for a crash: the run fails, and shows the report.  The server itself is not
# instrumented.  ASan is left to the unit tests of engine and daemon: preloaded, its library makes
# Debian's postgres wait for ever in bindtextdomain(), before it has read a setting.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"

export SANITIZE=undefined WITH_CUDA=0
TESTS=${*:-$(cd "$TREE/sql" && ls *.sql | sed 's/\.sql$//' | grep -v '^setup$')}

need_packages build server tap locales
private_begin sanitize
private_locales cs_CZ hu_HU tr_TR
mkdir -p "$WORK/tests" "$WORK/reports"
cp -r "$TREE/sql" "$TREE/expected" "$WORK/tests/"
give_to_server "$WORK/tests" "$WORK/reports"

export UBSAN_OPTIONS=print_stacktrace=1:log_path=$WORK/reports/ubsan

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
