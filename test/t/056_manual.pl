# The examples of the manual: all of them run, and what is said to be shown is shown.  Those of monitoring run again while there
# are sorts of each kind, which stand still meanwhile: collecting, sorted, in workers, in index builds, CLUSTER and COPY.
#
# They are taken from the pages, so that a new one is tested, too.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# In a copy of the tests the pages lie beside them.
my ($tree) = grep { -e "$_/README.md" && -e "$_/docs" } "$FindBin::RealBin/..", "$FindBin::RealBin/../..";
my ($script) = grep { -e } "$tree/lib/docs.pl", "$tree/test/lib/docs.pl";
my $dir = PostgreSQL::Test::Utils::tempdir;
my $node = start_node('main', 'max_parallel_workers_per_gather = 2', 'max_parallel_maintenance_workers = 2', 'min_parallel_table_scan_size = 0',
	'min_parallel_index_scan_size = 0', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'gpusort.cost_gather = 0', "gpusort.daemon = 'off'", 'gpusort.pool_size = 128MB');

# [PAGE:LINE, statements, what they show]
my @examples;
{
	chdir $tree or die "$tree: $!\n";
	my $text = `perl $script examples README.md docs/*.md docs/monitoring/*.yaml`;
	push @examples, [ $1, $2, $3 ] while $text =~ /\G(\S+:\d+)\n(.*?)\n\\sql\n(.*?)\n?\\output\n/gs;
	is(scalar(() = $text =~ /^\\output$/mg), scalar @examples, 'examples are found');
}

sub examples_of
{
	my ($page) = @_;
	return grep { $_->[0] =~ /^(?:docs\/)?\Q$page\E/ } @examples;
}

# Statements as they are in the manual, but for sizes and places.
sub fitted
{
	my ($sql) = @_;
	$sql =~ s/\b\d{6,}\b/20000/g;
	$sql =~ s{'/tmp/}{'$dir/}g;
	return $sql;
}

# ---------- each by itself ----------

