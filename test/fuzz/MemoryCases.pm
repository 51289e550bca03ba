# MemoryCases.pm
#	Statements of memory_fuzz.pl: queries with what takes their rows, and commands that sort.
#
# A case is { name, steps, cleanup }.  A step is { sql, check }:
#
#	ordered		rows in this order
#	bag			these rows, in any order
#	tag			what the command says, rows and all
#	none		no more than that it works; its rows are not looked at
#
# and may have { fetch, stop }: by the extended protocol, so many rows at a time, and no more portals
# than so many.  { quiet } marks one between which and the next nothing changes, { alone } a case
# beside which no other transaction may be open.
package MemoryCases;
use strict;
use warnings;
use MemoryTables;
use MemoryQuery qw(table columns_for a_key);
use Types qw(pick chance between);

our $world;					# as MemoryQuery's, and { amcheck, dir }

# ---- consumers of a query ----

sub list { return join ', ', @_; }

sub hash_of { return 'hash_record_extended(ROW(' . list(map { "s.$_" } @_) . '), 0)'; }

# The digest of a relation with the query's columns, as one row.
sub digest_of
{
	my ($q, $from) = @_;
	my @chain = $q->{total} ? @{ $q->{columns} } : $q->{keys} ? @{ $q->{keys} } : ();
	return 'SELECT ' . list('count(*)', @chain ? 'fuzz_chain(' . hash_of(@chain) . ')' : (), $q->{bag} ? 'sum(' . hash_of(@{ $q->{columns} }) . ' >> 8)' : ()) . " FROM $from s";
}

