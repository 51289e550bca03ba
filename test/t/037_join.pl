# A GpuSort Join that is cancelled, fails or is killed while its participants collect one side, the
# other, sort or join: it ends, every extent and file goes, and the next join is right.  gpusortd may
# be killed in any of these, and the answer is right.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'max_worker_processes = 12', 'max_parallel_workers = 8', 'max_parallel_workers_per_gather = 2',
	'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'gpusort.force = on',
	'restart_after_crash = on', "gpusort.pool_size = '128MB'", 'enable_hashjoin = off', 'enable_nestloop = off', 'enable_mergejoin = off',
	'gpusort.engine = cuda', 'gpusort.min_gpu_rows = 0', map { "gpusort.cost_$_ = 0" } 'startup', 'row', 'key_byte', 'row_byte', 'emit', 'gather');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS SELECT i, hashint8(i) % 5000 AS k, md5(i::text) AS m FROM generate_series(1, 20000) i;
	CREATE TABLE few WITH (parallel_workers = 2) AS SELECT i, repeat('x', 1000) AS pad FROM generate_series(1, 60) i;
	CREATE FUNCTION slow(int, seconds float) RETURNS int LANGUAGE plpgsql PARALLEL SAFE VOLATILE AS
	$$ BEGIN PERFORM pg_sleep(seconds); RETURN $1; END $$;
	VACUUM ANALYZE));
set_daemon($node, daemon_of(2));

my $right = 'SELECT count(*), sum(a.i), sum(b.i) FROM t a JOIN t b USING (k)';
my $answer = $node->safe_psql('postgres', "SET gpusort.enabled = off; SET enable_hashjoin = on; $right");
my $together = qr/Gather.*Parallel Custom Scan \(GpuSort Join\).*GpuSort Shared.*GpuSort Shared/s;

# What takes seconds in a phase, and seconds for each row of it.
my %slow = (
	'collecting outer' => 'SELECT sum(a.i + b.i) FROM few a JOIN few b ON a.i = b.i WHERE slow(a.i, %s) > 0',
	'collecting inner' => 'SELECT sum(a.i + b.i) FROM few a JOIN few b ON a.i = b.i WHERE slow(b.i, %s) > 0',
	'sorting' => 'SELECT count(*), sum(a.i), sum(b.i) FROM t a JOIN t b USING (k) WHERE %s > 0',
	'joining' => 'SELECT sum(slow(a.i + b.i, %s)) FROM few a JOIN few b ON a.i = b.i');
my $leader = q(backend_type = 'client backend' AND pid <> pg_backend_pid());
my $worker = q(backend_type = 'parallel worker');

sub all_is_back
{
	my ($label) = @_;

	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free = pool_bytes AND jobs_open = 0 FROM gpusort_service()'), "$label: all extents are back");
	is(join(' ', temp_files($node)), '', "$label: no files are left");
}

sub next_is_right
{
	my ($label) = @_;

	is($node->safe_psql('postgres', $right), $answer, "$label: the next join is right");
}

sub await_daemon
{
	my $old = shift // 0;

	$node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $old FROM gpusort_service()") or die 'gpusortd does not come';
	return service($node, 'pid');
}

# A session in the phase; gpusortd is stopped while others sort.
sub victim
{
	my ($phase, $label, $seconds) = @_;
	my $daemon = await_daemon();
	my $victim = { out => '', err => '', daemon => $daemon };
	my $state = $phase eq 'sorting' ? "SELECT jobs_queued > 0 AND EXISTS (SELECT FROM pg_stat_activity WHERE $worker) FROM gpusort_service()" :
		"SELECT count(*) > 0 FROM pg_stat_activity WHERE $worker AND wait_event = 'PgSleep'";
	my $there = '';

	kill 'STOP', $daemon if $phase eq 'sorting';
	# another one if it has ended before, as a busy machine had not started a worker in time
	for (1 .. 20)
	{
		$victim->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', sprintf($slow{$phase}, $seconds) ],
			'>', \$victim->{out}, '2>', \$victim->{err}, time_limit());
		while ($there ne 't' && $victim->{run}->pumpable)
		{
			eval { $victim->{run}->pump_nb };
			$there = $node->safe_psql('postgres', $state);
		}
		last if $there eq 't';
		$victim->{run}->finish;
	}
	is($there, 't', "$label: it is there");
	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free < pool_bytes FROM gpusort_service()'), "$label: it has extents");
	return $victim;
}

