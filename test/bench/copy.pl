#!/usr/bin/perl
# copy.pl [--from [--partitions N[,N]... [--indexes] | --used] | --select | --ctas | --insert | --shapes [--only PATTERN]] [--whole] [--rows N] [--runs N] [--times N] [--workers N]
#		COPY TO, or FROM, with gpusort.enable_copy off and on, on a running server that preloads gpusort.
#
# For tables and queries, with and without an order, in each format, to /dev/null, so that nothing
# but the server is measured: medians of elapsed time, of the backend's CPU time and of that of its workers, both sides in
# turn in fresh sessions, and whether the bytes are the same.  With --whole, gpusort.enabled is off as well, so
# that PostgreSQL sorts.  PGHOST, PGPORT and PGUSER, a superuser,
# say which server; it has to be on this machine.
#
# What is measured is done --times times, one after the other in the same session, which tells small differences of small loads.
#
# --from: a file in the server's data directory into a logged table of the columns k int8, v int4 and s
# text, without and with two btree indexes, each time truncated in the same transaction.  With --partitions, into so
# many partitions of ranges of k instead, CSV, from a file that has them at random, and from one that has them one after the other.
# With --indexes, these have the two indexes, and are truncated in the same transaction, or have as many rows before.  For thousands of partitions the server needs max_locks_per_transaction = 1000.
#
# --shapes: tables of other shapes, from 1600 columns to one of one byte, and of other types, to /dev/null, from files, and from a client that sends a message for
# each row.  Rows of many bytes are so many fewer; --only: those whose name matches.
#
# With --used, into a table that has so many rows, and btree indexes that are in use, a tenth as many rows and as many again; sums are
# of the rows as each index has them.
#
# --select: sorted rows to a client, psql, which prints them nowhere; gpusort.enable_select off and on.
# --ctas: sorted rows into a new table; gpusort.enable_create_table_as off and on.
# --insert: sorted rows into a logged table; gpusort.enable_insert off and on.
use strict;
use warnings;

use FindBin;
use Getopt::Long;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Median;
use PgWire;

my ($rows, $runs, $times, $workers, $only, $from, $partitions, $indexes, $used, $select, $ctas, $insert, $shapes, $whole) = (1_000_000, 5, 1, 0, '.');
GetOptions('from' => \$from, 'partitions=s' => \$partitions, 'indexes' => \$indexes, 'used' => \$used, 'select' => \$select, 'ctas' => \$ctas, 'insert' => \$insert, 'shapes' => \$shapes, 'only=s' => \$only, 'whole' => \$whole, 'rows=i' => \$rows, 'runs=i' => \$runs, 'times=i' => \$times, 'workers=i' => \$workers)
	or die "see the head of $0\n";
my $setting = 'gpusort.enable_' . ($select ? 'select' : $ctas ? 'create_table_as' : $insert ? 'insert' : 'copy');

my @cases = (
	[ 'sorted, text', '(SELECT k, v, s FROM copy_bench ORDER BY k)', '' ],
	[ 'sorted, csv', '(SELECT k, v, s FROM copy_bench ORDER BY k)', '(FORMAT csv)' ],
	[ 'sorted, binary', '(SELECT k, v, s FROM copy_bench ORDER BY k)', '(FORMAT binary)' ],
	[ 'query, text', '(SELECT k, v, s FROM copy_bench)', '' ],
	[ 'table, text', 'copy_bench (k, v, s)', '' ],
	[ 'table, csv', 'copy_bench (k, v, s)', '(FORMAT csv)' ],
	[ 'table, binary', 'copy_bench (k, v, s)', '(FORMAT binary)' ],
	[ 'all types, text', 'copy_bench', '' ]);

