# cluster.sh
#		Throw-away PostgreSQL servers on a private copy of the installation.
#
# gpusort is never installed into the system's PostgreSQL.  PostgreSQL finds its
# libraries and its shared files relative to the executable, so a copy of
# bin, lib and share under the same relative paths is an installation of its own;
# the copy takes 25 MB and a tenth of a second.
#
#	work_begin NAME				make the work directory
#	private_begin NAME			the same and the copy, build gpusort in BUILD_TREE (TREE without it)
#								and install it there
#	cluster_start NAME [LINE]..	initdb and start, with these lines in postgresql.conf; the program
#								is POSTGRES, if that is set
#	cluster_stop NAME [MODE]
#	private_locales [NAME]..	before a cluster_start: let it know en_US, de_DE and these
#								locales, in UTF-8
#	as_server COMMAND...		run as the user that servers run as
#	sql [PSQL OPTION]...		psql on the cluster started last
#
# and the variables
#
#	WORK		work directory: TREE/tmp_check/NAME-MAJOR (NAME without a server), or a
#				temporary one if the servers' user cannot reach the tree; kept if a test
#				fails (in TREE)
#	BINDIR PKGLIBDIR SHAREDIR	of the private copy
#	PGXS_DIR	where pg_regress, isolationtester and the Perl modules lie
#	PGHOST PGPORT PGUSER PGDATABASE		of the cluster started last
#
# PostgreSQL refuses to run as root, so then everything that touches a server runs
# as postgres or nobody; WORK belongs to that user.  All servers are stopped and all
# temporary directories removed at exit, on signals too.

CLUSTERS=()

# The server's user, and how to become it.
choose_server_user()
{
	local user

	BECOME=()
	SERVER_USER=$(id -un)
	[ "$(id -u)" -eq 0 ] || return 0
	for user in postgres nobody; do
		if id "$user" >/dev/null 2>&1; then
			SERVER_USER=$user
			BECOME=(setpriv "--reuid=$(id -u "$user")" "--regid=$(id -g "$user")" --clear-groups --)
			return 0
		fi
	done
	die "PostgreSQL does not run as root, and there is neither a user postgres nor nobody"
}

as_server()
{
	(
		cd "$WORK" || exit
		exec ${CPU_FILE:+"$TREE/test/lib/cpu_time.pl" "$CPU_FILE"} "${BECOME[@]}" env -u CPU_FILE HOME="$WORK" USER="$SERVER_USER" LOGNAME="$SERVER_USER" TMPDIR="$SHORT" "$@"
	) 9>&-
}

