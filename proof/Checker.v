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
From Dateline Require Import Net Drain.
Import ListNotations.

(* Numbers: switches, ports, LIDs (multicast LIDs too), SLs, VLs. *)
Record fabric := Fabric {
  n_switches : nat;                     (* they are 0, 1, ... *)
  far_end : nat -> nat -> option (nat * nat); (* the switch and port behind a port *)
  sources : nat -> list nat;            (* input ports at which packets are made; 0: its own *)
  row : nat -> nat -> nat -> nat;       (* switch, input, output: an SL-to-VL row *)
  n_rows : nat;
  vl_in_row : nat -> nat -> nat;        (* row, SL *)
  lids : list nat;
  outputs : nat -> nat -> list nat;     (* switch, LID: one for unicast, a mask, or none *)
  sls : nat -> nat -> nat -> nat;       (* switch, input port of the source, LID: a list of SLs *)
  sl_list : nat -> list nat;
  multicast : nat -> bool;              (* of a LID *)
  home : nat -> nat * nat               (* of a unicast LID: its owner's switch and port *)
}.

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

Definition vl_of s i o l :=
  let r := row f s i o in if r <? n_rows f then vl_in_row f r l else no_vl.

(* A multicast packet does not go back to the port by which it came. *)
Definition copies s i t :=
  if multicast f t then filter (fun o => negb (o =? i)) (outputs f s t) else outputs f s t.

(* Outputs that lead to other switches. *)
Definition leads s o := match far_end f s o with Some _ => true | None => false end.

Definition sent s i t l : list channel :=
  flat_map (fun o => let v := vl_of s i o l in
    if leads s o && negb (v =? no_vl) then [Channel s o v] else []) (copies s i t).

(* The source at port i of switch s sends to LID t with SL l. *)
Definition sends s i t l := In t (lids f) /\ s < n_switches f /\ In i (sources f s) /\
  In l (sl_list f (sls f s i t)).

Definition onward (p : packet) (c : channel) :=
  match far_end f (sw c) (port c) with
  | Some (s, i) => sent s i (lid p) (sl p)
  | None => []
  end.

Definition net : tables channel packet := Build_tables
  (fun p c => exists s i, sends s i (lid p) (sl p) /\ In c (sent s i (lid p) (sl p)))
  (fun c p => onward p c).

(* The same with one source only. *)
Definition net_of s i : tables channel packet := Build_tables
  (fun p c => sends s i (lid p) (sl p) /\ In c (sent s i (lid p) (sl p)))
  (fun c p => onward p c).

End Network.

(* ---- the check ------------------------------------------------------------------- *)

(* All packets of set [from] that come from port [out] of switch [at_] and go on to
   port [next_out] are in set [to] there. *)
Record step := Step { at_ : nat; out : nat; next_out : nat; from : nat; to : nat }.

(* The same for packets with the SLs of a list that come from a source at [input]. *)
Record start := Start { st_at : nat; input : nat; st_out : nat; with_sls : nat; st_to : nat }.

Record certificate := Certificate {
  rank : nat -> nat -> nat -> nat;      (* switch, port, VL *)
  merged : nat -> nat;                  (* the SL that stands for an SL *)
  set : nat -> list pair;               (* (SL, VL) pairs *)
  set_at : nat -> nat -> nat -> nat;    (* LID, switch, port: which set *)
  n_steps : nat; nth_step : nat -> step;
  find_step : nat -> nat -> nat -> nat -> nat -> nat;
  n_starts : nat; nth_start : nat -> start;
  find_start : nat -> nat -> nat -> nat -> nat -> nat;
  root : nat -> nat;                    (* of a group *)
  up : nat -> nat -> nat;               (* group, switch: the port towards the root *)
  depth : nat -> nat -> nat             (* group, switch *)
}.

Section Check.
Variable f : fabric.
Variable k : certificate.
Notation vl_of := (vl_of f). Notation copies := (copies f). Notation leads := (leads f).
Notation sent := (sent f). Notation net := (net f).

Definition check_merged := below (n_rows f) (fun r => below 16 (fun l =>
  vl_in_row f r l =? vl_in_row f r (merged k l))).

(* Packets with SL l cross from port i to port o on a VL, and are in set n there. *)
Definition crosses s i o l n := let w := vl_of s i o l in
  negb (w =? no_vl) && (negb (leads s o) || existsb (pair_eqb (l, w)) (set k n)).

Definition check_step (x : step) := match far_end f (at_ x) (out x) with
  | None => false
  | Some (s, i) => forallb (fun lv : pair => crosses s i (next_out x) (fst lv) (to x) &&
      (negb (leads s (next_out x)) ||
       (rank k s (next_out x) (vl_of s i (next_out x) (fst lv)) <? rank k (at_ x) (out x) (snd lv))))
      (set k (from x))
  end.

Definition check_start (x : start) := forallb (fun l => (l <? 16) &&
  crosses (st_at x) (input x) (st_out x) (merged k l) (st_to x)) (sl_list f (with_sls x)).

Definition has_step s o o' a b := let n := find_step k s o o' a b in
  (n <? n_steps k) && let x := nth_step k n in
  (at_ x =? s) && (out x =? o) && (next_out x =? o') && (from x =? a) && (to x =? b).

Definition has_start s i o a b := let n := find_start k s i o a b in
  (n <? n_starts k) && let x := nth_start k n in
  (st_at x =? s) && (input x =? i) && (st_out x =? o) && (with_sls x =? a) && (st_to x =? b).

(* Unicast goes on to another switch, or is at its owner's. *)
Definition goes_home t s := multicast f t || match outputs f s t with
  | [o] => leads s o || ((fst (home f t) =? s) && (snd (home f t) =? o))
  | _ => false
  end.

Definition check_source t s i := let n := sls f s i t in match sl_list f n with
  | [] => true
  | _ => negb (leads s i) && goes_home t s &&
      forallb (fun o => has_start s i o n (set_at k t s o)) (copies s i t)
  end.

Definition check_output t s o := let a := set_at k t s o in match set k a with
  | [] => true
  | _ => match far_end f s o with
    | None => true
    | Some (s', i) => (s' <? n_switches f) && goes_home t s' &&
        forallb (fun o' => has_step s o o' a (set_at k t s' o')) (copies s' i t)
    end
  end.

Definition check_lid t := below (n_switches f) (fun s =>
  forallb (check_source t s) (sources f s) && forallb (check_output t s) (outputs f s t)).

(* Both ends of a cable are in a group's masks, or none; and all switches that have a
   mask are joined to the root. *)
Definition check_cable t s o := match far_end f s o with
  | None => true
  | Some (s', i) => (s' <? n_switches f) && existsb (Nat.eqb i) (outputs f s' t) &&
      match far_end f s' i with Some (a, b) => (a =? s) && (b =? o) | None => false end
  end.

Definition check_joined t s := (s =? root k t) || (existsb (Nat.eqb (up k t s)) (outputs f s t) &&
  match far_end f s (up k t s) with Some (s', _) => depth k t s' <? depth k t s | None => false end).

Definition check_group t := below (n_switches f) (fun s => match outputs f s t with
  | [] => true
  | _ => forallb (check_cable t s) (outputs f s t) && check_joined t s
  end).

Definition check := check_merged &&
  below (n_steps k) (fun n => check_step (nth_step k n)) &&
  below (n_starts k) (fun n => check_start (nth_start k n)) &&
  forallb (fun t => check_lid t && (negb (multicast f t) || check_group t)) (lids f).

(* ---- and why it is right --------------------------------------------------------------- *)

Hypothesis checked : check = true.

Ltac split_and := repeat match goal with
  | H : _ && _ = true |- _ => apply andb_true_iff in H; destruct H
  end.

Lemma merged_right l r : l < 16 -> r < n_rows f -> vl_in_row f r l = vl_in_row f r (merged k l).
Proof.
  intros L R. unfold check in checked. split_and.
  match goal with H : check_merged = true |- _ => unfold check_merged in H;
    pose proof (below_all _ _ H r R) as K end.
  apply Nat.eqb_eq, (below_all _ _ K l L).
Qed.

Lemma vl_merged s i o l : l < 16 -> vl_of s i o l = vl_of s i o (merged k l).
Proof.
  intros L. unfold Checker.vl_of. destruct (Nat.ltb_spec (row f s i o) (n_rows f)) as [R|R].
  - apply merged_right; assumption.
  - reflexivity.
Qed.

Lemma lid_right t : In t (lids f) -> check_lid t = true /\ (multicast f t = true -> check_group t = true).
Proof.
  intros T. unfold check in checked. apply andb_true_iff in checked. destruct checked as [_ H].
  rewrite forallb_forall in H. specialize (H t T). apply andb_true_iff in H. destruct H as [H G].
  split; [exact H|]. intros M. rewrite M in G. exact G.
Qed.

Lemma step_right s o o' a b : has_step s o o' a b = true -> check_step (Step s o o' a b) = true.
Proof.
  unfold has_step. set (n := find_step k s o o' a b). intros H.
  unfold check in checked. split_and.
  match goal with H : (n <? _) = true |- _ => apply Nat.ltb_lt in H; rename H into L end.
  match goal with H : below (n_steps k) _ = true |- _ => pose proof (below_all _ _ H n L) as K end.
  simpl in K. destruct (nth_step k n) as [s1 o1 o1' a1 b1]. simpl in *.
  repeat match goal with H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H end. subst. exact K.
Qed.

Lemma start_right s i o a b : has_start s i o a b = true -> check_start (Start s i o a b) = true.
Proof.
  unfold has_start. set (n := find_start k s i o a b). intros H.
  unfold check in checked. split_and.
  match goal with H : (n <? _) = true |- _ => apply Nat.ltb_lt in H; rename H into L end.
  match goal with H : below (n_starts k) _ = true |- _ => pose proof (below_all _ _ H n L) as K end.
  simpl in K. destruct (nth_start k n) as [s1 i1 o1 a1 b1]. simpl in *.
  repeat match goal with H : (_ =? _) = true |- _ => apply Nat.eqb_eq in H end. subst. exact K.
Qed.

Lemma source_right t s i : In t (lids f) -> s < n_switches f -> In i (sources f s) ->
  check_source t s i = true.
Proof.
  intros T S I. destruct (lid_right t T) as [H _]. pose proof (below_all _ _ H s S) as K.
  simpl in K. apply andb_true_iff in K. destruct K as [K _]. rewrite forallb_forall in K. auto.
Qed.

Lemma output_right t s o : In t (lids f) -> s < n_switches f -> In o (outputs f s t) ->
  check_output t s o = true.
Proof.
  intros T S I. destruct (lid_right t T) as [H _]. pose proof (below_all _ _ H s S) as K.
  simpl in K. apply andb_true_iff in K. destruct K as [_ K]. rewrite forallb_forall in K. auto.
Qed.

Lemma sent_in c s i t l : In c (sent s i t l) <-> sw c = s /\ In (port c) (copies s i t) /\
  leads s (port c) = true /\ vl c = vl_of s i (port c) l /\ vl c <> no_vl.
Proof.
  unfold Checker.sent. rewrite in_flat_map. split.
  - intros (o & I & H). destruct (leads s o && negb (vl_of s i o l =? no_vl)) eqn:E; [|contradiction].
    destruct H as [<-|[]]. apply andb_true_iff in E. destruct E as [E N].
    apply negb_true_iff, Nat.eqb_neq in N. simpl. auto.
  - intros (<- & I & L & V & N). exists (port c). split; [exact I|]. rewrite L, <- V. simpl.
    apply Nat.eqb_neq in N. rewrite N. left. destruct c. reflexivity.
Qed.

Lemma copies_in o s i t : In o (copies s i t) <-> In o (outputs f s t) /\ (multicast f t = true -> o <> i).
Proof.
  unfold Checker.copies. destruct (multicast f t).
  - rewrite filter_In, negb_true_iff, Nat.eqb_neq. split; intros [A B]; auto.
  - split; [intros A; split; [exact A|discriminate]|intros [A _]; exact A].
Qed.

(* Where the certificate knows a packet to be. *)
Definition known p c := In (lid p) (lids f) /\ sw c < n_switches f /\ leads (sw c) (port c) = true /\
  In (port c) (outputs f (sw c) (lid p)) /\ sl p < 16 /\
  In (merged k (sl p), vl c) (set k (set_at k (lid p) (sw c) (port c))).

(* The switch behind a known packet's channel, and what was checked of it. *)
Lemma known_far p c : known p c -> exists s i, far_end f (sw c) (port c) = Some (s, i) /\
  s < n_switches f /\ goes_home (lid p) s = true /\ forall o, In o (copies s i (lid p)) ->
    vl_of s i o (sl p) <> no_vl /\ (leads s o = true ->
      In (merged k (sl p), vl_of s i o (sl p)) (set k (set_at k (lid p) s o)) /\
      rank k s o (vl_of s i o (sl p)) < rank k (sw c) (port c) (vl c)).
Proof.
  intros (T & S & L & O & Q & H). pose proof (output_right _ _ _ T S O) as K.
  unfold check_output in K. unfold Checker.leads in L.
  destruct (far_end f (sw c) (port c)) as [[s i]|] eqn:F; [|discriminate].
  destruct (set k (set_at k (lid p) (sw c) (port c))) as [|x r] eqn:E; [contradiction|].
  exists s, i. split; [reflexivity|]. split_and.
  split; [apply Nat.ltb_lt; assumption|]. split; [assumption|]. intros o I.
  match goal with H : forallb _ _ = true |- _ => rewrite forallb_forall in H;
    specialize (H o I); apply step_right in H; unfold check_step in H; simpl in H;
    rewrite F in H; rewrite forallb_forall in H; rewrite E in H;
    specialize (H _ ltac:(eassumption)); simpl in H; rename H into G end.
  rewrite (vl_merged s i o (sl p) Q). unfold crosses in G. split_and. split.
  - apply Nat.eqb_neq, negb_true_iff. assumption.
  - intros A. rewrite A in *. simpl in *. split; [|apply Nat.ltb_lt; assumption].
    match goal with H : existsb _ _ = true |- _ => apply existsb_exists in H;
      destruct H as (y & Y & Z) end.
    apply pair_eqb_eq in Z. subst. exact Y.
Qed.

Lemma known_next p c d : known p c -> In d (next net c p) ->
  known p d /\ rank k (sw d) (port d) (vl d) < rank k (sw c) (port c) (vl c).
Proof.
  intros K N. destruct (known_far p c K) as (s & i & F & S & _ & G).
  destruct K as (T & _ & _ & _ & Q & _). unfold Checker.net, onward in N. simpl in N. rewrite F in N.
  apply sent_in in N. destruct N as (E & I & L & V & X). subst s.
  destruct (G _ I) as [_ H]. destruct (H L) as [M R]. rewrite V. split; [|exact R].
  repeat split; auto. 2: rewrite V; exact M. apply copies_in in I. apply I.
Qed.

(* A source: it is no cable between switches, and what it sends is known. *)
Lemma source_sends s i t l : sends f s i t l -> leads s i = false /\ goes_home t s = true.
Proof.
  intros (T & S & I & J). pose proof (source_right _ _ _ T S I) as K. unfold check_source in K.
  destruct (sl_list f (sls f s i t)) as [|x r]; [contradiction|]. split_and.
  split; [apply negb_true_iff|]; assumption.
Qed.

Lemma source_copies s i t l o : sends f s i t l -> In o (copies s i t) ->
  l < 16 /\ vl_of s i o l <> no_vl /\ (leads s o = true ->
    In (merged k l, vl_of s i o l) (set k (set_at k t s o))).
Proof.
  intros (T & S & I & J) O. pose proof (source_right _ _ _ T S I) as K. unfold check_source in K.
  destruct (sl_list f (sls f s i t)) as [|x r] eqn:E; [contradiction|]. split_and.
  match goal with H : forallb _ (copies s i t) = true |- _ => rewrite forallb_forall in H;
    specialize (H o O); apply start_right in H; unfold check_start in H; simpl in H;
    rewrite E in H; rewrite forallb_forall in H; specialize (H _ J); rename H into G end.
  unfold crosses in G. split_and.
  match goal with H : (l <? 16) = true |- _ => apply Nat.ltb_lt in H; rename H into L end.
  rewrite (vl_merged s i o l L). split; [exact L|]. split.
  - apply Nat.eqb_neq, negb_true_iff. assumption.
  - intros A. rewrite A in *. simpl in *.
    match goal with H : existsb _ _ = true |- _ => apply existsb_exists in H;
      destruct H as (y & Y & Z) end.
    apply pair_eqb_eq in Z. subst. exact Y.
Qed.

Lemma uses_known p c : uses net p c -> known p c.
Proof.
  intros U. induction U as [c (s & i & X & J)|c d U IH J].
  - apply sent_in in J. destruct J as (E & O & L & V & N). subst s.
    destruct (source_copies _ _ _ _ _ X O) as (Q & _ & M).
    destruct X as (T & S & I & _). apply copies_in in O. rewrite V in *.
    repeat split; auto; try apply O. rewrite V. auto.
  - apply (known_next p c d IH J).
Qed.

Definition channel_rank c := rank k (sw c) (port c) (vl c).

Lemma checked_falls c d : waits net c d -> channel_rank d < channel_rank c.
Proof. intros (p & U & H). apply (known_next p c d (uses_known p c U) H). Qed.

(* ---- unicast is delivered ------------------------------------------------------- *)

Definition at_home s i t l := exists o, outputs f s t = [o] /\ home f t = (s, o) /\
  vl_of s i o l <> no_vl.

Lemma sends_or_home s i t l : multicast f t = false -> goes_home t s = true ->
  (forall o, In o (copies s i t) -> vl_of s i o l <> no_vl) -> sent s i t l = [] -> at_home s i t l.
Proof.
  intros M H G N. unfold goes_home in H. rewrite M in H. simpl in H.
  destruct (outputs f s t) as [|o [|? ?]] eqn:E; try discriminate.
  assert (O : In o (copies s i t)).
  { apply copies_in. rewrite E, M. split; [left; reflexivity|discriminate]. }
  exists o. split; [exact E|]. split; [|apply G, O].
  destruct (leads s o) eqn:L.
  - exfalso. assert (J : In (Channel s o (vl_of s i o l)) (sent s i t l)).
    { apply sent_in. simpl. repeat split; auto. }
    rewrite N in J. contradiction.
  - simpl in H. apply andb_true_iff in H. destruct H as [A B]. apply Nat.eqb_eq in A, B.
    destruct (home f t). simpl in *. congruence.
Qed.

(* ---- multicast comes to every member ---------------------------------------------- *)

Section Group.
Variables (s0 i0 t l : nat).
Hypothesis sent_here : sends f s0 i0 t l.
Hypothesis is_group : multicast f t = true.
Hypothesis masked : outputs f s0 t <> [].
Notation only := (net_of f s0 i0).
Notation p := (Packet t l).

(* A copy of the packet is at switch s: from its source, or by port i. *)
Inductive visited (s : nat) : option nat -> Prop :=
| AtSource : s = s0 -> visited s None
| Came c i : uses only p c -> far_end f (sw c) (port c) = Some (s, i) -> visited s (Some i).

Lemma only_known c : uses only p c -> known p c.
Proof.
  intros U. apply uses_known. induction U as [c [X J]|c d U IH J].
  - apply UseFirst. exists s0, i0. auto.
  - eapply UseNext; eauto.
Qed.

Lemma group_at s : s < n_switches f -> outputs f s t <> [] ->
  (forall o, In o (outputs f s t) -> check_cable t s o = true) /\ check_joined t s = true.
Proof.
  intros S N. destruct (lid_right t (proj1 sent_here)) as [_ G]. specialize (G is_group).
  pose proof (below_all _ _ G s S) as H. simpl in H. destruct (outputs f s t) as [|x r]; [congruence|].
  apply andb_true_iff in H. destruct H as [H J]. rewrite forallb_forall in H. auto.
Qed.

(* Both ends of a cable have it in their masks. *)
Lemma cable_back s o s' i : s < n_switches f -> In o (outputs f s t) -> far_end f s o = Some (s', i) ->
  s' < n_switches f /\ In i (outputs f s' t) /\ far_end f s' i = Some (s, o).
Proof.
  intros S O F. assert (N : outputs f s t <> []) by (intros E; rewrite E in O; contradiction).
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

(* A copy that has come to a switch has come to, or from, each of its neighbours. *)
Lemma spreads s w o s' i' : visited s w -> s < n_switches f -> In o (outputs f s t) ->
  far_end f s o = Some (s', i') -> exists w', visited s' w'.
Proof.
  intros V S O F. assert (L : leads s o = true) by (unfold Checker.leads; rewrite F; reflexivity).
  destruct V as [->|c i U E].
  - assert (X : In o (copies s0 i0 t)).
    { apply copies_in. split; [exact O|]. intros _ ->. destruct (source_sends _ _ _ _ sent_here). congruence. }
    destruct (source_copies _ _ _ _ _ sent_here X) as (_ & N & _).
    exists (Some i'). apply (Came s' (Channel s0 o (vl_of s0 i0 o l)) i'); [|exact F].
    apply UseFirst. split; [exact sent_here|]. apply sent_in. simpl. repeat split; auto.
  - pose proof (only_known c U) as K. destruct (Nat.eq_dec o i) as [->|D].
    + destruct K as (_ & C & _ & O' & _).
      destruct (cable_back (sw c) (port c) s i C O' E) as (_ & _ & B). rewrite B in F.
      injection F as <- _.
      destruct U as [c [X J]|b c U J].
      * exists None. apply AtSource. apply sent_in in J. apply J.
      * simpl in J. unfold onward in J. destruct (far_end f (sw b) (port b)) as [[a j]|] eqn:F; [|contradiction].
        apply sent_in in J. destruct J as (<- & _). exists (Some j). apply (Came (sw c) b j U F).
    + destruct (known_far p c K) as (s1 & i1 & E1 & _ & _ & G). rewrite E in E1. injection E1 as <- <-.
      assert (X : In o (copies s i t)) by (apply copies_in; auto).
      destruct (G o X) as [N _]. simpl in N.
      exists (Some i'). apply (Came s' (Channel s o (vl_of s i o l)) i'); [|exact F].
      eapply UseNext; [exact U|]. simpl. unfold onward. rewrite E. apply sent_in. simpl. repeat split; auto.
Qed.

Lemma nonempty s o : In o (outputs f s t) -> outputs f s t <> [].
Proof. intros O E. rewrite E in O. contradiction. Qed.

Lemma joined s : s < n_switches f -> outputs f s t <> [] -> s = root k t \/
  exists o s' i, In o (outputs f s t) /\ far_end f s o = Some (s', i) /\ depth k t s' < depth k t s.
Proof.
  intros S N. destruct (group_at s S N) as [_ J]. unfold check_joined in J. apply orb_true_iff in J.
  destruct J as [J|J]; [left; apply Nat.eqb_eq, J|right]. apply andb_true_iff in J. destruct J as [J D].
  apply existsb_exists in J. destruct J as (o & O & E). apply Nat.eqb_eq in E. subst o.
  destruct (far_end f s (up k t s)) as [[s' i]|] eqn:F; [|discriminate].
  exists (up k t s), s', i. apply Nat.ltb_lt in D. auto.
Qed.

Lemma comes_to_root n : forall s w, depth k t s <= n -> visited s w -> s < n_switches f ->
  outputs f s t <> [] -> exists w', visited (root k t) w'.
Proof.
  induction n as [|n IH]; intros s w D V S N; destruct (joined s S N) as [->|(o & s' & i & O & F & L)];
    eauto; [lia|].
  destruct (cable_back s o s' i S O F) as (S' & O' & _).
  destruct (spreads s w o s' i V S O F) as [w' V'].
  apply (IH s' w'); auto; [lia|]. eapply nonempty; eauto.
Qed.

Lemma comes_from_root n : forall s, depth k t s <= n -> s < n_switches f -> outputs f s t <> [] ->
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
Definition gets s o := exists i, In o (copies s i t) /\ vl_of s i o l <> no_vl /\
  ((s = s0 /\ i = i0) \/ exists c, uses only p c /\ far_end f (sw c) (port c) = Some (s, i)).

Lemma member_gets s o : s < n_switches f -> In o (outputs f s t) -> leads s o = false ->
  (s, o) <> (s0, i0) -> gets s o.
Proof.
  intros S O L D. destruct (comes_from_root (depth k t s) s (le_n _) S (nonempty _ _ O)) as [w V].
  destruct V as [->|c i U F].
  - exists i0. assert (X : In o (copies s0 i0 t)) by (apply copies_in; split; [exact O|congruence]).
    split; [exact X|]. split; [apply (source_copies _ _ _ _ _ sent_here X)|auto].
  - exists i. pose proof (only_known c U) as K.
    assert (X : In o (copies s i t)).
    { apply copies_in. split; [exact O|]. intros _ ->.
      destruct K as (_ & C & _ & O' & _). destruct (cable_back (sw c) (port c) s i C O' F) as (_ & _ & B).
      unfold Checker.leads in L. rewrite B in L. discriminate. }
    split; [exact X|]. destruct (known_far p c K) as (s1 & i1 & E1 & _ & _ & G).
    rewrite F in E1. injection E1 as <- <-. split; [apply (G o X)|]. right. exists c. auto.
Qed.

End Group.

End Check.

(* ---- the theorems ------------------------------------------------------------------ *)

Section Theorems.
Variables (f : fabric) (k : certificate).
Hypothesis accepted : check f k = true.
Variable size : packet -> nat.
Variable cap : channel -> nat.
Hypothesis fits : forall p c, size p <= cap c.

(* Theorem 6.  What is accepted never deadlocks: in whole or in any changing part. *)
Theorem check_safe q : run channel packet channel_dec size cap (part_of (net f)) (empty channel packet) q ->
  some_packet channel packet q -> head_can_move channel packet size cap q.
Proof.
  apply acyclic_safe; [exact fits|].
  apply (ranked_acyclic _ _ (channel_rank k)). apply (checked_falls f k accepted).
Qed.

(* A packet ends at its home only, and there its VL is one. *)
Theorem check_delivers p c : multicast f (lid p) = false -> uses (net f) p c -> next (net f) c p = [] ->
  exists s i, far_end f (sw c) (port c) = Some (s, i) /\ at_home f s i (lid p) (sl p).
Proof.
  intros M U N. pose proof (uses_known f k accepted p c U) as K.
  destruct (known_far f k accepted p c K) as (s & i & F & S & H & G).
  exists s, i. split; [exact F|]. apply sends_or_home; auto.
  - intros o O. apply G, O.
  - unfold net, onward in N. simpl in N. rewrite F in N. exact N.
Qed.

(* Every packet has a first hop, unless it is at home at once. *)
Theorem check_starts s i t l : multicast f t = false -> sends f s i t l ->
  sent f s i t l = [] -> at_home f s i t l.
Proof.
  intros M X N. apply sends_or_home; auto.
  - apply (source_sends f k accepted s i t l X).
  - intros o O. apply (source_copies f k accepted s i t l o X O).
Qed.

(* A copy comes to each other member (a port of a mask that leads to no switch), from
   every source at a switch that has a mask. *)
Theorem check_members s0 i0 t l s o : multicast f t = true -> sends f s0 i0 t l ->
  outputs f s0 t <> [] -> s < n_switches f -> In o (outputs f s t) -> leads f s o = false ->
  (s, o) <> (s0, i0) -> gets f s0 i0 t l s o.
Proof. intros. eapply member_gets; eauto. Qed.

(* All channels: switches, their ports, VLs. *)
Definition channels := flat_map (fun s => flat_map (fun t => flat_map (fun o =>
  map (fun x : pair => Channel s o (snd x)) (set k (set_at k t s o))) (outputs f s t)) (lids f))
  (seq 0 (n_switches f)).

(* Theorem 7.  From every state that can be reached, while parts of the tables are in
   force and when one part T stays, all packets leave. *)
Theorem check_drains T q : part_of (net f) T ->
  run channel packet channel_dec size cap (part_of (net f)) (empty channel packet) q ->
  Acc (fun b a => serve channel packet channel_dec size cap T a b) q /\
  ((forall q', ~ serve channel packet channel_dec size cap T q q') -> forall c, q c = []).
Proof.
  apply (drains_in_part channel packet channel_dec size cap fits (nodup channel_dec channels)
    (NoDup_nodup _ _) (net f)) with (rank := channel_rank k).
  - intros p c U. destruct (uses_known f k accepted p c U) as (L & S & _ & O & _ & H).
    apply nodup_In, in_flat_map. exists (sw c). split; [apply in_seq; lia|].
    apply in_flat_map. exists (lid p). split; [exact L|].
    apply in_flat_map. exists (port c). split; [exact O|].
    apply in_map_iff. exists (merged k (sl p), vl c). split; [destruct c; reflexivity|exact H].
  - apply (checked_falls f k accepted).
Qed.

End Theorems.
