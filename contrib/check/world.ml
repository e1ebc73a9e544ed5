(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* world.ml: hands the tables of one directory, or of two, to the checker.

   Of two directories, old and new, a fabric has the cables, end ports and LIDs of both.
   Cables that only the old one has are gone: packets are under way that crossed them.  A
   source sends with the SLs of both: a packet carries the one that its connection was
   granted.  change.ml adds how the tables become the new ones. *)

open Dumps

exception Rejected of string
let rejected fmt = Printf.ksprintf (fun s -> raise (Rejected s)) fmt

let is_group = Search.is_group

(* Lists of SLs, by number: none; one; one and the same on the other level; all. *)
let with_level = 17
let every = 33
let of_groups = 34

type t = {
  ds : Dumps.t array;
  n : int;
  bits : int;
  far : int array;
  gone : bool array; (* by place: its cable has failed before the change *)
  end_at : int array array; (* by directory and place: an end port, or -1 *)
  masks : (int, int list array) Hashtbl.t array; (* by directory *)
  single : int list array; (* lists of one port *)
  lists : int list Search.Grow.t;
  either : (int * int, int) Hashtbl.t; (* lists that are two together *)
  any_sl : bool;
  upper : bool; (* path SLs say nothing of the level: both are meant *)
  vls : string array; (* by row number + 1: unknown is all 0 *)
  merged : int array;
}

let merge rows =
  let column l = String.init (Array.length rows) (fun r -> rows.(r).[l]) in
  Array.init 16 (fun l ->
    let rec first m = if column m = column l then m else first (m + 1) in first 0)

(* SLs above 7 that some map between switches does not drop, and all below. *)
let alive (d : Dumps.t) =
  let upper = ref 0 in
  Array.iteri (fun place far -> if far >= 0 then
    for i = 0 to stride d - 1 do
      let s = switch_of d place in
      if d.far.(Dumps.place d s i) >= 0 then begin
        let r = row d s i (port_of d place) in
        for l = 8 to 15 do
          if r < 0 || d.rows.(r).[l] <> '\015' then upper := !upper lor (1 lsl l)
        done
      end
    done) d.far;
  let single = not (Array.exists (fun far -> far >= 0) d.far) in
  fun l -> l < 8 || single || !upper lsr l land 1 = 1

(* The cables of all directories, and which of them the last one has no more. *)
let cables (ds : Dumps.t array) =
  let last = ds.(Array.length ds - 1) in
  let far = Array.copy last.far and gone = Array.map (fun _ -> false) last.far in
  Array.iter (fun d -> Array.iteri (fun place to_ ->
    if to_ >= 0 && last.far.(place) < 0 then begin
      far.(place) <- to_; gone.(place) <- true
    end else if to_ >= 0 && last.far.(place) <> to_ then
      rejected "0x%s port %d has another cable in the new tables"
        d.guids.(switch_of d place) (port_of d place)) d.far) ds;
  (far, gone)

let create any_sl (ds : Dumps.t array) =
  let d = ds.(0) in
  let n = Array.length d.guids in
  let end_at = Array.map (fun (d : Dumps.t) ->
    let at = Array.make (n lsl d.bits) (-1) in
    Array.iteri (fun e end_ -> if end_.place >= 0 then at.(end_.place) <- e) d.ends;
    at) ds in
  let lives = Array.map alive ds in
  let alive l = Array.exists (fun alive -> alive l) lives in
  let some = List.filter alive in
  let all = some (List.init 16 Fun.id) in
  let lists = Search.Grow.create [] in
  for n = 0 to of_groups do
    ignore (Search.Grow.add lists (
      if n = 0 then []
      else if n < with_level then [ n - 1 ]
      else if n < every then some (List.sort_uniq compare [ n - with_level; (n - with_level) lor 8 ])
      else if n = every || any_sl then all
      else some [ 0; 8 ]))
  done;
  let vls = Array.append [| String.make 16 '\000' |] d.rows in
  let far, gone = cables ds in
  { ds; n; bits = d.bits; far; gone; end_at;
    masks = Array.map (fun d -> Hashtbl.of_seq (List.to_seq d.groups)) ds;
    single = Array.init (max_port + 1) (fun o -> [ o ]); lists; either = Hashtbl.create 99;
    any_sl; upper = not (Array.exists (fun (d : Dumps.t) -> d.high) ds); vls; merged = merge vls }

let place w s o = (s lsl w.bits) lor o

