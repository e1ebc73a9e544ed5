#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# dateline whatif: counts that are known, and the same answer however the work
# is split.

bats_require_minimum_version 1.5.0
load lib.bash

# count EXPECTED FILTER: what the last document holds.
count() {
	local is

	is=$(jq -c "$2" "$T/out.json")
	[[ $is == "$1" ]] || {
		say "$2 is $is, not $1"
		return 1
	}
}

whatif() {
	dateline whatif "$@" --json >"$T/out.json"
}

@test "every change of tables is safe in phases, and few at once" {
	dateline gen 4 4 3 --scramble 5 -q -o "$T/f"
	whatif "$T/f.net" --torus-config "$T/f.torus.conf" --switches 1 \
		--links 2 --samples 12 --transitions
	count '[12,12,12,12,12,12]' \
		'.transitions | [.failures, .repairs, .both | .checked, .phased_safe]'
	count 0 .transitions.failures.interrupting
	count true '.transitions | [.[] | .writes_ratio.max <= 2] | all'
	count true '.transitions | [.[] | .direct_safe < 6] | all'
	# With balanced ties all fabrics have them, and nobody has to reconnect.
	dateline gen 4 4 1 -q -o "$T/small"
	whatif "$T/small.net" --torus-config "$T/small.torus.conf" --links 1 --samples 6 \
		--transitions --ties balanced
	count 0 '.transitions | [.[] | .pairs_interrupted.max] | max'
}

@test "every failed switch of 6x5: six in thirty have the loop" {
	dateline gen 6 5 1 -q -o "$T/f"
	whatif "$T/f.net" --torus-config "$T/f.torus.conf" --switches 1 \
		--exhaustive
	count 30 .samples
	count 30 .connected
	count '{"accepted":30,"safe":24}' .classic
	count '[30,6,0]' '.proven | [.accepted, .repaired, .lost]'
	count 0 .proven.entries_changed.max
	count '[]' .lost
}

@test "a line of which the switch in the middle is left, which no seed names" {
	dateline gen 5 1 1 --mesh x -q -o f
	whatif f.net --torus-config f.torus.conf --switches 4 --exhaustive --transitions
	count '[5,5,0]' '[.connected, .proven.accepted, .proven.lost]'
	count 4 .classic.accepted
	count '[5,5,5]' '.transitions | [.failures, .repairs, .both | .checked]'
}

