#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# `dateline emulate`: on snapshots, and on tables that a subnet manager has
# just programmed; its deadlocks beside verify's loops; scenarios good and
# bad; results in ibsim's counters.

bats_require_minimum_version 1.5.0
load lib.bash

EXAMPLES=$DL_TOP/conf/examples

# routed DIMS... [-- OPTION...]: generate $T/f and route it into $T/routed.
routed() {
	local dims=()

	while (($#)) && [[ $1 != -- ]]; do
		dims+=("$1")
		shift
	done
	shift || true
	rm -rf "$T/routed"
	dateline gen "${dims[@]}" -o "$T/f" 2>/dev/null || return
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" \
		--multicast all -o "$T/routed" "$@" 2>"$T/route.err"
}

# scenario: from standard input, into a file; prints its name.
scenario() {
	cat >"$T/scenario.yaml"
	echo "$T/scenario.yaml"
}

# emulated DIR SCENARIO [OPTION...]: the result in $T/result; 1 for a finding.
# Anything else is an error, and so is it when the books do not balance.
emulated() {
	local dir=$1 file=$2 status=0

	shift 2
	dateline emulate "$dir" --scenario "$file" --json "$@" \
		>"$T/result" 2>"$T/emulate.err" || status=$?
	if ((status > 1)); then
		cat "$T/emulate.err" >&2
		return 2
	fi
	holds '.injected_packets == .delivered_packets + .dropped_packets +
		.in_flight' || return 2
	return "$status"
}

# holds FILTER: jq finds it true of the result.
holds() {
	[[ -s $T/result ]] && jq -e "$1" "$T/result" >"$T/holds" && return
	say "does not hold: $1"
	jq 'del(.ports, .qos, .pairs, .samples)' "$T/result" >&2
	return 1
}

# steps FILE: a cycle as "x,y vl" steps, from its smallest step on.
steps() {
	jq -r '.cycle | map("\(.coord[0]),\(.coord[1]) vl\(.vl)") |
		(index(min)) as $i | .[$i:] + .[:$i] | join(" ")' "$1"
}

# same_loop DIR: verify finds the very loop in which the result is stuck.
same_loop() {
	dateline verify "$1" --json --torus-config "$T/f.torus.conf" \
		>"$T/verdict" 2>/dev/null || true
	jq -e .credit_loop "$T/verdict"
	[[ $(steps "$T/result") == "$(steps "$T/verdict")" ]] && return
	say "emulated: $(steps "$T/result")"
	say "verified: $(steps "$T/verdict")"
	return 1
}

@test "the examples, on a whole torus" {
	local example

	routed 6 5 1
	for example in all-to-all deadlock-6x5 hotspot qos-mix tornado trace \
		uniform; do
		say "$example"
		emulated "$T/routed" "$EXAMPLES/emulate-$example.yaml"
		holds '.delivered_packets > 0 and .in_flight == 0 and
			.dropped_packets == 0 and (.deadlock | not)'
	done

	# The faults cost packets, for one cable is down for good.
	run -1 emulated "$T/routed" "$EXAMPLES/emulate-faults.yaml"
	holds '.dropped_packets > 0 and .drops.dead_link > 0 and
		(.deadlock | not) and .delivered_packets > .dropped_packets'
	holds '([.ports[].xmit_discards] | add) == .drops.dead_link'
}

@test "what was offered is what arrives, below saturation" {
	routed 4 4 1
	emulated "$T/routed" "$(scenario <<-END
		duration_ns: 400000
		warmup_ns: 100000
		sample_ns: 50000
		pairs: true
		traffic: [{pattern: uniform, load: 0.2, bytes: 1024}]
	END
	)"
	holds '.throughput_fraction / .offered_fraction | . > 0.9 and . < 1.1'
	holds '.offered_fraction | . > 0.17 and . < 0.23'
	# Pairs, ports and levels tell the same story.
	holds '([.pairs[].packets] | add) == .delivered_packets'
	holds '.qos[0].delivered_packets == .delivered_packets'
	holds '([.qos[0].latency_histogram_ns[][1]] | add) ==
		.delivered_packets'
	holds '.qos[0] | .latency_ns_p50 <= .latency_ns_p99 and
		.latency_ns_p99 <= .latency_ns_p999 and
		.latency_ns_mean >= .network_ns_mean'
	holds '[.ports[] | .xmit_data_bytes == ([.vl[].bytes] | add // 0)] |
		all'
	holds '[.samples[].at_ns] | .[:8] ==
		[range(50000; 400001; 50000)]'
	# The last step is shorter, and all that was delivered is in one.
	holds '.samples[-1] | .at_ns % 50000 > 0 and .length_ns < 50000'
	holds '([.samples[].length_ns] | add) / .sim_seconds | . > 0.999999e9 and . < 1.000001e9'
	emulated "$T/routed" "$(scenario <<<"sample_ns: 5000")" --program allgather:10000
	holds '([.samples[].delivered_packets] | add) == .delivered_packets and
		(.samples | length) == 1 and .samples[0].throughput_gbps > 0'
}

@test "the same seed gives the same bytes, and another one others" {
	local file=$EXAMPLES/emulate-qos-mix.yaml

	routed 5 4 1
	for i in a b; do
		emulated "$T/routed" "$file"
		sed '/cpu_seconds/d' "$T/result" >"$T/$i"
	done
	cmp "$T/a" "$T/b"
	emulated "$T/routed" "$file" --seed 2
	fails cmp -s <(sed '/cpu_seconds/d' "$T/result") "$T/a"
}

@test "live: the built-in engine's loop of unicast and multicast" {
	local file=$EXAMPLES/emulate-deadlock-6x5.yaml

	dateline gen 6 5 1 --fail-switch 3,2,0 -o "$T/f"
	fabric_up "$T/sm" torus-2QoS "$T/f.net" torus_config="$T/f.torus.conf"
	# Without the group nobody waits for ever ...
	sed '/pattern: multicast/d' "$file" >"$T/scenario.yaml"
	sim dateline emulate --live --scenario "$T/scenario.yaml" --json \
		--torus-config "$T/f.torus.conf" >"$T/result"
	holds '(.deadlock | not) and .in_flight == 0'

	# ... and with it all do, where verify says.
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	sm_sweep
	run -1 --separate-stderr sim dateline emulate --live --scenario "$file" \
		--json --torus-config "$T/f.torus.conf"
	printf '%s\n' "$output" >"$T/result"
	holds '.deadlock and .in_flight > 0'
	snapshot "$T/snap"
	same_loop "$T/snap"
	[[ $(steps "$T/result") == "3,0 vl0 3,1 vl2 4,1 vl0 4,2 vl0 4,3 vl2 \
3,3 vl0 3,4 vl0" ]]

	# For people: verify's words.
	run -1 dateline emulate "$T/snap" --scenario "$file"
	grep -q 'deadlock: yes' <<<"$output"
	grep -q 'to multicast group 0xC000, SL 0' <<<"$output"
}

@test "the classic rules' loop, and what proven mode makes of it" {
	routed 6 5 1 --fail-switch 3,2,0 -- --mode classic
	run -1 emulated "$T/routed" "$EXAMPLES/emulate-deadlock-6x5.yaml" \
		--torus-config "$T/f.torus.conf"
	holds .deadlock
	same_loop "$T/routed"
	routed 6 5 1 --fail-switch 3,2,0
	emulated "$T/routed" "$EXAMPLES/emulate-deadlock-6x5.yaml"
	holds '.deadlock | not'
}

# full [LINE...]: both levels and every group, as fast as they go, in small
# buffers, and these lines.
full() {
	scenario <<-END
		duration_ns: 300000
		buffer_blocks: 66
		$(printf '%s\n' "$@")
		traffic:
		  - {pattern: uniform, load: 1}
		  - {pattern: uniform, load: 1, level: 1}
		  - {pattern: multicast, load: 0.05}
	END
}

@test "no VLs to change to: a whole torus deadlocks" {
	local scheme switching packets file

	routed 6 6 1
	emulated "$T/routed" "$(full)"
	run -1 emulated "$T/routed" "$(full 'force_vl: 0')"
	holds '.deadlock and ([.cycle[].vl] | unique == [0])'
	# Ports without the VL drop all: what is offered stays what it is.
	run -1 emulated "$T/routed" "$(full 'force_vl: 14')"
	holds '.throughput_fraction == 0 and .offered_fraction > 1.9 and .offered_fraction < 2.2'
	for scheme in pcie iba; do
		for switching in wormhole store_and_forward; do
			say "$scheme $switching"
			# Packets, or flits: about as many bytes.
			packets=2
			[[ $switching != wormhole ]] || packets=66
			file=$(full 'force_vl: 0' "flow_control: $scheme" \
				"buffer_packets: $packets" "switching: $switching")
			[[ $switching != wormhole ]] || sed -i '/multicast/d' "$file"
			run -1 emulated "$T/routed" "$file"
			holds .deadlock
		done
	done
}

@test "a VL that no arbitration table names starves" {
	routed 4 3 1
	# Between switches: level 0 only.
	sed -i 's/^\(0x00d1.* [1-4] limit 4 \).*/\1high 0:64,1:64 low 2:9,3:9/' \
		"$T/routed/dateline-vlarb.dump"
	rm "$T/routed/dateline-manifest.txt"
	run -1 emulated "$T/routed" "$(scenario <<-END
		duration_ns: 2000000
		drain_ns: 500000
		traffic:
		  - {pattern: uniform, load: 0.1}
		  - {pattern: uniform, load: 0.1, level: 1}
	END
	)"
	holds '(.deadlock | not) and .in_flight > 0'
	holds '.starved | length > 0 and all(.vl >= 4 and .unlisted)'
	run -1 dateline emulate "$T/routed" --scenario "$T/scenario.yaml"
	grep -q '^starving: "S_.* VL [45], .*in no arbitration table' \
		<<<"$output"
}

