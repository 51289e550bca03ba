# Sorts and index builds of more rows than fit, whose runs stay in memory, all of them or some: as the planner
# expects, or more, or fewer.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 320MB', 'gpusort.force = on', 'work_mem = 1MB', 'hash_mem_multiplier = 1',
	'max_worker_processes = 12', 'max_parallel_workers = 12', 'max_parallel_workers_per_gather = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'gpusort.cost_gather = 0', 'min_parallel_table_scan_size = 0', 'max_parallel_maintenance_workers = 0', 'maintenance_work_mem = 1MB',
	'gpusort.late_rows = off', 'shared_buffers = 256MB', 'restart_after_crash = on');

# Short rows: in memory they take three times what they take in a run.  And somewhat longer ones, of many lengths.
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 100)::int2 AS few FROM generate_series(1, 800000) i;
	CREATE TABLE w WITH (parallel_workers = 2) AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 100)::int2 AS few, CASE WHEN i % 7 <> 0 THEN md5(i::text) COLLATE "C" END AS m,
		repeat('x', 150 + i % 150) AS pad
	FROM generate_series(1, 240000) i;
	VACUUM ANALYZE t, w));
create_index_checks($node);
tables_stay();
my $pool_bytes = service($node, 'pool_bytes_free');
my $held = "SELECT 'held ' || (pool_bytes - pool_bytes_free) / 1048576 FROM gpusort_service()";

