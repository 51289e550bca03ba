#!/bin/bash
# choices_count.sh [OPTION]...
#		choices.pl, with these options, in instructions.
#
# Its queries, on a server below valgrind's callgrind (package valgrind), which counts what a backend does to
# execute an EXPLAIN ANALYZE, the same on a busy machine.  Locales en_US and de_DE are there for --collation.
# Exit status 1: some query took 3 % more with gpusort.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/bench/callgrind.sh"

need_packages build server locales
private_begin choices_count
private_locales
make_wrapper --toggle-collect=ExplainOnePlan --dump-after=ExplainOnePlan
POSTGRES=$WORK/postgres
cluster_start choices_count "shared_preload_libraries = 'gpusort'" "autovacuum = off" "shared_buffers = '256MB'" \
	"max_wal_size = '4GB'"
import_private_locales
"$TREE/test/bench/choices.pl" --counts "$WORK/counts" --repeat 1 "$@"
