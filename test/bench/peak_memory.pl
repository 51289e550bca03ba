#!/usr/bin/perl
# peak_memory.pl
#	The most memory that sorts and index builds take, beside what they are granted.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, on the same machine and
# as a user who may read its processes' smaps_rollup (root, or the server's), in a database of its
# own.  While a statement runs in a session of its own, three things are looked at every few
# milliseconds and added up, for the session and its parallel workers:
#
#	anonymous memory	Pss_Anon: pages that processes share since a fork count once altogether
#	dynamic shared memory	segments in /dev/shm that the session has mapped, by their blocks
#	the pool			extents that the session and its workers hold, as gpusort_pool() tells
#
# What the session had before is subtracted; it has planned the statement by then, and sorted a few
# rows and built an index of them, so caches are filled.  Of workers everything counts.  Not counted are the
# server's buffers, program text, and the kernel's cache of temporary files.
#
# The grant of a sort is work_mem (times hash_mem_multiplier, which is 1 here) for each process that
# sorts, which is the leader alone if it sorts what workers collect, and, of gpusort's, the quota of
# the pool.  That of an index build is maintenance_work_mem and the quota.  PostgreSQL gets the quota
# as private memory.  gpusort is forced, keeps no memory, and stores rows (late_rows off).
#
# Exit status 1: a peak of gpusort's is above the grant by more than --tolerance and --constant, and
# --constant-worker for each worker.  The latter is what a new process takes whatever it does: its
# stack, its copies of the server's and the libraries' data, and the catalogues that it looks up.
# What statements take that sort a few rows is measured, and shown first.
#
#	--grants A,B,...	private memory (4MB,16MB,64MB,256MB,1GB)
#	--quotas A,B,...	instead: per cent of the pool, where private memory is 4MB
#	--fills A,B,...		rows need so many times the grant, more or less (0.4,4)
#	--widths A,B,...	bytes of the column beside the key (8,100,2000)
#	--what A,B			sort, of all columns; key, of the key alone; index; window, a window function above a
#						sort of all columns, which workers may do together (sort,index)
#	--keys A,B			int8, text_c (int8)
#	--workers A,B,...	(0,2)
#	--largest N			leave out cells of more than so many MB (1024)
#	--sides A,B			off, PostgreSQL; on, gpusort (off,on)
#	--interval MS		(2)
#	--tolerance PERCENT	(10)
#	--constant MB		(1)
#	--constant-worker MB	(1.5)
#	--limit-seconds N	begin no cell that would end later, as the longest one so far shows (0: no limit)
#	--set NAME=VALUE	setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use PgWire;
use Time::HiRes qw(sleep time);

my %opt = (grants => '4MB,16MB,64MB,256MB,1GB', quotas => undef, fills => '0.4,4', widths => '8,100,2000', what => 'sort,index', keys => 'int8', workers => '0,2',
	largest => 1024, sides => 'off,on', interval => 2, tolerance => 10, constant => 1, 'constant-worker' => 1.5, 'limit-seconds' => 0, set => []);
GetOptions(\%opt, 'grants=s', 'quotas=s', 'fills=s', 'widths=s', 'what=s', 'keys=s', 'workers=s', 'largest=i', 'sides=s', 'interval=f', 'tolerance=f', 'constant=f',
	'constant-worker=f', 'limit-seconds=i', 'set=s@') or exit 2;
$| = 1;

use constant MB => 1 << 20;
use constant QUOTA_PRIVATE => 4 << 20;	# beside quotas of the pool

my %keys = (int8 => 'hashint8extended(i, 0)', text_c => 'md5(i::text) COLLATE "C"');
my %statements = (sort => 'SELECT * FROM %s ORDER BY k', key => 'SELECT k FROM %s ORDER BY k', index => 'CREATE INDEX i_k ON %s (k)',
	window => 'SELECT sum(r), max(pad) FROM (SELECT rank() OVER (PARTITION BY k) AS r, pad FROM %s) s');
# what a row needs beside the column: key, header, the sort's words and references
my $row_bytes = 64;
my $few_rows = 1000;
my $db = "peak_memory_$$";
my ($began, $longest) = (time, 0);
my ($cells, $watcher, $table, %pool) = (0);
my (@bad, %greatest);

sub bytes_of
{
	my ($number, $unit) = $_[0] =~ /^([\d.]+)\s*(kB|MB|GB)$/ or die "not an amount of memory: $_[0]\n";
	return $number * { kB => 1 << 10, MB => 1 << 20, GB => 1 << 30 }->{$unit};
}

