(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* search.ml: what the checker needs beside the ranks of a certificate.

   All packets to a LID are followed together: which (SL, VL) pairs do they have at
   each output?  Equal sets of pairs are one set, with a number; hops with equal sets
   are one step.  Nothing here need be trusted: Checker.check judges all of it. *)

open Dumps

(* ---- tables from two ints to one ------------------------------------------ *)

module Pairs = struct
  type t = { mutable a : int array; mutable b : int array; mutable value : int array;
             mutable n : int }

  let create () =
    { a = Array.make 1024 (-1); b = Array.make 1024 0; value = Array.make 1024 0; n = 0 }

  let rec place t x y h =
    let h = h land (Array.length t.a - 1) in
    if t.a.(h) < 0 || (t.a.(h) = x && t.b.(h) = y) then h else place t x y (h + 1)

  let hash x y =
    let h = (x * 0x2545F4914F6CDD1D + y) * 0x1E3779B97F4A7C15 in
    h lxor (h lsr 31)

  let find t x y = let h = place t x y (hash x y) in if t.a.(h) < 0 then -1 else t.value.(h)

  let rec add t x y v =
    if 2 * t.n >= Array.length t.a then begin
      let a = t.a and b = t.b and value = t.value in
      let size = 2 * Array.length a in
      t.a <- Array.make size (-1); t.b <- Array.make size 0; t.value <- Array.make size 0; t.n <- 0;
      Array.iteri (fun h x -> if x >= 0 then add t x b.(h) value.(h)) a
    end;
    let h = place t x y (hash x y) in
    t.a.(h) <- x; t.b.(h) <- y; t.value.(h) <- v; t.n <- t.n + 1
end

(* A list that grows, by number. *)
module Grow = struct
  type 'a t = { mutable items : 'a array; mutable n : int }

  let create dummy = { items = Array.make 64 dummy; n = 0 }

  let add t x =
    if t.n = Array.length t.items then
      t.items <- Array.append t.items (Array.make t.n x);
    t.items.(t.n) <- x; t.n <- t.n + 1; t.n - 1
end

(* ---- what packets there are --------------------------------------------------- *)

(* Lists of SLs, by number: none; one; one and the same on the other level; all. *)
let with_level = 17
let every = 33
let of_groups = 34

type world = {
  d : Dumps.t;
  n : int;
  any_sl : bool;
  end_at : int array; (* by place: an end port, or -1 *)
  inputs : int list array; (* by switch: where packets are made *)
  single : int list array; (* lists of one port *)
  lists : int list array;
  upper : bool; (* path SLs say nothing of the level: both are meant *)
  vls : string array; (* by row number + 1: unknown is all 0 *)
  merged : int array;
}

let merge rows =
  let column l = String.init (Array.length rows) (fun r -> rows.(r).[l]) in
  Array.init 16 (fun l ->
    let rec first m = if column m = column l then m else first (m + 1) in first 0)

(* SLs above 7 that some map between switches does not drop, and all below. *)
let alive d =
  let upper = ref 0 in
  Array.iteri (fun place far -> if far >= 0 then
    for i = 0 to nports - 1 do
      if d.far.(place / nports * nports + i) >= 0 then begin
        let r = row d (place / nports) i (place mod nports) in
        for l = 8 to 15 do
          if r < 0 || d.rows.(r).[l] <> '\015' then upper := !upper lor (1 lsl l)
        done
      end
    done) d.far;
  let single = not (Array.exists (fun far -> far >= 0) d.far) in
  fun l -> l < 8 || single || !upper lsr l land 1 = 1

