# Query.pm
#	Random queries over the tables of Schema.pm, each with what must agree.
#
# A query is { name, steps, transaction, oracle }.  The oracle takes the steps' results,
# where none is an error, and says what they have to do with each other that is wrong.  A step is { sql } and
#	out			types of the output columns, for their canonical forms
#	check		'positions'	every row at its place
#				'rows'		the multiset of rows, and the columns in `ordered`
#							position by position (ties may be permuted)
#				'keys'		only the columns in `ordered` (LIMIT cuts ties)
#				'status'	only the command tag or the error
#	exact		compare text as it is, not canonical forms: true where the result
#				cannot contain one of several equal values by chance
#	ordered		output columns that are sort keys, as positions from 0
#	explain		the statement can be put behind EXPLAIN, or another that tells its plan
#	params, fetch	run it by the extended protocol, so many rows at a time
# Queries are built so that what is compared does not depend on the order of
# ties: either the unique id is the last key, or only ranks, counts and sums over
# whole groups of peers are looked at.
package Query;
use strict;
use warnings;
use Exporter 'import';
use Types qw(pick chance between type_of);
our @EXPORT_OK = qw(make);

my ($schema, $caps);
my $int = type_of('int8');
my $text = type_of('text', family => 'text');

# ---- expressions ----

sub column { my $c = pick(@{ $schema->{columns} }); return { sql => "$_[0].$c->{name}", type => $c->{type}, column => $c->{name} }; }

sub random_collation { my $c = pick(@{ $caps->{collations} }); return $c || 'C'; }

# Some expression over a column that leaves a sortable type.
sub derive
{
	my ($key, $r) = @_;
	my ($s, $t) = @$key{qw(sql type)};
	my $family = $t->{family};
	my $same = sub { +{ %$key, sql => $_[0], column => undef } };
	my $as = sub { +{ sql => $_[0], type => type_of($_[1]) } };
	if ($family eq 'int')
	{
		return pick($same->("(-$s)"), $as->("($s % 7)", 'int8'), $as->("$s\::numeric", 'numeric'), $as->("$s\::float8", 'float8'),
			$as->("($s + 1)", 'int8'), { sql => "$s\::text", type => $text }, $as->("abs($s)", 'int8'));
	}
	if ($family eq 'text')
	{
		return pick(
			(map { $same->($_) } "($s || 'x')", "nullif($s, '')"),
			(map { +{ sql => $_, type => { %$t, canon => $t->{nondet} ? $t->{canon} : undef } } } "lower($s)", "upper($s)", "left($s, 3)", "substr($s, 2)", "md5($s)"),
			$as->("length($s)", 'int4'),
			$t->{nondet} || $t->{canon} ? () : { sql => "$s\::text COLLATE \"" . random_collation() . '"', type => $text },
			{ sql => "convert_to($s\::text, 'UTF8')", type => type_of('bytea') });
	}
	return pick($same->("(-$s)"), $as->("round($s, 1)", 'numeric'), $as->("($s * 2)", 'numeric')) if $family eq 'numeric';
	return pick($same->("(-$s)"), $same->("abs($s)"), $same->("($s * $s)")) if $family eq 'float';
	return pick($same->("($s + 1)"), $as->("extract(dow FROM $s)", 'numeric')) if $family eq 'date';
	return $same->("date_trunc('month', $s)") if $family eq 'timestamp';
	return $same->("(NOT $s)") if $family eq 'bool';
	return $as->("length($s)", 'int4') if $family eq 'bytea' || $family eq 'bit';
	return $as->("($s IS NULL)", 'bool');
}

