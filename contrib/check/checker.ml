
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



(** val pred : int -> int **)

let pred = fun n -> Stdlib.max 0 (n-1)



(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

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

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

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
                                 int); counts : (int -> bool);
                     n_starts : (int -> int -> int);
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
  (&&) ((&&) (Nat.ltb n m) (k.counts n))
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

(** val latest : (int * 'a1) list -> int -> (int * 'a1) option **)

let latest l j =
  find (fun x -> (<=) (fst x) j) l

(** val begins : (int * 'a1) list -> int -> bool **)

let begins l j =
  existsb (fun x -> (=) (fst x) j) l

type moves = { moving : (int -> bool); moving_at : (int -> int -> bool) }

type writes = { times : int; stages : (int -> int -> int);
                maps_in : (int -> int -> int);
                written : (int -> int -> (int * int list) list) }

(** val outputs_in :
    fabric -> moves -> writes -> int -> int -> int -> int list **)

let outputs_in f v w j s t =
  if (&&) (v.moving t) (v.moving_at t s)
  then (match latest (w.written t s) j with
        | Some x -> snd x
        | None -> outputs f 0 s t)
  else outputs f 0 s t

(** val period_of : fabric -> moves -> writes -> period **)

let period_of f v w =
  { n_times = w.times; stage = (fun t i ->
    if v.moving t then w.stages t i else 0); maps_at = (fun t j ->
    if v.moving t then w.maps_in t j else maps f t 0); outputs_at =
    (outputs_in f v w) }

(** val nothing : moves **)

let nothing =
  { moving = (fun _ -> false); moving_at = (fun _ _ -> false) }

(** val still : writes **)

let still =
  { times = (Stdlib.Int.succ 0); stages = (fun _ _ -> 0); maps_in =
    (fun _ _ -> 0); written = (fun _ _ -> []) }

type findings = { rank_in : (int -> int -> int -> int);
                  found : (int -> int -> (int * (int -> int)) list);
                  find_in : (int -> int -> int -> int -> int -> int -> int);
                  counts_in : (int -> bool) }

type part = writes * findings

(** val shared : certificate -> (int -> int) -> certificate **)

let shared k like =
  { rank = k.rank; merged = k.merged; set = k.set; set_at = (fun t _ s o ->
    k.set_at (like t) 0 s o); n_steps = k.n_steps; nth_step = k.nth_step;
    find_step = k.find_step; counts = k.counts; n_starts = k.n_starts;
    nth_start = k.nth_start; find_start = k.find_start; root = k.root; up =
    k.up; depth = k.depth }

(** val set_in :
    certificate -> (int -> int) -> moves -> (int -> int -> bool) -> part ->
    int -> int -> int -> int -> int **)

let set_in k like what found_at x t j s o =
  if (&&) (what.moving t) (found_at (like t) s)
  then (match latest ((snd x).found (like t) s) j with
        | Some y -> snd y o
        | None -> k.set_at (like t) 0 s o)
  else k.set_at (like t) 0 s o

(** val counts_here : certificate -> part -> int -> bool **)

let counts_here k x n =
  (||) (k.counts n) ((snd x).counts_in n)

(** val here :
    certificate -> (int -> int) -> moves -> (int -> int -> bool) -> part ->
    certificate **)

let here k like what found_at x =
  { rank = (snd x).rank_in; merged = k.merged; set = k.set; set_at =
    (set_in k like what found_at x); n_steps = k.n_steps; nth_step =
    k.nth_step; find_step = (snd x).find_in; counts = (counts_here k x);
    n_starts = k.n_starts; nth_start = k.nth_start; find_start =
    k.find_start; root = k.root; up = k.up; depth = k.depth }

(** val tables_of : fabric -> moves -> part -> fabric **)

let tables_of f what x =
  put f (period_of f what (fst x))

(** val rests :
    (int -> int) -> moves -> (int -> int -> bool) -> int -> int -> bool **)

let rests like what found_at t s =
  (&&) (negb (what.moving_at t s)) (negb (found_at (like t) s))

(** val near :
    fabric -> (int -> int) -> moves -> (int -> int -> bool) -> int -> int ->
    bool **)

let near f like what found_at t s =
  (||) (negb (rests like what found_at t s))
    (existsb (fun o ->
      match f.far_end s o with
      | Some p -> let (s', _) = p in negb (rests like what found_at t s')
      | None -> false) (outputs f 0 s t))

(** val check_place :
    fabric -> certificate -> int -> int -> int -> int -> (int -> bool) -> int
    -> bool **)

let check_place g c m n j t new0 s =
  let h = new0 s in
  (&&) ((||) (negb h) (forallb (check_source g c n j t s) (g.sources s)))
    (forallb (fun o ->
      (&&) ((||) (negb h) (check_kept c j t s o))
        ((||)
          (negb
            ((||) h
              (match g.far_end s o with
               | Some p -> let (s', _) = p in new0 s'
               | None -> false))) (check_output g c m j t s o)))
      (so_far g j s t))

(** val begins_at : (int -> int) -> part -> int -> int -> int -> bool **)

let begins_at like x t s j =
  (||) (begins ((fst x).written t s) j) (begins ((snd x).found (like t) s) j)

(** val check_near :
    fabric -> (int -> int) -> fabric -> certificate -> part -> int -> int ->
    int -> int list -> int -> bool **)

let check_near f like g c x m n t l j =
  let fresh =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> true)
      (fun i -> negb ((=) (maps g t j) (maps g t i)))
      j
  in
  let new0 = fun s -> (||) fresh (begins_at like x t s j) in
  if (&&) fresh (negb ((=) (maps g t j) (maps f t 0)))
  then below f.n_switches (check_place g c m n j t new0)
  else forallb (check_place g c m n j t new0) l

(** val check_next :
    (int -> int -> bool) -> int -> int list ->
    ((part * fabric) * certificate) list -> bool **)

let rec check_next gone t near0 = function
| [] -> true
| p :: r ->
  let (p0, _) = p in
  let (_, g) = p0 in
  (match r with
   | [] -> true
   | p2 :: _ ->
     let (p3, _) = p2 in
     let (_, g') = p3 in
     let j = stage_of g t (pred g.now.n_times) in
     let i = stage_of g' t 0 in
     (&&)
       ((&&) ((=) (maps g t j) (maps g' t i))
         (forallb (fun s ->
           forallb (fun o ->
             (||) (gone s o) (existsb ((=) o) (outputs g' i s t)))
             (outputs g j s t)) near0)) (check_next gone t near0 r))

(** val check_far :
    fabric -> (int -> int) -> moves -> (int -> int -> bool) -> certificate ->
    int -> int -> int -> int -> int list option **)

let rec check_far f like what found_at c m n t s =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> Some [])
    (fun s0 ->
    if near f like what found_at t s0
    then (match check_far f like what found_at c m n t s0 with
          | Some l -> Some (s0 :: l)
          | None -> None)
    else if check_place f c m n 0 t (fun _ -> true) s0
         then check_far f like what found_at c m n t s0
         else None)
    s

(** val check_moving :
    fabric -> (int -> int -> bool) -> (int -> int) -> moves -> (int -> int ->
    bool) -> ((part * fabric) * certificate) list -> certificate -> int ->
    int -> int -> bool **)

let check_moving f gone like what found_at parts c m n t =
  (&&) ((&&) (negb f.delivers) ((=) (like t) t))
    (match check_far f like what found_at c m n t f.n_switches with
     | Some some ->
       (&&)
         (forallb (fun p ->
           let (y, c0) = p in
           let (x, g) = y in
           (&&) (check_times g t)
             (forallb (check_near f like g c0 x m n t some)
               (seq 0 (Stdlib.Int.succ (last_stage g t))))) parts)
         (check_next gone t some parts)
     | None -> false)

(** val check_kin : fabric -> (int -> int) -> int -> int -> bool **)

let check_kin f like t r =
  (&&)
    ((&&)
      ((&&)
        ((&&) ((&&) ((=) (like r) r) (existsb ((=) r) f.lids))
          ((=) (fst (f.home r)) (fst (f.home t)))) (negb (f.multicast t)))
      (negb (f.multicast r))) ((=) (maps f t 0) (maps f r 0))

(** val check_away : fabric -> int -> int -> int -> bool **)

let check_away f t r s =
  (&&) (same_list (outputs f 0 s t) (outputs f 0 s r))
    (forallb (fun i -> (=) (f.sls s i t) (f.sls s i r)) (f.sources s))

(** val check_hops :
    fabric -> fabric -> certificate -> int -> int -> int -> int -> int -> bool **)

let check_hops f g c m j t h s =
  forallb (fun o ->
    match f.far_end s o with
    | Some p ->
      let (s', _) = p in (||) (negb ((=) s' h)) (check_output g c m j t s o)
    | None -> true) (so_far g j s t)

(** val check_alike :
    fabric -> (int -> int) -> certificate -> int -> int -> int -> int -> bool **)

let check_alike f like c m n t r =
  let h = fst (f.home t) in
  (&&) (check_kin f like t r)
    (below f.n_switches (fun s ->
      if (=) s h
      then (&&) (forallb (check_source f c n 0 t s) (f.sources s))
             (forallb (check_output f c m 0 t s) (outputs f 0 s t))
      else (&&) (check_away f t r s) (check_hops f f c m 0 t h s)))

(** val check_far_alike :
    fabric -> (int -> int) -> moves -> (int -> int -> bool) -> certificate ->
    int -> int -> int -> int -> int -> int -> int list option **)

let rec check_far_alike f like what found_at c m n t r h s =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> Some [])
    (fun s0 ->
    if (=) s0 h
    then if (&&) (negb (near f like what found_at t s0))
              (check_place f c m n 0 t (fun _ -> true) s0)
         then check_far_alike f like what found_at c m n t r h s0
         else None
    else if (&&) (check_away f t r s0)
              (eqb (what.moving_at t s0) (what.moving_at r s0))
         then if near f like what found_at t s0
              then (match check_far_alike f like what found_at c m n t r h s0 with
                    | Some l -> Some (s0 :: l)
                    | None -> None)
              else if check_hops f f c m 0 t h s0
                   then check_far_alike f like what found_at c m n t r h s0
                   else None
         else None)
    s

(** val same_written :
    (int * int list) list -> (int * int list) list -> bool **)

let rec same_written l m =
  match l with
  | [] -> (match m with
           | [] -> true
           | _ :: _ -> false)
  | x :: l0 ->
    (match m with
     | [] -> false
     | y :: m0 ->
       (&&) ((&&) ((=) (fst x) (fst y)) (same_list (snd x) (snd y)))
         (same_written l0 m0))

(** val check_moving_alike :
    fabric -> (int -> int -> bool) -> (int -> int) -> moves -> (int -> int ->
    bool) -> ((part * fabric) * certificate) list -> certificate -> int ->
    int -> int -> int -> bool **)

let check_moving_alike f gone like what found_at parts c m n t r =
  let h = fst (f.home t) in
  (&&)
    ((&&)
      ((&&) ((&&) (negb f.delivers) (what.moving r)) (Nat.ltb h f.n_switches))
      (check_kin f like t r))
    (match check_far_alike f like what found_at c m n t r h f.n_switches with
     | Some some ->
       (&&)
         (forallb (fun p ->
           let (y, c0) = p in
           let (x, g) = y in
           (&&)
             ((&&)
               ((&&) (check_times g t)
                 ((<=) (last_stage g t) (last_stage g r)))
               (forallb (fun j ->
                 (&&) ((=) (maps g t j) (maps f t 0))
                   ((=) (maps g r j) (maps f t 0)))
                 (seq 0 (Stdlib.Int.succ (last_stage g t)))))
             (forallb (fun s ->
               (&&)
                 (same_written ((fst x).written t s) ((fst x).written r s))
                 (forallb (fun j ->
                   (||) (negb ((||) ((=) j 0) (begins_at like x t s j)))
                     (check_hops f g c0 m j t h s))
                   (seq 0 (Stdlib.Int.succ (last_stage g t))))) some)) parts)
         (check_next gone t some parts)
     | None -> false)

(** val check_lid :
    fabric -> (int -> int -> bool) -> (int -> int) -> moves -> (int -> int ->
    bool) -> ((part * fabric) * certificate) list -> certificate -> int ->
    int -> int -> bool **)

let check_lid f gone like what found_at parts c m n t =
  if what.moving t
  then if (=) (like t) t
       then check_moving f gone like what found_at parts c m n t
       else check_moving_alike f gone like what found_at parts c m n t
              (like t)
  else (&&)
         (if (=) (like t) t
          then below f.n_switches (check_place f c m n 0 t (fun _ -> true))
          else (&&) (negb (what.moving (like t)))
                 (check_alike f like c m n t (like t)))
         ((||) ((||) (negb f.delivers) (negb (f.multicast t)))
           (check_group (put f (period_of f nothing still)) c t))

(** val check_ranks :
    fabric -> (int -> int -> bool) -> certificate ->
    ((part * fabric) * certificate) list -> certificate -> int -> bool **)

let check_ranks f gone k parts c n =
  let x = k.nth_step n in
  (match f.far_end x.at_ x.out with
   | Some p ->
     let (s, i) = p in
     forallb (fun lv ->
       (&&) (crosses f c x.hop_maps s i x.next_out (fst lv) x.to0)
         (forallb (fun p0 ->
           let c0 = snd p0 in
           (||) (negb (c0.counts n))
             (falls f c0 gone x.hop_maps s i x.next_out (fst lv)
               (c0.rank x.at_ x.out (snd lv)))) parts)) (k.set x.from)
   | None -> false)

(** val check_lids :
    fabric -> (int -> int -> bool) -> certificate -> (int -> int) -> moves ->
    (int -> int -> bool) -> ((part * fabric) * certificate) list ->
    certificate -> int -> int -> int list -> bool **)

let rec check_lids f gone k like what found_at parts c a b = function
| [] ->
  (&&) (below a (check_ranks f gone k parts c))
    (below b (fun x -> check_start f c (k.nth_start x)))
| t :: ts0 ->
  let m = k.n_steps t 0 in
  let n = k.n_starts t 0 in
  (&&) (check_lid f gone like what found_at parts c m n t)
    (check_lids f gone k like what found_at parts c (Stdlib.max a m)
      (Stdlib.max b n) ts0)

(** val check_parts :
    fabric -> (int -> int -> bool) -> certificate -> (int -> int) -> moves ->
    (int -> int -> bool) -> part list -> bool **)

let check_parts f gone k like what found_at l =
  let c = shared k like in
  (&&) (check_merged f c)
    (check_lids f gone k like what found_at
      (map (fun x -> ((x, (tables_of f what x)),
        (here k like what found_at x))) l) c 0 0 f.lids)

(** val check_plan :
    fabric -> (int -> int -> bool) -> certificate -> (int -> int) -> moves ->
    (int -> int -> bool) -> part list -> bool **)

let check_plan =
  check_parts

(** val check_classes : fabric -> certificate -> (int -> int) -> bool **)

let check_classes f k like =
  check_parts f nothing_gone k like nothing (fun _ _ -> false) ((still,
    { rank_in = k.rank; found = (fun _ _ -> []); find_in = k.find_step;
    counts_in = k.counts }) :: [])
