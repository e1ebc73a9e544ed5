#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# dateline hops: the hops are those of packets, lists of hosts are read as Slurm
# reads them, and what is chosen is chosen from them.  How good the choices are,
# test/unit/compact.c tells.

bats_require_minimum_version 1.5.0
load lib.bash

setup() {
	fabric_init
	# shellcheck disable=SC2164 # bats stops at a failure
	cd "$T"
}

# triples CSV: "from to hops" of a matrix.
triples() {
	awk -F, 'NR == 1 { for (i = 2; i <= NF; i++) to[i] = $i; next }
		{ for (i = 2; i <= NF; i++) print $1, to[i], $i }' "$1"
}

@test "the hops of a snapshot are those of packets" {
	local a b hosts

	# An early turn, a detour, and parallel cables; two hosts a switch.
	routed f 4 5 1 --hosts 2 --parallel 2 --fail-switch 1,1,0 --fail-link 2,3,0:+x
	dateline hops f --csv >csv
	dateline hops f --json >json
	hosts=(H_0_0_0_1 H_0_1_0_2 H_2_1_0_1 H_3_1_0_1 H_2_3_0_1 H_3_3_0_2 H_1_4_0_1)
	for a in "${hosts[@]}"; do
		for b in "${hosts[@]}"; do
			[[ $a == "$b" ]] ||
				echo "$a $b $(dateline path f "$a" "$b" --json |
					jq '.paths[0].hops | length - 2')"
		done
	done | sort >want
	same "hops" want <(triples csv | awk -v hosts="${hosts[*]}" 'BEGIN {
		split(hosts, h, " "); for (i in h) of[h[i]] }
		$1 != $2 && $1 in of && $2 in of' | sort)
	same "CSV and JSON" <(triples csv) <(jq -r '. as $d | range(.hosts | length) as $a |
		range(.hosts | length) as $b | "\(.hosts[$a].name) \(.hosts[$b].name) \(.matrix[$a][$b])"' json)
	[[ $(jq '.hosts | length' json) == 38 ]]
	triples csv | awk -v mean="$(jq .hops_mean json)" -v max="$(jq .hops_max json)" '
		$1 != $2 { n++; sum += $3; most = $3 > most ? $3 : most }
		END { exit most != max || sum / n > mean + 1e-6 || sum / n < mean - 1e-6 }'
	# Dumps of somebody whose coordinates nobody knows will do.
	mkdir bare
	cp f/opensm-lfts.dump f/opensm-subnet.lst bare
	dateline hops bare --csv >csv2
	same "without coordinates" <(triples csv | sort) <(triples csv2 | sort)
	# Packets that do not arrive: no number, and a finding.
	sed '/^Unicast lids .*S_0_0_0/,/valid lids/ s/^\(0x[0-9a-f]*\) [0-9]* /\1 030 /' \
		f/opensm-lfts.dump >bare/opensm-lfts.dump
	run -1 dateline hops bare --csv
	[[ $(triples - <<<"$output" | awk '$3 == ""' | wc -l) -gt 30 ]]
}

@test "the hops of a netlist are the distances in the torus" {
	dateline gen 5 4 3 --mesh y -q -o f
	dateline hops f.net --torus-config f.torus.conf --csv >csv
	triples csv | tr _ ' ' | awk '
		function ring(a, b, n,  d) { d = a > b ? a - b : b - a; return d < n - d ? d : n - d }
		$11 != ring($2, $7, 5) + ($3 > $8 ? $3 - $8 : $8 - $3) + ring($4, $9, 3) { bad++ }
		END { exit bad || NR != 3600 }'
}

