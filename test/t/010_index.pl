# Index builds: crashes, cancels and errors leave nothing behind or a valid index;
# a standby has the same index; a server without the library reads and writes it.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';

my $node = start_node('main', 'maintenance_work_mem = 256MB', 'gpusort.force = on',
	'gpusort.keep_memory = 0', 'wal_level = replica', 'max_wal_senders = 4', 'hot_standby = on',
	'restart_after_crash = on', 'full_page_writes = on', 'max_parallel_maintenance_workers = 0');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 * 1000003 + i AS k, i % 100 AS few, md5(i::text) COLLATE "C" AS s
	FROM generate_series(1, 200000) i;
	CREATE TABLE few AS SELECT i AS id FROM generate_series(1, 1000) i;
	ALTER TABLE few SET (parallel_workers = 2);
	CREATE FUNCTION slow(i int) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_sleep(0.01); RETURN i; END $$;
	CREATE FUNCTION forever(i int) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_sleep(1); RETURN i; END $$;
	CREATE FUNCTION anonymous_kb() RETURNS int LANGUAGE sql AS
	$$ SELECT (regexp_match(pg_read_file('/proc/self/status'), 'RssAnon:\s+(\d+)'))[1]::int $$;
	CREATE FUNCTION valid_indexes() RETURNS bigint LANGUAGE sql AS
	$$ SELECT count(bt_index_parent_check(indexrelid, true, true)) FROM pg_index
	   WHERE indrelid IN ('t'::regclass, 'few'::regclass) AND indisvalid $$;
	VACUUM ANALYZE));

# Errors, cancels and timeouts: the session goes on, no index is left, memory is
# given back.
sub fails_cleanly
{
	my ($label, $expected, @failing) = @_;
	my ($out, $err) = session_of($node, 'SELECT pg_backend_pid()', 'SELECT anonymous_kb()', @failing,
		reset_timeout(), 'SELECT count(*) FROM pg_index WHERE indrelid IN (\'t\'::regclass, \'few\'::regclass)',
		'CREATE INDEX again ON t (k)', 'SELECT built FROM gpusort_index_builds()',
		'SELECT valid_indexes()', 'DROP INDEX again', 'SELECT anonymous_kb()', 'SELECT pg_backend_pid()');
	my ($pid1, $before, $left, $built, $valid, $after, $pid2) = split /\n/, $out;

	like($err, $expected, "$label: the error is reported");
	is($pid1, $pid2, "$label: the session went on");
	is($left, 0, "$label: no index is left");
	is($built, 1, "$label: the next build is ours");
	is($valid, 1, "$label: and valid");
	cmp_ok($after - $before, '<', 32 * 1024, "$label: memory is given back");
	is_deeply([ temp_files($node) ], [], "$label: no temporary files");
}

fails_cleanly('timeout while scanning', qr/statement timeout/, "SET statement_timeout = '300ms'", 'CREATE INDEX i ON few (slow(id))');
for my $ms (5, 10, 20, 40, 60, 80)
{
	my ($out, $err) = session_of($node, "SET statement_timeout = '${ms}ms'", 'CREATE INDEX i ON t (s, k)', reset_timeout(),
		'SELECT valid_indexes()', 'DROP INDEX IF EXISTS i', 'SELECT valid_indexes()');
	my @lines = split /\n/, $out;

	# the build is the second statement; it may also be the next one that is cancelled
	is($lines[0], $err =~ /^psql:<stdin>:2: ERROR: .*statement timeout/m ? 0 : 1, "timeout after $ms ms: no index or a valid one");
	is($lines[-1], 0, "timeout after $ms ms: nothing left");
}
fails_cleanly('error in an expression', qr/division by zero/, 'CREATE INDEX i ON t ((1 / (id - 150000)))');
fails_cleanly('violation', qr/could not create unique index/, 'CREATE UNIQUE INDEX i ON t (few)');
fails_cleanly('too long', qr/exceeds btree version 4 maximum/,
	"INSERT INTO t SELECT 0, 0, 0, string_agg(md5(i::text), '') FROM generate_series(1, 120) i",
	'CREATE INDEX i ON t (s)', 'DELETE FROM t WHERE id = 0', 'VACUUM t');

