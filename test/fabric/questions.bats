#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Questions of administrators, each answered by one command of README.md or
# dateline(1).  No fabric runs: the others of this directory ask a live one.

bats_require_minimum_version 1.5.0
load lib.bash

setup_file() {
	export Q=$BATS_FILE_TMPDIR

	fabric_init "$Q"
	routed today 6 5 1 --hosts 2
	dateline route today.net --torus-config today.torus.conf --fail S_3_3_0/1 \
		--earlier today --multicast all -o later -q
	dateline gen 6 5 1 --hosts 2 --fail-switch 3,2,0 -o hurt -q
	dateline route hurt.net --torus-config hurt.torus.conf --mode classic \
		--multicast all -o hurt -q
	cat >errors <<-'END'
		   GUID 0x00d1000000000000 port 3: [SymbolErrorCounter == 900]
		   GUID 0x00d1000302000000 port 1: [LinkDownedCounter == 1]
		   GUID 0x00d1000302000000 port 2: [PortXmitDiscards == 70000]
		   GUID 0x00d1000302000000 port 5: [PortRcvErrors == 7]
	END
	printf '17 H_[0-3]_0_0_1\n18 H_3_2_0_1,H_3_2_0_2\n19 H_2_2_0_1,H_4_2_0_1\n' >running
}

setup() {
	# shellcheck disable=SC2164 # bats stops at a failure
	cd "$Q"
}

# answers STATUS PATTERN COMMAND...: exits with it, and prints a line that matches.
answers() {
	local status=$1 pattern=$2

	shift 2
	run "-$status" "$@"
	grep -qE -e "$pattern" <<<"$output" || {
		say "no line matches $pattern:" "$output"
		return 1
	}
}

@test "can this fabric deadlock, and what is the cure?" {
	answers 0 '^credit loops: none$' dateline verify today
	answers 1 '^credit loops: yes; the shortest has 7 channels$' dateline verify hurt
	answers 1 'without the multicast groups there is no loop' dateline verify hurt --explain
}

@test "may NCCL send everything on SL 0?" {
	answers 1 '^use mode any-sl, or make applications use path SLs' \
		dateline verify today --sl 0
}

