#!/usr/bin/perl
# sessions.pl
#	Many sessions that sort and build indexes at the same time, while some of them are cancelled
#	or ended: is every answer right, is everything given back, and what do small sorts wait?
#
# A session does its next statement when it has the answer to the last one; or with --rate, when its
# time has come, and what a statement takes counts from then, even if the session was busy.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a database of its own;
# sessions.sh starts one.  Sessions do small sorts, large ones and index builds, as the numbers below
# deal them out, each again and again, in blocks with gpusort off and on in turn.  Answers are
# compared with one that was got without gpusort and alone, position by position; indexes are
# checked by amcheck.  Another process cancels sessions, or ends them.  Afterwards nothing may be
# left in the pool, on devices and among temporary files.  Exit status 1: something was wrong.
#
#	--sessions N		(8)
#	--seconds N			altogether (60)
#	--blocks N			... in so many blocks (4)
#	--first MODE		gpusort.enabled in the first of them (off)
#	--rate N			statements a second that become due, of all sessions together, at random times
#						(0: as many as can be done)
#	--checked N			how many of 100 statements are compared row by row, or their indexes checked
#						(100); of other sorts the last row is
#	--rows N			of a large sort (500000)
#	--small N			rows of a small sort (20000)
#	--shares A,B,C		how many of 100 statements are small sorts, large ones, index builds (70,20,10)
#	--stops N			sessions cancelled or ended a second (0.5)
#	--seed N			(1)
#	--set NAME=VALUE	setting for all sessions; may be repeated
use strict;
use warnings;
use File::Temp qw(tempdir);
use FindBin;
use lib "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use PgWire;
use Time::HiRes qw(sleep time);

my %opt = (sessions => 8, seconds => 60, blocks => 4, first => 'off', rate => 0, checked => 100, rows => 500_000, small => 20_000, shares => '70,20,10', stops => 0.5, seed => 1, set => []);
GetOptions(\%opt, 'sessions=i', 'seconds=i', 'blocks=i', 'first=s', 'rate=f', 'checked=i', 'rows=i', 'small=i', 'shares=s', 'stops=f', 'seed=i', 'set=s@') or exit 2;
$| = 1;

my @kinds = qw(small large index);
my @shares = split /,/, $opt{shares};
my $db = "sessions_$$";
my $dir = tempdir(CLEANUP => 1);
my ($passed, $failed) = (0, 0);
my @children;

my @sorts = map {
	my $table = $_;
	map { "SELECT * FROM $table ORDER BY $_" } 'h, i', 'm', 'few DESC, m DESC', 'm DESC, h' } 'small', 'large';
my @all_rows = map { "SELECT md5(string_agg(i::text, ',')) FROM ($_ OFFSET 0) s" } @sorts;
my @last_row = map { "$_ OFFSET " . ((/small/ ? $opt{small} : $opt{rows}) - 1) } @sorts;
my %answers;

sub check
{
	my ($right, $label) = @_;

	print "wrong: $label\n" if !$right;
	$right ? $passed++ : $failed++;
	return;
}

sub open_session
{
	my ($name) = @_;
	my $conn = PgWire->connect(dbname => $db, name => $name);

	for my $setting (@{ $opt{set} })
	{
		my ($variable, $value) = split /=/, $setting, 2;

		$conn->must("SET $variable = '$value'");
	}
	return $conn;
}

