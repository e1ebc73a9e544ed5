#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# dateline gen: OpenSM's own torus-2QoS engine finds every switch where its
# name says, from every seed of the configuration; and what the command says
# about itself is true.

load lib.bash

setup() {
	fabric_init
	# shellcheck disable=SC2164 # bats stops at a failure
	cd "$T"
}

# only_seed N CONFIG: the configuration with its N-th seed alone, from 1.
only_seed() {
	awk -v want="$1" 'BEGIN { seed = 1 }
		/^next_seed/ { seed++; next }
		/^[xyz][pm]_link|^[xyz]_dateline/ && seed != want { next }
		{ print }' "$2"
}

# placed DIR: how many switches stand where their names say; complains of
# those that do not.
placed() {
	awk '/^switch / {
		place = $2
		gsub(/,/, "_", place)
		if ($5 == "(S_" place ")")
			n++
		else
			print "misplaced:", $0 >"/dev/stderr"
	}
	END { print n + 0 }' "$1/opensm-torus.dump"
}

# found SWITCHES SEEDS ARG...: what dateline gen makes of ARG.
found() {
	local switches=$1 seeds=$2 seed

	shift 2
	dateline gen "$@" -o f
	[ "$(grep -c '^Switch' f.net)" -eq "$switches" ]
	[ "$(grep -c '^next_seed' f.torus.conf)" -eq $((seeds - 1)) ]
	sim_start f.net
	for ((seed = 1; seed <= seeds; seed++)); do
		only_seed "$seed" f.torus.conf >"seed$seed.conf"
		fabric_up "$T/sm$seed" torus-2QoS f.net \
			torus_config="$T/seed$seed.conf"
		[ "$(placed "sm$seed")" -eq "$switches" ]
		sm_stop
	done
}

@test "gen: 6x5 torus without the origin" {
	found 29 3 6 5 1 --fail-switch 0,0,0
}

@test "gen: 4x4x4 torus without a corner of the first seed's cube" {
	found 63 3 4 4 4 --fail-switch 1,1,1 --scramble 3
}

@test "gen: 2x4x5 torus, two cables, one of them failed at the seed" {
	found 40 3 2 4 5 --parallel 2 --fail-link '0,0,0:+y*1'
}

@test "gen: mesh in x and z, broken at the seed, scrambled" {
	found 60 3 5 4 3 --mesh xz --fail-link 0,0,0:+y --scramble 9
}

@test "gen: 2x2x2 mesh" {
	found 8 2 2 2 2 --mesh xyz
}

@test "gen: the checks above can fail" {
	dateline gen 6 5 1 -o f
	sed -i 's/^x_dateline 0/x_dateline 1/' f.torus.conf
	sim_start f.net
	fabric_up "$T/sm" torus-2QoS f.net torus_config="$T/f.torus.conf"
	[ "$(placed sm 2>/dev/null)" -lt 30 ]
}

@test "gen: the same arguments, the same bytes" {
	dateline gen 5 4 3 --hosts 2 --scramble 7 -o a
	dateline gen 5 4 3 --hosts 2 --scramble 7 -o b
	cmp a.net b.net
	cmp a.torus.conf b.torus.conf
	dateline gen 5 4 3 --hosts 2 --scramble 8 -o b
	fails cmp -s a.net b.net
}

# status WANTED COMMAND...: its exit status, and one word to anyone.
status() {
	local wanted=$1 got=0

	shift
	"$@" >out 2>err || got=$?
	[ "$got" -eq "$wanted" ] || { say "$* ended with $got"; return 1; }
}

