# Joins whose sides gpusortd sorts as one: more rows than extents, nulls, skew, little pool, failures
# and cancellations, rescans; all answers right, and everything given back.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $small = '--device-rows=100000 --bucket-rows=20000';
my $node = start_node('main', 'work_mem = 256MB', 'max_worker_processes = 12', 'max_parallel_workers = 8',
	'max_parallel_workers_per_gather = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'min_parallel_table_scan_size = 0',
	'gpusort.pool_size = 512MB', "gpusort.daemon = '" . daemon_of(2) . "'", "gpusort.daemon_options = '$small'",
	"gpusort.engine = 'cuda'", 'enable_hashjoin = off', 'enable_nestloop = off', 'enable_mergejoin = off', 'jit = off');

# r and s fill an extent of words, and more; few has one key in most rows.
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE r WITH (parallel_workers = 2) AS SELECT i, CASE WHEN i % 1009 <> 0 THEN hashint8(i) % 200000 END AS k, i % 7 AS n,
		CASE WHEN i % 5 <> 0 THEN (i % 3000)::text COLLATE "C" END AS t FROM generate_series(1, 270000) i;
	CREATE TABLE s WITH (parallel_workers = 2) AS SELECT i, CASE WHEN i % 1013 <> 0 THEN hashint8(-i) % 200000::int8 END AS k, i % 5 AS n,
		(i % 4000)::text COLLATE "C" AS t FROM generate_series(1, 265000) i;
	CREATE TABLE few WITH (parallel_workers = 2) AS SELECT i, CASE WHEN i % 10 = 0 THEN i ELSE 7 END AS k, repeat('x', i % 30) AS pad
		FROM generate_series(1, 20000) i;
	CREATE TABLE tiny WITH (parallel_workers = 2) AS SELECT i, 7 - i % 2 AS k FROM generate_series(1, 40) i;
	CREATE TABLE none AS SELECT 1 AS k WHERE false;
	VACUUM ANALYZE));
ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'gpusortd comes up');
my $idle_bytes = service($node, 'pool_bytes_free');

