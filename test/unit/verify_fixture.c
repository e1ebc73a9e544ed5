/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "verify_fixture.h"

#define PORTS 12 /* of each switch */
#define MOST 16	 /* switches */

struct site {
	struct draw *d;
	struct dl_fabric *f;
	struct dl_tables *t;
	uint32_t n;	      /* switches */
	bool no_upper_sls;    /* all maps drop SLs 8 to 15 */
	uint32_t order[MOST]; /* of some search */
	uint32_t up[MOST];    /* port index towards its root, or DL_NONE */
	uint32_t depth[MOST];
};

/* ---- fabrics ----------------------------------------------------------- */

static uint32_t free_port(struct site *w, uint32_t node)
{
	const struct dl_fabric_node *n = &w->f->nodes[node];

	for (unsigned int o = 1; o <= n->nports; o++)
		if (w->f->ports[n->first_port + o].peer == DL_NONE)
			return n->first_port + o;
	return DL_NONE;
}

/* Switches have the node indices 0 to n - 1. */
static void join(struct site *w, uint32_t a, uint32_t b)
{
	uint32_t p = free_port(w, a), q;

	if (p == DL_NONE)
		return;
	if (a == b) { /* a cable from a switch to itself */
		if (w->f->ports[p].num == PORTS)
			return;
		assert_int_equal(dl_fabric_connect(w->f, p, p + 1), 0);
		return;
	}
	q = free_port(w, b);
	if (q != DL_NONE)
		assert_int_equal(dl_fabric_connect(w->f, p, q), 0);
}

static void add_switches(struct site *w, uint32_t n)
{
	w->n = n;
	for (uint32_t s = 0; s < n; s++)
		assert_int_equal(
			dl_fabric_add_node(w->f, DL_FABRIC_SWITCH, PORTS, 0x100 + s, "s", NULL), 0);
}

static void make_torus(struct site *w, unsigned int dims, uint32_t most)
{
	uint32_t radix[3] = { 1, 1, 1 }, step = 1;

	for (unsigned int i = 0; i < dims; i++)
		radix[i] = 2 + draw_below(w->d, most - 1);
	add_switches(w, radix[0] * radix[1] * radix[2]);
	for (unsigned int i = 0; i < dims; i++) {
		for (uint32_t s = 0; s < w->n; s++) {
			uint32_t at = s / step % radix[i];
			uint32_t to = at + 1 < radix[i] ? s + step : s - at * step;

			if (!draw_one_in(w->d, 12))
				join(w, s, to);
		}
		step *= radix[i];
	}
}

static void make_tree(struct site *w)
{
	add_switches(w, 2 + draw_below(w->d, MOST - 2));
	for (uint32_t s = 1; s < w->n; s++)
		join(w, s, draw_below(w->d, s));
}

static void make_random(struct site *w, uint32_t most, uint32_t degree)
{
	add_switches(w, 1 + draw_below(w->d, most));
	for (uint32_t i = 0; i < w->n * degree / 2; i++)
		join(w, draw_below(w->d, w->n), draw_below(w->d, w->n));
}

static void make_clos(struct site *w)
{
	uint32_t tops = 1 + draw_below(w->d, 4);
	uint32_t leaves = 2 + draw_below(w->d, 6);

	add_switches(w, tops + leaves);
	for (uint32_t l = 0; l < leaves; l++)
		for (uint32_t t = 0; t < tops; t++)
			join(w, tops + l, t);
}

static void add_adapters(struct site *w)
{
	uint32_t each = draw_below(w->d, 4), node;

	for (uint32_t i = 0; i < w->n * each; i++) {
		unsigned int nports = 1 + draw_one_in(w->d, 8);

		if (w->f->nnodes > 2 * MOST)
			break;
		assert_int_equal(
			dl_fabric_add_node(w->f, DL_FABRIC_CA, nports, 0x1000 + i, "h", &node), 0);
		for (unsigned int o = 1; o <= nports; o++) {
			uint32_t s = draw_below(w->d, w->n);
			uint32_t q = free_port(w, s);

			if (q != DL_NONE)
				dl_fabric_connect(w->f, w->f->nodes[node].first_port + o, q);
		}
	}
	if (!draw_one_in(w->d, 20))
		return;
	/* Two adapters with a cable of their own. */
	dl_fabric_add_node(w->f, DL_FABRIC_CA, 1, 0x5000, "a", NULL);
	dl_fabric_add_node(w->f, DL_FABRIC_CA, 1, 0x5001, "b", &node);
	dl_fabric_connect(w->f, w->f->nodes[node - 1].first_port + 1,
			  w->f->nodes[node].first_port + 1);
}

