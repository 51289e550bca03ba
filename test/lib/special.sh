# special.sh
#		Servers that are built from Debian's source in special ways, and gpusort with them.
#
# Sourced after common.sh and packages.sh.  What is made lies in tmp_source, until make clean:
#
#	source_begin				fetch the source of the installed server's version, or the nearest
#								there is; sets SOURCE
#	server_begin NAME FLAGS [OPTION]...
#								build it there with these CFLAGS and options of configure, unless
#								that has been done; from then on PG_CONFIG is that server's
#	cassert_server				one of them
#	build_apart NAME			have private_begin build gpusort in tmp_source, not in the tree, whose
#								own build stays as it is; SANITIZE and COPT may be set for it
#
# Servers have the modules of contrib that tests use, and ICU, and neither readline, zlib nor anything else that gpusort does not see.

# of contrib: what tests of the core suite and of logical decoding use, too
MODULES="$CONTRIB spi test_decoding"

source_begin()
{
	local version start

	version=$("$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9.]+).*/\1/')
	SOURCE=$TREE/tmp_source/server-$version
	[ ! -f "$SOURCE/fetched" ] || return 0
	rm -rf "$SOURCE"
	mkdir -p "$TREE/tmp_source"
	start=$(now_ms)
	"$TREE/test/core/fetch_source.sh" "$PG_MAJOR" "$version" "$SOURCE" '*' >"$TREE/tmp_source/fetched" || die "no source"
	mv "$TREE/tmp_source/fetched" "$SOURCE/fetched"
	say "fetched the source of PostgreSQL $(cat "$SOURCE/fetched") ($(seconds $(($(now_ms) - start))))"
}

server_begin()
{
	local name=$1 flags=$2 dir start log

	shift 2
	source_begin
	dir=$SOURCE-$name
	log=$dir/build.log
	if [ "$(cat "$dir/built" 2>/dev/null)" != "$MODULES" ]; then
		say "building PostgreSQL with $flags $*"
		rm -rf "$dir"
		mkdir -p "$dir/build"
		start=$(now_ms)
		if ! (
			cd "$dir/build" || exit
			export ASAN_OPTIONS=detect_leaks=0
			"$SOURCE/configure" -q --prefix="$dir/pg" --with-icu --without-readline --without-zlib \
				--enable-debug --enable-tap-tests \
				CFLAGS="$flags" "$@" &&
				make -s -j"$(nproc)" && make -s install &&
				for contrib in $MODULES; do make -s -C "contrib/$contrib" all install || exit; done
		) >"$log" 2>&1; then
			grep -vE '^([^ ]*-)?(gcc|cc) ' "$log" | tail -n 20
			die "the server does not compile"
		fi
		rm -rf "$dir/build"
		echo "$MODULES" >"$dir/built"
		say "built ($(seconds $(($(now_ms) - start))))"
	fi
	export PG_CONFIG=$dir/pg/bin/pg_config
}

# The whole server under the address sanitizer and that of undefined behaviour.
asan_server()
{
	server_begin asan "-O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all -fsanitize=address,undefined" \
		--enable-cassert
}

# With assertions, and telling valgrind of the memory that it hands out.
cassert_server()
{
	server_begin cassert "-O1 -g -fno-omit-frame-pointer -DUSE_VALGRIND" --enable-cassert
}

# For what is built to be tested once: compiling takes two thirds of the time of -O2 -g.  The compiler then takes some
# variables that have been set for such that may not.
QUICK='-O1 -g1 -Wno-maybe-uninitialized'

# With assertions, and so that a few hundred rows are enough for three processes of a team to have something to do:
# the short forms of team and of sanitize.
FEW_ROWS="$QUICK -DUSE_ASSERT_CHECKING -DGS_BUCKET_ROWS=16 -DGS_MANY_ROWS=64 -DMIN_STRETCH_ROWS=8"

# A copy keeps the files' times, so only what has changed is compiled again.  Scripts that run side by side build once.
build_apart()
{
	local file

	BUILD_TREE=$TREE/tmp_source/build-$1-$PG_MAJOR
	mkdir -p "$BUILD_TREE"
	tar -C "$TREE" --exclude='*.o' --exclude='*.d' --exclude=cuda/build -cf - \
		Makefile gpusort.control src cuda $(cd "$TREE" && ls gpusort--*.sql) | flock "$BUILD_TREE" tar -C "$BUILD_TREE" -xf - || exit
	(cd "$BUILD_TREE" && find src cuda -name '*.[ch]') | while read -r file; do
		[ -f "$TREE/$file" ] || rm -f "$BUILD_TREE/$file"
	done
}

# script LABEL SCRIPT [ARGUMENT]...: another script of test/, on the same server.
script()
{
	local label=$1 script=$2 log start status

	shift 2
	log=$(mktemp)
	start=$(now_ms)
	"$TREE/$script" "$@" 2>&1 | tee "$log"
	status=${PIPESTATUS[0]}
	tally_of "$label" "$log" $(($(now_ms) - start)) "$status" >"$log.tally"
	tail -n 1 "$log.tally"
	rm -f "$log" "$log.tally"
}

# all_sql_tests: the files of sql/, but for the one that makes what they use.
all_sql_tests()
{
	names "$TREE/sql" sql | grep -vx setup
}

# copy_sql_tests: where the servers' user can read them.
copy_sql_tests()
{
	mkdir -p "$WORK/tests"
	cp -r "$TREE/sql" "$TREE/expected" "$WORK/tests/"
	give_to_server "$WORK/tests"
}

# hide_work: plans in the copied tests don't tell how often the engine goes over all rows, nor how many
# processes do, for other constants and settings.
hide_work()
{
	sed -i 's/Passes: [0-9]/Passes: N/; s/  Processes: [0-9]*//' "$WORK"/tests/{sql/*.sql,expected/*.out}
	sed -i "s/^\(\t*\)RETURN NEXT regexp_replace(line, '(Memory/\1line := regexp_replace(regexp_replace(line, 'Passes: \\\\d+', 'Passes: N'), '  Processes: \\\\d+', '');\n&/" \
		"$WORK/tests/sql/setup.sql" "$WORK/tests/expected/setup.out"
}

# sql_suite NAME [LINE]...: the TESTS on a server with these lines in postgresql.conf.  Those that show
# who has sorted are run with gpusortd, too, but not compared.
sql_suite()
{
	local name=$1 shown='' tests=$TESTS

	shift
	cluster_start "$name" "shared_preload_libraries = 'gpusort'" "autovacuum_naptime = 1d" "$@"
	if [[ $* == *gpusort.daemon* ]]; then
		shown=$(printf '%s\n' $TESTS | grep -xE 'late_rows|limits|parallel_collect|plans_explain|settings')
		tests=$(printf '%s\n' $TESTS | grep -vxF "${shown:-none}")
	fi
	# shellcheck disable=SC2086 # names are words
	regress_suite "$name" "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" \
		--dbname="gpusort_$name" -- setup $tests
	if [ -n "$shown" ]; then
		say "$name: not compared, as they show who has sorted:" $shown
		# shellcheck disable=SC2086 # names are words
		(regress_suite "$name-shown" "$PGXS_DIR/src/test/regress/pg_regress" "$WORK/tests" \
			--dbname="gpusort_$name" --use-existing -- $shown) >/dev/null
	fi
	[[ $* != *gpusort.daemon* ]] || count_jobs "$name"
	cluster_stop "$name" || tally "$name stops" 0 1
	no_crash "$name"
}

# count_jobs NAME: gpusortd has sorted; a sort that it could not do is done by its session, and not seen otherwise.
count_jobs()
{
	local counts done failed

	counts=$(sql -At -c 'CREATE EXTENSION IF NOT EXISTS gpusort' -c 'SELECT jobs_done, jobs_failed FROM gpusort_service()')
	IFS='|' read -r done failed <<<"$counts"
	tally "$1, ${done:-0} by gpusortd" $((${done:-0} > 0 && ${failed:-1} == 0)) $((${done:-0} == 0 || ${failed:-1} > 0))
}

# Nor gpusortd, whose reports are in the server's log, as it has not the server's environment.
no_crash()
{
	if grep -E -A 30 'PANIC|TRAP|terminated by signal|runtime error:|AddressSanitizer|gpusortd has ended' "$WORK/$1.log"; then
		tally "$1 does not crash" 0 1
	fi
}

# reports_begin KIND [OPTION]: have sanitizers of that KIND (UBSAN, ASAN, TSAN) write reports into files.
reports_begin()
{
	REPORTS=$WORK/reports
	mkdir -p "$REPORTS"
	give_to_server "$REPORTS"
	export "$1_OPTIONS=print_stacktrace=1:log_path=$REPORTS/$1${2:+:$2}"
}

# no_reports: fail with what they have written.
no_reports()
{
	local reports

	reports=$(find "$REPORTS" -type f -size +0)
	if [ -n "$reports" ]; then
		# shellcheck disable=SC2086 # names are words
		head -n 60 $reports
		tally "no reports" 0 1
	else
		tally "no reports" 1 0
	fi
}