# What EXPLAIN tells of the first sort of a query: kB in files, and in memory.
sub spilled_and_kept
{
	my ($query, @settings) = @_;
	my $plan = analyzed_plan_of($node, $query, @settings);

	return $plan =~ /Spilled: (\d+)kB(?:  Kept: (\d+)kB)?/ ? ($1, $2 // 0, $plan) : (0, 0, $plan);
}

# The same, again and again until it is as wanted: how much there is of each depends on when a machine starts workers.
sub find_spilled_and_kept
{
	my ($wanted, @arguments) = @_;
	my @found;

	for (1 .. 20)
	{
		@found = spilled_and_kept(@arguments);
		last if $wanted->(@found);
	}
	return @found;
}

# By how much memory there is, what a sort writes and what it keeps.
my @serial = (max_parallel_workers_per_gather => 0);
my @parallel = (max_parallel_workers_per_gather => 2, 'gpusort.enable_shared_sort' => 'off');
my @shared = (max_parallel_workers_per_gather => 2);
my %quota = (
	# by way of collecting, and table: in memory, all kept, some kept, none kept
	serial => { w => [ 75, undef, 18, 4 ], t => [ 75, 13, 8, 3 ] },
	parallel => { w => [ 75, undef, 24, 8 ], t => [ 75, 18, 12, 5 ] });
my %rows_kb = (w => 67367, t => 25000);

# ---------- all, some, none ----------

if (part('kept'))
{
	for my $way ([ 'serial', @serial ], [ 'parallel', @parallel ])
	{
		my ($name, @way) = @$way;

		for my $table ('w', 't')
		{
			local $way[1] = $way[1] && $table eq 't' ? 1 : $way[1];
			my ($all, $most, $some, $none) = @{ $quota{$name}{$table} };
			my $query = "SELECT * FROM $table ORDER BY h, i";
			my @in_memory = find_spilled_and_kept(sub { $_[2] !~ /Spilled/ }, $query, @way, 'gpusort.pool_quota' => $all);
			my @kept = $most ? find_spilled_and_kept(sub { $_[0] == 0 && $_[1] > 0 }, $query, @way, 'gpusort.pool_quota' => $most) : ();
			my @some = find_spilled_and_kept(sub { $_[0] > 0 && $_[1] > $_[0] / 3 }, $query, @way, 'gpusort.pool_quota' => $some);
			my @none = find_spilled_and_kept(sub { $_[0] > 0 && $_[1] == 0 }, $query, @way, 'gpusort.pool_quota' => $none);

			unlike($in_memory[2], qr/Spilled/, "$name, $table: all rows are in memory");
			ok($kept[0] == 0 && $kept[1] > 0, "$name, $table: all runs are: $kept[1] kB, $kept[0] in files") or diag $kept[2] if @kept;
			ok($some[0] > 0 && $some[1] > $some[0] / 3, "$name, $table: some are: $some[0], $some[1] kB") or diag $some[2];
			ok($none[0] > 0 && $none[1] == 0, "$name, $table: none is: $none[0], $none[1] kB") or diag $none[2];
			cmp_ok(abs($_->[0] + $_->[1] - $rows_kb{$table}), '<=', 2, "$name, $table: all of them are counted") for \@some, \@none, @kept ? \@kept : ();
			same_answer($node, $query, "$name, $table, quota $_", @way, 'gpusort.pool_quota' => $_) for grep { $_ } $most, $some, $none;
		}
	}
	for my $order ('m DESC NULLS LAST, i', 'm COLLATE "und-x-icu", i', 'few, m, i DESC')
	{
		same_answer($node, "SELECT * FROM w ORDER BY $order", "$order, quota $_", @serial, 'gpusort.pool_quota' => $_) for 30, 20;
		same_answer($node, "SELECT * FROM w ORDER BY $order", "$order, workers, quota $_", @parallel, 'gpusort.pool_quota' => $_) for 45, 30;
	}
	for my $fault ('codec', 'verify')
	{
		my @fault = ('gpusort.inject_fault' => $fault, 'gpusort.verify' => 'on');

		same_answer($node, 'SELECT * FROM w ORDER BY h, i', "fault $fault", @serial, @fault, 'gpusort.pool_quota' => 18);
		same_answer($node, 'SELECT * FROM w ORDER BY h, i', "fault $fault, workers", @parallel, @fault, 'gpusort.pool_quota' => 24);
	}
	# Workers that are wanted and can't be had leave their share to the others.
	my @alone = spilled_and_kept('SELECT * FROM t ORDER BY h, i', @parallel, max_parallel_workers => 0, 'gpusort.pool_quota' => 13);
	ok($alone[0] == 0 && $alone[1] > 0, "no worker: all runs are kept: $alone[1] kB, $alone[0] in files") or diag $alone[2];
	same_answer($node, 'SELECT * FROM t ORDER BY h, i', 'no worker', @parallel, max_parallel_workers => 0, 'gpusort.pool_quota' => 13);
	nothing_is_left($node, $pool_bytes, 'after sorts');
}

# ---------- estimates that are wrong ----------

# Before the memory is full all rows were going to fit: the first run is in a file, and others stay in memory.
if (part('estimates'))
{
	$node->safe_psql('postgres', q(
		CREATE TABLE grown WITH (autovacuum_enabled = off, parallel_workers = 2) AS SELECT * FROM w WHERE i <= 1000;
		ANALYZE grown;
		UPDATE pg_class SET relpages = 10000, reltuples = 1000 WHERE oid = 'grown'::regclass;
		INSERT INTO grown SELECT * FROM w WHERE i > 1000));
	for my $way ([ 'serial', 10, @serial ], [ 'parallel', 24, @parallel ])
	{
		my ($name, $quota, @way) = @$way;
		my ($spilled, $kept, $plan) = spilled_and_kept('SELECT * FROM grown ORDER BY h, i', @way, 'gpusort.pool_quota' => $quota);

		ok($spilled > 0 && $kept > 0, "$name, more rows than expected: $spilled, $kept kB") or diag $plan;
		same_answer($node, 'SELECT * FROM grown ORDER BY h, i', "$name, more rows than expected", @way, 'gpusort.pool_quota' => $quota);
		same_answer($node, 'SELECT * FROM w WHERE i + i <= 2000 + random() ORDER BY h, i', "$name, fewer rows than expected", @way, 'gpusort.pool_quota' => $quota);
	}
}

# ---------- who reads them ----------

my %values;
sub same_value
{
	my ($query, $label, @settings) = @_;
	my $ours = GpuSortTest::run_with($node, $query, @settings);

	$values{$query} //= GpuSortTest::run_with($node, $query, 'gpusort.enabled' => 'off');
	is($ours, $values{$query}, "$label: PostgreSQL's answer");
}

if (part('readers'))
{
	my $windows = 'SELECT count(*), sum(r), sum(hashint8(s)), sum(length(pad))
		FROM (SELECT rank() OVER w AS r, sum(i) OVER w AS s, pad FROM w WINDOW w AS (PARTITION BY few ORDER BY h, i)) q';
	for my $quota (24, 18)
	{
		my $keeps = qr/GpuSort Shared.*Sliced By.*Kept: \d+kB/s;

		like((find_spilled_and_kept(sub { $_[2] =~ $keeps }, $windows, @shared, 'gpusort.pool_quota' => $quota))[2], $keeps, "a shared sort keeps runs, quota $quota");
		same_value($windows, "window functions, quota $quota", @shared, 'gpusort.pool_quota' => $quota);
	}
	my @merge = (enable_hashjoin => 'off', enable_nestloop => 'off', enable_material => 'off');
	my $joined = 'SELECT count(*), sum(hashint8(a.i * 1000003::int8 + b.i)::int8), sum(length(a.pad)) FROM w a JOIN w b ON a.i / 3 = b.i / 3 AND a.i + b.i + random() > 0';
	for my $way ([ 'serial', @serial ], [ 'parallel', @parallel ], [ 'shared', @shared ])
	{
		my ($name, @way) = @$way;

		same_value($joined, "$name: merge join with marks", @way, @merge, 'gpusort.pool_quota' => 20);
		same_value("SELECT count(*), sum(n * hashint8(q.i)::int8), sum(length(pad)) FROM generate_series(1, 2) n, (SELECT * FROM w ORDER BY h, i OFFSET 0) q", "$name: rescans",
			@way, enable_material => 'off', enable_hashjoin => 'off', enable_mergejoin => 'off', 'gpusort.pool_quota' => 24);
		same_value("SELECT count(*), sum(n * c) FROM generate_series(1, 2) n, LATERAL (SELECT sum(length(pad)) AS c FROM (SELECT * FROM w WHERE i > n ORDER BY h, i OFFSET 0) q) q", "$name: sorts once more",
			@way, 'gpusort.pool_quota' => 24);
		same_value("SELECT array_agg(q::text) FROM (SELECT * FROM (SELECT * FROM w ORDER BY h, i OFFSET 0) q WHERE i % 7 = 3 LIMIT 50) q", "$name: a limit that stops in the middle",
			@way, 'gpusort.pool_quota' => 24);
		same_answer($node, "SELECT * FROM w ORDER BY h, i LIMIT $_", "$name: limit $_", @way, 'gpusort.pool_quota' => 15) for 5000, 100000, 200000;
	}
	nothing_is_left($node, $pool_bytes, 'after queries');

	# Runs in memory go when the rows are not wanted any more, in a session that stays, and not before.
	my @cursor = ('SET gpusort.pool_quota = 28', 'SET enable_seqscan = on', 'BEGIN', 'DECLARE c SCROLL CURSOR FOR SELECT i, pad FROM w ORDER BY h, i', 'MOVE 125000 IN c', 'FETCH 2 FROM c',
		'FETCH BACKWARD 5 FROM c', 'MOVE ABSOLUTE 100 IN c', 'FETCH BACKWARD 3 FROM c', 'MOVE FORWARD ALL IN c', 'FETCH BACKWARD 3 FROM c');
	my ($ours, $theirs) = map { join "\n", session_of($node, "SET gpusort.enabled = $_", @cursor, 'COMMIT') } 'on', 'off';
	is($ours, $theirs, 'a cursor in both directions');
	my ($out) = session_of($node, @cursor, $held, 'CLOSE c', $held, 'COMMIT', $held);
	my @held = $out =~ /held (\d+)/g;
	cmp_ok($held[0], '>', 40, 'an open cursor has its runs');
	is_deeply([ @held[ 1, 2 ] ], [ 0, 0 ], '... a closed one has not');
}

# ---------- failures ----------

my $counted = 'SELECT count(q::text) FROM (SELECT * FROM w ORDER BY h, i OFFSET 0) q';
my @workers = ('SET max_parallel_workers_per_gather = 2');
sub fails_well
{
	my ($label, $pattern, @statements) = @_;
	my ($output, $error) = session_of($node, 'SET gpusort.pool_quota = 24', @statements, reset_timeout(), "SELECT 'goes on'", $held);

	like($error, $pattern, "$label: the error");
	like($output, qr/^goes on$/m, "$label: the session goes on");
	like($output, qr/^held 0$/m, "$label: the pool is free at once");
	nothing_is_left($node, $pool_bytes, $label);
}
if (part('failures'))
{
	fails_well('an error above', qr/division by zero/, 'SELECT count(1 / (i - 100000)) FROM (SELECT * FROM w ORDER BY h, i OFFSET 0) q');
	fails_well('an error above, workers', qr/division by zero/, @workers, 'SELECT count(1 / (i - 100000)) FROM (SELECT * FROM w ORDER BY h, i OFFSET 0) q');
	fails_well('an error below', qr/division by zero/, 'SELECT count(q::text) FROM (SELECT *, 1 / (i - 239000) FROM w ORDER BY h, i OFFSET 0) q');
	fails_well('an error below, workers', qr/division by zero/, @workers, 'SELECT count(q::text) FROM (SELECT *, 1 / (i - 239000) FROM w ORDER BY h, i OFFSET 0) q');
	fails_well('a quota for files', qr/temporary file size exceeds "?temp_file_limit/, "SET temp_file_limit = '1MB'", @$_, $counted) for [], \@workers;
	fails_well('a timeout', qr/canceling statement due to statement timeout/, "SET statement_timeout = '@{[ 40 + 30 * $_ ]}ms'", ($_ % 2 ? @workers : ()), $counted) for 1 .. 6;
}

# ---------- index builds ----------

if (part('builds'))
{
	# Serial builds have the same pages, but for where in the log they are: those of one are checked.
	my $pages = q(SELECT string_agg(relname || ' ' || (SELECT md5(string_agg(md5(substr(get_raw_page(relname, n), 11)), '' ORDER BY n))
		FROM generate_series(0, pg_relation_size(oid) / current_setting('block_size')::int - 1) n), ', ' ORDER BY relname) FROM pg_class WHERE relname ~ '^[tw]_');
	my $checked = '';

	$node->safe_psql('postgres', 'CREATE EXTENSION pageinspect');
	for my $workers (0, 2)
	{
		for my $quota ($workers > 0 ? (17, 16, 8) : (15, 9, 4))
		{
			my $label = "builds by @{[ $workers + 1 ]}, quota $quota";

			$node->safe_psql('postgres', qq(
				SET max_parallel_maintenance_workers = $workers;
				SET gpusort.pool_quota = $quota;
				CREATE UNIQUE INDEX t_i ON t (h, i);
				CREATE INDEX t_few ON t (few) INCLUDE (i);
				CREATE INDEX w_m ON w (m, i) INCLUDE (pad);
				CREATE UNIQUE INDEX w_m_icu ON w (m COLLATE "und-x-icu", i)));
			my $wanted = $quota > 8 ? qr/built index "t_told".* [1-9]\d* kB kept/ : qr/built index "t_told".* portions, 0 kB kept/;
			my $told;
			for (1 .. 20)
			{
				(undef, $told) = session_of($node, 'SET client_min_messages = debug1', "SET max_parallel_maintenance_workers = $workers", "SET gpusort.pool_quota = $quota", 'CREATE INDEX t_told ON t (h, few)', 'DROP INDEX t_told');
				last if $told =~ $wanted;
			}
			like($told, $wanted, "$label: runs in memory");
			my $found = $node->safe_psql('postgres', $pages);
			if ($workers == 0 && $checked ne '')
			{
				is($found, $checked, "$label: the same pages");
			}
			else
			{
				# from the root, too, if by one, or where no run was kept
				is($node->safe_psql('postgres', "SELECT check_indexes($workers = 0 OR $quota <= 8)"), '4 valid', "$label: amcheck, and every row");
				$checked = $found;
			}
			my (undef, $error) = session_of($node, "SET max_parallel_maintenance_workers = $workers", "SET gpusort.pool_quota = $quota", 'CREATE UNIQUE INDEX t_no ON t (few, h)', 'CREATE UNIQUE INDEX t_no ON t (few)');
			like($error, qr/could not create unique index "t_no"/, "$label: duplicates");
			$node->safe_psql('postgres', 'DROP INDEX IF EXISTS t_no; DROP INDEX t_i, t_few, w_m, w_m_icu');
			nothing_is_left($node, $pool_bytes, $label);
		}
	}
}

$node->stop;
done_testing();
