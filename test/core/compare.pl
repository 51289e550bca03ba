#!/usr/bin/perl
#
# compare.pl [--update | --fewer] WITHOUT WITH LISTED TEST...
#		Compare the core suite's results without and with gpusort.
#
# WITHOUT and WITH are directories of psql output, TEST.out each; the TESTs are
# those whose output with gpusort matches none of PostgreSQL's expected files.
# Both outputs are normalised: a plan with "Custom Scan (GpuSort)" in place of
# "Sort", and with "Custom Scan (GpuSort Unique)" in place of "Unique", is the same plan, whatever the
# sort's method.  What differs after that must be listed in
# LISTED/TEST.diff, line by line, each part under its reason:
#
#	# why these lines differ, in one line
#	# the statement
#	-line without gpusort
#	+line with gpusort
#
# Positions are not recorded, so that another minor release's tests fit too.
# A part whose reason starts with "may differ:" need not occur, as long as no
# line occurs that is not listed.  A listed difference that does not occur is an
# error too: the list has to be true.  --fewer: not an error, as gpusort was run in a way in
# which fewer plans are possible.
#
# --update rewrites the lists: parts keep the reasons they have, new ones get
# "# REASON MISSING", which counts as a failure until somebody has found out.
#
# Prints one line per failed test and its unlisted lines, at last "N passed, N failed".

use strict;
use warnings;

my $update = @ARGV && $ARGV[0] eq '--update' && shift @ARGV;
my $fewer = @ARGV && $ARGV[0] eq '--fewer' && shift @ARGV;
my ($without, $with, $listed, @tests) = @ARGV;
my ($passed, $failed) = (0, 0);

sub read_lines
{
	my ($file) = @_;

	open my $fh, '<', $file or return ();
	my @lines = <$fh>;
	close $fh;
	chomp @lines;
	return @lines;
}

# Lines that only GpuSort's own EXPLAIN output has.
my $own_property = qr/^\s*(?:Engine|Key Encoding|Phases|Handed Over|Columns Returned|Rows From Pages|Calls Saved|Equal Rows):/;

# Lines of EXPLAIN (FORMAT JSON) in which the ways of run.sh differ.
my $way_property = qr/^\s*"(?:Engine|Verified|Partition Passes|Rounds|Devices|Reordered Rows)":/;

