(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Alike.v: a checker that judges once what is alike, which is proved right.

   In words: most of what a change could touch it leaves as it was.  Tables and what
   packets do there are judged once, before the change, and hold in every period with its
   own ranks.  In a stage only those switches are judged again at which, or next to which,
   something differs: from the tables before the change in a period's first stage, from
   the stage before in others.  And the LIDs of a switch and of its adapters have the same
   entries at all other switches, and the same path SLs.  One of them is judged; of another
   one it is seen that it is like the first, and its own switch is judged.

   What is accepted so, some certificates prove one by one ([alike_right],
   [alike_change]): the theorems of Checker.v and Change.v hold for it.
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

(* ---- what a period writes -------------------------------------------------------- *)

(* What changes in a period, as stages, and what there is from each of them on.  The latest
   stage is the first of the list. *)
Definition latest {A} (l : list (nat * A)) j := find (fun x => fst x <=? j) l.
Definition begins {A} (l : list (nat * A)) j := existsb (fun x => fst x =? j) l.

Lemma latest_same {A} (l : list (nat * A)) j : begins l (S j) = false -> latest l (S j) = latest l j.
Proof.
  unfold latest, begins. induction l as [|x l IH]; [reflexivity|]. cbn [existsb find]. intros H.
  apply orb_false_iff in H. destruct H as [E H]. apply Nat.eqb_neq in E. rewrite (IH H).
  destruct (Nat.leb_spec (fst x) (S j)) as [L|L]; destruct (Nat.leb_spec (fst x) j) as [M|M];
    try reflexivity; lia.
Qed.

(* What a change moves: LIDs, and at which switches.  All else has the tables of the fabric,
   as they were before the change. *)
Record moves := Moves {
  moving : nat -> bool;                 (* LID *)
  moving_at : nat -> nat -> bool        (* LID, switch *)
}.

(* A period as what it writes. *)
Record writes := Writes {
  times : nat;
  stages : nat -> nat -> nat;           (* LID, time *)
  maps_in : nat -> nat -> nat;          (* LID, stage *)
  written : nat -> nat -> list (nat * list nat) (* LID, switch: outputs, by stages *)
}.

Definition outputs_in f v w j s t := if moving v t && moving_at v t s then match latest (written w t s) j with
    | Some x => snd x
    | None => outputs f 0 s t
    end
  else outputs f 0 s t.

Definition period_of f v w := Period (times w)
  (fun t i => if moving v t then stages w t i else 0)
  (fun t j => if moving v t then maps_in w t j else maps f t 0)
  (outputs_in f v w).

(* Tables that stay: one period, in which nothing moves. *)
Definition nothing := Moves (fun _ => false) (fun _ _ => false).
Definition still := Writes 1 (fun _ _ => 0) (fun _ _ => 0) (fun _ _ => []).

(* What is found of a period, beside a certificate for the tables before the change.  It
   need not be trusted. *)
Record findings := Findings {
  rank_in : nat -> nat -> nat -> nat;
  found : nat -> nat -> list (nat * (nat -> nat)); (* LID, switch: sets by outputs, by stages *)
  find_in : nat -> nat -> nat -> nat -> nat -> nat -> nat;
  counts_in : nat -> bool
}.

Definition part := (writes * findings)%type.

Section Alike.
Variables (f : fabric) (gone : nat -> nat -> bool).
Variable k : certificate.              (* of the tables before the change *)
Variable like : nat -> nat.            (* the LID that is judged for a LID: itself, or another one *)
Variable what : moves.
Variable found_at : nat -> nat -> bool. (* LID, switch: some period has sets of its own there *)

(* Packets to a LID have the sets of the one that it is like. *)
Definition shared := Certificate (rank k) (merged k) (set k)
  (fun t _ s o => set_at k (like t) 0 s o) (n_steps k) (nth_step k) (find_step k) (counts k)
  (n_starts k) (nth_start k) (find_start k) (root k) (up k) (depth k).

Definition set_in (x : part) t j s o := if moving what t && found_at (like t) s then
    match latest (found (snd x) (like t) s) j with
    | Some y => snd y o
    | None => set_at k (like t) 0 s o
    end
  else set_at k (like t) 0 s o.

(* In a period what counts before the change counts, too. *)
Definition counts_here (x : part) n := counts k n || counts_in (snd x) n.

Definition here (x : part) := Certificate (rank_in (snd x)) (merged k) (set k) (set_in x) (n_steps k)
  (nth_step k) (find_in (snd x)) (counts_here x) (n_starts k) (nth_start k) (find_start k) (root k)
  (up k) (depth k).

Definition tables_of (x : part) := put f (period_of f what (fst x)).

(* Is all as before the change at a switch; there, and where it sends to? *)
Definition rests t s := negb (moving_at what t s) && negb (found_at (like t) s).

Definition near t s := negb (rests t s) || existsb (fun o => match far_end f s o with
  | Some (s', _) => negb (rests t s')
  | None => false
  end) (outputs f 0 s t).

(* What leaves a switch, where something is new there, or where it comes to. *)
Definition check_place g c m n j t (new : nat -> bool) s := let h := new s in
  (negb h || forallb (check_source g c n j t s) (sources g s)) &&
  forallb (fun o => (negb h || check_kept c j t s o) &&
    (negb (h || match far_end g s o with Some (s', _) => new s' | None => false end) ||
     check_output g c m j t s o)) (so_far g j s t).

(* Does something begin at a switch in a stage? *)
Definition begins_at (x : part) t s j := begins (written (fst x) t s) j || begins (found (snd x) (like t) s) j.

(* A stage, at the switches of a list: at all where other maps are new than before the change. *)
Definition check_near g c (x : part) m n t l j :=
  let fresh := match j with 0 => true | S i => negb (maps g t j =? maps g t i) end in
  let new := fun s => fresh || begins_at x t s j in
  if fresh && negb (maps g t j =? maps f t 0) then below (n_switches f) (check_place g c m n j t new)
  else forallb (check_place g c m n j t new) l.

(* From period to period: only at these switches something moves. *)
Fixpoint check_next t near (l : list (part * fabric * certificate)) := match l with
  | (_, g, _) :: ((_, g', _) :: _) as r =>
      let j := stage_of g t (pred (n_times (now g))) in let i := stage_of g' t 0 in
      (maps g t j =? maps g' t i) && forallb (fun s => forallb (fun o =>
        gone s o || existsb (Nat.eqb o) (outputs g' i s t)) (outputs g j s t)) near && check_next t near r
  | _ => true
  end.

(* The switches below s that are near; the others are judged. *)
Fixpoint check_far c m n t s := match s with
  | 0 => Some []
  | S s => if near t s then match check_far c m n t s with Some l => Some (s :: l) | None => None end
      else if check_place f c m n 0 t (fun _ => true) s then check_far c m n t s else None
  end.

Definition check_moving (parts : list (part * fabric * certificate)) c m n t :=
  negb (delivers f) && (like t =? t) && match check_far c m n t (n_switches f) with
  | None => false
  | Some some =>
  forallb (fun p : part * fabric * certificate => let (y, c) := p in let (x, g) := y in
    check_times g t && forallb (check_near g c x m n t some) (seq 0 (S (last_stage g t)))) parts &&
  check_next t some parts
  end.

(* May r stand for LID t?  They have the same switch. *)
Definition check_kin t r := (like r =? r) && existsb (Nat.eqb r) (lids f) &&
  (fst (home f r) =? fst (home f t)) &&
  negb (multicast f t) && negb (multicast f r) && (maps f t 0 =? maps f r 0).

Definition check_away t r s := same_list (outputs f 0 s t) (outputs f 0 s r) &&
  forallb (fun i => sls f s i t =? sls f s i r) (sources f s).

(* What leaves a switch for h, that of LID t. *)
Definition check_hops g c m j t h s := forallb (fun o => match far_end f s o with
  | Some (s', _) => negb (s' =? h) || check_output g c m j t s o
  | None => true
  end) (so_far g j s t).

(* LID t is as r at every switch but its own, to which the last hop is judged. *)
Definition check_alike c m n t r := let h := fst (home f t) in check_kin t r &&
  below (n_switches f) (fun s =>
    if s =? h then forallb (check_source f c n 0 t s) (sources f s) &&
      forallb (check_output f c m 0 t s) (outputs f 0 s t)
    else check_away t r s && check_hops f c m 0 t h s).

(* The same for LIDs that move: at the same switches, and not at their own one, where and
   near which nothing differs from before the change. *)
Fixpoint check_far_alike c m n t r h s := match s with
  | 0 => Some []
  | S s => if s =? h then
        if negb (near t s) && check_place f c m n 0 t (fun _ => true) s then check_far_alike c m n t r h s else None
      else if check_away t r s && Bool.eqb (moving_at what t s) (moving_at what r s) then
        if near t s then match check_far_alike c m n t r h s with Some l => Some (s :: l) | None => None end
        else if check_hops f c m 0 t h s then check_far_alike c m n t r h s else None
      else None
  end.

Fixpoint same_written (l m : list (nat * list nat)) := match l, m with
  | [], [] => true
  | x :: l, y :: m => (fst x =? fst y) && same_list (snd x) (snd y) && same_written l m
  | _, _ => false
  end.

(* They move in the same stages, and with the same maps all the time. *)
Definition check_moving_alike (parts : list (part * fabric * certificate)) c m n t r := let h := fst (home f t) in
  negb (delivers f) && moving what r && (h <? n_switches f) && check_kin t r &&
  match check_far_alike c m n t r h (n_switches f) with
  | None => false
  | Some some =>
  forallb (fun p : part * fabric * certificate => let (y, c) := p in let (x, g) := y in
    check_times g t && (last_stage g t <=? last_stage g r) &&
    forallb (fun j => (maps g t j =? maps f t 0) && (maps g r j =? maps f t 0)) (seq 0 (S (last_stage g t))) &&
    forallb (fun s => same_written (written (fst x) t s) (written (fst x) r s) &&
      forallb (fun j => negb ((j =? 0) || begins_at x t s j) || check_hops g c m j t h s)
        (seq 0 (S (last_stage g t)))) some) parts &&
  check_next t some parts
  end.

Definition check_lid parts c m n t := if moving what t then
    if like t =? t then check_moving parts c m n t else check_moving_alike parts c m n t (like t)
  else (if like t =? t then below (n_switches f) (check_place f c m n 0 t (fun _ => true))
     else negb (moving what (like t)) && check_alike c m n t (like t)) &&
    (negb (delivers f) || negb (multicast f t) || check_group (put f (period_of f nothing still)) c t).

(* A step is right by the ranks of all periods in which it counts. *)
Definition check_ranks (parts : list (part * fabric * certificate)) c n := let x := nth_step k n in
  match far_end f (at_ x) (out x) with
  | None => false
  | Some (s, i) => forallb (fun lv : pair => crosses f c (hop_maps x) s i (next_out x) (fst lv) (to x) &&
      forallb (fun p : part * fabric * certificate => let c := snd p in negb (counts c n) ||
        falls f c gone (hop_maps x) s i (next_out x) (fst lv) (rank c (at_ x) (out x) (snd lv))) parts)
      (set k (from x))
  end.

(* Steps are judged when all LIDs have said which they need. *)
Fixpoint check_lids parts c a b (ts : list nat) := match ts with
  | [] => below a (check_ranks parts c) && below b (fun x => check_start f c (nth_start k x))
  | t :: ts => let m := n_steps k t 0 in let n := n_starts k t 0 in
      check_lid parts c m n t && check_lids parts c (max a m) (max b n) ts
  end.

Definition check_parts l := let c := shared in
  check_merged f c && check_lids (map (fun x => (x, tables_of x, here x)) l) c 0 0 (lids f).

Ltac split_and := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
  end.

(* ---- what is alike is judged alike -------------------------------------------------- *)

Lemma moves_or_not t : moving what t = false \/ moving what t = true.
Proof. destruct (moving what t); auto. Qed.

Lemma below_true n g : (forall x, x < n -> g x = true) -> below n g = true.
Proof.
  induction n as [|n IH]; intros H; [reflexivity|]. simpl. rewrite H by lia. apply IH. auto.
Qed.

Lemma forallb_same {A} (g h : A -> bool) l : (forall x, In x l -> g x = true -> h x = true) ->
  forallb g l = true -> forallb h l = true.
Proof. rewrite !forallb_forall. auto. Qed.

(* Steps and starts of one certificate are some of another one. *)
Definition has_steps c m c' m' := forall v s o o' a b,
  has_step c m v s o o' a b = true -> has_step c' m' v s o o' a b = true.
Definition has_starts c n c' n' := forall v s i o a b,
  has_start c n v s i o a b = true -> has_start c' n' v s i o a b = true.

(* A stage of one period, and one of another. *)
Section Same.
Variables (g : fabric) (p : period) (c c' : certificate) (t j j' m m' n n' : nat).
Hypothesis sets : set c' = set c.
Hypothesis steps : has_steps c m c' m'.
Hypothesis starts : has_starts c n c' n'.
Hypothesis same_maps : maps (put g p) t j' = maps g t j.
Notation g' := (put g p).
Definition same_at s := outputs g' j' s t = outputs g j s t /\ forall o, set_at c' t j' s o = set_at c t j s o.

Lemma same_copies s i : same_at s -> copies g' j' s i t = copies g j s i t.
Proof. intros [O _]. unfold copies. rewrite O. reflexivity. Qed.

Lemma same_home s : same_at s -> goes_home g' j' t s = goes_home g j t s.
Proof. intros [O _]. unfold goes_home. rewrite O. reflexivity. Qed.

Lemma same_source s i : same_at s -> check_source g c n j t s i = true -> check_source g' c' n' j' t s i = true.
Proof.
  intros E. unfold check_source. rewrite (same_home s E), (same_copies s i E), same_maps. simpl.
  destruct (sl_list g (sls g s i t)); [reflexivity|]. intros H. split_and.
  apply andb_true_iff. split; [apply andb_true_iff; split; assumption|].
  eapply forallb_same; [|eassumption]. intros o _ X. rewrite (proj2 E). apply starts, X.
Qed.

Lemma same_output s o : same_at s -> (forall s' i, far_end g s o = Some (s', i) -> same_at s') ->
  check_output g c m j t s o = true -> check_output g' c' m' j' t s o = true.
Proof.
  intros E F. unfold check_output. rewrite (proj2 E), sets. simpl.
  destruct (set c (set_at c t j s o)); [reflexivity|].
  destruct (far_end g s o) as [[s' i]|]; [|reflexivity]. specialize (F s' i eq_refl).
  rewrite (same_home s' F), (same_copies s' i F), same_maps. intros H. split_and.
  apply andb_true_iff. split; [apply andb_true_iff; split; assumption|].
  eapply forallb_same; [|eassumption]. intros o' _ X. rewrite (proj2 F). apply steps, X.
Qed.

End Same.

(* One place, as Checker.v judges it. *)
Definition place_good g c m n j t s :=
  forallb (check_source g c n j t s) (sources g s) = true /\
  forall o, In o (so_far g j s t) -> check_kept c j t s o = true /\ check_output g c m j t s o = true.

Lemma stage_good g c m n j t : (forall s, s < n_switches g -> place_good g c m n j t s) ->
  check_stage g c m n j t = true.
Proof.
  intros H. apply below_true. intros s S. destruct (H s S) as [A B].
  apply andb_true_iff. split; [exact A|]. apply forallb_forall. intros o O.
  apply andb_true_iff, B, O.
Qed.

Lemma good_stage g c m n j t s : check_stage g c m n j t = true -> s < n_switches g -> place_good g c m n j t s.
Proof.
  intros H S. pose proof (below_all _ _ H s S) as K. simpl in K. apply andb_true_iff in K.
  destruct K as [A B]. split; [exact A|]. rewrite forallb_forall in B. intros o O.
  apply andb_true_iff, B, O.
Qed.

(* What was judged again. *)
Lemma place_new g c m n j t new s : new s = true -> check_place g c m n j t new s = true ->
  place_good g c m n j t s.
Proof.
  unfold check_place. intros N H. rewrite N in H. simpl in H. apply andb_true_iff in H.
  destruct H as [A B]. split; [exact A|]. rewrite forallb_forall in B. intros o O.
  apply andb_true_iff, B, O.
Qed.

(* More steps do not harm. *)
Lemma place_more g c c' m m' n n' j t s : set c' = set c -> has_steps c m c' m' -> has_starts c n c' n' ->
  (forall i s o, set_at c' t i s o = set_at c t i s o) ->
  place_good g c m n j t s -> place_good g c' m' n' j t s.
Proof.
  intros S M N E [A B]. assert (G : put g (now g) = g) by (destruct g; reflexivity).
  assert (Z : forall s, same_at g (now g) c c' t j j s).
  { intros s'. split; [rewrite G; reflexivity|intros o; apply E]. }
  split.
  - eapply forallb_same; [|exact A]. intros i _ X. rewrite <- G.
    apply (same_source g (now g) c c' t j j n n' N); [rewrite G; reflexivity|apply Z|exact X].
  - intros o O. destruct (B o O) as [X Y]. split.
    + unfold check_kept in *. destruct j as [|j]; [reflexivity|]. rewrite !E, S. exact X.
    + rewrite <- G. apply (same_output g (now g) c c' t j j m m' S M); [rewrite G; reflexivity|apply Z| |exact Y].
      intros s' i _. apply Z.
Qed.

(* ---- the certificates of the periods --------------------------------------------------- *)

Section Accepted.
Variable l : list part.
Hypothesis accepted : check_parts l = true.
Notation parts := (map (fun x => (x, tables_of x, here x)) l).

Lemma lids_judged ts : forall a b, check_lids parts shared a b ts = true -> exists M N, a <= M /\ b <= N /\
  below M (check_ranks parts shared) = true /\
  below N (fun x => check_start f shared (nth_start k x)) = true /\
  forall t, In t ts -> exists m n, m <= M /\ n <= N /\ check_lid parts shared m n t = true.
Proof.
  induction ts as [|t ts IH]; intros a b H; simpl in H; apply andb_true_iff in H; destruct H as [A B].
  - exists a, b. repeat split; auto. intros t [].
  - destruct (IH _ _ B) as (M & N & X & Y & R & S & J). exists M, N.
    split; [lia|]. split; [lia|]. split; [exact R|]. split; [exact S|]. intros u [<-|U]; [|auto].
    exists (n_steps k t 0), (n_starts k t 0). repeat split; [lia|lia|exact A].
Qed.

Section Bounds.
Variables M N : nat.
Hypothesis ranks_right : below M (check_ranks parts shared) = true.
Hypothesis starts_good : below N (fun x => check_start f shared (nth_start k x)) = true.
Hypothesis judged : forall t, In t (lids f) -> exists m n, m <= M /\ n <= N /\
  check_lid parts shared m n t = true.

Variable x : part.
Hypothesis among : In x l.
Notation g := (tables_of x).

(* Steps that were found before the change, and those of the period. *)
Definition whole := Certificate (rank_in (snd x)) (merged k) (set k) (set_in x) (fun _ _ => M) (nth_step k)
  (fun v s o o' a b => if has_step (here x) M v s o o' a b then find_in (snd x) v s o o' a b
    else find_step k v s o o' a b)
  (counts_here x) (fun _ _ => N) (nth_start k) (find_start k) (root k) (up k) (depth k).

Lemma more_here m : m <= M -> has_steps (here x) m whole M.
Proof.
  intros L v s o o' a b H. assert (K : has_step (here x) M v s o o' a b = true).
  { unfold has_step in *. split_and. repeat (apply andb_true_iff; split); auto.
    apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia. }
  unfold has_step at 1. cbn [find_step whole]. rewrite K. exact K.
Qed.

Lemma more_shared m : m <= M -> has_steps shared m whole M.
Proof.
  intros L v s o o' a b H. unfold has_step at 1. cbn [find_step whole].
  destruct (has_step (here x) M v s o o' a b) eqn:K; [exact K|].
  unfold has_step in H. simpl in *. split_and. repeat (apply andb_true_iff; split); auto.
  - apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
  - unfold counts_here. apply orb_true_iff. left. assumption.
Qed.

Lemma more_starts n : n <= N -> has_starts shared n whole N.
Proof.
  intros L v s i o a b H. unfold has_start in *. simpl in *. split_and.
  repeat (apply andb_true_iff; split); auto.
  apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
Qed.

Lemma whole_steps n : n < M -> counts_here x n = true -> check_step g whole gone (nth_step k n) = true.
Proof.
  intros L C. pose proof (below_all _ _ ranks_right n L) as H. unfold check_ranks in H.
  unfold check_step. simpl far_end. destruct (far_end f _ _) as [[s i]|]; [|discriminate].
  eapply forallb_same; [|exact H]. intros lv _ K. apply andb_true_iff in K. destruct K as [K F].
  apply andb_true_iff. split; [exact K|]. rewrite forallb_forall in F.
  specialize (F (x, g, here x)). cbv beta iota zeta in F. cbn [snd] in F.
  simpl counts in F. rewrite C in F. apply F. apply in_map_iff. exists x. auto.
Qed.

(* ---- LIDs that do not move ---------------------------------------------------------------- *)

Lemma still_from c m n t s : set whole = set c -> has_steps c m whole M -> has_starts c n whole N ->
  (forall s o, set_at whole t 0 s o = set_at c t 0 s o) -> moving what t = false ->
  place_good f c m n 0 t s -> place_good g whole M N 0 t s.
Proof.
  intros SETS HS HN AT Q [A B].
  assert (Z : forall s, same_at f (period_of f what (fst x)) c whole t 0 0 s).
  { intros s'. split; [|intros o; apply AT].
    unfold outputs, tables_of. simpl. unfold outputs_in. rewrite Q. reflexivity. }
  assert (P : maps g t 0 = maps f t 0).
  { unfold maps, tables_of. simpl. rewrite Q. reflexivity. }
  split.
  - eapply forallb_same; [|exact A]. intros i _ X.
    apply (same_source f _ c whole t 0 0 n N HN P s i (Z s) X).
  - intros o O. split; [reflexivity|]. simpl in O.
    assert (O' : In o (so_far f 0 s t)) by (change (In o (outputs f 0 s t)); rewrite <- (proj1 (Z s)); exact O).
    apply (same_output f _ c whole t 0 0 m M SETS HS P s o (Z s)).
    + intros s' i _. apply Z.
    + apply (B o O').
Qed.

Lemma still_same t m n s : m <= M -> n <= N -> moving what t = false ->
  place_good f shared m n 0 t s -> place_good g whole M N 0 t s.
Proof.
  intros LM LN Q. apply still_from; [reflexivity|apply more_shared; exact LM|apply more_starts; exact LN| |exact Q].
  intros s' o. simpl. unfold set_in. rewrite Q. reflexivity.
Qed.

Notation base := (Certificate (rank k) (merged k) (set k) (fun t _ s o => set_at k (like t) 0 s o)
  (fun _ _ => M) (nth_step k) (find_step k) (counts k) (fun _ _ => N) (nth_start k) (find_start k)
  (root k) (up k) (depth k)).

Lemma base_steps m : m <= M -> has_steps shared m base M.
Proof.
  intros L v s o o' a b H. unfold has_step in *. simpl in *. split_and.
  repeat (apply andb_true_iff; split); auto. apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
Qed.

Lemma base_starts n : n <= N -> has_starts shared n base N.
Proof.
  intros L v s i o a b H. unfold has_start in *. simpl in *. split_and.
  repeat (apply andb_true_iff; split); auto. apply Nat.ltb_lt in H. apply Nat.ltb_lt. lia.
Qed.

Lemma judged_still t : In t (lids f) -> moving what t = false -> like t = t ->
  check_stage f base M N 0 t = true.
Proof.
  intros T Q E. destruct (judged t T) as (m & n & LM & LN & H). unfold check_lid in H.
  rewrite Q, (proj2 (Nat.eqb_eq _ _) E) in H. split_and. apply stage_good. intros s S.
  match goal with H : below _ _ = true |- _ => pose proof (below_all _ _ H s S) as K end.
  apply place_new in K; [|reflexivity].
  apply (place_more f shared base m M n N 0 t s eq_refl (base_steps m LM) (base_starts n LN)
    (fun _ _ _ => eq_refl) K).
Qed.

Lemma more_output m t s o : m <= M -> check_output f shared m 0 t s o = true ->
  check_output f base M 0 t s o = true.
Proof.
  intros L H. assert (G : put f (now f) = f) by (destruct f; reflexivity). rewrite <- G.
  apply (same_output f (now f) shared base t 0 0 m M eq_refl (base_steps m L));
    try reflexivity; [split; reflexivity|intros; split; reflexivity|exact H].
Qed.

Lemma more_source n t s i : n <= N -> check_source f shared n 0 t s i = true ->
  check_source f base N 0 t s i = true.
Proof.
  intros L H. assert (G : put f (now f) = f) by (destruct f; reflexivity). rewrite <- G.
  apply (same_source f (now f) shared base t 0 0 n N (base_starts n L));
    [reflexivity|split; reflexivity|exact H].
Qed.

Lemma alike_stage t : In t (lids f) -> moving what t = false -> like t <> t ->
  check_stage f base M N 0 t = true.
Proof.
  intros T Q E. destruct (judged t T) as (m & n & LM & LN & H). unfold check_lid in H.
  rewrite Q, (proj2 (Nat.eqb_neq _ _) E) in H. apply andb_true_iff in H. destruct H as [H _].
  apply andb_true_iff in H. destruct H as [QR H]. apply negb_true_iff in QR.
  unfold check_alike, check_kin, check_away, check_hops in H.
  set (r := like t) in *. set (h := fst (home f t)) in *. split_and.
  repeat match goal with
  | H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H
  | H : negb _ = true |- _ => apply negb_true_iff in H
  end.
  match goal with H : existsb _ _ = true |- _ => apply existsb_exists in H; destruct H as (y & R & X) end.
  apply Nat.eqb_eq in X. subst y.
  assert (L : like r = r) by assumption. assert (HR : fst (home f r) = h) by assumption.
  assert (MT : multicast f t = false) by assumption. assert (MR : multicast f r = false) by assumption.
  assert (MP : maps f t 0 = maps f r 0) by assumption.
  match goal with H : below _ _ = true |- _ => pose proof (below_all _ _ H) as B end.
  pose proof (judged_still r R QR L) as W. unfold check_stage in W.
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
    + intros i J. eapply more_source; eauto.
    + intros o J. apply andb_true_iff. split; [reflexivity|]. eapply more_output; eauto.
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
      * destruct (Nat.eqb_spec s' h) as [D'|D']; [apply (more_output _ _ _ _ LM), B3|].
        unfold check_output in *. rewrite F in *. simpl set_at in *. simpl set in *. fold r. rewrite L in *.
        destruct (set k (set_at k r 0 s o)); [reflexivity|]. split_and.
        match goal with H : (_ <? _) = true |- _ => pose proof (proj1 (Nat.ltb_lt _ _) H) as S' end.
        apply andb_true_iff. split; [apply andb_true_iff; split; [assumption|apply G; assumption]|].
        rewrite (C s' i S' D'), MP. assumption.
      * unfold check_output. rewrite F. destruct (set _ _); reflexivity.
Qed.

Lemma good_still t s : In t (lids f) -> moving what t = false -> s < n_switches f ->
  place_good g whole M N 0 t s.
Proof.
  intros T Q S. assert (B : check_stage f base M N 0 t = true).
  { destruct (Nat.eq_dec (like t) t) as [E|E]; [apply judged_still|apply alike_stage]; assumption. }
  apply (still_from base M N); [reflexivity| | | |exact Q|exact (good_stage _ _ _ _ _ _ _ B S)].
  - intros v s0 o o' a b H. apply (more_shared M (le_n _)). exact H.
  - intros v s0 i o a b H. exact H.
  - intros s' o. simpl. unfold set_in. rewrite Q. reflexivity.
Qed.

(* ---- LIDs that move ---------------------------------------------------------------------- *)

Lemma far_judged c m n t s l' : check_far c m n t s = Some l' -> forall u, u < s ->
  (near t u = true -> In u l') /\ (near t u = false -> check_place f c m n 0 t (fun _ => true) u = true).
Proof.
  revert l'. induction s as [|s IH]; intros l' H u U; [lia|]. simpl in H.
  destruct (Nat.eq_dec u s) as [->|D].
  - destruct (near t s); split; intros E; try discriminate; auto.
    + destruct (check_far c m n t s); [|discriminate]. injection H as <-. left. reflexivity.
    + destruct (check_place f c m n 0 t (fun _ => true) s); [reflexivity|discriminate].
  - destruct (near t s).
    + destruct (check_far c m n t s) as [r|]; [|discriminate]. injection H as <-.
      destruct (IH r eq_refl u ltac:(lia)) as [A B]. split; [intros E; right; auto|exact B].
    + destruct (check_place f c m n 0 t (fun _ => true) s); [|discriminate]. apply (IH l' H). lia.
Qed.

Section Moving.
Variables t m n : nat.
Hypothesis LM : m <= M.
Hypothesis LN : n <= N.

Lemma rest_same s j : rests t s = true -> outputs g j s t = outputs f 0 s t /\
  forall o, set_in x t j s o = set_at k (like t) 0 s o.
Proof.
  unfold rests. intros H. apply andb_true_iff in H. destruct H as [A B]. apply negb_true_iff in A, B.
  unfold outputs at 1, tables_of. simpl. unfold outputs_in, set_in. rewrite A, B, andb_false_r. auto.
Qed.

Lemma not_near s : near t s = false -> rests t s = true /\ forall o s' i, In o (outputs f 0 s t) ->
  far_end f s o = Some (s', i) -> rests t s' = true.
Proof.
  unfold near. intros H. apply orb_false_iff in H. destruct H as [A B]. apply negb_false_iff in A.
  split; [exact A|]. intros o s' i O F. destruct (rests t s') eqn:R; [reflexivity|]. exfalso.
  rewrite <- not_true_iff_false in B. apply B. apply existsb_exists. exists o. split; [exact O|].
  rewrite F, R. reflexivity.
Qed.

Lemma so_far_in o j s : In o (so_far g j s t) -> exists i, i <= j /\ In o (outputs g i s t).
Proof.
  induction j as [|j IH]; intros H; [exists 0; auto|]. cbn [so_far] in H. unfold joined_outputs in H.
  assert (K : In o (outputs g (S j) s t) \/ In o (so_far g j s t)).
  { revert H. generalize (outputs g (S j) s t). induction l0 as [|y r I]; simpl; [auto|].
    destruct (existsb _ _); [|intros [->|H]; [auto|]]; intros; destruct I; auto. }
  destruct K as [K|K]; [exists (S j); auto|]. destruct (IH K) as (i & L & J). exists i. auto.
Qed.

(* Away from what moves, all is as before the change. *)
Lemma far_same s j : rests t s = true -> same_at f (period_of f what (fst x)) shared whole t 0 j s.
Proof. intros R. apply (rest_same s j R). Qed.

Lemma far_output s o j : near t s = false -> maps g t j = maps f t 0 -> In o (outputs f 0 s t) ->
  check_output f shared m 0 t s o = true -> check_output g whole M j t s o = true.
Proof.
  intros Q P O. destruct (not_near s Q) as [R F].
  apply (same_output f _ shared whole t 0 j m M eq_refl (more_shared m LM) P s o (far_same s j R)).
  intros s' i E. apply far_same, (F o s' i O E).
Qed.

Lemma far_so_far s o j : near t s = false -> In o (so_far g j s t) -> In o (outputs f 0 s t).
Proof.
  intros Q O. destruct (so_far_in o j s O) as (i & _ & J).
  rewrite (proj1 (rest_same s i (proj1 (not_near s Q)))) in J. exact J.
Qed.

Lemma far_kept s o j : near t s = false -> check_kept whole j t s o = true.
Proof.
  intros Q. unfold check_kept. destruct j as [|j]; [reflexivity|]. simpl set_at.
  rewrite !(proj2 (rest_same s _ (proj1 (not_near s Q)))), Nat.eqb_refl. reflexivity.
Qed.

Lemma far_place s j : near t s = false -> maps g t j = maps f t 0 ->
  check_place f shared m n 0 t (fun _ => true) s = true -> place_good g whole M N j t s.
Proof.
  intros Q P H. apply place_new in H; [|reflexivity]. destruct H as [A B]. split.
  - eapply forallb_same; [|exact A]. intros i _ X.
    apply (same_source f _ shared whole t 0 j n N (more_starts n LN) P s i
      (far_same s j (proj1 (not_near s Q))) X).
  - intros o O. split; [apply far_kept, Q|]. apply (far_so_far s o j Q) in O.
    apply far_output; auto. apply B, O.
Qed.

Lemma here_more s j : place_good g (here x) m n j t s -> place_good g whole M N j t s.
Proof.
  apply place_more; auto; [apply more_here, LM|]. intros v s0 i o a b H. apply (more_starts n LN). exact H.
Qed.

Definition fresh j := match j with 0 => true | S i => negb (maps g t j =? maps g t i) end.
Definition new j s := fresh j || begins_at x t s j.

Lemma not_new s j : new (S j) s = false -> same_at g (period_of f what (fst x)) whole whole t j (S j) s.
Proof.
  unfold new, begins_at. intros H. apply orb_false_iff in H. destruct H as [_ H].
  apply orb_false_iff in H. destruct H as [A B]. split.
  - unfold outputs, tables_of. simpl. unfold outputs_in. rewrite (latest_same _ _ A). reflexivity.
  - intros o. simpl. unfold set_in. rewrite (latest_same _ _ B). reflexivity.
Qed.

Lemma so_far_back o j s : outputs g (S j) s t = outputs g j s t -> In o (so_far g (S j) s t) -> In o (so_far g j s t).
Proof.
  intros E. cbn [so_far]. rewrite E. assert (I : incl (outputs g j s t) (so_far g j s t)).
  { intros y. apply so_far_now. }
  revert I. unfold joined_outputs. generalize (outputs g j s t). induction l0 as [|y r IH]; simpl; [auto|].
  intros I. assert (I' : incl r (so_far g j s t)) by (intros z Z; apply I; right; exact Z).
  destruct (existsb _ _); [auto|]. intros [<-|H]; [apply I; left; reflexivity|auto].
Qed.

(* A place that was judged in part, or not at all, in a stage with the maps of the one before. *)
Lemma same_place s j : fresh (S j) = false -> same_at g (period_of f what (fst x)) whole whole t j (S j) s ->
  (forall o s' i, In o (so_far g j s t) -> far_end f s o = Some (s', i) ->
    same_at g (period_of f what (fst x)) whole whole t j (S j) s' \/ check_output g whole M (S j) t s o = true) ->
  place_good g whole M N j t s -> place_good g whole M N (S j) t s.
Proof.
  intros Q E F [A B]. assert (P : maps g t (S j) = maps g t j).
  { unfold fresh in Q. apply negb_false_iff, Nat.eqb_eq in Q. exact Q. }
  split.
  - eapply forallb_same; [|exact A]. intros i _ X.
    apply (same_source g (period_of f what (fst x)) whole whole t j (S j) N N (fun _ _ _ _ _ _ H => H) P s i E X).
  - intros o O. apply so_far_back in O; [|exact (proj1 E)]. split.
    + unfold check_kept. rewrite (proj2 E), Nat.eqb_refl. reflexivity.
    + assert (X : check_output g whole M (S j) t s o = true \/
        forall s' i, far_end f s o = Some (s', i) -> same_at g (period_of f what (fst x)) whole whole t j (S j) s').
      { destruct (far_end f s o) as [[s' i]|] eqn:D; [|right; discriminate].
        destruct (F o s' i O D); [right|auto]. intros u v J. injection J as <- <-. assumption. }
      destruct X as [X|X]; [exact X|].
      apply (same_output g (period_of f what (fst x)) whole whole t j (S j) M M eq_refl (fun _ _ _ _ _ _ H => H) P s o E X).
      apply B, O.
Qed.

(* A LID that is judged itself. *)
Variable some : list nat.
Hypothesis covered : forall s, s < n_switches f -> near t s = true -> In s some.
Hypothesis before : forall s, s < n_switches f -> near t s = false ->
  check_place f shared m n 0 t (fun _ => true) s = true.
Hypothesis stages_good : forall j, j <= last_stage g t -> check_near g (here x) x m n t some j = true.

Lemma good_moving j : j <= last_stage g t -> forall s, s < n_switches f -> place_good g whole M N j t s.
Proof.
  induction j as [|j IH]; intros J s S; pose proof (stages_good _ J) as H; unfold check_near in H.
  - simpl andb in H. destruct (maps g t 0 =? maps f t 0) eqn:P; simpl in H.
    + apply Nat.eqb_eq in P. destruct (near t s) eqn:Q; [|apply far_place; auto].
      rewrite forallb_forall in H. apply here_more.
      apply (place_new _ _ _ _ _ _ _ s eq_refl (H s (covered s S Q))).
    + apply here_more. apply (place_new _ _ _ _ _ _ _ s eq_refl (below_all _ _ H s S)).
  - change (fun s : nat => _) with (new (Datatypes.S j)) in H.
    change (negb (maps g t (Datatypes.S j) =? maps g t j)) with (fresh (Datatypes.S j)) in H. specialize (IH ltac:(lia)).
    assert (K : near t s = false \/ check_place g (here x) m n (Datatypes.S j) t (new (Datatypes.S j)) s = true).
    { destruct (near t s) eqn:Q; [right|auto].
      destruct (fresh (Datatypes.S j) && negb (maps g t (Datatypes.S j) =? maps f t 0)); [apply (below_all _ _ H s S)|].
      rewrite forallb_forall in H. apply H, covered; assumption. }
    destruct (fresh (Datatypes.S j)) eqn:Q.
    + assert (W : forall s, new (Datatypes.S j) s = true) by (intros u; unfold new; rewrite Q; reflexivity).
      destruct (maps g t (Datatypes.S j) =? maps f t 0) eqn:P; simpl in H.
      * apply Nat.eqb_eq in P. destruct K as [K|K]; [apply far_place; auto|].
        apply here_more, (place_new _ _ _ _ _ _ _ s (W s) K).
      * apply here_more, (place_new _ _ _ _ _ _ _ s (W s) (below_all _ _ H s S)).
    + destruct K as [K|K].
      * destruct (not_near s K) as [R F].
        assert (Z : forall s, rests t s = true -> same_at g (period_of f what (fst x)) whole whole t j (Datatypes.S j) s).
        { intros u U. split.
          - transitivity (outputs f 0 u t); [apply (rest_same u (Datatypes.S j) U)|symmetry; apply (rest_same u j U)].
          - intros o. simpl. rewrite !(proj2 (rest_same u _ U)). reflexivity. }
        apply same_place; auto. intros o s' i O E. left. apply Z.
        destruct (so_far_in o j s O) as (a & _ & L). rewrite (proj1 (rest_same s a R)) in L. apply (F o s' i L E).
      * destruct (new (Datatypes.S j) s) eqn:W; [apply here_more, (place_new _ _ _ _ _ _ _ s W K)|].
        apply same_place; auto; [apply not_new, W|]. intros o s' i O E.
        destruct (new (Datatypes.S j) s') eqn:W'; [right|left; apply not_new, W'].
        unfold check_place in K. rewrite W in K. simpl in K. rewrite forallb_forall in K.
        assert (O' : In o (so_far g (Datatypes.S j) s t)) by (apply so_far_later, O).
        specialize (K o O'). change (far_end g s o) with (far_end f s o) in K. rewrite E, W' in K. simpl in K.
        assert (G : put g (now g) = g) by reflexivity. rewrite <- G.
        apply (same_output g (now g) (here x) whole t (Datatypes.S j) (Datatypes.S j) m M eq_refl (more_here m LM));
          try reflexivity; [split; reflexivity|intros; split; reflexivity|exact K].
Qed.

End Moving.

(* ---- LIDs that move alike ------------------------------------------------------------------ *)

Lemma judged_moving t : In t (lids f) -> moving what t = true -> like t = t ->
  check_times g t = true /\ forall j s, j <= last_stage g t -> s < n_switches f -> place_good g whole M N j t s.
Proof.
  intros T Q E. destruct (judged t T) as (m & n & LM & LN & H). unfold check_lid in H.
  rewrite Q, (proj2 (Nat.eqb_eq _ _) E) in H. unfold check_moving in H. split_and.
  destruct (check_far shared m n t (n_switches f)) as [some|] eqn:F; [|discriminate]. split_and.
  match goal with H : forallb _ parts = true |- _ => rewrite forallb_forall in H;
    specialize (H (x, g, here x) (proj2 (in_map_iff _ _ _) (ex_intro _ x (conj eq_refl among))));
    cbv beta iota zeta in H; apply andb_true_iff in H; destruct H as [K P]; rewrite forallb_forall in P end.
  split; [exact K|]. intros j s J. revert s. apply (good_moving t m n LM LN some); auto;
    try (intros u U; apply (far_judged _ _ _ _ _ _ F u U)). intros i I. apply P, in_seq. lia.
Qed.

Lemma same_written_eq l1 : forall l2, same_written l1 l2 = true -> l1 = l2.
Proof.
  induction l1 as [|[i a] l1 IH]; intros [|[j b] l2] H; try discriminate; [reflexivity|]. simpl in H.
  split_and. match goal with H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H end. subst.
  f_equal; [f_equal; apply same_list_eq; assumption|auto].
Qed.

Section Kin.
Variables t m n : nat.
Hypothesis LM : m <= M.
Hypothesis LN : n <= N.
Notation r := (like t).
Notation h := (fst (home f t)).
Hypothesis loses : delivers f = false.
Hypothesis kin : check_kin t r = true.
Hypothesis both : moving what t = true /\ moving what r = true.
Hypothesis at_home : near t h = false /\ (h < n_switches f -> check_place f shared m n 0 t (fun _ => true) h = true).
Hypothesis away : forall s, s < n_switches f -> s <> h -> outputs f 0 s t = outputs f 0 s r /\
  (forall i, In i (sources f s) -> sls f s i t = sls f s i r) /\ moving_at what t s = moving_at what r s /\
  (near t s = false -> check_hops f shared m 0 t h s = true) /\
  (near t s = true -> written (fst x) t s = written (fst x) r s /\ forall j, j <= last_stage g t ->
    (j =? 0) || begins_at x t s j = true -> check_hops g (here x) m j t h s = true).
Hypothesis maps_same : forall j, j <= last_stage g t -> maps g t j = maps f t 0 /\ maps g r j = maps f t 0.
Hypothesis first_good : forall j s, j <= last_stage g t -> s < n_switches f -> place_good g whole M N j r s.

Lemma kin_like : like r = r /\ multicast f t = false /\ multicast f r = false.
Proof.
  unfold check_kin in kin. split_and.
  repeat match goal with
  | H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H
  | H : negb _ = true |- _ => apply negb_true_iff in H
  end. auto.
Qed.

Lemma kin_outputs s j : s < n_switches f -> s <> h -> outputs g j s t = outputs g j s r.
Proof.
  intros S D. destruct (away s S D) as (O & _ & V & _ & W). unfold outputs, tables_of. simpl.
  unfold outputs_in. destruct both as [B B']. rewrite B, B', <- V, O.
  destruct (moving_at what t s) eqn:E; [|reflexivity]. simpl.
  assert (Q : near t s = true) by (unfold near, rests; rewrite E; reflexivity).
  rewrite (proj1 (W Q)). reflexivity.
Qed.

Lemma kin_so_far s j : s < n_switches f -> s <> h -> so_far g j s t = so_far g j s r.
Proof.
  intros S D. induction j as [|j IH]; simpl so_far; [apply (kin_outputs s 0 S D)|].
  rewrite IH, (kin_outputs s (Datatypes.S j) S D). reflexivity.
Qed.

Lemma kin_sets s o j : set_at whole t j s o = set_at whole r j s o.
Proof.
  simpl. unfold set_in. destruct both as [B B']. destruct kin_like as (E & _). rewrite B, B', E. reflexivity.
Qed.

Lemma kin_home u j s : goes_home g j u s = true.
Proof. unfold goes_home. simpl. rewrite loses. reflexivity. Qed.

Lemma kin_copies s i j : s < n_switches f -> s <> h -> copies g j s i t = copies g j s i r.
Proof.
  intros S D. destruct kin_like as (_ & A & B). unfold copies. simpl multicast. rewrite A, B.
  apply kin_outputs; assumption.
Qed.

Lemma kin_good j : j <= last_stage g t -> forall s, s < n_switches f -> place_good g whole M N j t s.
Proof.
  induction j as [j IH] using lt_wf_ind. intros J s S. destruct (maps_same j J) as [PT PR].
  destruct (Nat.eq_dec s h) as [->|D].
  { apply (far_place t m n LM LN h j (proj1 at_home) PT), at_home, S. }
  destruct (away s S D) as (O & L & V & F & W). destruct (first_good j s J S) as [A B]. split.
  - rewrite forallb_forall in *. intros i I. specialize (A i I). unfold check_source in *.
    simpl sls in *. rewrite (L i I). destruct (sl_list g (sls f s i r)); [reflexivity|].
    rewrite kin_home in *. apply andb_true_iff in A. destruct A as [A X]. apply andb_true_iff.
    split; [exact A|]. rewrite (kin_copies s i j S D), PT. rewrite PR in X.
    eapply forallb_same; [|exact X]. intros o _ Y. rewrite kin_sets. exact Y.
  - intros o I. rewrite (kin_so_far s j S D) in I. destruct (B o I) as [X Y]. split.
    + unfold check_kept in *. destruct j; [reflexivity|]. rewrite !kin_sets. exact X.
    + destruct (far_end f s o) as [[s' i]|] eqn:E;
        [|unfold check_output; simpl far_end; rewrite E; destruct (set _ _); reflexivity].
      destruct (Nat.eq_dec s' h) as [->|D'].
      * rewrite <- (kin_so_far s j S D) in I.
        assert (Z : forall g' c m' j', check_hops g' c m' j' t h s = true -> In o (so_far g' j' s t) ->
          check_output g' c m' j' t s o = true).
        { unfold check_hops. intros g' c m' j' H K. rewrite forallb_forall in H. specialize (H o K).
          rewrite E, Nat.eqb_refl in H. exact H. }
        destruct (near t s) eqn:Q.
        -- destruct (W eq_refl) as [_ H]. destruct ((j =? 0) || begins_at x t s j) eqn:G.
           ++ pose proof (Z _ _ _ _ (H j J G) I) as K.
              apply (same_output g (now g) (here x) whole t j j m M eq_refl (more_here m LM));
                try reflexivity; [split; reflexivity|intros; split; reflexivity|exact K].
           ++ destruct j as [|j]; [discriminate G|]. simpl in G.
              assert (J' : j <= last_stage g t) by lia.
              assert (N1 : new t (Datatypes.S j) s = false).
              { unfold new, fresh. rewrite PT, (proj1 (maps_same j J')), Nat.eqb_refl. exact G. }
              destruct (IH j ltac:(lia) J' s S) as [_ C].
              apply (same_output g (period_of f what (fst x)) whole whole t j (Datatypes.S j) M M eq_refl
                (fun _ _ _ _ _ _ H => H)).
              ** change (maps g t (Datatypes.S j) = maps g t j). rewrite PT. symmetry. apply (maps_same j J').
              ** apply (not_new t s j N1).
              ** intros s2 i2 E2. change (far_end f s o = Some (s2, i2)) in E2. rewrite E in E2. injection E2 as <- <-.
                 destruct (not_near t h (proj1 at_home)) as [R _]. split.
                 --- transitivity (outputs f 0 h t); [apply (rest_same t h (Datatypes.S j) R)|].
                     symmetry. apply (rest_same t h j R).
                 --- intros o2. simpl. rewrite !(proj2 (rest_same t h _ R)). reflexivity.
              ** apply C. apply (so_far_back t o j s); [|exact I]. apply (not_new t s j N1).
        -- pose proof (far_so_far t s o j Q I) as I'.
           apply (far_output t m LM s o j Q PT I'), (Z _ _ _ _ (F eq_refl) I').
      * unfold check_output in *. simpl far_end in *. rewrite E in *. rewrite kin_sets.
        destruct (set whole (set_at whole r j s o)); [reflexivity|]. rewrite kin_home in *. split_and.
        match goal with H : (_ <? _) = true |- _ => pose proof (proj1 (Nat.ltb_lt _ _) H) as S' end.
        apply andb_true_iff. split; [apply andb_true_iff; split; [assumption|reflexivity]|].
        rewrite (kin_copies s' i j S' D'), PT. rewrite PR in *.
        match goal with H : forallb _ _ = true |- _ => eapply forallb_same; [|exact H] end.
        intros o' _ Y'. rewrite kin_sets. exact Y'.
Qed.

End Kin.

Lemma far_alike_judged c m n t r h s l' : check_far_alike c m n t r h s = Some l' -> forall u, u < s ->
  (u = h -> near t u = false /\ check_place f c m n 0 t (fun _ => true) u = true) /\
  (u <> h -> outputs f 0 u t = outputs f 0 u r /\ (forall i, In i (sources f u) -> sls f u i t = sls f u i r) /\
    moving_at what t u = moving_at what r u /\
    (near t u = false -> check_hops f c m 0 t h u = true) /\ (near t u = true -> In u l')).
Proof.
  revert l'. induction s as [|s IH]; intros l' H u U; [lia|]. simpl in H. destruct (Nat.eqb_spec s h) as [D|D].
  - destruct (negb (near t s) && check_place f c m n 0 t (fun _ => true) s) eqn:E; [|discriminate].
    destruct (Nat.eq_dec u s) as [->|K]; [|apply (IH l' H); lia].
    apply andb_true_iff in E. destruct E as [A B]. apply negb_true_iff in A. split; [auto|contradiction].
  - destruct (check_away t r s && _) eqn:E; [|discriminate]. unfold check_away in E. split_and.
    match goal with H : same_list _ _ = true |- _ => apply same_list_eq in H end.
    match goal with H : Bool.eqb _ _ = true |- _ => apply Bool.eqb_prop in H end.
    match goal with H : forallb _ (sources f s) = true |- _ => rewrite forallb_forall in H; rename H into SL end.
    destruct (near t s) eqn:Q.
    + destruct (check_far_alike c m n t r h s) as [k'|]; [|discriminate]. injection H as <-.
      destruct (Nat.eq_dec u s) as [->|K].
      * split; [contradiction|]. intros _. repeat split; auto; [|congruence|intros _; left; reflexivity].
        intros i I. apply Nat.eqb_eq, SL, I.
      * destruct (IH k' eq_refl u ltac:(lia)) as [A B]. split; [exact A|]. intros C.
        destruct (B C) as (B1 & B2 & B3 & B4 & B5). repeat split; auto. intros Z. right. auto.
    + destruct (check_hops f c m 0 t h s) eqn:C; [|discriminate].
      destruct (Nat.eq_dec u s) as [->|K]; [|apply (IH l' H); lia].
      split; [contradiction|]. intros _. repeat split; auto; [|congruence].
      intros i I. apply Nat.eqb_eq, SL, I.
Qed.

Lemma alike_moving t : In t (lids f) -> moving what t = true -> like t <> t ->
  check_times g t = true /\ forall j s, j <= last_stage g t -> s < n_switches f -> place_good g whole M N j t s.
Proof.
  intros T Q E. destruct (judged t T) as (m & n & LM & LN & H). unfold check_lid in H.
  rewrite Q, (proj2 (Nat.eqb_neq _ _) E) in H. unfold check_moving_alike in H. split_and.
  destruct (check_far_alike shared m n t (like t) (fst (home f t)) (n_switches f)) as [some|] eqn:F; [|discriminate].
  split_and. match goal with H : negb (delivers f) = true |- _ => apply negb_true_iff in H; rename H into LO end.
  match goal with H : check_kin t (like t) = true |- _ => pose proof H as KIN; unfold check_kin in H end.
  match goal with H : forallb _ parts = true |- _ => rewrite forallb_forall in H;
    specialize (H (x, g, here x) (proj2 (in_map_iff _ _ _) (ex_intro _ x (conj eq_refl among))));
    cbv beta iota zeta in H; rename H into P end.
  apply andb_true_iff in P. destruct P as [P PS]. apply andb_true_iff in P. destruct P as [P PM].
  apply andb_true_iff in P. destruct P as [PT PL]. apply Nat.leb_le in PL. rewrite forallb_forall in PS, PM.
  split; [exact PT|]. intros j s J. revert s. split_and.
  match goal with H : existsb _ (lids f) = true |- _ => apply existsb_exists in H; destruct H as (y & R & X) end.
  apply Nat.eqb_eq in X. subst y.
  match goal with H : (like (like t) =? like t) = true |- _ => apply Nat.eqb_eq in H; rename H into LR end.
  destruct (judged_moving (like t) R ltac:(assumption) LR) as [_ G].
  assert (SE : forall i, i <= last_stage g t -> In i (seq 0 (S (last_stage g t)))) by (intros i I; apply in_seq; lia).
  apply (kin_good t m n LM LN LO KIN); auto.
  - match goal with H : (_ <? n_switches f) = true |- _ => apply Nat.ltb_lt in H; rename H into HH end.
    destruct (far_alike_judged _ _ _ _ _ _ _ _ F _ HH) as [A _]. destruct (A eq_refl) as [A1 A2]. auto.
  - intros s S D. destruct (far_alike_judged _ _ _ _ _ _ _ _ F s S) as [_ B].
    destruct (B D) as (B1 & B2 & B3 & B4 & B5). refine (conj B1 (conj B2 (conj B3 (conj B4 _)))). intros Z.
    specialize (PS s (B5 Z)). apply andb_true_iff in PS. destruct PS as [W PH]. split.
    + apply same_written_eq, W.
    + intros i I C. rewrite forallb_forall in PH. specialize (PH i (SE i I)). rewrite C in PH. exact PH.
  - intros i I. specialize (PM i (SE i I)). apply andb_true_iff in PM. destruct PM as [A B].
    apply Nat.eqb_eq in A, B. auto.
  - intros i s I S. apply G; [lia|exact S].
Qed.

(* ---- all LIDs ------------------------------------------------------------------------------ *)

Lemma good_lid t j : In t (lids f) -> j <= last_stage g t -> check_stage g whole M N j t = true.
Proof.
  intros T J. apply stage_good. intros s S. destruct (moves_or_not t) as [Q|Q].
  - unfold last_stage, stage_of in J. simpl in J. rewrite Q in J.
    replace j with 0 by lia. apply good_still; assumption.
  - destruct (Nat.eq_dec (like t) t) as [E|E]; [apply judged_moving|apply alike_moving]; assumption.
Qed.

Lemma good_times t : In t (lids f) -> check_times g t = true.
Proof.
  intros T. destruct (moves_or_not t) as [Q|Q].
  - apply below_true. intros i _. unfold stage_of. simpl. rewrite Q. reflexivity.
  - destruct (Nat.eq_dec (like t) t) as [E|E]; [apply judged_moving|apply alike_moving]; assumption.
Qed.

Lemma good_group t : In t (lids f) -> negb (delivers g) || negb (multicast g t) || check_group g whole t = true.
Proof.
  intros T. simpl. destruct (judged t T) as (m & n & LM & LN & H). unfold check_lid in H.
  destruct (moves_or_not t) as [Q|Q]; rewrite Q in H.
  - apply andb_true_iff in H. destruct H as [_ H]. destruct (negb (delivers f) || negb (multicast f t)); [reflexivity|].
    simpl in *. pose proof Q as W. unfold check_group in *. simpl in *. apply below_true. intros s S.
    pose proof (below_all _ _ H s S) as K. simpl in K. unfold stage_of in *. simpl in *. rewrite W.
    assert (O : forall s, outputs g 0 s t = outputs (put f (period_of f nothing still)) 0 s t).
    { intros u. unfold outputs, tables_of. simpl. unfold outputs_in. rewrite W. reflexivity. }
    rewrite O. destruct (outputs (put f (period_of f nothing still)) 0 s t) as [|y r] eqn:E; [reflexivity|].
    apply andb_true_iff in K. destruct K as [A B]. apply andb_true_iff. split.
    + eapply forallb_same; [|exact A]. intros o _ X. unfold check_cable in *. simpl in *.
      destruct (far_end f s o) as [[s' i]|]; [|reflexivity]. rewrite O. exact X.
    + unfold check_joined in *. rewrite O. exact B.
  - assert (D : negb (delivers f) = true).
    { destruct (like t =? t); [unfold check_moving in H|unfold check_moving_alike in H]; split_and; assumption. }
    rewrite D. reflexivity.
Qed.

Lemma stages_all ts a b : (forall t j, In (t, j) ts -> In (t, j) (all_stages g)) ->
  check_stages g whole gone a b ts = true.
Proof.
  revert a b. induction ts as [|[t j] ts IH]; intros a b I; [reflexivity|]. simpl.
  assert (F : forall c d h, (forall y, y < d -> h y = true) -> from_to c d h = true).
  { intros c d h H. unfold from_to. apply below_true. intros y Y. apply H. lia. }
  repeat (apply andb_true_iff; split).
  - apply F. intros y Y. simpl counts. destruct (counts_here x y) eqn:C; [|reflexivity].
    apply (whole_steps y Y C).
  - apply F. intros y Y. apply (below_all _ _ starts_good y Y).
  - specialize (I t j (or_introl eq_refl)). apply in_flat_map in I. destruct I as (u & U & J).
    apply in_map_iff in J. destruct J as (i & E & J). injection E as -> ->. apply in_seq in J.
    apply good_lid; [exact U|lia].
  - apply IH. intros u i U. apply I. right. exact U.
Qed.

Lemma whole_right : check_on g whole gone = true.
Proof.
  unfold check_on. pose proof accepted as A. unfold check_parts in A. apply andb_true_iff in A. destruct A as [A _].
  repeat (apply andb_true_iff; split); [exact A|apply stages_all; auto|].
  apply forallb_forall. intros t T. apply andb_true_iff. split; [apply good_times|apply good_group]; exact T.
Qed.

End Bounds.

(* From a period to the next one. *)
Lemma next_right M N x x' r : (forall t, In t (lids f) -> exists m n, m <= M /\ n <= N /\
    check_lid parts shared m n t = true) ->
  (forall y, In y (x :: x' :: r) -> In y l) ->
  (forall t, In t (lids f) -> moving what t = true ->
    exists some, (forall s, s < n_switches f -> near t s = true -> In s some) /\
    check_next t some (map (fun x => (x, tables_of x, here x)) (x :: x' :: r)) = true) ->
  continues f gone (period_of f what (fst x)) (period_of f what (fst x')) = true.
Proof.
  intros J I C. unfold continues. apply forallb_forall. intros t T. destruct (moves_or_not t) as [Q|Q].
  - simpl. unfold outputs_in. rewrite Q, Nat.eqb_refl. simpl. apply below_true. intros s _.
    apply forallb_forall. intros o O. apply orb_true_iff. right. apply existsb_exists.
    exists o. split; [exact O|apply Nat.eqb_refl].
  - destruct (C t T Q) as (some & Z & C'). clear C. rename C' into C.
    simpl map in C. cbn [check_next] in C. apply andb_true_iff in C. destruct C as [C _].
    apply andb_true_iff in C. destruct C as [A B]. apply andb_true_iff. split; [exact A|].
    apply below_true. intros s S. destruct (near t s) eqn:P.
    + rewrite forallb_forall in B. apply (B s), Z; assumption.
    + destruct (not_near t s P) as [R _]. apply forallb_forall. intros o O. apply orb_true_iff. right.
      apply existsb_exists. exists o. split; [|apply Nat.eqb_refl].
      change (In o (outputs (tables_of x') (stage_of (tables_of x') t 0) s t)).
      change (In o (outputs (tables_of x) (stage_of (tables_of x) t (pred (times (fst x)))) s t)) in O.
      rewrite (proj1 (rest_same x t s _ R)) in O.
      rewrite (proj1 (rest_same x' t s _ R)). exact O.
Qed.

Lemma parts_right : exists l', map fst l' = map (fun x => period_of f what (fst x)) l /\ check_change f gone l' = true.
Proof.
  pose proof accepted as A. unfold check_parts in A. apply andb_true_iff in A. destruct A as [_ A].
  apply lids_judged in A. destruct A as (M & N & _ & _ & R & S & J).
  exists (map (fun x => (period_of f what (fst x), whole M N x)) l). split; [rewrite map_map; reflexivity|].
  assert (C : forall t, In t (lids f) -> moving what t = true ->
    exists some, (forall s, s < n_switches f -> near t s = true -> In s some) /\ check_next t some parts = true).
  { intros t T Q. destruct (J t T) as (m & n & _ & _ & H). unfold check_lid in H. rewrite Q in H.
    destruct (like t =? t).
    - unfold check_moving in H. split_and.
      destruct (check_far shared m n t (n_switches f)) as [some|] eqn:F; [|discriminate]. split_and.
      exists some. split; [intros u U; apply (far_judged _ _ _ _ _ _ F u U)|assumption].
    - unfold check_moving_alike in H. split_and.
      destruct (check_far_alike _ _ _ _ _ _ _) as [some|] eqn:F; [|discriminate]. split_and.
      exists some. split; [|assumption]. intros u U Z.
      destruct (far_alike_judged _ _ _ _ _ _ _ _ F u U) as [A B].
      destruct (Nat.eq_dec u (fst (home f t))) as [E|E]; [destruct (A E); congruence|apply (B E), Z]. }
  assert (G : forall r, (forall y, In y r -> In y l) ->
    (forall t, In t (lids f) -> moving what t = true ->
      exists some, (forall s, s < n_switches f -> near t s = true -> In s some) /\
      check_next t some (map (fun x => (x, tables_of x, here x)) r) = true) ->
    check_change f gone (map (fun x => (period_of f what (fst x), whole M N x)) r) = true).
  { induction r as [|x r IH]; intros I K; [reflexivity|]. simpl.
    apply andb_true_iff; split; [apply andb_true_iff; split|].
    - apply (whole_right M N R S J x). apply I. left. reflexivity.
    - destruct r as [|x' r]; [reflexivity|]. simpl. apply (next_right M N x x' r J I K).
    - apply IH; [intros y Y; apply I; right; exact Y|]. intros t T Q. destruct (K t T Q) as (some & Z & K').
      exists some. split; [exact Z|]. clear K. rename K' into K.
      destruct r as [|x' r]; [reflexivity|]. simpl map in K. cbn [check_next] in K.
      apply andb_true_iff in K. apply K. }
  apply G; auto.
Qed.

End Accepted.
End Alike.

(* Theorem.  What is accepted so is accepted one by one, with other certificates: changes, *)
Definition check_plan f gone k like what found_at l := check_parts f gone k like what found_at l.

Theorem alike_change f gone k like what found_at l : check_plan f gone k like what found_at l = true ->
  exists l', map fst l' = map (fun x => period_of f what (fst x)) l /\ check_change f gone l' = true.
Proof. apply parts_right. Qed.

(* and tables that stay. *)
Definition check_classes f k like := check_parts f nothing_gone k like nothing (fun _ _ => false)
  [(still, Findings (rank k) (fun _ _ => []) (find_step k) (counts k))].

Theorem alike_right f k like : check_classes f k like = true ->
  exists k', check (put f (period_of f nothing still)) k' = true.
Proof.
  intros A. destruct (parts_right _ _ _ _ _ _ _ A) as ([|[p k'] [|? ?]] & E & C); try discriminate E.
  injection E as E. simpl in E. subst p. simpl in C. apply andb_true_iff in C. destruct C as [C _].
  apply andb_true_iff in C. destruct C as [C _]. exists k'. exact C.
Qed.
