(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* search.ml: what the checker needs beside the ranks of a certificate.

   All packets to a LID are followed together: which (SL, VL) pairs do they have at
   each output?  Equal sets of pairs are one set, with a number; hops with equal sets
   are one step.  Ranks that fall along the steps are found, too.  Nothing here need be
   trusted: Checker.check judges all of it. *)

open Dumps

(* ---- numbers of pairs of ints --------------------------------------------- *)

(* A pair is an owner and a key.  Each owner has a table of its own: of numbers, in 32
   bits. *)
module Pairs = struct
  type t = {
    tables : Bytes.t array; (* by owner *)
    used : int array; (* numbers in each *)
    recent : int array; (* by owner: the key that was met last, and its number *)
    mutable owner : int array; (* by number *)
    mutable key : int array;
    mutable n : int;
  }

  let create owners = {
    tables = Array.make owners Bytes.empty; used = Array.make owners 0;
    recent = Array.make (2 * owners) (-1); owner = Array.make 64 0; key = Array.make 64 0; n = 0 }

  let[@inline] get table at = Int32.to_int (Bytes.get_int32_le table at)

  let rec place t table key h =
    let at = 4 * h land (Bytes.length table - 1) in
    let n = get table at in
    if n < 0 || t.key.(n) = key then at else place t table key (h + 1)

  let hash key =
    let h = key * 0x1E3779B97F4A7C15 in
    h lxor (h lsr 31)

  let insert t table n = Bytes.set_int32_le table (place t table t.key.(n) (hash t.key.(n))) (Int32.of_int n)

  let enlarge a = Array.append a (Array.make (Array.length a / 2) 0)

  let add t owner key =
    let n = t.n and old = t.tables.(owner) in
    if n = Array.length t.key then begin t.owner <- enlarge t.owner; t.key <- enlarge t.key end;
    t.owner.(n) <- owner; t.key.(n) <- key; t.n <- n + 1;
    if 16 * t.used.(owner) >= 3 * Bytes.length old then begin
      let table = Bytes.make (max 16 (2 * Bytes.length old)) '\255' in
      for i = 0 to Bytes.length old / 4 - 1 do
        let n = get old (4 * i) in
        if n >= 0 then insert t table n
      done;
      t.tables.(owner) <- table
    end;
    insert t t.tables.(owner) n;
    t.used.(owner) <- t.used.(owner) + 1;
    n

  let look_up t owner key =
    let table = t.tables.(owner) in
    let known = if Bytes.length table = 0 then -1 else get table (place t table key (hash key)) in
    let n = if known >= 0 then known else add t owner key in
    t.recent.(2 * owner) <- key; t.recent.(2 * owner + 1) <- n;
    n

  let[@inline] number t owner key =
    if t.recent.(2 * owner) = key then t.recent.(2 * owner + 1) else look_up t owner key
end

(* What is made once for a pair of ints. *)
let memo table (a : int) (b : int) make =
  match Hashtbl.find_opt table (a, b) with
  | Some v -> v
  | None -> let v = make () in Hashtbl.add table (a, b) v; v

(* A list that grows, by number. *)
module Grow = struct
  type 'a t = { mutable items : 'a array; mutable n : int }

  let create dummy = { items = Array.make 64 dummy; n = 0 }

  let add t x =
    if t.n = Array.length t.items then
      t.items <- Array.append t.items (Array.make t.n x);
    t.items.(t.n) <- x; t.n <- t.n + 1; t.n - 1
end

(* ---- sets --------------------------------------------------------------------- *)

let is_group t = t >= lid_space