# damaged SEED: a torus and some failures, drawn from it, for the generator.
damaged() {
	awk -v seed="$1" '
	function below(n) { return int(n * rand()) }
	function site() { return below(k[1]) "," below(k[2]) "," below(k[3]) }
	BEGIN {
		srand(seed)
		n = split("5 4 1:6 5 1:3 3 3:4 3 2:4 4 1", dims, ":")
		size = dims[1 + below(n)]
		split(size, k, " ")
		printf "%s ", size
		for (i = below(4); i > 0; i--)
			printf "--fail-link %s:+%s ", site(),
				below(2) ? "x" : "y"
		for (i = 1 + below(2); i > 0; i--)
			printf "--fail-switch %s ", site()
	}'
}

# provoke DIR: the packets that verify names for its loop, as traffic.
provoke() {
	dateline verify "$1" --explain --pairs adapters 2>/dev/null | awk '
		BEGIN {
			print "duration_ns: 2000000\nbuffer_blocks: 66\ntraffic:"
		}
		/^The loop/ { exit }
		/^      "/ {
			split($0, part, "\"")
			to = /multicast group/ ? "multicast, load: 0.5" : \
				"incast, load: 1, targets: [" part[4] "]"
			print "  - {pattern: " to ", sources: [" part[2] "]," \
				" level: " ($NF >= 8 ? 1 : 0) "}"
		}' >"$T/provoke.yaml"
}

