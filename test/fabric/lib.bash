# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
#
# A live InfiniBand fabric for a test: ibsim plays the switches and adapters
# of a netlist, stock OpenSM routes them, and the real clients look at it.
#
# Everything a test makes lives in $T.  ibsim's sockets are abstract (no
# files) and carry the name $IBSIM_SOCKNAME, which differs from test to test,
# so tests may run side by side.  Every process started here is told by the
# kernel to end when the test's shell does (setpriv --pdeathsig), and
# fabric_down stops them by their process ids before that.
#
# Functions that start something must be called directly, not through bats'
# `run` or in a subshell: what they start would end with that subshell.
#
# A busy machine.  No test is tried twice, so none may depend on how fast its
# processes run.  Five things did, and each has its cure here:
#
# - Clients have short timers.  infiniband-diags wait 1 s for an answer and do
#   not ask again (under libumad2sim, which implements no timeout, libibmad's
#   own retries never happen); a client that gave up may then hang at its exit,
#   because libumad2sim waits for its receiver thread with the lock held that
#   this thread needs to take a late answer.  Dateline's snapshot asks five
#   times in 2.5 s.  sim gives all of them time.
# - A packet that is lost under OpenSM is lost for good: no timeout returns it,
#   and a heavy sweep waits for every answer.  A packet gets lost when the
#   client that should answer ends.  A standby subnet manager that polls its
#   master just then hangs in DISCOVERING (2 of 20 times with a poll each
#   5 ms).  sm_hand_over stops the standby while the master ends (0 of 40).
# - OpenSM sweeps when a trap comes, and each sweep_interval, perhaps in the
#   middle of a change that takes several console commands, and a test that
#   waits for the next SUBNET UP gets that of the wrong sweep.  sm_conf turns
#   both off.
# - ibsim takes 10 clients, and refuses others.  path_sls runs a few at a time
#   however many processors there are.
# - sim filtered what a client says in a process of its own, which might end
#   after the test had read the result.  It now ends before sim returns.

PATH=$PATH:/usr/sbin:/sbin

# The build tree: $DATELINE_BUILD, else build/ beside test/.
DL_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
DL_BUILD=$(cd "${DATELINE_BUILD:-$DL_TOP/build}" && pwd)
dateline=$DL_BUILD/dateline
DL_DATELINE=$dateline
# Another OpenSM than the installed one, with a plugin for it: versions.bash.
DL_PLUGIN=$DL_BUILD/plugin
if [[ ${DATELINE_OPENSM:-} ]]; then
	DL_PLUGIN=$DATELINE_OPENSM/dateline/plugin:$DATELINE_OPENSM/lib
	PATH=$DATELINE_OPENSM/sbin:$DATELINE_OPENSM/bin:$PATH
fi
DL_UMAD2SIM=$(printf "%s\n" /usr/lib*/*/umad2sim/libumad2sim.so \
	/usr/lib*/umad2sim/libumad2sim.so | grep -vF "*" | head -n 1)
[[ ! -e $DL_BUILD/test/fabric/late.so ]] ||
	DL_UMAD2SIM=$DL_BUILD/test/fabric/late.so:$DL_UMAD2SIM

# How long to wait for anything that should happen, in seconds.
DL_PATIENCE=${DATELINE_PATIENCE:-120}
DL_PATIENCE_MS=$((DL_PATIENCE * 1000))

# A message for the person who reads the test's output.
say() {
	printf '%s\n' "$*" >&2
}

# fabric_init [DIR]: start afresh in DIR (default: bats' own per-test folder),
# and go there: libumad2sim makes its folders where a client starts.
fabric_init() {
	T=${1:-$BATS_TEST_TMPDIR}
	DATELINE_SEED=${DATELINE_SEED:-$(random_seed)}
	cd "$T" || return
	SIM_PID='' SM_PID='' SM_DIR=''
	export IBSIM_SOCKNAME="dateline-$$-$RANDOM$RANDOM"
	unset SMPS_LOG SMPS_RECORD SMPS_ALL SMPS_SICK SMPS_SILENT SMPS_PLAIN SMPS_SPEED SMPS_LOSS SMPS_SEED SMPS_LIES SMPS_CC SMPS_STUCK
	unset SIM_HOST IBSIM_SERVER_NAME IBSIM_SERVER_PORT
	# Bats looks at each command of a function, too, which costs more than most of them.
	set +T
}

