#!/usr/bin/perl
# spill.pl
#	Sorts and index builds in less memory than they need: PostgreSQL's and ours.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its
# own.  For each width of row, the memory that gpusort needs for all rows is found by sorting them
# once, and a twentieth added, as it grows by steps; then each statement is executed with that memory
# and with parts of it (work_mem, or maintenance_work_mem for builds), in turn with gpusort off and on,
# without the pool unless --pool or --quotas says otherwise.  Times are medians in ms, by the clock, or CPU time of the
# backend with --cpu; "temp" is what gpusort wrote to temporary files, in MB.  Exit status 1: gpusort
# was slower somewhere.
#
# With --pool the parts are quotas of the pool, of which there are 100: the pool should be little larger
# than what the rows need, or there are none for small parts (gpusort.pool_size; the error says which).
# Beside it gpusort has 1 MB of private memory.  PostgreSQL's processes together have as much as the
# quota and that.
#
#	--rows N			(2000000)
#	--widths A,B,...	bytes of the column beside the key, an int8 (8,100,500,2000); rows are
#						fewer where they are wider than 100
#	--parts A,B,...		(1,2,4,8,16,64)
#	--sizes A,B,...		instead of parts: so many MB
#	--what A,B			sort, of all columns; key, of the key alone; index (sort,index)
#	--keys A,B			int8, text_c, url, url_icu: strings that begin alike, under the locale en_US.utf8
#						or one of ICU's (int8)
#	--workers N			of each statement (0)
#	--pool				parts by quotas of the pool
#	--quotas A,B,...	instead of parts: per cent of the pool that gpusort may have; PostgreSQL's
#						processes together get as much work_mem, its builds as much maintenance_work_mem,
#						and gpusort's 64MB
#	--repeat N			(3)
#	--cpu
#	--explain			show what EXPLAIN tells of each of our sorts, without times of single rows
#	--duckdb[=PYTHON]	the same rows sorted by DuckDB, too, with as much memory_limit and as many threads
#						as processes; PYTHON has the module duckdb (python3).  No index builds
#	--csv FILE			the table also as a file, for plots.py spill
#	--limit-seconds N	stop before so many seconds are over, with what there is by then (0: no limit)
#	--set NAME=VALUE	setting for all; may be repeated: with gpusort.pool_quota=100, --sizes are of memory
#						beside the pool
use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use IPC::Open2;
use JSON::PP;
use Median;
use PgWire;
use Time::HiRes qw(time);

my %opt = (rows => 2_000_000, widths => '8,100,500,2000', parts => '1,2,4,8,16,64', sizes => undef, what => 'sort,index', keys => 'int8', workers => 0,
	pool => 0, quotas => undef, repeat => 3, cpu => 0, explain => 0, duckdb => undef, csv => undef, 'limit-seconds' => 0, set => []);
GetOptions(\%opt, 'rows=i', 'widths=s', 'parts=s', 'sizes=s', 'what=s', 'keys=s', 'workers=i', 'pool', 'quotas=s', 'repeat=i', 'cpu',
	'explain', 'duckdb:s', 'csv=s', 'limit-seconds=i', 'set=s@') or exit 2;
$| = 1;

use constant SMALL_KB => 1024;	# private memory beside a quota
use constant EXTENT_KB => 2048;

my $url = q('/shop/' || (ARRAY['north','south','blue','acme','global','smart'])[1 + i % 6] || '-' ||
	(ARRAY['shoe','lamp','phone','table','chair'])[1 + i / 7 % 5] || '-' || i % 997 || CASE WHEN i % 3 = 0 THEN '?ref=' || substr(md5(i::text), 1, 6) ELSE '' END);
my %keys = (int8 => 'hashint8extended(i, 0)', text_c => 'md5(i::text)', url => $url, url_icu => $url);
my %types = (int8 => 'int8', text_c => 'text COLLATE "C"', url => 'text COLLATE spill_libc', url_icu => 'text COLLATE "en-x-icu"');
my $db = "spill_$$";
my ($conn, $pid, $bad, $cells, $rows) = (undef, 0, 0, 0, 0);
my ($began, $longest) = (time, 0);
my ($duckdb_in, $duckdb_out, $csv);

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

