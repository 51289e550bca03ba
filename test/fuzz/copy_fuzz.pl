#!/usr/bin/perl
# copy_fuzz.pl
#	Differential fuzzer of COPY FROM: every input once with gpusort.enable_copy off, once with
#	it on and forced, and rows, errors and notices must agree, with their lines.
#
# Runs against a server with gpusort loaded, given by PGHOST, PGPORT and PGUSER, in
# databases of its own, of several encodings, that it drops at the end.  Needs a superuser.
#
#	--seconds N		stop after so long (60)
#	--seed S		first seed (from the clock); each input uses the next
#	--inputs N		stop after so many inputs
#	--failures N	stop after so many failures (1)
#	--long F		make this part of the inputs some hundred kB long (0.02)
#	--verbose		print every statement
#
# A failure is printed with its statements and its input, which is made as short as it can be.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Encode;
use File::Temp;
use Getopt::Long;
use Time::HiRes qw(time);
use PgWire;

my %opt = (seconds => 60, seed => int(time) % 1_000_000_000, inputs => 1e9, failures => 1, long => 0.02);
GetOptions(\%opt, 'seconds=f', 'seed=i', 'inputs=i', 'failures=i', 'long=f', 'verbose') or exit 2;
$| = 1;

sub pick { return $_[ rand @_ ]; }
sub chance { return rand() < $_[0]; }

# ---- tables ----

# Of each type, values that it takes, and others, of which it refuses some.
my %values = (
	int2 => [ sub { pick(0, -1, int(rand 65536) - 32768, int(rand 100)) }, sub { pick(32768, ' 5', '+3', '1x', '') } ],
	int4 => [ sub { pick(0, 7, int(rand 1e6), int(rand 4294967296) - 2147483648) }, sub { pick(2147483648, ' 5', '+3', '1x', '') } ],
	int8 => [ sub { pick(int(rand 1e9) . int(rand 1e9), -int(rand 1e9), '007') }, sub { pick('9223372036854775808', '-', '1e3') } ],
	float8 => [ sub { pick(rand() * 1000, '1e10', '-0', 'NaN', '.5', 'inf', int(rand 1e6) / 100) }, sub { pick('1e400', '1.2.3', '') } ],
	numeric => [ sub { pick(int(rand 1e6) / 100, '1e5', '0.00', '-7', 'NaN') }, sub { pick('1.2.3', '--1', ' 4 ') } ],
	bool => [ sub { pick('t', 'f', 'true', 'no', 'FALSE') }, sub { pick('x', '', ' t') } ],
	date => [ sub { sprintf pick('%04d-%02d-%02d', '%04d%02d%02d', '%d-%d-%d'), 1990 + rand 40, 1 + rand 12, 1 + rand 28 }, sub { pick('2001-02-29', '2001-13-01', 'toda', 'infinity') } ],
	timestamp => [ sub { sprintf '20%02d-%02d-%02d %02d:%02d:%02d%s', rand 99, 1 + rand 12, 1 + rand 28, rand 24, rand 60, rand 60, pick('', '.5', '.123456', 'Z') }, sub { pick('2000-01-01 24:00:00', '2000-01-01 25:00:00', '2000-01-01 00:00:60') } ],
	text => [ sub { join '', map { pick('a', 'bc', ' ', 'é', '€', '表', 'ソ十', ',', "\t", '"', '\\', "\n", "\r", "\\.", '\\N', "'", ';', '|', '0', 'x41', 'longer than others ' x 5) } 1 .. rand 6 }, sub { pick("\xc3", 'z' x 9000, '') } ],
	'varchar(5)' => [ sub { join '', map { pick('a', 'é', ' ', ',') } 1 .. rand 6 }, sub { pick('123456', 'a      ') } ],
	bytea => [ sub { pick('\\x00ff', 'abc') }, sub { pick('\\x0', '\\400') } ],
	float4 => [ sub { pick(rand() * 1000, '16777216', '16777217', '0.1', '-0.0', '1e-40') }, sub { pick('1e39', '1.2.3', 'x') } ],
	timestamptz => [ sub { sprintf '%04d-%02d-%02d %02d:%02d:%02d%s%s', 1 + rand 2999, 1 + rand 12, 1 + rand 28, rand 24, rand 60, rand 60, pick('', '.5', '.123456', '.1234567'), pick('', '+00', '-08', '+14', '+15', '+05:30', 'Z', ' Europe/Berlin') }, sub { pick('2000-01-01 24:00:00+00', '0000-01-01 00:00:00+00', '2000-02-30', '2000-01-01 00:00:00+16') } ],
	'timestamp(2)' => [ sub { sprintf '20%02d-%02d-%02d %02d:%02d:59.99%d', rand 99, 1 + rand 12, 1 + rand 28, rand 24, rand 60, rand 10 }, sub { pick('294277-01-01', 'nox') } ],
	interval => [ sub { pick('1 day', '1-2', '3:04:05.6', int(rand 99) . ' mons') }, sub { pick('1 dy', '99999999999 years') } ],
	uuid => [ sub { join '-', map { my $n = $_; join '', map { pick(0 .. 9, 'a' .. 'f', 'A') } 1 .. $n } 8, 4, 4, 4, 12 }, sub { pick('{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1g') } ],
	'char(4)' => [ sub { join '', map { pick('a', 'é', ' ', '表') } 1 .. rand 4 }, sub { pick('abcde', 'abcd  ') } ],
	name => [ sub { pick('n', 'm' x 70, 'é' x 40) }, sub { '' } ],
	jsonb => [ sub { pick('{"a": [1, 2.50]}', '"x"', 'null', '{"b":1,"a":2,"b":3}') }, sub { pick('{', '"\\u0000"', '') } ],
	'int4[]' => [ sub { pick('{}', '{1,2}', '{{1},{NULL}}', '[0:1]={5,6}') }, sub { pick('{1', '{x}', '{{1},{2,3}}') } ],
	'text[]' => [ sub { pick('{}', '{a,"b c"}', '{"\\"",NULL}', '{é}') }, sub { pick('{"', '{a}}') } ],
	int4range => [ sub { pick('[1,5]', 'empty', '(,3)', '[2,)') }, sub { pick('[5,1]', '[a,b]') } ],
	'numeric(6,2)' => [ sub { pick('1.005', '-9999.99', '0', 'NaN') }, sub { pick('99999', 'inf') } ],
	inet => [ sub { pick('10.0.0.1/8', '::1', '1.2.3.4') }, sub { pick('1.2.3.400', '10.0.0.1/33') } ],
	'bit(3)' => [ sub { pick('101', 'x5') }, sub { pick('1', '102') } ],
	money => [ sub { pick('1.50', '-3', '\$2') }, sub { pick('x', '99999999999999999999') } ],
	tsvector => [ sub { pick("a:1 b:2A", "'x y' z", '') }, sub { pick("'x", 'a:') } ],
	point => [ sub { pick('(1,2)', '3,4') }, sub { pick('(1', '1') } ]);

