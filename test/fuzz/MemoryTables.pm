# MemoryTables.pm
#	Tables of memory_fuzz.pl, which are the same for every seed, so that an answer is.
#
# There are four families, of some sizes each, made when they are first asked for:
#
#	n	narrow: integers, indexed up to a million rows
#	m	mixed: all kinds of keys, 250 bytes a row
#	w	wide: values of 200 bytes to some kB, some of them out of line
#	h	for cursors of other sessions, so that no command waits for their end
#
# id is unique and in order, u unique and in no order, d has each value twice, f few values, k a
# thousand, nn nulls, s is nearly in order.
package MemoryTables;
use strict;
use warnings;

our %sizes = (n => [ 3_000, 20_000, 100_000, 300_000, 1_000_000, 3_000_000 ], m => [ 3_000, 20_000, 60_000, 200_000 ], w => [ 1_000, 5_000, 20_000 ]);

# What a row takes of a sort's memory, about.
our %row_bytes = (n => 110, m => 360, w => 1500);

# Columns that can be sorted by, of the families that have them.
our %columns = (
	n => [qw(u d f k r nn s id)],
	m => [qw(u d f k nn s id ts num f8 b c ic lc url t uu)],
	w => [qw(u k c id)]);

sub hash { my $seed = shift; return "(hashint8extended(i, $seed) & 9007199254740991)"; }

my %definitions = (
	id => 'i::int4', u => '(i * 48271 % 2147483647)::int4', d => '((i / 2) * 48271 % 2147483647)::int4', f => '(' . hash(1) . ' % 4)::int4', k => '(' . hash(2) . ' % 1000)::int4',
	r => 'hashint8extended(i, 3)', nn => 'CASE WHEN ' . hash(4) . ' % 10 > 2 THEN (' . hash(5) . ' % 50000)::int4 END', s => '(i * 3 - ' . hash(6) . ' % 40)::int4',
	ts => "timestamp '2000-01-01' + " . hash(7) . " % 100000000 * interval '1 second'", num => 'round(' . hash(8) . ' % 1000000007 / 100.0, 2)',
	mix => 'CASE i % 3 WHEN 0 THEN round(' . hash(9) . ' % 3000 / 4.0, 2) ELSE round(' . hash(9) . ' % 3000 / 4.0, 2 + (i % 5)::int) END',
	f8 => 'CASE WHEN ' . hash(10) . " % 50 > 3 THEN sin(i) WHEN i % 4 = 0 THEN 'NaN' WHEN i % 4 = 1 THEN '-Infinity' WHEN i % 4 = 2 THEN 0 END", b => hash(11) . ' % 3 = 0',
	c => 'CASE WHEN ' . hash(12) . " % 40 > 0 THEN left(md5((i % 70000)::text), (4 + i % 20)::int) ELSE '' END",
	ic => "CASE WHEN " . hash(13) . " % 30 > 0 THEN (array['Über','straße','Zeta','éclair','alpha','Alpha-','o''neil','ñandú'])[1 + " . hash(14) . " % 8] || ' ' || md5((i % 60000)::text) END",
	lc => "(array['north','South','blue','ACME','acme','a-c'])[1 + " . hash(15) . " % 6] || md5((i / 3)::text)", url => "'https://example.org/shop/' || (" . hash(16) . " % 300) || '/item/' || (" . hash(17) . ' % 90000)',
	t => "left(md5((i * 7)::text), 8)", uu => 'md5((i % 90000)::text)::uuid', pad => "repeat('x', (" . hash(18) . ' % 120)::int)',
	long => 'CASE WHEN ' . hash(19) . ' % 9 = 0 THEN (SELECT string_agg(md5((i + j)::text), \'\') FROM generate_series(1, 90 + (' . hash(20) . ' % 100)::int) j) ELSE repeat(md5(i::text), 6 + (' . hash(21) . ' % 20)::int) END');

my %types = (c => 'text COLLATE "C"', ic => 'text COLLATE fuzz_icu', lc => 'text COLLATE fuzz_libc', url => 'text COLLATE fuzz_libc', t => 'text', pad => 'text', long => 'text', ts => 'timestamp', num => 'numeric', mix => 'numeric',
	f8 => 'float8', b => 'bool', uu => 'uuid', r => 'int8');

my %layout = (n => [qw(f k id u d r nn s)], m => [qw(id c u d f k nn ts ic num mix s f8 b lc url t uu pad)], w => [qw(k id c u long)], h => [qw(id s u)]);

