#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# How long the engine waits for packets that met entries which have changed since
# (rules A14), and what it says of it.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

bats_require_minimum_version 1.5.0

load lib.bash

CABLE='"S_1_1_0"[1]'

# waits [OPTION...]: a fabric, and a cable that fails and comes back, with a wait.
waits() {
	fabric_up sm dateline torus.net "torus_config=$T/torus.torus.conf" "$@"
	sm_sweep
	sim_console "Unlink $CABLE" >/dev/null
	sm_sweep
	sim_console "ReLink $CABLE" >/dev/null
	sm_sweep
}

@test "counters that stand still end a wait" {
	dateline gen 6 5 1 -o torus -q
	waits "event_plugin_options=drain_ms=seen metrics=$T/metrics"
	log_count 'transition: .*old packets have left: counters stood still'
	grep -q '^dateline_transition_waits_total{end="seen"} [1-9]' metrics
	grep -q '^dateline_transition_waits_total{end="unproven"} 0' metrics
}

@test "the lifetime limits of the switches end a wait" {
	dateline gen 6 5 1 -o torus -q
	waits packet_life_time=0x0f event_plugin_options=drain_ms=bound
	log_count 'transition: .*old packets have left: no switch keeps them so long'
}

@test "without any limit a change goes on unproven, and says so" {
	dateline gen 6 5 1 -o torus -q
	waits packet_life_time=0x14 \
		"event_plugin_options=drain_ms=bound drain_seconds=1 metrics=$T/metrics"
	log_count 'ERR DL42: transition: not proven: after drain_seconds=1'
	grep -q '^dateline_transition_waits_total{end="unproven"} [1-9]' metrics
	grep -q '^dateline_transitions_total{result="unproven"} [1-9]' metrics
}
