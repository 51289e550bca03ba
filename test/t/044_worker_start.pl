# Workers where the library is known by its path only, and where there is no memory to share with them.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use Digest::MD5 qw(md5_hex);
use File::Copy;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# The server keeps a background worker's library in 96 bytes up to 17.
my $library = PostgreSQL::Test::Utils::tempdir_short() . '/gpusort.so';
my $node = start_node('main', { extra => ['--wal-segsize=1'] }, 'gpusort.pool_size = 192MB', 'gpusort.pool_quota = 40', 'gpusort.force = on', 'work_mem = 1MB',
	'max_worker_processes = 12', 'max_parallel_workers = 12', 'max_parallel_workers_per_gather = 2', 'max_parallel_maintenance_workers = 2',
	'gpusort.slice_pages = 8', 'hash_mem_multiplier = 1', 'maintenance_work_mem = 1MB', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'min_parallel_table_scan_size = 0');

$node->safe_psql('postgres', q(
	CREATE TABLE t AS SELECT i, hashint8(i) AS h, repeat('x', 100) AS pad FROM generate_series(1, 30000) i;
	CREATE TABLE copied (LIKE t);
	CREATE TABLE wide AS SELECT i, hashint8(i) AS h, repeat('x', 450) AS pad FROM generate_series(1, 180000) i;
	ALTER TABLE wide SET (parallel_workers = 2);
	VACUUM ANALYZE));
my $rows = $node->basedir . '/rows';
my $sorted = 'SELECT * FROM t ORDER BY h, i';
my $expected = md5_hex($node->safe_psql('postgres', "SET gpusort.enabled = off; $sorted"));

# What gpusort says about statements.
sub said_of
{
	my (@statements) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', join("\n", 'SET client_min_messages = debug1;', @statements), stdout => \$out, stderr => \$err, on_error_stop => 0, on_error_die => 0);
	return ($out, $err);
}

# ---------- no memory ----------

# A session that may make no file of 1 MB, where one of shared memory is longer: as if the system had no more.
my @limit = ('SELECT pg_backend_pid() AS pid \gset', '\setenv PID :pid', '\! prlimit --pid $PID --fsize=1048000:unlimited');
my $no_limit = '\! prlimit --pid $PID --fsize=unlimited:unlimited';
SKIP:
{
	skip 'there is no prlimit', 5 if !grep { -x "$_/prlimit" } split /:/, $ENV{PATH};

	my ($out, $err) = said_of(@limit, "COPY ($sorted) TO STDOUT;", $no_limit);
	is(md5_hex($out =~ tr/\t/|/r), $expected, 'COPY TO without memory for workers: the same rows');
	like($err, qr/gpusort starts no workers: could not resize shared memory segment/, '... and why');
	unlike($err, qr/ERROR|WARNING/, '... which is no error');
	($out, $err) = said_of(@limit, 'BEGIN;', "COPY ($sorted) TO PROGRAM 'cat >/dev/null';", $no_limit, "COPY ($sorted) TO STDOUT;", 'COMMIT;');
	like($err, qr/gpusort starts no workers.*gpusort wrote rows with [12] parallel workers/s, 'workers once there is memory');
	is(md5_hex($out =~ tr/\t/|/r), $expected, '... with the same rows');
}

# Memory that ends when there is a segment already, which then is released together with what it belongs to: each job is done
# without workers, several times, and has workers again when there is memory.
my @jobs = (
	[ 'COPY TO', "COPY ($sorted) TO '$rows'", qr/gpusort wrote rows with [12] parallel workers/ ],
	[ 'COPY FROM', "COPY copied FROM '$rows'", qr/gpusort loaded with [12] workers/ ],
	[ 'CREATE TABLE AS', "CREATE TABLE filled AS $sorted", qr/gpusort filled table "filled" with [12] parallel workers/ ],
	[ 'CREATE INDEX', 'CREATE INDEX ON wide (h)', qr/gpusort: built index.*, [12] workers/ ],
	[ 'CLUSTER', 'CLUSTER t USING t_h' ],
	[ 'portions', 'SET gpusort.late_rows = off; SET gpusort.cost_gather = 0; SELECT count(s::text) FROM (SELECT * FROM wide ORDER BY h, i OFFSET 0) s' ],
	[ 'a sort by workers',
		'SET max_parallel_workers_per_gather = 0; SET gpusort.max_sort_workers = 2; SET gpusort.min_sort_worker_rows = 100; SELECT count(*) FROM (SELECT * FROM t ORDER BY h, i OFFSET 1) s' ]);
