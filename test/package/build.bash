#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: build.bash BUILD DIR
#
# Packages of the tarball that the build tree BUILD makes: DIR/deb/*.deb, built
# as a Debian machine builds them, and DIR/rpm/*.rpm, built in a hurry to try
# the spec; without the unit tests, which run elsewhere.  Nothing is done when
# they were made of this very tarball; with ccache, what has changed is compiled.
set -euo pipefail

BUILD=$(cd "$1" && pwd)
mkdir -p "$2"
DIR=$(cd "$2" && pwd)

# step NAME COMMAND...: silent, unless it fails.
step() {
	local log=$DIR/$1.log

	shift
	"$@" >"$log" 2>&1 || {
		tail -n 30 "$log" >&2
		exit 1
	}
}

if [[ -d /usr/lib/ccache ]] && command -v ccache >/dev/null; then
	PATH=/usr/lib/ccache:$PATH
	export CCACHE_DIR=${CCACHE_DIR:-${XDG_CACHE_HOME:-$HOME/.cache}/ccache}
fi
rm -rf "$DIR/source"
mkdir "$DIR/source"
step dist make -C "$BUILD" -s dist
mv "$BUILD"/dateline-*.tar.xz "$DIR/source"
tar -C "$DIR/source" -xf "$DIR"/source/dateline-*.tar.xz
cd "$DIR"/source/dateline-*/
find . -type f -exec sha256sum {} + | sort >"$DIR/contents"
! cmp -s "$DIR/contents" "$DIR/built" || exit 0

rm -rf "$DIR/deb" "$DIR/rpm" "$DIR/built"
mkdir "$DIR/deb" "$DIR/rpm"

# Where this machine's OpenSM looks for libraries.  What RPM asks for has other
# names here.
step rpmbuild rpmbuild -ta --nodeps --nocheck \
	--define "_topdir $DIR/source/rpm" --define "_rpmdir $DIR/rpm" \
	--define "_build_name_fmt %%{NAME}.rpm" --define "optflags -O0 -g0" \
	--define "_libdir $(pkg-config --variable libdir jansson)" \
	"$DIR"/source/dateline-*.tar.xz &
rpms=$!
trap wait EXIT
DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" \
	step dpkg-buildpackage dpkg-buildpackage -us -uc
mv ../*_* "$DIR/deb"
wait "$rpms"
mv "$DIR/contents" "$DIR/built"
