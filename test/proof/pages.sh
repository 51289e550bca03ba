#!/bin/bash
# pages.sh
#		Pages that gpusort writes beside those of PostgreSQL, field by field, for every way that writes.
#
# This is test/t/055_pages.pl, which make check runs with few rows, with more of them, and all of it by several
# processes, too.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"

export WITH_CUDA=0 PAGES=long
need_packages build server tap
private_begin pages
copy_tests
tap_suite "$WORK/tests/t" 055_pages
finish
