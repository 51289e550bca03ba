# Rows that gpusortd brings into order: the same answers, from wherever rows come, in
# whatever way they are read, and whatever becomes of gpusortd meanwhile.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

# Rows become ready, and are reordered, in steps.
my $small = '--device-rows=1000 --bucket-rows=1000 --step-rows=3000';
my $node = start_node('main', 'work_mem = 256MB', 'max_parallel_workers_per_gather = 0', 'max_connections = 90',
	'gpusort.pool_size = 1GB', "gpusort.daemon = '" . daemon_of(2) . "'", "gpusort.daemon_options = '$small'",
	"gpusort.engine = 'cuda'", 'gpusort.force = on', 'gpusort.reorder_rows = on', 'restart_after_crash = off',
	'min_parallel_table_scan_size = 0', 'gpusort.slice_pages = 5');
my $serial = 0;
my $idle_bytes;

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE TABLE fixed AS SELECT hashint8extended(i, 0) AS k, i, (i % 100)::int2 AS few FROM generate_series(1, 20000) i;
	CREATE TABLE varied AS
	SELECT hashint8(i) AS h, i, repeat(md5(i::text), (hashint8(i) & 7)) AS m, CASE WHEN i % 3 = 0 THEN i::numeric / 7 END AS n
	FROM generate_series(1, 20000) i;
	CREATE TABLE longer_at_the_end AS SELECT i, CASE WHEN i = 1000 THEN repeat('x', 100) ELSE '' END AS x FROM generate_series(1, 1000) i;
	CREATE TABLE shorter_at_the_end AS SELECT i, CASE WHEN i < 1000 THEN repeat('x', 100) ELSE '' END AS x FROM generate_series(1, 1000) i;
	CREATE TABLE skewed AS
	SELECT hashint8(i) AS h, i, CASE WHEN i % 500 = 0 THEN repeat(md5(i::text), 3000) ELSE '' END AS m
	FROM generate_series(1, 8000) i;
	ALTER TABLE skewed ALTER m SET STORAGE EXTERNAL;
	CREATE TABLE large AS SELECT hashint8extended(i, 0) AS k, i, repeat('x', i % 20) AS x FROM generate_series(1, 300000) i;
	CREATE TABLE tied AS
	SELECT i, i % 7 AS few, CASE WHEN i % 50 < 3 THEN NULL ELSE prefix || repeat(md5(i::text), i % 3 + 1) END COLLATE "C" AS s, repeat('x', i % 11) AS x
	FROM generate_series(1, 20000) i,
	LATERAL (SELECT CASE WHEN i % 10 < 6 THEN 'u' || lpad((i * 7919 % 20011)::text, 7, '0') WHEN i % 10 < 9 THEN 'g' || lpad((i / 600)::text, 7, '0')
		ELSE 'p' || lpad((i / 20)::text, 7, '0') END) p (prefix);
	DELETE FROM tied WHERE s IS NULL AND i > 2000;
	VACUUM ANALYZE));
tables_stay();
ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'gpusortd comes up');
$idle_bytes = service($node, 'pool_bytes_free');

# Another gpusortd, with these options; a new process even if nothing has changed.
sub restart_daemon
{
	my ($options) = @_;

	$serial++;
	set_daemon($node, daemon_of(2), "$small --device-memory=" . (1000 + $serial) . "MB $options");
}

sub comes_back
{
	my ($label) = @_;

	ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), "$label: gpusortd is back");
	all_is_free($node, $idle_bytes, $label);
}

sub reordered
{
	my ($query, @settings) = @_;

	return analyzed_plan_of($node, $query, @settings) =~ /Reordered Rows: (\d+)/ ? $1 : 0;
}

