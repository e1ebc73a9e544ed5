(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* dateline-check DIR CERTIFICATE: does the certificate prove the tables in DIR?

   An independent check of `dateline verify --certificate`: it shares nothing with
   the library.  Checker.check_classes decides; it is extracted from proof/Alike.v and
   proof/Checker.v, whose theorems say what follows when it accepts.  To be trusted beside it: dumps.ml,
   which reads DIR, world.ml, which hands it to the checker, change.ml for plans, and
   this file, which compares the checksums that tie the certificate to the tables
   (lib/verify/certificate.c).  Not search.ml.

   Prints "accepted" with status 0, or what is wrong with status 1. *)

open World
open Dumps

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

let words line = List.filter (( <> ) "") (String.split_on_char ' ' line)

let bare_guid g =
  let g = if String.length g > 2 && g.[1] = 'x' then String.sub g 2 (String.length g - 2) else g in
  String.lowercase_ascii (String.make (max 0 (16 - String.length g)) '0' ^ g)

let read_certificate d name =
  let sums = Hashtbl.create 999 in
  let ranks = Array.make (Array.length d.far) [||] in
  let sum = ref 0xFFFFFFFF and ending = ref "" in
  let damaged line = rejected "the certificate is damaged: %s" line in
  each_line "" name (fun () ->
    let line = Bytes.sub_string !bytes !at (!stop - !at) in
    if !ending <> "" then damaged line;
    ending := Printf.sprintf "end %08x" (finish !sum);
    if line <> !ending || not !ended then begin
      ending := "";
      sum := crc_byte (crc_string !sum line) 10;
      match words line with
      | [ "dateline-certificate"; "1" ] when !line_number = 1 -> ()
      | _ when !line_number = 1 -> rejected "no certificate of format 1"
      | [ "tables"; g; sum ] -> Hashtbl.replace sums (bare_guid g) (int_of_string ("0x" ^ sum))
      | [ "rank"; g; p; v; r ] ->
        let s = match Hashtbl.find_opt d.number (bare_guid g) with
          | Some s -> s
          | None -> rejected "the certificate is for others: no switch %s" g in
        let place = Dumps.place d s (let o = int_of_string p in
          if o < 0 || o >= stride d then rejected "the certificate has a port that no cable has" else o) in
        if Array.length ranks.(place) = 0 then ranks.(place) <- Array.make 16 (-1);
        ranks.(place).(int_of_string v) <- int_of_string r
      | [] -> ()
      | _ -> damaged line
    end);
  if !ending = "" then rejected "the certificate is damaged";
  { sums; ranks }

(* Of a table's row, for all LIDs in use. *)
let crc_row c (t : Table.t) key row lids =
  if Bytes.length row > 0 then begin
    match t.row_of.(key) with
    | -1 -> Bytes.fill row 0 (Bytes.length row) '\255'
    | r -> Table.row t r row
  end;
  Array.fold_left (fun c lid -> crc_byte c (Bytes.get_uint8 row lid)) c lids

let checksum d ends_of lids row_bytes s =
  let c = ref (crc_row 0xFFFFFFFF d.lft s row_bytes lids) in
  let add b = c := crc_byte !c b in
  let ports = List.filter (fun p -> d.used.(Dumps.place d s p)) (List.init (stride d - 1) succ) in
  List.iter (fun i -> List.iter (fun o ->
      match row d s i o with
      | -1 -> for _ = 0 to 15 do add 255 done
      | r -> c := crc_string !c d.rows.(r)) ports) (0 :: ports);
  List.iter (fun (mlid, masks) -> match masks.(s) with
    | [] -> ()
    | mask -> add (mlid lsr 8); add (mlid land 255); List.iter add mask) d.groups;
  List.iter (fun e -> c := crc_row !c d.sl e row_bytes lids) ends_of.(s);
  finish !c

let check_sums d certificate =
  let lids = Array.of_list (lids d) and row = Bytes.make (d.top + 1) '\255' in
  let ends_of = Array.make (Array.length d.guids) [] in
  for e = Array.length d.ends - 1 downto 0 do
    let place = d.ends.(e).place in
    if place >= 0 then ends_of.(switch_of d place) <- e :: ends_of.(switch_of d place)
  done;
  Array.iteri (fun s g -> match Hashtbl.find_opt certificate.sums g with
    | Some sum when sum = checksum d ends_of lids row s -> ()
    | _ -> rejected "the tables of 0x%s are others" g) d.guids

let rank d ranks s o v =
  let r = ranks.(Dumps.place d s o) in
  if Array.length r = 0 || r.(v) < 0 then rejected "no rank: 0x%s port %d VL %d" d.guids.(s) o v
  else r.(v)

(* ---- tables that stay ------------------------------------------------------------------- *)

let check ~any_sl ~sums dir name =
  let d = read dir in
  let c = Option.map (read_certificate d) name in
  if sums then Option.iter (check_sums d) c;
  let w = World.create any_sl [| d |] in
  let judge like =
    let f = World.fabric w ~delivers:true ~like (World.fixed w) in
    let x = World.search w f like Checker.nothing (fun _ -> []) [||] in
    let found = lazy (Search.ranks x [ Search.dependencies x 0 ] 0) in
    let ranks = match c with
      | Some c -> rank d c.ranks
      | None -> fun s o v -> Lazy.force found s o v in
    let k = World.certificate w x ranks in
    (Checker.check_classes f k like, fun () -> World.why w f k) in
  try World.decide judge (World.classes w (fun _ _ _ -> true)) with
  | Search.Circle t -> rejected "packets to LID %d go in a circle" t
  | Search.Loop _ -> rejected "packets can block each other in a circle"

let usage_text = "usage: dateline-check [--any-sl] [--no-checksums] DIR [CERTIFICATE]\n\
    \       dateline-check [--any-sl] --change=mixture|phases|PLAN OLD NEW"

let usage () = prerr_endline usage_text; exit 2

let () =
  Gc.set { (Gc.get ()) with space_overhead = 18 };
  let any_sl = ref false and sums = ref true and change = ref "" and names = ref [] in
  let after prefix word =
    let n = String.length prefix in
    if String.length word > n && String.sub word 0 n = prefix then
      Some (String.sub word n (String.length word - n))
    else None in
  Array.iteri (fun n word -> if n > 0 then match word with
    | "--any-sl" -> any_sl := true
    | "--no-checksums" -> sums := false
    | "--help" -> print_endline usage_text; exit 0
    | _ -> match after "--change=" word with
      | Some plan -> change := plan
      | None when String.length word > 1 && word.[0] = '-' -> usage ()
      | None -> names := word :: !names) Sys.argv;
  let judge = match !change, List.rev !names with
    | "", [ dir ] -> fun () -> check ~any_sl:!any_sl ~sums:!sums dir None
    | "", [ dir; name ] -> fun () -> check ~any_sl:!any_sl ~sums:!sums dir (Some name)
    | plan, [ old_dir; new_dir ] when plan <> "" -> fun () -> Change.check !any_sl plan old_dir new_dir
    | _ -> usage () in
  try judge (); print_endline "accepted" with
  | Rejected why | Malformed why | Failure why | Invalid_argument why | Sys_error why ->
    Printf.printf "rejected: %s\n" why; exit 1
  | Not_found -> print_endline "rejected: the files do not fit each other"; exit 1
