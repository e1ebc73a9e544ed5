(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Multicast.v: the tree of rules A9 together with unicast, on a whole torus.

   In words: let unicast be that of Torus.v, in any number of dimensions.  Let multicast use
   links of one tree: from the root along x, from there along y, from there along z, never
   over a dateline; on VLs that unicast has for paths that do not wrap, or on any even ones;
   and let no copy go back over the link by which it came.  Then the dependencies of both
   together have no cycle ([multicast_falls], [multicast_safe]).
   Proves, of doc/rules.md: "Multicast", for a whole torus; rules A9.

   It says nothing of masks, sources or groups: they may be any part of the tree. *)

From Coq Require Import List Arith Lia Bool.
From Dateline Require Import Net Dor Torus.
Import ListNotations.

Section Multicast.
Variables (D : nat) (radix : nat -> nat) (largest : nat).
Hypothesis radix_2 : forall d, 2 <= radix d.
Hypothesis radix_largest : forall d, radix d <= largest.
Variables (mesh : nat -> bool) (tie : nat -> packet -> nat -> bool) (level : packet -> nat).
Notation is_node := (is_node D radix).
Notation far := (far radix).
Notation torus := (torus D radix mesh tie level).

Variable root : node.
Variable group : Type.                 (* multicast packets *)
Variable trees : tables channel group.

