#!/usr/bin/perl
# small.pl
#	Sorts and index builds of few rows: from how many on is gpusort faster?
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own.
# Each statement is executed in turn with gpusort off and on, forced, without workers, and the CPU time
# of the backend counts, in microseconds, medians: in a session that has done the same before, and
# as the first sort of a session that has planned and scanned, but not sorted anything.  Planning is
# in it.  Exit status 1: gpusort was slower for --from rows or more.
#
#	--rows A,B,...		(1000,2000,5000,10000,20000,100000)
#	--from N			(2000, the default of gpusort.min_rows)
#	--repeat N			(9)
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Median;
use PgWire;

my %opt = (rows => '1000,2000,5000,10000,20000,100000', from => 2000, repeat => 9);
GetOptions(\%opt, 'rows=s', 'from=i', 'repeat=i') or exit 2;
$| = 1;

my $db = "small_$$";
my ($conn, $pid, $slower) = (undef, 0, 0);

# Executions in a block, so that the clock's steps don't matter.
sub block_of { my ($rows) = @_; return $rows <= 5000 ? 40 : $rows <= 20000 ? 10 : 3; }

sub session
{
	$conn->close if $conn;
	$conn = PgWire->connect(dbname => $db, name => 'gpusort small');
	$conn->must("SET $_") for 'jit = off', 'max_parallel_workers_per_gather = 0', 'max_parallel_maintenance_workers = 0', 'gpusort.min_rows = 0';
	$pid = $conn->value('SELECT pg_backend_pid()');
}

sub side { my ($side) = @_; $conn->must("SET gpusort.enabled = $side"); $conn->must("SET gpusort.force = $side"); }

sub cpu
{
	open my $in, '<', "/proc/$pid/schedstat" or die "$!";
	return (split ' ', <$in>)[0] / 1e3;
}

sub sorted { my ($query) = @_; $conn->must("EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, COSTS OFF) $query"); }

# us of a query in a session that has executed it, and in one that has not.
sub warm_query
{
	my ($query, $rows) = @_;
	my $block = block_of($rows);

	sorted($query);
	my $before = cpu();
	sorted($query) for 1 .. $block;
	return (cpu() - $before) / $block;
}

sub first_query
{
	my ($query) = @_;

	$conn->must("EXPLAIN $query");
	$conn->must('SELECT count(k), count(c) FROM t');
	my $before = cpu();
	sorted($query);
	return cpu() - $before;
}

sub build
{
	my ($column) = @_;

	$conn->must('BEGIN');
	my $before = cpu();
	$conn->must("CREATE INDEX ON t ($column)");
	my $us = cpu() - $before;
	$conn->must('ROLLBACK');
	return $us;
}

# One line: what a function tells, both sides in turn.
sub compare
{
	my ($what, $rows, $fresh, $measure) = @_;
	my %us;

	for (1 .. $opt{repeat})
	{
		for my $side ('off', 'on')
		{
			session() if $fresh;
			side($side);
			push @{ $us{$side} }, $measure->();
		}
	}
	my ($off, $on) = map { median(@{ $us{$_} }) } 'off', 'on';
	printf "| %d | %s | %.0f | %.0f | %.1f |\n", $rows, $what, $off, $on, $off / $on;
	$slower++ if $rows >= $opt{from} && $off < 0.97 * $on;
}

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort small');
$admin->must("CREATE DATABASE $db");
print "| rows | statement | PostgreSQL, us | gpusort, us | times faster |\n| ---: | --- | ---: | ---: | ---: |\n";
my $done = eval {
	session();
	for my $rows (split /,/, $opt{rows})
	{
		$conn->must('DROP TABLE IF EXISTS t');
		$conn->must("CREATE UNLOGGED TABLE t AS SELECT hashint8extended(i, 0) AS k, i AS v, lpad(i::text, 16, 'x') AS p,
			md5(i::text) COLLATE \"C\" AS c FROM generate_series(1, $rows) i");
		$conn->must('VACUUM ANALYZE t');
		for my $query ('SELECT * FROM t ORDER BY k', 'SELECT k FROM t ORDER BY k', 'SELECT * FROM t ORDER BY c', 'SELECT * FROM t ORDER BY v, k')
		{
			compare("`$query`", $rows, 0, sub { warm_query($query, $rows) });
			compare('... first of a session', $rows, 1, sub { first_query($query) });
		}
		for my $column ('k', 'c') { compare("`CREATE INDEX` on `$column`", $rows, 0, sub { build($column) }); }
	}
	1;
};
my $error = $@;
$conn->close;
$admin->must("DROP DATABASE $db WITH (FORCE)");
die $error if !$done;
print "$slower slower from $opt{from} rows on\n";
exit($slower > 0);