# DATELINE_SCENARIOS says how many, DATELINE_FIRST from which on.
@test "verify and emulate never contradict each other" {
	local i loops=0 stuck=0 proven=0 file first=${DATELINE_FIRST:-1}

	file=$(full)
	for ((i = first; i < first + ${DATELINE_SCENARIOS:-15}; i++)); do
		# Proven: never.  (What is cut off is not routed.)
		# shellcheck disable=SC2046
		if routed $(damaged "$i"); then
			proven=$((proven + 1))
			emulated "$T/routed" "$file" --seed "$i" || [[ $? == 1 ]]
			holds '(.deadlock | not) and .in_flight == 0'
		fi

		# The classic rules, where they accept: a deadlock only if
		# verify finds a loop; and what is stuck is a deadlock.
		# shellcheck disable=SC2046
		routed $(damaged "$i") -- --mode classic || continue
		emulated "$T/routed" "$file" --seed "$i" || [[ $? == 1 ]]
		holds '.deadlock == (.in_flight > 0)'
		if [[ $(verdict "$T/routed" credit_loop --pairs adapters) == \
			true ]]; then
			loops=$((loops + 1))
			provoke "$T/routed"
			emulated "$T/routed" "$T/provoke.yaml" || [[ $? == 1 ]]
			holds '.deadlock == (.in_flight > 0)'
			[[ $(jq .deadlock "$T/result") != true ]] ||
				stuck=$((stuck + 1))
		else
			holds '.deadlock | not'
		fi
	done
	say "$proven proven; $loops loops, of which $stuck were run into"
	((proven > 0))
}

# drawn SEED: a scenario for a 4x3 torus with two adapters a switch.
drawn() {
	awk -v seed="$1" '
	function below(n) { return int(n * rand()) }
	function one(words,  w) { return w[1 + below(split(words, w, " "))] }
	function maybe(text) { if (below(2)) print text }
	BEGIN {
		srand(seed)
		print "duration_ns: " 20000 + below(60000)
		maybe("warmup_ns: " below(20000))
		maybe("sample_ns: " 1000 + below(20000))
		how = one("cut_through store_and_forward wormhole")
		print "switching: " how
		print "flow_control: " one("iba pcie")
		print "mtu: " one("256 512 1024 2048 4096")
		print "buffer_blocks: " 66 + below(300)
		print "buffer_packets: " 70 + below(20)
		maybe("switch_ns: " below(500))
		maybe("ack_ns: " below(2000))
		maybe("cable_m: " below(100))
		maybe("speedup: " below(4))
		maybe("sl_table: even")
		print "sl_table_at: " one("adapters switches all")
		maybe("credit_blocks: " 1 + below(100))
		maybe("low_turn: weight")
		maybe("tenure_bytes: " below(20000))
		maybe("qp_change_ns: " below(300))
		maybe("pairs: true")
		print "traffic:"
		for (n = 1 + below(3); n > 0; n--) {
			p = one("uniform transpose complement tornado shift" \
				" neighbour random hotspot incast all_to_all" \
				" multicast")
			if (how == "wormhole")
				sub("multicast", "uniform", p)
			print "  - pattern: " p
			if (below(2))
				print "    window: " 1 + below(4)
			else
				print "    load: 0." 1 + below(9)
			if (p != "multicast" && below(4) == 0) {
				print "    management: true"
			} else {
				print "    level: " below(2)
				print "    bytes: [[" 1 + below(9000) ", 3], 64]"
			}
			if (p == "shift")
				print "    by: " 1 + below(30)
			if (p == "hotspot" || p == "incast")
				print "    targets: [" below(24) ", 3-5]"
			if (below(3) == 0)
				print "    arrival: periodic"
			if (below(3) == 0)
				print "    start_ns: " below(20000)
		}
		if (below(2))
			exit
		print "faults:"
		for (n = 1 + below(3); n > 0; n--)
			print "  - {at_ns: " below(40000) ", node: S_" \
				below(4) "_" below(3) "_0, port: " \
				1 + below(4) ", fault: " \
				one("lose_fcp corrupt_fcp link_down damage") \
				", for_ns: " \
				1 + below(20000) "}"
	}'
}

