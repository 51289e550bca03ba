# Participants of a shared sort, of sides of a join, of an index build and of CLUSTER, who help to put the
# rows in order, ties of long strings among them, and to verify it, while they wait for them, and those
# who have collected the rows of a sort above a Gather: whatever the keys and the memory, the answer is
# PostgreSQL's; one that
# comes late helps; and the session goes on when they are stopped.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 256MB', 'gpusort.force = on', 'max_worker_processes = 12', 'max_parallel_workers = 12',
	'max_parallel_workers_per_gather = 2', 'max_parallel_maintenance_workers = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0',
	'enable_hashjoin = off', 'enable_nestloop = off', 'enable_hashagg = off', 'enable_material = off', 'enable_incremental_sort = off', 'work_mem = 64MB',
	map { "gpusort.cost_$_ = 0" } 'startup', 'row', 'key_byte', 'key_collated', 'row_byte', 'emit', 'gather');

# A worker is late that has its row of the outer side only when the leader sorts the inner one.
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE COLLATION en (provider = libc, locale = 'en_US.UTF-8');
	CREATE TABLE t WITH (parallel_workers = 2) AS SELECT i, hashint8extended(i, 0) AS h, CASE WHEN i % 11 <> 0 THEN i % 100 END AS few,
			'a/b/' || hashint4(i) % 5000 AS s, hashint8(i)::numeric / 7 AS n,
			left(md5((i % 3000)::text), 4) || (ARRAY['1-B', '-1b-', '1b', '1B-', 'x'])[CASE WHEN i % 30 = 0 THEN 1 + abs(hashint4(i)) % 4 ELSE 5 END] AS odd
		FROM generate_series(1, 40000) i;
	CREATE TABLE strings WITH (parallel_workers = 2) AS SELECT i, i % 3 AS few,
			CASE WHEN i % 50 > 0 THEN 'https://www.example' || CASE WHEN i % 10 = 0 THEN (i % 30)::text ELSE '' END || '.com/' || CASE abs(hashint4(i)) % 8
				WHEN 0 THEN (ARRAY['north', 'south', 'Blue', 'blue', 'BLUE'])[1 + i % 5] || '-' || i % 997
				WHEN 1 THEN 'größe/' || i % 1000
				WHEN 2 THEN 'shop/' || (ARRAY['-', '--', '/', '?', '.', ' ', '_', '~'])[1 + i % 8] || (ARRAY['x', 'X', ''])[1 + i % 3]
				WHEN 3 THEN 'ü' || chr(256 + i % 200) || i % 131
				WHEN 4 THEN repeat('long/', i % 30) || i % 3
				ELSE 'shop/' || md5((i % 7000)::text) END END AS l,
			CASE WHEN i % 7 > 0 THEN 'behind all that is the same ' || repeat('x', i % 3) || hashint4(i) % 100 END AS other
		FROM generate_series(1, 20000) i;
	CREATE TABLE alike WITH (parallel_workers = 2) AS SELECT i, CASE WHEN i % 100 = 0 THEN 'ftp' ELSE 'https' END || '://example.com/' || hashint4(i) % 50000 AS u FROM generate_series(1, 200000) i;
	CREATE TABLE wide (i int, w text);
	ALTER TABLE wide ALTER w SET STORAGE EXTERNAL;
	INSERT INTO wide SELECT i, CASE WHEN i % 5 = 0 THEN repeat('wide ' || i % 20 || ' ', 500 + i % 2000) ELSE repeat('k', i % 40) || i % 9 END FROM generate_series(1, 8000) i;
	CREATE TABLE lone WITH (parallel_workers = 1, fillfactor = 10) AS SELECT i, repeat('x', 1000) AS pad FROM generate_series(1, 10) i;
	CREATE FUNCTION is_late(int) RETURNS bool LANGUAGE plpgsql PARALLEL SAFE VOLATILE AS $$
		DECLARE
			leader int := current_setting('test.leader');
			until timestamptz := clock_timestamp() + interval '5 s';
		BEGIN
			WHILE clock_timestamp() < until AND CASE WHEN pg_backend_pid() = leader
				THEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE leader_pid = leader AND pid <> leader AND wait_event = 'PgSleep')
				ELSE NOT EXISTS (SELECT FROM pg_stat_gpusort_activity WHERE pid = leader AND phase = 'sorting') END
			LOOP
				PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
			END LOOP;
			RETURN true;
		END $$;
	CREATE FUNCTION retried() RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE found bigint;
		BEGIN
			BEGIN
				SELECT sum(1 / (r - 100)) INTO found FROM (SELECT rank() OVER (PARTITION BY few ORDER BY h) AS r FROM t) s;
			EXCEPTION WHEN division_by_zero THEN
				SELECT sum(r * (h % 1000)) % 1000003 INTO found FROM (SELECT h, row_number() OVER (PARTITION BY few ORDER BY h) AS r FROM t) s;
			END;
			RETURN found;
		END $$;
	VACUUM ANALYZE));
