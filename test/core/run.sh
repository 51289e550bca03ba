#!/bin/bash
# run.sh [--update] [--isolation] [--contrib] [--with WAY]... [--test NAME]...
#		make check-core: PostgreSQL's own regression suites, all through gpusort.
#
# The core suite of the server's version, and those of amcheck and pageinspect,
# which look into btrees (fetch_source.sh), run twice or more against throw-away clusters:
# without gpusort, which shows what differs because of this machine or of a
# neighbouring minor release, and with gpusort preloaded and forced onto every sort and
# index build that it can take, in each of these WAYs:
#
#	verify		every result is verified (if no WAY is named)
#	trust		results are verified only where gpusort always does
#	daemon		by gpusortd, on three simulated devices, each with room for a few rows
#	small-pool	the pool has 2 MB, one extent
#	team		by three processes each, of 16 rows and more
#
# A test passes if its output with gpusort is one that PostgreSQL expects, or if it
# differs from the output without gpusort only as listed, with reasons, in differences/MAJOR (compare.pl);
# those of SUITEs of contrib lie in differences/MAJOR/SUITE.
#
# --contrib runs the suites of all modules of contrib that the server's package has, in place of the core
# suite; --isolation runs the server's isolation tests, too; --test these tests of the core
# suite only, after those that make what they use.  --update rewrites those lists for
# somebody to write the reasons in.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/cluster.sh"
. "$TREE/test/lib/team.sh"

CORE=core CONTRIB_SUITES='amcheck pageinspect'
UPDATE= ISOLATION= WAYS= TESTS=
while [ $# -gt 0 ]; do
	case $1 in
		--update) UPDATE=--update ;;
		--isolation) ISOLATION=isolation ;;
		--contrib) CORE= ;;
		--with) WAYS+=" $2" && shift ;;
		--test) TESTS+=" $2" && shift ;;
		*) die "what is $1?" ;;
	esac
	shift
done
WAYS=${WAYS:-verify}
[ -z "$TESTS" ] || CONTRIB_SUITES=

# The settings of a way, line by line.
settings_of()
{
	printf '%s\n' "shared_preload_libraries = 'gpusort'" "gpusort.force = on" "gpusort.cost_gather = 0" \
		"gpusort.copy_indexes = empty" "log_min_messages = debug1"
	case $1 in
		verify) echo "gpusort.verify = on" ;;
		trust) ;;
		daemon)
			printf '%s\n' "gpusort.verify = on" "gpusort.engine = cuda" "gpusort.daemon = 'host:3'" \
				"gpusort.min_gpu_rows = 0" "gpusort.reorder_rows = on" \
				"gpusort.daemon_options = '--device-rows=50 --bucket-rows=50 --step-rows=20'"
			;;
		small-pool) printf '%s\n' "gpusort.verify = on" "gpusort.pool_size = 2MB" ;;
		team)
			printf '%s\n' "gpusort.verify = on" "gpusort.max_sort_workers = 2" "gpusort.min_sort_worker_rows = 2" \
				"max_worker_processes = 32" "max_parallel_workers = 24"
			;;
		*) die "there is no way $1" ;;
	esac
}

