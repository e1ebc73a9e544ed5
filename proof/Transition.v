(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Transition.v: between two sets of tables.

   In words: O are the old tables, N the new ones, M the part on which both agree.
   While M is written over O, in any order, nothing deadlocks ([closing_safe]).
   N may be written over M, in any order, when every packet that used a closed
   entry anywhere on its way has left ([drained_safe]), or when the dependencies
   that old packets still make close no cycle with those of N ([opening_safe]).
   That nothing *waits* by a closed entry is not enough ([weak_rule_fails]): two
   packets can block each other although O and N have no cycle.  Opened tables that
   stay drain ([opening_drains], [transition_drains]): old packets and new ones, no
   packets block each other while others move.

   A plan has many steps: waves, detours, closings, drains.  It is safe at every
   instant, and wherever it stops ([plan_safe]), and then all packets leave
   ([plan_drains]), if the dependencies of all packets that can be under way since
   the last drain have no cycle ([held]).
   Proves, of doc/rules.md: "Between two sets of tables"; rules A14.

   Packets keep their history ([trail]): the theorem can say which of them must
   have left. *)

From Coq Require Import List Arith Lia.
From Dateline Require Import Net Drain.
Import ListNotations.

Section Transition.
Variables C P : Type.
Variable C_dec : forall a b : C, {a = b} + {a <> b}.
Variable size : P -> nat.
Variable cap : C -> nat.
Hypothesis fits : forall p c, size p <= cap c.
Notation tables := (tables C P).
Notation state := (state C P).
Notation run := (run C P C_dec size cap).
Notation step := (step C P C_dec size cap).
Notation all_leave := (all_leave C P C_dec size cap).
Notation head_can_move := (head_can_move C P size cap).
Notation some_packet := (some_packet C P).
Notation empty := (empty C P).

Lemma within_safe U q0 q : acyclic (waits U) -> within U q0 -> run (part_of U) q0 q ->
  some_packet q -> head_can_move q.
Proof.
  intros W K R. apply (progress C P size cap fits (waits U) q W). intros c i J d L.
  destruct (run_as_told C P C_dec size cap U q0 q K R c i J) as [A B]. exists (pkt i). auto.
Qed.

Variables O N : tables.

(* ---- closing -------------------------------------------------------------- *)

(* Any parts of the old tables, in any order of writes, for any time. *)
Theorem closing_safe q : acyclic (waits O) -> run (part_of O) empty q ->
  some_packet q -> head_can_move q.
Proof. apply acyclic_safe, fits. Qed.

(* ---- opening, in general --------------------------------------------------- *)

(* What the packets of state q can still do under N: where they may come, and the
   edges that they make. *)
Inductive remains (q : state) (p : P) : C -> Prop :=
| Stands c i : In i (q c) -> pkt i = p -> remains q p c
| Waiting c i d : In i (q c) -> pkt i = p -> In d (todo i) -> remains q p d
| Goes c d : remains q p c -> In d (next N c p) -> remains q p d.

Inductive leftover (q : state) : C -> C -> Prop :=
| Held c i d : In i (q c) -> In d (todo i) -> leftover q c d
| Later c d p : remains q p c -> In d (next N c p) -> leftover q c d.

(* Every packet is where N, or what remains, brings it. *)
Lemma opened_good q0 q : run (part_of N) q0 q -> forall c i, In i (q c) ->
  (uses N (pkt i) c \/ remains q0 (pkt i) c) /\
  forall d, In d (todo i) -> (waits N c d \/ leftover q0 c d) /\
                             (uses N (pkt i) d \/ remains q0 (pkt i) d).
Proof.
  intros R.
  assert (E : forall c d p, uses N p c \/ remains q0 p c -> In d (next N c p) ->
              (waits N c d \/ leftover q0 c d) /\ (uses N p d \/ remains q0 p d)).
  { intros c d p [U|U] J; split.
    - left. exists p. auto.
    - left. eapply UseNext; eauto.
    - right. eapply Later; eauto.
    - right. eapply Goes; eauto. }
  induction R as [|q1 q2 S R IH [HI HN] K].
  - intros c i J. split; [right; eapply Stands; eauto|].
    intros d L. split; right; [eapply Held|eapply Waiting]; eauto.
  - revert K. apply step_keeps; [| | | |exact IH]; simpl.
    + intros p c J. assert (U : uses N p c) by (apply UseFirst, HI, J).
      split; [auto|]. intros d L. apply E; [auto|apply HN, L].
    + intros c p h t d [U F] J. destruct (F d J) as [_ G].
      split; [exact G|]. intros e L. apply E; [exact G|apply HN, L].
    + intros c p h t t' [U F] J. split; [exact U|]. intros d L. apply F, J, L.
    + intros c p h t t' [U F] J. split; [exact U|]. intros d L. apply E; [exact U|apply HN, J, L].
