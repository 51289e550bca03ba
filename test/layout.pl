#!/usr/bin/perl
# layout.pl [TREE]
#		Does the code keep to src/layout.txt?
#
# Nine checks, each a line of TAP: includes against the table; what object files take from each
# other against the table (where the tree has been built: nm tells); no circles of files, by
# includes and by symbols; plain C without PostgreSQL; one place that looks at the server's version;
# one that sets the server's hooks, so that their order can be read there; one that waits for
# other processes of a job, so that nobody waits for a worker that is lost; no line of more than 100
# columns but for those with a string, which a reader looks for as it is; and no external function whose
# name begins with a noun of another folder: what the files there begin with.  A circle is shown with
# the symbols that close it.  Ends with "N passed, N failed".
use strict;
use warnings;

my $tree = shift // '.';
chdir $tree or die "$tree: $!\n";

# ---------- the table ----------

my (%allowed, %public, %plain, @base);
open my $table, '<', 'src/layout.txt' or die "src/layout.txt: $!\n";
while (<$table>)
{
	s/#.*//;
	next unless /^(\S+):\s*(.*?)\s*$/;
	my ($folder, @may) = ($1, split ' ', $2);
	if ($folder eq 'base')
	{
		@base = @may;
		next;
	}
	if ($folder eq 'plain')
	{
		$plain{$_} = 1 for @may;
		next;
	}
	if ($folder =~ m{^(.+)/\*$})
	{
		my $of = $1;
		$public{$of}{$_} = 1 for @may;
		next;
	}
	$allowed{$folder} = { map { $_ => 1 } map { $_ eq 'base' ? @base : $_ } @may };
}

# Paths are relative to src/, but those of cuda/, which are relative to the top.
sub folder
{
	my $path = shift;
	return $path =~ m{^(.*)/} ? $1 : '.';
}

# May a file use another one's header, or what belongs to it?
sub may
{
	my ($user, $used) = @_;
	my ($from, $to) = (folder($user), folder($used));
	return 1 if $from eq $to && $from ne '.';
	return 0 if $used =~ /_private\.h$/;
	return 0 if $public{$to} && $used =~ m{([^/]+)\.\w+$} && !$public{$to}{"$1.h"};
	my $rule = $allowed{$user} // $allowed{$from};
	return 0 unless $rule;
	return 1 if $rule->{'*'} || ($to ne '.' && $rule->{$to}) || $rule->{$used};
	# its own header
	(my $stem = $user) =~ s/\.\w+$//;
	(my $header = $used) =~ s/\.\w+$//;
	return $stem eq $header;
}

# ---------- includes ----------

sub files
{
	my ($directory, $pattern) = @_;
	my @found;
	opendir my $handle, $directory or die "$directory: $!\n";
	for my $name (sort readdir $handle)
	{
		next if $name =~ /^\./;
		my $path = "$directory/$name";
		if (-d $path)
		{
			push @found, files($path, $pattern);
		}
		elsif ($name =~ $pattern)
		{
			push @found, $path;
		}
	}
	return @found;
}

sub logical
{
	my $path = shift;
	$path =~ s{^src/}{};
	return $path;
}

my @sources = (files('src', qr/\.[ch]$/), files('cuda', qr/\.(c|h|cu|cuh)$/));
my %is_ours = map { logical($_) => 1 } @sources;
my (@wrong, @servers, @versions, @hooks, @waits, %includes, %unknown_folder);

# What an include names: directory/../ is taken out of it, and ours of cuda/ get that in front.
sub included
{
	my ($user, $used) = @_;
	if ($used =~ m{(^|/)\.\.?/})
	{
		$used = folder($user) . "/$used" if !$is_ours{$used};
		1 while $used =~ s{(^|/)\./}{$1} || $used =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
	}
	return !$is_ours{$used} && $is_ours{"cuda/$used"} ? "cuda/$used" : $used;
}

for my $path (@sources)
{
	my $user = logical($path);
	$unknown_folder{ folder($user) } = 1 unless $allowed{ folder($user) } || $allowed{$user};
	open my $source, '<', $path or die "$path: $!\n";
	while (<$source>)
	{
		push @versions, "$path:$.: only pg_compat.h and pg_compat/ may ask for that"
		  if /\bPG_(VERSION_NUM|MAJORVERSION_NUM)\b/ && $user !~ m{^pg_compat(\.h$|/)};
		push @hooks, "$path:$.: only hooks.c sets hooks of the server"
		  if /\b(\w+_hook|GPUSORT_RELATION_HOOK)\s*=[^=]/ && $user ne 'hooks.c';
		push @waits, "$path:$.: only team/worker_wait.c waits for workers, and looks after them"
		  if /\b(ConditionVariable(Timed)?Sleep|WaitForParallelWorkersTo\w+|BarrierArriveAndWait|GetBackgroundWorkerPid|ParallelMessagePending)\b/
		  && $user !~ m{^team/worker_wait\.};
		next unless /^\s*#\s*include\s*(["<])([^">]+)[">]/;
		my ($quote, $name) = ($1, $2);
		my $used = included($user, $name);
		if (!$is_ours{$used})
		{
			# a server's header otherwise; ours are named from src/ on
			if ($is_ours{ folder($user) . "/$used" })
			{
				push @wrong, "$path:$.: \"$used\" is to be named from src/ on";
			}
			elsif ($quote eq '"' && $plain{ folder($user) })
			{
				push @servers, "$path:$.: " . folder($user) . " may not include $name";
			}
			next;
		}
		$includes{$user}{$used} = 1;
		push @wrong, "$path:$.: " . folder($user) . " may not include $used" unless may($user, $used);
	}
}
push @wrong, map { "src/layout.txt does not know the folder $_" } sort keys %unknown_folder;

