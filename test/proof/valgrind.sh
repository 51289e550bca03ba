#!/bin/bash
# valgrind.sh [--short] [TEST]...
#		SQL tests on a server under valgrind.
#
# The server is that of cassert.sh, which tells valgrind of every chunk that palloc() hands out, so
# that reading one before it is written, or beyond its end, is seen.  TESTs are files of sql/; without
# one: a selection, as all is some thirty times slower.  Reports with a line of gpusort's in their stack
# fail the run; others are the server's business, and valgrind.supp of its source knows of most of them.
# ORIGINS=yes tells where values come from that were never written, in twice the time.
#
# --short builds no server: on Debian's valgrind knows of malloc()'s chunks, not of palloc()'s, and of
# the stack.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

SHORT_FORM=
if [ "${1:-}" = --short ]; then
	shift
	SHORT_FORM=yes
	set -- "${@:-discard}"
fi
TESTS=${*:-edge_columns edge_plans index_builds index_tables index_types index_unique index_use
	parallel_collect parallel_inputs plans plans_cursors plans_nodes settings shared_sort late_rows
	types_bytes types_collate types_datetime types_enum types_float types_integer types_network
	types_none types_null types_numeric types_text}

# A program that stands for the server's.  gpusortd, which shares nothing but the pool, is not watched.
make_wrapper()
{
	local supp=$SOURCE/src/tools/valgrind.supp

	POSTGRES=$WORK/postgres
	cp "$TREE/test/proof/valgrind.supp" "$WORK/"
	cat >"$POSTGRES" <<-WRAPPER
		#!/bin/sh
		exec valgrind --quiet --trace-children=yes --track-origins=${ORIGINS:-no} --read-var-info=no --leak-check=no \\
			--num-callers=30 --gen-suppressions=no --suppressions='$WORK/valgrind.supp' ${SOURCE:+--suppressions='$supp'} \\
			--fullpath-after= --trace-children-skip='*/gpusortd' \\
			--log-file='$REPORTS/%p' '$BINDIR/postgres' "\$@"
	WRAPPER
	chmod 755 "$POSTGRES"
}

# Reports whose stack has a file of gpusort's source in it, a paragraph each.  Hooks that only call what
# the server does anyway don't count.
our_reports()
{
	find "$REPORTS" -type f -size +0 -exec cat {} + |
		awk -v source="(${BUILD_TREE:-$TREE}/src/" '
			/^==[0-9]+== *$/ {end(); next}
			{report = report $0 "\n"}
			index($0, source) || /gpusort\.so\)/ {if (!hook) ours = 1; next}
			{hook = /standard_(ExecutorRun|ExecutorStart|ProcessUtility|planner) \(/}
			END {end()}
			function end() {if (ours) printf "%s\n", report; report = ""; ours = hook = 0}'
}

# Every way of sorting and building once; to forget what is cached takes a server with assertions.
copy_discard()
{
	local file

	for file in sql/discard.sql expected/discard.out; do
		grep -v 'debug_discard_caches' "$TREE/test/proof/${file#*/}" >"$WORK/tests/$file"
	done
}

# run_tests LABEL TEST...
run_tests()
{
	local label=$1

	shift
	regress_suite "$label" "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" --dbname=gpusort_valgrind "$@"
}

# What the tests use is made without valgrind.
watched_suite()
{
	cluster_start valgrind "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d" "gpusort.pool_size = 512MB"
	run_tests setup -- setup
	cluster_stop valgrind
	as_server "$BINDIR/pg_ctl" -D "$WORK/valgrind" -l "$WORK/valgrind.log" -p "$POSTGRES" -w -t 300 start >/dev/null 2>&1 ||
		die "the server does not start below valgrind"
	# shellcheck disable=SC2086 # names are words
	run_tests valgrind --use-existing -- $TESTS
	cluster_stop valgrind || tally "valgrind stops" 0 1
	no_crash valgrind
}

need_packages build server tap locales valgrind
SOURCE=
if [ -z "$SHORT_FORM" ]; then
	export WITH_CUDA=0
	cassert_server
	build_apart cassert
fi
private_begin valgrind
private_locales cs_CZ hu_HU tr_TR
copy_sql_tests
copy_discard
reports_begin VALGRIND
make_wrapper
watched_suite
our_reports >"$WORK/ours"
head -n 100 "$WORK/ours"
tally "no reports" $(($(wc -c <"$WORK/ours") == 0)) "$(grep -c '^$' "$WORK/ours")"
finish