# What statements of the fuzzer rest on.
sub setup
{
	my $conn = shift;
	$conn->must('CREATE EXTENSION gpusort');
	my $has_amcheck = !$conn->query('CREATE EXTENSION amcheck')->{error};
	collation($conn, 'fuzz_icu', map { "provider = icu, locale = '$_'" } qw(en-US en));
	collation($conn, 'fuzz_libc', map { "provider = libc, locale = '$_'" } qw(en_US.utf8 en_US.UTF-8 de_DE.utf8 C.utf8 C.UTF-8));
	# the digest of hashes in their order
	$conn->must(<<'SQL');
CREATE AGGREGATE fuzz_chain(int8) (sfunc = hashint8extended, stype = int8, initcond = '0', parallel = safe);
CREATE FUNCTION fuzz_digest(query text) RETURNS text LANGUAGE plpgsql SET gpusort.enabled = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	result text;
BEGIN
	EXECUTE 'SELECT s::text FROM (' || query || ') s' INTO result;
	RETURN result;
END $$;
CREATE FUNCTION fuzz_loop(query text, stop int8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r record;
	n int8 := 0;
	h int8 := 0;
BEGIN
	FOR r IN EXECUTE query LOOP
		n := n + 1;
		h := hashint8extended(h, hash_record_extended(r, 0));
		EXIT WHEN n = stop;
	END LOOP;
	RETURN n || ' ' || h;
END $$;
CREATE FUNCTION fuzz_clean() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	kind "char" := (SELECT relkind FROM pg_class WHERE relname = 'target');
BEGIN
	IF kind IS NOT NULL THEN
		EXECUTE CASE kind WHEN 'm' THEN 'DROP MATERIALIZED VIEW target' ELSE 'DROP TABLE target' END;
	END IF;
END $$;
CREATE FUNCTION fuzz_two(one text, other text, quota int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a refcursor;
	b refcursor;
	r record;
	n int8 := 0;
	h int8 := 0;
BEGIN
	OPEN a FOR EXECUTE one;
	OPEN b SCROLL FOR EXECUTE other;
	LOOP
		FETCH a INTO r;
		EXIT WHEN NOT FOUND;
		h := hashint8extended(h, hash_record_extended(r, 0));
		n := n + 1;
		IF n % 3 > 0 THEN
			FETCH b INTO r;
			h := hashint8extended(h, CASE WHEN FOUND THEN hash_record_extended(r, 0) ELSE 7 END);
		END IF;
		IF n = 500 AND quota >= 0 AND current_setting('gpusort.enabled') = 'on' THEN
			PERFORM set_config('gpusort.pool_quota', quota::text, true);
		END IF;
		IF n % 5000 = 0 THEN
			MOVE BACKWARD 2000 FROM b;
		END IF;
	END LOOP;
	RETURN n || ' ' || h;
END $$;
SQL
	return { amcheck => $has_amcheck };
}

# A collation, the first that the server can make; else C.
sub collation
{
	my ($conn, $name, @definitions) = @_;
	for (@definitions, "provider = libc, locale = 'C'") { return if !$conn->query("CREATE COLLATION $name ($_)")->{error}; }
	die "cannot make the collation $name\n";
}

# Have the table of this family and size, and return its name.
my %made;

sub table
{
	my ($conn, $family, $rows) = @_;
	my $name = "$family$rows";
	return $name if $made{$name};
	if (!$conn->value("SELECT count(*) FROM pg_class WHERE relname = '$name'"))
	{
		$conn->must("BEGIN; SET LOCAL gpusort.enabled = off; CREATE TABLE $name (" . join(', ', map { "$_ " . ($types{$_} // 'int4') } @{ $layout{$family} }) . ')');
		$conn->must('ALTER TABLE ' . "$name ALTER long SET STORAGE EXTERNAL") if $family eq 'w';
		$conn->must("INSERT INTO $name SELECT " . join(', ', map { $definitions{$_} } @{ $layout{$family} }) . " FROM generate_series(1::int8, $rows) i");
		if ($family eq 'n' && $rows <= 1_000_000)
		{
			$conn->must("CREATE INDEX ${name}_u ON $name (u) INCLUDE (k); CREATE INDEX ${name}_d ON $name (d); CREATE INDEX ${name}_nn ON $name (nn, id); CREATE INDEX ${name}_k ON $name (k, u)");
		}
		$conn->must('COMMIT');
		$conn->must("VACUUM ANALYZE $name");
	}
	$made{$name} = 1;
	return $name;
}

sub columns_of { return @{ $layout{ $_[0] } }; }

1;
