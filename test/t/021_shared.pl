# Sorts that the participants of a Gather make together and all read: little pool, none,
# no workers, failures in every phase; every extent and file goes, and no row is wrong.
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
	'restart_after_crash = on', "gpusort.pool_size = '128MB'", 'hash_mem_multiplier = 1', 'work_mem = 64MB',
	'enable_hashjoin = off', 'enable_nestloop = off', 'enable_incremental_sort = off', 'enable_material = off',
	map { "gpusort.cost_$_ = 0" } 'startup', 'row', 'key_byte', 'key_collated', 'row_byte', 'emit', 'gather');

# slow() takes so many seconds, in the session's own process or in a worker.  Whoever takes less time
# waits until another one has begun with a row: a busy machine may start it late.
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 1000)::int2 AS few, md5(i::text) COLLATE "C" AS m,
		CASE WHEN i % 7 <> 0 THEN (hashint8(i) % 5000)::numeric / 7 END AS n
	FROM generate_series(1, 100000) i;
	CREATE TABLE few WITH (parallel_workers = 2) AS SELECT i, i % 10 AS k, repeat('x', 1000) AS pad FROM generate_series(1, 60) i;
	CREATE TABLE lone WITH (parallel_workers = 1, fillfactor = 10) AS SELECT i, md5(i::text) AS m, repeat('x', 1000) AS pad FROM generate_series(1, 10) i;
	CREATE FUNCTION is_leader() RETURNS bool LANGUAGE sql PARALLEL SAFE AS
	$$ SELECT pg_backend_pid() = current_setting('test.leader')::int $$;
	CREATE FUNCTION wait_for_others() RETURNS void LANGUAGE plpgsql PARALLEL SAFE VOLATILE AS $$
	DECLARE
		leader int := current_setting('test.leader');
	BEGIN
		WHILE NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND
			CASE WHEN is_leader() THEN leader_pid = leader AND pid <> leader ELSE pid = leader END)
		LOOP
			PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
		END LOOP;
	END $$;
	CREATE FUNCTION slow(anyelement, in_leader float, in_worker float) RETURNS anyelement LANGUAGE plpgsql PARALLEL SAFE VOLATILE AS $$
	BEGIN
		IF in_leader <> in_worker AND (in_leader < in_worker) = is_leader() THEN
			PERFORM wait_for_others();
		END IF;
		PERFORM pg_sleep(CASE WHEN is_leader() THEN in_leader ELSE in_worker END);
		RETURN $1;
	END $$;
	CREATE FUNCTION fail_in_worker(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE VOLATILE AS $$
	BEGIN
		IF is_leader() THEN
			PERFORM wait_for_others();
		ELSE
			PERFORM pg_sleep(0.5);
			RAISE EXCEPTION 'failed as it should';
		END IF;
		RETURN $1;
	END $$;
	VACUUM ANALYZE));
my $name_leader = q(SELECT set_config('test.leader', pg_backend_pid()::text, false));

# Slices by integers, strings and numbers with NULLs; all rows to each.
my %queries = (
	'window by int2' => 'SELECT i, rank() OVER w AS r, lag(i) OVER w AS l FROM t WINDOW w AS (PARTITION BY few ORDER BY h, i)',
	'window by numeric' => 'SELECT i, m, row_number() OVER (PARTITION BY n ORDER BY m DESC) AS r FROM t',
	'window by text' => 'SELECT i, sum(i) OVER (PARTITION BY m) AS s FROM t',
	'join by int2' => 'SELECT a.i, b.i AS j FROM t a JOIN t b ON a.few = b.few WHERE b.i < 3000',
	'join by numeric' => 'SELECT a.i, b.m FROM t a LEFT JOIN t b ON a.n = b.n AND b.i % 5 = 0 WHERE a.i < 20000',
	'join by text' => 'SELECT a.i, b.h FROM t a JOIN t b ON a.m = b.m');

