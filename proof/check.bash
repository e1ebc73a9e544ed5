#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: check.bash BUILD
#
# Compiles the proofs in BUILD/proof/out, and asks what the theorems rest on: a file with
# one that is not closed fails.  Then the checker of contrib/check: it is what
# proof/Checker.v is extracted to, accepts what is right, and rejects what is not.
# The models are those of `dateline route`, and errors planted in them are found.
# BUILD has Dateline built.  DATELINE_CONFORM=whole compares three dimensions of every
# radix, which takes a day; otherwise a part of them is drawn.  The last line is "N passed, N failed"; exit status 0 if
# none failed.
set -uo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(mkdir -p "$1" && cd "$1" && pwd)
OUT=$BUILD/proof/out
LOGS=$OUT/logs
passed=0 failed=0
failures=()

heading() {
	printf '\n==> %s\n' "$*"
}

# expect NAME COMMAND...: one case, its output shown if it fails.
expect() {
	local name=$1 log=$LOGS/${1//[^a-zA-Z0-9]/-}

	shift
	if "$@" >"$log" 2>&1; then
		passed=$((passed + 1))
		printf '%s: good\n' "$name"
	else
		failed=$((failed + 1))
		failures+=("$name")
		printf '%s: FAILED\n' "$name"
		tail -n 20 "$log"
	fi
}

# The files with theorems.
sources() {
	make -s --no-print-directory -C "$HERE" O="$OUT" names
}

# Nothing that lets a proof pass without one.
honest() {
	! grep -nwE 'Axioms?|Parameters?|Conjecture|Admitted|admit|give_up|Unset|bypass_check' \
		"$HERE/$1.v"
}

# Every statement of a file, with its modules.
statements() {
	awk -v file="$1" '
		/^Module [A-Za-z]+\.$/ { sub(/\.$/, "", $2); module = $2 "." }
		$1 == "End" && $2 == module { module = "" }
		/^(Theorem|Corollary|Lemma|Example) / {
			name = $2; sub(/[:(].*/, "", name)
			print "Dateline." file "." module name }' "$HERE/$1.v"
}

# assumptions FILE: one case for each statement.  A term that has them all rests on
# what any of them rests on: that is asked once, which takes a twentieth of the time.
assumptions() {
	local log=$LOGS/closed-$1
	local -a names

	mapfile -t names < <(statements "$1")
	{
		printf 'From Dateline Require %s.\nDefinition statements :=' "$1"
		printf ' (@%s,' "${names[@]}"
		printf ' tt'
		printf ')%.0s' "${names[@]}"
		printf '.\nPrint Assumptions statements.\n'
	} >"$OUT/Closed$1.v"
	(cd "$OUT" && nice coqc -q -Q . Dateline "Closed$1.v") >"$log" 2>&1
	if ((${#names[@]})) && [[ $(<"$log") == 'Closed under the global context' ]]; then
		passed=$((passed + ${#names[@]}))
		printf '%s.v: %d statements, closed under the global context\n' "$1" "${#names[@]}"
	else
		failed=$((failed + 1))
		failures+=("$1.v has a statement that is not closed, or none")
		printf '%s.v: NOT CLOSED\n' "$1"
		tail -n 20 "$log"
	fi
}

# Every theorem stands in doc/rules.md, at the sentence that it supports.
cited() {
	local file name missing=0

	for file in "${FILES[@]}"; do
		while read -r name; do
			grep -q "\`$name\`" "$HERE/../doc/rules.md" || {
				printf '%s of %s.v\n' "$name" "$file"
				missing=1
			}
		done < <(sed -nE 's/^(Theorem|Corollary) ([a-z_A-Z0-9]+).*/\2/p' "$HERE/$file.v")
	done
	return "$missing"
}

# ---- the checker ------------------------------------------------------------

dateline=$BUILD/dateline
DATELINE=$dateline
CHECKER=$BUILD/contrib/check/dateline-check

extracted() {
	make -s -C "$HERE" O="$OUT" "$OUT/Extract.vo" &&
		cmp "$OUT/checker.ml" "$HERE/../contrib/check/checker.ml" &&
		cmp "$OUT/checker.mli" "$HERE/../contrib/check/checker.mli"
}

# fabric NAME GEN-ARGUMENT...: NAME.net, with one adapter of two ports in place of two.
fabric() {
	local name=$1

	shift
	"$DATELINE" gen -q "$@" -o "$OUT/$name" || return
	sed -i -e 's/^Ca\t1 "H_0_0_0_1"/Ca\t2 "H_0_0_0_1"/' -e '/^\[1\](d2000000000101)/a\
[2](d2000100000101)\t"S_1_0_0"['"$(sed -n '/^\[1\](d2000100000101)/s/.*\[\([0-9]*\)\].*/\1/p' \
		"$OUT/$name.net")"']' -e '/caguid=0xd2000100000100/,/^$/d' \
		-e 's/"H_1_0_0_1"\[1\]/"H_0_0_0_1"[2]/' "$OUT/$name.net"
}

# certified NAME SL ROUTE-ARGUMENT...: NAME and its certificate, for path SLs or any.
certified() {
	local name=$1 sl=$2

	shift 2
	rm -rf "${OUT:?}/$name"
	"$DATELINE" route -q "$OUT/$name.net" --torus-config="$OUT/$name.torus.conf" \
		--multicast=all -o "$OUT/$name" "$@" &&
		"$DATELINE" verify -q "$OUT/$name" ${sl:+--sl=$sl} \
			--certificate="$OUT/$name.certificate" >/dev/null
}

# accepts NAME [--any-sl]
accepts() {
	local name=$1

	shift
	[[ $("$CHECKER" "$@" "$OUT/$name" "$OUT/$name.certificate" | tee /dev/stderr) == accepted ]]
}

whole_torus() { fabric a 5 4 3 && certified a '' --psl && accepts a; }
balanced() { fabric a 6 4 1 && certified a '' --psl --ties=balanced --lmc=1 && accepts a; }
classic() { fabric a 6 5 1 --mesh=y --parallel=2 && certified a '' --psl --mode=classic && accepts a; }
any_sl() { fabric a 8 8 1 --hosts=2 && certified a any --psl --mode=any-sl && accepts a --any-sl; }
damaged() {
	fabric a 6 5 2 --fail-switch=3,2,0 --fail-switch=4,4,1 --fail-link=0,0,0:+x &&
		certified a '' --psl && accepts a
}

# A switch and a cable fail, and come back: the plans of both changes.
changed() {
	local pair

	fabric a 6 5 1 && certified a '' --psl && rm -rf "$OUT/b" &&
		"$DATELINE" route -q "$OUT/a" --torus-config="$OUT/a.torus.conf" --multicast=all --psl \
			--fail=S_4_2_0 --fail=S_1_1_0/3 -o "$OUT/b" || return
	for pair in "a b" "b a"; do
		read -r old new <<<"$pair"
		"$DATELINE" transition -q "$OUT/$old" "$OUT/$new" --plan="$OUT/$old.plan" &&
			judged "$OUT/$old.plan" accepted || return
	done
}

# judged PLAN WHAT: of the change from $old to $new.
judged() {
	[[ $("$CHECKER" --change="$1" "$OUT/$old" "$OUT/$new" | tee /dev/stderr) == "$2"* ]]
}

closed_and_opened() {
	old=a new=b
	judged phases accepted && old=b new=a && judged phases accepted
}

# Each without what makes it safe: everything at once; no drains; no barriers.
hasty() {
	old=b new=a
	local plan=$OUT/hasty.plan

	judged mixture "rejected: period" &&
		sed 's/^drain$/barrier/' "$OUT/b.plan" >"$plan" && judged "$plan" "rejected: period" &&
		grep -vxE 'drain|barrier' "$OUT/b.plan" >"$plan" && judged "$plan" "rejected: "
}

# Plans that do not do what they should, or are none.
damaged_plans() {
	old=b new=a
	local plan=$OUT/hasty.plan

	sed '0,/^write/{/^write/d}' "$OUT/b.plan" >"$plan" && judged "$plan" "rejected: the plan does not end" &&
		sed 's/^write 0x00d1/write 0x00ee/' "$OUT/b.plan" >"$plan" && judged "$plan" "rejected: " &&
		sed 1d "$OUT/b.plan" >"$plan" && judged "$plan" "rejected: " &&
		sed '$s/$/ 1 2 3/' "$OUT/b.plan" >"$plan" && judged "$plan" "rejected: "
}

# A change with any SL needs no path SLs.  Most sections of both dumps are the same, and
# are read once: an entry that differs is seen all the same, wherever it stands.
read_once() {
	local new=$OUT/d plan=$OUT/c.plan line

	fabric c 6 5 4 && certified c any --psl --mode=any-sl && rm -rf "$new" &&
		"$DATELINE" route -q "$OUT/c" --torus-config="$OUT/c.torus.conf" --multicast=all \
			--psl --mode=any-sl --fail=S_1_1_0/3 -o "$new" &&
		"$DATELINE" transition -q "$OUT/c" "$new" --plan="$plan" &&
		rm "$OUT/c/dateline-psl.dump" "$new/dateline-psl.dump" || return
	[[ $("$CHECKER" --any-sl --change="$plan" "$OUT/c" "$new") == accepted ]] || return
	for line in 100 9000 17000 28000; do
		rm -rf "$OUT/d.other" && cp -r "$new" "$OUT/d.other" &&
			sed -i -E "${line}s/^(0x....) [0-9]+/\1 200/" "$OUT/d.other/opensm-lfts.dump" &&
			! cmp -s "$new/opensm-lfts.dump" "$OUT/d.other/opensm-lfts.dump" || return
		[[ $("$CHECKER" --any-sl --change="$plan" "$OUT/c" "$OUT/d.other") == \
			"rejected: the plan does not end"* ]] || return
	done
}

mutants() {
	fabric "m$1" 6 5 1 && certified "m$1" '' --psl &&
		python3 "$HERE/mutants.py" "$DATELINE" "$CHECKER" "$OUT/m$1" \
			"$OUT/m$1.certificate" 500 "$1"
}

# The two halves, side by side.
thousand_mutants() {
	local status=0

	mutants 1 &
	mutants 2 || status=1
	wait $! || status=1
	return "$status"
}

checker() {
	expect "checker.ml is extracted from Checker.v" extracted
	expect "the checker" make -s -C "$BUILD" contrib/check/dateline-check
	expect "accepts a whole torus" whole_torus
	expect "accepts balanced ties" balanced
	expect "accepts classic mode" classic
	expect "accepts any SL" any_sl
	expect "accepts a damaged torus" damaged
	expect "accepts the plans when a switch and a cable fail, and come back" changed
	expect "accepts that entries are closed, and opened after a drain" closed_and_opened
	expect "rejects hasty changes" hasty
	expect "rejects plans that are none" damaged_plans
	expect "reads once what two dumps have in common, and sees what differs" read_once
	expect "rejects 1,000 mutants that deadlock, lose a pair or lose a member" thousand_mutants
	cat "$LOGS"/rejects-* | grep -v '^$'
}

mkdir -p "$LOGS"
mapfile -t FILES < <(sources)

heading "Proofs"
# What fails is named below.
make -s -k -j"$(nproc)" -C "$HERE" O="$OUT" theorems >"$LOGS/theorems" 2>&1 || :
for file in "${FILES[@]}"; do
	expect "$file.v has no axiom" honest "$file"
	expect "$file.v" make -s -C "$HERE" O="$OUT" "$OUT/$file.vo"
done

expect "doc/rules.md cites every theorem" cited

heading "Assumptions"
for file in "${FILES[@]}"; do
	assumptions "$file"
done

heading "The checker"
checker

heading "The models beside dateline route"
expect "Model.v" make -s -C "$HERE" O="$OUT" "$OUT/Model.vo"
expect "every entry, SL and VL of radices 2 to 16 agrees" \
	bash "$HERE/conform.bash" "$DATELINE" "$OUT" "${DATELINE_CONFORM:-all}"
cat "$LOGS"/every-* 2>/dev/null

heading "Planted errors"
expect "each of $(grep -c '^plant "' "$HERE/planted.bash") planted errors is found" bash "$HERE/planted.bash" "$DATELINE" "$OUT"
cat "$LOGS"/each-* 2>/dev/null

heading "Result after $((SECONDS / 60)) min $((SECONDS % 60)) s"
((${#failures[@]} == 0)) || printf 'FAILED %s\n' "${failures[@]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0 && passed > 0 && ${#failures[@]} == 0))
