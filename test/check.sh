#!/bin/bash
# check.sh [PART]...
#		make check: everything that can be tested on one machine without a GPU.
#
# Parts: unit, exports, regress, daemon, isolation, tap, fuzz; without an argument
# all.  daemon is the type tests once more, sorted and reordered by gpusortd on
# simulated devices, or on GPUs with GPUSORT_TEST_DAEMON=auto.
# Needs nothing but a C compiler, make and git to start from: see
# lib/packages.sh for what is installed, lib/cluster.sh for the servers.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"

PARTS=${*:-unit exports regress daemon isolation tap fuzz}

wanted()
{
	case " $PARTS " in
		*" $1 "*) return 0 ;;
	esac
	return 1
}

# The engine without a server: plain, then under ASan and UBSan.  The programs'
# TAP lies in build.
check_unit()
{
	local target dir log passed failed start status

	for target in check asan-check; do
		dir=$TREE/test/unit/build
		[ $target = check ] || dir=$dir/asan
		rm -f "$dir"/*.tap
		log=$WORK/unit-$target.log
		start=$(now_ms)
		make -C "$TREE/test/unit" --no-print-directory $target >"$log" 2>&1
		status=$?
		passed=$(cat "$dir"/*.tap 2>/dev/null | grep -c '^ok ')
		failed=$(cat "$dir"/*.tap 2>/dev/null | grep -c '^not ok ')
		if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
			failed=1
		fi
		[ "$failed" -eq 0 ] || tail -n 60 "$log"
		tally "unit $target" "$passed" "$failed" $(($(now_ms) - start))
	done
}

# Everything is hidden but what the server calls.
check_exports()
{
	local found expected

	found=$(nm -D --defined-only "$PKGLIBDIR/gpusort.so" | awk '{print $3}' | grep -vE '^_(init|fini)$' | sort | xargs)
	expected=$({
		echo Pg_magic_func _PG_init gpusort_idle_worker gpusort_index_worker gpusort_supervisor_main
		sed -nE "s/^AS 'MODULE_PATHNAME', '(.*)'.*/\1 pg_finfo_\1/p" "$TREE"/gpusort--*.sql
	} | xargs -n 1 | sort | xargs)
	if [ "$found" = "$expected" ]; then
		tally exports 1 0
	else
		say "exported: $found"
		say "expected: $expected"
		tally exports 0 1
	fi
}

# Test files, where the servers' user can read them.
copy_tests()
{
	mkdir -p "$WORK/tests/isolation"
	cp -r "$TREE/sql" "$TREE/expected" "$TREE/test/t" "$WORK/tests/"
	cp -r "$TREE/test/specs" "$WORK/tests/isolation/"
	[ ! -d "$TREE/test/expected" ] || cp -r "$TREE/test/expected" "$WORK/tests/isolation/"
	give_to_server "$WORK/tests"
}

# names DIR EXTENSION: the tests in DIR, setup first.
names()
{
	(cd "$1" && ls -- *."$2" 2>/dev/null | sed "s/\.$2\$//" | awk '{print ($0 == "setup" ? 0 : 1), $0}' |
		LC_ALL=C sort | cut -d ' ' -f 2)
}

check_regress()
{
	regress_suite regress "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" \
		--dbname=gpusort_regression -- $(names "$TREE/sql" sql)
}

# Types and odd rows, every sort by gpusortd: none may have been left to the host.
check_daemon()
{
	local counts i

	cluster_start daemon "shared_preload_libraries = 'gpusort'" "gpusort.engine = cuda" "autovacuum_naptime = 1d" \
		"gpusort.reorder_rows = on" \
		"gpusort.daemon = '${GPUSORT_TEST_DAEMON:-host:3}'"
	sql -c 'CREATE EXTENSION gpusort'
	for i in $(seq 100); do
		[ "$(sql -At -c 'SELECT state FROM gpusort_service()')" != up ] || break
		sleep 0.2
	done
	regress_suite daemon "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" \
		--dbname=gpusort_daemon -- setup $(names "$TREE/sql" sql | grep -E '^(types_|index_(types|unique|parallel))') edge_rows
	counts=$(sql -At -c 'SELECT jobs_done > 500, fallbacks FROM gpusort_service()')
	if [ "$counts" = 't|0' ]; then
		tally "sorted by gpusortd" 1 0
	else
		sql -x -c 'SELECT * FROM gpusort_service()'
		tally "sorted by gpusortd" 0 1
	fi
	cluster_stop daemon || tally "server stops" 0 1
}

check_isolation()
{
	regress_suite isolation "$PGXS_DIR/src/test/isolation/pg_isolation_regress" "$WORK/tests/isolation" \
		--dbname=gpusort_isolation -- $(names "$TREE/test/specs" spec)
}

check_fuzz()
{
	local start status

	[ -x "$TREE/test/fuzz/run.sh" ] || return 0
	start=$(now_ms)
	"$TREE/test/fuzz/run.sh" 20 >"$WORK/fuzz.log" 2>&1 9>&-
	status=$?
	tally_of fuzz "$WORK/fuzz.log" $(($(now_ms) - start)) $status
}

need_packages build server tap locales
private_begin check
private_locales cs_CZ hu_HU tr_TR
say "gpusort on $("$PG_CONFIG" --version), logs in ${WORK#"$TREE"/}"
copy_tests

if wanted unit && [ -f "$TREE/test/unit/Makefile" ]; then
	check_unit
fi
if wanted exports; then
	check_exports
fi
# Autovacuum's snapshots would decide which dead rows are in an index, and which
# pages VACUUM can delete.  It never gets its turn; if it were off, builds of indexes
# would not count the table's rows, from PostgreSQL 18 on.
if wanted regress || wanted isolation; then
	cluster_start main "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d"
	wanted regress && [ -n "$(names "$TREE/sql" sql)" ] && check_regress
	wanted isolation && [ -n "$(names "$TREE/test/specs" spec)" ] && check_isolation
	cluster_stop main || tally "server stops" 0 1
	if grep -qE 'PANIC|TRAP|terminated by signal' "$WORK/main.log"; then
		grep -E 'PANIC|TRAP|terminated by signal' "$WORK/main.log"
		tally "no crash" 0 1
	fi
fi
if wanted daemon; then
	check_daemon
fi
if wanted tap; then
	tap_suite "$WORK/tests/t"
fi
if wanted fuzz; then
	check_fuzz
fi
finish
