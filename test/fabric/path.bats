#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# `dateline path` beside ibtracert and the subnet administrator, and beside a
# count over all pairs; `dateline diff` on snapshots and on a running fabric.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

bats_require_minimum_version 1.5.0
load lib.bash

# ours SNAPSHOT A B: the switches that a packet enters, as "GUID port".
ours() {
	dateline path "$@" --json | jq -r '.paths[0].hops[] |
		select(.in != null and .in != 0) | "\(.guid) \(.in)"'
}

# both_ways END END: the paths through a cable.
both_ways() {
	local end n sum=0

	for end; do
		n=$(dateline path now --through "$end" --json | jq .through.flows)
		sum=$((sum + n))
	done
	echo "$sum"
}

# counted GUID PORT COUNTER VALUE...: as ibqueryerrors prints it.
counted() {
	local guid=$1 port=$2

	shift 2
	printf '   GUID %s port %u:' "$guid" "$port"
	printf ' [%s == %u]' "$@"
	echo
}

# traced A B: the same by ibtracert.
traced() {
	sim ibtracert "$1" "$2" | sed -nE \
		's/^\[[0-9]+\] -> switch port \{(0x[0-9a-f]+)\}\[([0-9]+)\].*/\1 \2/p'
}

@test "a running fabric: the hops of ibtracert, the SLs of the subnet administrator" {
	local lids a b compared=0

	dateline gen 4 5 1 --scramble 7 --fail-link 1,1,0:+x -o f -q
	fabric_up "$T/sm" dateline f.net torus_config="$T/f.torus.conf"
	snapshot "$T/now"
	mapfile -t lids < <(dateline coords now --json | jq '.adapters[].lid')
	for a in "${lids[@]:0:4}"; do
		for b in "${lids[@]: -4}"; do
			same "path $a to $b" <(traced "$a" "$b") <(ours now "$a" "$b")
			[[ $(dateline path now "$a" "$b" --json | jq '.paths[0].sl') == \
				$(sim saquery PR --src-to-dst "$a:$b" |
					sed -nE 's/.*\<sl\.*0x([0-9a-f]+)$/\1/p') ]]
			compared=$((compared + 1))
		done
	done
	((compared == 16))
	sim dateline path --live "$a" "$b" >live
	same "the running fabric" <(dateline path now "$a" "$b") live
	sim dateline diff now --live
	sim_console 'Unlink "S_2_2_0"[1]'
	sm_sweep
	run -1 sim dateline diff now --live --json
	[[ $(jq '.cables | [(.removed | length), (.added | length)]' <<<"$output" | tr -d ' \n') == '[1,0]' ]]
}

@test "paths through a cable, and a job's cables, are those of all its pairs" {
	local ends a b most

	routed f 3 4 1 --scramble 3
	mapfile -t ends < <(dateline coords f --json | jq '.adapters[].lid')
	printf '%s\n' '# a job' '' "${ends[@]}" >job
	for a in "${ends[@]}"; do
		for b in "${ends[@]}"; do
			[[ $a == "$b" ]] ||
				dateline path f "$a" "$b" --json
		done
	done | jq -r '.paths[0] | "\(.from.lid) \(.lid)" as $pair | .hops[1:-1][] |
		"\(.guid)/\(.out) " + $pair' >all
	most=$(cut -d ' ' -f 1 all | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }')
	dateline path f --job job --top 1000 --json >job.json
	[[ $(jq .job.busiest_flows job.json) == "$most" ]]
	[[ $(jq '[.job.pairs, .job.undelivered, .delivered] | tostring' -r job.json) == '[132,0,true]' ]]
	same "cables" <(cut -d ' ' -f 1 all | sort | uniq -c | awk '{ print $2, $1 }') \
		<(jq -r '.job.cables[] | "\(.from.guid)/\(.from.port) \(.flows)"' job.json | sort)
	while read -r cable; do
		same "$cable" <(awk -v c="$cable" '$1 == c { print $2, $3 }' all | sort) \
			<(dateline path f --through "$cable" --job job --top 1000 --json |
				jq -r '.through.paths[] | "\(.from.lid) \(.lid)"' | sort)
	done < <(cut -d ' ' -f 1 all | sort -u)
}

