#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Coordinates for schedulers: what is listed is what is there, and the real Slurm
# takes what is written for it.

# shellcheck disable=SC2030,SC2031,SC2317
bats_require_minimum_version 1.5.0

load lib.bash

# Hosts of the netlist get other names.
named() {
	sed -E "s/# \"H_([0-9]+)_([0-9]+)_([0-9]+)_([0-9]+)\"/# \"$1 HCA-1\"/" "$2"
}

# hops CSV RADICES < "host host" lines: mean hops between them, the slow way.
hops() {
	awk -F '[, ]' -v radix="$2" '
		BEGIN { split(radix, r, " ") }
		NR == FNR {
			if ($1 != "" && !($6 in x)) {
				x[$6] = $2; y[$6] = $3; z[$6] = $4
			}
			next
		}
		function ring(a, b, n,  d) {
			d = a > b ? a - b : b - a
			return n - d < d ? n - d : d
		}
		{
			sum += ring(x[$1], x[$2], r[1]) + \
				ring(y[$1], y[$2], r[2]) + ring(z[$1], z[$2], r[3])
			n++
		}
		END { printf "%.3f\n", n ? sum / n : 0 }' "$1" -
}

@test "every adapter is listed where it is, the same in each form" {
	dateline gen 5 4 3 --hosts 2 --fail-switch 1,2,1 -q -o "$T/f"
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -q \
		-o "$T/snap"
	dateline coords "$T/f.net" --torus-config "$T/f.torus.conf" --csv \
		>"$T/csv" 2>"$T/said"
	grep -q '118 of 118 adapter ports .* 5x4x3 torus; 118 hosts' "$T/said"
	# gen writes the coordinates into the names.
	awk -F, 'NR > 1 && $6 !~ "^H_" $2 "_" $3 "_" $4 "_[12]$" { bad = 1 }
		END { exit bad || NR != 119 }' "$T/csv"
	# Each once; the sites in one piece each, hosts by port.
	[[ $(cut -d , -f 6 "$T/csv" | sort -u | wc -l) == 119 ]]
	cut -d , -f 1,5 "$T/csv" | sed 1d | tr , ' ' | awk '
		$1 != NR - 1 || $2 < last { exit 1 } { last = $2 }'
	sed 1d "$T/csv" | awk -F, '{ print $5, $13 }' | sort -c -n -k 1,1 -k 2,2
	# The snapshot says the same, and knows the LIDs.
	dateline coords "$T/snap" --csv >"$T/csv2" 2>/dev/null
	same "coordinates" <(cut -d , -f 1-9 "$T/csv") \
		<(cut -d , -f 1-9 "$T/csv2")
	same "LIDs" <(end_ports "$T/snap" | awk '$1 == "CA" { print $3, $4 }' |
		sort) <(awk -F, 'NR > 1 { print $8, $10 }' "$T/csv2" | sort)
	dateline coords "$T/snap" --json 2>/dev/null | jq -r '.adapters[] |
		[.index, .coord[0], .coord[1], .coord[2], .along, .host,
		.node_guid, .port_guid, .port, .lid, .description,
		.switch.guid, .switch.port, .switch.name, ""] |
		join(",")' >"$T/json"
	same "JSON and CSV" <(sed 1d "$T/csv2") "$T/json"
	[[ $(dateline coords "$T/snap" 2>/dev/null | wc -l) == 118 ]]
}

