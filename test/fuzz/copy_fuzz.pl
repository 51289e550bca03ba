#!/usr/bin/perl
# copy_fuzz.pl
#	Differential fuzzer of COPY FROM: every input once with gpusort.enable_copy off, once with
#	it on and forced, and rows, errors and notices must agree, with their lines.
#
# Runs against a server with gpusort loaded, given by PGHOST, PGPORT and PGUSER, in
# a database of its own that it drops at the end.  Needs a superuser.
#
#	--seconds N		stop after so long (60)
#	--seed S		first seed (from the clock); each input uses the next
#	--inputs N		stop after so many inputs
#	--failures N	stop after so many failures (1)
#	--verbose		print every statement
#
# A failure is printed with its statements and its input, which is made as short as it can be.
use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use Getopt::Long;
use Time::HiRes qw(time);
use PgWire;

my %opt = (seconds => 60, seed => int(time) % 1_000_000_000, inputs => 1e9, failures => 1);
GetOptions(\%opt, 'seconds=f', 'seed=i', 'inputs=i', 'failures=i', 'verbose') or exit 2;
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
	date => [ sub { sprintf pick('%04d-%02d-%02d', '%04d%02d%02d', '%d-%d-%d'), 1990 + rand 40, 1 + rand 12, 1 + rand 28 }, sub { pick('2001-02-29', '2001-13-01', 'today?', 'infinity') } ],
	timestamp => [ sub { sprintf '20%02d-%02d-%02d %02d:%02d:%02d%s', rand 99, 1 + rand 12, 1 + rand 28, rand 24, rand 60, rand 60, pick('', '.5', '.123456', 'Z') }, sub { pick('2000-01-01 24:00:00', '2000-01-01 25:00:00', '2000-01-01 00:00:60') } ],
	text => [ sub { join '', map { pick('a', 'bc', ' ', 'é', '€', ',', "\t", '"', '\\', "\n", "\r", "\\.", '\\N', "'", ';', '|', '0', 'x41', 'longer than others ' x 5) } 1 .. rand 6 }, sub { pick("\xc3", 'z' x 9000, '') } ],
	'varchar(5)' => [ sub { join '', map { pick('a', 'é', ' ', ',') } 1 .. rand 6 }, sub { pick('123456', 'a      ') } ],
	bytea => [ sub { pick('\\x00ff', 'abc') }, sub { pick('\\x0', '\\400') } ]);

sub random_table
{
	my @columns = map { { name => "c$_", type => pick(sort(keys %values), 'text', 'int4'), not_null => chance(0.15) } } 1 .. 1 + rand 5;
	my @lines = map { "$_->{name} $_->{type}" . ($_->{not_null} ? ' NOT NULL' : '') } @columns;
	my $create = pick('CREATE TABLE t (', 'CREATE TABLE t (', 'CREATE UNLOGGED TABLE t (', 'CREATE TEMP TABLE t (') . join(', ', @lines) . ')';
	$create .= '; CREATE ' . pick('', '', 'UNIQUE ') . "INDEX ON t ($_->{name})" for grep { chance(0.12) } @columns;
	return (\@columns, $create);
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
	my ($columns, $version) = @_;
	my %d = (csv => chance(0.6) ? 1 : 0, newline => pick("\n", "\n", "\n", "\r\n", "\r"));
	my @options = $d{csv} ? 'FORMAT csv' : ();
	$d{delimiter} = $d{csv} ? ',' : "\t";
	$d{quote} = $d{escape} = '"';
	$d{null} = $d{csv} ? '' : '\\N';
	if (chance(0.3)) { $d{delimiter} = pick(',', ';', '|', "\t", ' ', ':', '~'); push @options, 'DELIMITER ' . literal($d{delimiter}); }
	if ($d{csv} && chance(0.2)) { $d{quote} = $d{escape} = pick("'", '|', '^', '\\'); push @options, 'QUOTE ' . literal($d{quote}); }
	if ($d{csv} && chance(0.25)) { $d{escape} = pick('\\', "'", '^', 'a'); push @options, 'ESCAPE ' . literal($d{escape}); }
	if (chance(0.25)) { $d{null} = pick('', 'NULL', 'a', '\\N', '-', '0'); push @options, 'NULL ' . literal($d{null}); }
	if (chance(0.2)) { $d{header} = 1; push @options, pick('HEADER', 'HEADER true', $version >= 150000 && chance(0.3) ? 'HEADER match' : 'HEADER on'); }
	my @names = map { $_->{name} } @$columns;
	push @options, 'FORCE_NULL (' . pick(@names) . ')' if $d{csv} && chance(0.15);
	push @options, 'FORCE_NOT_NULL (' . pick(@names) . ')' if $d{csv} && chance(0.15);
	if ($version >= 170000 && chance(0.25)) { push @options, 'ON_ERROR ignore'; push @options, 'LOG_VERBOSITY verbose' if chance(0.7); push @options, 'REJECT_LIMIT ' . int(1 + rand 4) if $version >= 180000 && chance(0.5); }
	push @options, "DEFAULT '\\D'" if $version >= 160000 && chance(0.03);
	$d{list} = chance(0.2) ? '(' . join(', ', reverse @names) . ')' : '';
	$d{columns} = $d{list} ? [ reverse @$columns ] : $columns;
	$d{options} = @options ? ' (' . join(', ', @options) . ')' : '';
	return \%d;
}

# ---- inputs ----