if (part('rows'))
{
	# Every kind of row
	for my $case (
		[ 'SELECT * FROM fixed ORDER BY k', 20000 ], [ 'SELECT * FROM fixed ORDER BY few DESC, i', 20000 ],
		[ 'SELECT i, few FROM fixed ORDER BY i DESC', 20000 ], [ 'SELECT * FROM varied ORDER BY h, i', 20000 ],
		[ 'SELECT h, n, i FROM varied ORDER BY i DESC', 20000 ], [ 'SELECT * FROM skewed ORDER BY h, i', 8000 ],
		[ 'SELECT m || h AS t, i FROM skewed ORDER BY i DESC', 8000 ], [ 'SELECT * FROM large ORDER BY k', 300000 ],
		[ 'SELECT * FROM longer_at_the_end ORDER BY i DESC', 1000 ], [ 'SELECT * FROM longer_at_the_end ORDER BY i', 1000 ],
		[ 'SELECT * FROM shorter_at_the_end ORDER BY i DESC', 1000 ], [ 'SELECT * FROM fixed WHERE i < 3 ORDER BY k', 2 ])
	{
		my ($query, $rows) = @$case;

		is(reordered($query), $rows, "$query: reordered");
		same_answer($node, $query, $query);
		all_is_free($node, $idle_bytes, $query);
	}

	# Strings that are refined: all rows but those that tied before.
	for my $case (
		[ 'SELECT * FROM tied ORDER BY s, i', 10800 ], [ 'SELECT * FROM tied ORDER BY s DESC NULLS LAST, i', 10800 ],
		[ 'SELECT x, s FROM tied ORDER BY s NULLS FIRST, i DESC', 10800 ], [ 'SELECT i, s FROM tied ORDER BY few, s, i', 12800 ],
		[ 'SELECT i, s FROM tied WHERE i % 10 < 6 AND s IS NOT NULL ORDER BY s', 10800 ])
	{
		my ($query, $rows) = @$case;

		is(reordered($query), $rows, "$query: reordered but for ties");
		same_answer($node, $query, $query);
		all_is_free($node, $idle_bytes, $query);
	}

	# Who is not reordered: strings of which many are equal, and where it was not asked for.
	is(reordered('SELECT * FROM varied ORDER BY m COLLATE "C", i'), 0, 'strings of which many are equal are not reordered');
	same_answer($node, 'SELECT * FROM varied ORDER BY m COLLATE "C", i', 'many equal strings');
	is(reordered('SELECT * FROM fixed ORDER BY few::text COLLATE "C.utf8", i'), 0, 'libc collations, which are verified, are not reordered');
	same_answer($node, 'SELECT * FROM fixed ORDER BY few::text COLLATE "C.utf8", i', 'libc collation');
	is(reordered('SELECT * FROM fixed ORDER BY k', 'gpusort.reorder_rows' => 'off'), 0, 'reorder_rows = off');
	is($node->safe_psql('postgres', q(SELECT boot_val FROM pg_settings WHERE name = 'gpusort.reorder_rows')), 'auto', 'auto is the default');
	is(reordered('SELECT * FROM large ORDER BY k', 'gpusort.reorder_rows' => 'auto'), 0, 'auto leaves simulated devices alone');
	is(reordered('SELECT * FROM large ORDER BY k', 'gpusort.engine' => 'host'), 0, 'engine = host');
	like($node->safe_psql('postgres', 'EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM fixed ORDER BY k'),
		qr/"Reordered Rows": 20000,/, 'JSON tells');

	# Memory for the rows, but not for all of them twice
	is(reordered('SELECT * FROM large ORDER BY k', 'gpusort.pool_quota' => 4), 0, 'a small quota is for the sort');
	same_answer($node, 'SELECT * FROM large ORDER BY k', 'small quota', 'gpusort.pool_quota' => 4);
	restart_daemon('--device-memory=24MB');
	is(reordered('SELECT * FROM large ORDER BY k'), 0, 'little device memory');
	same_answer($node, 'SELECT * FROM large ORDER BY k', 'little device memory');
	all_is_free($node, $idle_bytes, 'little device memory');
	restart_daemon('');
}

