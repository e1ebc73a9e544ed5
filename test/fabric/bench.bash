#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: bench.bash X Y Z [RUNS]
#
# Dateline and torus-2QoS under OpenSM on the same simulated torus, in turn:
# seconds from start to each stage, SMPs by kind, peak memory, and sweeps after
# nothing, a cable and a switch have gone, with the longest path query
# meanwhile.  One line a run; compare only runs beside each other, on a machine
# that does nothing else.

set -euo pipefail

# shellcheck source=test/fabric/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

(($# >= 3)) || { say "usage: bench.bash X Y Z [RUNS]"; exit 2; }
X=$1 Y=$2 Z=$3 RUNS=${4:-2}
T=$(mktemp -d)
DL_PATIENCE=${DATELINE_PATIENCE:-1200}
DL_PATIENCE_MS=$((DL_PATIENCE * 1000))
trap 'fabric_down; rm -rf "$T"' EXIT

# at PATTERN N: the N-th such line's time of day in the log, in seconds.
at() {
	grep -E -- "$1" "$SM_DIR/osm.log" | sed -n "${2}p" |
		awk '{ split($3, t, ":"); print 3600 * t[1] + 60 * t[2] + t[3] + $4 / 1e6 }'
}

# smps FROM: those sent since line FROM of the record, by kind.
smps() {
	tail -n +"$1" "$SMPS_LOG" | awk '
		BEGIN {
			kind["17"] = "SL2VL"; kind["18"] = "VLArb"; kind["19"] = "LFT"
			kind["1b"] = "MFT"; kind["15"] = "PortInfo"
		}
		{ n[$1 == 1 ? "discovery" : $2 in kind ? kind[$2] : "other"]++; all++ }
		END {
			printf "%d SMPs", all
			for (k in n)
				printf ", %d %s", n[k], k
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
	local from pid start end

	from=$(($(wc -l <"$SMPS_LOG") + 1))
	rm -f "$T/longest"
	queries "1 2" &
	pid=$!
	start=$(date +%s.%N)
	sm_sweep
	end=$(date +%s.%N)
	wait_for 60 test -s "$T/longest"
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	awk -v a="$start" -v b="$end" -v n="$1" -v s="$(smps "$from")" \
		-v q="$(<"$T/longest")" 'BEGIN {
		printf "  %s: %.2f s, %s; longest path query %d ms\n", n, b - a, s, q }'
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
	awk -v a="$start" -v b="$(date +%s.%N)" -v e="$1" -v s="$(smps 1)" \
		-v d="$(at 'Entering MASTER' 1)" -v t="$(at 'tables configured' 1)" \
		-v u="$(at 'SUBNET UP' 1)" \
		-v m="$(awk '/^VmHWM/ { print $2 / 1024 }' "/proc/$SM_PID/status")" 'BEGIN {
		printf "%s: SUBNET UP after %.2f s: tables after %.2f s of discovery, rest %.2f s; %s; peak %.0f MB\n",
			e, b - a, (b - a) - (u - d), u - t, s, m }'
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
