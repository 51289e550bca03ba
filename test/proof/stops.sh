#!/bin/bash
# stops.sh [STOPS]
#		200 immediate stops at random moments of index builds of all kinds.
#
# After each the server recovers, and amcheck looks at every index that is valid, with its table and from the
# root down.  This is test/t/013_index_crash.pl, which make check runs with one stop for each
# command, with more stops.  SEED=n repeats their moments.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"

export WITH_CUDA=0 STOPS=${1:-200}
need_packages build server tap
private_begin stops
copy_tests
tap_suite "$WORK/tests/t" 013_index_crash
say "$STOPS stops"
finish
