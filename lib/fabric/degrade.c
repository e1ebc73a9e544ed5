/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Failures, on the finished arrays: what is left is copied in order, so that
 * two fabrics with the same failures are the same, byte for byte.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"

#define MAX_NAMED 20

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

/* ---- what is connected ----------------------------------------------------- */

struct parts {
	uint32_t *label; /* by switch: the first switch of its part, or DL_NONE */
	uint32_t *queue;
};

static void parts_free(struct parts *p)
{
	free(p->label);
	free(p->queue);
}

static int parts_new(const struct dl_fabric *f, struct parts *p)
{
	p->label = malloc((f->nswitches + 1) * sizeof(*p->label));
	p->queue = malloc((f->nswitches + 1) * sizeof(*p->queue));
	if (!p->label || !p->queue)
		return -ENOMEM;
	memset(p->label, 0xFF, f->nswitches * sizeof(*p->label)); /* DL_NONE */
	return 0;
}

/* Label what a switch is connected to; returns how many switches that is. */
static uint32_t label_part(const struct dl_fabric *f, struct parts *p, uint32_t from)
{
	uint32_t tail = 0;

	p->label[from] = from;
	p->queue[tail++] = from;
	for (uint32_t head = 0; head < tail; head++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[p->queue[head]]];

		for (unsigned int i = 1; i <= n->nports; i++) {
			uint32_t sw = dl_fabric_peer_switch(f, n->first_port + i);

			if (sw == DL_NONE || p->label[sw] != DL_NONE)
				continue;
			p->label[sw] = from;
			p->queue[tail++] = sw;
		}
	}
	return tail;
}

int dl_fabric_is_connected(const struct dl_fabric *f)
{
	struct parts parts;
	uint32_t first = DL_NONE, sw;
	int connected = parts_new(f, &parts) ? -ENOMEM : 1;

	for (uint32_t p = 0; connected == 1 && p < f->nports; p++) {
		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p))
			continue;
		sw = dl_fabric_access_switch(f, p);
		if (first == DL_NONE && sw != DL_NONE)
			label_part(f, &parts, first = sw);
		connected = sw != DL_NONE && parts.label[sw] == first;
	}
	if (first == DL_NONE && connected == 1)
		connected = 0; /* there is no port to be connected */
	parts_free(&parts);
	return connected;
}

/* Is one of its ports, or itself, in this part? */
static bool is_in_part(const struct dl_fabric *f, const struct parts *p, uint32_t node,
		       uint32_t part)
{
	const struct dl_fabric_node *n = &f->nodes[node];

	for (unsigned int i = 0; i <= n->nports; i++) {
		uint32_t sw = dl_fabric_access_switch(f, n->first_port + i);

		if (sw != DL_NONE && p->label[sw] == part)
			return true;
	}
	return false;
}

int dl_fabric_main_part(const struct dl_fabric *f, const struct dl_log *log, struct dl_fabric **out)
{
	bool *dead = calloc(f->nnodes + 1ul, sizeof(*dead));
	bool *cut = calloc(f->nports + 1ul, sizeof(*cut));
	uint32_t main = DL_NONE, most = 0, nout = 0;
	struct parts parts;
	int err = parts_new(f, &parts);

	*out = NULL;
	err = dead && cut ? err : -ENOMEM;
	for (uint32_t s = 0; !err && s < f->nswitches; s++) {
		uint32_t n = parts.label[s] == DL_NONE ? label_part(f, &parts, s) : 0;

		main = n > most ? s : main;
		most = n > most ? n : most;
	}
	for (uint32_t i = 0; !err && main != DL_NONE && i < f->nnodes; i++) {
		dead[i] = !is_in_part(f, &parts, i, main);
		if (dead[i] && nout++ < MAX_NAMED)
			dl_log(log, DL_LOG_WARNING,
			       "0x%016" PRIx64 " \"%s\" is connected to no switch of the rest: "
			       "left out",
			       f->nodes[i].guid, dl_fabric_node_name(f, i));
	}
	if (nout > MAX_NAMED)
		dl_log(log, DL_LOG_WARNING, "... and %u nodes more", nout - MAX_NAMED);
	if (!err && nout)
		err = dl_fabric_degrade(f, dead, cut, out);
	parts_free(&parts);
	free(dead);
	free(cut);
	return err;
}
