/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What of a fabric is connected, and what of it can be routed.
 *
 * One device must not keep the others from being routed.  So three things are left
 * out, and named: few cables between switches with one data VL, where the others have
 * the two that a torus needs; switches whose forwarding tables are too short for the
 * LIDs in use (which are those that most switches have room for); and what no cable
 * connects to the rest, then.
 *
 * Complexity: O(ports).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"

#define MAX_NAMED 20
#define MAX_ALONE 3  /* nodes that are named in lines of their own ... */
#define MAX_LISTED 8 /* ... and in one line for all */

struct parts {
	const struct dl_fabric *f;
	uint32_t *label; /* by switch: the first switch of its part, or DL_NONE */
	uint32_t *queue;
	bool *dead, *cut; /* as for dl_fabric_degrade(); NULL: nothing is left out */
};

static void parts_free(struct parts *p)
{
	free(p->label);
	free(p->queue);
	free(p->dead);
	free(p->cut);
}

static int parts_labels(struct parts *p)
{
	size_t size = p->f->nswitches * sizeof(*p->label);

	p->label = malloc(size + 1);
	p->queue = malloc(size + 1);
	if (!p->label || !p->queue)
		return -ENOMEM;
	memset(p->label, 0xFF, size); /* DL_NONE */
	return 0;
}

static int parts_new(const struct dl_fabric *f, struct parts *p)
{
	*p = (struct parts){ .f = f,
			     .dead = calloc(f->nnodes + 1ul, sizeof(*p->dead)),
			     .cut = calloc(f->nports + 1ul, sizeof(*p->cut)) };
	return p->dead && p->cut ? parts_labels(p) : -ENOMEM;
}

/* Label what a switch is connected to; returns how many switches that is. */
static uint32_t label_part(struct parts *p, uint32_t from)
{
	const struct dl_fabric *f = p->f;
	uint32_t tail = 0;

	p->label[from] = from;
	p->queue[tail++] = from;
	for (uint32_t head = 0; head < tail; head++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, p->queue[head]);

		for (unsigned int i = 1; i <= n->nports; i++) {
			uint32_t sw = dl_fabric_peer_switch(f, n->first_port + i);

			if (sw == DL_NONE || p->label[sw] != DL_NONE ||
			    (p->dead && (p->dead[f->switches[sw]] || p->cut[n->first_port + i])))
				continue;
			p->label[sw] = from;
			p->queue[tail++] = sw;
		}
	}
	return tail;
}

int dl_fabric_is_connected(const struct dl_fabric *f)
{
	struct parts parts = { .f = f };
	uint32_t first = DL_NONE, sw;
	int connected = parts_labels(&parts) ? -ENOMEM : 1;

	for (uint32_t p = 0; connected == 1 && p < f->nports; p++) {
		if (!f->ports[p].lid || !dl_fabric_is_end_port(f, p))
			continue;
		sw = dl_fabric_access_switch(f, p);
		if (first == DL_NONE && sw != DL_NONE)
			label_part(&parts, first = sw);
		connected = sw != DL_NONE && parts.label[sw] == first;
	}
	if (first == DL_NONE && connected == 1)
		connected = 0; /* there is no port to be connected */
	parts_free(&parts);
	return connected;
}

/* ---- what is not used ------------------------------------------------------- */

/* Has this end of a cable, or the other one, one data VL? */
static bool is_narrow(const struct dl_fabric *f, uint32_t port)
{
	return f->ports[port].vls == 1 || f->ports[f->ports[port].peer].vls == 1;
}

/* Cuts those cables, if they are few; returns how many, each named. */
static uint32_t cut_narrow(struct parts *p, const struct dl_log *log)
{
	const struct dl_fabric *f = p->f;
	uint32_t ends = 0, narrow = 0, n = 0;

	for (uint32_t i = 0; i < f->nports; i++)
		if (dl_fabric_joins_switches(f, i)) {
			ends++;
			narrow += is_narrow(f, i);
		}
	if (!narrow || narrow >= ends / 2)
		return 0;
	for (uint32_t i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *a = &f->ports[i], *b;

		if (!dl_fabric_joins_switches(f, i) || !is_narrow(f, i))
			continue;
		b = &f->ports[a->peer];
		p->cut[i] = true;
		if (a->peer > i && n++ < MAX_NAMED)
			dl_log(log, DL_LOG_WARNING,
			       "1 data VL between port %u of \"%s\" and port %u of \"%s\", where a "
			       "torus needs 2 and most cables have more: not used",
			       a->num, dl_fabric_node_name(f, a->node), b->num,
			       dl_fabric_node_name(f, b->node));
	}
	if (n > MAX_NAMED)
		dl_log(log, DL_LOG_WARNING, "... and %u cables more with 1 data VL", n - MAX_NAMED);
	return n;
}

