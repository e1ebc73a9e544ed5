/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Is every VL served on which packets leave a port (rules B10)?
 *
 * A VL that no entry of a port's arbitration tables names is never sent, and one
 * that is in the low table only waits for as long as the high table has packets
 * and no limit (VLHighLimit 255).  Where the tables of a port are not known, and
 * on ports with one VL, which have none, nothing is found.
 *
 * unicast.c and multicast.c collect the VLs on which packets leave switches; what
 * adapters send follows here from their path SLs.
 *
 * Complexity: linear in the ports, and in the pairs of classes of path SLs.
 */
#include <errno.h>
#include <string.h>

#include "verify/internal.h"

#define SERVED_UNKNOWN 16 /* in the place of an SL */

/* What adapters send, by their path SLs. */
struct served {
	struct dl_verify_net *net;
	uint32_t *lids; /* by class of destinations: LIDs; the last: without a class */
	uint32_t class; /* of sources, that was counted last, or DL_NONE */
	uint32_t count[SERVED_UNKNOWN + 1]; /* LIDs by the SL to them */
};

static unsigned int served_sl(const struct served *s, uint32_t to)
{
	const struct dl_tables *t = s->net->t;
	uint8_t sl = to == DL_NONE ? DL_TABLES_NO_SL : t->psl[s->class * (size_t)t->npsl_dst + to];

	return sl < SERVED_UNKNOWN ? sl : SERVED_UNKNOWN;
}

/* Sources of a class follow each other. */
static void served_count(struct served *s, uint32_t class)
{
	uint32_t n = s->net->t->npsl_dst;

	if (s->class == class)
		return;
	s->class = class;
	memset(s->count, 0, sizeof(s->count));
	for (uint32_t d = 0; d < n; d++)
		s->count[served_sl(s, d)] += s->lids[d];
	s->count[SERVED_UNKNOWN] += s->lids[n];
}

/* The SLs of an end port to all LIDs but its own; any, where one is not known. */
static uint16_t served_sls(struct served *s, uint32_t port)
{
	const struct dl_tables *t = s->net->t;
	const struct dl_fabric_port *p = &s->net->f->ports[port];
	uint32_t own[SERVED_UNKNOWN + 1] = { 0 };
	uint16_t sls = 0;

	if (!t->psl || t->psl_src[port] == DL_NONE)
		return s->net->alive;
	served_count(s, t->psl_src[port]);
	for (uint32_t lid = p->lid; lid < p->lid + (1u << p->lmc); lid++)
		own[served_sl(s, t->psl_dst[lid])]++;
	for (unsigned int sl = 0; sl < SERVED_UNKNOWN; sl++)
		if (s->count[sl] > own[sl])
			sls |= dl_verify_net_sls(s->net, sl);
	return s->count[SERVED_UNKNOWN] > own[SERVED_UNKNOWN] ? s->net->alive : sls;
}

/* The VLs to which an adapter maps SLs at its own port. */
static uint16_t served_adapter_vls(const struct dl_verify_net *net, uint32_t port, uint16_t sls)
{
	dl_tables_sl2vl_row row = dl_verify_net_effective(net->t, net->t->end_sl2vl[port],
							  net->f->ports[port].vls, false);
	uint16_t vls = 0;

	for (; sls; sls &= sls - 1)
		vls |= 1u << dl_tables_sl2vl_get(row, __builtin_ctz(sls));
	return vls;
}

static int served_add_adapters(struct dl_verify_net *net, const struct dl_verify_options *o)
{
	const struct dl_tables *t = net->t;
	uint32_t classes = t->psl ? t->npsl_dst : 0;
	uint16_t given = o->sls == DL_VERIFY_ANY_SL ? net->alive : o->sls;
	struct served s = {
		.net = net,
		.class = DL_NONE,
		.lids = dl_arena_array(net->arena, classes + 1ul, sizeof(*s.lids)),
	};

	if (!s.lids)
		return -ENOMEM;
	for (uint32_t lid = 1; t->psl && lid <= net->f->top_lid; lid++)
		if (dl_verify_net_owner(net, lid) != DL_NONE)
			s.lids[t->psl_dst[lid] == DL_NONE ? classes : t->psl_dst[lid]]++;
	for (uint32_t i = 0; i < net->end_first[net->nsw]; i++) {
		uint32_t port = net->end_ports[i];
		uint16_t sls = 0;

		if (net->nends > 1)
			sls = given ? given : served_sls(&s, port);
		if (net->sends_groups[port])
			sls |= o->multicast_sls & net->alive;
		if (net->f->ports[port].num)
			net->leaving[port] |= served_adapter_vls(net, port, sls);
	}
	return 0;
}

static int served_list(struct dl_verify_result *v, uint32_t port, uint16_t vls, uint32_t *cap)
{
	for (; vls; vls &= vls - 1) {
		if (!dl_array_room(v->starved, v->nstarved, 1, cap))
			return -ENOMEM;
		v->starved[v->nstarved++] = (struct dl_verify_starved){ port, __builtin_ctz(vls) };
	}
	return 0;
}

int dl_verify_find_starved(struct dl_verify_net *net, const struct dl_verify_options *o,
			   struct dl_verify_result *v)
{
	const struct dl_tables *t = net->t;
	int err = served_add_adapters(net, o);
	uint32_t cap = 0;

	for (uint32_t l = 0; l < net->links.n; l++)
		if (!net->vague[l])
			net->leaving[net->links.link[l].port] |= net->vls[l];
	for (uint32_t p = 0; !err && p < net->f->nports; p++) {
		uint16_t used = net->leaving[p] & ~(1u << 15);

		if (used && net->f->ports[p].num && t->vlarb[p] != DL_TABLES_NO_ROW)
			err = served_list(v, p,
					  used & ~dl_tables_vlarb_serves(&t->arbs[t->vlarb[p]],
									 &net->f->ports[p], used),
					  &cap);
	}
	return err;
}
