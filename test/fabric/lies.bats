#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# One device lies: about its LIDs, its ports, who it is or what it holds.  It
# must not keep any other from being routed, and nobody who looks at the fabric
# from looking.
#
# A lie is a line of smps.c's table: the attribute, its modifier, and what stands
# in the answer from an offset on.  Judged by what the switches hold, read
# without the lie: the pairs that do not concern the liar are delivered.

# shellcheck disable=SC2030,SC2031,SC2317

bats_require_minimum_version 1.5.0
load lib.bash

HOST=00d2000101000100 # H_1_1_0_1
SWITCH=00d1000101000000 # S_1_1_0

setup() {
	fabric_init
	export SMPS_LIES=$T/lies
	: >"$SMPS_LIES"
	dateline gen 4 4 1 -o "$T/f" 2>/dev/null
}

hex() {
	printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n'
}

# truth DIR: the fabric as it is.
truth() {
	local -x SMPS_LIES=

	rm -rf "$1"
	snapshot "$1"
}

# others_routed LOST: at most so many of the pairs of adapters are undelivered.
others_routed() {
	local pairs lost

	truth "$T/true"
	[[ $(verdict "$T/true" credit_loop --pairs adapters) == false ]]
	pairs=$(verdict "$T/true" pairs --pairs adapters)
	lost=$(verdict "$T/true" lost --pairs adapters)
	((pairs - lost + $1 >= 240)) && return
	say "$pairs pairs, $lost lost"
	return 1
}

# lookers_go_on: what reads the fabric with the lie in it gets a result: 0, or 1
# where there is something to be found.
lookers_go_on() {
	local word

	for word in discover coords; do
		sim dateline "$word" --live --json >"$T/$word.json" 2>"$T/$word.err" ||
			(($? == 1)) || { cat "$T/$word.err" >&2; return 1; }
		jq -e . "$T/$word.json" >/dev/null
	done
	rm -rf "$T/seen"
	sim dateline snapshot --live --retries 4 -o "$T/seen" 2>"$T/seen.err" ||
		(($? == 1)) || { cat "$T/seen.err" >&2; return 1; }
	dateline verify "$T/seen" --json >"$T/seen.json" 2>"$T/verify.err" ||
		(($? == 1)) || { cat "$T/verify.err" >&2; return 1; }
	jq -e . "$T/seen.json" >/dev/null
}

# lie LOST LINE...: with these lies from the start, OpenSM routes the others.
lie() {
	local lost=$1 dir=$T/sm.$RANDOM

	shift
	say "lie: $*"
	printf '%s\n' "$@" >"$SMPS_LIES"
	sim_start "$T/f.net"
	sm_conf "$dir" dateline torus_config="$T/f.torus.conf" \
		exit_on_fatal=FALSE sweep_interval=1
	sm_start "$dir"
	# The line comes before the tables are written: until the end of this
	# sweep, or, where it ends with errors, the line of the next one.
	wait_log 'SUBNET UP|dateline: verified free of credit loops' 2
	fails grep -E 'dateline: ERR DL1[0-9]' "$dir/osm.log"
	others_routed "$lost"
	lookers_go_on
	sm_stop
	sim_stop
}

# look LOST LINE...: told to those who look, on a fabric that is up.  They see
# all pairs delivered but so many, and no loop.  (OpenSM itself dies of some of
# these before it asks any routing engine.)
look() {
	local lost=$1

	shift
	say "look: $*"
	printf '%s\n' "$@" >"$SMPS_LIES"
	lookers_go_on
	[[ $(verdict "$T/seen" credit_loop --pairs adapters) == false ]]
	(($(verdict "$T/seen" pairs --pairs adapters) -
		$(verdict "$T/seen" lost --pairs adapters) + lost >= 240))
}

