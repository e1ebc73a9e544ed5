/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * replay BEFORE AFTER RECORD: what OpenSM has sent (SMPS_RECORD of smps.c)
 * between two snapshots, write by write.  At each moment any of the writes that
 * are sent and not answered may have arrived: all these states together must be
 * free of credit loops and of packets in a circle, with each combination of the
 * SL-to-VL maps that may have arrived; maps that change nothing are no writes.
 * Ports count, too: "early N" tells of entries that named a cable which had come
 * before both its ports were told to be active, so that packets were lost.
 * Prints "safe WRITES", or "unsafe UNSAFE of WRITES"; "early N" if there are any;
 * and then "held", or "lost" when the last state is not that of AFTER.
 *
 * Only fabric and tables are known here.  A cable that AFTER has counts for the
 * graph from the beginning, whatever the state of its ports: no state has more.
 * One that it lacks is not there.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/transition.h"

#define DATA 64
#define PORT_INFO 0x15
#define PORT_STATE 32 /* its offset, in the lower half */
#define ACTIVE 4
#define SLVL 0x17
#define LFT 0x19
#define MFT 0x1B
#define MAX_MAPS 12 /* under way at once */

struct write {
	uint64_t guid;
	unsigned int attribute, modifier;
	uint8_t data[DATA];
	unsigned int transaction;
	bool answered;
};

struct record {
	struct write *writes;
	uint32_t n, cap;
	uint32_t arrived; /* those before are answered, and applied */
	bool *active;	  /* by port of the fabric after: may it carry packets? */
	uint32_t early;	  /* entries for ports that may not */
};

static void fail(const char *what)
{
	fprintf(stderr, "replay: %s\n", what);
	exit(2);
}

static void add_write(struct record *r, FILE *from)
{
	char text[2 * DATA + 1];
	struct write w = { .answered = false };

	if (fscanf(from, "%x %" SCNx64 " %x %x %128s", &w.transaction, &w.guid, &w.attribute,
		   &w.modifier, text) != 5)
		fail("damaged record");
	for (unsigned int i = 0; i < DATA; i++)
		if (sscanf(text + 2 * i, "%2hhx", &w.data[i]) != 1)
			fail("damaged record");
	r->writes = dl_array_grow(r->writes, sizeof(*r->writes), r->n, 1, &r->cap);
	if (!r->writes)
		fail("no memory");
	r->writes[r->n++] = w;
}

static void answer(struct record *r, FILE *from)
{
	unsigned int transaction;
	uint32_t i = r->n;

	if (fscanf(from, "%x", &transaction) != 1)
		fail("damaged record");
	while (i-- > r->arrived)
		if (r->writes[i].transaction == transaction)
			r->writes[i].answered = true;
}

static void apply_mft(struct dl_tables *t, const struct write *w, uint32_t sw)
{
	unsigned int block = w->modifier & 0x1FF, position = w->modifier >> 28;

	for (unsigned int i = 0; i < DATA / 2; i++) {
		uint64_t ports = w->data[2 * i] << 8 | w->data[2 * i + 1];
		uint16_t mlid = DL_TABLES_MCAST_LID + 32 * block + i;
		struct dl_tables_mcast_group *g;
		uint64_t *row;

		if (!ports && !t->ngroups)
			continue;
		g = dl_tables_group(t, mlid);
		row = g ? dl_tables_mask_row(&g->masks, sw) : NULL;
		if (!row)
			fail("no memory");
		row[position / 4] &= ~(UINT64_C(0xFFFF) << 16 * (position % 4));
		row[position / 4] |= ports << 16 * (position % 4);
	}
}

/* The map of a pair of ports with cables, by its place in the tables; or NULL. */
static uint16_t *map_at(struct dl_tables *t, uint32_t sw, unsigned int in, unsigned int out)
{
	const struct dl_fabric_node *node = &t->fabric->nodes[t->fabric->switches[sw]];
	const struct dl_fabric_port *ports = &t->fabric->ports[node->first_port];

	if (in > node->nports || out > node->nports || (in && ports[in].peer == DL_NONE) || !out ||
	    ports[out].peer == DL_NONE)
		return NULL;
	return &t->sl2vl[t->sl2vl_first[sw] + in * (node->nports + 1u) + out];
}

