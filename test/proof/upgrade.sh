#!/bin/bash
# upgrade.sh [MAJOR]
#		pg_upgrade from the installed server to MAJOR (18), with indexes that gpusort has built.
#
# The newer server lies in a chroot that test/chroot.sh makes; the installed one's programs and
# libraries are copied into it.  Both have gpusort.  Indexes of all types are built by the older one, and
# after the upgrade looked at by amcheck, with their tables; what scans of them return must be what
# they returned before.  Where a collation's version has changed PostgreSQL wants its indexes
# to be built again: these are, by the newer gpusort.  Needs root, for chroot.

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

need_packages build server
private_begin upgrade
BINDIR_INSIDE=${BINDIR#"$WORK/pg"}
[ -d "$ROOT/home/tester" ] || "$TREE/test/chroot.sh" "$NEW" create || die "no chroot"
at_exit "mountpoint -q '$ROOT/proc' && umount '$ROOT/proc'"
install_new
mountpoint -q "$ROOT/proc" || mount -t proc proc "$ROOT/proc" 2>/dev/null
copy_old
by_tester 'rm -rf old new upgrade; mkdir upgrade'
by_tester "$OLD_HOME$BINDIR_INSIDE/initdb -D old -U tester -A trust -E UTF8 --locale=C.UTF-8 --no-sync" >"$WORK/initdb.log" 2>&1 ||
	{ tail "$WORK/initdb.log"; die "initdb of the old server failed"; }
by_tester "$NEW_BIN/initdb -D new -U tester -A trust -E UTF8 --locale=C.UTF-8 --no-data-checksums --no-sync" >"$WORK/initdb.log" 2>&1 ||
	by_tester "rm -rf new; $NEW_BIN/initdb -D new -U tester -A trust -E UTF8 --locale=C.UTF-8 --no-sync" >"$WORK/initdb.log" 2>&1 ||
	{ tail "$WORK/initdb.log"; die "initdb of the new server failed"; }

start "$OLD_HOME$BINDIR_INSIDE" old
at_exit "by_tester '$OLD_HOME$BINDIR_INSIDE/pg_ctl -D old -m immediate stop; $NEW_BIN/pg_ctl -D new -m immediate stop' >/dev/null 2>&1"
old_sql <"$TREE/test/proof/upgrade.sql" >"$WORK/objects.log" 2>&1 || { tail "$WORK/objects.log"; die "no indexes"; }
say "$(old_sql -At <<<"SELECT count(*) || ' indexes built on ' || split_part(version(), ' (', 1) FROM pg_index WHERE indrelid = 't'::regclass")"
if grep 'not all' "$WORK/objects.log"; then
	tally "built by gpusort" 0 1
else
	tally "built by gpusort" 1 0
fi
digests old_sql before

# Options of columns that this minor release notes by itself, and the newer server may be too old to know.
old_sql <<<"UPDATE pg_attribute SET attoptions = NULL WHERE attrelid = 't'::regclass"
by_tester "$OLD_HOME$BINDIR_INSIDE/pg_ctl -D old -w stop" >/dev/null

settings >>"$ROOT/home/tester/new/postgresql.conf"
if by_tester "cd upgrade && $NEW_BIN/pg_upgrade -b $OLD_HOME$BINDIR_INSIDE -B $NEW_BIN -d ../old -D ../new -U tester" >"$WORK/pg_upgrade.log" 2>&1; then
	tally pg_upgrade 1 0
else
	tail -n 30 "$WORK/pg_upgrade.log"
	tally pg_upgrade 0 1
	finish
fi
start "$NEW_BIN" new
say "upgraded to $(new_sql -At <<<"SELECT split_part(version(), ' (', 1)")"

# Collations that PostgreSQL itself says have changed.
new_sql -At >"$WORK/rebuilt" <<'SQL'
SELECT DISTINCT indexrelid::regclass FROM pg_index JOIN pg_collation ON pg_collation.oid = ANY (indcollation::oid[])
WHERE indrelid = 't'::regclass AND collversion IS DISTINCT FROM pg_collation_actual_version(pg_collation.oid) ORDER BY 1
SQL
{ sed 's/.*/REINDEX INDEX &;/' "$WORK/rebuilt"; echo 'SELECT built FROM gpusort_index_builds();'; } |
	new_sql -At >"$WORK/reindex.log" 2>/dev/null || tally reindex 0 1
if [ "$(tail -n 1 "$WORK/reindex.log")" = "$(wc -l <"$WORK/rebuilt")" ]; then
	tally "built again by gpusort" "$(tail -n 1 "$WORK/reindex.log")" 0
else
	tally "built again by gpusort" 0 1
fi
passed=0 failed=0
for index in $(new_sql -At <<<"SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 't'::regclass ORDER BY 1"); do
	if new_sql <<<"SELECT bt_index_parent_check('$index', true, true)" >"$WORK/amcheck.log" 2>&1; then
		passed=$((passed + 1))
	else
		tail -n 3 "$WORK/amcheck.log"
		failed=$((failed + 1))
	fi
done
tally amcheck $passed $failed
digests new_sql after
grep -vE "^($(paste -sd '|' "$WORK/rebuilt"))\\|" "$WORK/before" >"$WORK/before.same"
grep -vE "^($(paste -sd '|' "$WORK/rebuilt"))\\|" "$WORK/after" >"$WORK/after.same"
if diff "$WORK/before.same" "$WORK/after.same" | head -n 10 | grep .; then
	tally "rows of the indexes" 0 1
else
	tally "rows of the indexes" "$(wc -l <"$WORK/after.same")" 0
fi
by_tester "$NEW_BIN/pg_ctl -D new -w stop" >/dev/null
finish