# Constraints, generated columns, defaults and domains, of which some refuse or fail for some rows.
my @conditions = ('%s IS NOT NULL', 'length(%s::text) < 12', '%s::text <> \'0\'', '100 / length(%s::text || \'x\') < 90', '10 / nullif(length(%s::text), 7) IS NOT NULL', 'left(%s::text, 1) BETWEEN \'!\' AND \'~\'', 'length(%s::text) % 3 <> 1');
sub condition
{
	my $columns = shift;
	return pick(@conditions) =~ s/%s/pick(map { $_->{name} } @$columns)/er =~ s/%%/%/r;
}

sub random_computed
{
	my $columns = shift;
	my $sql = '';
	# before anything rests on the column
	$sql .= '; CREATE DOMAIN short AS text CHECK (length(VALUE) < 30)' . pick('', ' NOT NULL') . '; ALTER TABLE t ALTER ' . (grep { $_->{type} eq 'text' } @$columns)[0]{name} . ' TYPE short' if chance(0.2) && grep { $_->{type} eq 'text' } @$columns;
	$sql .= '; ALTER TABLE t ADD CHECK (' . condition($columns) . ' OR ' . condition($columns) . ')' if chance(0.4);
	my ($text) = grep { $_->{type} eq 'text' } @$columns;
	$sql .= "; ALTER TABLE t ADD g1 text GENERATED ALWAYS AS (replace($text->{name}, 'a', 'xyz') || length($text->{name})) STORED" if $text && chance(0.4);
	$sql .= '; ALTER TABLE t ADD g2 int8 GENERATED ALWAYS AS (1000 / (' . (grep({ $_->{type} eq 'int4' } @$columns) ? (grep { $_->{type} eq 'int4' } @$columns)[0]{name} : '3') . ' - 7)) STORED' if chance(0.3);
	$sql .= '; ALTER TABLE t ADD d1 int4 DEFAULT ' . pick('5', '2 + 3', 'NULL', 'extract(year FROM now())::int4') if chance(0.4);
	$sql .= '; ALTER TABLE t ADD d2 text DEFAULT ' . pick("'some ' || repeat('x', 20)", "''", 'current_user') if chance(0.3);
	$sql .= '; ALTER TABLE t ADD s1 ' . pick('serial', 'int8 GENERATED BY DEFAULT AS IDENTITY', 'smallserial') if chance(0.3);
	$sql .= "; ALTER TABLE t ADD s2 serial; ALTER TABLE t ALTER s2 SET DEFAULT 60 / (nextval('t_s2_seq') - " . int(2 + rand 30) . ')' if chance(0.2);
	return $sql;
}