sub all_extents_back
{
	my ($label) = @_;

	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()'),
		"$label: all extents are back");
	is(join(' ', temp_files($node)), '', "$label: no files are left");
}

my $shared = qr/Gather.*Parallel Custom Scan \(GpuSort Shared\)/s;

sub shares
{
	my ($label, $query) = @_;

	like(plan_of($node, $query), $shared, "$label: sorted together");
}

# The rows of one execution, in any order, are PostgreSQL's, and sorted together.  Returns
# what EXPLAIN ANALYZE says.
my $digest = digest_of_rows('SELECT * FROM q');
my %digests;

sub digest_of
{
	my ($query) = @_;

	return $digests{$query} //= $node->safe_psql('postgres', 'SET gpusort.enabled = off; ' . digest_of_rows($query));
}

sub same_rows
{
	my ($label, $query, @settings) = @_;
	my ($plan, $rows);

	isnt(digest_of($query), '', "$label: there are rows");
	($plan, $rows) = $node->safe_psql('postgres', join('', settings_of(@settings)) .
		"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) CREATE TEMP TABLE q AS $query; $digest") =~ /(.*)\n(.*)/s;
	like($plan, $shared, "$label: sorted together");
	is($rows, digest_of($query), "$label: PostgreSQL's rows");
	return $plan;
}

sub settings_of
{
	my @lines;

	while (my ($name, $value) = splice @_, 0, 2)
	{
		push @lines, "SET $name = '$value';\n";
	}
	return @lines;
}

# All of the pool, some of it, next to nothing and nothing of it; with memory for the rest, and without.
if (part('pool'))
{
	for my $case ([ 100, '64MB', 'all' ], [ 20, '64MB', 'some' ], [ 20, '64kB', 'some' ], [ 20, '1MB', 'some' ], [ 2, '64MB', '' ], [ 2, '64kB', '' ])
	{
		my ($quota, $work_mem, $wanted) = @$case;
		my $some = 0;

		for my $name (sort keys %queries)
		{
			my $label = "$name with $quota % and $work_mem";
			my $plan = same_rows($label, $queries{$name}, 'gpusort.pool_quota' => $quota, work_mem => $work_mem);
			my ($method, $collected, $refused) = $plan =~ /Shared.*?Sort Method: (\w+).*?Rows Collected: (\d+)  Through Store: (\d+)/s;

			next if $name =~ /join/;
			is($collected + $refused, 100000, "$label: all rows are counted");
			is("$refused $method", '0 radix', "$label: all in the pool") if $wanted eq 'all';
			$some++ if $collected > 0 && $refused > 0;
		}
		# how much of it depends on how many participants get to collect
		ok($some, "$quota % and $work_mem: some in the pool, and some not") if $wanted eq 'some';
	}
	all_extents_back('sorts of all kinds');
}

if (part('faults'))
{
	# Faults, workers, leader.
	for my $settings (
		[ 'gpusort.inject_fault' => 'memory' ], [ 'gpusort.inject_fault' => 'codec' ], [ 'gpusort.inject_fault' => 'verify' ],
		[ 'gpusort.inject_fault' => 'codec', work_mem => '64kB' ], [ 'gpusort.verify' => 'on' ],
		[ parallel_leader_participation => 'off' ], [ max_parallel_workers => 0 ], [ max_parallel_workers => 1 ],
		[ max_parallel_workers => 0, parallel_leader_participation => 'off' ], [ max_parallel_workers_per_gather => 5 ],
		[ parallel_leader_participation => 'off', 'gpusort.pool_quota' => 20, work_mem => '64kB' ], [ 'gpusort.keep_memory' => 0 ])
	{
		same_rows("@$settings, $_", $queries{$_}, @$settings) for 'window by numeric', 'join by text';
	}

	# Plans that were made when there was more of the pool.  (A session's first temporary table
	# would have them made anew.)
	for my $name ('window by int2', 'window by numeric', 'join by text')
	{
		my ($out, $err) = session_of($node, 'CREATE TEMP TABLE first ()', 'SET plan_cache_mode = force_generic_plan', "PREPARE p AS $queries{$name}", 'EXPLAIN EXECUTE p',
			'SET gpusort.pool_quota = 0', 'EXPLAIN (ANALYZE) CREATE TEMP TABLE q AS EXECUTE p', $digest);

		like($out, qr/Rows Collected: 0  Through Store: [1-9]/, "nothing of the pool, $name: all through the store");
		like($out, qr/\n\Q@{[ digest_of($queries{$name}) ]}\E$/, "nothing of the pool, $name: PostgreSQL's rows");
		is($err, '', "nothing of the pool, $name: no error");
	}
	all_extents_back('faults');
}

