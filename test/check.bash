#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: check.bash BUILD
#
# Every test there is, kind by kind, on the build tree BUILD (and on
# BUILD/sanitize, built with AddressSanitizer and UndefinedBehaviorSanitizer).
# The last line is "N passed, N failed, N skipped": cases, not programs.  Before
# it stand the seconds that each kind took, and the names of cases that were
# skipped, with the reason, or failed.  Exit status 0 if none failed.
set -uo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$(cd "$1" && pwd)
LOGS=$BUILD/check-logs
passed=0 failed=0 skipped=0
failures=() skips=() times=()
PATH=$PATH:/usr/sbin:/sbin

heading() {
	printf '\n==> %s\n' "$*"
}

# section NAME COMMAND...: one kind of tests, timed.
section() {
	local name=$1 start=$SECONDS

	heading "$name"
	shift
	"$@"
	times+=("$(printf '%5d s  %s' $((SECONDS - start)) "$name")")
}

# pass COUNT; fail NAME; skip NAME REASON
pass() {
	passed=$((passed + $1))
}

fail() {
	failed=$((failed + 1))
	failures+=("$1")
}

skip() {
	skipped=$((skipped + 1))
	skips+=("$1: ${2:-no reason given}")
}

# lint NAME FUNCTION: one case for each file that standard input names, side by
# side.
lint() {
	local name=$1 status file

	export -f "${2?}"
	# shellcheck disable=SC2016 # the shells that xargs starts expand it
	while read -r status file; do
		if ((status == 0)); then
			pass 1
		else
			fail "$name ${file#"$TOP"/}"
			cat "$LOGS/lint-${file##*/}.log"
		fi
	done < <(xargs -P "$(nproc)" -I FILE bash -c \
		'"$1" "$2" >"$3/lint-${2##*/}.log" 2>&1; echo "$? $2"' \
		lint "$2" FILE "$LOGS")
}

# Cases of the unit test programs of a build tree, from automake's records.
# A program that ran no case of its own (or crashed before it could say so)
# counts as one.
unit_tests() {
	local dir=$1 what=$2 before=$failed
	local trs log name result ok bad off bad_case status

	find "$dir" -path "$dir/sanitize" -prune -o -name '*.trs' \
		-exec rm {} +
	make -C "$dir" -s -k -j"$(nproc)" check 2>&1 |
		grep -vE '^(  CC|  CCLD|=====|# |\*\*|make)'
	status=${PIPESTATUS[0]}
	while read -r trs; do
		log=${trs%.trs}.log
		name="$what: ${trs#"$dir"/}"
		name=${name%.trs}
		result=$(sed -n 's/^:test-result: //p' "$trs")
		ok=$(grep -c '^\[ *OK \]' "$log")
		bad=0
		while read -r bad_case; do
			fail "$name: $bad_case"
			bad=$((bad + 1))
		done < <(sed -n 's/^\[  FAILED  \] \([^ ]*\)$/\1/p' "$log" | sort -u)
		off=0
		while read -r bad_case; do
			skip "$name: $bad_case" "see ${log#"$TOP"/}"
			off=$((off + 1))
		done < <(sed -n 's/^\[  SKIPPED \] \([^ ]*\)$/\1/p' "$log" | sort -u)
		case $result in
		PASS) ((ok + off)) || ok=1 ;;
		SKIP) ((off)) || skip "$name" "see ${log#"$TOP"/}" ;;
		*)
			((bad)) || fail "$name ($result)"
			tail -n 20 "$log"
			;;
		esac
		pass "$ok"
	done < <(find "$dir" -path "$dir/sanitize" -prune -o -name '*.trs' -print |
		sort)
	((status == 0 || failed > before)) || fail "$what: make check"
}

scripts() {
	find "$TOP" -name build -prune -o -name build-aux -prune -o -type f \
		\( -name '*.bash' -o -name '*.bats' -o -name '*.sh' \
		-o -path '*/.ci/run' -o -path '*/bash-completion/*' \
		-o -path "$TOP/bootstrap" \) -print | sort
	grep -lr '^#!/bin/sh' "$TOP/debian" | sort
}

