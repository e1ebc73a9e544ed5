/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of a running fabric, read block by block from the switches and
 * adapters (IBA volume 1, 14.2.5).
 *
 * Every list of queries runs over all switches for one block before it goes
 * on to the next block, so that those in flight are spread over the fabric.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "live/internal.h"

#define MFT_BLOCK 32	      /* MLIDs in a MulticastForwardingTable */
#define MFT_PORTS 16	      /* ports in each of its words */
#define CAP_SL_MAPS (1u << 6) /* CapabilityMask: IsSLMappingSupported */

struct reader;

/* A kind of table: the queries that read it. */
struct list {
	const char *title; /* for progress */
	const char *what;  /* in one piece, for messages */
	uint32_t rounds;   /* blocks, or pairs of ports, at most */
	bool of_ports;	   /* a round goes over ports, not over switches */
	bool optional;	   /* nothing is missing without an answer */
	/* Does this round concern this one?  Then fill in the query. */
	bool (*ask)(struct reader *r, uint32_t round, uint32_t at, struct dl_live_query *q);
	void (*store)(struct reader *r, const struct dl_live_query *q);
};

struct reader {
	struct dl_live *l;
	struct dl_tables *t;
	const struct list *list;      /* that is read */
	uint32_t width;		      /* ports of the largest switch, with port 0 */
	struct dl_tables_vlarb *arbs; /* by port index */
	int err;
};

/* key[0] is the switch or port, key[1] the round. */
static bool next_query(void *context, uint32_t at[2], struct dl_live_query *q)
{
	struct reader *r = context;
	uint32_t count = r->list->of_ports ? r->l->f->nports : r->l->f->nswitches;

	for (; at[0] < r->list->rounds; at[0]++, at[1] = 0) {
		while (at[1] < count) {
			q->key[0] = at[1]++;
			q->key[1] = at[0];
			if (r->list->ask(r, q->key[1], q->key[0], q))
				return true;
		}
	}
	return false;
}

static void take_answer(void *context, const struct dl_live_query *q, int status)
{
	struct reader *r = context;
	const struct dl_fabric *f = r->l->f;
	uint32_t node = q->key[2];
	char why[32] = "does not answer for";

	if (!status) {
		r->list->store(r, q);
		return;
	}
	if (status != DL_LIVE_SILENT)
		snprintf(why, sizeof(why), "refuses (0x%04x)", status);
	if (r->list->optional)
		return;
	dl_live_gap(r->l, "\"%s\" (0x%016llx) %s %s %u", dl_fabric_node_name(f, node),
		    (unsigned long long)f->nodes[node].guid, why, r->list->what, q->mod);
}

/* Asks the switch or adapter that a port belongs to, by the directed route to it. */
static bool ask_at(const struct reader *r, uint32_t port, struct dl_live_query *q, uint16_t attr,
		   uint32_t mod)
{
	const struct dl_fabric *f = r->l->f;
	uint32_t node = f->ports[port].node, s = dl_fabric_access_switch(f, port);

	q->to = s == DL_NONE ? r->l->self : r->l->switches[s].path;
	if (s != DL_NONE && !dl_fabric_is_switch(f, node) &&
	    q->to.drpath.cnt + 1 < (int)sizeof(q->to.drpath.p))
		q->to.drpath.p[++q->to.drpath.cnt] = f->ports[f->ports[port].peer].num;
	q->attr = attr;
	q->mod = mod;
	q->key[2] = node;
	return true;
}

static bool ask_switch(const struct reader *r, uint32_t s, struct dl_live_query *q, uint16_t attr,
		       uint32_t mod)
{
	return ask_at(r, dl_fabric_switch_node(r->l->f, s)->first_port, q, attr, mod);
}

/* ---- unicast forwarding ------------------------------------------------ */

static bool ask_lft(struct reader *r, uint32_t block, uint32_t s, struct dl_live_query *q)
{
	if (block * LFT_BLOCK > r->l->switches[s].lft_top || block * LFT_BLOCK > r->t->top_lid)
		return false;
	return ask_switch(r, s, q, IB_ATTR_LINEARFORWTBL, block);
}

static void store_lft(struct reader *r, const struct dl_live_query *q)
{
	uint32_t s = q->key[0], first = q->key[1] * LFT_BLOCK;

	for (uint32_t i = 0; i < LFT_BLOCK; i++) {
		uint32_t lid = first + i;

		if (lid && lid <= r->t->top_lid && lid <= r->l->switches[s].lft_top)
			r->t->lft[s * (size_t)r->t->stride + lid] = q->data[i];
	}
}

/* ---- marks ------------------------------------------------------------- */

static uint32_t mark_at(const struct reader *r, uint32_t s)
{
	return dl_torus_mark_first(r->l->switches[s].lft_top,
				   dl_fabric_switch_node(r->l->f, s)->nports);
}