my $pool_bytes = service($node, 'pool_bytes_free');

# How many processes have put the rows of each sort of one kind in order.
sub processes_of_kind
{
	my ($kind, @query) = @_;

	return join ' ', map { $_ // 1 } analyzed_plan_of($node, @query) =~ /GpuSort$kind\).*?Engine: host(?:  Processes: (\d+))?/gs;
}

sub processes_of
{
	return processes_of_kind(' Shared', @_);
}

# On a busy machine one process may have done all before there are others.
sub by_several
{
	my ($kind, @query) = @_;
	my $processes = '';

	for (1 .. 20)
	{
		$processes = processes_of_kind($kind, @query);
		last if $processes =~ /^[23](?: [23])*$/;
	}
	return $processes;
}

tables_stay();
my %queries = (
	windows => 'SELECT few, i, rank() OVER (PARTITION BY few ORDER BY h) AS r FROM t',
	'windows by strings' => 'SELECT s, i, row_number() OVER (PARTITION BY s COLLATE "C" ORDER BY n, i) AS r FROM t',
	distinct => 'SELECT DISTINCT h, few FROM t',
	'distinct strings' => 'SELECT DISTINCT s COLLATE "C" AS s FROM t',
	# on the order of some of these glibc's functions disagree
	'windows under a collation' => 'SELECT odd, i, row_number() OVER (PARTITION BY few ORDER BY odd COLLATE en, i) AS r FROM t',
	'distinct under a collation' => 'SELECT DISTINCT odd COLLATE en AS s FROM t',
	# all rows are one run that is put in order at once
	'strings that differ in case' => q(SELECT DISTINCT (ARRAY['word', 'Word', 'WORD', 'woRd'])[1 + abs(hashint4(i)) % 4] COLLATE en AS l FROM strings),
	# runs of most rows, of some, and of few
	(map { ("long strings, $_" => "SELECT i, few, l, other, row_number() OVER (PARTITION BY few ORDER BY l COLLATE $_, other COLLATE $_ DESC NULLS LAST, i) AS r FROM strings",
		"distinct long strings, $_" => "SELECT DISTINCT l COLLATE $_ AS l, other FROM strings") } '"C"', 'en', '"en-x-icu"'),
	numbers => 'SELECT n, string_agg(i::text, chr(44) ORDER BY i) FROM t GROUP BY n',
	join => 'SELECT a.i, b.few FROM t a JOIN t b USING (h) WHERE a.i + b.i > 0',
	'join of strings' => 'SELECT a.i, b.i AS j FROM t a JOIN t b ON a.s = b.s AND b.i < 1000');
my $window = "SELECT count(*), sum(r) FROM ($queries{windows}) s";
my @unforced = ('gpusort.force' => 'off', 'gpusort.min_rows' => 0);

if (part('shared'))
{
	for my $label (sort keys %queries)
	{
		my $query = "SELECT * FROM ($queries{$label}) s ORDER BY s::text";
		my $processes = '';

		same_answer($node, $query, $label);
		same_answer($node, $query, "$label, verified", 'gpusort.verify' => 'on');
		same_answer($node, $query, "$label, no room", 'gpusort.pool_quota' => 2);
		same_answer($node, $query, "$label, spilled", 'gpusort.pool_quota' => 8, work_mem => '64kB');
		same_answer($node, $query, "$label, without the leader", parallel_leader_participation => 'off');
		same_answer($node, $query, "$label, little memory for keys", work_mem => '64kB') if $label =~ /strings/;
		for (1 .. 20)
		{
			$processes = processes_of($queries{$label});
			last if $processes =~ /[23]/;
		}
		like($processes, qr/[23]/, "$label: sorted by several");
	}
	is($node->safe_psql('postgres', 'SELECT retried()'), run_with($node, 'SELECT retried()', 'gpusort.enabled' => 'off'), 'in a function that catches an error');

	# Few rows are sorted by one if that is not forced; and so are those that nobody waits for.
	is(processes_of($window, @unforced), 1, 'few rows are sorted by one');
	is(processes_of($window, max_parallel_workers => 0), 1, 'there is nobody to help');

	# The leader puts rows in order, a phase in a tenth of a second, when the worker comes.
	my $late = '';
	for (1 .. 10)
	{
		$late = $node->safe_psql('postgres', q(
			SELECT set_config('test.leader', pg_backend_pid()::text, false);
			SET gpusort.inject_fault_at = 'a phase of a sort';
			SET gpusort.inject_fault = slow_slices;
			EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) SELECT count(b.h) FROM (SELECT i FROM lone WHERE is_late(i)) a LEFT JOIN t b ON a.i = b.i));
		last if $late =~ /Shared.*?Processes: 2/s;
	}
	like($late, qr/Shared.*?Engine: host  Processes: 2 .*Rows Collected: 40000 /s, 'one that comes late helps');
}

