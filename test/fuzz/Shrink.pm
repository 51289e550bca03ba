# Shrink.pm
#	Make a failing case small, and write it as a script for psql.
package Shrink;
use strict;
use warnings;
use Types;

sub settings_sql { my ($set) = @_; return join '', map { "SET $_ = $set->{$_};\n" } sort keys %$set; }

sub steps_sql
{
	my $query = shift;
	my $sql = $query->{transaction} ? "BEGIN;\n" : '';
	for my $step (@{ $query->{steps} })
	{
		my $text = $step->{sql};
		if ($step->{params} && @{ $step->{params} })
		{
			my @p = map { defined $_ ? $_ : 'NULL' } @{ $step->{params} };
			$text =~ s/\$(\d)/$p[$1 - 1]/g;
			$sql .= "-- by the extended protocol, with parameters, $step->{fetch} rows at a time\n";
		}
		$sql .= "$text;\n";
	}
	return $sql . ($query->{transaction} ? "ROLLBACK;\n" : '');
}

sub both_sides
{
	my ($query, $settings, $gpusort) = @_;
	return settings_sql($settings) . "SET gpusort.enabled = off;\n" . steps_sql($query) . settings_sql($gpusort) . steps_sql($query);
}

# The statements of the set-up that this script needs.
sub setup
{
	my ($caps, $script) = @_;
	my $needed = sub {
		my $sql = shift;
		return $script =~ /\|[<>]\|/ if $sql =~ /fuzz_abs/;
		return $sql =~ /(fuzz_\w+)/ && $script =~ /$1/;
	};
	return join '', map { "$_;\n" } grep { $needed->($_) } Types::setup_sql($caps);
}

# The whole case as it was.
sub unshrunk
{
	my ($caps, $schema, $query, $settings, $gpusort) = @_;
	my $script = join('', map { "$_;\n" } @{ $schema->{sql} }) . both_sides($query, $settings, $gpusort);
	return setup($caps, $script) . $script;
}

# Remove rows of a table by halves while the case still fails.
sub shrink_table
{
	my ($conn, $table, $fails, $budget) = @_;
	my @ids = map { $_->[0] } @{ $conn->must("SELECT id FROM $table ORDER BY id")->{rows} };
	my $chunk = int((@ids + 1) / 2);
	while ($chunk >= 1 && $$budget > 0)
	{
		my $progress = 0;
		for (my $i = 0; $i < @ids && $$budget > 0;)
		{
			my @cut = @ids[ $i .. ($i + $chunk > @ids ? $#ids : $i + $chunk - 1) ];
			$$budget--;
			$conn->must('SAVEPOINT cut');
			$conn->must("DELETE FROM $table WHERE id IN (" . join(',', @cut) . ')');
			if ($fails->())
			{
				$conn->must('RELEASE cut');
				splice @ids, $i, scalar @cut;
				$progress = 1;
			}
			else
			{
				$conn->must('ROLLBACK TO cut');
				$i += $chunk;
			}
		}
		last if $chunk == 1 && !$progress;
		$chunk = $chunk == 1 ? 1 : int(($chunk + 1) / 2);
	}
	return scalar @ids;
}

sub table_contents
{
	my ($conn, $table) = @_;
	my $columns = $conn->value("SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '$table'::regclass AND attnum > 0 AND NOT attisdropped");
	my $list = join " || ', ' || ", map { "quote_nullable($_\::text)" } split /,/, $columns;
	my @rows = map { "($_->[0])" } @{ $conn->must("SELECT $list FROM $table ORDER BY id")->{rows} };
	return @rows ? "INSERT INTO $table ($columns) VALUES\n" . join(",\n", @rows) . ";\n" : '';
}

# $still->($settings, $gpusort) runs both sides inside the open transaction and
# says what is wrong, if anything is.
sub script
{
	my ($conn, $caps, $schema, $query, $settings, $gpusort, $still) = @_;
	my $whole = unshrunk($caps, $schema, $query, $settings, $gpusort);
	return $whole if grep { $_->{sql} =~ /COMMIT|WITH HOLD/ } @{ $query->{steps} };
	$conn->must("RESET ALL; SET timezone = 'UTC'; BEGIN");
	my %set = %$settings;
	my %ours = %$gpusort;
	my $fails = sub { my $r = eval { $still->(\%set, \%ours) }; die $@ if $@; $r };
	if (!$fails->())
	{
		$conn->must('ROLLBACK');
		return "-- does not fail again in the same session: the whole case\n$whole";
	}
	for my $one (\%set, \%ours)
	{
		for my $name (sort keys %$one)
		{
			next if $name =~ /^gpusort\.(enabled|force)$|jit|statement_timeout|intervalstyle|timezone|extra_float/;
			my $value = delete $one->{$name};
			$one->{$name} = $value if !$fails->();
		}
	}
	delete @set{qw(statement_timeout jit)};
	my $budget = 400;
	my $t = shrink_table($conn, 't', $fails, \$budget);
	my $u = shrink_table($conn, 'u', $fails, \$budget);
	my $steps = steps_sql($query);
	for my $column ((map { $_->{name} } @{ $schema->{columns} }), 'pad')
	{
		next if $steps =~ /\b$column\b/;
		$conn->must('SAVEPOINT cut');
		$conn->must("UPDATE t SET $column = NULL; UPDATE u SET $column = NULL");
		$conn->must($fails->() ? 'RELEASE cut' : 'ROLLBACK TO cut');
	}
	my $reason = $fails->() // 'does not fail every time';
	my $data;
	if ($t + $u <= 300)
	{
		# definitions as made, contents as left
		my @ddl = grep { !/^(INSERT|DELETE|ANALYZE)/ } @{ $schema->{sql} };
		$data = join('', map { "$_;\n" } @ddl) . table_contents($conn, 't') . table_contents($conn, 'u');
		$data .= "ANALYZE t, u;\n" if $schema->{features}{analyzed};
	}
	else { $data = join('', map { "$_;\n" } @{ $schema->{sql} }); }
	$conn->must('ROLLBACK');
	my $script = $data . both_sides($query, \%set, \%ours);
	return "-- $t rows in t, $u in u: $reason\n" . setup($caps, $script) . $script;
}

1;
