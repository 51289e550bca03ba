#!/usr/bin/perl
# bench.pl
#	PostgreSQL's sorts and gpusort's, side by side: see README.md.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a
# database of its own.  Both sides run in turn in one session; times are those of
# EXPLAIN (ANALYZE, TIMING OFF), medians.  Exit status 1: a target was missed, the
# results differ, or something failed.
#
#	--rows N		rows of the large cases (10,000,000)
#	--quick			--rows 300000 --repeat 3, targets not judged
#	--case NAME		only this case; may be repeated, "-" in front leaves it out
#	--repeat N		executions of each side (5)
#	--work_mem M	for both sides (2GB)
#	--workers N		parallel workers of a query or a build, for both sides (0)
#	--indexes		index builds instead of sorts
#	--list			names of the cases
#	--output FILE	the table also goes there
#	--keep			keep the database
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use Median;
use Time::HiRes qw(time);
use PgWire;
use cases;

my %opt = (work_mem => '2GB', workers => 0, case => []);
GetOptions(\%opt, 'rows=i', 'quick', 'case=s@', 'repeat=i', 'work_mem=s', 'workers=i', 'indexes', 'list', 'output=s', 'keep') or exit 2;
$opt{rows} //= $opt{quick} ? 300_000 : 10_000_000;
$opt{repeat} //= $opt{quick} ? 3 : 5;
my @cases = $opt{indexes} ? @cases::index_cases : @cases::cases;
if ($opt{list}) { print "$_->{name}\n" for @cases; exit; }
$| = 1;

my $floor = 0.97;
my $db = "bench_$$";
my ($failed, $passed) = (0, 0);
my (@lines, $conn, $table, $table_of);

