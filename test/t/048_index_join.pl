# Joins of two indexes beside sessions that insert, update, delete, roll back and vacuum, so that leaf
# pages split, are emptied, deleted and used anew: whatever happens, a snapshot's answer is
# PostgreSQL's, whether all pages are read, those between keys of the other side are passed by, or those
# of one key are read again and again.  Joins are cancelled and killed, and the next one is right.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my ($seconds, $min_rounds) = (4, 3);
my $node = start_node('main', 'gpusort.min_rows = 0', 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0',
	'parallel_tuple_cost = 0', 'min_parallel_index_scan_size = 0', 'min_parallel_table_scan_size = 0', 'enable_seqscan = off',
	'restart_after_crash = on');

$node->safe_psql('postgres', q(
	CREATE TABLE x (id serial, k int, v int);
	CREATE TABLE y (id serial, k int8, v int);
	CREATE FUNCTION slow(int) RETURNS int LANGUAGE plpgsql PARALLEL SAFE AS $$ BEGIN PERFORM pg_sleep(0.002); RETURN $1; END $$;
	INSERT INTO x (k, v) SELECT i % 8000, i % 10 FROM generate_series(1, 20000) i;
	INSERT INTO y (k, v) SELECT i * 7 % 8000, i % 10 FROM generate_series(1, 20000) i;
	CREATE TABLE z AS SELECT i / 20 * 1000 AS k, i AS v FROM generate_series(1, 160) i;
	CREATE INDEX x_k ON x (k) INCLUDE (v);
	CREATE INDEX z_k ON z (k) INCLUDE (v);
	CREATE INDEX y_k ON y (k, v);
	CREATE INDEX x_id ON x (id);
	CREATE INDEX y_id ON y (id);
	VACUUM ANALYZE));

# Keys come in clusters, which go again as a whole, or nearly; one of them many times.
my $script = $node->basedir . '/writers.sql';
append_to_file($script, q(\set k random(1, 8000)
\set what random(1, 7)
BEGIN;
\if :what = 1
INSERT INTO x (k, v) SELECT :k + i % 20, i FROM generate_series(1, 300) i;
\elif :what = 2
INSERT INTO y (k, v) SELECT :k + i % 5, i FROM generate_series(1, 100) i;
\elif :what = 3
DELETE FROM x WHERE k BETWEEN :k AND :k + 400 AND id % 50 > 0;
\elif :what = 4
UPDATE y SET k = (k + 13) % 8000 WHERE k BETWEEN :k AND :k + 20;
\elif :what = 5
UPDATE x SET v = v + 1 WHERE k BETWEEN :k AND :k + 10;
\elif :what = 6
INSERT INTO x (k, v) SELECT 4000, i FROM generate_series(1, 300) i;
\else
DELETE FROM y WHERE k BETWEEN :k AND :k + 100;
ROLLBACK;
BEGIN;
\endif
COMMIT;
));
my $vacuum = $node->basedir . '/vacuum.sql';
append_to_file($vacuum, "VACUUM x;\nVACUUM y;\n");

