#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Every command on fabrics of 0, 1 and 2 of everything: it ends with one of
# its own exit statuses, and says why when that is not 0.
set -uo pipefail

dateline=$PWD/dateline
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
runs=0 failed=0

# tried COMMAND...: exit status 0 to 3, and a message unless it is 0.
tried() {
	local status

	timeout 60 "$dateline" "$@" >out 2>err </dev/null
	status=$?
	runs=$((runs + 1))
	if ((status > 3)); then
		echo "FAILED: dateline $*: exit status $status"
		tail -n 3 err
		failed=$((failed + 1))
	elif ((status)) && [[ ! -s err && ! -s out ]]; then
		echo "FAILED: dateline $*: exit status $status without a word"
		failed=$((failed + 1))
	fi
	return $((status > 0))
}

# Netlists of which nothing, or next to nothing, is left.
: >nothing.net
echo '# nothing' >comment.net
printf 'switchguid=0x1\nSwitch 4 "S-1" # "s"\n' >switch.net
printf 'caguid=0x2\nCa 1 "H-1" # "h"\n' >adapter.net
printf 'switchguid=0x1\nSwitch 2 "S-1"\n[1] "H-1"[1]\n\ncaguid=0x2\nCa 1 "H-1"\n[1] "S-1"[1]\n' >pair.net
printf 'caguid=0x2\nCa 1 "H-1"\n[1] "H-2"[1]\n\ncaguid=0x3\nCa 1 "H-2"\n[1] "H-1"[1]\n' >back.net
for dims in '1 1 1' '2 1 1' '1 2 1' '2 2 1' '2 2 2' '1 1 3'; do
	for hosts in 0 1 2; do
		name=t${dims// /}-$hosts
		# shellcheck disable=SC2086 # three words
		tried gen $dims --hosts "$hosts" -o "$name"
	done
done

cat >scenario.yaml <<'END'
duration_us: 20
traffic:
  - pattern: uniform
    load: 0.5
END

for net in *.net; do
	name=${net%.net}
	configs=('')
	configs+=("--torus-config=t221-1.torus.conf")
	[[ ! -e $name.torus.conf ]] || configs+=("--torus-config=$name.torus.conf")
	for config in "${configs[@]}"; do
		# shellcheck disable=SC2086 # nothing, or one word
		set -- $config
		tried discover "$net" "$@" --json
		tried coords "$net" "$@"
		for failures in '--switches=2' '--switches=8' '--switches=1 --links=1'; do
			# shellcheck disable=SC2086 # several words
			tried whatif "$net" "$@" $failures --samples 3 --json
		done
		for mode in proven classic; do
			rm -rf routed
			tried route "$net" "$@" --mode "$mode" \
				--multicast all -o routed || continue
			tried verify routed --explain
			tried verify routed --earlier routed --json
			tried emulate routed --scenario scenario.yaml --json
			tried report routed -o page.html
			tried coords routed
		done
	done
done

echo "$runs commands, $failed failed"
((runs > 900 && !failed))
