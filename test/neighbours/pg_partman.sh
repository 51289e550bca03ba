# pg_partman: it makes the same partitions, with the same rows and indexes, as without gpusort.
PACKAGES=partman

# The arguments of create_parent() are others from version 5 on.
create_parent()
{
	if [ "$(without -c "SELECT split_part(extversion, '.', 1)::int FROM pg_extension WHERE extname = 'pg_partman'")" -ge 5 ]; then
		echo "SELECT partman.create_parent('public.events', 'id', '5000')"
	else
		echo "SELECT partman.create_parent('public.events', 'id', 'native', '5000')"
	fi
}

check_neighbour()
{
	local setting results=() database

	for setting in off on; do
		database=gpusort_$setting
		sql -c "CREATE DATABASE $database" -c "ALTER DATABASE $database SET gpusort.enabled = $setting" \
			-c "ALTER DATABASE $database SET gpusort.force = on" -c "ALTER DATABASE $database SET client_min_messages = warning"
		export PGDATABASE=$database
		sql -c 'CREATE SCHEMA partman' -c 'CREATE EXTENSION pg_partman SCHEMA partman'
		sql >"$WORK/partman.log" 2>&1 <<-SQL || { tail "$WORK/partman.log"; tally "$NEIGHBOUR: partitions" 0 1; }
			CREATE TABLE events (id int8 NOT NULL, at timestamptz, kind text COLLATE "C", PRIMARY KEY (id)) PARTITION BY RANGE (id);
			CREATE INDEX ON events (at DESC);
			CREATE INDEX ON events (kind, id) INCLUDE (at);
			$(create_parent);
			INSERT INTO events SELECT i, timestamptz '2026-01-01 UTC' + hashint8(i) * interval '1 second', md5(i::text) FROM generate_series(1, 60000) i;
			CALL partman.partition_data_proc('public.events', p_interval := '5000');
			CALL partman.run_maintenance_proc();
			REINDEX TABLE events;
			CREATE INDEX ON events (md5(kind));
			CALL partman.run_maintenance_proc(p_analyze := true);
			UPDATE partman.part_config SET retention = '20000', retention_keep_table = false;
			SELECT partman.run_maintenance('public.events');
		SQL
		results+=("$(without <<-'SQL'
			SELECT partition_tablename FROM partman.show_partitions('public.events');
			SELECT format('%s %s', indexrelid::regclass, pg_relation_size(indexrelid)) FROM pg_index WHERE indexrelid::regclass::text ~ '^events' ORDER BY 1;
			SELECT tableoid::regclass, count(*), md5(string_agg(e::text, ' ' ORDER BY id)) FROM events e GROUP BY 1 ORDER BY 1;
			SELECT * FROM partman.check_default(false);
		SQL
		)")
		is "rows in order" "$(forced -c "SELECT md5(string_agg(e::text, ' ')) FROM (SELECT * FROM events ORDER BY kind, id) e")" \
			"$(without -c "SELECT md5(string_agg(e::text, ' ')) FROM (SELECT * FROM events ORDER BY kind, id) e")"
		results+=("$(check_indexes)")
	done
	unset PGDATABASE
	export PGDATABASE=postgres
	is "partitions, rows, indexes" "${results[2]}" "${results[0]}"
	is "more than a few partitions" "$(($(grep -c '^events_p' <<<"${results[0]}") > 8))" 1
	is "amcheck" "${results[3]}" "${results[1]}"
	is "built by gpusort" "$(($(built 'events_p[^"]*') > 20))" 1
}
