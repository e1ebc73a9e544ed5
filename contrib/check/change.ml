(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* change.ml: a change from old tables to new ones, step by step, for the checker.

   A plan is a file of lines, or one of two that are made here:
   - "mixture": all that differs is written at once, in any order;
   - "phases": what differs is closed; a drain; then it is opened.

	dateline-plan 1
	write 0x00d1000000000000 17 3		switch, LID, output port; 255: none
	mask 0x00d1000000000000 0xc001 1 7	switch, MLID, ports
	maps					the SL-to-VL maps that differ
	barrier					all of the above is confirmed
	drain					the same, and old packets have left

   What stands between two barriers is written in any order.  A plan ends with the
   new tables; entries of a LID that these do not have may stay. *)

open Dumps
open World

(* ---- plans ------------------------------------------------------------------------ *)

(* Writes between two barriers, and whether maps are written, too. *)
type group = { writes : (int * int * int list) list (* LID, switch, outputs *); maps : bool }

let nothing = { writes = []; maps = false }

let differs w =
  List.concat_map (fun t -> List.filter_map (fun s ->
      if w.ds.(1).present.(s) && output w 0 s t <> output w 1 s t then Some (t, s) else None)
    (List.init w.n Fun.id)) (all_lids w)

let maps_differ w =
  let ports = List.init (1 lsl w.bits) Fun.id in
  List.exists (fun s -> List.exists (fun i -> List.exists (fun o ->
      let a, b = two_rows w s i o in a <> b) (List.tl ports)) ports) (List.init w.n Fun.id)

let mixture w =
  [ [ { writes = List.map (fun (t, s) -> (t, s, output w 1 s t)) (differs w); maps = maps_differ w } ] ]

let phases w =
  let all = differs w in
  let close = List.map (fun (t, s) ->
    (t, s, List.filter (fun o -> List.mem o (output w 1 s t)) (output w 0 s t))) all in
  let opened = List.map (fun (t, s) -> (t, s, output w 1 s t)) all in
  [ [ { writes = close; maps = false } ] ] @
  (if maps_differ w then [ [ { nothing with maps = true } ] ] else []) @
  [ [ { writes = opened; maps = false } ] ]

let read_plan w name =
  let periods = ref [] and period = ref [] and group = ref nothing in
  let barrier () =
    if !group <> nothing then period := !group :: !period;
    group := nothing in
  let drain () =
    barrier ();
    if !period <> [] then periods := List.rev !period :: !periods;
    period := [] in
  let switch g = match Hashtbl.find_opt w.ds.(0).number g with
    | Some s -> s
    | None -> bad "no such switch" in
  let write t s ports = group := { !group with writes = (t, s, ports) :: !group.writes } in
  let port () = let o = decimal () in if o > max_port then bad "no port"; o in
  let first = ref true in
  each_line "" name (fun () ->
    if !first then begin
      first := false;
      if not (looking_at "dateline-plan 1") then bad "no plan of format 1";
      at := !stop
    end else if looking_at "write " then begin
      expect "write";
      let s = switch (guid ()) in
      let t = decimal () in
      let o = port () in
      if is_group t then bad "no unicast LID";
      write t s (if o = none then [] else [ o ])
    end else if looking_at "mask " then begin
      expect "mask";
      let s = switch (guid ()) in
      let t = hex () in
      if not (is_group t) then bad "no multicast LID";
      let ports = ref [] in
      while not (at_end ()) do ports := port () :: !ports done;
      write t s (List.sort_uniq compare !ports)
    end else if looking_at "maps" then begin expect "maps"; group := { !group with maps = true } end
    else if looking_at "barrier" then begin expect "barrier"; barrier () end
    else if looking_at "drain" then begin expect "drain"; drain () end
    else if peek () = '#' then at := !stop;
    if not (at_end ()) then bad "not understood");
  drain ();
  List.rev !periods

(* ---- periods ------------------------------------------------------------------------ *)

(* A period as the plan says: what the LIDs that change hold at its start, and each LID's
   writes, with their times. *)
type period = {
  first : bool;
  times : int;
  start : (int, int list array) Hashtbl.t; (* of LIDs that change in some period *)
  written : (int, (int * int * int list) list) Hashtbl.t; (* by LID: time, switch, outputs *)
  map_times : int list; (* times at which maps are written *)
  old_maps : bool; (* at the start *)
}

