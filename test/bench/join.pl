#!/usr/bin/perl
# join.pl
#	Joins of two tables: PostgreSQL's best plan and ours, in turn.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its
# own.  S has rows of (k int8, w int4, u text), whose keys are those of R, and R (k int8, v int4, t text)
# has each key once.  For each combination of the lists, times in ms, medians: PostgreSQL's plan with
# gpusort off, what the planner chooses with it, and a GpuSort Join whatever it costs.  Exit status 1: the
# planner chose the latter, and it was slower than PostgreSQL's by more than 3 %.
#
#	--rows A,B,...		of S (5000000)
#	--ratio A,B,...		of R's rows to S's (1)
#	--zipf A,B,...		skew of S's keys: 0 is none, 1 has half of the rows at the square root of the keys (0)
#	--selectivity A,..	part of S's rows that have a partner (1)
#	--in-order			both tables lie in the order of their keys
#	--indexes			... and have indexes on them, which have the columns of count and sum.  PostgreSQL's plan is then the fastest of
#						its own choice, a hash join, a merge join, and a merge join without workers, each at its best
#	--what A,B,...		count; sum, of a column of each side; rows, of two columns of each side; semi, anti,
#						left, full: counts of such joins (count,sum)
#	--workers A,B,...	(2)
#	--key int8|text		(int8)
#	--repeat N			(3)
#	--work-mem M		(1GB)
#	--explain			show the plans
#	--set NAME=VALUE	setting for all; may be repeated
#	--limit-seconds N	stop before so many seconds are over (0: no limit)
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use Median;
use PgWire;
use Time::HiRes qw(time);

my %opt = (rows => 5_000_000, ratio => 1, zipf => 0, selectivity => 1, what => 'count,sum', workers => 2, key => 'int8', repeat => 3,
	'work-mem' => '1GB', set => [], 'limit-seconds' => 0);
GetOptions(\%opt, 'rows=s', 'indexes', 'ratio=s', 'zipf=s', 'selectivity=s', 'in-order', 'what=s', 'workers=s', 'key=s', 'repeat=i', 'work-mem=s',
	'explain', 'set=s@', 'limit-seconds=i') or exit 2;
$| = 1;
$opt{'in-order'} ||= $opt{indexes};

my $db = "join_$$";
my ($began, $bad) = (time, 0);
my $conn;
my %queries = (
	count => 'SELECT count(*) FROM r JOIN s USING (k)',
	sum => 'SELECT sum(v), sum(w) FROM r JOIN s USING (k)',
	rows => 'SELECT r.k, v, t, w, u FROM r JOIN s USING (k)',
	semi => 'SELECT count(*) FROM r WHERE EXISTS (SELECT FROM s WHERE s.k = r.k)',
	anti => 'SELECT count(*) FROM r WHERE NOT EXISTS (SELECT FROM s WHERE s.k = r.k)',
	left => 'SELECT count(*), count(w) FROM r LEFT JOIN s USING (k)',
	full => 'SELECT count(*), count(w), count(v) FROM r FULL JOIN s USING (k)');
my %sides = (
	postgres => { 'gpusort.enabled' => 'off' },
	chosen => {},
	forced => { enable_hashjoin => 'off', enable_mergejoin => 'off', enable_nestloop => 'off' });
%sides = (%sides,
	postgres_hash => { 'gpusort.enabled' => 'off', enable_mergejoin => 'off' },
	postgres_merge => { 'gpusort.enabled' => 'off', enable_hashjoin => 'off' },
	postgres_alone => { 'gpusort.enabled' => 'off', enable_hashjoin => 'off', max_parallel_workers_per_gather => 0 }) if $opt{indexes};
my $max_workers;

sub set_all
{
	while (my ($name, $value) = splice @_, 0, 2) { $conn->must("SET $name = '$value'"); }
}

sub reset_all
{
	my ($side) = @_;

	$conn->must("RESET $_") for keys %{ $sides{$side} };
	set_all(max_parallel_workers_per_gather => $max_workers);
}

sub session
{
	my ($workers) = @_;

	$conn->close if $conn;
	$conn = PgWire->connect(dbname => $db, name => 'gpusort join');
	$max_workers = $workers;
	set_all(jit => 'off', work_mem => $opt{'work-mem'}, max_parallel_workers_per_gather => $workers);
	set_all(split /=/, $_, 2) for @{ $opt{set} };
}