let mask w k s t = match Hashtbl.find_opt w.masks.(k) t with Some m -> m.(s) | None -> []

(* What directory k says of a switch and LID. *)
let output w k s t = if is_group t then mask w k s t
  else match Dumps.output w.ds.(k) s t with 255 -> [] | o -> w.single.(o)

let sls_of w k =
  let d = w.ds.(k) and end_at = w.end_at.(k) in
  fun s i t ->
    let e = end_at.(place w s i) in
    if e < 0 then 0
    else if is_group t then
      if i = 0 && not (List.mem 0 (mask w k s t)) then 0 else of_groups
    else if d.owner.(t) = e then 0
    else if w.any_sl then every
    else match path_sl d e t with
      | 255 -> 0
      | l -> if w.upper then with_level + l else 1 + l

let sls w =
  let old = sls_of w 0 in
  let same (a : Dumps.t) (b : Dumps.t) =
    a.sl == b.sl && a.top = b.top && a.owner = b.owner && a.groups = b.groups in
  if Array.length w.ds = 1 || (same w.ds.(0) w.ds.(1) && w.end_at.(0) = w.end_at.(1)) then old
  else
    let new_ = sls_of w 1 in
    fun s i t ->
      let a = old s i t in
      let b = new_ s i t in
      if a = b || b = 0 then a
      else if a = 0 then b
      else Search.memo w.either a b (fun () ->
        Search.Grow.add w.lists (List.sort_uniq compare (w.lists.items.(a) @ w.lists.items.(b))))

