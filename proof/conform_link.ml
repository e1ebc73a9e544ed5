(* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause *)
(* conform_link DATELINE DIR few|all: do `dateline arbitrate` and `dateline credits`, so
   lib/link, decide as the theorems do?

   The models are extracted from Service.v and Credit.v (Model.v).  Tables, queues, buffers
   and events are drawn.  Of arbitration each packet is compared: its VL, table, entry and
   size, and the weight and the counter after it.  Of flow control, after each event, all
   registers of both ends. *)

exception Differs of string
let differs fmt = Printf.ksprintf (fun s -> raise (Differs s)) fmt

let between a b = a + Random.int (b - a + 1)
let pick l = List.nth l (Random.int (List.length l))

(* The numbers, words and nulls of a JSON document, with their keys, in order. *)
let answers dateline what dir file =
  let json = Filename.concat dir "answer.json" in
  let command = Printf.sprintf "%s %s -q --json %s >%s 2>/dev/null" dateline what file json in
  if Sys.command command <> 0 then differs "failed: %s" command;
  let clean s = String.concat "" (String.split_on_char '"' (String.concat "" (String.split_on_char ',' (String.trim s)))) in
  let input = open_in json in
  let rec read l = match input_line input with
    | line -> read (match String.index_opt line ':' with
        | Some i -> (clean (String.sub line 0 i), clean (String.sub line (i + 1) (String.length line - i - 1))) :: l
        | None -> l)
    | exception End_of_file -> close_in input; List.rev l in
  read []

let write file text = let out = open_out file in output_string out text; close_out out

(* ---- arbitration -------------------------------------------------------------- *)

type scenario = { vls : int; limit : int; high : (int * int) list; low : (int * int) list;
                  events : (int * (int * int list) list) list (* after, queues; the first at 0 *) }

let draw_scenario () =
  let vls = pick [ 2; 4; 8; 15 ] in
  let table () = List.init (between 0 9) (fun _ ->
    (between 0 (if Random.int 8 = 0 then 15 else vls - 1), pick [ 0; 1; 2; 7; 64; 127; 255 ])) in
  let queues few = List.filter_map (fun vl ->
    if vl > 0 && Random.int 3 = 0 then None
    else Some (vl, List.init (between 1 few) (fun _ -> pick [ 1; 64; 65; 250; between 1 4158; 4096 ])))
    (List.init vls Fun.id) in
  { vls; limit = pick [ 0; 0; 1; 2; 4; 20; 254; 255 ]; high = table (); low = table ();
    events = (0, queues 50) :: List.init (between 1 4) (fun i -> (20 * i + between 1 20, queues 9)) }

let text_of s =
  let table l = String.concat ", " (List.map (fun (v, w) -> Printf.sprintf "[%d, %d]" v w) l) in
  let queues indent l = String.concat "" (List.map (fun (vl, sizes) ->
    Printf.sprintf "%s%d: {packets: [%s]}\n" indent vl (String.concat ", " (List.map string_of_int sizes))) l) in
  Printf.sprintf "vls: %d\nhigh_limit: %d\nhigh: [%s]\nlow: [%s]\nqueues:\n%sevents:\n%s" s.vls s.limit
    (table s.high) (table s.low)
    (queues "  " (snd (List.hd s.events)))
    (String.concat "" (List.map (fun (n, q) ->
      Printf.sprintf "  - after: %d\n    queues:\n%s" n (queues "      " q)) (List.tl s.events)))

