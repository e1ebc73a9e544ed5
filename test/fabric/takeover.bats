#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Path SLs that were granted stay, whoever manages the subnet: standbys and
# restarts without a configuration, on fabrics that are damaged and repaired
# meanwhile.

# shellcheck disable=SC2030,SC2031,SC2317

load lib.bash
load events.bash

setup() {
	[[ ! -e /etc/opensm/torus-2QoS.conf ]] || skip "OpenSM's default exists"
	fabric_init
	events_init proven
	STANDBY='' N=0
}

teardown() {
	[[ ! $STANDBY ]] || end_process "$STANDBY"
	fabric_down
}

# new_sm HOST [KEY=VALUE...]: a subnet manager that has nothing to go by; in
# $SM_DIR and $SM_PID.
new_sm() {
	local host=$1 dir=$T/sm$((++N))

	shift
	sm_conf "$dir" dateline sminfo_polling_timeout=300 \
		polling_retry_number=2 \
		event_plugin_options="mode=$MODE dump_dir=$dir/snap" "$@"
	SIM_HOST=$host sm_start "$dir"
}

# A sweep has ended; what it granted, "node-guid dlid sl".
granted() {
	wait_for "$DL_PATIENCE" test -e "$SM_DIR/snap/dateline.dls"
	psls "$SM_DIR/snap"
}

# The SLs are those of all subnet managers so far; new pairs are added.
check_granted() {
	granted >"$T/now"
	[[ -s $T/now ]]
	touch "$T/all"
	awk 'NR == FNR { sl[$1, $2] = $3; next }
		($1, $2) in sl && sl[$1, $2] != $3' "$T/all" "$T/now" >"$T/changed"
	sort -u "$T/all" "$T/now" -o "$T/all"
	[[ ! -s $T/changed ]] || {
		say "$(wc -l <"$T/changed") of $(wc -l <"$T/now") SLs changed"
		grep -E 'dateline|ERR' "$SM_DIR/osm.log" | tail -n 20 >&2
		return 1
	}
}

# Something fails, or is repaired; not the switches of the two hosts.
damage() {
	local i

	for ((i = 0; i <= RANDOM % 4; i++)); do
		if ((RANDOM % 8 == 0)); then
			mend_all
		elif ((RANDOM % 3)); then
			pick "${CABLES[@]}"
			cut_cable "$PICKED"
		else
			pick "${SWITCHES[@]}"
			[[ $PICKED == "$HOME_A" || $PICKED == "$HOME_B" ]] ||
				kill_switch "$PICKED"
		fi
		((${#DEAD[@]} < 4 && ${#CUT[@]} < 8)) || mend_all
	done
}

# A new fabric, X Y Z [GENERATOR-ARGUMENT...], and its first subnet manager.
begin() {
	HOME_A='"S_0_0_0"' HOME_B='"S_2_1_0"'
	rm -f "$T/all"
	make_torus "$@"
	sim_start "$T/f.net"
	new_sm H_0_0_0_1 sm_priority=3
	wait_log 'SUBNET UP'
	check_granted
}

# A subnet manager has come: it knew all.
check_new() {
	wait_log 'SUBNET UP'
	check_granted
	fails grep 'ERR DL27' "$SM_DIR/osm.log"
}

# restarts COUNT X Y Z [GENERATOR-ARGUMENT...]: at two hosts in turn, while the
# fabric changes.
restarts() {
	local count=$1 i

	shift
	say "DATELINE_SEED=$DATELINE_SEED"
	begin "$@"
	for ((i = 0; i < count; i++)); do
		damage
		if ((RANDOM % 2)); then
			# The master lives through some of it.
			rm -f "$SM_DIR/snap/dateline.dls"
			sm_sweep
			check_granted
			damage
		fi
		if ((RANDOM % 2)); then
			kill -KILL "$SM_PID"
		fi
		sm_stop
		((RANDOM % 2)) || damage
		if ((i % 2)); then
			new_sm H_0_0_0_1
		else
			new_sm H_2_1_0_1
		fi
		check_new
	done
}

# takeovers COUNT X Y Z [GENERATOR-ARGUMENT...].  A standby waits for an answer
# to its first trap for good, and ibsim delivers that once only: so each has a
# fabric of its own.
takeovers() {
	local count=$1 i

	shift
	say "DATELINE_SEED=$DATELINE_SEED"
	for ((i = 0; i < count; i++)); do
		events_init proven
		RANDOM=$((DATELINE_SEED + i))
		begin "$@" --scramble "$RANDOM"
		damage
		damage
		rm -f "$SM_DIR/snap/dateline.dls"
		sm_sweep
		check_granted
		STANDBY=$SM_PID
		new_sm H_2_1_0_1 sm_priority=1
		wait_log 'Entering STANDBY'
		SIM_HOST=H_0_0_0_1 sm_hand_over "$STANDBY"
		STANDBY=''
		check_new
		fabric_down
	done
}

@test "odd rings: restarts change no SL" {
	restarts "${DATELINE_CHANGES:-3}" 5 3 3 --scramble "$DATELINE_SEED"
}

@test "odd and even rings: takeovers change no SL" {
	takeovers "${DATELINE_CHANGES:-2}" 5 4 3
}

@test "a standby without the master's torus_config finds its coordinates" {
	dateline gen 5 4 3 --scramble 3 -q -o "$T/f"
	sed -i 's/^x_dateline .*/x_dateline -1/; /^next_seed/,$d' "$T/f.torus.conf"
	sim_start "$T/f.net"
	new_sm H_0_0_0_1 torus_config="$T/f.torus.conf"
	wait_log 'SUBNET UP'
	check_granted
	sm_stop
	sim_console 'Unlink "S_1_1_1"[1]'
	new_sm H_2_1_0_1
	check_new
}

@test "tables of another engine: the log says that SLs may change" {
	dateline gen 5 3 1 -q -o "$T/f"
	fabric_up "$T/a" minhop "$T/f.net"
	sm_stop
	fabric_up "$T/b" dateline "$T/f.net"
	wait_log 'ERR DL27: the switches hold tables of an earlier subnet manager, but no coordinates'
	# Before they do.
	(($(grep -n 'ERR DL27' "$T/b/osm.log" | cut -d : -f 1) <
		$(grep -n 'tables configured' "$T/b/osm.log" | cut -d : -f 1)))
	# Another configuration than the one whose coordinates are in force.
	cp "$T/f.torus.conf" "$T/other.conf"
	sm_stop
	sed -i '/^next_seed/,$d; s/^x_dateline .*/x_dateline 2/' "$T/other.conf"
	fabric_up "$T/c" dateline "$T/f.net" torus_config="$T/other.conf"
	wait_log 'ERR DL27: new coordinates: [0-9]+ of 225 path SLs between switches change'
}
