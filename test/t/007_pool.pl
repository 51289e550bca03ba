# The pool: sorts in it, beside it and without it; sessions that compete for it;
# every extent comes back, whatever happens.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'max_parallel_workers_per_gather = 0', 'gpusort.force = on', 'hash_mem_multiplier = 1', 'gpusort.enable_spill = off',
	'restart_after_crash = on', "gpusort.pool_size = '64MB'", 'huge_pages = try');
my $pool_bytes = 64 * 1024 * 1024;

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 1000)::int2 AS few, md5(i::text) COLLATE "C" AS m,
		CASE WHEN i % 7 <> 0 THEN hashint8(i)::numeric / 7 END AS n
	FROM generate_series(1, 100000) i;
	CREATE TABLE few AS SELECT i FROM generate_series(1, 200) i;
	VACUUM ANALYZE));

tables_stay();

my @orders = ('h, i', 'few DESC, m', 'm DESC', 'n NULLS FIRST, i DESC');

# Bytes of the pool that nobody has.
sub pool_free
{
	return $node->safe_psql('postgres', 'SELECT pool_bytes_free FROM gpusort_service()');
}

sub all_extents_back
{
	my ($label) = @_;

	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()'),
		"$label: all extents are back");
}

# Does the plan say that the sort used private memory, and the pool?
sub uses
{
	my ($private, $pool, $label, $order, @settings) = @_;
	my ($memory_kb, $pool_kb) = analyzed_plan_of($node, "SELECT * FROM t ORDER BY $order", @settings) =~
		/Sort Method: radix  Memory: (\d+)kB(?:  Pool: (\d+)kB)?/;

	is($memory_kb > 0 ? 1 : 0, $private, "$label: private memory");
	is($pool_kb // 0 > 0 ? 1 : 0, $pool, "$label: pool");
}

# Build an index in so much private memory: what became of it, and messages.
sub build_index
{
	my ($memory) = @_;
	my ($out, $err) = session_of($node, 'SET gpusort.force = off', 'SET gpusort.min_rows = 0', "SET maintenance_work_mem = '$memory'",
		'SET max_parallel_maintenance_workers = 0', 'BEGIN', 'SET client_min_messages = debug1', 'CREATE INDEX ON t (m)',
		q(SELECT format('%s built, %s left, %s given up', built, left_alone, given_up) FROM gpusort_index_builds()), 'ROLLBACK');

	return "$out $err";
}

is($node->safe_psql('postgres', 'SHOW gpusort.pool_size'), '64MB', 'gpusort.pool_size');
is($node->safe_psql('postgres', 'SELECT pool_bytes FROM gpusort_service()'), $pool_bytes, 'the pool has that size');
all_extents_back('at first');

if (part('shares'))
{
	# All in the pool, whatever work_mem says; the planner counts on it.
	for my $order (@orders)
	{
		uses(0, 1, "ORDER BY $order", $order, work_mem => '64kB');
		same_answer($node, "SELECT * FROM t ORDER BY $order", "ORDER BY $order", work_mem => '64kB');
	}
	like(plan_of($node, 'SELECT * FROM t ORDER BY h', 'gpusort.force' => 'off', work_mem => '64kB'), qr/GpuSort/,
		'planned to fit into the pool');
	unlike(plan_of($node, 'SELECT * FROM t ORDER BY h', 'gpusort.force' => 'off', work_mem => '64kB', 'gpusort.pool_quota' => 10),
		qr/GpuSort/, '... but not with a small share of it');

	# A share of the pool, then private memory; both at an end: handed over.
	for my $quota (4, 10, 20)
	{
		for my $order (@orders)
		{
			my $label = "ORDER BY $order with $quota %";

			uses(1, 1, $label, $order, 'gpusort.pool_quota' => $quota, work_mem => '256MB');
			same_answer($node, "SELECT * FROM t ORDER BY $order", $label, 'gpusort.pool_quota' => $quota, work_mem => '256MB');
		}
	}
	for my $case ([ 20, '64kB' ], [ 10, '1MB' ], [ 4, '64kB' ])
	{
		my ($quota, $work_mem) = @$case;

		for my $order (@orders)
		{
			my $label = "ORDER BY $order with $quota % and $work_mem";
			my @settings = ('gpusort.pool_quota' => $quota, work_mem => $work_mem);

			like(analyzed_plan_of($node, "SELECT * FROM t ORDER BY $order", @settings),
				qr/Handed Over: memory limit reached after [1-9]\d{2,} rows/, "$label: handed over");
			same_answer($node, "SELECT * FROM t ORDER BY $order", $label, @settings);
		}
	}
	uses(1, 0, 'quota 0', 'h', 'gpusort.pool_quota' => 0, work_mem => '256MB');

	# A rescan begins in the pool again, wherever the scan before it has ended.
	{
		my $rescans = 'SELECT g, s.* FROM generate_series(1, 5) g,
			LATERAL (SELECT i, h FROM t WHERE i % 1000 = g OR g = 3 ORDER BY h, i OFFSET 1) s';
		my @settings = ('gpusort.pool_quota' => 10, work_mem => '64kB');

		same_answer($node, "$rescans ORDER BY g, s.h, s.i", 'rescan after a hand-over', @settings);
		like(analyzed_plan_of($node, $rescans, @settings), qr/Memory: \d+kB  Pool: [1-9]/, 'rescan after a hand-over: in the pool');
	}
	all_extents_back('sorts of all kinds');
}

# A session whose ranges are now in the pool, now private, now both.
my $digest = ordered_digest('SELECT * FROM t ORDER BY %s');
my %expected = map { $_ => $node->safe_psql('postgres', 'SET gpusort.enabled = off; ' . sprintf $digest, $_) } @orders;
if (part('changing'))
{
	my @script = ("SET work_mem = '256MB'");
	my @wanted;

	for my $quota (75, 10, 0, 50, 4, 75, 0, 20)
	{
		push @script, "SET gpusort.pool_quota = $quota", map { sprintf $digest, $_ } @orders[ 0, 3 ];
		push @wanted, map { $expected{$_} } @orders[ 0, 3 ];
	}
	for my $keep ('1GB', '0')
	{
		my ($out, $err) = session_of($node, "SET gpusort.keep_memory = '$keep'", @script);

		is($err, '', "changing shares, keep_memory = $keep: no error");
		is($out, join("\n", @wanted), "changing shares, keep_memory = $keep: every answer is right");
	}
}

# Sessions that want more together than there is.
if (part('competing'))
{
	for my $work_mem ('64kB', '8MB', '256MB')
	{
		compete($node, $work_mem, $digest, \%expected, @orders);
		all_extents_back("competing with $work_mem");
	}
}

# One session holds on to nearly all; others go on without, and don't count on it.
if (part('holder'))
{
	my @unforced = ('gpusort.force' => 'off', 'gpusort.min_rows' => 0, 'gpusort.late_rows' => 'off', work_mem => '64kB');
	my $prepared = $node->background_psql('postgres', on_error_stop => 0);
	my $holder = $node->background_psql('postgres', on_error_stop => 0);

	$holder->query_safe('SET gpusort.pool_quota = 100');
	$holder->query_safe('BEGIN');
	$holder->query_safe('DECLARE c CURSOR FOR SELECT t.*, u.i AS ui FROM t, generate_series(1, 5) u(i) ORDER BY h, t.i');
	$holder->query_safe('MOVE 10 IN c');
	cmp_ok(pool_free(), '<', $pool_bytes / 8, 'an open cursor holds most of the pool');
	uses(1, 1, 'with the rest', 'h', work_mem => '256MB');
	same_answer($node, "SELECT * FROM t ORDER BY $_", "ORDER BY $_ with the rest", work_mem => '1MB') for @orders;

	unlike(plan_of($node, 'SELECT * FROM t ORDER BY h', @unforced), qr/GpuSort/, 'planned by what is free');
	like(plan_of($node, 'SELECT * FROM t ORDER BY h', @unforced, work_mem => '256MB'), qr/GpuSort/, '... or by work_mem');
	$prepared->query_safe("SET gpusort.force = off; SET gpusort.min_rows = 0; SET gpusort.late_rows = off; SET work_mem = '64kB'");
	$prepared->query_safe('PREPARE p AS SELECT * FROM t ORDER BY h');
	unlike($prepared->query_safe('EXPLAIN EXECUTE p'), qr/GpuSort/, '... a prepared statement, too');
	like(build_index('1MB'), qr/0 built, 1 left, 0 given up.*what is free of the pool/s, 'a build that would not fit does not begin');
	like(build_index('256MB'), qr/1 built, 0 left, 0 given up/, '... in enough memory of its own it does');
	$holder->quit;
	all_extents_back('a session that holds nearly all');

	like(build_index('1MB'), qr/1 built, 0 left, 0 given up/, 'with the pool free again, a build begins');
	$node->safe_psql('postgres', 'SELECT pg_current_xact_id()') for 1 .. 2;
	like($prepared->query_safe('EXPLAIN EXECUTE p'), qr/GpuSort/, '... and the prepared statement is planned anew');
	$prepared->quit;
	all_extents_back('a session that ends with an open cursor');
}

# Builds whose tuples are larger than statistics say: compressed strings, which keys are made of.
# They notice before they have read much, and PostgreSQL does not find a table read twice.
if (part('builds'))
{
	my ($pages, @before, @after);
	my $count = q(SELECT heap_blks_read + heap_blks_hit FROM pg_statio_user_tables WHERE relname = 'packed');

	$node->safe_psql('postgres', q(
		CREATE TABLE packed AS SELECT repeat(md5(i::text), 110) COLLATE "C" AS s FROM generate_series(1, 40000) i;
		ALTER TABLE packed SET (parallel_workers = 2);
		VACUUM ANALYZE packed;
		SELECT pg_stat_force_next_flush()));
	$pages = $node->safe_psql('postgres', q(SELECT relpages FROM pg_class WHERE relname = 'packed'));
	for my $workers (0, 2)
	{
		my ($before, $built, $after, $err, $read);
		my $label = "an index that does not fit, $workers workers";

		# workers read on until they are told, on a busy machine all of it
		for (1 .. $workers > 0 ? 20 : 1)
		{
			$node->safe_psql('postgres', 'DROP INDEX IF EXISTS packed_s');
			$before = $node->safe_psql('postgres', $count);
			($built, $err) = session_of($node, 'SET gpusort.force = off', 'SET gpusort.min_rows = 0', "SET maintenance_work_mem = '1MB'",
				"SET max_parallel_maintenance_workers = $workers", 'SET client_min_messages = debug1', 'CREATE INDEX packed_s ON packed (s)',
				q(SELECT format('%s built, %s given up, %s workers', built, given_up, workers) FROM gpusort_index_builds()),
				'SET client_min_messages = error', q(SELECT pg_stat_force_next_flush()));
			$after = $node->safe_psql('postgres', $count);
			$read = $err =~ /(\d+) of $pages pages had been read/ ? $1 : $pages;
			last if $read < $pages / 2;
		}
		$built =~ s/\n$//;
		is($built, "0 built, 1 given up, $workers workers", "$label: given up");
		# the smallest parts of three processes may take all of the pool at once
		like($err, qr/left index "packed_s" to PostgreSQL: (tuples are not going to fit|memory limit reached$)/m, "$label: says why");
		like($err, qr/tuples are not going to fit/, "$label: ... by a forecast") if $workers == 0;
		like($err, qr/(\d+) of $pages pages had been read/, "$label: ... and when");
		cmp_ok($read, '<', $pages / ($workers > 0 ? 2 : 4), "$label: after a small part of the table");
		# a worker ends with the pages that it has taken
		cmp_ok($after - $before, '<', (1.2 + 0.1 * $workers) * $pages, "$label: the table is not read twice");
		$node->safe_psql('postgres', 'DROP INDEX packed_s');
		all_extents_back($label);
	}
	$node->safe_psql('postgres', 'DROP TABLE packed');
}

# Whatever ends a query gives everything back.
my $sort = 'SELECT count(*) FROM (SELECT * FROM t ORDER BY h OFFSET 0) s';
my $slow = 'SELECT count(pg_sleep(0.05)::text) FROM (SELECT t.i FROM t, few WHERE t.i <= 1000 ORDER BY h DESC OFFSET 0) s';
if (part('errors'))
{
	my %failing = (
		'error in the input' => [ 'SELECT sum(x) FROM (SELECT 1 / (i - 50000) AS x, h FROM t ORDER BY h OFFSET 0) s' ],
		'error above the sort' => [ 'SELECT sum(1 / (i - 50000)) FROM (SELECT * FROM t ORDER BY h OFFSET 0) s' ],
		'error in a subtransaction' => [
			"DO \$\$ BEGIN PERFORM sum(1 / (i - 50000)) FROM (SELECT * FROM t ORDER BY h OFFSET 0) s;
			EXCEPTION WHEN division_by_zero THEN RAISE WARNING 'caught'; END \$\$" ],
		'savepoint' => [ 'BEGIN', 'DECLARE c CURSOR FOR SELECT * FROM t ORDER BY h', 'SAVEPOINT s', 'FETCH 1 FROM c',
			'SELECT 1 / 0', 'ROLLBACK TO s', 'ROLLBACK' ],
		'statement_timeout' => [ 'SET statement_timeout = 100', $slow ],
		'statement_timeout, soon' => [ 'SET statement_timeout = 15', $sort ]);
	for my $label (sort keys %failing)
	{
		my ($out, $err) = session_of($node, @{ $failing{$label} }, reset_timeout(), $sort,
			'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()');

		like($err, qr/ERROR|caught/, "$label: reported") unless $label =~ /soon/;
		like($out, qr/100000\nt$/, "$label: the next sort is right, and all extents are back");
	}
}
# who sleeps now and then
my $sleeper = q(backend_type = 'client backend' AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid());
if (part('cancel'))
{
	for my $function ('pg_cancel_backend', 'pg_terminate_backend')
	{
		my ($out, $err) = ('', '');
		my $victim = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $slow ],
			'>', \$out, '2>', \$err, time_limit());

		ok($node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep')),
			"$function: a sort is running");
		cmp_ok(pool_free(), '<', $pool_bytes, "$function: it has extents");
		$node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE $sleeper");
		$victim->finish;
		like($err, qr/canceling statement|terminating connection/, "$function: it ends");
		all_extents_back($function);
	}
}

