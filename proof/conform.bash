#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: conform.bash DATELINE DIR few|all|whole
#
# Compares DATELINE with the models that Model.v has written to DIR: how its links decide
# (conform_link.ml), and its tables (conform.ml).
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$2/conform
mkdir -p "$WORK"
cp "$2"/{model,early,service,credit}.ml{,i} "$HERE/../contrib/check/dumps.ml" "$HERE"/conform{,_link}.ml "$WORK"
(cd "$WORK" && ocamlopt -w -3 -inline 100 model.mli model.ml early.mli early.ml dumps.ml conform.ml -o conform &&
	ocamlopt -w -3 service.mli service.ml credit.mli credit.ml conform_link.ml -o conform_link)
"$WORK/conform_link" "$1" "$WORK" "${3/whole/all}"
"$WORK/conform" "$1" "$WORK" "$3"
rm -rf "$WORK/tables"
