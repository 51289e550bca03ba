# Compare.pm
#	Do two results of a step agree?  See Query.pm for what must.
package Compare;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = qw(difference show_row);

sub show_row { return '(' . join(', ', map { defined $_ ? length $_ > 60 ? substr($_, 0, 57) . '...' : $_ : 'NULL' } @{ $_[0] }) . ')'; }

sub canon
{
	my ($value, $type) = @_;
	return "\0" if !defined $value;
	return $type && $type->{canon} ? $type->{canon}->($value) : $value;
}

# A row as one string; with $exact without canonical forms.
sub flat
{
	my ($row, $out, $exact) = @_;
	return join "\x1f", map { $exact ? $row->[$_] // "\0" : canon($row->[$_], $out->[$_]) } 0 .. $#$row;
}

# What differs, or undef.
sub difference
{
	my ($step, $off, $on) = @_;
	my $error = sub { $_[0]{error} ? "$_[0]{error}{C} $_[0]{error}{M}" : 'no error' };
	return 'error: ' . $error->($on) . '; PostgreSQL: ' . $error->($off) if ($off->{error} ? $off->{error}{C} : '') ne ($on->{error} ? $on->{error}{C} : '');
	return undef if $off->{error};
	return "command tag $on->{tag}; PostgreSQL: $off->{tag}" if $on->{tag} ne $off->{tag} && $on->{tag} !~ /^SELECT/;
	return undef if $step->{check} eq 'status';

	my ($a, $b, $out) = ($off->{rows}, $on->{rows}, $step->{out});
	return scalar(@$b) . ' rows; PostgreSQL: ' . scalar(@$a) if @$a != @$b;
	return "output columns: expected " . scalar(@$out) . ", got " . scalar(@{ $a->[0] }) if @$a && @{ $a->[0] } != @$out;
	my $exact = $step->{exact};
	if ($step->{check} eq 'positions')
	{
		for my $i (0 .. $#$a)
		{
			return "row $i: " . show_row($b->[$i]) . '; PostgreSQL: ' . show_row($a->[$i]) if flat($a->[$i], $out, $exact) ne flat($b->[$i], $out, $exact);
		}
		return undef;
	}
	for my $i (0 .. $#$a)
	{
		for my $k (@{ $step->{ordered} })
		{
			return "row $i, key in column $k: " . show_row($b->[$i]) . '; PostgreSQL: ' . show_row($a->[$i])
			  if canon($a->[$i][$k], $out->[$k]) ne canon($b->[$i][$k], $out->[$k]);
		}
	}
	return undef if $step->{check} eq 'keys';
	my %rows;
	$rows{ flat($_, $out, $exact) }++ for @$a;
	for my $row (@$b)
	{
		return 'a row that PostgreSQL does not return: ' . show_row($row) if --$rows{ flat($row, $out, $exact) } < 0;
	}
	return undef;
}

1;
