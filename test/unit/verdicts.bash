#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The four verdicts of dateline verify, for people, in JSON and as exit status:
# proven free, loop found, loop possible, not judged; each from tables of which
# something is missing, and with --sl.
set -uo pipefail

dateline=$PWD/dateline
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
runs=0 failed=0

# tables NAME DIMENSION... [-- ROUTE-OPTION...]: a directory as OpenSM leaves it.
tables() {
	local name=$1 dims=()

	shift
	while (($#)) && [[ $1 != -- ]]; do
		dims+=("$1")
		shift
	done
	"$dateline" gen "${dims[@]}" -q -o "$name" || exit 1
	"$dateline" route "$name.net" --torus-config "$name.torus.conf" -q \
		--multicast all -o routed "${@:2}" || exit 1
	rm -rf "$name"
	mkdir "$name"
	cp routed/opensm-{subnet.lst,lfts.dump,sl2vl.dump} routed/opensm.mcfdbs \
		routed/dateline-psl.dump "$name"
	rm -rf routed
}

# judged STATUS VERDICT WORDS OPTION... : that status and verdict, and a line of
# words that begins with "credit loops: WORDS".
judged() {
	local status=$1 verdict=$2 words=$3 got

	shift 3
	runs=$((runs + 1))
	"$dateline" verify "$@" --json >out.json 2>err
	got=$?
	"$dateline" verify "$@" >out.txt 2>>err
	((got == $?)) || got="$got, without --json another"
	[[ $got == "$status" && $(jq -r .verdict out.json) == "$verdict" ]] &&
		grep -q "^credit loops: $words" out.txt && return
	echo "FAILED: verify $*: exit status $got, not $status; $(jq .verdict out.json)"
	cat out.txt err
	failed=$((failed + 1))
}

# said JQ-CONDITION: of the last document.
said() {
	runs=$((runs + 1))
	jq -e "$1" out.json >/dev/null && return
	echo "FAILED: not so of the last document: $1"
	failed=$((failed + 1))
}

tables torus 5 5 1
judged 0 'proven free' 'none$' torus
said '.sl_stable == null and .sl_compared == null and .delivered == true'
said '.sls == "path" and .missing == [] and .assumption == null and .cycle == []'
judged 1 'loop found' 'yes, if packets may carry any SL;' torus --sl any
said '.sls == "any" and .credit_loop and (.multicast_sls | length) == 16'
# Each dependency has a packet: its source, its destination, its SL.
said '.cycle | length > 2 and all(.packet | .from.lid > 0 and .lid > 0 and .sl < 16)'
judged 1 'loop found' 'yes, if every packet carries SL 0' torus --sl 0
said '.sls == 0 and all(.cycle[]; .packet.sl == 0 or .packet.lid >= 49152)'
"$dateline" verify torus --sl 0 >plain
runs=$((runs + 1))
grep -qx 'use mode any-sl, or make applications use path SLs (--explain says more)' plain || {
	echo "FAILED: what verify --sl 0 says without --explain: $(cat plain)"
	failed=$((failed + 1))
}
# The way out is the mode first: many applications cannot use path SLs.
"$dateline" verify torus --sl 0 --explain | tr '\n' ' ' >explained
runs=$((runs + 1))
grep -q 'Use mode any-sl, or make applications use path SLs' explained || {
	echo "FAILED: what is advised for --sl 0: $(cat explained)"
	failed=$((failed + 1))
}

# Without path SLs the loop is possible, and no finding.
rm torus/dateline-psl.dump
judged 2 'loop possible' 'possible, if applications may use any SL' torus
said '.credit_loop == false and (.cycle | length > 2) and .delivered'
said '.missing == [{what: "the path SLs in use", command: "dateline snapshot --live --paths all -o DIR"}]'
# By the rule of torus-2QoS they are known.
judged 0 'proven free' 'none, if path SLs follow the rule' torus --torus-config torus.torus.conf
# Some are missing.
"$dateline" route torus.net --torus-config torus.torus.conf -q -o whole
awk 'NR % 3 || /#/' whole/dateline-psl.dump >torus/dateline-psl.dump
judged 2 'loop possible' 'possible, if pairs without' torus
said '.pairs_without_sl > 0 and .missing[0].what == "the path SLs of some pairs"'

# Without SL-to-VL maps nothing can be said of a torus ...
cp whole/dateline-psl.dump torus
mv torus/opensm-sl2vl.dump .
judged 2 'not judged' 'not judged' torus
said '.credit_loop == false and .missing[0].what == "SL-to-VL maps" and .cycle == []'
# ... but no loop on one VL is no loop on several: a line of switches.
tables line 5 1 1 --mesh x
rm line/opensm-sl2vl.dump line/dateline-psl.dump
judged 0 'proven free' 'none, whatever SLs' line
said '.port_pairs_without_map > 0 and (.sl_known | not)'

# All SLs on one VL: a loop, whatever the SLs are.
tables ring 5 1 1
sed -E '/#/!s/: .*/: 0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  0/' ring/opensm-sl2vl.dump >same
cp same ring/opensm-sl2vl.dump
rm ring/dateline-psl.dump
judged 1 'loop found' 'yes' ring
said '.sl_known == false and (.cycle | length > 2)'

# A group that goes round makes a loop by itself: path SLs are no way out.
tables round 5 1 1 -- --mode any-sl
sed -i 's/^0xC000 : /&0x001  0x002  /' round/opensm.mcfdbs
judged 1 'loop found' 'yes' round --sl 0
runs=$((runs + 1))
"$dateline" verify round --sl 0 --explain | tr '\n' ' ' >explained
if grep -qi 'use mode any-sl' out.txt explained || ! grep -q 'multicast tables make this loop' explained; then
	echo "FAILED: what is advised for a group that goes round: $(cat explained)"
	failed=$((failed + 1))
fi

# Nothing to judge is no proof.
"$dateline" gen 1 1 1 --hosts 0 -q -o none
"$dateline" route none.net -q -o none.d
judged 2 'not judged' 'not judged' none.d
said '.pairs == 0 and .delivered == null'

# A switch whose table was not read: what goes on from there is not known.
sed -Ei '/^Unicast lids.*S_2_2_0/,/lids dumped/ s/^(0x[0-9a-f]+) .*/\1 UNREACHABLE/' whole/opensm-lfts.dump
cp whole/opensm-lfts.dump torus
cp opensm-sl2vl.dump torus
judged 1 'not judged' 'not judged' torus
said '.switches_without_entries == 1 and .lost > 0'

# empty WORDS COMMAND...: nothing to look at, and a message with these words.
empty() {
	local words=$1 got

	shift
	runs=$((runs + 1))
	"$dateline" "$@" >out 2>err
	got=$?
	if ((got != 2)) || ! grep -q "$words" err; then
		echo "FAILED: dateline $*: status $got: $(cat err)"
		failed=$((failed + 1))
	fi
}

empty 'no path SLs to compare' verify line --earlier line
empty 'no path SLs to compare' verify line --earlier line --json
"$dateline" gen 3 3 1 -q -o one
# Names and GUIDs of another fabric.
sed -e 's/0xd\([12]\)/0xab\1/g; s/(d\([12]\)/(ab\1/g; s/"\([SH]\)_/"other-\1_/g' one.net >two.net
for name in one two; do
	"$dateline" route "$name.net" -q -o "$name"
done
empty 'no GUID is in both' diff one two
empty 'no GUID is in both' report one --earlier two -o page.html
empty 'the same end port' path one H_0_0_0_1 H_0_0_0_1
empty 'there are no adapters' coords none.net
# Coordinates from the cabling alone are not those of an engine.
rm one/dateline-torus.dump one/dateline-manifest.txt
"$dateline" route one.net --torus-config one.torus.conf -q -o own
runs=$((runs + 1))
"$dateline" diff one own -q >out
if grep -q '^~.*switch' out || ! grep -q '? coordinates: not compared' out; then
	echo "FAILED: coordinates compared: $(cat out)"
	failed=$((failed + 1))
fi

echo "$runs checks, $failed failed"
((runs >= 30 && !failed))
