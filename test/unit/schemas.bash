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
# Each packet on VL 0: credit loops.  No path SLs; a LID without entries.
for name in loop unknown lost; do
	cp -r six "$name"
	rm "$name"/dateline-manifest*
done
sed -i 's/^\( *[0-9]* *[0-9]* *:\).*/\1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0/' loop/opensm-sl2vl.dump
rm unknown/dateline-psl* unknown/*torus.dump lost/opensm-lfts.dump
sed -i 's/^0x0005 .*/0x0005 : 255 : no/' lost/opensm.fdbs

for name in whole large services; do
	told coords $name
done
told hops whole
told hops large --compact 5 --objective max
told hops large.net --hosts 'H_[0-3]_0_0_1'
told hops lost
told discover "$examples/torus-5x4x2-services.net"
told discover large.net
told discover hurt.net --torus-config hurt.torus.conf
for name in whole large any loop unknown lost services; do
	told verify $name
	told verify $name --explain
	told verify $name --sl any
	told verify $name --pairs adapters
done
told verify whole --earlier hurt
told transition whole hurt
told transition whole any
told transition loop six
told path whole H_0_0_0_1 H_2_2_0_1
told path large 0,0,0 3,3,1 --return --all-lids
told path whole H_2_2_0_1 --multicast 0xC000
told path whole H_2_2_0_1 H_1_1_0_1 --multicast 0xC000
told path lost H_2_2_0_1 5
told path whole --through S_1_0_0/1
printf '%s\n' H_0_0_0_1 H_1_1_0_1 H_2_2_0_1 >job
told path whole --job job
told path whole --through S_1_0_0/1 --job job
told diff whole whole
told diff whole hurt
told diff whole large
told diff whole any
told diff hurt lost
for scenario in all-to-all faults hotspot qos-mix tornado trace uniform; do
	told emulate six --scenario "$examples/emulate-$scenario.yaml"
done
told emulate loop --scenario "$examples/emulate-uniform.yaml"
told emulate whole --scenario "$examples/emulate-uniform.yaml" --sweep load=0.1:0.5:0.2
told whatif whole.net --switches 1 --samples 3
told whatif six.net --switches 2 --links 3 --samples 8 --transitions
told whatif whole.net --switches 9
for scenario in "$examples"/arbitrate-*.yaml; do
	told arbitrate "$scenario"
done
for scenario in "$examples"/credits-*.yaml "$examples"/chain-*.yaml; do
	told credits "$scenario"
done
told bench arbitrate
for what in route verify emulate latency throughput; do
	told bench $what 3 3 1
done
python3 "$top/test/schemas.py" "$top/conf/schema" json/* || exit 1
jq '. + {stray: 1}' "$(printf "%s\n" json/verify.* | head -n 1)" >verify.stray.json
if python3 "$top/test/schemas.py" "$top/conf/schema" verify.stray.json >out; then
	echo "FAILED: a key without a schema passes"
	exit 1
fi
echo "$runs documents"
