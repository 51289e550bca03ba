#!/bin/bash
# asan.sh [--short] [TEST]...
#		Server, extension and gpusortd, all of them under the address sanitizer and that of undefined
#		behaviour, through SQL tests.
#
# The server is built from Debian's source for it, with assertions too, which takes as long as the
# tests.  TESTs are files of sql/ (without one: all), run once with the sessions sorting and once more
# with gpusortd on three simulated devices; WAYS=daemon or WAYS=host is one of these.  Leaks are not
# looked for: a session's memory contexts are still there when it ends, and the server leaves memory
# behind on purpose.
#
# --short builds no server: gpusortd alone is under sanitizers, and sorts for sessions of Debian's.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

daemon_suite()
{
	sql_suite daemon "gpusort.engine = cuda" "gpusort.daemon = 'host:3'" "gpusort.min_gpu_rows = 0" "$@"
}

short_form()
{
	TESTS=${*:-edge_rows index_parallel index_unique shared_sort types_numeric types_text}
	need_packages build server tap locales
	private_begin asan
	private_locales cs_CZ hu_HU tr_TR
	copy_sql_tests
	build_apart asan
	make -s -C "$BUILD_TREE" -j"$(nproc)" PG_CONFIG="$PG_CONFIG" WITH_CUDA=0 SANITIZE=address,undefined COPT="$QUICK" gpusortd \
		>"$WORK/gpusortd.log" 2>&1 && install -m 755 "$BUILD_TREE/gpusortd" "$PKGLIBDIR/" || die "gpusortd does not compile"
	# devices have room for few rows
	daemon_suite "gpusort.reorder_rows = on" \
		"gpusort.daemon_options = '--device-rows=50 --bucket-rows=50 --step-rows=20'"
	finish
}

if [ "${1:-}" = --short ]; then
	shift
	short_form "$@"
fi

export WITH_CUDA=0
TESTS=${*:-$(all_sql_tests)}
need_packages build server tap locales valgrind
export ASAN_OPTIONS=detect_leaks=0
asan_server
export SANITIZE=address,undefined
build_apart asan
private_begin asan
private_locales cs_CZ hu_HU tr_TR
copy_sql_tests
reports_begin UBSAN abort_on_error=1
# the server's depth of stack is told by addresses
reports_begin ASAN detect_leaks=0:abort_on_error=1:detect_stack_use_after_return=0
WAYS=" ${WAYS:-host daemon} "
[[ $WAYS != *' host '* ]] || sql_suite host
[[ $WAYS != *' daemon '* ]] || daemon_suite
no_reports
finish
