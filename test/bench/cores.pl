#!/usr/bin/perl
# cores.pl
#	Sorts by all processes that have read the rows, by one of them, and by PostgreSQL, in turn: what more cores gain where no
#	GPU is.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own, or in --database, which is
# kept.  Times are those of EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF), and of index builds the client's, ms, medians of --repeat
# after one more to warm up.  Sides: "all" as the server's settings say; "one": those who read rows don't sort, and nobody else helps; "devices":
# gpusortd's; "postgres": gpusort off and workers preferred, once, when the others have warmed up.  A row that is sorted by one
# process on the side "all" says so.
#
#	--rows N			of each table (20000000)
#	--queries A,B,...	(all of those below)
#	--workers A,B,...	(12); several: a column for each, by side "all" only
#	--sides A,B,...		(postgres,one,all)
#	--database NAME		make the tables there if there are none, and keep them
#	--repeat N			(3)
#	--limit SECONDS		begin no query after so many (none)
#	--plans FILE		write the last plan of each query and side there
#	--set NAME=VALUE	setting for all; may be repeated
#	--list				the queries
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Median;
use PgWire;
use Sessions qw(fill_at_once);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my %opt = (rows => 20_000_000, workers => 12, sides => 'postgres,one,all', repeat => 3, limit => 1e9, set => []);
GetOptions(\%opt, 'rows=i', 'queries=s', 'workers=s', 'sides=s', 'database=s', 'repeat=i', 'limit=i', 'plans=s', 'set=s@', 'list') or exit 2;
$| = 1;

my $db = $opt{database} // "cores_$$";
my $begin = time;
# The columns, and what makes them of numbers g.
my %tables = (
	t => 'hashint8extended(g, 0) AS k, int4(g % 1000000) AS v, left(md5(g::text), 16) AS s, date \'2020-01-01\' + int4(g % 2000) AS d, md5((g + 1)::text) AS m',
	u => 'hashint8extended(g, 0) AS k, int4(g % 1000) AS v',
	urls => "'https://example.com/shop/' || (g % 97) || '/' || left(md5(g::text), 12) AS url, g AS i",
	words => "left(translate(md5(g::text), '0123456789', 'ghijklmnop'), 4 + int4(g % 9)) AS word, g AS i");
my @queries = (
	[ rows => 'SELECT k, v, s FROM t ORDER BY k' ],
	[ key => 'SELECT k FROM t ORDER BY k' ],
	[ md5 => 'SELECT * FROM t ORDER BY m' ],
	[ three => 'SELECT * FROM t ORDER BY v, d, s' ],
	[ unselected => 'SELECT s FROM t ORDER BY v, k' ],
	[ expression => 'SELECT k, v FROM t ORDER BY lower(s)' ],
	[ first => 'SELECT * FROM t ORDER BY k LIMIT ' . int($opt{rows} / 50) ],
	[ count => 'SELECT count(DISTINCT k) FROM t' ],
	[ distinct => 'SELECT count(*) FROM (SELECT DISTINCT k FROM t) q' ],
	[ group => 'SELECT count(*) FROM (SELECT k, count(*), sum(v) FROM t GROUP BY k) q' ],
	[ percentile => 'SELECT d, percentile_disc(0.5) WITHIN GROUP (ORDER BY k) FROM t GROUP BY d' ],
	[ window => 'SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY v ORDER BY k) FROM t) q' ],
	[ join => 'SELECT count(*) FROM t JOIN u USING (k)' ],
	[ joined => 'SELECT t.k, t.v, u.v FROM t JOIN u USING (k)' ],
	[ summed => 'SELECT count(*), sum(t.v), sum(u.v) FROM t JOIN u USING (k)' ],
	[ index => 'CREATE INDEX i ON t (k)' ],
	[ index_text => 'CREATE INDEX i ON t (s COLLATE "C")' ],
	[ index_two => 'CREATE INDEX i ON t (v, d)' ],
	[ icu => 'SELECT k, s FROM t ORDER BY s COLLATE "en-x-icu"' ],
	[ urls => 'SELECT * FROM urls ORDER BY url COLLATE "en-x-icu"' ],
	[ urls_libc => 'SELECT * FROM urls ORDER BY url COLLATE "en_US.utf8"' ],
	[ words => 'SELECT * FROM words ORDER BY word COLLATE "en-x-icu"' ],
	[ words_libc => 'SELECT * FROM words ORDER BY word COLLATE "en_US.utf8"' ]);
my %sides = (
	all => {},
	one => { 'gpusort.max_sort_workers' => 0, 'gpusort.min_sort_worker_rows' => 2_000_000_000 },
	devices => { 'gpusort.engine' => 'cuda' },
	postgres => { 'gpusort.enabled' => 'off', parallel_tuple_cost => 0 });
my @workers = split /,/, $opt{workers};
my @sides = @workers > 1 ? ('all') : split /,/, $opt{sides};
my ($conn, %plans);

