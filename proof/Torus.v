(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Torus.v: the whole torus with datelines in the SL.

   In words: on a whole torus or mesh of any radices from 2 on, in any number of
   dimensions, the tables of rules A4 to A6 have no cycle of dependencies
   ([torus_falls]), so they never deadlock ([torus_safe]).  Where the two ways
   round a ring are equally long, [tie] decides in any way: "the way that does not
   wrap" and balanced ties are two cases of it.  [sl_gives_vl]: the VL that rules
   A6 take from the SL is the VL of the theorem.
   Proves, of doc/rules.md: "One whole ring" and "A whole torus"; rules A4, A5, A6.

   In each dimension a packet takes the shorter way round.  The SL bit of the
   dimension, and with it the VL, says whether this way wraps.  A mesh dimension
   is a line.  [level] is the QoS level. *)

From Coq Require Import List Arith Lia Bool.
From Dateline Require Import Net Dor.
Import ListNotations.

(* How far t is ahead of a, in the positive direction. *)
Definition ahead k a t := if a <=? t then t - a else t + k - a.

Definition goes_minus k (mesh tie : bool) t a :=
  if mesh then t <? a
  else if 2 * ahead k a t =? k then tie else k <? 2 * ahead k a t.

Definition wraps (mesh m : bool) s t := negb mesh && (if m then s <? t else t <? s).

(* All comparisons one way or the other, without the impossible ones. *)
Ltac cases := repeat (match goal with
  | H : context [?a <=? ?b] |- _ => destruct (Nat.leb_spec a b)
  | H : context [?a =? ?b] |- _ => destruct (Nat.eqb_spec a b)
  | H : context [?a <? ?b] |- _ => destruct (Nat.ltb_spec a b)
  | |- context [?a <=? ?b] => destruct (Nat.leb_spec a b)
  | |- context [?a =? ?b] => destruct (Nat.eqb_spec a b)
  | |- context [?a <? ?b] => destruct (Nat.ltb_spec a b)
  end; try (exfalso; lia)).

(* Ranks that fall on the way.  Without the bit the dateline is never used.  With
   it: first the half before the dateline, then the other one. *)
Definition ring_rank k (m bit : bool) a :=
  match bit, m with
  | false, false => k - a
  | false, true => a
  | true, false => if 2 * a <? k then k - a else 2 * k - a
  | true, true => if 2 * a <? k then k + a else a
  end.

Lemma ring_rank_below k m bit a : a < k -> ring_rank k m bit a < 2 * k + 1.
Proof. unfold ring_rank. destruct m, bit; cases; lia. Qed.

Section Ring.
Variables (k : nat) (mesh : bool) (tie : nat -> bool) (s t : nat).
Hypothesis k2 : 2 <= k.
Hypothesis sk : s < k.
Hypothesis tk : t < k.
Hypothesis st : s <> t.

Definition goes a := goes_minus k mesh (tie a) t a.

(* Where a packet is after j hops, and that nobody turns it round. *)
Lemma on_its_way j a : way k goes s t j a ->
  a < k /\ (j = 0 -> a = s) /\ (a <> t -> goes a = goes s) /\
  if mesh then (if goes s then t <= a <= s else s <= a <= t)
  else if goes s then
    k <= 2 * ahead k s t /\ (a <> t -> ahead k a t = ahead k s t + j) /\
    (if s <? t then a <= s \/ t <= a else t <= a <= s)
  else
    2 * ahead k s t <= k /\ ahead k a t + j = ahead k s t /\
    (if s <? t then s <= a <= t else s <= a \/ a <= t).
Proof.
  intros W. induction W as [|j a W (A & Z & G & I) N].
  - split; [exact sk|]. repeat (split; [auto|]).
    destruct (goes s) eqn:E; revert E; unfold goes, goes_minus, ahead;
      destruct mesh; cases; intros E; try discriminate; repeat split; lia.
  - specialize (G N). rewrite G. clear Z.
    assert (B : hop k (goes s) a < k) by (apply hop_below; auto).
    revert B I. destruct (goes s); unfold goes, goes_minus, hop, ahead;
      destruct mesh; intros B I; cases; repeat split; intros; cases; try lia; try congruence.
Qed.


