#!/usr/bin/perl
# meta.pl META.json
#		Is it what PGXN accepts? By its Meta Spec 1.0.0 (https://pgxn.org/spec/); prints one line for each problem.
#
# Files are looked for beside META.json. Needs JSON::PP, which comes with perl.
use strict;
use warnings;

use File::Basename qw(dirname);
use JSON::PP ();

my $semver = qr/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-?[A-Za-z][0-9A-Za-z-]*)?$/;
my $url = qr{^[a-z][a-z0-9+.-]*://[^\s/]+\S*$}i;
my %licenses = map { $_ => 1 } qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3
	gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit mozilla_1_0 mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib
	open_source restricted unrestricted unknown);
my ($folder, $problems) = ('.', 0);

# What each key must be; those with a 1 must be there.
my %keys = (
	'name' => [ \&check_name, 1 ],
	'version' => [ matches($semver, 'a semantic version'), 1 ],
	'abstract' => [ \&check_string, 1 ],
	'maintainer' => [ one_or_list(\&check_string), 1 ],
	'license' => [ \&check_license, 1 ],
	'provides' => [ map_of(object(
		file => [ \&check_file, 1 ], version => [ matches($semver, 'a semantic version'), 1 ],
		abstract => [ \&check_string ], docfile => [ \&check_file ])), 1 ],
	'meta-spec' => [ object(version => [ matches(qr/^1\.0\.\d+$/, 'version 1.0'), 1 ], url => [ matches($url, 'a URL') ]), 1 ],
	'description' => [ \&check_string ],
	'generated_by' => [ \&check_string ],
	'tags' => [ \&check_tags ],
	'no_index' => [ object(file => [ one_or_list(\&check_string) ], directory => [ one_or_list(\&check_string) ]) ],
	'prereqs' => [ object(map { $_ => [ object(map { $_ => [ map_of(\&check_range) ] } qw(requires recommends suggests conflicts)) ] }
		qw(configure build test runtime develop)) ],
	'release_status' => [ matches(qr/^(stable|testing|unstable)$/, 'stable, testing or unstable') ],
	'resources' => [ object(
		homepage => [ matches($url, 'a URL') ],
		bugtracker => [ object(web => [ matches($url, 'a URL') ], mailto => [ matches(qr/^\S+@\S+$/, 'an address') ]) ],
		repository => [ object(url => [ matches($url, 'a URL') ], web => [ matches($url, 'a URL') ], type => [ matches(qr/^[a-z]+$/, 'lower case') ]) ]) ]);

sub problem
{
	my ($where, $what) = @_;

	print "$where: $what\n";
	$problems++;
}

sub check_string
{
	my ($where, $value) = @_;

	problem($where, 'is no text') if !defined $value || ref $value || $value !~ /\S/;
}

sub matches
{
	my ($pattern, $what) = @_;

	return sub { problem($_[0], "is not $what") if ref $_[1] || ($_[1] // '') !~ $pattern };
}

sub check_name
{
	my ($where, $value) = @_;

	problem($where, 'is no name: two characters or more, no spaces, slashes and control characters')
		if ref $value || ($value // '') !~ m{^[^\s/\\\x00-\x1f\x7f]{2,}$};
}

sub check_file
{
	my ($where, $value) = @_;

	check_string($where, $value);
	problem($where, "there is no $value") if defined $value && !ref $value && !-f "$folder/$value";
}

sub check_license
{
	my ($where, $value) = @_;

	if (ref $value eq 'HASH')
	{
		map_of(matches($url, 'a URL'))->($where, $value);
		return;
	}
	one_or_list(sub { problem($_[0], "PGXN does not know it") if ref $_[1] || !$licenses{ $_[1] // '' } })->($where, $value);
}

sub check_tags
{
	my ($where, $value) = @_;

	return problem($where, 'is no list') if ref $value ne 'ARRAY' || !@$value;
	for my $tag (@$value)
	{
		problem($where, 'a tag has 1 to 255 characters, no slashes and control characters')
			if ref $tag || ($tag // '') !~ m{^[^/\\\x00-\x1f\x7f]{1,255}$};
	}
}

# A version, 0 for any, or comparisons.
sub check_range
{
	my ($where, $value) = @_;

	return problem($where, 'is no version') if ref $value || !defined $value;
	for my $part (split /\s*,\s*/, $value)
	{
		my ($version) = $part =~ /^(?:(?:==|!=|<=|>=|<|>)\s*)?(\S+)$/;
		problem($where, "$part is no version") if !defined $version || ($version ne '0' && $version !~ $semver);
	}
}

sub one_or_list
{
	my ($check) = @_;

	return sub {
		my ($where, $value) = @_;

		return $check->($where, $value) if ref $value ne 'ARRAY';
		problem($where, 'is empty') if !@$value;
		$check->($where, $_) for @$value;
	};
}

sub map_of
{
	my ($check) = @_;

	return sub {
		my ($where, $value) = @_;

		return problem($where, 'is no object, or empty') if ref $value ne 'HASH' || !%$value;
		$check->("$where.$_", $value->{$_}) for sort keys %$value;
	};
}

# An object with these keys, and others that begin with x_.
sub object
{
	my %known = @_;

	return sub {
		my ($where, $value) = @_;

		return problem($where, 'is no object') if ref $value ne 'HASH';
		for my $key (sort keys %$value)
		{
			next if $key =~ /^x_/i;
			$known{$key} ? $known{$key}[0]->("$where.$key", $value->{$key}) : problem("$where.$key", 'PGXN knows no such key');
		}
		problem("$where.$_", 'is missing') for grep { $known{$_}[1] && !exists $value->{$_} } sort keys %known;
	};
}

@ARGV == 1 or die "usage: meta.pl META.json\n";
$folder = dirname($ARGV[0]);
open my $file, '<:raw', $ARGV[0] or die "$ARGV[0]: $!\n";
my $meta = eval { JSON::PP->new->utf8->decode(do { local $/; <$file> }) };
if (!defined $meta)
{
	problem($ARGV[0], "is no JSON: $@");
}
else
{
	object(%keys)->('META', $meta);
}
exit($problems > 0);
