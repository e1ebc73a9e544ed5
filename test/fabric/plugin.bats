#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The plugin inside stock OpenSM: that it is chosen, that it steps aside with
# a reason, what it makes of options, and that it leaves nothing behind.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

load lib.bash

setup() {
	fabric_init
	NET=$DL_TOP/conf/torus-6x5.net
	CONF=$DL_TOP/conf/torus-6x5.conf
	PLUGIN=$DL_BUILD/plugin/libosmdateline.so
}

# up [KEY=VALUE...]: the 6x5 torus with dateline and nothing to fall back on.
up() {
	fabric_up "$T/a" dateline "$NET" torus_config="$CONF" "$@"
}

# up_or_minhop [KEY=VALUE...]: the same with minhop to fall back on.
up_or_minhop() {
	up routing_engine=dateline,minhop "$@"
}

# logged PATTERN [COUNT]: so many lines of OpenSM's log match (default 1).
logged() {
	local n

	n=$(log_count "$1") || true
	((n == ${2:-1})) && return
	say "$n lines with: $1"
	grep -E 'dateline|ERR' "$SM_DIR/osm.log" | head -n 20 >&2
	return 1
}

routed_by() {
	local name=$1

	# Before 3.3.23 OpenSM has no names for engines that it does not know.
	[[ $name != dateline ]] || name='(dateline|unknown)'
	logged "osm_ucast_mgr_process: $name tables configured on all switches"
}

# arb LID PORT high|low: "vl:weight vl:weight ..." as programmed.
arb() {
	arbitration <<<"$1 $2" | awk -v table="$3" '
		$3 == table { printf "%s%d:%d", n++ ? " " : "", $4, $5 }'
}

# lid_of NAME: of the end port of that name.
lid_of() {
	end_ports "$SM_DIR" | awk -v name="$1" '$5 == name { print $4 }'
}

@test "the library exports one symbol and needs nothing but libc, zstd and opensm" {
	[[ $(nm -D --defined-only "$PLUGIN" | awk '{ print $3 }') == \
		osm_event_plugin ]]
	[[ $(objdump -p "$PLUGIN" | awk '$1 == "NEEDED" { print $2 }' | sort | xargs) == \
		"libc.so.6 libzstd.so.1" ]]
	# What is undefined is OpenSM's, its libraries' or libc's.
	fails grep -E ' U dl_' <(nm -D "$PLUGIN")
}

@test "the engine is chosen, routes, and OpenSM exits cleanly" {
	up
	routed_by dateline
	logged 'dateline: verified free of credit loops; repairs: none; routed a 6 x 5 x 1 torus: 30 of 30 switches, 60 cables .* 30 adapters .* 8 data VLs between switches and 8 on end ports'
	logged 'dateline.*ERR' 0
	# The verdict goes before what is said of the change.
	[[ $(grep -oE 'dateline: (verified|transition)' "$T/a/osm.log" | xargs) == \
		'dateline: verified dateline: transition' ]]
	grep -qE '^switch 5,4,0 GUID 0x0000000000100540 \(\+\(5,4\)\)$' \
		"$T/a/dateline-torus.dump"
	[[ $(wc -l <"$T/a/dateline-torus.dump") == 30 ]]
	kill "$SM_PID"
	wait "$SM_PID"
	SM_PID=''
	logged 'Exiting SM'
}

@test "opensm -o: one sweep, and the snapshot is there" {
	sim_start "$NET"
	sm_conf "$T/a" dateline torus_config="$CONF" \
		event_plugin_options="dump_dir=$T/snap"
	OSM_TMP_DIR=$T/a OSM_CACHE_DIR=$T/a/cache LD_PRELOAD=$DL_UMAD2SIM \
		LD_LIBRARY_PATH=$DL_PLUGIN \
		timeout 60 opensm -o -F "$T/a/opensm.conf" >"$T/a/osm.out" 2>&1
	[[ $(lfts "$T/snap" | wc -l) == 1800 ]]
	# The same as one file, with its certificate beside it; links are again as wide as
	# they were before 3.3.20 enabled all their widths.
	sim_stop
	sim_start "$NET"
	sm_conf "$T/b" dateline torus_config="$CONF" \
		event_plugin_options="dump_dir=$T/snap.dls"
	OSM_TMP_DIR=$T/b OSM_CACHE_DIR=$T/b/cache LD_PRELOAD=$DL_UMAD2SIM \
		LD_LIBRARY_PATH=$DL_PLUGIN \
		timeout 60 opensm -o -F "$T/b/opensm.conf" >"$T/b/osm.out" 2>&1
	dateline diff "$T/snap" "$T/snap.dls"
	same certificate "$T/snap/dateline-certificate.txt" \
		"$T/snap.dls.dateline-certificate.txt"
}

