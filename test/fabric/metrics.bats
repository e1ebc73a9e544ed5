#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Metrics: OpenSM routes a fabric that loses cables and switches, and the real
# node exporter and promtool read what the plugin writes.

# shellcheck disable=SC2030,SC2031,SC2317

load lib.bash
load events.bash

setup() {
	fabric_init
	events_init proven
	EXPORTER_PID=''
	PROM=$T/textfile/dateline.prom
	mkdir "$T/textfile"
}

teardown() {
	exporter_stop
	fabric_down
}

# reported_after TIME: has the plugin written that the subnet was up, after TIME?
reported_after() {
	local up

	up=$(value subnet_up_timestamp_seconds)
	[[ $up != none ]] && ((${up//./} > ${1//./})) && swept
}

# Has the file been written at the end of the last sweep?
swept() {
	(($(value subnet_up_timestamp_seconds | tr -d .) >
		$(value sweep_start_timestamp_seconds | tr -d .)))
}

# metrics_sweep: sm_sweep, until the file says so.  OpenSM logs that the subnet is up
# before it calls the plugin.
metrics_sweep() {
	local before

	before=$(value subnet_up_timestamp_seconds)
	sm_sweep
	wait_for "$DL_PATIENCE" reported_after "$before"
}

# metrics_up X Y Z [MODE [KEY=VALUE...]]: until the first sweep is in the file.
metrics_up() {
	local x=$1 y=$2 z=$3 mode=${4:-proven}

	shift $(($# < 4 ? $# : 4))
	up "$x" "$y" "$z" "event_plugin_options=mode=$mode metrics=$PROM \
dump_dir=$T/snap" "$@"
	[[ ! -d $(dirname "$PROM") ]] || wait_for "$DL_PATIENCE" reported_after 0
}

# value METRIC: of one sample in the file, "none" if there is none.
value() {
	awk -v name="dateline_$1" '$1 == name { v = $2; n++ }
		END { print n == 1 ? v : "none" }' "$PROM"
}

is() {
	[[ $(value "$1") == "$2" ]]
}

# values METRIC VALUE...: pairs, all of which must hold once the sweeps that
# are under way have ended.
values() {
	while (($#)); do
		wait_for "$DL_PATIENCE" is "$1" "$2" || {
			say "$1 is $(value "$1"), expected $2"
			return 1
		}
		shift 2
	done
}

#
# The real node exporter, on a free port of the loopback.
#

exporter_says() {
	curl -s --max-time 10 "http://127.0.0.1:$EXPORTER_PORT/metrics" \
		>"$T/scraped" && grep -q ^node_textfile "$T/scraped"
}

exporter_start() {
	local exporter try

	exporter=$(service prometheus-node-exporter)
	for try in 1 2 3 4 5; do
		EXPORTER_PORT=$((20000 + ($$ * 5 + try + RANDOM) % 12000))
		setpriv --pdeathsig KILL "$exporter" \
			--web.listen-address="127.0.0.1:$EXPORTER_PORT" \
			--collector.disable-defaults --collector.textfile \
			--collector.textfile.directory="$T/textfile" \
			>"$T/exporter.out" 2>&1 3>&- {SIM_CONSOLE}>&- &
		EXPORTER_PID=$!
		# shellcheck disable=SC2317 # called through wait_for
		exporter_settled() {
			exporter_says || ! alive "$EXPORTER_PID"
		}
		wait_for "$DL_PATIENCE" exporter_settled || true
		! alive "$EXPORTER_PID" || return 0
	done
	cat "$T/exporter.out" >&2
	return 1
}

exporter_stop() {
	[[ ${EXPORTER_PID:-} ]] || return 0
	end_process "$EXPORTER_PID"
	EXPORTER_PID=''
}

# scraped METRIC VALUE: what the node exporter serves; it prints large numbers
# in its own way.
scraped() {
	exporter_says
	awk -v name="$1" -v want="$2" '$1 == name && $2 + 0 == want + 0 { ok = 1 }
		END { exit !ok }' "$T/scraped" && return
	say "the exporter serves: $(grep -F "$1" "$T/scraped"), expected $2"
	return 1
}

#
# Tests.
#

@test "alert rules: promtool finds them right, and each does its work" {
	local promtool

	promtool=$(service promtool)
	"$promtool" check rules "$DL_TOP/conf/dateline.rules.yml"
	"$promtool" test rules "$DL_TOP/test/metrics/alerts.yml"
	# The dashboard's expressions are PromQL; no two panels share a place.
	jq '{groups: [{name: "dashboard", rules: [.panels[].targets[]?.expr, .annotations.list[].expr |
		{record: "panel", expr: .}] | to_entries | map(.value + {labels: {n: "\(.key)"}})}]}' \
		"$DL_TOP/conf/dateline.grafana.json" >"$T/dashboard.yml"
	"$promtool" check rules "$T/dashboard.yml"
	jq -e '[.panels[] | .gridPos as $g | range($g.x; $g.x + $g.w) as $x |
		range($g.y; $g.y + $g.h) as $y | [$x, $y]] | length == (unique | length)' \
		"$DL_TOP/conf/dateline.grafana.json"
	# Every metric of a rule or panel is one that the plugin writes, or may write.
	grep -ohE 'dateline_[a-z_]+' "$DL_TOP/conf/dateline.rules.yml" \
		"$DL_TOP/conf/dateline.grafana.json" | sort -u >"$T/used"
	metrics_up 3 3 1
	{
		awk '/^# TYPE/ { print $3 }' "$PROM"
		echo dateline_refusal_info
	} | sort >"$T/written"
	[[ -z $(comm -23 "$T/used" "$T/written") ]]
}

@test "with sa_db_dump groups are counted without a heavy sweep" {
	local sweeps

	metrics_up 3 3 1 proven sa_db_dump=TRUE sweep_interval=1
	values multicast_groups_per_port 0
	sweeps=$(value 'sweeps_total{result="routed"}')
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts | some 5)
	values multicast_groups_per_port 1
	# shellcheck disable=SC2046
	join_group 1 0 $(hosts | some 6)
	values multicast_groups_per_port 2
	[[ $(value 'sweeps_total{result="routed"}') == "$sweeps" ]]
}

@test "a switch and a cable fail and come back, as the node exporter tells" {
	local up

	metrics_up 6 5 1
	exporter_start
	"$(service promtool)" check metrics <"$PROM" >"$T/lint" 2>&1 || {
		cat "$T/lint" >&2
		return 1
	}
	[[ ! -s $T/lint && $(stat -c %a "$PROM") == 644 ]]
	values up 1 master 1 last_sweep_routed 1 tables_safe 1 \
		'torus_radix{dimension="x"}' 6 switches 30 switches_missing 0 \
		links 60 links_missing 0 adapters 30 pairs 3540 \
		unreachable_pairs 0 forwarding_entries 1800 \
		'sweeps_total{result="kept"}' 0
	# Some for each port at least.
	(($(value smps_sent_total) > 30 * 36))
	up=$(value last_success_timestamp_seconds)
	(($(date +%s) - ${up%.*} < 600))
	kill_switch '"S_3_2_0"'
	cut_cable '"S_1_1_0"[1]'
	sm_sweep
	values switches 29 switches_expected 30 switches_missing 1 \
		links 55 links_expected 60 links_missing 5 hops_cut 1 \
		adapters 29 tables_safe 1 unreachable_pairs 0
	scraped dateline_switches_missing 1
	scraped dateline_links 55
	scraped dateline_hops_cut 1
	scraped dateline_tables_safe 1
	scraped node_textfile_scrape_error 0
	mend_all
	sm_sweep
	values switches_missing 0 links_missing 0 hops_cut 0
	scraped dateline_switches 30
	scraped node_textfile_scrape_error 0
	# shellcheck disable=SC2046
	join_group 0 0 $(hosts | some 5)
	# shellcheck disable=SC2046
	join_group 1 0 $(hosts | some 6)
	sm_sweep
	values multicast_groups "$(mfts "$T/a" | cut -d ' ' -f 2 | sort -u |
		wc -l)" multicast_groups_per_port 2 multicast_groups_capacity 1024
	sm_stop
	values up 0 master 0 switches 30
	# Nothing is left beside it.
	[[ $(ls -A "$(dirname "$PROM")") == "$(basename "$PROM")" ]]
}