# random_seed: one for the whole run, DATELINE_LIVE_SEED or by the clock, unless
# DATELINE_SEED is set.  Of tests that begin at the same time the first names it,
# complete.
random_seed() {
	local file=${BATS_RUN_TMPDIR:-$T}/seed

	if [[ ! -e $file ]]; then
		echo "${DATELINE_LIVE_SEED:-$(($(date +%s) % 32768))}" >"$file.$BASHPID"
		ln "$file.$BASHPID" "$file" 2>/dev/null || true
	fi
	cat "$file"
}

# fabric_down: stop what fabric_init's successors started.  Safe to call at
# any time, also twice.
fabric_down() {
	sm_stop
	sim_stop
	[[ ${BATS_FILE_TMPDIR:-} ]] || json_check "$T"
}

# What a test begins and ends with, unless its file says otherwise.
setup() {
	fabric_init "$BATS_TEST_TMPDIR"
}

teardown() {
	fabric_down
}

teardown_file() {
	json_check "$BATS_FILE_TMPDIR"
}

# The dateline command of the build tree.  Its documents are kept for json_check.
# Nothing else is run here: sim preloads the simulator.
dateline() {
	local status=0 kept

	if [[ ! ${T:-} || " $* " != *" --json "* || $1 == -* ]]; then
		"$DL_DATELINE" "$@"
		return
	fi
	kept=${BATS_FILE_TMPDIR:-$T}/$1.${BATS_TEST_NUMBER:-}.$BASHPID.$RANDOM.told
	"$DL_DATELINE" "$@" >"$kept" || status=$?
	[[ ! -s $kept ]] || printf '%s\n' "$(<"$kept")"
	return "$status"
}

# The same language, by a program that starts in a tenth of the time.
if command -v gojq >/dev/null; then
	jq() {
		gojq "$@"
	}
fi

