#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Live fabrics, read by `dateline snapshot` and checked by `dateline verify`:
# the built-in engine's loop of unicast and multicast, other engines'
# verdicts beside those of an independent checker, and fabrics that do not
# answer.

bats_require_minimum_version 1.5.0
load lib.bash

# join_all: every adapter joins the broadcast group.
join_all() {
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	sm_sweep
}

# explains DIR PATTERN: the explanation of a finding in DIR says so.
explains() {
	run -1 dateline verify "$1" --explain
	grep -q "$2" <<<"$output"
}

# The maps between ports with cables; OpenSM dumps those of others, too.
maps() {
	awk 'NR == FNR { if ($1 == "SW") cable[$2, $4]; next }
		($1, $3) in cable && ($2 == 0 || ($1, $2) in cable)' \
		<(cables "$1") <(sl2vl "$1")
}

# as_dumped DIR SNAPSHOT: what was read is what OpenSM says it programmed.
as_dumped() {
	same "forwarding tables" <(lfts "$1") <(lfts "$2")
	same "SL-to-VL maps" <(maps "$1") <(maps "$2")
}

# loop DIR: the cycle as "x,y vl" steps, from its smallest step on.
loop() {
	verdict "$1" cycle --torus-config "$T/f.torus.conf" | jq -r '
		map("\(.coord[0]),\(.coord[1]) vl\(.vl)") |
		(index(min)) as $i | .[$i:] + .[:$i] | join(" ")'
}

@test "the built-in engine: a failed switch and one group make a loop" {
	dateline gen 6 5 1 --fail-switch 3,2,0 -o "$T/f"
	fabric_up "$T/sm" torus-2QoS "$T/f.net" torus_config="$T/f.torus.conf"

	snapshot "$T/before"
	as_dumped "$T/sm" "$T/before"
	[[ $(verdict "$T/before" credit_loop) == false ]]
	[[ $(verdict "$T/before" pairs) == 3306 ]]
	agree "$T/before" adapters false

	join_all
	snapshot "$T/after"
	as_dumped "$T/sm" "$T/after"
	same "multicast tables" <(mfts "$T/sm") <(mfts "$T/after")
	[[ $(verdict "$T/after" delivered) == true ]]
	[[ $(verdict "$T/after" credit_loop) == true ]]
	[[ $(verdict "$T/after" multicast_groups) == 1 ]]
	[[ $(loop "$T/after") == "3,0 vl0 3,1 vl2 4,1 vl0 4,2 vl0 4,3 vl2 \
3,3 vl0 3,4 vl0" ]]
	[[ $(verdict "$T/after" sl_stable --earlier "$T/before") == true ]]

	# OpenSM's own dumps say the same: path SLs follow from its list of
	# coordinates.
	[[ $(loop "$T/sm") == "$(loop "$T/after")" ]]

	# In words: the cables, and what takes part.
	explains "$T/after" 'to multicast group 0xC000, SL [08]'
	explains "$T/after" 'without the multicast'
}

@test "the built-in engine, whole fabrics with a group: clean" {
	local dims

	for dims in "6 5 1" "4 4 4" "5 3 2"; do
		# shellcheck disable=SC2086
		dateline gen $dims -o "$T/f"
		fabric_up "$T/sm" torus-2QoS "$T/f.net" \
			torus_config="$T/f.torus.conf"
		join_all
		rm -rf "$T/snap"
		snapshot "$T/snap"
		as_dumped "$T/sm" "$T/snap"
		[[ $(verdict "$T/snap" credit_loop) == false ]]
		agree "$T/snap" all false
		fabric_down
	done
}

# damaged NUMBER: options of the generator for some failures, drawn from it.
damaged() {
	awk -v seed="$1" 'BEGIN {
		srand(seed)
		for (i = 1 + int(3 * rand()); i > 0; i--)
			printf "--fail-link %d,%d,0:+%s ", 6 * rand(),
				5 * rand(), rand() < 0.5 ? "x" : "y"
		if (rand() < 0.5)
			printf "--fail-switch %d,%d,0", 6 * rand(), 5 * rand()
	}'
}

@test "damaged tori, routed offline: ibdmchk agrees, with and without SLs" {
	local i routed=0

	for i in {1..16}; do
		rm -rf "$T/snap"
		# shellcheck disable=SC2046
		dateline gen 6 5 1 $(damaged "$i") -o "$T/f"
		dateline route "$T/f.net" --torus-config "$T/f.torus.conf" \
			-o "$T/snap" || continue
		routed=$((routed + 1))
		agree "$T/snap" adapters false
		# The same with SL 0 everywhere: rings without datelines.
		sed -i 's/[0-9]*$/0/' "$T/snap/dateline-psl.dump"
		fails dateline verify "$T/snap"
		rm "$T/snap/dateline-manifest.txt"
		agree "$T/snap" adapters true
	done
	((routed >= 8))
}

@test "minhop on a torus: a loop, and what it looks like" {
	dateline gen 5 4 1 -o "$T/f"
	fabric_up "$T/sm" minhop "$T/f.net"
	snapshot "$T/snap"
	as_dumped "$T/sm" "$T/snap"
	agree "$T/snap" all true
	agree "$T/snap" adapters true
	explains "$T/snap" 'The unicast tables make loops by themselves'
}

