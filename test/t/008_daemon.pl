# Sorting in gpusortd, on simulated devices: answers, counters, settings, and what
# the machinery costs.
# Runs alone: takes files of the installation away for a while.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use File::Copy;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'work_mem = 256MB', 'max_parallel_workers_per_gather = 0', 'max_connections = 90',
	'gpusort.pool_size = 768MB', "gpusort.daemon = 'host:5'", "gpusort.engine = 'cuda'", 'gpusort.force = on');
my $idle_bytes;

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 1000)::int2 AS few, md5(i::text) COLLATE "C" AS m,
		CASE WHEN i % 7 <> 0 THEN hashint8(i)::numeric / 7 END AS n,
		md5((i % 1000)::text)::uuid AS u, hashint8(i)::float8 / 1e6 AS f,
		timestamp '2020-01-01' + i * interval '1 minute' AS ts, 'prefix/' || (hashint8(i) % 50000) AS tx
	FROM generate_series(1, 12000) i;
	CREATE TABLE large AS SELECT hashint8extended(i, 0) AS k, i FROM generate_series(1, 550000) i;
	VACUUM ANALYZE));
tables_stay();

# It starts with the server, which does not wait for it.
ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'gpusortd comes up');
$idle_bytes = service($node, 'pool_bytes_free');
is($idle_bytes, service($node, 'pool_bytes'), 'the whole pool is free');

if (part('devices'))
{
	# Every number of devices gives PostgreSQL's answer, position by position.
	my @orders = (
		'h, i', 'h DESC, i DESC', 'few, i', 'few DESC, m', 'm', 'm DESC, i', 'n NULLS FIRST, i', 'n DESC NULLS LAST, i',
		'u, h, few, n, i', 'f DESC, i', 'ts', 'tx, i', 'tx COLLATE "C" DESC, few, h, f, ts, i');

	for my $devices (1, 3, 4)
	{
		my ($done, $fallbacks);

		set_daemon($node, "host:$devices");
		is(service($node, 'devices'), $devices, "host:$devices: so many devices");
		is($node->safe_psql('postgres', 'SELECT count(*), min(cardinality(peers)) FROM gpusort_devices()'),
			"$devices|" . ($devices - 1), "host:$devices: gpusort_devices() shows them");
		($done, $fallbacks) = (service($node, 'jobs_done'), service($node, 'fallbacks'));
		for my $order (@orders)
		{
			my $label = "host:$devices, ORDER BY $order";

			like(analyzed_plan_of($node, "SELECT * FROM t ORDER BY $order"),
				qr/Engine: simulated  Devices: \d+  Key: \d+ bits/, "$label: sorted by gpusortd");
			same_answer($node, "SELECT * FROM t ORDER BY $order", $label);
		}
		cmp_ok(service($node, 'jobs_done') - $done, '>=', 2 * @orders, "host:$devices: jobs are counted");
		is(service($node, 'fallbacks'), $fallbacks, "host:$devices: nothing was sorted elsewhere");
		same_answer($node, 'SELECT * FROM large ORDER BY k', "host:$devices, fed while collecting");
		same_answer($node, 'SELECT * FROM large ORDER BY k DESC, i', "host:$devices, two planes fed");
		all_is_free($node, $idle_bytes, "host:$devices");
	}
}

# Strings are fed while collecting as soon as they don't all begin alike, and numbered by devices.
if (part('strings'))
{
	my $jobs = 'CASE WHEN i = 550000 THEN (SELECT jobs_open FROM gpusort_service()) END AS jobs';

	$node->safe_psql('postgres', q(
		CREATE TABLE strings AS
		SELECT i, md5(i::text) COLLATE "C" AS m, left(md5(i::text), 7) COLLATE "C" AS short,
			CASE WHEN i % 11 <> 0 THEN md5((i % 5000)::text) COLLATE "C" END AS sparse,
			('some/prefix/' || i) COLLATE "C" AS alike
		FROM generate_series(1, 550000) i;
		VACUUM ANALYZE strings));
	like(analyzed_plan_of($node, 'SELECT * FROM t ORDER BY m'), qr/Key: 32 bits/, 'hexadecimal digits are numbered');
	for my $case ([ 'm', 1 ], [ 'short DESC, i', 1 ], [ 'sparse NULLS FIRST, i', 1 ], [ 'alike', 0 ], [ 'i, m', 1 ])
	{
		my ($order, $open) = @$case;

		same_answer($node, "SELECT i, m FROM strings ORDER BY $order", "strings, ORDER BY $order");
		all_is_free($node, $idle_bytes, "strings, ORDER BY $order");
		is($node->safe_psql('postgres',
			"SELECT max(jobs) FROM (SELECT *, $jobs FROM strings ORDER BY $order OFFSET 0) s"),
			$open, "strings, ORDER BY $order: " . ($open ? 'fed' : 'not fed') . ' while collecting');
	}
	all_is_free($node, $idle_bytes, 'strings');
}

