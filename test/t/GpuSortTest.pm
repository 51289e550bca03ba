# GpuSortTest.pm
#		What the TAP tests share: a node with gpusort, and comparisons.
package GpuSortTest;

use strict;
use warnings;

use Exporter 'import';
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(start_node plan_of analyzed_plan_of same_answer session_of temp_files
	service set_daemon all_is_free);

# A running node with gpusort preloaded and these lines in postgresql.conf.
sub start_node
{
	my ($name, @lines) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);

	$node->init;
	$node->append_conf('postgresql.conf', join "\n",
		"shared_preload_libraries = 'gpusort'",
		"jit = off", "log_statement = none", "autovacuum = off", @lines, '');
	$node->start;
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

# Both sides' rows in order, one text each; the query's order must be total.
# Asserts the path taken, too.
sub same_answer
{
	my ($node, $query, $label, @settings) = @_;
	my $digest = "SELECT count(*) || ' ' || md5(string_agg(q::text, E'\\n')) FROM ($query OFFSET 0) q";
	my $plan = plan_of($node, $digest, @settings);
	my $ours = run_with($node, $digest, @settings);
	my $theirs = run_with($node, $digest, @settings, 'gpusort.enabled' => 'off');

	like($plan, qr/Custom Scan \(GpuSort\)/, "$label: sorted by gpusort");
	isnt($theirs, '0 ', "$label: there are rows");
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

# A column of gpusort_service().
sub service
{
	my ($node, $column) = @_;

	return $node->safe_psql('postgres', "SELECT $column FROM gpusort_service()");
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
	$node->reload;
	$node->poll_query_until('postgres', "SELECT state = '$state' AND pid IS DISTINCT FROM $pid FROM gpusort_service()")
		or die "gpusortd is not $state";
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

1;
