# Processes that write rows together wait for each other.  Each is made slow, fails, ends without a word, is cancelled or
# terminated wherever it may be: the bytes are PostgreSQL's, or there is the proper error, soon, and nobody stays.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 64MB', 'gpusort.force = on', 'max_worker_processes = 12', 'max_parallel_workers = 12',
	'max_parallel_workers_per_gather = 2', 'min_parallel_table_scan_size = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'gpusort.slice_pages = 16', "statement_timeout = '1min'");

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i, hashint8(i) AS h, repeat('x', 200) AS pad FROM generate_series(1, 4000) i;
	CREATE TABLE failing AS SELECT i, CASE WHEN i IN (900, 2500, 3900) THEN chr(20000) ELSE repeat('x', 200) END AS pad FROM generate_series(1, 4000) i;
	VACUUM ANALYZE));
my $pool_bytes = service($node, 'pool_bytes_free');
my $sum = $node->basedir . '/sum';

# Parts of the work by a worker, and by the leader.
my @worker_parts = ('the start of writing rows', 'a slice of rows', 'a piece of rows', 'the end of writing rows');
my @leader_parts = ('reading rows in advance', q(writing a worker's rows), 'the end of all rows');
my @left_parts = ('leaving rows to the leader', 'writing rows that were left');
my @sources = ('t', '(SELECT * FROM t ORDER BY h, i)', '((SELECT i, h FROM t WHERE i % 3 = 0) UNION (SELECT i, h FROM (SELECT * FROM t ORDER BY h DESC, i LIMIT 173) s))');
my @failing = ('failing', '(SELECT * FROM failing ORDER BY i)');

sub is_over
{
	my ($label) = @_;

	nothing_is_left($node, $pool_bytes, $label);
	ok($node->poll_query_until('postgres', q(SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker' OR application_name = 'victim')),
		"$label: no process is left");
}

# COPY TO a program, whose output is to have this checksum, if there is no error.
sub copies_well
{
	my ($label, $source, $options, $expected, $pattern, @settings) = @_;

	unlink $sum;
	my ($out, $err) = session_of($node, @settings, "COPY $source TO PROGRAM 'sort | md5sum >$sum' $options", "SELECT 'goes on'");

	like($err, $pattern, "$label: no error, or the proper one");
	is(slurp_file($sum), $expected, "$label: the bytes") if $err eq '';
	like($out, qr/^goes on$/m, "$label: the session goes on");
	return $err;
}

sub fault
{
	my ($fault, $part) = @_;

	return ("SET gpusort.inject_fault = $fault", sprintf q(SET gpusort.inject_fault_at = '%s'), $part =~ s/'/''/gr);
}

if (part('faults'))
{
	for my $source (@sources)
	{
		$node->safe_psql('postgres', "SET gpusort.enabled = off; COPY $source TO PROGRAM 'sort | md5sum >$sum'");
		my $expected = slurp_file($sum);

		for my $part (@worker_parts, @leader_parts)
		{
			copies_well("$source, slow, $part", $source, '', $expected, qr/^$/, fault('slow_slices', $part));
		}
		for my $part (@worker_parts)
		{
			# what a worker has failed in may have been done by the leader
			copies_well("$source, error, $part", $source, '', $expected, qr/^$|ERROR:  injected error in $part(?:\nCONTEXT:  parallel worker)?$/, fault('worker_error', $part));
			copies_well("$source, exit, $part", $source, '', $expected, qr/^$|ERROR:  lost connection to parallel worker$/, fault('worker_exit', $part));
		}
		is_over($source);
	}
}

# A row that fails is the leader's, whatever becomes of the worker that has met it.
if (part('rows'))
{
	for my $source (@failing)
	{
		my $options = q((ENCODING 'LATIN1'));
		my $theirs = qr/ERROR:  character with byte sequence 0xe4 0xb8 0xa0 in encoding "UTF8" has no equivalent in encoding "LATIN1"/;

		copies_well("$source, slow, $_", $source, $options, '', $theirs, fault('slow_slices', $_)) for @worker_parts, @leader_parts, @left_parts;
		copies_well("$source, error, $_", $source, $options, '', qr/$theirs|ERROR:  injected error in $_/, fault('worker_error', $_)) for @worker_parts, @left_parts;
		copies_well("$source, exit, $_", $source, $options, '', qr/$theirs|ERROR:  lost connection to parallel worker/, fault('worker_exit', $_)) for @worker_parts, @left_parts;
		is_over($source);
	}
}

# Cancel or terminate one of the processes while it is in some part of the work, which is slow.
sub interrupt
{
	my ($who, $how, $part) = @_;
	my $err;
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=victim',
			map { ('-c', $_) } fault('slow_slices', $part), qq(COPY $sources[1] TO PROGRAM 'trap "" INT TERM; cat >/dev/null') ], '<', \undef, '>', \my $out, '2>', \$err, time_limit());
	my $kind = $who eq 'leader' ? 'l.pid' : 'w.pid';

	$node->safe_psql('postgres', qq(
		DO \$\$
			DECLARE
				until timestamptz := clock_timestamp() + interval '10 s';
				met int;
			BEGIN
				WHILE met IS NULL AND clock_timestamp() < until LOOP
					PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
					SELECT min($kind) INTO met FROM pg_stat_activity w JOIN pg_stat_activity l ON w.leader_pid = l.pid AND w.pid <> l.pid
						WHERE l.application_name = 'victim';
					IF met IS NOT NULL THEN
						PERFORM pg_sleep(random() * 0.05), pg_${how}_backend(met);
					ELSIF NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'victim') AND clock_timestamp() > until - interval '8 s' THEN
						EXIT;
					END IF;
				END LOOP;
			END \$\$));
	$run->finish;
	return $err;
}

my %patterns = (
	'leader cancel' => qr/ERROR:  canceling statement due to user request$/m,
	'worker cancel' => qr/ERROR:  canceling statement due to user request$/m,
	'leader terminate' => qr/FATAL:  terminating connection due to administrator command$/m,
	'worker terminate' => qr/ERROR:  terminating background worker .* due to administrator command$/m);
if (part('cancel'))
{
	for my $case (sort keys %patterns)
	{
		my ($who, $how) = split / /, $case;
		my ($met, $tried) = (0, 0);

		# on a busy machine all may have been done before it is interrupted
		for my $part (@worker_parts, @leader_parts, ('a slice of rows') x 20)
		{
			last if $tried++ >= @worker_parts + @leader_parts && $met;
			my $err = interrupt($who, $how, $part);

			$met += $err ne '';
			like($err, qr/^$|$patterns{$case}/, "$case, $part: no error, or the proper one");
		}
		cmp_ok($met, '>', 0, "$case: some were met");
		is_over($case);
	}
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|by signal|was not closed|leak|statement timeout/, 'nothing odd in the log');
$node->stop;
done_testing();