my $digest = 'SELECT count(*), sum(x.k), sum(x.v), sum(y.v * x.v) FROM x JOIN y USING (k)';
my $number = 'SELECT count(*) FROM x JOIN y USING (k)';
my $clusters = 'SELECT count(*), sum(x.v), sum(z.v * x.v) FROM x JOIN z USING (k)';
my @queries = ($digest, $number, $clusters);
my @ours = ('SET gpusort.enabled = on', 'SET enable_hashjoin = off', 'SET enable_mergejoin = off', 'SET enable_nestloop = off');
my @theirs = ('SET gpusort.enabled = off', 'SET enable_hashjoin = on', 'SET enable_seqscan = on', 'SET max_parallel_workers_per_gather = 0');
my %settings = map { (split / = /, s/^SET //r)[0, 1] } @ours;

like(plan_of($node, $digest, %settings), qr/Gather.*Parallel Custom Scan \(GpuSort Index Join\)/s, 'two indexes are joined, by workers');
like(plan_of($node, $number, %settings, max_parallel_workers_per_gather => 0), qr/Custom Scan \(GpuSort Index Join\)/, '... and without');

# Those of deadlocks are writers' to retry.
my ($err, $vacuum_err, $transactions, $vacuums) = ('', '', '', '');
my @pgbench = ('pgbench', '-n', '-T', 1000);
my $writers = IPC::Run::start([ @pgbench, '-c', 2, '--max-tries', 1000, '-f', $script, $node->connstr('postgres') . ' application_name=writer' ],
	'>', \$transactions, '2>', \$err, time_limit());
my $vacuuming = IPC::Run::start([ @pgbench, '-c', 1, '-f', $vacuum, $node->connstr('postgres') . ' application_name=writer' ],
	'>', \$vacuums, '2>', \$vacuum_err, time_limit());
my ($rounds, $end) = (0, time + $seconds);
my @problems;

$node->poll_query_until('postgres', q(SELECT count(*) = 3 FROM pg_stat_activity WHERE application_name = 'writer'));
while ($rounds < $min_rounds || time < $end)
{
	# ours, while others write on, and PostgreSQL's last
	my ($out, $errors) = session_of($node, 'BEGIN ISOLATION LEVEL REPEATABLE READ',
		(@ours, 'SET work_mem = 64', 'SET max_parallel_workers_per_gather = 2', @queries, 'SET max_parallel_workers_per_gather = 0', @queries) x 2,
		@theirs, @queries, 'COMMIT');
	my @answers = split /\n/, $out;

	push @problems, $errors if $errors ne '';
	push @problems, join ' ', @answers if @answers != 15 || grep { $answers[$_] ne $answers[ $_ % 3 ] } 0 .. 14;
	$rounds++;
}
end_pgbench($writers);
end_pgbench($vacuuming);
note "$rounds rounds";
is_deeply(\@problems, [], 'a snapshot has one answer, which is PostgreSQL\'s');
like($transactions, qr/actually processed: [1-9]\d/, 'writers have written');
like($vacuums, qr/actually processed: [1-9]/, 'VACUUM was not kept waiting');
is($node->safe_psql('postgres', join '; ', @ours, $digest), $node->safe_psql('postgres', join '; ', @theirs, $digest), 'and afterwards');

# What is cancelled or killed lets go of everything.
my $slow = 'SELECT count(*) FROM x JOIN y ON x.k = y.k AND slow(x.v + y.v) >= 0';

like(cancel_among_workers($node, @ours, $slow), qr/canceling statement due to user request/, 'a join is cancelled among its workers');
my $killed;
for (1 .. 20)
{
	my $victim = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), map { ('-c', $_) } @ours, $slow ], '>', \my $out, '2>', \my $lost, time_limit());

	$node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker'));
	$killed = $node->safe_psql('postgres', q(SELECT pid FROM pg_stat_activity WHERE backend_type = 'parallel worker' LIMIT 1));
	crash($node, $killed) if $killed ne '';
	$victim->finish;
	last if $killed ne '';
}
isnt($killed, '', 'a worker is killed');
is($node->safe_psql('postgres', join '; ', @ours, $digest), $node->safe_psql('postgres', join '; ', @theirs, $digest), 'the next join is right');
# Entries lead to and fro between two pages of the visibility map, the second of which has bits of blocks that begin 256 MB behind
# the first: each page is pinned once, not for each entry.  The bits are looked at where they are, not remembered.
$node->safe_psql('postgres', q(
	CREATE TABLE far WITH (autovacuum_enabled = off) AS SELECT i * 2 AS k FROM generate_series(1, 20000) i;
	CREATE INDEX far_k ON far (k);
	CHECKPOINT));
my $file = $node->data_dir . '/' . $node->safe_psql('postgres', q(SELECT pg_relation_filepath('far')));
$node->stop;
truncate $file, 8192 * 33000 or die "truncate: $!\n";
$node->start;
$node->safe_psql('postgres', q(
	INSERT INTO far SELECT i * 2 + 1 FROM generate_series(1, 20000) i;
	VACUUM ANALYZE far));
is($node->safe_psql('postgres', q(SELECT count(DISTINCT (ctid::text::point)[0]::int / 32672) FROM far)), 2, 'rows have bits on two pages of the map');
my $far = 'SELECT count(*), sum(a.k) FROM far a JOIN far b USING (k)';
my $far_plan = run_with($node, "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) $far", %settings, max_parallel_workers_per_gather => 0);
my ($hits) = $far_plan =~ /GpuSort Index Join.*?Buffers: shared hit=(\d+)/s;
cmp_ok($hits // 1e9, '<', 500, 'pages of the map are pinned once') or diag $far_plan;
$node->safe_psql('postgres', 'DELETE FROM far WHERE k % 10 < 2');
is($node->safe_psql('postgres', join '; ', @ours, $far), $node->safe_psql('postgres', join '; ', @theirs, $far), 'rows that are gone are not joined');

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|resource was not closed|leak/, 'nothing odd in the log');
$node->stop;
done_testing();
