# Crashes at random moments of all kinds of index builds and right after them, each of
# which has its turn.  After recovery there is no index or a valid one, and those that were reported are there.
# Workers help to write them, in slices of a few pages, but at every third point.
# SEED=n repeats the moments, STOPS=n has more of them (test/proof/stops.sh).
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use List::Util qw(shuffle);
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time usleep);

my $rows = 40000;
my $seed = $ENV{SEED} || int(time) % 1000000;
srand $seed;
note "SEED=$seed";

my $node = start_node('main', { extra => ['-k'] }, 'gpusort.force = on', 'maintenance_work_mem = 128MB',
	'max_parallel_maintenance_workers = 2', 'min_parallel_table_scan_size = 0', 'gpusort.slice_pages = 2');

# What a session does, in order; then the indexes that are there for certain.
my $last = 't_e t_few t_k t_pkey t_s unlogged_k';
my @work = (
	[ 'CREATE INDEX t_k ON t (k)', 't_k' ],
	[ 'CREATE UNIQUE INDEX t_s ON t (s) INCLUDE (id)', 't_k t_s' ],
	[ 'CREATE INDEX CONCURRENTLY t_few ON t (few DESC)', 't_few t_k t_s' ],
	[ 'REINDEX INDEX CONCURRENTLY t_k', 't_few t_k t_s' ],
	[ 'ALTER TABLE t ADD PRIMARY KEY (id)', 't_few t_k t_pkey t_s' ],
	[ 'VACUUM FULL t', 't_few t_k t_pkey t_s' ],
	[ 'CREATE UNIQUE INDEX unlogged_k ON unlogged (k)', 't_few t_k t_pkey t_s unlogged_k' ],
	[ 'CREATE TEMP TABLE temporary AS SELECT * FROM t LIMIT 5000; CREATE INDEX temporary_k ON temporary (k, s)',
		't_few t_k t_pkey t_s unlogged_k' ],
	[ 'CLUSTER t USING t_s', 't_few t_k t_pkey t_s unlogged_k' ],
	[ 'BEGIN; TRUNCATE other; INSERT INTO other SELECT id, k FROM t LIMIT 10000; REINDEX TABLE other; COMMIT',
		't_few t_k t_pkey t_s unlogged_k' ],
	[ 'REINDEX TABLE CONCURRENTLY t', 't_few t_k t_pkey t_s unlogged_k' ],
	[ 'ALTER TABLE unlogged SET LOGGED', 't_few t_k t_pkey t_s unlogged_k' ],
	[ 'CREATE INDEX t_e ON t ((s COLLATE "und-x-icu"), k DESC)', $last ],
	[ q(BEGIN; CREATE TABLE made AS SELECT id, k, s FROM t LIMIT 10000; CREATE INDEX made_s ON made (s);
		SAVEPOINT a; CREATE UNIQUE INDEX made_id ON made (id); ROLLBACK TO a; CREATE UNIQUE INDEX made_k ON made (k, id);
		INSERT INTO made SELECT -id, k, s FROM t LIMIT 2000; COMMIT), "made_k made_s $last" ],
	[ 'BEGIN; DROP TABLE made; REINDEX TABLE t; COMMIT', $last ]);

$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 * 1000003 + i AS k, i % 100 AS few, md5(i::text) COLLATE "C" AS s
	FROM generate_series(1, $rows) i;
	CREATE UNLOGGED TABLE unlogged AS SELECT id, k FROM t LIMIT 15000;
	CREATE TABLE other AS SELECT id, k FROM t LIMIT 5000;
	CREATE INDEX other_k ON other (k);
	VACUUM ANALYZE));
create_index_checks($node);

