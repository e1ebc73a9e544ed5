(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Six.v: a repaired link that cannot come back in any order.

   In words: let the link from 2 to 3 of a ring of radix 6 be repaired.  Before, packets
   went round the ring on the way without it; afterwards each takes the shorter way again,
   with its VL by rules A5 and A6 at both times.  Let entries be written in any order, some
   of them at the same time, with all packets drained between any two moments, and let no
   entry be closed or take a third value.  At some moment the dependencies have a cycle
   ([no_order]), although neither the old tables nor the new ones have one
   ([both_ends_safe]).
   Proves, of doc/rules.md: "Between two sets of tables", that some changes have no order.

   Who is first: the packets from 1 to 4, or those from 4 to 1?  The first ones of the two
   close a ring that the others' old entry still holds. *)

From Coq Require Import List Arith Lia Bool.
From Dateline Require Import Net Torus.
Import ListNotations.

Definition radix := 6.

(* A packet: its source and destination.  A channel: where it begins, its direction, its VL. *)
Record packet := Packet { src : nat; dst : nat }.
Record channel := Channel { at_ : nat; minus : bool; vl : nat }.

(* Rules A4: the shorter way; ties go the way that does not wrap.  The VL says whether this
   way wraps: before the repair, too. *)
Definition shorter t a := goes_minus radix false (t <? a) t a.
Definition vl_of s t := if wraps false (shorter t s) s t then 1 else 0.

(* The shorter way uses the link between 2 and 3. *)
Definition by_the_link t a :=
  if shorter t a then ahead radix 3 a <? ahead radix t a else ahead radix a 2 <? ahead radix a t.
Definition before t a := if by_the_link t a then negb (shorter t a) else shorter t a.

(* What a switch's entry for a destination can be at a moment. *)
Inductive entry := Old | Written | New.

Definition directions e t a := match e with
  | Old => [before t a]
  | Written => [before t a; shorter t a]
  | New => [shorter t a]
  end.

Section Moment.
Variable e : nat -> nat -> entry.       (* destination, switch *)

Definition outputs p a := map (fun m => Channel a m (vl_of (src p) (dst p))) (directions (e (dst p) a) (dst p) a).
Definition far c := Dor.hop radix (minus c) (at_ c).

Definition ring : tables channel packet := Build_tables
  (fun p c => src p < radix /\ dst p < radix /\ src p <> dst p /\ In c (outputs p (src p)))
  (fun c p => if far c =? dst p then [] else outputs p (far c)).

(* What the entry of a switch allows. *)
Definition old_way t a := e t a <> New.
Definition new_way t a := e t a <> Old.

Lemma old_in t a p : old_way t a -> dst p = t -> In (Channel a (before t a) (vl_of (src p) t)) (outputs p a).
Proof. unfold old_way, outputs. intros H ->. destruct (e t a); simpl; auto; congruence. Qed.

Lemma new_in t a p : new_way t a -> dst p = t -> In (Channel a (shorter t a) (vl_of (src p) t)) (outputs p a).
Proof. unfold new_way, outputs. intros H ->. destruct (e t a); simpl; auto; congruence. Qed.

(* Entries on which old and new tables agree. *)
Lemma same_in t a p : before t a = shorter t a -> dst p = t ->
  In (Channel a (shorter t a) (vl_of (src p) t)) (outputs p a).
Proof.
  intros E D. destruct (e t a) eqn:F.
  - rewrite <- E. apply old_in; [unfold old_way; congruence|exact D].
  - apply new_in; [unfold new_way; congruence|exact D].
  - apply new_in; [unfold new_way; congruence|exact D].
Qed.

End Moment.

Notation ahead_ a := (Channel a false 0).
Notation back_ a := (Channel a true 0).

(* One hop of a packet, and its way from its source. *)
Ltac hop s t := match goal with |- In (Channel ?a _ _) _ => first
  [ exact (same_in _ t a (Packet s t) eq_refl eq_refl)
  | refine (new_in _ t a (Packet s t) _ eq_refl); assumption
  | refine (old_in _ t a (Packet s t) _ eq_refl); assumption ] end.
Ltac hops s t := refine (way_waits channel packet _ (Packet s t) _ _ _ _);
  [apply UseFirst; repeat split; [simpl; unfold radix; lia|simpl; unfold radix; lia|discriminate|hop s t]
  |repeat split; hop s t].

Lemma ring_of_six e : let R := waits (ring e) in
  chain R (ahead_ 1) [ahead_ 2; ahead_ 3] -> chain R (ahead_ 3) [ahead_ 4] ->
  chain R (ahead_ 4) [ahead_ 5; ahead_ 0] -> chain R (ahead_ 0) [ahead_ 1] -> ~ acyclic R.
Proof.
  simpl. intros. apply (cycle_blocks _ _ (ahead_ 1) [ahead_ 2; ahead_ 3; ahead_ 4; ahead_ 5; ahead_ 0]).
  simpl. tauto.
Qed.

Lemma six_back e : let R := waits (ring e) in
  chain R (back_ 4) [back_ 3; back_ 2] -> chain R (back_ 2) [back_ 1] ->
  chain R (back_ 1) [back_ 0; back_ 5] -> chain R (back_ 5) [back_ 4] -> ~ acyclic R.
Proof.
  simpl. intros. apply (cycle_blocks _ _ (back_ 4) [back_ 3; back_ 2; back_ 1; back_ 0; back_ 5]).
  simpl. tauto.
Qed.

(* Destination 4 has its new entry at switch 1, destination 1 its old one at switch 4. *)
Lemma ring_ahead e : new_way e 4 1 -> old_way e 1 4 -> ~ acyclic (waits (ring e)).
Proof.
  intros N O. destruct (e 4 2) eqn:E.
  - assert (F : old_way e 4 2) by (unfold old_way; congruence).
    apply (cycle_blocks _ _ (ahead_ 1) [back_ 2]). hops 1 4.
  - assert (F : new_way e 4 2) by (unfold new_way; congruence). apply ring_of_six; [hops 1 4|hops 3 5|hops 4 1|hops 0 2].
  - assert (F : new_way e 4 2) by (unfold new_way; congruence). apply ring_of_six; [hops 1 4|hops 3 5|hops 4 1|hops 0 2].
Qed.

(* And the other way round. *)
Lemma ring_back e : new_way e 1 4 -> old_way e 4 1 -> ~ acyclic (waits (ring e)).
Proof.
  intros N O. destruct (e 1 3) eqn:E.
  - assert (F : old_way e 1 3) by (unfold old_way; congruence).
    apply (cycle_blocks _ _ (back_ 4) [ahead_ 3]). hops 4 1.
  - assert (F : new_way e 1 3) by (unfold new_way; congruence). apply six_back; [hops 4 1|hops 2 0|hops 1 4|hops 5 3].
  - assert (F : new_way e 1 3) by (unfold new_way; congruence). apply six_back; [hops 4 1|hops 2 0|hops 1 4|hops 5 3].
Qed.

(* ---- all orders ------------------------------------------------------------------------ *)

(* An order of writes: what each entry is at moment i.  At first all are old, at last all
   are new.  A write takes time: the old and the new value are both possible at a moment. *)
Record order n (e : nat -> nat -> nat -> entry) := Order {
  all_old : forall t a, e 0 t a = Old;
  all_new : forall t a, e n t a = New;
  takes_time : forall i t a, e i t a = Old -> e (S i) t a <> New
}.

(* There are orders, of course: all entries at the same moment, for example. *)
Example all_at_once : order 2 (fun i _ _ => match i with 0 => Old | 1 => Written | _ => New end).
Proof. split; try reflexivity. intros [|[|i]] t a; discriminate. Qed.

(* Theorem 11.  At some moment the packets that can be under way close a cycle, even if all
   of those before have been drained. *)
Theorem no_order n e : order n e -> exists i, i <= n /\ ~ acyclic (waits (ring (e i))).
Proof.
  intros [O N T].
  assert (F : forall m, m <= n -> (forall i, i <= m -> e i 4 1 = Old /\ e i 1 4 = Old) \/
    exists i, i < m /\ (e i 4 1 = Old /\ e i 1 4 = Old) /\ (e (S i) 4 1 <> Old \/ e (S i) 1 4 <> Old)).
  { induction m as [|m IH]; intros L.
    - left. intros i I. replace i with 0 by lia. auto.
    - destruct IH as [A|(i & I & A)]; [lia| |right; exists i; split; [lia|exact A]].
      destruct (e (S m) 4 1) eqn:X; [destruct (e (S m) 1 4) eqn:Y|..];
        try (right; exists m; split; [lia|]; split; [apply A; lia|]; rewrite X, ?Y; (left; discriminate) || (right; discriminate)).
      left. intros i I. destruct (Nat.eq_dec i (S m)) as [->|]; [auto|apply A; lia]. }
  destruct (F n (le_n _)) as [A|(i & I & [A B] & C)].
  - destruct (A n (le_n _)) as [X _]. rewrite N in X. discriminate.
  - exists (S i). split; [lia|]. pose proof (T i 4 1 A) as A'. pose proof (T i 1 4 B) as B'.
    destruct C as [C|C]; [apply ring_ahead|apply ring_back]; assumption.
Qed.

(* ---- both ends are safe --------------------------------------------------------------- *)

(* All channels of a packet, by trying. *)
Fixpoint walk e p fuel c : list channel := c :: match fuel with
  | 0 => []
  | S n => flat_map (walk e p n) (next (ring e) c p)
  end.

Definition channel_eqb a b := (at_ a =? at_ b) && Bool.eqb (minus a) (minus b) && (vl a =? vl b).

Lemma channel_eqb_eq a b : channel_eqb a b = true -> a = b.
Proof.
  destruct a, b. unfold channel_eqb. simpl. rewrite !andb_true_iff, !Nat.eqb_eq, Bool.eqb_true_iff.
  intros [[-> ->] ->]. reflexivity.
Qed.

Definition ranks_fall e (rank : channel -> nat) := forallb (fun s => forallb (fun t => (s =? t) ||
  let p := Packet s t in let all := flat_map (walk e p radix) (outputs e p s) in
  forallb (fun c => forallb (fun d => existsb (channel_eqb d) all && (rank d <? rank c)) (next (ring e) c p)) all)
  (seq 0 radix)) (seq 0 radix).

Lemma fall_acyclic e rank : ranks_fall e rank = true -> acyclic (waits (ring e)).
Proof.
  unfold ranks_fall. rewrite forallb_forall. intros H. apply (ranked_acyclic _ _ rank).
  assert (K : forall p c, uses (ring e) p c -> In c (flat_map (walk e p radix) (outputs e p (src p))) /\
    forall d, In d (next (ring e) c p) ->
      In d (flat_map (walk e p radix) (outputs e p (src p))) /\ rank d < rank c).
  { intros [s t] c U. assert (B : s < radix /\ t < radix /\ s <> t).
    { induction U as [c (S & T & N & _)|c d U IH _]; auto. }
    destruct B as (S & T & N). specialize (H s ltac:(apply in_seq; lia)). rewrite forallb_forall in H.
    specialize (H t ltac:(apply in_seq; lia)). apply orb_true_iff in H.
    destruct H as [H|H]; [apply Nat.eqb_eq in H; contradiction|]. rewrite forallb_forall in H.
    simpl src. set (all := flat_map _ (outputs e (Packet s t) s)) in *.
    assert (L : forall c, In c all -> forall d, In d (next (ring e) c (Packet s t)) -> In d all /\ rank d < rank c).
    { intros x X d D. specialize (H x X). rewrite forallb_forall in H. specialize (H d D).
      apply andb_true_iff in H. destruct H as [E R]. apply Nat.ltb_lt in R. split; [|exact R].
      apply existsb_exists in E. destruct E as (y & Y & E). apply channel_eqb_eq in E. subst. exact Y. }
    assert (A : In c all).
    { clear H S T N. induction U as [c (_ & _ & _ & J)|c d U IH J].
      - apply in_flat_map. exists c. split; [exact J|left; reflexivity].
      - apply (L c IH d J). }
    split; [exact A|apply L, A]. }
  intros c d (p & U & J). apply (proj2 (K p c U) d J).
Qed.

(* Along the line that begins at 3; and by the theorem of whole rings. *)
Definition line c := if minus c then ahead radix 3 (at_ c) else ahead radix (at_ c) 2.
Definition whole c := ring_rank radix (minus c) (vl c =? 1) (at_ c).

Theorem both_ends_safe : acyclic (waits (ring (fun _ _ => Old))) /\ acyclic (waits (ring (fun _ _ => New))).
Proof. split; [apply (fall_acyclic _ line)|apply (fall_acyclic _ whole)]; reflexivity. Qed.
