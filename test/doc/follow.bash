#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: follow.bash STEPS FOLDER
#
# Do what a text tells its reader to do.  STEPS is a folder of steps, as
# doc.bash takes them from a text: NNN.sh, the commands; NNN.at, where they
# stand; NNN.want, if there is one, what the text says that they print.
#
# All run in one shell, as the reader's do.  Each command must succeed, unless
# the file "findings" in STEPS has it with its exit status, and what it prints
# must be what the text shows: there a line of three dots stands for any lines
# or none, and three dots in a line for any text; columns may be closer.  Exit
# status: 0, or 1 at the first step that is not so, with a message.
#
# One more convention: a step `cat FILE` of a file that is not there makes it,
# of what the text shows.  That is how manual pages show what is to be written.

STEPS=$1
cd "$2" || exit

say() {
	printf '%s\n' "$*" >&2
}

indent() {
	sed 's/^/    /' "$@" >&2
}

# expected FILE STATUS: is this exit status the one that the step should have?
expected() {
	local want=0

	[[ ! -e $STEPS/findings ]] ||
		want=$(awk -v step="$(head -n 1 "$1")" '
			{ status = $1; sub(/^[0-9]+ /, "") }
			index(step, $0) == 1 { s = status }
			END { print s + 0 }' "$STEPS/findings")
	(($2 == want))
}

# like WANT GOT: line by line; after a mismatch, back to the last line of dots.
like() {
	awk '
	function matches(line, want) {
		gsub(/[][(){}.*+?|^$\\]/, "\\\\&", want)
		gsub(/\\\.\\\.\\\./, ".*", want)
		return line ~ "^" want "$"
	}
	{ gsub(/[ \t]+/, " "); gsub(/^ | $/, "") }
	FILENAME == ARGV[1] { want[++n] = $0; next }
	{ got[++m] = $0 }
	END {
		i = j = 1
		while (j <= m) {
			if (i <= n && want[i] == "...") {
				dots = i++
				from = j
			} else if (i <= n && matches(got[j], want[i])) {
				i++
				j++
			} else if (dots) {
				i = dots + 1
				j = ++from
			} else {
				exit 1
			}
		}
		while (i <= n && want[i] == "...")
			i++
		exit i <= n
	}' "$1" "$2"
}

# What the text has started ends with this shell.
leave() {
	local job

	for job in $(jobs -p); do
		kill -KILL -- "-$job"
	done
}
trap leave EXIT
trap 'exit 1' TERM INT

set -m
for step in "$STEPS"/*.sh; do
	want=${step%.sh}.want
	out=${step%.sh}.out
	if [[ $(<"$step") =~ ^cat\ ([a-z0-9.]+)$ && -e $want &&
		! -e ${BASH_REMATCH[1]} ]]; then
		cp "$want" "${BASH_REMATCH[1]}"
	fi
	failed=0
	trap 'failed=$?' ERR
	# shellcheck disable=SC1090
	source "$step" >"$out" 2>&1 </dev/null
	trap - ERR
	if ! expected "$step" "$failed"; then
		say "$(<"${step%.sh}.at"): exit status $failed of"
		indent "$step"
		indent "$out"
		exit 1
	fi
	if [[ -e $want ]] && ! like "$want" "$out"; then
		say "$(<"${step%.sh}.at"): the text says that"
		indent "$step"
		say "prints"
		indent "$want"
		say "but it is"
		indent "$out"
		exit 1
	fi
done
