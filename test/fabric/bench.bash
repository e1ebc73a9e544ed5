#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench.bash X Y Z [RUNS]
#
# Dateline and torus-2QoS under OpenSM on the same simulated torus, in turn:
# seconds of each stage, SMPs by kind, peak memory, and sweeps after nothing, a
# cable and a switch have gone, with the longest path query meanwhile.  A line a
# sweep; compare only runs beside each other, on a machine that does nothing
# else.
#
# Stages are told apart by what is sent: discovery ends when OpenSM asks for
# nothing any more, tables when it begins to write some; then forwarding tables,
# SL to VL maps with VL arbitration, and all that is left.

set -euo pipefail

# shellcheck source=test/fabric/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

(($# >= 3)) || { say "usage: bench.bash X Y Z [RUNS]"; exit 2; }
X=$1 Y=$2 Z=$3 RUNS=${4:-2}
T=$(mktemp -d)
DL_PATIENCE=${DATELINE_PATIENCE:-1200}
DL_PATIENCE_MS=$((DL_PATIENCE * 1000))
trap 'fabric_down; rm -rf "$T"' EXIT

# report NAME FROM START: the sweep from line FROM of the record on, which began
# then and has ended now.
report() {
	tail -n +"$2" "$SMPS_LOG" | awk -v name="$1" -v start="$3" -v end="$(date +%s.%N)" '
		BEGIN {
			kind["17"] = "SL2VL"; kind["18"] = "VLArb"; kind["19"] = "LFT"
			kind["1b"] = "MFT"; kind["15"] = "PortInfo"
		}
		{
			k = $1 == 1 ? "discovery" : $2 in kind ? kind[$2] : "other"
			n[k]++
			if (k == "LFT" && !first)
				first = $4
			if (k != "discovery" || !first)
				last[k == "VLArb" ? "SL2VL" : k] = $4
		}
		END {
			printf "  %s: %.2f s", name, end - start
			at = start
			stage("discovery", last["discovery"])
			stage("tables", first)
			stage("LFT", last["LFT"])
			stage("SL2VL and VLArb", last["SL2VL"])
			stage("rest", end)
			printf "; %d SMPs", NR
			for (k in n)
				printf ", %d %s", n[k], k
		}
		function stage(what, to) {
			if (!to || to < at)
				return
			printf "%s %s %.2f", at == start ? ":" : ",", what, to - at
			at = to
		}'
}

# queries: the longest of path queries, one after the other, until it is ended.
queries() {
	local began longest=0 now

	while :; do
		began=$(date +%s%N)
		path_sls <<<"$1" >/dev/null 2>&1 || true
		now=$(($(date +%s%N) - began))
		((now <= longest)) || longest=$now
		echo $((longest / 1000000)) >"$T/longest"
	done
}

# again NAME: a sweep, and what it took.
again() {
	local from pid start said

	from=$(($(wc -l <"$SMPS_LOG") + 1))
	rm -f "$T/longest"
	queries "1 2" &
	pid=$!
	start=$(date +%s.%N)
	sm_sweep
	said=$(report "$1" "$from" "$start")
	wait_for 60 test -s "$T/longest"
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	echo "$said; longest path query $(<"$T/longest") ms"
}

# run ENGINE
run() {
	local start dir=$T/$1

	fabric_init "$T"
	export SMPS_LOG=$T/smps
	: >"$SMPS_LOG"
	rm -rf "$dir"
	sim_start "$T/f.net"
	sm_conf "$dir" "$1" torus_config="$T/f.torus.conf"
	start=$(date +%s.%N)
	SM_FLAGS=0x03 sm_start "$dir"
	wait_log 'SUBNET UP'
	echo "$1"
	report start 1 "$start"
	awk '/^VmHWM/ { printf "; peak %.0f MB\n", $2 / 1024 }' "/proc/$SM_PID/status"
	again unchanged
	sim_console 'Unlink "S_1_1_0"[1]' >/dev/null
	again "a cable gone"
	for ((port = 2; port <= 6; port++)); do
		sim_console "Unlink \"S_1_1_0\"[$port]" >/dev/null || true
	done
	again "a switch gone"
	fabric_down
}

dateline gen "$X" "$Y" "$Z" -q -o "$T/f"
for ((i = 0; i < RUNS; i++)); do
	run torus-2QoS
	run dateline
done
