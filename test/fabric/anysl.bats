#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Any-SL mode, live (rules A13): what the switches hold is free of credit loops
# whatever SL packets carry, through failures and repairs.

# shellcheck disable=SC2030,SC2031

load lib.bash
load events.bash

setup() {
	fabric_init
	events_init any-sl
}

# any_sl DIR: safe with every SL on every pair and in every group.
any_sl() {
	dateline verify --sl any --json "$1" >"$T/any.json" 2>"$T/verify.err" || {
		cat "$T/any.json" "$T/verify.err" >&2
		return 1
	}
	[[ $(jq -r .sls "$T/any.json") == any ]]
	[[ $(jq .credit_loop "$T/any.json") == false ]]
}

# levels DIR: SLs 0-7 have one VL and SLs 8-15 another one at each pair of
# ports between switches: maps of two QoS levels.
levels() {
	sl2vl "$1" | awk '
		{
			for (i = 5; i <= 19; i++)
				if (i != 12 && $i != $(i - 1))
					bad++
			two += $4 != $12
		}
		END { exit bad || !two }'
}

# in_force: the same of what the switches hold, read from them.
in_force() {
	[[ $PATHS == all ]] || PATHS=none
	rm -rf "$T/live"
	snapshot "$T/live" --paths "$PATHS"
	any_sl "$T/live"
	[[ $(jq .multicast_groups "$T/any.json") == 3 ]]
	levels "$T/live"
	same "forwarding tables" <(lfts "$T/offline") <(lfts "$T/live")
}

# Everybody is in the first group; the second is on the upper level, the third
# on an SL that torus-2QoS would not allow for multicast.
join_groups() {
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	# shellcheck disable=SC2046
	join_group 1 8 $(hosts | some 30)
	# shellcheck disable=SC2046
	join_group 2 5 $(hosts | tail -n 7)
}

# granted SL: the SLs of path records on that SL, among some pairs.
granted() {
	pairs "$T/snap" CA | awk '$1 != $2' | some 16 | awk -v sl="$1" '{ print $0, sl }' |
		path_sls | awk '{ print $3 }' | sort -u
}

@test "6 events on a 6x4x3 torus: what is in force is safe with every SL" {
	say "DATELINE_SEED=$DATELINE_SEED"
	up 6 4 3
	grep -q 'applications may use any SL' "$T/a/osm.log"
	lfts "$T/a" >"$T/good"
	[[ $(granted 0) == 0 && $(granted 8) == 8 ]]
	all_events "${DATELINE_EVENTS:-6}"
	agree "$T/live" adapters false
	[[ $(granted 0) == 0 && $(granted 8) == 8 ]]
}

@test "proven mode's tables in the same place have a loop with SL 0" {
	events_init proven
	up 6 5 1
	grep -q 'NCCL_IB_SL' "$T/a/osm.log"
	snapshot "$T/live"
	[[ $(verdict "$T/live" credit_loop) == false ]]
	[[ $(verdict "$T/live" credit_loop --sl 0) == true ]]
}

# few_vls OPERATIONAL-VLS COUNT
few_vls() {
	up 6 5 1 max_op_vls="$1"
	wait_log "at least $2 data VLs between switches and $2 on"
	sm_sweep_and_dump "$T/snap"
	snapshot "$T/live"
	any_sl "$T/live"
}

@test "four data VLs: two levels" {
	few_vls 3 4
	levels "$T/live"
}

@test "two data VLs: one level" {
	few_vls 2 2
	grep -q 'no QoS levels' "$T/a/osm.log"
}

@test "one data VL: safe all the same" {
	few_vls 1 1
	grep -q 'only 1 data VL' "$T/a/osm.log"
}

@test "balanced ties: path records name the dateline that a path crosses" {
	dateline gen 4 4 2 --hosts 2 -q -o "$T/f"
	echo 'ties balanced' >>"$T/f.torus.conf"
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=dump_dir=$T/snap"
	wait_for "$DL_PATIENCE" test -e "$T/snap/dateline.dls"
	# Not those of torus-2QoS.
	dateline route "$T/snap" --torus-config "$T/f.torus.conf" --ties torus-2QoS \
		-q -o "$T/plain"
	fails cmp -s <(sort "$T/plain/dateline-psl.dump") <(psls "$T/snap")
	snapshot "$T/live"
	cp "$(dumps "$T/snap")/dateline-psl.dump" "$T/live/"
	rm "$T/live/dateline-manifest.txt"
	[[ $(verdict "$T/live" credit_loop) == false ]]
	agree "$T/live" adapters false
	snapshot "$T/all"
	[[ $(verdict "$T/all" mode) == '"proven-balanced"' ]]
	pairs "$T/snap" CA | awk '$1 != $2' | some 60 | path_sls >"$T/asked"
	[[ $(wc -l <"$T/asked") == 60 ]]
	psl_of "$T/snap" <"$T/asked" | sort >"$T/asked.psl"
	[[ -z $(comm -13 <(psls "$T/snap") "$T/asked.psl") ]]
}
