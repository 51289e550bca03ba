# CLUSTER by parallel workers, who read the table and write the new one: the same pages as PostgreSQL's,
# on a standby and after crashes, with all kinds of versions, and when something goes wrong.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('primary', { allows_streaming => 1, extra => ['-k'] }, 'gpusort.force = on', 'shared_buffers = 16MB', 'gpusort.pool_size = 128MB',
	'max_worker_processes = 12', 'max_parallel_workers = 12', 'max_parallel_maintenance_workers = 2', 'min_parallel_table_scan_size = 0',
	'wal_keep_size = 2GB', 'gpusort.slice_pages = 4', 'restart_after_crash = on', 'client_min_messages = debug1');
our $rows = 30000;

$node->safe_psql('postgres', qq(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE EXTENSION pageinspect;
	CREATE TABLE even AS SELECT i AS id, hashint8(i) AS h, 'x'::char(20) AS pad FROM generate_series(1, $rows) i;
	CREATE UNIQUE INDEX even_id ON even (id);
	CREATE INDEX even_h ON even (h, id);
	CREATE INDEX even_expression ON even ((h % 1000), id);
	CREATE TABLE odd (gone int, id int8, h int4, pad text, big text) WITH (fillfactor = 80);
	ALTER TABLE odd DROP COLUMN gone, ALTER big SET STORAGE EXTERNAL;
	INSERT INTO odd SELECT i, hashint8(i), repeat('x', i % 100), CASE WHEN i = 7000 THEN repeat('big', 3000) END FROM generate_series(1, $rows) i;
	ALTER TABLE odd ADD added text DEFAULT 'default';
	CREATE UNIQUE INDEX odd_id ON odd (id);
	CREATE INDEX odd_h ON odd (h, id);
	CREATE INDEX odd_expression ON odd (lower(added || md5(id::text)) COLLATE "C");
	CREATE FUNCTION unsafe(id int8) RETURNS int4 IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN hashint8(id); END';
	CREATE INDEX odd_unsafe ON odd (unsafe(id), id);
	CREATE FUNCTION fails(id int8) RETURNS int8 IMMUTABLE PARALLEL SAFE LANGUAGE plpgsql AS
		'BEGIN IF id = 29000 AND current_setting(''test.fail'', true) = ''on'' THEN RAISE EXCEPTION ''% fails'', id; END IF; RETURN -id; END';
	CREATE INDEX odd_fails ON odd (fails(id));
	CREATE FUNCTION pages(heap regclass) RETURNS text LANGUAGE sql AS \$\$
		SELECT pg_relation_size(heap) || ' ' || md5(string_agg(concat_ws(' ', block, lower, upper, flags, items), E'\\n' ORDER BY block))
		FROM generate_series(0, pg_relation_size(heap) / 8192 - 1) block, LATERAL get_raw_page(heap::text, block::int) page, page_header(page),
			LATERAL (SELECT string_agg(i::text, E'\\n' ORDER BY lp) FROM heap_page_items(page) i) i(items) \$\$;
	VACUUM ANALYZE));
my $pool_bytes = service($node, 'pool_bytes_free');
my %orders = (even_id => 'id', even_h => 'h, id', even_expression => 'h % 1000, id', odd_id => 'id', odd_h => 'h, id',
	odd_expression => 'lower(added || md5(id::text)) COLLATE "C"', odd_unsafe => 'unsafe(id), id', odd_fails => '-id');

# How many rows, how many of them lie behind one that they should not, and what is odd about the table and its index.
sub state_of
{
	my ($index) = @_;
	my ($table) = $index =~ /^([a-z]+)_/;

	return $node->safe_psql('postgres', qq(
		SET client_min_messages = warning;
		SELECT count(*), count(*) FILTER (WHERE n < last), sum(hashtext(t)), (SELECT count(*) FROM verify_heapam('$table', check_toast := true)), bt_index_parent_check('$index', true, true)
		FROM (SELECT n, t, lag(n) OVER (ORDER BY ctid) AS last FROM (SELECT ctid, row_number() OVER (ORDER BY $orders{$index}) AS n, t::text FROM $table t) t) t));
}