sub quoted { my $s = shift; $s =~ s/'/''/g; return "'$s'"; }

# The query, or what of it has a determined order.
sub determined { my $q = shift; return $q->{total} ? $q->{sql} : $q->{keys} ? 'SELECT ' . list(@{ $q->{keys} }) . " FROM ($q->{sql}) s" : $q->{sql}; }

sub check_of { my $q = shift; return $q->{total} || $q->{keys} ? 'ordered' : 'bag'; }

sub to_aggregate { my $q = shift; return { sql => digest_of($q, "($q->{sql})"), check => 'bag' }; }

sub to_count { my $q = shift; return { sql => "SELECT count(*) FROM ($q->{sql}) s", check => 'bag' }; }

sub to_client { my $q = shift; return { sql => determined($q), check => check_of($q) }; }

sub to_pieces { my $q = shift; return { sql => determined($q), check => check_of($q), fetch => pick(1000, 10_000, 77_777) }; }

sub to_impatient
{
	my $q = shift;
	return to_client($q) if check_of($q) eq 'bag';
	return { sql => determined($q), check => 'ordered', fetch => pick(1, 1000, 10_000), stop => between(1, 4) };
}

sub to_cursor
{
	my $q = shift;
	my $check = check_of($q);
	return ({ sql => 'BEGIN', check => 'none', quiet => 1 }, { sql => 'DECLARE c CURSOR FOR ' . determined($q), check => 'none' }, (map { +{ sql => "FETCH $_ FROM c", check => $check eq 'ordered' ? $check : 'count' } } 1, 500, 20_000, 'ALL'),
		{ sql => 'COMMIT', check => 'none' });
}

sub to_scroll
{
	my $q = shift;
	return to_cursor($q) if check_of($q) eq 'bag';
	my @moves = map { pick('FETCH 500 FROM', 'MOVE 5000 IN', 'FETCH BACKWARD 300 FROM', 'FETCH ABSOLUTE 3000 FROM', 'FETCH RELATIVE -50 FROM', 'FETCH LAST FROM', 'MOVE FIRST IN', 'FETCH 10000 FROM', 'MOVE BACKWARD ALL IN', 'FETCH ABSOLUTE -700 FROM', 'FETCH FIRST FROM', 'FETCH PRIOR FROM') } 1 .. between(3, 9);
	return ({ sql => 'BEGIN', check => 'none', quiet => 1 }, { sql => 'DECLARE c SCROLL CURSOR FOR ' . determined($q), check => 'none' }, (map { +{ sql => "$_ c", check => 'ordered' } } @moves, 'MOVE ABSOLUTE 0 IN', 'FETCH ALL FROM', 'FETCH BACKWARD 1000 FROM'), { sql => 'COMMIT', check => 'none' });
}

sub to_hold
{
	my $q = shift;
	return ({ sql => 'BEGIN', check => 'none', quiet => 1 }, { sql => 'DECLARE c SCROLL CURSOR WITH HOLD FOR ' . determined($q), check => 'none' }, { sql => 'FETCH 100 FROM c', check => check_of($q) eq 'ordered' ? 'ordered' : 'count' }, { sql => 'COMMIT', check => 'none' },
		{ sql => 'MOVE ABSOLUTE 0 IN c', check => 'none', quiet => 1 }, { sql => 'FETCH ALL FROM c', check => check_of($q) }, { sql => 'CLOSE c', check => 'none' });
}

sub to_prepared { my $q = shift; return ({ sql => 'PREPARE p AS ' . digest_of($q, "($q->{sql})"), check => 'none' }, map { +{ sql => 'EXECUTE p', check => 'bag' } } 1 .. between(1, 3)); }

sub to_table
{
	my $q = shift;
	my $make = pick('CREATE TABLE', 'CREATE TABLE', 'CREATE UNLOGGED TABLE', 'CREATE TEMP TABLE');
	return ({ sql => "$make target AS $q->{sql}", check => 'tag' }, { sql => 'SELECT fuzz_digest(' . quoted(digest_of(as_stored($q), 'target')) . ')', check => 'bag' });
}

# Rows that come in order are stored in it, but not where several processes store them.
sub as_stored { my $q = shift; return { %$q, total => 0, keys => undef, bag => $q->{bag} }; }

sub to_view { my $q = shift; return ({ sql => "CREATE MATERIALIZED VIEW target AS $q->{sql}", check => 'tag' }, { sql => 'REFRESH MATERIALIZED VIEW target', check => 'none' }, { sql => 'SELECT fuzz_digest(' . quoted(digest_of(as_stored($q), 'target')) . ')', check => 'bag' }); }

sub to_insert
{
	my $q = shift;
	my $in = chance(0.4);
	my $index = chance(0.4) ? '; CREATE INDEX target_i ON target (' . $q->{columns}[0] . ')' : '';
	return (
		{ sql => "CREATE TABLE target AS SELECT * FROM ($q->{sql}) s LIMIT 0$index", check => 'none' }, ($in ? { sql => 'BEGIN; TRUNCATE target', check => 'none' } : ()), { sql => "INSERT INTO target $q->{sql}", check => 'tag' }, ($in ? { sql => 'COMMIT', check => 'none' } : ()),
		{ sql => 'SELECT fuzz_digest(' . quoted(digest_of(as_stored($q), 'target')) . ')', check => 'bag' }, $index ? index_checks('target_i') : ());
}

sub to_copy
{
	my $q = shift;
	my $ordered = check_of($q) eq 'ordered';
	# in binary format the header comes with the first row
	return { sql => 'COPY (' . determined($q) . ') TO STDOUT' . pick('', ' (FORMAT csv)', $ordered ? ' (FORMAT binary)' : ''), check => $ordered ? 'ordered' : 'copied' };
}

sub to_loop { my $q = shift; return to_aggregate($q) if check_of($q) eq 'bag'; return { sql => 'SELECT fuzz_loop(' . quoted(determined($q)) . ', ' . pick(0, 1, 3000, 50_000) . ')', check => 'bag' }; }

sub to_explain { my $q = shift; return { sql => 'EXPLAIN (ANALYZE, COSTS OFF' . pick('', ', TIMING OFF', ', VERBOSE', ', BUFFERS', ', FORMAT json') . ') ' . $q->{sql}, check => 'none' }; }

sub to_exists
{
	my $q = shift;
	return to_count($q) if $q->{sql} =~ /LIMIT|OFFSET|FETCH FIRST/;
	return { sql => "SELECT EXISTS ($q->{sql}), (SELECT count(*) FROM ($q->{sql} FETCH FIRST 10 ROWS ONLY) s)", check => 'bag' };
}

my @consumers = (
	[ 14, 'aggregate', \&to_aggregate ], [ 2, 'count', \&to_count ], [ 4, 'client', \&to_client, 300_000 ], [ 2, 'portal', \&to_pieces, 300_000 ], [ 1, 'portal left', \&to_impatient ], [ 3, 'cursor', \&to_cursor, 300_000 ], [ 4, 'scroll cursor', \&to_scroll, 300_000 ],
	[ 1, 'cursor with hold', \&to_hold, 300_000 ], [ 4, 'prepared', \&to_prepared ], [ 3, 'create table as', \&to_table ], [ 1, 'materialized view', \&to_view, 300_000 ], [ 3, 'insert', \&to_insert ], [ 3, 'copy to', \&to_copy, 300_000 ], [ 2, 'loop', \&to_loop, 300_000 ],
	[ 1, 'explain analyze', \&to_explain ], [ 1, 'exists', \&to_exists ]);

# ---- commands ----

sub index_checks
{
	my $index = shift;
	return () if !$world->{amcheck};
	return { sql => "SELECT bt_index_parent_check('$index', true, true)", check => 'bag', quiet => 1 };
}

sub index_columns
{
	my $t = shift;
	my @columns = map { (a_key($t))[0] } 1 .. pick(1, 1, 2, 3);
	push @columns, 'lower(c)' if $t->{family} ne 'n' && chance(0.2);
	push @columns, '(k % 13)' if chance(0.1);
	return list(@columns);
}

sub create_index
{
	my $t = table('nnnmmw');
	my $alone = chance(0.15);
	my $with = pick('', '', ' WITH (fillfactor = 50)', ' WITH (deduplicate_items = off)');
	my $sql = 'CREATE ' . (chance(0.2) ? 'UNIQUE ' : '') . 'INDEX ' . ($alone ? 'CONCURRENTLY ' : '') . "target_i ON $t->{name} (" . index_columns($t) . ')' . pick('', '', '', '', ' INCLUDE (k)') . $with . pick('', '', '', ' WHERE k < 700');
	return { alone => $alone, steps => [ { sql => $sql, check => 'tag', index => 'target_i' } ], cleanup => ['DROP INDEX IF EXISTS target_i'] };
}

sub create_unique { my $t = table('nnnm'); return { steps => [ { sql => "CREATE UNIQUE INDEX target_i ON $t->{name} (" . pick('u', 'id', 'u DESC, k', 'id, f', 'd', 's', 'k, u') . ')', check => 'tag', index => 'target_i' } ], cleanup => ['DROP INDEX IF EXISTS target_i'] }; }

sub copy_of
{
	my $t = table(@_);
	return ($t, { sql => "CREATE TABLE target AS SELECT * FROM $t->{name}" . pick('', ' ORDER BY u'), check => 'none', quiet => 1 });
}

sub reindex
{
	my ($t, $make) = copy_of('nnmw', 300_000);
	my $alone = chance(0.2);
	return { alone => $alone, steps => [ $make, { sql => "CREATE INDEX target_i ON target (" . index_columns($t) . '); CREATE INDEX target_j ON target (k, id)', check => 'none' }, { sql => 'DELETE FROM target WHERE id % 5 = 1', check => 'tag' },
		{ sql => 'REINDEX TABLE' . ($alone ? ' CONCURRENTLY' : '') . ' target', check => 'none' }, index_checks('target_i'), index_checks('target_j') ] };
}

sub primary_key { my ($t, $make) = copy_of('nnmw', 1_000_000); return { steps => [ $make, { sql => 'ALTER TABLE target ADD CONSTRAINT target_i PRIMARY KEY (' . pick('id', 'u', 'u, k', 'd') . ')', check => 'tag', index => 'target_i' } ] }; }

sub cluster
{
	my ($t, $make) = copy_of('nnmw', 300_000);
	my ($by) = a_key($t);
	my @columns = grep { $_ ne 'mix' } MemoryTables::columns_of($t->{family});
	return { steps => [ $make, { sql => "CREATE INDEX target_i ON target ($by, id)", check => 'none' }, chance(0.3) ? { sql => 'UPDATE target SET k = k + 1 WHERE id % 7 = 2', check => 'tag' } : (), { sql => 'CLUSTER target USING target_i', check => 'none' },
		{ sql => 'SELECT fuzz_digest(' . quoted(digest_of({ columns => \@columns, total => 1, bag => 1 }, 'target')) . ')', check => 'bag' }, index_checks('target_i') ] };
}

sub copy_from
{
	my $t = table('nnmw', 300_000);
	my $file = "$world->{dir}/$t->{name}.copy";
	$world->{conn}->must("COPY $t->{name} TO '$file'") if !-e $file;
	my $indexes = join '; ', map { "CREATE INDEX target_$_ ON target (" . index_columns($t) . ')' } 1 .. pick(0, 1, 2);
	my @columns = grep { $_ ne 'mix' } MemoryTables::columns_of($t->{family});
	my $in = chance(0.6);
	return { steps => [ { sql => "CREATE TABLE target (LIKE $t->{name}); $indexes", check => 'none' }, ($in ? { sql => 'BEGIN; TRUNCATE target', check => 'none', quiet => 1 } : ()),
		{ sql => "COPY target FROM '$file'", check => 'tag' }, ($in ? { sql => 'COMMIT', check => 'none', quiet => 1 } : ()), { sql => 'SELECT fuzz_digest(' . quoted(digest_of({ columns => \@columns, bag => 1 }, 'target')) . ')', check => 'bag' }, $indexes =~ /target_1/ ? index_checks('target_1') : () ] };
}

sub update_from
{
	my ($t, $make) = copy_of('n', 100_000);
	my $b = table('n', 100_000);
	return { steps => [ $make, { sql => pick("UPDATE target a SET k = b.k FROM $b->{name} b WHERE a.u = b.u AND b.f = 1", "DELETE FROM target a USING $b->{name} b WHERE a.u = b.u AND a.k < 500", "UPDATE target a SET k = s.x FROM (SELECT id, rank() OVER (ORDER BY u) AS x FROM $b->{name}) s WHERE a.id = s.id"), check => 'tag' },
		{ sql => 'SELECT fuzz_digest(' . quoted(digest_of({ columns => [qw(id k u)], bag => 1 }, 'target')) . ')', check => 'bag' } ] };
}

# Two cursors of a function, read in turn.
sub two_cursors
{
	my @queries = map { MemoryQuery::order_total() } 1, 2;
	return { steps => [ { sql => 'SELECT fuzz_two(' . list(map({ quoted($_->{sql} =~ s/\b([nmw])\d+\b/MemoryTables::table($world->{conn}, $1, $1 eq 'w' ? 5000 : 20000)/er) } @queries), pick(-1, 0, 1, 50)) . ')', check => 'bag' } ] };
}

# Several statements of one transaction, of which one fails.
sub failing
{
	my $t = table('nnm');
	my ($by) = a_key($t);
	my $row = int $t->{rows} * pick(0.1, 0.5, 0.99);
	return { steps => [ { sql => pick("SELECT count(*) FROM (SELECT id, 1 / (id - $row) AS x FROM $t->{name} ORDER BY $by OFFSET 0) s WHERE x > -1", "SELECT sum(1 / (x - $row)) FROM (SELECT id AS x FROM $t->{name} ORDER BY $by OFFSET 0) s",
		"SELECT max(1 / (x - 500)) FROM (SELECT count(*) AS x FROM $t->{name} GROUP BY k ORDER BY 1) s", "CREATE INDEX target_i ON $t->{name} (k, (1 / (id - $row)))"), check => 'bag' } ], cleanup => ['DROP INDEX IF EXISTS target_i'] };
}

my @commands = ([ 7, 'create index', \&create_index ], [ 3, 'create unique index', \&create_unique ], [ 2, 'reindex', \&reindex ], [ 1, 'primary key', \&primary_key ], [ 3, 'cluster', \&cluster ], [ 3, 'copy from', \&copy_from ], [ 2, 'update, delete', \&update_from ], [ 3, 'two cursors', \&two_cursors ], [ 2, 'failing', \&failing ]);

sub weighted
{
	my $total = 0;
	$total += $_->[0] for @_;
	my $x = rand $total;
	for (@_) { return $_ if ($x -= $_->[0]) < 0; }
	return $_[-1];
}

# The size of the largest table of statements.
sub rows_in
{
	my $most = 0;
	for (map { /\b[nmw](\d{4,})\b/g } @_) { $most = $_ if $_ > $most; }
	return $most;
}

sub rows_of { my $case = shift; return rows_in(map { $_->{sql} } @{ $case->{steps} }); }

# Any case; with $name, one whose name has that.
sub make
{
	my $name = shift;
	$MemoryQuery::world = $world;
	for (1 .. 100_000)
	{
		my $case;
		if (chance(0.27))
		{
			my (undef, $kind, $function) = @{ weighted(@commands) };
			next if defined $name && $kind !~ /$name/;
			$case = $function->();
			$case->{name} = $kind;
		}
		else
		{
			my (undef, $kind, $function) = @{ weighted(@MemoryQuery::queries) };
			my (undef, $to, $consumer, $most) = @{ weighted(@consumers) };
			my $q = $function->();
			# FOR UPDATE is for the statement itself
			($to, $consumer) = ('client', \&to_client) if $q->{sql} =~ /FOR (UPDATE|SHARE)/;
			next if defined $name && "$kind to $to" !~ /$name/;
			($to, $consumer) = ('aggregate', \&to_aggregate) if $most && rows_in($q->{sql}) > $most;
			$case = { steps => [ $consumer->($q) ], name => "$kind to $to" };
		}
		$case->{cleanup} //= [];
		return $case;
	}
	die "there is no statement of the name $name\n";
}

# How many kinds there are.
sub kinds { return (scalar(@MemoryQuery::queries), scalar(@consumers), scalar(@commands)); }

1;
