# COPY FROM into as many partitions as the lock table has room for: PostgreSQL's COPY has one lock on each.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.force = on', 'max_locks_per_transaction = 10', 'max_connections = 20', 'max_worker_processes = 8',
	'max_parallel_workers = 8', 'max_parallel_maintenance_workers = 8', 'max_parallel_workers_per_gather = 0');
my $file = $node->data_dir . '/rows';
my $count = 300;

# each in a transaction of its own, which has few locks
$node->safe_psql('postgres', qq(
	CREATE TABLE many (id int4, k int4, t text) PARTITION BY LIST (k);
	SELECT format('CREATE TABLE many_%s PARTITION OF many FOR VALUES IN (%s)', i, i) FROM generate_series(1, $count) i \\gexec
	CREATE TABLE few (id int4, k int4, t text) PARTITION BY RANGE (k);
	CREATE TABLE few_1 PARTITION OF few FOR VALUES FROM (MINVALUE) TO (100);
	CREATE TABLE few_2 PARTITION OF few DEFAULT;
	COPY (SELECT i, abs(hashint4(i)::int8) % $count + 1, repeat('x', 90) FROM generate_series(1, 100000) i) TO '$file'));

# What a load says, and what it leaves.
sub loaded
{
	my ($table, $copy) = @_;
	my ($sum, $err) = session_of($node, "SET gpusort.enable_copy = $copy", 'SET client_min_messages = debug1', 'BEGIN', "COPY $table FROM '$file'",
		"SELECT count(*), sum(hashtext(tableoid || t::text)) FROM $table t", 'ROLLBACK');

	return ($sum, $err);
}

my ($theirs, $complaint) = loaded('many', 'off');
like($theirs, qr/^100000\|/, "PostgreSQL loads into $count partitions");
my ($ours, $said) = loaded('many', 'on');
is($ours, $theirs, '... and so does this');
like($said, qr/gpusort loaded 100000 rows\n/, '... all of it');
($theirs) = loaded('few', 'off');
($ours, $said) = loaded('few', 'on');
is($ours, $theirs, 'few partitions');
like($said, qr/gpusort loaded with [1-8] workers/, '... by workers');

done_testing();
