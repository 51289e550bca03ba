# Pages that gpusort writes beside those that PostgreSQL's own code writes for the same statements, field by field: headers,
# line pointers, tuples, the maps of visibility and of free space, btrees; when they were written, when they were read, on a
# standby, and after a crash.  What must differ is normalised: transactions are numbered, LSNs and checksums left out.
#
# PAGES=long takes more rows, and more processes, too (proof/pages.sh).
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $long = ($ENV{PAGES} // '') eq 'long';
my $rows = $long ? 20000 : 2000;

# What is to be seen of tables and indexes.
my $functions = q(
	CREATE EXTENSION gpusort;
	CREATE EXTENSION amcheck;
	CREATE EXTENSION pageinspect;
	CREATE EXTENSION pg_visibility;
	CREATE EXTENSION pg_freespacemap;

	-- A row's bytes without the value's number and the TOAST table in TOAST pointers; a chunk's without its value's number.
	CREATE FUNCTION plain_data(data bytea, infomask int4, is_toast bool) RETURNS text LANGUAGE sql IMMUTABLE AS $$
		SELECT CASE WHEN is_toast THEN substr(encode(data, 'hex'), 9)
			WHEN infomask & 4 <> 0 THEN regexp_replace(encode(data, 'hex'), '0112(.{16}).{16}', '0112\1', 'g')
			ELSE encode(data, 'hex') END
	$$;

	-- A heap's pages (item 0) and items.  Pages without rows are not counted: from 16 on PostgreSQL adds several at a time,
	-- some of which a COPY may leave.  Without "in_place" nothing tells where a row is.  After replay a row's command and hints may be
	-- lost, and it may be another transaction whose end makes a page worth pruning.  Reading changes pages that are full.
	CREATE FUNCTION heap_facts(rel regclass, in_place bool, state text, page OUT int8, item OUT int4, fact OUT text)
	RETURNS SETOF record LANGUAGE sql AS $$
		WITH items AS MATERIALIZED (
			SELECT dense_rank() OVER (ORDER BY block) AS page, block, i.*
			FROM generate_series(0, pg_relation_size(rel) / current_setting('block_size')::int8 - 1) block, heap_page_items(get_raw_page(rel::text, block::int4)) i),
		pages AS MATERIALIZED (
			SELECT i.*, h.*, m.*, fillfactor = 100 AND upper - lower < current_setting('block_size')::int4 / 10 AS is_full
			FROM (SELECT page, block, 24 + 4 * count(*) AS lower_wanted, current_setting('block_size')::int8 - sum((lp_len + 7) / 8 * 8) AS upper_wanted
					FROM items GROUP BY page, block) i,
				(SELECT coalesce(substring(reloptions::text FROM 'fillfactor=(\d+)')::int4, 100) AS fillfactor FROM pg_class WHERE oid = rel) o,
				page_header(get_raw_page(rel::text, block::int4)) h, pg_visibility_map(rel, block) m),
		xids AS MATERIALIZED (
			SELECT xid, dense_rank() OVER (ORDER BY xid::text::int8) AS number
			FROM (SELECT t_xmin AS xid FROM items UNION SELECT t_xmax FROM items UNION SELECT prune_xid FROM pages) x
			WHERE xid <> '0')
		SELECT page, 0, format('special %s, size %s, version %s, flags %s, prune xid %s, visible %s, frozen %s, ', special, pagesize, version,
			CASE state WHEN 'replayed' THEN flags & 4 ELSE flags END, CASE state WHEN 'replayed' THEN (number > 0)::text ELSE number::text END, all_visible, all_frozen)
			|| CASE WHEN in_place THEN format('lower %s, upper %s', lower, upper) ELSE format('lower %s, upper %s', lower = lower_wanted, upper = upper_wanted) END
		FROM pages LEFT JOIN xids ON xid = prune_xid
		WHERE in_place OR state <> 'read' OR is_full
		UNION ALL
		SELECT page, lp, format('flags %s, length %s, xmin %s, xmax %s, command %s, self %s, infomask2 %s, infomask %s, hoff %s, nulls %s, data %s, at %s',
			lp_flags, lp_len, coalesce(a.number, 0), coalesce(b.number, 0), CASE WHEN state <> 'replayed' THEN t_field3 END, t_ctid = format('(%s,%s)', block, lp)::tid,
			t_infomask2, to_hex(CASE WHEN state <> 'replayed' THEN t_infomask WHEN t_infomask & 768 = 768 THEN t_infomask & ~1024 ELSE t_infomask & ~1792 END), t_hoff, t_bits, plain_data(t_data, t_infomask, relkind = 't'), CASE WHEN in_place THEN lp_off END)
		FROM pg_class c, items LEFT JOIN xids a ON a.xid = t_xmin LEFT JOIN xids b ON b.xid = t_xmax
		WHERE c.oid = rel
	$$;

	-- A btree's pages, byte by byte but for LSN, checksum and what is free; not "in_place": their headers.
	CREATE FUNCTION index_facts(rel regclass, in_place bool, page OUT int8, item OUT int4, fact OUT text)
	RETURNS SETOF record LANGUAGE sql AS $$
		SELECT block, 0, encode(substr(image, 11, lower - 10) || substr(image, upper + 1), 'hex')
		FROM generate_series(0, pg_relation_size(rel) / current_setting('block_size')::int8 - 1) block, get_raw_page(rel::text, block::int4) image, page_header(image)
		WHERE in_place
		UNION ALL
		SELECT block, 0, format('special %s, size %s, version %s, flags %s, prune xid %s, %s', special, pagesize, version, flags, prune_xid, type)
		FROM generate_series(1, pg_relation_size(rel) / current_setting('block_size')::int8 - 1) block, page_header(get_raw_page(rel::text, block::int4)), bt_page_stats(rel::text, block)
		WHERE NOT in_place
		UNION ALL
		SELECT 0, 1, format('%s %s %s', magic, version, allequalimage) FROM bt_metap(rel::text)
	$$;

	-- All that belongs to a table.
	CREATE FUNCTION facts(tab regclass, in_place bool, indexes_in_place bool, state text, part OUT text, page OUT int8, item OUT int4, fact OUT text)
	RETURNS SETOF record LANGUAGE sql AS $$
		WITH heaps AS MATERIALIZED (
			SELECT 'table ' || row_number() OVER (ORDER BY oid) AS name, oid, reltoastrelid FROM pg_class
			WHERE relkind IN ('r', 'm') AND (oid = tab OR oid IN (SELECT relid FROM pg_partition_tree(tab))))
		SELECT name, f.* FROM heaps, heap_facts(oid, in_place, state) f
		UNION ALL
		SELECT name || ' TOAST', f.* FROM heaps, heap_facts(reltoastrelid, in_place, state) f WHERE reltoastrelid <> 0
		UNION ALL
		SELECT name || ' index ' || row_number, f.* FROM (
			SELECT name, indexrelid, row_number() OVER (PARTITION BY indrelid ORDER BY indexrelid)
			FROM heaps, pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = heaps.oid AND relam = 403) i, index_facts(indexrelid, indexes_in_place) f
	$$;

	-- Pages that the map of free space promises more of than there is.
	CREATE FUNCTION promised_in_vain(tab regclass) RETURNS int8 LANGUAGE sql AS $$
		SELECT count(*) FROM (SELECT oid AS heap FROM pg_class WHERE oid = tab UNION SELECT reltoastrelid FROM pg_class WHERE oid = tab AND reltoastrelid <> 0) h,
			pg_freespace(heap) s, page_header(get_raw_page(heap::regclass::text, s.blkno::int4)) p
		WHERE s.avail > p.upper - p.lower AND p.upper > 0
	$$;

	-- In what a table that gpusort has written differs from PostgreSQL's; else how much was compared.  What is not in place is
	-- compared without its place, and how full pages are is PostgreSQL's.
	CREATE FUNCTION differences(ours regclass, theirs regclass, in_place bool, indexes_in_place bool, state text) RETURNS text LANGUAGE sql AS $$
		WITH all_facts AS MATERIALIZED (
			SELECT side, part, CASE WHEN placed THEN page END AS page, CASE WHEN placed THEN item ELSE least(item, 1) END AS item, fact
			FROM (VALUES ('ours', ours), ('theirs', theirs)) s (side, tab), facts(tab, in_place, indexes_in_place, state) f,
				LATERAL (SELECT CASE WHEN part LIKE '%index%' THEN indexes_in_place ELSE in_place END AS placed) p),
		different AS (
			SELECT min(side) AS side, part, page, item, fact FROM all_facts GROUP BY part, page, item, fact
			HAVING CASE WHEN item = 0 THEN min(side) = max(side) ELSE count(*) <> 2 * count(*) FILTER (WHERE side = 'ours') END)
		SELECT CASE WHEN EXISTS (SELECT FROM different) THEN (SELECT string_agg(left(concat_ws(' ', part, 'page', page, 'item', item, side || ':', fact), 300), E'\n')
				FROM (SELECT * FROM different ORDER BY part, page, item, side LIMIT 6) d)
			ELSE (SELECT format('same pages: %s, items: %s', count(*) FILTER (WHERE item = 0) > 0, count(*) FILTER (WHERE item > 0) > 0) FROM all_facts)
				|| CASE WHEN state = 'written' AND promised_in_vain(ours) > promised_in_vain(theirs) THEN ', promised in vain: ' || promised_in_vain(ours) ELSE '' END END
	$$;
);

my $primary = start_node('primary', { allows_streaming => 1, extra => ['-k'] }, 'gpusort.force = on', 'gpusort.late_rows = off', 'wal_consistency_checking = all',
	'wal_keep_size = 2GB', 'shared_buffers = 64MB', 'max_parallel_workers_per_gather = 0', 'max_parallel_maintenance_workers = 0', 'min_parallel_table_scan_size = 0',
	'gpusort.slice_pages = 4');
my $dir = PostgreSQL::Test::Utils::tempdir;

$primary->safe_psql('postgres', $functions);
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'hot_standby = on');
$standby->start;