@test "each scenario by name, as if it had happened" {
	local sample failed connected classic rest name want unsafe

	dateline gen 6 5 1 -o f -q
	dateline whatif f.net --torus-config f.torus.conf --switches 1 --exhaustive --csv >csv
	[[ $(wc -l <csv) == 31 ]]
	while IFS=, read -r sample failed rest; do
		name=$(grep -o 'S_[0-9_]*' <<<"$failed")
		# The coordinates follow, with commas.
		IFS=, read -r _ _ connected classic rest <<<"$rest"
		[[ $connected == yes ]]
		name=${name#S_}
		dateline gen 6 5 1 --fail-switch "${name//_/,}" -o one -q
		want=safe
		if ! dateline route one.net --torus-config f.torus.conf --mode classic \
			--multicast all -q -o one 2>/dev/null; then
			want=refused
		elif ! dateline verify one -q >/dev/null; then
			want=unsafe
			unsafe+=$sample,
		fi
		[[ $classic == "$want" ]] || { say "S_$name: $classic, not $want"; return 1; }
	done < <(sed 1d csv)
	# Those are the worst, and named.
	dateline whatif f.net --torus-config f.torus.conf --switches 1 --exhaustive --worst 6 \
		--json >json
	[[ $(jq '[.worst[] | select(.classic == "unsafe") | .sample] | sort | map("\(.),") | add' \
		-r json) == "$unsafe" ]]
	dateline whatif f.net --torus-config f.torus.conf --links 1 --samples 5 >text
	# Options that would have no effect.
	for option in '--exhaustive --seed 1' '--exhaustive --samples 100' '--csv --worst 10' \
		'--mode any-sl --ties balanced' '--mode any-sl --ties configured'; do
		# shellcheck disable=SC2086
		run -2 dateline whatif f.net --torus-config f.torus.conf --links 1 $option
	done
	grep -qE '^  1\. "S_[0-9_]*" port [0-9]* - "S_[0-9_]*" port [0-9]*: classic mode' text
}

@test "all pairs of cut cables of 3x3: sets are counted once" {
	dateline gen 3 3 1 -q -o "$T/f"
	whatif "$T/f.net" --links 2 --exhaustive
	count $((18 * 17 / 2)) .samples
	# No two cables of a 3x3 torus cut it in pieces.
	count $((18 * 17 / 2)) .proven.accepted
	whatif "$T/f.net" --switches 1 --links 1 --exhaustive
	count $((9 * 14)) .samples
	count $((9 * 14)) .proven.accepted
}

@test "the same answer from one thread, two, and two processes" {
	local run mpi=$DL_BUILD/mpi/dateline

	dateline gen 5 5 5 -q -o "$T/f"
	set -- "$T/f.net" --torus-config "$T/f.torus.conf" --switches 3 \
		--links 6 --samples 41 --seed 7
	for run in 1 2; do
		whatif "$@" --threads "$run"
		jq 'del(.seconds, .cpu_seconds)' "$T/out.json" >"$T/$run"
	done
	cmp "$T/1" "$T/2"
	count 41 .samples
	whatif "$@" --seed 8
	[[ $(jq 'del(.seconds, .cpu_seconds)' "$T/out.json") != \
		"$(cat "$T/1")" ]]
	[[ -x $mpi ]] || skip "no build with MPI in $DL_BUILD/mpi"
	OMPI_MCA_btl=self,vader OMPI_MCA_plm_rsh_agent=/bin/false \
		mpirun --allow-run-as-root --oversubscribe -n 2 \
		"$mpi" whatif "$@" --json --threads 1 >"$T/out.json"
	jq 'del(.seconds, .cpu_seconds)' "$T/out.json" >"$T/mpi"
	cmp "$T/1" "$T/mpi"
}

@test "an interrupted campaign tells what it knows" {
	local pid

	dateline gen 8 8 8 -q -o "$T/f"
	"$DL_DATELINE" whatif "$T/f.net" --switches 2 --samples 100000 \
		--json >"$T/out.json" 2>"$T/err" &
	pid=$!
	wait_for "$DL_PATIENCE" eval "grep -q SigCgt /proc/$pid/status &&
		(( 0x\$(awk '/^SigCgt/ { print \$2 }' /proc/$pid/status) & 2 ))"
	sleep 1
	kill -INT "$pid"
	status=0
	wait "$pid" || status=$?
	((status == 2))
	count true .interrupted
	((0 < $(jq .samples "$T/out.json") && $(jq .samples "$T/out.json") < 100000))
	grep -q 'interrupted: .* of 100000 scenarios' "$T/err"
}

@test "route --fail: the tables of a fabric without it" {
	dateline gen 6 5 1 -q -o f
	dateline gen 6 5 1 --fail-link 3,3,0:+x -q -o g
	dateline route g.net --torus-config f.torus.conf -q -o g.dls
	for name in S_3_3_0/1 3,3,0/1 0xd1000303000000/1; do
		dateline route f.net --torus-config f.torus.conf --fail "$name" -q -o f.dls
		dateline diff f.dls g.dls
	done
	# LIDs stay; its adapter goes with a switch; what is cut off is named.
	dateline route f.net --fail S_3_3_0 --fail H_0_0_0_1 -o f.dls 2>said
	grep -q '29 switches, 57 LIDs routed' said
	dateline verify f.dls --json >json
	[[ $(jq -c '[.pairs, .delivered, .credit_loop]' json) == '[3192,true,false]' ]]
	run -1 dateline route f.net --fail S_3_3_0/1 --fail S_3_3_0/2 --fail S_3_3_0/3 \
		--fail S_3_3_0/4 -o f.dls
	[[ $output == *'"S_3_3_0" is connected to no switch of the rest'* ]]
	run -2 dateline route f.net --fail S_3_3_0/9 -o f.dls
	[[ $output == *'there is no cable at S_3_3_0/9'* ]]
	run -2 dateline route f.net --fail nobody -o f.dls
	[[ $output == *'there is no "nobody"'* ]]
}

@test "failures by name: before and after" {
	dateline gen 6 5 1 -q -o f
	dateline route f.net --torus-config f.torus.conf --multicast all -q -o f.dls
	# The pairs of a cable are interrupted, and no others.
	dateline path f.dls --through S_3_3_0/1 --json >path.json
	whatif f.dls --torus-config f.torus.conf --fail S_3_3_0/1
	count "[3540,0,$(jq '[.. | .flows?, .flows_back? | numbers] | add' path.json)]" \
		'.pairs | [.before, .cut_off, .interrupted]'
	count '[3540,3540,true,true,null]' \
		'[.before.pairs, .after.pairs, .after.delivered, .after.credit_loop_free,
			.after.emulation]'
	count '["S_3_3_0","S_4_3_0"]' '.failed[0] | [.from.name, .to.name]'
	count '[true,true]' '[.pairs.longer > 0, .before.hops_mean < .after.hops_mean]'
	# After: what route and path say of the same fabric.
	dateline route f.net --torus-config f.torus.conf --fail S_3_3_0/1 -q -o left.dls
	count "$(jq '.busiest[0].pairs_after' "$T/out.json")" .after.busiest_pairs
	name=$(jq -r '.busiest[0].cable.from | "\(.name)/\(.port)"' "$T/out.json")
	dateline path left.dls --through "$name" --json >path.json
	count "$(jq '[.. | .flows? | numbers] | first' path.json)" '.busiest[0].pairs_after'
	# The rest is routed as the snapshot was.
	for mode in '--mode any-sl' '--ties balanced'; do
		# shellcheck disable=SC2086 # two words
		dateline route f.net --torus-config f.torus.conf $mode -q -o other.dls
		whatif other.dls --torus-config f.torus.conf --fail S_3_3_0/1
		count 0 .transition.entries_closed
		cp "$T/out.json" first.json
		# shellcheck disable=SC2086 # two words
		whatif other.dls --torus-config f.torus.conf --fail S_3_3_0/1 $mode
		cmp first.json "$T/out.json"
	done
	count '[]' .warnings
	# A snapshot knows its coordinates; with others, part of the change is not the failure's.
	whatif f.dls --torus-config f.torus.conf --fail S_3_3_0/1
	cp "$T/out.json" first.json
	whatif f.dls --fail S_3_3_0/1
	cmp first.json "$T/out.json"
	dateline discover f.net --write-config cabled.conf >/dev/null
	whatif f.dls --torus-config cabled.conf --fail S_3_3_0/1
	count true '.warnings[0] | contains("torus configuration")'
	# A switch takes its adapter along: 2 of 60 end ports.
	# A directory in OpenSM's formats says the same as the file.
	dateline route f.net --multicast all -q -o f
	whatif f --fail S_3_3_0/1
	count '[]' .warnings
	count '[]' .cut_off_adapters
	whatif f --fail S_3_3_0 --fail H_1_1_0_1
	count '["H_1_1_0_1","H_3_3_0_1"]' '[.cut_off_adapters[].name] | sort'
	dateline whatif f --fail S_3_3_0 -q | grep -x '1 adapter cut off: H_3_3_0_1'
	whatif f.net --torus-config f.torus.conf --fail S_3_3_0
	count '[3540,234,3306]' '[.pairs.before, .pairs.cut_off, .after.pairs]'
	# What is cut off without having failed is a finding.
	run -1 dateline whatif f.dls --torus-config f.torus.conf --fail S_3_3_0/1 --fail S_3_3_0/2 --fail S_3_3_0/3 \
		--fail S_3_3_0/4
	[[ $output == *'"S_3_3_0" is connected to no switch of the rest'* ]]
	for name in S_3_3_0/5 H_3_3_0_1/1; do
		run -1 dateline whatif f.dls --fail "$name"
		[[ $output == *'1 adapter cut off: H_3_3_0_1'* ]]
	done
	# A cable fails once, whichever end is named, and not beside its switch or adapter.
	for name in '--fail S_3_3_0/5' '--fail H_3_3_0_1/1 --fail H_3_3_0_1'; do
		# shellcheck disable=SC2086
		whatif f.dls --torus-config f.torus.conf $name --fail S_3_3_0 --fail S_3_3_0
		count '["S_3_3_0"]' '[.failed[].name | select(. != "H_3_3_0_1")]'
	done
	whatif f.dls --torus-config f.torus.conf --fail S_3_3_0/1 --fail S_4_3_0/2 --fail S_3_3_0/1
	count 1 '.failed | length'
	for options in '--links 1' '--worst 3' '--worst 10' '--seed 1' '--threads 2'; do
		# shellcheck disable=SC2086
		run -2 dateline whatif f.dls --torus-config f.torus.conf --fail S_3_3_0 $options
		[[ $output == *'which?'* ]]
	done
}

