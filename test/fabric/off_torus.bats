#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Fabrics as they are: a torus with service switches beside it, as
# ibnetdiscover prints it.  Off-torus switches are routed and listed, by the
# tool and by OpenSM.

load lib.bash

setup() {
	fabric_init
	NET=$DL_TOP/conf/examples/torus-5x4x2-services.net
	LEAF=0x0002c902004a3b80 GATEWAY=0x0008f10500201e48
	LAB=0x0002c9020048f1c8 BEHIND=0x000b8cffff004a10
	NAMELESS=0x00066a0007000c21 ROUTER=0x0002c9030011aa00
	HOME_OF_LEAF=0x0002c90200b6bd60
	export SIM_HOST=H-0002c903000f4000	# where opensm1 is
	echo 'torus 5 4 2' >"$T/f.conf"
}

# safe DIR: delivered, unicast and multicast, without credit loops.
safe() {
	dateline verify "$1" --json >"$T/verify.json" 2>"$T/verify.err"
	[[ $(jq -c '[.delivered, .credit_loop, .undelivered]' \
		"$T/verify.json") == '[true,false,[]]' ]]
}

# off_torus KIND...: GUIDs of discover's switches of these kinds, sorted.
off_torus() {
	jq -r --args '.unplaced[] | select(.kind | IN($ARGS.positional[])) |
		.guid' "$@" <"$T/found.json" | sort
}

# all_listed: discover has listed every off-torus switch as what it is.
all_listed() {
	[[ $(off_torus leaf) == "$(printf '%s\n' "$LEAF" "$LAB" "$BEHIND" \
		"$NAMELESS" | sort)" ]]
	[[ $(off_torus dual-homed) == "$GATEWAY" && ! $(off_torus unplaceable disconnected) ]]
}

# without GUID [FILE]: a dump as it looks when this node has failed.
without() {
	awk -v id="-${1#0x}\"" '
		BEGIN { RS = ""; ORS = "\n\n"; FS = "\n" }
		!match($0, "(Switch|Ca|Rt)\t[0-9]+ \"[SHR]" id) {
			for (i = 1; i <= NF; i++)
				if ($i !~ "^\\[.*\"[SHR]" id "\\[")
					printf "%s\n", $i
			print ""
		}' "${2:-$NET}" | cat -s
}