Qed.

(* Theorem 5a.  Opening is safe from any state whose leftover edges close no cycle
   with those of the new tables. *)
Theorem opening_safe q0 q : acyclic (fun c d => waits N c d \/ leftover q0 c d) ->
  run (part_of N) q0 q -> some_packet q -> head_can_move q.
Proof.
  intros W R. apply (progress C P size cap fits _ q W).
  intros c i J d L. apply (opened_good q0 q R c i J), L.
Qed.

(* While N stays, all that was and is in the network leaves, if ranks fall along
   both kinds of edges. *)
Theorem opening_drains all rank q0 q : NoDup all ->
  (forall p c, uses N p c \/ remains q0 p c -> In c all) ->
  (forall c d, waits N c d \/ leftover q0 c d -> rank d < rank c) ->
  run (part_of N) q0 q ->
  all_leave N q.
Proof.
  intros ND A F R.
  apply (drains_from C P C_dec size cap fits all ND N (fun p c => uses N p c \/ remains q0 p c) rank).
  - exact A.
  - intros p c d [U|U] J; (split; [|apply F]).
    + left. eapply UseNext; eauto.
    + left. exists p. auto.
    + right. eapply Goes; eauto.
    + right. eapply Later; eauto.
  - intros c i I. destruct (opened_good q0 q R c i I) as [U K]. split; [exact U|].
    intros d J. destruct (K d J) as [E V]. auto.
Qed.

(* ---- opening, when what used a closed entry has left --------------------------- *)

Variable M : tables.
Hypothesis M_is_new : part_of N M.

(* A packet came by entries of M only: its first channel and every hop of its trail. *)
Fixpoint came_by_M p (c : C) (h : list C) : Prop :=
  match h with
  | [] => inject M p c
  | b :: h => In c (next M b p) /\ came_by_M p b h
  end.

Definition drained (q : state) := forall c i, In i (q c) ->
  came_by_M (pkt i) c (trail i) /\ incl (todo i) (next M c (pkt i)).

Lemma came_by_M_uses p h : forall c, came_by_M p c h -> uses N p c.
Proof.
  induction h as [|b h IH]; intros c K; simpl in K.
  - apply UseFirst, M_is_new, K.
  - destruct K as [J K]. eapply UseNext; [apply (IH b K)|apply M_is_new, J].
Qed.

Lemma drained_within q : drained q -> within N q.
Proof.
  intros K c i I. destruct (K c i I) as [A B]. split.
  - eapply came_by_M_uses, A.
  - intros d D. apply M_is_new, B, D.
Qed.

(* Theorem 5b. *)
Theorem drained_safe q0 q : acyclic (waits N) -> drained q0 ->
  run (part_of N) q0 q -> some_packet q -> head_can_move q.
Proof. intros W K. apply within_safe; [exact W|apply drained_within, K]. Qed.

Theorem transition_drains all rank q0 q : NoDup all ->
  (forall p c, uses N p c -> In c all) -> (forall c d, waits N c d -> rank d < rank c) ->
  drained q0 -> run (part_of N) q0 q -> all_leave N q.
Proof.
  intros ND A F K R. apply (drains_within C P C_dec size cap fits all ND N A rank F N q0); auto.
  - apply part_of_refl.
  - apply drained_within, K.
Qed.

(* The whole change: close, drain, open. *)
Corollary transition_safe q1 q2 : acyclic (waits O) -> acyclic (waits N) ->
  run (part_of O) empty q1 -> drained q1 -> run (part_of N) q1 q2 ->
  (some_packet q1 -> head_can_move q1) /\ (some_packet q2 -> head_can_move q2).
Proof.
  intros WO WN R1 K R2. split; [apply closing_safe; auto|eapply drained_safe; eauto].
Qed.

(* ---- plans of many steps ----------------------------------------------------- *)

(* A plan is at a step: tables T say which entries may be in force now, so T has the
   old and the new value of an entry that is being written, and neither if it is being
   closed.  A history lists such tables since the last drain, the latest first.  A
   packet that comes into a channel in one step may go on in a later one. *)
Inductive comes : list tables -> P -> C -> Prop :=
| ComesFirst T h p c : inject T p c -> comes (T :: h) p c
| ComesNext T h p c d : comes (T :: h) p c -> In d (next T c p) -> comes (T :: h) p d
| ComesBefore T h p c : comes h p c -> comes (T :: h) p c.

(* The dependencies of all packets that can be under way. *)
Inductive held : list tables -> C -> C -> Prop :=
| HeldNow T h p c d : comes (T :: h) p c -> In d (next T c p) -> held (T :: h) c d
| HeldBefore T h c d : held h c d -> held (T :: h) c d.