# The ratio to reach on this server, if there is one.
sub target_of
{
	my ($case) = @_;
	my @targets = @{ $case->{target} // [] };

	return $conn->{version} >= 190000 && $targets[2] || $targets[ $conn->{version} >= 160000 ? 1 : 0 ];
}

sub say_line { push @lines, $_[0]; print "$_[0]\n"; }
# Half the range, in per cent of the median.
sub spread { my @s = sort { $a <=> $b } @_; return 50 * ($s[-1] - $s[0]) / (median(@s) || 1); }

sub selected
{
	my $name = shift;
	my @not = map { /^-(.*)/ } @{ $opt{case} };
	my @only = grep { !/^-/ } @{ $opt{case} };
	return 0 if grep { $_ eq $name } @not;
	return !@only || grep { $_ eq $name } @only;
}

sub session
{
	my $c = PgWire->connect(dbname => $db, name => 'gpusort bench');
	$c->must("SET work_mem = '$opt{work_mem}'; SET maintenance_work_mem = '$opt{work_mem}'; SET max_parallel_maintenance_workers = $opt{workers}; SET max_parallel_workers_per_gather = $opt{workers}; SET jit = off; SET client_min_messages = warning; SET timezone = 'UTC'");
	return $c;
}

sub side { $_[0]->must("SET gpusort.enabled = $_[1]"); }

# One execution: its milliseconds, and our node of the plan if it is there.
sub execute
{
	my ($c, $query, $timing) = @_;
	my $options = 'ANALYZE, BUFFERS OFF, FORMAT JSON, TIMING ' . ($timing ? 'ON' : 'OFF');
	my $plan = decode_json($c->value("EXPLAIN ($options) $query"))->[0];
	my @nodes = ($plan->{Plan});
	my $ours;
	while (my $node = shift @nodes)
	{
		$ours = $node if ($node->{'Custom Plan Provider'} // '') eq 'GpuSort';
		push @nodes, @{ $node->{Plans} || [] };
	}
	return ($plan->{'Execution Time'}, $ours);
}

# The case's table, made and cached; a neighbour's if it is the same.
sub make_table
{
	my $case = shift;
	my $n = $case->{rows} // int($opt{rows} * ($case->{share} // 1));
	my $definition = join ', ', @{ $case->{columns} };
	my $what = "$n $definition @{ $case->{values} }";
	return $n if ($table_of // '') eq $what;
	$conn->must("DROP TABLE IF EXISTS $table") if $table;
	$table = 'bench_' . ($case->{name} =~ s/\W/_/gr);
	# one transaction: with wal_level = minimal the rows are not logged
	$conn->must("CREATE TABLE $table ($definition); INSERT INTO $table SELECT " . join(', ', @{ $case->{values} }) . " FROM (SELECT i, hashint8extended(i, 0) AS r FROM generate_series(1::int8, $n) i OFFSET 0) s");
	$conn->must("VACUUM (FREEZE, ANALYZE) $table");
	$conn->must('CHECKPOINT');
	# hint bits are set: this only brings it into the cache
	$conn->must("SELECT count(*) FROM $table") for 1 .. 2;
	$table_of = $what;
	return $n;
}

# A digest of the keys at their positions.
sub digest
{
	my ($query, $case) = @_;
	return $conn->value("SELECT count(*) || ' ' || bit_xor(hashtextextended(key COLLATE \"C\", pos)) FROM (SELECT $case->{keys} AS key, row_number() OVER () AS pos FROM ($query OFFSET 0) q) p");
}

sub measure
{
	my ($case, $query) = @_;
	my %ms = (off => [], on => []);
	my $node;
	for my $i (($case->{cold} ? 1 : 0) .. $opt{repeat})
	{
		for my $which ('off', 'on')
		{
			my $c = $case->{cold} ? session() : $conn;
			side($c, $which);
			my ($ms, $ours) = execute($c, $query);
			# the first of a session warms up
			push @{ $ms{$which} }, $ms if $i;
			$node = $ours if $which eq 'on';
			$c->close if $case->{cold};
		}
	}
	return (\%ms, $node);
}

# Times of the phases, from one more execution with timing.
sub phases
{
	my ($query) = @_;
	my (undef, $node) = execute($conn, $query, 1);
	return '' if !$node;
	my @parts = map { /^(\w+) Time$/ && !/Actual/ && $node->{$_} >= 0.5 ? sprintf '%s %.0f', lc $1, $node->{$_} : () } sort keys %$node;
	push @parts, "$node->{'Key Bits'} bits" if $node->{'Key Bits'};
	push @parts, "handed over: $node->{'Handed Over'}" if $node->{'Handed Over'};
	return join ', ', @parts;
}

# One build: its milliseconds, and whether it was ours.
sub build
{
	my $statement = shift;
	my $built = $conn->value('SELECT built FROM gpusort_index_builds()');
	my $start = time;
	$conn->must("CREATE $statement");
	my $ms = 1000 * (time - $start);
	return ($ms, $conn->value('SELECT built FROM gpusort_index_builds()') > $built);
}

# Builds on both sides in turn; the last pair is compared.
sub measure_builds
{
	my ($statement) = @_;
	my %ms = (off => [], on => []);
	my ($ours, %bytes);
	for my $i (0 .. $opt{repeat})
	{
		for my $which ('off', 'on')
		{
			side($conn, $which);
			(my $ms, $ours) = build($statement);
			push @{ $ms{$which} }, $ms if $i;
			$bytes{$which} = $conn->value("SELECT pg_relation_size('i')");
			$conn->must("SELECT bt_index_parent_check('i', true)") if $which eq 'on' && $i == $opt{repeat};
			$conn->must('DROP INDEX i');
		}
	}
	return (\%ms, $ours, $bytes{on} > 1.01 * $bytes{off} ? 'TOO LARGE' : undef);
}

# Times of the phases, as one more build reports them.
sub build_phases
{
	my $statement = shift;
	my $result = $conn->must("SET client_min_messages = debug1; CREATE $statement; SET client_min_messages = warning; DROP INDEX i");
	for my $notice (@{ $result->{notices} }) { return $1 if $notice->{M} =~ /^gpusort: built .*rows, (.*)/; }
	return '';
}

sub run_build
{
	my ($case, $n) = @_;
	my $statement = sprintf $case->{index}, $table;
	my ($ms, $ours, $problem) = measure_builds($statement);
	my ($core, $gpusort) = map { median(@{ $ms->{$_} }) } 'off', 'on';
	my $ratio = $core / $gpusort;
	my $target = target_of($case);
	my $mark = $problem // (!$ours ? 'NOT USED' : $ratio >= $target ? 'ok' : $opt{quick} ? 'below' : 'TOO SLOW');
	if ($mark =~ /^[A-Z]/) { $failed++; }
	else { $passed++; }
	say_line(sprintf '| %s | %s | %.0f ±%.0f %% | %.0f ±%.0f %% | **%.2f** | %s | %s | %s |', $case->{name}, scale($n), $core, spread(@{ $ms->{off} }),
		$gpusort, spread(@{ $ms->{on} }), $ratio, $target, $mark, build_phases($statement));
}

sub run_case
{
	my $case = shift;
	if ($case->{needs})
	{
		my ($collation) = grep { !$conn->query("SELECT 'a' < 'b' COLLATE \"$_\"")->{error} } @{ $case->{needs} };
		return say_line("| $case->{name} | | | | | | skipped: no collation $case->{needs}[0] | |") if !defined $collation;
		$case->{columns} = [ map { s/%s/$collation/r } @{ $case->{columns} } ];
	}
	my $n = make_table($case);
	return run_build($case, $n) if $case->{index};
	my $query = sprintf $case->{query}, $table;
	my ($ms, $node) = measure($case, $query);
	my ($core, $ours) = map { median(@{ $ms->{$_} }) } 'off', 'on';
	my $ratio = $core / $ours;
	my $target = target_of($case);
	my $wanted = $target // $floor;
	my ($mark, $phases) = ('ok', '');
	if ($node)
	{
		side($conn, 'off');
		my $expected = digest($query, $case);
		side($conn, 'on');
		my $got = digest($query, $case);
		$phases = phases($query);
		if ($got ne $expected) { $mark = 'WRONG ORDER'; }
		elsif ($ratio < $wanted) { $mark = $opt{quick} ? 'below' : 'TOO SLOW'; }
	}
	else { $mark = $target && !$opt{quick} ? 'NOT USED' : 'not used'; }
	if ($mark =~ /^[A-Z]/) { $failed++; }
	else { $passed++; }
	say_line(sprintf '| %s | %s | %.0f ±%.0f %% | %.0f ±%.0f %% | **%.2f** | %s | %s | %s |', $case->{name}, scale($n), $core, spread(@{ $ms->{off} }),
		$ours, spread(@{ $ms->{on} }), $ratio, defined $target ? $target : "≥ $floor", $mark, $phases);
}

sub scale { my $n = shift; return $n >= 1e6 ? sprintf('%.3g M', $n / 1e6) : $n >= 1e3 ? sprintf('%.3g k', $n / 1e3) : $n; }

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	$conn = session();
	die "gpusort is not loaded: add it to shared_preload_libraries\n" if $conn->query('SHOW gpusort.min_rows')->{error};
	$conn->must('CREATE EXTENSION gpusort; CREATE EXTENSION amcheck') if $opt{indexes};
	$conn->{version} = $conn->value('SHOW server_version_num');
	my $cpu = (map { /^model name\s*:\s*(.*)/ ? $1 : () } split /\n/, `cat /proc/cpuinfo`)[0] // 'unknown CPU';
	say_line(sprintf 'PostgreSQL %s, %s, %d CPUs; shared_buffers %s, work_mem %s, hash_mem_multiplier %s, %d parallel workers, no JIT; medians of %d',
		$conn->value('SHOW server_version') =~ s/ .*//r, $cpu, scalar(() = `cat /proc/cpuinfo` =~ /^processor/mg), $conn->value('SHOW shared_buffers'),
		$opt{work_mem}, $conn->value('SHOW hash_mem_multiplier'), $opt{workers}, $opt{repeat});
	say_line('');
	say_line('| case | rows | PostgreSQL, ms | gpusort, ms | ratio | target | | phases, ms |');
	say_line('| --- | ---: | ---: | ---: | ---: | ---: | --- | --- |');
	for my $case (@cases)
	{
		run_case($case) if selected($case->{name});
	}
	$conn->close;
};
if ($@) { print "FAILED: $@"; $failed++; }
eval { $admin->query("DROP DATABASE $db WITH (FORCE)") if !$opt{keep} };
if ($opt{output})
{
	open my $out, '>', $opt{output} or die "$opt{output}: $!\n";
	print $out map { "$_\n" } @lines;
	close $out;
}
print "$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
