#!/bin/bash
# parallel.sh [CASE]...
#		Sorts that parallel workers collect for, beside PostgreSQL's plans.
#
# Cases: star key three client copy window join shapes distinct scaling; without an argument all, in
# this order.  Needs PostgreSQL's programs, bash, coreutils and util-linux, and
# nothing that has to be compiled, so that it runs on a machine to which gpusort.so
# was copied.
#
#	ROWS=n		rows of the tables (50,000,000; those of "join" have two fifths, that
#				of "client" a fifth)
#	WORKERS=n	of a query (8); PostgreSQL's plans are also measured without any
#	SCALING=..	workers of the case "scaling" ("0 1 2 4 8 12")
#	REPEAT=n	executions of each plan, of which the median counts (1)
#	REPEAT_SERIAL=n	of PostgreSQL's plans without workers (REPEAT); 0: none
#	PLANS=file	where EXPLAIN's output goes, if all of it is wanted
#	SECONDS_MAX=n	what has not begun by then is left out (440)
#	WORK_MEM=m	for both sides; the default has PostgreSQL sort in memory
#	BINDIR=dir	PostgreSQL's programs (pg_config --bindir)
#	LIBDIR=dir	where gpusort.so lies (the top of this tree)
#	WORK_ROOT=dir	of the throw-away server (/tmp)
#	SETTINGS=s	more lines of postgresql.conf
#
# One line for each measurement, as soon as it is there:
#
#	case  side  workers  what  milliseconds  plan
#
# "executor" is EXPLAIN (ANALYZE, TIMING OFF) without the client, "psql" the query with
# its output to /dev/null, "copy" COPY (query) TO STDOUT through psql into wc, and "first row"
# the time until its first line.  The sides are PostgreSQL's plan without workers,
# one with as many as gpusort has, which parallel_tuple_cost = 0 makes it take, and gpusort's.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/cluster.sh"

ROWS=${ROWS:-50000000}
WORKERS=${WORKERS:-8}
SCALING=${SCALING:-0 1 2 4 8 12}
REPEAT=${REPEAT:-1}
REPEAT_SERIAL=${REPEAT_SERIAL:-$REPEAT}
PLANS=${PLANS:-/dev/null}
SECONDS_MAX=${SECONDS_MAX:-440}
WORK_MEM=${WORK_MEM:-$((ROWS / 5000 + 64))MB}
BINDIR=${BINDIR:-$(pg_config --bindir)} || die "set BINDIR to where PostgreSQL's programs are"
LIBDIR=${LIBDIR:-$TREE}
CASES=${*:-star key three client copy window join shapes distinct scaling}
# the server takes 40 connections
LOADERS=$(($(nproc) < 32 ? $(nproc) : 32))

start_server()
{
	local mb

	# half of the memory for the pool and the tables, each
	mb=$(awk '/^MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
	choose_server_user
	WORK=$(mktemp -d "${WORK_ROOT:-/tmp}/gpusort.XXXXXX") || exit
	# shellcheck disable=SC2034 # cluster.sh makes sockets there
	SHORT=$WORK
	at_exit "rm -rf '$WORK'"
	at_exit clusters_stop
	mkdir "$WORK/lib"
	cp "$LIBDIR/gpusort.so" "$WORK/lib/" || die "no gpusort.so in $LIBDIR"
	[ ! -f "$LIBDIR/gpusortd" ] || cp "$LIBDIR/gpusortd" "$WORK/lib/"
	chmod -R a+rX "$WORK"
	give_to_server "$WORK"
	cluster_start data "shared_preload_libraries = 'gpusort'" "dynamic_library_path = '$WORK/lib:\$libdir'" \
		"gpusort.pool_size = '$((mb / 3))MB'" "gpusort.pool_quota = 100" "shared_buffers = '$((mb / 4))MB'" \
		"max_worker_processes = 40" "max_parallel_workers = 32" "autovacuum = off" "wal_level = minimal" \
		"max_wal_senders = 0" "max_wal_size = '32GB'" "checkpoint_timeout = '1h'" "synchronous_commit = off" \
		"work_mem = '$WORK_MEM'" "default_statistics_target = 30" "${SETTINGS:-}"
}

# Functions of the library that was loaded, which need not be the installed one.
make_functions()
{
	sed -e '/^\\/d' -e "s#MODULE_PATHNAME#$WORK/lib/gpusort#" "$TREE/gpusort--$(control_version).sql" | sql
}

# Where there are GPUs, gpusortd opens them and registers the pool with each, which took more than half a
# minute for four of them and 170 GB; what it is in the end is told, since sorts go without.
await_service()
{
	local n

	for ((n = 0; n < 600; n++)); do
		case $(sql -At -c 'SELECT state, message FROM gpusort_service()') in
			up* | 'no device'* | off\|?* | down\|'there is no program'*) break ;;
		esac
		sleep 0.2
	done
	say "gpusortd: $(sql -At -F ', ' -c 'SELECT state, engine, devices, message FROM gpusort_service()')"
}

