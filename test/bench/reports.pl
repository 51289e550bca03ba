#!/usr/bin/perl
# reports.pl
#	Reports as people write them, with gpusort off and on: is any of them slower?
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, with its settings, in a
# database of its own, or in --database, which is kept.  The tables are TPC-H's, made by tpchgen-cli
# (pip install tpchgen-cli); the queries are those of reports.sql.  Each is executed in turn with gpusort
# off and on, as EXPLAIN (ANALYZE, TIMING OFF), planning included; the results of both are compared by a
# digest of their rows, whatever their order.  Times are medians in ms; "times faster" is of the least
# ones; "CPU" is the same of the CPU time that the session and its workers take, if the server runs here
# and serves nobody else.  "Nodes" are gpusort's in the plan, or "=" if the plan is the same; below a query
# stands why a Sort, an Incremental Sort, or the sort inside an aggregate is left to PostgreSQL.  Another
# statement ("job") is executed as it is, and rolled back.  What looks slower is measured once more, as
# often.  What takes longer than --timeout, which some plans of PostgreSQL's do, is cancelled: "> 120000",
# and its result is not compared.  Exit status 1: something was slower than 0.97 with another plan than
# without gpusort, or gave another result.
#
#	--scale N			TPC-H's scale factor (1); 2 GB of disk each
#	--data DIR			its files as made by tpchgen-cli csv, instead of making them
#	--generator CMD		(tpchgen-cli)
#	--database NAME		make the tables there if there are none, and keep them
#	--queries A,B,...	regular expressions of names (all)
#	--week				an analyst's week instead: the forty statements of week.sql, not all of which are queries; needs
#						the package iso-codes
#	--visits N			rows of its largest table (3000000 x scale)
#	--random N			N random queries instead (RandomReports.pm), whose results are not compared, as rows that tie
#						may come in any order
#	--seed N			of those (1)
#	--repeat N			(3)
#	--patient N			no more than one repetition if one takes longer than so many seconds (20)
#	--timeout N			seconds until an execution is cancelled (120)
#	--plans				show both plans where they differ
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz", $FindBin::RealBin;
use Getopt::Long;
use JSON::PP;
use List::Util qw(min);
use Median;
use PgWire;
use Time::HiRes qw(time);
use RandomReports qw(random_queries);
use Tpch qw(make_tpch_tables read_reports);
use Week qw(make_week_tables);

my %opt = (scale => 1, data => undef, generator => 'tpchgen-cli', database => undef, queries => '', week => 0, visits => 0, random => 0, seed => 1, repeat => 3, patient => 20, timeout => 120, plans => 0, set => []);
GetOptions(\%opt, 'scale=f', 'data=s', 'generator=s', 'database=s', 'queries=s', 'week', 'visits=i', 'random=i', 'seed=i', 'repeat=i', 'patient=i', 'timeout=i', 'plans', 'set=s@') or exit 2;
$| = 1;

use constant LEAST_RATIO => 0.97;

# What the sides have taken in all, in ms.
my %sum = (off => 0, on => 0);

my $db = $opt{database} // "reports_$$";
my ($conn, $pid, $postmaster, $bad, $queries) = (undef, 0, 0, 0, 0);

# The fields of /proc/PID/stat from the parent's pid on; none if that is of no process here.
sub process
{
	open my $in, '<', "/proc/$_[0]/stat" or return ();
	return split ' ', readline($in) =~ s/.*\) \S //r;
}

