(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Extract.v: writes the checker as OCaml (contrib/check/checker.ml).  Numbers become
   machine integers: the checker only compares them, and counts.  What beside the two
   judgements is written says of rejected tables what is wrong. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt.
From Dateline Require Import Checker Change Alike.

Extraction "checker.ml" check_classes check_plan check_step check_stage.
