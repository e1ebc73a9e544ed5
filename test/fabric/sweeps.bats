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

setup() {
	fabric_init
	declare -gA FAR=() ENDS=() UNLINKED=() CUT=() DEAD=()
	declare -ga SWITCHES=() CABLES=()
	SEED=${DATELINE_SEED:-$(($(date +%s) % 32768))}
	RANDOM=$SEED
}

teardown() {
	fabric_down
}

# up X Y Z [KEY=VALUE...]: that torus, routed by dateline in classic mode.
# OpenSM sweeps when it is told to, not when a trap comes in the middle of a
# change that takes more than one command.
up() {
	local near far x=$1 y=$2 z=$3

	shift 3
	dateline gen "$x" "$y" "$z" -o "$T/f" 2>/dev/null
	while read -r near far; do
		FAR[$near]=$far
		ENDS[${near%[[]*}]+="$near "
		[[ $near != '"S'* || $far != '"S'* || ${FAR[$far]:-} ]] ||
			CABLES+=("$near")
	done < <(awk '/^(Switch|Ca)/ { name = $3 }
		/^\[/ {
			sub(/\(.*/, "", $1); sub(/\(.*/, "", $2)
			print name $1, $2
		}' "$T/f.net")
	mapfile -t SWITCHES < <(awk '/^Switch/ { print $3 }' "$T/f.net")
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=mode=classic dump_dir=$T/snap" \
		sweep_on_trap=FALSE "$@"
	# The last of its files.
	wait_for 20 test -e "$T/snap/dateline-psl.dump"
	cp -r "$T/snap" "$T/whole"
}

#
# Damage.  A cable is named by an end, "switch"[port], as on ibsim's console,
# which mends it from the end where it was cut.
#

unlink_end() {
	[[ ! ${UNLINKED[$1]:-} && ! ${UNLINKED[${FAR[$1]}]:-} ]] || return 0
	sim_console "Unlink $1" >/dev/null
	UNLINKED[$1]=1
}

# ... unless something else keeps the cable down.
relink_end() {
	local far=${FAR[$1]} end

	[[ ! ${CUT[$1]:-} && ! ${CUT[$far]:-} && ! ${DEAD[${1%[[]*}]:-} &&
		! ${DEAD[${far%[[]*}]:-} ]] || return 0
	for end in "$1" "$far"; do
		[[ ${UNLINKED[$end]:-} ]] || continue
		sim_console "ReLink $end" >/dev/null
		unset 'UNLINKED[$end]'
	done
}

cut_cable() {
	CUT[$1]=1
	unlink_end "$1"
}

mend_cable() {
	unset 'CUT[$1]'
	relink_end "$1"
}

kill_switch() {
	local end

	DEAD[$1]=1
	for end in ${ENDS[$1]}; do
		unlink_end "$end"
	done
}

revive_switch() {
	local end

	unset 'DEAD[$1]'
	for end in ${ENDS[$1]}; do
		relink_end "$end"
	done
}

mend_all() {
	local what

	for what in "${!DEAD[@]}"; do
		revive_switch "$what"
	done
	for what in "${!CUT[@]}"; do
		mend_cable "$what"
	done
}

# The netlist without what is down, and with OpenSM's LIDs.
damaged_net() {
	awk -v cut="${!CUT[*]}" -v dead="${!DEAD[*]}" \
		-v lmc="${LMC:-0}" '
		function down(end,  name) {
			name = end
			sub(/\[.*/, "", name)
			return end in gone || name in gone
		}
		BEGIN {
			n = split(cut " " dead, word, " ")
			for (i = 1; i <= n; i++)
				gone[word[i]]
		}
		NR == FNR { lid["\"" $5 "\""] = $4; next }
		/^(Switch|Ca)/ { name = $3 }
		# Adapters, of one port, die with their switch.
		/^(vendid|devid|switchguid|caguid)/ { held = held $0 "\n"; next }
		/^Switch/ {
			skip = down(name)
			line = $1 " " $2 " " name " # \"s\" base port 0 lid " \
				lid[name] " lmc 0"
			print skip ? "" : held line
			held = ""
		}
		/^Ca/ { held = held $1 " " $2 " " name "\n" }
		/^\[/ {
			sub(/\(.*/, "", $1)
			sub(/\(.*/, "", $2)
			if (held != "")
				skip = down($2)
			if (!skip && !down(name $1) && !down($2))
				print held $1 " " $2 \
					(held == "" ? "" : " # lid " lid[name] " lmc " lmc)
			held = ""
		}' <(end_ports "$T/whole") "$T/f.net"
}

#
# What should be, and what is.
#

# Route the damage offline.  $EXPECTED is "refused", or what the plugin says of
# a fabric that is routed.
expect() {
	damaged_net >"$T/now.net"
	EXPECTED=refused
	if dateline route "$T/now.net" --torus-config "$T/f.torus.conf" \
		--mode classic -o "$T/offline" "$@" 2>"$T/route.err"; then
		EXPECTED=$(awk '
			/^Switch/ { n++; sw = 1 }
			/^Ca/ { sw = 0 }
			/^\[/ && sw && $2 ~ /^"S/ { c++ }
			END { print n " of " n " switches, " c / 2 " cables" }' \
			"$T/now.net")
	elif (($? != 1)); then
		cat "$T/route.err" >&2
		return 1
	fi
}

# What the last sweep said.
verdict() {
	awk '/dateline: routed a/ {
			match($0, /[0-9]+ of [0-9]+ switches, [0-9]+ cables/)
			v = substr($0, RSTART, RLENGTH)
		}
		/dateline: ERR DL19/ { v = "refused" }
		END { print v }' "$T/a/osm.log"
}

as_expected() {
	[[ $(verdict) == "$EXPECTED" ]]
}

lfts_are() {
	lfts "$T/a" | cmp -s - "$1"
}

# The fabric is as it should be, once the sweeps that traps set off are done.
settle() {
	rm -f "$T/snap/dateline-psl.dump"
	sm_sweep
	wait_for 20 as_expected || {
		say "expected: $EXPECTED; but OpenSM says: $(verdict)"
		return 1
	}
	if [[ $EXPECTED == refused ]]; then
		# What is left has the tables it had.
		[[ -s $T/good ]]
		lfts "$T/a" >"$T/now"
		[[ -s $T/now && -z $(comm -23 "$T/now" "$T/good") ]] && return
		say "tables changed by a refused sweep"
		return 1
	fi
	lfts "$T/offline" >"$T/want"
	wait_for 20 lfts_are "$T/want" ||
		same "forwarding tables" "$T/want" <(lfts "$T/a")
	mv "$T/want" "$T/good"
}

# The snapshot delivers, without credit loops, and no path SL has changed.
check_snapshot() {
	[[ $EXPECTED != refused ]] || return 0
	wait_for 20 snapshot_is_new ||
		same "SL to VL" <(sl2vl "$T/offline") <(sl2vl "$T/snap")
	dateline verify "$T/snap" >"$T/verify.out" 2>&1 || {
		cat "$T/verify.out" >&2
		return 1
	}
	sort "$T/snap/dateline-psl.dump" >"$T/psl"
	[[ -s $T/psl && -z $(comm -23 "$T/psl" "$T/whole.psl") ]]
}

snapshot_is_new() {
	[[ -e $T/snap/dateline-psl.dump ]] && lfts "$T/snap" | cmp -s - "$T/good" &&
		cmp -s <(sl2vl "$T/offline") <(sl2vl "$T/snap")
}

# The subnet manager's memory in kB.
memory() {
	awk '/^VmRSS/ { print $2 }' "/proc/$SM_PID/status"
}

#
# Random events.
#

# pick NAME...: one of them.
pick() {
	local -a of=("$@")

	PICKED=${of[RANDOM % $#]}
}

# A switch; every other time above one that is down, if there is one.  Not the
# one on which the subnet manager hangs.
pick_switch() {
	local c

	pick "${SWITCHES[@]}"
	if ((${#DEAD[@]} && RANDOM % 2)); then
		pick "${!DEAD[@]}"
		IFS='_"' read -ra c <<<"$PICKED"
		PICKED="\"S_${c[2]}_${c[3]}_$(((c[4] + 1) % 4))\""
	fi
	[[ $PICKED != '"S_0_0_0"' ]] || PICKED='"S_1_1_1"'
}

# One thing goes or comes back.
event() {
	local what=$((RANDOM % 6))

	((${#DEAD[@]} < 3 && ${#CUT[@]} < 5)) || what=$((4 + RANDOM % 2))
	case $what in
	0 | 1)
		pick "${CABLES[@]}"
		[[ ! ${UNLINKED[$PICKED]:-} &&
			! ${UNLINKED[${FAR[$PICKED]}]:-} ]] || return 1
		cut_cable "$PICKED"
		;;
	2 | 3)
		pick_switch
		[[ ! ${DEAD[$PICKED]:-} ]] || return 1
		kill_switch "$PICKED"
		;;
	4)
		((${#CUT[@]})) || return 1
		pick "${!CUT[@]}"
		# It must show.
		[[ ! ${DEAD[${PICKED%[[]*}]:-} &&
			! ${DEAD[${FAR[$PICKED]%[[]*}]:-} ]] || return 1
		mend_cable "$PICKED"
		;;
	5)
		((${#DEAD[@]})) || return 1
		pick "${!DEAD[@]}"
		revive_switch "$PICKED"
		;;
	esac
}

# events COUNT: so many, with a sweep and a look after each.
events() {
	local i early=0 accepted=0 refused=0

	say "DATELINE_SEED=$SEED"
	sort "$T/whole/dateline-psl.dump" >"$T/whole.psl"
	lfts "$T/a" >"$T/good"
	for ((i = 1; i <= $1; i++)); do
		until event; do :; done
		if ((i % 10)); then
			expect --no-psl
			settle
		else
			expect
			settle
			check_snapshot
		fi
		alive "$SM_PID"
		if [[ $EXPECTED == refused ]]; then
			refused=$((refused + 1))
		else
			accepted=$((accepted + 1))
		fi
		((i != $1 / 4)) || early=$(memory)
	done
	say "$accepted states accepted, $refused refused; memory after a" \
		"quarter $early kB, at the end $(memory) kB"
	# Of a few events all may lead to states that are refused.
	(($1 < 50 || (accepted > $1 / 4 && refused)))
	(($(memory) < early + early / 10 + 1024))
}

@test "100 events on a 5x5x4 torus, a sweep after each" {
	up 5 5 4
	events "${DATELINE_EVENTS:-100}"
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
	same "SL to VL" <(sl2vl "$T/a") <(sl2vl "$T/b")
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

hosts() {
	end_ports "$T/whole" | awk '$1 == "CA" { print $3 }'
}

# join GROUP SL PORT-GUID...
join() {
	sim "$DL_BUILD/test/fabric/join" "$@" >"$T/join.out"
}

# mfts: "switch mlid ports..." of every entry that is not empty, sorted.
mfts() {
	awk '/^Switch/ { sw = $2 }
		/^0x/ && NF > 2 { $2 = ""; $1 = $1; print sw, $0 }' \
		"$T/a/opensm.mcfdbs" | sort
}

@test "a refused sweep leaves the last good tables in force" {
	local far few
	up 5 4 1
	few=$(hosts | some 6)
	# shellcheck disable=SC2086
	join 0 0 $few
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
	join 1 8 "$(hosts | head -n 1)" "$(hosts | tail -n 1)"
	# Back, and all is as before.
	mend_all
	expect
	settle
	same "forwarding tables" "$T/first" <(lfts "$T/a")
	same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
	mfts >"$T/mfts"
	[[ $(cut -d ' ' -f 2 "$T/mfts" | sort -u | wc -l) == 2 ]]
	# A fresh start builds the same trees, from the same joins.
	sm_stop
	sm_start "$T/a"
	wait_log 'SUBNET UP'
	# shellcheck disable=SC2086
	join 0 0 $few
	join 1 8 "$(hosts | head -n 1)" "$(hosts | tail -n 1)"
	sm_sweep
	same "multicast tables" "$T/mfts" <(mfts)
}

# sends_nothing SWITCH PORT: OpenSM's last dump has no entry for that port.
sends_nothing() {
	lfts "$T/a" >"$T/now"
	[[ -s $T/now ]] && fails grep -q "^$1 [0-9]* $2$" "$T/now"
}

@test "tables that stay in force send nothing into cables that lead elsewhere" {
	local a b
	up 5 4 1
	cp "$T/f.torus.conf" "$T/good.conf"
	lfts "$T/a" >"$T/good"
	a=$(end_ports "$T/whole" | awk '$5 == "S_1_1_0" { print $2 }')
	b=$(lid_of S_2_1_0)
	grep -q "^$a $b 1$" "$T/good"
	# Two cables towards +x, crossed; and a reason to refuse.
	sim_console 'Unlink "S_1_1_0"[1]' >/dev/null
	sim_console 'Unlink "S_1_2_0"[1]' >/dev/null
	sim_console 'Link "S_1_1_0"[1] "S_2_2_0"[2]' >/dev/null
	sim_console 'Link "S_1_2_0"[1] "S_2_1_0"[2]' >/dev/null
	echo nonsense >>"$T/f.torus.conf"
	sm_sweep
	wait_log 'ERR DL19'
	# OpenSM may have been in the middle of another sweep when told.
	wait_for 20 sends_nothing "$a" 1 ||
		fails grep "^$a [0-9]* 1$" "$T/now"
	# All else is as it was.
	(($(comm -23 "$T/good" "$T/now" | cut -d ' ' -f 1 | uniq | wc -l) == 4))
	[[ -z $(comm -13 "$T/good" "$T/now") ]]
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
	sort "$T/whole/dateline-psl.dump" >"$T/whole.psl"
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
	wait_for 20 snapshot_is_new
	fails cmp -s "$T/whole/dateline-psl.dump" "$T/snap/dateline-psl.dump"
	same "path SLs" <(sort "$T/offline/dateline-psl.dump") \
		<(sort "$T/snap/dateline-psl.dump")
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
	pairs "$T/a" CA | some 40 >"$T/pairs"
	path_sls <"$T/pairs" >"$T/sls"
	master=$SM_PID
	sm_conf "$T/b" dateline torus_config="$T/f.torus.conf" sm_priority=3 \
		sminfo_polling_timeout=300 polling_retry_number=2 \
		event_plugin_options=mode=classic
	SIM_HOST=H_2_2_0_1 sm_start "$T/b"
	wait_log 'Entering STANDBY'
	[[ $(log_count 'SUBNET UP') == 0 ]]
	end_process "$master"
	wait_log 'SUBNET UP'
	same "forwarding tables" <(lfts "$T/a") <(lfts "$T/b")
	same "SL to VL" <(sl2vl "$T/a") <(sl2vl "$T/b")
	SIM_HOST=H_3_3_0_1
	export SIM_HOST
	same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
}

@test "what changed is told, and no more lines than asked for" {
	up 5 4 1
	cut_cable '"S_1_1_0"[1]'
	kill_switch '"S_3_2_0"'
	expect
	settle
	wait_log 'dateline: .*switch 0x00d1000302000000 "S_3_2_0" is gone'
	wait_log 'dateline: \(1,1,0\): 0 cables towards \+x, 1 before'
	echo "max_changes 1" >>"$T/f.torus.conf"
	mend_all
	settled=$(wc -l <"$T/a/osm.log")
	expect
	settle
	[[ $(tail -n +"$((settled + 1))" "$T/a/osm.log" |
		grep -cE 'dateline: \([0-9],[0-9],[0-9]\): ') == 1 ]]
}

@test "no configuration: restarts on a damaged fabric change no path SL" {
	local i
	[[ ! -e /etc/opensm/torus-2QoS.conf ]] || skip "OpenSM's default exists"
	RANDOM=${DATELINE_SEED:-7}
	up 5 4 3 torus_config=/etc/opensm/torus-2QoS.conf
	log_count 'coordinates remembered'
	sort "$T/whole/dateline-psl.dump" >"$T/whole.psl"
	for ((i = 0; i < 4; i++)); do
		# Nothing but the cache tells this one of the whole torus.
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
		[[ $(log_count 'remembered') == 0 ]]
		wait_for 20 test -e "$T/snap/dateline-psl.dump"
		dateline verify -q "$T/snap"
		sort "$T/snap/dateline-psl.dump" >"$T/psl"
		[[ -s $T/psl && -z $(comm -23 "$T/psl" "$T/whole.psl") ]]
	done
}
