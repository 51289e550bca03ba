#!/usr/bin/perl
# planning_count.pl
#	The tables and queries of planning_count.sh, which runs this.
#
#	--make SETS			make the tables of these sets on the running server
#	--count SETS		plan each query on a server below callgrind, whose counts are in --counts: lines of set,
#						query, instructions in the planner, plan
#	--compare SETS		make tables of two such files, --without and --with gpusort; exit status 1: a query that
#						keeps its plan takes more than --most per cent more, or one of the set short 1 %
#	--scale N			of TPC-H (0.02)
#	--generator CMD		(tpchgen-cli)
#
# Sets: short, joins, tpch, reports.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../fuzz", $FindBin::RealBin;
use Getopt::Long;
use List::Util qw(sum);
use PgWire;
use Tpch qw(make_tpch_tables read_reports);

my %opt = (scale => 0.02, generator => 'tpchgen-cli', most => 3);
GetOptions(\%opt, 'make=s', 'count=s', 'compare=s', 'counts=s', 'without=s', 'with=s', 'most=f', 'scale=f', 'generator=s') or exit 2;
$| = 1;

# Tables are made so many times smaller than the planner takes them to be.
my $times = 1 / $opt{scale};

# ---------- tables ----------

# Of a table's own number of rows and pages, and of its indexes', if it were as many times as large.  The files get
# holes of this size (planning_count.sh), since the planner asks for their sizes.
sub pretend_size
{
	my ($conn, @tables) = @_;
	my $names = join ', ', map { "'$_'" } @tables or return;

	$conn->must("UPDATE pg_class SET reltuples = reltuples * $times, relpages = relpages * $times, relallvisible = relallvisible * $times
		WHERE oid IN (SELECT unnest(t.oid || array(SELECT indexrelid FROM pg_index WHERE indrelid = t.oid)) FROM pg_class t WHERE t.relname IN ($names))");
}

# Numbers of different values that grow with the table, which samples of small tables don't tell.
my %n_distinct = (
	orders => { o_custkey => '-0.0667' },
	lineitem => { l_orderkey => '-0.25', l_partkey => '-0.0333', l_suppkey => '-0.00167' },
	partsupp => { ps_partkey => '-0.25', ps_suppkey => '-0.0125' });

sub make_tpch
{
	my ($conn) = @_;

	make_tpch_tables($conn, %opt);
	for my $table (keys %n_distinct)
	{
		$conn->must("ALTER TABLE $table ALTER $_ SET (n_distinct = $n_distinct{$table}{$_})") for keys %{ $n_distinct{$table} };
	}
}

# Of 200,000 rows, in the planner's eyes, and of 300.
sub make_joined
{
	my ($conn) = @_;
	my $rows = 200_000 / $times;

	for my $i (1 .. 12)
	{
		$conn->must("CREATE TABLE large$i (id int PRIMARY KEY, next int, v int, t text);
			INSERT INTO large$i SELECT g, g * 7919 % $rows + 1, g % 1000, md5(g::text) FROM generate_series(1, $rows) g;
			CREATE INDEX ON large$i (next); ALTER TABLE large$i ALTER next SET (n_distinct = -1);
			CREATE TABLE small$i (id int PRIMARY KEY, next int, v int, t text);
			INSERT INTO small$i SELECT g, g * 7919 % 300 + 1, g % 10, md5(g::text) FROM generate_series(1, 300) g;
			CREATE INDEX ON small$i (next)");
	}
	$conn->must('CREATE TABLE facts (' . join(', ', map { "k$_ int" } 1 .. 11) . ", v numeric);
		INSERT INTO facts SELECT " . join(', ', map { 'g * 7919 % ' . ($_ % 2 ? 300 : $rows) . ' + 1' } 1 .. 11) . ", g FROM generate_series(1, 5 * $rows) g");
	$conn->must("ALTER TABLE facts ALTER k$_ SET (n_distinct = -0.2)") for map { 2 * $_ } 1 .. 5;
}

sub make_short
{
	my ($conn) = @_;

	$conn->must('CREATE TABLE s (id int PRIMARY KEY, k int8, v int4, t text);
		INSERT INTO s SELECT i, i * 7919 % 1000, i % 7, md5(i::text) FROM generate_series(1, 300) i;
		CREATE TABLE s2 (id int PRIMARY KEY, s int REFERENCES s, w int);
		INSERT INTO s2 SELECT i, i % 300 + 1, i FROM generate_series(1, 600) i');
}

# ---------- queries ----------

my @short = (
	[ 'by key', 'SELECT * FROM s WHERE id = 7' ],
	[ 'sorted', 'SELECT k, v FROM s WHERE id < 7 ORDER BY k' ],
	[ 'joined', 'SELECT s.k, s2.w FROM s JOIN s2 ON s2.s = s.id WHERE s2.w = 7' ],
	[ 'grouped', 'SELECT v, count(*) FROM s WHERE k = 7 GROUP BY v' ],
	[ 'first rows of a join', 'SELECT * FROM s JOIN s2 USING (id) ORDER BY id LIMIT 10' ]);

# So many tables, each joined with the next one; with all others by the same column; and all with one.
sub chain
{
	my ($kind, $count) = @_;
	return join ' ', "${kind}1", map { sprintf "JOIN $kind%d ON $kind%d.next = $kind%d.id", $_, $_ - 1, $_ } 2 .. $count;
}

sub same { my ($kind, $count) = @_; return join ' ', "${kind}1", map { "JOIN $kind$_ USING (id)" } 2 .. $count; }

sub star
{
	my ($count) = @_;
	my @sides = map { ($_ % 2 ? 'small' : 'large') . $_ } 1 .. $count - 1;

	return 'facts, ' . join(', ', @sides) . ' WHERE ' . join ' AND ', map { "k$_ = $sides[$_ - 1].id" } 1 .. $count - 1;
}

sub joins_of
{
	my ($n) = @_;
	my @queries = (
		[ "chain of $n large", 'SELECT count(*) FROM ' . chain('large', $n) ],
		[ "chain of $n large, one row", 'SELECT * FROM ' . chain('large', $n) . ' WHERE large1.id = 7' ],
		[ "chain of $n large, some rows", 'SELECT * FROM ' . chain('large', $n) . ' WHERE large1.v = 7' ],
		[ "chain of $n large, first rows", 'SELECT * FROM ' . chain('large', $n) . ' ORDER BY large1.id LIMIT 10' ],
		[ "chain of $n small", 'SELECT count(*) FROM ' . chain('small', $n) ],
		[ "chain of $n small, ordered", 'SELECT * FROM ' . chain('small', $n) . ' ORDER BY small1.v' ],
		[ "star of $n", 'SELECT count(*), sum(facts.v) FROM ' . star($n) ],
		[ "star of $n, few rows", 'SELECT * FROM ' . star($n) . ' AND small1.v = 7 AND facts.v < 100' ]);

	push @queries, [ "$n large by one column", 'SELECT count(*) FROM ' . same('large', $n) ],
		[ "$n large by one column, first rows", 'SELECT * FROM ' . same('large', $n) . ' ORDER BY id LIMIT 10' ] if $n <= 6;
	return @queries;
}

# large: the tables that are made smaller.  TPC-H's own queries are h01 to h22.
my %sets = (
	short => { make => \&make_short, large => [], queries => sub { return @short } },
	joins => { make => \&make_joined, large => [ 'facts', map { "large$_" } 1 .. 12 ], queries => sub { return map { joins_of($_) } 2 .. 6, 8, 10, 12 } },
	tpch => { make => \&make_tpch, large => [qw(supplier part partsupp customer orders lineitem)], queries => sub { return grep { $_->[0] =~ /^h\d\d$/ } read_reports() } },
	reports => { queries => sub { return grep { $_->[0] !~ /^h\d\d$/ } read_reports() } });

sub sets_of
{
	my @names = split ' ', $_[0];
	for (@names) { die "there is no set $_\n" unless $sets{$_}; }
	return @names;
}

# ---------- counting ----------

# Callgrind writes a file whenever a backend leaves the planner.
sub instructions_since
{
	my ($seen) = @_;
	my $all = 0;

	for my $file (grep { !$seen->{$_}++ } glob "$opt{counts}/*.*")
	{
		open my $in, '<', $file or die "cannot read $file: $!\n";
		while (<$in>) { $all += $1 if /^(?:summary|totals): (\d+)/ && $all >= 0; last if /^(?:summary|totals):/; }
		unlink $file;
	}
	return $all;
}

# The second time, when all that is cached is there.
sub count_queries
{
	my ($conn, $set) = @_;
	my %seen;

	for ($sets{$set}{queries}->())
	{
		my ($name, $query) = @$_;
		my ($count, $plan);
		instructions_since(\%seen);
		for (1 .. 2)
		{
			$plan = $conn->must("EXPLAIN (COSTS OFF) $query")->{rows};
			$count = instructions_since(\%seen);
		}
		die "$name: nothing was counted\n" if !$count;
		print join("\t", $set, $name, $count, join '\n', map { $_->[0] } @$plan), "\n";
	}
}

# ---------- comparing ----------

# name, set => count, plan
sub read_counts
{
	my ($file) = @_;
	my %counts;

	open my $in, '<', $file or die "cannot read $file: $!\n";
	while (<$in>)
	{
		chomp;
		my ($set, $name, $count, $plan) = split /\t/, $_, 4;
		$counts{$set}{$name} = { count => $count, plan => $plan };
	}
	return \%counts;
}

sub percent_more { my ($with, $without) = @_; return 100 * ($with / $without - 1); }

sub compare_set
{
	my ($set, $without, $with) = @_;
	my $most = $set eq 'short' ? 1 : $opt{most};
	my $bad = 0;

	print "\n| $set | without | with gpusort | more | plan |\n| --- | ---: | ---: | ---: | --- |\n";
	for my $name (map { $_->[0] } $sets{$set}{queries}->())
	{
		my ($a, $b) = ($without->{$name}, $with->{$name});
		my $more = percent_more($b->{count}, $a->{count});
		my $same = $a->{plan} eq $b->{plan};
		my $mark = $same && $more >= $most ? '**' : '';
		$bad++ if $mark;
		printf "| %s | %d | %d | %s%.2f %%%s | %s |\n", $name, $a->{count}, $b->{count}, $mark, $more, $mark, $same ? 'the same' : 'another';
	}
	my %sum = map { $_->[0] => sum(map { $_->{count} } values %{ $_->[1] }) } [ without => $without ], [ with => $with ];
	printf "| all | %d | %d | %.2f %% | |\n", @sum{qw(without with)}, percent_more(@sum{qw(with without)});
	return $bad;
}

sub compare
{
	my ($without, $with) = map { read_counts($_) } @opt{qw(without with)};
	my $bad = sum(map { compare_set($_, $without->{$_}, $with->{$_}) } sets_of($opt{compare}));

	print "\n$bad queries keep their plan and take longer than they may\n" if $bad;
	return $bad;
}

if (defined $opt{compare}) { exit(compare() > 0); }
my $conn = PgWire->connect(dbname => 'postgres', name => 'gpusort planning');
if (defined $opt{make})
{
	my %made = map { ($_ eq 'reports' ? 'tpch' : $_) => 1 } sets_of($opt{make});
	$sets{$_}{make}->($conn) for keys %made;
	$conn->must('VACUUM (FREEZE, ANALYZE)');
	pretend_size($conn, map { @{ $sets{$_}{large} } } keys %made);
}
count_queries($conn, $_) for defined $opt{count} ? sets_of($opt{count}) : ();
