#!/bin/bash
# dist.sh
#		make dist: gpusort-VERSION.zip for PGXN, of what is committed.

cd "$(dirname "$0")/.." || exit
set -eu

version=$(sed -n 's/^   "version": "\(.*\)",$/\1/p' META.json)
packaging/meta.pl META.json
if [ -n "$(git status --porcelain --untracked-files=no)" ]; then
	echo "dist.sh: what is not committed is not in it" >&2
fi
git archive --format=zip --prefix="gpusort-$version/" --output="gpusort-$version.zip" HEAD
echo "gpusort-$version.zip"
