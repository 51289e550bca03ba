# Sorts whose rows are collected by parallel workers: little pool, none, no workers,
# failures in every phase; every extent comes back, and no row is wrong.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'max_worker_processes = 12', 'max_parallel_workers = 8', 'max_parallel_workers_per_gather = 2',
	'parallel_setup_cost = 0', 'min_parallel_table_scan_size = 0', 'gpusort.force = on', 'restart_after_crash = on',
	"gpusort.pool_size = '128MB'", 'hash_mem_multiplier = 1', 'work_mem = 64MB',
	map { "gpusort.cost_$_ = 0" } 'startup', 'row', 'key_byte', 'key_collated', 'row_byte', 'emit', 'gather');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 1000)::int2 AS few, md5(i::text) COLLATE "C" AS m,
		CASE WHEN i % 7 <> 0 THEN hashint8(i)::numeric / 7 END AS n
	FROM generate_series(1, 100000) i;
	CREATE TABLE few WITH (parallel_workers = 2) AS SELECT i, repeat('x', 1000) AS pad FROM generate_series(1, 400) i;
	CREATE TABLE gaps WITH (parallel_workers = 2) AS
	SELECT i, CASE WHEN i <> 2 THEN 5 END AS a, CASE WHEN i <> 2 THEN 7 END AS b FROM generate_series(1, 5) i;
	CREATE FUNCTION slow(anyelement) RETURNS anyelement LANGUAGE sql PARALLEL SAFE VOLATILE
	AS 'SELECT CASE WHEN pg_sleep(0.05) IS NOT NULL THEN $1 END';
	VACUUM ANALYZE));

tables_stay();

my @orders = ('h, i', 'few DESC, m', 'm DESC', 'n NULLS FIRST, i DESC');

sub all_extents_back
{
	my ($label) = @_;

	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()'),
		"$label: all extents are back");
}

my $collected_in_parallel = qr/GpuSort\).*Gather\b.*Parallel Custom Scan \(GpuSort Collect\)/s;

sub collects
{
	my ($label, $query, @settings) = @_;

	like(plan_of($node, $query, @settings), $collected_in_parallel, "$label: collected in parallel");
}

# Rows collected in the pool, and through Gather.
sub counts
{
	my ($label, $query, @settings) = @_;
	my $plan = analyzed_plan_of($node, $query, @settings);

	like($plan, $collected_in_parallel, "$label: collected in parallel");
	return $plan =~ /Rows Collected: (\d+)  Through Gather: (\d+)/ ? ($1, $2) : ();
}

if (part('refused'))
{
	# A row that is refused for want of its last key's memory leaves no trace of the others in the next one.
	{
		my $refused = 0;

		for my $quota (2 .. 14)
		{
			my @settings = ('gpusort.pool_quota' => $quota, max_parallel_workers => 0);

			same_answer($node, 'SELECT * FROM gaps ORDER BY a, b, i', "nulls with $quota %", @settings);
			$refused++ if join(' ', counts("nulls with $quota %", 'SELECT * FROM gaps ORDER BY a, b, i', @settings)) eq '4 1';
		}
		ok($refused, 'only the row with nulls is refused');
	}

	# Rows come both ways into a sort that tells which are equal.  It tells that of all of them.
	for my $quota (2 .. 14)
	{
		my @settings = ('gpusort.pool_quota' => $quota, enable_hashagg => 'off', 'gpusort.enable_shared_sort' => 'off');

		for my $query ('SELECT DISTINCT a, b FROM gaps ORDER BY a, b', 'SELECT DISTINCT few FROM t ORDER BY few',
			'SELECT few, mode() WITHIN GROUP (ORDER BY h) FROM t WHERE i <= 2000 GROUP BY few ORDER BY few')
		{
			like(plan_of($node, $query, @settings), qr/GpuSort (Unique|Ordered Set).*$collected_in_parallel/s, "equal rows with $quota %: collected");
			same_answer($node, $query, "equal rows with $quota %", @settings, max_parallel_workers => $_) for 0, 2;
		}
	}
}

