#!/bin/bash
# planning.sh [ROUNDS] [SECONDS]
#		What gpusort costs queries that it has nothing to do with: pgbench -S.
#
# Against a server of PGHOST, PGPORT and PGUSER that does not preload gpusort; the
# library comes by session_preload_libraries.  Three modes in turn (not loaded,
# loaded but disabled, loaded), ROUNDS (20) times, SECONDS (2) each, one client.
# Prints the median of the transactions a second, and the median over the rounds
# of the ratio to "not loaded" with the interquartile range: single runs of
# pgbench differ by more than what is measured here.

set -euo pipefail
ROUNDS=${1:-20}
SECONDS_EACH=${2:-2}
MODES=(none off on)
database=bench_planning_$$
work=$(mktemp -d)
trap 'dropdb --if-exists -f "$database" 2>/dev/null || true; rm -rf "$work"' EXIT

if [ "$(psql -XAtc "SELECT current_setting('shared_preload_libraries') LIKE '%gpusort%'" "${PGDATABASE:-postgres}")" = t ]; then
	echo "planning.sh: this server preloads gpusort, so there is nothing to compare with" >&2
	exit 2
fi

# pgbench MODE: transactions a second.
measure()
{
	local options=

	[ "$1" = none ] || options="-c session_preload_libraries=gpusort -c gpusort.enabled=$1"
	PGOPTIONS=$options pgbench -n -S -M simple -c 1 -T "$SECONDS_EACH" "$database" 2>/dev/null |
		sed -nE 's/^tps = ([0-9.]+).*/\1/p' | tail -n 1
}

# quartiles: first, second and third of the numbers on standard input.
quartiles()
{
	sort -g | awk '{v[NR] = $1} END {printf "%s %s %s\n", v[int((NR + 3) / 4)], v[int((NR + 1) / 2)], v[int((3 * NR + 3) / 4)]}'
}

createdb "$database"
pgbench -i -q -s 10 "$database" >/dev/null 2>&1
for mode in "${MODES[@]}"; do
	measure "$mode" >/dev/null
done
for ((i = 0; i < ROUNDS; i++)); do
	for ((j = 0; j < 3; j++)); do
		# another mode begins in every round
		mode=${MODES[$(((i + j) % 3))]}
		measure "$mode" >>"$work/$mode"
	done
done

echo "pgbench -S, one client, simple protocol, medians of $ROUNDS runs of $SECONDS_EACH s"
echo
echo "| gpusort | transactions a second | ratio | quartiles of the ratio |"
echo "| --- | ---: | ---: | ---: |"
failed=0
for mode in "${MODES[@]}"; do
	read -r _ tps _ < <(quartiles <"$work/$mode")
	read -r low ratio high < <(paste "$work/$mode" "$work/none" | awk '{print $1 / $2}' | quartiles)
	name=$(case $mode in none) echo "not loaded" ;; off) echo "loaded, disabled" ;; on) echo "loaded" ;; esac)
	printf '| %s | %.0f | %.3f | %.3f to %.3f |\n' "$name" "$tps" "$ratio" "$low" "$high"
	# the target is 1 %: missed if even the better half of the rounds lies below
	awk -v high="$high" 'BEGIN {exit high < 0.99}' || failed=1
done
echo "$((1 - failed)) passed, $failed failed"
exit $failed