wanted()
{
	local case

	for case in "$@"; do
		[[ " $CASES " != *" $case "* ]] || return 0
	done
	return 1
}

# make_table NAME ROWS COLUMNS VALUES: of the row i, whose random bits are r; by all cores.
make_table()
{
	local name=$1 rows=$2 start n jobs=()

	start=$(now_ms)
	sql -c "CREATE UNLOGGED TABLE $name ($3)"
	for ((n = 0; n < LOADERS; n++)); do
		sql -c "INSERT INTO $name SELECT $4 FROM (SELECT i, hashint8extended(i, 0) AS r
			FROM generate_series($rows::int8 * $n / $LOADERS + 1, $rows::int8 * ($n + 1) / $LOADERS) i) s" &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	sql -c "VACUUM (ANALYZE) $name"
	say "table $name: $rows rows, $(sql -At -c "SELECT pg_size_pretty(pg_table_size('$name'))"), $(seconds $(($(now_ms) - start)))"
}

# side SIDE WORKERS: its settings.
side()
{
	printf "SET gpusort.enabled = %s; SET max_parallel_workers_per_gather = %d;" \
		"$([ "$1" = gpusort ] && echo on || echo off)" "$2"
	printf "SET parallel_setup_cost = 100; SET min_parallel_table_scan_size = 0; "
	printf "ALTER TABLE %s SET (parallel_workers = %d); " "$TABLE" "$2"
	[ "$1" = gpusort ] || printf "SET parallel_tuple_cost = 0; "
	[ -z "${OTHER_TABLE:-}" ] || printf "ALTER TABLE %s SET (parallel_workers = %d); " "$OTHER_TABLE" "$2"
	printf '%s' "${JUST:-}"
}

# What a plan is, in one line: its nodes from the top.
plan_nodes()
{
	sed -nE -e 's/^ *(->  )?((Parallel |Partial |Finalize )?(Custom Scan \([A-Za-z ]+\)|[A-Z][A-Za-z ]+)) *(on [^(]*|using [^(]*)?\((cost|actual).*/\2/p' |
		sed -E -e 's/Custom Scan \((.*)\)/\1/' -e 's/ (on|using) .*//' -e 's/ *$//' | paste -sd/ | sed 's#/# > #g'
}

report()
{
	printf '%-8s %-10s %2d  %-10s %8d ms  %s\n' "$1" "$2" "$3" "$4" "$5" "$6"
}

# repetitions SIDE WORKERS
repetitions()
{
	if [ "$1" = postgres ] && [ "$2" -eq 0 ]; then echo "$REPEAT_SERIAL"; else echo "$REPEAT"; fi
}

