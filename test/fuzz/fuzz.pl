#!/usr/bin/perl
# fuzz.pl
#	Differential fuzzer: every query once with gpusort.enabled = off, once with it
#	on and forced, on the same data, and the results must agree.
#
# Runs against a server with gpusort loaded, given by PGHOST, PGPORT and PGUSER, in
# a database of its own (fuzz_<pid>) that it drops at the end.  Needs a superuser.
#
#	--seconds N		stop after so long (60)
#	--seed S		first seed (from the clock); each round of tables uses the next
#	--rounds N		stop after so many rounds
#	--queries N		queries in a round (40)
#	--query K		run only query K of each round (to reproduce)
#	--failures N	stop after so many failures (1)
#	--shape NAME	only queries of this shape ("order by", cursor, ...)
#	--verbose		print every statement
#
# A failure is printed as a script that shows it on any server with gpusort.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Getopt::Long;
use Time::HiRes qw(time);
use PgWire;
use Types qw(pick chance between);
use Schema;
use Query;
use Strings;
use Index;
use Compare qw(difference);
use Shrink;

my %opt = (seconds => 60, seed => int(time) % 1_000_000_000, rounds => 1e9, queries => 40, failures => 1);
GetOptions(\%opt, 'seconds=f', 'seed=i', 'rounds=i', 'queries=i', 'query=i', 'failures=i', 'shape=s', 'verbose') or exit 2;
$| = 1;

my $db = "fuzz_$$";
my ($admin, $conn, %caps, %stats);
my ($passed, $failed, $stop) = (0, 0, 0);
$SIG{INT} = $SIG{TERM} = sub { $stop = 1 };

# ---- set-up ----

sub connect_fuzz
{
	my $c = PgWire->connect(dbname => $db, name => 'gpusort fuzz');
	$c->must("SET client_min_messages = warning");
	return $c;
}

sub find_capabilities
{
	$caps{version} = $conn->value('SHOW server_version_num');
	$caps{utf8} = $conn->value('SHOW server_encoding') eq 'UTF8';
	$caps{collations} = [];
	for my $name ('', 'C', 'POSIX', 'ucs_basic', 'C.utf8', 'en_US.utf8', 'en_US', 'en_US.UTF-8', 'de_DE.utf8', 'en-x-icu', 'sv-x-icu', 'und-x-icu', 'pg_c_utf8', 'pg_unicode_fast')
	{
		my $r = $conn->query("SELECT 'a' < 'b'" . ($name ? " COLLATE \"$name\"" : ''));
		push @{ $caps{collations} }, $name if !$r->{error};
	}
	$caps{icu} = grep { $_ eq 'und-x-icu' } @{ $caps{collations} };
	if ($caps{icu})
	{
		$caps{ci} = 'fuzz_ci';
		push @{ $caps{collations} }, 'fuzz_natural', 'fuzz_shifted';
	}
	$conn->must($_) for Types::setup_sql(\%caps), Index::setup_sql();
	# every one of ICU's, and those of our own that this ICU knows
	$caps{icu_collations} = $caps{icu} ? [ map { $_->[0] } @{ $conn->must("SELECT collname FROM pg_collation WHERE collprovider = 'i' AND collnamespace = 'pg_catalog'::regnamespace ORDER BY 1")->{rows} } ] : [];
	$caps{custom_collations} = [];
	my %custom = Strings::custom_collations();
	for my $name ($caps{icu} ? sort keys %custom : ())
	{
		my $made = $conn->query($custom{$name});
		push @{ $caps{custom_collations} }, $name if !$made->{error} || $made->{error}{C} eq '42710';
	}
	$caps{ordering_collations} = [ grep { Strings::is_deterministic($_) } @{ $caps{custom_collations} } ];
}

sub on_server_loss
{
	my $what = shift;
	print "FAILED: the server is gone or the connection was lost: $what\n";
	$failed++;
	$stop = 1;
}