@test "end ports by LID, GUID, coordinates, name and host" {
	local names name lid

	dateline gen 3 3 1 --hosts 2 -o f -q
	sed -i 's/# "H_1_1_0_1"/# "node7 HCA-1"/; s/# "H_1_1_0_2"/# "node8 HCA-1"/
		s/# "H_2_1_0_[12]"/# "twin HCA-1"/' f.net
	dateline route f.net --torus-config f.torus.conf -o f -q
	lid=$(dateline coords f --json | jq '.adapters[] | select(.host == "node7").lid')
	names=("$lid" "$(printf 0x%x "$lid")" "node7 HCA-1" node7 node7/1 "node7 HCA-1/1")
	names+=("$(dateline coords f --json | jq -r ".adapters[] | select(.lid == $lid) | .node_guid, .port_guid")")
	for name in "${names[@]:0:6}" $'\n' ${names[6]}; do
		[[ $name == $'\n' ]] || [[ $(dateline path f 2,2,0 "$name" --json |
			jq '[.paths[0].from.coord, .paths[0].lid] | tostring') == "\"[[2,2,0],$lid]\"" ]]
	done
	printf '# names\n%s "left spine"\n\n0x77 "elsewhere"\n' \
		"$(dateline path f 0,0,0 "$lid" --json | jq -r '.paths[0].from.guid')" >names
	dateline path f "left spine" "$lid" --node-name-map names
	dateline discover f.net --node-name-map names | grep -F '"left spine"'
	echo '0x12 none' >>names
	run -2 dateline path f "left spine" "$lid" --node-name-map names
	[[ $output == *names:5:* ]]
	for name in nobody 9999 5,5,0 node7/2 twin "twin HCA-1" 0x1234567890 2,2,0/1; do
		run -2 dateline path f node7 "$name"
		[[ $output == *"$name"* ]]
	done
	printf 'node7\nnobody\n' >job
	run -2 dateline path f --job job
	[[ $output == *job:2:* ]]
	printf 'node7\n' >job
	run -2 dateline path f --job job
	[[ $output == *"no pairs"* ]]
}

@test "questions of a night: the wrong SL, a host's cable, a name without a port" {
	dateline gen 6 5 1 -o f -q
	dateline route f.net --torus-config f.torus.conf -o now -q
	# Which SL should this host use, and what does another do?
	dateline path now H_5_0_0_1 H_0_4_0_1 --sl 0 --json >wrong
	dateline path now H_5_0_0_1 H_0_4_0_1 --json >right
	jq -e '.paths[0] | .sl == 0 and .path_sl == 3' wrong
	jq -e '.paths[0] | .sl == 3 and .path_sl == 3' right
	dateline path now H_5_0_0_1 H_0_4_0_1 --sl 0 | grep -E "SL 0; the path's is 3$"
	run -0 dateline path now H_5_0_0_1 H_0_4_0_1
	[[ $output == *', SL 3'* && $output != *"the path's"* ]]
	# Who uses it?
	for name in S_3_3_0/5 H_3_3_0_1/1; do
		run -2 dateline path now --through "$name"
		[[ $output == *"$name is the cable of \"H_3_3_0_1\""* ]]
	done
	printf '7 H_3_3_0_1 H_0_0_0_1\n8 H_0_0_0_1 H_1_0_0_1\n' >listed
	dateline path now --through S_3_3_0/5 --jobs listed --json |
		jq -e '[.jobs.cables[0].jobs[].job] == ["7"]'
	for name in S_3_3_0 3,3,0 H_3_3_0_1; do
		run -2 dateline path now --through "$name"
		[[ $output == *"which port of it? expected $name/PORT"* ]]
	done
}