# Sorts of rows that participants collect, who help before they leave.
my $h = 'SELECT h, i FROM t ORDER BY h';
if (part('collected'))
{
	my %collected = (
		all => 'SELECT * FROM t ORDER BY h',
		keys => 'SELECT h FROM t ORDER BY h',
		strings => 'SELECT s, i FROM t ORDER BY s COLLATE "C" DESC, i',
		'long strings' => 'SELECT i, l FROM strings ORDER BY l COLLATE en, other COLLATE "C", i',
		# two runs of which each is too heavy for one process
		'strings that begin alike' => q(SELECT * FROM (SELECT CASE WHEN i % 2 = 0 THEN 'https://example.com/' ELSE 'http://bexample.com/' END || s AS u, i FROM t) v ORDER BY u COLLATE "C", i),
		'numbers and nulls' => 'SELECT few, n, i FROM t ORDER BY few NULLS FIRST, n DESC, i',
		'first rows' => "$h LIMIT 7",
		'half of the rows' => "$h LIMIT 20000",
		'a join of rows' => "SELECT few.i, s.h FROM generate_series(1, 3) few(i), ($h OFFSET 39000) s",
		'rescans of others' => "SELECT o, (SELECT md5(string_agg(s.h::text, ' ')) FROM (SELECT h FROM t WHERE i < (SELECT max(f.i) FROM t f WHERE f.i <= o * 1000) ORDER BY h OFFSET 0) s) AS h FROM generate_series(1, 3) o");
	for my $label (sort keys %collected)
	{
		my $query = $collected{$label};

		same_answer($node, $query, $label);
		same_answer($node, $query, "$label, verified", 'gpusort.verify' => 'on');
		same_answer($node, $query, "$label, no room", 'gpusort.pool_quota' => 2);
		same_answer($node, $query, "$label, spilled", 'gpusort.pool_quota' => 8, work_mem => '64kB');
		same_answer($node, $query, "$label, some rows refused", 'gpusort.inject_fault' => 'codec');
		same_answer($node, $query, "$label, without the leader", parallel_leader_participation => 'off');
		same_answer($node, $query, "$label, workers come late", 'gpusort.inject_fault' => 'slow_slices', 'gpusort.inject_fault_at' => 'coming to a sort') if $label !~ /rescans/;
		like(by_several('', $query), qr/^[23]/, "$label: sorted by several");
	}
	# A run that is too heavy for one process is sorted by all, too.
	my $alike = 'SELECT * FROM alike ORDER BY u COLLATE "C", i';
	my $runs = '';
	same_answer($node, $alike, 'a heavy run');
	same_answer($node, $alike, 'a heavy run, no room', 'gpusort.pool_quota' => 2);
	for (1 .. 20)
	{
		$runs = analyzed_plan_of($node, $alike);
		last if $runs =~ /Processes: [23]/;
	}
	like($runs, qr/Engine: host  Processes: [23] .*Shared Runs: [1-9]/, 'a heavy run: sorted by several');
	unlike(analyzed_plan_of($node, $collected{all}), qr/Shared Runs/, '... if there are such');

	# PostgreSQL's workers keep to the first limit, and its answer is another then.
	my $more = "SELECT count(*), md5(string_agg(x || ' ' || h, ' ')) FROM (SELECT * FROM (VALUES (3), (10), (9000)) v(x), LATERAL ($h LIMIT x) s OFFSET 0) s";
	for my $settings ([], [ 'gpusort.verify' => 'on' ], [ 'gpusort.pool_quota' => 2 ], [ 'gpusort.inject_fault' => 'codec' ])
	{
		is(run_with($node, $more, @$settings), run_with($node, $more, 'gpusort.enabled' => 'off', max_parallel_workers_per_gather => 0), "rescans for more, @$settings");
	}
	like(by_several('', $more), qr/^[23]/, 'rescans for more: sorted by several');

	my $two = 'SELECT sum(r * (h % 1000)) FROM (SELECT h, row_number() OVER (ORDER BY h) AS r FROM t UNION ALL SELECT i, row_number() OVER (ORDER BY s, i) FROM t) s';
	is(run_with($node, $two), run_with($node, $two, 'gpusort.enabled' => 'off'), 'two collected sorts in one plan');
	like(by_several('', $two), qr/^[23] [23]$/, 'two collected sorts in one plan: each sorted by several');
	is(processes_of_kind('', $h, @unforced), 1, 'few rows are sorted by one');
	is(processes_of_kind('', $h, max_parallel_workers => 0), 1, 'there is nobody to help');
	is(processes_of_kind('', $h, parallel_leader_participation => 'off'), 1, 'workers leave if the leader does not come');
	like(by_several('', $h, 'gpusort.max_sort_workers' => 2, 'gpusort.min_sort_worker_rows' => 1000, parallel_leader_participation => 'off'), qr/^[23]$/, '... which may start others');

	# Keys that find no room with those who help are made by the one that has the sort: if it left out any
	# of what they leave to it, the order would not be confirmed.
	my $wide = 'SELECT i FROM wide ORDER BY w COLLATE "en-x-icu", i';
	my @helped = (max_parallel_workers_per_gather => 0, work_mem => '1MB', 'gpusort.max_sort_workers' => 2, 'gpusort.min_sort_worker_rows' => 100);
	same_answer($node, $wide, 'wide strings', @helped);
	like(by_several('', $wide, @helped), qr/^[23]$/, 'wide strings: sorted by several, and confirmed');

	# The same one comes late when the leader takes its time to sort.
	my $late = '';
	for (1 .. 10)
	{
		$late = analyzed_plan_of($node, $h, max_parallel_workers => 1, 'gpusort.inject_fault' => 'slow_slices', 'gpusort.inject_fault_at' => 'coming to a sort, a phase of a sort');
		last if $late =~ /Processes: 2/;
	}
	like($late, qr/GpuSort\).*Engine: host  Processes: 2 .*Rows Collected: 40000 .*Seq Scan on t \(actual rows=40000(?:\.00)? loops=1\)/s, 'one that comes late only helps');

	# A table made of the rows, and a cursor that is closed early.
	is($node->safe_psql('postgres', "CREATE TABLE made AS SELECT * FROM t ORDER BY h; SELECT count(*) FROM (SELECT h < lag(h) OVER (ORDER BY ctid) AS falls FROM made) s WHERE falls; DROP TABLE made"),
		0, 'a table is made in order');
	is($node->safe_psql('postgres', "BEGIN; DECLARE c CURSOR FOR $h; FETCH 2 FROM c; CLOSE c; SELECT count(*) FROM ($h OFFSET 0) s; COMMIT"),
		$node->safe_psql('postgres', "$h LIMIT 2") . "\n40000", 'a cursor is closed early');
}

