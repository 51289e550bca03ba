#!/bin/bash
# scripts.sh
#		Tests of the scripts that test: what make release-check runs again, and what not; which tests a
#		name of make check's stands for; and where constants are that proofs change.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/catalogue.sh"

WORK=$(mktemp -d) && HOUSE=$(mktemp -d) || exit
at_exit 'rm -rf "$WORK" "$HOUSE"'

is()
{
	[ "$2" = "$3" ] || say "got: $2" "wanted: $3"
	tally "$1" $([ "$2" = "$3" ] && echo 1 0 || echo 0 1)
}

git_there()
{
	git -C "$WORK" -c user.name=tester -c user.email=tester@localhost "$@"
}

# A tree whose parts say what they were told to say, and note that they were run.
make_tree()
{
	mkdir -p "$WORK"/{test/{lib,proof,packages},.ci}
	cp "$TREE/test/release.sh" "$WORK/test/"
	cp "$TREE"/test/lib/{common,versions}.sh "$WORK/test/lib/"
	cat >"$WORK/Makefile" <<-'EOF'
		check check-core check-contrib check-neighbours check-packages proof:
		 @echo $@$(TEST:%=/%) >>ran; echo 1 passed, 0 failed; echo 2 passed, $$(cat failing-$@ 2>/dev/null || echo 0) failed
	EOF
	sed -i 's/^ @/\t@/' "$WORK/Makefile"
	printf '#!/bin/sh\necho PostgreSQL 15.1\n' >"$WORK/pg_config"
	printf '#!/bin/sh\necho servers >>ran\necho 2 passed, 0 failed\n' >"$WORK/.ci/run"
	touch "$WORK"/test/proof/{run,one,two,coverage}.sh
	chmod +x "$WORK/.ci/run" "$WORK/pg_config"
	git_there init -q
	git_there add -A
	git_there commit -q -m 'A tree'
}

# release PART...: what was run, in the order of the alphabet, and the last line.
release()
{
	rm -f "$WORK/ran"
	(cd "$WORK" && TEST=x PG_CONFIG=$WORK/pg_config test/release.sh "$@") >"$WORK/log" 2>&1
	{
		touch "$WORK/ran"
		sort "$WORK/ran"
		tail -n 1 "$WORK/log"
	} | xargs
}

# The tests of these parts that names stand for, in a tree.
chosen_by()
{
	local tree=$1

	shift
	(
		TREE=$tree
		for name in "$@"; do
			choose "$name"
		done
		for part in unit regress isolation tap; do
			! chosen "$part" || chosen_tests "$part"
		done
	) 2>&1 | LC_ALL=C sort | xargs
}

git_house()
{
	git -C "$HOUSE" -c user.name=tester -c user.email=tester@localhost "$@"
}

# A tree with a main branch and some tests, one of which has parts.
make_house()
{
	mkdir -p "$HOUSE"/{sql,test/{t,unit,specs},src/heap,src/sort/inner}
	touch "$HOUSE"/{sql/{setup,cluster,copy_from,copy_to}.sql,test/t/047_cluster.pl,src/heap/heap.c,src/sort/inner/deep.c}
	printf '# heap\n\nTests: `cluster`,\n`copy_*`. Longer: `047`.\n\n`no_test`\n' >"$HOUSE/src/heap/README.md"
	printf '# sort\n\nTests: `047_cluster`.\n' >"$HOUSE/src/sort/README.md"
	printf "if (part('%s'))\n" crash cancel >"$HOUSE/test/t/047_cluster.pl"
	git_house init -q -b main
	git_house add -A
	git_house commit -q -m 'A house'
	git_house checkout -q -b work
}

make_house
is "tests of a folder" "$(chosen_by "$HOUSE" src/heap)" "047_cluster cluster copy_from copy_to"
is "... by a pattern" "$(chosen_by "$HOUSE" 'copy_*')" "copy_from copy_to"
is "a part of a TAP test" "$(chosen_by "$HOUSE" 47/crash)" 047_cluster/crash
is "... by a pattern" "$(chosen_by "$HOUSE" 'tap/0*/c*')" 047_cluster/crash,cancel
is "... and all of it" "$(chosen_by "$HOUSE" 47/crash 047)" 047_cluster
is "... that it does not have" "$(chosen_by "$HOUSE" 047/kill)" \
	"scripts.sh: there is no part kill in 047_cluster; its parts: crash cancel"
