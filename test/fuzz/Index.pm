# Index.pm
#	Random indexes over strings of all scripts and operator classes of users, each
#	built by PostgreSQL and by gpusort.
#
# A case is { columns, rows, keys, unique, where, include, with, settings, setup }.  Both
# builds must fail alike, or hold the same rows in the same order; gpusort's passes
# amcheck, and every row is found through it.  Some of ICU's comparisons are no order, so an
# index is only held to what PostgreSQL's own build of it comes up to.
package Index;
use strict;
use warnings;
use Exporter 'import';
use Types qw(pick chance between);
use Strings;
our @EXPORT_OK = qw(setup_sql make run script);

# ---- operator classes ----

# A class in a family of its own: [name, type, comparison, operators by strategy].
my @same = ('<', '<=', '=', '>=', '>');
my @classes = (
	# another comparison over built-in operators
	[ 'fuzz_parity_ops', 'int4', 'fuzz_parity_cmp', @same ],
	[ 'fuzz_length_ops', 'text', 'fuzz_length_cmp', @same ],
	[ 'fuzz_bytes_ops', 'text', 'bttext_pattern_cmp', @same ],
	[ 'fuzz_plain_ops', 'int4', 'btint4cmp', @same ],
	# the same with greatest first
	[ 'fuzz_down_ops', 'int4', 'fuzz_down_cmp', reverse @same ],
	[ 'fuzz_text_down_ops', 'text', 'fuzz_text_down_cmp', reverse @same ],
	# operators of its own
	[ 'fuzz_abs_ops', 'int4', undef ]);