if (part('buckets'))
{
	# Rows are returned while others are being sorted.
	set_daemon($node, 'host:3', '--device-rows=1000 --bucket-rows=1000 --step-rows=5000');
	for my $order ('k', 'k DESC, i', 'k % 16, i')
	{
		same_answer($node, "SELECT * FROM large ORDER BY $order", "many buckets, ORDER BY $order");
	}
	is($node->safe_psql('postgres', q(
		BEGIN;
		DECLARE c SCROLL CURSOR FOR SELECT k FROM large ORDER BY k;
		MOVE 100 IN c; MOVE BACKWARD 50 IN c; MOVE LAST IN c; MOVE 10 IN c;
		FETCH FIRST FROM c;
		COMMIT)),
		$node->safe_psql('postgres', 'SELECT min(k) FROM large'), 'a cursor moves over rows that are not ready');
	all_is_free($node, $idle_bytes, 'many buckets');

	# A refinement, and a verification, want all rows.
	for my $verify ('off', 'on')
	{
		same_answer($node, 'SELECT * FROM t ORDER BY m, i', "text, verify = $verify", 'gpusort.verify' => $verify);
		same_answer($node, 'SELECT * FROM large ORDER BY k', "int8, verify = $verify", 'gpusort.verify' => $verify);
	}
}

