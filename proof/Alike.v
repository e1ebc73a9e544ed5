(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Alike.v: a checker that judges classes of LIDs, which is proved right.

   In words: the LIDs of a switch and of its adapters have the same entries at all other
   switches, and the same path SLs.  One of them is judged; of another one it is seen that
   it is like the first, and its own switch is judged.  What is accepted so, some
   certificate proves without classes ([alike_right], [alike_change]): the theorems of
   Checker.v and Change.v hold for it.
   Proves, of doc/rules.md: "Certificates". *)

From Coq Require Import List Arith Bool Lia.
From Dateline Require Import Net Checker Change.
Import ListNotations.

Fixpoint same_list (l m : list nat) := match l, m with
  | [], [] => true
  | x :: l, y :: m => (x =? y) && same_list l m
  | _, _ => false
  end.

Lemma same_list_eq l : forall m, same_list l m = true -> l = m.
Proof.
  induction l as [|x l IH]; intros [|y m] H; try discriminate; [reflexivity|]. simpl in H.
  apply andb_true_iff in H. destruct H as [E H]. apply Nat.eqb_eq in E. subst.
  f_equal. apply IH, H.
Qed.

Section Alike.
Variables (f : fabric) (k : certificate) (gone : nat -> nat -> bool).
Variable like : nat -> nat.            (* the LID that is judged for a LID: itself, or another one *)

(* Packets to a LID have the sets of the one that it is like. *)
Definition shared steps starts := Certificate (rank k) (merged k) (set k)
  (fun t j s o => set_at k (like t) j s o) steps (nth_step k) (find_step k) starts (nth_start k)
  (find_start k) (root k) (up k) (depth k).
Notation k' := (shared (n_steps k) (n_starts k)).

