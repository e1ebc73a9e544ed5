(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Worm.v: wormhole switching.

   In words: a packet, a worm, moves flit by flit.  It takes a channel when its first flit
   enters it, and holds it until its last flit has left, so it may hold several; no channel
   has flits of two worms.  If the dependencies of the tables have no cycle, then in every
   state that can be reached and that holds a worm, the first flit of some worm can go on:
   into a free channel, or to its end port ([worms_move]).
   Proves, of doc/rules.md: rules E3, for unicast.

   The dependencies are those of whole packets ([waits] of Net.v): the same tables are safe
   for both.  How many flits a buffer takes does not matter. *)

From Coq Require Import List Relations Wellfounded.
From Dateline Require Import Net.
Import ListNotations.

Section Worm.
Variables C P : Type.                  (* channels; packets: each is sent once *)
Variable C_dec : forall a b : C, {a = b} + {a <> b}.
Variable P_dec : forall a b : P, {a = b} + {a <> b}.
Variable T : tables C P.

(* The channels that each worm holds, that of its first flit first; none before it is sent
   and after it has left. *)
Definition state := P -> list C.
Definition put (q : state) p l : state := fun x => if P_dec x p then l else q x.
Definition free (q : state) c := forall p, ~ In c (q p).
Definition none : state := fun _ => [].

Inductive step (q : state) : state -> Prop :=
| Enter p c : q p = [] -> inject T p c -> free q c -> step q (put q p [c])
| Advance p c h d : q p = c :: h -> In d (next T c p) -> free q d -> step q (put q p (d :: c :: h))
| Release p h c : q p = h ++ [c] -> h <> [] -> step q (put q p h)         (* by the last flit *)
| Arrive p c : q p = [c] -> next T c p = [] -> step q (put q p []).

Inductive run : state -> Prop :=
| Start : run none
| Then q q' : run q -> step q q' -> run q'.

(* The first flit of some worm goes on when it is served. *)
Definition first_can_move q := exists p c h, q p = c :: h /\
  (next T c p = [] \/ exists d, In d (next T c p) /\ free q d).

(* A worm lies along the way that the tables gave it. *)
Fixpoint lies p (l : list C) := match l with
  | [] => True
  | [c] => uses T p c
  | d :: ((c :: _) as h) => In d (next T c p) /\ lies p h
  end.

Lemma lies_uses p l : forall c, lies p (c :: l) -> uses T p c.
Proof.
  induction l as [|b l IH]; intros c H; [exact H|]. destruct H as [J H].
  eapply UseNext; [apply (IH b H)|exact J].
Qed.

Lemma lies_less p l c : forall d, lies p (d :: l ++ [c]) -> lies p (d :: l).
Proof.
  induction l as [|b l IH]; intros d H.
  - apply (lies_uses p [c] d H).
  - destruct H as [J H]. split; [exact J|apply (IH b H)].
Qed.

Lemma run_lies q : run q -> forall p, lies p (q p).
Proof.
  intros R. induction R as [|q q' R IH S]; intros p; [exact I|].
  destruct S as [x c E J F|x c h d E J F|x h c E N|x c E J]; unfold put; destruct (P_dec p x) as [->|]; auto.
  - apply UseFirst, J.
  - split; [exact J|]. rewrite <- E. apply IH.
  - specialize (IH x). rewrite E in IH. destruct h as [|d h]; [contradiction|]. apply (lies_less x h c d IH).
  - exact I.
Qed.

(* Whatever a worm holds leads to where its first flit is. *)
Lemma leads_to_first p h : forall c d, lies p (c :: h) -> In d (c :: h) -> clos_refl_trans C (waits T) d c.
Proof.
  induction h as [|b h IH]; intros c d L [->|I]; [apply rt_refl|contradiction|apply rt_refl|].
  pose proof (lies_uses p h b (proj2 L)) as U. destruct L as [J L].
  eapply rt_trans; [apply (IH b d L I)|]. apply rt_step. exists p. auto.
Qed.

(* Only so many worms have been sent, so a channel is held by one of them, or free. *)
Lemma run_sent q : run q -> exists l, forall p, q p <> [] -> In p l.
Proof.
  intros R. induction R as [|q q' R [l IH] S]; [exists []; intros p N; contradiction|].
  destruct S as [x c E J F|x c h d E J F|x h c E N|x c E J]; exists (x :: l); intros p; unfold put;
    destruct (P_dec p x) as [->|]; simpl; auto.
Qed.

Lemma held_or_free q d : run q -> (exists p, In d (q p)) \/ free q d.
Proof.
  intros R. destruct (run_sent q R) as [l H].
  destruct (Exists_dec (fun p => In d (q p)) l) as [X|X].
  - intros p. apply (in_dec C_dec).
  - left. apply Exists_exists in X. destruct X as (p & _ & X). exists p. exact X.
  - right. intros p I. apply X, Exists_exists. exists p. split; [|exact I]. apply H.
    intros E. rewrite E in I. contradiction.
Qed.

(* Theorem 13. *)
Theorem worms_move q : acyclic (waits T) -> run q -> (exists p, q p <> []) -> first_can_move q.
Proof.
  intros W R [p N]. destruct (q p) as [|c h] eqn:E; [congruence|]. clear N.
  assert (A : well_founded (clos_trans C (fun d c => waits T c d))) by (apply wf_clos_trans, W).
  revert p h E. induction (A c) as [c _ IH]. intros p h E.
  destruct (next T c p) as [|d l] eqn:X; [exists p, c, h; rewrite X; auto|].
  destruct (held_or_free q d R) as [[x O]|O].
  - destruct (q x) as [|c' h'] eqn:E'; [contradiction|].
    assert (L : lies p (c :: h)) by (rewrite <- E; apply run_lies, R).
    assert (L' : lies x (c' :: h')) by (rewrite <- E'; apply run_lies, R).
    apply (IH c') with (p := x) (h := h'); [|exact E'].
    assert (S : waits T c d).
    { exists p. split; [apply (lies_uses p h c L)|rewrite X; left; reflexivity]. }
    pose proof (leads_to_first x h' c' d L' O) as K. clear - S K.
    apply clos_rt_rt1n in K. revert c S. induction K as [d|d e c' S' K IHK]; intros c S.
    + apply t_step, S.
    + eapply t_trans; [|apply t_step, S]. apply IHK, S'.
  - exists p, c, h. rewrite X. split; [exact E|]. right. exists d. split; [left; reflexivity|exact O].
Qed.

End Worm.
