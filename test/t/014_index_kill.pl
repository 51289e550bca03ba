# Index builds that are killed or that meet a full disk: the server goes on, the pool
# gets its memory back, no file and no index is left, and the next build works.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes 'usleep';

my $seed = $ENV{SEED} || time % 1000000;
srand $seed;
note "SEED=$seed";

my $node = start_node('main', 'gpusort.force = on', 'maintenance_work_mem = 64MB', "gpusort.pool_size = '64MB'",
	'restart_after_crash = on', 'max_parallel_maintenance_workers = 2', 'gpusort.slice_pages = 2', 'dynamic_shared_memory_type = mmap');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 * 1000003 + i AS k, md5(i::text) COLLATE "C" AS s
	FROM generate_series(1, 150000) i;
	CREATE TABLE few AS SELECT i AS id FROM generate_series(1, 2000) i;
	ALTER TABLE few SET (parallel_workers = 2);
	ALTER TABLE t SET (parallel_workers = 2);
	CREATE FUNCTION slow(i int) RETURNS int IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
	$$ BEGIN PERFORM pg_sleep(1); RETURN i; END $$;
	VACUUM ANALYZE));
create_index_checks($node);

# Files of shared memory segments and of temporary relations.
sub odd_files
{
	my $data = $node->data_dir;

	return sort(temp_files($node), glob("$data/pg_dynshmem/*"), glob("$data/base/*/t[0-9]*_*"));
}

# Names of shared memory segments are random; their number counts.
my $files_before = () = odd_files();

sub nothing_is_left
{
	my ($label, $workers) = @_;

	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()'), "$label: all extents are back");
	is(scalar(() = odd_files()), $files_before, "$label: no files");
	is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_index WHERE indrelid IN ('t'::regclass, 'few'::regclass))), 0,
		"$label: no index");
	is($node->safe_psql('postgres', join ";\n", "SET max_parallel_maintenance_workers = $workers", 'CREATE INDEX t_k ON t (k)', 'CREATE UNIQUE INDEX t_s ON t (s)',
			'SELECT built, slices > 10 FROM gpusort_index_builds()', 'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()',
			'SELECT check_indexes()', 'DROP INDEX t_k, t_s'),
		($workers ? '2|t' : '2|f') . "\nt\n2 valid", "$label: the next builds work, and give back their extents");
}

# Start a session that runs the statements; returns it.
sub start_session
{
	my @statements = @_;
	my $session = { out => '', err => '' };

	$session->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), map { ('-c', $_) } @statements ],
		'>', \$session->{out}, '2>', \$session->{err}, time_limit());
	return $session;
}

# Kill a process, wait for its server to begin anew.
sub kill_process
{
	my ($label, $pid, $session) = @_;

	crash($node, $pid);
	eval { $session->{run}->finish };
	like($session->{err}, qr/server closed the connection|terminating connection|connection to server was lost/, "$label: the session ends");
}

# In the midst of a parallel scan
my $workers = q(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND query ~ 'slow');
for my $whom ('parallel worker', 'client backend')
{
	my $session = start_session('CREATE INDEX i ON few (slow(id))');

	ok($node->poll_query_until('postgres', "SELECT ($workers) = 2"), "$whom: two workers are at work");
	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free < pool_bytes FROM gpusort_service()'), "$whom: the build has extents");
	kill_process($whom, $node->safe_psql('postgres',
			"SELECT pid FROM pg_stat_activity WHERE backend_type = '$whom' AND query ~ 'slow' AND pid <> pg_backend_pid() LIMIT 1"), $session);
	nothing_is_left($whom, 2);
}

# At random moments of builds, one after another
for my $workers (0, 2, 2)
{
	my $build = 'DROP INDEX IF EXISTS i; CREATE INDEX i ON t (s, k)';
	my $session = start_session('SELECT pg_backend_pid()', "SET max_parallel_maintenance_workers = $workers", ($build) x 100);
	my $moment = 0.1 + rand(0.6);
	my $label = sprintf('%d workers, after %.3f s', $workers, $moment);

	usleep(1e6 * $moment);
	$session->{run}->pump while $session->{out} !~ /\n/;
	kill_process($label, $session->{out} =~ /(\d+)/, $session);
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS i');
	nothing_is_left($label, $workers);
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal (?!9:)|resource was not closed|leak/, 'nothing odd in the log');

SKIP:
{
	my $disk = $ENV{GPUSORT_TEST_SMALL_DISK};

	skip 'no file system that could be full: GPUSORT_TEST_SMALL_DISK is not set', 1 if !$disk;
	fill_disk("$disk/tablespace");
}
$node->stop;
done_testing();

# Kilobytes that a directory takes on its disk.
sub disk_usage
{
	my ($directory) = @_;

	return (split ' ', `du -sk $directory`)[0];
}

