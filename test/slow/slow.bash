#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: slow.bash [NAME...]
#
# Inputs of at most a megabyte that once took minutes or gigabytes, or that look
# as if they did, each made by a few lines of awk.  Every command ends with a
# result or a message within STEPS basic blocks (2 to 6 seconds) and a gigabyte.
set -euo pipefail

STEPS=6000000000
KILOBYTES=1100000 # of address space
SECONDS_MAX=120	  # for what is not counted: other libraries

counted=$PWD/test/slow/counted
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# ---- fabrics ----------------------------------------------------------------

# ring N: switches with two ports.
ring() {
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < n; i++)
			printf "switchguid=0x%x\nSwitch 2 \"S%d\"\n[1]\"S%d\"[2]\n\n",
				i + 1, i, (i + 1) % n
	}'
}

# graph N D: N switches, random cables, D at each on average.
graph() {
	awk -v n="$1" -v d="$2" 'BEGIN {
		seed = 5
		for (k = 0; k < n * d / 2; k++) {
			seed = (seed * 16807) % 2147483647
			a = seed % n
			seed = (seed * 16807) % 2147483647
			b = seed % n
			if (a == b)
				continue
			p = ++ports[a]
			q = ++ports[b]
			links[a] = links[a] sprintf("[%d]\"S%d\"[%d]\n", p, b, q)
		}
		for (i = 0; i < n; i++)
			printf "switchguid=0x%x\nSwitch 100 \"S%d\"\n%s\n", i + 1, i, links[i]
	}'
}

# mesh N: each switch cabled to all others.
mesh() {
	awk -v n="$1" 'BEGIN {
		for (i = 0; i < n; i++) {
			printf "switchguid=0x%x\nSwitch 254 \"S%d\"\n", i + 1, i
			for (j = i + 1; j < n; j++)
				printf "[%d]\"S%d\"[%d]\n", j + 1, j, i + 1
			print ""
		}
	}'
}

# hubs N H: N switches with four cables each, to H of up to 254.
hubs() {
	awk -v n="$1" -v h="$2" 'BEGIN {
		for (i = 0; i < n; i++) {
			printf "switchguid=0x%x\nSwitch 6 \"L%d\"\n", i + 1, i
			for (k = 0; k < 4; k++) {
				j = (i * 7 + k * 13 + int(i / h) * k) % h
				if (++used[j] < 255)
					printf "[%d]\"H%d\"[%d]\n", k + 1, j, used[j]
			}
			print ""
		}
		for (j = 0; j < h; j++)
			printf "switchguid=0x%x\nSwitch 254 \"H%d\"\n\n", n + j + 1, j
	}'
}

# alone N P: switches with P ports and no cables.
alone() {
	awk -v n="$1" -v p="$2" 'BEGIN {
		for (i = 0; i < n; i++)
			printf "switchguid=0x%x\nSwitch %d \"S%d\"\n\n", i + 1, p, i
	}'
}

