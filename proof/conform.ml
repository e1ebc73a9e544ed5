(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* conform DATELINE DIR few|all|whole: are the tables of `dateline route` those of the
   theorems?

   The model is extracted from Torus.v, Anysl.v, Broken.v and Multicast.v (Model.v).  For
   tori and meshes, in every mode, these are compared:
   - each forwarding entry: the output of the model at that switch, also where rings
     lack a cable;
   - with one switch missing, or several side by side along y, except for any SL: those of
     Early.v, and the maps for illegal turns;
   - each path SL: path_sl of the model (any-sl: the QoS level alone);
   - each SL-to-VL map of ports that dimension order can use, SL by SL.
   - in classic mode the tree of Claim.v;
   - where nothing is missing, the tree of a group of all adapters: each link of it is one
     of Multicast.v, no switch has a copy go back, and its VLs are those that the theorem
     asks for; in any-sl mode those of Anygroup.v, and the root is far enough from the
     datelines for the numbers of the tables, or the radix is below 5.
   In any-sl mode the numbers are read off the tables: for each LID and dimension
   one number that gives all entries, from -2 to 2, as numbers_fall asks.

   all: every pair of radices from 2 to 16 in two dimensions; in three all of
   radices 2 to 4, every radix from 2 to 16 in each place, 8x8x8, and ten more that
   DATELINE_SEED draws.  Meshes up to radix 5.  few: a small part of that.  whole: three
   dimensions of every radix from 2 to 16, too, which takes a day.  Output ports 1 to 6
   are those of `dateline gen`: +x, -x, +y, -y, +z, -z. *)

exception Differs of string
let differs fmt = Printf.ksprintf (fun s -> raise (Differs s)) fmt

type mode = { name : string; options : string; tie : int -> Model.packet -> int -> bool; any_sl : bool }

let modes = [
  { name = "classic"; options = "--mode=classic"; tie = Model.plain_tie; any_sl = false };
  { name = "proven"; options = "--mode=proven --ties=torus-2QoS"; tie = Model.plain_tie; any_sl = false };
  { name = "balanced"; options = "--mode=proven --ties=balanced"; tie = Model.balanced_tie; any_sl = false };
  { name = "any-sl"; options = "--mode=any-sl"; tie = Model.plain_tie; any_sl = true } ]

let run command =
  if Sys.command command <> 0 then differs "failed: %s" command

(* ---- one fabric ------------------------------------------------------------- *)

type torus = { d : Dumps.t; dims : int; radix : int -> int; mesh : int -> bool; at : int list array;
               broken : int -> int list -> int option (* dimension, ring *) }

let coordinates dims name =
  match String.split_on_char '_' name with
  | "S" :: rest -> List.filteri (fun i _ -> i < dims) (List.map int_of_string rest)
  | _ -> differs "no switch: %s" name

(* Dimension and direction of a switch's port, if it leads to a switch.  Two
   switches in a row are a line with two cables: either of them will do. *)
let direction s o = if s then Some ((o - 1) / 2, o mod 2 = 0) else None

let leads t s o = t.d.far.(Dumps.place t.d s o) >= 0
let port_of t s o = direction (leads t s o) o

let same t d minus minus' = minus = minus' || t.radix d = 2

let agrees t s o (c : Model.channel) = match port_of t s o with
  | Some (d, minus) -> d = c.dim && same t d minus c.minus
  | None -> false

(* The ports lead where the model says. *)
let check_ports t =
  Array.iteri (fun place far -> if far >= 0 then begin
    let s = Dumps.switch_of t.d place in
    match port_of t s (place mod Dumps.stride t.d) with
    | Some (d, minus) ->
      let v = t.at.(s) in
      let w = Model.move_to v d (Model.hop (t.radix d) minus (List.nth v d)) in
      if w <> t.at.(Dumps.switch_of t.d far) then differs "port %d leads elsewhere" (place mod Dumps.stride t.d)
    | None -> ()
  end) t.d.far

let packet t s lid tag =
  let place = t.d.ends.(t.d.owner.(lid)).place in
  { Model.src = t.at.(s); dst = t.at.(Dumps.switch_of t.d place); tag }

