#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Random failures, live: Dateline's classic mode accepts what the built-in
# torus-2QoS engine accepts, and then programs the same forwarding, SL-to-VL
# and multicast tables, entry by entry.
#
# Differences that are meant, as the built-in engine does not do what its
# documentation says:
#
# - Of a torus of two dimensions it refuses switches that are missing side by
#   side along y (rules A1).
# - A switch that has lost its cables in one dimension may find no place in its
#   picture of the torus.  Then it routes the others, instead of reporting a
#   ring cut in two.
# - In a mesh with a switch missing at the edge, it takes for near what would
#   be near if the edges were joined, and turns far from the missing switch or
#   even runs away from it.  Meshes lose cables only here.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

load lib.bash

# X Y Z and the radices' options, one shape a line.
SHAPES='6 5 1
5 5 1
5 4 3
3 3 3
6 6 1
4 4 3
7 4 1
5 3 3 --mesh z
4 5 1 --mesh x'

# fail_switch X Y Z, fail_link X Y Z DIM: into $FAILURES, for dateline gen.
fail_switch() {
	FAILURES+=(--fail-switch "$1,$2,$3")
	DEAD+=("$1,$3")
}

fail_link() {
	FAILURES+=(--fail-link "$1,$2,$3:+$4")
}

# draw X Y Z [--mesh DIMS]: random failures of a torus: up to two switches, as often as not
# side by side, and up to three cables.
draw() {
	local c=($((RANDOM % $1)) $((RANDOM % $2)) $((RANDOM % $3))) n d
	local radix=("$1" "$2" "$3") last=$(($3 > 1 ? 2 : 1))

	FAILURES=() DEAD=()
	n=$((RANDOM % 3))
	[[ ! ${4:-} ]] || n=0
	if ((n)); then
		fail_switch "${c[@]}"
		d=$((RANDOM % 4 ? last : RANDOM % 2))
		c[d]=$(((c[d] + 1) % radix[d]))
		((n == 1)) || fail_switch "${c[@]}"
	fi
	for ((n = RANDOM % 4; n; n--)); do
		d=$((RANDOM % (last + 1)))
		fail_link $((RANDOM % $1)) $((RANDOM % $2)) \
			$((RANDOM % $3)) "${DIMS:d:1}"
	done
}
DIMS=xyz

# run_engine ENGINE: route $T/f.net; $ACCEPTED tells.  Two groups are joined.
run_engine() {
	local engine=$1

	sim_start "$T/f.net"
	sm_conf "$T/$engine" "$engine" torus_config="$T/f.torus.conf" \
		event_plugin_options=mode=classic
	sm_start "$T/$engine"
	wait_log 'SUBNET UP|No routing engine able'
	ACCEPTED=no
	if (($(log_count 'SUBNET UP'))); then
		ACCEPTED=yes
		# shellcheck disable=SC2046 # one argument each
		join_group 0 0 $(hosts)
		# shellcheck disable=SC2046
		join_group 1 8 $(hosts | some 5)
		sm_sweep
	fi
	fabric_down
}

