#!/bin/bash
# release.sh [PART]...
#		make release-check: all that must hold before a version goes out.
#
# The parts, which are goals of make: check-all, check-contrib, check-neighbours, proof, check-packages, and
# servers, the tests on all supported versions (.ci/run). Hours, as root on Debian 12; each part's log lies in
# tmp_release, until make clean.

. "$(dirname "$0")/lib/common.sh"

PARTS='check-all check-contrib check-neighbours check-packages proof servers'
LOGS=$TREE/tmp_release

# Nothing of it can be told of a tree that differs from what is committed.
committed()
{
	local changes

	changes=$(git -C "$TREE" status --porcelain --untracked-files=no)
	[ -z "$changes" ] || say "$changes"
	tally "all is committed" "$([ -z "$changes" ] && echo 1 || echo 0)" "$([ -z "$changes" ] && echo 0 || echo 1)"
}

command_of()
{
	case $1 in
		servers) echo "$TREE/.ci/run" ;;
		*) echo "make -C $TREE --no-print-directory $1" ;;
	esac
}

# counts LOG: the sums of all lines "N passed, N failed" that end a script; make of two goals has two.
counts()
{
	sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$1" | awk '{p += $1; f += $2} END {print p + 0, f + 0}'
}

[ $# -gt 0 ] || set -- $PARTS
for part in "$@"; do
	[[ " $PARTS " == *" $part "* ]] || die "there is no $part; the parts: $PARTS"
done
mkdir -p "$LOGS"
committed
for part in "$@"; do
	begun=$(now_ms)
	# shellcheck disable=SC2046 # a command is words
	env -u TEST $(command_of "$part") >"$LOGS/$part.log" 2>&1
	status=$?
	read -r passed failed < <(counts "$LOGS/$part.log")
	if [ "$failed" -eq 0 ] && { [ $status -ne 0 ] || [ "$passed" -eq 0 ]; }; then
		failed=1
	fi
	[ "$failed" -eq 0 ] || tail -n 30 "$LOGS/$part.log"
	tally "$part" "$passed" "$failed" $(($(now_ms) - begun))
done
finish
