#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: mutants.bash BUILD [NAME...]
#
# Old defects, put back one at a time into a copy: does the rig find each within
# DATELINE_EVENTS events (10,000)?  Only what the defect leads to counts, and only
# where the same run finds no such thing without it.  A line for each says after how
# many events, and what was found first; the last line counts.  Exit status 0 if all
# were found.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
shift
limit=${DATELINE_EVENTS:-10000}
chunk=250
work=$(mktemp -d)
cd "$top/test/sim"
trap 'rm -rf "$work"' EXIT

# Each: a name, files, what sed does to each, what is found, and what is run.
mutants() {
	cat <<'END'
sick-switch-vetoes|plugin/import.c|/^static int take_part/,/^}/{s/if (err < 0 .. !rest)/if (true)/;s/return err < 0 ? err : 0/return rest ? -EINVAL : err < 0 ? err : 0/}|pair lost|--more harsh
sls-change-at-takeover|plugin/marks.c|/^int dl_marks_torus/,/^}/s/!e->recall.nmarks/true/|granted SL changed|--sms 2 --bare 1
dead-switches-asked|plugin/recall.c|s/sw->p_node->discovery_count/true/|not proven|--sms 2
written-at-once|plugin/phases.c|s/phases_write_tables(e, p->plan.held, /phases_write_tables(e, \&p->opened, /|credit loop|
maps-before-entries-close|plugin/phases.c|/^bool dl_phases_hold_maps/,/^}/s/return e->phases/return false \&\& e->phases/|VL changed under way|--sms 2 --mode proven,any-sl
refused-not-tried-again|plugin/engine.c|s/osm->subn.subnet_initialization_error = TRUE/osm->subn.subnet_initialization_error \&= TRUE/|pair lost|scripts/refused_sweep.events
behind-top-at-start|plugin/engine.c|s/(dl_phases_are_known(e) .. e->recall.known)/dl_phases_are_known(e)/|credit loop|scripts/top_rises_at_start.events
top-rises-when-refused|plugin/engine.c|/^static int engine_refuse/,/^}/s/dl_marks_clear(e)/false/|credit loop|scripts/top_rises_when_refused.events
links-raised-when-given-up|plugin/phases.c|/^static void phases_stop/,/^}/s/dl_phases_hold_links(e, NULL, true)/(void)0/|VL changed under way|scripts/links_when_given_up.events
astray-to-a-new-switch|plugin/recall.c|s/e->recall.astray ? sw->p_node->discovery_count : //|credit loop|scripts/astray_to_a_new_switch.events
maps-of-another|plugin/recall.c|/^static void spare_port/,/^}/s/if (!port_in_use(sw, in))/if (false)/|credit loop|scripts/maps_of_another.events
asked-at-a-takeover|plugin/phases.c|/^static int phases_prepare/,/^}/s/if (!dl_phases_shown(p))/if (false)/|credit loop|scripts/asked_in_another_mode.events
old-branches-forgotten|plugin/phases_plan.c|s/(p->origin == DL_PHASES_FROM_FORCE .. e->branches_left)/false/|credit loop|scripts/old_branches.events
lost-marks-forgotten|plugin/phases_look.c|/^static bool is_place_doubtful/,/^}/s/had_routes(p->from->routed.tables, was);/false;/|credit loop|scripts/lost_mark.events
branches-of-the-left-out|plugin/mcast.c|s/ .. is_new_in_change(e, s)//|credit loop|scripts/left_out_branches.events
master-asleep|plugin/rivals.c|s/= rivals_have_ruled(e)/= false \&\& rivals_have_ruled(e)/|credit loop|scripts/resumed_master.events
kept-without-knowing|plugin/phases.c|/^void dl_phases_keep/,/^}/s/if (dl_phases_are_known(e))/if (true)/|credit loop|scripts/former_master_keeps.events
silent-for-long|plugin/phases_write.c|/^int dl_phases_write_groups/,/^}/s/if (round .. .*until)/if (false)/|pair lost|scripts/silent_for_long.events
detours-across-what-is-avoided|lib/transition/waves_detour.c|s/w->transit.next.);/w->transit[next] + 1);/|avoided, but used|scripts/no_detour_across.events
marks-under-falling-top|plugin/marks.c|/^void dl_marks_write/,/^}/s/dl_recall_top(sw) > sw->max_lid_ho/false/|credit loop|scripts/key_of_another.events
second-failure-waits|plugin/phases_plan.c|s/if (e->drain.left.known .. dl_drain_is_due(e))/if (false)/|pair lost|scripts/second_failure.events
stopped-groups-kept|plugin/phases_plan.c|s/phases_is_mixed(e, p) .. p->links_come/false/|credit loop|scripts/mended_after_giving_up.events
groups-on-moved-cables|plugin/mcast.c|s/dl_sweep_is_recabled(f, first + port, sw)/false/|credit loop|scripts/moved_under_old_groups.events
links-not-asked|plugin/phases_write.c|/^int dl_phases_raise_links/,/^}/s/err = phases_check_links(e, p)/err = 0 \&\& phases_check_links(e, p)/|credit loop|scripts/moved_before_links.events
groups-opened-blindly|plugin/phases_plan.c|s/p->blind = !err .. phases_open_blindly(e, p)/p->blind = false \&\& phases_open_blindly(e, p)/|credit loop|scripts/restart_in_drain.events
earlier-ports-forgotten|lib/transition/waves_plan.c|s/[.]nearlier = t->history.nearlier/.nearlier = 0/|credit loop|--stay switch --gap 60 --mode proven,any-sl
operational-vls-ignored|plugin/qos.c plugin/phases_write.c|s/mask = vls [?] vls - (vls != 15) : mask/(void)vls/;s/err = raise [?] phases_set_links(e, IB_LINK_NO_CHANGE) : 0/(void)raise, err = 0/|credit loop|--raise 1
wake-up-lost|test/sim/sm_threads.c|/^static void drop_mutex/,/^}/s/if (m->waiters)/if (m->waiters \&\& sim_random(\&sm_random_state, 100))/|hung|
END
}