sub parent { my @stat = process($_[0]); return $stat[0] // 0; }

# The CPU time of the session and of the server's processes that have ended, in clock ticks.
sub cpu_ticks
{
	my @session = process($pid);
	my @server = process($postmaster);

	return @session && @server ? $session[10] + $session[11] + $server[12] + $server[13] : 0;
}

sub open_database
{
	my $server = PgWire->connect(dbname => 'postgres', name => 'gpusort reports');
	my $there = defined $opt{database} && $server->value("SELECT count(*) FROM pg_database WHERE datname = '$db'");

	$server->must("CREATE DATABASE $db TEMPLATE template0 ENCODING 'UTF8'") if !$there;
	$server->close;
	$conn = PgWire->connect(dbname => $db, name => 'gpusort reports');
	$pid = $conn->value('SELECT pg_backend_pid()');
	$postmaster = parent($pid);
	if (!$conn->value("SELECT count(*) FROM pg_class WHERE relname = 'lineitem'"))
	{
		make_tpch_tables($conn, %opt);
		make_week_tables($conn, $opt{visits} || int(3e6 * $opt{scale})) if $opt{week};
		$conn->must('VACUUM ANALYZE');
	}
	$conn->must("SET $_->[0] = '$_->[1]'") for map { [split /=/, $_, 2] } @{ $opt{set} };
}

sub drop_database
{
	$conn->close;
	return if defined $opt{database};
	my $server = PgWire->connect(dbname => 'postgres', name => 'gpusort reports');
	$server->must("DROP DATABASE $db");
	$server->close;
}

sub is_wanted
{
	my ($name) = @_;
	return $opt{queries} eq '' || grep { $name =~ /^$_$/ } split /,/, $opt{queries};
}

sub use_gpusort { $conn->must("SET gpusort.enabled = $_[0]"); }

sub plan_text
{
	my ($node, $depth) = @_;
	my $name = $node->{'Custom Plan Provider'} // $node->{'Node Type'};

	$name .= ' ' . join ', ', @{ $node->{'Sort Key'} } if $node->{'Sort Key'};
	$name .= " on $node->{'Relation Name'}" if $node->{'Relation Name'};
	$name = "$node->{Strategy} $name" if $node->{Strategy};
	$name = "$node->{'Partial Mode'} $name" if ($node->{'Partial Mode'} // 'Simple') ne 'Simple';
	return '  ' x $depth . "$name\n" . join '', map { plan_text($_, $depth + 1) } @{ $node->{Plans} || [] };
}

# A statement's first value, or undef if it was cancelled for taking too long.
sub value_in_time
{
	my ($query) = @_;

	$conn->must("SET statement_timeout = '$opt{timeout}s'");
	my $result = $conn->query($query);
	$conn->must('SET statement_timeout = 0');
	return $result->{rows}[0][0] if !$result->{error};
	return undef if $result->{error}{C} eq '57014';
	die "$result->{error}{M}\n";
}

# Times of one execution: wall and CPU, in ms, and its plan, without an ANALYZE if it was cancelled.
sub execute
{
	my ($query, $mode) = @_;

	use_gpusort($mode);
	my $ticks = cpu_ticks();
	my $json = value_in_time("EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) $query");
	my $cpu = 10 * (cpu_ticks() - $ticks);
	my $late = !defined $json;
	my $result = decode_json($json // $conn->value("EXPLAIN (FORMAT JSON) $query"))->[0];
	return {
		ms => $late ? 1000 * $opt{timeout} : $result->{'Execution Time'} + $result->{'Planning Time'},
		cpu => $cpu, late => $late, plan => plan_text($result->{Plan}, 0)
	};
}

# A statement that is no query: what prepares it, itself, and the query that tells its result.
sub execute_job
{
	my ($job, $mode) = @_;
	my @statements = split /;\s*/, $job;
	my ($timed, $check) = splice @statements, -2;

	use_gpusort($mode);
	$conn->must('BEGIN');
	$conn->must($_) for @statements;
	my ($ticks, $begun) = (cpu_ticks(), time);
	$conn->must($timed);
	my $ms = 1000 * (time - $begun);
	my $cpu = 10 * (cpu_ticks() - $ticks);
	my $result = join ' ', map { $_ // '' } @{ $conn->must($check)->{rows}[0] };
	$conn->must('ROLLBACK');
	return { ms => $ms, cpu => $cpu, result => $result, plan => '' };
}

# Is it a query, or a job?
sub is_query { return $_[0] !~ /;/; }

# Of all rows, or undef if that takes too long.
sub digest
{
	my ($query, $mode) = @_;

	use_gpusort($mode);
	return value_in_time("SELECT format('%s %s', count(*), sum(hashtextextended(q::text, 0)::numeric)) FROM ($query) q");
}

# Why sorts are left to PostgreSQL, by the plan with gpusort.
sub reasons
{
	my ($query) = @_;
	my %seen;

	use_gpusort('on');
	$conn->must('SET client_min_messages = debug1');
	my $result = $conn->must("EXPLAIN $query");
	$conn->must('RESET client_min_messages');
	return grep { !$seen{$_}++ } map { $_->{M} =~ /^gpusort leaves (.*)/ ? $1 : () } @{ $result->{notices} };
}

sub least { my ($what, @runs) = @_; return min(map { $_->{$what} } @runs); }

# Executions in turn, added to those of both modes.
sub repeat
{
	my ($query, $runs) = @_;

	for my $round (1 .. $opt{repeat})
	{
		push @{ $runs->{$_} }, is_query($query) ? execute($query, $_) : execute_job($query, $_) for 'off', 'on';
		last if $runs->{off}[0]{ms} + $runs->{on}[0]{ms} > 2000 * $opt{patient};
	}
}

# How many times faster with gpusort.
sub ratio { my ($what, $runs) = @_; return least($what, @{ $runs->{off} }) / (least($what, @{ $runs->{on} }) || 1); }

sub time_text
{
	my ($runs) = @_;
	return ((grep { $_->{late} } @$runs) ? '> ' : '') . sprintf '%.0f', median(map { $_->{ms} } @$runs);
}

# Do both return the same rows?  Not if one returns none in time.
sub is_other_result
{
	my ($query, $runs) = @_;

	return 0 if $opt{random} || grep { $_->{late} } map { @$_ } values %$runs;
	return grep { $_->{result} ne $runs->{off}[0]{result} } map { @$_ } values %$runs if !is_query($query);
	my ($off, $on) = (digest($query, 'off'), digest($query, 'on'));
	return defined $off && defined $on && $off ne $on;
}

sub measure
{
	my ($name, $query) = @_;
	my %runs;

	repeat($query, \%runs);
	my %plan = map { $_ => $runs{$_}[0]{plan} } keys %runs;
	my $same = is_query($query) && $plan{on} eq $plan{off};
	repeat($query, \%runs) if !$same && ratio('ms', \%runs) < LEAST_RATIO;
	my $nodes = () = $plan{on} =~ /GpuSort/g;
	my $ratio = ratio('ms', \%runs);
	my $late = grep { $_->{late} } @{ $runs{off} };
	my $slower = !$same && ($ratio < LEAST_RATIO || grep { $_->{late} } @{ $runs{on} });
	my $wrong = is_other_result($query, \%runs);
	my $bold = $slower ? '**' : '';

	printf "| %s | %s | %s | %s%s%.2f%s | %.2f | %s |%s\n", $name, time_text($runs{off}), time_text($runs{on}), $bold, $late ? '> ' : '', $ratio, $bold,
		ratio('cpu', \%runs), $same ? '=' : is_query($query) ? $nodes : 'job', $wrong ? ' another result' : '';
	print "    $query\n" if $opt{random} && $slower;
	print "    left: $_\n" for is_query($query) ? reasons($query) : ();
	print "  PostgreSQL\n$plan{off}  gpusort\n$plan{on}" if $opt{plans} && !$same;
	$sum{$_} += median(map { $_->{ms} } @{ $runs{$_} }) for keys %sum;
	$queries++;
	$bad++ if $slower || $wrong;
}

open_database();
print "| query | PostgreSQL, ms | gpusort, ms | times faster | CPU | nodes |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
measure(@$_) for grep { is_wanted($_->[0]) } $opt{random} ? random_queries($opt{random}, $opt{seed}) : read_reports($opt{week} ? 'week.sql' : ());
drop_database();
printf "all: %.0f ms, %.0f ms, %.2f times faster\n", $sum{off}, $sum{on}, $sum{off} / ($sum{on} || 1);
printf "%d passed, %d failed\n", $queries - $bad, $bad;
exit($bad > 0);
