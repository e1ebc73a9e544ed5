(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Service.v: VL arbitration serves every VL of its tables within a bound.

   In words: let VL x have a packet to send all the time, and let everything else be as
   it may: what other VLs have, and how large packets are.  If x has weight in the high
   table, at most as many packets of others as [high_bound] says leave the port before one
   of x ([high_served]).  If it has weight in the low table and VLHighLimit is below 255,
   [low_bound] says it ([low_served]).  With limit 255 a VL that only the low table names
   need not be served at all while the high table has packets ([low_starves]).
   Management and flow-control packets, which go before all data, are not counted.
   Proves, of doc/rules.md: rules B3, B4 and B5 (with low_turn: packet).

   A table is a circle: its list begins with the current entry.  [decide] is the port's
   decision, and what it charges.  conform.ml compares it with `dateline arbitrate`. *)

From Coq Require Import List ZArith Lia Bool.
Import ListNotations.

(* An entry has its number in the table, a VL, the weight that is left, and its whole
   weight, in blocks of 64 bytes. *)
Record entry := Entry { number : nat; vl : nat; left : nat; whole : nat }.

(* Both tables, and HighPriCounter in words of 4 bytes. *)
Record port := Port { high : list entry; low : list entry; counter : Z }.

Definition reloaded e := Entry (number e) (vl e) (whole e) (whole e).

Section Decide.
Variable limit : Z.                      (* VLHighLimit *)
Definition load := (limit * 1024)%Z.

(* The packet that a VL has to send, with credits for all of it: its bytes less one. *)
Variable packet : nat -> option nat.

Definition can_send e := match packet (vl e) with Some _ => 0 <? left e | None => false end.

(* The table from the entry that sends on; the entries passed start anew. *)
Fixpoint visit n (c : list entry) := match n, c with
  | S n, e :: rest => if can_send e then Some (e, rest) else visit n (rest ++ [reloaded e])
  | _, _ => None
  end.

Definition first_of c := visit (length c) c.

Definition bytes e := match packet (vl e) with Some b => S b | None => 1 end.
Definition blocks e := (bytes e + 63) / 64.
Definition words e := Z.of_nat ((bytes e + 3) / 4).

(* An entry that is used up is left at once. *)
Definition charged e rest :=
  if blocks e <? left e then Entry (number e) (vl e) (left e - blocks e) (whole e) :: rest
  else rest ++ [reloaded e].

Inductive table := HighTable | LowTable.

(* The counter below 0, or nothing to send in the high table: it is loaded, and the low
   table sends one packet if it has one. *)
Definition decide p : option (table * entry * port) :=
  let reload := (counter p <? 0)%Z || match first_of (high p) with None => true | _ => false end in
  let n := if reload then load else counter p in
  match (if reload then first_of (low p) else None), first_of (high p) with
  | Some (e, rest), _ => Some (LowTable, e, Port (high p) (charged e rest) n)
  | None, Some (e, rest) =>
      Some (HighTable, e, Port (charged e rest) (low p) (if (limit =? 255)%Z then n else n - words e)%Z)
  | None, None => None
  end.
End Decide.

Lemma some_words packet e : (1 <= words packet e)%Z.
Proof.
  unfold words, bytes. assert (H : forall b, 1 <= (S b + 3) / 4).
  { intros b. apply Nat.div_le_lower_bound; lia. }
  destruct (packet (vl e)) as [b|]; [specialize (H b)|specialize (H 0)]; lia.
Qed.

Lemma some_blocks packet e : 1 <= blocks packet e.
Proof.
  unfold blocks, bytes. destruct (packet (vl e)) as [b|]; apply Nat.div_le_lower_bound; lia.
Qed.

Section Service.
Variable x : nat.

Definition mine e := (vl e =? x) && (0 <? whole e).

(* x has weight in the circle.  What is left of a weight is never nothing: an entry that
   is used up is left, and reloaded. *)
Definition has_weight c := exists e, In e c /\ mine e = true.
Definition sane (c : list entry) := forall e, In e c -> 0 < whole e -> 0 < left e.
Definition ready c := has_weight c /\ sane c.