/* Leaves out switches without room for the LIDs in use; returns how many, each named. */
static uint32_t leave_short(struct parts *p, const struct dl_log *log, enum dl_log_level level)
{
	const struct dl_fabric *f = p->f;
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *node = dl_fabric_switch_node(f, s);

		if (!node->lft_cap || node->lft_cap > f->top_lid)
			continue;
		p->dead[f->switches[s]] = true;
		if (n++ < MAX_NAMED)
			dl_log(log, level,
			       "0x%016" PRIx64 " \"%s\" has forwarding entries for LIDs up to %u, "
			       "where %u is in use: left out",
			       node->guid, dl_fabric_node_name(f, f->switches[s]),
			       node->lft_cap - 1u, f->top_lid);
	}
	if (n > MAX_NAMED)
		dl_log(log, level, "... and %u switches more with too few forwarding entries",
		       n - MAX_NAMED);
	return n;
}

/* ---- the part that is left --------------------------------------------------- */

/* Is one of its ports, or itself, in this part? */
static bool is_in_part(const struct parts *p, uint32_t node, uint32_t part)
{
	const struct dl_fabric *f = p->f;
	const struct dl_fabric_node *n = &f->nodes[node];

	for (unsigned int i = 0; i <= n->nports; i++) {
		uint32_t sw = dl_fabric_access_switch(f, n->first_port + i);

		if (sw != DL_NONE && p->label[sw] == part)
			return true;
	}
	return false;
}

/* Labels all; the part of this end port, or else the largest, or DL_NONE. */
static uint32_t find_part(struct parts *p, uint32_t from)
{
	const struct dl_fabric *f = p->f;
	uint32_t part = DL_NONE, most = 0, sw;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		uint32_t n = p->label[s] == DL_NONE && !p->dead[f->switches[s]] ? label_part(p, s) :
										  0;

		part = n > most ? s : part;
		most = n > most ? n : most;
	}
	sw = from == DL_NONE ? DL_NONE : dl_fabric_access_switch(f, from);
	return sw == DL_NONE || p->label[sw] == DL_NONE ? part : p->label[sw];
}

/* Many at once, such as a switch with its adapters, are one line. */
static void report_others(const struct parts *p, const uint32_t *few, uint32_t n,
			  const struct dl_log *log, enum dl_log_level level)
{
	const struct dl_fabric *f = p->f;
	char names[MAX_LISTED * 72] = "";
	size_t used = 0;

	for (uint32_t i = 0; n <= MAX_ALONE && i < n; i++)
		dl_log(log, level,
		       "0x%016" PRIx64 " \"%s\" is connected to no switch of the rest: left out",
		       f->nodes[few[i]].guid, dl_fabric_node_name(f, few[i]));
	if (n <= MAX_ALONE)
		return;
	for (uint32_t i = 0; i < n && i < MAX_LISTED; i++)
		used += snprintf(names + used, sizeof(names) - used, "%s\"%.64s\"", i ? ", " : "",
				 dl_fabric_node_name(f, few[i]));
	if (n > MAX_LISTED)
		dl_log(log, level,
		       "%u nodes are connected to no switch of the rest: left out: %s and %u more",
		       n, names, n - MAX_LISTED);
	else
		dl_log(log, level, "%u nodes are connected to no switch of the rest: left out: %s",
		       n, names);
}

/* Leaves out all nodes that are not in the part; returns how many. */
static uint32_t leave_others(struct parts *p, uint32_t part, const struct dl_log *log,
			     enum dl_log_level level)
{
	uint32_t n = 0, few[MAX_LISTED];

	for (uint32_t i = 0; part != DL_NONE && i < p->f->nnodes; i++) {
		if (p->dead[i] || is_in_part(p, i, part))
			continue;
		p->dead[i] = true;
		if (n < MAX_LISTED)
			few[n] = i;
		n++;
	}
	report_others(p, few, n, log, level);
	return n;
}

int dl_fabric_main_part(const struct dl_fabric *f, const struct dl_fabric_part *o,
			const struct dl_log *log, struct dl_fabric **out)
{
	struct parts parts;
	int err = parts_new(f, &parts);
	uint32_t n = 0, others = 0;

	*out = NULL;
	if (!err && o->two_vls)
		n += cut_narrow(&parts, log);
	if (!err)
		n += leave_short(&parts, log, o->level);
	if (!err)
		others = leave_others(&parts, find_part(&parts, o->from), log, o->level);
	if (!err && n + others)
		err = dl_fabric_degrade(f, parts.dead, parts.cut, out);
	parts_free(&parts);
	return err ? err : (int)others;
}