# The median of the arguments; of an even number, the lower one of the two.
median()
{
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

# executor CASE SIDE WORKERS QUERY
executor()
{
	local n times=() out

	for ((n = $(repetitions "$2" "$3"); n > 0; n--)); do
		if ! out=$({ side "$2" "$3"; echo "EXPLAIN (ANALYZE, TIMING OFF) $4;"; } | sql -At); then
			say "$1 $2 $3: did not end"
			return
		fi
		printf '%s %s %d: %s\n%s\n\n' "$1" "$2" "$3" "$4" "$out" >>"$PLANS"
		times+=("$(sed -nE 's/^Execution Time: ([0-9]+).*/\1/p' <<<"$out")")
	done
	report "$1" "$2" "$3" executor "$(median "${times[@]}")" "$(plan_nodes <<<"$out")$(
		sed -nE 's/^ *(Sort Method: external.*|Handed Over.*|Engine: .*|Rows Collected: .*|Workers Launched: .*)/ [\1]/p' <<<"$out" | tr -d '\n')"
}

# client CASE SIDE WORKERS QUERY: rows to the client, which prints them.
client()
{
	local n start times=()

	for ((n = $(repetitions "$2" "$3"); n > 0; n--)); do
		start=$(now_ms)
		{ side "$2" "$3"; echo "$4;"; } | sql -At -o /dev/null || return
		times+=($(($(now_ms) - start)))
	done
	report "$1" "$2" "$3" psql "$(median "${times[@]}")" ""
}

# copy CASE SIDE WORKERS QUERY: the same by COPY, and when the first row is there.
copy()
{
	local n start first end lines times=() firsts=()

	for ((n = $(repetitions "$2" "$3"); n > 0; n--)); do
		start=$(now_ms)
		{
			read -r _
			first=$(now_ms)
			lines=$(($(wc -l) + 1))
			end=$(now_ms)
		} < <({ side "$2" "$3"; echo "COPY ($4) TO STDOUT;"; } | sql)
		[ "$lines" -eq "$ROWS" ] || say "$lines rows instead of $ROWS"
		times+=($((end - start)))
		firsts+=($((first - start)))
	done
	report "$1" "$2" "$3" "first row" "$(median "${firsts[@]}")" ""
	report "$1" "$2" "$3" copy "$(median "${times[@]}")" "$lines rows"
}

# measure FUNCTION CASE SIDE WORKERS QUERY: if there is time.
measure()
{
	if [ "$SECONDS" -ge "$SECONDS_MAX" ]; then
		say "$2 $3 $4: left out, $SECONDS s have passed"
		return
	fi
	"$@"
}

# three_sides FUNCTION CASE QUERY: ours first, which are the ones that nobody knows yet.
three_sides()
{
	measure "$1" "$2" gpusort "$WORKERS" "$3"
	measure "$1" "$2" postgres "$WORKERS" "$3"
	[ "$REPEAT_SERIAL" -eq 0 ] || measure "$1" "$2" postgres 0 "$3"
}

start_server
make_functions
await_service
say "$("$BINDIR/postgres" --version), $(nproc) CPUs, work_mem $WORK_MEM, pool $(sql -At -c 'SHOW gpusort.pool_size')"
row='k int8, v int4, pad text'
row_values="r, i, lpad(i::text, 16, 'x')"
JUST=

if wanted star key copy scaling; then
	make_table rows "$ROWS" "$row" "$row_values"
	TABLE=rows
	# the pool's memory is touched for the first time
	measure executor first gpusort "$WORKERS" 'SELECT * FROM rows ORDER BY k'
	! wanted star || three_sides executor star 'SELECT * FROM rows ORDER BY k'
	! wanted key || three_sides executor key 'SELECT k FROM rows ORDER BY k'
fi
if wanted three window; then
	make_table three "$ROWS" 'a int4, d date, s text COLLATE "C", v int4' \
		"r & 255, date '2015-01-01' + (r >> 8 & 4095)::int4, left(md5(i::text), 16), i"
	TABLE=three
	! wanted three || three_sides executor three 'SELECT * FROM three ORDER BY a, d, s'
