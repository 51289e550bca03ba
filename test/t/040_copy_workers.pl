# COPY TO by parallel workers: that they write, and every way to stop and to fail in the middle.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 128MB', 'gpusort.force = on', 'max_worker_processes = 12', 'max_parallel_workers = 12',
	'max_parallel_workers_per_gather = 2', 'restart_after_crash = on');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i, hashint8(i) AS h, repeat('x', 100) || i AS pad FROM generate_series(1, 100000) i;
	CREATE TYPE unsafe;
	CREATE FUNCTION unsafe_in(cstring) RETURNS unsafe LANGUAGE internal STRICT IMMUTABLE AS 'int4in';
	CREATE FUNCTION unsafe_out(unsafe) RETURNS cstring LANGUAGE internal STRICT IMMUTABLE AS 'int4out';
	CREATE TYPE unsafe (INPUT = unsafe_in, OUTPUT = unsafe_out, LIKE = int4);
	CREATE CAST (int4 AS unsafe) WITHOUT FUNCTION;
	CREATE TYPE row_of_unsafe AS (a int4, b unsafe[]);
	VACUUM ANALYZE t));
my $pool_bytes = service($node, 'pool_bytes_free');
my $sum = $node->basedir . '/sum';

# How many slices workers wrote, and whether the bytes are those that one process writes.
sub written_by_workers
{
	my ($what, @settings) = @_;
	my @copies = map { "COPY $what TO PROGRAM 'md5sum >$sum.$_'" } 0, 1;
	my (undef, $err) = session_of($node, @settings, 'SET client_min_messages = debug1', $copies[1], 'SET gpusort.enable_copy = off', $copies[0]);
	my ($slices) = $err =~ /(\d+) of \d+ slices by them/;

	is(slurp_file("$sum.1"), slurp_file("$sum.0"), "$what: the same bytes");
	return $slices;
}

my $sorted = '(SELECT * FROM t ORDER BY h, i)';
for my $what ('t', 't (pad, h)', $sorted, '(SELECT i, pad FROM t ORDER BY h, i LIMIT 70000 OFFSET 10)')
{
	# of few slices the leader may have written all by the time a busy machine has started its workers
	my $slices = 0;
	for (1 .. 20)
	{
		last if $slices = written_by_workers($what);
	}
	cmp_ok($slices, '>', 0, "$what: workers write");
}
ok(!defined written_by_workers($sorted, 'SET max_parallel_workers_per_gather = 0'), 'no workers are allowed');
ok(!defined written_by_workers($sorted, 'SET max_parallel_workers = 0'), 'no workers are there');
ok(!defined written_by_workers("(SELECT $_ FROM t ORDER BY h, i)"), "$_: what is not parallel safe is not written by workers")
	for 'i::unsafe', 'ARRAY[i::unsafe]', 'row(i, ARRAY[i::unsafe])::row_of_unsafe', 'row(i)';
ok(defined written_by_workers('(SELECT i, ARRAY[h], int4range(i, i + 1), t FROM t ORDER BY h, i)'), 'others are');
nothing_is_left($node, $pool_bytes, 'after copies');

# ---------- failures ----------

sub fails_well
{
	my ($label, $pattern, @statements) = @_;
	my ($out, $err);

	# on a busy machine the leader may have written all before there is a worker
	for (1 .. 20)
	{
		($out, $err) = session_of($node, "SET statement_timeout = '3min'", @statements, 'RESET gpusort.inject_fault', reset_timeout(), 'SELECT 1');
		last if $err =~ $pattern;
	}
	like($err, $pattern, "$label: the error");
	like($out, qr/^1$/m, "$label: the session goes on");
	nothing_is_left($node, $pool_bytes, $label);
}

for my $what ($sorted, 't')
{
	# of more slices than the leader writes while they start
	my $slow = "COPY $what TO PROGRAM 'sleep 0.3; cat >/dev/null'";

	my $in_slice = q(SET gpusort.inject_fault_at = 'a slice of rows');

	fails_well("$what, an error of a worker", qr/injected error in a slice of rows/, $in_slice, "SET gpusort.inject_fault = 'worker_error'", $slow);
	fails_well("$what, a worker ends", qr/lost (?:connection to )?parallel worker/, $in_slice, "SET gpusort.inject_fault = 'worker_exit'", $slow);
	fails_well("$what, an error in a subtransaction", qr/NOTICE:  injected error/, $in_slice, "SET gpusort.inject_fault = 'worker_error'",
		"DO \$\$ BEGIN $slow; EXCEPTION WHEN internal_error THEN RAISE NOTICE '%', sqlerrm; END \$\$");
	fails_well("$what, a timeout while a program sleeps", qr/statement timeout/, 'SET statement_timeout = 200', "COPY $what TO PROGRAM 'trap \"\" INT; sleep 0.4; cat >/dev/null'");
	fails_well("$what, a program that ends", qr/could not write to COPY program: Broken pipe|program "exit 0" failed/, "COPY $what TO PROGRAM 'exit 0'");
}

# The error of the first row that fails, whichever process meets it.
$node->safe_psql('postgres', q(CREATE TABLE failing AS SELECT i, CASE WHEN i IN (30000, 30500, 70000, 99000) THEN chr(20000 + i % 1000) ELSE 'x' END AS t FROM generate_series(1, 100000) i));
for my $what ('failing', '(SELECT * FROM failing ORDER BY i)')
{
	my ($ours, $theirs) = map { (session_of($node, "SET gpusort.enable_copy = $_", "COPY $what TO PROGRAM 'sleep 0.1; cat >/dev/null' (ENCODING 'LATIN1')"))[1] } 'on', 'off';

	like($theirs, qr/has no equivalent/, "$what: PostgreSQL fails");
	is($ours, $theirs, "$what: PostgreSQL's error");
}

# A program that reads when it is told to, and before that two workers with queues that are full; what
# becomes of the session if one of the processes gets a signal.
my $gate = $node->basedir . '/gate';
system('mkfifo', $gate);
for my $signal ([ 'leader', 'cancel', qr/canceling statement due to user request/ ], [ 'worker', 'cancel', qr/canceling statement due to user request/ ],
	[ 'leader', 'terminate', qr/terminating connection/ ], [ 'worker', 'terminate', qr/terminating background worker/ ])
{
	my ($who, $how, $pattern) = @$signal;
	my $workers = q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = 'MessageQueueSend');
	my $out = '';
	my $run = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', "COPY $sorted TO PROGRAM 'trap \"\" INT TERM; cat $gate; cat >/dev/null'" ],
		'<', \undef, '>', \$out, '2>', \$out);
	my %pids;

	ok($node->poll_query_until('postgres', "SELECT count(*) = 2 FROM ($workers) w"), "$who, $how: workers wait for a program that sleeps");
	$pids{leader} = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE query LIKE 'COPY%' AND backend_type = 'client backend'));
	$pids{worker} = $node->safe_psql('postgres', "$workers LIMIT 1");
	$node->safe_psql('postgres', "SELECT pg_${how}_backend($pids{$who})");
	append_to_file($gate, "go\n");
	$run->finish;
	like($out, $pattern, "$who, $how: the error");
	nothing_is_left($node, $pool_bytes, "$who, $how");
}

done_testing();