# Sessions that want more together than there is, of the pool and of workers.
if (part('competing'))
{
	for my $work_mem ('64kB', '64MB')
	{
		compete($node, $work_mem, digest_of_rows('%s'), { map { $_ => digest_of($_) } values %queries }, map { $queries{$_} } sort keys %queries);
		all_extents_back("competing with $work_mem");
	}
}

if (part('waiting'))
{
	# Who comes while another one sorts waits for the result.  Collecting and sorting take the
	# leader half a second; a worker comes when it has its only row of the outer side.
	for my $delay (0.3, 0.4, 0.5)
	{
		my $join = "SELECT count(*) || ' ' || count(b.i) FROM (SELECT i, repeat('x', 200) || m AS x FROM lone WHERE slow(i, 0.01, $delay) > 0) a
			LEFT JOIN t b ON a.x = repeat('x', 200) || b.m COLLATE \"en-x-icu\"";
		my ($out, $err) = session_of($node, $name_leader, 'SET gpusort.inject_fault = codec', $join);

		shares("a worker after $delay s", $join);
		like($out, qr/^10 10$/m, "a worker after $delay s: PostgreSQL's rows");
		is($err, '', "a worker after $delay s: no error");
	}

	# Not to the end: the others must not wait.
	for my $query (
		'SELECT count(r) FROM (SELECT rank() OVER (PARTITION BY few ORDER BY h) AS r FROM t LIMIT 10) s',
		'SELECT count(*) FROM (SELECT a.i, b.h FROM t a JOIN t b ON a.m = b.m LIMIT 10) s')
	{
		shares('with a limit', $query);
		my ($out, $err) = session_of($node, ($query) x 5, 'SET parallel_leader_participation = off', ($query) x 5);

		is($out, join("\n", (10) x 10), 'with a limit: as many as wanted');
		is($err, '', 'with a limit: no error');
	}
	all_extents_back('with a limit');
}

# Whatever ends a query gives everything back: while rows are collected, by all and by
# some only, for whom the others wait; sorted; returned.
my $sort = 'SELECT count(r) FROM (SELECT rank() OVER (PARTITION BY few ORDER BY h, i) AS r FROM t OFFSET 0) s';
my $over = 'rank() OVER (PARTITION BY k ORDER BY pad, i) AS r';
my %slow = (
	'all collecting' => "SELECT sum(r) FROM (SELECT $over FROM few WHERE slow(i, 1, 1) > 0 OFFSET 0) s",
	'leader waiting' => "SELECT sum(r) FROM (SELECT $over FROM few WHERE slow(i, 0.001, 60) > 0 OFFSET 0) s",
	'worker waiting' => "SELECT sum(r) FROM (SELECT $over FROM few WHERE slow(i, 60, 0.001) > 0 OFFSET 0) s",
	'returning rows' => "SELECT sum(slow(r, 1, 1)) FROM (SELECT $over FROM few OFFSET 0) s",
	'workers returning rows' => "SELECT sum(r) FROM (SELECT slow(r, 1, 1) AS r FROM (SELECT $over FROM few) s OFFSET 0) s",
	'leader waiting, join' => "SELECT sum(i) FROM (SELECT b.i FROM few a LEFT JOIN few b ON a.i = b.i AND slow(b.i, 0.015, 5) > 0 WHERE slow(a.i, 0.015, 0.015) > 0 OFFSET 0) s");