# Indexes, of which the log tells.
if (part('indexes'))
{
	my @indexes = ([ 'CREATE INDEX made ON t (h)' ], [ 'CREATE UNIQUE INDEX made ON t (s COLLATE "C", i)' ], [ 'CREATE INDEX made ON t (few)', 'gpusort.verify' => 'on' ],
		[ 'CREATE INDEX made ON t (s, n DESC)', 'gpusort.verify' => 'on' ], [ 'CREATE INDEX made ON t (odd COLLATE en, i)' ],
		[ 'CREATE INDEX made ON strings (l COLLATE "C", other COLLATE "C")' ], [ 'CREATE INDEX made ON strings (other COLLATE en DESC, l COLLATE "en-x-icu")' ],
		[ 'CREATE INDEX made ON t (h)', 'gpusort.pool_quota' => 8, maintenance_work_mem => '1MB' ],
		[ 'CREATE INDEX made ON t (few)', 'gpusort.pool_quota' => 2, maintenance_work_mem => '1MB' ]);
	for my $case (@indexes)
	{
		my ($statement, @settings) = @$case;
		my @set = map { "SET $settings[2 * $_] = '$settings[2 * $_ + 1]'" } 0 .. @settings / 2 - 1;
		my ($out, $err);

		for (1 .. 20)
		{
			($out, $err) = session_of($node, @set, 'SET gpusort.log_min_duration = 0', 'SET client_min_messages = log', $statement, 'RESET client_min_messages',
				q(SELECT bt_index_parent_check('made', true, true)), 'DROP INDEX made', q(SELECT 'checked'));
			last if $err =~ /  processes: [23]/ || @settings > 2;
		}
		like($out, qr/^checked$/m, "$statement, @settings: the index is whole");
		unlike($err, qr/ERROR/, "$statement, @settings: no error");
		like($err, qr/sort for index: .* engine: host  processes: [23]/, "$statement, @settings: sorted by several") if @settings <= 2;
	}
	my (undef, $twice) = session_of($node, 'CREATE UNIQUE INDEX made ON t (few)');
	like($twice, qr/could not create unique index "made"/, 'one is refused');
}

