# Counts of sorts: kept over a restart, not over a crash, gone with their database.
# Running sorts, seen by others; the log; without preloading, an error.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.force = on', "gpusort.daemon = 'off'", 'gpusort.pool_size = 128MB',
	'restart_after_crash = on', 'max_parallel_workers_per_gather = 0');
my $sort = 'SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x';

# A process may tell what it has counted when it ends, after its client: this returns when all have.
sub all_have_told
{
	$node->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE backend_type = 'client backend'))
		or die "sessions do not end\n";
}

sub counted
{
	my ($database, $column) = @_;

	all_have_told();
	return $node->safe_psql('postgres',
		"SELECT coalesce(sum($column), 0) FROM pg_stat_gpusort WHERE datname = '$database'");
}

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i * 7919 % 100003 AS k FROM generate_series(1, 20000) i;
	CREATE DATABASE other;
	CREATE ROLE watcher LOGIN;
	CREATE ROLE reader LOGIN IN ROLE pg_read_all_stats;
	CREATE ROLE sorter LOGIN;
	GRANT SELECT ON t TO sorter));
$node->safe_psql('other', 'CREATE TABLE t AS SELECT i AS k FROM generate_series(1, 1000) i');
all_have_told();
$node->safe_psql('postgres', 'SELECT pg_stat_gpusort_reset()');
$node->safe_psql('postgres', $sort);
$node->safe_psql('other', $sort);
is(counted('postgres', 'sorts'), 1, 'a sort is counted');
is(counted('postgres', 'rows'), 20000, 'so are its rows');
is(counted('other', 'rows'), 1000, 'another database has its own');

# A restart keeps them, and goes on counting.
my $since = $node->safe_psql('postgres', "SELECT stats_reset FROM pg_stat_gpusort WHERE datname = 'postgres' AND kind = 'order by'");
$node->restart;
is(counted('postgres', 'rows'), 20000, 'a restart keeps counts');
is($node->safe_psql('postgres', "SELECT stats_reset FROM pg_stat_gpusort WHERE datname = 'postgres' AND kind = 'order by'"),
	$since, 'since when, too');
$node->safe_psql('postgres', $sort);
is(counted('postgres', 'rows'), 40000, 'and counting goes on');
is(-e $node->data_dir . '/pg_stat/gpusort.stat' ? 1 : 0, 0, 'no file is left while the server runs');

# One database anew, then it goes.
my $oid = $node->safe_psql('postgres', "SELECT oid FROM pg_database WHERE datname = 'other'");
$node->safe_psql('postgres', "SELECT pg_stat_gpusort_reset($oid)");
is(counted('other', 'rows') . ' ' . counted('postgres', 'rows'), '0 40000', 'one database is counted anew');
$node->safe_psql('other', $sort);
is(counted('other', 'rows'), 1000, 'and goes on');
$node->safe_psql('other', 'SELECT pg_stat_reset()');
is(counted('other', 'rows'), $node->safe_psql('postgres', 'SHOW server_version_num') >= 180000 ? 0 : 1000,
	'statistics of the server are counted anew with the database');
$node->safe_psql('other', $sort);
my $there = counted('other', 'rows');
cmp_ok($there, '>=', 1000, 'a database counts');
$node->safe_psql('postgres', 'ALTER DATABASE other IS_TEMPLATE true');
like(($node->psql('postgres', 'DROP DATABASE other'))[2], qr/cannot drop a template database/, 'a database stays');
is(counted('other', 'rows'), $there, '... and so do its counts');
$node->safe_psql('postgres', 'ALTER DATABASE other IS_TEMPLATE false');
$node->safe_psql('postgres', 'DROP DATABASE other');
is($node->safe_psql('postgres', "SELECT count(*) FROM gpusort_sorts_of($oid)"), 0, 'counts go with their database');

# A portion read while rows are returned is counted in the end.
$node->safe_psql('postgres', q(SET gpusort.pool_quota = 0; SET work_mem = '64kB'; SET hash_mem_multiplier = 1;
	SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x));
