#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: faults.bash [COMMAND...]
#
# Every command of dateline, with one allocation, one file or the disk failing:
# see drive.c.  DATELINE_FAULT_SITES (24; 0: all) of each kind are tried; all of
# commands behind "all".
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
build=$PWD
drive=$build/test/fault/drive
faults=$build/test/fault/faults.so
sites=${DATELINE_FAULT_SITES:-24}
dateline=$build/dateline

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$dateline" gen 3 3 1 --hosts 2 -q -o f
"$dateline" route f.net --torus-config f.torus.conf -q -o snap
"$dateline" route f.net --mode any-sl -q -o one.dls
"$dateline" gen 4 3 1 --fail-switch 1,1,0 -q -o g
# Large enough for several buffers in one file.
"$dateline" gen 8 8 3 -q -o large
"$dateline" route large.net -q -o large
"$dateline" route g.net -q -o other
cp "$top"/conf/examples/emulate-*.yaml "$top"/conf/examples/emulate-trace.txt \
	"$top"/conf/examples/credits-*.yaml "$top"/conf/examples/arbitrate-*.yaml .
# Short ones: a failure at each of thousands of places.
sed -i 's/^duration_ns:.*/duration_ns: 4000/; s/^warmup_ns:.*/warmup_ns: 1000/' emulate-*.yaml
"$dateline" emulate snap --scenario emulate-uniform.yaml --json |
	sed 's/"xmit_wait_ns": *0/"xmit_wait_ns": 5/' >emulated
printf 'Errors for "S_0_0_0"\n   GUID 0x00d1000000000000 port 1: [SymbolErrorCounter == 3] [PortXmitWait == 7]\n' \
	>counters

commands=(
	"gen 3 3 1 --hosts 2 -o out/g"
	"discover f.net --json"
	"discover g.net"
	"discover f.net --write-config out/conf"
	"coords f.net --json"
	"coords snap --csv"
	"coords f.net --slurm-nodes out/nodes"
	"coords f.net --slurm-topology out/topology"
	"coords f.net --slurm-torus3d out/torus3d"
	"coords f.net --slurm-nodes out/nodes"
	"hops f.net --json"
	"hops f.net --csv"
	"hops f.net --compact 4"
	"hops one.dls --csv"
	"coords one.dls --csv"
	"path one.dls H_0_0_0_1 H_1_1_0_1 --json"
	"route f.net -o out"
	"route f.net --mode any-sl -o out/one.dls"
	"route ../large.net -o out"
	"path ../large S_0_0_0 S_3_3_1"
	"verify snap --json"
	"verify other --explain"
	"verify snap --earlier snap"
	"verify snap --certificate out/certificate"
	"transition snap snap --json"
	"transition snap snap --order any"
	"path snap H_0_0_0_1 H_1_1_0_1 --json"
	"path snap H_0_0_0_1 H_1_1_0_1"
	"path snap --job H_0_0_0_1,H_1_1_0_1,H_2_2_0_1 --json"
	"path snap --through S_0_0_0/1"
	"path snap --counters counters --predicted emulated --json"
	"diff snap snap --json"
	"diff snap snap"
	"diff ../large ../large"
	"emulate snap --scenario emulate-uniform.yaml --json"
	"emulate snap --scenario emulate-uniform.yaml"
	"emulate snap --scenario emulate-uniform.yaml --sweep load=0.1:0.3:0.1 --threads 1 --json"
	"emulate snap --scenario emulate-uniform.yaml --write-counters out/counters"
	"report snap -o out/page.html"
	"report snap -o -"
	"report snap --earlier other -o out/page.html"
	"report snap --emulation emulated --counters counters -o out/page.html"
	"all whatif f.net --switches 1 --samples 2 --transitions --threads 1 --json"
	"whatif f.net --switches 1 --samples 5 --threads 1 --csv"
	"arbitrate arbitrate-priorities.yaml --json"
	"credits credits-chunks.yaml --json"
	"credits credits-chunks.yaml"
)
(($# == 0)) || commands=("$@")

one() {
	local dir status=0

	dir=$(mktemp -d "$PWD/run.XXXXXX")
	cp -r ./[fg].net ./*.dls ./*.conf ./*.yaml ./*.txt snap other emulated counters "$dir"
	cd "$dir" || return
	[[ $1 != "all "* ]] || sites=0
	# shellcheck disable=SC2086
	"$drive" "$faults" "$sites" "$dateline" ${1#all } >said || status=1
	cat said
	cd .. && rm -rf "$dir"
	return "$status"
}

export -f one
export drive faults sites dateline
# shellcheck disable=SC2016 # the shells that xargs starts expand it
printf '%s\0' "${commands[@]}" |
	xargs -0 -P "$(nproc)" -I COMMAND bash -c 'one "$1"' one COMMAND