static void make_fabric(struct site *w)
{
	static const uint8_t counts[] = { 0, 1, 2, 4, 8, 8, 8, 15 };
	unsigned int kind = draw_below(w->d, 8);
	uint8_t vls;

	assert_int_equal(dl_fabric_new(&w->f), 0);
	switch (kind) {
	case 0:
		make_torus(w, 1, MOST);
		break;
	case 1:
		make_torus(w, 2, 4);
		break;
	case 2:
		make_torus(w, 3, 2);
		break;
	case 3:
		make_tree(w);
		break;
	case 4:
		make_clos(w);
		break;
	case 5:
		make_random(w, 3, 5);
		break;
	default:
		make_random(w, MOST, 2 + draw_below(w->d, 4));
		break;
	}
	add_adapters(w);
	assert_int_equal(dl_fabric_finish(w->f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(w->f, draw_one_in(w->d, 6)), 0);
	vls = counts[draw_below(w->d, sizeof(counts))];
	for (uint32_t p = 0; p < w->f->nports; p++) {
		w->f->ports[p].vls = vls;
		if (draw_one_in(w->d, 400))
			w->f->ports[p].vls = counts[draw_below(w->d, 8)];
		/* Some ports were given no LID. */
		if (w->f->ports[p].lid && draw_one_in(w->d, 300)) {
			const struct dl_fabric_port *port = &w->f->ports[p];

			for (unsigned int i = 0; i < 1u << port->lmc; i++)
				w->f->lid_port[port->lid + i] = DL_NONE;
			w->f->ports[p].lid = 0;
		}
	}
}

/* ---- forwarding -------------------------------------------------------- */

/* Breadth first from a switch; ties at random when `shuffle`. */
static void search(struct site *w, uint32_t root, bool shuffle)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < w->n; s++) {
		w->up[s] = DL_NONE;
		w->depth[s] = UINT32_MAX;
	}
	w->order[n++] = root;
	w->depth[root] = 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct dl_fabric_node *node = &w->f->nodes[w->order[i]];

		for (unsigned int o = 1; o <= node->nports; o++) {
			uint32_t peer = w->f->ports[node->first_port + o].peer;
			uint32_t s;

			if (peer == DL_NONE || w->f->ports[peer].node >= w->n)
				continue;
			s = w->f->ports[peer].node;
			if (w->depth[s] == UINT32_MAX) {
				w->depth[s] = w->depth[w->order[i]] + 1;
				w->order[n++] = s;
				w->up[s] = peer;
			} else if (w->depth[s] == w->depth[w->order[i]] + 1 && shuffle &&
				   draw_one_in(w->d, 2)) {
				w->up[s] = peer;
			}
		}
	}
}

static unsigned int last_hop(const struct dl_fabric *f, uint32_t owner)
{
	const struct dl_fabric_port *p = &f->ports[owner];

	return p->num ? f->ports[p->peer].num : 0;
}

static void route_lid(struct site *w, uint32_t lid, bool shuffle)
{
	uint32_t owner = w->f->lid_port[lid], root;

	if (owner == DL_NONE)
		return;
	root = dl_fabric_access_switch(w->f, owner);
	if (root == DL_NONE)
		return;
	search(w, root, shuffle);
	for (uint32_t s = 0; s < w->n; s++) {
		uint8_t *entry = &w->t->lft[s * (size_t)w->t->stride + lid];

		if (s == root)
			*entry = last_hop(w->f, owner);
		else if (w->up[s] != DL_NONE)
			*entry = w->f->ports[w->up[s]].num;
	}
}

