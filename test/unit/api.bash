#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The public headers compile together, each by itself, in C and in C++; the
# shared library exports just the functions that they declare, and the command
# calls no others.
set -euo pipefail

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for header in dateline.h $(cd "$top/include" && ls dateline/*.h); do
	echo "#include <$header>" >"$work/one.c"
	gcc -std=gnu11 -Wall -Wextra -Werror \
		-I"$top/include" -fsyntax-only "$work/one.c"
	if command -v g++ >/dev/null; then
		g++ -Wall -Wextra -Werror -I"$top/include" -fsyntax-only \
			-x c++ "$work/one.c"
	fi
done

echo '#include <dateline.h>' >"$work/all.c"
gcc -I"$top/include" -aux-info "$work/prototypes" -fsyntax-only "$work/all.c"
grep -F "$top/include/dateline/" "$work/prototypes" | grep -v ' static ' |
	grep -oE '\<dl_[a-z0-9_]+ \(' | tr -d ' (' | sort -u >"$work/declared"
nm -D --defined-only libdateline.so.0.0.0 | awk '$2 == "T" { print $3 }' |
	sed 's/@.*//' | sort -u >"$work/exported"
[[ -s $work/declared ]]
diff "$work/declared" "$work/exported" ||
	{ echo "declared (<) and exported (>) differ: see lib/dateline.map"; exit 1; }
find tools -name 'dateline-*.o' -exec nm -u {} + |
	awk '$2 ~ /^dl_/ { print $2 }' | sort -u >"$work/called"
[[ -s $work/called ]]
nm -D --defined-only libdateline.so.0.0.0 | awk '{ print $3 }' | sed 's/@.*//' | sort -u >"$work/all"
! comm -23 "$work/called" "$work/all" | grep . ||
	{ echo "the command calls the above, which no public header declares"; exit 1; }