# Progress: every phase is shown, and the counters get to their end.
{
	my ($in, $out, $err) = ('', '', '');
	my $builder = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', 'CREATE INDEX i ON few (slow(id))' ],
		\$in, \$out, \$err);
	ok($node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_stat_progress_create_index
		WHERE phase = 'building index: scanning table' AND blocks_total > 0)), 'the scan is in pg_stat_progress_create_index');
	$node->safe_psql('postgres', 'SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index');
	$builder->finish;
	like($err, qr/terminating connection/, 'the session is terminated in its midst');
	is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_stat_progress_create_index'), 0, 'its progress is gone');
	is($node->safe_psql('postgres', 'SELECT valid_indexes()'), 0, 'it leaves no index');
}

# Workers: cancelled with their leader, and the other way round.
{
	my $workers = q(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND query ~ 'forever');

	for my $case ([ 'a worker is terminated', q(backend_type = 'parallel worker'), qr/terminating background worker/ ],
		[ 'the leader is terminated', q(backend_type = 'client backend'), qr/terminating connection/ ])
	{
		my ($label, $whom, $expected) = @$case;
		my ($in, $out, $err) = ('', '', '');
		my $builder = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', 'SET max_parallel_maintenance_workers = 2',
				'-c', 'CREATE INDEX i ON few (forever(id))' ], \$in, \$out, \$err);

		ok($node->poll_query_until('postgres', "SELECT ($workers) = 2"), "$label: two workers");
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $whom AND query ~ 'forever' AND pid <> pg_backend_pid() LIMIT 1");
		$builder->finish;
		like($err, $expected, "$label: the build fails");
		ok($node->poll_query_until('postgres', "SELECT ($workers) = 0"), "$label: no worker stays");
		is($node->safe_psql('postgres', 'SELECT valid_indexes()'), 0, "$label: no index");
	}
	my ($out, $err) = session_of($node, 'SET max_parallel_maintenance_workers = 2', "SET statement_timeout = '700ms'", 'CREATE INDEX i ON few (slow(id))',
		reset_timeout(), 'CREATE INDEX i ON few (id)', 'SELECT workers > 0 FROM gpusort_index_builds()', 'SELECT valid_indexes()', 'DROP INDEX i');
	like($err, qr/statement timeout/, 'timeout with workers');
	is($out, "t\n1", 'the next build has workers and is valid');
}

# A crash at any moment during a build or right after it.
for my $ms (0, 20, 50, 100, 200, 400, 1000)
{
	my ($in, $out, $err) = ('', '', '');
	my $psql = IPC::Run::start([ 'psql', '-X', '-d', $node->connstr('postgres'), '-c', 'CREATE INDEX crashed ON t (k)',
			'-c', 'CREATE UNIQUE INDEX crashed_unique ON t (s)', '-c', 'CREATE INDEX crashed_few ON t (few)' ],
		\$in, \$out, \$err);

	usleep(1000 * $ms);
	$node->stop('immediate');
	eval { $psql->finish };
	my $created = () = $out =~ /CREATE INDEX/g;
	$node->start;
	cmp_ok($node->safe_psql('postgres', 'SELECT valid_indexes()'), '>=', $created, "crash after $ms ms: indexes that were reported are there and valid");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM (SELECT k FROM t WHERE k > -9e18 ORDER BY k) s'), 200000, "crash after $ms ms: they are used");
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS crashed, crashed_unique, crashed_few');
}

# A standby replays the build.
$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$standby->start;
is($node->safe_psql('postgres', q(
		CREATE INDEX i_k ON t (k);
		CREATE INDEX i_few ON t (few);
		CREATE UNIQUE INDEX i_s ON t (s) INCLUDE (id);
		INSERT INTO t SELECT 200000 + i, i, i, md5((200000 + i)::text) FROM generate_series(1, 20000) i;
		SELECT built FROM gpusort_index_builds())), 3, 'three indexes built');
$node->wait_for_catchup($standby);
is($standby->safe_psql('postgres', q(SELECT count(bt_index_check(indexrelid, true)) FROM pg_index WHERE indrelid = 't'::regclass)),
	3, 'the standby has them, without the library');
is($standby->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM t WHERE few < 1000000'),
	$node->safe_psql('postgres', 'SELECT count(*) FROM t'), 'and finds all rows by them');
$standby->stop;

# Without the extension, and without the library.
$node->safe_psql('postgres', 'DROP EXTENSION gpusort');
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
is($node->safe_psql('postgres', q(
		UPDATE t SET few = few + 1 WHERE id % 7 = 0;
		DELETE FROM t WHERE id % 11 = 0;
		INSERT INTO t SELECT 300000 + i, i, i, md5((300000 + i)::text) FROM generate_series(1, 20000) i;
		VACUUM t;
		SELECT valid_indexes())), 3, 'a server without the library writes and vacuums the indexes');

$node->stop;
done_testing();
