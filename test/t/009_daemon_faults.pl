# Whatever happens to gpusortd, sessions get the right answer, the server stays up,
# and pool, jobs and device memory are given back.
# Runs alone: takes files of the installation away for a while.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use POSIX ();
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

# Orphans become children of this process, which takes no notice of their deaths, as if
# it were an init that does not: prctl(PR_SET_CHILD_SUBREAPER, 1).
my $prctl = { x86_64 => 157, aarch64 => 167 }->{ (POSIX::uname())[4] };
my $subreaper = defined $prctl && syscall($prctl, 36, 1, 0, 0, 0) == 0;

# Small jobs on all devices, and rows that become ready step by step.
my $small = '--device-rows=1000 --bucket-rows=1000 --step-rows=2000';
my $node = start_node('main', 'work_mem = 256MB', 'max_parallel_workers_per_gather = 0', 'max_connections = 90',
	'gpusort.pool_size = 1GB', "gpusort.daemon = '" . daemon_of(3) . "'", "gpusort.daemon_options = '$small'",
	"gpusort.engine = 'cuda'", 'gpusort.force = on', 'restart_after_crash = off');
my $idle_bytes;

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS
	SELECT i, hashint8(i) AS h, md5(i::text) COLLATE "C" AS m, (hashint8(i) % 100)::int2 AS few
	FROM generate_series(1, 20000) i;
	CREATE TABLE few AS SELECT i FROM generate_series(1, 200) i;
	CREATE TABLE large AS SELECT hashint8extended(i, 0) AS k, i FROM generate_series(1, 600000) i;
	VACUUM ANALYZE));
tables_stay();
ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'gpusortd comes up');
$idle_bytes = service($node, 'pool_bytes_free');

my $sort = 'SELECT * FROM t ORDER BY h, i';
my $serial = 0;

# Another gpusortd, with these options; a new process even if nothing has changed.
# GPUs do not fail or damage rows on demand: then devices are simulated.
sub restart_daemon
{
	my ($options, $state) = @_;
	my $daemon = $options =~ /=(?:operation|wrong-|swapped|doubled)/ ? 'host:3' : daemon_of(3);

	$serial++;
	set_daemon($node, $daemon, "$small --device-memory=" . (1000 + $serial) . "MB $options", $state);
}

# The sort falls back, with this reason, and gives the right answer.
sub falls_back
{
	my ($query, $reason, $label) = @_;
	my $before = service($node, 'fallbacks');

	like(analyzed_plan_of($node, $query), qr/Engine: host .*  Fallback: $reason/, "$label: EXPLAIN tells");
	cmp_ok(service($node, 'fallbacks'), '>', $before, "$label: counted");
}

# What gpusort_service() says of the last death, which may not be known yet when the state is.
sub tells
{
	my ($pattern, $label) = @_;

	ok($node->poll_query_until('postgres', "SELECT message ~ '$pattern' FROM gpusort_service()"), $label)
		or diag service($node, 'message');
}

sub comes_back
{
	my ($label) = @_;
	my $begin = time;

	ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), "$label: gpusortd is back");
	# one that has died again and again is started a minute later
	cmp_ok(time - $begin, '<', 45, "$label: soon");
	all_is_free($node, $idle_bytes, $label);
}

# Crashes of the program, before and after the first rows.
if (part('crash'))
{
	for my $query ($sort, 'SELECT * FROM t ORDER BY m, i', 'SELECT * FROM large ORDER BY k')
	{
		for my $fault ('crash:1', 'crash-late:1')
		{
			restart_daemon("--inject-fault=$fault");
			same_answer($node, $query, "$fault, $query");
			comes_back("$fault, $query");
		}
		restart_daemon('--inject-fault=crash:1');
		falls_back($query, 'gpusortd has died', "crash, $query");
	}
}

# The n-th operation of a device fails, for n = 1 .. and further on.
if (part('operations'))
{
	for my $n (1 .. 12, map { 7 * $_ } 2 .. 12)
	{
		restart_daemon("--inject-fault=operation:$n");
		same_answer($node, $n % 2 ? $sort : 'SELECT * FROM t ORDER BY few, m', "operation $n fails");
		is(service($node, 'state'), 'up', "operation $n fails: gpusortd goes on");
	}
	cmp_ok(service($node, 'jobs_failed'), '>', 5, 'failed jobs are counted');
	all_is_free($node, $idle_bytes, 'failing operations');
}

