#!/bin/bash
# fetch_source.sh MAJOR VERSION DIRECTORY [PATTERN]...
#		Unpack the test suites of PostgreSQL VERSION into DIRECTORY: the core suite,
#		src/test/regress, the isolation tests, and contrib; or what the PATTERNs name, '*' for all of it.
#
# The source comes from Debian's source package by apt, which checks it, with a
# sources list and package lists of its own under DIRECTORY: the system's apt is
# neither used nor changed, and no root is needed.  The archive does not keep every
# minor release that was ever installed; the nearest one is taken then.  Prints
# the version unpacked.  DEBIAN_MIRROR names another mirror.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/versions.sh"

MAJOR=$1 VERSION=$2 DIR=$3
shift 3
[ $# -gt 0 ] || set -- '*/src/test/regress' '*/src/test/isolation' '*/contrib'
MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org}
PACKAGE=postgresql-$MAJOR
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

apt_config()
{
	local suite=$1

	mkdir -p "$DIR/apt/lists/partial" "$DIR/apt/cache/archives/partial"
	: >"$DIR/apt/status"
	echo "deb-src [signed-by=$KEYRING] $MIRROR/debian $suite main" >"$DIR/apt/sources.list"
	if [ "$suite" != sid ] && [ "$suite" != experimental ]; then
		echo "deb-src [signed-by=$KEYRING] $MIRROR/debian-security $suite-security main" >>"$DIR/apt/sources.list"
	fi
	cat >"$DIR/apt/apt.conf" <<-CONF
		Dir::Etc::sourcelist "$DIR/apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State "$DIR/apt";
		Dir::State::lists "$DIR/apt/lists";
		Dir::State::status "$DIR/apt/status";
		Dir::Cache "$DIR/apt/cache";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::Check-Valid-Until "false";
		APT::Sandbox::User "";
	CONF
	export APT_CONFIG=$DIR/apt/apt.conf
}

# The versions on stdin, nearest to VERSION first.
by_nearness()
{
	awk -v want="${VERSION#*.}" -F '[.-]' '
		{
			minor = $2 + 0
			print (minor > want ? minor - want : want - minor), $0
		}' | sort -n | cut -d ' ' -f 2
}

[ -f "$KEYRING" ] || die "missing: debian-archive-keyring"
mkdir -p "$DIR" && cd "$DIR" || exit
DIR=$(pwd -P)
version_of "$MAJOR" || die "no Debian release carries PostgreSQL $MAJOR"
apt_config "${EXTRA_SUITE:-$SUITE}"
apt-get -qq update >apt/log 2>&1 || { tail -n 5 apt/log >&2; die "cannot read $MIRROR"; }
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
