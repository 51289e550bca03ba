# Tpch.pm
#	TPC-H's tables, and the queries on them of reports.sql.
package Tpch;
use strict;
use warnings;
use Exporter qw(import);
use File::Temp qw(tempdir);
use FindBin;

our @EXPORT_OK = qw(make_tpch_tables read_parts read_reports);

my @tables = qw(region nation supplier part partsupp customer orders lineitem);

# The parts of a file here: name, text, name, ...
sub read_parts
{
	local $/;
	open my $in, '<', "$FindBin::RealBin/$_[0]" or die "cannot read $_[0]: $!\n";
	my (undef, @parts) = split /^-- (\w+)\n/m, <$in>;
	return map { s/^--.*\n//mgr } @parts;
}

# [name, query] of a file (reports.sql), but for its tables
sub read_reports
{
	my @parts = read_parts($_[0] // 'reports.sql');
	my @found;

	while (my ($name, $query) = splice @parts, 0, 2)
	{
		$query =~ s/;?\s*\z//;
		push @found, [ $name, $query ] if $name ne 'tables';
	}
	return @found;
}

sub load_table
{
	my ($conn, $table, $dir) = @_;

	open my $in, '<', "$dir/$table.csv" or die "cannot read $dir/$table.csv: $!\n";
	$conn->copy_in("COPY $table FROM STDIN (FORMAT csv, HEADER)", sub { my $piece; return read($in, $piece, 1 << 16) ? $piece : undef });
}

# Over a connection of PgWire: data, the directory with files of tpchgen-cli csv; or generator and scale.
sub make_tpch_tables
{
	my ($conn, %args) = @_;
	my $dir = $args{data};

	if (!defined $dir)
	{
		$dir = tempdir(CLEANUP => 1);
		system($args{generator}, 'csv', '-s', $args{scale}, "--output-dir=$dir") == 0 or die "$args{generator} has failed; is it installed?\n";
	}
	my %statements = read_parts('tpch.sql');
	$conn->must($statements{tables});
	load_table($conn, $_, $dir) for @tables;
	$conn->must($statements{indexes});
}

1;
