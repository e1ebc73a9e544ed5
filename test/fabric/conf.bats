#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The configuration files in conf/ are what they say they are.

# Each test is a subshell of its own: that is meant.
# shellcheck disable=SC2030,SC2031

load lib.bash

# generate NAME: the fabric that conf/NAME.conf says it is for.
generate() {
	local -a command

	read -ra command < <(sed -n 's/^# *dateline gen/gen/p' \
		"$DL_TOP/conf/$1.conf")
	[[ ${command[*]} == 'gen '*' -o machine' ]]
	dateline "${command[@]}" -q "${@:2}"
}

# coordinates FILE: of every switch, by this configuration.  1 when something is
# left over, or there is something to say beside the count.
coordinates() {
	dateline discover machine.net --torus-config "$1" 2>"$T/said" &&
		[[ $(wc -l <"$T/said") == 1 ]] && return
	cat "$T/said" >&2
	return 1
}

# machines: their configurations' names.
machines() {
	local file

	for file in "$DL_TOP"/conf/torus-*x*x*.conf; do
		basename "$file" .conf
	done
}

@test "each torus configuration fits the fabric that it names" {
	local name

	(($(machines | wc -l) == 3))
	for name in $(machines); do
		generate "$name"
		same "coordinates of $name" <(coordinates machine.torus.conf) \
			<(coordinates "$DL_TOP/conf/$name.conf")
	done
}

@test "... and by its second seed, too, when a switch of the first is lost" {
	local name conf

	for name in $(machines); do
		conf=$DL_TOP/conf/$name.conf
		generate "$name"
		coordinates "$conf" >"$T/whole"
		generate "$name" --fail-switch 0,0,0
		fails coordinates "$conf" >"$T/damaged"
		same "coordinates of $name" \
			<(sed 's/^0,0,0 .*/0,0,0 missing/' "$T/whole") \
			<(sed 's/ missing, next to .*/ missing/' "$T/damaged")
	done
}

# options FILE: the options in it.
options() {
	grep -vE '^ *(#|$)' "$1"
}

@test "opensm.conf has what dateline route says, and only what OpenSM knows" {
	local conf=$DL_TOP/conf/opensm.conf

	generate torus-4x4x4
	dateline route machine.net -q -o routed
	same "options" <(options routed/dateline-opensm.conf | sort) \
		<(options routed/dateline-opensm.conf | sort |
			comm -12 - <(options "$conf" | sort))
	timeout 20 opensm -c "$T/all.conf" >/dev/null
	options "$conf" | cut -d ' ' -f 1 | sort >"$T/used"
	[[ ! $(uniq -d "$T/used") ]]
	[[ ! $(options "$T/all.conf" | cut -d ' ' -f 1 | sort |
		comm -13 - "$T/used") ]]
}

# serve ENGINE: conf/opensm.conf, what is commented out in it included, with
# that engine, conf/qos-policy.conf and conf/torus-4x4x4.conf.
serve() {
	local dir=$T/$1

	mkdir -p "$dir/cache" "$dir/etc"
	cp "$DL_TOP/conf/qos-policy.conf" "$dir/etc"
	cp "$DL_TOP/conf/torus-4x4x4.conf" "$dir/etc/torus-2QoS.conf"
	sed -E -e "s|/etc/opensm/|$dir/etc/|; s|/var/log/opensm|$dir/osm|" \
		-e "s|/var/lib/dateline|$dir/dump|; s/^#([a-z_]+ )/\1/" \
		-e "s/^(routing_engine) dateline/\1 $1/" \
		"$DL_TOP/conf/opensm.conf" >"$dir/opensm.conf"
	generate torus-4x4x4 --hosts 2
	sim_start machine.net
	SM_FLAGS=0x03 sm_start "$dir"
	wait_log "osm_ucast_mgr_process: $1 tables configured"
	wait_log 'SUBNET UP'
	cat "$dir/osm.out" "$dir/osm.log" >"$dir/said"
	! grep -iE 'warn|error|ERR |unrecog|invalid|ignor' "$dir/said" |
		grep -v 'sim_connect' || return
}

# granted SERVICE-ID-OR-0: path SLs of some pairs.
granted() {
	local s d

	for s in 1 9 33; do
		for d in 2 50 127; do
			sim saquery PR --slid "$s" --dlid "$d" \
				--service_id "$1" |
				sed -nE 's/^[ \t]*sl\.+0x([0-9A-Fa-f]+).*/\L0x\1/p'
		done
	done
}

@test "opensm.conf and qos-policy.conf: both engines take them, level 1 is 1" {
	local engine id

	for engine in torus-2QoS dateline; do
		serve "$engine"
		granted 0x1234 >"$T/level0"
		[[ $(wc -l <"$T/level0") == 9 ]]
		fails grep -vE '^0x[0-7]$' "$T/level0"
		(($(sort -u "$T/level0" | wc -l) > 2))
		for id in 0x10603DB 0x1061144 0x1064E51; do
			same "SLs for $id" <(granted "$id") \
				<(while read -r sl; do
					printf '0x%x\n' $((sl + 8))
				done <"$T/level0")
		done
		fabric_down
	done
	dateline verify "$T/dateline/dump" -q
}
