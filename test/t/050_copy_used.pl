# COPY FROM into a table that others use: keys that are just being inserted, rows between ours, a crash.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.force = on', 'max_parallel_maintenance_workers = 2', 'shared_buffers = 16MB', 'log_min_messages = debug1');
my $file = $node->data_dir . '/rows';
my $rows = 40000;
my $checks = q(SELECT count(bt_index_check(indexrelid, true)) FROM pg_index WHERE indrelid = 'used'::regclass);

$node->safe_psql('postgres', qq(
	CREATE EXTENSION amcheck;
	CREATE TABLE used (id int4 PRIMARY KEY, k int8, t text);
	ALTER TABLE used ALTER t SET STORAGE PLAIN;
	CREATE INDEX ON used (k);
	INSERT INTO used SELECT -i, i, 'there' FROM generate_series(1, 1000) i;
	COPY (SELECT i, hashint8extended(i, 1), repeat(md5(i::text), 2) FROM generate_series(1, $rows) i ORDER BY hashint4(i)) TO '$file'));
my $lines = $node->safe_psql('postgres', "SELECT string_agg(n::text, ' ' ORDER BY n) FROM (SELECT id, row_number() OVER () AS n FROM (SELECT i AS id FROM generate_series(1, $rows) i ORDER BY hashint4(i)) r) l WHERE id IN (300, 30000)");
my ($first) = split / /, $lines;
my $first_id = $node->safe_psql('postgres', "SELECT i FROM generate_series(1, $rows) i ORDER BY hashint4(i) LIMIT 1 OFFSET $first - 1");
my $other_id = $first_id == 300 ? 30000 : 300;

# A COPY, in a session of its own; what it says.
sub begin_copy
{
	my ($said, $table, $source, @settings) = @_;
	return IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), (map { ('-c', $_) } @settings, "COPY $table FROM $source") ], '>', '/dev/null', '2>', $said, time_limit());
}

sub waits
{
	my ($table, $event) = @_;
	return $node->poll_query_until('postgres', qq(SELECT count(*) = 1 FROM pg_stat_activity WHERE query LIKE 'COPY $table%' AND wait_event = '$event'));
}

# How many rows of the input are before one that they should be behind.
sub misplaced
{
	my ($table) = @_;
	return $node->safe_psql('postgres', "SELECT count(*) FROM (SELECT hashint4(id) < lag(hashint4(id)) OVER (ORDER BY ctid) AS is_wrong FROM $table WHERE id BETWEEN 1 AND $rows) r WHERE is_wrong");
}

# Somebody else inserts keys that are in the input, and has not decided yet.
for my $end ('ROLLBACK', 'COMMIT')
{
	my $said = '';
	my $other = $node->background_psql('postgres');
	my $log = -s $node->logfile;

	$other->query_safe('BEGIN');
	$other->query_safe("INSERT INTO used VALUES ($_, 0, 'other')") for $other_id, $first_id;
	my $copy = begin_copy(\$said, 'used', "'$file'");
	ok(waits('used', 'transactionid'), "a COPY that waits for another session, $end");
	$other->query_safe($end);
	$copy->finish;
	$other->quit;
	like(slurp_file($node->logfile, $log), qr/gpusort loaded with [12] workers/, '... is by several processes');
	if ($end eq 'ROLLBACK')
	{
		is($said, '', '... and goes on');
		is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM used'), join('|', $rows + 1000, $rows + 1000), '... with all rows');
		is($node->safe_psql('postgres', $checks), 2, '... in all indexes');
		$node->safe_psql('postgres', 'DELETE FROM used WHERE id > 0');
	}
	else
	{
		is($said, qq(ERROR:  duplicate key value violates unique constraint "used_pkey"\nDETAIL:  Key (id)=($first_id) already exists.\nCONTEXT:  COPY used, line $first\n), '... and tells of the first line');
		$node->safe_psql('postgres', 'DELETE FROM used WHERE id > 0');
		is($node->safe_psql('postgres', $checks), 2, '... while indexes are in order');
	}
}

