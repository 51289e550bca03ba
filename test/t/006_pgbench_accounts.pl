# The main job on real tables: pgbench's, sorted as users sort them, by cost.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'work_mem = 512MB', 'max_parallel_workers_per_gather = 0', 'shared_buffers = 256MB');
my $query = 'SELECT * FROM pgbench_accounts ORDER BY abalance, filler, aid DESC';

$node->command_ok([ 'pgbench', '-i', '-q', '-s', '5', 'postgres' ], 'pgbench -i');

# Not forced: the planner picks it because it is cheaper.
like(plan_of($node, $query), qr/^Custom Scan \(GpuSort\)\n  Sort Key: abalance, filler, aid DESC/, 'the planner picks gpusort');
my $analyzed = analyzed_plan_of($node, $query);
like($analyzed, qr/Custom Scan \(GpuSort\) \(actual rows=500000(?:\.00)? loops=1\)/, 'every row comes out');
unlike($analyzed, qr/Handed Over/, 'gpusort finishes the sort');
same_answer($node, $query, 'abalance, filler, aid DESC');

# After some transactions balances differ, and rows have moved.
$node->command_ok([ 'pgbench', '-n', '-c', '2', '-t', '2000', 'postgres' ], 'pgbench runs with gpusort loaded');
same_answer($node, $query, 'after 4000 transactions');
same_answer($node, 'SELECT * FROM pgbench_accounts ORDER BY abalance DESC, aid', 'abalance DESC, aid');
same_answer($node, "$query LIMIT 300000", 'a large limit');
# Either may be the cheaper one here.
my ($ours, $theirs) = map { $node->safe_psql('postgres', "SET gpusort.enabled = $_; $query LIMIT 10") } 'on', 'off';
is($ours, $theirs, 'a small limit');
unlike(plan_of($node, 'SELECT * FROM pgbench_accounts ORDER BY aid'), qr/GpuSort/, 'an index that has the order is used');

$node->stop;
done_testing();