# manual FILE: mandoc has nothing to say about the page, and the pages of ours
# that it refers to exist.  (Others need not be installed.)
manual() {
	local said page section

	said=$(mandoc -T lint "$1" 2>/dev/null |
		grep -v 'STYLE: referenced manual not found')
	while read -r page section; do
		[[ -e $TOP/man/$page.$section ]] ||
			said+="$1: no manual page $page($section); "
	done < <(sed -nE 's/^\.Xr ((osm)?dateline[^ ]*) ([0-9]).*/\1 \3/p' "$1")
	printf '%s' "${said:+$said$'\n'}"
	[[ ! $said ]]
}

# The code is formatted as .clang-format says; each version of clang-format
# formats in its own way.
formatted() {
	local format=clang-format-14
	local -a files

	command -v "$format" >/dev/null || format=clang-format
	if [[ $("$format" --version 2>&1) != *' version 14.'* ]]; then
		skip "clang-format" "this machine has no clang-format 14"
		return
	fi
	mapfile -t files < <(find "$TOP" -name build -prune -o -name '*.[ch]' \
		-print | sort)
	expect "clang-format" "$format" --dry-run -Werror "${files[@]}"
}

# What only computes runs beside the fabric tests, which leave cores idle as they wait,
# and is counted after them.  Packages that could not be built are built again there,
# and say why.
begin_beside() {
	local programs='test/unit/settings test/unit/test_read test/unit/test_config'
	local scripts='test/unit/api.bash test/unit/schemas.bash'

	rm -f "$LOGS/distcheck.status"
	{
		nice -n 19 make -C "$BUILD" -s -j"$(nproc)" distcheck \
			DISTCHECK_CONFIGURE_FLAGS='CFLAGS=-O1 --disable-dependency-tracking' \
			AM_MAKEFLAGS="check_PROGRAMS='$programs' TESTS='$programs $scripts'" \
			>"$LOGS/distcheck" 2>&1
		echo $? >"$LOGS/distcheck.status"
		nice -n 19 make -C "$BUILD" -s packages >"$LOGS/packages" 2>&1
	} &
	BESIDE=$!
}

distcheck_is_good() {
	cat "$LOGS/distcheck"
	return "$(<"$LOGS/distcheck.status")"
}

# The tarball builds, passes those unit tests out of tree that read files of the source
# (all have run in such a tree), installs into an empty folder, uninstalls without a
# trace; and its packages.
package_tests() {
	wait "$BESIDE"
	expect "make distcheck" distcheck_is_good
	tap_tests package check-package
}

# What clang-tidy finds, beside tests that leave a core idle now and then.  Begun
# here, counted by `analyzed` once they are done.
analysis() {
	nice -n 19 bash "$TOP/test/tidy.bash" "$BUILD" >"$LOGS/tidy" 2>&1 &
	ANALYSIS=$!
}

analyzed() {
	local status=0

	wait "$ANALYSIS" || status=$?
	if ((status == 77)); then
		skip "clang-tidy" "this machine has no clang-tidy 14"
		return
	fi
	expect "clang-tidy" analysis_is_good "$status"
}

analysis_is_good() {
	cat "$LOGS/tidy"
	return "$1"
}

# A script, with the files beside it that it reads.
script() {
	shellcheck -x -P "$(dirname "$1")" "$1"
}

lints() {
	lint shellcheck script < <(scripts)
	lint mandoc manual < <(find "$TOP/man" -name '*.[0-9]' | sort)
	formatted
}

