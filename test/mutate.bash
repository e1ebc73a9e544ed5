#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: mutate.bash BUILD [ROOM|FILE...]
#
# Small changes to the product's C, one at a time, in a copy of the tree: which tests
# notice?  DATELINE_MUTANTS (60) lines are drawn from DATELINE_SEED (1), as many from
# each room (lib/*, plugin).  The unit tests of the room run first, then all others, then
# the subnet manager in virtual time, where what changes belongs to it; the first that
# fails is named.  What the compiler refuses, or makes the same code of, is no mutant.
# A line for each; then a line for each room.  Exit status 0 if nine of ten are caught.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$1" && pwd)
shift
mutants=${DATELINE_MUTANTS:-60} seed=${DATELINE_SEED:-1} events=${DATELINE_EVENTS:-1500}
patience=${DATELINE_PATIENCE:-120}
export DATELINE_SHARE=${DATELINE_SHARE:-4}
cd "$top"
(($#)) || set -- lib/{base,fabric,torus,tables,route,verify,transition,link,emu} plugin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
declare -A drawn caught

# Unit tests of each room, those that see most of it first.
tests_of() {
	case $1 in
	lib/base) echo settings arena files text pool ;;
	lib/fabric) echo test_fabric test_netlist test_subnet_lst port_reports ;;
	lib/torus) echo test_discover test_config test_generate test_off_torus test_graph \
		test_agreement test_any_fabric test_faults test_curve test_mark ;;
	lib/tables) echo test_tables test_load test_read test_snapshot dump_out ;;
	lib/route*) echo test_route test_damage test_proven test_avoid test_carry test_weigh route_check \
		test_anysl test_route_figures ;;
	lib/verify) echo verify route_check ;;
	lib/transition) echo transition interrupted waves ;;
	lib/link) echo arbiter arbiter_shares credit fcp emu link_cli ;;
	lib/emu) echo slarb events emu emu_safety emu_shards emu_model programs rewrite traffic ;;
	plugin) echo plugin_{phases,recall,marks,coordinates,engine,import,sweep,states,mcast,metrics,qos} \
		plugin_{events,avoid,options} vlarb_configured test_metrics ;;
	esac
}

