(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Claim.v: a failed switch, unicast and multicast: a loop.

   In words: on the 6x5 torus without switch (3,2), with unicast as in Early.v and the
   multicast tree of rules A9 from the root (2,1), which goes on across the dateline of the
   broken column 3, the dependencies of both together have a cycle ([both_loop]).  Of the
   tree the loop has only the link from (3,0) to (3,1).  Neither
   has one alone ([unicast_alone], [multicast_alone]).  So it is not true that torus-2QoS is
   free of deadlocks for every single failed switch.
   Proves, of doc/rules.md: "Multicast", the loop of seven channels.

   Unicast is that of all pairs; multicast of one group with all switches. *)

From Coq Require Import List Arith Lia Bool.
From Dateline Require Import Net Dor Torus Early.
Import ListNotations.

(* Ties of the even ring go the way that does not wrap. *)
Definition unicast := early 6 5 3 2 1 (fun p x => tx p <? x) (fun p y => ty p <? y) (fun p x => tx p <? x).

Definition is_switch x y := (x <? 6) && (y <? 5) && negb ((x =? 3) && (y =? 2)).

Definition to_x c := far_x 6 c.
Definition to_y c := far_y 5 c.

(* Links of the tree: row 1 without its dateline; columns without theirs, but for column 3. *)
Definition wraps_here k (m : bool) v := if m then v =? 0 else v =? k - 1.
Definition on_tree c := is_switch (cx c) (cy c) && is_switch (to_x c) (to_y c) &&
  if in_y c then (cx c =? 3) || negb (wraps_here 5 (minus c) (cy c))
  else (cy c =? 1) && negb (wraps_here 6 (minus c) (cx c)).

(* All outputs of (x,y) on the tree; after an illegal turn on VL 2. *)
Definition branches (from_y : bool) x y := filter on_tree
  [Channel false false (if from_y then 2 else 0) x y; Channel false true (if from_y then 2 else 0) x y;
   Channel true false 0 x y; Channel true true 0 x y].

(* No copy goes back over its link. *)
Definition back c d := Bool.eqb (in_y c) (in_y d) && negb (Bool.eqb (minus c) (minus d)).

Definition multicast : tables channel unit := Build_tables
  (fun _ c => In c (branches false (cx c) (cy c)))
  (fun c _ => filter (fun d => negb (back c d)) (branches (in_y c) (to_x c) (to_y c))).

Definition both := together unicast multicast.

Theorem unicast_alone : acyclic (waits unicast).
Proof.
  apply (ranked_acyclic _ _ (early_rank 6 5 3 2 1 6)).
  apply early_falls; lia.
Qed.

(* Hops to the root. *)
Definition depth x y := (if x <=? 2 then 2 - x else x - 2) +
  (if x =? 3 then (6 - y) mod 5 else if y <=? 1 then 1 - y else y - 1).

Definition tree_rank c := if depth (to_x c) (to_y c) <? depth (cx c) (cy c) then 20 + depth (cx c) (cy c)
  else 20 - depth (cx c) (cy c).

Definition all := flat_map (fun x => flat_map (fun y => branches false x y ++ branches true x y) (seq 0 5)) (seq 0 6).

Lemma branches_all f x y c : In c (branches f x y) -> In c all.
Proof.
  intros I. assert (S : is_switch x y = true).
  { apply filter_In in I. destruct I as [I T]. unfold on_tree in T. rewrite !andb_true_iff in T.
    destruct T as [[T _] _]. simpl in I. destruct I as [<-|[<-|[<-|[<-|[]]]]]; exact T. }
  unfold is_switch in S. rewrite !andb_true_iff, !Nat.ltb_lt in S.
  apply in_flat_map. exists x. split; [apply in_seq; lia|]. apply in_flat_map. exists y.
  split; [apply in_seq; lia|]. apply in_app_iff. destruct f; auto.
Qed.

Theorem multicast_alone : acyclic (waits multicast).
Proof.
  apply (ranked_acyclic _ _ tree_rank). intros c d (g & U & J).
  assert (A : In c all).
  { destruct U as [c I|b c U I]; [apply (branches_all _ _ _ _ I)|].
    simpl in I. apply filter_In in I. apply (branches_all _ _ _ _ (proj1 I)). }
  assert (K : forallb (fun c => forallb (fun d => tree_rank d <? tree_rank c) (next multicast c g)) all = true)
    by (destruct g; vm_compute; reflexivity).
  rewrite forallb_forall in K. specialize (K c A). rewrite forallb_forall in K. apply Nat.ltb_lt, K, J.
Qed.

Notation y_plus x y := (Channel true false 0 x y).

Theorem both_loop : ~ acyclic (waits both).
Proof.
  assert (A : chain (waits both) (y_plus 4 1) [y_plus 4 2]).
  { apply (way_waits _ _ both (inl (Packet 4 1 4 3))); [|repeat split; left; reflexivity].
    apply UseFirst. split; [unfold sends; cbn; intuition (lia || discriminate)|left; reflexivity]. }
  assert (B : chain (waits both) (y_plus 4 2) [Channel false true 2 4 3; y_plus 3 3]).
  { apply (way_waits _ _ both (inl (Packet 4 2 3 4))); [|repeat split; left; reflexivity].
    apply UseFirst. split; [unfold sends; cbn; intuition (lia || discriminate)|left; reflexivity]. }
  assert (C : chain (waits both) (y_plus 3 3) [y_plus 3 4; y_plus 3 0]).
  { apply (way_waits _ _ both (inl (Packet 3 3 3 1))); [|repeat split; left; reflexivity].
    apply UseFirst. split; [unfold sends; cbn; intuition (lia || discriminate)|left; reflexivity]. }
  assert (D : chain (waits both) (y_plus 3 0) [Channel false false 2 3 1; y_plus 4 1]).
  { apply (way_waits _ _ both (inr tt)); [apply UseFirst; vm_compute; tauto|].
    repeat split; vm_compute; tauto. }
  apply (cycle_blocks _ _ (y_plus 4 1)
    [y_plus 4 2; Channel false true 2 4 3; y_plus 3 3; y_plus 3 4; y_plus 3 0; Channel false false 2 3 1]).
  simpl in *. tauto.
Qed.
