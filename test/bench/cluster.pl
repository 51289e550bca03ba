#!/usr/bin/perl
# cluster.pl
#	CLUSTER: PostgreSQL's and ours.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its
# own.  A table of (int8, int4, text of 16 bytes) with an index on each of the first two columns,
# neither of which has anything to do with the order of the rows, is clustered by one and the other in turn, by
# PostgreSQL and by gpusort, which also builds the indexes unless --core-indexes is given.  Prints
# medians in ms, and what gpusort tells of its phases.
#
#	--rows N			(5000000)
#	--repeat N			(3)
#	--memory M			maintenance_work_mem (1GB)
#	--core-indexes		indexes are built by PostgreSQL on both sides
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Median;
use PgWire;
use Time::HiRes qw(time);

my %opt = (rows => 5_000_000, repeat => 3, memory => '1GB', 'core-indexes' => 0, set => []);
GetOptions(\%opt, 'rows=i', 'repeat=i', 'memory=s', 'core-indexes', 'set=s@') or exit 2;
$| = 1;

my $db = "cluster_$$";
my $maintenance = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$maintenance->must("CREATE DATABASE $db");
my $conn = PgWire->connect(dbname => $db, name => 'gpusort cluster');
END { undef $conn; $maintenance->must("DROP DATABASE IF EXISTS $db WITH (FORCE)") if $maintenance; }

$conn->must($_) for "LOAD 'gpusort'", "SET maintenance_work_mem = '$opt{memory}'", map { my ($n, $v) = split /=/, $_, 2; "SET $n = '$v'" } @{ $opt{set} };
$conn->must("CREATE TABLE t AS SELECT hashint8extended(i, 0) AS k, hashint4(i) AS v, substr(md5(i::text), 1, 16) AS s FROM generate_series(1, $opt{rows}) i");
$conn->must('CREATE INDEX t_k ON t (k)');
$conn->must('CREATE INDEX t_v ON t (v)');
$conn->must('VACUUM ANALYZE t');
$conn->must('SET gpusort.enable_index_build = off') if $opt{'core-indexes'};

my (%times, $turn);
for (1 .. $opt{repeat})
{
	# so that each side has each index, and never the one whose order the rows already have
	for my $side ($_ % 2 ? qw(off on) : qw(on off))
	{
		my $index = $turn++ % 2 ? 't_v' : 't_k';

		$conn->must("SET gpusort.enabled = $side");
		$conn->must('CHECKPOINT');
		my $begin = time;
		$conn->must("CLUSTER t USING $index");
		push @{ $times{$side} }, 1000 * (time - $begin);
		printf "%s by %s: %.0f ms\n", $side eq 'on' ? 'gpusort' : 'PostgreSQL', $index, $times{$side}[-1];
	}
}
my ($theirs, $ours) = map { median(@{ $times{$_} }) } qw(off on);
printf "%d rows: PostgreSQL %.0f ms, gpusort %.0f ms, %.1f times faster\n", $opt{rows}, $theirs, $ours, $theirs / $ours;