give_to_server()
{
	[ ${#BECOME[@]} -eq 0 ] || chown -R "$SERVER_USER:" "$@"
}

work_begin()
{
	local name=$1${PG_MAJOR:+-$PG_MAJOR} parent=$TREE/tmp_check pid

	choose_server_user
	mkdir -p "$parent" || die "cannot write to $TREE"
	if ! "${BECOME[@]}" test -x "$parent"; then
		parent=$(mktemp -d "${TMPDIR:-/tmp}/gpusort.XXXXXX") || exit
		chmod 755 "$parent"
		at_exit "rm -rf '$parent'"
	fi
	WORK=$parent/$name

	exec 9>"$TREE/tmp_check/$name.lock"
	flock -n 9 || die "$name is already running in this tree"
	# Servers of a run that was killed
	for pid in "$WORK"/*/postmaster.pid; do
		[ -f "$pid" ] && "${BECOME[@]}" "$("$PG_CONFIG" --bindir)/pg_ctl" \
			-D "$(dirname "$pid")" -m immediate stop >/dev/null 2>&1
	done
	rm -rf "$WORK"
	mkdir -p "$WORK" || exit
	# Paths of sockets must be short.
	SHORT=$(mktemp -d "${TMPDIR:-/tmp}/gpusort.XXXXXX") || exit
	at_exit "rm -rf '$SHORT'"
	at_exit private_end
	at_exit clusters_stop
	give_to_server "$WORK" "$SHORT"
}

private_begin()
{
	work_begin "$1"
	copy_installation
	build_gpusort
	give_to_server "$WORK"
}

# Success leaves nothing; after a failure logs stay in the tree.
private_end()
{
	if [ "$rc" -eq 0 ]; then
		rm -rf "$WORK" "$TREE/tmp_check/${WORK##*/}.lock"
		rmdir "$TREE/tmp_check" 2>/dev/null
	elif [ "${WORK%/*}" != "$TREE/tmp_check" ]; then
		rm -rf "$WORK"/pg "$WORK"/*/base
		cp -r "$WORK" "$TREE/tmp_check/"
	fi
	true
}

copy_installation()
{
	local bin lib share prefix=$WORK/pg

	bin=$("$PG_CONFIG" --bindir) lib=$("$PG_CONFIG" --pkglibdir) share=$("$PG_CONFIG" --sharedir)
	[ -n "$bin" ] && [ -n "$lib" ] && [ -n "$share" ] || die "there is no PostgreSQL: PG_CONFIG is ${PG_CONFIG:-empty}"
	BINDIR=$prefix$bin PKGLIBDIR=$prefix$lib SHAREDIR=$prefix$share
	PGXS_DIR=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
	PGXS_DIR=$(cd "$PGXS_DIR" && pwd)
	mkdir -p "$BINDIR" "$PKGLIBDIR" "$SHAREDIR" || exit
	cp -Lr "$bin/." "$BINDIR" || exit
	tar -C "$lib" --exclude=./bitcode --exclude=./pgxs -cf - . | tar -C "$PKGLIBDIR" -xf - || exit
	cp -Lr "$share/." "$SHAREDIR" || exit
}

build_gpusort()
{
	local log=$WORK/build.log tree=${BUILD_TREE:-$TREE}

	# scripts that run side by side build once
	if ! flock "$tree" make -C "$tree" --no-print-directory -j"$(nproc)" PG_CONFIG="$PG_CONFIG" \
		 ${WERROR:+WERROR="$WERROR"} ${SANITIZE:+SANITIZE="$SANITIZE"} ${COPT:+COPT="$COPT"} all >"$log" 2>&1; then
		grep -vE '^([^ ]*-)?(gcc|cc) ' "$log" | tail -n 40
		die "gpusort does not compile"
	fi
	install -m 755 "$tree/gpusort.so" "$tree/gpusortd" "$PKGLIBDIR/" &&
		install -m 644 "$tree/gpusort.control" "$tree"/gpusort--*.sql "$tree/src/cost/gpusort_calibrate.sql" \
			"$SHAREDIR/extension/" ||
		die "could not install gpusort into $WORK"
}

# Locales of our own, for collation tests: the system may have only C.UTF-8.
# LOCPATH replaces the system's locales, so that one is made too.  Making them takes longer than all
# else with which a run begins, so they are kept for the next one.
private_locales()
{
	local dir=$WORK/locale name kept

	kept="$TREE/tmp_check/locales-$(getconf GNU_LIBC_VERSION | tr ' ' -)"
	mkdir -p "$dir" "$kept"
	LOCALES="en_US de_DE ${*}"
	for name in C $LOCALES; do
		if [ ! -d "$kept/$name.utf8" ]; then
			localedef -c -i $name -f UTF-8 "$dir/$name.new" >>"$WORK/localedef.log" 2>&1
			[ -d "$dir/$name.new" ] || die "localedef cannot make $name.utf8: see $WORK/localedef.log"
			mv -T "$dir/$name.new" "$kept/$name.utf8" 2>/dev/null
		fi
		cp -r "$kept/$name.utf8" "$dir/" || die "cannot read $kept"
		[ $name = C ] || ln -s $name.utf8 "$dir/$name"
	done
	export LOCPATH=$dir
}

# initdb asks "locale -a" for collations, which does not look into LOCPATH;
# pg_regress makes its database from template0.
import_private_locales()
{
	local database locale

	sql -c 'ALTER DATABASE template0 ALLOW_CONNECTIONS true' || die "cannot connect"
	for database in template0 template1 postgres; do
		for locale in $LOCALES; do
			printf 'CREATE COLLATION IF NOT EXISTS pg_catalog."%s" (provider = libc, locale = %s);\n' \
				$locale "'$locale.UTF-8'" "$locale.utf8" "'$locale.UTF-8'"
		done | sql -d $database >>"$WORK/localedef.log" 2>&1 || die "cannot make collations: see $WORK/localedef.log"
	done
	sql -c 'ALTER DATABASE template0 ALLOW_CONNECTIONS false'
}

cluster_start()
{
	local name=$1 data=$WORK/$1

	shift
	export PGHOST=$SHORT PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
	while [ -e "$SHORT/.s.PGSQL.$PGPORT" ]; do
		PGPORT=$((PGPORT + 1))
	done
	if ! as_server "$BINDIR/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale="${INITDB_LOCALE:-C.UTF-8}" \
		 --no-sync >"$WORK/$name.initdb.log" 2>&1; then
		tail -n 20 "$WORK/$name.initdb.log"
		die "initdb failed"
	fi
	as_server sh -c 'cat >>"$0/postgresql.conf"' "$data" <<-CONF
		listen_addresses = ''
		unix_socket_directories = '$SHORT'
		port = $PGPORT
		fsync = off
		max_connections = 40
		log_line_prefix = '%m [%p] %q%a '
		log_autovacuum_min_duration = -1
		restart_after_crash = off
		jit = off
		$(printf '%s\n' "$@")
	CONF
	CLUSTERS+=("$name")
	if ! as_server "$BINDIR/pg_ctl" -D "$data" -l "$WORK/$name.log" ${POSTGRES:+-p "$POSTGRES"} -w -t 120 start >/dev/null 2>&1; then
		tail -n 20 "$WORK/$name.log"
		die "the server does not start"
	fi
	[ -z "${LOCPATH:-}" ] || import_private_locales
}

# cluster_cpu_ms: the CPU that the server started last has taken, with its processes that have ended.
cluster_cpu_ms()
{
	sed 's/.*) //' "/proc/$(head -n 1 "$WORK/${CLUSTERS[-1]}/postmaster.pid")/stat" |
		awk -v hz="$(getconf CLK_TCK)" '{print int(($12 + $13 + $14 + $15) * 1000 / hz)}'
} 2>/dev/null

cluster_stop()
{
	as_server "$BINDIR/pg_ctl" -D "$WORK/$1" -m "${2:-fast}" -w -t 180 stop >/dev/null 2>&1
}

clusters_stop()
{
	local name

	for name in "${CLUSTERS[@]}"; do
		[ -f "$WORK/$name/postmaster.pid" ] && cluster_stop "$name" immediate
	done
	true
}

sql()
{
	as_server "$BINDIR/psql" -X -q -v ON_ERROR_STOP=1 "$@"
}
