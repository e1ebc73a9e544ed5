(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Drain.v: a network without new packets becomes empty.

   In words: let tables stay as they are, and let no packet be added.  If ranks
   fall along each hop that packets can still make, then each sequence of moves
   and departures ends, and it ends only when all buffers are empty
   ([drains_from]).  So no packets block each other while others move, whatever
   the order of service.  It follows for tables without a cycle ([drains]), and
   for whatever part of them is in force when a change of tables stops
   ([drains_in_part]).  Transition.v and Checker.v use it for changes of tables and
   for what the checker accepts.
   Proves, of doc/rules.md: the second sentence of "Why it cannot deadlock".

   A channel that packets can come into is one of a finite list. *)

From Coq Require Import List Arith Lia.
From Dateline Require Import Net.
Import ListNotations.

Section Drain.
Variables C P : Type.
Variable C_dec : forall a b : C, {a = b} + {a <> b}.
Variable size : P -> nat.
Variable cap : C -> nat.
Hypothesis fits : forall p c, size p <= cap c.
Variable all : list C.
Hypothesis all_once : NoDup all.
Notation state := (state C P).
Notation set := (set C P C_dec).
Notation push := (push C P C_dec).
Notation run := (run C P C_dec size cap).

Section From.
(* The tables in force; where packets may be, now and later; and ranks. *)
Variable T : tables C P.
Variable may : P -> C -> Prop.
Variable rank : C -> nat.
Hypothesis may_all : forall p c, may p c -> In c all.
Hypothesis may_next : forall p c d, may p c -> In d (next T c p) -> may p d /\ rank d < rank c.

(* Steps of packets that are there. *)
Inductive serve (q : state) : state -> Prop :=
| Send c l p h t1 d t2 r : q c = l ++ Item p h (t1 ++ d :: t2) :: r -> room C P size cap q d p ->
    serve q (push (set q c (l ++ Item p h (t1 ++ t2) :: r)) d (Item p (c :: h) (next T d p)))
| Exit c l p h r : q c = l ++ Item p h [] :: r -> serve q (set q c (l ++ r)).

(* All that is in the network leaves, in any order of service. *)
Definition all_leave (q : state) :=
  Acc (fun b a => serve a b) q /\ ((forall q', ~ serve q q') -> forall c, q c = []).

(* What is still to do for a packet that comes into c: n is at least its rank. *)
Definition sum {A} (f : A -> nat) l := list_sum (map f l).

Fixpoint work n p c := match n with
  | 0 => 1
  | S n => S (sum (fun d => S (work n p d)) (next T c p))
  end.

Lemma sum_ext {A} (f g : A -> nat) l : (forall x, In x l -> f x = g x) -> sum f l = sum g l.
Proof. unfold sum. intros H. induction l; simpl; auto. rewrite H, IHl; simpl; auto. intros; apply H; simpl; auto. Qed.

Lemma sum_app {A} (f : A -> nat) l m : sum f (l ++ m) = sum f l + sum f m.
Proof. unfold sum. rewrite map_app, list_sum_app. reflexivity. Qed.

Lemma sum_cons {A} (f : A -> nat) x l : sum f (x :: l) = f x + sum f l.
Proof. reflexivity. Qed.

Lemma work_enough p : forall n m c, may p c -> rank c <= n -> rank c <= m -> work n p c = work m p c.
Proof.
  assert (Z : forall c, may p c -> rank c = 0 -> next T c p = []).
  { intros c U R. destruct (next T c p) as [|d l] eqn:E; auto.
    destruct (may_next p c d U) as [_ H]; [rewrite E; left; reflexivity|lia]. }
  induction n as [|n IH]; intros [|m] c U A B; simpl; auto.
  - rewrite Z by (auto; lia). reflexivity.
  - rewrite Z by (auto; lia). reflexivity.
  - f_equal. apply sum_ext. intros d I. f_equal.
    destruct (may_next p c d U I) as [V H]. apply IH; auto; lia.