all_have_told();
is($node->safe_psql('postgres', "SELECT spilled > 0 AND runs > 1 AND spilled_bytes > 0 AND write_time > 0 AND read_time > 0
	FROM pg_stat_gpusort WHERE datname = 'postgres' AND kind = 'order by'"), 't', 'what was spilled, and read back');

# gpusortd that is not there is a fallback.
$node->safe_psql('postgres', "SET gpusort.engine = 'cuda'; $sort");
is(counted('postgres', 'fallbacks') . counted('postgres', 'fallbacks_down'), '00', 'no gpusortd is expected');

# The log.
my $offset = -s $node->logfile;
$node->safe_psql('postgres', "SET gpusort.log_min_duration = 0; $sort");
my $log = slurp_file($node->logfile, $offset);
like($log, qr/LOG:  gpusort: sort for order by: duration: \d+\.\d+ ms  rows: 20000  engine: host/, 'a sort is logged');
like($log, qr/DETAIL:  collect: \d+\.\d+ ms, sort: .* spilled: 0 kB/, 'with its phases');
$offset = -s $node->logfile;
$node->safe_psql('postgres', "SET gpusort.log_min_duration = '1min'; $sort");
unlike(slurp_file($node->logfile, $offset), qr/gpusort: sort/, 'a short one is not');
like(($node->psql('postgres', 'SET gpusort.log_min_duration = 0', extra_params => [ '-U', 'watcher' ]))[2],
	qr/permission denied/, 'that is for superusers');

# A flood of short ones, of several sessions, while others look: all are logged and counted, once.
$offset = -s $node->logfile;
my $before = counted('postgres', 'sorts');
my $flood = $node->basedir . '/flood.sql';
append_to_file($flood, "SELECT x FROM (VALUES (3), (1), (2)) v (x) ORDER BY x;\n");
append_to_file("$flood.look", "SELECT sum(sorts), sum(total_time) FROM pg_stat_gpusort;\nSELECT count(*) FROM pg_stat_gpusort_activity;\n");
$ENV{PGOPTIONS} = '-c gpusort.log_min_duration=0 -c gpusort.min_rows=0';
$node->command_ok([ 'pgbench', '-n', '-c', '4', '-t', '600', '-f', "$flood\@9", '-f', "$flood.look\@1",
	'-d', $node->connstr('postgres') ], 'a flood of short sorts');
delete $ENV{PGOPTIONS};
$log = slurp_file($node->logfile, $offset);
my @logged = $log =~ /LOG:  gpusort: sort for order by: duration: \d+\.\d+ ms  rows: 3  engine: host\n.*DETAIL:  collect: /g;
cmp_ok(scalar @logged, '>', 1500, 'they are logged');
is(counted('postgres', 'sorts') - $before, scalar @logged, '... and counted');
note(sprintf('%d sorts, %.0f bytes of the log each', scalar @logged, length($log) / @logged));

# A sort in the middle of its input, seen by others.
my ($in, $out) = ("SELECT pg_backend_pid();\n", '');
my $session = IPC::Run::start([ 'psql', '-XAtq', '-U', 'sorter', '-d', $node->connstr('postgres') ],
	'<', \$in, '>', \$out, '2>', \my $err, time_limit());
$session->pump until $out =~ /^(\d+)\n/;
my $pid = $1;
$node->safe_psql('postgres', q(
	CREATE FUNCTION hold(i int) RETURNS int LANGUAGE plpgsql AS
	'BEGIN IF i = 87627 THEN PERFORM pg_advisory_xact_lock(4711); END IF; RETURN i; END';
	ALTER FUNCTION hold(int) COST 1));
my $holder = $node->background_psql('postgres');
$holder->query_safe('SELECT pg_advisory_lock(4711)');
$in .= "SELECT count(*) FROM (SELECT hold(k) FROM t ORDER BY hold(k), k OFFSET 0) x;\n";
$session->pump_nb;
ok($node->poll_query_until('postgres',
	"SELECT count(*) = 1 FROM pg_locks WHERE pid = $pid AND locktype = 'advisory' AND NOT granted"), 'a sort waits in its input');
my $seen = "SELECT kind, phase, engine, rows BETWEEN 1 AND 19999, estimated_rows > 0, usename, datname FROM pg_stat_gpusort_activity WHERE pid = $pid";
is($node->safe_psql('postgres', $seen), 'order by|collecting||t|t|sorter|postgres', 'it is seen');
is($node->safe_psql('postgres', $seen, extra_params => [ '-U', 'sorter' ]), 'order by|collecting||t|t|sorter|postgres', 'by its user');
is($node->safe_psql('postgres', $seen, extra_params => [ '-U', 'reader' ]), 'order by|collecting||t|t|sorter|postgres', 'by who may read all');
is($node->safe_psql('postgres', $seen, extra_params => [ '-U', 'watcher' ]), '|||||sorter|postgres', 'others see whose it is');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_gpusort_activity WHERE pid = $pid"), 'it goes with its process');
eval { $session->finish };
$holder->quit;

# Where the server's statistics have no kinds of extensions, there is room for 128 databases: what further ones sort is
# added up.  The file is filled with counts of databases that don't exist.
if ($node->safe_psql('postgres', 'SHOW server_version_num') < 180000)
{
	my $file = $node->data_dir . '/pg_stat/gpusort.stat';
	my $rows = counted('postgres', 'rows');

	$node->stop;
	my $content = slurp_file($file);
	my ($format, $bytes, $entries) = unpack('L L l', $content);
	is(length($content), 12 + $bytes * $entries, 'the file is as long as its head says');
	my $kinds = grep { unpack('L', substr($content, 12 + $_ * $bytes, 4)) == 0 } 0 .. $entries - 1;
	for my $database (2_000_001 .. 2_000_150)
	{
		for my $kind (0 .. $kinds - 1)
		{
			$content .= pack('L l q', $database, $kind, 10) . "\0" x ($bytes - 16);
			$entries++;
		}
	}
	substr($content, 0, 12) = pack('L L l', $format, $bytes, $entries);
	open(my $out, '>:raw', $file) or die;
	print $out $content;
	close($out);
	$node->start;
	is(counted('postgres', 'rows'), $rows, 'a full table: counts that had been there');
	my $others = "SELECT coalesce(sum(sorts), 0) FROM pg_stat_gpusort WHERE datid = 0 AND datname IS NULL";
	my $all = $node->safe_psql('postgres', "SELECT coalesce(sum(sorts), 0) FROM generate_series(2000001, 2000150) d, gpusort_sorts_of(d::oid)");
	is($node->safe_psql('postgres', $others) + $all, 150 * $kinds * 10, 'nothing is lost of those that have no room');
	cmp_ok($all, '>=', 120 * $kinds * 10, 'most have room');
	$all = $node->safe_psql('postgres', $others);
	$node->safe_psql('postgres', 'CREATE DATABASE late');
	$node->safe_psql('late', 'CREATE TABLE t AS SELECT i AS k FROM generate_series(1, 1000) i');
	$node->safe_psql('late', $sort);
	is(counted('late', 'sorts') . ' ' . ($node->safe_psql('postgres', $others) - $all), '0 1', 'what another one sorts is among others');
	$node->restart;
	is($node->safe_psql('postgres', $others) - $all, 1, 'after a restart, too');
	$node->safe_psql('postgres', 'SELECT pg_stat_gpusort_reset()');
	is($node->safe_psql('postgres', $others) . counted('postgres', 'rows'), '00', 'all are counted anew');
	$node->safe_psql($_, $sort) for ('late', 'postgres');
	is(counted('late', 'sorts') . ' ' . counted('postgres', 'sorts') . ' ' . $node->safe_psql('postgres', $others), '1 1 0',
		'that makes room of databases that are no more');
}

# A crash forgets.
is(counted('postgres', 'rows') > 0 ? 1 : 0, 1, 'there are counts');
$node->stop('immediate');
$node->start;
is(counted('postgres', 'rows'), 0, 'a crash forgets counts');
$node->safe_psql('postgres', $sort);
is(counted('postgres', 'rows'), 20000, 'and counting begins');

# Not preloaded.
$node->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$node->restart;
for ('TABLE pg_stat_gpusort', 'TABLE pg_stat_gpusort_activity', 'SELECT pg_stat_gpusort_reset()')
{
	like(($node->psql('postgres', $_))[2], qr/gpusort must be loaded via shared_preload_libraries/, "not preloaded: $_");
}
is($node->safe_psql('postgres', "LOAD 'gpusort'; SET gpusort.force = on; $sort"), 20000, 'sorts need no statistics');

$node->stop;
done_testing();
