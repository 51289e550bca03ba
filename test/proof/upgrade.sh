#!/bin/bash
# upgrade.sh [--short] [MAJOR]
#		pg_upgrade from the oldest server that gpusort is for to MAJOR (18), with indexes that gpusort
#		has built.
#
# The newer server is the installed one; if that is older than MAJOR, all of it is done in a chroot
# that has MAJOR (test/chroot.sh, which needs root).  The older one comes from Debian's packages, which
# are unpacked into tmp_source, with those of its libraries that are not there.  Both have gpusort.
# Indexes of all types are built by the older one, and after the upgrade looked at by amcheck, with
# their tables; what scans of them return must be what they returned before.  Where a collation's
# version has changed PostgreSQL wants its indexes to be built again: these are, by the newer gpusort.
# A control does the same beside it with gpusort off: both must end in the same way.
#
# --short takes fewer columns and rows, no control, and the installed server, whichever it is; it ends with 77 if
# that is the oldest one.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/special.sh"
. "$TREE/test/lib/archive.sh"

export WITH_CUDA=0
INDEXED=. ROWS=20000 SHORT_FORM='' RUNS='off on'
if [ "${1:-}" = --short ]; then
	shift
	SHORT_FORM=yes INDEXED='^(i4|n|repeated|def|icu|ic|bytes|u|ts)$' ROWS=5000 RUNS=on
fi

# in_chroot MAJOR: this script where MAJOR is the installed server.
in_chroot()
{
	if [ -d "$TREE/tmp_chroot/$1/home" ]; then
		set -- "$1" run
	fi
	exec "$TREE/test/chroot.sh" "$@" proof TEST=upgrade
}

