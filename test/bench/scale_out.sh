#!/bin/bash
# scale_out.sh [ROWS]
#		Rows (1,500,000) on one, two and three servers, sorted through postgres_fdw; milliseconds, medians of 5.
#
# By turns: gpusort on and off, everywhere.
#
#	local		all rows in a table of the front, no postgres_fdw
#	merged		the shards sort, one after another, and the front merges
#	gathered	the shards send rows as they lie, at once, and the front sorts
#	top			the first 100 rows
#	groups		distinct values of groups that lie on one shard each, computed there, at once

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

ROWS=${1:-1500000}
COLUMNS='id int8 NOT NULL, k int8, v int4, s text COLLATE "C"'
declare -A QUERY=(
	[merged]='SELECT * FROM t ORDER BY k, id'
	[gathered]='SELECT * FROM (SELECT * FROM t OFFSET 0) q ORDER BY k, id'
	[top]='SELECT * FROM t ORDER BY k, id LIMIT 100'
	[groups]='SELECT v, count(DISTINCT s) FROM t GROUP BY v'
	[local]='SELECT * FROM l ORDER BY k, id'
)

# front_of N: a database whose table t has its partitions on N servers
front_of()
{
	local i

	sql -p "$FRONT" -c 'SET client_min_messages = warning' -c 'DROP DATABASE IF EXISTS front' -c 'CREATE DATABASE front'
	{
		echo "CREATE EXTENSION postgres_fdw; CREATE TABLE t ($COLUMNS) PARTITION BY HASH (v); CREATE TABLE l ($COLUMNS);"
		for ((i = 0; i < $1; i++)); do
			sql -p "$((FRONT + i))" -c 'DROP TABLE IF EXISTS t' -c "CREATE TABLE t ($COLUMNS)" >/dev/null 2>&1
			echo "CREATE SERVER s$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$PGHOST', port '$((FRONT + i))', dbname 'postgres',
				async_capable 'true', fetch_size '10000', fdw_tuple_cost '0.2', options '-c gpusort.enabled=on');
				CREATE USER MAPPING FOR postgres SERVER s$i;
				CREATE FOREIGN TABLE t$i PARTITION OF t FOR VALUES WITH (MODULUS $1, REMAINDER $i)
					SERVER s$i OPTIONS (table_name 't', use_remote_estimate 'true', batch_size '1000');"
		done
		echo "INSERT INTO l SELECT i, hashint8(i)::int8 * 1000003 + i, i % 3000, md5(i::text) FROM generate_series(1, $ROWS) i;
			INSERT INTO t SELECT * FROM l;"
	} | sql -p "$FRONT" -d front || die "cannot fill $1 servers"
	for ((i = 0; i < $1; i++)); do
		sql -p "$((FRONT + i))" -c 'VACUUM ANALYZE t'
	done
	sql -p "$FRONT" -d front -c 'VACUUM ANALYZE l' -c 'ANALYZE t'
}

# milliseconds_of CASE STATE N: one run
milliseconds_of()
{
	local i settings="SET gpusort.enabled = $2; SET enable_partitionwise_aggregate = on; SET max_parallel_workers_per_gather = 0;"

	for ((i = 0; i < $3; i++)); do
		settings+="ALTER SERVER s$i OPTIONS (SET options '-c gpusort.enabled=$2 -c max_parallel_workers_per_gather=0');"
	done
	sql -At -p "$FRONT" -d front -c "$settings" -c "EXPLAIN (ANALYZE, TIMING OFF) ${QUERY[$1]}" | sed -nE 's/^Execution Time: ([0-9.]+) ms$/\1/p'
}

median()
{
	sort -n | sed -n 3p | cut -d . -f 1
}

need_packages build server locales
private_begin scale-out
for name in one two three; do
	cluster_start "$name" "shared_preload_libraries = 'gpusort'" "gpusort.pool_size = '256MB'" "shared_buffers = '128MB'" \
		"autovacuum = off" "work_mem = '64MB'" "wal_level = minimal" "max_wal_senders = 0"
	[ "$name" != one ] || FRONT=$PGPORT
done
say "$ROWS rows, $(nproc) cores, $("$PG_CONFIG" --version)"
for servers in 1 2 3; do
	front_of $servers
	for case in local merged gathered top groups; do
		[ $case != local ] || [ $servers = 1 ] || continue
		for run in 1 2 3 4 5; do
			milliseconds_of $case off $servers >>"$WORK/off.ms"
			milliseconds_of $case on $servers >>"$WORK/on.ms"
		done
		printf '%-9s servers=%d off=%d on=%d\n' $case $servers "$(median <"$WORK/off.ms")" "$(median <"$WORK/on.ms")"
		rm "$WORK/off.ms" "$WORK/on.ms"
	done
done
tally "scale-out" 1 0
finish