# Memory is used again and again.
sub pool_blocks
{
	my ($pid) = slurp_file($node->data_dir . '/postmaster.pid') =~ /^(\d+)/;

	for my $fd (glob "/proc/$pid/fd/*")
	{
		return (stat $fd)[12] if (readlink($fd) // '') =~ /memfd:gpusort pool/;
	}
	return undef;
}

if (part('crash'))
{
	# all of the pool has been used before
	$node->safe_psql('postgres', 'SET gpusort.pool_quota = 100; SELECT count(*) FROM (SELECT t.* FROM t, generate_series(1, 5) ORDER BY h OFFSET 0) s');
	$node->safe_psql('postgres', $sort);
	my $blocks = pool_blocks();
	ok($blocks, 'the pool is a memfd of the postmaster');
	$node->safe_psql('postgres', $sort) for 1 .. 20;
	is(pool_blocks(), $blocks, 'one session after the other uses the same memory');

	# A backend that is killed: all others go, and there is a new pool.
	{
		my ($out, $err) = ('', '');
		my $victim = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', $slow ],
			'>', \$out, '2>', \$err, time_limit());

		ok($node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep')),
			'kill -9: a sort is running');
		crash($node, $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE $sleeper"));
		$victim->finish;
		is(pool_free(), $pool_bytes, 'kill -9: there is a new pool');
		cmp_ok(pool_blocks(), '<', $blocks, 'kill -9: with new memory');
		uses(0, 1, 'kill -9', 'h', work_mem => '64kB');
		same_answer($node, "SELECT * FROM t ORDER BY $_", "kill -9, ORDER BY $_") for @orders;
	}
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|resource was not closed|leak|signal (?!9:)/, 'nothing odd in the log');

# Other ways to start, and none.
if (part('start'))
{
	$node->stop;
	{
		my ($out, $err) = ('', '');
		my @data = ('-D', $node->data_dir);

		IPC::Run::run([ 'postgres', @data, '-C', 'gpusort.pool_size' ], '>', \$out, '2>', \$err);
		is($out, "64MB\n", 'postgres -C');
		IPC::Run::run([ 'postgres', '--single', @data, 'postgres' ], '<', \"SELECT h FROM t WHERE i <= 3 ORDER BY h\n", '>', \$out, '2>', \$err);
		is(scalar(() = $out =~ /h = "/g), 3, 'single-user mode');
	}
	for my $size ('0', '1MB', '64MB', '1500GB')
	{
		my $log_end = -s $node->logfile;
		my $told;

		$node->append_conf('postgresql.conf', "gpusort.pool_size = '$size'");
		$node->start;
		($told) = substr(slurp_file($node->logfile), $log_end) =~ /WARNING:.*"gpusort.pool_size" of (.*)/;
		is($told, { '1MB' => '1 MB is too small, there is no pool', '1500GB' => "1536000 MB is more than the machine's memory" }->{$size}, "pool_size = $size: what the log says");
		if ($size =~ /GB|64/)
		{
			$node->stop;
			next;
		}
		is($node->safe_psql('postgres', 'SHOW gpusort.pool_size'), '0', "pool_size = $size: shown");
		reload($node);
		unlike(substr(slurp_file($node->logfile), $log_end), qr/pool_size.*cannot be changed/, "pool_size = $size: a reload finds no change");
		uses(1, 0, "pool_size = $size", 'h', work_mem => '256MB');
		$node->stop;
	}
	{
		my $log_end = -s $node->logfile;

		# the supervisor needs one
		$node->append_conf('postgresql.conf', "gpusort.pool_size = -1\nmax_worker_processes = 0");
		$node->start;
		like(substr(slurp_file($node->logfile), $log_end), qr/too many background workers.*CONTEXT:  registering gpusort's supervisor/s, 'no worker for the supervisor: the log says so');
		same_answer($node, "SELECT * FROM t ORDER BY h, i", 'no worker processes');
		$node->append_conf('postgresql.conf', 'max_worker_processes = 8');
		$node->restart;
	}
	like($node->safe_psql('postgres', 'SHOW gpusort.pool_size'), qr/^\d+[MG]B$/, 'pool_size = -1: the size is shown');
	cmp_ok($node->safe_psql('postgres', 'SELECT pool_bytes FROM gpusort_service()'), '>=', $pool_bytes, 'pool_size = -1: there is a pool');
	$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
	$node->restart;
	is($node->safe_psql('postgres', "LOAD 'gpusort'; SHOW gpusort.pool_size"), '0', 'LOAD: no pool');
	$node->stop;
}
done_testing();
