#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# dateline-migration(7), command by command as the page has them: from
# torus-2QoS to Dateline and back, and no SL changes; and between the modes.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

load lib.bash

# commands SECTION (its first word): of the page, with this test's paths.
commands() {
	awk -v section="$1" '
		$1 == ".Sh" { on = $2 == section }
		/^\.Ed/ { literal = 0 }
		on && literal
		/^\.Bd/ { literal = 1 }' "$DL_TOP/man/dateline-migration.7" |
		sed -e 's/\\e$/\\/; s/^# //' -e "s|/etc/opensm/|$T/sm/|g" \
			-e "s|/var/log/opensm\*.log|$T/sm/osm.log|"
}

# follow SECTION: run its commands, as many as expected, until one fails.
follow() {
	commands "$1" >"$T/commands"
	(($(grep -vc '^ ' "$T/commands") == $2))
	# shellcheck disable=SC1091
	source "$T/commands"
}

# What the commands are here.
dateline() {
	local preload=

	if [[ $1 == snapshot ]]; then
		preload=$DL_UMAD2SIM
		set -- "$@" --retries 100
	fi
	LD_PRELOAD=$preload "$DL_DATELINE" "$@" 2>>"$T/messages"
}

systemctl() {
	[[ $* == "restart opensm" ]]
	sm_stop
	sm_start "$T/sm"
	wait_log 'SUBNET UP'
}

# started NET CONF: torus-2QoS routes it, as an administrator would have it.
started() {
	mkdir -p "$T/sm/cache"
	cp "$2" "$T/sm/torus-2QoS.conf"
	sm_conf "$T/sm" torus-2QoS torus_config="$T/sm/torus-2QoS.conf"
	sed -i '/^event_plugin_name/d' "$T/sm/opensm.conf"
	sim_start "$1"
	systemctl restart opensm
	routed_by torus-2QoS
}

routed_by() {
	wait_log "osm_ucast_mgr_process: $1 tables configured"
}

# granted: LIDs and SLs as clients see them, of some pairs on both levels.
granted() {
	end_ports "$T/sm"
	pairs "$T/sm" CA | some 40 |
		awk '{ print; print $1, $2, 8 }' | path_sls
}

# unchanged WHEN: since torus-2QoS began.
unchanged() {
	(($(wc -l <"$T/granted") > 80))
	same "LIDs and SLs $1" "$T/granted" <(granted)
}

@test "there and back on a torus with single cables: nothing changes at all" {
	started "$DL_TOP/conf/torus-6x5.net" "$DL_TOP/conf/torus-6x5.conf"
	granted >"$T/granted"
	follow BEFORE 5
	follow TO 8
	routed_by dateline
	unchanged "with Dateline"
	diff before/opensm-lfts.dump after/opensm-lfts.dump
	follow BACK 6
	routed_by torus-2QoS
	unchanged "back"
	# But for the coordinates: Dateline's marks, which stay, tell them.
	diff -r -x dateline-manifest.txt -x dateline-torus.dump before back
	[[ ! -e $T/sm/opensm.conf.torus-2QoS ]]
}

# ways DIR: "switch lid neighbour" of every forwarding entry.
ways() {
	awk 'FILENAME == ARGV[1] { far[$2, $4] = $6; next }
		{ print $1, $2, far[$1, $3] }' <(cables "$1") <(lfts "$1")
}

@test "there and back with parallel cables: only these are shared otherwise" {
	dateline gen 4 3 2 --parallel 2 --hosts 3 --scramble 5 -o "$T/f"
	started "$T/f.net" "$T/f.torus.conf"
	granted >"$T/granted"
	# Some entries do change.
	diff() {
		command diff "$@" >"$T/changed" || [[ $1 == *lfts* ]]
	}
	follow BEFORE 5
	[[ -s $T/changed ]]
	follow TO 8
	unchanged "with Dateline"
	same "ways" <(ways before) <(ways after)
	follow BACK 6
	unchanged "back"
	command diff -r -x dateline-manifest.txt before back
}

