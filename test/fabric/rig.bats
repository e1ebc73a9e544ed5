#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The simulator in virtual time (test/sim) and ibsim: the same OpenSM on the same
# netlist writes the same into the same nodes, on a cold start, when hosts join a group,
# and when a cable fails.
#
# Compared are
#
#	forwarding entries, SL-to-VL maps, VL arbitration: every write, and how often it comes
#	multicast tables: the last write of each block, as OpenSM extends a tree for one host
#		or for several at once, whenever they join
#	SwitchInfo: the highest LID and the life time
#	PortInfo: LIDs, LMC, states, OperVLs; and VLHighLimit, VLStallCount, HOQLife and error
#		thresholds of switch ports, in the writes that set them, which ask for extended
#		speeds as well; but not how often each write comes
#
# What else differs: OpenSM sends back the fields of PortInfo that belong to the port, and
# these ports are not alike (ibsim's take 2048 bytes and have no partition filter, so OpenSM
# reads more P_Key blocks there).  ibsim does not keep M_Key, VLHighLimit, MasterSMSL and
# thresholds, so each sweep writes them again.  Its switches begin with PortStateChange set,
# which OpenSM clears first.

# shellcheck disable=SC2154 # T, DL_BUILD: lib.bash

load lib.bash

setup() {
	[[ -x $DL_BUILD/test/sim/sim ]] || skip "no simulator in virtual time on this machine"
	fabric_init
}

# of_tables FILE: writes that are compared one by one.
of_tables() {
	awk '$1 == 2 && $3 ~ /^1[789]$/' "$1" | sort
}

# of_groups FILE: what multicast blocks hold at last.
of_groups() {
	awk '$1 == 2 && $3 == "1b" { held[$2 " " $4] = $5 }
		END { for (b in held) if (held[b] !~ /^0*$/) print b, held[b] }' "$1" | sort
}

# of_switches FILE: LinearFDBTop and LifeTimeValue.
of_switches() {
	awk '$1 == 2 && $3 == 12 && substr($5, 13, 4) != "0000" {
		print $2, substr($5, 13, 4), substr($5, 21, 1) }' "$1" | sort -u
}

# of_ports FILE: see above.
of_ports() {
	awk '$1 == 2 && $3 == 15 {
		made = $4 ~ /^8/ && $2 ~ /^d1/
		print $2, substr($4, length($4)), substr($5, 33, 8),
			substr($5, 66, 1), substr($5, 67, 1), substr($5, 69, 2),
			substr($5, 87, 1), made ? substr($5, 77, 2) : "-",
			made ? substr($5, 85, 2) : "-", made ? substr($5, 107, 2) : "-"
	}' "$1" | sort -u
}

# alike KEY=VALUE...: both, and compare.
alike() {
	local what option options=''

	for option in sweep_interval=0 sweep_on_trap=FALSE daemon=FALSE "$@"; do
		options+="${option%%=*} ${option#*=};"
	done
	mkdir -p rig ib/cache
	printf '+1000 cut S_2_2_0 1\n+10 sweep 0\n+1000 settle\n' >script
	"$DL_BUILD/test/sim/sim" --build "$DL_BUILD" --opensm "$(command -v opensm)" \
		--plugin "${DL_PLUGIN%%:*}" --dir rig --record rig.smps --queries 0 \
		--opensm-options "$options" script >&2
	{
		grep -v ^torus_config rig/sm0/opensm.conf
		echo "torus_config $T/rig/fabric.torus.conf"
		echo "log_file $T/ib/osm.log"
	} >ib/opensm.conf
	export SMPS_ALL=$T/ib.smps
	sim_start rig/fabric.net
	sm_start ib
	wait_log 'SUBNET UP'
	# shellcheck disable=SC2046 # words
	join_group 0 0 $(sed -n 's/^\[1\](\(d2[0-9a-f]*\)).*/0x\1/p' rig/fabric.net)
	sm_sweep
	sim_console 'Unlink "S_2_2_0"[1]'
	sm_sweep
	sm_stop
	for what in tables groups switches ports; do
		same "$what" <("of_$what" rig.smps) <("of_$what" ib.smps)
	done
}

@test "the simulator in virtual time and ibsim: the same writes" {
	alike
}

@test "the simulator in virtual time and ibsim: the same writes, with an LMC" {
	alike lmc=1
}
