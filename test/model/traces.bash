#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Random walks through the flow-control model, repeated in the program:
# usage: traces.bash [SEED...]
set -uo pipefail

MODEL=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/credit.pml
BUILD=${DATELINE_BUILD:-$PWD}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

command -v spin >/dev/null || {
	echo "spin is not installed"
	exit 77
}
(($#)) || set -- {1..12}

# walk SEED PROGRAM SCHEME BUFFER CHUNK FLAGS...
walk() {
	local seed=$1 program=$2 scheme=$3 buffer=$4 chunk=$5

	shift 5
	(cd "$T" && spin -T "-n$seed" -u20000 -DTRACE "-DBUFFER=$buffer" \
		"-DCHUNK=$chunk" "$@" "$MODEL") |
		"$BUILD/test/model/$program" "$scheme" "$buffer" "$chunk" \
		>"$T/replay" && return
	echo "FAILED: $program $scheme $buffer $chunk, seed $seed"
	exit 1
}

for seed; do
	for program in replay replay_small; do
		walk "$seed" $program iba 3 1
		walk "$seed" $program iba 6 1
		walk "$seed" $program iba 12 1
		walk "$seed" $program pcie 1 1 -DPCIE
		walk "$seed" $program pcie 5 1 -DPCIE
		walk "$seed" $program pcie 8 1 -DPCIE
	done
	walk "$seed" replay_small iba 3 2
	walk "$seed" replay_small iba 5 3
done

# A program that follows other rules is found out.
if (cd "$T" && spin -T -n1 -u20000 -DTRACE -DBREAK_SYNC "$MODEL") |
	"$BUILD/test/model/replay" iba 6 1 >"$T/replay" 2>&1; then
	echo "FAILED: a model without sync agrees with the program"
	exit 1
fi
echo "seeds $*: the program does what the model does"
