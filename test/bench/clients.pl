#!/usr/bin/perl
# clients.pl [--rows N] [--runs N] [--workers N]
#		Whose time it is when sorted rows are sent to a client, on a running server that preloads gpusort.
#
# The same query to clients that do more and more with its rows: read the bytes (raw), make results of single rows, or
# one of all (libpq; select_client.c, which is built first, with libpq's headers), write them nowhere in psql's aligned and unaligned formats, and with FETCH_COUNT.
# With gpusort.enabled off and on, in turn; medians of elapsed time and of the CPU time of the client, in ms.
# What the server takes is the raw client's elapsed time.  PGHOST, PGPORT and PGUSER say which server.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Getopt::Long;
use Median;
use Time::HiRes qw(time);

my ($rows, $runs, $workers) = (1_000_000, 3, 1);
GetOptions('rows=i' => \$rows, 'runs=i' => \$runs, 'workers=i' => \$workers) or die "see the head of $0\n";

my $program = "/tmp/select_client.$$";
my $include = `pg_config --includedir`;
my $query = 'SELECT k, v, s FROM clients_bench ORDER BY k';

chomp $include;
system('cc', '-O2', '-std=gnu11', "-I$include", '-o', $program, "$FindBin::RealBin/select_client.c", '-lpq') == 0 or die "cannot build select_client.c\n";
END { unlink $program if $program }

sub settings
{
	my ($enabled) = @_;
	return ("SET gpusort.enabled = $enabled", "SET max_parallel_workers_per_gather = $workers", "SET work_mem = '1GB'");
}

sub psql
{
	my ($options, @commands) = @_;
	system('psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', 'postgres', @$options, map { ('-c', $_) } @commands) == 0 or die "psql failed\n";
}

# Milliseconds: elapsed, and the client's CPU time.
sub receive
{
	my ($mode, $enabled) = @_;

	open my $client, '-|', $program, $mode, 'dbname=postgres sslmode=disable gssencmode=disable', $query, settings($enabled) or die "$program: $!\n";
	my $line = <$client>;
	close $client or die "$program failed\n";
	return split ' ', $line;
}

# What begins and ends psql is taken off.
sub print_nowhere
{
	my ($options, $enabled) = @_;
	my @times;

	for my $statement ('SELECT 1', $query)
	{
		my $begin = time;
		my @cpu = times;
		psql([ @$options, '-o', '/dev/null' ], settings($enabled), $statement);
		my @end = times;
		push @times, [ 1000 * (time - $begin), 1000 * ($end[2] + $end[3] - $cpu[2] - $cpu[3]) ];
	}
	return map { $times[1][$_] - $times[0][$_] } 0, 1;
}

my @clients = ([ 'bytes', sub { receive('raw', @_) } ], [ 'libpq, single rows', sub { receive('single', @_) } ], [ 'libpq, one result', sub { receive('whole', @_) } ],
	[ 'psql', sub { print_nowhere([], @_) } ], [ 'psql -At', sub { print_nowhere(['-At'], @_) } ], [ 'psql -At, FETCH_COUNT 10000', sub { print_nowhere([ '-At', '-v', 'FETCH_COUNT=10000' ], @_) } ]);

psql([], 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS clients_bench',
	"CREATE UNLOGGED TABLE clients_bench AS SELECT hashint8extended(i, 1) AS k, hashint4(i) AS v, substr(md5(i::text), 1, 16) AS s FROM generate_series(1, $rows) i", 'VACUUM ANALYZE clients_bench');
printf "%-28s %10s %10s %6s %12s %12s\n", "$rows rows", 'PostgreSQL', 'gpusort', 'x', "client's CPU", '... gpusort';
for my $client (@clients)
{
	my ($name, $measure) = @$client;
	my (%elapsed, %cpu);

	for (1 .. $runs)
	{
		for my $enabled ('off', 'on')
		{
			my ($elapsed, $cpu) = $measure->($enabled);
			push @{ $elapsed{$enabled} }, $elapsed;
			push @{ $cpu{$enabled} }, $cpu;
		}
	}
	my ($e0, $e1, $c0, $c1) = map { median(@$_) } @elapsed{ 'off', 'on' }, @cpu{ 'off', 'on' };
	printf "%-28s %10.0f %10.0f %6.2f %12.0f %12.0f\n", $name, $e0, $e1, $e0 / $e1, $c0, $c1;
}
psql([], 'DROP TABLE clients_bench');
