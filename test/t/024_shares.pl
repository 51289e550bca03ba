# Sessions that share the pool: what each gets while others hold on to theirs, quotas of sessions
# and roles, small sorts beside large ones, and private memory that sessions keep.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep);

my $node = start_node('main', 'max_parallel_workers_per_gather = 0', 'gpusort.force = on', 'hash_mem_multiplier = 1',
	"work_mem = '128MB'", 'restart_after_crash = on', "gpusort.pool_size = '128MB'", 'gpusort.pool_quota = 50',
	"gpusort.keep_memory = 0", 'autovacuum = off');
my $pool_bytes;
my $extent = 2 * 1024 * 1024;

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i, hashint8(i) AS h, md5(i::text) AS m FROM generate_series(1, 100000) i;
	CREATE TABLE small AS SELECT i, hashint8(i) AS h FROM generate_series(1, 2000) i;
	VACUUM ANALYZE;
	CREATE ROLE limited LOGIN;
	GRANT SELECT ON t, small TO limited));
tables_stay();
$pool_bytes = $node->safe_psql('postgres', 'SELECT pool_bytes FROM gpusort_service()');

# More than any share of the pool, and one that needs four extents or five.
my $large = 'SELECT t.* FROM t, generate_series(1, 8) u(n) ORDER BY h, i, n';
my $small = 'SELECT * FROM small ORDER BY h, i';

# A session with a cursor whose sort is done; it holds what it has got.
sub holder
{
	my ($query, @settings) = @_;
	my $session = $node->background_psql('postgres', on_error_stop => 0);

	$session->query_safe($_) for @settings, 'BEGIN', "DECLARE c CURSOR FOR $query", 'MOVE 10 IN c';
	return { session => $session, pid => $session->query_safe('SELECT pg_backend_pid()') };
}

# What they hold is given back when their processes end, after the clients.
sub end_holders
{
	my $pids = join ', ', map { $_->{pid} } @_;

	$_->{session}->quit for @_;
	$node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE pid IN ($pids))") or die "sessions do not end\n";
}

# A column of gpusort_pool() for a holder; '' if it has no entry.
sub entry
{
	my ($holder, $column) = @_;

	return $node->safe_psql('postgres', "SELECT $column FROM gpusort_pool() WHERE pid = $holder->{pid}");
}

sub extents_of { return entry($_[0], 'pool_bytes') / $extent; }

sub nobody_left
{
	my ($label) = @_;

	ok($node->poll_query_until('postgres',
			'SELECT pool_bytes_free = pool_bytes AND NOT EXISTS (SELECT FROM gpusort_pool()) FROM gpusort_service()'),
		"$label: all extents are back, and nobody has an entry")
		or diag $node->safe_psql('postgres', 'SELECT * FROM gpusort_pool()');
}

# The query's sort is done in the pool and nowhere else.
sub in_pool
{
	my ($query, $label) = @_;
	my $plan = analyzed_plan_of($node, $query, work_mem => '64kB');

	like($plan, qr/Sort Method: radix  Memory: 0kB  Pool: [1-9]\d*kB/, "$label: in the pool");
	unlike($plan, qr/Handed Over|Disk/, "$label: not on disk");
	same_answer($node, $query, $label, work_mem => '64kB');
}

nobody_left('at first');

# Three cursors of a role stay open, one after the other: each has half of what was left, and a
# newcomer gets its share of the rest.
{
	my $nextents = $pool_bytes / $extent;
	my $left = $nextents;
	my @holders;

	for my $n (1 .. 3)
	{
		push @holders, holder($large);
		cmp_ok(abs(extents_of($holders[-1]) - $left / 2), '<=', 1, "cursor $n has half of the $left extents that were left");
		$left -= extents_of($holders[-1]);
	}
	$holders[1]{session}->query_safe($_) for 'COMMIT', 'SELECT 1', 'BEGIN', "DECLARE c CURSOR FOR $large";
	is(entry($holders[1], 'pid'), '', 'a session whose sort is over has no entry');
	$holders[1]{session}->query_safe('MOVE 10 IN c');
	is($node->safe_psql('postgres', "SELECT sum(pool_bytes) = (SELECT pool_bytes - pool_bytes_free FROM gpusort_service()) FROM gpusort_pool()"),
		't', 'gpusort_pool() and gpusort_service() agree');
	is(entry($holders[0], 'short_sorts'), 0, 'the first one has its quota');
	is(entry($holders[2], 'short_sorts'), 0, 'the third one would have liked to have more, but has its rows now');
	is(entry($holders[2], "format('%s %s %s', role = current_user::regrole, sorts, leader_pid)"), 't 1 ', 'role, sorts and leader are shown');
	cmp_ok($left, '>=', 6, 'there is something left');
	in_pool($small, 'a newcomer');

	# the planner knows what a newcomer would get
	my @planned = ('gpusort.force' => 'off', 'gpusort.enable_spill' => 'off', 'gpusort.min_rows' => 0, 'gpusort.late_rows' => 'off', work_mem => '64kB');
	my $medium = 'SELECT t.* FROM t, generate_series(1, 2) ORDER BY h, i';

	like(plan_of($node, $small, @planned), qr/GpuSort/, 'planned to fit into a share');
	unlike(plan_of($node, $medium, @planned), qr/GpuSort/, '... or not to');
	end_holders(shift @holders);
	ok($node->poll_query_until('postgres', "SELECT pool_bytes_free > pool_bytes / 2 FROM gpusort_service()"), 'one gives back');
	like(plan_of($node, $medium, @planned), qr/GpuSort/, '... whereupon it is');
	end_holders(@holders);
	nobody_left('idle cursors');
}

