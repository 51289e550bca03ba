# Spilled sorts and index builds whose portions are loaded by workers: every way to read on, to stop and to
# fail in the middle.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

# Three participants have a portion each, and so two workers are wanted.
my $node = start_node('main', 'gpusort.pool_size = 192MB', 'gpusort.pool_quota = 40', 'gpusort.force = on', 'work_mem = 1MB', 'hash_mem_multiplier = 1',
	'max_worker_processes = 12', 'max_parallel_workers = 12', 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'gpusort.cost_gather = 0', 'min_parallel_table_scan_size = 0', 'max_parallel_maintenance_workers = 2', 'maintenance_work_mem = 1MB',
	'gpusort.late_rows = off', 'gpusort.enable_shared_sort = off', 'restart_after_crash = on');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i, i / 3 AS g, hashint8(i) AS h, (hashint8(i) % 100)::int2 AS few, CASE WHEN i % 7 <> 0 THEN md5(i::text) COLLATE "C" END AS m,
		repeat('x', 350 + i % 150) AS pad
	FROM generate_series(1, 180000) i;
	VACUUM ANALYZE t));
$node->safe_psql('postgres', 'CREATE EXTENSION amcheck');
tables_stay();
my $pool_bytes = service($node, 'pool_bytes_free');

# How many sorts of a query had portions from workers.  Of a few portions the leader may have loaded all by
# the time a busy machine has started its workers: so many are wanted, and it is tried again.
sub sorts_with_workers
{
	my ($wanted, $query, @settings) = @_;
	my $sorts = 0;

	for (1 .. 20)
	{
		my @portions = analyzed_plan_of($node, $query, @settings) =~ /Portions: \d+(?: \((\d+) by workers\))?/g;

		$sorts = grep { $_ } @portions;
		last if $sorts >= $wanted;
	}
	return $sorts;
}

my %values;

# The value of a query that is not about the order of its rows; so many sorts of it must have had workers.
sub same_value
{
	my ($query, $label, $sorts, @settings) = @_;
	my $with_workers = $sorts > 0 ? sorts_with_workers($sorts, $query, @settings) : 0;
	my $ours = join '', session_of($node, settings(@settings), $query);

	$values{$query} //= join '', session_of($node, 'SET gpusort.enabled = off', $query);
	cmp_ok($with_workers, '>=', $sorts, "$label: $sorts sorts have workers");
	is($ours, $values{$query}, "$label: PostgreSQL's answer");
}

sub settings
{
	my @settings = @_;
	my @statements;

	while (my ($name, $value) = splice @settings, 0, 2)
	{
		push @statements, "SET $name = '$value'";
	}
	return @statements;
}

# ---------- rows in order ----------

my $query = 'SELECT * FROM t ORDER BY h, i';
if (part('order'))
{
	is(sorts_with_workers(1, $query), 1, 'workers load portions');
	for my $order ('h, i', 'm DESC NULLS LAST, i', 'm COLLATE "und-x-icu", i')
	{
		same_answer($node, "SELECT * FROM t ORDER BY $order", "ORDER BY $order");
	}
	same_answer($node, $query, 'an order that is not confirmed', 'gpusort.verify' => 'on', 'gpusort.inject_fault' => 'verify');
	same_answer($node, $query, 'without workers', max_parallel_workers => 0);
	same_answer($node, $query, 'with fewer workers than planned', max_parallel_workers => 1);
	same_answer($node, $query, 'with slow workers', 'gpusort.inject_fault' => 'slow_slices');
}

# ---------- who reads them ----------

