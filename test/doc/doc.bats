#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# What README, tutorial, findings, manual pages and --help tell their readers to
# type works as it stands, and prints what they say.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

load ../fabric/lib.bash
load doc.bash

setup() {
	fabric_init
	mkdir "$T/bin" "$T/home"
	# What readers start in the background ends with their shell.
	for program in ibsim opensm; do
		cat >"$T/bin/$program" <<-END
			#!/bin/sh
			exec setpriv --pdeathsig KILL $(command -v $program) "\$@"
		END
		chmod +x "$T/bin/$program"
	done
}

# The folder of the source, built.
source_folder() {
	mkdir source
	ln -s "$DL_BUILD" source/build
	ln -s "$DL_TOP/conf" "$DL_TOP/man" source
}

@test "the tutorial" {
	source_folder
	markdown "$DL_TOP/doc/tutorial.md" steps
	leave_out steps tutorial <<-END
		tutorial: ./bootstrap demo -- installs; see check.bash
	END
	HOME=$T/home follow "$T/steps" source
}

@test "the findings" {
	source_folder
	markdown "$DL_TOP/doc/findings.md" steps
	HOME=$T/home follow "$T/steps" source
}

# at_hand: a folder as the examples suppose it: snapshots of the running
# fabric and of another, a netlist, and the examples that are installed.
at_hand() {
	mkdir "$T/$1"
	cp "$DL_TOP"/conf/examples/* "$T/$1"
	cp -r "$T/today" "$T/$1/today"
	cp -r "$T/today" "$T/$1/yesterday"
	cp -r "$T/today" "$T/$1/monday"
	cp -r "$T/routed" "$T/$1/snapshot"
	cp "$T/first.net" "$T/first.torus.conf" "$T/$1"
	printf '%s\n' H_0_0_0_1 H_3_2_1_1 >"$T/$1/hosts.txt"
	printf '7 H_0_0_0_1,H_3_2_1_1\n' >"$T/$1/squeue.txt"
	echo 'GUID 0xd1000000000000 port 1: [SymbolErrorCounter == 5]' \
		>"$T/$1/errors.txt"
	cp "$T/$1/errors.txt" "$T/$1/counters"
	cp "$T/$1/errors.txt" "$T/$1/before.txt"
	touch -d "1 hour ago" "$T/$1/before.txt"
	printf "7 H_0_0_0_1,H_1_0_0_1\n" >"$T/$1/jobs"
}

# running: a torus, with a subnet manager.  The command reaches it when it is
# told to, as it would reach hardware.
running() {
	dateline gen 6 5 4 -q -o running
	fabric_up "$T/sm" dateline running.net torus_config=running.torus.conf
	snapshot "$T/today"
	dateline gen 6 5 1 -q -o first
	dateline route first.net -q --torus-config first.torus.conf \
		--multicast all -o routed
	mkdir dump
	dateline route first.net -q --torus-config first.torus.conf -o dump/dateline.dls
	cat >"$T/bin/dateline" <<-END
		#!/bin/sh
		case " \$* " in
		*' --live '*) export LD_PRELOAD=$DL_UMAD2SIM ;;
		esac
		case " \$* " in
		' snapshot '*) set -- "\$@" --retries 100 ;;
		esac
		exec "$DL_DATELINE" "\$@"
	END
	chmod +x "$T/bin/dateline"
	# Another simulator beside it; its reader leaves it at once.
	cat >"$T/bin/ibsim" <<-END
		#!/bin/sh
		echo quit | IBSIM_SOCKNAME=$IBSIM_SOCKNAME-2 $(command -v ibsim) "\$@"
	END
}

# try NAME: follow the steps in $T/NAME.steps, with what readers have at hand,
# and with this test's paths.  Exit statuses other than 0 are expected of the
# commands in the file findings.
try() {
	[[ -e $T/$1.steps/001.sh ]] || return 0
	say "$1"
	sed -i -e "s|/var/log\>|$T/sm|; s|/etc/opensm/|$T/|; s|/var/lib/dateline|$T/dump|" \
		"$T/$1.steps"/*.sh
	cp "$T/findings" "$T/$1.steps"
	at_hand "$1"
	follow "$T/$1.steps" "$T/$1" >&2
}

# Its other blocks install, which check.bash and check-package try.
@test "README" {
	running
	source_folder
	markdown "$DL_TOP/README.md" steps
	follow "$T/steps" source
	[[ -s source/today.html ]]
}

@test "the examples of the manual pages" {
	local page name

	running
	cat >findings <<-END
		1 dateline verify hurt --explain
		1 dateline diff whole hurt
		1 dateline verify today --sl 0
		1 dateline discover first.net --torus-config first.torus.conf
		1 dateline discover now.net --plan larger/001.net
		1 dateline emulate hurt --scenario emulate-deadlock-6x5.yaml
		1 dateline emulate hurt --scenario emulate-record.yaml
	END
	for page in "$DL_TOP"/man/*.[0-9]; do
		name=${page##*/}
		# Tried by migration.bats and below.
		[[ $name != dateline-migration.7 && $name != osmdateline.8 ]] ||
			continue
		manual "$page" "$name.steps"
		[[ -e $name.steps/001.sh || $name == dateline-s[cn]*.5 ||
			$name == dateline-metrics.7 ]]
		leave_out "$name.steps" "$name" <<-END
			dateline-check.1: dateline-check -- OCaml; see transition.bats
			dateline-hops.1: sinfo -- Slurm; see hops.bats
			dateline-path.1: ibqueryerrors -- a running fabric; see path.bats
			dateline-path.1: squeue -- Slurm; see path.bats
			dateline-whatif.1: dateline whatif today.dls -- see whatif.bats
			dateline-whatif.1: mpirun -- 64 processes; see whatif.bats
		END
		try "$name"
	done
}