# The suites' sources, kept in the tree until make clean.
fetch_suites()
{
	local version start

	version=$("$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9.]+).*/\1/')
	SOURCE=$TREE/tmp_source/$version
	if [ ! -f "$SOURCE/version" ] || [ ! -d "$SOURCE/src/test/isolation" ] || [ ! -d "$SOURCE/contrib/citext" ]; then
		rm -rf "$SOURCE"
		start=$(now_ms)
		version=$("$TREE/test/core/fetch_source.sh" "$PG_MAJOR" "$version" "$SOURCE") || die "no source, no check-core"
		echo "$version" >"$SOURCE/version"
		say "fetched the source of PostgreSQL $version ($(seconds $(($(now_ms) - start))))"
	fi
	if [ "$(cat "$SOURCE/version")" != "${SOURCE##*/}" ]; then
		say "server ${SOURCE##*/}, tests of $(cat "$SOURCE/version"): the nearest source there is"
	fi
}

# Modules of contrib that have tests, and are there.  Procedural languages are packages of their own;
# basic_archive's test wants WAL to be archived.
all_contrib()
{
	local module

	for module in $(cd "$SOURCE/contrib" && ls); do
		[ -f "$SHAREDIR/extension/$module.control" ] || [ -f "$PKGLIBDIR/$module.so" ] || continue
		[[ $module != *_pl* && $module != basic_archive && -n "$(contrib_tests "$module" 2>/dev/null)" ]] && echo "$module"
	done
}

# What modules of contrib want of a server, line by line.
contrib_settings()
{
	[ -n "$CORE" ] || printf '%s\n' "wal_level = logical" "logical_decoding_work_mem = 64kB" "max_replication_slots = 4" \
		"compute_query_id = regress" \
		"shared_preload_libraries = '$([ "$1" = without ] || echo 'gpusort, ')pg_stat_statements'"
}

# The suites where the servers' user can read them, and the core suite's C functions.
prepare_suites()
{
	local suite regress=$SOURCE/src/test/regress

	mkdir -p "$WORK/core" "$WORK/lib"
	cp -r "$regress"/{sql,expected,data,parallel_schedule,resultmap} "$WORK/core/" || exit
	cp -r "$SOURCE/src/test/isolation" "$WORK/" || exit
	# shellcheck disable=SC2046 # flags are words
	"${CC:-cc}" $("$PG_CONFIG" --cppflags) $("$PG_CONFIG" --cflags) -w -fPIC -shared \
		-I "$("$PG_CONFIG" --includedir-server)" -I "$regress" -o "$WORK/lib/regress.so" "$regress/regress.c" ||
		die "regress.c does not compile"
	cp "$PKGLIBDIR"/{refint,autoinc}.so "$WORK/lib/" || die "the server package lacks contrib/spi"
	for suite in $CONTRIB_SUITES; do
		mkdir -p "$WORK/$suite"
		cp -r "$SOURCE/contrib/$suite"/{sql,expected} "$WORK/$suite/" || exit
		[ ! -d "$SOURCE/contrib/$suite/data" ] || cp -r "$SOURCE/contrib/$suite/data" "$WORK/$suite/"
	done
	give_to_server "$WORK"
}

# The tests of a suite of contrib, in the order in which its Makefile has them.
contrib_tests()
{
	sed -e ':a' -e '/\\$/{N;s/\\\n//;ba}' "$SOURCE/contrib/$1/Makefile" | sed -n 's/^REGRESS *=//p' | sed 's/\$([^)]*)//g'
}

# How many tests a suite has at least.
tests_in()
{
	case $1 in
		# shellcheck disable=SC2086 # names are words
		core) [ -z "$TESTS" ] && echo 100 || wc -w <<<$TESTS ;;
		isolation) echo 80 ;;
		*) contrib_tests "$1" | wc -w ;;
	esac
}

# run_suite RUN SUITE OPTION...: the suite's tests on the cluster that runs.
run_suite()
{
	local run=$1 suite=$2 driver=regress/pg_regress start

	shift 2
	start=$(now_ms)
	[ "$suite" != isolation ] || driver=isolation/pg_isolation_regress
	mkdir -p "$WORK/$run-out/$suite"
	give_to_server "$WORK/$run-out"
	# which some tests' data lie beside
	as_server env -C "$WORK/$suite" "$PGXS_DIR/src/test/$driver" --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" \
		--bindir="$BINDIR" --inputdir="$WORK/$suite" --outputdir="$WORK/$run-out/$suite" "$@" \
		>"$WORK/$run-$suite.log" 2>&1
	say "$run, $suite: $(results "$run" "$suite" | grep -c ok) of $(results "$run" "$suite" | wc -l) tests as PostgreSQL expects ($(seconds $(($(now_ms) - start))))"
}

# gpusortd has sorted, and nothing that it had begun was left to a session.
count_jobs()
{
	local counts done failed fallbacks

	counts=$(sql -At -c 'CREATE EXTENSION gpusort' -c 'SELECT jobs_done, jobs_failed, fallbacks FROM gpusort_service()')
	say "daemon, jobs done|failed|fallbacks: $counts"
	IFS='|' read -r done failed fallbacks <<<"$counts"
	tally "daemon, sorted by it" $((done > 20 && failed + fallbacks == 0)) $((done <= 20 || failed + fallbacks > 0))
}

