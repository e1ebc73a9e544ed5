#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/booksim.bash BOOKSIM [DATELINE]
#
# The emulator beside BookSim 2, whose program is given, on meshes, where both route
# alike over one virtual channel, under uniform traffic: what is accepted at full load, in
# flits a cycle and node, and mean latency below, in cycles.  Needs jq; ten minutes of a processor.
#
# What is set alike.  Packets have 32 flits of 64 bytes, a cycle is 16 ns, buffers hold
# 8 packets, a header takes 4 cycles a hop, credit none; packets hold the switch until their
# tail has passed; an input passes on one packet at a time.  There traffic goes to oneself,
# too: here the load is (n - 1) / n as much.
set -euo pipefail

booksim=$(realpath "$1")
dateline=$(realpath "${2:-build/dateline}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# theirs K N LOAD: accepted, and latency.
theirs() {
	cat >config <<-END
		topology = mesh; k = $1; n = $2; routing_function = dim_order; traffic = uniform;
		num_vcs = 1; vc_buf_size = 256; packet_size = 32; wait_for_tail_credit = 0;
		hold_switch_for_packet = 1; vc_allocator = islip; sw_allocator = islip;
		alloc_iters = 1; credit_delay = 0; routing_delay = 0; vc_alloc_delay = 1;
		sw_alloc_delay = 1; st_final_delay = 1; st_prepare_delay = 0; speculative = 0;
		input_speedup = 1; output_speedup = 1; internal_speedup = 1.0; seed = 1;
		injection_rate_uses_flits = 1; injection_rate = $3;
		sim_type = $([[ $3 == 1 ]] && echo throughput || echo latency);
		sample_period = 10000; warmup_periods = 2; max_samples = 6; latency_thres = 1e9;
	END
	"$booksim" config >out 2>&1 || true # it is unstable at full load
	awk '/Packet latency average =/ { l = $5 }
		/Accepted flit rate average =/ { a = $6 }
		END { print a, l }' out
}

# ours LOAD: the same; what is in flight at the end is a finding.
ours() {
	"$dateline" emulate m --scenario - --json --threads 1 >result <<-END || true
		{mtu: 2048, buffer_blocks: 256, credit_blocks: 1, cable_m: 0, switch_ns: 62,
		 speedup: 1, warmup_ns: 160000, duration_ns: 960000, drain_ns: 1000000,
		 traffic: [{pattern: uniform, load: $1, bytes: 2022}]}
	END
	jq -r '"\(.throughput_fraction * 2048 / 2022) \(.qos[0].latency_ns_mean / 16)"' result
}

printf '%-36s %10s %10s\n' '' BookSim emulator
while read -r x y z k n load; do
	"$dateline" gen "$x" "$y" "$z" --mesh "$([[ $n == 3 ]] && echo xyz || echo xy)" \
		--speed 4xQDR -q -o m
	"$dateline" route m.net --torus-config m.torus.conf --mode classic -q -o m
	here=$(awk -v l="$load" -v n=$((x * y * z)) 'BEGIN {
		print l * 2022 / 2048 * (n - 1) / n }')
	echo "$x $y $z $load $(theirs "$k" "$n" "$load") $(ours "$here")"
done <<-END | awk '{
		what = $4 == 1 ? "accepted" : "latency at " $4
		a = $4 == 1 ? $5 : $6; b = $4 == 1 ? $7 : $8
		printf "%-36s %10.4g %10.4g %+6.1f %%\n", $1 "x" $2 "x" $3 ", " what, a, b,
			100 * (b / a - 1)
	}'
	8 8 1 8 2 0.1
	8 8 1 8 2 0.25
	8 8 1 8 2 1
	4 4 4 4 3 0.3
	4 4 4 4 3 1
END
