# archive.sh
#		Debian's archive, read by an apt that has nothing to do with the system's.
#
# Sourced after common.sh.
#
#	archive_begin DIR KIND SUITE	read the lists of a SUITE's packages (KIND deb) or of its sources
#									(deb-src) into DIR/apt; from then on the script's apt
#									commands see these only
#
# The system's apt is neither used nor changed, and no root is needed; what is downloaded is checked
# with Debian's keys.  DEBIAN_MIRROR names another mirror.

MIRROR=${DEBIAN_MIRROR:-http://deb.debian.org}
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

archive_begin()
{
	local dir kind=$2 suite=$3

	[ -f "$KEYRING" ] || die "missing: debian-archive-keyring"
	mkdir -p "$1/apt/lists/partial" "$1/apt/cache/archives/partial" && dir=$(cd "$1/apt" && pwd -P) || exit
	: >"$dir/status"
	echo "$kind [signed-by=$KEYRING] $MIRROR/debian $suite main" >"$dir/sources.list"
	if [ "$suite" != sid ] && [ "$suite" != experimental ]; then
		echo "$kind [signed-by=$KEYRING] $MIRROR/debian-security $suite-security main" >>"$dir/sources.list"
	fi
	cat >"$dir/apt.conf" <<-CONF
		Dir::Etc::sourcelist "$dir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::State "$dir";
		Dir::State::lists "$dir/lists";
		Dir::State::status "$dir/status";
		Dir::Cache "$dir/cache";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::Check-Valid-Until "false";
		APT::Sandbox::User "";
	CONF
	export APT_CONFIG=$dir/apt.conf
	apt-get -qq update >"$dir/log" 2>&1 || { tail -n 5 "$dir/log" >&2; die "cannot read $MIRROR"; }
}
