#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Planned changes of a running fabric: cables and switches that are taken out of use
# before they go, and put back (rules A15).

# Functions are called through wait_for, each test is a subshell of its own: that is
# meant.
# shellcheck disable=SC2030,SC2031,SC2317

load lib.bash

setup() {
	fabric_init
	RANDOM=$DATELINE_SEED
}

teardown() {
	fabric_down
}

# planned_up MODE X Y Z [KEY=VALUE...]: a torus whose engine reads the list $T/avoid.
planned_up() {
	local mode=$1 dims="$2 $3 $4"

	shift 4
	: >"$T/avoid"
	# shellcheck disable=SC2086 # three words
	dateline gen $dims -q -o "$T/f"
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=mode=$mode avoid=$T/avoid dump_dir=$T/snap" "$@"
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts | some 8)
	snapshot "$T/whole"
}

# avoid LINE...: what is out of use from now on, when OpenSM has swept.
avoid() {
	printf '%s\n' "$@" >"$T/avoid"
	sm_sweep_and_dump "$T/snap"
}

# look: into $T/now, what the switches hold, which is sound.
look() {
	snapshot "$T/now"
	[[ $(verdict "$T/now" delivered) == true ]]
	[[ $(verdict "$T/now" credit_loop) == false ]]
}

# crossed CABLE...: whether anything in $T/now leads across one of them.
crossed() {
	local cable

	for cable; do
		dateline path "$T/now" --through "$cable" --json |
			jq -e '.through | [.flows, .flows_back, .entries, .groups] | add == 0' \
				>/dev/null || return 0
	done
	return 1
}

@test "a cable and a switch: out of use, unplugged, back" {
	local mode

	for mode in proven any-sl; do
		planned_up "$mode" 4 4 3 use_ucast_cache=TRUE
		lfts "$T/whole" >"$T/good"
		pairs "$T/a" CA | some 30 >"$T/pairs"
		path_sls <"$T/pairs" >"$T/sls"
		look
		crossed S_1_1_0/1
		avoid 'cable S_1_1_0/1 # ticket 4711' 'switch "S_2_2_1"'
		wait_log 'DL41: safe to unplug: cable "S_1_1_0" port 1 to "S_2_1_0" port 2'
		wait_log 'DL41: safe to switch off, but for its own adapters: switch "S_2_2_1"'
		[[ $(log_count 'stays in use') == 0 ]]
		look
		fails crossed S_1_1_0/1
		same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
		# Nothing but hosts of S_2_2_1 uses its cables.
		dateline path "$T/now" --through S_2_2_1/1 --json --top 1000 |
			jq -e '[.through.paths[].from.name] | unique - ["H_2_2_1_1", "S_2_2_1"] == []'
		# The cable goes, and comes back: no entry changes.
		lfts "$T/now" >"$T/without"
		sim_console 'Unlink "S_1_1_0"[1]' >/dev/null
		sm_sweep
		look
		same "tables without the cable" "$T/without" <(lfts "$T/now")
		sim_console 'ReLink "S_1_1_0"[1]' >/dev/null
		sm_sweep
		look
		fails crossed S_1_1_0/1
		# A damaged list changes nothing.
		avoid 'cable S_1_1_0'
		wait_log 'ERR DL40: .*avoid:1: expected NAME/PORT'
		look
		fails crossed S_1_1_0/1
		avoid '# all done'
		wait_log 'in use again' 2
		look
		same "forwarding tables" "$T/good" <(lfts "$T/now")
		same "multicast tables" <(mfts "$T/whole") <(mfts "$T/now")
		same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
		[[ $(log_count 'not proven') == 0 ]]
		fabric_down
		rm -r "$T/a" "$T/snap" "$T/whole" "$T/now"
	done
}

# random_list: up to four cables and switches.
random_list() {
	local n

	for ((n = 1 + RANDOM % 4; n; n--)); do
		if ((RANDOM % 3)); then
			echo "cable S_$((RANDOM % 4))_$((RANDOM % 4))_$((RANDOM % 3))/$((1 + RANDOM % 6))"
		else
			echo "switch S_$((RANDOM % 4))_$((RANDOM % 4))_$((RANDOM % 3))"
		fi
	done
}

@test "random cables and switches, out and back" {
	local round lines

	planned_up proven 4 4 3
	lfts "$T/whole" >"$T/good"
	for ((round = 0; round < ${DATELINE_EVENTS:-4}; round++)); do
		mapfile -t lines < <(random_list)
		avoid "${lines[@]}"
		# All is unused: a cable, either way.
		mapfile -t lines < <(sed -n 's/^cable //p' "$T/avoid")
		look
		fails crossed "${lines[@]}"
		avoid ''
		look
		same "forwarding tables of round $round" "$T/good" <(lfts "$T/now")
		same "multicast tables of round $round" <(mfts "$T/whole") <(mfts "$T/now")
	done
	[[ $(log_count 'ERR|not proven') == 0 ]]
}
