#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Beside a subnet manager that loads no plugin: tables of `dateline route` by
# OpenSM's own engine "file".  It writes forwarding tables and nothing else.

load lib.bash

# plain DIR ENGINE [KEY=VALUE...]: OpenSM without the plugin and without QoS.
plain() {
	local dir=$1 engine=$2

	shift 2
	sm_conf "$dir" "$engine" "$@"
	sed -i '/^event_plugin_name/d; /^qos /d' "$dir/opensm.conf"
	sm_start "$dir"
	wait_log 'SUBNET UP'
}

@test "one VL, any SL: OpenSM's file engine carries the tables, and they are safe" {
	local dims

	for dims in "5 4 3" "6 5 1"; do
		# shellcheck disable=SC2086
		dateline gen $dims -q -o "$T/f"
		sim_start "$T/f.net"
		# Links of one VL, and LIDs.
		plain "$T/first" minhop max_op_vls=1
		sim dateline route --live --mode any-sl -q -o "$T/planned"
		sm_stop
		plain "$T/sm" file max_op_vls=1 \
			lfts_file="$T/planned/opensm-lfts.dump"
		wait_log 'file tables configured'
		same "forwarding tables" <(lfts "$T/planned") <(lfts "$T/sm")
		rm -rf "$T/live"
		snapshot "$T/live"
		[[ $(verdict "$T/live" delivered --sl any) == true ]]
		[[ $(verdict "$T/live" credit_loop --sl any) == false ]]
		fabric_down
	done
}

@test "what is lost: tables that need SL to VL maps close credit loops there" {
	dateline gen 5 4 3 -q -o "$T/f"
	sim_start "$T/f.net"
	plain "$T/first" minhop
	sim dateline route --live --torus-config "$T/f.torus.conf" -q \
		-o "$T/planned"
	sm_stop
	plain "$T/sm" file lfts_file="$T/planned/opensm-lfts.dump"
	snapshot "$T/live"
	[[ $(verdict "$T/live" delivered --pairs adapters) == true ]]
	[[ $(verdict "$T/live" credit_loop --pairs adapters) == true ]]
}
