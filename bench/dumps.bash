#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# How much faster does one build of the command write and read dumps than
# another?
#
#   bench/dumps.bash OLD/dateline NEW/dateline [X Y Z [REPETITIONS]]
#
# Both write the same dumps (path SLs by pair), and verify what the old one has
# written, in turn.  Printed are the fastest runs, in CPU seconds (user) and in
# seconds by the clock; routing and verification themselves are in them, and
# shown by what the new one takes with a compact snapshot.
set -euo pipefail

old=$1 new=$2
dims=("${3:-16}" "${4:-16}" "${5:-16}")
repetitions=${6:-3}
work=$(mktemp -d "${TMPDIR:-/dev/shm}/dateline-dumps-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
"$new" gen "${dims[@]}" -q -o f
psl=
"$new" route --help | grep -q -- ' --psl' && psl=--psl

# timed NAME COMMAND...: append "user real" to NAME.
timed() {
	local name=$1

	shift
	{ TIMEFORMAT='%U %R' && time "$@" -q >/dev/null 2>&1; } 2>>"$name"
}

for ((i = 0; i < repetitions; i++)); do
	rm -rf old new
	timed write-old "$old" route f.net -o old
	timed write-new "$new" route f.net $psl -o new
	timed write-file "$new" route f.net -o new.dls
	rm -rf new
	timed read-old "$old" verify old
	timed read-new "$new" verify old
	timed read-file "$new" verify new.dls
done
for what in write read; do
	for which in old new file; do
		sort -n "$what-$which" | head -n 1 |
			awk -v what="$what" -v which="$which" '{
				printf "%-5s %-4s %8.2f CPU s %8.2f s\n", what, which, $1, $2
			}'
	done
	awk -v what="$what" 'FNR == 1 || $1 < least[FILENAME] { least[FILENAME] = $1 }
		END {
			file = least[what "-file"]
			printf "%-5s %.1f times as fast; without what the file takes, too, %.1f times\n",
				what, least[what "-old"] / least[what "-new"],
				(least[what "-old"] - file) / (least[what "-new"] - file)
		}' "$what-old" "$what-new" "$what-file"
done
