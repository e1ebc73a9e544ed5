(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* dumps.ml: reads the dumps of OpenSM and Dateline in a directory.

   opensm-subnet.lst has the cables, opensm-lfts.dump the forwarding tables,
   dateline-slvl.dump the SL-to-VL maps, dateline-psl.dump the path SLs, opensm.mcfdbs
   the multicast masks.  They can have gigabytes: lines are read where they lie,
   without a copy.

   Switches have numbers in the order of opensm-subnet.lst; several directories share
   them, by GUID, and the numbers of SL-to-VL rows.  A port of a switch is a place: its
   switch, shifted by [bits], and its number.  An end port is that of an adapter, or port
   0 of a switch. *)

exception Malformed of string
let malformed fmt = Printf.ksprintf (fun s -> raise (Malformed s)) fmt

let max_port = 255
let none = 255 (* no output, no SL *)
let lid_space = 0xC000

(* ---- lines --------------------------------------------------------------- *)

(* The line that is read: bytes from [at] to [stop]. *)
let bytes = ref (Bytes.create 0x100000)
let at = ref 0
let stop = ref 0
let where = ref ("", 0)

let bad what = malformed "%s:%d: %s" (fst !where) (snd !where) what

(* Is one of eight bytes a newline?  [zero] has a zero byte there; subtracting 1 from each
   byte sets the top bit of a byte below 128 only if it, or one before it, is zero. *)
let[@inline] has_newline word =
  let zero = Int64.logxor word 0x0A0A0A0A0A0A0A0AL in
  let borrowed = Int64.sub zero 0x0101010101010101L in
  Int64.logand (Int64.logand borrowed (Int64.lognot zero)) 0x8080808080808080L <> 0L

let rec newline b from until =
  if from + 8 <= until && not (has_newline (Bytes.get_int64_ne b from)) then
    newline b (from + 8) until
  else newline_within b from until (from + 8)
and newline_within b from until near =
  if from >= until then -1
  else if Bytes.unsafe_get b from = '\n' then from
  else if from + 1 = near then newline b near until
  else newline_within b (from + 1) until near

let each_line dir name f =
  let file = open_in_bin (Filename.concat dir name) in
  let line from until =
    at := from; stop := until; where := (name, snd !where + 1); f () in
  let rec fill used =
    if used = Bytes.length !bytes then bytes := Bytes.extend !bytes 0 used;
    match input file !bytes used (Bytes.length !bytes - used) with
    | 0 -> if used > 0 then line 0 used
    | n -> cut 0 used (used + n)
  and cut from scan until =
    match newline !bytes scan until with
    | -1 -> Bytes.blit !bytes from !bytes 0 (until - from); fill (until - from)
    | eol -> line from eol; cut (eol + 1) (eol + 1) until in
  where := (name, 0);
  Fun.protect ~finally:(fun () -> close_in file) (fun () -> fill 0)

let peek () = if !at < !stop then Bytes.unsafe_get !bytes !at else '\000'

let rec blanks () =
  match peek () with ' ' | '\t' | '\r' when !at < !stop -> incr at; blanks () | _ -> ()

let at_end () = blanks (); !at >= !stop

let digit c = match c with
  | '0' .. '9' -> Char.code c - 48
  | 'a' .. 'f' -> Char.code c - 87
  | 'A' .. 'F' -> Char.code c - 55
  | _ -> 99

let number base =
  let first = !at in
  let rec go n =
    let d = digit (peek ()) in
    if !at < !stop && d < base then (incr at; go (n * base + d)) else n in
  let n = go 0 in
  if !at = first || n < 0 then bad "expected a number";
  n

let decimal () = blanks (); number 10

let prefix () = (* 0x *)
  blanks ();
  if !at + 1 < !stop && peek () = '0' && Bytes.get !bytes (!at + 1) = 'x' then at := !at + 2

let hex () = prefix (); number 16

(* GUIDs have 64 bits, more than an int: 16 digits. *)
let guid () =
  prefix ();
  let from = !at in
  while !at < !stop && digit (peek ()) < 16 do incr at done;
  let n = !at - from in
  if n = 0 || n > 16 then bad "expected a GUID";
  String.lowercase_ascii (String.make (16 - n) '0' ^ Bytes.sub_string !bytes from n)

let looking_at s =
  let n = String.length s in
  !at + n <= !stop &&
  (let rec same i = i >= n || (Bytes.unsafe_get !bytes (!at + i) = s.[i] && same (i + 1)) in same 0)

