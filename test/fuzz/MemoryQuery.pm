# MemoryQuery.pm
#	Queries of memory_fuzz.pl whose answers are determined, but for the order of ties.
#
# A query is { name, sql, columns, keys, total, bag }: the columns of its result; those whose values
# follow each other in a determined order, or undef if none do; whether whole rows do; and
# whether the rows are determined as a multiset, which those below a LIMIT that cuts ties are not.
package MemoryQuery;
use strict;
use warnings;
use Exporter 'import';
use MemoryTables;
use Types qw(pick chance between);

our @EXPORT_OK = qw(table columns_for a_key);

# { conn, max_rows, pool_bytes }, of the round.
our $world;

# ---- tables and keys ----

# A table of one of these families with so many rows at most, and more often than not about as large as the pool, or some
# times as large.
sub table
{
	my ($families, $most) = @_;
	my $family = pick(split //, $families);
	$most = $world->{max_rows} if !$most || $most > $world->{max_rows};
	my @sizes = grep { $_ <= $most } @{ $MemoryTables::sizes{$family} };
	@sizes = $MemoryTables::sizes{$family}[0] if !@sizes;
	my @near = grep { my $share = $_ * $MemoryTables::row_bytes{$family} / ($world->{pool_bytes} || 4e6); $share > 0.3 && $share < 6 } @sizes;
	my $rows = @near && chance(0.85) ? pick(@near) : pick(@sizes);
	return { name => MemoryTables::table($world->{conn}, $family, $rows), family => $family, rows => $rows };
}

sub columns_for { return @{ $MemoryTables::columns{ $_[0]{family} } }; }

# One sort key of the table, with its direction: ('k DESC', 'k').
sub a_key
{
	my $table = shift;
	my $column = pick(columns_for($table));
	return ($column . pick('', '', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'), $column);
}

# Different columns.
sub some_columns
{
	my ($table, $n) = @_;
	my %some;
	$some{ pick(columns_for($table)) } = 1 for 1 .. $n;
	return sort { $a cmp $b } keys %some;
}

# A filter, about whose share the planner is mistaken in half of the cases.
sub filter
{
	my $table = shift;
	return '' if chance(0.6);
	return ' WHERE ' . pick('k < 500', 'k + 0 < 900', 'u % 2 = 0', 'k * 2 % 10 > 1', 'f IN (1, 2)', 'id % 10 <> 3', "id <= $table->{rows} / 2", 'id < 0')
	  if $table->{family} ne 'w';
	return ' WHERE ' . pick('k < 500', 'u % 2 = 0', 'id % 10 <> 3');
}

sub query
{
	my ($sql, $columns, %more) = @_;
	return { sql => $sql, columns => $columns, bag => 1, %more };
}

# ---- ORDER BY ----

# Nothing but what is sorted by.
sub order_keys
{
	my $t = table('nnnm');
	my (@by, @columns);
	for (1 .. pick(1, 1, 1, 2, 2, 3))
	{
		my ($by, $column) = a_key($t);
		next if grep { $_ eq $column } @columns;
		push @by, $by;
		push @columns, $column;
	}
	return query("SELECT @{[ join ', ', @columns ]} FROM $t->{name}" . filter($t) . ' ORDER BY ' . join(', ', @by), \@columns, keys => \@columns, total => 1);
}

sub total_order
{
	my ($t, $clause, @more) = @_;
	my (@by) = map { (a_key($t))[0] } 1 .. pick(0, 1, 1, 2);
	my %columns = map { $_ => 1 } 'id', some_columns($t, pick(0, 1, 2, 4)), @more;
	my @columns = sort { $a cmp $b } keys %columns;
	return query("SELECT @{[ join ', ', @columns ]} FROM $t->{name}" . filter($t) . ' ORDER BY ' . join(', ', @by, 'id' . pick('', '', ' DESC')) . $clause, \@columns, keys => \@columns, total => 1);
}

sub order_total { return total_order(table('nnmmw'), ''); }

sub order_wide { my $t = table('mw'); return total_order($t, '', $t->{family} eq 'w' ? 'long' : 'pad'); }

sub order_ties
{
	my $t = table('nnm');
	my @by = map { [ a_key($t) ] } 1 .. pick(1, 1, 2);
	my %keys = map { $_->[1] => 1 } @by;
	my @keys = sort { $a cmp $b } keys %keys;
	my %columns = map { $_ => 1 } @keys, some_columns($t, 2), 'id';
	my @columns = sort { $a cmp $b } keys %columns;
	return query("SELECT @{[ join ', ', @columns ]} FROM $t->{name}" . filter($t) . ' ORDER BY ' . join(', ', map { $_->[0] } @by), \@columns, keys => \@keys);
}

sub some_limit
{
	my $t = shift;
	my $rows = $t->{rows};
	my $limit = pick(0, 1, 10, 999, 5000, int($rows / 10), int($rows / 2), $rows * 2);
	return " LIMIT $limit" if chance(0.5);
	return " OFFSET " . pick(0, 1, 10, int($rows / 3), $rows - 5, $rows + 5) . (chance(0.6) ? " LIMIT $limit" : '');
}

sub order_limit { my $t = table('nnmmw'); return total_order($t, some_limit($t)); }

sub order_with_ties
{
	my $t = table('nnm');
	my ($by, $column) = a_key($t);
	return query("SELECT $column, id FROM $t->{name}" . filter($t) . " ORDER BY $by" . pick('', " OFFSET @{[ int $t->{rows} / 5 ]}") . " FETCH FIRST @{[ pick(1, 100, 3000, int $t->{rows} / 3) ]} ROWS WITH TIES",
		[ $column, 'id' ], keys => [$column], bag => 0);
}

sub order_expression
{
	my $t = table('nnm');
	my $e = pick($t->{family} eq 'n' ? ('k % 17', '-u', 'u / 100 * 3', 'abs(s - 5000)', 'coalesce(nn, 0)', 'k::text', 'k::numeric / 8') : ('lower(c)', 'upper(url)', 'left(lc, 3)', 'round(num, 0)', "date_trunc('day', ts)", 'num * 2', 'c || b', 'length(pad)'));
	return query("SELECT $e AS e, id FROM $t->{name} ORDER BY e, id", [qw(e id)], keys => [qw(e id)], total => 1);
}

sub order_for_update { return total_order(table('n', 100_000), pick('', ' LIMIT 2000') . pick(' FOR UPDATE', ' FOR SHARE')); }

sub order_union_all
{
	my ($a, $b) = (table('n'), table('n', 300_000));
	my $c = pick(qw(u k nn d));
	return query("SELECT $c, id, s FROM $a->{name}" . filter($a) . " UNION ALL SELECT $c, -id, s FROM $b->{name} ORDER BY $c, id, s", [ $c, 'id', 's' ], keys => [ $c, 'id', 's' ], total => 1);
}

sub order_of_join
{
	my ($a, $b) = (table('nm'), table('nm', 300_000));
	return query("SELECT a.u, a.id, b.k FROM $a->{name} a JOIN $b->{name} b USING (u) ORDER BY b.k, a.id", [qw(u id k)], keys => [qw(k id)], total => 1);
}

sub order_of_groups
{
	my $t = table('nnm');
	my $c = pick(columns_for($t));
	return query("SELECT $c, count(*) AS n FROM $t->{name} GROUP BY $c ORDER BY n DESC, $c", [ $c, 'n' ], keys => [ $c, 'n' ], total => 1);
}

sub order_of_function { my $n = table('n')->{rows}; return query("SELECT g % 1000 AS k, g FROM generate_series(1, $n) g ORDER BY k, g DESC", [qw(k g)], keys => [qw(k g)], total => 1); }

# ---- windows ----

sub window_rank
{
	my $t = table('nnm');
	my ($by, $column) = a_key($t);
	return query("SELECT $column, @{[ pick('rank()', 'dense_rank()', 'count(*)', 'cume_dist()') ]} OVER (ORDER BY $by) AS x FROM $t->{name}", [ $column, 'x' ]);
}

sub window_partition
{
	my $t = table('nnm');
	my ($by) = a_key($t);
	my $part = pick($t->{family} eq 'n' ? qw(f k d) : qw(f k d b c url));
	return query("SELECT id, $part, @{[ pick('row_number()', 'sum(id)', 'lag(id, 3)', 'ntile(7)', 'first_value(id)', 'sum(k)') ]} OVER (PARTITION BY $part ORDER BY $by, id) AS x FROM $t->{name}" . filter($t), [ 'id', $part, 'x' ]);
}

sub window_several
{
	my $t = table('nnm', 300_000);
	my ($by) = a_key($t);
	return query("SELECT id, rank() OVER (ORDER BY $by) AS x, count(*) OVER (PARTITION BY k) AS y, row_number() OVER (PARTITION BY f ORDER BY s, id) AS z FROM $t->{name}", [qw(id x y z)]);
}

sub window_frame
{
	my $t = table('n', 300_000);
	return query("SELECT id, sum(k) OVER (ORDER BY u ROWS BETWEEN 5 PRECEDING AND 2 FOLLOWING) AS x, max(id) OVER (PARTITION BY k ORDER BY nn, id RANGE UNBOUNDED PRECEDING) IS NULL AS y FROM $t->{name}", [qw(id x y)])
	  if chance(0.5);
	return query("SELECT k, last_value(u) OVER (PARTITION BY k ORDER BY u ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS x FROM $t->{name}", [qw(k x)]);
}

sub window_top { my $t = table('nnm'); return query("SELECT * FROM (SELECT k, id, row_number() OVER (PARTITION BY k ORDER BY u DESC) AS x FROM $t->{name}) s WHERE x <= " . pick(1, 3, 50), [qw(k id x)]); }

# ---- DISTINCT, groups ----

sub distinct
{
	my $t = table('nnnm');
	my @columns = some_columns($t, pick(1, 2, 3));
	push @columns, 'id' if chance(0.2) && !grep { $_ eq 'id' } @columns;
	return query("SELECT DISTINCT @{[ join ', ', @columns ]} FROM $t->{name}" . filter($t), \@columns);
}

sub distinct_on
{
	my $t = table('nnm');
	my $c = pick(columns_for($t));
	my @rest = grep { $_ ne $c } qw(id u);
	return query("SELECT DISTINCT ON ($c) $c, $rest[0], k + 1 AS x FROM $t->{name}" . filter($t) . " ORDER BY $c, $rest[0]", [ $c, $rest[0], 'x' ], keys => [$c], total => 1);
}

sub count_of_distinct
{
	my $t = table('nnm');
	my @columns = some_columns($t, pick(1, 2, 3));
	return query("SELECT count(*) AS n FROM (SELECT DISTINCT @{[ join ', ', @columns ]} FROM $t->{name}" . filter($t) . ') s', ['n'], keys => ['n'], total => 1);
}

sub groups
{
	my $t = table('nnnm');
	my @by = some_columns($t, pick(1, 1, 2));
	my @what = ('count(*) AS n', pick('sum(id) AS x', 'min(u) AS x', 'max(s) AS x', 'count(nn) AS x', 'bit_xor(id) AS x'));
	return query("SELECT @{[ join ', ', @by, @what ]} FROM $t->{name}" . filter($t) . " GROUP BY @{[ join ', ', @by ]}" . pick('', '', ' HAVING count(*) > 1'), [ @by, 'n', 'x' ]);
}

# By few values, none or an expression, as a rule.
sub group_by
{
	my $t = shift;
	return () if chance(0.2);
	return (pick($t->{family} eq 'n' ? ('f', 'f', 'k', 'k', 'nn', 'd', 'k % 10') : ('f', 'k', 'b', 'c', 'url', 'lc', 'left(c, 1)')), 'g');
}

sub grouped
{
	my ($t, $aggregates, @names) = @_;
	my ($by, $name) = group_by($t);
	return query("SELECT $aggregates FROM $t->{name}" . filter($t), \@names) if !defined $by;
	return query("SELECT $by AS g, $aggregates FROM $t->{name}" . filter($t) . " GROUP BY $by", [ 'g', @names ]);
}

sub count_distinct
{
	my $t = table('nnnm');
	my $c = pick(columns_for($t));
	return grouped($t, "count(DISTINCT $c) AS x" . pick('', ', count(*) AS y', ', sum(id) AS y', ", count(DISTINCT k) AS y"), 'x');
}

sub ordered_aggregate
{
	my $t = table('nnm', 300_000);
	my ($by) = a_key($t);
	my $filter = chance(0.2) ? ' FILTER (WHERE k < 700)' : '';
	return grouped($t, "md5(array_agg(id ORDER BY $by, id)$filter\::text) AS x, " . pick("md5(string_agg(k::text, ',' ORDER BY $by, id)) AS y", 'count(*) AS y', "array_length(array_agg(DISTINCT k), 1) AS y"), qw(x y));
}

sub mode_of
{
	my $t = table('nnnm');
	# which of the most frequent is free, but it is the first in order in all of PostgreSQL's ways and ours
	my $c = pick(columns_for($t));
	return grouped($t, "mode() WITHIN GROUP (ORDER BY $c @{[ pick('', '', 'DESC') ]}) AS x" . pick('', ', count(*) AS y'), 'x');
}

sub percentiles
{
	my $t = table('nnnm');
	my $c = pick(grep { !/^(?:c|ic|lc|url|t|uu|b|ts|f8|mix)$/ } columns_for($t));
	my $a = pick(0, 0.01, 0.5, 0.9, 1);
	return grouped($t, pick("percentile_disc($a) WITHIN GROUP (ORDER BY $c) AS x, percentile_cont(0.5) WITHIN GROUP (ORDER BY $c) AS y",
		"percentile_disc(ARRAY[0.1, $a, 0.99]) WITHIN GROUP (ORDER BY $c) AS x, count(*) AS y", "percentile_cont($a) WITHIN GROUP (ORDER BY $c DESC) AS x, min($c) AS y", "percentile_disc($a) WITHIN GROUP (ORDER BY $c) AS x, mode() WITHIN GROUP (ORDER BY $c) AS y"), qw(x y));
}

sub rank_within { my $t = table('nnm', 300_000); return grouped($t, pick('rank(500)', 'dense_rank(500)', 'percent_rank(3)') . ' WITHIN GROUP (ORDER BY k) AS x', 'x'); }

sub grouping_sets
{
	my $t = table('nnm', 300_000);
	return query('SELECT f, k, count(*) AS n, sum(id) AS x, grouping(f, k) AS y' . pick('', ', count(DISTINCT nn) AS z') . " FROM $t->{name} GROUP BY " . pick('ROLLUP (f, k)', 'CUBE (f, k)', 'GROUPING SETS ((f), (k), ())', 'GROUPING SETS ((f, k), (f))'), [qw(f k n x y)]);
}

# ---- set operations ----

sub set_operation
{
	my ($a, $b) = (table('nnm'), table('nm', 300_000));
	my @columns = grep { $_ ne 'r' } @{ pick([qw(k)], [qw(u)], [qw(k f)], [qw(nn id)], [qw(d)], [qw(f k id)]) };
	my $list = join ', ', @columns;
	my $op = pick('UNION', 'UNION', 'INTERSECT', 'INTERSECT ALL', 'EXCEPT', 'EXCEPT ALL', 'UNION ALL');
	my $third = chance(0.2) ? ' ' . pick('UNION', 'EXCEPT') . " SELECT $list FROM " . table('n', 20_000)->{name} : '';
	return query("SELECT $list FROM $a->{name}" . filter($a) . " $op SELECT $list FROM $b->{name}" . filter($b) . $third, \@columns);
}

# Members with other types, and expressions.
sub union_of_expressions { my ($a, $b) = (table('n'), table('n')); return query("SELECT k, f FROM $a->{name} UNION SELECT k, (u % 7)::int FROM $b->{name}", [qw(k f)]); }

# ---- joins ----

sub join_of
{
	my ($a, $b) = (table('nnm'), table('nm', pick(20_000, 300_000)));
	my $c = pick(qw(u u d d id nn s));
	# nn would have each row meet many
	my $on = $c eq 'nn' ? 'a.nn = b.nn AND a.k = b.k' : chance(0.2) ? "a.$c = b.$c AND a.f = b.f" : "a.$c = b.$c";
	my $filter = pick('', '', ' AND a.id <> b.id', ' AND a.k > 100');
	my $kind = pick('JOIN', 'JOIN', 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN');
	# a full join needs clauses that can be merged or hashed only
	$filter = '' if $kind eq 'FULL JOIN';
	return query("SELECT a.id, b.id AS other, a.k, b.u FROM $a->{name} a $kind $b->{name} b ON $on$filter" . (chance(0.3) ? ' ORDER BY a.id, b.id' : ''), [qw(id other k u)]);
}

sub semijoin
{
	my ($a, $b) = (table('nnm'), table('nm', 300_000));
	my $c = pick(qw(u d nn k s));
	return query("SELECT a.id, a.k FROM $a->{name} a WHERE " . pick('', 'NOT ') . "EXISTS (SELECT FROM $b->{name} b WHERE a.$c = b.$c" . pick('', ' AND b.f = 1') . ')', [qw(id k)]) if chance(0.7);
	return query("SELECT a.id, a.k FROM $a->{name} a WHERE a.$c IN (SELECT $c FROM $b->{name} WHERE f < 2)", [qw(id k)]);
}

sub join_by_text
{
	my ($a, $b) = (table('m'), table('m', 20_000));
	my $c = pick(qw(c ic lc uu num));
	return query("SELECT a.id, b.id AS other FROM $a->{name} a " . pick('JOIN', 'LEFT JOIN') . " $b->{name} b USING ($c, k) WHERE a.$c IS NOT NULL", [qw(id other)]);
}

sub join_of_three
{
	my ($a, $b, $c) = (table('nm'), table('nm', 300_000), table('nm', 100_000));
	my $x = pick(qw(u d));
	return query("SELECT a.id, b.k, c.s FROM $a->{name} a JOIN $b->{name} b ON a.u = b.u " . pick('JOIN', 'LEFT JOIN') . " $c->{name} c ON b.$x = c.$x", [qw(id k s)]);
}

sub join_of_groups
{
	my ($a, $b) = (table('n'), table('n', 300_000));
	return query("SELECT a.k, count(*) AS n, sum(b.id) AS x FROM $a->{name} a JOIN $b->{name} b ON a.u = b.u GROUP BY a.k", [qw(k n x)]) if chance(0.5);
	return query("SELECT a.d, a.n, b.id FROM (SELECT d, count(*) AS n FROM $a->{name} GROUP BY d) a JOIN $b->{name} b ON a.d = b.d", [qw(d n id)]);
}

sub join_of_orders { my ($a, $b) = (table('n', 300_000), table('n', 100_000)); return query("SELECT a.u, a.x, b.y FROM (SELECT u, row_number() OVER (ORDER BY u) AS x FROM $a->{name}) a JOIN (SELECT u, row_number() OVER (ORDER BY u DESC) AS y FROM $b->{name}) b USING (u)", [qw(u x y)]); }

sub join_with_limit { my ($a, $b) = (table('n'), table('n')); my $c = pick(qw(u d id)); return query("SELECT a.$c AS x, a.id, b.id AS other FROM $a->{name} a JOIN $b->{name} b ON a.$c = b.$c ORDER BY a.$c, a.id, b.id" . some_limit($b), [qw(x id other)], keys => [qw(x id other)], total => 1); }

# ---- what is executed again and again ----

sub lateral
{
	my ($a, $b) = (table('n', 3000), table('nnm', 20_000));
	my $outer = "(SELECT id, k, u FROM $a->{name} WHERE id <= " . pick(3, 8, 20) . ') a';
	my ($by) = a_key($b);
	return query("SELECT a.id, s.x, s.y FROM $outer, LATERAL (" . pick(
		"SELECT id AS x, k AS y FROM $b->{name} WHERE id % 20 > a.id ORDER BY $by, id" . pick('', ' LIMIT 30', ' LIMIT a.id * 100', ' OFFSET a.id * 10'),
		"SELECT count(DISTINCT nn) AS x, f AS y FROM $b->{name} WHERE id > a.id * 100 GROUP BY f",
		"SELECT DISTINCT k AS x, f AS y FROM $b->{name} WHERE id > a.id * 100",
		"SELECT mode() WITHIN GROUP (ORDER BY k) AS x, percentile_disc(0.5) WITHIN GROUP (ORDER BY u) AS y FROM $b->{name} WHERE id > a.id * 50 GROUP BY f",
		"SELECT id AS x, rank() OVER (ORDER BY k, a.id) AS y FROM $b->{name} WHERE id % 3 = a.id % 3",
		"SELECT b.id AS x, c.k AS y FROM $b->{name} b JOIN $b->{name} c ON b.u = c.u AND b.id % 7 > a.id % 5") . ') s', [qw(id x y)]);
}

# The sort is read again, and not made anew.
sub read_again
{
	my ($a, $b) = (table('n', 3000), table('nnm', 100_000));
	my ($by) = a_key($b);
	return query("SELECT a.id, s.id AS x FROM (SELECT id, u FROM $a->{name} WHERE id <= 6) a " . pick('JOIN', 'LEFT JOIN') . " (SELECT id, k FROM $b->{name} ORDER BY $by, id OFFSET 0) s ON s.id % 1000 <> a.id AND s.k % 50 = a.id", [qw(id x)]);
}

sub scalar_subquery
{
	my ($a, $b) = (table('n', 3000), table('nm', 20_000));
	return query("SELECT id, (SELECT " . pick('count(DISTINCT k)', 'percentile_disc(0.3) WITHIN GROUP (ORDER BY nn)', 'mode() WITHIN GROUP (ORDER BY f)', "md5(string_agg(k::text, '' ORDER BY u))") . " FROM $b->{name} b WHERE b.id % 4 = a.id % 4 AND b.id > a.id) AS x FROM $a->{name} a WHERE id <= 12", [qw(id x)]);
}

sub cte_twice
{
	my $t = table('nnm', 300_000);
	my ($by, $column) = a_key($t);
	return query("WITH s AS MATERIALIZED (SELECT id, k, row_number() OVER (ORDER BY $by, id) AS x FROM $t->{name}) SELECT a.id, b.x FROM s a JOIN s b ON a.x = b.x + 1", [qw(id x)]);
}

sub subquery_order { my $t = table('nnm'); my ($by) = a_key($t); return query("SELECT k, id FROM (SELECT k, id FROM (SELECT k, id, s FROM $t->{name} ORDER BY $by, id LIMIT @{[ int $t->{rows} / 2 ]}) s ORDER BY id DESC) s ORDER BY k, id", [qw(k id)], keys => [qw(k id)], total => 1); }

our @queries = (
	[ 10, 'order by keys', \&order_keys ], [ 6, 'order by', \&order_total ], [ 3, 'order by, wide rows', \&order_wide ], [ 3, 'order by, ties', \&order_ties ], [ 4, 'limit', \&order_limit ],
	[ 1, 'with ties', \&order_with_ties ], [ 2, 'order by expression', \&order_expression ], [ 1, 'for update', \&order_for_update ], [ 2, 'union all in order', \&order_union_all ], [ 2, 'order of a join', \&order_of_join ],
	[ 1, 'order of groups', \&order_of_groups ], [ 1, 'order of a function', \&order_of_function ], [ 1, 'order of an order', \&subquery_order ], [ 3, 'window rank', \&window_rank ], [ 3, 'window partition', \&window_partition ], [ 2, 'windows', \&window_several ], [ 2, 'window frame', \&window_frame ],
	[ 1, 'window top', \&window_top ], [ 4, 'distinct', \&distinct ], [ 2, 'distinct on', \&distinct_on ], [ 3, 'count of distinct', \&count_of_distinct ], [ 3, 'group', \&groups ], [ 5, 'count distinct', \&count_distinct ],
	[ 3, 'ordered aggregate', \&ordered_aggregate ], [ 5, 'mode', \&mode_of ], [ 4, 'percentile', \&percentiles ], [ 1, 'rank within', \&rank_within ], [ 2, 'grouping sets', \&grouping_sets ], [ 4, 'set operation', \&set_operation ],
	[ 2, 'union of expressions', \&union_of_expressions ], [ 6, 'join', \&join_of ], [ 3, 'semijoin', \&semijoin ], [ 2, 'join by text', \&join_by_text ], [ 2, 'join of three', \&join_of_three ], [ 2, 'join of groups', \&join_of_groups ],
	[ 1, 'join of orders', \&join_of_orders ], [ 1, 'join with limit', \&join_with_limit ], [ 4, 'lateral', \&lateral ], [ 2, 'read again', \&read_again ], [ 2, 'scalar subquery', \&scalar_subquery ], [ 1, 'cte twice', \&cte_twice ]);

1;
