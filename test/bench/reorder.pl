#!/usr/bin/perl
# reorder.pl
#	What gpusort.reorder_rows gains, by the width of rows.
#
# Runs against the server of PGHOST, PGPORT and PGUSER, which preloads gpusort
# and has gpusortd running, in a database of its own.  For each width there is a table of
# rows of one length and one of many; a query only returns its rows, or looks at
# their last column; an index is built of the key, and of the key and the rest.
# Settings take turns in one session; times are those of EXPLAIN (ANALYZE, TIMING OFF),
# of builds the client's, medians.  "on" reorders whatever the width and waits for the first
# rows, so where it wins, "auto" should be made to reorder, too.
#
#	--bytes N		of each table's rows (1,000,000,000)
#	--repeat N		executions (5)
#	--width N		of the rest of a row, besides the key; may be repeated
#	--parallel N	workers of index builds (0)
#	--output FILE	the table also goes there
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use Median;
use PgWire;
use Time::HiRes 'time';

my %opt = (bytes => 1_000_000_000, repeat => 5, parallel => 0, width => []);
GetOptions(\%opt, 'bytes=i', 'repeat=i', 'parallel=i', 'width=i@', 'output=s') or exit 2;
$| = 1;

my @widths = @{ $opt{width} } ? @{ $opt{width} } : (8, 24, 64, 200, 500, 1000, 2000);
my @settings = qw(off auto on);
my $header_bytes = 24;    # of a stored row, and its key
my $db = "reorder_$$";
my $failed = 0;
my ($conn, @lines);

sub say_line { push @lines, $_[0]; print "$_[0]\n"; }
# A query's milliseconds, and how many of its rows were reordered.
sub execute
{
	my $query = shift;
	my $plan = decode_json($conn->value("EXPLAIN (ANALYZE, BUFFERS OFF, TIMING OFF, FORMAT JSON) $query"))->[0];
	my @nodes = ($plan->{Plan});

	while (my $node = shift @nodes)
	{
		return ($plan->{'Execution Time'}, $node->{'Reordered Rows'} // 0)
			if ($node->{'Custom Plan Provider'} // '') eq 'GpuSort';
		push @nodes, @{ $node->{Plans} || [] };
	}
	return ($plan->{'Execution Time'}, -1);
}

sub build
{
	my $definition = shift;
	my $begin = time;

	$conn->must($definition);
	my $ms = (time - $begin) * 1000;
	$conn->must('DROP INDEX i');
	return ($ms, 0);
}

sub run_case
{
	my ($label, $width, $rows, $run, $statement) = @_;
	my (%ms, %reordered);

	for my $i (0 .. $opt{repeat})
	{
		for my $setting (@settings)
		{
			$conn->must("SET gpusort.reorder_rows = $setting");
			(my $ms, $reordered{$setting}) = $run->($statement);
			push @{ $ms{$setting} }, $ms if $i;
		}
	}
	my ($off, @on) = map { median(@{ $ms{$_} }) } @settings;
	my $share = join ' / ', map { sprintf '%.0f', 100 * $reordered{$_} / $rows } @settings[ 1, 2 ];
	$share = '' if $run == \&build;
	if (grep { $_ < 0 } values %reordered) { $share = 'NOT USED'; $failed++; }
	say_line(sprintf '| %d | %.3g M | %s | %.0f | %.0f | %.0f | %.2f | %s |', $width, $rows / 1e6, $label, $off, @on, $off / $on[1], $share);
}

sub run_width
{
	my ($width, $varied) = @_;
	my $rows = int($opt{bytes} / ($header_bytes + $width));
	my $what = $varied ? 'many lengths' : 'one length';
	my $pad = $varied ? "repeat('x', (r & 1023)::int * 2 * $width / 1024)" : "repeat('x', $width - 1)";

	$conn->must('DROP TABLE IF EXISTS t');
	$conn->must('CREATE UNLOGGED TABLE t (k int8, pad text, last int4)');
	$conn->must('ALTER TABLE t ALTER pad SET STORAGE PLAIN');
	$conn->must("INSERT INTO t SELECT r, $pad, 1 FROM (SELECT hashint8extended(i, 0) AS r FROM generate_series(1::int8, $rows) i) s");
	$conn->must('VACUUM (FREEZE, ANALYZE) t');
	$conn->must('SELECT count(*) FROM t');
	run_case("$what: return rows", $width, $rows, \&execute, 'SELECT * FROM t ORDER BY k');
	run_case("$what: read rows", $width, $rows, \&execute, 'SELECT sum(last) FROM (SELECT * FROM t ORDER BY k OFFSET 0) s');
	run_case("$what: index of the key", $width, $rows, \&build, 'CREATE INDEX i ON t (k)') unless $varied;
	run_case("$what: index of all", $width, $rows, \&build, 'CREATE INDEX i ON t (k) INCLUDE (pad)') if $width <= 1000;
}

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	$conn = PgWire->connect(dbname => $db, name => 'gpusort reorder');
	$conn->must('SET max_parallel_workers_per_gather = 0; SET jit = off; SET gpusort.force = on; SET gpusort.engine = cuda');
	$conn->must("SET max_parallel_maintenance_workers = $opt{parallel}; SET maintenance_work_mem = '2GB'");
	$conn->must('CREATE EXTENSION gpusort');
	say_line(sprintf 'PostgreSQL %s, pool %s, devices: %s, %d workers in index builds; medians of %d', $conn->value('SHOW server_version') =~ s/ .*//r,
		$conn->value('SHOW gpusort.pool_size'), $conn->value("SELECT string_agg(name, ', ') FROM gpusort_devices()") // 'none', $opt{parallel}, $opt{repeat});
	say_line('');
	say_line('| width | rows | | off, ms | auto, ms | on, ms | on: times faster | rows reordered, %: auto / on |');
	say_line('| ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |');
	for my $width (@widths)
	{
		run_width($width, $_) for 0, 1;
	}
	$conn->close;
};
if ($@) { print "FAILED: $@"; $failed++; }
eval { $admin->query("DROP DATABASE $db WITH (FORCE)") };
if ($opt{output})
{
	open my $out, '>', $opt{output} or die "$opt{output}: $!\n";
	print $out map { "$_\n" } @lines;
	close $out;
}
exit($failed ? 1 : 0);
