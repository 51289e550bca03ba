# Strings.pm
#	Random strings of all scripts, and the collations that they are hard for.
#
# Sort keys and comparisons of ICU have disagreed about characters that are ignored or that
# combine with others, so those come often and in any order.
package Strings;
use strict;
use warnings;
use Exporter 'import';
use Types qw(pick chance between);
our @EXPORT_OK = qw(strings literal custom_collations);

# [first, last]: Latin, digits and punctuation, other alphabets ...
my @letters = ([ 0x61, 0x7a ], [ 0x41, 0x5a ], [ 0x20, 0x7e ], [ 0x20, 0x40 ], [ 0xa1, 0x17f ], [ 0x370, 0x3ff ], [ 0x400, 0x52f ]);

# ... scripts that combine, contract or expand ...
my @scripts = (
	[ 0x590, 0x6ff ], [ 0x900, 0x97f ], [ 0x980, 0x9ff ], [ 0xb80, 0xbff ], [ 0xd80, 0xdff ], [ 0xe00, 0xe5f ], [ 0xe80, 0xedf ],
	[ 0xf00, 0xfbf ], [ 0x1000, 0x109f ], [ 0x1100, 0x11ff ], [ 0x1780, 0x17df ], [ 0xac00, 0xd7a3 ], [ 0x3041, 0x30ff ], [ 0x4e00, 0x9fff ],
	[ 0x1d00, 0x1eff ], [ 0x1f300, 0x1f64f ], [ 0x10900, 0x1091f ], [ 0x20000, 0x2a6df ], [ 0xe000, 0xe010 ]);

# ... and what follows others or is nothing by itself.
my @marks = ([ 0x300, 0x36f ], [ 0x300, 0x36f ], [ 0x20d0, 0x20f0 ], [ 0xfe00, 0xfe0f ], [ 0x200b, 0x200f ], [ 0x1, 0x1f ], [ 0xad, 0xad ], [ 0x2060, 0x2064 ],
	[ 0xe0100, 0xe0110 ], [ 0x3099, 0x309a ], [ 0x94d, 0x94d ], [ 0xe48, 0xe4b ], [ 0xf71, 0xf84 ]);

sub character { my $range = pick(@_); return between(@$range); }

# $n strings, as lists of code points.  Mostly of a few characters each, so that many differ
# in nothing but a mark, or in the order of two; some begin alike and some come again.
sub strings
{
	my ($n, $utf8) = @_;
	my @ranges = !$utf8 ? [ 0x20, 0x7e ] : pick([@letters], [ @letters, @scripts ], [ map { pick(@letters, @scripts) } 1 .. 2 ])->@*;
	my $any = sub { $utf8 && chance(0.35) ? character(@marks) : character(@ranges) };
	if (chance(0.75))
	{
		my @few = map { $any->() } 1 .. between(1, 3);
		# what some collations ignore, and what it takes with it: most of all marks for symbols
		push @few, pick(0x20, 0x2a, 0x2d, 0x2e);
		push @few, (map { character(@marks) } 1 .. between(1, 2)), chance(0.7) ? character([ 0x20d0, 0x20f0 ]) : () if $utf8;
		$any = sub { pick(@few) };
	}
	my $max = pick(2, 3, 3, 4, 8);
	my $again = pick(0, 0, 0.1, 0.7);
	my @starts = map { [ map { $any->() } 1 .. between(0, 3) ] } 1 .. between(1, 4);
	my @made;
	for (1 .. $n)
	{
		push @made, @made && chance($again) ? pick(@made) : [ chance(0.3) ? @{ pick(@starts) } : (), map { $any->() } 1 .. between(0, $max) ];
	}
	return @made;
}

# A string as SQL, in ASCII.
sub literal
{
	my $points = shift;
	my $plain = !grep { $_ < 0x20 || $_ > 0x7e } @$points;
	my $text = join '', map {
		$_ == 0x27 ? "''"
		  : $_ == 0x5c && !$plain ? '\\\\'
		  : $_ >= 0x20 && $_ <= 0x7e ? chr
		  : $_ < 0x10000 ? sprintf('\\%04X', $_) : sprintf('\\+%06X', $_)
	} @$points;
	return $plain ? "'$text'" : "U&'$text'";
}

# [name, locale, deterministic]: settings of ICU's that change what is compared.
my @custom = (
	[ 'shifted', 'und-u-ka-shifted', 1 ], [ 'shifted_equal', 'und-u-ka-shifted', 0 ], [ 'shifted_symbols', 'und-u-ka-shifted-kv-symbol-kn', 1 ],
	[ 'shifted_level1', 'und-u-ka-shifted-ks-level1', 0 ], [ 'shifted_level4', 'und-u-ka-shifted-ks-level4', 1 ], [ 'shifted_da', 'da-u-ka-shifted-kn', 1 ],
	[ 'level1', 'und-u-ks-level1', 0 ], [ 'level2', 'de-u-ks-level2', 0 ], [ 'level4', 'ja-u-ks-level4', 1 ], [ 'identic', 'th-u-ks-identic', 1 ],
	[ 'numeric', 'de-u-kn', 1 ], [ 'upper_first', 'da-u-kf-upper', 1 ], [ 'case_level', 'und-u-kc', 1 ], [ 'backwards', 'fr-u-kb-true', 1 ],
	[ 'normalised', 'und-u-kk-true', 1 ], [ 'digits_last', 'en-u-kr-latn-digit', 1 ], [ 'greek_first', 'und-u-kr-grek-latn', 1 ],
	[ 'pinyin', 'zh-u-co-pinyin', 1 ], [ 'phonebook', 'de-u-co-phonebk', 1 ], [ 'traditional', 'es-u-co-trad', 1 ]);

# { name => statement that makes it }
sub custom_collations
{
	return map { ("fuzz_$_->[0]" => "CREATE COLLATION fuzz_$_->[0] (provider = icu, locale = '$_->[1]', deterministic = " . ($_->[2] ? 'true' : 'false') . ')') } @custom;
}

# Is it a collation whose equal strings are the same strings?
sub is_deterministic { my $name = shift; return !grep { "fuzz_$_->[0]" eq $name && !$_->[2] } @custom; }

1;
