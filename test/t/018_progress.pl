# pg_stat_progress_create_index of index builds: every phase is shown, its counters
# move, never back, and end at their totals.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $rows = 400000;
my $node = start_node('main', 'maintenance_work_mem = 512MB', 'gpusort.force = on', 'gpusort.keep_memory = 0',
	'statement_timeout = 5min', 'max_parallel_maintenance_workers = 0', "gpusort.daemon = 'host:2'", "gpusort.engine = 'host'");

# A build that is told to pause waits at four places for the advisory lock (4753, place).
$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i AS id, hashint8(i)::int8 * 1000003 + i AS k,
		repeat(chr(65 + i % 7), 12) || i % 50 || md5(i::text) COLLATE "C" AS s
	FROM generate_series(1, $rows) i;
	ALTER TABLE t SET (parallel_workers = 2);
	VACUUM ANALYZE t;
	CREATE TABLE samples (n serial, percent float8, phase text, blocks_done bigint, blocks_total bigint, tuples_done bigint, tuples_total bigint);
	CREATE TABLE percents (n serial, phase text, percent float8);
	CREATE FUNCTION sample() RETURNS bool LANGUAGE plpgsql AS \$\$ BEGIN
		PERFORM pg_stat_clear_snapshot();
		INSERT INTO samples (percent, phase, blocks_done, blocks_total, tuples_done, tuples_total)
		SELECT a.percent, p.phase, blocks_done, blocks_total, tuples_done, tuples_total
		FROM pg_stat_progress_create_index p LEFT JOIN pg_stat_gpusort_activity a USING (pid);
		RETURN FOUND; END \$\$;
	CREATE FUNCTION sample_pauses() RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN
		PERFORM pg_advisory_lock(4753, place) FROM generate_series(1, 4) place;
		FOR place IN 1 .. 4 LOOP
			WHILE NOT EXISTS (SELECT FROM pg_locks WHERE classid = 4753 AND objid = place AND NOT granted) LOOP
				PERFORM pg_sleep(0.001);
			END LOOP;
			PERFORM sample(), pg_advisory_unlock(4753, place);
		END LOOP;
		END \$\$;
	CREATE FUNCTION sample_often() RETURNS void LANGUAGE plpgsql AS \$\$ BEGIN
		PERFORM pg_advisory_lock(4753, 0);
		-- it may be over before it was seen
		WHILE NOT sample() AND to_regclass('i') IS NULL LOOP
			PERFORM pg_sleep(0.001);
		END LOOP;
		WHILE sample() LOOP
			PERFORM pg_sleep(0.0005);
		END LOOP;
		END \$\$));
my $blocks = $node->safe_psql('postgres', q(SELECT pg_relation_size('t') / current_setting('block_size')::int));

sub start_psql
{
	my ($out, @statements) = @_;

	return IPC::Run::start([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'),
			map { ('-c', $_) } @statements ], \my $in, '>&', $out);
}

# Samples of a build, each [phase, blocks_done, blocks_total, tuples_done, tuples_total].
sub samples_of
{
	my ($sampler, $label, @build) = @_;
	my ($sampled, $built) = ('', '');

	$node->safe_psql('postgres', 'TRUNCATE samples');
	my $sampling = start_psql(\$sampled, "SELECT $sampler()");
	$node->poll_query_until('postgres', q(SELECT count(*) > 0 FROM pg_locks WHERE classid = 4753 AND granted
		AND objid = ) . ($sampler eq 'sample_pauses' ? 4 : 0));
	my $building = start_psql(\$built, @build, 'CREATE TEMP TABLE counters AS SELECT * FROM gpusort_index_builds()',
		'DO $$ BEGIN ASSERT (SELECT built FROM counters) = 1; END $$',
		$label =~ /workers/ ? 'DO $$ BEGIN ASSERT (SELECT workers = 2 AND slices > 2 FROM counters); END $$' : ());
	ok($building->finish && $sampling->finish, "$label: built by gpusort, and watched") or diag "$built$sampled";
	my $samples = $node->safe_psql('postgres', 'SELECT phase, blocks_done, blocks_total, tuples_done, tuples_total, percent FROM samples ORDER BY n');
	$node->safe_psql('postgres', 'DROP INDEX i');
	return map { [ split /\|/, $_ ] } split /\n/, $samples;
}

