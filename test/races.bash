#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: races.bash BUILD
#
# Commands that work on several threads, or judge beside their work, built with ThreadSanitizer in BUILD/races:
# whatif, emulate and its sweep, and those that they call.  Each must give the same result as on
# one thread, and have no race.  The last line is "N passed, N failed"; exit status 0
# if none failed.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1/races"
build=$(cd "$1/races" && pwd)
compiler=$(sed -n 's/^S\["CC"\]="\(.*\)"$/\1/p' "$1/config.status")
cd "$build"
[[ -e Makefile ]] || CC=$compiler "$top/configure" -q \
	CFLAGS='-O1 -g -fsanitize=thread' >configure.log 2>&1 || { cat configure.log && exit 3; }
make -s -j"$(nproc)" dateline >make.log 2>&1 || { cat make.log && exit 3; }
export TSAN_OPTIONS=exitcode=66
passed=0 failed=0

# try NAME COMMAND...: twice; with --threads 1 and 3 where its last word is --threads.
try() {
	local name=$1 n status
	local -a last=()

	shift
	for n in 1 3; do
		[[ ${!#} != --threads ]] || last=("$n")
		status=0
		"$build/dateline" "${@:1:1}" --json "${@:2}" "${last[@]}" >"$name.$n" 2>"$name.err" || status=$?
		((status <= 1)) || break
		# What a run took is another matter.
		jq -S 'del(.. | .seconds?, .cpu_seconds?, .threads?, .packet_hops_per_cpu_second?,
			.peak_bytes?)' "$name.$n" >"$name.$n.json"
	done
	if ((status <= 1)) && cmp -s "$name.1.json" "$name.3.json" &&
		! grep -q ThreadSanitizer "$name.err"; then
		passed=$((passed + 1))
		printf '%s: no race\n' "$name"
	else
		failed=$((failed + 1))
		printf 'FAILED %s: exit status %d\n' "$name" "$status"
		head -n 60 "$name.err"
	fi
}

cat >scenario.yaml <<'END'
seed: 1
duration_ns: 20000
warmup_ns: 5000
traffic:
  - {pattern: uniform, load: 0.3}
END
"$build/dateline" gen 4 4 2 -o whole 2>/dev/null
"$build/dateline" gen 4 4 2 --fail-switch 1,1,0 -o failed 2>/dev/null
"$build/dateline" route whole.net --torus-config whole.torus.conf -o whole.dls 2>/dev/null
"$build/dateline" route failed.net --torus-config failed.torus.conf -o failed.dls 2>/dev/null
try whatif whatif whole.net --switches 1 --links 2 --samples 9 --seed 3 --threads
try whatif-fail whatif whole.net --fail S_1_1_0 --fail S_2_0_0/1 --threads
try emulate emulate whole.dls --scenario scenario.yaml --threads
try emulate-sweep emulate whole.dls --scenario scenario.yaml --sweep load=0.1:0.3:0.1 --threads
try transition transition whole.dls failed.dls
try verify verify failed.dls
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
