#!/bin/bash
# docs.sh
#		Is the manual true?
#
# Checks links, names of files, settings and SQL functions in all *.md, the length of
# README.md and of lines, and the names of files and settings in comments.  Needs no
# server and nothing but perl: what the settings are is told by expected/settings.out,
# which the regression test "settings" compares with a server, and by the source.

. "$(dirname "$0")/lib/common.sh"

# check LABEL COMMAND...: passes if the command prints nothing and succeeds.
check()
{
	local label=$1 problems status

	shift
	problems=$("$@" 2>&1)
	status=$?
	if [ -n "$problems" ] || [ $status -ne 0 ]; then
		say "${problems:-$* failed}"
		tally "$label" 0 1
	else
		tally "$label" 1 0
	fi
}

# All files of the tree, without what is built, run or fetched in it.
tree_files()
{
	find . \( -name .git -o -name 'tmp_*' -o -name build -o -name results \) -prune -o -type f -print |
		sed 's,^\./,,' | LC_ALL=C sort
}

# missing MESSAGE WANTED PRESENT: say what is in the first list, but not in the second.
missing()
{
	local name status=1

	while read -r name; do
		status=0
		grep -qxF -- "$name" <<<"$3" || say "$1: $name"
	done < <(grep . <<<"$2")
	[ $status -eq 0 ] || say "$1: nothing found to compare"
}

# both_ways WHERE LIST WHERE LIST: they must be the same.
both_ways()
{
	missing "not in $3" "$2" "$4"
	missing "not in $1" "$4" "$2"
}

source_settings()
{
	find src -name '*.c' -exec grep -ohE '(Define[A-Za-z]+Variable|define_[a-z]+)\("gpusort\.[a-z0-9_]+"' {} + |
		cut -d '"' -f 2 | LC_ALL=C sort -u
}

check_length()
{
	[ "$(wc -l <README.md)" -lt 150 ] || say "README.md has $(wc -l <README.md) lines"
}

# What a server says of each setting, and what the manual does.
check_table()
{
	both_ways expected/settings.out "$(grep '^| `gpusort\.' expected/settings.out)" \
		"the table of docs/settings.md" "$(grep -E '^\| `gpusort\.[a-z0-9_]+` \| [a-z]+ \|' docs/settings.md)"
}

check_sections()
{
	both_ways expected/settings.out "$(sed -nE 's/^\| `(gpusort\.[a-z0-9_]+)` .*/\1/p' expected/settings.out)" \
		"the headings of docs/settings.md" "$(sed -nE 's/^### (gpusort\.[a-z0-9_]+)$/\1/p' docs/settings.md)"
}

# Those that are hidden, too.
check_source()
{
	both_ways "the source" "$(source_settings)" \
		docs/settings.md "$(grep -oE '`gpusort\.[a-z0-9_]+`' docs/settings.md | tr -d '`' | LC_ALL=C sort -u)"
}

# Names of settings on all pages, in comments and in messages; files' names look alike.
check_names()
{
	missing "no setting" "$(grep -ohE '\bgpusort\.[a-z0-9_]+\b' "${PAGES[@]}" "${SOURCES[@]}" |
		grep -vE '\.(so|c|control|sql|spec|stat|cost_|refused|result)$' | LC_ALL=C sort -u)" "$(source_settings)"
}

check_functions()
{
	local script

	script=gpusort--$(control_version).sql
	both_ways "$script" "$(sed -nE 's/^CREATE FUNCTION ([a-z_]+)\(.*/\1/p' "$script" | LC_ALL=C sort -u)" \
		"the headings of docs/using.md" "$(sed -nE 's/^### ((pg_stat_)?gpusort_[a-z_]+)\(\)$/\1/p' docs/using.md)"
}

