# Results of cursors that stop while other sessions lack memory of the pool: they move to temporary
# files, and their rows are the same as ever.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'max_parallel_workers_per_gather = 0', 'gpusort.force = on', 'hash_mem_multiplier = 1',
	"work_mem = '256MB'", "gpusort.pool_size = '64MB'", 'gpusort.pool_quota = 100', 'gpusort.keep_memory = 0', 'autovacuum = off',
	'gpusort.late_rows = off');
my $extent = 2 * 1024 * 1024;

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i, hashint8(i) AS h, i % 1000 AS few, md5(i::text) COLLATE "C" AS m FROM generate_series(1, 500000) i;
	CREATE TABLE late (LIKE t);
	VACUUM ANALYZE));
tables_stay();

sub expected { my ($query) = @_; return $node->safe_psql('postgres', "SET gpusort.enabled = off; $query"); }

# What a session has of the pool, in extents.
sub extents_of
{
	my ($session) = @_;

	return ($node->safe_psql('postgres', "SELECT pool_bytes FROM gpusort_pool() WHERE pid = $session->{pid}") || 0) / $extent;
}

sub session
{
	my (@settings) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	$session->query_safe($_) for @settings;
	return { psql => $session, pid => $session->query_safe('SELECT pg_backend_pid()') };
}

# Call while another session is short of memory in the middle of its sort, whose answer must be right.
my $wants = 'SELECT md5(string_agg(i::text, \',\')) FROM (SELECT i FROM t WHERE i < 499000 OR i > 499000 OR pg_advisory_lock_shared(1)::text IS NOT NULL ORDER BY m, i OFFSET 0) s';
my $answer = expected('SELECT md5(string_agg(i::text, \',\')) FROM (SELECT i FROM t ORDER BY m, i OFFSET 0) s');

sub while_wanted
{
	my ($label, $do) = @_;
	my $blocker = session('SELECT pg_advisory_lock(1)');
	my $other = session();
	my $given;

	$other->{psql}->query_until(qr/begins/, "\\echo begins\n$wants;\n");
	ok($node->poll_query_until('postgres',
			"SELECT EXISTS (SELECT FROM pg_stat_activity a JOIN gpusort_pool() p USING (pid) WHERE pid = $other->{pid} AND wait_event = 'advisory' AND short_sorts = 1)"),
		"$label: another session is short");
	$do->();
	$blocker->{psql}->query_safe('SELECT pg_advisory_unlock(1)');
	like($other->{psql}->query('SELECT 1'), qr/^$answer$/m, "$label: ... and has its answer");
	$_->{psql}->quit for $other, $blocker;
}

# [label, query, settings]; all rows take most of the pool.
my @cursors = (
	[ 'rows', 'SELECT i, few, m FROM t ORDER BY h, i' ],
	[ 'text', 'SELECT i FROM t ORDER BY m DESC' ],
	[ 'ties', 'SELECT few, h, m FROM t ORDER BY few, h' ],
	[ 'a limit', 'SELECT i, m FROM t ORDER BY h, i LIMIT 450000 OFFSET 10' ]);

for my $case (@cursors)
{
	my ($label, $query) = @$case;
	my @rows = split /\n/, expected($query);
	my $session = session('BEGIN', "DECLARE c SCROLL CURSOR FOR $query");
	my $is_at = sub {
		my ($fetch, $what, @wanted) = @_;

		is($session->{psql}->query_safe($fetch), join("\n", @wanted), "$label: $what");
	};
	my $before;

	$is_at->('FETCH 5 FROM c', 'first rows', @rows[ 0 .. 4 ]);
	$before = extents_of($session);
	cmp_ok($before, '>', 16, "$label: it has more than its part of the pool");
	$is_at->('FETCH 1 FROM c', 'nobody else wants some', $rows[5]);
	is(extents_of($session), $before, "$label: ... so it keeps it");
	is(scalar(() = temp_files($node)), 0, "$label: ... and there are no files");

	while_wanted($label, sub {
		$is_at->('FETCH 1 FROM c', 'while it is wanted', $rows[6]);
		is(extents_of($session), 0, "$label: all of it is given back");
		cmp_ok(scalar(() = temp_files($node)), '>', 0, "$label: ... and rows are in files");
		$is_at->('FETCH 2 FROM c', 'the next ones', @rows[ 7 .. 8 ]);
		$is_at->('FETCH BACKWARD 3 FROM c', 'back', @rows[ 7, 6, 5 ]);
	});
	$is_at->('FETCH ABSOLUTE 300000 FROM c', 'in the middle', $rows[299999]);
	$is_at->('FETCH LAST FROM c', 'the last one', $rows[-1]);
	$is_at->('FETCH FORWARD 1 FROM c', 'behind it');
	$is_at->('FETCH BACKWARD 2 FROM c', 'back again', @rows[ -1, -2 ]);
	$is_at->('MOVE ABSOLUTE 0 FROM c', 'to the beginning');
	for (my $first = 0; $first < @rows; $first += 49_999)
	{
		my $last = $first + 20 < @rows ? $first + 20 : $#rows;

		$session->{psql}->query_safe("MOVE ABSOLUTE $first FROM c");
		$is_at->('FETCH ' . ($last - $first + 1) . ' FROM c', "from row $first", @rows[ $first .. $last ]);
	}
	$session->{psql}->query_safe('COMMIT');
	is(extents_of($session), 0, "$label: nothing is left in the pool");
	is(scalar(() = temp_files($node)), 0, "$label: ... nor in files");
	$session->{psql}->quit;
}

# At the end of a LIMIT, whose last row is shown once more.
{
	my $query = 'SELECT i, m FROM t ORDER BY h, i LIMIT 499000';
	my @rows = split /\n/, expected($query);
	my $session = session('BEGIN', "DECLARE c SCROLL CURSOR FOR $query");

	$session->{psql}->query_safe('MOVE 498999 IN c');
	while_wanted('end of a limit', sub {
		is($session->{psql}->query_safe('FETCH 2 FROM c'), $rows[-1], 'the last row of a limit');
		is(extents_of($session), 0, '... it has given way there');
		is($session->{psql}->query_safe('FETCH BACKWARD 2 FROM c'), "$rows[-1]\n$rows[-2]", '... back from there');
	});
	$session->{psql}->quit;
}

# Who must not write files keeps what it has.
for my $setting ('temp_file_limit = 1', 'gpusort.enable_spill = off')
{
	my $session = session("SET $setting", 'BEGIN', 'DECLARE c CURSOR FOR SELECT i, few, m FROM t ORDER BY h, i', 'MOVE 5 IN c');
	my $before = extents_of($session);

	cmp_ok($before, '>', 16, "$setting: in the pool");
	while_wanted($setting, sub {
		$session->{psql}->query_safe('MOVE 5 IN c');
		is(extents_of($session), $before, "$setting: it stays there");
	});
	$session->{psql}->quit;
}

done_testing;
