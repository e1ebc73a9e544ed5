#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A subnet manager that stays while the fabric changes under it: cables and
# switches that go and come back, refusals, options that change, another
# subnet manager that takes over.

# Each test is a subshell of its own, and functions are called through
# wait_for: that is meant.
# shellcheck disable=SC2030,SC2031,SC2317

load lib.bash
load events.bash

setup() {
	fabric_init
	events_init
}

# maps_in_use DIR: sl2vl's of adapters, and of switches for ports with cables: the
# others keep what they hold.
maps_in_use() {
	{
		cables "$1" | sed 's/^/cable /'
		sl2vl "$1" | sed 's/^/map /'
	} | awk '
		$1 == "cable" { used[$3, $5] }
		$1 == "map" && (!$4 || (($2, $4) in used && (!$3 || ($2, $3) in used)))'
}

@test "24 events on a 5x4x3 torus, a sweep after each" {
	up 5 4 3
	events "${DATELINE_EVENTS:-24}"
	mend_all
	expect
	settle
	check_snapshot
	# As a fresh start has them.
	sm_stop
	sm_conf "$T/b" dateline torus_config="$T/f.torus.conf"
	sm_start "$T/b"
	wait_log 'SUBNET UP'
	same "forwarding tables" <(lfts "$T/a") <(lfts "$T/b")
	same "SL to VL" <(maps_in_use "$T/a") <(maps_in_use "$T/b")
}

# hardware LID PORT...: what the switch of that LID and its ports hold.
hardware() {
	local lid=$1 port

	shift
	sim ibroute "$lid" | awk '/^0x/ { print $1, $2 }'
	for port; do
		sim smpquery sl2vl "$lid" "$port"
		sim smpquery vlarb "$lid" "$port"
	done
}

lid_of() {
	end_ports "$T/whole" | awk -v name="$1" '$5 == name { print $4 }'
}

@test "a refused sweep leaves the last good tables in force" {
	local far few
	up 5 4 1
	few=$(hosts | some 6)
	# shellcheck disable=SC2086
	join_group 0 0 $few
	far=$(lid_of S_4_3_0)
	pairs "$T/a" CA | some 40 >"$T/pairs"
	path_sls <"$T/pairs" >"$T/sls"
	[[ $(wc -l <"$T/sls") == 40 ]]
	lfts "$T/a" >"$T/good"
	cp "$T/good" "$T/first"
	hardware "$far" 0 1 2 3 4 5 >"$T/far"
	# Two switches side by side in x.
	kill_switch '"S_1_1_0"'
	kill_switch '"S_2_1_0"'
	expect
	[[ $EXPECTED == refused ]]
	settle
	wait_log 'ERR DL14: .*no switch at \(1,1,0\)'
	same "a switch's tables" "$T/far" <(hardware "$far" 0 1 2 3 4 5)
	# Paths that are whole are granted, with the SLs they had.
	path_sls <"$T/pairs" >"$T/now"
	(($(wc -l <"$T/now") >= 20))
	[[ -z $(comm -23 "$T/now" "$T/sls") ]]
	# Groups go on along the same tree.
	join_group 1 8 "$(hosts | head -n 1)" "$(hosts | tail -n 1)"
	# Back, and all is as before.
	mend_all
	expect
	settle
	same "forwarding tables" "$T/first" <(lfts "$T/a")
	same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
	mfts "$T/a" >"$T/mfts"
	[[ $(cut -d ' ' -f 2 "$T/mfts" | sort -u | wc -l) == 2 ]]
	# A fresh start builds the same trees, from the same joins.
	sm_stop
	sm_start "$T/a"
	wait_log 'SUBNET UP'
	# shellcheck disable=SC2086
	join_group 0 0 $few
	join_group 1 8 "$(hosts | head -n 1)" "$(hosts | tail -n 1)"
	sm_sweep
	same "multicast tables" "$T/mfts" <(mfts "$T/a")
}