@test "packets that do not arrive, unicast and multicast" {
	local lid mlid=0xC000

	routed f 3 3 1
	dateline path f 1 5
	lid=$(dateline path f 2,2,0 H_0_0_0_1 --json | jq '.paths[0].lid')
	[[ $(dateline path f H_2_2_0_1 --multicast $mlid --json |
		jq '.multicast.members | length') == 8 ]]
	dateline path f H_2_2_0_1 H_0_0_0_1 --multicast $mlid
	run -1 dateline path f H_2_2_0_1 2,1,0 --multicast $mlid
	[[ $output == *"no copy arrives"* ]]
	run -1 dateline path f H_2_2_0_1 --multicast 0xC001
	rm -f f/dateline-manifest*
	awk -v lid="$(printf '0x%04x' "$lid")" '
		tolower($1) == lid { $2 = "255" } { print }' f/opensm-lfts.dump >lfts
	awk -v lid="$(printf '0x%04X' "$lid")" '
		$1 == lid { print $1 " : 255 : no" ; next } { print }' f/opensm.fdbs >fdbs
	cp fdbs f/opensm.fdbs
	rm f/opensm-lfts.dump
	run -1 --separate-stderr dateline path f 2,2,0 H_0_0_0_1 --json
	[[ $(jq -r '.paths[0].reason' <<<"$output") == "no forwarding entry" ]]
}

@test "what two snapshots differ in" {
	routed whole 4 4 1
	routed hurt 4 4 1 --fail-link 1,1,0:+x
	run -0 dateline diff whole whole
	[[ $output == "no difference" ]]
	run -1 dateline diff whole hurt --json
	jq -e '.same == false and .format == 1 and (.cables.removed | length) == 1
		and .switches.removed == [] and .coordinates.changed == []
		and .path_sls.compared == 992 and .path_sls.changed == 0
		and .forwarding.compared == 512
		and .forwarding.changed == ([.forwarding.destinations[].changed] | add)
		and .forwarding.changed == ([.forwarding.switches[].changed] | add)' <<<"$output"
	same "changed entries" <(lfts whole) <(lfts hurt) >/dev/null 2>&1 && return 1
	[[ $(jq .forwarding.changed <<<"$output") == \
		$(diff <(lfts whole) <(lfts hurt) | grep -c '^<') ]]
	run -2 dateline diff whole
	[[ $output == *"which"* ]]
	run -2 dateline diff whole nothing
}

@test "diff: LIDs that have moved are one line, and no change of tables" {
	routed whole 4 4 1
	awk '{
		while (match($0, /lid [1-9][0-9]*/)) {
			printf "%slid %d", substr($0, 1, RSTART - 1), \
				substr($0, RSTART + 4, RLENGTH - 4) + 100
			$0 = substr($0, RSTART + RLENGTH)
		}
		print
	}' whole/dateline.net >moved.net
	dateline route moved.net --torus-config whole.torus.conf --multicast all -o moved -q
	run -1 --separate-stderr dateline diff whole moved
	same "what moved" - <(echo "$output") <<-'END'
		~ 32 end ports have other LIDs, which counts as no difference of tables, such as
		~   LID of 0x00d2000000000100 "H_0_0_0_1" port 1: 1 (LMC 0), now 101 (LMC 0)
	END
	# Each is in the document.
	run -1 --separate-stderr dateline diff whole moved --json
	jq -e '(.lids.changed | length) == 32 and all(.lids.changed[]; .new == .old + 100)
		and .forwarding.changed == 0 and .forwarding.compared > 0' <<<"$output"
}

@test "diff: axes that are called otherwise are one line" {
	dateline gen 6 5 3 -o whole -q
	dateline gen 6 5 3 --fail-link 0,0,0:+x -o hurt -q
	# Found from the cabling, which decides which axis is x, and in which direction.
	dateline route whole.net -o whole -q
	dateline route hurt.net -o hurt -q
	run -1 --separate-stderr dateline diff whole hurt
	[[ $(grep -c '^~ coordinates: what was (x,y,z) is now (.*), at all switches$' <<<"$output") == 1 ]]
	run ! grep '^~ switch' <<<"$output"
	run -1 --separate-stderr dateline diff whole hurt --json
	# They explain each new coordinate.
	jq -r '.coordinates | .axes as $axes | .changed[] | [$axes, .old, .new] | flatten | join(" ")' \
		<<<"$output" >changed
	[[ -s changed ]]
	awk -v radices="$(dateline discover hurt --json | jq -r '.dims | map(tostring) | join(" ")' || true)" '{
		split(radices, radix, " ")
		for (d = 1; d <= 3; d++) {
			from = index("xyz", substr($d, $d ~ /^-/ ? 2 : 1, 1))
			at = $(3 + from) * ($d ~ /^-/ ? -1 : 1)
			if ($d ~ /[+]/)
				at += substr($d, index($d, "+") + 1)
			if ((at % radix[d] + radix[d]) % radix[d] != $(6 + d))
				exit 1
		}
	}' changed
}

