/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Discovery: what nodes there are, and what is plugged into what.
 *
 * Method.  Breadth first from the local port, by directed routes, so that it
 * works whatever the forwarding tables say.  A wave has two lists of queries:
 * NodeInfo of what is behind each port found up in the wave before, then
 * NodeDescription, SwitchInfo and PortInfo of those that are new.  Answers are
 * kept and taken up in the order of the queries, so that the same fabric gives
 * the same list however long they take.
 *
 * Any device may answer anything.  A port's number is compared with the number
 * of ports before it is used; a node that is met again must be of the same kind
 * and size; what was found behind a port is a statement of that port, to be
 * compared with what the far end says (fabric.c).  Of a switch and an adapter
 * with the same GUID the switch is believed.
 *
 * Limits: 63 hops (IBA volume 1, 14.2.1.2), MAX_NODES.
 * Complexity: O(links x log nodes) steps, and as many queries.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"

#define MAX_NODES (1u << 16)
#define MAX_HOPS 63

/* What is behind a port: asked by NodeInfo. */
struct visit {
	ib_portid_t to;
	uint32_t from; /* node, or DL_NONE: the local one */
	uint8_t out;   /* its port */
	bool answered;
	uint8_t info[IB_SMP_DATA_SIZE];
};

/* One more query about a node that is new, or an adapter's port. */
struct detail {
	uint32_t node;
	uint16_t attr;
	uint8_t port;
};

struct walk {
	struct dl_live *l;
	struct dl_live_found *found;
	void *by_guid; /* of tsearch() */
	struct visit *visits;
	struct detail *details;
	uint32_t nvisits, visits_cap, ndetails, details_cap;
	bool full;
};

static int compare_guids(const void *a, const void *b)
{
	const struct dl_live_node *x = a, *y = b;

	return (x->guid > y->guid) - (x->guid < y->guid);
}

/* ---- lists of queries --------------------------------------------------- */

static bool next_visit(void *context, uint32_t at[2], struct dl_live_query *q)
{
	const struct walk *w = context;

	if (at[0] == w->nvisits)
		return false;
	q->key[0] = at[0]++;
	q->to = w->visits[q->key[0]].to;
	q->attr = IB_ATTR_NODE_INFO;
	return true;
}

static void visit_answer(void *context, const struct dl_live_query *q, int status)
{
	struct walk *w = context;
	struct visit *v = &w->visits[q->key[0]];
	const struct dl_live_node *n;

	v->answered = !status;
	memcpy(v->info, q->data, sizeof(v->info));
	if (v->answered || v->from == DL_NONE)
		return;
	n = w->found->nodes[v->from];
	dl_live_gap(w->l, "no answer from behind port %u of \"%s\" (0x%016" PRIx64 ")", v->out,
		    n->desc, n->guid);
}

static bool next_detail(void *context, uint32_t at[2], struct dl_live_query *q)
{
	const struct walk *w = context;
	const struct detail *d = &w->details[at[0]];

	if (at[0] == w->ndetails)
		return false;
	q->key[0] = at[0]++;
	q->to = w->found->nodes[d->node]->path;
	q->attr = d->attr;
	q->mod = d->port;
	return true;
}

static void detail_answer(void *context, const struct dl_live_query *q, int status)
{
	struct walk *w = context;
	const struct detail *d = &w->details[q->key[0]];
	struct dl_live_node *n = w->found->nodes[d->node];

	if (status) {
		dl_live_gap(w->l,
			    "\"%s\" (0x%016" PRIx64 ") does not answer for attribute 0x%x, %u",
			    n->desc, n->guid, d->attr, d->port);
		return;
	}
	if (d->attr == IB_ATTR_NODE_DESC) {
		memcpy(n->desc, q->data, IB_SMP_DATA_SIZE);
		dl_text_clean(n->desc);
	} else if (d->attr == IB_ATTR_SWITCH_INFO) {
		memcpy(n->switch_info, q->data, IB_SMP_DATA_SIZE);
	} else {
		memcpy(n->ports[d->port].info, q->data, IB_SMP_DATA_SIZE);
		n->ports[d->port].answered = true;
	}
}