# Builds in a tablespace on a disk of 8 MB, PostgreSQL's own first.
sub fill_disk
{
	my ($directory) = @_;
	my $full = qr/ERROR:  could not extend file "[^"]+": (?:No space left on device|wrote only \d+ of 8192 bytes at block \d+)\nHINT:  Check free disk space\./;
	# of blocks that slices have set aside
	my $full_in_slice = qr/ERROR:  could not write blocks? \d+(?:\.\.\d+)? in file "[^"]+": (?:No space left on device|wrote only \d+ of \d+ bytes)(?:\nHINT:  Check free disk space\.)?/;
	my $drop = 'DROP INDEX IF EXISTS i';

	mkdir $directory or die "$directory: $!";
	$node->safe_psql('postgres', "CREATE TABLESPACE small LOCATION '$directory'");
	$node->safe_psql('postgres', 'CREATE INDEX stays ON t (k) TABLESPACE small; CHECKPOINT');
	my $used = disk_usage($directory);

	for my $case ([ "PostgreSQL's", 'CREATE INDEX i ON t (s) TABLESPACE small', $drop, 'SET gpusort.enabled = off' ],
		[ 'serial', 'CREATE INDEX i ON t (s) TABLESPACE small', $drop, 'SET max_parallel_maintenance_workers = 0' ],
		[ 'with workers', 'CREATE UNIQUE INDEX i ON t (s) TABLESPACE small', $drop ],
		[ 'CONCURRENTLY', 'CREATE INDEX CONCURRENTLY i ON t (s) TABLESPACE small', 'DROP INDEX i' ],
		[ 'temporary', 'CREATE INDEX i ON temporary (s) TABLESPACE small', $drop, 'CREATE TEMP TABLE temporary AS SELECT s FROM t' ],
		[ 'REINDEX', 'REINDEX INDEX stays', 'DROP INDEX beside', 'CREATE INDEX beside ON t (k) TABLESPACE small' ])
	{
		my ($label, $failing, $cleanup, @before) = @$case;
		my $counters = 'SELECT left_alone, given_up FROM gpusort_index_builds()';
		my ($out, $err) = session_of($node, 'SET client_min_messages = warning', @before, 'SELECT pg_backend_pid()', $counters,
			$failing, $counters, 'SELECT pool_bytes_free = pool_bytes FROM gpusort_service()', $cleanup, 'CHECKPOINT', 'CREATE INDEX next ON t (k)', 'SELECT check_indexes()',
			'DROP INDEX next', 'SELECT pg_backend_pid()');
		my ($pid1, $before, $after, $all_back, $valid, $pid2) = split /\n/, $out;

		like($err, qr/^psql:<stdin>:\d+: (?:$full|$full_in_slice)(?:\nCONTEXT:  parallel worker)?$/, "disk full, $label: the error is PostgreSQL's");
		is($pid1, $pid2, "disk full, $label: the session goes on");
		is($after, $before, "disk full, $label: nobody else has tried");
		is($valid, '2 valid', "disk full, $label: the next build works, and what was there is valid");
		is(disk_usage($directory), $used, "disk full, $label: no file is left");
		is($all_back, 't', "disk full, $label: all extents are back");
	}
	fill_by_copy();
	$node->safe_psql('postgres', 'DROP INDEX stays; DROP TABLESPACE small');
}

# COPY FROM a file that is larger than the disk names the last line of those that could not be written: these are a
# megabyte of the file, 11,000 lines, of which PostgreSQL has loaded some, as it writes a thousand at a time.  With
# workers, whoever has the turn then may meet it, often a worker if parts are slow.
sub fill_by_copy
{
	my $file = $node->basedir . '/large.txt';

	$node->safe_psql('postgres', "COPY (SELECT g, repeat('x', 90) FROM generate_series(1, 150000) g) TO '$file'");
	my $line = fail_to_copy($file, "PostgreSQL's", 'SET gpusort.enabled = off');

	for my $case ([ 0, 'none' ], [ 2, 'none' ], ([ 2, 'slow_slices' ]) x 4)
	{
		my ($nworkers, $fault) = @$case;
		my $ours = fail_to_copy($file, "$nworkers workers", 'SET gpusort.force = on',
			"SET max_parallel_maintenance_workers = $nworkers", "SET gpusort.inject_fault = $fault");

		cmp_ok($ours, '>', $line - 1500, 'disk full, COPY: the line that was reached');
		cmp_ok($ours, '<', $line + 20000, '... and no other');
	}
}

# The line that the error names.
sub fail_to_copy
{
	my ($file, $label, @settings) = @_;
	my ($out, $err) = session_of($node, @settings, 'CREATE TABLE loaded (k int4, s text) TABLESPACE small',
		"COPY loaded FROM '$file'", 'SELECT count(*) FROM loaded', 'DROP TABLE loaded', 'CHECKPOINT');

	# from 16 on larger pieces are set aside in another way
	like($err, qr/ERROR:  could not extend file "[^"]+"(?: with FileFallocate\(\))?: .*\nHINT:  Check free disk space\.\nCONTEXT:  (?:parallel worker\n)?COPY loaded, line \d+$/, "disk full, COPY, $label: the error is PostgreSQL's");
	is($out, '0', '... no row stays');
	return $err =~ /COPY loaded, line (\d+)/ ? $1 : 0;
}
