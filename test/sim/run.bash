#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: DATELINE_BUILD=BUILD run.bash
#
# OpenSM with the plugin in virtual time (README.md): the scripts that are kept,
# a run twice, and DATELINE_EVENTS random events in each of several settings
# together, drawn from DATELINE_SEED.  A run that finds something leaves its script
# in BUILD/check-sim.  The last line sums up; nothing in the output depends on the
# clock.  Exit status 0 if nothing was found.
set -uo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(cd "${DATELINE_BUILD:?}" && pwd)
EVENTS=${DATELINE_EVENTS:-5000}
SEED=${DATELINE_SEED:-1}
# Another OpenSM than the installed one, with a plugin for it: versions.bash.
OUT=${DATELINE_OPENSM:-$BUILD}/check-sim
PLUGIN=${DATELINE_OPENSM:+$DATELINE_OPENSM/dateline/plugin}
OPENSM=$(PATH=${DATELINE_OPENSM:+$DATELINE_OPENSM/sbin:}$PATH:/usr/sbin:/sbin command -v opensm)
CHUNK=250 # events a run

[[ -x $OPENSM ]] || {
	echo "SKIPPED virtual time: this machine has no opensm"
	exit 0
}
# The development head loses switches with extended speeds (doc/findings.md).
PLAIN=0
! grep -q 'Re-querying PortInfo' "$OPENSM" || PLAIN=1
export HERE BUILD OUT OPENSM PLUGIN PLAIN

# one NAME ARGUMENT...: a run, its output in OUT/NAME.log.
one() {
	local name=$1

	shift
	mkdir -p "$OUT/$name"
	"$BUILD/test/sim/sim" --build "$BUILD" --opensm "$OPENSM" \
		${PLUGIN:+--plugin "$PLUGIN"} --plain "$PLAIN" --dir "$OUT/$name" \
		"$@" >"$OUT/$name.log" 2>&1
	echo "$? $name"
}

# The same run twice, from elsewhere and in another environment: the same bytes.
twice() {
	one twice-a --events 60 --seed "$1" --sms 2 >/dev/null
	(
		cd / || exit
		export SOMETHING=else
		one twice-b --events 60 --seed "$1" --sms 2 >/dev/null
	)
	cmp -s "$OUT/twice-a.log" "$OUT/twice-b.log"
	echo "$? twice-a"
}

# A subnet manager that never ends a sweep, as the engine needs QoS, ends the run.
never_up() {
	echo 'qos FALSE' >"$OUT/never-up.conf"
	timeout 300 "$BUILD/test/sim/sim" --build "$BUILD" --opensm "$OPENSM" \
		${PLUGIN:+--plugin "$PLUGIN"} --dir "$OUT/never-up" --events 1 \
		--config "$OUT/never-up.conf" >"$OUT/never-up.log" 2>&1
	echo "$(($? != 1)) never-up"
}
export -f one twice never_up

# Runs, one a line: what xargs starts.
runs() {
	local script n=0 left=$EVENTS events seed=$SEED
	local -a settings=(
		"proven --mode proven"
		"any-sl --mode any-sl"
		"standby --mode proven --sms 2"
		"mesh --mode proven --torus 5x5x5"
		"calm --mode proven --gap 1500 --tables 2000 \
			--plugin-options 'dump_dir=dump metrics=metrics.prom'"
		"standby-any-sl --mode any-sl --sms 2 --opensm-options 'use_ucast_cache TRUE'"
		"leftovers --mode proven --stay 100"
		"avoid --mode proven --stay 20 --more avoid"
		"restless --mode proven --bare 1 --stay 20 --settle 50 --more harsh,swap"
		"modes --mode proven,any-sl --sms 2 --gap 60"
		"leftovers-any-sl --mode any-sl --stay 20 --bare 1 \
			--plugin-options 'dump_dir=dump metrics=metrics.prom'"
		"lids --mode proven --stay 20 --tables 1000 --opensm-options 'lmc 1'"
		"speeds --mode proven --torus 4x4x1 --parallel 2 --ports 12 --more train,avoid \
			--plugin-options 'dump_dir=dump metrics=metrics.prom'"
		"keys --mode proven --sms 2 --more key --opensm-options \
			'm_key 0x1234;m_key_protection_level 2;m_key_lease_period 20;lmc 1'"
	)

	for script in "$HERE"/scripts/*.events; do
		[[ -e $script ]] || continue
		echo "one script-$(basename "$script" .events) '$script'"
	done
	echo "twice $SEED"
	echo never_up
	while ((left > 0)); do
		events=$((left < CHUNK ? left : CHUNK))
		set -- "${settings[n++ % ${#settings[@]}]}"
		echo "one ${1%% *}-$seed --seed $seed --events $events ${1#* }"
		seed=$((seed + 1)) left=$((left - events))
	done
}

rm -rf "$OUT"
mkdir -p "$OUT"
passed=0 failed=0
while read -r status name; do
	if ((status == 0)); then
		passed=$((passed + 1))
		rm -rf "${OUT:?}/$name"
		continue
	fi
	failed=$((failed + 1))
	printf 'FAILED %s: its script is %s\n' "$name" "$OUT/$name/script"
	grep -v '^ .* up after' "$OUT/$name.log"
done < <(runs | tr '\n' '\0' | xargs -0 -P "${DATELINE_JOBS:-$(nproc)}" -I RUN bash -c RUN |
	sort -k 2)
printf '%d events: %d passed, %d failed\n' "$EVENTS" "$passed" "$failed"
((failed == 0))
