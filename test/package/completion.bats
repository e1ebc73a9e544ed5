#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What bash offers after "dateline ...".

setup() {
	local top=$BATS_TEST_DIRNAME/../..

	# shellcheck source=../../tools/bash-completion/dateline
	source "$top/tools/bash-completion/dateline"
	cd "$BATS_TEST_TMPDIR" || return
	mkdir folder
	touch a.net b.net "c d.net" torus.conf scenario.yaml other one.dls
}

# offered WORD...: what completes the last word, as a sorted line.
offered() {
	COMP_WORDS=("$DATELINE_BUILD/dateline" "$@")
	COMP_CWORD=$#
	_dateline "${COMP_WORDS[0]}"
	printf '%s\n' "${COMPREPLY[@]}" | sort | paste -s -d ,
}

# offers EXPECTED WORD...
offers() {
	local expected=$1 got

	shift
	got=$(offered "$@")
	[[ $got == "$expected" ]] && return
	echo "dateline $*: offered $got, not $expected"
	return 1
}

# The subcommands that there are.
subcommands() {
	sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' \
		"$BATS_TEST_DIRNAME/../../tools/commands.def" | sort
}

@test "subcommands" {
	offers "$(subcommands | paste -s -d ,)" ""
	offers arbitrate a
	offers "" nothing-of-the-kind
	offers "" nothing-of-the-kind ""
}

@test "every option of every subcommand" {
	local sub usage

	for sub in $(subcommands); do
		usage=$("$DATELINE_BUILD/dateline" "$sub" --usage)
		offers "$(grep -oE -e '--[A-Za-z-]+' <<<"$usage" | sort |
			paste -s -d ,)" "$sub" --
	done
	offers --help,--usage,--version --
}

@test "--help: columns, and nothing that argp adds of its own" {
	local sub help

	for sub in $(subcommands); do
		help=$("$DATELINE_BUILD/dateline" "$sub" --help)
		[[ $help != *"Mandatory or optional"* ]]
		# What explains an option begins where all do.
		awk '/^(      |  -., )--[A-Za-z]/ { n++; ok += substr($0, 35, 2) ~ /^ [^ ]$/ }
			/ $/ { bad = 1 }
			END { exit !n || ok != n || bad }' <<<"$help" || { echo "$sub"; return 1; }
	done
}

# shell NAME: where it is, on this machine or in $DATELINE_SHELLS; skips the test
# where it is nowhere.
shell() {
	command -v "$1" || command -v "${DATELINE_SHELLS:-/nowhere}/bin/$1" ||
		command -v "${DATELINE_SHELLS:-/nowhere}/usr/bin/$1"
}

# zsh_offers LINE: what the function hands to zsh, without what explains it.
zsh_offers() {
	cat >zsh.rc <<-'END'
		_describe() { print -rl -- ${(P)argv[-1]%%:*} }
		_files() { print -rl -- * }
		words=(${=LINE})
		[[ $LINE == *' ' ]] && words+=('')
		CURRENT=$#words PREFIX=$words[-1]
		source $COMPLETION
	END
	LINE=$1 COMPLETION=$TOP/tools/zsh-completion/_dateline "$SHELL_UNDER_TEST" -f zsh.rc
}

fish_offers() {
	HOME=$PWD "$SHELL_UNDER_TEST" --no-config -c \
		"source $TOP/tools/fish-completion/dateline.fish; complete -C '$1'" | cut -f 1
}

# in_shell NAME FUNCTION: subcommands and every option of each.
in_shell() {
	local sub usage

	SHELL_UNDER_TEST=$(shell "$1") || skip "no $1"
	TOP=$BATS_TEST_DIRNAME/../..
	PATH=$DATELINE_BUILD:$PATH
	diff <(subcommands) <("$2" "dateline " | sort)
	for sub in $(subcommands); do
		usage=$("$DATELINE_BUILD/dateline" "$sub" --usage)
		diff <(grep -oE -e '--[A-Za-z-]+' <<<"$usage" | sort) \
			<("$2" "dateline $sub --" | sort)
		diff <(printf '%s\n' --help --usage --version) <("$2" "dateline --" | sort)
	done
	"$2" "dateline route a" | grep -qx a.net
}

@test "zsh: subcommands, and every option of each" {
	in_shell zsh zsh_offers
}

@test "fish: subcommands, and every option of each" {
	in_shell fish fish_offers
}

@test "files and folders where they are expected" {
	local nets=a.net,b.net,"c d.net",folder snapshots

	snapshots=$nets,one.dls
	offers "$snapshots" route ""
	offers "$snapshots" coords ""
	offers "$snapshots" route -o folder --no-psl ""
	offers "$snapshots" route --mode = classic ""
	offers "" route a.net ""
	offers "c d.net" route c
	offers folder,one.dls verify ""
	offers folder,one.dls diff ""
	offers folder,torus.conf verify --torus-config ""
	offers folder,torus.conf verify --torus-config =
	offers "$nets" verify folder --net = ""
	offers folder,scenario.yaml emulate folder --scenario ""
	offers folder,scenario.yaml arbitrate ""
	offers folder,one.dls route -o ""
	offers one.dls,other verify --psl o
}

@test "words where one of them is expected" {
	offers any-sl,classic,proven route --mode ""
	offers classic route --mode = c
	offers adapters,all,none snapshot --paths ""
	offers arbitrate,emulate,route,throughput,verify bench ""
	offers "" bench route ""
	offers "" route --lmc ""
	offers "" gen --fail-switch ""
}

@test "a command that cannot be run, and settings of argp, do no harm" {
	COMP_WORDS=(/nowhere/dateline "") COMP_CWORD=1
	_dateline /nowhere/dateline || true
	[[ ! ${COMPREPLY[*]} ]]
	export ARGP_HELP_FMT=rmargin=40,long-opt-col=2
	offers --mesh gen --me
}
