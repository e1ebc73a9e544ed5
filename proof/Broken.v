(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Broken.v: rings that lack a cable, the long way round.

   In words: let any rings of a torus lack a cable each (all its parallels), and let packets
   in them go the only way that is left: the shorter one, or else the other one
   ([the_way_left]).  Whatever keeps whole rings free of cycles, the torus stays free of
   them, with the VLs that packets had before ([broken_falls]): with the dateline in the SL
   ([broken_torus_falls], [broken_torus_safe]), and for any SL ([broken_numbers_fall]).
   Where each ring lacks a cable, VLs do not matter at all ([lines_fall]).
   Proves, of doc/rules.md: "A broken ring". *)

From Coq Require Import List Arith Lia Bool ZArith.
From Dateline Require Import Net Dor Torus Anysl.
Import ListNotations.

(* ---- one ring ------------------------------------------------------------------ *)

(* There is no cable between x and the next coordinate.  The rest is a line, which begins
   there: a's place on it. *)
Definition place k x a := ahead k (hop k false x) a.
Definition along k x t a := place k x t <? place k x a.

(* The way from a to t in direction m uses that cable. *)
Definition uses_cable k x (m : bool) t a :=
  if m then ahead k (hop k false x) a <? ahead k t a else ahead k a x <? ahead k a t.

Ltac places := unfold along, place, uses_cable, ahead, hop in *; cases.

Lemma the_way_left k x t a m : 2 <= k -> x < k -> t < k -> a < k -> a <> t ->
  along k x t a = if uses_cable k x m t a then negb m else m.
Proof. intros. destruct m; simpl; places; try reflexivity; lia. Qed.

Lemma never_crosses k x t a : 2 <= k -> x < k -> t < k -> a < k -> a <> t ->
  if along k x t a then a <> hop k false x else a <> x.
Proof. intros. places; lia. Qed.

Lemma one_place k x t a : 2 <= k -> x < k -> t < k -> a < k -> a <> t ->
  let m := along k x t a in let b := hop k m a in
  (b <> t -> along k x t b = m) /\
  if m then place k x a = S (place k x b) else place k x b = S (place k x a) /\ place k x b < k.
Proof.
  intros K X T A N m b. subst b. subst m.
  destruct (along k x t a) eqn:E; revert E; places; intros; try discriminate; repeat split; intros; cases;
    try reflexivity; lia.
Qed.

(* ---- a torus ----------------------------------------------------------------------- *)

Section Broken.
Variables (D : nat) (radix : nat -> nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Variable broken : nat -> node -> option nat.       (* dimension, ring: as x above *)
Hypothesis broken_below : forall d v x, broken d v = Some x -> x < radix d.

(* A rule for whole rings. *)
Variable dir : nat -> packet -> nat -> bool.
Variables first further : nat -> packet -> nat.

Definition round d p a := match broken d (ring_of d p) with
  | None => dir d p a
  | Some x => along (radix d) x (co (dst p) d) a
  end.

Section Rank.
Variable ring : nat -> node -> bool -> nat -> nat -> nat.
Variable height : nat.
Hypothesis ring_height : forall d v m w a, a < radix d -> ring d v m w a < height.
Hypothesis radix_height : forall d, radix d < height.
Hypothesis whole_falls : (exists d v, broken d v = None) -> falls_in_rings D radix dir first further ring.

Definition broken_ring d v (m : bool) w a := match broken d v with
  | None => ring d v m w a
  | Some x => if m then place (radix d) x a else radix d - place (radix d) x a
  end.

Lemma way_same k f g s t j a : (forall x, f x = g x) -> way k f s t j a -> way k g s t j a.
Proof. intros E W. induction W as [|j a W IH N]; [apply Here|]. rewrite E. apply Onward; assumption. Qed.

(* Theorem 12. *)
Theorem broken_falls c e : waits (dor D radix round first further) c e ->
  rank D broken_ring height e < rank D broken_ring height c.
Proof.
  apply dor_falls; [exact radix_2| |].
  - intros d v m w a A. unfold broken_ring. destruct (broken d v) as [x|] eqn:B; [|auto].
    pose proof (radix_height d). destruct m; [|lia]. unfold place, ahead.
    pose proof (hop_below (radix d) false x (radix_2 d) (broken_below d v x B)). cases; lia.
  - intros d p j a H S0 D0 t b v W N N'. subst b. unfold broken_ring.
    assert (A : a < radix d) by (apply (way_below _ _ _ _ _ _ (radix_2 d) (proj2 S0 d H) W)).
    assert (T : t < radix d) by (apply D0, H).
    destruct (broken d v) as [x|] eqn:B.
    + assert (R : forall y, round d p y = along (radix d) x t y).
      { intros y. unfold round. fold v. rewrite B. reflexivity. }
      rewrite R in N'. rewrite !R.
      destruct (one_place (radix d) x t a (radix_2 d) (broken_below d v x B) T A N) as [E F].
      rewrite (E N'). destruct (along (radix d) x t a); lia.
    + assert (R : forall y, round d p y = dir d p y).
      { intros y. unfold round. fold v. rewrite B. reflexivity. }
      rewrite R in N'. rewrite !R. apply (whole_falls (ex_intro _ d (ex_intro _ v B)) d p j a H S0 D0); auto.
      apply (way_same _ _ _ _ _ _ _ R W).
Qed.
End Rank.

(* Where each ring lacks a cable, with any VLs: with one, for example. *)
Theorem lines_fall largest c e : (forall d, radix d <= largest) -> (forall d v, broken d v <> None) ->
  let r := rank D (broken_ring (fun _ _ _ _ _ => 0)) (S largest) in
  waits (dor D radix round first further) c e -> r e < r c.
Proof.
  intros L B. apply broken_falls.
  - intros. lia.
  - intros d. specialize (L d). lia.
  - intros (d & v & E). exfalso. apply (B d v E).
Qed.

End Broken.

(* With the dateline in the SL: the VL says whether the shorter way wraps, as before. *)
Section Dateline.
Variables (D : nat) (radix : nat -> nat) (largest : nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Hypothesis radix_largest : forall d, radix d <= largest.
Variable broken : nat -> node -> option nat.
Hypothesis broken_below : forall d v x, broken d v = Some x -> x < radix d.
Variables (mesh : nat -> bool) (tie : nat -> packet -> nat -> bool) (level : packet -> nat).

Definition broken_torus := let v := vl radix mesh tie level in
  dor D radix (round radix broken (dir radix mesh tie)) v v.

Theorem broken_torus_falls c e : let r := rank D (broken_ring radix broken (ring radix)) (2 * largest + 1) in
  waits broken_torus c e -> r e < r c.
Proof.
  apply broken_falls; auto.
  - apply ring_below; assumption.
  - intros d. pose proof (radix_2 d). pose proof (radix_largest d). lia.
  - intros _. apply dateline_falls; assumption.
Qed.

Corollary broken_torus_safe size cap q : (forall p c, size p <= cap c) ->
  run channel packet channel_dec size cap (part_of broken_torus) (empty channel packet) q ->
  some_packet channel packet q -> head_can_move channel packet size cap q.
Proof.
  intros F. apply acyclic_safe; [exact F|]. eapply ranked_acyclic. apply broken_torus_falls.
Qed.

End Dateline.

(* For any SL: A, then B, on whole rings and on broken ones. *)
Section AnySl.
Variables (D : nat) (radix : nat -> nat) (largest : nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Hypothesis radix_largest : forall d, radix d <= largest.
Variable broken : nat -> node -> option nat.
Hypothesis broken_below : forall d v x, broken d v = Some x -> x < radix d.
Variables (two : bool) (level : packet -> nat) (wrap : nat -> packet -> Z).
Hypothesis few : forall d p, (Z.abs (wrap d p) <= if two then 2 else 1)%Z.

Theorem broken_numbers_fall c e :
  let whole := cut_ring radix two (fun d => shut (radix d)) in
  let r := rank D (broken_ring radix broken whole) (largest + 1) in
  waits (any_sl D radix (round radix broken (beyond radix wrap)) two level) c e -> r e < r c.
Proof.
  apply broken_falls; auto.
  - apply cut_ring_below, radix_largest.
  - intros d. pose proof (radix_largest d). lia.
  - intros _. apply shut_falls; assumption.
Qed.

End AnySl.