# Partitions, not for all rows, of which one has its columns in another order.  What is to be unique is so in one of them.
sub random_partitions
{
	my ($columns, $create) = @_;
	my ($key) = grep { $_->{type} =~ /^(int4|int8|text|date)$/ } @$columns;
	return $create if !$key;
	my $by = $key->{type} =~ /^int/ ? pick('LIST', 'HASH', 'RANGE') : pick('HASH', 'RANGE');
	my $what = $by eq 'LIST' ? "(abs($key->{name} % 4))" : $by eq 'RANGE' && $key->{type} eq 'text' ? "(length($key->{name}))" : $key->{name};
	my $range = sub { $key->{type} eq 'date' ? "'" . (1990 + 20 * $_[0]) . "-01-01'" : $_[0] * 5 };
	my $bound = sub { $by eq 'LIST' ? "IN ($_[0])" : $by eq 'HASH' ? "WITH (MODULUS 4, REMAINDER $_[0])" : 'FROM (' . ($_[0] ? $range->($_[0]) : 'MINVALUE') . ') TO (' . ($_[0] < 3 ? $range->($_[0] + 1) : 'MAXVALUE') . ')' };
	my @made = grep { chance(0.9) } 0 .. 3;
	my ($other, $under) = (int rand 5, int rand 8);

	my @leaves = map { $_ == $under && $_ != $other ? "t_${_}_0" : "t_$_" } @made;
	$create =~ s/; CREATE UNIQUE INDEX ON t ([^;]*)/@leaves ? '; CREATE UNIQUE INDEX ON ' . pick(@leaves) . " $1" : ''/ge;
	$create =~ s/; CREATE DOMAIN.*? TYPE short//;
	$create =~ s/int8 GENERATED BY DEFAULT AS IDENTITY/serial/;
	$create =~ s/^(CREATE (\w+ )?TABLE t \(.*?\)(?=;|$))/$1 PARTITION BY $by ($what)/s;
	$create =~ s/^CREATE UNLOGGED/CREATE/;	# not from 18 on
	my $kind = $create =~ /^CREATE TEMP/ ? 'TEMP ' : '';
	my $parts = '';
	for my $i (@made)
	{
		$parts .= $i == $other ? '; CREATE ' . $kind . "TABLE t_$i (gone int4, " . join(', ', map { "$_->{name} $_->{type}" . ($_->{not_null} ? ' NOT NULL' : '') } reverse @$columns) . "); ALTER TABLE t_$i DROP gone; ALTER TABLE t ATTACH PARTITION t_$i FOR VALUES " . $bound->($i)
			: '; CREATE ' . ($i == $under ? $kind : pick($kind, $kind || 'UNLOGGED ')) . "TABLE t_$i PARTITION OF t FOR VALUES " . $bound->($i) . ($i == $under ? " PARTITION BY HASH ($key->{name}); CREATE ${kind}TABLE t_${i}_0 PARTITION OF t_$i FOR VALUES WITH (MODULUS 1, REMAINDER 0)" : '');
	}
	$parts .= "; CREATE ${kind}TABLE t_default PARTITION OF t DEFAULT" if $by ne 'HASH' && chance(0.6);
	$create =~ s/^([^;]*)/$1$parts/s;
	return $create;
}

