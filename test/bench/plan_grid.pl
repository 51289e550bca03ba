#!/usr/bin/perl
# plan_grid.pl
#	Does the planner take the better plan?  A grid of queries with sorts, each executed by
#	every plan that there is for it.
#
# Runs against the server of PGHOST, PGPORT and PGUSER with gpusort loaded, in a
# database of its own.  A cell of the grid is a shape of query, a number of rows, a width, a kind
# of key, an order of the rows in the table (with an index or without), and a number of
# workers that a query may have.  For each cell the planner is made to plan
# PostgreSQL's serial and parallel sorts, its index scan, and gpusort's plans; the
# different ones are executed in turn in one session, and the times are medians
# of EXPLAIN (ANALYZE, TIMING OFF).  The plan that it takes when left alone is good if its
# time is within 10 % of the better one: of the best with gpusort, and of what the
# planner takes without gpusort.  (Beside it stands the best of all, which tells how well
# PostgreSQL's own plans are costed.)  Exit status 1: fewer than 97 % of the cells are.
#
#	--quick				few cells, up to 300,000 rows; nothing is judged
#	--shapes A,B,...	names of %shapes below, or all (order_by).  Every other row has a key of its own in
#						distinct, distinct_on, group_by and count_distinct; there are 128 groups where
#						queries have g and h; u has all rows of t, or, in ..._tenth, a tenth of them
#	--rows A,B,...		exponents of ten (4,4.5,...,7)
#	--widths A,B,...	bytes of a row (8,64,250,1000)
#	--keys A,B,...		names of %keys below (all)
#	--orders A,B,...	random, nearly (sorted but for neighbours), sorted, indexed (random,
#						with an index), clustered (sorted, with an index)
#	--workers A,B,...	max_parallel_workers_per_gather (0)
#	--max_bytes N		no tables larger than this (2e9)
#	--work_mem M		(256MB)
#	--budget S			seconds that a plan may take in all its executions (6)
#	--cpu				compare CPU times of the session, which neighbours on a busy machine
#						disturb less; without workers only
#	--set NAME=VALUE	setting for the plan that is judged; may be repeated
#	--judge SET:NAME=VALUE,...	settings, besides those of --set, that are judged by the same executions;
#						may be repeated.  Only planning is done for each, and a plan executed that
#						is new.  The table by set at the end compares its plan's time with the best
#						of gpusort's plans, PostgreSQL's choice, and the plans of all sets
#	--taken				leave out plans of PostgreSQL's that it does not choose, and no set takes
#	--seconds S			begin no table after so many seconds
#	--output FILE		every cell with all times, as tab-separated values
#	--of FILE			only the table by set of such a file; may be repeated, for all of them together
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin, "$FindBin::RealBin/../fuzz";
use Getopt::Long;
use JSON::PP;
use List::Util qw(sum);
use Median;
use PgWire;

my %opt = (shapes => 'order_by', rows => '4,4.5,5,5.5,6,6.5,7', widths => '8,64,250,1000', workers => '0', max_bytes => 2e9, work_mem => '256MB', budget => 6, set => [], judge => [], of => []);
GetOptions(\%opt, 'quick', 'cpu', 'shapes=s', 'rows=s', 'widths=s', 'keys=s', 'orders=s', 'workers=s', 'max_bytes=f', 'work_mem=s', 'budget=f', 'set=s@', 'judge=s@', 'taken', 'seconds=f', 'output=s', 'of=s@') or exit 2;
$| = 1;

# The key and its columns: expressions over x, a bigint, in whose order the keys are;
# and an expression of the key, to be sorted by.  r is a random bigint of the row.
my $text = "lpad(to_hex(x), 16, '0') || left(md5(r::text), 4 + (r & 15)::int)";
my %keys = (
	int8 => [ 'k', 'x AS k', '-k' ],
	int4 => [ 'k', '(x >> 32)::int4 AS k', '-k' ],
	int4_date => [ 'a, b', "(x >> 48)::int4 AS a, date '2000-01-01' + ((x >> 36) & 4095)::int4 AS b", 'a + 1, b - a % 10' ],
	numeric => [ 'k', 'x::numeric / 1000 AS k', '-k' ],
	text_c => [ 'k', "($text) COLLATE \"C\" AS k", "k || 'x'" ],
	text_icu => [ 'k', "($text) COLLATE \"en-x-icu\" AS k", "k || 'x'" ],
	text_libc => [ 'k', "($text) COLLATE \"en_US.utf8\" AS k", "k || 'x'" ]);
