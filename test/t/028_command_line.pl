# The command line of gpusortd: what an administrator may ask it, and what it refuses.
use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use GpuSortTest;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $program = PostgreSQL::Test::Cluster->new('installed')->config_data('--pkglibdir') . '/gpusortd';

# is_answered STATUS, OUT, ERR, ARGUMENT...: it ends so, and prints something like that.
sub is_answered
{
	my ($status, $out, $err, @arguments) = @_;
	my $asked = join ' ', 'gpusortd', @arguments;
	my ($printed, $complained) = ('', '');

	IPC::Run::run([ $program, @arguments ], '<', \'', '>', \$printed, '2>', \$complained, time_limit());
	is($? >> 8, $status, "$asked: exit status");
	is($? & 127, 0, "$asked: no signal");
	like($printed, $out, "$asked: answer");
	like($complained, $err, "$asked: complaint");
}

is_answered(0, qr/^gpusortd sorts .*--probe.*Exit status: 0 .* 8 /s, qr/^$/, '--help');
is_answered(0, qr/^gpusortd \d+\.\d+, pool version \d+\n$/, qr/^$/, '--version');

my $device = qr/ \d: simulated, [\d.]+ [GM]iB, [\d.]+ [GM]iB for sorting\n/;
is_answered(0, qr/^(simulated device$device){1}$/, qr/^$/, '--probe', '--engine=host');
is_answered(0, qr/^(simulated device$device){3}$/, qr/^$/, '--probe', '--engine=host', '--devices=3');
is_answered(0, qr/^simulated device 0: simulated, [\d.]+ [GM]iB, 0\.5 GiB for sorting\n$/, qr/^$/,
	'--probe', '--engine=host', '--devices=1', '--device-memory=512MB');

# One without a GPU says why; one with some lists them.
my $found = `'$program' --probe --engine=cuda 2>&1`;
ok($? >> 8 == 3 || $? >> 8 == 8 ? $found =~ /^no device: \S/ : $? == 0 && $found =~ /for sorting$/m, '--probe --engine=cuda');

for my $wrong (
	[ '--engine=gpu' ], [ '--devices=' ], [ '--devices=0,' ], [ '--devices=1x' ], [ '--devices=99999999999' ],
	[ '--device-memory=0%' ], [ '--device-memory=101%' ], [ '--device-memory=4' ], [ '--device-memory=18446744073709551615TB' ],
	[ '--supervisor-pid=-1' ], [ '--pool-fd=99999999999' ], [ '--inject-fault=lost' ], [ '--inject-fault=lost:0' ])
{
	my ($name, $value) = $wrong->[0] =~ /^(--[^=]+)=(.*)/;
	is_answered(1, qr/^$/, qr/^gpusortd: invalid value for $name: "\Q$value\E"\n$/, @$wrong, '--probe');
}
is_answered(1, qr/^$/, qr/unrecognized option '--gpu'/, '--gpu');
is_answered(1, qr/^$/, qr/unexpected argument "all"/, '--probe', 'all');
is_answered(1, qr/^$/, qr/the PostgreSQL server starts this program, see gpusortd --help/);
is_answered(1, qr/^$/, qr/the PostgreSQL server starts this program/, '--supervisor-pid=1', '--pool-bytes=2097152');

# Its pool is not one.
is_answered(4, qr/^$/, qr/\S/, '--engine=host', '--supervisor-pid=' . $$, '--pool-fd=0', '--pool-bytes=2097152');

done_testing;
