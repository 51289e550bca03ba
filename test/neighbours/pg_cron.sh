# pg_cron: its jobs sort and build in background workers, and succeed.
PACKAGES=cron PRELOAD=pg_cron
SETTINGS=("cron.use_background_workers = on" "cron.database_name = 'postgres'" "cron.timezone = 'UTC'")

check_neighbour()
{
	local i

	without >/dev/null <<-'SQL'
		CREATE EXTENSION pg_cron;
		CREATE TABLE t AS SELECT i AS id, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 30000) i;
		CREATE INDEX t_s ON t (s);
		ANALYZE t;
		SELECT cron.schedule('sort', '* * * * *', 'CREATE TABLE sorted AS SELECT row_number() OVER () AS n, id FROM (SELECT id FROM t ORDER BY s DESC, id) q');
		SELECT cron.schedule('build', '* * * * *', 'REINDEX TABLE t');
		SELECT cron.schedule('wrong', '* * * * *', 'SELECT id / (id - id) FROM t ORDER BY s');
	SQL
	# the first minute to begin
	for i in $(seq 700); do
		[ "$(without -c "SELECT count(*) FROM cron.job_run_details WHERE end_time IS NOT NULL")" -lt 3 ] || break
		sleep 0.1
	done
	sql -c 'DELETE FROM cron.job'
	is "how they have ended" "$(without -c 'SELECT j.command ~ '\''^(CREATE|REINDEX)'\'', status FROM cron.job_run_details j ORDER BY 1, 2 LIMIT 3')" $'f|failed\nt|succeeded\nt|succeeded'
	is "sorted" "$(without -c 'SELECT count(*) FROM sorted JOIN (SELECT row_number() OVER (ORDER BY s DESC, id) AS n, id FROM t) q USING (n, id)')" 30000
	is "amcheck" "$(check_indexes t_s)" '1 valid'
	is "built by the job" "$(built t_s)" 1
}