# Ways of reading
if (part('reading'))
{
	for my $reading (
		[ 'back and forth', q(DECLARE c SCROLL CURSOR FOR SELECT * FROM varied ORDER BY h, i;
			FETCH 70 FROM c; FETCH BACKWARD 65 FROM c; MOVE 10000 IN c; FETCH BACKWARD 3 FROM c; MOVE LAST IN c;
			FETCH BACKWARD 40 FROM c; FETCH FIRST FROM c; FETCH ABSOLUTE 12345 FROM c) ],
		[ 'with hold', q(DECLARE c CURSOR WITH HOLD FOR SELECT * FROM fixed ORDER BY k; COMMIT; FETCH 100 FROM c; CLOSE c; BEGIN) ],
		[ 'the first rows only', 'SELECT * FROM fixed ORDER BY k OFFSET 5 LIMIT 3' ],
		[ 'merge join with marks', q(SET LOCAL enable_hashjoin = off; SET LOCAL enable_nestloop = off;
			SELECT count(*), sum(a.i::int8 * b.i) FROM fixed a JOIN fixed b ON a.few = b.few) ],
		[ 'rescans', q(SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off; SET LOCAL enable_material = off;
			SELECT g, s.i, s.h FROM generate_series(1, 3) g
			CROSS JOIN LATERAL (SELECT * FROM varied WHERE i % 10 = g ORDER BY h, i OFFSET 0) s) ],
		[ 'the same rows again', q(SELECT g, s.i, s.h FROM generate_series(1, 3) g
			LEFT JOIN (SELECT * FROM varied ORDER BY h, i OFFSET 0) s ON s.i < g + 100) ],
		[ 'a window function', 'SELECT i, lag(m) OVER w, lead(n, 3) OVER w FROM varied WINDOW w AS (ORDER BY h, i)' ])
	{
		my ($label, $statements) = @$reading;
		my ($ours) = session_of($node, 'BEGIN', $statements, 'COMMIT');
		my ($theirs) = session_of($node, 'SET gpusort.enabled = off', 'BEGIN', $statements, 'COMMIT');

		isnt($ours, '', "$label: there are rows");
		is($ours, $theirs, "$label: PostgreSQL's rows");
		all_is_free($node, $idle_bytes, $label);
	}
	my @parallel = (max_parallel_workers_per_gather => 2, parallel_setup_cost => 0, parallel_tuple_cost => 0, 'gpusort.cost_gather' => 0);
	$node->safe_psql('postgres', 'ALTER TABLE large SET (parallel_workers = 2)');
	like(analyzed_plan_of($node, 'SELECT * FROM large ORDER BY k', @parallel), qr/Reordered Rows: 300000.*Gather.*Workers Launched: 2/s,
		'rows that parallel workers collect are reordered');
	same_answer($node, 'SELECT * FROM large ORDER BY k', 'in parallel workers', @parallel);
	$node->safe_psql('postgres', 'ALTER TABLE large RESET (parallel_workers)');
	$node->safe_psql('postgres', 'ALTER TABLE tied SET (parallel_workers = 2)');
	like(analyzed_plan_of($node, 'SELECT * FROM tied ORDER BY s, i', @parallel), qr/Reordered Rows: 10800.*Gather.*Workers Launched: 2/s,
		'... strings, too');
	same_answer($node, 'SELECT * FROM tied ORDER BY s, i', 'strings in parallel workers', @parallel);
	$node->safe_psql('postgres', 'ALTER TABLE tied RESET (parallel_workers)');
	same_answer($node, 'SELECT * FROM large ORDER BY k', 'verified', 'gpusort.verify' => 'on');
	all_is_free($node, $idle_bytes, 'ways of reading');
}

