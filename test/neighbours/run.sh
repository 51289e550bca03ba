#!/bin/bash
# run.sh [NAME]...
#		make check-neighbours: gpusort beside other extensions and programs.
#
# Each neighbour is a file of this folder, which says
#
#	PACKAGES	what it takes of Debian's postgresql-MAJOR-NAME; they are unpacked into the private
#				installation, not installed.  A neighbour that Debian does not have for this
#				server is not tested
#	PROGRAMS	packages of programs, unpacked beside it
#	PRELOAD		what the server preloads before gpusort; with REVERSED=yes start_server has gpusort first
#	SETTINGS	lines of postgresql.conf
#
# and has a function check_neighbour, which is called when its server runs, and compares what
# happens with what happens without gpusort (lib/neighbours.sh).

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/neighbours.sh"

all_neighbours()
{
	(cd "$TREE/test/neighbours" && ls -- *.sh | sed 's/\.sh$//' | grep -vx run)
}

# start_server NAME [LINE]...
start_server()
{
	local name=$1 libraries="${PRELOAD:+$PRELOAD, }gpusort"

	shift
	[ -z "${REVERSED:-}" ] || libraries="gpusort${PRELOAD:+, $PRELOAD}"
	cluster_start "$name" "shared_preload_libraries = '$libraries'" "log_min_messages = debug1" \
		"autovacuum_naptime = 1d" "gpusort.pool_size = '256MB'" "$@"
	sql -c 'CREATE EXTENSION gpusort'
}

# stop_server NAME
stop_server()
{
	cluster_stop "$1" || tally "$1: server stops" 0 1
	if grep -E 'PANIC|TRAP|terminated by signal|(FATAL|ERROR|WARNING):  gpusort' "$WORK/$1.log"; then
		tally "$1: no crash" 0 1
	fi
}

# shellcheck disable=SC2046 # names are words
[ $# -gt 0 ] || set -- $(all_neighbours)
for NEIGHBOUR in "$@"; do
	[ -f "$TREE/test/neighbours/$NEIGHBOUR.sh" ] || die "there is no test/neighbours/$NEIGHBOUR.sh"
done
export WITH_CUDA=0
need_packages build server locales
private_begin neighbours
private_locales
for NEIGHBOUR in "$@"; do
	PACKAGES= PROGRAMS= PRELOAD= SETTINGS=()
	. "$TREE/test/neighbours/$NEIGHBOUR.sh"
	# shellcheck disable=SC2086 # names are words
	if ! unpack_packages $PACKAGES || ! unpack_programs $PROGRAMS; then
		say "$NEIGHBOUR: Debian does not have it for PostgreSQL $PG_MAJOR"
		continue
	fi
	start_server "$NEIGHBOUR" "${SETTINGS[@]}"
	check_neighbour
	stop_server "$NEIGHBOUR"
done
finish