# Nothing may last longer than what is left of the time.
sub keep_time
{
	my ($needed) = @_;
	# and the database is to be dropped
	my $left = $opt{'limit-seconds'} - 1 - (time - $began);

	return if !$opt{'limit-seconds'};
	die "time is over\n" if $left <= $needed;
	set_all(statement_timeout => int(1000 * $left));
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
	my $node = node_of(decode_json($conn->value("EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) SELECT $columns FROM t ORDER BY k"))->[0]{Plan});

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

# ---- DuckDB, which spill_duckdb.py talks to ----

sub ask_duckdb
{
	my (@words) = @_;

	print $duckdb_in join("\t", @words), "\n";
	my $answer = <$duckdb_out> // die "DuckDB's process has ended\n";
	chomp $answer;
	return $answer;
}

sub start_duckdb
{
	my $dir = tempdir(CLEANUP => 1);

	open2($duckdb_out, $duckdb_in, $opt{duckdb} || 'python3', "$FindBin::RealBin/spill_duckdb.py", $dir, $opt{workers} + 1);
	my $hello = <$duckdb_out> // die "DuckDB: no Python with the module duckdb\n";
	print "# DuckDB $hello";
}

# The table's rows as COPY writes them go through a file.
sub load_duckdb
{
	my ($key, $width) = @_;
	my ($fh, $path) = File::Temp::tempfile(UNLINK => 1);

	$conn->send_message('Q', "COPY t TO STDOUT (FORMAT csv)\0");
	while (1)
	{
		my ($type, $body) = $conn->read_message;

		if ($type eq 'd') { print $fh $body; }
		elsif ($type eq 'Z') { last; }
		elsif ($type eq 'E') { die "COPY failed\n"; }
	}
	close $fh or die "$path: $!\n";
	my $answer = ask_duckdb('load', $path, $key eq 'int8' ? 'BIGINT' : 'VARCHAR', $width <= 8 ? 'BIGINT' : 'VARCHAR');
	unlink $path;
	die "DuckDB: $answer\n" if $answer ne 'loaded';
}

# ---- cells ----

# What one of them is given: { part, label, kb } and the quota of the pool, if any.
sub set_memory
{
	my ($given, $enabled) = @_;
	my $kb = $given->{kb};
	my ($each, $build) = ($kb, $kb);

	if (defined $given->{quota})
	{
		$each = int($kb / ($opt{workers} + 1));
		if ($opt{pool}) { ($each, $build) = $enabled eq 'on' ? (SMALL_KB, SMALL_KB) : ($each + SMALL_KB, $build + SMALL_KB); }
		elsif ($enabled eq 'on') { $build = 65536; }
		set_all('gpusort.pool_quota' => $given->{quota});
	}
	set_all('gpusort.enabled' => $enabled, work_mem => "${each}kB", maintenance_work_mem => "${build}kB");
	set_all(split /=/, $_, 2) for @{ $opt{set} };
}

sub show
{
	my ($what, $key, $width, $given, $theirs, $ours, $duck, $temp_mb) = @_;
	my @more = defined $opt{duckdb} ? ($duck =~ /^[\d.]+$/ ? sprintf '%.0f', $duck : $duck) : ();

	printf "| %s |\n", join ' | ', $what, $key, $width, $given->{label}, int($given->{kb} / 1024), map({ sprintf '%.0f', $_ } $theirs, $ours), sprintf('%.1f', $theirs / $ours),
		sprintf('%.0f', $temp_mb), @more;
	printf $csv "%s\n", join ',', $what, $key, $width, $opt{workers}, $rows, sprintf('%.4f', $given->{part}), int($given->{kb} / 1024), map({ sprintf '%.0f', $_ } $theirs, $ours),
		$duck =~ /^[\d.]+$/ ? sprintf('%.0f', $duck) : '', sprintf('%.0f', $temp_mb) if $csv;
}

sub cell
{
	my ($what, $key, $width, $given) = @_;
	my (%ms, $temp_mb);
	my $duck = '';
	my $start = time;

	keep_time($longest);
	for my $round (1 .. $opt{repeat})
	{
		for my $enabled ('off', 'on')
		{
			set_memory($given, $enabled);
			my ($ms, $mb) = timed($what);
			push @{ $ms{$enabled} }, $ms;
			$temp_mb = $mb if $enabled eq 'on';
			keep_time(0);
		}
		next if !defined $opt{duckdb} || $what eq 'index' || $duck =~ /[a-z]/;
		my $answer = ask_duckdb($what, int(($given->{kb} + ($opt{pool} ? SMALL_KB : 0)) / 1024));
		if ($answer =~ /^[\d.]+$/) { push @{ $ms{duckdb} }, $answer; } else { $duck = $answer; }
	}
	my ($theirs, $ours) = map { median(@{ $ms{$_} }) } 'off', 'on';
	$duck = median(@{ $ms{duckdb} }) if $ms{duckdb} && $duck eq '';
	$cells++;
	$bad++ if $ours > $theirs;
	show($what, $key, $width, $given, $theirs, $ours, $duck, $temp_mb);
	$longest = time - $start if time - $start > $longest;
}

sub make_table
{
	my ($key, $width) = @_;
	$rows = $width > 100 ? int($opt{rows} * 100 / $width) : $opt{rows};
	# not compressible, and never out of line
	my $pad = $width <= 8 ? 'i' : sprintf "left(repeat(md5(i::text), %d), %d)", $width / 32 + 1, $width;

	$conn->must(q(CREATE COLLATION spill_libc (provider = libc, locale = 'en_US.utf8'))) if $key eq 'url' && !$conn->value("SELECT count(*) FROM pg_collation WHERE collname = 'spill_libc'");
	$conn->must('DROP TABLE IF EXISTS t');
	$conn->must("CREATE UNLOGGED TABLE t (k $types{$key}, pad " . ($width <= 8 ? 'int8' : 'text') . ')');
	$conn->must('ALTER TABLE t ALTER pad SET STORAGE plain') if $width > 8;
	$conn->must("INSERT INTO t SELECT $keys{$key}, $pad FROM generate_series(1::int8, $rows) i");
	$conn->must('VACUUM (FREEZE, ANALYZE) t');
}

# What all rows take, in kB, of private memory or of the pool.
sub memory_needed
{
	set_all('gpusort.enabled' => 'on', 'gpusort.force' => 'on', work_mem => '2000GB', 'gpusort.pool_quota' => $opt{pool} ? 100 : 0, max_parallel_workers_per_gather => 0);
	my $node = explain_sort('*');
	session();
	return 1.05 * ($node->{'Sort Space Used'} + $node->{'Pool Space Used'});
}

sub pool_kb { return $conn->value("SELECT pg_size_bytes(current_setting('gpusort.pool_size')) / 1024"); }

sub quota_kb
{
	my ($quota) = @_;
	return int(pool_kb() / EXTENT_KB * $quota / 100) * EXTENT_KB;
}

# What each cell is given.
sub given_parts
{
	my ($need) = @_;
	return map { +{ part => 1 / $_, label => "1/$_", kb => int($need / $_ < 1024 ? 1024 : $need / $_) } } split /,/, $opt{parts};
}

sub given_sizes { my ($need) = @_; return map { +{ part => $_ * 1024 / $need, label => "$_ MB", kb => $_ * 1024 } } split /,/, $opt{sizes}; }

sub given_quotas { return map { +{ part => $_ / 100, label => "$_ %", quota => $_, kb => int(pool_kb() * $_ / 100) } } split /,/, $opt{quotas}; }

sub given_of_pool
{
	my ($need) = @_;
	my $pool = pool_kb();
	my @given;

	for my $part (split /,/, $opt{parts})
	{
		my $quota = int(100 * $need / $part / $pool + 0.5);

		if ($quota < 1 || $quota > 93)
		{
			printf "# 1/%s of the %d MB needed is no quota of this pool: set gpusort.pool_size to %d MB\n", $part, $need / 1024, $need / 1024 * 1.6;
			next;
		}
		push @given, { part => 1 / $part, label => "1/$part", quota => $quota, kb => quota_kb($quota) };
	}
	return @given;
}

sub all_cells
{
	for my $key (split /,/, $opt{keys})
	{
		for my $width (split /,/, $opt{widths})
		{
			session();
			keep_time(0);
			make_table($key, $width);
			load_duckdb($key, $width) if defined $opt{duckdb};
			my @given = $opt{quotas} ? given_quotas() : $opt{pool} ? given_of_pool(memory_needed()) :
				$opt{sizes} ? given_sizes(memory_needed()) : given_parts(memory_needed());
			for my $what (split /,/, $opt{what}) { cell($what, $key, $width, $_) for @given; }
		}
	}
}

my $failed = 0;
my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
eval {
	if ($opt{csv})
	{
		open $csv, '>', $opt{csv} or die "$opt{csv}: $!\n";
		$csv->autoflush(1);
		print $csv "what,key,width,workers,rows,part,mb,postgres_ms,gpusort_ms,duckdb_ms,temp_mb\n";
	}
	start_duckdb() if defined $opt{duckdb};
	print '| what | key | width | memory | MB | PostgreSQL | gpusort | times faster | temp |', defined $opt{duckdb} ? ' DuckDB |' : '', "\n",
		'| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |', defined $opt{duckdb} ? ' ---: |' : '', "\n";
	all_cells();
	1;
} or do {
	# a statement that was ended for it
	if ($@ =~ /^time is over|^57014/) { print "stopped, $opt{'limit-seconds'} s are over\n"; }
	else { print "FAILED: $@"; $failed = 1; }
};
$conn->close if $conn;
$admin->query("DROP DATABASE $db WITH (FORCE)");
printf "%d of %d cells not slower\n", $cells - $bad, $cells;
exit($bad || $failed ? 1 : 0);