# sends_nothing SWITCH PORT: OpenSM's last dump has no entry for that port.
sends_nothing() {
	lfts "$T/a" >"$T/now"
	[[ -s $T/now ]] && fails grep -q "^$1 [0-9]* $2$" "$T/now"
}

# cross: two cables towards +x, and a reason to refuse.
cross() {
	echo nonsense >>"$T/f.torus.conf"
	sim_console 'Unlink "S_1_1_0"[1]' >/dev/null
	sim_console 'Unlink "S_1_2_0"[1]' >/dev/null
	sim_console 'Link "S_1_1_0"[1] "S_2_2_0"[2]' >/dev/null
	sim_console 'Link "S_1_2_0"[1] "S_2_1_0"[2]' >/dev/null
}

@test "tables that stay in force send nothing into cables that lead elsewhere" {
	local a b
	up 5 4 1
	lfts "$T/a" >"$T/good"
	a=$(end_ports "$T/whole" | awk '$5 == "S_1_1_0" { print $2 }')
	b=$(lid_of S_2_1_0)
	grep -q "^$a $b 1$" "$T/good"
	cross
	sm_sweep
	wait_log 'ERR DL19'
	sends_nothing "$a" 1
	# All else is as it was.
	(($(comm -23 "$T/good" "$T/now" | cut -d ' ' -f 1 | uniq | wc -l) == 4))
	[[ -z $(comm -13 "$T/good" "$T/now") ]]
}

# guids PATTERN: of the switches with such names.
guids() {
	end_ports "$T/whole" | awk -v name="$1" '$5 ~ name { print $2 }'
}

# elsewhere GUIDS < ENTRIES: those that neither stand in switches of that file nor
# lead to one.
elsewhere() {
	awk 'FILENAME != "-" && NF == 1 { far[$1]; next }
		FILENAME != "-" { leads[$2, $4] = $6; next }
		!($1 in far) && !(leads[$1, $3] in far)' "$1" <(cables "$T/whole") -
}

@test "... nor into cables of which OpenSM does not know where they lead" {
	local guid up
	export SMPS_SILENT=$T/silent
	: >"$SMPS_SILENT"
	up 5 4 1
	guids '^S_2_[12]_0$' >"$T/far"
	[[ $(wc -l <"$T/far") == 2 ]]
	lfts "$T/a" | elsewhere "$T/far" >"$T/good"
	cp "$T/far" "$SMPS_SILENT"
	cross
	up=$(log_count 'SUBNET UP')
	sm_sweep
	# Links to what is silent are active: OpenSM looks, and writes its dumps, twice.
	wait_log 'SUBNET UP' $((up + 2))
	wait_log 'ERR DL19'
	for guid in $(guids '^S_1_[12]_0$'); do
		sends_nothing "$guid" 1
	done
	same "all else" "$T/good" <(elsewhere "$T/far" <"$T/now")
}

@test "a refused sweep is left to the next engine, if one is listed" {
	up 5 4 1 routing_engine=dateline,minhop
	kill_switch '"S_1_1_0"'
	kill_switch '"S_2_1_0"'
	sm_sweep
	wait_log 'minhop tables configured'
	[[ $(log_count 'ERR DL19') == 0 ]]
	mend_all
	expect
	settle
}

@test "with the unicast cache" {
	up 4 4 3 use_ucast_cache=TRUE
	events 12
	mend_all
	expect
	settle
}

@test "with 2 and with 4 LIDs a port" {
	for LMC in 1 2; do
		up 4 3 3 lmc="$LMC"
		events 4
		fabric_down
		rm -r "$T/a" "$T/snap" "$T/whole"
		setup
	done
}

