# Schema.pm
#	Random tables t and u, and their random contents.
#
# Both have the columns id (1..n, unique), c1..cN and pad.  The same column of t
# and u has the same type and draws from the same values, so that joins find
# partners.  A schema is a list of SQL statements; everything about it follows
# from the seed.
package Schema;
use strict;
use warnings;
use Types qw(pick chance between);

sub rows
{
	my $r = rand;
	return between(0, 3) if $r < 0.08;
	return between(4, 200) if $r < 0.5;
	return between(200, 1500) if $r < 0.92;
	return between(1500, 6000);
}

# Columns of both tables.
sub columns
{
	my $types = shift;
	my $n = chance(0.7) ? between(1, 5) : between(6, 12);
	my @good = grep { ($_->{eligible} // 1) && !$_->{wide} } @$types;
	my @odd = grep { !($_->{eligible} // 1) || $_->{wide} } @$types;
	my @columns;
	for my $i (1 .. $n)
	{
		my $type = chance(0.08) ? pick(@odd) : pick(@good);
		my $gen = $type->{gen} ? $type->{gen}->() : undef;
		if (!$gen)
		{
			my $template = pick(@{ $type->{gens} });
			$gen = sub { (my $s = $template) =~ s/\$v\b/$_[0]/g; return "($s)"; };
		}
		push @columns,
		  {
			name => "c$i", type => $type, gen => $gen, seed => between(1, 1_000_000),
			distinct => pick(1, 2, 3, 10, 50, 300, 3000), special => chance(0.4) ? pick(0.01, 0.1, 0.9) : 0
		  };
	}
	return @columns;
}

# The bigint from which row i's value is made.
sub base_value
{
	my ($column, $n, $shape) = @_;
	my $hash = "hashint8extended(i, $column->{seed})";
	return $hash if $shape eq 'random';
	return "hashint8extended(abs($hash % $column->{distinct}), $column->{seed})" if $shape eq 'duplicates';
	return "abs($hash % (1 + abs(hashint8extended(i, 1 + $column->{seed}) % $column->{distinct})))" if $shape eq 'skewed';
	return 'i::int8' if $shape eq 'sorted';
	return "($n - i)::int8" if $shape eq 'reversed';
	return "(i + abs($hash % 20))::int8" if $shape eq 'nearly sorted';
	return "(i / 50)::int8" if $shape eq 'runs';
	return "abs(i - $n / 2)::int8" if $shape eq 'organ pipe';
	return "$column->{seed}::int8";
}

my @shapes = (('random') x 3, ('duplicates') x 5, 'skewed', 'sorted', 'reversed', 'nearly sorted', 'runs', 'organ pipe', 'constant');

sub value_sql
{
	my ($column, $shape, $nulls) = @_;
	my $v = $column->{name};
	my $sql = $column->{gen}->($v);
	my $type = $column->{type}{sql};
	my @specials = @{ $column->{type}{specials} };
	(my $bare = $type) =~ s/ COLLATE .*//;
	if ($column->{special} && @specials)
	{
		my $permille = int 1000 * $column->{special};
		my $list = join ', ', map { "$_\::$bare" } @specials;
		my $element = $bare =~ /\[\]$/ ? "$specials[0]::$bare" : "(ARRAY[$list])[1 + abs(hashint8extended(i, 11 + $column->{seed}) % " . scalar(@specials) . ')]';
		$sql = "CASE WHEN abs(hashint8extended(i, 12 + $column->{seed}) % 1000) < $permille THEN $element ELSE ($sql)::$bare END";
	}
	$sql = "CASE WHEN abs(hashint8extended(i, 13 + $column->{seed}) % 100) >= $nulls THEN ($sql)::$bare END" if $nulls;
	return "($sql)::$bare";
}

sub table_ddl
{
	my ($name, $columns, $features, $n) = @_;
	my @defs = ('id int4');
	push @defs, 'dropped1 text' if $features->{dropped};
	push @defs, map { "$_->{name} $_->{type}{sql}" } @$columns;
	push @defs, 'pad text';
	my $kind = $name eq 't' ? $features->{kind} : 'plain';
	my @sql;
	if ($kind eq 'partitioned')
	{
		my $cut = int($n / 2) + 1;
		push @sql, "CREATE TABLE $name (" . join(', ', @defs) . ') PARTITION BY RANGE (id)',
		  "CREATE TABLE ${name}_1 PARTITION OF $name FOR VALUES FROM (MINVALUE) TO ($cut)",
		  "CREATE TABLE ${name}_2 PARTITION OF $name FOR VALUES FROM ($cut) TO (MAXVALUE)";
	}
	elsif ($kind eq 'inherited')
	{
		push @sql, "CREATE TABLE $name (" . join(', ', @defs) . ')', "CREATE TABLE ${name}_child () INHERITS ($name)";
	}
	else
	{
		my $how = { temp => 'TEMP ', unlogged => 'UNLOGGED ' }->{$kind} // '';
		push @sql, "CREATE ${how}TABLE $name (" . join(', ', @defs) . ')';
	}
	push @sql, "ALTER TABLE $name DROP COLUMN dropped1" if $features->{dropped};
	for (@$columns)
	{
		push @sql, "ALTER TABLE $name ALTER COLUMN $_->{name} SET STORAGE $_->{type}{storage}" if $_->{type}{storage};
	}
	return @sql;
}

sub insert_sql
{
	my ($name, $columns, $features, $n) = @_;
	my (@base, @values);
	for my $column (@$columns)
	{
		my $shape = pick(@shapes);
		my $nulls = chance(0.5) ? 0 : pick(1, 10, 50, 90, 100);
		push @base, base_value($column, $n, $shape) . " AS $column->{name}";
		push @values, value_sql($column, $shape, $nulls);
		$column->{shape} = $shape;
	}
	my $pad = pick("'p' || i", "repeat('p', (i % 50)::int)", 'NULL', chance(0.2) ? "repeat('wide ', 300)" : "'x'");
	my $select = sub { 'SELECT ' . join(', ', 'i', @values, $pad) . ' FROM (SELECT ' . join(', ', 'i', @base) . " FROM generate_series(1, $n) i) s$_[0]" };
	my $list = '(' . join(', ', 'id', (map { $_->{name} } @$columns), 'pad') . ')';
	if ($name eq 't' && $features->{kind} eq 'inherited')
	{
		return ("INSERT INTO $name $list " . $select->(' WHERE i % 2 = 0'), "INSERT INTO ${name}_child $list " . $select->(' WHERE i % 2 = 1'));
	}
	return "INSERT INTO $name $list " . $select->('');
}

# { columns, n => {t, u}, sql => [statements] }
sub make
{
	my ($types, $caps) = @_;
	my @columns = columns($types);
	my %n = (t => rows(), u => rows());
	# wide values are slow to make
	if (grep { $_->{type}{wide} } @columns) { $_ = $_ > 120 ? 120 : $_ for values %n; }
	my %features = (
		kind => pick(('plain') x 6, 'temp', 'unlogged', 'partitioned', 'inherited'),
		dropped => chance(0.1), added => chance(0.15), analyzed => chance(0.6), indexed => chance(0.1), joined => chance(0.2));
	my @sql;
	for my $name (qw(t u))
	{
		push @sql, table_ddl($name, \@columns, \%features, $n{$name});
		push @sql, insert_sql($name, \@columns, \%features, $n{$name});
		# stored rows have fewer attributes than the table
		push @sql, "ALTER TABLE $name ADD COLUMN added int4 DEFAULT 7" if $features{added};
		push @sql, "DELETE FROM $name WHERE id % 10 = 3", "INSERT INTO $name (id) SELECT $n{$name} + i FROM generate_series(1, 5) i" if $features{added};
		push @sql, "ANALYZE $name" if $features{analyzed};
	}
	push @sql, "CREATE INDEX ON t ($columns[0]{name})" if $features{indexed} && !$columns[0]{type}{wide};
	# for joins of indexes
	my @joined = $features{joined} ? grep { !$_->{type}{wide} } @columns : ();
	for my $column (@joined)
	{
		my $direction = pick('', '', '', ' DESC', ' NULLS FIRST');

		push @sql, map { "CREATE INDEX ON $_ ($column->{name}$direction) INCLUDE (id)" } qw(t u);
	}
	push @sql, map { "VACUUM $_" } $features{joined} && chance(0.7) ? qw(t u) : ();
	push @sql, 'CREATE VIEW v AS SELECT * FROM t WHERE id % 7 <> 0';
	push @sql, 'CREATE TABLE o (pos serial, id int4, what text)';
	return { columns => \@columns, n => \%n, sql => \@sql, features => \%features, joined => \@joined };
}

1;