if (part('errors'))
{
	shares($_, $slow{$_}) for sort keys %slow;
	my %failing = (
		'error in the input' => [ 'SELECT sum(r) FROM (SELECT rank() OVER (PARTITION BY few ORDER BY 1 / (i - 50000), i) AS r FROM t OFFSET 0) s' ],
		'error in the input, leader stands aside' => [ 'SET parallel_leader_participation = off',
			'SELECT sum(r) FROM (SELECT rank() OVER (PARTITION BY few ORDER BY 1 / (i - 50000), i) AS r FROM t OFFSET 0) s', 'RESET parallel_leader_participation' ],
		'error in a worker, leader waiting' => [ "SELECT sum(r) FROM (SELECT $over FROM few WHERE fail_in_worker(i) > 0 OFFSET 0) s" ],
		'error above the sort' => [ 'SELECT sum(x) FROM (SELECT sum(1 / (i - 50000)) OVER (PARTITION BY few ORDER BY h) AS x FROM t OFFSET 0) s' ],
		'error above the sort, rows in files' => [ 'SET gpusort.inject_fault = codec',
			'SELECT sum(x) FROM (SELECT sum(1 / (i - 50000)) OVER (PARTITION BY few ORDER BY h) AS x FROM t OFFSET 0) s', 'RESET gpusort.inject_fault' ],
		'error above the join, rows in files' => [ 'SET gpusort.inject_fault = codec',
			'SELECT sum(x) FROM (SELECT 1 / (a.i - 50000) AS x FROM t a JOIN t b ON a.m = b.m OFFSET 0) s', 'RESET gpusort.inject_fault' ],
		'error in a subtransaction' => [
			"DO \$\$ BEGIN PERFORM sum(x) FROM (SELECT sum(1 / (i - 50000)) OVER (PARTITION BY few ORDER BY h) AS x FROM t OFFSET 0) s;
			EXCEPTION WHEN division_by_zero THEN RAISE WARNING 'caught %', (SELECT pool_bytes_free = pool_bytes FROM gpusort_service()); END \$\$" ],
		(map { ("statement_timeout, $_" => [ 'SET statement_timeout = 600', $slow{$_} ]) } keys %slow),
		(map { ("statement_timeout, soon ($_ ms)" => [ "SET statement_timeout = $_", $sort ]) } 1, 3, 6, 10, 15, 20, 30, 45, 60, 80));
	for my $label (sort keys %failing)
	{
		my ($out, $err) = session_of($node, $name_leader, @{ $failing{$label} }, reset_timeout(), $sort,
			'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()');

		like($err, qr/ERROR|caught t/, "$label: reported") unless $label =~ /soon/;
		like($out, qr/100000\nt$/, "$label: the next sort is right, and all extents are back");
		is(join(' ', temp_files($node)), '', "$label: no files are left");
	}
}

# Cancel and terminate the leader, and workers, while they collect and wait.
sub victim
{
	my ($query) = @_;
	my $victim = { out => '', err => '' };

	$victim->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $name_leader, '-c', $query ],
		'>', \$victim->{out}, '2>', \$victim->{err}, time_limit());
	return $victim;
}

my $leader = q(backend_type = 'client backend' AND query LIKE '%few%' AND pid <> pg_backend_pid());
my $worker = q(backend_type = 'parallel worker');
my %state = (
	'all collecting' => "$worker AND wait_event = 'PgSleep'",
	'leader waiting' => "$leader AND wait_event_type = 'Extension'",
	'worker waiting' => "$worker AND wait_event_type = 'Extension'",
	'workers returning rows' => "$worker AND wait_event = 'PgSleep'",
	'leader waiting, join' => "$leader AND wait_event_type = 'Extension'");

