#!/bin/bash
# constants.sh [--short] [ROUNDS]
#		Sizes, thresholds and batches inside the source have other values: nothing but speed may change.
#
# In each of 10 rounds a third of the constants in constants.txt gets another value, most of them so small that
# a few rows are enough for what otherwise takes millions; gpusort is built so, with the assertions
# of the server's headers, and goes through unit tests, some SQL tests, and the fuzzer for 20 s, with
# sessions sorting and with gpusortd.  Each round has a seed of its own: `SEED=n constants.sh 1` repeats
# it.  The short form is one round, of three files and 10 s of fuzzing with gpusortd; it begins with the
# build of team.sh, under UBSan, too, of which only files with other constants are compiled again.  (So
# extents keep their size, which nearly all files know.)
#
# A line of that is a file of src, a constant and its other values, separated by |.  Constants that
# say what fits into a word, which the server or a file format dictate, or which say where blocks of
# an index lie, are none of these.  scripts.sh checks that all of them are there.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

CONSTANTS=$TREE/test/proof/constants.txt
SHORT_FORM=
if [ "${1:-}" = --short ]; then
	shift
	SHORT_FORM=yes
	set -- 1
fi
ROUNDS=${1:-10}
SEED=${SEED:-$(($(date +%s) % 32768))}
# Those that look at results, not at how they were reached.
UNIT_TESTS='device_test_tiny reorder_test_tiny plan_test sort_test'
SQL_TESTS='edge_rows index_parallel index_types index_unique spill types_text'
HOST_TESTS='late_rows parallel_collect shared_sort'	# they tell what has sorted

# set_constant FILE NAME VALUE
set_constant()
{
	perl -i -pe 'BEGIN { ($name, $value) = splice @ARGV, 0, 2 } $n += s{^(#define \Q$name\E\s+).*?(\s*/\*.*)?$}{$1$value$2};
		END { exit !$n }' "$2" "$3" "$BUILD_TREE/src/$1" || die "src/$1 has no $2"
}

