# neighbours.sh
#		What the tests of test/neighbours share.
#
# Sourced after common.sh and cluster.sh.
#
#	unpack_packages NAME..	Debian's postgresql-MAJOR-NAME into the private installation; false
#							if Debian does not have one of them
#	unpack_programs NAME..	packages that know no MAJOR, and the libraries that they want and the system
#							has not, into WORK/programs
#	program COMMAND...		run one of these
#	libraries_of PACKAGE NAME..	those that it wants, by how their names begin
#	fetch_source NAME		the source of a package of Debian's, into WORK/NAME: of this server's suite, or of an
#							older one if the archive does not have that one's any more
#	without [OPTION]...		psql with gpusort off
#	with [OPTION]...		... with gpusort as it is by default
#	forced [OPTION]...		... with gpusort.force
#	is LABEL GOT WANTED		count; show both if they are not the same
#	holds LABEL QUERY		the last row that the query returns is t
#	same LABEL QUERY		forced and without gpusort it returns the same
#	sorts_as_sort			filter: plans with Sort where gpusort sorts
#	built PATTERN			how many indexes whose names match it gpusort has built
#	check_indexes [PATTERN]	what amcheck says of all btrees of user tables: "N valid"

unpack_packages()
{
	local name

	for name in "$@"; do
		unpack_package "postgresql-$PG_MAJOR-$name" "$WORK/pg" || return
	done
	give_to_server "$WORK/pg"
}

unpack_programs()
{
	local name

	[ $# -gt 0 ] || return 0
	# shellcheck disable=SC2046 # names are words
	for name in "$@" $(missing_libraries "$@"); do
		unpack_package "$name" "$WORK/programs" || return
	done
}

# program COMMAND...: one of these, as the servers' user
program()
{
	as_server env LD_LIBRARY_PATH="$WORK/programs/usr/lib/$(uname -m)-linux-gnu" PATH="$WORK/programs/usr/bin:$WORK/programs/usr/sbin:$PATH" "$@"
}

depends_of()
{
	apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances "$@" 2>/dev/null |
		sed -nE 's/^ *\|?Depends: ([^ ]+)$/\1/p' | sort -u
}

libraries_of()
{
	local package=$1 name

	shift
	for name in "$@"; do
		depends_of "$package" | grep "^lib$name"
	done
}

# What these want, and what that wants
missing_libraries()
{
	local name seen=" $* " found

	while [ $# -gt 0 ]; do
		found=()
		for name in $(depends_of "$@" | grep '^lib'); do
			[[ $seen != *" $name "* ]] || continue
			seen+="$name "
			dpkg-query -W -f '${db:Status-Status}\n' "$name" 2>/dev/null | grep -qx installed || found+=("$name")
		done
		set -- "${found[@]}"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	done
}

fetch_source()
{
	local suite

	. "$TREE/test/lib/versions.sh"
	. "$TREE/test/lib/archive.sh"
	version_of "$PG_MAJOR" || return
	mkdir -p "$WORK/$1"
	for suite in "$SUITE" trixie; do
		(
			archive_begin "$WORK/$1.$suite" deb-src "$suite"
			cd "$WORK/$1.$suite/apt" && apt-get -qq --download-only source "$1" >>log 2>&1 &&
				tar -xf "$1"_*.orig.tar.* --strip-components=1 -C "$WORK/$1"
		) && return
	done
	return 1
}

# unpack_package NAME DIR: a package is downloaded once; a stale list of packages is read anew.
unpack_package()
{
	mkdir -p "$TREE/tmp_source/packages" "$2" || exit
	if ! ls "$TREE/tmp_source/packages/$1"_*.deb >/dev/null 2>&1 && ! download "$1"; then
		[ "${APT_UPDATED:-no}" = no ] && can_install && apt update && APT_UPDATED=yes && download "$1" || return
	fi
	dpkg-deb -x "$TREE/tmp_source/packages/$1"_*.deb "$2" || exit
}

download()
{
	(cd "$TREE/tmp_source/packages" && apt-get -qq -o APT::Sandbox::User="" download "$1" >/dev/null 2>&1)
}

without()
{
	PGOPTIONS="-c gpusort.enabled=off ${PGOPTIONS:-}" sql -At "$@"
}

with()
{
	sql -At "$@"
}

forced()
{
	PGOPTIONS="-c gpusort.force=on ${PGOPTIONS:-}" sql -At "$@"
}

is()
{
	if [ "$2" = "$3" ]; then
		tally "$NEIGHBOUR: $1" 1 0
	else
		diff -u --label wanted --label got <(printf '%s\n' "$3") <(printf '%s\n' "$2") | head -n 60
		tally "$NEIGHBOUR: $1" 0 1
	fi
}

holds()
{
	is "$1" "$(with -c "$2" 2>&1 | tail -n 1)" t
}

same()
{
	is "$1" "$(forced -c "$2" 2>&1)" "$(without -c "$2")"
}

sorts_as_sort()
{
	sed -E 's/Custom Scan \(GpuSort\)/Sort/'
}

built()
{
	grep -oE "gpusort: built index \"$1\"" "$WORK/${SERVER:-$NEIGHBOUR}.log" | sort -u | wc -l
}

check_indexes()
{
	without <<SQL
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS amcheck;
SELECT count(bt_index_parent_check(indexrelid, true, true)::text) || ' valid'
FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid JOIN pg_am ON pg_am.oid = relam
WHERE indrelid >= 16384 AND relkind = 'i' AND amname = 'btree' AND indisvalid AND relname ~ '${1:-.}';
SQL
}
