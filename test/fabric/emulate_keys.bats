#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What single keys of an emulation's scenario do.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

bats_require_minimum_version 1.5.0
load lib.bash

setup() {
	fabric_init
	dateline gen 4 3 1 -q -o "$T/f"
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -q -o "$T/f"
}

# value FILTER [LINE...]: what jq finds in the result of these lines of a scenario.
value() {
	local filter=$1 status=0

	shift
	printf '%s\n' "$@" >"$T/scenario.yaml"
	dateline emulate "$T/f" --scenario "$T/scenario.yaml" --json >"$T/result" || status=$?
	((status < 2)) && jq "$filter" "$T/result"
}

# holds A OP B: of numbers that need not be whole.
holds() {
	jq -en "$*" >/dev/null || {
		say "$*"
		false
	}
}

# Two SLs of one adapter to one other, over one VL.
both=('traffic:'
	'  - {pattern: shift, by: 1, load: 1, sl: 1, sources: [0]}'
	'  - {pattern: shift, by: 1, load: 1, sl: 0, sources: [0]}')
share='.qos[0].by_sl | .[0].delivered_bytes / .[1].delivered_bytes'

@test "sl, sl_table: shares and latency are those of the table" {
	local one two

	one=$(value "$share" "${both[@]}")
	holds "$one > .99 and $one < 1.01"
	one=$(value "$share" 'sl_table: [[1, 4096], [0, 12288]]' "${both[@]}")
	holds "$one > 2.95 and $one < 3.05"
	# Over two VLs, which weigh the same, too.
	one=$(value '.qos | .[0].delivered_bytes / .[1].delivered_bytes' \
		'sl_table: [[8, 4096], [0, 12288]]' 'duration_ns: 400000' "${both[0]}" "${both[2]}" \
		'  - {pattern: shift, by: 1, load: 1, sl: 8, level: 1, sources: [0]}')
	holds "$one > 2.95 and $one < 3.05"
	# The choice waits until the link is free, also where messages come in the meantime.
	one=$(value '.qos | .[0].delivered_bytes / .[1].delivered_bytes' \
		'sl_table: [[8, 4096], [0, 12288]]' "${both[0]}" "${both[2]/load: 1/window: 4}" \
		'  - {pattern: shift, by: 1, window: 4, sl: 8, level: 1, sources: [0]}')
	holds "$one > 2.9 and $one < 3.1"
	# One SL lacks credit, and the others, on another VL, share what it leaves.
	one=$(value '.qos[1].by_sl | .[0].delivered_bytes / .[1].delivered_bytes' \
		'sl_table: [[0, 4096], [8, 4096], [9, 4096]]' "${both[0]}" "${both[2]}" \
		'  - {pattern: shift, by: 2, load: 1, sl: 8, level: 1, sources: [0]}' \
		'  - {pattern: shift, by: 2, load: 1, sl: 9, level: 1, sources: [0]}' 'faults:' \
		'  - {at_ns: 0, fault: slow_receiver, node: H_1_0_0_1, share: 0.1}')
	holds "$one > .97 and $one < 1.03"
	# In every other entry, an SL waits for one packet of another.
	both+=('  - {pattern: shift, by: 1, load: 0.5, sl: 2, sources: [0]}'
		'  - {pattern: shift, by: 1, load: 0.01, bytes: 64, sl: 3, sources: [0]}')
	one=$(value '.qos[0].by_sl[3].latency_ns_max' "${both[@]}" \
		'sl_table: [[3, 64], [0, 2048], [3, 64], [1, 2048], [3, 64], [2, 2048]]')
	two=$(value '.qos[0].by_sl[3].latency_ns_max' "${both[@]}" \
		'sl_table: [[3, 64], [0, 8192], [1, 8192], [2, 8192]]')
	holds "$two - $one > 1000"
	# No entry: it is not sent, and a warning says so.
	one=$(value '.qos[0].sl' 'sl_table: [[0, 64]]' "${both[@]}" | jq -c)
	[[ $one == '[0]' ]]
	jq -e '.warnings | any(contains("SL 1 has messages"))' "$T/result"
}