@test "a plugin for another OpenSM is refused, not run" {
	mkdir "$T/other"
	sed 's/OpenSM 3\./OpenSM 9./' "$PLUGIN" >"$T/other/libosmdateline.so"
	fails cmp -s "$PLUGIN" "$T/other/libosmdateline.so"
	sim_start "$NET"
	sm_conf "$T/a" dateline torus_config="$CONF" \
		routing_engine=dateline,minhop
	SM_DIR=$T/a
	OSM_TMP_DIR=$T/a OSM_CACHE_DIR=$T/a/cache LD_PRELOAD=$DL_UMAD2SIM \
		LD_LIBRARY_PATH=$T/other \
		timeout 60 opensm -o -F "$T/a/opensm.conf" >"$T/a/osm.out" 2>&1
	routed_by minhop
	logged 'dateline: .*routed a ' 0
}

@test "without QoS it says so and steps aside" {
	up_or_minhop qos=FALSE
	logged 'dateline: ERR DL10: .*-Q'
	routed_by minhop
}

@test "a missing torus_config is named" {
	up_or_minhop torus_config="$T/nowhere.conf"
	logged "dateline: ERR DL11: .*$T/nowhere.conf.*No such file"
	routed_by minhop
}

@test "a broken torus_config is named with its line" {
	printf 'torus 6 5 1\nxp_link 0x100000 banana\n' >"$T/bad.conf"
	up_or_minhop torus_config="$T/bad.conf"
	logged "dateline: ERR DL11: $T/bad.conf:2: .*\"banana\""
	routed_by minhop
}

@test "a torus_config that contradicts the cabling is named" {
	sed 's/^torus 6 5 1/torus 6 6 1/' "$CONF" >"$T/torus.conf"
	up torus_config="$T/torus.conf"
	logged "ERR DL25: $T/torus.conf contradicts the cabling: .*6x6x1.* 12 of 30 switches"
	logged 'ERR DL25: the cabling alone shows (6x5|5x6)x1, where 0 of 30'
	# A corner of it, which is whole.
	sed 's/^torus 6 5 1/torus 2 2 1/' "$CONF" >"$T/torus.conf"
	sm_sweep
	logged "ERR DL25: $T/torus.conf contradicts .*2x2x1"
	# A correction counts at once.
	cp "$CONF" "$T/torus.conf"
	sm_sweep
	logged 'ERR DL25: .*contradicts the cabling: by' 2
	logged 'coordinates remembered in '
	logged 'routed a 6 x 5 x 1 torus: 30 of 30 switches'
}

@test "a fabric that is no torus: a tree, and in classic mode left to others" {
	cat >"$T/star.net" <<-'END'
	switchguid=0x1
	Switch	4 "hub"
	[1]	"spoke"[1]
	[2]	"leaf"[1]

	switchguid=0x2
	Switch	4 "spoke"
	[1]	"hub"[1]

	caguid=0x10
	Ca	1 "leaf"
	[1]	"hub"[2]
	END
	NET=$T/star.net
	up_or_minhop
	logged 'dateline: ERR DL13: .* contradicts the fabric: none of its 1 seeds'
	logged 'no coordinates: all 2 switches are routed along a spanning tree from'
	routed_by dateline
	fabric_down
	up_or_minhop event_plugin_options=mode=classic
	logged 'dateline: ERR DL13: .* contradicts the fabric: none of its 1 seeds'
	routed_by minhop
}

@test "a refusal leaves the fabric alone until its cause is gone" {
	cp "$CONF" "$T/torus.conf"
	echo "nonsense" >>"$T/torus.conf"
	sim_start "$NET"
	sm_conf "$T/a" dateline torus_config="$T/torus.conf"
	sm_start "$T/a"
	wait_log 'ERR DL11'
	logged 'SUBNET UP' 0
	cp "$CONF" "$T/torus.conf"
	sm_sweep
	routed_by dateline
	# ... and back: what then stays in force is tested in sweeps.bats.
	echo "nonsense" >>"$T/torus.conf"
	local before
	before=$(log_count 'ERR DL11')
	kill -HUP "$SM_PID"
	wait_log 'ERR DL11' $((before + 1))
	cp "$CONF" "$T/torus.conf"
	sm_sweep
}

