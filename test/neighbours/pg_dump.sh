# pg_dump and pg_restore, in parallel, of a database whose indexes gpusort has built and builds again: the same
# dump, the same sizes, with gpusort on either side.

check_neighbour()
{
	local format setting dump database

	sql >/dev/null <<-'SQL'
		CREATE DATABASE original;
		\c original
		CREATE TABLE t (id int8 PRIMARY KEY, k int8 UNIQUE, s text COLLATE "C", few int);
		INSERT INTO t SELECT i, hashint8(i)::int8 * 1000003 + i, md5(i::text), i % 50 FROM generate_series(1, 30000) i;
		CREATE INDEX t_s ON t (s DESC NULLS LAST) INCLUDE (few);
		CREATE INDEX t_few ON t (few, s) WHERE few < 30;
		CREATE TABLE p (id int, region int, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
		CREATE TABLE p1 PARTITION OF p FOR VALUES IN (0);
		CREATE TABLE p2 PARTITION OF p FOR VALUES IN (1);
		INSERT INTO p SELECT id, few % 2 FROM t;
		CREATE TABLE child (id int8 PRIMARY KEY, t int8 REFERENCES t (id));
		INSERT INTO child SELECT id, 30001 - id FROM t;
		CREATE MATERIALIZED VIEW v AS SELECT few, s FROM t ORDER BY s DESC LIMIT 20000;
		CREATE UNIQUE INDEX v_s ON v (s);
		ALTER TABLE t CLUSTER ON t_s;
	SQL
	as_server "$BINDIR/pg_dump" -d original -f "$WORK/original.sql"
	PGOPTIONS='-c gpusort.enabled=off' as_server "$BINDIR/pg_dump" -d original -f "$WORK/original.off.sql"
	is "dump" "$(uncommented "$WORK/original.sql")" "$(uncommented "$WORK/original.off.sql")"
	for format in directory custom; do
		dump=$WORK/dump.$format
		as_server env PGOPTIONS='-c gpusort.force=on' "$BINDIR/pg_dump" -d original -F $format $([ $format = custom ] || echo -j 3) -f "$dump" ||
			tally "$NEIGHBOUR: $format dump" 0 1
		for setting in off on; do
			database=${format}_$setting
			sql -c "CREATE DATABASE $database TEMPLATE template0" -c "ALTER DATABASE $database SET gpusort.enabled = $setting"
			as_server "$BINDIR/pg_restore" --exit-on-error -j 3 -d $database "$dump" >"$WORK/restore.log" 2>&1 || { tail "$WORK/restore.log"; tally "$NEIGHBOUR: $database" 0 1; }
			as_server "$BINDIR/pg_dump" -d $database -f "$WORK/$database.sql"
			# the view is filled in an order that is determined, and the tables by COPY
			is "$format, gpusort $setting: as the original" "$(uncommented "$WORK/$database.sql" | grep -v '^ALTER DATABASE')" "$(uncommented "$WORK/original.sql")"
			is "$format, gpusort $setting: amcheck" "$(PGDATABASE=$database check_indexes '^(t|p[12]|child|v)_')" '8 valid'
		done
		is "$format: sizes of relations" "$(sizes ${format}_on)" "$(sizes ${format}_off)"
	done
	is "built by gpusort" "$(grep -cE 'gpusort: built index "(t|p[12]|child|v)_[^"]*": [1-9]' "$WORK/$NEIGHBOUR.log")" 19
}

# uncommented FILE: a dump without what differs from run to run
uncommented()
{
	grep -vE '^(--|\\(un)?restrict |$)' "$1"
}

sizes()
{
	PGDATABASE=$1 without -c "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE oid >= 16384 AND relname !~ 'toast' ORDER BY 1"
}
