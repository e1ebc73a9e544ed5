#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The modules of one link hold no heap memory, print nothing and never end the
# process: they do not even refer to the functions that do.
set -uo pipefail

BUILD=${DATELINE_BUILD:-$PWD}
failed=0
seen=0

for object in lib/link/libdllink_a-{arbiter,credit,fcp}.o \
	lib/emu/libdllink_a-slarb.o; do
	symbols=$(nm -u "$BUILD/$object" | awk '{ print $2 }') || exit 1
	seen=$((seen + 1))
	if grep -xE '(m|c|re)alloc|free|v?f?printf|puts|abort|_?exit' \
		<<<"$symbols"; then
		echo "FAILED: $object refers to the above"
		failed=1
	fi
done
((seen == 4)) || failed=1
exit $failed
