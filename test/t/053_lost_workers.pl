# Workers that fail, end without a word, are cancelled, terminated or killed while others wait for
# them: every statement that has workers of ours ends with a proper error, soon, and leaves nothing.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my @common = ('gpusort.force = on', 'max_worker_processes = 12', 'max_parallel_workers = 12', 'max_parallel_workers_per_gather = 2',
	'max_parallel_maintenance_workers = 2', 'min_parallel_table_scan_size = 0', 'restart_after_crash = on', 'wal_level = replica', 'autovacuum = off',
	'dynamic_shared_memory_type = mmap');
my $node = start_node('main', @common, 'gpusort.pool_size = 128MB', 'gpusort.slice_pages = 16');
my $file = $node->data_dir . '/rows';

$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE TABLE source AS SELECT i, hashint8(i) AS h, repeat('x', 900) AS pad FROM generate_series(1, 8000) i;
	CREATE TABLE target (LIKE source);
	INSERT INTO target SELECT * FROM source LIMIT 10;
	CREATE TABLE empty (LIKE source);
	CREATE TABLE parted (LIKE source) PARTITION BY HASH (i);
	CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE TABLE clustered AS TABLE source;
	CREATE INDEX clustered_h ON clustered (h);
	CREATE FUNCTION unsafe(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN -i; END';
	CREATE INDEX clustered_unsafe ON clustered (unsafe(i));
	CREATE VIEW contents AS
		SELECT 'target' AS name, count(*), sum((h # hashtid(ctid)) * length(pad)::int8), pg_relation_filenode('target') AS file FROM target t
		UNION ALL SELECT 'empty', count(*), NULL, 0 FROM empty
		UNION ALL SELECT 'parted', count(*), sum((h # hashtid(ctid)) * length(pad)::int8), 0 FROM parted t
		UNION ALL SELECT 'clustered', count(*), sum((h # hashtid(ctid)) * length(pad)::int8), pg_relation_filenode('clustered') FROM clustered t
		UNION ALL SELECT 'made', count(*), NULL, 0 FROM pg_class WHERE relname LIKE 'made%';
	VACUUM ANALYZE;
	COPY source TO '$file'));
my @parallel = ('SET parallel_setup_cost = 0', 'SET parallel_tuple_cost = 0', 'SET gpusort.cost_gather = 0');
my @parallel_join = (@parallel, 'SET enable_hashjoin = off', 'SET enable_nestloop = off');
my $workers_alone = 'SET parallel_leader_participation = off';
my $sorted = 'SELECT count(*), max(r) FROM (SELECT i AS r FROM source ORDER BY h, i OFFSET 1) s';
my $shared = "SELECT count(*), sum(r) FROM (SELECT rank() OVER (PARTITION BY h % 10 ORDER BY i) AS r, pad FROM source) s WHERE pad > ''";
my $join = 'SELECT count(*) FROM source a JOIN source b USING (h) WHERE a.i + b.i > 0';

# Statements, what a fault in them is said to be in, and what else is set.
my @statements = (
	part('copy') ? (
		[ 'COPY FROM', 'a chunk of a COPY', "COPY target FROM '$file'" ],
		[ 'COPY FROM a program that pauses', 'a chunk of a COPY', "COPY target FROM PROGRAM 'cat $file $file $file; sleep 0.5; cat $file'" ],
		[ 'COPY FROM into partitions', 'a chunk of a COPY', "COPY parted FROM '$file'" ],
		[ 'COPY FROM into partitions, at its end', 'the end of a COPY', "COPY parted FROM '$file'" ],
		[ 'COPY TO of a table', 'a slice of rows', "COPY source TO PROGRAM 'cat >/dev/null'" ],
		[ 'COPY TO of sorted rows', 'a slice of rows', "COPY (SELECT * FROM source ORDER BY h, i) TO PROGRAM 'cat >/dev/null'" ],
	) : (),
	part('tables') ? (
		[ 'CREATE TABLE AS', 'a slice of new rows', 'CREATE TABLE made AS SELECT * FROM source ORDER BY h, i' ],
		# 19 gives back the room of rows that were aborted, and with room in it the table is filled by PostgreSQL
		[ 'INSERT', 'a slice of new rows', 'INSERT INTO empty SELECT * FROM source ORDER BY h, i', 'TRUNCATE empty' ],
		[ 'CLUSTER that reads', 'reading a table', 'CLUSTER clustered USING clustered_h' ],
		[ 'those who help with CLUSTER', 'a phase of a sort', 'CLUSTER clustered USING clustered_h' ],
		[ 'CLUSTER that writes', 'a slice of a table', 'CLUSTER clustered USING clustered_unsafe' ],
	) : (),
	part('sorts') ? (
		[ 'a shared sort', 'a part of a sort', $shared, @parallel ],
		# the leader, which may not even be among those who wait, is the one that must notice
		[ 'a shared sort by workers alone', 'a part of a sort', $shared, @parallel, $workers_alone ],
		[ 'a collected sort by workers alone', 'a part of a sort', $sorted, @parallel, $workers_alone ],
		[ 'a join of sorts by workers alone', 'a part of a sort', $join, @parallel_join, $workers_alone ],
		[ 'workers alone that help with a shared sort', 'a phase of a sort', $shared, @parallel, $workers_alone ],
		[ 'a join of sorts', 'a part of a sort', $join, @parallel_join ],
		[ 'a collected sort', 'a part of a sort', $sorted, @parallel ],
		[ 'those who help with a collected sort', 'a phase of a sort', $sorted, @parallel ],
		[ 'those who help with a shared sort', 'a phase of a sort', $shared, @parallel ],
		[ 'those who help with sides of a join', 'a phase of a sort', $join, @parallel_join ],
		[ 'those who help with ties of strings', 'a stretch of a sort',
			"SELECT count(*), sum(r) FROM (SELECT rank() OVER (PARTITION BY 'http://' || (h % 2)::text || '/www.example.com/' || (i % 1000)::text COLLATE \"C\" ORDER BY i) AS r FROM source) s", @parallel ],
		[ 'those who help to verify a shared sort', 'a stretch of a sort', $shared, @parallel, 'SET gpusort.verify = on' ],
		[ 'those who help to verify sides of a join', 'a stretch of a sort', $join, @parallel_join, 'SET gpusort.verify = on' ],
		[ 'a sort by workers', 'a phase of a sort', $sorted, 'SET max_parallel_workers_per_gather = 0',
			'SET gpusort.max_sort_workers = 2', 'SET gpusort.min_sort_worker_rows = 100' ],
		[ 'ties of strings by workers', 'a stretch of a sort',
			"SELECT count(*), max(r) FROM (SELECT i AS r FROM source ORDER BY 'http://' || (h % 2)::text || '/www.example.com/' || (i % 1000)::text COLLATE \"C\", i OFFSET 1) s",
			'SET max_parallel_workers_per_gather = 0', 'SET gpusort.max_sort_workers = 2', 'SET gpusort.min_sort_worker_rows = 100' ],
	) : (),
	part('indexes') ? (
		[ 'CREATE INDEX that reads', 'rows of an index', 'CREATE INDEX made ON source (h, i)' ],
		[ 'CREATE INDEX', 'a slice of an index', 'CREATE INDEX made ON source (h, i)', 'SET gpusort.slice_pages = 1' ],
		[ 'those who help with an index', 'a phase of a sort', 'CREATE INDEX made ON source (h, i)' ],
		[ 'those who help with ties of strings of an index', 'a stretch of a sort', q(CREATE INDEX made ON source (('http://' || (h % 2)::text || '/www.example.com/' || (i % 1000)::text) COLLATE "C")) ],
		[ 'those who help to verify an index', 'a stretch of a sort', 'CREATE INDEX made ON source (h, i)', 'SET gpusort.verify = on' ]
	) : ());

# Sorts in files, of which each participant has a portion.
my $spilled = 'SELECT * FROM t ORDER BY h, i';
my @by_portions = (
	[ 'portions of a sort', 'a portion of a sort', "SELECT count(q::text) FROM ($spilled OFFSET 0) q" ],
	[ 'CREATE TABLE AS of portions', 'a portion of a sort', "CREATE TABLE made AS $spilled" ],
	[ 'COPY TO of portions', 'a portion of a sort', "COPY ($spilled) TO PROGRAM 'cat >/dev/null'" ],
	[ 'a spilled shared sort', 'a part of a sort', 'SELECT count(*), sum(r) FROM (SELECT rank() OVER (PARTITION BY g ORDER BY i) AS r, pad FROM t) s WHERE pad > $$$$',
		'SET gpusort.enable_shared_sort = on' ],
	[ 'a spilled collected sort', 'a part of a sort', "SELECT count(q::text) FROM ($spilled OFFSET 0) q" ],
	[ 'a spilled index that reads', 'rows of an index', 'CREATE INDEX made ON t (h, i) INCLUDE (pad)' ],
	[ 'portions of an index', 'a slice of an index', 'CREATE INDEX made ON t (h, i) INCLUDE (pad)' ]);

# What was there before.
my ($pool_bytes, $contents, $segments);

# All of the pool is free, and no worker and no session is left.  One session asks for all of that.
sub all_has_ended
{
	return $node->poll_query_until('postgres', qq(SELECT count(*) = 1 AND (SELECT pool_bytes_free = $pool_bytes FROM gpusort_service())
		FROM pg_stat_activity WHERE backend_type IN ('client backend', 'parallel worker')));
}

# The number of segments of dynamic shared memory, which are files with random names, when all has ended: a session lets go of its
# segments before it is gone from the view.
sub count_segments
{
	my @files = glob $node->data_dir . '/pg_dynshmem/*';

	return scalar @files;
}

sub note_state
{
	$pool_bytes = service($node, 'pool_bytes_free');
	$contents = $node->safe_psql('postgres', 'TABLE contents');
	all_has_ended() or die "sessions don't end\n";
	$segments = count_segments();
}

# All is as before, and the statement can be done.
sub is_unchanged
{
	my ($label) = @_;

	ok(all_has_ended(), "$label: the pool is free, and no worker is left");
	is_deeply([ spilled_files($node) ], [], "$label: no files are left");
	is(count_segments(), $segments, "$label: no shared memory is left");
	is($node->safe_psql('postgres', 'TABLE contents'), $contents, "$label: nothing has changed");
}

# Run statements whose parts take their time, wait for a worker that has one, and call a function of the server for it at once, if one
# is named: a slow machine may have no time for another session. Returns the pid of the worker, or 0 if none was met.
sub begin_slowly
{
	my ($err, $function, @commands) = @_;
	my $end = $function ? "PERFORM $function(pid) FROM met;" : '';
	my $run = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . ' application_name=victim',
			map { ('-c', $_) } 'SET gpusort.inject_fault = slow_slices', @commands ], '<', \undef, '>', \my $out, '2>', $err, time_limit());
	my $pid = $node->safe_psql('postgres', qq(
		CREATE TEMP TABLE met (pid int);
		DO \$\$
			DECLARE
				until timestamptz := clock_timestamp() + interval '20 s';
			BEGIN
				WHILE NOT EXISTS (SELECT FROM met) AND clock_timestamp() < until
					AND (EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'victim') OR clock_timestamp() < until - interval '10 s') LOOP
					PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
					INSERT INTO met SELECT w.pid FROM pg_stat_activity w JOIN pg_stat_activity l ON w.leader_pid = l.pid AND w.pid <> l.pid
						WHERE l.application_name = 'victim' AND w.wait_event_type = 'Extension' LIMIT 1;
				END LOOP;
				$end
			END \$\$;
		SELECT coalesce(min(pid), 0) FROM met));
	return ($run, $pid);
}

# A worker that does this part of a statement goes in every way that there is.
sub lose_worker
{
	my ($label, $part, $statement, @settings) = @_;

	for my $case ([ 'worker_error', qr/ERROR:  injected error in \Q$part\E$/m ], [ 'worker_exit', qr/ERROR:  lost connection to parallel worker$/m ])
	{
		my ($fault, $pattern) = @$case;
		my ($out, $err);

		# on a busy machine the leader may have done all before there is a worker
		for (1 .. 20)
		{
			($out, $err) = session_of($node, 'SET client_min_messages = warning', "SET statement_timeout = '1min'", @settings, 'BEGIN',
				"SET LOCAL gpusort.inject_fault_at = '$part'", "SET LOCAL gpusort.inject_fault = $fault", $statement, 'ROLLBACK', 'SELECT 1');
			last if $err =~ $pattern;
		}
		like($err, $pattern, "$label, $fault: the error");
		like($out, qr/^1$/m, "$label, $fault: the session goes on");
		is_unchanged("$label, $fault");
	}
	for my $case ([ 'pg_cancel_backend', qr/ERROR:  canceling statement due to user request$/m ],
		[ 'pg_terminate_backend', qr/(?:ERROR|FATAL):  terminating (?:background worker|connection).* due to administrator command$/m ],
		[ 'kill -9', qr/server closed the connection|terminating connection because of crash|connection to server was lost/ ])
	{
		my ($how, $pattern) = @$case;
		my ($run, $pid, $err);

		for (1 .. 20)
		{
			($run, $pid) = begin_slowly(\$err, $how =~ /^pg_/ ? $how : '', "SET gpusort.inject_fault_at = '$part'", @settings, 'BEGIN', $statement, 'ROLLBACK');
			crash($node, $pid) if $pid && $how eq 'kill -9';
			$run->finish;
			last if $err =~ $pattern;
		}
		like($err, $pattern, "$label, $how: the error");
		is_unchanged("$label, $how");
	}
	# of what was rolled back, which each look at the contents would read
	$node->safe_psql('postgres', "VACUUM $1") if $statement =~ /^COPY (\w+) FROM/;
}

sub end_node
{
	unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11|invalid page|was not closed|leak/, 'nothing odd in the log');
	$node->stop;
}

note_state();
lose_worker(@$_) for @statements;
end_node();

if (part('portions'))
{
	$node = start_node('spilling', @common, 'gpusort.pool_size = 192MB', 'gpusort.pool_quota = 40', 'work_mem = 1MB', 'hash_mem_multiplier = 1', 'maintenance_work_mem = 1MB',
		'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'gpusort.cost_gather = 0', 'gpusort.late_rows = off', 'gpusort.enable_shared_sort = off');
	$node->safe_psql('postgres', q(
		CREATE EXTENSION gpusort;
		CREATE TABLE t WITH (parallel_workers = 2) AS SELECT i, i / 3 AS g, hashint8(i) AS h, repeat('x', 350 + i % 150) AS pad FROM generate_series(1, 180000) i;
		CREATE VIEW contents AS SELECT count(*) AS made, (SELECT count(*) FROM t) AS rows FROM pg_class WHERE relname LIKE 'made%';
		VACUUM ANALYZE));
	note_state();
	lose_worker(@$_) for @by_portions;
	end_node();
}
done_testing();