/* Along one tree only: always safe, whatever the VLs. */
static void route_tree(struct site *w)
{
	uint32_t parent[MOST], climb[MOST];

	search(w, draw_below(w->d, w->n), true);
	memcpy(parent, w->up, sizeof(parent));
	for (uint32_t lid = 1; lid <= w->f->top_lid; lid++) {
		uint32_t owner = w->f->lid_port[lid], at, n = 0;

		if (owner == DL_NONE || dl_fabric_access_switch(w->f, owner) == DL_NONE)
			continue;
		for (uint32_t s = 0; s < w->n; s++)
			if (parent[s] != DL_NONE)
				w->t->lft[s * (size_t)w->t->stride + lid] =
					w->f->ports[parent[s]].num;
		at = dl_fabric_access_switch(w->f, owner);
		w->t->lft[at * (size_t)w->t->stride + lid] = last_hop(w->f, owner);
		while (parent[at] != DL_NONE) {
			climb[n++] = w->f->ports[parent[at]].peer;
			at = w->f->ports[climb[n - 1]].node;
			w->t->lft[at * (size_t)w->t->stride + lid] = w->f->ports[climb[n - 1]].num;
		}
	}
}

static void break_entries(struct site *w, uint32_t times)
{
	for (uint32_t i = 0; i < times && w->f->top_lid; i++) {
		uint32_t s = draw_below(w->d, w->n);
		uint32_t lid = 1 + draw_below(w->d, w->f->top_lid);
		uint8_t port = draw_below(w->d, PORTS + 3);

		if (draw_one_in(w->d, 6))
			port = DL_TABLES_NO_PORT;
		w->t->lft[s * (size_t)w->t->stride + lid] = port;
	}
}

static void make_forwarding(struct site *w)
{
	unsigned int kind = draw_below(w->d, 8);

	if (kind < 2)
		route_tree(w);
	else
		for (uint32_t lid = 1; lid <= w->f->top_lid; lid++)
			route_lid(w, lid, kind > 2);
	if (kind == 6)
		break_entries(w, 1 + draw_below(w->d, 4));
	if (kind == 7)
		break_entries(w, w->n * w->f->top_lid);
}

/* ---- SLs and VLs ------------------------------------------------------- */

static uint16_t random_row(struct site *w, unsigned int kind)
{
	static const unsigned int tops[] = { 1, 2, 4, 8, 8, 15, 16 };
	unsigned int top = tops[kind];
	dl_tables_sl2vl_row row = 0;
	int number;

	for (unsigned int sl = 0; sl < 16; sl++)
		row |= (uint64_t)draw_below(w->d, top) << 4 * sl;
	if (w->no_upper_sls)
		row |= UINT64_C(0xFFFFFFFF00000000);
	number = dl_tables_row(w->t, row);
	assert_true(number >= 0);
	return number;
}

static void make_maps(struct site *w)
{
	unsigned int kind = draw_below(w->d, 7);
	uint32_t n = w->t->sl2vl_first[w->n];
	uint16_t pool[6];

	w->no_upper_sls = draw_one_in(w->d, 8);
	for (unsigned int i = 0; i < 6; i++)
		pool[i] = random_row(w, kind);
	if (draw_one_in(w->d, 8))
		return; /* no maps at all */
	for (uint32_t i = 0; i < n; i++)
		w->t->sl2vl[i] = pool[draw_below(w->d, 1 + kind) % 6];
	if (draw_one_in(w->d, 4))
		w->t->sl2vl[draw_below(w->d, n)] = DL_TABLES_NO_ROW;
	for (uint32_t p = 0; p < w->f->nports; p++)
		if (draw_one_in(w->d, 4))
			w->t->end_sl2vl[p] = pool[draw_below(w->d, 6)];
}

static void make_sls(struct site *w)
{
	unsigned int kind = draw_below(w->d, 6);
	unsigned int top = 1u << draw_below(w->d, 5);
	uint32_t nsrc, ndst;

	if (!kind)
		return;
	nsrc = kind == 1 ? 1 : 1 + draw_below(w->d, 8);
	ndst = kind == 1 ? 1 : 1 + draw_below(w->d, 8);
	assert_int_equal(dl_tables_new_psl(w->t, nsrc, ndst), 0);
	for (uint32_t i = 0; i < nsrc * ndst; i++)
		if (kind < 5 || !draw_one_in(w->d, 10))
			w->t->psl[i] = draw_below(w->d, top);
	for (uint32_t p = 0; p < w->f->nports; p++)
		if (dl_fabric_is_end_port(w->f, p))
			w->t->psl_src[p] = draw_below(w->d, nsrc);
	for (uint32_t lid = 1; lid <= w->f->top_lid; lid++)
		if ((kind < 5 || !draw_one_in(w->d, 20)) && w->f->lid_port[lid] != DL_NONE)
			w->t->psl_dst[lid] = draw_below(w->d, ndst);
}

