#!/usr/bin/perl
# real_text.pl
#	Sort Debian's package index by every column in several collations, with gpusort
#	and without, and compare the results position by position.
#
# Runs against the server given by PGHOST, PGPORT and PGUSER, in a database of its
# own.  Skipped, with a message, where apt-cache has nothing.
#
#	--rows N	take about so many packages instead of all (60,000)
#	--keep		keep the database (packages), and print its name
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Getopt::Long;
use Time::HiRes qw(time);
use PgWire;
use DebianPackages;

my %opt = (rows => 0);
GetOptions(\%opt, 'rows=i', 'keep') or exit 2;
$| = 1;
if (my $why = DebianPackages::missing())
{
	print "real text: skipped: $why\n";
	exit 0;
}

my $db = "real_text_$$";
my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
my ($passed, $failed, $used) = (0, 0, 0);

sub fail { print 'FAILED: ', @_, "\n"; $failed++; }

# Both sides' keys in order, as one digest each; the rows only if they differ.
sub compare
{
	my ($conn, $label, $key, $order) = @_;
	my $sql = "SELECT $key AS k FROM packages ORDER BY $order";
	my $digest = "SELECT count(*), md5(string_agg(coalesce(k::text, '<null>'), E'\\n')) FROM (SELECT $key AS k FROM packages ORDER BY $order OFFSET 0) s";
	my %result;
	for my $side ('off', 'on')
	{
		$conn->must("SET gpusort.enabled = $side; SET gpusort.force = $side");
		if ($side eq 'on')
		{
			my $plan = join "\n", map { $_->[0] } @{ $conn->must("EXPLAIN (COSTS OFF) $digest")->{rows} };
			return fail("$label: no GpuSort in\n$plan") if $plan !~ /GpuSort/;
		}
		my $r = $conn->must($digest);
		fail("$label: $_->{S}: $_->{M}") for grep { $_->{S} eq 'WARNING' } @{ $r->{notices} };
		$result{$side} = join ' ', @{ $r->{rows}[0] };
	}
	if ($result{on} eq $result{off}) { $passed++; return; }
	$conn->must('SET gpusort.enabled = off');
	my $off = $conn->must($sql)->{rows};
	$conn->must('SET gpusort.enabled = on');
	my $on = $conn->must($sql)->{rows};
	for my $i (0 .. $#$off)
	{
		my ($a, $b) = map { $_->[$i][0] // 'NULL' } $off, $on;
		return fail("$label, row $i: $b; PostgreSQL: $a\n  $sql") if $a ne $b;
	}
	fail("$label: digests differ, results do not\n  $sql");
}

eval {
	my $conn = PgWire->connect(dbname => $db, name => 'gpusort real text');
	$conn->must("SET client_min_messages = warning; SET work_mem = '256MB'; SET max_parallel_workers_per_gather = 0; SET jit = off");
	my $start = time;
	my $n = DebianPackages::load($conn, $opt{rows});
	my @collations = ('C');
	for my $name ('en_US.UTF-8', 'en_US.utf8', 'de_DE.UTF-8', 'de_DE.utf8', 'en-x-icu', 'sv-x-icu')
	{
		next if grep { lc($_) =~ s/-//gr eq lc($name) =~ s/-//gr } @collations;
		push @collations, $name if !$conn->query("SELECT 'a' < 'b' COLLATE \"$name\"")->{error};
	}
	print "real text: $n packages, collations: ", join(', ', @collations), "\n";
	for my $column (@DebianPackages::columns)
	{
		my ($name, $type) = @$column;
		if ($type ne 'text')
		{
			compare($conn, "$name$_", $name, "$name$_") for '', ' DESC';
			next;
		}
		for my $i (0 .. $#collations)
		{
			# one direction each, in turn
			my $direction = $i % 2 ? ' DESC NULLS LAST' : '';
			compare($conn, "$name, $collations[$i]$direction", $name, "$name COLLATE \"$collations[$i]\"$direction");
		}
	}
	for my $collation (@collations)
	{
		compare($conn, "several keys, $collation", "section || '|' || maintainer || '|' || package || '|' || version",
			join ', ', map { "$_->[0] COLLATE \"$collation\" $_->[1]" } [ section => '' ], [ maintainer => 'DESC' ], [ package => '' ], [ version => '' ]);
	}
	printf "real text: %.1f s\n", time - $start;
	$conn->close;
};
fail($@) if $@;
if ($opt{keep}) { print "database $db\n"; }
else { $admin->query("DROP DATABASE $db WITH (FORCE)"); }
print "$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