# META.json can't ask gpusort.control; PGXN wants a third number.
check_version()
{
	local version script

	version=$(control_version)
	for script in "gpusort--$version.sql" gpusort--*--"$version.sql"; do
		[ -f "$script" ] || say "no $script"
	done
	[ "$(grep -o '"version": "[^"]*"' META.json | head -n 2 | xargs)" = "version: $version.0 version: $version.0" ] ||
		say "META.json has another version than $version.0"
	grep -qF "\"file\": \"gpusort--$version.sql\"" META.json || say "META.json names another script"
	[ "$(sed -nE '1s/^gpusort \(([0-9.]+)-.*/\1/p' debian/changelog)" = "$version" ] || say "debian/changelog does not begin with $version"
	grep -qE "^Version:[[:space:]]+${version//./\\.}$" packaging/gpusort.spec || say "packaging/gpusort.spec has another version"
	[ "$(sed -nE 's/^## ([0-9.]+) .*/\1/p' CHANGELOG.md | head -n 1)" = "$version" ] ||
		say "CHANGELOG.md does not begin with $version"
}

# Each wait has a name, which the manual tells.
check_waits()
{
	both_ways "the source" "$(grep -rhoE '"GpuSort[A-Z][A-Za-z]+"' --include='*.c' src | tr -d '"' | LC_ALL=C sort -u)" \
		docs/monitoring.md "$(grep -oE '^\| `GpuSort[A-Za-z]+`' docs/monitoring.md | grep -oE 'GpuSort[A-Za-z]+')"
	grep -rn --include='*.[ch]' PG_WAIT_EXTENSION src | grep -vE '^src/(pg_compat\.h|team/workers\.c):'
	true
}

# Columns of the statistics' functions.
check_columns()
{
	missing "docs/monitoring.md lacks the column" \
		"$(sed -nE '/^CREATE FUNCTION gpusort_(sorts_of|activity|advise)\(/,/^RETURNS/s/^\tOUT ([a-z_]+) .*/\1/p' "gpusort--$(control_version).sql" | LC_ALL=C sort -u)" \
		"$(grep -oE '`[a-z_]+`' docs/monitoring.md | tr -d '`' | LC_ALL=C sort -u)"
}

# What gpusort says when it leaves something to PostgreSQL, or to the session.  One of
# these sentences is never shown.
check_reasons()
{
	local reason

	{
		grep -ohE '\*reason = "[^"]+"' src/*/*.c
		grep -ohE '(leave_sort\(sort, |why = |return )"[a-z][^"]* [^"]*"' src/plan/*.c src/service/service_client.c src/sort/*service*.c |
			grep -v "reorders no more rows"
		grep -ohE '#define GPUSORT_WHY_[A-Z_]+.*"' src/service/service.h
		grep -ohE 'strlcpy\(reason, "[^"]+"' src/service/daemon_process.c
	} | sed -E 's/^[^"]*"(.*)"$/\1/' | LC_ALL=C sort -u | while read -r reason; do
		grep -qF -- "\`$reason" docs/troubleshooting.md || say "docs/troubleshooting.md lacks: $reason"
	done
}

# What tables of the manual say that gpusort says, numbers and beginnings left out.
check_sayings()
{
	local saying

	sed -nE 's/^\| (`(off|no device|down)` \| )?`(\.\.\. )?([a-z][^`]* [^`]*)`.*/\4/p' docs/troubleshooting.md |
		sed -E 's/ ([0-9N]+|\.\.\.|\.\.\. .*|sorted wrongly: \.\.\.)$//' | while read -r saying; do
		grep -rqF --include='*.[ch]' -- "$saying" src || say "nothing in src says: $saying"
	done
}

# Each wing has a README, which tells what each of its files is.
check_wings()
{
	local folder file

	for folder in src/*/ src/engine/*/ cuda/; do
		[ -f "${folder}README.md" ] || { say "no ${folder}README.md"; continue; }
		for file in "$folder"*.c "$folder"*.cu; do
			[ ! -f "$file" ] || grep -qF "\`${file##*/}\`" "${folder}README.md" ||
				say "${folder}README.md does not mention ${file##*/}"
		done
	done
	[ "$(wc -l <src/README.md)" -le 254 ] || say "src/README.md has $(wc -l <src/README.md) lines"
}

# Each plot is shown somewhere, and its milliseconds are in the manual's tables.
check_figures()
{
	local plot

	test/lib/docs.pl figures docs/performance.md docs/figures/*.csv
	for plot in docs/figures/*.svg; do
		grep -qF "figures/$(basename "$plot")" "${PAGES[@]}" || say "no page shows $plot"
	done
}

BEGUN=$(now_ms)
cd "$TREE" || exit
FILES=$(mktemp) || exit
at_exit 'rm -f "$FILES"'
tree_files >"$FILES"
mapfile -t PAGES < <(grep '\.md$' "$FILES")
mapfile -t SOURCES < <(grep -E '^(src|cuda|test/unit|test/gpu)/.*\.(c|h|cu|cuh)$' "$FILES")

check links test/lib/docs.pl links "${PAGES[@]}"
check "names of files" test/lib/docs.pl files "$FILES" "${PAGES[@]}"
check "... in comments" test/lib/docs.pl files "$FILES" "${SOURCES[@]}"
check "width of lines" test/lib/docs.pl width 100 "${PAGES[@]}"
check "length of README.md" check_length
check "table of settings" check_table
check "sections of settings" check_sections
check "settings of the source" check_source
check "names of settings" check_names
check "SQL functions" check_functions
check "the version" check_version
check "wait events" check_waits
check "columns of statistics" check_columns
check "reasons" check_reasons
check "what gpusort says" check_sayings
check "READMEs of folders" check_wings
check figures check_figures
say "($(seconds $(($(now_ms) - BEGUN))))"
finish
