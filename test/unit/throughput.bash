#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Saturation throughput: bounds are those of rules A13 worked out by hand, no
# more is delivered where all flows are alike, and any-SL mode delivers what
# dateline-bench(1) promises of it.
set -euo pipefail

dateline=$PWD/dateline
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# throughput FILTER ARGUMENT...
throughput() {
	local filter=$1

	shift
	"$dateline" bench throughput "$@" --json >"$work/one"
	jq -e "def of(p): .patterns[] | select(.pattern == p); $filter" "$work/one" >/dev/null ||
		{ cat "$work/one"; echo "FAILED: $* : $filter"; exit 1; }
}

# All adapters send the same share to each other: (n - 1) / (flows on the
# busiest channel of the ring, times its 4 lines, times 2 x 2 adapters).
near='def near(x): . > x - 1e-9 and . < x + 1e-9;'
throughput "$near"' of("uniform") | (."torus-2QoS".bound | near(63 / (10 * 4 * 4))) and
	(.balanced.bound | near(63 / (8 * 4 * 4))) and
	(."any-sl".bound | near(63 / (9 * 4 * 4)))' 8 4 1 --hosts 2
cp "$work/one" "$work/first"
"$dateline" bench throughput 8 4 1 --hosts 2 --json | cmp - "$work/first"

# In transposition few flows pass busy cables: the others may make up for them.
# shellcheck disable=SC2016 # a variable of jq
sane='[.patterns[] | .pattern as $p | del(.pattern)[] |
	.delivered > 0.05 and .delivered <= 1 and .bound > 0 and .bound <= 1 and
	($p == "transpose" or .delivered <= .bound)] == [range(15) | true]'
most='of("uniform") | ."any-sl".delivered >= 0.95 * ."torus-2QoS".delivered'
for dims in '3 3 3' '4 4 2' '5 5 5' '7 7 1' '9 9 1' '9 5 4'; do
	# shellcheck disable=SC2086 # three words
	throughput "($sane) and ($most)" $dims
done
throughput 'of("uniform")."any-sl".delivered >= 0.344' 4 4 4 --hosts 4
throughput 'of("uniform")."any-sl".delivered >= 0.464' 6 6 6 --hosts 2
throughput 'of("uniform")."any-sl".delivered >= 0.605' 8 8 8