(* The weights before the first entry of x. *)
Fixpoint before (c : list entry) := match c with
  | [] => 0
  | e :: c => if mine e then 0 else left e + before c
  end.

Lemma before_app c d : has_weight c -> before (c ++ d) = before c.
Proof.
  intros (e & I & E). induction c as [|a c IH]; [contradiction|]. simpl.
  destruct (mine a) eqn:A; [reflexivity|]. destruct I as [->|I]; [congruence|].
  rewrite IH by exact I. reflexivity.
Qed.

Lemma turned e c : ready (e :: c) -> mine e = false -> ready (c ++ [reloaded e]) /\ has_weight c.
Proof.
  intros [(a & I & A) F] N. destruct I as [->|I]; [congruence|].
  assert (L : has_weight c) by (exists a; auto). split; [|exact L]. split.
  - exists a. split; [apply in_app_iff; auto|exact A].
  - intros b J B. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply F; simpl; auto|exact B].
Qed.

Section Table.
Variable packet : nat -> option nat.
Hypothesis sendable : packet x <> None.

Lemma mine_sends e c : ready (e :: c) -> mine e = true -> can_send packet e = true.
Proof.
  intros [_ F] M. unfold mine in M. apply andb_true_iff in M. destruct M as [V W].
  apply Nat.eqb_eq in V. apply Nat.ltb_lt in W. unfold can_send. rewrite V.
  destruct (packet x); [|contradiction]. apply Nat.ltb_lt, F; simpl; auto.
Qed.

(* Whoever sends, x has come no further away. *)
Lemma visit_ready n : forall c e rest, ready c -> visit packet n c = Some (e, rest) ->
  ready (e :: rest) /\ before (e :: rest) <= before c /\ can_send packet e = true.
Proof.
  induction n as [|n IH]; intros [|a c] e rest R V; try discriminate. simpl in V.
  destruct (can_send packet a) eqn:C.
  - injection V as <- <-. auto.
  - destruct (mine a) eqn:M; [rewrite (mine_sends a c R M) in C; discriminate|].
    destruct (turned a c R M) as [R' H]. destruct (IH _ _ _ R' V) as (A & B & D).
    split; [exact A|]. split; [|exact D]. rewrite before_app in B by exact H.
    cbn [before] in *. rewrite M. lia.
Qed.

(* Somebody does send. *)
Lemma visit_some c : forall d, ready (c ++ d) -> has_weight c ->
  exists e rest, visit packet (length c) (c ++ d) = Some (e, rest).
Proof.
  induction c as [|a c IH]; intros d R H; [destruct H as (e & [] & _)|]. cbn [length app visit] in *.
  destruct (can_send packet a) eqn:C; [eauto|].
  destruct (mine a) eqn:M; [rewrite (mine_sends a (c ++ d) R M) in C; discriminate|].
  destruct (turned a (c ++ d) R M) as [R' _]. rewrite <- app_assoc in *. apply IH; [exact R'|].
  destruct H as (e & [->|I] & E); [congruence|exists e; auto].
Qed.

Lemma first_some c : ready c -> exists e rest, first_of packet c = Some (e, rest).
Proof.
  intros R. destruct (visit_some c []) as (e & rest & V); rewrite ?app_nil_r in *; [exact R|apply R|].
  exists e, rest. exact V.
Qed.

(* A packet of another VL leaves less before x. *)
Lemma charged_less c e rest : ready c -> first_of packet c = Some (e, rest) -> vl e <> x ->
  ready (charged packet e rest) /\ before (charged packet e rest) < before c.
