#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Proven mode, live: fabrics that the documented rules refuse are routed, and
# what OpenSM then has programmed is free of credit loops.

# shellcheck disable=SC2030,SC2031

load lib.bash
load events.bash

setup() {
	fabric_init
	events_init proven
}

# prove GEN_ARGS...: route such a fabric with one group of all adapters.
prove() {
	dateline gen "$@" -q -o "$T/f"
	if dateline route "$T/f.net" --torus-config "$T/f.torus.conf" \
		--mode classic -o "$T/refused" 2>"$T/refused.err"; then
		return 1
	fi
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=dump_dir=$T/snap"
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	sm_sweep_and_dump "$T/snap"
	grep -Eq 'verified free of credit loops; repairs: .*(entries changed|switches moved)' \
		"$T/a/osm.log"
	dateline verify --json "$T/snap" >"$T/verify.json"
	grep -Eq '"multicast_groups": *1' "$T/verify.json"
	grep -Eq '"credit_loop": *false' "$T/verify.json"
}

@test "two failed switches side by side in x" {
	prove 6 5 1 --fail-switch 2,2,0 --fail-switch 3,2,0
}

@test "a ring cut in two, and a failed switch" {
	prove 5 4 3 --fail-link 0,1,1:+x --fail-link 2,1,1:+x \
		--fail-switch 3,3,0
}

# in_force: what the switches hold is safe, and no path SL has changed.
in_force() {
	rm -rf "$T/live"
	snapshot "$T/live" --paths "$PATHS"
	dateline verify --json --pairs "$PATHS" "$T/live" >"$T/live.json" 2>"$T/verify.err" || {
		cat "$T/live.json" "$T/verify.err" >&2
		return 1
	}
	[[ $(jq .multicast_groups "$T/live.json") == 3 ]]
	sort "$T/live/dateline-psl.dump" >"$T/psl"
	[[ -s $T/psl && -z $(comm -23 "$T/psl" "$T/whole.psl") ]]
	agree "$T/live" adapters false
}

# Everybody is in the broadcast group, some are in others: also those that
# have been away.
join_groups() {
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	# shellcheck disable=SC2046
	join_group 1 8 $(hosts | some 30)
	# shellcheck disable=SC2046
	join_group 2 0 $(hosts | tail -n 7)
}

@test "10 events on a 5x4x3 torus: what is in force is always safe" {
	say "DATELINE_SEED=$DATELINE_SEED"
	up 5 4 3
	psls "$T/whole" >"$T/whole.psl"
	lfts "$T/a" >"$T/good"
	all_events "${DATELINE_EVENTS:-10}"
}