# What the pages take for granted, and what an example needs more than those before it have left: [pattern of it, before, behind].
my %tables = (
	'monitoring.md' => 'CREATE TABLE t AS SELECT i AS id, i * 7919 % 1009 AS k FROM generate_series(1, 5000) i',
	'troubleshooting.md' => 'CREATE TABLE t AS SELECT i AS id, i * 7919 % 1009 AS k FROM generate_series(1, 5000) i',
	'using.md' => 'CREATE TABLE t AS SELECT i * 7919 % 1009 AS k, i % 300 AS a, random() AS x FROM generate_series(1, 20000) i; CREATE TABLE a AS SELECT i AS k FROM generate_series(1, 20000) i;
		CREATE TABLE b AS TABLE a');
my @needs = (
	[ qr/^(?:CREATE|DROP) EXTENSION gpusort/, 'DROP EXTENSION IF EXISTS gpusort; CREATE EXTENSION gpusort', 'CREATE EXTENSION IF NOT EXISTS gpusort' ],
	[ qr/^CREATE EXTENSION gpusort/, 'DROP EXTENSION gpusort', '' ],
	[ qr/ON w /, 'SET gpusort.force = off', '' ],
	[ qr/^COPY t FROM/m, qq(COPY t TO '$dir/rows'; CREATE FUNCTION told() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'; CREATE TRIGGER told BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION told()),
		'DROP TRIGGER told ON t' ],
	[ qr/^DEBUG:.*fewer rows estimated/s, 'SET gpusort.min_rows = 10000', '' ],
	[ qr/Custom Scan|Finalize/, 'SET gpusort.force = on; SET enable_hashagg = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET enable_nestloop = off', '' ],
	[ qr/\A(?!.*Gather).*Custom Scan/s, 'SET max_parallel_workers_per_gather = 0', '' ],
	[ qr/GpuSort Index Join/, 'CREATE INDEX a_k ON a (k); CREATE INDEX b_k ON b (k); VACUUM ANALYZE a, b; SET enable_seqscan = off', 'DROP INDEX a_k, b_k' ],
	[ qr/^CREATE SERVER shard0/m, 'DROP TABLE t', sprintf q(ALTER SERVER shard0 OPTIONS (SET host '%s', ADD port '%s', SET dbname 'shard');
		CREATE FOREIGN TABLE t1 PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER 1) SERVER shard0 OPTIONS (table_name 't', use_remote_estimate 'true');
		CREATE FOREIGN TABLE t2 PARTITION OF t FOR VALUES WITH (MODULUS 3, REMAINDER 2) SERVER shard0 OPTIONS (table_name 't', use_remote_estimate 'true')), $node->host, $node->port ],
);

# A line of the manual as a pattern: numbers are any, and so is what is left out.
sub pattern_of
{
	my ($line) = @_;
	$line =~ s/^\s+|\s+$//g;
	$line = quotemeta $line;
	$line =~ s/\\\.\\\.\\\./.*/g;
	$line =~ s/\d+(?:\\\.\d+)?/[\\d.]+/g;
	$line =~ s/(?:\\\s)+/\\s+/g;
	return qr/$line/;
}

# Is each line shown, and in this order?
sub shows
{
	my ($got, $said) = @_;
	my $at = 0;
	for my $pattern (map { pattern_of($_) } grep { /\w/ && !/^\s*\.\.\.$/ } split /\n/, $said)
	{
		return "not shown: $pattern" if substr($got, $at) !~ /$pattern/;
		$at += $+[0];
	}
	return '';
}

my $has_fdw = -e sprintf '%s/extension/postgres_fdw.control', $node->safe_psql('postgres', q(SELECT setting || '/' FROM pg_config WHERE name = 'SHAREDIR'));
$node->safe_psql('postgres', 'CREATE DATABASE shard');
$node->safe_psql('shard', 'CREATE TABLE t (id int8 NOT NULL, k int4, s text COLLATE "C", n numeric)');
for my $page (map { s{.*/}{}r } glob 'README.md docs/*.md')
{
	my @of_page = examples_of($page);
	(my $database = lc $page) =~ s/\W/_/g;

	next if !@of_page || $page eq 'scale-out.md' && !$has_fdw;
	$node->safe_psql('postgres', "CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION gpusort;' . ($tables{$page} // '') . ';ANALYZE');
	for my $example (@of_page)
	{
		my ($where, $sql, $said) = @$example;
		my @needed = grep { $sql =~ $_->[0] || $said =~ $_->[0] } @needs;
		my ($out, $err) = ('', '');

		$node->psql($database, join(";\n", (map { $_->[1] } @needed), fitted($sql)), stdout => \$out, stderr => \$err, on_error_die => 0, extra_params => ['-P', 'format=aligned', '-P', 'tuples_only=off']);
		unlike($err, qr/ERROR|FATAL/, "$where: an example runs") or diag $sql;
		is(shows("$err$out", $said), '', "$where: what is shown") or diag "$err$out" if $said ne '';
		$node->safe_psql($database, $_->[2]) for grep { $_->[2] ne '' } @needed;
	}
}

# ---------- while sorts are running ----------

# Whoever has its turn at a row that is held waits for whoever has locked the gate.
$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE TABLE gate (id int4);
	CREATE TABLE held AS SELECT i AS id, i * 7919 % 1009 AS k, md5(i::text) AS s FROM generate_series(1, 20000) i;
	CREATE TABLE t AS SELECT id, k FROM held LIMIT 5000;
	CREATE TABLE used (id int4 PRIMARY KEY);
	CREATE FUNCTION pass(i int8) RETURNS bool LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1 AS \$\$
		BEGIN
			IF i % 500 = 499 THEN
				PERFORM count(*) FROM public.gate;
			END IF;
			RETURN true;
		END \$\$;
	CREATE INDEX held_pass ON held (pass(id), k, id);
	COPY (SELECT hashint4(i) FROM generate_series(1, 20000) i) TO '$dir/ids';
	ANALYZE));

my @alone = ('SET max_parallel_workers_per_gather = 0', 'SET max_parallel_maintenance_workers = 0');
my @no_hash = map { "SET enable_$_ = off" } qw(hashagg hashjoin mergejoin nestloop);
my $first_id = $node->safe_psql('postgres', 'SELECT hashint4(1)');