sub make_tables
{
	my $conn = PgWire->connect(dbname => 'postgres');

	$conn->must("CREATE DATABASE $db TEMPLATE template0 ENCODING 'UTF8'");
	$conn->close;
	$conn = open_session('set-up');
	$conn->must('CREATE EXTENSION gpusort; CREATE EXTENSION amcheck');
	for (['small', $opt{small}], ['large', $opt{rows}], map { ["indexed_$_", $opt{small} * 2] } 1 .. $opt{sessions})
	{
		$conn->must(sprintf 'CREATE TABLE %s AS SELECT i, hashint8(i) AS h, (hashint8(i) %% 1000)::int2 AS few, md5(i::text) COLLATE "C" AS m
			FROM generate_series(1, %d) i', @$_);
		$conn->must("ANALYZE $_->[0]");
	}
	$conn->must('SET gpusort.enabled = off');
	$answers{$_} = $conn->value($_) for @all_rows, @last_row;
	$conn->close;
	return;
}

sub drop_tables
{
	my $conn = PgWire->connect(dbname => 'postgres');

	$conn->must("DROP DATABASE $db WITH (FORCE)");
	$conn->close;
	return;
}

# A statement of the session's: what it is, what to run, and the answer.
sub deal
{
	my ($number) = @_;
	my $card = rand($shares[0] + $shares[1] + $shares[2]);
	my $check = rand(100) < $opt{checked};

	return ('index', "CREATE INDEX i_$number ON indexed_$number (m, h);" . ($check ? "SELECT bt_index_check('i_$number', true);" : '')
		. "DROP INDEX i_$number; SELECT 'built'", 'built') if $card >= $shares[0] + $shares[1];
	my $query = ($check ? \@all_rows : \@last_row)->[ int(rand 4) + ($card < $shares[0] ? 0 : 4) ];
	return ($card < $shares[0] ? 'small' : 'large', $query, $answers{$query});
}

# One session until the end of the block; lines "kind ms outcome" go to a file.
sub run_session
{
	my ($mode, $number, $until, $seed) = @_;
	my $conn;

	open my $out, '>>', "$dir/$mode.$number" or die "cannot write: $!\n";
	srand $seed * 1000 + $number;
	my $due = time;
	while (time < $until)
	{
		my ($kind, $query, $answer) = deal($number);
		my $start = time;

		if ($opt{rate} > 0)
		{
			$due += -log(1 - rand) * $opt{sessions} / $opt{rate};
			last if $due >= $until;
			sleep($due - $start) if $due > $start;
			$start = $due;
		}
		my $outcome;
		my $result = eval {
			if (!$conn)
			{
				$conn = open_session('sessions.pl');
				$conn->must("SET gpusort.enabled = $mode");
				$conn->must("DROP INDEX IF EXISTS i_$number");
				$start = time if $opt{rate} == 0;
			}
			$conn->query($query) };

		# a connection that is ended, perhaps while it is being made
		if (!$result || ($result->{error} && $result->{error}{C} eq '57P01')) { $outcome = 'ended'; undef $conn }
		elsif ($result->{error}) { $outcome = $result->{error}{C} eq '57014' ? 'cancelled' : "error $result->{error}{C} $result->{error}{M}" }
		else { $outcome = ($result->{rows}[0][0] // '') eq $answer || ($result->{all}[-1]{rows}[0][0] // '') eq $answer ? 'right' : 'wrong' }
		printf $out "%s %.3f %s\n", $kind, 1000 * (time - $start), $outcome;
	}
	$conn->close if $conn;
	close $out;
	return;
}

# Cancel sessions, or end them, until the end of the block.
sub stop_sessions
{
	my ($until) = @_;
	my $conn = open_session('stops');

	srand $opt{seed};
	while (time < $until)
	{
		sleep(-log(1 - rand) / $opt{stops});
		$conn->must(sprintf 'SELECT %s(pid) FROM pg_stat_activity WHERE application_name = \'sessions.pl\' AND datname = current_database()
			ORDER BY random() LIMIT 1', rand() < 0.7 ? 'pg_cancel_backend' : 'pg_terminate_backend');
	}
	$conn->close;
	return;
}

sub start_child
{
	my ($do) = @_;
	my $pid = fork // die "cannot fork: $!\n";

	if ($pid == 0)
	{
		eval { $do->(); 1 } or do { warn $@; exit 1 };
		exit 0;
	}
	push @children, $pid;
	return;
}

sub run_block
{
	my ($mode, $seconds, $seed) = @_;
	my $until = time + $seconds;
	my $right = 1;

	for my $number (1 .. $opt{sessions})
	{
		start_child(sub { run_session($mode, $number, $until, $seed) });
	}
	start_child(sub { stop_sessions($until) }) if $opt{stops} > 0;
	for my $pid (splice @children)
	{
		waitpid $pid, 0;
		$right = 0 if $? != 0;
	}
	check($right, "a process of the block has failed");
	return;
}

# Everything has been given back.
sub check_rest
{
	my $conn = open_session('rest');
	my %wanted = (
		'extents of the pool' => 'SELECT (pool_bytes - pool_bytes_free) / 2097152 FROM gpusort_service()',
		'entries of sessions' => 'SELECT count(*) FROM gpusort_pool()',
		'jobs' => 'SELECT jobs_open FROM gpusort_service()',
		'bytes of device memory' => 'SELECT device_bytes_used FROM gpusort_service()',
		'temporary files' => 'SELECT count(*) FROM pg_ls_tmpdir()');

	for my $what (sort keys %wanted)
	{
		my $left;

		for (1 .. 50)
		{
			$left = $conn->value($wanted{$what});
			last if $left == 0;
			sleep 0.1;
		}
		check($left == 0, "$left $what are left");
	}
	$conn->close;
	return;
}

sub percentile
{
	my ($part, @sorted) = @_;

	return @sorted ? $sorted[ int($part * $#sorted) ] : 0;
}

sub report
{
	my ($mode, $seconds) = @_;
	my (%ms, %outcomes, %problems);

	for my $file (glob "$dir/$mode.*")
	{
		open my $in, '<', $file or die "cannot read: $!\n";
		while (my $line = <$in>)
		{
			my ($kind, $ms, $outcome) = $line =~ /^(\S+) (\S+) (.*)/;

			push @{ $ms{$kind} }, $ms if $outcome eq 'right';
			$outcomes{$kind}{$outcome}++;
			$problems{"$kind: $outcome"}++ if $outcome !~ /^(right|cancelled|ended)$/;
			$passed++ if $outcome eq 'right';
		}
	}
	for my $kind (@kinds)
	{
		my @sorted = sort { $a <=> $b } @{ $ms{$kind} // [] };

		printf "%-4s %-6s %8d right %8.1f /s   p50 %8.1f ms   p99 %8.1f ms   %d cancelled, %d ended\n", $mode, $kind,
			scalar @sorted, @sorted / $seconds, percentile(0.5, @sorted), percentile(0.99, @sorted),
			$outcomes{$kind}{cancelled} // 0, $outcomes{$kind}{ended} // 0;
	}
	check(0, "$_ ($problems{$_} times, gpusort.enabled = $mode)") for sort keys %problems;
	return;
}

make_tables();
for my $block (1 .. $opt{blocks})
{
	# the same statements on both sides
	run_block(($block % 2 == 1) == ($opt{first} eq 'on') ? 'on' : 'off', $opt{seconds} / $opt{blocks}, $opt{seed} + int(($block - 1) / 2));
	check_rest();
}
printf "%d sessions, %d s\n", $opt{sessions}, $opt{seconds};
report($_, $opt{blocks} == 1 ? $opt{seconds} : $opt{seconds} / 2) for $opt{blocks} == 1 ? $opt{first} : ('off', 'on');
drop_tables();
print "$passed passed, $failed failed\n";
exit($failed > 0);
