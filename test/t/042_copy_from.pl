# COPY FROM in WAL: a standby that compares each page with what it has made of the record, logical
# decoding, crashes, tables whose WAL is skipped; indexes on a standby; cancels and timeouts; writers beside it.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $primary = start_node('primary', { allows_streaming => 1, extra => ['-k'] }, 'gpusort.force = on', 'shared_buffers = 16MB',
	'wal_level = logical', 'wal_consistency_checking = all', 'max_connections = 20', 'max_parallel_maintenance_workers = 2', 'wal_keep_size = 2GB');
my $file = $primary->data_dir . '/rows';
my $rows = 60000;

$primary->safe_psql('postgres', qq(
	CREATE TABLE plain (id int4, t text);
	CREATE TABLE keyed (id int4 PRIMARY KEY, t text);
	CREATE TABLE toasted (id int4, t text);
	CREATE TABLE frozen (id int4, t text);
	CREATE TABLE continued (id int4, t text);
	CREATE EXTENSION pg_visibility;
	ALTER TABLE toasted ALTER t SET STORAGE EXTERNAL;
	CREATE TABLE parted (id int4, t text) PARTITION BY HASH (id);
	CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 0);
	CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 3, REMAINDER 1);
	CREATE TABLE parted_2 (t text, gone int4, id int4);
	ALTER TABLE parted_2 DROP gone, ALTER t SET STORAGE EXTERNAL;
	ALTER TABLE parted_0 ALTER t SET STORAGE EXTERNAL;
	ALTER TABLE parted ATTACH PARTITION parted_2 FOR VALUES WITH (MODULUS 3, REMAINDER 2);
	CREATE TABLE used (id int4 PRIMARY KEY, t text);
	CREATE INDEX ON used (t);
	INSERT INTO used SELECT -i, 'there' FROM generate_series(1, 1000) i;
	CREATE TABLE leaves (id int4 PRIMARY KEY, t text) PARTITION BY HASH (id);
	CREATE INDEX ON leaves (t);
	CREATE TABLE leaves_0 PARTITION OF leaves FOR VALUES WITH (MODULUS 3, REMAINDER 0);
	CREATE TABLE leaves_1 PARTITION OF leaves FOR VALUES WITH (MODULUS 3, REMAINDER 1);
	CREATE TABLE leaves_2 PARTITION OF leaves FOR VALUES WITH (MODULUS 3, REMAINDER 2);
	INSERT INTO leaves SELECT -i, 'there' FROM generate_series(1, 1000) i;
	TRUNCATE leaves_2;
	CREATE TABLE ranges (id int4, t text) PARTITION BY RANGE (id);
	CREATE TABLE ranged PARTITION OF ranges FOR VALUES FROM (MINVALUE) TO (MAXVALUE) PARTITION BY RANGE (id);
	CREATE UNLOGGED TABLE source AS SELECT i AS id, repeat(md5(i::text), 2) AS t FROM generate_series(1, $rows) i;
	COPY source TO '$file';
	COPY (SELECT id, CASE WHEN id % 400 = 0 THEN repeat(t, 100) ELSE t END FROM source) TO '${file}_long';
	SELECT pg_create_logical_replication_slot('decoded', 'test_decoding')));
create_index_checks($primary);
my $sum = $primary->safe_psql('postgres', 'SELECT sum(hashtext(x::text)) FROM source x');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', "shared_preload_libraries = ''");
$standby->start;

# What all tables have, in order.
my $all = join ' UNION ALL ', map { "SELECT '$_', count(*), coalesce(sum(hashtext(x::text || ctid)), 0), sum(length(t)) FROM $_ x" } qw(plain keyed toasted parted_0 parted_1 parted_2 frozen continued used leaves_0 leaves_1 leaves_2);
$all .= ' ORDER BY 1';

# The standby is asked first: whoever looks at rows on the primary sets hint bits, and with these pages get there that were not logged before.
sub same_on_standby
{
	my ($label) = @_;

	$primary->wait_for_catchup($standby, 'replay', $primary->lsn('insert'));
	my $copied = $standby->safe_psql('postgres', $all);
	my $rows_there = $primary->safe_psql('postgres', $all);
	is($copied, $rows_there, $label);
	return $rows_there;
}

