#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: DATELINE_BUILD=$PWD/build test/fabric/campaign.bash [SEED]
#
# Changes of tables by the ten thousand, without OpenSM: failures, repairs and
# both at once on scrambled tori and meshes from 6x5 to 8x8x8, each judged
# in every order of writes.  A line for each campaign; it ends with 1 if a change
# in phases is unsafe.  Takes an hour of one processor or less: run it under nice.
# SEED (11): of the fabrics, and of what fails.
set -euo pipefail

seed=${1:-11}
dateline=${DATELINE_BUILD:?}/dateline
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

campaign() { # SWITCHES LINKS SAMPLES X Y Z [OPTION...]: so many fail in each sample
	local switches=$1 links=$2 samples=$3
	shift 3
	"$dateline" gen "$@" --scramble "$seed" -q -o "$work/f"
	"$dateline" whatif "$work/f.net" --torus-config "$work/f.torus.conf" --transitions \
		--switches "$switches" --links "$links" --samples "$samples" \
		--seed "$seed" --threads 1 --json >"$work/f.json" || status=1
	jq -r --arg what "$*, $switches switches and $links links" '.transitions |
		[.failures, .repairs, .both] | map(.checked) as $all |
		"\($what): \($all | add) changes, \(map(.phased_safe) | add) safe in phases, " +
		"\(map(.direct_safe) | add) directly; \(.[0].interrupting) of \($all[0]) failures " +
		"interrupt pairs, at most \(.[0].pairs_interrupted.max)"' "$work/f.json"
	jq -e '[.transitions[] | .checked == .phased_safe] | all' "$work/f.json" >/dev/null ||
		status=1
	seed=$((seed + 1))
}

campaign 0 1 400 6 5 1
campaign 0 4 500 6 5 1
campaign 1 2 500 6 5 1
campaign 2 0 400 6 5 1
campaign 0 1 300 4 4 4
campaign 0 4 300 4 4 4
campaign 1 1 300 5 4 3 --mesh x
campaign 0 3 400 6 5 1 --mesh y
campaign 0 4 150 5 5 5
campaign 1 0 100 5 5 5
campaign 0 1 10 8 8 8
campaign 1 0 10 8 8 8
exit "$status"