(* One step: the dependencies are those of its tables. *)
Lemma comes_uses T p c : comes [T] p c -> uses T p c.
Proof.
  intros K. remember [T] as h eqn:E. revert E.
  induction K as [U h p c J|U h p c d K IH J|U h p c K IH]; intros E; injection E as -> ->.
  - apply UseFirst, J.
  - eapply UseNext; eauto.
  - inversion K.
Qed.

Lemma uses_comes T h p c : uses T p c -> comes (T :: h) p c.
Proof.
  intros U. induction U as [c J|c d U IH J]; [apply ComesFirst, J|eapply ComesNext; eauto].
Qed.

Lemma held_waits T c d : held [T] c d -> waits T c d.
Proof.
  intros K. inversion K as [U h p c' d' X J|U h c' d' X]; subst; [|inversion X].
  exists p. split; [apply comes_uses, X|exact J].
Qed.

(* What a plan does.  Nothing is assumed of the tables of its steps.  A history begins
   when all packets are where tables T alone bring them: at first, and when a drain has
   ended, T being what is written then. *)
Inductive plan : list tables -> state -> Prop :=
| Begin T q : within T q -> plan [T] q
| Work T h S q q' : plan (T :: h) q -> part_of T S -> step S q q' -> plan (T :: h) q'
| NextStep T h q : plan h q -> plan (T :: h) q.

Lemma plan_keeps h q : plan h q -> forall c i, In i (q c) ->
  comes h (pkt i) c /\ forall d, In d (todo i) -> held h c d /\ comes h (pkt i) d.
