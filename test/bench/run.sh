#!/bin/bash
# run.sh [OPTION OF bench.pl]...
#		make bench: PostgreSQL's sorts and gpusort's on a throw-away server.
#
# ROWS=n sets the rows of the large cases (10,000,000: about 6 GB of disk and 5 GB
# of memory, half an hour).  QUICK=1 is a rough look in two minutes.
# OUTPUT=file for the table; ARGS="--case uuid" for other options.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

ARGUMENTS=("$@")
# shellcheck disable=SC2206 # options are words
[ -z "${ARGS:-}" ] || ARGUMENTS+=($ARGS)
[ -z "${ROWS:-}" ] || ARGUMENTS+=(--rows "$ROWS")
[ -z "${QUICK:-}" ] || ARGUMENTS+=(--quick)
[ -z "${OUTPUT:-}" ] || ARGUMENTS+=(--output "$OUTPUT")

# Half of the memory, 4 GB at most, so that the tables stay cached.
buffers_mb=$(awk '/^MemTotal/ {mb = int($2 / 2048); print (mb > 4096 ? 4096 : mb)}' /proc/meminfo)

need_packages build server tap locales
private_begin bench
private_locales

# wanted CASES: are there any of them among those asked for, if any are?
wanted()
{
	[[ " ${ARGUMENTS[*]} " != *" --case "* ]] || [[ " ${ARGUMENTS[*]} " =~ \ --case\ $1 ]]
}

if wanted '([^i]|i[^n]|in[^d])'; then
	cluster_start sorts "shared_preload_libraries = 'gpusort'" "shared_buffers = '${buffers_mb}MB'" \
		"max_wal_size = '8GB'" "checkpoint_timeout = '1h'" "autovacuum = off" "synchronous_commit = off" "wal_level = minimal" "max_wal_senders = 0"
	"$TREE/test/bench/bench.pl" "${ARGUMENTS[@]}" 2>&1 | tee "$WORK/bench.log"
	status=${PIPESTATUS[0]}
	tally_of sorts "$WORK/bench.log" 0 "$status" >/dev/null
	cluster_stop sorts
fi

if wanted index-; then
	# logged as in production
	cluster_start indexes "shared_preload_libraries = 'gpusort'" "shared_buffers = '${buffers_mb}MB'" \
		"max_wal_size = '16GB'" "checkpoint_timeout = '1h'" "autovacuum = off"
	"$TREE/test/bench/bench.pl" --indexes "${ARGUMENTS[@]}" 2>&1 | tee "$WORK/indexes.log"
	status=${PIPESTATUS[0]}
	tally_of indexes "$WORK/indexes.log" 0 "$status" >/dev/null
	cluster_stop indexes
fi

# single cases are asked for by somebody who wants nothing else
if [[ " ${ARGUMENTS[*]} " != *" --case "* ]]; then
	say
	cluster_start planning "shared_buffers = '512MB'" "autovacuum = off" "synchronous_commit = off"
	"$TREE/test/bench/planning.pl" ${QUICK:+--rounds 50} 2>&1 | tee "$WORK/planning.log"
	status=${PIPESTATUS[0]}
	tally_of planning "$WORK/planning.log" 0 "$status" >/dev/null
	cluster_stop planning
fi
finish
