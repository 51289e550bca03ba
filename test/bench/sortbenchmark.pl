#!/usr/bin/perl
# sortbenchmark.pl
#	Sorts records like those of the sort benchmark through SQL, validates them, and tells how many
#	MB a second: PostgreSQL's sort and ours, in turn.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, on the same machine, as a
# superuser, in a database of its own.  sortbenchmark.c, which is built first with $CC or cc, makes the
# records and validates them: the server runs it, as the program of COPY ... FROM PROGRAM and
#
#	COPY (SELECT key, payload FROM records ORDER BY key) TO PROGRAM
#
# in the binary format.  Before anything is measured the validator must have refused small files
# with two records swapped, one lost, one doubled, one lost and another doubled, a byte changed, and
# the end cut off.
#
# Phases, by the clock, medians in ms, and MB of records (100 bytes each) a second:
#
#	load		COPY into the table, once
#	first		from the statement's start to the first record at the validator
#	emit		from there to the last one
#	whole		the whole COPY statement
#	collect, sort	of "first"; as trace_sort has PostgreSQL tell (of participants, the slowest); as EXPLAIN tells of
#				gpusort, in another execution, with refinement and verification in "sort", and writing and
#				reading of temporary files in both
#
# Exit status 1: a result was wrong, the validator accepted what it must not, or gpusort was slower.
#
#	--records N			(1000000)
#	--kind NAME			ascii, binary or skewed (ascii; sortbenchmark.c says what they are)
#	--type NAME			bytea or text, which takes no binary keys (bytea)
#	--workers N			(0)
#	--memory MB			work_mem of both (what all records need)
#	--pool PERCENT		instead: gpusort has this quota of the pool and work_mem 4MB, PostgreSQL's processes
#						together as much
#	--repeat N			(3)
#	--seed N			(1)
#	--sides A,B			off, PostgreSQL; on, gpusort (off,on)
#	--directory DIR		for the program and its reports, where the server's user may read and write (/tmp)
#	--self-check		only that of the validator; needs no server
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use Median;
use PgWire;
use Time::HiRes qw(time);

my %opt = (records => 1_000_000, kind => 'ascii', type => 'bytea', workers => 0, memory => 0, pool => undef, repeat => 3, seed => 1, sides => 'off,on',
	directory => '/tmp', 'self-check' => 0, set => []);
GetOptions(\%opt, 'records=i', 'kind=s', 'type=s', 'workers=i', 'memory=i', 'pool=i', 'repeat=i', 'seed=i', 'sides=s', 'directory=s', 'self-check', 'set=s@') or exit 2;
die "no such kind: $opt{kind}\n" if $opt{kind} !~ /^(ascii|binary|skewed)$/;
die "no such type: $opt{type}\n" if $opt{type} !~ /^(bytea|text)$/;
die "text takes no binary keys\n" if $opt{type} eq 'text' && $opt{kind} eq 'binary';
$| = 1;

use constant { RECORD_BYTES => 100, HEADER_BYTES => 19, TUPLE_BYTES => 110, KEY_AT => 6, KEY_BYTES => 10, ROW_BYTES => 256, SMALL_MB => 4 };

my $dir = tempdir('sortbenchmark.XXXXXX', DIR => $opt{directory}, CLEANUP => 1);
my $program = "$dir/sortbenchmark";
my $db = "sortbenchmark_$$";
my ($conn, $wrong, %ms) = (undef, 0);

sub build
{
	my $cc = $ENV{CC} // 'cc';

	# the server's user runs and writes there
	chmod 0777, $dir or die "chmod $dir: $!\n";
	system("$cc -O2 -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -o $program $FindBin::RealBin/sortbenchmark.c") == 0 or die "cannot build sortbenchmark.c\n";
	return;
}

# ---- the validator's own test ----

sub write_file
{
	my ($name, @pieces) = @_;

	open my $out, '>:raw', "$dir/$name" or die "$dir/$name: $!\n";
	print $out @pieces;
	close $out or die "$dir/$name: $!\n";
	return;
}

sub accepts
{
	my (@pieces) = @_;

	write_file('check', @pieces);
	system("$program validate $dir/check.summary $dir/check.report < $dir/check 2>/dev/null");
	return $? == 0;
}