(* How many entries of a LID are those of the model with these directions; or -1. *)
let entries t dir lid tag =
  let count = ref 0 and good = ref true in
  Array.iteri (fun s v ->
    let o = Dumps.output t.d s lid in
    match Model.out dir (fun _ _ -> 0) (fun _ _ -> 0) None v (packet t s lid tag) with
    | [] -> ()
    | [ c ] ->
      incr count;
      if not (agrees t s o c) then good := false
    | _ -> good := false) t.at;
  if !good then !count else -1

(* Path SLs to a LID that are those of the model; or -1. *)
let path_sls t m lid tag =
  let count = ref 0 and good = ref true in
  Array.iteri (fun e (end_ : Dumps.end_port) -> if e <> t.d.owner.(lid) then begin
      incr count;
      let p = packet t (Dumps.switch_of t.d end_.place) lid tag in
      let sl = if m.any_sl then 0 else Model.path_sl t.radix t.mesh m.tie (fun _ -> 0) p in
      if Dumps.path_sl t.d e lid <> sl then good := false
    end) t.d.ends;
  if !good then !count else -1

let is_whole t d v = t.broken d (Model.move_to v d 0) = None

(* The number of each dimension that gives all entries of a LID in whole rings. *)
let numbers t lid =
  let most = 2 in
  let fits d n =
    let good = ref true in
    Array.iteri (fun s v ->
      let p = packet t s lid 0 in
      match Model.out (Model.beyond t.radix (fun _ _ -> n)) (fun _ _ -> 0) (fun _ _ -> 0) None v p with
      | [ c ] when c.dim = d && is_whole t d v ->
        if not (agrees t s (Dumps.output t.d s lid) c) then good := false
      | _ -> ()) t.at;
    !good in
  Array.init t.dims (fun d ->
    if t.mesh d then 0
    else match List.find_opt (fits d) (List.init (2 * most + 1) (fun i -> i - most)) with
      | Some n -> n
      | None -> differs "LID %d: no number in dimension %d" lid d)

