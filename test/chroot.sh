#!/bin/bash
# chroot.sh MAJOR [create|run|remove] [TARGET]...
#		Run make TARGETs (check) on a PostgreSQL of Debian, in a chroot.
#
# lib/versions.sh has the versions and their suites.  The chroot lies in
# tmp_chroot/MAJOR of this tree, is made by debootstrap, gets a clone of what is
# committed (and what is changed in tracked files), and goes away at the end.
# create, run and remove are its three steps; without one of them all are done.
# Needs root, for chroot only.
#
# A bare chroot has a compiler, make and git; TARGETs run as root and install the rest,
# as on a user's machine.  In the others everything is there beforehand, and TARGETs run
# as a user without rights.  PostgreSQL's packages are unpacked there, not installed: their
# scripts would make and start clusters and pull in clang and LLVM, which nothing here
# needs; so there is no JIT.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/chroot.sh"

MAJOR=${1:-}
STEPS='create run remove'
shift
case ${1:-} in
	create | run | remove)
		STEPS=$1
		shift
		;;
esac
[ $# -gt 0 ] || set -- check
TARGETS=$(printf ' %q' "$@")
ROOT=$TREE/tmp_chroot/$MAJOR

version_of "$MAJOR" || die "usage: chroot.sh $(tested_majors | tr ' ' '|') [create|run|remove] [TARGET]..."
TESTER=tester HOME_INSIDE=/home/tester
[ "$PACKAGING" != bare ] || TESTER=root HOME_INSIDE=/root
[ "$(id -u)" -eq 0 ] || die "chroot needs root"

# What these packages need, but for PostgreSQL's own management and LLVM.
dependencies()
{
	inside apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces \
		--no-enhances "$@" | sed -nE 's/^ *\|?(Pre)?Depends: ([^<>]+)$/\2/p' |
		grep -vE '^(postgresql|llvm|clang|ssl-cert|libpq-dev|pgxs|debconf|locales-all|libllvm)' | sort -u
}

create()
{
	local start

	start=$(now_ms)
	chroot_make
	mount_all
	"install_$PACKAGING" >>"$ROOT.log" 2>&1 </dev/null || { tail -n 20 "$ROOT.log"; die "could not set up the chroot"; }
	unmount_all
	say "$PACKAGING chroot for PostgreSQL $MAJOR ($SUITE) made ($(seconds $(($(now_ms) - start))))"
}

install_bare()
{
	inside apt-get -qq update && inside apt-get -qq -y --no-install-recommends install gcc make git
}

install_unpacked()
{
	local own="postgresql-$MAJOR postgresql-client-$MAJOR postgresql-server-dev-$MAJOR"

	chroot_settings
	# shellcheck disable=SC2046,SC2086 # names are words
	inside apt-get -qq update &&
		inside apt-get -qq -y install gcc libc6-dev libicu-dev make perl libipc-run-perl locales bzip2 $(dependencies $own) &&
		inside sh -c "cd /var/cache/apt && apt-get -qq download $own &&
			for deb in *.deb; do dpkg-deb -x \$deb / || exit; done; rm *.deb
			rm -f /usr/lib/postgresql/$MAJOR/lib/llvmjit.so" &&
		inside useradd -m tester
}

run()
{
	local status=0 become=(setpriv "--reuid=$TESTER" "--regid=$TESTER" --init-groups)

	[ -d "$ROOT$HOME_INSIDE" ] || die "there is no chroot $ROOT"
	mount_all
	is_cloned "$ROOT$HOME_INSIDE/gpusort" || clone_tree "$ROOT$HOME_INSIDE/gpusort"
	inside chown -R "$TESTER:" "$HOME_INSIDE"
	inside "${become[@]}" sh -c "cd $HOME_INSIDE/gpusort && exec env HOME=$HOME_INSIDE USER=$TESTER make $(pg_config_there)$TARGETS" \
		</dev/null || status=$?
	unmount_all
	return $status
}

# Is this a clone of the same commit, with nothing changed?  Then it stays, with what was compiled in it.
is_cloned()
{
	local git=(git -c "safe.directory=*")

	[ -d "$1/.git" ] && [ "$("${git[@]}" -C "$1" rev-parse HEAD)" = "$("${git[@]}" -C "$TREE" rev-parse HEAD)" ] &&
		[ -z "$("${git[@]}" -C "$1" status --porcelain -uno)$("${git[@]}" -C "$TREE" status --porcelain -uno)" ]
}

# Where nothing was installed beforehand the scripts find out.
pg_config_there()
{
	[ "$PACKAGING" = bare ] || echo "PG_CONFIG=/usr/lib/postgresql/$MAJOR/bin/pg_config"
}

remove()
{
	chroot_remove
}

status=0
for step in $STEPS; do
	[ "$STEPS" = "$step" ] || [ $step != run ] || at_exit remove
	$step || status=$?
done
exit $status