# seeds NET RADICES DIMS: nine seeds along the cables of a netlist.
seeds() {
	awk -v radices="$2" -v dims="$3" '
	/^switchguid/ { guid = substr($0, 12) }
	/^Switch/ { id = $3; gsub(/"/, "", id); guids[id] = guid; order[n++] = id }
	/^\[/ {
		split($0, part, "\"")
		if (!((id, part[2]) in seen)) {
			seen[id, part[2]] = 1
			near[id, ++count[id]] = part[2]
		}
	}
	END {
		print "torus " radices
		for (i = 0; i < n && made < 9; i += int(n / 18) + 1) {
			id = order[i]
			if (count[id] < dims)
				continue
			if (made++)
				print "next_seed"
			for (d = 1; d <= dims; d++)
				printf "%sp_link %s %s\n", substr("xyz", d, 1), guids[id],
					guids[near[id, d]]
		}
	}' "$1"
}

# ---- what uses tables ---------------------------------------------------------

# lines N FORMAT: lines in which %d is the number of the line.
lines() {
	awk -v n="$1" -v format="$2\n" 'BEGIN { for (i = 0; i < n; i++) printf format, i }'
}

# scenario HEAD N LINE: the head, then N lines.
scenario() {
	printf '%b\n' "$1"
	lines "$2" "$3"
}

"$counted" gen 8 8 8 --hosts 4 -q -o torus
"$counted" route torus.net --torus-config torus.torus.conf -q -o torus.dls
"$counted" route torus.net --torus-config torus.torus.conf -q -o old
rm old/dateline-manifest.txt
cp -r old groups
{
	printf 'Switch 0x00d1000000000000\nLID    : Out Port(s)\n'
	awk 'BEGIN { for (m = 0; m < 4000; m++) printf "0x%04X : 0x001 0x002\n", 49152 + m }'
} >groups/opensm.mcfdbs
mkdir lids
{
	printf 'switchguid=0x70000000\nSwitch 1 "T" # "T" base port 0 lid 49151 lmc 0\n\n'
	alone 20000 1
} >lids/dateline.net
: >lids/opensm.fdbs
traffic='duration_ns: 1000\ntraffic:\n - {pattern: uniform, load: 0.1}'

# ---- the corpus -----------------------------------------------------------------

runs=0 failed=0

# slow NAME COMMAND...: one case.
slow() {
	local name=$1 status=0 steps=more

	shift
	if ((${#only[@]})) && [[ " ${only[*]} " != *" $name "* ]]; then
		return
	fi
	runs=$((runs + 1))
	rm -f steps
	(
		ulimit -v "$KILOBYTES" -t "$SECONDS_MAX"
		DATELINE_STEPS=$STEPS DATELINE_STEPS_TO=steps "$counted" "$@" >out 2>err
	) || status=$?
	[[ ! -s steps ]] || steps=$(<steps)
	printf '%-24s status %d, %11s steps\n' "$name" "$status" "$steps"
	((status <= 2)) || {
		failed=$((failed + 1))
		echo "FAILED: $name: $*"
		tail -n 2 err
	}
}

only=("$@")

ring 14000 >ring.net
seeds ring.net "140 100 1" 2 >ring.conf
slow ring discover ring.net --torus-config ring.conf
slow ring_alone discover ring.net
graph 7000 6 >sparse.net
seeds sparse.net "20m 20 17m" 3 >sparse.conf
slow graph discover sparse.net --torus-config sparse.conf
slow graph_alone coords sparse.net
graph 1300 60 >dense.net
seeds dense.net "10 10 13" 3 >dense.conf
slow dense_graph discover dense.net --torus-config dense.conf
slow dense_route route dense.net --torus-config dense.conf --repair-seconds 0 -o dense.dls
mesh 250 >mesh.net
seeds mesh.net "5m 5m 10m" 3 >mesh.conf
slow mesh discover mesh.net --torus-config mesh.conf
slow mesh_whatif whatif mesh.net --torus-config mesh.conf --samples 2 --switches 1 --threads 2
hubs 8000 130 >hubs.net
seeds hubs.net "20 20 20" 3 >hubs.conf
slow hubs discover hubs.net --torus-config hubs.conf
slow hubs_alone discover hubs.net
alone 30000 254 >ports.net
slow ports discover ports.net
alone 3900 254 >ports.net
slow fewer_ports discover ports.net
slow highest_lid verify lids
lines 90000 next_seed | sed '1i torus 4 4 4' >empty.conf
slow empty_seeds discover torus.net --torus-config empty.conf

awk '/^\[1\]\(/ { split($0, a, "[()]"); g[n++] = a[2] }
	END { for (i = 0; i < 35000; i++) printf "0x%s %d 0\n", g[i % 2 ? 5 : n - 3], 1 + i % 2000
	}' torus.net >sls
slow alternating_sls verify torus.dls --psl sls
slow groups_verify verify groups
slow groups_transition transition old groups
slow groups_diff diff old groups
awk '/^\[1\]\(/ { split($0, a, "[()]"); print "0x" a[2] }' torus.net >job
slow job path torus.dls --job job
lines 9000 'file 0x0000000000000000 1 name%d' | sed '1i dateline-snapshot 1' >old/dateline-manifest.txt
slow manifest verify old
rm old/dateline-manifest.txt

lines 35000 '%d H_7_7_7_1 H_7_7_6_1 64 0' >trace
scenario 'duration_ns: 1000' 1 'traffic: [{pattern: trace, file: trace}]' >s.yaml
slow trace emulate torus.dls --scenario s.yaml
scenario 'duration_ns: 1000\ntraffic:' 1000 ' - {pattern: trace, file: trace}' >s.yaml
slow traces emulate torus.dls --scenario s.yaml
scenario 'duration_ns: 1000\ntraffic:' 1000 ' - {pattern: uniform, load: 0.00001}' >s.yaml
slow entries emulate torus.dls --scenario s.yaml
scenario "$traffic\nfaults:" 20000 ' - {at_ns: 1, fault: tables, snapshot: torus.dls}' >s.yaml
slow tables emulate torus.dls --scenario s.yaml
scenario "$traffic\nfaults:" 250 ' - {at_ns: 1, fault: tables, snapshot: torus.dls}' >s.yaml
slow fewer_tables emulate torus.dls --scenario s.yaml
scenario "$traffic\nfaults:" 9000 \
	' - {at_ns: 1, fault: link_down, node: S_7_7_7, port: 1, for_ns: 1, every_ns: 2, times: 10000}' \
	>s.yaml
slow flaps emulate torus.dls --scenario s.yaml
scenario 'duration_ns: 1000000000000\nsample_ns: 1' 1 'traffic: [{pattern: uniform, load: 0.1}]' \
	>s.yaml
slow samples emulate torus.dls --scenario s.yaml
scenario "$traffic\nx:" 90000 ' - &a%d 1' >s.yaml
slow anchors emulate torus.dls --scenario s.yaml
{ lines 60000 '%%%%TAG !a%d! b'; printf -- '---\na: 1\n'; } >s.yaml
slow tags emulate torus.dls --scenario s.yaml
awk 'BEGIN { printf "a: "; for (i = 0; i < 200000; i++) printf "[" }' >s.yaml
slow brackets emulate torus.dls --scenario s.yaml
awk 'BEGIN { for (i = 0; i < 450000; i++) printf "- "; print "a" }' >s.yaml
slow dashes emulate torus.dls --scenario s.yaml
{
	echo 'a0: &a0 [1, 1]'
	awk 'BEGIN { for (i = 1; i < 900; i++) printf "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1 }'
} >s.yaml
slow aliases arbitrate s.yaml
scenario 'vls: 8\nhigh: [[0, 1]]\nqueues: {0: {packets: 1000000, bytes: 64}}\nevents:' 30000 \
	' - {after: 1, smp: 1000000}' >s.yaml
slow packets arbitrate s.yaml
scenario 'scheme: iba\nbuffer_blocks: 1000000\nchunk_blocks: 1\nevents:' 60000 ' - send: 1' >s.yaml
slow events credits s.yaml

echo "$runs inputs, $failed failed"
((runs && !failed))
