(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Credit.v: flow control with credits never lets a buffer overflow.

   In words: on one link and VL, with 12-bit counters that roll over, a data packet
   that arrives always finds room ([iba_room]), whatever is lost on the wire and
   however late flow-control packets are.  After the receiver has heard the sender's
   count and the sender the receiver's answer, with nothing under way, no credit is
   missing ([iba_whole]).  The buffer may be handed out in chunks of several blocks, of
   which no two packets share one.  With counters of any size above the receiver's buffer,
   the scheme of rules E1 does not overflow either ([pcie_room]), and one message with
   nothing else under way makes its credit whole ([pcie_whole]).
   Proves, of doc/rules.md: rules C1, C3, C4, C5 and E1.

   The wire is a list, oldest first.  Blocks, chunks and packets are counted in Z.
   conform.ml compares [act] and [pcie_act] with `dateline credits`. *)

From Coq Require Import List ZArith Lia Bool.
Import ListNotations.
Open Scope Z_scope.

(* ---- the scheme of the IBA --------------------------------------------------- *)

Inductive message := Data (blocks : Z) | Count (fctbs : Z).

(* Registers of both ends; how full the buffer is, in chunks; what is under way. *)
Record link := Link { fctbs : Z; cl : Z; abr : Z; full : Z; down : list message; back : list Z }.

(* Limits on their way back never fall: from l up to t. *)
Fixpoint rising l (b : list Z) t := match b with
  | [] => l <= t
  | x :: b => l <= x /\ rising x b t
  end.

Lemma rising_up b : forall l t, rising l b t -> l <= t.
Proof. induction b as [|x b IH]; simpl; intros l t H; [exact H|]. destruct H as [A B]. apply IH in B. lia. Qed.

Lemma rising_more b : forall l t t', rising l b t -> t <= t' -> rising l b t'.
Proof. induction b as [|x b IH]; simpl; intros l t t' H L; [lia|]. destruct H. eauto. Qed.

Lemma rising_add b : forall l t, rising l b t -> rising l (b ++ [t]) t.
Proof. induction b as [|x b IH]; simpl; intros l t H; [lia|]. destruct H. auto. Qed.

Lemma rising_less b : forall l l' t, rising l b t -> l' <= l -> rising l' b t.
Proof. destruct b as [|x b]; simpl; intros l l' t H L; [lia|]. destruct H. split; [lia|assumption]. Qed.

Section Iba.
Variables room chunk : Z.                (* the buffer, in chunks; blocks in a chunk *)
Hypothesis some_room : 0 <= room.
Hypothesis some_blocks : 1 <= chunk.

(* The chunks of a packet of n blocks. *)
Definition chunks n := (n + chunk - 1) / chunk.

Lemma chunks_few n : 0 <= n -> 0 <= chunks n <= n.
Proof.
  intros N. unfold chunks. split; [apply Z.div_pos; lia|].
  apply Z.lt_succ_r, Z.div_lt_upper_bound; [lia|]. nia.
Qed.

Definition M := 4096.
Definition half := 2048.

(* A packet has fewer than 2048 blocks.  It is sent if (CL - CR) mod 4096 <= 2048. *)
Inductive event : link -> link -> Prop :=
| Send f c a u d b n : 0 <= n < half -> (c - (f + n)) mod M <= half ->
    event (Link f c a u d b) (Link ((f + n) mod M) c a u (d ++ [Data n]) b)
| SendCount f c a u d b : event (Link f c a u d b) (Link f c a u (d ++ [Count f]) b)
| Arrive f c a u d b n : event (Link f c a u (Data n :: d) b) (Link f c ((a + n) mod M) (u + chunks n) d b)
| Lose f c a u m d b : event (Link f c a u (m :: d) b) (Link f c a u d b)
| Hear f c a u v d b : event (Link f c a u (Count v :: d) b) (Link f c v u d b)
| Free f c a u d b n : 0 <= n <= u -> event (Link f c a u d b) (Link f c a (u - n) d b)
| Advertise f c a u d b :
    event (Link f c a u d b) (Link f c a u d (b ++ [(a + Z.min (room - u) half) mod M]))
