#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# usage: planted.bash DATELINE OUT [WORDS]
#
# Plants one error at a time in the definitions, and compiles the proofs that go by
# them.  Where they still pass, conform has to find a difference.  OUT has the proofs
# compiled.  WORDS: only errors with these words.  Prints a line for each error; status 0
# if all were found.  A file that does not even read is no error found.
set -uo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
DATELINE=$1
OUT=$(cd "$2" && pwd)
WORDS=${3:-}
missed=0

# compiled DIR FILE...: the first file that fails, if one does.
compiled() {
	local dir=$1 file

	shift
	for file; do
		(cd "$dir" && nice coqc -q -Q . Dateline "$file.v") >"$dir/log" 2>&1 || {
			printf '%s.v fails: %s\n' "$file" \
				"$(sed -n '/^Error/,$p' "$dir/log" | tr -s ' \n' ' ' | cut -c 1-60)"
			grep -qE 'yntax error|inconsistent assumptions|Cannot find a physical' \
				"$dir/log" && return 2
			return 1
		}
	done
}

# plant WHAT FILE FROM TO: FILE.v with TO in place of FROM, once.
plant() {
	local what=$1 file=$2 from=$3 to=$4 dir=$OUT/planted found status
	local -a after

	[[ $what == *"$WORDS"* ]] || return 0
	rm -rf "$dir" && mkdir "$dir"
	cp -p "$OUT"/[A-Z]*.v* "$dir"
	rm -f "$dir"/{Closed,Model}*
	cp "$HERE/Model.v" "$dir"
	python3 - "$HERE/$file.v" "$dir/$file.v" "$from" "$to" <<'PY' || { missed=$((missed + 1)); return; }
import sys
text = open(sys.argv[1]).read()
if text.count(sys.argv[3]) != 1:
    sys.exit(f"not once in {sys.argv[1]}: {sys.argv[3]}")
open(sys.argv[2], "w").write(text.replace(sys.argv[3], sys.argv[4]))
PY
	case $file in
	Dor) after=(Dor Torus Anysl Broken Multicast Early Claim Model) ;;
	Torus) after=(Torus Anysl Broken Multicast Early Claim Model) ;;
	Anysl) after=(Anysl Broken Early Claim Model) ;;
	Broken) after=(Broken Early Claim Model) ;;
	Early) after=(Early Claim Model) ;;
	Multicast | Claim) after=("$file" Model) ;;
	Transition) after=(Transition Checker Change) ;;
	Checker) after=(Checker Change) ;;
	Service | Credit) after=("$file" Model) ;;
	*) after=("$file") ;;
	esac
	found=$(compiled "$dir" "${after[@]}") && status=0 || status=$?
	if ((status == 0)); then
		found=$(bash "$HERE/conform.bash" "$DATELINE" "$dir" few)
		[[ $found == *differs:* ]] || {
			printf '%s: MISSED\n' "$what"
			missed=$((missed + 1))
			return
		}
	fi
	((status != 2)) || missed=$((missed + 1))
	printf '%s: %s\n' "$what" "${found##*$'\n'}"
}

plant "ties the other way" Torus 'co (dst p) d <? a.' 'a <? co (dst p) d.'
plant "a VL forgotten: paths that wrap share one with those that do not" Torus \
	'(if bit d p then 1 else 0)' '(if bit d p then 0 else 0)'
plant "a dateline moved, in the SL" Torus \
	'(if m then s <? t else t <? s)' '(if m then s <=? t + 1 else t <? s)'
plant "a dateline moved, in the numbers of any SL" Anysl \
	'(Z.of_nat (co (dst p) d) + wrap d p <?' '(Z.of_nat (S (co (dst p) d)) + wrap d p <?'
plant "a turn allowed: from a later dimension to an earlier one" Dor \
	'if a =? b then option_map S (differ v w) else Some 0' \
	'match differ v w with Some d => Some (S d) | None => if a =? b then None else Some 0 end'
plant "the longer way round" Torus 'else k <? 2 * ahead k a t.' 'else 2 * ahead k a t <? k.'
plant "the SL bit of another dimension" Torus '(sl / 2 ^ d) mod 2' '(sl / 2 ^ (2 - d)) mod 2'
plant "one VL for any SL where there are two" Anysl \
	'4 * level p + (if two then 1 else 0)' '4 * level p + (if two then 0 else 0)'
plant "balanced ties by the LID alone" Torus 'Nat.odd (later d (dst p) + tag p)' 'Nat.odd (tag p)'
plant "the missing cable of a broken ring is another one" Broken \
	'ahead k (hop k false x) a.' 'ahead k x a.'
