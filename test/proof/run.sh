#!/bin/bash
# run.sh [NAME]...
#		make proof: all proofs of this folder in their long form, or these.
#
# test/README.md has a section about each.  What a proof prints is shown as it comes; the last lines
# sum up.

. "$(dirname "$0")/../lib/common.sh"

LOG=$(mktemp) SUM=$(mktemp) || exit
at_exit 'rm -f "$LOG" "$SUM"'
SUMS=
# shellcheck disable=SC2046 # names are words
[ $# -gt 0 ] || set -- $(cd "$TREE/test/proof" && ls -- *.sh | sed 's/\.sh$//' | grep -vx run)
for name in "$@"; do
	[ -x "$TREE/test/proof/$name.sh" ] || die "there is no test/proof/$name.sh"
done
for name in "$@"; do
	say "proof $name"
	start=$(now_ms)
	"$TREE/test/proof/$name.sh" 2>&1 | tee "$LOG" | sed 's/^/    /'
	status=${PIPESTATUS[0]}
	# what the log ends with has been shown
	tally_of "proof $name" "$LOG" $(($(now_ms) - start)) "$status" >"$SUM"
	SUMS+=$(tail -n 1 "$SUM")$'\n'
done
printf '%s' "$SUMS"
finish
