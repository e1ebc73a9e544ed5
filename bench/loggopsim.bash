#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/loggopsim.bash SOURCES [DATELINE]
#
# Programs in GOAL beside LogGOPSim, whose sources are given: the files that its schedule
# generator writes for 16 ranks, on a switch with 16 adapters, in microseconds.  Needs jq
# and what builds LogGOPSim (g++, re2c, gengetopt, the libraries of graphviz and boost's
# iostreams); two minutes.
#
# What is set alike, in LogGOPSim's letters and units of a picosecond: L is what a packet
# with its first byte takes over two cables and the switch, G a byte's time with its share
# of headers, g an empty packet's, o is in the table, S is 65535 in both.
set -euo pipefail

sources=$(realpath "$1")
dateline=$(realpath "${2:-build/dateline}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cp -r "$sources/src" src
{
	make -C src/LogGOPSim CXX='g++ -w'
	make -C src/Schedgen CXX='g++ -w'
} >built 2>&1 || { cat built >&2; exit 1; }
"$dateline" gen 1 1 1 --hosts 16 --speed 4xSDR -q -o star
"$dateline" route star.net --torus-config star.torus.conf -q -o star

# compare PATTERN BYTES OVERHEAD_NS
compare() {
	local theirs ours

	src/Schedgen/schedgen -p "$1" -s 16 -d "${2/-/1}" --segmentsize 20000 -o theirs.goal >/dev/null
	# The generator knows nanoseconds, like GOAL; its time of a calculation is here in ps.
	awk '{ for (i = 1; i < NF; i++) if ($i == "calc") $(i + 1) *= 1000; print }' \
		theirs.goal >ps.goal
	src/LogGOPSim/txt2bin -i ps.goal -o ps.bin >/dev/null
	theirs=$(src/LogGOPSim/LogGOPSim -b -f ps.bin -L 154000 -G 1013 -g 27000 -o "${3}000" |
		sed -n 's/^Maximum.*: \([0-9]*\) (.*/\1/p')
	ours=$("$dateline" emulate star --program theirs.goal --scenario - --json -q \
		<<<"{message_ns: $3}" | jq .program.time_ns)
	awk -v name="$1" -v bytes="$2" -v o="$3" -v theirs="$theirs" -v ours="$ours" 'BEGIN {
		printf "%-20s %8s %6d %12.1f %12.1f %+6.1f %%\n", name, bytes, o, theirs / 1e6,
			ours / 1e3, 100 * (ours * 1e3 / theirs - 1)
	}'
}

printf '%-20s %8s %6s %12s %12s\n' '' bytes o LogGOPSim emulated
for pattern in binomialtreereduce binomialtreebcast binarytreebcast nwaydissemination \
	dissemination allreduce_recdoub pipelinedring doublering scatter gather linear_alltoall; do
	for bytes in 1 60000 1000000; do
		compare "$pattern" "$bytes" 0
		compare "$pattern" "$bytes" 500
	done
done
compare resnet - 0
compare resnet - 500
