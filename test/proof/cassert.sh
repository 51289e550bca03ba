#!/bin/bash
# cassert.sh [core | discard | TEST...]
#		The tests on a server with assertions.
#
# The server is built from Debian's source with --enable-cassert: it checks its own invariants and
# what extensions do to them, fills memory that is freed or not yet written with patterns, and warns
# of what is left behind.  The tests of the parts regress, daemon, isolation and tap run on it, and
# PostgreSQL's own suites through gpusort.  Then discard.sql, with debug_discard_caches = 1, which
# forgets all cached catalogs as often as it can, so that whoever relies on a cache entry that isn't
# pinned, or on what it was made from, reads garbage.
#
# With arguments: one of the last two parts only, or these TESTs of test/check.sh only.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

export WITH_CUDA=0

discard_caches()
{
	private_begin cassert
	private_locales cs_CZ hu_HU tr_TR
	copy_sql_tests
	cp "$TREE/test/proof/discard.sql" "$WORK/tests/sql/"
	cp "$TREE/test/proof/discard.out" "$WORK/tests/expected/"
	TESTS=discard
	sql_suite discard
}

need_packages build server tap locales valgrind
cassert_server
build_apart cassert
export BUILD_TREE
if [ "${1:-}" = discard ]; then
	discard_caches
	finish
elif [ "${1:-}" = core ]; then
	script core test/core/run.sh
	finish
elif [ $# -gt 0 ]; then
	script check test/check.sh "$@"
	finish
fi
script check test/check.sh regress daemon isolation tap
script core test/core/run.sh
discard_caches
finish
