#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: check.bash BUILD
#
# Compiles the proofs in BUILD/proof, and prints what each theorem rests on: a
# theorem that is not closed fails.  The last line is "N passed, N failed"; exit
# status 0 if none failed.
set -uo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(mkdir -p "$1" && cd "$1" && pwd)
OUT=$BUILD/proof
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

# assumptions FILE: one case for each statement.
assumptions() {
	local name line

	{
		printf 'From Dateline Require %s.\n' "$1"
		statements "$1" | while read -r name; do
			printf 'Print Assumptions %s.\n' "$name"
		done
	} >"$OUT/Closed$1.v"
	# Each answer is one line, or a list of axioms that begins with "Axioms:".
	(cd "$OUT" && nice coqc -q -Q . Dateline "Closed$1.v") >"$LOGS/closed-$1" 2>&1
	statements "$1" | paste -d ' ' - <(grep -E '^(Closed under|Axioms:)' "$LOGS/closed-$1") \
		>"$LOGS/answers-$1"
	while read -r name line; do
		if [[ $line == 'Closed under the global context' ]]; then
			passed=$((passed + 1))
			printf '%s: closed under the global context\n' "${name#Dateline.}"
		else
			failed=$((failed + 1))
			failures+=("${name#Dateline.} is not closed")
			printf '%s: NOT CLOSED\n' "${name#Dateline.}"
		fi
	done <"$LOGS/answers-$1"
	[[ -s $LOGS/answers-$1 ]] || failures+=("no statements in $1.v")
}

mkdir -p "$LOGS"
mapfile -t FILES < <(sources)

heading "Proofs"
for file in "${FILES[@]}"; do
	expect "$file.v has no axiom" honest "$file"
	expect "$file.v" make -s -C "$HERE" O="$OUT" "$OUT/$file.vo"
done

heading "Assumptions"
for file in "${FILES[@]}"; do
	assumptions "$file"
done

heading "Result after $((SECONDS / 60)) min $((SECONDS % 60)) s"
((${#failures[@]} == 0)) || printf 'FAILED %s\n' "${failures[@]}"
printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0 && passed > 0 && ${#failures[@]} == 0))
