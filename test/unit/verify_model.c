/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "verify_model.h"

#define DROPPED 15

/* A packet in a switch, and the channel it holds. */
struct spot {
	uint32_t sw;
	unsigned int in;
	uint32_t channel; /* DL_NONE: from an end port */
};

static const struct dl_fabric_node *node_of(const struct model *w, uint32_t sw)
{
	return &w->t->fabric->nodes[w->t->fabric->switches[sw]];
}

static bool is_end(const struct model *w, uint32_t p)
{
	const struct dl_fabric *f = w->t->fabric;

	return dl_fabric_is_end_port(f, p) && f->ports[p].lid &&
	       (f->ports[p].num || !w->adapters_only);
}

/* ---- one hop ----------------------------------------------------------- */

static unsigned int map(const struct model *w, uint16_t row, uint8_t vls, unsigned int sl)
{
	unsigned int vl;

	if (row == DL_TABLES_NO_ROW)
		return 0;
	vl = w->t->rows[row] >> 4 * sl & 15;
	return vls && vl >= vls ? DROPPED : vl;
}

static unsigned int vl_of(const struct model *w, uint32_t sw, unsigned int in, unsigned int out,
			  unsigned int sl)
{
	const struct dl_fabric_node *n = node_of(w, sw);
	uint32_t at = w->t->sl2vl_first[sw] + in * (n->nports + 1) + out;
	uint8_t vls = w->t->fabric->ports[n->first_port + out].vls;
	uint32_t link = w->link[n->first_port + out];
	unsigned int vl = map(w, w->t->sl2vl[at], out ? vls : 0, sl);

	return vl != DROPPED && link != DL_NONE && w->vague[link] ? 0 : vl;
}

static bool leaves(const struct model *w, uint32_t src, unsigned int sl)
{
	const struct dl_fabric_port *p = &w->t->fabric->ports[src];

	return !p->num || map(w, w->t->end_sl2vl[src], p->vls, sl) != DROPPED;
}

static void leave_adapter(struct model *w, uint32_t src, unsigned int sl)
{
	const struct dl_fabric_port *p = &w->t->fabric->ports[src];

	if (p->num)
		w->leaving[src] |= 1u << map(w, w->t->end_sl2vl[src], p->vls, sl);
}

/* One rule after another, as rules B10 has them. */
uint16_t model_starved(const struct model *w, uint32_t port)
{
	const struct dl_fabric_port *p = &w->t->fabric->ports[port];
	uint16_t used = w->leaving[port], starved = 0, number = w->t->vlarb[port];
	const struct dl_tables_vlarb *a = &w->t->arbs[number];
	bool high_is_busy = false;

	if (number == DL_TABLES_NO_ROW || p->vls == 1)
		return 0;
	for (unsigned int i = 0; i < a->nhigh; i++)
		high_is_busy |= a->high[i].weight && used >> a->high[i].vl & 1;
	for (unsigned int vl = 0; vl < 15; vl++) {
		bool high = false, low = false;

		for (unsigned int i = 0; i < a->nhigh; i++)
			high |= a->high[i].weight && a->high[i].vl == vl;
		for (unsigned int i = 0; i < a->nlow; i++)
			low |= a->low[i].weight && a->low[i].vl == vl;
		if (used >> vl & 1 && !high && !(low && (a->high_limit < 255 || !high_is_busy)))
			starved |= 1u << vl;
	}
	return starved;
}

static struct spot start(const struct model *w, uint32_t src)
{
	const struct dl_fabric *f = w->t->fabric;
	const struct dl_fabric_port *p = &f->ports[src];

	return (struct spot){ dl_fabric_access_switch(f, src), p->num ? f->ports[p->peer].num : 0,
			      DL_NONE };
}

/* Over a link into the next switch. */
static struct spot follow(const struct model *w, uint32_t port, unsigned int vl)
{
	const struct dl_fabric *f = w->t->fabric;
	const struct dl_fabric_port *peer = &f->ports[f->ports[port].peer];

	return (struct spot){ f->nodes[peer->node].sw, peer->num, model_channel(w, port, vl) };
}

static void depend(struct model *w, uint32_t a, uint32_t b)
{
	w->used[b] = 1;
	if (a != DL_NONE && w->edge[a * (size_t)w->n + b] != 1)
		w->edge[a * (size_t)w->n + b] = w->certainty;
}

/* ---- unicast ----------------------------------------------------------- */