# changes FILE: the lines that can be changed, and how: FILE LINE FROM TO, each string
# once in its line, between tabs.  Lines of functions only, without comments and strings.
changes() {
	awk -v file="$1" '
		BEGIN {
			n = split("<=;<;>=;>; < ; <= ; > ; >= ;==;!=;!=;==;&&;||;||;&&; + ; - ;" \
				" - ; + ;return true;return false;return false;return true;continue;" \
				"break;|=;&=;if (!;if (;++;--; * ; + ; & ; | ;return 0;return 1;" \
				"= true;= false;= false;= true;err = ;(void)", rules, ";")
		}
		!/^\t/ || /["*]\/|^\t+\/?\*|"/ || /\/\*/ { next }
		{
			for (i = 1; i < n; i += 2) {
				at = index($0, rules[i])
				if (at && !index(substr($0, at + length(rules[i])), rules[i]))
					print file "\t" FNR "\t" rules[i] "\t" rules[i + 1]
			}
			if (/^\t+[a-z_>.()-]+\(.*\);$/ && !/return|free\(|release\(/)
				print file "\t" FNR "\t" substr($0, match($0, /[^\t]/)) "\t(void)0;"
		}' "$1"
}

# draw ROOM N: that many of its changes, by the seed.
draw() {
	local file

	while read -r file; do
		changes "$file"
	done < <(find "$1" -name '*.c' | sort) |
		awk -v seed="$seed" 'BEGIN { srand(seed) } { print rand() "\t" $0 }' |
		sort -g | cut -f 2- | head -n "$2"
}

# changed FILE LINE FROM TO: the copy of a file gets the change.
changed() {
	line=$2 from=$3 to=$4 awk '
		NR == ENVIRON["line"] && (at = index($0, ENVIRON["from"])) {
			$0 = substr($0, 1, at - 1) ENVIRON["to"] \
				substr($0, at + length(ENVIRON["from"]))
		}
		1' "$top/$1" >"$tree/$1"
}

# code FILE: what the compiler makes of it.
code() {
	local object

	object=$(find "$tree/build/${1%/*}" -name "lib*-$(basename "${1%.c}").o" | sort | head -n 1)
	objdump -d -r --no-show-raw-insn "$object" | tail -n +4
}

# fails TEST: is it a unit test that notices?
fails() {
	make -C "$tree/build" -s WERROR= "test/unit/$1" >"$work/log" 2>&1 || return 0
	! (cd "$tree/build" && srcdir=.. timeout "$patience" "test/unit/$1") >"$work/log" 2>&1
}

# notice ROOM: the first test that fails, or nothing.
notice() {
	local name own

	own=" $(tests_of "$1") "
	for name in $own; do
		! fails "$name" || { echo "$name"; return; }
	done
	for name in $all; do
		[[ $own != *" $name "* ]] || continue
		! fails "$name" || { echo "$name (of another room)"; return; }
	done
	case $1 in
	plugin | lib/route | lib/transition | lib/torus | lib/fabric)
		[[ ! -x $tree/build/test/sim/sim ]] ||
			DATELINE_EVENTS=$events DATELINE_JOBS=1 make -C "$tree/build" -s WERROR= \
				check-sim >"$work/log" 2>&1 || echo "virtual time"
		;;
	esac
}

# try ROOM FILE LINE FROM TO
try() {
	local before by

	before=$(code "$2")
	changed "$2" "$3" "$4" "$5"
	if ! make -C "$tree/build" -s WERROR= libdlroute.a libdlread.a libdllink.a \
		plugin/libosmdateline.so test/unit/libosmfixture.a >"$work/log" 2>&1 ||
		[[ $(code "$2") == "$before" ]]; then
		cp "$top/$2" "$tree/$2"
		return
	fi
	by=$(notice "$1")
	cp "$top/$2" "$tree/$2"
	drawn[$1]=$((${drawn[$1]:-0} + 1))
	caught[$1]=$((${caught[$1]:-0} + (${#by} > 0)))
	printf '%s:%s: "%s" to "%s": %s\n' "$2" "$3" "$4" "$5" "${by:-MISSED}"
}

mkdir -p "$tree/build"
tar -C "$top" --exclude=.git --exclude=./build -cf - . | tar -C "$tree" -xf -
tar -C "$build" --exclude=./{sanitize,races,package,proof,check-logs} -cf - . |
	tar -C "$tree/build" -xf -
# configure was called by its whole path: make would build what is there.
sed -i "s#$top\>#$tree#g" "$tree/build/"{Makefile,config.status}
all=$({ make -C "$tree/build" -s -p -n Makefile 2>/dev/null || :; } | sed -n 's/^UNIT_TESTS = //p' |
	tr ' ' '\n' | sed -n 's|^test/unit/||p' | grep -v races)
# A test that cannot be built would seem to notice everything.
for name in $(for room; do tests_of "$room"; done); do
	[[ " ${all//$'\n'/ } " == *" $name "* ]] || { echo "mutate: there is no unit test $name"; exit 3; }
done
nice make -C "$tree/build" -s -j"$(nproc)" all test/unit/libosmfixture.a test/unit/libfixtures.a \
	>"$work/log" 2>&1 || {
	cat "$work/log"
	exit 3
}
make -C "$tree/build" -s test/sim/sim test/sim/sm.so >/dev/null 2>&1 || :
for room; do
	while IFS=$'\t' read -r file line from to; do
		try "${room%/*.c}" "$file" "$line" "$from" "$to" </dev/null
	done < <(draw "$room" $((mutants / $# > 0 ? mutants / $# : 1)))
done
total=0 found=0
for room in "${!drawn[@]}"; do
	printf '%-16s %3d of %3d caught\n' "$room" "${caught[$room]}" "${drawn[$room]}"
	total=$((total + drawn[$room])) found=$((found + caught[$room]))
done
printf '%d of %d mutants caught\n' "$found" "$total"
((total > 0 && found * 10 >= total * 9))
