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
#	types_*			all tests whose names fit, of the first part that has some
#	021/cancel		a part of a TAP test, as its file calls it, or those whose names fit: 021/[a-f]*
#	src/table		the tests that the README of a folder of the source names behind "Tests:"
#	changed			what git says has changed since the main branch: the tests among those files, and
#					those of the folders that the others are in, but for those named behind "Longer:";
#					and the checks of manual, layout and scripts.  C that differs in comments only is
#					not looked at

PARTS='docs layout scripts unit server_state exports regress daemon isolation tap fuzz proof'
declare -A CHOSEN=()

# All tests, by part, of those parts that were looked into.
declare -A TESTS=()

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

# parts_of TEST: what a TAP test calls its parts, in their order.
parts_of()
{
	grep -oE "\bpart\('[^']*'\)" "$TREE/test/t/$1.pl" | cut -d "'" -f 2
}

# choose_parts NAME TEST...: the parts of that name, or whose names fit, of TAP tests.
choose_parts()
{
	local name=$1 test part found=

	shift
	for test; do
		for part in $(parts_of "$test"); do
			# shellcheck disable=SC2053 # a pattern
			[[ $part != $name ]] || found+=" $test/$part"
		done
	done
	[ -n "$found" ] || die "there is no part $name in $*; its parts: $(for test; do parts_of "$test"; done | xargs)"
	echo "$found"
}

# choose_in PART NAME: the tests of that name, or whose names fit; of a TAP test its number will do,
# and a part of it may follow.  False if there is none.
choose_in()
{
	local test found='' name=$2

	[ "$1" != tap ] || name=${2%%/*}
	[ -n "${TESTS[$1]+known}" ] || TESTS[$1]=$(tests_of "$1" | xargs)
	for test in ${TESTS[$1]}; do
		# shellcheck disable=SC2053 # a pattern
		if [[ $test == $name ]] || { [ "$1" = tap ] && [[ $name =~ ^[0-9]+$ && $test =~ ^0*$((10#$name))_ ]]; }; then
			found+=" $test"
		fi
	done
	[ "$1" != fuzz ] || [[ ! $2 =~ ^[0-9]+$ ]] || found=" $2"
	[ -n "$found" ] || return
	# shellcheck disable=SC2086 # names are words
	[ "$name" = "$2" ] || found=$(choose_parts "${2#*/}" $found) || exit
	CHOSEN[$1]="${CHOSEN[$1]:-}$found"
}

# folders_with_tests: those whose README says which tests are theirs.
folders_with_tests()
{
	(cd "$TREE" && grep -l '^Tests: ' cuda/README.md src/README.md src/*/README.md src/*/*/README.md | xargs -n 1 dirname)
}

# tests_line FOLDER: what its README says of them, to the end of the paragraph.
tests_line()
{
	sed -n '/^Tests: /,/^$/p' "$TREE/$1/README.md" | tr '\n' ' '
}

# choose_named TEXT: the tests whose names are marked in it.
choose_named()
{
	local name

	while read -r name; do
		choose "$name"
	done < <(grep -oE '`[^`]+`' <<<"$1" | tr -d '`')
}

# Where the main branch was left.
main_commit()
{
	git -C "$TREE" merge-base HEAD origin/main 2>/dev/null || git -C "$TREE" merge-base HEAD main ||
		die "git does not know what has changed"
}

# code_of: C, without comments.
code_of()
{
	cc -fpreprocessed -dD -E -P -x c - 2>/dev/null
}

# same_code COMMIT PATH: has this file the same code there?
same_code()
{
	local before after

	[[ $2 == *.[ch] && -f $TREE/$2 ]] && before=$(git -C "$TREE" show "$1:$2" 2>/dev/null | code_of) &&
		after=$(code_of <"$TREE/$2") && [ "$before" = "$after" ]
}

# changed_files COMMIT: the files that differ from it, and those that git does not know yet.
changed_files()
{
	local file

	{
		git -C "$TREE" diff --name-only "$1"
		git -C "$TREE" ls-files --others --exclude-standard
	} | sort -u | while read -r file; do
		same_code "$1" "$file" || printf '%s\n' "$file"
	done
}

# choose_file PATH: what is likely to fail if that is wrong.
choose_file()
{
	local name=${1##*/} folder=${1%/*} line

	name=${name%.*}
	case $1 in
		sql/* | expected/*) choose_in regress "$name" ;;
		test/specs/* | test/expected/*) choose_in isolation "$name" ;;
		test/t/[0-9]*) choose_in tap "$name" ;;
		test/unit/*_test.c) choose_in unit "$name" ;;
		test/unit/Makefile)
			# one of each kind that it makes
			for name in arena beside cuts fields jobs parse pool primaries queue weights; do
				choose_in unit "${name}_test"
			done
			;;
		test/unit/*) choose unit ;;
		test/fuzz/*) choose fuzz ;;
		test/proof/*.sh) choose_in proof "$name" ;;
		gpusort--*.sql | gpusort.control) choose exports && choose 030 ;;
		*.md) ;;
		src/* | cuda/*)
			while [ ! -f "$TREE/$folder/README.md" ]; do
				folder=${folder%/*}
			done
			line=$(tests_line "$folder")
			choose_named "${line%% Longer: *}"
			;;
	esac
	true
}

choose_changed()
{
	local file part main

	main=$(main_commit) || exit
	for part in docs layout scripts; do
		choose "$part"
	done
	while read -r file; do
		choose_file "$file"
	done < <(changed_files "$main")
}

choose()
{
	local name=$1 part

	if [ "$name" = changed ]; then
		choose_changed
		return
	elif grep -qs '^Tests: ' "$TREE/$name/README.md"; then
		choose_named "$(tests_line "$name")"
		return
	fi
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
	say "fuzz/SEED is one round of the fuzzer, PART/NAME a test of that part, NUMBER/NAME a part of a TAP test."
}

# chosen PART: is there anything to do for it?
chosen()
{
	[ -n "${CHOSEN[$1]+chosen}" ]
}

# chosen_tests PART: its tests that were chosen, each once, in the order in which they run.  Of some
# only parts were: TEST/PART,PART.
chosen_tests()
{
	tests_of "$1" | awk -v chosen="${CHOSEN[$1]}" '
		BEGIN {
			n = split(chosen, name, " ")
			for (i = 1; i <= n; i++) {
				split(name[i] "/", word, "/")
				if (word[2] == "")
					whole[word[1]] = 1
				else if (!seen[name[i]]++)
					parts[word[1]] = parts[word[1]] "," word[2]
			}
		}
		$1 in whole { print; next }
		$1 in parts { print $1 "/" substr(parts[$1], 2) }'
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
