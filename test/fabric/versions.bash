#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: versions.bash [BATS-ARGUMENT...]
#
# Run fabric tests against other versions of OpenSM than the one that is
# installed: each opensm-VERSION.tar.* in $DATELINE_OPENSM_SOURCES is built, the
# plugin is built with its headers, and the tests are run with both.  What has been
# built stays in opensm/ of the build tree.  Without arguments: the tests of the plugin,
# and virtual time.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
BUILD=$(cd "${DATELINE_BUILD:-$TOP/build}" && pwd)
SOURCES=${DATELINE_OPENSM_SOURCES:?names the directory with tarballs of OpenSM}
TESTS=(plugin sweeps qos sick takeover transition planned)

say() {
	printf '%s\n' "$*" >&2
}

# build_opensm ARCHIVE PREFIX
build_opensm() {
	local work

	work=$(mktemp -d)
	tar -xf "$1" -C "$work" --strip-components 1
	(
		cd "$work"
		[[ -e configure ]] || autoreconf -fi
		# Old code: today's compilers warn, and want no common symbols.
		./configure --prefix="$2" --disable-static \
			CFLAGS="-O2 -w -fcommon"
		make -j "$(nproc)"
		make install
	) >"$2.log" 2>&1 || {
		say "$1 cannot be built: see $2.log"
		return 1
	}
	rm -rf "$work"
}

# build_plugin PREFIX
build_plugin() {
	mkdir -p "$1/dateline"
	(
		cd "$1/dateline"
		[[ -e Makefile ]] || "$TOP/configure" --quiet \
			--with-opensm-headers="$1/include"
		make -s -j "$(nproc)" plugin/libosmdateline.so
	) >>"$1.log" 2>&1 || {
		say "no plugin for $1: see $1.log"
		return 1
	}
}

# run_tests PREFIX BATS-ARGUMENT...
run_tests() {
	local -x DATELINE_BUILD=$BUILD DATELINE_OPENSM=$1
	local status=0

	shift
	bats "$@" || status=1
	((!WHOLE)) || [[ ! -e $BUILD/test/sim/sm.so ]] || "$TOP/test/sim/run.bash" || status=1
	return $status
}

shopt -s nullglob
archives=("$SOURCES"/opensm-*.tar.*)
((${#archives[@]})) || {
	say "skipped: no sources of OpenSM in $SOURCES" \
		"(DATELINE_OPENSM_SOURCES names another folder)"
	exit 0
}
for tool in autoreconf flex bison; do
	command -v $tool >/dev/null || {
		say "skipped: OpenSM cannot be built without $tool"
		exit 0
	}
done
WHOLE=$((!$#))
if ((WHOLE)); then
	for test in "${TESTS[@]}"; do
		set -- "$@" "$TOP/test/fabric/$test.bats"
	done
fi
failed=()
mkdir -p "$BUILD/opensm"
for archive in "${archives[@]}"; do
	version=${archive##*/opensm-}
	version=${version%.tar.*}
	prefix=$BUILD/opensm/$version
	say "==> OpenSM $version"
	[[ -x $prefix/sbin/opensm ]] || build_opensm "$archive" "$prefix" || {
		failed+=("$version")
		continue
	}
	build_plugin "$prefix" && run_tests "$prefix" "$@" || failed+=("$version")
done
((${#failed[@]} == 0)) || {
	say "failed with OpenSM ${failed[*]}"
	exit 1
}