my $log = -s $primary->logfile;
$primary->safe_psql('postgres', "SET client_min_messages = log; SET log_min_messages = debug1; SET gpusort.copy_indexes = 'empty'; COPY plain FROM '$file'; COPY keyed FROM '$file'; COPY toasted FROM '${file}_long'; COPY parted FROM '${file}_long'; BEGIN; TRUNCATE frozen; COPY frozen FROM '$file' (FREEZE); COMMIT");
my $said = slurp_file($primary->logfile, $log);
is(scalar(() = $said =~ /gpusort loaded with \d workers/g), 5, 'workers load');
is(scalar(() = $said =~ /gpusort loaded $rows rows\n/g), 5, 'all of it');

# How many blocks are not in the map as frozen, and rows that should not be there.
my $frozen = q(SELECT pg_relation_size('frozen') / current_setting('block_size')::int4 - all_frozen, all_visible - all_frozen, (SELECT count(*) FROM pg_check_frozen('frozen')) FROM pg_visibility_map_summary('frozen'));
my $there = same_on_standby('the same on a standby, page by page');
like($there, qr/frozen\|$rows.*keyed\|$rows.*plain\|$rows.*toasted\|$rows/s, '... all rows');
is($_->safe_psql('postgres', $frozen), '0|0|0', 'frozen, ' . $_->name) for $primary, $standby;

is($primary->safe_psql('postgres', q(
	SELECT count(*), count(*) FILTER (WHERE data LIKE '%unchanged-toast%'), count(DISTINCT substring(data from 'id\[integer\]:(\d+)'))
	FROM pg_logical_slot_get_changes('decoded', NULL, NULL, 'skip-empty-xacts', '1') WHERE data LIKE 'table public.%INSERT%')),
	5 * $rows . "|0|$rows", 'decoded rows');

# One process, which goes on with a page: what was toasted is there when the page is decoded, and is let go of soon.
my @at = $primary->lsn('insert');
for ('toasted', 'parted')
{
	$primary->safe_psql('postgres', "SET max_parallel_maintenance_workers = 0; TRUNCATE $_; COPY $_ FROM '${file}_long'; COPY $_ FROM '${file}_long'");
	push @at, $primary->lsn('insert');
}
# ... and goes on in the last page, also frozen, and in one that is not frozen, beside others' rows.
my $few = "COPY continued FROM PROGRAM 'head -n 20 $file'";
$primary->safe_psql('postgres', "SET max_parallel_maintenance_workers = 0; BEGIN; TRUNCATE continued; $few (FREEZE); $few (FREEZE); INSERT INTO continued VALUES (0, 'x'); $few (FREEZE); COMMIT");
$primary->safe_psql('postgres', "SET max_parallel_maintenance_workers = 0; $few; $few");
is($primary->safe_psql('postgres', q(
	SELECT sum(length(substring(data from 't\[text\]:''([^'']*)'''))) = (SELECT sum(length(t)) FROM (TABLE toasted UNION ALL SELECT id, t FROM parted) r), count(*), count(*) FILTER (WHERE data LIKE '%unchanged-toast%')
	FROM pg_logical_slot_get_changes('decoded', NULL, NULL, 'skip-empty-xacts', '1') WHERE data ~ '^table public.(toasted|parted_\d): INSERT')),
	't|' . 4 * $rows . '|0', 'decoded rows of one process');
# files are named, or it would look at any one first, which may have nothing yet
for (0, 1)
{
	my @segments = map { $primary->safe_psql('postgres', "SELECT pg_walfile_name('$_')") } @at[ $_, $_ + 1 ];
	my ($records) = run_command([ 'pg_waldump', '-p', $primary->data_dir . '/pg_wal', '-r', 'Heap2', '-s', $at[$_], '-e', $at[ $_ + 1 ], @segments ]);
	cmp_ok(scalar(() = $records =~ /MULTI_INSERT.* flags:? 0x0[2367ABEF]/g), '>=', 4, '... whose toasted values it forgets every now and then' . ($_ ? ', in partitions, too' : ''));
}
$there = same_on_standby('rows in the last page, on a standby, too');
like($there, qr/^continued\|101\|/m, '... all of them');

