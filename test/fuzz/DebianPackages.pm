# DebianPackages.pm
#	Text of the real world: Debian's package index as a table.
#
# `apt-cache dumpavail` knows about 60,000 packages on a machine that has ever run
# `apt-get update`: names that share prefixes, versions full of punctuation,
# people's names in many scripts, long lists, few distinct sections, many NULLs.
package DebianPackages;
use strict;
use warnings;
use PgWire;

# Columns of the table, and the fields that they hold.
our @columns = (
	[ package => 'text', 'Package' ], [ version => 'text', 'Version' ], [ source => 'text', 'Source' ],
	[ architecture => 'text', 'Architecture' ], [ maintainer => 'text', 'Maintainer' ], [ section => 'text', 'Section' ],
	[ priority => 'text', 'Priority' ], [ description => 'text', 'Description' ], [ homepage => 'text', 'Homepage' ],
	[ depends => 'text', 'Depends' ], [ tag => 'text', 'Tag' ], [ filename => 'text', 'Filename' ],
	[ installed_size => 'bigint', 'Installed-Size' ], [ size => 'bigint', 'Size' ], [ sha256 => 'bytea', 'SHA256' ]);

# Why it cannot be loaded here, or undef.
sub missing
{
	my $any = `apt-cache dumpavail 2>/dev/null | head -c 1`;
	return defined $any && length $any ? undef : 'apt-cache knows no packages (apt-get update has never run here)';
}

# Make and fill the table `packages`; at most $limit rows if that is not 0.
# Returns the number of rows.
sub load
{
	my ($conn, $limit) = @_;
	$conn->must('DROP TABLE IF EXISTS packages');
	$conn->must('CREATE TABLE packages (' . join(', ', map { "$_->[0] $_->[1]" } @columns) . ')');
	# every step-th package, so that a part shows the whole alphabet
	my $step = 1;
	if ($limit)
	{
		my $all = () = `apt-cache dumpavail` =~ /^Package:/mg;
		$step = int($all / $limit) || 1;
	}
	open my $in, '-|', 'apt-cache', 'dumpavail' or die "apt-cache: $!\n";
	local $/ = '';
	my ($n, $seen) = (0, 0);
	$conn->copy_in(
		'COPY packages FROM STDIN',
		sub {
			while (my $stanza = <$in>)
			{
				next if $seen++ % $step;
				my %field;
				while ($stanza =~ /^([A-Za-z0-9-]+):[ \t]*((?:.*\n?)(?:[ \t].*\n?)*)/mg)
				{
					my ($name, $value) = ($1, $2);
					$value =~ s/\n+$//;
					$field{$name} = $value;
				}
				next if !defined $field{Package};
				$field{SHA256} = "\\x$field{SHA256}" if defined $field{SHA256};
				$n++;
				return join("\t", map { PgWire::copy_field($field{ $_->[2] }) } @columns) . "\n";
			}
			return undef;
		});
	close $in;
	$conn->must('ANALYZE packages');
	return $n;
}

1;