| Learn f c a u d v b : event (Link f c a u d (v :: b)) (Link f v a u d b)
| Miss f c a u d v b : event (Link f c a u d (v :: b)) (Link f c a u d b).

Inductive reached : link -> Prop :=
| Fresh : reached (Link 0 0 0 0 [] [])
| Next s s' : reached s -> event s s' -> reached s'.

(* The same with counters that never roll over.  The wire holds what was sent after
   position p, up to s. *)
Fixpoint follows p (d : list message) s := match d with
  | [] => p = s
  | Data n :: d => 0 <= n /\ follows (p + n) d s
  | Count v :: d => v = p /\ follows p d s
  end.

Definition wire m := match m with Data n => Data n | Count v => Count (v mod M) end.

(* What happens at an end, if it can. *)
Inductive action := ASend (n : Z) | ASendCount | AArrive | ALose | AFree (n : Z) | AAdvertise | ALearn | AMiss.

Definition act x k : option link := match x, k with
  | ASend n, Link f c a u d b =>
      if (0 <=? n) && (n <? half) && ((c - (f + n)) mod M <=? half)
      then Some (Link ((f + n) mod M) c a u (d ++ [Data n]) b) else None
  | ASendCount, Link f c a u d b => Some (Link f c a u (d ++ [Count f]) b)
  | AArrive, Link f c a u (Data n :: d) b => Some (Link f c ((a + n) mod M) (u + chunks n) d b)
  | AArrive, Link f c a u (Count v :: d) b => Some (Link f c v u d b)
  | ALose, Link f c a u (_ :: d) b => Some (Link f c a u d b)
  | AFree n, Link f c a u d b => if (0 <=? n) && (n <=? u) then Some (Link f c a (u - n) d b) else None
  | AAdvertise, Link f c a u d b => Some (Link f c a u d (b ++ [(a + Z.min (room - u) half) mod M]))
  | ALearn, Link f c a u d (v :: b) => Some (Link f v a u d b)
  | AMiss, Link f c a u d (v :: b) => Some (Link f c a u d b)
  | _, _ => None
  end.

Lemma act_event x k k' : act x k = Some k' -> event k k'.
Proof.
  destruct x, k as [f c a u [|[m|v] d] [|w b]]; simpl; intros E; try discriminate;
    try (destruct (_ && _) eqn:B; [|discriminate]; rewrite !andb_true_iff, ?Z.leb_le, ?Z.ltb_lt in B);
    injection E as <-; constructor; lia.
Qed.

Definition sound (k : link) := exists s l a p d b,
  fctbs k = s mod M /\ cl k = l mod M /\ abr k = a mod M /\
  down k = map wire d /\ back k = map (fun x => x mod M) b /\
  0 <= full k /\ a <= p /\ follows p d s /\ s <= l /\
  rising l b (a + Z.min (room - full k) half).

Lemma follows_up d : forall p s, follows p d s -> p <= s.
Proof. induction d as [|[n|v] d IH]; simpl; intros p s H; [lia| |]; destruct H as [E F]; apply IH in F; lia. Qed.

Lemma follows_data d : forall p s n, follows p d s -> 0 <= n -> follows p (d ++ [Data n]) (s + n).
Proof.
  induction d as [|[m|v] d IH]; simpl; intros p s n H N.
  - subst. auto.
  - destruct H. auto.
  - destruct H. auto.
Qed.

Lemma follows_count d : forall p s, follows p d s -> follows p (d ++ [Count s]) s.
Proof. induction d as [|[m|v] d IH]; simpl; intros p s H; [subst; auto| |]; destruct H; auto. Qed.