# told WORDS: the number N in them as the log tells it; 0 where it does not.
told() {
	grep -oE "${1/N/[0-9]+}" "$T/told" | grep -oE '[0-9]+' | head -n 1 |
		grep . || echo 0
}

@test "repairs are counted as they are told" {
	metrics_up 6 5 1
	values repair_destinations 0
	# A ring in two pieces.
	cut_cable '"S_0_1_0"[1]'
	cut_cable '"S_2_1_0"[1]'
	sm_sweep
	values hops_cut 2 tables_safe 1
	sed -n 's/.*dateline: verified free of credit loops; \(.*\); routed a .*/\1/p' \
		"$T/a/osm.log" | tail -n 1 >"$T/told"
	(($(told 'N of ') > 0))
	values repair_changed_entries "$(told 'N of ')" \
		forwarding_entries "$(told 'N forwarding entries')" \
		repair_destinations "$(told 'for N destination switches')" \
		repair_tree_destinations "$(told '\(N tree-routed\)')" \
		repair_filled_entries "$(told 'N filled in split rings')" \
		repair_moved_switches "$(told 'N switches moved')" \
		repair_lost_switch_pairs "$(told 'N pairs of switches')" \
		repair_cyclic_switch_pairs "$(told 'N in credit loops')"
	# One line a sweep tells it, and only that one.
	log_count 'dateline: .*verified free' >"$T/verdicts"
	log_count 'dateline: .*routed a' | cmp - "$T/verdicts"
}