@test "no configuration at all: coordinates come from the cabling, and stay" {
	[[ ! -e /etc/opensm/torus-2QoS.conf ]] || skip "OpenSM's default exists"
	local port
	fabric_up "$T/a" dateline "$NET"
	logged 'routed a (6 x 5|5 x 6) x 1 torus: 30 of 30 switches'
	cp "$T/a/dateline-torus.dump" "$T/before"
	sm_stop
	# Without a neighbour of the origin; and a subnet manager that has only
	# the marks in the switches to go by.
	grep -q '^switch 1,0,0 .*m(0,1)' "$T/before"
	for port in 1 2 3 4; do
		sim_console "Unlink \"m(0,1)\"[$port]"
	done
	rm "$T/a/dateline-torus.dump"
	sm_start "$T/a"
	wait_log 'SUBNET UP'
	logged 'routed a .*: 29 of 29 switches'
	logged '29 of 30 switches: missing \([0-9],[0-9],0\)'
	same "coordinates" <(grep -vF "m(0,1)" "$T/before") \
		"$T/a/dateline-torus.dump"
}

@test "what changed is told" {
	echo "max_changes 1" | cat "$CONF" - >"$T/torus.conf"
	up torus_config="$T/torus.conf"
	sim_console 'Unlink "S(1,1)"[1]'
	sm_sweep
	logged 'routed a .* 59 cables'
	logged 'dateline: .*0x0*100110'
}

@test "too few data VLs are refused" {
	up_or_minhop max_op_vls=1
	logged 'dateline: ERR DL14: '
	routed_by minhop
}

@test "an OpenSM of the same version, but another layout, is refused" {
	[[ ! ${DATELINE_OPENSM:-} ]] || skip "its plugin was built elsewhere"
	local objects

	mkdir -p "$T/include/opensm" "$T/plugin"
	sed '/define ENABLE_OSM_PERF_MGR /d' /usr/include/infiniband/opensm/osm_config.h \
		>"$T/include/opensm/osm_config.h"
	mapfile -t objects < <(find "$DL_BUILD/plugin" -name "libosmdateline_so-*.o" ! -name "*-plugin.o")
	# Loaded into an OpenSM with a performance manager, as one built with it is into one
	# without.
	cc -shared -fPIC -std=gnu11 -I"$T/include" -isystem /usr/include/infiniband \
		-I"$DL_BUILD" -I"$DL_TOP/include" -I"$DL_TOP/lib" -I"$DL_TOP" -o "$T/plugin/libosmdateline.so" \
		"$DL_TOP/plugin/plugin.c" "${objects[@]}" \
		"$DL_BUILD/libdlroute.a" -lzstd -Wl,--version-script="$DL_TOP/plugin/plugin.map"
	DL_PLUGIN=$T/plugin up_or_minhop
	grep -q 'ERR DL04: .*such as --disable-perf-mgr' "$T/a/osm.out"
	logged 'dateline: ' 0
	routed_by minhop
}

@test "bad words of event_plugin_options are named, the rest counts" {
	up event_plugin_options="mode=fast nonsense,qos_weights=0:1 high_limit=256 dump_dir=$T/snap"
	logged 'ERR DL03: .*"mode=fast".*proven or classic'
	logged "ERR DL03: .*\"nonsense\" is none of dateline's words"
	logged 'ERR DL03: .*"qos_weights=0:1".*1 to 255'
	logged 'ERR DL03: .*"high_limit=256".*0 to 255'
	routed_by dateline
	# The log announces SUBNET UP before the plugin hears of it.
	wait_for "$DL_PATIENCE" test -e "$T/snap/dateline.dls"
}

@test "words of other plugins are left to them" {
	up event_plugin_name="osmdateline osmother" \
		event_plugin_options="theirs=1 high_limit=x"
	logged 'dateline: .*"theirs=1".*left to the other plugins'
	logged 'ERR DL03' 1
	logged 'ERR DL03: .*high_limit=x'
}

