#!/bin/bash
# core.sh [--short]
#		PostgreSQL's own suites, as make check-core runs them, in more ways: without verification, by
#		gpusortd on simulated devices, with a pool of one extent, by teams; its isolation tests, too.
#
# --short takes a few tests of the core suite, by gpusortd and with a pool of one extent.

export WITH_CUDA=0
if [ "${1:-}" = --short ]; then
	exec "$(dirname "$0")/../core/run.sh" --with daemon --with small-pool \
		--test aggregates --test groupingsets --test incremental_sort --test join --test select_distinct \
		--test tuplesort --test union --test window
fi
exec "$(dirname "$0")/../core/run.sh" --isolation --with verify --with trust --with daemon --with small-pool --with team
