#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: mutants.bash BUILD [NAME...]
#
# Old defects of the plugin, put back one at a time into a copy: does the rig find
# each within DATELINE_EVENTS events (10,000)?  What the same run finds without the
# defect does not count.  A line for each says after how many events, and what was found
# first; the last line counts.  Exit status 0 if all were found.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
shift
limit=${DATELINE_EVENTS:-10000}
chunk=250
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Each: a name, a file, what sed does to it, and what is run.
mutants() {
	cat <<'END'
dead-switches-asked|plugin/recall.c|s/sw->p_node->discovery_count/true/|--sms 2
written-at-once|plugin/phases.c|s/phases_write_tables(e, p->plan.closed, /phases_write_tables(e, \&p->opened, /|
refused-not-tried-again|plugin/engine.c|s/osm->subn.subnet_initialization_error = TRUE/osm->subn.subnet_initialization_error \&= TRUE/|
operational-vls-ignored|plugin/engine.c|/^static void ask_for_maps/,/^}/s/if (e->in_force->cut \&\&/if (false \&\&/|
END
}

# findings PLUGIN SEED OPTIONS: of a run.
findings() {
	# shellcheck disable=SC2086 # options are words
	"$build/test/sim/sim" --build "$build" --dir "$work/run" --seed "$2" --events "$chunk" \
		$3 --plugin "$1" | sed -n 's/^ *[0-9.]* FOUND //p' || :
	rm -rf "$work/run"
}

# try NAME FILE EDIT OPTIONS
try() {
	local seed=0 events=0 said

	rm -rf "$work/plugin" "$work/tree"
	mkdir "$work/tree"
	tar -C "$top" --exclude=.git --exclude=./build -cf - . | tar -C "$work/tree" -xf -
	cp -a "$build" "$work/tree/build"
	sed -i "$3" "$work/tree/$2"
	if cmp -s "$top/$2" "$work/tree/$2"; then
		printf '%s: %s has changed, the edit does nothing\n' "$1" "$2"
		return 1
	fi
	make -C "$work/tree/build" -s WERROR= plugin/libosmdateline.la >"$work/log" 2>&1 || {
		cat "$work/log"
		return 1
	}
	while ((events < limit)); do
		seed=$((seed + 1)) events=$((events + chunk))
		said=$(findings "$work/tree/build/plugin/.libs" "$seed" "$4")
		[[ ! $said ]] || [[ $(findings "$build/plugin/.libs" "$seed" "$4") ]] || break
		said=
	done
	printf '%s: %s within %d events: %s\n' "$1" "$([[ $said ]] && echo found || echo MISSED)" \
		"$events" "${said%%$'\n'*}"
	[[ $said ]]
}

found=0 missed=0
while IFS='|' read -r name file edit options; do
	(($# == 0)) || [[ " $* " == *" $name "* ]] || continue
	if try "$name" "$file" "$edit" "$options" </dev/null; then
		found=$((found + 1))
	else
		missed=$((missed + 1))
	fi
done < <(mutants)
printf '%d mutants found, %d missed\n' "$found" "$missed"
((missed == 0 && found > 0))
