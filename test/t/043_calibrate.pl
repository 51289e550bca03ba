# gpusort_calibrate.sql: what it measures, when it suggests nothing, and that it sets what it suggests, for the server, over restarts; by superusers.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', "gpusort.daemon = 'off'", 'gpusort.pool_size = 256MB');
my $auto = $node->data_dir . '/postgresql.auto.conf';
my $script = $node->config_data('--sharedir') . '/extension/gpusort_calibrate.sql';
my @costs = qw(cost_startup cost_row cost_key_byte cost_row_byte cost_emit cost_key_collated cost_gather min_rows);

# What is set for the server: name=value, without quotes.
sub set_for_server
{
	return join ' ', sort map { /^(gpusort\.\w+) = '?([^']*)'?$/ ? "$1=$2" : () } split /\n/, slurp_file($auto);
}

# Run the script: its verdicts, and what it suggests, by setting; and its errors.
sub calibrate
{
	my ($user, %variables) = @_;
	my ($out, $err) = ('', '');
	my @command = ('psql', '-XAt', '-d', $node->connstr('postgres'), '-U', $user, '-f', $script, map { ('-v', "$_=$variables{$_}") } sort keys %variables);
	my (%verdict, %suggested);
	my %before = map { split /\|/ } split /\n/, $node->safe_psql('postgres', "SELECT name, current_setting(name) FROM pg_settings WHERE name LIKE 'gpusort.%'");

	IPC::Run::run(\@command, '>', \$out, '2>', \$err);
	# one that is 0 in a round, as workers that cost less than parallel_setup_cost, has no spread
	for (map { [ split /\|/, $_, -1 ] } grep { /\|gpusort\./ } split /\n/, $out)
	{
		my ($what, $ns, $spread, $setting, $current, $suggested, $verdict) = @$_;

		my $is_current = $current eq $before{$setting};

		$setting =~ s/^gpusort\.//;
		$verdict{$setting} = $verdict;
		$suggested{$setting} = $suggested if $suggested ne '';
		$verdict{$setting} = "takes $ns" if $ns ne '' && $ns <= 0;
		$verdict{$setting} = "spread $spread" if $verdict ne 'not measured' && $spread ne '' && $spread < 1;
		$verdict{$setting} = "current is $current" if !$is_current;
		$verdict{$setting} = "suggests $suggested" if ($suggested ne '') != ($verdict{$setting} eq 'suggested');
	}
	return (\%verdict, \%suggested, $err);
}

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE ROLE user_of_it LOGIN;
	CREATE TABLE t AS SELECT hashint4(i) AS k, i FROM generate_series(1, 20000) i;
	ANALYZE t));
my $sum = q(SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x);
my $sorted = $node->safe_psql('postgres', "SET gpusort.enabled = off; $sum");

# What a sort of all its rows takes at least, of five.
sub sort_ms
{
	my ($enabled) = @_;
	my $explained = $node->safe_psql('postgres', "SET gpusort.enabled = $enabled; SET gpusort.force = on; SET work_mem = '64MB'; SET max_parallel_workers_per_gather = 0;\n" .
		"EXPLAIN (ANALYZE, TIMING OFF) SELECT k FROM t ORDER BY k;\n" x 5);

	return (sort { $a <=> $b } $explained =~ /Execution Time: ([0-9.]+) ms/g)[0];
}

# The settings that a run must have measured.  Built without optimisation, or with counters, gpusort may be slower than
# PostgreSQL at any number of rows.
my $is_slow = sort_ms('on') > 0.7 * sort_ms('off');

sub measured
{
	my ($verdict) = @_;

	return grep { !$is_slow || $verdict->{$_} ne 'never faster' } @costs;
}