@test "VL arbitration: weights of the two levels, and the port's size" {
	up event_plugin_options="qos_weights=2:3"
	local ca
	ca=$(lid_of 'host(0,0)')
	local between='0:W 1:W 2:W 3:W 4:V 5:V 6:V 7:V' t w v
	for t in high low; do
		# One ratio, whatever the scale.
		read -r w v <<<"$(arb 1 1 "$t" | sed 's/.:/ /g' |
			awk '{ print $1, $5 }')"
		((3 * w == 2 * v && w > 0))
		[[ $(arb 1 1 "$t") == "$(sed "s/W/$w/g; s/V/$v/g" <<<"$between")" ]]
		[[ $(arb 1 5 "$t") == "0:$w 1:$v" ]]
		[[ $(arb "$ca" 1 "$t") == "0:$w 1:$v" ]]
	done
}

@test "VL arbitration: the user's tables are kept, and adapted on end ports" {
	up qos_swe_vlarb_high=0:8,1:8,2:8,3:8,4:4,5:4,6:4,7:4 \
		qos_ca_vlarb_high=3:7,0:20,4:10,4:1 qos_ca_vlarb_low=0:5,1:6
	local ca
	ca=$(lid_of 'host(0,0)')
	[[ $(arb 1 1 high) == '0:8 1:8 2:8 3:8 4:4 5:4 6:4 7:4' ]]
	[[ $(arb 1 5 high) == '0:8 1:4' ]]
	[[ $(arb "$ca" 1 high) == '0:20 1:10 1:1' ]]
	[[ $(arb "$ca" 1 low) == '0:5' ]]
	logged 'Warning: qos_ca_vlarb_high: .*dropped on end ports'
	logged 'Warning: qos_ca_vlarb_low: .*dropped on end ports'
	logged 'Warning: qos_swe_' 0
}

@test "VL arbitration: two VLs on end ports do not fold level 1 into 0" {
	# OpenSM cuts a table's VLs to those of the port before it asks us.
	up max_op_vls=2 qos_vlarb_high=0:8,1:8,2:8,3:8,4:4,5:4,6:4,7:4
	[[ $(arb "$(lid_of 'host(0,0)')" 1 high) == '0:8 1:4' ]]
}

@test "unfair tables and SL to VL maps of the user's: one warning each" {
	up qos_swe_vlarb_high=0:8,1:4,2:8,3:8 qos_swe_sl2vl=0,0,0,0,0,0,0,0 \
		qos_vlarb_low=0:1
	logged 'Warning: qos_swe_vlarb_high is unfair within QoS level 0: VLs 0 to 3 weigh 8, 4, 8 and 8'
	logged 'Warning: qos_vlarb_low is unfair within QoS level 0'
	logged 'Warning: qos_swe_sl2vl is not used'
	[[ $(log_count 'dateline: Warning') == 3 ]]
	sm_sweep
	[[ $(log_count 'dateline: Warning') == 3 ]]
	# Options are read again on SIGHUP, and only what changed is new.
	sed -i 's/^qos_vlarb_low .*/qos_vlarb_low 0:2/' "$T/a/opensm.conf"
	sm_sweep
	logged 'Warning: qos_vlarb_low is unfair' 2
	sl2vl "$T/a" >"$T/theirs"
	fabric_down
	up
	sl2vl "$T/a" >"$T/plain"
	same "SL to VL" "$T/plain" "$T/theirs"
}

@test "VLHighLimit is sent to the ports" {
	# ibsim does not keep it: look at what is sent.  Byte 38 of PortInfo.
	limits() {
		awk '/SMP dump/ { set = info = n = 0 }
			/SubnSet/ { set = 1 }
			/attr_id.*\(PortInfo\)/ { info = 1 }
			set && info && /^\t\t\t\t[0-9A-F][0-9A-F] / {
				if (++n == 3)
					print $7
			}' "$T/a/osm.log" | sort -u | paste -sd ' '
	}
	SM_FLAGS=0x6b up event_plugin_options=high_limit=7
	[[ $(limits) == *07* ]]
	fabric_down
	rm "$T/a/osm.log"
	SM_FLAGS=0x6b up event_plugin_options=high_limit=7 qos_swe_high_limit=9
	[[ $(limits) == *07*09* ]]
}