Qed.

Definition left p c := work (rank c) p c.

Lemma left_next p c : may p c -> left p c = S (sum (fun d => S (left p d)) (next T c p)).
Proof.
  intros U. unfold left at 1. rewrite (work_enough p (rank c) (S (rank c)) c) by (auto; lia).
  simpl. f_equal. apply sum_ext. intros d I. f_equal.
  destruct (may_next p c d U I) as [V H]. apply work_enough; auto; lia.
Qed.

Definition to_do (i : item C P) := S (sum (fun d => S (left (pkt i) d)) (todo i)).
Definition total (q : state) := sum (fun c => sum to_do (q c)) all.

Lemma sum_set (q : state) c l : forall a, NoDup a -> In c a ->
  sum (fun x => sum to_do (set q c l x)) a + sum to_do (q c) =
  sum (fun x => sum to_do (q x)) a + sum to_do l.
Proof.
  induction a as [|b a IH]; intros N I; [contradiction|].
  inversion N as [|? ? F G]; subst. unfold sum in *. simpl.
  destruct I as [->|I].
  - unfold Net.set at 1. destruct (C_dec c c); [|congruence].
    assert (E : list_sum (map (fun x => list_sum (map to_do (set q c l x))) a) =
                list_sum (map (fun x => list_sum (map to_do (q x))) a)).
    { f_equal. apply map_ext_in. intros x X. unfold Net.set. destruct (C_dec c x); congruence. }
    rewrite E. lia.
  - specialize (IH G I). unfold Net.set at 1. destruct (C_dec c b); [congruence|]. lia.
Qed.

(* Packets are where they may be, and so are the channels that they wait for. *)
Definition good c (i : item C P) :=
  may (pkt i) c /\ forall d, In d (todo i) -> may (pkt i) d /\ rank d < rank c.

Lemma serve_less q q' : (forall c i, In i (q c) -> good c i) -> serve q q' -> total q' < total q.
Proof.
  intros I S. unfold total. destruct S as [c l p h t1 d t2 r E R|c l p h r E].
  - unfold Net.push.
    destruct (I c (Item p h (t1 ++ d :: t2))) as [U0 J]; [rewrite E; apply in_elt|]. simpl in U0, J.
    assert (U : may p d) by apply (J d (in_elt d t1 t2)).
    set (q1 := set q c (l ++ Item p h (t1 ++ t2) :: r)).
    pose proof (sum_set q1 d (q1 d ++ [Item p (c :: h) (next T d p)]) all all_once (may_all p d U)) as A.
    pose proof (sum_set q c (l ++ Item p h (t1 ++ t2) :: r) all all_once (may_all p c U0)) as B.
    fold q1 in B. rewrite E in B.
    rewrite sum_app, sum_cons in A. rewrite sum_app, sum_cons, sum_app, sum_cons in B.
    assert (X : to_do (Item p h (t1 ++ d :: t2)) = to_do (Item p h (t1 ++ t2)) + S (left p d)).
    { unfold to_do. simpl pkt. simpl todo. rewrite !sum_app, sum_cons.
      generalize (sum (fun d0 => S (left p d0)) t1) (sum (fun d0 => S (left p d0)) t2) (left p d). intros. lia. }
    assert (Y : to_do (Item p (c :: h) (next T d p)) = left p d).
    { rewrite (left_next p d U). reflexivity. }
    change (sum to_do []) with 0 in A. lia.
  - destruct (I c (Item p h [])) as [U _]; [rewrite E; apply in_elt|]. simpl in U.
    pose proof (sum_set q c (l ++ r) all all_once (may_all p c U)) as B. rewrite E in B.
    rewrite sum_app, sum_cons, sum_app in B. change (to_do (Item p h [])) with 1 in B. lia.
Qed.