(* What the model sends: VL, table, entry, bytes, weight and counter. *)
let decisions s =
  let circle l = List.mapi (fun number (vl, w) ->
    { Service.number; vl; left = w; whole = w }) l in
  let queues = Array.make 16 [] in
  let arrive n events = List.filter (fun (after, q) ->
    if after <= n then List.iter (fun (vl, sizes) -> queues.(vl) <- queues.(vl) @ sizes) q;
    after > n) events in
  let packet vl = if vl >= s.vls then None else match queues.(vl) with [] -> None | b :: _ -> Some (b - 1) in
  let rec go n port events =
    let events = arrive n events in
    match Service.decide s.limit packet port with
    | None -> []
    | Some ((table, e), port) ->
      let bytes = Service.bytes packet e and weight = e.left - Service.blocks packet e in
      queues.(e.vl) <- List.tl queues.(e.vl);
      List.map string_of_int [ e.vl; (match table with Service.HighTable -> 0 | LowTable -> 1); e.number;
                               bytes; weight; (if s.limit = 255 then 0 else port.counter) ] :: go (n + 1) port events in
  go 0 { Service.high = circle s.high; low = circle s.low; counter = Service.load s.limit } s.events

let said l =
  let rec go l = match l with
    | ("vl", vl) :: ("table", t) :: ("entry", e) :: ("bytes", b) :: ("weight_after", w) :: ("counter_after", c) :: l ->
      [ vl; (match t with "high" -> "0" | "low" -> "1" | _ -> t); e; b; w; (if c = "null" then "0" else c) ] :: go l
    | _ :: l -> go l
    | [] -> [] in
  go l

let check_arbitration dateline dir =
  let s = draw_scenario () and file = Filename.concat dir "arbitrate.yaml" in
  write file (text_of s);
  let expected = decisions s and found = said (answers dateline "arbitrate" dir file) in
  List.iteri (fun i e -> match List.nth_opt found i with
    | Some f when f = e -> ()
    | Some f -> differs "packet %d is %s, expected %s, of\n%s" i (String.concat " " f) (String.concat " " e) (text_of s)
    | None -> differs "no packet %d of\n%s" i (text_of s)) expected;
  if List.length found <> List.length expected then differs "%d packets of\n%s" (List.length found) (text_of s);
  List.length expected

(* ---- flow control ---------------------------------------------------------------- *)

let rec run act k l = match l with
  | [] -> Some k
  | x :: l -> Option.bind (act x k) (fun k -> run act k l)

