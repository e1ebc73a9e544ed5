#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What commands print with --json, and the document of the report's page, are as
# the schemas of the package say.  The tests of the fabric check theirs, too.
set -uo pipefail

dateline=$PWD/dateline
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
examples=$top/conf/examples
python3 -c 'import jsonschema' 2>/dev/null || {
	echo "skipped: python3-jsonschema is missing"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir json
runs=0

# told COMMAND...: what it prints, kept by the command's name.
told() {
	runs=$((runs + 1))
	"$dateline" "$@" --json >"json/$1.$runs.json" 2>err </dev/null
	[[ -s json/$1.$runs.json ]] && return
	echo "FAILED: no document: dateline $*"
	head -n 3 err
	exit 1
}

# emulated NAME SNAPSHOT SCENARIO [OPTION...]: an emulation, kept by this name.
emulated() {
	local name=$1 snapshot=$2 scenario=$3

	shift 3
	told emulate "$snapshot" --scenario "$scenario" "$@"
	mv "json/emulate.$runs.json" "json/emulate.$name.json"
}

# shown SNAPSHOT [OPTION...]: the document in the report's page.
shown() {
	runs=$((runs + 1))
	"$dateline" report "$@" -q -o page.html &&
		sed -n 's|.* id="data">\(.*\)</script>$|\1|p' page.html >"json/report.$runs.json"
}

# routed NAME X Y Z [OPTION...]
routed() {
	local name=$1

	shift
	"$dateline" gen "$@" -q -o "$name" &&
		"$dateline" route "$name.net" --torus-config "$name.torus.conf" \
			--multicast all -q -o "$name"
}

routed whole 3 3 1
routed hurt 3 3 1 --fail-link 1,1,0:+x
routed large 4 4 2 --hosts 2 --fail-link 1,1,0:+x --fail-switch 2,2,1
routed six 6 5 1
"$dateline" route whole.net -q --mode any-sl -o any
"$dateline" route "$examples/torus-5x4x2-services.net" -q -o services
routed broken 6 5 1 --fail-link 2,2,0:+x
"$dateline" gen 6 5 1 --fail-switch 3,2,0 -q -o old
"$dateline" route old.net --torus-config old.torus.conf --mode classic --multicast all -q -o old
printf '%s\n' '0xd2000000000100 "host"' '0xd1000001000000 "leaf"' >names
"$dateline" gen 3 3 1 --speed 4xHDR -q -o fast
"$dateline" route fast.net --node-name-map names -q -o fast
# With one VL, a torus cannot be routed.
sed 's/4xEDR/& v=1/' whole.net >thin.net
# Two plugs in each other's port; a switch that may sit where one is missing.
"$dateline" gen 5 5 5 --fail-link 3,3,3:+x -q -o wrong
awk 'BEGIN { RS = ""; ORS = "\n\n" }
	/Switch.*"S_0_0_0"/ { sub(/"S_1_0_0"\[2\]/, "\"S_3_2_2\"[2]") }
	/Switch.*"S_3_2_2"/ { sub(/"S_2_2_2"\[1\]/, "\"S_0_0_0\"[1]") }
	/Switch.*"S_2_2_2"/ { sub(/"S_3_2_2"\[2\]/, "\"S_1_0_0\"[2]") }
	/Switch.*"S_1_0_0"/ { sub(/"S_0_0_0"\[1\]/, "\"S_2_2_2\"[1]") }
	{ print }' wrong.net >plugs.net
"$dateline" gen 5 5 5 --scramble 1 --fail-link 2,2,2:+y --fail-link 2,1,2:+y \
	--fail-link 2,2,2:+z --fail-link 2,2,1:+z -q -o moved
printf '%s\n' 'Errors for "S_1_0_0"' \
	'   GUID 0xd1000100000000 port 1: [SymbolErrorCounter == 5] [PortXmitWait == 30] [PortXmitData == 7]' \
	'Errors for "S_2_0_0"' \
	'   GUID 0xd1000200000000 port 3: [LinkDownedCounter == 2] [PortXmitWait == 10] [PortRcvSwitchRelayErrors == 1]' >counted
# Each packet on VL 0: credit loops; or no other VL is served.  No path SLs; a LID without entries.
for name in loop unknown lost starved; do
	cp -r six "$name"
	rm "$name"/dateline-manifest*
done
sed -i 's/^\( *[0-9]* *[0-9]* *:\).*/\1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0/' loop/opensm-sl2vl.dump
sed -i 's/ high .*/ high 0:64 low 0:64/' starved/dateline-vlarb.dump
rm unknown/dateline-psl* unknown/*torus.dump lost/opensm-lfts.dump
sed -i 's/^0x0005 .*/0x0005 : 255 : no/' lost/opensm.fdbs

for name in whole large services; do
	told coords $name
done
told hops whole
told hops large --compact 5
told hops large.net --hosts 'H_[0-3]_0_0_1'
told hops lost
told discover "$examples/torus-5x4x2-services.net"
told discover large.net
told discover hurt.net --torus-config hurt.torus.conf
told discover old.net --torus-config old.torus.conf
told discover plugs.net
told discover moved.net --torus-config moved.torus.conf
told discover moved.net --plan plugs.net
told discover large.net --plan <(sed s/d100000000/e41d00000/ large.net)
told discover <(sed '/\[1\]/s/4xEDR/1xEDR/' large.net) --plan large.net
for name in whole large any loop unknown lost starved services; do
	told verify $name
	told verify $name --explain
	told verify $name --sl any
	told verify $name --pairs adapters
done
told verify whole --earlier hurt
told transition whole hurt
told transition whole any
told transition loop six
told transition six broken
told path whole H_0_0_0_1 H_2_2_0_1
told path whole H_0_0_0_1 H_2_2_0_1 --counters counted
told path whole --counters counted
sed 's/== 5/== 4/' counted >earlier
touch -d '1 hour ago' earlier
told path whole --counters counted --earlier earlier
for name in proposed listed; do
	told path whole --counters counted --earlier earlier --max-errors 0 --max-downs 0 \
		--max-recoveries 0 --propose-avoid sick
done
told path large 0,0,0 3,3,1 --return --all-lids
told path whole H_2_2_0_1 --multicast 0xC000
told path whole H_2_2_0_1 H_1_1_0_1 --multicast 0xC000
told path lost H_2_2_0_1 5
told path whole --through S_1_0_0/1
printf '%s\n' H_0_0_0_1 H_1_1_0_1 H_2_2_0_1 >job
told path whole --job job
told path whole --job H_1_0_0_1,H_2_1_0_1 --counters counted
printf '7 %s\n' H_1_0_0_1,H_2_1_0_1 >queue
told path whole --jobs queue --counters counted
told path whole --jobs queue --through S_1_0_0/1
told path whole --through S_1_0_0/1 --counters counted
told path whole --through S_1_0_0/1 --job job
told diff whole whole
told diff whole hurt
told diff whole large
told diff whole any
told diff hurt lost
told diff large whole
told diff whole fast
for scenario in all-to-all faults hotspot qos-mix tornado trace uniform; do
	emulated $scenario six "$examples/emulate-$scenario.yaml"
done
told emulate loop --scenario "$examples/emulate-uniform.yaml"
printf '%s\n' 'traffic:' '  - {pattern: shift, by: 1, load: 0.1, management: true}' >management.yaml
emulated management whole management.yaml
emulated dead old "$examples/emulate-deadlock-6x5.yaml"
emulated starved starved "$examples/emulate-uniform.yaml"
emulated sweep whole "$examples/emulate-uniform.yaml" --sweep load=0.1:0.5:0.2
echo 'pairs: true' | cat "$examples/emulate-uniform.yaml" - >pairs.yaml
emulated pairs whole pairs.yaml
told emulate whole --program allreduce-ring:64K
echo '{faults: [{at_ns: 1000, fault: lose_fcp, node: H_0_0_0_1, port: 1, share: 1}]}' >silent.yaml
emulated silent whole silent.yaml --program allreduce-ring:64K
(echo 'congestion: {threshold: 15, marking_rate: 0}' && cat "$examples/emulate-uniform.yaml") >congested.yaml
emulated congested whole congested.yaml
(echo 'retries: {}' && cat "$examples/emulate-faults.yaml") >retried.yaml
emulated retried six retried.yaml
cat >watched.yaml <<'END'
duration_ns: 20000
record: steps.csv
watch: [{from: H_0_0_0_1, to: H_2_2_0_1, packets: 2}]
faults: [{fault: link_down, node: H_2_2_0_1, port: 1, at_ns: 6000}]
traffic: [{pattern: uniform, load: 0.5}]
END
emulated watched whole watched.yaml
told whatif whole.net --switches 1 --samples 3
told whatif six.net --switches 2 --links 3 --samples 8 --transitions
told whatif whole.net --switches 9
told whatif thin.net --links 1 --samples 2
cat >few.yaml <<'END'
duration_ns: 20000
traffic:
  - {pattern: uniform, load: 0.9, bytes: 2048}
END
told whatif six --fail S_3_3_0/1
cat >incast.yaml <<'END'
duration_ns: 3000000
traffic:
  - {pattern: incast, targets: [0], window: 1, count: 4, bytes: 8192}
END
told whatif six --fail H_3_3_0_1 --scenario incast.yaml
# Nothing congests a single row less.
told whatif six.net --fail S_2_2_0 --fail S_3_3_0 --fail H_0_0_0_1 --scenario few.yaml
told grow whole.net -o grown --dim y
told grow six.net -o grown --dim x --by -1
# Every pair that is interrupted is named, and the first line says if there are any.
if ! grep -q '; pairs are interrupted for a moment in 1 of them$' grown/steps.txt ||
	! jq -e 'all(.steps[]; .pairs_interrupted == (.interrupted | length)) and
		([.steps[] | select(.interrupted != []).configuration] == [true])' \
		"json/grow.$runs.json" >/dev/null; then
	echo "FAILED: grow names interrupted pairs"
	exit 1
fi
for scenario in "$examples"/arbitrate-*.yaml; do
	told arbitrate "$scenario"
done
for scenario in "$examples"/credits-*.yaml "$examples"/chain-*.yaml; do
	told credits "$scenario"
done
told bench arbitrate
for what in route verify emulate throughput; do
	told bench $what 3 3 1
done
for name in whole large any loop unknown lost services; do
	shown $name
done
shown whole --emulation json/emulate.pairs.json --counters counted
shown whole --emulation json/emulate.silent.json
shown whole --emulation json/emulate.congested.json
shown six --emulation json/emulate.retried.json
shown whole --emulation json/emulate.watched.json
shown whole --emulation json/emulate.management.json
shown hurt --earlier whole
shown fast --earlier large --earlier whole --earlier hurt
# Of several, the newest is compared, and of those of one second the one named last.
shown fast --earlier hurt
shown large --earlier whole --earlier fast
shown fast --earlier large
shown broken --earlier six
shown large --earlier whole
shown old --emulation json/emulate.dead.json
shown starved --emulation json/emulate.starved.json
shown six --emulation json/emulate.faults.json
shown whole --emulation json/emulate.sweep.json
python3 "$top/test/schemas.py" "$top/conf/schema" --whole json/* || exit 1
jq '. + {stray: 1}' "$(printf "%s\n" json/verify.* | head -n 1)" >verify.stray.json
if python3 "$top/test/schemas.py" "$top/conf/schema" verify.stray.json >out; then
	echo "FAILED: a key without a schema passes"
	exit 1
fi
echo "$runs documents"