let divide w plan =
  let values = Hashtbl.create 999 in
  List.iter (List.iter (fun g -> List.iter (fun (t, _, _) ->
    if not (Hashtbl.mem values t) then
      Hashtbl.add values t (Array.init w.n (fun s -> output w 0 s t))) g.writes)) plan;
  let old_maps = ref true in
  let periods = List.mapi (fun n groups ->
    (* Maps go on as they were, before they are written; so does what is under way by
       cables that have failed. *)
    let groups = match groups with
      | g :: _ when g.maps && n > 0 -> nothing :: groups
      | _ when n = 0 && Array.mem true w.gone -> nothing :: groups
      | _ -> groups in
    let start = Hashtbl.create 999 and written = Hashtbl.create 999 in
    Hashtbl.iter (fun t v -> Hashtbl.add start t (Array.copy v)) values;
    let old = !old_maps in
    let map_times = List.concat (List.mapi (fun time g ->
      let twice = Hashtbl.create 999 in
      List.iter (fun (t, s, ports) ->
        if Hashtbl.mem twice (t, s) then rejected "0x%s LID %d is written twice without a barrier"
          w.ds.(0).guids.(s) t;
        Hashtbl.add twice (t, s) ();
        let l = Option.value (Hashtbl.find_opt written t) ~default:[] in
        Hashtbl.replace written t ((time, s, ports) :: l);
        (Hashtbl.find values t).(s) <- ports) g.writes;
      if g.maps then begin
        if not !old_maps then rejected "the plan writes maps twice";
        old_maps := false; [ time ]
      end else []) groups) in
    { first = n = 0; times = List.length groups + 1; start; written; map_times; old_maps = old }) plan in
  if !old_maps && maps_differ w then rejected "the plan does not write the maps that differ";
  let final s t = match Hashtbl.find_opt values t with Some v -> v.(s) | None -> output w 0 s t in
  List.iter (fun t ->
    for s = 0 to w.n - 1 do
      if w.ds.(1).present.(s) && final s t <> output w 1 s t then
        rejected "the plan does not end with the new tables: 0x%s LID %d" w.ds.(0).guids.(s) t
    done) (List.filter (fun t -> is_group t || w.ds.(1).owner.(t) >= 0) (all_lids w));
  periods

(* Times at which something changes for a LID, 0 first. *)
let breaks p t =
  let writes = Option.value (Hashtbl.find_opt p.written t) ~default:[] in
  let times = p.map_times @ List.map (fun (time, _, _) -> time) writes in
  Array.of_list (List.sort_uniq compare (0 :: List.concat_map (fun time -> [ time; time + 1 ]) times))

(* Outputs whose cables have not failed: only before the first writes others count, too. *)
let left w s ports = List.filter (fun o -> not w.gone.(place w s o)) ports

(* The outputs of a LID in each of its stages. *)
let stages w p t breaks =
  let writes = List.sort compare (Hashtbl.find p.written t) in
  let value = Array.copy (Hashtbl.find p.start t) in
  let rec go writes = function
    | [] -> []
    | time :: rest ->
      let rec settle = function
        | (before, s, ports) :: more when before < time -> value.(s) <- ports; settle more
        | l -> l in
      let writes = settle writes in
      let here = Array.copy value in
      List.iter (fun (at, s, ports) -> if at = time then
        here.(s) <- List.sort_uniq compare (value.(s) @ ports)) writes;
      (if p.first && time = 0 then here else Array.mapi (left w) here) :: go writes rest in
  Array.of_list (go writes (Array.to_list breaks))

let period w p =
  let all = Hashtbl.create 999 in
  let breaks t = match Hashtbl.find_opt all t with
    | Some b -> b
    | None -> let b = breaks p t in Hashtbl.add all t b; b in
  let stage t time =
    let b = breaks t in
    let rec last j = if j + 1 < Array.length b && b.(j + 1) <= time then last (j + 1) else j in
    last 0 in
  let maps_at t j =
    let time = (breaks t).(j) in
    if List.mem time p.map_times then 1
    else if p.old_maps && not (List.exists (fun m -> m < time) p.map_times) then 0
    else 2 in
  let now = ref (-1) and tables = ref [||] in
  let outputs_at j s t =
    if Hashtbl.mem p.written t then begin
      if !now <> t then begin tables := stages w p t (breaks t); now := t end;
      !tables.(j).(s)
    end else
      let ports = match Hashtbl.find_opt p.start t with
        | Some v -> v.(s)
        | None -> output w 0 s t in
      if p.first then ports else left w s ports in
  let plain s t =
    if Hashtbl.mem p.written t then -1
    else match outputs_at 0 s t with [] -> none | o :: _ -> o in
  ({ Checker.n_times = p.times; stage; maps_at; outputs_at }, plain)

let check any_sl plan old_dir new_dir =
  let w = World.create any_sl (Array.of_list (read_all [ old_dir; new_dir ])) in
  let plan = match plan with
    | "mixture" -> mixture w
    | "phases" -> phases w
    | name -> read_plan w name in
  let periods = divide w plan in
  let written = Hashtbl.create 999 in
  List.iter (fun p -> Hashtbl.iter (fun t _ -> Hashtbl.replace written t ()) p.start) periods;
  let maps = List.exists (fun p -> p.map_times <> []) periods in
  let gone = World.is_gone w in
  let judge like =
    let judged = List.mapi (fun n p ->
      let now, plain = period w p in
      let f = World.fabric w ~delivers:false ~like now in
      let x = World.search w f plain like in
      let rank = try Search.ranks x with
        | Search.Loop -> rejected "period %d: packets can block each other in a circle" (n + 1)
        | Search.Circle t -> rejected "period %d: packets to LID %d go in a circle" (n + 1) t in
      (f, ((now, World.certificate w x rank), like))) periods in
    match judged with
    | [] -> (true, ignore)
    | (f, _) :: _ ->
      (Checker.check_change_classes f gone (List.map snd judged), fun () ->
        List.iter (fun (f, ((_, k), _)) -> if not (Checker.check_on_alike f k gone Fun.id) then World.why w f k) judged;
        rejected "a period does not begin as the one before it ends") in
  World.decide judge (World.classes w (fun t -> not (maps || Hashtbl.mem written t)))
