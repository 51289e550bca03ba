# PoolCases.pm
#		What states.sh runs while the pool is full from some extent on: all kinds of sorts and builds.
#
# cases() has each combination of who sorts, what is asked of the sort, what it sorts by and the memory that is
# left for it; a case is like those of faults.pl.
package PoolCases;

use strict;
use warnings;

# Rows of w fill several extents of a row store, those of b of all else, too.
our $setup = q{
	CREATE TABLE w WITH (parallel_workers = 2) AS
	SELECT i AS id, hashint8(i % 2500)::int8 * 1000003 AS k, nullif(i % 50, 7) AS few,
		CASE WHEN i = 5000 THEN 'does not begin alike' WHEN i % 31 > 0 THEN 'https://example.org/' || md5((i % 2000)::text) || repeat('c', i % 2 * 2400) END COLLATE "C" AS c,
		'Straße ' || md5((i % 1500)::text) || repeat('ä-', i % 2 * 300) COLLATE "en_US" AS e,
		'Straße ' || md5((i % 1500)::text) || repeat('ü-', i % 2 * 300) COLLATE "en-x-icu" AS u
	FROM generate_series(1, 5000) i;
	CREATE TABLE b WITH (parallel_workers = 2) AS
	SELECT hashint8(i % 200000)::int8 * 1000003 AS k, i AS id FROM generate_series(1, 280000) i;
	CREATE TABLE moved WITH (parallel_workers = 2) AS SELECT * FROM w;
	CREATE UNIQUE INDEX moved_c ON moved (c, id);
	CREATE INDEX moved_k ON moved (k, id);
};

my $alone = 'SET max_parallel_workers_per_gather = 0; SET max_parallel_maintenance_workers = 0;';
my $together = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET gpusort.cost_gather = 0; SET max_parallel_maintenance_workers = 2;
	SET gpusort.slice_pages = 4;';
my $sorts = 'SET enable_hashagg = off; SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_material = off;
	SET enable_incremental_sort = off;' .
	join '', map { "SET gpusort.cost_$_ = 0;" } qw(startup row key_byte key_collated row_byte emit);

# Who sorts: one process, that or gpusortd, one that has its rows collected, or all.
my %ways = (
	serial => { set => "$alone $sorts", plan => qr/GpuSort\)/ },
	gpusortd => { set => "$alone $sorts SET gpusort.engine = cuda; SET gpusort.min_gpu_rows = 0;", daemon => 1, plan => qr/GpuSort\)/ },
	collected => { set => "$together $sorts SET gpusort.enable_shared_sort = off;", workers => 1, plan => qr/GpuSort Collect/ },
	shared => { set => "$together $sorts", workers => 1, plan => qr/GpuSort Shared/ },
	build => { set => $alone },
	'build by workers' => { set => $together, workers => 1 });

# What becomes of rows that the pool has no extent for: private memory, files, or PostgreSQL's sort.  In a
# large pool there is room for three participants, in a small one for one.
my $much = "SET work_mem = '64MB'; SET maintenance_work_mem = '64MB';";
my $little = "SET work_mem = '64kB'; SET hash_mem_multiplier = 1; SET maintenance_work_mem = '1MB';";
my %memories = (
	'much memory' => "SET gpusort.pool_quota = 20; $much",
	'large pool' => "SET gpusort.pool_quota = 100; $much",
	files => "SET gpusort.pool_quota = 20; $little",
	'no files' => "SET gpusort.pool_quota = 100; $little SET gpusort.enable_spill = off;");

my $digest = q{SELECT count(*) || ' ' || md5(string_agg(q::text, ',')) FROM};

