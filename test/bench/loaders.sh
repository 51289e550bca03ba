#!/bin/bash
# loaders.sh [OPTION OF loaders.pl]...
#		COPY FROM beside other loaders, on a throw-away server.
#
# PG_BULKLOAD=DIR is where pg_bulkload has been built for this server from its sources: the server gets its library
# and extension.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"

need_packages build server tap locales
private_begin loaders
if [ -n "${PG_BULKLOAD:-}" ]; then
	cp "$PG_BULKLOAD/lib/pg_bulkload.so" "$PKGLIBDIR/" &&
		cp "$PG_BULKLOAD"/lib/pg_bulkload.control "$PG_BULKLOAD"/lib/pg_bulkload--*.sql "$SHAREDIR/extension/" || exit
fi
cluster_start server "shared_preload_libraries = 'gpusort'" "shared_buffers = '1GB'" "max_wal_size = '8GB'" \
	"checkpoint_timeout = '1h'" "autovacuum = off"
"$TREE/test/bench/loaders.pl" "$@" 2>&1 | tee "$WORK/loaders.log"
status=${PIPESTATUS[0]}
tally_of loaders "$WORK/loaders.log" 0 "$status" >/dev/null
cluster_stop server
finish