@test "multicast is the built-in engine's tree, and follows joins and leaves" {
	local engine guids
	for engine in torus-2QoS dateline; do
		fabric_up "$T/$engine" $engine "$NET" torus_config="$CONF"
		guids=$(hosts | some 12)
		# shellcheck disable=SC2086 # one argument each
		join_group 0 0 $guids
		# shellcheck disable=SC2046
		join_group 1 8 $(hosts)
		# shellcheck disable=SC2086
		join_group -l 1 8 $guids
		sm_sweep
		mfts "$T/$engine" >"$T/$engine.mfts"
		fabric_down
	done
	[[ $(cut -d ' ' -f 2 "$T/dateline.mfts" | sort -u | wc -l) == 2 ]]
	same "multicast tables" "$T/torus-2QoS.mfts" "$T/dateline.mfts"
}

@test "a snapshot says what OpenSM's own dumps say" {
	up event_plugin_options="dump_dir=$T/snap" lmc=1
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	join_group 1 0 "$(hosts | head -n 1)"
	join_group -l 1 0 "$(hosts | head -n 1)"
	sm_sweep_and_dump "$T/snap"
	same "forwarding tables" <(lfts "$T/a") <(lfts "$T/snap")
	same "SL to VL" <(sl2vl "$T/a") <(sl2vl "$T/snap")
	same "multicast tables" <(mfts "$T/a") <(mfts "$T/snap")
	same "end ports" <(end_ports "$T/a" | sort) <(end_ports "$T/snap" | sort)
	[[ $(cut -d ' ' -f 2 <(mfts "$T/snap") | sort -u) == 0xC000 ]]
	[[ $(find "$T/snap" -type f | wc -l) == 2 ]]
	[[ $(find "$(dumps "$T/snap")" -type f | wc -l) == 11 ]]
}

@test "a snapshot that cannot be written is reported, and routing goes on" {
	: >"$T/file"
	up event_plugin_options="dump_dir=$T/file"
	wait_log "ERR DL30: .*$T/file"
	routed_by dateline
}

@test "links, switches and hosts go and come back, with the unicast cache" {
	local port
	# shellcheck disable=SC2317 # called through wait_for
	as_before() {
		lfts "$T/a" | cmp -s - "$T/whole"
	}
	up use_ucast_cache=TRUE event_plugin_options="dump_dir=$T/snap"
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	lfts "$T/a" >"$T/whole"
	sim_console 'Unlink "S(1,1)"[1]'
	sm_sweep
	logged 'routed a .* 59 cables'
	lfts "$T/a" >"$T/broken"
	fails same "forwarding tables" "$T/whole" "$T/broken"
	sim_console 'ReLink "S(1,1)"[1]'
	sm_sweep
	for port in 1 2 3 4; do
		sim_console "Unlink \"+(4,3)\"[$port]"
	done
	sm_sweep
	wait_log 'routed a .*: 29 of 29 switches, 56 cables'
	for port in 1 2 3 4; do
		sim_console "ReLink \"+(4,3)\"[$port]"
	done
	sm_sweep
	sim_console 'Unlink "S(1,1)"[5]'
	sm_sweep
	sim_console 'ReLink "S(1,1)"[5]'
	sm_sweep
	logged 'dateline.*ERR' 0
	# Each of the traps sets off a sweep: which is the last is hard to say.
	wait_for "$DL_PATIENCE" as_before
}

