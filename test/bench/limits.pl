#!/usr/bin/perl
# limits.pl
#	Sorts below a LIMIT: PostgreSQL's bounded sort or ours, and does the planner know?
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its
# own.  For each key and limit, one query is executed in turn with PostgreSQL's sort, with
# gpusort, and as the planner has it.  Times are the least CPU time, in ms, that the backend took
# for EXPLAIN (ANALYZE, TIMING OFF), tables being cached; with workers the clock's.  The planner's
# choice is good if it takes at most 10 % longer than the better one.  Exit status 1: one cell
# is not.
#
#	--rows N			(5000000)
#	--keys A,B,...		names of %keys below (int8,text_c)
#	--orders A,B,...	random, sorted, reversed (random)
#	--limits A,B,...	rows wanted (10,1000,10000,100000,300000,1000000)
#	--from FROM			what stands behind FROM, if not the table t: (SELECT * FROM t OFFSET 0) s
#						has rows come one by one
#	--workers N			max_parallel_workers_per_gather (0)
#	--work_mem M		(256MB)
#	--repeat N			(4)
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use PgWire;

my %opt = (rows => 5_000_000, keys => 'int8,text_c', orders => 'random', limits => '10,1000,10000,100000,300000,1000000', from => 't', workers => 0,
	work_mem => '256MB', repeat => 4, set => []);
GetOptions(\%opt, 'rows=i', 'keys=s', 'orders=s', 'limits=s', 'from=s', 'workers=i', 'work_mem=s', 'repeat=i', 'set=s@') or exit 2;
$| = 1;

# By x, a bigint, in whose order the keys are.
my %keys = (
	int8 => 'x',
	numeric => 'x::numeric / 1000',
	text_c => "(lpad(to_hex(x), 16, '0') || md5(i::text)) COLLATE \"C\"",
	text_icu => "(lpad(to_hex(x), 16, '0') || md5(i::text)) COLLATE \"en-x-icu\"",
	text_libc => "(lpad(to_hex(x), 16, '0') || md5(i::text)) COLLATE \"en_US.utf8\"");
my %orders = (random => 'hashint8extended(i, 0) & 9223372036854775807', sorted => 'i * 1000', reversed => '9000000000000000000 - i * 1000');
my @plans = (
	{ name => 'PostgreSQL', set => { 'gpusort.enabled' => 'off' } },
	{ name => 'gpusort', set => { 'gpusort.force' => 'on', 'gpusort.late_rows' => 'off' } },
	{ name => 'auto', set => {} });
my $db = "limits_$$";
my ($conn, $pid, $bad, $cells) = (undef, 0, 0, 0);

# CPU time of the session's backend, in ms.
sub cpu_time
{
	open my $in, '<', "/proc/$pid/schedstat" or return undef;
	return (split ' ', <$in>)[0] / 1e6;
}

sub explain
{
	my ($plan, $query) = @_;
	$conn->must(join '; ', 'BEGIN', map { "SET LOCAL $_ = $plan->{set}{$_}" } sort keys %{ $plan->{set} });
	my $before = $opt{workers} ? undef : cpu_time();
	my $result = decode_json($conn->value("EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) $query"))->[0];
	$result->{ms} = defined $before ? cpu_time() - $before : $result->{'Execution Time'};
	$conn->must('ROLLBACK');
	return $result;
}

# What the sort of a plan is.
sub sort_of
{
	my $node = shift;
	return $node->{'Handed Over'} ? 'handed over' : $node->{Rows} ? 'fetched' : $node->{'Sort Method'} if ($node->{'Custom Plan Provider'} // '') eq 'GpuSort';
	return 'PostgreSQL' if $node->{'Node Type'} eq 'Sort';
	for (@{ $node->{Plans} || [] }) { my $found = sort_of($_); return $found if $found; }
	return undef;
}

sub session
{
	$conn->close if $conn;
	$conn = PgWire->connect(dbname => $db, name => 'gpusort limits');
	$conn->must("SET work_mem = '$opt{work_mem}'; SET jit = off; SET max_parallel_workers_per_gather = $opt{workers}");
	$pid = $conn->value('SELECT pg_backend_pid()');
	for (@{ $opt{set} })
	{
		my ($name, $value) = split /=/, $_, 2;
		$conn->must("SET $name = '$value'");
	}
}

sub make_table
{
	my ($key, $order) = @_;
	$conn->must('DROP TABLE IF EXISTS t');
	$conn->must("CREATE TABLE t AS SELECT $keys{$key} AS k, i FROM (SELECT i, $orders{$order} AS x FROM generate_series(1::int8, $opt{rows}) i) s");
	$conn->must('VACUUM (FREEZE, ANALYZE) t');
	$conn->must('CREATE EXTENSION IF NOT EXISTS pg_prewarm');
	$conn->must("SELECT pg_prewarm('t')");
}

sub cell
{
	my ($key, $order, $limit) = @_;
	my (%ms, $taken);
	for my $round (0 .. $opt{repeat})
	{
		for my $plan (@plans)
		{
			my $result = explain($plan, "SELECT * FROM $opt{from} ORDER BY k LIMIT $limit");
			my $least = \$ms{ $plan->{name} };
			$$least = $result->{ms} if $round && (!defined $$least || $result->{ms} < $$least);
			$taken = sort_of($result->{Plan}) if $plan->{name} eq 'auto';
		}
	}
	my $best = $ms{PostgreSQL} < $ms{gpusort} ? $ms{PostgreSQL} : $ms{gpusort};
	$cells++;
	$bad++ if $ms{auto} > 1.1 * $best;
	printf "| %s | %s | %d | %.0f | %.0f | %.1f | %.0f | %s |\n", $key, $order, $limit, @ms{qw(PostgreSQL gpusort)}, $ms{PostgreSQL} / $ms{gpusort},
		$ms{auto}, $taken;
}

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	print "| key | order | rows wanted | PostgreSQL | gpusort | times faster | auto | takes |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |\n";
	for my $key (split /,/, $opt{keys})
	{
		for my $order (split /,/, $opt{orders})
		{
			session();
			make_table($key, $order);
			cell($key, $order, $_) for split /,/, $opt{limits};
		}
	}
	$conn->close;
};
if ($@) { print "FAILED: $@"; $bad++; }
$admin->query("DROP DATABASE $db WITH (FORCE)");
printf "%d of %d cells within 10 %% of the better one\n", $cells - $bad, $cells;
exit($bad ? 1 : 0);