# Until workers have taken part in reading, or in writing, as they should, which a busy machine may start too late; the message.
sub clustered_by_workers
{
	my ($index, $pattern, @before) = @_;
	my ($table) = $index =~ /^([a-z]+)_/;

	for (1 .. 10)
	{
		my (undef, $err) = session_of($node, @before, "CLUSTER $table USING $index");
		return $1 if $err =~ /(clustered table "$table": $rows row versions$pattern.*)/;
	}
	return '';
}

# ---------- the result ----------

$node->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$standby->start;

for my $index ('even_h', 'even_expression', 'even_id')
{
	$node->safe_psql('postgres', "SET gpusort.enabled = off; CLUSTER even USING $index");
	my $theirs = $node->safe_psql('postgres', "SELECT pages('even')");

	ok(clustered_by_workers($index, ', read by [12] workers .* write by [12] workers'), "$index: by workers");
	is($node->safe_psql('postgres', "SELECT pages('even')"), $theirs, '... the pages are PostgreSQL\'s');
}
$node->safe_psql('postgres', 'SET gpusort.enabled = off; CLUSTER odd USING odd_fails');
my $sum = $node->safe_psql('postgres', 'SELECT sum(hashtext(t::text)) FROM odd t');
my $size = $node->safe_psql('postgres', q(SELECT pg_relation_size('odd')));
my $slices = $size / 8192 / 4;

for my $case ([ 'odd_h', 'read by [12] workers .* write by [12] workers' ], [ 'odd_expression', 'read by [12] workers .* write by [12] workers' ],
	[ 'odd_unsafe', 'read by 0 workers .* write by [12] workers' ], [ 'odd_fails', 'read by [12] workers .* write by [12] workers' ])
{
	my ($index, $pattern) = @$case;

	ok(clustered_by_workers($index, ", $pattern"), "$index: by workers");
	is(state_of($index), "$rows|0|$sum|0|", '... all rows, in order');
	cmp_ok($node->safe_psql('postgres', q(SELECT pg_relation_size('odd'))), '<=', $size + $slices * 8192 * 0.75, '... about half a page for each slice');
}
my $all = 'SELECT (SELECT sum(hashtext(x::text || ctid)) FROM even x), (SELECT sum(hashtext(x::text || ctid)) FROM odd x)';
my $there = $node->safe_psql('postgres', $all);
$node->wait_for_catchup($standby, 'replay', $node->lsn('insert'));
is($standby->safe_psql('postgres', $all), $there, 'the same on a standby');
$standby->stop;

# ---------- memory, and what others may still see ----------

$node->safe_psql('postgres', q(CREATE TABLE wide AS SELECT hashint8(i) AS h, repeat('x', 250) AS pad FROM generate_series(1, 200000) i; CREATE INDEX wide_h ON wide (h); ANALYZE wide));
{
	local $rows = 200000;
	ok(clustered_by_workers('wide_h', ', read by [12] workers .* write by 0 workers .* runs', 'SET gpusort.pool_quota = 40', 'SET maintenance_work_mem = \'1MB\''),
		'what workers spill the leader writes');
}
is($node->safe_psql('postgres', 'SELECT count(*), count(*) FILTER (WHERE h < last) FROM (SELECT h, lag(h) OVER (ORDER BY ctid) AS last FROM wide) t'), '200000|0', '... all rows, in order');
$node->safe_psql('postgres', 'DROP TABLE wide');
for my $fault ('codec', 'memory')
{
	my ($out, $err) = session_of($node, 'SET gpusort.enable_spill = off', "SET gpusort.inject_fault = $fault", 'CLUSTER odd USING odd_id', 'SELECT * FROM gpusort_clusters()');

	like($out, qr/^0\|1\|0$/m, "$fault: given up");
	is(state_of('odd_id'), "$rows|0|$sum|0|", '... all rows, in order');
}
my $locks = q(BEGIN; SELECT FROM mixed WHERE id % 5 = REST FOR KEY SHARE; SAVEPOINT a; DELETE FROM mixed WHERE id % 35 = REST; ROLLBACK TO a;
	SAVEPOINT b; DELETE FROM mixed WHERE id % 55 = REST; RELEASE b; DELETE FROM mixed WHERE id % 13 = REST; SELECT FROM mixed WHERE id % 17 = REST FOR UPDATE; COMMIT);
$node->safe_psql('postgres', qq(CREATE TABLE mixed AS SELECT i AS id, hashint8(i) AS h, 'x'::char(20) AS pad FROM generate_series(1, $rows) i;
	CREATE UNIQUE INDEX mixed_h ON mixed (h, id);) . $locks =~ s/REST/1/gr);
