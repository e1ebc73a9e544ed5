#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Ctrl-C: every command that takes long ends at once, with what it has found so far
# or without a word; files that were there before are whole, and nothing is left
# beside them but an export's DIR.part, which the next one takes over.  Time is that
# of the processor, since others may be at work on it.
set -uo pipefail

dateline=$PWD/dateline
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# Hundredths of a second: half a second at most on an idle machine, and busy
# neighbours double it.  With sanitizers everything takes several times as long.
runs=0 failed=0 most=200
[[ $(ldd "$dateline") != *libasan* ]] || most=1000

# used PID FIELD: hundredths of a second of the processor, in user and in system
# mode: 12 its own, 14 of its children that have ended.
used() {
	awk -v at="$2" '{ sub(/.*\) /, ""); print $at + $(at + 1) }' "/proc/$1/stat"
}

# ended [-c TIME] COMMAND...: interrupted after a moment, or once it has used so
# many hundredths of a second of the processor, it ends at once.
ended() {
	local before spent pid status after=0

	[[ $1 != -c ]] || { after=$2; shift 2; }

	runs=$((runs + 1))
	before=$(used $$ 14)
	# A background command, and all of a check that was begun as one, ignore
	# SIGINT.
	env --default-signal=INT "$dateline" "$@" >out 2>err </dev/null &
	pid=$!
	sleep 0.7
	while spent=$(used "$pid" 12) && ((spent < after)); do
		sleep 0.05
	done
	if ! kill -INT "$pid" 2>/dev/null; then
		wait "$pid"
		echo "FAILED: dateline $*: was over before: $(tail -n 1 err)"
		failed=$((failed + 1))
		return
	fi
	wait "$pid"
	status=$?
	spent=$(($(used $$ 14) - before - spent))
	((spent < most)) && return
	echo "FAILED: dateline $*: exit status $status after ${spent}0 ms of the processor"
	failed=$((failed + 1))
}

"$dateline" gen 16 16 16 --hosts 4 -q -o big
"$dateline" gen 4 4 4 -q -o small
"$dateline" route small.net -q -o small
mkdir old
echo old >page.html
cp -r small old/small
before=$(cd old && find . -type f -exec sha256sum {} + | sort)
cat >long.yaml <<'END'
duration_ns: 100000000000
traffic:
  - {pattern: uniform, load: 0.6}
END

ended route big.net --torus-config big.torus.conf -o old/small
ended emulate small --scenario long.yaml
ended emulate small --scenario long.yaml --sweep load=0.1:0.9:0.1 --json
ended whatif small.net --switches 2 --samples 100000
# In the middle of a scenario, of which each takes a second or more: it does not
# count.
"$dateline" gen 16 16 16 -q -o one
ended -c 100 whatif one.net --torus-config one.torus.conf --links 1 --threads 1
grep -q 'interrupted: [0-9] of 100 scenarios' err || {
	echo "FAILED: whatif said: $(cat err)"
	failed=$((failed + 1))
}
# A fast machine exports already when it is interrupted.
rm -rf old/small.part
[[ $(cd old && find . -type f -exec sha256sum {} + | sort) == "$before" ]] || {
	echo "FAILED: the old snapshot has changed, or is not alone"
	ls -A old old/small
	failed=$((failed + 1))
}

echo "$runs commands, $failed failed"
((runs && !failed))
