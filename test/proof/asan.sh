#!/bin/bash
# asan.sh [TEST]...
#		Server, extension and gpusortd, all of them under the address sanitizer and that of undefined
#		behaviour, through SQL tests.
#
# The server is built from Debian's source for it, with assertions too, which takes as long as the
# tests.  TESTs are files of sql/ (without one: all), run once with the sessions sorting and once more
# with gpusortd on three simulated devices.  Leaks are not looked for: a session's memory contexts are
# still there when it ends, and the server leaves memory behind on purpose.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

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
sql_suite host
sql_suite daemon "gpusort.engine = cuda" "gpusort.daemon = 'host:3'" "gpusort.min_gpu_rows = 0"
no_reports
finish
