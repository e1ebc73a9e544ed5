#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# `dateline snapshot --congestion`: what OpenSM has written into switches and adapters is
# read back (smps.c answers for them, as ibsim does not know that class), and the emulator
# takes it for OpenSM's own options.

# shellcheck disable=SC2154 # T: lib.bash

load lib.bash

bats_require_minimum_version 1.5.0

# net_of_torus: prints the name of a netlist with 16 switches and an adapter at each.
net_of_torus() {
	dateline gen 4 4 1 --hosts 1 -o net -q
	echo net.net
}

# congested KEY=VALUE...: what OpenSM sets in that fabric, whose CC_Key is 0x1234.
congested() {
	mkdir -p cc
	export SMPS_CC=$T/cc
	echo 0x1234 >cc/key
	fabric_up osm dateline "$(net_of_torus)" "torus_config=$T/net.torus.conf" cc_key=0x1234 \
		"$@"
}

# settings: lines that set all that the emulator uses; the table has two blocks.
settings() {
	awk 'BEGIN {
		print "congestion_control TRUE"
		print "cc_sw_cong_setting_threshold 0x0E"
		print "cc_sw_cong_setting_victim_mask 0x" all()
		print "cc_sw_cong_setting_marking_rate 515"
		for (sl = 0; sl < 16; sl++) {
			print "cc_ca_cong_setting_ccti_timer", sl, 300
			print "cc_ca_cong_setting_ccti_increase", sl, 2
		}
		printf "cc_cct 0:0"
		for (i = 1; i < 90; i++)
			printf ",%d:%d", i % 4, i * 150
		print ""
	}
	function all(  mask) {
		mask = sprintf("%63s", "") "E"
		gsub(" ", "F", mask)
		return mask
	}'
}

# asked FILE OPTION...: what the devices have, read into FILE; the status is $status.
asked() {
	local file=$1

	shift
	status=0
	sim dateline snapshot --live --paths none --retries 1 -o now.dls --congestion "$file" \
		--cc-key 0x1234 "$@" 2>err || status=$?
	cat err >&2
}

# lid NAME: of a switch or adapter in the export "now".
lid() {
	end_ports now | awk -v name="$1" '$5 == name { print $4 }'
}

# put NAME ATTRIBUTE BYTE HEX: a device holds something else from that byte on.
put() {
	local file held

	file=cc/$(lid "$1").$2.0
	held=$(<"$file")
	printf '%s%s%s\n' "${held:0:2*$3}" "$4" "${held:2*$3+${#4}}" >"$file"
}

@test "what OpenSM has set is read back, and emulated as its options are" {
	local -a set
	local file

	mapfile -t set < <(settings | sed 's/ /=/')
	congested cc_sw_cong_setting_control_map=0x1F cc_ca_cong_setting_control_map=0xFFFF \
		"${set[@]}"
	asked live.conf
	((status == 0))
	diff <(settings) <(grep -v '^#' live.conf)
	grep -q 'congestion control: on in 16 of 16 switches and 16 of 16 adapter ports' err
	for file in osm/opensm.conf live.conf; do
		cat >"$file.yaml" <<-END
			duration_ns: 200000
			traffic: [{pattern: hotspot, targets: [0], fraction: 0.5, load: 0.4}]
			congestion: {opensm_conf: $(basename "$file")}
		END
		dateline emulate now.dls --json --scenario "$file.yaml" >"$file.json"
		jq 'del(.scenario, .cpu_seconds)' "$file.json" >"$file.result"
	done
	jq -e '.marked_packets > 0' live.conf.json
	diff osm/opensm.conf.result live.conf.result
}

@test "devices that differ, refuse, are silent or have none" {
	local -a set

	mapfile -t set < <(settings | sed 's/ /=/')
	congested cc_sw_cong_setting_control_map=0x1F cc_ca_cong_setting_control_map=0xFFFF \
		"${set[@]}"
	asked live.conf
	dateline snapshot now.dls -q -o now
	put S_1_0_0 14 68 9
	put S_2_0_0 14 68 A
	put S_3_0_0 14 74 0001
	put H_1_0_0_1 16 12 0001
	put H_2_0_0_1 17 6 C001
	put H_3_0_0_1 17 0 00FF
	echo 0x1c >"cc/$(lid S_0_1_0).status"
	echo 0x0c >"cc/$(lid H_0_1_0_1).status"
	echo -1 >"cc/$(lid H_0_2_0_1).status"
	asked differ.conf
	((status == 1))
	diff <(grep -v '^#' live.conf) <(grep -v '^#' differ.conf)
	# What is said stands in the file, too.
	diff - <(sed -n 's/^# //p' differ.conf) <<-END
		not supported: 1 of 16 adapter ports, such as "H_0_1_0_1" (status 0x000c)
		refused: 1 of 16 switches, such as "S_0_1_0" (status 0x001c)
		no answer (not supported, or another CC_Key): 1 of 16 adapter ports, such as "H_0_2_0_1"
		CCTI_Timer or CCTI_Increase not the same for all SLs: 1 of 16 adapter ports, such as "H_1_0_0_1"
		a table of more than 128 entries (the first 128 count): 1 of 16 adapter ports, such as "H_3_0_0_1"
		another threshold than most: 2 of 16 switches, such as "S_1_0_0"
		another marking rate than most: 1 of 16 switches, such as "S_3_0_0"
		another table than most: 2 of 16 adapter ports, such as "H_3_0_0_1"
		on in 15 of 16 switches and 14 of 16 adapter ports
		Not read: single ports of switches, Packet_Size, credit starvation, CCTI_Min.
	END
	grep -q 'warning: congestion control: another threshold than most: 2 of 16 sw' err
}

@test "nothing is set, as the simulator itself answers" {
	fabric_up osm minhop "$(net_of_torus)"
	asked off.conf
	((status == 0))
	grep -q 'congestion control: off: on in 0 of 16 switches and 0 of 16 adapter ports' err
	grep -q '^congestion_control FALSE$' off.conf
}

@test "no device has that key" {
	congested
	echo 0x4321 >cc/key
	echo old >none.conf
	asked none.conf
	((status == 1))
	grep -q 'warning: congestion control: no device has answered: taken to be off' err
	diff - <(grep -v '^#' none.conf) <<<'congestion_control FALSE'
	# What cannot be written is found out before the fabric is read, and a snapshot has none.
	asked no/such.conf
	((status == 3))
	run -2 dateline snapshot now.dls --congestion none.conf -o now
}
