#!/usr/bin/perl
# faults.pl LOG [--short] [--extents] [--case PATTERN] [--kind PATTERN]
#		Runs queries and index builds while calls fail (fail_nth.c), and counts what comes of it.
#
# For each case (a query or an index build, with settings) and kind of call: how many
# calls are there?  Then the first, the second ... fails, once, and again together
# with all that follow; in the session's own process or in its workers, in a session that has done
# the same before and in a new one.  Where there are more calls than the limit, the first
# are taken, the last, and some of the others.
#
# With --extents (states.sh) it is extents of the pool that are refused, to the session, its workers or
# both, and cases are those of PoolCases.pm; nothing may come out but PostgreSQL's answer and a right index.
# The short form takes one of four memories for each of them, and some refusals.
#
# What comes out must be PostgreSQL's answer, an index that amcheck approves of, or one of the errors that are
# proper for the kind.  Afterwards the session must not have grown, all of the pool must be free, and no temporary
# file be left.
# LOG gets a line for each failure that ended in anything else.
use strict;
use warnings;

use FaultCases;
use FindBin;
use Getopt::Long;
use List::Util qw(max min);
use PgWire;
use PoolCases;
use Time::HiRes qw(sleep time);

my $log_name = shift or die "usage: faults.pl LOG [--short]\n";
our $limit = 0;
my ($short, $extents, $case_pattern, $kind_pattern) = (0, 0, '.', '.');
GetOptions('short' => \$short, 'extents' => \$extents, 'case=s' => \$case_pattern, 'kind=s' => \$kind_pattern, 'limit=i' => \$limit) or exit 2;
$limit ||= $short ? 4 : 60;
open my $log, '>', $log_name or die "$log_name: $!\n";
open my $control, '+<', $ENV{FAIL_NTH_FILE} or die "$ENV{FAIL_NTH_FILE}: $!\n";

# ---- what fails ----

# As in fail_nth.c; the errors that are proper: out of memory, disk full, I/O error, too many files.
my %kinds = (
	palloc => { number => 1, errors => qr/^53200$/, cold => 1 },
	malloc => { number => 2, errors => qr/^53200$/, cold => 1 },
	mapping => { number => 3, errors => qr/^53200$/, cold => 1 },
	opening => { number => 4, errors => qr/^53/, cold => 1 },
	message => { number => 5, errors => qr/^(08006|55000)$/ },
	collation => { number => 12, errors => qr/^53200$/, cold => 1 },
	'any malloc' => { number => 6, errors => qr/^53200$/, cold => 1, system => 1 },
	'any mapping' => { number => 7, errors => qr/^(53200|53100)$/, system => 1 },
	write => { number => 8, errors => qr/^53100$/, system => 1 },
	read => { number => 9, errors => qr/^58030$/, system => 1 },
	cancel => { number => 13, errors => qr/^57014$/, system => 1 });
# A worker that could not begin, or ended without a word: what PostgreSQL's leader says.
my $worker_errors = qr/^(55000|08006)$/;
# What the server says when ICU or libc lacks memory, which either may remember for the rest of
# the process, and when a worker can't take over a setting.
my $library_errors = qr/^(could not (open collator|create locale|read time zone file)|database locale is incompatible|invalid value for parameter|failed to initialize)/;
my $extent = { number => 14, errors => qr/(?!)/, right_only => 1 };
my %daemon_kinds = (
	'gpusortd malloc' => { number => 10 },
	'gpusortd mapping' => { number => 11 });

my $generation = 0;

# Tell fail_nth.c; nth = 0 only counts.
sub arm
{
	my ($kind, $nth, $for_good, $who, $session) = @_;

	sysseek $control, 0, 0;
	syswrite $control, pack('L8', ++$generation, $kind, $nth, $for_good, $who, $session, 0, 0);
}

# Nothing fails any more; returns how many calls there were, and failures.
sub disarm
{
	my $words;

	sysseek $control, 0, 0;
	sysread $control, $words, 32;
	arm(0, 0, 0, 0, 0);
	return (unpack 'L8', $words)[ 6, 7 ];
}

# ---- what is run ----

# query: its only value is compared; index: is built, checked and dropped.
my @cases = $extents ? PoolCases::cases() : @FaultCases::cases;
my $setup = 'SET client_min_messages = warning; CREATE EXTENSION gpusort; CREATE EXTENSION amcheck;';