# ---- settings of one query ----

sub random_settings
{
	my %set = (
		work_mem => pick("'64kB'", "'256kB'", ("'4MB'") x 2, ("'64MB'") x 4),
		hash_mem_multiplier => pick(1, 2),
		enable_hashagg => pick('on', 'off', 'off'),
		enable_hashjoin => pick('on', 'off', 'off', 'off'),
		enable_mergejoin => pick('on', 'on', 'off'),
		enable_nestloop => pick('on', 'on', 'off'),
		enable_incremental_sort => pick('on', 'off', 'off'),
		enable_material => pick('on', 'off'),
		enable_indexscan => pick('on', 'off'),
		enable_memoize => pick('on', 'off'),
		enable_partitionwise_join => pick('on', 'off'),
		plan_cache_mode => pick('auto', 'force_generic_plan', 'force_custom_plan'),
		cursor_tuple_fraction => pick(0.1, 1),
		jit => 'off', statement_timeout => "'60s'", intervalstyle => 'iso_8601', timezone => "'UTC'", extra_float_digits => 1, bytea_output => 'hex', client_min_messages => 'warning');
	if (chance(0.3))
	{
		%set = (%set, parallel_setup_cost => 0, 'gpusort.cost_gather' => 0, parallel_tuple_cost => pick(0, 0, 0.001), min_parallel_table_scan_size => 0, max_parallel_workers_per_gather => between(1, 3));
		$set{parallel_leader_participation} = 'off' if chance(0.2);
		$set{ $caps{version} >= 160000 ? 'debug_parallel_query' : 'force_parallel_mode' } = 'on' if chance(0.2);
	}
	else { $set{max_parallel_workers_per_gather} = 0; }
	return \%set;
}

sub random_gpusort
{
	my %set = ('gpusort.enabled' => 'on', 'gpusort.force' => chance(0.93) ? 'on' : 'off', 'gpusort.verify' => chance(0.3) ? 'on' : 'off',
		'gpusort.engine' => pick('auto', 'host'), 'gpusort.inject_fault' => chance(0.85) ? 'none' : pick('memory', 'codec', 'verify'));
	$set{'gpusort.keep_memory'} = pick("'0'", "'1MB'", "'256MB'") if chance(0.3);
	$set{'gpusort.min_rows'} = pick(0, 100) if chance(0.3);
	$set{'gpusort.pool_quota'} = pick(0, 0, 4, 10, 30) if chance(0.5);
	$set{'gpusort.late_rows'} = pick('on', 'on', 'off') if chance(0.6);
	$set{'gpusort.keep_memory_limit'} = pick(-1, "'0'", "'2MB'") if chance(0.1);
	$set{'gpusort.min_gpu_rows'} = pick(0, 50, 1000) if chance(0.3);
	$set{'gpusort.reorder_rows'} = pick('on', 'off', 'auto') if chance(0.3);
	$set{'gpusort.enable_shared_sort'} = 'off' if chance(0.2);
	%set = (%set, 'gpusort.max_sort_workers' => pick(1, 3), 'gpusort.min_sort_worker_rows' => pick(2, 100)) if chance(0.3);
	$set{'gpusort.enable_join'} = 'off' if chance(0.4);
	$set{'gpusort.enable_order_by'} = 'off' if chance(0.1);
	$set{'gpusort.enable_parallel_collect'} = 'off' if chance(0.1);
	# so cheap that collecting in parallel pays for small tables, too
	%set = (%set, map { ("gpusort.cost_$_" => 0) } qw(startup row key_byte key_collated row_byte emit)) if chance(0.7);
	return \%set;
}

sub set_sql { my ($set) = @_; return join ' ', map { "SET $_ = $set->{$_};" } sort keys %$set; }

# ---- one query ----

sub run_step
{
	my ($c, $step) = @_;
	print "  $step->{sql};\n" if $opt{verbose};
	return $step->{params} ? $c->execute($step->{sql}, $step->{params}, $step->{fetch}) : $c->query($step->{sql});
}

