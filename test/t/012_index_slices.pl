# Indexes that several processes write: errors, cancels and lost processes while they
# do, crashes, a standby, checksums, and builds that aren't WAL-logged.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @lines = ("shared_preload_libraries = 'gpusort'", 'autovacuum = off', 'maintenance_work_mem = 256MB',
	'gpusort.pool_size = 512MB', 'gpusort.force = on', 'gpusort.slice_pages = 5', 'max_parallel_maintenance_workers = 2',
	'min_parallel_table_scan_size = 0', 'restart_after_crash = on', 'wal_keep_size = 2GB', '');
my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1, extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', join "\n", @lines);
$node->start;

my $make_table = q(
	CREATE TABLE t WITH (parallel_workers = 2) AS SELECT i AS id, hashint8(i)::int8 * 1000003 + i AS k, i % 100 AS few, md5(i::text) COLLATE "C" AS s
	FROM generate_series(1, 200000) i);
$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	$make_table;
	VACUUM ANALYZE t));
my $valid_indexes = q(SELECT count(bt_index_parent_check(indexrelid, true, true)) FROM pg_index WHERE indrelid = 't'::regclass AND indisvalid);
my $workers = q(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker');

# Every way to fail leaves no index, no worker and no extents, and a session that
# goes on, if it can.
sub nothing_is_left
{
	my ($label) = @_;

	ok($node->poll_query_until('postgres', "SELECT ($workers) = 0"), "$label: no worker is left");
	is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_index WHERE indrelid = 't'::regclass)), 0, "$label: no index");
	is($node->safe_psql('postgres', 'SELECT pool_bytes - pool_bytes_free FROM gpusort_service()'), 0, "$label: the pool is free");
}

my $in_slices = q(SET gpusort.inject_fault_at = 'a slice of an index');
my $in_verification = q(SET gpusort.inject_fault_at = 'a stretch of a sort');
my @cases = ([ 'error in a worker', qr/injected error in a slice/, 'SET gpusort.inject_fault = worker_error', $in_slices ],
	[ 'worker ends without a word', qr/lost connection to parallel worker/, 'SET gpusort.inject_fault = worker_exit', $in_slices ],
	[ 'timeout', qr/statement timeout/, 'SET gpusort.inject_fault = slow_slices', $in_slices, 'SET statement_timeout = 1500' ],
	[ 'error in a verifying worker', qr/injected error in a stretch of a sort/, 'SET gpusort.inject_fault = worker_error', $in_verification, 'SET gpusort.verify = on' ],
	[ 'verifying worker ends without a word', qr/lost connection to parallel worker/, 'SET gpusort.inject_fault = worker_exit', $in_verification, 'SET gpusort.verify = on' ]);
for my $case (@cases)
{
	my ($label, $expected, @settings) = @$case;
	my ($out, $err);

	# the leader may be done with all slices before a busy machine has started a worker
	for (1 .. 20)
	{
		($out, $err) = session_of($node, @settings, 'CREATE INDEX i ON t (k)', reset_timeout(), 'RESET gpusort.inject_fault',
			'CREATE INDEX again ON t (s)', 'SELECT built, slices > 10 FROM gpusort_index_builds()', $valid_indexes, 'DROP INDEX again');
		last if $err =~ $expected;
		$node->safe_psql('postgres', 'DROP INDEX IF EXISTS i');
	}

	like($err, $expected, "$label: the build fails");
	is($out, "1|t\n1", "$label: the next one does not");
	nothing_is_left($label);
}

# Run a build with slow slices, and this while it writes.
sub while_writing
{
	my ($during, @before) = @_;
	my ($in, $out, $err) = ('', '', '');
	my $builder = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), map { ('-c', $_) }
			'SET gpusort.inject_fault = slow_slices', $in_slices, @before, 'CREATE INDEX i ON t (k)' ], \$in, \$out, \$err);

	$node->poll_query_until('postgres', qq(SELECT count(*) > 0 AND ($workers) = 2 FROM pg_stat_progress_create_index
		WHERE phase = 'building index: loading tuples in tree' AND tuples_done > 0)) or die 'nothing is written by two workers';
	$during->();
	$builder->finish;
	return $err;
}

for my $case ([ 'worker is terminated', "backend_type = 'parallel worker'", 'pg_terminate_backend', qr/terminating background worker|terminating connection/ ],
	[ 'worker is cancelled', "backend_type = 'parallel worker'", 'pg_cancel_backend', qr/canceling statement/ ],
	[ 'leader is terminated', "backend_type = 'client backend'", 'pg_terminate_backend', qr/terminating connection/ ],
	[ 'leader is cancelled', "backend_type = 'client backend'", 'pg_cancel_backend', qr/canceling statement/ ])
{
	my ($label, $whom, $how, $expected) = @$case;
	my $err = while_writing(sub {
		$node->safe_psql('postgres', "SELECT $how(pid) FROM pg_stat_activity WHERE $whom AND query ~ 'CREATE INDEX i' AND pid <> pg_backend_pid() LIMIT 1");
	}, 'SET gpusort.slice_pages = 1');

	like($err, $expected, "$label: the build fails");
	nothing_is_left($label);
}

# Killed while they write.
for my $whom ('parallel worker', 'client backend')
{
	while_writing(sub {
		my $pid = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = '$whom' AND query ~ 'CREATE INDEX i' AND pid <> pg_backend_pid() LIMIT 1");
		crash($node, $pid);
	}, 'SET gpusort.slice_pages = 1');
	nothing_is_left("$whom is killed");
}

# A crash right after a build, with a checkpoint in its midst.
is(while_writing(sub { $node->safe_psql('postgres', 'CHECKPOINT') }), '', 'a checkpoint during a build');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $valid_indexes), 1, 'the index is valid after a crash');
$node->safe_psql('postgres', 'DROP INDEX i');

# Fewer workers than planned.
is($node->safe_psql('postgres', q(SET max_parallel_workers = 1; CREATE INDEX i ON t (k); SELECT workers, slices > 10 FROM gpusort_index_builds())),
	'1|t', 'one worker instead of two');
is($node->safe_psql('postgres', $valid_indexes), 1, 'the index is valid');

# A standby.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$standby->start;
is($node->safe_psql('postgres', q(
		CREATE INDEX i_few ON t (few);
		CREATE UNIQUE INDEX i_s ON t (s) INCLUDE (id);
		SELECT built, slices > 20 FROM gpusort_index_builds())), '2|t', 'two indexes built');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q(SELECT count(bt_index_check(indexrelid, true)) FROM pg_index WHERE indrelid = 't'::regclass)),
	3, 'the standby has them');
$standby->stop;

# Pages that nobody reads through buffers before have their checksums, too.
$node->stop;
command_like([ 'pg_checksums', '--check', '-D', $node->data_dir ], qr/Bad checksums: +0\n/, 'checksums');

# Without WAL: the table is as new as the index.
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\narchive_mode = off\nwal_skip_threshold = 0\n");
$node->start;
is($node->safe_psql('postgres', qq(
		DROP TABLE t;
		BEGIN; $make_table; CREATE INDEX i ON t (k); CREATE INDEX i_s ON t (s); COMMIT;
		SELECT built, slices > 20 FROM gpusort_index_builds())), '2|t', 'two indexes built without WAL');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $valid_indexes), 2, 'they are valid after a crash');

$node->stop;
done_testing();