@test "the seeds' switches are dead when OpenSM starts" {
	up 5 5 1
	psls "$T/whole" >"$T/whole.psl"
	awk '/^xp_link/ { print $2 }' "$T/f.torus.conf" >"$T/seeds"
	(($(wc -l <"$T/seeds") > 1))
	sm_stop
	# Of the first seed, and OpenSM has no other memory than the file.
	SEED=$(end_ports "$T/whole" | awk -v s="$(head -n 1 "$T/seeds")" \
		'$2 == s { print $5 }')
	kill_switch "\"$SEED\""
	expect
	[[ $EXPECTED == '24 of 24 switches'* ]]
	rm -r "$T/a"
	SIM_HOST=H_2_2_0_1 fabric_up "$T/a" dateline "$T/f.net" \
		torus_config="$T/f.torus.conf" \
		"event_plugin_options=mode=classic dump_dir=$T/snap"
	as_expected
	wait_log 'seed 2 from switch '
	settle
	check_snapshot
}

@test "SIGHUP: torus_config and options are read again" {
	up 5 4 1 qos_swe_high_limit=3
	# Another place for the dateline: other SLs.
	sed -i 's/^x_dateline .*/x_dateline -1/; /^next_seed/,$d' \
		"$T/f.torus.conf"
	sed -i 's/^qos_swe_high_limit.*/qos_swe_vlarb_high 0:9,1:9,2:9,3:9,4:5,5:5,6:5,7:5/' \
		"$T/a/opensm.conf"
	expect
	settle
	wait_for "$DL_PATIENCE" snapshot_is_new
	fails cmp -s <(psls "$T/whole") <(psls "$T/snap")
	same "path SLs" <(sort "$T/offline/dateline-psl.dump") \
		<(psls "$T/snap")
	[[ $(arbitration <<<"$(lid_of S_1_1_0) 1" |
		awk '$3 == "high" { printf "%d:%d ", $4, $5 }') == \
		'0:9 1:9 2:9 3:9 4:5 5:5 6:5 7:5 ' ]]
}

@test "a standby subnet manager takes over" {
	local master
	up 5 4 1 sm_priority=14
	cut_cable '"S_1_1_0"[1]'
	expect
	settle
	pairs "$T/a" CA | some 16 >"$T/pairs"
	path_sls <"$T/pairs" >"$T/sls"
	master=$SM_PID
	sm_conf "$T/b" dateline torus_config="$T/f.torus.conf" sm_priority=3 \
		sminfo_polling_timeout=300 polling_retry_number=2 \
		event_plugin_options=mode=classic
	SIM_HOST=H_2_2_0_1 sm_start "$T/b"
	wait_log 'Entering STANDBY'
	[[ $(log_count 'SUBNET UP') == 0 ]]
	sm_hand_over "$master"
	wait_log 'SUBNET UP'
	same "forwarding tables" <(lfts "$T/a") <(lfts "$T/b")
	same "SL to VL" <(sl2vl "$T/a") <(sl2vl "$T/b")
	SIM_HOST=H_3_3_0_1
	export SIM_HOST
	same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
}

@test "path queries are answered while tables are computed" {
	local at

	up 5 4 1
	pairs "$T/a" CA | some 10 >"$T/pairs"
	path_sls <"$T/pairs" >"$T/sls"
	[[ $(wc -l <"$T/sls") == 10 ]]
	# From now on its configuration comes when the test says so.
	mv "$T/f.torus.conf" "$T/kept"
	mkfifo "$T/f.torus.conf"
	at=$(log_count 'SUBNET UP')
	kill -HUP "$SM_PID"
	exec {gate}>"$T/f.torus.conf"
	same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
	(($(log_count 'SUBNET UP') == at))
	cat "$T/kept" >&"$gate"
	exec {gate}>&-
	wait_log 'SUBNET UP' $((at + 1))
	same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
}

