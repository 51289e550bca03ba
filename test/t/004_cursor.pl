# Cursors: forward and backward, absolute, across transactions, and with the table
# changing underneath.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'work_mem = 64MB', 'max_parallel_workers_per_gather = 0', 'gpusort.force = on',
	'gpusort.verify = on');

$node->safe_psql('postgres', q(
	CREATE TABLE t AS SELECT i, hashint4(i) AS h FROM generate_series(1, 5000) i;
	VACUUM ANALYZE t));

# Each list of moves with gpusort and without must print the same.
my @scripts = (
	[ 'forward', 'CURSOR', 'FETCH 3 FROM c', 'FETCH NEXT FROM c', 'MOVE 100 IN c', 'FETCH 2 FROM c', 'MOVE ALL IN c', 'FETCH 1 FROM c' ],
	[ 'backward', 'SCROLL CURSOR', 'FETCH 5 FROM c', 'FETCH BACKWARD 3 FROM c', 'FETCH PRIOR FROM c', 'FETCH PRIOR FROM c', 'FETCH 2 FROM c' ],
	[ 'absolute', 'SCROLL CURSOR', 'FETCH LAST FROM c', 'FETCH FIRST FROM c', 'FETCH ABSOLUTE 2500 FROM c', 'FETCH ABSOLUTE -2 FROM c',
		'FETCH RELATIVE -10 FROM c', 'FETCH RELATIVE 0 FROM c' ],
	[ 'both ends', 'SCROLL CURSOR', 'FETCH PRIOR FROM c', 'MOVE ALL IN c', 'FETCH NEXT FROM c', 'FETCH PRIOR FROM c',
		'MOVE BACKWARD ALL IN c', 'FETCH PRIOR FROM c', 'FETCH NEXT FROM c' ],
	[ 'everything backward', 'SCROLL CURSOR', 'MOVE ALL IN c', 'FETCH BACKWARD ALL FROM c' ]);

for my $script (@scripts)
{
	my ($label, $kind, @moves) = @$script;

	for my $fault ('none', 'memory', 'verify')
	{
		for my $hold ('', ' WITH HOLD')
		{
			my %answer;

			for my $enabled ('on', 'off')
			{
				my ($out, $err) = session_of($node, "SET gpusort.enabled = $enabled", "SET gpusort.inject_fault = '$fault'",
					'BEGIN', "DECLARE c $kind$hold FOR SELECT * FROM t ORDER BY h, i",
					($hold ? ('COMMIT') : ()), @moves, ($hold ? ('CLOSE c') : ('COMMIT')));

				$answer{$enabled} = "$out\n$err";
			}
			unlike($answer{off}, qr/ERROR/, "$label$hold, fault $fault: a fair test");
			is($answer{on}, $answer{off}, "$label$hold, fault $fault");
		}
	}
}
like(plan_of($node, 'DECLARE c SCROLL CURSOR FOR SELECT * FROM t ORDER BY h, i'), qr/GpuSort/, 'a scroll cursor is ours');
unlike(plan_of($node, 'DECLARE c SCROLL CURSOR FOR SELECT * FROM t ORDER BY h, i'), qr/Materialize/,
	'and reads backward by itself');

# Rows collected by a cursor do not change with the table.
{
	my ($out, $err) = session_of($node,
		'BEGIN', 'DECLARE c SCROLL CURSOR FOR SELECT i FROM t ORDER BY i', 'FETCH 2 FROM c',
		'DELETE FROM t WHERE i < 100', 'INSERT INTO t VALUES (0, 0)', 'FETCH 2 FROM c', 'FETCH FIRST FROM c', 'ROLLBACK');

	is($err, '', 'changed table: no error');
	is($out, "1\n2\n3\n4\n1", 'changed table: the cursor keeps its rows');
}

# Several sorts open at once, closed in another order.
{
	my @open = map { ("DECLARE c$_ SCROLL CURSOR FOR SELECT i FROM t ORDER BY h % $_, i", "MOVE 10 IN c$_") } 1 .. 6;
	my @read = map { ("FETCH RELATIVE $_ FROM c$_", "CLOSE c$_") } (3, 1, 6, 2, 5, 4);
	my %answer;

	for my $enabled ('on', 'off')
	{
		$answer{$enabled} = join '|', session_of($node, "SET gpusort.enabled = $enabled", 'BEGIN', @open, @read, 'COMMIT');
	}
	is($answer{on}, $answer{off}, 'six cursors at once');
}

# So many that they would take all mappings that a process may have, and then its memory: 8 a cursor,
# until there are 8192 ranges (memory_range.c).
{
	my $many = 2600;
	my ($out, $err) = session_of($node, 'SET gpusort.verify = off', 'BEGIN',
		"DO \$\$ BEGIN FOR i IN 1 .. $many LOOP
			EXECUTE format('DECLARE c%s CURSOR FOR SELECT i FROM t WHERE i < 9 ORDER BY i', i);
			EXECUTE format('MOVE 1 IN c%s', i);
		END LOOP; END \$\$",
		"SELECT 'mappings ' || count(*) FROM regexp_split_to_table(
			pg_read_file('/proc/' || pg_backend_pid() || '/maps', 0, 100000000, true), '\\n')",
		'FETCH 1 FROM c1', "FETCH 1 FROM c$many",
		q(SELECT string_agg(l || ' rows: ' || n, ', ' ORDER BY o) FROM (SELECT o, l, count(s.*) AS n FROM (VALUES (1, 5), (2, 3000), (3, 10)) v (o, l),
			LATERAL (SELECT i FROM t ORDER BY i DESC LIMIT l) s GROUP BY o, l) x), 'COMMIT');

	is($err, '', "$many cursors at once: no error");
	like($out, qr/^2\n2$/m, 'rows of the first one and the last one');
	like($out, qr/^5 rows: 5, 3000 rows: 3000, 10 rows: 10$/m, 'the last one is rescanned for other numbers of rows');
	like($out, qr/^mappings \d+$/m, 'mappings can be counted');
	cmp_ok($out =~ /^mappings (\d+)$/m ? $1 : 0, '<', 7.5 * $many, 'and the last cursors have none');
}

# A cursor of a subtransaction that is rolled back, beside one that stays.
{
	my ($out, $err) = session_of($node, 'BEGIN', 'DECLARE a CURSOR FOR SELECT i FROM t ORDER BY i DESC', 'FETCH 1 FROM a',
		'SAVEPOINT s', 'DECLARE b CURSOR FOR SELECT i FROM t ORDER BY i', 'FETCH 1 FROM b', 'ROLLBACK TO s',
		'FETCH 1 FROM a', 'COMMIT');

	is("$out$err", "5000\n1\n4999", 'rolled back to a savepoint');
}

$node->stop;
done_testing();
