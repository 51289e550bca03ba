#!/usr/bin/perl
# copy.pl [--rows N] [--runs N] [--workers N]
#		COPY TO with gpusort.enable_copy off and on, on a running server that preloads gpusort.
#
# For tables and queries, with and without an order, in each format, to /dev/null, so that nothing
# but the server is measured: medians of elapsed time and of the backend's CPU time, both sides in
# turn in fresh sessions, and whether the bytes are the same.  PGHOST, PGPORT and PGUSER, a superuser,
# say which server; it has to be on this machine.
use strict;
use warnings;

use Getopt::Long;

my ($rows, $runs, $workers) = (1_000_000, 5, 0);
GetOptions('rows=i' => \$rows, 'runs=i' => \$runs, 'workers=i' => \$workers) or die "see the head of $0\n";

my @cases = (
	[ 'sorted, text', '(SELECT k, v, s FROM copy_bench ORDER BY k)', '' ],
	[ 'sorted, csv', '(SELECT k, v, s FROM copy_bench ORDER BY k)', '(FORMAT csv)' ],
	[ 'sorted, binary', '(SELECT k, v, s FROM copy_bench ORDER BY k)', '(FORMAT binary)' ],
	[ 'query, text', '(SELECT k, v, s FROM copy_bench)', '' ],
	[ 'table, text', 'copy_bench (k, v, s)', '' ],
	[ 'table, csv', 'copy_bench (k, v, s)', '(FORMAT csv)' ],
	[ 'table, binary', 'copy_bench (k, v, s)', '(FORMAT binary)' ],
	[ 'all types, text', 'copy_bench', '' ]);

# Settings of one side, and what follows, in a fresh session; its output.
sub session
{
	my ($copy, @commands) = @_;
	my @options = map { ('-c', $_) } "SET gpusort.enable_copy = $copy", "SET max_parallel_workers_per_gather = $workers", @commands;

	open my $psql, '-|', 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', 'postgres', @options or die "psql: $!\n";
	my @lines = <$psql>;
	close $psql or die "psql failed\n";
	chomp @lines;
	return grep { $_ ne '' } @lines;
}

my $now = q(SELECT extract(epoch FROM clock_timestamp()) * 1000, pg_read_file('/proc/' || pg_backend_pid() || '/stat'));

# Milliseconds that have passed, and of CPU time.
sub measure
{
	my ($copy, $command) = @_;
	my @times;

	for (session($copy, $now, $command, $now))
	{
		my ($clock, @stat) = /^([\d.]+).*\) (.*)/ ? ($1, split ' ', $2) : die "no times: $_\n";

		push @times, [ $clock, 10 * ($stat[11] + $stat[12]) ];
	}
	return map { $times[1][$_] - $times[0][$_] } 0, 1;
}

sub median
{
	my @sorted = sort { $a <=> $b } @_;
	return $sorted[ @sorted / 2 ];
}

session('off', 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS copy_bench',
	"CREATE UNLOGGED TABLE copy_bench AS SELECT hashint8extended(i, 1) AS k, hashint4(i) AS v, substr(md5(i::text), 1, 16) AS s,
		date '2000-01-01' + i % 9000 AS d, timestamp '2000-01-01' + i * interval '1.5 s' AS ts, i / 7.0::float8 AS f, i % 2 = 0 AS b
		FROM generate_series(1, $rows) i", 'VACUUM ANALYZE copy_bench');
printf "%-16s %10s %10s %6s %10s %10s %6s\n", "$rows rows", 'off ms', 'on ms', 'x', 'CPU off', 'CPU on', 'x';
my $differ = 0;
for my $case (@cases)
{
	my ($name, $what, $options) = @$case;
	my (%elapsed, %cpu, %sum);

	for my $copy ('off', 'on')
	{
		my ($sum) = session($copy, "COPY $what TO PROGRAM 'md5sum >/tmp/copy_bench.sum' $options", "SELECT pg_read_file('/tmp/copy_bench.sum')");
		$sum{$copy} = $sum;
	}
	for my $run (1 .. $runs)
	{
		for my $copy ('off', 'on')
		{
			my ($elapsed, $cpu) = measure($copy, "COPY $what TO '/dev/null' $options");
			push @{ $elapsed{$copy} }, $elapsed;
			push @{ $cpu{$copy} }, $cpu;
		}
	}
	my ($e0, $e1, $c0, $c1) = map { median(@$_) } @elapsed{ 'off', 'on' }, @cpu{ 'off', 'on' };
	printf "%-16s %10.0f %10.0f %6.2f %10.0f %10.0f %6.2f%s\n", $name, $e0, $e1, $e0 / $e1, $c0, $c1, $c0 / ($c1 || 1),
		$sum{off} eq $sum{on} ? '' : '  DIFFERENT BYTES';
	$differ++ if $sum{off} ne $sum{on};
}
session('off', 'DROP TABLE copy_bench');
exit($differ ? 1 : 0);
