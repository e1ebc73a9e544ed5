(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* Checker.v: a checker of tables that is proved right.

   In words: tables that the checker accepts cannot deadlock ([check_safe]).
   Proves, of doc/rules.md: "Certificates".

   A certificate has a rank for each channel (dateline verify --certificate).  The
   checker also takes [holds], for each LID and output the (SL, VL) pairs of packets
   that may be there.  Neither needs to be trusted: the checker goes by them only
   after it has seen that no packet leads out of them, and that ranks fall.

   Everything about the fabric is a function: an array in OCaml, for example. *)

From Coq Require Import List Arith Bool Lia.
From Dateline Require Import Net.
Import ListNotations.

(* Numbers: switches, ports, LIDs (multicast LIDs too), SLs, VLs. *)
Record fabric := Fabric {
  n_switches : nat;                     (* they are 0, 1, ... *)
  far_end : nat -> nat -> option (nat * nat); (* the switch and port behind a port *)
  sources : nat -> list nat;            (* input ports at which packets are made; 0: its own *)
  vl_of : nat -> nat -> nat -> nat -> nat; (* switch, input, output, SL *)
  lids : list nat;
  outputs : nat -> nat -> list nat;     (* switch, LID: one for unicast, a mask, or none *)
  sls : nat -> nat -> nat -> list nat;  (* switch, input port of the source, LID *)
  multicast : nat -> bool               (* of a LID *)
}.

Definition pair := (nat * nat)%type.
Definition pair_eqb (a b : pair) := (fst a =? fst b) && (snd a =? snd b).

Lemma pair_eqb_eq a b : pair_eqb a b = true <-> a = b.
Proof.
  destruct a as [a x], b as [b y]. unfold pair_eqb. simpl.
  rewrite andb_true_iff, !Nat.eqb_eq. split; [intros [-> ->]; reflexivity|intros E; injection E; auto].
Qed.

(* ---- the network that the tables make ----------------------------------------- *)

(* A channel: switch, output port, VL.  A packet: LID, SL. *)
Record channel := Channel { sw : nat; port : nat; vl : nat }.
Record packet := Packet { lid : nat; sl : nat }.

Definition no_vl := 15.
Definition switches f := seq 0 (n_switches f).

Section Check.
Variable f : fabric.
Variable rank : nat -> nat -> nat -> nat.        (* switch, port, VL *)
Variable holds : nat -> nat -> nat -> list pair. (* LID, switch, port: (SL, VL) *)

(* Outputs that lead to other switches.  A multicast packet does not go back. *)
Definition onward s i t := filter (fun o => negb ((o =? i) && multicast f t) &&
  match far_end f s o with Some _ => true | None => false end) (outputs f s t).

(* VL 15 is no VL: such packets are dropped. *)
Definition sent s i t l : list channel :=
  flat_map (fun o => let v := vl_of f s i o l in if v =? no_vl then [] else [Channel s o v]) (onward s i t).

Definition net : tables channel packet := Build_tables
  (fun p c => In (lid p) (lids f) /\ In (sw c) (switches f) /\ exists i, In i (sources f (sw c)) /\
     In (sl p) (sls f (sw c) i (lid p)) /\ In c (sent (sw c) i (lid p) (sl p)))
  (fun c p => match far_end f (sw c) (port c) with
              | Some (s, i) => sent s i (lid p) (sl p)
              | None => []
              end).

(* ---- the check -------------------------------------------------------------------- *)

Definition held t c l := existsb (pair_eqb (l, vl c)) (holds t (sw c) (port c)).

Definition check_source t s i :=
  forallb (fun l => forallb (fun c => held t c l) (sent s i t l)) (sls f s i t).