# Two of the same rows: one waits for the other, at a key that this one is past.
my @said = ('', '');
my @copies = map { begin_copy(\$said[$_], 'used', "'$file'", 'SET deadlock_timeout = 100') } 0, 1;
$_->finish for @copies;
is(scalar(grep { /duplicate key/ } @said), 1, 'two loads of the same rows: one is too late');
is(scalar(grep { $_ eq '' } @said), 1, '... and the other one is not');
$node->safe_psql('postgres', 'DELETE FROM used WHERE id > 0');

# It does not wait any longer.
my $said = '';
my $other = $node->background_psql('postgres');
$other->query_safe('BEGIN');
$other->query_safe("INSERT INTO used VALUES ($first_id, 0, 'other')");
begin_copy(\$said, 'used', "'$file'", 'SET lock_timeout = 100')->finish;
like($said, qr/ERROR:  canceling statement due to lock timeout\nCONTEXT:  (?:waiting for ShareLock on transaction \d+\n)?while inserting index tuple \(\d+,\d+\) in relation "used_pkey"\nCOPY used, line $first\n/, 'a timeout, at the line');
$other->query_safe('ROLLBACK');

# While it waits there is no page that others have to wait for.
$said = '';
$node->safe_psql('postgres', 'CREATE TABLE waited (LIKE used); CREATE UNIQUE INDEX ON waited ((id + 0)); INSERT INTO waited SELECT * FROM used LIMIT 5');
$other->query_safe('BEGIN');
$other->query_safe("INSERT INTO waited VALUES ($first_id, 0, 'other')");
my $waiting = begin_copy(\$said, 'waited', "'$file'");
ok(waits('waited', 'transactionid'), 'an index of an expression');
is($node->safe_psql('postgres', "SET statement_timeout = '60s'; VACUUM (FREEZE) waited; SELECT 'done'"), 'done', '... does not keep VACUUM waiting');
$other->query_safe('ROLLBACK');
$waiting->finish;
is($said . $node->safe_psql('postgres', 'SELECT count(*) FROM waited'), $rows + 5, '... and goes on');

my $gate = $node->basedir . '/gate';
system_or_bail('mkfifo', $gate);

