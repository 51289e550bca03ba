# Partitions on three servers by postgres_fdw, as docs/scale-out.md has it: each server sorts its rows by gpusort, and one
# of them merges what they return, or takes it unsorted from all of them at once and sorts it.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'no postgres_fdw' if !-f PostgreSQL::Test::Cluster->new('installed')->config_data('--pkglibdir') . '/postgres_fdw.so';

# Their log has the plan of each query that the front has sent.
my @shards = map { start_node("shard$_", 'gpusort.min_rows = 0', 'gpusort.pool_size = 64MB', 'gpusort.keep_memory = 0', 'gpusort.force = on',
	"session_preload_libraries = 'auto_explain'", 'auto_explain.log_min_duration = 0', 'auto_explain.log_analyze = on',
	'auto_explain.log_timing = off') } 1 .. 3;
my $front = $shards[0];
my $columns = 'id int8 NOT NULL, k int4, s text COLLATE "C", n numeric';

# The recipe.
$front->safe_psql('postgres', 'CREATE DATABASE front');
$front->safe_psql('front', qq(CREATE EXTENSION postgres_fdw; CREATE TABLE t ($columns) PARTITION BY HASH (id)));
for my $i (0 .. 2)
{
	my ($host, $port) = ($shards[$i]->host, $shards[$i]->port);

	$shards[$i]->safe_psql('postgres', "CREATE EXTENSION gpusort; CREATE TABLE t ($columns)");
	$front->safe_psql('front', qq(
		CREATE SERVER shard$i FOREIGN DATA WRAPPER postgres_fdw
			OPTIONS (host '$host', port '$port', dbname 'postgres', async_capable 'true', fetch_size '10000', fdw_tuple_cost '0.2');
		CREATE USER MAPPING FOR CURRENT_USER SERVER shard$i;
		CREATE FOREIGN TABLE t$i PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER $i)
			SERVER shard$i OPTIONS (table_name 't', use_remote_estimate 'true')));
}
$front->safe_psql('front', q(INSERT INTO t SELECT i, nullif(hashint8(i) % 5000, 0), md5((i / 3)::text), i % 977 / 7.0 FROM generate_series(1, 12000) i));
$_->safe_psql('postgres', 'ANALYZE t') for @shards;
$front->safe_psql('front', 'ANALYZE t');
is($front->safe_psql('front', 'SELECT count(*), count(DISTINCT tableoid) FROM t'), '12000|3', 'rows are on three servers');

# What a shard has planned since the last look.
my %seen;

sub logged_plans
{
	my ($shard) = @_;
	my $log = slurp_file($shard->logfile, $seen{ $shard->name } // 0);

	$seen{ $shard->name } = -s $shard->logfile;
	return $log;
}

sub set_gpusort
{
	my ($state) = @_;

	$front->safe_psql('front', join ';', map { "ALTER SERVER shard$_ OPTIONS (" . ($seen{options} ? 'SET' : 'ADD') .
			" options '-c gpusort.enabled=$state')" } 0 .. 2);
	$seen{options} = 1;
}

# answer QUERY, STATE: all rows in order, gpusort off everywhere or on everywhere.
sub answer
{
	my ($query, $state) = @_;

	set_gpusort($state);
	return $front->safe_psql('front', "SET gpusort.enabled = $state; $query");
}

# merged QUERY: sorted by the shards, merged by the front.
sub merged
{
	my ($query) = @_;
	my $plan = $front->safe_psql('front', "EXPLAIN (COSTS OFF, VERBOSE) $query");

	like($plan, qr/Merge Append/, "$query: merged");
	is(scalar(() = $plan =~ /Remote SQL: .* ORDER BY/g), 3, '... ORDER BY is pushed down to all shards');
	unlike($plan, qr/GpuSort|-> +Sort/, '... and nothing is sorted here');
	my $wanted = answer($query, 'off');
	logged_plans($_) for @shards;
	is(answer($query, 'on'), $wanted, '... same rows in the same order');
	like(logged_plans($_), qr/Custom Scan \(GpuSort\)/, '... ' . $_->name . ' has sorted by gpusort') for @shards;
}

merged('SELECT id, k, s FROM t ORDER BY k, id');
merged('SELECT * FROM t ORDER BY s DESC, n, id');
merged('SELECT id, n FROM t ORDER BY n DESC NULLS LAST, id');
merged('SELECT k, s FROM t ORDER BY k NULLS FIRST, s COLLATE "C", id LIMIT 100');

# The other way: all shards at once send rows as they lie, and the front sorts.
my $query = 'SELECT * FROM (SELECT * FROM t OFFSET 0) q ORDER BY k, s, id';
my $plan = $front->safe_psql('front', "EXPLAIN (COSTS OFF) $query");
like($plan, qr/Custom Scan \(GpuSort\).*Append.*Async Foreign Scan.*Async Foreign Scan.*Async Foreign Scan/s,
	'asynchronously: sorted by the front');
is(answer($query, 'on'), answer($query, 'off'), '... same rows in the same order');

# Whole groups are computed there, each shard's by its own sort, at once.
$query = 'SELECT k, count(DISTINCT s), sum(n) FROM t GROUP BY k ORDER BY k';
is(answer($query, 'on'), answer($query, 'off'), 'groups across servers');

# Groups of one shard are computed there, though sorting their rows here would cost less than PostgreSQL's hidden sort.
$shards[1]->safe_psql('postgres', 'CREATE TABLE few AS SELECT (id % 20)::int AS g, s FROM t; ANALYZE few');
$front->safe_psql('front', q(ALTER SERVER shard1 OPTIONS (SET fdw_tuple_cost '0.01');
	CREATE FOREIGN TABLE few (g int, s text COLLATE "C") SERVER shard1 OPTIONS (use_remote_estimate 'true');
	ANALYZE few));
$query = 'SELECT g, count(DISTINCT s) FROM few GROUP BY g';
for my $remote ('off', 'on')
{
	set_gpusort($remote);
	like($front->safe_psql('front', "SET gpusort.force = off; SET gpusort.cost_row = 0; SET gpusort.enabled = $_; EXPLAIN (VERBOSE) $query"),
		qr/Foreign Scan.*Remote SQL: SELECT g, count\(DISTINCT s\)/s, "groups of one shard, gpusort $remote there, $_ here: computed there")
		for 'off', 'on';
}
$query .= ' ORDER BY g';
is(answer($query, 'on'), answer($query, 'off'), '... same groups');

# A shard without gpusort, and one that is gone.
$front->safe_psql('front', "ALTER SERVER shard1 OPTIONS (SET options '-c gpusort.enabled=off')");
$query = 'SELECT id, k, s FROM t ORDER BY k, id';
my $with = $front->safe_psql('front', $query);
is($with, answer($query, 'off'), 'one shard without gpusort');
$shards[2]->stop('immediate');
my ($rc, $out, $err) = $front->psql('front', $query);
like($err, qr/could not connect to server "shard2"|server closed the connection|terminating connection/, 'a shard that is gone: an error that names it');
$shards[2]->start;
is($front->safe_psql('front', $query), $with, '... and when it is back, all rows');
nothing_is_left($_, 64 << 20, 'at last: ' . $_->name) for @shards;
done_testing();
