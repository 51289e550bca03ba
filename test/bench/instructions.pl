#!/usr/bin/perl
# instructions.pl CASE SIDE ROWS FILE
#	One line of the table of instructions.sh: instructions a row by step, out of a file that
#	callgrind has written.  --head prints the table's first lines.
#
# A function that is named below, or lies in a file named below, belongs to a step. What it
# calls belongs to that step, too, unless it has one of its own.  Functions that are called from
# several steps are divided up by what callgrind counted for each caller.
use strict;
use warnings;

# PostgreSQL's executables have no names for static functions: these are global ones.
my @steps = (
	[ scan => qr/^(?:ExecScan|slot_getsomeattrs_int|heap_getnextslot|heapgetpage|heap_prepare_pagescan)$/, qr{/sort_input\.c$} ],
	[ row => qr/^heap_form_minimal_tuple$/, qr{/row_store(?:_columns)?\.c$} ],
	[ key => undef, qr{/(?:codec_\w+|collate_\w+|key_codec)\.c$} ],
	[ emit => qr/^(?:tuplesort_get(?:tupleslot|datum)|gpusort_fetch_block)$/, qr{/(?:exec_sort\.c|sort_(?:cursor\.h|result\.[ch])|key_rows\.c)$} ],
	[ collect => qr/^tuplesort_put(?:tupleslot|datum)$/, qr{/(?:sort_put|key_put|sort_memory|sort_ranges|memory_range)\.c$} ],
	[ refine => undef, qr{/key_(?:refine|run)\.c$} ],
	[ verify => undef, qr{/(?:sort_verify|sort_repair|verifier)\.c$} ],
	[ sort => qr/^tuplesort_performsort$/, qr{/(?:sort_life|host_engine|key_planes|gs_\w+)\.c$} ],
	[ executor => qr/^standard_ExecutorRun$/ ]);
my @names = map { $_->[0] } @steps;

if (@ARGV == 1 && $ARGV[0] eq '--head')
{
	print "| sort | side | all | ", join(' | ', @names), " |\n", '| --- | --- |', ' ---: |' x (1 + @names), "\n";
	exit;
}
@ARGV == 4 or die "instructions.pl CASE SIDE ROWS FILE\n";
my ($case, $side, $rows, $path) = @ARGV;

my (%name_of, %file_of);	# numbers that stand for names
my (%self, %calls);			# by "file function"; calls: what each called one has cost
my ($fl, $fn, $cfl, $callee);

# "(12) name" gives a number to a name, "(12)" is that one again.
sub name
{
	my ($text, $names) = @_;
	my ($number, $name) = $text =~ /^(\(\d+\))(?: (.*))?$/ or return $text;

	$names->{$number} = $name if defined $name;
	return $names->{$number};
}

open my $in, '<', $path or die "$path: $!\n";
while (<$in>)
{
	if (/^fl=(.*)/) { $fl = name($1, \%file_of); }
	elsif (/^f[ie]=(.*)/) { name($1, \%file_of); }	# code inlined from there
	elsif (/^fn=(.*)/) { $fn = "$fl " . name($1, \%name_of); }
	elsif (/^cf[il]=(.*)/) { $cfl = name($1, \%file_of); }
	elsif (/^cfn=(.*)/) { $callee = ($cfl // $fl) . ' ' . name($1, \%name_of); undef $cfl; }
	elsif (/^calls=/)
	{
		my ($cost) = <$in> =~ /^\S+ (\d+)/;

		$calls{$fn}{$callee} += $cost;
	}
	elsif (/^[\d+*-]\S* (\d+)/) { $self{$fn} += $1; }
}
close $in;

# The step that a function belongs to by itself, or undef.
my %step_of;

sub step
{
	my ($f) = @_;
	my ($file, $function) = split / /, $f, 2;

	return $step_of{$f} if exists $step_of{$f};
	for my $step (@steps)
	{
		my ($name, $functions, $files) = @$step;

		return $step_of{$f} = $name if ($functions && $function =~ $functions) || ($files && $file =~ $files);
	}
	return $step_of{$f} = undef;
}

# What functions with a step cost among what is called by one without, also through others.
my (%within, %visiting);

sub cost_within
{
	my ($f) = @_;
	my $sum = 0;

	return $within{$f} if exists $within{$f};
	return 0 if $visiting{$f};
	local $visiting{$f} = 1;
	$sum += step($_) ? $calls{$f}{$_} : share_within($_, $calls{$f}{$_}) for grep { $_ ne $f } keys %{ $calls{$f} };
	return $within{$f} = $sum;
}

# The same, of calls that have cost so much.
sub share_within
{
	my ($f, $cost) = @_;
	my $all = $self{$f} // 0;

	$all += $calls{$f}{$_} for grep { $_ ne $f } keys %{ $calls{$f} };
	return $all > 0 ? cost_within($f) * $cost / $all : 0;
}

my %cost;
for my $f (keys %self)
{
	my $step = step($f) or next;

	$cost{$step} += $self{$f};
	for my $g (grep { !step($_) } keys %{ $calls{$f} })
	{
		$cost{$step} += $calls{$f}{$g} - share_within($g, $calls{$f}{$g});
	}
}
$cost{sort} or die "$path: nothing was sorted\n";
my $all = 0;
$all += $_ for values %cost;
printf "| %s | %s | %d | %s |\n", $case, $side, $all / $rows,
	join(' | ', map { $cost{$_} ? sprintf '%d', $cost{$_} / $rows : '' } @names);
