# Index builds in WAL: recovery to points in time before, in the midst of, between and
# after builds, a streaming standby, and builds that skip WAL, before a crash.  All
# indexes are written by workers, in slices of a few pages.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my @workers = ('max_parallel_maintenance_workers = 2', 'min_parallel_table_scan_size = 0', 'gpusort.slice_pages = 2');
my $primary = start_node('primary', { allows_streaming => 1, has_archiving => 1, extra => ['-k'] }, 'gpusort.force = on',
	'maintenance_work_mem = 128MB', 'shared_buffers = 16MB', 'wal_consistency_checking = btree', 'max_connections = 20',
	# what a checkpoint would remove before the standby has it
	'wal_keep_size = 2GB', @workers);

$primary->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 * 1000003 + i AS k, i % 100 AS few, md5(i::text) COLLATE "C" AS s
	FROM generate_series(1, 50000) i;
	ALTER TABLE t SET (parallel_workers = 2);
	CREATE TABLE u AS SELECT * FROM t WHERE id <= 20000;
	VACUUM ANALYZE));
create_index_checks($primary);
$primary->backup('base');

# A standby that streams from the beginning, without the library.
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$standby->append_conf('postgresql.conf', "archive_mode = off");
$standby->start;

# The points in time: [target, indexes there, label]
my @targets;

sub here
{
	my ($label) = @_;
	my $name = 'point_' . @targets;

	$primary->safe_psql('postgres', "SELECT pg_create_restore_point('$name')");
	push @targets, [ "recovery_target_name = '$name'", $primary->safe_psql('postgres', 'SELECT check_indexes()'), $label ];
}

# Build, with a target within the WAL that it writes; says where that begins.
sub build
{
	my ($number, @statements) = @_;
	my ($before, $after, $counts) = split /\n/, $primary->safe_psql('postgres', join ";\n",
		'SELECT pg_current_wal_insert_lsn()', @statements, 'SELECT pg_current_wal_insert_lsn()',
		'SELECT built, slices > 4 * built FROM gpusort_index_builds()');

	is($counts, "$number|t", "@statements: built by gpusort, in slices");
	cmp_ok($primary->safe_psql('postgres', "SELECT '$after'::pg_lsn - '$before'"), '>', 400000, "@statements: in WAL");
	return $primary->safe_psql('postgres', "SELECT '$before'::pg_lsn + ('$after'::pg_lsn - '$before') / 2");
}

here('before the builds');
my $lsn = build(1, 'CREATE INDEX t_k ON t (k)');
push @targets, [ "recovery_target_lsn = '$lsn'", '0 valid', 'in the midst of a build' ];
build(2, 'CREATE INDEX CONCURRENTLY t_few ON t (few DESC)', 'CREATE UNIQUE INDEX t_s ON t (s) INCLUDE (id)');
here('between builds');
$primary->safe_psql('postgres', q(
	INSERT INTO t SELECT 100000 + i, i, i, md5((100000 + i)::text) FROM generate_series(1, 5000) i;
	UPDATE t SET few = few + 1 WHERE id % 17 = 0;
	DELETE FROM t WHERE id % 13 = 0;
	VACUUM t));
here('after changes to the indexes');
$lsn = build(4, 'REINDEX TABLE t', 'ALTER TABLE u ADD PRIMARY KEY (id)');
push @targets, [ "recovery_target_lsn = '$lsn'", '3 valid', 'in the midst of a rebuild' ];
build(4, 'VACUUM FULL t', 'REINDEX INDEX CONCURRENTLY u_pkey');
here('after the builds');