my %orders = (
	random => { x => '(r & 9223372036854775807)' },
	nearly => { x => 'i * (9000000000000000000 / ROWS) + (r & 1048575) * 85830688000' },
	sorted => { x => 'i * (9000000000000000000 / ROWS)' },
	indexed => { x => '(r & 9223372036854775807)', index => 1 },
	clustered => { x => 'i * (9000000000000000000 / ROWS)', index => 1 });

# Queries by KEY, its FIRST column or an EXPRESSION of it; with what else t must be: copies of it, or in
# partitions, or with an index whatever the order, as the copy has then; and settings for plans that sort.
my %no_hash_join = (enable_hashjoin => 'off', enable_nestloop => 'off');
my %no_hash_table = (enable_hashagg => 'off');
my $semijoin = 'SELECT count(*) FROM t WHERE (KEY) IN (SELECT KEY FROM u)';
my %shapes = (
	order_by => { query => 'SELECT * FROM t ORDER BY KEY' },
	expression => { query => 'SELECT * FROM t ORDER BY EXPRESSION' },
	limit_10 => { query => 'SELECT * FROM t ORDER BY KEY LIMIT 10' },
	limit_1000 => { query => 'SELECT * FROM t ORDER BY KEY LIMIT 1000' },
	distinct => { query => 'SELECT DISTINCT KEY FROM t', set => \%no_hash_table, twice => 1 },
	distinct_few => { query => 'SELECT DISTINCT g, h FROM t', set => \%no_hash_table, groups => 1 },
	distinct_on => { query => 'SELECT DISTINCT ON (KEY) * FROM t ORDER BY KEY', twice => 1 },
	distinct_on_few => { query => 'SELECT DISTINCT ON (g, h) * FROM t ORDER BY g, h, KEY', groups => 1 },
	group_by => { query => 'SELECT KEY, count(*) FROM t GROUP BY KEY', set => \%no_hash_table, twice => 1 },
	group_few => { query => 'SELECT g, h, count(*) FROM t GROUP BY g, h', set => \%no_hash_table, groups => 1 },
	count_distinct => { query => 'SELECT count(DISTINCT FIRST) FROM t', twice => 1 },
	count_distinct_few => { query => 'SELECT g, h, count(DISTINCT FIRST) FROM t GROUP BY g, h', groups => 1 },
	window => { query => 'SELECT *, rank() OVER (ORDER BY KEY) FROM t' },
	window_order_by => { query => 'SELECT *, rank() OVER (PARTITION BY g, h ORDER BY KEY) FROM t ORDER BY KEY', groups => 1 },
	join => { query => 'SELECT count(*) FROM t JOIN u USING (KEY)', set => \%no_hash_join, others => 1 },
	join_tenth => { query => 'SELECT count(*) FROM t JOIN u USING (KEY)', set => \%no_hash_join, others => 10 },
	join_order_by => { query => 'SELECT t.* FROM t JOIN u USING (KEY) ORDER BY KEY', set => \%no_hash_join, others => 1 },
	join_group => { query => 'SELECT KEY, count(*) FROM t JOIN u USING (KEY) GROUP BY KEY ORDER BY KEY', set => \%no_hash_join, others => 10 },
	join_indexes => { query => 'SELECT count(*) FROM t JOIN u USING (KEY)', set => \%no_hash_join, others => 1, index => 1 },
	join_indexes_tenth => { query => 'SELECT count(*) FROM t JOIN u USING (KEY)', set => \%no_hash_join, others => 10, index => 1 },
	semijoin => { query => $semijoin, set => \%no_hash_join, others => 1 },
	semijoin_tenth => { query => $semijoin, set => \%no_hash_join, others => 10 },
	semijoin_indexes => { query => $semijoin, set => \%no_hash_join, others => 1, index => 1 },
	union => { query => 'SELECT KEY FROM t UNION SELECT KEY FROM u', set => \%no_hash_table, others => 1 },
	intersect => { query => 'SELECT KEY FROM t INTERSECT SELECT KEY FROM u', set => \%no_hash_table, others => 1 },
	except_tenth => { query => 'SELECT KEY FROM t EXCEPT SELECT KEY FROM u', set => \%no_hash_table, others => 10 },
	partitions => { query => 'SELECT * FROM t ORDER BY KEY', partitions => 4 });
