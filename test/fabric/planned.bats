#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Planned changes of a running fabric: cables and switches that are taken out of use
# before they go, and put back (rules A15).

# Functions are called through wait_for, each test is a subshell of its own: that is
# meant.
# shellcheck disable=SC2030,SC2031,SC2317

load lib.bash

setup() {
	fabric_init
	RANDOM=$DATELINE_SEED
}

# planned_up MODE X Y Z [KEY=VALUE...]: a torus whose engine reads the list $T/avoid.
planned_up() {
	local mode=$1 dims="$2 $3 $4"

	shift 4
	: >"$T/avoid"
	# shellcheck disable=SC2086 # three words
	dateline gen $dims -q -o "$T/f"
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=mode=$mode avoid=$T/avoid dump_dir=$T/snap" "$@"
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts | some 8)
	snapshot "$T/whole"
}

# avoid LINE...: what is out of use from now on, when OpenSM has swept.
avoid() {
	printf '%s\n' "$@" >"$T/avoid"
	sm_sweep_and_dump "$T/snap"
}

# look: into $T/now, what the switches hold, which is sound.
look() {
	snapshot "$T/now"
	[[ $(verdict "$T/now" 'delivered and (.credit_loop | not)') == true ]]
}

# crossed CABLE...: whether anything in $T/now leads across one of them.
crossed() {
	local cable

	for cable; do
		dateline path "$T/now" --through "$cable" --json |
			jq -e '.through | [.flows, .flows_back, .entries, .groups] | add == 0' \
				>/dev/null || return 0
	done
	return 1
}

@test "a cable and a switch: out of use, unplugged, back" {
	local mode

	for mode in proven any-sl; do
		planned_up "$mode" 4 4 3 use_ucast_cache=TRUE
		lfts "$T/whole" >"$T/good"
		pairs "$T/a" CA | some 30 >"$T/pairs"
		path_sls <"$T/pairs" >"$T/sls"
		look
		crossed S_1_1_0/1
		avoid 'cable S_1_1_0/1 # ticket 4711' 'switch "S_2_2_1"'
		wait_log 'DL41: safe to unplug: cable "S_1_1_0" port 1 to "S_2_1_0" port 2'
		wait_log 'DL41: safe to switch off, but for its own adapters: switch "S_2_2_1"'
		[[ $(log_count 'stays in use') == 0 ]]
		look
		fails crossed S_1_1_0/1
		same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
		# Nothing but hosts of S_2_2_1 uses its cables.
		dateline path "$T/now" --through S_2_2_1/1 --json --top 1000 |
			jq -e '[.through.paths[].from.name] | unique - ["H_2_2_1_1", "S_2_2_1"] == []'
		# The cable goes, and comes back: no entry changes.
		lfts "$T/now" >"$T/without"
		sim_console 'Unlink "S_1_1_0"[1]' >/dev/null
		sm_sweep
		look
		same "tables without the cable" "$T/without" <(lfts "$T/now")
		sim_console 'ReLink "S_1_1_0"[1]' >/dev/null
		sm_sweep
		look
		fails crossed S_1_1_0/1
		# A damaged list changes nothing.
		avoid 'cable S_1_1_0'
		wait_log 'ERR DL40: .*avoid:1: expected NAME/PORT'
		look
		fails crossed S_1_1_0/1
		avoid '# all done'
		wait_log 'in use again' 2
		look
		same "forwarding tables" "$T/good" <(lfts "$T/now")
		same "multicast tables" <(mfts "$T/whole") <(mfts "$T/now")
		same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
		[[ $(log_count 'not proven') == 0 ]]
		fabric_down
		rm -r "$T/a" "$T/snap" "$T/whole" "$T/now"
	done
}

# random_list: up to four cables and switches.
random_list() {
	local n

	for ((n = 1 + RANDOM % 4; n; n--)); do
		if ((RANDOM % 3)); then
			echo "cable S_$((RANDOM % 4))_$((RANDOM % 4))_$((RANDOM % 3))/$((1 + RANDOM % 6))"
		else
			echo "switch S_$((RANDOM % 4))_$((RANDOM % 4))_$((RANDOM % 3))"
		fi
	done
}

@test "random cables and switches, out and back" {
	local round lines

	planned_up proven 4 4 3
	lfts "$T/whole" >"$T/good"
	for ((round = 0; round < ${DATELINE_EVENTS:-4}; round++)); do
		mapfile -t lines < <(random_list)
		avoid "${lines[@]}"
		# All is unused: a cable, either way.
		mapfile -t lines < <(sed -n 's/^cable //p' "$T/avoid")
		look
		fails crossed "${lines[@]}"
		avoid ''
		look
		same "forwarding tables of round $round" "$T/good" <(lfts "$T/now")
		same "multicast tables of round $round" <(mfts "$T/whole") <(mfts "$T/now")
	done
	[[ $(log_count 'ERR|not proven') == 0 ]]
}

