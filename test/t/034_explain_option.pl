# EXPLAIN (GPUSORT), from PostgreSQL 18 on: whose each sort is, and why; all formats.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use JSON::PP;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', "gpusort.daemon = 'off'", 'max_parallel_workers_per_gather = 0');

if ($node->safe_psql('postgres', 'SHOW server_version_num') < 180000)
{
	plan skip_all => 'extensions have no options of EXPLAIN';
}
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i AS id, i * 7919 % 100003 AS k FROM generate_series(1, 100000) i;
	ANALYZE t));
my $both = 'SELECT * FROM (SELECT k FROM t WHERE id < 100 ORDER BY k OFFSET 0) a JOIN (SELECT k FROM t ORDER BY k OFFSET 0) b ON a.k = b.k';
my $text = $node->safe_psql('postgres', "SET enable_hashjoin = off; SET enable_nestloop = off; EXPLAIN (GPUSORT) $both");
like($text, qr/ Sort  \(.*\n +Sort Key: \S+\n +Sort For: [a-z ]+\n +Left To PostgreSQL: fewer rows estimated than gpusort\.min_rows\n/,
	'a sort that is left, and why');
like($text, qr/Sort Cost: [\d.]+ by PostgreSQL, [\d.]+ by gpusort\n +Depends On: gpusort\.min_rows/, 'costs and setting');
like($text, qr/\(GpuSort\)  \(.*\n +Sort Key: \S+\n +Sort For: [a-z ]+\n +Sort Cost/, 'a sort that is taken over');
unlike($node->safe_psql('postgres', "EXPLAIN $both"), qr/Sort For|Left To/, 'only if asked for');
unlike($node->safe_psql('postgres', "EXPLAIN (GPUSORT off) $both"), qr/Sort For|Left To/, 'off');
like($node->safe_psql('postgres', "EXPLAIN (ANALYZE, GPUSORT, COSTS off, TIMING off) $both"), qr/Sort For: [a-z ]+\n *Left To PostgreSQL/,
	'analyzed');
like($node->safe_psql('postgres', 'SET gpusort.enabled = off; EXPLAIN (GPUSORT) SELECT * FROM t ORDER BY k'),
	qr/Left To PostgreSQL: gpusort\.enabled is off/, 'switched off');
like($node->safe_psql('postgres', 'SET gpusort.cost_row = 10; EXPLAIN (GPUSORT) SELECT * FROM t ORDER BY k'),
	qr/Left To PostgreSQL: estimated to cost more than PostgreSQL's sort/, 'too dear');
like($node->safe_psql('postgres', "EXPLAIN (GPUSORT) SELECT string_agg(k::text, ',' ORDER BY id + k) FROM t"),
	qr/each group's arguments are sorted by themselves|Sort For/, 'within an aggregate');
like($node->safe_psql('postgres', q(PREPARE p(int) AS SELECT * FROM t WHERE id < $1 ORDER BY k; SET plan_cache_mode = force_generic_plan;
	EXECUTE p(0); EXPLAIN (GPUSORT) EXECUTE p(0); EXECUTE p(0); EXPLAIN (GPUSORT) EXECUTE p(0))), qr/Sort For.*Sort For/s, 'of a plan that was made before');
my $json = decode_json($node->safe_psql('postgres', "EXPLAIN (GPUSORT, FORMAT json) SELECT * FROM t WHERE id < 10 ORDER BY k"));
is($json->[0]{Plan}{'Left To PostgreSQL'}, 'fewer rows estimated than gpusort.min_rows', 'JSON');
cmp_ok($json->[0]{Plan}{'PostgreSQL Sort Cost'}, '>', 0, 'JSON: a number');
like($node->safe_psql('postgres', "EXPLAIN (GPUSORT, FORMAT $_) SELECT * FROM t WHERE id < 10 ORDER BY k"), qr/fewer rows/, $_) for qw(xml yaml);

$node->stop;
done_testing();