@test "tenure_bytes: a queue pair keeps its turn while it has messages, short ones, too" {
	local one two all=('sl_table: even' 'qp_change_ns: 200' "${both[@]/sl: 1/sl: 0}")

	one=$(value .throughput_fraction 'tenure_bytes: 2048' "${all[@]}")
	two=$(value .throughput_fraction 'tenure_bytes: 16384' "${all[@]}")
	# 166 ns a packet, and 200 ns for a change after each, or after every eighth.
	holds "$two / $one | . > 1.8 and . < 2.1"
}

@test "sl_table_at: switches have a table at each output" {
	local one far=('traffic:'
		'  - {pattern: incast, targets: [0], load: 1, sl: 1, sources: [3]}'
		'  - {pattern: incast, targets: [0], load: 1, sl: 0, sources: [4]}')

	one=$(value "$share" 'sl_table: [[1, 4096], [0, 12288]]' "${far[@]}")
	holds "$one > .97 and $one < 1.03"
	one=$(value "$share" 'duration_ns: 1000000' 'sl_table: [[1, 4096], [0, 12288]]' \
		'sl_table_at: switches' "${far[@]}")
	holds "$one > 2.9 and $one < 3.1"
}

@test "low_turn, bad_entry, unlisted_vl: VL arbitration as dateline-arbitrate has it" {
	local one two=('traffic:'
		'  - {pattern: shift, by: 1, load: 1, sources: [0]}'
		'  - {pattern: shift, by: 1, load: 1, level: 1, sources: [0]}')
	local part='.qos | .[0].delivered_bytes / .[1].delivered_bytes'

	# Some packets of VL 0 at high priority, then the turn of VL 1, VL 4 between switches: one packet, or four.
	sed -i 's/ limit .* low .*/ limit 1 high 0:64 low 1:128,4:128/' "$T/f/dateline-vlarb.dump"
	rm "$T/f/dateline-manifest.txt"
	one=$(value "$part" 'duration_ns: 400000' "${two[@]}")
	holds "$one > 1.9 and $one < 3.1"
	holds "$(value "$part" 'duration_ns: 400000' 'low_turn: weight' "${two[@]}") < .4 * $one"
	# A port that had nothing to send may send as much at high priority as at the start.
	sed -i 's/ limit .* low .*/ limit 1 high 0:255 low 1:64,4:64/' "$T/f/dateline-vlarb.dump"
	printf '%s\n' '0 0 1 2048 0' '10000 0 1 6144 0' '10000 0 1 2048 1' >"$T/burst.txt"
	value 0 'record: steps.csv' 'traffic: [{pattern: trace, file: burst.txt}]'
	[[ $(awk -F, '/,sent,.*,0x00d20000000001/ { printf "%d", $6 }' "$T/steps.csv") == 00010 ]]
	# The entry is for VL 15; VL 1 and 4 are in no table.
	sed -i 's/ high .*/ high 0:64 low 15:64/' "$T/f/dateline-vlarb.dump"
	two=("${two[@]/load: 1/load: 0.4}")
	[[ $(value '.in_flight > 0 and .qos[1].delivered_packets == 0' "${two[@]}") == true ]]
	[[ $(value '.in_flight == 0' 'bad_entry: any' "${two[@]}") == true ]]
	[[ $(value '.in_flight == 0' 'unlisted_vl: idle' "${two[@]}") == true ]]
	[[ $(value '.drops.unlisted > 0 and .in_flight == 0' 'unlisted_vl: drop' "${two[@]}") == true ]]
	# A table may be longer than the eight entries that ibsim's ports hold.
	sed -i 's/ high .*/ high 0:0 low 0:1,1:1,2:1,3:1,5:1,6:1,7:1,0:1,1:1,4:1/' \
		"$T/f/dateline-vlarb.dump"
	[[ $(value '.in_flight == 0 and .starved == []' "${two[@]}") == true ]]
	dateline verify "$T/f" -q
	rm "$T/f/dateline-vlarb.dump"
	[[ $(value '.warnings | any(contains("weigh the same"))' "${two[@]}") == true ]]
	[[ $(value '.warnings | any(contains("powered up"))' 'unprogrammed: power_up' "${two[@]}") == true ]]
}