plant "the wrong ring is broken: its later coordinates are those of the destination" Dor \
	'firstn d (dst p) ++ 0 :: skipn (S d) (src p)' 'firstn d (dst p) ++ 0 :: skipn (S d) (dst p)'
plant "an illegal turn without its VL bit" Early 'if from_y then 2 else 0' 'if from_y then 0 else 0'
plant "a turn two switches early" Early \
	'(hop kx (towards p x) x =? a).' '(hop kx (towards p x) (hop kx (towards p x) x) =? a).'
plant "a branch may cross the dateline" Multicast \
	'(if minus c then co (at_ c) (dim c) <> 0 else' '(if minus c then True else'
plant "a branch may run along x outside of the root row" Multicast \
	'(forall e, dim c < e < D -> co (at_ c) e = co root e)' \
	'(forall e, S (dim c) < e < D -> co (at_ c) e = co root e)'
plant "a worm enters anywhere" Worm \
	'q p = [] -> inject T p c -> free q c' 'q p = [] -> free q c'
plant "a packet that need not fit into the buffer" Net 'fits : forall p c, size p <= cap c.' \
	'fits : forall p c, size p <= S (cap c).'
plant "the checker takes ranks that stay equal" Checker \
	'(rank k s o w <? r)' '(rank k s o w <=? r)'
plant "the checker does not look at VL 15" Checker \
	'if w =? no_vl then negb (delivers f)' 'if w =? no_vl then true'
plant "old packets may have used a closed entry" Transition \
	'| b :: h => In c (next M b p) /\ came_by_M p b h' '| b :: h => came_by_M p b h'
plant "a packet that went on before the entry changed is forgotten" Transition \
	'ComesBefore T h p c : comes h p c ->' 'ComesBefore T h p c : inject T p c ->'
plant "what waited in a step before does not wait now" Transition \
	'HeldBefore T h c d : held h c d -> held (T :: h) c d' \
	'HeldBefore T h c d : held h c d -> held (T :: h) d c'
plant "the checker does not keep packets from stage to stage" Checker \
	'check_kept j t s o && check_output m j t s o' 'check_output m j t s o'
plant "the checker forgets outputs of earlier stages" Checker \
	'joined_outputs (outputs j s t) (so_far i s t)' 'outputs j s t'
plant "the checker looks for ranks that fall towards failed cables only" Checker \
	'negb (leads s o) || gone s o ||' 'negb (leads s o) || negb (gone s o) ||'
plant "packets that have crossed a failed cable are forgotten" Checker \
	'(fun p c => uses (net 0) p c)' '(fun p c => inject (net_left 0) p c)'
plant "a packet may wait for a failed cable" Change \
	'In d (todo i) -> stays gone d = true) -> carried' 'In d (todo i) -> True) -> carried'
plant "a period may begin with other maps than the one before ended with" Change \
	'(maps_at p t j =? maps_at p'"'"' t i) && ' ''
plant "a period is judged without its neighbour" Change \
	'=> continues f gone p p'"'"' end' '=> true end'
plant "a LID is like one that no checker has judged" Alike \
	'(like r =? r) && ' ''
plant "a LID is like one of another switch" Alike '(fst (home f r) =? fst (home f t)) &&' ''
plant "the last hop to a LID is that to the one that it is like" Alike \
	'negb (s'"'"' =? h) || check_output' '(s'"'"' =? h) || check_output'
plant "a LID is like one of other SLs" Alike \
	'forallb (fun i => sls f s i t =? sls f s i r) (sources f s).' 'true.'
plant "a switch is not judged again where only sets of packets change" Alike \
	'begins (written (fst x) t s) j || begins (found (snd x) (like t) s) j' 'begins (written (fst x) t s) j'
plant "nor one before a switch at which something changes" Alike \
	'=> negb (rests t s'"'"')' '=> false && rests t s'"'"''
plant "nor what comes to such a switch in a stage" Alike \
	'=> new s'"'"' |' '=> false && new s'"'"' |'
plant "other maps go unnoticed" Alike \
	'let fresh := match j with 0 => true | S i => negb (maps g t j =? maps g t i)' \
	'let fresh := match j with 0 => true | S i => false'
plant "with other maps only some switches are judged" Alike \
	'if fresh && negb (maps g t j =? maps f t 0) then' 'if fresh && false then'
plant "the steps of a period are not judged by its ranks" Alike 'negb (counts c n) ||' 'counts c n ||'
plant "a period begins with other maps than the one before ends with, where LIDs move" Alike \
	'(maps g t j =? maps g'"'"' t i) && ' ''