static int add_visit(struct walk *w, const ib_portid_t *path, uint32_t from, uint8_t out)
{
	struct visit *v;

	if (!dl_array_room(w->visits, w->nvisits, 1, &w->visits_cap))
		return -ENOMEM;
	v = &w->visits[w->nvisits++];
	*v = (struct visit){ .to = *path, .from = from, .out = out };
	if (from != DL_NONE)
		v->to.drpath.p[++v->to.drpath.cnt] = out;
	return 0;
}

static int add_detail(struct walk *w, uint32_t node, uint16_t attr, uint8_t port)
{
	if (!dl_array_room(w->details, w->ndetails, 1, &w->details_cap))
		return -ENOMEM;
	w->details[w->ndetails++] = (struct detail){ node, attr, port };
	return 0;
}

/* ---- nodes -------------------------------------------------------------- */

/* The queries about a new node. */
static int ask_about(struct walk *w, const struct dl_live_node *n)
{
	int err = add_detail(w, n->number, IB_ATTR_NODE_DESC, 0);

	if (n->type != DL_FABRIC_SWITCH)
		return err;
	if (!err)
		err = add_detail(w, n->number, IB_ATTR_SWITCH_INFO, 0);
	for (unsigned int p = 0; !err && p <= n->nports; p++)
		err = add_detail(w, n->number, IB_ATTR_PORT_INFO, p);
	return err;
}

static int new_node(struct walk *w, const struct visit *v, struct dl_live_node **out)
{
	struct dl_live_found *found = w->found;
	unsigned int type = dl_live_field(v->info, IB_NODE_TYPE_F);
	uint64_t guid = mad_get_field64((void *)v->info, 0, IB_NODE_GUID_F);
	unsigned int nports = dl_fabric_ports(w->l->log, dl_live_field(v->info, IB_NODE_NPORTS_F),
					      guid, "a node");
	struct dl_live_node *n;

	if (!dl_array_room(found->nodes, found->n, 1, &found->cap))
		return -ENOMEM;
	n = calloc(1, sizeof(*n) + (nports + 1) * sizeof(*n->ports));
	if (!n)
		return -ENOMEM;
	*n = (struct dl_live_node){
		.guid = guid, .type = type, .nports = nports, .number = found->n, .path = v->to
	};
	memcpy(n->info, v->info, sizeof(n->info));
	snprintf(n->desc, sizeof(n->desc), "a node"); /* until it says more */
	for (unsigned int p = 0; p <= nports; p++)
		n->ports[p].far = DL_NONE;
	found->nodes[found->n++] = n;
	*out = n;
	return ask_about(w, n);
}

/*
 * The node that answered, new or known.  NULL in *out: it contradicts itself
 * or what is known, and is left out.
 */
static int walk_meet(struct walk *w, const struct visit *v, struct dl_live_node **out)
{
	unsigned int type = dl_live_field(v->info, IB_NODE_TYPE_F);
	struct dl_live_node key = { .guid = mad_get_field64((void *)v->info, 0, IB_NODE_GUID_F) };
	struct dl_live_node **known = tfind(&key, &w->by_guid, compare_guids), *n;
	int err;

	*out = NULL;
	if (type < DL_FABRIC_CA || type > DL_FABRIC_ROUTER || !key.guid)
		return 0;
	n = known ? *known : NULL;
	if (n && n->type != DL_FABRIC_SWITCH && type == DL_FABRIC_SWITCH) {
		dl_log(w->l->log, DL_LOG_WARNING,
		       "\"%s\" has GUID 0x%016" PRIx64 ", that of a switch: left out", n->desc,
		       n->guid);
		n->left_out = true;
		tdelete(n, &w->by_guid, compare_guids);
		n = NULL;
	}
	if (n) {
		if (n->type == type &&
		    n->nports ==
			    dl_fabric_ports(NULL, dl_live_field(v->info, IB_NODE_NPORTS_F), 0, ""))
			*out = n;
		return 0;
	}
	w->full = w->found->n == MAX_NODES;
	if (w->full)
		return 0;
	err = new_node(w, v, &n);
	if (!err && !tsearch(n, &w->by_guid, compare_guids))
		err = -ENOMEM;
	if (!err)
		*out = n;
	return err;
}