# The older server's packages, kept in the tree until make clean.
fetch_old()
{
	local own="postgresql-$OLD postgresql-client-$OLD postgresql-server-dev-$OLD libicu-dev" dir=$OLD_PACKAGES libraries

	[ ! -f "$dir/fetched" ] || return 0
	version_of "$OLD"
	rm -rf "$dir"
	archive_begin "$dir" deb "$SUITE"
	libraries=$(libraries_of "postgresql-$OLD" "postgresql-client-$OLD")
	# shellcheck disable=SC2086 # names are words
	(cd "$dir/apt" && apt-get -qq download $own $libraries) >"$dir/apt/log" 2>&1 ||
		{ tail -n 5 "$dir/apt/log" >&2; die "cannot fetch PostgreSQL $OLD"; }
	for deb in "$dir"/apt/*.deb; do
		dpkg-deb -x "$deb" "$dir" || exit
	done
	rm -rf "$dir/apt"
	take_libraries "$dir"
	touch "$dir/fetched"
}

# libraries_of PACKAGE...: those that they depend on, and those that these depend on.
libraries_of()
{
	local found='' more

	while :; do
		# shellcheck disable=SC2086 # names are words
		more=$(apt-cache depends --important "$@" $found | sed -nE 's/^ *(Pre)?Depends: (lib[^ :<>]+)$/\2/p' |
			grep -vE '^lib(c6|gcc|stdc|llvm|perl)' | sort -u)
		[ "$more" != "$found" ] || break
		found=$more
	done
	printf '%s\n' "$found"
}

# take_libraries DIR: of those that lie in DIR, the ones that the system has not, into DIR/libraries.
take_libraries()
{
	local dir=$1 name taken=yes

	mkdir -p "$dir/libraries"
	while [ -n "$taken" ]; do
		taken=
		for name in $(LD_LIBRARY_PATH=$dir/libraries ldd "$dir/usr/lib/postgresql/$OLD"/bin/postgres \
			"$dir"/libraries/* 2>/dev/null | sed -nE 's/^\s*([^ ]+) => not found$/\1/p' | sort -u); do
			find "$dir/usr" "$dir/lib" -name "$name" -exec cp -Lt "$dir/libraries" {} + && [ -f "$dir/libraries/$name" ] || die "PostgreSQL $OLD lacks $name"
			taken=yes
		done
	done
}

# The older server in WORK, with gpusort.
install_old()
{
	local log=$WORK/build_old.log home=$WORK/old_server config

	mkdir -p "$home"
	cp -a "$OLD_PACKAGES"/{usr,libraries} "$home/" || exit
	config=$home/usr/lib/postgresql/$OLD/bin/pg_config
	OLD_BIN=${config%/*}
	export LD_LIBRARY_PATH=$home/libraries
	build_apart "upgrade-$OLD"
	# ICU's functions have its version in their names; the server's headers are older than C23
	make -C "$BUILD_TREE" -s -j"$(nproc)" PG_CONFIG="$config" WITH_CUDA=0 COPT="-std=gnu17 -I$OLD_PACKAGES/usr/include" all >"$log" 2>&1 &&
		install -m 755 "$BUILD_TREE/gpusort.so" "$BUILD_TREE/gpusortd" "$home/usr/lib/postgresql/$OLD/lib/" &&
		install -m 644 "$BUILD_TREE/gpusort.control" "$BUILD_TREE"/gpusort--*.sql "$home/usr/share/postgresql/$OLD/extension/" ||
		{ grep -vE '^([^ ]*-)?(gcc|cc) ' "$log" | tail -n 20; die "gpusort does not compile for PostgreSQL $OLD"; }
	give_to_server "$WORK"
}

# by_tester COMMAND: as the servers' user, where the clusters lie.
by_tester()
{
	as_server sh -c "cd $WORK/clusters && $1" </dev/null
}

# new_sql, old_sql [PSQL OPTION]...: statements from standard input.
run_sql()
{
	local bin=$1

	shift
	as_server "$bin/psql" -X -q -v ON_ERROR_STOP=1 -h "$SHORT" -p 5499 -U tester -d postgres "$@"
}
new_sql() { run_sql "$NEW_BIN" "$@"; }
old_sql() { run_sql "$OLD_BIN" "$@"; }

settings()
{
	cat <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$SHORT'
		port = 5499
		fsync = off
		shared_preload_libraries = 'gpusort'
		gpusort.pool_size = '64MB'
		gpusort.force = on
		gpusort.enabled = $ENABLED
		max_parallel_maintenance_workers = 2
		min_parallel_table_scan_size = 0
	CONF
}

# start BIN DATA
start()
{
	settings >>"$WORK/clusters/$2/postgresql.conf"
	by_tester "$1/pg_ctl -w -D $2 -l $2.log start" >/dev/null || { tail "$WORK/clusters/$2.log"; die "$2 does not start"; }
}

# What each index returns, in its order.
DIGESTS="SELECT format('SET enable_sort = off; SET enable_seqscan = off; SET gpusort.enabled = off; SELECT %L, md5(string_agg(x, %L)) FROM (SELECT id::text AS x FROM t ORDER BY %s) s;',
	indexrelid::regclass, ',', CASE WHEN c.relname LIKE '%\_a' THEN quote_ident(a.attname) || ', id' WHEN c.relname LIKE '%\_d' THEN quote_ident(a.attname) || ' DESC, id'
		ELSE quote_ident(a.attname) || ' NULLS FIRST, id DESC' END)
FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_attribute a ON a.attrelid = indrelid AND a.attnum = indkey[0]
WHERE indrelid = 't'::regclass ORDER BY 1"

# digests RUNNER FILE
digests()
{
	$1 -At <<<"$DIGESTS" >"$WORK/digests.sql"
	$1 -At <"$WORK/digests.sql" >"$WORK/$2"
}

# make_clusters: an old one with the indexes, and an empty new one.
make_clusters()
{
	local log=$WORK/initdb.log options='-U tester -A trust -E UTF8 --locale=C.UTF-8 --no-sync'

	by_tester 'rm -rf old new'
	by_tester "$OLD_BIN/initdb -D old $options" >"$log" 2>&1 || { tail "$log"; die "initdb of the old server failed"; }
	by_tester "$NEW_BIN/initdb -D new $options --no-data-checksums" >"$log" 2>&1 ||
		by_tester "rm -rf new; $NEW_BIN/initdb -D new $options" >"$log" 2>&1 ||
		{ tail "$log"; die "initdb of the new server failed"; }
	start "$OLD_BIN" old
	old_sql -v columns="$INDEXED" -v rows=$ROWS <"$TREE/test/proof/upgrade.sql" >"$WORK/objects.log" 2>&1 || { tail "$WORK/objects.log"; die "no indexes"; }
	say "$LABEL: $(old_sql -At <<<"SELECT count(*) || ' indexes built on ' || split_part(version(), ' (', 1) FROM pg_index WHERE indrelid = 't'::regclass")"
	if [ $ENABLED = on ]; then
		! grep 'not all' "$WORK/objects.log" && tally "built by gpusort" 1 0 || tally "built by gpusort" 0 1
	fi
	digests old_sql before
	# Options of columns that this minor release notes by itself, and the newer server may be too old to know.
	old_sql <<<"UPDATE pg_attribute SET attoptions = NULL WHERE attrelid = 't'::regclass"
	by_tester "$OLD_BIN/pg_ctl -D old -w stop" >/dev/null
}

# upgrade: false if pg_upgrade fails.
upgrade()
{
	settings >>"$WORK/clusters/new/postgresql.conf"
	if ! by_tester "cd $SHORT && $NEW_BIN/pg_upgrade --no-sync -b $OLD_BIN -B $NEW_BIN -d $WORK/clusters/old -D $WORK/clusters/new -U tester" >"$WORK/pg_upgrade.log" 2>&1; then
		tail -n 30 "$WORK/pg_upgrade.log"
		tally "$LABEL: pg_upgrade" 0 1
		return 1
	fi
	tally "$LABEL: pg_upgrade" 1 0
	start "$NEW_BIN" new
	say "upgraded to $(new_sql -At <<<"SELECT split_part(version(), ' (', 1)")"
}

# Build indexes of collations anew of which PostgreSQL itself says that they have changed.
rebuild()
{
	local wanted

	new_sql -At >"$WORK/rebuilt" <<-'SQL'
		SELECT DISTINCT indexrelid::regclass FROM pg_index JOIN pg_collation ON pg_collation.oid = ANY (indcollation::oid[])
		WHERE indrelid = 't'::regclass AND collversion IS DISTINCT FROM pg_collation_actual_version(pg_collation.oid) ORDER BY 1
	SQL
	wanted=$([ $ENABLED = off ] && echo 0 || wc -l <"$WORK/rebuilt")
	{ sed 's/.*/REINDEX INDEX &;/' "$WORK/rebuilt"; echo 'SELECT built FROM gpusort_index_builds();'; } |
		new_sql -At >"$WORK/reindex.log" 2>/dev/null || tally "$LABEL: reindex" 0 1
	if [ "$(tail -n 1 "$WORK/reindex.log")" = "$wanted" ]; then
		tally "$LABEL: built again" "$(wc -l <"$WORK/rebuilt")" 0
	else
		tally "$LABEL: built again" 0 1
	fi
}

