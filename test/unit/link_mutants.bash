#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: link_mutants.bash [NUMBER...]   in a checkout; takes a minute or two each
#
# Change one line of lib/link at a time: the emulator's tests must fail, and so
# must the examples of dateline-arbitrate(1) and dateline-credits(1), for what is
# checked is what runs.  Prints a line for each mutant.  Exit status: 0 all were
# found by both, 1 one was not, 2 the tests could not be run.
set -uo pipefail

TOP=$(git rev-parse --show-toplevel) || exit 2
T=$(mktemp -d)
trap 'git -C "$TOP" worktree remove --force "$T/tree"; rm -rf "$T"' EXIT

# NAME|FILE|FROM|TO
HEADER=include/dateline/link.h
MUTANTS=(
	"CR = FCTBS|$HEADER|(tx->sent + units)) & DL_LINK_CREDIT_MASK) <=|tx->sent) & DL_LINK_CREDIT_MASK) <="
	"ABR off by one|$HEADER|(rx->received + units) &|(rx->received + units - 1) &"
	"FCTBS off by one|$HEADER|(tx->sent + units) & DL_LINK_CREDIT_MASK;|(tx->sent + units - 1) & DL_LINK_CREDIT_MASK;"
	"no limit of 2048|$HEADER|return chunks < DL_LINK_CREDIT_WINDOW ? chunks : DL_LINK_CREDIT_WINDOW|return chunks"
	"never reports|$HEADER|return more && (more|return false && (more"
	"room stays taken|$HEADER|rx->free += chunks|rx->free += chunks / 2"
	"Buf_Alloc forgotten|$HEADER|(credit + t->alloc) &|credit &"
	"FCTBS ignored|$HEADER|rx->received = sync & DL_LINK_CREDIT_MASK|(void)rx, (void)sync"
	"FCCL off by one|$HEADER|out->fccl = dl_link_credit_of(t, rx)|out->fccl = dl_link_credit_of(t, rx) + 1"
	"weights rounded down|$HEADER|goes_on)) - (bytes + 63) / 64|goes_on)) - bytes / 64"
	"HighPriCounter stands still|$HEADER|a->counter -= (bytes + 3) / 4 &|a->counter -= 0 &"
	"FCPs before SMPs|$HEADER|return smp ? DL_LINK_SMP : fcp ? DL_LINK_FCP : DL_LINK_NOTHING|return fcp ? DL_LINK_FCP : smp ? DL_LINK_SMP : DL_LINK_NOTHING"
	"any CRC will do|lib/link/fcp.c|return -EBADMSG|(void)0"
)

build() {
	make -C "$T/build" -s dateline test/unit/emu test/unit/emu_safety test/unit/emu_model \
		test/unit/link_cli >"$T/log" 2>&1
}

# passes PROGRAM...: do they all pass?
passes() {
	local program

	for program; do
		(cd "$T/build" && srcdir=$T/tree "test/unit/$program") >"$T/log" 2>&1 || return 1
	done
}

prepare() {
	git -C "$TOP" worktree add -q --detach "$T/tree" HEAD && mkdir "$T/build" &&
		cd "$T/tree" && autoreconf -fi && cd "$T/build" && "$T/tree/configure" -q && build
}

if ! (prepare) >"$T/prepared" 2>&1 || ! passes emu emu_safety emu_model link_cli; then
	cat "$T/prepared" "$T/log"
	exit 2
fi
(($#)) || set -- "${!MUTANTS[@]}"
survived=0
for number; do
	IFS='|' read -r name file from to <<<"${MUTANTS[number]}"
	from=$from to=$to awk '
		(at = index($0, ENVIRON["from"])) {
			$0 = substr($0, 1, at - 1) ENVIRON["to"] \
				substr($0, at + length(ENVIRON["from"]))
		}
		1' "$T/tree/$file" >"$T/file" && cp "$T/file" "$T/tree/$file"
	if git -C "$T/tree" diff --quiet || ! build; then
		cat "$T/log"
		exit 2
	fi
	emulate=found examples=found
	passes emu emu_safety emu_model && emulate=missed
	passes link_cli && examples=missed
	printf '%-24s emulate: %s, examples: %s\n' "$name" $emulate $examples
	[[ $emulate$examples == foundfound ]] || survived=1
	git -C "$T/tree" checkout -q -- .
done
exit $survived
