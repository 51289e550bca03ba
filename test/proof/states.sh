#!/bin/bash
# states.sh [--short] [ARGUMENT]...
#		Sorts and builds of all kinds while the pool is full from its nth extent on, or for that one only.
#
# What a sort consists of depends on what it is asked for, and it loses and gets anew some of it when
# memory ends.  faults.sh does it, with cases of its own for this (PoolCases.pm).

exec "$(dirname "$0")/faults.sh" --extents "$@"
