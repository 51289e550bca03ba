#!/bin/bash
# debian.sh MAJOR
#		Debian's package for PostgreSQL MAJOR: made, looked at by lintian, installed, used, removed.
#
# postgresql-MAJOR-gpusort is built by pg_buildext in a chroot of the Debian release that has this
# PostgreSQL, and installed in another one, where nothing is but a bootstrapped system: whatever the package
# needs it has to say.  Where it was built, it is installed as well, and goes through debian/tests.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/chroot.sh"
. "$TREE/test/lib/package_chroots.sh"

MAJOR=${1:-}
version_of "$MAJOR" || die "usage: debian.sh $(tested_majors | tr ' ' '|')"
[ "$(id -u)" -eq 0 ] || die "chroot needs root"
WORK=$(mktemp -d) || exit
at_exit 'rm -rf "$WORK"'
VERSION=$(control_version)
PACKAGE=postgresql-$MAJOR-gpusort

# As a maintainer does it: the release's archive beside the tree with debian/, whose control file is that of
# the version that is built for.
make_package()
{
	local home=$ROOT/home/builder

	clone_tree "$home/gpusort-$VERSION" && rm -rf "$home/gpusort-$VERSION/.git"
	tar -C "$home" --exclude=debian -cJf "$home/gpusort_$VERSION.orig.tar.xz" "gpusort-$VERSION"
	inside chown -R builder: /home/builder
	step "tools of packaging" install_there build-essential fakeroot lintian postgresql-server-dev-all "postgresql-server-dev-$MAJOR" &&
		step "debian/control" in_source pg_buildext updatecontrol &&
		step "build dependencies of it" inside apt-get -y build-dep "/home/builder/gpusort-$VERSION" &&
		step "dpkg-buildpackage" in_source dpkg-buildpackage -us -uc -j2 &&
		step lintian there sh -c 'exec lintian --fail-on error,warning gpusort_*.changes'
}

in_source()
{
	there env -C "/home/builder/gpusort-$VERSION" PG_SUPPORTED_VERSIONS="$MAJOR" "$@"
}

# SQL as the server's superuser.
sql_there()
{
	inside setpriv --reuid=postgres --regid=postgres --init-groups psql -XAtq -v ON_ERROR_STOP=1 -d postgres "$@"
}

is()
{
	if [ "$2" = "$3" ]; then
		tally "$1" 1 0
	else
		say "got: $2" "wanted: $3"
		tally "$1" 0 1
	fi
}

# preload LIBRARY: write the line that the package asks for, and restart.
preload()
{
	echo "shared_preload_libraries = '$1'" >"$ROOT/etc/postgresql/$MAJOR/main/conf.d/gpusort.conf"
	quiet inside pg_ctlcluster "$MAJOR" main restart
}

# What the administrator sees who installs it, in a clean system.
use_package()
{
	local files

	cp "$WORK/$PACKAGE.deb" "$ROOT/tmp/"
	step "apt-get install" install_there "/tmp/$PACKAGE.deb" || return
	files=$(inside dpkg -L "$PACKAGE" | grep -E '/(lib/postgresql|share/postgresql|share/doc/'"$PACKAGE"')/.*[^/]$' | sort)
	is "gpusort.so, gpusortd, control file and scripts" \
		"$(grep -cE '/(lib/gpusort(\.so|d)|extension/gpusort(\.control|--.*\.sql|_calibrate\.sql))$' <<<"$files")" $((4 + $(ls "$TREE"/gpusort--*.sql | wc -l)))
	is "the manual, and a dashboard, not compressed" "$(grep -cE '/docs/(using\.md|monitoring/grafana\.json)$' <<<"$files")" 2
	[ -d "$ROOT/etc/postgresql/$MAJOR/main" ] || quiet inside pg_createcluster "$MAJOR" main
	step "the server starts with it" preload gpusort || return
	is "CREATE EXTENSION" "$(sql_there -c 'CREATE EXTENSION gpusort' -c 'SELECT gpusort_version()')" "$VERSION"
	sql_there -c 'CREATE TABLE t AS SELECT hashint4(i) AS k, md5(i::text) AS s FROM generate_series(1, 200000) i' -c 'CREATE INDEX t_k ON t (k)' -c 'ANALYZE t'
	is "it sorts" "$(sql_there -c 'EXPLAIN (COSTS OFF) SELECT * FROM t ORDER BY s' | head -n 1)" 'Custom Scan (GpuSort)'
	is "it builds indexes" "$(sql_there -c 'CREATE INDEX t_s ON t (s)' -c 'SELECT built FROM gpusort_index_builds()')" 1
	is "gpusortd can be run" "$(inside "/usr/lib/postgresql/$MAJOR/lib/gpusortd" --version | grep -c "^gpusortd $VERSION,")" 1
	remove_package "$files"
}

# remove_package FILES: nothing of them is left, and the database goes on without.
remove_package()
{
	local answer file left=

	answer=$(sql_there -c 'SELECT md5(string_agg(k::text, NULL)) FROM (SELECT k FROM t ORDER BY s) x')
	inside apt-get -y purge "$PACKAGE" >"$WORK/purge.log" 2>&1 || { cat "$WORK/purge.log"; tally "apt-get purge" 0 1; return; }
	is "it warns of a server that preloads it" "$(grep -c "^WARNING: .* $MAJOR/main has gpusort" "$WORK/purge.log")" 1
	for file in $1; do
		# folders may be others', too
		[ -d "$ROOT$file" ] || [ ! -e "$ROOT$file" ] || left+=" $file"
	done
	is "nothing is left" "$left" ''
	is "a server that is to preload it says so" \
		"$(inside pg_ctlcluster "$MAJOR" main restart 2>&1 | grep -c 'could not access file "gpusort"')" 1
	step "without that it starts" preload '' || return
	is "... and answers as before" "$(sql_there -c 'SELECT md5(string_agg(k::text, NULL)) FROM (SELECT k FROM t ORDER BY s) x')" "$answer"
	is "DROP EXTENSION" "$(sql_there -c 'DROP EXTENSION gpusort' -c "SELECT count(*) FROM pg_proc WHERE proname LIKE 'gpusort%'")" 0
	quiet inside pg_ctlcluster "$MAJOR" main stop
}

say "$PACKAGE, on $SUITE"
package_root "$MAJOR-build"
if make_package; then
	cp "$ROOT"/home/builder/"$PACKAGE"_*.deb "$WORK/$PACKAGE.deb"
	cp "$WORK/$PACKAGE.deb" "$ROOT/tmp/"
	step "installed where it was built" install_there "/tmp/$PACKAGE.deb" &&
		step "debian/tests" in_source debian/tests/installcheck
	package_root "$MAJOR-clean"
	use_package
fi
finish
