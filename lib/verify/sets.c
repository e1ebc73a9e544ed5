/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sets of packets.
 *
 * Problem.  The check follows, for every destination, all packets that share
 * a link.  For credit loops only two properties of a packet matter: its SL,
 * which decides all that is to come, and the VL on which it travels, which
 * the port pair of the switch before has decided.  A link thus carries a set
 * of (SL, VL) pairs, 256 bits.  A torus of 4096 switches has some 16 million
 * (link, destination) pairs, yet only some dozens of distinct sets.
 *
 * Invariants.  Equal sets have equal numbers; number 0 is the empty set.  The
 * caches are direct-mapped and only save work: a slot is overwritten by the
 * next key that falls on it.  A free slot has the key (set 0, row 0),
 * whose answer, nothing, is what zeroed memory says.
 *
 * Complexity.  A cached answer costs one comparison of two words.  Tables
 * made to have as many sets as possible cost a pass over at most 256 bits a
 * step, and one set of 32 bytes a link and destination, forgotten between
 * destinations (dl_verify_sets_clear()).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/internal.h"

#define FIRST_SETS 1024

int dl_verify_sets_init(struct dl_verify_sets *s, const dl_tables_sl2vl_row *rows, unsigned int nvl)
{
	memset(s, 0, sizeof(*s));
	s->rows = rows;
	s->nvl = nvl;
	s->cap = FIRST_SETS;
	s->table_size = 2 * FIRST_SETS;
	s->sets = malloc(s->cap * sizeof(*s->sets));
	s->transitions = malloc(s->cap * sizeof(*s->transitions));
	s->table = malloc(s->table_size * sizeof(*s->table));
	s->steps = malloc(DL_VERIFY_STEP_SLOTS * sizeof(*s->steps));
	s->unions = malloc(DL_VERIFY_UNION_SLOTS * sizeof(*s->unions));
	if (!s->sets || !s->transitions || !s->table || !s->steps || !s->unions) {
		dl_verify_sets_release(s);
		return -ENOMEM;
	}
	dl_verify_sets_clear(s);
	return 0;
}

void dl_verify_sets_release(struct dl_verify_sets *s)
{
	free(s->sets);
	free(s->transitions);
	free(s->table);
	free(s->steps);
	free(s->unions);
	memset(s, 0, sizeof(*s));
}

void dl_verify_sets_clear(struct dl_verify_sets *s)
{
	memset(s->sets, 0, sizeof(*s->sets));
	memset(s->transitions, 0, sizeof(*s->transitions));
	memset(s->table, 0, s->table_size * sizeof(*s->table));
	memset(s->steps, 0, DL_VERIFY_STEP_SLOTS * sizeof(*s->steps));
	memset(s->unions, 0, DL_VERIFY_UNION_SLOTS * sizeof(*s->unions));
	s->n = 1;
}

static uint32_t hash_set(const struct dl_verify_set *set)
{
	uint64_t h = 0;

	for (unsigned int i = 0; i < 4; i++) {
		h = (h ^ set->w[i]) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 29;
	}
	return h >> 16;
}

static uint32_t *find_slot(struct dl_verify_sets *s, const struct dl_verify_set *set)
{
	uint32_t at = hash_set(set) & (s->table_size - 1);

	while (s->table[at] && memcmp(&s->sets[s->table[at]], set, sizeof(*set)))
		at = (at + 1) & (s->table_size - 1);
	return &s->table[at];
}

static struct dl_verify_transitions transitions_of(const struct dl_verify_set *set)
{
	uint64_t any = set->w[0] | set->w[1] | set->w[2] | set->w[3];
	struct dl_verify_transitions transitions = { .vls = 0 };

	any |= any >> 32;
	transitions.sls = any | any >> 16;
	for (unsigned int vl = 0; vl < 16; vl++)
		if (set->w[vl / 4] >> vl % 4 * 16 & 0xFFFF)
			transitions.vls |= 1u << vl;
	return transitions;
}

static int sets_grow(struct dl_verify_sets *s)
{
	uint32_t cap = 2 * s->cap;
	struct dl_verify_transitions *transitions;
	struct dl_verify_set *sets;
	uint32_t *table;

	sets = realloc(s->sets, cap * sizeof(*sets));
	if (!sets)
		return -ENOMEM;
	s->sets = sets;
	transitions = realloc(s->transitions, cap * sizeof(*transitions));
	if (!transitions)
		return -ENOMEM;
	s->transitions = transitions;
	table = calloc(2 * cap, sizeof(*table));
	if (!table)
		return -ENOMEM;
	free(s->table);
	s->table = table;
	s->table_size = 2 * cap;
	s->cap = cap;
	for (uint32_t i = 1; i < s->n; i++)
		*find_slot(s, &s->sets[i]) = i;
	return 0;
}

uint32_t dl_verify_sets_add(struct dl_verify_sets *s, const struct dl_verify_set *set)
{
	uint32_t *slot;

	if (!(set->w[0] | set->w[1] | set->w[2] | set->w[3]))
		return 0;
	slot = find_slot(s, set);
	if (*slot)
		return *slot;
	if (s->n == s->cap) {
		if (sets_grow(s)) {
			s->failed = true;
			return 0;
		}
		slot = find_slot(s, set);
	}
	s->sets[s->n] = *set;
	s->transitions[s->n] = transitions_of(set);
	*slot = s->n;
	return s->n++;
}

uint32_t dl_verify_sets_add_mask(struct dl_verify_sets *s, uint16_t sls, unsigned int vl)
{
	struct dl_verify_set set = { { 0 } };

	set.w[vl / 4] = (uint64_t)sls << vl % 4 * 16;
	return dl_verify_sets_add(s, &set);
}

static inline void set_bit(uint64_t *words, unsigned int bit)
{
	words[bit / 64] |= UINT64_C(1) << bit % 64;
}

void dl_verify_sets_find_step(struct dl_verify_sets *s, struct dl_verify_step *slot)
{
	const struct dl_verify_set set = s->sets[slot->from];
	dl_tables_sl2vl_row row = s->rows[slot->row];
	struct dl_verify_set to = { { 0 } };

	slot->dropped = 0;
	memset(slot->deps, 0, sizeof(slot->deps));
	for (unsigned int w = 0; w < 4; w++) {
		for (uint64_t left = set.w[w]; left; left &= left - 1) {
			unsigned int bit = 64 * w + __builtin_ctzll(left);
			unsigned int sl = bit % 16, vl = bit / 16;
			unsigned int next = dl_tables_sl2vl_get(row, sl);

			if (next == 15) {
				slot->dropped |= 1u << sl;
				continue;
			}
			set_bit(to.w, 16 * next + sl);
			set_bit(slot->deps, s->nvl * vl + next);
		}
	}
	slot->to = dl_verify_sets_add(s, &to);
}

void dl_verify_sets_find_union(struct dl_verify_sets *s, struct dl_verify_union *slot)
{
	const struct dl_verify_set *a = &s->sets[slot->a], *b = &s->sets[slot->b];
	struct dl_verify_set both;

	for (unsigned int i = 0; i < 4; i++)
		both.w[i] = a->w[i] | b->w[i];
	slot->both = dl_verify_sets_add(s, &both);
}