my $script = $node->basedir . '/work.sql';
append_to_file($script, join '', map { "$work[$_][0];\n\\echo done $_\n" } 0 .. $#work);

# Start the session; returns it and where its output goes.
sub start_work
{
	my $session = { out => '', err => '' };

	$session->{run} = IPC::Run::start([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'),
			'-f', $script ], '>', \$session->{out}, '2>', \$session->{err}, time_limit());
	return $session;
}

# Undo it all, whatever of it is there.
sub undo_work
{
	$node->safe_psql('postgres', q(
		ALTER TABLE t DROP CONSTRAINT IF EXISTS t_pkey;
		ALTER TABLE unlogged SET UNLOGGED;
		DROP INDEX IF EXISTS t_k, t_s, t_few, t_e, unlogged_k;
		DROP TABLE IF EXISTS made;
		DO $$
		DECLARE
			index regclass;
		BEGIN
			FOR index IN SELECT indexrelid FROM pg_index WHERE NOT indisvalid LOOP
				EXECUTE format('DROP INDEX %s', index);
			END LOOP;
		END $$;
		TRUNCATE unlogged;
		INSERT INTO unlogged SELECT id, k FROM t LIMIT 15000));
}

my $indexes = q(SELECT string_agg(indexrelid::regclass::text, ' ' ORDER BY indexrelid::regclass::text) FROM pg_index
	WHERE indisvalid AND indrelid IN ('t'::regclass, 'unlogged'::regclass, to_regclass('made')));

# Wait until so many commands of the session are done, or it has ended.
sub wait_for_done
{
	my ($session, $commands) = @_;
	my $done = sub { return scalar(() = $session->{out} =~ /^done/mg) };

	while ($done->() < $commands && $session->{run}->pumpable) { $session->{run}->pump }
	return time;
}

# How long each takes, without a crash.
my $rehearsal = start_work();
my @times = map { wait_for_done($rehearsal, $_) } 0 .. @work;
$rehearsal->{run}->finish;
is($rehearsal->{err}, '', 'without a crash: no error');
is($node->safe_psql('postgres', $indexes), $work[-1][1], 'without a crash: all indexes are there');
is($node->safe_psql('postgres', 'SELECT check_indexes()'), '7 valid', 'without a crash: they are valid');
undo_work();

my %moments;
my $point = 0;
my $points = $ENV{STOPS} || @work;
for my $command (map { shuffle 0 .. $#work } 1 .. 1 + $points / @work)
{
	last if $point++ == $points;
	# every other time without WAL for new files
	$node->append_conf('postgresql.conf', $point % 2 ? "wal_level = replica" : "wal_level = minimal\nwal_skip_threshold = 0");
	$node->append_conf('postgresql.conf', 'max_parallel_maintenance_workers = ' . ($point % 3 ? 2 : 0));
	$node->restart;

	my $seconds = $times[ $command + 1 ] - $times[$command];
	my $moment = rand($seconds * 1.1);
	my $checkpoint = rand(3) < 1 ? rand($moment) : undef;
	my $label = sprintf('point %d, %.3f s of %.3f in command %d%s', $point, $moment, $seconds, $command,
		defined $checkpoint ? ', with a checkpoint' : '');
	my $session = start_work();
	my $begin = wait_for_done($session, $command);

	if (defined $checkpoint)
	{
		usleep(1e6 * $checkpoint);
		$node->psql('postgres', 'CHECKPOINT');
	}
	$moment -= time - $begin;
	usleep(1e6 * $moment) if $moment > 0;
	# as stop('immediate') does, but pg_ctl takes longer to start than some commands to end
	kill QUIT => $node->{_pid};
	$node->stop('immediate', fail_ok => 1);
	eval { $session->{run}->finish };
	unlike($session->{err}, qr/ERROR/, "$label: no error before");
	$node->start;

	# What was in progress has come to its end or has not.
	my $done = () = $session->{out} =~ /^done/mg;
	my @allowed = map { $_ < 0 ? '' : $work[ $_ > $#work ? $#work : $_ ][1] } $done - 1, $done;
	my $found = $node->safe_psql('postgres', $indexes);

	$moments{$done}++;
	ok((grep { $_ eq $found } @allowed), "$label: after $done commands these indexes are there: $found");
	my $number = 1 + (() = $found =~ /\w+/g);
	is($node->safe_psql('postgres', 'SELECT check_indexes()'), "$number valid", "$label: indexes are valid");
	is($node->safe_psql('postgres', 'SELECT count(*), (SELECT count(*) FROM verify_heapam(\'t\')) FROM t'), "$rows|0",
		"$label: no row is lost");
	is_deeply([ temp_files($node), glob $node->data_dir . '/base/*/t[0-9]*_*' ], [], "$label: no temporary files");
	undo_work();
}
cmp_ok(scalar keys %moments, '>', @work / 3, 'crashes at different moments');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11|invalid page/, 'nothing odd in the log');
sum_checksums($node, 'after all crashes');
done_testing();
