(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Early.v: early turns, with their VL bit.

   In words: let switches of a torus of two dimensions be missing: one of them, or several
   side by side along y.  A packet that should turn at one of them turns one switch early,
   goes on along y until the hole is past, makes an illegal turn there, with a VL of its own
   for the hop behind it, and comes to its column.  In the rows of the missing switches, and
   in their column, packets take the only way that is left.  Then the dependencies of
   unicast have no cycle ([early_falls], [early_safe]), no packet comes to a missing switch
   ([early_avoids]), and each ends at its destination ([early_arrives]).
   Proves, of doc/rules.md: "An early turn"; rules A4, and A6 with the turn bit.

   For any radices from 2 on, any ties, and any of the switches. *)

From Coq Require Import List Arith Lia Bool.
From Dateline Require Import Net Dor Torus Anysl Broken.
Import ListNotations.

(* A packet: coordinates of its source and of its destination. *)
Record packet := Packet { sx : nat; sy : nat; tx : nat; ty : nat }.
Record channel := Channel { in_y : bool; minus : bool; vl : nat; cx : nat; cy : nat }.

Definition channel_dec (a b : channel) : {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.

Section Early.
Variables kx ky a b holes largest : nat. (* [holes] switches are missing, from (a,b) on *)
Hypothesis kx2 : 2 <= kx.
Hypothesis ky2 : 2 <= ky.
Hypothesis ax : a < kx.
Hypothesis by_ : b < ky.
Hypothesis some : 1 <= holes.
Hypothesis not_all : holes < ky.
Hypothesis kx_largest : kx <= largest.
Hypothesis ky_largest : ky <= largest.
Variables tie_x tie_y : packet -> nat -> bool.
Variable tie_b : packet -> nat -> bool.  (* in rows that lack a switch: another rule perhaps *)

(* The rows that lack a switch; the last one of them. *)
Definition gap y := ahead ky b y <? holes.
Definition last := if b + holes - 1 <? ky then b + holes - 1 else b + holes - 1 - ky.

Definition shorter_x p x := goes kx false (tie_x p) (tx p) x.
Definition shorter_y p y := goes ky false (tie_y p) (ty p) y.
Definition towards p x := goes kx false (tie_b p) (tx p) x.
Definition bit_x p := if wraps false (shorter_x p (sx p)) (sx p) (tx p) then 1 else 0.
Definition bit_y p := if wraps false (shorter_y p (sy p)) (sy p) (ty p) then 1 else 0.

(* In these rows only packets to column a may go towards the missing switch. *)
Definition dir_x p x y := if gap y then if tx p =? a then towards p x else along kx a (tx p) x
  else shorter_x p x.
Definition dir_y p x y := if x =? a then along ky last (ty p) y else shorter_y p y.

(* The next switch in the row is missing, and the packet should turn there. *)
Definition turns_early p x y := gap y && (tx p =? a) && (hop kx (towards p x) x =? a).

(* What switch (x,y) does with p; from_y: it came along y, so that a turn into x is illegal. *)
Definition out (from_y : bool) p x y : list channel :=
  if x =? tx p then
    if y =? ty p then [] else [Channel true (dir_y p x y) (bit_y p) x y]
  else if turns_early p x y then [Channel true (shorter_y p y) (bit_y p) x y]
  else [Channel false (dir_x p x y) (bit_x p + if from_y then 2 else 0) x y].

Definition far_x c := if in_y c then cx c else hop kx (minus c) (cx c).
Definition far_y c := if in_y c then hop ky (minus c) (cy c) else cy c.

Definition sends p := sx p < kx /\ sy p < ky /\ tx p < kx /\ ty p < ky /\
  ~ (sx p = a /\ gap (sy p) = true) /\ ~ (tx p = a /\ gap (ty p) = true).

Definition early : tables channel packet := Build_tables
  (fun p c => sends p /\ In c (out false p (sx p) (sy p)))
  (fun c p => out (in_y c) p (far_x c) (far_y c)).

(* ---- where packets are -------------------------------------------------------------- *)

Inductive may_be (p : packet) : channel -> Prop :=
| AlongX j x : x <> tx p -> way kx (fun x => dir_x p x (sy p)) (sx p) (tx p) j x ->
    turns_early p x (sy p) = false -> may_be p (Channel false (dir_x p x (sy p)) (bit_x p) x (sy p))
| AlongY j y : y <> ty p -> tx p <> a -> way ky (shorter_y p) (sy p) (ty p) j y ->
    may_be p (Channel true (shorter_y p y) (bit_y p) (tx p) y)
| Turned j x y : x <> a -> x < kx -> tx p = a -> hop kx (towards p x) x = a -> gap y = true ->
    way ky (shorter_y p) (sy p) (ty p) j y ->
    may_be p (Channel true (shorter_y p y) (bit_y p) x y)
| Illegal x y : x <> a -> tx p = a -> hop kx (shorter_x p x) x = a -> y < ky -> gap y = false ->
    may_be p (Channel false (shorter_x p x) (bit_x p + 2) x y)
| Column y : tx p = a -> y < ky -> gap y = false -> y <> ty p ->
    may_be p (Channel true (along ky last (ty p) y) (bit_y p) a y).

(* ---- the hole --------------------------------------------------------------------------- *)

Lemma last_below : last < ky.
Proof. unfold last. cases; lia. Qed.

Lemma gap_place y : y < ky -> gap y = negb (place ky last y <? ky - holes).
Proof.
  intros Y. unfold gap, last. destruct (Nat.ltb_spec (b + holes - 1) ky); places; simpl; try reflexivity; lia.
Qed.

Lemma place_once y z : y < ky -> z < ky -> place ky last y = place ky last z -> y = z.
Proof. intros Y Z. pose proof last_below as L. revert L. generalize last. intros x L. places; lia. Qed.

(* Who goes along the line that is left does not come into the hole. *)
Lemma out_of_gap t y : t < ky -> y < ky -> y <> t -> gap y = false -> gap t = false ->
  gap (hop ky (along ky last t y) y) = false.
Proof.
  intros T Y N G G'. pose proof last_below as L.
  destruct (one_place ky last t y ky2 L T Y N) as [_ P].
  set (z := hop ky (along ky last t y) y) in *.
  assert (Z : z < ky) by (apply hop_below; assumption).
  rewrite gap_place in * by assumption. rewrite negb_false_iff, Nat.ltb_lt in *.
  unfold along in P. destruct (Nat.ltb_spec (place ky last t) (place ky last y)) as [E|E]; [lia|].
  assert (place ky last y <> place ky last t) by (intros Q; apply N, place_once; assumption).
  lia.
Qed.

(* ---- ranks ----------------------------------------------------------------------------- *)

Definition line k z (m : bool) v := if m then place k z v else k - place k z v.
Definition H := 2 * largest + 1.

Definition early_rank c :=
  if in_y c then
    if cx c =? a then line ky last (minus c) (cy c)
    else 2 * H + ring_rank ky (minus c) (vl c =? 1) (cy c)
  else if vl c <? 2 then
    3 * H + if gap (cy c) then line kx a (minus c) (cx c) else ring_rank kx (minus c) (vl c =? 1) (cx c)
  else H.

Lemma place_below k z v : 2 <= k -> z < k -> v < k -> place k z v < k.
Proof. intros. places; lia. Qed.

Lemma line_below k z m v : 2 <= k -> z < k -> v < k -> k <= largest -> line k z m v < H.
Proof. intros. pose proof (place_below k z v). unfold line, H. destruct m; lia. Qed.

Lemma ring_rank_H k m bit v : v < k -> k <= largest -> ring_rank k m bit v < H.
Proof. intros V L. pose proof (ring_rank_below k m bit v V). unfold H. lia. Qed.

(* The ranks of what is in x, and behind it. *)
Lemma bit_x_01 p : bit_x p < 2.
Proof. unfold bit_x. destruct (wraps _ _ _ _); lia. Qed.

Lemma bit_x_wraps p : (bit_x p =? 1) = wraps false (shorter_x p (sx p)) (sx p) (tx p).
Proof. unfold bit_x. destruct (wraps _ _ _ _); reflexivity. Qed.

Lemma bit_y_wraps p : (bit_y p =? 1) = wraps false (shorter_y p (sy p)) (sy p) (ty p).
Proof. unfold bit_y. destruct (wraps _ _ _ _); reflexivity. Qed.

(* In a row that lacks a switch: to column a by the shorter way, to others by the way that is left. *)
Lemma row_b_falls p j x r : sends p -> way kx (fun x => dir_x p x r) (sx p) (tx p) j x -> gap r = true ->
  let y := hop kx (dir_x p x r) x in x <> tx p -> y <> tx p -> turns_early p x r = false ->
  line kx a (dir_x p y r) y < line kx a (dir_x p x r) x.
Proof.
  intros (SX & SY & TX & TY & NS & NT) W B y N N' E. subst y.
  assert (X : x < kx) by (apply (way_below _ _ _ _ _ _ kx2 SX W)).
  unfold dir_x, turns_early in *. rewrite !B in *. simpl in *.
  destruct (Nat.eqb_spec (tx p) a) as [T|T]; simpl in *.
  - apply Nat.eqb_neq in E.
    assert (Q : sx p <> tx p) by (intros Q; rewrite Q in W; apply N, (way_nowhere _ _ _ _ _ W)).
    destruct (on_its_way kx false (tie_b p) (sx p) (tx p) kx2 SX TX Q j x W) as (_ & _ & G & _).
    destruct (on_its_way kx false (tie_b p) (sx p) (tx p) kx2 SX TX Q _ _ (Onward _ _ _ _ _ _ W N)) as (_ & _ & G' & _).
    specialize (G N). specialize (G' N'). unfold towards in *.
    rewrite G', <- G. rewrite T in *. revert E N N' X. clear - kx2 ax. unfold line.
    generalize (goes kx false (tie_b p) a x). intros m. destruct m; places; lia.
  - destruct (one_place kx a (tx p) x kx2 ax TX X N) as [F G]. rewrite (F N'). unfold line.
    destruct (along kx a (tx p) x); lia.
Qed.

(* Rows and columns that are whole. *)
Lemma row_falls p j x y : sends p -> way kx (fun x => dir_x p x y) (sx p) (tx p) j x -> gap y = false ->
  let z := hop kx (dir_x p x y) x in x <> tx p -> z <> tx p ->
  ring_rank kx (dir_x p z y) (bit_x p =? 1) z < ring_rank kx (dir_x p x y) (bit_x p =? 1) x.
Proof.
  intros (SX & SY & TX & TY & NS & NT) W B z N N'. subst z. rewrite bit_x_wraps.
  assert (E : forall v, dir_x p v y = shorter_x p v).
  { intros v. unfold dir_x. rewrite B. reflexivity. }
  rewrite !E in *. apply (way_same _ _ _ _ _ _ _ E) in W.
  assert (Q : sx p <> tx p) by (intros Q; rewrite Q in W; apply N, (way_nowhere _ _ _ _ _ W)).
  apply (ring_rank_falls kx false (tie_x p) (sx p) (tx p) kx2 SX TX Q j x W N N').
Qed.

Lemma column_falls p j y : sends p -> way ky (shorter_y p) (sy p) (ty p) j y ->
  let z := hop ky (shorter_y p y) y in y <> ty p -> z <> ty p ->
  ring_rank ky (shorter_y p z) (bit_y p =? 1) z < ring_rank ky (shorter_y p y) (bit_y p =? 1) y.
Proof.
  intros (SX & SY & TX & TY & NS & NT) W z N N'. subst z. rewrite bit_y_wraps.
  assert (Q : sy p <> ty p) by (intros Q; rewrite Q in W; apply N, (way_nowhere _ _ _ _ _ W)).
  apply (ring_rank_falls ky false (tie_y p) (sy p) (ty p) ky2 SY TY Q j y W N N').
Qed.

Lemma first_may_be p c : sends p -> In c (out false p (sx p) (sy p)) -> may_be p c.
Proof.
  intros (SX & SY & TX & TY & NS & NT) J. unfold out in J.
  destruct (Nat.eqb_spec (sx p) (tx p)) as [E|E].
  - destruct (Nat.eqb_spec (sy p) (ty p)) as [F|F]; [contradiction|]. destruct J as [<-|[]].
    unfold dir_y. destruct (Nat.eqb_spec (sx p) a) as [A|A].
    + rewrite A. apply Column; auto; try congruence.
      destruct (gap (sy p)) eqn:G; [exfalso; apply NS; auto|reflexivity].
    + rewrite E. apply AlongY with 0; auto; [congruence|apply Here].
  - destruct (turns_early p (sx p) (sy p)) eqn:T; destruct J as [<-|[]].
    + unfold turns_early in T. rewrite !andb_true_iff, !Nat.eqb_eq in T. destruct T as [[Y X] Z].
      apply Turned with 0; auto; try apply Here; congruence.
    + rewrite Nat.add_0_r. apply AlongX with 0; auto. apply Here.
Qed.

(* Beside column a there is no doubt about the shorter way. *)
Lemma neighbour p x : tx p = a -> x < kx -> x <> a -> hop kx (towards p x) x = a -> hop kx (shorter_x p x) x = a.
Proof.
  unfold towards, shorter_x, goes, goes_minus. intros -> X N. unfold hop, ahead.
  destruct (tie_b p x), (tie_x p x); cases; lia.
Qed.

(* One hop. *)
Lemma hop_falls p c e : sends p -> may_be p c -> In e (out (in_y c) p (far_x c) (far_y c)) ->
  may_be p e /\ early_rank e < early_rank c.
Proof.
  intros P M J. pose proof P as (SX & SY & TX & TY & NS & NT).
  destruct M as [j x N W T|j y N A W|j x y N X A Z G W|x y N A Z Y B|y A Y B N];
    unfold far_x, far_y in J; simpl in J; unfold out in J.
  - (* in its row *)
    set (z := hop kx (dir_x p x (sy p)) x) in *.
    assert (X : x < kx) by (apply (way_below _ _ _ _ _ _ kx2 SX W)).
    assert (Zb : z < kx) by (apply hop_below; assumption).
    assert (V : (bit_x p <? 2) = true) by (apply Nat.ltb_lt, bit_x_01).
    pose proof (Onward _ _ _ _ _ _ W N) as W'. fold z in W'.
    destruct (Nat.eqb_spec z (tx p)) as [E|E].
    + destruct (Nat.eqb_spec (sy p) (ty p)) as [F|F]; [contradiction|]. destruct J as [<-|[]].
      unfold dir_y. destruct (Nat.eqb_spec z a) as [Za|Za].
      * assert (B : gap (sy p) = false).
        { destruct (gap (sy p)) eqn:B; [exfalso|reflexivity]. assert (Q : tx p = a) by congruence.
          revert T Za. unfold z, turns_early, dir_x.
          rewrite B, Q, !Nat.eqb_refl. cbn [andb]. intros T Za. apply Nat.eqb_neq in T. contradiction. }
        split; [rewrite Za; apply Column; auto; congruence|].
        unfold early_rank. simpl. rewrite Za, Nat.eqb_refl, V.
        pose proof (line_below ky last (along ky last (ty p) (sy p)) (sy p) ky2 last_below SY ky_largest). lia.
      * split; [rewrite E; apply AlongY with 0; auto; [congruence|apply Here]|].
        unfold early_rank. simpl. apply Nat.eqb_neq in Za. rewrite Za, V.
        pose proof (ring_rank_H ky (shorter_y p (sy p)) (bit_y p =? 1) (sy p) SY ky_largest). lia.
    + destruct (turns_early p z (sy p)) eqn:T'; destruct J as [<-|[]].
      * unfold turns_early in T'. rewrite !andb_true_iff, !Nat.eqb_eq in T'. destruct T' as [[Yb Xa] Hz].
        assert (Za : z <> a) by congruence.
        split; [apply Turned with 0; auto; try apply Here; congruence|].
        unfold early_rank. simpl. apply Nat.eqb_neq in Za. rewrite Za, V.
        pose proof (ring_rank_H ky (shorter_y p (sy p)) (bit_y p =? 1) (sy p) SY ky_largest). lia.
      * rewrite Nat.add_0_r. split; [apply AlongX with (S j); auto|].
        unfold early_rank. simpl. rewrite V. apply Nat.add_lt_mono_l.
        destruct (gap (sy p)) eqn:B.
        -- apply (row_b_falls p j x (sy p) P W B N E T).
        -- apply (row_falls p j x (sy p) P W B N E).
  - (* in its column, which is whole *)
    rewrite Nat.eqb_refl in J. set (z := hop ky (shorter_y p y) y) in *.
    destruct (Nat.eqb_spec z (ty p)) as [E|E]; [contradiction|]. destruct J as [<-|[]].
    unfold dir_y. pose proof A as A'. apply Nat.eqb_neq in A'. rewrite A'.
    split; [apply AlongY with (S j); auto; apply Onward; assumption|].
    unfold early_rank. simpl. rewrite A'. apply Nat.add_lt_mono_l.
    apply (column_falls p j y P W N E).
  - (* after the early turn *)
    assert (Yk : y < ky) by (apply (way_below _ _ _ _ _ _ ky2 SY W)).
    assert (Ny : y <> ty p) by (intros Q; apply NT; rewrite <- Q; auto).
    set (z := hop ky (shorter_y p y) y) in *.
    assert (Zk : z < ky) by (apply hop_below; assumption).
    rewrite A in J. pose proof N as N'. apply Nat.eqb_neq in N'. rewrite N' in J.
    destruct (gap z) eqn:Gz.
    + assert (T : turns_early p x z = true).
      { unfold turns_early. rewrite Gz, A, Z, !Nat.eqb_refl. reflexivity. }
      rewrite T in J. destruct J as [<-|[]].
      assert (Nz : z <> ty p) by (intros Q; apply NT; rewrite <- Q; auto).
      split; [apply Turned with (S j); auto; apply Onward; assumption|].
      unfold early_rank. simpl. rewrite N'. apply Nat.add_lt_mono_l. apply (column_falls p j y P W Ny Nz).
    + assert (T : turns_early p x z = false) by (unfold turns_early; rewrite Gz; reflexivity).
      rewrite T in J. destruct J as [<-|[]].
      assert (D : dir_x p x z = shorter_x p x) by (unfold dir_x; rewrite Gz; reflexivity).
      rewrite D. split; [apply Illegal; auto; apply neighbour; auto|].
      unfold early_rank. simpl. rewrite N'. destruct (Nat.ltb_spec (bit_x p + 2) 2); [lia|].
      unfold H. lia.
  - (* after the illegal turn *)
    rewrite Z, A, Nat.eqb_refl in J. destruct (Nat.eqb_spec y (ty p)) as [E|E]; [contradiction|].
    destruct J as [<-|[]]. unfold dir_y. rewrite Nat.eqb_refl. split; [apply Column; auto|].
    unfold early_rank. simpl. rewrite Nat.eqb_refl. destruct (Nat.ltb_spec (bit_x p + 2) 2); [lia|].
    apply line_below; try assumption. apply last_below.
  - (* in the column of the missing switches *)
    rewrite A, Nat.eqb_refl in J. set (z := hop ky (along ky last (ty p) y) y) in *.
    destruct (Nat.eqb_spec z (ty p)) as [E|E]; [contradiction|]. destruct J as [<-|[]].
    unfold dir_y. rewrite Nat.eqb_refl.
    destruct (one_place ky last (ty p) y ky2 last_below TY Y N) as [F G]. fold z in F, G. specialize (F E).
    assert (Zk : z < ky) by (apply hop_below; assumption).
    assert (Gt : gap (ty p) = false) by (destruct (gap (ty p)) eqn:Q; [exfalso; apply NT; auto|reflexivity]).
    pose proof (out_of_gap (ty p) y TY Y N B Gt) as Zb. fold z in Zb.
    split; [apply Column; auto|].
    unfold early_rank. simpl. rewrite Nat.eqb_refl, F. unfold line.
    destruct (along ky last (ty p) y); lia.
Qed.

(* Theorem 15. *)
Theorem early_falls c e : waits early c e -> early_rank e < early_rank c.
Proof.
  intros (p & U & J). assert (K : sends p /\ may_be p c).
  { clear J. induction U as [c [S J]|c d U [S M] J]; (split; [exact S|]).
    - apply first_may_be; assumption.
    - apply (hop_falls p c d S M J). }
  destruct K as [S M]. apply (hop_falls p c e S M J).
Qed.

Corollary early_safe size cap q : (forall p c, size p <= cap c) ->
  run channel packet channel_dec size cap (part_of early) (empty channel packet) q ->
  some_packet channel packet q -> head_can_move channel packet size cap q.
Proof. intros F. apply acyclic_safe; [exact F|]. apply (ranked_acyclic _ _ early_rank), early_falls. Qed.

(* No packet comes to a switch that is missing. *)
Lemma line_avoids k z t x : 2 <= k -> z < k -> t < k -> x < k -> x <> z -> t <> z -> x <> t ->
  hop k (along k z t x) x <> z.
Proof. intros. places; lia. Qed.

Lemma row_avoids p j x : sends p -> tx p <> a -> gap (sy p) = true ->
  way kx (fun x => dir_x p x (sy p)) (sx p) (tx p) j x -> x <> a.
Proof.
  intros (SX & SY & TX & TY & NS & NT) T G W. induction W as [|j x W IH N]; [intros E; apply NS; auto|].
  pose proof (way_below _ _ _ _ _ _ kx2 SX W) as X. unfold dir_x. rewrite G.
  destruct (Nat.eqb_spec (tx p) a); [contradiction|]. apply line_avoids; assumption.
Qed.

Theorem early_avoids p c : uses early p c -> ~ (far_x c = a /\ gap (far_y c) = true).
Proof.
  intros U. assert (K : sends p /\ may_be p c).
  { induction U as [c [S J]|c d U [S M] J]; (split; [exact S|]).
    - apply first_may_be; assumption.
    - apply (hop_falls p c d S M J). }
  clear U. destruct K as [S M]. pose proof S as (SX & SY & TX & TY & NS & NT).
  destruct M as [j x N W T|j y N A W|j x y N X A Z G W|x y N A Z Y B|y A Y B N];
    unfold far_x, far_y; simpl; intros [E F]; try congruence.
  - destruct (Nat.eq_dec (tx p) a) as [Q|Q].
    + unfold turns_early in T. unfold dir_x in E. rewrite F, Q, Nat.eqb_refl in *. simpl in T.
      rewrite E, Nat.eqb_refl in T. discriminate.
    + assert (L : x < kx) by (apply (way_below _ _ _ _ _ _ kx2 SX W)).
      pose proof (row_avoids p j x S Q F W) as V. revert E. unfold dir_x. rewrite F.
      destruct (Nat.eqb_spec (tx p) a); [contradiction|]. apply line_avoids; assumption.
  - assert (Gt : gap (ty p) = false) by (destruct (gap (ty p)) eqn:Q; [exfalso; apply NT; auto|reflexivity]).
    rewrite (out_of_gap (ty p) y TY Y N B Gt) in F. discriminate.
Qed.

(* And each packet ends at its destination. *)
Theorem early_arrives p c : uses early p c -> next early c p = [] -> far_x c = tx p /\ far_y c = ty p.
Proof.
  intros _ E. simpl in E. unfold out in E.
  destruct (Nat.eqb_spec (far_x c) (tx p)); [|destruct (turns_early _ _ _); discriminate].
  destruct (Nat.eqb_spec (far_y c) (ty p)); [auto|discriminate].
Qed.

End Early.
