/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * replay BEFORE AFTER RECORD: what OpenSM has sent (SMPS_RECORD of smps.c)
 * between two snapshots, write by write.  At each moment any of the writes that
 * are sent and not answered may have arrived: all these states together must be
 * free of credit loops and of packets in a circle.  Prints "safe WRITES", or "unsafe UNSAFE of WRITES";
 * and then "held", or "lost" when the last state is not that of AFTER.
 *
 * Only fabric and tables are known here.  A cable that AFTER has is there from
 * the beginning, one that it lacks is not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/transition.h"

#define DATA 64
#define LFT 0x19
#define MFT 0x1B

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
		uint64_t *word;

		if (!ports && !t->ngroups)
			continue;
		g = dl_tables_group(t, mlid);
		if (!g)
			fail("no memory");
		word = &g->masks[sw * (size_t)DL_TABLES_MASK_WORDS + position / 4];
		*word &= ~(UINT64_C(0xFFFF) << 16 * (position % 4));
		*word |= ports << 16 * (position % 4);
	}
}

static void apply(struct dl_tables *t, const struct write *w)
{
	uint32_t node = dl_fabric_find_guid(t->fabric, w->guid);
	uint32_t sw = node == DL_NONE ? DL_NONE : t->fabric->nodes[node].sw;

	if (sw == DL_NONE)
		return;
	if (w->attribute == MFT)
		apply_mft(t, w, sw);
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
	uint32_t unsafe = 0;
	char word[5];
	FILE *from;

	if (argc != 4 || dl_snapshot_read(argv[1], NULL, NULL, NULL, &before) ||
	    dl_snapshot_read(argv[2], NULL, NULL, NULL, &after))
		fail("usage: replay BEFORE AFTER RECORD");
	from = fopen(argv[3], "r");
	if (!from || dl_transition_plan(before.tables, after.tables, &first) ||
	    dl_transition_plan(before.tables, after.tables, &ahead))
		fail("cannot begin");
	while (fscanf(from, "%4s", word) == 1) {
		if (!strcmp(word, "done")) {
			answer(&r, from);
			continue;
		}
		/* In order, so that of two writes of a block the last counts. */
		for (; r.arrived < r.n && r.writes[r.arrived].answered; r.arrived++)
			apply(first.held, &r.writes[r.arrived]);
		add_write(&r, from);
		apply(ahead.held, &r.writes[r.n - 1]);
		unsafe += !is_state_safe(first.held, ahead.held);
	}
	if (unsafe)
		printf("unsafe %" PRIu32 " of %" PRIu32, unsafe, r.n);
	else
		printf("safe %" PRIu32, r.n);
	puts(same_forwarding(ahead.held, after.tables) ? " held" : " lost");
	return unsafe != 0;
}
