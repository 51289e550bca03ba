# PgWire.pm
#	A small client for PostgreSQL's wire protocol, version 3.
#
# The fuzzer and the benchmark need more of a connection than psql shows
# (notices apart from results, SQLSTATEs, portals read in pieces) on machines
# that have nothing but Perl's core modules, so they speak the protocol
# themselves.  Text format only, no TLS; trust, peer, cleartext and MD5
# authentication, which is all a throw-away cluster needs.
#
# A command returns a result:
#	{ rows => [[...]], fields => [{name, type}], tag => 'SELECT 3',
#	  error => undef or {C => sqlstate, M => message, ...},
#	  notices => [{S, C, M, ...}] }
# If {on_row} is a function, it is called with each row, or piece of COPY's data, as it
# came, and {rows} stays empty.  {while_waiting} is called again and again while
# the server has nothing to say.  {pid} is the server's process.
# A lost connection dies with "connection lost"; SQL errors never die.
package PgWire;
use strict;
use warnings;
use Digest::MD5 qw(md5_hex);
use IO::Socket::INET;
use IO::Socket::UNIX;

sub connect
{
	my ($class, %args) = @_;
	my $host = $args{host} // $ENV{PGHOST} // '/var/run/postgresql';
	my $port = $args{port} // $ENV{PGPORT} // 5432;
	my $user = $args{user} // $ENV{PGUSER} // getpwuid($>);
	my $db = $args{dbname} // $ENV{PGDATABASE} // $user;
	my $sock =
	  $host =~ m{^/}
	  ? IO::Socket::UNIX->new(Peer => "$host/.s.PGSQL.$port")
	  : IO::Socket::INET->new(PeerAddr => $host, PeerPort => $port, Proto => 'tcp');
	die "cannot connect to $host port $port: $!\n" unless $sock;

	my $self = bless { sock => $sock, in => '', user => $user, params => {} }, $class;
	my $startup = pack('N', 196608);
	$startup .= "$_\0" for ('user', $user, 'database', $db, 'application_name', $args{name} // 'gpusort test',
		$args{options} ? ('options', $args{options}) : ());
	$startup .= "\0";
	$self->send_raw(pack('N', length($startup) + 4) . $startup);
	$self->authenticate;
	my $result = $self->collect;
	die "connection refused: $result->{error}{M}\n" if $result->{error};
	return $self;
}

sub authenticate
{
	my $self = shift;
	while (1)
	{
		my ($type, $body) = $self->read_message;
		if ($type eq 'E')
		{
			my $e = parse_fields($body);
			die "connection refused: $e->{M}\n";
		}
		next if $type ne 'R';
		my ($code, $rest) = unpack('N a*', $body);
		return if $code == 0;
		my $password = $ENV{PGPASSWORD} // '';
		if ($code == 3)
		{
			$self->send_message('p', "$password\0");
		}
		elsif ($code == 5)
		{
			$self->send_message('p', 'md5' . md5_hex(md5_hex($password . $self->{user}) . $rest) . "\0");
		}
		else
		{
			die "connection refused: only trust, peer, password and md5 authentication are supported\n";
		}
	}
}

# Simple query protocol: any number of statements.  The result holds the rows
# of the last statement that returned any, and all results in {all}.
sub query
{
	my ($self, $sql) = @_;
	$self->send_message('Q', "$sql\0");
	return $self->collect;
}

# Like query(), but an SQL error dies: for set-up that must work.
sub must
{
	my ($self, $sql) = @_;
	my $result = $self->query($sql);
	die "$result->{error}{C} $result->{error}{M}\nin: $sql\n" if $result->{error};
	return $result;
}

# First column of the first row.
sub value
{
	my ($self, $sql) = @_;
	return $self->must($sql)->{rows}[0][0];
}