# S's keys are those of the first n ranks, drawn with a density of rank^-zipf, which is inverted; those
# that have no partner are n further up.  So each row of S that has a partner has one, whatever the skew.
sub make_tables
{
	my ($rows, $ratio, $zipf, $selectivity) = @_;
	my $n = int($rows * $ratio) || 1;
	my $u = '((hashint8extended(i, 3) & 1073741823) / 1073741824.0::float8)';
	my $m = $n + 1;
	my $rank = $zipf == 1 ? "floor(power($m\::float8, $u))"
		: "floor(power((power($m\::float8, 1 - $zipf) - 1) * $u + 1, 1 / (1 - $zipf\::float8)))";
	my $s_key = "((least($rank, $n)::int8 * 7919) % $n + CASE WHEN (hashint8extended(i, 5) & 1048575) < $selectivity * 1048576 THEN 0 ELSE $n END)";
	my $r_key = '((i * 7919) % ' . $n . ')';
	my $order = $opt{'in-order'} ? 'ORDER BY 1' : 'ORDER BY hashint8(i::int8)';

	($r_key, $s_key) = map { "md5($_\::text) COLLATE \"C\"" } $r_key, $s_key if $opt{key} eq 'text';
	$conn->must('DROP TABLE IF EXISTS r, s');
	$conn->must("CREATE UNLOGGED TABLE r AS SELECT $r_key AS k, i::int4 AS v, 'sixteen letters!'::text AS t FROM generate_series(1, ${n}::int8) i $order");
	$conn->must("CREATE UNLOGGED TABLE s AS SELECT $s_key AS k, i::int4 AS w, 'sixteen letters!'::text AS u FROM generate_series(1, ${rows}::int8) i $order");
	if ($opt{indexes})
	{
		$conn->must('CREATE INDEX ON r (k) INCLUDE (v)');
		$conn->must('CREATE INDEX ON s (k) INCLUDE (w)');
	}
	$conn->must('VACUUM ANALYZE r');
	$conn->must('VACUUM ANALYZE s');
	# what a join must find, told without one
	die "7919 divides $n\n" if $n % 7919 == 0;
	return $conn->value("SELECT count(*) FROM generate_series(1, ${rows}::int8) i WHERE (hashint8extended(i, 5) & 1048575) < $selectivity * 1048576");
}

# Both sides find as many rows as they must.
sub check_count
{
	my ($expected) = @_;

	for my $side (sort keys %sides)
	{
		set_all(%{ $sides{$side} });
		my $found = $conn->value($queries{count});
		die "$side: $found rows joined, not $expected\n" if $found != $expected;
		reset_all($side);
	}
}

sub plan_of
{
	my ($query) = @_;
	my $plan = join "\n", map { $_->[0] } @{ $conn->must("EXPLAIN (COSTS OFF) $query")->{rows} };

	print "$plan\n" if $opt{explain};
	return $plan =~ /(GpuSort (?:Index )?Join)/ ? $1 : $plan =~ /((?:Parallel )?Hash|Merge)\b(?: \w+)* Join/ ? "$1 Join" : 'other';
}

sub timed
{
	my ($query) = @_;
	my $before = time;

	$conn->must("EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, SUMMARY OFF) $query");
	return 1000 * (time - $before);
}

sub measure
{
	my ($workers, $what) = @_;
	my $query = $queries{$what} // die "no query $what\n";
	my (%ms, %plan);

	for my $turn (0 .. $opt{repeat})
	{
		for my $side (sort keys %sides)
		{
			die "time is over\n" if $opt{'limit-seconds'} && time - $began > $opt{'limit-seconds'};
			set_all(%{ $sides{$side} });
			$plan{$side} //= plan_of($query);
			my $ms = timed($query);
			# the first one brings tables and memory into reach
			push @{ $ms{$side} }, $ms if $turn > 0;
			reset_all($side);
		}
	}
	my %median = map { $_ => median(@{ $ms{$_} }) } keys %ms;
	my ($fastest) = sort { $median{$a} <=> $median{$b} } grep { /^postgres/ } sort keys %median;
	@median{ 'postgres' } = $median{$fastest};
	$plan{postgres} = $plan{$fastest} . ($fastest eq 'postgres_alone' ? ', one process' : '');
	my $slower = $plan{chosen} =~ /^GpuSort/ && $median{chosen} > 1.03 * $median{postgres};

	$bad ||= $slower;
	return sprintf '%s | %.0f | %s | %.0f | %.0f | %.2f%s', $plan{postgres}, $median{postgres}, $plan{chosen}, $median{chosen}, $median{forced},
		$median{postgres} / $median{chosen}, $slower ? ' slower' : '';
}

sub list { return split /,/, $opt{ $_[0] }; }

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort join');
$admin->must("CREATE DATABASE $db");
eval {
	print "| rows | ratio | zipf | selectivity | workers | what | PostgreSQL | ms | chosen | ms | GpuSort Join, ms | times |\n";
	print '| ', join(' | ', ('---') x 12), " |\n";
	for my $rows (list('rows'))
	{
		for my $ratio (list('ratio'))
		{
			for my $zipf (list('zipf'))
			{
				for my $selectivity (list('selectivity'))
				{
					session(0);
					my $expected = make_tables($rows, $ratio, $zipf, $selectivity);
					for my $workers (list('workers'))
					{
						session($workers);
						check_count($expected);
						printf "| %s |\n", join ' | ', $rows, $ratio, $zipf, $selectivity, $workers, $_, measure($workers, $_) for list('what');
					}
				}
			}
		}
	}
	1;
} or print "# $@";
$conn->close if $conn;
$admin->must("DROP DATABASE $db WITH (FORCE)");
exit($bad ? 1 : 0);
