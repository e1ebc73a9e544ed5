(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Model.v: writes the tables of Torus.v, Anysl.v, Broken.v, Multicast.v and Early.v as OCaml.  conform.ml compares
   them with those of `dateline route`; and the decisions of Service.v and Credit.v, which
   conform_link.ml compares with those of lib/link. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZInt.
From Dateline Require Import Dor Torus Anysl Broken Multicast Early.
From Dateline Require Claim Service Credit.

Extraction "model.ml" hop move_to Dor.out dir plain_tie balanced_tie path_sl vl_of_sl
  beyond vl_a vl_b round tree_link.
Extraction "early.ml" Early.out Claim.on_tree.
Extraction "service.ml" Service.decide.
Extraction "credit.ml" Credit.act Credit.pcie_act.