@test "counters of a running fabric, and as infiniband-diags print them" {
	local how lid

	dateline gen 3 3 1 -o f -q
	fabric_up "$T/sm" dateline f.net torus_config="$T/f.torus.conf"
	snapshot "$T/now"
	echo '0xd1000001000000 "leaf"' >names
	sim dateline snapshot --live --paths none --node-name-map names -q -o named
	grep -q '"leaf"' named/dateline.net
	sim ibqueryerrors --data >clean
	grep '0 bad nodes' clean
	dateline path now --counters clean | grep -x 'no cable has errors'
	sim_console 'PerformanceSet "S_1_0_0"[1] PortCounters.SymbolErrorCounter=5'
	sim_console 'PerformanceSet "S_2_0_0"[3] PortCounters.LinkDownedCounter=2'
	sim_console 'PerformanceSet "S_1_0_0"[1] PortCounters.PortXmitWait=3000'
	sim_console 'PerformanceSet "S_0_1_0"[2] PortCounters.PortXmitWait=1000'
	sim_console 'PerformanceSet "S_0_1_0"[2] PortCountersExtended.PortXmitData=77000000000'
	sim_console 'PerformanceSet "H_2_2_0_1"[1] PortCounters.PortRcvErrors=9'
	sim ibqueryerrors --data >errors || true
	for lid in $(dateline path now S_1_0_0 S_2_0_0 --json | jq '.paths[0] | .from.lid, .to.lid') \
		"$(dateline path now S_1_0_0 S_0_1_0 --json | jq '.paths[0].to.lid')"; do
		sim perfquery "$lid" 1 && sim perfquery "$lid" 2 && sim perfquery "$lid" 3 &&
			sim perfquery -x "$lid" 2
	done >queried
	sim perfquery "$(dateline path now S_1_0_0 H_2_2_0_1 --json | jq '.paths[0].to.lid')" 1 >>queried
	sim dateline report --live --counters live -q -o page.html
	sed -n 's|.* id="data">\(.*\)</script>$|\1|p' page.html >page.json
	[[ $(jq -c '[.counters.errors[] | .from.name, .from.port]' page.json) == \
		'["S_2_0_0",3,"H_2_2_0_1",1,"S_1_0_0",1]' ]]
	[[ $(jq '.counters.ways.wait | add' page.json) == 4000 ]]
	# What was sent meanwhile does not matter.
	for how in live errors queried; do
		sim dateline path now --counters "$how" --json >"$how.json"
		same "$how" - <(jq -r '.fabric | (.errors[] | "\(.kind) \(.from.name) \(.from.port) \(
			.counters.out.SymbolErrorCounter) \(.counters.out.LinkDownedCounter) \(.flows)"),
			(.waiting[] | "\(.from.name) \(.from.port) \(.share) \(.predicted_share)")' "$how.json") <<-END
				link-down S_2_0_0 3 null 2 $(both_ways S_2_0_0/3 S_2_1_0/4)
				errors H_2_2_0_1 1 null null null
				errors S_1_0_0 1 5 null $(both_ways S_1_0_0/1 S_2_0_0/2)
				S_1_0_0 1 0.75 null
				S_0_1_0 2 0.25 null
			END
	done
	jq -e '[.fabric.waiting[] | select(.from.port == 2)][0].counters.out.PortXmitData >= 77000000000' live.json
	jq -e '.fabric.ports == 54' live.json
	dateline path now S_1_0_0 S_2_0_0 --counters errors | grep -F 'SymbolErrorCounter 5'

	jq -n '{ports: [{guid: "0x00d1000001000000", port: 2, xmit_wait_ns: 30},
		{guid: "0x00d1000100000000", port: 1, xmit_wait_ns: 10}]}' >emulated.json
	[[ $(dateline path now --counters errors --predicted emulated.json --json |
		jq -c '[.fabric.waiting[].predicted_share]') == '[0.25,0.75]' ]]
	run -2 dateline path now --counters f.net
	[[ $output == *"no counters"* ]]
	run -2 dateline path now --counters errors --predicted errors
	sed 's/SymbolErrorCounter == 5/SymbolErrorCounter == x/' errors >damaged
	run -2 dateline path now --counters damaged
	[[ $output == *damaged:*"a counter"* ]]
}