# All of the pool, some of it, next to nothing of it; with memory for the rest, and without.
if (part('pool'))
{
	for my $case ([ 100, '64MB', 'all' ], [ 15, '64MB', 'some' ], [ 2, '64MB', '' ], [ 15, '64kB', 'some' ], [ 15, '1MB', 'some' ], [ 2, '64kB', '' ])
	{
		my ($quota, $work_mem, $wanted) = @$case;
		my @settings = ('gpusort.pool_quota' => $quota, work_mem => $work_mem);
		my $some = 0;

		for my $order (@orders)
		{
			my $label = "ORDER BY $order with $quota % and $work_mem";
			my $query = "SELECT * FROM t ORDER BY $order";
			my ($collected, $gathered) = counts($label, $query, @settings);

			is($collected + $gathered, 100000, "$label: all rows are counted");
			is($gathered, 0, "$label: all in the pool") if $wanted eq 'all';
			$some++ if $collected > 0 && $gathered > 0;
			same_answer($node, $query, $label, @settings);
		}
		# how much of it depends on how many participants get to collect
		ok($some, "$quota % and $work_mem: some in the pool, and some not") if $wanted eq 'some';
	}
	all_extents_back('sorts of all kinds');
	unlike(plan_of($node, 'SELECT * FROM t ORDER BY h, i', 'gpusort.force' => 'off', 'gpusort.pool_quota' => 10), qr/Collect/,
		'not planned with too little of the pool');
	like(plan_of($node, 'SELECT * FROM t ORDER BY h, i', 'gpusort.force' => 'off'), qr/Collect/, '... but with enough');
	{
		my $window = 'SELECT i, rank() OVER (ORDER BY h) FROM t';
		my @merge = (parallel_tuple_cost => 0.05);

		unlike(plan_of($node, $window, @merge, 'gpusort.force' => 'off', 'gpusort.pool_quota' => 10), qr/Collect/,
			'a window is not planned so with too little of the pool');
		like(plan_of($node, $window, @merge, 'gpusort.force' => 'off'), qr/WindowAgg\n.*Collect/s, '... but one with enough');
		for my $settings ([], [ 'gpusort.pool_quota' => 15 ], [ 'gpusort.pool_quota' => 15, work_mem => '64kB' ], [ enable_gathermerge => 'off' ])
		{
			collects("window, @$settings", $window, @merge, @$settings);
			same_answer($node, 'SELECT *, rank() OVER (ORDER BY h, i) FROM t', "window, @$settings", @merge, @$settings);
		}
	}
}

if (part('faults'))
{
	# Faults, workers, leader.
	for my $settings (
		[ 'gpusort.inject_fault' => 'memory' ], [ 'gpusort.inject_fault' => 'codec' ], [ 'gpusort.inject_fault' => 'verify' ],
		[ 'gpusort.verify' => 'on' ], [ parallel_leader_participation => 'off' ], [ max_parallel_workers => 0 ],
		[ max_parallel_workers => 1 ], [ max_parallel_workers => 0, parallel_leader_participation => 'off' ],
		[ 'gpusort.keep_memory' => 0 ])
	{
		same_answer($node, "SELECT * FROM t ORDER BY $_", "@$settings, ORDER BY $_", @$settings) for @orders[ 1, 3 ];
	}
	is((counts('no workers', 'SELECT * FROM t ORDER BY h, i', max_parallel_workers => 0))[0], 100000, 'no workers: in the pool all the same');

	# The leader collects beside its workers.
	{
		my @all = ('Leader', 'Worker 0', 'Worker 1');
		my $plan;

		# a busy machine may start a worker when there is nothing left for it
		for (1 .. 20)
		{
			$plan = $node->safe_psql('postgres', 'EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' .
				'SELECT i FROM few WHERE CASE WHEN i % 4 = 0 THEN slow(i) > 0 END ORDER BY pad, i');
			last if 3 == grep { $plan =~ /^\s*$_:  Rows Collected: [1-9]/m } @all;
		}
		like($plan, qr/^\s*$_:  Rows Collected: [1-9]/m, "$_ takes part") for @all;
	}

	# A cursor: no workers, no shared memory; it is open when the session ends.
	{
		my $holder = $node->background_psql('postgres', on_error_stop => 0);

		$holder->query_safe('BEGIN');
		$holder->query_safe('DECLARE c CURSOR FOR SELECT * FROM t ORDER BY h, i');
		$holder->query_safe('FETCH 10 FROM c');
		$holder->quit;
		all_extents_back('a session that ends with an open cursor');
	}
}

