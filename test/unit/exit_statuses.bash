#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Every subcommand: exit status 3 where output cannot be written, with the
# cause; 2 where input cannot be read, or there is nothing in it to look at.
set -uo pipefail

dateline=$PWD/dateline
examples=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../conf/examples" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
runs=0 failed=0

# ends STATUS MESSAGE STDOUT COMMAND...: with that status, and a message that
# holds MESSAGE, its standard output going to STDOUT ("-": closed).
ends() {
	local want=$1 message=$2 out=$3 got

	shift 3
	runs=$((runs + 1))
	if [[ $out == - ]]; then
		timeout 60 "$dateline" "$@" >&- 2>err </dev/null
	else
		timeout 60 "$dateline" "$@" >"$out" 2>err </dev/null
	fi
	got=$?
	((got == want)) && grep -q "$message" err && return
	echo "FAILED: dateline $* >$out: exit status $got, not $want with \"$message\""
	head -n 3 err
	failed=$((failed + 1))
}

"$dateline" gen 3 3 1 -q -o t
"$dateline" route t.net --torus-config t.torus.conf -q -o t
"$dateline" route t.net --torus-config t.torus.conf -q --multicast all -o u
"$dateline" emulate t --scenario "$examples/emulate-uniform.yaml" --json >emulation.json 2>/dev/null
: >empty
mkdir directory

# What each prints, at once and as JSON.
while read -r command; do
	# shellcheck disable=SC2086 # several words
	set -- $command
	ends 3 'No space left on device' /dev/full "$@"
	ends 3 'cannot print the result' - "$@"
done <<END
--help
verify --help
discover t.net
discover t.net --json
discover t.net --write-config -
coords t.net
coords t.net --csv
coords t.net --json
hops t.net
hops t --csv
hops t --json
verify t
verify t --json
verify t --explain
transition t u
transition t u --json
path t H_0_0_0_1 H_2_2_0_1
path t H_0_0_0_1 H_2_2_0_1 --json
diff t u
diff t t
diff t u --json
emulate t --scenario $examples/emulate-uniform.yaml
emulate t --scenario $examples/emulate-uniform.yaml --json
emulate t --scenario $examples/emulate-uniform.yaml --sweep load=0.1:0.2:0.1 --json
report t -o -
whatif t.net --switches 1 --samples 2
whatif t.net --switches 1 --samples 2 --json
whatif t.net --fail S_0_0_0/1 --scenario $examples/emulate-uniform.yaml
route t.net -o t2 --show-tree
arbitrate $examples/arbitrate-figure-25-10.yaml
arbitrate $examples/arbitrate-figure-25-10.yaml --json
credits $examples/credits-loss.yaml
credits $examples/credits-loss.yaml --json
bench route 2 2 2
bench throughput 2 2 1
bench arbitrate --json
END

# What each writes: onto a full device, into a directory that is not there, in
# the place of a directory, into a directory where none can be.
for to in /dev/full missing/x directory; do
	while read -r command; do
		# shellcheck disable=SC2086 # several words
		ends 3 'cannot \(create\|write\)' /dev/null $command "$to"
	done <<-END
		discover t.net --write-config
		coords t.net --slurm-topology
		coords t.net --slurm-nodes
		report t -o
		emulate t --scenario $examples/emulate-uniform.yaml --write-counters
	END
done
ends 3 'cannot create' /dev/null gen 2 2 2 -o missing/x
mkdir x.net
ends 3 'cannot' /dev/null gen 2 2 2 -o x
ends 3 'cannot write' /dev/null route t.net -o /proc/x
ends 3 'cannot create' /dev/null route t.net -o /proc/x/y
# What is to be avoided: used, not there, the only way, damaged.
echo 'cable S_0_0_0/1' >avoid
ends 0 'out of use' /dev/null route t.net -o v.dls --avoid avoid
echo 'switch S_9_9_9' >avoid
ends 1 'not in the fabric' /dev/null route t.net -o v.dls --avoid avoid
echo 'switch H_1_0_0_1' >avoid
ends 1 'this is an adapter.*name its switch, "S_1_0_0"' /dev/null route t.net -o v.dls --avoid avoid
# Two switches of one description: neither is taken for the other.
sed '/^Switch.*"S_1_1_0"/s/# "S_1_1_0"/# "S_0_0_0"/' t.net >same-names.net
echo 'switch S_0_0_0' >avoid
ends 1 'stays in use: several nodes have this name' /dev/null route same-names.net -o v.dls --avoid avoid
echo 'cable 0x00d1000000000000/1' >avoid
ends 0 'out of use' /dev/null route same-names.net -o v.dls --avoid avoid
echo 'cable H_0_0_0_1/1' >avoid
ends 1 'the only way to 1 adapter, such as "H_0_0_0_1"' /dev/null route t.net -o v.dls --avoid avoid
echo 'cable S_0_0_0' >avoid
ends 2 'avoid:1: expected NAME/PORT' /dev/null route t.net -o v.dls --avoid avoid
ends 2 'cannot open missing' /dev/null route t.net -o v.dls --avoid missing
ends 2 'cannot read /tmp: Is a directory' /dev/null route t.net -o v.dls --avoid /tmp
ends 2 'cannot open missing' /dev/null route t.net -o v.dls --opensm-conf missing
echo 'event_plugin_options mode=fast' >opensm.conf
ends 2 '"mode=fast": expected' /dev/null route t.net -o v.dls --opensm-conf opensm.conf
echo 'qos_swe_high_limit 256' >opensm.conf
ends 2 'opensm.conf:1: "256": expected a high limit' /dev/null route t.net -o v.dls --opensm-conf opensm.conf
ends 2 'proven and any-SL' /dev/null route t.net -o v.dls --avoid avoid --mode classic
# A switch is missing that thirty cables led to from each side: a long list of ports.
"$dateline" gen 5 5 --parallel 30 --fail-switch 2,2,0 -q -o many
ends 1 'missing: 1 switch' /dev/null discover many.net
# A port to the running fabric, where nothing is read from it.
while read -r command; do
	# shellcheck disable=SC2086 # several words
	ends 2 'C goes with --live' /dev/null $command -C mlx5_0 -P 1
	# shellcheck disable=SC2086
	ends 2 'P goes with --live' /dev/null $command -P 1