fi
if wanted client; then
	TABLE=fewer
	make_table fewer $((ROWS / 5)) "$row" "$row_values"
	three_sides client client 'SELECT * FROM fewer ORDER BY k'
fi
if wanted copy; then
	TABLE=rows
	three_sides copy copy 'SELECT * FROM rows ORDER BY k'
fi
if wanted window; then
	TABLE=three
	three_sides executor window 'SELECT a, d, rank() OVER (PARTITION BY a ORDER BY d) FROM three'
fi
if wanted join; then
	for TABLE in lefts rights; do
		make_table $TABLE $((ROWS * 2 / 5)) "$row" "$row_values"
	done
	TABLE=lefts OTHER_TABLE=rights JUST='SET enable_hashjoin = off; SET enable_nestloop = off; '
	three_sides executor join 'SELECT count(*) FROM lefts l JOIN rights r ON l.k = r.k'
	OTHER_TABLE="" JUST=""
fi
if wanted shapes distinct; then
	TABLE=shapes
	make_table shapes "$ROWS" 'k int8, v int4, s text, d date, c text COLLATE "C"' \
		"r, r & 65535, lpad(i::text, 16, 'x'), date '2015-01-01' + (r >> 16 & 4095)::int4, md5(i::text)"
fi
if wanted shapes; then
	three_sides executor narrow 'SELECT k, v, s FROM shapes ORDER BY k'
	three_sides executor text 'SELECT * FROM shapes ORDER BY c'
	three_sides executor selected 'SELECT k, v, s, d, c FROM shapes ORDER BY v, d, c'
	three_sides executor junk 'SELECT k, v, s FROM shapes ORDER BY v, d, c'
	three_sides executor label 'SELECT k, c FROM shapes ORDER BY c COLLATE "POSIX"'
	three_sides executor sum 'SELECT k, v, s FROM shapes ORDER BY k + v'
	three_sides executor lower 'SELECT k, c FROM shapes ORDER BY lower(c)'
fi
if wanted distinct; then
	# plans of PostgreSQL's that take minutes are given up
	JUST="SET statement_timeout = '60s'; "
	three_sides executor distinct 'SELECT count(*) FROM (SELECT DISTINCT k FROM shapes) d'
	three_sides executor on 'SELECT count(d) FROM (SELECT DISTINCT ON (v) v, d FROM shapes ORDER BY v, d) s'
	three_sides executor count 'SELECT count(DISTINCT k) FROM shapes'
	three_sides executor text 'SELECT count(DISTINCT c) FROM shapes'
	three_sides executor beside 'SELECT count(*), sum(v), count(DISTINCT k) FROM shapes'
	three_sides executor months "SELECT date_trunc('month', d), count(DISTINCT k) FROM shapes GROUP BY 1"
	three_sides executor groups 'SELECT count(n) FROM (SELECT k, count(*), sum(v) AS n FROM shapes GROUP BY k) g'
	three_sides executor union 'SELECT count(*) FROM (SELECT k FROM shapes UNION SELECT k + v % 2 FROM shapes) d'
	three_sides executor except 'SELECT count(*) FROM (SELECT k, d FROM shapes EXCEPT SELECT k + v % 2, d FROM shapes) d'
	three_sides executor ordered 'SELECT count(a) FROM (SELECT v, array_agg(d ORDER BY k) AS a FROM shapes GROUP BY v) g'
	three_sides executor median 'SELECT count(m) FROM (SELECT v, percentile_disc(0.5) WITHIN GROUP (ORDER BY c) AS m FROM shapes GROUP BY v) g'
	JUST=
fi
if wanted scaling; then
	TABLE=rows
	for n in $SCALING; do
		measure executor scaling gpusort "$n" 'SELECT * FROM rows ORDER BY k'
	done
	for n in $SCALING; do
		[ "$n" -eq 0 ] || measure executor scaling postgres "$n" 'SELECT * FROM rows ORDER BY k'
	done
fi
say "$SECONDS s"
