#!/bin/bash
# run.sh [--update]
#		make check-core: PostgreSQL's own regression suite, every sort through gpusort.
#
# The suite of the server's version (fetch_source.sh) runs twice against
# throw-away clusters: without gpusort, which shows what differs because of this
# machine or of a neighbouring minor release, and with gpusort preloaded, forced
# onto every sort it can take and verifying each.  A test passes if its output
# with gpusort is one that PostgreSQL expects, or if it differs from the output
# without gpusort only as listed, with reasons, in differences/MAJOR (compare.pl).
# --update rewrites those lists for somebody to write the reasons in.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

UPDATE=
[ "${1:-}" != --update ] || UPDATE=--update

# The suite's sources, kept in the tree until make clean.
fetch_suite()
{
	local version start

	version=$("$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9.]+).*/\1/')
	SUITE=$TREE/tmp_source/$version
	if [ ! -f "$SUITE/version" ]; then
		rm -rf "$SUITE"
		start=$(now_ms)
		version=$("$TREE/test/core/fetch_source.sh" "$PG_MAJOR" "$version" "$SUITE") || die "no source, no check-core"
		echo "$version" >"$SUITE/version"
		say "fetched the source of PostgreSQL $version ($(seconds $(($(now_ms) - start))))"
	fi
	if [ "$(cat "$SUITE/version")" != "${SUITE##*/}" ]; then
		say "server ${SUITE##*/}, tests of $(cat "$SUITE/version"): the nearest source there is"
	fi
}

# The suite where the servers' user can read it, and its C functions.
prepare_suite()
{
	mkdir -p "$WORK/suite" "$WORK/lib"
	cp -r "$SUITE"/{sql,expected,data,parallel_schedule,resultmap} "$WORK/suite/" || exit
	# shellcheck disable=SC2046 # flags are words
	"${CC:-cc}" $("$PG_CONFIG" --cppflags) $("$PG_CONFIG" --cflags) -w -fPIC -shared \
		-I "$("$PG_CONFIG" --includedir-server)" -I "$SUITE" -o "$WORK/lib/regress.so" "$SUITE/regress.c" ||
		die "regress.c does not compile"
	cp "$PKGLIBDIR"/{refint,autoinc}.so "$WORK/lib/" || die "the server package lacks contrib/spi"
	give_to_server "$WORK"
}

# run_suite NAME LINE...: all tests on a cluster with these settings.
run_suite()
{
	local name=$1 start

	shift
	start=$(now_ms)
	INITDB_LOCALE=C cluster_start "$name" "max_prepared_transactions = 2" "$@"
	mkdir -p "$WORK/$name-out"
	give_to_server "$WORK/$name-out"
	as_server "$PGXS_DIR/src/test/regress/pg_regress" --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" \
		--bindir="$BINDIR" --dlpath="$WORK/lib" --inputdir="$WORK/suite" --outputdir="$WORK/$name-out" \
		--schedule="$WORK/suite/parallel_schedule" --max-concurrent-tests=20 >"$WORK/$name-regress.log" 2>&1
	cluster_stop "$name" || say "the server of the run $name does not stop"
	if grep -E 'PANIC|TRAP|terminated by signal' "$WORK/$name.log"; then
		CRASHED=$name
	fi
	TOTAL=$(results "$name" | wc -l)
	say "$name: $(results "$name" | grep -c ok) of $TOTAL tests as PostgreSQL expects ($(seconds $(($(now_ms) - start))))"
}

# Lines "test ok" or "test failed", from either style of pg_regress's output.
results()
{
	sed -nE -e 's/^(test|    ) +([^ ]+) +\.\.\. ok.*/\2 ok/p' \
		-e 's/^(test|    ) +([^ ]+) +\.\.\. FAILED.*/\2 failed/p' \
		-e 's/^ok [0-9]+ +[-+] ([^ ]+).*/\1 ok/p' \
		-e 's/^not ok [0-9]+ +[-+] ([^ ]+).*/\1 failed/p' "$WORK/$1-regress.log"
}

need_packages build server source locales
private_begin core
private_locales sv_SE tr_TR
fetch_suite
prepare_suite

CRASHED=
run_suite without
run_suite with "shared_preload_libraries = 'gpusort'" "gpusort.force = on" "gpusort.verify = on"

[ "$TOTAL" -gt 100 ] || { tail -n 20 "$WORK/with-regress.log"; tally "core suite" 0 1; finish; }
[ -z "$CRASHED" ] || tally "no crash" 0 1

listed=$TREE/test/core/differences/$PG_MAJOR
[ -z "$UPDATE" ] || mkdir -p "$listed"
differing=$(results with | sed -n 's/ failed$//p')
tally "core, as PostgreSQL" "$(results with | grep -c ' ok$')" 0
if [ -n "$differing" ]; then
	# shellcheck disable=SC2086 # names are words
	"$TREE/test/core/compare.pl" $UPDATE "$WORK/without-out/results" "$WORK/with-out/results" "$listed" \
		$differing >"$WORK/compare.log"
	tally_of "core, as listed" "$WORK/compare.log" 0 $?
fi
finish
