# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash disable=SC2317
#
# A fabric that changes under a running subnet manager: cables and switches
# that go and come back on ibsim's console, and what should then be in force.
# Loaded after lib.bash.

# events_init [MODE]: call it in setup.
events_init() {
	declare -gA FAR=() ENDS=() UNLINKED=() CUT=() DEAD=()
	declare -ga SWITCHES=() CABLES=()
	MODE=${1:-classic}
	RANDOM=$DATELINE_SEED
}

# make_torus X Y Z [GENERATOR-ARGUMENT...]: the netlist of that torus, known by its
# switches and cables.
make_torus() {
	local near far

	DEPTH=$3
	dateline gen "$@" -o "$T/f" 2>/dev/null
	while read -r near far; do
		FAR[$near]=$far
		ENDS[${near%[[]*}]+="$near "
		[[ $near != '"S'* || $far != '"S'* || ${FAR[$far]:-} ]] ||
			CABLES+=("$near")
	done < <(awk '/^(Switch|Ca)/ { name = $3 }
		/^\[/ {
			sub(/\(.*/, "", $1); sub(/\(.*/, "", $2)
			print name $1, $2
		}' "$T/f.net")
	mapfile -t SWITCHES < <(awk '/^Switch/ { print $3 }' "$T/f.net")
}

# up X Y Z [KEY=VALUE...]: that torus, routed by dateline in $MODE.
up() {
	up_unconfigured "$1" "$2" "$3" torus_config="$T/f.torus.conf" "${@:4}"
}

# up_unconfigured X Y Z [KEY=VALUE...]: the same without a torus_config.
up_unconfigured() {
	make_torus "$1" "$2" "$3"
	shift 3
	fabric_up "$T/a" dateline "$T/f.net" \
		"event_plugin_options=mode=$MODE dump_dir=$T/snap" "$@"
	wait_for "$DL_PATIENCE" test -e "$T/snap/dateline.dls"
	cp -r "$T/snap" "$T/whole"
}

#
# Damage.  A cable is named by an end, "switch"[port], as on ibsim's console,
# which mends it from the end where it was cut.
#

unlink_end() {
	[[ ! ${UNLINKED[$1]:-} && ! ${UNLINKED[${FAR[$1]}]:-} ]] || return 0
	sim_console "Unlink $1" >/dev/null
	UNLINKED[$1]=1
}

# ... unless something else keeps the cable down.
relink_end() {
	local far=${FAR[$1]} end

	[[ ! ${CUT[$1]:-} && ! ${CUT[$far]:-} && ! ${DEAD[${1%[[]*}]:-} &&
		! ${DEAD[${far%[[]*}]:-} ]] || return 0
	for end in "$1" "$far"; do
		[[ ${UNLINKED[$end]:-} ]] || continue
		sim_console "ReLink $end" >/dev/null
		unset 'UNLINKED[$end]'
	done
}

cut_cable() {
	CUT[$1]=1
	unlink_end "$1"
}

mend_cable() {
	unset 'CUT[$1]'
	relink_end "$1"
}

kill_switch() {
	local end

	DEAD[$1]=1
	for end in ${ENDS[$1]}; do
		unlink_end "$end"
	done
}

revive_switch() {
	local end

	unset 'DEAD[$1]'
	for end in ${ENDS[$1]}; do
		relink_end "$end"
	done
}

mend_all() {
	local what

	for what in "${!DEAD[@]}"; do
		revive_switch "$what"
	done
	for what in "${!CUT[@]}"; do
		mend_cable "$what"
	done
}

# The netlist without what is down, and with OpenSM's LIDs.
damaged_net() {
	awk -v cut="${!CUT[*]}" -v dead="${!DEAD[*]}" \
		-v lmc="${LMC:-0}" '
		function down(end,  name) {
			name = end
			sub(/\[.*/, "", name)
			return end in gone || name in gone
		}
		BEGIN {
			n = split(cut " " dead, word, " ")
			for (i = 1; i <= n; i++)
				gone[word[i]]
		}
		NR == FNR { lid["\"" $5 "\""] = $4; next }
		/^(Switch|Ca)/ { name = $3 }
		# Adapters, of one port, die with their switch.
		/^(vendid|devid|switchguid|caguid)/ { held = held $0 "\n"; next }
		/^Switch/ {
			skip = down(name)
			line = $1 " " $2 " " name " # \"s\" base port 0 lid " \
				lid[name] " lmc 0"
			print skip ? "" : held line
			held = ""
		}
		/^Ca/ { held = held $1 " " $2 " " name "\n" }
		/^\[/ {
			sub(/\(.*/, "", $1)
			sub(/\(.*/, "", $2)
			if (held != "")
				skip = down($2)
			if (!skip && !down(name $1) && !down($2))
				print held $1 " " $2 \
					(held == "" ? "" : " # lid " lid[name] " lmc " lmc)
			held = ""
		}' <(end_ports "$T/whole") "$T/f.net"
}

#
# What should be, and what is.
#

# Route the damage offline.  $EXPECTED is "refused", or what the plugin says of
# a fabric that is routed.
expect() {
	damaged_net >"$T/now.net"
	EXPECTED=refused
	if dateline route "$T/now.net" --torus-config "$T/f.torus.conf" \
		--mode "$MODE" -o "$T/offline" "$@" 2>"$T/route.err"; then
		EXPECTED=$(awk '
			/^Switch/ { n++; sw = 1 }
			/^Ca/ { sw = 0 }
			/^\[/ && sw && $2 ~ /^"S/ { c++ }
			END { print n " of " n " switches, " c / 2 " cables" }' \
			"$T/now.net")
	elif (($? != 1)); then
		cat "$T/route.err" >&2
		return 1
	fi
}

# What the last sweep said.
said() {
	awk '/dateline: .*routed a/ {
			match($0, /[0-9]+ of [0-9]+ switches, [0-9]+ cables/)
			v = substr($0, RSTART, RLENGTH)
		}
		/dateline: ERR DL19/ { v = "refused" }
		END { print v }' "$T/a/osm.log"
}

as_expected() {
	[[ $(said) == "$EXPECTED" ]]
}

lfts_are() {
	lfts "$T/a" | cmp -s - "$1"
}

# The fabric is as it should be.
settle() {
	rm -f "$T/snap/dateline.dls"
	sm_sweep
	wait_for "$DL_PATIENCE" as_expected || {
		say "expected: $EXPECTED; but OpenSM says: $(said)"
		return 1
	}
	if [[ $EXPECTED == refused ]]; then
		# What is left has the tables it had.
		[[ -s $T/good ]]
		lfts "$T/a" >"$T/now"
		[[ -s $T/now && -z $(comm -23 "$T/now" "$T/good") ]] && return
		say "tables changed by a refused sweep"
		return 1
	fi
	lfts "$T/offline" >"$T/want"
	wait_for "$DL_PATIENCE" lfts_are "$T/want" || {
		same "forwarding tables" "$T/want" <(lfts "$T/a")
		return 1
	}
	mv "$T/want" "$T/good"
	# So that none is late when the next one is asked for.
	wait_for "$DL_PATIENCE" test -e "$T/snap/dateline.dls"
}

# The snapshot delivers, without credit loops, and no path SL has changed.
check_snapshot() {
	[[ $EXPECTED != refused ]] || return 0
	wait_for "$DL_PATIENCE" snapshot_is_new || {
		same "forwarding tables" "$T/good" <(lfts "$T/snap")
		same "SL to VL" <(sl2vl "$T/offline") <(sl2vl "$T/snap")
		return 1
	}
	dateline verify "$T/snap" >"$T/verify.out" 2>&1 || {
		cat "$T/verify.out" >&2
		return 1
	}
	psls "$T/snap" >"$T/psl"
	[[ -s $T/psl && -z $(comm -23 "$T/psl" "$T/whole.psl") ]]
}

snapshot_is_new() {
	[[ -e $T/snap/dateline.dls ]] && lfts "$T/snap" | cmp -s - "$T/good" &&
		cmp -s <(sl2vl "$T/offline") <(sl2vl "$T/snap")
}

# The subnet manager's memory in kB.
memory() {
	awk '/^VmRSS/ { print $2 }' "/proc/$SM_PID/status"
}

#
# Random events.
#

# pick NAME...: one of them.
pick() {
	local -a of=("$@")

	PICKED=${of[RANDOM % $#]}
}

# A switch; every other time above one that is down, if there is one.  Not the
# one on which the subnet manager hangs.
pick_switch() {
	local c

	pick "${SWITCHES[@]}"
	if ((${#DEAD[@]} && RANDOM % 2)); then
		pick "${!DEAD[@]}"
		IFS='_"' read -ra c <<<"$PICKED"
		PICKED="\"S_${c[2]}_${c[3]}_$(((c[4] + 1) % DEPTH))\""
	fi
	[[ $PICKED != '"S_0_0_0"' ]] || PICKED='"S_1_1_1"'
}

# One thing goes or comes back.
event() {
	local what=$((RANDOM % 6))

	((${#DEAD[@]} < 3 && ${#CUT[@]} < 5)) || what=$((4 + RANDOM % 2))
	case $what in
	0 | 1)
		pick "${CABLES[@]}"
		[[ ! ${UNLINKED[$PICKED]:-} &&
			! ${UNLINKED[${FAR[$PICKED]}]:-} ]] || return 1
		cut_cable "$PICKED"
		;;
	2 | 3)
		pick_switch
		[[ ! ${DEAD[$PICKED]:-} ]] || return 1
		kill_switch "$PICKED"
		;;
	4)
		((${#CUT[@]})) || return 1
		pick "${!CUT[@]}"
		# It must show.
		[[ ! ${DEAD[${PICKED%[[]*}]:-} &&
			! ${DEAD[${FAR[$PICKED]%[[]*}]:-} ]] || return 1
		mend_cable "$PICKED"
		;;
	5)
		((${#DEAD[@]})) || return 1
		pick "${!DEAD[@]}"
		revive_switch "$PICKED"
		;;
	esac
}

# events COUNT: so many, with a sweep and a look after each.
events() {
	local i early=0 accepted=0 refused=0

	say "DATELINE_SEED=$DATELINE_SEED"
	psls "$T/whole" >"$T/whole.psl"
	lfts "$T/a" >"$T/good"
	for ((i = 1; i <= $1; i++)); do
		until event; do :; done
		if ((i % 10)); then
			expect --no-psl
			settle
		else
			expect
			settle
			check_snapshot
		fi
		alive "$SM_PID"
		if [[ $EXPECTED == refused ]]; then
			refused=$((refused + 1))
		else
			accepted=$((accepted + 1))
		fi
		((i != $1 / 4)) || early=$(memory)
	done
	say "$accepted states accepted, $refused refused; memory after a" \
		"quarter $early kB, at the end $(memory) kB"
	# Of a few events all may lead to states that are refused.
	(($1 < 50 || (accepted > $1 / 4 && refused)))
	(($(memory) < early + early / 10 + 1024))
}

# all_events N: so many events, then all is mended.  After each, what was
# expected is in force, as the test's own in_force sees it; its join_groups
# makes multicast groups again after every fifth.  Then $PATHS is all, that
# in_force ask for the path SLs of all end ports; adapters otherwise.
# shellcheck disable=SC2034 # in_force reads PATHS
all_events() {
	local i

	for ((i = 1; i <= $1; i++)); do
		PATHS=adapters
		((i % 5 != 1)) || { PATHS=all; join_groups; }
		until event; do :; done
		expect --no-psl
		settle
		in_force
	done
	mend_all
	expect
	settle
	same "a whole torus' tables" <(lfts "$T/whole") <(lfts "$T/snap")
	PATHS=all
	in_force
}
