# Databases that are not in UTF-8: text is sorted by ICU's collations through the server's
# conversion, and by bytes, as PostgreSQL does.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.force = on', 'max_parallel_workers_per_gather = 0', 'client_encoding = UTF8');

# Characters of the encoding, one a row.
my %characters = (
	LATIN1 => 'SELECT chr(c) AS c FROM generate_series(32, 255) c WHERE c NOT BETWEEN 127 AND 159',
	WIN1251 => 'SELECT chr(c) AS c FROM generate_series(32, 255) c WHERE c NOT BETWEEN 127 AND 160',
	EUC_JP => q(SELECT convert_from(set_byte('\xa4a1', 1, b), 'EUC_JP') AS c FROM generate_series(161, 243) b
		UNION ALL SELECT chr(c) FROM generate_series(32, 126) c));

sub ask
{
	my ($database, $enabled, $query) = @_;

	return $node->safe_psql($database, "SET gpusort.enabled = $enabled; $query");
}

for my $encoding (sort keys %characters)
{
	my $database = lc $encoding;

	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	$node->safe_psql($database, qq(
		CREATE EXTENSION gpusort;
		CREATE EXTENSION amcheck;
		CREATE TABLE characters AS $characters{$encoding};
		CREATE TABLE t AS SELECT row_number() OVER () AS id, a.c || b.c || CASE WHEN a.c < b.c THEN repeat(b.c, 9) || a.c ELSE '' END AS s
		FROM characters a, characters b));
	# servers without ICU have no such collations
	for my $collation ('C', split /\n/, $node->safe_psql($database, q(SELECT collname FROM pg_collation
		WHERE collprovider = 'i' AND collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding())) AND collname IN ('en-x-icu', 'sv-x-icu', 'ja-x-icu', 'ru-x-icu')
		ORDER BY collname)))
	{
		my $label = "$encoding, $collation";
		my $query = qq(SELECT md5(string_agg(id::text, ',')) FROM (SELECT id FROM t ORDER BY s COLLATE "$collation" DESC, id OFFSET 0) q);
		my $lookups = qq(SET enable_seqscan = off; SELECT count(*) FROM characters a, LATERAL (SELECT s FROM t WHERE s COLLATE "$collation" = a.c || a.c OFFSET 0) q);
		my ($plan) = ask($database, 'on', "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");

		like($plan, qr/GpuSort.*Engine: host/s, "$label: sorted by gpusort");
		is(ask($database, 'on', $query), ask($database, 'off', $query), "$label: PostgreSQL's order");
		is($node->safe_psql($database, qq(CREATE INDEX x ON t (s COLLATE "$collation"); SELECT built FROM gpusort_index_builds())), 1,
			"$label: an index is built");
		is(ask($database, 'off', "$lookups; SELECT bt_index_parent_check('x', true, true)"),
			ask($database, 'off', "SET enable_indexscan = off; SET enable_bitmapscan = off; $lookups") . "\n",
			"$label: it is right, and rows are found through it");
		$node->safe_psql($database, 'DROP INDEX x');
	}
}

$node->stop;
done_testing();