$node->safe_psql('postgres', 'CREATE INDEX t_h ON t (h)');
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
for my $job (@jobs)
{
	my ($label, $statement, $pattern) = @$job;
	my ($out, $err) = said_of('SET gpusort.inject_fault = worker_memory;', ('BEGIN;', "$statement;", 'ROLLBACK;') x 3,
		'RESET gpusort.inject_fault;', 'BEGIN;', "$statement;", 'ROLLBACK;', q(SELECT 'goes on';));

	cmp_ok(scalar(() = $err =~ /gpusort starts no workers: injected lack of memory/g), '>=', 3, "$label: no memory for workers");
	unlike($err, qr/ERROR|WARNING/, "$label: ... which is no error");
	like($err, $pattern, "$label: ... and workers again") if $pattern;
	like($out, qr/^goes on$/m, "$label: ... and the session goes on");
}
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'), $started, 'the server has not restarted');

# ---------- a library that has a path ----------

$node->stop;
copy($node->config_data('--pkglibdir') . '/gpusort.so', $library) or die "cannot copy gpusort.so: $!";
$node->append_conf('postgresql.conf', "shared_preload_libraries = '$library'\ndynamic_library_path = ''");
$node->start;

for my $case (
	[ 'COPY TO', "COPY ($sorted) TO '$rows'", qr/gpusort wrote rows with [12] parallel workers/ ],
	[ 'COPY FROM', "COPY copied FROM '$rows'", qr/gpusort loaded with [12] workers/ ],
	[ 'CREATE TABLE AS', "CREATE TABLE filled AS $sorted", qr/gpusort filled table "filled" with [12] parallel workers/ ],
	[ 'CREATE INDEX', 'CREATE INDEX ON wide (h)', qr/gpusort: built index.*, [12] workers/ ],
	[ 'portions', $jobs[5][1], undef ])
{
	my ($label, $statement, $pattern) = @$case;
	my (undef, $err) = said_of("$statement;");

	like($err, $pattern, "$label: workers") if $pattern;
	unlike($err, qr/ERROR/, "$label: no error");
}
is(md5_hex($node->safe_psql('postgres', "SET gpusort.enabled = off; SELECT * FROM $_ ORDER BY h, i")), $expected, "$_: the same rows") for 'filled', 'copied';

# ---------- what they show ----------

# A copy whose input ends when its workers have been seen.
my $seen = $node->basedir . '/seen';
my $copy = IPC::Run::start([ 'psql', '-X', '-q', '-d', $node->connstr('postgres'), '-c', 'SET compute_query_id = on',
		'-c', "COPY copied FROM PROGRAM 'while [ ! -e $seen ]; do cat $rows; sleep 0.2; done'" ], '>&', \my $out);
ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 AND bool_and(w.query = l.query AND w.query_id = l.query_id AND w.state = 'active')
	FROM pg_stat_activity w JOIN pg_stat_activity l ON l.pid = w.leader_pid WHERE w.pid <> l.pid AND l.query LIKE 'COPY copied%')),
	'workers show their statement and its identifier');
append_to_file($seen, '');
ok($copy->finish, 'the copy ends') or diag($out);

unlike(slurp_file($node->logfile), qr/could not (access|load)/, 'the supervisor, too, has found it');

done_testing();