# A statement that must work even under a statement_timeout of a millisecond.
sub insist
{
	my ($c, $sql) = @_;
	for (1 .. 100)
	{
		my $r = $c->query($sql);
		return if !$r->{error};
		die "$r->{error}{C} $r->{error}{M}\nin: $sql\n" if $r->{error}{C} ne '57014';
	}
	die "always cancelled: $sql\n";
}

sub run_side
{
	my ($c, $query, $settings, $explain) = @_;
	insist($c, 'RESET ALL');
	$c->must(set_sql({ %$settings, statement_timeout => 0 }));
	insist($c, "SET statement_timeout = " . ($settings->{statement_timeout} // 0));
	my @results;
	insist($c, 'BEGIN') if $query->{transaction} && !$query->{nested};
	for my $step (@{ $query->{steps} })
	{
		if ($explain && $step->{explain})
		{
			$c->query('SAVEPOINT e') if $query->{transaction};
			my $plan = $c->query('EXPLAIN (COSTS OFF) ' . ($step->{explain} eq '1' ? $step->{sql} : $step->{explain}));
			$explain->($step, $plan) if !$step->{params} || !@{ $step->{params} };
			$c->query('ROLLBACK TO e') if $query->{transaction} && $plan->{error};
		}
		push @results, run_step($c, $step);
	}
	insist($c, 'ROLLBACK') if $c->{status} ne 'I' && !$query->{nested};
	$c->query('CLOSE ALL; DEALLOCATE ALL');
	return \@results;
}

# Compare both sides: undef, or what is wrong.
sub judge
{
	my ($query, $off, $on) = @_;
	for my $i (0 .. $#{ $query->{steps} })
	{
		my $step = $query->{steps}[$i];
		return undef if $off->[$i]{error} && $off->[$i]{error}{C} eq '57014';
		for my $notice (@{ $on->[$i]{notices} })
		{
			return "step $i: $notice->{S}: $notice->{M}" if $notice->{S} eq 'WARNING' && !grep { $_->{M} eq $notice->{M} } @{ $off->[$i]{notices} };
		}
		my $d = difference($step, $off->[$i], $on->[$i]);
		return "step $i: $d" if defined $d;
	}
	return undef if !$query->{oracle} || grep { $_->{error} } @$off, @$on;
	my $wrong = $query->{oracle}->(@$on);
	return $wrong if !defined $wrong;
	return $wrong . ($query->{oracle}->(@$off) ? ' (in PostgreSQL, too)' : '');
}

sub note_plan
{
	my ($query, $step, $plan) = @_;
	$stats{plans}++;
	if ($plan->{error}) { $stats{plan_errors}++; return; }
	my $text = join "\n", map { $_->[0] } @{ $plan->{rows} };
	my $ours = () = $text =~ /Custom Scan \(GpuSort\)/g;
	my $cores = () = $text =~ /(?:->  |^)Sort(?:\s|$)/gm;
	$stats{nodes} += $ours;
	$stats{core_sorts} += $cores;
	$stats{used}++ if $ours;
	$stats{shape_used}{ $query->{name} }++ if $ours && !$query->{counted}++;
	if ($ours)
	{
		$stats{parallel}++ if $text =~ /Gather/;
		$stats{collected}++ if $text =~ /GpuSort Collect/;
		$stats{merge_join}++ if $text =~ /Merge (\w+ )?Join/;
		$stats{several}++ if $ours > 1;
		$stats{types}{ $_->{name} }++ for grep { exists $_->{gens} || exists $_->{gen} } @{ $step->{out} || [] };
		print "$text\n" if $opt{verbose};
	}
}

sub run_query
{
	my ($query, $settings, $gpusort) = @_;
	my $off = run_side($conn, $query, { %$settings, 'gpusort.enabled' => 'off' });
	if (chance(0.04))
	{
		# an interrupted sort must leave nothing behind
		$stats{interrupted}++;
		run_side($conn, $query, { %$settings, %$gpusort, statement_timeout => "'" . between(1, 8) . "ms'" });
	}
	my $on = run_side($conn, $query, { %$settings, %$gpusort }, sub { note_plan($query, @_) });
	return judge($query, $off, $on);
}

sub report
{
	my ($seed, $k, $schema, $query, $settings, $gpusort, $reason) = @_;
	print "FAILED: $query->{name}: $reason\n";
	print "-- reproduce: fuzz.pl --seed $seed --rounds 1 --query $k\n";
	# the shrunk case is judged as the query was, on the same connection
	my $still = sub {
		my ($settings, $gpusort) = @_;
		my %nested = (%$query, nested => 1);
		my @sides = map { my $set = $_; $conn->must('SAVEPOINT side'); my $r = run_side($conn, \%nested, $set); $conn->must('ROLLBACK TO side'); $r }
		  ({ %$settings, 'gpusort.enabled' => 'off' }, { %$settings, %$gpusort });
		return judge($query, @sides);
	};
	my $script = Shrink::script($conn, \%caps, $schema, $query, $settings, $gpusort, $still);
	print "$script-- end of the script\n";
}

# ---- indexes ----

# Some indexes of a table of their own, in front of query $k.
sub index_turn
{
	my ($seed, $k) = @_;
	srand($seed * 1013 + $k);
	my @cases = Index::make(\%caps);
	my $again = "-- reproduce: fuzz.pl --seed $seed --rounds 1 --query $k --shape index\n";
	$conn->must('RESET ALL; SET client_min_messages = warning');
	$conn->must($_) for Index::table_sql($cases[0]);
	for my $case (@cases)
	{
		print '  ', Index::index_sql($case), ";\n" if $opt{verbose};
		my $reason = eval { Index::run($conn, $case, \%stats) };
		if ($@)
		{
			on_server_loss("$@$again" . Index::index_sql($case) . "\n");
			return;
		}
		if (!defined $reason) { $passed++; next; }
		$failed++;
		print 'FAILED: index: ', $reason, "\n", $again, Index::index_sql($case), ";\n";
		my $script = eval { Index::script($conn, $case) } // "could not shrink: $@";
		print "$script-- end of the script\n";
		$stop = 1 if $failed >= $opt{failures};
		return;
	}
}

# ---- rounds ----

sub round
{
	my $seed = shift;
	srand($seed);
	my @types = Types::catalogue(\%caps);
	my $schema = Schema::make(\@types, \%caps);
	$conn->must("RESET ALL; SET timezone = 'UTC'; SET client_min_messages = warning; DROP TABLE IF EXISTS t, u, o CASCADE");
	for my $sql (@{ $schema->{sql} })
	{
		print "  $sql;\n" if $opt{verbose};
		$conn->must($sql);
	}
	for my $k (1 .. $opt{queries})
	{
		return if $stop || time > $opt{deadline};
		index_turn($seed, $k) if $k % 5 == 1 && (!$opt{query} || $opt{query} == $k) && (!$opt{shape} || $opt{shape} eq 'index');
		# every query has its own seed, so that it can be run alone
		srand($seed * 1009 + $k);
		my $query = Query::make($schema, \%caps);
		my ($settings, $gpusort) = (random_settings(), random_gpusort());
		# so that indexes are what is joined
		%$settings = (%$settings, enable_seqscan => 'off', enable_indexscan => 'on', min_parallel_index_scan_size => 0)
			if $schema->{features}{joined} && chance(0.6);
		$gpusort->{'gpusort.min_rows'} = 0 if $schema->{features}{joined};
		next if $opt{query} && $k != $opt{query};
		next if $opt{shape} && $query->{name} ne $opt{shape};
		my $reason = eval { run_query($query, $settings, $gpusort) };
		if ($@)
		{
			on_server_loss("$@-- reproduce: fuzz.pl --seed $seed --rounds 1 --query $k\n" . Shrink::unshrunk(\%caps, $schema, $query, $settings, $gpusort));
			return;
		}
		$stats{queries}++;
		$stats{statements} += 2 * @{ $query->{steps} };
		$stats{shape}{ $query->{name} }++;
		$stats{ 'fault ' . $gpusort->{'gpusort.inject_fault'} }++;
		$stats{verify}++ if $gpusort->{'gpusort.verify'} eq 'on';
		$stats{small_work_mem}++ if $settings->{work_mem} =~ /kB/;
		if (defined $reason)
		{
			$failed++;
			eval { report($seed, $k, $schema, $query, $settings, $gpusort, $reason) };
			print "could not shrink: $@\n" if $@;
			$conn->query('ROLLBACK');
			$stop = 1 if $failed >= $opt{failures};
		}
		else { $passed++; }
	}
}

sub print_statistics
{
	my $seconds = shift;
	my $n = $stats{queries} || 1;
	my $share = sub { sprintf '%.0f %%', 100 * ($_[0] // 0) / ($_[1] || 1) };
	printf "%d queries (%d statements) in %.0f s, %.0f a second\n", $stats{queries} // 0, $stats{statements} // 0, $seconds, $n / ($seconds || 1);
	printf "plans: %d, with GpuSort %d (%s); GpuSort nodes %d, Sort nodes left %d\n", $stats{plans} // 0, $stats{used} // 0,
	  $share->($stats{used}, $stats{plans}), $stats{nodes} // 0, $stats{core_sorts} // 0;
	printf "with GpuSort: several nodes %d, merge joins %d, parallel %d, collected in parallel %d\n",
	  map { $_ // 0 } @stats{qw(several merge_join parallel collected)};
	printf "verify %s, small work_mem %s, faults: memory %d, codec %d, verify %d; interrupted %d\n", $share->($stats{verify}, $n),
	  $share->($stats{small_work_mem}, $n), map { $_ // 0 } @stats{ 'fault memory', 'fault codec', 'fault verify', 'interrupted' };
	printf "indexes %d, built by gpusort %d, refused %d, not right in PostgreSQL either %d\n", map { $_ // 0 } @stats{qw(indexes indexes_built indexes_failed indexes_no_order)};
	print 'queries by shape (with GpuSort): ', join(', ', map { "$_ $stats{shape}{$_} (" . ($stats{shape_used}{$_} // 0) . ')' } sort keys %{ $stats{shape} }), "\n";
	print 'types put out by GpuSort plans: ', join(', ', map { "$_ $stats{types}{$_}" } sort keys %{ $stats{types} }), "\n" if $stats{types};
}

$admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
my $started = $admin->value('SELECT pg_postmaster_start_time()');
eval {
	$conn = connect_fuzz();
	find_capabilities();
	print "seed $opt{seed}, server $caps{version}, collations: ", join(', ', map { $_ || 'default' } @{ $caps{collations} }), "\n";
	my $start = time;
	$opt{deadline} = $start + $opt{seconds};
	for my $i (0 .. $opt{rounds} - 1)
	{
		last if $stop || time > $opt{deadline};
		round($opt{seed} + $i);
	}
	print_statistics(time - $start);
	$conn->close;
};
if ($@) { print "FAILED: $@"; $failed++; }
my $now = eval { $admin->value('SELECT pg_postmaster_start_time()') };
if (!defined $now || $now ne $started) { print "FAILED: the server has restarted\n"; $failed++; }
else { $admin->query("DROP DATABASE $db WITH (FORCE)"); }
if (!$stats{used} && !$opt{query} && !$stop) { print "FAILED: no plan used GpuSort: is the library loaded?\n"; $failed++; }
print "$passed passed, $failed failed\n";
exit($failed ? 1 : 0);