static dl_tables_sl2vl_row map_of(const struct write *w)
{
	dl_tables_sl2vl_row row = 0;

	for (unsigned int sl = 0; sl < 16; sl++)
		row |= (dl_tables_sl2vl_row)(w->data[sl / 2] >> (sl % 2 ? 0 : 4) & 15) << 4 * sl;
	return row;
}

/*
 * A map as it is written or, with `from`, as those tables have it; the modifier
 * may mean all inputs, all outputs.  Returns whether that is a change.
 */
static bool apply_map(struct dl_tables *t, const struct write *w, uint32_t sw,
		      struct dl_tables *from)
{
	bool all_out = w->modifier & 0x10000, all_in = w->modifier & 0x20000, changed = false;
	unsigned int first_in = all_in ? 0 : w->modifier >> 8 & 0xFF;
	unsigned int first_out = all_out ? 0 : w->modifier & 0xFF;
	unsigned int nports = t->fabric->nodes[t->fabric->switches[sw]].nports;

	for (unsigned int in = first_in; in <= (all_in ? nports : first_in); in++) {
		for (unsigned int out = first_out; out <= (all_out ? nports : first_out); out++) {
			uint16_t *map = map_at(t, sw, in, out);
			dl_tables_sl2vl_row row = map_of(w);

			if (!map)
				continue;
			if (from && *map_at(from, sw, in, out) != DL_TABLES_NO_ROW)
				row = from->rows[*map_at(from, sw, in, out)];
			if (*map != DL_TABLES_NO_ROW && t->rows[*map] == row)
				continue;
			*map = dl_tables_row(t, row);
			changed = true;
		}
	}
	return changed;
}

static uint32_t switch_of(const struct dl_tables *t, const struct write *w)
{
	uint32_t node = dl_fabric_find_guid(t->fabric, w->guid);

	return node == DL_NONE ? DL_NONE : t->fabric->nodes[node].sw;
}

/* Cables that were there before are in use; of others nothing is known. */
static void find_active(struct record *r, const struct dl_fabric *before, const struct dl_fabric *f)
{
	struct dl_fabric_match m;

	r->active = calloc(f->nports + 1, sizeof(*r->active));
	if (!r->active || dl_fabric_match(f, before, &m))
		fail("no memory");
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t sw = f->nodes[f->ports[p].node].sw;

		r->active[p] = sw == DL_NONE || !dl_fabric_match_recabled(&m, sw, f->ports[p].num);
	}
	dl_fabric_match_release(&m);
}

static void set_port(struct record *r, const struct dl_tables *t, const struct write *w)
{
	uint32_t node = dl_fabric_find_guid(t->fabric, w->guid);

	if (node != DL_NONE && w->modifier <= t->fabric->nodes[node].nports &&
	    (w->data[PORT_STATE] & 0xF) == ACTIVE)
		r->active[t->fabric->nodes[node].first_port + w->modifier] = true;
}

/* Entries that a write changes, for cables between switches that are not active. */
static void count_early(struct record *r, const struct dl_tables *t, const struct write *w)
{
	uint32_t sw = switch_of(t, w), at = w->modifier * DATA;
	const struct dl_fabric_node *n;

	if (w->attribute != LFT || sw == DL_NONE || at >= t->stride)
		return;
	n = &t->fabric->nodes[t->fabric->switches[sw]];
	for (unsigned int i = 0; i < DATA; i++) {
		uint32_t out = n->first_port + w->data[i];

		if (!w->data[i] || w->data[i] > n->nports ||
		    w->data[i] == t->lft[sw * (size_t)t->stride + at + i] ||
		    dl_fabric_peer_switch(t->fabric, out) == DL_NONE)
			continue;
		r->early += !r->active[out] || !r->active[t->fabric->ports[out].peer];
	}
}

static void apply(struct dl_tables *t, const struct write *w)
{
	uint32_t sw = switch_of(t, w);

	if (sw == DL_NONE)
		return;
	if (w->attribute == MFT)
		apply_mft(t, w, sw);
	else if (w->attribute == SLVL)
		apply_map(t, w, sw, NULL);
	else if (w->modifier * DATA < t->stride)
		memcpy(t->lft + sw * (size_t)t->stride + w->modifier * DATA, w->data, DATA);
}

