# Kinds of sorts by who takes their rows, each beside PostgreSQL's answer.  EXPLAIN ANALYZE must say that the
# sort has been of that kind.  The table in test/README.md (Sorts) has the same cells, says which of them can't
# be, and why, and which other tests there are.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 48MB', 'gpusort.force = on', 'hash_mem_multiplier = 1', 'max_worker_processes = 16',
	'max_parallel_workers = 8', 'parallel_setup_cost = 0', 'parallel_tuple_cost = 0', 'gpusort.cost_gather = 0', 'min_parallel_table_scan_size = 0',
	'enable_hashagg = off', 'enable_hashjoin = off', 'enable_nestloop = off', 'enable_mergejoin = on', 'enable_incremental_sort = off', 'enable_material = off',
	'gpusort.min_gpu_rows = 0', 'gpusort.late_rows = off', 'gpusort.engine = host', "gpusort.daemon = '" . daemon_of(2) . "'", 'statement_timeout = 120s',
	map { "gpusort.cost_$_ = 0" } qw(startup row key_byte key_collated row_byte emit));

# Rows of w are wide, so that these few fill the pool; what is sorted of them without w does not.
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i AS id, hashint8(i % 20000)::int8 AS k, i % 50 AS few, md5((i % 15000)::text) || repeat('x', 500) AS w FROM generate_series(1, 40000) i;
	CREATE TABLE many WITH (parallel_workers = 2) AS SELECT i AS id, hashint8(i % 150000)::int8 AS k, i % 50 AS few FROM generate_series(1, 300000) i;
	CREATE TABLE o WITH (parallel_workers = 2) AS SELECT i AS id, hashint8(i)::int8 AS k FROM generate_series(1, 3000) i;
	ALTER TABLE t ALTER COLUMN w TYPE text COLLATE "C";
	VACUUM ANALYZE));
ok($node->poll_query_until('postgres', q(SELECT state = 'up' FROM gpusort_service())), 'gpusortd comes up');
my $pool_bytes = service($node, 'pool_bytes_free');

# ---------- kinds ----------

my @alone = (max_parallel_workers_per_gather => 0);
my @workers = (max_parallel_workers_per_gather => 2);
my @collect = (@workers, 'gpusort.enable_shared_sort' => 'off');
my @little = (work_mem => '1MB', 'gpusort.pool_quota' => 0);
my @small_pool = (work_mem => '256kB', 'gpusort.pool_quota' => 40);
my @larger_pool = (work_mem => '1MB', 'gpusort.pool_quota' => 60);
my @much = (work_mem => '256MB', 'gpusort.pool_quota' => 100);
my @daemon = ('gpusort.engine' => 'cuda');
my ($serial, $collected, $shared) = (qr/GpuSort\)/, qr/GpuSort\).*GpuSort Collect/s, qr/GpuSort Shared/);
my ($portions, $in_memory, $handed_over) = (qr/Portions: (?:[2-9]|\d\d)/, qr/Sort Method: radix(?!.*(?:Spilled|Handed))/s, qr/Handed Over: memory/);