# Indexes: by one process and by several.  expected: 'reordered', or '' if the tuples are
# written from where they arrived; undef if it depends on who has read them.
sub index_is_right
{
	my ($label, $definition, $expected, @settings) = @_;
	my (undef, $messages) = session_of($node, (map { "SET $_" } @settings), 'SET client_min_messages = debug1',
		sprintf($definition, 'ours'));
	my ($log) = $messages =~ /(gpusort: built index .*)/;
	my ($slices) = $messages =~ /(\d+) slices/;
	my $longer;

	like($log // $messages, !defined $expected ? qr/ ms(, reordered)?$/ : $expected ? qr/, $expected$/ : qr/ ms$/,
		"$label: " . (($expected // 'built') || 'not reordered'));
	is($node->safe_psql('postgres', "SELECT bt_index_parent_check('ours', true, true)"), '', "$label: the index is right");
	$node->safe_psql('postgres', 'SET gpusort.enabled = off; ' . sprintf($definition, 'theirs'));
	$longer = $node->safe_psql('postgres', "SELECT abs(pg_relation_size('ours') - pg_relation_size('theirs')) / 8192");
	cmp_ok($longer, '<=', $slices // -1, "$label: it is as long as PostgreSQL's, but for the slices' last pages");
	$node->safe_psql('postgres', 'DROP INDEX ours, theirs');
	all_is_free($node, $idle_bytes, $label);
	return $log;
}

if (part('indexes'))
{
	for my $workers (0, 2)
	{
		my @settings = ("max_parallel_maintenance_workers = $workers");
		my $by = $workers ? 'by workers' : 'by the leader';

		$node->safe_psql('postgres', "ALTER TABLE $_ SET (parallel_workers = $workers)") for 'large', 'varied';
		# keys that tie are put in order once more, unless all rows were read by one process
		for my $case ([ 'one length', 'CREATE INDEX %s ON large (k)', 'reordered' ],
			[ 'many lengths', 'CREATE INDEX %s ON large (k) INCLUDE (x)', 'reordered' ],
			[ 'unique', 'CREATE UNIQUE INDEX %s ON large (k, i)', 'reordered' ],
			[ 'unique but for nulls', 'CREATE UNIQUE INDEX %s ON varied ((CASE WHEN i %% 3 = 0 THEN i END))', $workers ? undef : 'reordered' ],
			[ 'equal keys', 'CREATE INDEX %s ON large ((i %% 1000))', $workers ? undef : 'reordered' ],
			[ 'refined', 'CREATE INDEX %s ON varied (m COLLATE "C")', '' ])
		{
			my ($label, $definition, $expected) = @$case;
			my $log = index_is_right("index, $label, $by", $definition, $expected, @settings);

			like($log, $workers ? qr/[1-9]\d* slices/ : qr/ 0 workers, 0 slices/, "index, $label: written $by") if $label eq 'one length';
		}
	}

	# Tuples of dead rows carry a mark that an index must not have.
	{
		my $reader = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
				'-c', "SET application_name = 'reader'; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1; SELECT pg_sleep(60); COMMIT" ],
			'>', \my $out, '2>', \my $err, time_limit());

		$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity
			WHERE application_name = 'reader' AND wait_event = 'PgSleep')) or die 'no reader';
		$node->safe_psql('postgres', 'DELETE FROM large WHERE i % 1000 = 0');
		tables_stay();
		index_is_right('index, dead rows', 'CREATE UNIQUE INDEX %s ON large (k)', '');
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reader'");
		$reader->finish;
	}
}

if (part('faults'))
{
	# gpusortd dies, or hangs and is replaced, while the build waits for it.
	$node->safe_psql('postgres', "ALTER SYSTEM SET gpusort.daemon_timeout = '1s'");
	for my $fault ('crash-reorder', 'stop-reorder')
	{
		my $pid;

		restart_daemon("--inject-fault=$fault:1");
		$pid = service($node, 'pid');
		index_is_right("index, $fault", 'CREATE INDEX %s ON large (k)', '', 'max_parallel_maintenance_workers = 2');
		ok($node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $pid FROM gpusort_service()"), "index, $fault: replaced");
		restart_daemon('');
	}
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpusort.daemon_timeout');

	# gpusortd dies when the first rows are in order: some come from there, and all are right.
	for my $query ('SELECT * FROM fixed ORDER BY k', 'SELECT * FROM varied ORDER BY h, i', 'SELECT * FROM large ORDER BY k')
	{
		my $some;

		restart_daemon('--inject-fault=crash-reorder:1');
		$some = reordered($query);
		cmp_ok($some, '>', 2000, "crash, $query: some rows were reordered");
		cmp_ok($some, '<', 20000, "crash, $query: and some not");
		restart_daemon('--inject-fault=crash-reorder:1');
		same_answer($node, $query, "crash, $query");
		comes_back("crash, $query");
	}

	# An operation of the device fails, among them those that reorder.
	for my $n (map { 7 * $_ } 1 .. 8)
	{
		restart_daemon("--inject-fault=operation:$n");
		same_answer($node, $n % 2 ? 'SELECT * FROM fixed ORDER BY k' : 'SELECT * FROM varied ORDER BY h, i', "operation $n fails");
		is(service($node, 'state'), 'up', "operation $n fails: gpusortd goes on");
	}
	all_is_free($node, $idle_bytes, 'failing operations');
}

if (part('hang'))
{
	# It hangs: whoever waits goes on after a while, and it is replaced.
	$node->safe_psql('postgres', "ALTER SYSTEM SET gpusort.daemon_timeout = '1s'");
	reload($node);
	restart_daemon('--inject-fault=stop-reorder:1');
	{
		my $pid = service($node, 'pid');

		same_answer($node, 'SELECT * FROM varied ORDER BY h, i', 'hanging gpusortd');
		ok($node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $pid FROM gpusort_service()"),
			'hanging gpusortd: replaced');
		all_is_free($node, $idle_bytes, 'hanging gpusortd');
	}
	$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpusort.daemon_timeout');
	reload($node);

	# Processes that read sorted strings have no use for the copy: who makes a table with them does not wait for it.
	restart_daemon('--inject-fault=stop-reorder:1');
	{
		my $pid = service($node, 'pid');
		my $make = 'SET max_parallel_workers_per_gather = 2; CREATE TABLE %s AS SELECT i, s FROM tied ORDER BY s, i';

		# less than gpusort.daemon_timeout, after which it would go on without the copy
		$node->safe_psql('postgres', q(SET statement_timeout = '40s'; ) . sprintf($make, 'ours'));
		is(service($node, 'pid'), $pid, 'table of strings: it was not waited for');
		# it may yet have to notice that the job is over, or to stop
		sleep 0.02 until is_stopped($pid) || service($node, 'jobs_open') == 0;
		kill 'CONT', $pid;
		$node->safe_psql('postgres', 'SET gpusort.enabled = off; ' . sprintf($make, 'theirs'));
		is($node->safe_psql('postgres', q(SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY ctid) n, o.* FROM ours o) o
			FULL JOIN (SELECT row_number() OVER (ORDER BY ctid) n, t.* FROM theirs t) t USING (n, i) WHERE o.s IS DISTINCT FROM t.s OR o.n IS NULL OR t.n IS NULL)),
			0, 'table of strings: PostgreSQL\'s rows');
		$node->safe_psql('postgres', 'DROP TABLE ours, theirs');
		all_is_free($node, $idle_bytes, 'table of strings');
	}
}

