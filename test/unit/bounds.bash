#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The emulator beside what can be worked out: a packet alone takes what links,
# cables and switches add up to, on average over each pattern; no load above
# that of the busiest cable is carried, and more than half of it is.
set -euo pipefail

for dims in '8 8 1' '4 4 4' '5 3 2'; do
	# shellcheck disable=SC2086 # three words
	"$PWD/dateline" bench latency $dims --json |
		jq -e '[.patterns[] | .alone_ns == .emulated_alone_ns and
			.share > 0.5 and .share <= 1] == [true, true, true]' ||
		{ echo "FAILED: $dims" && exit 1; }
done
