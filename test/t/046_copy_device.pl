# COPY FROM with fields found by gpusortd: whatever it does, or says, the table has the rows of the
# file, and everything is given back.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = start_node('main', 'max_parallel_maintenance_workers = 2', 'gpusort.pool_size = 256MB', 'gpusort.force = on',
	'gpusort.copy_parser = device', "gpusort.daemon = '" . daemon_of(2) . "'", 'log_min_messages = debug1');
my $file = $node->data_dir . '/rows';
my $rows = 60000;
my $serial = 0;

# Quoted delimiters, quotes and newlines; null and empty strings; escapes of the other format.
$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE TABLE source AS SELECT i AS id, md5(i::text) AS m,
		CASE i % 7 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a,"b",' || i WHEN 3 THEN E'one\\ntwo\\\\.\\t' || i ELSE repeat('x', i % 90) END AS t,
		(i % 1000) / 10.0 AS n FROM generate_series(1, $rows) i;
	CREATE TABLE loaded (LIKE source);
	COPY source TO '$file.csv' CSV;
	COPY source TO '$file.escape' (FORMAT csv, ESCAPE '\\', DELIMITER ';', FORCE_QUOTE (m));
	COPY source TO '$file.text'));
ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'gpusortd comes up');

my %options = (csv => '(FORMAT csv)', escape => q((FORMAT csv, ESCAPE '\\', DELIMITER ';')), text => '');
my $sum = 'count(*), sum(hashtext(x::text)::int8), sum(id)';
my $expected = $node->safe_psql('postgres', "SELECT $sum FROM source x");
my $idle_bytes = service($node, 'pool_bytes_free');

# Another gpusortd, with these options, on devices that can be told to fail.
sub restart_daemon
{
	my ($options) = @_;
	my $daemon = $options =~ /=(?:operation|wrong-|swapped|doubled)/ ? 'host:2' : daemon_of(2);

	$serial++;
	set_daemon($node, $daemon, '--device-memory=' . (1000 + $serial) . "MB $options");
}

# Load a file; the table is right.  Returns what the log says.
sub load
{
	my ($kind, $label, @settings) = @_;
	my $log = -s $node->logfile;

	$node->safe_psql('postgres', join ';', (map { "SET $_" } @settings), "TRUNCATE loaded", "COPY loaded FROM '$file.$kind' $options{$kind}");
	is($node->safe_psql('postgres', "SELECT $sum FROM loaded x"), $expected, "$label: the rows are there");
	$log = slurp_file($node->logfile, $log);
	like($log, qr/gpusort loaded with 2 workers/, "$label: by workers");
	return $log;
}

# ... by gpusortd, or not from some chunk on.
sub found_by_device { return shift =~ /gpusortd found the fields of (\d+) chunks of (\d+)/ && $1 > 0 && $1 == $2 }
sub falls_back { return shift =~ /gpusort finds fields on the CPU: / }

for my $kind (sort keys %options)
{
	my $done = service($node, 'jobs_done');
	my $log = load($kind, $kind);

	ok(found_by_device($log) && !falls_back($log), "$kind: fields are found by gpusortd");
	cmp_ok(service($node, 'jobs_done'), '>', $done, "$kind: in jobs");
	all_is_free($node, $idle_bytes, $kind);
}
unlike(load('csv', 'by default', "gpusort.copy_parser = 'host'"), qr/gpusortd found/, 'by default: it is not asked');
unlike(load('csv', 'the CPU', "gpusort.engine = 'host'"), qr/gpusortd found/, 'the CPU: it is not asked');
like(load('csv', 'little pool', 'gpusort.pool_quota = 5'), qr/on the CPU: the pool is full/, 'little pool: it is not asked');
all_is_free($node, $idle_bytes, 'little pool');
$node->safe_psql('postgres', "SET gpusort.copy_parser = 'host'; TRUNCATE loaded; SET max_parallel_maintenance_workers = 0; COPY loaded FROM '$file.csv' CSV");

