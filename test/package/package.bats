#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The packages that build.bash made, on a machine that throwaway.bash provides:
# they install, upgrade and purge cleanly, and OpenSM starts with them.  Each
# test goes on where the one before stopped.

bats_require_minimum_version 1.5.0
load ../fabric/lib.bash

TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
DEBS=$DATELINE_PACKAGES/deb
RPMS=$DATELINE_PACKAGES/rpm
NAMES=(dateline dateline-check libdateline-dev libdateline0 opensm-dateline)

setup_file() {
	if [[ ${THROWAWAY:-} == yes ]]; then
		# Small machines leave out documentation; large ones index it.
		rm -f /etc/dpkg/dpkg.cfg.d/* /var/lib/man-db/auto-update
		# Whatever the machine has of its own.
		dpkg -P "${NAMES[@]}"
		make -C "$DATELINE_BUILD" -s uninstall
		ldconfig
		traces >"$BATS_FILE_TMPDIR/before"
	fi
}

setup() {
	T=$BATS_TEST_TMPDIR
}

# throwaway: go on only where the machine may be changed.
throwaway() {
	[[ ${THROWAWAY:-} == yes ]] || skip "no throwaway copy of this machine"
}

teardown() {
	fabric_down
}

# traces: every file on the machine that has to do with Dateline.
traces() {
	find /etc /usr /var/cache /var/lib /var/log -xdev -name '*dateline*' \
		! -type d | sort
	ldconfig -p | grep dateline || true
	dpkg-query -W "${NAMES[@]}" 2>/dev/null || true
}

# as_before: the traces are those of setup_file.
as_before() {
	traces | diff "$BATS_FILE_TMPDIR/before" -
}

# try NAME...: of the tests that Debian's own machines would run.
try() {
	local name

	for name; do
		mkdir -p "$T/$name"
		AUTOPKGTEST_TMP=$T/$name "$TOP/debian/tests/$name"
	done
}

@test "lintian has nothing to say" {
	run -0 --separate-stderr lintian --pedantic "$DEBS"/dateline_*.changes
	[[ ! $output ]] || { printf '%s\n' "$output"; return 1; }
}

# flaws FILE: what a hardened build has, and this file lacks.
flaws() {
	local segments dynamic symbols

	segments=$(readelf -lW "$1")
	dynamic=$(readelf -dW "$1")
	symbols=$(readelf --dyn-syms -W "$1")
	[[ $(readelf -hW "$1") == *'Type: '*DYN* ]] || echo "$1: not position independent"
	[[ $1 == *.so* || $dynamic == *PIE* ]] || echo "$1: not position independent"
	[[ $segments == *GNU_RELRO* ]] || echo "$1: relocations stay writable"
	[[ $dynamic == *BIND_NOW* || $dynamic == *'Flags: NOW'* ]] ||
		echo "$1: functions are bound late"
	[[ $segments == *GNU_STACK*' RW '* ]] || echo "$1: executable stack"
	[[ $segments != *' RWE '* ]] || echo "$1: memory that is writable and executable"
	[[ $symbols == *' __stack_chk_fail'* ]] || echo "$1: no stack protector"
	[[ $symbols == *' __'*'_chk@'* ]] || echo "$1: no fortified functions"
	[[ $dynamic != *TEXTREL* ]] || echo "$1: relocations in its text"
	[[ $dynamic != *RPATH* && $dynamic != *RUNPATH* ]] || echo "$1: a path of its own"
}

@test "the binaries are hardened" {
	local deb file n=0

	for deb in "$DEBS"/*.deb; do
		dpkg-deb -x "$deb" "$T/root"
	done
	while read -r file; do
		flaws "$file"
		n=$((n + 1))
	done < <(find "$T/root" -type f \( -path '*/bin/*' -o -name '*.so*' \)) >"$T/flaws"
	cat "$T/flaws"
	[[ ! -s $T/flaws ]]
	((n == 4))
}

@test "the packages have the version of the tarball" {
	local version

	version=$(dateline --version)
	version=${version#dateline }
	version=${version%% *}
	[[ $(dpkg-deb -f "$DEBS"/dateline_*.deb Version) == "$version" ]]
	[[ $(rpm -qp --qf '%{version}' "$RPMS/dateline.rpm") == "$version" ]]
}

@test "the routing engine asks for the OpenSM that it was built with" {
	local version

	version=$(dpkg-query -W -f '${source:Upstream-Version}' libopensm-dev)
	dpkg-deb -f "$DEBS"/opensm-dateline_*.deb Depends |
		grep -qF "opensm (>= $version), opensm (<< $version.0~)"
	dpkg --compare-versions "$version-99+b1" lt "$version.0~"
}

@test "systemd starts a subnet manager again that has crashed" {
	local units=$T/root/usr/lib/systemd/system

	[[ $(dpkg-deb -f "$DEBS"/opensm-dateline_*.deb Recommends) == dateline ]]
	dpkg-deb -x "$DEBS"/opensm-dateline_*.deb "$T/root"
	cp /lib/systemd/system/opensm@.service "$units/"
	grep -qx 'Restart=on-failure' "$units/opensm@.service.d/dateline.conf"
	# There are no other units to start; of this one it understands all.
	run systemd-analyze --root "$T/root" verify --man=no opensm@0x1.service
	[[ $output != *dateline.conf* ]]
}

@test "the packages install, and OpenSM routes with the engine" {
	throwaway
	dpkg -i "$DEBS"/*.deb
	dpkg --verify "${NAMES[@]}"
	fails as_before
	ldconfig -p | grep -q '^	libosmdateline\.so '
	try checker command library opensm
}

@test "an upgrade leaves the administrator's files as they are" {
	local name tree
	local -a newer=()

	throwaway
	mkdir -p /etc/opensm
	echo "torus 4 3 2" | tee /etc/opensm/{torus-2QoS,opensm}.conf
	for name in "${NAMES[@]}"; do
		tree=$T/$name
		dpkg-deb -R "$DEBS/${name}_"*.deb "$tree"
		sed -i -E "s/^(Version: .*)/\\1+1/; s/\\(= ([^)]*)\\)/(= \\1+1)/" \
			"$tree/DEBIAN/control"
		dpkg-deb --root-owner-group -b "$tree" "$T/$name.deb"
		newer+=("$T/$name.deb")
	done
	dpkg -i "${newer[@]}"
	[[ $(dpkg-query -W -f '${Version}\n' "${NAMES[@]}" | sort -u) == *+1 ]]
	dpkg --verify "${NAMES[@]}"
	[[ $(sort -u /etc/opensm/*.conf) == "torus 4 3 2" ]]
	try command opensm
}

@test "OpenSM starts as the machine would start it, by the examples" {
	local log=/var/log/opensm.0x00d2000000000101.log

	throwaway
	fabric_init
	dateline gen 5 4 3 -q -o torus
	sim_start torus.net
	rm -f /etc/opensm/torus-2QoS.conf
	cp /usr/share/doc/dateline/examples/{opensm,qos-policy}.conf \
		/etc/opensm
	LD_PRELOAD=$DL_UMAD2SIM setpriv --pdeathsig KILL \
		opensm --guid 0x00d2000000000101 --log_file "$log" \
		</dev/null >opensm.out 2>&1 3>&- {SIM_CONSOLE}>&- &
	# shellcheck disable=SC2034 # fabric_down's
	SM_PID=$!
	wait_for "$DL_PATIENCE" grep -qs 'SUBNET UP' "$log" || cat "$log"
	grep 'dateline: verified free of credit loops; .*; routed a .* torus: 60 of 60 switches' "$log"
}

@test "a purge leaves nothing but the administrator's files" {
	throwaway
	touch /var/log/dateline-torus.dump /var/log/opensm.log
	dpkg -r "${NAMES[@]}"
	[[ -e /var/log/dateline-torus.dump ]]
	dpkg -P opensm-dateline
	as_before
	[[ -e /etc/opensm/opensm.conf && -e /var/log/opensm.log ]]
}

# listed NAME < FILES: without folders and what each kind has of its own.
# Debian's own: its opensm@.service has a drop-in, and a README.Debian tells of it.
listed() {
	sed -E -e '/\/opensm@\.service\.d\/|\/README\.Debian/d' -e '/\/$|\/(examples|include\/dateline|dateline\/schema)$|^\/var\/|\.build-id/d' \
		-e '/\/share\/(licenses|lintian)\//d' \
		-e '/\/share\/doc\/[^/]*(\/(README.md|copyright|changelog.*))?$/d' \
		-e 's|/zsh/vendor-completions/|/zsh/site-functions/|' \
		-e 's/\.gz$//' -e "s|^|$1: |"
}

@test "the RPMs hold what the Debian packages hold" {
	local deb rpm

	while read -r deb rpm; do
		dpkg-deb --fsys-tarfile "$DEBS/${deb}_"*.deb | tar -t |
			sed 's/^\.//' | listed "$rpm" >>"$T/deb"
		rpm -qpl "$RPMS/$rpm.rpm" | listed "$rpm" >>"$T/rpm"
	done <<-'END'
		dateline dateline
		libdateline-dev dateline-devel
		libdateline0 dateline-libs
		opensm-dateline opensm-dateline
	END
	diff <(sort "$T/deb") <(sort "$T/rpm")
	(($(wc -l <"$T/rpm") > 30))
	rpm -qp --requires "$RPMS/opensm-dateline.rpm" |
		grep -x "opensm = $(dpkg-query -W -f '${source:Upstream-Version}' opensm)"
}

@test "the RPMs install and go, and OpenSM routes with the engine" {
	throwaway
	rpm -i --nodeps --force-debian "$RPMS"/*.rpm
	try command library opensm
	rpm -V --nodeps dateline dateline-{libs,devel} opensm-dateline
	rpm -e --nodeps dateline dateline-{libs,devel} opensm-dateline
	as_before
}

@test "make install and ldconfig: OpenSM finds the engine, until uninstall" {
	throwaway
	make -C "$DATELINE_BUILD" -s install
	ldconfig
	[[ $(type -P dateline) == /usr/local/bin/dateline ]]
	try opensm
	make -C "$DATELINE_BUILD" -s uninstall
	ldconfig
	as_before
}