(* Events as the command names them; then registers, and whether it was accepted. *)
let check_credits dateline dir =
  let file = Filename.concat dir "credits.yaml" in
  let iba = Random.bool () in
  let chunk = pick [ 1; 1; 2; 3; 32 ] and room = pick ([ 40; 100; 1024; 2048 ] @ if iba then [ 3000 ] else []) in
  let stored = ref [] in
  let kinds = List.init 150 (fun _ -> pick [ `Send; `Send; `Send; `Lose; `Offload; `Offload; `Fcp; `Fcp; `Count; `Corrupt; `CorruptCount ]) in
  (* Nothing is lost with the other scheme. *)
  let kinds = if iba then kinds else List.filter (fun k -> k <> `Lose) kinds in
  let steps = List.map (fun kind -> (kind, if iba then pick [ 1; between 1 40; between 1 66; between 1 2047 ] else 1)) kinds in
  (* An offload is of the oldest packet; which these are only the model knows. *)
  let lines = Buffer.create 1000 in
  let line name value = Buffer.add_string lines (Printf.sprintf "  - %s: %s\n" name value) in
  let follow act registers ~send ~lose ~free ~fcp ~count ~miss ~miss_count k =
    List.concat (snd (List.fold_left_map (fun k (kind, n) ->
      let attempt name value actions = line name value;
        match run act k actions with
        | Some k -> (k, [ (registers k, true) ])
        | None -> (k, [ (registers k, false) ]) in
      match kind with
      | `Send -> let k', r = attempt "send" (string_of_int n) (send n) in
        if snd (List.hd r) then stored := !stored @ [ n ];
        (k', r)
      | `Lose -> attempt "lose" (string_of_int n) (lose n)
      | `Offload -> (match !stored with
          | [] -> (k, [])
          | n :: l -> stored := l; attempt "offload" (string_of_int n) (free n))
      | `Fcp -> attempt "fcp" "receiver" fcp
      | `Count -> attempt "fcp" "transmitter" count
      | `Corrupt -> let k, r = attempt "corrupt_fcp" "receiver" miss in (k, List.map (fun (r, _) -> (r, false)) r)
      | `CorruptCount -> let k, r = attempt "corrupt_fcp" "transmitter" miss_count in
        (k, List.map (fun (r, _) -> (r, false)) r)) k steps)) in
  let expected, keys =
    if iba then
      let open Credit in
      let act = act room chunk in
      let registers k = [ k.fctbs; k.cl; k.abr; (room - k.full) * chunk; (match act AAdvertise k with
        | Some k -> List.nth k.back (List.length k.back - 1) | None -> -1) ] in
      let start = { fctbs = 0; cl = 0; abr = 0; full = 0; down = []; back = [] } in
      (follow act registers (Option.get (run act start [ AAdvertise; ALearn ]))
        ~send:(fun n -> [ ASend n; AArrive ]) ~lose:(fun n -> [ ASend n; ALose ])
        ~free:(fun n -> [ AFree (chunks chunk n) ]) ~fcp:[ AAdvertise; ALearn ] ~count:[ ASendCount; AArrive ]
        ~miss:[ AAdvertise; AMiss ] ~miss_count:[ ASendCount; ALose ],
       [ "fctbs"; "cl"; "abr"; "free"; "fccl" ])
    else
      let open Credit in
      let act = pcie_act room 4096 in
      let start = { tx = 0; bal = room; fwd = 0; held = 0; flying = 0; credits = [] } in
      (follow act (fun k -> [ k.tx; k.bal; k.fwd; k.held ]) start
        ~send:(fun _ -> [ PASend; PAArrive ]) ~lose:(fun _ -> [])
        ~free:(fun _ -> [ PAForward ]) ~fcp:[ PAAdvertise; PALearn ] ~count:[]
        ~miss:[ PAAdvertise; PAMiss ] ~miss_count:[],
       [ "tx_cnt"; "crd_bal"; "fwd_cnt"; "occupied" ]) in
  let text = (if iba then Printf.sprintf "scheme: iba\nbuffer_blocks: %d\nchunk_blocks: %d\nevents:\n" (room * chunk) chunk
    else Printf.sprintf "scheme: pcie\nbuffer_packets: %d\nevents:\n" room) ^ Buffer.contents lines in
  write file text;
  let found = answers dateline "credits" dir file in
  let rec steps_of l = match l with
    | ("event", _) :: ("accepted", a) :: l ->
      let rec registers l = match l with
        | ("event", _) :: _ | [] -> []
        | (k, v) :: l -> if List.mem k keys then (k, int_of_string v) :: registers l else registers l in
      let r = registers l in
      (List.map (fun k -> List.assoc k r) keys, a = "true") :: steps_of l
    | _ :: l -> steps_of l
    | [] -> [] in
  let found = List.tl (steps_of found) in
  let show (r, a) = String.concat " " (List.map string_of_int r) ^ if a then "" else " refused" in
  if List.length found <> List.length expected then differs "%d events of\n%s" (List.length found) text;
  List.iteri (fun i (e, f) -> if e <> f then
    differs "event %d gives %s, expected %s, of\n%s" (i + 1) (show f) (show e) text)
    (List.combine expected found);
  List.length expected

let () =
  match Sys.argv with
  | [| _; dateline; dir; ("few" | "all" as what) |] ->
    Random.init (match Sys.getenv_opt "DATELINE_SEED" with Some seed -> int_of_string seed | None -> 1);
    let times = if what = "few" then 25 else 300 in
    let sum f = List.fold_left (fun sum () -> sum + f dateline dir) 0 (List.init times (fun _ -> ())) in
    (try
      let packets = sum check_arbitration in
      let events = sum check_credits in
      Printf.printf "lib/link: %d decisions of %d ports and %d events of %d links agree\n" packets times events times
    with Differs why -> Printf.printf "differs: %s\n" why; exit 1)
  | _ -> prerr_endline "usage: conform_link DATELINE DIR few|all"; exit 2
