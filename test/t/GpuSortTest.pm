# GpuSortTest.pm
#		What the TAP tests share: a node with gpusort, and comparisons.
package GpuSortTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

our @EXPORT = qw(part compete daemon_of start_node plan_of analyzed_plan_of run_with ordered_digest digest_of_rows same_answer tables_stay session_of reset_timeout temp_files
	spilled_files nothing_is_left time_limit reload crash interrupt_when cancel_among_workers end_pgbench
	service set_daemon is_stopped wait_until_stopped parent_of kill_daemons all_is_free create_index_checks sum_checksums);

# Nodes, which GPUSORT_TEST_STOP=fast ends at last as an administrator does (proof/coverage.sh).
my @nodes;

END
{
	local $?;

	$_->stop($ENV{GPUSORT_TEST_STOP}, fail_ok => 1) for $ENV{GPUSORT_TEST_STOP} ? @nodes : ();
}

# Whether to run this part of a test: all are run, or those that were asked for (make check
# TEST=021/cancel).  Parts don't need each other.  lib/catalogue.sh finds their names, which are words
# without blanks, in calls of this.
sub part
{
	my ($name) = @_;
	my $wanted = $ENV{GPUSORT_TEST_PARTS} // '';

	return $wanted eq '' || grep { $_ eq $name } split /,/, $wanted;
}

# What PostgreSQL hashes bytes with.  hash_array_extended(), which can be called without more, takes a third longer for a row.
my $hash_of_bytes = q(CREATE FUNCTION public.hash_of_bytes(bytea, int8) RETURNS int8
	IMMUTABLE STRICT PARALLEL SAFE LANGUAGE internal AS 'hashvarlenaextended');

