#!/bin/bash
# check.sh [NAME]...
#		make check: everything that can be tested on one machine without a GPU.
#
# A NAME is a part or a test (make check TEST=NAME): see lib/catalogue.sh.  The parts:
#
#	docs		is the manual true?
#	layout		does the code keep to its folders?
#	scripts		what is run again by make release-check
#	unit		engine, pool and gpusortd without a server, plain and under sanitizers
#	server_state	fields of the server's structs, and what src/SERVER_STATE.md says of them
#	exports		symbols of gpusort.so
#	regress		pg_regress
#	daemon		types and odd rows once more, sorted and reordered by gpusortd on
#				simulated devices, or on GPUs with GPUSORT_TEST_DAEMON=auto
#	isolation	several sessions in a fixed order
#	tap			restarts, crashes, settings
#	fuzz		20 seconds of the fuzzer
#	proof		short forms of what make proof does, on servers built or run in special ways
#
# Needs nothing but a C compiler, make and git to start from: see
# lib/packages.sh for what is installed, lib/cluster.sh for the servers.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"

# check_script PART SCRIPT: a script that says "N passed, N failed"; nothing if there is none.
check_script()
{
	[ -x "$TREE/test/$2" ] || return 0
	run_script "$1" "$2" "$TREE"
	count_script "$1"
}

# run_unit: the engine without a server, plain, then under ASan and UBSan, UNIT_JOBS programs at a time.  Their
# TAP lies in build.
run_unit()
{
	local target

	rm -f "$TREE"/test/unit/build/{,asan/}*.tap
	for target in check asan-check; do
		timed "$WORK/unit-$target" make -C "$TREE/test/unit" --no-print-directory -j"$UNIT_JOBS" \
			TESTS="$(chosen_tests unit | xargs)" $target >"$WORK/unit-$target.log" 2>&1 9>&-
	done
}

# count_unit NAME: what both say.
count_unit()
{
	local target dir passed failed ms cpu status

	for target in check asan-check; do
		dir=$TREE/test/unit/build
		[ $target = check ] || dir=$dir/asan
		status=1 ms=0 cpu=0
		read -r status ms cpu <"$WORK/unit-$target.status"
		passed=$(cat "$dir"/*.tap 2>/dev/null | grep -c '^ok ')
		failed=$(cat "$dir"/*.tap 2>/dev/null | grep -c '^not ok ')
		if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
			failed=1
		fi
		[ "$failed" -eq 0 ] || tail -n 60 "$WORK/unit-$target.log"
		tally "$1 $target" "$passed" "$failed" "$ms" "$cpu"
	done
}

# Everything is hidden but what the server calls; databases may have the functions of an older version.
check_exports()
{
	local found expected

	found=$(nm -D --defined-only "$PKGLIBDIR/gpusort.so" | awk '{print $3}' | grep -vE '^_(init|fini)$' | sort | xargs)
	expected=$({
		echo Pg_magic_func _PG_init gpusort_cluster_worker gpusort_index_worker \
			gpusort_into_worker gpusort_load_worker gpusort_out_worker gpusort_portion_worker gpusort_sort_worker gpusort_supervisor_main
		sed -nE "s/^AS 'MODULE_PATHNAME', '(.*)'.*/\1 pg_finfo_\1/p" "$TREE"/gpusort--*.sql
	} | xargs -n 1 | sort -u | xargs)
	if [ "$found" = "$expected" ]; then
		tally exports 1 0
	else
		say "exported: $found"
		say "expected: $expected"
		tally exports 0 1
	fi
}

check_regress()
{
	regress_suite regress "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" \
		--dbname=gpusort_regression -- $(with_helpers regress)
}

# Types and odd rows, every sort by gpusortd: none may have been left to the host.
check_daemon()
{
	local counts i jobs

	# a session on a busy machine must not give gpusortd up and sort by itself
	cluster_start daemon "shared_preload_libraries = 'gpusort'" "gpusort.engine = cuda" "autovacuum_naptime = 1d" \
		"gpusort.reorder_rows = on" "gpusort.copy_parser = device" "gpusort.daemon_queue_timeout = 0" \
		"gpusort.daemon = '${GPUSORT_TEST_DAEMON:-host:3}'"
	sql -c 'CREATE EXTENSION gpusort'
	for i in $(seq 900); do
		[ "$(sql -At -c 'SELECT state FROM gpusort_service()')" != up ] || break
		sleep 0.2
	done
	regress_suite daemon "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" \
		--dbname=gpusort_daemon -- $(with_helpers daemon)
	jobs=0
	! is_whole daemon || jobs=500
	counts=$(sql -At -c "SELECT jobs_done > $jobs, fallbacks FROM gpusort_service()")
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
		--dbname=gpusort_isolation -- $(chosen_tests isolation)
}

