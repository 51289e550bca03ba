#!/usr/bin/perl
# cores.pl
#	Sorts by all processes that have read the rows, by one of them, and by PostgreSQL, in turn: what more cores gain where no
#	GPU is.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own.  Times are those of
# EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF), ms, medians of --repeat after one more to warm up.  Sides: "all" as the server's
# settings say; "one": those who read rows don't sort, and nobody else helps; "postgres": gpusort off, once after one.
# A row that is sorted by one process on the side "all" says so.
#
#	--rows N			of each table (20000000)
#	--queries A,B,...	(all of those below)
#	--workers A,B,...	(12); several: a column for each, by side "all" only
#	--sides A,B,...		(postgres,one,all)
#	--repeat N			(3)
#	--set NAME=VALUE	setting for all; may be repeated
#	--list				the queries
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use PgWire;

my %opt = (rows => 20_000_000, workers => 12, sides => 'postgres,one,all', repeat => 3, set => []);
GetOptions(\%opt, 'rows=i', 'queries=s', 'workers=s', 'sides=s', 'repeat=i', 'set=s@', 'list') or exit 2;
$| = 1;

my $db = "cores_$$";
my @tables = (
	"t AS SELECT hashint8extended(g, 0) AS k, int4(g % 1000000) AS v, left(md5(g::text), 16) AS s, date '2020-01-01' + int4(g % 2000) AS d, md5((g + 1)::text) AS m FROM generate_series(1, $opt{rows}) g",
	"u AS SELECT hashint8extended(g, 0) AS k, int4(g % 1000) AS v FROM generate_series(1, $opt{rows}) g",
	"urls AS SELECT 'https://example.com/shop/' || (g % 97) || '/' || left(md5(g::text), 12) AS url, g AS i FROM generate_series(1, $opt{rows}) g");
my @queries = (
	[ rows => 'SELECT k, v, s FROM t ORDER BY k' ],
	[ key => 'SELECT k FROM t ORDER BY k' ],
	[ md5 => 'SELECT * FROM t ORDER BY m' ],
	[ three => 'SELECT * FROM t ORDER BY v, d, s' ],
	[ expression => 'SELECT k, v FROM t ORDER BY lower(s)' ],
	[ icu => 'SELECT k, s FROM t ORDER BY s COLLATE "en-x-icu"' ],
	[ urls => 'SELECT * FROM urls ORDER BY url COLLATE "en-x-icu"' ],
	[ first => 'SELECT * FROM t ORDER BY k LIMIT ' . int($opt{rows} / 50) ],
	[ count => 'SELECT count(DISTINCT k) FROM t' ],
	[ distinct => 'SELECT count(*) FROM (SELECT DISTINCT k FROM t) q' ],
	[ group => 'SELECT count(*) FROM (SELECT k, count(*), sum(v) FROM t GROUP BY k) q' ],
	[ percentile => 'SELECT d, percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM t GROUP BY d' ],
	[ window => 'SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY v ORDER BY k) FROM t) q' ],
	[ join => 'SELECT count(*) FROM t JOIN u USING (k)' ]);
my %sides = (
	all => {},
	one => { 'gpusort.max_sort_workers' => 0, 'gpusort.min_sort_worker_rows' => 2_000_000_000 },
	postgres => { 'gpusort.enabled' => 'off' });
my @workers = split /,/, $opt{workers};
my @sides = @workers > 1 ? ('all') : split /,/, $opt{sides};
my $conn;

if ($opt{list})
{
	print "$_->[0]: $_->[1]\n" for @queries;
	exit;
}

sub median { my @sorted = sort { $a <=> $b } @_; return $sorted[ $#sorted / 2 ]; }

sub make_tables
{
	for (@tables)
	{
		my ($name) = /^(\w+)/;

		$conn->must('CREATE UNLOGGED TABLE ' . s/ AS / WITH (parallel_workers = $workers[-1]) AS /r);
		$conn->must("VACUUM (FREEZE, ANALYZE) $name");
	}
}

# ms, and how many processes have sorted.
sub timed
{
	my ($query, $side, $workers) = @_;
	my %settings = (%{ $sides{$side} // die "no side $side\n" }, max_parallel_workers_per_gather => $workers);

	$conn->must("SET $_ = $settings{$_}") for keys %settings;
	my $plan = join "\n", map { $_->[0] } @{ $conn->must("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) $query")->{rows} };
	$conn->must("RESET $_") for keys %settings;
	my ($ms) = $plan =~ /Execution Time: ([\d.]+)/;
	my ($processes) = $plan =~ /Processes: (\d+)/;
	return ($ms, $processes // 1);
}

# A column for each number of workers and each side, in turn.
sub measure
{
	my ($query) = @_;
	my @columns = map { my $n = $_; map { [ $_, $n ] } @sides } @workers;
	my (%ms, %processes);

	for my $turn (0 .. $opt{repeat})
	{
		for my $column (@columns)
		{
			my ($side, $n) = @$column;
			next if $side eq 'postgres' && $turn > 1;
			my ($ms, $processes) = timed($query, $side, $n);

			push @{ $ms{"$side $n"} }, $ms if $turn > 0;
			$processes{"$side $n"} = $processes;
		}
	}
	my @medians = map { median(@{ $ms{"@$_"} }) } @columns;
	my @cells = map { sprintf '%.0f%s', $medians[$_], $columns[$_][0] eq 'all' && $processes{"@{ $columns[$_] }"} == 1 ? ' (by one)' : '' } 0 .. $#columns;
	push @cells, map { sprintf '%.1f', $medians[$_] / $medians[-1] } 0 .. $#columns - 1;
	return join ' | ', @cells;
}

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort cores');
$admin->must("CREATE DATABASE $db");
my $done = eval {
	my %wanted = map { $_ => 1 } split /,/, $opt{queries} // join ',', map { $_->[0] } @queries;

	$conn = PgWire->connect(dbname => $db, name => 'gpusort cores');
	$conn->must('SET jit = off');
	$conn->must('SET ' . join ' = ', split /=/, $_, 2) for @{ $opt{set} };
	make_tables();
	my @heads = map { my $n = $_; map { @workers > 1 ? "$n workers" : $_ } @sides } @workers;
	my @all = (@heads, map { "times faster than $heads[$_]" } 0 .. $#heads - 1);
	print "| $opt{rows} rows, ms | ", join(' | ', @all), " |\n| --- |", ' ---: |' x @all, "\n";
	print "| `$_->[1]` | ", measure($_->[1]), " |\n" for grep { $wanted{ $_->[0] } } @queries;
	1;
};
my $error = $@;
$conn->close if $conn;
$admin->must("DROP DATABASE $db WITH (FORCE)");
die $error if !$done;