# What is asked of a sort by these columns; %s.  The answer must be the same whatever the order of equal rows.
my %consumers = (
	rows => { in => qr/serial|gpusortd|collected/, query => "$digest (SELECT %s, few, id FROM w ORDER BY %s, id OFFSET 0) q" },
	bound => { in => qr/serial|collected/, query => "$digest (SELECT %s, id FROM w ORDER BY %s, id LIMIT 700) q" },
	'large bound' => { in => qr/serial|collected/, keys => qr/^k$/,
		query => q{SELECT sum(n * (id + 1)) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT k, id FROM b ORDER BY k, id LIMIT 3000) q) q} },
	'equal rows' => { in => qr/./, query => "$digest (SELECT DISTINCT %s, few FROM w ORDER BY %s, few OFFSET 0) q",
		shared => "SELECT count(*) || ' ' || sum(hashtextextended(q::text, 0)) FROM (SELECT DISTINCT %s, few FROM w OFFSET 0) q" },
	'many equal rows' => { in => qr/./, keys => qr/^k$/, query => 'SELECT count(DISTINCT k) FROM b' },
	mode => { in => qr/serial|collected/, query => "$digest (SELECT few, mode() WITHIN GROUP (ORDER BY %s) FROM w GROUP BY few ORDER BY few) q" },
	'key rows' => { in => qr/serial|collected/, keys => qr/^k$/,
		query => 'SELECT sum(k / 1000003 * n) FROM (SELECT k, row_number() OVER () AS n FROM (SELECT k FROM b ORDER BY k OFFSET 0) q) q' },
	'equal rows again' => { in => qr/serial|collected/,
		query => "SELECT string_agg(a, ' ') FROM (SELECT (SELECT md5(string_agg(s.%s::text, ',')) FROM
			(SELECT DISTINCT %s FROM w WHERE few <> (SELECT max(x) FROM generate_series(1, o) x) ORDER BY %s OFFSET 0) s) AS a
			FROM generate_series(1, 2) o) q" },
	slices => { in => qr/shared/, query => "SELECT count(*) || ' ' || sum(hashtextextended(q::text, 0)) FROM
		(SELECT id, rank() OVER x AS r, lag(id) OVER x AS l FROM w WINDOW x AS (PARTITION BY few ORDER BY %s, id) OFFSET 0) q" },
	'both sides' => { in => qr/gpusortd/, query => "SELECT count(*) || ' ' || sum(hashtextextended(q::text, 0)) FROM
		(SELECT x.id, y.few FROM w x JOIN moved y ON x.%s = y.%s OFFSET 0) q" },
	'all rows' => { in => qr/shared/, query => "SELECT count(*) || ' ' || sum(hashtextextended(q::text, 0)) FROM
		(SELECT x.id, y.few FROM w x JOIN w y ON x.%s = y.%s WHERE x.id %% 10 = 1 OFFSET 0) q" });

my %builds = (
	index => 'CREATE INDEX x ON w (%s, few)',
	'unique index' => 'CREATE UNIQUE INDEX x ON w (%s, id) INCLUDE (few)');

my @keys = qw(k c e u);

# Those of one way and one consumer.
sub consumer_cases
{
	my ($way, $name) = @_;
	my $consumer = $consumers{$name};
	my @cases;

	for my $key (grep { !$consumer->{keys} || /$consumer->{keys}/ } @keys)
	{
		my $query = $way eq 'shared' && $consumer->{shared} || $consumer->{query};

		push @cases, { %{ $ways{$way} }, name => "$way, $name by $key", query => $query =~ s/%s/$key/gr =~ s/%%/%/gr,
			set => $ways{$way}{set}, alike => $key eq 'c' };
	}
	return @cases;
}

sub build_cases
{
	my ($way) = @_;
	my @cases;

	for my $key (@keys)
	{
		push @cases, { %{ $ways{$way} }, name => "$way, $_ by $key", index => sprintf $builds{$_}, $key } for sort keys %builds;
	}
	for my $index ('moved_k', 'moved_c')
	{
		push @cases, { %{ $ways{$way} }, name => "$way, CLUSTER by $index",
			query => "CLUSTER moved USING $index; $digest (SELECT id FROM moved ORDER BY ctid) q" };
	}
	return @cases;
}

sub cases
{
	my @cases;

	for my $way (qw(serial gpusortd collected shared))
	{
		push @cases, map { consumer_cases($way, $_) } grep { $way =~ $consumers{$_}{in} } sort keys %consumers;
	}
	push @cases, map { build_cases($_) } 'build', 'build by workers';
	return map {
		my $case = $_;
		map { { %$case, name => "$case->{name}, $_", set => "$case->{set} $memories{$_}",
					# a part that can't be spilled is joined with rows that don't begin as its own do
					mapping => $_ eq 'much memory' && $case->{workers} && $case->{alike} } } sort keys %memories
	} @cases;
}

1;