# name => [settings, what EXPLAIN says, columns of the rows; what else]
my @kinds = (
	part('serial') ? (
		[ 'serial, in memory', [ @alone, @much ], [ $serial, $in_memory ] ],
		[ 'serial, spilled, in portions', [ @alone, @little ], [ $serial, $portions ], wide => 1 ],
		[ 'serial, handed over', [ @alone, @little, 'gpusort.enable_spill' => 'off' ], [ $serial, $handed_over ], wide => 1 ],
		[ 'serial, bounded', [ @alone, @much ], [ $serial, qr/top-N radix.*Dropped Rows: [1-9]/s ], limit => 500 ],
		[ 'serial, key rows', [ @alone, @much ], [ $serial, qr/made of their keys/, $in_memory ], keys_only => 1 ],
		[ 'serial, key rows, spilled', [ @alone, @little, work_mem => '256kB' ], [ $serial, $portions ], keys_only => 1 ],
		[ 'serial, late', [ @alone, @much, 'gpusort.late_rows' => 'on' ], [ $serial, qr/fetched by TID/ ], late => 1 ],
		[ 'serial, by gpusortd', [ @alone, @much, @daemon ], [ $serial, qr/Engine: simulated/ ] ],
	) : (),
	part('collected') ? (
		[ 'collected, in memory', [ @collect, @much ], [ $collected, $in_memory ] ],
		[ 'collected, spilled, in portions', [ @collect, @small_pool ], [ $collected, qr/Rows Collected: [1-9]/, $portions ], wide => 1 ],
		[ 'collected, handed over', [ @collect, @small_pool, 'gpusort.enable_spill' => 'off' ], [ $collected, $handed_over ], wide => 1 ],
		[ 'collected, bounded', [ @collect, @much ], [ $collected, qr/top-N radix.*Dropped Rows: [1-9]/s ], limit => 500 ],
		[ 'collected, key rows', [ @collect, @much ], [ $collected, qr/made of their keys/, $in_memory ], keys_only => 1 ],
		[ 'collected, by gpusortd', [ @collect, @much, @daemon ], [ $collected, qr/Engine: simulated/ ] ],
	) : (),
	part('shared') ? (
		[ 'shared, in memory', [ @workers, @much ], [ $shared, $in_memory ], shared => 1 ],
		[ 'shared, spilled, in portions', [ @workers, @larger_pool ], [ $shared, $portions ], shared => 1, from => 'many' ],
		# whether two sorts at a time have room for all but a few rows depends on who collects them; with less, none has any
		[ 'shared, rows refused', [ @workers, @small_pool ], [ $shared, qr/Through Store: [1-9]/, $portions ], shared => 1, wide => 1, quota_of_join => 20 ],
		[ 'shared, by gpusortd', [ @workers, @much, @daemon ], [ $shared, qr/Engine: simulated/ ], shared => 1 ]
	) : ());

# ---------- consumers ----------

# Their queries of a kind, and what EXPLAIN says of these; undef: can't be.
my %consumers = (
	fetch => sub { my $kind = shift; return if $kind->{shared}; return [ ordered_digest(ordered($kind)), qr/Aggregate/ ] },
	client => sub { my $kind = shift; return if $kind->{shared}; return [ ordered($kind), qr/GpuSort/, \&rows_of ] },
	copy => sub { my $kind = shift; return if $kind->{shared}; return [ ordered($kind), qr/GpuSort/, \&copied ] },
	heap => sub { my $kind = shift; return if $kind->{shared}; return [ ordered($kind), qr/GpuSort/, \&stored ] },
	unique => sub { my $kind = shift; my $columns = $kind->{wide} ? 'few, w' : 'k, few';
		return if $kind->{limit} || $kind->{late} || $kind->{keys_only};
		return [ digest_of_rows("SELECT DISTINCT $columns FROM $kind->{from}"), qr/GpuSort Unique/ ] },
	groups => sub { my $kind = shift; return if $kind->{limit} || $kind->{late} || $kind->{keys_only};
		return [ digest_of_rows('SELECT few, mode() WITHIN GROUP (ORDER BY ' . ($kind->{wide} ? 'w' : 'k') . ") AS m FROM $kind->{from} GROUP BY few"), qr/GpuSort Ordered Set/ ] },
	counts => sub { my $kind = shift; return if $kind->{limit} || $kind->{late} || $kind->{keys_only};
		return [ 'SELECT count(DISTINCT ' . ($kind->{wide} ? 'w' : 'k') . ") FROM $kind->{from}", qr/GpuSort Count/, undef, cpu_operator_cost => 0.1 ] },
	counted => sub { my $kind = shift; return if $kind->{limit} || $kind->{late} || $kind->{keys_only};
		# without other columns it takes many rows, or less memory, for the sort to be of its kind
		my ($from, @quota) = $kind->{wide} || $kind->{from} eq 'many' ? ('many', $kind->{shared} ? ('gpusort.pool_quota' => 20) : $kind->{name} =~ /^collected/ ? ('gpusort.pool_quota' => 35) : ()) : 't';
		return [ "SELECT count(*) FROM o LEFT JOIN $from t USING (k)", qr/GpuSort Count.*GpuSort Join/s, undef, @quota ] },
	join => sub { my $kind = shift; return if $kind->{limit} || $kind->{late} || $kind->{keys_only};
		return [ digest_of_rows('SELECT o.id, t.id AS other' . ($kind->{wide} ? ', t.w' : '') . " FROM o JOIN $kind->{from} t USING (k)"), qr/(?:GpuSort|Merge) Join/,
			undef, $kind->{quota_of_join} ? ('gpusort.pool_quota' => $kind->{quota_of_join}) : () ] },
	cuts => sub { my $kind = shift; return unless $kind->{shared};
		return [ digest_of_rows('SELECT id, rank() OVER (PARTITION BY few ORDER BY k) AS r' . ($kind->{wide} ? ', w' : '') . " FROM $kind->{from}"), qr/Sliced By/ ] });