# A GpuSort Count stands for an Aggregate, above a Unique if it is not above a join.
sub expand_counts
{
	my @expanded;
	my $below;
	my $kind = (grep { /Finalize Aggregate/ } @_) ? 'Partial Aggregate' : 'Aggregate';

	for my $i (0 .. $#_)
	{
		my $row = $_[$i];
		my ($lead) = $row =~ /^(\s*(?:->  )?)/;
		my $counts = $row =~ s/Custom Scan \(GpuSort Count\)/$kind/;

		undef $below if defined $below && length $lead <= $below;
		if ($counts && ($_[ $i + 1 ] // '') !~ /GpuSort (?:Index )?Join/)
		{
			$below = length $lead;
			push @expanded, $row, ' ' x ($below + 2) . '->  Unique';
		}
		else
		{
			push @expanded, (defined $below ? ' ' x 6 : '') . $row;
		}
	}
	return @expanded;
}

# One table of psql's output: header, ruler, rows, count.  Column widths follow
# the longest row, so all padding goes; the rows of a plan keep their indentation.
sub normalise_plan
{
	my ($header, $ruler, @rows) = @_;
	my $count = pop @rows;

	for (@rows)
	{
		s/Custom Scan \(GpuSort\)/Sort/;
		s/Custom Scan \(GpuSort Unique\)/Unique/;
		s/Sort Method: (?:radix|quicksort|top-N heapsort)/Sort Method: any/;
		s/^(\s*(?:Worker \d+:  )?Sort Method: any .*)  Pool: \w+/$1/;
	}
	@rows = expand_counts(grep { !/$own_property|$way_property/ } @rows);
	s/\s*\+?$// for @rows;
	s/\s+(?=\|)//g for @rows;
	$header =~ s/\s+/ /g;
	$header =~ s/^ | $//g;
	$ruler =~ s/-+/-/g;
	return ($header, $ruler, @rows, $count =~ /^\(\d+ rows?\)$/ ? '(rows)' : $count);
}

sub normalise
{
	my @in = @_;
	my @out;

	for (my $i = 0; $i < @in; $i++)
	{
		if ($i + 1 < @in && $in[$i + 1] =~ /^-[-+]*$/ && length $in[$i] == length $in[$i + 1])
		{
			my $end = $i + 2;

			$end++ while $end < @in && $in[$end] !~ /^\(\d+ rows?\)$/;
			if ($end < @in && grep { /QUERY PLAN|explain|Sort Key|->  / } @in[$i .. $end])
			{
				push @out, normalise_plan(@in[$i .. $end]);
				$i = $end;
				next;
			}
		}
		push @out, $in[$i];
	}
	return @out;
}

# The statement whose output line $n (from 1) belongs to, on one line.
sub statement_before
{
	my ($n, @lines) = @_;
	my $end = $n - 1;
	my $begin;

	$end-- while $end > 0 && $lines[$end] !~ /;\s*(?:--.*)?$/;
	$begin = $end;
	$begin-- while $begin > 0 && $lines[ $begin - 1 ] !~ /;\s*(?:--.*)?$|^\s*$|^--|^\(\d+ rows?\)$|^\(rows\)$|^(?:ERROR|NOTICE|DETAIL):/;
	my $statement = join ' ', @lines[$begin .. $end];
	$statement =~ s/\s+/ /g;
	$statement =~ s/^\\x //;
	return length $statement > 300 ? substr($statement, 0, 297) . '...' : $statement;
}

# The lines that differ, in parts: each a reference to a list of the statement and
# "-..." and "+..." lines.
sub difference
{
	my ($test) = @_;
	my @file = map { "$_/$test.normalised" } $without, $with;
	my (@parts, $part);
	my @output;

	for my $i (0, 1)
	{
		my $dir = ($without, $with)[$i];

		open my $fh, '>', $file[$i] or die "$file[$i]: $!";
		@output = normalise(read_lines("$dir/$test.out"));
		print $fh "$_\n" for @output;
		close $fh or die "$file[$i]: $!";
	}
	open my $diff, '-|', 'diff', '-U0', @file or die "diff: $!";
	while (my $line = <$diff>)
	{
		chomp $line;
		next if $line =~ /^(?:---|\+\+\+) \Q$without\E|^(?:---|\+\+\+) \Q$with\E/;
		next if $line =~ /^\\/;
		if ($line =~ /^@@ \S+ \+(\d+)/)
		{
			my $statement = statement_before($1, @output);

			if (!@parts || $parts[-1][0] ne $statement)
			{
				push @parts, [$statement];
			}
			$part = $parts[-1];
			next;
		}
		push @$part, $line;
	}
	close $diff;
	return @parts;
}

# LISTED/TEST.diff as a list of [reason, lines...].
sub read_listed
{
	my ($test) = @_;
	my @parts;
	my $in_reason = 0;

	for my $line (read_lines("$listed/$test.diff"))
	{
		if ($line =~ /^# ?(.*)/)
		{
			if ($in_reason)
			{
				$parts[-1][0] .= "\n$1";
			}
			else
			{
				push @parts, [$1];
			}
			$in_reason = 1;
		}
		elsif ($line =~ /^[-+]/)
		{
			die "$listed/$test.diff: lines without a reason\n" if !@parts;
			push @{ $parts[-1] }, $line;
			$in_reason = 0;
		}
	}
	return @parts;
}

sub write_listed
{
	my ($test, @parts) = @_;
	my %reason_of;

	for my $old (read_listed($test))
	{
		my ($reason, @lines) = @$old;

		$reason =~ s/\n.*//s;
		$reason_of{ join "\n", @lines } = $reason;
	}
	open my $fh, '>', "$listed/$test.diff" or die "$listed/$test.diff: $!";
	for my $part (@parts)
	{
		my ($statement, @lines) = @$part;
		my $reason = $reason_of{ join "\n", @lines } // 'REASON MISSING';

		print $fh "# $reason\n# $statement\n";
		print $fh "$_\n" for @lines;
	}
	close $fh;
}

# Lines of the parts found that are not listed, and listed ones not found.
sub unexplained
{
	my ($found, $listed_parts) = @_;
	my @problems;
	my %budget;
	my %optional;

	for my $part (@$listed_parts)
	{
		my ($reason, @lines) = @$part;

		push @problems, "reason missing: $_" for $reason =~ /^REASON MISSING/ ? $lines[0] : ();
		my $count = $reason =~ /^may differ:/ ? \%optional : \%budget;
		$count->{$_}++ for @lines;
	}
	for my $line (map { @$_[1 .. $#$_] } @$found)
	{
		if    ($budget{$line})   { $budget{$line}--; }
		elsif ($optional{$line}) { $optional{$line}--; }
		else                     { push @problems, "not listed: $line"; }
	}
	for my $line ($fewer ? () : sort keys %budget)
	{
		push @problems, "listed, but does not occur: $line" for 1 .. $budget{$line};
	}
	return @problems;
}

for my $test (@tests)
{
	my @found = difference($test);

	if ($update)
	{
		if (@found)
		{
			write_listed($test, @found);
		}
		else
		{
			unlink "$listed/$test.diff";
		}
	}
	my @listed_parts = read_listed($test);
	my @problems = unexplained(\@found, \@listed_parts);

	if (@problems)
	{
		$failed++;
		print "FAILED $test\n";
		print "  $_\n" for @problems > 60 ? (@problems[0 .. 59], '...') : @problems;
	}
	else
	{
		$passed++;
	}
}
print "$passed passed, $failed failed\n";
exit($failed > 0);
