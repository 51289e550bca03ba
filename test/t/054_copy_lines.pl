# Where a COPY FROM ends in the middle of its input: the error names the line that PostgreSQL's names.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IO::Socket::UNIX;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = start_node('main', 'max_parallel_maintenance_workers = 2');

$node->safe_psql('postgres', 'CREATE TABLE t (id int4, v text); CREATE TABLE keyed (id int4 PRIMARY KEY, v text)');

# ---------- a client of our own ----------

sub message
{
	my ($type, $body) = @_;
	return $type . pack('N', 4 + length $body) . $body;
}

sub connect_client
{
	my ($settings) = @_;
	my $client = IO::Socket::UNIX->new(Peer => $node->host . '/.s.PGSQL.' . $node->port) or die "cannot connect: $!\n";
	my $user = $ENV{PGUSER} // scalar getpwuid $<;
	my $parameters = join "\0", 'user', $user, 'database', 'postgres', 'options', $settings, '', '';

	print $client pack('NN', 8 + length $parameters, 196608) . $parameters;
	$client->flush;
	until_ready($client);
	return $client;
}

# What has come up to a message of one of these types, or the end: errors, as severity, code, text and context.
sub until_types
{
	my ($client, $types) = @_;
	my @errors;

	local $SIG{ALRM} = sub { die "no answer\n" };
	alarm 120;
	while (read($client, my $head, 5) == 5)
	{
		my ($type, $length) = unpack 'aN', $head;

		read($client, my $body, $length - 4) == $length - 4 or die 'half a message';
		if ($type eq 'E')
		{
			my %fields = map { substr($_, 0, 1) => substr($_, 1) } split /\0/, $body;
			push @errors, "$fields{S} $fields{C} $fields{M}; " . ($fields{W} // '');
		}
		last if index($types, $type) >= 0;
	}
	alarm 0;
	return join "\n", @errors;
}

sub until_ready
{
	my ($client) = @_;
	return until_types($client, 'Z');
}

# The errors of a COPY that gets so many lines, half a line, and then these messages.
sub copy_errors
{
	my ($settings, $copy, $lines, @ending) = @_;

	return errors_of($settings, $copy, join('', map { "$_\tvalue $_\n" } 1 .. $lines) . '0', @ending);
}

# ... or this input.
sub errors_of
{
	my ($settings, $copy, $data, @ending) = @_;
	my $client = connect_client($settings);

	print $client message('Q', "$copy\0");
	$client->flush;
	until_types($client, 'GZ');
	# some messages, which end somewhere
	print $client message('d', substr $data, 0, 30001, '') while length $data > 30001;
	print $client message('d', $data), @ending;
	$client->flush;
	return until_ready($client);
}

for my $table ('t', 'keyed')
{
	for my $lines (0, 1, 100, 8000, 150000)
	{
		for my $case ([ 'a query' => message('Q', "SELECT 1\0") ], [ 'a parse' => message('P', "\0SELECT 1\0\0\0"), message('S', '') ],
			[ 'giving up' => message('f', "no more\0") ], [ 'flushed and given up' => message('H', ''), message('S', ''), message('f', "no more\0") ])
		{
			my ($label, @ending) = @$case;
			next if $lines > 8000 && $label !~ /^(a query|giving up)$/;
			my ($theirs, @ours) = map { copy_errors($_, "COPY $table FROM STDIN", $lines, @ending) } '-c gpusort.enabled=off', '-c gpusort.force=on', '-c gpusort.force=off';
			my $line = $lines + 1;

			like($theirs, qr/^ERROR .*COPY $table, line $line\b/, "$table, $label after $lines lines: PostgreSQL's line");
			is($ours[0], $theirs, '... by force');
			is($ours[1], $theirs, '... as it is');
		}
	}
}
# The same of the binary format: the column is told, too.
for my $records (0, 100, 150000)
{
	my $data = "PGCOPY\n\xff\r\n\0" . pack('NN', 0, 0) . join '', map { pack 'nNNN/a', 2, 4, $_, "value $_" } 1 .. $records;

	for my $part ('', "\0", pack('nN', 2, 4), pack('nNNN', 2, 4, 1, 5) . 'x', pack('n', 65535))
	{
		for my $case ([ 'a query' => message('Q', "SELECT 1\0") ], [ 'giving up' => message('f', "no more\0") ], [ 'more' => message('d', 'mo'), message('c', '') ])
		{
			my ($label, @ending) = @$case;
			next if $records > 100 && $label ne 'giving up';
			my ($theirs, @ours) = map { errors_of($_, 'COPY t FROM STDIN (FORMAT binary)', "$data$part", @ending) } '-c gpusort.enabled=off', '-c gpusort.force=on', '-c gpusort.force=off';
			my $line = $records + 1;

			like($theirs, qr/^ERROR .*COPY t, line $line\b/, "binary, $label after $records records and " . length($part) . " bytes: PostgreSQL's line");
			is($ours[0], $theirs, '... by force');
			is($ours[1], $theirs, '... as it is');
		}
	}
}
# A line before is wrong: then what comes instead of lines is the next command.
for my $settings ('-c gpusort.enabled=off', '-c gpusort.force=on')
{
	my $client = connect_client($settings);

	print $client message('Q', "COPY t FROM STDIN\0");
	$client->flush;
	until_types($client, 'G');
	print $client message('d', "1\tx\n" x 700 . "x\ty\n" . "1\tx\n" x 300), message('Q', "SELECT 1/0\0");
	$client->flush;
	like(until_ready($client), qr/invalid input syntax .*line 701\b/, "$settings: a wrong line before a query");
	like(until_ready($client), qr/^ERROR 22012/, '... which is done');
}
# nothing behind an end marker is looked at, but what kind of message it is

my ($theirs, $ours) = map { copy_errors($_, 'COPY t FROM STDIN', 8000, message('d', "\tx\n\\.\n"), message('d', "junk\n" x 100), message('Q', "SELECT 1\0")) } '-c gpusort.enabled=off', '-c gpusort.force=on';
like($theirs, qr/unexpected message type 0x51/, 'a query behind an end marker');
is($ours, $theirs, '... likewise');

# ... but for some bytes behind one that no character ends before
for my $behind ('', 'junk', 'junk ' x 100)
{
	my ($theirs, $ours) = map { copy_errors($_, q{COPY t FROM STDIN (ENCODING 'EUC_JP')}, 10, message('d', "\tx\x8f\xab\n\\.\n$behind"), message('f', "no more\0")) }
		'-c gpusort.enabled=off', '-c gpusort.force=on';
	like($theirs, $behind eq 'junk ' x 100 ? qr/invalid byte sequence/ : qr/no more/, 'no character before an end marker, ' . length($behind) . ' bytes behind it');
	is($ours, $theirs, '... likewise');
}

# A client that gives up behind a marker: up to 17 the fields before the marker, which are wrong, are not looked at before.
for my $marked ("1\\.\n", "1\\.\njunk", "\\.\n", "1\t2\n\\.\n", "x\t2\n3\\.\n", "x\\.\n", "x\\.\r", "x\\.\r\n", "1\t2\rx\\.\r", "1\t2\r\nx\\.\r\n", "1\t2\r\nx\\.\r", "1\t2\nx\\.\r", "x\xff\\.\n", "1\t\\\\.\n")
{
	my ($theirs, $ours) = map { copied($_, '', $marked, [ f => "no more\0" ]) } '-c gpusort.enabled=off', '-c gpusort.force=on';
	is($ours, $theirs, 'a client that gives up behind ' . unpack 'H*', $marked);
}

# Up to 17 a marker may stand behind the fields of a line, which is the last one then: of the first line, after many, in one
# message with what follows or not, between characters of which a byte is a backslash, and escaped, where it is none.
sub copied
{
	my ($settings, $options, @data) = @_;
	my $client = connect_client($settings);

	$node->safe_psql('postgres', 'TRUNCATE t');
	print $client message('Q', "COPY t FROM STDIN $options\0");
	$client->flush;
	until_types($client, 'GZ');
	print $client (map { ref $_ ? message(@$_) : message('d', $_) } @data), message('c', '');
	$client->flush;
	return until_ready($client) . ' ' . $node->safe_psql('postgres', q(SELECT count(*), string_agg(t::text, ' ' ORDER BY id) FILTER (WHERE id > 60000 OR id < 10) FROM t));
}

my $many = join '', map { "$_\tvalue $_\n" } 10 .. 60000;
for my $case ([ 'of the first line', '', "7\tx\\.\n8\ty\n" ], [ 'after many lines', '', "${many}60001\tx\\.\n8\ty\n" ], [ 'behind it nothing but junk', '', "${many}60001\tx\\.\n8\n" ],
	[ 'in two messages', '', $many, "60001\tx\\", ".\n", "8\ty\n" ], [ 'its end in another message', '', "${many}60001\tx\\.", "\n8\ty\n" ], [ 'carriage returns', '', "7\tx\r8\ty\\.\r9\tz\r" ],
	[ 'both', '', "7\tx\r\n8\ty\\.\r\n9\tz\r\n" ], [ 'the first one, both', '', "7\tx\\.\r\n9\tz\r\n" ], [ 'no newline', '', "7\tx\\." ], [ 'escaped', '', "7\tx\\\\.\n8\ty\\\\\\.\n9\tz\n" ],
	[ 'GBK', q{(ENCODING 'GBK')}, "7\t\x81\\.\n8\ty\\.\n9\tz\n" ], [ 'GBK, escaped', q{(ENCODING 'GBK')}, "7\t\\\x81\\.\n8\t\\\\\x81\\\\.\n8\ty\x81\\\\.\n9\tz\n" ],
	[ 'SJIS', q{(ENCODING 'SJIS')}, "7\t\x83\\.\n8\ty\\.\n9\tz\n" ], [ 'CSV', '(FORMAT csv)', "7,x\\.\n8,y\n" ], [ 'a line of CSV', '(FORMAT csv)', "7,x\n\\.\n8,y\n" ])
{
	my ($label, $options, @data) = @$case;
	my $theirs = copied('-c gpusort.enabled=off', $options, @data);

	is(copied("-c gpusort.$_", $options, @data), $theirs, "an end marker behind fields, $label: $_") for 'force=on', 'force=off';
}
$node->safe_psql('postgres', 'TRUNCATE t');

# A connection that is lost: what the log says.
for my $settings ('-c gpusort.enabled=off', '-c gpusort.force=on')
{
	my $log = -s $node->logfile;
	my $client = connect_client($settings);

	print $client message('Q', "COPY t FROM STDIN\0");
	$client->flush;
	until_types($client, 'G');
	print $client message('d', "1\tx\n" x 700);
	$client->flush;
	close $client;
	ok($node->wait_for_log(qr/unexpected EOF on client connection with an open transaction\n.*CONTEXT:  COPY t, line 701\n/, $log), "$settings: lost at a line");
}

# ---------- cancelled ----------

# The server has read what was sent, and waits for more.  TIOCOUTQ: bytes that are not read yet.
sub wait_until_read
{
	my ($client) = @_;
	my $unread = pack 'i', 0;

	do
	{
		ioctl $client, 0x5411, $unread or die "ioctl: $!";
	} while (unpack('i', $unread) > 0 && $node->safe_psql('postgres', 'SELECT pg_sleep(0.01)') eq '');
	$node->poll_query_until('postgres', q(SELECT wait_event = 'ClientRead' FROM pg_stat_activity WHERE application_name = 'victim')) or die 'it does not wait';
}

for my $settings ('-c gpusort.enabled=off', '-c gpusort.force=on', '-c gpusort.force=off')
{
	my $client = connect_client("$settings -c application_name=victim");

	print $client message('Q', "COPY t FROM STDIN\0");
	$client->flush;
	until_types($client, 'G');
	print $client map { message('d', "$_\tx\n") } 1 .. 100;
	$client->flush;
	wait_until_read($client);
	$node->safe_psql('postgres', q(SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'));
	# it is looked at with the next message
	print $client message('d', "101\tx\n"), message('c', '');
	$client->flush;
	like(until_ready($client), qr/due to user request; COPY t, line 101\b/, "$settings: cancelled at the line");

	print $client message('Q', "COPY t FROM STDIN (FORMAT binary)\0");
	$client->flush;
	until_types($client, 'G');
	print $client message('d', "PGCOPY\n\xff\r\n\0" . pack 'NN', 0, 0), map { message('d', pack 'nNNN/a', 2, 4, $_, 'x') } 1 .. 100;
	$client->flush;
	wait_until_read($client);
	$node->safe_psql('postgres', q(SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim'));
	print $client message('d', pack 'nNNN/a', 2, 4, 101, 'x'), message('c', '');
	$client->flush;
	like(until_ready($client), qr/due to user request; COPY t, line 101\b/, "$settings: ... of a binary input");
}
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM keyed)'), '0|0', 'nothing is left');

# ---------- converted ----------

# Workers, too, receive text in the client's encoding: no line is left to PostgreSQL.
my $file = $node->data_dir . '/latin';
my ($differ, $said);

$node->psql('postgres', qq(SET client_encoding = 'LATIN1'; SET gpusort.force = on;
	COPY (SELECT i, repeat(U&'\\00E9\\00FC', i % 10) FROM generate_series(1, 200000) i) TO '$file' (FORMAT binary);
	SET client_min_messages = debug1;
	COPY t FROM '$file' (FORMAT binary);
	SET client_min_messages = warning;
	SELECT count(*), count(*) FILTER (WHERE v <> repeat(U&'\\00E9\\00FC', id % 10)) FROM t), stdout => \$differ, stderr => \$said);
like($said, qr/gpusort loaded with \d workers/, 'workers load what is converted');
like($said, qr/gpusort loaded 200000 rows$/m, '... all of it');
is($differ, '200000|0', '... and rightly');

# ---------- read ahead ----------

# A header that is as long as the server's buffer leaves nothing there, but the stream of a program has read on.
for my $extension (65516, 65517, 65518)
{
	open my $out, '>:raw', $file or die "cannot write $file: $!\n";
	print $out "PGCOPY\n\xff\r\n\0", pack('NN', 0, $extension), 'x' x $extension, map { pack 'nNNN/a', 2, 4, $_, 'v' } 1 .. 20000;
	close $out;
	is($node->safe_psql('postgres', qq(SET gpusort.force = on; TRUNCATE t;
		COPY t FROM PROGRAM 'head -c 64 "$file"; sleep 0.1; tail -c +65 "$file"' (FORMAT binary);
		SELECT count(*), min(id), max(id) FROM t)), '20000|1|20000', "behind a header of $extension bytes");
}
$node->stop;
done_testing();