# Sessions that want more together than there is, of the pool and of workers.
if (part('competing'))
{
	my $digest = ordered_digest('SELECT * FROM t ORDER BY %s');
	my %expected = map { $_ => $node->safe_psql('postgres', 'SET gpusort.enabled = off; ' . sprintf $digest, $_) } @orders;
	for my $work_mem ('64kB', '64MB')
	{
		compete($node, $work_mem, $digest, \%expected, @orders);
		all_extents_back("competing with $work_mem");
	}
}

# Whatever ends a query gives everything back.
my $sort = 'SELECT count(*) FROM (SELECT * FROM t ORDER BY h, i OFFSET 0) s';
my $slow_collect = 'SELECT count(*) FROM (SELECT i FROM few WHERE slow(i) > 0 ORDER BY pad, i OFFSET 0) s';
my $slow_emit = 'SELECT count(pg_sleep(0.5)::text) FROM (SELECT i FROM few ORDER BY pad, i DESC OFFSET 0) s';

if (part('errors'))
{
	collects('slow collection', $slow_collect);
	collects('slow emission', $slow_emit);
	my %failing = (
		'error in the input' => [ 'SELECT sum(x) FROM (SELECT 1 / (i - 50000) AS x, h FROM t ORDER BY h, i OFFSET 0) s' ],
		'error in the input, leader stands aside' => [ 'SET parallel_leader_participation = off',
			'SELECT sum(x) FROM (SELECT 1 / (i - 50000) AS x, h FROM t ORDER BY h, i OFFSET 0) s', 'RESET parallel_leader_participation' ],
		'error above the sort' => [ 'SELECT sum(1 / (i - 50000)) FROM (SELECT * FROM t ORDER BY h, i OFFSET 0) s' ],
		'error in a subtransaction' => [
			"DO \$\$ BEGIN PERFORM sum(x) FROM (SELECT 1 / (i - 50000) AS x, h FROM t ORDER BY h, i OFFSET 0) s;
			EXCEPTION WHEN division_by_zero THEN RAISE WARNING 'caught %', (SELECT pool_bytes_free = pool_bytes FROM gpusort_service()); END \$\$" ],
		'statement_timeout while collecting' => [ 'SET statement_timeout = 500', $slow_collect ],
		'statement_timeout while collecting, workers alone' =>
			[ 'SET parallel_leader_participation = off', 'SET statement_timeout = 500', $slow_collect, 'RESET parallel_leader_participation' ],
		'statement_timeout while returning rows' => [ 'SET statement_timeout = 500', $slow_emit ],
		map { ("statement_timeout, soon ($_ ms)" => [ "SET statement_timeout = $_", $sort ]) } 1, 3, 6, 10, 15, 20, 30, 45, 60);
	for my $label (sort keys %failing)
	{
		my ($out, $err) = session_of($node, @{ $failing{$label} }, reset_timeout(), $sort,
			'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()');

		like($err, qr/ERROR|caught t/, "$label: reported") unless $label =~ /soon/;
		like($out, qr/100000\nt$/, "$label: the next sort is right, and all extents are back");
	}
}

# Cancel and terminate the leader, and workers, while they collect and later.
sub victim
{
	my ($query) = @_;
	my $victim = { out => '', err => '' };

	$victim->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $query ],
		'>', \$victim->{out}, '2>', \$victim->{err}, time_limit());
	return $victim;
}

# Each row takes half a second: nobody waits for the last one.
$node->safe_psql('postgres', q(CREATE OR REPLACE FUNCTION slow(anyelement) RETURNS anyelement LANGUAGE sql PARALLEL SAFE VOLATILE
	AS 'SELECT CASE WHEN pg_sleep(0.5) IS NOT NULL THEN $1 END'));

my $leader = q(backend_type = 'client backend' AND query LIKE '%FROM few%' AND pid <> pg_backend_pid());
my $worker = q(backend_type = 'parallel worker');

