#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What files under version control say of each other is so: no program runs.

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)

# say LINE...: shown by bats when the case fails.
say() {
	printf '%s\n' "$@"
}

# tracked PATHSPEC...: files under version control; in a tarball, all of it.
tracked() {
	if git -C "$TOP" rev-parse >/dev/null 2>&1; then
		git -C "$TOP" ls-files -- "$@"
	else
		skip "not under version control"
	fi
}

# Texts that cite, without data and this file.
cited_in() {
	tracked '*.[ch]' '*.bats' '*.bash' '*.md' '*.pml' '*.yaml' '*.conf' \
		'*.def' '*.mk' '*.v' 'man/*' | grep -vxF test/doc/text.bats
}

# The clauses that doc/rules.md has: headings of part A, bold in the others.
clauses() {
	sed -nE -e 's/^### (A[0-9]+)\. .*/\1/p' \
		-e 's/^\*\*([B-E][0-9]+)\.\*\* .*/\1/p' "$TOP/doc/rules.md"
}

# Clauses cited: "rules A5 and A6", "rules C, E1", "(A6)", "(B3, B5)", and at
# the head of a test's comment "/* B3, B5: ...".
citations() {
	local clause='[A-E][0-9]{1,2}'
	local list="$clause((, | and | to |-)$clause)*"

	cd "$TOP" || return
	cited_in | xargs grep -HnoE \
		"[Rr]ules ([A-E],? (and )?)?$list|\($list\)|/\* $list: " |
		sed -E 's|^([^:]*:[0-9]+:)/\* |\1|; s/: $//'
}

@test "doc/rules.md has every clause, once and in order" {
	want=$(printf '%s\n' A{1..15} B{1..10} C{1..6} D{1..4} E{1..5})
	[[ $(clauses) == "$want" ]]
}

@test "every clause that is cited is in doc/rules.md" {
	local file line text clause missing=0 n=0

	while IFS=: read -r file line text; do
		while read -r clause; do
			n=$((n + 1))
			clauses | grep -qxF "$clause" || {
				say "$file:$line: $text: no clause $clause"
				missing=$((missing + 1))
			}
		done < <(grep -oE '\b[A-E][0-9]+\b' <<<"$text")
	done < <(citations)
	say "$n citations"
	((!missing && n > 100))
}

@test "nothing cites documents that the repository does not hold" {
	cd "$TOP"
	if cited_in | xargs grep -nwE 'SPEC|FINDINGS|DESIGN|shared/[A-Z]+'; then
		return 1
	fi
}

DIRS='bench|conf|contrib|debian|doc|include|lib|man|packaging|plugin|proof|test|tools'

# shellcheck disable=SC2016
# paths FILE: in `...`, what looks like a file or directory of this tree.
paths() {
	grep -oE '`[^` ]+`' "$1" | tr -d '`' | sed -E 's/:[0-9]+$//' |
		grep -E "^(bootstrap|[A-Z][A-Za-z]*\.(md|am)|($DIRS)(/[^*={}]*)?)\$" |
		grep -vE '\b(ROOM|WORD|NAME)\b' |
		sort -u
}

@test "the paths that the documentation names are there" {
	local page path missing=0

	for page in README.md CONTRIBUTING.md doc/rules.md doc/architecture.md \
		doc/findings.md doc/tutorial.md doc/proof.md doc/validation.md; do
		[[ -e $TOP/$page ]] || continue
		while read -r path; do
			[[ -e $TOP/$path ]] || {
				say "$page: no $path"
				missing=$((missing + 1))
			}
		done < <(paths "$TOP/$page")
	done
	((!missing))
}

# shellcheck disable=SC2016
# names FILE: in `...`, functions and types of ours.
names() {
	grep -oE '`(struct |enum )?dl_[a-z0-9_]*[a-z0-9](\(\))?`' "$1" |
		grep -oE 'dl_[a-z0-9_]*[a-z0-9]\b' | sort -u
}

