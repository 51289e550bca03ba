# Dump and restore of a database with indexes of all kinds: the same indexes, valid,
# built by gpusort, and the same answers; no need for the extension afterwards.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', { extra => ['--locale=C'] }, 'gpusort.force = on', 'maintenance_work_mem = 64MB',
	'log_min_messages = debug1', 'wal_level = minimal', 'max_wal_senders = 0');

create_index_checks($node);
$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
	CREATE DOMAIN small AS int CHECK (VALUE >= 0);
	CREATE COLLATION ignore_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	CREATE TABLE t (id int8 PRIMARY KEY, few small, k int8, n numeric, s text COLLATE "C", i text COLLATE "en-x-icu", c text COLLATE ignore_case,
		u uuid UNIQUE, m mood, ts timestamptz, b bytea, f float8, gaps int,
		CONSTRAINT t_few_unique UNIQUE (few, id) INCLUDE (k) DEFERRABLE INITIALLY DEFERRED,
		CONSTRAINT t_exclude EXCLUDE USING btree (k WITH =));
	INSERT INTO t SELECT i, i % 100, hashint8(i)::int8 * 1000003 + i, i / 7.0, md5(i::text), left(md5((i / 2)::text), 12),
		upper(left(md5(i::text), 9)), md5(i::text)::uuid, (ARRAY['sad', 'ok', 'happy']::mood[])[i % 3 + 1], '2000-01-01 UTC'::timestamptz + i * interval '17 min',
		decode(md5(i::text), 'hex'), i % 977 / 7.0, CASE WHEN i % 5 > 0 THEN i % 777 END
	FROM generate_series(1, 8000) i;
	CREATE INDEX t_few ON t (few);
	CREATE INDEX t_few_plain ON t (few DESC NULLS LAST) WITH (deduplicate_items = off, fillfactor = 60);
	CREATE INDEX t_n ON t (n DESC, few) INCLUDE (s);
	CREATE UNIQUE INDEX t_s ON t (s, id DESC);
	CREATE INDEX t_s_pattern ON t (s text_pattern_ops);
	CREATE INDEX t_i ON t (i);
	CREATE INDEX t_c ON t (c NULLS FIRST);
	CREATE INDEX t_m ON t (m, ts);
	CREATE INDEX t_ts ON t (ts DESC);
	CREATE INDEX t_b ON t (b);
	CREATE INDEX t_f ON t (f);
	CREATE UNIQUE INDEX t_gaps ON t (gaps, id) NULLS NOT DISTINCT;
	CREATE INDEX t_gaps_first ON t (gaps NULLS FIRST);
	CREATE INDEX t_expression ON t ((k % 1000), lower(s));
	CREATE INDEX t_partial ON t (k) WHERE few < 10;
	CREATE INDEX t_array ON t ((ARRAY[id]));
	CREATE INDEX t_hash ON t USING hash (k);
	CREATE TABLE p (id int, region int, k int8, PRIMARY KEY (region, id)) PARTITION BY LIST (region);
	CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
	CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
	INSERT INTO p SELECT id, id % 2 + 1, k FROM t;
	CREATE INDEX p_k ON p (k);
	CREATE TABLE child (id int8 PRIMARY KEY, t int8 REFERENCES t (id));
	INSERT INTO child SELECT id, 8001 - id FROM t;
	CREATE UNLOGGED TABLE unlogged (k int8 PRIMARY KEY);
	INSERT INTO unlogged SELECT k FROM t;
	CREATE MATERIALIZED VIEW v AS SELECT few, count(*) AS n FROM t GROUP BY few;
	CREATE UNIQUE INDEX v_few ON v (few);
	ALTER TABLE t CLUSTER ON t_ts;
	ANALYZE));

my $definitions = q(SELECT string_agg(pg_get_indexdef(indexrelid) || concat_ws(' ', indisvalid, indisunique, indisprimary, indisclustered, indisreplident), E'\n'
		ORDER BY indexrelid::regclass::text)
	FROM pg_index WHERE indrelid >= 16384 AND indexrelid::regclass::text !~ 'toast');
my $constraints = q(SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), E'\n' ORDER BY conrelid::regclass::text, conname)
	FROM pg_constraint WHERE conrelid >= 16384);
my $sizes = q(SELECT string_agg(format('%s %s', indexrelid::regclass, pg_relation_size(indexrelid)), E'\n' ORDER BY indexrelid::regclass::text)
	FROM pg_index WHERE indrelid >= 16384 AND indexrelid::regclass::text !~ 'toast');