# Somebody else inserts the key of the first line, while more lines are awaited: who is refused, and whether it waits.
my $id_of_line_1 = $node->safe_psql('postgres', "SELECT i FROM generate_series(1, $rows) i ORDER BY hashint4(i) LIMIT 1");
sub late_key
{
	my (@settings) = @_;
	my ($copied, $inserted) = ('', '');
	my $copy = begin_copy(\$copied, 'late', "PROGRAM 'head -n 20000 $file; cat $gate; tail -n +20001 $file'", @settings);

	$node->poll_query_until('postgres', 'SELECT coalesce(sum(tuples_processed), 0) > 1000 FROM pg_stat_progress_copy') or die 'nothing is loaded';
	my $insert = IPC::Run::start([ 'psql', '-XqAt', '-d', $node->connstr('postgres'), '-c', "INSERT INTO late VALUES ($id_of_line_1, 0, 'late')" ], '>', '/dev/null', '2>', \$inserted, time_limit());
	# it has come to its end, or has to wait
	$node->poll_query_until('postgres', "SELECT EXISTS (TABLE waiting_inserts) OR EXISTS (SELECT FROM late WHERE t = 'late')") or die 'it is in the middle';
	my $waits = $node->safe_psql('postgres', 'SELECT count(*) FROM waiting_inserts');
	open my $opened, '>', $gate or die $!;
	close $opened;
	$_->finish for $copy, $insert;
	my $rows = $node->safe_psql('postgres', 'SELECT count(*) FROM late');
	$node->safe_psql('postgres', 'TRUNCATE late');
	return join '; ', map { s/\n.*//sr } "waits $waits", "copy $copied", "insert $inserted", "rows $rows";
}

my $exists = 'ERROR:  duplicate key value violates unique constraint "late_pkey"';
my $first_wins = "waits 1; copy ; insert $exists; rows $rows";
$node->safe_psql('postgres', q(CREATE TABLE late (id int4 PRIMARY KEY, k int8, t text); CREATE VIEW waiting_inserts AS SELECT pid FROM pg_stat_activity WHERE query LIKE 'INSERT INTO late%' AND wait_event = 'transactionid'));
is(late_key('SET gpusort.enable_copy = off'), $first_wins, 'a key that is loaded already: PostgreSQL has others wait');
is(late_key('SET gpusort.copy_indexes = only_new'), $first_wins, '... and so do loads into new tables only');
is(late_key(), "waits 0; copy $exists; insert ; rows 1", '... which otherwise are too late');

# Others put rows between ours, and some of ours are refused.  A row is refused in the chunk whose first page is not to be had.
for my $last ($rows, 500)
{
	$said = '';
	my $copy = begin_copy(\$said, 'used', "PROGRAM 'head -n 20000 $file; cat $gate; tail -n +20001 $file | head -n 100; printf \"%d\\\\t0\\\\tx\\\\n\" -$last; tail -n +20101 $file'");
	ok($node->poll_query_until('postgres', 'SELECT coalesce(sum(tuples_processed), 0) > 1000 FROM pg_stat_progress_copy'), 'a load that is in the middle');
	# one that looks for an empty page finds the last one, which was to be ours
	my $last_page = $node->safe_psql('postgres', "SELECT pg_relation_size('used') / current_setting('block_size')::int4 - 1");
	is($node->safe_psql('postgres', "INSERT INTO used VALUES (2000000, 0, repeat('x', 7000)) RETURNING ctid"), "($last_page,1)", '... whose last page is taken');
	$other->query_safe("INSERT INTO used SELECT 1000000 + i, i, 'beside' FROM generate_series(1, 3000) i");
	open my $opened, '>', $gate or die $!;
	close $opened;
	$other->query_safe("INSERT INTO used VALUES (1000000 + $_, $_, 'beside')") for 3001 .. 3100;
	$copy->finish;
	is($node->safe_psql('postgres', $checks), 2, 'a writer beside it, and all is in the indexes');
	is($node->safe_psql('postgres', 'SELECT count(*), count(DISTINCT id) FROM used'), $last == $rows ? join('|', ($rows + 4102) x 2) : '4101|4101', '... and in the table');
	is(misplaced('used'), 0, '... in the order of the lines') if $last == $rows;
	like($said, $last == $rows ? qr/^$/ : qr/already exists\.\nCONTEXT:  COPY used, line 20101\n/, '... and errors');
	$node->safe_psql('postgres', "DELETE FROM used WHERE id > 0 OR id = -$rows");
}

# Others fill the page that was to be gone on with, while the first row waits for the TOAST table.
$said = '';
$node->safe_psql('postgres', "CREATE TABLE continued (LIKE used); ALTER TABLE continued ALTER t SET STORAGE EXTERNAL; INSERT INTO continued VALUES (-1, 0, 'there')");
my $toast = $node->safe_psql('postgres', q(SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'continued'));
$other->query_safe('BEGIN');
$other->query_safe("REINDEX TABLE $toast");
my $continuing = begin_copy(\$said, 'continued', "PROGRAM 'head -n 1 $file | tr -d \"\\\\n\"; head -c 3000 /dev/zero | tr \"\\\\0\" x; echo; tail -n +2 $file'");
ok(waits('continued', 'relation'), 'a load that goes on in a page');
$node->safe_psql('postgres', "INSERT INTO continued SELECT -i, i, 'beside' FROM generate_series(2, 1000) i");
$other->query_safe('COMMIT');
$continuing->finish;
is($said . $node->safe_psql('postgres', 'SELECT count(*) FROM continued'), $rows + 1000, '... which others fill');
is(misplaced('continued'), 0, '... keeps the order of the lines');
$other->quit;

# A crash.
$node->safe_psql('postgres', "COPY used FROM '$file'");
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', $checks), 2, 'indexes after a crash');
is($node->safe_psql('postgres', 'SET enable_seqscan = off; SELECT count(*) FROM used WHERE id > 0'), $rows, '... have all rows');
$node->stop;
done_testing();
