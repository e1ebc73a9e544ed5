#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# doc/documents.md: each of its commands works, and what it says to take out makes
# the output another one.

load ../fabric/lib.bash

setup() {
	fabric_init
	cp "$DL_TOP"/conf/examples/*.yaml "$T"
	cd "$T" || return
	# What the page has to be typed first.
	eval "$(sed -n 's/^    //p' "$DL_TOP/doc/documents.md")" 2>/dev/null
}

# typed COMMAND FILE: it runs, and what it prints is in the file.
typed() {
	local status=0

	eval "$1" >"$2" 2>&1 </dev/null || status=$?
	# Neither how long it took, nor the scenario's name and lines.
	sed -i -E '/seconds"/d; s/[a-z0-9-]+\.yaml(:[0-9]+)?/SCENARIO/g' "$2"
	((status < 2)) && [[ -s $2 ]]
}

# taken_out COMMAND WORDS: the command without them, or with a scenario without the lines
# that have them; in $shorter.
taken_out() {
	shorter=${1/ $2/}
	[[ $shorter == "$1" ]] || return 0
	local file
	file=$(grep -oE '[a-z0-9-]+\.yaml' <<<"$1")
	grep -vE -- "$2" "$file" >without.yaml
	! cmp -s "$file" without.yaml
	shorter=${1/$file/without.yaml}
}

@test "each sentence has a command, which shows it, and a test" {
	local sentence command without file n=0 shorter bad=0

	while IFS='|' read -r _ sentence command without file _; do
		command=${command#*\`} without=${without#*\`}
		command=${command%\`*} without=${without%\`*}
		file=${file// /}
		n=$((n + 1))
		[[ $command && $without && -n $(find "$DL_TOP/test" -name "$file") ]] &&
			typed "$command" with && taken_out "$command" "$without" &&
			typed "$shorter" without && ! cmp -s with without && continue
		say "$sentence: $command, without $without"
		bad=$((bad + 1))
	done < <(grep '^| [^|]* | `' "$DL_TOP/doc/documents.md")
	say "$n sentences"
	((n > 80 && bad == 0))
}