let world d any_sl =
  let n = Array.length d.guids in
  let end_at = Array.make (n * nports) (-1) and inputs = Array.make n [] in
  Array.iteri (fun e end_ -> if end_.place >= 0 then begin
      end_at.(end_.place) <- e;
      let s = end_.place / nports in
      inputs.(s) <- end_.place mod nports :: inputs.(s)
    end) d.ends;
  let alive = alive d and upper = ref true in
  Array.iter (Bytes.iter (fun c ->
    let l = Char.code c in if l > 7 && l < 16 then upper := false)) d.sl;
  let some = List.filter alive in
  let all = some (List.init 16 Fun.id) in
  let lists = Array.init 35 (fun n ->
    if n = 0 then []
    else if n < with_level then [ n - 1 ]
    else if n < every then some (List.sort_uniq compare [ n - with_level; (n - with_level) lor 8 ])
    else if n = every || any_sl then all
    else some [ 0; 8 ]) in
  let vls = Array.append [| String.make 16 '\000' |] d.rows in
  { d; n; any_sl; end_at; inputs; single = Array.init nports (fun o -> [ o ]); lists; upper = !upper; vls; merged = merge vls }

let is_group t = t >= lid_space

let masks w : (int, int list array) Hashtbl.t = Hashtbl.of_seq (List.to_seq w.d.groups)

let sls w masks s i t =
  if is_group t then
    if i = 0 && not (List.mem 0 (Hashtbl.find masks t).(s)) then 0 else of_groups
  else
    let e = w.end_at.(s * nports + i) in
    if w.d.owner.(t) = e then 0
    else if w.any_sl then every
    else match path_sl w.d e t with
      | 255 -> 0
      | l -> if w.upper then with_level + l else 1 + l

(* ---- sets --------------------------------------------------------------------- *)

