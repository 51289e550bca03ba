# Limits of memory: input that does not fit, values without an encoding and orders
# that are not confirmed go on in PostgreSQL's tuplesort; finished sorts keep no
# more memory than allowed.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'max_parallel_workers_per_gather = 0', 'gpusort.force = on', 'hash_mem_multiplier = 1', 'gpusort.enable_spill = off',
	'gpusort.pool_size = 0');

$node->safe_psql('postgres', q(
	CREATE TABLE t AS
	SELECT i, hashint8(i) AS h, (hashint8(i) % 1000)::int2 AS few, md5(i::text) COLLATE "C" AS m,
		CASE WHEN i % 7 <> 0 THEN hashint8(i)::numeric / 7 END AS n
	FROM generate_series(1, 100000) i;
	VACUUM ANALYZE t;
	CREATE FUNCTION anonymous_kb() RETURNS int LANGUAGE sql AS
	$$ SELECT (regexp_match(pg_read_file('/proc/self/status'), 'RssAnon:\s+(\d+)'))[1]::int $$));
tables_stay();

my @orders = ('h, i', 'few DESC, m', 'm DESC', 'n NULLS FIRST, i DESC');
my $analyzed;

# Enough memory: no handover.
for my $order (@orders)
{
	$analyzed = analyzed_plan_of($node, "SELECT * FROM t ORDER BY $order", work_mem => '256MB');
	unlike($analyzed, qr/Handed Over/, "ORDER BY $order: fits");
	like($analyzed, qr/rows=100000/, "ORDER BY $order: every row comes out");
	same_answer($node, "SELECT * FROM t ORDER BY $order", "ORDER BY $order", work_mem => '256MB');
}

# Too little: tuplesort takes over, and nothing else changes.
for my $work_mem ('64kB', '1MB', '4MB')
{
	for my $order (@orders)
	{
		my $label = "ORDER BY $order in $work_mem";

		$analyzed = analyzed_plan_of($node, "SELECT * FROM t ORDER BY $order", work_mem => $work_mem);
		like($analyzed, qr/Custom Scan \(GpuSort\)/, "$label: ours");
		like($analyzed, qr/Handed Over: memory limit reached after \d+ rows/, "$label: handed over");
		like($analyzed, qr/Sort Method: external merge  Disk: \d+kB/, "$label: tuplesort spills");
		same_answer($node, "SELECT * FROM t ORDER BY $order", $label, work_mem => $work_mem);
	}
}
is_deeply([ temp_files($node) ], [], 'no temporary files are left');

# hash_mem_multiplier counts.
$analyzed = analyzed_plan_of($node, 'SELECT h FROM t ORDER BY h', work_mem => '2MB', hash_mem_multiplier => '1');
like($analyzed, qr/Handed Over/, 'hash_mem_multiplier = 1: handed over');
$analyzed = analyzed_plan_of($node, 'SELECT h FROM t ORDER BY h', work_mem => '2MB', hash_mem_multiplier => '16');
unlike($analyzed, qr/Handed Over/, 'hash_mem_multiplier = 16: fits');

# Without force the planner leaves to PostgreSQL what it expects not to fit.
unlike(plan_of($node, 'SELECT * FROM t ORDER BY h', 'gpusort.force' => 'off', 'gpusort.min_rows' => 0, work_mem => '64kB'),
	qr/GpuSort/, 'an input estimated too large is left to PostgreSQL');

# Injected faults
my %reason = (
	memory => 'memory limit reached',
	codec => 'value without encoding',
	verify => 'order not confirmed');
for my $fault (sort keys %reason)
{
	for my $work_mem ('256MB', '1MB')
	{
		my @settings = ('gpusort.inject_fault' => $fault, 'gpusort.verify' => 'on', work_mem => $work_mem);
		my $label = "fault $fault in $work_mem";

		$analyzed = analyzed_plan_of($node, 'SELECT * FROM t ORDER BY n, i', @settings);
		like($analyzed, $work_mem eq '1MB' ? qr/Handed Over/ : qr/Handed Over: $reason{$fault}/, "$label: handed over");
		same_answer($node, 'SELECT * FROM t ORDER BY n, i', $label, @settings);
	}
	# mark and restore, rescans and backward reads on what tuplesort has taken over
	same_answer($node, 'SELECT a.i AS ai, b.i AS bi FROM (SELECT * FROM t WHERE i <= 3000) a
		JOIN (SELECT * FROM t WHERE i <= 3000) b ON a.few = b.few ORDER BY a.few, a.i, b.i',
		"merge join, fault $fault", 'gpusort.inject_fault' => $fault, 'gpusort.verify' => 'on', enable_hashjoin => 'off', enable_nestloop => 'off');
	same_answer($node, 'SELECT g, s.* FROM generate_series(1, 5) g,
		LATERAL (SELECT i, h FROM t WHERE i % 1000 = g ORDER BY h, i OFFSET 1) s ORDER BY g, s.h, s.i',
		"rescan, fault $fault", 'gpusort.inject_fault' => $fault, 'gpusort.verify' => 'on');
}

