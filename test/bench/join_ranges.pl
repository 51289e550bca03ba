#!/usr/bin/perl
# join_ranges.pl
#	Joins of two indexes whose keys lie in different places, below LIMIT and EXISTS: PostgreSQL's plan and ours, in turn.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own.  A has keys from 1 to
# --rows, B a tenth as many, by shape: of the same numbers and a tenth behind them (end), behind all but a twentieth of A's
# (begin, the other way round: behind), in blocks of --block keys with gaps of the ninefold between them (gaps), a tenth of
# each (equal: all of A's), the first and the last ones only (ends), and none of A's (apart).  Times are CPU time of the
# backend, planning included, in ms, medians: PostgreSQL's plan with gpusort off, what the planner chooses with it, and an
# index join whatever it costs.  Exit status 1: the planner chose the latter, and it took longer than PostgreSQL's by more
# than 3 % and 10 microseconds.
#
#	--rows N			of A (1500000)
#	--shapes A,B,...	(begin,behind,end,gaps,equal,ends,apart)
#	--block N			(2000)
#	--what A,B,...		exists, first, ten, thousand, count, sum: EXISTS, LIMIT 1, 10, 1000, a count, sums of both sides' columns
#	--repeat N			(7)
#	--explain			show the plans
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Median;
use PgWire;

my %opt = (rows => 1_500_000, shapes => 'begin,behind,end,gaps,equal,ends,apart', block => 2000, what => 'exists,first,ten,thousand,count,sum', repeat => 7, set => []);
GetOptions(\%opt, 'rows=i', 'shapes=s', 'block=i', 'what=s', 'repeat=i', 'explain', 'set=s@') or exit 2;
$| = 1;

my $db = "join_ranges_$$";
my $tenth = int($opt{rows} / 10);
my %shapes = (
	begin => "SELECT g + $opt{rows} - int4($tenth / 2) AS k FROM generate_series(1, $tenth) g",
	behind => "SELECT g + $opt{rows} - int4($tenth / 2) AS k FROM generate_series(1, $tenth) g",
	end => "SELECT g - int4($tenth / 2) AS k FROM generate_series(1, $tenth) g",
	gaps => "SELECT g / $opt{block} * $opt{block} * 10 + g % $opt{block} AS k FROM generate_series(1, $tenth) g",
	equal => "SELECT g AS k FROM generate_series(1, $opt{rows}) g",
	ends => "SELECT g AS k FROM generate_series(1, $opt{rows}) g WHERE g < $tenth / 2 OR g > $opt{rows} - $tenth / 2",
	apart => "SELECT g + $opt{rows} AS k FROM generate_series(1, $tenth) g");
my %queries = (
	exists => 'SELECT EXISTS (SELECT FROM a JOIN b USING (k))',
	first => 'SELECT v, w FROM a JOIN b USING (k) LIMIT 1',
	ten => 'SELECT v, w FROM a JOIN b USING (k) LIMIT 10',
	thousand => 'SELECT v, w FROM a JOIN b USING (k) LIMIT 1000',
	count => 'SELECT count(*) FROM a JOIN b USING (k)',
	sum => 'SELECT sum(v), sum(w) FROM a JOIN b USING (k)');
my %sides = (
	postgres => { 'gpusort.enabled' => 'off' },
	chosen => {},
	forced => { enable_hashjoin => 'off', enable_mergejoin => 'off', enable_nestloop => 'off' });
my ($conn, $pid, $bad);

# CPU time of the session's backend, in ms.
sub cpu_time
{
	open my $in, '<', "/proc/$pid/schedstat" or die "no CPU time of the backend: $!\n";
	return (split ' ', <$in>)[0] / 1e6;
}

sub make_tables
{
	my ($shape) = @_;
	my ($first, $second) = ("SELECT g AS k FROM generate_series(1, $opt{rows}) g", $shapes{$shape} // die "no shape $shape\n");

	($first, $second) = ($second, $first) if $shape eq 'behind';
	$conn->must('DROP TABLE IF EXISTS a, b');
	$conn->must("CREATE UNLOGGED TABLE a AS SELECT k, k % 10 AS v FROM ($first) q");
	$conn->must("CREATE UNLOGGED TABLE b AS SELECT k, k % 7 AS w FROM ($second) q");
	$conn->must('CREATE INDEX ON a (k) INCLUDE (v)');
	$conn->must('CREATE INDEX ON b (k) INCLUDE (w)');
	$conn->must("VACUUM (FREEZE, ANALYZE) $_") for qw(a b);
}

sub plan_of
{
	my ($query) = @_;
	my $plan = join "\n", map { $_->[0] } @{ $conn->must("EXPLAIN $query")->{rows} };

	print "$plan\n" if $opt{explain};
	return $plan =~ /(GpuSort (?:Index )?Join)/ ? $1 : $plan =~ /(Hash|Merge|Nested)\b(?: \w+)* (Join|Loop)/ ? "$1 $2" : 'other';
}

# ms of one of so many executions.
sub timed
{
	my ($query, $times) = @_;
	my $before = cpu_time();

	$conn->must($query) for 1 .. $times;
	return (cpu_time() - $before) / $times;
}

sub measure
{
	my ($query) = @_;
	my (%ms, %plan, %answer);

	for my $turn (0 .. $opt{repeat})
	{
		for my $side (sort keys %sides)
		{
			$conn->must("SET $_ = $sides{$side}{$_}") for keys %{ $sides{$side} };
			$plan{$side} //= plan_of($query);
			$answer{$side} //= $conn->value("SELECT count(*) FROM ($query) q") . ($query =~ /LIMIT/ ? '' : ' ' . $conn->value("SELECT q::text FROM ($query) q"));
			# the first one brings tables into reach, and tells how often the others run
			my $times = $turn == 0 ? 1 : 1 + int(30 / ($ms{$side}[0] + 0.1));
			push @{ $ms{$side} }, timed($query, $times);
			$conn->must("RESET $_") for keys %{ $sides{$side} };
		}
	}
	die "other rows: $query\n" if $answer{chosen} ne $answer{postgres} || $answer{forced} ne $answer{postgres};
	my %median = map { my $side = $_; $side => median(@{ $ms{$side} }[ 1 .. $opt{repeat} ]) } keys %ms;
	my $slower = $plan{chosen} =~ /Index/ && $median{chosen} > 1.03 * $median{postgres} + 0.01;

	$bad ||= $slower;
	return sprintf '%s | %.3f | %s | %.3f | %.3f | %.2f%s', $plan{postgres}, $median{postgres}, $plan{chosen}, @median{qw(chosen forced)},
		$median{postgres} / $median{chosen}, $slower ? ' slower' : '';
}

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort join');
$admin->must("CREATE DATABASE $db");
eval {
	$conn = PgWire->connect(dbname => $db, name => 'gpusort join');
	$pid = $conn->value('SELECT pg_backend_pid()');
	$conn->must('SET jit = off');
	$conn->must('SET max_parallel_workers_per_gather = 0');
	$conn->must('SET ' . join ' = ', split /=/, $_, 2) for @{ $opt{set} };
	print "| keys | what | PostgreSQL | ms | chosen | ms | index join, ms | times |\n", '| ', join(' | ', ('---') x 8), " |\n";
	for my $shape (split /,/, $opt{shapes})
	{
		make_tables($shape);
		printf "| %s | %s | %s |\n", $shape, $_, measure($queries{$_} // die "no query $_\n") for split /,/, $opt{what};
	}
	1;
} or print "# $@";
$conn->close if $conn;
$admin->must("DROP DATABASE $db WITH (FORCE)");
exit($bad ? 1 : 0);