# is LABEL GOT WANTED
is()
{
	[ "$2" = "$3" ] || say "got: $2" "wanted: $3"
	tally "$LABEL: $1" $([ "$2" = "$3" ] && echo 1 0 || echo 0 1)
}

# The extension itself, the newest version and an older one, with what users have made of it.
check_extension()
{
	is "extension" "$(new_sql -At <<<"SELECT extversion FROM pg_extension WHERE extname = 'gpusort'")" "$(control_version)"
	is "... its views, rights and functions" "$(new_sql -At <<-'SQL'
		SET gpusort.enabled = on;
		SELECT count(*) FROM (SELECT id FROM t ORDER BY i4 OFFSET 0) q \g /dev/null
		SELECT pg_stat_force_next_flush() \g /dev/null
		SELECT bool_or(sorts > 0) FROM watched WHERE kind = 'order by';
		SELECT has_function_privilege('watcher', 'pg_stat_gpusort_reset(oid)', 'EXECUTE'), gpusort_version();
	SQL
	)" "t
t|$(control_version)"
	is "an older version" "$(new_sql -At -d older <<<"SELECT extversion FROM pg_extension WHERE extname = 'gpusort'; SELECT count(*) > 0 FROM watched")" "0.1
t"
	is "... updated" "$(new_sql -At -d older <<<"ALTER EXTENSION gpusort UPDATE; SELECT count(*) > 0 FROM watched; SELECT count(*) >= 0 FROM pg_stat_gpusort")" "t
t"
}

check_indexes()
{
	local index passed=0 failed=0

	for index in $(new_sql -At <<<"SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 't'::regclass ORDER BY 1"); do
		if new_sql <<<"SELECT bt_index_parent_check('$index', true, true)" >"$WORK/amcheck.log" 2>&1; then
			passed=$((passed + 1))
		else
			tail -n 3 "$WORK/amcheck.log"
			failed=$((failed + 1))
		fi
	done
	tally "$LABEL: amcheck" $passed $failed
}

# What the indexes return that did not have to be built again.
compare_rows()
{
	local when

	digests new_sql after
	for when in before after; do
		grep -vE "^($(paste -sd '|' "$WORK/rebuilt"))\\|" "$WORK/$when" >"$WORK/$when.same"
	done
	if diff "$WORK/before.same" "$WORK/after.same" | head -n 10 | grep .; then
		tally "$LABEL: rows of the indexes" 0 1
	else
		tally "$LABEL: rows of the indexes" "$(wc -l <"$WORK/after.same")" 0
	fi
	cat "$WORK/rebuilt" "$WORK/before" "$WORK/after" >"$WORK/all.$ENABLED"
}

need_packages build server
OLD=$(known_majors | xargs -n 1 | sort -n | head -n 1)
if [ -n "$SHORT_FORM" ] && [ "$PG_MAJOR" -le "$OLD" ]; then
	say "PostgreSQL $PG_MAJOR is the oldest that gpusort is for: there is nothing to upgrade from"
	exit 77
fi
[ -n "$SHORT_FORM" ] || [ "$PG_MAJOR" -ge "${1:-18}" ] || in_chroot "${1:-18}"
OLD_PACKAGES=$TREE/tmp_source/packages-$OLD
(fetch_old) || exit
private_begin upgrade
NEW_BIN=$BINDIR ENABLED=on
mkdir -p "$WORK/clusters"
install_old
at_exit "by_tester '$OLD_BIN/pg_ctl -D old -m immediate stop; $NEW_BIN/pg_ctl -D new -m immediate stop' >/dev/null 2>&1"
for ENABLED in $RUNS; do
	LABEL=$([ $ENABLED = off ] && echo control || echo gpusort)
	make_clusters
	if upgrade; then
		rebuild
		check_extension
		check_indexes
		compare_rows
		by_tester "$NEW_BIN/pg_ctl -D new -w stop" >/dev/null
	fi
done
[ -z "$SHORT_FORM" ] || finish
if diff "$WORK/all.off" "$WORK/all.on" | head -n 10 | grep .; then
	tally "as the control" 0 1
else
	tally "as the control" "$(wc -l <"$WORK/all.on")" 0
fi
finish
