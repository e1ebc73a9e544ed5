#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Proven mode, live: fabrics that the documented rules refuse are routed, and
# what OpenSM then has programmed is free of credit loops.

# shellcheck disable=SC2030,SC2031

load lib.bash

setup() {
	fabric_init
}

teardown() {
	fabric_down
}

# prove GEN_ARGS...: route such a fabric with one group of all adapters.
prove() {
	local hosts

	dateline gen "$@" -q -o "$T/f"
	if dateline route "$T/f.net" --torus-config "$T/f.torus.conf" \
		-o "$T/refused" 2>"$T/refused.err"; then
		return 1
	fi
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=mode=proven dump_dir=$T/snap"
	mapfile -t hosts < <(end_ports "$T/a" | awk '$1 == "CA" { print $3 }')
	sim "$DL_BUILD/test/fabric/join" 0 0 "${hosts[@]}" >"$T/join.out"
	rm -r "$T/snap"
	sm_sweep
	wait_for 20 test -e "$T/snap/dateline-psl.dump"
	grep -q 'proven: the plain rule' "$T/a/osm.log"
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
