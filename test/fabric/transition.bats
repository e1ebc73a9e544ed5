#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# From one set of tables to the next: the tool on pairs of snapshots, and a
# recorder of what OpenSM really sends.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

bats_require_minimum_version 1.5.0

load lib.bash

# ask FILTER OLD NEW [OPTION...]: from the document, by jq; $STATUS.
ask() {
	local filter=$1

	shift
	STATUS=0
	dateline transition "$@" --json >answer.json || STATUS=$?
	jq -c "$filter" answer.json
}

@test "a cable fails: directly unsafe, in steps safe, and nothing is closed" {
	local name

	routed whole 6 5 1
	routed hurt 6 5 1 --fail-link 2,2,0:+x
	run ask '[.format, .direct.safe] + (.phased |
		[.safe, .needs_drain, .entries_closed, .pairs_interrupted, .phases == (.steps | length)])' \
		whole hurt
	[[ $output == '[1,false,true,true,0,0,true]' ]]
	ask . whole hurt >/dev/null
	[[ $STATUS == 0 ]]
	[[ $(jq .direct.at_write answer.json) -le $(jq .direct.writes answer.json) ]]
	[[ $(jq '.direct.forwarding_loop | length' answer.json) -ge 2 ]]
	[[ $(jq '.direct.cycle[0].guid' answer.json) == \"0x* ]]
	[[ $(ask '[.direct.safe, .direct.at_write]' whole hurt --order any) == '[false,null]' ]]
	# On the way back nobody is interrupted: detours take the place of closing, and
	# groups, whose trees do not fit these, are empty meanwhile.
	[[ $(ask '.phased | [.safe, .pairs_interrupted, .interrupted_writes, .empties_groups,
		.writes == ([.steps[].writes] | add)]' hurt whole) == '[true,0,0,true,true]' ]]
	for name in whole hurt; do
		dateline route "$name.net" --torus-config "$name.torus.conf" -o "$name" -q
	done
	[[ $(ask '.phased | [.safe, .pairs_interrupted, .entries_closed, .empties_groups]' \
		hurt whole) == '[true,0,0,false]' ]]
}

@test "groups keep what they have where without it as many pairs are interrupted" {
	routed whole 8 8 8
	dateline route whole --torus-config whole.torus.conf --earlier whole --multicast all \
		--fail S_1_7_1/1 --fail S_1_7_3 -q -o hurt.dls
	[[ $(ask '.phased | [.safe, .pairs_interrupted > 0, .entries_closed < 10,
		.empties_groups, .group_ports_closed < 100]' hurt.dls whole) == \
		'[true,true,true,false,true]' ]]
}

@test "no change, no step" {
	routed whole 5 4 3
	[[ $(ask '[.direct.safe, .direct.writes, .phased.phases, .phased.writes]' \
		whole whole) == '[true,0,0,0]' ]]
}

@test "tables that are unsafe themselves stay so in steps" {
	routed whole 6 5 1
	dateline gen 6 5 1 --fail-switch 3,2,0 -o loop -q
	dateline route loop.net --torus-config loop.torus.conf --mode classic \
		--multicast all -o loop -q
	ask . whole loop >/dev/null
	[[ $STATUS == 1 ]]
	[[ $(jq .phased.safe answer.json) == false ]]
}

@test "pairs whose granted SLs close a loop on the new tables must reconnect" {
	routed whole 6 5 1
	dateline route whole.net --torus-config whole.torus.conf --mode any-sl \
		--multicast all -o any -q
	[[ $(ask '.phased.reconnect_pairs > 0' any whole) == true ]]
	ask . any whole >/dev/null
	[[ $STATUS == 1 ]]
	run -1 dateline transition any whole
	[[ $output == *'safe only if '*' pairs reconnect'*'restart what uses '*' adapters: '* ]]
	run -0 dateline transition any whole --reconnect
	# SL 0 is safe on tables that are so for any SL.
	[[ $(ask '.phased.reconnect_pairs' whole any) == 0 ]]
	ask . whole any >/dev/null
	[[ $STATUS == 0 ]]
}

@test "tried at a desk with --earlier, LIDs, coordinates and path SLs are those of before" {
	routed whole 5 5 1
	# Without LIDs and configuration, in another order: a cable has failed.
	dateline gen 5 5 1 --scramble 3 --fail-link 2,2,0:+x -o hurt -q
	dateline gen 5 5 1 --scramble 3 -o scrambled -q
	dateline route scrambled.net --torus-config scrambled.torus.conf --multicast all \
		-o whole -q
	sed -E 's/ lid [0-9]+ lmc [0-9]+//' hurt.net >desk.net
	dateline route desk.net --earlier whole -o desk -q
	[[ $(ask '.phased.reconnect_pairs' whole desk) == 0 ]]
	jq -e '.phased.safe and .phased.entries_closed == 0' answer.json
	dateline diff whole desk --json >diff.json || true
	jq -e '.path_sls.changed == 0' diff.json
	# The node with the highest LID, 50, goes: tables keep the room for it.
	top=$(sed -nE "/^0x0032 /{s/.*'(.*)'$/\1/p;q}" whole/opensm-lfts.dump)
	dateline route whole --earlier whole --fail "$top" -o less -q
	grep -q '^Unicast lids \[0-50\] ' less/opensm-lfts.dump
	# From the cabling alone, coordinates begin elsewhere.
	dateline route desk.net -o alone -q
	dateline diff whole alone --json >diff.json || true
	jq -e '.path_sls.changed > 0' diff.json
	run -2 dateline route desk.net --earlier desk.net -o none
}

@test "what is no snapshot is refused" {
	routed whole 3 3 1
	run -2 dateline transition whole
	run -2 dateline transition whole nowhere
	run -2 dateline transition whole whole --order sideways
}

@test "two fabrics are no change, and LIDs that moved are counted" {
	routed one 3 3 1
	sed 's|d100|7100|g; s|d200|7200|g' one.net >other.net
	dateline route other.net -o other -q
	run -2 dateline transition one other
	[[ $output == *"no switch of the old snapshot is in the new one"* ]]
	routed moved 3 3 1 --fail-switch 1,1,0
	ask . one moved >/dev/null
	[[ $(jq -r '.warnings[0]' answer.json) == *"LIDs belong to another node"* ]]
}

#
# Live.  What OpenSM sends is recorded and replayed by a checker that knows only
# the fabric and the tables that were there before.
#

# up ENGINE NET [OPTION...]: with one group of all adapters.
up() {
	local engine=$1 net=$2

	shift 2
	export SMPS_RECORD=$T/record
	fabric_up sm "$engine" "$net.net" "torus_config=$T/$net.torus.conf" "$@"
	mapfile -t all < <(hosts sm)
	join_group 0xff12401bffff000000000000000000a1 0 "${all[@]}"
	sm_sweep
	# OperVLs has risen by now.
	sm_sweep
	awk '/^(Switch|Ca)/ { name = /^S/ ? $3 : "" }
		/^\[/ && /"S/ && name && name < $2 {
			split($1, p, "[][]")
			print name "[" p[2] "]"
		}' \
		"$net.net" >cables
	DOWN=()
}

# The built-in engine refuses rings that are cut in two.
MANY=4

# change: a cable fails or, half of the time, one that has failed is repaired.
change() {
	local cable

	if ((${#DOWN[@]} && (RANDOM % 2 || ${#DOWN[@]} == MANY))); then
		cable=${DOWN[0]}
		DOWN=("${DOWN[@]:1}")
		sim_console "ReLink $cable" >/dev/null
		return
	fi
	mapfile -t cables < <(printf '%s\n' "${DOWN[@]}" | grep -vxFf - cables)
	cable=${cables[RANDOM % ${#cables[@]}]}
	sim_console "Unlink $cable" >/dev/null
	DOWN+=("$cable")
}

# replay_changes N: print what the checker says of each.
replay_changes() {
	local i

	snapshot before
	for ((i = 0; i < $1; i++)); do
		: >record
		change
		sm_sweep
		snapshot after
		"$DL_BUILD/test/fabric/replay" before after record || [[ $? == 1 ]]
		rm -rf before
		mv after before
	done
}

# DATELINE_CHANGES=N: more of them.
@test "every state that the switches pass through is safe" {
	RANDOM=$DATELINE_SEED
	dateline gen 6 5 1 --scramble "$DATELINE_SEED" -o torus -q
	up dateline torus event_plugin_options=drain_ms=0
	replay_changes "${DATELINE_CHANGES:-12}" >said
	cat said
	[[ $(grep -cE '^safe [0-9]+ held$' said) == "${DATELINE_CHANGES:-12}" ]]
	(($(log_count 'transition: .*[0-9]+ steps?, [0-9]+ drains?, 0 entries closed, ') > 0))
}

# restart: the subnet manager ends, a cable changes, and another one starts.
restart() {
	sm_stop
	change
	: >record
	sm_start sm
	wait_log 'SUBNET UP'
	sm_sweep
}

# DATELINE_RESTARTS=N: more of them.
@test "a start begins with the tables that the switches hold" {
	local i switch

	RANDOM=$DATELINE_SEED
	dateline gen 5 4 1 --scramble "$DATELINE_SEED" -o torus -q
	up dateline torus event_plugin_options=drain_ms=0
	[[ $(log_count 'transition: from switches that held nothing: 1 step') == 1 ]]
	# Nothing has changed: no step, no entry written again.
	sm_stop
	: >record
	sm_start sm
	wait_log 'SUBNET UP'
	run -1 log_count 'transition: '
	run -1 grep '^set [^ ]* [^ ]* 19 ' record
	# A switch holds branches that nobody knows of, behind empty blocks.
	sm_stop
	: >record
	switch=$(sed -n 's/switchguid=.*(\(.*\))/\1/p' torus.net | head -n 1)
	printf "$switch 1b %s 0 fffe\n" 14 10000014 20000014 >lies
	SMPS_LIES=$T/lies sm_start sm
	wait_log 'SUBNET UP'
	log_count 'transition: .* multicast closed as well'
	grep "^set [^ ]* $switch 1b 14 0000" record
	for ((i = 0; i < ${DATELINE_RESTARTS:-3}; i++)); do
		snapshot before
		restart
		snapshot after
		"$DL_BUILD/test/fabric/replay" before after record >>said || [[ $? == 1 ]]
		# Some changes are safe written at once.
		log_count 'transition: (from the tables that the switches held; .*[0-9]+ steps?|any mixture is safe: 1 step)'
		rm -rf before after
	done
	cat said
	[[ $(grep -cE '^safe [0-9]+ held$' said) == "${DATELINE_RESTARTS:-3}" ]]
}

# to_any_sl TRANSITIONS SEED: another start, in the mode any-sl, and what the checker says.
to_any_sl() {
	dateline gen 4 3 1 --scramble "$2" -o torus -q
	up dateline torus event_plugin_options=drain_ms=0
	snapshot before
	sm_stop
	: >record
	sm_conf sm dateline "torus_config=$T/torus.torus.conf" \
		"event_plugin_options=mode=any-sl drain_ms=0 transitions=$1"
	sm_start sm
	wait_log 'SUBNET UP'
	sm_sweep
	snapshot after
	"$DL_BUILD/test/fabric/replay" before after record || [[ $? == 1 ]]
}

@test "SL-to-VL maps change while entries are closed" {
	to_any_sl proven "$DATELINE_SEED" >said
	cat said
	[[ $(<said) =~ ^safe\ [0-9]+\ held$ ]]
	[[ $(log_count 'transition: .* 3 steps, ') == 1 ]]
}

@test "and with transitions=none the checker finds unsafe states" {
	to_any_sl none 7 >said
	cat said
	[[ $(<said) == unsafe* ]]
}

# confirmed: no port of a switch was told to be active before all SL-to-VL maps of
# switches were answered; and some of them were sent again.
confirmed() {
	awk '$1 == "set" { key = $3 " " $5 }
		$1 == "set" && $4 == "17" && $3 ~ /^d1/ {
			sent[$2] = key
			again += key in open
			open[key] = 1
		}
		$1 == "set" && $4 == "15" && substr($6, 66, 1) == 4 {
			for (key in open)
				early += open[key]
		}
		$1 == "done" && $2 in sent { open[sent[$2]] = 0 }
		END { exit !(again && !early) }' record
}

@test "a start where a switch does not tell what it holds: not proven, and routed" {
	local attribute

	RANDOM=$DATELINE_SEED
	dateline gen 5 4 1 -o torus -q
	# Answers to some of the first SL-to-VL maps get lost.
	SMPS_MUTE='17 100 110' up dateline torus event_plugin_options=drain_ms=0
	confirmed
	# A block of forwarding entries, behind one with a mark for each switch; a map.
	for attribute in '19 25 26' '17 5 6'; do
		SMPS_MUTE=$attribute restart
		[[ $(log_count 'transition: not proven this one time') == 1 ]]
		[[ $(log_count 'not proven this one time, .*: 1 switch does not answer \(S_[0-9_]+\)') == 1 ]]
		snapshot after --paths none
		[[ $(verdict after delivered --torus-config torus.torus.conf) == true ]]
		[[ $(jq .credit_loop verdict) == false ]]
		rm -rf after
	done
}

@test "the checker finds the unsafe states of transitions=none" {
	RANDOM=7
	dateline gen 6 5 1 -o torus -q
	up dateline torus event_plugin_options=transitions=none
	replay_changes 6 >said
	cat said
	(($(grep -c '^unsafe' said) > 0))
}

@test "and those of the built-in engine" {
	RANDOM=7
	dateline gen 6 5 1 -o torus -q
	up torus-2QoS torus
	MANY=1
	replay_changes 6 >said
	cat said
	(($(grep -c '^unsafe' said) > 0))
}

# judge DIR KEY: of tables that no subnet manager stands behind any more, by the
# SLs that the coordinates give.
judge() {
	snapshot "$1" --paths none || { cat "$T/snapshot.err" >&2; return 1; }
	verdict "$1" "$2" --torus-config "$T/torus.torus.conf"
}

# DATELINE_KILLS=N: more of them.
@test "OpenSM dies at any moment: the switches hold a safe set, and the next one routes" {
	local i

	RANDOM=$DATELINE_SEED
	dateline gen 5 4 1 --scramble "$DATELINE_SEED" -o torus -q
	up dateline torus event_plugin_options=drain_ms=50
	for ((i = 0; i < ${DATELINE_KILLS:-6}; i++)); do
		change
		kill -HUP "$SM_PID"
		sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
		((RANDOM % 2)) || sleep 0.1
		kill -KILL "$SM_PID"
		wait "$SM_PID" || true
		[[ $(judge held credit_loop) == false ]]
		sm_start sm
		wait_log 'SUBNET UP'
		sm_sweep
		[[ $(judge after delivered) == true ]]
		[[ $(jq .credit_loop verdict) == false ]]
		rm -rf held after
	done
}

# mutate DIR CERTIFICATE SEED ROUNDS: one number of one of them is another, and the
# checker says so; then it is put back.
mutate() {
	python3 - "$DATELINE_BUILD/contrib/check/dateline-check" "$@" <<'END'
import random, re, subprocess, sys
check, directory, certificate, seed, rounds = sys.argv[1:]
random.seed(seed)
cables = open(f"{directory}/opensm-subnet.lst").read()
used = {(int(g, 16), int(n, 16)) for g, n in re.findall(r"NodeGUID:(\w+) .*?PN:(\w+)", cables)}
kinds = [("lft", f"{directory}/opensm-lfts.dump", r"0x\w+ (\d+) "),
         ("map", f"{directory}/dateline-slvl.dump", r"0x\w+ \d+ \d+ 0x(\d)"),
         ("sl", f"{directory}/dateline-psl.dump", r"0x\w+ \d+ (\d)"),
         ("mft", f"{directory}/opensm.mcfdbs", r"0xC\w+ : 0x(\w+)"),
         ("certificate", certificate, r"rank 0x\w+ \d+ \d (\d+)")]
# Maps of ports without a cable are no part of the tables that are certified.
def counts(kind, line):
    word = line.split()
    return kind != "map" or word[1] == "0" or (int(word[0], 16), int(word[1])) in used
for _ in range(int(rounds)):
    kind, path, pattern = random.choice(kinds)
    whole = open(path).read()
    lines = whole.split("\n")
    at = random.choice([i for i, l in enumerate(lines) if re.match(pattern, l) and counts(kind, l)])
    found = re.match(pattern, lines[at])
    value = found[1]
    while value == found[1]:
        value = str(random.randrange(8)).zfill(len(found[1]))
    lines[at] = lines[at][:found.start(1)] + value + lines[at][found.end(1):]
    open(path, "w").write("\n".join(lines))
    why = subprocess.run([check, directory, certificate], stdout=subprocess.PIPE, text=True).stdout.strip()
    open(path, "w").write(whole)
    print(f"{kind} {at} {lines[at]}: {why}")
END
}

# DATELINE_MUTATIONS=N: more of them.
@test "the checker accepts certificates, and none for other tables" {
	[[ -x $DATELINE_BUILD/contrib/check/dateline-check ]] || skip "no OCaml"
	routed torus 4 3 2
	dateline verify torus --certificate torus.cert -q >/dev/null
	[[ $("$DATELINE_BUILD/contrib/check/dateline-check" torus torus.cert) == accepted ]]
	mutate torus torus.cert "$DATELINE_SEED" "${DATELINE_MUTATIONS:-200}" >mutations
	grep -v ': rejected: ' mutations || true
	[[ $(grep -c ': rejected: ' mutations) == "${DATELINE_MUTATIONS:-200}" ]]
	[[ $("$DATELINE_BUILD/contrib/check/dateline-check" torus torus.cert) == accepted ]]
	# A group is one with any multicast LID.
	rm torus/dateline-manifest.txt
	sed -i 's/^0xC000/0xFFFE/' torus/opensm.mcfdbs
	dateline verify torus --certificate torus.cert -q >/dev/null
	[[ $("$DATELINE_BUILD/contrib/check/dateline-check" torus torus.cert) == accepted ]]
	sed -i '0,/^0xFFFE/s/^0xFFFE.*/0xFFFE : 0x001/' torus/opensm.mcfdbs
	run -1 "$DATELINE_BUILD/contrib/check/dateline-check" --no-checksums torus torus.cert
	[[ $output == rejected:* ]]
	# There is none where there is a loop.
	dateline gen 6 5 1 --fail-switch 3,2,0 -o loop -q
	dateline route loop.net --torus-config loop.torus.conf --mode classic \
		--multicast all -o loop -q
	run -1 dateline verify loop --certificate loop.cert
	[[ ! -e loop.cert ]]
}

@test "the checker follows packets along the plan, and rejects it without its drains" {
	local check=$DATELINE_BUILD/contrib/check/dateline-check pair
	[[ -x $check ]] || skip "no OCaml"
	routed whole 6 5 1
	routed hurt 6 5 1 --fail-link 2,2,0:+x
	for pair in "whole hurt" "hurt whole"; do
		# shellcheck disable=SC2086 # two words
		dateline transition $pair --plan plan -q >/dev/null
		[[ $(head -n 1 plan) == 'dateline-plan 1' ]]
		# shellcheck disable=SC2086
		[[ $("$check" --change=plan $pair) == accepted ]]
		sed '/^drain$/d' plan >hasty
		# shellcheck disable=SC2086
		run -1 "$check" --change=hasty $pair
		sed 's/^drain$/barrier/' plan >hasty
		# shellcheck disable=SC2086
		run -1 "$check" --change=hasty $pair
		# An entry less, and it does not end with the new tables.
		sed '0,/^write/{/^write/d}' plan >short
		# shellcheck disable=SC2086
		run -1 "$check" --change=short $pair
	done
}

# cpu COMMAND...: its CPU time, in milliseconds.
cpu() {
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(round(1000 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime))' "$@"
}

# Nearly all LIDs move, at few switches each: all else is judged once, not at each barrier.
# Judged LID by LID and stage by stage it takes ten times as long as tables that stay.
@test "the checker judges again only what a change touches" {
	local check=$DATELINE_BUILD/contrib/check/dateline-check pair once
	[[ -x $check ]] || skip "no OCaml"
	routed whole 8 8 8
	routed hurt 8 8 8 --fail-link 4,2,1:+x
	once=$(cpu "$check" whole)
	for pair in "whole hurt" "hurt whole"; do
		# shellcheck disable=SC2086 # two words
		dateline transition $pair --plan plan -q >/dev/null
		(($(grep '^write' plan | cut -d ' ' -f 3 | sort -u | wc -l) > 800))
		# shellcheck disable=SC2086
		(($(cpu "$check" --change=plan $pair) < 5 * once))
	done
}

# Packets from (0,1) to (1,4) are under way when (0,1) fails, on the VL beyond the
# dateline: there they hold three cables of a column's ring.  Pairs of the new tables use
# this VL on the others.  Neither set has a loop, nor has the change without those packets.
@test "the checker follows packets that have crossed a cable before it failed" {
	local check=$DATELINE_BUILD/contrib/check/dateline-check

	[[ -x $check ]] || skip "no OCaml"
	routed old 3 6 1
	dateline route old --torus-config old.torus.conf --psl --fail S_0_1_0 -o new -q
	dateline transition old new --plan plan -q >/dev/null
	[[ $("$check" --change=plan old new) == accepted ]]
	sed -i 's/^\(0x00d2000103000100 33\) 0$/\1 2/; s/^\(0x00d2000100000100 15\) 0$/\1 2/' \
		new/dateline-psl.dump
	[[ $("$check" new) == accepted ]]
	[[ $("$check" --change=plan old new) == accepted ]]
	sed -i 's/^\(0x00d2000001000100 27\) 0$/\1 2/' old/dateline-psl.dump
	[[ $("$check" old) == accepted ]]
	run -1 "$check" --change="$PWD/plan" old new
	[[ $output == 'rejected: period 1: packets can block each other in a circle' ]]
}