# Cancelled while rows come from there; what gpusortd may still write stays with the job.
if (part('cancel'))
{
	my $milliseconds = 700;
	for my $end ('statement_timeout', 'pg_cancel_backend', 'pg_terminate_backend')
	{
		my $label = "$end while reordering";
		my ($out, $err, $pid, $victim) = ('', '');

		restart_daemon('--inject-fault=stop-reorder:1');
		$pid = service($node, 'pid');
		$victim = IPC::Run::start(
			[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SET application_name = 'victim'",
				'-c', 'SET statement_timeout = ' . ($end eq 'statement_timeout' ? $milliseconds : 0),
				'-c', 'SELECT count(*) FROM (SELECT * FROM varied ORDER BY h, i OFFSET 0) s', '-c', "SELECT 'alive'" ],
			'>', \$out, '2>', \$err, time_limit());
		if ($end ne 'statement_timeout')
		{
			$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity
				WHERE application_name = 'victim' AND wait_event_type = 'Extension')) or die "$label: no victim";
			wait_until_stopped($pid);
			$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'victim'");
		}
		$victim->finish;
		# on a slow machine the time may have been over before gpusortd had the rows
		if ($end eq 'statement_timeout' && !is_stopped($pid))
		{
			$milliseconds *= 4;
			redo;
		}
		like($err, $end eq 'statement_timeout' ? qr/statement timeout/ :
			$end eq 'pg_cancel_backend' ? qr/due to user request/ : qr/terminating connection/, "$label: the error is reported");
		is($out, $end eq 'pg_terminate_backend' ? '' : "alive\n", "$label: the session goes on, or not");
		cmp_ok(service($node, 'pool_bytes_free'), '<', $idle_bytes, "$label: gpusortd keeps what it may still touch");
		kill 'CONT', $pid;
		all_is_free($node, $idle_bytes, $label);
		is(service($node, 'pid'), $pid, "$label: gpusortd goes on");
		same_answer($node, 'SELECT * FROM varied ORDER BY h, i', "$label: the next sort");
	}
}

# kill -9 again and again while 20 sessions read.
if (part('kill'))
{
	restart_daemon('');
	kill_daemons($node, ordered_digest('SELECT * FROM varied ORDER BY h, i'), 20, 6);
	restart_daemon('');
	comes_back('kill -9');
}

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|server process .* was terminated|leak|WARNING/, 'nothing odd in the log');
done_testing();