sub random_table
{
	my @columns = map { { name => "c$_", type => pick(sort(keys %values), 'text', 'int4'), not_null => chance(0.15) } } 1 .. 1 + rand 5;
	my @lines = map { "$_->{name} $_->{type}" . ($_->{not_null} ? ' NOT NULL' : '') } @columns;
	my $create = pick('CREATE TABLE t (', 'CREATE TABLE t (', 'CREATE UNLOGGED TABLE t (', 'CREATE TEMP TABLE t (') . join(', ', @lines) . ')';
	$create .= '; CREATE ' . pick('', '', 'UNIQUE ') . "INDEX ON t ($_->{name})" . pick('', '', " WHERE $_->{name} IS NOT NULL") for grep { chance(0.12) && $_->{type} ne 'point' } @columns;
	$create .= '; CREATE INDEX ON t ((' . pick('length', 'upper', 'md5') . "($_->{name}::text)))" for grep { chance(0.04) && $_->{type} eq 'text' } @columns;
	$create .= "; CREATE INDEX ON t USING " . pick('hash', $_->{type} eq 'bool' ? 'hash' : 'brin') . " ($_->{name})" for grep { chance(0.04) && $_->{type} =~ /^(int.|float8|numeric|bool|date|timestamp|text|varchar.*|bytea|uuid|inet|name)$/ } @columns;
	$create .= random_computed(\@columns) if chance(0.5);
	$create = random_partitions(\@columns, $create) if chance(0.3);
	return (\@columns, $create);
}

# ---- encodings ----

# Those of inputs, by that of the database, and what Perl calls them.  Second bytes of some are ASCII.
my %charsets = (LATIN1 => 'iso-8859-1', WIN1252 => 'cp1252', SJIS => 'cp932', BIG5 => 'cp950', GBK => 'cp936', UHC => 'cp949', EUC_JP => 'euc-jp', UTF8 => 'utf-8', SQL_ASCII => 'utf-8');
my %inputs = (UTF8 => [qw(LATIN1 WIN1252 SJIS SJIS BIG5 GBK UHC EUC_JP SQL_ASCII)], LATIN1 => [qw(UTF8 LATIN1 SQL_ASCII)], EUC_JP => [qw(SJIS UTF8 EUC_JP)], SQL_ASCII => [qw(UTF8 SJIS)]);

# Values are written in UTF-8.
sub encoded
{
	my ($d, $input) = @_;
	return $input if !$d->{charset};
	return encode($charsets{ $d->{charset} }, decode('utf-8', $input), sub { '?' });
}

# ---- dialects ----

sub literal
{
	my $text = shift;
	$text =~ s/'/''/g;
	$text =~ s/\\/\\\\/g;
	$text =~ s/\t/\\t/g;
	$text =~ s/\n/\\n/g;
	return "E'$text'";
}

sub random_dialect
{
	my ($columns, $version, $computed, $encoding) = @_;
	my %d = (csv => chance(0.6) ? 1 : 0, newline => pick("\n", "\n", "\n", "\r\n", "\r"));
	my @options = $d{csv} ? 'FORMAT csv' : ();
	$d{delimiter} = $d{csv} ? ',' : "\t";
	$d{quote} = $d{escape} = '"';
	$d{null} = $d{csv} ? '' : '\\N';
	if (chance(0.3)) { $d{delimiter} = pick(',', ';', '|', "\t", ' ', ':', '~'); push @options, 'DELIMITER ' . literal($d{delimiter}); }
	if ($d{csv} && chance(0.2)) { $d{quote} = $d{escape} = pick("'", '|', '^', '\\'); push @options, 'QUOTE ' . literal($d{quote}); }
	if ($d{csv} && chance(0.25)) { $d{escape} = pick('\\', "'", '^', 'a'); push @options, 'ESCAPE ' . literal($d{escape}); }
	if (chance(0.25)) { $d{null} = pick('', 'NULL', 'a', '\\N', '-', '0'); push @options, 'NULL ' . literal($d{null}); }
	if (chance(0.2)) { $d{header} = 1; push @options, pick('HEADER', 'HEADER match', $version >= 190000 ? 'HEADER ' . int(rand 4) : 'HEADER on'); }
	my @names = map { $_->{name} } @$columns;
	push @options, 'FORCE_NULL (' . pick(@names) . ')' if $d{csv} && chance(0.15);
	push @options, 'FORCE_NOT_NULL (' . pick(@names) . ')' if $d{csv} && chance(0.15);
	if ($version >= 170000 && chance(0.25)) { push @options, 'ON_ERROR ignore'; push @options, 'LOG_VERBOSITY verbose' if chance(0.7); push @options, 'REJECT_LIMIT ' . int(1 + rand 4) if $version >= 180000 && chance(0.5); }
	if ($version >= 160000 && chance(0.1)) { $d{default} = pick('\\D', 'D', 'def'); push @options, "DEFAULT '$d{default}'"; }
	if (chance($encoding eq 'UTF8' ? 0.3 : 0.7))
	{
		$d{charset} = pick(@{ $inputs{$encoding} });
		if (chance(0.7)) { push @options, "ENCODING '$d{charset}'"; }
		else { $d{client} = $d{charset}; }
	}
	if (chance(0.25))
	{
		# the encoding is that of the client, and no other option is allowed
		@d{qw(binary csv header)} = (1, 0, 0);
		@options = ('FORMAT binary', grep { /^ENCODING/ } @options);
	}
	if (chance(0.15)) { $d{freeze} = 1; push @options, 'FREEZE'; }
	$d{where} = ' WHERE ' . condition($columns) if chance(0.25);
	$d{list} = chance(0.2) || $computed ? '(' . join(', ', reverse @names) . ')' : '';
	$d{columns} = $d{list} ? [ reverse @$columns ] : $columns;
	$d{options} = @options ? ' (' . join(', ', @options) . ')' : '';
	return \%d;
}