Proof.
  intros K. induction K as [T q W|T h S q q' K IH [HI HN] E|T h q K IH].
  - intros c i J. destruct (W c i J) as [X F]. split; [apply uses_comes, X|]. intros d D.
    apply F in D. split; [|apply uses_comes; eapply UseNext; eauto].
    eapply HeldNow; [apply uses_comes, X|exact D].
  - assert (L : forall c p t, comes (T :: h) p c -> incl t (next S c p) ->
      forall d, In d t -> held (T :: h) c d /\ comes (T :: h) p d).
    { intros c p t X J d D. apply J, HN in D. split; [eapply HeldNow|eapply ComesNext]; eauto. }
    revert E. apply step_keeps; [| | | |exact IH]; simpl.
    + intros p c J. assert (X : comes (T :: h) p c) by (apply ComesFirst, HI, J).
      split; [exact X|]. apply (L c p _ X), incl_refl.
    + intros c p t' t d [X F] J. destruct (F d J) as [_ G]. split; [exact G|].
      apply (L d p _ G), incl_refl.
    + intros c p t' t u [X F] J. split; [exact X|]. intros d D. apply F, J, D.
    + intros c p t' t u [X F] J. split; [exact X|]. apply (L c p _ X J).
  - intros c i J. destruct (IH c i J) as [X F]. split; [apply ComesBefore, X|].
    intros d D. destruct (F d D). split; [apply HeldBefore|apply ComesBefore]; assumption.
Qed.

(* Theorem 5c.  At every instant of a plan, and wherever it ends, nothing deadlocks:
   whoever carries it out may die at any step. *)
Theorem plan_safe h q : acyclic (held h) -> plan h q -> some_packet q -> head_can_move q.
Proof.
  intros W K. apply (progress C P size cap fits (held h) q W). intros c i J d D.
  apply (plan_keeps h q K c i J), D.
Qed.

(* Wherever it ends, all packets leave under whatever part S stays in force. *)
Theorem plan_drains T h S all rank q : plan (T :: h) q -> part_of T S -> NoDup all ->
  (forall p c, comes (T :: h) p c -> In c all) ->
  (forall c d, held (T :: h) c d -> rank d < rank c) -> all_leave S q.
Proof.
  intros K [_ HN] ND A F.
  apply (drains_from C P C_dec size cap fits all ND S (comes (T :: h)) rank).
  - exact A.
  - intros p c d X J. apply HN in J. split; [eapply ComesNext; eauto|].
    apply F. eapply HeldNow; eauto.
  - intros c i I. destruct (plan_keeps _ q K c i I) as [X J]. split; [exact X|].
    intros d D. destruct (J d D). split; auto.
Qed.

End Transition.

Arguments comes {C P}. Arguments held {C P}.

(* ---- the weaker rule ---------------------------------------------------------------- *)

(* Three channels, 0 to 2, with room for one packet each, and two packets, true and
   false.  Old tables: true comes by 0, 1 and 2; false comes into 2 and leaves.  New
   tables: true is not sent from 0 to 1 any more, and false goes on from 2 to 1. *)
Module Weak.
Definition old : tables nat bool := Build_tables
  (fun (p : bool) (c : nat) => c = if p then 0 else 2)
  (fun (c : nat) (p : bool) => match p, c with true, 0 => [1] | true, 1 => [2] | _, _ => [] end).
Definition new : tables nat bool := Build_tables
  (fun (p : bool) (c : nat) => c = if p then 0 else 2)
  (fun (c : nat) (p : bool) => match p, c with true, 1 => [2] | false, 2 => [1] | _, _ => [] end).
Definition both : tables nat bool := Build_tables
  (fun (p : bool) (c : nat) => c = if p then 0 else 2)
  (fun (c : nat) (p : bool) => match p, c with true, 1 => [2] | _, _ => [] end).

Notation one := (fun _ => 1).
Notation run := (run nat bool Nat.eq_dec one one).

(* Nothing waits by a closed entry. *)
Definition none_waits_by_closed (q : state nat bool) :=
  forall c i, In i (q c) -> incl (todo i) (next both c (pkt i)).

(* Packet true goes to 1 by the old tables.  Then its entry at 0 is closed. *)
Definition q0 : state nat bool := empty nat bool.
Definition q1 := push nat bool Nat.eq_dec q0 0 (Item true [] [1]).
Definition q2 := push nat bool Nat.eq_dec (set nat bool Nat.eq_dec q1 0 [Item true [] []]) 1 (Item true [0] [2]).
Definition q3 := set nat bool Nat.eq_dec q2 0 [].
(* The new tables are opened, and packet false comes into 2. *)
Definition q4 := push nat bool Nat.eq_dec q3 2 (Item false [] [1]).

Theorem weak_rule_fails :
  acyclic (waits old) /\ acyclic (waits new) /\ part_of old both /\ part_of new both /\
  run (part_of old) q0 q3 /\ none_waits_by_closed q3 /\
  run (part_of new) q3 q4 /\ some_packet nat bool q4 /\ ~ head_can_move nat bool one one q4.
Proof.
  refine (conj _ (conj _ (conj (conj _ _) (conj (conj _ _) (conj _ (conj _ (conj _ (conj _ _)))))))).
  - apply (ranked_acyclic _ _ (fun c => 3 - c)). intros c d ([|] & U & H);
      destruct c as [|[|c]]; simpl in H; try contradiction; destruct H as [<-|[]]; lia.
  - apply (ranked_acyclic _ _ (fun c => if c =? 1 then 0 else if c =? 2 then 1 else 2)).
    intros c d (p & U & H).
    assert (V : p = true -> c = 0).
    { intros ->. clear H. induction U as [c J|b c U IH J]; [exact J|].
      rewrite IH in J. contradiction. }
    destruct p; [rewrite V in H by reflexivity; contradiction|].
    destruct c as [|[|[|c]]]; simpl in H; try contradiction. destruct H as [<-|[]]. simpl. lia.
  - auto.
  - intros c [|]; destruct c as [|[|c]]; simpl; intros x H; try contradiction H; exact H || (simpl in H; contradiction).
  - auto.
  - intros c [|]; destruct c as [|[|[|c]]]; simpl; intros x H; try contradiction H; exact H || (simpl in H; contradiction).
  - eapply Then with (q1 := q2) (T := both).
    + eapply Then with (q1 := q1) (T := old).
      * eapply Then with (q1 := q0) (T := old); [apply Stay|apply part_of_refl|].
        apply (Inject _ _ Nat.eq_dec one one old q0 true 0 eq_refl). apply le_n.
      * apply part_of_refl.
      * apply (Move _ _ Nat.eq_dec one one old q1 0 [] true [] [] 1 [] [] eq_refl). apply le_n.
    + split; [auto|]. intros c [|]; destruct c as [|[|c]]; simpl; intros x H; try contradiction H; exact H || (simpl in H; contradiction).
    + apply (Leave _ _ Nat.eq_dec one one both q2 0 [] true [] [] eq_refl).
  - intros c i; destruct c as [|[|[|c]]]; simpl; intros H; try contradiction.
    destruct H as [<-|[]]. simpl. apply incl_refl.
  - eapply Then with (q1 := q3) (T := new); [apply Stay|apply part_of_refl|].
    apply (Inject _ _ Nat.eq_dec one one new q3 false 2 eq_refl). apply le_n.
  - exists 1. discriminate.
  - intros (c & p & h & t & r & E & R).
    destruct c as [|[|[|c]]]; try discriminate E; injection E as <- <- <- <-;
      [specialize (R 2 (or_introl eq_refl))|specialize (R 1 (or_introl eq_refl))];
      unfold room in R; simpl in R; lia.
Qed.
End Weak.