# Rows that all take as many bytes, with and without nulls: so PostgreSQL puts none into what pages before had room for.  Others
# that take more and fewer, and that are out of line.
sub make_sources
{
	my ($node) = @_;

	$node->safe_psql('postgres', qq(
		CREATE TABLE source AS SELECT i AS id, hashint8(i)::int8 AS k, lpad(i::text, 19, 'x') AS t, CASE WHEN i % 7 > 0 THEN i % 100 END AS n, i % 40 AS few FROM generate_series(1, $rows) i;
		CREATE TABLE wide AS SELECT i AS id, hashint8(i)::int8 AS k, repeat('x', i % 120) AS t, CASE WHEN i % 100 = 0 THEN (SELECT string_agg(md5((i * j)::text), '') FROM generate_series(1, 40 + i % 300) j) END AS n,
		i % 40 AS few FROM generate_series(1, $rows) i;
		COPY source TO '$dir/all';
		COPY (SELECT * FROM source WHERE id <= 30) TO '$dir/few';
		COPY (SELECT id, k, t, n, few FROM source ORDER BY id) TO '$dir/csv' (FORMAT csv, HEADER);
		COPY (SELECT CASE WHEN id = $rows / 2 THEN ' ' ELSE '' END || id, k, t, n, few FROM source) TO '$dir/odd';
		COPY wide TO '$dir/wide';
		VACUUM ANALYZE));
}

