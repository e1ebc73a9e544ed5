
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

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

(** val pred : int -> int **)

let pred = fun n -> Stdlib.max 0 (n-1)

(** val add : int -> int -> int **)

let rec add = (+)

(** val sub : int -> int -> int **)

let rec sub = fun n m -> Stdlib.max 0 (n-m)



module Nat =
 struct
  (** val ltb : int -> int -> bool **)

  let ltb n m =
    (<=) (Stdlib.Int.succ n) m
 end

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t -> (f a) :: (map f t)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t -> app (f x) (flat_map f t)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t -> f b (fold_right f a0 t)

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

(** val seq : int -> int -> int list **)

let rec seq start0 len =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun len0 -> start0 :: (seq (Stdlib.Int.succ start0) len0))
    len

type period = { n_times : int; stage : (int -> int -> int);
                maps_at : (int -> int -> int);
                outputs_at : (int -> int -> int -> int list) }

type fabric = { n_switches : int;
                far_end : (int -> int -> (int * int) option);
                sources : (int -> int list);
                rows : (int -> int -> int -> int -> int * int); n_rows : 
                int; vl_in_row : (int -> int -> int); lids : int list;
                sls : (int -> int -> int -> int);
                sl_list : (int -> int list); multicast : (int -> bool);
                home : (int -> int * int); delivers : bool; now : period }

(** val outputs : fabric -> int -> int -> int -> int list **)

let outputs f j s t =
  f.now.outputs_at j s t

(** val maps : fabric -> int -> int -> int **)

let maps f t j =
  f.now.maps_at t j

(** val stage_of : fabric -> int -> int -> int **)

let stage_of f t i =
  f.now.stage t i

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

(** val from_to : int -> int -> (int -> bool) -> bool **)

let from_to a b f =
  below (sub b a) (fun n -> f (add a n))

(** val no_vl : int **)

let no_vl =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ 0))))))))))))))

(** val vl_of : fabric -> int -> int -> int **)

let vl_of f r l =
  if Nat.ltb r f.n_rows then f.vl_in_row r l else no_vl

(** val vls_of : fabric -> int -> int -> int -> int -> int -> int list **)

