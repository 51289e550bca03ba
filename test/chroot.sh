#!/bin/bash
# chroot.sh MAJOR [create|run|remove] [TARGET]...
#		Run make TARGETs (check) on another PostgreSQL, in a Debian chroot.
#
# PostgreSQL 17 comes from Debian trixie, 18 from sid.  The chroot lies in
# tmp_chroot/MAJOR of this tree, is made by debootstrap, gets a clone of what is
# committed (and what is changed in tracked files), and goes away at the end.
# create, run and remove are its three steps; without one of them all are done.
# Needs root, for chroot only.
#
# PostgreSQL's packages are unpacked, not installed: their scripts would make and
# start clusters and pull in clang and LLVM, which nothing here needs; so there is no
# JIT.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"

MAJOR=${1:-}
STEPS='create run remove'
SMALL_DISK=
shift
case ${1:-} in
	create | run | remove)
		STEPS=$1
		shift
		;;
esac
TARGETS=${*:-check}
MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org}/debian
ROOT=$TREE/tmp_chroot/$MAJOR

case $MAJOR in
	17) SUITE=trixie ;;
	18) SUITE=sid ;;
	*) die "usage: chroot.sh 17|18 [create|run|remove] [TARGET]..." ;;
esac
[ "$(id -u)" -eq 0 ] || die "chroot needs root"

inside()
{
	chroot "$ROOT" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive ${SEED:+SEED="$SEED"} ${WERROR:+WERROR="$WERROR"} \
		${SMALL_DISK:+GPUSORT_TEST_SMALL_DISK="$SMALL_DISK"} "$@"
}

unmount_all()
{
	local dir

	for dir in mnt dev/shm proc; do
		mountpoint -q "$ROOT/$dir" && umount "$ROOT/$dir"
	done
	true
}

# /proc for maintainer scripts; a real /dev/shm for the server; a small disk for the
# TAP tests (suites.sh).  Some containers forbid mounts; most things work without.
mount_all()
{
	at_exit unmount_all
	mountpoint -q "$ROOT/proc" || mount -t proc proc "$ROOT/proc" 2>/dev/null
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
	local start own

	start=$(now_ms)
	[ -x /usr/sbin/debootstrap ] || need_debootstrap
	remove
	mkdir -p "$ROOT"
	debootstrap --variant=minbase --include=ca-certificates "$SUITE" "$ROOT" "$MIRROR" >"$ROOT.log" 2>&1 ||
		{ tail -n 20 "$ROOT.log"; die "debootstrap failed"; }
	mount_all
	echo 'Acquire::Check-Valid-Until "false"; APT::Install-Recommends "false"; Acquire::Languages "none";' \
		>"$ROOT/etc/apt/apt.conf.d/90gpusort"
	own="postgresql-$MAJOR postgresql-client-$MAJOR postgresql-server-dev-$MAJOR"
	{
		inside apt-get -qq update &&
			inside apt-get -qq -y install gcc libc6-dev libicu-dev make perl libipc-run-perl locales bzip2 \
				$(dependencies $own) &&
			inside sh -c "cd /var/cache/apt && apt-get -qq download $own &&
				for deb in *.deb; do dpkg-deb -x \$deb / || exit; done; rm *.deb
				rm -f /usr/lib/postgresql/$MAJOR/lib/llvmjit.so" &&
			inside useradd -m tester
	} >>"$ROOT.log" 2>&1 </dev/null || { tail -n 20 "$ROOT.log"; die "could not set up the chroot"; }
	unmount_all
	say "chroot with PostgreSQL $MAJOR ($SUITE) made ($(seconds $(($(now_ms) - start))))"
}

need_debootstrap()
{
	can_install || die "missing: debootstrap"
	apt update && apt install debootstrap || die "could not install debootstrap"
}

# A clone, with the changes in tracked files on top: what would be committed.
copy_tree()
{
	local home=$ROOT/home/tester

	rm -rf "$home/gpusort"
	git -c safe.directory='*' clone -q --no-hardlinks "$TREE" "$home/gpusort" || die "git clone failed"
	git -c safe.directory='*' -C "$TREE" diff --binary HEAD >"$home/changes.patch"
	if [ -s "$home/changes.patch" ]; then
		git -C "$home/gpusort" apply "$home/changes.patch" || die "could not apply the changes"
	fi
	rm -f "$home/changes.patch"
	inside chown -R tester: /home/tester
}

run()
{
	local status=0

	[ -d "$ROOT/home/tester" ] || die "there is no chroot $ROOT"
	mount_all
	copy_tree
	inside setpriv --reuid=tester --regid=tester --init-groups \
		sh -c "cd /home/tester/gpusort && exec env HOME=/home/tester USER=tester make PG_CONFIG=/usr/lib/postgresql/$MAJOR/bin/pg_config $TARGETS" \
		</dev/null || status=$?
	unmount_all
	return $status
}

remove()
{
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