type t = {
  f : Checker.fabric;
  bits : int;
  n : int; (* switches *)
  far : int array; (* by place: that of another switch, or -1 *)
  gone : bool array; (* by place: nobody waits for it *)
  plain : int -> int -> int; (* switch, LID: the only output, 255 for none; -1: ask f *)
  vls : string array; (* by row *)
  merged : int array;
  like : int -> int; (* the LID that is judged for a LID *)
  numbers : (string, int) Hashtbl.t; (* of sets *)
  sets : (int * int) list Grow.t;
  set_bits : string Grow.t; (* the same: a bit for each pair *)
  unions : (int * int, int) Hashtbl.t;
  images : int array array; (* by row and set; or -1 *)
  firsts : int array array; (* by row and list of SLs; or -1 *)
  steps : Pairs.t;
  starts : Pairs.t;
  (* Of one LID, and stage: *)
  mutable now : int;
  mutable stage : int;
  mutable judged : int; (* the last LID that is like another one *)
  at : int array; (* by place: a set *)
  before : int array; (* the same in the stage before *)
  dirty : int array; (* places that may have a set, *)
  mutable n_dirty : int; (* and how many *)
  out : int array; (* by switch: its only output, or 255 *)
  next : int array; (* by switch: the far end of that, or -1 *)
  list_at : int array; (* by a source's place: its list of SLs *)
  waits : int array;
  ready : int array;
}

exception Circle of int

let place x s o = (s lsl x.bits) lor o
let switch_of x place = place lsr x.bits
let port_of x place = place land ((1 lsl x.bits) - 1)

let number_of x bits =
  match Hashtbl.find_opt x.numbers bits with
  | Some n -> n
  | None ->
    let pairs = ref [] in
    for k = 255 downto 0 do
      if Char.code bits.[k / 8] lsr (k mod 8) land 1 = 1 then pairs := (k / 16, k mod 16) :: !pairs
    done;
    let n = Grow.add x.sets !pairs in
    ignore (Grow.add x.set_bits bits);
    Hashtbl.add x.numbers bits n; n

let set_of x pairs =
  let b = Bytes.make 32 '\000' in
  List.iter (fun (l, v) -> if v <> Checker.no_vl then begin
      let k = 16 * l + v in
      Bytes.set_uint8 b (k / 8) (Bytes.get_uint8 b (k / 8) lor (1 lsl (k mod 8)))
    end) pairs;
  number_of x (Bytes.to_string b)

let create (f : Checker.fabric) ~bits ~far ~gone ~plain ~vls ~merged ~like =
  let n = f.n_switches in
  let x = {
    f; bits; n; far; gone; plain; vls; merged; like; numbers = Hashtbl.create 999;
    sets = Grow.create []; set_bits = Grow.create ""; unions = Hashtbl.create 99;
    images = Array.make (Array.length vls) [||]; firsts = Array.make (Array.length vls) [||];
    steps = Pairs.create n; starts = Pairs.create (n lsl bits);
    now = -1; stage = 0; judged = -1; at = Array.make (n lsl bits) 0; before = Array.make (n lsl bits) 0;
    dirty = Array.make (n lsl bits) 0; n_dirty = 0;
    out = Array.make n 0; next = Array.make n 0; list_at = Array.make (n lsl bits) 0;
    waits = Array.make n 0; ready = Array.make n 0 } in
  ignore (set_of x []); (* number 0 *)
  x

let union x a b =
  if a = b || b = 0 then a
  else if a = 0 then b
  else memo x.unions (min a b) (max a b) (fun () ->
    let p = x.set_bits.items.(a) and q = x.set_bits.items.(b) in
    number_of x (String.init 32 (fun i -> Char.chr (Char.code p.[i] lor Char.code q.[i]))))

let vl x row l = Char.code x.vls.(row).[l]

(* What is found once for a row and a number. *)
let[@inline] of_row table r a make =
  let known = table.(r) in
  if a < Array.length known && known.(a) >= 0 then known.(a)
  else begin
    let n = make () in
    if a >= Array.length known then
      table.(r) <- Array.append known (Array.make (a + 32 - Array.length known) (-1));
    table.(r).(a) <- n; n
  end

let new_image x r a = set_of x (List.map (fun (l, _) -> (l, vl x r l)) x.sets.items.(a))
let image_by x r a = of_row x.images r a (fun () -> new_image x r a)

let new_first x r list =
  set_of x (List.map (fun l -> let l = x.merged.(l) in (l, vl x r l)) (x.f.sl_list list))
let first_by x r list = of_row x.firsts r list (fun () -> new_first x r list)

(* By either of two rows. *)
let either x by m s i o a =
  match x.f.rows m s i o with
  | r, r' when r = r' -> by x r a
  | r, r' -> union x (by x r a) (by x r' a)

let image x = either x image_by
let first x = either x first_by

(* ---- steps ------------------------------------------------------------------------ *)

(* A step's owner is its switch, a start's its place; maps, ports and two numbers are the
   key. *)
let wide = 22

