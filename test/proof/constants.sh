#!/bin/bash
# constants.sh [--short] [ROUNDS]
#		Sizes, thresholds and batches inside the source have other values: nothing but speed may change.
#
# In each of 10 rounds a third of the constants below gets another value, most of them so small that
# a few rows are enough for what otherwise takes millions; gpusort is built so, with the assertions
# of the server's headers, and goes through unit tests, some SQL tests, and the fuzzer for 20 s, with
# sessions sorting and with gpusortd.  Each round has a seed of its own: `SEED=n constants.sh 1` repeats
# it.  The short form is one round, of three files and 10 s of fuzzing with gpusortd.
#
# A line is a file of src, a constant and its other values, separated by |.  Constants that say
# what fits into a word, which the server or a file format dictate, or which say where blocks of an
# index lie, are none of these.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/suites.sh"
. "$TREE/test/lib/catalogue.sh"
. "$TREE/test/lib/special.sh"

CONSTANTS='
interrupts.h					GPUSORT_INTERRUPT_ROWS	1|64
btree/btree_slices.c			SAMPLE					4|50
btree/btree.h					GPUSORT_SLICE_BATCH		2|7
btree/btree_leaf.c				PUT_BLOCK				1|5
engine/device/gs_arena.c		LARGE_BYTES				((size_t) 1 << 12)|((size_t) 1 << 16)
engine/device/gs_bucket_cuts.c	FUSED_DIVISOR			2|100
engine/device/gs_bucket_plan.c	LARGE_DIVISOR			2|40
engine/device/gs_device.h		GS_SHORT_RUN			2|5
engine/device/gs_device.h		GS_MANY_RUNS			2|20
engine/device/gs_device_buckets.c	MARGIN_BITS				0|2|12
engine/device/gs_device_buckets.c	MIN_SAVED_BITS			1|40
engine/device/gs_device_buckets.c	MIN_SAMPLE_ROWS			2|8
engine/device/gs_device_buckets.c	ROWS_A_SAMPLE			2|40
engine/device/gs_device_buckets.c	MAX_CLOSE_SHARE			2|16
engine/device/gs_device_partition.c	BUCKETS_A_JOB		1|3
engine/device/gs_device_partition.c	MIN_BUCKET_ROWS		UINT64_C(3)|UINT64_C(100)
engine/device/gs_device_partition.c	MAX_BUCKET_ROWS		UINT64_C(200)|UINT64_C(3000)
engine/device/gs_device_result.c	COUNTED_ROWS		UINT64_C(64)|UINT64_C(1000)
engine/device/gs_device_sort.h	GS_DEFAULT_DEVICE_ROWS	UINT64_C(1)|UINT64_C(300)
engine/device/gs_device_upload.c	RUN_SEGMENTS		1|3
engine/device/gs_device_upload.c	GROUP_SEGMENTS		1|2
engine/device/gs_device_upload.c	MOST_QUARTERS		4|8
engine/device/gs_reorder.c		WINDOW_BYTES			UINT64_C(4096)|UINT64_C(50000)
engine/gs_numbering.c			MIN_SAVED_BITS			1|3
engine/gs_layout.h				GS_NUMBERING_MIN_ROWS	16|300
engine/gs_layout.h				GS_PACK_BLOCK_ROWS		64|128
engine/host/gs_sort.c			GS_MANY_ROWS			UINT64_C(3000)|UINT64_C(20000)
engine/host/gs_shared.c			GS_BUCKET_ROWS			UINT64_C(100)|UINT64_C(500)
engine/host/gs_items.c			RANK_ROWS				2|7
engine/host/gs_items.c			BLOCK_ITEMS				2|30
engine/host/gs_sort_private.h	GS_DIGIT_MAX_BITS		8|9
engine/host/gs_sort_private.h	GS_POLL_ROWS			UINT64_C(2)|UINT64_C(100)
engine/host/gs_key.c			STATS_BLOCK_ROWS		UINT64_C(64)|UINT64_C(1024)
engine/host/gs_radix.c			SPARE_BITS				0|6
engine/host/gs_radix.c			CHUNK_ITEMS				UINT64_C(3)|UINT64_C(100)
engine/host/gs_refine.c			LOAD_ITEMS				4|32
engine/host/gs_refine.c			QUEUE_PREFETCH			1|3
sort/sort_cursor.h				GPUSORT_EMIT_BLOCK		2|8
exec/exec_late.c				TUPLES_AHEAD			1|4
exec/exec_late.c				ROWS_AHEAD				16|32
exec/exec_late.c				MAX_PAGES				2|10
sort/passed_rows.c			MIN_ROW_BYTES			8|64
sort/sort_result.c			SLICES_PER_PARTICIPANT	1|40
sort/sort_result.c			MIN_FORCED_SLICE_ROWS	1|200
index/index_scan.c				CHUNK_PAGES				1|3
index/index_rows.c				BATCH_BYTES				((Size) 8 * 1024)|((Size) 16 * 1024)
index/index_scan.c				MAX_CAREFUL_PAGES		1|5
keys/codec_collate.c			CACHE_MAX_STRING_BYTES	1|9
keys/collate_learn.c		LEARN_AFTER				1|100
memory/memory_range.c			GROW_STEP_BYTES			((size_t) 4 << 10)|((size_t) 64 << 10)
memory/memory_range.c			MIN_POOL_STEP_BYTES		((size_t) 4 << 10)|((size_t) 1 << 20)
memory/memory_range.c			MAX_KEPT_RANGES			1|4
memory/memory_range.c			MAX_KEPT_EXTENTS		1|5
protocol/gsd_pool.h				GSD_MAX_JOBS			2|6
runs/run_file.c					GPUSORT_MIN_RUN_BLOCK	64|512
runs/run_portions.c				RUN_SAMPLES				2|10
runs/run_portions.c				PORTION_SAMPLES			1|3
runs/run_portions.c				SAMPLE_BYTES			8|256
runs/run_cuts.c					TUPLE_BYTES				8|64
runs/run_cuts.c					PIECE_BYTES				8|64
runs/run_portions.c				MAX_EXCESS				1.0|100
runs/run_cuts.c					FIRST_OFFSETS			1|3
runs/run_file.c					BUFFER_BYTES			((size_t) 64)|((size_t) 1024)
sort/sort_portions.c			GPUSORT_MAX_RUNS		3|20
sort/sort_portions.c			PORTION_BYTES			((size_t) 2 << 10)|((size_t) 64 << 10)
sort/sort_portions.c			STRETCH_BYTES			((size_t) 256)|((size_t) 4 << 10)
sort/sort_spill.c				BLOCK_ROWS				1|5
sort/spill_plan.c				STRETCH_BYTES			1.0|1024.0
sort/spill_plan.c				ENOUGH_BYTES			1.0|(64.0 * 1024)
sort/spill_plan.c				LEAST_KEPT_PART			0.0|0.05
sort/key_planes.c				MIN_COMMON_BYTES		1|12
sort/refine_private.h			SMALL_RUN				64|128
sort/sort_refine.c				PIECES_EACH				1|40
sort/sort_refine.c				MIN_STRETCH_ROWS		4|60
sort/key_run.c					REF_AHEAD				3|9
sort/key_run.c					STRING_AHEAD			1|2
sort/row_store.c				DISCARD_BYTES			((size_t) 4 << 10)|((size_t) 64 << 10)
sort/order_private.h			TRIM_MIN_ROWS			16|300
sort/sort_memory.c				MIN_GROW_ROWS			16|33
sort/sort_memory.c				MAX_GROW_ROWS			64|1000
sort/sort_memory.c				MIN_STEP_ROWS			1|5
sort/sort_reorder.c				MIN_REORDER_BYTES		((size_t) 1)|((size_t) 20000)
sort/sort_verify.c				MAX_STRETCH				((uint64) 8)|((uint64) 100)
sort/sort_verify.c				MIN_STRETCHES			1|7
sort/team_private.h				TEAM_MAX_NOTED			2|30
sort/verifier.c					ROW_AHEAD			1|3
sort/verifier.c					MOVES					1|100
'

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

# All are there, also those that this round leaves as they are.
check_constants()
{
	local file name values

	while read -r file name values; do
		[ -z "$file" ] || grep -q "^#define $name\b" "$BUILD_TREE/src/$file" || die "src/$file has no $name"
	done <<<"$CONSTANTS"
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
	done <<<"$CONSTANTS"
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

# prepare_round ROUND: the source with other constants.  Files that have theirs back have their old times, too.
prepare_round()
{
	build_apart constants
	find "$BUILD_TREE" -name '*.o' -delete
	mkdir -p "$BUILD_TREE/test"
	cp -r "$TREE/test/unit" "$TREE/test/bench" "$BUILD_TREE/test/"
	check_constants
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