/* ---- groups ------------------------------------------------------------ */

static void join_group(struct site *w, struct dl_tables_masks *masks, uint32_t end)
{
	uint32_t s = dl_fabric_access_switch(w->f, end);

	if (s == DL_NONE || (w->up[s] == DL_NONE && w->depth[s]))
		return;
	assert_int_equal(dl_tables_mask_set(masks, s, last_hop(w->f, end)), 0);
	for (; w->up[s] != DL_NONE; s = w->f->ports[w->f->ports[w->up[s]].peer].node) {
		const struct dl_fabric_port *up = &w->f->ports[w->up[s]];

		assert_int_equal(dl_tables_mask_set(masks, s, up->num), 0);
		assert_int_equal(dl_tables_mask_set(masks, w->f->ports[up->peer].node,
						    w->f->ports[up->peer].num),
				 0);
	}
}

static void make_group(struct site *w, uint16_t mlid)
{
	struct dl_tables_mcast_group *g = dl_tables_group(w->t, mlid);
	uint32_t flips = draw_one_in(w->d, 4) ? 1 + draw_below(w->d, 4) : 0;

	assert_non_null(g);
	search(w, draw_below(w->d, w->n), true);
	for (uint32_t p = 0; p < w->f->nports; p++)
		if (dl_fabric_is_end_port(w->f, p) && w->f->ports[p].lid &&
		    !draw_one_in(w->d, w->f->ports[p].num ? 4 : 2))
			join_group(w, &g->masks, p);
	while (flips--)
		*dl_tables_mask_row(&g->masks, draw_below(w->d, w->n)) ^=
			UINT64_C(1) << draw_below(w->d, PORTS + 2);
}

/* Small tables, some of which leave VLs out, or have no limit. */
static void make_arbitration(struct site *w)
{
	for (uint32_t p = 0; p < w->f->nports; p++) {
		struct dl_tables_vlarb arb = { .high_limit = draw_one_in(w->d, 2) ? 255 : 3 };

		arb.nhigh = draw_below(w->d, 5);
		arb.nlow = draw_below(w->d, 10);
		for (unsigned int i = 0; i < arb.nhigh; i++)
			arb.high[i] = (struct dl_tables_vlarb_entry){ draw_below(w->d, 16),
								      draw_below(w->d, 3) };
		for (unsigned int i = 0; i < arb.nlow; i++)
			arb.low[i] = (struct dl_tables_vlarb_entry){ draw_below(w->d, 9),
								     draw_below(w->d, 9) };
		if (!draw_one_in(w->d, 8))
			w->t->vlarb[p] = dl_tables_arb(w->t, &arb);
	}
}

void fixture_make(struct draw *d, struct fixture *out)
{
	struct site w = { .d = d };
	uint32_t ngroups;

	make_fabric(&w);
	assert_int_equal(dl_tables_new(w.f, &w.t), 0);
	make_forwarding(&w);
	make_maps(&w);
	make_sls(&w);
	ngroups = draw_below(d, 4);
	for (uint32_t g = 0; g < ngroups; g++)
		make_group(&w, DL_TABLES_MCAST_LID + g);
	out->fabric = w.f;
	out->tables = w.t;
	out->multicast_sls = draw_one_in(d, 4) ? draw32(d) : 0x0101;
	out->levels = draw_below(d, 3);
	out->sls = draw_one_in(d, 5) ? DL_VERIFY_ANY_SL : draw_one_in(d, 8) ? draw32(d) : 0;
	out->adapters_only = draw_one_in(d, 5);
	make_arbitration(&w);
}

void fixture_free(struct fixture *w)
{
	dl_tables_free(w->tables);
	dl_fabric_free(w->fabric);
}