my @queries = ('SELECT * FROM t WHERE few = 17 ORDER BY k', q(SELECT * FROM t WHERE s LIKE 'a1%' ORDER BY s), 'SELECT n, few, s FROM t WHERE n BETWEEN 100 AND 200 ORDER BY n DESC, few',
	q(SELECT id, c FROM t WHERE c = 'C4CA4238A' ORDER BY id), 'SELECT id FROM t WHERE k % 1000 = 7 ORDER BY id', 'SELECT * FROM p WHERE region = 2 AND id < 900 ORDER BY id',
	q(SELECT m, count(*) FROM t WHERE m > 'sad' GROUP BY m ORDER BY m), 'SELECT gaps FROM t WHERE gaps IS NULL OR gaps > 700 ORDER BY gaps NULLS FIRST',
	'SELECT * FROM v ORDER BY few');
my $answers = join ";\n", 'SET enable_seqscan = off', map { "SELECT md5(string_agg(q::text, ' ')) FROM ($_) q" } @queries;

my %original = (
	definitions => $node->safe_psql('postgres', $definitions), constraints => $node->safe_psql('postgres', $constraints),
	answers => $node->safe_psql('postgres', $answers), indexes => $node->safe_psql('postgres', 'SELECT check_indexes()'));
like($original{indexes}, qr/^2\d valid$/, 'the original: indexes are valid');

my $dump = $node->basedir . '/dump';
my @connection = ('-h', $node->host, '-p', $node->port);

run_log([ 'pg_dump', @connection, '-f', "$dump.sql", 'postgres' ]);
run_log([ 'pg_dump', @connection, '-Fc', '-f', "$dump.custom", 'postgres' ]);

sub restore_plain
{
	my ($database) = @_;

	return [ 'psql', '-XqAt', '-v', 'ON_ERROR_STOP=1', @connection, '-f', "$dump.sql", $database ];
}

sub restore_parallel
{
	my ($database) = @_;

	return [ 'pg_restore', '--exit-on-error', '-j2', @connection, '-d', $database, "$dump.custom" ];
}

# What restoring with PostgreSQL alone leaves, to compare sizes with.
$node->safe_psql('postgres', 'CREATE DATABASE postgres_alone TEMPLATE template0');
$node->safe_psql('postgres', 'ALTER DATABASE postgres_alone SET gpusort.enabled = off');
ok(run_log(restore_plain('postgres_alone')), 'restored by PostgreSQL alone');
my $postgres_sizes = $node->safe_psql('postgres_alone', $sizes);

for my $case ([ 'plain', \&restore_plain ], [ 'parallel', \&restore_parallel ])
{
	my ($database, $restore) = @$case;

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	my $log_end = -s $node->logfile;
	ok(run_log($restore->($database)), "$database: restored");
	my $log = substr slurp_file($node->logfile), $log_end;
	my %built = map { $_ => 1 } $log =~ /gpusort: built index "(\w+)"/g;
	my %left = map { $_ => 1 } $log =~ /gpusort: left index "(\w+)"/g;

	is(join(' ', sort keys %built), $node->safe_psql($database, q(SELECT string_agg(relname, ' ' ORDER BY relname COLLATE "C")
		FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
		WHERE indrelid >= 16384 AND relkind = 'i' AND relam = 403 AND relname !~ 'toast|t_array')), "$database: built by gpusort");
	is(join(' ', grep { !/^pg_/ } sort keys %left), 't_array', "$database: not built by gpusort");
	is($node->safe_psql($database, $definitions), $original{definitions}, "$database: the same indexes");
	is($node->safe_psql($database, $constraints), $original{constraints}, "$database: the same constraints");
	is($node->safe_psql($database, $sizes), $postgres_sizes, "$database: of the same sizes as PostgreSQL's");
	is($node->safe_psql($database, "SET gpusort.enabled = off; $answers"), $original{answers}, "$database: the same answers");
	is($node->safe_psql($database, $answers), $original{answers}, "$database: the same answers, sorted by gpusort");
	is($node->safe_psql($database, 'SELECT check_indexes()'), $original{indexes}, "$database: indexes are valid");

	# Nothing depends on the extension.
	$node->safe_psql($database, 'DROP EXTENSION gpusort');
	$node->safe_psql($database, q(
		INSERT INTO t SELECT 10000 + id, few, k + 1, n, s, i, c, gen_random_uuid(), m, ts, b, f, gaps FROM t WHERE id % 2 = 0;
		UPDATE t SET few = few + 1 WHERE id % 7 = 0;
		DELETE FROM t WHERE id BETWEEN 10000 AND 12000;
		INSERT INTO p SELECT id + 9000, 1, k FROM t;
		VACUUM));
	is($node->safe_psql($database, 'SELECT check_indexes()'), $original{indexes}, "$database: written without the extension");
	is($node->safe_psql($database, 'SELECT count(*) FROM t WHERE few >= 0'), 11000, "$database: all rows are there");
}
$node->stop;
done_testing();
