#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# A fabric of the kind that torus-2QoS was made for: a 4x4x4 torus, three
# cables between neighbours, sixteen adapters at each switch.  Every LID must
# arrive, and the adapters of a switch must share the cables evenly.

load lib.bash

# lost DIR: every (switch, LID) from which hop after hop along the forwarding
# tables does not end at the LID's owner; nothing if all is well.
lost() {
	awk '
		FILENAME == ARGV[1] { guid[$4] = $2; next }
		FILENAME == ARGV[2] {
			far[$2, $4] = $6
			if ($1 == "SW")
				switches[$2]
			next
		}
		{ out[$1, $2] = $3 }
		END {
			for (lid in guid) for (s in switches) {
				at = s
				for (hop = 0; hop < 20 && at != guid[lid]; hop++)
					at = far[at, out[at, lid]]
				if (at != guid[lid])
					print s, lid
			}
		}' <(end_ports "$1") <(cables "$1") <(lfts "$1")
}

# uneven DIR CABLES: every (switch, neighbour, destination switch) for which
# the loads of the parallel cables, counted in adapters, differ by more than
# one: "switch neighbour destination least most".
uneven() {
	awk -v cables="$2" '
		FILENAME == ARGV[1] {
			far[$2, $4] = $6
			if ($1 == "CA")
				home[$3] = $6
			next
		}
		$2 in home && home[$2] != $1 {
			load[$1 " " far[$1, $3] " " home[$2], $3]++
		}
		END {
			for (key in load) {
				split(key, part, SUBSEP)
				flow = part[1]
				used[flow]++
				if (load[key] > most[flow])
					most[flow] = load[key]
				if (used[flow] == 1 || load[key] < least[flow])
					least[flow] = load[key]
			}
			for (flow in used) {
				if (used[flow] < cables)
					least[flow] = 0
				if (most[flow] - least[flow] > 1)
					print flow, least[flow], most[flow]
			}
		}' <(cables "$1") <(lfts "$1")
}

# try ENGINE [GENERATOR-ARGUMENT...]
try() {
	local engine=$1

	shift
	dateline gen 4 4 4 --parallel 3 --hosts 16 "$@" -o "$T/f"
	fabric_up "$T/sm" "$engine" "$T/f.net" torus_config="$T/f.torus.conf"
	fabric_down
}

check() {
	lost "$T/sm" >"$T/lost"
	uneven "$T/sm" 3 >"$T/uneven"
	head -n 5 "$T/lost" "$T/uneven"
	[[ ! -s $T/lost && ! -s $T/uneven ]]
}

@test "4x4x4, three cables, sixteen adapters: all delivered, evenly" {
	try dateline
	(($(lfts "$T/sm" | wc -l) == 64 * 1088))
	check
}

@test "the same with ports, GUIDs and nodes scrambled" {
	try dateline --scramble 11
	check
}

@test "the checks above can fail" {
	try dateline
	check
	cp "$T/sm/opensm-lfts.dump" "$T/good"
	# Cable 1 left to cable 2: delivered, not even.
	sed 's/^\(0x[0-9a-f]*\) 001 /\1 002 /' "$T/good" >"$T/sm/opensm-lfts.dump"
	fails check
	[[ ! -s $T/lost ]]
	# One entry that leads to an adapter instead of a switch.
	awk '/^0x/ && $2 >= 1 && $2 <= 18 && !done++ { $2 = "020" }
		{ print }' "$T/good" >"$T/sm/opensm-lfts.dump"
	fails check
	[[ -s $T/lost ]]
}