Lemma serve_good q q' : (forall c i, In i (q c) -> good c i) -> serve q q' ->
  forall c i, In i (q' c) -> good c i.
Proof.
  intros G S. assert (K : forall c l m r, q c = l ++ m :: r -> forall i, In i (l ++ r) -> good c i).
  { intros c l m r E i I. apply G. rewrite E. apply in_app_iff in I. apply in_app_iff. simpl. tauto. }
  destruct S as [c l p h t1 d t2 r E R|c l p h r E]; intros x i I.
  - assert (H : good c (Item p h (t1 ++ d :: t2))) by (apply G; rewrite E; apply in_elt).
    destruct H as [U J]. simpl in U, J.
    apply in_push in I. destruct I as [I|[-> ->]].
    + apply in_set in I. destruct I as [[-> I]|[_ I]]; [|auto].
      apply in_elt_inv in I. destruct I as [->|I]; [|eapply K; eauto].
      split; [exact U|]. simpl. intros e F. apply J. apply in_app_iff in F. apply in_app_iff.
      simpl. tauto.
    + destruct (J d (in_elt d t1 t2)) as [V _]. split; [exact V|]. simpl. intros e F.
      apply (may_next p d e V F).
  - apply in_set in I. destruct I as [[-> I]|[_ I]]; [eapply K; eauto|auto].
Qed.

(* Theorem 1b.  From every such state each sequence of steps of the packets that are
   there ends, and only an empty network is an end. *)
Theorem drains_from q : (forall c i, In i (q c) -> good c i) -> all_leave q.
Proof.
  intros G. split.
  - remember (total q) as n. revert q G Heqn. induction n as [n IH] using lt_wf_ind.
    intros q G ->. constructor. intros q' S. eapply IH; eauto.
    + apply serve_less; auto.
    + eapply serve_good; eauto.
  - intros N c. destruct (q c) as [|i r] eqn:E; [reflexivity|]. exfalso.
    assert (M : head_can_move C P size cap q).
    { apply (progress C P size cap fits (fun a b => rank b < rank a)).
      - apply (ranked_acyclic _ _ rank). auto.
      - intros a j J d F. apply (G a j J), F.
      - exists c. rewrite E. discriminate. }
    destruct M as (a & p & h & t & s & F & H). destruct t as [|d t].
    + apply (N _ (Exit q a [] p h s F)).
    + apply (N _ (Send q a [] p h [] d t s F (H d (or_introl eq_refl)))).
Qed.

End From.

(* The same for tables U whose dependencies have no cycle. *)
Section Whole.
Variable U : tables C P.
Hypothesis all_channels : forall p c, uses U p c -> In c all.
Variable rank : C -> nat.
Hypothesis falls : forall c d, waits U c d -> rank d < rank c.

(* All packets are where U brings them, and wait for what U says. *)
Definition within (q : state) := forall c i, In i (q c) -> as_told C P U c i.

(* Tables changed among the parts of U; then S stays in force. *)
Corollary drains_within S q0 q : part_of U S -> within q0 -> run (part_of U) q0 q -> all_leave S q.
Proof.
  intros [HI HN] W R. apply (drains_from S (uses U) rank).
  - exact all_channels.
  - intros p c d X J. apply HN in J. split; [eapply UseNext; eauto|].
    apply falls. exists p. auto.
  - intros c i I. destruct (run_as_told C P C_dec size cap U q0 q W R c i I) as [X J].
    split; [exact X|]. intros d K. apply J in K. split; [eapply UseNext; eauto|].
    apply falls. exists (pkt i). auto.
Qed.

Corollary drains_in_part S q : part_of U S -> run (part_of U) (empty C P) q -> all_leave S q.
Proof. intros A. apply (drains_within S (empty C P)); [exact A|]. intros c i []. Qed.

Corollary drains q : run (part_of U) (empty C P) q -> all_leave U q.
Proof. apply drains_in_part, part_of_refl. Qed.

End Whole.

End Drain.

Arguments within {C P}.
