# pg_repack: tables and indexes made anew by it hold what they held, and are what they are without gpusort.
PACKAGES=repack

# facts: what a repacked table and its indexes are
facts()
{
	without <<-'SQL'
		SELECT format('%s %s', indexrelid::regclass, pg_relation_size(indexrelid)) FROM pg_index WHERE indrelid IN ('t'::regclass, 'u'::regclass) ORDER BY 1;
		SELECT md5(string_agg(t::text, ' ' ORDER BY id)) FROM t;
		SELECT 'in order: ' || bool_and(k >= before) FROM (SELECT k, lag(k) OVER (ORDER BY ctid) AS before FROM t) s;
		SELECT md5(string_agg(u::text, ' ')) FROM u;
	SQL
}

# repack DATABASE OPTION...
repack()
{
	as_server "$BINDIR/pg_repack" --elevel=WARNING "$@" >>"$WORK/repack.log" 2>&1 || { tail -n 5 "$WORK/repack.log"; tally "$NEIGHBOUR: $*" 0 1; }
}

check_neighbour()
{
	local setting results=() database

	for setting in off on; do
		database=gpusort_$setting
		sql -c "CREATE DATABASE $database" -c "ALTER DATABASE $database SET gpusort.enabled = $setting"
		PGDATABASE=$database sql <<-'SQL'
			CREATE EXTENSION pg_repack;
			CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 AS k, md5(i::text) COLLATE "C" AS s, i % 50 AS few FROM generate_series(1, 40000) i;
			ALTER TABLE t ADD PRIMARY KEY (id);
			CREATE INDEX t_k ON t (k, s);
			CREATE UNIQUE INDEX t_s ON t (s DESC) INCLUDE (few) WITH (fillfactor = 70);
			CREATE INDEX t_few ON t (few) WHERE id % 3 = 0;
			CREATE INDEX t_expression ON t (lower(s), few);
			DELETE FROM t WHERE id % 4 = 0;
			UPDATE t SET few = few + 1 WHERE id % 5 = 0;
			CREATE TABLE u (a int NOT NULL, b text NOT NULL, UNIQUE (a, b));
			INSERT INTO u SELECT i % 100, i::text FROM generate_series(1, 20000) i;
		SQL
		PGDATABASE=$database repack -d $database -t t --order-by='k, id' -j 2
		PGDATABASE=$database repack -d $database -t u --no-order
		PGDATABASE=$database repack -d $database -t t --only-indexes
		results+=("$(PGDATABASE=$database facts)")
		is "amcheck with gpusort $setting" "$(PGDATABASE=$database check_indexes)" '8 valid'
	done
	is "as without" "${results[1]}" "${results[0]}"
	is "order" "$(grep 'in order' <<<"${results[1]}")" 'in order: true'
	# five indexes twice, and the one of u
	is "built by gpusort" "$(grep -c 'gpusort: built index "index_' "$WORK/$NEIGHBOUR.log")" 11
}