# For the short form those that are named, or one of each four, another one each time.
if ($short)
{
	@cases = $extents ? @cases[ grep { $_ % 4 == int($_ / 4) % 4 } 0 .. $#cases ] : grep { $FaultCases::in_short{ $_->{name} } } @cases;
}

# ---- sessions ----

my $admin;

# A session for a case, that has done its work before.
sub session_for
{
	my ($case) = @_;
	my $session = PgWire->connect(name => $case->{name});

	$session->must("SET jit = off; SET gpusort.force = on; $case->{set}");
	$session->{pid} = $session->value('SELECT pg_backend_pid()');
	return $session;
}

# Kilobytes of its own, open files and mappings of a process.
sub size_of
{
	my ($pid) = @_;
	my ($kilobytes, @files, $maps);

	open my $status, '<', "/proc/$pid/status" or die "the session is gone\n";
	/^RssAnon:\s+(\d+)/ and $kilobytes = $1 while <$status>;
	# but those of tables, which the server keeps open
	@files = grep { $_ !~ m{/base/\d+/\d+(_fsm|_vm)?$|/global/|/pg_wal/|/pg_xact/} } map { readlink $_ // '' } glob "/proc/$pid/fd/*";
	open my $mappings, '<', "/proc/$pid/maps" or die "the session is gone\n";
	$maps = () = <$mappings>;
	return ($kilobytes, scalar @files, $maps, join ' ', sort @files);
}

# Run the case once: its answer, or its error's code, message, hint and context.
sub run_case
{
	my ($session, $case) = @_;
	my $result = $session->query($case->{query} // $case->{index});

	return $result->{error} ? ($result->{error}{C}, join '; ', map { $_ // '' } @{ $result->{error} }{qw(M H W)}) : ('', $result->{rows}[0][0]);
}

# A file has no room for a block: is that told as by the server, when it makes the file longer?  A buffer that is
# written to make room for another one is the server's own matter, and has a context.
sub is_disk_full_told
{
	my ($answer) = @_;

	return $answer !~ /^could not (write|extend)/ || $answer =~ m{/pgsql_tmp} || $answer =~ /writing block/ ||
		$answer =~ /^could not extend file .*; Check free disk space\./;
}

# What is wrong with what came out?  Nothing: ''.
sub judge
{
	my ($session, $case, $kind, $code, $answer) = @_;
	my $problem = '';

	if ($code ne '')
	{
		$problem = "error $code: $answer" unless $code =~ $kind->{errors} || $code eq ($case->{error} // '') ||
			$case->{workers} && !$kind->{right_only} && $code =~ $worker_errors || $kind->{system} && $answer =~ $library_errors ||
			$case->{workers} && $kind->{system} && $code eq '22023';
		$problem ||= "other words for a full disk: $answer" unless is_disk_full_told($answer);
	}
	elsif ($case->{query})
	{
		$problem = 'wrong answer' if $answer ne $case->{answer};
	}
	elsif ($case->{error})
	{
		$problem = 'no error';
	}
	if ($case->{index})
	{
		my $check = $session->query(q{SELECT bt_index_parent_check(oid, true, true) FROM pg_class WHERE relname = 'x'});
		my $there = @{ $check->{rows} };

		$problem = "amcheck: $check->{error}{M}" if $check->{error};
		$problem = $there ? 'there is an index' : 'there is no index' if !$problem && !!$there != ($code eq '');
		$session->must('DROP INDEX IF EXISTS x') if $there || $check->{error};
	}
	return $problem;
}

# ---- counting ----

my ($passed, $failed) = (0, 0);
my %sums;

sub note_problem
{
	my ($what, $problem) = @_;

	print $log "$what: $problem\n";
	$log->flush;
	$failed++;
	print "$what: $problem\n" if $failed <= 40;
}

# The calls to fail: all, or the first, the last and some of the others.
sub choose_calls
{
	my ($calls) = @_;
	my $first = int($limit / 2);
	my %chosen;

	return 1 .. $calls if $calls <= $limit;
	$chosen{$_} = 1 for 1 .. $first, $calls - 3 .. $calls;
	$chosen{ $first + 1 + int(($calls - $first) * ($_ + rand) / ($limit - $first)) } = 1 for 0 .. $limit - $first - 1;
	return grep { $_ <= $calls } sort { $a <=> $b } keys %chosen;
}

# How many calls a case has; the second of two runs, unless the session is new each time.
sub count_calls
{
	my ($session, $case, $kind, $who) = @_;
	my $calls;

	arm($kind->{number}, 0, 0, $who, $session->{pid});
	my ($code, $answer) = run_case($session, $case);
	($calls) = disarm();
	my $problem = judge($session, $case, { errors => qr/^$/, system => $kind->{system} }, $code, $answer);
	die "$case->{name} without a failure: $problem\n" if $problem;
	return $calls;
}

# An extent is asked for a few times, not for each row: of 5000, or 280,000 (PoolCases.pm).  A part asks again after a thousand
# rows, for ever smaller steps, each in all of its ranges: some 85 times.
my $most_asked = 40000;

# One failure; returns the outcome for the table.
sub fail_once
{
	my ($session, $case, $kind, $label, @arm) = @_;
	my ($code, $answer, $injected, $problem);

	arm($kind->{number}, @arm, $session->{pid});
	eval { ($code, $answer) = run_case($session, $case) };
	my $lost = $@;
	(undef, $injected) = disarm();
	die "$label: $lost" if $lost;
	$problem = judge($session, $case, $kind, $code, $answer);
	$problem ||= "the pool was asked $injected times" if $kind == $extent && $injected > $most_asked;
	if ($problem)
	{
		note_problem($label, $problem);
		return $problem =~ /^error (\S+):/ ? "$1!" : 'wrong!';
	}
	$passed++;
	return $injected == 0 ? 'not reached' : $code eq '' ? 'right' : $code;
}

# All calls of a kind, in a session that stays.
sub fail_warm
{
	my ($case, $kind_name, $in_workers, $outcomes) = @_;
	my $kind = $kinds{$kind_name};
	my $session = session_for($case);
	my ($calls, @before, @after);

	$calls = count_calls($session, $case, $kind, $in_workers) for 1 .. 3;
	# after the first errors, which make a session larger
	for my $nth (1, int($calls / 2) + 1)
	{
		fail_once($session, $case, $kind, 'warming up', $nth, $_, $in_workers) for 0, 1, 0, 1;
	}
	@before = size_of($session->{pid});
	for my $for_good (0, 1)
	{
		for my $nth (choose_calls($calls))
		{
			my $outcome = fail_once($session, $case, $kind, label_of($case, $kind_name, $in_workers, $nth, $calls, $for_good),
				$nth, $for_good, $in_workers);

			$outcomes->{$outcome}++;
		}
	}
	count_calls($session, $case, $kind, $in_workers);
	@after = size_of($session->{pid});
	check_size("$case->{name}, $kind_name" . ($in_workers ? ' in workers' : ''), \@before, \@after);
	$session->close;
	check_pool("$case->{name}, $kind_name");
	return $calls;
}

# The same, in a new session each.
sub fail_cold
{
	my ($case, $kind_name, $outcomes) = @_;
	my $kind = $kinds{$kind_name};
	my $session = session_for($case);
	my $calls = count_calls($session, $case, $kind, 0);

	$session->close;
	for my $for_good (0, 1)
	{
		for my $nth (choose_calls($calls))
		{
			$session = session_for($case);
			my $label = label_of($case, "$kind_name, new session", 0, $nth, $calls, $for_good);
			my $outcome = fail_once($session, $case, $kind, $label, $nth, $for_good, 0);

			$outcomes->{$outcome}++;
			# and once more, without a failure
			count_calls($session, $case, $kind, 0);
			$session->close;
		}
	}
	check_pool("$case->{name}, $kind_name");
	return $calls;
}

sub label_of
{
	my ($case, $kind_name, $in_workers, $nth, $calls, $for_good) = @_;

	return sprintf '%s, %s%s, call %d of %d%s', $case->{name}, $kind_name, $in_workers ? ' in workers' : '', $nth, $calls,
		$for_good ? ' and all after it' : '';
}

# Nothing may grow with the number of failures: not by a file, nor by a mapping or 16 kB for every fourth.
sub check_size
{
	my ($label, $before, $after) = @_;
	my @grown = map { $after->[$_] - $before->[$_] } 0 .. 2;

	if ($grown[0] > 1024 || $grown[1] > 2 || $grown[2] > 8)
	{
		note_problem($label, sprintf "the session has grown by %d kB, %d files, %d mappings\n\tfiles before: %s\n\tafter: %s", @grown,
			$before->[3], $after->[3]);
	}
	else { $passed++ }
	return;
}

sub check_pool
{
	my ($label) = @_;
	my $free;

	for (1 .. 50)
	{
		$free = $admin->value('SELECT pool_bytes_free = pool_bytes AND jobs_open = 0 FROM gpusort_service()');
		last if $free eq 't';
		sleep 0.1;
	}
	if ($free eq 't') { $passed++ }
	else { note_problem($label, 'not all of the pool is free') }
	check_files($label);
}

# Sets of temporary files that were there before.
my %known_files;

# Where the system's malloc() fails the server can't read their directory either, and leaves them.
sub check_files
{
	my ($label) = @_;
	my @files = map { $_->[0] } @{ $admin->must("SELECT * FROM pg_ls_dir('base/pgsql_tmp', true, false)")->{rows} };
	my @new = grep { !$known_files{$_}++ } @files;

	if (!@new || $label =~ /any malloc/) { $passed++ }
	else { note_problem($label, "files are left: @new") }
	return;
}

sub print_row
{
	my ($case, $kind, $calls, $outcomes) = @_;

	return if !$calls;
	printf "%-22s %-26s %7d  %s\n", $case, $kind, $calls,
		join ', ', map { "$outcomes->{$_} $_" } sort { $b =~ /right/ <=> $a =~ /right/ || $a cmp $b } keys %$outcomes;
	STDOUT->flush;
}

# ---- gpusortd ----

my $serial_number = 1000;

# Another gpusortd, with these options.
sub restart_daemon
{
	my ($options) = @_;
	my $pid = $admin->value('SELECT coalesce(pid, 0) FROM gpusort_service()');
	my $state;

	$admin->must("ALTER SYSTEM SET gpusort.daemon = 'host:3'");
	$admin->must(sprintf "ALTER SYSTEM SET gpusort.daemon_options = '--device-memory=%dMB --device-rows=50 --bucket-rows=50 --step-rows=20 %s'", ++$serial_number, $options);
	$admin->must('SELECT pg_reload_conf()');
	for (1 .. 100)
	{
		$state = $admin->value("SELECT CASE WHEN pid IS DISTINCT FROM $pid THEN state ELSE 'old' END FROM gpusort_service()");
		return $state if $state eq 'up' || $state eq 'down' || $state eq 'no_device';
		sleep 0.05;
	}
	return $state;
}

# Operations of devices, and what the program itself asks the system for.
sub fail_daemon
{
	my ($case, $kind_name) = @_;
	my %outcomes;
	my $calls = 0;
	my $kind = { errors => qr/^$/ };

	for my $for_good (0, 1)
	{
		my $most = $limit;

		for (my $nth = 1; $nth <= $most; $nth += $nth < $limit / 2 ? 1 : 1 + int rand 8)
		{
			my $label = label_of($case, $kind_name, 0, $nth, $calls, $for_good);
			my ($state, $code, $answer, $injected, $problem);

			arm($daemon_kinds{$kind_name}{number}, $nth, $for_good, 0, 0) if $daemon_kinds{$kind_name};
			$state = restart_daemon($daemon_kinds{$kind_name} ? '' : ($for_good ? '--inject-fault=operations:' : '--inject-fault=operation:') . $nth);
			my $session = session_for($case);
			($code, $answer) = run_case($session, $case);
			($code, $answer) = run_case($session, $case) if $code eq '' && $case->{query} && $answer eq $case->{answer};
			($calls, $injected) = disarm() if $daemon_kinds{$kind_name};
			$problem = judge($session, $case, $kind, $code, $answer);
			$session->close;
			note_problem($label, $problem) if $problem;
			$passed++ if !$problem;
			$outcomes{ $problem ? 'wrong!' : $state eq 'up' ? 'right' : "right, gpusortd is $state" }++;
			last if $daemon_kinds{$kind_name} && !$injected;
		}
	}
	arm(0, 0, 0, 0, 0);
	restart_daemon('');
	check_pool("$case->{name}, $kind_name");
	print_row($case->{name}, $kind_name, $calls || $limit, \%outcomes);
}

# ---- all of it ----

my %answers;

sub prepare_case
{
	my ($case) = @_;
	my $session = session_for($case);
	my $plan = $case->{plan} // qr/GpuSort/;

	if ($case->{query} && $case->{query} !~ /^CLUSTER/)
	{
		my $explained = join "\n", map { $_->[0] } @{ $session->must("EXPLAIN (COSTS OFF) $case->{query}")->{rows} };

		die "$case->{name}: not planned as wanted:\n$explained\n" if $explained !~ $plan && $case->{query} !~ /walk/;
	}
	if ($case->{query})
	{
		$session->must('SET gpusort.enabled = off');
		$case->{answer} = $answers{ $case->{query} } //= $session->value($case->{query});
	}
	$session->close;
}

sub fail_case
{
	my ($case) = @_;

	for my $kind (sort { $kinds{$a}{number} <=> $kinds{$b}{number} } keys %kinds)
	{
		next if $kind !~ /$kind_pattern/;
		for my $in_workers ($case->{workers} ? (0, 1) : 0)
		{
			my %outcomes;
			my $calls = fail_warm($case, $kind, $in_workers, \%outcomes);

			print_row($case->{name}, $kind . ($in_workers ? ' in workers' : ''), $calls, \%outcomes);
		}
		if ($kinds{$kind}{cold} && (!$short || $case->{workers} && $kind eq 'malloc'))
		{
			local $limit = max($limit, 40);
			my %outcomes;
			my $calls = fail_cold($case, $kind, \%outcomes);

			print_row($case->{name}, "$kind, new session", $calls, \%outcomes);
		}
	}
	return if !$case->{daemon} || $short;
	for my $kind ('device operation', sort keys %daemon_kinds)
	{
		fail_daemon($case, $kind) if $kind =~ /$kind_pattern/;
	}
}

# ---- extents ----

# Whose are refused: the numbers of fail_nth.c.
my %refused = (session => 0, workers => 1, both => 2);

# The refusals of a case: from which extent on, or which one, to whom.
sub choose_refusals
{
	my ($case, $calls) = @_;
	my @all;

	for my $who ($case->{workers} ? sort keys %refused : 'session')
	{
		push @all, map { ([ $_, 0, $who ], [ $_, 1, $who ]) } $short ? 1 .. $calls : choose_calls($calls);
	}
	return @all if !$short;
	# all but the first, which a shared sort needs to have parts, and two others
	my @most = @all > 3 ? splice @all, 3, 1 : ();
	return (@most, map { splice @all, int rand @all, 1 } 1 .. min(2, scalar @all));
}

sub refuse
{
	my ($case, $kind, $what) = @_;
	my $session = session_for($case);
	my $calls = count_calls($session, $case, $kind, $case->{workers} ? $refused{both} : $refused{session});
	my %outcomes;

	for my $refusal (choose_refusals($case, $calls))
	{
		my ($nth, $for_good, $who) = @$refusal;

		$outcomes{ fail_once($session, $case, $kind, label_of($case, "$what of $who", 0, $nth, $calls, $for_good),
				$nth, $for_good, $refused{$who}) }++;
	}
	$session->close;
	check_pool($case->{name});
	print_row($case->{name}, $what, $calls, \%outcomes);
}

# Its extents, and where it matters that the system may have no memory behind them, that.
sub refuse_extents
{
	my ($case) = @_;

	refuse($case, $extent, 'extents') if 'extents' =~ /$kind_pattern/;
	refuse($case, $kinds{mapping}, 'mapping') if 'mapping' =~ /$kind_pattern/ && $case->{mapping};
}

srand($ENV{SEED} // 1);
$admin = PgWire->connect(name => 'admin');
$admin->must($setup);
$admin->must($extents ? $PoolCases::setup : $FaultCases::setup);
$admin->must('VACUUM ANALYZE');
$admin->must($FaultCases::functions) if !$extents;
my $start = $admin->value('SELECT pg_postmaster_start_time()');
my $daemon_is_up = 0;
printf "%-22s %-26s %7s  %s\n", 'what is run', 'what fails', 'calls', 'outcomes';
for my $case (@cases)
{
	next if $case->{name} !~ /$case_pattern/;
	restart_daemon('') if $case->{daemon} && !($extents && $daemon_is_up++);
	prepare_case($case);
	eval { $extents ? refuse_extents($case) : fail_case($case); 1 } or do
	{
		note_problem($case->{name}, "gave up: $@");
		$admin = eval { PgWire->connect(name => 'admin') } or last;
	};
}
if (eval { $admin->value('SELECT pg_postmaster_start_time()') eq $start }) { $passed++ }
else { note_problem('the end', 'the server is not up') }
print "$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