make_sources($primary);

my $even = '(id int4, k int8, t text, n int4, few int4)';
my $wide = '(id int4, k int8, t text, n text, few int4)';

# [what, how to compare, statements]: @ is a table's name, "done:" before what gpusort must do.  By default pages and items are in the same
# places; in "order" rows may be on other pages, in "indexes" entries may.
my @cases = (
	['COPY', 'place', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/all'"],
	['COPY, CSV', 'place', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/csv' (FORMAT csv, HEADER)"],
	['COPY, which PostgreSQL goes on with', 'order', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/odd'"],
	['COPY, lengths', 'order', "CREATE TABLE @ $wide", "done:COPY @ FROM '$dir/wide'"],
	['COPY into a used table', 'place', "CREATE TABLE @ $even", "INSERT INTO @ SELECT * FROM source LIMIT 100", "done:COPY @ FROM '$dir/few'", "done:COPY @ FROM '$dir/all'", "done:COPY @ FROM '$dir/few'"],
	['COPY into a table that was read', 'place', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/few'", 'SELECT count(*) FROM @', "done:COPY @ FROM '$dir/all'"],
	['COPY behind what was deleted', 'place', "CREATE TABLE @ $even", "INSERT INTO @ SELECT * FROM source LIMIT 20", 'DELETE FROM @ WHERE id % 2 = 0', 'UPDATE @ SET n = 1 WHERE id % 3 = 0', "done:COPY @ FROM '$dir/few'"],
	['COPY with a fillfactor', 'place', "CREATE TABLE @ $even WITH (fillfactor = 40)", "done:COPY @ FROM '$dir/all'", "done:COPY @ FROM '$dir/few'"],
	['COPY into an unlogged table', 'place', "CREATE UNLOGGED TABLE @ $even", "done:COPY @ FROM '$dir/all'"],
	['COPY into a temporary table', 'place', "CREATE TEMP TABLE @ $even", "done:COPY @ FROM '$dir/all'"],
	['COPY, constraints, defaults, WHERE', 'place', "CREATE TABLE @ (id int4 NOT NULL CHECK (id > 0), k int8, t text, n int4, few int4, c int8 DEFAULT 7)", "done:COPY @ (id, k, t, n, few) FROM '$dir/all' WHERE id % 3 > 0"],
	['COPY, generated columns', 'place', "CREATE TABLE @ (id int4, k int8, t text, n int4, few int4, g int8 GENERATED ALWAYS AS (k + 1) STORED)", "done:COPY @ FROM '$dir/all'"],
	['COPY into a new table', 'place', 'BEGIN', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/all'", "done:COPY @ FROM '$dir/few'", 'COMMIT'],
	['COPY behind TRUNCATE', 'place', "CREATE TABLE @ $even", "COPY @ FROM '$dir/few'", 'BEGIN', 'TRUNCATE @', "done:COPY @ FROM '$dir/all'", 'COMMIT'],
	['COPY in subtransactions', 'place', "CREATE TABLE @ $even", 'BEGIN', 'SAVEPOINT a', "done:COPY @ FROM '$dir/few'", 'RELEASE a', "done:COPY @ FROM '$dir/few'", 'SAVEPOINT b', "done:COPY @ FROM '$dir/all'",
		'ROLLBACK TO b', "done:COPY @ FROM '$dir/few'", 'COMMIT'],
	['COPY that is rolled back', 'place', "CREATE TABLE @ $even", 'BEGIN', "done:COPY @ FROM '$dir/few'", 'ROLLBACK', "done:COPY @ FROM '$dir/all'"],
	['FREEZE', 'place', 'BEGIN', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/all' (FREEZE)", 'COMMIT'],
	['FREEZE, lengths', 'order', 'BEGIN', "CREATE TABLE @ $wide", "done:COPY @ FROM '$dir/wide' (FREEZE)", 'COMMIT'],
	['FREEZE several times', 'place', 'BEGIN', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/few' (FREEZE)", "done:COPY @ FROM '$dir/all' (FREEZE)", "done:COPY @ FROM '$dir/few' (FREEZE)", 'COMMIT'],
	['FREEZE behind rows', 'place', 'BEGIN', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/few'", "done:COPY @ FROM '$dir/all' (FREEZE)", 'COMMIT'],
	['rows behind FREEZE', 'place', 'BEGIN', "CREATE TABLE @ $even", "done:COPY @ FROM '$dir/few' (FREEZE)", 'INSERT INTO @ SELECT * FROM source LIMIT 10', "done:COPY @ FROM '$dir/all'", 'COMMIT'],
	['FREEZE, unlogged', 'place', 'BEGIN', "CREATE UNLOGGED TABLE @ $even", "done:COPY @ FROM '$dir/all' (FREEZE)", 'COMMIT'],
	['COPY with new indexes', 'indexes', 'BEGIN', "CREATE TABLE @ $even", 'ALTER TABLE @ ADD PRIMARY KEY (id)', 'CREATE INDEX ON @ (few)', "done:COPY @ FROM '$dir/all'", 'COMMIT'],
	['COPY with used indexes', 'indexes', "CREATE TABLE @ $even", 'ALTER TABLE @ ADD PRIMARY KEY (id)', 'CREATE INDEX ON @ (few)', "done:COPY @ FROM '$dir/all'"],
	['COPY into partitions', 'place', "CREATE TABLE @ $even PARTITION BY LIST ((id % 3))", 'CREATE TABLE @_0 PARTITION OF @ FOR VALUES IN (0) WITH (fillfactor = 50)', 'CREATE TABLE @_1 PARTITION OF @ FOR VALUES IN (1, 2)',
		"done:COPY @ FROM '$dir/few'", "done:COPY @ FROM '$dir/all'", "done:COPY @ FROM '$dir/few'"],
	['COPY into new partitions with indexes', 'indexes', 'BEGIN', "CREATE TABLE @ $even PARTITION BY LIST ((id % 3))", 'CREATE TABLE @_0 PARTITION OF @ FOR VALUES IN (0)', 'CREATE TABLE @_1 PARTITION OF @ FOR VALUES IN (1, 2)',
		'CREATE INDEX ON @ (few)', "done:COPY @ FROM '$dir/all'", 'COMMIT'],
	['COPY into partitions, lengths', 'order', "CREATE TABLE @ $wide PARTITION BY LIST ((id % 3))", 'CREATE TABLE @_0 PARTITION OF @ FOR VALUES IN (0)', 'CREATE TABLE @_1 PARTITION OF @ FOR VALUES IN (1, 2)',
		"done:COPY @ FROM '$dir/wide'"],
	['INSERT', 'order', "CREATE TABLE @ $even", 'done:INSERT INTO @ SELECT * FROM source ORDER BY k, id'],
	['INSERT into a used table', 'order', "CREATE TABLE @ $even", 'INSERT INTO @ SELECT * FROM source LIMIT 100', 'done:INSERT INTO @ SELECT * FROM source ORDER BY k, id', 'done:INSERT INTO @ SELECT * FROM source ORDER BY id'],
	['INSERT, lengths', 'order', "CREATE TABLE @ $wide", 'done:INSERT INTO @ SELECT * FROM wide ORDER BY k, id'],
	['INSERT, computed', 'order', "CREATE TABLE @ (k int8 NOT NULL, id int4 CHECK (id > 0), t text)", 'done:INSERT INTO @ (id, k, t) SELECT id, k + 1, t FROM source ORDER BY k, id'],
	['INSERT into a new table', 'order', 'BEGIN', "CREATE TABLE @ $even WITH (fillfactor = 70)", 'done:INSERT INTO @ SELECT * FROM source ORDER BY k, id', 'done:INSERT INTO @ SELECT * FROM source ORDER BY id', 'COMMIT'],
	['INSERT into a new table, in a subtransaction', 'order', 'BEGIN', "CREATE TABLE @ $even", 'SAVEPOINT a', 'done:INSERT INTO @ SELECT * FROM source ORDER BY k, id', 'RELEASE a', 'COMMIT'],
	['INSERT into a temporary table', 'order', "CREATE TEMP TABLE @ $even", 'done:INSERT INTO @ SELECT * FROM source ORDER BY k, id'],
	['CREATE TABLE AS', 'order', 'done:CREATE TABLE @ AS SELECT * FROM source ORDER BY k, id'],
	['CREATE TABLE AS, lengths', 'order', 'done:CREATE TABLE @ WITH (fillfactor = 60) AS SELECT * FROM wide ORDER BY k, id'],
	['CREATE UNLOGGED TABLE AS', 'order', 'done:CREATE UNLOGGED TABLE @ AS SELECT * FROM source ORDER BY k, id'],
	['CREATE TEMP TABLE AS', 'order', 'done:CREATE TEMP TABLE @ AS SELECT * FROM source ORDER BY k, id'],
	['SELECT INTO, in a subtransaction', 'order', 'BEGIN', 'CREATE TEMP TABLE other (id int4)', 'SAVEPOINT a', 'done:SELECT * INTO @ FROM source ORDER BY k, id', 'RELEASE a', 'DROP TABLE other', 'COMMIT'],
	['CREATE MATERIALIZED VIEW', 'order', 'done:CREATE MATERIALIZED VIEW @ AS SELECT * FROM source ORDER BY k, id'],
	['REFRESH MATERIALIZED VIEW', 'order', 'CREATE MATERIALIZED VIEW @ AS SELECT * FROM source ORDER BY k, id WITH NO DATA', 'done:REFRESH MATERIALIZED VIEW @', 'done:REFRESH MATERIALIZED VIEW @'],
	['REFRESH MATERIALIZED VIEW, lengths', 'order', 'CREATE MATERIALIZED VIEW @ AS SELECT * FROM wide ORDER BY k, id WITH NO DATA', 'CREATE UNIQUE INDEX ON @ (id)', 'done:REFRESH MATERIALIZED VIEW @', 'REFRESH MATERIALIZED VIEW CONCURRENTLY @'],
	['CLUSTER', 'place', "CREATE TABLE @ $even", 'CREATE INDEX @_k ON @ (k, id)', 'INSERT INTO @ SELECT * FROM source', 'done:CLUSTER @ USING @_k'],
	['CLUSTER, versions', 'place', "CREATE TABLE @ $wide", 'CREATE INDEX @_k ON @ (k, id)', 'INSERT INTO @ SELECT * FROM wide', 'UPDATE @ SET few = 1 WHERE id % 5 = 0', 'DELETE FROM @ WHERE id % 7 = 0', 'done:CLUSTER @ USING @_k'],
	['CLUSTER, in a transaction', 'place', "CREATE TABLE @ $even", 'CREATE INDEX @_k ON @ (k, id)', 'INSERT INTO @ SELECT * FROM source', 'BEGIN', 'UPDATE @ SET few = 1 WHERE id % 5 = 0', 'done:CLUSTER @ USING @_k', 'COMMIT'],
	['CREATE INDEX', 'place', "CREATE TABLE @ $even", 'INSERT INTO @ SELECT * FROM source', 'done:CREATE INDEX ON @ (k)', 'done:CREATE INDEX ON @ (few)', 'done:CREATE UNIQUE INDEX ON @ (id DESC) INCLUDE (n)',
		'done:CREATE INDEX ON @ (n NULLS FIRST, t) WITH (fillfactor = 60)', 'done:CREATE INDEX ON @ (few) WITH (deduplicate_items = off)', 'done:CREATE INDEX ON @ ((k % 7)) WHERE id > 100'],
	['REINDEX', 'place', "CREATE TABLE @ $even", 'CREATE INDEX ON @ (k)', 'CREATE INDEX ON @ (few)', 'INSERT INTO @ SELECT * FROM source', 'DELETE FROM @ WHERE id % 3 = 0', 'done:REINDEX TABLE @'],
	['REINDEX CONCURRENTLY', 'place', "CREATE TABLE @ $even", 'CREATE INDEX ON @ (k)', 'INSERT INTO @ SELECT * FROM source', 'done:REINDEX TABLE CONCURRENTLY @'],
);

# [what, our table, theirs, how to compare] of those that stay.
my @made;
my $number = 0;

sub comparison
{
	my ($ours, $theirs, $how, $state) = @_;
	return sprintf "differences('%s', '%s', %s, %s, '%s')", $ours, $theirs, (map { $_ ? 'true' : 'false' } $how ne 'order', $how eq 'place'), $state;
}

# Carry out a case's statements in both ways, and compare.
sub try_case
{
	my ($node, $case, @settings) = @_;
	my ($label, $how, @statements) = @$case;
	my ($ours, $theirs) = ('ours_' . ++$number, "theirs_$number");
	# a session's first temporary table takes more commands
	my $script = join '', map { "$_;\n" } 'CREATE TEMP TABLE first (id int4)', map { "SET $_" } @settings;
	my ($out, $err) = ('', '');

	$label .= ", @settings" if @settings;
	for my $side ([ 'on', $ours ], [ 'off', $theirs ])
	{
		$script .= "SET gpusort.enabled = $side->[0];\n";
		for my $statement (@statements)
		{
			(my $text = $statement) =~ s/\@/$side->[1]/g;
			$script .= $text =~ s/^done:// ? "SET client_min_messages = debug1;\n$text;\nRESET client_min_messages;\n" : "$text;\n";
		}
	}
	$node->psql('postgres', $script . 'SELECT ' . comparison($ours, $theirs, $how, 'written'), stdout => \$out, stderr => \$err, on_error_die => 0);
	$out =~ s/^\d+\n//mg;
	is($out, 'same pages: t, items: t', "$label: the same pages") or diag $err =~ s/^.*DEBUG:.*\n//mgr;
	my $done = () = $err =~ /DEBUG:  (?:gpusort: (?:clustered|built)|gpusort (?:loaded \d+ rows|filled table))/g;
	cmp_ok($done, '>=', scalar(grep { /^done:/ } @statements), "$label: gpusort's") or diag $err;
	push @made, [ $label, $ours, $theirs, $how ] if "@statements" !~ /\bTEMP TABLE \@/;
}

# Compare all of them once more, but for those that are lost.  What reading a table does to its pages is not logged, so those that
# a command has read to build an index beside other sessions may be any.
sub compare_again
{
	my ($node, $label, $state) = @_;

	for my $case (grep { $_->[0] !~ /unlogged|CONCURRENTLY/i } @made)
	{
		my ($what, $ours, $theirs, $how) = @$case;
		like($node->safe_psql('postgres', 'SELECT ' . comparison($ours, $theirs, $how, $state)), qr/^same pages: [tf], items: t$/, "$what: $label");
	}
}

if (part('logged'))
{
	try_case($primary, $_) for @cases;
	if ($long)
	{
		# what several processes write is in slices
		$_->[1] = $_->[0] =~ /INDEX/ ? 'indexes' : 'order' for @cases;
		try_case($primary, $_, 'max_parallel_workers_per_gather = 2', 'max_parallel_maintenance_workers = 2') for @cases;
	}

	# Every page as replay leaves it: on a standby, and after a crash.
	$primary->wait_for_catchup($standby);
	compare_again($standby, 'on a standby', 'replayed');
	unlike(slurp_file($standby->logfile), qr/inconsistent page|PANIC/, 'every page was replayed as it was written');
	$standby->stop;
	$primary->stop('immediate');
	$primary->start;
	compare_again($primary, 'after a crash', 'replayed');

	# When they are read, from 19 on pages become all-visible.
	for my $side (1, 2)
	{
		$primary->safe_psql('postgres', join ';', map { "SELECT count(*) FROM $_->[$side]" } @made);
	}
	compare_again($primary, 'after reading', 'read');
	my $visible = $primary->safe_psql('postgres', "SELECT all_visible > 0 FROM pg_visibility_map_summary('$made[0][1]')");
	is($visible, $primary->safe_psql('postgres', 'SHOW server_version_num') >= 190000 ? 't' : 'f', 'pages become all-visible when they are read, or do not');
	is($primary->safe_psql('postgres', join ' UNION ALL ', map { "SELECT t_ctid::text FROM pg_check_visible('$_->[1]')" } grep { $_->[0] !~ /partition/ } @made), '', 'all rows on them are');
	$primary->stop;
}

if (part('minimal'))
{
	# wal_level = minimal: nothing of what a transaction makes is logged.
	my $minimal = start_node('minimal', 'wal_level = minimal', 'max_wal_senders = 0', 'gpusort.force = on', 'gpusort.late_rows = off', 'max_parallel_workers_per_gather = 0',
		'max_parallel_maintenance_workers = 0', 'gpusort.slice_pages = 4');

	@made = ();
	$minimal->safe_psql('postgres', $functions);
	make_sources($minimal);
	for my $threshold ($long ? ('0', '1GB') : '0')
	{
		try_case($minimal, $_, "wal_skip_threshold = '$threshold'") for grep { "@$_" =~ /BEGIN|CREATE.* AS|CLUSTER/ && "@$_" !~ /SAVEPOINT b/ } @cases;
	}
	$minimal->stop('immediate');
	$minimal->start;
	compare_again($minimal, 'after a crash', 'replayed');
}

done_testing();
