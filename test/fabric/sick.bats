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
	[[ $(end_ports "$T/live" | grep -c ^CA) == "$1" ]]
}

@test "a switch is sick at the start: the rest is routed, and it is named" {
	guid_of 1 2 0 >"$SMPS_SICK"
	dateline gen 5 4 1 -o "$T/f" 2>/dev/null
	sim_start "$T/f.net"
	sm_conf "$T/a" dateline torus_config="$T/f.torus.conf" sweep_interval=2
	sm_start "$T/a"
	# The line comes before the tables are written; the next sweep's, after.
	wait_log 'verified free of credit loops; .*: 19 of 19 switches' 2
	wait_log "ERR DL23: 0x$(guid_of 1 2 0) \"S_1_2_0\" is connected to no switch of the rest: left out"
	# OpenSM has no dumps of a sweep with errors: take the tool's.
	rm -rf "$T/live"
	snapshot "$T/live"
	[[ $(verdict "$T/live" delivered --pairs adapters) == true ]]
	[[ $(verdict "$T/live" credit_loop --pairs adapters) == false ]]
	(($(verdict "$T/live" pairs --pairs adapters) >= 19 * 18))
	# It gets well, and is routed like the others.
	: >"$SMPS_SICK"
	wait_log 'verified free of credit loops; .*: 20 of 20 switches, 40 cables between them, 20 adapters'
	# The line comes before the tables are written.
	sm_sweep
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
	# All of it: a sweep may have begun while it was sick.
	wait_log 'routed a .*: 20 of 20 switches, 40 cables between them, 20 adapters' 2
	sm_sweep
	healthy 20
}

@test "six of a hundred answers get lost: the rest is routed all the same" {
	export SMPS_LOSS=$T/loss SMPS_SEED=$DATELINE_SEED
	echo 6 >"$SMPS_LOSS"
	dateline gen 5 4 1 -o "$T/f" 2>/dev/null
	sim_start "$T/f.net"
	sm_conf "$T/a" dateline torus_config="$T/f.torus.conf" sweep_interval=1
	sm_start "$T/a"
	wait_log 'routed a' 4
	fails grep -E 'dateline: ERR DL1[0-9]' "$T/a/osm.log"
}

@test "OperVLs is about to rise, without phases: the log says so, and a second sweep follows" {
	dateline gen 6 5 1 -o "$T/f" 2>/dev/null
	fabric_up "$T/b" minhop "$T/f.net" max_op_vls=1
	sm_stop
	sm_conf "$T/a" dateline torus_config="$T/f.torus.conf" \
		event_plugin_options=transitions=none
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
	wait_log 'verified free of credit loops.*: 19 of 19 switches'
	grep -q '1 data VL between port .* of "S_1_2_0".*: not used' "$T/a/osm.log"
	: >"$SMPS_PLAIN"
	sm_sweep
	wait_log 'verified free of credit loops.*: 20 of 20 switches'
}

@test "NDR links are recorded as such" {
	local net

	export SMPS_SPEED=8
	up 3 3 1
	net=$(dumps "$T/snap")/dateline.net
	grep -q '4xNDR' "$net"
	fails grep -qE '4x[QHES]DR' "$net"
}

@test "SL to VL maps stay towards a switch that does not answer, and its own" {
	export SMPS_SILENT=$T/silent
	: >"$SMPS_SILENT"
	up 5 4 1
	snapshot "$T/before" --paths none
	guid_of 2 2 0 >"$SMPS_SILENT"
	sm_sweep
	wait_log 'routed a .*: 19 of 19 switches'
	snapshot "$T/after" --paths none
	same "SL to VL maps" <(sl2vl "$T/before") <(sl2vl "$T/after")
}

# When the first switch does not answer, OpenSM forgets all others, and what they
# hold; and a port has no state while the answer about it is lost.
@test "SL to VL maps stay where OpenSM has forgotten them and does not see a cable" {
	export SMPS_SILENT=$T/silent SMPS_LIES=$T/lies
	: >"$SMPS_SILENT"
	: >"$SMPS_LIES"
	up 5 4 1
	SMPS_LIES='' snapshot "$T/before" --paths none
	guid_of 0 0 0 >"$SMPS_SILENT"
	sm_sweep
	printf '%s 15 %d 20 10\n' "$(guid_of 2 2 0)" 1 "$(guid_of 3 2 0)" 2 >"$SMPS_LIES"
	: >"$SMPS_SILENT"
	sm_sweep
	wait_log 'dateline: cable gone: S_2_2_0 port 1 to S_3_2_0 port 2 [(][+]x[)], 0 of this hop left'
	SMPS_LIES='' snapshot "$T/after" --paths none
	same "SL to VL maps" <(sl2vl "$T/before") <(sl2vl "$T/after")
}