if (part('readers'))
{
	my @merge = (enable_hashjoin => 'off', enable_nestloop => 'off', enable_material => 'off');
	my $joined = 'SELECT count(*), sum(hashint8(a.i * 1000003::int8 + b.i)::int8), sum(length(a.pad) * length(b.pad)) FROM t a JOIN t b
		ON a.g = b.g AND a.i + b.i + random() > 0';
	same_value($joined, 'merge join with marks', 2, @merge);
	same_value($joined, 'merge join, with few workers to be had', 0, @merge, max_parallel_workers => 2);
	same_value('SELECT sum(r), sum(hashint8(s)::int8) FROM (SELECT rank() OVER (PARTITION BY few ORDER BY h, i) AS r, sum(i) OVER (ORDER BY i, m) AS s, pad FROM t) q
		WHERE pad > \'\'', 'window functions', 1);
	same_value("SELECT count(*), sum(n * hashint8(i)) FROM (SELECT row_number() OVER () AS n, i FROM (($query OFFSET 0) UNION ALL (SELECT * FROM t ORDER BY few, i OFFSET 0)) q WHERE pad > '') q",
		'two sorts one after the other', 2);
	same_value('SELECT count(*), sum(hashtext(a)::int8) FROM (SELECT g, string_agg(m, $$,$$ ORDER BY i) || max(pad) AS a FROM t GROUP BY g) q', 'grouping', 1,
		enable_hashagg => 'off');
	same_value("SELECT count(*), sum(n * hashint8(q.i)::int8), sum(length(pad)) FROM generate_series(1, 2) n, ($query OFFSET 0) q", 'rescans', 1,
		enable_material => 'off', enable_hashjoin => 'off', enable_mergejoin => 'off');
	same_value("SELECT array_agg(q::text) FROM (SELECT * FROM ($query OFFSET 0) q WHERE i % 7 = 3 LIMIT 50) q", 'a limit that stops in the middle', 0);
	same_value("SELECT array_agg(q::text) FROM (SELECT * FROM ($query OFFSET 0) q WHERE i % 7 = 3 LIMIT 50) q", 'a limit that stops slow workers', 0,
		'gpusort.inject_fault' => 'slow_slices');
	nothing_is_left($node, $pool_bytes, 'after sorts');

	# The same through statements: each ends with a digest of the rows in order.
	my $digest = 'SELECT count(*), sum(n * hashint8(i)), sum(n * length(pad)), sum(n * hashtext(m)::int8)';
	my @statements = (
		[ 'create table as' => "CREATE TEMP TABLE c AS SELECT row_number() OVER () AS n, q.* FROM ($query OFFSET 0) q", "$digest FROM c q" ],
		[ 'copy' => "COPY ($query) TO PROGRAM 'md5sum >@{[ $node->basedir ]}/sum'", "SELECT pg_read_file('@{[ $node->basedir ]}/sum')" ],
		[ 'a function' => "CREATE FUNCTION pg_temp.f() RETURNS SETOF t LANGUAGE plpgsql AS 'BEGIN RETURN QUERY $query; END'",
			"$digest FROM pg_temp.f() WITH ORDINALITY AS q (i, g, h, few, m, pad, n)" ],
		[ 'exceptions in the middle' => q(CREATE FUNCTION pg_temp.f(i int) RETURNS int LANGUAGE plpgsql PARALLEL RESTRICTED AS
				'BEGIN IF i % 1000 > 0 THEN RETURN i; END IF; BEGIN RETURN 1 / (i % 1000); EXCEPTION WHEN division_by_zero THEN RETURN -i; END; END'),
			'BEGIN', "$digest FROM (SELECT row_number() OVER () AS n, pg_temp.f(i) AS f, q.* FROM ($query OFFSET 0) q) q", 'COMMIT' ],
		[ 'a cursor' => 'BEGIN', "DECLARE c SCROLL CURSOR FOR $query", 'MOVE 125000 IN c', 'FETCH 2 FROM c', 'FETCH BACKWARD 5 FROM c', 'MOVE ABSOLUTE 100 IN c', 'FETCH BACKWARD 3 FROM c', 'MOVE FORWARD ALL IN c',
			'FETCH BACKWARD 3 FROM c', 'COMMIT' ],
		[ 'a cursor that is kept' => "DECLARE c CURSOR WITH HOLD FOR $query", 'MOVE 179990 IN c', 'FETCH ALL FROM c', 'CLOSE c' ],
	);
	for (@statements)
	{
		my ($label, @session) = @$_;
		my ($ours, $theirs) = map { join "\n", session_of($node, "SET gpusort.enabled = $_", @session) } 'on', 'off';

		isnt($theirs, '', "$label: there is an answer");
		is($ours, $theirs, "$label: PostgreSQL's answer");
	}
	nothing_is_left($node, $pool_bytes, 'after statements');
}

# ---------- failures ----------

# What becomes of a query whose workers have gone wrong.
sub fails_well
{
	my ($label, $fault, $pattern, @last) = @_;
	my ($out, $err);

	# on a busy machine the leader may have done all before there is a worker
	for (1 .. 20)
	{
		($out, $err) = session_of($node, "SET statement_timeout = '3min'", "SET gpusort.inject_fault = '$fault'", "SET gpusort.inject_fault_at = 'a portion of a sort, a slice of an index'", @last, 'RESET gpusort.inject_fault', 'SELECT 1');
		last if $err =~ $pattern;
		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS failed');
	}
	like($err, $pattern, "$label: the error");
	like($out, qr/^1$/m, "$label: the session goes on");
	nothing_is_left($node, $pool_bytes, $label);
}

