#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The demonstration behind `./bootstrap demo`: the 6x5 torus of the torus-2QoS
# documentation, simulated by ibsim, routed by stock OpenSM with Dateline, and
# looked at with the tools that an administrator has.  Exit status 0 if all is
# as it should be.
set -euo pipefail

T=
leave() {
	local status=$?

	trap - EXIT INT TERM
	if [[ $T ]]; then
		fabric_down
		rm -rf "$T"
	fi
	exit "$status"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

. "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

ENGINE=${1:-dateline}
NET=$DL_TOP/conf/torus-6x5.net
CONF=$DL_TOP/conf/torus-6x5.conf
fabric_init "$(mktemp -d)"

step() {
	printf '\n==> %s\n' "$*"
}

tell() {
	printf '    %s\n' "$@"
}

# The command as a person would type it.
command_line() {
	printf '    $ %s\n' "$*"
}

indent() {
	sed 's/^/    /'
}

lid_of() {
	sed -n "s/.*# \"$1\" .*lid \([0-9]*\) .*/\1/p" "$T/fabric.net" | head -n 1
}

# vl_at LID IN OUT SL: as programmed in the port's SL-to-VL table.
vl_at() {
	sim smpquery sl2vl "$1" "$3" |
		sed -n "s/^ports: in *$2, out *$3: |//p" |
		cut -d '|' -f "$(($4 + 1))" | tr -d ' '
}

# hops SOURCE DESTINATION: "out type in lid name" of each hop; out is the port
# by which the hop leaves, in the port at which it arrives.
hops() {
	sim ibtracert "$(lid_of "$1")" "$(lid_of "$2")" | sed -nE \
		's/^\[([0-9]+)\] -> (ca|switch) port \{[^}]*\}\[([0-9]+)\] lid ([0-9]+)-.* "(.*)"$/\1 \2 \3 \4 \5/p'
}

# walk SOURCE DESTINATION LETTERS: the path, hop by hop, with its SL and the
# VL on each link; must visit the switches with these letters.
walk() {
	local src dst sl out type in lid name from=$1 from_lid from_in=0 vl
	local letters=

	src=$(lid_of "$1") dst=$(lid_of "$2")
	command_line "saquery PR --src-to-dst $src:$dst"
	read -r _ _ sl < <(path_sls <<<"$src $dst")
	tell "path SL: $sl"
	[[ ${granted:=$sl} == "$sl" ]]
	command_line "ibtracert $src $dst;  smpquery sl2vl LID PORT   (each hop)"
	from_lid=$src
	while read -r out type in lid name; do
		if [[ $from_lid == "$src" ]]; then
			vl=$(vl_at "$src" 0 0 "$sl")
		else
			vl=$(vl_at "$from_lid" "$from_in" "$out" "$sl")
		fi
		printf '    %-10s port %-2s -> %-10s SL %s  VL %s\n' \
			"$from" "$out" "$name" "$sl" "$vl"
		[[ $type != switch ]] || letters+=${name%%(*}
		from=$name from_lid=$lid from_in=$in
	done < <(hops "$1" "$2")
	if [[ $letters == "$3" ]]; then
		tell "the documented path: $(sed 's/./-&/g; s/-//' <<<"$3")"
	else
		tell "NOT the documented path $3, but $letters"
		exit 1
	fi
}

discover() {
	sim ibnetdiscover >"$T/fabric.net"
}

sweep() {
	command_line "kill -HUP opensm"
	sm_sweep
	discover
}

# judge FOLDER [EARLIER]: all that is programmed now, read back into FOLDER and
# checked twice, by Dateline's proof and by a checker that knows nothing of
# Dateline; are the path SLs still those of EARLIER?
judge() {
	local now=$T/$1 psl=$T/$1/dateline-psl.dump verdict

	command_line "dateline snapshot --live -o $1"
	sim dateline snapshot --live -o "$now" 2>&1 | strip | indent
	command_line "dateline verify $1${2:+ --earlier $2}"
	dateline verify "$now" --torus-config "$CONF" \
		${2:+--earlier "$T/$2"} 2>&1 | strip | indent
	command_line "ibdmchk -s $1/opensm-subnet.lst -f $1/opensm.fdbs ..."
	verdict=$(ibdm "$now" "$psl" "$now/dateline-slvl.dump")
	tell "$(grep -h 'Scanned.*CA to CA' "$now/ibdmchk.out" |
		sed 's/.*://; s/CA/adapter/g; s/ *$//'): $(grep -h 'credit loops' \
		"$now/ibdmchk.out" | sed 's/.*- //')"
	[[ $verdict == safe ]]
}

strip() {
	sed "s| $T/| |; s/^dateline: //"
}

step "A fabric: 30 switches in a 6x5 torus, a host on each"
command_line "ibsim -s conf/torus-6x5.net"
sim_start "$NET"
tell "ibsim answers management packets the way real switches and adapters do." \
	"The torus, with the names that the documentation gives to some switches:"
cat <<'EOF'

          |    |    |    |    |    |
    4   --+----+----+----+----+----+--
          |    |    |    |    |    |
    3   --+----+----+----D----+----+--
          |    |    |    |    |    |
    2   --+----+----I----r----+----+--
          |    |    |    |    |    |
    1   --m----S----n----T----o----p--
          |    |    |    |    |    |
    y=0 --+----+----+----+----+----+--
          |    |    |    |    |    |
        x=0    1    2    3    4    5
EOF

step "The distribution's OpenSM, with Dateline as its routing engine"
sm_conf "$T/sm" "$ENGINE" torus_config="$CONF"
command_line "cat opensm.conf"
grep -E '^(routing_engine|event_plugin|torus_config|qos)' "$T/sm/opensm.conf" |
	sed "s| $DL_TOP/| |" | indent
command_line "opensm -F opensm.conf"
sm_start "$T/sm"
wait_log 'SUBNET UP'
grep -E 'SUBNET UP|[Dd]ateline' "$T/sm/osm.log" | sed 's/.* -> //' | indent

step "The fabric as its clients see it"
discover
command_line "ibnetdiscover"
tell "$(grep -c ^Switch "$T/fabric.net") switches and $(grep -c ^Ca \
	"$T/fabric.net") adapters, all with the LIDs that OpenSM gave them"

step "The path from S to D"
walk 'host(1,1)' 'host(3,3)' SnTrD

step "All tables, read back from the fabric and checked"
judge whole

step "The cable n-T is pulled: the long way round that ring, same SL"
command_line "Unlink \"n(2,1)\"[1]        (on ibsim's console)"
sim_console 'Unlink "n(2,1)"[1]'
sweep
walk 'host(1,1)' 'host(3,3)' SmpoTrD

step "It is plugged in again, and switch T fails: an early turn, same SL"
command_line "ReLink \"n(2,1)\"[1];  Unlink \"T(3,1)\""
sim_console 'ReLink "n(2,1)"[1]'
sim_console 'Unlink "T(3,1)"'
sweep
walk 'host(1,1)' 'host(3,3)' SnIrD
tell "I-r is a turn back from y to x, which plain dimension order forbids: the" \
	"packet takes it on a VL of its own (bit 1), and no credit loop can close."

step "All tables around the failed switch, read back and checked"
judge failed whole

step "o(4,1) fails as well: side by side in x, which the documented rules refuse"
command_line "Unlink \"o(4,1)\""
sim_console 'Unlink "o(4,1)"'
sweep
tell "OpenSM's log:"
grep 'dateline: verified free' "$T/sm/osm.log" | tail -n 1 | sed 's/.*dateline: //' |
	fold -s -w 74 | indent
judge two whole

step "That was Dateline.  doc/tutorial.md does the like step by step, and" \
	"README.md says how to use it on a fabric of yours"
