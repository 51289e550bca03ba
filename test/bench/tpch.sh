#!/bin/bash
# tpch.sh
#		TPC-H's 22 queries with gpusort off and on in turn, within a limit of time.
#
# Runs against the server of PGHOST, PGPORT and PGUSER, which has gpusort loaded, in a database of its
# own.  The tables are made by tpchgen-cli (pip install tpchgen-cli), which several processes pipe into
# COPY, or are those of DATABASE.  It needs psql and nothing else that must be installed, so it also
# measures where reports.pl can't be run; that one has more reports, and tells CPU times and reasons.
#
#	SCALE=1			TPC-H's scale factor
#	JOBS=8			processes that load
#	LOGGED=			not empty: tables are logged
#	DATABASE=		where the tables are already, and stay
#	WORKERS=		max_parallel_workers_per_gather, and as many for each large table; empty: as it is
#	WORK_MEM=		on both sides; empty: as it is
#	QUERIES=.		a regular expression: h01 to h22
#	PASSES=5		executions of each query on each side, at most
#	TIMEOUT=30		seconds until an execution is cancelled
#	LIMIT=540		seconds in all; whatever is not done by then is not done
#	GENERATOR=tpchgen-cli
#	OUTPUT=.		where plans (tpch_plans.txt), plans as executed (tpch_analyzed.txt) and times (tpch_times.txt) go
#
# The table has medians in ms, of the client's times; "times faster" is of the least ones; "nodes" are
# gpusort's, "=" if the plan is the same; "rows" says whether both sides returned the same rows every time.
# Exit status 1: another result, or an execution with gpusort that was cancelled and none without.
set -u
SECONDS=0
HERE=$(cd "$(dirname "$0")" && pwd)
SCALE=${SCALE:-1} JOBS=${JOBS:-8} LOGGED=${LOGGED:-} DATABASE=${DATABASE:-} WORKERS=${WORKERS:-} WORK_MEM=${WORK_MEM:-}
QUERIES=${QUERIES:-.} PASSES=${PASSES:-5} TIMEOUT=${TIMEOUT:-30} LIMIT=${LIMIT:-540} GENERATOR=${GENERATOR:-tpchgen-cli}
OUTPUT=$(cd "${OUTPUT:-.}" && pwd) || exit 2
WORK=$(mktemp -d) || exit 2
DB=${DATABASE:-tpch_$$}
PLANS=$OUTPUT/tpch_plans.txt ANALYZED=$OUTPUT/tpch_analyzed.txt TIMES=$OUTPUT/tpch_times.txt

run_sql() { psql -X -q -At -v ON_ERROR_STOP=1 -d "$DB" "$@"; }

finish()
{
	[ -n "$DATABASE" ] || psql -X -q -d postgres -c "DROP DATABASE IF EXISTS $DB" >/dev/null
	rm -rf "$WORK"
}
trap finish EXIT

say() { echo "$* at $SECONDS s"; }

# The statements of a part of tpch.sql, or a query of reports.sql
part_of() { awk -v name="$2" '/^-- [a-z0-9_]+$/ {on = $2 == name; next} on && !/^--/' "$HERE/$1"; }

# ---------- tables ----------

# As many at a time as there are jobs: table, part, parts
load_part()
{
	"$GENERATOR" csv -s "$SCALE" -T "$1" --parts "$3" --part "$2" --stdout 2>"$WORK/generator.$1.$2" |
		PGOPTIONS='-c gpusort.enabled=off' run_sql -c "COPY $1 FROM STDIN (FORMAT csv, HEADER)" || echo "$1 $2" >>"$WORK/failed"
}

load_tables()
{
	local table part running=0

	for table in lineitem orders partsupp customer part supplier nation region; do
		local parts=1
		case $table in lineitem | orders | partsupp) parts=$JOBS ;; esac
		for part in $(seq "$parts"); do
			[ "$running" -lt "$JOBS" ] || { wait -n; running=$((running - 1)); }
			load_part "$table" "$part" "$parts" &
			running=$((running + 1))
		done
	done
	wait
	[ ! -e "$WORK/failed" ] || { cat "$WORK"/generator.*; exit 2; }
}

make_tables()
{
	local table

	psql -X -q -d postgres -c "CREATE DATABASE $DB TEMPLATE template0 ENCODING 'UTF8'" || exit 2
	part_of tpch.sql tables | if [ -n "$LOGGED" ]; then cat; else sed 's/^CREATE TABLE/CREATE UNLOGGED TABLE/'; fi | run_sql || exit 2
	load_tables
	say "loaded scale $SCALE"
	part_of tpch.sql indexes | run_sql || exit 2
	say "indexes"
	for table in lineitem orders partsupp customer part supplier nation region; do
		run_sql -c "VACUUM ANALYZE $table" &
		[ -z "$WORKERS" ] || run_sql -c "ALTER TABLE $table SET (parallel_workers = $WORKERS)" &
		wait
	done
	say "analyzed, $(run_sql -c 'SELECT pg_size_pretty(pg_database_size(current_database()))'),"
}

# ---------- queries ----------