sub text_field
{
	my ($d, $value) = @_;
	my %names = ("\n" => 'n', "\r" => 'r', "\t" => 't');
	$value =~ s/([\\\n\r\t]|\Q$d->{delimiter}\E)/'\\' . ($names{$1} && chance(0.7) ? $names{$1} : $1)/ge if !chance(0.02);
	$value =~ s/^(.)/sprintf pick('\\%03o', '\\x%02x', '\\%o'), ord $1/e if chance(0.02);
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
		my $value = $values{ $column->{type} }[ chance(0.002) ]->();
		push @fields, $d->{csv} ? csv_field($d, $value) : text_field($d, $value);
	}
	pop @fields if chance(0.002);
	push @fields, 'more' if chance(0.002);
	return join $d->{delimiter}, @fields;
}

sub random_input
{
	my $d = shift;
	my @records = map { random_record($d) } 1 .. (chance(0.15) ? rand 600 : rand 12);
	unshift @records, join $d->{delimiter}, map { $_->{name} } @{ $d->{columns} } if $d->{header} && chance(0.9);
	my $input = join $d->{newline}, @records;
	$input .= $d->{newline} if @records && chance(0.8);
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

my $db = "copy_fuzz_$$";
my ($passed, $failed, $stop) = (0, 0, 0);
my (%stats, $amcheck);
$SIG{INT} = $SIG{TERM} = sub { $stop = 1 };

sub connect_fuzz
{
	my $c = PgWire->connect(dbname => $db, name => 'gpusort copy fuzz');
	$c->must("SET client_min_messages = notice; SET gpusort.force = on; SET gpusort.copy_indexes = empty");
	return $c;
}

# What comes of an input, as text.
sub outcome
{
	my ($c, $ours, $copy, $input, $piece) = @_;
	my $at = 0;
	$c->must('TRUNCATE t; SET gpusort.enable_copy = ' . ($ours ? 'on' : 'off'));
	$c->must('SET client_min_messages = debug1') if $ours;
	my $r = $c->load($copy, sub {
		return undef if $at >= length $input;
		my $data = substr $input, $at, $piece;
		$at += $piece;
		return $data;
	});
	$c->must('SET client_min_messages = notice') if $ours;
	$stats{'by gpusort'} += grep { $_->{S} eq 'DEBUG' && $_->{M} =~ /^gpusort loaded/ } @{ $r->{notices} };
	$r->{notices} = [ grep { $_->{S} ne 'DEBUG' } @{ $r->{notices} } ];
	my $said = join "\n", map { my $m = $_; join ' ', map { defined $m->{$_} ? "$_=$m->{$_}" : () } qw(S C M D H W) } @{ $r->{notices} }, $r->{error} ? $r->{error} : ();
	my $broken = $ours && $amcheck ? $c->query("SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 't'::regclass")->{error} : undef;
	return "index: $broken->{M}" if $broken;
	my $rows = $c->must('SELECT count(*), string_agg(t::text, chr(10) ORDER BY ctid) FROM t')->{rows}[0];
	$stats{ $r->{error} ? 'errors' : 'inputs loaded' }++ if $ours;
	$stats{rows} += $rows->[0] if $ours;
	return join "\n", $said, $r->{tag}, $rows->[0], $rows->[1] // '';
}

sub differs
{
	my ($c, $copy, $input, $piece) = @_;
	my $theirs = outcome($c, 0, $copy, $input, $piece);
	my $ours = outcome($c, 1, $copy, $input, $piece);
	# rows that an index refuses are found when a batch of them is full: which error is the first is a matter of batches
	return undef if $ours =~ /C=23505/ && $theirs =~ /^S=ERROR|\nS=ERROR/ || $theirs =~ /C=23505/ && $ours =~ /^S=ERROR|\nS=ERROR/;
	return $ours eq $theirs ? undef : [ $theirs, $ours ];
}

# Leave out what a failure does not need.
sub shrink
{
	my ($c, $copy, $input, $piece) = @_;
	for (my $size = length $input; $size >= 1; $size = int($size / 2))
	{
		for (my $at = 0; $at < length $input;)
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
$admin->must("CREATE DATABASE $db TEMPLATE template0 ENCODING 'UTF8'");
my $conn = connect_fuzz();
my $version = $conn->value('SHOW server_version_num');
$amcheck = !$conn->query('CREATE EXTENSION amcheck')->{error};
my $end = time + $opt{seconds};
my $seed = $opt{seed};
for (my $n = 0; $n < $opt{inputs} && time < $end && !$stop && $failed < $opt{failures}; $n++, $seed++)
{
	srand $seed;
	my ($columns, $create) = random_table();
	my $d = random_dialect($columns, $version);
	my $copy = "COPY t $d->{list} FROM STDIN$d->{options}";
	my $piece = chance(0.3) ? 1 + int rand 20 : 1e6;
	my $workers = chance(0.3) ? int rand 4 : 0;
	$conn->must("DROP TABLE IF EXISTS t; $create; SET max_parallel_workers_per_gather = $workers; SET max_parallel_maintenance_workers = $workers");
	for (1 .. 3)
	{
		my $input = random_input($d);
		print "-- seed $seed: $create; $copy\n" if $opt{verbose};
		my $differ = differs($conn, $copy, $input, $piece);
		$passed++, next if !$differ;
		$failed++;
		$input = shrink($conn, $copy, $input, $piece);
		$differ = differs($conn, $copy, $input, $piece) // $differ;
		printf "FAILED, seed %d, %d workers, messages of %d bytes:\n%s;\n%s;\n%s\nPostgreSQL: %s\ngpusort:    %s\n", $seed, $workers, $piece, $create, $copy, visible($input), $differ->[0], $differ->[1];
		last;
	}
}
$conn->close;
$admin->must("DROP DATABASE $db");
print join(', ', map { "$_ $stats{$_}" } sort keys %stats), "; next seed $seed\n";
if ($passed > 50 && !$stats{'by gpusort'})
{
	print "FAILED: gpusort has loaded none\n";
	$failed++;
}
print "$passed passed, $failed failed\n";
exit($failed > 0);
