#!/usr/bin/perl
# coverage.pl PREFIX TEXT: gcov's JSON from standard input, a document each line; the table in Markdown.
use strict;
use warnings;
use JSON::PP;

my ($prefix, $text) = @ARGV;
my (%lines, %branches);

while (my $document = <STDIN>)
{
	my $report = decode_json($document);

	for my $file (@{ $report->{files} })
	{
		my $name = $file->{file};

		$name =~ s{^.*/(?:test/unit/)?(?:\.\./)*src/}{} or next;
		next if $file->{file} !~ m{^\Q$prefix\E} && $file->{file} !~ m{/src/} || $file->{file} =~ m{^/usr/};
		for my $line (@{ $file->{lines} })
		{
			my $number = $line->{line_number};

			$lines{$name}{$number} = ($lines{$name}{$number} // 0) + $line->{count};
			my $i = 0;
			for my $branch (@{ $line->{branches} })
			{
				next if $branch->{throw};
				$branches{$name}{"$number." . $i++} += $branch->{count};
			}
		}
	}
}

sub share
{
	my ($counts) = @_;
	my $all = keys %$counts;
	my $reached = grep { $_ > 0 } values %$counts;

	return ($reached, $all, $all == 0 ? '' : sprintf '%.1f %%', 100 * $reached / $all);
}

my (%all_lines, %all_branches, %folders);
my $table = '';
for my $name (sort keys %lines)
{
	my (undef, $n, $line_share) = share($lines{$name});
	my (undef, $m, $branch_share) = share($branches{$name} // {});

	$all_lines{"$name:$_"} = $lines{$name}{$_} for keys %{ $lines{$name} };
	$all_branches{"$name:$_"} = $branches{$name}{$_} for keys %{ $branches{$name} // {} };
	$table .= "| `$name` | $n | $line_share | $m | $branch_share |\n";
}
my ($reached, $n, $line_share) = share(\%all_lines);
my ($reached_branches, $m, $branch_share) = share(\%all_branches);

open my $explained, '<', $text or die "$text: $!\n";
print "# Coverage\n\n", <$explained>, "\n| file | lines | reached | branches | reached |\n| --- | ---: | ---: | ---: | ---: |\n";
print "| all | $n | $line_share | $m | $branch_share |\n$table";