granted_sls() {
	awk 'NF == 3 { print $3 }' "$1" | sort -nu | xargs
}

@test "from proven to any-SL mode and back: safe for the SLs that are in use" {
	dateline gen 6 5 1 --hosts 2 --scramble 6 -o "$T/f"
	mkdir -p "$T/sm/cache"
	cp "$T/f.torus.conf" "$T/sm/torus-2QoS.conf"
	sm_conf "$T/sm" dateline torus_config="$T/sm/torus-2QoS.conf"
	sim_start "$T/f.net"
	systemctl restart opensm
	granted >"$T/granted"
	[[ $(granted_sls "$T/granted") != '0 8' ]]

	follow BETWEEN 8 >"$T/said"
	grep -q '^directly, .* not safe, SL-to-VL maps change$' "$T/said"
	grep -q '^in 3 steps, .* safe;' "$T/said"
	[[ $(verdict before credit_loop) == false && $(verdict before credit_loop --sl any) == true ]]
	same "forwarding tables" <(lfts planned) <(lfts after)
	# Connections may keep their SLs, and new ones get a level's first.
	[[ $(verdict after credit_loop --sl any) == false ]]
	granted >"$T/granted.any"
		[[ $(granted_sls "$T/granted.any") == '0 8' ]]

	sed -i '/mode=any-sl/d' "$T/sm/opensm.conf"
	systemctl restart opensm
	dateline snapshot --live -o back
	unchanged "back in proven mode"
	diff -r -x dateline-manifest.txt before back
	# Connections of any-SL mode may not.
	[[ $(verdict back credit_loop) == false && $(verdict back credit_loop --sl 0) == true ]]
}

# managed_by HOST DIR [KEY=VALUE...]: a subnet manager there.
managed_by() {
	local host=$1 dir=$T/$2

	shift 2
	sm_conf "$dir" dateline torus_config="$T/f.torus.conf" sminfo_polling_timeout=300 \
		polling_retry_number=2 "$@"
	SIM_HOST=$host sm_start "$dir"
}

@test "a standby changed to any-SL mode writes nothing until it takes over" {
	local master

	dateline gen 5 4 3 --scramble 7 -o "$T/f"
	sim_start "$T/f.net"
	managed_by H_0_0_0_1 a sm_priority=3
	wait_log 'SUBNET UP'
	master=$SM_PID
	dateline snapshot --live -o before
	managed_by H_2_1_0_1 b sm_priority=1 event_plugin_options=mode=any-sl
	wait_log 'Entering STANDBY'
	dateline snapshot --live -o standby
	diff -r -x dateline-manifest.txt before standby
	[[ $(verdict standby credit_loop) == false ]]
	SIM_HOST=H_0_0_0_1 sm_hand_over "$master"
	wait_log 'SUBNET UP'
	dateline snapshot --live -o after
	[[ $(verdict after credit_loop --sl any) == false ]]
}

# way_back ARGUMENT...: from a damaged 6x5 torus: 0 if the page lets us go.
way_back() {
	dateline gen 6 5 1 "$@" -o "$T/f"
	mkdir -p "$T/sm"
	cp "$T/f.torus.conf" "$T/sm/torus-2QoS.conf"
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -o "$T/after"
	cp -r "$T/after" "$T/before"
	commands BACK | sed '/^mv/,$d' >"$T/commands"
	(cd "$T" && bash -ec "dateline() { '$DL_DATELINE' \"\$@\"; }
		$(cat "$T/commands")") >"$T/said" 2>&1
}

@test "the page does not let one go back to a refusal or to a credit loop" {
	way_back --fail-link 1,1,0:+x
	fails way_back --fail-switch 3,2,0
	grep -q '^credit loops: yes' "$T/said"
	fails way_back --fail-switch 1,1,0 --fail-switch 2,1,0
	grep -q '2 switches are missing' "$T/said"
}