Lemma ring_rank_falls j a : let b := hop k (goes a) a in let bit := wraps mesh (goes s) s t in
  way k goes s t j a -> a <> t -> b <> t ->
  ring_rank k (goes b) bit b < ring_rank k (goes a) bit a.
Proof.
  intros b bit W N N'. subst b bit.
  destruct (on_its_way _ _ W) as (A & _ & G & I). specialize (G N).
  destruct (on_its_way _ _ (Onward _ _ _ _ _ _ W N)) as (B & _ & G' & I').
  specialize (G' N'). clear W. rewrite G', G in *. clear G G'.
  revert N' B I I'. unfold ring_rank, wraps, ahead, hop.
  destruct mesh, (goes s); simpl; intros; cases; simpl; lia.
Qed.

End Ring.

Section Torus.
Variables (D : nat) (radix : nat -> nat) (largest : nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Hypothesis radix_largest : forall d, radix d <= largest.
Variable mesh : nat -> bool.                       (* dimensions that are lines *)
Variable tie : nat -> packet -> nat -> bool.       (* ties that go the negative way *)
Variable level : packet -> nat.                    (* QoS level *)

Definition dir d p a := goes (radix d) (mesh d) (tie d p) (co (dst p) d) a.
Definition bit d p := wraps (mesh d) (dir d p (co (src p) d)) (co (src p) d) (co (dst p) d).
Definition vl d p := 4 * level p + (if bit d p then 1 else 0).

Definition torus := dor D radix dir vl vl.
Definition ring d (_ : node) m v a := ring_rank (radix d) m (v mod 4 =? 1) a.
Definition torus_rank := rank D ring (2 * largest + 1).

Lemma vl_bit d p : (vl d p mod 4 =? 1) = bit d p.
Proof.
  unfold vl. rewrite Nat.add_comm, Nat.mul_comm, Nat.mod_add by lia. destruct (bit d p); reflexivity.
Qed.

Lemma ring_below d v m w a : a < radix d -> ring d v m w a < 2 * largest + 1.
Proof.
  intros A. pose proof (ring_rank_below (radix d) m (w mod 4 =? 1) a A) as B.
  pose proof (radix_largest d). unfold ring. lia.
Qed.

Lemma dateline_falls : falls_in_rings D radix dir vl vl ring.
Proof.
  intros d p j a H S0 D0 t b v W N N'.
  assert (st : co (src p) d <> t) by (intros E; rewrite E in W; apply N, (way_nowhere _ _ _ _ _ W)).
  assert (V : forall x, hop_vl vl vl d p x = vl d p) by (intros [|x]; reflexivity).
  rewrite !V. unfold ring. rewrite !vl_bit.
  apply (ring_rank_falls (radix d) (mesh d) (tie d p) (co (src p) d) t) with (j := j); auto;
    [apply S0|apply D0]; exact H.
Qed.

(* Theorem 2. *)
Theorem torus_falls c e : waits torus c e -> torus_rank e < torus_rank c.
Proof. apply dor_falls; [exact radix_2|exact ring_below|exact dateline_falls]. Qed.

Corollary torus_acyclic : acyclic (waits torus).
Proof. apply (ranked_acyclic _ _ torus_rank), torus_falls. Qed.

Corollary torus_safe size cap q : (forall p c, size p <= cap c) ->
  run channel packet channel_dec size cap (part_of torus) (empty channel packet) q ->
  some_packet channel packet q -> head_can_move channel packet size cap q.
Proof. intros F. apply acyclic_safe; [exact F|apply torus_acyclic]. Qed.

End Torus.

(* Packets do come in: a state of the 5x4 torus with a packet from (0,0) to (2,1). *)
Example a_packet_comes_in : exists q,
  run channel packet channel_dec (fun _ => 1) (fun _ => 1)
    (part_of (torus 2 (fun d => if d =? 0 then 5 else 4) (fun _ => false) (fun _ _ _ => false) (fun _ => 0)))
    (empty channel packet) q /\ some_packet channel packet q.
Proof.
  set (T := torus _ _ _ _ _). set (p := Packet [0; 0] [2; 1] 0). set (c := Channel 0 false 0 [0; 0]).
  exists (push channel packet channel_dec (empty channel packet) c (Item p [] (next T c p))). split.
  - eapply Then; [apply Stay|apply part_of_refl|]. apply Inject.
    + refine (conj _ (conj _ (or_introl eq_refl))); (split; [reflexivity|]);
        intros [|[|d]] H; unfold co; simpl; lia.
    + apply le_n.
  - exists c. unfold push, Net.set. destruct (channel_dec c c); [|contradiction].
    intros E. apply app_eq_nil in E. destruct E as [_ E]. discriminate.
Qed.

(* With balanced ties a path that wraps may use the link that leaves coordinate
   floor(k/2), here 2 of 4: rules.md says that none does.  It is safe all the same. *)
Example tie_that_wraps : goes_minus 4 false false 0 2 = false /\ wraps false false 2 0 = true.
Proof. split; reflexivity. Qed.

(* The bit of rule A5: the coordinates differ by more than half the radix.  It
   is that of [bit] when ties go the way that does not wrap. *)
Lemma bit_of_A5 k s t : s < k -> t < k ->
  wraps false (goes_minus k false (t <? s) t s) s t = (k <? 2 * (if s <? t then t - s else s - t)).
Proof.
  intros. unfold wraps, goes_minus, ahead. simpl. cases; simpl; cases; try reflexivity; lia.
Qed.

(* ---- the two rules for ties, and the SL ------------------------------------- *)

(* Rules A4: ties go the way that does not wrap. *)
Definition plain_tie (d : nat) (p : packet) (a : nat) := co (dst p) d <? a.

(* Rules A5: ties go the positive way where the sum of the target's coordinate, its
   later coordinates and the parity of its LID is even.  [tag] is the LID. *)
Definition later d (v : node) := list_sum (skipn d v).
Definition balanced_tie (d : nat) (p : packet) (a : nat) := Nat.odd (later d (dst p) + tag p).

(* Rules A5 and A6: the path SL, and the VL that a switch takes from an SL at an
   output in dimension d. *)
Definition b2n (b : bool) := if b then 1 else 0.
Definition path_sl radix mesh tie (level : packet -> nat) p :=
  b2n (bit radix mesh tie 0 p) + 2 * b2n (bit radix mesh tie 1 p) +
  4 * b2n (bit radix mesh tie 2 p) + 8 * level p.
Definition vl_of_sl d sl := 4 * (sl / 8) + (sl / 2 ^ d) mod 2.

Lemma bits_of_sl x y z l d : x < 2 -> y < 2 -> z < 2 -> d < 3 ->
  vl_of_sl d (x + 2 * y + 4 * z + 8 * l) = 4 * l + match d with 0 => x | 1 => y | _ => z end.
Proof.
  intros X Y Z D. unfold vl_of_sl.
  assert (L : (x + 2 * y + 4 * z + 8 * l) / 8 = l)
    by (symmetry; apply (Nat.div_unique _ _ _ (x + 2 * y + 4 * z)); lia).
  rewrite L. f_equal. destruct d as [|[|[|d]]]; [| | |lia].
  - change (2 ^ 0) with 1. rewrite Nat.div_1_r. symmetry.
    apply (Nat.mod_unique _ _ (y + 2 * z + 4 * l)); lia.
  - change (2 ^ 1) with 2.
    replace ((x + 2 * y + 4 * z + 8 * l) / 2) with (y + 2 * z + 4 * l)
      by (apply (Nat.div_unique _ _ _ x); lia).
    symmetry. apply (Nat.mod_unique _ _ (z + 2 * l)); lia.
  - change (2 ^ 2) with 4.
    replace ((x + 2 * y + 4 * z + 8 * l) / 4) with (z + 2 * l)
      by (apply (Nat.div_unique _ _ _ (x + 2 * y)); lia).
    symmetry. apply (Nat.mod_unique _ _ l); lia.
Qed.

(* In up to three dimensions the VL of the theorem is the VL that the SL gives. *)
Theorem sl_gives_vl radix mesh tie level d p : d < 3 ->
  vl radix mesh tie level d p = vl_of_sl d (path_sl radix mesh tie level p).
Proof.
  intros D. unfold vl, path_sl.
  rewrite bits_of_sl by (try exact D; unfold b2n; destruct (bit _ _ _ _ _); lia).
  destruct d as [|[|[|d]]]; [reflexivity|reflexivity|reflexivity|lia].
Qed.
