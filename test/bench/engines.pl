#!/usr/bin/perl
# engines.pl
#	The same sorts by PostgreSQL, by gpusort's host engine and by gpusortd.
#
# Runs against the server of PGHOST, PGPORT and PGUSER, which preloads gpusort
# and has gpusortd running, in a database of its own.  The sides take turns in
# one session; times are those of EXPLAIN (ANALYZE, TIMING OFF), medians, the
# engine's share being the "Sort Time" that the plan node reports.  Every side's keys
# are compared with PostgreSQL's by a digest over (position, key).
#
#	--rows N		rows of the tables (10,000,000)
#	--repeat N		executions of gpusort's sides (5)
#	--core N		executions of PostgreSQL's own sort (1)
#	--case NAME		only this case; may be repeated
#	--work_mem M	(1GB); gpusort has the pool as well
#	--output FILE	the table also goes there
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use Median;
use PgWire;
use cases;

my %opt = (rows => 10_000_000, repeat => 5, core => 1, work_mem => '1GB', case => []);
GetOptions(\%opt, 'rows=i', 'repeat=i', 'core=i', 'case=s@', 'work_mem=s', 'output=s') or exit 2;
$| = 1;

# Columns that do not fit into one 64-bit word, with many ties on the first ones.
my @cases = (
	(grep { $_->{name} =~ /^(?:select-all|select-key|wide|int4-date-bool|uuid|text-c|two-values)$/ } @cases::cases),
	{ name => 'wide-key', columns => [ 'a int8', 'b int8', 'pad text' ], values => [ '(r & 1048575) * 1000003', 'r # 1', "'0123456789abcdef'" ],
		query => 'SELECT * FROM %s ORDER BY a, b', keys => "a || ' ' || b" });
my @sides = (
	[ 'PostgreSQL', 'gpusort.enabled = off' ],
	[ 'host', 'gpusort.enabled = on', 'gpusort.engine = host' ],
	[ 'gpusortd', 'gpusort.enabled = on', 'gpusort.engine = cuda' ]);
my $db = "engines_$$";
my $failed = 0;
my ($conn, $table, @lines);

sub say_line { push @lines, $_[0]; print "$_[0]\n"; }
sub use_side { my (undef, @settings) = @{ $_[0] }; $conn->must("SET $_") for @settings; }

# One execution: its milliseconds, and our node of the plan if it is there.
sub execute
{
	my $query = shift;
	my $plan = decode_json($conn->value("EXPLAIN (ANALYZE, BUFFERS OFF, TIMING OFF, FORMAT JSON) $query"))->[0];
	my @nodes = ($plan->{Plan});
	while (my $node = shift @nodes)
	{
		return ($plan->{'Execution Time'}, $node) if ($node->{'Custom Plan Provider'} // '') eq 'GpuSort';
		push @nodes, @{ $node->{Plans} || [] };
	}
	return ($plan->{'Execution Time'}, undef);
}

# The time of the engine alone, which TIMING OFF does not show.
sub sort_ms
{
	my $query = shift;
	my $plan = decode_json($conn->value("EXPLAIN (ANALYZE, BUFFERS OFF, FORMAT JSON) $query"))->[0];
	my @nodes = ($plan->{Plan});
	while (my $node = shift @nodes)
	{
		return $node->{'Sort Time'} if ($node->{'Custom Plan Provider'} // '') eq 'GpuSort';
		push @nodes, @{ $node->{Plans} || [] };
	}
	return 0;
}

sub digest
{
	my ($query, $case) = @_;
	return $conn->value("SELECT count(*) || ' ' || bit_xor(hashtextextended(key COLLATE \"C\", pos)) FROM (SELECT $case->{keys} AS key, row_number() OVER () AS pos FROM ($query OFFSET 0) q) p");
}

sub make_table
{
	my $case = shift;
	my $n = int($opt{rows} * ($case->{share} // 1));
	$conn->must("DROP TABLE IF EXISTS $table") if $table;
	$table = 'engines_' . ($case->{name} =~ s/\W/_/gr);
	$conn->must("CREATE UNLOGGED TABLE $table (" . join(', ', @{ $case->{columns} }) . ")");
	$conn->must("INSERT INTO $table SELECT " . join(', ', @{ $case->{values} }) . " FROM (SELECT i, hashint8extended(i, 0) AS r FROM generate_series(1::int8, $n) i) s");
	$conn->must("VACUUM (FREEZE, ANALYZE) $table");
	$conn->must("SELECT count(*) FROM $table");
	return $n;
}

sub run_case
{
	my $case = shift;
	my $n = make_table($case);
	my $query = sprintf $case->{query}, $table;
	my (%ms, %node, %engine, %digest);

	for my $i (0 .. $opt{repeat})
	{
		for my $side (@sides)
		{
			my $name = $side->[0];
			next if $name eq 'PostgreSQL' && $i >= $opt{core};
			use_side($side);
			my ($ms, $node) = execute($query);
			push @{ $ms{$name} }, $ms if $i || $name eq 'PostgreSQL';
			$node{$name} = $node;
		}
	}
	for my $side (@sides)
	{
		use_side($side);
		$engine{ $side->[0] } = sort_ms($query) if $side->[0] ne 'PostgreSQL';
		$digest{ $side->[0] } = digest($query, $case);
	}
	my $mark = 'ok';
	$mark = 'WRONG ORDER' if $digest{host} ne $digest{PostgreSQL} || $digest{gpusortd} ne $digest{PostgreSQL};
	$mark = 'NOT USED' if !$node{host} || !$node{gpusortd};
	$mark = 'FALLBACK' if $node{gpusortd} && ($node{gpusortd}{Engine} // '') eq 'host';
	$failed++ if $mark ne 'ok';
	my ($core, $host, $gpu) = map { median(@{ $ms{$_} || [] }) } 'PostgreSQL', 'host', 'gpusortd';
	say_line(sprintf '| %s | %.3g M | %.0f | %.0f | %.0f | %.2f | %.2f | %.1f | %.1f | %s |', $case->{name}, $n / 1e6, $core, $host, $gpu,
		$host ? $core / $host : 0, $gpu ? $core / $gpu : 0, $engine{host} // 0, $engine{gpusortd} // 0, $mark);
}

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	$conn = PgWire->connect(dbname => $db, name => 'gpusort engines');
	$conn->must("SET work_mem = '$opt{work_mem}'; SET max_parallel_workers_per_gather = 0; SET jit = off; SET gpusort.force = on");
	$conn->must('CREATE EXTENSION gpusort');
	say_line(sprintf 'PostgreSQL %s, pool %s, devices: %s; medians of %d', $conn->value('SHOW server_version') =~ s/ .*//r,
		$conn->value('SHOW gpusort.pool_size'), $conn->value("SELECT string_agg(name, ', ') FROM gpusort_devices()") // 'none', $opt{repeat});
	say_line('');
	say_line('| case | rows | PostgreSQL, ms | host engine, ms | gpusortd, ms | host: times faster | gpusortd: times faster | sorting on the host, ms | by gpusortd, ms | |');
	say_line('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | --- |');
	for my $case (@cases)
	{
		run_case($case) if !@{ $opt{case} } || grep { $_ eq $case->{name} } @{ $opt{case} };
	}
	$conn->close;
};
if ($@) { print "FAILED: $@"; $failed++; }
eval { $admin->query("DROP DATABASE $db WITH (FORCE)") };
if ($opt{output})
{
	open my $out, '>', $opt{output} or die "$opt{output}: $!\n";
	print $out map { "$_\n" } @lines;
	close $out;
}
exit($failed ? 1 : 0);