Proof.
  intros R V N. destruct (visit_ready _ _ _ _ R V) as (R' & B & C).
  assert (M : mine e = false).
  { unfold mine. apply Nat.eqb_neq in N. rewrite N. reflexivity. }
  destruct (turned e rest R' M) as [T H]. cbn [before] in B. rewrite M in B.
  assert (L : 0 < left e).
  { unfold can_send in C. destruct (packet (vl e)); [apply Nat.ltb_lt, C|discriminate]. }
  pose proof (some_blocks packet e) as K. unfold charged.
  destruct (Nat.ltb_spec (blocks packet e) (left e)).
  - split.
    + destruct R' as [[a [I A]] F]. split.
      * destruct I as [->|I]; [congruence|]. exists a. split; [right; exact I|exact A].
      * intros b [<-|J] W; [simpl in *; lia|apply F; simpl; auto].
    + cbn [before]. change (mine (Entry (number e) (vl e) (left e - blocks packet e) (whole e))) with (mine e).
      rewrite M. simpl. lia.
  - split; [exact T|]. rewrite before_app by exact H. lia.
Qed.
End Table.

(* ---- the port ------------------------------------------------------------------ *)

Variable limit : Z.

(* One packet that is not x's, though x could send. *)
Definition other p p' := exists packet t e, packet x <> None /\
  decide limit packet p = Some (t, e, p') /\ vl e <> x.

Inductive others : nat -> port -> port -> Prop :=
| NoneYet p : others 0 p p
| More n p p' p'' : other p p' -> others n p' p'' -> others (S n) p p''.

(* With x in the high table: at most one packet of the low table between two. *)
Definition high_bound p := 2 * before (high p) + 1.

Theorem high_served k p p' : (0 <= limit)%Z -> ready (high p) -> others k p p' -> k <= high_bound p.
Proof.
  intros L R O. unfold high_bound.
  assert (H : k <= 2 * before (high p) + if (counter p <? 0)%Z then 1 else 0);
    [|destruct (counter p <? 0)%Z; lia].
  induction O as [|k p p1 p2 (pk & t & e & X & D & N) O IH]; [lia|].
  destruct (first_some pk X (high p) R) as (h & hr & F). unfold decide in D. rewrite F in D.
  rewrite orb_false_r in D.
  assert (H : forall q n, Some (HighTable, h, Port (charged pk h hr) q n) = Some (t, e, p1) ->
    k <= 2 * before (high p1) + (if (counter p1 <? 0)%Z then 1 else 0) ->
    S k <= 2 * before (high p)).
  { intros q n E B. injection E as <- <- <-. simpl in B.
    destruct (charged_less pk X (high p) h hr R F N) as [_ Y]. destruct (n <? 0)%Z; lia. }
  assert (G : forall q n, Some (HighTable, h, Port (charged pk h hr) q n) = Some (t, e, p1) -> ready (high p1)).
  { intros q n E. injection E as <- <- <-. apply (charged_less pk X (high p) h hr R F N). }
  destruct (counter p <? 0)%Z eqn:C.
  - destruct (first_of pk (low p)) as [[e1 r1]|] eqn:F1.
    + injection D as <- <- <-. simpl in IH. specialize (IH R). unfold load in IH.
      destruct (Z.ltb_spec (limit * 1024) 0); [lia|]. lia.
    + specialize (H _ _ D (IH (G _ _ D))). lia.
  - specialize (H _ _ D (IH (G _ _ D))). lia.
Qed.

(* With x in the low table: its turn comes when the counter is below 0. *)
Definition low_bound p := (Z.of_nat (before (low p)) * (load limit + 2) + load limit + 1)%Z.

(* Theorem 10. *)
Theorem low_served k p p' : (0 <= limit < 255)%Z -> (counter p <= load limit)%Z -> ready (low p) ->
  others k p p' -> (Z.of_nat k <= low_bound p)%Z.
Proof.
  intros L N R O. unfold low_bound. assert (P : (0 <= load limit)%Z) by (unfold load; lia).
  assert (H : (Z.of_nat k <= Z.of_nat (before (low p)) * (load limit + 2) + Z.max 0 (counter p + 1))%Z);
    [|lia].
  induction O as [|k p p1 p2 (pk & t & e & X & D & U) O IH]; [nia|].
  destruct (first_some pk X (low p) R) as (l & lr & F). unfold decide in D. rewrite F in D.
  destruct (Z.eqb_spec limit 255); [lia|].
  assert (Low : Some (LowTable, l, Port (high p) (charged pk l lr) (load limit)) = Some (t, e, p1) ->
    (Z.of_nat (S k) <= Z.of_nat (before (low p)) * (load limit + 2) + Z.max 0 (counter p + 1))%Z).
  { intros E. injection E as <- <- <-. simpl in IH.
    destruct (charged_less pk X (low p) l lr R F U) as [Q Y].
    specialize (IH ltac:(lia) Q). nia. }
  destruct (first_of pk (high p)) as [[h hr]|] eqn:Fh; [|rewrite orb_true_r in D; apply Low, D].
  rewrite orb_false_r in D. destruct (Z.ltb_spec (counter p) 0) as [C|C]; [apply Low, D|].
  injection D as <- <- <-. simpl in IH. pose proof (some_words pk h).
  specialize (IH ltac:(lia) R). lia.
Qed.

End Service.

(* Any number of packets of the high table can go before x, whatever the low table has,
   if x is not in the high one. *)
Definition absent x (c : list entry) := forall e, In e c -> vl e <> x.

Lemma visit_absent x packet n : forall c e rest, absent x c -> visit packet n c = Some (e, rest) ->
  absent x (e :: rest).
Proof.
  induction n as [|n IH]; intros [|a c] e rest A V; try discriminate. simpl in V.
  destruct (can_send packet a); [injection V as <- <-; exact A|]. apply (IH _ _ _) in V; [exact V|].
  intros b I. apply in_app_iff in I. destruct I as [I|[<-|[]]]; [apply A; right; exact I|].
  apply (A a). left. reflexivity.
Qed.

Lemma charged_in packet e rest a : In a (charged packet e rest) -> exists b, In b (e :: rest) /\ vl b = vl a.
Proof.
  unfold charged. destruct (_ <? _); simpl; [intros [<-|I]; eauto|].
  rewrite in_app_iff. intros [I|[<-|[]]]; eauto.
Qed.

Lemma charged_ready y packet e rest : ready y (e :: rest) -> ready y (charged packet e rest).
Proof.
  intros [[a [I A]] F]. unfold charged. pose proof (some_blocks packet e).
  destruct (Nat.ltb_spec (blocks packet e) (left e)) as [L|L]; split.
  - destruct I as [->|I]; [eexists; split; [left; reflexivity|exact A]|].
    exists a. split; [right; exact I|exact A].
  - intros b [<-|J] W; [simpl in *; lia|apply F; simpl; auto].
  - destruct I as [->|I]; [exists (reloaded a)|exists a]; (split; [apply in_app_iff; simpl; auto|exact A]).
  - intros b J W. apply in_app_iff in J. destruct J as [J|[<-|[]]]; [apply F; simpl; auto|exact W].
Qed.

Theorem low_starves x y k p : x <> y -> (0 <= counter p)%Z -> ready y (high p) -> absent x (high p) ->
  exists p', others x 255 k p p'.
Proof.
  intros N. set (pk := fun v => if (v =? y) || (v =? x) then Some 0 else None).
  assert (Y : pk y <> None) by (unfold pk; rewrite Nat.eqb_refl; discriminate).
  assert (X : pk x <> None) by (unfold pk; rewrite Nat.eqb_refl, orb_true_r; discriminate).
  revert p. induction k as [|k IH]; intros p C R A; [eexists; apply NoneYet|].
  destruct (first_some y pk Y (high p) R) as (e & rest & F).
  pose proof (visit_absent x pk _ _ _ _ A F) as A'.
  destruct (visit_ready y pk Y _ _ _ _ R F) as (R' & _ & _).
  destruct (IH (Port (charged pk e rest) (low p) (counter p))) as [p' O].
  - exact C.
  - apply charged_ready, R'.
  - intros b I. apply charged_in in I. destruct I as (a & I & <-). apply A', I.
  - exists p'. eapply More; [|exact O]. exists pk, HighTable, e. split; [exact X|].
    split; [|apply A'; left; reflexivity]. unfold decide. rewrite F, orb_false_r.
    destruct (Z.ltb_spec (counter p) 0); [lia|reflexivity].
Qed.

(* Every table satisfies [sane] when it is new; one VL in each table, as in the tables of
   the engine. *)
Example fresh_tables : ready 1 [Entry 0 0 64 64; Entry 1 1 64 64; Entry 2 1 0 0].
Proof.
  split; [exists (Entry 1 1 64 64); simpl; auto|].
  intros e [<-|[<-|[<-|[]]]]; simpl; lia.
Qed.
