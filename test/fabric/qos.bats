#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Quality of service on live fabrics: ports with few data VLs, as the built-in
# engine uses them, and the opensm.conf that `dateline route` writes.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

bats_require_minimum_version 1.5.0

load lib.bash

setup() {
	fabric_init
	dateline gen 5 4 3 -q -o "$T/f"
}

# with_vls OPERATIONAL-VLS COUNT: both engines where no port has more; OpenSM's
# number for them is PortInfo's.
with_vls() {
	local engine

	for engine in torus-2QoS dateline; do
		fabric_up "$T/$engine" "$engine" "$T/f.net" \
			torus_config="$T/f.torus.conf" max_op_vls="$1" \
			"event_plugin_options=mode=classic dump_dir=$T/snap"
		[[ $engine == torus-2QoS ]] || {
			wait_log "at least $2 data VLs between switches and $2 on"
			wait_for "$DL_PATIENCE" test -e "$T/snap/dateline.dls"
		}
		fabric_down
	done
	same "forwarding tables" <(lfts "$T/torus-2QoS") <(lfts "$T/dateline")
	same "SL to VL" <(sl2vl "$T/torus-2QoS") <(sl2vl "$T/dateline")
	dateline verify "$T/snap" -q
	awk -v n="$2" '/^[0-9]/ && NF > 16 {
			for (i = NF - 15; i <= NF; i++)
				if ($i >= n) bad++
		}
		END { exit bad > 0 }' "$T/dateline/opensm-sl2vl.dump"
}

@test "two data VLs" {
	with_vls 2 2
}

@test "four data VLs" {
	with_vls 3 4
}

@test "eight data VLs" {
	with_vls 4 8
}

# The warnings of either engine.
warnings() {
	grep -i 'warn' "$SM_DIR/osm.log"
}

# start ENGINE: with what dateline route wrote, that engine in its place, and
# what the test needs.
start() {
	local dir=$T/$1

	mkdir -p "$dir/cache"
	sed "s/^routing_engine dateline/routing_engine $1/" \
		"$T/out/dateline-opensm.conf" >"$dir/opensm.conf"
	cat >>"$dir/opensm.conf" <<-END
	torus_config $T/f.torus.conf
	force_log_flush TRUE
	log_file $dir/osm.log
	daemon FALSE
	END
	sim_start "$T/f.net"
	sm_start "$dir"
	wait_log "osm_ucast_mgr_process: (${1/dateline/dateline|unknown}) tables configured"
	wait_log 'SUBNET UP'
	! grep -iE 'error|invalid|unrecog' "$dir/osm.out" || return
}

@test "the opensm.conf of dateline route draws no warning from either engine" {
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -q -o "$T/out"
	start torus-2QoS
	warnings && return 1
	fabric_down
	start dateline
	warnings && return 1
	cables "$SM_DIR" | awk '$1 == "SW" { print $3, $4 }' | some 12 |
		arbitration >"$T/with"
	cut -d ' ' -f 1,2 "$T/with" | uniq >"$T/ports"
	fabric_down
	# Set there or not, the tables are the same.
	fabric_up "$T/plain" dateline "$T/f.net" torus_config="$T/f.torus.conf"
	same "VL arbitration" "$T/with" <(arbitration <"$T/ports")
	fabric_down
	# They would have had something to say.
	sed -i 's/^qos_swe_vlarb_high .*/qos_swe_vlarb_high 0:4,1:9/' \
		"$T/out/dateline-opensm.conf"
	for engine in torus-2QoS dateline; do
		start "$engine"
		warnings | grep -q qos_swe_vlarb_high
		fabric_down
	done
}

@test "VL arbitration that would starve VLs: named, and mended by the engine" {
	local engine four=0:64,1:64,2:64,3:64

	for engine in torus-2QoS dateline; do
		fabric_up "$T/$engine" "$engine" "$T/f.net" torus_config="$T/f.torus.conf" \
			qos_vlarb_high="$four" qos_vlarb_low="$four"
		[[ $engine == torus-2QoS ]] || wait_log 'ERR DL35: .*starve VL 1, 4, 5, 6, 7 on'
		snapshot "$T/live.$engine"
		fabric_down
	done
	# The peer programs what it is told.
	[[ $(verdict "$T/live.torus-2QoS" 'starved | map(.vl) | unique') == "[1,4,5]" ]]
	(status=0; dateline verify "$T/live.torus-2QoS" >/dev/null || status=$?
		((status == 1)))
	[[ $(verdict "$T/live.dateline" starved) == "[]" ]]
}

# compared_to_live: the VL arbitration tables and limits of $T/off that are not the fabric's.
compared_to_live() {
	dateline diff "$T/live" "$T/off" --json >"$T/diff.json" || (($? == 1))
	jq -c '[.vl_arbitration, .vl_high_limits] | map(.changed)' "$T/diff.json"
}

