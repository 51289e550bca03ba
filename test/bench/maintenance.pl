#!/usr/bin/perl
# maintenance.pl
#	What an administrator waits for: pg_dump, pg_restore -j, REINDEX, indexes that are built while others write.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, with its settings, and with the programs of PATH, in
# databases of its own.  One has TPC-H's tables (by tpchgen-cli), the other a table of many columns and indexes.  Each is dumped
# into a directory, restored from there by section, and indexes of what was restored are built, with gpusort.enabled off and on in
# turn.  Elapsed ms, medians.  What the two sides have restored first is compared: each table's rows, and each index by amcheck.
# --only-restore leaves out comparing, and what is built later: for large databases.
#
#	--scale N		TPC-H's scale factor (1)
#	--wide N		rows of the wide table (1000000 x scale)
#	--jobs N		of pg_dump and pg_restore (2)
#	--repeat N		(3)
#	--sessions N	that fill the wide table (2)
#	--dir DIR		where dumps go (a temporary one)
#	--generator CMD	(tpchgen-cli)
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Getopt::Long;
use Median;
use PgWire;
use Sessions qw(fill_at_once);
use Time::HiRes 'time';
use Tpch qw(make_tpch_tables);

my %opt = (scale => 1, jobs => 2, repeat => 3, sessions => 2, generator => 'tpchgen-cli');
GetOptions(\%opt, 'scale=f', 'wide=i', 'jobs=i', 'repeat=i', 'sessions=i', 'dir=s', 'generator=s', 'only-restore') or exit 2;
$opt{wide} //= int(1_000_000 * $opt{scale});
$opt{dir} //= tempdir(CLEANUP => 1);
make_path($opt{dir});
$| = 1;

my %made = (tpch => "maintain_tpch_$$", wide => "maintain_wide_$$");
my $copy = "maintain_copy_$$";
# Of each database: statements on what was restored.
my %statements = (
	tpch => [ 'CREATE INDEX CONCURRENTLY by_date ON lineitem (l_shipdate, l_suppkey)', 'REINDEX TABLE lineitem', 'REINDEX TABLE CONCURRENTLY orders' ],
	wide => [ 'CREATE INDEX CONCURRENTLY by_two ON wide (t3, n7)', 'REINDEX TABLE wide', 'REINDEX TABLE CONCURRENTLY wide' ]);
my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort maintenance');
my $began = time;
my ($side, %ms, @phases, %digests);

sub timed
{
	my ($phase, $run) = @_;
	my $begin = time;

	$run->();
	push @phases, $phase unless $ms{$phase};
	push @{ $ms{$phase}{$side} }, 1000 * (time - $begin);
	printf "# %.0f s: %s, %s: %.0f\n", time - $began, $side, $phase, $ms{$phase}{$side}[-1];
}

sub program
{
	local $ENV{PGOPTIONS} = "-c gpusort.enabled=$side";
	system(@_) == 0 or die "@_ has failed\n";
}

sub make_wide_table
{
	my ($conn) = @_;
	my @columns = ('g AS id', map { ("hashint8extended(g, $_) AS n$_", "left(md5((g * $_)::text), 8 + $_ % 9) AS t$_", "date '2000-01-01' + int4(g * $_ % 9000) AS d$_") } 1 .. 15);

	my $columns = join ', ', @columns;

	$conn->must("CREATE TABLE wide AS SELECT $columns FROM generate_series(1, 0) g");
	fill_at_once($made{wide}, $opt{sessions}, 'wide', $columns, $opt{wide});
	$conn->must($_) for 'ALTER TABLE wide ADD PRIMARY KEY (id)', map { "CREATE INDEX ON wide ($_)" } 'n1', 't2', 'd3, n3', 't4 DESC', 'n5, t5', 'd6', 'lower(t7)';
}

# A digest of each table, whatever the order of its rows; and each btree is checked.
sub digest
{
	my $conn = PgWire->connect(dbname => $copy, name => 'gpusort maintenance');
	my @found;

	$conn->must('SET gpusort.enabled = off');
	$conn->must('CREATE EXTENSION amcheck');
	for my $table (map { $_->[0] } @{ $conn->must(q(SELECT oid::regclass FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1))->{rows} })
	{
		push @found, "$table " . $conn->value("SELECT count(*) || ' ' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) FROM $table t");
	}
	$conn->must(q(SELECT bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = 'public'::regnamespace));
	$conn->close;
	return join "\n", @found;
}

sub measure
{
	my ($name, $turn) = @_;
	my $dump = "$opt{dir}/$name";

	$admin->must("CREATE DATABASE $copy");
	system('rm', '-rf', $dump);
	timed("$name: pg_dump -j $opt{jobs}", sub { program('pg_dump', '-Fd', '-Z0', "-j$opt{jobs}", '-f', $dump, $made{$name}) });
	timed("$name: pg_restore -j $opt{jobs}, tables", sub { program('pg_restore', "-j$opt{jobs}", '--section=pre-data', '--section=data', '-d', $copy, $dump) });
	timed("$name: ... indexes and keys", sub { program('pg_restore', "-j$opt{jobs}", '--section=post-data', '-d', $copy, $dump) });
	if (!$opt{'only-restore'})
	{
		my $conn = PgWire->connect(dbname => $copy, name => 'gpusort maintenance');

		$conn->must("SET gpusort.enabled = $side");
		for my $statement (@{ $statements{$name} })
		{
			timed("$name: $statement", sub { $conn->must($statement) });
		}
		$conn->close;
		push @{ $digests{$name} }, digest() if $turn == 1;
	}
	$admin->must("DROP DATABASE $copy WITH (FORCE)");
}

my $done = eval {
	for my $name (sort keys %made)
	{
		$admin->must("CREATE DATABASE $made{$name}");
		my $conn = PgWire->connect(dbname => $made{$name}, name => 'gpusort maintenance');
		$name eq 'tpch' ? make_tpch_tables($conn, generator => $opt{generator}, scale => $opt{scale}) : make_wide_table($conn);
		$conn->must('VACUUM ANALYZE');
		printf "# %s: %d MB, made in %.0f s\n", $name, $conn->value('SELECT pg_database_size(current_database()) >> 20'), time - $began;
		$conn->close;
	}
	for my $turn (1 .. $opt{repeat})
	{
		for my $name (sort keys %made)
		{
			($side = $_, measure($name, $turn)) for $turn % 2 ? qw(off on) : qw(on off);
		}
	}
	print "| phase | PostgreSQL, ms | gpusort, ms | times faster |\n| --- | ---: | ---: | ---: |\n";
	for my $phase (@phases)
	{
		my ($theirs, $ours) = map { median(@{ $ms{$phase}{$_} }) } qw(off on);
		printf "| `%s` | %.0f | %.0f | %.2f |\n", $phase, $theirs, $ours, $theirs / $ours;
	}
	for my $name (sort keys %digests)
	{
		my %different = map { $_ => 1 } @{ $digests{$name} };
		printf "%s: %d restored, %s\n", $name, scalar @{ $digests{$name} }, keys %different == 1 ? 'all the same' : 'DIFFERENT';
	}
	1;
};
my $error = $@;
$admin->must("DROP DATABASE IF EXISTS $_ WITH (FORCE)") for $copy, values %made;
die $error if !$done;
exit(grep({ my %different = map { $_ => 1 } @$_; keys %different > 1 } values %digests) > 0);
