#!/bin/bash
# faults.sh [--short] [ARGUMENT]...
#		Every nth allocation, file write, mapping, message and device operation fails in turn.
#
# Starts a server that preloads fail_nth.c behind gpusort, and a gpusortd that runs below the same code,
# and has faults.pl, which takes the other arguments, run queries and index builds on it.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

need_packages build server tap locales
export WITH_CUDA=0
# states.sh calls this script with --extents, and may run beside it: each has a folder of its own
NAME=faults
[[ " $* " != *' --extents '* ]] || NAME=states
private_begin $NAME
private_locales

export FAIL_NTH_FILE=$WORK/fail_nth
head -c 64 /dev/zero >"$FAIL_NTH_FILE"
chmod 666 "$FAIL_NTH_FILE"

# compile_failing NAME OPTION...
compile_failing()
{
	local name=$1

	shift
	gcc -shared -fPIC -O2 -Wall -I"$("$PG_CONFIG" --includedir-server)" "$@" \
		-o "$PKGLIBDIR/$name.so" "$TREE/test/proof/fail_nth.c" -ldl || die "fail_nth.c does not compile"
}
compile_failing fail_nth -D_GNU_SOURCE
compile_failing fail_nth_daemon -DFAIL_NTH_DAEMON

# gpusortd has the environment that the supervisor gives it.  Its name must stay, so it moves.
mkdir -p "$PKGLIBDIR/real"
mv "$PKGLIBDIR/gpusortd" "$PKGLIBDIR/real/"
cat >"$PKGLIBDIR/gpusortd" <<SCRIPT
#!/bin/sh
FAIL_NTH_FILE='$FAIL_NTH_FILE' LD_PRELOAD='$PKGLIBDIR/fail_nth_daemon.so' exec '$PKGLIBDIR/real/gpusortd' "\$@"
SCRIPT
chmod 755 "$PKGLIBDIR/gpusortd"

# a message that was lost ends in the daemon's timeout
cluster_start $NAME "shared_preload_libraries = 'gpusort, fail_nth'" "autovacuum_naptime = 1d" \
	"gpusort.daemon_timeout = '2s'" "gpusort.pool_size = '128MB'" "shared_buffers = '32MB'" "max_wal_size = '2GB'"
# where the servers' user can read them
mkdir -p "$WORK/tests"
cp "$TREE"/test/fuzz/*.pm "$TREE"/test/proof/*.pm "$TREE/test/proof/faults.pl" "$WORK/tests/"
as_server perl -I "$WORK/tests" "$WORK/tests/faults.pl" "$WORK/failures.log" "$@"
status=$?
cluster_stop $NAME || say "the server does not stop"
exit $status
