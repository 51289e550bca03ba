#!/usr/bin/perl
# join_participants.pl
#	A join of two indexes by 1, 2, 7, 12 processes: by their leaf pages, by sorting both tables, and by PostgreSQL; and which of
#	these the planner takes.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own, or in --database, which is
# kept.  A and B have the same keys, each once, in different random orders, and indexes on them.  Everything should fit into
# shared_buffers (128 bytes for each of --rows), and max_worker_processes and max_parallel_workers allow for the most
# participants.  Times are those of EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF), ms, lowest of --repeat: one process that starts late
# makes a median as long as itself.  PostgreSQL's plan is executed once, last, by the most participants first, and given up
# after --patience seconds, in which case its time is shown as >.  Exit status 1: the planner takes a join of gpusort's
# that takes more than a tenth longer than another one; or a wrong count.
#
#	--rows N				of each table (50000000)
#	--participants A,B,...	(1,2,7,12)
#	--sides A,B,...			(index,sorted,postgres)
#	--not-visible P			per cent of the tables' pages that are not all-visible (0)
#	--database NAME			make the tables there if there are none, and keep them
#	--repeat N				(3)
#	--limit SECONDS			execute no further statement after so many (140)
#	--patience SECONDS		(20)
#	--plans					show the plans
#	--set NAME=VALUE		setting for all; may be repeated
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use List::Util qw(max min);
use PgWire;
use Sessions qw(at_once fill_at_once);
use Time::HiRes qw(time);

my %opt = (rows => 50_000_000, participants => '1,2,7,12', sides => 'index,sorted,postgres', 'not-visible' => 0, repeat => 3, limit => 140,
	patience => 20, set => []);
GetOptions(\%opt, 'rows=i', 'participants=s', 'sides=s', 'not-visible=f', 'database=s', 'repeat=i', 'limit=i', 'patience=i', 'plans', 'set=s@') or exit 2;
$| = 1;

my $db = $opt{database} // "join_participants_$$";
my $began = time;
my @participants = split /,/, $opt{participants};
my $most = max(@participants);
my $query = 'SELECT count(*) FROM a JOIN b USING (k)';
my @not_postgres = (enable_hashjoin => 'off', enable_mergejoin => 'off', enable_nestloop => 'off');
my %sides = (
	index => { @not_postgres, enable_seqscan => 'off', enable_sort => 'off' },
	sorted => { @not_postgres, enable_indexscan => 'off', enable_indexonlyscan => 'off' },
	postgres => { 'gpusort.enabled' => 'off' },
	chosen => {});
my $conn;

sub elapsed { return time - $began; }

# The statement that makes some of a table's pages not all-visible: it updates the first row of each.
sub hide_pages
{
	my ($table) = @_;
	my $step = 100 / $opt{'not-visible'};

	return "UPDATE $table SET v = v + 1 WHERE ctid = ANY (ARRAY(SELECT format('(%s,1)', floor(i * $step))::tid
		FROM generate_series(0, pg_relation_size('$table') / 8192 / $step - 1) i))";
}

sub make_tables
{
	my %keys = (a => 'hashint8extended(g, 0)', b => "hashint8extended(($opt{rows} + 1 - g), 0)");

	for my $table (qw(a b))
	{
		$conn->must("CREATE UNLOGGED TABLE $table (k int8, v int4) WITH (parallel_workers = $most, autovacuum_enabled = off)");
		fill_at_once($db, $most, $table, "$keys{$table}, int4(g % 1000)", $opt{rows});
	}
	$conn->must("SET max_parallel_maintenance_workers = $most");
	$conn->must("CREATE INDEX ${_}_k ON $_ (k)") for qw(a b);
	at_once($db, [ 'VACUUM (FREEZE, ANALYZE) a' ], [ 'VACUUM (FREEZE, ANALYZE) b' ]);
	at_once($db, map { [ hide_pages($_), "ANALYZE $_" ] } qw(a b)) if $opt{'not-visible'} > 0;
	printf "# tables, indexes, VACUUM: %.0f s\n", elapsed();
}

