# INSERT ... SELECT of sorted rows, by parallel workers: into new tables and such that are in use, on a standby,
# by logical decoding, after crashes, beside writers, and when something goes wrong in the middle.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('primary', { allows_streaming => 1, extra => ['-k'] }, 'gpusort.force = on', 'shared_buffers = 16MB', 'gpusort.pool_size = 128MB',
	'wal_level = logical', 'wal_consistency_checking = all', 'max_worker_processes = 12', 'max_parallel_workers = 12', 'max_parallel_workers_per_gather = 2',
	'wal_keep_size = 2GB', 'gpusort.slice_pages = 8', 'restart_after_crash = on');
my $rows = 40000;

$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE TABLE source (i int8, h int4, pad text, big text);
	ALTER TABLE source ALTER big SET STORAGE EXTERNAL;
	INSERT INTO source SELECT i, hashint8(i), repeat('x', i % 100), CASE WHEN i % 1000 = 0 THEN repeat(md5(i::text), 200) END FROM generate_series(1, $rows) i;
	VACUUM ANALYZE source;
	CREATE TABLE used (LIKE source INCLUDING STORAGE);
	CREATE TABLE computed (id int8 NOT NULL CHECK (id > 0), gone int4, t text);
	ALTER TABLE computed DROP COLUMN gone;
	CREATE FUNCTION slow(i int8) RETURNS int8 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
		'BEGIN IF i = 30000 THEN PERFORM pg_sleep(0.3); END IF; RETURN CASE WHEN i IN (30000, 31000) THEN -i ELSE i END; END';
	CREATE FUNCTION hold(i int8) RETURNS int8 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
		'BEGIN IF i % 200 = 0 THEN PERFORM pg_sleep(0.002); END IF; RETURN i; END';
	SELECT pg_create_logical_replication_slot('decoded', 'test_decoding')));
cmp_ok($node->safe_psql('postgres', q(SELECT pg_relation_size(reltoastrelid) FROM pg_class WHERE relname = 'source')), '>', 0, 'some values lie out of line');
my $pool_bytes = service($node, 'pool_bytes_free');
my $insert = 'INSERT INTO used SELECT * FROM source ORDER BY h, i';
my $compute = 'INSERT INTO computed SELECT i, pad FROM source ORDER BY h, i';

# How many rows, and of how many a table lies behind one that it is to follow.
sub state_of
{
	my ($table, $key) = @_;
	return $node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE h < last), (SELECT count(*) FROM verify_heapam('$table', check_toast := true))
		FROM (SELECT hashint8($key) AS h, lag(hashint8($key)) OVER (ORDER BY ctid) AS last FROM $table) t");
}

# Until workers have filled a part of it, which a busy machine may start too late; how many times it was filled.
sub filled_by_workers
{
	my ($table, $statement) = @_;

	for my $times (1 .. 20)
	{
		my (undef, $err) = session_of($node, "TRUNCATE $table", 'SET client_min_messages = debug1', $statement);
		my ($leader, $all) = $err =~ /gpusort filled table "$table" with [12] parallel workers, (\d+) of (\d+) rows by the leader/;
		return $times if defined $leader && $leader < $all;
	}
	return 0;
}

# ---------- a table in use: what is logged ----------

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$standby->start;
$node->safe_psql('postgres', 'INSERT INTO used SELECT * FROM source WHERE i = 3');

ok(filled_by_workers('used', $insert), 'workers insert');
ok(filled_by_workers('computed', $compute), '... and what they compute and check');
is(state_of('used', 'i'), "$rows|0|0", 'all rows, in order');
is(state_of('computed', 'id'), "$rows|0|0", '... where they are computed');
is($node->safe_psql('postgres', '(TABLE source EXCEPT TABLE used) UNION ALL (TABLE used EXCEPT TABLE source)'), '', '... and they are the same');

my $all = 'SELECT (SELECT sum(hashtext(x::text || ctid)) FROM used x), (SELECT sum(hashtext(x::text || ctid)) FROM computed x)';
my $there = $node->safe_psql('postgres', $all);
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is($standby->safe_psql('postgres', $all), $there, 'the same on a standby, page by page');
$standby->stop;

$node->safe_psql('postgres', "SELECT count(*) FROM pg_logical_slot_get_changes('decoded', NULL, NULL); BEGIN; SAVEPOINT s; $insert; COMMIT");
# slowly, so that workers leave slices to the leader, as rows have to be toasted, while it fills one with such rows
my $times = 1 + filled_by_workers('used', 'INSERT INTO used SELECT hold(i), h, pad, big FROM (SELECT * FROM source ORDER BY h, i OFFSET 0) q');
cmp_ok($times, '>', 1, 'workers insert what is decoded');
is($node->safe_psql('postgres', q(
	SELECT count(*), count(*) FILTER (WHERE data LIKE '%unchanged-toast%'), sum(coalesce(length(substring(data from 'big\[text\]:''(.*)''$')), 0)) / (SELECT sum(length(big)) FROM source)
	FROM pg_logical_slot_get_changes('decoded', NULL, NULL, 'skip-empty-xacts', '1') WHERE data LIKE 'table public.used: INSERT%')),
	$times * $rows . "|0|$times", 'decoded rows');

