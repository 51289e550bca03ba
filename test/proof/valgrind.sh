#!/bin/bash
# valgrind.sh [TEST]...
#		SQL tests on a server under valgrind.
#
# The server is that of cassert.sh, which tells valgrind of every chunk that palloc() hands out, so
# that reading one before it is written, or beyond its end, is seen.  TESTs are files of sql/; without
# one: a selection, as all is some thirty times slower.  Reports with gpusort in their stack fail the
# run; others are the server's business, and valgrind.supp of its source knows of most of them.
# ORIGINS=yes tells where values come from that were never written, in twice the time.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

export WITH_CUDA=0
TESTS=${*:-edge_columns edge_plans index_builds index_tables index_types index_unique index_use
	parallel_collect parallel_inputs plans_cursors plans_nodes settings shared_sort late_rows
	types_bytes types_collate types_datetime types_enum types_float types_integer types_network
	types_none types_null types_numeric types_text}

# A program that stands for the server's.
make_wrapper()
{
	POSTGRES=$WORK/postgres
	cat >"$POSTGRES" <<-WRAPPER
		#!/bin/sh
		exec valgrind --quiet --trace-children=yes --track-origins=${ORIGINS:-no} --read-var-info=no --leak-check=no \\
			--num-callers=30 --gen-suppressions=no --suppressions='$SOURCE/src/tools/valgrind.supp' \\
			--trace-children-skip='*/gpusortd' \\
			--log-file='$REPORTS/%p' '$BINDIR/postgres' "\$@"
	WRAPPER
	chmod 755 "$POSTGRES"
}

# Reports whose stack has gpusort in it, a paragraph each.
our_reports()
{
	find "$REPORTS" -type f -size +0 -exec cat {} + |
		awk '/^==[0-9]+== *$/ {if (ours) printf "%s\n", report; report = ""; ours = 0; next}
			{report = report $0 "\n"} /gpusort/ {ours = 1}
			END {if (ours) printf "%s\n", report}'
}

need_packages build server tap locales valgrind
cassert_server
build_apart cassert
private_begin valgrind
private_locales cs_CZ hu_HU tr_TR
copy_sql_tests
reports_begin VALGRIND
make_wrapper
sql_suite valgrind "gpusort.pool_size = 512MB"
our_reports >"$WORK/ours"
head -n 100 "$WORK/ours"
tally "no reports" $(($(wc -c <"$WORK/ours") == 0)) "$(grep -c '^$' "$WORK/ours")"
finish
