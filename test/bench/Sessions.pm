# Sessions.pm
#	Statements in several sessions at once, which fill large tables.
package Sessions;
use strict;
use warnings;
use Exporter qw(import);
use PgWire;
use POSIX ();

our @EXPORT_OK = qw(at_once fill_at_once);

# Each of the lists of statements in a process and a session of its own, at once.
sub at_once
{
	my ($db, @lists) = @_;
	my @pids;

	for my $statements (@lists)
	{
		my $pid = fork // die "fork: $!\n";

		push @pids, $pid;
		next if $pid;
		eval { PgWire->connect(dbname => $db, name => 'gpusort sessions')->must($_) for @$statements; 1 } or warn $@;
		POSIX::_exit($@ ? 1 : 0);
	}
	for (@pids)
	{
		waitpid $_, 0;
		die "a session has failed\n" if $?;
	}
}

# Insert into a table what a SELECT list makes of g, which is 1 to $rows, by so many sessions.
sub fill_at_once
{
	my ($db, $sessions, $table, $columns, $rows) = @_;
	my $step = int($rows / $sessions) + 1;

	at_once($db, map {
		my ($from, $to) = ($_ * $step + 1, ($_ + 1) * $step);
		["INSERT INTO $table SELECT $columns FROM generate_series($from, least($to, $rows)) g"];
	} 0 .. $sessions - 1);
}

1;
