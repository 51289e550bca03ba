#!/bin/bash
# dist.sh
#		make dist: what PGXN gets is what it accepts, and can be built and installed.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/chroot.sh"
. "$TREE/test/lib/package_chroots.sh"

WORK=$(mktemp -d) || exit
at_exit 'rm -rf "$WORK"'

is()
{
	if [ "$2" = "$3" ]; then
		tally "$1" 1 0
	else
		say "got: $2" "wanted: $3"
		tally "$1" 0 1
	fi
}

# What is wrong in META.json is seen.
check_meta()
{
	local change

	step "META.json" "$TREE/packaging/meta.pl" "$TREE/META.json"
	for change in 's/"postgresql"/"ours"/' 's/0\.2\.0/0.2/' 's/"file"/"fiel"/' 's/README\.md/READ.md/' 's/"abstract".*//' 's/"tags": \[/&"a\/b", /'; do
		sed "$change" "$TREE/META.json" >"$WORK/dist/META.wrong"
		# its status is that of a file with problems; what counts is that it names them
		is "... after $change" "$({ "$TREE/packaging/meta.pl" "$WORK/dist/META.wrong" || :; } | grep -q : && echo refused)" refused
	done
}

# The files, and no other: it is built where there is nothing else, and installed.
check_archive()
{
	local name

	step "make dist" make -C "$WORK/dist" dist || return
	name=$(basename "$WORK"/dist/gpusort-*.zip .zip)
	is "its name" "$name" "gpusort-$(control_version).0"
	(cd "$WORK" && unzip -q "dist/$name.zip")
	is "its files" "$(cd "$WORK/$name" && find . -type f | LC_ALL=C sort)" "$(git -C "$WORK/dist" ls-files | sed 's,^,./,' | LC_ALL=C sort)"
	step "make" make -C "$WORK/$name" -j2 WITH_CUDA=0 PG_CONFIG="$PG_CONFIG" all
	step "make install" make -C "$WORK/$name" WITH_CUDA=0 PG_CONFIG="$PG_CONFIG" DESTDIR="$WORK/root" install
	is "what is installed" "$(cd "$WORK/root" && find . -type f -name 'gpusort*' | sed 's,.*/,,' | LC_ALL=C sort | xargs)" \
		"$(cd "$TREE" && echo gpusort--*.sql gpusort.control gpusort.so gpusort_calibrate.sql gpusortd | tr ' ' '\n' | LC_ALL=C sort | xargs)"
	step "make uninstall" make -C "$WORK/$name" WITH_CUDA=0 PG_CONFIG="$PG_CONFIG" DESTDIR="$WORK/root" uninstall
	is "what is left" "$(find "$WORK/root" -type f)" ''
	check_icu "$WORK/$name"
}

# check_icu TREE: where a tree was built with the headers of another ICU than the server's, make fails.
check_icu()
{
	mkdir -p "$WORK/bin"
	echo 'int ucol_open_1(void); int is_open(void) {return ucol_open_1();}' | gcc -shared -fPIC -o "$WORK/bin/postgres" -x c -
	is "another ICU than the server's" \
		"$(make -C "$1" WITH_CUDA=0 PG_CONFIG="$PG_CONFIG" bindir="$WORK/bin" check-icu 2>&1 | grep -c 'with ICU 1: install the headers of that'; [ -e "$1/gpusort.so" ] && echo built)" 1
}

need_packages build wheel
clone_tree "$WORK/dist"
git -C "$WORK/dist" add -A
git -C "$WORK/dist" -c user.name=tester -c user.email=tester@localhost commit -q --allow-empty -m 'What would be committed'
check_meta
check_archive
finish