uint16_t model_sls(const struct model *w, uint32_t src, uint16_t lid)
{
	unsigned int sl = dl_tables_path_sl(w->t, src, lid);

	if (w->sls && w->sls != 0xFFFF)
		return w->sls;
	if (w->known_only && w->t->psl && !w->sls && sl > 15)
		return 0;
	if (w->sls || sl > 15)
		return w->alive;
	return 1u << sl | (w->levels == 2 ? 1u << (sl | 8) & w->alive : 0);
}

/*
 * One packet; without an SL only the forwarding counts.  Records what it
 * waits for, or looks for channel a followed by b when `found` is given.
 */
static bool walk(const struct model *w, struct model *record, uint32_t src, uint16_t lid, int sl,
		 uint32_t a, uint32_t b, bool *found)
{
	const struct dl_fabric *f = w->t->fabric;
	struct spot at;

	if (dl_fabric_access_switch(f, src) == DL_NONE)
		return f->ports[src].peer != DL_NONE && f->ports[src].peer == f->lid_port[lid];
	if (sl >= 0 && !leaves(w, src, sl))
		return false;
	if (record && sl >= 0)
		leave_adapter(record, src, sl);
	at = start(w, src);
	for (uint32_t steps = 0; steps < 2 * w->nlinks + 2; steps++) {
		const struct dl_fabric_node *n = node_of(w, at.sw);
		unsigned int out = dl_tables_lft(w->t, at.sw, lid), vl = 0;
		uint32_t port = n->first_port + out, channel;

		if (out > n->nports)
			return false;
		if (!out && port != f->lid_port[lid])
			return false;
		if (out && f->ports[port].peer == DL_NONE)
			return false;
		if (sl >= 0)
			vl = vl_of(w, at.sw, at.in, out, sl);
		if (out && !dl_fabric_is_switch(f, dl_fabric_peer_node(f, port)) &&
		    f->ports[port].peer != f->lid_port[lid])
			return false;
		if (vl == DROPPED)
			return false;
		if (record && sl >= 0 && out &&
		    (w->link[port] == DL_NONE || !w->vague[w->link[port]]))
			record->leaving[port] |= 1u << vl;
		if (!out || !dl_fabric_is_switch(f, dl_fabric_peer_node(f, port)))
			return true;
		channel = model_channel(w, port, vl);
		if (record && sl >= 0)
			depend(record, at.channel, channel);
		if (found && at.channel == a && channel == b)
			*found = true;
		at = follow(w, port, vl);
	}
	return false;
}

/* Do packets to a LID leave the first switch for another? */
static bool leaves_switch(const struct model *w, uint32_t src, uint16_t lid)
{
	uint32_t sw = dl_fabric_access_switch(w->t->fabric, src);
	unsigned int out = sw == DL_NONE ? DL_TABLES_NO_PORT : dl_tables_lft(w->t, sw, lid);

	return sw != DL_NONE && out <= node_of(w, sw)->nports &&
	       w->link[node_of(w, sw)->first_port + out] != DL_NONE;
}

static void judge_pair(struct model *w, uint32_t src, uint16_t lid)
{
	bool unknown = !w->sls && dl_tables_path_sl(w->t, src, lid) > 15, all = true, some = false;
	uint16_t sls = model_sls(w, src, lid);
	bool arrives = walk(w, NULL, src, lid, -1, 0, 0, NULL);

	w->certainty = unknown && w->sl_matters ? 2 : 1;
	for (unsigned int sl = 0; sl < 16; sl++) {
		bool good = sls >> sl & 1 && walk(w, w, src, lid, sl, 0, 0, NULL);

		all &= good || !(sls >> sl & 1);
		some |= good;
	}
	w->certainty = 1;
	w->pairs++;
	w->without_sl += unknown && w->t->psl && leaves_switch(w, src, lid);
	/* Where others have a path SL, one without has no SL to be lost at. */
	w->lost += !arrives || (!unknown ? !all : !w->t->psl && !some);
}

static void judge_unicast(struct model *w)
{
	const struct dl_fabric *f = w->t->fabric;

	for (uint32_t src = 0; src < f->nports; src++)
		for (uint32_t lid = 1; is_end(w, src) && lid <= f->top_lid; lid++)
			if (f->lid_port[lid] != DL_NONE && is_end(w, f->lid_port[lid]) &&
			    f->lid_port[lid] != src)
				judge_pair(w, src, lid);
}

/* ---- multicast --------------------------------------------------------- */