if (part('damage'))
{
	# A device damages rows, in every operation and in some: never is an answer wrong.
	for my $damage ('wrong-key', 'wrong-id', 'swapped', 'swapped-ids', 'doubled')
	{
		for my $query ($sort, 'SELECT * FROM t ORDER BY few, m', 'SELECT * FROM few ORDER BY i / 1000')
		{
			my $failed = service($node, 'jobs_failed');

			# where all keys are equal none is written
			next if $damage eq 'wrong-key' && $query =~ /1000/;

			restart_daemon("--inject-fault=$damage:1");
			same_answer($node, $query, "$damage, $query");
			cmp_ok(service($node, 'jobs_failed'), '>', $failed, "$damage, $query: found");
		}
		restart_daemon("--inject-fault=$damage:20");
		same_answer($node, 'SELECT * FROM t ORDER BY few, m, i', "$damage now and then");
	}

	# A device that does so twice is not used any more.  A sort that is still collecting then
	# gives its job back when there is no program any more.
	restart_daemon('--inject-fault=doubled:1');
	my $lock = $node->background_psql('postgres');
	$lock->query_safe('SELECT pg_advisory_lock(1)');
	my $collecting = IPC::Run::start(
		[ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
			'-c', 'SELECT count(*) FROM (SELECT * FROM large WHERE i < 600000 OR pg_advisory_lock(1) IS NOT NULL ORDER BY k OFFSET 0) s' ],
		'>', \my $collected, time_limit());
	ok($node->poll_query_until('postgres', 'SELECT jobs_open = 1 FROM gpusort_service()'), 'damaged rows: a sort is collecting');
	falls_back($sort, '[^\n]*sorted wrongly: rows', 'damaged rows');
	is(service($node, 'state'), 'up', 'damaged rows: gpusortd goes on');
	falls_back($sort, '[^\n]*sorted wrongly: rows', 'rows damaged again');
	ok($node->poll_query_until('postgres', q(SELECT state = 'no device' FROM gpusort_service())),
		'rows damaged again: devices are retired');
	is(service($node, 'message'), 'its devices have sorted wrongly twice', 'rows damaged again: gpusort_service() tells');
	same_answer($node, $sort, 'without devices');
	ok($node->poll_query_until('postgres', 'SELECT jobs_open = 1 FROM gpusort_service()'), 'devices are retired: a sort is still collecting');
	$lock->query_safe('SELECT pg_advisory_unlock_all()');
	$lock->quit;
	$collecting->finish;
	is($collected, "600000\n", 'devices are retired: that sort goes on');
	all_is_free($node, $idle_bytes, 'damaged rows');
	like(slurp_file($node->logfile), qr/gpusort uses no GPU: its devices have sorted wrongly twice/, 'rows damaged again: the log tells');
}

if (part('restart'))
{
	# A device is lost: the program ends itself.
	restart_daemon('--inject-fault=lost:1');
	falls_back($sort, 'a lost device', 'lost device');
	comes_back('lost device');

	# Too little device memory
	restart_daemon('--device-memory=1MB');
	same_answer($node, 'SELECT * FROM large ORDER BY k', 'little device memory');
	all_is_free($node, $idle_bytes, 'little device memory');

	# A program that finds no memory is started again and again, until it finds some.
	{
		my $starts;

		restart_daemon('--device-memory=200TB', 'down');
		tells('out of memory', 'out of memory: gpusort_service() tells');
		falls_back($sort, 'gpusortd is not running', 'out of memory');
		$starts = service($node, 'restarts');
		ok($node->poll_query_until('postgres', "SELECT restarts >= $starts + 2 FROM gpusort_service()"),
			'out of memory: started again and again');
		restart_daemon('');
		comes_back('out of memory');
	}

	# Programs that do not start: of another version, or not there.
	restart_daemon('--inject-fault=abi', 'down');
	falls_back($sort, 'gpusortd is not running', 'wrong ABI');
	tells('another version', 'wrong ABI: gpusort_service() tells');
	restart_daemon('--nonsense', 'down');
	tells('command line', 'unknown option: gpusort_service() tells');
	{
		my $program = $node->config_data('--pkglibdir') . '/gpusortd';

		rename $program, "$program.gone" or die $!;
		restart_daemon('', 'down');
		falls_back($sort, 'gpusortd is not running', 'missing program');
		tells('there is no program', 'missing program: gpusort_service() tells');
		rename "$program.gone", $program or die $!;
		reload($node);
		comes_back('missing program');
	}
}

# kill -9 again and again while 50 sessions sort.
if (part('kill'))
{
	my $restarts;

	restart_daemon('');
	$restarts = service($node, 'restarts');
	kill_daemons($node, "SELECT md5(string_agg(h || ' ' || i, ',')) FROM (SELECT h, i FROM t ORDER BY h, i OFFSET 0) s", 50, 4);
	ok($node->poll_query_until('postgres', "SELECT restarts > $restarts FROM gpusort_service()"), 'kill -9: restarts are counted');
	restart_daemon('');
	comes_back('kill -9');
}

