# Errors and cancels in every phase leave a backend that works, without temporary
# files and with its memory given back.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'work_mem = 256MB', 'max_parallel_workers_per_gather = 0',
	'gpusort.force = on', 'gpusort.keep_memory = 0');

$node->safe_psql('postgres', q(
	CREATE TABLE t AS SELECT hashint8(i)::int8 * 1000003 + i AS k, i, repeat('x', 60) AS pad
	FROM generate_series(1, 200000) i;
	CREATE TABLE few AS SELECT i FROM generate_series(1, 200) i;
	CREATE FUNCTION anonymous_kb() RETURNS int LANGUAGE sql AS
	$$ SELECT (regexp_match(pg_read_file('/proc/self/status'), 'RssAnon:\s+(\d+)'))[1]::int $$;
	VACUUM ANALYZE));

# All rows through the sort, none kept: the sort is a subquery's.
my $sort = 'SELECT count(*) FROM (SELECT * FROM t ORDER BY k OFFSET 0) s';
my $check = 'SELECT count(*) FROM (SELECT k, lag(k) OVER () AS p FROM (SELECT k FROM t ORDER BY k OFFSET 0) s) s WHERE p > k';

like(plan_of($node, $sort), qr/GpuSort/, 'the sort is ours');

# phase => statement that spends its time there
my %slow = (
	collect => 'SELECT count(*) FROM (SELECT i, pg_sleep(0.05) FROM few ORDER BY i DESC OFFSET 0) s',
	emit => 'SELECT count(pg_sleep(0.05)::text) FROM (SELECT i FROM few ORDER BY i DESC OFFSET 0) s');

sub still_works
{
	my ($out, $label) = @_;
	my @lines = split /\n/, $out;
	my ($pid1, $before, $rows, $inversions, $after, $pid2) = @lines;

	is(scalar @lines, 6, "$label: the session went on") or diag $out;
	is($pid1, $pid2, "$label: in the same backend");
	is("$rows $inversions", '200000 0', "$label: the next sort is right");
	cmp_ok($after - $before, '<', 16 * 1024, "$label: memory is given back");
	is_deeply([ temp_files($node) ], [], "$label: no temporary files");
}

# A session that warms up, fails as told, and goes on.
sub failing_session
{
	my ($label, $expected, @failing) = @_;
	my ($out, $err) = session_of($node,
		'SELECT pg_backend_pid()', 'SELECT anonymous_kb()', @failing, reset_timeout(),
		$sort, $check, 'SELECT anonymous_kb()', 'SELECT pg_backend_pid()');

	like($err, $expected, "$label: the error is reported");
	still_works($out, $label);
}

for my $phase (sort keys %slow)
{
	like(plan_of($node, $slow{$phase}), qr/GpuSort/, "$phase: the sort is ours");
	failing_session("statement_timeout in $phase", qr/canceling statement due to statement timeout/,
		'SET statement_timeout = 300', $slow{$phase});
}

# Wherever these hit: collecting, sorting, emitting.
for my $ms (5, 20, 60, 120)
{
	my $many = join ' UNION ALL ', ($sort) x 8;

	failing_session("statement_timeout after $ms ms", qr/statement timeout/, "SET statement_timeout = $ms", $many);
}

# Errors of the query itself: in the input, above the sort, in a subtransaction.
failing_session('error in the input', qr/division by zero/,
	'SELECT sum(x) FROM (SELECT 1 / (i - 100000) AS x, k FROM t ORDER BY k OFFSET 0) s');
failing_session('error above the sort', qr/division by zero/,
	'SELECT sum(1 / (i - 100000)) FROM (SELECT * FROM t ORDER BY k OFFSET 0) s');
