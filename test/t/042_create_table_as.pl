# New tables of sorted rows, by parallel workers: after a crash, beside logical decoding, and when something
# goes wrong in the middle.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 128MB', 'gpusort.force = on', 'max_worker_processes = 12', 'max_parallel_workers = 12',
	'max_parallel_workers_per_gather = 2', 'restart_after_crash = on', 'gpusort.slice_pages = 8');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE TABLE source AS SELECT i, hashint8(i) AS h, repeat('x', i % 200) AS pad, CASE WHEN i % 3000 = 0 THEN repeat(md5(i::text), 200) END AS big FROM generate_series(1, 60000) i;
	ALTER TABLE source ALTER big SET STORAGE EXTERNAL;
	VACUUM ANALYZE source));
my $pool_bytes = service($node, 'pool_bytes_free');
my $sorted = 'SELECT * FROM source ORDER BY h, i';

# What gpusort says about a statement.
sub said_of
{
	my ($statement, @settings) = @_;
	my (undef, $err) = session_of($node, @settings, 'SET client_min_messages = debug1', $statement);
	return $err;
}

sub contents
{
	my ($table) = @_;
	return $node->safe_psql('postgres', "SELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY ctid)), (SELECT count(*) FROM verify_heapam('$table', check_toast := true)) FROM $table t");
}

# Until workers have filled a part of it, which a busy machine may start too late.
sub filled_by_workers
{
	my ($table, $statement) = @_;

	for (1 .. 20)
	{
		my ($leader, $all) = said_of($statement) =~ /gpusort filled table "$table" with [12] parallel workers, (\d+) of (\d+) rows by the leader/;
		return 1 if defined $leader && $leader < $all;
		$node->safe_psql('postgres', "DROP TABLE IF EXISTS $table");
	}
	return 0;
}

$node->safe_psql('postgres', "SET gpusort.enable_create_table_as = off; CREATE TABLE theirs AS $sorted");
my $expected = contents('theirs');
ok(filled_by_workers('logged', "CREATE TABLE logged AS $sorted"), 'workers fill a table');
ok(filled_by_workers('unlogged', "CREATE UNLOGGED TABLE unlogged AS $sorted"), '... and one that is not logged');
is(contents($_), $expected, "$_: PostgreSQL's rows, in the same order") for 'logged', 'unlogged';
nothing_is_left($node, $pool_bytes, 'after tables were filled');

# ---------- failures ----------

# One process collects the rows, so workers are those that fill the table.
for my $case (
	[ 'cancelled', qr/canceling statement due to user request/, cancel_among_workers($node, "SET min_parallel_table_scan_size = '1GB'",
			"CREATE TABLE failed AS $sorted", 'DROP TABLE failed') ],
	[ 'an error behind', qr/division by zero/, (session_of($node, 'BEGIN', "CREATE TABLE failed AS $sorted; SELECT 1 / 0; COMMIT", 'ROLLBACK'))[1] ])
{
	my ($label, $pattern, $err) = @$case;

	like($err, $pattern, "$label: the error");
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_class WHERE relname = 'failed'"), 0, "$label: no table");
	nothing_is_left($node, $pool_bytes, $label);
}

# ---------- a crash ----------

$node->stop('immediate');
$node->start;
is(contents('logged'), $expected, 'all rows are there after a crash');
is($node->safe_psql('postgres', 'SELECT count(*) FROM unlogged'), 0, 'and none where they are not logged');
for my $level ('minimal', 'logical')
{
	$node->append_conf('postgresql.conf', "wal_level = $level\nmax_wal_senders = 0");
	$node->restart;
	$node->safe_psql('postgres', "DROP TABLE logged");
	my $said = said_of("CREATE TABLE logged AS $sorted", 'SET wal_skip_threshold = 0');
	if ($level eq 'minimal')
	{
		like($said, qr/gpusort filled table/, 'with little WAL');
	}
	else
	{
		unlike($said, qr/gpusort filled table/, 'rows that may be decoded are left to PostgreSQL');
		like(said_of("CREATE UNLOGGED TABLE others AS $sorted"), qr/gpusort filled table/, '... but not others');
	}
	$node->stop('immediate');
	$node->start;
	is(contents('logged'), $expected, "$level: all rows are there after a crash");
}

done_testing();
