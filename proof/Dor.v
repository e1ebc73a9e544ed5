(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Dor.v: dimension-order routing, for any number of dimensions and any radices.

   In words: if a rule for rings keeps each ring free of cycles, then so is the
   whole network: ranks fall along each dependency ([dor_falls]).  A packet ends
   at its destination only ([arrives]).
   Proves, of doc/rules.md: "A whole torus"; rules A4.

   A rule for rings names, for a packet at a coordinate of a dimension, the
   direction that it goes, and the VLs that it has on its first and its further
   hops in a dimension.  The VL is chosen as switches choose it: by the port that
   the packet came by (its dimension) and the port that it leaves by. *)

From Coq Require Import List Arith Lia Bool.
From Dateline Require Import Net.
Import ListNotations.

(* ---- coordinates ------------------------------------------------------------ *)

Definition node := list nat.
Definition co (v : node) d := nth d v 0.

Fixpoint move_to (v : node) d x : node :=
  match v, d with
  | [], _ => []
  | _ :: r, 0 => x :: r
  | a :: r, S e => a :: move_to r e x
  end.

Lemma co_moved v : forall d x, d < length v -> co (move_to v d x) d = x.
Proof. unfold co. induction v; intros [|d] x H; simpl in *; try lia; apply IHv; lia. Qed.

Lemma co_other v : forall d e x, e <> d -> co (move_to v d x) e = co v e.
Proof.
  unfold co. induction v; intros [|d] [|e] x H; simpl in *; try reflexivity; try lia.
  apply IHv. lia.
Qed.

Lemma length_moved v : forall d x, length (move_to v d x) = length v.
Proof. induction v; intros [|d] x; simpl; auto. Qed.

(* The first dimension in which two nodes differ. *)
Fixpoint differ (v w : node) : option nat :=
  match v, w with
  | a :: v, b :: w => if a =? b then option_map S (differ v w) else Some 0
  | _, _ => None
  end.

Lemma differ_at v : forall w d, differ v w = Some d ->
  d < length v /\ co v d <> co w d /\ forall e, e < d -> co v e = co w e.
Proof.
  unfold co. induction v as [|a v IH]; intros [|b w] d H; simpl in H; try discriminate.
  destruct (Nat.eqb_spec a b) as [->|N].
  - destruct (differ v w) as [e|] eqn:E; [|discriminate]. injection H as <-.
    destruct (IH _ _ E) as (L & M & K). repeat split; simpl; try lia; auto.
    intros [|f] F; simpl; auto. apply K. lia.
  - injection H as <-. repeat split; simpl; try lia; auto.
Qed.

(* ---- rings ------------------------------------------------------------------- *)

(* The next coordinate, minus: in the negative direction. *)
Definition hop (k : nat) (minus : bool) a :=
  if minus then if a =? 0 then k - 1 else a - 1
  else if a =? k - 1 then 0 else a + 1.

Lemma hop_below k m a : 2 <= k -> a < k -> hop k m a < k.
Proof. unfold hop. destruct m; [destruct (Nat.eqb_spec a 0)|destruct (Nat.eqb_spec a (k - 1))]; lia. Qed.

(* From s towards t, a is reached after j hops, if each goes the way that minus
   says there; t itself has not been passed. *)
Inductive way (k : nat) (minus : nat -> bool) (s t : nat) : nat -> nat -> Prop :=
| Here : way k minus s t 0 s
| Onward j a : way k minus s t j a -> a <> t -> way k minus s t (S j) (hop k (minus a) a).

Lemma way_below k m s t j a : 2 <= k -> s < k -> way k m s t j a -> a < k.
Proof. intros K S W. induction W; auto. apply hop_below; auto. Qed.

Lemma way_nowhere k m t j a : way k m t t j a -> a = t.
Proof. intros W. induction W; congruence. Qed.

(* ---- the network -------------------------------------------------------------- *)

(* A packet: its source and destination, and what else tables may go by: its
   SL, the LID that it is sent to.  [tag] is free. *)