is "nothing has changed" "$(chosen_by "$HOUSE" changed)" ""
printf '/*\n * a comment\n */\n' >"$HOUSE/src/heap/heap.c"
is "comments have changed" "$(chosen_by "$HOUSE" changed)" ""
echo 'int rows;' >>"$HOUSE/src/heap/heap.c"
is "changed files" "$(chosen_by "$HOUSE" changed)" "cluster copy_from copy_to"
git_house commit -q -a -m 'A change'
is "... that are committed" "$(chosen_by "$HOUSE" changed)" "cluster copy_from copy_to"
touch "$HOUSE/src/sort/inner/new.c"
is "... in a folder of a folder, and new" "$(chosen_by "$HOUSE" changed)" "047_cluster cluster copy_from copy_to"

is "every folder of the source names tests" "$(folders_with_tests | LC_ALL=C sort | xargs)" \
	"$(cd "$TREE" && find src cuda \( -name '*.[ch]' -o -name '*.cu' \) -printf '%h\n' | LC_ALL=C sort -u | xargs)"
NAMED=$(chosen_by "$TREE" $(folders_with_tests))
is "... which there are, and their parts" "$(grep -o 'there is no .*' <<<"$NAMED")" ""
is "every test is named by one, all of it" \
	"$(for part in unit regress isolation tap; do tests_of $part; done | grep -vxF "$(tr ' ' '\n' <<<"$NAMED")" | xargs)" setup

# missing_constants: those of proof/constants.txt that their files don't define.
missing_constants()
{
	local file name

	while read -r file name _; do
		grep -q "^#define $name\b" "$TREE/src/$file" || echo "$file has no $name"
	done <"$TREE/test/proof/constants.txt"
}

is "constants that proofs change are where they are said to be" "$(missing_constants)" ""

# What release-check leaves out since servers and proof/core do it.
is "servers do what make check does, but for a proof" \
	"$(eval "$(sed -n '/^HERE=/p; /^BARE=/,/"$/p' "$TREE/.ci/run")"
	printf '%s\n' $PARTS $(short_proofs | sed 's,^,proof/,') | grep -vxF "$(tr ' ' '\n' <<<"$HERE $BARE")" | xargs)" "proof proof/constants"
is "proof/core does what check-core does" "$(sed -n 's/^WAYS=${WAYS:-\(.*\)}$/\1/p' "$TREE/test/core/run.sh")" \
	"$(grep -oE -- '--with verify' "$TREE/test/proof/core.sh" | cut -d ' ' -f 2)"

make_tree
ALL="check-contrib check-neighbours $(printf 'check-packages/%s\n' 15 17 18 19 dist docker rpm | xargs) proof/one proof/two servers"
is "release-check: all parts" "$(release)" "$ALL 25 passed, 0 failed"
is "... not again" "$(release)" "25 passed, 0 failed"
is "... and it says so" "$(grep -c "^12 parts had passed before at $(git_there rev-parse HEAD)" "$WORK/log")" 1
is "... with their times" "$(grep -cE '^(.*, before .*passed, 0 failed  \([0-9.]+ s\)|all of these parts take 0 minutes)$' "$WORK/log")" 13
is "... but for those that are named" "$(release proof check-packages/15)" "check-packages/15 proof/one proof/two 7 passed, 0 failed"
echo 3 >"$WORK/failing-proof"
is "a part that fails" "$(release proof/two)" "proof/two 3 passed, 3 failed"
is "... is run again" "$(release)" "proof/two 25 passed, 3 failed"
rm "$WORK/failing-proof"
is "... until it passes" "$(release)" "proof/two 25 passed, 0 failed"
git_there commit -q --allow-empty -m 'Another commit'
is "another commit: all parts" "$(release)" "$ALL 25 passed, 0 failed"
sed -i s/15.1/15.2/ "$WORK/pg_config"
git_there update-index --assume-unchanged pg_config
is "another server: all parts" "$(release)" "$ALL 25 passed, 0 failed"
echo >>"$WORK/test/proof/one.sh"
is "changes that are not committed: all parts" "$(release)" "$ALL 24 passed, 1 failed"
git_there checkout -q test/proof/one.sh
is "... which say nothing of the commit" "$(release)" "25 passed, 0 failed"
echo 'git commit -q --allow-empty -m late' >>"$WORK/.ci/run"
git_there -c core.hooksPath=/dev/null commit -q -a -m 'A part that commits'
git_there config user.name tester && git_there config user.email tester@localhost
is "a commit while it runs" "$(release)" "servers 3 passed, 1 failed"
is "there is no such part" "$(release nothing)" "release.sh: there is no nothing; the parts: servers check-contrib check-neighbours check-packages/dist check-packages/15 check-packages/17 check-packages/18 check-packages/19 check-packages/rpm check-packages/docker proof/one proof/two"
finish
