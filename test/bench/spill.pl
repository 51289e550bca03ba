#!/usr/bin/perl
# spill.pl
#	Sorts and index builds in less memory than they need: PostgreSQL's and ours.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its
# own.  For each width of row, the memory that gpusort needs for all rows is found by sorting them
# once; then each statement is executed with that memory and with parts of it (work_mem,
# or maintenance_work_mem for builds), in turn with gpusort off and on, without the pool
# unless --quotas says otherwise.  Times are medians in ms, by the clock, or CPU time of the backend
# with --cpu; "temp" is what gpusort wrote to temporary files, in MB.  Exit status 1: gpusort was
# slower somewhere.
#
#	--rows N			(2000000)
#	--widths A,B,...	bytes of the column beside the key, an int8 (8,100,500,2000); rows are
#						fewer where they are wider than 100
#	--parts A,B,...		(1,2,4,8,16,64)
#	--what A,B			sort, of all columns; key, of the key alone; index (sort,index)
#	--keys A,B			int8, text_c (int8)
#	--workers N			of each statement (0)
#	--quotas A,B,...	instead of parts: per cent of the pool that gpusort may have; PostgreSQL's
#						processes together get as much work_mem, its builds as much maintenance_work_mem,
#						and gpusort's 64MB
#	--repeat N			(3)
#	--cpu
#	--explain			show what EXPLAIN tells of each of our sorts
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use PgWire;
use Time::HiRes qw(time);

my %opt = (rows => 2_000_000, widths => '8,100,500,2000', parts => '1,2,4,8,16,64', what => 'sort,index', keys => 'int8', workers => 0,
	quotas => undef, repeat => 3, cpu => 0, explain => 0, set => []);
GetOptions(\%opt, 'rows=i', 'widths=s', 'parts=s', 'what=s', 'keys=s', 'workers=i', 'quotas=s', 'repeat=i', 'cpu', 'explain', 'set=s@') or exit 2;
$| = 1;

my %keys = (int8 => 'hashint8extended(i, 0)', text_c => "md5(i::text) COLLATE \"C\"");
my $db = "spill_$$";
my ($conn, $pid, $bad, $cells) = (undef, 0, 0, 0);

sub set_all
{
	while (my ($name, $value) = splice @_, 0, 2) { $conn->must("SET $name = '$value'"); }
}

sub session
{
	$conn->close if $conn;
	$conn = PgWire->connect(dbname => $db, name => 'gpusort spill');
	set_all(jit => 'off', hash_mem_multiplier => 1, max_parallel_workers_per_gather => $opt{workers}, max_parallel_maintenance_workers => $opt{workers},
		'gpusort.late_rows' => 'off');
	set_all('gpusort.pool_quota' => 0, min_parallel_table_scan_size => 0);
	set_all(split /=/, $_, 2) for @{ $opt{set} };
	$pid = $conn->value('SELECT pg_backend_pid()');
}

sub clock
{
	return time * 1000 if !$opt{cpu};
	open my $in, '<', "/proc/$pid/schedstat" or die "$!";
	return (split ' ', <$in>)[0] / 1e6;
}

