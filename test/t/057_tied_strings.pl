# Strings under collations that begin alike, such as URLs: all rows tie on what the engine sorts by, and
# their keys would take more memory than there is.  No sort is handed over for that, and no index
# build given up, however many rows tie.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 5000;
my $node = start_node('main', 'gpusort.force = on', 'hash_mem_multiplier = 1', "gpusort.pool_size = '40MB'", 'max_parallel_workers_per_gather = 0',
	'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'gpusort.cost_gather = 0', 'min_parallel_table_scan_size = 0', 'max_parallel_workers = 8',
	'gpusort.late_rows = off', 'enable_hashagg = off', 'max_parallel_maintenance_workers = 0');

# Strings that differ in letters, in case, in punctuation, in characters of which no weights are known, far behind
# what they share; that are the same; and none.
$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE COLLATION en (provider = libc, locale = 'en_US.UTF-8');
	CREATE COLLATION de (provider = libc, locale = 'de_DE.UTF-8');
	CREATE FUNCTION tied(i int) RETURNS text IMMUTABLE LANGUAGE sql AS \$\$
		SELECT 'https://www.example.com/' || CASE abs(hashint4(i)) % 8
			WHEN 0 THEN 'shop/' || (ARRAY['north', 'south', 'Blue', 'blue', 'BLUE'])[1 + i % 5] || '-' || i % 997
			WHEN 1 THEN 'shop/' || md5(i::text)
			WHEN 2 THEN 'größe/' || md5((i % 1000)::text)
			WHEN 3 THEN 'shop/' || (ARRAY['-', '--', '/', '?', '.', ' ', '_', '~'])[1 + i % 8] || (ARRAY['x', 'X', ''])[1 + i % 3]
			WHEN 4 THEN 'shop/ü' || chr(256 + i % 200) || i % 131
			WHEN 5 THEN CASE WHEN i % 2 = 0 THEN repeat('long/', i % 80) || i % 3 ELSE repeat('ö', i % 600) END
			WHEN 6 THEN repeat('LÖNG/', i % 90) || repeat('-', i % 9) || i % 3
			ELSE 'shop' END
	\$\$;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i, CASE WHEN i % 50 > 0 THEN tied(i) END AS s, (i % 7)::text || tied(i % 400) AS other FROM generate_series(1, $rows) i;
	VACUUM ANALYZE t));
create_index_checks($node);
tables_stay();
my $pool_bytes = service($node, 'pool_bytes_free');

# Rows that spill; that fit into private memory, and into the pool, where their keys don't.
my @memories = ([ 'spilled', work_mem => '64kB', 'gpusort.pool_quota' => 0 ],
	[ 'in memory', work_mem => '2MB', 'gpusort.pool_quota' => 0 ],
	[ 'in the pool', work_mem => '64kB', 'gpusort.pool_quota' => 75 ]);

# A session knows the weights of characters under a collation of ICU's when it has asked for many.
my $learn = q(SELECT count(*) FROM (SELECT i FROM generate_series(1, 25000) i ORDER BY i::text || 'é' COLLATE "en-x-icu" OFFSET 0) s);

sub is_sorted_here
{
	my ($query, $label, @settings) = @_;
	my $analyzed = analyzed_plan_of($node, $query, @settings);

	unlike($analyzed, qr/Handed Over|external/, "$label: not handed over") or diag $analyzed;
	same_answer($node, $query, $label, @settings);
	if ($query =~ /icu/)
	{
		my $digest = ordered_digest($query);

		is(GpuSortTest::run_with($node, "$learn; $digest", @settings), GpuSortTest::run_with($node, "SELECT 25000; $digest", 'gpusort.enabled' => 'off'),
			"$label: ... with weights that are known");
	}
	return $analyzed;
}

