# Sorts and index builds that spill in several processes, and what the server knows of their
# files: temporary tablespaces, logs, statistics, cancelled and killed processes.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my @nodes_lines = ('gpusort.pool_size = 64MB', 'gpusort.force = on', 'work_mem = 1MB', 'hash_mem_multiplier = 1',
	'max_worker_processes = 8', 'max_parallel_workers = 8', 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0',
	'parallel_tuple_cost = 0', 'gpusort.cost_gather = 0', 'min_parallel_table_scan_size = 0', 'max_parallel_maintenance_workers = 2',
	'log_temp_files = 0', 'gpusort.late_rows = off');
my $node = start_node('main', @nodes_lines);

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 1000)::int2 AS few, CASE WHEN i % 7 <> 0 THEN md5(i::text) COLLATE "C" END AS m,
		repeat('x', i % 300) AS pad
	FROM generate_series(1, 250000) i;
	VACUUM ANALYZE t));
create_index_checks($node);
tables_stay();
my $pool_bytes = service($node, 'pool_bytes_free');

# ---------- sorts ----------

my $query = 'SELECT * FROM t ORDER BY h, i';
if (part('sorts'))
{
	my $analyzed = analyzed_plan_of($node, $query);
	like($analyzed, qr/GpuSort Collect/, 'workers collect rows');
	like($analyzed, qr/Spilled: \d+kB(?:  Kept: \d+kB)?  Runs: (?:[3-9]|\d\d+)  Portions: \d+/, '... and spill them');
	like($analyzed, qr/rows=250000/, 'every row comes out');
	$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM pg_stat_gpusort');
	is($node->safe_psql('postgres', 'SELECT kind, sorts, rows, parallel, spilled FROM pg_stat_gpusort'), 'order by|1|250000|1|1', '... and is counted, of a sort in parallel');
	# each part's share of the pool is less than an extent for each of its ranges: runs are not short all the same
	# (their number depends on how many workers a busy machine has started in time)
	my $runs;
	for (1 .. 20)
	{
		($runs) = analyzed_plan_of($node, 'SELECT * FROM t ORDER BY few, m, pad COLLATE "C", h, i', max_parallel_workers_per_gather => 7) =~ /Runs: (\d+)/;
		last if $runs < 400;
	}
	cmp_ok($runs, '<', 400, 'runs of parts that share little memory');
	for my $order ('h, i', 'few DESC, m NULLS FIRST, i', 'm DESC NULLS LAST, i', 'm COLLATE "und-x-icu", i', 'i DESC')
	{
		same_answer($node, "SELECT * FROM t ORDER BY $order", "ORDER BY $order");
		same_answer($node, "SELECT * FROM t ORDER BY $order", "ORDER BY $order, one process", max_parallel_workers_per_gather => 0);
		same_answer($node, "SELECT * FROM t ORDER BY $order", "ORDER BY $order, more workers than shares", max_parallel_workers_per_gather => 7);
	}
	# Portions are planned to take 4/5 of the memory that a run has filled, so there should be 5/4 as many.
	for my $case ([ 'i', 60, 'in order' ], [ 'hashint8(i)', 60, 'of runs that are alike' ], [ 'hashint8(i) % 10', 60, 'of few values' ],
		[ 'hashint8(i)', 120, 'of a few long runs' ])
	{
		my ($order, $pad, $label) = @$case;
		my ($count, $portions, $merged) = analyzed_plan_of($node, "SELECT i, repeat('x', $pad) FROM generate_series(1, 100000) i ORDER BY $order",
			work_mem => '500kB', 'gpusort.pool_quota' => 0) =~ /Runs: (\d+)  Portions: (\d+)(  Merged Runs)?/;

		is(defined $merged ? 1 : 0, $pad == 120 ? 1 : 0, "portions $label: long runs");
		cmp_ok($portions, '<', 1.4 * $count, "portions $label have the same size");
	}
	# In groups of 250 rows, in two that no process has memory for, and in one of all.
	for my $group ('few', 'i % 2', 'i * 0')
	{
		my $windows = "SELECT count(*), sum(r), sum(hashint8(s)), sum(length(pad))
			FROM (SELECT rank() OVER w AS r, sum(i) OVER w AS s, pad FROM t WINDOW w AS (PARTITION BY $group ORDER BY h, i)) q";

		my ($ours, $theirs, $alone) = map { GpuSortTest::run_with($node, $windows, @$_) } [ 'gpusort.enabled' => 'on' ], [ 'gpusort.enabled' => 'off' ],
			[ 'parallel_leader_participation' => 'off' ];
		is($ours, $theirs, "window functions over a sort that workers make together, by $group");
		is($alone, $theirs, '... without the leader');
		$analyzed = analyzed_plan_of($node, $windows);
		like($analyzed, qr/GpuSort Shared.*Sliced By.*Spilled: \d+kB/s, '... which has spilled');
	}
	for my $fault ('codec', 'verify')
	{
		same_answer($node, $query, "fault $fault", 'gpusort.inject_fault' => $fault, 'gpusort.verify' => 'on', statement_timeout => '120s');
	}
	# All have runs when the leader meets a value without encoding, among rows that are not as wide.
	same_answer($node, "SELECT h, i, repeat('x', CASE WHEN i < 1200 THEN 100000 ELSE 1 END) AS wide FROM t WHERE i < 20000 ORDER BY h, i",
		'handed over by all', 'gpusort.inject_fault' => 'codec', work_mem => $_, max_parallel_workers_per_gather => 7) for '64kB', '2MB';
	is_deeply([ spilled_files($node) ], [], 'no files are left');
	is(service($node, 'pool_bytes_free'), $pool_bytes, 'the pool is free');
}

