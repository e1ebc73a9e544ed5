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

(* Lists of one port are the same in memory. *)
let[@inline] same_ports (a : int list) b = a == b || a = b

let differs w =
  List.concat_map (fun t -> List.filter_map (fun s ->
      if w.ds.(1).present.(s) && not (same_ports (output w 0 s t) (output w 1 s t)) then Some (t, s) else None)
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

(* Outputs of a LID at a switch after these writes. *)
let after w s t writes = List.fold_left (fun _ x -> x.ports) (output w 0 s t) writes

(* Do the new tables have what is written at last? *)
let check_end w written t =
  let writes = Array.make w.n [] in
  List.iter (fun x -> writes.(x.at) <- x :: writes.(x.at)) (List.rev written.(t));
  for s = 0 to w.n - 1 do
    if w.ds.(1).present.(s) && not (same_ports (after w s t writes.(s)) (output w 1 s t)) then
      rejected "the plan does not end with the new tables: 0x%s LID %d" w.ds.(0).guids.(s) t
  done

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
  let same t = written.(t) = [] && not (is_group t) && w.ds.(1).owner.(t) >= 0 &&
    Table.same_column w.ds.(0).lft w.ds.(1).lft t in
  List.iter (fun t -> if not (same t) then check_end w written t)
    (List.filter (fun t -> is_group t || w.ds.(1).owner.(t) >= 0) (all_lids w));
  (periods, written)

(* Switches whose output for a LID has a cable that has failed. *)
let cut w =
  let gone = List.filter (fun place -> w.gone.(place)) (List.init (Array.length w.gone) Fun.id) in
  fun t -> List.sort_uniq compare (List.filter_map (fun place ->
    let s = place lsr w.bits in
    if List.mem (place land (1 lsl w.bits - 1)) (output w 0 s t) then Some s else None) gone)

(* Times at which something changes for a LID, 0 first. *)
let breaks p writes cut =
  let times = p.map_times @ List.filter_map (fun x ->
    if x.period = p.number then Some x.time else None) writes in
  Array.of_list (List.sort_uniq compare (0 :: (if p.number = 0 && cut <> [] then [ 1 ] else []) @
    List.concat_map (fun time -> [ time; time + 1 ]) times))

(* Outputs whose cables have not failed: only before the first writes others count, too. *)
let left w s ports = List.filter (fun o -> not w.gone.(place w s o)) ports

(* What a LID has at a switch in each stage of a period that begins with something new. *)
let history w p breaks t s writes =
  let start = after w s t (List.filter (fun x -> x.period < p.number) writes) in
  let here = List.filter (fun x -> x.period = p.number) writes in
  let ports time =
    let old = List.fold_left (fun old x -> if x.time < time then x.ports else old) start here in
    let all = match List.find_opt (fun x -> x.time = time) here with
      | Some x -> List.sort_uniq compare (old @ x.ports)
      | None -> old in
    if p.number = 0 && time = 0 then all else left w s all in
  let found = ref [] and last = ref (output w 0 s t) in
  Array.iteri (fun j time ->
    let ports = ports time in
    if ports <> !last then begin found := (j, ports) :: !found; last := ports end) breaks;
  !found

(* Of a LID that was asked; what is by period, is by switch then. *)
type lid = { mutable lid : int; breaks : int array array; written_at : (int * int list) list array array;
             moves_at : bool array; mutable switches : int list }

(* What moves, and what each period writes. *)
let describe w written periods =
  let cut = cut w and periods = Array.of_list periods in
  let unknown () = { lid = -1; breaks = Array.map (fun _ -> [||]) periods; switches = [];
    written_at = Array.map (fun _ -> Array.make w.n []) periods; moves_at = Array.make w.n false } in
  let last = ref (unknown ()) and other = ref (unknown ()) in
  let fill x t =
    List.iter (fun s -> x.moves_at.(s) <- false; Array.iter (fun at -> at.(s) <- []) x.written_at) x.switches;
    let cut = cut t in
    x.lid <- t;
    x.switches <- List.sort_uniq compare (cut @ List.map (fun x -> x.at) written.(t));
    Array.iteri (fun n p -> x.breaks.(n) <- breaks p written.(t) cut) periods;
    List.iter (fun s ->
      let writes = List.filter (fun x -> x.at = s) written.(t) in
      x.moves_at.(s) <- true;
      Array.iteri (fun n p ->
        x.written_at.(n).(s) <- history w p x.breaks.(n) t s writes) periods) x.switches in
  let of_lid t =
    if !last.lid <> t then begin
      let x = !other in
      other := !last; last := x;
      if x.lid <> t then fill x t
    end;
    !last in
  let maps = Array.exists (fun p -> p.map_times <> []) periods in
  let moving = Array.make 0x10000 maps in
  List.iter (fun t -> if written.(t) <> [] || cut t <> [] then moving.(t) <- true) (all_lids w);
  ({ Checker.moving = (fun t -> moving.(t)); moving_at = (fun t s -> (of_lid t).moves_at.(s)) },
   (fun t -> (of_lid t).switches),
   Array.map (fun p ->
    { Checker.times = p.times;
      stages = (fun t time ->
        let b = (of_lid t).breaks.(p.number) in
        let rec last j = if j + 1 < Array.length b && b.(j + 1) <= time then last (j + 1) else j in
        last 0);
      maps_in = (fun t j ->
        let time = (of_lid t).breaks.(p.number).(j) in
        if List.mem time p.map_times then 1
        else if p.old_maps && not (List.exists (fun m -> m < time) p.map_times) then 0
        else 2);
      written = (fun t s -> (of_lid t).written_at.(p.number).(s)) }) periods)

let check any_sl plan old_dir new_dir =
  let w = World.create any_sl (Array.of_list (read_all ~sls:(not any_sl) [ old_dir; new_dir ])) in
  let plan = match plan with
    | "mixture" -> mixture w
    | "phases" -> phases w
    | name -> read_plan w name in
  let plan, written = divide w plan in
  let moves, moved_at, periods = describe w written plan in
  let judge like =
    let f = World.fabric w ~delivers:false ~like (World.fixed w) in
    let x = World.search w f like moves moved_at periods in
    let k = World.certificate w x (fun _ _ _ -> 0) in
    let ranks = lazy (
      Gc.compact (); (* to follow packets leaves much behind *)
      let before = Search.dependencies x 0 in
      Array.mapi (fun p _ -> Search.ranks x [ before; Search.dependencies x ((p + 1) * w.n) ] p) periods) in
    let parts = List.mapi (fun p writes ->
      (writes, { Checker.rank_in = (fun s o v -> (Lazy.force ranks).(p) s o v); found = Search.found_in x p;
        find_in = Search.step_in x p; counts_in = Search.counts_in x p })) (Array.to_list periods) in
    let found_at = Search.found_at x in
    let judged = List.map (fun y ->
      (y, Checker.tables_of f moves y, Checker.here k like moves found_at y)) parts in
    (* What the checker will ask of the periods. *)
    x.again <- (fun t ->
      List.iter (fun (y, g, c) ->
        for j = 0 to Checker.last_stage g t do
          if like t = t then ignore (Checker.check_near f like g c y max_int max_int t x.all_near j)
          else List.iter (fun s -> ignore (Checker.check_hops f g c max_int j t (fst (f.home t)) s)) x.all_near
        done) judged);
    (Checker.check_plan f (World.is_gone w) k like moves found_at parts, fun () -> rejected "not proved") in
  let maps = List.exists (fun p -> p.map_times <> []) plan in
  let same h t r = written.(t) = written.(r) && not maps && List.for_all (fun x -> x.at <> h) written.(t) in
  try World.decide judge (World.classes w same) with
  | Search.Loop p -> rejected "period %d: packets can block each other in a circle" (p + 1)
