# FaultCases.pm
#		What faults.sh runs while calls fail: 24 queries and index builds.
package FaultCases;

use strict;
use warnings;

my $rows = 4000;
our $setup = qq{
	CREATE TABLE t WITH (parallel_workers = 2) AS
	SELECT i AS id, hashint8(i)::int8 * 1000003 AS k, i % 50 AS few, md5(i::text) COLLATE "C" AS c,
		md5(i::text) || chr(192 + i % 60) COLLATE "en_US" AS e, md5(i::text) || chr(192 + i % 60) COLLATE "en-x-icu" AS u,
		(hashint8(i) % 5000)::numeric / 7 AS n, repeat('x', i % 200) AS pad
	FROM generate_series(1, $rows) i;
	CREATE TABLE longer WITH (parallel_workers = 2) AS
	SELECT i AS id, hashint8(i)::int8 * 1000003 AS k FROM generate_series(1, 3 * $rows) i;
	CREATE TABLE doubled AS SELECT k FROM t UNION ALL SELECT k FROM t WHERE id = 77;
};

sub digest
{
	my ($columns, $order, $rest) = @_;

	return "SELECT md5(string_agg(q::text, ',')) FROM (SELECT $columns FROM t " . ($rest // '') . "ORDER BY $order OFFSET 0) q";
}

my $parallel = 'SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
	SET min_parallel_table_scan_size = 0; SET gpusort.cost_gather = 0;';
my $serial = 'SET max_parallel_workers_per_gather = 0;';
my $shared = "$parallel SET enable_hashjoin = off; SET enable_nestloop = off; SET enable_incremental_sort = off; SET enable_material = off;" .
	join '', map { "SET gpusort.cost_$_ = 0;" } qw(startup row key_byte key_collated row_byte emit);
my $daemon = "$serial SET gpusort.engine = cuda; SET gpusort.min_gpu_rows = 0;";

# query: its only value is compared; index: is built, checked and dropped.
our @cases = (
	{ name => 'int8', set => $serial, query => digest('k, id, pad', 'k, id') },
	{ name => 'text C', set => $serial, query => digest('c, id', 'c DESC, id') },
	{ name => 'text en_US', set => $serial, query => digest('e, id', 'e, id') },
	{ name => 'text ICU', set => $serial, query => digest('u, id', 'u, id') },
	{ name => 'numeric, verified', set => "$serial SET gpusort.verify = on;", query => digest('n, c', 'n DESC, c') },
	{ name => 'late rows', set => "$serial SET gpusort.late_rows = on;", query => digest('*', 'k, id') },
	{ name => 'hand-over', set => "$serial SET work_mem = '64kB'; SET gpusort.inject_fault = memory;", query => digest('k, id, pad', 'k, id') },
	{ name => 'little memory', set => "$serial SET work_mem = '64kB'; SET gpusort.pool_quota = 0;", query => digest('c, id, pad', 'c, id') },
	{ name => 'small pages', set => "$serial SET gpusort.inject_fault = small_pages;", query => digest('e, id', 'e, id') },
	{ name => 'parallel collection', set => $parallel, workers => 1, query => digest('k, id, pad', 'k, id') },
	{ name => 'shared sort', set => $shared, workers => 1, plan => qr/GpuSort Shared/,
		query => 'SELECT count(*) || \' \' || sum(hashtextextended(q::text, 0)) FROM
			(SELECT id, rank() OVER w AS r, lag(id) OVER w AS l FROM t WINDOW w AS (PARTITION BY few ORDER BY k, id) OFFSET 0) q' },
	{ name => 'shared sort, alone', set => "$shared SET max_parallel_workers = 0;", plan => qr/GpuSort Shared/,
		query => 'SELECT count(*) || \' \' || sum(hashtextextended(q::text, 0)) FROM
			(SELECT id, pad, rank() OVER w AS r, lag(id) OVER w AS l FROM t WINDOW w AS (PARTITION BY few ORDER BY k, id) OFFSET 0) q' },
	{ name => 'shared sort in files', set => "$shared SET gpusort.inject_fault = codec;", workers => 1, plan => qr/GpuSort Shared/,
		query => 'SELECT count(*) || \' \' || sum(hashtextextended(q::text, 0)) FROM
			(SELECT a.id, b.pad FROM t a JOIN t b ON a.c = b.c OFFSET 0) q' },
	{ name => 'cursor', set => "LOAD 'plpgsql'; $serial", query => 'SELECT walk()' },
	{ name => 'index int8', set => 'SET max_parallel_maintenance_workers = 0;', index => 'CREATE INDEX x ON t (k) INCLUDE (id)' },
	{ name => 'index text', set => 'SET max_parallel_maintenance_workers = 0;', index => 'CREATE INDEX x ON t (e, u DESC)' },
	{ name => 'index unique', set => 'SET max_parallel_maintenance_workers = 0;', index => 'CREATE UNIQUE INDEX x ON t (c)' },
	{ name => 'index not unique', set => 'SET max_parallel_maintenance_workers = 0;', index => 'CREATE UNIQUE INDEX x ON doubled (k)',
		error => '23505' },
	# workers write, too, where there are rows for several slices
	{ name => 'index parallel', set => 'SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; SET gpusort.slice_pages = 2;',
		workers => 1, index => 'CREATE INDEX x ON longer (k, id)' },
	# without a pool workers send rows to the leader, which must not have read all of them before they begin
	{ name => 'index parallel, queues', set => "LOAD 'plpgsql'; SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; SET gpusort.pool_quota = 0;",
		workers => 1, index => 'CREATE INDEX x ON t (slowly(k), id)' },
	{ name => 'index parallel, text', set => 'SET max_parallel_maintenance_workers = 2; SET min_parallel_table_scan_size = 0; SET gpusort.slice_pages = 2;',
		workers => 1, index => 'CREATE UNIQUE INDEX x ON t (u, id)' },
	{ name => 'int8, gpusortd', set => $daemon, daemon => 1, query => digest('k, id, pad', 'k, id') },
	{ name => 'text, gpusortd', set => "$daemon SET gpusort.reorder_rows = on;", daemon => 1, query => digest('c, n, id', 'c, n, id') },
	{ name => 'index, gpusortd', set => "$daemon SET max_parallel_maintenance_workers = 0;", daemon => 1, index => 'CREATE INDEX x ON t (k, c)' });

# The short form's.
our %in_short = map { $_ => 1 } 'text en_US', 'late rows', 'hand-over', 'little memory', 'small pages', 'parallel collection', 'shared sort', 'shared sort, alone', 'index text', 'index parallel', 'index parallel, queues',
	'int8, gpusortd';

our $functions = q{
	CREATE FUNCTION slowly(k int8) RETURNS int8 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
	DECLARE
		x int8 := k;
	BEGIN
		FOR i IN 1..20 LOOP
			x := x # i;
		END LOOP;
		RETURN x;
	END $$;

	CREATE FUNCTION walk() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		c SCROLL CURSOR FOR SELECT * FROM (SELECT id, k, pad FROM t ORDER BY k, id) s;
		r record;
		answer text := '';
	BEGIN
		OPEN c;
		MOVE FORWARD 1000 IN c;
		FETCH c INTO r;
		answer := r::text;
		MOVE BACKWARD 500 IN c;
		FETCH PRIOR FROM c INTO r;
		answer := answer || r::text;
		RETURN answer;
	END $$;
};

1;
