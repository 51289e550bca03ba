# REPACK, of PostgreSQL 19: tables are written again by it, in an index's order or beside
# sessions that write, and their indexes built by gpusort.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.force = on', 'maintenance_work_mem = 64MB', 'max_parallel_maintenance_workers = 2',
	'wal_level = logical', 'max_wal_senders = 4', 'gpusort.slice_pages = 2');

if ($node->safe_psql('postgres', 'SHOW server_version_num') < 190000)
{
	$node->stop;
	plan skip_all => 'there is no REPACK';
}

create_index_checks($node);
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE r (id bigserial PRIMARY KEY, k int, s text COLLATE "C", pad text DEFAULT repeat('x', 100)) WITH (parallel_workers = 2);
	INSERT INTO r (k, s) SELECT hashint4(i) % 3000, md5(i::text) FROM generate_series(1, 40000) i;
	CREATE INDEX r_k ON r (k DESC, id);
	CREATE UNIQUE INDEX r_s ON r (s) INCLUDE (k);
	CREATE INDEX r_partial ON r (k) WHERE id % 3 = 0;
	CREATE INDEX r_expression ON r ((k % 100), upper(s));
	DELETE FROM r WHERE id % 4 = 0;
	VACUUM ANALYZE r));
my $rows = $node->safe_psql('postgres', 'SELECT count(*), sum(hashtextextended(r::text, 0)) FROM r');

# All five indexes are built again, and the rows are what they were, in the index's order, which
# gpusort has put them into, or in that before: what does not sort, and what runs beside writers, is
# PostgreSQL's.
for my $case (
	[ 'REPACK r', 0, 0, 'id' ],
	[ 'REPACK r', 2, 0, 'id' ],
	[ 'REPACK (ANALYZE) r USING INDEX r_k', 0, 1, 'k DESC, id' ],
	[ 'REPACK r USING INDEX', 2, 1, 'k DESC, id' ],
	[ 'CLUSTER r USING r_s', 0, 1, 's' ],
	[ 'VACUUM FULL r', 2, 0, 's' ],
	[ 'REPACK r USING INDEX r_expression', 2, 1, 'k % 100, upper(s)' ],
	[ 'VACUUM FULL r', 0, 0, 'k % 100, upper(s)' ],
	[ 'REPACK (CONCURRENTLY) r', 0, 0, 'k % 100, upper(s)' ],
	[ 'REPACK (CONCURRENTLY) r USING INDEX r_s', 2, 0, 's' ])
{
	my ($command, $workers, $sorted, $order) = @$case;
	my ($out, $err) = session_of($node, "SET max_parallel_maintenance_workers = $workers", $command,
		'SELECT built, given_up FROM gpusort_index_builds()', 'SELECT sorted, given_up, 0 FROM gpusort_clusters()');

	is($err, '', "$command, $workers workers: no error");
	like($out, qr/^5\|0$/m, "$command: all indexes are built by gpusort");
	like($out, qr/^$sorted\|0\|0$/m, "$command: " . ($sorted ? 'gpusort sorts the rows' : 'PostgreSQL copies the rows'));
	is($node->safe_psql('postgres', "SELECT count(*) FROM (SELECT ctid, lag(ctid) OVER (ORDER BY $order) AS before FROM r) o WHERE ctid < before"),
		0, "$command: they lie in order");
	is($node->safe_psql('postgres', 'SELECT check_indexes()'), '5 valid', "$command: they are right");
	is($node->safe_psql('postgres', 'SELECT count(*), sum(hashtextextended(r::text, 0)) FROM r'), $rows, "$command: so are the rows");
}

# Beside sessions that write
my $script = $node->basedir . '/writers.sql';
append_to_file($script, q(\set k random(1, 40000)
INSERT INTO r (k, s) VALUES (:k, md5(:k::text || clock_timestamp()));
UPDATE r SET k = k + 1 WHERE id = :k - :k % 4 + :client_id;
DELETE FROM r WHERE id = :k + 1 AND :k % 7 = 0;
));
my ($err, $transactions) = ('', '');
my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', '3', '-T', '1000', '-f', $script,
		$node->connstr('postgres') . ' application_name=writer' ],
	'>', \$transactions, '2>', \$err, time_limit());
my ($rounds, $problems, $built) = (0, '', 0);
my $end = time + 6;

$node->poll_query_until('postgres', q(SELECT count(*) = 3 FROM pg_stat_activity WHERE application_name = 'writer'));
while ($writers->pumpable && ($rounds < 2 || time < $end || $node->safe_psql('postgres', 'SELECT last_value - 40000 FROM r_id_seq') < 300))
{
	eval { $writers->pump_nb };
	my ($out, $errors) = session_of($node, 'REPACK (CONCURRENTLY) r' . ($rounds % 2 ? ' USING INDEX r_k' : ''),
		'SELECT built FROM gpusort_index_builds()');

	$problems .= $errors;
	$built += $1 if $out =~ /^(\d+)$/m;
	$rounds++;
}
end_pgbench($writers);
note "$rounds rounds";
is($problems, '', 'beside writers: no error');
is($built, 5 * $rounds, 'beside writers: all indexes are built by gpusort');
is($err =~ /aborted|ERROR/ ? $err : '', '', 'writers: no error');
like($transactions, qr/actually processed: [1-9]\d\d/, 'writers: hundreds of transactions');
is($node->safe_psql('postgres', 'SELECT check_indexes()'), '5 valid', 'the indexes have all rows, and no others');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|was terminated|resource was not closed|leak/, 'nothing odd in the log');
$node->stop;
done_testing();