static bool ask_mark(struct reader *r, uint32_t round, uint32_t s, struct dl_live_query *q)
{
	(void)round;
	r->l->marks[s].site = DL_NONE;
	if (!r->l->switches[s].lft_top || mark_at(r, s) > DL_FABRIC_MAX_LID)
		return false;
	return ask_switch(r, s, q, IB_ATTR_LINEARFORWTBL, mark_at(r, s) / LFT_BLOCK);
}

static void store_mark(struct reader *r, const struct dl_live_query *q)
{
	uint32_t s = q->key[0];
	const struct dl_fabric_node *n = dl_fabric_switch_node(r->l->f, s);

	if (!dl_torus_mark_read(q->data + mark_at(r, s) % LFT_BLOCK, n->guid, n->nports,
				&r->l->marks[s]))
		r->l->marks[s].site = DL_NONE;
}

/* ---- multicast --------------------------------------------------------- */

/* A round is a block of MLIDs and one of up to 16 groups of ports. */
static bool ask_mft(struct reader *r, uint32_t round, uint32_t s, struct dl_live_query *q)
{
	const struct dl_live_switch *sw = &r->l->switches[s];
	uint32_t block = round / 16, ports = round % 16;
	uint32_t first = block * MFT_BLOCK;

	if (ports * MFT_PORTS > dl_fabric_switch_node(r->l->f, s)->nports || first >= sw->mft_cap ||
	    (sw->mft_top >= DL_TABLES_MCAST_LID &&
	     first > (uint32_t)sw->mft_top - DL_TABLES_MCAST_LID))
		return false;
	return ask_switch(r, s, q, IB_ATTR_MULTICASTFORWTBL, ports << 28 | block);
}

static void store_mft(struct reader *r, const struct dl_live_query *q)
{
	uint32_t s = q->key[0], ports = q->key[1] % 16 * MFT_PORTS;
	uint32_t mlid = DL_TABLES_MCAST_LID + q->key[1] / 16 * MFT_BLOCK;

	for (uint32_t i = 0; i < MFT_BLOCK; i++, mlid++) {
		unsigned int word = q->data[2 * i] << 8 | q->data[2 * i + 1];
		struct dl_tables_mcast_group *g;

		if (!word || mlid >= 0xFFFF)
			continue;
		g = dl_tables_group(r->t, mlid);
		if (!g) {
			r->err = -ENOMEM;
			return;
		}
		for (; word; word &= word - 1) {
			unsigned int port = ports + __builtin_ctz(word);

			if (port <= dl_fabric_switch_node(r->l->f, s)->nports &&
			    dl_tables_mask_set(&g->masks, s, port))
				r->err = -ENOMEM;
		}
	}
}

/* ---- SL-to-VL maps ----------------------------------------------------- */

/* A port without a cable passes nothing on; one VL needs no map. */
static bool needs_map(const struct reader *r, uint32_t port)
{
	const struct dl_fabric *f = r->l->f;
	const struct dl_fabric_port *p = &f->ports[port];

	/* A switch's port 0 speaks for all of its ports. */
	if (dl_fabric_is_switch(f, p->node))
		port = f->nodes[p->node].first_port;
	return p->peer != DL_NONE && p->vls != 1 && r->l->capabilities[port] & CAP_SL_MAPS;
}

/* A round is a pair of ports, input and output. */
static bool ask_map(struct reader *r, uint32_t round, uint32_t s, struct dl_live_query *q)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(r->l->f, s);
	unsigned int in = round / r->width, out = round % r->width;

	if (in > n->nports || !out || out > n->nports ||
	    (in && r->l->f->ports[n->first_port + in].peer == DL_NONE) ||
	    !needs_map(r, n->first_port + out))
		return false;
	return ask_switch(r, s, q, IB_ATTR_SLVL_TABLE, in << 8 | out);
}

static void store_row(struct reader *r, const struct dl_live_query *q, uint16_t *number)
{
	dl_tables_sl2vl_row row = 0;
	int n;

	for (unsigned int sl = 0; sl < 16; sl++)
		row |= (uint64_t)(q->data[sl / 2] >> (sl % 2 ? 0 : 4) & 15) << 4 * sl;
	n = dl_tables_row(r->t, row);
	if (n < 0)
		r->err = n;
	else
		*number = n;
}

static void store_map(struct reader *r, const struct dl_live_query *q)
{
	uint32_t s = q->key[0], in = q->key[1] / r->width, out = q->key[1] % r->width;

	store_row(r, q, &r->t->sl2vl[dl_tables_map_index(r->t, s, in, out)]);
}

static bool ask_end_map(struct reader *r, uint32_t round, uint32_t port, struct dl_live_query *q)
{
	(void)round;
	return r->l->f->ports[port].num && dl_fabric_is_end_port(r->l->f, port) &&
	       needs_map(r, port) && ask_at(r, port, q, IB_ATTR_SLVL_TABLE, 0);
}

