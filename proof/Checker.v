(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Checker.v: a checker of tables that is proved right.

   In words: tables that the checker accepts cannot deadlock ([check_safe]); what
   is in the network leaves it, whatever the order of service ([check_drains]); a
   unicast packet leaves at the owner of its LID only ([check_delivers]), and every
   pair has a first hop ([check_starts]); a multicast packet comes to every member
   of its group, from every source ([check_members]).
   Proves, of doc/rules.md: "Certificates".

   A certificate has a rank for each channel (dateline verify --certificate).  What
   else the checker takes is found by whoever calls it, and need not be trusted
   either: which (SL, VL) pairs packets have at each output ([set_at]), and a list
   of all different hops with such sets ([step]), so that a hop that many LIDs
   share is judged once.  SLs that all maps treat alike are judged together
   ([merged]).  The checker believes none of this before it has seen that no packet
   leads out of the sets, and that ranks fall.

   Everything about the fabric is a function: an array in OCaml, for example. *)

From Coq Require Import List Arith Bool Lia.
From Dateline Require Import Net Drain Transition.
Import ListNotations.

(* What the tables hold as time goes by.  Tables that do not change have one time, 0.
   While entries are written, their old and new outputs are both possible, at one time.
   At a later time all those writes are confirmed, and others may be under way.  Each LID
   counts its own stages, so that what does not change is judged once: at time i the
   entries of LID t are those of its stage [stage t i]. *)
Record period := Period {
  n_times : nat;
  stage : nat -> nat -> nat;            (* LID, time *)
  maps_at : nat -> nat -> nat;          (* LID, stage: which SL-to-VL maps *)
  outputs_at : nat -> nat -> nat -> list nat
                                        (* stage, switch, LID: possible outputs, a mask, or none *)
}.

