#!/bin/bash
# rpm.sh
#		packaging/gpusort.spec: built by Debian's rpmbuild from what make dist makes, installed, and loaded.
#
# Debian's server lies elsewhere than that of yum.postgresql.org, and no RPM says what it needs: dependencies
# are not looked at.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/chroot.sh"
. "$TREE/test/lib/package_chroots.sh"

MAJOR=15
version_of $MAJOR
[ "$(id -u)" -eq 0 ] || die "chroot needs root"
WORK=$(mktemp -d) || exit
at_exit 'rm -rf "$WORK"'
DIR=/usr/lib/postgresql/$MAJOR

make_source()
{
	local sources=$ROOT/home/builder/rpmbuild/SOURCES

	clone_tree "$WORK/dist"
	git -C "$WORK/dist" add -A
	git -C "$WORK/dist" -c user.name=tester -c user.email=tester@localhost commit -q --allow-empty -m 'What would be committed'
	make -C "$WORK/dist" dist && mkdir -p "$sources" && cp "$WORK"/dist/gpusort-*.zip "$sources/" &&
		cp "$TREE/packaging/gpusort.spec" "$ROOT/home/builder/" && inside chown -R builder: /home/builder
}

# The private folders are those that pg_config tells.
build_rpm()
{
	there rpmbuild -ba --nodeps --define "pgmajorversion $MAJOR" --define "pginstdir $DIR" --define "pgpkglibdir $DIR/lib" \
		--define "pgsharedir /usr/share/postgresql/$MAJOR" --define 'make_build make -j2' --define "make_install make install DESTDIR=%{buildroot}" gpusort.spec
}

loaded()
{
	inside setpriv --reuid=postgres --regid=postgres --init-groups sh -c "
		initdb=$DIR/bin/initdb; export PATH=$DIR/bin:\$PATH; cd /tmp
		initdb -D data >/dev/null && pg_ctl -D data -l log -w -o \"-c shared_preload_libraries=gpusort -k /tmp -h ''\" start >/dev/null &&
			psql -h /tmp -XAt -d postgres -c 'CREATE EXTENSION gpusort' -c 'SELECT gpusort_version()'
		pg_ctl -D data -m immediate stop >/dev/null"
}

package_root rpm
step "tools" install_there gcc libc6-dev make unzip libicu-dev rpm postgresql-$MAJOR postgresql-server-dev-$MAJOR &&
	step "make dist" make_source &&
	step "rpmbuild" build_rpm &&
	step "installed" inside sh -c 'rpm -i --nodeps --root / --dbpath /tmp/rpmdb /home/builder/rpmbuild/RPMS/*/gpusort_*.rpm' &&
	step "the server loads it" sh -c "[ '$(loaded | tail -n 1)' = '$(control_version)' ]"
finish
