# Week.pm
#	The tables of week.sql, beside TPC-H's.
package Week;
use strict;
use warnings;
use Exporter qw(import);
use Tpch qw(read_parts);

our @EXPORT_OK = qw(make_week_tables);

# Names of countries, their parts, languages, currencies and scripts in these languages, as Debian's package
# iso-codes has them.
my @languages = qw(ar be bg cs de el es fi fr he hu it ja ko pl pt ru sv th tr uk vi zh_CN);
my @domains = qw(iso_3166-1 iso_3166-2 iso_639-3 iso_4217 iso_15924);

# The translations in a catalogue of GNU gettext: two tables of lengths and offsets, of the texts and of what
# they are in another language.
sub read_catalogue
{
	my ($file) = @_;

	open my $in, '<:raw', $file or return ();
	my $all = do { local $/; <$in> };
	my ($magic, undef, $number, undef, $at) = unpack 'V5', $all;
	die "$file is no catalogue\n" if $magic != 0x950412de;
	my @places = unpack 'V*', substr($all, $at, 8 * $number);
	my @found;

	while (my ($length, $offset) = splice @places, 0, 2)
	{
		my $text = substr($all, $offset, $length);

		# the first is the catalogue's header
		push @found, $text if length $text && $text !~ /\n/;
	}
	return @found;
}

# Text as COPY wants it.
sub field { return $_[0] =~ s/([\\\t\n\r])/sprintf '\\x%02x', ord $1/egr; }

# Fills the table `names`; returns how many there are.
sub load_names
{
	my ($conn) = @_;
	my ($id, @lines) = (0);

	for my $language (@languages)
	{
		for my $domain (@domains)
		{
			push @lines, join("\t", ++$id, field($_), $language) . "\n"
				for read_catalogue("/usr/share/locale/$language/LC_MESSAGES/$domain.mo");
		}
	}
	die "there are no names: the package iso-codes is missing\n" if !@lines;
	$conn->must('CREATE TABLE names (id int, name text, language text)');
	$conn->copy_in('COPY names FROM STDIN', sub { return shift @lines });
	return $id;
}

# Over a connection of PgWire, with so many visits and half as many people.
sub make_week_tables
{
	my ($conn, $rows) = @_;
	my %parts = read_parts('week.sql');
	my $names = load_names($conn);

	$conn->must($parts{tables} =~ s/:names/$names/gr =~ s/:rows/$rows/gr);
}

1;