@test "what has no coordinates stands at the end, with the reason" {
	dateline gen 4 3 1 -q -o "$T/f"
	# One adapter loses its cable, one hangs on a switch beside the torus.
	awk '/"H_1_1_0_1"/ && /^\[/ { next }
		/^Ca/ && /"H_1_1_0_1"/ { print; getline; next }
		{ print }
		END {
			print "Switch 8 \"Stub\" # \"Stub\""
			print "[1] \"S_0_0_0\"[8]"
			print "[2] \"H_x\"[1]"
			print "Ca 1 \"H_x\" # \"name, \"\"quoted\""
			print "[1] \"Stub\"[2]"
		}' "$T/f.net" | sed -E 's/^(Switch)\t[0-9]+ /\1\t8 /
		/^Switch.*S_0_0_0/a [8]	"Stub"[1]' >"$T/odd.net"
	if dateline coords "$T/odd.net" --torus-config "$T/f.torus.conf" --csv \
		>"$T/csv" 2>"$T/said"; then
		return 1
	fi
	grep -q '11 of 13 adapter ports' "$T/said"
	[[ $(tail -n 2 "$T/csv" | cut -d , -f 1-5 | sort -u) == ',,,,' ]]
	tail -n 2 "$T/csv" | grep -q ',no cable$'
	tail -n 2 "$T/csv" | grep -q ',its switch has no place in the torus$'
	[[ $(dateline coords "$T/odd.net" --torus-config "$T/f.torus.conf" \
		--json 2>/dev/null | jq -c '[(.adapters | length),
		(.without_coordinates | map(.lacking) | length)]') == '[11,2]' ]]
}

@test "two nodes of one name are left out for Slurm, and named" {
	local file

	dateline gen 4 3 1 -q -o "$T/f"
	# n1-1 calls itself by the name of n0-0; that one has a second adapter.
	named 'n\1-\2' "$T/f.net" | sed '/^Ca.*"H_1_1_0_1"/s/n1-1/n0-0/
		/^Ca.*"H_2_0_0_1"/s/n2-0 HCA-1/n0-0 HCA-2/' >"$T/n.net"
	run -1 dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" --csv \
		--slurm-nodes "$T/nodes" --slurm-topology "$T/topology" --slurm-torus3d "$T/yaml"
	grep -q '0x00d2000000000100 and 0x00d2000101000100 .*"n0-0 HCA-1"' <<<"$output"
	grep -q '1 host name of two adapters each' <<<"$output"
	dateline hops "$T/n.net" --torus-config "$T/f.torus.conf" >/dev/null 2>"$T/said"
	grep -q '1 host name of two adapters each: left out' "$T/said"
	for file in nodes topology yaml; do
		fails grep -w 'n0-0' "$T/$file"
		[[ $(grep -ow 'n[0-9]-[0-9]' "$T/$file" | sort -u | wc -l) == 9 ]]
	done
	# Two adapters of a host are one host; a product's name is none.
	named 'n\1-\2' "$T/f.net" | sed '/^Ca.*"H_2_0_0_1"/s/n2-0 HCA-1/n0-0 HCA-2/
		/^Ca.*"H_[13]_1_0_1"/s/n[13]-1/MT4119/' >"$T/two.net"
	run -0 dateline coords "$T/two.net" --torus-config "$T/f.torus.conf" \
		--slurm-nodes "$T/nodes"
	fails grep 'call themselves' <<<"$output"
	[[ $(grep -c '^NodeName=n' "$T/nodes") == 9 ]]
	grep -q '^NodeName=n0-0$' "$T/nodes"
}

@test "--live lists what OpenSM has set up" {
	dateline gen 4 3 2 -q -o "$T/f"
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf"
	sim dateline coords --live --torus-config "$T/f.torus.conf" --csv \
		>"$T/csv" 2>/dev/null
	same "LIDs" <(end_ports "$T/a" | awk '$1 == "CA" { print $3, $4 }' |
		sort) <(awk -F, 'NR > 1 { print $8, $10 }' "$T/csv" | sort)
	awk -F, 'NR > 1 && $6 !~ "^H_" $2 "_" $3 "_" $4 "_1$" { bad = 1 }
		END { exit bad || NR != 25 }' "$T/csv"
	# OpenSM's own dumps do as well.
	dateline coords "$T/a" --torus-config "$T/f.torus.conf" --csv \
		2>/dev/null | cut -d , -f 1-10 >"$T/dumps"
	same "coordinates" <(cut -d , -f 1-10 "$T/csv") "$T/dumps"
}

#
# Slurm.
#

# slurm_conf NODES: one that needs no other daemon and no secrets.
slurm_conf() {
	SLURM_LIB=$(printf '%s\n' "$DL_BUILD"/services/usr/lib/*/slurm-wlm \
		/usr/lib/*/slurm-wlm | grep -vF '*' | head -n 1)
	export SLURM_CONF=$T/slurm.conf
	mkdir -p "$T/state"
	cat >"$SLURM_CONF" <<-EOT
		ClusterName=test
		SlurmctldHost=localhost(127.0.0.1)
		PluginDir=$SLURM_LIB
		AuthType=auth/none
		CredType=cred/none
		SlurmUser=root
		StateSaveLocation=$T/state
		SlurmctldPidFile=$T/slurmctld.pid
		ProctrackType=proctrack/linuxproc
		SelectType=select/linear
		MailProg=/bin/true
		TopologyPlugin=topology/tree
		NodeName=DEFAULT CPUs=2
		Include $1
		PartitionName=all Nodes=ALL Default=YES
	EOT
}

slurm() {
	LD_LIBRARY_PATH=$SLURM_LIB "$@"
}

@test "Slurm's scontrol reads the node lists as they are meant" {
	local scontrol how

	scontrol=$(service scontrol)
	dateline gen 6 5 1 --hosts 2 -q -o "$T/f"
	named 'n\1\2\3-\4' "$T/f.net" >"$T/n.net"
	slurm_conf "$T/nodes"
	dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" --csv \
		2>/dev/null >"$T/csv"
	for how in host index; do
		dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" -q \
			--slurm-nodes "$T/nodes" --slurm-names "$how" >/dev/null
		sed -n 's/^NodeName=\([^ ]*\).*/\1/p' "$T/nodes" >"$T/names"
		[[ $(sort -u "$T/names" | wc -l) == 60 ]]
		slurm "$scontrol" show hostnames "$(paste -sd , "$T/names")" \
			>"$T/read"
		same "$how" "$T/names" "$T/read"
		# Which hosts they stand for: along the curve.
		[[ $how == host ]] || sed -n 's/.*NodeHostname=\([^ ]*\) NodeAddr=\1$/\1/p' \
			"$T/nodes" >"$T/names"
		same "$how" <(sed 1d "$T/csv" | cut -d , -f 6) "$T/names"
	done
	# Numbers sort as they count.
	dateline coords "$T/n.net" -q --slurm-nodes - --slurm-names index |
		sed -n 's/^NodeName=\([^ ]*\).*/\1/p' | LC_ALL=C sort -c
}

@test "Slurm's controller loads the topology: blocks of the torus" {
	local scontrol slurmctld

	unshare -n true 2>/dev/null || skip "no network of its own for a daemon"
	scontrol=$(service scontrol)
	slurmctld=$(service slurmctld-wlm)
	dateline gen 6 5 4 -q -o "$T/f"
	named '10.\1.\2.\3\4' "$T/f.net" >"$T/n.net"
	slurm_conf "$T/nodes"
	dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" --csv -q \
		--slurm-names index --slurm-nodes "$T/nodes" \
		--slurm-topology "$T/topology.conf" >"$T/csv"
	# It listens on every address: so it gets a network of its own.
	cat >"$T/run" <<-'EOT'
		ip link set lo up
		ip addr add 10.255.255.1/32 dev lo
		"$1" -D -c -f "$SLURM_CONF" >"$3/slurmctld.log" 2>&1 &
		for i in {1..100}; do
			sleep 0.1
			kill -0 $! || break
			timeout 5 "$2" show topology >"$3/topology" \
				2>/dev/null && break
		done
		timeout 5 "$2" -o show nodes >"$3/shown"
		kill $!
		wait
	EOT
	slurm timeout 60 unshare -n setpriv --pdeathsig KILL \
		bash "$T/run" "$slurmctld" "$scontrol" "$T" 3>&-
	fails grep -i fatal "$T/slurmctld.log"
	[[ $(grep -c '^NodeName=torus' "$T/shown") == 120 ]]
	# 120 switches, in blocks of 8, of 64, of all.
	[[ $(awk '{ n[$2]++ } END {
		print n["Level=0"], n["Level=1"], n["Level=2"], n["Level=3"]
	}' "$T/topology") == '120 15 2 1' ]]
	grep '^SwitchName=b3_0 ' "$T/topology" | grep -q 'Nodes=torus\[000-119\]'
	grep '^SwitchName=b1_1 ' "$T/topology" | grep -q 'Nodes=torus\[008-015\]'
	# Blocks are more compact than rows: the first eight, pair by pair.
	sed -n 2,9p "$T/csv" | cut -d , -f 6 >"$T/eight"
	awk '{ h[NR] = $0 } END {
		for (i = 1; i <= NR; i++)
			for (j = 1; j < i; j++)
				print h[i], h[j]
	}' "$T/eight" | hops "$T/csv" "6 5 4" |
		awk '{ exit $1 == 0 || $1 > 2 }'
}

# torus3d FILE SIZES < "host x y z" lines, of cells: is this topology.yaml one
# that Slurm's plugin torus3d takes (src/plugins/topology/torus3d of Slurm
# 26.05.3), with each host in its cell and placements of these sizes?
torus3d() {
	awk -v sizes="$2" '
		function bad(what) { print FILENAME ":" FNR ": " what >"/dev/stderr"; failed = 1 }
		# {x: 1, y: 2, z: 3} into v.
		function xyz(v,  t) {
			if (!match($0, /\{x: [0-9]+, y: [0-9]+, z: [0-9]+\}$/))
				return bad("no dims")
			t = substr($0, RSTART)
			gsub(/[^0-9]+/, " ", t)
			split(t, v, " ")
		}
		# With x fastest, from the anchor on.
		function cells(list, anchor, dims,  n, i, host, x, y, z) {
			n = split(list, host, ",")
			if (n != dims[1] * dims[2] * dims[3])
				bad("nodes do not fill the dims")
			for (i = 0; i < n; i++) {
				x = anchor[1] + i % dims[1]
				y = anchor[2] + int(i / dims[1]) % dims[2]
				z = anchor[3] + int(i / dims[1] / dims[2])
				if (x >= torus[1] || y >= torus[2] || z >= torus[3])
					bad("outside of the torus")
				if ((x " " y " " z) in at)
					bad("regions overlap")
				at[x " " y " " z] = host[i + 1]
			}
		}
		NR == FNR { want[$2 " " $3 " " $4] = $1; next }
		/^#/ { next }
		/^- topology: / || /^  cluster_default: true$/ || /^  torus3d:$/ ||
			/^    toruses:$/ || /^      - name: / { keys = keys substr($0, 1, 6); next }
		/^        dims: / { xyz(torus); next }
		/^        nodes: / { split("0 0 0", zero, " "); cells($2, zero, torus); whole++; next }
		/^        (regions|placements):$/ { list = $1; next }
		list == "regions:" && /^          - anchor: / { xyz(anchor); next }
		list == "regions:" && /^            dims: / { xyz(dims); next }
		list == "regions:" && /^            nodes: / { cells($2, anchor, dims); parts++; next }
		list == "placements:" && /^          - dims: / {
			xyz(dims)
			for (i = 1; i <= 3; i++)
				if (!dims[i] || dims[i] > torus[i])
					bad("a placement exceeds the torus")
			have = have (have ? "," : "") dims[1] * dims[2] * dims[3]
			next
		}
		{ bad("what is this?  " $0) }
		END {
			if (keys != "- topo" "  clus" "  toru" "    to" "      " || whole && parts)
				bad("keys")
			for (cell in want) {
				if (at[cell] != want[cell])
					bad("cell " cell ": " at[cell] ", not " want[cell])
				delete at[cell]
			}
			for (cell in at)
				bad("cell " cell ": " at[cell] " belongs elsewhere")
			if (have != sizes)
				bad("sizes " have)
			exit failed
		}' - "$1"
}

# cells K: "host x y z" lines from $T/csv, K hosts side by side in x.
cells() {
	awk -F, -v k="$1" 'NR > 1 {
		print $6, $2 * k + n[$2 "," $3 "," $4]++, $3, $4
	}' "$T/csv"
}

@test "Slurm's torus3d: a cell for each host, boxes that fill the torus" {
	local words k sizes

	while read -r k sizes words; do
		# shellcheck disable=SC2086
		dateline gen $words -q -o "$T/f"
		named 'n\1-\2-\3-\4' "$T/f.net" >"$T/n.net"
		dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" --csv -q \
			--slurm-torus3d "$T/topology.yaml" >"$T/csv"
		cells "$k" | torus3d "$T/topology.yaml" "$sizes"
	done <<-END
		1 1,2,3,4,6,8,12,24 4 3 2
		1 1,2,3,4,6,8,12,24 4 3 2 --fail-switch 1,1,1 --fail-switch 0,2,0
		3 1,2,3,6,9,12,18,24,36,72 4 3 2 --hosts 3
		1 1,5,7,35 7 5 1 --mesh x
	END
	# Sizes that were asked for; in a mesh a box does not wrap.
	dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" --csv -q \
		--slurm-sizes 4,9 --slurm-torus3d "$T/topology.yaml" >"$T/csv" && return 1
	dateline gen 7 5 1 -q -o "$T/f"
	named 'n\1-\2-\3-\4' "$T/f.net" >"$T/n.net"
	dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" --csv -q \
		--slurm-sizes 4,9 --slurm-torus3d "$T/topology.yaml" >"$T/csv"
	cells 1 | torus3d "$T/topology.yaml" 1,4,5,7,9,35
	grep -q 'dims: {x: 2, y: 2, z: 1}' "$T/topology.yaml"
	grep -q 'dims: {x: 3, y: 3, z: 1}' "$T/topology.yaml"
	# The check can fail.
	sed 's/n1-0-0-1/n9/' "$T/topology.yaml" >"$T/wrong.yaml"
	cells 1 | torus3d "$T/wrong.yaml" 1,4,5,7,9,35 2>/dev/null && return 1
	[[ ! ${DATELINE_SLURM:-} ]] || torus3d_live
}

# The real one, where $DATELINE_SLURM is the prefix of a Slurm 26.05 or later.
torus3d_live() {
	slurm_conf "$T/nodes"
	sed -i '/^TopologyPlugin\|^PluginDir/d; s,select/linear,select/cons_tres,' "$SLURM_CONF"
	dateline coords "$T/n.net" --torus-config "$T/f.torus.conf" -q --slurm-names index \
		--slurm-nodes "$T/nodes" --slurm-torus3d "$T/topology.yaml" >/dev/null
	cat >"$T/run" <<-'EOT'
		ip link set lo up
		ip addr add 10.255.255.1/32 dev lo
		"$1/sbin/slurmctld" -D -c -v -f "$SLURM_CONF" >"$2/slurmctld.log" 2>&1 &
		for i in {1..100}; do
			sleep 0.1
			kill -0 $! || break
			timeout 5 "$1/bin/scontrol" show topology >"$2/topology" 2>/dev/null && break
		done
		kill $!
		wait
	EOT
	timeout 60 unshare -n setpriv --pdeathsig KILL \
		bash "$T/run" "$DATELINE_SLURM" "$T" 3>&-
	fails grep -i fatal "$T/slurmctld.log"
	same "what Slurm has read" "$T/topology" - <<-'EOT'
		TorusName=torus Dims=7x5x1 Nodes=torus[00-34]
		  TorusName=torus PlacementDims=1x1x1(1) Anchors=35
		  TorusName=torus PlacementDims=1x5x1(5) Anchors=7
		  TorusName=torus PlacementDims=7x1x1(7) Anchors=5
		  TorusName=torus PlacementDims=7x5x1(35) Anchors=1
	EOT
}

@test "wrong options and fabrics are told" {
	dateline gen 4 2 1 -q -o "$T/f"
	for wrong in "--slurm-names abc" "--live" "$T/f.net"; do
		# shellcheck disable=SC2086
		run dateline coords "$T/f.net" $wrong
		[[ $status == 2 ]]
	done
	run dateline coords "$T/nowhere"
	[[ $status == 2 ]]
	run dateline coords "$T"
	[[ $status == 2 && $output == *'no dateline.net'* ]]
}
