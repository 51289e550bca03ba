#!/usr/bin/perl
# planning.pl
#	What gpusort costs queries that it has nothing to do with: pgbench's -S statement,
#	single-row selects by primary key, planned anew every time.
#
# Three sessions in turn, in short blocks: without the library, with it disabled,
# and with it.  The library comes by session_preload_libraries; on a server that
# preloads it there is no session without, and disabled is the reference.
#
# Compared is the CPU time of the backends (/proc/PID/schedstat; only if the server
# runs here), which depends on neighbours and on the client far less than the
# transactions a second do.  Exit status 1: more than 1 % slower.
#
#	--rounds N		blocks of each session (200)
#	--block N		statements in a block (500)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Time::HiRes qw(time);
use PgWire;

my %opt = (rounds => 200, block => 500);
GetOptions(\%opt, 'rounds=i', 'block=i') or exit 2;
my $db = "bench_planning_$$";
my $rows = 100_000;
my $failed = 0;

# Time on the CPU, in ns.
sub cpu_time
{
	my $pid = shift;
	open my $in, '<', "/proc/$pid/schedstat" or return undef;
	return (split ' ', <$in>)[0];
}

# value at a share of the sorted list
sub quantile { my ($share, @s) = @_; @s = sort { $a <=> $b } @s; return $s[ int($share * $#s + 0.5) ]; }

sub block
{
	my ($session, $ids) = @_;
	my ($cpu, $wall) = (cpu_time($session->{pid}), time);
	$session->{conn}->query("SELECT abalance FROM pgbench_accounts WHERE aid = $_") for @$ids;
	my $end = cpu_time($session->{pid});
	push @{ $session->{wall} }, (time - $wall) * 1e9 / @$ids;
	push @{ $session->{cpu} }, defined $end ? ($end - $cpu) / @$ids : $session->{wall}[-1];
}

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	my $c = PgWire->connect(dbname => $db);
	$c->must("CREATE TABLE pgbench_accounts (aid int PRIMARY KEY, bid int, abalance int, filler char(84))");
	$c->must("INSERT INTO pgbench_accounts SELECT i, 1, 0, '' FROM generate_series(1, $rows) i");
	$c->must('VACUUM (FREEZE, ANALYZE) pgbench_accounts');
	my $preloaded = $c->value("SELECT current_setting('shared_preload_libraries') LIKE '%gpusort%'") eq 't';
	$c->close;

	my @modes = ([ 'not loaded', '' ], [ 'loaded, disabled', '-c session_preload_libraries=gpusort -c gpusort.enabled=off' ],
		[ 'loaded', '-c session_preload_libraries=gpusort -c gpusort.enabled=on' ]);
	shift @modes if $preloaded;
	my @sessions;
	for (@modes)
	{
		my $conn = PgWire->connect(dbname => $db, options => $_->[1]);
		push @sessions, { name => $_->[0], conn => $conn, pid => $conn->value('SELECT pg_backend_pid()'), wall => [], cpu => [] };
	}
	my @ids = map { 1 + int rand $rows } 1 .. $opt{block};
	for my $session (@sessions)
	{
		# warms caches, and does not count
		block($session, \@ids) for 1 .. 3;
		@$session{qw(wall cpu)} = ([], []);
	}
	for my $round (0 .. $opt{rounds} - 1)
	{
		# another session begins in every round
		block($sessions[ ($round + $_) % @sessions ], \@ids) for 0 .. $#sessions;
	}

	print "SELECT abalance FROM pgbench_accounts WHERE aid = ..., simple protocol, medians of $opt{rounds} blocks of $opt{block}\n\n";
	print "| gpusort | a second | CPU, µs | ratio | quartiles |\n| --- | ---: | ---: | ---: | ---: |\n";
	for my $session (@sessions)
	{
		my @ratio = map { $sessions[0]{cpu}[$_] / $session->{cpu}[$_] } 0 .. $opt{rounds} - 1;
		my ($low, $middle, $high) = map { quantile($_, @ratio) } 0.25, 0.5, 0.75;
		printf "| %s | %.0f | %.2f | %.3f | %.3f to %.3f |\n", $session->{name}, 1e9 / quantile(0.5, @{ $session->{wall} }),
		  quantile(0.5, @{ $session->{cpu} }) / 1000, $middle, $low, $high;
		$failed++ if $middle < 0.99;
		$session->{conn}->close;
	}
};
if ($@) { print "FAILED: $@"; $failed++; }
$admin->query("DROP DATABASE $db WITH (FORCE)");
printf "%d passed, %d failed\n", !$failed, $failed;
exit($failed ? 1 : 0);