(* A link of the tree: later coordinates are the root's, and it is no dateline. *)
Definition on_tree c := is_node (at_ c) /\ dim c < D /\
  (forall e, dim c < e < D -> co (at_ c) e = co root e) /\
  (if minus c then co (at_ c) (dim c) <> 0 else co (at_ c) (dim c) <> radix (dim c) - 1) /\
  Dor.vl c mod 2 = 0.

Hypothesis first_on_tree : forall g c, inject trees g c -> on_tree c.
Hypothesis next_on_tree : forall g c e, on_tree c -> In e (next trees c g) ->
  on_tree e /\ at_ e = far c /\ (dim e = dim c -> minus e = minus c).

Definition both := together torus trees.

(* ---- ranks ---------------------------------------------------------------------- *)

(* The last coordinate behind d that is not the root's. *)
Fixpoint outside n (v : node) d := match n with
  | 0 => None
  | S m => if (d <? m) && negb (co v m =? co root m) then Some m else outside m v d
  end.

Lemma outside_some v d h : forall n, outside n v d = Some h ->
  d < h < n /\ co v h <> co root h /\ forall e, h < e < n -> co v e = co root e.
Proof.
  induction n as [|n IH]; simpl; intros E; [discriminate|].
  assert (K : (d < n -> co v n = co root n) -> outside n v d = Some h ->
    d < h < S n /\ co v h <> co root h /\ forall e, h < e < S n -> co v e = co root e).
  { intros S E'. destruct (IH E') as (A & B & K). repeat split; try lia; auto.
    intros x L. destruct (Nat.eq_dec x n) as [->|]; [apply S; lia|apply K; lia]. }
  destruct (Nat.ltb_spec d n); destruct (Nat.eqb_spec (co v n) (co root n)) as [Q|Q]; simpl in E;
    try (apply K; [lia || auto|exact E]).
  injection E as <-. repeat split; try lia; auto.
Qed.

Lemma outside_none v d : forall n, outside n v d = None <-> forall e, d < e < n -> co v e = co root e.
Proof.
  induction n as [|n IH]; simpl; [split; [intros _ e L; lia|reflexivity]|].
  destruct (Nat.ltb_spec d n); destruct (Nat.eqb_spec (co v n) (co root n)) as [Q|Q]; simpl.
  - rewrite IH. split; intros K e L; [destruct (Nat.eq_dec e n) as [->|]; [assumption|apply K; lia]|apply K; lia].
  - split; [discriminate|]. intros K. exfalso. auto.
  - rewrite IH. split; intros K e L; apply K; lia.
  - rewrite IH. split; intros K e L; apply K; lia.
Qed.

(* It points away from the root, or its packets wrap. *)
Definition away c := (Dor.vl c mod 4 =? 1) || let a := co (at_ c) (dim c) in let r := co root (dim c) in
  if minus c then a <=? r else r <=? a.

(* First what is outside, later dimensions first; then towards the root, and away. *)
Definition layer c := match outside D (at_ c) (dim c) with
  | Some h => D + 2 * h + 1
  | None => if away c then D - 1 - dim c else D + 2 * dim c
  end.

Notation inner := (torus_rank D radix largest).
Definition height := (D + 1) * (2 * largest + 1).
Definition both_rank c := layer c * height + inner c.

Lemma inner_below c : is_node (at_ c) -> dim c < D -> inner c < height.
Proof.
  intros [_ A] L. unfold torus_rank, rank, height.
  pose proof (ring_below radix largest radix_largest (dim c) (ring_at (dim c) (at_ c)) (minus c) (Dor.vl c)
    (co (at_ c) (dim c)) (A _ L)).
  assert ((D - dim c) * (2 * largest + 1) <= D * (2 * largest + 1)) by (apply Nat.mul_le_mono_r; lia).
  lia.
Qed.

Lemma by_layer c e : is_node (at_ e) -> dim e < D -> layer e < layer c -> both_rank e < both_rank c.
Proof. intros A L H. pose proof (inner_below e A L). unfold both_rank. nia. Qed.

Lemma by_inner c e : layer e <= layer c -> inner e < inner c -> both_rank e < both_rank c.
Proof. intros H I. unfold both_rank. nia. Qed.

(* ---- one hop on a line ------------------------------------------------------------- *)

Lemma far_here c : is_node (at_ c) -> dim c < D ->
  co (far c) (dim c) = hop (radix (dim c)) (minus c) (co (at_ c) (dim c)).
Proof. intros [L _] H. apply co_moved. lia. Qed.

Lemma far_there c e : e <> dim c -> co (far c) e = co (at_ c) e.
Proof. apply co_other. Qed.

(* Straight on, without the dateline: what points away goes on doing so. *)
Lemma straight_layer c e : is_node (at_ c) -> dim c < D -> at_ e = far c -> dim e = dim c ->
  minus e = minus c -> (Dor.vl c mod 4 =? 1) = (Dor.vl e mod 4 =? 1) ->
  ((Dor.vl c mod 4 =? 1) = false ->
    if minus c then co (at_ c) (dim c) <> 0 else co (at_ c) (dim c) <> radix (dim c) - 1) ->
  layer e <= layer c.
Proof.
  intros A L F I M V N. unfold layer. rewrite F, I.
  assert (O : outside D (far c) (dim c) = outside D (at_ c) (dim c)).
  { clear - L. induction D as [|n IH]; [reflexivity|]. simpl.
    destruct (Nat.ltb_spec (dim c) n) as [H|H]; simpl.
    - rewrite far_there by lia. destruct (Nat.eqb_spec (co (at_ c) n) (co root n)); simpl; [|reflexivity].
      apply IH. lia.
    - destruct (Nat.eq_dec (dim c) n) as [E|]; [|lia]. clear IH.
      assert (G : forall v m, m <= n -> outside m v (dim c) = None).
      { intros v m B. apply outside_none. intros x X. lia. }
      rewrite !G by lia. reflexivity. }
  rewrite O. destruct (outside D (at_ c) (dim c)); [apply le_n|].
  assert (W : away c = true -> away e = true).
  { unfold away. rewrite <- V, F, I, M, far_here by assumption.
    destruct (Dor.vl c mod 4 =? 1); [reflexivity|]. specialize (N eq_refl). simpl.
    destruct A as [_ A]. specialize (A _ L).
    destruct (minus c); rewrite !Nat.leb_le; unfold hop; cases; lia. }
  destruct (away c); [rewrite W by reflexivity; apply le_n|]. destruct (away e); lia.
Qed.

Lemma outside_is v d h : forall n, d < h < n -> co v h <> co root h ->
  (forall e, h < e < n -> co v e = co root e) -> outside n v d = Some h.
Proof.
  induction n as [|n IH]; intros L N K; [lia|]. simpl.
  destruct (Nat.ltb_spec d n); [|lia]. destruct (Nat.eqb_spec (co v n) (co root n)) as [Q|Q]; simpl.
  - apply IH; auto; [|intros x X; apply K; lia]. split; [lia|].
    destruct (Nat.eq_dec h n) as [->|]; [contradiction|lia].
  - destruct (Nat.eq_dec h n) as [->|]; [reflexivity|]. exfalso. apply Q, K. lia.
Qed.

Lemma layer_inside e : outside D (at_ e) (dim e) = None -> layer e <= D + 2 * dim e.
Proof. unfold layer. intros ->. destruct (away e); lia. Qed.

Lemma layer_at_root e : outside D (at_ e) (dim e) = None -> co (at_ e) (dim e) = co root (dim e) ->
  layer e = D - 1 - dim e.
Proof.
  unfold layer, away. intros -> ->. rewrite Nat.leb_refl. destruct (minus e); rewrite orb_true_r; reflexivity.
Qed.

(* Into a later dimension, from there where the tree does not go, or from the tree. *)
Lemma turn_layer c e : dim c < dim e < D -> at_ e = far c -> layer e <= layer c.
Proof.
  intros L F. assert (S : forall x, dim c < x -> co (at_ e) x = co (at_ c) x).
  { intros x X. rewrite F. apply far_there. lia. }
  destruct (outside D (at_ c) (dim c)) as [h|] eqn:E.
  - assert (Z : layer c = D + 2 * h + 1) by (unfold layer; rewrite E; reflexivity).
    apply outside_some in E. destruct E as (A & B & K). rewrite Z.
    destruct (le_lt_dec h (dim e)) as [H|H].
    + assert (O : outside D (at_ e) (dim e) = None).
      { apply outside_none. intros x X. rewrite S by lia. apply K. lia. }
      destruct (Nat.eq_dec h (dim e)) as [->|N]; [pose proof (layer_inside e O); lia|].
      rewrite layer_at_root; [lia|exact O|]. rewrite S by lia. apply K. lia.
    + unfold layer. rewrite (outside_is (at_ e) (dim e) h); [lia|lia| |].
      * rewrite S by lia. exact B.
      * intros x X. rewrite S by lia. apply K. lia.
  - pose proof (proj1 (outside_none _ _ _) E) as K.
    rewrite layer_at_root.
    + unfold layer. rewrite E. destruct (away c); lia.
    + apply outside_none. intros x X. rewrite S by lia. apply K. lia.
    + rewrite S by lia. apply K. lia.
Qed.

(* ---- unicast ------------------------------------------------------------------------- *)

Lemma out_at f g h i v p e : In e (out f g h i v p) -> at_ e = v.
Proof. unfold out. destruct (differ v (dst p)); [|contradiction]. intros [<-|[]]. reflexivity. Qed.

Lemma unicast_layer p c e : uses torus p c -> In e (next torus c p) -> layer e <= layer c.
Proof.
  intros U J. pose proof (out_at _ _ _ _ _ _ _ J) as F. apply uses_may_be in U; [|exact radix_2].
  destruct (onward D radix radix_2 _ _ _ p c e U J) as [U' [L|(I & j & a & N & Ea & Mc & W & Eb & N' & Me & Vc & Ve)]].
  - apply turn_layer; [|exact F]. split; [exact L|apply U'].
  - destruct U as (S0 & D0 & A & L & _).
    set (d := dim c) in *. set (s := co (src p) d) in *. set (t := co (dst p) d) in *.
    assert (Q : s <> t) by (intros Q; rewrite Q in W; apply N, (way_nowhere _ _ _ _ _ W)).
    assert (V : forall x, hop_vl (vl radix mesh tie level) (vl radix mesh tie level) d p x = vl radix mesh tie level d p)
      by (intros [|x]; reflexivity).
    rewrite V in Vc, Ve.
    destruct (on_its_way (radix d) (mesh d) (tie d p) s t (radix_2 d) (proj2 S0 d L) (proj2 D0 d L) Q _ _ W)
      as (B & _ & G & I1).
    destruct (on_its_way (radix d) (mesh d) (tie d p) s t (radix_2 d) (proj2 S0 d L) (proj2 D0 d L) Q _ _
      (Onward _ _ _ _ _ _ W N)) as (_ & _ & G' & _).
    specialize (G N). assert (Mc' : minus c = dir radix mesh tie d p s) by (rewrite Mc; exact G).
    apply straight_layer; auto.
    + rewrite Me, Mc', Eb. apply G'. rewrite <- Eb. exact N'.
    + rewrite Vc, Ve. reflexivity.
    + rewrite Vc, (vl_bit radix mesh tie level). unfold bit. fold s t d. rewrite <- Mc', <- Ea.
      intros X. pose proof (proj2 D0 d L) as T. fold t in T. revert X I1 N B T Q. unfold wraps. change (goes (radix d) (mesh d) (tie d p) t s) with (dir radix mesh tie d p s).
      rewrite <- Mc'. clear. destruct (mesh d), (minus c); simpl; intros; cases; lia.
Qed.

(* ---- the tree ----------------------------------------------------------------------- *)

Lemma even_vl c : Dor.vl c mod 2 = 0 -> (Dor.vl c mod 4 =? 1) = false.
Proof.
  intros H. apply Nat.eqb_neq. intros E. pose proof (Nat.div_mod (Dor.vl c) 4 ltac:(discriminate)) as A.
  rewrite E in A. pose proof (Nat.div_mod (Dor.vl c) 2 ltac:(discriminate)) as B. lia.
Qed.

Lemma tree_inside c : on_tree c -> outside D (at_ c) (dim c) = None.
Proof. intros (_ & _ & K & _). apply outside_none. exact K. Qed.

Lemma tree_falls_here c e : on_tree c -> on_tree e -> at_ e = far c ->
  (dim e = dim c -> minus e = minus c) -> both_rank e < both_rank c.
Proof.
  intros C E F M. pose proof (tree_inside c C) as OC. pose proof (tree_inside e E) as OE.
  destruct C as (A & L & K & N & V). destruct E as (A' & L' & K' & N' & V').
  apply even_vl in V, V'. destruct (lt_eq_lt_dec (dim e) (dim c)) as [[H|H]|H].
  - (* towards the root, and into an earlier dimension *)
    apply by_layer; auto. pose proof (layer_inside e OE).
    assert (R : co (far c) (dim c) = co root (dim c)) by (rewrite <- F; apply K'; lia).
    rewrite far_here in R by assumption. destruct A as [_ A]. specialize (A _ L).
    assert (Z : (if minus c then co (at_ c) (dim c) <=? co root (dim c) else co root (dim c) <=? co (at_ c) (dim c)) = false).
    { rewrite <- R. unfold hop. destruct (minus c); cases; try reflexivity; lia. }
    assert (LC : layer c = D + 2 * dim c).
    { unfold layer. rewrite OC. unfold away. rewrite V. simpl. rewrite Z. reflexivity. }
    lia.
  - (* straight on *)
    specialize (M H). apply by_inner.
    + apply straight_layer; auto. rewrite V, V'. reflexivity.
    + unfold torus_rank, rank. rewrite F, H, M. unfold ring. rewrite V, V', far_here by assumption.
      destruct A as [_ A]. specialize (A _ L). apply Nat.add_lt_mono_l.
      unfold ring_rank, hop. destruct (minus c); cases; lia.
  - (* away from the root, into a later dimension *)
    apply by_layer; auto. rewrite layer_at_root; [|exact OE|].
    + unfold layer. rewrite OC. destruct (away c); lia.
    + rewrite F, far_there by lia. apply K. lia.
Qed.

(* Theorem 14. *)
Theorem multicast_falls c e : waits both c e -> both_rank e < both_rank c.
Proof.
  intros W. destruct (together_waits _ _ _ _ W) as [(p & U & J)|(g & U & J)].
  - apply by_inner; [apply (unicast_layer p c e U J)|].
    apply (torus_falls D radix largest radix_2 radix_largest mesh tie level). exists p. auto.
  - assert (V : on_tree c).
    { clear J W. induction U as [c I|b c U IH I]; [apply (first_on_tree g c I)|apply (next_on_tree g b c); auto]. }
    destruct (next_on_tree g c e V J) as (E & F & M). apply tree_falls_here; assumption.
Qed.

Corollary multicast_safe size cap q : (forall p c, size p <= cap c) ->
  run channel (packet + group) channel_dec size cap (part_of both) (empty channel (packet + group)) q ->
  some_packet channel (packet + group) q -> head_can_move channel (packet + group) size cap q.
Proof.
  intros F. apply acyclic_safe; [exact F|]. apply (ranked_acyclic _ _ both_rank), multicast_falls.
Qed.

End Multicast.

(* The same as a test, for conform.ml. *)
Definition tree_link D (radix : nat -> nat) root c :=
  forallb (fun e => co (at_ c) e =? co root e) (seq (S (dim c)) (D - S (dim c))) &&
  negb (co (at_ c) (dim c) =? if minus c then 0 else radix (dim c) - 1).

Lemma tree_link_right D radix root c : tree_link D radix root c = true ->
  is_node D radix (at_ c) -> dim c < D -> Dor.vl c mod 2 = 0 -> on_tree D radix root c.
Proof.
  unfold tree_link. intros T A L V. apply andb_true_iff in T. destruct T as [T N].
  rewrite forallb_forall in T. apply negb_true_iff, Nat.eqb_neq in N.
  repeat (split; [assumption|]). split; [|split; [destruct (minus c); exact N|exact V]].
  intros e E. apply Nat.eqb_eq, T, in_seq. lia.
Qed.

(* There are such trees: the whole one, with copies on all links but that back. *)
Definition branches D radix root (c : channel) v := filter (fun e => tree_link D radix root e &&
    negb ((dim e =? dim c) && xorb (minus e) (minus c)))
  (flat_map (fun d => let w := if d <? dim c then 2 else 0 in [Channel d false w v; Channel d true w v]) (seq 0 D)).
Definition whole_tree D radix root : tables channel unit := Build_tables
  (fun _ c => on_tree D radix root c) (fun c _ => branches D radix root c (far radix c)).

Example whole_tree_fits D radix root : (forall d, 2 <= radix d) -> forall g c e, on_tree D radix root c ->
  In e (next (whole_tree D radix root) c g) ->
  on_tree D radix root e /\ at_ e = far radix c /\ (dim e = dim c -> minus e = minus c).
Proof.
  intros R g c e C J. simpl in J. unfold branches in J. apply filter_In in J. destruct J as [J B].
  apply andb_true_iff in B. destruct B as [T B].
  apply in_flat_map in J. destruct J as (d & S & J). apply in_seq in S.
  assert (E : at_ e = far radix c /\ dim e = d /\ Dor.vl e mod 2 = 0).
  { destruct J as [<-|[<-|[]]]; simpl; destruct (d <? dim c); auto. }
  destruct E as (F & E & V). split; [|split; [exact F|]].
  - apply tree_link_right; [exact T| |lia|exact V]. rewrite F. apply is_node_far; [exact R|apply C|apply C].
  - intros Q. rewrite Q, Nat.eqb_refl in B. destruct (minus e), (minus c); simpl in B; congruence.
Qed.