Record packet := Packet { src : node; dst : node; tag : nat }.

(* The output of node [at_] in dimension [dim], in one direction, on one VL. *)
Record channel := Channel { dim : nat; minus : bool; vl : nat; at_ : node }.

Definition channel_dec (a b : channel) : {a = b} + {a <> b}.
Proof.
  repeat decide equality.
Defined.

Section Dor.
Variable D : nat.                                 (* dimensions *)
Variable radix : nat -> nat.
Hypothesis radix_2 : forall d, 2 <= radix d.

Variable dir : nat -> packet -> nat -> bool.      (* dimension, packet, coordinate *)
Variable first further : nat -> packet -> nat.    (* VL of the hops in a dimension *)

Definition is_node v := length v = D /\ forall d, d < D -> co v d < radix d.

Definition far c := move_to (at_ c) (dim c) (hop (radix (dim c)) (minus c) (co (at_ c) (dim c))).

(* What the tables of node v say of packet p, if it came by dimension i. *)
Definition out (i : option nat) v p : list channel :=
  match differ v (dst p) with
  | None => []
  | Some d =>
    let straight := match i with Some i => i =? d | None => false end in
    [Channel d (dir d p (co v d)) (if straight then further d p else first d p) v]
  end.

Definition dor : tables channel packet :=
  Build_tables (fun p c => is_node (src p) /\ is_node (dst p) /\ In c (out None (src p) p))
               (fun c p => out (Some (dim c)) (far c) p).

(* Where packets can be. *)
Definition hop_vl d p j := if j =? 0 then first d p else further d p.

Definition may_be p c :=
  is_node (src p) /\ is_node (dst p) /\ is_node (at_ c) /\ dim c < D /\
  differ (at_ c) (dst p) = Some (dim c) /\
  (forall e, dim c < e -> co (at_ c) e = co (src p) e) /\
  minus c = dir (dim c) p (co (at_ c) (dim c)) /\
  exists j, way (radix (dim c)) (dir (dim c) p) (co (src p) (dim c)) (co (dst p) (dim c))
                j (co (at_ c) (dim c)) /\ vl c = hop_vl (dim c) p j.

Lemma is_node_far c : is_node (at_ c) -> dim c < D -> is_node (far c).
Proof.
  intros [L B] H. unfold far. split; [rewrite length_moved; exact L|].
  intros e E. destruct (Nat.eq_dec e (dim c)) as [->|N].
  - rewrite co_moved by lia. apply hop_below; auto.
  - rewrite co_other by exact N. auto.
Qed.