# Indexes of tables in use, by several processes and by one, and of a partition that is empty at first.
$log = -s $primary->logfile;
my $half = $rows / 2;
my @loads;
for my $odd (1, 0)
{
	push @loads, 'SET max_parallel_maintenance_workers = ' . 2 * $odd, map { "COPY $_ FROM '$file' WHERE id % 2 = $odd" } 'used', 'leaves';
}
$primary->safe_psql('postgres', join '; ', "SET log_min_messages = debug1; SET gpusort.copy_indexes = 'empty'", @loads);
$said = slurp_file($primary->logfile, $log);
is(scalar(() = $said =~ /gpusort loaded with [12] workers/g), 2, 'workers load into tables with indexes');
is(scalar(() = $said =~ /gpusort loaded $half rows\n/g), 4, '... and one process, all rows');
is(scalar(() = $said =~ /gpusort inserted into 2 of 2 indexes of "used"/g), 2, '... in the order of keys');
$there = same_on_standby('... the same on a standby');
is($standby->safe_psql('postgres', 'SELECT check_indexes()'), '9 valid', '... with their indexes');

# A crash.
$primary->stop('immediate');
$primary->start;
is($primary->safe_psql('postgres', $all), $there, 'the same after a crash');
is($primary->safe_psql('postgres', $frozen), '0|0|0', '... and frozen');

# A writer beside it: all rows of both are there.
my $writer = $primary->background_psql('postgres');
my $gate = $primary->basedir . '/gate';
my $is_read = 'SELECT coalesce(sum(tuples_processed), 0) > 1000 FROM pg_stat_progress_copy';
system_or_bail('mkfifo', $gate);
$writer->query_safe('TRUNCATE plain');
my $loader = IPC::Run::start([ 'psql', '-XqAt', '-d', $primary->connstr('postgres'), '-c',
		"COPY plain FROM PROGRAM 'head -n 30000 $file; cat $gate; tail -n +30001 $file'" ]);
ok($primary->poll_query_until('postgres', $is_read), 'a load that is in the middle');
$writer->query_safe("INSERT INTO plain VALUES (-$_, 'w')") for 1 .. 100;
open my $opened, '>', $gate or die $!;
close $opened;
$writer->query_safe("INSERT INTO plain VALUES (-$_, 'w')") for 101 .. 200;
$loader->finish;
$writer->quit;
is($primary->safe_psql('postgres', "SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE id < 0) FROM plain"),
	join('|', $rows + 200, $rows + 200, 200), 'a writer beside it');

# Cancelled in the midst of it: nothing is left.
$primary->safe_psql('postgres', 'TRUNCATE plain');
for my $source ("PROGRAM 'cat $file; sleep 60'", "PROGRAM 'sleep 60'")
{
	my $error = '';
	my $load = IPC::Run::start([ 'psql', '-XqAt', '-d', $primary->connstr('postgres'), '-c', "COPY plain FROM $source" ], '2>', \$error, time_limit());
	my $start;

	ok($primary->poll_query_until('postgres', $source =~ /cat/ ? $is_read : 'SELECT count(*) = 1 FROM pg_stat_progress_copy'), "$source: has begun");
	$start = time;
	$primary->safe_psql('postgres', 'SELECT pg_cancel_backend(pid) FROM pg_stat_progress_copy');
	$load->finish;
	like($error, qr/due to user request\nCONTEXT:  COPY plain, line @{[ $source =~ m{cat} ? '[1-9]\\d+' : 1 ]}$/, "$source: cancelled, at a line");
	cmp_ok(time - $start, '<', 40, '... soon');
}
is($primary->safe_psql('postgres', 'SELECT count(*) FROM plain'), 0, '... and nothing left');

