#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: shrink.bash BUILD SCRIPT [SIM-OPTION...]
#
# Fewer events that show the same fault as those of a script (README.md): events are
# left out, half of them at first, then fewer at a time, as long as a run still
# finds what the first one finds.  What is left is printed, as a script to be
# kept.  The events that stay happen as long after the beginning as before.
set -euo pipefail

build=$(cd "$1" && pwd) script=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mapfile -t settings < <(grep -v '^+' "$script")
mapfile -t events < <(grep '^+' "$script")

# print_without FIRST N: the script but for some events.
print_without() {
	local i gap=0 rest

	printf '%s\n' "${settings[@]}"
	for ((i = 0; i < ${#events[@]}; i++)); do
		rest=${events[i]#+}
		gap=$((gap + ${rest%% *}))
		((i < $1 || i >= $1 + $2)) || continue
		printf '+%d %s\n' "$gap" "${rest#* }"
		gap=0
	done
}

# found SIM-OPTION...: what a run of the script at hand finds first.
found() {
	rm -rf "$work/run"
	"$build/test/sim/sim" --build "$build" --dir "$work/run" "$@" "$work/script" |
		sed -n 's/^ *[0-9.]* FOUND \([^:]*\):.*/\1/p' | head -n 1 || :
}

print_without 0 0 >"$work/script"
fault=$(found "$@")
[[ $fault ]] || {
	echo "shrink: nothing is found: $script" >&2
	exit 1
}
for ((n = (${#events[@]} + 1) / 2; n; n = n > 1 ? (n + 1) / 2 : 0)); do
	for ((first = ${#events[@]} - n; ; first -= n)); do
		((first >= 0)) || first=0
		print_without "$first" "$n" >"$work/script"
		if [[ $(found "$@") == "$fault" ]]; then
			mapfile -t events < <(grep '^+' "$work/script")
			printf 'shrink: %d events\n' "${#events[@]}" >&2
		fi
		((first > 0 && n)) || break
	done
done
printf '# Found: %s.\n' "$fault"
print_without 0 0
