# Workers that help one process to sort, refine ties and verify: whatever the keys and whoever reads the rows, the answer is
# PostgreSQL's, and nothing is left of them.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 128MB', 'gpusort.force = on', 'max_worker_processes = 12', 'max_parallel_workers = 12',
	'max_parallel_workers_per_gather = 0', 'max_parallel_maintenance_workers = 3', 'gpusort.max_sort_workers = 3', 'gpusort.min_sort_worker_rows = 1000');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE COLLATION en (provider = libc, locale = 'en_US.UTF-8');
	CREATE TABLE t AS SELECT i, hashint8extended(i, 0) AS h, CASE WHEN i % 11 <> 0 THEN i % 100 END AS few, 'a/b/' || hashint4(i) % 5000 AS s,
			hashint8(i)::numeric / 7 AS n, i % 2 = 0 AS b, 'https://www.example' || i % 3 || '.com/' || hashint4(i) % 5000 AS l FROM generate_series(1, 40000) i;
	CREATE TABLE empty_keys AS SELECT i, 1 AS one FROM generate_series(1, 5000) i;
	CREATE FUNCTION retried() RETURNS bigint LANGUAGE plpgsql AS $$
		DECLARE found bigint;
		BEGIN
			BEGIN
				SELECT 1 / (count(*) - 40000) INTO found FROM (SELECT h FROM t ORDER BY h OFFSET 0) s;
			EXCEPTION WHEN division_by_zero THEN
				SELECT sum(r * (h % 1000)) % 1000003 INTO found FROM (SELECT h, row_number() OVER (ORDER BY h) AS r FROM t) s;
			END;
			RETURN found;
		END $$;
	VACUUM ANALYZE));
my $pool_bytes = service($node, 'pool_bytes_free');
my @with_few = ('gpusort.min_sort_worker_rows' => 30000);

# How many processes have sorted, of each sort of a query.
sub processes_of
{
	return join ' ', analyzed_plan_of($node, @_) =~ /Engine: host  Processes: (\d+)/g;
}

tables_stay();
for my $query ('SELECT h FROM t ORDER BY h', 'SELECT * FROM t ORDER BY h DESC', 'SELECT * FROM t ORDER BY few NULLS FIRST, h', 'SELECT * FROM t ORDER BY s COLLATE "C", i',
	'SELECT * FROM t ORDER BY s, i DESC', 'SELECT * FROM t ORDER BY n, i', 'SELECT i FROM t ORDER BY i', 'SELECT i FROM t ORDER BY i DESC', 'SELECT * FROM t ORDER BY b, few, s DESC, i',
	'SELECT * FROM empty_keys ORDER BY one, i', 'SELECT * FROM t ORDER BY l COLLATE "C", i', 'SELECT * FROM t ORDER BY l COLLATE en DESC, i', 'SELECT * FROM t ORDER BY l COLLATE "en-x-icu", h')
{
	same_answer($node, $query, $query);
	same_answer($node, $query, "$query, verified", 'gpusort.verify' => 'on');
	like(processes_of($query), qr/^[2-4]$/, "$query: by several processes");
}
for my $query ('SELECT * FROM t ORDER BY h DESC', 'SELECT * FROM t ORDER BY s, i DESC', 'SELECT * FROM t ORDER BY l COLLATE en, i')
{
	same_answer($node, $query, "$query, in a small pool", 'gpusort.pool_quota' => 3);
	same_answer($node, $query, "$query, spilled", 'gpusort.pool_quota' => 3, work_mem => '64kB');
}
same_answer($node, 'SELECT h, count(*), rank() OVER (ORDER BY h) FROM (SELECT DISTINCT few AS h FROM t) s GROUP BY h ORDER BY h', 'distinct values', 'enable_hashagg' => 'off');
like(processes_of('SELECT * FROM t ORDER BY h', @with_few), qr/^[2-3]$/, 'each has its share of the rows');
is(processes_of('SELECT * FROM t ORDER BY h', 'gpusort.min_sort_worker_rows' => 50000), '', 'few rows are sorted by one');
is(processes_of('SELECT * FROM t WHERE i <= 15 ORDER BY h', 'gpusort.min_sort_worker_rows' => 2), '', 'too few for several, also where that is forced');
is(processes_of('SELECT * FROM t ORDER BY h', 'gpusort.max_sort_workers' => 0), '', 'none are wanted');
is(processes_of('SELECT * FROM t ORDER BY h', 'max_parallel_workers' => 0), '', 'none are to be had');
is(processes_of('SELECT * FROM t ORDER BY h', 'gpusort.max_sort_workers' => -1), '', 'as many as a Gather has, which are none');
like(processes_of('SELECT * FROM t ORDER BY h', 'gpusort.max_sort_workers' => -1, max_parallel_workers_per_gather => 2, 'gpusort.enable_parallel_collect' => 'off'),
	qr/^[2-3]$/, 'as many as a Gather has');
