
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y



module Nat =
 struct
  (** val ltb : int -> int -> bool **)

  let ltb n m =
    (<=) (Stdlib.Int.succ n) m
 end

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

type fabric = { n_switches : int;
                far_end : (int -> int -> (int * int) option);
                sources : (int -> int list);
                row : (int -> int -> int -> int); n_rows : int;
                vl_in_row : (int -> int -> int); lids : int list;
                outputs : (int -> int -> int list);
                sls : (int -> int -> int -> int);
                sl_list : (int -> int list); multicast : (int -> bool);
                home : (int -> int * int) }

type pair = int * int

(** val pair_eqb : pair -> pair -> bool **)

let pair_eqb a b =
  (&&) ((=) (fst a) (fst b)) ((=) (snd a) (snd b))

(** val below : int -> (int -> bool) -> bool **)

let rec below n f =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> true)
    (fun m -> if f m then below m f else false)
    n

(** val no_vl : int **)

let no_vl =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ 0))))))))))))))

(** val vl_of : fabric -> int -> int -> int -> int -> int **)

let vl_of f s i o l =
  let r = f.row s i o in if Nat.ltb r f.n_rows then f.vl_in_row r l else no_vl

(** val copies : fabric -> int -> int -> int -> int list **)

let copies f s i t =
  if f.multicast t
  then filter (fun o -> negb ((=) o i)) (f.outputs s t)
  else f.outputs s t

(** val leads : fabric -> int -> int -> bool **)

let leads f s o =
  match f.far_end s o with
  | Some _ -> true
  | None -> false

type step = { at_ : int; out : int; next_out : int; from : int; to0 : int }

type start = { st_at : int; input : int; st_out : int; with_sls : int;
               st_to : int }

type certificate = { rank : (int -> int -> int -> int);
                     merged : (int -> int); set : (int -> pair list);
                     set_at : (int -> int -> int -> int); n_steps : int;
                     nth_step : (int -> step);
                     find_step : (int -> int -> int -> int -> int -> int);
                     n_starts : int; nth_start : (int -> start);
                     find_start : (int -> int -> int -> int -> int -> int);
                     root : (int -> int); up : (int -> int -> int);
                     depth : (int -> int -> int) }

(** val check_merged : fabric -> certificate -> bool **)

let check_merged f k =
  below f.n_rows (fun r ->
    below (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
      (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
      (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
      (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
      0)))))))))))))))) (fun l ->
      (=) (f.vl_in_row r l) (f.vl_in_row r (k.merged l))))

(** val crosses :
    fabric -> certificate -> int -> int -> int -> int -> int -> bool **)

let crosses f k s i o l n =
  let w = vl_of f s i o l in
  (&&) (negb ((=) w no_vl))
    ((||) (negb (leads f s o)) (existsb (pair_eqb (l, w)) (k.set n)))

(** val check_step : fabric -> certificate -> step -> bool **)

let check_step f k x =
  match f.far_end x.at_ x.out with
  | Some p ->
    let (s, i) = p in
    forallb (fun lv ->
      (&&) (crosses f k s i x.next_out (fst lv) x.to0)
        ((||) (negb (leads f s x.next_out))
          (Nat.ltb (k.rank s x.next_out (vl_of f s i x.next_out (fst lv)))
            (k.rank x.at_ x.out (snd lv))))) (k.set x.from)
  | None -> false

(** val check_start : fabric -> certificate -> start -> bool **)

let check_start f k x =
  forallb (fun l ->
    (&&)
      (Nat.ltb l (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
        (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
        (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
        (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
        (Stdlib.Int.succ 0)))))))))))))))))
      (crosses f k x.st_at x.input x.st_out (k.merged l) x.st_to))
    (f.sl_list x.with_sls)

(** val has_step : certificate -> int -> int -> int -> int -> int -> bool **)

