# suites.sh
#		Run PostgreSQL's test drivers on a private installation, and count.
#
# Each function prints one line per part, and what went wrong; output and logs
# lie in WORK.  Sourced after common.sh and cluster.sh.

# What runs beside the script (launch), by process: the command that counts it.
declare -A JOBS=()

# copy_tests: test files, and the manual, whose examples are run, where the servers' user can read them.
copy_tests()
{
	mkdir -p "$WORK/tests/isolation"
	cp -r "$TREE/sql" "$TREE/expected" "$TREE/test/t" "$WORK/tests/"
	cp -r "$TREE/test/specs" "$WORK/tests/isolation/"
	mkdir -p "$WORK/tests/lib"
	cp "$TREE/test/lib/docs.pl" "$WORK/tests/lib/"
	cp -r "$TREE/README.md" "$TREE/docs" "$WORK/tests/"
	cp "$TREE/test/README.md" "$WORK/tests/tests.md"
	[ ! -d "$TREE/test/expected" ] || cp -r "$TREE/test/expected" "$WORK/tests/isolation/"
	give_to_server "$WORK/tests"
}

# count_regress LABEL LOG MS STATUS CPU_MS: count the lines of pg_regress, which writes
# "test name ... ok" up to 15 and TAP from 16 on.
count_regress()
{
	local label=$1 log=$2 ms=$3 status=$4 cpu=$5 passed failed

	passed=$(grep -cE '^(ok [0-9]+|(test|    ) +.* \.\.\. ok)' "$log")
	failed=$(grep -cE '^(not ok [0-9]+|(test|    ) +.* \.\.\. FAILED)' "$log")
	if [ "$failed" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$passed" -eq 0 ]; }; then
		failed=1
	fi
	if [ "$failed" -gt 0 ]; then
		grep -E '^not ok|FAILED|^Bail|failed' "$log" || tail -n 20 "$log"
	fi
	tally "$label" "$passed" "$failed" "$ms" "$cpu"
}

# regress_suite LABEL DRIVER INPUTDIR OPTION... -- TEST...: pg_regress, or the
# isolation tester's driver, against the cluster that runs.
regress_suite()
{
	local label=$1 driver=$2 input=$3 out=$WORK/$1 options=() before after client ms status

	shift 3
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	mkdir -p "$out"
	give_to_server "$out"
	before=$(cluster_cpu_ms)
	timed "$out/$label" as_server "$driver" --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" --bindir="$BINDIR" \
		--dlpath="$PKGLIBDIR" --inputdir="$input" --outputdir="$out" "${options[@]}" "$@" \
		>"$out/$label.log" 2>&1
	read -r status ms client <"$out/$label.status"
	after=$(cluster_cpu_ms)
	[ -s "$out/regression.diffs" ] && head -n 400 "$out/regression.diffs"
	count_regress "$label" "$out/$label.log" "$ms" "$status" $((client + ${after:-0} - ${before:-0}))
}

# A file system of 8 MB, to test what happens when a disk is full.  Needs root;
# tests that want it are skipped if there is none.
make_small_disk()
{
	local disk=$WORK/small_disk

	[ -z "${GPUSORT_TEST_SMALL_DISK:-}" ] || return 0
	mkdir -p "$disk"
	mount -t tmpfs -o size=8m,mode=0755 tmpfs "$disk" 2>/dev/null || return 0
	at_exit "umount -l '$disk'"
	give_to_server "$disk"
	export GPUSORT_TEST_SMALL_DISK=$disk
}

# tap_test DIR NAME[/PART,...]: DIR/NAME.pl, or these parts of it (GpuSortTest.pm), with PostgreSQL's
# Perl modules; how it ended, and after how many milliseconds, into a file beside its log.
tap_test()
{
	local dir=$1 name=${2%%/*} parts='' tap=$WORK/tap

	[ "$name" = "$2" ] || parts=${2#*/}

	timed "$tap/$name" as_server env -u PGHOST -u PGUSER -u PGDATABASE PATH="$tap/bin:$BINDIR:$PATH" TESTDIR="$tap/$name" \
		INITDB="$BINDIR/initdb" INITDB_MADE="$tap/made" \
		GPUSORT_TEST_PARTS="$parts" TESTDATADIR="$tap/$name/data" TESTLOGDIR="$tap/$name/log" PG_TEST_PORT_DIR="$tap/ports" \
		PG_REGRESS="$PGXS_DIR/src/test/regress/pg_regress" PGPORT=65432 \
		perl -I "$PGXS_DIR/src/test/perl" -I "$dir" "$dir/$name.pl" >"$tap/$name.log" 2>&1
}

# count_tap NAME[/PART,...]: what one that has ended says.
count_tap()
{
	local name=${1%%/*} log=$WORK/tap/${1%%/*}.log status=1 ms=0 cpu=0 passed failed

	read -r status ms cpu <"$WORK/tap/$name.status"
	passed=$(grep -cE '^ok ' "$log")
	failed=$(grep -cE '^not ok ' "$log")
	if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
		failed=1
	elif [ "$passed" -eq 0 ] && ! grep -q '^1\.\.0 # SKIP' "$log"; then
		failed=1
	fi
	if [ "$failed" -gt 0 ]; then
		grep -vE '^(ok |# (Checking|Postmaster|Running|###))' "$log" | tail -n 60
		# what the test has died of
		find "$WORK/tap/$name" -name 'regress_log_*' -exec grep -ahE '^(error|psql|#|[Bb]ail|.* at .* line )' {} + |
			grep -vE '^# (Checking|Postmaster|Running|###)' | tail -n 10
	fi
	tally "tap $1" "$passed" "$failed" "$ms" "$cpu"
	[ "$failed" -gt 0 ] || rm -rf "$WORK/tap/$name"
}

# End what still runs when the script ends, and servers of TAP tests.
end_jobs()
{
	local pid

	for pid in "${!JOBS[@]}"; do
		kill -TERM -- "-$pid"
		wait "$pid"
	done
	[ ${#JOBS[@]} -eq 0 ] || find "$WORK/tap" -name postmaster.pid -exec head -qn 1 {} + | xargs -r kill -QUIT
} 2>/dev/null

# await_jobs MOST: wait until no more than so many are running, and count those that have ended.
await_jobs()
{
	local ended

	while [ ${#JOBS[@]} -gt "$1" ]; do
		wait -n -p ended "${!JOBS[@]}"
		${JOBS[$ended]}
		unset "JOBS[$ended]"
	done
}

# launch MOST COUNT NAME COMMAND...: run a command beside the script, and beside no more than MOST
# others; when it has ended, COUNT NAME is called.
launch()
{
	local most=$1 count="$2 $3"

	shift 3
	await_jobs "$most"
	[ -n "${JOBS_BEGUN:-}" ] || at_exit end_jobs
	JOBS_BEGUN=yes
	# a process group of its own
	set -m
	"$@" &
	set +m
	JOBS[$!]=$count
}

# launch_tap DIR NAME[/PART,...]...: TAP_JOBS tests at a time (one more than there are cores: they wait half
# of their time, or are busy in one process).  One that says "Runs alone" changes what is installed.  The
# last of them still run when it returns.
launch_tap()
{
	local dir=$1 most others name

	shift
	make_small_disk
	mkdir -p "$WORK/tap/ports" "$WORK/tap/made" "$WORK/tap/bin"
	cp "$TREE/test/lib/initdb.sh" "$WORK/tap/bin/initdb"
	for name in "${@%%/*}"; do
		mkdir -p "$WORK/tap/$name/log" "$WORK/tap/$name/data"
	done
	give_to_server "$WORK/tap"
	most=$((${TAP_JOBS:-$(($(nproc) + 1))} - 1))
	for name in "$@"; do
		others=$most
		! grep -q '^# Runs alone' "$dir/${name%%/*}.pl" || others=0
		launch $others count_tap "$name" tap_test "$dir" "$name"
		[ $others -eq "$most" ] || await_jobs 0
	done
}

# tap_suite DIR NAME[/PART,...]...: the same, to their end.
tap_suite()
{
	launch_tap "$@"
	await_jobs 0
}
