/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failures, on the finished arrays: what is left is copied in order, so that
 * two fabrics with the same failures are the same, byte for byte.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/internal.h"

struct cutter {
	const struct dl_fabric *f;
	const bool *dead, *cut;
	struct dl_fabric *out;
	uint32_t *to; /* by port index: its index in `out`, or DL_NONE */
};

/* The far end of a port's cable, if both are still there. */
static uint32_t peer_left(const struct cutter *c, uint32_t port)
{
	uint32_t peer = c->f->ports[port].peer;

	return peer == DL_NONE || c->cut[port] || c->cut[peer] || c->dead[c->f->ports[port].node] ||
			       c->dead[c->f->ports[peer].node] ?
		       DL_NONE :
		       peer;
}

static bool is_left(const struct cutter *c, uint32_t node)
{
	const struct dl_fabric_node *n = &c->f->nodes[node];

	if (c->dead[node])
		return false;
	for (unsigned int i = 1; n->type != DL_FABRIC_SWITCH && i <= n->nports; i++)
		if (peer_left(c, n->first_port + i) != DL_NONE)
			return true;
	return n->type == DL_FABRIC_SWITCH;
}

static void copy_port(const struct cutter *c, uint32_t from, uint32_t to)
{
	struct dl_fabric_port *p = &c->out->ports[to];
	uint32_t node = p->node;

	*p = c->f->ports[from];
	p->node = node;
	p->peer = DL_NONE;
	c->to[from] = to;
	if (p->num && peer_left(c, from) == DL_NONE)
		p->lid = p->lmc = 0;
}

static int copy_node(const struct cutter *c, uint32_t node)
{
	const struct dl_fabric_node *n = &c->f->nodes[node];
	struct dl_fabric_node *copy;
	uint32_t at;
	int err = dl_fabric_add_node(c->out, n->type, n->nports, n->guid,
				     dl_fabric_node_id(c->f, node), &at);

	if (!err && n->desc)
		err = dl_fabric_set_desc(c->out, at, c->f->names + n->desc);
	if (err)
		return err;
	copy = &c->out->nodes[at];
	copy->system_guid = n->system_guid;
	copy->vendor = n->vendor;
	copy->device = n->device;
	copy->lft_cap = n->lft_cap;
	for (unsigned int i = 0; i <= n->nports; i++)
		copy_port(c, n->first_port + i, copy->first_port + i);
	return 0;
}

int dl_fabric_degrade(const struct dl_fabric *f, const bool *dead, const bool *cut,
		      struct dl_fabric **out)
{
	struct cutter c = { .f = f, .dead = dead, .cut = cut };
	uint32_t peer;
	int err = dl_fabric_new(&c.out);

	if (err)
		return err;
	c.to = malloc((f->nports + 1) * sizeof(*c.to));
	if (!c.to)
		err = -ENOMEM;
	for (uint32_t p = 0; !err && p < f->nports; p++)
		c.to[p] = DL_NONE;
	for (uint32_t node = 0; !err && node < f->nnodes; node++)
		if (is_left(&c, node))
			err = copy_node(&c, node);
	for (uint32_t p = 0; !err && p < f->nports; p++) {
		peer = peer_left(&c, p);
		if (peer != DL_NONE && p < peer)
			err = dl_fabric_connect(c.out, c.to[p], c.to[peer]);
	}
	if (!err)
		err = dl_fabric_finish(c.out, NULL);
	free(c.to);
	if (err)
		dl_fabric_free(c.out);
	else
		*out = c.out;
	return err;
}