# The lines of a query's plan that say how sides were read.
sub read_how
{
	my ($query, @settings) = @_;
	my $plan = $node->safe_psql('postgres', join ';', @settings, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");

	return $plan !~ /GpuSort Join/ ? "no join of ours: $plan" : $plan =~ /Read: (.*)/ ? $1 : 'each by itself';
}

sub answer_of
{
	my ($query, @settings) = @_;

	return $node->safe_psql('postgres', join ';', @settings, $query);
}

my @theirs = ('SET gpusort.enabled = off', map { "SET enable_${_}join = on" } 'hash', 'merge');
my $merged = 'in the order of both sides';
my %joins = (
	'one column' => 'SELECT count(*), sum(r.i), sum(s.i) FROM r JOIN s USING (k)',
	'several' => 'SELECT count(*), sum(r.i), sum(s.i) FROM r LEFT JOIN s ON r.n = s.n AND r.k = s.k',
	'with nulls' => 'SELECT count(*), sum(r.i), sum(s.i), count(r.k), count(s.k) FROM r FULL JOIN s ON r.k = s.k',
	'short strings' => 'SELECT count(*), sum(r.i), sum(s.i) FROM r JOIN s ON r.t = s.t AND r.k = s.k',
	'a semijoin' => 'SELECT count(*), sum(r.i) FROM r WHERE k IN (SELECT k FROM s)',
	'an antijoin' => 'SELECT count(*), sum(r.i) FROM r WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.k = r.k)',
	'skew' => 'SELECT count(*), sum(f.i), sum(t.i) FROM few f JOIN tiny t USING (k)',
	'skew, outer rows' => 'SELECT count(*), sum(f.i), sum(t.i) FROM tiny t LEFT JOIN few f ON f.k = t.k AND f.i % 3 = t.i % 3',
	'skew, all rows' => 'SELECT count(*), sum(f.i), sum(t.i), sum(length(pad)) FROM few f FULL JOIN tiny t ON f.k = t.k',
	'skew, a condition' => 'SELECT count(*), sum(f.i), sum(t.i) FROM few f RIGHT JOIN tiny t ON f.k = t.k AND f.i + t.i < 300');

if (part('joins'))
{
	for my $name (sort keys %joins)
	{
		my $theirs = answer_of($joins{$name}, @theirs);

		for my $workers (0, 2)
		{
			my @workers = ("SET max_parallel_workers_per_gather = $workers", $name =~ /skew/ ? 'SET gpusort.force = on' : ());

			is(answer_of($joins{$name}, @workers), $theirs, "$name, $workers workers");
			is(read_how($joins{$name}, @workers), $merged, "$name, $workers workers: merged") if $workers > 0 || $name =~ /skew/;
		}
		# if only their number is wanted, no rows are returned
		my $count = $joins{$name} =~ s/SELECT .*? FROM/SELECT count(*) FROM/r;
		my @forced = ('SET gpusort.force = on', 'SET max_parallel_workers_per_gather = 2');

		is(answer_of($count, @forced), answer_of($count, @theirs), "$name, counted");
		is(read_how($count, @forced), $merged, "$name, counted: merged");
		like(answer_of("EXPLAIN $count", @forced), qr/GpuSort Count.*GpuSort Join/s, "$name, counted: by the join") if $name !~ /condition|outer rows/;
	}
	all_is_free($node, $idle_bytes, 'joins');
}

# Order, and what is left to the other way.
if (part('sides'))
{
	is(answer_of('SELECT count(*) FROM (SELECT k, lag(k) OVER () AS before FROM (SELECT r.k FROM r JOIN s USING (k) ORDER BY r.k OFFSET 0) x) y WHERE k < before'),
		0, 'rows come in order');
	# Workers that collect the rows of one side leave it to gpusortd.
	my @gathered = ('SET gpusort.enable_shared_sort = off', 'SET max_parallel_workers_per_gather = 2', 'SET gpusort.cost_gather = 0', 'SET gpusort.force = on',
		q(SET statement_timeout = '1min'));
	is(answer_of($joins{'with nulls'}, @gathered), answer_of($joins{'with nulls'}, @theirs), 'sides that workers collect');
	is(read_how($joins{'with nulls'}, @gathered), $merged, 'sides that workers collect: merged');
	like(answer_of("EXPLAIN $joins{'with nulls'}", @gathered), qr/GpuSort Join.*GpuSort Collect.*GpuSort Collect/s, 'sides that workers collect: the plan');
	is(read_how($joins{'one column'}, 'SET gpusort.verify = on'), 'each by itself', 'sorts that are verified');
	is(read_how('SELECT count(*) FROM r JOIN s ON r.t || repeat(r.t, 5) = s.t || repeat(s.t, 5)'), 'each by itself', 'strings that go on');
	is(read_how('SELECT count(*) FROM r JOIN none USING (k)', 'SET gpusort.force = on'), 'each by itself', 'no rows');
	is(read_how($joins{'one column'}, "SET gpusort.engine = 'host'"), 'each by itself', 'the host engine');
	for my $quota (0, 3)
	{
		is(answer_of($joins{$_}, "SET gpusort.pool_quota = $quota", 'SET work_mem = "16MB"', 'SET max_parallel_workers_per_gather = ' . $quota % 3),
			answer_of($joins{$_}, @theirs), "$_: $quota % of the pool") for 'with nulls';
	}
}

# Rescans: of both sides, of one, of none; cursors, to and fro.
if (part('rescans'))
{
	my $lateral = 'SELECT x, n FROM generate_series(1, 3) x, LATERAL (SELECT count(*) AS n FROM few f JOIN tiny t ON f.k = t.k WHERE %s) y';
	for ('f.i > x * 1000', 't.i > x', 'f.i > x * 100 AND t.i > x', 'f.i + t.i > x * 90')
	{
		is(answer_of(sprintf($lateral, $_), 'SET enable_nestloop = on', 'SET gpusort.force = on'), answer_of(sprintf($lateral, $_), @theirs), "rescanned: $_");
	}
	is(answer_of(q(BEGIN; DECLARE a CURSOR FOR SELECT f.i, t.i FROM few f JOIN tiny t USING (k) ORDER BY k, f.i, t.i;
		DECLARE b CURSOR FOR SELECT r.i, s.i FROM r JOIN s USING (k) ORDER BY k, r.i, s.i;
		FETCH 3 a; FETCH 2 b; MOVE 300000 a; FETCH 2 b; FETCH 2 a; SELECT count(*) FROM r JOIN s USING (k); FETCH 1 b; COMMIT)),
		answer_of(q(BEGIN; DECLARE a CURSOR FOR SELECT f.i, t.i FROM few f JOIN tiny t USING (k) ORDER BY k, f.i, t.i;
		DECLARE b CURSOR FOR SELECT r.i, s.i FROM r JOIN s USING (k) ORDER BY k, r.i, s.i;
		FETCH 3 a; FETCH 2 b; MOVE 300000 a; FETCH 2 b; FETCH 2 a; SELECT count(*) FROM r JOIN s USING (k); FETCH 1 b; COMMIT), @theirs), 'cursors');
	all_is_free($node, $idle_bytes, 'rescans and cursors');
}

# Cancelled at any time.  One that is done before its time is over shows how long one takes: a machine
# may have been busy before and not be now.
if (part('cancel'))
{
	my $begun = time;
	answer_of($joins{'one column'});
	my $takes = 1000 * (time - $begun);
	my $cancelled = 0;
	for my $n (1 .. 8)
	{
		my $ms = 1 + int($takes * $n / 9);
		my ($out, $err) = session_of($node, 'SET max_parallel_workers_per_gather = ' . ($ms % 2 ? 0 : 2), "SET statement_timeout = $ms",
			$joins{'one column'}, reset_timeout());

		if ($err =~ /statement timeout/)
		{
			$cancelled++;
		}
		else
		{
			$takes = $ms;
		}
	}
	cmp_ok($cancelled, '>', 2, 'joins are cancelled');
	all_is_free($node, $idle_bytes, 'cancelled joins');
}

# gpusortd fails, in the middle or for good: each side is sorted here.
if (part('faults'))
{
	my $theirs = answer_of($joins{'with nulls'}, @theirs);
	my $serial = 0;
	for my $fault ('crash:1', 'operation:20', 'wrong-id:1', 'stop:1')
	{
		set_daemon($node, 'host:2', "$small --device-memory=" . (1000 + ++$serial) . "MB --inject-fault=$fault");
		is(answer_of($joins{'with nulls'}, 'SET max_parallel_workers_per_gather = ' . ($serial % 2 ? 0 : 2), ($fault =~ /stop/ ? ('SET gpusort.daemon_timeout = 500') : ())),
			$theirs, "gpusortd fails: $fault");
	}
	set_daemon($node, 'host:2', "$small --device-memory=1GB");
	all_is_free($node, $idle_bytes, 'failures');
	is(read_how($joins{'one column'}), $merged, 'and it goes on');
}

$node->stop;
done_testing();
