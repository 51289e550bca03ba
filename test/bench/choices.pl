#!/usr/bin/perl
# choices.pl
#	Queries for which the planner once took a sort that was slower than what it would take without gpusort.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own.
# Each query is planned and executed in turn with gpusort off and on, without workers, and the CPU time of the
# backend counts, medians.  Exit status 1: some query took 3 % longer with gpusort.
#
#	--sets A,B,...	names of %sets below (all)
#	--rows N		of the tables (300000)
#	--repeat N		(9)
#	--set NAME=VALUE	a setting for both sides; may be repeated
#	--collation NAME	of URLs (the database's)
#	--counts DIR	count instructions, which callgrind writes there, instead of time (choices_count.sh)
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Median;
use PgWire;

my %opt = (sets => 'expressions,columns,limits,urls', rows => 300000, repeat => 9, set => [], collation => 'default');
GetOptions(\%opt, 'sets=s', 'rows=i', 'repeat=i', 'set=s@', 'collation=s', 'counts=s') or exit 2;
$| = 1;

my $url = q{'/shop/' || (array['north', 'south', 'blue', 'acme', 'global', 'smart'])[1 + i % 6] || '-' ||
	(array['shoe', 'lamp', 'phone', 'table', 'chair'])[1 + i / 7 % 5] || '-' || i % 997 ||
	CASE WHEN i % 3 = 0 THEN '?ref=' || substr(md5(i::text), 1, 6) ELSE '' END};

# Columns of a table, and queries on it.
my @expressions = ('k % 16', 'left(t, 1)', "date_trunc('month', d)", 'CASE WHEN v < 500 THEN 1 ELSE 2 END', 'k / 3', 'lower(t)');
my $many = q{hashint8extended(i, 0) & 1073741823 AS k, md5(i::text) AS t, timestamp '2020-01-01' + i * interval '101 s' AS d, i::int8 * 7919 % 1000 AS v};
my %sets = (
	# of few values over columns of many; the last two have as many values as the planner takes them to have
	expressions => [ $many, (map { "SELECT $_, count(*) FROM t GROUP BY 1" } @expressions), (map { "SELECT DISTINCT $_ FROM t" } @expressions),
		'SELECT v, k % 4, sum(k) FROM t GROUP BY 1, 2' ],
	# of which statistics tell
	columns => [ $many, 'SELECT k, count(*) FROM t GROUP BY 1', 'SELECT t, count(*) FROM t GROUP BY 1', 'SELECT v, count(*) FROM t GROUP BY 1', 'SELECT DISTINCT t FROM t' ],
	limits => [ q{i AS id, md5(i::text) AS t, md5((-i)::text) AS u, (hashint8extended(i, 0) & 16777215)::numeric / 100 AS amount, repeat('x', 40) AS p},
		map { "SELECT * FROM t ORDER BY $_" } 'amount LIMIT 20', 'amount DESC LIMIT 20', 'amount LIMIT 1000', 'amount, id LIMIT 20', 't LIMIT 20' ],
	urls => [ "i AS id, ($url) COLLATE \"$opt{collation}\" AS url", 'SELECT DISTINCT url FROM t', 'SELECT url, count(*) FROM t GROUP BY url', 'SELECT count(DISTINCT url) FROM t' ]);

my $unit = $opt{counts} ? '10^6' : 'ms';
my ($conn, $pid, $slower) = (undef, 0, 0);

# Instructions of what was explained since the last time, in millions.
sub counted
{
	my $all = 0;

	for my $file (glob "$opt{counts}/$pid.*")
	{
		open my $in, '<', $file or die "cannot read $file: $!\n";
		my ($n) = map { /^(?:summary|totals): (\d+)/ ? $1 : () } <$in>;
		$all += ($n // 0) / 1e6;
		unlink $file;
	}
	return $all;
}

# ms of CPU time so far
sub cpu
{
	open my $in, '<', "/proc/$pid/schedstat" or die "$!";
	return (split ' ', <$in>)[0] / 1e6;
}

# What it has cost; and what stands in the plan
sub execute
{
	my ($query, $side) = @_;

	$conn->must("SET gpusort.enabled = $side");
	my $before = $opt{counts} ? counted() && 0 : cpu();
	my $plan = $conn->must("EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, COSTS OFF) $query")->{rows};
	my $cost = ($opt{counts} ? counted() : cpu()) - $before;
	my ($node) = map { $_->[0] =~ /(GpuSort[\w ]*|Sort|HashAggregate)/ ? $1 : () } @$plan;
	return ($cost, $node // 'another');
}

sub compare
{
	my ($query) = @_;
	my (%costs, %node);

	for my $i (0 .. $opt{repeat})
	{
		for my $side ('off', 'on')
		{
			(my $cost, $node{$side}) = execute($query, $side);
			push @{ $costs{$side} }, $cost if $i > 0;
		}
	}
	my ($off, $on) = map { median(@{ $costs{$_} }) } 'off', 'on';
	printf "| `%s` | %s | %s | %.1f | %.1f | %.2f |\n", $query, @node{qw(off on)}, $off, $on, $off / $on;
	$slower++ if $off < 0.97 * $on;
}

my $db = "choices_$$";
my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort choices');
$admin->must("CREATE DATABASE $db");
my $done = eval {
	$conn = PgWire->connect(dbname => $db, name => 'gpusort choices');
	$pid = $conn->value('SELECT pg_backend_pid()');
	$conn->must("SET $_") for 'jit = off', 'max_parallel_workers_per_gather = 0', @{ $opt{set} };
	print "| query | PostgreSQL | gpusort | PostgreSQL, $unit | gpusort, $unit | times faster |\n| --- | --- | --- | ---: | ---: | ---: |\n";
	for my $set (split /,/, $opt{sets})
	{
		my ($columns, @queries) = @{ $sets{$set} // die "there is no set $set\n" };
		$conn->must('DROP TABLE IF EXISTS t');
		$conn->must("CREATE UNLOGGED TABLE t AS SELECT $columns FROM generate_series(1, $opt{rows}) i");
		$conn->must('VACUUM ANALYZE t');
		compare($_) for @queries;
	}
	1;
};
my $error = $@;
$conn->close if $conn;
$admin->must("DROP DATABASE $db WITH (FORCE)");
die $error if !$done;
print "$slower slower\n";
exit($slower > 0);
