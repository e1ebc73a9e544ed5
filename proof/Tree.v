(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Tree.v: routing along a spanning tree, and up and down an order.

   In words: tables that use the links of a tree only, and send no packet back
   over the link by which it came, have no cycle of dependencies, unicast and
   multicast together, on any VLs ([tree_falls]).  So have tables that never go
   up an order of the switches after they have gone down ([updown_falls]).
   Proves, of doc/rules.md: rules A12, its last two sentences; "Proven mode", step 5. *)

From Coq Require Import List Arith Lia Bool.
From Dateline Require Import Net.
Import ListNotations.

(* A link of the tree belongs to its lower end; all parallel cables are one link. *)
Record branch (V : Type) := Branch { child : V; up : bool; lane : nat (* cable and VL *) }.
Arguments Branch {V}. Arguments child {V}. Arguments up {V}. Arguments lane {V}.

Section Tree.
Variables V P : Type.                              (* switches, packets *)
Variable parent : V -> V.
Variable depth : V -> nat.
Variable root : V.
Hypothesis deeper : forall v, v <> root -> depth (parent v) < depth v.
Variable deepest : nat.
Hypothesis depth_bound : forall v, depth v <= deepest.

Definition from (c : branch V) := if up c then child c else parent (child c).
Definition to (c : branch V) := if up c then parent (child c) else child c.

(* Tables that use the tree only, and never send a packet back over the link by
   which it came.  Nothing is said of sources, VLs, masks or destinations. *)
Variable T : tables (branch V) P.
Hypothesis first_on_tree : forall p c, inject T p c -> child c <> root.
Hypothesis on_tree : forall c p d, In d (next T c p) ->
  child d <> root /\ from d = to c /\ child d <> child c.

Definition tree_rank (c : branch V) :=
  if up c then S deepest + depth (child c) else deepest - depth (child c).

(* Theorem 4. *)
Theorem tree_falls c d : waits T c d -> tree_rank d < tree_rank c.
Proof.
  intros (p & U & H).
  assert (R : child c <> root) by (destruct U as [c J|b c U J]; [apply (first_on_tree p c J)|apply (on_tree _ _ _ J)]).
  destruct (on_tree _ _ _ H) as (R' & E & N). unfold from, to in E. unfold tree_rank.
  pose proof (deeper _ R). pose proof (deeper _ R'). pose proof (depth_bound (child d)).
  destruct (up c), (up d); rewrite ?E in *; try lia; congruence.
Qed.

Corollary tree_acyclic : acyclic (waits T).
Proof. apply (ranked_acyclic _ _ tree_rank), tree_falls. Qed.

End Tree.

(* Up and down an order of the switches, over any links: never up after down. *)
Section UpDown.
Variables V P : Type.
Variable place : V -> nat.
Variable last : nat.
Hypothesis place_bound : forall v, place v <= last.

Record hop := Hop { tail : V; head : V; slot : nat }.

Definition goes_up c := place (head c) <? place (tail c).

Variable T : tables hop P.
Hypothesis first_leads : forall p c, inject T p c -> place (head c) <> place (tail c).
Hypothesis leads_on : forall c p d, In d (next T c p) ->
  tail d = head c /\ place (head d) <> place (tail d) /\ (goes_up d = true -> goes_up c = true).

Definition updown_rank c := if goes_up c then S last + place (tail c) else last - place (tail c).

Theorem updown_falls c d : waits T c d -> updown_rank d < updown_rank c.
Proof.
  intros (p & U & H).
  assert (R : place (head c) <> place (tail c)) by (destruct U as [c J|b c U J]; [apply (first_leads p c J)|apply (leads_on _ _ _ J)]).
  destruct (leads_on _ _ _ H) as (E & N & D). revert D. unfold updown_rank, goes_up. rewrite E in *.
  pose proof (place_bound (head d)). pose proof (place_bound (head c)). pose proof (place_bound (tail c)).
  destruct (Nat.ltb_spec (place (head d)) (place (head c))), (Nat.ltb_spec (place (head c)) (place (tail c)));
    intros D; try specialize (D eq_refl); try discriminate; lia.
Qed.

End UpDown.
