# gpusort_calibrate(apply => true): what it suggests is set with ALTER SYSTEM, for the server, over restarts; by superusers.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', "gpusort.daemon = 'off'", 'gpusort.pool_size = 256MB', 'max_parallel_workers_per_gather = 0');
my $auto = $node->data_dir . '/postgresql.auto.conf';

# What is set for the server: name=value, without quotes.
sub set_for_server
{
	return join ' ', sort map { /^(gpusort\.\w+) = '?([^']*)'?$/ ? "$1=$2" : () } split /\n/, slurp_file($auto);
}

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE ROLE user_of_it LOGIN;
	GRANT EXECUTE ON FUNCTION gpusort_calibrate(bool) TO user_of_it;
	CREATE TABLE t AS SELECT hashint4(i) AS k, i FROM generate_series(1, 20000) i;
	ANALYZE t));
my $sum = q(SELECT md5(string_agg(k::text, ',')) FROM (SELECT k FROM t ORDER BY k OFFSET 0) x);
my $sorted = $node->safe_psql('postgres', "SET gpusort.enabled = off; $sum");

# Only measured.
is($node->safe_psql('postgres', 'SELECT count(*) > 10, count(*) FILTER (WHERE applied) FROM gpusort_calibrate(apply => false)'), 't|0',
	'apply => false: measured only');
is(set_for_server(), '', '... and nothing is set');

# Who may.
my ($rc, $out, $err) = $node->psql('postgres', 'SELECT * FROM gpusort_calibrate(apply => true)', extra_params => [ '-U', 'user_of_it' ]);
like($err, qr/permission denied to set what gpusort_calibrate\(\) suggests/, 'not for others, though they may call it');
is(set_for_server(), '', '... and nothing is set');

# Set, though the transaction is rolled back, as ALTER SYSTEM can't be.
my @found = split /\n/, $node->safe_psql('postgres', q(
	BEGIN;
	SELECT setting, suggested_value, applied FROM gpusort_calibrate(apply => true) WHERE setting IS NOT NULL;
	ROLLBACK));
my %suggested = map { /^([^|]+)\|([^|]+)\|t$/ ? ($1 => $2) : () } @found;
cmp_ok(scalar keys %suggested, '>=', 5, 'suggestions are applied');
is(scalar(grep { !/\|[^|]+\|t$/ && !/\|\|f$/ } @found), 0, '... all that there are, and no other');
is(set_for_server(), join(' ', map { "$_=$suggested{$_}" } sort keys %suggested), '... written for the server');
my $in_effect = q(SELECT string_agg(name || '=' || setting, ' ' ORDER BY name COLLATE "C") FROM pg_settings WHERE name ~ '^gpusort' AND sourcefile ~ 'auto.conf');

sub numbers { return join ' ', map { /^(\S+)=(\S+)$/ ? $1 . '=' . ($2 + 0) : $_ } split / /, $_[0]; }

my $wanted = numbers(join ' ', map { "$_=$suggested{$_}" } sort keys %suggested);
ok($node->poll_query_until('postgres', "SELECT count(*) = " . keys(%suggested) . " FROM pg_settings WHERE name ~ '^gpusort' AND sourcefile ~ 'auto.conf'"),
	'... in effect without a restart');
is(numbers($node->safe_psql('postgres', $in_effect)), $wanted, '... as suggested');
is($node->safe_psql('postgres', $sum), $sorted, 'it sorts as before');
$node->restart;
is(numbers($node->safe_psql('postgres', $in_effect)), $wanted, 'a restart keeps them');

# One that is set for the session, or in another file, is what that says; and the way back.
is($node->safe_psql('postgres', 'SET gpusort.cost_row = 0.5; SHOW gpusort.cost_row'), '0.5', 'a session still has its own');
$node->safe_psql('postgres', "ALTER SYSTEM RESET $_") for keys %suggested;
is(set_for_server(), '', 'ALTER SYSTEM RESET takes them back');

# From 17 on an administrator may have forbidden it.
if ($node->safe_psql('postgres', 'SHOW server_version_num') >= 170000)
{
	$node->append_conf('postgresql.conf', 'allow_alter_system = off');
	reload($node);
	$node->poll_query_until('postgres', "SELECT current_setting('allow_alter_system') = 'off'");
	($rc, $out, $err) = $node->psql('postgres', 'SELECT * FROM gpusort_calibrate(apply => true)');
	like($err, qr/ALTER SYSTEM is not allowed/, 'forbidden');
	is(set_for_server(), '', '... and nothing is set');
}
$node->stop;
done_testing();