(* Numbers: switches, ports, LIDs (multicast LIDs too), SLs, VLs. *)
Record fabric := Fabric {
  n_switches : nat;                     (* they are 0, 1, ... *)
  far_end : nat -> nat -> option (nat * nat); (* the switch and port behind a port *)
  sources : nat -> list nat;            (* input ports at which packets are made; 0: its own *)
  rows : nat -> nat -> nat -> nat -> nat * nat; (* maps, switch, input, output: an SL-to-VL
                                        row, or two, of which either may be in force *)
  n_rows : nat;
  vl_in_row : nat -> nat -> nat;        (* row, SL *)
  lids : list nat;
  sls : nat -> nat -> nat -> nat;       (* switch, input port of the source, LID: a list of SLs *)
  sl_list : nat -> list nat;
  multicast : nat -> bool;              (* of a LID *)
  home : nat -> nat * nat;              (* of a unicast LID: its owner's switch and port *)
  delivers : bool;                      (* nothing may get lost: not asked of a change *)
  now : period
}.

Definition outputs f j s t := outputs_at (now f) j s t.
Definition maps f t j := maps_at (now f) t j.
Definition stage_of f t i := stage (now f) t i.

Definition pair := (nat * nat)%type.
Definition pair_eqb (a b : pair) := (fst a =? fst b) && (snd a =? snd b).

Lemma pair_eqb_eq a b : pair_eqb a b = true <-> a = b.
Proof.
  destruct a as [a x], b as [b y]. unfold pair_eqb. simpl.
  rewrite andb_true_iff, !Nat.eqb_eq. split; [intros [-> ->]; reflexivity|intros E; injection E; auto].
Qed.

(* For all numbers below n. *)
Fixpoint below n (f : nat -> bool) := match n with
  | 0 => true
  | S m => if f m then below m f else false
  end.

Lemma below_all n f : below n f = true -> forall m, m < n -> f m = true.
Proof.
  induction n as [|n IH]; simpl; intros H m L; [lia|].
  destruct (f n) eqn:E; [|discriminate]. destruct (Nat.eq_dec m n) as [->|N]; [exact E|].
  apply IH; [exact H|lia].
Qed.

(* For all numbers from a on, below b. *)
Definition from_to a b f := below (b - a) (fun n => f (a + n)).

Lemma from_to_all a b f : from_to a b f = true -> forall m, a <= m < b -> f m = true.
Proof.
  intros H m L. pose proof (below_all _ _ H (m - a)) as K. simpl in K.
  replace (a + (m - a)) with m in K by lia. apply K. lia.
Qed.

(* ---- the network that the tables make ----------------------------------------- *)

(* A channel: switch, output port, VL.  A packet: LID, SL. *)
Record channel := Channel { sw : nat; port : nat; vl : nat }.
Record packet := Packet { lid : nat; sl : nat }.

Definition channel_dec (a b : channel) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.

(* VL 15 is no VL: such packets are dropped. *)
Definition no_vl := 15.

Section Network.
Variable f : fabric.

Definition vl_of r l := if r <? n_rows f then vl_in_row f r l else no_vl.

Definition vls_of m s i o l := let (r, r') := rows f m s i o in
  if r =? r' then [vl_of r l] else [vl_of r l; vl_of r' l].

(* A multicast packet does not go back to the port by which it came. *)
Definition copies j s i t :=
  if multicast f t then filter (fun o => negb (o =? i)) (outputs f j s t) else outputs f j s t.

(* Outputs that lead to other switches. *)
Definition leads s o := match far_end f s o with Some _ => true | None => false end.

Definition sent j s i t l : list channel :=
  flat_map (fun o => if leads s o then
      map (Channel s o) (filter (fun v => negb (v =? no_vl)) (vls_of (maps f t j) s i o l))
    else []) (copies j s i t).

(* The source at port i of switch s sends to LID t with SL l. *)
Definition sends s i t l := In t (lids f) /\ s < n_switches f /\ In i (sources f s) /\
  In l (sl_list f (sls f s i t)).

Definition onward j (p : packet) (c : channel) :=
  match far_end f (sw c) (port c) with
  | Some (s, i) => sent j s i (lid p) (sl p)
  | None => []
  end.

(* The tables at time n; at a time when entries are written, parts of it are in force. *)
Definition net n : tables channel packet := Build_tables
  (fun p c => exists s i, sends s i (lid p) (sl p) /\
    In c (sent (stage_of f (lid p) n) s i (lid p) (sl p)))
  (fun c p => onward (stage_of f (lid p) n) p c).

(* Cables may have failed before a change begins.  Nothing comes into them any more, but
   packets that did so before are still under way: anywhere where the tables of time 0
   bring them by all cables.  They go on by those that are left. *)
Variable gone : nat -> nat -> bool.
Definition stays c := negb (gone (sw c) (port c)).

Definition net_left n : tables channel packet := Build_tables
  (fun p c => inject (net n) p c /\ stays c = true)
  (fun c p => filter stays (next (net n) c p)).

Definition under_way : tables channel packet := Build_tables
  (fun p c => uses (net 0) p c)
  (fun c p => filter stays (next (net 0) c p)).

(* The same as [net] with one source only, at time 0. *)
Definition net_of s i : tables channel packet := Build_tables
  (fun p c => sends s i (lid p) (sl p) /\ In c (sent (stage_of f (lid p) 0) s i (lid p) (sl p)))
  (fun c p => onward (stage_of f (lid p) 0) p c).

End Network.

(* ---- the check ------------------------------------------------------------------- *)

(* All packets of set [from] that come from port [out] of switch [at_] and go on to
   port [next_out] by the maps [by] are in set [to] there. *)
Record step := Step { hop_maps : nat; at_ : nat; out : nat; next_out : nat; from : nat; to : nat }.

(* The same for packets with the SLs of a list that come from a source at [input]. *)
Record start := Start { st_maps : nat; st_at : nat; input : nat; st_out : nat; with_sls : nat; st_to : nat }.

Record certificate := Certificate {
  rank : nat -> nat -> nat -> nat;      (* switch, port, VL *)
  merged : nat -> nat;                  (* the SL that stands for an SL *)
  set : nat -> list pair;               (* (SL, VL) pairs *)
  set_at : nat -> nat -> nat -> nat -> nat; (* LID, stage, switch, port: which set *)
  n_steps : nat -> nat -> nat;          (* LID, stage: steps of this one and those before *)
  nth_step : nat -> step;
  find_step : nat -> nat -> nat -> nat -> nat -> nat -> nat;
  counts : nat -> bool;                 (* of a step: is it one of these tables? *)
  n_starts : nat -> nat -> nat;
  nth_start : nat -> start;
  find_start : nat -> nat -> nat -> nat -> nat -> nat -> nat;
  root : nat -> nat;                    (* of a group *)
  up : nat -> nat -> nat;               (* group, switch: the port towards the root *)
  depth : nat -> nat -> nat             (* group, switch *)
}.

Section Check.
Variable f : fabric.
Variable k : certificate.
Variable gone : nat -> nat -> bool.    (* a port whose cable fails before a change *)
Notation vls_of := (vls_of f). Notation copies := (copies f). Notation leads := (leads f).
Notation sent := (sent f). Notation net := (net f). Notation outputs := (outputs f).
Notation maps := (maps f). Notation stage_of := (stage_of f).

Definition check_merged := below (n_rows f) (fun r => below 16 (fun l =>
  vl_in_row f r l =? vl_in_row f r (merged k l))).

(* Packets with SL l cross from port i to port o on some VLs, and are in set n there. *)
Definition crosses m s i o l n := forallb (fun w =>
  if w =? no_vl then negb (delivers f)
  else negb (leads s o) || existsb (pair_eqb (l, w)) (set k n)) (vls_of m s i o l).

(* Nobody waits for a cable that has failed. *)
Definition falls m s i o (l : nat) r := negb (leads s o) || gone s o ||
  forallb (fun w => (w =? no_vl) || (rank k s o w <? r)) (vls_of m s i o l).

Definition check_step (x : step) := match far_end f (at_ x) (out x) with
  | None => false
  | Some (s, i) => forallb (fun lv : pair => crosses (hop_maps x) s i (next_out x) (fst lv) (to x) &&
      falls (hop_maps x) s i (next_out x) (fst lv) (rank k (at_ x) (out x) (snd lv)))
      (set k (from x))
  end.

Definition check_start (x : start) := forallb (fun l => (l <? 16) &&
  crosses (st_maps x) (st_at x) (input x) (st_out x) (merged k l) (st_to x)) (sl_list f (with_sls x)).

(* Is this one of the first m steps (starts)? *)
Definition has_step m v s o o' a b := let n := find_step k v s o o' a b in
  (n <? m) && counts k n && let x := nth_step k n in
  (hop_maps x =? v) && (at_ x =? s) && (out x =? o) && (next_out x =? o') && (from x =? a) && (to x =? b).

Definition has_start m v s i o a b := let n := find_start k v s i o a b in
  (n <? m) && let x := nth_start k n in
  (st_maps x =? v) && (st_at x =? s) && (input x =? i) && (st_out x =? o) && (with_sls x =? a) &&
  (st_to x =? b).

(* Unicast goes on to another switch, or is at its owner's. *)
Definition goes_home j t s := negb (delivers f) || multicast f t || match outputs j s t with
  | [o] => leads s o || ((fst (home f t) =? s) && (snd (home f t) =? o))
  | _ => false
  end.

Definition check_source m j t s i := let n := sls f s i t in match sl_list f n with
  | [] => true
  | _ => negb (leads s i) && goes_home j t s &&
      forallb (fun o => has_start m (maps t j) s i o n (set_at k t j s o)) (copies j s i t)
  end.

Definition check_output m j t s o := let a := set_at k t j s o in match set k a with
  | [] => true
  | _ => match far_end f s o with
    | None => true
    | Some (s', i) => (s' <? n_switches f) && goes_home j t s' &&
        forallb (fun o' => has_step m (maps t j) s o o' a (set_at k t j s' o')) (copies j s' i t)
    end
  end.

(* The outputs of a stage and of those before: packets may still be there. *)
Definition joined_outputs (l m : list nat) := fold_right (fun o l => if existsb (Nat.eqb o) l then l else o :: l) m l.

Fixpoint so_far j s t := match j with
  | 0 => outputs 0 s t
  | S i => joined_outputs (outputs j s t) (so_far i s t)
  end.

(* What is at an output in one stage is there in the next one, too. *)
Definition check_kept j t s o := match j with
  | 0 => true
  | S i => let a := set_at k t i s o in let b := set_at k t j s o in
      (a =? b) || forallb (fun x => existsb (pair_eqb x) (set k b)) (set k a)
  end.

Definition check_stage m n j t := below (n_switches f) (fun s =>
  forallb (check_source n j t s) (sources f s) &&
  forallb (fun o => check_kept j t s o && check_output m j t s o) (so_far j s t)).

(* Steps and starts are judged when a stage first needs them. *)
Fixpoint check_stages a b (l : list pair) := match l with
  | [] => true
  | (t, j) :: l => let m := n_steps k t j in let n := n_starts k t j in
      from_to a m (fun x => negb (counts k x) || check_step (nth_step k x)) &&
      from_to b n (fun x => check_start (nth_start k x)) &&
      check_stage m n j t && check_stages (max a m) (max b n) l
  end.

Definition last_stage t := stage_of t (pred (n_times (now f))).
Definition all_stages := flat_map (fun t => map (fun j => (t, j)) (seq 0 (S (last_stage t)))) (lids f).

(* Stages do not go back. *)
Definition check_times t := below (pred (n_times (now f))) (fun i => stage_of t i <=? stage_of t (S i)).

(* Both ends of a cable are in a group's masks, or none; and all switches that have a
   mask are joined to the root. *)
Definition check_cable j t s o := match far_end f s o with
  | None => true
  | Some (s', i) => (s' <? n_switches f) && existsb (Nat.eqb i) (outputs j s' t) &&
      match far_end f s' i with Some (a, b) => (a =? s) && (b =? o) | None => false end
  end.

Definition check_joined j t s := (s =? root k t) || (existsb (Nat.eqb (up k t s)) (outputs j s t) &&
  match far_end f s (up k t s) with Some (s', _) => depth k t s' <? depth k t s | None => false end).

Definition check_group t := let j := stage_of t 0 in
  below (n_switches f) (fun s => match outputs j s t with
    | [] => true
    | _ => forallb (check_cable j t s) (outputs j s t) && check_joined j t s
    end).

Definition check_on := check_merged && check_stages 0 0 all_stages &&
  forallb (fun t => check_times t && (negb (delivers f) || negb (multicast f t) || check_group t)) (lids f).

(* ---- and why it is right --------------------------------------------------------------- *)

Hypothesis checked : check_on = true.

Ltac split_and := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
  end.

Lemma merged_right l r : l < 16 -> r < n_rows f -> vl_in_row f r l = vl_in_row f r (merged k l).
Proof.
  intros L R. unfold check_on in checked. split_and.
  match goal with H : check_merged = true |- _ => unfold check_merged in H;
    pose proof (below_all _ _ H r R) as K end.
  apply Nat.eqb_eq, (below_all _ _ K l L).
Qed.

Lemma vls_merged m s i o l : l < 16 -> vls_of m s i o l = vls_of m s i o (merged k l).
Proof.
  intros L. assert (V : forall r, vl_of f r l = vl_of f r (merged k l)).
  { intros r. unfold vl_of. destruct (Nat.ltb_spec r (n_rows f)) as [R|R]; [|reflexivity].
    apply merged_right; assumption. }
  unfold Checker.vls_of. destruct (rows f m s i o) as [r r']. rewrite !V. reflexivity.
Qed.

Definition steps_right m := forall x, x < m -> counts k x = true -> check_step (nth_step k x) = true.
Definition starts_right n := forall x, x < n -> check_start (nth_start k x) = true.

Lemma stages_right l : forall a b, steps_right a -> starts_right b -> check_stages a b l = true ->
  forall t j, In (t, j) l -> exists m n, steps_right m /\ starts_right n /\ check_stage m n j t = true.
Proof.
  induction l as [|[t j] l IH]; intros a b A B H u i I; [contradiction|]. simpl in H. split_and.
  assert (A' : steps_right (max a (n_steps k t j))).
  { intros x X C. destruct (le_lt_dec a x); [|auto].
    match goal with H : from_to a _ _ = true |- _ =>
      pose proof (from_to_all _ _ _ H x ltac:(lia)) as Y; simpl in Y; rewrite C in Y; exact Y end. }
  assert (B' : starts_right (max b (n_starts k t j))).
  { intros x X. destruct (le_lt_dec b x); [|auto].
    match goal with H : from_to b _ _ = true |- _ => apply (from_to_all _ _ _ H x); lia end. }
  destruct I as [I|I].
  - injection I as <- <-. exists (n_steps k t j), (n_starts k t j). repeat split; auto.
    + intros x X. apply A'. lia.
    + intros x X. apply B'. lia.
  - eapply IH; eassumption.
Qed.

Lemma stage_right t j : In t (lids f) -> j <= last_stage t ->
  exists m n, steps_right m /\ starts_right n /\ check_stage m n j t = true.
Proof.
  intros T J. unfold check_on in checked. split_and.
  apply (stages_right all_stages 0 0); auto; try (intros x X; lia).
  apply in_flat_map. exists t. split; [exact T|]. apply in_map_iff. exists j.
  split; [reflexivity|]. apply in_seq. lia.
Qed.

Lemma step_right m v s o o' a b : steps_right m -> has_step m v s o o' a b = true ->
  check_step (Step v s o o' a b) = true.
Proof.
  unfold has_step. intros R H. split_and. apply Nat.ltb_lt in H. specialize (R _ H ltac:(assumption)).
  destruct (nth_step k (find_step k v s o o' a b)). simpl in *.
  repeat match goal with H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H end. subst. exact R.
Qed.

Lemma start_right m v s i o a b : starts_right m -> has_start m v s i o a b = true ->
  check_start (Start v s i o a b) = true.
Proof.
  unfold has_start. intros R H. split_and. apply Nat.ltb_lt in H. specialize (R _ H).
  destruct (nth_start k (find_start k v s i o a b)). simpl in *.
  repeat match goal with H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H end. subst. exact R.
Qed.

(* What a stage was found to be. *)
Lemma source_right t j s i : In t (lids f) -> j <= last_stage t -> s < n_switches f ->
  In i (sources f s) -> exists n, starts_right n /\ check_source n j t s i = true.
Proof.
  intros T J S I. destruct (stage_right t j T J) as (m & n & _ & N & H).
  pose proof (below_all _ _ H s S) as K. simpl in K. split_and. exists n. split; [exact N|].
  match goal with H : forallb (check_source _ _ _ _) _ = true |- _ => rewrite forallb_forall in H; auto end.
Qed.

Lemma output_right t j s o : In t (lids f) -> j <= last_stage t -> s < n_switches f ->
  In o (so_far j s t) ->
  check_kept j t s o = true /\ exists m, steps_right m /\ check_output m j t s o = true.
Proof.
  intros T J S I. destruct (stage_right t j T J) as (m & n & M & _ & H).
  pose proof (below_all _ _ H s S) as K. simpl in K. apply andb_true_iff in K. destruct K as [_ K].
  rewrite forallb_forall in K. specialize (K o I). split_and. eauto.
Qed.

Lemma so_far_now j s t o : In o (outputs j s t) -> In o (so_far j s t).
Proof.
  destruct j as [|j]; [auto|]. cbn [so_far]. unfold joined_outputs. intros I.
  induction (outputs (S j) s t) as [|x l IH]; [contradiction|]. simpl.
  set (r := fold_right _ _ l) in *. destruct (existsb (Nat.eqb x) r) eqn:E.
  - destruct I as [->|I]; [|auto]. apply existsb_exists in E. destruct E as (y & Y & Q).
    apply Nat.eqb_eq in Q. subst. exact Y.
  - destruct I as [->|I]; [left; reflexivity|right; auto].
Qed.

Lemma so_far_later j s t o : In o (so_far j s t) -> In o (so_far (S j) s t).
Proof.
  intros I. cbn [so_far]. unfold joined_outputs. induction (outputs (S j) s t) as [|x l IH]; [exact I|].
  simpl. destruct (existsb _ _); [exact IH|right; exact IH].
Qed.

Lemma sent_in c j s i t l : In c (sent j s i t l) <-> sw c = s /\ In (port c) (copies j s i t) /\
  leads s (port c) = true /\ In (vl c) (vls_of (maps t j) s i (port c) l) /\ vl c <> no_vl.
Proof.
  unfold Checker.sent. rewrite in_flat_map. split.
  - intros (o & I & H). destruct (leads s o) eqn:E; [|contradiction].
    apply in_map_iff in H. destruct H as (v & <- & V). apply filter_In in V. destruct V as [V N].
    apply negb_true_iff, Nat.eqb_neq in N. simpl. auto.
  - intros (<- & I & L & V & N). exists (port c). split; [exact I|]. rewrite L.
    apply in_map_iff. exists (vl c). split; [destruct c; reflexivity|]. apply filter_In.
    split; [exact V|]. apply negb_true_iff, Nat.eqb_neq, N.
Qed.

Lemma copies_in o j s i t : In o (copies j s i t) <->
  In o (outputs j s t) /\ (multicast f t = true -> o <> i).
Proof.
  unfold Checker.copies. destruct (multicast f t).
  - rewrite filter_In, negb_true_iff, Nat.eqb_neq. split; intros [A B]; auto.
  - split; [intros A; split; [exact A|discriminate]|intros [A _]; exact A].
Qed.

Lemma in_pairs (x : pair) l : existsb (pair_eqb x) l = true -> In x l.
Proof. intros H. apply existsb_exists in H. destruct H as (y & Y & Z). apply pair_eqb_eq in Z. subst. exact Y. Qed.

(* Packets that cross, and where they are then. *)
Lemma crosses_all m s i o l n w : crosses m s i o l n = true -> In w (vls_of m s i o l) ->
  (w = no_vl -> delivers f = false) /\ (w <> no_vl -> leads s o = true -> In (l, w) (set k n)).
Proof.
  unfold crosses. rewrite forallb_forall. intros H W. specialize (H w W).
  destruct (Nat.eqb_spec w no_vl) as [E|E]; split; intros A; try contradiction.
  - apply negb_true_iff, H.
  - intros L. rewrite L in H. apply in_pairs, H.
Qed.

(* Where the certificate knows a packet to be in stage j. *)
Definition known j p c := In (lid p) (lids f) /\ sw c < n_switches f /\ leads (sw c) (port c) = true /\
  In (port c) (so_far j (sw c) (lid p)) /\ sl p < 16 /\
  In (merged k (sl p), vl c) (set k (set_at k (lid p) j (sw c) (port c))).

(* The switch behind a known packet's channel, and what was checked of it. *)
Lemma known_far j p c : j <= last_stage (lid p) -> known j p c ->
  exists s i, far_end f (sw c) (port c) = Some (s, i) /\
  s < n_switches f /\ goes_home j (lid p) s = true /\ forall o, In o (copies j s i (lid p)) ->
    forall w, In w (vls_of (maps (lid p) j) s i o (sl p)) ->
    (w = no_vl -> delivers f = false) /\ (w <> no_vl -> leads s o = true ->
      In (merged k (sl p), w) (set k (set_at k (lid p) j s o)) /\
      (gone s o = false -> rank k s o w < rank k (sw c) (port c) (vl c))).
Proof.
  intros J (T & S & L & O & Q & H). destruct (output_right _ _ _ _ T J S O) as (_ & m & M & K).
  unfold check_output in K. unfold Checker.leads in L.
  destruct (far_end f (sw c) (port c)) as [[s i]|] eqn:F; [|discriminate].
  destruct (set k (set_at k (lid p) j (sw c) (port c))) as [|x r] eqn:E; [contradiction|].
  exists s, i. split; [reflexivity|]. split_and.
  split; [apply Nat.ltb_lt; assumption|]. split; [assumption|]. intros o I w W.
  match goal with H : forallb _ (copies _ _ _ _) = true |- _ => rewrite forallb_forall in H;
    specialize (H o I); apply (step_right _ _ _ _ _ _ _ M) in H; unfold check_step in H; simpl in H;
    rewrite F in H; rewrite forallb_forall in H; rewrite E in H;
    specialize (H _ ltac:(eassumption)); simpl in H; rename H into G end.
  apply andb_true_iff in G. destruct G as [G R]. rewrite (vls_merged _ s i o (sl p) Q) in W.
  destruct (crosses_all _ _ _ _ _ _ _ G W) as [A B]. split; [exact A|]. intros N D.
  split; [apply B; assumption|]. intros Z. unfold falls in R. rewrite D, Z in R. simpl in R.
  rewrite forallb_forall in R. specialize (R w W). apply orb_true_iff in R.
  destruct R as [R|R]; [apply Nat.eqb_eq in R; contradiction|apply Nat.ltb_lt, R].
Qed.

Lemma known_next j p c d : j <= last_stage (lid p) -> known j p c -> In d (onward f j p c) ->
  known j p d /\ (stays gone d = true -> rank k (sw d) (port d) (vl d) < rank k (sw c) (port c) (vl c)).
Proof.
  intros J K N. unfold stays. rewrite negb_true_iff. destruct (known_far j p c J K) as (s & i & F & S & _ & G).
  destruct K as (T & _ & _ & _ & Q & _). unfold onward in N. rewrite F in N.
  apply sent_in in N. destruct N as (E & I & L & V & X). subst s.
  destruct (G _ I _ V) as [_ H]. destruct (H X L) as [M R]. split; [|exact R].
  repeat split; auto. apply so_far_now. apply copies_in in I. apply I.
Qed.

(* What is known in one stage is known in the next one. *)
Lemma known_later j p c : S j <= last_stage (lid p) -> known j p c -> known (S j) p c.
Proof.
  intros J (T & S & L & O & Q & H). pose proof (so_far_later _ _ _ _ O) as O'.
  destruct (output_right _ _ _ _ T J S O') as [K _]. repeat split; auto.
  unfold check_kept in K. apply orb_true_iff in K. destruct K as [K|K].
  - apply Nat.eqb_eq in K. rewrite <- K. exact H.
  - rewrite forallb_forall in K. apply in_pairs, K, H.
Qed.

(* A source: it is no cable between switches, and what it sends is known. *)
Lemma source_sends j s i t l : j <= last_stage t -> sends f s i t l ->
  leads s i = false /\ goes_home j t s = true.
Proof.
  intros J (T & S & I & X). destruct (source_right _ _ _ _ T J S I) as (n & _ & K).
  unfold check_source in K. destruct (sl_list f (sls f s i t)) as [|x r]; [contradiction|]. split_and.
  split; [apply negb_true_iff|]; assumption.
Qed.

Lemma source_copies j s i t l o : j <= last_stage t -> sends f s i t l -> In o (copies j s i t) ->
  l < 16 /\ forall w, In w (vls_of (maps t j) s i o l) -> (w = no_vl -> delivers f = false) /\
    (w <> no_vl -> leads s o = true -> In (merged k l, w) (set k (set_at k t j s o))).
Proof.
  intros J (T & S & I & X) O. destruct (source_right _ _ _ _ T J S I) as (n & N & K).
  unfold check_source in K.
  destruct (sl_list f (sls f s i t)) as [|x r] eqn:E; [contradiction|]. split_and.
  match goal with H : forallb _ (copies _ _ _ _) = true |- _ => rewrite forallb_forall in H;
    specialize (H o O); apply (start_right _ _ _ _ _ _ _ N) in H; unfold check_start in H; simpl in H;
    rewrite E in H; rewrite forallb_forall in H; specialize (H _ X); rename H into G end.
  apply andb_true_iff in G. destruct G as [L G]. apply Nat.ltb_lt in L.
  split; [exact L|]. intros w W. rewrite (vls_merged _ s i o l L) in W.
  apply (crosses_all _ _ _ _ _ _ _ G W).
Qed.

Lemma known_first j p c s i : j <= last_stage (lid p) -> sends f s i (lid p) (sl p) ->
  In c (sent j s i (lid p) (sl p)) -> known j p c.
Proof.
  intros Y X J. apply sent_in in J. destruct J as (E & O & L & V & N). subst s.
  destruct (source_copies _ _ _ _ _ _ Y X O) as (Q & M). destruct (M _ V) as [_ A].
  destruct X as (T & S & I & _). repeat split; auto. apply so_far_now. apply copies_in in O. apply O.
Qed.

(* ---- from time to time ------------------------------------------------------------ *)

(* The tables of times n, ..., 1, and what was under way before. *)
Fixpoint history n := match n with
  | 0 => [under_way f gone]
  | S m => net_left f gone n :: history m
  end.

Lemma times_right t : In t (lids f) -> check_times t = true.
Proof.
  intros T. unfold check_on in checked. split_and.
  match goal with H : forallb _ (lids f) = true |- _ => rewrite forallb_forall in H; specialize (H t T) end.
  split_and. assumption.
Qed.

Lemma stages_rise t n m : In t (lids f) -> n <= m <= pred (n_times (now f)) -> stage_of t n <= stage_of t m.
Proof.
  intros T [L M]. pose proof (times_right t T) as H. unfold check_times in H.
  induction L as [|m L IH]; [apply le_n|].
  pose proof (below_all _ _ H m ltac:(lia)) as K. simpl in K. apply Nat.leb_le in K.
  specialize (IH ltac:(lia)). lia.
Qed.

Lemma stage_in_time t n : In t (lids f) -> n <= pred (n_times (now f)) -> stage_of t n <= last_stage t.
Proof. intros T N. apply (stages_rise t n); auto. Qed.

Lemma known_up p c j : forall d, j + d <= last_stage (lid p) -> known j p c -> known (j + d) p c.
Proof.
  induction d as [|d IH]; intros L K; [rewrite Nat.add_0_r; exact K|].
  rewrite Nat.add_succ_r in *. apply known_later; [exact L|]. apply IH; [lia|exact K].
Qed.

Lemma uses_known p c : uses (net 0) p c -> known (stage_of (lid p) 0) p c.
Proof.
  intros U. induction U as [c (s & i & X & J)|c d U IH J].
  - eapply known_first; eauto. apply stage_in_time; [apply X|lia].
  - apply (known_next (stage_of (lid p) 0) p c d); auto. apply stage_in_time; [apply IH|lia].
Qed.

Lemma comes_known h p c : comes h p c -> forall n, n <= pred (n_times (now f)) -> h = history n ->
  known (stage_of (lid p) n) p c.
Proof.
  intros K. induction K as [T h p c J|T h p c d K IH J|T h p c K IH]; intros n N E.
  - destruct n as [|n]; injection E as -> _; [apply uses_known, J|].
    destruct J as [(s & i & X & J) _]. eapply known_first; eauto. apply stage_in_time; [apply X|exact N].
  - specialize (IH n N E). apply (known_next _ p c d); auto.
    + apply stage_in_time; [apply IH|exact N].
    + destruct n as [|n]; injection E as -> _; apply filter_In in J; apply J.
  - destruct n as [|n]; simpl in E; injection E as -> ->; [inversion K|].
    specialize (IH n ltac:(lia) eq_refl). pose proof (proj1 IH) as T.
    pose proof (stages_rise (lid p) n (S n) T ltac:(lia)) as R.
    pose proof (stage_in_time (lid p) (S n) T N) as R'.
    replace (stage_of (lid p) (S n)) with
      (stage_of (lid p) n + (stage_of (lid p) (S n) - stage_of (lid p) n)) in * by lia.
    apply known_up; assumption.
Qed.

Definition channel_rank c := rank k (sw c) (port c) (vl c).

Lemma held_falls h c d : held h c d -> forall n, n <= pred (n_times (now f)) -> h = history n ->
  channel_rank d < channel_rank c.
Proof.
  intros K. induction K as [T h p c d X J|T h c d K IH]; intros n N E.
  - pose proof (comes_known _ p c X n N E) as Y.
    assert (J' : In d (onward f (stage_of (lid p) n) p c) /\ stays gone d = true).
    { destruct n as [|n]; injection E as -> _; apply filter_In, J. }
    apply (known_next (stage_of (lid p) n) p c d); try apply J'; auto.
    apply stage_in_time; [apply Y|exact N].
  - destruct n as [|n]; simpl in E; injection E as -> ->; [inversion K|].
    apply (IH n); [lia|reflexivity].
Qed.

Lemma checked_falls c d : waits (net 0) c d -> stays gone d = true -> channel_rank d < channel_rank c.
Proof.
  intros (p & U & J). pose proof (uses_known p c U) as Y.
  apply (known_next (stage_of (lid p) 0) p c d); auto. apply stage_in_time; [apply Y|lia].
Qed.

(* All channels that packets can come into: switches, their ports, VLs. *)
Definition channels := nodup channel_dec (flat_map (fun s => flat_map (fun t => flat_map (fun j =>
  flat_map (fun o => map (fun x : pair => Channel s o (snd x)) (set k (set_at k t j s o)))
  (so_far j s t)) (seq 0 (S (last_stage t)))) (lids f)) (seq 0 (n_switches f))).

Lemma known_channel j p c : j <= last_stage (lid p) -> known j p c -> In c channels.
Proof.
  intros J (L & S & _ & O & _ & H).
  apply nodup_In, in_flat_map. exists (sw c). split; [apply in_seq; lia|].
  apply in_flat_map. exists (lid p). split; [exact L|].
  apply in_flat_map. exists j. split; [apply in_seq; lia|].
  apply in_flat_map. exists (port c). split; [exact O|].
  apply in_map_iff. exists (merged k (sl p), vl c). split; [destruct c; reflexivity|exact H].
Qed.

(* ---- unicast is delivered ------------------------------------------------------- *)

Definition at_home s i t l := let j := stage_of t 0 in exists o, outputs j s t = [o] /\
  home f t = (s, o) /\ forall w, In w (vls_of (maps t j) s i o l) -> w <> no_vl.

Lemma sends_or_home s i t l : let j := stage_of t 0 in delivers f = true -> multicast f t = false ->
  goes_home j t s = true ->
  (forall o, In o (copies j s i t) -> forall w, In w (vls_of (maps t j) s i o l) -> w <> no_vl) ->
  sent j s i t l = [] -> at_home s i t l.
Proof.
  intros j B M H G N. unfold goes_home in H. rewrite B, M in H. simpl in H.
  destruct (outputs j s t) as [|o [|? ?]] eqn:E; try discriminate.
  assert (O : In o (copies j s i t)).
  { apply copies_in. rewrite E, M. split; [left; reflexivity|discriminate]. }
  exists o. split; [exact E|]. split; [|apply G, O].
  destruct (leads s o) eqn:L.
  - exfalso. assert (V : exists w, In w (vls_of (maps t j) s i o l)).
    { unfold Checker.vls_of. destruct (rows f (maps t j) s i o) as [r r'].
      destruct (r =? r'); eexists; left; reflexivity. }
    destruct V as [w W]. assert (J : In (Channel s o w) (sent j s i t l)).
    { apply sent_in. simpl. repeat split; auto. apply (G o O w W). }
    rewrite N in J. contradiction.
  - simpl in H. apply andb_true_iff in H. destruct H as [A C]. apply Nat.eqb_eq in A, C.
    destruct (home f t). simpl in *. congruence.
Qed.

(* ---- multicast comes to every member ---------------------------------------------- *)

Section Group.
Variables (s0 i0 t l : nat).
Hypothesis sent_here : sends f s0 i0 t l.
Hypothesis is_group : multicast f t = true.
Hypothesis nothing_lost : delivers f = true.
Notation j := (stage_of t 0).
Hypothesis masked : outputs j s0 t <> [].
Notation only := (net_of f s0 i0).
Notation p := (Packet t l).

(* A copy of the packet is at switch s: from its source, or by port i. *)
Inductive visited (s : nat) : option nat -> Prop :=
| AtSource : s = s0 -> visited s None
| Came c i : uses only p c -> far_end f (sw c) (port c) = Some (s, i) -> visited s (Some i).

Lemma in_time : j <= last_stage t.
Proof. apply stage_in_time; [apply sent_here|lia]. Qed.

Lemma only_known c : uses only p c -> known j p c.
Proof.
  intros U. apply (uses_known p c). induction U as [c [X J]|c d U IH J].
  - apply UseFirst. exists s0, i0. auto.
  - eapply UseNext; eauto.
Qed.

Lemma group_at s : s < n_switches f -> outputs j s t <> [] ->
  (forall o, In o (outputs j s t) -> check_cable j t s o = true) /\ check_joined j t s = true.
Proof.
  intros S N. pose proof checked as G. unfold check_on in G. split_and.
  match goal with H : forallb _ (lids f) = true |- _ => rewrite forallb_forall in H;
    specialize (H t (proj1 sent_here)); rename H into K end.
  apply andb_true_iff in K. destruct K as [_ K]. rewrite is_group, nothing_lost in K. simpl in K.
  pose proof (below_all _ _ K s S) as X. simpl in X. destruct (outputs j s t) as [|x r]; [congruence|].
  apply andb_true_iff in X. destruct X as [X Y]. rewrite forallb_forall in X. auto.
Qed.

(* Both ends of a cable have it in their masks. *)
Lemma cable_back s o s' i : s < n_switches f -> In o (outputs j s t) -> far_end f s o = Some (s', i) ->
  s' < n_switches f /\ In i (outputs j s' t) /\ far_end f s' i = Some (s, o).
Proof.
  intros S O F. assert (N : outputs j s t <> []) by (intros E; rewrite E in O; contradiction).
  destruct (group_at s S N) as [H _]. specialize (H o O). unfold check_cable in H. rewrite F in H.
  split_and. split; [apply Nat.ltb_lt; assumption|]. split.
  - match goal with H : existsb _ _ = true |- _ => apply existsb_exists in H;
      destruct H as (y & Y & Z) end. apply Nat.eqb_eq in Z. subst. exact Y.
  - destruct (far_end f s' i) as [[a b]|]; [|discriminate].
    split_and. repeat match goal with H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H end.
    subst. reflexivity.
Qed.

Lemma start_below : s0 < n_switches f.
Proof. apply sent_here. Qed.

(* Some VL of a packet that crosses, none of which is 15. *)
Lemma a_vl m s i o : exists w, In w (vls_of m s i o l).
Proof.
  unfold Checker.vls_of. destruct (rows f m s i o) as [r r'].
  destruct (r =? r'); eexists; left; reflexivity.
Qed.

Lemma from_source o : In o (copies j s0 i0 t) ->
  forall w, In w (vls_of (maps t j) s0 i0 o l) -> w <> no_vl.
Proof.
  intros X w W E. destruct (source_copies _ _ _ _ _ _ in_time sent_here X) as (_ & N).
  apply (N w) in E; [congruence|exact W].
Qed.

Lemma from_cable c s i o : uses only p c -> far_end f (sw c) (port c) = Some (s, i) ->
  In o (copies j s i t) -> forall w, In w (vls_of (maps t j) s i o l) -> w <> no_vl.
Proof.
  intros U E X w W. destruct (known_far j p c in_time (only_known c U)) as (s1 & i1 & E1 & _ & _ & G).
  rewrite E in E1. injection E1 as <- <-. intros V. apply (G o X w) in V; [congruence|exact W].
Qed.

(* A copy that has come to a switch has come to, or from, each of its neighbours. *)
Lemma spreads s w o s' i' : visited s w -> s < n_switches f -> In o (outputs j s t) ->
  far_end f s o = Some (s', i') -> exists w', visited s' w'.
Proof.
  intros V S O F. assert (L : leads s o = true) by (unfold Checker.leads; rewrite F; reflexivity).
  destruct V as [->|c i U E].
  - assert (X : In o (copies j s0 i0 t)).
    { apply copies_in. split; [exact O|]. intros _ ->.
      destruct (source_sends j _ _ _ _ in_time sent_here). congruence. }
    destruct (a_vl (maps t j) s0 i0 o) as [v W].
    exists (Some i'). apply (Came s' (Channel s0 o v) i'); [|exact F].
    apply UseFirst. split; [exact sent_here|]. apply sent_in. simpl. repeat split; auto.
    apply (from_source o X v W).
  - destruct (Nat.eq_dec o i) as [->|D].
    + destruct (only_known c U) as (_ & C & _).
      assert (O' : In (port c) (outputs j (sw c) t)).
      { destruct U as [c [X J]|b c U J]; [apply sent_in in J|simpl in J; unfold onward in J;
          destruct (far_end f (sw b) (port b)) as [[a y]|]; [apply sent_in in J|contradiction]];
        destruct J as (<- & J & _); apply copies_in in J; apply J. }
      destruct (cable_back (sw c) (port c) s i C O' E) as (_ & _ & B). rewrite B in F.
      injection F as <- _.
      destruct U as [c [X J]|b c U J].
      * exists None. apply AtSource. apply sent_in in J. apply J.
      * simpl in J. unfold onward in J. destruct (far_end f (sw b) (port b)) as [[a y]|] eqn:F; [|contradiction].
        apply sent_in in J. destruct J as (<- & _). exists (Some y). apply (Came (sw c) b y U F).
    + assert (X : In o (copies j s i t)) by (apply copies_in; auto).
      destruct (a_vl (maps t j) s i o) as [v W].
      exists (Some i'). apply (Came s' (Channel s o v) i'); [|exact F].
      eapply UseNext; [exact U|]. simpl. unfold onward. rewrite E. apply sent_in. simpl.
      repeat split; auto. apply (from_cable c s i o U E X v W).
Qed.

Lemma nonempty s o : In o (outputs j s t) -> outputs j s t <> [].
Proof. intros O E. rewrite E in O. contradiction. Qed.

Lemma joined s : s < n_switches f -> outputs j s t <> [] -> s = root k t \/
  exists o s' i, In o (outputs j s t) /\ far_end f s o = Some (s', i) /\ depth k t s' < depth k t s.
Proof.
  intros S N. destruct (group_at s S N) as [_ J]. unfold check_joined in J. apply orb_true_iff in J.
  destruct J as [J|J]; [left; apply Nat.eqb_eq, J|right]. apply andb_true_iff in J. destruct J as [J D].
  apply existsb_exists in J. destruct J as (o & O & E). apply Nat.eqb_eq in E. subst o.
  destruct (far_end f s (up k t s)) as [[s' i]|] eqn:F; [|discriminate].
  exists (up k t s), s', i. apply Nat.ltb_lt in D. auto.
Qed.

Lemma comes_to_root n : forall s w, depth k t s <= n -> visited s w -> s < n_switches f ->
  outputs j s t <> [] -> exists w', visited (root k t) w'.
Proof.
  induction n as [|n IH]; intros s w D V S N; destruct (joined s S N) as [->|(o & s' & i & O & F & L)];
    eauto; [lia|].
  destruct (cable_back s o s' i S O F) as (S' & O' & _).
  destruct (spreads s w o s' i V S O F) as [w' V'].
  apply (IH s' w'); auto; [lia|]. eapply nonempty; eauto.
Qed.

Lemma comes_from_root n : forall s, depth k t s <= n -> s < n_switches f -> outputs j s t <> [] ->
  exists w, visited s w.
Proof.
  assert (R : exists w, visited (root k t) w).
  { apply (comes_to_root (depth k t s0) s0 None); auto; [apply AtSource; reflexivity|apply start_below]. }
  induction n as [|n IH]; intros s D S N; destruct (joined s S N) as [->|(o & s' & i & O & F & L)];
    eauto; [lia|].
  destruct (cable_back s o s' i S O F) as (S' & O' & B).
  destruct (IH s') as [w V]; auto; [lia|eapply nonempty; eauto|].
  apply (spreads s' w i s o V S' O' B).
Qed.

(* A copy leaves by port o of switch s, where it came from the source or by port i. *)
Definition gets s o := exists i, In o (copies j s i t) /\
  (forall w, In w (vls_of (maps t j) s i o l) -> w <> no_vl) /\
  ((s = s0 /\ i = i0) \/ exists c, uses only p c /\ far_end f (sw c) (port c) = Some (s, i)).

Lemma member_gets s o : s < n_switches f -> In o (outputs j s t) -> leads s o = false ->
  (s, o) <> (s0, i0) -> gets s o.
Proof.
  intros S O L D. destruct (comes_from_root (depth k t s) s (le_n _) S (nonempty _ _ O)) as [w V].
  destruct V as [->|c i U F].
  - exists i0. assert (X : In o (copies j s0 i0 t)) by (apply copies_in; split; [exact O|congruence]).
    split; [exact X|]. split; [apply (from_source o X)|auto].
  - exists i. assert (X : In o (copies j s i t)).
    { apply copies_in. split; [exact O|]. intros _ ->. destruct (only_known c U) as (_ & C & _).
      assert (O' : In (port c) (outputs j (sw c) t)).
      { destruct U as [c [X J]|b c U J]; [apply sent_in in J|simpl in J; unfold onward in J;
          destruct (far_end f (sw b) (port b)) as [[a y]|]; [apply sent_in in J|contradiction]];
        destruct J as (<- & J & _); apply copies_in in J; apply J. }
      destruct (cable_back (sw c) (port c) s i C O' F) as (_ & _ & B).
      unfold Checker.leads in L. rewrite B in L. discriminate. }
    split; [exact X|]. split; [apply (from_cable c s i o U F X)|]. right. exists c. auto.
Qed.

End Group.

End Check.

(* Tables that stay are judged on the cables that they have. *)
Definition nothing_gone (_ _ : nat) := false.
Definition check f k := check_on f k nothing_gone.

(* ---- tables that stay -------------------------------------------------------------- *)

Section Theorems.
Variable size : packet -> nat.
Variable cap : channel -> nat.
Hypothesis fits : forall p c, size p <= cap c.
Notation run := (run channel packet channel_dec size cap).
Notation empty := (empty channel packet).
Notation some_packet := (some_packet channel packet).
Notation head_can_move := (head_can_move channel packet size cap).
Notation all_leave := (all_leave channel packet channel_dec size cap).

Section Fixed.
Variables (f : fabric) (k : certificate).
Hypothesis accepted : check f k = true.
Notation tables := (net f 0).

(* Theorem 6.  What is accepted never deadlocks: in whole or in any changing part. *)
Theorem check_safe q : run (part_of tables) empty q -> some_packet q -> head_can_move q.
Proof.
  apply acyclic_safe; [exact fits|].
  apply (ranked_acyclic _ _ (channel_rank k)). intros c d W.
  apply (checked_falls f k nothing_gone accepted c d W), eq_refl.
Qed.

(* Theorem 7.  From every state that can be reached, while parts of the tables are in
   force and when one part T stays, all packets leave. *)
Theorem check_drains T q : part_of tables T -> run (part_of tables) empty q -> all_leave T q.
Proof.
  apply (drains_in_part channel packet channel_dec size cap fits (channels f k)
    (NoDup_nodup _ _) tables) with (rank := channel_rank k).
  - intros p c U. pose proof (uses_known f k nothing_gone accepted p c U) as K.
    apply (known_channel f k (stage_of f (lid p) 0) p); [|exact K].
    apply (stage_in_time f k nothing_gone accepted); [apply K|lia].
  - intros c d W. apply (checked_falls f k nothing_gone accepted c d W), eq_refl.
Qed.

(* A packet ends at its home only, and there its VL is not 15. *)
Theorem check_delivers p c : delivers f = true -> multicast f (lid p) = false ->
  uses tables p c -> next tables c p = [] ->
  exists s i, far_end f (sw c) (port c) = Some (s, i) /\ at_home f s i (lid p) (sl p).
Proof.
  intros B M U N. pose proof (uses_known f k nothing_gone accepted p c U) as K.
  assert (J : stage_of f (lid p) 0 <= last_stage f (lid p))
    by (apply (stage_in_time f k nothing_gone accepted); [apply K|lia]).
  destruct (known_far f k nothing_gone accepted _ p c J K) as (s & i & F & S & H & G).
  exists s, i. split; [exact F|]. apply sends_or_home; auto.
  - intros o O w W E. apply (G o O w W) in E. congruence.
  - simpl in N. unfold onward in N. rewrite F in N. exact N.
Qed.

(* Every packet has a first hop, unless it is at home at once. *)
Theorem check_starts s i t l : delivers f = true -> multicast f t = false -> sends f s i t l ->
  sent f (stage_of f t 0) s i t l = [] -> at_home f s i t l.
Proof.
  intros B M X N.
  assert (J : stage_of f t 0 <= last_stage f t)
    by (apply (stage_in_time f k nothing_gone accepted); [apply X|lia]).
  apply sends_or_home; auto.
  - apply (source_sends f k nothing_gone accepted _ s i t l J X).
  - intros o O w W E. destruct (source_copies f k nothing_gone accepted _ s i t l o J X O) as [_ G].
    apply (G w W) in E. congruence.
Qed.

(* A copy comes to each other member (a port of a mask that leads to no switch), from
   every source at a switch that has a mask. *)
Theorem check_members s0 i0 t l s o : let j := stage_of f t 0 in delivers f = true ->
  multicast f t = true -> sends f s0 i0 t l -> outputs f j s0 t <> [] -> s < n_switches f ->
  In o (outputs f j s t) -> leads f s o = false -> (s, o) <> (s0, i0) -> gets f s0 i0 t l s o.
Proof. intros. eapply member_gets; eauto. Qed.

End Fixed.

End Theorems.
