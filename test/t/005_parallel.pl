# Sorts inside parallel workers, below Gather Merge.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'work_mem = 64MB', 'max_parallel_workers = 4', 'max_worker_processes = 8',
	'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'gpusort.cost_gather = 0',
	'min_parallel_table_scan_size = 0', 'gpusort.verify = on');

$node->safe_psql('postgres', q(
	CREATE TABLE t AS SELECT i, hashint4(i) AS h, md5(i::text) COLLATE "C" AS m FROM generate_series(1, 100000) i;
	ALTER TABLE t SET (parallel_workers = 2);
	CREATE TABLE u AS SELECT i, i % 100 AS g FROM generate_series(1, 20000) i;
	ALTER TABLE u SET (parallel_workers = 2);
	VACUUM ANALYZE));
tables_stay();

my @settings = ('gpusort.force' => 'on');
my @queries = (
	'SELECT h, i FROM t ORDER BY h, i',
	'SELECT * FROM t ORDER BY m DESC',
	'SELECT * FROM t WHERE h % 3 = 0 ORDER BY h % 10, m',
	'SELECT h % 100 AS g, count(*) FROM t GROUP BY 1 ORDER BY 1',
	'SELECT u.g, count(*), min(t.m) FROM t JOIN u ON t.i = u.i GROUP BY u.g ORDER BY u.g');

for my $query (@queries)
{
	same_answer($node, $query, $query, @settings);
	# The planner may prefer to sort after Gather: push the sort into the workers.
	same_answer($node, $query, "$query, hash joins and aggregates off", @settings,
		enable_hashjoin => 'off', enable_hashagg => 'off', enable_nestloop => 'off');
}

# PostgreSQL's own plan with ours in place of its sorts.
my $query = 'SELECT h, i FROM t ORDER BY h, i';
my @merge = ('gpusort.force' => 'on', 'gpusort.cost_row' => '10', 'gpusort.enable_parallel_collect' => 'off');
like(plan_of($node, $query, @merge), qr/Gather Merge.*->  Custom Scan \(GpuSort\).*->  Parallel Seq Scan/s,
	'sorted in the workers');
my $analyzed = analyzed_plan_of($node, $query, @merge);
like($analyzed, qr/Workers Launched: 2/, 'workers are launched');
like($analyzed, qr/Gather Merge \(actual rows=100000(?:\.00)? loops=1\)/, 'every row comes out');
same_answer($node, $query, 'Gather Merge', @merge);
for my $fault ('memory', 'codec', 'verify')
{
	same_answer($node, $query, "Gather Merge, fault $fault", @merge, 'gpusort.inject_fault' => $fault);
}
same_answer($node, $query, 'Gather Merge, leader stands aside', @merge, parallel_leader_participation => 'off');

# No workers to be had: the leader does it all.
$node->append_conf('postgresql.conf', 'max_parallel_workers = 0');
reload($node);
like(analyzed_plan_of($node, $query, @merge), qr/Workers Launched: 0/, 'no workers');
same_answer($node, $query, 'no workers', @merge);

unlike(slurp_file($node->logfile), qr/PANIC|TRAP|terminated by signal|leak/, 'nothing odd in the log');
$node->stop;
done_testing();