$opt{shapes} = join ',', sort keys %shapes if $opt{shapes} eq 'all';
my @shapes = split /,/, $opt{shapes};
for (@shapes) { die "there is no shape $_\n" unless $shapes{$_}; }

die "--cpu is for plans without workers\n" if $opt{cpu} && $opt{workers} ne '0';
if ($opt{quick}) { @opt{qw(rows widths)} = ('4,5,5.5', '8,250'); $opt{budget} = 1; }
my @keys = split /,/, $opt{keys} // join ',', sort keys %keys;
my @orders = split /,/, $opt{orders} // 'random,nearly,sorted,indexed,clustered';

# Plans, each by the settings that leave the planner no other.
my %serial = (max_parallel_workers_per_gather => 0);
my %parallel = (parallel_setup_cost => 0, parallel_tuple_cost => 0);
my %core = ('gpusort.enabled' => 'off');
my %no_index = (enable_indexscan => 'off', enable_indexonlyscan => 'off');
my %gpusort = ('gpusort.force' => 'on', %no_index);
my @plans = (
	{ name => 'sort', set => { %core, %no_index, %serial } },
	{ name => 'parallel sort', set => { %core, %no_index, %parallel }, parallel => 1 },
	{ name => 'index', set => { %core, %serial, enable_sort => 'off', enable_seqscan => 'off' }, index => 1 },
	{ name => 'parallel index', set => { %core, %parallel, enable_sort => 'off', enable_seqscan => 'off' }, parallel => 1, index => 1 },
	{ name => 'gpusort', set => { %gpusort, %serial } },
	{ name => 'gpusort of indexes', set => { %serial, 'gpusort.force' => 'on', enable_sort => 'off' }, indexes => 1 },
	{ name => 'parallel gpusort', set => { %gpusort, %parallel, enable_gathermerge => 'off' }, parallel => 1 },
	{ name => 'gpusort in workers', set => { %no_index, %parallel, 'gpusort.force' => 'on', 'gpusort.cost_row' => 10 }, parallel => 1 });

my $db = "grid_$$";
my ($conn, $out, %judged, @of_all, %by_set);

# Settings to judge, each with a name; those of --set are the first.
sub settings_of { return map { split /=/, $_, 2 } @_; }
my @sets = { name => 'default', set => { settings_of(@{ $opt{set} }) } };
for (@{ $opt{judge} })
{
	my ($name, $settings) = /^(?!default:)(\w+):(.+)$/ or die "--judge SET:NAME=VALUE,..., with a name other than default\n";
	push @sets, { name => $name, set => { %{ $sets[0]{set} }, settings_of(split /,/, $settings) } };
}

# A session; private memory of sorts before is gone.
sub session
{
	$conn->close if $conn;
	$conn = PgWire->connect(dbname => $db, name => 'gpusort grid');
	$conn->must("SET work_mem = '$opt{work_mem}'; SET maintenance_work_mem = '1GB'; SET jit = off; SET client_min_messages = warning");
}

sub with_settings
{
	my ($settings, $workers, $statement) = @_;
	my %set = (max_parallel_workers_per_gather => $workers, %$settings);
	$conn->must('BEGIN; ' . join '; ', map { "SET LOCAL $_ = $set{$_}" } sort keys %set);
	my $result = decode_json($conn->value($statement))->[0];
	$conn->must('ROLLBACK');
	return $result;
}