@test "failures by name: traffic before and after, and why it got faster" {
	dateline gen 6 5 1 -q -o f
	dateline route f.net --torus-config f.torus.conf -q -o f.dls
	cat >incast.yaml <<-END
		duration_ns: 3000000
		traffic:
		  - {pattern: incast, targets: [0], window: 1, count: 4, bytes: 8192}
	END
	whatif f.dls --torus-config f.torus.conf --fail H_3_3_0_1 --scenario incast.yaml
	count '[29,28]' '[.before, .after | .emulation.sending_adapters]'
	count true '.before.emulation.last_delivery_ns > .after.emulation.last_delivery_ns'
	count '"fewer adapters send, and share the cables"' .faster_because
	# As emulate says of the same tables.
	dateline emulate f.dls --scenario incast.yaml --json >run.json
	count "$(jq .throughput_fraction run.json)" .before.emulation.throughput_fraction
	dateline route f.net --torus-config f.torus.conf --fail H_3_3_0_1 -q -o left.dls
	dateline emulate left.dls --scenario incast.yaml --json >run.json
	count "$(jq .throughput_fraction run.json)" .after.emulation.throughput_fraction
	dateline whatif f.dls --torus-config f.torus.conf --fail H_3_3_0_1 --scenario incast.yaml >text
	grep -q '^Faster after the failure: fewer adapters send' text
	# Each QoS level on its own.
	whatif f.dls --torus-config f.torus.conf --fail S_3_3_0/1 --scenario \
		"$DL_TOP/conf/examples/emulate-qos-mix.yaml"
	dateline emulate f.dls --scenario "$DL_TOP/conf/examples/emulate-qos-mix.yaml" --json >run.json
	count "$(jq -c '[.qos[] | [.level, .throughput_gbps, .latency_ns_p99]]' run.json)" \
		'[.before.emulation.qos[] | [.level, .throughput_gbps, .latency_ns_p99]]'
	count true '.before.emulation.qos[1].throughput_gbps != .after.emulation.qos[1].throughput_gbps'
	# Groups are routed, too, where verify finds the loop that they close.
	dateline gen 6 5 1 --fail-switch 3,2,0 -q -o h
	dateline route h.net --torus-config h.torus.conf --mode classic --multicast all -q -o h
	run -1 dateline verify h
	whatif h --fail S_0_0_0/1 --scenario "$DL_TOP/conf/examples/emulate-deadlock-6x5.yaml"
	count '[[false,true],[true,false],"the tables before it deadlock"]' \
		'[[.before, .after | .credit_loop_free], [.before, .after | .emulation.deadlock], .faster_because]'
	dateline route h.net --torus-config h.torus.conf --earlier h --fail S_0_0_0/1 \
		--multicast keep -q -o after
	dateline emulate after --scenario "$DL_TOP/conf/examples/emulate-deadlock-6x5.yaml" --json >run.json
	count "$(jq .throughput_fraction run.json)" .after.emulation.throughput_fraction
	dateline whatif h --fail S_0_0_0/1 --scenario "$DL_TOP/conf/examples/emulate-deadlock-6x5.yaml" >text 2>warned
	grep -Eq '^deadlock +yes +no$' text
	fails grep 'sets SLs' text
	# A deadlock on SLs of one's own is none of the tables'.
	cat >own.yaml <<-END
		duration_ns: 100000
		buffer_blocks: 66
		traffic:
		  - {pattern: shift, by: 2, load: 1, sl: 0}
		  - {pattern: shift, by: 3, load: 1, sl: 0}
	END
	run -1 dateline emulate f.dls --scenario own.yaml
	[[ $output == *'carry SLs that the scenario sets, not those of their paths'* ]]
	run -1 dateline whatif f.dls --fail S_1_1_0/3 --scenario own.yaml
	[[ $output == *'(deadlock: the scenario sets SLs or VLs; path SLs are proven)'* ]]
	run -1 dateline emulate h --scenario "$DL_TOP/conf/examples/emulate-deadlock-6x5.yaml"
	[[ $output != *'that the scenario sets'* ]]
	fails grep -q 'line 0' warned
	# Only what is left can send.
	sed -i 's/targets: \[0\]/&, sources: [H_3_3_0_1]/' incast.yaml
	run -2 dateline whatif f.dls --torus-config f.torus.conf --fail S_3_3_0 --scenario incast.yaml
	[[ $output == *'fits the whole fabric, but not what is left of it'* ]]
}

@test "bad usage is named" {
	dateline gen 3 3 1 -q -o "$T/f"
	run -2 dateline whatif "$T/f.net"
	[[ $output == *'what shall fail'* ]]
	run -2 dateline whatif "$T/f.net" --switches 10
	[[ $output == *'this torus has 9 and 18'* ]]
	run -2 dateline whatif "$T/f.net" --links 1 --exhaustive --samples 3
	[[ $output == *'which?'* ]]
	dateline gen 8 8 8 -q -o "$T/f"
	run -2 dateline whatif "$T/f.net" --links 5 --exhaustive
	[[ $output == *'more than 1000000 scenarios'* ]]
}
