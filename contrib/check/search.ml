(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* search.ml: what the checker needs beside the ranks of a certificate.

   All packets to a LID are followed together: which (SL, VL) pairs do they have at
   each output?  Equal sets of pairs are one set, with a number; hops with equal sets
   are one step.  In the stages of a period they are followed from where something
   changes.  Ranks that fall along the steps are found, too.  Nothing here need be
   trusted: Checker judges all of it. *)

open Dumps

(* ---- numbers of pairs of ints --------------------------------------------- *)

(* A pair is an owner and a key.  Each owner has a table of its own: of numbers, in 32
   bits. *)
module Pairs = struct
  type t = {
    tables : Bytes.t array; (* by owner *)
    used : int array; (* numbers in each *)
    recent : int array; (* by owner: the key that was met last, and its number *)
    mutable pairs : int array; (* by number: a key, and its owner *)
    mutable n : int;
  }

  let create owners = {
    tables = Array.make owners Bytes.empty; used = Array.make owners 0;
    recent = Array.make (2 * owners) (-1); pairs = Array.make 128 0; n = 0 }

  let[@inline] key t n = t.pairs.(2 * n)
  let[@inline] owner t n = t.pairs.(2 * n + 1)

  let[@inline] get table at = Int32.to_int (Bytes.get_int32_le table at)

  let rec place t table key h =
    let at = 4 * h land (Bytes.length table - 1) in
    let n = get table at in
    if n < 0 || t.pairs.(2 * n) = key then at else place t table key (h + 1)

  let hash key =
    let h = key * 0x1E3779B97F4A7C15 in
    h lxor (h lsr 31)

  let insert t table n = Bytes.set_int32_le table (place t table (key t n) (hash (key t n))) (Int32.of_int n)

  let enlarge a = Array.append a (Array.make (Array.length a / 2) 0)

  let add t owner key =
    let n = t.n and old = t.tables.(owner) in
    if 2 * n + 1 >= Array.length t.pairs then t.pairs <- enlarge t.pairs;
    t.pairs.(2 * n) <- key; t.pairs.(2 * n + 1) <- owner; t.n <- n + 1;
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

  (* The number, if there is one already, or -1. *)
  let find t owner key =
    let table = t.tables.(owner) in
    if Bytes.length table = 0 then -1 else get table (place t table key (hash key))

  let each t owner f =
    let table = t.tables.(owner) in
    for i = 0 to Bytes.length table / 4 - 1 do
      let n = get table (4 * i) in
      if n >= 0 then f n
    done

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
  moves : Checker.moves;
  moved_at : int -> int list; (* switches at which a LID moves *)
  periods : Checker.writes array;
  numbers : (string, int) Hashtbl.t; (* of sets *)
  sets : (int * int) list Grow.t;
  set_bits : string Grow.t; (* the same: a bit for each pair *)
  unions : (int * int, int) Hashtbl.t;
  images : int array array; (* by row and set; or -1 *)
  firsts : int array array; (* by row and list of SLs; or -1 *)
  steps : Pairs.t; (* those of the tables before the change, then of each period *)
  starts : Pairs.t;
  mutable again : int -> unit; (* asks for the steps of a LID that moves, in all periods *)
  (* Of one LID: *)
  mutable now : int;
  mutable judged : int; (* the last LID that is like another one *)
  at : int array; (* by place: a set, before the change *)
  here : int array; (* the same in a stage of a period, *)
  since : int array; (* by place: if it is of this period, by number *)
  mutable period : int;
  found : (int * (int -> int)) list array array; (* by period and switch: sets, by stages *)
  found_at : bool array; (* by switch: there are any *)
  mutable moved : int list; (* those switches *)
  near : bool array; (* by switch: the periods have steps of their own *)
  mutable all_near : int list;
  marks : int array; (* by switch *)
  mutable mark : int;
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