# findings BUILD SEED KIND OPTIONS: of a run, those of one kind.
findings() {
	# shellcheck disable=SC2086 # options are words
	"$1/test/sim/sim" --build "$1" --dir "$work/run" --seed "$2" --events "$chunk" $4 |
		sed -n "s/^ *[0-9.]* FOUND \($3:\)/\1/p" || :
	rm -rf "$work/run"
}

# Is all that the rig loads what it was?
same_plugin() {
	local so

	for so in plugin/libosmdateline.so test/sim/sm.so; do
		cmp -s "$build/$so" "$work/tree/build/$so" || return
	done
}

# try NAME FILES EDIT KIND OPTIONS
try() {
	local seed=0 events=0 said='' file

	for file in $2; do
		sed -i "$3" "$work/tree/$file"
		if cmp -s "$top/$file" "$work/tree/$file"; then
			printf '%s: %s has changed, the edit does nothing\n' "$1" "$file"
			return 1
		fi
	done
	make -C "$work/tree/build" -s WERROR= plugin/libosmdateline.so test/sim/sm.so \
		>"$work/log" 2>&1 || {
		cat "$work/log"
		return 1
	}
	if same_plugin; then
		printf '%s: the plugin has not become another one\n' "$1"
		return 1
	fi
	while ((events < limit)); do
		seed=$((seed + 1)) events=$((events + chunk))
		said=$(findings "$work/tree/build" "$seed" "$4" "$5")
		[[ ! $said ]] || [[ $(findings "$build" "$seed" "$4" "$5") ]] || break
		said=
	done
	for file in $2; do
		cp "$top/$file" "$work/tree/$file"
	done
	printf '%s: %s within %d events: %s\n' "$1" "$([[ $said ]] && echo found || echo MISSED)" \
		"$events" "${said%%$'\n'*}"
	[[ $said ]]
}

mkdir "$work/tree"
tar -C "$top" --exclude=.git --exclude=./build -cf - . | tar -C "$work/tree" -xf -
cp -a "$build" "$work/tree/build"
# configure was called by its whole path: make would build what is there.
sed -i "s#$top\>#$work/tree#g" "$work/tree/build/"{Makefile,config.status}
found=0 missed=0
while IFS='|' read -r name file edit kind options; do
	(($# == 0)) || [[ " $* " == *" $name "* ]] || continue
	if try "$name" "$file" "$edit" "$kind" "$options" </dev/null; then
		found=$((found + 1))
	else
		missed=$((missed + 1))
	fi
done < <(mutants)
printf '%d mutants found, %d missed\n' "$found" "$missed"
((missed == 0 && found > 0))
