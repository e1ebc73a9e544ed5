#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/modes.bash [DATELINE]
#
# The table of dateline-bench(1), "Which mode": what tori deliver, in per cent of
# what the adapters' links carry, under uniform traffic at a load of 1, by mode, by how
# packets stand in the switches, and by blocks of buffer: 264 are 8 packets, the default of
# fifo, 1584 are 48, that of voq.  PATTERN in the environment is other traffic.  Until a torus is full it delivers more than it will, and
# large buffers fill slowly: hence the long warm-up.  Needs jq; an hour of a
# processor.
set -euo pipefail

dateline=$(realpath "${1:-build/dateline}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# delivered QUEUES BLOCKS OPTION...: of the torus `t`, routed so.
delivered() {
	local queues=$1 blocks=$2

	shift 2
	"$dateline" route t.net --torus-config t.torus.conf -q -o t.dls "$@"
	"$dateline" emulate t.dls --scenario - --json --threads 1 <<-END |
		{queues: $queues, buffer_blocks: $blocks,
		 warmup_ns: 400000, duration_ns: 600000, drain_ns: 0,
		 traffic: [{pattern: ${PATTERN:-uniform}, load: 1, count: 2147483647}]}
	END
		jq .throughput_fraction || true # what is in flight at the end is a finding
}

printf '%-14s %-5s %6s %10s %10s %10s\n' 'torus' queues blocks torus-2QoS balanced any-sl
while read -r x y z hosts; do
	"$dateline" gen "$x" "$y" "$z" --hosts "$hosts" --speed 4xQDR -q -o t
	for queues in 'fifo 264' 'fifo 1584' 'voq 1584'; do
		read -r order blocks <<<"$queues"
		echo "$x $y $z $hosts $queues" \
			"$(delivered "$order" "$blocks" --mode classic)" \
			"$(delivered "$order" "$blocks" --mode proven --ties balanced)" \
			"$(delivered "$order" "$blocks" --mode any-sl)"
	done
done <<-END | awk '{ printf "%-14s %-5s %6d %10.1f %10.1f %10.1f\n",
	$1 "x" $2 "x" $3 ", " $4, $5, $6, 100 * $7, 100 * $8, 100 * $9; fflush() }'
	4 4 4 1
	4 4 4 4
	6 6 6 1
	6 6 6 2
	8 8 8 1
	8 8 8 2
	8 8 4 1
	8 8 4 2
	10 10 10 1
	10 10 10 2
END
