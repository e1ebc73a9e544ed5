(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Model.v: writes the tables of Torus.v, Anysl.v, Broken.v and Early.v as OCaml.  conform.ml compares
   them with those of `dateline route`. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZInt.
From Dateline Require Import Dor Torus Anysl Broken Early.

Extraction "model.ml" hop move_to Dor.out dir plain_tie balanced_tie path_sl vl_of_sl
  beyond vl_a vl_b round.
Extraction "early.ml" Early.out.