# engine NAME ALL ADAPTERS [KEY=VALUE...]: what this engine makes of $T/f.net,
# checked by us and by ibdmchk: is there a loop among all packets, and among
# those of adapters?
engine() {
	local name=$1 all=$2 adapters=$3

	shift 3
	fabric_up "$T/sm" "$name" "$T/f.net" "$@"
	snapshot "$T/snap"
	as_dumped "$T/sm" "$T/snap"
	[[ $(verdict "$T/snap" delivered) == true ]]
	agree "$T/snap" all "$all"
	agree "$T/snap" adapters "$adapters"
}

@test "updn on a torus: clean" {
	dateline gen 5 4 1 -o "$T/f"
	sed -n 's/^switchguid=\(0x[0-9a-f]*\).*/\1/p;T;q' "$T/f.net" \
		>"$T/roots"
	engine updn false false root_guid_file="$T/roots"
}

@test "dor on a mesh: clean" {
	dateline gen 4 3 1 --mesh xy -o "$T/f"
	engine dor false false
}

@test "lash on a torus: clean, with three layers" {
	dateline gen 5 4 1 -o "$T/f"
	engine lash false false
	(($(cut -d ' ' -f 3 "$T/snap/dateline-psl.dump" | sort -u | wc -l) == 3))
}

@test "dfsssp and nue on a torus: clean, but for the switches' own packets" {
	dateline gen 5 4 1 -o "$T/f"
	engine dfsssp true false
	explains "$T/snap" 'Between adapters there is no loop'
	fabric_down
	rm -rf "$T/sm" "$T/snap"
	engine nue true false
}

@test "answers that get lost are asked for again" {
	dateline gen 4 4 1 -o "$T/f"
	fabric_up "$T/sm" torus-2QoS "$T/f.net" torus_config="$T/f.torus.conf"
	for s in S_0_0_0 S_1_2_0 S_3_3_0; do
		# LinearForwardingTable, SLtoVLMappingTable
		sim_console "Error \"$s\" 40 25"
	done
	snapshot "$T/snap" --timeout 50 --retries 100
	as_dumped "$T/sm" "$T/snap"
}

@test "coordinates of a running fabric, without a configuration" {
	dateline gen 5 4 3 --hosts 2 --fail-switch 1,1,1 -o "$T/f"
	fabric_up "$T/sm" dateline "$T/f.net"
	snapshot "$T/folder"
	[[ $(wc -l <"$T/folder/dateline-torus.dump") == 59 ]]
	grep -qx 'path-sls asked' "$T/folder/dateline-manifest.txt"
}

@test "path SLs of more than 128 switches: not judged until they are read" {
	local said='path SLs were not read: nothing that depends on them is judged'

	dateline gen 13 10 1 --hosts 0 -o "$T/f"
	fabric_up "$T/sm" dateline "$T/f.net" torus_config="$T/f.torus.conf"
	run -1 snapshot "$T/most.dls"
	grep -q 'path SLs are not read: 130 switches, more than 128; --paths all' \
		"$T/snapshot.err"
	run -2 --separate-stderr dateline verify "$T/most.dls" --json
	jq -e '.verdict == "not judged" or .verdict == "loop possible"' <<<"$output"
	jq -e '.missing[] | select(.what == "the path SLs in use")' <<<"$output"
	jq -e --arg said "$said" '.warnings[] | select(startswith($said))' <<<"$output"
	run -2 sim dateline verify --live
	grep -q "$said" <<<"$output"
	run dateline report "$T/most.dls" -o "$T/page.html"
	grep -q "$said" <<<"$output"
	grep -q '"what": *"the path SLs in use"' "$T/page.html"

	snapshot "$T/all.dls" --paths all
	[[ $(verdict "$T/all.dls" verdict) == '"proven free"' ]]
}

@test "a switch that does not answer: partial, and marked so" {
	dateline gen 4 4 1 -o "$T/f"
	fabric_up "$T/sm" torus-2QoS "$T/f.net" torus_config="$T/f.torus.conf"
	sim_console 'Error "S_1_2_0" 100 25'
	run -1 snapshot "$T/snap" --timeout 50 --retries 20
	grep -q 'S_1_2_0.*does not answer for block of forwarding' \
		"$T/snap/dateline-partial.txt"
	grep -q 'the snapshot is partial' "$T/snapshot.err"
	[[ $(verdict "$T/snap" delivered) == false ]]
	grep -q 'this snapshot is partial' "$T/verify.err"

	# The next, complete one in the same folder is not.
	sim_console 'Error "S_1_2_0" 0 25'
	snapshot "$T/snap" --timeout 50
	[[ ! -e $T/snap/dateline-partial.txt ]]
	[[ $(verdict "$T/snap" delivered) == true ]]
}