(* What the 12-bit comparison means. *)
Lemma may_send s l n : s <= l <= s + half -> 0 <= n < half ->
  (l mod M - (s mod M + n)) mod M <= half -> s + n <= l.
Proof.
  unfold half. intros L N H.
  replace ((l mod M - (s mod M + n)) mod M) with ((l - (s + n)) mod M) in H.
  - destruct (Z_le_gt_dec (s + n) l) as [E|E]; [exact E|]. exfalso.
    rewrite <- (Z_mod_plus_full _ 1) in H. rewrite Z.mod_small in H; unfold M in *; lia.
  - rewrite Zminus_mod_idemp_l. rewrite (Zminus_mod l (s mod M + n)), Zplus_mod_idemp_l.
    rewrite <- Zminus_mod. reflexivity.
Qed.

Ltac inv := match goal with H : sound _ |- _ =>
  destruct H as (s & l & x & p & dn & bk & F & C & A & D & B & U & XP & W & SL & R); simpl in * end.

Lemma sound_stays k k' : sound k -> event k k' -> sound k'.
Proof.
  intros I E. destruct E; inv.
  - subst. assert (L : s + n <= l).
    { apply may_send; auto. apply rising_up in R. apply follows_up in W. lia. }
    exists (s + n), l, x, p, (dn ++ [Data n]), bk. rewrite map_app. simpl.
    rewrite Zplus_mod_idemp_l. repeat split; auto. apply follows_data; [exact W|lia].
  - exists s, l, x, p, (dn ++ [Count s]), bk. rewrite map_app. simpl. subst.
    repeat split; auto. apply follows_count, W.
  - destruct dn as [|[m|v] dn]; simpl in D; try discriminate. injection D as -> ->.
    simpl in W. destruct W as [N W]. subst.
    pose proof (chunks_few m N). exists s, l, (x + m), (p + m), dn, bk. simpl. rewrite Zplus_mod_idemp_l.
    repeat split; auto; try lia. eapply rising_more; [exact R|lia].
  - destruct dn as [|m' dn]; simpl in D; try discriminate. injection D as -> ->. simpl in W.
    destruct m' as [m|v]; destruct W as [N W].
    + exists s, l, x, (p + m), dn, bk. simpl. repeat split; auto. lia.
    + exists s, l, x, p, dn, bk. simpl. repeat split; auto.
  - destruct dn as [|[m|v'] dn]; simpl in D; try discriminate. injection D as -> ->.
    simpl in W. destruct W as [-> W].
    exists s, l, p, p, dn, bk. simpl. repeat split; auto; try lia. eapply rising_more; [exact R|lia].
  - exists s, l, x, p, dn, bk. simpl. repeat split; auto; try lia.
    eapply rising_more; [exact R|]. lia.
  - exists s, l, x, p, dn, (bk ++ [x + Z.min (room - u) half]). rewrite map_app. simpl. subst.
    rewrite Zplus_mod_idemp_l. repeat split; auto. apply rising_add, R.
  - destruct bk as [|y bk]; simpl in B; try discriminate. injection B as -> ->. simpl in R.
    destruct R as [L R]. exists s, y, x, p, dn, bk. simpl. repeat split; auto. lia.
  - destruct bk as [|y bk]; simpl in B; try discriminate. injection B as -> ->. simpl in R.
    destruct R as [L R]. exists s, l, x, p, dn, bk. simpl. repeat split; auto.
    eapply rising_less; eauto.
Qed.

Lemma reached_sound k : reached k -> sound k.
Proof.
  intros R. induction R as [|k k' R IH E]; [|eapply sound_stays; eauto].
  exists 0, 0, 0, 0, [], []. simpl. unfold half. repeat split; auto; lia.
Qed.

(* Theorem 9a.  A packet that arrives finds room. *)
Theorem iba_room f c a u n d b : reached (Link f c a u (Data n :: d) b) -> u + chunks n <= room.
Proof.
  intros K. apply reached_sound in K. inv.
  destruct dn as [|[m|v] dn]; simpl in D; try discriminate. injection D as -> ->.
  simpl in W. destruct W as [N W]. pose proof (chunks_few m N).
  apply follows_up in W. apply rising_up in R. lia.
Qed.

(* Theorem 9b.  The sender states its count, the receiver hears and answers, the sender
   learns: then as many blocks as there are free chunks, up to 2048, may be sent. *)
Theorem iba_whole f c a u n : reached (Link f c a u [] []) ->
  let answer := (f + Z.min (room - u) half) mod M in
  reached (Link f answer f u [] []) /\
  (0 <= n < half -> n <= room - u -> (answer - (f + n)) mod M <= half).
Proof.
  intros K answer. split.
  - assert (K1 : reached (Link f c a u [Count f] [])) by (eapply Next; [exact K|apply SendCount]).
    assert (K2 : reached (Link f c f u [] [])) by (eapply Next; [exact K1|apply Hear]).
    assert (K3 : reached (Link f c f u [] [answer])) by (eapply Next; [exact K2|apply Advertise]).
    eapply Next; [exact K3|apply Learn].
  - intros N L. subst answer. rewrite Zminus_mod_idemp_l.
    replace (f + Z.min (room - u) half - (f + n)) with (Z.min (room - u) half - n) by lia.
    rewrite Z.mod_small; unfold M, half in *; lia.
Qed.

End Iba.

(* ---- the scheme of rules E1 ------------------------------------------------------ *)

(* Tx_Cnt, Crd_Bal, Fwd_Cnt; packets in the buffer and on the wire; messages back. *)
Record pcie := Pcie { tx : Z; bal : Z; fwd : Z; held : Z; flying : Z; credits : list Z }.

Section Pcie.
Variables (alloc counter : Z).           (* Buf_Alloc; counters roll over here *)
Hypothesis alloc_positive : 0 <= alloc.
Hypothesis counter_large : alloc < counter.

Inductive pcie_event : pcie -> pcie -> Prop :=
| PSend t b f h w m : 0 < b -> pcie_event (Pcie t b f h w m) (Pcie ((t + 1) mod counter) (b - 1) f h (w + 1) m)
| PArrive t b f h w m : 0 < w -> pcie_event (Pcie t b f h w m) (Pcie t b f (h + 1) (w - 1) m)
| PForward t b f h w m : 0 < h -> pcie_event (Pcie t b f h w m) (Pcie t b ((f + 1) mod counter) (h - 1) w m)
| PAdvertise t b f h w m : pcie_event (Pcie t b f h w m) (Pcie t b f h w (m ++ [f]))
| PLearn t b f h w v m :
    pcie_event (Pcie t b f h w (v :: m)) (Pcie t (alloc - (t - v) mod counter) f h w m)
| PMiss t b f h w v m : pcie_event (Pcie t b f h w (v :: m)) (Pcie t b f h w m).

Inductive pcie_action := PASend | PAArrive | PAForward | PAAdvertise | PALearn | PAMiss.

Definition pcie_act x k : option pcie := match x, k with
  | PASend, Pcie t b f h w m => if 0 <? b then Some (Pcie ((t + 1) mod counter) (b - 1) f h (w + 1) m) else None
  | PAArrive, Pcie t b f h w m => if 0 <? w then Some (Pcie t b f (h + 1) (w - 1) m) else None
  | PAForward, Pcie t b f h w m => if 0 <? h then Some (Pcie t b ((f + 1) mod counter) (h - 1) w m) else None
  | PAAdvertise, Pcie t b f h w m => Some (Pcie t b f h w (m ++ [f]))
  | PALearn, Pcie t b f h w (v :: m) => Some (Pcie t (alloc - (t - v) mod counter) f h w m)
  | PAMiss, Pcie t b f h w (v :: m) => Some (Pcie t b f h w m)
  | _, _ => None
  end.

Lemma pcie_act_event x k k' : pcie_act x k = Some k' -> pcie_event k k'.
Proof.
  destruct x, k as [t b f h w [|v m]]; simpl; intros E; try discriminate;
    try (destruct (Z.ltb_spec 0 b)); try (destruct (Z.ltb_spec 0 w)); try (destruct (Z.ltb_spec 0 h));
    try discriminate; injection E as <-; constructor; assumption.
Qed.

Inductive pcie_reached : pcie -> Prop :=
| PFresh : pcie_reached (Pcie 0 alloc 0 0 0 [])
| PNext s s' : pcie_reached s -> pcie_event s s' -> pcie_reached s'.

Definition pcie_sound k := exists t f g m, (* g: the forwards that the sender has heard of *)
  tx k = t mod counter /\ fwd k = f mod counter /\ credits k = map (fun x => x mod counter) m /\
  0 <= held k /\ 0 <= flying k /\ held k + flying k = t - f /\
  bal k = alloc - (t - g) /\ 0 <= bal k /\ rising g m f.

Lemma pcie_stays k k' : pcie_sound k -> pcie_event k k' -> pcie_sound k'.
Proof.
  intros (t & f & g & m & T & F & L & H & W & S & B & P & R) E. destruct E; simpl in *; subst.
  - exists (t + 1), f, g, m. simpl. rewrite Zplus_mod_idemp_l. repeat split; auto; lia.
  - exists t, f, g, m. simpl. repeat split; auto; lia.
  - exists t, (f + 1), g, m. simpl. rewrite Zplus_mod_idemp_l. repeat split; auto; try lia.
    eapply rising_more; [exact R|lia].
  - exists t, f, g, (m ++ [f]). rewrite map_app. simpl. repeat split; auto. apply rising_add, R.
  - destruct m as [|y m]; simpl in L; try discriminate. injection L as -> ->. simpl in R.
    destruct R as [L R]. pose proof (rising_up _ _ _ R) as Q.
    assert (X : (t mod counter - y mod counter) mod counter = t - y).
    { rewrite <- Zminus_mod. apply Z.mod_small. lia. }
    exists t, f, y, m. simpl. rewrite X. repeat split; auto; lia.
  - destruct m as [|y m]; simpl in L; try discriminate. injection L as -> ->. simpl in R.
    destruct R as [L R]. exists t, f, g, m. simpl. repeat split; auto. eapply rising_less; eauto.
Qed.

Lemma pcie_reached_sound k : pcie_reached k -> pcie_sound k.
Proof.
  intros K. induction K as [|k k' K IH E]; [|eapply pcie_stays; eauto].
  exists 0, 0, 0, []. simpl. repeat split; auto; lia.
Qed.

(* Theorem 9c.  What is in the buffer and on its way to it never exceeds the buffer. *)
Theorem pcie_room k : pcie_reached k -> held k + flying k <= alloc.
Proof.
  intros K. destruct (pcie_reached_sound k K) as (t & f & g & m & _ & _ & _ & _ & _ & S & B & P & R).
  apply rising_up in R. lia.
Qed.

(* Theorem 9d.  With nothing under way, one credit message gives the sender all free places. *)
Theorem pcie_whole t b f h : pcie_reached (Pcie t b f h 0 []) ->
  pcie_reached (Pcie t (alloc - h) f h 0 []).
Proof.
  intros K. pose proof (pcie_room _ K) as R. simpl in R.
  assert (X : (t - f) mod counter = h).
  { destruct (pcie_reached_sound _ K) as (t' & f' & g & m & T & F & L & H & W & S & B & P & _).
    simpl in *. subst t f. rewrite <- Zminus_mod. replace (t' - f') with h by lia.
    apply Z.mod_small. lia. }
  replace (alloc - h) with (alloc - (t - f) mod counter) by lia.
  eapply PNext; [eapply PNext; [exact K|apply PAdvertise]|apply PLearn].
Qed.

End Pcie.
