#!/usr/bin/perl
# loaders.pl [--rows N] [--runs N] [--workers N] [--duckdb PYTHON]
#		COPY FROM by PostgreSQL and by gpusort, pg_bulkload, and DuckDB: the same CSV file into the same columns.
#
# On a running server that preloads gpusort, given by PGHOST, PGPORT and PGUSER, a superuser, on this machine.
# All in turn, in fresh sessions, medians of elapsed milliseconds.  Each time the file is in the page cache, and the
# table, k int8, v int4 and s text, is empty, made by an earlier transaction: logged, without indexes; pg_bulkload's
# writer BUFFERED logs, DIRECT does not.  DuckDB loads into a file of its own with as many threads as gpusort has
# processes.  What has been loaded is counted and summed on all sides.
#
# pg_bulkload takes part if the server has it as an extension, DuckDB if PYTHON (python3) has the module duckdb.
# loaders.sh has a throw-away server.
use strict;
use warnings;

use File::Temp qw(tempdir);
use Getopt::Long;
use Time::HiRes qw(time);

my ($rows, $runs, $workers, $python) = (1_000_000, 5, 1, 'python3');
GetOptions('rows=i' => \$rows, 'runs=i' => \$runs, 'workers=i' => \$workers, 'duckdb=s' => \$python) or die "see the head of $0\n";
my $threads = $workers + 1;
my $sums = 'count(*), sum(k), sum(v), sum(length(s)), max(s)';

# What a command says, which must not fail.
sub said_by
{
	my ($program, @arguments) = @_;

	open my $pipe, '-|', $program, @arguments or die "$program: $!\n";
	my @lines = <$pipe>;
	close $pipe or die "$program failed\n";
	chomp @lines;
	return grep { $_ ne '' } @lines;
}

sub psql
{
	return said_by('psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', 'postgres', map { ('-c', $_) } 'SET client_min_messages = warning', @_);
}

my $clock = 'SELECT extract(epoch FROM clock_timestamp()) * 1000';

# Milliseconds of a statement, and what is in the table then.
sub load_server
{
	my ($statement, @settings) = @_;

	psql('TRUNCATE loaded', 'CHECKPOINT');
	my @lines = psql(@settings, $clock, $statement, $clock, "SELECT $sums FROM loaded");
	return ($lines[-2] - $lines[0], $lines[-1]);
}

my $directory = (psql('SHOW data_directory'))[0];
my $file = "$directory/loaders.csv";
my $own = tempdir(CLEANUP => 1);

my $load_duckdb = <<"END";
import duckdb, os, time
path = '$own/loaders.duckdb'
if os.path.exists(path): os.remove(path)
with duckdb.connect(path, config={'threads': $threads}) as database:
    database.execute("CREATE TABLE loaded (k int8, v int4, s text)")
    start = time.perf_counter()
    database.execute("COPY loaded FROM '$file' (FORMAT csv, HEADER false)")
    print(1000 * (time.perf_counter() - start))
    print(*database.execute("SELECT $sums FROM loaded").fetchone(), sep='|')
END

sub bulkload
{
	my ($writer) = @_;
	return load_server("DO \$\$ BEGIN PERFORM pgbulkload.pg_bulkload(ARRAY['TYPE=CSV', 'INPUT=$file', 'OUTPUT=public.loaded', 'WRITER=$writer']); END \$\$");
}

my $parallel = "SET max_parallel_maintenance_workers = $workers";
my @loaders = (
	[ 'PostgreSQL', sub { load_server("COPY loaded FROM '$file' (FORMAT csv)", 'SET gpusort.enable_copy = off') } ],
	[ 'gpusort, one process', sub { load_server("COPY loaded FROM '$file' (FORMAT csv)", 'SET max_parallel_maintenance_workers = 0') } ],
	[ "gpusort, $workers worker" . ($workers == 1 ? '' : 's'), sub { load_server("COPY loaded FROM '$file' (FORMAT csv)", $parallel) } ]);

psql('DROP TABLE IF EXISTS loaded', 'CREATE TABLE loaded (k int8, v int4, s text)',
	"COPY (SELECT hashint8extended(i, 1), hashint4(i), substr(md5(i::text), 1, 16) FROM generate_series(1, $rows) i) TO '$file' (FORMAT csv)");
if (psql("SELECT 1 FROM pg_available_extensions WHERE name = 'pg_bulkload'"))
{
	psql('CREATE EXTENSION IF NOT EXISTS pg_bulkload');
	push @loaders, map { my $writer = $_; [ "pg_bulkload, $writer", sub { bulkload($writer) } ] } 'BUFFERED', 'DIRECT';
}
else
{
	print "pg_bulkload is not installed\n";
}
if (system("$python -c 'import duckdb' 2>/dev/null") == 0)
{
	push @loaders, [ "DuckDB, $threads threads", sub { said_by($python, '-c', $load_duckdb) } ];
}
else
{
	print "DuckDB is not installed\n";
}

my (%times, %sums);
for my $run (1 .. $runs)
{
	for my $loader (@loaders)
	{
		my ($name, $load) = @$loader;
		my ($elapsed, $sum) = $load->();

		push @{ $times{$name} }, $elapsed;
		$sums{$name} //= $sum;
	}
}

my $differ = 0;
printf "%-26s %10s %8s\n", "$rows rows", 'ms', 'x';
for my $name (map { $_->[0] } @loaders)
{
	my ($median, $first) = map { (sort { $a <=> $b } @$_)[ @$_ / 2 ] } $times{$name}, $times{PostgreSQL};
	my $same = $sums{$name} eq $sums{PostgreSQL};

	printf "%-26s %10.0f %8.2f%s\n", $name, $median, $first / $median, $same ? '' : "  DIFFERENT: $sums{$name}";
	$differ++ unless $same;
}
psql('DROP TABLE loaded', 'DROP EXTENSION IF EXISTS pg_bulkload', "COPY (SELECT 1) TO PROGRAM 'rm -f $file'");
printf "%d passed, %d failed\n", @loaders - $differ, $differ;
exit($differ ? 1 : 0);