@test "no subnet manager: everything but the path SLs" {
	dateline gen 5 3 1 -o "$T/f"
	fabric_up "$T/sm" torus-2QoS "$T/f.net" torus_config="$T/f.torus.conf"
	sm_stop
	run -1 snapshot "$T/snap" --timeout 100 --retries 20
	grep -q 'subnet administrator at LID [0-9]* does not answer' \
		"$T/snap/dateline-partial.txt"
	as_dumped "$T/sm" "$T/snap"
	# Not checked at the SLs in use, which is no finding, and said so ...
	[[ $(verdict "$T/snap" verdict) == '"loop possible"' ]]
	run -2 dateline verify "$T/snap"
	grep -q '^not known: the path SLs in use' <<<"$output"
	grep -q '^credit loops: possible, if applications may use any SL' <<<"$output"
	# ... unless the rule that gives them is known.
	[[ $(verdict "$T/snap" credit_loop \
		--torus-config "$T/f.torus.conf") == false ]]
}

@test "engine, mode and coordinates of the running fabric" {
	# LIDs up to 63: marks have no room behind them, and stay when others route.
	dateline gen 7 3 1 --hosts 2 --scramble 5 -o "$T/f"
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=mode=any-sl dump_dir=$T/dump"
	snapshot "$T/live"
	[[ $(verdict "$T/live" engine,.mode | paste -sd ' ') == '"dateline" "any-sl"' ]]
	wait_for "$DL_PATIENCE" test -e "$T/dump/dateline.dls"
	cmp "$(dumps "$T/dump")/dateline-torus.dump" "$T/live/dateline-torus.dump"
	sm_stop
	# Only the path SLs are those that the marks promise.
	sm_conf "$T/b" minhop
	sm_start "$T/b"
	wait_log 'SUBNET UP'
	snapshot "$T/other"
	grep -q 'mode: unknown: the switches hold marks of .* but not its tables' "$T/snapshot.err"
	grep -qx 'engine -' "$T/other/dateline-manifest.txt"
	[[ $(verdict "$T/other" engine,.mode | paste -sd ' ') == 'null null' ]]
	grep -q '^not known: the routing engine' <(dateline verify "$T/other")
}

# routed_by_now DIR: engine, mode and loop, as verify prints them.
routed_by_now() {
	snapshot "$1" "${@:2}"
	verdict "$1" engine,.mode,.credit_loop | paste -sd ' '
}

# engine_up DIR ENGINE: it routes, and all adapters join a group.
engine_up() {
	local hosts

	sm_conf "$1" "$2" torus_config="$T/f.torus.conf"
	sm_start "$1"
	wait_log 'SUBNET UP'
	hosts=$(sim dateline coords --live --csv -q | cut -d , -f 8 | grep 0x)
	# shellcheck disable=SC2086 # many
	sim "$DL_BUILD/test/fabric/join" 0 0 $hosts >"$T/joined"
	[[ -s $T/joined ]]
}

@test "a fabric that torus-2QoS has routed after Dateline is not called proven" {
	# Their trees differ round the switch that failed: LIDs up to 58, so marks stay.
	dateline gen 6 5 1 --fail-switch 3,2,0 -o "$T/f"
	sim_start "$T/f.net"
	engine_up "$T/a" dateline
	[[ $(routed_by_now "$T/ours") == '"dateline" "proven" false' ]]
	[[ $(routed_by_now "$T/some" --paths none) == '"dateline or torus-2QoS" null '* ]]
	sm_stop
	engine_up "$T/b" torus-2QoS
	[[ $(routed_by_now "$T/theirs") == 'null null true' ]]
	sm_stop
	sim_stop

	# Here nothing but VL arbitration differs.
	dateline gen 7 3 1 --hosts 2 --scramble 5 -o "$T/f"
	sim_start "$T/f.net"
	engine_up "$T/c" dateline
	[[ $(routed_by_now "$T/whole") == '"dateline" "proven" false' ]]
	sm_stop
	engine_up "$T/d" torus-2QoS
	[[ $(routed_by_now "$T/after") == '"dateline or torus-2QoS" null false' ]]
	grep -q 'routed by Dateline or torus-2QoS' "$T/snapshot.err"
}

@test "coordinates of the running fabric" {
	dateline gen 5 4 1 --scramble 3 -o "$T/f"
	sim_start "$T/f.net"
	sim dateline discover --live --torus-config "$T/f.torus.conf" \
		>"$T/live"
	dateline discover "$T/f.net" --torus-config "$T/f.torus.conf" \
		>"$T/file"
	same coordinates "$T/file" "$T/live"
}

@test "no fabric" {
	run -3 dateline discover --live
	run -3 dateline snapshot --live -o "$T/snap"
}

@test "earlier snapshots in a report: those without a time, then the oldest first" {
	local name

	dateline gen 3 3 1 -q -o t
	for name in old another unknown; do
		dateline route t.net --torus-config t.torus.conf -q -o "$name"
	done
	rm {another,unknown}/dateline-manifest.txt
	sleep 1.1
	dateline route t.net --torus-config t.torus.conf -q -o new
	dateline report new --earlier new --earlier unknown --earlier old --earlier another \
		-q -o page.html
	same "order" <(printf '%s\n' new unknown another old new) \
		<(grep -o '"title":"[^"]*"' page.html | cut -d'"' -f4)
}