sub node_of
{
	my $plan = shift;
	return $plan if ($plan->{'Custom Plan Provider'} // '') eq 'GpuSort';
	for (@{ $plan->{Plans} || [] }) { my $found = node_of($_); return $found if $found; }
	return undef;
}

sub explain_sort
{
	my ($columns) = @_;
	my $timing = $opt{explain} ? 'ON' : 'OFF';
	my $node = node_of(decode_json($conn->value("EXPLAIN (ANALYZE, TIMING $timing, BUFFERS OFF, FORMAT JSON) SELECT $columns FROM t ORDER BY k"))->[0]{Plan});

	printf "# %s\n", join ', ', map { "$_ $node->{$_}" } grep { !ref $node->{$_} } sort keys %$node if $opt{explain} && $node;
	return $node;
}

my %execute = (
	sort => sub { my $node = explain_sort('*'); return $node ? ($node->{Spilled} // 0) / 1024 : 0; },
	key => sub { my $node = explain_sort('k'); return $node ? ($node->{Spilled} // 0) / 1024 : 0; },
	index => sub { $conn->must('CREATE INDEX t_k ON t (k)'); return 0; });

sub timed
{
	my ($what) = @_;
	my $before = clock();
	my $mb = $execute{$what}->();
	my $ms = clock() - $before;
	$conn->must('DROP INDEX IF EXISTS t_k');
	return ($ms, $mb);
}

sub median { my @sorted = sort { $a <=> $b } @_; return $sorted[ $#sorted / 2 ]; }

# Memory, in kB, in a part of what is needed, or a quota of the pool.
sub set_memory
{
	my ($kb, $enabled) = @_;
	my $each = $opt{quotas} ? int($kb / ($opt{workers} + 1)) : $kb;
	my $build = $opt{quotas} && $enabled eq 'on' ? 65536 : $kb;

	set_all('gpusort.enabled' => $enabled, work_mem => "${each}kB", maintenance_work_mem => "${build}kB");
}

sub cell
{
	my ($what, $key, $width, $label, $kb) = @_;
	my (%ms, $temp_mb);

	$kb = $kb < 1024 ? 1024 : int($kb);
	for my $round (1 .. $opt{repeat})
	{
		for my $enabled ('off', 'on')
		{
			set_memory($kb, $enabled);
			my ($ms, $mb) = timed($what);
			push @{ $ms{$enabled} }, $ms;
			$temp_mb = $mb if $enabled eq 'on';
		}
	}
	my ($theirs, $ours) = map { median(@{ $ms{$_} }) } 'off', 'on';
	$cells++;
	$bad++ if $ours > $theirs;
	printf "| %s | %s | %d | %s | %d | %.0f | %.0f | %.1f | %.0f |\n", $what, $key, $width, $label, $kb / 1024, $theirs, $ours, $theirs / $ours, $temp_mb;
}

sub make_table
{
	my ($key, $width) = @_;
	my $rows = $width > 100 ? int($opt{rows} * 100 / $width) : $opt{rows};
	# not compressible, and never out of line
	my $pad = $width <= 8 ? 'i' : sprintf "left(repeat(md5(i::text), %d), %d)", $width / 32 + 1, $width;

	$conn->must('DROP TABLE IF EXISTS t');
	$conn->must('CREATE UNLOGGED TABLE t (k ' . ($key eq 'int8' ? 'int8' : 'text COLLATE "C"') . ', pad ' . ($width <= 8 ? 'int8' : 'text') . ')');
	$conn->must('ALTER TABLE t ALTER pad SET STORAGE plain') if $width > 8;
	$conn->must("INSERT INTO t SELECT $keys{$key}, $pad FROM generate_series(1::int8, $rows) i");
	$conn->must('VACUUM (FREEZE, ANALYZE) t');
}

# What all rows take in private memory, in kB.
sub memory_needed
{
	set_all('gpusort.enabled' => 'on', 'gpusort.force' => 'on', work_mem => '2000GB', 'gpusort.pool_quota' => 0, max_parallel_workers_per_gather => 0);
	my $kb = explain_sort('*')->{'Sort Space Used'};
	session();
	return $kb;
}

sub cells_by_quota
{
	my ($what, $key, $width) = @_;
	my $pool_kb = $conn->value("SELECT pg_size_bytes(current_setting('gpusort.pool_size')) / 1024");

	for my $quota (split /,/, $opt{quotas})
	{
		set_all('gpusort.pool_quota' => $quota);
		cell($what, $key, $width, "$quota %", $pool_kb * $quota / 100);
	}
}

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	print "| what | key | width | memory | MB | PostgreSQL | gpusort | times faster | temp |\n| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
	for my $key (split /,/, $opt{keys})
	{
		for my $width (split /,/, $opt{widths})
		{
			session();
			make_table($key, $width);
			my $kb = $opt{quotas} ? 0 : memory_needed();
			for my $what (split /,/, $opt{what})
			{
				if ($opt{quotas}) { cells_by_quota($what, $key, $width); next; }
				cell($what, $key, $width, "1/$_", $kb / $_) for split /,/, $opt{parts};
			}
		}
	}
	$conn->close;
};
if ($@) { print "FAILED: $@"; $bad++; }
$admin->query("DROP DATABASE $db WITH (FORCE)");
printf "%d of %d cells not slower\n", $cells - $bad, $cells;
exit($bad ? 1 : 0);
