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
	offers adapters,all,none,sampled snapshot --paths ""
	offers arbitrate,emulate,latency,route,throughput,verify bench ""
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
