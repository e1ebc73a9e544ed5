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
      if not (is_group t) || t > 0xFFFF then bad "no multicast LID";
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

(* A period as the plan says, with the times at which maps are written. *)
type period = { number : int; times : int; map_times : int list; old_maps : bool (* at the start *) }

(* Of one LID: in a period, at a time. *)
type write = { period : int; time : int; at : int (* switch *); ports : int list }

(* What the old tables and some writes make of a LID. *)
let values w t writes =
  let v = Array.init w.n (fun s -> output w 0 s t) in
  List.iter (fun x -> v.(x.at) <- x.ports) writes;
  v

(* The periods, and each LID's writes in their order. *)
let divide w plan =
  let written = Array.make 0x10000 [] and old_maps = ref true in
  let periods = List.mapi (fun number groups ->
    (* Maps go on as they were, before they are written; so does what is under way by
       cables that have failed. *)
    let groups = match groups with
      | g :: _ when g.maps && number > 0 -> nothing :: groups
      | _ when number = 0 && Array.mem true w.gone -> nothing :: groups
      | _ -> groups in
    let old = !old_maps in
    let map_times = List.concat (List.mapi (fun time g ->
      let twice = Hashtbl.create 999 in
      List.iter (fun (t, s, ports) ->
        if Hashtbl.mem twice (t, s) then rejected "0x%s LID %d is written twice without a barrier"
          w.ds.(0).guids.(s) t;
        Hashtbl.add twice (t, s) ();
        written.(t) <- { period = number; time; at = s; ports } :: written.(t)) g.writes;
      if g.maps then begin
        if not !old_maps then rejected "the plan writes maps twice";
        old_maps := false; [ time ]
      end else []) groups) in
    { number; times = List.length groups + 1; map_times; old_maps = old }) plan in
  if !old_maps && maps_differ w then rejected "the plan does not write the maps that differ";
  Array.iteri (fun t writes -> written.(t) <- List.rev writes) written;
  List.iter (fun t ->
    let final = values w t written.(t) in
    for s = 0 to w.n - 1 do
      if w.ds.(1).present.(s) && final.(s) <> output w 1 s t then
        rejected "the plan does not end with the new tables: 0x%s LID %d" w.ds.(0).guids.(s) t
    done) (List.filter (fun t -> is_group t || w.ds.(1).owner.(t) >= 0) (all_lids w));
  (periods, written)

(* Times at which something changes for a LID, 0 first. *)
let breaks p writes =
  let times = p.map_times @ List.filter_map (fun x ->
    if x.period = p.number then Some x.time else None) writes in
  Array.of_list (List.sort_uniq compare (0 :: List.concat_map (fun time -> [ time; time + 1 ]) times))

(* Outputs whose cables have not failed: only before the first writes others count, too. *)
let left w s ports =
  if List.exists (fun o -> w.gone.(place w s o)) ports then
    List.filter (fun o -> not w.gone.(place w s o)) ports
  else ports

(* The outputs of a LID in each of its stages. *)
let stages w p t writes breaks =
  let value = values w t (List.filter (fun x -> x.period < p.number) writes) in
  let rec go writes = function
    | [] -> []
    | time :: rest ->
      let rec settle = function
        | x :: more when x.time < time -> value.(x.at) <- x.ports; settle more
        | l -> l in
      let writes = settle writes in
      let here = Array.copy value in
      List.iter (fun x -> if x.time = time then
        here.(x.at) <- List.sort_uniq compare (value.(x.at) @ x.ports)) writes;
      (if p.number = 0 && time = 0 then here else Array.mapi (left w) here) :: go writes rest in
  Array.of_list (go (List.filter (fun x -> x.period = p.number) writes) (Array.to_list breaks))

(* Of the LID that was asked last. *)
type lid = { lid : int; moves : bool (* in this period *); breaks : int array; tables : int list array array }

let period w written p =
  let asked = ref { lid = -1; moves = false; breaks = [||]; tables = [||] } in
  let of_lid t =
    if !asked.lid <> t then begin
      let moves = List.exists (fun x -> x.period = p.number) written.(t) in
      let breaks = breaks p written.(t) in
      let tables =
        if moves then stages w p t written.(t) breaks
        else if p.number = 0 then [| values w t [] |]
        else [| Array.mapi (left w)
          (values w t (List.filter (fun x -> x.period < p.number) written.(t))) |] in
      asked := { lid = t; moves; breaks; tables }
    end;
    !asked in
  let still t = written.(t) = [] && p.map_times = [] in
  let stage t time =
    if still t then 0
    else
      let b = (of_lid t).breaks in
      let rec last j = if j + 1 < Array.length b && b.(j + 1) <= time then last (j + 1) else j in
      last 0 in
  let maps_at t j =
    if p.map_times = [] then if p.old_maps then 0 else 2
    else
      let time = (of_lid t).breaks.(j) in
      if List.mem time p.map_times then 1
      else if p.old_maps && not (List.exists (fun m -> m < time) p.map_times) then 0
      else 2 in
  let outputs_at j s t =
    if written.(t) = [] then
      let ports = output w 0 s t in
      if p.number = 0 then ports else left w s ports
    else
      let l = of_lid t in
      l.tables.(if l.moves then j else 0).(s) in
  let plain s t =
    if written.(t) <> [] && (of_lid t).moves then -1
    else match outputs_at 0 s t with [] -> none | o :: _ -> o in
  ({ Checker.n_times = p.times; stage; maps_at; outputs_at }, plain)

let check any_sl plan old_dir new_dir =
  let w = World.create any_sl (Array.of_list (read_all [ old_dir; new_dir ])) in
  let plan = match plan with
    | "mixture" -> mixture w
    | "phases" -> phases w
    | name -> read_plan w name in
  let periods, written = divide w plan in
  let maps = List.exists (fun p -> p.map_times <> []) periods in
  let gone = World.is_gone w in
  let judge like =
    let judged = List.mapi (fun n p ->
      let now, plain = period w written p in
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
  World.decide judge (World.classes w (fun t -> not maps && written.(t) = []))
