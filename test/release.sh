#!/bin/bash
# release.sh [PART]...
#		make release-check: all that must hold before a version goes out.
#
# The parts are servers, the tests on all supported versions (.ci/run), check-contrib and check-neighbours,
# and those of check-packages and of proof one by one (check-packages/15, proof/cassert; the goal alone
# stands for all of them).  What others do is none: servers do what make check does, but for the short form
# of a proof; proof/core does what check-core does, in this way and in others; and proof/coverage, which
# writes a file of the tree, measures what tests reach.  Hours, as root on Debian 12.
#
# Each part's log lies in tmp_release, until make clean, and beside it at which commit it has passed.  So
# what was interrupted, or has failed for want of something, can be called again: a part that has passed at
# this very commit, on this server (PG_CONFIG), is not run once more, but counted, with its time, and the last
# lines say so.  Parts that are named are run in any case.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/versions.sh"

LOGS=$TREE/tmp_release
NKEPT=0
ALL_MS=0

# names_in DIR: of the scripts of a folder of tests, but for the one that runs them.
names_in()
{
	(cd "$TREE/test/$1" && ls -- *.sh | sed 's/\.sh$//' | grep -vx run)
}

# parts_of GOAL
parts_of()
{
	case $1 in
		check-packages) printf "$1/%s\n" dist $(tested_majors) rpm docker ;;
		proof) names_in proof | grep -vx coverage | sed "s,^,$1/," ;;
		*) echo "$1" ;;
	esac
}

all_parts()
{
	local goal

	for goal in servers check-contrib check-neighbours check-packages proof; do
		parts_of $goal
	done
}

# The commit that the tree is; nothing if it differs from what is committed.
commit_of_tree()
{
	[ -n "$(git -C "$TREE" status --porcelain --untracked-files=no)" ] || git -C "$TREE" rev-parse HEAD
}

# Nothing of it can be told of a tree that differs from what is committed.
committed()
{
	[ -n "$COMMIT" ] || git -C "$TREE" status --porcelain --untracked-files=no
	tally "all is committed" "$([ -n "$COMMIT" ] && echo 1 || echo 0)" "$([ -n "$COMMIT" ] && echo 0 || echo 1)"
}

run_part()
{
	case $1 in
		servers) "$TREE/.ci/run" ;;
		*/*) make -C "$TREE" --no-print-directory "${1%/*}" TEST="${1#*/}" ;;
		*) env -u TEST make -C "$TREE" --no-print-directory "$1" ;;
	esac
}

# counts LOG: the last line "N passed, N failed", which sums up the others.
counts()
{
	sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$1" | awk '{p = $1; f = $2} END {print p + 0, f + 0}'
}

# What a part that has passed is known by; the first part may have installed the server.
key()
{
	echo "$COMMIT $("${PG_CONFIG:-pg_config}" --version 2>/dev/null)"
}

# kept PART: count it by what it was when it passed at this commit; false if it has not.
kept()
{
	local key passed ms

	[ -n "$COMMIT" ] && [ -f "$(file_of "$1").passed" ] || return 1
	{ read -r key && read -r passed ms; } <"$(file_of "$1").passed"
	[ "$key" = "$(key)" ] || return 1
	NKEPT=$((NKEPT + 1))
	ALL_MS=$((ALL_MS + ms))
	tally "$1, before" "$passed" 0 "$ms"
}

# file_of PART, without its ending.
file_of()
{
	echo "$LOGS/${1//\//-}"
}

# run_and_keep PART
run_and_keep()
{
	local file begun status passed failed ms

	file=$(file_of "$1")
	[ -z "$COMMIT" ] || rm -f "$file.passed"
	begun=$(now_ms)
	run_part "$1" >"$file.log" 2>&1
	status=$?
	ms=$(($(now_ms) - begun))
	ALL_MS=$((ALL_MS + ms))
	read -r passed failed < <(counts "$file.log")
	if [ "$failed" -eq 0 ] && { [ $status -ne 0 ] || [ "$passed" -eq 0 ]; }; then
		failed=1
	fi
	[ "$failed" -eq 0 ] || tail -n 30 "$file.log"
	tally "$1" "$passed" "$failed" "$ms"
	# what is said of the parts is said of one commit
	if [ -n "$COMMIT" ] && [ "$(commit_of_tree)" != "$COMMIT" ]; then
		tally "the tree stays as it was" 0 1
		finish
	fi
	[ -z "$COMMIT" ] || [ "$failed" -gt 0 ] || printf '%s\n' "$(key)" "$passed $ms" >"$file.passed"
}

CHOSEN=
PARTS=$(all_parts)
for name in "$@"; do
	found=$(grep -xE "$name(/.*)?" <<<"$PARTS") || die "there is no $name; the parts: $(xargs <<<"$PARTS")"
	CHOSEN+=$found$'\n'
done
mkdir -p "$LOGS"
COMMIT=$(commit_of_tree)
committed
for part in ${CHOSEN:-$PARTS}; do
	[ -z "$CHOSEN" ] && kept "$part" || run_and_keep "$part"
done
say "all of these parts take $((ALL_MS / 60000)) minutes"
[ $NKEPT -eq 0 ] || say "$NKEPT parts had passed before at $COMMIT, and were not run again; make release-check TEST=NAME runs one"
finish
