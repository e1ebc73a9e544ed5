(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Change.v: a checker of changes of tables that is proved right.

   In words: at every instant of a change that the checker accepts, and wherever it
   stops, nothing deadlocks ([change_safe]), and all packets leave under whatever part
   of the tables stays in force then ([change_drains]).  Cables may have failed before:
   packets that had crossed them are judged with the others.
   Proves, of doc/rules.md: "Between two sets of tables", for what a plan really writes.

   A packet keeps nothing of the entries that it met: what it may wait for later goes by
   where it can be.  So the checker follows packets from each time to the next one. *)

From Coq Require Import List Arith Bool Lia.
From Dateline Require Import Net Drain Transition Checker.
Import ListNotations.

(* A change has periods, with a drain between two of them, and a certificate for each. *)
Definition put f p := Fabric (n_switches f) (far_end f) (sources f) (rows f) (n_rows f)
  (vl_in_row f) (lids f) (sls f) (sl_list f) (multicast f) (home f) (delivers f) p.

(* What is written at the end of a period is possible at the start of the next one, but
   for cables that have failed. *)
Definition continues f gone p p' := forallb (fun t =>
  let j := stage p t (pred (n_times p)) in let i := stage p' t 0 in
  (maps_at p t j =? maps_at p' t i) && below (n_switches f) (fun s =>
    forallb (fun o => gone s o || existsb (Nat.eqb o) (outputs_at p' i s t)) (outputs_at p j s t))) (lids f).

(* [gone] names the ports whose cables have failed. *)
Fixpoint check_change f gone (l : list (period * certificate)) := match l with
  | [] => true
  | (p, k) :: r => check_on (put f p) k gone &&
      match r with [] => true | (p', _) :: _ => continues f gone p p' end && check_change f gone r
  end.

Section Change.
Variable size : packet -> nat.
Variable cap : channel -> nat.
Hypothesis fits : forall p c, size p <= cap c.
Notation some_packet := (some_packet channel packet).
Notation head_can_move := (head_can_move channel packet size cap).
Notation all_leave := (all_leave channel packet channel_dec size cap).

Variables (f : fabric) (gone : nat -> nat -> bool) (l : list (period * certificate)).
Hypothesis accepted : check_change f gone l = true.
Notation before p := (net (put f p) 0).
Notation at_time p n := (net_left (put f p) gone n).

(* The change at period a and time n, and what may happen.  It begins when the tables of
   time 0 have brought packets anywhere by all cables, those that have failed now, too;
   but no packet waits for one of these any more.  Then packets come and go by any part of
   the tables of the time, on the cables that are left; writes are confirmed, and the next
   ones begin; at the end of a period a drain, after which all packets came by what is
   written then. *)
Inductive carried : nat -> nat -> state channel packet -> Prop :=
| CBegin p k q : nth_error l 0 = Some (p, k) -> within (before p) q ->
    (forall c i d, In i (q c) -> In d (todo i) -> stays gone d = true) -> carried 0 0 q
| CWork a n p k S q q' : carried a n q -> nth_error l a = Some (p, k) ->
    part_of (at_time p n) S -> Net.step channel packet channel_dec size cap S q q' -> carried a n q'
| CTime a n p k q : carried a n q -> nth_error l a = Some (p, k) -> n < pred (n_times p) ->
    carried a (S n) q
| CDrain a n p k q : carried a n q -> nth_error l a = Some (p, k) -> n = pred (n_times p) ->
    within (at_time p n) q -> carried (S a) 0 q.

Lemma change_at a : forall m, check_change f gone m = true -> forall p k, nth_error m a = Some (p, k) ->
  check_on (put f p) k gone = true /\
  forall p' k', nth_error m (S a) = Some (p', k') -> continues f gone p p' = true.
Proof.
  induction a as [|a IH]; intros [|[p k] m] H p1 k1 E; try discriminate; simpl in H;
    apply andb_true_iff in H; destruct H as [H R]; apply andb_true_iff in H; destruct H as [H K].
  - injection E as <- <-. split; [exact H|]. intros p' k' E'.
    destruct m as [|[p2 k2] m]; [discriminate|]. injection E' as <- <-. exact K.
  - apply (IH m R p1 k1 E).
Qed.

(* Where the tables bring a packet on the cables that are left, the checker knows it. *)
Lemma left_known p k n x c : check_on (put f p) k gone = true -> n <= pred (n_times p) ->
  uses (at_time p n) x c -> known (put f p) k (stage_of (put f p) (lid x) n) x c.
Proof.
  intros A N U. assert (L : In (lid x) (lids (put f p)) ->
    stage_of (put f p) (lid x) n <= last_stage (put f p) (lid x)).
  { intros T. apply (stage_in_time (put f p) k gone A); [exact T|exact N]. }
  induction U as [c [(s & i & X & J) _]|c d U IH J].
  - eapply known_first; eauto. apply L, X.
  - apply filter_In in J. apply (known_next (put f p) k gone A _ x c d); [apply L, IH|exact IH|apply J].
Qed.

Lemma continues_uses p k p' : check_on (put f p) k gone = true -> continues f gone p p' = true ->
  forall n, n = pred (n_times p) -> forall x c, uses (at_time p n) x c ->
  uses (before p') x c /\ incl (next (at_time p n) c x) (filter (stays gone) (next (before p') c x)).
Proof.
  unfold continues. rewrite forallb_forall. intros A H n E.
  assert (X : forall t s i v c, In t (lids f) -> s < n_switches f ->
    stays gone c = true ->
    In c (sent (put f p) (stage p t n) s i t v) -> In c (sent (put f p') (stage p' t 0) s i t v)).
  { intros t s i v c T S G J. specialize (H t T). rewrite E in J. apply andb_true_iff in H.
    destruct H as [M O]. pose proof (below_all _ _ O s S) as K. simpl in K. rewrite forallb_forall in K.
    apply Nat.eqb_eq in M. apply sent_in in J. destruct J as (B & C & D & V & N).
    apply sent_in. repeat split; auto.
    - apply copies_in in C. destruct C as [C Q]. apply copies_in. split; [|exact Q].
      specialize (K _ C). unfold stays in G. rewrite B in G. apply negb_true_iff in G. rewrite G in K.
      apply existsb_exists in K. destruct K as (y & Y & Z).
      apply Nat.eqb_eq in Z. rewrite <- Z in Y. exact Y.
    - unfold maps in *. simpl in *. rewrite <- M. exact V. }
  assert (Y : forall x c, uses (at_time p n) x c ->
    incl (next (at_time p n) c x) (filter (stays gone) (next (before p') c x))).
  { intros x c U d J. pose proof (left_known p k n x c A ltac:(lia) U) as K.
    assert (L : stage_of (put f p) (lid x) n <= last_stage (put f p) (lid x)).
    { apply (stage_in_time (put f p) k gone A); [apply K|simpl; lia]. }
    destruct (known_far (put f p) k gone A _ x c L K) as (s & i & F & S & _).
    apply filter_In in J. destruct J as [J G]. apply filter_In. split; [|exact G].
    simpl in J |- *. unfold onward in *. rewrite F in J. simpl in F. simpl far_end. rewrite F.
    apply X; [apply K|exact S|exact G|exact J]. }
  intros x c U. split; [|apply Y, U].
  induction U as [c [(s & i & B & J) G]|c d U IH J].
  - apply UseFirst. exists s, i. split; [exact B|]. apply X; [apply B|apply B|exact G|exact J].
  - eapply UseNext; [exact IH|]. apply (Y x c U d), filter_In in J. apply J.
Qed.

Lemma carried_in_time a n q : carried a n q -> forall p k, nth_error l a = Some (p, k) ->
  n <= pred (n_times p).
Proof.
  intros K. induction K as [p k q E0 W0 G0|a n p k S q q' K IH E|a n p k q K IH E L|a n p k q K IH E L]; intros p' k' E'.
  - lia.
  - eapply IH; eauto.
  - rewrite E in E'. injection E' as <- <-. lia.
  - lia.
Qed.

Notation plan := (plan channel packet channel_dec size cap).

(* The tables of a time are a part of what its history begins with. *)
Lemma history_first p n : exists T, history (put f p) gone n = T :: tl (history (put f p) gone n) /\
  part_of T (at_time p n).
Proof.
  destruct n as [|n]; eexists; (split; [reflexivity|]); [|apply part_of_refl].
  split; simpl; [|intros; apply incl_refl]. intros x c [J _]. apply UseFirst, J.
Qed.

Lemma part_of_part (T U V : tables channel packet) : part_of T U -> part_of U V -> part_of T V.
Proof.
  intros [I N] [I' N']. split; [auto|]. intros c p d D. apply N, N', D.
Qed.

(* What is where the tables of time 0 bring it, and waits for cables that are left. *)
Lemma within_under_way p q : within (before p) q ->
  (forall c i d, In i (q c) -> In d (todo i) -> stays gone d = true) ->
  within (under_way (put f p) gone) q.
Proof.
  intros W G c i I. destruct (W c i I) as [U N]. split; [apply UseFirst, U|].
  intros d D. apply filter_In. split; [apply N, D|apply (G c i d I D)].
Qed.

Lemma carried_plan a n q : carried a n q -> forall p k, nth_error l a = Some (p, k) ->
  plan (history (put f p) gone n) q.
Proof.
  intros K. induction K as [p k q E0 W0 G0|a n p k S q q' K IH E A B|a n p k q K IH E L|a n p k q K IH E L W];
    intros p' k' E'.
  - rewrite E0 in E'. injection E' as <- <-. apply Begin, within_under_way; assumption.
  - rewrite E in E'. injection E' as <- <-. specialize (IH p k E).
    destruct (history_first p n) as (T & H & P). rewrite H in *.
    eapply Work; [exact IH|eapply part_of_part; eauto|exact B].
  - rewrite E in E'. injection E' as <- <-. simpl. apply NextStep. apply (IH p k E).
  - destruct (change_at a l accepted p k E) as [A N]. specialize (N p' k' E').
    apply Begin. intros c i I. destruct (W c i I) as [U J].
    destruct (continues_uses p k p' A N n L (pkt i) c U) as [U' J']. split; [apply UseFirst, U'|].
    intros d D. apply J', J, D.
Qed.

(* Theorem 8.  At every instant of an accepted change, and wherever it stops, nothing
   deadlocks. *)
Theorem change_safe a n q p k : carried a n q -> nth_error l a = Some (p, k) ->
  some_packet q -> head_can_move q.
Proof.
  intros K E. pose proof (carried_in_time a n q K p k E) as N.
  apply (plan_safe channel packet channel_dec size cap fits (history (put f p) gone n)).
  - apply (ranked_acyclic _ _ (channel_rank k)). intros c d R.
    apply (held_falls (put f p) k gone (proj1 (change_at a l accepted p k E)) _ c d R n N eq_refl).
  - apply (carried_plan a n q K p k E).
Qed.

(* And all packets leave under whatever part of the tables stays then. *)
Theorem change_drains a n q p k S : carried a n q -> nth_error l a = Some (p, k) ->
  part_of (at_time p n) S -> all_leave S q.
Proof.
  intros K E H. pose proof (carried_in_time a n q K p k E) as N.
  pose proof (proj1 (change_at a l accepted p k E)) as A.
  destruct (history_first p n) as (T & Q & P). pose proof (carried_plan a n q K p k E) as L.
  rewrite Q in L.
  apply (plan_drains channel packet channel_dec size cap fits T (tl (history (put f p) gone n))
    S (channels (put f p) k) (channel_rank k) q L); [eapply part_of_part; eauto|apply NoDup_nodup| |].
  - intros x c X. rewrite <- Q in X. pose proof (comes_known (put f p) k gone A _ x c X n N eq_refl) as Y.
    apply (known_channel (put f p) k (stage_of (put f p) (lid x) n) x); [|exact Y].
    apply (stage_in_time (put f p) k gone A); [apply Y|exact N].
  - intros c d X. rewrite <- Q in X. apply (held_falls (put f p) k gone A _ c d X n N eq_refl).
Qed.

End Change.