# ---------- symbols ----------

# What the object files below a directory define and use: {file}{file} = [symbols].
sub symbol_graph
{
	my ($directory, $strip) = @_;
	my (%defines, %uses, %graph);
	for my $object (files($directory, qr/\.o$/))
	{
		(my $file = $object) =~ s{^\Q$strip\E/}{};
		$file =~ s/o$/c/;
		$file = logical($file);
		next unless $is_ours{$file};
		open my $nm, '-|', 'nm', $object or die "nm: $!\n";
		while (<$nm>)
		{
			my ($type, $symbol) = /(\w) (\S+)$/ or next;
			$uses{$file}{$symbol} = 1 if $type eq 'U';
			$defines{$symbol} = $file if $type =~ /[TDBRVWC]/ && $symbol !~ /^(_PG_|Pg_magic)/;
		}
	}
	for my $file (sort keys %uses)
	{
		for my $symbol (sort keys %{ $uses{$file} })
		{
			my $other = $defines{$symbol} // next;
			push @{ $graph{$file}{$other} }, $symbol if $other ne $file;
		}
	}
	return \%graph;
}

my @graphs = (symbol_graph('src', 'src'), -d 'build/gpusortd' ? symbol_graph('build/gpusortd', 'build/gpusortd') : {});
my @upward;
for my $graph (@graphs)
{
	for my $file (sort keys %$graph)
	{
		for my $other (sort keys %{ $graph->{$file} })
		{
			# a header of that name, or of its folder, is what the table is about
			(my $header = $other) =~ s/c$/h/;
			next if may($file, $is_ours{$header} ? $header : $other) || may($file, $other);
			next if grep { $_ eq $header } @base;
			push @upward, "$file uses $other: " . join ' ', @{ $graph->{$file}{$other} };
		}
	}
}

# ---------- circles ----------

# Strongly connected parts of a graph that are more than one file (Tarjan).
sub circles
{
	my $graph = shift;
	my ($count, @stack, %on_stack, %index, %low, @found) = (0);
	my $visit;
	$visit = sub {
		my $file = shift;
		$index{$file} = $low{$file} = $count++;
		push @stack, $file;
		$on_stack{$file} = 1;
		for my $other (sort keys %{ $graph->{$file} // {} })
		{
			if (!defined $index{$other})
			{
				$visit->($other);
				$low{$file} = $low{$other} if $low{$other} < $low{$file};
			}
			elsif ($on_stack{$other})
			{
				$low{$file} = $index{$other} if $index{$other} < $low{$file};
			}
		}
		return if $low{$file} != $index{$file};
		my @part;
		do
		{
			push @part, pop @stack;
			delete $on_stack{ $part[-1] };
		} until $part[-1] eq $file;
		push @found, [ sort @part ] if @part > 1;
	};
	defined $index{$_} or $visit->($_) for sort keys %$graph;
	return @found;
}

my @circles;
for my $graph (\%includes, @graphs)
{
	for my $circle (circles($graph))
	{
		my %member = map { $_ => 1 } @$circle;
		push @circles, 'circle of ' . join ', ', @$circle;
		for my $file (@$circle)
		{
			for my $other (grep { $member{$_} } sort keys %{ $graph->{$file} })
			{
				my $why = $graph->{$file}{$other};
				push @circles, "  $file -> $other" . (ref $why ? ": @$why" : '');
			}
		}
	}
}

# ---------- the answer ----------

my ($passed, $failed) = (0, 0);

sub report
{
	my ($what, @problems) = @_;
	print @problems ? 'not ok' : 'ok', ' ', $passed + $failed + 1, " - $what\n";
	print "# $_\n" for @problems;
	@problems ? $failed++ : $passed++;
}

# Places of lines that are longer, a tab being up to four columns.
sub long_lines
{
	my $path = shift;
	my @found;

	open my $in, '<:utf8', $path or die "$path: $!\n";
	while (my $line = <$in>)
	{
		1 while $line =~ s/^([^\t]*)\t/$1 . ' ' x (4 - length($1) % 4)/e;
		push @found, "$path:$." if length($line) > 101 && $line !~ /"/;
	}
	return @found;
}

# External functions whose names begin as files of other folders do.  Those that SQL calls have names of its
# own.
sub foreign_names
{
	my (%owners, @found);

	for my $path (map { logical($_) } @sources)
	{
		$owners{$1}{ folder($path) } = 1 if $path =~ m{([a-z]+)[^/]*$} && folder($path) ne '.';
	}
	for my $path (grep { m{^src/.*/.*\.c$} } @sources)
	{
		my $folder = folder(logical($path));

		open my $in, '<', $path or die "$path: $!\n";
		while (my $line = <$in>)
		{
			next unless $line =~ /^gpusort_([a-z]+)\w*\((?!PG_FUNCTION_ARGS)/ && $owners{$1} && !$owners{$1}{$folder};
			push @found, "$path:$.: $1 is a word of " . join ' and ', sort keys %{ $owners{$1} };
		}
	}
	return @found;
}

my $built = grep { %$_ } @graphs;
report('includes keep to src/layout.txt', @wrong);
report('calls keep to src/layout.txt' . ($built ? '' : ' (nothing is built)'), @upward);
report('no circles of files', @circles);
report('plain C knows nothing of PostgreSQL', @servers);
report("the server's version is asked for in one place", @versions);
report("the server's hooks are set in one place", @hooks);
report('other processes of a job are waited for in one place', @waits);
report('lines have up to 100 columns', map { long_lines($_) } @sources);
report('names begin with words of their folders', foreign_names());
print "$passed passed, $failed failed\n";
exit($failed > 0);
