#!/bin/bash
# run.sh [SECONDS] [OPTION OF fuzz.pl]...
#		make fuzz SECONDS=n: differential fuzzing on a throw-away server.
#
# Then, without options, copy_fuzz.pl for a quarter of that, and real_text.pl on a part of
# Debian's package index, where there is one; on all of it if SECONDS is 60 or more.
# SEED=s starts at that seed.
# GPUSORT_TEST_DAEMON=host:3 (a value of gpusort.daemon) has gpusortd sort.
# Against a running server: fuzz.pl, copy_fuzz.pl and real_text.pl themselves.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

DURATION=60
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
	DURATION=$1
	shift
fi

# part LABEL COMMAND...: run, show, and count.
part()
{
	local label=$1 start status

	shift
	start=$(now_ms)
	"$@" 2>&1 | tee "$WORK/$label.log"
	status=${PIPESTATUS[0]}
	grep -q '^real text: skipped' "$WORK/$label.log" && return
	tally_of "$label" "$WORK/$label.log" $(($(now_ms) - start)) "$status" >"$WORK/tally"
	tail -n 1 "$WORK/tally"
}

need_packages build server tap locales
private_begin fuzz
private_locales
ENGINE=()
if [ -n "${GPUSORT_TEST_DAEMON:-}" ]; then
	ENGINE=("gpusort.engine = cuda" "gpusort.daemon = '$GPUSORT_TEST_DAEMON'"
		"gpusort.daemon_options = '--device-rows=50 --bucket-rows=50 --step-rows=20'")
fi
cluster_start main "${ENGINE[@]}" "shared_preload_libraries = 'gpusort'" "gpusort.pool_size = 64MB" "autovacuum = off" "max_parallel_workers = 4"
part fuzz "$TREE/test/fuzz/fuzz.pl" --seconds "$DURATION" ${SEED:+--seed "$SEED"} "$@"
if [ $# -eq 0 ]; then
	part copy "$TREE/test/fuzz/copy_fuzz.pl" --seconds $((DURATION / 4 + 1)) ${SEED:+--seed "$SEED"}
	part into "$TREE/test/fuzz/into_fuzz.pl" --seconds $((DURATION / 4 + 1)) ${SEED:+--seed "$SEED"}
fi
if [ $# -gt 0 ]; then
	:
elif [ "$DURATION" -ge 60 ]; then
	part real-text "$TREE/test/fuzz/real_text.pl"
else
	part real-text "$TREE/test/fuzz/real_text.pl" --rows 8000
fi
# programs of COPY are killed on purpose, which is a detail of an error
if grep -E 'PANIC|TRAP|\(PID [0-9]+\) was terminated by signal' "$WORK/main.log"; then
	tally "no crash" 0 1
fi
finish