(* LID t is as r at every switch but its own, to which the last hop is judged. *)
Definition check_alike m n t r := let h := fst (home f t) in
  (like r =? r) && existsb (Nat.eqb r) (lids f) && (fst (home f r) =? h) &&
  negb (multicast f t) && negb (multicast f r) && (maps f t 0 =? maps f r 0) &&
  below (n_switches f) (fun s =>
    if s =? h then forallb (check_source f k' n 0 t s) (sources f s) &&
      forallb (check_output f k' m 0 t s) (outputs f 0 s t)
    else same_list (outputs f 0 s t) (outputs f 0 s r) &&
      forallb (fun i => sls f s i t =? sls f s i r) (sources f s) &&
      forallb (fun o => match far_end f s o with
        | Some (s', _) => negb (s' =? h) || check_output f k' m 0 t s o
        | None => true
        end) (outputs f 0 s t)).

Definition check_one m n j t := if like t =? t then check_stage f k' m n j t
  else (j =? 0) && check_alike m n t (like t).

Fixpoint check_all a b (l : list pair) := match l with
  | [] => true
  | (t, j) :: l => let m := n_steps k t j in let n := n_starts k t j in
      from_to a m (fun x => check_step f k' gone (nth_step k x)) &&
      from_to b n (fun x => check_start f k' (nth_start k x)) &&
      check_one m n j t && check_all (max a m) (max b n) l
  end.

Definition check_on_alike := check_merged f k && check_all 0 0 (all_stages f) &&
  forallb (fun t => check_times f t &&
    (negb (delivers f) || negb (multicast f t) || check_group f k t)) (lids f).

Ltac split_and := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
  end.

(* ---- the certificate without classes ------------------------------------------------ *)

Definition most (count : nat -> nat -> nat) := list_max (map (fun x => count (fst x) (snd x)) (all_stages f)).
Notation M := (most (n_steps k)).
Notation N := (most (n_starts k)).
Definition whole := shared (fun _ _ => M) (fun _ _ => N).

Lemma most_above count t j : In (t, j) (all_stages f) -> count t j <= most count.
Proof.
  intros I. pose proof (proj1 (list_max_le _ (most count)) (le_n _)) as H. rewrite Forall_forall in H.
  apply H, in_map_iff. exists (t, j). auto.
Qed.

Lemma below_most count x : x < most count -> exists t j, In (t, j) (all_stages f) /\ x < count t j.
Proof.
  unfold most. induction (all_stages f) as [|[t j] l IH]; simpl; [lia|]. intros L.
  destruct (le_lt_dec (count t j) x) as [G|G].
  - destruct IH as (u & i & I & X); [lia|]. exists u, i. auto.
  - exists t, j. auto.
Qed.

Definition steps_good m := forall x, x < m -> check_step f whole gone (nth_step k x) = true.
Definition starts_good n := forall x, x < n -> check_start f whole (nth_start k x) = true.

Lemma all_good l : forall a b, steps_good a -> starts_good b -> check_all a b l = true ->
  forall t j, In (t, j) l -> steps_good (n_steps k t j) /\ starts_good (n_starts k t j) /\
    check_one (n_steps k t j) (n_starts k t j) j t = true.
Proof.
  induction l as [|[t j] l IH]; intros a b A B H u i I; [contradiction|]. simpl in H. split_and.
  assert (A' : steps_good (max a (n_steps k t j))).
  { intros x X. destruct (le_lt_dec a x); [|auto].
    match goal with H : from_to a _ _ = true |- _ => apply (from_to_all _ _ _ H x); lia end. }
  assert (B' : starts_good (max b (n_starts k t j))).
  { intros x X. destruct (le_lt_dec b x); [|auto].
    match goal with H : from_to b _ _ = true |- _ => apply (from_to_all _ _ _ H x); lia end. }
  destruct I as [I|I].
  - injection I as <- <-. repeat split; auto.
    + intros x X. apply A'. lia.
    + intros x X. apply B'. lia.
  - eapply IH; eassumption.
Qed.

Lemma from_to_below a b g : (forall x, x < b -> g x = true) -> from_to a b g = true.
Proof.
  intros H. unfold from_to. assert (G : forall d, d <= b - a -> below d (fun n => g (a + n)) = true).
  { induction d as [|d IH]; intros L; [reflexivity|]. simpl. rewrite H by lia. apply IH. lia. }
  apply G, le_n.
Qed.

Lemma below_true n g : (forall x, x < n -> g x = true) -> below n g = true.
Proof.
  induction n as [|n IH]; intros H; [reflexivity|]. simpl. rewrite H by lia. apply IH. auto.
Qed.

(* More steps do not harm. *)
Lemma more_steps m v s o o' a b : m <= M -> has_step k' m v s o o' a b = true ->
  has_step whole M v s o o' a b = true.
Proof.
  unfold has_step. simpl. intros L H. apply andb_true_iff in H. destruct H as [H G].
  apply andb_true_iff. split; [|exact G]. apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
Qed.

Lemma more_starts n v s i o a b : n <= N -> has_start k' n v s i o a b = true ->
  has_start whole N v s i o a b = true.
Proof.
  unfold has_start. simpl. intros L H. apply andb_true_iff in H. destruct H as [H G].
  apply andb_true_iff. split; [|exact G]. apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
Qed.

Lemma more_sources n j t s i : n <= N -> check_source f k' n j t s i = true ->
  check_source f whole N j t s i = true.
Proof.
  unfold check_source. simpl. intros L H. destruct (sl_list f (sls f s i t)); [reflexivity|].
  split_and. repeat (apply andb_true_iff; split); auto.
  rewrite forallb_forall in *. intros o O. eapply more_starts; eauto.
Qed.

Lemma more_outputs m j t s o : m <= M -> check_output f k' m j t s o = true ->
  check_output f whole M j t s o = true.
Proof.
  unfold check_output. simpl. intros L H. destruct (set k (set_at k (like t) j s o)); [reflexivity|].
  destruct (far_end f s o) as [[s' i]|]; [|reflexivity]. split_and.
  repeat (apply andb_true_iff; split); auto.
  rewrite forallb_forall in *. intros o' O. eapply more_steps; eauto.
Qed.

Hypothesis accepted : check_on_alike = true.

Lemma judged t j : In (t, j) (all_stages f) -> steps_good (n_steps k t j) /\ starts_good (n_starts k t j) /\
  check_one (n_steps k t j) (n_starts k t j) j t = true.
Proof.
  unfold check_on_alike in accepted. split_and.
  apply (all_good (all_stages f) 0 0); auto; intros x X; lia.
Qed.

Lemma stage_whole t j : In (t, j) (all_stages f) -> like t = t -> check_stage f whole M N j t = true.
Proof.
  intros I E. destruct (judged t j I) as (_ & _ & H). unfold check_one in H.
  rewrite (proj2 (Nat.eqb_eq _ _) E) in H. unfold check_stage in *.
  pose proof (most_above (n_steps k) t j I). pose proof (most_above (n_starts k) t j I).
  apply below_true. intros s S. pose proof (below_all _ _ H s S) as K. simpl in K. split_and.
  apply andb_true_iff. rewrite !forallb_forall in *. split.
  - intros i J. eapply more_sources; eauto.
  - intros o O. match goal with H : forall x, In x (so_far _ _ _ _) -> _ |- _ => specialize (H o O) end.
    split_and. apply andb_true_iff. split; [assumption|]. eapply more_outputs; eauto.
Qed.

Lemma in_stages t j : In (t, j) (all_stages f) -> In t (lids f).
Proof.
  unfold all_stages. rewrite in_flat_map. intros (u & U & J). apply in_map_iff in J.
  destruct J as (i & E & _). injection E as -> _. exact U.
Qed.

Lemma first_stage t : In t (lids f) -> In (t, 0) (all_stages f).
Proof.
  intros T. unfold all_stages. apply in_flat_map. exists t. split; [exact T|].
  apply in_map_iff. exists 0. split; [reflexivity|]. apply in_seq. lia.
Qed.

Lemma alike_whole t : In (t, 0) (all_stages f) -> like t <> t -> check_stage f whole M N 0 t = true.
Proof.
  intros I E. destruct (judged t 0 I) as (_ & _ & H). unfold check_one in H.
  rewrite (proj2 (Nat.eqb_neq _ _) E) in H. simpl in H. unfold check_alike in H.
  pose proof (most_above (n_steps k) t 0 I) as LM. pose proof (most_above (n_starts k) t 0 I) as LN.
  set (r := like t) in *. set (h := fst (home f t)) in *. split_and.
  repeat match goal with
  | H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H
  | H : negb _ = true |- _ => apply negb_true_iff in H
  end.
  match goal with H : existsb _ _ = true |- _ => apply existsb_exists in H; destruct H as (x & R & X) end.
  apply Nat.eqb_eq in X. subst x.
  assert (L : like r = r) by assumption. assert (HR : fst (home f r) = h) by assumption.
  assert (MT : multicast f t = false) by assumption. assert (MR : multicast f r = false) by assumption.
  assert (MP : maps f t 0 = maps f r 0) by assumption.
  match goal with H : below _ _ = true |- _ => pose proof (below_all _ _ H) as B end.
  pose proof (stage_whole r 0 (first_stage r R) L) as W. unfold check_stage in W.
  pose proof (below_all _ _ W) as V. clear W. cbv beta in B, V.
  (* away from home *)
  assert (O : forall s, s < n_switches f -> s <> h -> outputs f 0 s t = outputs f 0 s r).
  { intros s S D. specialize (B s S). rewrite (proj2 (Nat.eqb_neq _ _) D) in B. split_and.
    apply same_list_eq. assumption. }
  assert (G : forall s, s < n_switches f -> s <> h -> goes_home f 0 r s = true -> goes_home f 0 t s = true).
  { intros s S D. unfold goes_home. rewrite MT, MR, (O s S D).
    destruct (negb (delivers f)); [auto|]. simpl. destruct (outputs f 0 s r) as [|o [|? ?]]; auto.
    rewrite HR. rewrite (proj2 (Nat.eqb_neq h s)) by congruence. simpl. rewrite orb_false_r.
    intros ->. reflexivity. }
  assert (C : forall s i, s < n_switches f -> s <> h -> copies f 0 s i t = copies f 0 s i r).
  { intros s i S D. unfold copies. rewrite MT, MR. apply O; assumption. }
  unfold check_stage. apply below_true. intros s S. specialize (B s S). specialize (V s S).
  simpl so_far in *. destruct (Nat.eqb_spec s h) as [D|D].
  - split_and. apply andb_true_iff. rewrite !forallb_forall in *. split.
    + intros i J. eapply more_sources; eauto.
    + intros o J. apply andb_true_iff. split; [reflexivity|]. eapply more_outputs; eauto.
  - apply andb_true_iff in V. destruct V as [V1 V2]. apply andb_true_iff in B. destruct B as [B B3].
    apply andb_true_iff in B. destruct B as [_ B2].
    rewrite forallb_forall in V1, V2, B2, B3. apply andb_true_iff. rewrite !forallb_forall. split.
    + intros i J. specialize (V1 i J). specialize (B2 i J). apply Nat.eqb_eq in B2.
      unfold check_source in *. rewrite B2. destruct (sl_list f (sls f s i r)); [reflexivity|].
      split_and. apply andb_true_iff. split; [apply andb_true_iff; split; [assumption|apply G; assumption]|].
      rewrite (C s i S D), MP. simpl set_at in *. fold r. rewrite L in *. assumption.
    + intros o J. apply andb_true_iff. split; [reflexivity|]. specialize (B3 o J).
      rewrite (O s S D) in J. specialize (V2 o J). apply andb_true_iff in V2. destruct V2 as [_ V2].
      destruct (far_end f s o) as [[s' i]|] eqn:F.
      * destruct (Nat.eqb_spec s' h) as [D'|D']; [apply (more_outputs _ _ _ _ _ LM), B3|].
        unfold check_output in *. rewrite F in *. simpl set_at in *. simpl set in *. fold r. rewrite L in *.
        destruct (set k (set_at k r 0 s o)); [reflexivity|]. split_and.
        match goal with H : (_ <? _) = true |- _ => pose proof (proj1 (Nat.ltb_lt _ _) H) as S' end.
        apply andb_true_iff. split; [apply andb_true_iff; split; [assumption|apply G; assumption]|].
        rewrite (C s' i S' D'), MP. assumption.
      * unfold check_output. rewrite F. destruct (set _ _); reflexivity.
Qed.

Lemma stages_whole l a b : (forall t j, In (t, j) l -> In (t, j) (all_stages f)) ->
  check_stages f whole gone a b l = true.
Proof.
  revert a b. induction l as [|[t j] l IH]; intros a b I; [reflexivity|]. simpl.
  repeat (apply andb_true_iff; split).
  - apply from_to_below. intros x X. destruct (below_most _ x X) as (u & i & U & Y).
    destruct (judged u i U) as (H & _). apply H, Y.
  - apply from_to_below. intros x X. destruct (below_most _ x X) as (u & i & U & Y).
    destruct (judged u i U) as (_ & H & _). apply H, Y.
  - assert (T : In (t, j) (all_stages f)) by (apply I; left; reflexivity).
    destruct (Nat.eq_dec (like t) t) as [E|E]; [apply stage_whole; assumption|].
    destruct (judged t j T) as (_ & _ & H). unfold check_one in H.
    rewrite (proj2 (Nat.eqb_neq _ _) E) in H. apply andb_true_iff in H. destruct H as [H _].
    apply Nat.eqb_eq in H. subst j. apply alike_whole; assumption.
  - apply IH. intros u i U. apply I. right. exact U.
Qed.

Lemma on_alike : check_on f whole gone = true.
Proof.
  unfold check_on. pose proof accepted as A. unfold check_on_alike in A. split_and.
  repeat (apply andb_true_iff; split); auto. apply stages_whole. auto.
Qed.

End Alike.

(* Theorem.  What is accepted by classes is accepted one by one, with another certificate. *)
Definition check_classes f k like := check_on_alike f k nothing_gone like.

Theorem alike_right f k like : check_classes f k like = true -> exists k', check f k' = true.
Proof. intros A. exists (whole f k like). apply on_alike, A. Qed.

(* And so are changes: each period has its own classes. *)
Fixpoint check_change_classes f gone (l : list (period * certificate * (nat -> nat))) := match l with
  | [] => true
  | (p, k, like) :: r => check_on_alike (put f p) k gone like &&
      match r with [] => true | (p', _, _) :: _ => continues f gone p p' end && check_change_classes f gone r
  end.

Theorem alike_change f gone l : check_change_classes f gone l = true ->
  exists l', map fst l' = map (fun x => fst (fst x)) l /\ check_change f gone l' = true.
Proof.
  induction l as [|[[p k] like] l IH]; intros H; [exists []; auto|]. simpl in H.
  apply andb_true_iff in H. destruct H as [H R]. apply andb_true_iff in H. destruct H as [A C].
  destruct (IH R) as (l' & E & H). exists ((p, whole (put f p) k like) :: l'). split; [simpl; congruence|].
  simpl. rewrite (on_alike (put f p) k gone like A), H, andb_true_r. simpl.
  destruct l as [|[[p' k'] like'] l]; destruct l' as [|[q k2] l']; try discriminate; [reflexivity|].
  injection E as -> _. exact C.
Qed.
