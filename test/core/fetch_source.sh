#!/bin/bash
# fetch_source.sh MAJOR VERSION DIRECTORY [PATTERN]...
#		Unpack the test suites of PostgreSQL VERSION into DIRECTORY: the core suite,
#		src/test/regress, the isolation tests, and contrib; or what the PATTERNs name, '*' for all of it.
#
# The source comes from Debian's source package (lib/archive.sh).  The archive does not keep every
# minor release that was ever installed; the nearest one is taken then.  Prints
# the version unpacked.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/versions.sh"
. "$TREE/test/lib/archive.sh"

MAJOR=$1 VERSION=$2 DIR=$3
shift 3
[ $# -gt 0 ] || set -- '*/src/test/regress' '*/src/test/isolation' '*/contrib'
PACKAGE=postgresql-$MAJOR

# The versions on stdin, nearest to VERSION first.
by_nearness()
{
	awk -v want="${VERSION#*.}" -F '[.-]' '
		{
			minor = $2 + 0
			print (minor > want ? minor - want : want - minor), $0
		}' | sort -n | cut -d ' ' -f 2
}

version_of "$MAJOR" || die "no Debian release carries PostgreSQL $MAJOR"
archive_begin "$DIR" deb-src "${EXTRA_SUITE:-$SUITE}"
cd "$DIR" || exit
found=
for version in $(apt-cache showsrc "$PACKAGE" 2>/dev/null | sed -nE 's/^Version: //p' | sort -u | by_nearness); do
	if (cd apt && apt-get -qq --download-only source "$PACKAGE=$version") >>apt/log 2>&1; then
		found=$version
		break
	fi
done
[ -n "$found" ] || { tail -n 5 apt/log >&2; die "$MIRROR has no source of $PACKAGE"; }
tar -xf apt/"${PACKAGE}"_*.orig.tar.* --strip-components=1 --wildcards "$@" || exit
rm -rf apt
printf '%s\n' "${found%%-*}"