@test "a dump with service nodes: all commands" {
	local mode

	dateline discover "$NET" --json >"$T/found.json" 2>"$T/said"
	all_listed
	[[ $(jq -c '[(.switches | length), .missing, (.unused_cables | length)]' \
		"$T/found.json") == '[40,[],1]' ]]
	[[ $(jq -c ".unplaced[] | select(.guid == \"$BEHIND\") | .on" \
		"$T/found.json") == "\"$LAB\"" ]]
	[[ $(jq -c ".unplaced[] | select(.guid == \"$LEAF\") |
		[.on, .cables]" "$T/found.json") == "[\"$HOME_OF_LEAF\",2]" ]]
	# For people, too: each by name.
	dateline discover "$NET" -q >"$T/found"
	for mode in "leaf $LEAF" "leaf $LAB" "leaf $BEHIND" "leaf $NAMELESS" \
		"dual-homed $GATEWAY"; do
		grep -q "^$mode \".* via [0-4],[0-4],[0-4], " "$T/found"
	done
	grep -q '^unused .*"Voltaire 4036E # gw1"' "$T/found"
	for mode in proven classic; do
		dateline route "$NET" --mode "$mode" --multicast all \
			-o "$T/$mode" 2>"$T/said"
		safe "$T/$mode"
	done
	# They cost dimension-order routing nothing.
	dateline route "$NET" -o "$T/proven" 2>"$T/said"
	grep -q '^.*verified free of credit loops; repairs: none$' "$T/said"
	dateline verify "$T/proven" --explain >"$T/said"
	grep -q 'every packet arrives' "$T/said"
	# Adapters on them have no coordinates, and are listed.
	fails dateline coords "$NET" --csv >"$T/csv" 2>/dev/null
	(($(grep -c ',its switch has no place in the torus$' "$T/csv") == 10))
	for mode in login1 oss01 lab-gpu1 lab-old1 tape1; do
		grep -q "$mode .*has no place" "$T/csv"
	done
	dateline report "$T/proven" -o "$T/page.html" 2>/dev/null
	grep -q 'ib-svc1' "$T/page.html"
	dateline whatif "$NET" --switches 1 --links 2 --samples 20 --json \
		>"$T/whatif.json" 2>/dev/null
	[[ $(jq '.connected > 0 and .connected == .proven.accepted' \
		"$T/whatif.json") == true ]]
}

@test "forms of the dump: no LIDs, old headers, grouped" {
	dateline discover "$NET" -q >"$T/want"
	# An old ibnetdiscover: no port GUIDs, LIDs, widths.
	sed -e 's/^\(Switch.*"\)\t.*# \(".*"\).*/\1\t# \2/' \
		-e 's/^\(.guid=0x[0-9a-f]*\)(.*/\1/' \
		-e 's/^\(\[[0-9]*\]\)([0-9a-f]*) /\1/' \
		-e 's/\t\t# .*//; s/^Ca/Hca/; s/^caguid/hcaguid/' \
		"$NET" >"$T/old.net"
	fails grep -q 'lid [0-9]' "$T/old.net"
	dateline discover "$T/old.net" -q >"$T/got"
	same "places" <(cut -d '"' -f 1 "$T/want" | grep '^[0-9]') \
		<(cut -d '"' -f 1 "$T/got" | grep '^[0-9]')
	(($(grep -cE '^(leaf|dual-homed) ' "$T/got") == 5))
	dateline route "$T/old.net" -q -o "$T/old"
	safe "$T/old"
	# ibnetdiscover -g.
	sed -e 's/^\(\[[0-9]*\]\)\t/\1[ext 7]\t/' \
		-e 's/^\(sysimgguid=.*\)/\1\t\t# Chassis 1/' \
		-e 's/^# Initiated/Chassis 1 (guid 0x8f10400411a22)\n&/' \
		"$NET" >"$T/grouped.net"
	dateline discover "$T/grouped.net" -q >"$T/got"
	same "places" "$T/want" "$T/got"
}

@test "failures near off-torus switches: no leaf takes a failed switch's place" {
	local switches sw

	dateline discover "$NET" --json 2>/dev/null >"$T/found.json"
	switches=$(jq -r '.switches[].guid' "$T/found.json")
	for sw in $switches; do
		without "$sw" >"$T/hurt.net"
		# 1: what is attached to it is disconnected, or could be taken for it.
		dateline discover "$T/hurt.net" --torus-config "$T/f.conf" \
			--json >"$T/found.json" 2>/dev/null || (($? == 1))
		[[ $(jq '.switches | length' "$T/found.json") == 39 ]]
		[[ $(jq -r '.switches[].guid' "$T/found.json" | grep -c \
			-e "$LEAF" -e "$LAB" -e "$GATEWAY" -e "$NAMELESS") == 0 ]]
	done
	# Without one switch that a gateway is attached to, it has the other.
	sw=$(dateline discover "$NET" -q |
		sed -n 's/^dual-homed.* to \(0x[0-9a-f]*\) .*/\1/p')
	without "$sw" >"$T/hurt.net"
	left_out dateline route "$T/hurt.net" --torus-config "$T/f.conf" -q -o "$T/hurt"
	safe "$T/hurt"
	# Without its switch the leaf is disconnected: named.
	without "$HOME_OF_LEAF" >"$T/hurt.net"
	fails dateline discover "$T/hurt.net" -q >"$T/found"
	grep -q "^disconnected $LEAF \"MF0;ib-svc1:IS5030/U1\"$" "$T/found"
	left_out dateline route "$T/hurt.net" -o "$T/cut" 2>"$T/said"
	grep -q 'connected to no switch of the rest: left out: .*"MF0;ib-svc1:IS5030/U1"' \
		"$T/said"
	safe "$T/cut"
}

# judged DIR: what ibdmchk says of DIR.  It knows no routers, and of two ports
# of an adapter it takes all SLs but those between them from the first.
judged() {
	rm -rf "$T/unicast"
	cp -r "$(dumps "$1")" "$T/unicast"
	: >"$T/unicast/opensm.mcfdbs"
	awk -v router="$ROUTER" '
		$1 ~ /^0x/ && $1 != router { given[$1, $2]; print }
		$1 == "#port" { sub(/:/, "", $4); second[$4 " " $5] = $6 }
		END {
			for (pair in second) {
				split(pair, part, " ")
				if (!((part[1], part[2]) in given))
					print pair, second[pair]
			}
		}' "$(dumps "$1")/dateline-psl.dump" >"$T/unicast/dateline-psl.dump"
	slvl_of "$T/unicast" >"$T/slvl"
	ibdm "$T/unicast" "$T/unicast/dateline-psl.dump" "$T/slvl"
}

@test "OpenSM routes a torus with service nodes; ibdmchk agrees" {
	local guid

	sim_start "$NET"
	sim ibnetdiscover >"$T/bare.net"
	fabric_up "$T/sm" dateline "$NET" torus_config="$T/f.conf" \
		"event_plugin_options=dump_dir=$T/snap"
	sim ibnetdiscover >"$T/live.net"
	for guid in "$LEAF" "$LAB" "$BEHIND" "$NAMELESS" "$GATEWAY"; do
		log_count "dateline: switch $guid .*routed via" \
			>"$T/said"
	done
	wait_log 'routed a 5 x 4 x 2M torus: 40 of 45 switches'
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	sm_sweep_and_dump "$T/snap"
	safe "$T/snap"
	[[ $(jq .multicast_groups "$T/verify.json") == 1 ]]
	snapshot "$T/now"
	safe "$T/now"
	[[ $(judged "$T/now") == safe ]]
	# What ibnetdiscover prints of it is what was served.  The simulator does not know
	# routers' speeds.
	for guid in bare live; do
		dateline discover "$T/$guid.net" --torus-config "$T/f.conf" \
			-q >"$T/$guid"
		same "places" <(dateline discover "$NET" --torus-config \
			"$T/f.conf" -q | grep -v '^unused') \
			<(grep -v '^unused\|^slow.*Longbow Router' "$T/$guid")
	done
	dateline route "$T/live.net" --torus-config "$T/f.conf" -q -o "$T/f"
	same "tables" <(lfts "$T/sm") <(lfts "$T/f")
}

@test "no configuration, off-torus switches: coordinates stay after a restart" {
	[[ ! -e /etc/opensm/torus-2QoS.conf ]] || skip "OpenSM's default exists"
	local guid

	fabric_up "$T/sm" dateline "$NET"
	cp "$T/sm/dateline-torus.dump" "$T/before"
	sm_sweep
	# A neighbour of the leaf's home fails; the next one has only the marks.
	guid=$(awk '$2 == "2,3,1" || $2 == "3,2,1" { print $4; exit }' \
		"$T/before")
	for port in 1 2 3 4 5 6 7 8 9 10 11 19; do
		sim_console "Unlink \"S-${guid#0x}\"[$port]"
	done
	sm_sweep
	sm_stop
	sm_start "$T/sm"
	wait_log 'SUBNET UP'
	wait_log 'routed a .*: 39 of 44 switches'
	fails log_count 'other than the known one'
	same "coordinates" <(grep -v "$guid" "$T/before") \
		"$T/sm/dateline-torus.dump"
}

@test "a configuration whose only seed has failed: marks help" {
	unset SIM_HOST
	dateline gen 6 5 1 --scramble 5 -q -o "$T/f"
	# One seed, one link for each dimension.
	sed -i '/^next_seed/,/^portgroup/{/^portgroup/!d}; /^[xy]m_link/d' \
		"$T/f.torus.conf"
	local seed
	seed=$(awk '/^xp_link/ { print $2; exit }' "$T/f.torus.conf")
	seed=$(printf '0x%016x' "$seed")
	fabric_up "$T/sm" dateline "$T/f.net" torus_config="$T/f.torus.conf"
	cp "$T/sm/dateline-torus.dump" "$T/before"
	sm_stop
	awk -v g="$seed" '$4 == g { print $5 }' "$T/before" | tr -d '()' >"$T/id"
	for port in $(seq 36); do
		sim_console "Unlink \"$(<"$T/id")\"[$port]" >"$T/said" || true
	done
	sm_start "$T/sm"
	wait_log 'SUBNET UP'
	wait_log 'routed a 6 x 5 x 1 torus: 29 of 29 switches'
	same "coordinates" <(grep -v "$seed" "$T/before") \
		"$T/sm/dateline-torus.dump"
}

@test "wiring faults are named, with their repair" {
	dateline gen 5 5 5 --fail-link 3,3,3:+x -q -o "$T/f"
	# Two plugs in each other's port, of the same direction; a cable less.
	awk '
		BEGIN { RS = ""; ORS = "\n\n" }
		/Switch.*"S_0_0_0"/ { sub(/"S_1_0_0"\[2\]/, "\"S_3_2_2\"[2]") }
		/Switch.*"S_3_2_2"/ { sub(/"S_2_2_2"\[1\]/, "\"S_0_0_0\"[1]") }
		/Switch.*"S_2_2_2"/ { sub(/"S_3_2_2"\[2\]/, "\"S_1_0_0\"[2]") }
		/Switch.*"S_1_0_0"/ { sub(/"S_0_0_0"\[1\]/, "\"S_2_2_2\"[1]") }
		{ print }' "$T/f.net" >"$T/wrong.net"
	fails dateline discover "$T/wrong.net" >"$T/found" 2>"$T/said"
	(($(grep -c '^[0-4],[0-4],[0-4] 0x' "$T/found") == 125))
	(($(grep -c '^unused' "$T/found") == 2))
	grep -qE '^exchange 0x[0-9a-f]* "S_(1_0_0|3_2_2)" port 2 and 0x[0-9a-f]* "S_(1_0_0|3_2_2)" port 2$|^exchange 0x[0-9a-f]* "S_(0_0_0|2_2_2)" port 1 and 0x[0-9a-f]* "S_(0_0_0|2_2_2)" port 1$' \
		"$T/found"
	(($(grep -cE '^(exchange|move|remove|add) ' "$T/found") == 2))
	grep -q '^add ' "$T/found"
	grep -q 'wiring fault: exchange the cables in 0x' "$T/said"
	fails dateline discover "$T/wrong.net" --json >"$T/found.json" 2>"$T/said"
	[[ $(jq -c '[.faults[].repair]' "$T/found.json") == \
		'["exchange","add"]' ]]
	# With the configuration, by coordinates.
	fails dateline discover "$T/wrong.net" --torus-config \
		"$T/f.torus.conf" --json >"$T/found.json" 2>"$T/said"
	[[ $(jq -c '.faults[1] | [.from, .to]' "$T/found.json") == \
		'[[3,3,3],[4,3,3]]' ]]
	# What is only missing is no finding.
	dateline discover "$T/f.net" -q | grep -q '^add '
}
