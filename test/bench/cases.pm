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
#	target		ratios to reach on PostgreSQL 15 and on 18; none: only not to be
#				slower
#	cold		every execution in a session of its own
#	needs		collation that must be there
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
	{ name => 'select-all', columns => \@row, values => \@row_values, query => 'SELECT * FROM %s ORDER BY k', keys => 'k::text', target => [ 5, 2.5 ] },
	{ name => 'select-all-cold', columns => \@row, values => \@row_values, query => 'SELECT * FROM %s ORDER BY k', keys => 'k::text', target => [ 2, undef ], cold => 1 },
	{ name => 'select-key', columns => \@row, values => \@row_values, query => 'SELECT k FROM %s ORDER BY k', keys => 'k::text', target => [ 2, 1.3 ] },
	{ name => 'wide', columns => \@row, values => [ 'r', 'i::int4', "repeat('0123456789', 20)" ], share => 0.3, query => 'SELECT * FROM %s ORDER BY k', keys => 'k::text', target => [ 4.5, 2.5 ] },
	{ name => 'int4-date-bool', columns => [ 'a int4', 'b date', 'c bool', @row[ 1, 2 ] ],
		values => [ '(r & 255)::int4', "date '2015-01-01' + ((r >> 8) & 4095)::int4", '(r >> 30) & 1 = 1', @row_values[ 1, 2 ] ],
		query => 'SELECT * FROM %s ORDER BY a, b, c', keys => "a || ' ' || b || ' ' || c", @usual },
	keyed('timestamptz', 'timestamptz', "timestamptz '2024-01-01 UTC' + (r & 31622399999999) % 31622400000000 * interval '1 microsecond'", @usual),
	keyed('float8', 'float8', 'r::float8 / 1e9', @usual),
	keyed('uuid', 'uuid', 'md5(r::text)::uuid', @usual),
	keyed('numeric', 'numeric', '(r >> 20)::numeric / 100', @usual),
	keyed('text-c', 'text COLLATE "C"', $text, @usual),
	keyed('text-en_US', 'text COLLATE "%s"', $words, target => [ 4, 4 ], needs => [ 'en_US.UTF-8', 'en_US.utf8' ]),
	keyed('text-icu', 'text COLLATE "%s"', $words, needs => ['en-x-icu']),
	keyed('presorted', 'int8', 'i * 7'), keyed('reversed', 'int8', '-i * 7'), keyed('all-equal', 'int8', '42'), keyed('two-values', 'int8', 'r & 1'),
	keyed('shared-prefix', 'text COLLATE "C"', "'a prefix that all of them share' || $text"),
	{ %{ keyed('rows-100k', 'int8', 'r') }, rows => 100_000 });

1;
