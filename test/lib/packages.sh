# packages.sh
#		Install what a test needs from Debian's archive, if it is missing.
#
# need_packages WHAT... takes any of
#
#	build	compiler, make and the server's headers
#	server	the server itself
#	tap		Perl modules of the TAP tests
#	locales	locale definitions
#	source	what it takes to fetch and unpack a source package
#	chroot	debootstrap
#	sqlsmith
#	valgrind
#
# and sets PG_CONFIG and PG_MAJOR for build and server.  Nothing is installed if all of it
# is there.
# As root, or with a sudo that asks for no password, the missing packages are
# installed; otherwise the script ends with one line that says what is missing.
#
# The server's package makes and starts a cluster of its own when it is
# installed for the first time.  Nobody has asked for that one, so it is removed again;
# clusters that were there before are never touched.

PG_CONFIG=${PG_CONFIG:-pg_config}
# modules of contrib that tests use, which the server's package has
CONTRIB='amcheck pageinspect pg_visibility pg_freespacemap'

. "$TREE/test/lib/versions.sh"

as_root()
{
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

# apt ARGUMENT...: apt-get, quiet unless it fails; once at a time, for scripts that run side by side.
apt()
{
	local out

	if ! out=$(as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
			   flock "$TREE" apt-get -qq -y --no-install-recommends -o DPkg::Lock::Timeout=120 "$@" 2>&1 </dev/null); then
		printf '%s\n' "$out" | tail -n 20 >&2
		return 1
	fi
}

can_install()
{
	command -v apt-get >/dev/null &&
		{ [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }
}

# The major version to test: the one of PG_CONFIG, or the distribution's.
find_major()
{
	local major

	if command -v "$PG_CONFIG" >/dev/null; then
		PG_MAJOR=$("$PG_CONFIG" --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
		return
	fi
	[ "$PG_CONFIG" = pg_config ] || die "there is no $PG_CONFIG"
	for major in $(known_majors); do
		if [ -x /usr/lib/postgresql/$major/bin/pg_config ]; then
			PG_MAJOR=$major
			PG_CONFIG=/usr/lib/postgresql/$major/bin/pg_config
			return
		fi
	done
	can_install || die "missing: postgresql-server-dev-NN (or set PG_CONFIG), and no right to install it"
	apt update || die "apt-get update failed"
	APT_UPDATED=yes
	PG_MAJOR=$(apt-cache depends postgresql | sed -nE 's/^ *Depends: postgresql-([0-9]+)$/\1/p' | head -n 1)
	[ -n "$PG_MAJOR" ] || die "no package of PostgreSQL found: set PG_CONFIG"
	PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
}

# Packages out of those needed for $1 that are not there.
missing_for()
{
	case $1 in
		build)
			command -v gcc >/dev/null || command -v cc >/dev/null || echo gcc
			[ -f /usr/include/stdio.h ] || echo libc6-dev
			command -v make >/dev/null || echo make
			# PGXS comes with the client, and pg_config with libpq-dev
			[ -x "$(command -v "$PG_CONFIG")" ] && [ -f "$("$PG_CONFIG" --pgxs)" ] &&
				[ -f "$("$PG_CONFIG" --includedir-server)/postgres.h" ] ||
				echo "postgresql-server-dev-$PG_MAJOR"
			# the server's pg_locale.h includes it
			[ -f /usr/include/unicode/ucol.h ] || echo libicu-dev
			;;
		server)
			[ -x "$(command -v "$PG_CONFIG")" ] && [ -x "$("$PG_CONFIG" --bindir)/postgres" ] ||
				echo "postgresql-$PG_MAJOR"
			;;
		tap)
			perl -MTest::More -MTime::HiRes -e 1 2>/dev/null || echo perl
			perl -MIPC::Run -e 1 2>/dev/null || echo libipc-run-perl
			;;
		locales)
			[ -f /usr/share/i18n/locales/en_US ] && command -v localedef >/dev/null || echo locales
			;;
		source)
			command -v bzip2 >/dev/null || echo bzip2
			;;
		valgrind)
			[ -f /usr/include/valgrind/memcheck.h ] || echo valgrind
			;;
		chroot)
			[ -x /usr/sbin/debootstrap ] || echo debootstrap
			;;
		wheel)
			command -v unzip >/dev/null || echo unzip
			;;
		sqlsmith)
			[ -x /usr/games/sqlsmith ] || command -v sqlsmith >/dev/null || echo sqlsmith
			;;
		*)
			die "need_packages: what is $1?"
			;;
	esac
}

need_packages()
{
	local what missing had_cluster=no server=no

	case " $* " in
		*" build "* | *" server "*)
			server=yes
			find_major
			;;
	esac
	missing=$(for what in "$@"; do missing_for "$what"; done | xargs)
	if [ -n "$missing" ]; then
		can_install || die "missing: $missing (as root: apt-get install $missing)"
		say "installing $missing"
		if [ $server = no ] || [ -e "/etc/postgresql/$PG_MAJOR" ] || [ -e "/var/lib/postgresql/$PG_MAJOR" ]; then
			had_cluster=yes
		fi
		if [ "${APT_UPDATED:-no}" = no ]; then
			apt update || die "apt-get update failed"
			APT_UPDATED=yes
		fi
		apt install $missing || die "could not install: $missing"
		if [ $had_cluster = no ] && [ -e "/etc/postgresql/$PG_MAJOR/main" ]; then
			as_root pg_dropcluster --stop "$PG_MAJOR" main ||
				die "could not remove the cluster that the new package has made"
		fi
	fi
	if [ $server = yes ]; then
		PG_CONFIG=$(command -v "$PG_CONFIG")
		export PG_CONFIG
	fi
}
