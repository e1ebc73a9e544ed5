#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench/booksim.bash SOURCES [DATELINE [REGEX]]
#
# The emulator beside BookSim 2, whose sources are given, on meshes and tori: mean
# latency at loads below saturation, in cycles, and what is accepted at full load, in
# flits a cycle and node.  REGEX chooses configurations.  Needs jq and what builds
# BookSim (g++, flex, bison); half an hour of a processor.
#
# What is set alike.  Packets have 32 flits of 64 bytes, a cycle is 16 ns, buffers hold
# 8 packets, a header takes 3 cycles a hop, credit none; packets hold the switch until their
# tail has passed; an input passes on one packet at a time, and chooses which one before
# outputs choose among inputs.
#
# Channels.  Both choose the channel of a ring when a packet enters it, by whether it
# will cross the dateline (BookSim's dim_order_torus, the VLs of torus-2QoS).  For more
# channels there are, here, two QoS levels with half of the traffic each.
#
# BookSim three times, in columns:
#   as it is   Uniform traffic goes to oneself, too.  Half way round a ring of even length
#              packets go either way at random.  Where it may choose among channels (all, between
#              adapters and switches), a packet takes a free one.
#   alike      None of this: half way round, packets go the way that does not cross the
#              dateline, and channels are those of their level (a copy's sources are changed).
#   together   The same, and a packet gets its channel when it gets the switch (an option).
#              Otherwise it may hold a channel, which nobody else can use, while its input
#              is sending another packet.
#
# SW_ALLOCATOR and PRIORITY in the environment choose other ones of BookSim's; with
# CHANNELS=any it takes a free channel in all columns.
set -euo pipefail

sources=$(realpath "$1")
dateline=$(realpath "${2:-build/dateline}")
only=${3:-.}
fixed=$([[ ${CHANNELS:-} == any ]] || echo 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

[[ -d $sources/src ]] && sources+=/src
cp -r "$sources" booksim
sed -i '/^int UniformRandomTrafficPattern::dest/,/^}/s/return .*;/return getenv("ALIKE") ? \
	(source + 1 + RandomInt(_nodes - 2)) % _nodes : RandomInt(_nodes - 1);/' booksim/traffic.cpp
sed -i '/^void dor_next_torus/,/^}/s/dist2 == 0 ) && ( RandomInt( 1 )/dist2 == 0 ) \&\& \
	( getenv("ALIKE") ? cur < dest : RandomInt( 1 )/
	/^void dim_order_mesh/,/^}/s/outputs->AddRange/if (*getenv("FIXED")) vcBegin = vcEnd = f->cl; &/
	/^void dim_order_torus/,/^}/s/outputs->AddRange/if (*getenv("FIXED")) vcBegin = vcEnd = \
	(inject || r->GetID() == f->dest ? 0 : f->ph * gNumVCs \/ 2) + f->cl; &/' booksim/routefunc.cpp
[[ $(grep -c getenv booksim/{traffic,routefunc}.cpp) == *traffic.cpp:1*routefunc.cpp:3 ]]
make -s -C booksim CXX='g++ -w -include cstdlib' >built 2>&1 || { cat built >&2; exit 1; }

