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

MAJOR=${1:-}
STEPS='create run remove'
SMALL_DISK=
NO_LEAKS=
shift
case ${1:-} in
	create | run | remove)
		STEPS=$1
		shift
		;;
esac
[ $# -gt 0 ] || set -- check
TARGETS=$(printf ' %q' "$@")
MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org}/debian
ROOT=$TREE/tmp_chroot/$MAJOR

version_of "$MAJOR" || die "usage: chroot.sh $(tested_majors | tr ' ' '|') [create|run|remove] [TARGET]..."
TESTER=tester HOME_INSIDE=/home/tester
[ "$PACKAGING" != bare ] || TESTER=root HOME_INSIDE=/root
[ "$(id -u)" -eq 0 ] || die "chroot needs root"

inside()
{
	chroot "$ROOT" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive ${SEED:+SEED="$SEED"} ${WERROR:+WERROR="$WERROR"} \
		${SMALL_DISK:+GPUSORT_TEST_SMALL_DISK="$SMALL_DISK"} ${NO_LEAKS:+ASAN_OPTIONS="$NO_LEAKS"} "$@"
}

unmount_all()
{
	local dir

	for dir in mnt dev/shm proc; do
		mountpoint -q "$ROOT/$dir" && umount "$ROOT/$dir"
	done
	true
}

# /proc for maintainer scripts and for finding leaks; a real /dev/shm for the server; a small disk
# for the TAP tests (suites.sh).  Some containers forbid mounts; most things work without.
mount_all()
{
	at_exit unmount_all
	mountpoint -q "$ROOT/proc" || mount -t proc proc "$ROOT/proc" 2>/dev/null || NO_LEAKS=detect_leaks=0
	mountpoint -q "$ROOT/dev/shm" || mount -t tmpfs -o mode=1777 tmpfs "$ROOT/dev/shm" 2>/dev/null ||
		chmod 1777 "$ROOT/dev/shm"
	if mountpoint -q "$ROOT/mnt" || mount -t tmpfs -o size=8m,mode=1777 tmpfs "$ROOT/mnt" 2>/dev/null; then
		SMALL_DISK=/mnt
	fi
}

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
	need_packages chroot
	remove
	mkdir -p "$ROOT"
	debootstrap --variant=minbase --include=ca-certificates "$SUITE" "$ROOT" "$MIRROR" >"$ROOT.log" 2>&1 ||
		{ tail -n 20 "$ROOT.log"; die "debootstrap failed"; }
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

	echo 'Acquire::Check-Valid-Until "false"; APT::Install-Recommends "false"; Acquire::Languages "none";' \
		>"$ROOT/etc/apt/apt.conf.d/90gpusort"
	add_extra_suite
	# shellcheck disable=SC2046,SC2086 # names are words
	inside apt-get -qq update &&
		inside apt-get -qq -y install gcc libc6-dev libicu-dev make perl libipc-run-perl locales bzip2 $(dependencies $own) &&
		inside sh -c "cd /var/cache/apt && apt-get -qq download $own &&
			for deb in *.deb; do dpkg-deb -x \$deb / || exit; done; rm *.deb
			rm -f /usr/lib/postgresql/$MAJOR/lib/llvmjit.so" &&
		inside useradd -m tester
}

# PostgreSQL and its libraries come from there, all else only if there is no other.
add_extra_suite()
{
	[ -n "$EXTRA_SUITE" ] || return 0
	echo "deb $MIRROR $EXTRA_SUITE main" >"$ROOT/etc/apt/sources.list.d/extra.list"
	printf 'Package: postgresql-* libpq*\nPin: release a=%s\nPin-Priority: 600\n' "$EXTRA_SUITE" \
		>"$ROOT/etc/apt/preferences.d/extra"
}

# A clone, with the changes in tracked files on top: what would be committed.
copy_tree()
{
	local tree=$ROOT$HOME_INSIDE/gpusort patch=$ROOT$HOME_INSIDE/changes.patch

	rm -rf "$tree"
	git -c safe.directory='*' clone -q --no-hardlinks "$TREE" "$tree" || die "git clone failed"
	git -c safe.directory='*' -C "$TREE" diff --binary HEAD >"$patch"
	if [ -s "$patch" ]; then
		git -C "$tree" apply "$patch" || die "could not apply the changes"
	fi
	rm -f "$patch"
	inside chown -R "$TESTER:" "$HOME_INSIDE"
}

run()
{
	local status=0 become=(setpriv "--reuid=$TESTER" "--regid=$TESTER" --init-groups)

	[ -d "$ROOT$HOME_INSIDE" ] || die "there is no chroot $ROOT"
	mount_all
	copy_tree
	inside "${become[@]}" sh -c "cd $HOME_INSIDE/gpusort && exec env HOME=$HOME_INSIDE USER=$TESTER make $(pg_config_there)$TARGETS" \
		</dev/null || status=$?
	unmount_all
	return $status
}

# Where nothing was installed beforehand the scripts find out.
pg_config_there()
{
	[ "$PACKAGING" = bare ] || echo "PG_CONFIG=/usr/lib/postgresql/$MAJOR/bin/pg_config"
}

# What still runs in there, after a run that was killed.
end_processes()
{
	local process

	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/root")" != "$ROOT" ] || kill -9 "${process##*/}" 2>/dev/null
	done
}

remove()
{
	end_processes
	unmount_all
	rm -rf --one-file-system "$ROOT" "$ROOT.log"
	rmdir "${ROOT%/*}" 2>/dev/null
	true
}

status=0
for step in $STEPS; do
	[ "$STEPS" = "$step" ] || [ $step != run ] || at_exit remove
	$step || status=$?
done
exit $status