plant "a LID moves like one with other writes" Alike \
	'same_written (written (fst x) t s) (written (fst x) r s) &&' ''
plant "a LID moves like one that moves elsewhere" Alike \
	'check_away t r s && Bool.eqb (moving_at what t s) (moving_at what r s)' 'check_away t r s'
plant "a LID that moves at its own switch is like another one" Alike \
	'if negb (near t s) && check_place' 'if check_place'
plant "a LID has more stages than the one that it moves like" Alike \
	'(last_stage g t <=? last_stage g r) &&' ''
plant "a LID that moves is like one that does not" Alike 'moving what r && (h' '(h'
plant "tables that must deliver may move" Alike 'negb (delivers f) && (like t =? t) &&' '(like t =? t) &&'
plant "an entry may change in no time" Six \
	'e i t a = Old -> e (S i) t a <> New' 'e i t a = Old -> e (S i) t a = e (S i) t a'
plant "the ring of six without its dateline" Six 'if wraps false (shorter t s) s t then 1 else 0' '0'
plant "a switch beside the hole counts as missing" Early 'ahead ky b y <? holes.' 'ahead ky b y <=? holes.'
plant "the hole is past one switch early" Early \
	'if b + holes - 1 <? ky then b + holes - 1 else' 'if b + holes - 1 <? ky then b else'
plant "a root next to the dateline, with any SL" Anygroup \
	'most d <= co root d /\ co root d + most d < radix d' 'co root d < radix d'
plant "a branch may cross the dateline, with any SL" Anygroup \
	'(if minus c then co (at_ c) (dim c) <> 0 else co (at_ c) (dim c) <> radix (dim c) - 1).' 'True.'
plant "a test of trees that lets branches cross the dateline" Multicast \
	'negb (co (at_ c) (dim c) =? if minus c then 0 else radix (dim c) - 1)' 'true'
plant "the tree leaves out the broken column" Claim '(cx c =? 3) ||' 'negb (cx c =? 3) &&'
plant "copies that turn from y into x stay on VL 0" Claim \
	'[Channel false false (if from_y then 2 else 0) x y;' '[Channel false false 0 x y;'
plant "a copy may go back along the tree" Tree \
	'from d = to c /\ child d <> child c.' 'from d = to c.'
plant "up after down" Tree \
	'place (head d) <> place (tail d) /\ (goes_up d = true -> goes_up c = true)' 'place (head d) <> place (tail d)'
plant "a packet comes no further than its first channel" Net \
	'| UseNext c d : uses T p c -> In d' '| UseNext c d : inject T p c -> In d'
plant "ranks that stay equal for what drains" Drain \
	'In d (next T c p) -> may p d /\ rank d < rank c.' 'In d (next T c p) -> may p d /\ rank d <= rank c.'
plant "a buffer takes one packet too many" Fair \
	'inject T p c -> length (q c) < cap c ->' 'inject T p c -> length (q c) <= cap c ->'
plant "an entry passed keeps what is left of its weight" Service \
	'else visit n (rest ++ [reloaded e])' 'else visit n (rest ++ [e])'
plant "the high table goes on below zero" Service \
	'(counter p <? 0)%Z || match' '(counter p <? -1)%Z || match'
plant "the counter is not loaded for the low table" Service \
	'Port (high p) (charged e rest) n)' 'Port (high p) (charged e rest) (counter p))'
plant "bytes are not rounded up to blocks" Service '(bytes e + 63) / 64' '(bytes e + 62) / 64'
plant "limit 255 counts" Service 'if (limit =? 255)%Z then n else n - words e' 'n - words e'
plant "a sender that may exceed its limit by a block" Credit \
	'((c - (f + n)) mod M <=? half)' '((c - (f + n) + 1) mod M <=? half)'
plant "a chunk shared by two packets" Credit '(n + chunk - 1) / chunk' 'n / chunk'
plant "credit for all free chunks, above 2048" Credit \
	'Some (Link f c a u d (b ++ [(a + Z.min (room - u) half) mod M]))' \
	'Some (Link f c a u d (b ++ [(a + (room - u)) mod M]))'
plant "a receiver that keeps its count when it hears that of the sender" Credit \
	'Some (Link f c v u d b)' 'Some (Link f c a u d b)'
plant "credit that counts packets under way as free" Credit \
	'Some (Pcie t (alloc - (t - v) mod counter) f h w m)' 'Some (Pcie t (alloc - (f - v) mod counter) f h w m)'
rm -rf "$OUT/planted"
printf '%d missed\n' "$missed"
((missed == 0))