(* The old and the new row of a pair of ports.  A row counts where both ports have a cable:
   otherwise the other directory's is meant. *)
let two_rows w s i o =
  let one k =
    let d = w.ds.(k) in
    if (i = 0 || d.used.(place w s i)) && d.used.(place w s o) then row d s i o + 1 else 0 in
  let a = one 0 and b = one 1 in
  if a = 0 then (b, b) else if b = 0 then (a, a) else (a, b)

(* Maps 0 are the old ones, 2 the new ones, 1 either of them. *)
let rows w =
  if Array.length w.ds = 1 then
    let twice = Array.init (Array.length w.vls) (fun r -> (r, r)) in
    fun _ s i o -> twice.(row w.ds.(0) s i o + 1)
  else
    let twice = Array.init (Array.length w.vls) (fun r -> (r, r)) in
    fun m s i o ->
      let one = w.ds.(0).maps.(place w s i) in
      if one == w.ds.(1).maps.(place w s i) && Bytes.length one > 0 then
        twice.(Bytes.get_uint16_le one (2 * o))
      else
        let a, b = two_rows w s i o in
        if a = b || m = 0 then twice.(a) else if m = 1 then (a, b) else twice.(b)

let home w t =
  let d = w.ds.(Array.length w.ds - 1) in
  let place = if d.owner.(t) < 0 then -1 else d.ends.(d.owner.(t)).place in
  if place < 0 then (w.n, 0) else (switch_of d place, port_of d place)

let all_lids w =
  let of_ k = Dumps.lids w.ds.(k) @ List.map fst w.ds.(k).groups in
  if Array.length w.ds = 1 then of_ 0 else List.sort_uniq compare (of_ 0 @ of_ 1)

(* Which LID stands for a LID: of those at one switch that all other switches treat alike
   the first one, if they are [same] otherwise.  The checker does not believe it. *)
let classes w same_else =
  let like = Array.init lid_space Fun.id and firsts = Array.make w.n [] in
  let switch (d : Dumps.t) t =
    let place = if d.owner.(t) < 0 then -1 else d.ends.(d.owner.(t)).place in
    if place < 0 then -1 else switch_of d place in
  let at_end (d : Dumps.t) h t =
    let o = if t > d.top then none else Table.one d.lft h t in
    o = none || w.far.(place w h o) < 0 in
  let alike k h t r =
    let d = w.ds.(k) in
    let switch_of e = let place = d.ends.(e).place in if place < 0 then h else switch_of d place in
    switch d t = switch d r && at_end d h t && at_end d h r &&
    Table.alike d.lft t r (fun s -> s = h) && (w.any_sl || Table.alike d.sl t r (fun e -> switch_of e = h)) in
  let last = Array.length w.ds - 1 in
  for t = 0 to lid_space - 1 do
    let h = switch w.ds.(last) t in
    if h >= 0 then
      match List.find_opt (fun r -> same_else h t r && alike last h t r && alike 0 h t r) firsts.(h) with
      | Some r -> like.(t) <- r
      | None -> firsts.(h) <- firsts.(h) @ [ t ]
  done;
  fun t -> if is_group t then t else like.(t)

(* LIDs with like columns one after another, as much is the same at these then. *)
let in_families w like lids =
  let key t = let r = like t in
    ((if is_group r then "" else Table.family w.ds.(0).lft r), r, t) in
  List.map (fun (_, _, t) -> t) (List.sort compare (List.map key lids))

let fabric w ~delivers ~like now =
  let ends = Array.make w.n [] in
  Array.iter (fun at -> Array.iteri (fun place e ->
    let s = place lsr w.bits and i = place land ((1 lsl w.bits) - 1) in
    if e >= 0 && not (List.mem i ends.(s)) then ends.(s) <- i :: ends.(s)) at) w.end_at;
  let bits = w.bits in
  { Checker.n_switches = w.n;
    far_end = (fun s o ->
      let far = w.far.((s lsl bits) lor o) in
      if far < 0 then None else Some (far lsr bits, far land ((1 lsl bits) - 1)));
    sources = (fun s -> ends.(s));
    rows = rows w;
    n_rows = Array.length w.vls;
    vl_in_row = (fun r l -> Char.code w.vls.(r).[l]);
    lids = in_families w like (all_lids w);
    sls = sls w;
    sl_list = (fun n -> w.lists.items.(n));
    multicast = is_group;
    home = home w;
    delivers; now }

(* Tables that do not change. *)
let fixed w = { Checker.n_times = 1; stage = (fun _ _ -> 0); maps_at = (fun _ _ -> 0);
                outputs_at = (fun _ s t -> output w 0 s t) }

(* Of the tables before the periods, if there are any. *)
let search w f like moves moved_at periods =
  let plain s t = if is_group t then -1 else Dumps.output w.ds.(0) s t in
  Search.create f ~bits:w.bits ~far:w.far ~gone:w.gone ~plain ~vls:w.vls ~merged:w.merged ~like
    moves moved_at periods

(* rank: of a file, or of Search.ranks. *)
let certificate w (x : Search.t) rank =
  let joins = Hashtbl.create 99 in
  let join t = match Hashtbl.find_opt joins t with
    | Some j -> j
    | None -> let j = Search.join x t in Hashtbl.add joins t j; j in
  { Checker.rank;
    merged = (fun l -> w.merged.(l));
    set = (fun n -> x.sets.items.(n));
    set_at = (fun t _ s o -> Search.set_at x t s o);
    n_steps = (fun t _ -> Search.judge x t; x.steps.n);
    nth_step = Search.nth_step x;
    find_step = Search.step x;
    counts = Search.counts x;
    n_starts = (fun t _ -> Search.judge x t; x.starts.n);
    nth_start = Search.nth_start x;
    find_start = Search.start x;
    root = (fun t -> let root, _, _ = join t in root);
    up = (fun t s -> let _, up, _ = join t in up.(s));
    depth = (fun t s -> let _, _, depth = join t in depth.(s)) }

(* Judge by classes; if that does not prove it, LID by LID, and tell why not. *)
let decide judge like =
  let accepted, _ = judge like in
  if not accepted then
    let accepted, why = judge Fun.id in
    if not accepted then why ()

(* ---- why not -------------------------------------------------------------------------- *)

let is_gone w s o = w.gone.(place w s o)

(* Of tables that stay. *)
let why w (f : Checker.fabric) (k : Checker.certificate) =
  let guid s = w.ds.(0).guids.(s) in
  let n, m = List.fold_left (fun (a, b) t -> (max a (k.n_steps t 0), max b (k.n_starts t 0)))
    (0, 0) f.lids in
  for n = 0 to n - 1 do
    let s = k.nth_step n in
    if not (Checker.check_step f k (is_gone w) s) then
      rejected "a rank does not fall, or a packet is dropped, behind 0x%s port %d" (guid s.at_) s.out
  done;
  for n = 0 to m - 1 do
    let s = k.nth_start n in
    if not (Checker.check_start f k s) then
      rejected "a packet is dropped at 0x%s, from port %d to port %d" (guid s.st_at) s.input s.st_out
  done;
  List.iter (fun t ->
    if not (Checker.check_stage f k n m 0 t) then rejected "LID %d gets lost" t;
    if is_group t && not (Checker.check_group f k t) then
      rejected "group 0x%04X does not come to all of its members" t) f.lids;
  rejected "not proved"