let has_step k s o o' a b =
  let n = k.find_step s o o' a b in
  (&&) (Nat.ltb n k.n_steps)
    (let x = k.nth_step n in
     (&&)
       ((&&) ((&&) ((&&) ((=) x.at_ s) ((=) x.out o)) ((=) x.next_out o'))
         ((=) x.from a)) ((=) x.to0 b))

(** val has_start : certificate -> int -> int -> int -> int -> int -> bool **)

let has_start k s i o a b =
  let n = k.find_start s i o a b in
  (&&) (Nat.ltb n k.n_starts)
    (let x = k.nth_start n in
     (&&)
       ((&&) ((&&) ((&&) ((=) x.st_at s) ((=) x.input i)) ((=) x.st_out o))
         ((=) x.with_sls a)) ((=) x.st_to b))

(** val goes_home : fabric -> int -> int -> bool **)

let goes_home f t s =
  (||) (f.multicast t)
    (match f.outputs s t with
     | [] -> false
     | o :: l ->
       (match l with
        | [] ->
          (||) (leads f s o)
            ((&&) ((=) (fst (f.home t)) s) ((=) (snd (f.home t)) o))
        | _ :: _ -> false))

(** val check_source : fabric -> certificate -> int -> int -> int -> bool **)

let check_source f k t s i =
  let n = f.sls s i t in
  (match f.sl_list n with
   | [] -> true
   | _ :: _ ->
     (&&) ((&&) (negb (leads f s i)) (goes_home f t s))
       (forallb (fun o -> has_start k s i o n (k.set_at t s o))
         (copies f s i t)))

(** val check_output : fabric -> certificate -> int -> int -> int -> bool **)

let check_output f k t s o =
  let a = k.set_at t s o in
  (match k.set a with
   | [] -> true
   | _ :: _ ->
     (match f.far_end s o with
      | Some p ->
        let (s', i) = p in
        (&&) ((&&) (Nat.ltb s' f.n_switches) (goes_home f t s'))
          (forallb (fun o' -> has_step k s o o' a (k.set_at t s' o'))
            (copies f s' i t))
      | None -> true))

(** val check_lid : fabric -> certificate -> int -> bool **)

let check_lid f k t =
  below f.n_switches (fun s ->
    (&&) (forallb (check_source f k t s) (f.sources s))
      (forallb (check_output f k t s) (f.outputs s t)))

(** val check_cable : fabric -> int -> int -> int -> bool **)

let check_cable f t s o =
  match f.far_end s o with
  | Some p ->
    let (s', i) = p in
    (&&) ((&&) (Nat.ltb s' f.n_switches) (existsb ((=) i) (f.outputs s' t)))
      (match f.far_end s' i with
       | Some p0 -> let (a, b) = p0 in (&&) ((=) a s) ((=) b o)
       | None -> false)
  | None -> true

(** val check_joined : fabric -> certificate -> int -> int -> bool **)

let check_joined f k t s =
  (||) ((=) s (k.root t))
    ((&&) (existsb ((=) (k.up t s)) (f.outputs s t))
      (match f.far_end s (k.up t s) with
       | Some p -> let (s', _) = p in Nat.ltb (k.depth t s') (k.depth t s)
       | None -> false))

(** val check_group : fabric -> certificate -> int -> bool **)

let check_group f k t =
  below f.n_switches (fun s ->
    match f.outputs s t with
    | [] -> true
    | _ :: _ ->
      (&&) (forallb (check_cable f t s) (f.outputs s t))
        (check_joined f k t s))

(** val check : fabric -> certificate -> bool **)

let check f k =
  (&&)
    ((&&)
      ((&&) (check_merged f k)
        (below k.n_steps (fun n -> check_step f k (k.nth_step n))))
      (below k.n_starts (fun n -> check_start f k (k.nth_start n))))
    (forallb (fun t ->
      (&&) (check_lid f k t) ((||) (negb (f.multicast t)) (check_group f k t)))
      f.lids)
