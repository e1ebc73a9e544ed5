/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One packet, hop by hop: for explanations, where the check itself only knows
 * that some packet of a set is concerned.
 */

#include "verify/internal.h"

int dl_verify_walk_start(const struct dl_verify_net *net, struct dl_verify_walk *w)
{
	w->hops = 0;
	w->vl = 0;
	w->out = DL_TABLES_NO_PORT;
	w->sw = dl_fabric_access_switch(net->f, w->src);
	if (w->sw == DL_NONE)
		return -1 - DL_VERIFY_UNATTACHED;
	w->in = dl_fabric_access_port(net->f, w->src);
	if (w->sl != DL_TABLES_NO_SL && !(net->end_passes[w->src] >> w->sl & 1))
		return -1 - DL_VERIFY_NO_VL;
	return 0;
}

/* The end port that an output port of a switch feeds, or DL_NONE. */
static uint32_t end_port_at(const struct dl_fabric *f, uint32_t sw, unsigned int out)
{
	uint32_t port = dl_fabric_switch_node(f, sw)->first_port + out;

	return out ? f->ports[port].peer : port;
}

int dl_verify_walk_step(const struct dl_verify_net *net, struct dl_verify_walk *w, uint32_t *link)
{
	const struct dl_fabric *f = net->f;
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, w->sw);
	uint32_t end, row, to;

	w->out = dl_tables_lft(net->t, w->sw, w->dlid);
	if (w->out == DL_TABLES_NO_PORT)
		return -1 - DL_VERIFY_NO_ENTRY;
	end = w->out > n->nports ? DL_NONE : end_port_at(f, w->sw, w->out);
	if (end == DL_NONE)
		return -1 - DL_VERIFY_DEAD_PORT;
	to = dl_verify_net_link(net, w->sw, w->out);
	if (to == DL_NONE && end != w->dst)
		return -1 - DL_VERIFY_WRONG_END;
	row = net->rows[dl_verify_net_row(net, w->sw, w->in, w->out)];
	if (w->sl != DL_TABLES_NO_SL) {
		w->vl = dl_tables_sl2vl_get(net->values[row], w->sl);
		if (w->vl == 15)
			return -1 - DL_VERIFY_NO_VL;
	}
	if (to == DL_NONE)
		return 0;
	/* A routing loop is gone round once, to see all that it makes wait. */
	if (++w->hops > 2 * net->nsw + 1)
		return -1 - DL_VERIFY_FORWARDING_LOOP;
	*link = to;
	w->in = net->links.link[to].in;
	w->sw = net->links.link[to].to;
	return 1;
}