sub ordered
{
	my ($kind) = @_;
	return 'SELECT k FROM t ORDER BY k' if $kind->{keys_only};
	return 'SELECT few, k, id' . ($kind->{wide} || $kind->{late} ? ', w' : '') . ' FROM t ORDER BY few, k, id' . ($kind->{limit} ? " LIMIT $kind->{limit}" : '');
}


# How a query's rows are had.
sub rows_of { my ($query) = @_; return ($query); }
sub copied { my ($query) = @_; return ("COPY ($query) TO STDOUT"); }
sub stored { my ($query) = @_; return ('BEGIN', "CREATE TABLE made AS $query", ordered_digest("SELECT * FROM made ORDER BY ctid"), 'ROLLBACK'); }

# ---------- cells ----------

my (%theirs, %tried);

sub statements { my ($how, $query, @settings) = @_; return ((map { "SET $settings[2 * $_] = '$settings[2 * $_ + 1]'" } 0 .. $#settings / 2), $how->($query)); }

sub answer_of
{
	my ($out, $err) = session_of($node, statements(@_));

	return $err ne '' ? "failed: $err" : $out;
}

# A plan that has been executed, and then the rows.
sub explained
{
	my ($how, $query) = @_;

	return sub { return ("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF, TIMING OFF, SUMMARY OFF) $_[0]", '\echo rows:', $how->(@_)) };
}

sub try_cell
{
	my ($kind, $consumer) = @_;
	my $cell = $consumers{$consumer}->($kind) or return;
	my ($query, $by, $how, @settings) = @$cell;
	my $label = "$kind->{name}: $consumer";
	my @wanted = ($by, @{ $kind->{told} });
	my ($plan, $ours, $told);

	$tried{$label} = 1;
	$how //= \&rows_of;
	$theirs{"$consumer $query"} //= answer_of($how, $query, 'gpusort.enabled' => 'off', max_parallel_workers_per_gather => 0);
	# a busy machine may start workers when the leader has read all
	for (1 .. $kind->{tries})
	{
		($plan, $ours) = split /^rows:;\n/m, answer_of(explained($how), $query, @{ $kind->{settings} }, @settings), 2;
		$told = !grep { $plan !~ $_ } @wanted;
		last if $told || $ours ne $theirs{"$consumer $query"};
	}
	ok($told, "$label: it is of that kind") or diag "$query\n" . ($plan // "");
	ok($ours eq $theirs{"$consumer $query"} && $ours !~ /^0?$/, "$label: PostgreSQL's rows") or diag substr("$query\n$ours", 0, 1000);
}

for (@kinds)
{
	my ($name, $settings, $told, %what) = @$_;

	try_cell({ name => $name, settings => $settings, told => $told, tries => $name =~ /^serial/ ? 1 : 10, from => 't', %what }, $_) for sort keys %consumers;
}
nothing_is_left($node, $pool_bytes, 'at the end');
is_deeply([ sort keys %tried ], [ sort grep { part(/^(\w+)/) } cells_of_table("$FindBin::RealBin/../tests.md") ], 'the table in test/README.md names these cells');
done_testing();

# The cells of the first table of the section "Sorts" that have a plus.
sub cells_of_table
{
	my ($file) = @_;
	my ($section) = slurp_file($file) =~ /^## Sorts\n(.*?)^## /ms or die "$file has no section Sorts";
	my ($head, undef, @rows) = ($section =~ /((?:^\|.*\n)+)/m)[0] =~ /^\| (.*) \|$/mg;
	my (undef, @columns) = split / \| /, $head;
	my @cells;

	for (@rows)
	{
		my ($kind, @marks) = split / \| /;

		push @cells, map { $marks[$_] eq '+' ? "$kind: $columns[$_]" : () } 0 .. $#columns;
	}
	return @cells;
}