# cabled STEP FILTER: the console's commands that this filter makes of a step, with port()
# for a plug.
cabled() {
	local command

	while read -r command; do
		sim_console "$command" >/dev/null
	done < <(jq -r "def port: \"\\\"\\(.name)\\\"[\\(.port)]\"; $2" <<<"$1")
}

# take_step DIR N: as a technician does it, and an administrator.
take_step() {
	local step n list safe

	step=$(jq -c ".steps[$2 - 1]" "$1.json")
	n=$(printf %03d "$2")
	list=$1/$n.avoid
	if [[ -e $list ]]; then
		safe=$(log_count 'DL41: safe to unplug') || true
		cp "$list" "$T/avoid"
		sm_sweep
		wait_log 'DL41: safe to unplug' $((safe + $(wc -l <"$list")))
	fi
	cabled "$step" '.unplug[], .move[] | "Unlink \(.from | port)"'
	cabled "$step" '(.move[] | {from: .stays, to}), .plug[] |
		"Link \(.from | port) \(.to | port)"'
	# The list names ports: what is plugged there now is to be used.
	: >"$T/avoid"
	[[ $(jq .configuration <<<"$step") == false ]] ||
		cp "$1/after.torus.conf" "$T/f.torus.conf"
	sm_sweep
	look
	dateline diff "$1/$n.dls" "$T/now" --json >"$T/diff" || true
	jq -e '.cables | .added == [] and .removed == []' "$T/diff"
}

# isolated A B: the nodes that the netlist B has and A has not, without their cables.
isolated() {
	awk '/^(Switch|Ca)\t/ && FNR == NR { seen[$3] }
		FNR < NR && match($0, /(Switch|Ca)\t[0-9]+ "[^"]*"/) {
			split(substr($0, RSTART, RLENGTH), word, /[ \t]/)
			gsub(/\n\[[^\n]*/, "")
			if (!(word[3] in seen))
				print "\n" $0
		}' "$1" RS= "$2"
}

# clients_ask FILE: clients that ask for the paths of $T/pairs until $T/asking is
# gone; their answers go to FILE, and why there was none to FILE.err.
clients_ask() {
	while [[ -e $T/asking ]]; do
		path_sls <"$T/pairs"
		echo "asked $(date +%T)"
		sed "/sim_connect: attached/d; s/^/$(date +%T) /" "$T/saquery.err" >&2
	done >"$1" 2>"$1.err"
}

# announced DIR PLAN...: "slid dlid" of the pairs that these plans say are interrupted.
announced() {
	jq -r '.steps[].interrupted[] | "\(.from.guid) \(.to.guid)"' "${@:2}" |
		awk 'NR == FNR { lid[$2] = $4; next } { print lid[$1], lid[$2] }' \
			<(end_ports "$1") -
}

# clients_answered FILE ANNOUNCED SLS...: no client is left without an answer but one whose
# pair was announced, and that one has its answer in the end; each answer is in one of these
# lists of SLs.
clients_answered() {
	say "clients asked $(grep -c asked "$1") times for $(wc -l <"$T/pairs") paths"
	cat "$1.err"
	awk 'FILENAME == ARGV[1] { pairs[$1 " " $2]; next }
		FILENAME == ARGV[2] { announced[$1 " " $2]; next }
		!/^asked/ { last[$1 " " $2] = round + 1; next }
		{
			round++
			for (pair in pairs)
				if (last[pair] < round && !(pair in announced)) {
					print pair ": no answer in round " round ", " $2
					failed = 1
				}
		}
		END {
			for (pair in pairs)
				if (last[pair] < round) {
					print pair ": no answer in the end"
					failed = 1
				}
			exit failed || round < 2
		}' "$T/pairs" "$2" "$1"
	grep -v asked "$1" | fails grep -vxFf <(sort -u "${@:3}")
}

@test "a torus grows by a plane, and shrinks again" {
	local mode dims=${DATELINE_GROW:-3 3 3} n i clients

	for mode in ${DATELINE_GROW_MODES:-proven}; do
		# shellcheck disable=SC2086 # three words
		dateline gen $dims -q -o "$T/f"
		dateline grow f.net --torus-config f.torus.conf --columns 3 --mode "$mode" \
			-o up --json >up.json || [[ $? == 1 ]]
		n=$(jq '.steps | length' up.json)
		dateline grow "up/$(printf %03d "$n").net" --torus-config up/after.torus.conf \
			--columns 3 --by -1 --mode "$mode" -o down --json >down.json || [[ $? == 1 ]]
		# All nodes, but no cables of the new ones.
		cp up/000.net all.net
		isolated up/000.net "up/$(printf %03d "$n").net" >>all.net
		: >avoid
		fabric_up "$T/a" dateline "$T/all.net" torus_config="$T/f.torus.conf" \
			"event_plugin_options=mode=$mode avoid=$T/avoid"
		pairs "$T/a" CA | some 12 >"$T/pairs"
		path_sls <"$T/pairs" >"$T/sls"
		: >"$T/asking"
		clients_ask "$T/answers" 3>&- &
		clients=$!
		for ((i = 1; i <= n; i++)); do take_step up "$i"; done
		path_sls <"$T/pairs" >"$T/sls.up"
		[[ $mode != any-sl ]] || same "path SLs" "$T/sls" "$T/sls.up"
		for ((i = 1; i <= n; i++)); do take_step down "$i"; done
		rm "$T/asking"
		wait "$clients"
		announced "$T/a" up.json down.json >"$T/announced"
		clients_answered "$T/answers" "$T/announced" "$T/sls" "$T/sls.up"
		same "path SLs" "$T/sls" <(path_sls <"$T/pairs")
		# DL27: the new switches' own path SLs, when they get coordinates.
		[[ $(log_count 'ERR DL([013-9]|2[0-689])|not proven') == 0 ]]
		fabric_down
		rm -r "$T/a" "$T/up" "$T/down" "$T/now"
	done
}

