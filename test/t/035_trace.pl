# gpusort.trace_file: JSON of what processes and devices did, complete after each event.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.force = on', 'gpusort.daemon = ' . "'" . daemon_of(2) . "'", 'gpusort.pool_size = 256MB',
	"gpusort.daemon_options = '--device-rows=1000'", 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0', 'gpusort.min_gpu_rows = 1000');
my $dir = PostgreSQL::Test::Utils::tempdir;

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE ROLE someone LOGIN;
	GRANT SET ON PARAMETER gpusort.trace_file TO someone;
	CREATE TABLE t AS SELECT i AS id, i * 7919 % 100003 AS k, md5(i::text) COLLATE "C" AS s FROM generate_series(1, 50000) i;
	GRANT SELECT ON t TO someone;
	ANALYZE t));
ok($node->poll_query_until('postgres', "SELECT state = 'up' FROM gpusort_service()"), 'gpusortd is up');

# The events of a trace of these statements: [name, category, process, thread].
sub trace_of
{
	my ($name, @statements) = @_;
	my $json;

	$node->safe_psql('postgres', join ';', "SET gpusort.trace_file = '$dir/$name.json'", @statements);
	$json = decode_json(slurp_file("$dir/$name.json"));
	my @events = grep { $_->{ph} eq 'X' } @{ $json->{traceEvents} };
	is(scalar(grep { $_->{ts} <= 0 || $_->{dur} < 0 || $_->{name} eq '' } @events), 0, "$name: times");
	return @events;
}

sub names
{
	my %names = map { $_->{name} => 1 } @_;

	return join ', ', sort keys %names;
}

my @one = ('SET gpusort.verify = on', 'SET max_parallel_workers_per_gather = 0', "SET gpusort.engine = 'host'");
my @events = trace_of('host', @one, 'SELECT count(*) FROM (SELECT s FROM t ORDER BY s OFFSET 0) x');
is(names(@events), 'collecting, returning rows, sorting, verifying', 'phases of a sort');
is($events[0]{name} . ' ' . $events[0]{args}{rows}, 'collecting 50000', 'first it collects');
is(scalar(grep { $_->{cat} ne 'order by' || $_->{pid} != $_->{tid} } @events), 0, 'in one process');
cmp_ok($events[$_]{ts}, '>=', $events[ $_ - 1 ]{ts} + $events[ $_ - 1 ]{dur} - 2, "phase $_ follows") for 1 .. $#events;

@events = trace_of('spill', @one, "SET work_mem = '64kB'", 'SET hash_mem_multiplier = 1', 'SET gpusort.pool_quota = 0',
	'SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x');
like(names(@events), qr/collecting.*returning rows.*sorting.*spilling/, 'a sort that spills');

@events = trace_of('workers', "SET gpusort.engine = 'host'", 'SET max_parallel_workers_per_gather = 2', 'SET parallel_leader_participation = off',
	'SELECT sum(n) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS n FROM t) x');
my %processes = map { $_->{pid} => 1 } @events;
like(names(grep { $_->{tid} != $_->{pid} } @events), qr/collecting.*returning rows.*sorting/, 'what workers do, however many come');
is(scalar keys %processes, 1, 'stands below their leader');

@events = trace_of('devices', "SET gpusort.engine = 'cuda'", 'SET max_parallel_workers_per_gather = 0',
	'SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x');