if (part('failures'))
{
	my $counted = "SELECT count(q::text) FROM ($query OFFSET 0) q";
	fails_well('an error of a worker', 'worker_error', qr/injected error in a portion of a sort/, $counted);
	fails_well('a worker ends', 'worker_exit', qr/lost (?:connection to )?parallel worker/, $counted);
	fails_well('an error in a subtransaction', 'worker_error', qr/NOTICE:  injected error in a portion of a sort/,
		"DO \$\$ BEGIN FOR n IN 1 .. 2 LOOP BEGIN PERFORM count(q::text) FROM ($query OFFSET 0) q; EXCEPTION WHEN internal_error THEN RAISE NOTICE '%', sqlerrm; END; END LOOP; END \$\$");
	fails_well('an error of a worker in a build', 'worker_error', qr/injected error in a slice of an index/, 'CREATE INDEX failed ON t (h, i) INCLUDE (pad)');
	fails_well('a worker of a build ends', 'worker_exit', qr/lost (?:connection to )?parallel worker/, 'CREATE INDEX failed ON t (h, i) INCLUDE (pad)');
	fails_well('an error above', 'none', qr/division by zero/, "SELECT count(1 / (i - 100000)) FROM ($query OFFSET 0) q");
	fails_well('a timeout', 'slow_slices', qr/canceling statement due to statement timeout/,
		'SET statement_timeout = 700', "SELECT count(q::text) FROM (SELECT CASE WHEN row_number() OVER () = 149999 THEN pg_sleep(600) END, * FROM ($query OFFSET 0) q) q", reset_timeout());
	fails_well('a quota for files', 'none', qr/temporary file size exceeds "?temp_file_limit/, "SET temp_file_limit = '1MB'", $counted);

	# A session that sleeps in the middle of its rows, while workers have loaded some.
	sub begin_sleeper
	{
		my $sleeping = q(SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep');
		my $workers = q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event_type = 'Extension');
		my %sleeper = (out => '');

		$sleeper{run} = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c',
			"SELECT count(q::text) FROM (SELECT CASE WHEN row_number() OVER () = 100 THEN pg_sleep(600) END, * FROM ($query OFFSET 0) q) q" ], '<', \undef, '>', \$sleeper{out}, '2>', \$sleeper{out});
		ok($node->poll_query_until('postgres', "SELECT (SELECT count(*) FROM ($sleeping) s) = 1 AND (SELECT count(*) FROM ($workers) w) = 2"), 'a session sleeps, and its workers wait');
		$sleeper{pid} = $node->safe_psql('postgres', $sleeping);
		$sleeper{worker} = $node->safe_psql('postgres', "$workers LIMIT 1");
		return \%sleeper;
	}

	for my $who ('pid', 'worker')
	{
		my $sleeper = begin_sleeper();

		$node->safe_psql('postgres', "SELECT pg_terminate_backend($sleeper->{$who}, 10000)");
		$sleeper->{run}->finish;
		like($sleeper->{out}, qr/terminating (?:connection|background worker).* due to administrator command/, "$who is terminated");
		nothing_is_left($node, $pool_bytes, "$who is terminated");
	}
}

# ---------- index builds ----------

# Statements, and so many builds among them that workers have written, portion by portion.
sub builds
{
	my ($label, $count, @statements) = @_;
	my $before = length slurp_file($node->logfile);
	my @built;

	my (undef, $err) = session_of($node, 'SET log_min_messages = debug1', "SET statement_timeout = '3min'", @statements);
	is($err, '', "$label: no error");
	@built = substr(slurp_file($node->logfile), $before) =~ /built index .* [1-9]\d* slices, .* \d+ runs/g;
	is(scalar @built, $count, "$label: workers write portions");
}

if (part('builds'))
{
	$node->safe_psql('postgres', 'CREATE TABLE u WITH (parallel_workers = 6, autovacuum_enabled = off) AS SELECT i, g, h, few, m, pad FROM t');
	# versions that an old snapshot sees: dead rows among equal ones, with the same keys and others
	my $old = $node->background_psql('postgres');
	$old->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM u');
	$node->safe_psql('postgres', 'UPDATE u SET pad = pad || $$y$$ WHERE i % 10 = 0; UPDATE u SET i = i + 1000000 WHERE i % 100 = 1');
	builds('builds', 4, 'CREATE UNIQUE INDEX key ON u (h, i) INCLUDE (pad)', 'CREATE INDEX ON u (few) INCLUDE (pad)', 'CREATE INDEX ON u (h DESC) INCLUDE (pad)',
		'CREATE INDEX ON u (m DESC NULLS LAST) INCLUDE (pad)');
	# all but a few of the workers have nothing to do, and end
	builds('slow workers', 1, 'SET client_min_messages = warning', 'SET max_parallel_maintenance_workers = 6', "SET gpusort.inject_fault = 'slow_slices'", 'CREATE INDEX ON u (few, i) INCLUDE (pad)');
	$old->query_safe('COMMIT');
	builds('concurrent builds', 1, 'CREATE INDEX CONCURRENTLY ON u (m COLLATE "und-x-icu") INCLUDE (pad)');
	$old->quit;
	is($node->safe_psql('postgres', q(SELECT count(bt_index_parent_check(indexrelid, true)::text) FROM pg_index WHERE indrelid = 'u'::regclass AND indisvalid)), 6,
		'indexes are valid');
	(undef, my $err) = session_of($node, 'DROP INDEX key', 'INSERT INTO u SELECT * FROM u WHERE i = 5', 'CREATE UNIQUE INDEX failed ON u (h, i) INCLUDE (pad)');
	like($err, qr/could not create unique index "failed"/, 'duplicates are found');
	nothing_is_left($node, $pool_bytes, 'after builds');
}

done_testing();
