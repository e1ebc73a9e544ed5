/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What was cabled, beside what was planned.
 *
 * Problem.  A plan names switches that were not there when it was made: their GUIDs are
 * placeholders.  What differs is to be said as work: which end of which cable goes where.
 *
 * Method.  A node whose GUID the plan does not know stands for the planned one whose
 * cables it has, most of all at the same ports; the pair that agrees most is
 * matched first, and others follow from it.  Then each planned cable that is not there gets
 * the least work that brings it about, and what was done counts for the next one.  Cables
 * that nobody planned and nobody moved are unplugged at the end.  Those that are where the
 * plan has them are compared by their rates, too.
 *
 * Complexity: the nodes that are matched by cables, squared, times the ports of a node.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "input.h"

struct cabling {
	const struct dl_fabric *plan, *now;
	struct dl_fabric_match there; /* from the plan */
	struct dl_fabric_match back;  /* to it */
	uint32_t *peer;		      /* by port as it is: what it leads to when work is done */
	json_t *work;
};

/* The port as it is that a planned cable leads to from a planned port, or DL_NONE. */
static uint32_t cabling_far(const struct cabling *c, uint32_t port)
{
	uint32_t peer = c->plan->ports[port].peer;

	return peer == DL_NONE ? DL_NONE : dl_fabric_match_port(&c->there, peer);
}

/* What stands where a planned port's cable comes from, or DL_NONE. */
static uint32_t cabling_candidate(const struct cabling *c, uint32_t port)
{
	uint32_t far = cabling_far(c, port);

	return far == DL_NONE ? DL_NONE : c->now->ports[far].peer;
}

/* How much speaks for this node being the planned one? */
static uint32_t cabling_votes(const struct cabling *c, uint32_t planned, uint32_t node)
{
	const struct dl_fabric_node *n = &c->plan->nodes[planned];
	uint32_t votes = 0;

	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->nports; p++) {
		uint32_t end = cabling_candidate(c, p);

		if (end != DL_NONE && c->now->ports[end].node == node)
			votes += 1 + (c->now->ports[end].num == c->plan->ports[p].num);
	}
	return votes;
}

/* Match the planned node and the one for which most speaks; false if nothing does. */
static bool cabling_match(struct cabling *c)
{
	uint32_t most = 0, planned = 0, found = 0;

	for (uint32_t n = 0; n < c->plan->nnodes; n++) {
		const struct dl_fabric_node *node = &c->plan->nodes[n];

		for (uint32_t p = node->first_port + 1;
		     c->there.node[n] == DL_NONE && p <= node->first_port + node->nports; p++) {
			uint32_t end = cabling_candidate(c, p);
			uint32_t at = end == DL_NONE ? DL_NONE : c->now->ports[end].node, votes;

			if (at == DL_NONE || c->back.node[at] != DL_NONE ||
			    c->now->nodes[at].type != node->type)
				continue;
			votes = cabling_votes(c, n, at);
			if (votes <= most)
				continue;
			most = votes;
			planned = n;
			found = at;
		}
	}
	if (!most)
		return false;
	c->there.node[planned] = found;
	c->back.node[found] = planned;
	return true;
}

/* ---- work ---------------------------------------------------------------- */

/* By the plan's name, if the plan has the node. */
static json_t *cabling_end(const struct cabling *c, uint32_t port)
{
	const struct dl_fabric_port *p = &c->now->ports[port];
	uint32_t planned = c->back.node[p->node];

	return json_pack("{s:o, s:i}", "name",
			 planned == DL_NONE ? tool_json_name(c->now, p->node) :
					      tool_json_name(c->plan, planned),
			 "port", p->num);
}

static void cabling_say(struct cabling *c, const char *what, json_t *from, json_t *to,
			json_t *stays)
{
	json_t *item = json_pack("{s:s, s:o, s:o}", "work", what, "from", from, "to", to);

	if (stays)
		item = tool_json_with(item, "stays", stays);
	json_array_append_new(c->work, item);
}

static void cabling_cut(struct cabling *c, uint32_t port)
{
	uint32_t far = c->peer[port];

	cabling_say(c, "unplug", cabling_end(c, port), cabling_end(c, far), NULL);
	c->peer[port] = c->peer[far] = DL_NONE;
}

/* The cable at one end leads elsewhere: its other end comes here, or to what is not there yet. */
static void cabling_move(struct cabling *c, uint32_t stays, uint32_t to, json_t *name)
{
	uint32_t from = c->peer[stays];

	cabling_say(c, "move", cabling_end(c, from), name, cabling_end(c, stays));
	c->peer[from] = DL_NONE;
	c->peer[stays] = to;
	if (to != DL_NONE)
		c->peer[to] = stays;
}