@test "lists of hosts, as Slurm reads them" {
	local scontrol list lib count=0

	scontrol=$(service scontrol)
	lib=$(printf '%s\n' "$DL_BUILD"/services/usr/lib/*/slurm-wlm /usr/lib/*/slurm-wlm |
		grep -vF '*' | head -n 1)
	cat >slurm.conf <<-EOT
		ClusterName=test
		SlurmctldHost=localhost
		PluginDir=$lib
	EOT
	export SLURM_CONF=$T/slurm.conf
	dateline gen 4 3 2 -q -o f
	sed -E 's/# "H_([0-9])_([0-9])_([0-9])_1"/# "n0\1-\2x\3 HCA-1"/' f.net >n.net
	while read -r list; do
		LD_LIBRARY_PATH=$lib "$scontrol" show hostnames "$list" >want
		same "$list" want <(dateline hops n.net --hosts "$list" --json | jq -r '.hosts[].name')
		# The same from a file, and to the busiest cables of a job.
		printf '# free\n\n %s \r\n' "$list" >list
		same "$list" want <(dateline hops n.net --hosts list --json | jq -r '.hosts[].name')
		same "$list" want <(dateline hops n.net --hosts - --json <list | jq -r '.hosts[].name')
		((count += 1))
	done <<-'END'
		n00-[0-2]x[0-1]
		n[00,02-03]-2x[1],n01-0x0
		n0[3,1-2,0]-1x[0,1]
		n00-0x0,n03-2x1
	END
	((count == 4))
	# A name may go on after the brackets, as in a shell.
	same "a suffix" <(printf '%s\n' n0{0,1,2,3}-{0,2}x1) <(dateline hops n.net \
		--hosts 'n[00-03]-[0,2]x1' --json | jq -r '.hosts[].name')
	# Other names of end ports; twice is once.
	[[ $(dateline hops n.net --torus-config f.torus.conf --hosts 3,2,1 --json |
		jq -r '.hosts[0].switch') == S_3_2_1 ]]
	[[ $(dateline hops n.net --hosts n00-0x0,n00-0x0,0xd2000000000101 --json |
		jq '.hosts | length') == 1 ]]
	for list in 'n[0' 'n[00-04]-0x0' 'n[3-1]' 'n[]' 'n[a]' 'n[1;2]' nobody; do
		run -2 dateline hops n.net --hosts "$list"
	done
	run -2 dateline hops n.net --hosts 'n[003-001]'
	[[ $output == *'"003-001]": expected a range'* ]]
	printf 'n00-0x0\nnobody\n' >list
	run -2 dateline hops n.net --hosts list
	[[ $output == *list:2:* ]]
	# What commands print: a choice of hosts, and the order along the torus.
	dateline hops n.net --compact 5 >list
	[[ $(dateline hops n.net --hosts list) == "$(grep -v chosen list)" ]]
	dateline coords n.net --csv 2>/dev/null >list
	[[ $(dateline hops n.net --hosts list --csv | awk -F, 'NR > 1 { print $1 }') == \
		$(awk -F, 'NR > 1 { print $6 }' list) ]]
	for table in 'host,x\nn00-0x0,7\n' 'x,host\n7,"n00-0x0"\n' 'host\nn00-0x0\n'; do
		printf '%b' "$table" >table
		[[ $(dateline hops n.net --hosts table | head -n 1) == n00-0x0 ]]
	done
	sed -i '3s/,.*//' list
	run -2 dateline hops n.net --hosts list
	[[ $output == *'list:3: expected a column of hosts'* ]]
	: >list
	run -2 dateline hops n.net --hosts list
	[[ $output == *'there are no hosts'* ]]
}

# value CSV NAME...: the sum and the largest of the hops among these.
value() {
	triples "$1" | awk -v names="${*:2}" 'BEGIN { split(names, n, " "); for (i in n) of[n[i]] }
		$1 in of && $2 in of { sum += $3; most = $3 > most ? $3 : most }
		END { print sum, most }'
}

@test "the most compact hosts: as many as wanted, of those listed, and near" {
	local chosen random best

	routed f 5 4 3 --hosts 2 --fail-switch 2,2,1 --scramble 5
	dateline hops f --csv >csv
	awk -F, 'NR > 1 && NR % 3 { print $1 }' csv >free
	dateline hops f --hosts free --compact 9 --json >json
	mapfile -t chosen < <(jq -r '.hosts[].name' json)
	[[ $(printf '%s\n' "${chosen[@]}" | sort -u | wc -l) == 9 ]]
	! printf '%s\n' "${chosen[@]}" | grep -vqxFf free || return
	[[ "$(jq -r '"\(.hops) \(.hops_max)"' json)" == "$(value csv "${chosen[@]}")" ]]
	[[ $(jq -r .compact.of json) == $(wc -l <free) ]]
	best=$(jq .hops json)
	for random in {1..20}; do
		value csv "$(shuf -n 9 --random-source=<(yes "$random") free | paste -s -d ' ')"
	done | awk -v best="$best" '$1 < best { exit 1 }'
	# All of them; one; too many.
	dateline hops f --hosts free --compact "$(wc -l <free)" >all
	[[ $(head -n 1 all | tr , '\n' | sort) == "$(sort free)" ]]
	dateline hops f --hosts free --compact 1 | grep -qx '# one host: there are no pairs'
	run -2 dateline hops f --hosts free --compact $(($(wc -l <free) + 1))
}
