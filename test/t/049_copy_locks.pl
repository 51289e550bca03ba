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
my $indexed = 40;

# each in a transaction of its own, which has few locks
$node->safe_psql('postgres', qq(
	CREATE TABLE many (id int4, k int4, t text) PARTITION BY LIST (k);
	SELECT format('CREATE TABLE many_%s PARTITION OF many FOR VALUES IN (%s)', i, i) FROM generate_series(1, $count) i \\gexec
	CREATE TABLE few (id int4, k int4, t text) PARTITION BY RANGE (k);
	CREATE TABLE few_1 PARTITION OF few FOR VALUES FROM (MINVALUE) TO (100);
	CREATE TABLE few_2 PARTITION OF few DEFAULT;
	COPY (SELECT i, abs(hashint4(i)::int8) % $count + 1, repeat('x', 90) FROM generate_series(1, 100000) i) TO '$file';
	CREATE TABLE keyed (id int4, k int4, t text) PARTITION BY LIST (k);
	SELECT format('CREATE TABLE keyed_%s PARTITION OF keyed FOR VALUES IN (%s)', i, i) FROM generate_series(1, $indexed) i \\gexec
	SELECT format('CREATE INDEX ON keyed_%s (id, (k + %s))', j, i) FROM generate_series(1, 4) i, generate_series(1, $indexed) j \\gexec
	SELECT format('CREATE INDEX ON keyed_%s (k, id) WHERE id > %s', j, i) FROM generate_series(1, 3) i, generate_series(1, $indexed) j \\gexec
	CREATE UNIQUE INDEX ON keyed (id, k);
	COPY (SELECT i, abs(hashint4(i)::int8) % $indexed + 1, repeat('x', 900) FROM generate_series(1, 10000) i) TO '${file}_keyed'));

# What a load says, and what it leaves.
sub loaded
{
	my ($table, $copy, $from, @settings) = @_;
	my ($sum, $err) = session_of($node, "SET gpusort.enable_copy = $copy", @settings, 'SET client_min_messages = debug1', 'BEGIN', "COPY $table FROM '$from'",
		"SELECT count(*), sum(hashtext(tableoid || t::text)) FROM $table t", 'ROLLBACK');

	return ($sum, $err);
}

my ($theirs, $complaint) = loaded('many', 'off', $file);
like($theirs, qr/^100000\|/, "PostgreSQL loads into $count partitions");
my ($ours, $said) = loaded('many', 'on', $file);
is($ours, $theirs, '... and so does this');
like($said, qr/gpusort loaded 100000 rows\n/, '... all of it');
($theirs) = loaded('few', 'off', $file);
($ours, $said) = loaded('few', 'on', $file);
is($ours, $theirs, 'few partitions');
like($said, qr/gpusort loaded with [1-8] workers/, '... by workers');

# ... and on each of their indexes, most of which are not those of all partitions.
($theirs) = loaded('keyed', 'off', "${file}_keyed");
like($theirs, qr/^10000\|/, "PostgreSQL loads into $indexed partitions with indexes");
for my $indexes ('new', 'empty')
{
	($ours, $said) = loaded('keyed', 'on', "${file}_keyed", "SET gpusort.copy_indexes = $indexes");
	is($ours, $theirs, "... and so does this, where those that are $indexes are built");
	like($said, qr/gpusort loaded 10000 rows\n/, '... all of it');
}

done_testing();