@test "the functions and types that the documentation names are there" {
	local page name missing=0

	cd "$TOP"
	for page in README.md CONTRIBUTING.md doc/*.md; do
		[[ -e $page ]] || continue
		while read -r name; do
			grep -rqw --include='*.[ch]' "$name" include lib plugin \
				tools || {
				say "$page: no $name"
				missing=$((missing + 1))
			}
		done < <(names "$page")
	done
	((!missing))
}

# shellcheck disable=SC2016
# theorems: those that doc/rules.md cites, and doc/proof.md lists.
theorems() {
	{
		sed -n '/^## C/,/^## D/p; /^## Why it cannot deadlock/,/^## Where it is/p' \
			"$TOP/doc/rules.md"
		grep '^| `proof/' "$TOP/doc/proof.md"
	} | grep -oE '`([a-z]+(_[A-Za-z0-9]+)+|drains)`' | tr -d '`' | sort -u
}

@test "the theorems that the documentation names are there" {
	local name missing=0 n=0

	while read -r name; do
		n=$((n + 1))
		grep -qE "^(Theorem|Corollary|Lemma|Example) $name\\>" "$TOP"/proof/*.v || {
			say "no theorem $name"
			missing=$((missing + 1))
		}
	done < <(theorems)
	say "$n theorems"
	((!missing && n > 20))
}

@test "what judges tables includes nothing that knows a torus" {
	cd "$TOP"
	if grep -rnE '#include [<"](dateline/)?(torus|route)[./]|dateline\.h' \
		lib/verify lib/transition lib/link lib/emu lib/tables lib/fabric lib/base \
		include/dateline/{verify,link,emu,tables,fabric,base}.h; then
		return 1
	fi
}

# The layers of the emulator from below: their headers, and the files of each.
EMU_LAYERS="
events.h,slarb.h events.c,slarb.c
state.h
access.h
packet.h packet.c,mail.c
transmit.h transmit.c
node.h forward.c,adapter.c,prefetch.c
hop_link.h
hop.h hop.c
run.h engine.c,shard.c,divide.c,fault.c,setup.c,audit.c,deadlock.c,stats.c
program.h program.c,collective.c,goal.c
scenario.h *.c"

@test "each layer of the emulator includes those below it only" {
	local headers files name header all known=dateline/ wrong=0
	local -A seen=()

	cd "$TOP/lib/emu"
	while read -r headers files; do
		[[ $headers ]] || continue
		for name in ${headers//,/ } ${files//,/ }; do
			[[ ! ${seen[$name]:-} ]] || continue
			seen[$name]=1
			# A header includes what is below it, a file its own layer's, too.
			[[ $name == *.h ]] || known+=" $headers"
			while read -r header; do
				[[ " ${known//,/ } " == *" $header "* ]] && continue
				say "lib/emu/$name includes $header of a higher layer"
				wrong=1
			done < <(sed -n 's|^#include "emu/\(.*\)".*|\1|p' "$name")
		done
		known+=" $headers"
	done <<<"$EMU_LAYERS"
	((!wrong))
	all=(*.[ch])
	((${#seen[@]} == ${#all[@]}))
}

# Words of Dateline's own for which the field has another one.
DIALECT='mend(er|s|ed|ing)?|fates?|hangers?|hung|basins?|plain rule|the documents'
DIALECT+='|odd (switch(es)?|cables?)|ways? home|along_tree|consider telling'
DIALECT+='|foresee(s|n|ing)?|anchors?|misfits?|folders?|verdicts?|kin|twins?'

# prose FILE: its lines with numbers, without what programs print or read.
prose() {
	case $1 in
	*.md) awk '/^```/ { code = !code } !code && !/^    / { gsub(/`[^`]*`/, "")
		print FILENAME ":" FNR ":" $0 }' "$1" ;;
	*) awk '/^\.Bd -literal/ { code = 1 } /^\.Ed/ { code = 0 }
		!code && !/^\.(\\"|It (Cm|Li|Pa)|Li|Ql|Cm|Pa|Dl)/ {
		print FILENAME ":" FNR ":" $0 }' "$1" ;;
	esac
}

@test "the documentation uses the field's words" {
	local file

	cd "$TOP"
	while read -r file; do
		prose "$file"
	done < <(tracked '*.md' 'man/*.[0-9]') >"$BATS_TEST_TMPDIR/prose"
	[[ -s $BATS_TEST_TMPDIR/prose ]]
	if grep -iwE "$DIALECT" "$BATS_TEST_TMPDIR/prose"; then
		return 1
	fi
}

# In code a few words of those have another meaning, in HTML for example.
@test "the code uses the field's words" {
	local words=${DIALECT/|anchors?/}

	cd "$TOP"
	words=${words/|verdicts?/}'|way_home|consider_telling|witness(es)?|drafts?'
	if tracked lib include plugin tools bench test/unit |
		xargs grep -HnwiE "$words"; then
		return 1
	fi
}