if (part('sorts'))
{
	for my $collation ('en', '"en-x-icu"')
	{
		for my $memory (@memories)
		{
			my ($where, @settings) = @$memory;
			my @orders = ("s COLLATE $collation, i", "s COLLATE $collation DESC NULLS LAST, other COLLATE $collation, i DESC");

			for my $order (@orders)
			{
				my $analyzed = is_sorted_here("SELECT i, s, other FROM t ORDER BY $order", "ORDER BY $order, $where", @settings);

				like($analyzed, $where eq 'spilled' ? qr/Spilled/ : qr/Sort Method: radix(?!.*Spilled)/s, "ORDER BY $order: $where");
				is_sorted_here("SELECT i, s, other FROM t ORDER BY $order LIMIT 700", "ORDER BY $order LIMIT, $where", @settings);
			}
		}
	}

	# What reads sorted rows otherwise: collected by workers, in slices, without those that are equal.
	my %queries = (
		'strings that are equal' => 'SELECT s COLLATE en AS s FROM t GROUP BY 1 ORDER BY 1',
		'strings that are counted' => 'SELECT i % 10 AS k, count(DISTINCT s COLLATE en), min(i) FROM t GROUP BY 1 ORDER BY 1',
		'windows' => 'SELECT s, i, rank() OVER (PARTITION BY i % 3 ORDER BY s COLLATE de, i) FROM t ORDER BY i % 3, s COLLATE de, i',
		'two collations' => 'SELECT i, s FROM t ORDER BY other COLLATE "en-x-icu", s COLLATE en, i');

	for my $label (sort keys %queries)
	{
		for my $memory (@memories)
		{
			my ($where, @settings) = @$memory;

			is_sorted_here($queries{$label}, "$label, $where, $_ workers", @settings, max_parallel_workers_per_gather => $_) for 0, 2;
		}
	}
	nothing_is_left($node, $pool_bytes, 'sorts');
}

# Strings that differ in case alone have keys of several times their length, which are kept while they are put in order: they are
# in the memory that EXPLAIN shows.
my $cases = q(CASE WHEN hashint4(i) & (1 << j) = 0 THEN md5('x') ELSE upper(md5('x')) END);

