#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The harness itself, tried on OpenSM's own engines: what the other tests
# rely on works, and its checks can fail.

load lib.bash

setup() {
	fabric_init
	NET=$DL_TOP/conf/torus-6x5.net
	CONF=$DL_TOP/conf/torus-6x5.conf
}

# Path SLs of a 6x5 torus whose hosts are called host(x,y) (rules A5).
psl_6x5() {
	end_ports "$1" | tr '(,)' '   ' | awk '
		function wraps(a, b, n) { return a - b > n / 2 || b - a > n / 2 }
		/^CA/ { n++; guid[n] = $2; lid[n] = $4; x[n] = $6; y[n] = $7 }
		END {
			for (s = 1; s <= n; s++)
				for (d = 1; d <= n; d++) {
					sl = wraps(x[s], x[d], 6)
					sl += 2 * wraps(y[s], y[d], 5)
					print guid[s], lid[d], sl
				}
		}'
}

@test "a fabric comes up, answers clients, and is gone afterwards" {
	fabric_up "$T/a" torus-2QoS "$NET" torus_config="$CONF"
	[[ $(sim ibnetdiscover | grep -c ^Switch) == 30 ]]
	sim smpquery nodedesc 1 | grep -qF '+(0,0)'
	sim saquery PR --src-to-dst 1:36 | grep -q '\<sl\.*0x1'
	local sm=$SM_PID sim=$SIM_PID
	fabric_down
	fails alive "$sm"
	fails alive "$sim"
	fails sim_listens
}

@test "two runs of one engine leave the same dumps, another engine others" {
	fabric_up "$T/a" torus-2QoS "$NET" torus_config="$CONF"
	fabric_down
	fabric_up "$T/b" torus-2QoS "$NET" torus_config="$CONF"
	fabric_down
	fabric_up "$T/c" minhop "$NET"
	local d
	for d in a b c; do
		lfts "$T/$d" >"$T/$d.lfts"
		sl2vl "$T/$d" >"$T/$d.sl2vl"
	done
	same "forwarding tables" "$T/a.lfts" "$T/b.lfts"
	same "SL to VL" "$T/a.sl2vl" "$T/b.sl2vl"
	fails same "forwarding tables" "$T/a.lfts" "$T/c.lfts"
	fails same "SL to VL" "$T/a.sl2vl" "$T/c.sl2vl"
	(($(wc -l <"$T/a.lfts") == 30 * 60))
}

@test "a link that is pulled changes the routes at the next sweep" {
	fabric_up "$T/a" torus-2QoS "$NET" torus_config="$CONF"
	sim ibtracert -n 20 34 >"$T/before"
	sim_console 'Unlink "S(1,1)"[1]'
	fails sim_console 'Unlink "S(1,1)"[1]'
	fails sim_console 'Unlink "nobody"[1]'
	sm_sweep
	sim ibtracert -n 20 34 >"$T/after"
	(($(wc -l <"$T/after") > $(wc -l <"$T/before")))
}

@test "a trap is enough to make OpenSM sweep, if it may" {
	fabric_up "$T/a" dateline "$NET" torus_config="$CONF" \
		sweep_on_trap=TRUE
	lfts "$T/a" >"$T/before"
	sim_console 'Unlink "S(1,1)"[1]'
	wait_log 'SUBNET UP' 2
	lfts "$T/a" >"$T/after"
	fails same "forwarding tables" "$T/before" "$T/after"
}

@test "what OpenSM's clients say arrives before they return" {
	sim_start "$NET"
	for _ in 1 2 3; do
		sim sh -c 'echo out; echo err >&2; exit 3' \
			>"$T/out" 2>"$T/err" || [[ $? == 3 ]]
		[[ $(<"$T/out") == out && $(<"$T/err") == err ]]
	done
}

@test "a client waits for an administrator that has no time" {
	fabric_up "$T/a" torus-2QoS "$NET" torus_config="$CONF"
	kill -STOP "$SM_PID"
	(sleep 3 && kill -CONT "$SM_PID") &
	[[ $(path_sls <<<"1 36") == "1 36 1" ]]
}

@test "a standby takes over, however often it asks for its master" {
	local master

	fabric_up "$T/a" torus-2QoS "$NET" torus_config="$CONF" sm_priority=14
	master=$SM_PID
	sm_conf "$T/b" torus-2QoS torus_config="$CONF" sm_priority=3 \
		sminfo_polling_timeout=5 polling_retry_number=2
	SIM_HOST='host(3,3)' sm_start "$T/b"
	wait_log 'Entering STANDBY'
	sm_hand_over "$master"
	wait_log 'SUBNET UP'
}

@test "a fabric that the engine refuses does not come up" {
	printf 'torus 5 5 1\n' >"$T/wrong.conf"
	sm_conf "$T/a" torus-2QoS torus_config="$T/wrong.conf"
	sim_start "$NET"
	sm_start "$T/a"
	wait_log 'ERR|Errors during initialization'
	DL_PATIENCE=1 fails wait_log 'SUBNET UP'
}

@test "a netlist that ibsim refuses is reported" {
	printf 'Switch\t8 "A"\n[1]\t"A"[99]\n' >"$T/wrong.net"
	fails sim_start "$T/wrong.net"
}

@test "ibdmchk tells a safe fabric from a loop and from a broken one" {
	fabric_up "$T/a" torus-2QoS "$NET" torus_config="$CONF"
	fabric_down
	psl_6x5 "$T/a" >"$T/psl"
	slvl_of "$T/a" >"$T/slvl"
	[[ $(ibdm "$T/a" "$T/psl" "$T/slvl") == safe ]]
	sed 's/ 0x.*/ 0x00 0x00 0x00 0x00 0x00 0x00 0x00 0x00/' \
		"$T/slvl" >"$T/slvl0"
	[[ $(ibdm "$T/a" "$T/psl" "$T/slvl0") == loop ]]
	sed -i 's/: 005 /: 255 /' "$T/a/opensm.fdbs"
	[[ $(ibdm "$T/a" "$T/psl" "$T/slvl") == broken ]]
}