struct flood {
	const struct model *w;
	struct model *record;
	const struct dl_tables_mcast_group *g;
	unsigned int sl;
	uint8_t *seen;	  /* by channel: followed (dependencies) */
	uint8_t *on_way;  /* by link: being followed (delivery) */
	uint32_t *copies; /* by end port */
	uint32_t budget;
	bool loop;
	uint32_t a, b; /* look for this pair of channels */
	bool found;
};

/* The end port at the far side of a switch's port, or DL_NONE. */
static uint32_t end_behind(const struct model *w, const struct dl_fabric_node *n, unsigned int o)
{
	const struct dl_fabric *f = w->t->fabric;
	uint32_t p = n->first_port + o;

	if (o)
		p = f->ports[p].peer;
	return p != DL_NONE && is_end(w, p) ? p : DL_NONE;
}

static void flood(struct flood *x, struct spot at)
{
	const struct dl_fabric_node *n = node_of(x->w, at.sw);

	for (unsigned int o = 0; o <= n->nports && !x->loop; o++) {
		uint32_t port = n->first_port + o, link, channel;
		unsigned int vl;

		if (o == at.in || !dl_tables_mask_get(&x->g->masks, at.sw, o))
			continue;
		vl = vl_of(x->w, at.sw, at.in, o, x->sl);
		if (vl == DROPPED)
			continue;
		link = o ? x->w->link[port] : DL_NONE;
		if (link == DL_NONE) {
			if (x->record && o && end_behind(x->w, n, o) != DL_NONE)
				x->record->leaving[port] |= 1u << vl;
			if (x->copies && end_behind(x->w, n, o) != DL_NONE)
				x->copies[end_behind(x->w, n, o)]++;
			continue;
		}
		channel = model_channel(x->w, port, vl);
		if (x->record && !x->w->vague[link])
			x->record->leaving[port] |= 1u << vl;
		if (x->record)
			depend(x->record, at.channel, channel);
		if (at.channel == x->a && channel == x->b)
			x->found = true;
		if (x->seen && x->seen[channel]++)
			continue;
		if (x->on_way && (x->on_way[link] || !x->budget--)) {
			x->loop = true;
			return;
		}
		if (x->on_way)
			x->on_way[link] = 1;
		flood(x, follow(x->w, port, vl));
		if (x->on_way)
			x->on_way[link] = 0;
	}
}

static bool has_mask(const struct dl_tables_mcast_group *g, uint32_t sw)
{
	for (unsigned int i = 0; i < DL_TABLES_MASK_WORDS; i++)
		if (dl_tables_mask(&g->masks, sw)[i])
			return true;
	return false;
}

static bool is_member(const struct model *w, const struct dl_tables_mcast_group *g, uint32_t end)
{
	struct spot at = start(w, end);

	return dl_tables_mask_get(&g->masks, at.sw, at.in);
}

static bool delivers(struct model *w, const struct dl_tables_mcast_group *g, uint32_t src,
		     unsigned int sl)
{
	const struct dl_fabric *f = w->t->fabric;
	struct flood x = {
		.w = w,
		.g = g,
		.sl = sl,
		.a = UINT32_MAX,
		.b = UINT32_MAX,
		.budget = 100000,
		.copies = calloc(f->nports, sizeof(uint32_t)),
		.on_way = calloc(w->nlinks + 1, 1),
	};
	bool good = leaves(w, src, sl);

	if (good)
		flood(&x, start(w, src));
	if (x.loop)
		good = false;
	for (uint32_t p = 0; p < f->nports; p++)
		if (p != src && is_end(w, p) && dl_fabric_access_switch(f, p) != DL_NONE &&
		    is_member(w, g, p) && x.copies[p] != 1)
			good = false;
	free(x.copies);
	free(x.on_way);
	return good;
}

static void judge_group(struct model *w, const struct dl_tables_mcast_group *g)
{
	const struct dl_fabric *f = w->t->fabric;
	bool good = true;

	for (uint32_t p = 0; p < f->nports; p++) {
		if (!is_end(w, p) || dl_fabric_access_switch(f, p) == DL_NONE ||
		    !has_mask(g, dl_fabric_access_switch(f, p)))
			continue;
		for (unsigned int sl = 0; sl < 16; sl++) {
			struct flood x = {
				.w = w,
				.record = w,
				.g = g,
				.sl = sl,
				.a = UINT32_MAX,
				.b = UINT32_MAX,
			};

			if (!(w->multicast_sls >> sl & 1))
				continue;
			if (is_member(w, g, p) && !delivers(w, g, p, sl))
				good = false;
			if (!leaves(w, p, sl) || (!f->ports[p].num && !is_member(w, g, p)))
				continue;
			leave_adapter(w, p, sl);
			x.seen = calloc(w->n + 1, 1);
			flood(&x, start(w, p));
			free(x.seen);
		}
	}
	w->groups_lost += !good;
}