# The failures for which the document wins over the built-in engine.
built_in_is_wrong() {
	((${#DEAD[@]} == 2)) && [[ ${DEAD[0]} == "${DEAD[1]}" ]] &&
		grep -q 'ERR 4E38' "$T/torus-2QoS/osm.log"
}

# routes_all: Dateline's tables deliver everything, and are free of credit loops.
routes_all() {
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" \
		--mode classic -q -o "$T/offline" &&
		dateline verify -q "$T/offline"
}

# built_in_misses_switches: it refuses because it cannot place a switch that
# works; Dateline's tables, which have it, are free of credit loops.
built_in_misses_switches() {
	(($(grep -o 'Missing torus switch at .*' "$T/torus-2QoS/osm.log" |
		sort -u | wc -l) > ${#DEAD[@]})) &&
		grep -q 'ERR 4E38' "$T/torus-2QoS/osm.log" &&
		routes_all
}

built_in_lost_switches() {
	grep -q 'ERR 4E41: .*not in torus fabric' "$T/torus-2QoS/osm.log"
}

compare() {
	local theirs

	rm -rf "$T/torus-2QoS" "$T/dateline"
	run_engine torus-2QoS
	theirs=$ACCEPTED
	run_engine dateline
	if [[ $theirs == no && $ACCEPTED == yes ]] &&
		{ built_in_is_wrong || built_in_misses_switches; }; then
		MEANT=$((MEANT + 1))
		return
	fi
	if [[ $theirs == yes && $ACCEPTED == no ]] && built_in_lost_switches; then
		grep -q 'ERR DL14: .* is cut into' "$T/dateline/osm.log" || return
		LOST=$((LOST + 1))
		return
	fi
	[[ $theirs == "$ACCEPTED" ]] || {
		say "accepted by torus-2QoS: $theirs, by dateline: $ACCEPTED"
		grep -h ERR "$T"/*/osm.log | cut -c 1-150 | head -n 12 >&2
		return 1
	}
	if [[ $ACCEPTED == no ]]; then
		REFUSED=$((REFUSED + 1))
		return
	fi
	if built_in_lost_switches; then
		# What hangs beside its torus is routed by dateline alone.
		routes_all || return
		LOST=$((LOST + 1))
		return
	fi
	SAME=$((SAME + 1))
	same "forwarding tables" <(lfts "$T/torus-2QoS") \
		<(lfts "$T/dateline") &&
		same "SL to VL" <(sl2vl "$T/torus-2QoS") \
			<(sl2vl "$T/dateline") &&
		same "multicast tables" <(mfts "$T/torus-2QoS") \
			<(mfts "$T/dateline")
}

# scenarios COUNT SEED-OFFSET: so many, or more.
scenarios() {
	local n shape seed=$DATELINE_SEED

	SAME=0 REFUSED=0 MEANT=0 LOST=0
	mapfile -t SHAPE <<<"$SHAPES"
	say "DATELINE_SEED=$seed"
	# What both refuse compares no tables: more are drawn until enough do.
	for ((n = 0; n < $1 || (SAME <= $1 / 4 && n < 4 * $1); n++)); do
		RANDOM=$((seed + n * ${#SHAPE[@]} + $2))
		read -ra shape <<<"${SHAPE[n % ${#SHAPE[@]}]}"
		draw "${shape[@]}"
		# Nowhere is a whole seed: another time.
		dateline gen "${shape[@]}" --scramble "$RANDOM" \
			"${FAILURES[@]}" -o "$T/f" 2>"$T/gen.err" || continue
		compare || {
			say "dateline gen ${shape[*]} --scramble ..." \
				"${FAILURES[@]}"
			return 1
		}
	done
	say "$SAME accepted and the same, $REFUSED refused by both," \
		"$MEANT accepted by dateline alone, $LOST where torus-2QoS leaves" \
		"switches out, against the documentation"
	((SAME > $1 / 4))
}

@test "random failures as with the built-in engine, first half" {
	scenarios "${DATELINE_SCENARIOS:-8}" 0
}

@test "random failures as with the built-in engine, second half" {
	scenarios "${DATELINE_SCENARIOS:-8}" 5
}

@test "switches missing side by side along y: the document wins" {
	FAILURES=() DEAD=()
	fail_switch 2 1 0
	fail_switch 2 2 0
	SAME=0 REFUSED=0 MEANT=0 LOST=0
	dateline gen 6 5 1 "${FAILURES[@]}" -o "$T/f"
	compare
	((MEANT == 1))
}

@test "a switch that the built-in engine cannot place: the document wins" {
	FAILURES=() DEAD=()
	fail_switch 3 1 0
	fail_switch 3 1 1
	fail_link 2 0 1 z
	fail_link 1 1 2 x
	SAME=0 REFUSED=0 MEANT=0 LOST=0
	dateline gen 4 4 3 "${FAILURES[@]}" -o "$T/f"
	compare
	((MEANT == 1))
}

@test "switches that cannot do multicast are reported, and the rest goes on" {
	dateline gen 4 4 1 -q -o "$T/f"
	# shellcheck disable=SC2034 # for sim_start
	SIM_FLAGS=(-M 0)
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf"
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts)
	wait_log 'dateline: ERR DL22: switch 0x00d1000101000000 .*group 0xc000'
	wait_log 'SUBNET UP'
	[[ -z $(mfts "$T/a") ]]
	alive "$SM_PID"
}

@test "groups over parallel cables: one cable a hop, spread by group" {
	local group shared
	dateline gen 4 4 1 --parallel 2 --fail-switch 2,2,0 \
		--fail-link '0,0,0:+y*1' -q -o "$T/f"
	fabric_up "$T/a" dateline "$T/f.net" torus_config="$T/f.torus.conf" \
		"event_plugin_options=mode=classic dump_dir=$T/snap"
	for group in 1 2; do
		# shellcheck disable=SC2046
		join_group "$group" 0 $(hosts)
	done
	sm_sweep_and_dump "$T/snap"
	dateline verify --json "$T/snap" >"$T/verify.json"
	grep -Eq '"multicast_groups": *2' "$T/verify.json"
	mfts "$T/snap" >"$T/mfts"
	# 14 cables between 15 switches for each; shared: that of one cable.
	awk '{ for (i = 3; i <= NF; i++) print $1, $i, $2 }' "$T/mfts" |
		sort >"$T/ports"
	cables "$T/a" | awk '$1 == "SW" && $5 == "SW" {
			printf "%s 0x%03X\n", $2, $4 }' | sort >"$T/between"
	join -j 1 <(sed 's/ /+/' "$T/between" | sort) \
		<(sed 's/ /+/' "$T/ports" | sort) >"$T/used"
	(($(wc -l <"$T/used") == 2 * 2 * 14))
	shared=$(cut -d ' ' -f 1 "$T/used" | sort | uniq -d | wc -l)
	((shared <= 2))
}

# drawn GENERATOR-ARGUMENT...: the 6x5 torus' master tree, the rows of nodes.
drawn() {
	dateline gen 6 5 1 "$@" -q -o "$T/f"
	dateline route "$T/f.net" --torus-config "$T/f.torus.conf" \
		--mode classic --show-tree -o "$T/out" 2>"$T/route.err" |
		grep '[+x].*+' | cut -c 8-
}

@test "the document's three trees, as dateline route draws them" {
	local plain='+    +    +    +    +    +'
	[[ $(drawn) == "$plain
$plain
+----+----+----x----+----+
$plain
$plain" ]]
	[[ $(drawn --fail-link 2,2,0:+x) == "$plain
$plain
+----+----+    x----+----+--
$plain
$plain" ]]
	[[ $(drawn --fail-switch 3,2,0) == "$plain
$plain
+    +    +         +    +
+----+----x----+----+----+
$plain" ]]
}

@test "the built-in engine takes the configuration that discover writes" {
	dateline gen 5 4 1 --scramble 3 --fail-switch 3,1,0 \
		--fail-link 1,2,0:+x -q -o "$T/f"
	fabric_up "$T/first" torus-2QoS "$T/f.net" \
		torus_config="$T/f.torus.conf"
	fabric_down
	dateline discover "$T/f.net" --torus-config "$T/f.torus.conf" -q \
		--write-config "$T/found.conf" >"$T/coordinates" || [[ $? == 1 ]]
	grep -q '^torus 5 4 1[^a-zA-Z]*#' "$T/found.conf"
	fabric_up "$T/second" torus-2QoS "$T/f.net" \
		torus_config="$T/found.conf"
	same "forwarding tables" <(lfts "$T/first") <(lfts "$T/second")
	same "SL to VL" <(sl2vl "$T/first") <(sl2vl "$T/second")
}
