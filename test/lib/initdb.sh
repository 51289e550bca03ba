#!/bin/bash
# initdb.sh OPTION...
#		initdb for TAP tests: what INITDB makes, once for the same options; after that, copies.
#
# Making a database cluster takes five times as long as copying one, and most tests need the same.
# Those that were made lie in INITDB_MADE.

set -eu

data='' options=()
while [ $# -gt 0 ]; do
	case $1 in
		-D | --pgdata) data=$2 && shift ;;
		*) options+=("$1") ;;
	esac
	shift
done

made=$INITDB_MADE/$(env | grep -E '^(LANG|LC_)' | cat - <(printf '%s\n' "${options[@]}") | cksum | tr ' ' -)
if [ ! -d "$made" ]; then
	new=$(mktemp -d "$INITDB_MADE/new.XXXXXX")
	"$INITDB" -D "$new" "${options[@]}"
	# unless another test was faster
	mv -T "$new" "$made" 2>/dev/null || rm -rf "$new"
fi
cp -aT "$made" "$data"
