#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/validation.bash [DATELINE]
#
# The figures of doc/validation.md: what the emulator measures beside what theory
# says, a line each.  Needs jq.  A minute or two.
set -euo pipefail

dateline=$(realpath "${1:-build/dateline}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# emulated SNAPSHOT FILTER < SCENARIO
emulated() {
	"$dateline" emulate "$1" --scenario - --json | jq -r "$2"
}

# line WHAT MEASURED THEORY
line() {
	awk -v what="$1" -v m="$2" -v t="$3" 'BEGIN {
		printf "%-58s %9.4g %9.4g %+6.1f %%\n", what, m, t, 100 * (m / t - 1)
	}'
}

# star N: one switch with so many adapters at 4 bytes a nanosecond.
star() {
	"$dateline" gen 1 1 1 --hosts "$1" --speed 4xQDR -q -o star
	"$dateline" route star.net --torus-config star.torus.conf -q -o star
}

printf '%-58s %9s %9s\n' '' measured theory

star 64
long='duration_ns: 1500000, warmup_ns: 700000'
line 'head-of-line limit, 64 inputs (Karol: 2 - sqrt 2)' "$(emulated star .throughput_fraction \
	<<<"{$long, traffic: [{pattern: uniform, load: 1}]}")" \
	"$(awk 'BEGIN { print (2 - sqrt(2)) * 2048 / 2074 }')"
line 'virtual output queues: the links, less headers' "$(emulated star .throughput_fraction \
	<<<"{$long, queues: voq, traffic: [{pattern: uniform, load: 1}]}")" \
	"$(awk 'BEGIN { print 2048 / 2074 }')"

# All wait at one output, whose service takes 518.5 ns: M/D/1.
for load in 0.3 0.6 0.8; do
	each=$(awk -v l="$load" 'BEGIN { printf "%.6f", l * 2048 / 2074 / 63 }')
	line "M/D/1: mean wait in ns for one output at $load" "$(emulated star \
		'.qos[0].latency_ns_mean - 640.5' <<<"{duration_ns: 60000000, queues: voq, \
		traffic: [{pattern: incast, targets: [0], load: $each}]}")" \
		"$(awk -v l="$load" 'BEGIN { print l * 518.5 / (2 * (1 - l)) }')"
done

# Little: packets in flight are arrivals a nanosecond times their time in the fabric.
# shellcheck disable=SC2016
emulated star '([.samples[10:][].in_flight] | add / length) as $n |
	"\($n) \(([.samples[10:][].delivered_packets] | add / length / 5000) * .qos[0].network_ns_mean)"' \
	<<<"{duration_ns: 1000000, warmup_ns: 50000, sample_ns: 5000, queues: voq, \
		traffic: [{pattern: uniform, load: 0.7}]}" >little
read -r flying product <little
line "Little's law: packets in flight at a load of 0.7" "$flying" "$product"

# A flow on one link is limited by its buffer over the round trip.
for blocks in 33 66 132; do
	line "one flow, $blocks blocks of buffer, credit after 1000 ns" "$(emulated star \
		'.qos[0].throughput_gbps / 32' <<<"{duration_ns: 500000, warmup_ns: 100000, \
		buffer_blocks: $blocks, credit_ns: 1000, queues: voq, \
		traffic: [{pattern: incast, targets: [0], sources: [1], load: 1}]}")" \
		"$(awk -v b="$blocks" 'BEGIN {
			trip = 518.5 + 10 + 2 + 10 + 1000 + 102
			rate = int(b / 33) * 518.5 / trip
			print (rate < 1 ? rate : 1) * 2048 / 2074
		}')"
done

# Below saturation a cable is busy for what passes it: three hops, one way round.
"$dateline" gen 8 1 1 --speed 4xQDR -q -o ring
"$dateline" route ring.net --torus-config ring.torus.conf -q -o ring
line 'tornado on a ring of 8 at 0.2: share of busy time' "$(emulated ring \
	'[.ports[].xmit_busy_ns] | max / 2e6' <<<"{duration_ns: 2000000, grid: [8], \
	traffic: [{pattern: tornado, load: 0.2, arrival: periodic}]}")" \
	"$(awk 'BEGIN { print 3 * 0.2 * 2074 / 2048 }')"

# Both levels have more than fits on a cable: 6 packets of 33 blocks use up a weight of 192.
"$dateline" gen 2 1 1 --mesh x --hosts 2 --speed 4xQDR -q -o two
"$dateline" route two.net --torus-config two.torus.conf --qos-weights 192:64 -q -o two
line 'VL arbitration 192 to 64: share of the first level' "$(emulated two \
	'.qos[0].throughput_gbps / 32' <<<"{duration_ns: 6000000, warmup_ns: 1000000, traffic: \
	[{pattern: incast, targets: [2], sources: [0], level: 0, load: 1}, \
	{pattern: incast, targets: [3], sources: [1], level: 1, load: 1}]}")" \
	"$(awk 'BEGIN { print 6 / 8 * 2048 / 2074 }')"

# Programs without congestion: alpha 122 ns, and 0.25 ns a byte with headers.
star 16
program() {
	"$dateline" emulate star --program "$1" --json | jq .program.time_ns
}
line 'all-reduce of 1 MB, ring of 16: 2 (n-1) (a + s t / n)' "$(program allreduce-ring:1M)" \
	"$(awk 'BEGIN { print 30 * (122 + 32 * 2074 / 4) }')"
line 'all-reduce of 1 MB, doubling: log n (a + s t)' "$(program allreduce-doubling:1M)" \
	"$(awk 'BEGIN { print 4 * (122 + 512 * 2074 / 4) }')"
line 'all-to-all of 1 MB, 16 ranks: (n-1) (a + s t / n)' "$(program alltoall:1M)" \
	"$(awk 'BEGIN { print 15 * (122 + 32 * 2074 / 4) }')"

# Congestion control: what everybody offers, a target's link, and what two of four sources
# that share the target leave of a cable.
"$dateline" gen 8 8 1 --speed 4xEDR -q -o torus
"$dateline" route torus.net --torus-config torus.torus.conf -q -o torus
"$dateline" gen 2 1 1 --mesh x --hosts 4 --speed 4xQDR -q -o lot
"$dateline" route lot.net --torus-config lot.torus.conf -q -o lot
for control in '' ', congestion: {}'; do
	with=${control:+ with congestion control}
	line "8x8, a fifth to one target, load .2$with" "$(emulated torus \
		.throughput_fraction <<<"{duration_ns: 3000000, warmup_ns: 1500000, traffic: \
		[{pattern: hotspot, targets: [0], fraction: 0.2, load: 0.2}]$control}")" 0.2
	line "incast of 15: the target's link$with" "$(emulated star \
		'.throughput_fraction * 16' <<<"{duration_ns: 4000000, warmup_ns: 2000000, \
		traffic: [{pattern: incast, targets: [0], load: 1}]$control}")" \
		"$(awk 'BEGIN { print 2048 / 2074 }')"
	emulated lot '[.pairs[] | .bytes / 8e7] | "\(.[2]) \(add - .[2])"' <<<"{queues: voq, \
		duration_ns: 22000000, warmup_ns: 2000000, pairs: true, traffic: [{pattern: incast, \
		targets: [4], sources: [0, 1, 6, 7], load: 1}, {pattern: incast, targets: [5], \
		sources: [2], load: 1}]$control}" >shares
	read -r victim hot <shares
	line "victim of two of four: its share$with" "$victim" 0.49375
	line "... and the target's link$with" "$hot" "$(awk 'BEGIN { print 2048 / 2074 }')"
done