sub self_check
{
	my $crc = `$program crc`;
	my $bad = 0;

	system("$program generate 1000 1 $opt{kind} $dir/check.summary > $dir/check") == 0 or die "cannot make records\n";
	open my $in, '<:raw', "$dir/check" or die "$dir/check: $!\n";
	my $all = do { local $/; <$in> };
	my $header = substr $all, 0, HEADER_BYTES;
	my $end = substr $all, -2;
	my @unsorted = unpack '(a' . TUPLE_BYTES . ')*', substr($all, HEADER_BYTES, -2);
	my @records = sort { substr($a, KEY_AT, KEY_BYTES) cmp substr($b, KEY_AT, KEY_BYTES) } @unsorted;
	my @swapped = @records;
	@swapped[ 500, 501 ] = @swapped[ 501, 500 ];
	my @changed = @records;
	substr($changed[7], -1, 1) = 'x';
	my @key_changed = @records;
	substr($key_changed[0], KEY_AT + KEY_BYTES - 1, 1) = "\0";
	my @cases = (
		[ 'sorted', 1, $header, @records, $end ], [ 'as they were made', 0, $header, @unsorted, $end ], [ 'two swapped', 0, $header, @swapped, $end ],
		[ 'one lost', 0, $header, @records[ 0 .. 498, 500 .. 999 ], $end ], [ 'the last one lost', 0, $header, @records[ 0 .. 998 ], $end ],
		[ 'one doubled', 0, $header, @records[ 0 .. 300, 300 .. 999 ], $end ], [ 'one lost, another doubled', 0, $header, @records[ 0 .. 300, 300 .. 498, 500 .. 999 ], $end ],
		[ 'a byte of a payload changed', 0, $header, @changed, $end ], [ 'a byte of a key changed', 0, $header, @key_changed, $end ],
		[ 'no end', 0, $header, @records ], [ 'cut off', 0, $header, @records[ 0 .. 998 ], substr($records[999], 0, 50) ], [ 'no header', 0, @records, $end ],
		[ 'something behind the end', 0, $header, @records, $end, 'x' ], [ 'nothing', 0 ]);
	for (@cases)
	{
		my ($name, $wanted, @pieces) = @$_;
		my $accepted = accepts(@pieces);

		if (!$accepted != !$wanted) { $bad++; printf "the validator %s: %s\n", $accepted ? 'accepts' : 'refuses', $name; }
	}
	if ($crc ne "CBF43926\n") { $bad++; print "a wrong CRC: $crc"; }
	printf "the validator: %d of %d cases right\n", @cases + 1 - $bad, @cases + 1;
	return $bad == 0;
}

# ---- measuring ----

sub set_all
{
	while (my ($name, $value) = splice @_, 0, 2) { $conn->must("SET $name = '$value'"); }
	return;
}

sub load
{
	$conn->must("CREATE UNLOGGED TABLE records (key $opt{type}" . ($opt{type} eq 'text' ? ' COLLATE "C"' : '') . ", payload $opt{type})");
	my $start = time;
	$conn->must("COPY records FROM PROGRAM '$program generate $opt{records} $opt{seed} $opt{kind} $dir/summary' (FORMAT binary)");
	my $ms = 1000 * (time - $start);
	$conn->must('VACUUM (FREEZE, ANALYZE) records');
	return $ms;
}

sub set_memory
{
	my ($side) = @_;
	my $mb = $opt{memory} || 64 + int($opt{records} * ROW_BYTES / (1 << 20));

	if (defined $opt{pool})
	{
		my $pool_mb = $conn->value("SELECT pg_size_bytes(current_setting('gpusort.pool_size')) / 1048576") * $opt{pool} / 100;
		$mb = $side eq 'on' ? SMALL_MB : SMALL_MB + int($pool_mb / ($opt{workers} + 1));
		set_all('gpusort.pool_quota' => $opt{pool});
	}
	elsif ($opt{memory}) { set_all('gpusort.pool_quota' => 0); }
	set_all('gpusort.enabled' => $side, work_mem => "${mb}MB");
	return;
}

sub read_report
{
	open my $in, '<', "$dir/report" or return { right => 0 };
	my %report = map { split } <$in>;
	close $in;
	return \%report;
}

# What trace_sort has told: the slowest participant's.
sub traced
{
	my (@notices) = @_;
	my ($collected, $sorted) = (0, 0);

	for my $text (map { $_->{M} } @notices)
	{
		my ($what, $seconds) = $text =~ /^performsort of worker \S+ (starting|done).*elapsed: ([\d.]+) s/ or next;

		if ($what eq 'starting') { $collected = $seconds if $seconds > $collected; }
		elsif ($seconds > $sorted) { $sorted = $seconds; }
	}
	return $sorted ? (collect => 1000 * $collected, sort => 1000 * ($sorted - $collected)) : ();
}

