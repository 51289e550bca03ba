# MemoryServer.pm
#	A throw-away server of memory_fuzz.pl: initdb, start, stop, and what it leaves behind.
#
# The programs of --bindir are all that is used, in a directory that goes with the object,
# or stays if the server has crashed.
package MemoryServer;
use strict;
use warnings;
use File::Path qw(remove_tree);
use File::Temp;
use Time::HiRes qw(time sleep);
use PgWire;

sub new
{
	my ($class, $bindir) = @_;
	my $self = bless { bindir => $bindir, owner => $$ }, $class;
	$self->{dir} = File::Temp::tempdir('gpusort-memory.XXXXXX', TMPDIR => 1);
	$self->{data} = "$self->{dir}/data";
	$self->{log} = "$self->{dir}/log";
	run($self, 'initdb', '-D', $self->{data}, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync');
	return $self;
}

sub run
{
	my ($self, $program, @arguments) = @_;
	my $pid = fork // die "fork: $!\n";
	if ($pid == 0)
	{
		open STDIN, '<', '/dev/null';
		open STDOUT, '>>', "$self->{dir}/programs.log";
		open STDERR, '>&', \*STDOUT;
		exec "$self->{bindir}/$program", @arguments or POSIX::_exit(127);
	}
	waitpid $pid, 0;
	die "$program fails: see $self->{dir}/programs.log\n" if $?;
}

# The same settings at the end of postgresql.conf as at each start, these in place of the last ones.
sub start
{
	my ($self, @lines) = @_;
	my $base = $self->{base} //= do { local (@ARGV, $/) = "$self->{data}/postgresql.conf"; <> };
	open my $conf, '>', "$self->{data}/postgresql.conf" or die "postgresql.conf: $!\n";
	print $conf $base, join "\n", "listen_addresses = ''", "unix_socket_directories = '$self->{dir}'", 'port = 5432', 'fsync = off', 'autovacuum = off',
		"shared_preload_libraries = 'gpusort'", 'restart_after_crash = off', 'jit = off', 'max_connections = 30', 'max_worker_processes = 20', 'max_parallel_workers = 16',
		'synchronize_seqscans = off', 'max_wal_size = 4GB', "log_line_prefix = '%m [%p] '", 'log_min_messages = warning', 'client_min_messages = warning', 'wal_level = minimal', 'max_wal_senders = 0', @lines, '';
	close $conf;
	$self->{log_read} = -s $self->{log} // 0;
	run($self, 'pg_ctl', '-D', $self->{data}, '-l', $self->{log}, '-w', '-t', 300, 'start');
}

sub stop
{
	my ($self, $mode) = @_;
	return 1 if !-e "$self->{data}/postmaster.pid";
	eval { run($self, 'pg_ctl', '-D', $self->{data}, '-m', $mode, '-w', '-t', 300, 'stop'); };
	return !$@;
}

sub connect
{
	my ($self, $name) = @_;
	return PgWire->connect(host => $self->{dir}, port => 5432, user => 'postgres', dbname => 'postgres', name => $name);
}

# Lines that a server that is well does not log, since the last call.  A worker that starts when its leader has been
# interrupted finds no memory of it, and says so.
sub complaints
{
	my $self = shift;
	open my $log, '<', $self->{log} or return ();
	seek $log, $self->{log_read}, 0;
	my @lines = <$log>;
	$self->{log_read} = tell $log;
	return grep { /PANIC|TRAP|terminated by signal|WARNING: |invalid memory|not closed|leak|could not|gpusortd has ended|a sort has failed|hangs/ && !/STATEMENT:|ERROR:  could not create unique|could not send data to client|could not map dynamic shared memory segment|could not attach to dynamic shared area|could not attach to a SharedFileSet that is already destroyed/ } @lines;
}

sub last_lines
{
	my ($self, $n) = @_;
	open my $log, '<', $self->{log} or return '';
	my @lines = <$log>;
	splice @lines, 0, @lines - $n if @lines > $n;
	return join '', map { "    $_" } @lines;
}

# Files of sorts that run, or that should be gone.
sub temporary_files
{
	my $self = shift;
	my @files;
	for my $path (glob "$self->{data}/base/pgsql_tmp/*")
	{
		push @files, -d $path ? glob("$path/*") : $path;
	}
	return @files;
}

sub DESTROY
{
	my $self = shift;
	local ($?, $@);
	return if $self->{owner} != $$;
	$self->stop('immediate');
	remove_tree($self->{dir}) if !$self->{keep};
}

1;