type t = {
  w : world;
  masks : (int, int list array) Hashtbl.t;
  numbers : (string, int) Hashtbl.t; (* of sets *)
  sets : (int * int) list Grow.t;
  bits : string Grow.t; (* the same: a bit for each pair *)
  unions : Pairs.t;
  images : int array array; (* by row + 1 and set; or -1 *)
  firsts : int array array; (* by row + 1 and list of SLs; or -1 *)
  step_numbers : Pairs.t;
  steps : Checker.step Grow.t;
  start_numbers : Pairs.t;
  starts : Checker.start Grow.t;
  (* Of one LID: *)
  mutable now : int;
  at : int array; (* by place: a set *)
  mutable dirty : int list;
  step_at : int array; (* by switch: the step from there *)
  start_at : int array; (* by a source's place: the start from there *)
  waits : int array;
  ready : int array;
}

exception Circle of int

let number_of x bits =
  match Hashtbl.find_opt x.numbers bits with
  | Some n -> n
  | None ->
    let pairs = ref [] in
    for k = 255 downto 0 do
      if Char.code bits.[k / 8] lsr (k mod 8) land 1 = 1 then pairs := (k / 16, k mod 16) :: !pairs
    done;
    let n = Grow.add x.sets !pairs in
    ignore (Grow.add x.bits bits);
    Hashtbl.add x.numbers bits n; n

let set_of x pairs =
  let b = Bytes.make 32 '\000' in
  List.iter (fun (l, v) ->
    let k = 16 * l + v in
    Bytes.set_uint8 b (k / 8) (Bytes.get_uint8 b (k / 8) lor (1 lsl (k mod 8)))) pairs;
  number_of x (Bytes.to_string b)

let create w =
  let x = {
    w; masks = masks w; numbers = Hashtbl.create 999; sets = Grow.create []; bits = Grow.create "";
    unions = Pairs.create (); images = Array.make (Array.length w.vls) [||];
    firsts = Array.map (fun _ -> Array.make (Array.length w.lists) (-1)) w.vls;
    step_numbers = Pairs.create (); start_numbers = Pairs.create ();
    steps = Grow.create { Checker.at_ = 0; out = 0; next_out = 0; from = 0; to0 = 0 };
    starts = Grow.create { Checker.st_at = 0; input = 0; st_out = 0; with_sls = 0; st_to = 0 };
    now = -1; at = Array.make (w.n * nports) 0; dirty = []; step_at = Array.make w.n 0;
    start_at = Array.make (w.n * nports) 0;
    waits = Array.make w.n 0; ready = Array.make w.n 0 } in
  ignore (set_of x []); (* number 0 *)
  x

let memo table a b make =
  match Pairs.find table a b with
  | -1 -> let v = make () in Pairs.add table a b v; v
  | v -> v

let union x a b =
  if a = b || b = 0 then a
  else if a = 0 then b
  else memo x.unions (min a b) (max a b) (fun () ->
    let p = x.bits.items.(a) and q = x.bits.items.(b) in
    number_of x (String.init 32 (fun i -> Char.chr (Char.code p.[i] lor Char.code q.[i]))))

let vl w row l = Char.code w.vls.(row + 1).[l]

let new_image x r a =
  let n = set_of x (List.map (fun (l, _) -> (l, vl x.w r l)) x.sets.items.(a)) in
  let old = x.images.(r + 1) in
  if a >= Array.length old then
    x.images.(r + 1) <- Array.append old (Array.make (a + 32 - Array.length old) (-1));
  x.images.(r + 1).(a) <- n; n

let image x s i o a =
  let r = row x.w.d s i o in
  let images = x.images.(r + 1) in
  if a < Array.length images && images.(a) >= 0 then images.(a) else new_image x r a

let new_first x r list =
  let n = set_of x (List.map (fun l ->
    let l = x.w.merged.(l) in (l, vl x.w r l)) x.w.lists.(list)) in
  x.firsts.(r + 1).(list) <- n; n

let first x s i o list =
  let r = row x.w.d s i o in
  let n = x.firsts.(r + 1).(list) in
  if n >= 0 then n else new_first x r list

(* ---- steps ------------------------------------------------------------------------ *)

let key a b = (a lsl 31) lor b

(* The one that was found last is often the next one, too. *)
let same_step (x : Checker.step) s o o' a b =
  x.at_ = s && x.out = o && x.next_out = o' && x.from = a && x.to0 = b

let same_start (x : Checker.start) s i o list b =
  x.st_at = s && x.input = i && x.st_out = o && x.with_sls = list && x.st_to = b

let step x s o o' a b =
  let k = ((s * nports) + o) * nports + o' and k' = key a b in
  memo x.step_numbers k k' (fun () ->
    Grow.add x.steps { Checker.at_ = s; out = o; next_out = o'; from = a; to0 = b })

let start x s i o list b =
  let k = ((s * nports) + i) * nports + o and k' = key list b in
  memo x.start_numbers k k' (fun () ->
    Grow.add x.starts { Checker.st_at = s; input = i; st_out = o; with_sls = list; st_to = b })

(* ---- unicast: from the outermost switches inwards --------------------------------- *)

let put x place set =
  if x.at.(place) = 0 && set <> 0 then x.dirty <- place :: x.dirty;
  x.at.(place) <- set

let far_of x s t =
  let o = output x.w.d s t in
  if o = none || o = 0 then -1 else x.w.d.far.(s * nports + o)

let start_all x t s o = List.iter (fun i ->
    match sls x.w x.masks s i t with
    | 0 -> ()
    | list -> put x (s * nports + o) (union x x.at.(s * nports + o) (first x s i o list)))
  x.w.inputs.(s)

let unicast x t =
  let d = x.w.d and n = x.w.n in
  Array.fill x.waits 0 n 0;
  for s = 0 to n - 1 do
    let far = far_of x s t in
    if far >= 0 then begin
      x.waits.(far / nports) <- x.waits.(far / nports) + 1;
      start_all x t s (output d s t)
    end
  done;
  let count = ref 0 in
  let push s = x.ready.(!count) <- s; incr count in
  for s = 0 to n - 1 do if x.waits.(s) = 0 then push s done;
  let i = ref 0 in
  while !i < !count do
    let s = x.ready.(!i) in
    incr i;
    let far = far_of x s t in
    if far >= 0 then begin
      let s' = far / nports and here = x.at.(s * nports + output d s t) in
      let o' = output d s' t in
      if here <> 0 && o' <> none && far_of x s' t >= 0 then begin
        let place = s' * nports + o' in
        put x place (union x x.at.(place) (image x s' (far mod nports) o' here))
      end;
      x.waits.(s') <- x.waits.(s') - 1;
      if x.waits.(s') = 0 then push s'
    end
  done;
  if !count < n then raise (Circle t)

let unicast_steps x t =
  let d = x.w.d in
  for s = 0 to x.w.n - 1 do
    let far = far_of x s t and o = output d s t in
    if far >= 0 then begin
      let here = x.at.(s * nports + o) and s' = far / nports in
      let o' = output d s' t in
      if here <> 0 && o' <> none then begin
        let there = x.at.(s' * nports + o') in
        if not (same_step x.steps.items.(x.step_at.(s)) s o o' here there) then
          x.step_at.(s) <- step x s o o' here there
      end
    end
  done

(* ---- multicast: until nothing is new ------------------------------------------------ *)

let multicast x t =
  let masks = Hashtbl.find x.masks t and d = x.w.d in
  let work = Queue.create () in
  let arrive s i set_for =
    List.iter (fun o ->
      let place = s * nports + o in
      if o <> i && d.far.(place) >= 0 then begin
        let old = x.at.(place) in
        put x place (union x old (set_for o));
        if x.at.(place) <> old then Queue.add place work
      end) masks.(s) in
  for s = 0 to x.w.n - 1 do
    List.iter (fun i -> match sls x.w x.masks s i t with
      | 0 -> ()
      | list -> arrive s i (fun o -> first x s i o list)) x.w.inputs.(s)
  done;
  while not (Queue.is_empty work) do
    let place = Queue.pop work in
    let far = d.far.(place) and here = x.at.(place) in
    arrive (far / nports) (far mod nports) (fun o -> image x (far / nports) (far mod nports) o here)
  done

let multicast_steps x t =
  let masks = Hashtbl.find x.masks t and d = x.w.d in
  Array.iteri (fun s mask -> List.iter (fun o ->
      let place = s * nports + o in
      let far = d.far.(place) in
      if far >= 0 && x.at.(place) <> 0 then
        List.iter (fun o' -> if o' <> far mod nports then
            ignore (step x s o o' x.at.(place) x.at.(far / nports * nports + o')))
          masks.(far / nports)) mask) masks

(* ---- of one LID after another ---------------------------------------------------------- *)

let outputs x s t =
  if is_group t then (Hashtbl.find x.masks t).(s)
  else match output x.w.d s t with 255 -> [] | o -> x.w.single.(o)

let starts x t =
  for s = 0 to x.w.n - 1 do
    List.iter (fun i -> match sls x.w x.masks s i t with
      | 0 -> ()
      | list -> List.iter (fun o -> if not (is_group t && o = i) then
          let place = s * nports + i and b = x.at.(s * nports + o) in
          if not (same_start x.starts.items.(x.start_at.(place)) s i o list b) then
            x.start_at.(place) <- start x s i o list b) (outputs x s t))
      x.w.inputs.(s)
  done

let follow x t =
  if t <> x.now then begin
    List.iter (fun place -> x.at.(place) <- 0) x.dirty;
    x.dirty <- []; x.now <- t;
    if is_group t then (multicast x t; multicast_steps x t)
    else (unicast x t; unicast_steps x t);
    starts x t
  end

(* All steps and starts that some LID needs. *)
let collect x lids = List.iter (follow x) lids

(* A group's switches, joined to the first one: ports towards it, and depths. *)
let join x t =
  let masks = Hashtbl.find x.masks t and d = x.w.d in
  let up = Array.make x.w.n 0 and depth = Array.make x.w.n max_int and work = Queue.create () in
  let rec first s = if s >= x.w.n then 0 else if masks.(s) <> [] then s else first (s + 1) in
  let root = first 0 in
  depth.(root) <- 0; Queue.add root work;
  while not (Queue.is_empty work) do
    let s = Queue.pop work in
    List.iter (fun o ->
      let far = d.far.(s * nports + o) in
      if far >= 0 && depth.(far / nports) = max_int then begin
        depth.(far / nports) <- depth.(s) + 1; up.(far / nports) <- far mod nports;
        Queue.add (far / nports) work
      end) masks.(s)
  done;
  (root, up, depth)