# The program crashes, loses a device; an operation fails; there is little memory.
for my $fault ('crash:1', 'crash:2', 'lost:1', map { "operation:$_" } 1 .. 9, 12, 17)
{
	restart_daemon("--inject-fault=$fault");
	ok(falls_back(load('csv', $fault)), "$fault: participants go on");
	$node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service()));
	all_is_free($node, $idle_bytes, $fault);
}
restart_daemon('--device-memory=1MB');
ok(falls_back(load('csv', 'little device memory')), 'little device memory: participants go on');
restart_daemon('--device-memory=40MB --lanes=0');
ok(found_by_device(load('csv', 'some device memory')), 'some device memory: a few chunks at a time');

# What it finds is wrong: in each chunk, and in some.
for my $fault (map { ("$_:1", "$_:4") } 'wrong-id', 'swapped-ids', 'doubled')
{
	restart_daemon("--inject-fault=$fault --device-memory=1GB");
	for my $kind (sort keys %options)
	{
		my $log = load($kind, "$fault, $kind");

		like($log, qr/on the CPU: gpusortd has found fields where there are none/, "$fault, $kind: seen")
			if $fault =~ /:1$/;
	}
	all_is_free($node, $idle_bytes, $fault);
}

# It stops: it is given up, or the session is cancelled; what it may still write to is given back later.
restart_daemon('--inject-fault=stop:1');
$node->safe_psql('postgres', "ALTER SYSTEM SET gpusort.daemon_timeout = '1s'");
reload($node);
{
	my $pid = service($node, 'pid');

	like(load('csv', 'hanging'), qr/on the CPU: gpusortd does not answer/, 'hanging: participants go on');
	ok($node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $pid FROM gpusort_service()"), 'hanging: replaced');
	all_is_free($node, $idle_bytes, 'hanging');
}
$node->safe_psql('postgres', 'ALTER SYSTEM RESET gpusort.daemon_timeout');
reload($node);
restart_daemon('--inject-fault=stop:1');
{
	my $pid = service($node, 'pid');
	my ($err, $begin, $victim) = ('');

	$victim = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'), '-c', "SET application_name = 'victim'",
			'-c', "COPY loaded FROM '$file.csv' CSV" ], '2>', \$err, time_limit());
	wait_until_stopped($pid);
	$begin = time;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim' AND backend_type = 'client backend'");
	$victim->finish;
	like($err, qr/due to user request/, 'cancelled while gpusortd is stopped');
	cmp_ok(time - $begin, '<', 50, '... before gpusortd is given up');
	cmp_ok(service($node, 'pool_bytes_free'), '<', $idle_bytes, '... what it may write to is not given back');
	kill 'CONT', $pid;
	all_is_free($node, $idle_bytes, '... before it goes on');
}

# Records that are PostgreSQL's to look at: errors, and rows up to them.
restart_daemon('');
open my $bad, '>', "$file.bad" or die $!;
print $bad slurp_file("$file.csv"), "1,2\n3,m,t,1\n";
close $bad;
for my $parser ('host', 'device')
{
	my (undef, undef, $err) = $node->psql('postgres', "SET gpusort.copy_parser = $parser; COPY loaded FROM '$file.bad' CSV");
	my $line = $rows + 1 + int(($rows + 4) / 7);

	like($err, qr/missing data for column "t"\nCONTEXT:  COPY loaded, line $line: "1,2"/, "a bad record, $parser");
}
all_is_free($node, $idle_bytes, 'a bad record');

# kill -9 while it has the first chunks.
restart_daemon('--inject-fault=stop:1');
{
	my $pid = service($node, 'pid');
	my $loader = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', 'TRUNCATE loaded',
		'-c', "COPY loaded FROM '$file.csv' CSV" ], time_limit());

	wait_until_stopped($pid);
	kill 'KILL', $pid;
	$loader->finish;
	is($node->safe_psql('postgres', "SELECT $sum FROM loaded x"), $expected, 'killed while it loads');
	$node->poll_query_until('postgres', "SELECT state = 'up' AND pid <> $pid FROM gpusort_service()");
	all_is_free($node, $idle_bytes, 'killed while it loads');
}
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|server process .* was terminated|leak|WARNING/, 'nothing odd in the log');
$node->stop;
done_testing();
