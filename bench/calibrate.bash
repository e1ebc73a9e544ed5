#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/calibrate.bash RATE BACK_TO_BACK SWITCHED METRES [LENGTH:BANDWIDTH...]
#
# From measurements between two hosts to keys of a scenario: switching, switch_ns,
# buffer_blocks and credit_ns.  doc/validation.md has the procedure.
#
#	RATE		data rate of the links, Gbit/s
#	BACK_TO_BACK	output of ib_write_lat -a, the hosts on one cable
#	SWITCHED	the same through one switch
#	METRES		cable that the packets pass more then
#	LENGTH:BANDWIDTH  output of ib_write_bw with one message size, over a link
#			between two switches of so many metres; two or more that are
#			too long for the buffers
#
# Latencies are microseconds (the column t_typical), bandwidths Gbit/s (ib_write_bw
# --report_gbits) or MB/s (without).
set -euo pipefail

if (($# < 4)); then
	sed -n '4s/^# //p' "$0" >&2
	exit 2
fi
rate=$1 straight=$2 switched=$3 metres=$4
shift 4

# Lines of figures of perftest's output: bytes and the column in question.
figures() {
	awk -v column="$2" '$1 ~ /^[0-9]+$/ && NF >= 4 { print $1, $column }' "$1"
}

# What the switch adds, by size: a constant when it cuts through, else a packet's time.
switch=$(join <(figures "$straight" 5 | sort) <(figures "$switched" 5 | sort) |
	awk -v rate="$rate" -v metres="$metres" '
	$1 <= 2048 { # longer messages are several packets
		added = 1000 * ($3 - $2) - 5 * metres
		n++; x += $1; y += added; xx += $1 * $1; xy += $1 * added
	}
	END {
		if (!n) { print "no size in common" > "/dev/stderr"; exit 1 }
		slope = n * xx > x * x ? (n * xy - x * y) / (n * xx - x * x) : 0
		if (slope > 4 / rate) # ns a byte: half of 8 / rate
			printf "switching: store_and_forward\nswitch_ns: %.0f\n",
				(y - slope * x) / n - 26 * 8 / rate
		else
			printf "switching: cut_through\nswitch_ns: %.0f\n", y / n - 64 / rate
	}')
echo "$switch"

# 1 / bandwidth = (round trip without the cable + 10 ns a metre) / buffer, between
# switches that cut through.
(($# == 0)) && exit
for each; do
	[[ $each == *:* ]] || { echo "$each: expected LENGTH:FILE" >&2; exit 2; }
	figures "${each#*:}" 4 | tail -n 1 | sed "s/^/${each%%:*} /"
done | awk -v rate="$rate" -v switch_ns="${switch##* }" '
	{
		gbits = $3 > 2 * rate ? $3 * 8 * 1.048576 / 1000 : $3
		# As it is on the wire, with headers.
		wire = gbits * ($2 < 2048 ? ($2 + 26) / $2 : 2074 / 2048)
		if (wire > 0.97 * rate) next
		n++; x += $1; y += 8 / wire; xx += $1 * $1; xy += $1 * 8 / wire
	}
	END {
		if (n < 2 || n * xx == x * x) {
			print "buffer: two lengths or more are needed at which the link is not full" \
				> "/dev/stderr"
			exit 1
		}
		slope = (n * xy - x * y) / (n * xx - x * x)
		buffer = 10 / slope
		trip = (y - slope * x) / n * buffer
		# Whole packets of 33 blocks; the packet, a header, the flow-control packet.
		printf "buffer_blocks: %.0f\n", 33 * sprintf("%.0f", buffer / 2074)
		printf "credit_ns: %.0f\n", trip - switch_ns - (2074 + 8 + 8) * 8 / rate
	}'