# The standby has them, and files that nobody has changed since are the same.
$primary->safe_psql('postgres', 'REINDEX TABLE t; CHECKPOINT');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'SELECT check_indexes()'), '4 valid', 'the standby has valid indexes');
$standby->safe_psql('postgres', 'CHECKPOINT');
for my $index ('t_k', 't_few', 't_s')
{
	my $path = $primary->safe_psql('postgres', "SELECT pg_relation_filepath('$index')");

	is(slurp_file($standby->data_dir . "/$path") eq slurp_file($primary->data_dir . "/$path") ? 'same' : 'different', 'same',
		"$index: the same file on the standby");
}
$primary->safe_psql('postgres', 'SELECT pg_switch_wal()');
my $last = $primary->safe_psql('postgres', 'SELECT pg_walfile_name(pg_current_wal_lsn() - 1)');
ok($primary->poll_query_until('postgres', "SELECT last_archived_wal >= '$last' FROM pg_stat_archiver"), 'WAL is archived');
$standby->safe_psql('postgres', 'SELECT pg_promote()');
$standby->safe_psql('postgres', 'INSERT INTO t SELECT 200000 + i, i, i, md5((200000 + i)::text) FROM generate_series(1, 5000) i');
is($standby->safe_psql('postgres', 'SELECT check_indexes()'), '4 valid', 'promoted: it writes them');
unlike(slurp_file($standby->logfile), qr/inconsistent page|PANIC|FATAL:(?!.*(?:terminating|starting up))/, 'every page was replayed as it was written');
sum_checksums($_, $_->name) for $standby, $primary;

# Recovery to each point in time; what is there can be built upon.
for my $number (0 .. $#targets)
{
	my ($target, $indexes, $label) = @{ $targets[$number] };
	my $node = PostgreSQL::Test::Cluster->new("target_$number");

	$node->init_from_backup($primary, 'base', has_restoring => 1, standby => 0);
	$node->append_conf('postgresql.conf', "$target\nrecovery_target_action = promote\narchive_mode = off");
	$node->start;
	ok($node->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'), "$label: recovered");
	is($node->safe_psql('postgres', 'SELECT check_indexes()'), $indexes, "$label: $indexes indexes");
	is($node->safe_psql('postgres', 'CREATE INDEX new ON t (k, s); SELECT built FROM gpusort_index_builds()'), 1, "$label: another build");
	$node->safe_psql('postgres', 'INSERT INTO t SELECT 300000 + i, i, i, md5((300000 + i)::text) FROM generate_series(1, 2000) i');
	is($node->safe_psql('postgres', 'SELECT check_indexes()'), $indexes =~ s/(\d+)/$1 + 1/er, "$label: all of them are written");
	sum_checksums($node, $label);
}

# wal_level = minimal: pages of files that are new in a transaction are in no WAL,
# but synced or logged at its end.
my $minimal = start_node('minimal', { extra => ['-k'] }, 'wal_level = minimal', 'max_wal_senders = 0', 'gpusort.force = on',
	'fsync = on', 'maintenance_work_mem = 128MB', @workers);

$minimal->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE old AS SELECT i AS id, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 30000) i;
	CREATE INDEX old_id ON old (id)));
create_index_checks($minimal);
for my $threshold ('0', '1GB')
{
	for my $checkpoint ('', 'CHECKPOINT')
	{
		my $label = "wal_skip_threshold = $threshold $checkpoint";
		my ($out, $err) = session_of($minimal, "SET wal_skip_threshold = '$threshold'", 'BEGIN', 'CREATE TABLE new AS SELECT * FROM old',
			'CREATE UNIQUE INDEX new_id ON new (id)', $checkpoint, 'CREATE INDEX new_s ON new (s, id)', 'CREATE INDEX old_s ON old (s)',
			'REINDEX INDEX old_id', $checkpoint, 'INSERT INTO new SELECT 50000 + id, s FROM old WHERE id <= 1000', 'COMMIT',
			'SELECT built, slices > 4 * built FROM gpusort_index_builds()');

		is("$out$err", '4|t', "$label: built by gpusort, in slices");
		$minimal->stop('immediate');
		$minimal->start;
		is($minimal->safe_psql('postgres', 'SELECT check_indexes()'), '4 valid', "$label: all is there after a crash");
		$minimal->safe_psql('postgres', 'DROP TABLE new; DROP INDEX old_s');
	}
}
sum_checksums($minimal, 'wal_level = minimal');

done_testing();