@test "an error that the receiving end counted shows on every path through the cable" {
	local lid through=0 a b

	routed now 3 4 1 --hosts 2
	# S_1_0_0 receives from S_0_0_0 by port 2.
	counted 0xd1000100000000 2 SymbolErrorCounter 1 >counters
	dateline path now --through S_0_0_0/1 --top 1000 --json >through
	while read -r a b lid; do
		through=$((through + 1))
		dateline path now "$a" "$lid" --counters counters --json |
			jq -e '[.paths[0].hops[] | select(.name == "S_0_0_0" and .out == 1)
				| .counters.in == {SymbolErrorCounter: 1} and .counters.out == null]
				== [true]' || echo "not on the way from $a to $b" >>lost
	done < <(jq -r '.through.paths[] | "\(.from.lid) \(.to.lid) \(.lid)"' through)
	((through == $(jq .through.flows through)))
	[[ ! -e lost ]]
	dateline path now H_0_0_0_1 H_1_0_0_1 --counters counters | grep -A 2 S_0_0_0 |
		grep -E '^ +in +SymbolErrorCounter 1$'
	# Both ends of the cables to the hosts are there, too.
	counted 0xd2000100000100 1 PortRcvErrors 3 >>counters
	dateline path now H_0_0_0_1 H_1_0_0_1 --counters counters --json |
		jq -e '.paths[0].hops[-1].counters.in == {PortRcvErrors: 3}'
	dateline path now H_1_0_0_1 H_0_0_0_1 --counters counters --json |
		jq -e '.paths[0].hops[0].counters == {out: {PortRcvErrors: 3}, in: null}'
}

@test "cables to replace: one line each, by kind; congestion and others apart" {
	routed now 3 4 1 --hosts 2
	{
		counted 0xd1000100000000 2 SymbolErrorCounter 60000 PortXmitDiscards 1000000
		counted 0xd1000000000000 1 SymbolErrorCounter 7
		counted 0xd1000200000000 3 LinkErrorRecoveryCounter 4 PortRcvSwitchRelayErrors 9
		counted 0xd1000001000000 1 LinkDownedCounter 1
		counted 0xd1000001000000 3 VL15Dropped 90000 PortXmitWait 5
		counted 0xd1000101000000 5 PortRcvErrors 5
	} >counters
	dateline path now --counters counters --json >found
	jq -r '.fabric | (.errors[] | "\(.kind) \(.from.name)/\(.from.port) \(.to.name)/\(.to.port) \(.host)"),
		(.waiting[] | "waits \(.from.name)/\(.from.port)"),
		(.other[] | "other \(.from.name)/\(.from.port)")' found >list
	same "the lists" - list <<-END
		link-down S_0_1_0/1 S_1_1_0/2 null
		recovery S_2_0_0/3 S_2_1_0/4 null
		errors S_1_0_0/2 S_0_0_0/1 null
		errors S_1_1_0/5 H_1_1_0_1/1 H_1_1_0_1
		waits S_1_0_0/2
		waits S_0_1_0/3
		other S_0_1_0/3
		other S_2_0_0/3
	END
	jq -e '.fabric.errors[2].flows == '"$(both_ways S_1_0_0/2 S_0_0_0/1)"' and
		.fabric.errors[2].counters.in == {SymbolErrorCounter: 7} and
		.fabric.errors[3].flows == null' found
	dateline path now --counters counters >text
	grep -F 'the cable of H_1_1_0_1' text
	run ! grep -F ' 0 paths' text

	# Since an earlier reading: a link that went down long ago is no news.
	sed 's/60000/59000/' counters >earlier
	touch -d "@$(($(stat -c %Y counters) - 7200))" earlier
	dateline path now --counters counters --earlier earlier --json |
		jq -e '.fabric.errors | length == 1 and .[0].counters.out == {SymbolErrorCounter: 1000}
			and .[0].per_hour == 500'
	run -2 dateline path now --earlier earlier --through S_1_0_0/2
	# Options that would have no effect.
	for option in '--ring-share 34' '--max-errors 1' '--max-recoveries 10' '--max-downs 2'; do
		# shellcheck disable=SC2086
		run -2 dateline path now --counters now --earlier earlier $option
		[[ $output == *"${option% *} goes with --propose-avoid"* ]]
	done
	for option in '0,0,0 1,1,0' '--jobs squeue --through S_1_0_0/2'; do
		# shellcheck disable=SC2086
		run -2 dateline path now $option --top 20
		[[ $output == *"--top goes with"* ]]
	done

	# A counter that has stopped does not hide its cable.
	counted 0xd1000100000000 2 SymbolErrorCounter 65535 PortXmitWait 4294967295 >stopped
	cp stopped earlier
	dateline path now --counters stopped --earlier earlier --json >found 2>/dev/null
	jq -e '[.fabric.errors, .fabric.waiting | length] == [1, 1] and (.warnings[0] |
		contains("2 counters have stopped at the maximum, such as PortXmitWait of \"S_1_0_0\" port 2"))' found

	# What the snapshot does not know is not passed over in silence.
	counted 0xd1000909000000 2 SymbolErrorCounter 60000 >>counters
	dateline path now --counters counters --json 2>/dev/null |
		jq -e '.warnings == ["counters: counters of 1 port that is not in this fabric are left out"]'
}

