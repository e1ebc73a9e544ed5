/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The page's own numbers; see report.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Something to be numbered, and where it stands in the order. */
struct ranked {
	uint64_t key;
	uint32_t what;
};

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static int number_switches(struct report_page *p)
{
	uint32_t n = p->fabric->nswitches;
	struct ranked *rank = malloc((n + 1) * sizeof(*rank));

	p->switches = dl_arena_array(&p->arena, n + 1, sizeof(*p->switches));
	p->place = dl_arena_array(&p->arena, n + 1, sizeof(*p->place));
	if (!rank || !p->switches || !p->place) {
		free(rank);
		return -ENOMEM;
	}
	for (uint32_t s = 0; s < n; s++) {
		rank[s].what = s;
		rank[s].key = p->coords->site ? p->coords->site[s] : 0;
	}
	qsort(rank, n, sizeof(*rank), by_key);
	for (uint32_t i = 0; i < n; i++) {
		p->switches[i] = rank[i].what;
		p->place[rank[i].what] = i;
	}
	free(rank);
	return 0;
}

/* An end port of an adapter or router that is part of the fabric. */
static bool is_other_end(const struct dl_fabric *f, uint32_t port)
{
	return f->ports[port].num && dl_fabric_is_end_port(f, port) &&
	       (f->ports[port].lid || f->ports[port].peer != DL_NONE);
}

static uint64_t end_key(const struct report_page *p, uint32_t port)
{
	uint32_t sw = dl_fabric_access_switch(p->fabric, port);

	if (sw == DL_NONE)
		return UINT64_MAX;
	return (uint64_t)p->place[sw] << 8 | p->fabric->ports[p->fabric->ports[port].peer].num;
}

static int number_ends(struct report_page *p)
{
	const struct dl_fabric *f = p->fabric;
	struct ranked *rank = malloc((f->nports + 1) * sizeof(*rank));
	uint32_t n = 0;

	p->ends = dl_arena_array(&p->arena, f->nports + 1, sizeof(*p->ends));
	p->end_of = dl_arena_array(&p->arena, f->nports + 1, sizeof(*p->end_of));
	if (!rank || !p->ends || !p->end_of) {
		free(rank);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < f->nswitches; i++)
		p->ends[i] = f->nodes[f->switches[p->switches[i]]].first_port;
	for (uint32_t port = 0; port < f->nports; port++)
		if (is_other_end(f, port))
			rank[n++] = (struct ranked){ end_key(p, port), port };
	qsort(rank, n, sizeof(*rank), by_key);
	for (uint32_t i = 0; i < n; i++)
		p->ends[f->nswitches + i] = rank[i].what;
	p->nends = f->nswitches + n;
	memset(p->end_of, 0xFF, f->nports * sizeof(*p->end_of)); /* DL_NONE */
	for (uint32_t i = 0; i < p->nends; i++)
		p->end_of[p->ends[i]] = i;
	free(rank);
	return 0;
}

static void report_add_cable(struct report_page *p, uint32_t port)
{
	const struct dl_fabric *f = p->fabric;
	uint32_t peer = f->ports[port].peer;

	if (!f->ports[port].num || dl_fabric_peer_switch(f, port) == DL_NONE ||
	    !f->ports[peer].num || p->way_of[port] != DL_NONE)
		return;
	p->way_of[port] = 2 * p->ncables;
	p->way_of[peer] = 2 * p->ncables + 1;
	p->cables[p->ncables].port[0] = port;
	p->cables[p->ncables++].port[1] = peer;
}

static int number_cables(struct report_page *p)
{
	const struct dl_fabric *f = p->fabric;

	p->way_of = dl_arena_array(&p->arena, f->nports + 1, sizeof(*p->way_of));
	p->cables = dl_arena_array(&p->arena, f->nports / 2 + 1, sizeof(*p->cables));
	if (!p->way_of || !p->cables)
		return -ENOMEM;
	memset(p->way_of, 0xFF, f->nports * sizeof(*p->way_of)); /* DL_NONE */
	for (uint32_t i = 0; i < f->nswitches; i++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[p->switches[i]]];

		for (unsigned int o = 1; o <= n->nports; o++)
			report_add_cable(p, n->first_port + o);
	}
	return 0;
}

static int report_list_lids(struct report_page *p)
{
	const struct dl_fabric *f = p->fabric;

	p->lids = dl_arena_array(&p->arena, f->top_lid + 1, sizeof(*p->lids));
	if (!p->lids)
		return -ENOMEM;
	/* LMC gives one end port several: those that the index knows. */
	for (uint32_t i = 0; i < p->nends; i++) {
		uint32_t base = f->ports[p->ends[i]].lid;
		uint32_t end = base + (1u << f->ports[p->ends[i]].lmc);

		for (uint32_t l = base; base && l < end && l <= f->top_lid; l++)
			if (f->lid_port[l] == p->ends[i])
				p->lids[p->nlids++] = l;
	}
	return 0;
}

int report_page_init(struct report_page *p, const struct tool_input *in)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->input = in;
	p->fabric = in->fabric;
	p->tables = in->snapshot.tables;
	p->coords = &in->coords;
	err = number_switches(p);
	if (!err)
		err = number_ends(p);
	if (!err)
		err = number_cables(p);
	if (!err)
		err = report_list_lids(p);
	return err;
}

void report_page_release(struct report_page *p)
{
	dl_arena_free(&p->arena);
	memset(p, 0, sizeof(*p));
}