sub goes_on
{
	my ($victim) = @_;

	kill 'CONT', $victim->{daemon};
	$victim->{run}->finish;
}

like(plan_of($node, sprintf($slow{$_}, 0.1)), $together, "$_: joined together") for sort keys %slow;
next_is_right('at first');
all_is_back('at first');

for my $phase (sort keys %slow)
{
	for my $case ([ pg_cancel_backend => 'leader', $leader ], [ pg_terminate_backend => 'leader', $leader ],
		[ pg_cancel_backend => 'worker', $worker ])
	{
		my ($function, $whom, $who) = @$case;
		my $label = "$function of the $whom, $phase";
		my $victim = victim($phase, $label, 0.2);

		$node->safe_psql('postgres', "SELECT count($function(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE $who LIMIT 1) p");
		goes_on($victim);
		like($victim->{err}, qr/canceling statement|terminating (?:connection|background worker)|lost connection to parallel worker/, "$label: it ends");
		all_is_back($label);
	}
	next_is_right("afterwards, $phase");

	# gpusortd goes: the host sorts, if it has not been sorted yet
	{
		my $label = "kill -9 of gpusortd, $phase";
		my $victim = victim($phase, $label, 0.05);

		kill 'KILL', $victim->{daemon};
		$victim->{run}->finish;
		is($victim->{err}, '', "$label: no error");
		is($victim->{out}, $phase eq 'sorting' ? "$answer\n" : "3660\n", "$label: the answer is right");
		await_daemon($victim->{daemon});
		all_is_back($label);
	}

	# all others go with a process that is killed, and there is a new pool
	{
		my $whom = $phase =~ /outer|joining/ ? 'worker' : 'leader';
		my $label = "kill -9 of the $whom, $phase";
		my $victim = victim($phase, $label, 0.2);

		crash($node, $node->safe_psql('postgres', 'SELECT pid FROM pg_stat_activity WHERE ' . ($whom eq 'worker' ? $worker : $leader) . ' LIMIT 1'));
		goes_on($victim);
		await_daemon();
		all_is_back($label);
		next_is_right($label);
	}
}

# Errors, and timeouts wherever they hit; by workers together and by one process.
for my $workers (2, 0)
{
	for my $query (
		'SELECT sum(b.i) FROM t a JOIN t b USING (k) WHERE 1 / (a.i - 10000) < 5', 'SELECT sum(b.i) FROM t a JOIN t b USING (k) WHERE 1 / (b.i - 10000) < 5',
		'SELECT sum(1 / (a.i - 10000)) FROM t a JOIN t b USING (k)', 'SELECT count(*) FROM t a JOIN t b ON a.k = b.k AND 1 / (a.i + b.i - 10000) < 5',
		map { "SET statement_timeout = $_; $right" } 2, 5, 10, 20, 40)
	{
		my ($out, $err) = session_of($node, "SET max_parallel_workers_per_gather = $workers", $query, reset_timeout(), $right,
			'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()');

		like($err, qr/division by zero/, "$workers workers, $query: reported") unless $query =~ /timeout/;
		like($out, qr/\n?\Q$answer\E\n[tf]$/, "$workers workers, $query: the next join is right");
		all_is_back("$workers workers, $query");
	}
}

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|resource was not closed|leak|signal (?!9\b)/, 'nothing odd in the log');
$node->stop;
done_testing();
