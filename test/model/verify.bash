#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Check the flow-control model in all its states; and that the checker finds
# the harm when a part of the protocol, or an assumption, is taken away.
set -uo pipefail

MODEL=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/credit.pml
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

command -v spin >/dev/null || {
	echo "spin is not installed"
	exit 77
}

# check FLAGS...: prints "N states, M errors".
check() {
	rm -f "$T"/*
	(cd "$T" && spin -a "$@" "$MODEL" && ${CC:-cc} -O2 -DSAFETY -o pan pan.c &&
		./pan -m2000000 -w22 -n) >"$T/out" 2>&1
	sed -n -e 's/^ *\([0-9e.+]*\) states, stored.*/\1 states/p' \
		-e 's/^State-vector.*, errors: \([0-9]*\)$/\1 errors/p' \
		-e 's/^error: max search depth.*/truncated/p' \
		-e 's/^pan: reached.*/truncated/p' "$T/out" | tr '\n' ' '
}

failed=0

# good FLAGS...; bad FLAGS...
good() {
	local got

	got=$(check "$@")
	echo "safe with $*: $got"
	[[ $got == '0 errors '*states' ' && $got != *truncated* ]] || {
		cat "$T/out"
		failed=1
	}
}

bad() {
	local got

	got=$(check "$@")
	echo "harm with $*: $got"
	[[ $got == '1 errors '* ]] || {
		cat "$T/out"
		failed=1
	}
}

good -DBUFFER=4
good -DBUFFER=3 -DCHUNK=2
good -DBUFFER=9 -DLARGEST=1 -DWIRE=1	# more than the window
good -DPCIE -DBUFFER=4
good -DPCIE -DBUFFER=6 -DWIRE=1

bad -DBUFFER=14 -DBREAK_WINDOW
bad -DBUFFER=3 -DCHUNK=2 -DBREAK_CHUNKS
bad -DBREAK_SYNC
bad -DBREAK_ORDER
bad -DLATE=3
bad -DPCIE -DBREAK_SYNC
bad -DPCIE -DBREAK_ORDER
bad -DPCIE -DBUFFER=8 -DLATE=12

exit $failed