@test "switching: cut-through needs room for the whole packet, wormhole for a part" {
	local all=('buffer_blocks: 40' 'record: steps.csv' 'duration_ns: 2000' 'traffic:'
		'  - {pattern: incast, targets: [2], sources: [0, 1], load: 1}')

	# A packet has 33 blocks, so there is room for one.
	value 0 "${all[@]}"
	awk -F, '$2 == "sent" { n++; bad += $11 != 7 } END { exit !(n > 10) || bad }' "$T/steps.csv"
	# In wormhole switching heads leave with credit for less.
	value 0 'switching: wormhole' "${all[@]}"
	awk -F, '$2 == "sent" && $11 < 32 { n++ } END { exit !(n > 3) }' "$T/steps.csv"
}

@test "management: before data, without credit, dropped when there is no room" {
	local one two all=('traffic:' '  - {pattern: incast, targets: [0], load: 0.2}')

	one=$(value '.management.latency_ns_mean' "${all[@]}" \
		'  - {pattern: shift, by: 1, load: 0.01, management: true}')
	two=$(jq '.qos[0].latency_ns_mean' "$T/result")
	holds "$one < 1500 and $two > 10000"
	jq -e '.ports | any(.vl["15"].packets > 0)' "$T/result"
	[[ $(value '.drops.smp_full > 0 and ([.ports[].vl15_dropped] | add) == .drops.smp_full' \
		'management_packets: 1' 'traffic:' \
		'  - {pattern: incast, targets: [0], load: 0.2, management: true}') == true ]]
}

@test "link_down: a link that comes back is initialised with Op 1" {
	local all=('traffic:' '  - {pattern: shift, by: 1, load: 0.3}' 'faults:')
	local fault='  - {at_ns: 10000, fault: link_down, node: S_1_1_0, port: 1'

	[[ $(value '.flow_control.initialise' "${all[@]}" "$fault}") == 0 ]]
	# 8 data VLs, at both ends.
	[[ $(value '.flow_control.initialise' "${all[@]}" "$fault, for_ns: 5000}") == 16 ]]
}

@test "damage: credit leaks until the next flow-control packet" {
	local one two all=('buffer_blocks: 33' 'traffic:'
		'  - {pattern: shift, by: 1, load: 0.3, sources: [0]}')
	local fault='  - {at_ns: 1000, fault: damage, node: H_0_0_0_1, port: 1, share: '

	one=$(value .throughput_fraction "${all[@]}")
	two=$(value .throughput_fraction "${all[@]}" faults: "${fault}0.1}")
	# One packet of buffer: each one lost stops the link up to 65,536 symbols (5.2 us at 100 Gbit/s).
	holds "$two < .6 * $one"
	[[ $(jq '.drops.corrupt == ([.ports[].rcv_errors] | add) and .drops.corrupt > 1' "$T/result") == true ]]
}

@test "slow_receiver: its share of the link's rate, and no more" {
	local one=('duration_ns: 400000' 'traffic:' '  - {pattern: shift, by: 1, window: 8, sources: [0]}')
	local fault='  - {at_ns: 0, fault: slow_receiver, node: H_1_0_0_1, share: 0.25'

	holds "$(value '12 * .throughput_fraction' "${one[@]}" faults: "$fault}") < .25"
	holds "$(value '12 * .throughput_fraction' "${one[@]}" faults: "$fault}") > .24"
	holds "$(value '12 * .throughput_fraction' "${one[@]}" faults: "$fault, for_ns: 200000}") > .5"
}