if (part('cancel'))
{
	# phase => statements that spend their time there, gpusortd being stopped or made to
	# stop itself.
	my %waiting = (
		collect => [ '', 'SELECT count(*) FROM (SELECT i, pg_sleep(0.05) FROM few ORDER BY i DESC OFFSET 0) s' ],
		wait => [ '--inject-fault=stop:1', "SELECT count(*) FROM ($sort OFFSET 0) s" ],
		emit => [ '--inject-fault=stop-late:1', "SELECT count(*) FROM ($sort OFFSET 0) s" ]);

	for my $phase (sort keys %waiting)
	{
		my ($fault, $query) = @{ $waiting{$phase} };
		my $milliseconds = 700;

		for my $end ('statement_timeout', 'pg_cancel_backend', 'pg_terminate_backend')
		{
			my $label = "$end in $phase";
			my ($out, $err, $pid, $victim) = ('', '');

			restart_daemon($fault);
			$pid = service($node, 'pid');
			kill 'STOP', $pid if $phase eq 'collect';
			$victim = IPC::Run::start(
				[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SET application_name = 'victim'",
					'-c', 'SET statement_timeout = ' . ($end eq 'statement_timeout' ? $milliseconds : 0),
					'-c', $query, '-c', "SELECT 'alive'" ],
				'>', \$out, '2>', \$err, time_limit());
			if ($end ne 'statement_timeout')
			{
				$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity
					WHERE application_name = 'victim' AND (wait_event = 'PgSleep' OR wait_event_type = 'Extension'))) or die "$label: no victim";
				wait_until_stopped($pid);
				$node->safe_psql('postgres', "SELECT $end(pid) FROM pg_stat_activity WHERE application_name = 'victim'");
			}
			$victim->finish;
			# on a slow machine the time may have been over before gpusortd had the job
			if ($end eq 'statement_timeout' && !is_stopped($pid))
			{
				$milliseconds *= 4;
				redo;
			}
			like($err, $end eq 'statement_timeout' ? qr/statement timeout/ :
				$end eq 'pg_cancel_backend' ? qr/due to user request/ : qr/terminating connection/, "$label: the error is reported");
			is($out, $end eq 'pg_terminate_backend' ? '' : "alive\n", "$label: the session goes on, or not");
			cmp_ok(service($node, 'pool_bytes_free'), '<', $idle_bytes, "$label: gpusortd keeps what it may still touch")
				if $phase ne 'collect';
			kill 'CONT', $pid;
			all_is_free($node, $idle_bytes, $label);
			is(service($node, 'pid'), $pid, "$label: gpusortd goes on");
			same_answer($node, $sort, "$label: the next sort");
		}
	}

	# A sort does not wait for its turn for ever while another one's goes on and on; nor does it take
	# the other's away.
	{
		my ($out, $pid, $first) = ('');

		restart_daemon('--inject-fault=stop:1');
		$pid = service($node, 'pid');
		$first = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SET application_name = 'first'",
			'-c', "SELECT count(*) FROM ($sort OFFSET 0) s" ], '>', \$out, time_limit());
		$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity
			WHERE application_name = 'first' AND wait_event IN ('Extension', 'GpuSortJob'))) or die 'turn: nobody is first';
		wait_until_stopped($pid);
		$node->safe_psql('postgres', "ALTER SYSTEM SET gpusort.daemon_queue_timeout = '2s'");
		reload($node);
		falls_back("$sort, few", 'gpusortd is busy with other sorts', 'no turn');
		$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpusort.daemon_queue_timeout');
		reload($node);
		is($out, '', 'no turn: the other sort still waits');
		kill 'CONT', $pid;
		$first->finish;
		is($out, "20000\n", 'no turn: ... and is done');
		is(service($node, 'pid'), $pid, 'no turn: by the same gpusortd');
		all_is_free($node, $idle_bytes, 'no turn');
	}
}