/* The node that answered is behind the port that the visit went out of. */
static int take_visit(struct walk *w, const struct visit *v)
{
	struct dl_live_node *n, *from = v->from == DL_NONE ? NULL : w->found->nodes[v->from];
	unsigned int in = dl_live_field(v->info, IB_NODE_LOCAL_PORT_F);
	int err = v->answered ? walk_meet(w, v, &n) : 0;

	if (err || !v->answered)
		return err;
	if (n && in <= n->nports && (in || n->type == DL_FABRIC_SWITCH)) {
		if (from) {
			from->ports[v->out].far = n->number;
			from->ports[v->out].far_num = in;
		}
		if (n->type == DL_FABRIC_SWITCH || n->ports[in].met)
			return 0;
		n->ports[in].met = true;
		n->ports[in].guid = mad_get_field64((void *)v->info, 0, IB_NODE_PORT_GUID_F);
		return add_detail(w, n->number, IB_ATTR_PORT_INFO, in);
	}
	if (from)
		dl_log(w->l->log, DL_LOG_WARNING,
		       "what port %u of \"%s\" (node GUID 0x%016" PRIx64
		       ") leads to says that it is port %u of a node of type %u with %u ports and "
		       "GUID "
		       "0x%016" PRIx64 ", which cannot be: left out",
		       v->out, from->desc, from->guid, in, dl_live_field(v->info, IB_NODE_TYPE_F),
		       dl_live_field(v->info, IB_NODE_NPORTS_F),
		       mad_get_field64((void *)v->info, 0, IB_NODE_GUID_F));
	return 0;
}

/* ---- waves -------------------------------------------------------------- */

/* The ports of a node through which the next wave goes. */
static int go_on(struct walk *w, const struct dl_live_node *n)
{
	int err = 0;

	if (n->left_out || (n->type != DL_FABRIC_SWITCH && n->number) ||
	    n->path.drpath.cnt >= MAX_HOPS)
		return 0;
	for (unsigned int p = 1; !err && p <= n->nports; p++)
		if (n->ports[p].answered &&
		    dl_live_field(n->ports[p].info, IB_PORT_PHYS_STATE_F) == LINK_UP)
			err = add_visit(w, &n->path, n->number, p);
	return err;
}

static int walk_wave(struct walk *w)
{
	const struct dl_live_queries visits = { "links", w, next_visit, visit_answer };
	const struct dl_live_queries details = { "nodes", w, next_detail, detail_answer };
	uint32_t first = w->found->n;
	int err = dl_live_mads_run(w->l->mads, &visits);

	w->ndetails = 0;
	for (uint32_t i = 0; !err && i < w->nvisits; i++)
		err = take_visit(w, &w->visits[i]);
	if (!err)
		err = dl_live_mads_run(w->l->mads, &details);
	w->nvisits = 0;
	for (uint32_t i = first; !err && i < w->found->n; i++)
		err = go_on(w, w->found->nodes[i]);
	return err;
}

static void walk_keep(void *node)
{
	(void)node;
}

int dl_live_walk(struct dl_live *l, struct dl_live_found *found)
{
	struct walk w = { .l = l, .found = found };
	int err = add_visit(&w, &l->self, DL_NONE, 0);

	while (!err && w.nvisits)
		err = walk_wave(&w);
	if (w.full)
		dl_log(l->log, DL_LOG_WARNING,
		       "more than %u nodes answer, which no subnet holds: the rest is left out",
		       MAX_NODES);
	tdestroy(w.by_guid, walk_keep);
	free(w.visits);
	free(w.details);
	return err;
}

void dl_live_found_free(struct dl_live_found *found)
{
	for (uint32_t i = 0; i < found->n; i++)
		free(found->nodes[i]);
	free(found->nodes);
}
