# common.sh
#		What every script under test/ needs: messages, durations, sums.
#
# Sourced by bash.  Sets TREE, the root of the source tree, and calls the
# functions that were given to at_exit when the script ends in whatever way,
# last one first.
#
# Every script that tests something ends with the line "N passed, N failed".
# Parts are counted with tally, and tally_of takes over another script's line.

set -uo pipefail
umask 022

TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
NPASSED=0
NFAILED=0
EXIT_CALLS=()

unset CDPATH MAKEFLAGS MAKELEVEL MFLAGS
export LC_ALL=C.UTF-8 LANGUAGE=

say()
{
	printf '%s\n' "$*"
}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 2
}

# The line of gpusort.control from which everything else has the version.
control_version()
{
	sed -n "s/^default_version = '\(.*\)'$/\1/p" "$TREE/gpusort.control"
}

# at_exit COMMAND: to be run when the script ends.
at_exit()
{
	EXIT_CALLS=("$1" "${EXIT_CALLS[@]}")
}

run_exit_calls()
{
	local rc=$? call

	trap '' INT TERM HUP
	for call in "${EXIT_CALLS[@]}"; do
		eval "$call"
	done
	exit $rc
}
trap run_exit_calls EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# tally LABEL PASSED FAILED [MS [CPU_MS]]: count, and print the line of one part.
tally()
{
	NPASSED=$((NPASSED + $2))
	NFAILED=$((NFAILED + $3))
	printf '%-24s %5d passed, %d failed%s\n' "$1" "$2" "$3" "${4:+  ($(seconds "$4")${5:+, $(seconds "$5") of CPU})}"
}

# tally_of LABEL LOG MS STATUS [CPU_MS]: count by the last "N passed, N failed" in LOG.
# A script that says nothing, or fails without a failed test, is one failure.
tally_of()
{
	local label=$1 log=$2 ms=$3 status=$4 passed=0 failed=0

	read -r passed failed < <(sed -nE 's/^.*\b([0-9]+) passed, ([0-9]+) failed.*$/\1 \2/p' "$log" | tail -n 1)
	passed=${passed:-0} failed=${failed:-0}
	if [ $((passed + failed)) -eq 0 ] || { [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; }; then
		failed=1
	fi
	if [ "$failed" -gt 0 ]; then
		tail -n 60 "$log"
	fi
	tally "$label" "$passed" "$failed" "$ms" ${5:+"$5"}
}

# finish: the last line, and the exit status.
finish()
{
	say "$NPASSED passed, $NFAILED failed"
	[ "$NFAILED" -eq 0 ] && [ "$NPASSED" -gt 0 ]
	exit
}

now_ms()
{
	date +%s%3N
}

# timed FILE COMMAND...: run; into FILE.status how it ended, and after how many milliseconds, of the clock and of CPU.
timed()
{
	local file=$1 start status

	shift
	start=$(now_ms)
	if [ "$(type -t "$1")" = function ]; then
		# as_server does it
		CPU_FILE=$file.cpu "$@"
	else
		"$TREE/test/lib/cpu_time.pl" "$file.cpu" "$@"
	fi
	status=$?
	printf '%d %d %d\n' $status $(($(now_ms) - start)) "$(cat "$file.cpu")" >"$file.status"
}

# seconds MS: "12.3 s"
seconds()
{
	printf '%d.%d s' $(($1 / 1000)) $(($1 % 1000 / 100))
}
