#!/usr/bin/perl
# percentiles.pl
#	Percentiles and modes: PostgreSQL's best plan and ours, in turn.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own.
# Times in ms, medians.  Exit status 1: ours was slower than PostgreSQL's by more than 3 %.
#
#	--rows N		(2000000)
#	--workers A,B	(0,2)
#	--repeat N		(3)
#	--work-mem M	(1GB)
#	--explain		show the plans
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Median;
use PgWire;
use Time::HiRes qw(time);

my %opt = (rows => 2_000_000, workers => '0,2', repeat => 3, 'work-mem' => '1GB');
GetOptions(\%opt, 'rows=i', 'workers=s', 'repeat=i', 'work-mem=s', 'explain') or exit 2;
$| = 1;

my $db = "percentiles_$$";
my $bad = 0;
my @queries = (
	median => 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM p',
	several => 'SELECT percentile_cont(ARRAY[0.25, 0.5, 0.75]) WITHIN GROUP (ORDER BY f), count(*), min(f), max(f) FROM p',
	int8 => 'SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY k) FROM p',
	text => 'SELECT percentile_disc(0.9) WITHIN GROUP (ORDER BY t) FROM p',
	mode => 'SELECT mode() WITHIN GROUP (ORDER BY v) FROM p',
	groups => 'SELECT v, percentile_cont(0.5) WITHIN GROUP (ORDER BY f) FROM p GROUP BY v',
	many => 'SELECT g, percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM p GROUP BY g',
	mode_groups => 'SELECT v, mode() WITHIN GROUP (ORDER BY g) FROM p GROUP BY v',
	beside => 'SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY f), avg(k) FROM p');

my $conn = PgWire->connect(dbname => 'postgres', name => 'gpusort percentiles');
$conn->must("CREATE DATABASE $db");
$conn->close;
$conn = PgWire->connect(dbname => $db, name => 'gpusort percentiles');
$conn->must("SET $_") for 'jit = off', "work_mem = '$opt{'work-mem'}'";
$conn->must("CREATE UNLOGGED TABLE p AS SELECT hashint8extended(i, 1) AS k, (hashint8extended(i, 2) & 4095)::int4 AS v, (hashint8extended(i, 3) & 262143)::int4 AS g,
	(hashint8extended(i, 4) & 16777215) / 7.0::float8 AS f, md5(i::text) COLLATE \"C\" AS t FROM generate_series(1, $opt{rows}::int8) i");
$conn->must('VACUUM ANALYZE p');
printf "%-12s %7s %10s %10s %6s  %s\n", qw(query workers postgres gpusort times plan);
for my $workers (split /,/, $opt{workers})
{
	my @left = @queries;

	$conn->must("SET max_parallel_workers_per_gather = $workers");
	while (my ($name, $query) = splice @left, 0, 2)
	{
		my (%ms, %plan);

		for my $turn (0 .. $opt{repeat})
		{
			for my $side (qw(off on))
			{
				$conn->must("SET gpusort.enabled = $side");
				$plan{$side} = join "\n", map { $_->[0] } @{ $conn->must("EXPLAIN (COSTS OFF) $query")->{rows} };
				my $before = time;
				$conn->must("EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF) $query");
				# the first turn warms up
				push @{ $ms{$side} }, 1000 * (time - $before) if $turn > 0;
			}
		}
		my ($core, $ours) = map { median(@{ $ms{$_} }) } qw(off on);
		my ($node) = $plan{on} =~ /(GpuSort Ordered Set|\w*Aggregate)/;
		printf "%-12s %7d %10.0f %10.0f %6.2f  %s\n", $name, $workers, $core, $ours, $core / $ours, $node;
		print "$plan{off}\n$plan{on}\n" if $opt{explain};
		$bad = 1 if $ours > $core * 1.03;
	}
}
$conn->close;
$conn = PgWire->connect(dbname => 'postgres', name => 'gpusort percentiles');
$conn->must("DROP DATABASE $db");
exit $bad;