# Ten small sorts beside two large ones, all at a time.
{
	my @large = map { holder($large) } 1 .. 2;
	my @small = map { holder($small, "SET work_mem = '64kB'") } 1 .. 3;

	cmp_ok($node->safe_psql('postgres', 'SELECT pool_bytes_free FROM gpusort_service()'), '>', 0, 'three small sorts leave something');
	cmp_ok(extents_of($_), '>=', 3, 'a small sort beside large ones is in the pool') for @small;
	is(entry($_, 'short_sorts'), 0, '... and gets all that it asks for') for @small;
	end_holders(@small);
	in_pool($small, "small sort $_ of ten beside two large ones") for 1 .. 10;
	end_holders(@large);
	nobody_left('small sorts');
}

# A sort that was short begins in the pool again when it begins anew.
{
	my $first = holder($large, 'SET gpusort.pool_quota = 100');
	my $rescanned = $node->background_psql('postgres', on_error_stop => 0);
	my $second = { session => $rescanned, pid => $rescanned->query_safe('SELECT pg_backend_pid()') };

	$rescanned->query_safe($_) for 'BEGIN', "DECLARE c CURSOR FOR SELECT * FROM generate_series(1, 2) g, LATERAL
		(SELECT t.* FROM t, generate_series(1, 4) u(n) WHERE n < 9 - g ORDER BY h + g, i, n OFFSET 0) s", 'MOVE 10 IN c';
	my $before = extents_of($second);
	end_holders($first);
	$rescanned->query_safe('MOVE 400000 IN c');
	cmp_ok(extents_of($second), '>', $before, '... has more when it begins anew');
	end_holders($second);
	nobody_left('a rescan');
}

# A sort is short while it collects its rows, and no longer: others need leave it nothing then.
{
	my $lock = $node->background_psql('postgres', on_error_stop => 0);
	my $slow = 'SELECT t.* FROM t, generate_series(1, 4) u(n) WHERE n < 4 OR i < 100000 OR pg_advisory_xact_lock(1)::text IS NOT NULL ORDER BY h, i, n';

	$lock->query_safe('SELECT pg_advisory_lock(1)');
	my $first = holder($large, 'SET gpusort.pool_quota = 100');
	my $waiting = $node->background_psql('postgres', on_error_stop => 0);
	my $short = { session => $waiting, pid => $waiting->query_safe('SELECT pg_backend_pid()') };

	$waiting->query_safe($_) for 'BEGIN', "DECLARE c CURSOR FOR $slow";
	$waiting->query_until(qr/begun/, "\\echo begun\nMOVE 10 IN c;\n");
	ok($node->poll_query_until('postgres', "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"), 'a sort waits for its last rows');
	is(entry($short, 'short_sorts'), 1, '... and is short');
	$lock->quit;
	$waiting->query_safe('SELECT 1');
	is(entry($short, 'short_sorts'), 0, 'a sort that is done is short of nothing');
	end_holders($first);
	ok($node->poll_query_until('postgres', 'SELECT pool_bytes_free > pool_bytes / 2 FROM gpusort_service()'), 'another gives back what it has');
	my $last = holder($large, 'SET gpusort.pool_quota = 100');
	cmp_ok(extents_of($last), '>', 0.6 * $pool_bytes / $extent, '... and a newcomer has more than its even part of it');
	end_holders($short, $last);
	nobody_left('short');
}

