#!/usr/bin/perl
# figures.pl [TREE]
#		How large the source is, and in how many pieces: to compare before and after a change of its layout.
#
# Of src and cuda: lines of code, without comments, blank lines and generated files; files and headers;
# lines of functions; and places where six lines of code or more stand twice.  A line counts for the
# last of these without white space, and those of includes, of braces alone, and of a single word do not.
# VERBOSE=1 names the places, and functions of more than 80 lines.
use strict;
use warnings;

my $tree = shift // '.';
chdir $tree or die "$tree: $!\n";

# ---------- reading ----------

sub sources
{
	my ($directory) = @_;
	my @found;

	opendir my $handle, $directory or die "$directory: $!\n";
	for my $name (sort grep { !/^\./ } readdir $handle)
	{
		my $path = "$directory/$name";

		push @found, sources($path) if -d $path && $name ne 'build';
		push @found, $path if $name =~ /\.(c|h|cu|cuh)$/;
	}
	return @found;
}

# The lines of a file, without comments; their number is kept.
sub code_of
{
	my ($path) = @_;

	open my $in, '<', $path or die "$path: $!\n";
	local $/;
	my $text = <$in>;
	# strings and characters are passed over as they are
	$text =~ s{("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|/\*(.*?)\*/|//[^\n]*}{defined $1 ? $1 : defined $2 ? "\n" x ($2 =~ tr/\n//) : ''}gse;
	return split /\n/, $text, -1;
}

# ---------- counting ----------

my ($files, $headers, $lines) = (0, 0, 0);
my (@functions, %windows, %code);

# Functions begin and end with braces in the first column.
sub count_functions
{
	my ($path, @code) = @_;
	my $begin;

	for my $i (0 .. $#code)
	{
		$begin = $i if $code[$i] eq '{' && $i > 0 && $code[ $i - 1 ] =~ /\)\s*$/;
		if ($code[$i] =~ /^\}/ && defined $begin)
		{
			push @functions, [ $i - $begin - 1, "$path:" . ($begin + 1) ];
			undef $begin;
		}
	}
}

for my $path (sources('src'), sources('cuda'))
{
	my @code = code_of($path);

	$files++;
	$headers++ if $path =~ /h$/;
	$lines += grep { /\S/ } @code;
	count_functions($path, @code);
	my @telling = grep { $_->[1] !~ /^(#include.*|[{};()]*|\w+[;:]?)$/ } map { [ $_ + 1, $code[$_] =~ s/\s//gr ] } 0 .. $#code;
	$code{$path} = \@telling;
	push @{ $windows{ join "\n", map { $_->[1] } @telling[ $_ .. $_ + 5 ] } }, [ $path, $_ ] for 0 .. $#telling - 5;
}

# Two windows that go on from two that are alike, too, are the same place.
my (@twice, %counted);
for my $places (sort { $a->[0][0] cmp $b->[0][0] || $a->[0][1] <=> $b->[0][1] } grep { @$_ > 1 } values %windows)
{
	for my $other (@$places[ 1 .. $#$places ])
	{
		my ($first, $from) = @{ $places->[0] };
		my ($second, $to) = @$other;

		$counted{"$first $second " . ($to - $from)}{$from} = 1;
		push @twice, "$first:$code{$first}[$from][0] $second:$code{$second}[$to][0]" if !$counted{"$first $second " . ($to - $from)}{ $from - 1 };
	}
}

# ---------- the answer ----------

my @long = sort { $b->[0] <=> $a->[0] } @functions;
printf "%-45s %d\n", 'lines of code', $lines;
printf "%-45s %d\n", 'files', $files;
printf "%-45s %d\n", 'headers', $headers;
printf "%-45s %d\n", 'functions', scalar @functions;
printf "%-45s %d\n", 'lines of a function, one of a hundred has more', $long[ @long / 100 ][0];
printf "%-45s %d (%s)\n", '... the longest', @{ $long[0] };
printf "%-45s %d\n", '... so many have more than 80', scalar grep { $_->[0] > 80 } @long;
printf "%-45s %d\n", 'places where six lines stand twice', scalar @twice;
print map { "\t$_->[1]: $_->[0] lines\n" } grep { $_->[0] > 80 } @long if $ENV{VERBOSE};
print map { "\t$_\n" } sort @twice if $ENV{VERBOSE};
