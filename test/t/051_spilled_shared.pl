# Sorts whose rows workers collect, or that all participants make and read by slices, of more rows than the
# pool holds: every kind of statement that asks for their rows gets all of them.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 48MB', 'gpusort.force = on', 'work_mem = 1MB', 'hash_mem_multiplier = 1',
	'max_worker_processes = 12', 'max_parallel_workers = 8', 'max_parallel_workers_per_gather = 2', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0',
	'gpusort.cost_gather = 0', 'min_parallel_table_scan_size = 0', 'enable_hashagg = off', 'enable_incremental_sort = off', 'statement_timeout = 120s');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i, i % 4 AS g, i::int8 * 7919333 % 300007 / 2 AS w, i % 1000 / 3::float8 AS f, nullif(i % 5000, 77) AS n
	FROM generate_series(1, 300000) i;
	CREATE TABLE keys WITH (parallel_workers = 2) AS
	SELECT (i::int8 * 7919 % 1000003) / 2 AS k, i % 500003 AS i4, timestamp '2020-01-01' + i * interval '7 s' AS ts, (i % 1000)::int2 AS a, i AS b
	FROM generate_series(1, 900000) i;
	VACUUM ANALYZE));
my $pool_bytes = service($node, 'pool_bytes_free');

# The rows of a query, in any order, beside PostgreSQL's; by a plan like this.  A busy machine may start
# workers when the leader has read all, so it is tried again.
sub same_rows
{
	my ($query, $plan, @settings) = @_;
	my $digest = digest_of_rows('SELECT * FROM q');
	my @set = map { "SET $settings[2 * $_] = '$settings[2 * $_ + 1]'" } 0 .. $#settings / 2;
	my ($theirs) = session_of($node, 'SET gpusort.enabled = off', "CREATE TEMP TABLE q AS $query", $digest);
	my ($planned, $ours);

	for (1 .. 20)
	{
		my ($out) = session_of($node, @set, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) CREATE TEMP TABLE q AS $query", $digest);

		($planned, $ours) = $out =~ /(.*)\n(.*)/s;
		last if ($planned // '') =~ $plan || ($ours // '') ne $theirs;
	}
	like($planned, $plan, "$query: rows are read back");
	is($ours, $theirs, "$query: PostgreSQL's rows");
	like($theirs, qr/^[1-9]/, "$query: there are rows");
}

# Slices of a sort that all participants make: distinct rows, groups and their values.
same_rows($_, qr/GpuSort Shared.*Sliced By.*Portions: [2-9]/s, 'gpusort.pool_quota' => 60) for
	'SELECT g, count(DISTINCT w) FROM t GROUP BY g',
	'SELECT g, count(DISTINCT n) AS n, sum(DISTINCT w) AS s FROM t GROUP BY g',
	'SELECT DISTINCT g, w, i FROM t',
	'SELECT count(*), sum(w) FROM (SELECT g, w FROM t UNION SELECT g, w + 1 FROM t) s',
	'SELECT g, w FROM t UNION SELECT g, w + 1 FROM t',
	'SELECT g, mode() WITHIN GROUP (ORDER BY w) AS m FROM t GROUP BY g',
	'SELECT f, percentile_disc(0.3) WITHIN GROUP (ORDER BY w) AS p, mode() WITHIN GROUP (ORDER BY w) AS m, count(*) AS c FROM t GROUP BY f',
	'SELECT w, mode() WITHIN GROUP (ORDER BY n) AS m, percentile_disc(0.5) WITHIN GROUP (ORDER BY n) AS p, count(n) AS c FROM t GROUP BY w',
	'SELECT w, array_agg(i ORDER BY i) AS a FROM t GROUP BY w',
	'SELECT i, rank() OVER (PARTITION BY w ORDER BY i) AS r FROM t';

# Rows of nothing but keys, which workers collect, and read back.
same_rows($_, qr/GpuSort\).*Portions: \d+ \(\d+ by workers/s, 'gpusort.pool_quota' => 50, 'gpusort.enable_shared_sort' => 'off') for
	'SELECT count(*), sum(k) FROM (SELECT k FROM keys ORDER BY k OFFSET 0) s',
	'SELECT sum(r) AS r, sum(k) FROM (SELECT k, rank() OVER (ORDER BY k) AS r FROM keys) s',
	'SELECT count(*), sum(k) FROM (SELECT k FROM keys ORDER BY k FETCH FIRST 700001 ROWS WITH TIES) s',
	'SELECT count(*), sum(i4) FROM (SELECT i4 FROM keys ORDER BY i4 DESC OFFSET 0) s',
	'SELECT count(*), max(ts) FROM (SELECT ts FROM keys ORDER BY ts OFFSET 0) s',
	'SELECT count(*), sum(a) FROM (SELECT a, b FROM keys ORDER BY a, b OFFSET 0) s';

nothing_is_left($node, $pool_bytes, 'at the end');
done_testing();
