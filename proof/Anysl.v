(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Anysl.v: any SL.

   In words: let the first hop in a dimension be on VL A and every further hop
   straight on in it on VL B (or both on one VL), whatever the SL.  If in each
   direction of each ring there is a switch, the cut, at which no packet goes on
   from B to B, then the dependencies have no cycle ([any_sl_falls]).  The rule of
   lib/route/ties.c has such cuts, at the dateline, for any numbers from -2 to 2
   (with one VL: from -1 to 1), whatever they depend on ([numbers_fall],
   [numbers_safe]).  A mesh dimension is the number 0.
   Proves, of doc/rules.md: "Any SL"; rules A13. *)

From Coq Require Import List Arith Lia Bool ZArith.
From Dateline Require Import Net Dor Torus.
Import ListNotations.

Section Cut.
Variables (D : nat) (radix : nat -> nat) (largest : nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Hypothesis radix_largest : forall d, radix d <= largest.
Variable minus_at : nat -> packet -> nat -> bool.  (* dimension, packet, coordinate *)
Variable two : bool.                               (* two VLs, or one *)
Variable level : packet -> nat.                    (* QoS level *)

Definition vl_a p := 4 * level p.
Definition vl_b p := 4 * level p + (if two then 1 else 0).

Definition any_sl := dor D radix minus_at (fun _ => vl_a) (fun _ => vl_b).

(* The two conditions on a rule: nobody turns round, and the cuts. *)
Definition steady := forall d p j a, d < D -> is_node D radix (src p) -> is_node D radix (dst p) ->
  let t := co (dst p) d in let b := hop (radix d) (minus_at d p a) a in
  way (radix d) (minus_at d p) (co (src p) d) t j a -> a <> t -> b <> t ->
  minus_at d p b = minus_at d p a.

Variable cut : nat -> bool -> nat.                 (* of a dimension and direction *)
Hypothesis cut_below : forall d m, cut d m < radix d.

(* At the cut a packet that goes on has made at most one hop, on A; with one VL none. *)
Definition cut_open := forall d p j a, d < D -> is_node D radix (src p) -> is_node D radix (dst p) ->
  way (radix d) (minus_at d p) (co (src p) d) (co (dst p) d) j a -> a <> co (dst p) d ->
  a = cut d (minus_at d p a) -> j < (if two then 2 else 1).

Hypothesis is_steady : steady.
Hypothesis is_open : cut_open.

(* Hops since the cut. *)
Definition since k (m : bool) x a := if m then ahead k a x else ahead k x a.

Definition cut_ring d (_ : node) m v a :=
  if two && (v mod 4 =? 0) then radix d else radix d - 1 - since (radix d) m (cut d m) a.

Lemma since_next k m x a : 2 <= k -> a < k -> x < k -> hop k m a <> x ->
  since k m x (hop k m a) = S (since k m x a) /\ since k m x (hop k m a) < k.
Proof. intros. unfold since, ahead, hop in *. destruct m; cases; lia. Qed.

Lemma a_bit p : (vl_a p mod 4 =? 0) = true.
Proof. unfold vl_a. rewrite Nat.mul_comm, Nat.mod_mul by lia. reflexivity. Qed.

Lemma b_bit p : (vl_b p mod 4 =? 0) = negb two.
Proof.
  unfold vl_b. rewrite Nat.add_comm, Nat.mul_comm, Nat.mod_add by lia. destruct two; reflexivity.
Qed.

Lemma cut_ring_below d v m w a : a < radix d -> cut_ring d v m w a < largest + 1.
Proof. pose proof (radix_largest d). unfold cut_ring. destruct (_ && _); lia. Qed.

Lemma cut_falls : falls_in_rings D radix minus_at (fun _ => vl_a) (fun _ => vl_b) cut_ring.
Proof.
  intros d p j a H S0 D0 t b v W N N'.
  assert (A : a < radix d) by (apply (way_below _ _ _ _ _ _ (radix_2 d) (proj2 S0 d H) W)).
  pose proof (is_steady d p j a H S0 D0 W N N') as E. fold t b in E.
  pose proof (is_open d p (S j) b H S0 D0 (Onward _ _ _ _ _ _ W N) N') as O.
  rewrite E in *. set (m := minus_at d p a) in *.
  pose proof (since_next (radix d) m (cut d m) a (radix_2 d) A (cut_below d m)) as K. fold b in K.
  unfold cut_ring, hop_vl. change (S j =? 0) with false. cbv iota. rewrite b_bit.
  destruct (Nat.eqb_spec j 0) as [J|J]; rewrite ?a_bit, ?b_bit; destruct two; simpl;
    try (pose proof (radix_2 d); lia); (destruct K; [intros F; specialize (O F)|]); lia.
Qed.

(* Theorem 3. *)
Theorem any_sl_falls c e : waits any_sl c e ->
  rank D cut_ring (largest + 1) e < rank D cut_ring (largest + 1) c.
Proof. apply dor_falls; [exact radix_2|exact cut_ring_below|exact cut_falls]. Qed.

Corollary any_sl_acyclic : acyclic (waits any_sl).
Proof. apply (ranked_acyclic _ _ (rank D cut_ring (largest + 1))), any_sl_falls. Qed.

End Cut.

(* The rule of lib/route/ties.c: the sources up to P hops before a target t send in
   the positive direction, P = t + wrap.  [wrap] says how many of them wrap, and may
   depend on the target, its LID and the dimension in any way. *)
Section Numbers.
Variables (D : nat) (radix : nat -> nat) (largest : nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Hypothesis radix_largest : forall d, radix d <= largest.
Variables (two : bool) (level : packet -> nat).
Variable wrap : nat -> packet -> Z.                (* dimension, packet *)
Hypothesis few : forall d p, (Z.abs (wrap d p) <= if two then 2 else 1)%Z.

Definition beyond d p a :=
  (Z.of_nat (co (dst p) d) + wrap d p <? Z.of_nat (ahead (radix d) a (co (dst p) d)))%Z.

Section Way.
Variables (k : nat) (w : Z) (s t : nat).
Hypothesis k2 : 2 <= k.
Hypothesis sk : s < k.
Hypothesis tk : t < k.
Hypothesis st : s <> t.
Let goes a := (Z.of_nat t + w <? Z.of_nat (ahead k a t))%Z.

(* Nobody turns round; who goes on at the dateline has made few hops. *)
Lemma counted j a : way k goes s t j a -> a < k /\ (a <> t -> goes a = goes s /\
  if goes s then ahead k a t = ahead k s t + j /\ (s < t -> s = a + j \/ t < a) /\ (t < s -> t < a)
  else ahead k a t + j = ahead k s t).
Proof.
  assert (Yes : forall x, goes x = true <-> (Z.of_nat t + w < Z.of_nat (ahead k x t))%Z)
    by (intros; apply Z.ltb_lt).
  assert (No : forall x, goes x = false <-> (Z.of_nat (ahead k x t) <= Z.of_nat t + w)%Z)
    by (intros; apply Z.ltb_ge).
  intros W. induction W as [|j a W [A I] M].
  - split; [exact sk|]. intros _. split; [reflexivity|]. destruct (goes s); lia.
  - destruct (I M) as [G J]. split; [apply hop_below; auto|]. intros M'. rewrite G in *.
    destruct (goes s) eqn:E; [apply Yes in E; rewrite Yes|apply No in E; rewrite No];
      revert M' J E; unfold hop, ahead; cases; intros; repeat split; lia.
Qed.
End Way.

(* The cut is the switch before the dateline. *)
Definition shut k (m : bool) := if m then 0 else k - 1.

Notation number_ring := (cut_ring radix two (fun d => shut (radix d))).

Lemma shut_falls : falls_in_rings D radix beyond (fun _ => vl_a level) (fun _ => vl_b two level) number_ring.
Proof.
  assert (X : forall d p j a, d < D -> is_node D radix (src p) -> is_node D radix (dst p) ->
    way (radix d) (beyond d p) (co (src p) d) (co (dst p) d) j a -> a <> co (dst p) d ->
    co (src p) d <> co (dst p) d).
  { intros d p j a _ _ _ W N E. rewrite E in W. apply N, (way_nowhere _ _ _ _ _ W). }
  apply cut_falls; auto.
  - intros d m. pose proof (radix_2 d). unfold shut. destruct m; lia.
  - intros d p j a H S0 D0 t b W N N'.
    pose proof (X d p j a H S0 D0 W N) as Y.
    pose proof (counted (radix d) (wrap d p) _ _ (radix_2 d) (proj2 S0 d H) (proj2 D0 d H) Y) as K.
    destruct (K _ _ W) as [_ G]. destruct (K _ _ (Onward _ _ _ _ _ _ W N)) as [_ G'].
    exact (eq_trans (proj1 (G' N')) (eq_sym (proj1 (G N)))).
  - intros d p j a H S0 D0 W N C.
    pose proof (X d p j a H S0 D0 W N) as Y.
    destruct (counted (radix d) (wrap d p) _ _ (radix_2 d) (proj2 S0 d H) (proj2 D0 d H) Y _ _ W) as [A G].
    destruct (G N) as [E F]. clear G. change (beyond d p a = beyond d p (co (src p) d)) in E.
    pose proof (few d p) as Few. rewrite E in C.
    assert (S : co (src p) d < radix d) by (apply S0, H).
    assert (T : co (dst p) d < radix d) by (apply D0, H).
    revert C E F. unfold shut, beyond.
    destruct (Z.ltb_spec (Z.of_nat (co (dst p) d) + wrap d p) (Z.of_nat (ahead (radix d) (co (src p) d) (co (dst p) d))));
      unfold ahead in *; intros C E F; subst a; destruct two; cases; lia.
Qed.

(* Theorem 3, for the rule as it is implemented. *)
Theorem numbers_fall c e : let T := any_sl D radix beyond two level in
  let r := rank D number_ring (largest + 1) in waits T c e -> r e < r c.
Proof. apply dor_falls; [exact radix_2|apply cut_ring_below, radix_largest|exact shut_falls]. Qed.

Corollary numbers_safe size cap q : (forall p c, size p <= cap c) ->
  run channel packet channel_dec size cap (part_of (any_sl D radix beyond two level))
      (empty channel packet) q ->
  some_packet channel packet q -> head_can_move channel packet size cap q.
Proof.
  intros F. apply acyclic_safe; [exact F|]. eapply ranked_acyclic. apply numbers_fall.
Qed.

End Numbers.