# side, seconds
settings()
{
	echo "SET gpusort.enabled = $1; SET statement_timeout = '${2}s';"
	[ -z "$WORKERS" ] || echo "SET max_parallel_workers_per_gather = $WORKERS;"
	[ -z "$WORK_MEM" ] || echo "SET work_mem = '$WORK_MEM';"
}

# At most, at least one
time_left() { local left=$((LIMIT - SECONDS)); echo $((left < 1 ? 1 : left < TIMEOUT ? left : TIMEOUT)); }

plan()
{
	{
		settings "$2" "$TIMEOUT"
		echo "EXPLAIN"
		part_of reports.sql "$1"
	} | run_sql >"$WORK/plan" 2>&1
	sed -E 's/  \(cost=.*//' "$WORK/plan" >"$WORK/plan.$1.$2"
	{
		echo "-- $1, gpusort $2"
		cat "$WORK/plan"
	} >>"$PLANS"
}

# Adds a line to the times: query, side, ms, digest of the rows in some order of their own; or late.
execute()
{
	local ms digest

	{
		settings "$2" "$(time_left)"
		printf '%s\n' '\timing on'
		part_of reports.sql "$1"
	} | run_sql >"$WORK/out" 2>"$WORK/err"
	ms=$(sed -nE 's/^Time: ([0-9.]+) ms.*/\1/p' "$WORK/out" | tail -1)
	digest=$(sed -E '/^Time: [0-9.]+ ms/d' "$WORK/out" | LC_ALL=C sort | cksum | tr ' ' .)
	if [ -s "$WORK/err" ]; then
		grep -q 'statement timeout' "$WORK/err" || cat "$WORK/err"
		# what the limit has ended says nothing
		[ $((LIMIT - SECONDS)) -gt 1 ] || return
		ms=$((TIMEOUT * 1000)) digest=late
	fi
	echo "$1 $2 $ms $digest" >>"$TIMES"
}

pass()
{
	local query side

	for query in $(list_queries); do
		for side in $([ $(($1 % 2)) = 1 ] && echo off on || echo on off); do
			[ "$SECONDS" -lt $((LIMIT * 9 / 10)) ] || return
			[ "$1" != 1 ] || plan "$query" "$side"
			execute "$query" "$side"
		done
	done
	say "pass $1"
}

list_queries() { grep -oE '^-- h[0-9]{2}$' "$HERE/reports.sql" | cut -c4- | grep -E "$QUERIES"; }

# ---------- the table ----------

report()
{
	local query nodes

	echo "| query | PostgreSQL, ms | gpusort, ms | times faster | runs | nodes | rows |"
	echo "| --- | ---: | ---: | ---: | ---: | ---: | --- |"
	for query in $(list_queries); do
		grep -q "^$query on" "$TIMES" || continue
		nodes=$(grep -c 'Custom Scan (GpuSort' "$WORK/plan.$query.on")
		! cmp -s "$WORK/plan.$query.off" "$WORK/plan.$query.on" || nodes='='
		awk -v q="$query" -v nodes="$nodes" '
			function median(v, n,	i, j, x) {
				for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
				return v[int((n + 1) / 2)]
			}
			$1 == q && $2 == "off" { off[++n] = $3 + 0; if ($4 == "late") late_off = "> "; else digests[$4] }
			$1 == q && $2 == "on" { on[++m] = $3 + 0; if ($4 == "late") late_on = "> "; else digests[$4] }
			END {
				if (n == 0 || m == 0) exit
				theirs = median(off, n); ours = median(on, m)	# and both are in order now
				for (d in digests) results++
				printf "| %s | %s%.0f | %s%.0f | %s%.2f | %d, %d | %s | %s |\n", q, late_off, theirs, late_on, ours, late_off, off[1] / on[1], n, m, nodes,
					late_off late_on != "" ? "?" : results == 1 ? "same" : "OTHER"
			}' "$TIMES"
	done | tee "$WORK/table"
	awk -F'|' '{gsub("[> ]", ""); a += $3; b += $4; g += log($5); n++; if ($5 < 0.97 && $7 != "=") slow = slow " " $2}
		END {if (n) printf "all %d: %.0f ms, %.0f ms, %.2f times faster; geometric mean of the queries %.2f; below 0.97 with another plan:%s\n", n, a, b, a / b, exp(g / n), slow == "" ? " none" : slow}' "$WORK/table"
}

# While time lasts, a tenth of it at least: how plans are executed, the slowest with gpusort first
analyze()
{
	local query side seconds

	# shellcheck disable=SC2013 # names are words
	for query in $(awk -F'|' '{gsub("[> ]", ""); print $5, $2}' "$WORK/table" | sort -n | cut -d' ' -f2); do
		for side in off on; do
			seconds=$(time_left)
			[ "$seconds" -gt 3 ] || return
			{
				echo "-- $query, gpusort $side"
				{
					settings "$side" "$seconds"
					echo "EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF)"
					part_of reports.sql "$query"
				} | run_sql 2>&1
			} >>"$ANALYZED"
		done
	done
	say "plans as executed"
}

: >"$PLANS" && : >"$ANALYZED" && : >"$TIMES" || exit 2
[ -n "$DATABASE" ] || make_tables
for number in $(seq "$PASSES"); do pass "$number"; done
report
analyze
! grep -qE 'OTHER|^\| h[0-9]* \| [0-9]+ \| > ' "$WORK/table"