(* One hop: into the next channel of the same ring, or a later dimension's first. *)
Lemma onward p c e : may_be p c -> In e (out (Some (dim c)) (far c) p) ->
  may_be p e /\
  (dim c < dim e \/
   dim e = dim c /\ exists j a, a <> co (dst p) (dim c) /\ a = co (at_ c) (dim c) /\
     minus c = dir (dim c) p a /\
     way (radix (dim c)) (dir (dim c) p) (co (src p) (dim c)) (co (dst p) (dim c)) j a /\
     co (at_ e) (dim c) = hop (radix (dim c)) (dir (dim c) p a) a /\
     co (at_ e) (dim c) <> co (dst p) (dim c) /\
     minus e = dir (dim c) p (co (at_ e) (dim c)) /\
     vl c = hop_vl (dim c) p j /\ vl e = hop_vl (dim c) p (S j)).
Proof.
  intros (S0 & D0 & A & L & F & K & M & j & W & V) H.
  pose proof (is_node_far c A L) as A'.
  unfold out in H. destruct (differ (far c) (dst p)) as [d|] eqn:E; [|contradiction].
  destruct H as [<-|[]]. simpl.
  destruct (differ_at _ _ _ F) as (_ & N & Eq). destruct (differ_at _ _ _ E) as (L' & N' & Eq').
  assert (LA : length (at_ c) = D) by apply A.
  assert (LD : d < D) by (destruct A'; lia).
  assert (X : forall i, i <> dim c -> co (far c) i = co (at_ c) i)
    by (intros; apply co_other; auto).
  assert (Y : co (far c) (dim c) = hop (radix (dim c)) (minus c) (co (at_ c) (dim c)))
    by (apply co_moved; lia).
  assert (G : dim c <= d).
  { destruct (le_lt_dec (dim c) d) as [G|G]; [exact G|].
    exfalso. apply N'. rewrite X by lia. apply Eq. lia. }
  destruct (Nat.eqb_spec (dim c) d) as [<-|Q].
  - assert (W' : way (radix (dim c)) (dir (dim c) p) (co (src p) (dim c)) (co (dst p) (dim c))
        (S j) (co (far c) (dim c))).
    { rewrite Y, M. apply Onward; auto. }
    split.
    + refine (conj S0 (conj D0 (conj A' (conj LD (conj E (conj _ (conj eq_refl _))))))); simpl.
      * intros i I. rewrite X by lia. auto.
      * exists (S j). auto.
    + right. split; [reflexivity|]. exists j, (co (at_ c) (dim c)).
      rewrite Y, M in *. repeat split; auto.
  - split.
    + refine (conj S0 (conj D0 (conj A' (conj LD (conj E (conj _ (conj eq_refl _))))))); simpl.
      * intros i I. rewrite X by lia. apply K. lia.
      * exists 0. split; [|reflexivity]. rewrite X, K by lia. apply Here.
    + left. lia.
Qed.

Lemma uses_may_be p c : uses dor p c -> may_be p c.
Proof.
  intros U. induction U as [c (S0 & D0 & H)|c e U IH H].
  - unfold out in H. destruct (differ (src p) (dst p)) as [d|] eqn:E; [|contradiction].
    destruct H as [<-|[]]. destruct (differ_at _ _ _ E) as (L & N & Eq).
    assert (d < D) by (destruct S0; lia).
    refine (conj S0 (conj D0 (conj S0 (conj _ (conj E (conj _ (conj eq_refl _))))))); simpl; auto.
    exists 0. split; [apply Here|reflexivity].
  - apply (onward p c e IH H).
Qed.

(* Packets end at their destination only. *)
Lemma differ_none v : forall w, length v = length w -> differ v w = None -> v = w.
Proof.
  induction v as [|a v IH]; intros [|b w] L H; try discriminate; [reflexivity|].
  simpl in H. destruct (Nat.eqb_spec a b) as [->|]; [|discriminate].
  f_equal. apply IH; [injection L; auto|]. destruct (differ v w); [discriminate|reflexivity].
Qed.

Theorem arrives p c : uses dor p c -> next dor c p = [] -> far c = dst p.
Proof.
  intros U H. destruct (uses_may_be p c U) as (_ & D0 & A & L & _).
  apply differ_none.
  - transitivity D; [apply (is_node_far c A L)|symmetry; apply D0].
  - simpl in H. unfold out in H. destruct (differ (far c) (dst p)); [discriminate|reflexivity].
Qed.

(* The ring of a node in a dimension: its other coordinates.  A packet is in one ring of
   each dimension: earlier coordinates are those of its destination, later ones those of
   its source. *)
Definition ring_at d (v : node) : node := move_to v d 0.
Definition ring_of d p : node := firstn d (dst p) ++ 0 :: skipn (S d) (src p).

Lemma node_ext v : forall w, length v = length w -> (forall d, co v d = co w d) -> v = w.
Proof.
  unfold co. induction v as [|a v IH]; intros [|b w] L H; try discriminate; [reflexivity|].
  f_equal; [apply (H 0)|]. apply IH; [injection L; auto|]. intros d. apply (H (S d)).
Qed.

Lemma co_firstn v : forall d e, e < d -> co (firstn d v) e = co v e.
Proof.
  unfold co. induction v as [|a v IH]; intros [|d] [|e] L; simpl; try lia; try reflexivity.
  apply IH. lia.
Qed.

Lemma co_skipn v : forall d e, co (skipn d v) e = co v (d + e).
Proof. unfold co. induction v as [|a v IH]; intros [|d] e; simpl; auto. destruct e; reflexivity. Qed.

Lemma ring_of_here d p v : is_node (src p) -> is_node (dst p) -> is_node v -> d < D ->
  (forall e, e < d -> co v e = co (dst p) e) -> (forall e, d < e -> co v e = co (src p) e) ->
  ring_at d v = ring_of d p.
Proof.
  intros [LS _] [LT _] [LV _] L A B. assert (F : length (firstn d (dst p)) = d) by (rewrite firstn_length; lia).
  apply node_ext.
  - unfold ring_at, ring_of. rewrite length_moved, app_length, F. cbn [length]. rewrite skipn_length. lia.
  - intros e. unfold ring_at, ring_of. destruct (lt_eq_lt_dec e d) as [[E|Q]|E]; [|subst e|].
    + rewrite co_other by lia. unfold co at 2. rewrite app_nth1 by lia. fold (co (firstn d (dst p)) e).
      rewrite co_firstn by exact E. auto.
    + rewrite co_moved by lia. unfold co. rewrite app_nth2 by lia. rewrite F, Nat.sub_diag. reflexivity.
    + rewrite co_other by lia. unfold co at 2. rewrite app_nth2 by lia. rewrite F.
      replace (e - d) with (S (e - S d)) by lia. cbn [nth]. fold (co (skipn (S d) (src p)) (e - S d)).
      rewrite co_skipn. replace (S d + (e - S d)) with e by lia. auto.
Qed.

(* The rank: later dimensions are lower; within a ring, the ring's own rank. *)
Variable ring : nat -> node -> bool -> nat -> nat -> nat. (* dimension, ring, minus, VL, coordinate *)
Variable height : nat.
Hypothesis ring_height : forall d v m w a, a < radix d -> ring d v m w a < height.

(* What a rule for rings has to show. *)
Definition falls_in_rings := forall d p j a, d < D -> is_node (src p) -> is_node (dst p) ->
  let t := co (dst p) d in let b := hop (radix d) (dir d p a) a in let v := ring_of d p in
  way (radix d) (dir d p) (co (src p) d) t j a -> a <> t -> b <> t ->
  ring d v (dir d p b) (hop_vl d p (S j)) b < ring d v (dir d p a) (hop_vl d p j) a.

Hypothesis ring_falls : falls_in_rings.

Definition rank c := (D - dim c) * height +
  ring (dim c) (ring_at (dim c) (at_ c)) (minus c) (vl c) (co (at_ c) (dim c)).

Theorem dor_falls c e : waits dor c e -> rank e < rank c.
Proof.
  intros (p & U & H). apply uses_may_be in U. pose proof U as V.
  destruct V as (S0 & D0 & A & L & F & K & _).
  assert (R : forall x, may_be p x -> ring_at (dim x) (at_ x) = ring_of (dim x) p).
  { intros x (_ & _ & X & Y & Z & Q & _). apply ring_of_here; auto.
    intros i I. destruct (differ_at _ _ _ Z) as (_ & _ & G). auto. }
  destruct (onward p c e U H) as [U' [Later|(Same & j & a & N & Ea & Mc & W & Eb & N' & Me & Vc & Ve)]].
  - destruct U' as (_ & _ & A' & L' & _). unfold rank.
    assert (ring (dim e) (ring_at (dim e) (at_ e)) (minus e) (vl e) (co (at_ e) (dim e)) < height)
      by (apply ring_height, A'; exact L').
    assert ((D - dim e) * height + height <= (D - dim c) * height); [|lia].
    replace ((D - dim e) * height + height) with (S (D - dim e) * height) by lia.
    apply Nat.mul_le_mono_r. lia.
  - unfold rank. rewrite (R c U), (R e U'), Same, Me, Mc, Vc, Ve, <- Ea, Eb.
    pose proof (ring_falls (dim c) p j a L S0 D0) as G. simpl in G.
    rewrite Eb in N'. specialize (G W N N'). lia.
Qed.

End Dor.