@test "drawn scenarios: the books balance, again and again" {
	local i

	routed 4 3 1 --hosts 2
	for ((i = 1; i <= ${DATELINE_DRAWN:-20}; i++)); do
		drawn "$i" >"$T/drawn.yaml"
		emulated "$T/routed" "$T/drawn.yaml" || [[ $? == 1 ]] ||
			{ cat "$T/drawn.yaml" >&2; return 1; }
		holds '.deadlock | not'
		# No cable that went down took it: all of it came through.
		grep -q '^faults' "$T/drawn.yaml" ||
			holds '.dropped_packets == (.drops.smp_full // 0) and .in_flight == 0'
		sed '/cpu_seconds/d' "$T/result" >"$T/first"
		emulated "$T/routed" "$T/drawn.yaml" || [[ $? == 1 ]]
		cmp <(sed '/cpu_seconds/d' "$T/result") "$T/first"
	done
}

@test "results in the simulator's counters, for the real clients" {
	local guid lid port bytes wait n=0

	dateline gen 4 3 1 -o "$T/f"
	fabric_up "$T/sm" torus-2QoS "$T/f.net" torus_config="$T/f.torus.conf"
	full >/dev/null
	sed -i '/multicast/d; s/^duration.*/duration_ns: 10000000/' \
		"$T/scenario.yaml"
	printf '%s\n' faults: \
		'  - {at_ns: 9000000, fault: link_down, node: S_1_1_0, port: 1}' \
		>>"$T/scenario.yaml"
	sim dateline emulate --live --scenario "$T/scenario.yaml" --json \
		--write-counters "$T/counters" >"$T/result" || [[ $? == 1 ]]
	sim_console "!$T/counters" >"$T/set"
	fails grep -q -e '^#' -e unknown "$T/set"
	while read -r guid lid port bytes wait; do
		sim perfquery -x "$lid" "$port" >"$T/perf"
		near "$((bytes / 4))" PortXmitData
		sim perfquery "$lid" "$port" >"$T/perf"
		grep -q "^PortXmitWait:\\.*$wait$" "$T/perf"
		sim ibqueryerrors --data >"$T/errors" || true
		guid=$(printf '0x%x' "$guid")
		grep -q "GUID $guid port $port:.*PortXmitWait == $wait" \
			"$T/errors"
		n=$((n + 1))
	done < <(some_ports)
	((n > 0))
	# The cable that failed at the end has two sides.
	jq -r '.ports[] | select(.xmit_discards > 0) |
		"\(.guid) \(.port) \(.xmit_discards)"' "$T/result" >"$T/lost"
	(($(wc -l <"$T/lost") == 2))
	while read -r guid port n; do
		grep -q "GUID $(printf '0x%x' "$guid") port $port:.*$(
			)PortXmitDiscards == $n\]" "$T/errors"
	done <"$T/lost"
}

# near NUMBER COUNTER: what perfquery said of it, or some more, because the
# simulator goes on counting real management datagrams.
near() {
	awk -F '[:.]+' -v want="$1" -v counter="$2" '
		$1 == counter {
			found = $2 >= want && $2 < want + 50000 && want > 500000
		}
		END { exit !found }' "$T/perf" && return
	say "expected about $1:"
	cat "$T/perf" >&2
	return 1
}

# some_ports: "guid lid port bytes wait" of some switch ports of the result.
some_ports() {
	local guid port bytes wait lid

	jq -r '.ports[] | select(.port < 5 and .xmit_wait_ns > 0) |
		"\(.guid) \(.port) \(.xmit_data_bytes) \(.xmit_wait_ns)"' \
		"$T/result" | some 3 | while read -r guid port bytes wait; do
		lid=$(end_ports "$T/sm" | awk -v guid="$guid" '
			$1 == "SW" && $2 == guid { print $4 }')
		[[ ! $lid ]] || echo "$guid $lid $port $bytes $wait"
	done
}

@test "tables change while traffic runs" {
	routed 5 4 1
	mv "$T/routed" "$T/before"
	routed 5 4 1 --fail-link 1,1,0:+x
	# The cable goes; until the new tables come, packets are lost.
	emulated "$T/before" "$(scenario <<-END
		duration_ns: 300000
		traffic: [{pattern: uniform, load: 0.3}]
		faults:
		  - {at_ns: 100000, fault: link_down, node: S_1_1_0, port: 1}
	END
	)" || [[ $? == 1 ]]
	cp "$T/result" "$T/without"
	emulated "$T/before" "$(scenario <<-END
		duration_ns: 300000
		traffic: [{pattern: uniform, load: 0.3}]
		faults:
		  - {at_ns: 100000, fault: link_down, node: S_1_1_0, port: 1}
		  - {at_ns: 150000, fault: tables, snapshot: routed}
	END
	)" || [[ $? == 1 ]]
	holds '.drops.dead_link > 0'
	holds ".dropped_packets * 2 < $(jq .dropped_packets "$T/without")"
}