# routed_without STATUS NODE LINE...: with these lies, the node is named and left
# out by those who want a connected fabric; hops end with this status (0: the lie
# hides the host behind the switch).
routed_without() {
	local status=$1 node=$2

	shift 2
	printf '%s\n' "$@" >"$SMPS_LIES"
	left_out sim dateline route --live -o "$T/rest.dls" 2>"$T/route.err"
	grep -q "\"$node\" is connected to no switch of the rest: left out" "$T/route.err"
	[[ $(verdict "$T/rest.dls" credit_loop) == false ]]
	[[ $(verdict "$T/rest.dls" lost) == 0 ]]
	run -"$status" sim dateline hops --live --csv
	# What was read with the lie in it is routed as well.
	rm -rf "$T/seen"
	sim dateline snapshot --live -o "$T/seen" 2>"$T/seen.err"
	left_out dateline route "$T/seen" -o "$T/rest.dls" 2>"$T/route.err"
	[[ $(verdict "$T/rest.dls" lost) == 0 ]]
}

# truthful_fabric: for look.
truthful_fabric() {
	fabric_up "$T/sm" dateline "$T/f.net" torus_config="$T/f.torus.conf"
}

@test "OpenSM: an adapter lies about its LIDs and its ports" {
	lie 0 "$HOST 15 - 22 07"
	# OpenSM would take their LIDs from those whose GUIDs come first.
	lie 0 "$HOST 15 - 10 0002" "$HOST 15 - 22 07"
	grep -q '"H_1_1_0_1" claims 128 LIDs, and has been assigned 1:' "$SM_DIR/osm.log"
	lie 30 "$HOST 15 - 10 0001"
	lie 30 "$HOST 15 - 10 c000"
	# Beyond ibsim's forwarding tables: what is written there damages others.
	lie 30 "$HOST 15 - 10 bfff"
	grep -q '"H_1_1_0_1" .* claims LID 49151 .* tables of switches end at 30719:' "$SM_DIR/osm.log"
	lie 30 "$HOST 15 - 20 01 1"
}

@test "OpenSM: an adapter chooses its description" {
	lie 0 "$HOST 10 - 0 $(hex H_2_2_0_1)00"
	lie 0 "$HOST 10 - 0 $(hex 'x} LID:1 PN:1 }')00"
	lie 0 "$HOST 10 - 0 $(hex $'\e]0;owned\a\e[2J\xc2\x9b2J')00"
	lie 0 "$HOST 10 - 0 $(hex $'caf\xe9 \xff')00"
}

@test "OpenSM: a switch lies" {
	lie 0 "$SWITCH 10 - 0 $(hex S_2_2_0)00"
	lie 0 "$SWITCH 15 1 25 10" # VLCap: one data VL
	grep -q '1 data VL between port .* "S_1_1_0".*: not used' "$T"/sm.*/osm.log
	lie 30 "$SWITCH 15 - 25 10"
	(($(cat "$T"/sm.*/osm.log | grep -c '1 data VL between .*"S_1_1_0".*: not used') > 4))
	lie 30 "$SWITCH 19 - 0 $(printf 'ff%.0s' {1..64})"
}

@test "to those who look: LIDs" {
	truthful_fabric
	look 30 "$HOST 15 - 22 07"
	look 30 "$HOST 15 - 10 0001"
	look 30 "$HOST 15 - 10 0008" "$HOST 15 - 22 07"
	look 30 "$HOST 15 - 10 ffff"
	look 30 "$HOST 15 - 10 c000"
	look 30 "$SWITCH 15 0 10 0001"
	look 30 "$SWITCH 15 0 10 ffff"
}

@test "to those who look: ports" {
	truthful_fabric
	look 0 "$HOST 11 - 3 ff"
	look 0 "$HOST 11 - 3 00"
	look 30 "$HOST 11 - 24 07"
	look 30 "$HOST 11 - 24 00"
	look 30 "$HOST 15 - 21 22"
	look 0 "$SWITCH 11 - 3 ff"
	# It hides the cables that others are routed by.
	look 240 "$SWITCH 11 - 3 00"
	look 240 "$SWITCH 11 - 24 03"
	look 240 "$SWITCH 15 1 21 22"
	look 240 "$SWITCH 15 1 21 22 1"
}

