
val negb : bool -> bool

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2



val pred : int -> int



val eqb : bool -> bool -> bool

module Nat :
 sig
  val ltb : int -> int -> bool
 end

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val seq : int -> int -> int list

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

val outputs : fabric -> int -> int -> int -> int list

val maps : fabric -> int -> int -> int

val stage_of : fabric -> int -> int -> int

type pair = int * int

val pair_eqb : pair -> pair -> bool

val below : int -> (int -> bool) -> bool

val no_vl : int

val vl_of : fabric -> int -> int -> int

val vls_of : fabric -> int -> int -> int -> int -> int -> int list

val copies : fabric -> int -> int -> int -> int -> int list

val leads : fabric -> int -> int -> bool

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

val check_merged : fabric -> certificate -> bool

val crosses :
  fabric -> certificate -> int -> int -> int -> int -> int -> int -> bool

val falls :
  fabric -> certificate -> (int -> int -> bool) -> int -> int -> int -> int
  -> int -> int -> bool

val check_step : fabric -> certificate -> (int -> int -> bool) -> step -> bool

val check_start : fabric -> certificate -> start -> bool

val has_step :
  certificate -> int -> int -> int -> int -> int -> int -> int -> bool

val has_start :
  certificate -> int -> int -> int -> int -> int -> int -> int -> bool

val goes_home : fabric -> int -> int -> int -> bool

val check_source :
  fabric -> certificate -> int -> int -> int -> int -> int -> bool

val check_output :
  fabric -> certificate -> int -> int -> int -> int -> int -> bool

val joined_outputs : int list -> int list -> int list

val so_far : fabric -> int -> int -> int -> int list

val check_kept : certificate -> int -> int -> int -> int -> bool

val check_stage : fabric -> certificate -> int -> int -> int -> int -> bool

val last_stage : fabric -> int -> int

val check_times : fabric -> int -> bool

val check_cable : fabric -> int -> int -> int -> int -> bool

val check_joined : fabric -> certificate -> int -> int -> int -> bool

val check_group : fabric -> certificate -> int -> bool

val nothing_gone : int -> int -> bool

val put : fabric -> period -> fabric

val same_list : int list -> int list -> bool

val latest : (int * 'a1) list -> int -> (int * 'a1) option

val begins : (int * 'a1) list -> int -> bool

type moves = { moving : (int -> bool); moving_at : (int -> int -> bool) }

type writes = { times : int; stages : (int -> int -> int);
                maps_in : (int -> int -> int);
                written : (int -> int -> (int * int list) list) }

val outputs_in : fabric -> moves -> writes -> int -> int -> int -> int list

val period_of : fabric -> moves -> writes -> period

val nothing : moves

val still : writes

type findings = { rank_in : (int -> int -> int -> int);
                  found : (int -> int -> (int * (int -> int)) list);
                  find_in : (int -> int -> int -> int -> int -> int -> int);
                  counts_in : (int -> bool) }

type part = writes * findings

val shared : certificate -> (int -> int) -> certificate

val set_in :
  certificate -> (int -> int) -> moves -> (int -> int -> bool) -> part -> int
  -> int -> int -> int -> int

val counts_here : certificate -> part -> int -> bool

val here :
  certificate -> (int -> int) -> moves -> (int -> int -> bool) -> part ->
  certificate

val tables_of : fabric -> moves -> part -> fabric

val rests :
  (int -> int) -> moves -> (int -> int -> bool) -> int -> int -> bool

val near :
  fabric -> (int -> int) -> moves -> (int -> int -> bool) -> int -> int ->
  bool

val check_place :
  fabric -> certificate -> int -> int -> int -> int -> (int -> bool) -> int
  -> bool

val begins_at : (int -> int) -> part -> int -> int -> int -> bool

val check_near :
  fabric -> (int -> int) -> fabric -> certificate -> part -> int -> int ->
  int -> int list -> int -> bool

val check_next :
  (int -> int -> bool) -> int -> int list -> ((part * fabric) * certificate)
  list -> bool

val check_far :
  fabric -> (int -> int) -> moves -> (int -> int -> bool) -> certificate ->
  int -> int -> int -> int -> int list option

val check_moving :
  fabric -> (int -> int -> bool) -> (int -> int) -> moves -> (int -> int ->
  bool) -> ((part * fabric) * certificate) list -> certificate -> int -> int
  -> int -> bool

val check_kin : fabric -> (int -> int) -> int -> int -> bool

val check_away : fabric -> int -> int -> int -> bool

val check_hops :
  fabric -> fabric -> certificate -> int -> int -> int -> int -> int -> bool

val check_alike :
  fabric -> (int -> int) -> certificate -> int -> int -> int -> int -> bool

val check_far_alike :
  fabric -> (int -> int) -> moves -> (int -> int -> bool) -> certificate ->
  int -> int -> int -> int -> int -> int -> int list option

val same_written : (int * int list) list -> (int * int list) list -> bool

val check_moving_alike :
  fabric -> (int -> int -> bool) -> (int -> int) -> moves -> (int -> int ->
  bool) -> ((part * fabric) * certificate) list -> certificate -> int -> int
  -> int -> int -> bool

val check_lid :
  fabric -> (int -> int -> bool) -> (int -> int) -> moves -> (int -> int ->
  bool) -> ((part * fabric) * certificate) list -> certificate -> int -> int
  -> int -> bool

val check_ranks :
  fabric -> (int -> int -> bool) -> certificate ->
  ((part * fabric) * certificate) list -> certificate -> int -> bool

val check_lids :
  fabric -> (int -> int -> bool) -> certificate -> (int -> int) -> moves ->
  (int -> int -> bool) -> ((part * fabric) * certificate) list -> certificate
  -> int -> int -> int list -> bool

val check_parts :
  fabric -> (int -> int -> bool) -> certificate -> (int -> int) -> moves ->
  (int -> int -> bool) -> part list -> bool

val check_plan :
  fabric -> (int -> int -> bool) -> certificate -> (int -> int) -> moves ->
  (int -> int -> bool) -> part list -> bool

val check_classes : fabric -> certificate -> (int -> int) -> bool
