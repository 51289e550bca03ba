# catalogue.sh
#		The tests that make check knows, by part, and which of them a name stands for.
#
# Sourced after common.sh.  choose NAME fills CHOSEN, a list of tests by part:
#
#	regress			a part: all of its tests
#	types_text		a test, without its ending: types_text (regress), sort_cursor
#					(isolation), sort_test (unit), 008_daemon, 008 (tap)
#	PART/NAME		the same, of this part: daemon/types_text sorts by gpusortd
#	fuzz/SEED		one round of the fuzzer
#	proof/NAME		the short form of a proof

PARTS='docs layout scripts unit server_state exports regress daemon isolation tap fuzz proof'
declare -A CHOSEN=()

# names DIR EXTENSION: the tests in DIR, setup first.
names()
{
	(cd "$1" 2>/dev/null && ls -- *."$2" 2>/dev/null | sed "s/\.$2\$//" | awk '{print ($0 == "setup" ? 0 : 1), $0}' |
		LC_ALL=C sort | cut -d ' ' -f 2)
}

# tests_of PART: its tests, in the order in which they run.
tests_of()
{
	case $1 in
		unit) names "$TREE/test/unit" c | grep '_test$' ;;
		regress) names "$TREE/sql" sql ;;
		daemon) names "$TREE/sql" sql | grep -E '^(setup|types_.*|index_(types|unique|parallel).*)$'; echo edge_rows; echo join; echo key_rows; echo copy_from ;;
		isolation) names "$TREE/test/specs" spec ;;
		tap) names "$TREE/test/t" pl ;;
		proof) short_proofs ;;
	esac
}

# Those of test/proof that have a short form.
short_proofs()
{
	local name

	for name in $(names "$TREE/test/proof" sh); do
		! sed -n 2p "$TREE/test/proof/$name.sh" | grep -qF '[--short]' || echo "$name"
	done
}

# find_in PART NAME: the test of that name; of a TAP test its number will do.
find_in()
{
	if [ "$1" = fuzz ]; then
		grep -xE '[0-9]+' <<<"$2"
	elif [ "$1" = tap ] && [[ $2 =~ ^[0-9]+$ ]]; then
		tests_of tap | grep -E "^0*$((10#$2))_"
	else
		tests_of "$1" | grep -xF -- "$2"
	fi
}

# choose_in PART NAME: false if there is no such test.
choose_in()
{
	local test

	test=$(find_in "$1" "$2") || return
	CHOSEN[$1]="${CHOSEN[$1]:-} $test"
}

choose()
{
	local name=$1 part

	for part in $PARTS; do
		if [ "$name" = "$part" ]; then
			CHOSEN[$part]="${CHOSEN[$part]:-} $(tests_of "$part" | xargs)"
			return
		elif [ "${name%%/*}" = "$part" ] && choose_in "$part" "${name#*/}"; then
			return
		fi
	done
	for part in unit regress isolation tap; do
		choose_in "$part" "$name" && return
	done
	list_tests >&2
	die "there is no test $name"
}

list_tests()
{
	local part

	say "Tests, by part:"
	for part in $PARTS; do
		printf '%-12s%s\n' "$part" "$(tests_of "$part" | xargs | fold -s -w 84 | sed '2,$s/^/            /')"
	done
	say "fuzz/SEED is one round of the fuzzer, PART/NAME a test of that part."
}

# chosen PART: is there anything to do for it?
chosen()
{
	[ -n "${CHOSEN[$1]+chosen}" ]
}

# chosen_tests PART: its tests that were chosen, each once, in the order in which they run.
chosen_tests()
{
	# shellcheck disable=SC2086 # names are words
	tests_of "$1" | grep -xF "$(printf '%s\n' ${CHOSEN[$1]})"
}

# with_helpers PART: the same, and what makes the tables and functions that they use.
with_helpers()
{
	local tests

	tests=$(chosen_tests "$1")
	! grep -q '^plans_' <<<"$tests" || tests+=$'\nplans'
	tests_of "$1" | grep -xF "setup
$tests"
}

is_whole()
{
	[ "$(chosen_tests "$1")" = "$(tests_of "$1")" ]
}
