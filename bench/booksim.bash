#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/booksim.bash BOOKSIM [DATELINE [REGEX]]
#
# The emulator beside BookSim 2, whose program is given, on meshes and tori: mean
# latency at loads below saturation, in cycles, and what is accepted at full load, in
# flits a cycle and node.  REGEX chooses configurations.  Needs jq; half an hour of a processor.
#
# What is set alike.  Packets have 32 flits of 64 bytes, a cycle is 16 ns, buffers hold
# 8 packets, a header takes 4 cycles a hop, credit none; packets hold the switch until their
# tail has passed; an input passes on one packet at a time.  There uniform traffic goes to
# oneself, too: here the load is (n - 1) / n as much.
#
# Channels.  Both choose the channel of a ring when a packet enters it, by whether it
# will cross the dateline (BookSim's dim_order_torus, the VLs of torus-2QoS).  Twice as many
# are, there, two for each choice, of which a packet takes a free one at every hop; here, two
# QoS levels with half of the traffic each, whose VLs are fixed.  Between adapters and
# switches there any channel is used, here one VL for each QoS level.
#
# Rings of 8.  Half way round, there each packet goes either way at random; here
# half of the pairs go each way.
set -euo pipefail

booksim=$(realpath "$1")
dateline=$(realpath "${2:-build/dateline}")
only=${3:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# theirs TOPOLOGY K N CHANNELS PATTERN LOAD CYCLES: accepted, and latency.
theirs() {
	cat >config <<-END
		topology = $1; k = $2; n = $3; num_vcs = $4; traffic = $5;
		routing_function = dim_order; use_noc_latency = 0;
		vc_buf_size = 256; packet_size = 32; wait_for_tail_credit = 0;
		hold_switch_for_packet = 1; vc_allocator = islip; sw_allocator = islip;
		alloc_iters = 1; credit_delay = 0; routing_delay = 0; vc_alloc_delay = 1;
		sw_alloc_delay = 1; st_final_delay = 1; st_prepare_delay = 0; speculative = 0;
		input_speedup = 1; output_speedup = 1; internal_speedup = 1.0; seed = 1;
		injection_rate_uses_flits = 1; injection_rate = $6;
		sim_type = $([[ $6 == 1.0 ]] && echo throughput || echo latency);
		sample_period = $(($7 / 6)); warmup_periods = 2; max_samples = 6; latency_thres = 1e9;
	END
	"$booksim" config >out 2>&1 || true # it is unstable at full load
	awk '/Packet latency average =/ { l = $5 }
		/Accepted flit rate average =/ { a = $6 }
		END { print a + 0, l + 0 }' out
}

# ours PATTERN LEVELS LOAD CYCLES: the same; what is in flight at the end is a finding.
ours() {
	local level traffic=

	for ((level = 0; level < $2; level++)); do
		traffic+="{pattern: $1, load: $3, bytes: 2022, level: $level}, "
	done
	"$dateline" emulate t --scenario - --json --threads 1 >result <<-END || true
		{mtu: 2048, buffer_blocks: 256, credit_blocks: 1, cable_m: 0, switch_ns: 62,
		 speedup: 1, warmup_ns: $(($4 * 16 / 6)), duration_ns: $(($4 * 16)),
		 drain_ns: 1000000, traffic: [$traffic]}
	END
	jq -r '([.qos[] | .latency_ns_mean * .delivered_packets] | add) as $sum |
		"\(.throughput_fraction * 2048 / 2022) \($sum / .delivered_packets / 16)"' result
}

printf '%-30s %-16s %10s %10s\n' '' '' BookSim emulator
grep -E "$only" <<-END | while read -r topology x y z channels pattern loads; do
	mesh 8 8 1 1 uniform 0.1 0.25
	mesh 8 8 1 2 uniform 0.1 0.25
	mesh 8 8 1 1 bitcomp 0.1
	mesh 4 4 4 1 uniform 0.1 0.3
	torus 8 8 1 2 uniform 0.1 0.4
	torus 8 8 1 4 uniform 0.1 0.4
	torus 8 8 1 2 tornado 0.1 0.2
	torus 8 8 1 2 neighbor 0.1 0.5
	torus 4 4 4 2 uniform 0.1 0.4
	torus 8 8 8 2 uniform 0.1
END
	n=$((z > 1 ? 3 : 2)) nodes=$((x * y * z)) options=(-q) levels=$((channels / 2))
	cycles=$((nodes > 500 ? 24000 : 60000))
	[[ $topology == mesh ]] && options+=(--mesh "$([[ $n == 3 ]] && echo xyz || echo xy)") &&
		levels=$channels
	"$dateline" gen "$x" "$y" "$z" "${options[@]}" --speed 4xQDR -o t
	"$dateline" route t.net --torus-config t.torus.conf --mode classic -q -o t
	here=${pattern/bitcomp/complement}
	for load in $loads 1.0; do
		echo "$topology ${x}x${y}x$z, $pattern, $channels" "$load" \
			"$(theirs "$topology" "$x" "$n" "$channels" "$pattern" "$load" "$cycles")" \
			"$(ours "${here/neighbor/neighbour}" "$levels" \
				"$(awk -v l="$load" -v n="$nodes" -v p="$pattern" -v q="$levels" 'BEGIN {
					print l / q * 2022 / 2048 * (p == "uniform" ? (n - 1) / n : 1) }')" \
				"$cycles")" |
			awk '{
				what = $5 == 1 ? "accepted" : "latency at " $5
				a = $5 == 1 ? $6 : $7; b = $5 == 1 ? $8 : $9
				printf "%-30s %-16s %10.4g %10.4g %+6.1f %%\n",
					$1 " " $2 " " $3 " " $4, what, a, b, 100 * (b / a - 1)
			}'
	done
done
