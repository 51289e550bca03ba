#!/usr/bin/perl
# docs.pl CHECK [ARGUMENT] FILE.md...
#	What test/docs.sh looks for in pages; prints one line for each problem.
#
#	links PAGE...			relative links, and anchors of links into pages
#	files LIST PAGE...		names of source files, in pages or sources; LIST holds the names
#							of all files
#	width COLUMNS PAGE...	lines that are longer
#	figures PAGE FILE.csv...	columns of milliseconds that the page does not have
#
# ... and, for test/t/056_manual.pl:
#
#	examples PAGE...		SQL in code blocks, and complete statements between backticks; queries in *.yaml
#
# Needs perl-base.
use strict;
use warnings;
use utf8;

binmode STDOUT, ':utf8';

# Files that are not ours: PostgreSQL's, and those that a command makes.
my %foreign = map { $_ => 1 } qw(
	nbtsort.c md.c tuplesort.c tuplesort.h nodeCustom.c nodeLimit.c postgres.h pg_locale.h explain.h libpq.h varatt.h memfd.h
	mman-common.h
	postgresql.conf devices.csv NAME.sql NAME.out NAME_test.c NAME.spec NNN_NAME.pl file.sql);

# The lines of a page; those of code blocks are empty if code is not wanted.
sub lines_of
{
	my ($page, $with_code) = @_;
	my ($in_code, @lines) = 0;

	open my $file, '<:utf8', $page or die "$page: $!\n";
	while (my $line = <$file>)
	{
		chomp $line;
		my $fence = $line =~ /^\s*```/;
		$in_code = !$in_code if $fence;
		push @lines, ($in_code || $fence || $line =~ /^(    |\t)/) && !$with_code ? '' : $line;
	}
	return @lines;
}

# The anchor that GitHub makes of a heading.
sub anchor
{
	my ($heading) = @_;

	$heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
	$heading = lc $heading;
	$heading =~ s/[^\w\- ]//g;
	$heading =~ s/ /-/g;
	return $heading;
}

my %anchors_of;

sub anchors
{
	my ($page) = @_;
	my %count;

	return $anchors_of{$page} //= { map { $_ => 1 } map { $count{$_}++ ? "$_-" . ($count{$_} - 1) : $_ }
			map { anchor($_) } map { /^#{1,6} +(.*?)\s*$/ ? $1 : () } lines_of($page) };
}

# dir/../other/file without the ".."; undef if it leads out of the tree.
sub normal
{
	my @parts;

	for my $part (split m{/}, shift)
	{
		next if $part eq '.' || $part eq '';
		if ($part eq '..')
		{
			return undef if !@parts;
			pop @parts;
			next;
		}
		push @parts, $part;
	}
	return join '/', @parts;
}

sub directory { return $_[0] =~ m{^(.*)/} ? $1 : '.'; }

sub check_links
{
	for my $page (@_)
	{
		my $number = 0;

		for my $line (lines_of($page))
		{
			$number++;
			(my $text = $line) =~ s/`[^`]*`/``/g;
			while ($text =~ /\]\(([^)\s]+)[^)]*\)/g)
			{
				my $link = $1;

				next if $link =~ m{^[a-z]+:};
				my ($path, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
				my $file = $path eq '' ? $page : normal(directory($page) . "/$path");

				if (!defined $file || !-e ($file eq '' ? '.' : $file))
				{
					print "$page:$number: no file: $link\n";
				}
				elsif (defined $anchor && ($file !~ /\.md$/ || !anchors($file)->{$anchor}))
				{
					print "$page:$number: no heading: $link\n";
				}
			}
		}
	}
}

# Names with * or [ch] in them stand for any that match.
sub pattern
{
	my ($name) = @_;

	$name = quotemeta $name;
	$name =~ s/\\\*/[^\/]*/g;
	$name =~ s/\\\[(\w+)\\\]/[$1]/g;
	return qr{(?:^|/)$name$};
}

sub check_files
{
	my ($list, @pages) = @_;
	my (@files, %found);

	open my $names, '<:utf8', $list or die "$list: $!\n";
	chomp(@files = <$names>);
	for my $page (@pages)
	{
		my $number = 0;

		for my $line (lines_of($page, 1))
		{
			$number++;
			next if $line =~ /^\s*#\s*include/;
			while ($line =~ m{(?<![\w*/.-])((?:\.\./|\./)*[\w*][\w*/.-]*\.(?:\[\w+\]|(?:c|h|cu|cuh|mk|pl|pm|py|sh|sql|spec|md|svg|csv|txt|out))(?!\w))}g)
			{
				(my $name = $1) =~ s{^(?:\.\.?/)+}{};

				(my $base = $name) =~ s{.*/}{};
				next if $foreign{$base};
				my $pattern = pattern($name);
				$found{$name} //= grep { /$pattern/ } @files;
				print "$page:$number: no file: $name\n" if !$found{$name};
			}
		}
	}
}