@test "a load sweep: the same curve however it is spread" {
	local range=load=0.1:1:0.15 threads mpi=$DL_BUILD/mpi/dateline

	routed 4 4 1
	scenario >/dev/null <<-END
		duration_ns: 100000
		warmup_ns: 30000
		traffic: [{name: all, pattern: uniform, load: 0.5}]
	END
	for threads in 1 3; do
		dateline emulate "$T/routed" --scenario "$T/scenario.yaml" \
			--sweep "all.$range" --threads "$threads" --json >"$T/result"
		sed '/cpu_seconds/d' "$T/result" >"$T/sweep.$threads"
	done
	cmp "$T/sweep.1" "$T/sweep.3"
	holds '[.sweep[].load] == [0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1]'
	holds '[.sweep[].latency_ns_mean] | . == sort'
	holds '.saturation_load == .saturation.load and .saturation.load > 0.4'
	dateline emulate "$T/routed" --scenario "$T/scenario.yaml" \
		--sweep $range >"$T/words"
	grep -q '^saturation: ' "$T/words"
	run -2 dateline emulate "$T/routed" --scenario "$T/scenario.yaml" \
		--sweep other.$range
	run -2 dateline emulate "$T/routed" --scenario "$T/scenario.yaml" \
		--sweep load=1:0:1
	[[ -x $mpi ]] || skip "no build with MPI in $DL_BUILD/mpi"
	export OMPI_MCA_btl=self,vader OMPI_MCA_plm_rsh_agent=/bin/false
	mpirun --allow-run-as-root --oversubscribe -n 2 "$mpi" emulate \
		"$T/routed" --scenario "$T/scenario.yaml" --threads 1 \
		--sweep "all.$range" --json >"$T/result"
	sed '/cpu_seconds/d' "$T/result" >"$T/sweep.mpi"
	cmp "$T/sweep.1" "$T/sweep.mpi"
	# Without a sweep there is one run and one answer.
	scenario >/dev/null <<-END
		duration_ns: 100000
		warmup_ns: 30000
		ack_ns: 465
		traffic: [{pattern: uniform, load: 0.5}, {pattern: uniform, window: 2}]
	END
	dateline emulate "$T/routed" --scenario "$T/scenario.yaml" --json >"$T/result"
	holds '.delivered_packets > 0'
	sed '/cpu_seconds/d' "$T/result" >"$T/alone"
	mpirun --allow-run-as-root --oversubscribe -n 2 "$mpi" emulate \
		"$T/routed" --scenario "$T/scenario.yaml" --json >"$T/result"
	cmp "$T/alone" <(sed '/cpu_seconds/d' "$T/result")
}