failing_session('error in a subtransaction', qr/NOTICE:  caught/,
	"DO \$\$ BEGIN PERFORM sum(1 / (i - 100000)) FROM (SELECT * FROM t ORDER BY k OFFSET 0) s;
	 EXCEPTION WHEN division_by_zero THEN RAISE NOTICE 'caught'; END \$\$");

# pg_cancel_backend and pg_terminate_backend from outside.
for my $phase (sort keys %slow)
{
	for my $function ('pg_cancel_backend', 'pg_terminate_backend')
	{
		my ($out, $err) = ('', '');
		my $victim = IPC::Run::start(
			[ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SET application_name = 'victim'",
				'-c', $slow{$phase}, '-c', "SELECT 'alive'" ],
			'>', \$out, '2>', \$err, time_limit());

		ok($node->poll_query_until('postgres', q(
			SELECT count(*) = 1 FROM pg_stat_activity
			WHERE application_name = 'victim' AND wait_event = 'PgSleep')), "$function in $phase: is running");
		$node->safe_psql('postgres', "SELECT $function(pid) FROM pg_stat_activity WHERE application_name = 'victim'");
		$victim->finish;
		if ($function eq 'pg_cancel_backend')
		{
			like($err, qr/canceling statement due to user request/, "$function in $phase: cancelled");
			is($out, "alive\n", "$function in $phase: the session goes on");
		}
		else
		{
			like($err, qr/terminating connection/, "$function in $phase: terminated");
		}
		is_deeply([ temp_files($node) ], [], "$function in $phase: no temporary files");
	}
}

# pg_terminate_backend while the engine sorts, which does not stop any more for interrupts that
# keep coming: it ends at once all the same.  The sort's progress tells where it is.
{
	my $build = join ';', "SET client_connection_check_interval = '1ms'", "SET gpusort.engine = 'host'",
		"SET maintenance_work_mem = '1GB'", 'SET max_parallel_maintenance_workers = 0', 'CREATE INDEX many_k ON many (k)';
	my $seen = '';

	$node->safe_psql('postgres', q(
		CREATE TABLE many AS SELECT hashint8(i)::int8 * 1000003 + i AS k FROM generate_series(1, 3000000) i;
		CREATE FUNCTION terminate_in_sort(OUT at bigint, OUT last bigint, OUT total bigint) LANGUAGE plpgsql AS $$
		DECLARE
			s record;
			victim int;
			until timestamptz := clock_timestamp() + interval '60 s';
		BEGIN
			WHILE clock_timestamp() < until LOOP
				PERFORM pg_stat_clear_snapshot();
				SELECT * INTO s FROM pg_stat_progress_create_index;
				EXIT WHEN victim IS NOT NULL AND s.pid IS DISTINCT FROM victim;
				-- the counters begin anew when the tree is built
				last := CASE WHEN victim IS NULL OR s.phase ~ 'sorting' THEN s.tuples_done ELSE total END;
				IF victim IS NULL AND s.phase ~ 'sorting' AND s.tuples_done BETWEEN s.tuples_total / 5 AND s.tuples_total / 2 THEN
					victim := s.pid;
					at := s.tuples_done;
					total := s.tuples_total;
					PERFORM pg_terminate_backend(victim);
				END IF;
				EXIT WHEN victim IS NULL AND (s.phase ~ 'loading' OR to_regclass('many_k') IS NOT NULL);
			END LOOP;
		END $$));

	# the sort may be over before it was seen
	for (1 .. 20)
	{
		my $err = '';

		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS many_k');
		my $victim = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), map { ('-c', $_) } split /;/, $build ],
			'>', \my $out, '2>', \$err, time_limit());

		$seen = $node->safe_psql('postgres', 'SELECT at, last, total FROM terminate_in_sort() WHERE at IS NOT NULL');
		$victim->finish;
		next if $seen eq '';
		like($err, qr/terminating connection/, 'terminated while the engine sorts');
		last;
	}
	my ($at, $last, $total) = split /\|/, $seen;
	ok($seen ne '' && $last - $at < ($total - $at) / 2, 'it did not sort to the end') or diag "at | last | total: $seen";
}

# A client that leaves with a half-read result.
{
	my ($out, $err) = session_of($node, 'SELECT pg_backend_pid()', 'SELECT anonymous_kb()',
		'BEGIN', 'DECLARE c CURSOR FOR SELECT * FROM t ORDER BY k', 'MOVE 10 IN c', 'ROLLBACK',
		$sort, $check, 'SELECT anonymous_kb()', 'SELECT pg_backend_pid()');

	is($err, '', 'half-read cursor: no error');
	still_works($out, 'half-read cursor');
}

is($node->safe_psql('postgres', 'SELECT 1'), '1', 'the server is there');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|resource was not closed|leak/, 'nothing odd in the log');
$node->stop;
done_testing();
