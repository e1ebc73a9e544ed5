#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What does a packet-hop cost in the emulator, and what in another build's?
#
#   bench/emulate.bash NEW/dateline [OLD/dateline [REPETITIONS]]
#
# Uniform traffic on three tori, by `dateline bench emulate`: instructions a hop
# (by callgrind, if it is there), nanoseconds of processor time and by the clock
# with one thread and with two, also where credit takes 100 ns inside ports, which
# lets threads go on longer without each other.  Runs of both builds take turns,
# and ratios are medians over these pairs, so that a machine that is busy for a
# while slows down both.  An old build that knows no --load uses the load that is given to the new
# one here: half of what fills the links.  Takes some minutes.
set -euo pipefail

new=$1 old=${2:-}
repetitions=${3:-5}
work=$(mktemp -d "${TMPDIR:-/tmp}/dateline-emulate-XXXXXX")
trap 'rm -rf "$work"' EXIT

# key NAME: a number of a JSON document.
key() {
	sed -n "s/^ *\"$1\": \([0-9.e+-]*\),*$/\1/p"
}

# measured BUILD X Y Z [OPTION...]: "packet-hops, CPU ns a hop, ns a hop".
measured() {
	local build=$1 hops cpu seconds

	shift
	"$build" bench emulate "$@" --json >"$work/json"
	hops=$(key packet_hops <"$work/json")
	cpu=$(key cpu_seconds <"$work/json")
	seconds=$(key seconds <"$work/json")
	awk -v h="$hops" -v c="$cpu" -v s="${seconds:-$cpu}" \
		'BEGIN { print h, 1e9 * c / h, 1e9 * s / h }'
}

# instructions BUILD X Y Z [OPTION...]: those of runs after the warm-up, a hop.
instructions() {
	local build=$1

	command -v valgrind >/dev/null || {
		echo -
		return
	}
	shift
	# (A command in a build tree may be a script that runs it.)
	valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=dl_emu_run \
		--trace-children=yes --zero-before=dl_emu_reset_stats "$build" bench emulate "$@" --json \
		>"$work/json" 2>"$work/err"
	awk -v h="$(key packet_hops <"$work/json")" \
		'/Collected/ && $NF > most { most = $NF } END { printf "%.0f\n", most / h }' \
		"$work/err"
}

# median: of numbers, one a line.
median() {
	sort -g | awk '{ x[NR] = $1 } END { print x[int((NR + 1) / 2)] }'
}

# load X Y Z: half of what fills the links of the longest ring.
load() {
	printf '%s\n' 8 "$@" | sort -n | awk 'END { print 4 / $1 }'
}

knows=()
[[ -n $old ]] && "$old" bench --help | grep -q -- --load && knows=(--load)

printf '%-10s %-12s %12s %10s %10s %10s\n' torus build instructions 'CPU ns' ns '2 threads'
for torus in "4 4 4" "8 8 8" "16 16 16"; do
	read -ra dims <<<"$torus"
	at=(--load "$(load "${dims[@]}")")
	rm -f "$work"/{new,two,old,ratio,gain,later}
	for ((i = 0; i < repetitions; i++)); do
		measured "$new" "${dims[@]}" "${at[@]}" >>"$work/new"
		measured "$new" "${dims[@]}" "${at[@]}" --threads 2 >>"$work/two"
		paste -d ' ' "$work/new" "$work/two" | awk 'END { print $3 / $6 }' >>"$work/gain"
		{
			measured "$new" "${dims[@]}" "${at[@]}" --credit 100
			measured "$new" "${dims[@]}" "${at[@]}" --credit 100 --threads 2
		} | awk '{ ns[NR] = $3 } END { print ns[1] / ns[2] }' >>"$work/later"
		[[ -n $old ]] || continue
		measured "$old" "${dims[@]}" ${knows:+"${at[@]}"} >>"$work/old"
		paste -d ' ' "$work/new" "$work/old" | awk 'END { print $5 / $2 }' >>"$work/ratio"
	done
	printf '%-10s %-12s %12s %10.0f %10.0f %10.0f\n' "${torus// /x}" new \
		"$(instructions "$new" "${dims[@]}" "${at[@]}")" \
		"$(cut -d ' ' -f 2 "$work/new" | median)" \
		"$(cut -d ' ' -f 3 "$work/new" | median)" \
		"$(cut -d ' ' -f 3 "$work/two" | median)"
	[[ -z $old ]] || printf '%-10s %-12s %12s %10.0f\n' '' old \
		"$(instructions "$old" "${dims[@]}" ${knows:+"${at[@]}"})" \
		"$(cut -d ' ' -f 2 "$work/old" | median)"
	printf '%-10s two threads are %.2f times as fast as one, with --credit 100 %.2f times' '' \
		"$(median <"$work/gain")" "$(median <"$work/later")"
	[[ -z $old ]] || printf '; new is %.2f times as fast as old' "$(median <"$work/ratio")"
	echo
done