# Tables in the order of an index; what is read does not fit in the last case.
my $by_several = qr/sort for cluster: .* engine: host  processes: [23]/;
$node->safe_psql('postgres', q(
	CREATE TABLE u (LIKE t) WITH (parallel_workers = 2);
	CREATE INDEX u_few_h ON u (few, h);
	CREATE INDEX u_s ON u ((s || 'x') COLLATE "C", i);
	INSERT INTO u TABLE t));
if (part('cluster'))
{
	for my $case ([ 'u_few_h' ], [ 'u_s' ], [ 'u_few_h', 'gpusort.verify' => 'on' ], [ 'u_few_h', 'gpusort.pool_quota' => 2, maintenance_work_mem => '1MB' ])
	{
		my ($index, @settings) = @$case;
		my $order = $index eq 'u_s' ? q((s || 'x') COLLATE "C", i) : 'few, h';
		my @set = map { "SET $settings[2 * $_] = '$settings[2 * $_ + 1]'" } 0 .. @settings / 2 - 1;
		my ($out, $err);

		for (1 .. 20)
		{
			($out, $err) = session_of($node, 'TRUNCATE u', 'INSERT INTO u TABLE t', @set, 'SET gpusort.log_min_duration = 0', 'SET client_min_messages = log', "CLUSTER u USING $index",
				'RESET client_min_messages', 'RESET gpusort.pool_quota',
				"SELECT count(*) FROM (SELECT *, row_number() OVER (ORDER BY ctid) AS r FROM u) u JOIN (SELECT i, row_number() OVER (ORDER BY $order) AS r FROM t) t USING (i, r)");
			last if $err =~ $by_several || @settings > 2;
		}
		is($out, '40000', "CLUSTER by $index, @settings: all in order");
		unlike($err, qr/ERROR/, "CLUSTER by $index, @settings: no error");
		like($err, $by_several, "CLUSTER by $index, @settings: sorted by several") if @settings <= 2;
	}
}