let[@inline] key m o o' a b =
  if (a lor b) lsr wide > 0 then failwith "too many sets";
  ((((((m lsl 8) lor o) lsl 8) lor o') lsl wide lor a) lsl wide) lor b

let first_of key = key lsr wide land (1 lsl wide - 1)
let second_of key = key land (1 lsl wide - 1)
let maps_of key = key lsr (2 * wide + 16)
let port_before key = key lsr (2 * wide + 8) land 255
let port_of_key key = key lsr (2 * wide) land 255

let step x m s o o' a b = Pairs.number x.steps s (key m o o' a b)
let start x m s i o list b = Pairs.number x.starts (place x s i) (key m 0 o list b)

let nth_step x n =
  let s = x.steps.owner.(n) and k = x.steps.key.(n) in
  { Checker.hop_maps = maps_of k; at_ = s; out = port_before k; next_out = port_of_key k;
    from = first_of k; to0 = second_of k }

let nth_start x n =
  let p = x.starts.owner.(n) and k = x.starts.key.(n) in
  { Checker.st_maps = maps_of k; st_at = switch_of x p; input = port_of x p; st_out = port_of_key k;
    with_sls = first_of k; st_to = second_of k }

let put x place set =
  if x.at.(place) = 0 && set <> 0 then begin
    x.dirty.(x.n_dirty) <- place; x.n_dirty <- x.n_dirty + 1
  end;
  x.at.(place) <- set

let each_dirty x f = for i = 0 to x.n_dirty - 1 do f x.dirty.(i) done

let starts x m j t =
  for s = 0 to x.n - 1 do
    List.iter (fun i -> match x.f.sls s i t with
      | 0 -> ()
      | list -> List.iter (fun o -> ignore (start x m s i o list x.at.(place x s o)))
          (Checker.copies x.f j s i t))
      (x.f.sources s)
  done

(* ---- one output for each switch: from the outermost switches inwards ------------------ *)

let far_of x s o = if o = none then -1 else x.far.(place x s o)

let rec from_sources x m t s o far = function
  | [] -> ()
  | i :: more ->
    let list = x.f.sls s i t in
    x.list_at.(place x s i) <- list;
    if list > 0 && far >= 0 then begin
      let here = place x s o in
      put x here (union x x.at.(here) (first x m s i o list))
    end;
    from_sources x m t s o far more

let rec starts_from x m s o = function
  | [] -> ()
  | i :: more ->
    let list = x.list_at.(place x s i) in
    if list > 0 && o <> none then ignore (start x m s i o list x.at.(place x s o));
    starts_from x m s o more

let inwards x m t =
  let n = x.n in
  Array.fill x.waits 0 n 0;
  for s = 0 to n - 1 do
    let o = x.plain s t in
    let far = far_of x s o in
    x.out.(s) <- o; x.next.(s) <- far;
    from_sources x m t s o far (x.f.sources s);
    if far >= 0 then begin
      let s' = switch_of x far in
      x.waits.(s') <- x.waits.(s') + 1
    end
  done;
  let count = ref 0 in
  let push s = x.ready.(!count) <- s; incr count in
  for s = 0 to n - 1 do if x.waits.(s) = 0 then push s done;
  let i = ref 0 in
  while !i < !count do
    let s = x.ready.(!i) in
    incr i;
    let far = x.next.(s) in
    if far >= 0 then begin
      let s' = switch_of x far and here = x.at.(place x s x.out.(s)) in
      let o' = x.out.(s') in
      if here <> 0 && x.next.(s') >= 0 then begin
        let there = place x s' o' in
        put x there (union x x.at.(there) (image x m s' (port_of x far) o' here))
      end;
      x.waits.(s') <- x.waits.(s') - 1;
      if x.waits.(s') = 0 then push s'
    end
  done;
  if !count < n then raise (Circle t);
  for s = 0 to n - 1 do
    let far = x.next.(s) in
    if far >= 0 then begin
      let o = x.out.(s) and s' = switch_of x far in
      let here = x.at.(place x s o) and o' = x.out.(s') in
      if here <> 0 && o' <> none then ignore (step x m s o o' here x.at.(place x s' o'))
    end;
    starts_from x m s x.out.(s) (x.f.sources s)
  done

(* ---- several outputs: until nothing is new -------------------------------------------- *)

let outwards x m j t =
  let work = Queue.create () in
  each_dirty x (fun place -> Queue.add place work);
  let arrive s i set_for =
    List.iter (fun o ->
      let place = place x s o in
      if x.far.(place) >= 0 then begin
        let old = x.at.(place) in
        put x place (union x old (set_for o));
        if x.at.(place) <> old then Queue.add place work
      end) (Checker.copies x.f j s i t) in
  for s = 0 to x.n - 1 do
    List.iter (fun i -> match x.f.sls s i t with
      | 0 -> ()
      | list -> arrive s i (fun o -> first x m s i o list)) (x.f.sources s)
  done;
  while not (Queue.is_empty work) do
    let place = Queue.pop work in
    let far = x.far.(place) and here = x.at.(place) in
    let s = switch_of x far and i = port_of x far in
    arrive s i (fun o -> image x m s i o here)
  done;
  each_dirty x (fun here ->
    let far = x.far.(here) in
    let s' = switch_of x far in
    List.iter (fun o' ->
        ignore (step x m (switch_of x here) (port_of x here) o' x.at.(here) x.at.(place x s' o')))
      (Checker.copies x.f j s' (port_of x far) t))

(* ---- of one LID, and stage, after another ------------------------------------------------ *)

let rec follow x t j =
  if t <> x.now || j <> x.stage then begin
    if j > 0 then begin
      follow x t (j - 1);
      each_dirty x (fun place -> x.before.(place) <- x.at.(place))
    end else begin
      each_dirty x (fun place -> x.at.(place) <- 0; x.before.(place) <- 0);
      x.n_dirty <- 0
    end;
    x.now <- t; x.stage <- j;
    let m = Checker.maps x.f t j in
    if j = 0 && not (is_group t) && x.plain 0 t >= 0 then inwards x m t
    else begin outwards x m j t; starts x m j t end
  end

(* The same, and what else there is of a LID that is like another one: to its own switch,
   and from there. *)
let judge x t j =
  let r = x.like t in
  follow x r j;
  if r <> t && x.judged <> t then begin
    x.judged <- t;
    let h, _ = x.f.home t and m = Checker.maps x.f t j in
    let o' = x.plain h t in
    for s = 0 to x.n - 1 do
      let o = x.plain s r in
      let far = far_of x s o in
      if far >= 0 && switch_of x far = h && o' <> none && x.at.(place x s o) <> 0 then
        ignore (step x m s o o' x.at.(place x s o) x.at.(place x h o'))
    done;
    List.iter (fun i -> List.iter (fun o ->
        ignore (start x m h i o (x.f.sls h i t) x.at.(place x h o)))
      (Checker.copies x.f j h i t)) (x.f.sources h)
  end

let set_at x t j s o =
  if t = x.now && j = x.stage - 1 then x.before.(place x s o)
  else begin follow x t j; x.at.(place x s o) end

(* ---- ranks ------------------------------------------------------------------------------ *)

exception Loop

(* All steps that some LID and stage needs: the ranks have to fall along them.  A
   channel's rank is the length of the longest chain that waits behind it. *)
let ranks x =
  List.iter (fun (t, j) -> judge x t j) (Checker.all_stages x.f);
  let n = 16 * Array.length x.far in
  let seen = Pairs.create n and held = Array.make n [] and left = Array.make n 0 in
  for k = 0 to x.steps.n - 1 do
    let y = nth_step x k in
    let here = place x y.at_ y.out in
    let far = x.far.(here) in
    let s = switch_of x far in
    let there = place x s y.next_out in
    if x.far.(there) >= 0 && not x.gone.(there) then
      List.iter (fun (l, v) -> List.iter (fun w -> if w <> Checker.no_vl then begin
          let c = 16 * here + v and d = 16 * there + w in
          let met = seen.n in
          if Pairs.number seen c d = met then begin
            held.(d) <- c :: held.(d); left.(c) <- left.(c) + 1
          end
        end) (Checker.vls_of x.f y.hop_maps s (port_of x far) y.next_out l)) x.sets.items.(y.from)
  done;
  let rank = Array.make n 0 and work = Queue.create () and count = ref 0 in
  Array.iteri (fun c n -> if n = 0 then Queue.add c work) left;
  while not (Queue.is_empty work) do
    let d = Queue.pop work in
    incr count;
    List.iter (fun c ->
      rank.(c) <- max rank.(c) (rank.(d) + 1);
      left.(c) <- left.(c) - 1;
      if left.(c) = 0 then Queue.add c work) held.(d)
  done;
  if !count < n then raise Loop;
  fun s o v -> rank.(16 * place x s o + v)

(* ---- groups ----------------------------------------------------------------------------- *)

(* A group's switches, joined to the first one: ports towards it, and depths. *)
let join x t =
  let masks s = Checker.outputs x.f 0 s t in
  let up = Array.make x.n 0 and depth = Array.make x.n max_int and work = Queue.create () in
  let rec first s = if s >= x.n then 0 else if masks s <> [] then s else first (s + 1) in
  let root = first 0 in
  depth.(root) <- 0; Queue.add root work;
  while not (Queue.is_empty work) do
    let s = Queue.pop work in
    List.iter (fun o ->
      let far = x.far.(place x s o) in
      if far >= 0 && depth.(switch_of x far) = max_int then begin
        depth.(switch_of x far) <- depth.(s) + 1; up.(switch_of x far) <- port_of x far;
        Queue.add (switch_of x far) work
      end) (masks s)
  done;
  (root, up, depth)
