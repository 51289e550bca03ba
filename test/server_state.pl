#!/usr/bin/perl
# server_state.pl [TREE]
#		Does src/SERVER_STATE.md have all fields of the server's structs, and all that are set here?
#
# Three checks for each struct of the page, each a line of TAP: the fields of the header of the server that
# PG_CONFIG is of, those of the page, and assignments in src/.  Ends with "N passed, N failed".
use strict;
use warnings;

my $tree = shift // '.';
chdir $tree or die "$tree: $!\n";

my $pg_config = $ENV{PG_CONFIG} || 'pg_config';
my $headers = $ENV{GPUSORT_SERVER_HEADERS} || `$pg_config --includedir-server`;
chomp $headers;

# The header of a struct; how the left side of an assignment to one of its fields looks.
my %structs = (
	CopyFromStateData => [ 'commands/copyfrom_internal.h', qr/\b(?:copy|cstate)->(?!stmt|pstate|relation|options)(\w+)(?:\.\w+)?/ ],
	EState => [ 'nodes/execnodes.h', qr/->(es_\w+)/ ],
	QueryDesc => [ 'executor/execdesc.h', qr/\bquery->(\w+)/ ],
	PortalData => [ 'utils/portal.h', qr/\b(?:portal|ActivePortal)->(\w+)/ ],
	IndexInfo => [ 'nodes/execnodes.h', qr/->(ii_\w+)/ ],
	RelationData => [ 'utils/rel.h', qr/->(rd_\w+|trigdesc|pgstat_\w+)/ ]);

sub text_of
{
	my ($path) = @_;
	local $/;
	open my $file, '<', $path or die "$path: $!\n";
	my $text = <$file>;
	return $text;
}

text_of("$headers/pg_config.h") =~ /^#define PG_VERSION_NUM (\d+)\d{4}$/m or die "no version in $headers\n";
my $version = $1;

# ---------- the server's headers ----------

# Names that a declaration declares.
sub declared
{
	my ($declaration) = @_;
	return $1 if $declaration =~ /\(\s*\*\s*(\w+)\s*\)\s*\(/;
	return map { /(\w+)\s*$/ ? $1 : () } split /,/, $declaration =~ s/\[[^\]]*\]//gr;
}

sub fields_of
{
	my ($struct) = @_;
	my $text = text_of("$headers/$structs{$struct}[0]") =~ s{/\*.*?\*/}{ }gsr =~ s/^[ \t]*#.*$//gmr;
	my ($body) = $text =~ /typedef struct $struct\s*\{(.*?)\n\}/s or die "no struct $struct in $structs{$struct}[0]\n";
	return map { declared($_) } grep { /\S/ } split /;/, $body;
}

# ---------- the page ----------

# Is this server among "16-", "-15" or "16-17"?
sub has_version
{
	my ($from, $to) = @_;
	return ($from eq '' || $version >= $from) && ($to eq '' || $version <= $to);
}

# Fields by struct: of this version, of any, and those that are set here.
my (%listed, %known, %here);

# An item of a list: fields, a colon, and why.
sub take_item
{
	my ($struct, $is_here, $item) = @_;
	my ($fields) = $item =~ /^\* (.*?`(?: \(\d*-\d*\))?): / or return;
	while ($fields =~ /`(\w+)`(?: \((\d*)-(\d*)\))?/g)
	{
		my ($field, $from, $to) = ($1, $2 // '', $3 // '');
		$here{$struct}{$field} = 1 if $is_here;
		$known{$struct}{$field} = 1;
		push @{ $listed{$struct} }, $field if has_version($from, $to);
	}
}

{
	my ($struct, $is_here) = ('', 0);
	# with what an item goes on with in one line
	for (split /\n/, text_of('src/SERVER_STATE.md') =~ s/\n  / /gr)
	{
		$struct = $1 if /^## (\w+)$/;
		$is_here = /^Set here/ if /^(?:Set here|Others):$/;
		take_item($struct, $is_here, $_) if $structs{$struct};
	}
}

# ---------- our source ----------

sub sources
{
	my ($directory) = @_;
	opendir my $handle, $directory or die "$directory: $!\n";
	return map { -d "$directory/$_" ? sources("$directory/$_") : /\.[ch]$/ ? "$directory/$_" : () } grep { !/^\./ } sort readdir $handle;
}

# Where fields are assigned to, by struct and field.
my %assigned;
for my $path (sources('src'))
{
	my $number = 0;
	for my $line (split /\n/, text_of($path))
	{
		$number++;
		next unless $line =~ /->.*(?:=|\+\+|--)/;
		for my $struct (keys %structs)
		{
			$assigned{$struct}{$1} //= "$path:$number" if $line =~ /$structs{$struct}[1]\s*(?:[-+|&]?=(?!=)|\+\+|--)/;
		}
	}
}

# ---------- the answer ----------

my ($passed, $failed) = (0, 0);

sub report
{
	my ($what, @problems) = @_;
	print @problems ? 'not ok' : 'ok', ' ', $passed + $failed + 1, " - $what\n";
	print "# $_\n" for @problems;
	@problems ? $failed++ : $passed++;
}

for my $struct (sort keys %structs)
{
	my %fields = map { $_ => 1 } fields_of($struct);
	my %page;

	$page{$_}++ for @{ $listed{$struct} };
	report("$struct: all fields of PostgreSQL $version are on the page", map { "$_: what do we leave there?" } grep { !$page{$_} } sort keys %fields);
	report("$struct: none but these, and each once", map { $fields{$_} ? "$_: $page{$_} times" : "$_: the server has none" } grep { !$fields{$_} || $page{$_} > 1 } sort keys %page);
	report("$struct: those that are set here are said to be",
		(map { "$assigned{$struct}{$_}: $_" } grep { $known{$struct}{$_} && !$here{$struct}{$_} } sort keys %{ $assigned{$struct} }),
		map { "$_ is set nowhere" } grep { !$assigned{$struct}{$_} } sort keys %{ $here{$struct} });
}
print "$passed passed, $failed failed\n";
exit($failed > 0);
