# cases.pm
#	The benchmark's cases: what is sorted, and how much faster it has to be.
#
# A case is
#	name		for --case and the table
#	columns		columns of its table
#	values		the row numbered i, an SQL expression for each column.  r is a
#				random bigint of that row, the same on every run
#	share		rows, as a share of --rows (default 1)
#	rows		rows, whatever --rows says
#	query		%s is the table
#	keys		expression over the query's output that is compared on both sides
#	target		ratios to reach on PostgreSQL 15, from 16 on, and on 19 if that is another one; none:
#				only not to be slower
#	cold		every execution in a session of its own
#	needs		collation that must be there
#	index		instead of query: an index to build, %s is the table
# Neighbouring cases with the same columns and values share one table.
package cases;
use strict;
use warnings;

my @row = ('k int8', 'v int4', 'pad text');
my @row_values = ('r', 'i::int4', "'0123456789abcdef'");

# The same row with another key.
sub keyed
{
	my ($name, $type, $value, @more) = @_;
	return { name => $name, columns => [ "k $type", @row[ 1, 2 ] ], values => [ $value, @row_values[ 1, 2 ] ],
		query => 'SELECT * FROM %s ORDER BY k', keys => 'k::text', @more };
}

# 8 to 40 bytes of text over a random value
my $text = "left(md5(r::text) || md5((r # 1)::text), 8 + (r & 31)::int)";
# a few letters only, so that collations have something to compare
my $words = "translate(left(md5(r::text) || md5((r # 1)::text), 8 + (r & 31)::int), '0123456789', 'ABCDEFghij')";
my @usual = (target => [ 3, 2 ]);

our @cases = (
	{ name => 'select-all', columns => \@row, values => \@row_values, query => 'SELECT * FROM %s ORDER BY k', keys => 'k::text', target => [ 5, 2.5, 3.5 ] },
	{ name => 'select-all-cold', columns => \@row, values => \@row_values, query => 'SELECT * FROM %s ORDER BY k', keys => 'k::text', target => [ 2, undef ], cold => 1 },
	{ name => 'select-key', columns => \@row, values => \@row_values, query => 'SELECT k FROM %s ORDER BY k', keys => 'k::text', target => [ 2, 1.3, 1.8 ] },
	{ name => 'expression-sum', columns => \@row, values => \@row_values, query => 'SELECT * FROM %s ORDER BY k / 2 + v', keys => '(k / 2 + v)::text', target => [ 3, 2, 3 ] },
	keyed('int4', 'int4', '(r >> 32)::int4', target => [ 3, 2, 2.5 ]),
	keyed('int4-key', 'int4', '(r >> 32)::int4', query => 'SELECT k FROM %s ORDER BY k', target => [ 1.5, 1.2, 1.2 ]),
	{ name => 'wide', columns => \@row, values => [ 'r', 'i::int4', "repeat('0123456789', 20)" ], share => 0.3, query => 'SELECT * FROM %s ORDER BY k', keys => 'k::text', target => [ 4.5, 2.5 ] },
	{ name => 'int4-date-bool', columns => [ 'a int4', 'b date', 'c bool', @row[ 1, 2 ] ],
		values => [ '(r & 255)::int4', "date '2015-01-01' + ((r >> 8) & 4095)::int4", '(r >> 30) & 1 = 1', @row_values[ 1, 2 ] ],
		query => 'SELECT * FROM %s ORDER BY a, b, c', keys => "a || ' ' || b || ' ' || c", @usual },
	keyed('timestamptz', 'timestamptz', "timestamptz '2024-01-01 UTC' + (r & 31622399999999) % 31622400000000 * interval '1 microsecond'", @usual),
	keyed('float8', 'float8', 'r::float8 / 1e9', @usual),
	keyed('uuid', 'uuid', 'md5(r::text)::uuid', @usual),
	keyed('numeric', 'numeric', '(r >> 20)::numeric / 100', @usual),
	keyed('text-c', 'text COLLATE "C"', $text, target => [ 3, 2, 2.5 ]),
	keyed('text-relabelled', 'text COLLATE "C"', $text, query => 'SELECT * FROM %s ORDER BY k COLLATE "POSIX"', target => [ 3, 2, 2.5 ]),
	keyed('expression-lower', 'text COLLATE "C"', $text, query => 'SELECT * FROM %s ORDER BY lower(k)', keys => 'lower(k)', target => [ 2.3, 1.8, 2 ]),
	{ name => 'junk-keys', columns => [ 'a int4', 'b date', 'c text COLLATE "C"', @row ],
		values => [ '(r & 65535)::int4', "date '2015-01-01' + ((r >> 16) & 4095)::int4", 'md5(i::text)', @row_values ],
		query => 'SELECT k, v, pad FROM %s ORDER BY a, b, c', keys => 'v::text', target => [ 3, 2, 3 ] },
	keyed('text-en_US', 'text COLLATE "%s"', $words, target => [ 4, 4 ], needs => [ 'en_US.UTF-8', 'en_US.utf8' ]),
	keyed('text-icu', 'text COLLATE "%s"', $words, target => [ 2.5, 2 ], needs => ['en-x-icu']),
	keyed('presorted', 'int8', 'i * 7'), keyed('reversed', 'int8', '-i * 7'), keyed('all-equal', 'int8', '42'), keyed('two-values', 'int8', 'r & 1'),
	keyed('shared-prefix', 'text COLLATE "C"', "'a prefix that all of them share' || $text"),
	{ %{ keyed('rows-100k', 'int8', 'r') }, rows => 100_000 });

# Index builds
my @build = (target => [ 3, 2.2, 3 ]);

sub built
{
	my ($name, $index, @more) = @_;
	return { name => "index-$name", columns => \@row, values => \@row_values, index => $index, @more };
}

our @index_cases = (
	built('int8', 'INDEX i ON %s (k)', @build),
	built('int8-unique', 'UNIQUE INDEX i ON %s (k)', @build),
	built('int4-int4', 'INDEX i ON %s (a, b)', columns => [ 'a int4', 'b int4', @row[ 1, 2 ] ],
		values => [ '(r & 65535)::int4', '(r >> 32)::int4', @row_values[ 1, 2 ] ], @build),
	(map { my $case = $_; built($case->{name}, 'INDEX i ON %s (k)', %$case{qw(columns values needs)}, $case->{name} =~ /en_US/ ? (target => [ 4, 4 ]) : @build) }
		grep { $_->{name} =~ /^(timestamptz|uuid|text-c|text-en_US)$/ } @cases),
	(map { my $case = $_; built($case->[0], 'INDEX i ON %s (k)', values => [ $case->[1], @row_values[ 1, 2 ] ], target => [ 2, 2 ]) }
		[ 'presorted', 'i * 7' ], [ 'reversed', '-i * 7' ], [ '100-values', 'r % 100' ]));

1;