# broken DIR: "slid dlid switch" of each pair of adapters that no sick switch cuts
# off from H_0_0_0_1, and whose packets the forwarding tables in DIR lose, with the
# switch where it happens.
broken() {
	{
		sed 's/^/sick 0x/' "$SMPS_SICK"
		end_ports "$1" | sed 's/^/end /'
		cables "$1" | sed 's/^/cable /'
		lfts "$1" | sed 's/^/entry /'
	} | awk '
		$1 == "sick" { sick[$2] }
		$1 == "entry" { entry[$2, $3] = $4 }
		$1 == "end" && $2 == "CA" { host[$5] = $3; name[$6] = $5 }
		$1 == "cable" {
			far[$3, $5] = $7
			if ($2 == "CA")
				at[$4] = $7
			else if ($6 == "SW")
				near[$3] = near[$3] " " $7
		}
		function reach(sw,  n, i, next_to) {
			if (sw in sick || sw in reached)
				return
			reached[sw]
			n = split(near[sw], next_to)
			for (i = 1; i <= n; i++)
				reach(next_to[i])
		}
		function walk(sw, to,  hops) {
			for (hops = 0; hops < 64 && (sw, to) in entry; hops++) {
				if (far[sw, entry[sw, to]] == host[to])
					return ""
				sw = far[sw, entry[sw, to]]
			}
			return sw
		}
		END {
			reach(at[name["H_0_0_0_1"]])
			for (from in host)
				for (to in host)
					if (from != to && at[from] in reached && at[to] in reached) {
						n++
						lost = walk(at[from], to)
						if (lost != "")
							print from, to, lost
					}
			if (n < 500)
				print "only " n " pairs"
		}'
}

# all_well: by what the switches hold, the healthy pairs are connected.
all_well() {
	rm -rf "$T/live"
	snapshot "$T/live" --paths none || return
	broken "$T/live" >"$T/broken"
	[[ ! -s $T/broken ]]
}

# sick_event: something fails or comes back; in a campaign, with DATELINE_EVENTS,
# answers get lost meanwhile every third time.
sick_event() {
	local swept

	[[ ! ${DATELINE_EVENTS:-} ]] || ((RANDOM % 3)) || echo $((1 + RANDOM % 6)) >"$SMPS_LOSS"
	case $((RANDOM % 6)) in
	0)
		pick_switch
		IFS='_"' read -ra PICKED <<<"$PICKED"
		guid_of "${PICKED[@]:2:3}" >>"$SMPS_SICK"
		echo >>"$SMPS_SICK"
		(($(wc -l <"$SMPS_SICK") < 4)) || : >"$SMPS_SICK"
		;;
	1) : >"$SMPS_SICK" ;;
	*) until event; do :; done ;;
	esac
	swept=$(log_count "$SWEPT") || true
	kill -HUP "$SM_PID"
	wait_log "$SWEPT" $((swept + 1))
	echo 0 >"$SMPS_LOSS"
}

# The end of a sweep, or of an attempt.
SWEPT='SUBNET UP|Errors during initialization|dateline: ERR DL19'

# as_at_the_start: are the path SLs?  The snapshot is written beside the sweeps, and
# may still be that of the one before.
as_at_the_start() {
	psls "$T/snap" >"$T/psl" && cmp -s "$T/whole.psl" "$T/psl"
}

# DATELINE_EVENTS=N: more of them.
@test "random events with sick parts: what is healthy is connected, without loops" {
	local i

	say "DATELINE_SEED=$DATELINE_SEED"
	export SMPS_LOSS=$T/loss SMPS_SEED=$DATELINE_SEED
	echo 0 >"$SMPS_LOSS"
	up 5 4 3 sweep_interval=1
	psls "$T/whole" >"$T/whole.psl"
	for ((i = 0; i < ${DATELINE_EVENTS:-5}; i++)); do
		sick_event
		wait_for "$DL_PATIENCE" all_well || {
			say "event $i: $(wc -l <"$T/broken") pairs lost, such as" \
				"$(head -n 1 "$T/broken")"
			return 1
		}
		dateline verify "$T/live" --torus-config "$T/f.torus.conf" --pairs adapters \
			-q --json >"$T/verdict" || [[ $? == 1 ]]
		[[ $(jq .credit_loop "$T/verdict") == false ]] || {
			say "event $i: credit loop"
			cat "$T/verdict" "$SMPS_SICK" >&2
			return 1
		}
	done
	# All is well again, as it was.
	: >"$SMPS_SICK"
	mend_all
	sm_sweep
	wait_for "$DL_PATIENCE" as_at_the_start ||
		diff "$T/whole.psl" "$T/psl"
	wait_for "$DL_PATIENCE" all_well
}