# The data rates of a lane in Gbit/s, as the IBA and its annexes have them.
@test "gen: every width and speed, and an emulation's rate by it" {
	local width word data want

	printf 'duration_ns: 100000\ntraffic: [{pattern: neighbour, load: 0.5}]\n' >half.yaml
	dateline gen 3 1 1 -q -o default
	grep -q ' 4xEDR$' default.net
	! grep '^\[' default.net | grep -vq ' 4xEDR$' || return
	while read -r word data; do
		for width in 1 2 4 8 12; do
			routed f 3 1 1 --speed "${width}x$word"
			! grep '^\[' f.net | grep -vq " ${width}x$word$" || return
			want=$(awk "BEGIN { print 3 * $width * $data }")
			dateline emulate f --scenario half.yaml --json -q |
				jq -e --argjson want "$want" '.qos[0].throughput_gbps /
				.throughput_fraction / $want | . > 0.999 and . < 1.001' >/dev/null ||
				{ say "${width}x$word: not $want Gbit/s"; return 1; }
		done
	done <<-END
		SDR 2
		DDR 4
		QDR 8
		FDR10 10
		FDR 13.636364
		EDR 25
		HDR 50
		NDR 100
		XDR 200
	END
	for word in 3xEDR 4xedr EDR x 4x; do
		status 2 dateline gen 3 1 1 -o f --speed "$word"
		grep -q "\"$word\": expected 1x, 2x" err
	done
}

@test "the command's exit statuses and messages" {
	status 0 dateline --help
	grep -q '^  gen ' out
	status 0 dateline --version
	status 2 dateline
	status 2 dateline nonsense
	grep -q 'there is no subcommand "nonsense"' err
	status 0 dateline gen --help
	mv out help
	status 0 dateline gen -h
	diff help out
	status 0 dateline -h
	grep -q '^  gen ' out
	status 0 dateline gen 6 5 -o f
	status 2 dateline gen 6 5 1
	status 2 dateline gen 6 0 1 -o f
	status 2 dateline gen 6 5 1 -o f --fail-switch 6,0,0
	grep -q '0,0,0 to 5,4,0' err
	status 2 dateline gen 6 5 1 -o f --fail-link 0,0,0:+z
	grep -q 'nothing lies beyond (0,0,0) in direction +z' err
	status 2 dateline gen 6 5 1 -o f --hosts 251
	grep -q 'at most 254' err
	status 3 dateline gen 6 5 1 -o nowhere/f
	grep -q 'cannot create nowhere/f.net: No such file' err
	ln -s /dev/full full.net
	# A link is replaced, never followed.
	status 0 dateline gen 6 5 1 -o full
	[ ! -L full.net ] && [ -s full.net ]
	status 0 dateline gen -q 6 5 1 -o f
	[ ! -s out ] && [ ! -s err ]
	status 3 dateline discover f.net --write-config /dev/full
	grep -q 'cannot write /dev/full: No space left' err
	# On standard output the configuration is alone.
	status 0 dateline discover f.net --write-config -
	mv out found.conf
	status 0 dateline discover f.net --torus-config found.conf
	status 0 dateline gen 1 1 1 -o one
	grep -q 'one.net: 1 switch, 1 adapter, 1 cable$' err
}

@test "verify: comparing nothing is an error" {
	status 0 dateline gen 4 3 1 -o f
	status 0 dateline route f.net -o now
	cp -r now before
	status 0 dateline verify now --earlier before
	grep -q '^path SLs: 0 of 552 pairs changed$' out
	rm before/dateline-psl.dump
	status 2 dateline verify now --earlier before
	grep -q 'before/dateline-psl.dump: this file is missing' err
	rm before/dateline-torus.dump before/dateline-manifest.txt
	status 2 dateline verify now --earlier before
	grep -q 'error: no path SLs to compare: .* in before$' err
}

@test "a snapshot says which torus it is where its coordinates do not" {
	# A mesh with cables across, and a torus without one that closes it.
	status 0 dateline gen 6 5 1 -q -o f --fail-link 0,2,0:+y --fail-link 2,0,0:+y \
		--fail-link 2,4,0:+y
	status 0 dateline gen 3 4 1 -q -o g --fail-link 0,0,0:-y --fail-link 1,0,0:-y \
		--fail-link 2,0,0:-y
	status 0 dateline route f.net -q -o f
	status 0 dateline route g.net -q --torus-config g.torus.conf -o g
	[[ $(head -n 1 f/dateline-torus.dump) == "torus 5m 5m 1" ]]
	[[ $(head -n 1 g/dateline-torus.dump) == "torus 3 4 1" ]]
	for x in f g; do
		status 0 dateline route "$x.net" -q --earlier "$x" -o "$x.again"
		status 0 dateline diff "$x" "$x.again"
		rm "$x/dateline-manifest.txt"
	done
	sed -i '1s/.*/torus 3 3 1/' g/dateline-torus.dump
	status 2 dateline coords g
	grep -q 'dateline-torus.dump: coordinate 3 is beyond the torus of its first line$' err
	sed -i '1s/.*/torus 3 0 1/' g/dateline-torus.dump
	status 2 dateline coords g
	grep -q 'dateline-torus.dump:1: .*: expected a radix, 1 to 255$' err
}

