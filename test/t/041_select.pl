# Rows sent to the client: the bytes of the protocol are those that PostgreSQL sends, from one process and
# from several; and every way to stop in the middle.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'gpusort.pool_size = 128MB', 'gpusort.force = on', 'max_worker_processes = 12', 'max_parallel_workers = 12',
	'max_parallel_workers_per_gather = 2');

$node->safe_psql('postgres', q(
	CREATE EXTENSION gpusort;
	CREATE TABLE t AS SELECT i, hashint8(i)::int8 * 1000003 AS h, i / 7.0::float8 AS f, i / 3.0 AS n, CASE WHEN i % 5 > 0 THEN 'ü' || repeat('x', i % 100) || i END AS s,
		timestamptz '2000-01-01 UTC' + i * interval '1.5 s' AS ts, ARRAY[i, NULL, 3] AS a, decode(md5(i::text), 'hex') AS b, i % 2 = 0 AS bo,
		CASE WHEN i % 500 = 0 THEN repeat(md5(i::text), 500) END AS big
	FROM generate_series(1, 8000) i;
	CREATE TABLE wide AS SELECT i, repeat('x', 1000) AS pad FROM generate_series(1, 20000) i;
	CREATE TABLE failing AS SELECT i, CASE WHEN i IN (5000, 5500, 7000) THEN chr(20000 + i % 1000) ELSE 'x' END AS t FROM generate_series(1, 20000) i));
my $pool_bytes = service($node, 'pool_bytes_free');

# ---------- a client ----------

sub message
{
	my ($type, $body) = @_;
	return $type . pack('N', 4 + length $body) . $body;
}

sub connection
{
	my $socket = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "no connection: $!\n";
	my $start = pack('N', 196608) . join("\0", 'user', (getpwuid $<)[0], 'database', 'postgres', '', '');

	binmode $socket;
	$socket->syswrite(pack('N', 4 + length $start) . $start);
	answer($socket);
	return $socket;
}

# All messages up to the one that the server is ready.
sub answer
{
	my ($socket) = @_;
	my @messages;
	my $buffer = '';

	for (;;)
	{
		while (length $buffer >= 5 && length $buffer > unpack('N', substr $buffer, 1, 4))
		{
			my $length = 1 + unpack('N', substr $buffer, 1, 4);

			push @messages, substr($buffer, 0, $length, '');
			return @messages if $messages[-1] =~ /^Z/;
		}
		last unless $socket->sysread($buffer, 1 << 20, length $buffer);
	}
	return @messages;
}

sub simple
{
	my ($socket, $query) = @_;

	$socket->syswrite(message('Q', "$query\0"));
	return answer($socket);
}

# With the columns' formats, and no more rows at a time than these; then the rest.
sub extended
{
	my ($socket, $query, $formats, $rows) = @_;

	$socket->syswrite(message('P', "\0$query\0" . pack('n', 0)) . message('B', "\0\0" . pack('nnn', 0, 0, scalar @$formats) . pack('n*', @$formats)) .
			message('D', "P\0") . message('E', "\0" . pack('N', $rows)) . message('E', "\0" . pack('N', 0)) . message('S', ''));
	return answer($socket);
}

# ---------- the same bytes ----------

my $ours = connection();
my $theirs = connection();
simple($theirs, 'SET gpusort.enable_select = off');

# What is sent is the same; returns what gpusort says about it.
sub same_bytes
{
	my ($label, $send, @arguments) = @_;
	my @expected = $send->($theirs, @arguments);
	my @messages = $send->($ours, @arguments);
	my @notices = grep { /^N/ } @messages;

	@messages = grep { !/^N/ } @messages;
	cmp_ok(scalar @expected, '>', 1, "$label: there is an answer");
	ok(join('', @messages) eq join('', @expected), "$label: the same bytes") or diag scalar(@messages), ' messages, not ', scalar @expected;
	return join '', @notices;
}

sub set
{
	simple($_, join '; ', @_) for $ours, $theirs;
}