sub node_of
{
	my $plan = shift;
	return $plan if ($plan->{'Custom Plan Provider'} // '') eq 'GpuSort';
	for (@{ $plan->{Plans} || [] }) { my $found = node_of($_); return $found if $found; }
	return undef;
}

# What EXPLAIN tells of gpusort's.
sub explained
{
	my $plan = decode_json($conn->value('EXPLAIN (ANALYZE, BUFFERS OFF, FORMAT JSON) SELECT key, payload FROM records ORDER BY key'))->[0]{Plan};
	my $node = node_of($plan);

	if (!$node) { print "not used: gpusort\n"; return (); }
	my $sort = 0;
	$sort += $node->{"$_ Time"} // 0 for qw(Sort Refine Verify);
	return (collect => $node->{'Collect Time'}, sort => $sort);
}

sub run_once
{
	my ($side) = @_;

	set_memory($side);
	set_all(trace_sort => $side eq 'off' ? 'on' : 'off', client_min_messages => $side eq 'off' ? 'log' : 'warning');
	unlink "$dir/report";
	my $start = time;
	my $result = $conn->query("COPY (SELECT key, payload FROM records ORDER BY key) TO PROGRAM '$program validate $dir/summary $dir/report' (FORMAT binary)");
	my $end = time;
	set_all(trace_sort => 'off', client_min_messages => 'warning');
	my $report = read_report();
	if ($result->{error} || !$report->{right})
	{
		$wrong++;
		print 'wrong: ', $result->{error}{M} // '', join(', ', map { "$_ $report->{$_}" } sort keys %$report), "\n";
		return;
	}
	my %seen = (first => 1000 * ($report->{first} - $start), emit => 1000 * ($report->{last} - $report->{first}), whole => 1000 * ($end - $start),
		$side eq 'off' ? traced(@{ $result->{notices} }) : explained());
	push @{ $ms{$side}{$_} }, $seen{$_} for keys %seen;
	return;
}

sub figures
{
	my ($ms) = @_;
	return ' |' if !defined $ms;
	return sprintf '%.0f | %.0f', $ms, $ms > 0 ? $opt{records} * RECORD_BYTES / 1e3 / $ms : 0;
}

sub report
{
	my ($load_ms) = @_;

	print "| phase | PostgreSQL, ms | MB/s | gpusort, ms | MB/s | times faster |\n| --- | ---: | ---: | ---: | ---: | ---: |\n";
	printf "| load | %s | | | |\n", figures($load_ms);
	for my $phase (qw(collect sort first emit whole))
	{
		my ($theirs, $ours) = map { $ms{$_}{$phase} ? median(@{ $ms{$_}{$phase} }) : undef } 'off', 'on';

		printf "| %s | %s | %s | %s |\n", $phase, figures($theirs), figures($ours), $theirs && $ours ? sprintf('%.1f', $theirs / $ours) : '';
		return 1 if $phase eq 'whole' && $theirs && $ours && $ours > $theirs;
	}
	return 0;
}

sub measure
{
	$conn = PgWire->connect(dbname => $db, name => 'gpusort sortbenchmark');
	set_all(jit => 'off', hash_mem_multiplier => 1, max_parallel_workers_per_gather => $opt{workers}, min_parallel_table_scan_size => 0);
	set_all(split /=/, $_, 2) for @{ $opt{set} };
	my $load_ms = load();
	for my $round (1 .. $opt{repeat}) { run_once($_) for split /,/, $opt{sides}; }
	$conn->close;
	return report($load_ms);
}

build();
exit 1 if !self_check();
exit 0 if $opt{'self-check'};
my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
my $slower = 0;
$admin->must("CREATE DATABASE $db TEMPLATE template0 ENCODING 'UTF8'");
eval { $slower = measure(); 1 } or do { print "FAILED: $@"; $wrong++; };
$admin->query("DROP DATABASE $db WITH (FORCE)");
printf "%d records, %s, %s: %s\n", $opt{records}, $opt{kind}, $opt{type}, $wrong ? 'WRONG' : 'all results right';
exit($wrong || $slower ? 1 : 0);