# Partitions, each of which is in few chunks: whoever has put rows there, the transaction has it locked, but not what is above, and has counted them.
my $leaves = "(SELECT relid AS leaf FROM pg_partition_tree('ranges') WHERE level > 0) l";
$primary->safe_psql('postgres', "DO \$\$ BEGIN FOR i IN 0 .. 119 LOOP EXECUTE format('CREATE TABLE ranged_%s PARTITION OF ranged FOR VALUES FROM (%s) TO (%s)', i, i * 500 + 1, i * 500 + 501) || CASE WHEN i % 2 = 0 THEN format(' PARTITION BY HASH (id); CREATE TABLE leaf_%s PARTITION OF ranged_%s FOR VALUES WITH (MODULUS 1, REMAINDER 0)', i, i) ELSE '' END; END LOOP; END \$\$");
is($primary->safe_psql('postgres', "BEGIN; COPY ranged FROM '$file';
	SELECT count(*) FROM pg_locks, $leaves WHERE pid = pg_backend_pid() AND relation = leaf AND mode = 'RowExclusiveLock';
	SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = 'ranges'::regclass AND mode = 'RowExclusiveLock';
	SELECT sum(pg_stat_get_xact_tuples_inserted(leaf)) FROM $leaves;
	SELECT count(*), bool_and(id = n) FROM (SELECT id, row_number() OVER (ORDER BY (id - 1) / 500, tableoid, ctid) AS n FROM ranged) r; ROLLBACK"),
	"181\n0\n$rows\n$rows|t", 'partitions, and what is between, that workers have put rows into');

# One that is attached meanwhile.  One that is detached concurrently waits.
$primary->safe_psql('postgres', 'ALTER TABLE ranged DETACH PARTITION ranged_100');
$loader = IPC::Run::start([ 'psql', '-XqAt', '-d', $primary->connstr('postgres'), '-c',
		"COPY ranged FROM PROGRAM 'head -n 30000 $file; cat $gate; tail -n +30001 $file'" ], time_limit());
ok($primary->poll_query_until('postgres', $is_read), 'a load into partitions that is in the middle');
$primary->safe_psql('postgres', 'ALTER TABLE ranged ATTACH PARTITION ranged_100 FOR VALUES FROM (50001) TO (50501)');
my $detacher = IPC::Run::start([ 'psql', '-XqAt', '-d', $primary->connstr('postgres'), '-c', 'ALTER TABLE ranged DETACH PARTITION ranged_1 CONCURRENTLY' ], time_limit());
ok($primary->poll_query_until('postgres', q(SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'ALTER TABLE ranged DETACH%' AND wait_event_type = 'Lock')), 'one waits to detach a partition');
open $opened, '>', $gate or die $!;
close $opened;
$_->finish for $loader, $detacher;
is($primary->safe_psql('postgres', 'SELECT count(*), (SELECT count(*) FROM ranged_1), (SELECT count(*) FROM ranged_100) FROM ranged'), join('|', $rows - 500, 500, 500), 'all rows are there');

# Pages of a new table, and those that an index is built from, stay in shared buffers, as far as a quarter of these goes; those
# of another table go through a ring of 256 buffers, as in PostgreSQL.
sub blocks_read
{
	my ($make, $rows, $before) = @_;
	my $plan = $primary->safe_psql('postgres', "SET max_parallel_maintenance_workers = 0; $make; BEGIN; $before; COPY kept FROM PROGRAM 'cat $file $file | head -n $rows'; EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) SELECT count(*) FROM kept; ROLLBACK; DROP TABLE kept");

	return $plan =~ /Seq Scan.*\n\s+Buffers: shared[^\n]* read=(\d+)/ ? $1 : 0;
}
my $make = 'CREATE TABLE kept (LIKE plain)';
is(blocks_read($make, 25000, 'TRUNCATE kept'), 0, 'pages of a new table are in shared buffers');
is(blocks_read("$make; CREATE INDEX ON kept (id); SET gpusort.copy_indexes = 'empty'", 25000, 'SELECT 1'), 0, '... those of a table with an index');
cmp_ok(blocks_read($make, 25000, 'SELECT 1'), '>', 0, '... and not those of another table');
cmp_ok(blocks_read($make, 90000, 'TRUNCATE kept'), '>', 0, '... nor all of many');

# Without WAL: a table that was made in the same transaction.
$primary->stop;
$primary->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nwal_consistency_checking = ''");
system_or_bail('rm', '-rf', $primary->data_dir . '/pg_replslot/decoded');
$primary->start;
$primary->safe_psql('postgres', "BEGIN; CREATE TABLE fresh (id int4 PRIMARY KEY, t text); COPY fresh FROM '$file'; SAVEPOINT s; COPY plain FROM '$file'; COMMIT; BEGIN; TRUNCATE frozen; COPY frozen FROM '$file' (FREEZE); COMMIT");
$primary->stop('immediate');
$primary->start;
is($primary->safe_psql('postgres', 'SELECT count(*), sum(hashtext(x::text)) FROM fresh x'), "$rows|$sum", 'fresh rows after a crash');
is($primary->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM fresh WHERE id > 100'), $rows - 100, '... and their index');
is($primary->safe_psql('postgres', 'SELECT count(*) FROM plain'), $rows, '... those of a table that was there');
is($primary->safe_psql('postgres', $frozen), '0|0|0', '... and frozen ones');
is($primary->safe_psql('postgres', 'SELECT count(*), sum(hashtext(x::text)) FROM frozen x'), "$rows|$sum", '... all of them');
$primary->stop;
done_testing();