@test "what changed since yesterday?" {
	answers 1 '^- cable "S_3_3_0" port 1 to "S_4_3_0" port 2$' dateline diff today later
	# One line each, and some destinations: not a screen of them.
	((${#lines[@]} < 12))
}

@test "was that change safe, and would another mode need new connections?" {
	answers 0 'steps?, .*: safe; ' dateline transition today later
	dateline route today.net --torus-config today.torus.conf --mode any-sl -o any -q
	answers 0 '^in 3 steps, .*: safe; ' dateline transition today any
	answers 1 '^safe only if [0-9]+ pairs reconnect' dateline transition any today
}

@test "which switches and cables are missing, and which ports led there?" {
	answers 1 '^3,2,0 missing' dateline discover hurt.net --torus-config hurt.torus.conf
	answers 1 '"S_2_2_0".* port 1' dateline discover hurt.net --torus-config hurt.torus.conf
}

@test "why is this host slow to that one?" {
	answers 0 'in  SymbolErrorCounter 900$' \
		dateline path today H_0_2_0_1 H_0_0_0_1 --counters errors
}

@test "which cable do I replace first?" {
	answers 0 '^  link-down ' dateline path today --counters errors
	[[ $(grep -m1 -A1 'worst first' <<<"$output" | tail -n 1) == *'link-down'*S_3_2_0*'port 1 to'*S_4_2_0* ]]
	grep -q 'port 5 to "H_3_2_0_1" port 1, the cable of H_3_2_0_1$' <<<"$output"
	fails grep -q 'XmitDiscards' <(sed '/^congestion/,$d' <<<"$output")
}

@test "which running jobs do bad cables hurt?" {
	answers 0 'job 19, 2 paths' dateline path today --counters errors --jobs running
	grep -q 'job 18' <<<"$output"
	fails grep -q 'job 17' <<<"$output"
}

@test "which path SL must this host use?" {
	answers 0 'LID 73, SL 2$' dateline path today H_0_0_0_1 H_0_4_0_1
}

@test "may I unplug this cable, and who loses the network?" {
	answers 0 '^0 of 8010 pairs cut off' dateline whatif today --fail S_3_3_0/1
	answers 1 '^1 adapter cut off: H_3_3_0_1$' dateline whatif today --fail S_3_3_0/5
}

@test "what if a rack of two switches loses power?" {
	answers 0 '^4 adapters cut off: H_3_[23]_0_[12](, H_3_[23]_0_[12]){3}$' \
		dateline whatif today --fail S_3_2_0 --fail S_3_3_0
}

@test "which VL starves by this opensm.conf?" {
	printf 'qos_vlarb_high 0:64,1:64\nqos_vlarb_low 2:64,3:64\nqos_high_limit 255\n' >opensm.conf
	answers 1 'starve VL 1, 2, 3, 4, 5, 6, 7 on .* a high limit of 255 becomes 254' \
		dateline route today.net --torus-config today.torus.conf --opensm-conf opensm.conf -o st
}

@test "two nodes of one name: which is meant?" {
	sed '/^Switch.*"S_1_1_0"/s/# "S_1_1_0"/# "S_0_0_0"/
		/^Ca.*"H_1_1_0_1"/s/# "H_1_1_0_1"/# "H_0_0_0_1"/' today.net >twins.net
	dateline route twins.net --torus-config today.torus.conf -o twins -q
	answers 2 'H_0_0_0_1" names more than one node, such as 0x00d2000000000100 .*0x00d2000101000100' \
		dateline path twins H_0_0_0_1 H_2_2_0_1
	answers 2 'S_0_0_0.* names more than one node' dateline whatif twins --fail S_0_0_0/1
	answers 0 'arrives' dateline path twins 0x00d2000101000100 H_2_2_0_1
	echo 'switch S_0_0_0' >avoid
	answers 1 'avoid:1: .*several nodes have this name; use a GUID' \
		dateline route twins.net --torus-config today.torus.conf --avoid avoid -o x
}

@test "is it the same torus by other axes, or was it recabled?" {
	dateline gen 5 4 3 -o cabled -q
	dateline gen 5 4 3 --fail-link 0,0,0:+x -o broken -q
	dateline route cabled.net -o cabled -q
	dateline route broken.net -o broken -q
	answers 1 '^~ coordinates: what was \(x,y,z\) is now ' dateline diff cabled broken
	fails grep -q ' to LID ' <<<"$output"
}

@test "which OpenSM does this plugin fit?" {
	answers 0 '^dateline [0-9.]+ \(plugin for OpenSM [0-9.]+\)$' dateline --version
	[[ $output == *"$(sed -n 's/^#define OSM_VERSION "\(.*\)"/\1/p' \
		/usr/include/infiniband/opensm/osm_version.h)"* ]]
}

@test "which hosts hang on this switch, and where is it?" {
	answers 0 '^ *[0-9]+ +3,2,0 .*\(H_3_2_0_2\) at port 6 of "S_3_2_0"$' dateline coords today
}

@test "which hosts are best for the next job?" {
	answers 0 ' hops on average, ' dateline hops today --compact 4
	[[ $(tr ',' '\n' <<<"${lines[0]}" | grep -c H_) == 4 ]]
}

@test "who is in this multicast group, and does it arrive?" {
	answers 0 'H_3_2_0_1' dateline path today H_0_0_0_1 --multicast 0xC000
}

@test "did path SLs stay?" {
	answers 0 '^path SLs: 0 of [0-9]+ pairs changed$' dateline verify later --earlier today
	# Without an earlier snapshot no answer is made up.
	answers 0 '^path SLs: not compared' dateline verify later
	answers 0 '"sl_stable": null' dateline verify later --json
}

@test "does a directory of OpenSM's dumps suffice?" {
	mkdir -p dumps
	cp today/opensm-lfts.dump today/opensm-subnet.lst dumps
	answers 2 'missing: .*to get it: ' dateline verify dumps
	fails grep -q 'credit loops: none' <<<"$output"
}

@test "which hosts and names changed since yesterday?" {
	dateline route today.net --torus-config today.torus.conf --earlier today --fail H_5_4_0_2 \
		-o gone -q
	answers 1 '^- adapter 0x[0-9a-f]+ "H_5_4_0_2"$' dateline diff today gone
	sed 's/"H_1_1_0_1"/"X"/g; s/"H_4_2_0_1"/"H_1_1_0_1"/g; s/"X"/"H_4_2_0_1"/g' \
		today/dateline.net >swapped.net
	dateline route swapped.net --torus-config today.torus.conf --earlier today -o swapped -q
	answers 1 '^~ adapter 0x[0-9a-f]+: "H_4_2_0_1" is now "H_1_1_0_1"$' dateline diff today swapped
}

@test "is a cable slower than the others?" {
	sed '/^switchguid=0xd1000101000000(/,/^$/s/^\(\[1\].*\)4xEDR/\14xQDR/
		/^switchguid=0xd1000201000000(/,/^$/s/^\(\[2\].*\)4xEDR/\14xQDR/' today/dateline.net >slow.net
	answers 0 '^slow .*"S_1_1_0" port 1 to .*"S_2_1_0" port 2: 4xQDR, 32.0 Gbit/s; others 100.0$' \
		dateline discover slow.net --torus-config today.torus.conf
}

@test "does anything use this cable any more?" {
	echo 'cable S_3_3_0/1' >drain
	dateline route today --torus-config today.torus.conf --earlier today --avoid drain -o drained -q
	answers 0 'port 1 to .*: 0 paths, and 0 back; forwarding entries: 0, groups: 0$' \
		dateline path drained --through S_3_3_0/1
}

@test "would NCCL on SL 0 stop the fabric, and is that the tables' fault?" {
	printf '%s\n' 'duration_ns: 100000' 'buffer_blocks: 66' 'traffic:' \
		'  - {pattern: shift, by: 4, load: 1, sl: 0}' \
		'  - {pattern: shift, by: 6, load: 1, sl: 0}' >nccl.yaml
	answers 1 '^packets of this loop carry SLs that the scenario sets' \
		dateline emulate today --scenario nccl.yaml
}

@test "what do requests at QoS level 1 lose with this cable?" {
	printf '%s\n' 'duration_ns: 50000' 'traffic:' '  - {pattern: uniform, load: 0.2}' \
		'  - {pattern: uniform, load: 0.1, level: 1, bytes: 256}' >two.yaml
	answers 0 '^QoS level 1, Gbit/s +[0-9.]+ +[0-9.]+$' \
		dateline whatif today --fail S_3_3_0/1 --scenario two.yaml
}

@test "may this partition's groups use SL 3?" {
	printf 'Default=0x7fff,ipoib:ALL=full;\nx=0x1,ipoib,sl=3:ALL;\n' >partitions
	answers 1 'partitions:2: .*SL 3.*let them use sl=0 or sl=8' \
		dateline route today.net --partitions partitions -o x
}

@test "which jobs does a cable hurt whose hosts have two adapters?" {
	sed -E 's/# "H_(._._.)_([12])"/# "n\1 mlx5_\2"/' today.net >rails.net
	dateline route rails.net --torus-config today.torus.conf -o rails -q
	echo '7 n[0-1]_0_0' >rail-jobs
	answers 0 '^  job 7, [0-9]+ paths$' dateline path rails --through S_0_0_0/1 --jobs rail-jobs
}

@test "no errors at all: is that said?" {
	printf '%s\n' '' '## Summary: 90 nodes checked, 0 bad nodes found' >clean
	answers 0 '^no cable has errors$' dateline path today --counters clean
	answers 0 '^  link-down .*S_3_2_0' dateline path today --counters errors --earlier clean
}

@test "which two switches must not fail together?" {
	answers 0 '^  1\. "S_' dateline whatif today --switches 2 --samples 10 --worst 1
}