# A worker sleeps over a row that it reads, or the leader over one that it returns.
sub is_running
{
	my ($query, $label) = @_;

	ok($node->poll_query_until('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND " .
			($query eq $slow_collect ? $worker : $leader)), "$label: it is running");
	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free < pool_bytes FROM gpusort_service()'), "$label: it has extents");
}

if (part('cancel'))
{
	for my $case (
		[ 'cancel of the leader, collecting', $slow_collect, $leader, 'pg_cancel_backend' ],
		[ 'termination of the leader, collecting', $slow_collect, $leader, 'pg_terminate_backend' ],
		[ 'cancel of the leader, returning rows', $slow_emit, $leader, 'pg_cancel_backend' ],
		[ 'termination of the leader, returning rows', $slow_emit, $leader, 'pg_terminate_backend' ],
		[ 'cancel of a worker', $slow_collect, $worker, 'pg_cancel_backend' ],
		[ 'termination of a worker', $slow_collect, $worker, 'pg_terminate_backend' ])
	{
		my ($label, $query, $who, $function) = @$case;
		my $victim = victim($query);

		is_running($query, $label);
		$node->safe_psql('postgres', "SELECT count($function(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE $who LIMIT 1) p");
		$victim->{run}->finish;
		like($victim->{err}, qr/canceling statement|terminating (?:connection|background worker)|lost connection to parallel worker/, "$label: it ends");
		all_extents_back($label);
		same_answer($node, "SELECT * FROM t ORDER BY h, i", "$label, afterwards");
	}
}

# kill -9: all others go, and there is a new pool.
if (part('kill'))
{
	for my $who ($worker, $leader)
	{
		my $victim = victim($slow_collect);

		is_running($slow_collect, 'kill -9');
		crash($node, $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $who LIMIT 1"));
		$victim->{run}->finish;
		all_extents_back('kill -9');
		same_answer($node, "SELECT * FROM t ORDER BY $_", "kill -9, ORDER BY $_") for @orders[ 0, 1 ];
	}
}

# Scans that join one which is in the middle of the table begin there, and end there.
if (part('scans'))
{
	$node->append_conf('postgresql.conf', "shared_buffers = '1MB'");
	$node->restart;
	{
		my $reader = $node->background_psql('postgres', on_error_stop => 0);

		$reader->query_safe('BEGIN');
		$reader->query_safe('DECLARE c CURSOR FOR SELECT i FROM t');
		$reader->query_safe('MOVE 60000 IN c');
		cmp_ok($node->safe_psql('postgres', 'SELECT i FROM t LIMIT 1'), '>', 1000, 'synchronised scans: they begin in the middle');
		for my $order (@orders)
		{
			collects("synchronised scans, ORDER BY $order", "SELECT * FROM t ORDER BY $order");
			same_answer($node, "SELECT * FROM t ORDER BY $order", "synchronised scans, ORDER BY $order");
		}
		same_answer($node, 'SELECT * FROM t ORDER BY h, i', 'synchronised scans, the leader alone', max_parallel_workers => 0);
		same_answer($node, 'SELECT * FROM t ORDER BY h, i', 'synchronised scans, little of the pool', 'gpusort.pool_quota' => 15, work_mem => '64kB');
		$reader->quit;
		all_extents_back('synchronised scans');
	}
}

if (part('none'))
{
	# Workers that the server can't start, and a server without a pool.
	$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
	$node->restart;
	collects('no workers to be had', 'SELECT * FROM t ORDER BY h, i');
	same_answer($node, "SELECT * FROM t ORDER BY $_", "no workers to be had, ORDER BY $_") for @orders;
	all_extents_back('no workers to be had');

	unlike(slurp_file($node->logfile), qr/PANIC|TRAP|resource was not closed|leak|signal (?!9:)/, 'nothing odd in the log');
	$node->append_conf('postgresql.conf', 'gpusort.pool_size = 0');
	$node->restart;
	unlike(plan_of($node, 'SELECT * FROM t ORDER BY h, i'), qr/Collect/, 'not planned without a pool');
	$node->stop;
}
done_testing();