# Memory of finished sorts is kept up to gpusort.keep_memory, and not above.
for my $case ([ '0', 0 ], [ '8MB', 8 * 1024 ], [ '256MB', 256 * 1024 ])
{
	my ($setting, $limit_kb) = @$case;
	my ($out, $err) = session_of($node, "SET gpusort.keep_memory = '$setting'", "SET work_mem = '256MB'",
		'SELECT anonymous_kb()',
		(map { 'SELECT count(*) FROM (SELECT * FROM t ORDER BY h OFFSET 0) s' } 1 .. 5),
		'SELECT anonymous_kb()');
	my @lines = split /\n/, $out;

	is($err, '', "keep_memory = $setting: no error");
	cmp_ok($lines[-1] - $lines[0], '<', $limit_kb + 12 * 1024, "keep_memory = $setting: bounded");
}

# An administrator limits that, for sessions that have kept more already, too.
{
	my @sorts = map { 'SELECT count(*) FROM (SELECT * FROM t ORDER BY h OFFSET 0) s' } 1 .. 2;
	my ($out, $err) = session_of($node, "SET gpusort.keep_memory = '256MB'", "SET work_mem = '256MB'",
		'SELECT anonymous_kb()', @sorts, 'SELECT anonymous_kb()',
		"SET gpusort.keep_memory_limit = '1MB'", 'SELECT anonymous_kb()',
		"SET gpusort.keep_memory = '512MB'", @sorts, 'SELECT anonymous_kb()',
		'RESET gpusort.keep_memory_limit', @sorts, 'SELECT anonymous_kb()');
	my @kb = (split /\n/, $out)[ 0, 3, 4, 7, 10 ];

	is($err, '', 'keep_memory_limit: no error');
	cmp_ok($kb[1] - $kb[0], '>', 4 * 1024, 'keep_memory: memory is kept');
	cmp_ok($kb[2] - $kb[0], '<', $kb[1] - $kb[2], 'keep_memory_limit: it goes when the limit is set');
	cmp_ok($kb[3] - $kb[0], '<', $kb[1] - $kb[3], '... and no more is kept, whatever keep_memory says');
	cmp_ok($kb[4] - $kb[0], '>', 4 * 1024, '... until there is no limit');

	$node->safe_psql('postgres', 'CREATE ROLE somebody LOGIN; ALTER ROLE somebody SET gpusort.keep_memory_limit = \'2MB\'');
	($out, $err) = session_of($node, 'SET SESSION AUTHORIZATION somebody', 'SET gpusort.keep_memory_limit = -1');
	like($err, qr/permission denied to set parameter/, 'keep_memory_limit: superusers only');
	is($node->safe_psql('postgres', 'SHOW gpusort.keep_memory_limit', extra_params => [ '-U', 'somebody' ]), '2MB',
		'keep_memory_limit: of a role');
}

# Without a pool workers can't map the rows of a sort, so none are asked to write them.
{
	my @workers = ('gpusort.slice_pages' => 4, max_parallel_workers_per_gather => 2, max_parallel_maintenance_workers => 2,
		'gpusort.force' => 'on', work_mem => '256MB');
	my $unsorted = q(SELECT count(*), sum((h < before)::int)
		FROM (SELECT h, lag(h) OVER (ORDER BY ctid) AS before FROM %s) s);

	for my $put ('CREATE TABLE sorted AS SELECT h, i FROM t ORDER BY h', 'INSERT INTO inserted SELECT h, i FROM t ORDER BY h',
		"COPY (SELECT h, i FROM t ORDER BY h) TO '/dev/null'", 'CLUSTER clustered USING clustered_h')
	{
		my ($table) = $put =~ /(\w+ed)\b/;

		$node->safe_psql('postgres', 'CREATE TABLE inserted (h int, i int)') if $put =~ /^INSERT/;
		$node->safe_psql('postgres', 'CREATE TABLE clustered AS SELECT h, i FROM t ORDER BY i; CREATE INDEX clustered_h ON clustered (h)')
			if $put =~ /^CLUSTER/;
		is(run_with($node, $put, @workers), '', "no pool, workers: $put");
		is($node->safe_psql('postgres', sprintf($unsorted, $table)), '100000|0', "... $table") if $table;
	}
}

$node->stop;
done_testing();
