# Memory beside rows and keys: what encoders of collations hold, and where late rows' pages
# are.  It counts as private memory, and is no more than that.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $columns = 16;
my $node = start_node('main', 'max_parallel_workers_per_gather = 0', 'gpusort.force = on', 'hash_mem_multiplier = 1', 'gpusort.enable_spill = off',
	'gpusort.late_rows = off', "gpusort.pool_size = '256MB'");

# Strings that are all different and as long as those whose keys are cached; long strings that
# differ at their ends; a table of many pages.
$node->safe_psql('postgres', sprintf q(
	CREATE TABLE short AS SELECT i, %s FROM generate_series(1, 1500) i;
	CREATE TABLE long AS SELECT i, repeat('x', 1000000) || md5(i::text) AS s FROM generate_series(1, 12) i;
	CREATE TABLE wide AS SELECT i, hashint4(i) AS h, repeat('x', 1000) AS filler FROM generate_series(1, 60000) i;
	VACUUM ANALYZE),
	join ', ', map { "repeat(md5((i * $_)::text), 2) AS c$_" } 1 .. $columns);

# How a sort went: its memory in kB and whether PostgreSQL has done it.
sub outcome
{
	my ($query, @settings) = @_;
	my $plan = analyzed_plan_of($node, $query, @settings);
	my ($memory_kb) = $plan =~ /Memory: (\d+)kB/;
	my ($pool_kb) = $plan =~ /Pool: (\d+)kB/;

	return { plan => $plan, memory_kb => $memory_kb, pool_kb => $pool_kb // 0, handed_over => scalar $plan =~ /Handed Over: memory limit reached/ };
}

# Private memory of a process, in kB.
sub anonymous_kb
{
	my ($pid) = @_;

	return slurp_file("/proc/$pid/status") =~ /^RssAnon:\s+(\d+)/m ? $1 : die "no RssAnon\n";
}

# By how many kB a sort raises the session's private memory, looked at again and again.
sub peak_of
{
	my ($query, @settings) = @_;
	my $explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)";
	my @set = map { "SET $settings[2 * $_] = '$settings[2 * $_ + 1]';\n" } 0 .. $#settings / 2;
	my ($in, $out, $looks) = (join('', @set, "$explain SELECT * FROM short WHERE i < 10 ORDER BY c1;\n", "SELECT 'pid ' || pg_backend_pid();\n"), '', 0);
	my $psql = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>&1', time_limit());

	$psql->pump until $out =~ /^pid (\d+)$/m;
	my $pid = $1;
	my $before = anonymous_kb($pid);
	my $peak = $before;
	$in .= "$explain $query;\nSELECT 'done';\n";
	until ($out =~ /^done$/m)
	{
		$psql->pump_nb;
		for (1 .. 20)
		{
			my $now = anonymous_kb($pid);

			$peak = $now if $now > $peak;
			$looks++;
		}
	}
	$in .= "\\q\n";
	$psql->finish;
	unlike($out, qr/ERROR/, 'no error');
	note "$before kB before, $peak kB at most, of $looks looks";
	return $peak - $before;
}

# Keys of many columns: each has a cache.
for my $collation ('C.utf8', 'en-x-icu')
{
	my $order = join ', ', map { qq(c$_ COLLATE "$collation") } 1 .. $columns;
	my $query = "SELECT i FROM short ORDER BY $order";
	my $went = outcome($query, work_mem => '2MB');

	ok(!$went->{handed_over}, "$collation: sorted in the pool") or diag $went->{plan};
	cmp_ok($went->{memory_kb}, '>', 0, "$collation: encoders are counted");
	cmp_ok($went->{memory_kb}, '<=', 2048, "$collation: ... within the limit");
	cmp_ok(peak_of($query, work_mem => '2MB'), '<', 2048 + 512, "$collation: the process takes no more");
	same_answer($node, $query, "$collation, $columns columns", work_mem => '2MB');
}