# ---------- index builds ----------

if (part('builds'))
{
	for my $workers (0, 2)
	{
		my $built = $node->safe_psql('postgres', qq(
			SET max_parallel_maintenance_workers = $workers;
			SET maintenance_work_mem = '1MB';
			CREATE UNIQUE INDEX ON t (h, i);
			CREATE INDEX ON t (few) INCLUDE (pad);
			CREATE INDEX ON t (m);
			CREATE INDEX ON t (m COLLATE "und-x-icu" DESC, i);
			CREATE INDEX CONCURRENTLY ON t (pad, i);
			CREATE INDEX ON t ((h % 100)) WHERE i % 3 > 0;
			CREATE UNIQUE INDEX ON t (h, i) INCLUDE (pad);
			CREATE INDEX ON t ((i * 0)) INCLUDE (pad);
			SELECT built, given_up FROM gpusort_index_builds()));
		is($built, '8|0', "$workers workers: all indexes are ours");
		my $checks = $node->safe_psql('postgres', "SELECT * FROM check_indexes($workers > 0)");
		is($checks, '8 valid', "$workers workers: and valid");
		$node->safe_psql('postgres', 'DROP TABLE IF EXISTS u; DO $$ DECLARE i regclass; BEGIN FOR i IN SELECT indexrelid FROM pg_index WHERE indrelid = \'t\'::regclass LOOP EXECUTE \'DROP INDEX \' || i; END LOOP; END $$');
	}
	my (undef, $err) = session_of($node, "SET maintenance_work_mem = '1MB'", 'CREATE UNIQUE INDEX broken ON t (few)');
	like($err, qr/could not create unique index "broken"\nDETAIL:  Key \(few\)=\(-?\d+\) is duplicated/, 'duplicates are found');
	is(service($node, 'pool_bytes_free'), $pool_bytes, 'the pool is free after builds');
	is_deeply([ spilled_files($node) ], [], 'no files are left of builds');
}

# ---------- by the server's rules ----------