@test "valgrind finds no error and no leak of ours" {
	sim_start "$NET"
	sm_conf "$T/a" dateline torus_config="$CONF" \
		event_plugin_options="mode=classic dump_dir=$T/snap bad" \
		qos_vlarb_low=0:1,4:1
	SM_DIR=$T/a
	: >"$T/a/osm.log"
	OSM_TMP_DIR=$T/a OSM_CACHE_DIR=$T/a/cache LD_PRELOAD=$DL_UMAD2SIM \
		LD_LIBRARY_PATH=$DL_PLUGIN \
		setpriv --pdeathsig KILL valgrind --leak-check=full \
		--show-leak-kinds=all --keep-debuginfo=yes --num-callers=30 \
		--log-file="$T/valgrind" "$(command -v opensm)" \
		-F "$T/a/opensm.conf" >"$T/a/osm.out" 2>&1 3>&- {SIM_CONSOLE}>&- &
	SM_PID=$!
	wait_log 'SUBNET UP'
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	sm_sweep
	# A failure, a refusal, and both repaired.
	sim_console 'Unlink "S(1,1)"[1]'
	sm_sweep
	sim_console 'Unlink "T(3,1)"[1]'
	sm_sweep
	wait_log 'ERR DL19'
	sim_console 'ReLink "T(3,1)"[1]'
	sim_console 'ReLink "S(1,1)"[1]'
	sm_sweep
	wait_log 'routed a .* 60 cables' 2
	end_process "$SM_PID"
	SM_PID=''
	grep -q 'LEAK SUMMARY\|no leaks are possible' "$T/valgrind"
	# OpenSM and the simulator's library have some of their own; ours show
	# by their names, as nothing of the others comes with line numbers.
	local ours
	ours=$(cd "$DL_TOP/plugin" && basename -s .c ./*.c | paste -sd '|')
	# What osm_vendor_bind() allocates, osm_vendor_unbind() keeps: for late answers.
	sed 's/^==[0-9]*== *//' "$T/valgrind" | awk -v RS= -v ORS='\n\n' '!/osm_vendor_bind/' \
		>"$T/found"
	fails grep -E ": dl_|\\(($ours)\\.c:" "$T/found"
}

# mft_writes: how many multicast tables OpenSM has sent.
mft_writes() {
	grep -c '^2 1b ' "$SMPS_LOG" || true
}

# in_group: how many switches are in a group.
in_group() {
	rm -rf "$T/now"
	snapshot "$T/now" --paths none
	mfts "$T/now" | cut -d ' ' -f 1 | sort -u | wc -l
}

# only_those: written are three pieces of the table of each switch in a group,
# and no more follow.
only_those() {
	written() {
		N=$(mft_writes) USED=$(in_group)
		((USED > 0 && N == 3 * USED)) || return
		sleep 0.5
		((N == $(mft_writes)))
	}
	wait_for "$DL_PATIENCE" written && return
	say "$N pieces of tables written, $USED switches are in groups"
	return 1
}

@test "a join or leave writes the tables of switches in groups, and no others" {
	local used all i
	nobody() { [[ $(in_group) == 0 ]]; }
	export SMPS_LOG=$T/smps
	dateline gen 6 5 1 -o "$T/f" 2>/dev/null
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf"
	mapfile -t all < <(hosts)
	: >"$SMPS_LOG"
	join_group 1 0 "${all[0]}"
	only_those
	: >"$SMPS_LOG"
	join_group 1 0 "${all[1]}"
	only_those
	(($(in_group) < 15))
	# So does a heavy sweep.
	: >"$SMPS_LOG"
	sm_sweep
	only_those
	# A switch that has been away may hold an older tree.
	for i in {1..4}; do
		sim_console "Unlink \"S_3_3_0\"[$i]" >/dev/null
	done
	sm_sweep
	for i in {1..4}; do
		sim_console "ReLink \"S_3_3_0\"[$i]" >/dev/null
	done
	used=$(in_group)
	: >"$SMPS_LOG"
	sm_sweep
	(($(mft_writes) > 3 * used))
	: >"$SMPS_LOG"
	join_group 1 0 "${all[2]}"
	only_those
	# All leave: the switches that were in the group are cleared.
	used=$(in_group)
	: >"$SMPS_LOG"
	join_group -l 1 0 "${all[@]:0:3}"
	wait_for "$DL_PATIENCE" nobody
	(($(mft_writes) <= 3 * 3 * used))
}

@test "SMPs: a start sends two a switch more than with torus-2QoS, an unchanged sweep none" {
	local engine
	export SMPS_LOG=$T/smps
	dateline gen 5 4 3 -q -o "$T/f"
	for engine in torus-2QoS dateline; do
		: >"$SMPS_LOG"
		fabric_up "$T/$engine" $engine "$T/f.net" \
			torus_config="$T/f.torus.conf"
		sort "$SMPS_LOG" | grep -v '^[57] ' >"$T/start.$engine"
		: >"$SMPS_LOG"
		sm_sweep
		sort "$SMPS_LOG" | grep -v '^[57] ' >"$T/again.$engine"
		fabric_down
	done
	(($(wc -l <"$T/again.dateline") <= $(wc -l <"$T/again.torus-2QoS")))
	# 120 LIDs leave no room for the marks in their blocks, so there is a block more; and
	# each switch is asked along the route by which it was written.
	(($(wc -l <"$T/start.dateline") <= $(wc -l <"$T/start.torus-2QoS") + 2 * 60))
}
