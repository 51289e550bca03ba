#!/bin/bash
# instructions.sh [CASE]...
#		Instructions a row, by step, of gpusort's sorts and of PostgreSQL's.
#
# Cases: int8, text-c, text-en_US, text-icu (each with all columns, and -key with the key alone);
# without an argument all.  Counted by valgrind's callgrind (package valgrind), which
# sees what processes do and nothing of kernel and caches.  So the figures are the same on any
# machine of an architecture, however busy it is; nanoseconds are bench.pl's.
#
#	ROWS=n		rows of each table (200,000: some minutes for all cases)
#	KEEP=dir	keep callgrind's output there, for callgrind_annotate and kcachegrind
#
# Each sort runs in a backend of its own, without a server around it (postgres
# --single), read to its end by MOVE in a cursor, so that no row is formatted.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

ROWS=${ROWS:-200000}
CASES=${*:-int8 int8-key text-c text-c-key text-en_US text-en_US-key text-icu}

command -v valgrind >/dev/null || die "missing: valgrind"
need_packages build server locales
private_begin instructions
private_locales

# make_table NAME TYPE VALUE: rows (key, int4, text of 16 bytes); r is random.
make_table()
{
	sql <<-SQL
		CREATE TABLE "$1" (k $2, v int4, pad text);
		INSERT INTO "$1" SELECT $3, i, '0123456789abcdef'
		FROM (SELECT i, hashint8extended(i, 0) AS r FROM generate_series(1, $ROWS) i) s;
		VACUUM (FREEZE, ANALYZE) "$1";
	SQL
}

# count CASE SIDE: run the sort below callgrind, and print its line of the table.
count()
{
	local case=$1 side=$2 out=$WORK/$1-$2.callgrind columns='*' enabled=on

	[[ $case != *-key ]] || columns=k
	[ "$side" = gpusort ] || enabled=off
	as_server valgrind --tool=callgrind --callgrind-out-file="$out" \
		"$BINDIR/postgres" --single -D "$WORK/tables" -c shared_preload_libraries=gpusort -c gpusort.pool_size=0 \
		-c gpusort.engine=host -c gpusort.enabled=$enabled -c gpusort.min_rows=0 -c work_mem=1GB \
		-c max_parallel_workers_per_gather=0 -c cursor_tuple_fraction=1 postgres >"$WORK/$case-$side.log" 2>&1 <<-SQL
			BEGIN
			DECLARE c NO SCROLL CURSOR FOR SELECT $columns FROM "${case%-key}" ORDER BY k
			MOVE ALL IN c
			COMMIT
		SQL
	"$TREE/test/bench/instructions.pl" "$case" "$side" "$ROWS" "$out" || die "no counts: see $WORK/$case-$side.log"
	[ -z "${KEEP:-}" ] || cp "$out" "$KEEP/"
}

wanted()
{
	local case

	for case in $CASES; do
		[ "${case%-key}" != "$1" ] || return 0
	done
	return 1
}

cluster_start tables "shared_buffers = '256MB'" "autovacuum = off" "wal_level = minimal" "max_wal_senders = 0"
text="left(md5(r::text) || md5((r # 1)::text), 8 + (r & 31)::int)"
! wanted int8 || make_table int8 int8 r || exit
! wanted text-c || make_table text-c 'text COLLATE "C"' "$text" || exit
! wanted text-icu || make_table text-icu 'text COLLATE "en-x-icu"' "$text" || exit
! wanted text-en_US || make_table text-en_US 'text COLLATE "en_US"' \
	"translate($text, '0123456789', 'ABCDEFghij')" || exit
cluster_stop tables

"$TREE/test/bench/instructions.pl" --head
for case in $CASES; do
	count "$case" postgres
	count "$case" gpusort
done
