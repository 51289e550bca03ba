# chroot.sh
#		Debian systems in chroots of their own.
#
# Sourced after common.sh and packages.sh.  ROOT says where a chroot lies, and SUITE and EXTRA_SUITE what
# is in it (version_of()); NO_LEAKS and SMALL_DISK are set by mount_all.
#
#	chroot_make				bootstrap it, anew; its log is ROOT.log
#	chroot_settings			have its apt take what is needed and no more, and PostgreSQL from EXTRA_SUITE
#	chroot_remove			end what runs in it, and remove it
#	mount_all unmount_all	/proc, /dev/shm, and a small disk
#	inside COMMAND...		run there as root
#	clone_tree DIR			what would be committed of TREE, into this directory

ARCHIVE=${DEBIAN_MIRROR:-http://deb.debian.org}/debian
SMALL_DISK=
NO_LEAKS=

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

# PostgreSQL and its libraries come from there, all else only if there is no other.
add_extra_suite()
{
	[ -n "$EXTRA_SUITE" ] || return 0
	echo "deb $ARCHIVE $EXTRA_SUITE main" >"$ROOT/etc/apt/sources.list.d/extra.list"
	printf 'Package: postgresql-* libpq*\nPin: release a=%s\nPin-Priority: 600\n' "$EXTRA_SUITE" \
		>"$ROOT/etc/apt/preferences.d/extra"
}

# What still runs in there, after a run that was killed.
end_processes()
{
	local process

	for process in /proc/[0-9]*; do
		[ "$(readlink "$process/root")" != "$ROOT" ] || kill -9 "${process##*/}" 2>/dev/null
	done
}

chroot_clear()
{
	end_processes
	unmount_all
	if mountpoint -q "$ROOT/proc"; then
		die "$ROOT/proc is still mounted"
	fi
	rm -rf --one-file-system "$ROOT" "$ROOT.log"
}

chroot_remove()
{
	chroot_clear
	rmdir "${ROOT%/*}" 2>/dev/null
	true
}

chroot_make()
{
	need_packages chroot
	# others may be made beside it at the same time: the folder of all stays
	chroot_clear
	mkdir -p "$ROOT"
	debootstrap --variant=minbase --include=ca-certificates "$SUITE" "$ROOT" "$ARCHIVE" >"$ROOT.log" 2>&1 ||
		{ tail -n 20 "$ROOT.log"; die "debootstrap failed"; }
}

chroot_settings()
{
	echo 'Acquire::Check-Valid-Until "false"; APT::Install-Recommends "false"; Acquire::Languages "none";' \
		>"$ROOT/etc/apt/apt.conf.d/90gpusort"
	# nobody waits for each file of hundreds of packages to be on the disk
	echo force-unsafe-io >"$ROOT/etc/dpkg/dpkg.cfg.d/unsafe-io"
	add_extra_suite
}

clone_tree()
{
	local patch=$1.patch

	rm -rf "$1"
	git -c safe.directory='*' clone -q --no-hardlinks "$TREE" "$1" || die "git clone failed"
	git -c safe.directory='*' -C "$TREE" diff --binary HEAD >"$patch"
	if [ -s "$patch" ]; then
		git -C "$1" apply "$patch" || die "could not apply the changes"
	fi
	rm -f "$patch"
}