# The nodes of a plan from top to bottom: two plans are the same if these are.
sub shape
{
	my $node = shift;
	my $name = $node->{'Custom Plan Provider'} // $node->{'Node Type'};
	$name = "$name($node->{'Workers Planned'})" if $node->{'Workers Planned'};
	return join '-', $name, map { shape($_) } @{ $node->{Plans} || [] };
}

sub plan { my ($set, $workers, $query) = @_; return with_settings($set, $workers, "EXPLAIN (FORMAT JSON) $query")->{Plan}; }

# Milliseconds that the session has been on a CPU.
sub cpu_ms { return $conn->value("SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)::int8 / 1e6"); }

sub execute
{
	my ($set, $workers, $query) = @_;
	my $before = $opt{cpu} ? cpu_ms() : 0;
	my $ms = with_settings($set, $workers, "EXPLAIN (ANALYZE, TIMING OFF, BUFFERS OFF, FORMAT JSON) $query")->{'Execution Time'};
	return $opt{cpu} ? cpu_ms() - $before : $ms;
}

sub has_index { my $cell = shift; return $orders{ $cell->{order} }{index} || $shapes{ $cell->{shape} }{index}; }

sub make_table
{
	my ($rows, $width, $key, $order, $shape) = @_;
	my $pad = $width > 16 ? $width - 16 : 0;
	my $x = $orders{$order}{x} =~ s/ROWS/$rows/gr;
	my $i = $shape->{twice} ? '(n + 1) / 2' : 'n';
	my $select = join ', ', $keys{$key}[1], $pad ? sprintf("repeat('x', %d) AS pad", $pad) : (),
		$shape->{groups} ? '(r & 7)::int4 AS g, ((r >> 8) & 15)::int8 AS h' : (),
		$shape->{partitions} ? "(r & 1023)::int4 % $shape->{partitions} AS part" : ();
	# not INSERT, which puts rows that fit into gaps of earlier pages
	my $create = "AS SELECT $select FROM (SELECT $x AS x, r FROM (SELECT $i AS i, hashint8extended($i, 0) AS r FROM generate_series(1::int8, $rows) n) s OFFSET 0) s";
	$conn->must('DROP TABLE IF EXISTS t, u');
	if ($shape->{partitions})
	{
		$conn->must("CREATE TABLE s $create; CREATE TABLE t (LIKE s) PARTITION BY LIST (part)");
		$conn->must("CREATE TABLE t$_ AS SELECT * FROM s WHERE part = $_; ALTER TABLE t ATTACH PARTITION t$_ FOR VALUES IN ($_)") for 0 .. $shape->{partitions} - 1;
		$conn->must('DROP TABLE s');
	}
	else { $conn->must("CREATE TABLE t $create"); }
	$conn->must("CREATE INDEX ON t ($keys{$key}[0])") if $orders{$order}{index} || $shape->{index};
	$conn->must("CREATE TABLE u AS SELECT * FROM t WHERE hashtext(t::text) % $shape->{others} = 0 ORDER BY md5(t::text)") if $shape->{others};
	$conn->must("CREATE INDEX ON u ($keys{$key}[0])") if $shape->{index};
	$conn->must('VACUUM (FREEZE, ANALYZE) u') if $shape->{others};
	$conn->must($_) for 'VACUUM (FREEZE, ANALYZE) t', 'SELECT count(*) FROM t';
}

sub is_compared { my $plan = shift; return $plan->{core} || $plan->{taken_by} || $plan->{name} =~ /gpusort/; }

# The plans that there are for a cell, by their shape; each is marked with the sets that take it.
sub plans_of
{
	my ($cell, $query) = @_;
	my %by_shape;
	for my $plan (@plans)
	{
		next if $plan->{index} && !has_index($cell) || $plan->{indexes} && !$shapes{ $cell->{shape} }{index} || $plan->{parallel} && !$cell->{workers};
		my $set = { %{ $plan->{set} }, %{ $shapes{ $cell->{shape} }{set} || {} } };
		my $planned = plan($set, $cell->{workers}, $query);
		my $shape = shape($planned);
		next if $plan->{name} =~ /gpusort/ ? $shape !~ /GpuSort/ : $shape =~ /GpuSort/;
		$by_shape{$shape} //= { %$plan, set => $set, cost => $planned->{'Total Cost'} };
	}
	my $planned = plan(\%core, $cell->{workers}, $query);
	my $without = shape($planned);
	$by_shape{$without} //= { name => $without, set => \%core, cost => $planned->{'Total Cost'} };
	$by_shape{$without}{core} = 1;
	for my $set (@sets)
	{
		$planned = plan($set->{set}, $cell->{workers}, $query);
		my $shape = shape($planned);
		$by_shape{$shape} //= { name => $shape, set => $set->{set}, cost => $planned->{'Total Cost'} };
		$by_shape{$shape}{taken_by}{ $set->{name} } = 1;
	}
	return grep { !$opt{taken} || is_compared($_) } values %by_shape;
}