# One round agrees with itself.
my ($verdict, $suggested, $err) = calibrate('user_of_it', rounds => 1);
is($err, '', 'everybody may measure');
is(join(' ', sort keys %$verdict), join(' ', sort @costs, 'min_gpu_rows'), 'all settings are told of');
is(join(' ', grep { $verdict->{$_} !~ /^(suggested|good as it is)$/ } measured($verdict)), '', 'all are measured, but for that of GPUs');
is($verdict->{min_gpu_rows}, 'not measured', '... as there is none');
is(set_for_server(), '', 'nothing is set');

# No two are the same to the nanosecond.
($verdict, $suggested, $err) = calibrate('postgres', rounds => 2, agree => 1, apply => 'on');
is(join(' ', sort map { $verdict->{$_} } measured($verdict)), join(' ', ('the machine is busy') x measured($verdict)), 'rounds that differ: the machine is busy');
is(set_for_server() . join(' ', %$suggested), '', '... and nothing is suggested, or set');

# By superusers only.
($verdict, $suggested, $err) = calibrate('user_of_it', rounds => 1, apply => 'on');
like($err, qr/ERROR:  (permission denied to set parameter|must be superuser)/, 'others may not set it');
is(set_for_server(), '', '... and nothing is set');

$node->safe_psql('postgres', 'ALTER SYSTEM SET gpusort.cost_row = 77; SELECT pg_reload_conf()');
$node->poll_query_until('postgres', "SELECT current_setting('gpusort.cost_row') = '77'");
($verdict, $suggested, $err) = calibrate('postgres', rounds => 1, apply => 'on');
is($err, '', 'superusers may');
is($verdict->{cost_row}, 'suggested', 'what is far off is suggested anew');
cmp_ok($suggested->{cost_row} // 77, '<', 7, '... as another value');
is(set_for_server(), join(' ', map { "gpusort.$_=$suggested->{$_}" } sort keys %$suggested), 'what is suggested is written for the server');
my $in_effect = q(SELECT string_agg(name || '=' || setting, ' ' ORDER BY name COLLATE "C") FROM pg_settings WHERE name ~ '^gpusort' AND sourcefile ~ 'auto.conf');

sub numbers { return join ' ', map { /^(\S+)=(\S+)$/ ? $1 . '=' . ($2 + 0) : $_ } split / /, $_[0]; }

my $wanted = numbers(set_for_server());
ok($node->poll_query_until('postgres', "SELECT current_setting('gpusort.cost_row')::float8 <> 77"), '... in effect without a restart');
is(numbers($node->safe_psql('postgres', $in_effect)), $wanted, '... as suggested');
is($node->safe_psql('postgres', $sum), $sorted, 'it sorts as before');
$node->restart;
is(numbers($node->safe_psql('postgres', $in_effect)), $wanted, 'a restart keeps them');
$node->safe_psql('postgres', "ALTER SYSTEM RESET gpusort.$_") for keys %$suggested;
is(set_for_server(), '', 'ALTER SYSTEM RESET takes them back');

# From 17 on an administrator may have forbidden it.
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 170000)
{
	$node->append_conf('postgresql.conf', 'allow_alter_system = off');
	reload($node);
	$node->poll_query_until('postgres', "SELECT current_setting('allow_alter_system') = 'off'");
	($verdict, $suggested, $err) = calibrate('postgres', rounds => 1, apply => 'on');
	like($err, qr/ALTER SYSTEM is not allowed/, 'forbidden');
	is(set_for_server(), '', '... and nothing is set');
}

# Databases of the version before have a function instead.
$node->safe_psql('postgres', 'DROP EXTENSION gpusort');
is(($node->psql('postgres', "CREATE EXTENSION gpusort VERSION '0.1'"))[0], 0, 'the version before can be made');
my (undef, undef, $old) = $node->psql('postgres', 'SELECT * FROM gpusort_calibrate()');
like($old, qr/gpusort_calibrate\(\) has become a script/, 'its function says what it has become');
is($node->safe_psql('postgres', "ALTER EXTENSION gpusort UPDATE; SELECT to_regprocedure('gpusort_calibrate()') IS NULL"), 't', '... and goes with it');
$node->stop;
done_testing();
