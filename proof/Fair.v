(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Fair.v: with fair arbitration every packet arrives, also while new ones keep coming.

   In words: let unicast tables have no cycle of dependencies, let buffers be queues of
   slots, each for one packet of any size, and let arbitration be fair: a channel whose
   first packet can move again and again is served.  Then each packet that is in the network
   comes to its end, whatever else is sent meanwhile ([every_packet_arrives]).
   Proves, of doc/rules.md: the third sentence of "Why it cannot deadlock".

   A run has no end: what happens at time n is [event n].  Fairness is all that is assumed
   of it.  That a port's VL arbitration is fair to its VLs is the subject of Service.v. *)

From Coq Require Import List Arith Lia.
From Dateline Require Import Net.
Import ListNotations.

Section Fair.
Variables C P : Type.
Variable C_dec : forall a b : C, {a = b} + {a <> b}.
Variable cap : C -> nat.
Hypothesis some_room : forall c, 1 <= cap c.
Variable T : tables C P.
Hypothesis no_cycle : acyclic (waits T).
Hypothesis unicast : forall c p, next T c p = [] \/ exists d, next T c p = [d].

(* The queue of each channel, the first packet first. *)
Definition state := C -> list P.
Definition set (q : state) c l : state := fun x => if C_dec c x then l else q x.

Inductive happens := Nothing | Sent (p : P) (c : C) | Served (c : C).

Inductive step (q : state) : happens -> state -> Prop :=
| Idle : step q Nothing q
| Send p c : inject T p c -> length (q c) < cap c -> step q (Sent p c) (set q c (q c ++ [p]))
| Move p c d l : q c = p :: l -> next T c p = [d] -> length (q d) < cap d -> c <> d ->
    step q (Served c) (set (set q c l) d (q d ++ [p]))
| Leave p c l : q c = p :: l -> next T c p = [] -> step q (Served c) (set q c l).

Variable q : nat -> state.
Variable event : nat -> happens.
Hypothesis begins : forall c, q 0 c = [].
Hypothesis goes_on : forall n, step (q n) (event n) (q (S n)).

Definition served n c := event n = Served c.

(* The first packet of c can move at time n. *)
Definition can_move n c := exists p l, q n c = p :: l /\
  (next T c p = [] \/ exists d, next T c p = [d] /\ length (q n d) < cap d).

(* While c is not served, its first packet can move again and again: then c is served. *)
Hypothesis fair : forall c n,
  (forall m, n <= m -> (forall k, n <= k < m -> ~ served k c) -> exists k, m <= k /\ (can_move k c \/ served k c)) ->
  exists k, n <= k /\ served k c.

Lemma served_dec n c : {served n c} + {~ served n c}.
Proof.
  unfold served. destruct (event n) as [|p x|x]; try (right; discriminate).
  destruct (C_dec x c) as [->|N]; [left; reflexivity|right]. intros E. injection E as E. contradiction.
Qed.

Lemma served_between c n m : (exists k, n <= k < m /\ served k c) \/ forall k, n <= k < m -> ~ served k c.
Proof.
  induction m as [|m [(k & K & S)|N]]; [right; intros; lia|left; exists k; split; [lia|exact S]|].
  destruct (le_lt_dec n m) as [L|L]; [|right; intros; lia].
  destruct (served_dec m c) as [S|S]; [left; exists m; split; [lia|exact S]|right].
  intros k K. destruct (Nat.eq_dec k m) as [->|]; [exact S|apply N; lia].
Qed.

(* What is known of every time. *)
Lemma always n c : length (q n c) <= cap c /\ forall p, In p (q n c) -> uses T p c.
Proof.
  revert c. induction n as [|n IH]; intros x; [rewrite begins; split; [simpl; lia|intros p []]|].
  destruct (goes_on n) as [|p c J R|p c d l E X R N|p c l E X]; unfold set.
  - apply IH.
  - destruct (C_dec c x) as [<-|]; [|apply IH]. rewrite app_length. simpl. split; [lia|].
    intros y Y. apply in_app_iff in Y. destruct Y as [Y|[<-|[]]]; [apply IH, Y|apply UseFirst, J].
  - pose proof (IH c) as [B U]. rewrite E in B, U. simpl in B.
    destruct (C_dec d x) as [<-|]; [|destruct (C_dec c x) as [<-|]; [|apply IH]].
    + rewrite app_length. simpl. split; [lia|]. intros y Y. apply in_app_iff in Y.
      destruct Y as [Y|[<-|[]]]; [apply IH, Y|]. eapply UseNext; [apply (U p); left; reflexivity|].
      rewrite X. left. reflexivity.
    + split; [lia|]. intros y Y. apply U. right. exact Y.
  - pose proof (IH c) as [B U]. rewrite E in B, U. simpl in B.
    destruct (C_dec c x) as [<-|]; [|apply IH]. split; [lia|]. intros y Y. apply U. right. exact Y.
Qed.

(* A packet's place in a queue; one step. *)
Definition at_place n c i p := nth_error (q n c) i = Some p.

Lemma stays n c i p : at_place n c i p -> ~ served n c -> at_place (S n) c i p.
Proof.
  unfold at_place, served. intros A N. destruct (goes_on n) as [|x y J R|x y d l E X R M|x y l E X]; unfold set.
  - exact A.
  - destruct (C_dec y c) as [->|]; [|exact A]. rewrite nth_error_app1; [exact A|]. apply nth_error_Some. congruence.
  - destruct (C_dec d c) as [->|]; [|destruct (C_dec y c) as [->|]; [congruence|exact A]].
    rewrite nth_error_app1; [exact A|]. apply nth_error_Some. congruence.
  - destruct (C_dec y c) as [->|]; [congruence|exact A].
Qed.

Lemma stays_long n c i p : at_place n c i p -> forall m, n <= m -> (forall k, n <= k < m -> ~ served k c) ->
  at_place m c i p.
Proof.
  intros A m L. induction L as [|m L IH]; intros N; [exact A|].
  apply stays; [apply IH; intros k K; apply N; lia|apply N; lia].
Qed.

Lemma moves_up n c i p : at_place n c (S i) p -> served n c -> at_place (S n) c i p.
Proof.
  unfold at_place, served. intros A S. destruct (goes_on n) as [|x y J R|x y d l E X R M|x y l E X];
    try discriminate; injection S as ->; rewrite E in A; simpl in A; unfold set.
  - destruct (C_dec d c) as [->|]; [contradiction|]. destruct (C_dec c c); [exact A|contradiction].
  - destruct (C_dec c c); [exact A|contradiction].
Qed.

(* When a channel has been served, it has room. *)
Lemma served_room n c : served n c -> length (q (S n) c) < cap c.
Proof.
  intros S. pose proof (always n c) as [B _]. unfold served in S.
  destruct (goes_on n) as [|x y J R|x y d l E X R M|x y l E X];
    try discriminate; injection S as ->; rewrite E in B; simpl in B; unfold set.
  - destruct (C_dec d c) as [->|]; [contradiction|]. destruct (C_dec c c); [lia|contradiction].
  - destruct (C_dec c c); [lia|contradiction].
Qed.

(* Every channel with a packet is served. *)
Lemma is_served c : forall n p, at_place n c 0 p -> exists k, n <= k /\ served k c.
Proof.
  induction (no_cycle c) as [c _ IH]. intros n p A. apply fair. intros m L N.
  pose proof (stays_long n c 0 p A m L N) as B.
  destruct (unicast c p) as [X|[d X]].
  - exists m. split; [lia|]. left. unfold at_place in B. destruct (q m c) as [|y l] eqn:E; [discriminate|].
    injection B as ->. exists p, l. auto.
  - assert (M : forall k, at_place k c 0 p -> length (q k d) < cap d -> can_move k c).
    { intros k K R. unfold at_place in K. destruct (q k c) as [|y l] eqn:E; [discriminate|].
      injection K as ->. exists p, l. split; [exact E|]. right. exists d. auto. }
    destruct (le_lt_dec (cap d) (length (q m d))) as [F|F]; [|exists m; auto].
    destruct (q m d) as [|y l] eqn:E; [simpl in F; pose proof (some_room d); lia|].
    assert (W : waits T c d).
    { exists p. split; [|rewrite X; left; reflexivity]. apply (always m c).
      apply nth_error_In with 0. exact B. }
    destruct (IH d W m y) as (k & K & V); [unfold at_place; rewrite E; reflexivity|].
    destruct (served_between c m (S k)) as [(j & J & Z)|Z].
    + exists j. split; [lia|right; exact Z].
    + exists (S k). split; [lia|left]. apply M; [|apply served_room, V].
      apply (stays_long m c 0 p B); [lia|exact Z].
Qed.

Lemma first_time c n k : n <= k -> served k c ->
  exists m, n <= m /\ served m c /\ forall j, n <= j < m -> ~ served j c.
Proof.
  induction k as [k IH] using (well_founded_induction lt_wf). intros K V.
  destruct (served_between c n k) as [(j & J & Z)|Z]; [apply (IH j); [lia|lia|exact Z]|].
  exists k. auto.
Qed.

(* A packet becomes the first one of its queue, and is served. *)
Lemma becomes_first c i : forall n p, at_place n c i p -> exists m, n <= m /\ at_place m c 0 p /\ served m c.
Proof.
  induction i as [|i IH]; intros n p A.
  - destruct (is_served c n p A) as (k & K & V). destruct (first_time c n k K V) as (m & M & V' & N).
    exists m. split; [exact M|]. split; [apply (stays_long n c 0 p A m M N)|exact V'].
  - destruct (q n c) as [|y l] eqn:E; [unfold at_place in A; rewrite E in A; discriminate|].
    assert (Y : at_place n c 0 y) by (unfold at_place; rewrite E; reflexivity).
    destruct (is_served c n y Y) as (k & K & V). destruct (first_time c n k K V) as (m & M & V' & N).
    destruct (IH (S m) p) as (r & R & Z).
    + apply moves_up; [apply (stays_long n c (S i) p A m M N)|exact V'].
    + exists r. split; [lia|exact Z].
Qed.

(* Theorem 16.  It leaves the network from a channel where the tables end. *)
Theorem every_packet_arrives c : forall n i p, at_place n c i p ->
  exists m e, n <= m /\ at_place m e 0 p /\ served m e /\ next T e p = [].
Proof.
  induction (no_cycle c) as [c _ IH]. intros n i p A.
  destruct (becomes_first c i n p A) as (m & M & B & V). destruct (unicast c p) as [X|[d X]].
  - exists m, c. auto.
  - assert (W : waits T c d).
    { exists p. split; [|rewrite X; left; reflexivity]. apply (always m c). apply nth_error_In with 0. exact B. }
    assert (G : at_place (S m) d (length (q m d)) p).
    { unfold at_place in *. unfold served in V.
      destruct (goes_on m) as [|x y J R|x y e l E Y R N|x y l E Y]; try discriminate; injection V as ->;
        rewrite E in B; injection B as ->; rewrite X in Y; [injection Y as <-|discriminate].
      unfold set. destruct (C_dec d d); [|contradiction]. rewrite nth_error_app2, Nat.sub_diag by lia. reflexivity. }
    destruct (IH d W _ _ _ G) as (r & e & R & Z). exists r, e. split; [lia|exact Z].
Qed.

End Fair.

(* There are such runs: in one channel packets are sent and served in turn. *)
Definition one_dec (a b : unit) : {a = b} + {a <> b} := match a, b with tt, tt => left eq_refl end.
Definition one_tables := Build_tables (fun (_ _ : unit) => True) (fun (_ _ : unit) => @nil unit).
Definition in_turn n := if Nat.even n then Sent unit unit tt tt else Served unit unit tt.
Fixpoint one_queue n : unit -> list unit := match n with
  | 0 => fun _ => []
  | S n => set unit unit one_dec (one_queue n) tt (if Nat.even n then one_queue n tt ++ [tt] else [])
  end.

Example fair_run : (forall n, step unit unit one_dec (fun _ => 1) one_tables (one_queue n) (in_turn n) (one_queue (S n))) /\
  forall c n, exists k, n <= k /\ served unit unit in_turn k c.
Proof.
  assert (Q : forall n, one_queue n tt = if Nat.even n then [] else [tt]).
  { induction n as [|n IH]; [reflexivity|]. rewrite Nat.even_succ, <- Nat.negb_even. simpl. unfold set.
    destruct (one_dec tt tt) as [_|N]; [|contradiction N; reflexivity]. rewrite IH. destruct (Nat.even n); reflexivity. }
  split.
  - intros n. unfold in_turn. cbn [one_queue]. pose proof (Q n) as E. destruct (Nat.even n).
    + apply Send; [exact I|]. rewrite E. apply le_n.
    + apply (Leave _ _ _ _ _ _ tt tt []); [exact E|reflexivity].
  - intros [] n. destruct (Nat.even n) eqn:E; [exists (S n)|exists n]; (split; [lia|]); unfold served, in_turn.
    + rewrite Nat.even_succ, <- Nat.negb_even, E. reflexivity.
    + rewrite E. reflexivity.
Qed.
