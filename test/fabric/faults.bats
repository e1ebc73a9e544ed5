#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Allocations and files that fail within the plugin, and in the commands that look
# at a running fabric: one at a time, each at another place (test/fault/faults.c).
# In DATELINE_FAULT_SITES sweeps and starts, by chance; 0: until all have failed.

# shellcheck disable=SC2030,SC2031,SC2034,SC2317

load lib.bash

FAULTS=$DL_BUILD/test/fault/faults.so

setup() {
	[[ -e $FAULTS ]] || skip "sanitizers bring their own allocator"
	fabric_init
	RANDOM=$DATELINE_SEED
	export FAULT_OBJECT=dateline FAULT_ONCE=$T/once
	SM_PRELOAD=$FAULTS
	SITES=${DATELINE_FAULT_SITES:-12} FAILED=0 TRIED=0 NONE=0 NEW=''
}

# more: is there more to try?
more() {
	TRIED=$((TRIED + 1))
	((SITES ? TRIED <= SITES : NONE < 8))
}

# arm; disarm: a failure is to come; did one come?
arm() {
	rm -f "$FAULT_ONCE.was"
	echo $((SITES ? RANDOM % 200 : 0)) >"$FAULT_ONCE"
	FROM=$(wc -l <"$SM_DIR/osm.log")
}

disarm() {
	rm -f "$FAULT_ONCE"
	NONE=$((NONE + 1))
	[[ -e $FAULT_ONCE.was ]] || return 1
	FAILED=$((FAILED + 1)) NONE=0
}

log_has_since() {
	tail -n +$(($1 + 1)) "$SM_DIR/osm.log" | grep -qE "$2"
}

# told SWEEPS: since it was armed, the log names what failed, or so many sweeps did
# all that they should: a stream goes without a buffer, a file has a name at once,
# a directory is not made durable, groups are closed that need not be.
told() {
	local said

	alive "$SM_PID"
	# Files are written later than a sweep ends.
	[[ $(<"$FAULT_ONCE.was") =~ ^(allocation|openat|fsync) ]] ||
		wait_for "$DL_PATIENCE" log_has_since "$FROM" 'ERR DL|Warning: (cannot|no memory)'
	tail -n +$((FROM + 1)) "$SM_DIR/osm.log" >"$T/said"
	said=$(grep -oE 'ERR DL[0-9]+|Warning: (no memory to|cannot remember)' "$T/said" | head -n 1)
	say "$(<"$FAULT_ONCE.was"): ${said:-unharmed}"
	[[ $said ]] && return
	(($(grep -c 'dateline: verified free of credit loops' "$T/said") >= $1))
	# What a switch without power holds is not known.
	[[ $NEW ]] || fails grep 'dateline: transition: not proven' "$T/said"
}

# change: the next of four cables goes, or comes back.
change() {
	local cable=${CABLES[STEP / 2 % 4]} word=Unlink

	((STEP % 2 == 0)) || word=ReLink
	STEP=$((STEP + 1))
	sim_console "$word $cable" >/dev/null
}

@test "a failure at each place in a transition with groups: the next sweep recovers" {
	dateline gen 5 4 1 -o "$T/f" -q
	fabric_up "$T/a" dateline "$T/f.net" "torus_config=$T/f.torus.conf" \
		"event_plugin_options=drain_ms=0 dump_dir=$T/snap metrics=$T/metrics.prom"
	mapfile -t all < <(hosts)
	join_group 1 0 "${all[@]}"
	join_group 2 8 "${all[@]:3:9}"
	sm_sweep
	mapfile -t CABLES < <(awk '/^(Switch|Ca)/ { name = /^S/ ? $3 : "" }
		/^\[/ && /"S/ && name && name < $2 {
			split($1, p, "[][]")
			print name "[" p[2] "]"
		}' "$T/f.net" | some 4)
	STEP=0
	mfts "$T/a" >"$T/mfts"
	while more; do
		arm
		change
		sm_sweep
		disarm || continue
		sm_sweep
		told 2
		[[ $(grep -oE 'verified free of credit loops|ERR DL1' "$T/said" | tail -n 1) == verified* ]]
	done
	say "$FAILED places"
	((FAILED))
	((STEP % 2 == 0)) || change
	sm_sweep
	sm_sweep
	same "multicast tables" "$T/mfts" <(mfts "$T/a")
	snapshot "$T/live"
	[[ $(verdict "$T/live" delivered) == true ]]
	[[ $(verdict "$T/live" credit_loop) == false ]]
}

# tried MLID: has a failure come, or does a switch hold the group?
tried() {
	[[ ! -e $FAULT_ONCE.was ]] || return 0
	rm -rf "$T/live"
	snapshot "$T/live" --paths none
	mfts "$T/live" | grep -qi "$1"
}

# Nothing else sweeps here, and nobody writes files beside the sweeps, which could
# meet the failure.
@test "a failure at each place of a join: the next sweep follows at once" {
	local group=0 mlid lines

	dateline gen 3 3 1 -o "$T/f" -q
	fabric_up "$T/a" dateline "$T/f.net" "torus_config=$T/f.torus.conf"
	mapfile -t all < <(hosts)
	while ((NONE < 2)); do
		group=$((group + 1))
		mlid=$(printf '0xc%03x' "$group")
		arm
		echo 0 >"$FAULT_ONCE"
		lines=$(log_count 'SUBNET UP')
		join_group "$group" 0 "${all[group]}"
		wait_for "$DL_PATIENCE" tried "$mlid"
		disarm || continue
		say "$(<"$FAULT_ONCE.was")"
		wait_log "ERR DL29: no memory to route multicast group $mlid"
		wait_log 'SUBNET UP' $((lines + 1))
		mfts "$T/a" | grep -qi "$mlid"
	done
	((FAILED))
}

# A fabric that is new or set up.
@test "a failure at each place of a start: routed, or at the next sweep" {
	local kind=2

	dateline gen 3 3 1 -o "$T/f" -q
	sm_conf "$T/a" dateline sweep_interval=1 exit_on_fatal=FALSE
	while more; do
		kind=$((kind + 1))
		NEW=''
		if ((kind % 3 == 0)); then
			sim_stop
			sim_start "$T/f.net"
			NEW=1
		fi
		SM_DIR=$T/a
		: >"$T/a/osm.log"
		arm
		sm_start "$T/a"
		# Without memory for the engine itself OpenSM has none.
		wait_log 'ERR DL0[12]|SUBNET UP'
		if disarm; then
			grep -q 'ERR DL0[12]' "$T/a/osm.log" ||
				wait_log 'verified free of credit loops'
			told 1
		fi
		sm_stop
	done
	say "$FAILED places"
	((FAILED))
}

@test "a failure at each place of what reads the running fabric" {
	local words

	unset FAULT_ONCE
	dateline gen 3 3 1 -o "$T/f" -q
	SM_PRELOAD='' fabric_up "$T/a" dateline "$T/f.net" "torus_config=$T/f.torus.conf"
	mapfile -t all < <(hosts)
	join_group 1 0 "${all[@]}"
	for words in 'snapshot --live --paths none -o out' \
		'snapshot --live --paths none -o out/one.dls' \
		'discover --live --json' 'coords --live --csv'; do
		# shellcheck disable=SC2086
		"$DL_BUILD/test/fault/drive" "$FAULTS:$DL_UMAD2SIM" "$SITES" \
			"$DL_DATELINE" $words >&2
	done
}
