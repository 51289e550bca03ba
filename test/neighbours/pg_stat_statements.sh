# pg_stat_statements: statements are the same ones, with the same calls and rows, whichever is loaded first, and their
# WAL, temporary and shared blocks are plausible beside PostgreSQL's.
PRELOAD=pg_stat_statements
SETTINGS=("pg_stat_statements.track = all" "track_io_timing = on" "wal_level = replica" "max_parallel_maintenance_workers = 2" "wal_compression = off"
	"maintenance_work_mem = '64MB'" "full_page_writes = on" "max_wal_size = '4GB'" "checkpoint_timeout = '1h'")

BUILDS=(
	'CREATE INDEX t_id ON t (id)'
	'CREATE UNIQUE INDEX t_k ON t (k, id)'
	'CREATE INDEX t_s ON t (s) INCLUDE (k)'
	'CREATE INDEX t_few ON t (few)'
	'CREATE INDEX t_part ON t (k) WHERE few = 1'
	'REINDEX INDEX t_s'
	'ALTER TABLE t ADD PRIMARY KEY (id)'
	'VACUUM FULL t'
)
SORTS=(
	'SELECT count(*) FROM (SELECT * FROM t ORDER BY k OFFSET 0) q'
	'SELECT count(*) FROM (SELECT few, s FROM t ORDER BY s OFFSET 0) q'
	'SELECT k, rank() OVER (PARTITION BY few ORDER BY k) FROM t OFFSET 200000'
)
# What else is ours, and ways in which statements are executed: rows and calls are counted elsewhere for each.
STATEMENTS=(
	'SELECT id, s FROM t ORDER BY s, id LIMIT 5'
	'SELECT few, count(DISTINCT s), array_agg(k ORDER BY s) FROM t WHERE id < 5000 GROUP BY few'
	'SELECT DISTINCT few FROM t'
	'SELECT a.id, b.k FROM t a JOIN t b ON a.id = b.k'
	'SELECT id FROM t WHERE id < 3000 UNION SELECT few FROM t'
	'SELECT few FROM t EXCEPT SELECT id FROM t'
	'BEGIN; DECLARE c CURSOR FOR SELECT * FROM t ORDER BY k; FETCH 10 FROM c; MOVE 1000 IN c; FETCH ALL FROM c; CLOSE c; COMMIT'
	'PREPARE p(int) AS SELECT id FROM t WHERE few < $1 ORDER BY s; EXECUTE p(3); EXECUTE p(5)'
	'CREATE TEMP TABLE made AS SELECT * FROM t ORDER BY s; BEGIN; INSERT INTO kept SELECT * FROM t ORDER BY k LIMIT 100; ROLLBACK'
	'CREATE MATERIALIZED VIEW m AS SELECT few, k FROM t ORDER BY k; REFRESH MATERIALIZED VIEW m; DROP MATERIALIZED VIEW m'
	"COPY (SELECT * FROM t ORDER BY s) TO '/dev/null'; COPY t TO '/dev/null' WITH (FORMAT csv); COPY (SELECT few FROM t) TO '/dev/null' (FORMAT binary)"
	'CREATE TABLE c AS SELECT id, k FROM t; CREATE INDEX c_k ON c (k); CLUSTER c USING c_k; DROP TABLE c'
	'SELECT least_of(1), least_of(2) FROM generate_series(1, 3)'
	'DO $$ BEGIN PERFORM count(*) FROM (SELECT * FROM t ORDER BY k OFFSET 0) q; END $$'
	'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT * FROM t ORDER BY few, s'
)

# run RUNNER FILE STATEMENT...: each in a session of its own; the counters of these only into FILE.COLUMN
run()
{
	local runner=$1 file=$2 statement column

	shift 2
	sql -c 'CHECKPOINT' -c 'SELECT pg_stat_statements_reset()' >/dev/null
	for statement in "$@"; do
		$runner -c "$statement" >/dev/null || tally "$NEIGHBOUR: $statement" 0 1
	done
	for column in wal_bytes wal_records wal_fpi "temp_blks_written" "shared_blks_hit + shared_blks_read" "rows, calls, queryid, query"; do
		without -c "SELECT $column FROM pg_stat_statements WHERE toplevel AND query !~ 'pg_stat|CHECKPOINT|^SET'
			ORDER BY query COLLATE \"C\"" >"$file.${column%% *}"
	done
}