@test "a job's bad cables, and the jobs that a bad cable hurts" {
	routed now 3 4 1 --hosts 2
	counted 0xd1000100000000 2 SymbolErrorCounter 3 >counters
	counted 0xd1000101000000 5 PortRcvErrors 5 >>counters
	dateline path now --job 'H_[0-1]_0_0_[1-2]' --counters counters --json >job
	jq -e '[.job.errors[] | .from.name, .flows] == ["S_1_0_0", 8]' job
	jq -e '[.job.cables[] | select(.from.name == "S_0_0_0")][0].counters.in.SymbolErrorCounter == 3' job
	[[ $(dateline path now --job 'H_[0-2]_2_0_1' --counters counters --json | jq -c .job.errors) == '[]' ]]
	cat >squeue <<-END
		JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)
		  123     batch   my job    alice  R       0:10      4 H_[0-1]_0_0_[1-2]
		  124     batch     wait    alice PD       0:00      4 (Resources)
		  126     batch     wait    alice PD       0:00      4 (Nodes required for job are DOWN, DRAINED)
		  125     batch     next      bob  R       0:10      2 H_1_1_0_1,H_2_1_0_1
	END
	dateline path now --counters counters --jobs squeue --json |
		jq -c '.jobs.cables[] | [.from.name, (.jobs[] | .job, .flows)]' >hurt
	same "jobs" hurt - <<-END
		["S_1_1_0","125",2]
		["S_1_0_0","123",8]
	END
	printf '%s\n' '7 H_0_0_0_1 H_1_0_0_1' '8 H_2_2_0_1,H_2_2_0_2' |
		dateline path now --through S_0_0_0/1 --jobs - >named
	same "in lines" named - <<-END
		2 running jobs
		(0,0,0) "S_0_0_0" port 1 to (1,0,0) "S_1_0_0" port 2:
		  job 7, 2 paths
	END
	# A host of two adapters is one host.
	sed -E 's/# "H_(._._.)_([12])"/# "n\1 mlx5_\2"/' now.net >rails.net
	dateline route rails.net --torus-config now.torus.conf -q -o rails
	dateline path rails --job 'n0_[0-1]_0' --json | jq -e '.job.end_ports == 4'
	echo '9 n0_0_0,n1_0_0' | dateline path rails --through S_0_0_0/1 --jobs - |
		grep -x '  job 9, 8 paths'
	printf '%s\n' '9 H_0_0_0_1 login1' >unknown
	run -1 dateline path now --through S_0_0_0/1 --jobs unknown
	[[ $output == *"unknown:1: job 9 is left out"* ]]
	run -2 dateline path now --jobs squeue
	printf 'JOBID|NODELIST\n7|H_[0-1]_0_0_1\n' >bars
	run -2 dateline path now --counters counters --jobs bars
	[[ $output == *bars:1:*"expected a job and its hosts"* ]]
}
