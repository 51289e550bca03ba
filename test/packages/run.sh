#!/bin/bash
# run.sh [NAME]...
#		make check-packages: the archive for PGXN, and packages, made and installed in clean systems.
#
# A NAME is dist, rpm, docker, or a version of PostgreSQL: its package of Debian. Needs root, for chroot
# only; ten minutes each at most, most of them for what building needs: compilers come with the server's
# headers.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/versions.sh"

# shellcheck disable=SC2046 # names are words
[ $# -gt 0 ] || set -- dist $(tested_majors) rpm docker
log=$(mktemp)
at_exit 'rm -f "$log"'
for name in "$@"; do
	script=("$TREE/test/packages/$name.sh")
	! version_of "$name" || script=("$TREE/test/packages/debian.sh" "$name")
	[ -f "${script[0]}" ] || die "there is no test/packages/$name.sh"
	begun=$(now_ms)
	"${script[@]}" >"$log" 2>&1
	status=$?
	cat "$log"
	tally_of "packages: $name" "$log" $(($(now_ms) - begun)) $status >"$log.tally"
	# the log has been shown already
	tail -n 1 "$log.tally"
	# tally_of has counted in this shell
	rm -f "$log.tally"
done
finish
