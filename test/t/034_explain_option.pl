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

# Each sort of these says what it is for, and each that is left why, wherever it stands: [settings, query, reasons].
$node->safe_psql('postgres', q(
	CREATE TABLE p (id int, k int, j jsonb, s text COLLATE "C") PARTITION BY RANGE (id);
	CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (5000);
	CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (5000) TO (99999);
	INSERT INTO p SELECT i, i * 7919 % 1009, to_jsonb(i), md5(i::text) FROM generate_series(0, 19999) i;
	CREATE INDEX p_k ON p (k);
	CREATE FUNCTION few(n int) RETURNS SETOF int LANGUAGE sql AS 'SELECT k FROM p WHERE id < n ORDER BY s';
	ANALYZE p));
my $no_hash = 'enable_hashjoin = off; SET enable_nestloop = off; SET enable_hashagg = off';
my @told = (
	[ 'gpusort.enable_order_by = off', 'SELECT * FROM p ORDER BY s', [ 'gpusort.enable_order_by is off' ] ],
	[ 'gpusort.min_rows = 100000', 'SELECT * FROM p ORDER BY s', [ 'fewer rows estimated than gpusort.min_rows' ] ],
	[ 'gpusort.cost_startup = 1000000', 'SELECT DISTINCT ON (s) * FROM p', [ q(estimated to cost more than PostgreSQL's sort) ] ],
	[ 'jit = off', 'SELECT * FROM p ORDER BY j, k', [ 'operator family has no key encoding' ] ],
	[ 'enable_seqscan = off', 'SELECT * FROM p ORDER BY k, s LIMIT 10', [] ],
	[ 'jit = off', 'SELECT k, string_agg(s, chr(44) ORDER BY id DESC), count(DISTINCT s) FROM p GROUP BY k', [] ],
	[ $no_hash, 'SELECT k, s, count(*) FROM p GROUP BY GROUPING SETS ((k), (s))', [] ],
	[ 'jit = off', 'SELECT rank() OVER (ORDER BY s), row_number() OVER (PARTITION BY k ORDER BY j) FROM p', [ 'operator family has no key encoding' ] ],
	[ $no_hash, 'SELECT * FROM p a JOIN p b ON a.j = b.j JOIN p c ON b.id = c.k', [ 'operator family has no key encoding' ] ],
	[ $no_hash, 'SELECT j FROM p WHERE k < 500 EXCEPT SELECT j FROM p WHERE id < 10', [ 'operator family has no key encoding' ] ],
	[ $no_hash, 'SELECT k FROM p UNION SELECT id FROM p WHERE id < 5', [] ],
	[ 'jit = off', 'WITH c AS MATERIALIZED (SELECT * FROM p ORDER BY j) SELECT (SELECT s FROM p WHERE p.id = c.k ORDER BY s OFFSET 1 LIMIT 1) FROM c',
		[ 'operator family has no key encoding', 'fewer rows estimated than gpusort.min_rows' ] ],
	[ 'gpusort.pool_quota = 0; SET work_mem = 64', 'SELECT * FROM p ORDER BY s', [] ],
	[ 'enable_indexscan = off; SET enable_bitmapscan = off', 'SELECT * FROM (SELECT * FROM p ORDER BY k USING > FETCH FIRST 3 ROWS WITH TIES) x ORDER BY id', [ 'fewer rows estimated than gpusort.min_rows' ] ]);

# sorts_of PLAN, SORTS: all its nodes that sort, by themselves or within
sub sorts_of
{
	my ($plan, $sorts) = @_;

	push @$sorts, $plan if $plan->{'Node Type'} =~ /^(?:Incremental )?Sort$/ || ($plan->{'Custom Plan Provider'} // '') eq 'GpuSort';
	push @{ $sorts }, $plan if $plan->{'Sort For'} && !grep { $_ == $plan } @$sorts;
	sorts_of($_, $sorts) for @{ $plan->{Plans} // [] };
	return @$sorts;
}

for my $case (@told)
{
	my ($settings, $query, $reasons) = @$case;
	my $explained = decode_json($node->safe_psql('postgres', "SET $settings; EXPLAIN (GPUSORT, FORMAT json) $query"));
	my @sorts = sorts_of($explained->[0]{Plan}, []);
	my @dumb = grep { !$_->{'Sort For'} || ($_->{'Node Type'} =~ /Sort$/ && !$_->{'Left To PostgreSQL'}) } @sorts;

	cmp_ok(scalar @sorts, '>', 0, "$query: sorts") or diag(explain($explained));
	is(scalar @dumb, 0, '... say what for, and why they are left') or diag(explain(\@dumb));
	for my $reason (@$reasons)
	{
		ok((grep { ($_->{'Left To PostgreSQL'} // '') eq $reason } @sorts), "... $reason") or diag(explain(\@sorts));
	}
}

$node->stop;
done_testing();