# Columns, of the number i, and the share of rows that there are.
my @shapes = (
	[ '1600 int4', join(', ', map { "i + $_ AS c$_" } 1 .. 1600), 1 / 500 ],
	[ '100 int4', join(', ', map { "i + $_ AS c$_" } 1 .. 100), 1 / 50 ],
	[ '20 columns, null', join(', ', map { "CASE i % 10 WHEN $_ % 10 THEN i END AS c$_" } 1 .. 20), 1 / 10 ],
	[ 'one int8', 'hashint8extended(i, 1) AS c', 1 ],
	[ 'one byte', 'chr(97 + i % 26) AS c', 1 ],
	[ 'text of 500 bytes', q((SELECT string_agg(md5((i * 16 + j)::text), '') FROM generate_series(1, 16) j) AS c), 1 / 10 ],
	[ 'text of 5 kB', q((SELECT string_agg(md5((i * 160 + j)::text), '') FROM generate_series(1, 160) j) AS c), 1 / 100 ],
	[ 'bytea', q(decode(md5(i::text), 'hex') AS c), 1 ],
	[ 'interval', q(i * interval '1 hour 7 minutes 1.5 seconds' AS c), 1 ],
	[ 'timetz', q(((i % 86400) * interval '1 s' + time '00:00')::timetz AS c), 1 ],
	[ 'json', q(('{"id": ' || i || ', "name": "x"}')::json AS c), 1 ],
	[ 'jsonb', q(('{"id": ' || i || ', "name": "x"}')::jsonb AS c), 1 ],
	[ 'enum', q((enum_range(NULL::copy_bench_enum))[1 + i % 3] AS c), 1 ],
	[ 'bool', 'i % 3 = 0 AS c', 1 ],
	[ 'char(20)', q(md5(i::text)::char(20) AS c), 1 ],
	[ 'name', q(substr(md5(i::text), 1, 20)::name AS c), 1 ],
	[ 'int4[]', 'ARRAY[i, 2 * i, 3 * i] AS c', 1 ],
	[ 'text[]', q(ARRAY['a' || i, 'b c', 'd'] AS c), 1 ],
	[ 'date', q(date '2000-01-01' + i % 9000 AS c), 1 ],
	[ 'date, DateStyle German', q(date '2000-01-01' + i % 9000 AS c), 1, q(SET DateStyle = 'German') ]);

# Settings of one side, and what follows, in a fresh session; its output.
sub session
{
	my ($copy, @commands) = @_;
	my @options = map { ('-c', $_) } "SET $setting = $copy", ($whole ? "SET gpusort.enabled = $copy" : ()), "SET max_parallel_workers_per_gather = $workers", "SET max_parallel_maintenance_workers = $workers", @commands;

	open my $psql, '-|', 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', 'postgres', @options or die "psql: $!\n";
	my @lines = <$psql>;
	close $psql or die "psql failed\n";
	chomp @lines;
	return grep { $_ ne '' } @lines;
}

# The clock; what the backend has run, in ns; and, of its postmaster, what others that have ended have run.
my $now = q(SELECT concat_ws(' ', extract(epoch FROM clock_timestamp()) * 1000, split_part(pg_read_file('/proc/' || pg_backend_pid() || '/schedstat'), ' ', 1),
	pg_read_file('/proc/' || split_part(pg_read_file('postmaster.pid'), E'\n', 1) || '/stat')));

# The same, from a client that sends the lines of a file, each in a message.
sub lines_session
{
	my ($copy, $command, $file) = @_;
	my $server = PgWire->connect(dbname => 'postgres');
	my @clocks;

	$server->must($_) for "SET $setting = $copy", "SET max_parallel_maintenance_workers = $workers", 'BEGIN';
	push @clocks, $server->value($now);
	for (1 .. $times)
	{
		open my $lines, '<:raw', $file or die "$file: $!\n";
		$server->copy_in($command, sub { scalar <$lines> });
	}
	push @clocks, $server->value($now);
	$server->must('COMMIT');
	$server->close;
	return @clocks;
}

# Milliseconds that have passed, of CPU time, and of the workers' CPU time.
sub measure
{
	my ($copy, $command) = @_;
	my @times;

	for (ref $command eq 'HASH' ? lines_session($copy, %$command) : session($copy, $now, (ref $command ? @$command : $command) x $times, $now))
	{
		my ($clock, $own_ns, @stat) = /^([\d.]+) (\d+) .*\) (.*)/ ? ($1, $2, split ' ', $3) : die "no times: $_\n";

		push @times, [ $clock, $own_ns / 1000000, 10 * ($stat[13] + $stat[14]) ];
	}
	return map { $times[1][$_] - $times[0][$_] } 0 .. 2;
}

