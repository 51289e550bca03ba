# Median.pm
#	The median of measured values, which all benchmarks share.
package Median;
use strict;
use warnings;
use Exporter qw(import);

our @EXPORT = qw(median);

# Of an even number of values, the mean of the two in the middle; of none, 0.
sub median
{
	my @sorted = sort { $a <=> $b } @_;
	return @sorted ? ($sorted[ $#sorted / 2 ] + $sorted[ @sorted / 2 ]) / 2 : 0;
}

1;