bool model_takes(const struct model *w, uint32_t src, uint16_t lid, unsigned int sl, uint32_t a,
		 uint32_t b)
{
	struct flood x = { .w = w, .sl = sl, .a = a, .b = b };
	bool found = false;

	if (lid < DL_TABLES_MCAST_LID) {
		walk(w, NULL, src, lid, sl, a, b, &found);
		return found;
	}
	for (uint32_t g = 0; g < w->t->ngroups; g++)
		if (w->t->groups[g].mlid == lid)
			x.g = &w->t->groups[g];
	if (!x.g || !leaves(w, src, sl))
		return false;
	x.seen = calloc(w->n + 1, 1);
	flood(&x, start(w, src));
	free(x.seen);
	return x.found;
}

/* ---- cycles ------------------------------------------------------------ */

struct tarjan {
	const struct model *w;
	uint32_t *index, *low, *stack;
	uint8_t *stacked;
	uint32_t count, top, cyclic;
};

static void strong(struct tarjan *x, uint32_t c)
{
	uint32_t size = 0, other;

	x->index[c] = x->low[c] = ++x->count;
	x->stack[x->top++] = c;
	x->stacked[c] = 1;
	for (uint32_t d = 0; d < x->w->n; d++) {
		if (!model_edge(x->w, c, d))
			continue;
		if (!x->index[d])
			strong(x, d);
		if (x->stacked[d] && x->low[d] < x->low[c])
			x->low[c] = x->low[d];
	}
	if (x->low[c] != x->index[c])
		return;
	do {
		other = x->stack[--x->top];
		x->stacked[other] = 0;
		size++;
	} while (other != c);
	if (size > 1 || model_edge(x->w, c, c))
		x->cyclic += size;
}

static void find_components(struct model *w)
{
	size_t size = w->n + 1;
	struct tarjan x = {
		.w = w,
		.index = calloc(size, sizeof(uint32_t)),
		.low = calloc(size, sizeof(uint32_t)),
		.stack = calloc(size, sizeof(uint32_t)),
		.stacked = calloc(size, 1),
	};

	for (uint32_t c = 0; c < w->n; c++)
		if (w->used[c] && !x.index[c])
			strong(&x, c);
	w->cyclic = x.cyclic;
	free(x.index);
	free(x.low);
	free(x.stack);
	free(x.stacked);
}

static uint32_t shortest_from(const struct model *w, uint32_t c, uint32_t *queue, uint32_t *far)
{
	uint32_t head = 0, n = 0;

	memset(far, 0, w->n * sizeof(*far));
	queue[n++] = c;
	while (head < n) {
		uint32_t at = queue[head++];

		for (uint32_t d = 0; d < w->n; d++) {
			if (!model_edge(w, at, d))
				continue;
			if (d == c)
				return far[at] + 1;
			if (!far[d]) {
				far[d] = far[at] + 1;
				queue[n++] = d;
			}
		}
	}
	return 0;
}

static void find_shortest(struct model *w)
{
	uint32_t *queue = malloc((w->n + 1) * sizeof(*queue));
	uint32_t *far = malloc((w->n + 1) * sizeof(*far));

	for (uint32_t c = 0; w->cyclic && c < w->n; c++) {
		uint32_t len = w->used[c] ? shortest_from(w, c, queue, far) : 0;

		if (len && (!w->shortest || len < w->shortest))
			w->shortest = len;
	}
	free(queue);
	free(far);
}

/* ---- all --------------------------------------------------------------- */

static void number_links(struct model *w)
{
	const struct dl_fabric *f = w->t->fabric;

	w->link = malloc((f->nports + 1) * sizeof(*w->link));
	w->port = malloc((f->nports + 1) * sizeof(*w->port));
	for (uint32_t p = 0; p < f->nports; p++) {
		w->link[p] = DL_NONE;
		if (!f->ports[p].num || f->ports[p].peer == DL_NONE ||
		    !dl_fabric_is_switch(f, f->ports[p].node) ||
		    !dl_fabric_is_switch(f, dl_fabric_peer_node(f, p)))
			continue;
		w->port[w->nlinks] = p;
		w->link[p] = w->nlinks++;
	}
	w->n = 16 * w->nlinks;
	w->edge = calloc((size_t)w->n * w->n + 1, 1);
	w->used = calloc(w->n + 1, 1);
	w->leaving = calloc(f->nports + 1, sizeof(*w->leaving));
}

