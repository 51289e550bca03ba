# versions.sh
#		The versions of PostgreSQL that gpusort is for, and where Debian has them.
#
# A line is MAJOR, newest last; how its chroot gets its packages; and the Debian suite of
# its chroot, with a suite to take PostgreSQL from if that is another one:
#
#	bare		the tests' scripts install them, as on a user's machine
#	unpacked	test/chroot.sh unpacks them, which is faster
#
# .ci/run tests the lines with a suite in chroots; test/wheel.sh has 16.

VERSIONS='
	15 bare     bookworm
	16
	17 unpacked trixie
	18 unpacked sid
	19 unpacked sid experimental
'

# All that gpusort is for, newest first.
known_majors()
{
	awk 'NF {print $1}' <<<"$VERSIONS" | sort -rn | xargs
}

# Those that can be tested in chroots, oldest first.
tested_majors()
{
	awk 'NF > 1 {print $1}' <<<"$VERSIONS" | sort -n | xargs
}

# version_of MAJOR: sets PACKAGING, SUITE and EXTRA_SUITE; false if there is no such line.
version_of()
{
	read -r PACKAGING SUITE EXTRA_SUITE < <(awk -v major="$1" '$1 == major && NF > 1 {print $2, $3, $4}' <<<"$VERSIONS")
	[ -n "${SUITE:-}" ]
}