my $differ = 0;

# Both sides of a case: what is done before, what is measured, and what says whether both did the same.
sub compare
{
	my ($name, $before, $command, @sum) = @_;
	my (%elapsed, %cpu, %others, %sum);

	for my $run (1 .. $runs)
	{
		for my $copy ('off', 'on')
		{
			session($copy, @$before) if @$before;
			my ($elapsed, $cpu, $others) = measure($copy, $command);
			push @{ $elapsed{$copy} }, $elapsed;
			push @{ $cpu{$copy} }, $cpu;
			push @{ $others{$copy} }, $others;
			$sum{$copy} //= join "\n", session($copy, @sum);
		}
	}
	my ($e0, $e1, $c0, $c1, $w0, $w1) = map { median(@$_) } @elapsed{ 'off', 'on' }, @cpu{ 'off', 'on' }, @others{ 'off', 'on' };
	printf "%-22s %10.0f %10.0f %6.2f %10.0f %10.0f %6.2f %10.0f %10.0f%s\n", $name, $e0, $e1, $e0 / $e1, $c0, $c1, $c0 / ($c1 || 1), $w0, $w1,
		$sum{off} eq $sum{on} ? '' : '  DIFFERENT';
	$differ++ if $sum{off} ne $sum{on};
}

sub copy_to
{
	for my $case (@cases)
	{
		my ($name, $what, $options) = @$case;

		compare($name, [], "COPY $what TO '/dev/null' $options",
			"COPY $what TO PROGRAM 'md5sum >/tmp/copy_bench.sum' $options", "SELECT pg_read_file('/tmp/copy_bench.sum')");
	}
}

sub select_rows
{
	my $query = 'SELECT k, v, s FROM copy_bench ORDER BY k';

	compare('sorted, to psql', [], [ '\\o /dev/null', $query, '\\o' ], '\\o |md5sum >/tmp/copy_bench.sum', $query, '\\o', "SELECT pg_read_file('/tmp/copy_bench.sum')");
}

sub make_tables
{
	for my $kind ('UNLOGGED', '')
	{
		compare('new table' . ($kind ? '' : ', logged'), ['DROP TABLE IF EXISTS copy_bench_to'], "CREATE $kind TABLE copy_bench_to AS SELECT k, v, s FROM copy_bench ORDER BY k",
			'SELECT count(*), sum(n * hashtext(t::text)::int8) FROM (SELECT row_number() OVER () AS n, t FROM copy_bench_to t) q');
	}
	session('off', 'DROP TABLE copy_bench_to');
}

