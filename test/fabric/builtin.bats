#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Dateline against OpenSM's built-in torus-2QoS engine, on live fabrics: the
# same forwarding and SL-to-VL tables, entry for entry; path SLs against an
# oracle that knows the formula and nothing else; VL arbitration read back
# from the ports; the offline routing of `dateline route`; and the verdict of
# an independent checker.

load lib.bash

ENGINE=dateline

setup() {
	fabric_init
	LMC=0
	ENTRIES=lfts
}

# places DIR: "type node-guid lid x y z" of every end port, with the
# coordinates that the generator put into the names.
places() {
	end_ports "$1" | sed -nE \
		's/^(..) ([^ ]*) [^ ]* ([0-9]*) [^0-9]*([0-9]+)[^0-9]([0-9]+)[^0-9]([0-9]+).*/\1 \2 \3 \4 \5 \6/p'
}

# oracle DIR X Y Z MESH: "slid dlid sl" for every pair of end ports and every
# LID of the destination, by the definition (rules A5): bit d is set when the
# shorter way round dimension d wraps.
oracle() {
	places "$1" | awk -v x="$2" -v y="$3" -v z="$4" -v mesh="$5" \
		-v lids="$((1 << LMC))" '
		function bit(d, a, b,  apart) {
			apart = a > b ? a - b : b - a
			return !index(mesh, substr("xyz", d, 1)) && \
				2 * apart > radix[d]
		}
		BEGIN { radix[1] = x; radix[2] = y; radix[3] = z }
		{
			lid[NR] = $3
			nlids[NR] = $1 == "SW" ? 1 : lids
			for (d = 1; d <= 3; d++)
				c[NR, d] = $(3 + d)
		}
		END {
			for (s = 1; s <= NR; s++) for (t = 1; t <= NR; t++) {
				sl = 0
				for (d = 3; d >= 1; d--)
					sl = 2 * sl + bit(d, c[s, d], c[t, d])
				for (i = 0; i < nlids[t]; i++)
					print lid[s], lid[t] + i, sl
			}
		}' | sort
}

# The SLs that the subnet administrator grants, for some of the oracle's
# pairs, unasked (level 0) and when asked for level 1.
check_sls() {
	local asked=$T/asked

	some 60 <"$1" >"$asked"
	cut -d ' ' -f 1,2 "$asked" | path_sls >"$T/level0"
	same "path SLs" "$asked" "$T/level0" || return
	awk '{ print $1, $2, $3 + 8 }' "$asked" | some 15 | sort >"$T/high"
	path_sls <"$T/high" >"$T/level1"
	same "path SLs of level 1" "$T/high" "$T/level1"
}

# "level vl-count" rules (rules A7): all VLs of one level weigh the same in
# each table, and both levels the same; 8 VLs between switches, 2 at end
# ports.  Input: "between|end lid port high|low vl weight".
unfair() {
	awk '
		{
			port = $1 " LID " $2 " port " $3
			nvls[port] = $1 == "between" ? 8 : 2
			weight[port, $4, $5] += $6
			if ($5 >= nvls[port])
				print port ": VL " $5 " has weight"
		}
		END {
			for (port in nvls)
				for (vl = 0; vl < nvls[port]; vl++) {
					if (!weight[port, "low", vl])
						print port ": no VL " vl " in low"
					if (weight[port, "low", vl] != \
					    weight[port, "low", 0] ||
					    weight[port, "high", vl] != \
					    weight[port, "high", 0])
						print port ": VL " vl " differs"
				}
		}'
}

check_arbitration() {
	cables "$1" | awk '$1 == "SW" && $5 == "SW" { print $3, $4 }' |
		some 30 >"$T/between"
	cables "$1" | awk '$1 != "SW" || $5 != "SW" { print $3, $4 }' |
		some 12 >"$T/end"
	{
		arbitration <"$T/between" | sed 's/^/between /'
		arbitration <"$T/end" | sed 's/^/end /'
	} >"$T/weights"
	(($(cut -d ' ' -f 2,3 "$T/weights" | sort -u | wc -l) ==
		$(cat "$T/between" "$T/end" | wc -l)))
	unfair <"$T/weights" >"$T/unfair"
	[[ ! -s $T/unfair ]] || {
		head -n 5 "$T/unfair"
		return 1
	}
}

# with_lid K DIR: opensm-subnet.lst of DIR as if the K-th LID of each adapter
# were its only one.
with_lid() {
	awk -v k="$1" "$DL_SUBNET_LST"'
		{
			gsub(/ } { /, " }\n{ ")
			n = split($0, half, "\n")
			for (i = 1; i <= n; i++) {
				if (half[i] ~ /^{ CA/)
					sub(/} LID:[0-9A-F]+/, sprintf("} LID:%04X",
						hex(field(half[i], "} LID:")) + k),
						half[i])
				printf "%s%s", half[i], i < n ? " " : "\n"
			}
		}' "$2/opensm-subnet.lst"
}