my @devices = grep { $_->{cat} eq 'device' } @events;
my $ngpus = $node->safe_psql('postgres', 'SELECT count(*) FROM gpusort_devices()');
my %lines = map { $_->{tid} => 1 } @devices;
my ($sorting) = grep { $_->{name} eq 'sorting' } @events;
my ($last) = grep { $_->{name} eq 'returning rows' } @events;
like(names(@devices), qr/download, .*scatter, sort, statistics, upload/, 'phases of devices');
is(scalar(grep { $_->{args}{rows} != 50000 || $_->{dur} < 0 } @devices), 0, 'what they sorted');
cmp_ok(scalar(grep { $_ >= 8 } keys %lines), '>=', $ngpus > 1 ? 2 : 0, 'of two devices, if there are, in lines of their own');
is(scalar(grep { $_->{ts} < $sorting->{ts} || $_->{ts} + $_->{dur} > $last->{ts} + $last->{dur} } @devices), 0, 'by the same clock as processes');
for my $line (keys %lines)
{
	my @line = sort { $a->{ts} <=> $b->{ts} } grep { $_->{tid} == $line } @devices;

	is(scalar(grep { $line[$_]{ts} + 0.01 < $line[ $_ - 1 ]{ts} + $line[ $_ - 1 ]{dur} } 1 .. $#line), 0, "line $line: one after the other");
}
@events = trace_of('a join', "SET gpusort.engine = 'cuda'", 'SET enable_hashjoin = off', 'SET enable_mergejoin = off', 'SET enable_nestloop = off',
	'SELECT count(*) FROM t a JOIN t b USING (k)');
is(scalar(grep { $_->{cat} eq 'device' && $_->{args}{rows} != 100000 } @events), 0, 'of both sides of a join');

@events = trace_of('an index', 'SET max_parallel_maintenance_workers = 0', 'CREATE INDEX t_s ON t (s)', 'DROP INDEX t_s');
is(names(grep { $_->{cat} eq 'index' } @events), 'collecting, sorting, writing pages', 'phases of an index build');

# One file for all sorts until it is set again, and complete after an error.
is(scalar(grep { $_->{name} eq 'collecting' } trace_of('two', @one, ('SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x') x 2)), 2,
	'two sorts');
is(scalar(grep { $_->{name} eq 'collecting' } trace_of('two', @one, 'SELECT count(*) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x')), 1,
	'begun anew');
$node->psql('postgres', "SET gpusort.trace_file = '$dir/error.json'; SET max_parallel_workers_per_gather = 0;
	SELECT 1 / (k - 7) FROM t ORDER BY 1");
is(names(grep { $_->{ph} eq 'X' } @{ decode_json(slurp_file("$dir/error.json"))->{traceEvents} }), 'collecting', 'a sort that fails');

# Two sessions that begin the same file anew, and write to it, again and again.
my $loop = join "\n", map { "SET gpusort.trace_file = '$dir/both.json'; $_;" } ('SELECT count(*) FROM (SELECT k FROM t WHERE id < 3000 ORDER BY k OFFSET 0) x') x 100;
my @both = map { IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \"SET max_parallel_workers_per_gather = 0; $loop", '>', \my $unread, '2>', \my $error,
	time_limit()) } 1, 2;
$_->finish for @both;
my $both = eval { decode_json(slurp_file("$dir/both.json")) };
ok($both, 'two sessions and one file') or diag($@);

# Who may, and where.
like(($node->psql('postgres', "SET gpusort.trace_file = 'x.json'"))[2], qr/invalid value.*relative path/s, 'an absolute path');
symlink("$dir/target.json", "$dir/link.json");
append_to_file("$dir/others.json", 'of others');

# A file that can't be written is refused when it is set.
for my $try ([ '/no/such/folder/x.json', qr/No such file/, 'no folder' ], [ "$dir/link.json", qr/symbolic links/, 'a symbolic link' ], [ $dir, qr/directory/, 'a folder' ])
{
	my ($file, $told, $label) = @$try;

	like(($node->psql('postgres', "SET gpusort.trace_file = '$file'"))[2], qr/ERROR:  invalid value.*\n.*cannot be written by the server: .*$told/, "$label: refused");
}

# One that becomes so later, and what a user may not write, is told of once, by sorts that go on; with workers, too.
mkdir "$dir/gone";
chmod 0777, "$dir/gone";
for my $try ([ "$dir/gone/x.json", qr/could not write file/, 'a folder that is gone' ], [ "$dir/y.json", qr/permission denied to write/, 'without the rights of pg_write_server_files', 'someone' ],
	[ "$dir/others.json", qr/permission denied to write/, '... a file that is there', 'someone' ],
	[ '/no/such/folder/x.json', qr/permission denied to write/, '... or is not there', 'someone' ])
{
	my ($file, $told, $label, @user) = @$try;

	for my $workers (0, 2)
	{
		my ($out, $err) = ('', '');
		my $moved = $file =~ m{gone/};

		$node->psql('postgres', join("\n", "SET max_parallel_workers_per_gather = $workers;", 'SET gpusort.engine = host;',
				("SET gpusort.trace_file = '$file';", $moved ? "\\! mv $dir/gone $dir/away" : (), ('SELECT max(k) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x;') x 3, $moved ? "\\! mv $dir/away $dir/gone" : ()) x 2),
			stdout => \$out, stderr => \$err, extra_params => [ map { ('-U', $_) } @user ]);
		is(scalar(() = $out =~ /^\d+$/mg), 6, "$label, $workers workers: sorts go on");
		is(scalar(() = $err =~ /WARNING:  (?:$told)/g), 2, '... and it is told each time that it is set') or diag $err;
		unlike($err, qr/ERROR/, '... and is no error');
	}
}
ok(!-e "$dir/target.json", 'no symbolic link is followed');
ok(!-e "$dir/y.json", 'nothing is written without rights');
is(slurp_file("$dir/others.json"), 'of others', '... not even by workers');

$node->stop;
done_testing();
