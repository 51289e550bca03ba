# shellcheck shell=bash
# callgrind.sh
#		Sourced by scripts that count the instructions of queries, with valgrind's callgrind (package valgrind).
#
#	make_wrapper OPTION...			make $WORK/postgres, which stands for the server's program and counts with these
#									options of callgrind; each process writes to $WORK/counts
#	counted FILE					the number that callgrind has written there
#	numbered COUNT QUERY			so many lines of it; %d in the query is another number each time
#	each_query SESSION QUERY ...	instructions of each of $QUERIES queries: SESSION COUNT QUERY ... counts those of a
#									session; one of fewer queries is taken off, so that what happens once is not in it
#	percent_more WITH WITHOUT
#	row QUERY WITHOUT WITH			a row of a table

command -v valgrind >/dev/null || die "missing: valgrind"

make_wrapper()
{
	mkdir "$WORK/counts" || exit
	cat >"$WORK/postgres" <<-WRAPPER
		#!/bin/sh
		exec valgrind --quiet --tool=callgrind $* --callgrind-out-file='$WORK/counts/%p' '$BINDIR/postgres' "\$@"
	WRAPPER
	chmod 755 "$WORK/postgres"
	give_to_server "$WORK"
}

counted()
{
	awk '/^(summary|totals):/ {n = $2} END {print n}' "$1"
}

numbered()
{
	local i

	for ((i = 1; i <= $1; i++)); do
		echo "${2//%d/$i}"
	done
}

each_query()
{
	local session=$1 few all

	shift
	few=$("$session" 20 "$@") && all=$("$session" $((QUERIES + 20)) "$@") || exit
	echo $(((all - few) / QUERIES))
}

percent_more()
{
	awk -v a="$1" -v b="$2" 'BEGIN {printf "%.2f", 100 * (a - b) / b}'
}

row()
{
	printf '| %s | %d | %d | %s %% |\n' "\`$1\`" "$2" "$3" "$(percent_more "$3" "$2")"
}