static void store_end_map(struct reader *r, const struct dl_live_query *q)
{
	store_row(r, q, &r->t->end_sl2vl[q->key[0]]);
}

/* ---- VL arbitration ---------------------------------------------------- */

/* Rounds 0 and 1 are the low table's halves, 2 and 3 the high one's. */
static bool ask_arb(struct reader *r, uint32_t round, uint32_t port, struct dl_live_query *q)
{
	const struct dl_fabric *f = r->l->f;
	const struct dl_fabric_port *p = &f->ports[port];
	unsigned int cap = round < 2 ? p->arb_low_cap : p->arb_high_cap;
	uint32_t block = (round + 1) << 16;

	if (!p->num || p->peer == DL_NONE || p->vls == 1 || cap <= round % 2 * 32)
		return false;
	if (dl_fabric_is_switch(f, p->node))
		block |= p->num;
	return ask_at(r, port, q, IB_ATTR_VL_ARBITRATION, block);
}

static void store_arb(struct reader *r, const struct dl_live_query *q)
{
	const struct dl_fabric_port *p = &r->l->f->ports[q->key[0]];
	struct dl_tables_vlarb *arb = &r->arbs[q->key[0]];
	bool high = q->key[1] >= 2;
	unsigned int first = q->key[1] % 2 * 32;
	unsigned int cap = high ? p->arb_high_cap : p->arb_low_cap;
	struct dl_tables_vlarb_entry *entries = high ? arb->high : arb->low;
	uint8_t *n = high ? &arb->nhigh : &arb->nlow;

	for (unsigned int i = 0; i < 32 && first + i < cap && first + i < 64; i++) {
		entries[first + i].vl = q->data[2 * i] & 15;
		entries[first + i].weight = q->data[2 * i + 1];
		if (*n < first + i + 1)
			*n = first + i + 1;
	}
}

static int keep_arbs(struct reader *r)
{
	const struct dl_fabric *f = r->l->f;

	for (uint32_t p = 0; p < f->nports; p++) {
		struct dl_tables_vlarb *arb = &r->arbs[p];
		int number;

		if (!arb->nhigh && !arb->nlow)
			continue;
		arb->high_limit = r->l->high_limit[p];
		number = dl_tables_arb(r->t, arb);
		if (number < 0)
			return number;
		r->t->vlarb[p] = number;
	}
	return 0;
}

/* ---- all --------------------------------------------------------------- */

int dl_live_tables(struct dl_live *l, struct dl_tables *t)
{
	struct reader r = { .l = l, .t = t };
	uint32_t groups = 0;
	int err;

	for (uint32_t s = 0; s < l->f->nswitches; s++) {
		if (dl_fabric_switch_node(l->f, s)->nports >= r.width)
			r.width = dl_fabric_switch_node(l->f, s)->nports + 1;
		if (l->switches[s].mft_cap > groups)
			groups = l->switches[s].mft_cap;
	}
	if (groups > 0x10000 - DL_TABLES_MCAST_LID)
		groups = 0x10000 - DL_TABLES_MCAST_LID;

	const struct list lists[] = {
		{ "forwarding tables", "block of forwarding entries", t->top_lid / LFT_BLOCK + 1,
		  false, false, ask_lft, store_lft },
		{ "marks", "mark", 1, false, true, ask_mark, store_mark },
		{ "multicast tables", "block of multicast entries",
		  (groups + MFT_BLOCK - 1) / MFT_BLOCK * 16, false, false, ask_mft, store_mft },
		{ "SL-to-VL maps of switches", "SL-to-VL map", r.width * r.width, false, false,
		  ask_map, store_map },
		{ "SL-to-VL maps of adapters", "SL-to-VL map", 1, true, false, ask_end_map,
		  store_end_map },
		{ "VL arbitration tables", "VL arbitration table", 4, true, false, ask_arb,
		  store_arb },
	};

	r.arbs = calloc(l->f->nports + 1, sizeof(*r.arbs));
	l->marks = calloc(l->f->nswitches + 1, sizeof(*l->marks));
	err = r.arbs && l->marks ? 0 : -ENOMEM;
	for (size_t i = 0; !err && i < sizeof(lists) / sizeof(*lists); i++) {
		const struct dl_live_queries list = { lists[i].title, &r, next_query, take_answer };

		r.list = &lists[i];
		err = dl_live_mads_run(l->mads, &list);
		err = err ? err : r.err;
	}
	if (!err)
		err = keep_arbs(&r);
	free(r.arbs);
	if (err == -ENOSPC)
		return dl_fail(l->log, err,
			       "more than 65,535 different SL-to-VL "
			       "maps or VL arbitration tables");
	return err;
}
