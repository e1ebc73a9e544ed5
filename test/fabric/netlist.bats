#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Our netlist reader against the real ibnetdiscover: what it prints of a live
# fabric is read, whole, and means the same as the file that ibsim served.  So do
# the reports of ports and the printed cache of infiniband-diags.

bats_require_minimum_version 1.5.0

load lib.bash

# formats NAME: the live fabric as each tool tells it, in files NAME.FORMAT.
formats() {
	sim ibnetdiscover -p >"$T/$1.ports"
	sim iblinkinfo >"$T/$1.links"
	sim iblinkinfo -l >"$T/$1.lines"
	sim iblinkinfo -l -p >"$T/$1.settings"
	sim ibnetdiscover --cache "$T/$1.cache" >"$T/$1.net"
	ibnetdiscover --load-cache "$T/$1.cache" >"$T/$1.loaded"
	run -2 dateline discover "$T/$1.cache"
	grep -q -e "--load-cache $T/$1.cache > NET" <<<"$output"
}

# told FILE [SED [all]]: each cable as the fabric in FILE has it: port GUIDs, names,
# port numbers, width and speed; without LIDs, or after SED; or all that is said.
told() {
	local drop='s/(System|Node)GUID:\w+ |VenID:\w+ DevID:\w+ Rev:\w+//g'

	# A netlist says the rest, too.
	[[ $1 != *.loaded && ! ${3:-} ]] || drop=
	dateline route "$1" --torus-config "$T/f.torus.conf" -q -o "$1.routed"
	sed -E "$drop;${2:-s/ LID:[0-9A-F]+//g}" "$1.routed/opensm-subnet.lst" | sort
}

# same_formats NAME [lids]: all of them tell of the same fabric.
same_formats() {
	local format with=${2:+s/lids//}

	for format in ports links lines settings; do
		same "$1.$format" <(told "$T/$1.net" "$with") <(told "$T/$1.$format" "$with")
	done
	same "$1.loaded" <(told "$T/$1.net" "$with" all) <(told "$T/$1.loaded" "$with")
}

# round_trip GENERATOR-ARGUMENT...: a generated netlist, what ibnetdiscover
# makes of it before a subnet manager gave LIDs, and after.
round_trip() {
	dateline gen "$@" -o "$T/f"
	sim_start "$T/f.net"
	formats bare
	sm_conf "$T/sm" dateline torus_config="$T/f.torus.conf"
	sm_start "$T/sm"
	wait_log 'SUBNET UP'
	formats live
	fabric_down
	same_formats bare
	same_formats live lids
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

@test "a netlist in two pieces: the larger one is routed, the other is named" {
	dateline gen 3 2 1 -q -o "$T/small"
	dateline gen 4 3 1 --scramble 3 -q -o "$T/large"
	sed 's/"\([SH]\)_/"other_\1_/g; s/guid=0xd/guid=0xe/' "$T/large.net" |
		cat "$T/small.net" - >"$T/two.net"
	left_out dateline route "$T/two.net" -o "$T/two.dls" 2>"$T/said"
	grep -qE '12 nodes are connected to no switch of the rest: left out: ("[SH]_[0-2_]+", ){7}"[SH]_[0-2_]+" and 4 more$' "$T/said"
	[[ $(dateline verify "$T/two.dls" --json -q | jq '.delivered and (.credit_loop | not)
		and .pairs == 24 * 23') == true ]]
}

@test "a cold start without a usable seed, and of no torus: routed along a tree" {
	local -a cut=()

	# A comb: no ring is left, and most switches are out of line.
	for x in 0 1 2 3; do
		cut+=("--fail-link=$x,"{1,2,3,4}",0:+x")
	done
	dateline gen 5 5 1 --mesh xy "${cut[@]}" -q -o "$T/comb"
	sed -i '/_link/s/0xd1/0xe1/g' "$T/comb.torus.conf"
	fails dateline route "$T/comb.net" --mode classic -q -o "$T/comb.dls"
	for mode in proven any-sl; do
		dateline route "$T/comb.net" --mode "$mode" -o "$T/comb.dls" 2>"$T/said"
		grep -q 'along a spanning tree from' "$T/said"
		dateline verify "$T/comb.dls" -q
	done
	left_out dateline route "$T/comb.net" --torus-config "$T/comb.torus.conf" \
		-o "$T/comb.dls" 2>"$T/said"
	grep -q 'none of its .* seeds has all its switches' "$T/said"
	dateline verify "$T/comb.dls" -q
}