if (part('jobs'))
{
	# More sorts at a time than there are jobs: gpusortd is stopped meanwhile.
	{
		my $pid = service($node, 'pid');
		my $fallbacks = service($node, 'fallbacks');
		my $script = $node->basedir . '/sort.sql';
		my ($out, $err, $pgbench) = ('', '');

		append_to_file($script, 'SELECT 1 / (count(*) = 100)::int FROM (SELECT i FROM generate_series(1, 100) i ORDER BY -i OFFSET 0) s;');
		kill 'STOP', $pid;
		$pgbench = IPC::Run::start(
			[ 'pgbench', '-n', '-c', '70', '-t', '1', '-f', $script, $node->connstr('postgres') ],
			'>', \$out, '2>', \$err, time_limit());
		ok($node->poll_query_until('postgres', "SELECT jobs_open = 64 AND jobs_queued = 64 AND fallbacks = $fallbacks + 6 FROM gpusort_service()"),
			'64 jobs are open, and wait, the others sort by themselves') or diag $node->safe_psql('postgres', 'SELECT * FROM gpusort_service()');
		kill 'CONT', $pid;
		$pgbench->finish;
		like($out, qr{transactions actually processed: 70/70}, 'all 70 sorts come out');
		all_is_free($node, $idle_bytes, '70 sorts');
	}

	# Cursors that rest after their first row hold no jobs, however many there are.
	set_daemon($node, 'host:1', '--device-rows=200 --bucket-rows=50 --step-rows=200');
	{
		my @fallbacks = service($node, 'fallbacks');
		my @sessions = map { $node->background_psql('postgres', on_error_stop => 0) } 1 .. 2;
		my $query = 'SELECT i FROM t ORDER BY h, i';
		my ($first, $last) = map { $node->safe_psql('postgres', "SET gpusort.enabled = off; $query $_") } 'LIMIT 1', 'OFFSET 11999';
		my $rested;

		for my $session (@sessions)
		{
			$session->query_safe('BEGIN');
			$session->query_safe("DECLARE c$_ SCROLL CURSOR FOR $query") for 1 .. 35;
			$rested .= $session->query_safe("FETCH 1 FROM c$_") for 1 .. 35;
		}
		is($rested =~ s/\n//gr, $first x 70, '70 cursors: the first row of each');
		ok($node->poll_query_until('postgres', 'SELECT jobs_open = 0 FROM gpusort_service()'), '70 cursors: no jobs are open');
		like(analyzed_plan_of($node, $query), qr/Engine: simulated/, '70 cursors: the next sort is done by gpusortd');
		is(service($node, 'fallbacks'), $fallbacks[0], '70 cursors: nothing was sorted elsewhere');
		$rested = join '', map { $sessions[1]->query_safe("FETCH LAST FROM c$_") } 1 .. 35;
		is($rested =~ s/\n//gr, $last x 35, '70 cursors: they go on');
		$_->quit for @sessions;
		all_is_free($node, $idle_bytes, '70 cursors');
	}
}

# Who asks for gpusortd, and who does not.
my $query = 'SELECT h FROM t ORDER BY h';
if (part('settings'))
{
	set_daemon($node, 'host:2');
	like(analyzed_plan_of($node, $query, 'gpusort.engine' => 'auto'), qr/Engine: host  /,
		'engine = auto does not take simulated devices');
	like(analyzed_plan_of($node, $query, 'gpusort.engine' => 'host'), qr/Engine: host  /, 'engine = host stays');
	unlike(analyzed_plan_of($node, $query, 'gpusort.engine' => 'host'), qr/Fallback/, '... and that is no fallback');
	like(analyzed_plan_of($node, $query, 'gpusort.pool_quota' => 0), qr/Engine: host .*Fallback: the pool is full/,
		'private memory is not for gpusortd');

	# EXPLAIN in other formats
	my $json = $node->safe_psql('postgres', "EXPLAIN (ANALYZE, FORMAT JSON) $query");
	like($json, qr/"Engine": "simulated"/, 'JSON: engine');
	like($json, qr/"Devices": [12],/, 'JSON: devices');
	like($json, qr/"Rounds": 1,/, 'JSON: rounds');
	unlike($json, qr/"Fallback"/, 'JSON: no fallback');

	# Parallel workers
	same_answer($node, 'SELECT k FROM large ORDER BY k', 'in parallel workers',
		max_parallel_workers_per_gather => 2, parallel_setup_cost => 0, parallel_tuple_cost => 0, 'gpusort.cost_gather' => 0,
		min_parallel_table_scan_size => 0);
	all_is_free($node, $idle_bytes, 'parallel workers');

	# Settings
	for my $case (
		[ 'gpusort.daemon', 'on' ], [ 'gpusort.daemon', 'host:0' ], [ 'gpusort.daemon', 'host:17' ],
		[ 'gpusort.daemon', 'host:3x' ], [ 'gpusort.devices', '' ], [ 'gpusort.devices', '0,0' ],
		[ 'gpusort.devices', '0,' ], [ 'gpusort.devices', 'none' ], [ 'gpusort.device_memory', '80' ],
		[ 'gpusort.device_memory', '0%' ], [ 'gpusort.device_memory', '101%' ], [ 'gpusort.device_memory', '4 GB' ])
	{
		my ($name, $value) = @$case;
		my ($rc, $out, $err) = $node->psql('postgres', "ALTER SYSTEM SET $name = '$value'");

		ok($rc != 0 && $err =~ /invalid value.*Valid values/s, "$name = '$value' is refused, with a hint");
	}
	set_daemon($node, 'off', '', 'off');
	is(service($node, 'pid'), '', 'daemon = off: no process');
	like(analyzed_plan_of($node, $query), qr/Engine: host  (?!.*Fallback)/, 'daemon = off: the host sorts');
	same_answer($node, $query, 'daemon = off');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM gpusort_devices()'), '0', 'daemon = off: no devices');
}

# The program that is started: the one beside the library, or else the server's.
if (part('program'))
{
	my $installed = $node->config_data('--pkglibdir');
	my $ours = $node->basedir . '/lib';
	my $program = sub { readlink '/proc/' . service($node, 'pid') . '/exe' };

	set_daemon($node, 'host:1');
	is($program->(), "$installed/gpusortd", 'gpusortd is the installed one');

	mkdir $ours or die $!;
	for my $file ('gpusort.so', 'gpusortd')
	{
		copy("$installed/$file", "$ours/$file") or die $!;
		chmod 0755, "$ours/$file";
	}
	# functions of the library that is preloaded, wherever it lies
	$node->safe_psql('postgres', q(UPDATE pg_proc SET probin = 'gpusort' WHERE probin = '$libdir/gpusort'));
	$node->append_conf('postgresql.conf', "dynamic_library_path = '$ours:\$libdir'");
	$node->restart;
	ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'loaded from elsewhere: gpusortd comes up');
	is($program->(), "$ours/gpusortd", 'loaded from elsewhere: the one beside the library');

	unlink "$ours/gpusortd";
	set_daemon($node, 'host:2');
	is($program->(), "$installed/gpusortd", '... or the installed one if there is none');

	rename "$installed/gpusortd", "$installed/gpusortd.gone" or die $!;
	set_daemon($node, 'host:1', '', 'down');
	# long paths are cut off
	ok($node->poll_query_until('postgres', "SELECT starts_with(message, 'there is no program gpusortd in $ours or /') FROM gpusort_service()"), '... or none')
		or diag service($node, 'message');
	rename "$installed/gpusortd.gone", "$installed/gpusortd" or die $!;
	set_daemon($node, 'off', '', 'off');
	$node->append_conf('postgresql.conf', "dynamic_library_path = '\$libdir'");
	$node->restart;
}

# gpusortd shares the pool with the server, and nothing else.
if (part('process'))
{
	my ($pid, $supervisor, $status, %files, %ours, @variables);
	my $entries = sub {
		my ($dir) = @_;

		opendir my $handle, $dir or die "$dir: $!";
		return map { $_ => readlink "$dir/$_" } grep { !/^\./ } readdir $handle;
	};

	local $ENV{GPUSORT_TEST_SECRET} = 'hunter2';
	local $ENV{CUDA_VISIBLE_DEVICES} = '0';
	set_daemon($node, 'host:2');
	$node->restart;
	ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'a new server: gpusortd comes up');
	$pid = service($node, 'pid');
	$supervisor = parent_of($pid);
	@variables = map { s/=.*//rs } split /\0/, slurp_file("/proc/$pid/environ");
	is_deeply([ grep { !/^(HOME|LD_LIBRARY_PATH|TMPDIR|(CUDA|NVIDIA)_.*)$/ } @variables ], [], 'environment: what a driver looks for');
	ok((grep { $_ eq 'CUDA_VISIBLE_DEVICES' } @variables), '... which it does get');
	is(readlink "/proc/$pid/cwd", '/', 'directory: the root');
	$status = slurp_file("/proc/$pid/status");
	like($status, qr/^NoNewPrivs:\s*1$/m, 'no new privileges');
	like($status, qr/^Umask:\s*0077$/m, 'files that it makes are its own');
	%files = $entries->("/proc/$pid/fd");
	is_deeply([ sort keys %files ], [ 0 .. 3 ], 'files: the standard ones and one more') or diag explain \%files;
	is_deeply([ @files{ 0, 1 } ], [ '/dev/null', '/dev/null' ], '... nothing to read, nowhere to write');
	like($files{3}, qr/^\/memfd:gpusort pool/, '... the pool');
	isnt(getpgrp($pid), getpgrp($supervisor), 'signals to the supervisor\'s process group are not for it');

	# No process of the server has more of it than that.
	%ours = $entries->("/proc/$supervisor/fd");
	is(scalar(grep { /gpusort pool|eventfd/ } values %ours), 1, 'a process of the server has one descriptor of the pool');
}

# What a job costs: two rows, sorted again and again.
if (part('cost'))
{
	set_daemon($node, 'host:1');
	{
		my ($out, $err) = session_of($node, ('EXPLAIN ANALYZE SELECT i FROM generate_series(1, 2) i ORDER BY -i') x 101);
		my @ms = sort { $a <=> $b } $out =~ /, sort ([0-9.]+) ms/g;

		is(scalar @ms, 101, 'all sorts tell their time');
		note sprintf 'submit, wake, sort two rows, answer, close: median %.3f ms, maximum %.3f ms', $ms[50], $ms[100];
		# a call that is lost is seen a second later, or never; a machine may be busy with others now and then
		cmp_ok($ms[25], '<', 100, 'an idle gpusortd answers when it is called');
	}
}

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|leak/, 'nothing odd in the log');

# A server without a pool
if (part('none'))
{
	$node->append_conf('postgresql.conf', "gpusort.pool_size = 0");
	$node->start;
	is($node->safe_psql('postgres', 'SELECT state, pid, jobs_done, pool_bytes FROM gpusort_service()'), 'off||0|0',
		'no pool: gpusort_service()');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM gpusort_devices()'), '0', 'no pool: gpusort_devices()');
	same_answer($node, $query, 'no pool');
	$node->stop;
	$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
	$node->start;
	is($node->safe_psql('postgres', "LOAD 'gpusort'; SELECT state, pid, jobs_done, pool_bytes FROM gpusort_service()"), 'off||0|0',
		'not preloaded: gpusort_service()');
	$node->stop;
}
done_testing();