# A third of them; the sizes of extents and segments go together.
choose_constants()
{
	local file name values value shift chosen=''

	while read -r file name values; do
		[ -n "$file" ] && [ $((RANDOM % 3)) -eq 0 ] || continue
		IFS='|' read -r -a values <<<"$values"
		value=${values[RANDOM % ${#values[@]}]}
		set_constant "$file" "$name" "$value"
		chosen+=" $name=$value"
	done <"$CONSTANTS"
	if [ -n "$SHORT_FORM" ]; then
		CHOSEN_CONSTANTS=$chosen
		return
	fi
	shift=$((20 + RANDOM % 3))
	set_constant protocol/gsd_pool.h GSD_EXTENT_SHIFT $shift
	set_constant engine/device/gs_device.h GS_SEGMENT_SHIFT $((shift - 3))
	TINY="-DGS_SEGMENT_SHIFT=$((7 + RANDOM % 5)) -DGS_LONG_RUN=$((20 + RANDOM % 200)) -DGS_SLAB_SHIFT=$((12 + RANDOM % 6))"
	CHOSEN_CONSTANTS="extents of 2^$shift,$chosen; unit tests: $TINY"
}

run_unit_tests()
{
	local test log status start

	rm -rf "$BUILD_TREE/test/unit/build"
	if ! make -s -C "$BUILD_TREE/test/unit" -j"$(nproc)" TINY_FLAGS="$TINY" \
		 $(printf 'build/%s ' $UNIT_TESTS) >"$WORK/unit.log" 2>&1; then
		grep -E 'error|warning' "$WORK/unit.log" | head -n 10
		tally "round $1 unit" 0 1
		return
	fi
	for test in $UNIT_TESTS; do
		log=$WORK/$test.tap
		start=$(now_ms)
		"$BUILD_TREE/test/unit/build/$test" --small >"$log" 2>&1
		status=$?
		grep -v '^ok' "$log" | grep -B 3 '^not ok' | head -n 20
		[ $status -eq 0 ] || grep -q '^not ok' "$log" || echo "not ok: status $status" >>"$log"
		tally "round $1 $test" "$(grep -c '^ok' "$log")" "$(grep -c '^not ok' "$log")" $(($(now_ms) - start))
	done
}

# run_sql ROUND ENGINE [LINE]...
run_sql()
{
	local name=r$1_$2 start status

	TESTS=$SQL_TESTS
	[ "$2" != host ] || TESTS+=" $HOST_TESTS"
	shift 2
	cluster_start "$name" "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d" \
		"max_parallel_workers = 4" "$@"
	# shellcheck disable=SC2086 # names are words
	regress_suite "$name" "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" --dbname="gpusort_$name" -- setup $TESTS
	start=$(now_ms)
	"$TREE/test/fuzz/fuzz.pl" --seconds "$FUZZ_SECONDS" --seed "$RANDOM" >"$WORK/$name.fuzz.log" 2>&1
	status=$?
	tally_of "$name fuzz" "$WORK/$name.fuzz.log" $(($(now_ms) - start)) $status
	[[ $* != *gpusort.daemon* ]] || count_jobs "$name"
	cluster_stop "$name" || tally "$name stops" 0 1
	no_crash "$name"
}

# A copy of team.sh's build, which others may be making.
copy_few_rows()
{
	local few

	build_apart few-rows
	few=$BUILD_TREE BUILD_TREE=$TREE/tmp_source/build-constants-short-$PG_MAJOR
	rm -rf "$BUILD_TREE"
	if ! flock "$few" sh -c 'make -C "$0" --no-print-directory -j"$(nproc)" PG_CONFIG="$PG_CONFIG" \
		SANITIZE="$SANITIZE" COPT="$COPT" ${WERROR:+WERROR="$WERROR"} all >&2 && cp -a "$0" "$1"' \
		"$few" "$BUILD_TREE" 2>"$TREE/tmp_source/few-rows.log"; then
		tail -n 20 "$TREE/tmp_source/few-rows.log"
		die "gpusort does not compile"
	fi
}

# prepare_round ROUND: the source with other constants.  Files that have theirs back have their old times, too.
prepare_round()
{
	if [ -n "$SHORT_FORM" ]; then
		copy_few_rows
	else
		build_apart constants
		find "$BUILD_TREE" -name '*.o' -delete
		mkdir -p "$BUILD_TREE/test"
		cp -r "$TREE/test/unit" "$TREE/test/bench" "$BUILD_TREE/test/"
	fi
	RANDOM=$((SEED + $1 - 1))
	choose_constants
	say "round $1, SEED=$((SEED + $1 - 1)): $CHOSEN_CONSTANTS"
}

# The first round's build is the one that the installation is made with.
begin()
{
	private_begin constants
	private_locales cs_CZ hu_HU tr_TR
	copy_sql_tests
	hide_work
}

need_packages build server tap locales
export WITH_CUDA=0 COPT="$QUICK -DUSE_ASSERT_CHECKING"
FUZZ_SECONDS=20
if [ -n "$SHORT_FORM" ]; then
	SQL_TESTS='index_unique spill types_text' FUZZ_SECONDS=10
	export SANITIZE=undefined COPT=$FEW_ROWS PG_CONFIG
fi
for round in $(seq "$ROUNDS"); do
	prepare_round "$round"
	if [ "$round" -eq 1 ]; then
		begin
	else
		build_gpusort
	fi
	if [ -z "$SHORT_FORM" ]; then
		run_unit_tests "$round"
		run_sql "$round" host
	fi
	run_sql "$round" daemon "gpusort.engine = cuda" "gpusort.daemon = 'host:3'" "gpusort.min_gpu_rows = 0" \
		"gpusort.daemon_options = '--device-rows=50 --bucket-rows=50 --step-rows=20'"
done
finish
