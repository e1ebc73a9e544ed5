#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Our netlist reader against the real ibnetdiscover: what it prints of a live
# fabric is read, whole, and means the same as the file that ibsim served.

load lib.bash

setup() {
	fabric_init
}

teardown() {
	fabric_down
}

# round_trip GENERATOR-ARGUMENT...: a generated netlist, what ibnetdiscover
# makes of it before a subnet manager gave LIDs, and after.
round_trip() {
	dateline gen "$@" -o "$T/f"
	sim_start "$T/f.net"
	sim ibnetdiscover >"$T/bare.net"
	sm_conf "$T/sm" dateline torus_config="$T/f.torus.conf"
	sm_start "$T/sm"
	wait_log 'SUBNET UP'
	sim ibnetdiscover >"$T/live.net"
	fabric_down
	local net
	for net in f bare live; do
		dateline route "$T/$net.net" --torus-config "$T/f.torus.conf" \
			-o "$T/$net"
		end_ports "$T/$net" | cut -d ' ' -f 1,2,3,5 | sort >"$T/$net.ends"
		cables "$T/$net" | cut -d ' ' -f 1,2,4-6,8 | sort >"$T/$net.cables"
	done
	same "nodes without LIDs" "$T/f.ends" "$T/bare.ends"
	same "nodes" "$T/f.ends" "$T/live.ends"
	same "cables without LIDs" "$T/f.cables" "$T/bare.cables"
	same "cables" "$T/f.cables" "$T/live.cables"
	# The LIDs are those that OpenSM gave.
	same "LIDs" <(end_ports "$T/sm" | cut -d ' ' -f 2,4 | sort) \
		<(end_ports "$T/live" | cut -d ' ' -f 2,4 | sort)
}

@test "ibnetdiscover of a 5x4x3 torus, three adapters a switch, scrambled" {
	round_trip 5 4 3 --hosts 3 --scramble 3
}

@test "ibnetdiscover of a torus with parallel cables and failures" {
	round_trip 4 4 2 --parallel 2 --fail-switch 1,1,0 --fail-link 3,3,1:+x
}

@test "ibnetdiscover of the documentation's torus" {
	sim_start "$DL_TOP/conf/torus-6x5.net"
	sim ibnetdiscover >"$T/live.net"
	dateline route "$T/live.net" --torus-config \
		"$DL_TOP/conf/torus-6x5.conf" -o "$T/live"
	(($(cables "$T/live" | wc -l) == 2 * (60 + 30)))
}