let check_lid t m most lid =
  let try_tag tag =
    let dir = if m.any_sl then
        let n = numbers t lid in
        Array.iteri (fun d n -> most.(d) <- max most.(d) (abs n)) n;
        Model.beyond t.radix (fun d _ -> n.(d))
      else Model.dir t.radix t.mesh m.tie in
    let dir = Model.round t.radix t.broken dir in
    (entries t dir lid tag, path_sls t m lid tag) in
  (* The parity of a LID: that of the switch's port. *)
  let tag = t.d.ends.(t.d.owner.(lid)).place mod Dumps.stride t.d mod 2 in
  match try_tag tag with
  | -1, _ -> differs "entries for LID %d" lid
  | _, -1 -> differs "path SLs to LID %d" lid
  | counts -> counts

(* The VL of SL l from a port of dimension i (None: an end port) to one of dimension o. *)
let model_vl m i o l =
  if m.any_sl then
    let level _ = l / 8 in
    let p = { Model.src = []; dst = []; tag = 0 } in
    if i = Some o then Model.vl_b true level p else Model.vl_a level p
  else Model.vl_of_sl o l

let check_maps t m =
  let count = ref 0 in
  Array.iteri (fun place _ ->
    let s = Dumps.switch_of t.d place and o = place mod Dumps.stride t.d in
    for i = 0 to Dumps.stride t.d - 1 do
      match port_of t s o with
      | Some (d, _) when i = 0 || t.d.used.(Dumps.place t.d s i) ->
        let from = if i = 0 then None else Option.map fst (port_of t s i) in
        if i <> o && (match from with None -> true | Some e -> e <= d) then
          (match Dumps.row t.d s i o with
           | -1 -> differs "no map from port %d to port %d" i o
           | r -> for l = 0 to 15 do
               incr count;
               if Char.code t.d.rows.(r).[l] <> model_vl m from d l then
                 differs "SL %d from port %d to port %d" l i o
             done)
      | _ -> ()
    done) t.d.far;
  !count

(* The links of a group's tree are those of the theorem, for some root. *)
let check_group t m most (mlid, masks) =
  let links = List.concat (List.mapi (fun s ports -> List.filter_map (fun o ->
    Option.map (fun (d, minus) -> (s, o, d, minus)) (port_of t s o)) ports) (Array.to_list masks)) in
  (* Two switches in a row: whichever of both cables it is, as a line has it. *)
  let channel (s, _, d, minus) = { Model.dim = d; minus = (if t.radix d = 2 then List.nth t.at.(s) d = 1 else minus);
                                   vl = 0; at_ = t.at.(s) } in
  let far_enough v = not m.any_sl || List.for_all Fun.id (List.mapi (fun d r ->
    most.(d) <= r && r + most.(d) < t.radix d || t.radix d < 5) v) in
  if not (Array.exists (fun v -> far_enough v && List.for_all (fun l ->
      Model.tree_link t.dims t.radix v (channel l)) links) t.at) then
    differs "group 0x%x: no root fits its links" mlid;
  Array.iteri (fun s ports -> List.iter (fun o ->
    match port_of t s o with
    | None -> ()
    | Some (d, minus) ->
      let there = Dumps.switch_of t.d t.d.far.(Dumps.place t.d s o) in
      let came = Dumps.port_of t.d t.d.far.(Dumps.place t.d s o) in
      if not (List.mem came masks.(there)) then differs "group 0x%x: one end of a link only" mlid;
      (* What goes on, of the packets that come by this link. *)
      List.iter (fun o' -> match port_of t there o' with
        | Some (e, minus') when o' <> came ->
          if e = d && (t.radix d = 2 || minus' <> minus) then differs "group 0x%x: a copy goes back" mlid;
          (match Dumps.row t.d there came o' with
           | -1 -> differs "group 0x%x: no map" mlid
           | r -> List.iter (fun l ->
               let vl = Char.code t.d.rows.(r).[l] in
               if (if m.any_sl then e = d && vl mod 4 = 0 else vl mod 2 <> 0) then
                 differs "group 0x%x: SL %d on VL %d" mlid l vl)
               (if m.any_sl then List.init 16 Fun.id else [ 0; 8 ]))
        | _ -> ()) masks.(there)) ports) masks;
  List.length links

(* cables: a coordinate and a dimension, for each that is missing. *)
let read_fabric dateline dir m ?(groups = false) gen =
  let net = Filename.concat dir "net" and tables = Filename.concat dir "tables" in
  run (Printf.sprintf "rm -rf %s && %s gen -q %s -o %s" tables dateline gen net);
  run (Printf.sprintf "%s route -q %s.net --torus-config=%s.torus.conf --multicast=%s --psl %s -o %s"
    dateline net net (if groups then "all" else "none") m.options tables);
  Dumps.read tables

let coordinates_of dims (d : Dumps.t) = Array.map (fun g -> coordinates dims (Hashtbl.find d.names g)) d.guids

let check_fabric dateline dir m (radices, mesh, cables) =
  let dims = List.length radices in
  let fails = String.concat "" (List.map (fun (v, d) -> Printf.sprintf " --fail-link=%s:+%c"
    (String.concat "," (List.map string_of_int (v @ if dims = 2 then [ 0 ] else []))) "xyz".[d]) cables) in
  let broken d v = List.find_map (fun (w, e) ->
    if e = d && Model.move_to w d 0 = v then Some (List.nth w d) else None) cables in
  let numbers = String.concat " " (List.map string_of_int (radices @ if dims = 2 then [ 1 ] else [])) in
  try
    let d = read_fabric dateline dir m ~groups:(cables = [])
      (numbers ^ (if mesh = "" then "" else " --mesh=" ^ mesh) ^ fails) in
    let at = coordinates_of dims d in
    let t = { d; dims; at; broken; radix = (fun i -> if i < dims then List.nth radices i else 2);
              mesh = (fun i -> i < dims && (List.nth radices i = 2 || String.contains mesh "xyz".[i])) } in
    check_ports t;
    let maps = check_maps t m in
    let most = Array.make dims 0 in
    let a, b = List.fold_left (fun (a, b) lid -> let x, y = check_lid t m most lid in (a + x, b + y))
      (0, 0) (Dumps.lids d) in
    let links = if cables = [] then List.fold_left (fun sum g -> sum + check_group t m most g) 0 d.groups else 0 in
    if cables = [] && links = 0 then differs "no group";
    (a, b, maps, links)
  with
  | Differs why | Dumps.Malformed why | Failure why ->
    differs "%s, %s%s%s: %s" m.name numbers (if mesh = "" then "" else " mesh " ^ mesh) fails why

(* Two dimensions without some switches side by side along y, from (a,b) on. *)
let check_early dateline dir m (kx, ky, a, b, holes) =
  try
    let d = read_fabric dateline dir m (Printf.sprintf "%d %d 1%s" kx ky (String.concat "" (List.init holes
      (fun i -> Printf.sprintf " --fail-switch=%d,%d,0" a ((b + i) mod ky))))) in
    let t = { d; dims = 2; at = coordinates_of 2 d; radix = (fun i -> if i = 0 then kx else ky);
              mesh = (fun _ -> false); broken = (fun _ _ -> None) } in
    let count = ref 0 and maps = ref 0 in
    let entry s lid tag v =
      let x = List.nth v 0 and y = List.nth v 1 in
      let q = packet t s lid tag in
      let tie i _ c = m.tie i q c in
      let p = { Early.sx = x; sy = y; tx = List.nth q.dst 0; ty = List.nth q.dst 1 } in
      let plain _ c = Model.plain_tie 0 q c in
      match Early.out kx ky a b holes (tie 0) (tie 1) plain false p x y with
      | [] -> ()
      | [ c ] ->
        incr count;
        if port_of t s (Dumps.output d s lid) <> Some ((if c.in_y then 1 else 0), c.minus) then
          differs "entry for LID %d at %d,%d" lid x y
      | _ -> differs "several entries" in
    let sls = List.fold_left (fun sum lid ->
      let tag = d.ends.(d.owner.(lid)).place mod Dumps.stride d mod 2 in
      Array.iteri (fun s v -> entry s lid tag v) t.at;
      match path_sls t m lid tag with
      | -1 -> differs "path SLs to LID %d" lid
      | n -> sum + n) 0 (Dumps.lids d) in
    Array.iteri (fun s _ -> List.iter (fun (i, o) ->
      if leads t s i && leads t s o then match Dumps.row d s i o with
        | -1 -> differs "no map for an illegal turn"
        | r -> for l = 0 to 15 do
            incr maps;
            if Char.code d.rows.(r).[l] <> Model.vl_of_sl 0 l + 2 then differs "the map of an illegal turn"
          done) [ (3, 1); (3, 2); (4, 1); (4, 2) ]) t.at;
    (!count, sls, !maps, 0)
  with
  | Differs why | Dumps.Malformed why | Failure why ->
    differs "%s, %d %d without %d from %d,%d on: %s" m.name kx ky holes a b why

(* The tree of Claim.v: in classic mode that of all adapters, on 6x5 without (3,2). *)
let check_claim dateline dir m =
  let d = read_fabric dateline dir m ~groups:true "6 5 1 --fail-switch=3,2,0" in
  let t = { d; dims = 2; at = coordinates_of 2 d; radix = (fun i -> 6 - i); mesh = (fun _ -> false);
            broken = (fun _ _ -> None) } in
  List.iter (fun (mlid, masks) -> Array.iteri (fun s ports ->
    List.iter (fun in_y -> List.iter (fun minus ->
      let c = { Early.in_y; minus; vl = 0; cx = List.nth t.at.(s) 0; cy = List.nth t.at.(s) 1 } in
      let has = List.exists (fun o -> port_of t s o = Some ((if in_y then 1 else 0), minus)) ports in
      if has <> Early.on_tree c then differs "group 0x%x: the tree without (3,2), at %d,%d" mlid c.cx c.cy)
      [ false; true ]) [ false; true ]) masks) d.groups

(* ---- which ------------------------------------------------------------------------ *)

let between a b = List.init (b - a + 1) (fun i -> a + i)
let pairs l m = List.concat_map (fun x -> List.map (fun y -> [ x; y ]) m) l

(* Each cable of a ring in turn, in each dimension; then several rings at once. *)
let broken all =
  let one r d = List.init (List.nth r d) (fun x ->
    (r, "", [ (List.mapi (fun i k -> if i = d then x else k / 2) r, d) ])) in
  let sizes = if all then [ [ 5; 4 ]; [ 4; 6 ]; [ 7; 3 ]; [ 3; 8 ] ] else [ [ 4; 5 ] ] in
  List.concat_map (fun r -> one r 0 @ one r 1) sizes @
  [ ([ 6; 5 ], "", [ ([ 2; 0 ], 0); ([ 5; 3 ], 0); ([ 0; 4 ], 1); ([ 3; 2 ], 1) ]) ] @
  if all then one [ 3; 4; 5 ] 2 @
    [ ([ 4; 5; 3 ], "", [ ([ 3; 0; 1 ], 0); ([ 1; 2; 2 ], 0); ([ 0; 4; 1 ], 1); ([ 2; 2; 0 ], 2) ]) ]
  else []

(* Ten of three dimensions that are not too large. *)
let drawn () =
  Random.init (match Sys.getenv_opt "DATELINE_SEED" with
    | Some seed -> int_of_string seed
    | None -> 1);
  let rec draw () =
    let l = List.init 3 (fun _ -> 2 + Random.int 15) in
    if List.fold_left ( * ) 1 l > 400 then draw () else l in
  List.init 10 (fun _ -> draw ())

let fabrics what =
  let all = what <> "few" in
  let whole l = List.map (fun r -> (r, "", [])) l in
  let small = between 2 (if all then 4 else 3) and top = if all then 16 else 7 in
  let cubes = List.concat_map (fun xy -> List.map (fun z -> xy @ [ z ]) small) (pairs small small) in
  let each = List.concat_map (fun k -> [ [ k; 2; 3 ]; [ 3; k; 2 ]; [ 2; 3; k ] ]) (between 5 top) in
  let meshes = List.concat_map (fun r -> [ (r, "x", []); (r, "xy", []) ])
    (pairs (between 3 (if all then 5 else 3)) (between 2 (if all then 5 else 3))) in
  whole (pairs (between 2 top) (if all then between 2 16 else [ 2; 5 ])) @ whole cubes @ whole each @
  meshes @ broken all @ match what with
  | "few" -> []
  | "all" -> whole ([ 8; 8; 8 ] :: drawn ())
  | _ -> whole (List.concat_map (fun xy -> List.map (fun z -> xy @ [ z ]) (between 2 16))
                  (pairs (between 2 16) (between 2 16)))

(* Each switch of some fabrics, and each place for several side by side. *)
let missing all =
  let each (kx, ky, holes) = List.concat_map (fun a -> List.init ky (fun b -> (kx, ky, a, b, holes))) (List.init kx Fun.id) in
  if all then List.concat_map each [ (3, 4, 1); (6, 5, 1); (4, 7, 1); (6, 6, 2); (5, 7, 3); (3, 5, 3) ]
  else [ (6, 5, 3, 2, 1); (4, 3, 0, 2, 1); (6, 6, 3, 5, 2) ]

let () =
  match Sys.argv with
  | [| _; dateline; dir; ("few" | "all" | "whole" as what) |] ->
    (try List.iter (fun m ->
        let list = fabrics what in
        let sum check = List.fold_left (fun (a, b, c, d) fabric ->
          let w, x, y, z = check dateline dir m fabric in
          (a + w, b + x, c + y, d + z)) in
        if m.name = "classic" then check_claim dateline dir m;
        let counts = sum check_fabric (0, 0, 0, 0) list in
        let early = if m.any_sl then [] else missing (what <> "few") in
        let a, b, c, d = sum check_early counts early in
        Printf.printf "%s: %d fabrics: %d forwarding entries, %d path SLs, %d VLs, %d links of trees agree\n%!"
          m.name (List.length list + List.length early) a b c d) modes
     with Differs why -> Printf.printf "differs: %s\n" why; exit 1)
  | _ -> prerr_endline "usage: conform DATELINE DIR few|all|whole"; exit 2