@test "an interrupted run ends with its results so far" {
	local pid status=0

	routed 5 4 1
	scenario >/dev/null <<-END
		duration_ns: 900000000000
		traffic: [{pattern: uniform, load: 0.01, arrival: periodic}]
	END
	"$DL_DATELINE" emulate "$T/routed" --json \
		--scenario "$T/scenario.yaml" >"$T/result" 3>&- &
	pid=$!
	# shellcheck disable=SC2317 # called through wait_for
	ready() {
		local mask

		alive "$pid" || return 0
		# No longer the shell that starts it.
		[[ $(readlink "/proc/$pid/exe") == */dateline ]] || return 1
		mask=$(awk '/^SigBlk/ { print $2 }' "/proc/$pid/status")
		((16#${mask:-0} >> 14 & 1))
	}
	wait_for "$DL_PATIENCE" ready
	kill -TERM "$pid"
	wait "$pid" || status=$?
	((status == 1))
	holds '.interrupted and .delivered_packets > 0'
}

# refused PATTERN: the scenario on standard input is bad input, and the
# message names file and line and matches.
refused() {
	local file status=0

	file=$(scenario)
	dateline emulate "$T/routed" --scenario "$file" >"$T/out" \
		2>"$T/message" || status=$?
	((status == 2)) && [[ ! -s $T/out ]] &&
		grep -q "scenario.yaml:$1" "$T/message" && return
	say "expected: $1; got status $status:"
	cat "$T/message" >&2
	return 1
}

@test "bad scenarios: file, line and what was expected" {
	routed 4 3 1
	refused '1: nothing: expected a scenario' </dev/null
	refused '1: expected the key traffic' <<<'seed: 1'
	refused '2: speed: unknown key; expected one of: ' <<-END
		traffic: [{pattern: uniform, load: 1}]
		speed: 2
	END
	refused '2: load: 1001: expected a number from 1e-06 to 1000' <<-END
		traffic:
		  - {pattern: uniform, load: 1001}
	END
	refused '1: load: 0.0000001: expected a number' \
		<<<'traffic: [{pattern: uniform, load: 0.0000001}]'
	refused '1: load: half: expected a number' \
		<<<'traffic: [{pattern: uniform, load: half}]'
	refused '1: expected either the key load or the key window' \
		<<<'traffic: [{pattern: uniform}]'
	refused '1: pattern: spiral: expected one of: uniform' \
		<<<'traffic: [{pattern: spiral, load: 1}]'
	refused '1: expected the key targets with hotspot' \
		<<<'traffic: [{pattern: incast, load: 1}]'
	refused '1: H_9_9_9_1: expected an adapter' \
		<<<'traffic: [{pattern: uniform, load: 1, sources: [H_9_9_9_1]}]'
	refused '1: 0-12: expected an adapter' \
		<<<'traffic: [{pattern: uniform, load: 1, sources: [0-12]}]'
	refused '1: the tables have no such multicast group' \
		<<<'traffic: [{pattern: multicast, load: 1, group: 0xC123}]'
	refused '2: pattern: multicast does not go with switching: wormhole' <<-END
		switching: wormhole
		traffic: [{pattern: multicast, load: 1}]
	END
	refused '1: buffer_blocks: expected 33 or more, room for one packet' <<-END
		{buffer_blocks: 32, traffic: [{pattern: uniform, load: 1}]}
	END
	refused '3: nowhere: expected a node of the fabric' <<-END
		traffic: [{pattern: uniform, load: 1}]
		faults:
		  - {at_ns: 1, fault: link_down, node: nowhere, port: 1}
	END
	refused '3: expected the key snapshot with tables and rewrite' <<-END
		traffic: [{pattern: uniform, load: 1}]
		faults:
		  - {at_ns: 1, fault: rewrite}
	END
	refused '3: expected the keys order, smp_ns, .* with rewrite only' <<-END
		traffic: [{pattern: uniform, load: 1}]
		faults:
		  - {at_ns: 1, fault: tables, snapshot: routed, order: any}
	END
	refused '3: expected the key drain_ns with phases only' <<-END
		traffic: [{pattern: uniform, load: 1}]
		faults:
		  - {at_ns: 1, fault: rewrite, snapshot: routed, phases: false, drain_ns: 0}
	END
	refused '3: port 9 of S_0_0_0: expected a port with a cable' <<-END
		traffic: [{pattern: uniform, load: 1}]
		faults:
		  - {at_ns: 1, fault: link_down, node: S_0_0_0, port: 9}
	END
	# Of several keys, the line of one that is wrong.
	refused '2: warmup_ns: expected less than duration_ns' <<-END
		traffic: [{pattern: uniform, load: 1}]
		warmup_ns: 100000
	END
	refused '3: queues: voq does not go with switching: wormhole' <<-END
		switching: wormhole
		traffic: [{pattern: uniform, load: 1}]
		queues: voq
	END
	refused '3: buffer_blocks: expected 65 or more' <<-END
		traffic: [{pattern: uniform, load: 1}]
		mtu: 4096
		buffer_blocks: 64
	END
	refused '4: expected the key by with shift' <<-END
		traffic:
		  - pattern: uniform
		    load: 1
		    by: 3
	END
	refused '5: snapshot: gone: expected a snapshot' <<-END
		traffic: [{pattern: uniform, load: 1}]
		faults:
		  - at_ns: 1
		    fault: tables
		    snapshot: gone
	END
	# What cannot be written is known before the run.
	scenario <<-END >/dev/null
		traffic: [{pattern: uniform, load: 1}]
		record: gone/steps.csv
	END
	run -3 dateline emulate "$T/routed" --scenario "$T/scenario.yaml"
	[[ $output == *"2: record: cannot create "*"gone/steps.csv: "*"expected the name of a file"* ]]
	scenario <<<'traffic: [{pattern: uniform, load: 1}]' >/dev/null
	for option in --write-counters --tables; do
		run -3 dateline emulate "$T/routed" --scenario "$T/scenario.yaml" \
			$option "$T/gone/x"
		[[ $output == *"cannot create $T/gone/x"* && $output != *packets:* ]]
	done
	refused '1: cannot open the trace .*gone' \
		<<<'traffic: [{pattern: trace, file: gone}]'
	printf '0 0 1 64 0\n5 0 0 64 0\n' >"$T/short"
	scenario <<<'traffic: [{pattern: trace, file: short}]' >/dev/null
	run -2 dateline emulate "$T/routed" --scenario "$T/scenario.yaml"
	grep -q 'short:2: expected two different adapters' <<<"$output"
	run -2 dateline emulate "$T/routed" --scenario "$T/gone.yaml"
	run -2 dateline emulate --scenario "$T/scenario.yaml"
	run -3 dateline emulate --live --scenario "$EXAMPLES/emulate-uniform.yaml"
}

# Karol, Hluchyj and Morgan 1987: (2 - sqrt 2) for large switches with one queue
# an input.
@test "virtual output queues lift the limit of a queue that is first in, first out" {
	local n queues

	{
		echo 'Switch 64 "S"'
		for n in {1..64}; do echo "[$n] \"H$n\"[1]"; done
		for n in {1..64}; do printf '\nHca 1 "H%d"\n[1] "S"[%d]\n' "$n" "$n"; done
	} >"$T/star.net"
	dateline route "$T/star.net" -o "$T/star.dls" -q
	for queues in fifo voq; do
		scenario >/dev/null <<-END
			queues: $queues
			duration_ns: 3000000
			warmup_ns: 1500000
			traffic:
			  - {pattern: uniform, load: 1.0, bytes: 2048}
		END
		emulated "$T/star.dls" "$T/scenario.yaml"
		case $queues in
		fifo) holds '.throughput_fraction > 0.56 and .throughput_fraction < 0.62' ;;
		voq) holds '.throughput_fraction > 0.96' ;;
		esac
	done
	scenario >/dev/null <<-END
		queues: voq
		switching: wormhole
		duration_ns: 1000
		traffic:
		  - {pattern: uniform, load: 1.0, bytes: 2048}
	END
	run -2 dateline emulate "$T/star.dls" --scenario "$T/scenario.yaml"
	[[ $output == *'queues: voq does not go with switching: wormhole'* ]]
}

