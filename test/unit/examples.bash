#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The example programs, built against the public headers and the shared
# library, do what they are for.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Run a command that has to end with this status; its output goes to a file.
run() {
	local want=$1 status=0

	shift
	"$@" >"$work/out" 2>&1 || status=$?
	((status == want)) ||
		{ echo "status $status, not $want: $*"; cat "$work/out"; exit 1; }
}

said() {
	grep -q "$1" "$work/out" ||
		{ echo "nothing like \"$1\" in:"; cat "$work/out"; exit 1; }
}

run 0 ./dateline gen 6 5 1 -o "$work/whole"
run 0 ./dateline gen 6 5 1 --fail-switch 2,2,0 --fail-switch 3,2,0 \
	-o "$work/damaged"

run 0 doc/examples/route-and-verify "$work/whole.net" classic
said 'credit loop: no'
run 0 doc/examples/route-and-verify "$work/damaged.net"
said 'delivered: yes (0 of 3080 pairs lost)'
said 'credit loop: no'
run 1 doc/examples/route-and-verify "$work/damaged.net" classic \
	"$work/damaged.torus.conf"
said 'no switch at (3,2,0)'
said '^refused'
run 2 doc/examples/route-and-verify "$work/none.net"

run 0 ./dateline route "$work/damaged.net" -o "$work/snapshot"
run 0 doc/examples/emulate-latency "$work/snapshot"
said '^delivered: [1-9][0-9]* packets, 0 dropped'
said '^latency: mean [0-9.]* us'
run 2 doc/examples/emulate-latency "$work/none"