# A session that is there; another one if it has ended before, as a busy machine had not started a worker in time.
sub victim_in_state
{
	my ($when, $label) = @_;
	my $there = '';
	my $victim;

	for (1 .. 20)
	{
		$victim = victim($slow{$when});
		while ($there ne 't' && $victim->{run}->pumpable)
		{
			eval { $victim->{run}->pump_nb };
			$there = $node->safe_psql('postgres', "SELECT count(*) > 0 FROM pg_stat_activity WHERE $state{$when}");
		}
		last if $there eq 't';
		$victim->{run}->finish;
	}
	is($there, 't', "$label: it is there");
	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free < pool_bytes FROM gpusort_service()'), "$label: it has extents");
	return $victim;
}

if (part('cancel'))
{
	for my $when (sort keys %state)
	{
		for my $case ([ 'the leader', $leader ], [ 'a worker', $worker ])
		{
			for my $function ('pg_cancel_backend', 'pg_terminate_backend')
			{
				my ($name, $who) = @$case;
				my $label = "$function of $name, $when";
				my $victim = victim_in_state($when, $label);

				$node->safe_psql('postgres', "SELECT count($function(pid)) FROM (SELECT pid FROM pg_stat_activity WHERE $who LIMIT 1) p");
				$victim->{run}->finish;
				like($victim->{err}, qr/canceling statement|terminating (?:connection|background worker)|lost connection to parallel worker/, "$label: it ends");
				all_extents_back($label);
			}
		}
		same_rows("$when, afterwards", $queries{'window by int2'});
	}
}

# kill -9: all others go, and there is a new pool.
if (part('kill'))
{
	for my $when ('leader waiting', 'worker waiting', 'workers returning rows')
	{
		for my $who ($worker, $leader)
		{
			my $victim = victim_in_state($when, "kill -9, $when");

			crash($node, $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $who LIMIT 1"));
			$victim->{run}->finish;
			all_extents_back("kill -9, $when");
		}
		same_rows("kill -9, $when, $_", $queries{$_}) for 'window by int2', 'join by text';
	}
}

# Sorted by gpusortd, for a worker and for the leader, in the leader's memory.
if (part('daemon'))
{
	set_daemon($node, daemon_of(2));
	for my $settings ([], [ parallel_leader_participation => 'off' ], [ max_parallel_workers => 0 ])
	{
		for my $name ('window by int2', 'window by numeric', 'join by text')
		{
			my @settings = ('gpusort.engine' => 'cuda', @$settings);
			my $plan = same_rows("gpusortd, @$settings, $name", $queries{$name}, @settings);

			like($plan, qr/Shared.*Engine: (?:simulated|cuda)  Devices: \d/s, "gpusortd, @$settings, $name: it has sorted");
			same_rows("gpusortd, rows in order, @$settings, $name", $queries{$name}, @settings, 'gpusort.reorder_rows' => 'on');
		}
	}
	is(service($node, 'fallbacks'), 0, 'gpusortd: nothing was left to the host')
		or diag $node->safe_psql('postgres', 'SELECT kind, fallbacks_down, fallbacks_busy, fallbacks_memory, fallbacks_failed
			FROM pg_stat_gpusort WHERE fallbacks > 0');
	all_extents_back('gpusortd');
	set_daemon($node, 'off', '', 'off');
}

if (part('none'))
{
	# Workers that the server can't start, and a server without a pool.
	$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
	$node->restart;
	same_rows("no workers to be had, $_", $queries{$_}) for sort keys %queries;
	all_extents_back('no workers to be had');

	unlike(slurp_file($node->logfile), qr/PANIC|TRAP|resource was not closed|leak|signal (?!9:)/, 'nothing odd in the log');
	$node->append_conf('postgresql.conf', 'gpusort.pool_size = 0');
	$node->restart;
	unlike(plan_of($node, $queries{'window by int2'}), qr/Shared/, 'not planned without a pool');
	$node->stop;
}
done_testing();
