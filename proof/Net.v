(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Net.v: packets in finite buffers, and why they cannot block each other.

   In words: if the dependencies of a set of tables have no cycle, then in every
   state that can be reached and that holds a packet, the packet at the head of
   some buffer can leave, or can be sent to every channel that it waits for
   ([acyclic_safe]).  The tables may be in force whole, or in any part that
   changes from step to step.
   Proves, of doc/rules.md: the first sentence of "Why it cannot deadlock".

   A channel is one VL of one direction of a cable, with the buffer behind it.
   Tables name the channels that a packet may enter first ([inject]) and those to
   which it goes on from a channel ([next]): none at its end, several for
   multicast.  A packet with no channel to go on to leaves: end ports consume what
   they receive, and a packet without an entry is dropped.

   Buffers have any size, packets any size that fits into each buffer.  The steps
   allow any order of service, in and between buffers, a drop at any time, and a
   fresh look into the tables.  The theorem promises a move of the packet at the
   *head* of some buffer, without a drop: it holds for FIFOs, for virtual output
   queues, and for anything in between. *)

From Coq Require Import List Arith Lia Relations Wellfounded.
Import ListNotations.

Section Net.

Variables C P : Type.                          (* channels, packets *)
Variable C_dec : forall a b : C, {a = b} + {a <> b}.
Variable size : P -> nat.
Variable cap : C -> nat.                       (* room of the buffer *)
Hypothesis fits : forall p c, size p <= cap c. (* a whole packet: cut-through *)

Record tables := { inject : P -> C -> Prop; next : C -> P -> list C }.

(* A packet in a buffer: where it has been (latest first), and where copies of
   it still have to go. *)
Record item := Item { pkt : P; trail : list C; todo : list C }.
Definition state := C -> list item.

Definition set (q : state) c l : state := fun x => if C_dec c x then l else q x.
Definition push (q : state) c i := set q c (q c ++ [i]).
Definition used (l : list item) := list_sum (map (fun i => size (pkt i)) l).
Definition room (q : state) c p := used (q c) + size p <= cap c.

(* ---- steps ----------------------------------------------------------------- *)

Inductive step (T : tables) (q : state) : state -> Prop :=
| Inject p c : inject T p c -> room q c p ->
    step T q (push q c (Item p [] (next T c p)))
| Move c l p h t1 d t2 r : q c = l ++ Item p h (t1 ++ d :: t2) :: r -> room q d p ->
    step T q (push (set q c (l ++ Item p h (t1 ++ t2) :: r)) d (Item p (c :: h) (next T d p)))
| Leave c l p h r : q c = l ++ Item p h [] :: r ->
    step T q (set q c (l ++ r))
| Drop c l i r : q c = l ++ i :: r ->
    step T q (set q c (l ++ r))