# ---- inputs ----

my $directory = File::Temp::tempdir(CLEANUP => 1);
chmod 0777, $directory;			# the server reads and writes there

sub text_field
{
	my ($d, $value) = @_;
	my %names = ("\n" => 'n', "\r" => 'r', "\t" => 't');
	$value =~ s/([\\\n\r\t]|\Q$d->{delimiter}\E)/'\\' . ($names{$1} && chance(0.7) ? $names{$1} : $1)/ge if $d->{valid} || !chance(0.02);
	$value =~ s/^(.)/sprintf pick('\\%03o', '\\x%02x', '\\%o'), ord $1/e if !$d->{valid} && chance(0.02);
	return $value;
}

sub csv_field
{
	my ($d, $value) = @_;
	my ($q, $e) = @$d{qw(quote escape)};
	return $value if $value !~ /[\n\r"\\]|\Q$q\E|\Q$d->{delimiter}\E/ && chance(0.6);
	$value =~ s/(\Q$q\E|\Q$e\E)/$e$1/g if !chance(0.02);
	return chance(0.95) || length $value < 2 ? "$q$value$q" : substr($value, 0, 1) . $q . substr($value, 1) . $q;
}

sub random_record
{
	my $d = shift;
	my @fields;
	for my $column (@{ $d->{columns} })
	{
		if (chance($column->{not_null} ? 0.0005 : 0.1)) { push @fields, $d->{null}; next; }
		if (defined $d->{default} && chance(0.1)) { push @fields, $d->{default}; next; }
		my $value = $values{ $column->{type} }[ !$d->{valid} && chance(0.002) ]->();
		push @fields, $d->{csv} ? csv_field($d, $value) : text_field($d, $value);
	}
	pop @fields if !$d->{valid} && chance(0.002);
	push @fields, 'more' if !$d->{valid} && chance(0.002);
	return join $d->{delimiter}, @fields;
}

# An input in binary format is what the server writes of rows that it has read as text, with the client's encoding.
sub binary_input
{
	my ($c, $d) = @_;
	my %plain = (delimiter => "\t", null => '\\N', valid => 1, columns => $d->{columns});
	my @records = map { random_record(\%plain) } 1 .. (chance(0.15) ? rand 600 : rand 12);
	@records = (@records) x (rand(3000) / (1 + @records)) if chance($opt{long});
	$c->must('SET gpusort.enable_copy = off; DROP TABLE IF EXISTS t_from; CREATE TABLE t_from (' . join(', ', map { "$_->{name} $_->{type}" } @{ $d->{columns} }) . ')');
	for my $ascii (0, 1)
	{
		my @pieces = map { "$_\n" } map { $ascii ? s/[^\x00-\x7f]//gr : $_ } @records;

		$c->must("SET client_encoding = 'UTF8'; TRUNCATE t_from");
		my $r = $c->load('COPY t_from FROM STDIN', sub { return shift @pieces; });
		$c->must($d->{client} ? "SET client_encoding = '$d->{client}'" : 'RESET client_encoding');
		last if !$r->{error} && !$c->query("COPY t_from TO '$directory/output' (FORMAT binary)")->{error};
		unlink "$directory/output";
	}
	open my $file, '<:raw', "$directory/output" or return '';
	local $/;
	my $input = <$file>;
	close $file;
	unlink "$directory/output";
	substr($input, -2) = '' if chance(0.1);
	for (1 .. chance(0.6) ? 1 + rand 3 : 0)
	{
		my $at = int rand length($input) + 1;
		my $what = rand 6;
		if ($what < 2) { substr($input, $at, 0) = pick("\0", "\xff", "\xff\xff", "\xff\xff\xff\xff", "\xff\xff\xff\xfe", "\0\0\0\1x", "\xc3"); }
		elsif ($what < 4) { substr($input, $at, 1) = pick("\0", "\1", "\2", "\x7f", "\x80", "\xfe", "\xff") if $at < length $input; }
		elsif ($what < 5) { substr($input, $at, 1) = '' if $at < length $input; }
		else { $input = substr $input, 0, $at; }
	}
	return $input;
}

sub random_input
{
	my ($c, $d) = @_;
	return binary_input($c, $d) if $d->{binary};
	my @records = map { random_record($d) } 1 .. (chance(0.15) ? rand 600 : rand 12);
	if (@records && chance($opt{long}))
	{
		my $copies = int(rand(300_000) / (1 + length join $d->{newline}, @records));
		@records = (@records) x $copies if $copies > 1;
	}
	unshift @records, join $d->{delimiter}, map { $_->{name} } @{ $d->{columns} } if $d->{header} && chance(0.9);
	my $input = join $d->{newline}, @records;
	$input .= $d->{newline} if @records && chance(0.8);
	$input = encoded($d, $input);
	if (chance(0.45))
	{
		for (1 .. 1 + rand 3)
		{
			my $at = int rand length($input) + 1;
			my $what = rand 6;
			if ($what < 4) { substr($input, $at, 0) = pick("\n", "\r", "\r\n", $d->{quote}, $d->{escape}, $d->{delimiter}, '\\', "\\.", "\\.$d->{newline}", "$d->{newline}\\.$d->{newline}", "\0", "\xff", "\xc3", '\\N', $d->{null}); }
			elsif ($what < 5) { substr($input, $at, 1) = '' if $at < length $input; }
			else { $input = substr $input, 0, $at; }
		}
	}
	return $input;
}

# ---- both sides ----

my $prefix = "copy_fuzz_$$";
my @encodings = qw(UTF8 LATIN1 EUC_JP SQL_ASCII);
my ($passed, $failed, $stop) = (0, 0, 0);
my (%stats, $amcheck, $inspected, $partitioned);
my $before;						# an input that PostgreSQL loads first, or undef
$SIG{INT} = $SIG{TERM} = sub { $stop = 1 };

sub connect_fuzz
{
	my $c = PgWire->connect(dbname => $prefix . '_' . lc shift, name => 'gpusort copy fuzz');
	$c->must("SET client_min_messages = notice; SET gpusort.force = on; SET gpusort.copy_indexes = empty");
	return $c;
}

# Where an input comes from: nothing is the client, which may end it by a message of its own.
my $source = {};

sub random_source
{
	return {} if chance(0.5);
	return { flushes => 1 } if chance(0.15);
	return { end => [ 'f', "enough\0" ] } if chance(0.1);
	return { kind => "'$directory/input'" } if chance(0.5);
	return { kind => "PROGRAM '" . pick('cat', 'cat', 'cat', 'cat -u') . " $directory/input" . pick('', '', '; exit 3', '; kill -9 $$', ' | head -c 2000', '; cat ' . $directory . '/input') . "'" };
}

# The same from a file or a program.
sub from_server
{
	my ($c, $copy, $input) = @_;
	open my $file, '>:raw', "$directory/input" or die;
	print $file $input;
	close $file;
	chmod 0644, "$directory/input";
	$copy =~ s/FROM STDIN/FROM $source->{kind}/;
	return $c->query($copy);
}

# What comes of an input, as text.
sub outcome
{
	my ($c, $ours, $copy, $input, $piece) = @_;
	my $at = 0;
	my $freeze = $copy =~ /FREEZE/;
	$c->must('SET gpusort.enable_copy = ' . ($ours ? 'on' : 'off'));
	$c->must('BEGIN') if $freeze;
	$c->must('TRUNCATE t RESTART IDENTITY');
	if (defined $before)
	{
		my @pieces = ($before);

		$c->must('SET gpusort.enable_copy = off');
		$c->load($copy, sub { return shift @pieces; });
		$c->must('SET gpusort.enable_copy = ' . ($ours ? 'on' : 'off'));
	}
	$c->must('SET client_min_messages = debug1') if $ours;
	my $r = $source->{kind} ? from_server($c, $copy, $input) : $c->load($copy, sub {
		return undef if $at > length $input;
		if ($at == length $input)
		{
			$at++;
			return $source->{end};
		}
		return [ 'H', '' ] if $source->{flushes} && rand() < 0.05;
		my $data = substr $input, $at, $piece;
		$at += length $data;
		return $data;
	});
	$c->must($r->{error} ? 'ROLLBACK' : 'COMMIT') if $freeze;
	$c->must('TRUNCATE t') if $freeze && $r->{error};
	$c->must('SET client_min_messages = notice') if $ours;
	$stats{'by gpusort'} += grep { $_->{S} eq 'DEBUG' && $_->{M} =~ /^gpusort loaded/ } @{ $r->{notices} };
	$stats{'... into partitions'} += grep { $_->{S} eq 'DEBUG' && $_->{M} =~ /^gpusort loaded [1-9]/ } @{ $r->{notices} } if $partitioned;
	$stats{'... into indexes in use'} += grep { $_->{S} eq 'DEBUG' && $_->{M} =~ /^gpusort inserted into/ } @{ $r->{notices} };
	$r->{notices} = [ grep { $_->{S} ne 'DEBUG' } @{ $r->{notices} } ];
	my $said = join "\n", map { my $m = $_; join ' ', map { defined $m->{$_} ? "$_=$m->{$_}" : () } qw(S C M D H W) } @{ $r->{notices} }, $r->{error} ? $r->{error} : ();
	# PostgreSQL shows what is in its buffer where the value of a row that it has skipped was
	$said =~ s/(M=unterminated CSV quoted field W=COPY t, line \d+), column .*/$1/s if $copy =~ /ON_ERROR/;
	my $broken = $ours && $amcheck ? $c->query("SELECT bt_index_check(indexrelid, true) FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indrelid IN (SELECT 't'::regclass UNION ALL SELECT relid FROM pg_partition_tree('t')) AND relkind = 'i' AND relam = 403")->{error} : undef;
	return "index: $broken->{M}" if $broken;
	# frozen rows, and blocks that are not in the map
	my $frozen = $freeze && $inspected && !$partitioned && length $input < 30_000 ? $c->must("SELECT sum((SELECT count(*) FROM heap_page_items(get_raw_page('t', b::int4)) WHERE t_infomask & 768 = 768)), sum((NOT v.all_frozen)::int4)
		FROM generate_series(0, pg_relation_size('t') / current_setting('block_size')::int4 - 1) b, pg_visibility_map('t', b) v")->{rows}[0] : [];
	# PostgreSQL looks for free space in partitions, and when it has to extend a table
	my $place = $partitioned || length $input > 30_000 ? 't::text' : 'ctid';
	# as bytes: those of an SQL_ASCII database need not be of the client's encoding
	my $rows = $c->must("SELECT count(*), encode(convert_to(string_agg(tableoid::regclass || t::text, chr(10) ORDER BY tableoid, $place), getdatabaseencoding()), 'escape') FROM t")->{rows}[0];
	$stats{ $r->{error} ? 'errors' : 'inputs loaded' }++ if $ours;
	$stats{rows} += $rows->[0] if $ours;
	$stats{'... in binary format'} += !$r->{error} if $ours && $copy =~ /FORMAT binary/;
	return join "\n", $said, $r->{tag}, $rows->[0], $rows->[1] // '', map { $_ // '' } @$frozen;
}

sub differs
{
	my ($c, $copy, $input, $piece) = @_;
	my $theirs = outcome($c, 0, $copy, $input, $piece);
	my $ours = outcome($c, 1, $copy, $input, $piece);
	return $ours eq $theirs || only_batches_differ($theirs, $ours) ? undef : [ $theirs, $ours ];
}

# What indexes say of a row, or their expressions.
my @index_errors = qw(23505 54000 22012);

# The code and the line of an outcome's error.
sub error_of
{
	my ($error) = shift =~ /^(S=ERROR .*)/ms;
	return $error && $error =~ /^S=ERROR C=(\w+) .*\bCOPY t, line (\d+)/s ? ($1, $2) : ();
}

# Rows that an index refuses are found when PostgreSQL's batch of a thousand rows is full: if it has such a row, and a line behind
# it is wrong in another way, which of them is told is a matter of batches.
sub only_batches_differ
{
	my @errors = map { [ error_of($_) ] } @_;
	return 0 if grep { !@$_ } @errors;
	# ... or which rows ON_ERROR has skipped before it is told
	return 1 if $errors[0][0] eq $errors[1][0] && $errors[0][1] == $errors[1][1] && grep({ $errors[1][0] eq $_ } @index_errors);
	# ... and so it is if indexes of two partitions refuse rows
	return 1 if $partitioned && $errors[1][1] < $errors[0][1] && $errors[0][1] - $errors[1][1] <= 1000 && grep({ $errors[1][0] eq $_ } @index_errors);
	my ($refused, $other) = sort { ($b->[0] eq '23505') <=> ($a->[0] eq '23505') } @errors;
	return $refused->[0] eq '23505' && $other->[0] ne '23505' && $refused->[1] < $other->[1] && $other->[1] - $refused->[1] <= 1000;
}

# Leave out what a failure does not need.
sub shrink
{
	my ($c, $copy, $input, $piece) = @_;
	my $until = time + 60;
	for (my $size = length $input; $size >= 1; $size = int($size / 2))
	{
		for (my $at = 0; $at < length $input && time < $until;)
		{
			my $shorter = $input;
			substr($shorter, $at, $size) = '';
			if (differs($c, $copy, $shorter, $piece)) { $input = $shorter; }
			else { $at += $size; }
		}
	}
	return $input;
}

sub visible
{
	my $bytes = shift;
	$bytes =~ s/([\\\x00-\x1f\x7f-\xff])/sprintf '\\x%02x', ord $1/ge;
	return $bytes;
}

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort copy fuzz');
my %connections;
for my $encoding (@encodings)
{
	$admin->must("CREATE DATABASE ${prefix}_" . lc($encoding) . " TEMPLATE template0 ENCODING '$encoding' LOCALE 'C'");
	my $c = $connections{$encoding} = connect_fuzz($encoding);
	$amcheck = !$c->query('CREATE EXTENSION amcheck')->{error};
	$inspected = !$c->query('CREATE EXTENSION pageinspect; CREATE EXTENSION pg_visibility')->{error};
}
my $version = $admin->value('SHOW server_version_num');
my $end = time + $opt{seconds};
my $seed = $opt{seed};
for (my $n = 0; $n < $opt{inputs} && time < $end && !$stop && $failed < $opt{failures}; $n++, $seed++)
{
	srand $seed;
	my $encoding = pick('UTF8', 'UTF8', @encodings);
	my $conn = $connections{$encoding};
	my ($columns, $create) = random_table();
	$partitioned = $create =~ /PARTITION BY/;
	my $d = random_dialect($columns, $version, scalar($create =~ /ADD [ds]/), $encoding);
	my $copy = "COPY t $d->{list} FROM STDIN$d->{options}" . ($d->{where} // '');
	my $piece = chance(0.3) ? 1 + int rand 20 : chance(0.5) ? 1e6 : 5000;
	$source = random_source();
	my $workers = chance(0.3) ? int rand 4 : 0;
	$conn->must("DROP TABLE IF EXISTS t; DROP DOMAIN IF EXISTS short; $create; SET max_parallel_workers_per_gather = $workers; SET max_parallel_maintenance_workers = $workers; SET gpusort.copy_indexes = " . pick('empty', 'new', 'only_new') . ($d->{client} ? "; SET client_encoding = '$d->{client}'" : '; RESET client_encoding'));
	$before = !$d->{freeze} && chance(0.4) ? random_input($conn, $d) : undef;
	for (1 .. 3)
	{
		my $input = random_input($conn, $d);
		print "-- seed $seed: $create; $copy\n" if $opt{verbose};
		my $differ = differs($conn, $copy, $input, $piece);
		$passed++, next if !$differ;
		$failed++;
		$input = shrink($conn, $copy, $input, $piece);
		$differ = differs($conn, $copy, $input, $piece) // $differ;
		printf "FAILED, seed %d, $encoding, %d workers, messages of %d bytes, from %s:\n%s;\n%s;\n%s\nPostgreSQL: %s\ngpusort:    %s\n", $seed, $workers, $piece, $source->{kind} // join(' ', 'the client', %$source), $create, $copy, visible($input), $differ->[0], $differ->[1];
		last;
	}
}
$_->close for values %connections;
$admin->must("DROP DATABASE ${prefix}_" . lc) for @encodings;
print join(', ', map { "$_ $stats{$_}" } sort keys %stats), "; next seed $seed\n";
if ($passed > 50 && !$stats{'by gpusort'})
{
	print "FAILED: gpusort has loaded none\n";
	$failed++;
}
print "$passed passed, $failed failed\n";
exit($failed > 0);
