#!/bin/bash
# upgrade.sh [MAJOR]
#		pg_upgrade from the installed server to MAJOR (18), with indexes that gpusort has built.
#
# The newer server lies in a chroot that test/chroot.sh makes; the installed one's programs and
# libraries are copied into it.  Both have gpusort.  Indexes of all types are built by the older one, and
# after the upgrade looked at by amcheck, with their tables; what scans of them return must be what
# they returned before.  Where a collation's version has changed PostgreSQL wants its indexes
# to be built again: these are, by the newer gpusort.  A control does the same beside it with gpusort
# off: both must end in the same way.  Needs root, for chroot.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

NEW=${1:-18}
ROOT=$TREE/tmp_chroot/$NEW
OLD_HOME=/opt/old
NEW_BIN=/usr/lib/postgresql/$NEW/bin
export WITH_CUDA=0

# by_tester COMMAND: in the chroot, as its user without rights.
by_tester()
{
	chroot "$ROOT" /usr/bin/env -i HOME=/home/tester PATH="$NEW_BIN:/usr/bin:/bin" LC_ALL=C.UTF-8 \
		setpriv --reuid=tester --regid=tester --init-groups sh -c "cd /home/tester && $1" </dev/null
}

# The older server with its libraries, each program behind a script that finds them.
copy_old()
{
	local program real=$ROOT$OLD_HOME$BINDIR_INSIDE

	rm -rf "${ROOT:?}$OLD_HOME"
	mkdir -p "$ROOT$OLD_HOME/libraries"
	cp -a "$WORK/pg/." "$ROOT$OLD_HOME/"
	ldd "$BINDIR"/* "$PKGLIBDIR"/*.so 2>/dev/null | sed -nE 's/.* => (\/[^ ]+) .*/\1/p' | sort -u |
		grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' | xargs cp -Lt "$ROOT$OLD_HOME/libraries"
	for program in initdb postgres pg_ctl pg_controldata pg_resetwal psql pg_dump pg_dumpall vacuumdb pg_restore; do
		mv "$real/$program" "$real/$program.real"
		cat >"$real/$program" <<-SCRIPT
			#!/bin/bash
			export LD_LIBRARY_PATH=$OLD_HOME/libraries
			exec -a "$OLD_HOME$BINDIR_INSIDE/$program" "$OLD_HOME$BINDIR_INSIDE/$program.real" "\$@"
		SCRIPT
		chmod 755 "$real/$program"
	done
	chroot "$ROOT" chown -R tester: "$OLD_HOME"
}

# gpusort of the newer server, which nobody else uses.
install_new()
{
	"$TREE/test/chroot.sh" "$NEW" run all WITH_CUDA=0 >"$WORK/new.log" 2>&1 || { tail "$WORK/new.log"; die "gpusort does not compile"; }
	cp "$ROOT/home/tester/gpusort/gpusort.so" "$ROOT/home/tester/gpusort/gpusortd" "$ROOT/usr/lib/postgresql/$NEW/lib/"
	cp "$ROOT"/home/tester/gpusort/gpusort.control "$ROOT"/home/tester/gpusort/gpusort--*.sql \
		"$ROOT/usr/share/postgresql/$NEW/extension/"
}

# new_sql, old_sql [PSQL OPTION]...: statements from standard input.
run_sql()
{
	local bin=$1

	shift
	cat >"$ROOT/home/tester/statements.sql"
	by_tester "$bin/psql -X -q -v ON_ERROR_STOP=1 -h /tmp -p 5499 -U tester -d postgres $* -f statements.sql"
}
new_sql() { run_sql "$NEW_BIN" "$@"; }
old_sql() { run_sql "$OLD_HOME$BINDIR_INSIDE" "$@"; }

settings()
{
	cat <<-CONF
		listen_addresses = ''
		unix_socket_directories = '/tmp'
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
	settings >>"$ROOT/home/tester/$2/postgresql.conf"
	by_tester "$1/pg_ctl -w -D $2 -l $2.log start" >/dev/null || { tail "$ROOT/home/tester/$2.log"; die "$2 does not start"; }
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

	by_tester 'rm -rf old new upgrade; mkdir upgrade'
	by_tester "$OLD_BIN/initdb -D old $options" >"$log" 2>&1 || { tail "$log"; die "initdb of the old server failed"; }
	by_tester "$NEW_BIN/initdb -D new $options --no-data-checksums" >"$log" 2>&1 ||
		by_tester "rm -rf new; $NEW_BIN/initdb -D new $options" >"$log" 2>&1 ||
		{ tail "$log"; die "initdb of the new server failed"; }
	start "$OLD_BIN" old
	old_sql <"$TREE/test/proof/upgrade.sql" >"$WORK/objects.log" 2>&1 || { tail "$WORK/objects.log"; die "no indexes"; }
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
	settings >>"$ROOT/home/tester/new/postgresql.conf"
	if ! by_tester "cd upgrade && $NEW_BIN/pg_upgrade -b $OLD_BIN -B $NEW_BIN -d ../old -D ../new -U tester" >"$WORK/pg_upgrade.log" 2>&1; then
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
private_begin upgrade
BINDIR_INSIDE=${BINDIR#"$WORK/pg"}
OLD_BIN=$OLD_HOME$BINDIR_INSIDE
ENABLED=on
[ -d "$ROOT/home/tester" ] || "$TREE/test/chroot.sh" "$NEW" create || die "no chroot"
at_exit "mountpoint -q '$ROOT/proc' && umount '$ROOT/proc'"
install_new
mountpoint -q "$ROOT/proc" || mount -t proc proc "$ROOT/proc" 2>/dev/null
copy_old
at_exit "by_tester '$OLD_BIN/pg_ctl -D old -m immediate stop; $NEW_BIN/pg_ctl -D new -m immediate stop' >/dev/null 2>&1"
for ENABLED in off on; do
	LABEL=$([ $ENABLED = off ] && echo control || echo gpusort)
	make_clusters
	if upgrade; then
		rebuild
		check_indexes
		compare_rows
		by_tester "$NEW_BIN/pg_ctl -D new -w stop" >/dev/null
	fi
done
if diff "$WORK/all.off" "$WORK/all.on" | head -n 10 | grep .; then
	tally "as the control" 0 1
else
	tally "as the control" "$(wc -l <"$WORK/all.on")" 0
fi
finish