static bool is_state_safe(const struct dl_tables *a, const struct dl_tables *b)
{
	struct dl_verify_mixture m;
	bool safe;

	if (dl_verify_mixed(a, b, NULL, true, &m))
		fail("no memory");
	safe = m.safe;
	dl_verify_mixture_release(&m);
	return safe;
}

/*
 * With each combination of the maps that are under way; where the last write is
 * one of them, those without it have been checked before.
 */
static bool are_states_safe(const struct record *r, struct dl_tables *a, struct dl_tables *b)
{
	const struct write *maps[MAX_MAPS];
	unsigned int n = 0, first;
	bool safe = true;

	for (uint32_t i = r->arrived; i < r->n; i++) {
		if (r->writes[i].attribute != SLVL)
			continue;
		if (n == MAX_MAPS)
			fail("too many maps under way");
		maps[n++] = &r->writes[i];
	}
	first = r->writes[r->n - 1].attribute == SLVL ? 1u << (n - 1) : 0;
	for (unsigned int subset = first; safe && subset < 1u << n; subset++) {
		for (unsigned int k = 0; k < n; k++)
			apply_map(b, maps[k], switch_of(b, maps[k]), subset >> k & 1 ? NULL : a);
		safe = is_state_safe(a, b);
	}
	for (unsigned int k = 0; k < n; k++)
		apply(b, maps[k]);
	return safe;
}

/* Entries of LIDs in use. */
static bool same_forwarding(const struct dl_tables *a, const struct dl_tables *b)
{
	for (uint32_t s = 0; s < a->fabric->nswitches; s++)
		for (uint32_t lid = 1; lid <= a->top_lid; lid++)
			if (a->fabric->lid_port[lid] != DL_NONE &&
			    dl_tables_lft(a, s, lid) != dl_tables_lft(b, s, lid))
				return false;
	return true;
}

int main(int argc, char **argv)
{
	struct dl_transition first, ahead; /* their `held` */
	struct dl_snapshot before, after;
	struct record r = { .n = 0 };
	const struct write *last;
	uint32_t unsafe = 0, sw;
	char word[5];
	FILE *from;

	if (argc != 4 || dl_snapshot_read(argv[1], NULL, NULL, NULL, &before) ||
	    dl_snapshot_read(argv[2], NULL, NULL, NULL, &after))
		fail("usage: replay BEFORE AFTER RECORD");
	from = fopen(argv[3], "r");
	if (!from || dl_transition_plan(before.tables, after.tables, &first) ||
	    dl_transition_plan(before.tables, after.tables, &ahead))
		fail("cannot begin");
	find_active(&r, before.fabric, after.fabric);
	while (fscanf(from, "%4s", word) == 1) {
		if (!strcmp(word, "done")) {
			answer(&r, from);
			continue;
		}
		/* In order, so that of two writes of a block the last counts. */
		for (; r.arrived < r.n && r.writes[r.arrived].answered; r.arrived++)
			apply(first.held, &r.writes[r.arrived]);
		add_write(&r, from);
		last = &r.writes[r.n - 1];
		if (last->attribute == PORT_INFO) {
			set_port(&r, ahead.held, last);
			r.n--;
			continue;
		}
		count_early(&r, ahead.held, last);
		sw = switch_of(ahead.held, last);
		if (last->attribute == SLVL &&
		    (sw == DL_NONE || !apply_map(ahead.held, last, sw, NULL))) {
			r.n--;
			continue;
		}
		apply(ahead.held, last);
		unsafe += !are_states_safe(&r, first.held, ahead.held);
	}
	if (unsafe)
		printf("unsafe %" PRIu32 " of %" PRIu32, unsafe, r.n);
	else
		printf("safe %" PRIu32, r.n);
	if (r.early)
		printf(" early %" PRIu32, r.early);
	puts(same_forwarding(ahead.held, after.tables) ? " held" : " lost");
	return unsafe != 0;
}