# A small limit is not used up by caches.
for my $collation ('C.utf8', 'en-x-icu')
{
	my $query = qq(SELECT i FROM short WHERE i <= 100 ORDER BY md5(i::text) COLLATE "$collation", i);

	for my $work_mem ('64kB', '128kB', '1MB')
	{
		for my $quota (0, 75)
		{
			my $label = "$collation in $work_mem, quota $quota";
			my @settings = (work_mem => $work_mem, 'gpusort.pool_quota' => $quota);
			my $went = outcome($query, @settings);

			ok(!$went->{handed_over}, "$label: not handed over") or diag $went->{plan};
			cmp_ok($went->{memory_kb}, '<=', $work_mem =~ /^(\d+)kB/ ? $1 : 1024, "$label: within the limit");
			same_answer($node, $query, $label, @settings);
		}
	}
}

# Keys of long strings are private memory, wherever the strings lie.  Where they are made of rows that tie
# only, these are compared if there is none for them.
for my $collation ('C.utf8', 'en-x-icu')
{
	my $query = qq(SELECT i FROM long ORDER BY s COLLATE "$collation");
	my $went = outcome($query, work_mem => '4MB');

	is($went->{handed_over}, $collation eq 'C.utf8' ? 1 : '', "$collation: keys of 1 MB are not made in 4 MB") or diag $went->{plan};
	cmp_ok($went->{memory_kb}, '<=', 4096, "$collation: ... nor is more taken for them") unless $went->{handed_over};
	same_answer($node, $query, "$collation: long strings in 4 MB", work_mem => '4MB');

	$went = outcome($query, work_mem => '64MB');
	ok(!$went->{handed_over}, "$collation: ... but in 64 MB") or diag $went->{plan};
	cmp_ok($went->{memory_kb}, '>', 1000, "$collation: ... where they are counted");
	cmp_ok($went->{memory_kb}, '<', 16 * 1024, "$collation: ... and take no more than their part");
	same_answer($node, $query, "$collation: long strings in 64 MB", work_mem => '64MB');
}

# Where the pages of late rows are: 8 bytes each of 8192 and more.
{
	my $query = 'SELECT * FROM wide ORDER BY h, i';
	my @settings = ('gpusort.late_rows' => 'on');
	my $pages = $node->safe_psql('postgres', q(SELECT relpages FROM pg_class WHERE relname = 'wide'));
	my $went = outcome($query, @settings, work_mem => '4MB');

	cmp_ok($pages, '>', 8192, 'a table of many pages');
	like($went->{plan}, qr/Rows: fetched by TID/, 'late rows');
	is($went->{memory_kb}, 16384 * 8 / 1024, 'late rows: pages are counted');
	$went = outcome($query, @settings, work_mem => '64kB');
	cmp_ok($went->{memory_kb}, '<=', 64, 'late rows: ... and are fewer in a small limit');
	cmp_ok($went->{memory_kb}, '>', 0, 'late rows: ... but some');
	same_answer($node, $query, 'late rows in 64 kB', @settings, work_mem => '64kB');
}

# A database's own collation is expected to take what it takes by its name.
{
	$node->safe_psql('postgres', q(CREATE DATABASE by_libc TEMPLATE template0 LOCALE_PROVIDER libc LOCALE 'en_US.UTF-8'));
	$node->safe_psql('by_libc', q(
		CREATE COLLATION en_us (provider = libc, locale = 'en_US.UTF-8');
		CREATE TABLE names AS SELECT md5(i::text) AS own, md5(i::text) COLLATE en_us AS named FROM generate_series(1, 10000) i;
		ANALYZE names));
	my ($own, $named) = map { $node->safe_psql('by_libc', "SET gpusort.force = on; EXPLAIN SELECT * FROM names ORDER BY $_") =~ /(GpuSort\).*)/ }
		qw(own named);
	like($own, qr/cost=/, "sorted by the database's collation");
	is($own, $named, '... which costs the same by its name');
}

$node->stop;
done_testing();