sub insert_rows
{
	my ($make, $empty) = ('CREATE TABLE copy_bench_to (k int8, v int4, s text)', 'TRUNCATE copy_bench_to');
	my $insert = 'INSERT INTO copy_bench_to SELECT k, v, s FROM copy_bench ORDER BY k';
	my @sum = 'SELECT count(*), sum(hashtext(t::text)::int8) FROM copy_bench_to t';

	session('off', 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS copy_bench_to', $make);
	compare('into a truncated table', [], [ 'BEGIN', $empty, $insert, 'COMMIT' ], @sum);
	compare('into one in use', [$empty], $insert, @sum);
	session('off', 'ALTER TABLE copy_bench_to ADD d date DEFAULT current_date, ALTER v TYPE int8, ALTER k SET NOT NULL, ADD CHECK (v IS NOT NULL)');
	compare('... computed, checked', [$empty], $insert, @sum);
	session('off', 'DROP TABLE copy_bench_to');
}

sub copy_from
{
	my $file = (session('off', 'SHOW data_directory'))[0] . '/copy_bench';
	my @indexes = ('CREATE UNIQUE INDEX ON copy_bench_to (k)', 'CREATE INDEX ON copy_bench_to (v)');
	my @sum = ('SET synchronize_seqscans = off', 'SELECT count(*), sum(hashtext(t::text)) FROM (SELECT row_number() OVER (), * FROM copy_bench_to) t');

	session('off', 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS copy_bench_to', 'CREATE TABLE copy_bench_to (k int8, v int4, s text)');
	for my $indexed (0, 1)
	{
		session('off', @indexes) if $indexed;
		for my $format ('text', 'csv', 'binary')
		{
			session('off', "COPY copy_bench (k, v, s) TO '$file' (FORMAT $format)");
			compare(($indexed ? 'two indexes' : 'no index') . ", $format", [ 'TRUNCATE copy_bench_to', 'CHECKPOINT' ],
				[ 'BEGIN', 'TRUNCATE copy_bench_to', "COPY copy_bench_to FROM '$file' (FORMAT $format)", 'COMMIT' ], @sum);
		}
	}
	session('off', "COPY (SELECT 1) TO PROGRAM 'rm -f $file'", 'DROP TABLE copy_bench_to');
}

sub copy_from_partitioned
{
	my $file = (session('off', 'SHOW data_directory'))[0] . '/copy_bench';
	my @sum = ('SELECT count(*), sum(hashtext(tableoid || t::text)) FROM copy_bench_to t');

	for my $count (split /,/, $partitions)
	{
		my $step = int(2**64 / $count);
		my @bounds = ('MINVALUE', (map { sprintf '%.0f', -2**63 + $_ * $step } 1 .. $count - 1), 'MAXVALUE');

		session('off', 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS copy_bench_to', 'CREATE TABLE copy_bench_to (k int8, v int4, s text) PARTITION BY RANGE (k)');
		my @makes = map { "CREATE TABLE copy_bench_to_$_ PARTITION OF copy_bench_to FOR VALUES FROM ($bounds[$_ - 1]) TO ($bounds[$_])" } 1 .. $count;
		session('off', join ';', splice @makes, 0, 500) while @makes;
		session('off', 'CREATE UNIQUE INDEX ON copy_bench_to (k)', 'CREATE INDEX ON copy_bench_to (v)', "COPY (SELECT k # 1, v, s FROM copy_bench) TO '${file}_before'") if $indexes;
		for my $order ('', 'ORDER BY k')
		{
			session('off', "COPY (SELECT k, v, s FROM copy_bench $order) TO '$file' (FORMAT csv)");
			my $copy = "COPY copy_bench_to FROM '$file' (FORMAT csv)";
			compare("$count, " . ($order ? 'in order' : 'at random'), [ 'TRUNCATE copy_bench_to', 'CHECKPOINT' ], $indexes ? [ 'BEGIN', 'TRUNCATE copy_bench_to', $copy, 'COMMIT' ] : $copy, @sum);
			compare('... in use', [ 'TRUNCATE copy_bench_to', "COPY copy_bench_to FROM '${file}_before'", 'CHECKPOINT' ], $copy, @sum) if $indexes;
		}
	}
	session('off', "COPY (SELECT 1) TO PROGRAM 'rm -f $file ${file}_before'", 'DROP TABLE copy_bench_to');
}

sub copy_shapes
{
	my $file = (session('off', 'SHOW data_directory'))[0] . '/copy_bench';
	my @sum = ('SELECT count(*), sum(hashtext(t::text)) FROM copy_bench_to t');

	session('off', 'SET client_min_messages = warning', 'DROP TYPE IF EXISTS copy_bench_enum CASCADE', q(CREATE TYPE copy_bench_enum AS ENUM ('low', 'medium', 'high')));
	for my $shape (grep { $_->[0] =~ /$only/ } @shapes)
	{
		my ($name, $columns, $share, @settings) = @$shape;
		my $count = int($rows * $share);

		session('off', 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS copy_bench_of, copy_bench_to',
			"CREATE UNLOGGED TABLE copy_bench_of AS SELECT $columns FROM generate_series(1, $count) i", 'CREATE TABLE copy_bench_to (LIKE copy_bench_of)', 'VACUUM ANALYZE copy_bench_of');
		printf "%s, %d rows\n", $name, $count;
		compare("... to, $_", [], [ @settings, "COPY copy_bench_of TO '/dev/null' (FORMAT $_)" ],
			@settings, "COPY copy_bench_of TO PROGRAM 'md5sum >/tmp/copy_bench.sum' (FORMAT $_)", "SELECT pg_read_file('/tmp/copy_bench.sum')") for 'text', 'csv', 'binary';
		for my $format ('text', 'csv', 'binary')
		{
			session('off', "COPY copy_bench_of TO '$file' (FORMAT $format)");
			compare("... from, $format", [ 'TRUNCATE copy_bench_to', 'CHECKPOINT' ], "COPY copy_bench_to FROM '$file' (FORMAT $format)", @sum);
		}
		compare('... from client, csv', [ 'TRUNCATE copy_bench_to', 'CHECKPOINT' ], { 'COPY copy_bench_to FROM STDIN (FORMAT csv)' => $file }, @sum);
	}
	session('off', "COPY (SELECT 1) TO PROGRAM 'rm -f $file'", 'DROP TABLE IF EXISTS copy_bench_of, copy_bench_to', 'DROP TYPE copy_bench_enum');
}

# Rows of numbers from .. to.
sub numbered_rows
{
	my ($from, $to) = @_;
	return "SELECT i::int8 AS id, hashint8extended(i, 1) AS k, hashint4(i) AS v, i % 10 AS few, substr(md5(i::text), 1, 16) AS s, repeat(md5(i::text), 4) AS wide FROM generate_series($from, $to) i";
}

sub copy_from_used
{
	my $file = (session('off', 'SHOW data_directory'))[0] . '/copy_bench';

	for my $case (
		[ 'id, k, v', 'UNIQUE id', 'k', 'v' ],
		[ 'id', 'UNIQUE id' ],
		[ 'k', 'UNIQUE k' ],
		[ 'few', 'few' ],
		[ 's', 's' ],
		[ 'wide', 'wide' ],
		[ 'five', 'UNIQUE id', 'k', 'v', 'few', 's' ])
	{
		my ($name, @keys) = @$case;
		my @indexes = map { /^(UNIQUE )?(\w+)/ ? 'CREATE ' . ($1 // '') . "INDEX ON copy_bench_to ($2)" : () } @keys;
		my @columns = map { s/UNIQUE //r } @keys;
		my @sums = ('SET enable_seqscan = off', 'SET enable_bitmapscan = off', map { "SELECT count(*), sum(hashtext(${_}::text)) FROM (SELECT $_ FROM copy_bench_to ORDER BY $_) t" } @columns);

		for my $part (10, 1)
		{
			session('off', 'COPY (' . numbered_rows($rows + 1, $rows + $rows / $part) . ") TO '$file'");
			compare("$name; " . $rows / $part, [ 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS copy_bench_to', 'CREATE TABLE copy_bench_to AS ' . numbered_rows(1, $rows), @indexes, 'VACUUM copy_bench_to', 'CHECKPOINT' ],
				"COPY copy_bench_to FROM '$file'", @sums);
		}
	}
	session('off', "COPY (SELECT 1) TO PROGRAM 'rm -f $file'", 'DROP TABLE copy_bench_to');
}

session('off', 'SET client_min_messages = warning', 'DROP TABLE IF EXISTS copy_bench',
	"CREATE UNLOGGED TABLE copy_bench AS SELECT hashint8extended(i, 1) AS k, hashint4(i) AS v, substr(md5(i::text), 1, 16) AS s,
		date '2000-01-01' + i % 9000 AS d, timestamp '2000-01-01' + i * interval '1.5 s' AS ts, i / 7.0::float8 AS f, i % 2 = 0 AS b
		FROM generate_series(1, $rows) i", 'VACUUM ANALYZE copy_bench');
printf "%-22s %10s %10s %6s %10s %10s %6s %10s %10s\n", "$rows rows", 'off ms', 'on ms', 'x', 'CPU off', 'CPU on', 'x', 'workers', '... on';
$shapes ? copy_shapes() : $partitions ? copy_from_partitioned() : $used ? copy_from_used() : $from ? copy_from() : $select ? select_rows() : $ctas ? make_tables() : $insert ? insert_rows() : copy_to();
session('off', 'DROP TABLE copy_bench');
exit($differ ? 1 : 0);