let vls_of f m s i o l =
  let (r, r') = f.rows m s i o in
  if (=) r r'
  then (vl_of f r l) :: []
  else (vl_of f r l) :: ((vl_of f r' l) :: [])

(** val copies : fabric -> int -> int -> int -> int -> int list **)

let copies f j s i t =
  if f.multicast t
  then filter (fun o -> negb ((=) o i)) (outputs f j s t)
  else outputs f j s t

(** val leads : fabric -> int -> int -> bool **)

let leads f s o =
  match f.far_end s o with
  | Some _ -> true
  | None -> false

type step = { hop_maps : int; at_ : int; out : int; next_out : int;
              from : int; to0 : int }

type start = { st_maps : int; st_at : int; input : int; st_out : int;
               with_sls : int; st_to : int }

type certificate = { rank : (int -> int -> int -> int);
                     merged : (int -> int); set : (int -> pair list);
                     set_at : (int -> int -> int -> int -> int);
                     n_steps : (int -> int -> int); nth_step : (int -> step);
                     find_step : (int -> int -> int -> int -> int -> int ->
                                 int); n_starts : (int -> int -> int);
                     nth_start : (int -> start);
                     find_start : (int -> int -> int -> int -> int -> int ->
                                  int); root : (int -> int);
                     up : (int -> int -> int); depth : (int -> int -> int) }

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
    fabric -> certificate -> int -> int -> int -> int -> int -> int -> bool **)

let crosses f k m s i o l n =
  forallb (fun w ->
    if (=) w no_vl
    then negb f.delivers
    else (||) (negb (leads f s o)) (existsb (pair_eqb (l, w)) (k.set n)))
    (vls_of f m s i o l)

(** val falls :
    fabric -> certificate -> (int -> int -> bool) -> int -> int -> int -> int
    -> int -> int -> bool **)

let falls f k gone m s i o l r =
  (||) ((||) (negb (leads f s o)) (gone s o))
    (forallb (fun w -> (||) ((=) w no_vl) (Nat.ltb (k.rank s o w) r))
      (vls_of f m s i o l))

(** val check_step :
    fabric -> certificate -> (int -> int -> bool) -> step -> bool **)

let check_step f k gone x =
  match f.far_end x.at_ x.out with
  | Some p ->
    let (s, i) = p in
    forallb (fun lv ->
      (&&) (crosses f k x.hop_maps s i x.next_out (fst lv) x.to0)
        (falls f k gone x.hop_maps s i x.next_out (fst lv)
          (k.rank x.at_ x.out (snd lv)))) (k.set x.from)
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
      (crosses f k x.st_maps x.st_at x.input x.st_out (k.merged l) x.st_to))
    (f.sl_list x.with_sls)

(** val has_step :
    certificate -> int -> int -> int -> int -> int -> int -> int -> bool **)

let has_step k m v s o o' a b =
  let n = k.find_step v s o o' a b in
  (&&) (Nat.ltb n m)
    (let x = k.nth_step n in
     (&&)
       ((&&)
         ((&&) ((&&) ((&&) ((=) x.hop_maps v) ((=) x.at_ s)) ((=) x.out o))
           ((=) x.next_out o')) ((=) x.from a)) ((=) x.to0 b))

(** val has_start :
    certificate -> int -> int -> int -> int -> int -> int -> int -> bool **)

let has_start k m v s i o a b =
  let n = k.find_start v s i o a b in
  (&&) (Nat.ltb n m)
    (let x = k.nth_start n in
     (&&)
       ((&&)
         ((&&)
           ((&&) ((&&) ((=) x.st_maps v) ((=) x.st_at s)) ((=) x.input i))
           ((=) x.st_out o)) ((=) x.with_sls a)) ((=) x.st_to b))

(** val goes_home : fabric -> int -> int -> int -> bool **)

let goes_home f j t s =
  (||) ((||) (negb f.delivers) (f.multicast t))
    (match outputs f j s t with
     | [] -> false
     | o :: l ->
       (match l with
        | [] ->
          (||) (leads f s o)
            ((&&) ((=) (fst (f.home t)) s) ((=) (snd (f.home t)) o))
        | _ :: _ -> false))

(** val check_source :
    fabric -> certificate -> int -> int -> int -> int -> int -> bool **)

let check_source f k m j t s i =
  let n = f.sls s i t in
  (match f.sl_list n with
   | [] -> true
   | _ :: _ ->
     (&&) ((&&) (negb (leads f s i)) (goes_home f j t s))
       (forallb (fun o ->
         has_start k m (maps f t j) s i o n (k.set_at t j s o))
         (copies f j s i t)))

(** val check_output :
    fabric -> certificate -> int -> int -> int -> int -> int -> bool **)

let check_output f k m j t s o =
  let a = k.set_at t j s o in
  (match k.set a with
   | [] -> true
   | _ :: _ ->
     (match f.far_end s o with
      | Some p ->
        let (s', i) = p in
        (&&) ((&&) (Nat.ltb s' f.n_switches) (goes_home f j t s'))
          (forallb (fun o' ->
            has_step k m (maps f t j) s o o' a (k.set_at t j s' o'))
            (copies f j s' i t))
      | None -> true))

(** val joined_outputs : int list -> int list -> int list **)

let joined_outputs l m =
  fold_right (fun o l0 -> if existsb ((=) o) l0 then l0 else o :: l0) m l

(** val so_far : fabric -> int -> int -> int -> int list **)

let rec so_far f j s t =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> outputs f 0 s t)
    (fun i -> joined_outputs (outputs f j s t) (so_far f i s t))
    j

(** val check_kept : certificate -> int -> int -> int -> int -> bool **)

let check_kept k j t s o =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> true)
    (fun i ->
    let a = k.set_at t i s o in
    let b = k.set_at t j s o in
    (||) ((=) a b)
      (forallb (fun x -> existsb (pair_eqb x) (k.set b)) (k.set a)))
    j

(** val check_stage :
    fabric -> certificate -> int -> int -> int -> int -> bool **)

let check_stage f k m n j t =
  below f.n_switches (fun s ->
    (&&) (forallb (check_source f k n j t s) (f.sources s))
      (forallb (fun o ->
        (&&) (check_kept k j t s o) (check_output f k m j t s o))
        (so_far f j s t)))

(** val last_stage : fabric -> int -> int **)

let last_stage f t =
  stage_of f t (pred f.now.n_times)

(** val all_stages : fabric -> (int * int) list **)

let all_stages f =
  flat_map (fun t ->
    map (fun j -> (t, j)) (seq 0 (Stdlib.Int.succ (last_stage f t)))) f.lids

(** val check_times : fabric -> int -> bool **)

let check_times f t =
  below (pred f.now.n_times) (fun i ->
    (<=) (stage_of f t i) (stage_of f t (Stdlib.Int.succ i)))

(** val check_cable : fabric -> int -> int -> int -> int -> bool **)

let check_cable f j t s o =
  match f.far_end s o with
  | Some p ->
    let (s', i) = p in
    (&&)
      ((&&) (Nat.ltb s' f.n_switches) (existsb ((=) i) (outputs f j s' t)))
      (match f.far_end s' i with
       | Some p0 -> let (a, b) = p0 in (&&) ((=) a s) ((=) b o)
       | None -> false)
  | None -> true

(** val check_joined : fabric -> certificate -> int -> int -> int -> bool **)

let check_joined f k j t s =
  (||) ((=) s (k.root t))
    ((&&) (existsb ((=) (k.up t s)) (outputs f j s t))
      (match f.far_end s (k.up t s) with
       | Some p -> let (s', _) = p in Nat.ltb (k.depth t s') (k.depth t s)
       | None -> false))

(** val check_group : fabric -> certificate -> int -> bool **)

let check_group f k t =
  let j = stage_of f t 0 in
  below f.n_switches (fun s ->
    match outputs f j s t with
    | [] -> true
    | _ :: _ ->
      (&&) (forallb (check_cable f j t s) (outputs f j s t))
        (check_joined f k j t s))

(** val nothing_gone : int -> int -> bool **)

let nothing_gone _ _ =
  false

(** val put : fabric -> period -> fabric **)

let put f p =
  { n_switches = f.n_switches; far_end = f.far_end; sources = f.sources;
    rows = f.rows; n_rows = f.n_rows; vl_in_row = f.vl_in_row; lids = f.lids;
    sls = f.sls; sl_list = f.sl_list; multicast = f.multicast; home = f.home;
    delivers = f.delivers; now = p }

(** val continues :
    fabric -> (int -> int -> bool) -> period -> period -> bool **)

let continues f gone p p' =
  forallb (fun t ->
    let j = p.stage t (pred p.n_times) in
    let i = p'.stage t 0 in
    (&&) ((=) (p.maps_at t j) (p'.maps_at t i))
      (below f.n_switches (fun s ->
        forallb (fun o ->
          (||) (gone s o) (existsb ((=) o) (p'.outputs_at i s t)))
          (p.outputs_at j s t)))) f.lids

(** val same_list : int list -> int list -> bool **)

let rec same_list l m =
  match l with
  | [] -> (match m with
           | [] -> true
           | _ :: _ -> false)
  | x :: l0 ->
    (match m with
     | [] -> false
     | y :: m0 -> (&&) ((=) x y) (same_list l0 m0))

(** val shared :
    certificate -> (int -> int) -> (int -> int -> int) -> (int -> int -> int)
    -> certificate **)

let shared k like steps starts =
  { rank = k.rank; merged = k.merged; set = k.set; set_at = (fun t j s o ->
    k.set_at (like t) j s o); n_steps = steps; nth_step = k.nth_step;
    find_step = k.find_step; n_starts = starts; nth_start = k.nth_start;
    find_start = k.find_start; root = k.root; up = k.up; depth = k.depth }

(** val check_alike :
    fabric -> certificate -> (int -> int) -> int -> int -> int -> int -> bool **)

let check_alike f k like m n t r =
  let h = fst (f.home t) in
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) ((&&) ((=) (like r) r) (existsb ((=) r) f.lids))
            ((=) (fst (f.home r)) h)) (negb (f.multicast t)))
        (negb (f.multicast r))) ((=) (maps f t 0) (maps f r 0)))
    (below f.n_switches (fun s ->
      if (=) s h
      then (&&)
             (forallb
               (check_source f (shared k like k.n_steps k.n_starts) n 0 t s)
               (f.sources s))
             (forallb
               (check_output f (shared k like k.n_steps k.n_starts) m 0 t s)
               (outputs f 0 s t))
      else (&&)
             ((&&) (same_list (outputs f 0 s t) (outputs f 0 s r))
               (forallb (fun i -> (=) (f.sls s i t) (f.sls s i r))
                 (f.sources s)))
             (forallb (fun o ->
               match f.far_end s o with
               | Some p ->
                 let (s', _) = p in
                 (||) (negb ((=) s' h))
                   (check_output f (shared k like k.n_steps k.n_starts) m 0 t
                     s o)
               | None -> true) (outputs f 0 s t))))

(** val check_one :
    fabric -> certificate -> (int -> int) -> int -> int -> int -> int -> bool **)

let check_one f k like m n j t =
  if (=) (like t) t
  then check_stage f (shared k like k.n_steps k.n_starts) m n j t
  else (&&) ((=) j 0) (check_alike f k like m n t (like t))

(** val check_all :
    fabric -> certificate -> (int -> int -> bool) -> (int -> int) -> int ->
    int -> pair list -> bool **)

let rec check_all f k gone like a b = function
| [] -> true
| p :: l0 ->
  let (t, j) = p in
  let m = k.n_steps t j in
  let n = k.n_starts t j in
  (&&)
    ((&&)
      ((&&)
        (from_to a m (fun x ->
          check_step f (shared k like k.n_steps k.n_starts) gone
            (k.nth_step x)))
        (from_to b n (fun x ->
          check_start f (shared k like k.n_steps k.n_starts) (k.nth_start x))))
      (check_one f k like m n j t))
    (check_all f k gone like (Stdlib.max a m) (Stdlib.max b n) l0)

(** val check_on_alike :
    fabric -> certificate -> (int -> int -> bool) -> (int -> int) -> bool **)

let check_on_alike f k gone like =
  (&&) ((&&) (check_merged f k) (check_all f k gone like 0 0 (all_stages f)))
    (forallb (fun t ->
      (&&) (check_times f t)
        ((||) ((||) (negb f.delivers) (negb (f.multicast t)))
          (check_group f k t))) f.lids)

(** val check_classes : fabric -> certificate -> (int -> int) -> bool **)

let check_classes f k like =
  check_on_alike f k nothing_gone like

(** val check_change_classes :
    fabric -> (int -> int -> bool) -> ((period * certificate) * (int -> int))
    list -> bool **)

let rec check_change_classes f gone = function
| [] -> true
| p0 :: r ->
  let (p1, like) = p0 in
  let (p, k) = p1 in
  (&&)
    ((&&) (check_on_alike (put f p) k gone like)
      (match r with
       | [] -> true
       | p2 :: _ ->
         let (p3, _) = p2 in let (p', _) = p3 in continues f gone p p'))
    (check_change_classes f gone r)
