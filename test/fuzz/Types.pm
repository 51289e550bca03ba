# Types.pm
#	The column types of the fuzzer, and how their random values are made.
#
# Values are made by the server, from SQL expressions over hashes of the row
# number, so that a failing case is a short self-contained script.  A type is
#	name		for statistics
#	sql			type in CREATE TABLE, with its COLLATE clause
#	family		which expressions apply (Query.pm)
#	gens		SQL expressions over $v (a bigint column: random, sequential,
#				constant ...); those that grow with $v keep presorted input
#				presorted
#	specials	literals mixed in
#	canon		maps the text output to a form that is the same exactly for
#				values that the type's btree equality calls equal; absent where
#				the output itself has that property
#	eligible	0: gpusort leaves keys of this type to PostgreSQL
package Types;
use strict;
use warnings;
use Exporter 'import';
use Math::BigInt;
our @EXPORT_OK = qw(catalogue setup_sql type_of pick chance between);

sub pick { return $_[ int rand @_ ]; }
sub chance { return rand() < $_[0]; }
sub between { return $_[0] + int rand($_[1] - $_[0] + 1); }

# $expr hashed, as a non-negative bigint below $m
sub h { return "abs(hashint8extended($_[0], $_[1]) % $_[2])"; }

my $MASK = '9223372036854775807';

# ---- canonical forms ----

sub canon_numeric
{
	my $s = shift;
	$s =~ s/0+$// if $s =~ /\./;
	$s =~ s/\.$//;
	return $s;
}

sub canon_float { return $_[0] eq '-0' ? '0' : $_[0]; }