# Extended protocol: one statement with parameters (text, undef is NULL), its
# portal read `fetch` rows at a time (0: all at once), and no more than `stop` times.
sub execute
{
	my ($self, $sql, $params, $fetch, $stop) = @_;
	my $bind = "\0\0" . pack('n', 0) . pack('n', scalar @$params);
	$bind .= defined $_ ? pack('N/a*', $_) : pack('N', 0xFFFFFFFF) for @$params;
	$bind .= pack('n', 0);
	$self->send_raw(message('P', "\0$sql\0" . pack('n', 0))
		  . message('B', $bind)
		  . message('D', "P\0")
		  . message('E', "\0" . pack('N', $fetch // 0))
		  . message($fetch ? 'H' : 'S', ''));
	my $result = new_result();
	while (1)
	{
		my ($type, $body) = $self->read_message;
		if ($type eq 's' && defined $stop && --$stop <= 0)
		{
			$self->send_message('S', '');
			next;
		}
		if ($type eq 's')
		{
			$self->send_raw(message('E', "\0" . pack('N', $fetch)) . message('H', ''));
			next;
		}
		$self->send_message('S', '') if $fetch && ($type eq 'C' || $type eq 'E');
		last if !$self->absorb($result, $type, $body);
	}
	return $result;
}

# COPY ... FROM STDIN; $next returns a piece of the data at a time, then undef.  It may
# return messages as [ type, body ], too; one of type f is the last.
sub load
{
	my ($self, $sql, $next) = @_;
	$self->send_message('Q', "$sql\0");
	my $result = new_result();
	while (1)
	{
		my ($type, $body) = $self->read_message;
		if ($type eq 'G')
		{
			my $last = '';
			while (defined(my $data = $next->())) { $self->send_message($last = ref $data ? $data->[0] : 'd', ref $data ? $data->[1] : $data); }
			$self->send_message('c', '') if $last ne 'f';
		}
		else { last if !$self->absorb($result, $type, $body); }
	}
	return $result;
}

# Like load(), but an SQL error dies.
sub copy_in
{
	my ($self, $sql, $next) = @_;
	my $result = $self->load($sql, $next);
	die "$result->{error}{C} $result->{error}{M}\nin: $sql\n" if $result->{error};
	return $result;
}

# A value as a field of COPY's text format.
sub copy_field
{
	my $value = shift;
	return '\\N' if !defined $value;
	$value =~ s/([\\\t\n\r])/{ '\\' => '\\\\', "\t" => '\\t', "\n" => '\\n', "\r" => '\\r' }->{$1}/ge;
	return $value;
}

sub close
{
	my $self = shift;
	eval { $self->send_message('X', '') };
	close($self->{sock});
}

# ---- messages ----

sub message { return $_[0] . pack('N', length($_[1]) + 4) . $_[1]; }
sub send_message { $_[0]->send_raw(message($_[1], $_[2])); }

sub send_raw
{
	my ($self, $bytes) = @_;
	local $SIG{PIPE} = 'IGNORE';
	my $off = 0;
	while ($off < length $bytes)
	{
		my $n = syswrite($self->{sock}, $bytes, length($bytes) - $off, $off);
		die "connection lost\n" unless defined $n;
		$off += $n;
	}
}

sub read_bytes
{
	my ($self, $want) = @_;
	while (length $self->{in} < $want)
	{
		wait_for_bytes($self) if $self->{while_waiting};
		my $n = sysread($self->{sock}, $self->{in}, 262144, length $self->{in});
		die "connection lost\n" unless $n;
	}
}

sub wait_for_bytes
{
	my $self = shift;
	my $bits = '';
	vec($bits, fileno($self->{sock}), 1) = 1;
	while (!select(my $ready = $bits, undef, undef, 0.0003)) { $self->{while_waiting}->(); }
}

sub read_message
{
	my $self = shift;
	$self->read_bytes(5);
	my ($type, $len) = unpack('a N', $self->{in});
	$self->read_bytes($len + 1);
	my $body = substr($self->{in}, 5, $len - 4);
	substr($self->{in}, 0, $len + 1, '');
	return ($type, $body);
}

sub new_result { return { rows => [], fields => [], tag => '', notices => [], all => [] }; }

sub collect
{
	my $self = shift;
	my $result = new_result();
	1 while $self->absorb($result, $self->read_message);
	return $result;
}

# Take one message into the result; false when the server is ready again.
sub absorb
{
	my ($self, $result, $type, $body) = @_;
	if ($self->{on_row} && ($type eq 'D' || $type eq 'd')) { $self->{on_row}->($body); }
	elsif ($type eq 'D')
	{
		my $n = unpack('n', $body);
		my $off = 2;
		my @row;
		for (1 .. $n)
		{
			my $len = unpack('N', substr($body, $off, 4));
			$off += 4;
			if ($len == 0xFFFFFFFF) { push @row, undef; next; }
			push @row, substr($body, $off, $len);
			$off += $len;
		}
		push @{ $result->{rows} }, \@row;
	}
	elsif ($type eq 'T')
	{
		my $n = unpack('n', $body);
		my @fields;
		my $off = 2;
		for (1 .. $n)
		{
			my $end = index($body, "\0", $off);
			my ($table, $col, $oid) = unpack('N n N', substr($body, $end + 1, 10));
			push @fields, { name => substr($body, $off, $end - $off), type => $oid };
			$off = $end + 19;
		}
		$result->{fields} = \@fields;
		$result->{rows} = [];
	}
	elsif ($type eq 'C')
	{
		$result->{tag} = substr($body, 0, -1);
		push @{ $result->{all} }, $result->{rows};
	}
	elsif ($type eq 'E') { $result->{error} = parse_fields($body); }
	elsif ($type eq 'N') { push @{ $result->{notices} }, parse_fields($body); }
	elsif ($type eq 'K') { $self->{pid} = unpack('N', $body); }
	elsif ($type eq 'S')
	{
		my ($name, $value) = split /\0/, $body;
		$self->{params}{$name} = $value;
	}
	elsif ($type eq 'Z')
	{
		$self->{status} = $body;
		return 0;
	}
	return 1;
}

sub parse_fields
{
	my $body = shift;
	my %fields;
	for my $field (split /\0/, $body)
	{
		next if $field eq '';
		$fields{ substr($field, 0, 1) } = substr($field, 1);
	}
	return \%fields;
}

1;