if (part('server'))
{
	analyzed_plan_of($node, $query);
	my $log = slurp_file($node->logfile);
	like($log, qr{temporary file: path "base/pgsql_tmp/pgsql_tmp\d+\.\d+\.fileset/gpusort\.\d+\.rows\.0", size \d+}, 'log_temp_files logs them');
	ok($node->poll_query_until('postgres', q(SELECT temp_bytes > 25000000 FROM pg_stat_database WHERE datname = 'postgres')), 'pg_stat_database counts them');

	mkdir $node->basedir . "/space$_" for 1 .. 2;
	$node->safe_psql('postgres', qq(CREATE TABLESPACE space$_ LOCATION '@{[ $node->basedir ]}/space$_')) for 1 .. 2;
	my $before = length slurp_file($node->logfile);
	$node->safe_psql('postgres', 'ALTER DATABASE postgres SET temp_tablespaces = space1, space2');
	same_answer($node, $query, 'in tablespaces');
	$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET temp_tablespaces');
	$log = substr slurp_file($node->logfile), $before;
	like($log, qr{temporary file: path "pg_tblspc/\d+/PG_[^"]*/gpusort}, 'temp_tablespaces are used');
	unlike($log, qr{temporary file: path "base/pgsql_tmp/[^"]*gpusort}, '... and no other');

	my ($limited, $err) = session_of($node, "SET temp_file_limit = '1MB'", "SET maintenance_work_mem = '1MB'", "SELECT count(q::text) FROM ($query OFFSET 0) q", 'SET max_parallel_workers_per_gather = 0',
		"SELECT count(q::text) FROM ($query OFFSET 0) q", "CREATE INDEX ON t (pad)", 'SELECT 1');
	my @limited = $err =~ /ERROR:  temporary file size exceeds "?temp_file_limit/g;
	is(scalar @limited, 3, 'temp_file_limit holds');
	like($limited, qr/^1$/, '... and the session goes on');
	is_deeply([ spilled_files($node) ], [], '... without files');
	is(service($node, 'pool_bytes_free'), $pool_bytes, '... and without extents');
}

# ---------- in the middle ----------

# A session that has runs and sleeps in the middle of its rows; its process, and what waits for it.
sub begin_sleeper
{
	my $sleeping = q(SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep');
	my $out = '';
	my $run = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', 'SET max_parallel_workers_per_gather = 0', '-c',
		"SELECT CASE WHEN row_number() OVER () = 100 THEN pg_sleep(600) END, q::text FROM ($query OFFSET 0) q" ], '<', \undef, '>', \$out, '2>', \$out);

	ok($node->poll_query_until('postgres', "SELECT count(*) = 1 FROM ($sleeping) s"), 'a session sleeps in the middle of its rows');
	cmp_ok(scalar(spilled_files($node)), '>', 0, '... and has files');
	return ($run, $node->safe_psql('postgres', $sleeping));
}

if (part('middle'))
{
	my ($run, $pid) = begin_sleeper();
	$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid, 10000)");
	$run->finish;
	is_deeply([ spilled_files($node) ], [], 'a terminated session leaves none');
	is(service($node, 'pool_bytes_free'), $pool_bytes, '... and no extents');

	my (undef, $err) = session_of($node, 'SET statement_timeout = 1000', 'SET max_parallel_workers_per_gather = 0',
		"SELECT CASE WHEN row_number() OVER () = 200000 THEN pg_sleep(600) END, q::text FROM ($query OFFSET 0) q", reset_timeout(), 'SELECT 1');
	like($err, qr/canceling statement due to statement timeout/, 'a statement times out');
	is_deeply([ spilled_files($node) ], [], '... and leaves no files');
	(undef, $err) = session_of($node, 'SET statement_timeout = 300', "SELECT count(q::text) FROM ($query OFFSET 0) q", reset_timeout(), 'SELECT 1');
	is_deeply([ spilled_files($node) ], [], 'workers that time out leave no files');
	is(service($node, 'pool_bytes_free'), $pool_bytes, '... and no extents');

	$node->append_conf('postgresql.conf', 'restart_after_crash = on');
	reload($node);
	($run, $pid) = begin_sleeper();
	crash($node, $pid);
	$run->finish;
	is_deeply([ spilled_files($node) ], [], 'kill -9: no files are left');
	($run, $pid) = begin_sleeper();
	$node->stop('immediate');
	$run->finish;
	$node->start;
	is_deeply([ spilled_files($node) ], [], 'immediate stop: no files are left');
	same_answer($node, $query, 'after all that');
}

done_testing();
