#!/usr/bin/perl
# memory_fuzz.pl
#	Differential fuzzer of the states of memory: some hundred kinds of statement against pools that are
#	small or filled by others, quotas and work_mem that change in between, spilling, workers
#	that do not come, interruptions, and gpusortd on simulated devices.
#
# Every answer is compared with that of gpusort.enabled = off.  After each statement the pool must be free,
# no temporary file left, and the server's log clean.  The server is the fuzzer's own: nothing but
# the programs of --bindir, with gpusort installed there, is needed, and a user who is not root.
#
#	--bindir DIR	where initdb, pg_ctl and postgres are (what pg_config says)
#	--seconds N		stop after so long (60)
#	--jobs N		so many servers at a time (1), with seeds that are 1,000,000 apart
#	--seed S		first seed (from the clock); each round, a start of the server, uses the next
#	--rounds N		stop after so many rounds
#	--cases N		cases in a round (25)
#	--case K		run only case K of each round (to reproduce)
#	--name REGEXP	only cases of such names
#	--pool MB		always a pool of this size
#	--max-rows N	no tables of more rows (3,000,000)
#	--failures N	stop after so many failures (1)
#	--timeout S		a statement that takes longer hangs (120)
#	--no-shrink		print what has failed as it was
#	--verbose		print every statement
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Digest::MD5 qw(md5);
use Getopt::Long;
use POSIX ();
use Time::HiRes qw(time sleep);
use PgWire;
use Types qw(pick chance between);
use MemoryServer;
use MemoryTables;
use MemoryCases;