@test "refused sweeps show, with the error's number" {
	local routed lost pairs

	metrics_up 5 4 1 classic
	values tables_safe 1 last_sweep_routed 1 \
		'refusal_info{error="DL14"}' none
	routed=$(value last_success_timestamp_seconds)
	kill_switch '"S_1_1_0"'
	kill_switch '"S_2_1_0"'
	sm_sweep
	values last_sweep_routed 0 'refusal_info{error="DL14"}' 1 \
		switches_missing 2 forwarding_entries 800 \
		last_success_timestamp_seconds "$routed"
	(($(value 'sweeps_total{result="kept"}') >= 1))
	# What is lost is what a look at the running fabric finds to be lost.
	snapshot "$T/live"
	dateline verify "$T/live" >"$T/judged" 2>&1 || [[ $? == 1 ]]
	read -r lost pairs < <(sed -nE \
		's/^delivery: ([0-9]+) of ([0-9]+) pairs .*/\1 \2/p' "$T/judged")
	((lost > 0))
	values unreachable_pairs "$lost" pairs "$pairs" tables_loop_free 1 \
		tables_delivered 0 tables_safe 0
	[[ $(value last_sweep_timestamp_seconds) > $routed ]]
	mend_all
	sm_sweep
	values last_sweep_routed 1 'refusal_info{error="DL14"}' none \
		switches_missing 0
	fails test "$(value last_success_timestamp_seconds)" = "$routed"
	"$(service promtool)" check metrics <"$PROM"
}

@test "an engine that steps aside has no tables to tell of" {
	metrics_up 5 4 1 classic routing_engine=dateline,minhop
	values forwarding_entries 800
	kill_switch '"S_1_1_0"'
	kill_switch '"S_2_1_0"'
	sm_sweep
	values last_sweep_routed 0 'refusal_info{error="DL14"}' 1 \
		forwarding_entries none tables_safe none
	(($(value 'sweeps_total{result="aside"}') >= 1))
}

@test "a file that cannot be written is told once, and OpenSM lives" {
	PROM=$T/nowhere/dateline.prom
	metrics_up 3 3 1
	sm_sweep
	[[ $(log_count "ERR DL32: metrics cannot be written to $PROM: No such") == 1 ]]
	mkdir "$T/nowhere"
	sm_sweep
	values switches 9
}

# threads: of OpenSM, counted by the kernel.
threads() {
	awk '/^Threads:/ { print $2 }' "/proc/$SM_PID/status"
}

@test "the manual page has every metric, with its type and labels" {
	metrics_up 6 5 1
	# Names, types and labels in the file.
	awk '/^# TYPE/ { type[$3] = $4; next }
		/^#/ { next }
		{
			name = $1; labels = ""
			if (match(name, /\{.*\}/)) {
				labels = substr(name, RSTART + 1, RLENGTH - 2)
				name = substr(name, 1, RSTART - 1)
				gsub(/="[^"]*"/, "", labels)
				gsub(/,/, ", ", labels)
			}
			print name, type[name] (labels ? "; " labels : "")
		}' "$PROM" | sort -u >"$T/told"
	# The last thing in the brackets is the unit.
	sed -nE 's/^\.It Cm (dateline_[a-z_]+) Pq (.*); [^;]*$/\1 \2/p' \
		"$DL_TOP/man/dateline-metrics.7" | sort >"$T/page"
	# There after a refusal only.
	echo 'dateline_refusal_info gauge; error' >>"$T/told"
	same "metrics" <(sort "$T/told") "$T/page"
}

@test "metrics cost no thread, and change at sweeps only" {
	local with

	metrics_up 3 3 1
	with=$(threads)
	metrics_sweep
	values switches 9
	cp "$PROM" "$T/once"
	sleep 1
	cmp "$PROM" "$T/once"
	metrics_sweep
	fails cmp -s "$PROM" "$T/once"
	sm_stop
	sm_conf "$T/b" dateline torus_config="$T/f.torus.conf" \
		event_plugin_options="dump_dir=$T/snap.b"
	sm_start "$T/b"
	wait_for "$DL_PATIENCE" test -e "$T/snap.b/dateline.dls"
	[[ $(threads) == "$with" ]]
}

@test "who is master shows on both subnet managers" {
	local first second master
	metrics_up 4 3 1 proven sm_priority=14
	values master 1
	first=$PROM second=$T/textfile/second.prom
	master=$SM_PID
	sm_conf "$T/b" dateline torus_config="$T/f.torus.conf" sm_priority=3 \
		sminfo_polling_timeout=300 polling_retry_number=2 \
		"event_plugin_options=metrics=$second"
	SIM_HOST=H_2_2_0_1 sm_start "$T/b"
	wait_log 'Entering STANDBY'
	PROM=$second
	values up 1 master 0 switches none
	sm_hand_over "$master"
	wait_log 'SUBNET UP'
	values up 1 master 1 switches 12
	PROM=$first
	values up 0 master 0 switches 12
}
