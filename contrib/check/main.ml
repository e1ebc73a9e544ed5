(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* dateline-check DIR CERTIFICATE: does the certificate prove the tables in DIR?

   An independent check of `dateline verify --certificate`: it shares nothing with
   the library.  Checker.check decides; it is extracted from proof/Checker.v, whose
   theorems say what follows when it accepts.  To be trusted beside it: dumps.ml,
   which reads DIR, and this file, which hands it to the checker and compares the
   checksums that tie the certificate to the tables (lib/verify/certificate.c).

   Prints "accepted" with status 0, or what is wrong with status 1. *)

open Dumps

exception Rejected of string
let rejected fmt = Printf.ksprintf (fun s -> raise (Rejected s)) fmt

(* ---- checksums, as zlib's crc32() ---------------------------------------------- *)

let crc_table = Array.init 256 (fun n ->
  let c = ref n in
  for _ = 0 to 7 do c := if !c land 1 = 1 then 0xEDB88320 lxor (!c lsr 1) else !c lsr 1 done;
  !c)

let crc_byte c b = crc_table.((c lxor b) land 255) lxor (c lsr 8)
let crc_string c s = String.fold_left (fun c ch -> crc_byte c (Char.code ch)) c s
let finish c = c lxor 0xFFFFFFFF

(* ---- certificates ----------------------------------------------------------------- *)

type certificate = { sums : (string, int) Hashtbl.t; ranks : int array array (* by place, VL *) }

let whole name =
  let file = open_in_bin name in
  Fun.protect ~finally:(fun () -> close_in file) (fun () ->
    really_input_string file (in_channel_length file))

let words line = List.filter (( <> ) "") (String.split_on_char ' ' line)

let bare_guid g =
  let g = if String.length g > 2 && g.[1] = 'x' then String.sub g 2 (String.length g - 2) else g in
  String.lowercase_ascii (String.make (max 0 (16 - String.length g)) '0' ^ g)

let read_certificate d name =
  let text = whole name in
  let last = match String.rindex_opt (String.sub text 0 (max 0 (String.length text - 1))) '\n' with
    | Some n -> n + 1
    | None -> 0 in
  let body = String.sub text 0 last in
  let ending = Printf.sprintf "end %08x\n" (finish (crc_string 0xFFFFFFFF body)) in
  let sums = Hashtbl.create 999 in
  let ranks = Array.make (Array.length d.far) [||] in
  List.iteri (fun n line -> match words line with
    | [ "dateline-certificate"; "1" ] when n = 0 -> ()
    | _ when n = 0 -> rejected "no certificate of format 1"
    | [ "tables"; g; sum ] -> Hashtbl.replace sums (bare_guid g) (int_of_string ("0x" ^ sum))
    | [ "rank"; g; p; v; r ] ->
      let s = match Hashtbl.find_opt d.number (bare_guid g) with
        | Some s -> s
        | None -> rejected "the certificate is for others: no switch %s" g in
      let place = s * nports + int_of_string p in
      if ranks.(place) = [||] then ranks.(place) <- Array.make 16 (-1);
      ranks.(place).(int_of_string v) <- int_of_string r
    | [] -> ()
    | _ -> rejected "the certificate is damaged: %s" line)
    (String.split_on_char '\n' body);
  if String.sub text last (String.length text - last) <> ending then
    rejected "the certificate is damaged";
  { sums; ranks }

let checksum d lids s =
  let c = ref 0xFFFFFFFF in
  let add b = c := crc_byte !c b in
  let ports = List.filter (fun p -> d.used.(s * nports + p)) (List.init (nports - 1) succ) in
  List.iter (fun t -> add (output d s t)) lids;
  List.iter (fun i -> List.iter (fun o ->
      match row d s i o with
      | -1 -> for _ = 0 to 15 do add 255 done
      | r -> c := crc_string !c d.rows.(r)) ports) (0 :: ports);
  List.iter (fun (mlid, masks) -> match masks.(s) with
    | [] -> ()
    | mask -> add (mlid lsr 8); add (mlid land 255); List.iter add mask) d.groups;
  Array.iteri (fun e end_ -> if end_.place >= 0 && end_.place / nports = s then
      List.iter (fun t -> add (path_sl d e t)) lids) d.ends;
  finish !c

let check_sums d certificate =
  let lids = lids d in
  Array.iteri (fun s g -> match Hashtbl.find_opt certificate.sums g with
    | Some sum when sum = checksum d lids s -> ()
    | _ -> rejected "the tables of 0x%s are others" g) d.guids

(* ---- as the checker wants them ------------------------------------------------------- *)

let fabric (x : Search.t) =
  let d = x.w.d in
  let far = Array.map (fun far -> if far < 0 then None else Some (far / nports, far mod nports)) d.far in
  { Checker.n_switches = x.w.n;
    far_end = (fun s o -> far.(s * nports + o));
    sources = (fun s -> x.w.inputs.(s));
    row = (fun s i o -> row d s i o + 1);
    n_rows = Array.length x.w.vls;
    vl_in_row = (fun r l -> Char.code x.w.vls.(r).[l]);
    lids = lids d @ List.map fst d.groups;
    outputs = Search.outputs x;
    sls = (fun s i t -> Search.sls x.w x.masks s i t);
    sl_list = (fun n -> x.w.lists.(n));
    multicast = Search.is_group;
    home = (fun t ->
      let place = d.ends.(d.owner.(t)).place in
      if place < 0 then (x.w.n, 0) else (place / nports, place mod nports)) }

let rank d ranks s o v =
  let r = ranks.(s * nports + o) in
  if r = [||] || r.(v) < 0 then rejected "no rank: 0x%s port %d VL %d" d.guids.(s) o v
  else r.(v)

let certificate (x : Search.t) c =
  let joins = Hashtbl.create 99 in
  List.iter (fun (t, _) -> Hashtbl.replace joins t (Search.join x t)) x.w.d.groups;
  let join t = Hashtbl.find joins t in
  { Checker.rank = rank x.w.d c.ranks;
    merged = (fun l -> x.w.merged.(l));
    set = (fun n -> x.sets.items.(n));
    set_at = (fun t s o -> Search.follow x t; x.at.(s * nports + o));
    n_steps = x.steps.n;
    nth_step = (fun n -> x.steps.items.(n));
    find_step = (fun s o o' a b ->
      if Search.is_group x.now then Search.step x s o o' a b else x.step_at.(s));
    n_starts = x.starts.n;
    nth_start = (fun n -> x.starts.items.(n));
    find_start = (fun s i o a b ->
      if Search.is_group x.now then Search.start x s i o a b else x.start_at.(s * nports + i));
    root = (fun t -> let root, _, _ = join t in root);
    up = (fun t s -> let _, up, _ = join t in up.(s));
    depth = (fun t s -> let _, _, depth = join t in depth.(s)) }

(* ---- why not -------------------------------------------------------------------------- *)

let why (x : Search.t) (f : Checker.fabric) (k : Checker.certificate) =
  let d = x.w.d in
  for n = 0 to k.n_steps - 1 do
    let s = k.nth_step n in
    if not (Checker.check_step f k s) then
      rejected "a rank does not fall, or a packet is dropped, behind 0x%s port %d" d.guids.(s.at_) s.out
  done;
  for n = 0 to k.n_starts - 1 do
    let s = k.nth_start n in
    if not (Checker.check_start f k s) then
      rejected "a packet is dropped at 0x%s, from port %d to port %d" d.guids.(s.st_at) s.input s.st_out
  done;
  List.iter (fun t ->
    if not (Checker.check_lid f k t) then rejected "LID %d gets lost" t;
    if Search.is_group t && not (Checker.check_group f k t) then
      rejected "group 0x%04X does not come to all of its members" t) f.lids;
  rejected "not proved"

let check ~any_sl ~sums dir name =
  let d = read dir in
  let c = read_certificate d name in
  if sums then check_sums d c;
  let x = Search.create (Search.world d any_sl) in
  let f = fabric x in
  (try Search.collect x f.lids
   with Search.Circle t -> rejected "packets to LID %d go in a circle" t);
  let k = certificate x c in
  if not (Checker.check f k) then why x f k

let usage () =
  prerr_endline "usage: dateline-check [--any-sl] [--no-checksums] DIR CERTIFICATE";
  exit 2

let () =
  let any_sl = ref false and sums = ref true and names = ref [] in
  Array.iteri (fun n word -> if n > 0 then match word with
    | "--any-sl" -> any_sl := true
    | "--no-checksums" -> sums := false
    | _ when String.length word > 1 && word.[0] = '-' -> usage ()
    | _ -> names := word :: !names) Sys.argv;
  match !names with
  | [ name; dir ] ->
    (try check ~any_sl:!any_sl ~sums:!sums dir name; print_endline "accepted" with
     | Rejected why | Malformed why | Failure why | Invalid_argument why | Sys_error why ->
       Printf.printf "rejected: %s\n" why; exit 1
     | Not_found -> print_endline "rejected: the files do not fit each other"; exit 1)
  | _ -> usage ()