@test "dateline route takes the VL arbitration of an opensm.conf as the engine does" {
	local own="$T/own.conf" max=0:64,1:64,2:64,3:64

	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		event_plugin_options="qos_weights=2:1 dump_dir=$T/live" \
		qos_high_limit=9 qos_vlarb_high="$max,4:32,5:32,6:32,7:32" \
		qos_ca_high_limit=255 qos_ca_vlarb_low=0:10,1:20 qos_sw0_vlarb_high=0:1,4:2 \
		qos_rtr_vlarb_low=0:3,4:4
	wait_for "$DL_PATIENCE" test -e "$T/live/dateline.dls"
	set -- dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -o "$T/off"
	"$@" -q
	[[ $(compared_to_live) != *"[0,"* ]]
	"$@" --opensm-conf "$SM_DIR/opensm.conf"
	[[ $(compared_to_live) == "[0,0]" ]]
	! grep qos_ "$T/off/dateline-opensm.conf" || return
	{
		cat "$SM_DIR/opensm.conf"
		printf 'qos_swe_sl2vl 0,0,0,0,0,0,0,0,1,1,1,1,1,1,1,1\n'
	} >"$own"
	run -0 "$@" --opensm-conf "$own"
	[[ $output == *"warning: qos_swe_sl2vl is not used"* && $output != *"qos_sl2vl"* ]]
	[[ $(compared_to_live) == "[0,0]" ]]
	# The command line wins, wherever it stands.
	{
		cat "$SM_DIR/opensm.conf"
		printf ' qos_ca_vlarb_low\t"0:10,1:20" \n\nqos_swe_high_limit (null\n# qos_high_limit 7\n'
	} >"$own"
	run -2 "$@" --opensm-conf "$own"
	[[ $output == *"own.conf:"*'"(null": expected a high limit from 0 to 255'* ]]
	sed -i 's/(null$/-1/' "$own"
	"$@" --qos-weights 5:1 --opensm-conf "$own"
	[[ $(compared_to_live) != "[0,0]" ]]
	"$@" --opensm-conf "$own"
	[[ $(compared_to_live) == "[0,0]" ]]
	# What starves VLs is named, as by the engine, and a finding.
	echo "qos_swe_vlarb_low $max" >>"$own"
	echo "qos_swe_vlarb_high $max" >>"$own"
	run -1 "$@" --opensm-conf "$own"
	[[ $output == *"starve VL "*"4, 5, 6, 7 on"* ]]
}

@test "a QoS policy with an SL that the routing uses itself: a warning" {
	cat >"$T/policy" <<-END
	qos-ulps
	    default : 3
	end-qos-ulps
	END
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		qos_policy_file="$T/policy"
	wait_log 'Warning: the QoS policy has SL 3 .*only SL 0 and 8'
	sm_sweep
	[[ $(log_count 'the QoS policy has SL') == 1 ]]
}

@test "dateline route names the partitions whose groups would be refused" {
	dateline gen 6 5 1 -q -o "$T/f"
	cat >"$T/partitions.conf" <<-END
	# What IPoIB uses, and two more groups.
	Default = 0x7fff, ipoib, # its SL follows
	    sl = 3 : ALL=full;
	second=2,sl=3:ALL=full;third,sl=8:ALL, mgid=ff12::1;
	fourth=4:ALL,mgid=ff12::2,sl=0x1;
	END
	status=0
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -o "$T/a.dls" \
		--partitions "$T/partitions.conf" 2>"$T/said" || status=$?
	((status == 1))
	[[ ! -e $T/a.dls ]]
	[[ $(grep -c 'DL24' "$T/said") == 2 ]]
	grep -q 'partitions.conf:2: .*"Default" use SL 3' "$T/said"
	grep -q 'partitions.conf:5: .*"fourth" use SL 1' "$T/said"
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -o "$T/a.dls" \
		--mode any-sl --partitions "$T/partitions.conf" -q
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -o "$T/a.dls" \
		--partitions "$T/none" -q
}

@test "multicast groups on other SLs: verified, or refused by name" {
	dateline gen 6 5 1 -o "$T/f" 2>/dev/null
	cat >"$T/partitions.conf" <<-END
	Default=0x7fff, ipoib, sl=3 : ALL=full;
	END
	fabric_up "$T/a" dateline "$T/f.net" \
		torus_config="$T/f.torus.conf" \
		partition_config_file="$T/partitions.conf"
	wait_log 'ERR DL24: multicast group ff12:401b:.*uses SL 3'
	# SL 4 tells of z alone, where this torus has no ring.
	# shellcheck disable=SC2046
	join_group 1 4 $(hosts)
	# shellcheck disable=SC2046
	join_group 2 3 $(hosts)
	# shellcheck disable=SC2046
	join_group 3 0 $(hosts)
	wait_log 'ERR DL24: multicast group .*::2 .*uses SL 3'
	# Each is named once a sweep, however many join.
	[[ $(log_count 'ERR DL24') == 2 ]]
	sm_sweep
	[[ $(log_count 'ERR DL24') == 4 ]]
	fails grep 'ERR DL24: .*uses SL [048]' "$T/a/osm.log"
	snapshot "$T/live"
	[[ $(mfts "$T/live" | cut -d ' ' -f 2 | sort -u | wc -l) == 2 ]]
	[[ $(verdict "$T/live" delivered --multicast-sls 0,4,8) == true ]]
	[[ $(verdict "$T/live" credit_loop --multicast-sls 0,4,8) == false ]]
	# It would have closed one.
	[[ $(verdict "$T/live" credit_loop --multicast-sls 0,3,8) == true ]]
}

@test "options that this engine does not use are named, once" {
	: >"$T/weights"
	dateline gen 3 3 1 -o "$T/f" 2>/dev/null
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		scatter_ports=5 hop_weights_file="$T/weights"
	wait_log 'dateline: Warning: not used by this routing engine: scatter_ports, hop_weights_file$'
	sm_sweep
	[[ $(log_count 'not used by this routing engine') == 1 ]]
	fails log_count 'port_search_ordering_file'
}
