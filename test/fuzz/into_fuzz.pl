#!/usr/bin/perl
# into_fuzz.pl
#	Differential fuzzer of sorted rows that go into tables: INSERT ... SELECT, CREATE TABLE AS, SELECT INTO and
#	materialized views, with gpusort.enable_insert and enable_create_table_as off, and on and forced.
#
# What is in the table then must be the same, and sound (amcheck), and so must be counts, errors, and what an error
# says about its row.  Tables have random types, nulls, values out of line, dropped columns and others in another
# order, storage parameters, tablespaces, defaults, sequences, and constraints that fail; they are new, truncated or
# in use, in a transaction or in a subtransaction.
#
# Runs against a server with gpusort loaded, given by PGHOST, PGPORT and PGUSER, in
# a database of its own that it drops at the end.  Needs a superuser.
#
#	--seconds N		stop after so long (60)
#	--seed S		first seed (from the clock); each case uses the next
#	--cases N		stop after so many cases
#	--failures N	stop after so many failures (1)
#	--verbose		print every case
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Getopt::Long;
use Time::HiRes qw(time);
use PgWire;

my %opt = (seconds => 60, seed => int(time) % 1_000_000_000, cases => 1e9, failures => 1);
GetOptions(\%opt, 'seconds=f', 'seed=i', 'cases=i', 'failures=i', 'verbose') or exit 2;
$| = 1;

my $db = "gpusort_into_fuzz_$$";
my ($conn, %stats);
my ($passed, $failed) = (0, 0);

sub pick { return $_[ rand @_ ]; }
sub chance { return rand() < $_[0]; }
sub shuffle { return map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [ rand, $_ ] } @_; }

# Of each type, what makes a value of the number i, and types to which it can be assigned.
my %types = (
	int2 => [ '(i % 30000)::int2', 'int4', 'int8', 'numeric', 'float8' ],
	int4 => [ 'hashint4(i) % 100000', 'int2', 'int8', 'numeric(9,1)', 'text' ],
	int8 => [ 'hashint8(i)::int8 * 12345', 'int4', 'numeric', 'varchar(12)' ],
	numeric => [ 'i / 7.0', 'int4', 'numeric(6,2)', 'text' ],
	float8 => [ 'sin(i)', 'numeric', 'float4' ],
	bool => [ 'i % 3 = 0', 'text' ],
	date => [ "date '2000-01-01' + i % 9000", 'timestamp', 'text' ],
	timestamp => [ "timestamp '2000-01-01' + i * interval '1.5 min'", 'date', 'timestamptz' ],
	uuid => [ 'md5(i::text)::uuid', 'text' ],
	text => [ "repeat('x', i % 60) || i", 'varchar(70)', 'varchar(50)', 'char(64)', 'bpchar' ],
	'varchar(90)' => [ "left(repeat(md5(i::text), 3), i % 90)", 'text', 'varchar(80)' ],
	bytea => [ "decode(md5(i::text), 'hex')", 'bytea' ],
	'int4[]' => [ 'ARRAY[i, NULL, i % 9]', 'int8[]', 'text[]' ],
	jsonb => [ "jsonb_build_object('a', i % 9, 'b', repeat('y', i % 90))", 'jsonb', 'text' ],
	long => [ "CASE WHEN i % 17 = 0 THEN repeat(md5(i::text), i % 400) ELSE md5(i::text) END", 'text' ]);

sub type_name { return $_[0] eq 'long' ? 'text' : $_[0]; }

# ---- tables ----

sub random_source
{
	my @columns = map { { name => "s$_", type => pick(sort keys %types) } } 1 .. 1 + int rand 6;
	my $rows = pick(0, 1, 30, 300, 2000, 5000);
	my @values = map { chance(0.2) ? "CASE WHEN i % @{[ 2 + int rand 20 ]} > 0 THEN $types{$_->{type}}[0] END" : $types{$_->{type}}[0] } @columns;
	my @sql = ('CREATE TABLE source (id int4, gone int4, ' . join(', ', map { "$_->{name} " . type_name($_->{type}) } @columns) . ')');

	push @sql, 'ALTER TABLE source DROP COLUMN gone' if chance(0.5);
	for (grep { $_->{type} eq 'long' } @columns)
	{
		push @sql, "ALTER TABLE source ALTER $_->{name} SET STORAGE " . pick('EXTERNAL', 'EXTENDED', 'MAIN') if chance(0.5);
	}
	push @sql, 'INSERT INTO source (' . join(', ', 'id', map { $_->{name} } @columns) . ') SELECT ' . join(', ', 'i', @values) . " FROM generate_series(1, $rows) i";
	if (chance(0.3))
	{
		push @columns, { name => 'later', type => 'int4' };
		push @sql, 'ALTER TABLE source ADD COLUMN later int4 DEFAULT 7';
	}
	return (\@columns, $rows, join('; ', @sql, 'ANALYZE source'));
}