| Look c l p h t t' r : q c = l ++ Item p h t :: r -> incl t' (next T c p) ->
    step T q (set q c (l ++ Item p h t' :: r)).

(* The head of some buffer can leave, or be sent on: wherever it still has to go,
   so also by a switch that makes all copies of a packet at once. *)
Definition head_can_move (q : state) :=
  exists c p h t r, q c = Item p h t :: r /\ forall d, In d t -> room q d p.

Definition some_packet (q : state) := exists c, q c <> [].
Definition empty : state := fun _ => [].

Lemma head_can_move_step T q : head_can_move q -> exists q', step T q q'.
Proof.
  intros (c & p & h & t & r & E & R). destruct t as [|d t].
  - eexists. apply (Leave T q c [] p h r E).
  - eexists. apply (Move T q c [] p h [] d t r E (R d (or_introl eq_refl))).
Qed.

(* ---- dependencies ----------------------------------------------------------- *)

(* Packet p can come into channel c. *)
Inductive uses (T : tables) (p : P) : C -> Prop :=
| UseFirst c : inject T p c -> uses T p c
| UseNext c d : uses T p c -> In d (next T c p) -> uses T p d.

(* The edges of the channel dependency graph. *)
Definition waits T c d := exists p, uses T p c /\ In d (next T c p).

(* No infinite chain of channels that wait; for finite networks: no cycle. *)
Definition acyclic (R : C -> C -> Prop) := well_founded (fun d c => R c d).

Lemma ranked_acyclic (R : C -> C -> Prop) (rank : C -> nat) :
  (forall c d, R c d -> rank d < rank c) -> acyclic R.
Proof.
  intros H. apply (wf_incl _ _ (fun d c => rank d < rank c)).
  - intros d c. apply H.
  - apply wf_inverse_image, lt_wf.
Qed.

(* A cycle: each channel waits for the next one, and the last one for the first. *)
Fixpoint chain (R : C -> C -> Prop) c l := match l with
  | [] => True
  | d :: l => R c d /\ chain R d l
  end.

Lemma chain_longer (R : C -> C -> Prop) l : forall b c d, chain R b (l ++ [c]) -> R c d ->
  chain R b (l ++ [c; d]).
Proof.
  induction l as [|e l IH]; intros b c d [E H] F; simpl; [tauto|]. split; [exact E|]. apply IH; auto.
Qed.

Theorem cycle_blocks (R : C -> C -> Prop) c l : chain R c (l ++ [c]) -> ~ acyclic R.
Proof.
  intros H W. revert l H. induction (W c) as [c _ IH]. intros [|d l] H.
  - apply (IH c (proj1 H) [] H).
  - destruct H as [E H]. apply (IH d E (l ++ [c])). rewrite <- app_assoc. apply chain_longer; assumption.
Qed.

(* The way of one packet is such a chain. *)
Lemma way_waits T p l : forall c, uses T p c -> chain (fun a b => In b (next T a p)) c l ->
  chain (waits T) c l.
Proof.
  induction l as [|d l IH]; intros c U H; [exact I|]. destruct H as [J H]. split; [exists p; auto|].
  apply IH; [eapply UseNext; eauto|exact H].
Qed.

Lemma part_acyclic (R S : C -> C -> Prop) :
  (forall c d, R c d -> S c d) -> acyclic S -> acyclic R.
Proof. intros H. apply wf_incl. intros d c. apply H. Qed.

(* ---- progress ----------------------------------------------------------------- *)

(* Every packet waits along edges of R only. *)
Definition waits_within (R : C -> C -> Prop) (q : state) :=
  forall c i, In i (q c) -> forall d, In d (todo i) -> R c d.

Theorem progress R q : acyclic R -> waits_within R q -> some_packet q -> head_can_move q.
Proof.
  intros W I [c N]. induction (W c) as [c _ IH].
  destruct (q c) as [|[p h t] r] eqn:E; [congruence|].
  destruct (Exists_dec (fun d => q d <> []) t) as [X|X].
  - intros d. destruct (q d); [right; congruence|left; discriminate].
  - apply Exists_exists in X. destruct X as (d & J & F).
    apply (IH d); [|exact F]. apply (I c (Item p h t)); [rewrite E; left; reflexivity|exact J].
  - exists c, p, h, t, r. split; [exact E|]. intros d J. unfold room, used.
    destruct (q d) as [|i s] eqn:F; [apply fits|].
    exfalso. apply X, Exists_exists. exists d. rewrite F. split; [exact J|discriminate].
Qed.

(* ---- what steps keep ------------------------------------------------------------ *)

Lemma in_set q c l x i : In i (set q c l x) -> (x = c /\ In i l) \/ (x <> c /\ In i (q x)).
Proof. unfold set. destruct (C_dec c x); [left|right]; subst; auto. Qed.

Lemma in_push q c j x i : In i (push q c j x) -> In i (q x) \/ (x = c /\ i = j).
Proof.
  intros H. destruct (in_set _ _ _ _ _ H) as [[E K]|[_ K]]; [|auto].
  apply in_app_iff in K. destruct K as [K|[K|[]]]; subst; auto.
Qed.

(* Whatever holds of each packet in its place, and is handed on, holds for ever. *)
Section Keeps.
Variable T : tables.
Variable good : C -> item -> Prop.
Hypothesis good_first : forall p c, inject T p c -> good c (Item p [] (next T c p)).
Hypothesis good_next : forall c p h t d, good c (Item p h t) -> In d t ->
  good d (Item p (c :: h) (next T d p)).
Hypothesis good_less : forall c p h t t', good c (Item p h t) -> incl t' t -> good c (Item p h t').
Hypothesis good_look : forall c p h t t', good c (Item p h t) -> incl t' (next T c p) ->
  good c (Item p h t').

Lemma step_keeps q q' : (forall c i, In i (q c) -> good c i) -> step T q q' ->
  forall c i, In i (q' c) -> good c i.
Proof.
  intros I S.
  assert (K : forall c l m r, q c = l ++ m :: r -> forall x i,
    In i (l ++ r) -> x = c -> good x i).
  { intros c l m r E x i J ->. apply I. rewrite E. apply in_app_iff in J.
    apply in_app_iff. simpl. tauto. }
  destruct S as [p c J R|c l p h t1 d t2 r E R|c l p h r E|c l i r E|c l p h t t' r E L]; intros x j H.
  - apply in_push in H. destruct H as [H|[-> ->]]; auto.
  - assert (G : good c (Item p h (t1 ++ d :: t2))).
    { apply I. rewrite E. apply in_elt. }
    apply in_push in H. destruct H as [H|[-> ->]].
    + apply in_set in H. destruct H as [[-> H]|[_ H]]; [|auto].
      apply in_elt_inv in H. destruct H as [->|H].
      * apply (good_less _ _ _ _ _ G). intros y Y. apply in_app_iff in Y. apply in_app_iff.
        simpl. tauto.
      * eapply K; eauto.
    + apply (good_next _ _ _ _ _ G). apply in_elt.
  - apply in_set in H. destruct H as [[-> H]|[_ H]]; [eapply K; eauto|auto].
  - apply in_set in H. destruct H as [[-> H]|[_ H]]; [eapply K; eauto|auto].
  - assert (G : good c (Item p h t)). { apply I. rewrite E. apply in_elt. }
    apply in_set in H. destruct H as [[-> H]|[_ H]]; [|auto].
    apply in_elt_inv in H. destruct H as [->|H]; [eapply good_look; eauto|eapply K; eauto].
Qed.
End Keeps.

(* ---- fixed tables ---------------------------------------------------------------- *)

(* Steps with any tables that A allows: they may change between two steps. *)
Inductive run (A : tables -> Prop) (q : state) : state -> Prop :=
| Stay : run A q q
| Then q1 q2 T : run A q q1 -> A T -> step T q1 q2 -> run A q q2.

(* S is a part of T: entries, branches or sources may be missing. *)
Definition part_of (T S : tables) :=
  (forall p c, inject S p c -> inject T p c) /\ (forall c p, incl (next S c p) (next T c p)).

Lemma part_of_refl T : part_of T T.
Proof. split; [auto|intros; apply incl_refl]. Qed.

Lemma part_of_uses T S p c : part_of T S -> uses S p c -> uses T p c.
Proof.
  intros [I N] U. induction U as [c J|c d U IH J].
  - apply UseFirst, I, J.
  - apply (UseNext T p c d IH), (N c p), J.
Qed.

Lemma part_of_waits T S c d : part_of T S -> waits S c d -> waits T c d.
Proof.
  intros H (p & U & J). exists p. split; [eapply part_of_uses; eauto|apply H, J].
Qed.

Theorem part_of_acyclic T S : part_of T S -> acyclic (waits T) -> acyclic (waits S).
Proof. intros H. apply part_acyclic. intros c d. apply part_of_waits, H. Qed.

(* A packet stands where T can have brought it, and waits for what T says. *)
Definition as_told T c i := uses T (pkt i) c /\ incl (todo i) (next T c (pkt i)).

Lemma run_as_told T q q' : (forall c i, In i (q c) -> as_told T c i) ->
  run (part_of T) q q' -> forall c i, In i (q' c) -> as_told T c i.
Proof.
  intros I R. induction R as [|q1 q2 S R IH [HI HN] K]; [exact I|].
  assert (L : forall c d p, uses T p c -> In d (next T c p) -> uses T p d) by (intros; eapply UseNext; eauto).
  revert K. apply step_keeps; [| | | |exact IH]; unfold as_told; simpl.
  - intros p c J. split; [apply UseFirst, HI, J|apply HN].
  - intros c p h t d [U J] K. split; [apply (L c); auto|apply HN].
  - intros c p h t t' [U J] K. split; [exact U|]. intros y Y. auto.
  - intros c p h t t' [U J] K. split; [exact U|]. intros y Y. apply HN. auto.
Qed.

(* Theorem 1.  Tables whose dependencies have no cycle never deadlock, while
   they are in force whole or in any changing part. *)
Theorem acyclic_safe T q : acyclic (waits T) -> run (part_of T) empty q ->
  some_packet q -> head_can_move q.
Proof.
  intros W R. apply (progress (waits T)); [exact W|].
  intros c i J d K. destruct (run_as_told T empty q) with c i as [U N]; auto.
  - intros x j [].
  - exists (pkt i). auto.
Qed.

End Net.

Arguments inject {C P}. Arguments next {C P}. Arguments Build_tables {C P}.
Arguments uses {C P}. Arguments waits {C P}. Arguments acyclic {C}. Arguments chain {C}.
Arguments Item {C P}. Arguments pkt {C P}. Arguments todo {C P}. Arguments trail {C P}.
Arguments part_of {C P}.

(* Two sets of tables in the same network: packets of the one and of the other. *)
Definition together {C P G} (T : tables C P) (U : tables C G) : tables C (P + G) := Build_tables
  (fun x c => match x with inl p => inject T p c | inr g => inject U g c end)
  (fun c x => match x with inl p => next T c p | inr g => next U c g end).

Lemma together_uses {C P G} (T : tables C P) (U : tables C G) x c : uses (together T U) x c ->
  match x with inl p => uses T p c | inr g => uses U g c end.
Proof.
  induction 1 as [c J|c d _ IH J]; destruct x; simpl in *;
    [apply UseFirst, J|apply UseFirst, J|eapply UseNext; eauto|eapply UseNext; eauto].
Qed.

Lemma together_waits {C P G} (T : tables C P) (U : tables C G) c d : waits (together T U) c d ->
  waits T c d \/ waits U c d.
Proof.
  intros ([p|g] & V & J); apply together_uses in V; [left; exists p|right; exists g]; auto.
Qed.