my ($scanning, $sorting, $loading) = map { "building index: $_" } 'scanning table', 'sorting live tuples', 'loading tuples in tree';

# At the end of each phase its counters are at their totals; uniqueness is checked
# after the sort.
sub check_ends
{
	my ($label, $unique, @build) = @_;
	my @samples = samples_of('sample_pauses', $label, "SET gpusort.inject_fault = 'pause'", @build);
	my @percents = map { pop @$_ } @samples;
	my $sorted = $samples[1][3];

	is_deeply($samples[0], [ $scanning, $blocks, $blocks, 0, 0 ], "$label: all pages are read");
	is_deeply($samples[1], [ $sorting, 0, 0, $sorted, $rows ], "$label: rows are sorted");
	if ($unique)
	{
		cmp_ok($sorted, '>', 0.95 * $rows, "$label: sorting is nearly all of it");
		cmp_ok($sorted, '<', $rows, "$label: but not all");
	}
	else
	{
		is($sorted, $rows, "$label: that was all");
	}
	is_deeply($samples[2], [ $sorting, 0, 0, $rows, $rows ], "$label: rows are checked");
	is_deeply($samples[3], [ $loading, 0, 0, $rows, $rows ], "$label: rows are written");
	ok($percents[0] > 5 && $percents[0] <= 60 && $percents[0] < $percents[1] && $percents[1] < 99 && $percents[1] <= $percents[2] && $percents[3] == 100,
		"$label: per cent of the whole") or diag "@percents";
}

my @workers = ('SET max_parallel_maintenance_workers = 2', "SET maintenance_work_mem = '1GB'");
my @verify = ('SET gpusort.verify = on');
my @service = ("SET gpusort.engine = 'cuda'");
my @short = ('SET gpusort.slice_pages = 20');
ok($node->poll_query_until('postgres', "SELECT state = 'up' FROM gpusort_service()"), 'gpusortd is up');

check_ends('int8', 0, 'CREATE INDEX i ON t (k)');
check_ends('unique', 1, 'CREATE UNIQUE INDEX i ON t (k)');
check_ends('presorted', 1, 'CREATE UNIQUE INDEX i ON t (id)');
check_ends('text, verified', 0, @verify, 'CREATE INDEX i ON t (s)');
check_ends('workers', 0, @workers, 'CREATE INDEX i ON t (k)');
check_ends('text, workers', 0, @workers, 'CREATE INDEX i ON t (s)');
check_ends('unique, workers', 1, @workers, @short, 'CREATE UNIQUE INDEX i ON t (k)');
check_ends('gpusortd', 0, @service, 'CREATE INDEX i ON t (k)');
check_ends('gpusortd, workers', 0, @service, @workers, @short, 'CREATE INDEX i ON t (k)');

