#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The emulator beside what can be worked out: a packet alone takes what links,
# cables and switches add up to, on average over each pattern; no load above
# that of the busiest cable is carried, and more than half of it is.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
dateline=$PWD/dateline
for dims in '5 3 2' '4 4 4' '8 8 1'; do
	# shellcheck disable=SC2086 # three words
	curves=$("$top/bench/latency.bash" "$dateline" $dims 200000)
	awk 'NR > 1 { good += $2 == $3 && $6 > 0.5 && $6 <= 1 } END { exit good != 3 }' \
		<<<"$curves" || { echo "FAILED: $dims: $curves" && exit 1; }
done
