# Loading in every way, the settings' ranges and rights, the SQL functions.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $query = 'SELECT i FROM generate_series(1, 100) i ORDER BY i DESC';
my $forced = "SET gpusort.force = on; EXPLAIN (COSTS OFF) $query";
my $node = PostgreSQL::Test::Cluster->new('main');
my ($out, $err, $rc);

$node->init;
$node->start;

# Not loaded: PostgreSQL as it is.  Settings are accepted, as of any extension
# that might be loaded later, but do nothing.
unlike($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $query"), qr/GpuSort/, 'not loaded: not used');

# LOAD
like($node->safe_psql('postgres', "LOAD 'gpusort'; $forced"), qr/Custom Scan \(GpuSort\)/, 'LOAD');

# session_preload_libraries, for one user
$node->safe_psql('postgres', "CREATE ROLE sorter LOGIN; ALTER ROLE sorter SET session_preload_libraries = 'gpusort'");
like($node->safe_psql('postgres', $forced, extra_params => [ '-U', 'sorter' ]),
	qr/Custom Scan \(GpuSort\)/, 'session_preload_libraries');
$rc = $node->psql('postgres', $query, extra_params => [ '-U', 'sorter' ], stdout => \$out);
is($rc, 0, 'session_preload_libraries: a query runs');

# shared_preload_libraries
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'gpusort'");
$node->restart;
like($node->safe_psql('postgres', $forced), qr/Custom Scan \(GpuSort\)/, 'shared_preload_libraries');
unlike($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $query"), qr/GpuSort/,
	'a small sort is left to PostgreSQL');
unlike($node->safe_psql('postgres', "SET gpusort.enabled = off; $forced"), qr/GpuSort/, 'gpusort.enabled = off');
unlike($node->safe_psql('postgres', "SET gpusort.enable_order_by = off; $forced"), qr/GpuSort/,
	'gpusort.enable_order_by = off');
like($node->safe_psql('postgres', "LOAD 'gpusort'; $forced"), qr/GpuSort/, 'LOAD of the preloaded library');

# The extension
$node->safe_psql('postgres', 'CREATE EXTENSION gpusort');
$node->poll_query_until('postgres', "SELECT state IN ('no device', 'up') FROM gpusort_service()") or die "gpusortd has not come to anything\n";
SKIP:
{
	skip 'there are GPUs', 2
		unless slurp_file($node->logfile) =~ /LOG:  gpusort uses no GPU: (.*)\n.*DETAIL:  Sorts run on the CPU\.\n(.*HINT:  It is tried again when)?/;
	is(defined $2 ? 'hint' : 'none', $1 =~ /built without CUDA/ ? 'none' : 'hint', 'no GPU: no hint if there could be none');
	$node->reload;
	$node->poll_query_until('postgres', "SELECT restarts > 0 AND state = 'no device' FROM gpusort_service()") or die "gpusortd is not tried again\n";
	is(scalar(() = slurp_file($node->logfile) =~ /LOG:  gpusort uses no GPU/g), 1, '... and is told of once, however often the configuration is reloaded');
}
my $version = $node->safe_psql('postgres', 'SELECT gpusort_version()');
is($version, $node->safe_psql('postgres', "SELECT default_version FROM pg_available_extensions WHERE name = 'gpusort'"),
	'gpusort_version()');
is($node->safe_psql('postgres', "SELECT extversion FROM pg_extension WHERE extname = 'gpusort'"),
	$version, 'version of the extension');
like($node->safe_psql('postgres', 'SELECT engine, available FROM gpusort_engines() ORDER BY engine'),
	qr/^host\|t$/m, 'gpusort_engines() has the host');
like($node->safe_psql('postgres', 'SELECT engine FROM gpusort_engines()'), qr/^cuda$/m, 'gpusort_engines() knows cuda');
is($node->safe_psql('postgres', "SELECT count(*) FROM gpusort_engines() WHERE description <> ''"),
	$node->safe_psql('postgres', 'SELECT count(*) FROM gpusort_engines()'), 'every engine is described');
is($node->safe_psql('postgres', q(
	SELECT string_agg(concat(proname, provolatile, proparallel), ' ' ORDER BY proname)
	FROM pg_proc WHERE proname LIKE 'gpusort%')),
	'gpusort_activityvr gpusort_advisevu gpusort_clustersvr gpusort_devicesvs gpusort_enginesvs gpusort_index_buildsvr gpusort_poolvs gpusort_servicevs gpusort_sorts_ofvr gpusort_versionss', 'volatility and parallel safety');
is($node->safe_psql('postgres', q(
	SELECT count(*) FROM pg_proc WHERE proname LIKE 'gpusort%' AND obj_description(oid, 'pg_proc') IS NULL)),
	'0', 'functions have comments');
like($node->safe_psql('postgres', 'SELECT gpusort_version()', extra_params => [ '-U', 'sorter' ]),
	qr/./, 'anybody may call the functions');
$node->safe_psql('postgres', 'CREATE SCHEMA other; ALTER EXTENSION gpusort SET SCHEMA other');
is($node->safe_psql('postgres', 'SELECT other.gpusort_version()'), $version, 'relocatable');
$node->safe_psql('postgres', 'DROP EXTENSION gpusort');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_proc WHERE proname LIKE 'gpusort%'"), '0', 'DROP EXTENSION');
like($node->safe_psql('postgres', $forced), qr/GpuSort/, 'sorts without the extension, too');

# Settings
my @bad = (
	[ 'gpusort.enabled', 'perhaps' ],
	[ 'gpusort.engine', 'abacus' ],
	[ 'gpusort.min_rows', '-1' ],
	[ 'gpusort.min_rows', '2147483648' ],
	[ 'gpusort.keep_memory', '-1' ],
	[ 'gpusort.pool_quota', '101' ],
	[ 'gpusort.inject_fault', 'earthquake' ],
	[ 'gpusort.cost_row', '-0.1' ],
	[ 'gpusort.nonsense', '1' ]);
for my $case (@bad)
{
	my ($name, $value) = @$case;

	$rc = $node->psql('postgres', "SET $name = '$value'", stderr => \$err);
	ok($rc != 0 && $err =~ /invalid|outside|requires/, "$name = $value is refused");
}
for my $name ($node->safe_psql('postgres', "SELECT name FROM pg_settings WHERE name LIKE 'gpusort.cost%'") =~ /\S+/g)
{
	is($node->safe_psql('postgres', "SET $name = 1e6; SHOW $name"), '1e+06', "$name can be set");
}
is($node->safe_psql('postgres', q(SELECT count(*) FROM pg_settings WHERE name LIKE 'gpusort.%' AND short_desc = '')),
	'0', 'settings are described');
is($node->safe_psql('postgres', "SET gpusort.keep_memory = '64MB'; SHOW gpusort.keep_memory"), '64MB', 'units of memory');

# What an ordinary user may do
is($node->psql('postgres', 'SET gpusort.enabled = off', extra_params => [ '-U', 'sorter' ]), 0,
	'anybody may switch gpusort off');
$rc = $node->psql('postgres', "SET gpusort.inject_fault = 'memory'", extra_params => [ '-U', 'sorter' ], stderr => \$err);
ok($rc != 0 && $err =~ /permission denied/, 'only superusers inject faults');

$rc = $node->psql('postgres', 'SET gpusort.pool_quota = 100', extra_params => [ '-U', 'sorter' ], stderr => \$err);
ok($rc != 0 && $err =~ /permission denied/, 'only superusers share out the pool');
$rc = $node->psql('postgres', "SET gpusort.pool_size = '1GB'", stderr => \$err);
ok($rc != 0 && $err =~ /cannot be changed/, 'the pool has its size');

$node->stop;
done_testing();