@test "the examples of --help, and those in example files" {
	local word file name

	running
	printf '1 dateline emulate %s\n' hurt 'whole --scenario emulate-rewrite.yaml' >findings
	for word in '' $(sed -n 's/^COMMAND(\([a-z]*\),.*/\1/p' \
		"$DL_TOP/tools/commands.def"); do
		name="dateline${word:+ $word} --help"
		# shellcheck disable=SC2086
		dateline $word --help | indented "$name" "$name.steps"
		[[ -e $name.steps/001.sh ]]
		try "$name"
	done
	for file in "$DL_TOP"/conf/examples/*; do
		name=${file##*/}
		indented "$name" "$name.steps" <"$file"
		try "$name"
	done
}

# lines MACRO...: the literal displays between these two of osmdateline(8).
lines() {
	awk -v from="$1" -v to="$2" '
		$0 == to { exit }
		/^\.Ed/ { literal = 0 }
		on && literal
		$0 == from { on = 1 }
		/^\.Bd/ { literal = 1 }' "$DL_TOP/man/osmdateline.8"
}

@test "the examples of osmdateline(8): OpenSM takes them" {
	local line

	dateline gen 3 3 1 -q -o f
	mkdir etc dump prom
	cp f.torus.conf etc/torus-2QoS.conf
	sim_start f.net
	lines '.Sh EXAMPLES' '.Sh DIAGNOSTICS' >options
	(($(grep -c '^event_plugin_options ' options) == $(wc -l <options)))
	while read -r line; do
		{
			lines '.Sh SYNOPSIS' '.Sh DESCRIPTION' |
				sed '/^event_plugin_options /d'
			printf '%s\n' "$line" "log_file $T/osm.log" \
				'force_log_flush TRUE'
		} | sed -e "s|/etc/opensm|$T/etc|; s|/var/lib/dateline|$T/dump|" \
			-e "s|/var/lib/prometheus/node-exporter|$T/prom|" \
			>opensm.conf
		mkdir cache
		sm_start "$T"
		wait_log 'SUBNET UP'
		wait_log 'dateline: verified free of credit loops; repairs: none; routed a 3 x 3 x 1 torus'
		[[ $line != *dump_dir* ]] ||
			wait_for "$DL_PATIENCE" test -e dump/dateline.dls
		fails grep 'ERR DL' osm.log
		sm_stop
		rm -r cache
	done <options
	[[ -s prom/dateline.prom ]]
	dateline verify dump
}