done <<-END
	discover t.net
	coords t.net
	hops t
	route t.net -o v.dls
	verify t
	path t H_0_0_0_1 H_2_2_0_1
	emulate t --scenario $examples/emulate-uniform.yaml
	report t -o report.html
	whatif t.net --switches 1
	grow t.net -o grown
	snapshot t -o v.dls
END
ends 3 'none: ' /dev/null path t --counters live -C none -P 1
ends 3 'none: ' /dev/null report t --counters live -C none -o report.html
# Growth.
"$dateline" gen 7 4 1 -q -o long
"$dateline" gen 5 4 3 -q -o g
for run in '0 g y proven' '0 g x proven' '0 g x any-sl' '1 long x proven'; do
	read -r want net dim mode <<<"$run"
	"$dateline" grow "$net.net" --torus-config "$net.torus.conf" --dim "$dim" --mode "$mode" \
		-q -o grown >/dev/null
	[[ $? == "$want" ]] || { echo "FAILED: grow $run"; failed=$((failed + 1)); }
done
# Names that do not go by coordinates: new ones are different.
sed -E 's/"([SH])_(.)_(.)_/"\1_\3_\2_/g' g.net >turned.net
"$dateline" grow turned.net --torus-config g.torus.conf --dim y --columns 15 -q -o grown >/dev/null
[[ $(grep -c S_0_4_0_new grown/001.net) -gt 0 &&
	-z $(grep -o '# "S_[^"]*" base' grown/001.net | sort | uniq -d) ]] ||
	{ echo "FAILED: grow gives names twice"; failed=$((failed + 1)); }
ends 2 'radix 3' /dev/null grow g.net --torus-config g.torus.conf --dim z --by -1 -o grown
ends 2 'radix 1' /dev/null grow t.net -o grown
ends 2 'is needed' /dev/null grow t.net
# Exports replace each other, and nothing else.
ends 2 'is no directory' /dev/null route t.net -o empty
ends 0 . /dev/null snapshot t -o t3.dls
ends 0 . /dev/null snapshot t3.dls -o t3
ends 0 . /dev/null snapshot t -o t3
"$dateline" diff t t3 || failed=$((failed + 1))
: >t3/notes.txt
ends 2 'notes.txt, which is no file of an export' /dev/null route t.net -o t3
ends 2 'cannot be replaced' /dev/null route t.net -o .
# Without a snapshot it reads the running fabric; no machine has this adapter.
ends 3 nonesuch /dev/null snapshot -C nonesuch -o t3
ends 2 'live reads the running fabric' /dev/null snapshot --live t -o t3
# On a file system that is full, where one can be had.
mkdir full
if mount -t tmpfs -o size=64k none full 2>/dev/null; then
	ends 3 "No space left on device" /dev/null gen 8 8 8 -o full/x
	ends 3 "No space left on device" /dev/null route t.net -o full/t
	ends 3 "No space left on device" /dev/null report t -o full/page.html
	umount full
fi

# What each reads: not there, of the wrong kind, unreadable, of another kind,
# empty.  A reader of tables wants a directory, others a file.
for from in missing directory /proc/self/mem /dev/zero emulation.json empty; do
	while read -r command; do
		# shellcheck disable=SC2086 # several words
		ends 2 . /dev/null ${command//FROM/$from}
	done <<-END
		discover FROM
		coords FROM
		hops FROM
		route FROM -o t2
		whatif FROM --switches 1
		whatif FROM --fail S_0_0_0
		verify FROM
		verify t --earlier FROM
		transition FROM t
		transition t FROM
		path FROM
		diff FROM t
		diff t FROM
		report FROM -o page.html
		report t --earlier FROM -o page.html
		emulate FROM --scenario $examples/emulate-uniform.yaml
		emulate t --scenario FROM
		arbitrate FROM
		credits FROM
		path t --job FROM
	END
done
for from in missing directory /proc/self/mem /dev/zero; do
	while read -r command; do
		# shellcheck disable=SC2086 # several words
		ends 2 . /dev/null $command "$from"
	done <<-END
		discover t.net --torus-config
		route t.net -o t2 --torus-config
		whatif t.net --switches 1 --torus-config
		verify t --torus-config
		verify t --psl
		report t -o page.html --emulation
	END
done

# Nothing to look at is no good result.
cat >no-time.yaml <<'END'
duration_ns: 1
traffic:
  - {pattern: uniform, load: 0.001}
END
ends 2 'no packet was sent' /dev/null emulate t --scenario no-time.yaml
ends 2 'there is no "nobody"' /dev/null route t.net -o t2 --fail nobody
ends 2 'there is no "nobody"' /dev/null whatif t --fail nobody
ends 2 'what shall fail' /dev/null whatif t.net --samples 5

echo "$runs commands, $failed failed"
((runs > 200 && !failed))
