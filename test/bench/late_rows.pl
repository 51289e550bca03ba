#!/usr/bin/perl
# late_rows.pl
#	Rows stored in the sort or fetched by TID when they are returned: which is faster, and
#	does the planner know?
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database
# of its own.  For each width of rows, order in the table and limit, one query is executed in
# turn with PostgreSQL's sort, with gpusort storing rows, with gpusort fetching
# them, and as the planner has it (gpusort.late_rows = auto).  Times are the least CPU time, in
# ms, that the backend took for EXPLAIN (ANALYZE, TIMING OFF): on a busy machine it says more than
# the clock does, and tables are cached, so there is nothing to wait for.  (The clock's, if the
# server runs elsewhere.)  The planner's choice is good if it takes at
# most 10 % longer than the best of the three.  Exit status 1: one cell is not.
#
#	--rows N			(1000000)
#	--widths A,B,...	bytes of a row (8,64,250,500,1000)
#	--limits A,B,...	shares of the rows in per cent (100,10,1)
#	--orders A,B,...	random, sorted: the sort column is correlated with the table (random,sorted)
#	--work_mem M		(64MB)
#	--quota N			gpusort.pool_quota (75)
#	--repeat N			(5)
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use PgWire;

my %opt = (rows => 1_000_000, widths => '8,64,250,500,1000', limits => '100,10,1', orders => 'random,sorted', work_mem => '64MB', quota => 75, repeat => 5, set => []);
GetOptions(\%opt, 'rows=i', 'widths=s', 'limits=s', 'orders=s', 'work_mem=s', 'quota=i', 'repeat=i', 'set=s@') or exit 2;
$| = 1;

my @plans = (
	{ name => 'PostgreSQL', set => { 'gpusort.enabled' => 'off' } },
	{ name => 'stored', set => { 'gpusort.force' => 'on', 'gpusort.late_rows' => 'off' } },
	{ name => 'fetched', set => { 'gpusort.force' => 'on', 'gpusort.late_rows' => 'on' } },
	{ name => 'auto', set => {} });
my $db = "late_$$";
my ($conn, $pid, $bad, $cells) = (undef, 0, 0, 0);

sub least { return (sort { $a <=> $b } @_)[0]; }

# CPU time of the session's backend, in ms.
sub cpu_time
{
	open my $in, '<', "/proc/$pid/schedstat" or return undef;
	return (split ' ', <$in>)[0] / 1e6;
}

sub explain
{
	my ($plan, $query) = @_;
	$conn->must('BEGIN; ' . join '; ', map { "SET LOCAL $_ = $plan->{set}{$_}" } sort keys %{ $plan->{set} }) if %{ $plan->{set} };
	$conn->must('BEGIN') if !%{ $plan->{set} };
	my $before = cpu_time();
	my $result = decode_json($conn->value("EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) $query"))->[0];
	$result->{ms} = defined $before ? cpu_time() - $before : $result->{'Execution Time'};
	$conn->must('ROLLBACK');
	return $result;
}

# What the sort of a plan is.
sub sort_of
{
	my $node = shift;
	return $node->{'Handed Over'} ? 'handed over' : $node->{Rows} ? 'fetched' : 'stored' if ($node->{'Custom Plan Provider'} // '') eq 'GpuSort';
	return 'PostgreSQL' if $node->{'Node Type'} eq 'Sort';
	for (@{ $node->{Plans} || [] }) { my $found = sort_of($_); return $found if $found; }
	return undef;
}

sub session
{
	$conn->close if $conn;
	$conn = PgWire->connect(dbname => $db, name => 'gpusort late rows');
	$conn->must("SET work_mem = '$opt{work_mem}'; SET jit = off; SET max_parallel_workers_per_gather = 0; SET gpusort.pool_quota = $opt{quota}");
	$pid = $conn->value('SELECT pg_backend_pid()');
	for (@{ $opt{set} })
	{
		my ($name, $value) = split /=/, $_, 2;
		$conn->must("SET $name = '$value'");
	}
}

sub make_table
{
	my ($width, $order) = @_;
	my $pad = $width > 8 ? sprintf(", repeat('x', %d) AS pad", $width - 8) : '';
	my $key = $order eq 'sorted' ? 'i * 1000 + (hashint8(i) & 65535)' : 'hashint8extended(i, 0)';
	$conn->must('DROP TABLE IF EXISTS t');
	$conn->must("CREATE TABLE t AS SELECT $key AS k$pad FROM generate_series(1::int8, $opt{rows}) i");
	$conn->must('VACUUM (FREEZE, ANALYZE) t');
	$conn->must('CREATE EXTENSION IF NOT EXISTS pg_prewarm');
	$conn->must("SELECT pg_prewarm('t')");
}

sub cell
{
	my ($width, $order, $limit) = @_;
	my $query = 'SELECT * FROM t ORDER BY k' . ($limit < 100 ? ' LIMIT ' . int($opt{rows} * $limit / 100) : '');
	my (%times, $taken);
	for my $round (0 .. $opt{repeat})
	{
		for my $plan (@plans)
		{
			my $result = explain($plan, $query);
			push @{ $times{ $plan->{name} } }, $result->{ms} if $round;
			$taken = sort_of($result->{Plan}) if $plan->{name} eq 'auto';
		}
	}
	my %ms = map { $_ => least(@{ $times{$_} }) } keys %times;
	my ($best) = sort { $a <=> $b } @ms{qw(PostgreSQL stored fetched)};
	my $ratio = $ms{auto} / $best;
	$cells++;
	$bad++ if $ratio > 1.1;
	printf "| %d | %s | %s | %.0f | %.0f | %.0f | %.0f | %s | %.2f |\n", $width, $order, $limit < 100 ? int($opt{rows} * $limit / 100) : 'all',
	  @ms{qw(PostgreSQL stored fetched auto)}, $taken, $ratio;
}

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	print "| bytes | order | rows wanted | PostgreSQL | stored | fetched | auto | takes | of the best |\n| ---: | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |\n";
	for my $width (split /,/, $opt{widths})
	{
		for my $order (split /,/, $opt{orders})
		{
			session();
			make_table($width, $order);
			cell($width, $order, $_) for split /,/, $opt{limits};
		}
	}
	$conn->close;
};
if ($@) { print "FAILED: $@"; $bad++; }
$admin->query("DROP DATABASE $db WITH (FORCE)");
printf "%d of %d cells within 10 %% of the best\n", $cells - $bad, $cells;
exit($bad ? 1 : 0);