# json_check DIR: the documents that commands have printed, and that lie there, are as their
# schemas say.
json_check() {
	local -a told

	mapfile -t told < <(find "$1" -maxdepth 1 -name '*.told' -size +0)
	((${#told[@]})) || return 0
	python3 "$DL_TOP/test/schemas.py" "$DL_TOP/conf/schema" "${told[@]}" >&2 || return
	rm "${told[@]}"
}

# service PROGRAM: where it is, on this machine or unpacked by bootstrap.
service() {
	command -v "$1" || command -v "$DL_BUILD/services/usr/bin/$1" ||
		command -v "$DL_BUILD/services/usr/sbin/$1" || {
		say "there is no $1: see SERVICE_PACKAGES in bootstrap"
		return 1
	}
}

# wait_for SECONDS COMMAND...: until COMMAND succeeds; 1 when it never does.
wait_for() {
	local end=$((SECONDS + $1))

	shift
	until "$@"; do
		((SECONDS < end)) || return 1
		sleep 0.05
	done
}

# left_out COMMAND...: it succeeds, and its status says that nodes are left out.
left_out() {
	local status=0

	"$@" || status=$?
	((status == 1))
}

# fails COMMAND...: it must not succeed (`! COMMAND` does not count in bats).
fails() {
	! "$@" && return
	say "should have failed: $*"
	return 1
}

# alive PID: is it running (a zombie is not)?
alive() {
	local stat

	read -r stat 2>/dev/null <"/proc/$1/stat" || return 1
	[[ ${stat##*) } != Z* ]]
}

# end_process PID: ask it to end, insist after some seconds, and reap it.
end_process() {
	kill "$1" 2>/dev/null || return 0
	# shellcheck disable=SC2317 # called through wait_for
	gone() { ! alive "$1"; }
	wait_for 10 gone "$1" || kill -KILL "$1"
	wait "$1" 2>/dev/null || true
}

#
# The simulator.
#

sim_listens() {
	grep -qF "@$IBSIM_SOCKNAME:ctl@" /proc/net/unix
}

sim_ready_or_dead() {
	sim_listens || ! alive "$SIM_PID"
}

# sim_start NETLIST: serve it, with the options in the array SIM_FLAGS.  The
# console stays open on $SIM_CONSOLE.
sim_start() {
	local net=$1 nodes switches ports

	read -r nodes switches ports < <(awk '
		/^(Switch|Ca|Hca|Rt)[ \t]/ { n++; p += $2 + 1 }
		/^Switch[ \t]/ { s++ }
		END { print n + 4, s + 4, p + 64 }' "$net")
	rm -f "$T/console"
	mkfifo "$T/console"
	exec {SIM_CONSOLE}<>"$T/console"
	setpriv --pdeathsig KILL ibsim -s -N "$nodes" -S "$switches" \
		-P "$ports" ${SIM_FLAGS:+"${SIM_FLAGS[@]}"} "$net" \
		<"$T/console" >"$T/ibsim.out" 2>"$T/ibsim.err" \
		3>&- {SIM_CONSOLE}>&- &
	SIM_PID=$!
	wait_for "$DL_PATIENCE" sim_ready_or_dead || true
	sim_listens && return
	say "ibsim does not serve $net:"
	tail -n 5 "$T/ibsim.err" >&2
	return 1
}

# What the console has said so far, in bytes; and since then, with no prompt.
sim_said() {
	stat -c %s "$T/ibsim.out"
}

sim_says_since() {
	tail -c +$(($1 + 1)) "$T/ibsim.out"
}

# sim_console COMMAND: Unlink "node"[port], ReLink "node"[port], Error ...,
# PerformanceSet ...; prints the answer; 1 when ibsim refused.
sim_console() {
	local from answer

	from=$(sim_said)
	printf '%s\n' "$*" >&"$SIM_CONSOLE"
	# shellcheck disable=SC2317 # called through wait_for
	answered() { [[ $(sim_says_since "$from") == *'sim> ' ]]; }
	wait_for "$DL_PATIENCE" answered ||
		{ say "ibsim does not answer: $*"; return 1; }
	answer=$(sim_says_since "$from")
	answer=${answer%'sim> '}
	printf '%s' "$answer"
	[[ $answer != '#'* && $answer != *unknown* ]]
}

sim_stop() {
	[[ ${SIM_PID:-} ]] || return 0
	end_process "$SIM_PID"
	exec {SIM_CONSOLE}>&-
	SIM_PID=''
}

# sim COMMAND...: run a client on the fabric, attached to the first node of
# the netlist or to $SIM_HOST, and as patient as the tests are unless its own
# options, which come later, say otherwise.  The simulator's greeting is
# dropped.  With SMPS_LIES or SMPS_CC exported it is told them, too.
sim() {
	local err smps='' status=0
	local -a command=("$@")

	[[ ! ${SMPS_LIES:-}${SMPS_CC:-} ]] || smps=$(smps_preloaded)

	case "$1 ${2:-}" in
	'dateline snapshot')
		command=("$1" "$2" --retries 100 "${@:3}")
		;;
	ib* | perfquery* | saquery* | smpquery*)
		command=("$1" -t "$DL_PATIENCE_MS" "${@:2}")
		;;
	esac
	err=$(mktemp "$T/sim.XXXXXX")
	LD_PRELOAD=$smps$DL_UMAD2SIM \
		"${command[@]}" 2>"$err" || status=$?
	grep -Ev 'sim_connect:|fd_data_enqueue failed' "$err" >&2 || true
	rm "$err"
	return "$status"
}

#
# The subnet manager.
#

# sm_conf DIR ENGINE [KEY=VALUE...]: write DIR/opensm.conf.
# no_fallback: a fabric that the engine refuses stays without routes.
# It sweeps when it is told to, unless the options sweep_on_trap and
# sweep_interval say otherwise.
sm_conf() {
	local dir=$1 engine=$2 option

	shift 2
	mkdir -p "$dir/cache"
	{
		echo "routing_engine $engine,no_fallback"
		echo "event_plugin_name osmdateline"
		echo "qos TRUE"
		echo "force_log_flush TRUE"
		echo "log_file $dir/osm.log"
		echo "daemon FALSE"
		echo "sweep_on_trap FALSE"
		echo "sweep_interval 0"
		for option; do
			echo "${option%%=*} ${option#*=}"
		done
	} >"$dir/opensm.conf"
}

# smps_preloaded: smps.c, to be loaded first, if a variable of it is exported.
smps_preloaded() {
	[[ ! ${SMPS_LOG:-}${SMPS_RECORD:-}${SMPS_ALL:-}${SMPS_SICK:-}${SMPS_SILENT:-}${SMPS_PLAIN:-}${SMPS_SPEED:-}${SMPS_LOSS:-}${SMPS_LIES:-}${SMPS_CC:-}${SMPS_STUCK:-} ]] ||
		echo "$DL_BUILD/test/fabric/smps.so:"
}

# sm_start DIR: run OpenSM with DIR/opensm.conf; dumps and caches go to DIR.
# With a variable of smps.c exported, through that; SM_PRELOAD comes first.
sm_start() {
	local smps

	smps=$(smps_preloaded)
	SM_DIR=$1
	: >"$SM_DIR/osm.log"
	OSM_TMP_DIR=$SM_DIR OSM_CACHE_DIR=$SM_DIR/cache \
		LD_PRELOAD=${SM_PRELOAD:+$SM_PRELOAD:}$smps$DL_UMAD2SIM \
		LD_LIBRARY_PATH=$DL_PLUGIN${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
		setpriv --pdeathsig KILL opensm -D "${SM_FLAGS:-0x43}" \
		-F "$SM_DIR/opensm.conf" \
		</dev/null >"$SM_DIR/osm.out" 2>&1 3>&- {SIM_CONSOLE}>&- &
	SM_PID=$!
}

# log_count PATTERN: lines of the subnet manager's log that match.
log_count() {
	grep -cE -- "$1" "$SM_DIR/osm.log"
}

# wait_log PATTERN [COUNT [SECONDS]]: until that many lines match.
wait_log() {
	local pattern=$1 want=${2:-1}

	# shellcheck disable=SC2317 # called through wait_for
	logged() {
		(($(log_count "$pattern") >= want)) || ! alive "$SM_PID"
	}
	wait_for "${3:-$DL_PATIENCE}" logged || true
	(($(log_count "$pattern") >= want)) && return
	say "OpenSM's log has no line $want with: $pattern"
	tail -n 20 "$SM_DIR/osm.log" "$SM_DIR/osm.out" >&2
	return 1
}

# sm_sweep: make the running subnet manager look again, and wait for it.
sm_sweep() {
	local before

	before=$(log_count 'SUBNET UP') || true
	kill -HUP "$SM_PID"
	wait_log 'SUBNET UP' $((before + 1))
}

# sm_sweep_and_dump DIR: the same, and wait for the engine's snapshot of it.  That
# of the sweep before may be late; its certificate may be still later, and needs DIR.
sm_sweep_and_dump() {
	wait_for "$DL_PATIENCE" test -e "$1/dateline.dls" && rm "$1/dateline.dls" &&
		sm_sweep && wait_for "$DL_PATIENCE" test -e "$1/dateline.dls"
}

sm_stop() {
	[[ ${SM_PID:-} ]] || return 0
	end_process "$SM_PID"
	SM_PID=''
}

# sm_hand_over MASTER: end the master subnet manager of that process ID, and let
# the one of $SM_PID, its standby, find out.  The standby stands still in the
# meantime, so that none of its polls is under way to a master that is about to
# end; what it has asked before, the master still answers.
sm_hand_over() {
	kill -STOP "$SM_PID"
	# The master answers in order.
	sim saquery CPI >/dev/null
	end_process "$1"
	kill -CONT "$SM_PID"
}

# fabric_up DIR ENGINE NET [KEY=VALUE...]: the whole thing, until SUBNET UP.
fabric_up() {
	local dir=$1 engine=$2 net=$3

	shift 3
	[[ $SIM_PID ]] || sim_start "$net" || return
	sm_conf "$dir" "$engine" "$@"
	sm_start "$dir"
	wait_log 'SUBNET UP'
}

#
# Looking at the dumps.
#

# For awk: a hexadecimal number; a field of opensm-subnet.lst.
DL_HEX='
	function hex(s,  i, v) {
		for (i = 1; i <= length(s); i++)
			v = 16 * v + index("0123456789abcdef",
				tolower(substr(s, i, 1))) - 1
		return v
	}'
DL_SUBNET_LST=$DL_HEX'
	function field(s, key) {
		match(s, key "[0-9A-Fa-f]+")
		return substr(s, RSTART + length(key), RLENGTH - length(key))
	}'

# dumps DIR: a directory with the dumps of DIR, which is that itself unless the
# engine has left a snapshot in it.
dumps() {
	local dir=$1

	if [[ -e $1/dateline.dls ]]; then
		dir=$(mktemp -d "$T/dumps.XXXXXX")
		dateline snapshot -q "$1" -o "$dir" --psl
	fi
	echo "$dir"
}

# psls DIR: "node-guid dlid sl" of every pair, sorted.
psls() {
	sort "$(dumps "$1")/dateline-psl.dump"
}

# lfts DIR: "switch-guid lid port" for every forwarding entry in use, sorted,
# LIDs decimal.  Entries of LIDs that nobody has, and of unreachable ones, are
# left out.
lfts() {
	awk "$DL_HEX"'
		/^Unicast/ { sw = $9 }
		/^0x/ && $2 ~ /^[0-9]+$/ {
			print sw, hex(substr($1, 3)), $2 + 0
		}' "$(dumps "$1")/opensm-lfts.dump" | sort
}

# sl2vl DIR: "switch-guid in out vl0 .. vl15", sorted; only what the switch's
# own ports in use can need: see sl2vl_used.
sl2vl() {
	awk '/^(Switch|Channel|Router)/ { sw = $0
			sub(/^[^0]*/, "", sw); sub(/,.*/, "", sw) }
		/^[0-9]/ { sub(/:/, ""); $1 = $1; print sw, $0 }' \
		"$(dumps "$1")/opensm-sl2vl.dump" | sort
}

# same NAME A B: two files (or pipes) hold the same, and not nothing.
same() {
	local a=$T/same.1 b=$T/same.2

	cat "$2" >"$a"
	cat "$3" >"$b"
	[[ -s $a ]] || { say "$1: nothing to compare"; return 1; }
	cmp -s "$a" "$b" && return
	say "$1 differ: $(diff "$a" "$b" | grep -c '^[<>]') lines, such as"
	diff "$a" "$b" | head -n 12 >&2
	return 1
}

# slvl_of DIR: what DIR/opensm-sl2vl.dump says of the switches, in the format
# of ibdmchk: exactly one blank between fields, or it misreads the line.
slvl_of() {
	awk '/^[A-Z]/ { sw = /^Switch/ ? substr($2, 1, length($2) - 1) : "" }
		/^[0-9]/ && sw {
			printf "%s %d %d", sw, $1, $2
			for (i = 4; i < 20; i += 2)
				printf " 0x%x%x", $i, $(i + 1)
			print ""
		}' "$(dumps "$1")/opensm-sl2vl.dump"
}

# ibdm DIR PSL SLVL [OPTION...]: the verdict of ibdmchk, an independent
# checker, on OpenSM's dumps in DIR: "safe", "loop" or "broken".  Its exit
# status is no use: the distribution's build always crashes in its very last
# step, after the verdict.
ibdm() {
	local dir=$1 psl=$2 slvl=$3 out=$1/ibdmchk.out

	shift 3
	{
		ibdmchk -s "$dir/opensm-subnet.lst" -f "$dir/opensm.fdbs" \
			-m "$dir/opensm.mcfdbs" -c "$psl" -d "$slvl" "$@"
	} >"$out" 2>&1 || true
	if grep -q -e '-E- credit loops' "$out"; then
		echo loop
	elif grep -q -e '-E-' "$out" ||
		! grep -q -e '-I- no credit loops found' "$out"; then
		echo broken
		grep -e '-E-' "$out" | head -n 5 >&2
	else
		echo safe
	fi
}

# end_ports DIR: "type node-guid port-guid lid name" of every end port in
# DIR/opensm-subnet.lst; type CA, SW or RT, GUIDs as elsewhere, LID decimal.
end_ports() {
	sed 's/ PN:[0-9A-F]* } { /\n{ /' "$(dumps "$1")/opensm-subnet.lst" |
		awk "$DL_SUBNET_LST"'
		{
			guid = field($0, "NodeGUID:")
			if (guid in seen)
				next
			seen[guid]
			name = $0
			sub(/^[^{]*{[^{]*{/, "", name)
			sub(/} LID:.*/, "", name)
			print substr($2, 1, 2), "0x" tolower(guid),
				"0x" tolower(field($0, "PortGUID:")),
				hex(field($0, "} LID:")), name
		}'
}

# path_sls < "slid dlid [sl]" lines: "slid dlid sl" lines, each asked of the
# subnet administrator, with that SL if one is given; what it does not grant
# is left out.  Sorted.  One process a pair, because the simulator's MAD layer
# cuts off longer answers; few at a time, because it takes few clients.
path_sls() {
	awk '{ print "--slid " $1 " --dlid " $2 ($3 == "" ? "" : " --sl " $3) }' |
		DL_UMAD2SIM=$DL_UMAD2SIM DL_PATIENCE_MS=$DL_PATIENCE_MS \
			xargs -r -P 3 -L 1 bash -c 'ask_path "$@"' ask 2>"$T/saquery.err" | sort
}

# ask_path ARGUMENT...: the answer to one of them.  Each client has a reader of its
# own: what several write to one pipe comes in pieces of lines.
ask_path() {
	LD_PRELOAD=$DL_UMAD2SIM saquery -t "$DL_PATIENCE_MS" PR "$@" | awk '
		{ v = tolower($1); sub(/^[a-z_]*\.*/, "", v) }
		/^[ \t]*dlid/ { dlid = v }
		/^[ \t]*slid/ { slid = v }
		/^[ \t]*sl\./ {
			print slid, dlid, index("0123456789abcdef",
				substr(v, 3)) - 1
		}'
}
export -f ask_path

# cables DIR: "type node-guid lid port type node-guid lid port" of every cable
# of DIR/opensm-subnet.lst, from both ends; LIDs and ports decimal.
cables() {
	awk "$DL_SUBNET_LST"'
		function port(s) {
			return substr(s, 1, 2) " 0x" \
				tolower(field(s, "NodeGUID:")) " " \
				hex(field(s, "} LID:")) " " hex(field(s, " PN:"))
		}
		{
			match($0, / PN:[0-9A-F]+ } { /)
			far = RSTART + RLENGTH
			print port(substr($0, 3, far - 3)),
				port(substr($0, far))
		}' "$(dumps "$1")/opensm-subnet.lst" | sort -u
}

# pairs DIR TYPE: "slid dlid" for all pairs of end ports of DIR of that type.
pairs() {
	end_ports "$1" | awk -v type="$2" '
		$1 == type { lid[++n] = $4 }
		END {
			for (s = 1; s <= n; s++)
				for (d = 1; d <= n; d++)
					print lid[s], lid[d]
		}'
}

# psl_of DIR < "slid dlid sl" lines: the same for ibdmchk, with the source's
# node GUID in place of its LID.
psl_of() {
	awk 'NR == FNR { guid[$4] = $2; next } { print guid[$1], $2, $3 }' \
		<(end_ports "$1") -
}

# some N < LINES: N of them, evenly spread; all if there are not that many.
some() {
	awk -v n="$1" '{ line[NR] = $0 }
		END {
			if (n > NR)
				n = NR
			for (i = 0; i < n; i++)
				print line[int((i + 0.5) * NR / n) + 1]
		}'
}

# arbitration < "lid port ..." lines: the VL arbitration tables of these ports
# as programmed: "lid port high|low vl weight", null entries left out.
arbitration() {
	local lid port rest

	while read -r lid port rest; do
		echo "# $lid $port"
		sim smpquery vlarb "$lid" "$port" 2>&1
	done | awk "$DL_HEX"'
		/^# [0-9]/ { at = $2 " " $3 }
		/^# Low/ { table = "low" }
		/^# High/ { table = "high" }
		/^(VL|WEIGHT)/ {
			weights = /^WEIGHT/
			sub(/^[^|]*\|/, "")
			n = split($0, cell, / *\| */)
			for (i = 1; i < n; i++)
				if (!weights)
					vl[i] = hex(substr(cell[i], 3))
				else if (cell[i] != "0x0")
					print at, table, vl[i], \
						hex(substr(cell[i], 3))
		}'
}

#
# Multicast groups, and the running fabric as the tool sees it.
#

# hosts [DIR]: GUIDs of the adapters' ports, from OpenSM's dumps.
hosts() {
	end_ports "${1:-$SM_DIR}" | awk '$1 == "CA" { print $3 }'
}

# join_group [-l] GROUP SL PORT-GUID...: see join.c.
join_group() {
	sim "$DL_BUILD/test/fabric/join" "$@" >"$T/join.out"
}

# mfts DIR: "switch mlid ports..." of every entry that is not empty, sorted.
mfts() {
	awk '/^Switch/ { sw = $2 }
		/^0x/ && NF > 2 { $2 = ""; $1 = $1; print sw, $0 }' \
		"$(dumps "$1")/opensm.mcfdbs" | sort
}

# snapshot DIR [OPTION...]: of the running fabric; complete.
snapshot() {
	local dir=$1

	shift
	sim dateline snapshot --live -o "$dir" "$@" 2>"$T/snapshot.err"
}

# routed NAME X Y Z [OPTION...]: the snapshot $T/NAME of a generated torus.
routed() {
	local name=$1

	shift
	dateline gen "$@" -o "$name" -q
	dateline route "$name.net" --torus-config "$name.torus.conf" \
		--multicast all -o "$name" -q
}

# verdict DIR KEY [OPTION...]: one value of the verdict.
verdict() {
	local dir=$1 key=$2

	shift 2
	dateline verify "$dir" --json "$@" >"$T/verdict" 2>"$T/verify.err" ||
		[[ $? == [12] && -s $T/verdict ]] || { cat "$T/verify.err" >&2; return 1; }
	jq -c ".$key" "$T/verdict"
}

# agree SNAPSHOT SCOPE EXPECTED: our verdict on its unicast (a loop: true or
# false) is the expected one and ibdmchk's; SCOPE is all or adapters.  ibdmchk
# lets a path that ends in a switch leave it again through port 1, so that its
# "all" (-a) may see loops that are none.
agree() {
	local from=$1 scope=$2 want=$3 dir=$T/unicast loop verdict all=-a

	rm -rf "$dir"
	cp -r "$(dumps "$from")" "$dir"
	# Part of a snapshot is no snapshot any more, but a directory of dumps.
	rm -f "$dir/dateline-manifest.txt"
	: >"$dir/opensm.mcfdbs"
	[[ $scope == all ]] || all=
	loop=$(verdict "$dir" credit_loop --pairs "$scope")
	slvl_of "$dir" >"$T/slvl"
	# shellcheck disable=SC2086
	verdict=$(ibdm "$dir" "$dir/dateline-psl.dump" "$T/slvl" $all)
	case $verdict in
	safe) verdict=false ;;
	loop) verdict=true ;;
	esac
	[[ $loop == "$want" && $verdict == "$want" ]] && return
	say "$scope: loop $loop, ibdmchk $verdict, expected $want"
	return 1
}