# near COLUMN LEAST MOST: the files' values, statement by statement, have quotients within these
near()
{
	local column=$1

	is "${FILES##*.}: $column" "$(wc -l <"$FILES.on.$column") $(paste -d ' ' "$FILES.on.$column" "$FILES.off.$column" |
		awk -v least="$2" -v most="$3" '$1 < least * $2 || $1 > most * $2 {print $1, "beside", $2, "in line", NR}')" "$4 "
}

# counted RUNNER FILE: all that was executed, within functions, too, with what it returned
counted()
{
	local statement

	sql -c 'SELECT pg_stat_statements_reset()' >/dev/null
	for statement in "${STATEMENTS[@]}"; do
		PGOPTIONS='-c enable_hashjoin=off -c enable_hashagg=off -c enable_nestloop=off' $1 -c "$statement" >/dev/null || tally "$NEIGHBOUR: $statement" 0 1
	done
	without -c "SELECT toplevel, calls, rows, queryid, query FROM pg_stat_statements WHERE query !~ 'pg_stat|^SET'
		ORDER BY query COLLATE \"C\", toplevel" >"$2"
}

# check_counted LABEL: on the server that was started last
check_counted()
{
	local file=$WORK/counted.$SERVER

	counted without "$file.off"
	counted forced "$file.on"
	is "$1: calls, rows and queryid of all statements" "$(cat "$file.on")" "$(cat "$file.off")"
	is "$1: there are some" "$(awk -F '|' '$1 == "t" {t++} $1 == "f" {f++} $3 > 100000 {r++} END {print (t >= 25 && f >= 2 && r >= 4) ? "enough" : t "|" f "|" r}' "$file.on")" enough
	is "$1: sorted by gpusort" "$(with -c "SELECT string_agg(kind, ', ' ORDER BY kind) FROM pg_stat_gpusort WHERE datname = 'postgres' AND sorts > 0")" "$2"
}

make_table()
{
	sql <<-'SQL'
		CREATE EXTENSION pg_stat_statements;
		CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 AS k, md5(i::text) COLLATE "C" AS s, i % 20 AS few FROM generate_series(1, 200000) i;
		ALTER TABLE t ALTER id SET NOT NULL;
		CREATE FUNCTION least_of(n int) RETURNS text LANGUAGE plpgsql AS
		$$ BEGIN RETURN (SELECT s FROM t WHERE few = n ORDER BY s LIMIT 1); END $$;
		CREATE TABLE kept (LIKE t);
		VACUUM ANALYZE t;
	SQL
}

check_neighbour()
{
	local kind FILES SERVER=$NEIGHBOUR

	make_table
	FILES=$WORK/counters.sorts
	run without "$FILES.off" "${SORTS[@]}"
	run with "$FILES.on" "${SORTS[@]}"
	near shared_blks_hit 0.95 1.1 3
	near temp_blks_written 0 0 3
	is "sorts are the same statements" "$(cat "$FILES.on.rows,")" "$(cat "$FILES.off.rows,")"

	FILES=$WORK/counters.spills
	export PGOPTIONS='-c gpusort.pool_quota=1 -c work_mem=256kB -c max_parallel_workers_per_gather=0'
	run without "$FILES.off" "${SORTS[@]}"
	run forced "$FILES.on" "${SORTS[@]}"
	unset PGOPTIONS
	# runs that are kept in memory are not written
	near temp_blks_written 0.2 1.1 3

	FILES=$WORK/counters.builds
	run without "$FILES.off" "${BUILDS[@]}"
	sql -c 'DROP INDEX t_id, t_k, t_s, t_few, t_part' -c 'ALTER TABLE t DROP CONSTRAINT t_pkey'
	run with "$FILES.on" "${BUILDS[@]}"
	near wal_bytes 0.9 1.01 8
	near wal_fpi 0.98 1.02 8
	near wal_records 0.01 1 8
	near shared_blks_hit 0.95 1.2 8
	near temp_blks_written 0 0 8
	is "builds are the same statements" "$(cat "$FILES.on.rows,")" "$(cat "$FILES.off.rows,")"
	is "amcheck" "$(check_indexes '^t_')" '6 valid'
	is "built by gpusort" "$(built 't_[^"]*')" 6

	check_counted 'loaded before' 'cluster, distinct, group, index, join, order by, set operation, window'
	SERVER=${NEIGHBOUR}_last
	REVERSED=yes start_server $SERVER "${SETTINGS[@]}"
	make_table
	check_counted 'loaded after' 'cluster, distinct, group, index, join, order by, set operation'
	stop_server $SERVER
}
