(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Extract.v: writes the checker as OCaml.  Numbers become machine integers: the
   checker only compares them. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From Dateline Require Import Checker.

Extraction "checker.ml" check.
