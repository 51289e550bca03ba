#!/bin/bash
# memory.sh [--short] [SECONDS] [OPTION OF memory_fuzz.pl]...
#		An hour of statements of all kinds against all states of memory.
#
# Small pools, or such that others fill; quotas and work_mem that change between planning, execution and fetches;
# spilling on and off; workers that don't come; cancels; gpusortd on simulated devices: see fuzz/memory_fuzz.pl.
# SEED=n begins with that seed.
#
# --short takes a minute, and tables of up to 300,000 rows.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

DURATION=3600 ROWS=3000000
if [ "${1:-}" = --short ]; then
	shift
	DURATION=60 ROWS=300000
fi
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
	DURATION=$1
	shift
fi

need_packages build server locales
export WITH_CUDA=0
private_begin memory
private_locales
# where the servers' user can read them
mkdir -p "$WORK/fuzz"
cp "$TREE"/test/fuzz/*.p[lm] "$WORK/fuzz/"
as_server perl "$WORK/fuzz/memory_fuzz.pl" --bindir "$BINDIR" --seconds "$DURATION" --max-rows "$ROWS" ${SEED:+--seed "$SEED"} "$@" | tee "$WORK/memory_fuzz.log"
status=${PIPESTATUS[0]}
tally_of memory "$WORK/memory_fuzz.log" $((DURATION * 1000)) "$status" >"$WORK/tally"
tail -n 1 "$WORK/tally"
finish
