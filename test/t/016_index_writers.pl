# CREATE INDEX CONCURRENTLY and REINDEX CONCURRENTLY, over and over, beside sessions
# that insert, update, delete and roll back: the indexes have every row.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Utils;
use Test::More;

# at least so long, so many rounds of builds, and so many rows by the writers
my ($seconds, $min_rounds, $min_rows) = (6, 2, 600);
my $node = start_node('main', 'gpusort.force = on', 'maintenance_work_mem = 64MB', 'max_parallel_maintenance_workers = 2',
	'gpusort.slice_pages = 2', 'autovacuum = on', 'autovacuum_naptime = 1s');

create_index_checks($node);
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE w (id bigserial, k int, s text COLLATE "C", other int DEFAULT 0, pad text DEFAULT repeat('x', 200))
		WITH (parallel_workers = 2);
	INSERT INTO w (k, s) SELECT i % 3000, md5(i::text) FROM generate_series(1, 30000) i;
	-- free pages, so that new versions of rows lie behind the old ones, where scans come later
	DELETE FROM w WHERE id > 20000;
	INSERT INTO w (id, k, s) VALUES (90000, 1, 'keeps the table from being truncated');
	VACUUM w;
	CREATE UNIQUE INDEX w_id ON w (id);
	ALTER TABLE w ADD EXCLUDE USING btree (s WITH =, id WITH =);
	VACUUM ANALYZE));

# A transaction changes one old row, so that nobody waits for each other in a circle.
my $script = $node->basedir . '/writers.sql';
append_to_file($script, q(\set k random(1, 3000)
\set what random(1, 6)
BEGIN;
INSERT INTO w (k, s) VALUES (:k, md5(:k::text || clock_timestamp()));
\if :what = 1
UPDATE w SET s = s || 'x' WHERE id = :k * 3;
\elif :what = 2
UPDATE w SET k = k + 1 WHERE id = :k * 5;
\elif :what = 3
UPDATE w SET other = other + 1 WHERE id = :k * 7;
\elif :what = 4
DELETE FROM w WHERE id = :k;
\elif :what = 5
\sleep 20 ms
UPDATE w SET k = k - 1 WHERE id = :k * 2;
\sleep 20 ms
\else
UPDATE w SET k = -k, other = 0 WHERE id = :k * 4;
ROLLBACK;
BEGIN;
\endif
INSERT INTO w (k, s) VALUES (:k, md5(:k::text || clock_timestamp()));
COMMIT;
));

my ($err, $transactions) = ('', '');
my $writers = IPC::Run::start([ 'pgbench', '-n', '-c', '4', '-T', 1000, '-f', $script,
		$node->connstr('postgres') . ' application_name=writer' ],
	'>', \$transactions, '2>', \$err, time_limit());
my @built;
my @problems;
my $failures = 0;
my $rounds = 0;
my $end = time + $seconds;
my $written = 'SELECT last_value - 30000 FROM w_id_seq';

$node->poll_query_until('postgres', q(SELECT count(*) = 4 FROM pg_stat_activity WHERE application_name = 'writer'));
while ($rounds < $min_rounds || time < $end || $node->safe_psql('postgres', $written) < $min_rows)
{
	eval { $writers->pump_nb };
	if (!$writers->pumpable)
	{
		push @problems, 'writers have ended';
		last;
	}
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS w_k, w_s, w_partial, w_expression');
	my ($out, $errors) = session_of($node, 'SET max_parallel_maintenance_workers = ' . $rounds % 2 * 2,
		'CREATE INDEX CONCURRENTLY w_k ON w (k)',
		'CREATE UNIQUE INDEX CONCURRENTLY w_s ON w (s DESC, id) INCLUDE (other)',
		'CREATE INDEX CONCURRENTLY w_partial ON w (k DESC) WHERE id % 3 = 0',
		'CREATE INDEX CONCURRENTLY w_expression ON w ((k % 100), lower(s))',
		'REINDEX INDEX CONCURRENTLY w_id', 'REINDEX INDEX CONCURRENTLY w_k', 'REINDEX INDEX CONCURRENTLY w_s',
		'CREATE UNIQUE INDEX CONCURRENTLY w_violated ON w (k)',
		'DROP INDEX w_violated', 'SELECT built, slices > built FROM gpusort_index_builds()');

	$failures++ if $errors =~ s/^.*could not create unique index "w_violated"\nDETAIL:.*\n?//m;
	push @problems, $errors if $errors ne '';
	push @built, $out;
	$rounds++;
}
end_pgbench($writers);
note "$rounds rounds";
is_deeply(\@problems, [], 'builds: no error');
is($failures, $rounds, 'but violations of uniqueness are found');
is_deeply(\@built, [ map { $_ % 2 ? '7|t' : '7|f' } 0 .. $rounds - 1 ], 'all are built by gpusort, every other time in slices');
is($err =~ /aborted|ERROR/ ? $err : '', '', 'writers: no error');
like($transactions, qr/actually processed: [1-9]\d\d/, 'writers: hundreds of transactions');
is($node->safe_psql('postgres', q(SELECT string_agg(indexrelid::regclass::text, ' ') FROM pg_index WHERE NOT indisvalid)), '', 'no index is invalid');
is($node->safe_psql('postgres', 'SELECT check_indexes()'), '6 valid', 'the indexes have all rows, and no others');
$node->safe_psql('postgres', 'VACUUM w');
is($node->safe_psql('postgres', 'SELECT check_indexes()'), '6 valid', 'and are vacuumed');
unlike(slurp_file($node->logfile), qr/PANIC|TRAP|was terminated|resource was not closed|leak/, 'nothing odd in the log');
$node->stop;
done_testing();