sub check_width
{
	my ($columns, @pages) = @_;

	for my $page (@pages)
	{
		my $number = 0;

		for my $line (lines_of($page, 1))
		{
			$number++;
			print "$page:$number: ", length $line, " columns\n" if length $line > $columns;
		}
	}
}

# Columns "..._ms" and "ms", and "phases", which holds names and milliseconds.
sub check_figures
{
	my ($page, @tables) = @_;
	my $text = join "\n", lines_of($page, 1);

	for my $table (@tables)
	{
		my ($head, @rows) = lines_of($table, 1);
		my @names = split /,/, $head;

		print "$table: no figures\n" if !@rows || !grep { /^(.*_)?ms$/ } @names;
		for my $row (@rows)
		{
			my @values = $row =~ /("(?:[^"]|"")*"|[^,]*)(?:,|$)/g;

			for my $i (grep { $names[$_] =~ /^(.*_)?ms$|^phases$/ } 0 .. $#names)
			{
				for my $number ($values[$i] =~ /\d+(?:\.\d+)?/g)
				{
					print "$table: $page lacks $number\n" if $text !~ /(?<![\d.])\Q$number\E(?![\d.]*\d)/;
				}
			}
		}
	}
}

# Statements, and what they are said to print: PAGE:LINE, then both, each ended by a line.
sub print_example
{
	my ($where, $sql, $output) = @_;

	s/\s*$/\n/ for $sql, $output;
	print "$where\n$sql\\sql\n$output\\output\n";
}

my $begins_statement = qr/^(?:SELECT|SET|RESET|SHOW|ALTER|CREATE|DROP|EXPLAIN|COPY|VACUUM|BEGIN)\s/;

# Between backticks there are names of commands, too, and queries about tables that only the page knows.
sub is_example
{
	my ($text) = @_;

	return $text !~ /\.\.\.|…/ &&
		$text =~ /^(?:SELECT\b.*(?:gpusort|\bpg_\w+\(\))|SHOW gpusort|SET gpusort\S+ =|(?:CREATE|ALTER|DROP) EXTENSION gpusort)/;
}

# In a code block, what does not begin with a statement behind an empty line is what those before it print.
sub print_block
{
	my ($where, $block) = @_;
	my ($sql, $output) = ('', '');

	for my $part (split /\n\s*\n/, $block)
	{
		if ($output eq '' && $part =~ $begins_statement) { $sql .= "$part\n"; }
		else { $output .= "$part\n"; }
	}
	print_example($where, $sql, $output) if $sql ne '';
}

sub print_examples_of_page
{
	my ($page) = @_;
	my ($number, $block, $begin) = (0);
	my $text = '';

	for my $line (lines_of($page, 1))
	{
		$number++;
		if ($line =~ /^\s*```/)
		{
			print_block("$page:$begin", $block) if defined $block;
			($block, $begin) = defined $block ? () : ('', $number + 1);
			$text = '';
		}
		elsif (defined $block) { $block .= "$line\n"; }
		else
		{
			# what is between backticks may go on in the next line
			$text = '' if $line eq '';
			$text .= "$line ";
			while ($text =~ s/^[^`]*`([^`]+)`//)
			{
				(my $sql = $1) =~ s/\s+/ /g;
				print_example("$page:$number", "$sql;", '') if is_example($sql);
			}
		}
	}
}

# What is indented below "query: |".
sub print_queries_of_yaml
{
	my ($file) = @_;
	my ($number, $query, $begin, $indent) = (0);

	for my $line (lines_of($file, 1), '')
	{
		$number++;
		if (defined $query && $line =~ /^$indent(.*)/) { $query .= "$1\n"; }
		elsif (defined $query)
		{
			print_example("$file:$begin", $query, '');
			undef $query;
		}
		($query, $begin, $indent) = ('', $number + 1, "$1  ") if $line =~ /^( *)(?:- )?query: *\|/;
	}
}

sub print_examples
{
	$_ =~ /\.yaml$/ ? print_queries_of_yaml($_) : print_examples_of_page($_) for @_;
}

my %checks = (links => \&check_links, files => \&check_files, width => \&check_width, figures => \&check_figures,
	examples => \&print_examples);
my $check = $checks{ shift // '' } or die "usage: docs.pl links|files|width|figures|examples ...\n";
$check->(@ARGV);