@test "a program runs on the hosts that are named, the same with two threads" {
	routed 4 4 2
	for i in 1 2; do
		dateline emulate "$T/routed" --program alltoall:64K --threads "$i" --json \
			--hosts 'H_[0-3]_[0-3]_1_1' | jq 'del(.cpu_seconds)' >"$T/$i"
	done
	cmp "$T/1" "$T/2"
	jq -e '.program.ranks == 16 and .program.messages == 240' "$T/1"
	# Its phases add up to all of it; of many the first ones are printed.
	jq -e '.program | (.phases | length) == 15 and ([.phases[].messages] | add) == .messages and
		(([.phases[].adds_ns] | add) - .time_ns | fabs) < 0.01' "$T/1"
	dateline emulate "$T/routed" --program alltoall:64K >"$T/text"
	[[ $(grep -c '^phase step ' "$T/text") == 16 ]]
	grep -qx '15 more phases are listed by --json and --tables' "$T/text"
	run -2 dateline emulate "$T/routed" --program alltoall:64K --hosts H_0_0_0_1
	run -2 dateline emulate "$T/routed" --program alltoall:64K --hosts ''
	[[ $output == *'"": there are no hosts' ]]
}

@test "watch, record: the steps of packets, and results as they were; tables as CSV" {
	local text='duration_ns: 4000, traffic: [{pattern: uniform, load: 0.9, bytes: 5000}]'

	routed 4 3 1
	emulated "$T/routed" "$(scenario <<<"{$text}")"
	mv "$T/result" "$T/plain"
	emulated "$T/routed" "$(scenario <<<"{$text, watch: [{from: 1, to: 8}, {packets: 2}],
		record: steps.csv}")" --tables "$T/tables" --threads 2
	diff <(jq 'del(.cpu_seconds, .scenario)' "$T/plain") \
		<(jq 'del(.cpu_seconds, .scenario, .watched, .recording)' "$T/result")

	# A packet leaves a port that it has reached, and its time is the sum of the hops'.
	holds '[.watched[].packet] | unique | length == 3'
	holds '[.watched | group_by(.packet)[] |
		(.[0].event == "made" and .[-1].event == "delivered") and
		([.[] | select(.event == "arrived")] | length) ==
		([.[] | select(.event == "sent")] | length) and
		([.[] | select(.event == "sent") | .waited_ns >= 0 and .credit >= 0] | all)] | all'

	# The recording has every packet, on every link.
	holds ".recording.steps == $(($(wc -l <"$T/steps.csv") - 1)) and (.recording.cut | not)"
	holds ".injected_packets == $(grep -c ',made,' "$T/steps.csv")"
	holds ".delivered_packets == $(grep -c ',delivered,' "$T/steps.csv")"
	holds ".packet_hops == $(grep -c ',sent,' "$T/steps.csv")"
	cut -d, -f1 "$T/steps.csv" | tail -n +2 | sort -cn
	emulated "$T/routed" "$(scenario <<<"{$text, record: {file: part.csv, from_ns: 1000,
		to_ns: 2000}}")"
	diff <(awk -F, 'NR == 1 || ($1 >= 1000 && $1 < 2000)' "$T/steps.csv") "$T/part.csv"

	# A management packet arrives as data do; and room that is free is in blocks, whatever the chunks.
	emulated "$T/routed" "$(scenario <<<"{duration_ns: 4000, chunk_blocks: 2, watch: {packets: 99},
		traffic: [{pattern: shift, by: 4, load: 0.1}, {pattern: shift, by: 4, load: 0.1,
		management: true}]}")"
	holds '[.watched[] | select(.vl == 15) | .event] |
		([.[] | select(. == "arrived")] | length) == ([.[] | select(. == "sent")] | length)'
	holds '[.watched[] | select(.event == "arrived" and .vl != 15) | .credit] | max == 272 - 34'

	# A worm: the head has left the second switch before the tail leaves the adapter.
	emulated "$T/routed" "$(scenario <<<"{$text, switching: wormhole, buffer_blocks: 6,
		watch: {packets: 20}}")"
	holds '[.watched | group_by(.packet)[] | [[.[] | select(.event == "sent").at_ns],
		[.[] | select(.event == "tail").at_ns]] |
		(.[0] | length) == (.[1] | length) and .[1][0] > .[0][0]] | all'
	holds '[.watched | group_by(.packet)[] | [.[] | select(.event == "tail").at_ns][0] >
		[.[] | select(.event == "sent").at_ns][2] // 1e9] | any'

	# Of a worm that the end of the warm-up cuts in two, bytes count, but no packet.
	emulated "$T/routed" "$(scenario <<<"{warmup_ns: 100, switching: wormhole,
		traffic: [{pattern: shift, by: 1, window: 1, count: 1}]}")"
	holds '[.ports[] | .xmit_data_bytes == ([.vl[].bytes] | add // 0)] | all'

	# Each list of the document is a table.
	emulated "$T/routed" "$(scenario <<<"{$text}")" --tables "$T/tables"
	holds "(.ports | length) == $(($(wc -l <"$T/tables/ports.csv") - 1))"
	holds "(.qos[0].latency_histogram_ns | length) ==
		$(($(wc -l <"$T/tables/qos_latency_histogram_ns.csv") - 1))"
	holds "([.ports[].xmit_packets] | add) == $(awk -F, 'NR == 1 {
			for (c = 1; $c != "xmit_packets"; c++) continue }
		NR > 1 { sum += $c } END { print sum }' "$T/tables/ports.csv")"

	run dateline emulate "$T/routed" --scenario "$(scenario <<<"{$text, record: x}")" \
		--sweep load=0.1:0.2:0.1
	((status == 2))
	[[ $output == *"record does not go with --sweep"* ]]
	run dateline emulate "$T/routed" --scenario "$(scenario <<<"{$text, watch: {from: H_9}}")"
	((status == 2))
	[[ $output == *"from: expected an adapter"* ]]
}