@test "a cable that goes never makes another torus of a damaged one" {
	status 0 dateline gen 4 4 1 -q -o f --mesh y --fail-link 0,0,0:+y --fail-link 2,3,0:+x
	status 0 dateline route f.net -q -o f
	status 0 dateline route f.net -q --fail S_1_2_0/1 --earlier f -o less
	diff f/dateline-torus.dump less/dateline-torus.dump
	status 0 dateline route f.net -q --earlier less -o back
	status 0 dateline diff f back
}

@test "a snapshot is a fabric, too" {
	status 0 dateline gen 4 3 1 -o f
	status 0 dateline route f.net -o now
	status 0 dateline discover f.net
	mv out want
	status 0 dateline discover now
	diff want out
	status 0 dateline whatif now --links 1 --samples 3
	status 0 dateline route now -o again
	diff now/opensm-lfts.dump again/opensm-lfts.dump
	diff now/dateline-psl.dump again/dateline-psl.dump
	[[ ! -s again/opensm.mcfdbs ]]
}

@test "a snapshot in one file, and its multicast groups" {
	local words

	status 0 dateline gen 4 3 1 -o f
	status 0 dateline route f.net --multicast all -o all
	status 0 dateline route f.net --multicast all -o all.dls
	(($(stat -c %s all.dls) < 4000))
	for words in "verify SNAP" "discover SNAP" "coords SNAP" \
		"whatif SNAP --links 1 --samples 3" "transition SNAP all" \
		"verify all --earlier SNAP" "report SNAP -o SNAP.html"; do
		# shellcheck disable=SC2086
		status 0 dateline ${words//SNAP/all}
		mv out want
		# shellcheck disable=SC2086
		status 0 dateline ${words//SNAP/all.dls}
		diff <(sed 's/[0-9.]* s$//; /CPU seconds/d' want) <(sed 's/[0-9.]* s$//; /CPU seconds/d' out)
	done
	status 0 dateline route all.dls -o again
	diff all/opensm.mcfdbs again/opensm.mcfdbs
	status 0 dateline route all --multicast none -o again
	[[ ! -s again/opensm.mcfdbs ]]
	# Damaged, or no snapshot at all.
	head -c 1000 all.dls >cut.dls
	status 2 dateline verify cut.dls
	grep -q 'cut.dls: this snapshot is cut or damaged' err
	status 2 dateline verify f.net
	grep -q 'f.net: this is neither a directory nor a snapshot file' err
}

@test "a configuration that contradicts the fabric is a finding, in every command" {
	local words

	status 0 dateline gen 6 5 1 -o f
	status 0 dateline route f.net --torus-config f.torus.conf -o now
	sed 's/^torus 6 5 1/torus 6 6 1/' f.torus.conf >wrong.conf
	for words in "discover f.net" "route f.net -o wrong" "verify now" "coords now"; do
		# shellcheck disable=SC2086
		status 1 dateline $words --torus-config wrong.conf
		grep -q 'wrong.conf contradicts the cabling: by its radices 6x6x1' err
	done
	# A failed switch that a seed names is none; another fabric's is.
	status 0 dateline gen 6 5 1 --fail-switch 1,0,0 -o g
	status 0 dateline coords g.net --torus-config f.torus.conf
	sed 's/0xd1000100000000/0xd1000100000009/' f.torus.conf >wrong.conf
	status 1 dateline discover f.net --torus-config wrong.conf
	grep -q 'wrong.conf:5 contradicts .* "S_1_0_0" is at its place (1,0,0)' err
}

@test "two radices are a torus in two dimensions; help is --help" {
	status 0 dateline gen 6 5 -o two
	grep -qx 'dateline: to simulate it: ibsim -s two.net' err
	status 0 dateline gen 6 5 1 -o three
	cmp two.net three.net
	cmp two.torus.conf three.torus.conf
	status 2 dateline gen 6 -o one
	status 2 dateline gen -o none
	for words in '' gen verify; do
		# shellcheck disable=SC2086
		status 0 dateline help $words
		mv out helped
		# shellcheck disable=SC2086
		status 0 dateline $words --help
		cmp helped out
	done
	status 2 dateline help nonsense
	grep -q 'there is no subcommand "nonsense"' err
	status 2 dateline help gen verify
}

@test "discover: a switch or a cable that is missing is a finding" {
	status 0 dateline gen 5 5 1 --parallel 2 -o f
	status 0 dateline discover f.net --torus-config f.torus.conf
	fails grep missing err
	status 0 dateline gen 5 5 1 --parallel 2 --fail-switch 2,2,0 -o g
	status 1 dateline discover g.net --torus-config f.torus.conf
	grep -q 'missing: 1 switch, and 0 cables' err
	# The ports that led to it.
	grep -qx '2,2,0 missing, next to "S_3_2_0" port 3,4, next to "S_1_2_0" port 1,2, next to "S_2_3_0" port 7,8, next to "S_2_1_0" port 5,6' out
	status 1 dateline discover g.net
	for cables in '' '*1'; do
		status 0 dateline gen 5 5 1 --parallel 2 --fail-link "1,1,0:+x$cables" -o g
		status 1 dateline discover g.net --torus-config f.torus.conf
		grep -q 'missing: 0 switches, and [12] cables\? between' err
		grep -qxE 'add 1,1,0 to 2,1,0: "S_1_1_0" port (1,2|2) to "S_2_1_0" port (3,4|4)' out
	done
	# No port number is the usual one.
	status 0 dateline gen 5 5 1 --scramble 5 --fail-link 1,1,0:+x -o g
	status 1 dateline discover g.net --torus-config g.torus.conf
	grep -qx 'add 1,1,0 to 2,1,0: "S_1_1_0" to "S_2_1_0"' out
}

@test "where there is no torus the obstacle is named" {
	: >f.net
	status 2 dateline discover f.net
	grep -q 'no switch, no adapter' err
	printf 'caguid=0x10\nCa 1 "alone"\n' >f.net
	status 1 dateline discover f.net
	grep -q 'there is no switch in the fabric' err
	status 0 dateline gen 4 4 1 -o f
	status 0 dateline gen 5 5 1 --scramble 3 -o g
	sed 's/"\([SH]\)_/"\1b_/g; s/0xd/0xe/g' g.net | cat f.net - >both.net
	status 1 dateline discover both.net
	grep -q '2 islands without a cable between them: 25 with .*, 16 with ' err
	echo 'torus 5 4 1' >wrong.conf
	status 1 dateline discover f.net --torus-config wrong.conf
	grep -q 'says 5x4x1, and the cabling shows 4x4x1' err
}

@test "the manual pages know every subcommand and every option of gen" {
	local word

	sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' \
		"$DL_TOP/tools/commands.def" >words
	[ -s words ]
	while read -r word; do
		grep -qx "\.It Cm $word" "$DL_TOP/man/dateline.1" ||
			{ say "dateline(1) lacks $word"; return 1; }
	done <words
	dateline gen --help | sed -nE 's/^ +(-., +)?-(-[a-z-]+).*/\2/p' |
		grep -vxE -e '-(help|usage|version)' >words
	[ -s words ]
	while read -r word; do
		grep -qE -- "(Fl |, )$word" "$DL_TOP/man/dateline-gen.1" ||
			{ say "dateline-gen(1) lacks -$word"; return 1; }
	done <words
}