/* SLs 8 to 15 count if there is a pair of links between which they pass. */
static void find_alive(struct model *w)
{
	w->alive = w->nlinks ? 0x00FF : 0xFFFF;
	for (uint32_t a = 0; a < w->nlinks; a++) {
		struct spot at = follow(w, w->port[a], 0);
		const struct dl_fabric_node *n = node_of(w, at.sw);

		for (unsigned int o = 1; o <= n->nports; o++)
			for (unsigned int sl = 8; sl < 16; sl++)
				if (w->link[n->first_port + o] != DL_NONE &&
				    vl_of(w, at.sw, at.in, o, sl) != DROPPED)
					w->alive |= 1u << sl;
	}
	w->multicast_sls &= w->alive;
}

/* A link on which the VL of packets that may come is not known. */
static void find_vague(struct model *w)
{
	const struct dl_fabric *f = w->t->fabric;

	w->vague = calloc(w->nlinks + 1, sizeof(*w->vague));
	for (uint32_t l = 0; l < w->nlinks; l++) {
		const struct dl_fabric_port *p = &f->ports[w->port[l]];
		const struct dl_fabric_node *n = &f->nodes[p->node];

		for (unsigned int i = 0; i <= n->nports && p->vls != 1; i++)
			if (i != p->num && (!i || f->ports[n->first_port + i].peer != DL_NONE) &&
			    w->t->sl2vl[w->t->sl2vl_first[n->sw] + i * (n->nports + 1) + p->num] ==
				    DL_TABLES_NO_ROW) {
				w->vague[l] = true;
				w->without_vl++;
			}
	}
}

/* Is there a map that treats two SLs in use differently? */
static void compare_sls(struct model *w)
{
	const struct dl_fabric *f = w->t->fabric;
	unsigned int first = __builtin_ctz(w->alive);

	for (unsigned int sl = 0; sl < 16; sl++) {
		if (!(w->alive >> sl & 1))
			continue;
		for (uint32_t p = 0; p < f->nports; p++) {
			const struct dl_fabric_node *n = &f->nodes[f->ports[p].node];

			if (!dl_fabric_is_switch(f, f->ports[p].node)) {
				w->sl_matters |= dl_fabric_is_end_port(f, p) &&
						 leaves(w, p, sl) != leaves(w, p, first);
				continue;
			}
			for (unsigned int i = 0; i <= n->nports; i++)
				w->sl_matters |= vl_of(w, n->sw, i, f->ports[p].num, sl) !=
						 vl_of(w, n->sw, i, f->ports[p].num, first);
		}
	}
}

bool model_edge(const struct model *w, uint32_t a, uint32_t b)
{
	uint8_t edge = w->edge[a * (size_t)w->n + b];
	bool vague = w->vague[a / 16] || w->vague[b / 16];

	switch (w->verdict) {
	case DL_VERIFY_LOOP:
		return edge == 1 && !vague;
	case DL_VERIFY_POSSIBLE:
		return edge && !vague;
	default:
		return edge;
	}
}

void model_make(struct model *w)
{
	static const enum dl_verify_verdict verdicts[] = { DL_VERIFY_LOOP, DL_VERIFY_POSSIBLE,
							   DL_VERIFY_NOT_JUDGED };
	const struct dl_tables *t = w->t;

	w->certainty = 1;
	number_links(w);
	find_vague(w);
	find_alive(w);
	compare_sls(w);
	judge_unicast(w);
	for (uint32_t g = 0; g < t->ngroups; g++)
		judge_group(w, &t->groups[g]);
	for (size_t i = 0; i < (size_t)w->n * w->n; i++)
		w->edges += w->edge[i] != 0;
	for (uint32_t c = 0; c < w->n; c++)
		w->channels += w->used[c];
	for (unsigned int i = 0; i < 3 && !w->cyclic; i++) {
		w->verdict = verdicts[i];
		find_components(w);
	}
	if (!w->cyclic)
		w->verdict = DL_VERIFY_FREE;
	find_shortest(w);
}

void model_free(struct model *w)
{
	free(w->link);
	free(w->port);
	free(w->edge);
	free(w->used);
	free(w->leaving);
	free(w->vague);
}