sub canon_bpchar { (my $s = shift) =~ s/ +$//; return $s; }

sub canon_lower { return lc $_[0]; }

# abs(int), for the operator class of fuzz_abs_cmp()
sub canon_abs { (my $s = shift) =~ s/^-//; return $s; }

# IntervalStyle iso_8601: months are 30 days and days 24 hours when compared
my %interval_memo;

sub canon_interval
{
	my $s = shift;
	return $s if $s =~ /inf/;
	return $interval_memo{$s} //= do
	{
		my ($date, $time) = $s =~ /^P([^T]*)(?:T(.*))?$/ or die "unexpected interval $s";
		my $days = Math::BigInt->new(0);
		my %unit = (Y => 360, M => 30, W => 7, D => 1);
		while ($date =~ /(-?\d+)([YMWD])/g) { $days += Math::BigInt->new($1) * $unit{$2}; }
		my $us = $days * 86400000000;
		my %usec = (H => 3600000000, M => 60000000, S => 1000000);
		while (($time // '') =~ /(-?)(\d+)(?:\.(\d+))?([HMS])/g)
		{
			my $part = Math::BigInt->new($2) * $usec{$4};
			$part += Math::BigInt->new(substr(($3 // '') . '000000', 0, 6)) if $4 eq 'S';
			$us += $1 ? -$part : $part;
		}
		"$us";
	};
}

# ---- text ----

my @ascii = ('abcdefghijklmnop', 'aAbBcCdDeEfF -_g', 'ab', "a\tb c\x01d.,:;e f", '0123456789 ABCDE',
	'aA', 'zyxwvutsrqponmlk');
my @utf8 = ('aáàâäAÁbBßçñøœžz', 'абвгдеёжзАБВГДЕЁ', 'aб中文字あいうえお😀z', "ae\xcc\x81o\xcc\x88n\xcc\x83 bcdE-'",
	'ıIiİßſsSñnŋæaeAE');

# Scripts that combine, contract or expand, marks in any order, and what is ignored; for
# collations whose comparison is an order.
my @odd = ("ae\xcc\x81\xcc\xa3\xcc\x87 *-\xe2\x83\xa3\xef\xb8\x8fbA1", "a\xc2\xad\xe2\x80\x8b\xe2\x80\x8db\x01-*c",
	"กขเแไ่้ะาก1a", "कखगिी्ा़ंa ", "කඛා්ෙ a", "ကခဂ္ိ်း 1", "កខគ្ាុំ a", "ཀཁགྐྲཱིུ a", "가각나다\xe1\x84\x80\xe1\x85\xa1a", "אבגְִשׁabc", "بةتثًٌّ اabc");
my $no_order = qr/shifted|digits|backwards|fr_CA|fr-CA|^th/;

# A random string expression of up to about $max characters over $v.
sub text_gen
{
	my ($max, $alphabets) = @_;
	my $alphabet = pick(@$alphabets);
	# translate() maps one character to one: a one-byte split would do for
	# ASCII only, so cut the alphabet by UTF-8 characters
	my @chars = $alphabet =~ /([\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*)/g;
	my $to = join '', map { $chars[ $_ % @chars ] } 0 .. 15;
	$to =~ s/'/''/g;
	my $prefix = chance(0.3) ? 'repeat(' . pick("'x'", "'Ab'", "'zz9'") . ', ' . between(1, 40) . ') || ' : '';
	my $body = sub {
		my $v = shift;
		my $hex = $max > 32 ? "md5($v\::text) || md5(($v # 77)::text)" : "md5($v\::text)";
		return "translate($hex, '0123456789abcdef', '$to')";
	};
	my $kind = between(1, 8);
	return sub { $prefix . 'left(' . $body->($_[0]) . ', ' . h($_[0], 3, $max + 1) . '::int)' } if $kind <= 4;
	return sub { $prefix . 'left(' . $body->($_[0]) . ", $max)" } if $kind == 5;
	return sub { $prefix . "left(lpad(to_hex($_[0] & $MASK), 16, '0'), $max)" } if $kind == 6;
	return sub { $prefix . "left($_[0]::text, $max)" } if $kind == 7;
	# words that differ in their tails, and strings that are prefixes of others
	return sub { $prefix . "left(repeat('" . substr($to, 0, 1) . "', " . h($_[0], 5, 20) . "::int) || left($_[0]::text, 2), $max)" }
	  if $to =~ /^[a-z]/;
	return sub { $prefix . 'left(' . $body->($_[0]) . ', ' . h($_[0], 3, 5) . '::int)' };
}

sub text_type
{
	my ($name, $sql, $coll, $max, $alphabets, %more) = @_;
	return {
		name => $name, sql => $sql . ($coll ? " COLLATE \"$coll\"" : ''), family => 'text', coll => $coll,
		gen => sub { text_gen($max, $alphabets) },
		specials => ["''", "' '", "'a'", "'A'", "'a '"],
		%more
	};
}

# ---- the catalogue ----

sub simple
{
	my ($name, $family, $gens, $specials, %more) = @_;
	return { name => $name, sql => $name, family => $family, gens => $gens, specials => $specials // [], %more };
}

# All types that this server can have.  $caps: version, utf8, collations =>
# [names that work], ci => name of the nondeterministic one or undef.
sub catalogue
{
	my $caps = shift;
	my $alphabets = $caps->{utf8} ? [ @ascii, @utf8 ] : \@ascii;
	my $hours = h('$v', 9, 6);
	my $zone = "(ARRAY['+00','-03','+05:30','+14','-12','+00:00:01'])[1 + $hours]";
	my @t;

	push @t,
	  simple('int2', 'int', ['($v % 32768)::int2'], [ '(-32768)', '32767', '0' ]),
	  simple('int4', 'int', [ '($v % 2147483648)::int4', '($v % 1000)::int4' ], [ '(-2147483648)', '2147483647', '0', '(-1)' ]),
	  simple('int8', 'int', [ '$v', '($v / 3)', '$v % 100000' ], [ '(-9223372036854775808)', $MASK, '0', '(-1)' ]),
	  simple('oid', 'oid', ['($v & 4294967295)::oid', "(hashint8extended(\$v, 4) & 4294967295)::oid"],
		[ '4294967295', '2147483648', '2147483647', '0' ]),
	  simple('bool', 'bool', ['($v % 2 = 0)']),
	  simple('"char"', 'char', [ '(($v & 127)::int4)::"char"' ], [ "''", "'a'" ]),
	  simple('float4', 'float', ['($v % 16777216)::float4 / 4'], [ map { "'$_'" } qw(NaN Infinity -Infinity 0 -0 1e-40 -1e-40 3e38) ],
		canon => \&canon_float),
	  simple('float8', 'float', [ '$v::float8', '($v % 1000)::float8 / 8', '$v::float8 / 1e18' ],
		[ map { "'$_'" } qw(NaN Infinity -Infinity 0 -0 1e-320 -1e-320 1.7e308 -1.7e308) ], canon => \&canon_float),
	  simple('date', 'date', [ "DATE '2000-01-01' + (\$v % 700000)::int", "DATE '2020-01-01' + (\$v % 1000)::int" ],
		[ map { "'$_'" } 'infinity', '-infinity', '4713-01-01 BC', '5874897-12-31' ]),
	  simple('time', 'other', ["TIME '00:00' + (\$v & $MASK) % 86400000000 * INTERVAL '1 microsecond'"], [ "'24:00'", "'00:00'" ]),
	  simple('timetz', 'other', ["((TIME '00:00' + (\$v & $MASK) % 86400 * INTERVAL '1 second')::text || $zone)::timetz"],
		[ "'24:00+14'", "'00:00-14'", "'12:00+00'", "'13:00+01'" ]),
	  simple('timestamp', 'timestamp', [ "TIMESTAMP '2000-01-01' + \$v % 100000000000000000 * INTERVAL '1 microsecond'",
		  "TIMESTAMP '2020-01-01' + \$v % 10000 * INTERVAL '1 minute'" ], [ "'infinity'", "'-infinity'", "'4713-01-01 BC'" ]),
	  simple('timestamptz', 'timestamp', [ "TIMESTAMPTZ '2000-01-01' + \$v % 100000000000000000 * INTERVAL '1 microsecond'",
		  "TIMESTAMPTZ '2020-01-01' + \$v % 10000 * INTERVAL '1 minute'" ], [ "'infinity'", "'-infinity'" ]),
	  simple('interval', 'other', [
		  'make_interval(months => ($v % 50)::int, days => (hashint8extended($v, 7) % 1000)::int, secs => ($v % 100000)::float8 / 4)',
		  "CASE \$v % 3 WHEN 0 THEN make_interval(months => (\$v / 3 % 20)::int) WHEN 1 THEN make_interval(days => (\$v / 3 % 20)::int * 30) ELSE make_interval(hours => (\$v / 3 % 20)::int * 720) END",
		  "\$v % 100000 * INTERVAL '1 second'" ],
		[ "'178000000 years'", "'-178000000 years'", "'0'", "'1 mon'", "'30 days'", "'-1 mon 30 days'",
		  $caps->{version} >= 170000 ? ("'infinity'", "'-infinity'") : () ], canon => \&canon_interval),
	  simple('money', 'other', ['(($v % 100000000)::numeric / 100)::money'], [ "'-92233720368547758.08'", "'92233720368547758.07'" ]),
	  simple('pg_lsn', 'other', [ "'0/0'::pg_lsn + (\$v & $MASK)::numeric", "'0/0'::pg_lsn + (\$v::numeric + 9223372036854775808)" ],
		[ "'0/0'", "'FFFFFFFF/FFFFFFFF'" ]),
	  simple('uuid', 'other', [ 'md5($v::text)::uuid', "lpad(to_hex(\$v & $MASK), 32, '0')::uuid",
		  "('aaaaaaaa-bbbb-cccc-dddd-' || lpad(to_hex(\$v & 65535), 12, '0'))::uuid" ],
		[ "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'" ]),
	  simple('macaddr', 'other', [ 'substr(md5($v::text), 1, 12)::macaddr', "('08002b' || lpad(to_hex(\$v & 4095), 6, '0'))::macaddr" ]),
	  simple('macaddr8', 'other', [ 'substr(md5($v::text), 1, 16)::macaddr8', "('08002b' || lpad(to_hex(\$v & 4095), 10, '0'))::macaddr8" ]),
	  simple('numeric', 'numeric', [ '$v::numeric', '($v % 1000)::numeric / 10', "round((\$v % 100000)::numeric / 1000, " . h('$v', 8, 6) . '::int)',
		  '($v % 1000)::numeric * 10::numeric ^ ' . h('$v', 6, 300) . '::int',
		  '($v % 1000)::numeric / 10::numeric ^ ' . h('$v', 6, 60) . '::int',
		  "repeat(translate(md5(\$v::text), 'abcdef', '012345'), " . between(1, 31) . ')::numeric' ],
		[ map { "'$_'" } qw(NaN Infinity -Infinity 0 0.000 1.0 1.00 -1.0 -1 1e-1000 -1e1000 1e1000) ], canon => \&canon_numeric),
	  { %{ simple('numeric(12,3)', 'numeric', [ '($v % 1000000)::numeric / 1000', '($v % 10)' ], [ "'NaN'", '0', '(-0.001)' ]) },
		canon => \&canon_numeric },
	  simple('inet', 'other', [ "'10.0.0.0'::inet + (\$v & 65535)", "set_masklen('10.0.0.0'::inet + (\$v & 255), " . h('$v', 2, 33) . '::int)',
		  "'2001:db8::'::inet + (\$v & 4294967295)",
		  "CASE WHEN \$v % 2 = 0 THEN set_masklen('2001:db8::'::inet + (\$v & 1023), " . h('$v', 2, 129) . "::int) ELSE set_masklen('192.168.0.0'::inet + (\$v & 1023), " . h('$v', 3, 33) . '::int) END' ],
		[ "'0.0.0.0/0'", "'255.255.255.255'", "'::/0'", "'ffff::1'", "'10.0.0.0/8'", "'10.0.0.0/24'", "'10.0.0.1/24'" ]),
	  simple('cidr', 'other', [ "network(set_masklen('10.0.0.0'::inet + (\$v & 65535), " . h('$v', 2, 33) . '::int))',
		  "network(set_masklen('2001:db8::'::inet + (\$v & 65535), " . h('$v', 2, 129) . '::int))' ], [ "'0.0.0.0/0'", "'10.0.0.0/8'" ]),
	  simple('bytea', 'bytea', [ "decode(md5(\$v::text), 'hex')", "substr(decode(md5(\$v::text), 'hex'), 1, " . h('$v', 2, 10) . '::int)',
		  "'\\x61'::bytea || decode(repeat('00', " . h('$v', 2, 20) . "::int), 'hex')",
		  "convert_to(repeat('p', " . between(1, 40) . ") || \$v::text, 'UTF8')" ], [ "''", "'\\x00'", "'\\x0000'", "'\\xff'" ]),
	  simple('bit(9)', 'bit', ['$v::bit(9)']), simple('bit(64)', 'bit', ['$v::bit(64)']),
	  simple('varbit', 'bit', [ 'substring($v::bit(64) FROM 1 FOR ' . h('$v', 3, 65) . '::int)::varbit',
		  "repeat('0', " . h('$v', 3, 80) . '::int)::varbit' ], [ "''", "'0'", "'1'", "'00000000'", "'000000000'" ]),
	  simple('fuzz_enum', 'other', [ '(enum_range(NULL::fuzz_enum))[1 + ' . h('$v', 1, 9) . ']' ]),
	  simple('fuzz_int', 'int', ['($v % 1000)::int4']),
	  { %{ simple('fuzz_num', 'numeric', [ '($v % 100)::numeric / 10', 'round(($v % 100)::numeric / 10, ' . h('$v', 8, 4) . '::int)' ]) },
		canon => \&canon_numeric },
	  simple('xid8', 'other', ["(\$v & $MASK)::text::xid8"]),
	  simple('int4[]', 'none', [ 'ARRAY[($v % 5)::int4, (hashint8extended($v, 3) % 5)::int4]' ], ["'{}'"], eligible => 0),
	  simple('jsonb', 'none', [ 'to_jsonb($v % 20)', "jsonb_build_object('a', \$v % 5, 'b', \$v % 7)" ], [ "'null'", "'[]'" ], eligible => 0),
	  simple('int4range', 'none', [ 'int4range(($v % 50)::int4, ($v % 50)::int4 + 5)' ], ["'empty'"], eligible => 0),
	  simple('fuzz_pair', 'none', [ 'ROW(($v % 9)::int4, ($v % 4)::text)::fuzz_pair' ], [], eligible => 0),
	  simple('tid', 'none', [ "format('(%s,%s)', \$v & 7, 1 + (\$v & 31))::tid" ], [], eligible => 0);

	for my $coll (@{ $caps->{collations} })
	{
		my $short = $coll || 'default';
		push @t, text_type("text $short", 'text', $coll, pick(3, 8, 12, 30, 60), $alphabets);
		push @t, text_type("varchar $short", 'varchar(70)', $coll, 30, $alphabets) if chance(0.2);
		push @t, text_type("bpchar $short", 'char(48)', $coll, 8, $alphabets, canon => \&canon_bpchar) if chance(0.3);
	}
	# others of ICU's, other ones each round
	for my $coll ($caps->{utf8} && @{ $caps->{icu_collations} // [] } ? ((map { pick(@{ $caps->{icu_collations} }) } 1 .. 4), map { pick(@{ $caps->{ordering_collations} }) } 1 .. 2) : ())
	{
		push @t, text_type("text $coll", 'text', $coll, pick(3, 8, 20), $coll =~ $no_order ? \@ascii : [ @ascii, @odd, @odd ]);
	}
	push @t, text_type('name', 'name', undef, 9, \@ascii),
	  text_type('bpchar unconstrained', 'bpchar', 'C', 9, \@ascii, canon => \&canon_bpchar),
	  text_type('domain over text', 'fuzz_text', undef, 20, $alphabets);
	if (defined $caps->{ci})
	{
		# lc() is this collation's equality for these alphabets only
		push @t, text_type('text nondeterministic', 'text', $caps->{ci}, 6, [ 'aAbBcCdDeEfFgGhH', 'aAbB', 'xXyYzZ' ], canon => \&canon_lower, nondet => 1);
	}
	# wide values: compressed in line, external, and external uncompressed
	my $coll = pick(@{ $caps->{collations} });
	my $wide = { family => 'text', coll => $coll, specials => [ "''", "'a'" ], wide => 1 };
	push @t, { %$wide, name => 'text compressed', sql => 'text' . ($coll ? " COLLATE \"$coll\"" : ''),
		gens => [ 'repeat(md5(($v % 50)::text), 100) || $v', "repeat('z', 3000) || md5(\$v::text)" ] },
	  { %$wide, name => 'text external', sql => 'text' . ($coll ? " COLLATE \"$coll\"" : ''), storage => 'EXTERNAL',
		gens => [ "(SELECT string_agg(md5((\$v % 50 + j)::text), '') FROM generate_series(1, 80) j) || \$v" ] },
	  simple('bytea external', 'bytea', [ "(SELECT string_agg(decode(md5((\$v % 20 + j)::text), 'hex'), '') FROM generate_series(1, 150) j)" ], ["''"],
		sql => 'bytea', wide => 1);
	return @t;
}

# Statements that make the types of the catalogue, for a script.
sub setup_sql
{
	my $caps = shift;
	return ("CREATE TYPE fuzz_enum AS ENUM ('delta', 'alpha', 'zulu')",
		(map { "ALTER TYPE fuzz_enum ADD VALUE '$_->[0]' $_->[1]" }
			[ 'bravo', "BEFORE 'alpha'" ], [ 'yankee', "AFTER 'delta'" ], [ 'mike', "BEFORE 'alpha'" ],
			[ 'kilo', "BEFORE 'mike'" ], [ 'first', "BEFORE 'delta'" ], [ 'last', "AFTER 'zulu'" ]),
		'CREATE DOMAIN fuzz_int AS int4 CHECK (VALUE < 100000)',
		'CREATE DOMAIN fuzz_num AS numeric', 'CREATE DOMAIN fuzz_text AS text',
		'CREATE TYPE fuzz_pair AS (a int4, b text)',
		'CREATE FUNCTION fuzz_abs_cmp(int4, int4) RETURNS int4 IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS $$SELECT btint8cmp(abs($1::int8), abs($2::int8))$$',
		(map {
				my ($op, $name) = @$_;
				"CREATE FUNCTION fuzz_abs_$name(int4, int4) RETURNS bool IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS \$\$SELECT abs(\$1::int8) $op abs(\$2::int8)\$\$",
				"CREATE OPERATOR |$op| (FUNCTION = fuzz_abs_$name, LEFTARG = int4, RIGHTARG = int4)"
		} [ '<', 'lt' ], [ '<=', 'le' ], [ '=', 'eq' ], [ '>=', 'ge' ], [ '>', 'gt' ]),
		'CREATE OPERATOR CLASS fuzz_abs_ops FOR TYPE int4 USING btree AS OPERATOR 1 |<|, OPERATOR 2 |<=|, OPERATOR 3 |=|, OPERATOR 4 |>=|, OPERATOR 5 |>|, FUNCTION 1 fuzz_abs_cmp(int4, int4)',
		# a cursor loop that may stop early, and one that survives an error
		'CREATE FUNCTION fuzz_loop(q text, stop int) RETURNS SETOF text LANGUAGE plpgsql AS $$DECLARE r record; n int := 0; BEGIN FOR r IN EXECUTE q LOOP n := n + 1; EXIT WHEN n > stop; RETURN NEXT r::text; END LOOP; END$$',
		'CREATE FUNCTION fuzz_try(q text) RETURNS text LANGUAGE plpgsql AS $$BEGIN EXECUTE q; RETURN \'ok\'; EXCEPTION WHEN OTHERS THEN RETURN SQLSTATE; END$$',
		defined $caps->{ci} ? "CREATE COLLATION fuzz_ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)" : (),
		$caps->{icu}
		? ("CREATE COLLATION fuzz_natural (provider = icu, locale = 'en-u-kn-true')",
			"CREATE COLLATION fuzz_shifted (provider = icu, locale = 'und-u-ka-shifted')")
		: ());
}

# A plain type by its SQL name, for computed columns.
sub type_of
{
	my ($name, %more) = @_;
	my %canon = (numeric => \&canon_numeric, float8 => \&canon_float, float4 => \&canon_float, interval => \&canon_interval, abs => \&canon_abs);
	return { name => $name, sql => $name, family => 'none', specials => [], canon => $canon{$name}, %more };
}

1;
