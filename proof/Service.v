(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Service.v: VL arbitration serves every VL of the low table within a bound.

   In words: let VL x stand in the low table with a weight above 0, and let it have a
   packet to send all the time.  If VLHighLimit is below 255, then at most as many
   packets of others as [bound] says leave the port before one of x, whatever else is
   sendable and however large packets are ([low_served]).  With limit 255 the VL need
   not be served at all while the high table has packets ([low_starves]).
   Proves, of doc/rules.md: rules B3, B4 and B5 (with low_turn: packet).

   The low table is a circle: its list begins with the current entry.  An entry has a
   VL, the weight that is left, and its whole weight.  Of the high table only the size
   of its packets counts, in words of 4 bytes. *)

From Coq Require Import List ZArith Lia.
Import ListNotations.

Record entry := Entry { vl : nat; left : nat; whole : nat }.

Section Low.
Variable sendable : nat -> Prop.         (* these VLs have a packet, and credits for it *)

Definition reloaded e := Entry (vl e) (whole e) (whole e).

(* One packet of the low table: of which VL, and the circle afterwards. *)
Inductive low_packet : list entry -> nat -> list entry -> Prop :=
| Keeps e rest blocks : sendable (vl e) -> 1 <= blocks < left e ->
    low_packet (e :: rest) (vl e) (Entry (vl e) (left e - blocks) (whole e) :: rest)
| UsesUp e rest blocks : sendable (vl e) -> 0 < left e <= blocks ->
    low_packet (e :: rest) (vl e) (rest ++ [reloaded e])
| Passes e rest u c : ~ (sendable (vl e) /\ 0 < left e) ->
    low_packet (rest ++ [reloaded e]) u c -> low_packet (e :: rest) u c.
End Low.

Section Service.
Variable x : nat.

(* The weights before the entry of x. *)
Fixpoint before (c : list entry) := match c with
  | [] => 0
  | e :: c => if vl e =? x then 0 else left e + before c
  end.

(* x stands in the circle, and its weight is not used up. *)
Definition listed c := exists e, In e c /\ vl e = x /\ 0 < left e /\ 0 < whole e.

(* Every entry of x has weight. *)
Definition fair c := forall e, In e c -> vl e = x -> 0 < left e /\ 0 < whole e.

Definition ready c := listed c /\ fair c.

Lemma before_app c d : listed c -> before (c ++ d) = before c.
Proof.
  intros (e & I & E & _). induction c as [|a c IH]; [contradiction|]. simpl.
  destruct (Nat.eqb_spec (vl a) x); [reflexivity|]. destruct I as [->|I]; [contradiction|].
  rewrite IH by exact I. reflexivity.
Qed.

Lemma ready_turned e c : ready (e :: c) -> vl e <> x -> ready (c ++ [reloaded e]) /\ ready c.
Proof.
  intros [(a & I & A) F] N. destruct I as [->|I]; [destruct A; contradiction|].
  assert (L : listed c) by (exists a; auto).
  split; split.
  - exists a. split; [apply in_app_iff; auto|exact A].
  - intros b J B. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply F; simpl; auto|contradiction].
  - exact L.
  - intros b J B. apply F; simpl; auto.
Qed.

(* A packet of another VL leaves less before x. *)
Lemma low_less (sendable : nat -> Prop) c u c' : sendable x -> ready c -> low_packet sendable c u c' ->
  ready c' \/ u = x.
Proof.
  intros S R L. induction L as [e rest b T B|e rest b T B|e rest u c T L IH].
  - destruct (Nat.eq_dec (vl e) x) as [E|N]; [auto|left].
    destruct (ready_turned _ _ R N) as [_ [(a & I & A) F]]. split.
    + exists a. simpl. auto.
    + intros d [<-|J] D; [contradiction|auto].
  - destruct (Nat.eq_dec (vl e) x) as [E|N]; [auto|left]. apply (ready_turned _ _ R N).
  - apply IH. destruct (Nat.eq_dec (vl e) x) as [E|N].
    + exfalso. apply T. rewrite E. split; [exact S|]. apply (proj2 R e); simpl; auto.
    + apply (ready_turned _ _ R N).
Qed.

Lemma low_before (sendable : nat -> Prop) c u c' : sendable x -> ready c -> low_packet sendable c u c' ->
  u <> x -> before c' < before c.
Proof.
  intros S R L. induction L as [e rest b T B|e rest b T B|e rest u c T L IH]; intros U.
  - simpl. destruct (Nat.eqb_spec (vl e) x); [contradiction|lia].
  - simpl. destruct (Nat.eqb_spec (vl e) x); [contradiction|].
    destruct (ready_turned _ _ R U) as [_ [Q _]]. rewrite before_app by exact Q. lia.
  - destruct (Nat.eq_dec (vl e) x) as [E|N].
    + exfalso. apply T. rewrite E. split; [exact S|]. apply (proj2 R e); simpl; auto.
    + destruct (ready_turned _ _ R N) as [Q Q']. specialize (IH Q U).
      rewrite before_app in IH by apply Q'. simpl. destruct (Nat.eqb_spec (vl e) x); [contradiction|lia].
Qed.

(* ---- the port ------------------------------------------------------------------ *)

Variable limit : Z.                      (* VLHighLimit *)
Definition load := (limit * 1024)%Z.

(* One packet that is not x's.  HighPriCounter counts words; below 0 it is the low
   table's turn. *)
Inductive other : Z * list entry -> Z * list entry -> Prop :=
| High n c words : (0 <= n)%Z -> (1 <= words)%Z -> other (n, c) ((n - words)%Z, c)
| Unlimited n c : limit = 255%Z -> other (n, c) (n, c)
| Low n c u c' (sendable : nat -> Prop) : sendable x -> low_packet sendable c u c' -> u <> x -> other (n, c) (load, c').

Inductive others : nat -> Z * list entry -> Z * list entry -> Prop :=
| None s : others 0 s s
| More n s s' s'' : other s s' -> others n s' s'' -> others (S n) s s''.

Definition bound c := (Z.of_nat (before c) * (load + 2) + load + 1)%Z.

(* Theorem 10. *)
Theorem low_served k n c s' : (0 <= limit < 255)%Z -> (n <= load)%Z -> ready c ->
  others k (n, c) s' -> (Z.of_nat k <= bound c)%Z.
Proof.
  intros L N R O. unfold bound. assert (P : (0 <= load)%Z) by (unfold load; lia).
  assert (H : (Z.of_nat k <= Z.of_nat (before c) * (load + 2) + Z.max 0 (n + 1))%Z).
  { remember (n, c) as s. revert n c N R Heqs.
    induction O as [s|k s s1 s2 E O IH]; intros n c N R ->; [unfold load; nia|].
    inversion E as [n0 c0 w A B|n0 c0 A|n0 c0 u c1 sd A B C]; subst.
    - specialize (IH (n - w)%Z c ltac:(lia) R eq_refl). lia.
    - lia.
    - destruct (low_less sd c u c1 A R B) as [Q|Q]; [|contradiction].
      specialize (IH load c1 ltac:(lia) Q eq_refl).
      pose proof (low_before sd c u c1 A R B C) as D. unfold load in *. nia. }
  lia.
Qed.

(* Any number of packets of the high table can go before x. *)
Theorem low_starves k c : limit = 255%Z -> others k (0%Z, c) (0%Z, c).
Proof.
  intros L. induction k as [|k IH]; [apply None|].
  eapply More; [apply Unlimited, L|exact IH].
Qed.

End Service.