# Quotas of a session and of a role, which users can't raise.
{
	my @sessions;
	my $fifth = int($pool_bytes / $extent / 5);
	my $err;

	$node->safe_psql('postgres', 'ALTER ROLE limited SET gpusort.pool_role_quota = 20');
	for my $n (1 .. 2)
	{
		my $session = $node->background_psql('postgres', on_error_stop => 0, extra_params => [ '-U', 'limited' ]);

		$session->query_safe($_) for 'BEGIN', "DECLARE c CURSOR FOR $large", 'MOVE 10 IN c';
		push @sessions, { session => $session, pid => $session->query_safe('SELECT pg_backend_pid()') };
	}
	is(extents_of($sessions[0]) + extents_of($sessions[1]), $fifth, 'two sessions of a role have its quota together');
	is(entry($sessions[1], 'role'), 'limited', '... under its name');
	is(entry($sessions[1], 'short_sorts'), 0, '... and wait for nobody else');
	in_pool($small, 'another role');
	end_holders(@sessions);
	for my $setting ('gpusort.pool_role_quota', 'gpusort.pool_session_quota', 'gpusort.pool_quota')
	{
		(undef, undef, $err) = $node->psql('postgres', "SET $setting = 100", extra_params => [ '-U', 'limited' ]);
		like($err, qr/permission denied to set parameter "$setting"/, "$setting is not the user's");
	}
	$node->safe_psql('postgres', 'ALTER ROLE limited RESET ALL');

	@sessions = holder($large, 'SET gpusort.pool_session_quota = 20');
	is(extents_of($sessions[0]), $fifth, 'a session has its quota');
	$sessions[0]{session}->query_safe($_) for "DECLARE c2 CURSOR FOR $small", 'MOVE 10 IN c2';
	is(extents_of($sessions[0]), $fifth, '... with all its sorts');
	is(entry($sessions[0], 'sorts'), 2, '... of which there are two') or diag $node->safe_psql('postgres', 'SELECT * FROM gpusort_pool()');
	end_holders(@sessions);
	nobody_left('quotas');
}

# Private memory that sessions keep, all together.
{
	my $total = 112 * 1024 * 1024;
	my $kept = 'SELECT coalesce(sum(kept_bytes), 0) FROM gpusort_pool()';
	my @sessions;

	$node->safe_psql('postgres', $_) for "ALTER SYSTEM SET gpusort.keep_memory_total = '112MB'", 'ALTER SYSTEM RESET gpusort.keep_memory',
		'SELECT pg_reload_conf()';
	ok($node->poll_query_until('postgres', "SELECT current_setting('gpusort.keep_memory_total') = '112MB'"), 'keep_memory_total is set');
	for my $n (1 .. 4)
	{
		my $session = $node->background_psql('postgres', on_error_stop => 0);

		push @sessions, { session => $session, pid => $session->query_safe('SELECT pg_backend_pid()') };
		$session->query_safe($_) for "SET gpusort.keep_memory = '1GB'", 'SET gpusort.pool_quota = 0',
			"SELECT count(s) FROM (SELECT t.* FROM t, generate_series(1, 4) ORDER BY h OFFSET 0) s";
		cmp_ok(entry($sessions[-1], 'kept_bytes') || 0, '>', 0, "session $n keeps something");
		cmp_ok($node->safe_psql('postgres', $kept), '<=', $total, "... and all together no more than they may");
	}
	cmp_ok($node->safe_psql('postgres', $kept), '>', $total * 0.7, 'most of it is used');
	$node->safe_psql('postgres', $_) for "ALTER SYSTEM SET gpusort.keep_memory_total = '16MB'", 'SELECT pg_reload_conf()';
	for my $session (@sessions)
	{
		sleep 0.1 until $session->{session}->query_safe('SHOW gpusort.keep_memory_total') eq '16MB';
	}
	cmp_ok($node->safe_psql('postgres', $kept), '<=', 16 * 1024 * 1024, 'a lower limit takes kept memory away');
	end_holders(@sessions);
	$node->safe_psql('postgres', $_) for 'ALTER SYSTEM RESET ALL', 'SELECT pg_reload_conf()';
	nobody_left('kept memory');
}

# Sessions that are ended, and one that is killed.
{
	my @holders = map { holder($large) } 1 .. 2;

	$node->safe_psql('postgres', "SELECT pg_terminate_backend($holders[0]{pid})");
	ok($node->poll_query_until('postgres', "SELECT NOT EXISTS (SELECT FROM gpusort_pool() WHERE pid = $holders[0]{pid})"),
		'a session that is terminated has no entry any more');
	cmp_ok(extents_of($holders[1]), '>', 0, '... others have');
	crash($node, $holders[1]{pid});
	nobody_left('kill -9');
	in_pool($small, 'kill -9');
	for my $holder (@holders)
	{
		eval { $holder->{session}->quit };
	}
}
$node->stop;
done_testing();