@test "to those who look: who it is" {
	truthful_fabric
	look 60 "$HOST 11 - c 00d2000202000100"
	look 30 "$HOST 11 - c $SWITCH"
	look 30 "$HOST 11 - c 0000000000000000"
	look 0 "$HOST 11 - 14 00d2000202000101"
	look 0 "$HOST 11 - 14 0000000000000000"
	look 30 "$HOST 11 - 2 02"
	look 0 "$HOST 11 - 2 03"
	look 30 "$HOST 11 - 2 07"
	look 0 "$HOST 10 - 0 $(hex H_2_2_0_1)00"
	look 0 "$HOST 10 - 0 $(hex 'x} LID:1 PN:1 }')00"
	look 0 "$HOST 10 - 0 $(hex $'\e]0;owned\a\e[2J\xc2\x9b2J')00"
	look 0 "$HOST 10 - 0 $(hex $'caf\xe9 \xff')00"
	look 0 "$HOST 10 - 0 $(hex "a\" lid 1 'b\", =1+1")00"
}

@test "to those who look: how long its forwarding table is" {
	truthful_fabric
	look 0 "$SWITCH 12 - 0 0005"
	left_out sim dateline route --live -o "$T/rest.dls" 2>"$T/route.err"
	grep -q '"S_1_1_0" has forwarding entries for LIDs up to 4, where 3[0-9] is in use: left out' \
		"$T/route.err"
	grep -q '"H_1_1_0_1" is connected to no switch of the rest: left out' "$T/route.err"
	[[ $(verdict "$T/rest.dls" pairs --pairs adapters) == 210 ]]
	[[ $(verdict "$T/rest.dls" lost) == 0 ]]
}

@test "to those who read a file: few cables with one data VL" {
	awk '/^$/ { inside = 0 } /^Switch.*"S_1_1_0"/ { inside = 1 }
		{ print $0 (inside && /^\[/ ? " v=1" : "") }' "$T/f.net" >"$T/one.net"
	left_out dateline route "$T/one.net" --torus-config "$T/f.torus.conf" -o "$T/r.dls" 2>"$T/err"
	[[ $(grep -c '1 data VL between .*"S_1_1_0".*: not used' "$T/err") == 4 ]]
	grep -q '"S_1_1_0" is connected to no switch of the rest: left out' "$T/err"
	[[ $(verdict "$T/r.dls" pairs --pairs adapters) == 210 ]]
	[[ $(verdict "$T/r.dls" lost) == 0 ]]
	run -1 dateline whatif "$T/one.net" --torus-config "$T/f.torus.conf" --links 1 --samples 1
	[[ $output == *'1 data VL between'*'not used'* ]]
	dateline route "$T/one.net" --torus-config "$T/f.torus.conf" --mode any-sl \
		-o "$T/r.dls" 2>"$T/err"
	fails grep 'not used' "$T/err"
	[[ $(verdict "$T/r.dls" pairs --pairs adapters) == 240 ]]
	# Only a cable between two ports of one switch.
	awk '{ print } /^Switch.*"S_1_1_0"/ {
		print "[30]\t\"S_1_1_0\"[31]\t# 4xEDR v=1\n[31]\t\"S_1_1_0\"[30]\t# 4xEDR v=1" }' \
		"$T/f.net" >"$T/self.net"
	dateline route "$T/self.net" --torus-config "$T/f.torus.conf" -o "$T/r.dls" 2>"$T/err"
	grep -q '1 data VL between port 30 of "S_1_1_0" and port 31 of "S_1_1_0"' "$T/err"
	[[ $(verdict "$T/r.dls" pairs --pairs adapters) == 240 ]]
}

@test "to those who route: a device whose cables cannot be" {
	truthful_fabric
	routed_without 1 H_1_1_0_1 "$HOST 11 - 24 ff"
	routed_without 0 S_1_1_0 "$SWITCH 15 - 0 $(printf 'ff%.0s' {1..64})"
}