@test "cables, credit_blocks, chunk_blocks: what a long cable carries" {
	local one two all=('duration_ns: 400000' 'buffer_blocks: 264'
		'cables: [{node: H_0_0_0_1, port: 1, length_m: 1000.5}]'
		'traffic:' '  - {pattern: shift, by: 1, load: 1, bytes: 2048, sources: [0]}')

	# Eight packets a round trip: two cables, packet, flow-control packet, switch, header.
	one=$(value '12 * .throughput_fraction' "${all[@]}")
	two=$(jq -n '8 * 2048 * 8 / (10005 + 2074 * .08 + .64 + 100 + .64) / 100')
	holds "$one > .99 * $two and $one < 1.01 * $two"
	one=$(value '12 * .throughput_fraction' 'credit_blocks: 264' "${all[@]}")
	holds "$one < .95 * $two"
	one=$(value '12 * .throughput_fraction' 'chunk_blocks: 2' "${all[@]}")
	holds "$one < .6 * $two"
	holds "$(value '.qos[0].latency_ns_max' "${all[@]/1000.5/10.5}") < $(value \
		'.qos[0].latency_ns_max' "${all[@]}")"
}

# swept RANGE [LINE...]: a sweep of these lines of a scenario.
swept() {
	local range=$1 status=0

	shift
	printf '%s\n' "$@" >"$T/scenario.yaml"
	dateline emulate "$T/f" --scenario "$T/scenario.yaml" --sweep "load=$range" --json \
		>"$T/result" || status=$?
	((status < 2))
}

@test "saturation: the fabric's, whatever the loads of the sweep" {
	local range uniform=('duration_ns: 100000' 'traffic:' '  - {pattern: uniform, load: 0.3}')

	for range in 0.1:1:0.3 .5:.5:1 0.3333333:0.7:0.2; do
		swept "$range" "${uniform[@]}"
		jq -c '[.zero_load_ns, .saturation]' "$T/result"
	done | sort -u >"$T/found"
	[[ $(wc -l <"$T/found") == 1 ]]
	jq -e '.saturation | .load > .5 and .load < .95 and .accepted > .5 and .accepted <= .bound' \
		"$T/result"
	# It saturates there: not below.
	range=$(jq '.saturation.load' "$T/result")
	swept "$(jq -n "$range * .98"):$(jq -n "$range * 1.02"):$(jq -n "$range * .039")" \
		"${uniform[@]/100000/400000}"
	jq -e '(3 * .zero_load_ns) as $limit | .sweep | .[0].latency_ns_mean < $limit and
		(.[1].latency_ns_mean > $limit or
		.[1].throughput_fraction < .95 * .[1].offered_fraction)' "$T/result"
	jq -e '.warnings == []' "$T/result"
	# Nor does it matter how long the runs are, or of which seed; one that is too short is named.
	for range in 5000 50000 200000 300000; do
		swept .5:.5:1 "${uniform[@]/100000/$range}" "seed: $range"
		jq -c '.saturation | [.load, .accepted, .load_error / .load]' "$T/result"
	done >"$T/found"
	jq -es 'map(.[0]) | max / min < 1.01' "$T/found"
	jq -es 'map(.[1]) | max / min < 1.02' "$T/found"
	jq -es 'all(.[2] > .0005 and .[2] < .01)' "$T/found"
	swept .5:.5:1 "${uniform[@]/100000/5000}"
	jq -e '.warnings | length == 1 and (.[0] | contains("duration_ns"))' "$T/result"
	# The tornado goes 1 of 2 links round one way of rings of 4: no link but the adapters' is shared.
	swept 1:1:1 'traffic:' '  - {pattern: tornado, load: 0.3}'
	holds "$(jq .saturation.bound "$T/result") == 1"
	# Three adapters to one.
	swept 1:1:1 'traffic:' '  - {pattern: incast, targets: [0], sources: [1, 2, 3], load: 0.3}'
	holds "$(jq '.saturation.bound * 12' "$T/result") | . > .999 and . < 1.001"
	holds "$(jq '.saturation.load * 3' "$T/result") | . > .6 and . < 1"
	# Where shares are not known there is no bound, and the latency is measured.
	swept 1:1:1 'traffic:' '  - {pattern: uniform, load: 0.3}' \
		'  - {pattern: shift, by: 1, window: 1, sources: [0], count: 1}'
	jq -e '.saturation.bound == null and .zero_load_ns > 300' "$T/result"
}

