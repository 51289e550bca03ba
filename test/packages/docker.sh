#!/bin/bash
# docker.sh
#		Dockerfile: its steps, in a chroot that stands for the image of PostgreSQL.
#
# Debian's own server is in the place of that image's, whose folders are the same, but for the sample of
# postgresql.conf, which is linked to where the image has it.

. "$(dirname "$0")/../lib/common.sh"
. "$TREE/test/lib/packages.sh"
. "$TREE/test/lib/chroot.sh"
. "$TREE/test/lib/package_chroots.sh"

MAJOR=15
version_of $MAJOR
[ "$(id -u)" -eq 0 ] || die "chroot needs root"
WORK=$(mktemp -d) || exit
at_exit 'rm -rf "$WORK"'

base_image()
{
	install_there postgresql-$MAJOR locales &&
		inside mv "/usr/share/postgresql/$MAJOR/postgresql.conf.sample" /usr/share/postgresql/ &&
		inside ln -s ../postgresql.conf.sample "/usr/share/postgresql/$MAJOR/"
}

# The shell's part of all RUN lines, one a line; lines that end in a backslash go on.
steps()
{
	sed -e ':next' -e '/\\$/{N;s/\\\n[[:space:]]*/ /;b next' -e '}' "$TREE/Dockerfile" | sed -n 's/^RUN //p'
}

loaded()
{
	inside setpriv --reuid=postgres --regid=postgres --init-groups sh -c "
		export PATH=/usr/lib/postgresql/$MAJOR/bin:\$PATH; cd /tmp
		initdb -D data >/dev/null && pg_ctl -D data -l log -w -o \"-k /tmp -h ''\" start >/dev/null &&
			psql -h /tmp -XAt -d postgres -c 'CREATE EXTENSION gpusort' -c 'SHOW shared_preload_libraries' -c 'SELECT gpusort_version()' | tail -n 2 | xargs
		pg_ctl -D data -m immediate stop >/dev/null"
}

package_root docker
step "the image of PostgreSQL" base_image || finish
clone_tree "$ROOT/tmp/gpusort"
while IFS= read -r run; do
	step "RUN ${run:0:30} ..." inside env PG_MAJOR=$MAJOR sh -c "$run" || finish
done < <(steps)
step "nothing is left of building" inside sh -c '! command -v gcc && [ ! -e /tmp/gpusort ]'
step "the server preloads it" sh -c "[ '$(loaded)' = 'gpusort $(control_version)' ]"
finish
