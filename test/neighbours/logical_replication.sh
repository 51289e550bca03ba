# Logical replication: publisher and subscriber, both with gpusort, and a subscriber without.  The initial copy, rows
# found by an index that gpusort has built, and indexes built while changes come in.
SETTINGS=("wal_level = logical" "max_worker_processes = 30" "max_logical_replication_workers = 12" "max_sync_workers_per_subscription = 3")

TABLES="
	CREATE TABLE t (id int8 NOT NULL, k int8 NOT NULL, s text COLLATE \"C\", few int);
	CREATE UNIQUE INDEX t_replica ON t (k, id);
	ALTER TABLE t REPLICA IDENTITY USING INDEX t_replica;
	CREATE TABLE u (id int8 PRIMARY KEY, n numeric);
	CREATE TABLE p (id int, region int, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
	CREATE TABLE p0 PARTITION OF p FOR VALUES IN (0);
	CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);"
CHANGES="
	UPDATE t SET few = few + 1, s = md5(s) WHERE k % 3 = 0;
	UPDATE t SET k = k + 1 WHERE id % 50 = 0;
	DELETE FROM t WHERE k % 7 = 0;
	UPDATE u SET n = n / 3 WHERE id % 4 = 0;
	DELETE FROM p WHERE id % 5 = 0;
	INSERT INTO t SELECT 100000 + i, -i, md5(i::text), i FROM generate_series(1, 3000) i;
	TRUNCATE u;
	INSERT INTO u SELECT i, i / 7.0 FROM generate_series(1, 5000) i;"
DIGEST="SELECT md5(string_agg(t::text, ' ' ORDER BY id)) FROM t UNION ALL SELECT md5(string_agg(u::text, ' ' ORDER BY id)) FROM u
	UNION ALL SELECT md5(string_agg(p::text, ' ' ORDER BY id)) FROM p"

# caught_up: wait until both subscribers have all there is
caught_up()
{
	local i pending

	for i in $(seq 600); do
		pending=$(sql -At -p "$PUBLISHER" -c 'SELECT count(*) FROM pg_replication_slots WHERE confirmed_flush_lsn IS DISTINCT FROM pg_current_wal_lsn() AND NOT temporary' \
			-c "SELECT 2 - count(*) FROM pg_stat_replication WHERE application_name IN ('on', 'off')")
		pending+=$(for i in $SUBSCRIBERS; do sql -At -p "$i" -c "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'"; done)
		[ -n "$(tr -d '0\n' <<<"$pending")" ] || return 0
		sleep 0.1
	done
	tally "$NEIGHBOUR: caught up" 0 1
}

check_neighbour()
{
	local setting port digest

	PUBLISHER=$PGPORT SUBSCRIBERS=
	sql -c "$TABLES" -c "INSERT INTO t SELECT i, hashint8(i), md5(i::text), i % 50 FROM generate_series(1, 30000) i" \
		-c "INSERT INTO u SELECT i, i / 7.0 FROM generate_series(1, 20000) i" -c "INSERT INTO p SELECT i, i % 2 FROM generate_series(1, 20000) i" \
		-c 'REINDEX TABLE t' -c 'REINDEX TABLE p' -c 'CREATE PUBLICATION gpusort FOR TABLE t, u, p'
	is "publisher: built by gpusort" "$(built '(t_replica|p[01]_pkey)')" 3
	for setting in off on; do
		start_server "subscriber_$setting" "${SETTINGS[@]}" "gpusort.enabled = $setting" "gpusort.force = on" "gpusort.min_rows = 0"
		SUBSCRIBERS+=" $PGPORT"
		sql -c "$TABLES" -c "CREATE SUBSCRIPTION gpusort CONNECTION 'host=$PGHOST port=$PUBLISHER user=postgres dbname=postgres application_name=$setting'
			PUBLICATION gpusort WITH (slot_name = 'gpusort_$setting')" >/dev/null 2>&1 || tally "$NEIGHBOUR: subscription" 0 1
	done
	caught_up
	is "initial copy, gpusort off" "$(without -p "${SUBSCRIBERS% *}" -c "$DIGEST")" "$(without -p $PUBLISHER -c "$DIGEST")"
	is "initial copy" "$(forced -c "$DIGEST")" "$(without -p $PUBLISHER -c "$DIGEST")"

	# what rows are found by is built anew, and more, while changes are applied
	sql -p $PUBLISHER -c "$CHANGES" &
	for port in $SUBSCRIBERS; do
		sql -p "$port" -c 'REINDEX TABLE CONCURRENTLY t' -c 'CREATE INDEX CONCURRENTLY t_s ON t (s)' -c 'CREATE INDEX t_few ON t (few, id)' -c 'REINDEX TABLE u'
	done
	wait $!
	sql -p $PUBLISHER -c "UPDATE t SET few = few + 1 WHERE k < 0" -c 'CREATE INDEX CONCURRENTLY t_s ON t (s)' -c 'REINDEX TABLE t'
	caught_up
	digest=$(without -p $PUBLISHER -c "$DIGEST")
	for port in $SUBSCRIBERS; do
		is "changes, on port $port" "$(forced -p "$port" -c "$DIGEST")" "$digest"
		is "amcheck, on port $port" "$(PGPORT=$port check_indexes '^[tup][01]?_')" '6 valid'
	done
	is "amcheck, publisher" "$(PGPORT=$PUBLISHER check_indexes '^[tup][01]?_')" '5 valid'
	is "subscriber: built by gpusort" "$(SERVER=subscriber_on built 't_[^"]*')" 4
	is "subscriber with gpusort off" "$(SERVER=subscriber_off built '[^"]*')" 0
	is "no errors" "$(grep -hE '(ERROR|FATAL|WARNING):' "$WORK"/{logical_replication,subscriber_on,subscriber_off}.log)" ""
	for port in $SUBSCRIBERS; do
		sql -p "$port" -c 'DROP SUBSCRIPTION gpusort' 2>/dev/null
	done
	stop_server subscriber_on
	stop_server subscriber_off
}