sub with_settings
{
	my ($side, $n, $code) = @_;
	my %settings = (%{ $sides{$side} // die "no side $side\n" }, max_parallel_workers_per_gather => $n - 1);

	$conn->must("SET $_ = $settings{$_}") for keys %settings;
	my $result = $code->();
	$conn->must("RESET $_") for keys %settings;
	return $result;
}

sub kind_of
{
	my ($plan) = @_;

	return $plan =~ /GpuSort Index Join/ ? 'index' : $plan =~ /GpuSort Join/ ? 'sorted' : 'postgres';
}

# ms of a side by so many participants, or undef.
sub timed
{
	my ($side, $n) = @_;

	return with_settings($side, $n, sub {
		my $result = $conn->query("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, BUFFERS OFF) $query");
		return undef if $result->{error};
		my $plan = join "\n", map { $_->[0] } @{ $result->{rows} };

		print "# $side, $n participants, ", sprintf('%.0f s', elapsed()), "\n$plan\n" if $opt{plans};
		die "$side is not $side:\n$plan\n" if kind_of($plan) ne $side;
		die "wrong count:\n$plan\n" if $plan !~ /Join.*? rows=(\d+)\S* loops=(\d+)/ || abs($1 * $2 - $opt{rows}) > $2;
		warn "# $n participants: not all workers started\n" if $plan =~ /Workers Planned: (\d+).*Workers Launched: (\d+)/s && $1 != $2;
		return $plan =~ /Execution Time: ([\d.]+)/ ? $1 : undef;
	});
}

sub chosen
{
	my ($n) = @_;

	return with_settings('chosen', $n, sub { return kind_of(join "\n", map { $_->[0] } @{ $conn->must("EXPLAIN $query")->{rows} }) });
}

sub measure
{
	my @sides = split /,/, $opt{sides};
	my %ms;

	for my $turn (1 .. $opt{repeat})
	{
		for my $n (@participants)
		{
			for my $side (grep { $_ ne 'postgres' } @sides)
			{
				next if elapsed() > $opt{limit};
				my $ms = timed($side, $n);

				$ms{"$side $n"} = min(grep { defined } $ms, $ms{"$side $n"});
			}
		}
	}
	for my $n (grep { my $wanted = $_; grep { $_ eq 'postgres' } @sides } sort { $b <=> $a } @participants)
	{
		my $patience = min($opt{patience}, int($opt{limit} - elapsed()));

		next if $patience < 1;
		$conn->must("SET statement_timeout = '${patience}s'");
		$ms{"postgres $n"} = timed('postgres', $n) // '>' . 1000 * $patience;
		$conn->must('RESET statement_timeout');
	}
	return %ms;
}

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort join');
$admin->must("CREATE DATABASE $db") unless $admin->value("SELECT count(*) FROM pg_database WHERE datname = '$db'");
my $bad = 0;
my $done = eval {
	$conn = PgWire->connect(dbname => $db, name => 'gpusort join');
	$conn->must('SET jit = off');
	$conn->must('SET ' . join ' = ', split /=/, $_, 2) for @{ $opt{set} };
	make_tables() if $conn->value("SELECT to_regclass('a') IS NULL") eq 't';
	my %ms = measure();
	print "| $opt{rows} rows each, participants | index join, ms | sorted, ms | PostgreSQL, ms | the planner takes |\n| ---: | ---: | ---: | ---: | --- |\n";
	for my $n (@participants)
	{
		my $chosen = chosen($n);
		my $fastest = min(grep { defined && !/>/ } map { $ms{"$_ $n"} } qw(index sorted postgres));
		my $wrong = $chosen ne 'postgres' && defined $ms{"$chosen $n"} && $ms{"$chosen $n"} > 1.1 * $fastest;

		$bad ||= $wrong;
		printf "| %d | %s | %s%s |\n", $n, join(' | ', map { my $ms = $ms{"$_ $n"}; !defined $ms ? '' : $ms =~ />/ ? $ms : sprintf '%.0f', $ms } qw(index sorted postgres)),
			$chosen, $wrong ? ', wrong' : '';
	}
	printf "# %.0f s in all\n", elapsed();
	1;
};
my $error = $@;
$conn->close if $conn;
$admin->must("DROP DATABASE $db WITH (FORCE)") unless defined $opt{database};
die $error if !$done;
exit($bad ? 1 : 0);