# ---------- failures ----------

for my $case (
	[ 'a timeout', $insert, 'SET statement_timeout = 8', qr/statement timeout/ ],
	[ 'a check', 'INSERT INTO computed SELECT CASE WHEN i IN (30000, 39000) THEN -i ELSE i + 0 END, pad FROM source ORDER BY i', '', qr/DETAIL:  Failing row contains \(-30000, x*\)\.$/m ],
	# the second one lies in a slice that another process has come to meanwhile
	[ 'the first one that fails, though late', 'INSERT INTO computed SELECT slow(i), pad FROM (SELECT i, pad FROM source ORDER BY i OFFSET 0) q', '', qr/Failing row contains \(-30000, / ],
	[ 'an expression', 'INSERT INTO computed SELECT i, 1 / (i - 20000) FROM (SELECT i, pad FROM source ORDER BY i OFFSET 0) q', '', qr/division by zero/ ],
	[ 'a null', 'INSERT INTO computed SELECT nullif(i, 777), pad FROM source ORDER BY i', '', qr/null value in column "id"/ ])
{
	my ($label, $statement, $setting, $pattern) = @$case;
	# in a subtransaction the leader is alone, as rows are decoded
	for my $begin (undef, '', 'CREATE TEMP TABLE t (i int4)', 'TRUNCATE used, computed')
	{
		my @statements = defined $begin ? ('BEGIN', $begin, 'SAVEPOINT s', $setting, $statement, ('ROLLBACK TO s') x 5) : ($setting, $statement, reset_timeout());
		my ($out, $err) = session_of($node, 'TRUNCATE used, computed', @statements, 'SELECT count(*) FROM used, computed', 'ROLLBACK');

		like($err, $pattern, "$label: the error");
		unlike($err, qr/CONTEXT:  parallel worker/, '... is not a worker\'s');
		like($out, qr/^0$/m, '... no rows');
	}
	nothing_is_left($node, $pool_bytes, $label);
}

# Cancelled while workers insert; one process collects the rows.
like(cancel_among_workers($node, "SET min_parallel_table_scan_size = '1GB'", 'TRUNCATE used', $insert), qr/canceling statement due to user request/, 'cancelled: the error');
is($node->safe_psql('postgres', 'SELECT count(*) FROM used'), 0, '... no rows');
nothing_is_left($node, $pool_bytes, 'cancelled');

# A writer beside it: all rows of both are there.
my $writer = $node->background_psql('postgres');
my $written = 0;
my $inserter = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', "$insert; $insert" ]);
while ($written < 200 || $inserter->pumpable)
{
	$writer->query_safe('INSERT INTO used VALUES (-' . ++$written . ')');
	eval { $inserter->pump_nb };
}
$inserter->finish;
$writer->quit;
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT i), count(*) FILTER (WHERE i < 0) FROM used'), join('|', 2 * $rows + $written, $rows + $written, $written), 'a writer beside it');

# Others beside it, whose first choice is the last page that there is, which may be one that is about to be filled.
my $one = $node->basedir . '/one.sql';
append_to_file($one, "INSERT INTO used VALUES (-1)\n");
$node->safe_psql('postgres', 'TRUNCATE used');
my $inserters = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', 'SET gpusort.slice_pages = 128', ('-c', $insert) x 4 ]);
$node->command_ok([ 'pgbench', '-n', '-C', '-c', '2', '-t', '100', '-f', $one, '-d', $node->connstr('postgres') ], 'others beside it');
$inserters->finish;
is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT i), count(*) FILTER (WHERE i < 0) FROM used'), join('|', 4 * $rows + 200, $rows + 1, 200), '... all rows are there');

# ---------- a crash ----------

$there = $node->safe_psql('postgres', $all);
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $all), $there, 'the same after a crash');
$node->stop;
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nwal_consistency_checking = ''\nwal_skip_threshold = 0");
system_or_bail('rm', '-rf', $node->data_dir . '/pg_replslot/decoded');
$node->start;
my $fresh = 'BEGIN; TRUNCATE used; INSERT INTO used SELECT * FROM source ORDER BY h, i; CREATE TABLE fresh (LIKE used); SAVEPOINT s; INSERT INTO fresh SELECT * FROM source ORDER BY h, i; COMMIT';
my (undef, $err) = session_of($node, 'SET client_min_messages = debug1', $fresh);
like($err, qr/gpusort filled table "used".*gpusort filled table "fresh"/s, 'new tables, with little WAL');
$node->stop('immediate');
$node->start;
is(state_of($_, 'i'), "$rows|0|0", "$_: all rows are there after a crash") for 'used', 'fresh';
$node->stop;
done_testing();
