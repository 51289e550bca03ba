# neighbours.sh
#		What the tests of test/neighbours share.
#
# Sourced after common.sh and cluster.sh.
#
#	unpack_packages NAME..	Debian's postgresql-MAJOR-NAME into the private installation; false
#							if Debian does not have one of them
#	without [OPTION]...		psql with gpusort off
#	with [OPTION]...		... with gpusort as it is by default
#	forced [OPTION]...		... with gpusort.force
#	is LABEL GOT WANTED		count; show both if they are not the same
#	holds LABEL QUERY		the last row that the query returns is t
#	same LABEL QUERY		forced and without gpusort it returns the same
#	sorts_as_sort			filter: plans with Sort where gpusort sorts
#	built PATTERN			how many indexes whose names match it gpusort has built
#	check_indexes [PATTERN]	what amcheck says of all btrees of user tables: "N valid"

# A package is downloaded once; a stale list of packages is read anew.
unpack_packages()
{
	local name package

	mkdir -p "$TREE/tmp_source/packages" || exit
	for name in "$@"; do
		package=postgresql-$PG_MAJOR-$name
		if ! ls "$TREE/tmp_source/packages/${package}"_*.deb >/dev/null 2>&1 && ! download "$package"; then
			[ "${APT_UPDATED:-no}" = no ] && can_install && apt update && APT_UPDATED=yes && download "$package" || return
		fi
		dpkg-deb -x "$TREE/tmp_source/packages/${package}"_*.deb "$WORK/pg" || exit
	done
	give_to_server "$WORK/pg"
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