/* Both ends have cables: the plug at the far end of one and that at the other change places. */
static void cabling_exchange(struct cabling *c, uint32_t a, uint32_t b)
{
	uint32_t x = c->peer[a], y = c->peer[b];

	cabling_say(c, "exchange", cabling_end(c, x), cabling_end(c, b), NULL);
	c->peer[a] = b;
	c->peer[b] = a;
	c->peer[x] = y;
	c->peer[y] = x;
}

/* Bring about the planned cable at a port of the plan. */
static void cabling_bring(struct cabling *c, uint32_t port)
{
	uint32_t a = dl_fabric_match_port(&c->there, port), b = cabling_far(c, port);
	uint32_t x = a == DL_NONE ? DL_NONE : c->peer[a], y = b == DL_NONE ? DL_NONE : c->peer[b];
	json_t *from = tool_json_named_port(c->plan, port);
	json_t *to = tool_json_named_port(c->plan, c->plan->ports[port].peer);

	if (x != DL_NONE && x == b)
		;
	else if (x != DL_NONE && y != DL_NONE)
		cabling_exchange(c, a, b);
	else if (x != DL_NONE)
		cabling_move(c, a, b, json_incref(to));
	else if (y != DL_NONE)
		cabling_move(c, b, a, json_incref(from));
	else
		cabling_say(c, "plug", json_incref(from), json_incref(to), NULL);
	json_decref(from);
	json_decref(to);
}

/* A planned cable that nobody touched runs as fast as planned, or a line says so. */
static void cabling_check_rate(struct cabling *c, uint32_t port)
{
	uint32_t there = dl_fabric_match_port(&c->there, port);
	struct dl_fabric_speed_width planned = dl_fabric_agreed(c->plan, port), found;
	uint32_t rate;

	if (there == DL_NONE || c->now->ports[there].peer == DL_NONE ||
	    c->now->ports[there].peer != cabling_far(c, port))
		return;
	found = dl_fabric_agreed(c->now, there);
	rate = dl_fabric_rate(found.speed, found.width);
	if (!rate || rate >= dl_fabric_rate(planned.speed, planned.width))
		return;
	json_array_append_new(c->work,
			      json_pack("{s:s, s:o, s:o, s:o, s:o}", "work", "check", "from",
					tool_json_named_port(c->plan, port), "to",
					tool_json_named_port(c->plan, c->plan->ports[port].peer),
					"speed", tool_json_speed(found.width, found.speed),
					"planned", tool_json_speed(planned.width, planned.speed)));
}

/* Is a cable planned at this port? */
static bool cabling_is_planned(const struct cabling *c, uint32_t port)
{
	uint32_t planned = dl_fabric_match_port(&c->back, port);

	return planned != DL_NONE && c->plan->ports[planned].peer != DL_NONE;
}

/* Nodes that are there under another GUID than planned. */
static json_t *cabling_nodes(const struct cabling *c)
{
	json_t *list = json_array();

	for (uint32_t n = 0; n < c->now->nnodes; n++) {
		uint32_t planned = c->back.node[n];

		if (planned != DL_NONE && c->plan->nodes[planned].guid != c->now->nodes[n].guid)
			json_array_append_new(
				list, tool_json_with(tool_json_node(c->now, n), "planned",
						     tool_json_text(dl_fabric_node_name(c->plan,
											planned))));
	}
	return list;
}

json_t *tool_json_cabling(const struct dl_fabric *plan, const struct dl_fabric *now)
{
	struct cabling c = { .plan = plan, .now = now, .work = json_array() };
	json_t *document = NULL;
	int err = dl_fabric_match(plan, now, &c.there);

	if (!err)
		err = dl_fabric_match(now, plan, &c.back);
	c.peer = malloc((now->nports + 1ul) * sizeof(*c.peer));
	if (!c.peer)
		err = -ENOMEM;
	for (uint32_t p = 0; !err && p < now->nports; p++)
		c.peer[p] = now->ports[p].peer;
	while (!err && cabling_match(&c))
		;
	for (uint32_t p = 0; !err && p < plan->nports; p++)
		if (plan->ports[p].peer != DL_NONE && p < plan->ports[p].peer)
			cabling_bring(&c, p);
	for (uint32_t p = 0; !err && p < now->nports; p++)
		if (c.peer[p] != DL_NONE && !cabling_is_planned(&c, p))
			cabling_cut(&c, p);
	for (uint32_t p = 0; !err && p < plan->nports; p++)
		if (plan->ports[p].peer != DL_NONE && p < plan->ports[p].peer)
			cabling_check_rate(&c, p);
	if (!err)
		document = json_pack("{s:o, s:o}", "nodes", cabling_nodes(&c), "work", c.work);
	else
		json_decref(c.work);
	free(c.peer);
	dl_fabric_match_release(&c.there);
	dl_fabric_match_release(&c.back);
	return document;
}