# ibdmchk finds no fault with the dumps in $1 and the SLs in $2.  It cannot
# be told that adapters have several LIDs and switches one, so each LID of
# the adapters gets a run of its own.
check_loops() {
	local k dir=$T/ibdm

	slvl_of "$1" >"$T/slvl"
	mkdir -p "$dir"
	cp "$1/opensm.fdbs" "$1/opensm.mcfdbs" "$dir"
	for ((k = 0; k < 1 << LMC; k++)); do
		with_lid "$k" "$1" >"$dir/opensm-subnet.lst"
		[[ $(ibdm "$dir" "$2" "$T/slvl" -a) == safe ]] || return
	done
}

# Where parallel cables join two switches, the engines may differ in the
# cable, not in the neighbour: "switch lid neighbour-guid".
neighbours() {
	awk 'NR == FNR { at[$2, $4] = $6; next }
		{ print $1, $2, $3 ? at[$1, $3] : $1 }' \
		<(cables "$1") <(lfts "$1")
}

# The same tables from the offline router, fed with what ibnetdiscover says.
check_offline() {
	dateline route "$T/live.net" --torus-config "$T/f.torus.conf" \
		-o "$T/offline"
	same "offline forwarding tables" <(lfts "$1") <(lfts "$T/offline")
	same "offline SL to VL" <(sl2vl "$1") <(sl2vl "$T/offline")
	same "offline path SLs" <(sort "$2") \
		<(sort "$T/offline/dateline-psl.dump")
}

# compare X Y Z MESH [GENERATOR-ARGUMENT...]: everything, on one fabric.
compare() {
	local x=$1 y=$2 z=$3 mesh=$4 peer=$T/torus-2QoS ours=$T/dateline

	shift 4
	dateline gen "$x" "$y" "$z" ${mesh:+--mesh "$mesh"} "$@" -o "$T/f"
	fabric_up "$peer" torus-2QoS "$T/f.net" \
		torus_config="$T/f.torus.conf" lmc="$LMC"
	fabric_down
	fabric_up "$ours" "$ENGINE" "$T/f.net" \
		torus_config="$T/f.torus.conf" lmc="$LMC"
	sim ibnetdiscover >"$T/live.net"
	oracle "$ours" "$x" "$y" "$z" "$mesh" >"$T/sls"
	check_sls "$T/sls"
	check_arbitration "$ours"
	fabric_down
	same "forwarding tables" <("$ENTRIES" "$peer") <("$ENTRIES" "$ours")
	same "SL to VL" <(sl2vl "$peer") <(sl2vl "$ours")
	psl_of "$ours" <"$T/sls" >"$T/psl"
	check_loops "$ours" "$T/psl"
	check_offline "$ours" "$T/psl"
	check_loops "$ours" "$T/offline/dateline-psl.dump"
}

@test "6x5 torus: the document's" {
	compare 6 5 1 ""
}

@test "5x4x3 torus, two hosts a switch, ports and GUIDs scrambled" {
	compare 5 4 3 "" --hosts 2 --scramble 7
}

@test "4x4x4 torus: every dimension ambiguous" {
	compare 4 4 4 ""
}

@test "2x5x4 torus: two cables between the same two switches" {
	ENTRIES=neighbours
	compare 2 5 4 ""
}

@test "3x3x3 torus: the smallest rings" {
	compare 3 3 3 ""
}

@test "2x2x2 torus: twice over" {
	ENTRIES=neighbours
	compare 2 2 2 ""
}

@test "4x3 mesh" {
	compare 4 3 1 xy
}

@test "3x3x3 mesh" {
	compare 3 3 3 xyz
}

@test "5x4x3, a mesh in y" {
	compare 5 4 3 y
}

@test "4x4x2, a mesh in z" {
	compare 4 4 2 z
}

@test "5x4 torus, two LIDs a port" {
	LMC=1
	compare 5 4 1 ""
}

@test "the checks above can fail" {
	dateline gen 4 4 1 -o "$T/f"
	fabric_up "$T/sm" torus-2QoS "$T/f.net" torus_config="$T/f.torus.conf"
	oracle "$T/sm" 4 4 1 "" >"$T/sls"
	psl_of "$T/sm" <"$T/sls" >"$T/psl"
	# SLs of another torus; the built-in engine's arbitration, which leaves
	# OpenSM's unfair default in place; VL 0 everywhere.
	oracle "$T/sm" 3 4 1 "" >"$T/wrong"
	fails check_sls "$T/wrong"
	fails check_arbitration "$T/sm"
	fabric_down
	check_loops "$T/sm" "$T/psl"
	sed -Ei 's/^([0-9]+ +[0-9]+ +:).*/\1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0/' \
		"$T/sm/opensm-sl2vl.dump"
	fails check_loops "$T/sm" "$T/psl"
}
