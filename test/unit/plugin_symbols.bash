#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What OpenSM loads holds no reader of dumps and netlists, no maker of fabrics,
# and no client of the running fabric; it starts no thread but the one that
# writes snapshots, and needs no library but the C library and zstd, for compact
# snapshots.
set -uo pipefail

BUILD=${DATELINE_BUILD:-$PWD}
PLUGIN=$BUILD/plugin/libosmdateline.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# defined FILE: its global functions and data; in a shared library also those
# that its version script has made local.
defined() {
	nm --defined-only "$1" 2>/dev/null |
		awk '$2 ~ /^[TtDdBbRr]$/ && $3 ~ /^dl_/ { print $3 }' | sort -u
}

defined "$PLUGIN" >"$work/plugin"
[[ -s $work/plugin ]] || { echo "FAILED: no symbols in $PLUGIN"; exit 1; }
for archive in libdlread libdllive libdllink; do
	nm --defined-only "$BUILD/$archive.a" 2>/dev/null |
		awk '$2 ~ /^[TDBR]$/ && $3 ~ /^dl_/ { print $3 }' |
		sort -u >"$work/other"
	[[ -s $work/other ]] || { echo "FAILED: $archive is empty"; failed=1; }
	if comm -12 "$work/plugin" "$work/other" | grep .; then
		echo "FAILED: the plugin holds the above of $archive"
		failed=1
	fi
done
# Archives and objects that start a thread, by name.
starters=$(nm -A --undefined-only "$BUILD/libdlroute.a" \
	"$BUILD"/plugin/libosmdateline_so-*.o 2>/dev/null |
	awk -F: '/ (pthread|thrd)_create/ { sub(/.*\//, "", $1); print $1 }')
[[ $starters == libosmdateline_so-dump_dir.o ]] || {
	echo "FAILED: threads are started by: ${starters:-nobody}"
	failed=1
}
# Sanitizers bring libraries of their own.
if readelf -d "$PLUGIN" | grep NEEDED |
	grep -vE 'lib(c|m|zstd|asan|ubsan|pthread|gcc_s)\.so'; then
	echo "FAILED: the plugin needs the above"
	failed=1
fi
# What it leaves undefined, OpenSM or one of these libraries has; else OpenSM ends when it is called.
opensm=$(PATH=$PATH:/usr/sbin:/sbin command -v opensm)
while read -r file; do
	nm -D --defined-only "$file" | awk '{ sub(/@.*/, "", $NF); print $NF }'
done < <(ldd "$PLUGIN" "$opensm" | awk '$2 == "=>" { print $3 }' && echo "$opensm") |
	sort -u >"$work/provided"
nm -D --undefined-only "$PLUGIN" | awk '$1 == "U" { sub(/@.*/, "", $2); print $2 }' |
	sort -u >"$work/wanted"
if comm -13 "$work/provided" "$work/wanted" | grep .; then
	echo "FAILED: nobody has the above, which the plugin calls"
	failed=1
fi
exit $failed