my %opt = (seconds => 60, jobs => 1, seed => int(time) % 1_000_000_000, rounds => 1e9, cases => 25, 'max-rows' => 3_000_000, failures => 1, timeout => 120, shrink => 1);
GetOptions(\%opt, 'bindir=s', 'seconds=f', 'jobs=i', 'seed=i', 'rounds=i', 'cases=i', 'case=i', 'name=s', 'pool=i', 'max-rows=i', 'failures=i', 'timeout=i', 'shrink!', 'verbose') or exit 2;
$| = 1;
chomp($opt{bindir} //= `pg_config --bindir`);
die "initdb refuses to run as root\n" if $> == 0;

my ($server, $main, $control, $hog, $neighbour, %world, %answers, %stats);
my ($passed, $failed, $stop) = (0, 0, 0);
my @trace;					# what was done since the variant began, as a script
my $begun = time;
my $deadline = $begun + $opt{seconds};

# ---- statements ----

# Runs a statement and says what came: rows, their digest by its check, the error.
sub run_step
{
	my ($conn, $step) = @_;
	my ($rows, $sum) = (0, 0);
	my $md5 = Digest::MD5->new;
	my $few = '';
	my $ordered = $step->{check} eq 'ordered';
	my $bag = $step->{check} =~ /^(?:bag|copied)$/;
	print "  $step->{sql};\n" if $opt{verbose};
	local $conn->{on_row} = sub {
		$rows++;
		if ($ordered) { $md5->add($_[0]); }
		elsif ($bag)
		{
			use integer;
			$sum += unpack 'q', md5($_[0]);
			# the only row of an aggregate is worth to be seen
			$few = printable($_[0]) if $rows == 1 && $step->{check} eq 'bag';
		}
	};
	alarm $opt{timeout} + 60;
	my $start = time;
	my $r = $step->{fetch} ? $conn->execute($step->{sql}, [], $step->{fetch}, $step->{stop}) : $conn->query($step->{sql});
	alarm 0;
	printf "  -- %.1f s\n", time - $start if $opt{verbose};
	return "ERROR $r->{error}{C} $r->{error}{M}" if $r->{error};
	return 'done' if $step->{check} eq 'none';
	return $r->{tag} if $step->{check} eq 'tag';
	return "$rows rows" if $step->{check} eq 'count' || !$rows;
	return $few if $few && $rows == 1;
	return "$rows rows, digest " . ($ordered ? substr($md5->hexdigest, 0, 12) : sprintf '%x', $sum);
}

sub printable
{
	my $body = shift;
	my @fields;
	my $off = 2;
	return '1 row, digest ' . unpack('H12', md5($body)) if length $body > 500;
	for (1 .. unpack 'n', $body)
	{
		my $len = unpack 'N', substr $body, $off, 4;
		push @fields, $len == 0xFFFFFFFF ? 'NULL' : substr $body, $off + 4, $len;
		$off += 4 + ($len == 0xFFFFFFFF ? 0 : $len);
	}
	return '(' . join(', ', @fields) . ')';
}

$SIG{ALRM} = sub {
	my $other = eval { local $SIG{ALRM} = sub { die "\n" }; alarm 20; $server->connect('fuzz watch') };
	my $what = $other ? join("\n", map { join ' | ', map { $_ // '' } @$_ } @{ $other->query('SELECT pid, leader_pid, state, wait_event_type, wait_event, left(query, 100) FROM pg_stat_activity WHERE state IS NOT NULL')->{rows} }) : 'no connection';
	die "no answer, and no end by statement_timeout\n$what\n";
};

# Two errors are the same if their codes are.
sub is_same { my ($a, $b) = map { /^(ERROR \w{5})/ ? $1 : $_ } @_; return $a eq $b; }

sub settings_sql { my $set = shift; return join ' ', map { "SET $_ = $set->{$_};" } sort keys %$set; }

my %plain = ('gpusort.enabled' => 'off', work_mem => "'64MB'", maintenance_work_mem => "'64MB'", hash_mem_multiplier => 2, max_parallel_workers_per_gather => 0);

# What the case has left behind, whether it came to its end or not.
sub clean_up
{
	my ($conn, $case) = @_;
	$conn->query('ROLLBACK') if $conn->{status} ne 'I';
	$conn->query('CLOSE ALL; DEALLOCATE ALL; RESET ALL');
	$conn->must('SELECT fuzz_clean()') if grep { $_->{sql} =~ /\btarget\b/ } @{ $case->{steps} };
	$conn->must($_) for @{ $case->{cleanup} };
}

# ---- answers by PostgreSQL ----

sub key_of { return join "\0", map { "$_->{check} " . ($_->{fetch} // '') . ' ' . ($_->{stop} // '') . " $_->{sql}" } @{ $_[0]{steps} }; }

sub answer_of
{
	my $case = shift;
	return $answers{ key_of($case) } //= do {
		$control->must(settings_sql(\%plain));
		my (@results, @seconds);
		for my $step (@{ $case->{steps} })
		{
			my $start = time;
			push @results, run_step($control, $step);
			push @seconds, time - $start;
		}
		clean_up($control, $case);
		{ results => \@results, seconds => \@seconds };
	};
}

# ---- settings ----

sub random_memory
{
	my %set;
	$set{'gpusort.pool_quota'} = pick(0, 1, 5, 25, 50, 75, 75, 100, 100);
	$set{work_mem} = pick("'64kB'", "'64kB'", "'256kB'", "'1MB'", "'4MB'", "'4MB'", "'16MB'", "'64MB'");
	$set{'gpusort.enable_spill'} = pick('on', 'on', 'on', 'on', 'off');
	return \%set;
}

# As a rule, room for some of the rows only, in the pool.
sub tight_memory
{
	my $rows = shift;
	my $set = random_memory();
	my @quotas = grep { my $share = $rows * pick(30, 110) / ($_ / 100 * $world{pool_bytes} + 1); $share > 0.8 && $share < 6 } 5, 10, 25, 50, 75, 75, 100;
	return $set if !@quotas || chance(0.35);
	$set->{'gpusort.pool_quota'} = pick(@quotas);
	$set->{work_mem} = pick("'64kB'", "'256kB'", "'1MB'", "'4MB'");
	return $set;
}

sub random_settings
{
	my $rows = MemoryCases::rows_of(shift);
	my %set = (%{ tight_memory($rows) }, 'gpusort.force' => pick('on', 'on', 'on', 'off'), maintenance_work_mem => pick("'1MB'", "'4MB'", "'64MB'"));
	my $workers = pick(0, 2, 2, 4);
	%set = (%set, max_parallel_workers_per_gather => $workers, max_parallel_maintenance_workers => pick(0, 2, 4));
	if ($workers)
	{
		%set = (%set, parallel_setup_cost => pick(0, 0, 1000), parallel_tuple_cost => pick(0, 0, 0.1), min_parallel_table_scan_size => 0, min_parallel_index_scan_size => 0);
		$set{'gpusort.cost_gather'} = 0 if chance(0.7);
		$set{max_parallel_workers} = pick(1, 2, 0) if chance(0.2);
		$set{parallel_leader_participation} = 'off' if chance(0.15);
	}
	for (qw(hashagg hashjoin)) { $set{"enable_$_"} = 'off' if chance(0.65); }
	for (qw(mergejoin nestloop incremental_sort indexscan material)) { $set{"enable_$_"} = 'off' if chance(0.15); }
	# a nested loop over large tables takes for ever
	delete $set{enable_hashjoin} if $set{enable_mergejoin};
	$set{enable_indexonlyscan} = $set{enable_bitmapscan} = 'off' if $set{enable_indexscan};
	for (qw(shared_sort parallel_collect join select insert create_table_as copy)) { $set{"gpusort.enable_$_"} = 'off' if chance($_ eq 'join' ? 0.3 : 0.1); }
	$set{'gpusort.late_rows'} = pick('on', 'off') if chance(0.4);
	$set{'gpusort.verify'} = 'on' if chance(0.1);
	$set{'gpusort.keep_memory'} = pick("'0'", "'1MB'") if chance(0.3);
	$set{'gpusort.copy_indexes'} = pick("'empty'", "'off'") if chance(0.3);
	$set{'gpusort.min_rows'} = 0 if chance(0.3);
	$set{'gpusort.slice_pages'} = pick(1, 10) if chance(0.3);
	$set{'gpusort.min_sort_worker_rows'} = pick(2, 100, 5000) if chance(0.3);
	$set{'gpusort.max_sort_workers'} = pick(0, 1, 3) if chance(0.2);
	# a run for every hundred rows
	$set{'gpusort.inject_fault'} = pick('codec', 'verify', 'slow_slices', $rows <= 20_000 ? 'memory' : ()) if chance(0.06);
	$set{'gpusort.engine'} = pick('cuda', 'cuda', 'host') if $world{daemon};
	$set{'gpusort.reorder_rows'} = 'on' if $world{daemon} && chance(0.3);
	$set{hash_mem_multiplier} = 1 if chance(0.5);
	$set{cursor_tuple_fraction} = 1 if chance(0.5);
	return \%set;
}

# ---- others that use the pool ----

sub connect_server { my $name = shift; my $conn = $server->connect($name); return $conn; }

my @held;					# the hog's cursors: { name, steps, at, results }

sub hog_says
{
	my $step = shift;
	push @trace, "-- another session: $step->{sql};";
	return run_step($hog, $step);
}

sub open_hog
{
	$hog //= connect_server('fuzz hog');
	if (!@held)
	{
		my $set = { 'gpusort.force' => 'on', 'gpusort.pool_quota' => pick(50, 100, 100), work_mem => "'64MB'", cursor_tuple_fraction => 1, %{ chance(0.3) ? random_memory() : {} } };
		my $sql = settings_sql($set) . ' BEGIN';
		push @trace, "-- another session: $sql;";
		$hog->must($sql);
	}
	my $n = @held;
	my $rows = pick(grep { $_ <= $opt{'max-rows'} && $_ * 60 < $world{pool_bytes} * 3 } 20_000, 100_000, 100_000, 300_000, 1_000_000) // 20_000;
	$rows = 20_000 if $rows > 300_000 && !chance(0.3);
	my $table = MemoryTables::table($control, 'h', $rows);
	my @steps = ({ sql => "DECLARE h$n SCROLL CURSOR FOR SELECT " . pick('u', 'id, u, s') . " FROM $table ORDER BY u", check => 'none' }, { sql => "FETCH @{[ pick(1, 5000) ]} FROM h$n", check => 'ordered' });
	my @results = map { hog_says($_) } @steps;
	push @held, { steps => \@steps, results => \@results };
	return undef;
}

# The cursor that was opened first goes on; what it has said must be right at the end.
sub touch_hog
{
	return open_hog() if !@held;
	my $held = pick(@held);
	my ($name) = $held->{steps}[0]{sql} =~ /(h\d+)/;
	my $step = { sql => pick('FETCH 3000 FROM', 'FETCH BACKWARD 100 FROM', 'MOVE 10000 IN', 'FETCH 1 FROM') . " $name", check => 'ordered' };
	push @{ $held->{steps} }, $step;
	push @{ $held->{results} }, hog_says($step);
	return undef;
}

# All cursors are read to their ends, or not, and closed.  undef, or what is wrong.
sub close_hog
{
	my $wrong;
	return undef if !@held;
	for my $held (@held)
	{
		my ($name) = $held->{steps}[0]{sql} =~ /(h\d+)/;
		if (chance(0.5))
		{
			my $step = { sql => "FETCH ALL FROM $name", check => 'ordered' };
			push @{ $held->{steps} }, $step;
			push @{ $held->{results} }, hog_says($step);
		}
		my $answer = answer_of({ steps => [ { sql => 'BEGIN', check => 'none' }, @{ $held->{steps} } ], cleanup => [] });
		$wrong //= differs($held->{steps}, [ @{ $answer->{results} }[ 1 .. @{ $held->{steps} } ] ], $held->{results}, 'of the other session: ');
	}
	@held = ();
	push @trace, '-- another session: ROLLBACK;';
	$hog->query('ROLLBACK');
	return $wrong;
}

# ---- a variant: the case once more with other memory ----

sub change_memory
{
	my $step = shift;
	my $what = pick('memory', 'memory', 'memory', 'quota', 'workers', 'open', 'touch', 'close');
	return if $what eq 'open' && @held > 2;
	if ($what eq 'open') { return open_hog(); }
	if ($what eq 'touch') { return touch_hog(); }
	if ($what eq 'close') { return close_hog(); }
	my $set = $what eq 'memory' ? random_memory() : $what eq 'quota' ? { 'gpusort.pool_quota' => pick(0, 1, 75, 100) } : { max_parallel_workers => pick(0, 1, 16) };
	set_all($set);
	return undef;
}

# When to interrupt, and how.
sub random_interruption
{
	my ($case, $answer) = @_;
	my @steps = grep { !$case->{steps}[$_]{quiet} } 0 .. $#{ $case->{steps} };
	my $n = @steps ? pick(@steps) : 0;
	my $moment = pick('time', 'time', 'first file', 'file gone', 'file gone', 'file gone', 'files');
	return { step => $n, moment => $moment, after => $moment eq 'time' ? rand(1.2) * (0.002 + $answer->{seconds}[$n]) : 0, files => between(2, 6), kind => pick('INT', 'INT', 'INT', 'INT', 'TERM', 'worker') };
}

sub watch
{
	my ($interruption) = @_;
	my $start = time;
	my $most = 0;
	my $pid = $main->{pid};
	my $done;
	return sub {
		return if $done;
		if ($interruption->{moment} eq 'time') { return if time - $start < $interruption->{after}; }
		else
		{
			my $files = $server->temporary_files;
			my $gone = $files < $most;
			$most = $files if $files > $most;
			return if $interruption->{moment} eq 'first file' && !$files || $interruption->{moment} eq 'files' && $files < $interruption->{files} || $interruption->{moment} eq 'file gone' && !$gone;
		}
		$done = 1;
		$stats{"interrupted: $interruption->{moment}"}++;
		if ($interruption->{kind} ne 'worker') { kill $interruption->{kind}, $pid; }
		else { $control->query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE leader_pid = $pid LIMIT 1"); }
	};
}

sub run_watched
{
	my ($step, $interruption) = @_;
	$main->{while_waiting} = watch($interruption);
	my $result = eval { run_step($main, $step) };
	undef $main->{while_waiting};
	die $@ if !defined $result;
	# a signal that came late is the next statement's
	1 while ($main->query('SELECT 1')->{error} // { C => '' })->{C} eq '57014';
	return $result;
}

sub differs
{
	my ($steps, $expected, $results, $whose) = @_;
	for my $i (0 .. $#$results)
	{
		next if is_same($expected->[$i], $results->[$i]);
		return ($whose // '') . "step $i ($steps->[$i]{sql}):\n    PostgreSQL: $expected->[$i]\n    gpusort:    $results->[$i]";
	}
	return undef;
}

sub note_plan
{
	my $step = shift;
	return if $step->{sql} !~ /^\s*SELECT/ || $step->{sql} =~ /fuzz_digest|bt_index/;
	my $plan = $main->query("EXPLAIN (COSTS OFF) $step->{sql}");
	return if $plan->{error};
	my $text = join "\n", map { $_->[0] } @{ $plan->{rows} };
	$stats{plans}++;
	$stats{"node $_"}++ for $text =~ /Custom Scan \((GpuSort[^)]*)\)/g;
	$stats{'node GpuSort Shared, sliced'}++ if $text =~ /Sliced By/;
	$stats{"parallel plans"}++ if $text =~ /Gather/;
	print "$text\n" if $opt{verbose};
}

sub set_all
{
	my $sql = settings_sql($_[0]);
	push @trace, $sql;
	print "  $sql\n" if $opt{verbose};
	$main->query($sql);
}

sub run_steps
{
	my ($case, $settings, $changing, $interruption) = @_;
	my @results;
	set_all($settings);
	for my $i (0 .. $#{ $case->{steps} })
	{
		my $step = $case->{steps}[$i];
		if ($changing && !$step->{quiet} && chance(0.4))
		{
			my $wrong = change_memory($step);
			return (\@results, $wrong) if defined $wrong;
		}
		note_plan($step) if chance(0.15) && !$interruption;
		push @trace, "$step->{sql};";
		my $watched = $interruption && $interruption->{step} == $i;
		push @trace, "-- interrupted: $interruption->{moment}, $interruption->{kind}" . ($interruption->{moment} eq 'time' ? sprintf(', after %.1f ms', 1000 * $interruption->{after}) : '') if $watched;
		my $result = eval { $watched ? run_watched($step, $interruption) : run_step($main, $step) };
		if (!defined $result)
		{
			die $@ if !$watched || $interruption->{kind} ne 'TERM' || $@ ne "connection lost\n";
			$main = connect_server('fuzz');
			return (\@results, undef, 1);
		}
		return (\@results, undef, 1) if $interruption && $result =~ /^ERROR (?:57014|57P01|57P02|25P02|08006|55000)/;
		push @results, $result;
		if ($step->{index} && $result !~ /^ERROR/)
		{
			for (MemoryCases::index_checks($step->{index}))
			{
				my $check = $main->query($_->{sql});
				return (\@results, "$step->{index}: $check->{error}{M}") if $check->{error};
			}
		}
	}
	return (\@results, undef, 0);
}

# undef, or what is wrong with what is left when a statement has ended.
sub leftovers
{
	my (@files, $used);
	my $end = time + 30;
	return undef if @held;
	while (1)
	{
		@files = $server->temporary_files;
		$used = $control->value('SELECT pool_bytes - pool_bytes_free FROM gpusort_service()');
		return undef if !@files && !$used;
		last if time > $end;
		sleep 0.02;
	}
	return join '; ', @files ? 'temporary files stay: ' . join(', ', map { s/.*pgsql_tmp\///r . ' ' . (-s $_ // 0) } @files) : (), $used ? "$used bytes of the pool are in use still" : ();
}

sub run_variant
{
	my ($case, $answer, $settings, %how) = @_;
	my ($results, $wrong, $interrupted) = run_steps($case, $settings, $how{changing}, $how{interruption});
	$wrong //= differs($case->{steps}, $answer->{results}, $results);
	clean_up($main, $case);
	if (!defined $wrong && $interrupted)
	{
		$stats{interrupted}++;
		$wrong = leftovers();
		($results) = run_steps($case, $settings, 0) if !defined $wrong;
		$wrong //= differs($case->{steps}, $answer->{results}, $results, 'after an interruption: ');
		clean_up($main, $case);
	}
	return $wrong;
}

# Something else runs meanwhile, in a session of its own.
sub start_neighbour
{
	my ($case) = @_;
	$neighbour //= connect_server('fuzz neighbour');
	my $settings = random_settings($case);
	push @trace, '-- in another session, meanwhile: ' . settings_sql($settings) . " $case->{steps}[0]{sql};";
	$neighbour->must(settings_sql($settings));
	$neighbour->send_message('Q', "$case->{steps}[0]{sql}\0");
}

sub end_neighbour
{
	my ($case) = @_;
	my $body;
	local $neighbour->{on_row} = sub { $body = $_[0] };
	alarm $opt{timeout} + 60;
	my $r = $neighbour->collect;
	alarm 0;
	my $result = $r->{error} ? "ERROR $r->{error}{C} $r->{error}{M}" : printable($body);
	$neighbour->must('RESET ALL');
	$stats{neighbours}++;
	return differs($case->{steps}, answer_of($case)->{results}, [$result], 'of the session beside: ');
}

# A case once with random memory.  undef, or what is wrong; dies with the server.
sub random_variant
{
	my ($case, $answer) = @_;
	my $settings = random_settings($case);
	my %how = (changing => chance(0.4));
	my $beside;
	@trace = ();
	$how{interruption} = random_interruption($case, $answer) if chance(0.3);
	if (chance(0.1) && !$case->{alone})
	{
		$beside = MemoryCases::make('to aggregate$');
		answer_of($beside);
		start_neighbour($beside);
	}
	open_hog() if !$case->{alone} && chance(0.15);
	my $wrong = run_variant($case, $answer, $settings, %how, changing => $how{changing} && !$case->{alone});
	my $theirs = $beside ? end_neighbour($beside) : undef;
	$wrong //= $theirs;
	if (chance(0.6)) { my $held = close_hog(); $wrong //= $held; }
	$wrong //= leftovers();
	my @complaints = $server->complaints;
	$wrong //= "the server's log: @complaints" if @complaints;
	return ($wrong, $settings);
}

# ---- failures ----

# The same without anything beside; undef if that is right.
sub fails_again
{
	my ($case, $settings) = @_;
	my $wrong = eval {
		revive();
		my $answer = answer_of($case);
		@trace = ();
		run_variant($case, $answer, $settings) // leftovers() // (join('', $server->complaints) || undef);
	};
	return $@ ? "$@" : $wrong;
}

# A server, and sessions.
sub revive
{
	if (!eval { $control->value('SELECT 1'); $main->value('SELECT 1') })
	{
		disconnect();
		$server->stop('immediate');
		begin_server();
	}
}

sub report
{
	my ($seed, $k, $case, $settings, $wrong) = @_;
	my $until = time + 120;
	$failed++;
	printf "FAILED after %.0f s: %s: %s\n", time - $begun, $case->{name}, $wrong;
	print "-- reproduce: memory_fuzz.pl --seed $seed --rounds 1 --case $k --max-rows $opt{'max-rows'}", ($opt{pool} ? " --pool $opt{pool}" : ''), ($opt{name} ? " --name '$opt{name}'" : ''), "\n";
	print "-- the server: @{ $world{conf} }\n";
	print "$_\n" for @trace;
	print "-- the log:\n", $server->last_lines(8);
	return if !$opt{shrink} || !defined $settings;
	my $again = fails_again($case, $settings);
	if (!defined $again)
	{
		print "-- it does not fail by itself\n";
		revive();
		return;
	}
	my %left = %$settings;
	for my $name (sort keys %$settings)
	{
		next if time > $until;
		my %less = %left;
		delete $less{$name};
		my $reason = fails_again($case, \%less);
		next if !defined $reason;
		($again, %left) = ($reason, %less);
	}
	print "-- with fewest settings: $again\n", settings_sql(\%left), "\n", map({ "$_->{sql};\n" } @{ $case->{steps} }), "-- end\n";
	revive();
}

# ---- rounds ----

sub begin_server
{
	$server->start(@{ $world{conf} });
	($control, $main) = map { connect_server($_) } 'fuzz control', 'fuzz';
	$world{conn} = $control;
	$MemoryCases::world = { %world, dir => $server->{dir}, max_rows => $opt{'max-rows'} };
	$MemoryCases::world->{amcheck} = $control->value("SELECT count(*) FROM pg_extension WHERE extname = 'amcheck'");
	return if !$world{daemon};
	for (1 .. 600)
	{
		last if $control->value('SELECT state FROM gpusort_service()') eq 'up';
		sleep 0.1;
	}
}

sub disconnect
{
	for ($main, $control, $hog, $neighbour) { $_->close if $_; undef $_; }
	@held = ();
}

sub random_server
{
	my $mb = $opt{pool} || pick(4, 8, 8, 24, 24, 48, 48, 48, 64, 64, 64, 256);
	$world{daemon} = chance(0.2);
	$world{pool_bytes} = $mb * 1024 * 1024;
	$world{conf} = [ "gpusort.pool_size = ${mb}MB", 'shared_buffers = 128MB', "statement_timeout = '$opt{timeout}s'", 'gpusort.daemon = ' . ($world{daemon} ? "'host:3'" : "'off'"), $world{daemon} && chance(0.5) ? "gpusort.daemon_options = '--device-rows=5000 --bucket-rows=2000 --step-rows=1000'" : () ];
}

sub note_counts
{
	my $r = $control->query('SELECT sum(sorts), sum(parallel), sum(bounded), sum(spilled), sum(handed_over_memory), sum(handed_over_value), sum(short), sum(simulated) FROM pg_stat_gpusort')->{rows}[0] or return;
	my @names = qw(sorts parallel bounded spilled handed_over refused short by_gpusortd);
	$stats{"sorts $names[$_]"} += $r->[$_] // 0 for 0 .. $#names;
	$control->query('SELECT pg_stat_gpusort_reset()');
}

sub round
{
	my $seed = shift;
	srand $seed;
	random_server();
	begin_server();
	print "-- seed $seed: @{ $world{conf} }\n" if $opt{verbose};
	for my $k (1 .. $opt{cases})
	{
		last if $stop || time > $deadline;
		next if $opt{case} && $k != $opt{case};
		srand $seed * 1009 + $k;
		my $case = MemoryCases::make($opt{name});
		my ($wrong, $settings);
		eval {
			@trace = ();
			$wrong = close_hog() if $case->{alone};
			my $answer = answer_of($case);
			my $too_long = grep { /^ERROR 57014/ } @{ $answer->{results} };
			$stats{ $too_long ? 'too long' : 'cases' }++;
			$stats{kinds}{ $case->{name} }++;
			my $variants = $too_long || defined $wrong ? 0 : between(4, 7);
			for (1 .. $variants)
			{
				($wrong, $settings) = random_variant($case, $answer);
				last if defined $wrong || time > $deadline + 30;
				$passed++;
			}
			1;
		} or $wrong = $@;
		if (defined $wrong)
		{
			report($seed, $k, $case, $settings, $wrong);
			$stop = 1 if $failed >= $opt{failures};
			disconnect();
			$server->stop('immediate');
			begin_server() if !$stop;
		}
	}
	return if !$control;
	my $wrong = eval { close_hog() // leftovers() };
	note_counts();
	disconnect();
	$wrong //= 'the server does not stop' if !$server->stop('fast');
	my @complaints = $server->complaints;
	$wrong //= "the server's log: @complaints" if @complaints;
	if (defined $wrong)
	{
		print "FAILED: at the end of the round of seed $seed (@{ $world{conf} }): $wrong\n";
		$failed++;
		$stop = 1 if $failed >= $opt{failures};
	}
}

sub work
{
	my $seed = shift;
	$server = MemoryServer->new($opt{bindir});
	%world = (conf => [], pool_bytes => 0);
	$server->start;
	$control = $server->connect('fuzz');
	MemoryTables::setup($control);
	disconnect();
	$server->stop('fast');
	for my $i (0 .. $opt{rounds} - 1)
	{
		last if $stop || time > $deadline;
		round($seed + $i);
	}
	printf "%d cases of %d kinds, %d times with other memory, in %.0f s; %s\n", $stats{cases} // 0, scalar keys %{ $stats{kinds} }, $passed, time - $begun, join ', ', map { "$_ $stats{$_}" } grep { !ref $stats{$_} } sort keys %stats;
	for ('sorts parallel', 'sorts spilled', 'sorts handed_over', 'interrupted')
	{
		next if $stats{$_} || $passed < 300 || $opt{name};
		print "FAILED: there were no $_\n";
		$failed++;
	}
}

$SIG{INT} = $SIG{TERM} = sub { $stop = 1 };
my @jobs;
for my $job (1 .. $opt{jobs} - 1)
{
	my $pid = fork // die "fork: $!\n";
	if ($pid == 0)
	{
		eval { work($opt{seed} + $job * 1_000_000); 1 } or print("FAILED: $@") && $failed++;
		undef $server;
		print "$passed passed, $failed failed\n" if $failed;
		POSIX::_exit($failed ? 1 : 0);
	}
	push @jobs, $pid;
}
print "seed $opt{seed}\n";
eval { work($opt{seed}); 1 } or print("FAILED: $@") && $failed++;
for (@jobs)
{
	waitpid $_, 0;
	$? ? $failed++ : $passed++;
}
undef $server;
print "$passed passed, $failed failed\n";
exit($failed > 0);