# theirs CLASSES TOPOLOGY K N CHANNELS PATTERN LOAD CYCLES [ALLOCATOR]: accepted, and latency.
theirs() {
	local classes=$1

	shift
	cat >config <<-END
		topology = $1; k = $2; n = $3; num_vcs = $4; traffic = $5;
		routing_function = dim_order; use_noc_latency = 0; classes = $classes;
		vc_buf_size = 256; packet_size = 32; wait_for_tail_credit = 0;
		hold_switch_for_packet = 1; vc_allocator = ${8:-islip}; speculative = 1;
		sw_allocator = ${SW_ALLOCATOR:-separable_input_first}; credit_delay = 0; routing_delay = 0;
		priority = ${PRIORITY:-none}; vc_alloc_delay = 1; sw_alloc_delay = 1; st_final_delay = 1;
		st_prepare_delay = 0;
		input_speedup = 1; output_speedup = 1; internal_speedup = 1.0; seed = $seed;
		injection_rate_uses_flits = 1; injection_rate = $(awk "BEGIN { printf \"%f\", $6 / $classes }");
		sim_type = $([[ $6 == 1.0 ]] && echo throughput || echo latency);
		sample_period = $(($7 / 6)); warmup_periods = 2; max_samples = 6; latency_thres = 1e9;
	END
	FIXED=${ALIKE:+$fixed} booksim/booksim config >out 2>&1 || true # it is unstable at full load
	awk '/Traffic class/ { c = $4 + 0 }
		/Packet latency average =/ { latency[c] = $5 }
		/Accepted flit rate average =/ { accepted[c] = $6 }
		END {
			for (c in accepted) { a += accepted[c]; l += latency[c]; n++ }
			print a + 0, n ? l / n : 0
		}' out
}

# ours PATTERN LEVELS LOAD CYCLES: the same; what is in flight at the end is a finding.
ours() {
	local level traffic=

	for ((level = 0; level < $2; level++)); do
		traffic+="{pattern: $1, load: $3, bytes: 2022, level: $level}, "
	done
	"$dateline" emulate t --scenario - --json --threads 1 >result <<-END || true
		{mtu: 2048, buffer_blocks: 256, credit_blocks: 1, cable_m: 0, switch_ns: 46,
		 speedup: 1, warmup_ns: $(($4 * 16 / 3)), duration_ns: $(($4 * 16)),
		 drain_ns: 1000000, seed: $seed, traffic: [$traffic]}
	END
	jq -r '([.qos[] | .latency_ns_mean * .delivered_packets] | add) as $sum |
		"\(.throughput_fraction * 2048 / 2022) \($sum / .delivered_packets / 16)"' result
}

# mean COMMAND...: of both numbers, over seeds.
mean() {
	local seed

	for seed in $seeds; do
		"$@"
	done | awk '{ a += $1; l += $2 } END { print a / NR, l / NR }'
}

printf '%-30s %-16s %10s %10s %10s %10s\n' '' '' 'as it is' alike together emulator
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
	cycles=16000 seeds='1 2 3'
	((nodes < 500)) || cycles=12000 seeds=1
	[[ $topology == mesh ]] && options+=(--mesh "$([[ $n == 3 ]] && echo xyz || echo xy)") &&
		levels=$channels
	"$dateline" gen "$x" "$y" "$z" "${options[@]}" --speed 4xQDR -o t
	"$dateline" route t.net --torus-config t.torus.conf --mode classic -q -o t
	here=${pattern/bitcomp/complement}
	for load in $loads 1.0; do
		given=("$topology" "$x" "$n" "$channels" "$pattern" "$load" "$cycles")
		echo "$topology ${x}x${y}x$z, $pattern, $channels" "$load" \
			"$(mean theirs 1 "${given[@]}")" "$(ALIKE=1 mean theirs "$levels" "${given[@]}")" \
			"$(ALIKE=1 mean theirs "$levels" "${given[@]}" piggyback)" \
			"$(mean ours "${here/neighbor/neighbour}" "$levels" \
				"$(awk -v l="$load" -v q="$levels" 'BEGIN { print l / q * 2022 / 2048 }')" \
				"$cycles")" |
			awk '{
				what = $5 == 1 ? "accepted" : "latency at " $5
				for (i = 0; i < 4; i++)
					v[i] = $(6 + 2 * i + ($5 != 1))
				printf "%-30s %-16s %10.4g %10.4g %10.4g %10.4g %+6.1f %%\n", $1 " " $2 " " $3 " " $4,
					what, v[0], v[1], v[2], v[3], 100 * (v[3] / v[2] - 1)
			}'
	done
done