# expect NAME COMMAND...: one case, its output kept for a failure.
expect() {
	local name=$1 log=$LOGS/${1//[^a-z]/-}.log

	shift
	if "$@" >"$log" 2>&1; then
		pass 1
		echo "$name: good"
	else
		fail "$name (see ${log#"$TOP"/})"
		tail -n 20 "$log"
	fi
}

# bootstrap installs every package that configure may ask for, and Debian's
# packages are built with them, too.
packages_known() {
	local package file status=0

	while read -r package; do
		for file in bootstrap debian/control; do
			grep -qwF -- "$package" "$TOP/$file" ||
				[[ $file:$package == debian*:libopenmpi-dev ]] || {
				echo "configure may ask for $package: not in $file"
				status=1
			}
		done
	done < <(grep -oE '\<[a-z0-9.+-]+-dev\>' "$TOP/configure.ac" | sort -u)
	return "$status"
}

# configure names a package that is missing, and how to install it.
missing_named() {
	local dir=$LOGS/configure

	mkdir -p "$dir"
	if (cd "$dir" && ac_cv_header_Random123_philox_h=no "$TOP/configure" -q) \
		2>"$dir/said"; then
		return 1
	fi
	cat "$dir/said"
	grep -q 'apt-get install.* librandom123-dev' "$dir/said"
}

# Every file under version control is in the tarball.
tarball_complete() {
	local tarball missing

	make -C "$BUILD" -s dist || return
	tarball=$(ls "$BUILD"/dateline-*.tar.xz) || return
	missing=$(comm -13 <(tar tf "$tarball" | sed 's|^[^/]*/||' | sort) \
		<(git -C "$TOP" ls-files | grep -vE '(^|/)\.git' | sort))
	rm "$tarball"
	echo "$missing"
	[[ ! $missing ]]
}

# What `make install` leaves, and that it works from there.
installation() {
	local root=$LOGS/root

	rm -rf "$root"
	make -C "$BUILD" -s install DESTDIR="$root" || return
	(cd "$root/usr/local" && ls bin/dateline include/dateline.h include/dateline/emu.h \
		lib/libdateline.so lib/libosmdateline.so \
		share/man/man1/dateline.1) || return
	LD_LIBRARY_PATH=$root/usr/local/lib "$root/usr/local/bin/dateline" \
		gen 3 3 1 -o "$root/torus" || return
	rm -rf "$root"
}

# What is in the tarball, and what is installed; `package_tests` builds it.
distribution() {
	expect "packages" packages_known
	expect "missing packages are named" missing_named
	if git -C "$TOP" rev-parse >/dev/null 2>&1; then
		expect "tarball" tarball_complete
	fi
	expect "make install" installation
}

# tap_tests WHAT TARGET [FLAG...]: the cases of a target that prints TAP, as
# bats does with these flags.
tap_tests() {
	local what=$1 target=$2 line name planned=-1 seen=0

	shift 2
	while read -r line; do
		case $line in
		1..*) planned=${line#1..} ;;
		'ok '*' # skip'*)
			seen=$((seen + 1))
			name=${line#ok * }
			skip "$what: ${name%% # skip*}" "${name#* # skip }"
			;;
		'ok '*) seen=$((seen + 1)) && pass 1 ;;
		'not ok '*)
			seen=$((seen + 1))
			fail "$what: ${line#not ok * }"
			;;
		esac
		printf '%s\n' "$line"
	done < <(make -C "$BUILD" -s "$target" BATS_FLAGS="--tap $*" 2>&1)
	((seen == planned)) || fail "$what tests: $seen of $planned ran"
}

# OpenSM in virtual time: 5000 events from a fixed seed, or as DATELINE_EVENTS and
# DATELINE_SEED say.
simulated() {
	local line

	while read -r line; do
		case $line in
		'SKIPPED virtual time: '*) skip "virtual time" "${line#*: }" ;;
		'FAILED '*) fail "virtual time: ${line#FAILED }" ;;
		*' events: '*' passed, '*' failed')
			line=${line#* events: }
			pass "${line%% *}"
			;;
		esac
		printf '%s\n' "$line"
	done < <(make -C "$BUILD" -s check-sim 2>&1)
}

demonstration() {
	expect "demonstration" env DATELINE_BUILD="$BUILD" \
		bash "$TOP/test/fabric/demo.bash"
}

# Its pages are made by the command with sanitizers.
report_tests() {
	local -x DATELINE=$BUILD/sanitize/dateline

	tap_tests report check-report
}

export TOP
mkdir -p "$LOGS"
section "Unit tests" unit_tests "$BUILD" unit
section "Unit tests with AddressSanitizer and UndefinedBehaviorSanitizer" \
	unit_tests "$BUILD/sanitize" sanitize
section "Scripts, manual pages and the code's format" lints
section "Distribution" distribution
section "Demonstration" demonstration
section "Virtual time" simulated
begin_beside
# As many at a time as there are cores, and one more: OpenSM sleeps at times.
section "Fabric tests: ibsim and stock OpenSM" \
	tap_tests fabric check-fabric --jobs "$(($(nproc) * 2 + 1))"
analysis
section "Packages" package_tests
section "The report in a browser" report_tests
section "Static analysis, since the packages" analyzed

heading "Result after $((SECONDS / 60)) min $((SECONDS % 60)) s"
printf '%s\n' "${times[@]}"
((skipped == 0)) || printf 'SKIPPED %s\n' "${skips[@]}"
((failed == 0)) || printf 'FAILED %s\n' "${failures[@]}"
printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0 && passed > 0))
