# RandomReports.pm
#	Random queries on TPC-H's tables, of shapes that nested loops are made for: the first rows of joins in some
#	order, EXISTS, LATERAL, conditions that no index knows and of which the planner can but guess how many rows they
#	leave.  For reports.pl.
package RandomReports;

use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(random_queries);

# Tables with columns to sort by, and numbers, of which conditions are made.
my %tables = (
	lineitem => { sort => [qw(l_extendedprice l_shipdate l_quantity l_comment l_orderkey)], numbers => [qw(l_quantity l_linenumber l_suppkey l_partkey)] },
	orders => { sort => [qw(o_totalprice o_orderdate o_clerk o_custkey)], numbers => [qw(o_totalprice o_custkey o_shippriority)] },
	customer => { sort => [qw(c_acctbal c_name c_phone)], numbers => [qw(c_acctbal c_nationkey c_custkey)] },
	part => { sort => [qw(p_retailprice p_size p_name)], numbers => [qw(p_size p_retailprice p_partkey)] },
	partsupp => { sort => [qw(ps_supplycost ps_availqty)], numbers => [qw(ps_availqty ps_suppkey ps_partkey)] },
	supplier => { sort => [qw(s_acctbal s_name)], numbers => [qw(s_acctbal s_nationkey s_suppkey)] }
);

# Which may be joined, by which columns of both.
my @links = (
	[qw(lineitem l_orderkey orders o_orderkey)], [qw(orders o_custkey customer c_custkey)], [qw(lineitem l_partkey part p_partkey)],
	[qw(lineitem l_suppkey supplier s_suppkey)], [qw(partsupp ps_partkey part p_partkey)], [qw(partsupp ps_suppkey supplier s_suppkey)],
	[qw(customer c_nationkey supplier s_nationkey)], [qw(lineitem l_partkey partsupp ps_partkey)]
);

sub one { return $_[rand @_]; }

# Links of a table of these, [alias, column, other table, its column]
sub links_of
{
	my (%tables_of) = @_;
	my @found;

	for my $alias (sort keys %tables_of)
	{
		for (@links)
		{
			my ($a, $x, $b, $y) = @$_;
			push @found, [$alias, $x, $b, $y] if $a eq $tables_of{$alias};
			push @found, [$alias, $y, $a, $x] if $b eq $tables_of{$alias};
		}
	}
	return @found;
}

sub number { my ($alias, $table) = @_; return "$alias." . one(@{ $tables{$table}{numbers} }); }

# True of all rows, some or none, which the planner takes for a third or one in 200.
sub condition
{
	my ($left, $right) = @_;
	return one("$left > $right + " . one(0, 10, 1e4, 1e7), "$left % 7 = $right % 7", "${left}::float8 * $right < " . one(-1, 1e3, 1e9), "$left - $right <> 0");
}

sub query
{
	my $driver = one(sort keys %tables);
	my %tables_of = (t0 => $driver);
	my $from = "$driver t0";
	my (@where, @columns);

	for my $n (1 .. 1 + int rand 3)
	{
		my ($alias, $column, $table, $other) = @{ one(links_of(%tables_of)) };
		my $on = "t$n.$other = $alias.$column";
		my $more = condition(number("t$n", $table), number($alias, $tables_of{$alias}));
		my $shape = int rand 7;

		if ($shape <= 1)
		{
			$from .= ($shape ? ' LEFT' : '') . " JOIN $table t$n ON $on" . one('', '', " AND $more");
			push @columns, number("t$n", $table);
			$tables_of{"t$n"} = $table if $shape == 0;
		}
		elsif ($shape <= 3)
		{
			push @where, one('', 'NOT ') . "EXISTS (SELECT FROM $table t$n WHERE $on" . one('', " AND $more") . ')';
		}
		elsif ($shape == 4)
		{
			$from .= " CROSS JOIN LATERAL (SELECT " . one('count(*)', 'max(' . number("t$n", $table) . ')') . " AS v FROM $table t$n WHERE $on) t$n";
			push @columns, "t$n.v";
			push @where, "t$n.v > " . one(0, 5, 1e9) if rand() < 0.5;
		}
		elsif ($shape == 5)
		{
			$from .= " CROSS JOIN LATERAL (SELECT * FROM $table t$n WHERE $on ORDER BY " . one(@{ $tables{$table}{sort} }) . ' LIMIT ' . one(1, 3) . ") t$n";
			push @columns, number("t$n", $table);
		}
		else
		{
			# what no two tables have in common but all three
			$from .= " JOIN $table t$n ON t$n.$other = " . join ' + ', map { number($_, $tables_of{$_}) } sort keys %tables_of;
			$tables_of{"t$n"} = $table;
		}
	}
	push @where, condition(number('t0', $driver), number('t0', $driver)) if rand() < 0.3;
	return 'SELECT ' . join(', ', number('t0', $driver), @columns) . " FROM $from" . (@where ? ' WHERE ' . join(' AND ', @where) : '') .
		' ORDER BY ' . join(', ', map { "t0.$_" } one(@{ $tables{$driver}{sort} }), one([], [one(@{ $tables{$driver}{sort} })])->@*) . ' LIMIT ' . one(1, 10, 100, 1000);
}

# COUNT queries that SEED makes: [name, query]
sub random_queries
{
	my ($count, $seed) = @_;

	srand $seed;
	return map { ["random_$_", query()] } 1 .. $count;
}

1;