# Rounds of seeds, or what 20 seconds allow.
check_fuzz()
{
	local seed

	[ -n "${CHOSEN[fuzz]// /}" ] || launch "$OTHERS" count_script fuzz run_script fuzz fuzz/run.sh 20
	for seed in ${CHOSEN[fuzz]}; do
		# one after the other, in one directory
		SEED=$seed launch 0 count_script "fuzz $seed" run_script "fuzz $seed" fuzz/run.sh 600 --rounds 1
	done
}

check_proof()
{
	local name

	for name in $(chosen_tests proof); do
		launch "$OTHERS" count_script "proof $name" run_script "proof $name" "proof/$name.sh" --short
	done
}

# run_script LABEL SCRIPT ARGUMENT...: a script of test, its output into a log.
run_script()
{
	local log="$WORK/${1// /-}" script=$2

	shift 2
	timed "$log" "$TREE/test/$script" "$@" >"$log.log" 2>&1 9>&-
}

# count_script LABEL: what it has said.  One that has nothing to do here ends with 77, and says why.
count_script()
{
	local label="$*" log status=1 ms=0 cpu=0

	log=$WORK/${label// /-}
	read -r status ms cpu <"$log.status"
	if [ "$status" -eq 77 ]; then
		say "$label: $(tail -n 1 "$log.log")"
	else
		tally_of "$label" "$log.log" "$ms" "$status" "$cpu"
	fi
}

# Autovacuum's snapshots would decide which dead rows are in an index, and which
# pages VACUUM can delete.  It never gets its turn; if it were off, builds of indexes
# would not count the table's rows, from PostgreSQL 18 on.
check_on_main()
{
	cluster_start main "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d"
	! chosen regress || check_regress
	! chosen isolation || check_isolation
	cluster_stop main || tally "server stops" 0 1
	if grep -qE 'PANIC|TRAP|terminated by signal' "$WORK/main.log"; then
		grep -E 'PANIC|TRAP|terminated by signal' "$WORK/main.log"
		tally "no crash" 0 1
	fi
}

# What is chosen needs: a build and a server, or a compiler and headers, or nothing.
prepare()
{
	if chosen layout || chosen exports || chosen regress || chosen daemon || chosen isolation || chosen tap; then
		need_packages build server tap locales
		private_begin check
		say "gpusort on $("$PG_CONFIG" --version), logs in ${WORK#"$TREE"/}"
		private_locales cs_CZ hu_HU tr_TR
		copy_tests
	elif chosen unit || chosen server_state; then
		need_packages build locales
		work_begin check
		private_locales cs_CZ hu_HU tr_TR
	else
		work_begin check
	fi
}

[ $# -gt 0 ] || set -- $PARTS
for name in "$@"; do
	choose "$name"
done
prepare
# one job more than there are cores, as they wait half of their time
OTHERS=$(nproc)
# beside all regression tests, which are mostly one process, and take as long
UNIT_JOBS=$(nproc)
if chosen regress && is_whole regress && [ "$UNIT_JOBS" -gt 1 ]; then
	UNIT_JOBS=$((UNIT_JOBS - 1))
fi
! chosen unit || launch 0 count_unit unit run_unit
! chosen docs || check_script docs docs.sh
! chosen layout || check_script layout layout.pl
! chosen scripts || check_script scripts scripts.sh
! chosen server_state || check_script server_state server_state.pl
! chosen exports || check_exports
if chosen regress || chosen isolation; then
	check_on_main
fi
! chosen daemon || check_daemon
! chosen tap || launch_tap "$WORK/tests/t" $(chosen_tests tap)
! chosen fuzz || check_fuzz
! chosen proof || check_proof
await_jobs 0
finish