# A sort key over range-table entry $r: { sql, type, order, column }, where
# `order` is what stands behind ORDER BY.
sub key
{
	my ($r, %opt) = @_;
	my $key = column($r);
	my $x = rand;
	if (!$opt{plain})
	{
		if ($x < 0.2) { $key = derive($key, $r); }
		elsif ($x < 0.23) { $key = { sql => "($key->{sql} IS NULL)", type => type_of('bool') }; }
		elsif ($x < 0.27) { $key = { %$key, sql => "CASE WHEN $r.id % 3 = 0 THEN $key->{sql} END", column => undef }; }
		elsif ($x < 0.30) { $key = { sql => "($r.id % " . pick(1, 2, 10, 100) . ')', type => $int }; }
		elsif ($x < 0.305) { $key = { sql => "(1000 / ($r.id - " . between(1, 3000) . '))', type => $int }; }
	}
	my $order = $key->{sql};
	$x = rand;
	if ($x < 0.05 && ($key->{type}{family} // '') eq 'text' && !$key->{type}{nondet})
	{
		$order .= pick(' USING ~<~', ' USING ~>~');
		$order .= ' NULLS ' . pick('FIRST', 'LAST') if chance(0.5);
	}
	elsif ($x < 0.1) { $order .= ' USING ' . pick('<', '>'); }
	elsif ($x < 0.15 && $opt{custom} && $key->{type}{name} eq 'int4')
	{
		$order .= ' USING ' . pick('|<|', '|>|');
		$key = { %$key, type => type_of('abs') };
	}
	else
	{
		$order .= pick('', '', ' ASC', ' DESC');
		$order .= ' NULLS ' . pick('FIRST', 'LAST') if chance(0.4);
	}
	return { %$key, order => $order };
}

sub nkeys { my $x = rand; return $x < 0.45 ? 1 : $x < 0.75 ? 2 : $x < 0.95 ? 3 : between(4, 8); }
sub keys_for { my ($r, %opt) = @_; return map { key($r, %opt) } 1 .. nkeys(); }
sub orders { return join ', ', map { $_->{order} } @_; }

sub source { my $r = shift; return pick(("$r") x 6, $r eq 't' ? "v AS t" : $r, "(SELECT * FROM $r OFFSET 0) AS $r", "(SELECT * FROM $r UNION ALL SELECT * FROM $r WHERE id < 0) AS $r", "(SELECT * FROM $r WHERE id < 1000 UNION ALL SELECT * FROM (SELECT * FROM $r WHERE id >= 1000 OR id IS NULL) x) AS $r"); }

sub condition
{
	my $r = shift;
	my $c = column($r);
	my $n = $schema->{n}{$r} || 1;
	return pick("$r.id % 3 = 1", "$r.id > " . int(rand $n), "$c->{sql} IS NOT NULL", "$c->{sql} IS NULL", "$r.id < 0", "$r.id <= " . int(rand $n));
}

sub where { return chance(0.3) ? ' WHERE ' . condition($_[0]) : ''; }

sub limit
{
	my $n = shift || 1;
	my $count = pick(0, 1, 5, int($n / 2), $n, $n + 10);
	my $offset = chance(0.4) ? ' OFFSET ' . pick(0, 1, 7, int($n / 2), $n) : '';
	return pick(" LIMIT $count$offset", " LIMIT $count$offset", " LIMIT ALL$offset", "$offset FETCH FIRST $count ROWS ONLY");
}

# A query whose order is complete, for cursors, loops and the like:
# (sql without LIMIT, output types).
sub total_order
{
	my ($r, $from) = @_;
	my @keys = keys_for($r, custom => 1);
	my @out = map { $_->{type} } @keys;
	my $list = join ', ', (map { $_->{sql} } @keys), "$r.id";
	return ("SELECT $list FROM " . ($from // source($r)) . where($r) . ' ORDER BY ' . orders(@keys) . ", $r.id" . pick('', ' DESC'), [ @out, $int ]);
}

# ---- shapes ----

sub q_order_by
{
	my $r = pick('t', 'u');
	my @keys = keys_for($r, custom => 1);
	my @shown = grep { chance(0.85) } @keys;
	my @more = ([ "$r.id", $int ]);
	push @more, [ "$r.pad", $text ] if chance(0.5);
	push @more, map { my $c = column($r); [ $c->{sql}, $c->{type} ] } 1 .. between(1, 3) if chance(0.4);
	push @more, [ "$r", type_of('record') ] if chance(0.1);
	# nothing but what is sorted by, which need not be stored
	if (chance(0.2)) { @shown = @keys; @more = (); }
	my @out = ((map { [ $_->{sql}, $_->{type} ] } @shown), @more);
	my $tail = '';
	my $check = 'rows';
	if (chance(0.3))
	{
		$tail = limit($schema->{n}{$r});
		$check = 'keys';
		if (chance(0.15)) { ($tail, $check) = (' FETCH FIRST ' . between(1, 20) . ' ROWS WITH TIES', 'rows'); }
	}
	my $sql = 'SELECT ' . join(', ', map { $_->[0] } @out) . ' FROM ' . source($r) . where($r) . ' ORDER BY ' . orders(@keys) . $tail;
	my $step = { sql => $sql, out => [ map { $_->[1] } @out ], check => $check, exact => 1, ordered => [ 0 .. $#shown ], explain => 1 };
	@$step{qw(params fetch)} = ([], pick(1, 7, 100, 1000)) if chance(0.1);
	return { steps => [$step] };
}

# Columns that rows are sorted by and that are not returned, or under another label only: few
# columns of many, the id the last key.
sub q_junk_keys
{
	my $r = pick('t', 'u');
	my @keys = keys_for($r, custom => 1);
	for my $key (@keys)
	{
		next if !defined $key->{column} || ($key->{type}{family} // '') ne 'text' || $key->{type}{nondet} || chance(0.2);
		$key = { %$key, order => "$key->{sql} COLLATE \"" . pick('C', 'POSIX', random_collation()) . '"' . pick('', ' DESC', ' NULLS FIRST') };
	}
	my @out = map { [ "$r.$_->{column}", $_->{type} ] } grep { defined $_->{column} && chance(0.6) } @keys;
	push @out, map { my $c = column($r); [ $c->{sql}, $c->{type} ] } 1 .. between(0, 2);
	push @out, [ "$r.id", $int ] if chance(0.6);
	push @out, [ "$r.id % 10", $int ] if !@out || chance(0.2);
	my $sql = 'SELECT ' . join(', ', map { "$out[$_][0] AS out$_" } 0 .. $#out) . ' FROM ' . (chance(0.8) ? $r : source($r)) . where($r) .
		' ORDER BY ' . orders(@keys) . ", $r.id" . pick('', ' DESC') . (chance(0.3) ? limit($schema->{n}{$r}) : '');
	my $step = { sql => $sql, out => [ map { $_->[1] } @out ], check => 'positions', exact => 1, explain => 1 };
	@$step{qw(params fetch)} = ([], pick(1, 7, 100, 1000)) if chance(0.1);
	return { steps => [$step] };
}

sub q_distinct
{
	my $r = pick('t', 'u');
	my @keys = keys_for($r, plain => chance(0.7));
	my @list = map { $_->{sql} } @keys;
	my @out = map { $_->{type} } @keys;
	if (chance(0.4))
	{
		my $sql = 'SELECT DISTINCT ON (' . join(', ', @list) . ') ' . join(', ', @list, "$r.id") . ' FROM ' . source($r) . where($r) . ' ORDER BY ' . orders(@keys) . ", $r.id";
		# two operators for one column may make this an error: on both sides
		return { steps => [ { sql => $sql, out => [ @out, $int ], check => 'positions', exact => 1, explain => 1 } ] };
	}
	my $ordered = chance(0.5);
	my %seen;
	my $sql = 'SELECT DISTINCT ' . join(', ', @list) . ' FROM ' . source($r) . where($r) . ($ordered ? ' ORDER BY ' . orders(@keys) : '');
	return { steps => [ { sql => $sql, out => \@out, check => 'rows', ordered => $ordered ? [ 0 .. $#out ] : [], explain => 1 } ] };
}

sub q_setop
{
	my @columns = map { pick(@{ $schema->{columns} }) } 1 .. between(1, 3);
	my $list = join ', ', map { $_->{name} } @columns;
	my $op = sub { pick('UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'INTERSECT ALL', 'EXCEPT ALL') };
	my $part = sub {
		my $r = shift;
		my $s = "SELECT $list FROM $r" . where($r);
		return chance(0.2) ? "($s ORDER BY " . join(', ', 1 .. @columns) . ')' : $s;
	};
	my $sql = $part->('t') . ' ' . $op->() . ' ' . $part->('u');
	$sql = "($sql) " . $op->() . ' ' . $part->(pick('t', 'u')) if chance(0.3);
	my $ordered = chance(0.6);
	my %dir = map { $_ => pick('', ' DESC', ' NULLS FIRST') } 1 .. @columns;
	$sql .= ' ORDER BY ' . join(', ', map { "$_$dir{$_}" } 1 .. @columns) if $ordered;
	return { steps => [ { sql => $sql, out => [ map { $_->{type} } @columns ], check => 'rows', ordered => $ordered ? [ 0 .. $#columns ] : [], explain => 1 } ] };
}

sub q_window
{
	my $r = pick('t', 'u');
	my @out = ([ "$r.id", $int ]);
	for (1 .. between(1, 3))
	{
		my @part = chance(0.5) ? map { $_->{sql} } keys_for($r, plain => 1) : ();
		my @order = chance(0.85) ? keys_for($r) : ();
		my $total = chance(0.4);
		my $spec = (@part ? 'PARTITION BY ' . join(', ', @part) : '') . (@order ? ' ORDER BY ' . orders(@order) . ($total ? ", $r.id" : '') : '');
		$total = 0 if !@order;
		my $f = $total
		  ? pick('row_number()', "lag($r.id)", "lead($r.id, 2)", "first_value($r.id)", "nth_value($r.id, 3)", 'ntile(4)', "sum($r.id)")
		  : pick('rank()', 'dense_rank()', 'count(*)', "sum($r.id)", 'percent_rank()', 'cume_dist()', "max($r.id)");
		my $frame = @order && $f =~ /sum|count|max/ ? pick('', ' GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING', ' RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW') : '';
		push @out, [ "$f OVER ($spec$frame)", type_of('float8') ];
	}
	my $sql = 'SELECT ' . join(', ', map { $_->[0] } @out) . ' FROM ' . source($r) . where($r);
	my $check = 'rows';
	if (chance(0.4)) { $sql .= " ORDER BY $r.id % 5, $r.id DESC"; $check = 'positions'; }
	return { steps => [ { sql => $sql, out => [ map { $_->[1] } @out ], check => $check, exact => 1, ordered => [], explain => 1 } ] };
}

sub q_group
{
	my $r = pick('t', 'u');
	my @keys = keys_for($r, plain => 1);
	my @list = map { $_->{sql} } @keys;
	my $by = join(', ', @list);
	$by = pick("ROLLUP ($by)", "GROUPING SETS (($by), ($list[0]), ())") if chance(0.2);
	my @agg = ([ 'count(*)', $int ], [ "sum($r.id)", $int ]);
	if (chance(0.4))
	{
		my $k = key($r);
		push @agg, [ "string_agg($r.id::text, ',' ORDER BY $k->{order}, $r.id)", $text ];
	}
	push @agg, [ "count(DISTINCT " . column($r)->{sql} . ')', $int ] if chance(0.3);
	push @agg, [ 'percentile_disc(0.5) WITHIN GROUP (ORDER BY ' . "$r.id)", $int ] if chance(0.1);
	my $sql = 'SELECT ' . join(', ', @list, map { $_->[0] } @agg) . ' FROM ' . source($r) . where($r) . " GROUP BY $by";
	$sql .= ' HAVING count(*) > 1' if chance(0.2);
	my $ordered = chance(0.5);
	$sql .= ' ORDER BY ' . orders(@keys) if $ordered;
	return { steps => [ { sql => $sql, out => [ (map { $_->{type} } @keys), map { $_->[1] } @agg ], check => 'rows', ordered => $ordered ? [ 0 .. $#keys ] : [], explain => 1 } ] };
}

# Several aggregates over ordered values, distinct ones and ordered sets, of the same orders and of others.
sub q_ordered_aggregate
{
	my $r = pick('t', 'u');
	my @by = chance(0.5) ? keys_for($r, plain => 1) : ();
	my @order = map { key($r)->{order} } 1 .. 2;
	my @agg;
	for (1 .. between(1, 4))
	{
		my $order = pick(@order);
		my $c = column($r);
		my ($sql, $type) = @{ pick(
			([ "string_agg($r.id::text, ',' ORDER BY $order, $r.id)", $text ]) x 3,
			[ "string_agg(DISTINCT ($r.id % 50)::text, ',' ORDER BY ($r.id % 50)::text" . pick('', ' DESC') . ')', $text ],
			[ "count(DISTINCT $c->{sql})", $int ],
			[ 'percentile_disc(' . pick(0, 0.3, 0.5, 1) . ") WITHIN GROUP (ORDER BY $c->{sql}" . pick('', ' DESC') . ')', $c->{type} ],
			[ "percentile_cont(0.4) WITHIN GROUP (ORDER BY $r.id % 100)", type_of('float8') ],
			[ "mode() WITHIN GROUP (ORDER BY $r.id % 7)", $int ],
			[ 'dense_rank(' . between(1, 3000) . ") WITHIN GROUP (ORDER BY $r.id" . pick('', ' DESC') . ')', $int ]) };
		$sql .= ' FILTER (WHERE ' . condition($r) . ')' if chance(0.2);
		push @agg, [ $sql, $type ];
	}
	my @list = map { $_->{sql} } @by;
	my $sql = 'SELECT ' . join(', ', @list, map { $_->[0] } @agg) . ' FROM ' . source($r) . where($r) . (@by ? ' GROUP BY ' . join(', ', @list) : '');
	return { steps => [ { sql => $sql, out => [ (map { $_->{type} } @by), map { $_->[1] } @agg ], check => 'rows', ordered => [], explain => 1 } ] };
}

# Conditions of a join that no key has, and those of the query above it.
sub further { return pick(' AND t.id < u.id', ' AND t.id % 3 = u.id % 3', ' AND t.id > 20 AND u.id % 2 = 0', ' AND (t.id + u.id) % 7 > 0 AND u.id > 30', ' AND t.id % 2 = 0'); }
sub above { return pick(' WHERE (t.id + u.id) % 2 = 0 OR u.id IS NULL', ' WHERE t.id IS NULL OR u.id IS NULL', ' WHERE coalesce(t.id, 1) % 3 > 0', ' WHERE u.id IS NULL'); }

# Equal columns of both tables, or integers of different sizes, or the null of one that equals none.
sub join_condition
{
	my (@columns) = @_;
	my @clauses = map { "t.$_->{name} = u.$_->{name}" } @columns;
	my ($c) = grep { $_->{type}{name} =~ /^int[24]$/ } @columns;

	$clauses[0] = "t.$c->{name} = u.$c->{name}\::int8" if $c && chance(0.3);
	unshift @clauses, 't.id % 10 = u.id % 10' if chance(0.1);
	unshift @clauses, 'nullif(t.id % 5, 3) = nullif((u.id % 5)::int8, 4)' if chance(0.1);
	return join ' AND ', @clauses;
}

sub q_join
{
	my @columns = map { pick(@{ $schema->{columns} }) } 1 .. pick(1, 1, 1, 2, 3);
	@columns = (pick(@{ $schema->{joined} }, $columns[0])) if chance(0.7);
	my $on = join_condition(@columns);
	my $cap = pick(50, 200, 600);
	my $kind = pick('', 'LEFT', 'RIGHT', 'FULL', 'FULL', 'semi', 'semi', 'anti', 'anti');
	my ($sql, @out, $ordered, $check);
	$kind = '' if @{ $schema->{joined} } && chance(0.5);
	$on .= further() if $kind ne 'FULL' && chance(0.3);
	if ($kind =~ /semi|anti/)
	{
		# either side may be the small one: PostgreSQL 16 and 18 have right anti and right semi joins
		my ($few, $many) = chance(0.5) ? ('t', 'u') : ('u', 't');
		my $low = pick(0, 0, $cap);
		$sql = "SELECT $few.id FROM $few WHERE $few.id <= $cap AND " . ($kind eq 'anti' ? 'NOT ' : '') . "EXISTS (SELECT 1 FROM $many WHERE $on AND $many.id > $low)";
		return { steps => [ { sql => $sql, out => [$int], check => 'rows', exact => 1, ordered => [], explain => 1 } ] };
	}
	# joined again and again, with none of the sides as before or one of them
	my ($lateral, $again) = (chance(0.15), pick('<= 20 * o.n', '% 4 <> o.n'));
	my @sides = map { "(SELECT * FROM $_ WHERE id " . ($lateral && chance(0.7) ? "$again OFFSET 0" : "<= $cap") . ") $_" } 't', 'u';
	my $from = "$sides[0] $kind JOIN $sides[1] ON $on" . (chance(0.3) ? above() : '');
	# blow-up: duplicates on both sides
	if ($lateral || chance(0.5))
	{
		$sql = "SELECT count(*), sum(t.id), sum(u.id), sum(t.id::int8 * u.id) FROM $from";
		$sql = "SELECT o.n, s.* FROM generate_series(1, 4) o (n) CROSS JOIN LATERAL ($sql OFFSET 0) s" if $lateral;
		return { steps => [ { sql => $sql, out => [ ($int) x ($lateral ? 5 : 4) ], check => $lateral ? 'rows' : 'positions', exact => 1, ordered => [], explain => 1 } ] };
	}
	$from =~ s/id <= $cap/id <= 80/g;
	@out = (map { ([ "t.$_->{name}", $_->{type} ], [ "u.$_->{name}", $_->{type} ]) } @columns);
	push @out, [ 't.id', $int ], [ 'u.id', $int ];
	$sql = 'SELECT ' . join(', ', map { $_->[0] } @out) . " FROM $from";
	$ordered = chance(0.4);
	$sql .= " ORDER BY t.$columns[0]{name}, t.id, u.id" if $ordered;
	return { steps => [ { sql => $sql, out => [ map { $_->[1] } @out ], check => $ordered ? 'positions' : 'rows', exact => 1, ordered => [], explain => 1 } ] };
}

sub q_lateral
{
	my @keys = map { key('u') } 1 .. between(1, 2);
	my $total = chance(0.6);
	my $c = pick(@{ $schema->{columns} });
	my $condition = pick("u.id > o.id", 'u.id % 5 = o.id % 5', "u.$c->{name} = o.$c->{name}", "u.$c->{name} >= o.$c->{name}", 'u.id % 3 = 0');
	my $limit = chance(0.7) ? ' LIMIT ' . between(0, 6) . (chance(0.3) ? ' OFFSET ' . between(0, 3) : '') : chance(0.5) ? ' LIMIT 1 + o.id % 4' : '';
	$limit = ' LIMIT 3' if $limit =~ /o\.id/ && $condition !~ /o\./;	# see below
	my $body = join(', ', map { $_->{sql} . " AS k$_->{n}" } map { $keys[$_]{n} = $_; $keys[$_] } 0 .. $#keys) . ($total ? ', u.id AS uid' : '');
	my $sub = "SELECT $body FROM u WHERE $condition ORDER BY " . orders(@keys) . ($total ? ', u.id' : '') . $limit;
	my $join = pick('CROSS JOIN LATERAL (%s) s', 'LEFT JOIN LATERAL (%s) s ON true', 'JOIN LATERAL (%s) s ON true');
	my $rows = between(1, 25);
	my $sql = "SELECT o.id, s.* FROM (SELECT * FROM t WHERE id <= $rows) o " . sprintf($join, $sub);
	return { steps => [ { sql => $sql, out => [ $int, (map { $_->{type} } @keys), $total ? $int : () ], check => 'rows', exact => $total, ordered => [], explain => 1 } ] };
}

# A limit that changes between rescans of a subquery that does not depend on the
# outer row otherwise is left out: below Gather Merge, PostgreSQL's workers keep
# the bound of the first scan and lose rows (seen on 15.20, without gpusort too).
sub q_subplan
{
	my @keys = keys_for('u');
	my $order = orders(@keys) . ', u.id';
	my $condition = pick('u.id % 4 = t.id % 4', 'u.id >= t.id', 'true', "u.id < 20 + t.id % 3");
	my $offset = $condition eq 'true' ? 2 : 't.id % 3';
	my $sub = pick(
		"(SELECT u.id FROM u WHERE $condition ORDER BY $order LIMIT 1 OFFSET $offset)",
		"ARRAY(SELECT u.id FROM u WHERE $condition ORDER BY $order LIMIT 9)",
		"(SELECT count(*) FROM (SELECT DISTINCT $keys[0]{sql} FROM u WHERE $condition) d)",
		"(t.id IN (SELECT u.id FROM u WHERE $condition ORDER BY $order LIMIT 20))",
		"(SELECT string_agg(x::text, ',') FROM (SELECT u.id AS x FROM u WHERE $condition ORDER BY $order) d)");
	my $rows = between(1, 12);
	return { steps => [ { sql => "SELECT t.id, $sub FROM t WHERE t.id <= $rows", out => [ $int, $text ], check => 'rows', exact => 1, ordered => [], explain => 1 } ] };
}

sub q_cte
{
	my ($sub, $out) = total_order('t');
	my $n = @$out;
	my $names = join ', ', map { "k$_" } 1 .. $n;
	my $limit = chance(0.6) ? limit($schema->{n}{t}) : '';
	my $main = pick("SELECT * FROM c", "SELECT * FROM c WHERE k$n % 2 = 0", "SELECT a.* FROM c a JOIN c b ON a.k$n = b.k$n", "SELECT * FROM c UNION ALL SELECT * FROM c", 'SELECT c.* FROM (SELECT 1 UNION ALL SELECT 2) two, c');
	my $check = $main =~ /JOIN|two/ ? 'rows' : 'positions';
	my $sql = "WITH c ($names) AS " . pick('MATERIALIZED ', 'NOT MATERIALIZED ', '') . "($sub$limit) $main";
	return { steps => [ { sql => $sql, out => $out, check => $check, exact => 1, ordered => [], explain => 1 } ] };
}

# Loose index scan by hand: a sort that is rescanned by a recursive union.
sub q_recursive
{
	my $k = key('u', plain => 1);
	my $sql = 'WITH RECURSIVE r (step, id) AS (SELECT 1, 0 UNION ALL SELECT r.step + 1, s.id FROM r, LATERAL (SELECT u.id FROM u WHERE u.id > r.id '
	  . "ORDER BY $k->{order}, u.id LIMIT 1) s WHERE r.step < 20) SELECT * FROM r";
	return { steps => [ { sql => $sql, out => [ $int, $int ], check => 'positions', exact => 1, ordered => [], explain => 1 } ] };
}

# Sorts that are told how many rows will be fetched, of enough rows to be trimmed: limits that are
# constant, parameters, or others for each rescan, directly above the sort, or with nodes between.
sub q_limit
{
	my $r = pick('t', 'u');
	my $n = $schema->{n}{$r} || 1;
	my $copies = chance(0.5) ? 1 : 1 + int(between(4500, 12000) / $n);
	$copies = 1 if $copies > 400 || grep { $_->{type}{wide} } @{ $schema->{columns} };
	my $columns = join ', ', (map { $_->{name} } @{ $schema->{columns} }), 'pad';
	my $from = $copies == 1 ? source($r) : "(SELECT id + 10000 * g AS id, $columns FROM $r, generate_series(1, $copies) g) AS $r";
	my $rows = $n * $copies;
	my ($sql, $out) = total_order($r, $from);
	my $count = sub { return pick(1, 2, between(3, 70), between(1, 1 + int($rows / 3)), between(1, 1 + int($rows / 3)), 1 + int($rows / 2), $rows) };
	my $offset = sub { return chance(0.7) ? 0 : pick(1, between(1, 50), int($rows / 4)) };
	my $constant = sub { my $o = $offset->(); return ' LIMIT ' . $count->() . ($o ? " OFFSET $o" : '') };
	my $step = { sql => $sql . $constant->(), out => $out, check => 'positions', exact => 1, explain => 1 };
	my $m = @$out;
	my $names = join ', ', map { "k$_" } 1 .. $m;
	my $kind = pick(('plain') x 4, 'ties', 'subquery', 'filtered', 'append', ('lateral') x 3, ('cursor') x 2, ('prepared') x 2, 'subplan', 'nested');
	if ($kind eq 'ties')
	{
		$sql =~ s/, $r\.id( DESC)?$//;
		@$step{qw(sql check ordered)} = ($sql . ' FETCH FIRST ' . $count->() . ' ROWS WITH TIES', 'rows', [ 0 .. $#$out - 1 ]);
	}
	elsif ($kind eq 'subquery') { $step->{sql} = "SELECT * FROM ($sql OFFSET 0) s" . $constant->(); }
	elsif ($kind eq 'filtered') { $step->{sql} = "SELECT * FROM ($sql OFFSET 0) s ($names) WHERE k$m % 3 > 0" . $constant->(); }
	elsif ($kind eq 'nested') { $step->{sql} = "SELECT * FROM ($sql" . $constant->() . ') s' . $constant->(); }
	elsif ($kind eq 'append')
	{
		my $limited = $sql . $constant->();
		@$step{qw(sql check ordered)} = ("($limited) UNION ALL ($limited)" . $constant->(), 'rows', []);
	}
	elsif ($kind eq 'subplan')
	{
		my $limits = join ', ', map { '(' . $count->() . ', ' . $offset->() . ')' } 1 .. between(2, 6);
		$step->{sql} = "SELECT l, o, (SELECT count(*) || ' ' || coalesce(string_agg(k$m\::text, ',' ORDER BY k$m), '') FROM ($sql LIMIT l OFFSET o) s ($names)) FROM (VALUES $limits) w (l, o)";
		@$step{qw(out check ordered)} = ([ $int, $int, $text ], 'rows', []);
	}
	elsif ($kind eq 'lateral')
	{
		my $limits = join ', ', map { '(' . (chance(0.1) ? 'NULL::int8' : chance(0.05) ? 0 : $count->()) . ', ' . $offset->() . ')' } 1 .. between(2, 6);
		my $where = chance(0.5) ? '' : pick("k$m % 3 = l % 3", "k$m > l");
		my $inner = $where ? "SELECT * FROM (SELECT * FROM ($sql) s ($names) WHERE $where OFFSET 0) s ORDER BY " . join(', ', map { $_ . pick('', ' DESC') } 1 .. $m) : $sql;
		@$step{qw(sql out check ordered)} = ("SELECT l, o, s.* FROM (VALUES $limits) w (l, o), LATERAL ($inner LIMIT l OFFSET o) s", [ $int, $int, @$out ], 'rows', []);
	}
	elsif ($kind eq 'cursor')
	{
		my @steps = ({ sql => "DECLARE lim SCROLL CURSOR FOR $step->{sql}", check => 'status', explain => 1 });
		for (1 .. between(3, 10))
		{
			my $move = pick('NEXT', 'PRIOR', 'FIRST', 'LAST', 'FORWARD ' . $count->(), 'BACKWARD ' . $count->(), 'ABSOLUTE ' . $count->(), 'ABSOLUTE -' . $count->(), 'FORWARD ALL', 'BACKWARD ALL');
			push @steps, { sql => pick('FETCH', 'MOVE') . " $move FROM lim", out => $out, check => 'positions', exact => 1 };
		}
		return { steps => [ @steps, { sql => 'CLOSE lim', check => 'status' } ], transaction => 1 };
	}
	elsif ($kind eq 'prepared')
	{
		my $arguments = sub { return join ', ', pick($count->(), $count->(), $count->(), 'NULL', 0, '9223372036854775807'), pick($offset->(), $offset->(), 'NULL', '9223372036854775807') };
		my @steps = ({ sql => "PREPARE lim (int8, int8) AS $sql LIMIT \$1 OFFSET \$2", check => 'status' });
		push @steps, { sql => 'EXECUTE lim (' . $arguments->() . ')', out => $out, check => 'positions', exact => 1, explain => 1 } for 1 .. between(2, 7);
		return { steps => [ @steps, { sql => 'DEALLOCATE lim', check => 'status' } ] };
	}
	# see q_subplan: PostgreSQL's workers keep the first bound
	my @alone = $kind =~ /lateral|subplan/ ? { sql => 'SET LOCAL max_parallel_workers_per_gather = 0', check => 'status' } : ();
	return { steps => [ @alone, $step ], transaction => @alone > 0 };
}

sub q_cursor
{
	my ($sql, $out) = total_order(pick('t', 'u'));
	$sql .= limit($schema->{n}{t}) if chance(0.2);
	my $scroll = pick('SCROLL ', 'SCROLL ', 'NO SCROLL ', '');
	my $hold = chance(0.2) ? ' WITH HOLD' : '';
	my @steps = ({ sql => "DECLARE cur ${scroll}CURSOR$hold FOR $sql", check => 'status', explain => 1 });
	my $n = $schema->{n}{t} || 1;
	for (1 .. between(3, 15))
	{
		my $some = pick(1, 2, 10, int($n / 3));
		my $forward = pick("FORWARD $some", 'NEXT', "RELATIVE $some", 'FORWARD ALL', 'FORWARD 0');
		my $any = pick($forward, "BACKWARD $some", 'PRIOR', 'FIRST', 'LAST', 'ABSOLUTE ' . pick(0, 1, 5, -1, -3, int($n / 2), $n, $n + 5), "RELATIVE -$some", 'BACKWARD ALL', 'BACKWARD 0');
		push @steps, { sql => pick('FETCH ', 'FETCH ', 'FETCH ', 'MOVE ') . ($scroll eq 'SCROLL ' || chance(0.1) ? $any : $forward) . ' FROM cur', out => $out, check => 'positions', exact => 1 };
		push @steps, { sql => 'COMMIT', check => 'status' }, { sql => 'BEGIN', check => 'status' } if $hold && $_ == 2;
	}
	push @steps, { sql => 'CLOSE cur', check => 'status' };
	return { steps => \@steps, transaction => 1 };
}

sub q_prepared
{
	my $r = pick('t', 'u');
	my @keys = keys_for($r);
	my $sql = 'SELECT ' . join(', ', (map { $_->{sql} } @keys), "$r.id") . ' FROM ' . source($r) . " WHERE $r.id > \$1 ORDER BY " . orders(@keys) . ", $r.id LIMIT \$2 OFFSET \$3";
	my @out = ((map { $_->{type} } @keys), $int);
	my $n = $schema->{n}{$r} || 1;
	my $arguments = sub { (int(rand $n), pick(0, 1, 10, $n, undef), pick(0, 3, int($n / 2))) };
	my @steps = ({ sql => 'PREPARE p (int4, int8, int8) AS ' . $sql, check => 'status' });
	for (1 .. between(2, 7))
	{
		my $list = join ', ', map { $_ // 'NULL' } $arguments->();
		push @steps, { sql => "EXECUTE p ($list)", out => \@out, check => 'positions', exact => 1, explain => 1 };
	}
	push @steps, { sql => 'DEALLOCATE p', check => 'status' };
	push @steps, { sql => $sql, params => [ $arguments->() ], fetch => pick(0, 1, 13), out => \@out, check => 'positions', exact => 1 } if chance(0.5);
	return { steps => \@steps };
}

sub q_insert
{
	my ($sql, $out) = total_order(pick('t', 'u'));
	my $n = @$out;
	my $names = join ', ', map { "k$_" } 1 .. $n;
	my $limit = chance(0.3) ? limit($schema->{n}{t}) : '';
	my @steps;
	if (chance(0.5))
	{
		@steps = ({ sql => "INSERT INTO o (id, what) SELECT k$n, k1::text FROM ($sql$limit) s ($names)", check => 'status', explain => 1 },
			{ sql => 'SELECT id, what FROM o ORDER BY pos', out => [ $int, $text ], check => 'positions', exact => 1 });
	}
	else
	{
		@steps = ({ sql => 'CREATE TABLE ctas (' . $names . ") AS $sql$limit", check => 'status', explain => 1 },
			# or workers bring the rows in any order
			{ sql => 'SET LOCAL max_parallel_workers_per_gather = 0', check => 'status' },
			{ sql => 'SELECT * FROM ctas', out => $out, check => 'positions', exact => 1 });
	}
	return { steps => \@steps, transaction => 1 };
}

sub q_modify
{
	my ($sql, $out) = total_order(pick('t', 'u'));
	my $n = @$out;
	my $names = join ', ', map { "k$_" } 1 .. $n;
	my $limit = ' LIMIT ' . between(1, 50);
	my $target = pick('t', 'u');
	my $dml = pick(
		"UPDATE $target SET pad = s.k$n FROM ($sql$limit) s ($names) WHERE s.k$n = $target.id RETURNING $target.id, $target.pad",
		"DELETE FROM $target USING ($sql$limit) s ($names) WHERE s.k$n = $target.id RETURNING $target.id, 'gone'");
	return { steps => [ { sql => $dml, out => [ $int, $text ], check => 'rows', exact => 1, ordered => [], explain => 1 } ], transaction => 1 };
}

sub q_locking
{
	my $r = pick('t', 'u');
	my ($sql, $out) = total_order($r, $r);
	my $limit = chance(0.5) ? limit($schema->{n}{$r}) : '';
	return { steps => [ { sql => $sql . $limit . pick(' FOR UPDATE', ' FOR SHARE', " FOR UPDATE OF $r SKIP LOCKED"), out => $out, check => 'positions', exact => 1, explain => 1 } ], transaction => 1 };
}

sub q_plpgsql
{
	my ($sql, $out) = total_order(pick('t', 'u'));
	(my $quoted = $sql) =~ s/'/''/g;
	my $stop = pick(0, 1, 10, 1000, 100000);
	my @steps = ({ sql => "SELECT * FROM fuzz_loop('$quoted', $stop)", out => [$text], check => 'positions', exact => 1, explain => $sql });
	if (chance(0.5))
	{
		my ($failing) = total_order('u');
		$failing =~ s/'/''/g;
		unshift @steps, { sql => "SELECT fuzz_try('SELECT 1 / (id - " . between(1, 3000) . ") FROM ($failing) s')", out => [$text], check => 'positions', exact => 1 };
	}
	return { steps => \@steps };
}

# Sorts over joins, aggregates, set-returning functions, and of nothing.
sub q_derived
{
	my $c = pick(@{ $schema->{columns} });
	my ($sql, $out) = @{ pick(
		[ "SELECT t.id, u.id FROM t JOIN u ON t.id = u.id ORDER BY u.$c->{name}, t.id", [ $int, $int ] ],
		[ "SELECT $c->{name}, count(*) FROM t GROUP BY $c->{name} ORDER BY 2 DESC, 1", [ $c->{type}, $int ] ],
		[ 'SELECT id, generate_series(1, id % 4) AS g FROM t ORDER BY g DESC, id', [ $int, $int ] ],
		[ 'SELECT g, -g FROM generate_series(1, ' . between(0, 3000) . ') g ORDER BY g % 17, g DESC', [ $int, $int ] ],
		[ 'SELECT * FROM (VALUES (3), (1), (NULL), (2)) x (a) ORDER BY a DESC', [$int] ],
		[ "SELECT a.x FROM (SELECT $c->{name} AS x FROM t WHERE false) a ORDER BY x", [ $c->{type} ] ],
		[ "SELECT sum(id) OVER (ORDER BY id) AS s, id FROM t ORDER BY s DESC, id", [ $int, $int ] ],
		[ "SELECT (SELECT max(u.id) FROM u WHERE u.id <= t.id) AS m, id FROM t WHERE id < 60 ORDER BY m DESC NULLS LAST, id", [ $int, $int ] ],
		[ "SELECT x.id, y.id FROM t x, u y WHERE x.id < 20 AND y.id < 20 ORDER BY x.$c->{name}, y.$c->{name} DESC, x.id, y.id", [ $int, $int ] ]) };
	return { steps => [ { sql => $sql, out => $out, check => 'positions', explain => 1 } ] };
}

# ---- oracles that need no other server ----

# A predicate that is true of some rows, false of some, and null of some.
sub predicate
{
	my $r = shift;
	my $c = column($r);
	my $other = "(SELECT x.$c->{column} FROM $r x WHERE x.id = " . between(1, $schema->{n}{$r} || 1) . ')';
	return pick(condition($r), "$c->{sql} < $other", "$c->{sql} >= $other", "$c->{sql} IS DISTINCT FROM $other", "nullif($r.id % 3, 1) = 0",
		"($c->{sql} IS NULL OR nullif($r.id % 5, 2) > 2)");
}

sub parts { my $p = shift; return ("($p)", "NOT ($p)", "($p) IS NULL"); }

# Rows by their whole text, and how many of each.
sub bag
{
	my %bag;
	$bag{ join "\x1f", map { $_ // "\0" } @$_ }++ for map { @{ $_->{rows} } } @_;
	return \%bag;
}

sub same_rows
{
	my ($what, $whole, @parts) = @_;
	my ($a, $b) = (bag($whole), bag(@parts));
	for (keys %$a, keys %$b) { return "$what: " . ($b->{$_} // 0) . ' of ' . ($a->{$_} // 0) . ' rows (' . join(', ', split /\x1f/) . ')' if ($a->{$_} // 0) != ($b->{$_} // 0); }
	return undef;
}

# Ternary logic partitioning: the rows where p, where not p and where p is null make the
# whole, and in a total order each part's rows follow each other as in the whole.
sub q_tlp_sort
{
	my $r = pick('t', 'u');
	my $from = source($r);
	my @keys = keys_for($r, custom => 1);
	my @out = ((map { $_->{type} } @keys), $int);
	my $query = sub { 'SELECT ' . join(', ', (map { $_->{sql} } @keys), "$r.id") . " FROM $from$_[0] ORDER BY " . orders(@keys) . ", $r.id" };
	my @steps = map { +{ sql => $query->($_), out => \@out, check => 'positions', exact => 1, explain => 1 } } '', map { " WHERE $_" } parts(predicate($r));
	return {
		steps => \@steps,
		oracle => sub {
			my ($whole, @parts) = @_;
			my $wrong = same_rows('TLP', $whole, @parts);
			return $wrong if defined $wrong;
			my %position;
			my $n = 0;
			# the id comes twice where a source doubles rows
			$position{ $_->[-1] // 'null' } //= $n++ for @{ $whole->{rows} };
			for my $part (@parts)
			{
				my $last = -1;
				for (@{ $part->{rows} })
				{
					my $at = $position{ $_->[-1] // 'null' };
					return "TLP: a part's row of id $_->[-1] comes in another order than in the whole" if $at < $last;
					$last = $at;
				}
			}
			return undef;
		}
	};
}

# By a predicate over what windows are partitioned by, every window is of one part.
sub q_tlp_window
{
	my $r = pick('t', 'u');
	my $c = column($r);
	my @order = keys_for($r);
	my $other = "(SELECT x.$c->{column} FROM $r x WHERE x.id = " . between(1, $schema->{n}{$r} || 1) . ')';
	my $p = pick("$c->{sql} <= $other", "$c->{sql} = $other", "$c->{sql} IS NULL");
	my $by = "PARTITION BY $c->{sql} ORDER BY " . orders(@order);
	my $list = "$r.id, rank() OVER ($by), row_number() OVER ($by, $r.id), sum($r.id) OVER ($by), count(*) OVER (PARTITION BY $c->{sql})";
	my @steps = map { +{ sql => "SELECT $list FROM $r$_", out => [ ($int) x 5 ], check => 'rows', exact => 1, ordered => [], explain => 1 } } '', map { " WHERE $_" } parts($p);
	return { steps => \@steps, oracle => sub { my ($whole, @parts) = @_; return same_rows('TLP', $whole, @parts); } };
}

# Groups of the parts together are those of the whole.
sub q_tlp_group
{
	my $r = pick('t', 'u');
	my $from = source($r);
	my @keys = keys_for($r, plain => 1);
	my $by = join ', ', map { $_->{sql} } @keys;
	my @out = ((map { $_->{type} } @keys), ($int) x 4);
	my @steps = map { +{ sql => "SELECT $by, count(*), sum($r.id), min($r.id), max($r.id) FROM $from$_ GROUP BY $by", out => \@out, check => 'rows', ordered => [], explain => 1 } } '', map { " WHERE $_" } parts(predicate($r));
	my $together = sub {
		my %groups;
		for my $row (map { @{ $_->{rows} } } @_)
		{
			my $key = join "\x1f", map { my $v = $row->[$_]; !defined $v ? "\0" : $out[$_]{canon} ? $out[$_]{canon}->($v) : $v } 0 .. $#keys;
			my $g = $groups{$key} //= [ 0, 0, undef, undef ];
			my ($count, $sum, $min, $max) = @$row[ -4 .. -1 ];
			$g->[0] += $count;
			$g->[1] += $sum // 0;
			$g->[2] = $min if defined $min && (!defined $g->[2] || $min < $g->[2]);
			$g->[3] = $max if defined $max && (!defined $g->[3] || $max > $g->[3]);
		}
		return { rows => [ map { [ $_, @{ $groups{$_} } ] } keys %groups ] };
	};
	return { steps => \@steps, oracle => sub { my ($whole, @parts) = @_; return same_rows('TLP of groups', $together->($whole), $together->(@parts)); } };
}

# NoREC: what a filter lets through in an optimised query is what it is true of when it is
# evaluated for each row.
sub q_norec
{
	my $r = pick('t', 'u');
	my $from = chance(0.7) ? source($r) : "$r JOIN (SELECT id AS other FROM " . ($r eq 't' ? 'u' : 't') . ") o ON o.other = $r.id";
	my @keys = keys_for($r);
	my $p = predicate($r);
	my $order = ' ORDER BY ' . orders(@keys);
	my @steps = (
		{ sql => "SELECT $r.id FROM $from WHERE $p$order", out => [$int], check => 'rows', exact => 1, ordered => [], explain => 1 },
		{ sql => "SELECT $r.id, ($p) IS TRUE FROM $from" . pick('', $order), out => [ $int, $int ], check => 'rows', exact => 1, ordered => [], explain => 1 });
	return {
		steps => \@steps,
		oracle => sub { my ($fast, $slow) = @_; return same_rows('NoREC', $fast, { rows => [ map { [ $_->[0] ] } grep { $_->[1] eq 't' } @{ $slow->{rows} } ] }); }
	};
}

my @shapes = (
	[ 'order by', 30, \&q_order_by ], [ 'junk keys', 8, \&q_junk_keys ], [ 'distinct', 8, \&q_distinct ], [ 'set operation', 6, \&q_setop ], [ 'window', 9, \&q_window ],
	[ 'group', 7, \&q_group ], [ 'ordered aggregate', 5, \&q_ordered_aggregate ], [ 'join', 12, \&q_join ], [ 'lateral', 6, \&q_lateral ], [ 'subplan', 4, \&q_subplan ], [ 'limit', 10, \&q_limit ], [ 'cte', 5, \&q_cte ],
	[ 'recursive', 1, \&q_recursive ], [ 'cursor', 9, \&q_cursor ], [ 'prepared', 5, \&q_prepared ], [ 'insert', 4, \&q_insert ],
	[ 'modify', 3, \&q_modify ], [ 'locking', 3, \&q_locking ], [ 'plpgsql', 4, \&q_plpgsql ], [ 'derived', 5, \&q_derived ],
	[ 'tlp sort', 4, \&q_tlp_sort ], [ 'tlp window', 3, \&q_tlp_window ], [ 'tlp group', 3, \&q_tlp_group ], [ 'norec', 4, \&q_norec ]);
my $total = 0;
$total += $_->[1] for @shapes;

sub make
{
	($schema, $caps) = @_;
	my $x = rand $total;
	for (@shapes)
	{
		my ($name, $weight, $make) = @$_;
		if (($x -= $weight) < 0)
		{
			my $q = $make->();
			$q->{name} = $name;
			return $q;
		}
	}
}

1;
