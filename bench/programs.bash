#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/programs.bash [DATELINE]
#
# What programs cost ("What programs cost" in doc/validation.md): processor time and
# memory, a line each.  Needs jq, GNU time and 2 GB; two minutes.
set -euo pipefail

dateline=$(realpath "${1:-build/dateline}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# timed NAME COMMAND...: its processor time and memory.
timed() {
	local name=$1

	shift
	command time -f '%U %M' -o cost "$@" >out
	awk -v name="$name" '{ printf "%-52s %6.1f s %6.2f GB\n", name, $1, $2 / 1e6 }' cost
}

"$dateline" gen 24 24 24 -q -o big
timed 'route 24x24x24' "$dateline" route big.net --torus-config big.torus.conf -q -o big.dls
"$dateline" gen 10 10 10 -q -o thousand
"$dateline" route thousand.net --torus-config thousand.torus.conf -q -o thousand.dls
for job in big,allreduce-doubling:64K big,allreduce-tree:1M thousand,allreduce-ring:1M; do
	timed "${job/,/: }" "$dateline" emulate "${job%,*}.dls" --program "${job#*,}" --threads 1 -q --json
	jq -r '.program | "    \(.ranks) ranks, \(.messages) messages, \(.time_ns / 1e6) ms"' out
done