# Execute all plans in turn; the first execution warms up and tells how many there can be.
sub measure
{
	my ($cell, $query, @plans) = @_;
	my $repeat = 0;
	for my $plan (@plans)
	{
		my $ms = execute($plan->{set}, $cell->{workers}, $query);
		my $n = int($opt{budget} * 1000 / ($ms || 1));
		$n = $n < 3 ? 3 : $n > 15 ? 15 : $n;
		$repeat = $n if !$repeat || $n < $repeat;
	}
	for (1 .. $repeat)
	{
		push @{ $_->{times} }, execute($_->{set}, $cell->{workers}, $query) for @plans;
	}
	$_->{ms} = median(@{ $_->{times} }) for @plans;
}

sub judge
{
	my ($cell, @plans) = @_;
	my %taken_by = map { my $plan = $_; map { $_ => $plan } keys %{ $plan->{taken_by} || {} } } @plans;
	my $taken = $taken_by{default};
	my ($best) = sort { $a->{ms} <=> $b->{ms} } @plans;
	my ($better) = sort { $a->{ms} <=> $b->{ms} } grep { $_->{core} || $_->{name} =~ /gpusort/ } @plans;
	my ($compared) = sort { $a->{ms} <=> $b->{ms} } grep { is_compared($_) } @plans;
	my @lines = map { by_set_line($_->{name}, $taken_by{ $_->{name} }, $compared, $taken) } @sets;
	count_by_set($_) for @lines;
	my $ratio = $taken->{ms} / $better->{ms};
	my $of_all = $taken->{ms} / $best->{ms};
	my $group = join ' ', (@shapes > 1 ? $cell->{shape} : ()), @$cell{qw(key order workers)};
	push @{ $judged{$group}{ $cell->{exponent} } }, $ratio;
	push @of_all, $of_all;
	my $line = join "\t", @$cell{qw(shape key order workers rows width)}, $taken->{name}, $better->{name}, sprintf('%.2f', $ratio), sprintf('of all %.2f', $of_all),
		sprintf('scan %.2f ms', $cell->{scan}), map { sprintf '%s %.2f ms cost %.0f', $_->{name}, $_->{ms}, $_->{cost} // 0 } sort { $a->{name} cmp $b->{name} } @plans;
	$line = join "\t", $line, @sets > 1 ? @lines : ();
	print $out "$line\n" if $out;
	print STDERR "$line\n" if !$out || $ratio > 1.1;
}

sub run_table
{
	my ($exponent, $width, $key, $order, $name) = @_;
	my $shape = $shapes{$name};
	my $rows = int(10**$exponent + 0.5);
	return if $rows * ($width + 32) > $opt{max_bytes} || $opt{seconds} && time - $^T > $opt{seconds};
	session();
	make_table($rows, $width, $key, $order, $shape);
	for my $workers (split /,/, $opt{workers})
	{
		my $cell = { shape => $name, rows => $rows, exponent => $exponent, width => $width, key => $key, order => $order, workers => $workers };
		my ($first) = split /,/, $keys{$key}[0];
		my $query = $shape->{query} =~ s/KEY/$keys{$key}[0]/gr =~ s/EXPRESSION/$keys{$key}[2]/r =~ s/FIRST/$first/r;
		my @plans = plans_of($cell, $query);
		measure($cell, $query, @plans);
		$cell->{scan} = median(map { execute({}, 0, 'SELECT * FROM t') } 1 .. 3);
		judge($cell, @plans);
	}
}

# What a set of settings takes for a cell, as --output has it and --of reads it.
sub by_set_line
{
	my ($set, $plan, $best, $default) = @_;
	return sprintf 'set %s takes %s %.3f ms best %.3f ms%s', $set, $plan->{name}, $plan->{ms}, $best->{ms}, $plan != $default ? ' not the default' : '';
}

sub count_by_set
{
	my ($set, $ms, $best, $other) = shift =~ /^set (\w+) takes .* ([\d.]+) ms best ([\d.]+) ms(.*)$/ or return;
	push @{ $by_set{$set} }, { ms => $ms, ratio => $ms / $best, other => $other };
}

sub table_by_set
{
	print "\n| settings | geometric mean | worst | within 10 % | seconds | other plans |\n| --- ", '| ---: ' x 5, "|\n";
	for my $set (sort { ($b eq 'default') <=> ($a eq 'default') || $a cmp $b } keys %by_set)
	{
		my @cells = @{ $by_set{$set} };
		my @ratios = sort { $a <=> $b } map { $_->{ratio} } @cells;
		printf "| %s | %.3f | %.2f | %d of %d, %.1f %% | %.2f | %d |\n", $set, exp(sum(map { log } @ratios) / @ratios), $ratios[-1],
			(map { $_, scalar @ratios, 100 * $_ / @ratios } scalar grep { $_ <= 1.1 } @ratios),
			sum(map { $_->{ms} } @cells) / 1000, scalar grep { $_->{other} } @cells;
	}
}

# For each group and number of rows: good cells of all, and the worst.
sub summary
{
	my @exponents = split /,/, $opt{rows};
	my ($good, $all) = (0, 0);
	print @shapes > 1 ? '| shape, ' : '| ', 'key, order, workers | ', join(' | ', map { "10^$_" } @exponents), " |\n| --- ", '| --- ' x @exponents, "|\n";
	for my $group (sort keys %judged)
	{
		my @row;
		for my $exponent (@exponents)
		{
			my @ratios = sort { $a <=> $b } @{ $judged{$group}{$exponent} || [] };
			my $ok = grep { $_ <= 1.1 } @ratios;
			$good += $ok;
			$all += @ratios;
			push @row, @ratios ? sprintf('%d/%d%s', $ok, scalar @ratios, $ratios[-1] > 1.1 ? sprintf(' (%.2f)', $ratios[-1]) : '') : '';
		}
		print "| $group | ", join(' | ', @row), " |\n";
	}
	my $share = $all ? 100 * $good / $all : 0;
	printf "\n%d of %d cells within 10 %% of the better plan: %.1f %%\n", $good, $all, $share;
	printf "%d of %d within 10 %% of the best of all\n", scalar(grep { $_ <= 1.1 } @of_all), scalar @of_all;
	table_by_set() if @sets > 1;
	return $share;
}

if (@{ $opt{of} })
{
	for my $file (@{ $opt{of} })
	{
		open my $in, '<', $file or die "$file: $!\n";
		while (<$in>) { chomp; count_by_set($_) for split /\t/; }
	}
	table_by_set();
	exit 0;
}

if ($opt{output}) { open $out, '>', $opt{output} or die "$opt{output}: $!\n"; $out->autoflush; }
my $admin = PgWire->connect(dbname => $ENV{PGDATABASE} // 'postgres');
$admin->must("CREATE DATABASE $db");
my $share = eval {
	session();
	die "gpusort is not loaded: add it to shared_preload_libraries\n" if $conn->query('SHOW gpusort.min_rows')->{error};
	for my $exponent (split /,/, $opt{rows})
	{
		for my $key (@keys)
		{
			for my $order (@orders)
			{
				for my $shape (@shapes) { run_table($exponent, $_, $key, $order, $shape) for split /,/, $opt{widths}; }
			}
		}
	}
	$conn->close;
	summary();
};
print "FAILED: $@" if $@;
$admin->query("DROP DATABASE $db WITH (FORCE)");
exit(defined $share && ($opt{quick} || $share >= 97) ? 0 : 1);
