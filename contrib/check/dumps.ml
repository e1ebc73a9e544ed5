(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* dumps.ml: reads the dumps of OpenSM and Dateline in a directory.

   opensm-subnet.lst has the cables, opensm-lfts.dump the forwarding tables,
   dateline-slvl.dump the SL-to-VL maps, dateline-psl.dump the path SLs, opensm.mcfdbs
   the multicast masks.  They can have gigabytes: lines are read where they lie,
   without a copy, and what they say is packed as it comes.  Old and new dumps of a change
   have most bytes in common: what these say is taken over.

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
let bytes = ref (Bytes.create 0x40000)
let at = ref 0
let stop = ref 0
let file_name = ref ""
let line_number = ref 0
let ended = ref true (* the line has its newline *)
let position = ref 0 (* of the line in the file *)
let jump = ref None (* where to go on behind this line, if elsewhere: a position *)

let bad what = malformed "%s:%d: %s" !file_name !line_number what

(* The top bits of those of eight bytes that may be newlines: the lowest one is.  [zero] has
   a zero byte there; subtracting 1 from each byte sets the top bit of a byte below 128 only
   if it, or a lower one, is zero. *)
let[@inline] newlines word =
  let zero = Int64.logxor word 0x0A0A0A0A0A0A0A0AL in
  let borrowed = Int64.sub zero 0x0101010101010101L in
  Int64.logand (Int64.logand borrowed (Int64.lognot zero)) 0x8080808080808080L

let lowest bits =
  let low = Int64.to_int bits in
  if low land 0xFFFFFFFF <> 0 then
    if low land 0xFFFF <> 0 then if low land 0xFF <> 0 then 0 else 1
    else if low land 0xFFFFFF <> 0 then 2 else 3
  else if low land 0xFFFFFFFFFFFF <> 0 then if low land 0xFFFFFFFFFF <> 0 then 4 else 5
  else if low land 0xFFFFFFFFFFFFFF <> 0 then 6 else 7

let rec newline b from until =
  if from + 8 <= until then begin
    let found = newlines (Bytes.get_int64_le b from) in
    if Int64.equal found 0L then newline b (from + 8) until else from + lowest found
  end
  else newline_within b from until
and newline_within b from until =
  if from >= until then -1
  else if Bytes.get b from = '\n' then from
  else newline_within b (from + 1) until

(* A file that is compared with the one that is read, at the same positions. *)
type beside = {
  file : in_channel;
  buffer : Bytes.t;
  other : Bytes.t; (* what is read of the other file *)
  mutable differs : int; (* the last position that is known to differ, or -1 *)
}

let open_beside dir name = { file = open_in_bin (Filename.concat dir name);
  buffer = Bytes.create 0x10000; other = Bytes.create 0x10000; differs = -1 }

(* Bytes of two buffers, from the last one backwards: the first that differ, or -1. *)
let rec last_other a i b j n =
  if n >= 8 && Int64.equal (Bytes.get_int64_ne a (i + n - 8)) (Bytes.get_int64_ne b (j + n - 8)) then
    last_other a i b j (n - 8)
  else if n > 0 && Bytes.get a (i + n - 1) = Bytes.get b (j + n - 1) then last_other a i b j (n - 1)
  else n - 1

(* n bytes at i, which lie at a position of the file. *)
let rec compare_beside c b i n position =
  if n > 0 then
    match input c.file c.buffer 0 (min n (Bytes.length c.buffer)) with
    | 0 -> c.differs <- max_int
    | m ->
      Bytes.blit b i c.other 0 m;
      let other = if m = Bytes.length c.buffer && Bytes.equal c.buffer c.other then -1
        else last_other c.other 0 c.buffer 0 m in
      if other >= 0 then c.differs <- max c.differs (position + other);
      compare_beside c b (i + m) (n - m) (position + m)

(* [quick] takes a line of a common form that lies whole from a byte on, before another:
   it returns where the next one begins; or the same byte if [f] has to read the line. *)
let each_line ?(quick = fun _ from _ -> from) ?beside dir name f =
  let file = open_in_bin (Filename.concat dir name) and base = ref 0 in
  let line from until whole =
    at := from; stop := until; ended := whole; position := !base + from; f () in
  let rec fill used =
    if used = Bytes.length !bytes then bytes := Bytes.extend !bytes 0 used;
    match input file !bytes used (Bytes.length !bytes - used) with
    | 0 -> if used > 0 then begin incr line_number; line 0 used false end
    | n ->
      Option.iter (fun c -> compare_beside c !bytes used n (!base + used)) beside;
      cut 0 used (used + n)
  and cut from scan until =
    incr line_number;
    match quick !bytes from until with
    | next when next > from -> cut next next until
    | _ ->
      match newline !bytes scan until with
      | -1 ->
        decr line_number; Bytes.blit !bytes from !bytes 0 (until - from); base := !base + from;
        fill (until - from)
      | eol ->
        line from eol true;
        match !jump with
        | None -> cut (eol + 1) (eol + 1) until
        | Some p -> jump := None; seek_in file p; base := p; fill 0 in
  file_name := name; line_number := 0; jump := None;
  Fun.protect ~finally:(fun () -> close_in file) (fun () -> fill 0)

(* Do bytes go on with a text?  It has eight bytes at least. *)
let goes_on b from until text =
  let n = Bytes.length text in
  from + n <= until && n >= 8 &&
  Int64.equal (Bytes.get_int64_ne b (from + n - 8)) (Bytes.get_int64_ne text (n - 8)) &&
  (let rec same i = i + 8 > n ||
     (Int64.equal (Bytes.get_int64_ne b (from + i)) (Bytes.get_int64_ne text i) && same (i + 8)) in
   same 0)

let peek () = if !at < !stop then Bytes.unsafe_get !bytes !at else '\000'

let rec blanks () =
  match peek () with ' ' | '\t' | '\r' when !at < !stop -> incr at; blanks () | _ -> ()

let at_end () = blanks (); !at >= !stop

let digit c = match c with
  | '0' .. '9' -> Char.code c - 48
  | 'a' .. 'f' -> Char.code c - 87
  | 'A' .. 'F' -> Char.code c - 55
  | _ -> 99

(* A decimal digit; else it is negative or above 9. *)
let[@inline] decimal_at b p = Char.code (Bytes.unsafe_get b p) - 48

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

(* Do bytes begin as the 19 of a line before, with a GUID and a blank? *)
let[@inline] same_start b from until last =
  from + 19 <= until && Int64.equal (Bytes.get_int64_ne b from) (Bytes.get_int64_ne last 0) &&
  Int64.equal (Bytes.get_int64_ne b (from + 8)) (Bytes.get_int64_ne last 8) &&
  Bytes.get_uint16_ne b (from + 16) = Bytes.get_uint16_ne last 16 &&
  Bytes.unsafe_get b (from + 18) = Bytes.unsafe_get last 18

(* To behind the next s in the line, if there is one. *)
let rec skip_past s =
  if !at >= !stop then false
  else if looking_at s then (at := !at + String.length s; true)
  else (incr at; skip_past s)

let expect s = if not (skip_past s) then bad ("expected " ^ s)

(* ---- tables ---------------------------------------------------------------- *)

(* A byte for each key (a switch, an end port) and LID.  It is read by keys, and asked by
   LIDs.  The rows of 64 keys are a tile: many LIDs have the same column there, which is
   kept once, with half a byte for each row, 15 being none, unless some byte needs more.  A
   second table shares with the first one the tiles that are the same. *)
module Table = struct
  type tile = { half : bool; which : Bytes.t (* by LID: 16 bits *); columns : Bytes.t }

  type t = {
    row_of : int array; (* by key, or -1 *)
    mutable n : int; (* rows *)
    first_table : t option;
    mutable tiles : tile list; (* the last one first *)
    mutable all : tile array; (* the same, when all are read *)
    waiting : Bytes.t array; (* rows of the next tile *)
    mutable shared : int; (* so many of them are those of the first table, and not copied *)
    mutable key_of : int array; (* by row, or -1 *)
    mutable in_order : bool; (* the rows are in the order of their keys *)
    mutable by_row : Bytes.t; (* a column, while it is unpacked *)
    mutable first : int; (* the LIDs of two columns, *)
    first_by_key : Bytes.t; (* and these *)
    mutable second : int;
    second_by_key : Bytes.t;
    mutable first_is_last : bool; (* was the first one asked last? *)
  }

  let create first_table keys = {
    row_of = Array.make keys (-1); n = 0; first_table; tiles = []; all = [||];
    waiting = Array.make 64 Bytes.empty; shared = 0; key_of = [||]; in_order = false; by_row = Bytes.empty;
    first = -1; first_by_key = Bytes.make keys '\255';
    second = -1; second_by_key = Bytes.make keys '\255'; first_is_last = true }

  let fits_half row =
    let rec all c = c < 0 ||
      (let value = Bytes.get_uint8 row c in (value < 15 || value = none) && all (c - 1)) in
    all (Bytes.length row - 1)

  let pack rows =
    let width = Array.fold_left (fun n row -> max n (Bytes.length row)) 0 rows in
    let half = Array.for_all fits_half rows in
    let size = if half then 32 else 64 in
    let which = Bytes.create (2 * width) and columns = Buffer.create 4096 in
    let numbers = Hashtbl.create 999 and column = Bytes.create size in
    let last = Bytes.create size and number = ref (-1) in
    for c = 0 to width - 1 do
      Bytes.fill column 0 size '\255';
      for r = 0 to Array.length rows - 1 do
        let row = rows.(r) in
        if c < Bytes.length row then begin
          let value = Bytes.get_uint8 row c in
          if not half then Bytes.set_uint8 column r value
          else if r land 1 = 0 then Bytes.set_uint8 column (r / 2) (240 lor value)
          else Bytes.set_uint8 column (r / 2) (Bytes.get_uint8 column (r / 2) land 15 lor (value lsl 4))
        end
      done;
      if !number < 0 || not (Bytes.equal column last) then begin
        Bytes.blit column 0 last 0 size;
        let key = Bytes.to_string column in
        number := match Hashtbl.find_opt numbers key with
          | Some n -> n
          | None ->
            let n = Hashtbl.length numbers in
            Hashtbl.add numbers key n; Buffer.add_string columns key; n
      end;
      Bytes.set_uint16_le which (2 * c) !number
    done;
    { half; which; columns = Buffer.to_bytes columns }

  let pack_once t rows =
    let tile = pack rows and n = List.length t.tiles in
    match t.first_table with
    | Some first when n < Array.length first.all && first.all.(n) = tile -> first.all.(n)
    | _ -> tile

  let[@inline] of_half n = if n = 15 then none else n

  let[@inline] in_tile tile r c =
    if 2 * c >= Bytes.length tile.which then none
    else
      let n = Bytes.get_uint16_le tile.which (2 * c) in
      if tile.half then
        of_half (Bytes.get_uint8 tile.columns (32 * n + r / 2) lsr (4 * (r land 1)) land 15)
      else Bytes.get_uint8 tile.columns (64 * n + r)

  (* Row r, into a buffer. *)
  let row t r buffer =
    let last = 64 * List.length t.tiles in
    if r >= last && Array.length t.all = 0 then begin
      let row = t.waiting.(r - last) in
      Bytes.fill buffer 0 (Bytes.length buffer) '\255';
      Bytes.blit row 0 buffer 0 (Bytes.length row)
    end else begin
      let tile =
        if Array.length t.all = 0 then List.nth t.tiles ((last - r - 1) / 64) else t.all.(r / 64) in
      for c = 0 to Bytes.length buffer - 1 do
        Bytes.set_uint8 buffer c (in_tile tile (r land 63) c)
      done
    end

  (* Rows that wait are copied after all. *)
  let unshare t = Option.iter (fun first ->
    for k = 0 to t.shared - 1 do
      let tile = first.all.(t.n / 64) in
      t.waiting.(k) <- Bytes.create (Bytes.length tile.which / 2);
      row first (t.n land lnot 63 + k) t.waiting.(k)
    done;
    t.shared <- 0) t.first_table

  (* The row of a key. *)
  let add t key row =
    unshare t;
    let k = t.n land 63 and size = Bytes.length row in
    t.row_of.(key) <- t.n;
    t.n <- t.n + 1;
    if Bytes.length t.waiting.(k) <> size then t.waiting.(k) <- Bytes.create size;
    Bytes.blit row 0 t.waiting.(k) 0 size;
    if k = 63 then t.tiles <- pack_once t t.waiting :: t.tiles

  (* Row r of the first table is that of a key: tiles of such rows need not be packed. *)
  let add_shared t first key r =
    if r <> t.n || t.shared < t.n land 63 then begin
      let copy = Bytes.create (Bytes.length first.all.(r / 64).which / 2) in
      row first r copy;
      add t key copy
    end else begin
      t.row_of.(key) <- r;
      t.n <- r + 1;
      t.shared <- t.shared + 1;
      if t.shared = 64 then begin t.tiles <- first.all.(r / 64) :: t.tiles; t.shared <- 0 end
    end

  (* The table, or the first one if it is the same. *)
  let finish t =
    unshare t;
    if t.n land 63 > 0 then t.tiles <- pack_once t (Array.sub t.waiting 0 (t.n land 63)) :: t.tiles;
    t.all <- Array.of_list (List.rev t.tiles);
    t.key_of <- Array.make (64 * Array.length t.all) (-1);
    Array.iteri (fun key r -> if r >= 0 then t.key_of.(r) <- key) t.row_of;
    t.in_order <- t.row_of = Array.init (Array.length t.row_of) Fun.id;
    t.by_row <- Bytes.make (64 * Array.length t.all) '\255';
    Array.fill t.waiting 0 64 Bytes.empty;
    match t.first_table with
    | Some first when first.row_of = t.row_of ->
      if Array.for_all2 ( == ) first.all t.all then first else { t with row_of = first.row_of }
    | _ -> t

  (* Two rows of a byte. *)
  let pairs = Array.init 256 (fun b -> of_half (b land 15) lor (of_half (b lsr 4) lsl 8))

  let unpack t c by_key =
    Array.iteri (fun n tile ->
      if 2 * c >= Bytes.length tile.which then Bytes.fill t.by_row (64 * n) 64 '\255'
      else
        let number = Bytes.get_uint16_le tile.which (2 * c) in
        if tile.half then
          for k = 0 to 31 do
            Bytes.set_uint16_le t.by_row (64 * n + 2 * k)
              (Array.unsafe_get pairs (Bytes.get_uint8 tile.columns (32 * number + k)))
          done
        else Bytes.blit tile.columns (64 * number) t.by_row (64 * n) 64) t.all;
    if t.in_order then Bytes.blit t.by_row 0 by_key 0 (Array.length t.row_of)
    else for key = 0 to Array.length t.row_of - 1 do
      let r = t.row_of.(key) in
      if r >= 0 then Bytes.set by_key key (Bytes.get t.by_row r)
    done

  let fetch t c =
    t.first_is_last <- not t.first_is_last;
    if t.first_is_last then begin t.first <- c; unpack t c t.first_by_key; t.first_by_key end
    else begin t.second <- c; unpack t c t.second_by_key; t.second_by_key end

  (* By key.  It is good until two other columns have been asked. *)
  let[@inline] column t c =
    if c = t.first then begin t.first_is_last <- true; t.first_by_key end
    else if c = t.second then begin t.first_is_last <- false; t.second_by_key end
    else fetch t c

  let[@inline] get t key c = Bytes.get_uint8 (column t c) key

  (* The same without the whole column. *)
  let one t key c =
    let r = t.row_of.(key) in
    if r < 0 then none else in_tile t.all.(r / 64) (r land 63) c

  (* Do keys have the same in two columns, or are left out? *)
  let alike t c d left_out =
    let tile n =
      let x = t.all.(n) in
      let number c = if 2 * c < Bytes.length x.which then Bytes.get_uint16_le x.which (2 * c) else -1 in
      number c = number d || (
        let rec rows r = r < 0 || ((in_tile x r c = in_tile x r d ||
          (let key = t.key_of.(64 * n + r) in key < 0 || left_out key)) && rows (r - 1)) in
        rows 63) in
    let rec tiles n = n < 0 || (tile n && tiles (n - 1)) in
    tiles (Array.length t.all - 1)

  (* Do two tables with keys in the same order have the same column? *)
  let same_column a b c =
    let rec same n = n < 0 || ((a.all.(n) == b.all.(n) || (
      let rec rows r = r < 0 || (in_tile a.all.(n) r c = in_tile b.all.(n) r c && rows (r - 1)) in
      rows 63)) && same (n - 1)) in
    if a.row_of == b.row_of then same (Array.length a.all - 1)
    else Bytes.equal (column a c) (column b c)

  (* What LIDs with like columns have alike. *)
  let family t c =
    let numbers = Bytes.make (2 * Array.length t.all) '\255' in
    Array.iteri (fun n tile -> if 2 * c < Bytes.length tile.which then
      Bytes.blit tile.which (2 * c) numbers (2 * n) 2) t.all;
    Bytes.unsafe_to_string numbers
end

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
  top : int; (* the highest LID that a switch can have *)
  lft : Table.t; (* outputs, by switch and LID *)
  rows : string array; (* SL-to-VL rows: VLs of SL 0 to 15; the first one is all 0 *)
  maps : Bytes.t array; (* by a switch's input: by output, row + 1 in 16 bits, or 0 *)
  sl : Table.t; (* path SLs, by end port and LID *)
  high : bool; (* some are above 7 *)
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
let see top (port : int) = if port > !top then top := port

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

let hex_digits = String.init 256 (fun c -> Char.chr (digit (Char.chr c)))

(* Of a line with four and three digits and single blanks, as in "0x01c4 012 #": its
   LID and port in one number, or -1. *)
let lid_and_port b from =
  let hex n = Char.code (String.unsafe_get hex_digits (Char.code (Bytes.unsafe_get b (from + n)))) in
  let u = hex 2 and v = hex 3 and w = hex 4 and x = hex 5 in
  let i = decimal_at b (from + 7) and j = decimal_at b (from + 8) and k = decimal_at b (from + 9) in
  let char n = Bytes.unsafe_get b (from + n) in
  if char 0 <> '0' || char 1 <> 'x' || char 6 <> ' ' || char 10 <> ' ' ||
    u lor v lor w lor x > 15 || i lor j lor k < 0 || i > 9 || j > 9 || k > 9 then -1
  else ((((u * 16 + v) * 16 + w) * 16 + x) * 1000) + i * 100 + j * 10 + k

(* Forwarding tables, and for each LID the GUID and port of its owner.  Of sections by
   which no owner was found, and that another file has at the same place: by positions
   of their first lines, those of their ends, how many lines they have, and their rows. *)
type forwarding = {
  table : Table.t;
  owners : (string * int) option array;
  highest : int;
  sections : (int, int * int * int) Hashtbl.t;
}

(* [first]: of the directory before, whose sections are not read again where they are the
   same: what they say goes by their bytes alone, once all owners are known.  [beside]: the
   directory that comes next. *)
let read_lfts (first : forwarding option) beside number top dir (_, port_guids, _) =
  let name = "opensm-lfts.dump" in
  let lft = Table.create (Option.map (fun f -> f.table) first) (Hashtbl.length number) in
  let owners = Array.make lid_space None and highest = ref 0 in
  let rows = ref Bytes.empty and entries = ref 0 and key = ref (-1) in
  let texts = Array.make lid_space Bytes.empty (* of lines, behind the port *) in
  let beside = Option.map (fun dir -> open_beside dir name) beside in
  let sections = Hashtbl.create 99 and start = ref 0 and line = ref 0 and finds = ref true in
  let unknown = ref (match first with
    | None -> 0
    | Some f -> Array.fold_left (fun n o -> if Option.is_some o then n + 1 else n) 0 f.owners) in
  let shared = ref (-1) (* the row of the first table that this switch has so far *) in
  let finish () = if !key >= 0 then match first with
    | Some f when !shared >= 0 -> Table.add_shared lft f.table !key !shared
    | _ -> Table.add lft !key !rows in
  let set lid port =
    if lid >= !entries then bad "a LID above those of this switch";
    if port > none then bad "no port";
    if port < none then see top port;
    if !shared >= 0 then begin
      Option.iter (fun f -> Table.row f.table !shared !rows) first;
      shared := -1
    end;
    Bytes.set_uint8 !rows lid port in
  let find lid =
    finds := true;
    expect "portguid ";
    owners.(lid) <- Hashtbl.find_opt port_guids (guid ());
    if owners.(lid) = None then bad "a port that has no cable";
    match first with
    | Some f when f.owners.(lid) <> None -> decr unknown
    | _ -> () in
  let quick b from until =
    if from + 11 > until then from
    else match lid_and_port b from with
      | -1 -> from
      | n when n / 1000 >= lid_space || owners.(n / 1000) == None -> from
      | n ->
        let lid = n / 1000 in
        let text = texts.(lid) in
        if goes_on b (from + 11) until text then begin
          set lid (n - 1000 * lid); from + 11 + Bytes.length text
        end else begin
          let eol = newline b (from + 11) until in
          if eol < 0 then from else begin
            if texts.(lid) == Bytes.empty then texts.(lid) <- Bytes.sub b (from + 11) (eol - from - 10);
            set lid (n - 1000 * lid); eol + 1
          end
        end in
  each_line ~quick ?beside dir name (fun () ->
    if looking_at "0x" then begin
      let lid = hex () in
      if lid >= lid_space then bad "no unicast LID";
      blanks ();
      if lid >= !entries then bad "a LID above those of this switch";
      (match peek () with '0' .. '9' -> set lid (decimal ()) | _ -> ());
      if owners.(lid) = None then find lid
    end else if looking_at "Unicast" then begin
      finish ();
      (* That its first line begins there, too, the byte before it says. *)
      Option.iter (fun c -> if not !finds && c.differs < max 0 (!start - 1) then
        Hashtbl.replace sections !start (!position, !line_number - !line, lft.n - 1)) beside;
      start := !position; line := !line_number; finds := false; shared := -1;
      expect "-";
      let last = if looking_at "0x" then hex () else decimal () in
      highest := max !highest (min last lid_space);
      entries := min last lid_space + 1;
      if Bytes.length !rows < !entries then rows := Bytes.create !entries;
      Bytes.fill !rows 0 (Bytes.length !rows) '\255';
      expect "guid ";
      (match Hashtbl.find_opt number (guid ()) with
      | Some s -> key := s
      | None -> bad "no such switch");
      match first with
      | Some f when !unknown = 0 -> Option.iter (fun (past, lines, r) ->
          shared := r; jump := Some past; line_number := !line_number + lines - 1)
          (Hashtbl.find_opt f.sections !position)
      | _ -> ()
    end);
  finish ();
  Option.iter (fun c -> close_in c.file) beside;
  { table = Table.finish lft; owners; highest = !highest; sections }

(* The number of the row at hand. *)
let read_row rows =
  let vls = Bytes.create 16 in
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
  n

(* Most inputs have the same maps as some other one: each lies once in memory, close to the
   processor. *)
let read_maps once dir number bits rows =
  let maps = Array.make (Hashtbl.length number lsl bits) Bytes.empty and stride = 1 lsl bits in
  let texts = Hashtbl.create 99 in (* rows, as they are written *)
  let last = Bytes.make 19 '\000' and s = ref (-1) in
  each_line dir "dateline-slvl.dump" (fun () ->
    let same = same_start !bytes !at !stop last in
    if same || looking_at "0x" then begin
      if same then at := !at + 19
      else begin
        let from = !at in
        s := (match Hashtbl.find_opt number (guid ()) with Some s -> s | None -> bad "no such switch");
        if !at - from = 18 then Bytes.blit !bytes from last 0 (min 19 (!stop - from))
      end;
      let i = decimal () in
      let o = decimal () in
      if i > max_port || o > max_port then bad "no port";
      let text = Bytes.sub_string !bytes !at (!stop - !at) in
      let n = match Hashtbl.find_opt texts text with
        | Some n -> n
        | None -> let n = read_row rows in Hashtbl.add texts text n; n in
      if i < stride && o < stride then begin
        let k = (!s lsl bits) lor i in
        if Bytes.length maps.(k) = 0 then maps.(k) <- Bytes.make (2 * stride) '\000';
        Bytes.set_uint16_le maps.(k) (2 * o) (n + 1)
      end
    end);
  Array.map (fun m -> match Hashtbl.find_opt once m with
    | Some same -> same
    | None -> Hashtbl.add once m m; m) maps

(* ---- path SLs --------------------------------------------------------------- *)

(* [same]: the next directory has the same file. *)
type sls = { table : Table.t; high : bool; same : bool }

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

let read_psl first beside dir ends of_guid of_port top =
  let name = "dateline-psl.dump" in
  let beside = Option.map (fun dir -> open_beside dir name) beside in
  let sl = Table.create first (Array.length ends) and high = ref false in
  let last = Bytes.make 19 ' ' and entries = Bytes.create (top + 1) and end_ = ref (-1) in
  let finish () = if !end_ >= 0 then Table.add sl !end_ entries in
  let take e = match e with
    | None -> bad "no such end port"
    | Some e when e = !end_ -> ()
    | Some e ->
      finish ();
      end_ := e;
      if sl.row_of.(e) >= 0 then Table.row sl sl.row_of.(e) entries
      else Bytes.fill entries 0 (top + 1) '\255' in
  let set lid value =
    if lid > top || value > 15 || !end_ < 0 then bad "no LID, or no SL";
    let old = Bytes.get_uint8 entries lid in
    if old <> none && old <> value then bad "a LID a second time, with another SL";
    if value > 7 then high := true;
    Bytes.set_uint8 entries lid value in
  (* "GUID LID SL", the GUID that of the last line, with single blanks, and the LID the next
     one.  [texts]: of LIDs with at most four digits, these and a blank, as a number. *)
  let texts = Array.init (min (top + 1) 10000) (fun lid ->
    String.fold_right (fun c n -> n lsl 8 lor Char.code c) (string_of_int lid ^ " ") 0) in
  let next = ref 0 in
  let quick b from until =
    let lid = !next in
    if lid >= Array.length texts || from + 28 > until || not (same_start b from until last) then from
    else begin
      let size = if lid < 100 then if lid < 10 then 2 else 3 else if lid < 1000 then 4 else 5 in
      let value = decimal_at b (from + 19 + size) in
      let text = Int64.to_int (Bytes.get_int64_le b (from + 19)) in
      if text land (1 lsl (8 * size) - 1) <> texts.(lid) || value < 0 || value > 9 ||
        Bytes.unsafe_get b (from + 20 + size) <> '\n'
      then from
      else begin set lid value; next := lid + 1; from + 21 + size end
    end in
  each_line ~quick ?beside dir name (fun () ->
    if same_start !bytes !at !stop last then at := !at + 19
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
      set lid value; next := lid + 1
    end);
  finish ();
  (* Has the other file nothing more? *)
  let same = match beside with
    | None -> false
    | Some c -> let more = input c.file c.buffer 0 1 in close_in c.file; more = 0 && c.differs < 0 in
  { table = Table.finish sl; high = !high; same }

(* ---- groups ------------------------------------------------------------------- *)

let read_groups number top dir =
  let groups = Hashtbl.create 99 and s = ref (-1) in
  each_line dir "opensm.mcfdbs" (fun () ->
    if looking_at "Switch" then begin
      expect "Switch";
      s := match Hashtbl.find_opt number (guid ()) with Some s -> s | None -> bad "no such switch"
    end else if looking_at "0x" then begin
      let mlid = hex () in
      if mlid < lid_space || mlid > 0xFFFF then bad "no multicast LID";
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

(* ---- all -------------------------------------------------------------------------- *)

let same_table a b = Hashtbl.length a = Hashtbl.length b &&
  Hashtbl.fold (fun key value same -> same && Hashtbl.find_opt b key = Some value) a true

(* [first]: the directory before, and the GUIDs of its ports; if [same], it has the same path
   SLs by their bytes, which say the same if the end ports do. *)
let read_rest ~sls once first same beside_dir number guids bits rows
    (dir, (names, port_guids, cables), lfts, groups) =
  let { table = lft; owners; highest = top; _ } = lfts in
  let far, used, beside = connect number bits (Array.length guids) cables in
  let maps = read_maps once dir number bits rows in
  let place (node, port) = match Hashtbl.find_opt number node with
    | Some s -> s lsl bits
    | None -> Option.value (Hashtbl.find_opt beside (node, port)) ~default:(-1) in
  let ends = Array.of_list (List.sort_uniq compare (Array.to_list owners |> List.filter_map
    (Option.map (fun (node, port) -> (place (node, port), node, port))))) in
  let ends = Array.map (fun (place, node, port) -> { node; port; place }) ends in
  let index = Hashtbl.create 9999 in
  Array.iteri (fun e end_ -> Hashtbl.replace index (end_.node, end_.port) e) ends;
  let owner = Array.map (function Some o -> Hashtbl.find index o | None -> -1) owners in
  let of_guid, of_port = find_end ends port_guids in
  let sls = match first with
    | Some (d, guids) when same && d.ends = ends && d.top = top && same_table guids port_guids ->
      { table = d.sl; high = d.high; same }
    | _ ->
      let first = Option.map (fun (d, _) -> d.sl) first in
      if sls then read_psl first beside_dir dir ends of_guid of_port top
      else { table = Table.finish (Table.create first (Array.length ends)); high = false; same = false } in
  let present = Array.map (Hashtbl.mem names) guids in
  ({ bits; number; present; names; guids; far; used; ends; owner; top; lft; rows = [||]; maps; sl = sls.table;
    high = sls.high; groups }, port_guids, sls.same)

(* One directory, or an old and a new one with common numbers of switches and rows.  What has
   the same bytes in both is read once.  Without [sls] there are no path SLs. *)
let read_all ~sls dirs =
  let number = Hashtbl.create 999 and guids = ref [] and rows = Hashtbl.create 99 in
  Hashtbl.add rows (String.make 16 '\000') 0;
  let top = ref 1 in
  let scans = List.map (fun dir -> (dir, scan number guids top dir)) dirs in
  let next = List.nth_opt dirs 1 and first = ref None in
  let beside () = if Option.is_none !first then next else None in
  let found = List.map (fun (dir, s) ->
    let lfts = read_lfts !first (beside ()) number top dir s in
    if Option.is_none !first then first := Some lfts;
    (dir, s, lfts, read_groups number top dir)) scans in
  let rec bits n = if 1 lsl n > !top then n else bits (n + 1) in
  let guids = Array.of_list (List.rev !guids) in
  let once = Hashtbl.create 99 and first = ref None and same = ref false in
  let beside () = if Option.is_none !first then next else None in
  let all = List.map (fun dir ->
    let d, port_guids, same_sls = read_rest ~sls once !first !same (beside ()) number guids (bits 0) rows dir in
    if Option.is_none !first then begin first := Some (d, port_guids); same := same_sls end;
    d) found in
  let list = Array.make (Hashtbl.length rows) "" in
  Hashtbl.iter (fun row n -> list.(n) <- row) rows;
  Gc.compact (); (* little of what was read is left *)
  List.map (fun d -> { d with rows = list }) all

let read dir = List.hd (read_all ~sls:true [ dir ])

(* The output for a LID, or [none]. *)
let output d s lid = if lid > d.top then none else Table.get d.lft s lid

(* The row of a pair of ports, or -1. *)
let row d s i o =
  let m = d.maps.((s lsl d.bits) lor i) in
  if Bytes.length m = 0 then -1 else Bytes.get_uint16_le m (2 * o) - 1

let path_sl d e lid = if lid > d.top then none else Table.get d.sl e lid

(* LIDs in use, ascending. *)
let lids d = List.filter (fun t -> d.owner.(t) >= 0) (List.init lid_space Fun.id)
