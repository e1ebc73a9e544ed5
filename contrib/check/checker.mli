
val negb : bool -> bool

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2



module Nat :
 sig
  val ltb : int -> int -> bool
 end

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

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

val pair_eqb : pair -> pair -> bool

val below : int -> (int -> bool) -> bool

val no_vl : int

val vl_of : fabric -> int -> int -> int -> int -> int

val copies : fabric -> int -> int -> int -> int list

val leads : fabric -> int -> int -> bool

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

val check_merged : fabric -> certificate -> bool

val crosses : fabric -> certificate -> int -> int -> int -> int -> int -> bool

val check_step : fabric -> certificate -> step -> bool

val check_start : fabric -> certificate -> start -> bool

val has_step : certificate -> int -> int -> int -> int -> int -> bool

val has_start : certificate -> int -> int -> int -> int -> int -> bool

val goes_home : fabric -> int -> int -> bool

val check_source : fabric -> certificate -> int -> int -> int -> bool

val check_output : fabric -> certificate -> int -> int -> int -> bool

val check_lid : fabric -> certificate -> int -> bool

val check_cable : fabric -> int -> int -> int -> bool

val check_joined : fabric -> certificate -> int -> int -> bool

val check_group : fabric -> certificate -> int -> bool

val check : fabric -> certificate -> bool
