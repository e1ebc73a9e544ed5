#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Latency against load on a whole torus, beside what can be worked out.
#
#   bench/latency.bash DATELINE X Y Z [DURATION_NS]
#
# The torus has an adapter at each switch and is routed as torus-2QoS does;
# messages have 2048 bytes.  A line a pattern: the mean latency of a packet that is
# alone, computed from links, cables and switches, and as emulated with one packet
# at a time; the load at which the fabric saturates; the load at which its busiest
# link is full, less headers; the ratio of both.  Then the mean latency at loads of
# 10, 30, ... 110 per cent of the latter.  Latencies are in nanoseconds.  All of it
# is by `dateline emulate`, the curve by --sweep, with so many nanoseconds a point
# (a million).
set -euo pipefail

dateline=$1 dims=("$2" "$3" "$4") duration=${5:-1000000}
work=$(mktemp -d "${TMPDIR:-/tmp}/dateline-latency-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"

# What the closed form knows of the links, 4xEDR: 12.5 bytes a nanosecond.
bytes=2048 headers=26 header=8 cable_m=2 switch_ns=100
together="cable_m: $cable_m
switch_ns: $switch_ns"
hop=$(awk -v cable=$((5 * cable_m)) -v header="$header" -v through="$switch_ns" \
	'BEGIN { print cable + header / 12.5 + through }')
last=$(awk -v cable=$((5 * cable_m)) -v all=$((bytes + headers)) 'BEGIN { print cable + all / 12.5 }')

# emulated ENTRY LINES [OPTION...]: the document of an emulation.
emulated() {
	local status=0

	printf '%s\n%s\ntraffic: [{bytes: %s, %s}]\n' "$together" "$2" "$bytes" "$1" >scenario.yaml
	shift 2
	"$dateline" emulate s.dls --scenario scenario.yaml --json "$@" || status=$?
	((status < 2)) # above saturation not all is delivered
}

# of_bound DOCUMENT PATTERN SENDERS: the load at which the busiest link is full.
of_bound() {
	jq -r --arg p "$2" --argjson senders "$3" --argjson data "$bytes" --argjson more "$headers" '
		(.dims[0] * .dims[1] * .dims[2]) as $n |
		.patterns[] | select(.pattern == $p)."torus-2QoS".bound * $n / $senders *
		$data / ($data + $more)' "$1"
}

"$dateline" gen "${dims[@]}" -q -o f
"$dateline" route f.net --mode classic -q -o s.dls
"$dateline" bench throughput "${dims[@]}" --json >bounds.json
printf '%-10s %9s %9s %10s %6s %6s %7s %7s %7s %7s %7s %7s\n' pattern computed emulated \
	saturation bound share 10% 30% 50% 70% 90% 110%
for pattern in uniform tornado transpose; do
	# Its pairs, and a trace in which none of their packets meets another.
	entry="pattern: $pattern, window: 1, count: 1"
	[[ $pattern != uniform ]] || entry='pattern: all_to_all, window: 1'
	emulated "$entry" $'pairs: true\nduration_ns: 1000000000' |
		jq -r '.pairs[] | "\(.from) \(.to)"' >pairs
	senders=$(cut -d ' ' -f 1 pairs | sort -u | wc -l)
	awk -v bytes="$bytes" '{ print NR * 20000, $1, $2, bytes, 0 }' pairs >trace
	printf '%s\nduration_ns: %s\ntraffic: [{pattern: trace, file: trace}]\n' "$together" \
		$((($(wc -l <pairs) + 2) * 20000)) >scenario.yaml
	"$dateline" emulate s.dls --scenario scenario.yaml --json |
		jq -r --argjson hop "$hop" --argjson last "$last" '
			"\((.packet_hops / .delivered_packets - 1) * $hop + $last) " +
			"\(.qos[0].latency_ns_mean)"' >alone
	bound=$(of_bound bounds.json "$pattern" "$senders")
	step=$(awk -v b="$bound" 'BEGIN { printf "%.6f", b / 20 }')
	most=$(awk -v s="$step" 'BEGIN { printf "%.6f", 22 * s }')
	emulated "pattern: $pattern, load: 1" \
		"warmup_ns: 100000
duration_ns: $((duration + 100000))" --sweep "load=$step:$most:$step" >curve.json
	jq -r --arg bound "$bound" '"\(.saturation_load // 0) \($bound) " +
		([.sweep[range(1; 22; 4)].latency_ns_mean | tostring] | join(" "))' curve.json |
		paste -d ' ' alone - |
		awk -v pattern="$pattern" '{
			printf "%-10s %9.3f %9.3f %10.3f %6.3f %6.3f", pattern, $1, $2, $3, $4, $3 / $4
			for (i = 5; i <= NF; i++)
				printf " %7.0f", $i
			print ""
		}'
done