@test "latency_ns_error: the mean of a long run is within it, near saturation, too" {
	local mean seed

	mean=$(value '.qos[0].latency_ns_mean' 'duration_ns: 20000000' 'warmup_ns: 1000000' \
		'traffic: [{pattern: uniform, load: 0.72}]')
	for seed in {1..12}; do
		swept .72:.72:1 'duration_ns: 100000' "seed: $seed" \
			'traffic: [{pattern: uniform, load: 0.3}]'
		jq -c '.sweep[0] | [.latency_ns_mean, .latency_ns_error]' "$T/result"
	done >"$T/found"
	# 95 per cent of 12, and no more than a part of the mean.
	jq -es "map(select((.[0] - $mean | fabs) <= .[1])) | length >= 11" "$T/found"
	jq -es "map(.[1]) | add / length < .3 * $mean" "$T/found"
}

@test "zero_load_ns: what packets take that meet no others" {
	local how want got

	for how in 'switching: store_and_forward' 'switching: wormhole' 'cable_m: 30' 'mtu: 512' \
		'cables: [{node: S_0_0_0, port: 1, length_m: 500}]'; do
		swept 1:1:1 "$how" duration_ns:\ 1000 'traffic:' \
			'  - {pattern: shift, by: 1, load: 0.3, bytes: [[2048, 1]]}'
		want=$(jq .zero_load_ns "$T/result")
		# One message of each adapter, to its neighbour; two of them cross others.
		got=$(value '[.qos[0].latency_ns_mean, .in_flight]' "$how" 'duration_ns: 9000000' \
			'traffic:' '  - {pattern: shift, by: 1, load: 0.0003, count: 1, bytes: 2048}' |
			jq '.[0]')
		say "$how: $want $got"
		holds "$want / $got | . > .99 and . < 1.01"
	done
}

@test "results name scenario, seed and snapshot; sweeps are tables in CSV" {
	local file=$T/scenario.yaml

	printf '%s\n' 'seed: 7' 'traffic:' '  - {pattern: uniform, load: 0.3}' >"$file"
	dateline emulate "$T/f" --scenario "$file" --json >"$T/result"
	jq -e --arg file "$file" '.scenario == $file and .seed == 7 and
		(.snapshot | test("^0x[0-9a-f]{16}$"))' "$T/result"
	dateline emulate "$T/f" --scenario "$file" --seed 9 --sweep load=0.1:0.2:0.1 --csv >"$T/csv"
	[[ $(wc -l <"$T/csv") == 3 ]]
	awk -F, 'NR == 1 { n = NF; for (i = 1; i <= n; i++) at[$i] = i }
		NF != n { exit 1 }
		NR > 1 && ($at["seed"] != 9 || $at["snapshot"] !~ /^0x/) { exit 1 }' "$T/csv"
	run -2 dateline emulate "$T/f" --scenario "$file" --csv
}

@test "lifetime_ns: no packet stays longer in a switch, and those that would are counted" {
	local all=('duration_ns: 1000000' 'traffic: [{pattern: incast, targets: [0], load: 1}]')

	[[ $(value '.drops.lifetime' "${all[@]}") == null ]]
	[[ $(value '.drops.lifetime > 0' 'lifetime_ns: 10000' "${all[@]}") == true ]]
	jq -e '.dropped_packets == .drops.lifetime and .delivered_packets > 0' "$T/result"
}