# A running node with gpusort preloaded and these lines in postgresql.conf, behind
# a hash of parameters for init() if there is one.
sub start_node
{
	my ($name, @lines) = @_;
	my %init = @lines && ref $lines[0] ? %{ shift @lines } : ();
	my $node = PostgreSQL::Test::Cluster->new($name);

	# which the environment need not say
	$node->init(%init, extra => [ '--encoding=UTF8', @{ $init{extra} // [] } ]);
	$node->append_conf('postgresql.conf', join "\n",
		"shared_preload_libraries = 'gpusort'",
		"jit = off", "log_statement = none", "autovacuum = off",
		# a session on a busy machine must not give gpusortd up and sort by itself
		"gpusort.daemon_queue_timeout = 0", @lines, '');
	$node->start;
	push @nodes, $node;
	$node->safe_psql('postgres', $hash_of_bytes);
	return $node;
}

# EXPLAIN of a query, run after the settings given as [name => value, ...].
sub plan_of
{
	my ($node, $query, @settings) = @_;

	return run_with($node, "EXPLAIN (COSTS OFF) $query", @settings);
}

sub analyzed_plan_of
{
	my ($node, $query, @settings) = @_;

	return run_with($node, "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query", @settings);
}

sub run_with
{
	my ($node, $query, @settings) = @_;
	my $script = '';

	while (my ($name, $value) = splice @settings, 0, 2)
	{
		$script .= "SET $name = '$value';\n";
	}
	return $node->safe_psql('postgres', "$script$query");
}

# What all rows of q come to, byte by byte as a client gets them: where their order matters, and where it does not.  (As
# text they would take twice the time, most of that of a sort's test.)
my $hash = 'public.hash_of_bytes(record_send(q), 0)';

sub ordered_digest
{
	my ($query) = @_;

	return "SELECT count(*) || ' ' || md5(string_agg(int8send($hash), '')) FROM ($query OFFSET 0) q";
}

sub digest_of_rows
{
	my ($query) = @_;

	return "SELECT count(*) || ' ' || sum($hash) FROM ($query OFFSET 0) q";
}

# From now on PostgreSQL's answer to a query stays the same, until this is called again: it need not be asked twice.
my $answers;

sub tables_stay
{
	$answers = {};
}

# Both sides' rows in order, one text each; the query's order must be total.
# Asserts the path taken, too.
sub same_answer
{
	my ($node, $query, $label, @settings) = @_;
	my $digest = ordered_digest($query);
	my ($plan, $ours) = run_with($node, "EXPLAIN (COSTS OFF) $digest; $digest", @settings) =~ /(.*)\n(.*)/s;
	my $theirs = $answers && $answers->{$digest} || run_with($node, $digest, @settings, 'gpusort.enabled' => 'off');

	$answers->{$digest} = $theirs if $answers;
	like($plan, qr/Custom Scan \(GpuSort( Shared)?\)/, "$label: sorted by gpusort");
	isnt($theirs, '', "$label: there are rows");
	is($ours, $theirs, "$label: PostgreSQL's answer, row by row");
}

# Run statements in one session that goes on after errors; its output and errors.
sub session_of
{
	my ($node, @statements) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', join(";\n", @statements) . ';',
		stdout => \$out, stderr => \$err, on_error_stop => 0, on_error_die => 0);
	return ($out, $err);
}

# Statements for the end of a statement_timeout: a cancellation that comes just when its
# statement ends is PostgreSQL's answer to the next one; and where a process may lose its CPU at any
# moment, the time of a RESET may be over, too.
sub reset_timeout
{
	return ('RESET statement_timeout') x 5;
}

# How long a program may run before the test gives it up: only one that hangs takes that long.
sub time_limit
{
	return IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default);
}

# Have the server read its configuration; sessions that begin now know it.
sub reload
{
	my ($node) = @_;
	my $loaded = $node->safe_psql('postgres', 'SELECT pg_conf_load_time()');

	$node->reload;
	$node->poll_query_until('postgres', "SELECT pg_conf_load_time() > '$loaded'") or die "the configuration is not read\n";
}

# kill -9 a process of the server; returns when the server has ended all others, and begun anew, or false
# if the process had come to its end by itself.
sub crash
{
	my ($node, $pid) = @_;
	my $offset = -s $node->logfile;
	my $killed = 0;

	die "which process is to be killed?\n" if $pid !~ /^[1-9]\d*$/;
	kill('KILL', $pid) or return 0;
	sleep 0.02 while kill 0, $pid;
	for (1 .. 200)
	{
		$killed = slurp_file($node->logfile, $offset) =~ /\(PID $pid\) was terminated by signal 9/;
		last if $killed;
		sleep 0.05;
	}
	$node->wait_for_log(qr/all server processes terminated.*ready to accept connections/s, $offset) if $killed;
	return $killed;
}

# Run a psql script in a session that pg_cancel_backend or pg_terminate_backend is called for as soon as the
# condition is true of it, "a" in pg_stat_activity; returns the script's output and errors.
sub interrupt_when
{
	my ($node, $function, $condition, $script) = @_;
	my ($out, $err) = ('', '');
	my $file = $node->basedir . '/victim.sql';
	my $victim;

	unlink $file;
	append_to_file($file, $script);
	$victim = IPC::Run::start([ 'psql', '-XAtq', '-f', $file, '-d', $node->connstr('postgres') . ' application_name=victim' ],
		'>', \$out, '2>', \$err, time_limit());
	$node->safe_psql('postgres', qq(DO \$\$
		DECLARE
			victim int;
			until timestamptz := clock_timestamp() + interval '20 s';
		BEGIN
			WHILE victim IS NULL AND clock_timestamp() < until LOOP
				PERFORM pg_sleep(0.001), pg_stat_clear_snapshot();
				SELECT pid INTO victim FROM pg_stat_activity a
				WHERE application_name = 'victim' AND backend_type = 'client backend' AND ($condition);
			END LOOP;
			PERFORM $function(victim);
		END \$\$));
	$victim->finish;
	return ($out, $err);
}

# Run statements again and again in a session, and cancel one while parallel workers are at work for it;
# returns the session's errors.
sub cancel_among_workers
{
	my ($node, @statements) = @_;
	my $script = join "\n", '\set ON_ERROR_STOP on', map { "$_;" } (@statements) x 20;
	my $err = '';

	for (1 .. 20)
	{
		(undef, $err) = interrupt_when($node, 'pg_cancel_backend',
			'EXISTS (SELECT FROM pg_stat_activity w WHERE w.leader_pid = a.pid AND w.pid <> a.pid)', $script);
		last if $err =~ /canceling statement due to user request/;
	}
	return $err;
}

# Have a pgbench -T come to its end now: it prints what it has done.
sub end_pgbench
{
	my ($pgbench) = @_;

	$pgbench->signal('ALRM');
	$pgbench->finish;
}

# A column of gpusort_service().
sub service
{
	my ($node, $column) = @_;

	return $node->safe_psql('postgres', "SELECT $column FROM gpusort_service()");
}

# gpusort.daemon for so many simulated devices, or what is to be used instead: GPUs.
sub daemon_of
{
	my ($devices) = @_;

	return $ENV{GPUSORT_TEST_DAEMON} || "host:$devices";
}

# Another gpusort.daemon, and options of gpusortd; returns when the state is as
# expected, in a process that was not there before.
sub set_daemon
{
	my ($node, $daemon, $options, $state) = @_;
	my $pid = service($node, 'pid') || 0;

	$options //= '';
	$state //= 'up';
	$node->safe_psql('postgres', $_)
		for "ALTER SYSTEM SET gpusort.daemon = '$daemon'", "ALTER SYSTEM SET gpusort.daemon_options = '$options'";
	reload($node);
	$node->poll_query_until('postgres', "SELECT state = '$state' AND pid IS DISTINCT FROM $pid FROM gpusort_service()")
		or die "gpusortd is not $state";
}

# Whether gpusortd stands still, as after --inject-fault=stop:1, which stops it with a job in hand.
sub is_stopped
{
	my ($pid) = @_;

	return slurp_file("/proc/$pid/stat") =~ /^\d+ \(gpusortd\) [Tt] /;
}

# A session that waits for gpusortd may do so before its job has been taken up; once this returns it has.
sub wait_until_stopped
{
	my ($pid) = @_;
	my $end = time + $PostgreSQL::Test::Utils::timeout_default;

	until (is_stopped($pid))
	{
		die "gpusortd has not stopped\n" if time > $end;
		sleep 0.02;
	}
}

# The process that has started this one.
sub parent_of
{
	my ($pid) = @_;

	return slurp_file("/proc/$pid/status") =~ /^PPid:\s*(\d+)/m ? $1 : die "process $pid has no parent";
}

# kill -9 gpusortd again and again while so many sessions run a query so many times
# each, whose only value is always the same: every answer must be right.
sub kill_daemons
{
	my ($node, $query, $sessions, $times) = @_;
	my $script = $node->basedir . '/sort.sql';
	my $expected = $node->safe_psql('postgres', "SET gpusort.enabled = off; $query");
	my $all = $sessions * $times;
	my ($out, $err) = ('', '');
	my $pgbench;

	append_to_file($script, "SELECT 1 / (($query) = '$expected')::int;\n");
	$pgbench = IPC::Run::start([ 'pgbench', '-n', '-c', $sessions, '-t', $times, '-f', $script, $node->connstr('postgres') ],
		'>', \$out, '2>', \$err, time_limit());
	for (1 .. 8)
	{
		my $pid = service($node, 'pid');

		kill 'KILL', $pid if $pid;
		sleep 0.2;
	}
	$pgbench->finish;
	like($out, qr{transactions actually processed: $all/$all}, "kill -9: all $all answers are right") or diag $err;
}

# All jobs and their memory, in the pool and on devices, are given back.
sub all_is_free
{
	my ($node, $pool_bytes, $label) = @_;
	my $free = "jobs_open = 0 AND device_bytes_used = 0 AND pool_bytes_free = $pool_bytes";

	ok($node->poll_query_until('postgres', "SELECT $free FROM gpusort_service()"), "$label: everything is given back")
		or diag $node->safe_psql('postgres', 'SELECT * FROM gpusort_service()');
}

# Names of temporary files of the node.
sub temp_files
{
	my ($node) = @_;

	return glob $node->data_dir . '/base/pgsql_tmp/*';
}

# ... those of spilled sorts, and their directories.
sub spilled_files
{
	my ($node) = @_;

	return grep { /gpusort|fileset/ } temp_files($node);
}

# All of the pool and all files of spilled sorts are given back.
sub nothing_is_left
{
	my ($node, $pool_bytes, $label) = @_;

	ok($node->poll_query_until('postgres', "SELECT pool_bytes_free = $pool_bytes FROM gpusort_service()"), "$label: the pool is free");
	is_deeply([ spilled_files($node) ], [], "$label: no files are left");
}

# check_indexes(): looks at all valid btree indexes of the schema public; says how
# many there are, and what is wrong with them.  Each is checked by amcheck, with its
# table, and scanned in both directions, which must find what is in the table.  That each
# of its entries is found from the root takes most of the time: check_indexes(false) does not look.
sub create_index_checks
{
	my ($node) = @_;

	$node->safe_psql('postgres', q(
		CREATE EXTENSION amcheck;
		CREATE FUNCTION scan_problem(index regclass) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			i pg_index;
			expression text := pg_get_indexdef(index, 1, false);
			source text;
			directions text[] := ARRAY['DESC NULLS FIRST', 'ASC NULLS LAST', 'DESC NULLS LAST', 'ASC NULLS FIRST'];
			first int := 1;
			query text;
			plan text := '';
			line text;
			wanted text;
			found text;
		BEGIN
			SELECT * INTO i FROM pg_index WHERE indexrelid = index;
			IF i.indcollation[0] <> 0 THEN
				expression := format('%s COLLATE %s', expression, i.indcollation[0]::regcollation);
			END IF;
			source := format('%s AS x FROM %s', expression, i.indrelid::regclass) ||
				coalesce(' WHERE ' || pg_get_expr(i.indpred, i.indrelid), '');
			IF pg_index_column_has_property(index, 1, 'asc') = pg_index_column_has_property(index, 1, 'nulls_first') THEN
				first := 3;
			END IF;
			PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
				set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
			EXECUTE format('SELECT format(''%%s %%s'', count(*), sum(hashtext(x::text)::int8)) FROM (SELECT %s) s', source)
				INTO wanted;
			PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_indexscan', 'on', true),
				set_config('enable_indexonlyscan', 'on', true), set_config('enable_sort', 'off', true),
				set_config('gpusort.enabled', 'off', true);
			FOR n IN first .. first + 1 LOOP
				query := format('SELECT format(''%%s %%s'', count(*), sum(hashtext(x::text)::int8)) FROM (SELECT %s ORDER BY %s %s OFFSET 0) s',
					source, expression, directions[n]);
				FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
					plan := plan || line || E'\n';
				END LOOP;
				EXECUTE query INTO found;
				IF found <> wanted THEN
					RETURN format('%s: found %s instead of %s', index, found, wanted);
				END IF;
			END LOOP;
			IF plan !~ 'Index (Only )?Scan Backward using' OR plan !~ 'Index (Only )?Scan using' THEN
				RETURN format(E'%s: not scanned:\n%s', index, plan);
			END IF;
			RETURN NULL;
		END $$;
		CREATE FUNCTION check_indexes(descends bool DEFAULT true) RETURNS text LANGUAGE plpgsql AS $$
		DECLARE
			index regclass;
			number int := 0;
			problems text[];
		BEGIN
			FOR index IN SELECT indexrelid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
				WHERE relnamespace = 'public'::regnamespace AND relkind = 'i' AND indisvalid AND relam = 403 ORDER BY relname
			LOOP
				IF pg_is_in_recovery() THEN
					PERFORM bt_index_check(index, true);
				ELSE
					PERFORM bt_index_parent_check(index, true, descends);
				END IF;
				number := number + 1;
				problems := problems || scan_problem(index);
			END LOOP;
			RETURN concat_ws(E'\n', number || ' valid', nullif(array_to_string(problems, E'\n'), ''));
		END $$));
}

# Stop the node; every page in its files must have the checksum that it should have.
sub sum_checksums
{
	my ($node, $label) = @_;

	$node->stop;
	is(system_log('pg_checksums', '--check', '-D', $node->data_dir), 0, "$label: checksums are right");
}

# Sessions that sort the same table at the same time, each in another order of orders:
# $digest has %s in place of the ORDER BY, %$expected the answer to each.
sub compete
{
	my ($node, $work_mem, $digest, $expected, @orders) = @_;
	my @sessions;

	for my $n (0 .. 4)
	{
		my @mine = map { $orders[ ($_ + $n) % @orders ] } 0 .. $#orders;
		my $session = { out => '', err => '', wanted => join('', map { "$expected->{$_}\n" } @mine) };

		$session->{run} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres'),
			'-c', "SET work_mem = '$work_mem'", map { ('-c', sprintf $digest, $_) } @mine ],
			'>', \$session->{out}, '2>', \$session->{err}, time_limit());
		push @sessions, $session;
	}
	for my $n (0 .. $#sessions)
	{
		$sessions[$n]{run}->finish;
		is($sessions[$n]{err}, '', "competing with $work_mem, session $n: no error");
		is($sessions[$n]{out}, $sessions[$n]{wanted}, "competing with $work_mem, session $n: every answer is right");
	}
}

1;