if ($opt{list})
{
	print "$_->[0]: $_->[1]\n" for @queries;
	exit;
}

# As many sessions at once as there are workers.
sub make_tables
{
	my ($queries) = @_;

	for my $name (sort keys %tables)
	{
		next unless $queries =~ /(FROM|JOIN|ON) $name\b/;
		next if $conn->value("SELECT to_regclass('$name') IS NOT NULL") eq 't';
		$conn->must("CREATE UNLOGGED TABLE $name WITH (parallel_workers = $workers[-1]) AS SELECT $tables{$name} FROM generate_series(1, 0) g");
		fill_at_once($db, $workers[-1] + 1, $name, $tables{$name}, $opt{rows});
		$conn->must("VACUUM (FREEZE, ANALYZE) $name");
	}
}

# ms of a statement, and its plan or what the server has to say about it.
sub executed
{
	my ($query) = @_;

	if ($query !~ /^CREATE INDEX/)
	{
		my $plan = join "\n", map { $_->[0] } @{ $conn->must("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) $query")->{rows} };
		return ($plan =~ /Execution Time: ([\d.]+)/, $plan);
	}
	$conn->must('SET client_min_messages = debug1');
	my $start = clock_gettime(CLOCK_MONOTONIC);
	my $result = $conn->must($query);
	my $ms = (clock_gettime(CLOCK_MONOTONIC) - $start) * 1000;
	$conn->must($_) for 'RESET client_min_messages', 'DROP INDEX i';
	return ($ms, join "\n", map { $_->{M} } @{ $result->{notices} });
}

# ms, and how many processes have sorted.
sub timed
{
	my ($query, $side, $workers) = @_;
	my %settings = (%{ $sides{$side} // die "no side $side\n" }, max_parallel_workers_per_gather => $workers,
		max_parallel_maintenance_workers => $workers);

	$conn->must("SET $_ = $settings{$_}") for keys %settings;
	my ($ms, $plan) = executed($query);
	$conn->must("RESET $_") for keys %settings;
	my ($processes) = $plan =~ /Processes: (\d+)/;
	$plans{"$query, $side, $workers workers"} = $plan;
	return ($ms, $processes // ($query =~ /^CREATE/ ? 0 : 1));
}

# A column for each number of workers and each side, in turn.
sub measure
{
	my ($query) = @_;
	my @columns = map { my $n = $_; map { [ $_, $n ] } @sides } @workers;
	my (%ms, %processes);

	for my $turn (0 .. $opt{repeat})
	{
		for my $column (@columns)
		{
			my ($side, $n) = @$column;
			next if $side eq 'postgres' && $turn != 1;
			my ($ms, $processes) = timed($query, $side, $n);

			push @{ $ms{"$side $n"} }, $ms if $turn > 0 || $opt{repeat} == 0;
			$processes{"$side $n"} = $processes;
		}
	}
	my @medians = map { median(@{ $ms{"@$_"} }) } @columns;
	my @cells = map { sprintf '%.0f%s', $medians[$_], $columns[$_][0] eq 'all' && $processes{"@{ $columns[$_] }"} == 1 ? ' (by one)' : '' } 0 .. $#columns;
	push @cells, map { sprintf '%.1f', $medians[$_] / $medians[-1] } 0 .. $#columns - 1;
	return join ' | ', @cells;
}

sub write_plans
{
	open my $file, '>', $opt{plans} // '/dev/null' or die "$opt{plans}: $!\n";
	print $file "$_\n$plans{$_}\n\n" for sort keys %plans;
	close $file;
}

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort cores');
$admin->must("CREATE DATABASE $db") unless $admin->value("SELECT count(*) FROM pg_database WHERE datname = '$db'");
my $done = eval {
	my %wanted = map { $_ => 1 } split /,/, $opt{queries} // join ',', map { $_->[0] } @queries;

	$conn = PgWire->connect(dbname => $db, name => 'gpusort cores');
	$conn->must('SET jit = off');
	$conn->must('SET ' . join ' = ', split /=/, $_, 2) for @{ $opt{set} };
	@queries = grep { $wanted{ $_->[0] } } @queries;
	make_tables(join ' ', map { $_->[1] } @queries);
	my @heads = map { my $n = $_; map { @workers > 1 ? "$n workers" : $_ } @sides } @workers;
	my @all = (@heads, map { "times faster than $heads[$_]" } 0 .. $#heads - 1);
	print "| $opt{rows} rows, ms | ", join(' | ', @all), " |\n| --- |", ' ---: |' x @all, "\n";
	for (@queries)
	{
		last if time - $begin > $opt{limit};
		print "| `$_->[1]` | ", measure($_->[1]), " |\n";
		write_plans();
	}
	1;
};
my $error = $@;
$conn->close if $conn;
$admin->must("DROP DATABASE $db WITH (FORCE)") unless defined $opt{database};
die $error if !$done;