# ---- what processes have ----

# Of one process, 0 if it has ended.
sub anonymous_bytes
{
	my ($pid) = @_;
	open my $in, '<', "/proc/$pid/smaps_rollup" or return 0;
	my ($found, $kb) = (0, 0);

	while (my $line = <$in>)
	{
		if ($line =~ /^(Pss_Anon|SwapPss):\s+(\d+)/) { $found++; $kb += $2; }
	}
	return $kb * 1024 if $found > 1;
	die "/proc/$pid/smaps_rollup does not tell Pss_Anon\n" if -e "/proc/$pid/exe";
	return 0;
}

sub segment_bytes
{
	my ($pid) = @_;
	open my $in, '<', "/proc/$pid/maps" or return 0;
	my (%seen, $bytes);

	while (my $line = <$in>)
	{
		$seen{$1} = 1 if $line =~ m{(/dev/shm/PostgreSQL\.\S+)};
	}
	$bytes += 512 * ((stat)[12] // 0) for keys %seen;
	return $bytes // 0;
}

# What the session has now: { private, segments, pool, workers }.
sub look
{
	my ($pid) = @_;
	my $result = $watcher->must("SELECT pid, 0 FROM pg_stat_activity WHERE leader_pid = $pid UNION ALL
		SELECT 0, coalesce(sum(pool_bytes), 0) FROM gpusort_pool() WHERE pid = $pid OR leader_pid = $pid")->{rows};
	my @workers = grep { $_ && $_ != $pid } map { $_->[0] } @$result;
	my ($pool) = map { $_->[1] } grep { !$_->[0] } @$result;
	my $private = anonymous_bytes($pid);

	$private += anonymous_bytes($_) for @workers;
	return { private => $private, segments => segment_bytes($pid), pool => $pool, workers => scalar @workers };
}

sub total { return $_[0]{private} + $_[0]{segments} + $_[0]{pool}; }

# Run a statement and look on: what the session had more than before when it had most, the
# most workers seen, and how often was looked.
sub watch
{
	my ($conn, $pid, $sql) = @_;
	my $before = look($pid);
	my ($peak, $workers) = ($before, 0);
	my $bits = '';

	vec($bits, fileno($conn->{sock}), 1) = 1;
	$conn->send_message('Q', "$sql\0");
	while (!select(my $ready = $bits, undef, undef, $opt{interval} / 1000))
	{
		my $now = look($pid);

		$workers = $now->{workers} if $now->{workers} > $workers;
		$peak = $now if total($now) > total($peak);
	}
	my $result = $conn->collect;
	die "$result->{error}{C} $result->{error}{M}\nin: $sql\n" if $result->{error};
	return { (map { $_ => $peak->{$_} - $before->{$_} } qw(private segments pool)), workers => $workers, answer => $result->{rows}[0][0] };
}

# How many processes sort: that of the sort, or all below whose Gather it is.
sub sorting_processes
{
	my ($plan, $processes) = @_;

	return $processes // 1 if $plan->{'Node Type'} eq 'Sort' || ($plan->{'Custom Plan Provider'} // '') =~ /^GpuSort( Shared)?$/;
	$processes = 1 + $plan->{'Workers Launched'} if defined $plan->{'Workers Launched'};
	for (@{ $plan->{Plans} || [] }) { my $found = sorting_processes($_, $processes); return $found if $found; }
	return 0;
}

# ---- sessions and tables ----

sub set_all
{
	my ($conn, @settings) = @_;
	while (my ($name, $value) = splice @settings, 0, 2) { $conn->must("SET $name = '$value'"); }
	return;
}

# One statement in a session of its own: its peak, and how many processes sorted.
sub run_statement
{
	my ($what, $side, $workers, $private, $quota, $of) = @_;
	my $repeat = $of eq 'tiny' ? 50 : 1;
	my $peak;
	my $conn = PgWire->connect(dbname => $db, name => 'gpusort peak memory');
	my $pid = $conn->value('SELECT pg_backend_pid()');
	my $temp = temp_bytes();

	set_all($conn, jit => 'off', hash_mem_multiplier => 1, max_parallel_workers_per_gather => $workers, max_parallel_maintenance_workers => $workers,
		min_parallel_table_scan_size => 0, parallel_setup_cost => 0, parallel_tuple_cost => 0, enable_indexscan => 'off', enable_incremental_sort => 'off',
		work_mem => int($private / 1024) . 'kB', maintenance_work_mem => int($private / 1024) . 'kB', 'gpusort.enabled' => $side, 'gpusort.force' => 'on', 'gpusort.keep_memory' => 0,
		'gpusort.late_rows' => 'off', 'gpusort.pool_quota' => $quota);
	set_all($conn, split /=/, $_, 2) for @{ $opt{set} };
	# fill caches
	for my $sql (values %statements)
	{
		my $tiny = sprintf $sql, 'tiny';
		$conn->must($tiny =~ /^CREATE/ ? "BEGIN; $tiny; ROLLBACK" : "EXPLAIN ANALYZE $tiny");
	}
	my $sql = sprintf $statements{$what}, $of;
	$conn->must("EXPLAIN $sql") if $what ne 'index';
	for (1 .. $repeat)
	{
		my $seen = watch($conn, $pid, $what eq 'index' ? $sql : "EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) $sql");

		$peak = $seen if !$peak || total($seen) > total($peak);
		$conn->must("DROP INDEX IF EXISTS i_k");
	}
	$conn->close;
	$peak->{processes} = $what eq 'index' ? 1 : sorting_processes(decode_json($peak->{answer})->[0]{Plan});
	# its statistics come when it has ended
	sleep 0.01 while $watcher->value("SELECT count(*) FROM pg_stat_activity WHERE pid = $pid");
	$peak->{temp} = temp_bytes() - $temp;
	return $peak;
}

sub temp_bytes { return $watcher->value('SELECT temp_bytes FROM pg_stat_database WHERE datname = current_database()'); }

sub make_table
{
	my ($name, $key, $width, $rows) = @_;
	# not compressible, and never out of line
	my $pad = $width <= 8 ? 'i' : sprintf "left(repeat(md5(i::text), %d), %d)", $width / 32 + 1, $width;

	return if $name ne 'tiny' && ($table // '') eq "$key $width $rows";
	$table = "$key $width $rows" if $name ne 'tiny';
	$watcher->must("DROP TABLE IF EXISTS $name");
	$watcher->must("CREATE UNLOGGED TABLE $name (k " . ($key eq 'int8' ? 'int8' : 'text COLLATE "C"') . ', pad ' . ($width <= 8 ? 'int8' : 'text') . ')');
	$watcher->must("ALTER TABLE $name ALTER pad SET STORAGE plain") if $width > 8;
	$watcher->must("INSERT INTO $name SELECT $keys{$key}, $pad FROM (SELECT generate_series(1::int8, $rows) AS i) s");
	# as many workers as asked for, however small it is
	$watcher->must("ALTER TABLE $name SET (parallel_workers = 64)");
	$watcher->must("VACUUM (FREEZE, ANALYZE) $name");
	return;
}

# ---- cells ----

# The greatest peaks of all cells of a grant, as ratios: all of them, and less the constants.
sub note_greatest
{
	my ($asked, $workers, $side, @ratios) = @_;
	my $seen = $greatest{ $asked / MB }{$workers}{$side} //= [ 0, 0 ];

	for (0, 1) { $seen->[$_] = $ratios[$_] if $ratios[$_] > $seen->[$_]; }
	return;
}

sub show_greatest
{
	print "\nthe greatest ratios, and less the constants\n| grant, MB | workers | PostgreSQL | gpusort |\n| ---: | ---: | ---: | ---: |\n";
	for my $asked (sort { $a <=> $b } keys %greatest)
	{
		for my $workers (sort { $a <=> $b } keys %{ $greatest{$asked} })
		{
			printf "| %.0f | %d | %s |\n", $asked, $workers, join ' | ', map { $_ ? sprintf '%.2f (%.2f)', @$_ : '' } @{ $greatest{$asked}{$workers} }{qw(off on)};
		}
	}
	return;
}

sub show
{
	my ($peak, $what, $key, $width, $workers, $side, $rows, $grant, $verdict) = @_;
	my $all = total($peak);

	printf "| %s | %s | %d | %d | %s | %d | %s | %.1f | %.1f | %.1f | %.1f | %s | %.1f |%s\n", $what, $key, $width, $workers, $side eq 'on' ? 'gpusort' : 'PostgreSQL',
		$rows, $grant ? sprintf('%.0f', $grant / MB) : '', map({ $peak->{$_} / MB } 'private', 'segments', 'pool'), $all / MB, $grant ? sprintf('%.2f', $all / $grant) : '', $peak->{temp} / MB,
		$verdict;
	return;
}

sub cell
{
	my ($what, $key, $width, $workers, $private, $quota, $fill) = @_;
	my $pool_grant = int($pool{extents} * $quota / 100) * 2 * MB;
	my $rows = int($fill * ($pool_grant || $private * ($what eq 'index' ? 1 : $workers + 1)) / ($width + $row_bytes));

	return 1 if $rows * ($width + $row_bytes) > $opt{largest} * MB;
	return 0 if $opt{'limit-seconds'} && time - $began + $longest > $opt{'limit-seconds'};
	my $start = time;
	make_table('t', $key, $width, $rows);
	for my $side (split /,/, $opt{sides})
	{
		# PostgreSQL has as much as the pool gives, in each process a part
		my $each = $side eq 'on' ? $private : $what eq 'index' ? $private + $pool_grant : $private + $pool_grant / ($workers + 1);
		my $peak = run_statement($what, $side, $workers, $each, $quota, 't');
		my $grant = $side eq 'on' ? $each * $peak->{processes} + $pool_grant : $each * $peak->{processes};
		my $constants = ($opt{constant} + $opt{'constant-worker'} * $peak->{workers}) * MB;
		my $over = total($peak) - $constants - $grant * (1 + $opt{tolerance} / 100);
		my $verdict = $over > 0 ? sprintf(' %.1f MB over', $over / MB) : '';

		$cells++;
		note_greatest($private + $pool_grant, $workers, $side, total($peak) / $grant, (total($peak) - $constants) / $grant);
		push @bad, "$what $key, $width bytes, $workers workers, " . sprintf('grant %.0f MB, fill %s:%s', $grant / MB, $fill, $verdict) if $over > 0 && $side eq 'on';
		show($peak, $what, $key, $width, $workers, $side, $rows, $grant, $verdict);
	}
	$longest = time - $start if time - $start > $longest;
	return 1;
}

# Memory that statements need whatever they sort.
sub constants
{
	for my $what (split /,/, $opt{what})
	{
		for my $workers (split /,/, $opt{workers})
		{
			for my $side (split /,/, $opt{sides})
			{
				my $peak = run_statement($what, $side, $workers, 4 * MB, 0, 'tiny');

				show($peak, $what, 'int8', 8, $workers, $side, $few_rows, 0, '');
			}
		}
	}
	return;
}

sub all_cells
{
	my @grants = $opt{quotas} ? map { [ QUOTA_PRIVATE, $_ ] } split /,/, $opt{quotas} : map { [ bytes_of($_), 0 ] } split /,/, $opt{grants};

	for my $key (split /,/, $opt{keys})
	{
		for my $width (split /,/, $opt{widths})
		{
			for my $grant (@grants)
			{
				for my $fill (split /,/, $opt{fills})
				{
					for my $what (split /,/, $opt{what})
					{
						cell($what, $key, $width, $_, @$grant, $fill) or return print "stopped, $opt{'limit-seconds'} s are over\n" for split /,/, $opt{workers};
					}
				}
			}
		}
	}
	return;
}

my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
my $failed = 0;
$admin->must("CREATE DATABASE $db");
eval {
	$watcher = PgWire->connect(dbname => $db, name => 'gpusort peak memory');
	$watcher->must('CREATE EXTENSION gpusort');
	$watcher->must("SET gpusort.enabled = off; SET jit = off; SET stats_fetch_consistency = none");
	$pool{extents} = $watcher->value('SELECT pool_bytes / 2097152 FROM gpusort_service()');
	make_table('tiny', 'int8', 8, $few_rows);
	print "| what | key | width | workers | side | rows | grant | private | segments | pool | peak, MB | ratio | temp |\n",
		"| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";
	constants();
	all_cells();
	show_greatest();
	$watcher->close;
};
if ($@) { print "FAILED: $@"; $failed = 1; }
$admin->query("DROP DATABASE $db WITH (FORCE)");
printf "%d cells; %d of gpusort's above the grant by more than %g %% and %g MB, %g MB a worker\n", $cells, scalar @bad, @opt{qw(tolerance constant constant-worker)};
print "\t$_\n" for @bad;
exit($failed || @bad ? 1 : 0);