$node->safe_psql('postgres', "CREATE TABLE cases AS SELECT i, (SELECT string_agg($cases, '') FROM generate_series(0, 11) j) AS s FROM generate_series(1, $rows) i;
	VACUUM ANALYZE cases");

sub memory_kb
{
	my ($plan) = analyzed_plan_of($node, @_) =~ /Sort Method: radix  Memory: (\d+)kB/;

	return $plan;
}

if (part('memory'))
{
	my @settings = (work_mem => '64MB', 'gpusort.pool_quota' => 0);
	my ($bytes, $keys) = map { memory_kb("SELECT i, s FROM cases ORDER BY s COLLATE $_", @settings) } '"C"', 'en';
	my $strings = $rows * 12 * 32 / 1024;

	cmp_ok($keys, '>', $bytes + 2 * $strings, 'memory of keys that are made');
	is_sorted_here('SELECT i, s FROM cases ORDER BY s COLLATE en, i', 'strings that differ in case', @settings);
}

# Indexes: those that we build list the same tuples in the same order as PostgreSQL's, TIDs of equal ones too.
my %columns = (
	'en' => 's COLLATE en',
	'descending' => 's COLLATE de DESC NULLS LAST, other COLLATE en',
	'icu' => 'other COLLATE "en-x-icu", s COLLATE "en-x-icu"',
	'unique' => 's COLLATE en, i');

sub tuples_in
{
	my ($label) = @_;
	my $order = $columns{$label};

	return $node->safe_psql('postgres', qq(SET enable_seqscan = off; SET enable_bitmapscan = off; SET gpusort.enabled = off; SET enable_sort = off;
		SELECT md5(string_agg(ctid::text, ',')) FROM (SELECT ctid FROM t ORDER BY $order) s));
}

sub build
{
	my ($label, @settings) = @_;
	my $unique = $label eq 'unique' ? 'UNIQUE' : '';
	my $set = join '', map { "SET $_;" } @settings;

	return $node->safe_psql('postgres', qq($set DROP INDEX IF EXISTS built; CREATE $unique INDEX built ON t ($columns{$label});
		SELECT built, given_up, left_alone FROM gpusort_index_builds()));
}

if (part('indexes'))
{
	for my $label (sort keys %columns)
	{
		is(build($label, 'gpusort.enabled = off'), '0|0|0', "$label: built by PostgreSQL");
		my $theirs = tuples_in($label);

		for my $memory ([ '1MB', 0 ], [ '4MB', 0 ], [ '1MB', 75 ])
		{
			my ($mem, $quota) = @$memory;

			for my $workers (0, 2)
			{
				my $how = "$label in $mem, quota $quota, $workers workers";
				my $built = build($label, "maintenance_work_mem = '$mem'", "gpusort.pool_quota = $quota", "max_parallel_maintenance_workers = $workers");

				is($built, '1|0|0', "$how: built");
				is(tuples_in($label), $theirs, "$how: as PostgreSQL builds it");
			}
		}
		is($node->safe_psql('postgres', 'SELECT check_indexes()'), '1 valid', "$label: checked");
	}
	$node->safe_psql('postgres', 'DROP INDEX built');
	for my $enabled ('off', 'on')
	{
		my (undef, $err) = session_of($node, "SET gpusort.enabled = $enabled", "SET maintenance_work_mem = '1MB'", 'SET gpusort.pool_quota = 0',
			q(CREATE UNIQUE INDEX broken ON t (s COLLATE en) WHERE s ~ 'shop$' AND i < 60 OR i % 2 = 0 AND s ~ 'North|[a-f0-9]{32}$'));
		like($err, qr/could not create unique index "broken"/, "duplicates are found, gpusort.enabled = $enabled");
	}
}

# Strings whose keys are larger than all memory, and which their letters don't decide.
if (part('large'))
{
	$node->safe_psql('postgres', q(
		CREATE TABLE large AS SELECT i, (ARRAY['a', 'A', 'á', 'Á'])[1 + i % 4] || repeat('x', 120000) || i % 5 AS s FROM generate_series(1, 60) i;
		VACUUM ANALYZE large));
	for my $collation ('en', '"en-x-icu"')
	{
		# without the pool, 64 kB have no room for a value
		for my $memory ($memories[1], [ 'in the pool', work_mem => '64kB', 'gpusort.pool_quota' => 50 ])
		{
			my ($where, @settings) = @$memory;

			is_sorted_here("SELECT * FROM large ORDER BY s COLLATE $collation, i", "large keys, $collation, $where", @settings);
		}
		is($node->safe_psql('postgres', qq(SET maintenance_work_mem = '1MB'; SET gpusort.pool_quota = 0; DROP INDEX IF EXISTS large_s;
			CREATE UNIQUE INDEX large_s ON large (s COLLATE $collation, i); SELECT built, given_up, left_alone FROM gpusort_index_builds())),
			'1|0|0', "large keys, $collation: an index");
		is($node->safe_psql('postgres', 'SELECT check_indexes()'), '1 valid', "large keys, $collation: checked");
		(undef, my $err) = session_of($node, "SET maintenance_work_mem = '1MB'", 'SET gpusort.pool_quota = 0', "CREATE UNIQUE INDEX broken ON large (s COLLATE $collation)");
		like($err, qr/could not create unique index "broken"/, "large keys, $collation: duplicates are found");
	}
	nothing_is_left($node, $pool_bytes, 'builds');
}

# Cancelled and terminated while ties are put in order, which takes nearly all of the time where keys are long.  Which
# phase has ended so is the last of the trace; as another may have begun before the signal came, it is tried again.
$node->safe_psql('postgres', q(
	CREATE TABLE slow AS SELECT i, (ARRAY['a', 'A', 'á', 'Á'])[1 + i % 4] || repeat('x', 20000) || i % 5 AS s FROM generate_series(1, 100) i;
	VACUUM ANALYZE slow));
my $trace = PostgreSQL::Test::Utils::tempdir . '/trace.json';
my %signals = (pg_cancel_backend => qr/ERROR:  57014: canceling statement due to user request/,
	pg_terminate_backend => qr/FATAL:  57P01: terminating connection due to administrator command/);

sub last_phase
{
	my @phases = -e $trace ? slurp_file($trace) =~ /"name": *"([^"]+)"[^}]*"ph": *"X"/g : ();

	return @phases ? $phases[-1] : '';
}