same_answer($node, 'SELECT * FROM t ORDER BY h', 'none to be had', 'max_parallel_workers' => 0);

is($node->safe_psql('postgres', 'SELECT retried()'), run_with($node, 'SELECT retried()', 'gpusort.enabled' => 'off'), 'in a function that catches an error');
is($node->safe_psql('postgres', 'BEGIN; DECLARE c CURSOR FOR SELECT h FROM t ORDER BY h; MOVE 39999 IN c; FETCH c; COMMIT'),
	$node->safe_psql('postgres', 'SELECT max(h) FROM t'), 'a cursor');

# Workers can't read what a temporary table has toasted, but sort the beginnings of it.
for my $persistence ('TEMPORARY', 'UNLOGGED')
{
	my ($ours, $theirs) = map { join "\n", session_of($node, 'BEGIN', "CREATE $persistence TABLE wide (i int, w text COLLATE \"C\")", 'ALTER TABLE wide ALTER w SET STORAGE EXTERNAL',
		q(INSERT INTO wide SELECT i, repeat('wide ' || i % 20 || ' ', 600) || i % 13 FROM generate_series(1, 3000) i), "SET gpusort.enabled = $_", 'SET gpusort.verify = on',
		q(SELECT md5(string_agg(i::text, ' ')) FROM (SELECT i FROM wide ORDER BY w, i OFFSET 0) s), 'ROLLBACK') } 'on', 'off';

	like($theirs, qr/^[0-9a-f]{32}$/m, "$persistence: an answer");
	is($ours, $theirs, "$persistence: toasted strings");
}

my ($out, $err) = session_of($node, 'CREATE INDEX t_h ON t (h)', 'CREATE UNIQUE INDEX t_s ON t (s COLLATE "C", i)', 'CREATE INDEX t_l ON t (l COLLATE "C")', 'CREATE INDEX t_few ON t (few)',
	q(SELECT count(bt_index_check(c, true)) FROM unnest('{t_h,t_s,t_few,t_l}'::regclass[]) c), 'CREATE UNIQUE INDEX t_twice ON t (few)', 'CLUSTER t USING t_h',
	q(SELECT count(bt_index_check(c, true)) FROM unnest('{t_h,t_s,t_few,t_l}'::regclass[]) c));
is($out, "4\n4", 'indexes are whole');
like($err, qr/^ERROR:  could not create unique index "t_twice"\nDETAIL:  Key \(few\)=\(\d+\) is duplicated\.$|^psql.*could not create unique index "t_twice"/m, 'one is refused');

# The session goes on after each of these, and so does the transaction after the savepoint.
($out, $err) = session_of($node, 'SET gpusort.inject_fault = slow_slices', 'BEGIN', 'SAVEPOINT s', q(SET LOCAL statement_timeout = '250ms'), 'SELECT h FROM t ORDER BY h OFFSET 39999',
	'ROLLBACK TO s', 'SET gpusort.inject_fault = none', reset_timeout(), 'SELECT count(*) FROM (SELECT h FROM t ORDER BY h OFFSET 1) s', 'COMMIT');
like($err, qr/canceling statement due to statement timeout/, 'cancelled between two phases');
like($out, qr/^39999$/m, 'and the transaction goes on');
nothing_is_left($node, $pool_bytes, 'at the end');
ok($node->poll_query_until('postgres', q(SELECT count(*) = 0 FROM pg_stat_activity WHERE backend_type = 'parallel worker')), 'no worker is left');
done_testing;