my $reader = $node->background_psql('postgres', on_error_stop => 0);
$reader->query_safe('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class');
$node->safe_psql('postgres', "INSERT INTO mixed SELECT -i, hashint8(i), 'y' FROM generate_series(1, 1000) i;" . $locks =~ s/REST/2/gr);
my $theirs = $node->safe_psql('postgres', "BEGIN; SET LOCAL gpusort.enabled = off; CLUSTER mixed USING mixed_h; SELECT pages('mixed'); ROLLBACK");
{
	local $rows = '\d+';
	ok(clustered_by_workers('mixed_h', ', read by [12] workers .* write by [12] workers'), 'old and new, deleted and locked rows: by workers');
}
is($node->safe_psql('postgres', "SELECT pages('mixed')"), $theirs, '... the pages are PostgreSQL\'s');
$node->safe_psql('postgres', 'DROP TABLE mixed');
$node->safe_psql('postgres', 'DELETE FROM odd WHERE id % 10 = 0; UPDATE even SET h = h + 1 WHERE id % 10 = 0');
$rows = 33000;
ok(clustered_by_workers('even_h', ' in chains, read by [12] workers .* write by 0 workers'), 'chains of updates are read by workers');
$rows = 30000;
ok(clustered_by_workers('odd_h', ', read by [12] workers .* write by [12] workers'), 'rows that others still see are written by them');
is($reader->query_safe('SELECT sum(hashtext(t::text)) FROM odd t'), $sum, '... as they see them');
is($reader->query_safe('SELECT count(*) FROM even WHERE h = hashint8(id)'), $rows, '... and older versions');
$reader->query_safe('COMMIT');
$reader->quit;
my (undef, $said) = session_of($node, 'CLUSTER (VERBOSE) odd USING odd_h', 'CLUSTER (VERBOSE) even USING even_h');
like($said, qr/"public.odd": found 3000 removable, 27000 nonremovable row versions in \d+ pages.*"public.even": found 3000 removable, 30000 nonremovable/s, 'they are counted, and go');
is((split /\|/, state_of($_))[1], 0, "$_: in order") for 'odd_h', 'even_h';
$sum = $node->safe_psql('postgres', 'SELECT sum(hashtext(t::text)) FROM odd t');
$rows = 27000;

# ---------- failures ----------

$there = $node->safe_psql('postgres', $all);
for my $case ([ 'an expression', 'SET test.fail = on', 'CLUSTER odd USING odd_fails', qr/29000 fails|fails/ ],
	[ 'a timeout', 'SET statement_timeout = 15', 'CLUSTER odd USING odd_expression', qr/statement timeout/ ],
	[ 'nothing', '', 'CLUSTER odd USING odd_id', qr/clustered table/ ])
{
	my ($label, $setting, $statement, $pattern) = @$case;
	$node->safe_psql('postgres', 'UPDATE odd SET id = 29000 WHERE id = 29001; CLUSTER odd USING odd_h; CLUSTER even USING even_h') if $label eq 'an expression';
	$there = $node->safe_psql('postgres', $all) if $label eq 'an expression';
	my ($out, $err) = session_of($node, 'BEGIN', $setting, "SAVEPOINT s; $statement", 'ROLLBACK TO s', reset_timeout(), $all, 'ROLLBACK');

	like($err, $pattern, "$label: the error");
	like($out, qr/^\Q$there\E$/m, '... the tables are what they were');
	nothing_is_left($node, $pool_bytes, $label);
}

# ---------- crashes ----------

$node->safe_psql('postgres', 'CHECKPOINT');
ok(clustered_by_workers('odd_id', ', .* write by [12] workers'), 'before a crash: by workers');
$there = $node->safe_psql('postgres', $all);
$node->stop('immediate');
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0");
$node->start;
is($node->safe_psql('postgres', $all), $there, 'the same after a crash');
ok(clustered_by_workers('odd_h', ', .* write by [12] workers'), 'with little WAL: by workers');
$there = $node->safe_psql('postgres', $all);
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $all), $there, 'the same after a crash');
is((split /\|/, state_of('odd_h'))[1], 0, '... in order');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|signal 11|invalid page|leak/, 'nothing odd in the log');
sum_checksums($node, 'after all');
done_testing();