# recabled NET PORT PORT...: the netlist with a cable between each two of these ports in place
# of what was plugged there; `-' stands for no cable.  A port is NODE/NUMBER.
recabled() {
	awk -v ports="${*:2}" '
		BEGIN {
			n = split(ports, port, " ")
			for (i = 1; i <= n; i++)
				far[port[i]] = port[i % 2 ? i + 1 : i - 1]
		}
		/^(Switch|Ca)/ { split($0, word, /"/); node = word[2] }
		/^\[/ { split($0, number, /[][]/) }
		/^\[/ && node "/" number[2] in far { next }
		!NF && node {
			for (p = 1; p <= 36; p++)
				if (far[node "/" p] ~ /\//) {
					split(far[node "/" p], to, "/")
					print "[" p "]\t\"" to[1] "\"[" to[2] "]\t# \"" to[1] "\" lid 0 4xEDR"
				}
			node = ""
		}
		{ print }
		END { print "" }' "$1"
}

# mended LINE... -- PORT...: what discover says of these cables, beside step 1.
mended() {
	local -a lines=()

	while [[ $1 != -- ]]; do
		lines+=("$1")
		shift
	done
	recabled real.net "${@:2}" >wrong.net
	dateline discover wrong.net --torus-config f.torus.conf --plan up/001.net -q >told ||
		(($? == 1))
	same "work" <(printf '%s\n' "${lines[@]}") <(grep -v ' is 0x' told)
}

# last DIR: the number of the last step there.
last() {
	find "$1" -name '*.net' -printf '%f\n' | sort | tail -1 | sed 's/.net//'
}

@test "a growth of a fabric with failures: what has no other way, and rings that lack a switch" {
	dateline gen 4 4 1 --fail-link 0,0,0:+x --fail-link 0,0,0:-x --fail-link 0,0,0:+y -q -o f
	mkdir grown
	touch grown/001.avoid grown/007.avoid grown/00{8,9}.{net,dls}
	dateline grow f.net --torus-config f.torus.conf --dim y -q -o grown --json >grown.json
	# Of (0,0,0) and its adapter with 30 others, both ways.
	jq -e '.steps[0] | .avoid == [] and .pairs_interrupted == 120 and
		(.interrupted | length) == 120' grown.json
	jq -e '.steps[1] | (.avoid | length) == 1 and .pairs_interrupted == 0' grown.json
	[[ $(grep -c 'empty the list' grown/steps.txt) == 1 && $(last grown) == 007 ]]
	[[ $(cd grown && echo *.avoid) == '002.avoid 003.avoid 004.avoid' ]]
	dateline gen 4 4 1 --parallel 2 --fail-switch 1,2,0 --fail-link '2,2,0:+y*1' -q -o f
	dateline grow f.net --torus-config f.torus.conf --dim y -q -o lacks >steps || [[ $? == 1 ]]
	dateline discover "lacks/$(last lacks).net" --torus-config lacks/after.torus.conf --json \
		>found || [[ $? == 1 ]]
	jq -e '.dims == [4, 5, 1] and .missing == [[1, 2, 0]] and .unplaced == [] and
		.unused_cables == []' found
}

@test "a growth where port numbers say nothing: each step has the tables of the engine" {
	local n=0 conf=f.torus.conf step avoid forgotten=0

	dateline gen 4 4 4 --scramble 18 -q -o f
	dateline grow f.net --torus-config f.torus.conf --by 3 --columns 4 -q -o up --json >up.json
	for ((n = 1; n <= $(jq '.steps | length' up.json); n++)); do
		step=up/$(printf %03d "$n")
		! jq -e ".steps[$n - 1].configuration" up.json >/dev/null || conf=up/after.torus.conf
		avoid=
		[[ ! -e $step.avoid ]] || avoid=--avoid=$step.avoid
		dateline route "$step.net" --torus-config "$conf" -q ${avoid:+"$avoid"} \
			--multicast all --earlier "up/$(printf %03d $((n - 1))).dls" -o engine.dls ||
			[[ $? == 1 ]]
		dateline diff "$step.dls" engine.dls
		# Without the tables before they are others, as the step says.
		if [[ $(jq ".steps[$n - 1].switches_forgotten" up.json) != 0 ]]; then
			forgotten=$((forgotten + 1))
			dateline route "$step.net" --torus-config "$conf" -q --multicast all -o cold.dls
			fails dateline diff "$step.dls" cold.dls
		fi
	done
	((forgotten))
	[[ $(grep -c 'if the tables before were not known' up/steps.txt) == "$forgotten" ]]
	jq -e '.steps[-1] | .switches == 112 and .switches_placed == 112' up.json
	jq -e '[.steps[] | select(.configuration | not) | .reconnect_pairs] | max == 0' up.json
}

@test "a removal that would cut off what hangs on a switch that goes is refused" {
	local net=$DL_TOP/conf/examples/torus-5x4x2-services.net

	fails dateline grow "$net" --dim x --by -1 -q -o gone 2>errors
	grep -q '6 nodes are connected to no switch of the rest: .*"login1 HCA-1"' errors
	grep -q 'step 11 would cut these off' errors
}

@test "a growth of a line whose end has no such port free takes another, or is refused" {
	# Adapters of the last switches are where others lead on.
	dateline gen 4 4 1 --mesh y -q -o f
	sed -i '/^Switch.*"S_2_3_0"/,/^$/s/^\[5\]/[3]/; s/"S_2_3_0"\[5\]/"S_2_3_0"[3]/' f.net
	dateline grow f.net --torus-config f.torus.conf --dim y -q -o grown >grown.txt || (($? == 1))
	grep -q 'plug "S_2_3_0" port 5 - "S_2_4_0" port 4' grown.txt
	# Other numbers on its way, and two cables side by side.
	for parallel in 1 2; do
		dateline gen 5 3 1 --mesh x --scramble 9 --parallel $parallel --fail-link 1,1,0:+x -q -o g
		dateline grow g.net --torus-config g.torus.conf --dim x --by 2 -q -o "g$parallel" >grown.txt ||
			(($? == 1))
		dateline verify "g$parallel/$(grep -c '^step' grown.txt | xargs printf %03d).dls" -q
	done
	# No port at all.
	sed -i '/^Switch.*"S_2_3_0"/s/36/4/' f.net
	fails dateline grow f.net --torus-config f.torus.conf --dim y -q -o full 2>errors
	grep -q '"S_2_3_0" has no free port .* port 3: free one' errors
}

@test "a growth and its removal end with each cable where it was, parallel ones too" {
	# shellcheck disable=SC2016 # awk's fields
	local ends='/^(Switch|Ca)/ { split($0, w, /"/); node = w[2] } /^\[/ { print node, $1, $2 }'

	dateline gen 4 3 1 --scramble 5 --parallel 2 -q -o f
	dateline grow f.net --torus-config f.torus.conf --dim x -q -o up >/dev/null || (($? == 1))
	dateline grow "up/$(last up).net" --torus-config up/after.torus.conf --dim x --by -1 -q \
		-o down >/dev/null || (($? == 1))
	same "cables" <(awk "$ends" f.net | sort) <(awk "$ends" "down/$(last down).net" | sort)
}

@test "a growth of a mesh whose new corners could be leaf switches: the plan names them" {
	local guid y

	dateline gen 6 3 --mesh xy --scramble 84 -q -o f
	dateline grow f.net --torus-config f.torus.conf --dim x --by 2 --columns 3 -q -o up \
		--json >up.json
	jq -e '.unplaced == ["S_7_0_0", "S_7_2_0"]' up.json
	[[ $(tail -2 up/steps.txt | tr -d ' \n') == '"S_7_0_0""S_7_2_0"' ]]
	# In seeds they get their coordinates.
	for y in 0 2; do
		guid=0xd100070${y}000000
		printf '%s\n' next_seed "xm_link $guid 0xd100060${y}000000" \
			"y$( ((y)) && echo m || echo p)_link $guid 0xd1000701000000" \
			'x_dateline -7' "y_dateline -$y"
	done >>up/after.torus.conf
	dateline route up/005.net --torus-config up/after.torus.conf --earlier up/005.dls -o named.dls
	dateline snapshot named.dls -q -o named
	[[ $(grep -c '^switch [0-9]' named/dateline-torus.dump) == 24 ]]
}

@test "a growth of a mesh, and of a ring that lacks a cable: new cables are as fast as others" {
	local how

	for how in '--mesh x' '--fail-link 3,1,0:+x --scramble 3'; do
		# shellcheck disable=SC2086 # two words
		dateline gen 4 3 1 $how -q -o f
		dateline grow f.net --torus-config f.torus.conf --dim x --by 2 -q -o grown >steps
		! grep SDR grown/*.net
	done
}

@test "a growth of a snapshot keeps its mode and its ties" {
	local how

	dateline gen 4 4 1 -q -o f
	for how in '--mode any-sl' '--ties balanced'; do
		# shellcheck disable=SC2086 # two words
		dateline route f.net --torus-config f.torus.conf --multicast all $how -q -o f.dls
		dateline grow f.dls --dim y -q -o grown --json >grown.json || [[ $? == 1 ]]
		dateline diff f.dls grown/000.dls
	done
	grep -q '^ties balanced' grown/after.torus.conf
}

# By some way round a failed cable.
@test "a removal: what packets pass is avoided before it goes" {
	local i before now port

	dateline gen 3 4 2 --mesh z --fail-link 0,0,0:+y --fail-link 2,0,0:+y -q -o f
	dateline grow f.net --torus-config f.torus.conf --dim y --by -1 -q -o gone --json >gone.json
	jq -e '.steps[-1].switches == 18 and all(.steps[]; .cut_off == [] or .avoid == [])' gone.json
	for i in $(jq '.steps[] | select(.unplug + .move != [] and .cut_off == []) | .step' gone.json); do
		printf -v before %03d $((i - 1))
		printf -v now %03d "$i"
		[[ -e gone/$now.avoid ]] || : >"gone/$now.avoid"
		dateline route "gone/$before.dls" --avoid "gone/$now.avoid" -q -o without.dls
		for port in $(jq -r --argjson i "$i" '.steps[$i - 1] | (.unplug[] | .from, .to),
			(.move[] | .from, .stays) | "\(.name)/\(.port)"' gone.json); do
			dateline path without.dls --through "$port" --json --top 1000000
		done >paths
		# But for those of the switches that go.
		jq -e -s 'all(.[].through.paths[] | .from.name + .to.name; test("S_[0-9]_3_"))' paths
	done
}

# New switches come with GUIDs and names of their own.
@test "a step of growth, beside what was really cabled" {
	local real='s/d100\(....\)03/e41d\103/g; s/S_\([0-9]\)_\([0-9]\)_3/leaf-\1\2/g'

	dateline gen 4 3 3 -q -o f
	dateline grow f.net --torus-config f.torus.conf --columns 4 -o up --json >up.json ||
		(($? == 1))
	sed "$real" up/001.net >real.net
	fails grep -q S_0_0_3 real.net
	dateline discover real.net --torus-config f.torus.conf --plan up/001.net -q >told
	same "nodes" told - <<-'END'
		S_0_0_3 is 0x00e41d0000030000 "leaf-00"
		S_1_0_3 is 0x00e41d0100030000 "leaf-10"
		S_2_0_3 is 0x00e41d0200030000 "leaf-20"
		S_3_0_3 is 0x00e41d0300030000 "leaf-30"
		cabled as planned
	END
	# One missing, one left over, a wrong port, a wrong switch, two exchanged.
	mended 'plug "S_0_0_0" port 6 - "S_0_0_3" port 5' -- S_0_0_0/6 - leaf-00/5 -
	mended 'unplug "S_0_1_0" port 20 - "S_2_2_0" port 21' -- S_0_1_0/20 S_2_2_0/21
	mended 'move the cable of "S_2_0_0" port 6 from "S_2_0_3" port 9 to "S_2_0_3" port 5' -- \
		S_2_0_0/6 leaf-20/9 leaf-20/5 -
	mended 'move the cable of "S_2_0_0" port 6 from "S_0_1_0" port 9 to "S_2_0_3" port 5' -- \
		S_2_0_0/6 S_0_1_0/9 leaf-20/5 -
	mended 'exchange the plugs in "S_1_0_3" port 6 and "S_0_0_3" port 6' -- \
		S_0_0_0/6 leaf-10/5 S_1_0_0/6 leaf-00/5
	# A cable that trained with one lane of four: by its rate, planned and found.
	sed '/"S_0_0_0"\[6\]/s/4xEDR/1xEDR/' up/001.net | sed "$real" >real.net
	fails dateline discover real.net --torus-config f.torus.conf --plan up/001.net -q >told
	same "rate" <(tail -n 1 told) - <<-'END'
		check "S_0_0_0" port 6 - "S_0_0_3" port 5: 1xEDR, planned 4xEDR
	END
	# A faster one is no work.
	sed '/"S_0_0_0"\[6\]/s/4xEDR/1xEDR/' up/001.net >slow.net
	dateline discover up/001.net --torus-config f.torus.conf --plan slow.net -q >told
	# Before anything was done: the step itself.
	dateline discover f.net --plan up/001.net -q >told || (($? == 1))
	same "work" told <(sed -n '/^step 1:/,/^step 2:/s/^  \(move\|plug\)/\1/p' up/steps.txt)
	# The later configuration names none of the new switches.
	sed "$real" "up/$(printf %03d "$(jq '.steps | length' up.json)").net" >real.net
	dateline discover real.net --torus-config up/after.torus.conf >/dev/null
	# From z = 0 to 2 the shorter way wrapped; on a ring of four neither way does more.
	jq -e '[.steps[].restart[]] | length == 24 and all(test("_[02]_1$"))' up.json
}

# Paths that swap sides of a ring are in each other's way: one of them leaves it for a while.
@test "a growth where names are odd: quoted, shared ones with GUIDs, new ones nobody has" {
	dateline gen 3 3 1 -q -o f
	sed -i 's/# "S_2_1_0"/# "sw port 3"/; s/# "S_[02]_0_0"/# "twin"/
		s/# "S_2_2_0"/# "S_3_0_0"/; s/# "S_1_1_0"/# "S_3_0_0_new"/' f.net
	dateline grow f.net --torus-config f.torus.conf --dim x -q -o grown >steps
	grep -x '  place "S_3_0_0_new2"' steps
	grep -x '  avoid "sw port 3" port 1 - "S_0_1_0" port 2' steps
	grep -x '  avoid "twin 0x00d1000200000000" port 1 - "twin 0x00d1000000000000" port 2' steps
}

@test "a growth whose path SLs matter to the own ports of switches alone" {
	dateline gen 5 3 1 -q -o f
	dateline grow f.net --torus-config f.torus.conf --dim x -q -o grown >steps
	grep -A9 'configuration' steps | grep -x "  path SLs of 36 pairs of adapters change, and of 252 with a switch's own port"
	grep -x '  restart what runs between them when this step is done; until then it is safe' steps
	fails dateline transition grown/003.dls grown/004.dls >told
	grep "^path SLs of 288 pairs change: with the old ones from and to switches' own ports" told
	fails grep restart told
	dateline transition grown/003.dls grown/004.dls --json | jq -e '.phased.reconnect_hosts == []'
}

@test "no pair is interrupted while a switch or cable goes out of use and comes back" {
	local list order empty

	dateline gen 6 5 1 -q -o f
	dateline route f.net --torus-config f.torus.conf --multicast all -q -o whole.dls
	for list in 'switch S_2_2_0' 'switch S_1_2_0' 'cable S_2_2_0/1'; do
		# What groups keep is in the way of the cable's paths, too.
		[[ $list == cable* ]] && empty=true || empty=false
		echo "$list" >avoid
		dateline route f.net --torus-config f.torus.conf --multicast all --avoid avoid \
			-q -o without.dls
		for order in 'whole without' 'without whole'; do
			dateline transition "${order% *}.dls" "${order#* }.dls" --json >"$T/change"
			jq -e --argjson empty "$empty" '.phased | .safe and .pairs_interrupted == 0 and
				.empties_groups == $empty and any(.steps[]; .kind == "detour")' \
				"$T/change"
		done
	done
}

# Parallel cables of which one is slower, and a slow hop of a ring.
@test "slow cables: named, weighed, and no path SL changes" {
	local mode net

	dateline gen 6 3 1 --parallel 2 -q -o f
	# Of the first two cables out of S_0_0_0 one is slow, of the first hop of row 1 both.
	sed -E 's/^(\[1\]\t"S_1_0_0".*)4xEDR/\12xEDR/; s/^(\[[12]\]\t"S_1_1_0".*)4xEDR/\11xEDR/' \
		f.net >slow.net
	# Of two along x, one, by little.
	sed -E 's/4xEDR/4xFDR/' f.net | sed -E 's/^(\[1\]\t"S.*)4xFDR/\14xFDR10/' >share.net
	dateline discover slow.net --torus-config f.torus.conf --json >found
	jq -e '[.slow[] | [.from.name, .speed, .gbps, .usual_gbps]] | sort == [
		["S_0_0_0", "2xEDR", 50, 100],
		["S_0_1_0", "1xEDR", 25, 100], ["S_0_1_0", "1xEDR", 25, 100]]' found
	for mode in proven any-sl; do
		for net in f slow share; do
			dateline route "$net.net" --torus-config f.torus.conf --mode "$mode" \
				-q -o "$net.dls"
		done
		[[ $(verdict slow.dls credit_loop) == false ]]
		dateline diff f.dls slow.dls --json >changes || true
		jq -e '.path_sls.changed == 0' changes
		paths() { dateline path "$1" --through "$2" --json | jq '.through.flows'; }
		(($(paths share.dls S_0_0_0/1) > 0 && $(paths share.dls S_0_0_0/2) > 0))
		# Of two cables the slow one has a third; what would hold up others is not used.
		(($(paths slow.dls S_0_0_0/1) * 2 == $(paths slow.dls S_0_0_0/2)))
		(($(paths slow.dls S_0_0_0/1) > 0))
		(($(paths f.dls S_0_1_0/1) > 0 && $(paths slow.dls S_0_1_0/1) == 0))
		(($(paths slow.dls S_0_1_0/2) == 0))
	done
}

# propose ARGUMENT...: from the readings $T/now and $T/before onto the list $T/sick.
propose() {
	dateline path f.dls --counters now --earlier before --propose-avoid sick --json "$@" >told.json
}

@test "sick cables: above a limit, once a day, and never too many" {
	local n

	dateline gen 4 4 1 -q -o f
	dateline route f.net --torus-config f.torus.conf -q -o f.dls
	# Each cable between switches has 100 errors at one end, the n-th n recoveries.
	awk -F '[()"]' '/^switchguid=/ { guid = $2 } /^Switch/ { print "Errors for \"" $2 "\"" }
		/^\[/ && guid && $2 ~ /^S/ {
			split($0, port, /[][]/)
			printf "   GUID 0x%s port %d: [SymbolErrorCounter == 100]", guid, port[2]
			printf " [LinkErrorRecoveryCounter == %d]\n", ++n
		}
		/^$/ { guid = "" }' f.net >now
	sed 's/== [0-9]*/== 0/g' now >before
	touch -d '2026-11-23 11:30Z' before
	touch -d '2026-11-23 12:00Z' now
	# Half an hour counts as one: 360 errors are the limit.
	propose --max-recoveries 10000
	[[ $(jq '.fabric.proposed + .fabric.not_proposed | length' told.json) == 0 && ! -e sick ]]
	propose --max-recoveries 5
	[[ $(jq '.fabric.proposed | length' told.json) == 8 ]]
	# One of each ring's four cables, the worst first, and all can go at once.
	jq -e '[.fabric.proposed[].why | sub("^recoveries "; "") | sub(" .*"; "") | tonumber] |
		. == (sort | reverse)' told.json
	jq -e 'all(.fabric.not_proposed[]; .reason == "too much of its ring would be out of use")' told.json
	[[ $(grep -c '^cable ' sick) == 8 ]]
	dateline route f.net --torus-config f.torus.conf --avoid sick -q -o without.dls
	# Put back: not again today, but tomorrow.
	sed -i '/^cable /d' sick
	for n in '2026-11-24 11:59Z' '2026-11-24 12:01Z'; do
		touch -d "$n" now
		propose --max-errors 2 --ring-share 25 --max-recoveries 10000
		jq -c '.fabric.not_proposed[].reason' told.json | sort | uniq -c >"reasons.${n: -3:2}"
	done
	grep -q '8 "proposed less than a day ago"' reasons.59
	fails grep 'less than a day' reasons.01
	# With no share for a ring, what holds the fabric together stays.
	rm sick
	propose --max-errors 2 --ring-share 100
	jq -e 'any(.fabric.not_proposed[]; .reason == "some node cannot be reached without it")' told.json
	dateline route f.net --torus-config f.torus.conf --avoid sick -q -o without.dls
	# A hop without a cable is out of use, too.
	rm sick
	sed -i '/^Switch.*"S_0_2_0"/,/^$/{/^\[1\]/d}; /^Switch.*"S_1_2_0"/,/^$/{/^\[2\]/d}' f.net
	dateline route f.net --torus-config f.torus.conf -q -o f.dls
	propose --max-errors 2
	[[ $(jq '.fabric.proposed | length' told.json) == 7 ]]
	# A cable at an avoided switch is out of use once: the same files again propose no more.
	dateline gen 4 4 1 -q -o f
	dateline route f.net --torus-config f.torus.conf -q -o f.dls
	printf 'GUID 0xd1000%s000000 port 1: [SymbolErrorCounter == %d]\n' 101 9000 201 5000 >now
	touch -d '2026-11-24 12:01Z' now
	echo 'switch S_1_1_0' >sick
	for n in 2 0; do
		propose --max-errors 2 --ring-share 75
		[[ $(jq '.fabric.proposed | length' told.json) == "$n" ]]
	done
	# What is no text is not written over.
	printf 'cable S_0_0_0/1\n\0cable S_1_1_0/1\n' >sick
	cp sick odd
	fails propose
	cmp sick odd
	rm sick
	# Without a time there is no rate.
	touch -r now before
	fails propose
}

# A cable is not blamed for what it counted before a reading that may have missed it.
@test "sick cables: readings that are cut off" {
	local end

	dateline gen 4 4 1 -q -o f
	dateline route f.net --torus-config f.torus.conf -q -o f.dls
	printf 'GUID 0xd1000100000000 port 3: [SymbolErrorCounter == 50000]\n' >now
	printf 'GUID 0xd1000100000000 port 4: [SymbolErrorCounter == 50000]\n' >before
	cp before cut
	for end in '' '## Summary: 30 nodes checked, 1 bad nodes found' \
		$'## Summary: 32 nodes checked, 1 bad nodes found\n##          3 PMA query failures'; do
		printf '\n%s\n' "$end" | cat cut - >before
		touch -d '1 hour ago' before
		propose 2>errors
		[[ $(jq '.fabric.proposed | length' told.json) == 0 ]]
		grep '1 port with errors is not in before' errors
	done
	sed -i '$d' before
	touch -d '1 hour ago' before
	propose
	[[ $(jq '.fabric.proposed | length' told.json) == 1 ]]
	rm sick
	mkdir sick
	fails propose 2>errors
	grep 'cannot read sick: Is a directory' errors
	# More than any counter holds.
	rmdir sick
	printf 'GUID 0xd1000100000000 port 3: [SymbolErrorCounter == 18446744073709551615] [PortRcvErrors == 2]\n' >now
	cp now before
	sed -i 's/== [0-9]*/== 0/g' before
	touch -d '1 hour ago' before
	propose
	[[ $(jq '.fabric.proposed | length' told.json) == 1 ]]
}

# program NAME: a stand-in, whose body is standard input.
program() {
	(echo '#!/bin/sh'; cat) >"$T/bin/$1"
	chmod +x "$T/bin/$1"
}

@test "sick cables: the service that is an example" {
	local script list=$T/opensm/avoid

	mkdir "$T/bin" "$T/opensm" state
	script=$(sed -n "/^ExecStart=/,/'\$/p" "$DL_TOP/conf/dateline-propose.service" |
		sed "s/^ExecStart=.*-ec '//; s/'\$//; s:/etc/opensm:$T/opensm:g")
	run_service() { (cd state && PATH="$T/bin:$PATH" sh -ec "${script//'$$'/'$'}"); }
	program systemctl <<<"echo \"\$@\" >>$T/told"
	program dateline <<<"echo 'cable S_0_0_0/1' >>$list; exit 1"
	# No fabric: the next reading has nothing to be compared with.
	program ibqueryerrors <<<'exit 1'
	fails run_service
	[[ ! -e state/before.txt ]]
	program ibqueryerrors <<<'echo "## Summary: 32 nodes checked, 0 bad nodes found"; exit 1'
	run_service
	[[ -s state/before.txt && ! -e $T/told && ! -e $list ]]
	# Packets that do not arrive, or coordinates that are doubtful, change nothing.
	run_service
	grep -x 'kill --signal=HUP opensm\*.service' "$T/told"
	program dateline <<<'exit 2'
	touch -d '1 hour ago' state/before.txt "$list"
	fails run_service
	[[ $(wc -l <"$T/told") == 1 && state/now.txt -nt state/before.txt ]]
}

# traffic OUT...: a scenario that emulates the change to without.dls and back; while it
# is in force, the cables OUT are unplugged.
traffic() {
	local cable

	echo 'duration_ns: 5000000'
	echo 'traffic: [{pattern: uniform, load: 0.2, stop_ns: 4900000}]'
	echo 'faults:'
	echo '  - {at_ns: 100000, fault: rewrite, snapshot: without.dls, smp_ns: 5000, in_flight: 1}'
	for cable; do
		echo "  - {at_ns: 2300000, fault: link_down, node: ${cable%/*}, port: ${cable#*/}, for_ns: 200000}"
	done
	echo '  - {at_ns: 2700000, fault: rewrite, snapshot: whole.dls, smp_ns: 5000, in_flight: 1}'
}

# emulated NAME: NAME.json by NAME.yaml.  Status 1: packets are lost, to closed entries.
emulated() {
	dateline emulate whole.dls --scenario "$1.yaml" --json -q >"$1.json" || (($? == 1))
}

# What arrives in the emulation $1, what is lost and how far it goes.
arrivals() {
	jq '[.delivered_packets, .dropped_packets, .drops, .in_flight, .packet_hops]' "$1"
}

@test "traffic: unplugging what is out of use costs no packet" {
	local round mode cable lines

	for ((round = 0; round < ${DATELINE_EVENTS:-4}; round++)); do
		mode=$( ((round % 2)) && echo any-sl || echo proven)
		dateline gen 4 4 3 -q -o f
		dateline route f.net --torus-config f.torus.conf --mode "$mode" -q -o whole.dls
		random_list >avoid
		# A storm: all cables of one switch but two.
		((round % 4 != 3)) || printf 'cable S_1_2_1/%d\n' 1 2 3 4 >>avoid
		dateline route f.net --torus-config f.torus.conf --mode "$mode" --avoid avoid \
			-o without.dls 2>told || (($? == 1))
		lines=()
		while read -r cable; do
			grep -qF "cable \"${cable%/*}\" port ${cable#*/} " <(grep 'out of use' told) ||
				continue
			lines+=("$cable")
		done < <(sed -n 's/^cable //p' avoid | sort -u)
		traffic >quiet.yaml
		traffic "${lines[@]}" >unplugged.yaml
		emulated quiet
		emulated unplugged
		same "traffic of round $round" <(arrivals quiet.json) <(arrivals unplugged.json)
		jq -e '.deadlock == false and (.drops // {} | keys - ["no_entry"] == [])' unplugged.json
	done
	# In use, the same cable loses packets.
	traffic S_1_1_0/1 | sed /rewrite/d >used.yaml
	emulated used
	(($(jq .dropped_packets used.json) > 0))
}
