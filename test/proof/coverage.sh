#!/bin/bash
# coverage.sh [PART|TEST]...
#		Lines and branches of src/ that tests reach, by file: writes test/coverage.md.
#
# gpusort, gpusortd and the unit tests are built with gcov's counters; unit, regression, isolation
# and TAP tests run (or those named, in the terms of make check), unit tests in their small forms;
# the counts of all are put together, those of gpusortd where it was not killed (coverage_exit.c).
# Branches that the compiler makes for errors that it can't exclude count like others.  What is said
# behind the table about what is not covered is written by hand, in test/proof/coverage.txt.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

FLAGS='--coverage -fprofile-update=atomic -fprofile-abs-path'
[ $# -gt 0 ] || set -- unit regress daemon isolation tap
for name in "$@"; do
	choose "$name"
done
need_packages build server tap locales
export WITH_CUDA=0 COPT="$FLAGS" LDFLAGS=--coverage
build_apart coverage
find "$BUILD_TREE" -name '*.gcda' -delete
gcc -O2 -c -o "$BUILD_TREE/coverage_exit.o" "$TREE/test/proof/coverage_exit.c" || die "coverage_exit.c does not compile"
export DAEMON_LDLIBS="-Wl,--wrap=_exit $BUILD_TREE/coverage_exit.o"
private_begin coverage
private_locales cs_CZ hu_HU tr_TR
# processes of the server write their counts beside the objects
chmod -R a+rwX "$BUILD_TREE"

run_unit()
{
	local program programs=0 failed=0

	mkdir -p "$BUILD_TREE/test"
	cp -r "$TREE/test/unit" "$TREE/test/bench" "$BUILD_TREE/test/"
	rm -rf "$BUILD_TREE/test/unit/build"
	make -C "$BUILD_TREE/test/unit" --no-print-directory -j"$(nproc)" CC="gcc $FLAGS" \
		TESTS="$(chosen_tests unit | xargs)" all >"$WORK/unit.log" 2>&1 ||
		die "the unit tests do not compile: see $WORK/unit.log"
	for program in $(find "$BUILD_TREE/test/unit/build" -maxdepth 1 -type f -executable); do
		programs=$((programs + 1))
		"$program" --small >>"$WORK/unit.log" 2>&1 || failed=$((failed + 1))
	done
	tally unit $((programs - failed)) $failed
}

# What gcov says of each file of src, by file and line: the most of all its objects.
collect()
{
	(
		cd "$WORK" || exit
		find "$BUILD_TREE" -name '*.gcda' -print0 | xargs -0 -n 20 gcov -b -c -t --json-format 2>/dev/null
	) | "$TREE/test/proof/coverage.pl" "$BUILD_TREE/src/" "$TREE/test/proof/coverage.txt" >"$TREE/test/coverage.md"
}

# Those sorted by gpusortd.
run_daemon()
{
	cluster_start daemon "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d" "gpusort.engine = cuda" \
		"gpusort.reorder_rows = on" "gpusort.copy_parser = device" "gpusort.daemon = 'host:3'"
	regress_suite daemon "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" --dbname=gpusort_daemon -- $(with_helpers daemon)
	cluster_stop daemon || tally "server stops" 0 1
}

copy_tests
! chosen unit || run_unit
cluster_start coverage "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d"
! chosen regress || regress_suite regress "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" --dbname=gpusort_coverage -- $(with_helpers regress)
! chosen isolation || regress_suite isolation "$PGXS_DIR/src/test/isolation/pg_isolation_regress" "$WORK/tests/isolation" \
	--dbname=gpusort_isolation -- $(chosen_tests isolation)
cluster_stop coverage || tally "server stops" 0 1
! chosen daemon || run_daemon
# its tests leave their servers running, which would be stopped in a way that kills gpusortd
export GPUSORT_TEST_STOP=fast
! chosen tap || tap_suite "$WORK/tests/t" $(chosen_tests tap)
collect
grep '^| all ' "$TREE/test/coverage.md"
finish