let create (f : Checker.fabric) ~bits ~far ~gone ~plain ~vls ~merged ~like moves moved_at periods =
  let n = f.n_switches in
  let x = {
    f; bits; n; far; gone; plain; vls; merged; like; moves; moved_at; periods; numbers = Hashtbl.create 999;
    sets = Grow.create []; set_bits = Grow.create ""; unions = Hashtbl.create 99;
    images = Array.make (Array.length vls) [||]; firsts = Array.make (Array.length vls) [||];
    steps = Pairs.create (n * (1 + Array.length periods)); starts = Pairs.create (n lsl bits);
    again = ignore; now = -1; judged = -1; at = Array.make (n lsl bits) 0;
    here = Array.make (n lsl bits) 0; since = Array.make (n lsl bits) 0; period = 0;
    found = Array.map (fun _ -> Array.make n []) periods; found_at = Array.make n false;
    moved = []; near = Array.make n false; all_near = [];
    marks = Array.make n 0; mark = 0;
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

(* A step's owner is its switch, after those of all periods before; a start's is its place.
   Maps, ports and two numbers are the key. *)
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

(* In a period, which has the steps before the change, too. *)
let step_in x p m s o o' a b =
  let key = key m o o' a b in
  match Pairs.find x.steps s key with
  | -1 -> Pairs.number x.steps ((p + 1) * x.n + s) key
  | n -> n

let counts x n = Pairs.owner x.steps n < x.n
let counts_in x p n = Pairs.owner x.steps n / x.n = p + 1

let start x m s i o list b = Pairs.number x.starts (place x s i) (key m 0 o list b)

let nth_step x n =
  let owner = Pairs.owner x.steps n and k = Pairs.key x.steps n in
  let s = if owner < x.n then owner else owner mod x.n in
  { Checker.hop_maps = maps_of k; at_ = s; out = port_before k; next_out = port_of_key k;
    from = first_of k; to0 = second_of k }

let nth_start x n =
  let p = Pairs.owner x.starts n and k = Pairs.key x.starts n in
  { Checker.st_maps = maps_of k; st_at = switch_of x p; input = port_of x p; st_out = port_of_key k;
    with_sls = first_of k; st_to = second_of k }

let put x place set =
  if x.at.(place) = 0 && set <> 0 then begin
    x.dirty.(x.n_dirty) <- place; x.n_dirty <- x.n_dirty + 1
  end;
  x.at.(place) <- set

let each_dirty x f = for i = 0 to x.n_dirty - 1 do f x.dirty.(i) done

let starts x m t =
  for s = 0 to x.n - 1 do
    List.iter (fun i -> match x.f.sls s i t with
      | 0 -> ()
      | list -> List.iter (fun o -> ignore (start x m s i o list x.at.(place x s o)))
          (Checker.copies x.f 0 s i t))
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
  if !count < n then raise (Circle t)

let inward_steps x m =
  for s = 0 to x.n - 1 do
    let far = x.next.(s) in
    if far >= 0 && not x.near.(s) then begin
      let o = x.out.(s) and s' = switch_of x far in
      let here = x.at.(place x s o) and o' = x.out.(s') in
      if here <> 0 && o' <> none then ignore (step x m s o o' here x.at.(place x s' o'))
    end;
    starts_from x m s x.out.(s) (x.f.sources s)
  done

(* ---- several outputs: until nothing is new -------------------------------------------- *)

(* From the places of a queue on, with the outputs of a stage; [put] takes sets. *)
let arrive x put work outputs t s i set_for =
  List.iter (fun o ->
    if x.far.(place x s o) >= 0 && not (is_group t && o = i) then begin
      let place = place x s o in
      if put place (set_for o) then Queue.add place work
    end) (outputs s)

let spread x put set_of work outputs m t =
  while not (Queue.is_empty work) do
    let place = Queue.pop work in
    let far = x.far.(place) and here = set_of place in
    let s = switch_of x far and i = port_of x far in
    arrive x put work outputs t s i (fun o -> image x m s i o here)
  done

let sent x put work outputs m t s =
  List.iter (fun i -> match x.f.sls s i t with
    | 0 -> ()
    | list -> arrive x put work outputs t s i (fun o -> first x m s i o list)) (x.f.sources s)

let outwards x m t =
  let work = Queue.create () and outputs s = Checker.outputs x.f 0 s t in
  let put place set =
    let old = x.at.(place) in
    put x place (union x old set);
    x.at.(place) <> old in
  for s = 0 to x.n - 1 do sent x put work outputs m t s done;
  spread x put (fun place -> x.at.(place)) work outputs m t