@test "retries: what is lost is sent again, after what time, and the same with two threads" {
	local one='pattern: shift, by: 1, load: 0.5, sources: [0], count: 1' program

	# A packet that is lost with its link comes a time-out later.
	routed 2 1 1
	emulated "$T/routed" "$(scenario <<<"{traffic: [{$one}], retries: {}}")"
	program=$(jq '.qos[0].latency_ns_mean' "$T/result")
	holds '.retries.acknowledgements == 1 and .retries.timeouts == 0'
	local down='{fault: link_down, at_ns: 1, for_ns: 100000, node: H_1_0_0_1, port: 1}'
	emulated "$T/routed" "$(scenario <<<"{traffic: [{$one}],
		retries: {timeout_ns: 3000000}, faults: [$down]}")"
	holds "(.qos[0].latency_ns_mean - 3000000 - $program | fabs) < 0.01"
	holds '.drops.dead_link == 1 and .retries.timeouts == 1 and .retries.lost_messages == 0'

	emulated "$T/routed" "$(scenario <<<"{traffic: [{$one}], retries: {}, faults: [$down]}")"
	holds "(.qos[0].latency_ns_mean - 67108864 - $program | fabs) < 0.01"

	# For ever: the connection breaks.
	emulated "$T/routed" "$(scenario <<<"{traffic: [{$one}],
		retries: {timeout_ns: 10000, count: 2}, faults: [${down/for_ns: 100000, /}]}")" ||
		(($? == 1))
	holds '.retries == {acknowledgements: 0, negative: 0, timeouts: 3, repeated_packets: 2,
		broken_connections: 1, lost_messages: 1}'

	# A program ends although packets are damaged, and takes its time.
	routed 4 4 1
	program=allreduce-ring:256K
	emulated "$T/routed" "$(scenario <<<"{retries: {timeout_ns: 50000}}")" --program $program
	local whole
	whole=$(jq .program.time_ns "$T/result")
	local damage="faults: [{fault: damage, at_ns: 0, node: S_1_1_0, port: 1, share: 0.05},
		{fault: damage, at_ns: 0, node: S_2_1_0, port: 1, share: 0.05}]"
	emulated "$T/routed" "$(scenario <<<"{$damage}")" --program $program || (($? == 1))
	holds '.program.time_ns == null and .program.ranks_waiting > 0'
	emulated "$T/routed" "$(scenario <<<"{$damage, retries: {timeout_ns: 50000}}")" \
		--program $program --threads 1
	holds ".program.ranks_waiting == 0 and .program.time_ns > $whole + 50000"
	holds '.drops.corrupt > 0 and .drops.sequence > 0 and .retries.negative > 0 and
		.retries.timeouts > 0 and .retries.lost_messages == 0'
	mv "$T/result" "$T/one"
	emulated "$T/routed" "$(scenario <<<"{$damage, retries: {timeout_ns: 50000}}")" \
		--program $program --threads 2
	diff <(jq 'del(.cpu_seconds)' "$T/one") <(jq 'del(.cpu_seconds)' "$T/result")
}

@test "calibrate: finds switch and buffers again from what they make of measurements" {
	local keys='switch_ns: 137, buffer_blocks: 99, credit_ns: 240' bytes m

	dateline gen 2 1 1 --speed 4xQDR -q -o "$T/f"
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" -q -o "$T/routed"
	for bytes in 2 256 2048; do
		# Two switches instead of none: a header, a cable and a latency each.
		emulated "$T/routed" "$(scenario <<<"{$keys, traffic: [{pattern: shift, by: 1,
			load: 0.01, sources: [0], count: 1, bytes: $bytes}]}")"
		jq -r "\"$bytes 1000 0 0 \(.qos[0].latency_ns_mean / 1000)\"" "$T/result" >>"$T/far"
		jq -r "\"$bytes 1000 0 0 \((.qos[0].latency_ns_mean - 20 - 137 - 2) / 1000)\"" "$T/result" >>"$T/near"
	done
	for m in 200 400 600; do
		emulated "$T/routed" "$(scenario <<<"{$keys, duration_ns: 4000000, warmup_ns: 100000,
			cables: [{node: S_0_0_0, port: 1, length_m: $m},
				{node: S_0_0_0, port: 2, length_m: $m}],
			traffic: [{pattern: shift, by: 1, load: 1, sources: [0]}]}")"
		jq -r '"2048 5000 0 \(.qos[0].throughput_gbps) 0"' "$T/result" >"$T/bw$m"
	done
	run "$DL_TOP/bench/calibrate.bash" 32 "$T/near" "$T/far" 4 200:"$T/bw200" \
		400:"$T/bw400" 600:"$T/bw600"
	((status == 0))
	[[ ${lines[0]} == 'switching: cut_through' && ${lines[1]} == 'switch_ns: 137' ]]
	[[ ${lines[2]} == 'buffer_blocks: 99' ]]
	((${lines[3]#credit_ns: } > 215 && ${lines[3]#credit_ns: } < 265))
}