if (part('hang'))
{
	# A program that hangs is given up, and replaced.
	{
		my $pid;

		restart_daemon('--inject-fault=stop:1');
		$pid = service($node, 'pid');
		$node->safe_psql('postgres', "ALTER SYSTEM SET gpusort.daemon_timeout = '1s'");
		reload($node);
		falls_back($sort, 'gpusortd does not answer', 'hanging gpusortd');
		ok($node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $pid FROM gpusort_service()"),
			'hanging gpusortd: replaced');
		all_is_free($node, $idle_bytes, 'hanging gpusortd');
		$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpusort.daemon_timeout');
		reload($node);
	}

	# One that hangs in a driver does not die when it is killed: as if a debugger held it at its
	# exit.  No sort waits for it, and the log says so once.
	SKIP:
	{
		my ($number) = { x86_64 => 101, aarch64 => 117 }->{ (POSIX::uname())[4] };
		my ($seize, $trace_exit) = (0x4206, 0x40);
		my ($log_bytes, $pid, $debugger, $held, $seized, $begin, $lines);

		restart_daemon('--inject-fault=stop:1');
		$pid = service($node, 'pid');
		pipe my $from, my $to or die $!;
		$debugger = fork // die $!;
		if ($debugger == 0)
		{
			$held = defined $number && syscall($number, $seize, $pid + 0, 0, $trace_exit) == 0;
			syswrite $to, $held ? 'y' : 'n';
			# a handler of SIGCHLD ends a sleep
			$begin = time;
			sleep 1 while time - $begin < 300;
			POSIX::_exit(0);
		}
		sysread $from, $seized, 1;
		if ($seized ne 'y')
		{
			kill 'KILL', $debugger;
			waitpid $debugger, 0;
			restart_daemon('');
			skip 'processes can not be traced here', 5;
		}
		$log_bytes = -s $node->logfile;
		$node->safe_psql('postgres', "ALTER SYSTEM SET gpusort.daemon_timeout = '1s'");
		reload($node);
		falls_back($sort, 'gpusortd does not answer', 'gpusortd that is killed and does not die');
		ok($node->poll_query_until('postgres', "SELECT state = 'down' FROM gpusort_service()"),
			'gpusortd that does not die: is not asked any more');
		$node->safe_psql('postgres', "ALTER SYSTEM SET gpusort.daemon_timeout = '2min'");
		reload($node);
		$begin = time;
		falls_back($sort, 'gpusortd is not running', 'the next sort');
		cmp_ok(time - $begin, '<', 60, 'the next sort: does not wait for it');
		is(service($node, 'pid'), $pid, 'it has not died so far');
		sleep 1;
		$lines = () = slurp_file($node->logfile, $log_bytes) =~ /gpusortd hangs, it is killed/g;
		is($lines, 1, 'the log says so once');
		kill 'KILL', $debugger;
		waitpid $debugger, 0;
		ok($node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $pid FROM gpusort_service()"),
			'it is replaced when it has died');
		all_is_free($node, $idle_bytes, 'gpusortd that did not die');
		$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpusort.daemon_timeout');
		reload($node);
	}
}

# Cancelled while gpusortd is stopped, which then dies instead of going on.
if (part('death'))
{
	for my $fault ('stop:1', 'stop-late:1')
	{
		my ($out, $err);

		restart_daemon("--inject-fault=$fault");
		($out, $err) = session_of($node, "SET statement_timeout = 500", "SELECT count(*) FROM ($sort OFFSET 0) s",
			reset_timeout(), "SELECT count(*) FROM few");
		like($err, qr/statement timeout/, "$fault: cancelled");
		kill 'KILL', service($node, 'pid');
		comes_back("$fault and kill -9");
	}
}

if (part('supervisor'))
{
	# The supervisor fails: gpusortd dies with it, and another pair takes their places, even
	# if nobody takes notice of the death.
	SKIP:
	{
		my ($pid, $supervisor);

		skip 'orphans are not given to this process', 4 unless $subreaper;
		restart_daemon('');
		$pid = service($node, 'pid');
		$supervisor = parent_of($pid);
		$node->safe_psql('postgres', q(ALTER SYSTEM SET gpusort.inject_fault = 'supervisor'));
		reload($node);
		ok($node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $pid FROM gpusort_service()"),
			'the supervisor fails: gpusortd is replaced');
		isnt(parent_of(service($node, 'pid')), $supervisor, 'by another supervisor');
		like(slurp_file("/proc/$pid/stat"), qr/^$pid \(gpusortd\) Z /, 'although the old one is a zombie');
		all_is_free($node, $idle_bytes, 'after the supervisor has failed');
		same_answer($node, $sort, 'after the supervisor has failed');
		$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpusort.inject_fault');
	}

	# A stopped program is ended all the same: by a change of settings, and with the server.
	restart_daemon('');
	my $bytes = -s $node->logfile;
	kill 'STOP', service($node, 'pid');
	restart_daemon('');
	like(slurp_file($node->logfile, $bytes), qr/gpusortd has not ended within 2 s, it is killed/, 'a stopped gpusortd is killed when another is to start');
	same_answer($node, $sort, 'after a stopped gpusortd was replaced');
	{
		my $pid = service($node, 'pid');
		my $begin = time;

		kill 'STOP', $pid;
		$node->stop;
		cmp_ok(time - $begin, '<', 50, 'the server stops within seconds');
		is(kill(0, $pid), 0, 'and gpusortd has ended with it');
	}
}

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|server process .* was terminated|leak|WARNING/, 'nothing odd in the log');
done_testing();