sub setup_sql
{
	my $function = sub { "CREATE FUNCTION $_[0]($_[1], $_[1]) RETURNS int4 IMMUTABLE STRICT PARALLEL SAFE LANGUAGE sql AS \$\$SELECT $_[2]\$\$" };
	return (
		$function->('fuzz_parity_cmp', 'int4', 'btint8cmp(($2 & 1) * 4294967296 + $1, ($1 & 1) * 4294967296 + $2)'),
		$function->('fuzz_down_cmp', 'int4', 'btint4cmp($2, $1)'),
		$function->('fuzz_length_cmp', 'text', 'CASE length($1) WHEN length($2) THEN bttext_pattern_cmp($1, $2) ELSE btint4cmp(length($1), length($2)) END'),
		$function->('fuzz_text_down_cmp', 'text', 'bttextcmp($2, $1)'),
		(map {
				my ($name, $type, $cmp, @operators) = @$_;
				my $n = 0;
				"CREATE OPERATOR CLASS $name FOR TYPE $type USING btree AS " . join(', ', map { 'OPERATOR ' . ++$n . " $_" } @operators) . ", FUNCTION 1 $cmp($type, $type)"
		} grep { $_->[2] } @classes),
		'CREATE EXTENSION IF NOT EXISTS amcheck', 'CREATE EXTENSION IF NOT EXISTS pageinspect', 'CREATE EXTENSION IF NOT EXISTS gpusort',
		# the rows of an index's leaves, from left to right
		'CREATE FUNCTION fuzz_rows(i text) RETURNS text LANGUAGE sql SET work_mem = \'4MB\' AS $$
	WITH RECURSIVE leaf AS MATERIALIZED (
		SELECT s.* FROM generate_series(1, pg_relation_size(i::regclass) / current_setting(\'block_size\')::int - 1) AS b, bt_page_stats(i, b::int) AS s WHERE s.type = \'l\'),
	chain AS (SELECT l.blkno, l.btpo_next, 0 AS n FROM leaf l WHERE l.btpo_prev = 0
		UNION ALL SELECT l.blkno, l.btpo_next, n + 1 FROM chain c JOIN leaf l ON l.blkno = c.btpo_next)
	SELECT string_agg(coalesce(p.tids::text, p.htid::text), \' \' ORDER BY n, p.itemoffset)
	FROM chain, bt_page_items(i, chain.blkno::int) AS p WHERE p.itemoffset > 1 OR btpo_next = 0$$');
}

# ---- cases ----

sub choose_collation
{
	my $caps = shift;
	return 'C' if !@{ $caps->{icu_collations} } || chance(0.05);
	return pick(@{ $caps->{icu_collations} }) if chance(0.45);
	# keys and comparisons disagree about these most often
	return pick(grep { /shifted|digits/ } @{ $caps->{custom_collations} }) if chance(0.4);
	return pick(@{ $caps->{custom_collations} });
}

sub random_rows
{
	my ($caps, $n, $ncolumns) = @_;
	my @strings = map { [ Strings::strings($n, $caps->{utf8}) ] } 1 .. $ncolumns;
	my ($range, $nulls) = (pick(3, 100, 1_000_000), pick(0, 0.1, 0.5));
	return map {
		my $i = $_;
		[ $i + 1, chance($nulls) ? 'NULL' : between(-$range, $range), chance($nulls) ? 'NULL' : pick("'NaN'", between(-$range, $range) / 4), map { chance($nulls) ? 'NULL' : Strings::literal($strings[$_][$i]) } 0 .. $ncolumns - 1 ]
	} 0 .. $n - 1;
}

# One key: { sql, column, order, operator } of CREATE INDEX.
sub random_key
{
	my ($columns, $caps) = @_;
	my $c = chance(0.3) ? pick(@$columns[ 1 .. 2 ]) : pick(@$columns[ 3 .. $#$columns ]);
	my ($sql, $class, $type) = ($c->{name}, '', $c->{type});
	if (chance(0.15))
	{
		$sql = $type eq 'int4' ? pick('(n % 10)', '(-n)', '(n + id)') : $type eq 'float8' ? '(-f)' : pick("(lower($sql))", "($sql || 'x')", "(left($sql, 2))");
	}
	my $collate = $type eq 'text' && chance(0.1) ? ' COLLATE "' . choose_collation($caps) . '"' : '';
	my $equals = '=';
	my @users = grep { $_->[1] eq $type } @classes;
	if (@users && chance($type eq 'int4' ? 0.7 : 0.1))
	{
		my $of = pick(@users);
		$class = " $of->[0]";
		$equals = '|=|' if !$of->[2];
	}
	elsif ($type eq 'text' && chance(0.05)) { $class = ' text_pattern_ops'; }
	return { sql => $sql, value => "$sql$collate", equals => $equals, type => $type,
		text => "$sql$collate$class" . pick('', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST') };
}

sub random_settings
{
	my $workers = chance(0.2) ? pick(1, 2) : 0;
	my %off = (max_parallel_maintenance_workers => $workers, maintenance_work_mem => pick("'64MB'", "'64MB'", "'1MB'"), client_min_messages => 'warning');
	$off{min_parallel_table_scan_size} = 0 if $workers;
	my %on = ('gpusort.force' => 'on', 'gpusort.slice_pages' => pick(1, 2, 3, 100), 'gpusort.engine' => pick('auto', 'host'));
	$on{'gpusort.verify'} = 'on' if chance(0.2);
	$on{'gpusort.pool_quota'} = pick(0, 4, 30) if chance(0.3);
	$on{'gpusort.keep_memory'} = pick("'0'", "'1MB'") if chance(0.3);
	$on{'gpusort.min_rows'} = pick(0, 100) if chance(0.3);
	$on{'gpusort.inject_fault'} = pick('memory', 'codec', 'verify') if chance(0.1);
	return (\%off, \%on);
}

# A table and some indexes of it.
sub make
{
	my $caps = shift;
	my @columns = ({ name => 'id', type => 'int4' }, { name => 'n', type => 'int4' }, { name => 'f', type => 'float8' });
	push @columns, { name => "s$_", type => 'text', collation => choose_collation($caps) } for 1 .. 2;
	my $n = chance(0.05) ? between(0, 2) : chance(0.9) ? between(20, 150) : between(150, 800);
	my @rows = random_rows($caps, $n, 2);
	my @cases;
	for (1 .. 4)
	{
		my @keys = map { random_key(\@columns, $caps) } 1 .. pick(1, 1, 1, 2, 3);
		my $unique = chance(0.25);
		push @keys, { sql => 'id', value => 'id', equals => '=', type => 'int4', text => 'id' . pick('', ' DESC') } if $unique && chance(0.5);
		my ($off, $on) = random_settings();
		push @cases,
		  {
			columns => \@columns, rows => \@rows, keys => \@keys, unique => $unique, concurrently => chance(0.05), off => $off, on => $on,
			where => chance(0.15) ? pick('id % 3 <> 0', "$keys[0]{sql} IS NOT NULL", 'n > 0') : '',
			include => chance(0.15) ? pick('id', 'n', 's1', 'f, s2') : '',
			nulls => $unique && $caps->{version} >= 150000 && chance(0.4) ? ' NULLS NOT DISTINCT' : '',
			with => chance(0.5) ? ' WITH (' . pick('fillfactor = 10', 'fillfactor = 20', 'deduplicate_items = off', 'fillfactor = 10, deduplicate_items = off') . ')' : ''
		  };
	}
	return @cases;
}

sub table_sql
{
	my $case = shift;
	my $columns = join ', ', map { "$_->{name} $_->{type}" . ($_->{collation} ? " COLLATE \"$_->{collation}\"" : '') } @{ $case->{columns} };
	my @sql = ('DROP TABLE IF EXISTS x', "CREATE TABLE x ($columns)");
	push @sql, "INSERT INTO x VALUES\n" . join(",\n", map { '(' . join(', ', @$_) . ')' } @{ $case->{rows} }) if @{ $case->{rows} };
	return (@sql, 'ANALYZE x');
}

sub index_sql
{
	my $case = shift;
	return 'CREATE ' . ($case->{unique} ? 'UNIQUE ' : '') . 'INDEX ' . ($case->{concurrently} ? 'CONCURRENTLY ' : '') . 'xi ON x (' . join(', ', map { $_->{text} } @{ $case->{keys} }) . ')'
	  . ($case->{include} ? " INCLUDE ($case->{include})" : '') . $case->{nulls} . $case->{with} . ($case->{where} ? " WHERE $case->{where}" : '');
}

# How many rows cannot be found by their keys through the index.
sub lookup_sql
{
	my $case = shift;
	my @conditions;
	for my $key (@{ $case->{keys} })
	{
		(my $b = $key->{value}) =~ s/\b(id|n|f|s\d)\b/b.$1/g;
		(my $a = $key->{value}) =~ s/\b(id|n|f|s\d)\b/a.$1/g;
		push @conditions, "$b OPERATOR(" . ($key->{equals} eq '=' ? 'pg_catalog.=' : "public.$key->{equals}") . ") $a";
	}
	my @there = map { "$_->{sql} IS NOT NULL" } @{ $case->{keys} };
	push @there, $case->{where} if $case->{where};
	(my $outer = join ' AND ', @there) =~ s/\b(id|n|f|s\d)\b/a.$1/g;
	(my $inner = $case->{where} ? " AND $case->{where}" : '') =~ s/\b(id|n|f|s\d)\b/b.$1/g;
	return "SELECT count(*) FROM x a WHERE $outer AND NOT EXISTS (SELECT FROM x b WHERE " . join(' AND ', @conditions) . "$inner AND b.id = a.id OFFSET 0)";
}

my $check = "SELECT bt_index_parent_check('xi', true, true)";
my $through = 'SET enable_seqscan = off; SET enable_sort = off; SET gpusort.enabled = off';

sub set_sql { my $set = shift; return join '; ', map { "SET $_ = $set->{$_}" } sort keys %$set; }

# What has become of the index: { error, check, lost, rows, built }.
sub look
{
	my ($conn, $case) = @_;
	my $before = $conn->value('SELECT built FROM gpusort_index_builds()');
	my $made = $conn->query(index_sql($case));
	my %seen = (error => $made->{error} ? "$made->{error}{C} $made->{error}{M}" : '', code => $made->{error} ? $made->{error}{C} : '');
	$seen{built} = $conn->value('SELECT built FROM gpusort_index_builds()') - $before;
	if (!$made->{error})
	{
		my $checked = $conn->query($check);
		$seen{check} = $checked->{error} ? "$checked->{error}{M}" : '';
		$conn->must($through);
		my $lost = $conn->query(lookup_sql($case));
		$seen{lost} = $lost->{error} ? "$lost->{error}{C} $lost->{error}{M}" : $lost->{rows}[0][0];
		$seen{rows} = $conn->value("SELECT fuzz_rows('xi')") // '';
	}
	$conn->must('DROP INDEX IF EXISTS xi');
	return \%seen;
}

# Build both ways: undef, or what is wrong.
sub run
{
	my ($conn, $case, $stats) = @_;
	my $off = set_sql($case->{off});
	$conn->must("RESET ALL; $off; SET gpusort.enabled = off");
	my $theirs = look($conn, $case);
	$conn->must("RESET ALL; $off; " . set_sql($case->{on}));
	my $ours = look($conn, $case);
	if ($stats)
	{
		$stats->{indexes}++;
		$stats->{indexes_built} += $ours->{built};
		$stats->{indexes_no_order}++ if $theirs->{check} || $theirs->{lost};
		$stats->{indexes_failed}++ if $theirs->{error};
	}
	return "CREATE INDEX: $ours->{error}; PostgreSQL: $theirs->{error}" if $ours->{code} ne $theirs->{code};
	return undef if $ours->{error};
	return "amcheck: $ours->{check}" if $ours->{check} && !$theirs->{check};
	return "rows not found through the index: $ours->{lost}" if $ours->{lost} && !$theirs->{lost};
	return undef if $theirs->{check} || $theirs->{lost};
	return 'rows in another order than in an index of PostgreSQL\'s' if $ours->{rows} ne $theirs->{rows};
	return undef;
}

# ---- a failing case as a script ----

# The case with as few rows as still fail.
sub shrink
{
	my ($conn, $case) = @_;
	my $fails = sub { my $c = shift; $conn->must($_) for 'RESET ALL; SET client_min_messages = warning', table_sql($c); return run($conn, $c); };
	my @rows = @{ $case->{rows} };
	my ($chunk, $budget) = (int((@rows + 1) / 2), 200);
	while ($chunk >= 1 && $budget > 0)
	{
		my $progress = 0;
		for (my $i = 0; $i < @rows && $budget-- > 0;)
		{
			my @left = @rows;
			splice @left, $i, $chunk;
			if ($fails->({ %$case, rows => \@left })) { @rows = @left; $progress = 1; }
			else { $i += $chunk; }
		}
		last if $chunk == 1 && !$progress;
		$chunk = $chunk == 1 ? 1 : int(($chunk + 1) / 2);
	}
	return { %$case, rows => \@rows };
}

sub script
{
	my ($conn, $case) = @_;
	my $small = shrink($conn, $case);
	my $index = index_sql($small);
	my $sql = join '', map { "$_;\n" } table_sql($small);
	my %collations = Strings::custom_collations();
	my $used = "$sql$index";
	my $setup = join '', map { "$collations{$_};\n" } grep { $used =~ /"\Q$_\E"/ } sort keys %collations;
	my $classes = $used =~ /fuzz_\w+_ops/ ? join('', map { "$_;\n" } grep { !/fuzz_rows/ } setup_sql()) : "CREATE EXTENSION IF NOT EXISTS amcheck;\n";
	return $setup . $classes . ($used =~ /fuzz_abs_ops/ ? "-- fuzz_abs_ops is of Types.pm\n" : '') . $sql . set_sql($small->{off}) . ";\n" . set_sql($small->{on}) . ";\n"
	  . "$index;\n$check;\n$through;\n" . lookup_sql($small) . ";\n";
}

1;
