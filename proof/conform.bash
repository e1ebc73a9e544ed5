#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: conform.bash DATELINE DIR few|all|whole
#
# Compares the tables of DATELINE with the model that Model.v has written to DIR; see
# conform.ml.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORK=$2/conform
mkdir -p "$WORK"
cp "$2"/{model,early}.ml{,i} "$HERE/../contrib/check/dumps.ml" "$HERE/conform.ml" "$WORK"
(cd "$WORK" && ocamlopt -w -3 -inline 100 model.mli model.ml early.mli early.ml dumps.ml conform.ml -o conform)
"$WORK/conform" "$1" "$WORK" "$3"
rm -rf "$WORK/tables"
