#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: tidy.bash BUILD [FILE...]
#
# clang-tidy, as .clang-tidy says, on all C files of the product.  A finding counts
# unless tidy.argued has a line "FILE CHECK reason".
#
# The analyzer looks at up to TIDY_NODES states of each function.  30,000 take a
# fifth of the time of its own limit, 225,000, and miss one in 38 of what is argued.
set -euo pipefail

top=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
shift
cd "$top"
[[ $(clang-tidy --version 2>&1) == *' version 14.'* ]] || {
	echo "tidy: skipped: this machine has no clang-tidy 14"
	exit 77
}
files=("$@")
((${#files[@]})) || mapfile -t files < <(find lib plugin tools -name '*.c' | sort)
found=$(mktemp)
trap 'rm -f "$found"' EXIT
mpi=$(mpicc --showme:compile 2>/dev/null) || mpi=
export mpi TIDY_NODES=${TIDY_NODES:-30000}
# One file a run: version 14 mixes up the arguments of functions otherwise.
# shellcheck disable=SC2016 # the shells that xargs starts expand it
printf '%s\n' "${files[@]}" |
	xargs -P "$(nproc)" -n 1 bash -c 'clang-tidy -quiet "$2" -- -std=gnu11 \
		-DHAVE_CONFIG_H -I"$1" -Iinclude -Ilib -I. \
		-I/usr/include/infiniband $mpi -Xclang -analyzer-config \
		-Xclang max-nodes="$TIDY_NODES" 2>/dev/null || :' tidy "$build" |
	sed -nE "s#^$top/([^:]*:[0-9]+):[0-9]+: (warning|error): (.*) \[([^],]*).*#\1 \4 \3#p" |
	sort -u >"$found"
awk 'NR == FNR { argued[$1, $2]; next }
	{ file = $1; sub(/:.*/, "", file) }
	!((file, $2) in argued) { print; new++ }
	END { printf "%d findings, %d of them new\n", FNR, new; exit new > 0 }' \
	test/tidy.argued "$found"
# What is argued would be found, if it looked at all.
[[ -s $found || ${#files[@]} -lt 100 ]] || { echo "clang-tidy saw nothing"; exit 1; }