@test "a disk that hangs holds up no sweep, and the last snapshot is whole" {
	export SMPS_STUCK=$T/snap
	up 5 4 1
	touch "$T/snap/stuck"
	# One is being written, one waits, and then others take its place.
	sm_sweep
	sm_sweep
	cut_cable '"S_1_1_0"[1]'
	sm_sweep
	sm_sweep
	(($(log_count 'a snapshot is left out|is left out for a newer one') >= 1))
	cp -r "$T/snap" "$T/meanwhile"
	dateline verify "$T/meanwhile"
	same "forwarding tables" <(lfts "$T/whole") <(lfts "$T/meanwhile")
	rm "$T/snap/stuck"
	sm_stop
	expect
	lfts "$T/offline" >"$T/good"
	check_snapshot
}

@test "what changed is told, and no more lines than asked for" {
	up 5 4 1
	cut_cable '"S_1_1_0"[1]'
	kill_switch '"S_3_2_0"'
	expect
	settle
	wait_log 'dateline: .*switch 0x00d1000302000000 "S_3_2_0" is gone'
	wait_log 'dateline: cable gone: S_1_1_0 port 1 to S_2_1_0 port 2 \(\+x\), 0 of this hop left'
	echo "max_changes 1" >>"$T/f.torus.conf"
	mend_all
	settled=$(wc -l <"$T/a/osm.log")
	expect
	settle
	[[ $(tail -n +"$((settled + 1))" "$T/a/osm.log" |
		grep -cE 'dateline: (\([0-9],[0-9],[0-9]\)|cable (gone|new)): ') == 1 ]]
}

@test "no configuration: restarts on a damaged fabric change no path SL" {
	local i
	[[ ! -e /etc/opensm/torus-2QoS.conf ]] || skip "OpenSM's default exists"
	RANDOM=7
	up_unconfigured 5 4 3
	psls "$T/whole" >"$T/whole.psl"
	for ((i = 0; i < 4; i++)); do
		# This one knows the whole torus from the marks only.
		sm_stop
		EXPECTED=refused
		while [[ $EXPECTED == refused ]]; do
			mend_all
			kill_switch "\"S_$((1 + RANDOM % 4))_$((RANDOM % 4))_1\""
			pick "${CABLES[@]}"
			cut_cable "$PICKED"
			expect --no-psl
		done
		rm -r "$T/snap"
		sm_start "$T/a"
		wait_log 'SUBNET UP'
		wait_log 'routed a .*: 59 of 59 switches'
		wait_for "$DL_PATIENCE" test -e "$T/snap/dateline.dls"
		dateline verify -q "$T/snap"
		psls "$T/snap" >"$T/psl"
		[[ -s $T/psl && -z $(comm -23 "$T/psl" "$T/whole.psl") ]]
	done
}

# light_sweeps N: so many more, of 29 switches, have begun.
light_sweeps() {
	local from

	from=$(grep -c '^1 12 ' "$SMPS_LOG") || true
	asked() { (($(grep -c '^1 12 ' "$SMPS_LOG") > from + 29 * $1)); }
	wait_for "$DL_PATIENCE" asked "$1"
}

@test "a refused sweep is tried again, without being asked" {
	export SMPS_LOG=$T/smps
	up 6 5 1 sweep_interval=1
	cp "$T/f.torus.conf" "$T/good.conf"
	# The cause: a configuration that cannot be read, when a switch fails.
	echo 'nonsense' >>"$T/f.torus.conf"
	kill_switch '"S_3_2_0"'
	wait_log 'ERR DL11'
	wait_log 'ERR DL19'
	# It is tried again while the cause lasts, and routed once it is gone.
	wait_log 'ERR DL19' 3
	mv "$T/good.conf" "$T/f.torus.conf"
	wait_log 'routed a .*: 29 of 29 switches'
	# Then OpenSM rests.
	light_sweeps 3
	log_count 'routed a' >"$T/routed"
	light_sweeps 2
	log_count 'routed a' | cmp - "$T/routed"
	snapshot "$T/live"
	[[ $(verdict "$T/live" delivered) == true ]]
	[[ $(verdict "$T/live" credit_loop) == false ]]
}