Definition check_output t s o :=
  match far_end f s o with
  | None => true
  | Some (s', i) => (s' <? n_switches f) &&
      forallb (fun lv : pair => let r := rank s o (snd lv) in
        forallb (fun c => held t c (fst lv) && (rank (sw c) (port c) (vl c) <? r))
                (sent s' i t (fst lv))) (holds t s o)
  end.

Definition check_lid t :=
  forallb (fun s => forallb (check_source t s) (sources f s) &&
                    forallb (check_output t s) (outputs f s t)) (switches f).

Definition check := forallb check_lid (lids f).

(* ---- and why it is right --------------------------------------------------------------- *)

Lemma held_in t c l : held t c l = true -> In (l, vl c) (holds t (sw c) (port c)).
Proof.
  unfold held. rewrite existsb_exists. intros (x & I & E). apply pair_eqb_eq in E. subst. exact I.
Qed.

Lemma sent_from c s i t l : In c (sent s i t l) -> sw c = s /\ In (port c) (outputs f s t).
Proof.
  unfold sent. rewrite in_flat_map. intros (o & I & H). apply filter_In in I.
  destruct (_ =? no_vl); [contradiction|]. destruct H as [<-|[]]. simpl. tauto.
Qed.

Definition known p c := In (lid p) (lids f) /\ In (sw c) (switches f) /\
  In (port c) (outputs f (sw c) (lid p)) /\ In (sl p, vl c) (holds (lid p) (sw c) (port c)).

Hypothesis checked : check = true.

Lemma checked_lid t s : In t (lids f) -> In s (switches f) ->
  forallb (check_source t s) (sources f s) && forallb (check_output t s) (outputs f s t) = true.
Proof.
  intros I J. unfold check in checked. rewrite forallb_forall in checked.
  specialize (checked t I). unfold check_lid in checked. rewrite forallb_forall in checked. auto.
Qed.

Lemma known_next p c d : known p c -> In d (next net c p) ->
  known p d /\ rank (sw d) (port d) (vl d) < rank (sw c) (port c) (vl c).
Proof.
  intros (T & S & O & H) N. unfold net in N. simpl in N.
  destruct (far_end f (sw c) (port c)) as [[s' i]|] eqn:F; [|contradiction].
  destruct (sent_from _ _ _ _ _ N) as [E Q].
  pose proof (checked_lid _ _ T S) as K. apply andb_true_iff in K. destruct K as [_ K].
  rewrite forallb_forall in K. specialize (K _ O). unfold check_output in K. rewrite F in K.
  apply andb_true_iff in K. destruct K as [B K]. apply Nat.ltb_lt in B. rewrite forallb_forall in K. specialize (K _ H). simpl in K.
  rewrite forallb_forall in K. specialize (K _ N). apply andb_true_iff in K. destruct K as [K R].
  apply Nat.ltb_lt in R. split; [|exact R].
  split; [exact T|]. split; [rewrite E; apply in_seq; lia|]. split; [rewrite E; exact Q|].
  apply held_in, K.
Qed.

Lemma uses_known p c : uses net p c -> known p c.
Proof.
  intros U. induction U as [c (T & S & i & I & L & J)|c d U IH J].
  - destruct (sent_from _ _ _ _ _ J) as [E Q].
    split; [exact T|]. split; [exact S|]. split; [exact Q|].
    pose proof (checked_lid _ _ T S) as K. apply andb_true_iff in K. destruct K as [K _].
    rewrite forallb_forall in K. specialize (K _ I). unfold check_source in K.
    rewrite forallb_forall in K. specialize (K _ L). rewrite forallb_forall in K.
    apply held_in, K, J.
  - apply (known_next p c d IH J).
Qed.

Lemma checked_acyclic : acyclic (waits net).
Proof.
  apply (ranked_acyclic _ _ (fun c => rank (sw c) (port c) (vl c))). intros c d (p & U & H).
  apply (known_next p c d (uses_known p c U) H).
Qed.

End Check.

Definition channel_dec (a b : channel) : {a = b} + {a <> b}.
Proof. decide equality; apply Nat.eq_dec. Defined.

(* Theorem 6.  What passes the check never deadlocks: whatever sizes buffers and
   packets have, as long as each packet fits into each buffer. *)
Theorem check_safe f rank holds size cap q :
  (forall p c, size p <= cap c) ->
  check f rank holds = true ->
  run channel packet channel_dec size cap (part_of (net f)) (empty channel packet) q ->
  some_packet channel packet q -> head_can_move channel packet size cap q.
Proof.
  intros Fit K. apply acyclic_safe; [exact Fit|]. eapply checked_acyclic; eauto.
Qed.