sub storage
{
	my @options = ((chance(0.3) ? 'fillfactor = ' . pick(10, 30, 55, 90) : ()), (chance(0.2) ? 'toast_tuple_target = ' . pick(128, 300, 4000) : ()));
	return (@options ? ' WITH (' . join(', ', @options) . ')' : '') . (chance(0.2) ? ' TABLESPACE gpusort_fuzz' : '');
}

# Statements that make a table for the columns, and those of the list that are given values.
sub random_target
{
	my ($columns, $rows) = @_;
	my @own = map { { from => $_, name => "t_$_->{name}", type => chance(0.75) ? type_name($_->{type}) : pick(@{ $types{ $_->{type} } }[ 1 .. $#{ $types{ $_->{type} } } ]) } } @$columns;
	my @lines = map { "$_->{name} $_->{type}" . (chance(0.1) ? ' NOT NULL' : '') } @own;
	my @more;

	push @lines, 'id int4' . (chance(0.2) ? ' CHECK (id <> ' . (1 + int rand($rows * 3 + 1)) . ')' : '');
	push @own, { from => { name => 'id' }, name => 'id' };
	push @lines, 'gone text' and push @more, 'ALTER TABLE target DROP COLUMN gone' if chance(0.4);
	push @lines, "d1 text DEFAULT 'x' || 'y'" if chance(0.3);
	push @lines, 'd2 serial' if chance(0.15);
	push @lines, 'd3 int8 DEFAULT (100 / (1 + length(current_setting(\'work_mem\'))))' if chance(0.2);
	push @lines, "CHECK (id <= $rows / 2 OR id > 10)" if chance(0.2);
	@lines = shuffle(@lines);
	unshift @more, 'CREATE ' . pick('', '', 'UNLOGGED ', 'TEMP ') . 'TABLE target (' . join(', ', @lines) . ')' . storage();
	push @more, 'ALTER TABLE target ADD COLUMN e int4' . pick('', ' DEFAULT 5') if chance(0.2);
	return (\@own, join '; ', @more);
}

# ---- cases ----

sub order_by
{
	my ($columns) = @_;
	my @keys = map { $_->{name} . pick('', ' DESC', ' NULLS FIRST') } grep { $_->{type} !~ /json/ && chance(0.4) } @$columns;
	return ' ORDER BY ' . join(', ', (map { "s.$_" } @keys), 's.id') . (chance(0.15) ? ' LIMIT ' . int rand 3000 : '');
}

# What is done before, in a transaction or within the one, and the statement.
sub random_case
{
	my ($columns, $rows, $source) = random_source();
	my $order = order_by($columns);

	if (chance(0.3))
	{
		my @list = grep { chance(0.8) } shuffle(map { "s.$_->{name}" } { name => 'id' }, @$columns);
		my $query = 'SELECT ' . join(', ', @list ? @list : 's.id') . " FROM source s$order";
		my $storage = storage();
		return { source => $source, before => '', inside => '', statement => pick(
			'CREATE ' . pick('', 'UNLOGGED ', 'TEMP ') . "TABLE target$storage AS $query", "CREATE MATERIALIZED VIEW target$storage AS $query",
			"CREATE MATERIALIZED VIEW target$storage AS $query; REFRESH MATERIALIZED VIEW target", $query =~ s/ FROM/ INTO target FROM/r) };
	}
	my ($own, $make) = random_target($columns, $rows);
	my @given = chance(0.6) ? @$own : grep { chance(0.8) } @$own;
	@given = shuffle(@given ? @given : @$own) if chance(0.5);
	my $insert = 'INSERT INTO target (' . join(', ', map { $_->{name} } @given ? @given : @$own) . ') SELECT ' . join(', ', map { "s.$_->{from}{name}" } @given ? @given : @$own) . " FROM source s$order";
	my $used = 'INSERT INTO target (id) SELECT i FROM generate_series(1, ' . pick(1, 700) . ') i';
	my ($before, $inside) = @{ pick([ '', $make ], [ $make, '' ], [ "$make; $used", '' ], [ $make, 'TRUNCATE target' ], [ '', "$make; $used; TRUNCATE target" ], [ '', "$make; $used" ], [ "$make; $used", 'DELETE FROM target WHERE id % 2 = 0' ]) };
	return { source => $source, before => $before, inside => $inside, statement => $insert . (chance(0.1) ? "; $insert" : '') };
}

sub connect_fuzz
{
	my $c = PgWire->connect(dbname => $db, name => 'gpusort into fuzz');
	$c->must('SET client_min_messages = warning; SET gpusort.force = on; SET allow_in_place_tablespaces = on');
	return $c;
}

# What comes of it.
sub run_case
{
	my ($case, $ours) = @_;
	my $settings = join '; ', map { "SET gpusort.$_ = " . ($ours ? 'on' : 'off') } 'enable_insert', 'enable_create_table_as';

	$conn->query('ROLLBACK');
	$conn->must('DROP MATERIALIZED VIEW IF EXISTS target') if $conn->value("SELECT count(*) FROM pg_class WHERE relname = 'target' AND relkind = 'm'");
	$conn->must("DROP TABLE IF EXISTS target; $settings");
	my $prepared = $conn->query($case->{before} || 'SELECT 1');
	return "before: $prepared->{error}{M}" if $prepared->{error};
	$conn->must('BEGIN');
	my $inside = $conn->query("SAVEPOINT s; " . ($case->{inside} || 'SELECT 1'));
	return "inside: $inside->{error}{M}" if $inside->{error};
	$conn->must('SAVEPOINT t') if $case->{subtransaction};
	$conn->must('SET client_min_messages = debug1') if $ours;
	my $r = $conn->query($case->{statement});
	if (grep { $_->{M} =~ /gpusort filled table "[^"]*" with (\d+)/ } @{ $r->{notices} }) { $stats{'by gpusort'}++; }
	$stats{'with workers'}++ if grep { $_->{M} =~ /gpusort filled table "[^"]*" with [1-9]/ } @{ $r->{notices} };
	if ($r->{error})
	{
		$stats{errors}++ if $ours;
		return join ' ', map { $r->{error}{$_} // '' } qw(S C M D H n c);
	}
	$conn->must('SET client_min_messages = warning; SET LOCAL gpusort.enabled = off');
	my $rows = $conn->must(q(SELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY t::text COLLATE "C")), count(DISTINCT xmin::text), (SELECT count(*) FROM pg_class c, verify_heapam(c.oid, check_toast := true)
		WHERE c.relname = 'target' AND c.relpersistence <> 't'), (SELECT sum(pg_column_size(u.*)) FROM target u) FROM target t))->{rows}[0];
	return join ' ', $r->{tag}, map { $_ // 'NULL' } @$rows;
}

sub describe { my $c = shift; return join ";\n", grep { $_ } @$c{qw(settings source before)}, 'BEGIN', $c->{inside}, $c->{subtransaction} ? 'SAVEPOINT t' : '', $c->{statement}; }

my $admin = PgWire->connect(dbname => 'postgres', name => 'gpusort into fuzz');
$admin->must("CREATE DATABASE $db TEMPLATE template0 ENCODING 'UTF8'");
$conn = connect_fuzz();
$conn->must('CREATE EXTENSION amcheck');
$conn->query("CREATE TABLESPACE gpusort_fuzz LOCATION ''");
my $end = time + $opt{seconds};
my $seed = $opt{seed};
for (my $n = 0; $n < $opt{cases} && time < $end && $failed < $opt{failures}; $n++, $seed++)
{
	srand $seed;
	my $case = random_case();
	$case->{subtransaction} = chance(0.3);
	$case->{settings} = 'SET max_parallel_workers_per_gather = ' . pick(0, 0, 1, 3) . '; SET gpusort.slice_pages = ' . pick(1, 2, 10, 1000);
	print "-- seed $seed\n" . describe($case) . "\n" if $opt{verbose};
	$conn->query('ROLLBACK');
	$conn->must("DROP TABLE IF EXISTS source CASCADE; $case->{settings}; $case->{source}");
	my @said = map { run_case($case, $_) } 0, 1;
	$passed++, next if $said[0] eq $said[1];
	$failed++;
	printf "FAILED, seed %d\n%s\nPostgreSQL: %s\ngpusort:    %s\n", $seed, describe($case), @said;
}
$conn->query('ROLLBACK');
$conn->query('DROP MATERIALIZED VIEW IF EXISTS target');
$conn->query('DROP TABLE IF EXISTS target, source CASCADE');
$conn->query('DROP TABLESPACE gpusort_fuzz');
$conn->close;
$admin->must("DROP DATABASE $db");
print join(', ', map { "$_ $stats{$_}" } sort keys %stats), "; next seed $seed\n";
if ($passed > 50 && !$stats{'by gpusort'})
{
	print "FAILED: gpusort has filled none\n";
	$failed++;
}
print "$passed passed, $failed failed\n";
exit($failed > 0);
