# package_chroots.sh
#		Clean systems, in which packages are made and installed.
#
# Sourced after chroot.sh.  A bootstrapped system is kept in tmp_source, until make clean, and unpacked for
# each chroot.
#
#	package_root NAME		a clean chroot of SUITE in tmp_chroot/packages-NAME, which goes away at
#							the end; from then on ROOT is that one, and the one before is unmounted
#	use_root NAME			another one, made before
#	there COMMAND...		run in it as a user without rights, in its home
#	quiet COMMAND...		what it prints goes to WORK/log; if it fails the end is shown, and all is
#							kept in tmp_check
#	step LABEL COMMAND...	quiet, and counted
#	install_there NAME...	Debian's packages, or files of some

PACKAGE_ROOTS=()
ROOT=

forget_roots()
{
	local ROOT

	for ROOT in "${PACKAGE_ROOTS[@]}"; do
		chroot_remove
	done
}

# bootstrapped SUITE: the archive of such a system, made if there is none.
bootstrapped()
{
	local archive=$TREE/tmp_source/bootstrap-$SUITE.tar

	[ ! -f "$archive" ] || return 0
	chroot_make
	mkdir -p "$TREE/tmp_source" &&
		tar -C "$ROOT" -cf "$archive.new" . && mv "$archive.new" "$archive" || die "cannot keep the system"
}

package_root()
{
	[ ${#PACKAGE_ROOTS[@]} -gt 0 ] || at_exit forget_roots
	[ -z "${ROOT:-}" ] || unmount_all
	ROOT=$TREE/tmp_chroot/packages-$1
	# two runs in one chroot would remove it from under each other
	mkdir -p "$TREE/tmp_source"
	exec {lock}>"$TREE/tmp_source/packages-$1.lock"
	flock -n "$lock" || die "$ROOT is in use"
	PACKAGE_ROOTS+=("$ROOT")
	bootstrapped
	chroot_remove
	mkdir -p "$ROOT" && tar -C "$ROOT" -xf "$TREE/tmp_source/bootstrap-$SUITE.tar" || die "cannot make $ROOT"
	chroot_settings
	# services are not started by installing them
	printf '#!/bin/sh\nexit 101\n' >"$ROOT/usr/sbin/policy-rc.d" && chmod 755 "$ROOT/usr/sbin/policy-rc.d"
	use_root "$1"
	quiet inside apt-get update || die "cannot read the lists of packages"
	inside useradd -m builder
}

use_root()
{
	[ "$ROOT" = "$TREE/tmp_chroot/packages-$1" ] || unmount_all
	ROOT=$TREE/tmp_chroot/packages-$1
	mount_all
}

there()
{
	inside setpriv --reuid=builder --regid=builder --init-groups \
		env HOME=/home/builder USER=builder sh -c 'cd && exec "$@"' sh "$@"
}

quiet()
{
	if ! "$@" >"$WORK/log" 2>&1 </dev/null; then
		tail -n 40 "$WORK/log"
		mkdir -p "$TREE/tmp_check" && cp "$WORK/log" "$TREE/tmp_check/${ROOT##*/}.log" &&
			say "all of it is in tmp_check/${ROOT##*/}.log"
		return 1
	fi
}

step()
{
	local label=$1 start

	shift
	start=$(now_ms)
	if quiet "$@"; then
		tally "$label" 1 0 $(($(now_ms) - start))
	else
		tally "$label" 0 1 $(($(now_ms) - start))
		return 1
	fi
}

install_there()
{
	inside apt-get -y -o Dpkg::Use-Pty=0 install "$@"
}
