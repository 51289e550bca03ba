# An index that takes more than one file (1 GB), written by several processes: pages are so empty that
# few rows are enough.  None of it is WAL-logged, and so none of it has to be replayed either.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'fsync = off', 'autovacuum = off', 'maintenance_work_mem = 512MB', 'gpusort.pool_size = 512MB',
	'max_parallel_maintenance_workers = 2', 'min_parallel_table_scan_size = 0');
$node->safe_psql('postgres', q(
	CREATE EXTENSION IF NOT EXISTS gpusort;
	CREATE EXTENSION amcheck;
	CREATE UNLOGGED TABLE t WITH (parallel_workers = 2) AS SELECT hashint8extended(i, 0) AS k FROM generate_series(1, 5600000) i));
my ($out, $err) = session_of($node, 'CREATE INDEX i ON t (k) WITH (fillfactor = 10)', 'SELECT built, workers > 0, slices > 10 FROM gpusort_index_builds()',
	q(SELECT pg_relation_size('i') > 1024 * 1024 * 1024::int8), q(SELECT count(bt_index_check('i', true))),
	q(SELECT count(*) FROM t WHERE k = (SELECT k FROM t LIMIT 1)));
is($err, '', 'no error');
is($out, "1|t|t\nt\n1\n1", 'built by several processes, in more than one file, and whole');
done_testing;