# Run statements, of which the last one is to be interrupted where the condition is true of its sort ("s"), and what
# tells afterwards whether the same is done rightly: in the session that was cancelled, or another one.
sub interrupt_refinement
{
	my ($label, $function, $condition, $settings, $statements, $after, $expected) = @_;
	my $round = join('', map { "$_;\n" } @$statements) .
		"\\if :ERROR\n\\o\nROLLBACK; RESET gpusort.trace_file;\n$after;\n\\q\n\\endif\nROLLBACK;\n";
	my ($out, $err);

	for (1 .. 20)
	{
		unlink $trace;
		($out, $err) = interrupt_when($node, $function,
			"EXISTS (SELECT FROM pg_stat_gpusort_activity s WHERE s.pid = a.pid AND phase = 'refining' AND $condition)",
			"\\set VERBOSITY verbose\n\\o /dev/null\nSET client_min_messages = error; SET gpusort.trace_file = '$trace';\n$settings;\n" . $round x 20);
		last if last_phase() eq 'refining';
	}
	is(last_phase(), 'refining', "$label, $function: ties were being put in order");
	is(join(' ', $err =~ /((?:ERROR|FATAL|PANIC):  \w+)/g), $signals{$function} =~ /(\w+:  \w+)/ ? $1 : '', "$label, $function: no other error");
	like($err, $signals{$function}, "$label, $function: PostgreSQL's error");
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE application_name = 'victim'") or die "the session has not ended\n";
	nothing_is_left($node, $pool_bytes, "$label, $function");
	$out = $node->safe_psql('postgres', "$settings; $after") if $function eq 'pg_terminate_backend';
	is($out =~ s/\s+\z//r, $expected, "$label, $function: the next one is right");
}

if (part('cancel'))
{
	for my $collation ('en', '"en-x-icu"')
	{
		my $query = "SELECT * FROM slow ORDER BY s COLLATE $collation, i";
		my $digest = ordered_digest($query);
		my $sorted = run_with($node, $digest, 'gpusort.enabled' => 'off');
		my $tids = "SELECT md5(string_agg(ctid::text, ',')) FROM (SELECT ctid FROM slow ORDER BY s COLLATE $collation, i) q";
		my $indexed = run_with($node, $tids, 'gpusort.enabled' => 'off');
		my @build = ('BEGIN', "CREATE INDEX slow_s ON slow (s COLLATE $collation, i)");
		my $built = "BEGIN; $build[1]; SELECT built, given_up FROM gpusort_index_builds();
			SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; SET LOCAL gpusort.enabled = off; $tids; ROLLBACK";

		for my $place ([ 'a run', '1MB', 0, 'rows < 100' ], [ 'a portion', '1MB', 0, "a.query ~ '^MOVE ALL'" ], [ 'in memory', '8MB', 0, 'true' ], [ 'in the pool', '64kB', 75, 'true' ],
			[ 'by workers', '64kB', 75, "EXISTS (SELECT FROM pg_stat_activity w WHERE w.leader_pid = a.pid AND w.pid <> a.pid)" ])
		{
			my ($where, $mem, $quota, $condition) = @$place;
			my @statements = $where eq 'a portion' ? ('BEGIN', "DECLARE c CURSOR FOR $query", 'MOVE 1 IN c', 'MOVE ALL IN c') : ('BEGIN', $digest);

			my $workers = $where eq 'by workers' ? 2 : 0;

			interrupt_refinement("$collation, $where", $_, $condition,
				"SET work_mem = '$mem'; SET gpusort.pool_quota = $quota; SET gpusort.max_sort_workers = $workers; SET gpusort.min_sort_worker_rows = 10",
				\@statements, $digest, $sorted) for sort keys %signals;
		}
		# the phase is the same code for both
		next if $collation ne 'en';
		for my $place ([ 'a run', '1MB', 0, 'rows < 100' ], [ 'a portion', '1MB', 0, "EXISTS (SELECT FROM pg_stat_progress_create_index p WHERE p.pid = a.pid AND p.phase ~ 'loading')" ], [ 'in memory', '8MB', 0, 'true' ], [ 'in the pool', '1MB', 75, 'true' ])
		{
			my ($where, $mem, $quota, $condition) = @$place;

			interrupt_refinement("an index, $collation, $where", $_, $condition, "SET maintenance_work_mem = '$mem'; SET gpusort.pool_quota = $quota",
				\@build, $built, "1|0\n$indexed") for sort keys %signals;
		}
	}
}
$node->stop;
done_testing();