(* To behind the next s in the line, if there is one. *)
let rec skip_past s =
  if !at >= !stop then false
  else if looking_at s then (at := !at + String.length s; true)
  else (incr at; skip_past s)

let expect s = if not (skip_past s) then bad ("expected " ^ s)

(* ---- the fabric ----------------------------------------------------------- *)

type end_port = { node : string; port : int; place : int (* the switch's port, or -1 *) }

type t = {
  bits : int;
  number : (string, int) Hashtbl.t; (* of a switch, by GUID *)
  present : bool array; (* by switch: is it in this directory? *)
  names : (string, string) Hashtbl.t; (* of a node, by GUID *)
  guids : string array; (* of switches *)
  far : int array; (* by a switch's port: that of another switch, or -1 *)
  used : bool array; (* by a switch's port: it has a cable *)
  ends : end_port array; (* those with a LID, by place *)
  owner : int array; (* by LID: an end port, or -1 *)
  lft : Bytes.t array; (* by LID: output by switch *)
  rows : string array; (* SL-to-VL rows: VLs of SL 0 to 15; the first one is all 0 *)
  maps : Bytes.t array; (* by a switch's input: by output, row + 1 in 16 bits, or 0 *)
  sl : Bytes.t array; (* by LID: SL by end port *)
  groups : (int * int list array) list; (* MLID: ports by switch *)
}

let place d s o = (s lsl d.bits) lor o
let switch_of d place = place lsr d.bits
let port_of d place = place land ((1 lsl d.bits) - 1)
let stride d = 1 lsl d.bits

type side = { is_switch : bool; guid : string; port_guid : string; name : string; pn : int }

let side () =
  expect "{ ";
  let is_switch = looking_at "SW" in
  expect "NodeGUID:";
  let node = guid () in
  expect "PortGUID:";
  let port_guid = guid () in
  expect "{";
  let from = !at in
  expect "}";
  let name = Bytes.sub_string !bytes from (!at - 1 - from) in
  expect "PN:";
  let pn = hex () in
  expect "}";
  { is_switch; guid = node; port_guid; name; pn }

(* The highest port of a switch that the files name: it decides [bits]. *)
let see top port = if port > !top then top := port

(* The cables of a directory, and its nodes.  New switches get the next numbers. *)
let scan number guids top dir =
  let names = Hashtbl.create 999 and port_guids = Hashtbl.create 9999 and cables = ref [] in
  let meet s =
    if not (Hashtbl.mem names s.guid) then begin
      Hashtbl.add names s.guid s.name;
      if s.is_switch && not (Hashtbl.mem number s.guid) then begin
        Hashtbl.add number s.guid (Hashtbl.length number); guids := s.guid :: !guids
      end
    end;
    Hashtbl.replace port_guids s.port_guid (s.guid, if s.is_switch then 0 else s.pn) in
  each_line dir "opensm-subnet.lst" (fun () ->
    if looking_at "{" then begin
      let a = side () in
      let b = side () in
      List.iter (fun s ->
        if s.pn > max_port then bad "no port";
        if s.is_switch then see top s.pn;
        meet s) [ a; b ];
       cables := (a, b) :: !cables
    end);
  (names, port_guids, !cables)

(* What is behind each port of a switch. *)
let connect number bits n cables =
  let far = Array.make (n lsl bits) (-1) and used = Array.make (n lsl bits) false in
  let beside = Hashtbl.create 9999 in (* an adapter's port: a switch's *)
  let place s = (Hashtbl.find number s.guid lsl bits) lor s.pn in
  List.iter (fun (a, b) -> List.iter (fun (a, b) ->
      if a.is_switch then begin
        used.(place a) <- true;
        if b.is_switch then far.(place a) <- place b
      end else if b.is_switch then Hashtbl.replace beside (a.guid, a.pn) (place b))
    [ (a, b); (b, a) ]) cables;
  (far, used, beside)

(* Returns forwarding tables, and for each LID the GUID and port of its owner. *)
let read_lfts number top dir (_, port_guids, _) =
  let lft = Array.make (Hashtbl.length number) Bytes.empty in
  let owner = Array.make lid_space None and entries = ref Bytes.empty in
  each_line dir "opensm-lfts.dump" (fun () ->
    if looking_at "0x" then begin
      let lid = hex () in
      if lid >= lid_space then bad "no unicast LID";
      blanks ();
      if lid >= Bytes.length !entries then bad "a LID above those of this switch";
      (match peek () with
       | '0' .. '9' ->
         let port = decimal () in
         if port > none then bad "no port";
         if port < none then see top port;
         Bytes.set_uint8 !entries lid port
       | _ -> ());
      if owner.(lid) = None then begin
        expect "portguid ";
        owner.(lid) <- Hashtbl.find_opt port_guids (guid ());
        if owner.(lid) = None then bad "a port that has no cable"
      end
    end else if looking_at "Unicast" then begin
      expect "-";
      let last = hex () in
      expect "guid ";
      entries := Bytes.make (min last lid_space + 1) '\255';
      match Hashtbl.find_opt number (guid ()) with
      | Some s -> lft.(s) <- !entries
      | None -> bad "no such switch"
    end);
  (lft, owner)

let read_maps dir number bits rows =
  let maps = Array.make (Hashtbl.length number lsl bits) Bytes.empty and stride = 1 lsl bits in
  let vls = Bytes.create 16 in
  each_line dir "dateline-slvl.dump" (fun () ->
    if looking_at "0x" then begin
      let s = match Hashtbl.find_opt number (guid ()) with Some s -> s | None -> bad "no such switch" in
      let i = decimal () in
      let o = decimal () in
      if i > max_port || o > max_port then bad "no port";
      for n = 0 to 7 do
        let pair = hex () in
        Bytes.set_uint8 vls (2 * n) (pair lsr 4 land 15);
        Bytes.set_uint8 vls (2 * n + 1) (pair land 15)
      done;
      let row = Bytes.to_string vls in
      let n = match Hashtbl.find_opt rows row with
        | Some n -> n
        | None -> let n = Hashtbl.length rows in Hashtbl.add rows row n; n in
      if n > 65534 then bad "too many different rows";
      if i < stride && o < stride then begin
        let k = (s lsl bits) lor i in
        if maps.(k) = Bytes.empty then maps.(k) <- Bytes.make (2 * stride) '\000';
        Bytes.set_uint16_le maps.(k) (2 * o) (n + 1)
      end
    end);
  maps

(* ---- path SLs --------------------------------------------------------------- *)

(* An end port by its node's GUID (the first one with a LID) or port's GUID. *)
let find_end ends port_guids =
  let by_port = Hashtbl.create 9999 and by_node = Hashtbl.create 9999 in
  Array.iteri (fun e end_ ->
    Hashtbl.replace by_port (end_.node, end_.port) e;
    match Hashtbl.find_opt by_node end_.node with
    | Some (first : int) when ends.(first).port < end_.port -> ()
    | _ -> Hashtbl.replace by_node end_.node e) ends;
  let of_port node port = Hashtbl.find_opt by_port (node, port) in
  let of_guid g =
    match Hashtbl.find_opt by_node g, Hashtbl.find_opt port_guids g with
    | Some e, _ -> Some e
    | None, Some (node, port) -> of_port node port
    | None, None -> None in
  (of_guid, of_port)

let read_psl dir sl of_guid of_port top =
  let last = Bytes.make 19 ' ' and entries = ref Bytes.empty in
  let take e = match e with Some e -> entries := sl.(e) | None -> bad "no such end port" in
  let same () =
    !at + 19 <= !stop &&
    (let rec go i = i = 19 || (Bytes.unsafe_get !bytes (!at + i) = Bytes.unsafe_get last i && go (i + 1)) in
     go 0) in
  each_line dir "dateline-psl.dump" (fun () ->
    if same () then at := !at + 19
    else if looking_at "#port" then begin
      expect "#port"; let port = decimal () in
      expect "of"; let node = guid () in
      expect ":"; take (of_port node port); Bytes.fill last 0 19 ' '
    end else if looking_at "0x" then begin
      let from = !at in
      take (of_guid (guid ()));
      if !at - from = 18 then Bytes.blit !bytes from last 0 (min 19 (!stop - from))
    end else at := !stop;
    if not (at_end ()) then begin
      let lid = decimal () in
      let value = decimal () in
      if lid > top || value > 15 then bad "no LID, or no SL";
      let old = Bytes.get_uint8 !entries lid in
      if old <> none && old <> value then bad "a LID a second time, with another SL";
      Bytes.set_uint8 !entries lid value
    end)

(* ---- groups ------------------------------------------------------------------- *)

let read_groups number top dir =
  let groups = Hashtbl.create 99 and s = ref (-1) in
  each_line dir "opensm.mcfdbs" (fun () ->
    if looking_at "Switch" then begin
      expect "Switch";
      s := match Hashtbl.find_opt number (guid ()) with Some s -> s | None -> bad "no such switch"
    end else if looking_at "0xC" || looking_at "0xc" then begin
      let mlid = hex () in
      expect ":";
      let ports = ref [] in
      while not (at_end ()) do
        let o = hex () in
        if o > max_port then bad "no port";
        see top o;
        ports := o :: !ports
      done;
      if !ports <> [] then begin
        if not (Hashtbl.mem groups mlid) then
          Hashtbl.add groups mlid (Array.make (Hashtbl.length number) []);
        (Hashtbl.find groups mlid).(!s) <- List.sort_uniq compare !ports
      end
    end);
  List.sort compare (Hashtbl.fold (fun mlid masks l -> (mlid, masks) :: l) groups [])

(* Rows as columns: all that is asked of one LID lies side by side. *)
let columns rows width =
  let columns = Array.init width (fun _ -> Bytes.make (Array.length rows) '\255') in
  let block = 64 in
  for first = 0 to (width - 1) / block do
    Array.iteri (fun r row ->
      for c = first * block to min (Bytes.length row) ((first + 1) * block) - 1 do
        Bytes.unsafe_set columns.(c) r (Bytes.unsafe_get row c)
      done) rows
  done;
  columns

(* ---- all -------------------------------------------------------------------------- *)

let read_rest number guids bits rows (dir, (names, port_guids, cables), (lft, owners), groups) =
  let far, used, beside = connect number bits (Array.length guids) cables in
  let maps = read_maps dir number bits rows in
  let place (node, port) = match Hashtbl.find_opt number node with
    | Some s -> s lsl bits
    | None -> Option.value (Hashtbl.find_opt beside (node, port)) ~default:(-1) in
  let ends = Array.of_list (List.sort_uniq compare (Array.to_list owners |> List.filter_map
    (Option.map (fun (node, port) -> (place (node, port), node, port))))) in
  let ends = Array.map (fun (place, node, port) -> { node; port; place }) ends in
  let index = Hashtbl.create 9999 in
  Array.iteri (fun e end_ -> Hashtbl.replace index (end_.node, end_.port) e) ends;
  let owner = Array.map (function Some o -> Hashtbl.find index o | None -> -1) owners in
  let top = Array.fold_left (fun top b -> max top (Bytes.length b - 1)) 0 lft in
  let sl = Array.map (fun _ -> Bytes.make (top + 1) '\255') ends in
  let of_guid, of_port = find_end ends port_guids in
  read_psl dir sl of_guid of_port top;
  let present = Array.map (Hashtbl.mem names) guids in
  { bits; number; present; names; guids; far; used; ends; owner; lft = columns lft (top + 1);
    rows = [||]; maps; sl = columns sl (top + 1); groups }

(* Several directories, or one, with common numbers of switches and rows. *)
let read_all dirs =
  let number = Hashtbl.create 999 and guids = ref [] and rows = Hashtbl.create 99 in
  Hashtbl.add rows (String.make 16 '\000') 0;
  let top = ref 1 in
  let scans = List.map (fun dir -> (dir, scan number guids top dir)) dirs in
  let found = List.map (fun (dir, s) ->
    (dir, s, read_lfts number top dir s, read_groups number top dir)) scans in
  let rec bits n = if 1 lsl n > !top then n else bits (n + 1) in
  let guids = Array.of_list (List.rev !guids) in
  let all = List.map (read_rest number guids (bits 0) rows) found in
  let list = Array.make (Hashtbl.length rows) "" in
  Hashtbl.iter (fun row n -> list.(n) <- row) rows;
  List.map (fun d -> { d with rows = list }) all

let read dir = List.hd (read_all [ dir ])

(* The output for a LID, or [none]. *)
let output d s lid = if lid < Array.length d.lft then Bytes.get_uint8 d.lft.(lid) s else none

(* The row of a pair of ports, or -1. *)
let row d s i o =
  let m = d.maps.((s lsl d.bits) lor i) in
  if Bytes.length m = 0 then -1 else Bytes.get_uint16_le m (2 * o) - 1

let path_sl d e lid = if lid < Array.length d.sl then Bytes.get_uint8 d.sl.(lid) e else none

(* LIDs in use, ascending. *)
let lids d = List.filter (fun t -> d.owner.(t) >= 0) (List.init lid_space Fun.id)