# What is seen in between never goes back, and in the sort it moves.  A busy machine may let others
# look once or not at all while a phase lasts: then they look at another build.
sub check_moves
{
	my ($label, @build) = @_;
	my (%values, $falls, $beyond);
	my $phases = '';

	for (1 .. 20)
	{
		my %last;

		$phases = '';
		for (samples_of('sample_often', $label, @build))
		{
			my ($phase, $blocks_done, $blocks_total, $tuples_done, $tuples_total, $percent) = @$_;
			my ($done, $total) = $phase eq $scanning ? ($blocks_done, $blocks_total) : ($tuples_done, $tuples_total);

			$falls .= " $phase $last{$phase} $done" if $done < ($last{$phase} // 0);
			if ($percent ne '')
			{
				$falls .= " $last{percent} $percent per cent" if $percent < ($last{percent} // 0);
				$last{percent} = $percent;
			}
			$beyond .= " $phase $done $total" if $done > $total;
			$phases .= "$phase; " if !exists $last{$phase};
			$last{$phase} = $done;
			$values{$phase}{$done} = 1;
		}
		last if 3 == grep { keys %{ $values{$_} } >= 3 && exists $last{$_} } $scanning, $sorting, $loading;
	}
	is($falls, undef, "$label: no counter falls");
	is($beyond, undef, "$label: no counter goes beyond its total");
	like($phases, qr/\Q$scanning\E.*\Q$sorting\E.*\Q$loading\E/, "$label: phases in order");
	note "$label: $_: " . keys(%{ $values{$_} }) . ' values' for sort keys %values;
	cmp_ok(scalar keys %{ $values{$_} }, '>=', 3, "$label: it is seen to move while $_") for $scanning, $sorting, $loading;
}

# long enough: refinement and verification of strings take some 100 ms
check_moves('text, verified', @verify, 'CREATE INDEX i ON t (s)');
check_moves('text, workers', @workers, @verify, 'CREATE INDEX i ON t (s)');
check_moves('text, workers, short slices', @workers, @short, @verify, 'CREATE INDEX i ON t (s)');
check_moves('two columns, gpusortd', @service, @verify, 'CREATE INDEX i ON t (s, k)');

# A query's sort: what others see of it rises through all phases, and is not at its end before the last row is.  A busy
# machine may let them look too seldom: then they look at another one.
{
	my (%seen, $falls, %most);
	my $watch = q(DO $$ BEGIN
		WHILE EXISTS (SELECT FROM pg_locks WHERE classid = 4753 AND objid = 9) LOOP
			PERFORM pg_stat_clear_snapshot();
			INSERT INTO percents (phase, percent) SELECT phase, percent FROM pg_stat_gpusort_activity;
			PERFORM pg_sleep(0.0005);
		END LOOP; END $$);

	for (1 .. 20)
	{
		my ($watched, $sorted) = ('', '');
		my $last = 0;

		$node->safe_psql('postgres', 'TRUNCATE percents');
		my $sorting = start_psql(\$sorted, 'SET max_parallel_workers_per_gather = 0', @verify, 'SELECT pg_advisory_lock(4753, 9)', 'SELECT pg_sleep(0.2)',
			'SELECT count(*) FROM (SELECT s, id FROM t ORDER BY s OFFSET 0) x WHERE id > 0');
		$node->poll_query_until('postgres', 'SELECT count(*) > 0 FROM pg_locks WHERE classid = 4753 AND objid = 9');
		my $watching = start_psql(\$watched, $watch);
		ok($sorting->finish && $watching->finish, 'a query is watched') or diag "$sorted$watched";
		for (split /\n/, $node->safe_psql('postgres', 'SELECT phase, percent FROM percents ORDER BY n'))
		{
			my ($phase, $percent) = split /\|/;

			$falls .= " $phase $last $percent" if $percent < $last;
			$last = $percent;
			$seen{$phase}{$percent} = 1;
			$most{$phase} = $percent if $percent > ($most{$phase} // 0);
		}
		last if 4 == grep { keys %{ $seen{$_} // {} } >= 2 } 'collecting', 'refining', 'verifying', 'returning rows';
	}
	is($falls, undef, 'a query: no percentage falls');
	ok($most{collecting} < $most{refining} && $most{refining} < $most{verifying} && $most{verifying} < $most{'returning rows'},
		'a query: each phase has its part') or diag join ' ', %most;
	cmp_ok($most{collecting}, '<', 50, 'a query: collecting is not all of it');
	cmp_ok($most{verifying}, '<', 95, 'a query: returning its rows is part of it');
	cmp_ok(scalar keys %{ $seen{$_} }, '>=', 2, "a query: it is seen to move while $_") for 'collecting', 'refining', 'verifying', 'returning rows';
}

# Nothing is reported with track_activities off, and nothing is written elsewhere.
is($node->safe_psql('postgres', q(SET track_activities = off; CREATE INDEX i ON t (k); SELECT built FROM gpusort_index_builds())),
	1, 'track_activities off');

$node->stop;
done_testing();