# [what there is, how many processes wait, statements, what another session does while it holds the gate]
my @running = (
	[ 'a sort that collects', 1, @alone, 'SELECT count(*) FROM (SELECT k FROM held WHERE pass(id) ORDER BY k OFFSET 0) x' ],
	[ 'a sort that was collected', 1, @alone, 'SELECT count(*) FROM (SELECT k, id FROM held ORDER BY k OFFSET 0) x WHERE pass(id)' ],
	[ 'a parallel ORDER BY', 2, 'SELECT count(*) FROM (SELECT k FROM held WHERE pass(id) ORDER BY k OFFSET 0) x' ],
	[ 'a shared sort', 2, @no_hash, 'SELECT sum(n) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS n FROM held WHERE pass(id)) x' ],
	[ 'a shared sort that was sorted', 2, @no_hash, 'SELECT count(*) FROM (SELECT rank() OVER (PARTITION BY k ORDER BY id) AS n, id FROM held) x WHERE pass(n + id)' ],
	[ 'a join', 2, @no_hash, 'SELECT count(*) FROM held a JOIN held b USING (id) WHERE pass(a.k)' ],
	[ 'a sort that spills', 1, @alone, "SET work_mem = '64kB'", 'SET hash_mem_multiplier = 1', 'SET gpusort.pool_quota = 0', 'SELECT count(*) FROM (SELECT s FROM held WHERE pass(id) ORDER BY s OFFSET 0) x' ],
	[ 'a sort that reads portions', 1, @alone, "SET work_mem = '64kB'", 'SET hash_mem_multiplier = 1', 'SET gpusort.pool_quota = 0', 'SELECT count(*) FROM (SELECT s, id FROM held ORDER BY s OFFSET 0) x WHERE pass(id)' ],
	[ 'an index build', 1, @alone, 'CREATE INDEX built ON held ((pass(id)), s)' ],
	[ 'an index build with workers', 2, 'CREATE INDEX built ON held ((pass(id)), s)' ],
	[ 'CLUSTER', 1, @alone, 'CLUSTER held USING held_pass' ],
	[ 'CLUSTER with workers', 2, 'CLUSTER held USING held_pass' ],
	[ 'COPY', 1, "COPY used FROM '$dir/ids'" ],
);

for my $case (@running)
{
	my ($what, $processes, @statements) = @$case;
	my ($out, $err) = ('', '');
	my $other = $node->background_psql('postgres');

	$other->query_safe('BEGIN');
	$other->query_safe('LOCK gate');
	# a COPY that sorts entries for an index waits for this key
	$other->query_safe("INSERT INTO used VALUES ($first_id)");
	my $session = IPC::Run::start([ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres') . ' application_name=runs', map { ('-c', $_) } 'SET gpusort.force = on', @statements ],
		'>', \$out, '2>', \$err, time_limit());
	ok($node->poll_query_until('postgres', qq(SELECT count(*) >= $processes FROM pg_locks WHERE NOT granted AND (relation = 'gate'::regclass OR locktype = 'transactionid'))),
		"$what stands still") or diag $err;
	# what several processes have sorted is none's any more
	cmp_ok($node->safe_psql('postgres', 'SELECT count(DISTINCT pid) FROM pg_stat_gpusort_activity'), '>=', $what =~ /sorted$/ ? 0 : $processes, "$what: it is seen");
	is($node->safe_psql('postgres', 'SELECT pid, kind, phase FROM (SELECT *, count(*) OVER (PARTITION BY pid) AS n FROM pg_stat_gpusort_activity) a WHERE n > 1'), '',
		"$what: each process shows once") if $what ne 'a join';
	is($node->safe_psql('postgres', "SELECT pid, phase, percent FROM pg_stat_gpusort_activity WHERE NOT percent BETWEEN 0 AND 100 OR (phase = 'collecting' AND percent > 60)"), '',
		"$what: per cent");
	for my $example (grep { $_->[1] =~ /^\s*SELECT/ } examples_of('monitoring'))
	{
		my (undef, undef, $error) = $node->psql('postgres', fitted($example->[1]));
		is($error // '', '', "$what: $example->[0]");
	}
	is($node->safe_psql('postgres', 'SELECT pid, kind, phase, rows, estimated_rows FROM pg_stat_gpusort_activity WHERE estimated_rows IS NULL OR NOT estimated_rows BETWEEN 1000 AND 40000'), '',
		"$what: estimates of the planner");
	$other->query_safe('ROLLBACK');
	$other->quit;
	$session->finish;
	is($err, '', "$what: it goes on");
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS built; TRUNCATE used');
}

done_testing();
