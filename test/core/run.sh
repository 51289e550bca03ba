#!/bin/bash
# run.sh [--update]
#		make check-core: PostgreSQL's own regression suites, all through gpusort.
#
# The core suite of the server's version, and those of amcheck and pageinspect,
# which look into btrees (fetch_source.sh), run twice against throw-away clusters:
# without gpusort, which shows what differs because of this machine or of a
# neighbouring minor release, and with gpusort preloaded, forced onto every sort and
# index build that it can take and verifying each.  A test passes if its output
# with gpusort is one that PostgreSQL expects, or if it differs from the output
# without gpusort only as listed, with reasons, in differences/MAJOR (compare.pl);
# those of SUITEs of contrib lie in differences/MAJOR/SUITE.
# --update rewrites those lists for somebody to write the reasons in.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

CONTRIB_SUITES='amcheck pageinspect'
UPDATE=
[ "${1:-}" != --update ] || UPDATE=--update

# The suites' sources, kept in the tree until make clean.
fetch_suites()
{
	local version start

	version=$("$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9.]+).*/\1/')
	SOURCE=$TREE/tmp_source/$version
	if [ ! -f "$SOURCE/version" ] || [ ! -d "$SOURCE/contrib" ]; then
		rm -rf "$SOURCE"
		start=$(now_ms)
		version=$("$TREE/test/core/fetch_source.sh" "$PG_MAJOR" "$version" "$SOURCE") || die "no source, no check-core"
		echo "$version" >"$SOURCE/version"
		say "fetched the source of PostgreSQL $version ($(seconds $(($(now_ms) - start))))"
	fi
	if [ "$(cat "$SOURCE/version")" != "${SOURCE##*/}" ]; then
		say "server ${SOURCE##*/}, tests of $(cat "$SOURCE/version"): the nearest source there is"
	fi
}

# The suites where the servers' user can read them, and the core suite's C functions.
prepare_suites()
{
	local suite regress=$SOURCE/src/test/regress

	mkdir -p "$WORK/core" "$WORK/lib"
	cp -r "$regress"/{sql,expected,data,parallel_schedule,resultmap} "$WORK/core/" || exit
	# shellcheck disable=SC2046 # flags are words
	"${CC:-cc}" $("$PG_CONFIG" --cppflags) $("$PG_CONFIG" --cflags) -w -fPIC -shared \
		-I "$("$PG_CONFIG" --includedir-server)" -I "$regress" -o "$WORK/lib/regress.so" "$regress/regress.c" ||
		die "regress.c does not compile"
	cp "$PKGLIBDIR"/{refint,autoinc}.so "$WORK/lib/" || die "the server package lacks contrib/spi"
	for suite in $CONTRIB_SUITES; do
		mkdir -p "$WORK/$suite"
		cp -r "$SOURCE/contrib/$suite"/{sql,expected} "$WORK/$suite/" || exit
	done
	give_to_server "$WORK"
}

# The tests of a suite of contrib, in the order in which its Makefile has them.
contrib_tests()
{
	sed -e ':a' -e '/\\$/{N;s/\\\n//;ba}' "$SOURCE/contrib/$1/Makefile" | sed -n 's/^REGRESS *=//p'
}

# run_suite RUN SUITE OPTION...: the suite's tests on the cluster that runs.
run_suite()
{
	local run=$1 suite=$2 start

	shift 2
	start=$(now_ms)
	mkdir -p "$WORK/$run-out/$suite"
	give_to_server "$WORK/$run-out"
	as_server "$PGXS_DIR/src/test/regress/pg_regress" --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" \
		--bindir="$BINDIR" --inputdir="$WORK/$suite" --outputdir="$WORK/$run-out/$suite" "$@" \
		>"$WORK/$run-$suite.log" 2>&1
	say "$run, $suite: $(results "$run" "$suite" | grep -c ok) of $(results "$run" "$suite" | wc -l) tests as PostgreSQL expects ($(seconds $(($(now_ms) - start))))"
}

# run_suites RUN LINE...: all of them on a cluster with these settings.
run_suites()
{
	local run=$1 suite

	shift
	INITDB_LOCALE=C cluster_start "$run" "max_prepared_transactions = 2" "$@"
	run_suite "$run" core --dlpath="$WORK/lib" --schedule="$WORK/core/parallel_schedule" --max-concurrent-tests=20
	for suite in $CONTRIB_SUITES; do
		# shellcheck disable=SC2046 # names are words
		run_suite "$run" "$suite" --dbname="contrib_$suite" $(contrib_tests "$suite")
	done
	cluster_stop "$run" || say "the server of the run $run does not stop"
	if grep -E 'PANIC|TRAP|terminated by signal' "$WORK/$run.log"; then
		CRASHED=$run
	fi
}

# Lines "test ok" or "test failed", from either style of pg_regress's output.
results()
{
	sed -nE -e 's/^(test|    ) +([^ ]+) +\.\.\. ok.*/\2 ok/p' \
		-e 's/^(test|    ) +([^ ]+) +\.\.\. FAILED.*/\2 failed/p' \
		-e 's/^ok [0-9]+ +[-+] ([^ ]+).*/\1 ok/p' \
		-e 's/^not ok [0-9]+ +[-+] ([^ ]+).*/\1 failed/p' "$WORK/$1-$2.log"
}

# judge SUITE TESTS: count; fewer tests than TESTS mean that the suite did not run.
judge()
{
	local suite=$1 tests=$2 listed=$TREE/test/core/differences/$PG_MAJOR differing

	[ "$suite" = core ] || listed=$listed/$suite
	if [ "$(results with "$suite" | wc -l)" -lt "$tests" ]; then
		tail -n 20 "$WORK/with-$suite.log"
		tally "$suite suite" 0 1
		return
	fi
	[ -z "$UPDATE" ] || mkdir -p "$listed"
	differing=$(results with "$suite" | sed -n 's/ failed$//p')
	tally "$suite, as PostgreSQL" "$(results with "$suite" | grep -c ' ok$')" 0
	if [ -n "$differing" ]; then
		# shellcheck disable=SC2086 # names are words
		"$TREE/test/core/compare.pl" $UPDATE "$WORK/without-out/$suite/results" "$WORK/with-out/$suite/results" "$listed" \
			$differing >"$WORK/compare-$suite.log"
		tally_of "$suite, as listed" "$WORK/compare-$suite.log" 0 $?
	fi
}

# Everything was forced, so builds were ours, unless the key has no encoding.
count_builds()
{
	local built left

	built=$(grep -c 'DEBUG:  gpusort: built index' "$WORK/with.log")
	left=$(grep 'DEBUG:  gpusort: left index' "$WORK/with.log" |
		grep -cvE 'index of a system table|operator (family has no|class has a comparison of its own)')
	say "btrees: $built built by gpusort, $left left to PostgreSQL without need"
	tally "btrees built" $((built > 500 && left == 0)) $((built <= 500 || left > 0))
}

need_packages build server source locales
private_begin core
private_locales sv_SE tr_TR
fetch_suites
prepare_suites

CRASHED=
run_suites without
run_suites with "shared_preload_libraries = 'gpusort'" "gpusort.force = on" "gpusort.verify = on" "gpusort.cost_gather = 0" \
	"log_min_messages = debug1"

[ -z "$CRASHED" ] || tally "no crash" 0 1
judge core 100
for suite in $CONTRIB_SUITES; do
	# shellcheck disable=SC2046 # names are words
	judge "$suite" $(contrib_tests "$suite" | wc -w)
done
count_builds
finish