# run_suites RUN LINE...: all of them on a cluster with these settings.
run_suites()
{
	local run=$1 suite which=(--schedule="$WORK/core/parallel_schedule" --max-concurrent-tests=20)

	shift
	# shellcheck disable=SC2206 # names are words
	[ -z "$TESTS" ] || which=(test_setup create_index $TESTS)
	INITDB_LOCALE=C cluster_start "$run" "max_prepared_transactions = 2" "$@" "$(contrib_settings "$run")"
	[ -z "$CORE" ] || run_suite "$run" core --dlpath="$WORK/lib" "${which[@]}"
	for suite in $CONTRIB_SUITES; do
		# shellcheck disable=SC2046 # names are words
		run_suite "$run" "$suite" --dlpath="$WORK/lib" --dbname="contrib_$suite" $(contrib_tests "$suite")
	done
	[ -z "$ISOLATION" ] || run_suite "$run" isolation --dbname=isolation --dlpath="$WORK/lib" \
		--schedule="$WORK/isolation/isolation_schedule"
	[ "$run" != daemon ] || count_jobs
	[ "$run" != team ] || tally_team
	cluster_stop "$run" || say "the server of the run $run does not stop"
	if grep -E 'PANIC|TRAP|terminated by signal' "$WORK/$run.log"; then
		tally "$run, no crash" 0 1
	fi
}

# Lines "test ok" or "test failed", from either style of pg_regress's output.
results()
{
	sed -nE -e 's/^(test|    ) +([^ ]+) +\.\.\. ok.*/\2 ok/p' \
		-e 's/^(test|    ) +([^ ]+) +\.\.\. FAILED.*/\2 failed/p' \
		-e 's/^ok [0-9]+ +[-+] ([^ ]+).*/\1 ok/p' \
		-e 's/^not ok [0-9]+ +[-+] ([^ ]+).*/\1 failed/p' "$WORK/$1-$2.log"
}

# judge RUN SUITE: count; fewer tests than there are mean that the suite did not run.
judge()
{
	local run=$1 suite=$2 listed=$TREE/test/core/differences/$PG_MAJOR option=$UPDATE differing

	[ "$suite" = core ] || listed=$listed/$suite
	if [ "$(results "$run" "$suite" | wc -l)" -lt "$(tests_in "$suite")" ]; then
		tail -n 20 "$WORK/$run-$suite.log"
		tally "$run, $suite suite" 0 1
		return
	fi
	[ -z "$UPDATE" ] || mkdir -p "$listed"
	# without much memory to share, workers only gather
	[ "$run" != small-pool ] || option=--fewer
	differing=$(results "$run" "$suite" | sed -n 's/ failed$//p')
	tally "$run, $suite, as PostgreSQL" "$(results "$run" "$suite" | grep -c ' ok$')" 0
	if [ -n "$differing" ]; then
		# shellcheck disable=SC2086 # names are words
		"$TREE/test/core/compare.pl" $option "$WORK/without-out/$suite/results" "$WORK/$run-out/$suite/results" "$listed" \
			$differing >"$WORK/compare-$suite.log"
		tally_of "$run, $suite, as listed" "$WORK/compare-$suite.log" 0 $?
	fi
}

# Everything was forced, so builds were ours, unless the key has no encoding, or there was no room.
count_builds()
{
	local run=$1 built left least=500 reasons='index of a system table|operator (family has no|class has a comparison of its own)'

	[ -z "$TESTS" ] && [ -n "$CORE" ] || least=20
	[ "$run" != small-pool ] || reasons+='|memory limit reached|not to fit'
	built=$(grep -c 'DEBUG:  gpusort: built index' "$WORK/$run.log")
	left=$(grep 'DEBUG:  gpusort: left index' "$WORK/$run.log" | grep -cvE "$reasons")
	say "$run, btrees: $built built by gpusort, $left left to PostgreSQL without need"
	tally "$run, btrees built" $((built > least && left == 0)) $((built <= least || left > 0))
}

# ... and so were COPY FROM, and what fills tables with sorted rows, however few they were.
count_bulk()
{
	local run=$1 loads filled

	[ -z "$TESTS" ] && [ -n "$CORE" ] || return 0
	loads=$(grep -c 'DEBUG:  gpusort loaded [0-9]* rows' "$WORK/$run.log")
	filled=$(grep -c 'DEBUG:  gpusort filled table' "$WORK/$run.log")
	say "$run, rows in bulk: $loads loads, $filled tables filled by gpusort"
	tally "$run, rows in bulk" $((loads > 25 && filled > 4)) $((loads <= 25 || filled <= 4))
}

need_packages build server source locales
private_begin core
private_locales sv_SE tr_TR
fetch_suites
# shellcheck disable=SC2046 # names are words
[ -n "$CORE" ] || CONTRIB_SUITES=$(echo $(all_contrib))
prepare_suites

run_suites without
for way in $WAYS; do
	mapfile -t lines < <(settings_of "$way")
	run_suites "$way" "${lines[@]}"
	for suite in $CORE $CONTRIB_SUITES $ISOLATION; do
		judge "$way" "$suite"
	done
	count_builds "$way"
	count_bulk "$way"
done
finish
