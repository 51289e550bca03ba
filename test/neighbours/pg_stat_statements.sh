# pg_stat_statements: statements are the same ones, and their WAL, temporary and shared blocks are plausible
# beside PostgreSQL's.
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

check_neighbour()
{
	local kind FILES

	sql <<-'SQL'
		CREATE EXTENSION pg_stat_statements;
		CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 AS k, md5(i::text) COLLATE "C" AS s, i % 20 AS few FROM generate_series(1, 200000) i;
		ALTER TABLE t ALTER id SET NOT NULL;
		VACUUM ANALYZE t;
	SQL
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
	near temp_blks_written 0.8 1.1 3

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
}
