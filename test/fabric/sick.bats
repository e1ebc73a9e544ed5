#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A fabric with sick parts under a running subnet manager: one of them must not
# keep the others from being routed.  Judged by the tables that the switches
# hold.

# shellcheck disable=SC2030,SC2031,SC2317

load lib.bash
load events.bash

setup() {
	fabric_init
	events_init proven
	export SMPS_SICK=$T/sick
	: >"$SMPS_SICK"
}

teardown() {
	fabric_down
}

# guid_of X Y Z: of the switch there, as `dateline gen` makes it.
guid_of() {
	printf '00d1%04x%02x%02x0000' "$1" "$2" "$3"
}

# healthy N: by what the switches hold, all pairs of N adapters are connected,
# free of credit loops.
healthy() {
	rm -rf "$T/live"
	snapshot "$T/live"
	[[ $(verdict "$T/live" delivered --pairs adapters) == true ]]
	[[ $(verdict "$T/live" credit_loop --pairs adapters) == false ]]
	[[ $(end_ports "$T/a" | grep -c ^CA) == "$1" ]]
}

@test "a switch is sick at the start: the rest is routed, and it is named" {
	guid_of 1 2 0 >"$SMPS_SICK"
	dateline gen 5 4 1 -o "$T/f" 2>/dev/null
	sim_start "$T/f.net"
	sm_conf "$T/a" dateline torus_config="$T/f.torus.conf" sweep_interval=2
	sm_start "$T/a"
	# The line comes before the tables are written; the next sweep's, after.
	wait_log 'verified free of credit loops; .*: 19 of 19 switches' 2
	wait_log "ERR DL23: no cable connects S-$(guid_of 1 2 0) \"S_1_2_0\" to the subnet manager"
	# OpenSM has no dumps of a sweep with errors: take the tool's.
	rm -rf "$T/live"
	snapshot "$T/live"
	[[ $(verdict "$T/live" delivered --pairs adapters) == true ]]
	[[ $(verdict "$T/live" credit_loop --pairs adapters) == false ]]
	(($(verdict "$T/live" pairs --pairs adapters) >= 19 * 18))
	# It gets well, and is routed like the others.
	: >"$SMPS_SICK"
	wait_log 'verified free of credit loops; .*: 20 of 20 switches'
	wait_log 'SUBNET UP'
	healthy 20
}

@test "a switch falls sick later, when it has been away" {
	up 5 4 1 sweep_interval=2
	kill_switch '"S_1_2_0"'
	wait_log 'routed a .*: 19 of 19 switches'
	guid_of 1 2 0 >"$SMPS_SICK"
	mend_all
	wait_log 'ERR DL23: .*"S_1_2_0"'
	# The line comes before the tables are written; the next sweep's, after.
	wait_log 'routed a .*: 19 of 19 switches' 3
	# Lost are just the pairs with the adapter behind it.
	rm -rf "$T/live"
	snapshot "$T/live"
	dateline verify "$T/live" --pairs adapters >"$T/said" || [[ $? == 1 ]]
	grep -q '^delivery: 38 of 380 pairs' "$T/said"
	[[ $(verdict "$T/live" credit_loop --pairs adapters) == false ]]
	: >"$SMPS_SICK"
	wait_log 'routed a .*: 20 of 20 switches' 2
	wait_log 'SUBNET UP' 3
	healthy 20
}

@test "six of a hundred answers get lost: the rest is routed all the same" {
	export SMPS_LOSS=6 SMPS_SEED=$DATELINE_SEED
	dateline gen 5 4 1 -o "$T/f" 2>/dev/null
	sim_start "$T/f.net"
	sm_conf "$T/a" dateline torus_config="$T/f.torus.conf" sweep_interval=1
	sm_start "$T/a"
	wait_log 'routed a' 4
	fails grep -E 'dateline: ERR DL1[0-9]' "$T/a/osm.log"
}

@test "OperVLs is about to rise: the log says so, and a second sweep follows" {
	dateline gen 6 5 1 -o "$T/f" 2>/dev/null
	fabric_up "$T/b" minhop "$T/f.net" max_op_vls=1
	sm_stop
	sm_conf "$T/a" dateline torus_config="$T/f.torus.conf"
	sm_start "$T/a"
	wait_log 'dateline: not in force before the next sweep, which follows at once: OperVLs rises on [0-9]+ ports; then verified'
	# Without being asked.
	wait_log 'dateline: verified free of credit loops; repairs: none;'
	wait_log 'SUBNET UP' 2
	healthy 30
	# No third one.
	sleep 1
	[[ $(log_count 'routed a') == 2 ]]
}

@test "a switch without SL to VL maps has one VL" {
	export SMPS_PLAIN=$T/plain
	guid_of 1 2 0 >"$SMPS_PLAIN"
	dateline gen 5 4 1 -o "$T/f" 2>/dev/null
	sim_start "$T/f.net"
	sm_conf "$T/a" dateline torus_config="$T/f.torus.conf" sweep_interval=2
	sm_start "$T/a"
	wait_log 'ERR DL14: .*VL'
	fails grep 'verified free' "$T/a/osm.log"
	: >"$SMPS_PLAIN"
	wait_log 'verified free of credit loops'
}

@test "NDR links are recorded as such" {
	export SMPS_SPEED=8
	up 3 3 1
	grep -q '4xNDR' "$T"/snap/*.net*
	fails grep -qE '4x[QHES]DR' "$T"/snap/*.net*
}
