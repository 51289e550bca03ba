#!/bin/bash
# core.sh
#		PostgreSQL's own suites, as make check-core runs them, in more ways: without verification, by
#		gpusortd on simulated devices, with a pool of one extent; its isolation tests, too.

export WITH_CUDA=0
exec "$(dirname "$0")/../core/run.sh" --isolation --with verify --with trust --with daemon --with small-pool
