#!/bin/bash
# sessions.sh [OPTION OF sessions.pl]...
#		Many sessions at the same time, on a throw-away server.
#
# POOL=256MB sets the size of the pool, DAEMON=host:2 has gpusortd sort on simulated devices (auto:
# on GPUs, if there are any).

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

need_packages build server tap locales
private_begin sessions
cluster_start server "shared_preload_libraries = 'gpusort'" "max_connections = 200" "gpusort.pool_size = '${POOL:-256MB}'" \
	"gpusort.daemon = '${DAEMON:-off}'" "shared_buffers = '256MB'" "autovacuum = off" "synchronous_commit = off"
"$TREE/test/bench/sessions.pl" "$@" 2>&1 | tee "$WORK/sessions.log"
status=${PIPESTATUS[0]}
tally_of sessions "$WORK/sessions.log" 0 "$status" >/dev/null
if grep -qE 'PANIC|TRAP|terminated by signal' "$WORK/server.log"; then
	tally "no crash" 0 1
fi
cluster_stop server || tally "server stops" 0 1
finish
