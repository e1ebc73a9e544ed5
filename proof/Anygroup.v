(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Anygroup.v: the multicast tree together with unicast, for any SL.

   In words: let unicast be that of Anysl.v, in any number of dimensions, with any SL.
   Let multicast use links of one tree, as in Multicast.v, on any VLs, but for hops straight
   on: these are on VL B where there are two.  In each dimension let the root be further from
   the dateline than unicast comes before it has crossed it: by as many switches as sources
   wrap ([most], at most two, or one where there is one VL).  Then the dependencies of both
   together have no cycle ([any_groups_fall], [any_groups_safe]).
   Proves, of doc/rules.md: "Any SL", that of groups; rules A13.

   With two VLs a root in the middle is far enough from radix 5 on; with one, from radix 3.
   In a mesh dimension no source wraps, and the root may be anywhere. *)

From Coq Require Import List Arith Lia Bool ZArith.
From Dateline Require Import Net Dor Torus Anysl Multicast.
Import ListNotations.

Section Groups.
Variables (D : nat) (radix : nat -> nat) (largest : nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Hypothesis radix_largest : forall d, radix d <= largest.
Variables (two : bool) (level : packet -> nat) (wrap : nat -> packet -> Z).
Variable most : nat -> nat.            (* of a dimension *)
Hypothesis wraps_few : forall d p, (Z.abs (wrap d p) <= Z.of_nat (most d))%Z.
Hypothesis most_few : forall d, most d <= if two then 2 else 1.
Notation is_node := (is_node D radix).
Notation far := (far radix).
Notation unicast := (any_sl D radix (beyond radix wrap) two level).

Variable root : node.
Hypothesis root_far : forall d, d < D -> most d <= co root d /\ co root d + most d < radix d.
Variable group : Type.                 (* multicast packets *)
Variable trees : tables channel group.

(* A link of the tree: later coordinates are the root's, and it is no dateline. *)
Definition on_tree c := is_node (at_ c) /\ dim c < D /\
  (forall e, dim c < e < D -> co (at_ c) e = co root e) /\
  (if minus c then co (at_ c) (dim c) <> 0 else co (at_ c) (dim c) <> radix (dim c) - 1).

Hypothesis first_on_tree : forall g c, inject trees g c -> on_tree c.
Hypothesis next_on_tree : forall g c e, on_tree c -> In e (next trees c g) -> on_tree e /\ at_ e = far c /\
  (dim e = dim c -> minus e = minus c /\ (two = true -> Dor.vl e mod 4 <> 0)).

Definition both := together unicast trees.

(* ---- ranks ---------------------------------------------------------------------- *)

(* It points away from the root, and no packet in it goes on over the dateline.  On A the
   next hop may do so. *)
Definition ahead_of c := if two && (Dor.vl c mod 4 =? 0) then pred (most (dim c)) else 0.
Definition away c := let a := co (at_ c) (dim c) in let r := co root (dim c) in
  if minus c then (a <=? r) && (ahead_of c <? a)
  else (r <=? a) && (a + ahead_of c <? radix (dim c) - 1).

Notation outside := (outside root D).
Definition layer c := match outside (at_ c) (dim c) with
  | Some h => D + 2 * h + 1
  | None => if away c then D - 1 - dim c else D + 2 * dim c
  end.

Notation ring := (cut_ring radix two (fun d => shut (radix d))).
Notation inner := (rank D ring (largest + 1)).
Definition height := (D + 1) * (largest + 1).
Definition groups_rank c := layer c * height + inner c.

Lemma inner_below c : is_node (at_ c) -> dim c < D -> inner c < height.
Proof.
  intros [_ A] L. unfold rank, height.
  pose proof (cut_ring_below radix largest radix_largest two (fun d => shut (radix d)) (dim c)
    (ring_at (dim c) (at_ c)) (minus c) (Dor.vl c) (co (at_ c) (dim c)) (A _ L)).
  assert ((D - dim c) * (largest + 1) <= D * (largest + 1)) by (apply Nat.mul_le_mono_r; lia).
  lia.
Qed.

Lemma by_layer c e : is_node (at_ e) -> dim e < D -> layer e < layer c -> groups_rank e < groups_rank c.
Proof. intros A L H. pose proof (inner_below e A L). unfold groups_rank. nia. Qed.

Lemma by_inner c e : layer e <= layer c -> inner e < inner c -> groups_rank e < groups_rank c.
Proof. intros H I. unfold groups_rank. nia. Qed.

Lemma far_here c : is_node (at_ c) -> dim c < D ->
  co (far c) (dim c) = hop (radix (dim c)) (minus c) (co (at_ c) (dim c)).
Proof. intros [L _] H. apply co_moved. lia. Qed.

Lemma layer_inside e : outside (at_ e) (dim e) = None -> layer e <= D + 2 * dim e.
Proof. unfold layer. intros ->. destruct (away e); lia. Qed.

(* A hop that begins where the root is, in its dimension, and is no dateline. *)
Lemma layer_at_root e : dim e < D -> outside (at_ e) (dim e) = None -> co (at_ e) (dim e) = co root (dim e) ->
  (if minus e then co (at_ e) (dim e) <> 0 else co (at_ e) (dim e) <> radix (dim e) - 1) ->
  layer e = D - 1 - dim e.
Proof.
  unfold layer. intros L -> E N. assert (A : away e = true); [|rewrite A; reflexivity].
  unfold away, ahead_of. rewrite E in *. pose proof (root_far (dim e) L). pose proof (most_few (dim e)).
  pose proof (radix_2 (dim e)).
  destruct (minus e), two, (Dor.vl e mod 4 =? 0); simpl; rewrite Nat.leb_refl; apply Nat.ltb_lt; lia.
Qed.

(* Straight on: the rings outside are the same. *)
Lemma straight_layer c e : at_ e = far c -> dim e = dim c -> (away c = true -> away e = true) ->
  layer e <= layer c.
Proof.
  intros F I W. unfold layer. rewrite F, I.
  assert (O : outside (far c) (dim c) = outside (at_ c) (dim c)).
  { assert (H : forall x, dim c < x -> co (far c) x = co (at_ c) x) by (intros x X; apply co_other; lia).
    destruct (outside (at_ c) (dim c)) as [h|] eqn:E.
    - apply outside_some in E. destruct E as (A & B & K). apply outside_is; [exact A| |].
      + rewrite H by lia. exact B.
      + intros x X. rewrite H by lia. apply K, X.
    - apply outside_none. intros x X. rewrite H by lia. apply (proj1 (outside_none root _ _ D) E), X. }
  rewrite O. destruct (outside (at_ c) (dim c)); [apply le_n|].
  destruct (away c); [rewrite W by reflexivity; apply le_n|]. destruct (away e); lia.
Qed.

(* Into a later dimension. *)
Lemma turn_layer c e : dim c < dim e < D -> at_ e = far c ->
  (if minus e then co (at_ e) (dim e) <> 0 else co (at_ e) (dim e) <> radix (dim e) - 1) \/
    co (at_ e) (dim e) <> co root (dim e) ->
  layer e <= layer c.
Proof.
  intros L F N. assert (S : forall x, dim c < x -> co (at_ e) x = co (at_ c) x).
  { intros x X. rewrite F. apply co_other. lia. }
  assert (R : outside (at_ e) (dim e) = None -> co (at_ e) (dim e) = co root (dim e) -> layer e = D - 1 - dim e).
  { intros O E. apply layer_at_root; auto; [lia|]. destruct N; [assumption|contradiction]. }
  destruct (outside (at_ c) (dim c)) as [h|] eqn:E.
  - assert (Z : layer c = D + 2 * h + 1) by (unfold layer; rewrite E; reflexivity).
    apply outside_some in E. destruct E as (A & B & K). rewrite Z.
    destruct (le_lt_dec h (dim e)) as [H|H].
    + assert (O : outside (at_ e) (dim e) = None).
      { apply outside_none. intros x X. rewrite S by lia. apply K. lia. }
      destruct (Nat.eq_dec h (dim e)) as [->|X]; [pose proof (layer_inside e O); lia|].
      rewrite R; [lia|exact O|]. rewrite S by lia. apply K. lia.
    + unfold layer. rewrite (outside_is root (at_ e) (dim e) h D); [lia|lia| |].
      * rewrite S by lia. exact B.
      * intros x X. rewrite S by lia. apply K. lia.
  - pose proof (proj1 (outside_none root _ _ D) E) as K. rewrite R.
    + unfold layer. rewrite E. destruct (away c); lia.
    + apply outside_none. intros x X. rewrite S by lia. apply K. lia.
    + rewrite S by lia. apply K. lia.
Qed.

(* ---- unicast ------------------------------------------------------------------------- *)

(* The dateline is crossed by one of the first hops. *)
Lemma cut_hops d p j a : d < D -> is_node (src p) -> is_node (dst p) ->
  way (radix d) (beyond radix wrap d p) (co (src p) d) (co (dst p) d) j a -> a <> co (dst p) d ->
  a < radix d /\ beyond radix wrap d p a = beyond radix wrap d p (co (src p) d) /\
  (a = shut (radix d) (beyond radix wrap d p a) -> j < most d).
Proof.
  intros H S0 D0 W N.
  assert (Y : co (src p) d <> co (dst p) d).
  { intros E. rewrite E in W. apply N, (way_nowhere _ _ _ _ _ W). }
  destruct (counted (radix d) (wrap d p) _ _ (radix_2 d) (proj2 S0 d H) (proj2 D0 d H) Y _ _ W) as [A G].
  destruct (G N) as [E F]. clear G. change (beyond radix wrap d p a = beyond radix wrap d p (co (src p) d)) in E.
  split; [exact A|]. split; [exact E|]. intros C.
  pose proof (wraps_few d p) as Few. rewrite E in C.
  assert (S : co (src p) d < radix d) by (apply S0, H).
  assert (T : co (dst p) d < radix d) by (apply D0, H).
  revert C E F. unfold shut, beyond.
  destruct (Z.ltb_spec (Z.of_nat (co (dst p) d) + wrap d p) (Z.of_nat (ahead (radix d) (co (src p) d) (co (dst p) d))));
    unfold ahead in *; intros C E F; subst a; cases; lia.
Qed.

(* A rule's way goes over the dateline from here. *)
Lemma at_cut k (m : bool) (a : nat) : (if m then a = 0 else a = k - 1) -> a = shut k m.
Proof. unfold shut. destruct m; auto. Qed.

Lemma unicast_layer p c e : uses unicast p c -> In e (next unicast c p) -> layer e <= layer c.
Proof.
  intros U J. pose proof (out_at _ _ _ _ _ _ _ J) as F.
  apply uses_may_be in U; [|exact radix_2].
  destruct (onward D radix radix_2 _ _ _ p c e U J) as [U' [L|(I & j & a & N & Ea & Mc & W & Eb & N' & Me & Vc & Ve)]].
  - destruct U' as (S0 & D0 & A & L' & X & _ & M & j & W & _).
    apply turn_layer; [lia|exact F|].
    destruct (Nat.eq_dec (co (at_ e) (dim e)) (co root (dim e))) as [R|R]; [left|right; exact R].
    destruct (differ_at _ _ _ X) as (_ & N & _).
    destruct (cut_hops (dim e) p j _ L' S0 D0 W N) as (B & _ & C). rewrite <- M in C.
    pose proof (root_far (dim e) L'). rewrite R in *.
    assert (G : (if minus e then co root (dim e) = 0 else co root (dim e) = radix (dim e) - 1) -> False).
    { intros Q. pose proof (C (at_cut _ _ _ Q)). destruct (minus e); lia. }
    destruct (minus e); exact G.
  - destruct U as (S0 & D0 & A & L & _).
    apply straight_layer; auto.
    destruct (cut_hops (dim c) p j a L S0 D0 W N) as (B & G & _).
    rewrite Eb in N', Me.
    destruct (cut_hops (dim c) p (S j) _ L S0 D0 (Onward _ _ _ _ _ _ W N) N') as (B' & G' & C').
    rewrite G', <- G, <- Mc in C', Me. rewrite <- Mc in Eb, B'.
    unfold away, ahead_of. rewrite I, Eb, Me, <- Ea.
    assert (V : two = true -> (Dor.vl e mod 4 =? 0) = false).
    { intros T. rewrite Ve. unfold hop_vl. change (S j =? 0) with false. cbv iota. rewrite b_bit, T. reflexivity. }
    assert (V' : j = 0 -> (Dor.vl c mod 4 =? 0) = true).
    { intros ->. rewrite Vc. unfold hop_vl. change (0 =? 0) with true. cbv iota. apply a_bit. }
    assert (Z : (if two && (Dor.vl e mod 4 =? 0) then pred (most (dim c)) else 0) = 0).
    { destruct two; [rewrite V by reflexivity|]; reflexivity. }
    rewrite Z. clear Z V. pose proof (most_few (dim c)) as Few.
    assert (Cut : (if minus c then hop (radix (dim c)) (minus c) a = 0
        else hop (radix (dim c)) (minus c) a = radix (dim c) - 1) ->
      j = 0 /\ most (dim c) = 2 /\ two = true).
    { intros Q. specialize (C' (at_cut _ _ _ Q)). destruct two; lia. }
    pose proof (radix_2 (dim c)).
    destruct (minus c); rewrite !andb_true_iff, !Nat.leb_le, !Nat.ltb_lt; intros [X Y].
    + assert (Ha : a <> 0) by lia. revert B' Cut. unfold hop. destruct (Nat.eqb_spec a 0); [lia|].
      intros B' Cut. split; [lia|]. destruct (Nat.eq_dec (a - 1) 0) as [Q|Q]; [|lia].
      destruct (Cut Q) as (J0 & M2 & T). rewrite T, M2 in Y. rewrite V' in Y by exact J0. simpl in Y. lia.
    + assert (Ha : a < radix (dim c) - 1) by lia. revert B' Cut. unfold hop.
      destruct (Nat.eqb_spec a (radix (dim c) - 1)); [lia|].
      intros B' Cut. split; [lia|]. destruct (Nat.eq_dec (a + 1) (radix (dim c) - 1)) as [Q|Q]; [|lia].
      destruct (Cut Q) as (J0 & M2 & T). rewrite T, M2 in Y. rewrite V' in Y by exact J0. simpl in Y. lia.
Qed.

(* ---- the tree ----------------------------------------------------------------------- *)

Lemma tree_inside c : on_tree c -> outside (at_ c) (dim c) = None.
Proof. intros (_ & _ & K & _). apply outside_none. exact K. Qed.

Lemma tree_falls_here c e : on_tree c -> on_tree e -> at_ e = far c ->
  (dim e = dim c -> minus e = minus c /\ (two = true -> Dor.vl e mod 4 <> 0)) -> groups_rank e < groups_rank c.
Proof.
  intros C E F M. pose proof (tree_inside c C) as OC. pose proof (tree_inside e E) as OE.
  destruct C as (A & L & K & N). destruct E as (A' & L' & K' & N').
  destruct (lt_eq_lt_dec (dim e) (dim c)) as [[H|H]|H].
  - (* towards the root, and into an earlier dimension *)
    apply by_layer; auto. pose proof (layer_inside e OE).
    assert (R : co (far c) (dim c) = co root (dim c)) by (rewrite <- F; apply K'; lia).
    rewrite far_here in R by assumption. destruct A as [_ A]. specialize (A _ L).
    assert (Z : away c = false).
    { unfold away. rewrite <- R. unfold hop. destruct (minus c); cases; simpl; try reflexivity; lia. }
    assert (LC : layer c = D + 2 * dim c) by (unfold layer; rewrite OC, Z; reflexivity).
    lia.
  - (* straight on *)
    destruct (M H) as [M' V]. rewrite F, H, far_here in N' by assumption. rewrite M' in N'.
    destruct A as [A0 A]. pose proof (A _ L) as B. pose proof (radix_2 (dim c)).
    assert (Z : (two && (Dor.vl e mod 4 =? 0)) = false).
    { destruct two; [|reflexivity]. apply Nat.eqb_neq, V. reflexivity. }
    apply by_inner.
    + apply straight_layer; auto. assert (AE : ahead_of e = 0) by (unfold ahead_of; rewrite Z; reflexivity).
      unfold away. rewrite AE, F, H, M', far_here by (assumption || (split; assumption)).
      revert N N' B. unfold hop. destruct (minus c); intros N N' B; rewrite !andb_true_iff, !Nat.leb_le, !Nat.ltb_lt;
        cases; intros [X Y]; lia.
    + unfold rank. rewrite F, H, M', far_here by (assumption || (split; assumption)). apply Nat.add_lt_mono_l.
      unfold cut_ring. rewrite Z.
      pose proof (since_next (radix (dim c)) (minus c) (shut (radix (dim c)) (minus c)) (co (at_ c) (dim c)) ltac:(lia) B) as Q.
      destruct (two && (Dor.vl c mod 4 =? 0)); [lia|].
      destruct Q as [Q1 Q2].
      * unfold shut. destruct (minus c); lia.
      * intros Q. rewrite Q in N'. unfold shut in N'. destruct (minus c); lia.
      * lia.
  - (* away from the root, into a later dimension *)
    apply by_layer; auto. rewrite layer_at_root; [|assumption|exact OE| |exact N'].
    + unfold layer. rewrite OC. destruct (away c); lia.
    + rewrite F. unfold Dor.far. rewrite co_other by lia. apply K. lia.
Qed.

Theorem any_groups_fall c e : waits both c e -> groups_rank e < groups_rank c.
Proof.
  intros W. destruct (together_waits _ _ _ _ W) as [(p & U & J)|(g & U & J)].
  - apply by_inner; [apply (unicast_layer p c e U J)|].
    apply (numbers_fall D radix largest radix_2 radix_largest two level wrap).
    + intros d q. pose proof (wraps_few d q). pose proof (most_few d). destruct two; lia.
    + exists p. auto.
  - assert (V : on_tree c).
    { clear J W. induction U as [c I|b c U IH I]; [apply (first_on_tree g c I)|apply (next_on_tree g b c); auto]. }
    destruct (next_on_tree g c e V J) as (E & F & M). apply tree_falls_here; assumption.
Qed.

Corollary any_groups_safe size cap q : (forall p c, size p <= cap c) ->
  run channel (packet + group) channel_dec size cap (part_of both) (empty channel (packet + group)) q ->
  some_packet channel (packet + group) q -> head_can_move channel (packet + group) size cap q.
Proof.
  intros F. apply acyclic_safe; [exact F|]. apply (ranked_acyclic _ _ groups_rank), any_groups_fall.
Qed.

End Groups.

Lemma tree_link_right D radix root c : tree_link D radix root c = true ->
  is_node D radix (at_ c) -> dim c < D -> on_tree D radix root c.
Proof.
  intros T A L. set (c' := Channel (dim c) (minus c) 0 (at_ c)).
  destruct (Multicast.tree_link_right D radix root c' T A L eq_refl) as (B & M & K & N & _).
  exact (conj B (conj M (conj K N))).
Qed.