# The session goes on after each of these, and so does the transaction after the savepoint.
if (part('cancel'))
{
	my $ties = qq(SELECT count(*), sum(r) FROM ($queries{'long strings, "C"'}) s);
	for my $case ([ 'a phase of a sort', $window ], [ 'a phase of a sort', "SELECT count(*) FROM ($h OFFSET 0) s" ], [ 'a phase of a sort', 'SELECT count(*) FROM t a JOIN t b USING (h) WHERE a.i + b.i > 0' ],
		[ 'a phase of a sort', 'CREATE INDEX made ON t (h)' ], [ 'a phase of a sort', 'CLUSTER u USING u_few_h' ], [ 'a stretch of a sort', $ties ], [ 'a stretch of a sort', 'CREATE INDEX made ON strings (l COLLATE "C", i)' ],
		[ 'a stretch of a sort', $window, 'SET LOCAL gpusort.verify = on' ])
	{
		my ($part, $statement, @settings) = @$case;
		my ($out, $err) = session_of($node, "SET gpusort.inject_fault_at = '$part'", 'SET gpusort.inject_fault = slow_slices', 'BEGIN', 'SAVEPOINT s', @settings,
			q(SET LOCAL statement_timeout = '350ms'), $statement, 'ROLLBACK TO s', 'SET gpusort.inject_fault = none', reset_timeout(), $window, 'COMMIT');

		like($err, qr/canceling statement due to statement timeout/, "$statement: cancelled in $part");
		like($out, qr/^40000\|/m, "$statement: and the transaction goes on");
		nothing_is_left($node, $pool_bytes, "$statement, $part");
	}
}

# gpusortd fails or is lost while it sorts: those who wait put the rows in order.
if (part('daemon'))
{
	my $memory = 1000;
	for my $fault ('operation:3', 'crash:1')
	{
		my @settings = ('gpusort.engine' => 'cuda');
		my $processes = '';

		for (1 .. 20)
		{
			set_daemon($node, 'host:1', '--device-memory=' . ++$memory . "MB --inject-fault=$fault");
			$processes = join ' ', map { $_ // 1 } analyzed_plan_of($node, $window, @settings) =~ /GpuSort Shared.*?Engine: host(?:  Processes: (\d+))?.*?Fallback:/gs;
			last if $processes =~ /[23]/;
		}
		like($processes, qr/[23]/, "gpusortd, $fault: sorted by several");
		set_daemon($node, 'host:1', '--device-memory=' . ++$memory . "MB --inject-fault=$fault");
		same_answer($node, $window, "gpusortd, $fault", @settings);
		nothing_is_left($node, $pool_bytes, "gpusortd, $fault");
	}
	set_daemon($node, 'off', '', 'off');
}
ok($node->poll_query_until('postgres', q(SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker')), 'no worker is left');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|(?<!: it was terminated by )signal 11|was not closed|leak/, 'nothing odd in the log');
done_testing;