my $columns = 'i, h, f, n, s, ts, a, b, bo, big';
my $rows = "SELECT $columns FROM t ORDER BY h, i";
for my $workers (0, 2)
{
	my $label = "$workers workers";

	set("SET max_parallel_workers_per_gather = $workers", "SET gpusort.slice_pages = 1");
	simple($ours, 'SET client_min_messages = debug1');
	like(same_bytes("$label, text", \&simple, $rows), qr/gpusort sent 8000 rows/, "$label: sent by gpusort");
	like(same_bytes("$label, text, extended", \&extended, $rows, [], 0), qr/gpusort sent 8000 rows/, "$label: ... in the extended protocol, too");
	like(same_bytes("$label, binary", \&extended, $rows, [1], 0), qr/gpusort sent 8000 rows/, "$label: ... and binary");
	same_bytes("$label, both formats", \&extended, $rows, [ map { $_ % 2 } 1 .. 10 ], 0);
	like(same_bytes("$label, anonymous rows", \&simple, 'SELECT row(i, s) FROM t ORDER BY h, i'), qr/gpusort sent 8000 rows/, "$label: ... and anonymous rows");
	same_bytes("$label, a format that is not known", \&extended, $rows, [7], 0);
	same_bytes("$label, no columns", \&simple, 'SELECT FROM t ORDER BY h, i');
	like(same_bytes("$label, a limit", \&simple, "$rows LIMIT 3000 OFFSET 50"), qr/gpusort sent 3000 rows/, "$label: ... of the rows of a limit");
	unlike(same_bytes("$label, few rows", \&simple, "$rows LIMIT 5"), qr/gpusort sent/, "$label: few are PostgreSQL's");
	same_bytes("$label, several queries", \&simple, "$rows; SELECT 1; SELECT i FROM t ORDER BY s, i");
	like(same_bytes("$label, some rows at a time", \&extended, $rows, [], 5000), qr/gpusort sent 3000 rows/, "$label: ... and the rest of a portal that was asked for some");
	same_bytes("$label, a cursor", \&simple, "BEGIN; DECLARE c CURSOR FOR $rows; FETCH 10 FROM c; FETCH ALL FROM c; COMMIT");
	same_bytes("$label, rows that are fetched by TID", \&simple, "SET gpusort.late_rows = on; $rows; RESET gpusort.late_rows");
	same_bytes("$label, junk in front", \&simple, 'SELECT s, n FROM (SELECT h AS a, * FROM t) q ORDER BY a, i');
	for my $encoding ('LATIN1', 'GB18030', 'SQL_ASCII')
	{
		set("SET client_encoding = $encoding");
		same_bytes("$label, $encoding", \&simple, $rows);
		same_bytes("$label, $encoding, binary", \&extended, $rows, [1], 0);
	}
	set('RESET client_encoding');
	same_bytes("$label, a prepared statement", \&simple, "PREPARE p AS $rows; EXECUTE p; EXECUTE p; DEALLOCATE p");
	same_bytes("$label, a function", \&simple, "CREATE FUNCTION pg_temp.f() RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t ORDER BY h, i'; SELECT * FROM pg_temp.f()");
	same_bytes("$label, settings", \&simple, "SET DateStyle = SQL; SET extra_float_digits = -3; SET bytea_output = escape; $rows; RESET DateStyle; RESET extra_float_digits; RESET bytea_output");
}
like(same_bytes('workers', \&simple, $rows), qr/slices by them/, 'there are workers');
unlike(same_bytes('anonymous rows', \&simple, 'SELECT row(i, s) FROM t ORDER BY h, i'), qr/slices by them/, 'none for what only the leader knows');

# ---------- errors ----------

set('SET client_encoding = LATIN1');
for my $workers (0, 2)
{
	set("SET max_parallel_workers_per_gather = $workers");
	for my $query ('SELECT i, t FROM failing ORDER BY i', 'SELECT i, t FROM failing ORDER BY -i')
	{
		my @ours = simple($ours, $query);
		my @theirs = simple($theirs, $query);

		# where in the source it was reported is not the same in all versions
		is_deeply([ grep { /^E/ } @ours ], [ grep { /^E/ } @theirs ], "$query, $workers workers: the same error");
		cmp_ok(scalar(grep { /^D/ } @ours), '<=', scalar(grep { /^D/ } @theirs), "$query, $workers workers: no row behind it");
		is($ours[-1], $theirs[-1], "$query, $workers workers: and the session goes on");
	}
}

# ---------- clients that do not read ----------

# A client that sends a query and reads nothing; returns its server process.
sub begin_slow
{
	my $slow = connection();
	my ($pid) = join('', simple($slow, 'SELECT pg_backend_pid()')) =~ /D.{4}\x00\x01\x00\x00\x00.(\d+)/s;
	my $waiting = q(SELECT FROM pg_stat_activity WHERE backend_type = 'parallel worker' AND wait_event = 'MessageQueueSend');

	$slow->syswrite(message('Q', "SELECT * FROM wide ORDER BY i DESC\0"));
	ok($node->poll_query_until('postgres', "SELECT count(*) = 2 FROM ($waiting) w"), 'workers wait for a client that does not read');
	return ($slow, $pid);
}

sub is_gone
{
	my ($pid, $label) = @_;

	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = $pid OR backend_type = 'parallel worker'"), "$label: the session ends");
	nothing_is_left($node, $pool_bytes, $label);
}

my ($slow, $pid) = begin_slow();
is(scalar(grep { /^D/ } answer($slow)), 20000, 'a client that reads later gets all rows');
($slow, $pid) = begin_slow();
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
is_gone($pid, 'terminated');
($slow, $pid) = begin_slow();
$slow->close;
is_gone($pid, 'the client is gone');
($slow, $pid) = begin_slow();
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
my @messages = answer($slow);
like(join('', grep { /^E/ } @messages), qr/canceling statement due to user request/, 'canceled');
like($messages[-1], qr/^Z/, 'and the session goes on');
like(join('', simple($slow, 'SELECT 1')), qr/SELECT 1/, 'as usual');
nothing_is_left($node, $pool_bytes, 'canceled');

done_testing();