let outward_steps x m t =
  each_dirty x (fun here -> if not x.near.(switch_of x here) then
    let far = x.far.(here) in
    let s' = switch_of x far in
    List.iter (fun o' ->
        ignore (step x m (switch_of x here) (port_of x here) o' x.at.(here) x.at.(place x s' o')))
      (Checker.copies x.f 0 s' (port_of x far) t))

(* ---- the stages of a period -------------------------------------------------------------- *)

(* The switches that some are followed by, and these.  They are marked. *)
let behind x outputs first =
  let found = ref [] in
  x.mark <- x.mark + 1;
  let rec meet s = if x.marks.(s) < x.mark then begin
      x.marks.(s) <- x.mark; found := s :: !found;
      List.iter (fun o -> let far = x.far.(place x s o) in
        if far >= 0 then meet (switch_of x far)) (outputs s)
    end in
  List.iter meet first;
  !found

let set_here x place = if x.since.(place) = x.period then x.here.(place) else x.at.(place)

let put_here x place set = x.here.(place) <- set; x.since.(place) <- x.period

(* What comes to switch s by cables. *)
let received x put work outputs m t s =
  for i = 0 to 1 lsl x.bits - 1 do
    let from = x.far.(place x s i) in
    let set = if from >= 0 then set_here x from else 0 in
    if set <> 0 then arrive x put work outputs t s i (fun o -> image x m s i o set)
  done

(* In the first stage sets are as before the change, but for those behind what differs then.
   In another stage those of the stage before are still there. *)
let stage x p (w : Checker.writes) written t j =
  let m = w.maps_in t j and work = Queue.create () in
  let outputs s = Checker.outputs_in x.f x.moves w j s t in
  let changed = Hashtbl.create 16 in
  let put place set =
    let old = set_here x place in
    let now = union x old set in
    now <> old && begin
      put_here x place now; Hashtbl.replace changed (switch_of x place) (); true
    end in
  let others = m <> (if j = 0 then Checker.maps x.f t 0 else w.maps_in t (j - 1)) in
  let first =
    if others then List.init x.n Fun.id
    else List.filter (fun s -> Checker.begins (w.written t s) j) written in
  let first =
    if j > 0 then first
    else begin
      let first = behind x (fun s -> Checker.outputs x.f 0 s t @ outputs s) first in
      List.iter (fun s -> for o = 0 to 1 lsl x.bits - 1 do put_here x (place x s o) 0 done) first;
      first
    end in
  List.iter (fun s -> sent x put work outputs m t s; received x put work outputs m t s) first;
  spread x put (set_here x) work outputs m t;
  let keep s =
    let sets = Array.init (1 lsl x.bits) (fun o -> set_here x (place x s o)) in
    if not x.found_at.(s) then begin x.found_at.(s) <- true; x.moved <- s :: x.moved end;
    x.found.(p).(s) <- (j, fun o -> sets.(o)) :: x.found.(p).(s) in
  if j > 0 then Hashtbl.iter (fun s () -> keep s) changed
  else List.iter (fun s ->
    let rec same o = o < 0 || (set_here x (place x s o) = x.at.(place x s o) && same (o - 1)) in
    if not (same (1 lsl x.bits - 1)) then keep s) first

let move x t =
  List.iter (fun s -> x.found_at.(s) <- false; Array.iter (fun found -> found.(s) <- []) x.found) x.moved;
  List.iter (fun s -> x.near.(s) <- false) x.all_near;
  x.moved <- []; x.all_near <- [];
  if x.moves.moving t then begin
    let written = x.moved_at t in
    Array.iteri (fun p (w : Checker.writes) ->
      x.period <- x.period + 1;
      for j = 0 to w.stages t (w.times - 1) do stage x p w written t j done) x.periods;
    let add s = if not x.near.(s) then begin x.near.(s) <- true; x.all_near <- s :: x.all_near end in
    List.iter (List.iter (fun s ->
      add s;
      for i = 0 to 1 lsl x.bits - 1 do
        let from = x.far.(place x s i) in
        if from >= 0 && List.mem (port_of x from) (Checker.outputs x.f 0 (switch_of x from) t) then
          add (switch_of x from)
      done)) [ written; x.moved ]
  end

(* ---- of one LID after another ------------------------------------------------------------- *)

let forget x =
  each_dirty x (fun place -> x.at.(place) <- 0);
  x.n_dirty <- 0

let follow x t =
  if t <> x.now then begin
    forget x;
    x.now <- t;
    let m = Checker.maps x.f t 0 in
    (* In a change there may be circles that no packets come to. *)
    let one = x.plain 0 t >= 0 &&
      (try inwards x m t; true with Circle _ when Array.length x.periods > 0 -> forget x; false) in
    if not one then outwards x m t;
    move x t;
    if one then inward_steps x m else begin outward_steps x m t; starts x m t end;
    if x.moves.moving t then x.again t
  end

(* The same, and what else there is of a LID that is like another one: to its own switch,
   and from there. *)
let judge x t =
  let r = x.like t in
  follow x r;
  if r <> t && x.judged <> t then begin
    x.judged <- t;
    let h, _ = x.f.home t and m = Checker.maps x.f t 0 in
    let o' = x.plain h t in
    if h < x.n && o' <> none then
      for i = 0 to 1 lsl x.bits - 1 do
        let before = x.far.(place x h i) in
        let s = switch_of x before and o = port_of x before in
        if before >= 0 && x.plain s r = o && x.at.(before) <> 0 && not x.near.(s) then
          ignore (step x m s o o' x.at.(before) x.at.(place x h o'))
      done;
    List.iter (fun i -> List.iter (fun o ->
        ignore (start x m h i o (x.f.sls h i t) x.at.(place x h o)))
      (Checker.copies x.f 0 h i t)) (x.f.sources h);
    if x.moves.moving t then x.again t
  end

let set_at x t s o = follow x t; x.at.(place x s o)
let found_in x p t s = follow x t; x.found.(p).(s)
let found_at x t s = follow x t; x.found_at.(s)

(* ---- ranks ------------------------------------------------------------------------------ *)

exception Loop of int (* in this period *)

(* Numbers of 32 bits, by channel. *)
module Numbers = struct
  let create n = Bytes.make (4 * n) '\000'
  let[@inline] get t n = Int32.to_int (Bytes.get_int32_le t (4 * n))
  let[@inline] set t n v = Bytes.set_int32_le t (4 * n) (Int32.of_int v)
end

let channel place v = 16 * place + v

(* Dependencies of the channels of each switch, by the steps of an owner: pairs of channels,
   each of them once. *)
let dependencies x owner =
  let buffer = Buffer.create 4096 and met = Bytes.make (1 lsl (2 * x.bits + 8)) '\000' in
  Array.init x.n (fun s ->
    let edges = ref [] in
    Buffer.clear buffer;
    Pairs.each x.steps (owner + s) (fun k ->
      let y = nth_step x k in
      let here = place x s y.out in
      let far = x.far.(here) in
      let s' = switch_of x far in
      let there = place x s' y.next_out in
      if x.far.(there) >= 0 && not x.gone.(there) then
        List.iter (fun (l, v) -> List.iter (fun w -> if w <> Checker.no_vl then begin
            let edge = channel ((channel y.out v lsl x.bits) lor y.next_out) w in
            if Bytes.get met edge = '\000' then begin
              Bytes.set met edge '\001'; edges := edge :: !edges;
              Buffer.add_int32_le buffer (Int32.of_int (channel here v));
              Buffer.add_int32_le buffer (Int32.of_int (channel there w))
            end
          end) (Checker.vls_of x.f y.hop_maps s' (port_of x far) y.next_out l)) x.sets.items.(y.from));
    List.iter (fun edge -> Bytes.set met edge '\000') !edges;
    Buffer.to_bytes buffer)

(* Ranks that fall along all dependencies of a period.  A channel's level is the length of
   the longest chain of channels that wait for it. *)
let ranks x all p =
  let n = 16 * Array.length x.far in
  let level = Numbers.create n and waiting = Numbers.create n in
  let each s f = List.iter (fun dependencies ->
    let edges = dependencies.(s) in
    for e = 0 to Bytes.length edges / 8 - 1 do
      f (Numbers.get edges (2 * e)) (Numbers.get edges (2 * e + 1))
    done) all in
  let left = ref 0 and work = Stack.create () and top = ref 0 in
  for s = 0 to x.n - 1 do
    each s (fun _ d -> incr left; Numbers.set waiting d (Numbers.get waiting d + 1))
  done;
  for s = 0 to x.n - 1 do
    each s (fun c _ -> if Numbers.get waiting c = 0 then begin
        Numbers.set waiting c (-1); Stack.push c work
      end)
  done;
  while not (Stack.is_empty work) do
    let c = Stack.pop work in
    let l = Numbers.get level c + 1 in
    each (switch_of x (c / 16)) (fun b d -> if b = c then begin
        decr left;
        if l > Numbers.get level d then Numbers.set level d l;
        if l > !top then top := l;
        Numbers.set waiting d (Numbers.get waiting d - 1);
        if Numbers.get waiting d = 0 then Stack.push d work
      end)
  done;
  if !left > 0 then raise (Loop p);
  let top = !top in
  fun s o v -> top - Numbers.get level (channel (place x s o) v)

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
