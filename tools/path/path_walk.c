/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Packets followed through the tables, unicast and multicast; see path.h. */
#include "config.h"

#include <stdlib.h>

#include "path.h"
#include "tools/verify/verify.h"

json_t *path_cable_json(const struct tool_input *in, uint32_t port)
{
	uint32_t peer = in->fabric->ports[port].peer;

	return json_pack("{s:o, s:o}", "from", tool_json_placed_port(&in->coords, in->fabric, port),
			 "to",
			 peer == DL_NONE ? json_null() :
					   tool_json_placed_port(&in->coords, in->fabric, peer));
}

json_t *path_end_json(const struct tool_input *in, uint32_t port)
{
	return tool_json_with(tool_json_placed_port(&in->coords, in->fabric, port), "lid",
			      json_integer(in->fabric->ports[port].lid));
}

/* ---- steps --------------------------------------------------------------- */

/* One step of a packet. */
struct path_step {
	uint32_t in, out, next; /* port indices; `next` of another switch; DL_NONE: none */
	unsigned int vl;	/* 15: dropped; PATH_VL: unknown */
	const char *reason;	/* why the packet ends here; NULL: it goes on or arrives */
};

#define PATH_VL 16

/* Where an end port's packets enter the first switch, or DL_NONE. */
static uint32_t path_entrance(const struct dl_fabric *f, uint32_t end_port)
{
	if (dl_fabric_is_switch(f, f->ports[end_port].node))
		return end_port;
	return dl_fabric_peer_switch(f, end_port) == DL_NONE ? DL_NONE : f->ports[end_port].peer;
}

/* The VL with which a packet leaves; PATH_VL: no map is known, or no SL. */
static unsigned int path_vl(const struct dl_tables *t, uint32_t in, uint32_t out, unsigned int sl)
{
	const struct dl_fabric_port *p = &t->fabric->ports[out];
	const struct dl_fabric_node *n = &t->fabric->nodes[p->node];
	uint16_t row;

	if (n->sw == DL_NONE)
		row = t->end_sl2vl[out];
	else
		row = t->sl2vl[dl_tables_map_index(t, n->sw, t->fabric->ports[in].num, p->num)];
	if (row == DL_TABLES_NO_ROW || sl > 15)
		return PATH_VL;
	return dl_tables_sl2vl_get(t->rows[row], sl);
}

/*
 * The step of a unicast packet that enters a switch (by its port `in`; port 0
 * where it begins).
 */
static struct path_step path_step(const struct dl_tables *t, uint32_t in, uint16_t lid,
				  unsigned int sl)
{
	const struct dl_fabric *f = t->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->ports[in].node];
	struct path_step s = { in, DL_NONE, DL_NONE, PATH_VL, NULL };
	uint8_t port = dl_tables_lft(t, n->sw, lid);

	if (port == DL_TABLES_NO_PORT || port > n->nports) {
		s.reason = verify_fault_text(DL_VERIFY_NO_ENTRY);
		return s;
	}
	s.out = n->first_port + port;
	if (!port) {
		if (f->lid_port[lid] != s.out)
			s.reason = verify_fault_text(DL_VERIFY_WRONG_END);
		return s;
	}
	s.vl = path_vl(t, in, s.out, sl);
	if (f->ports[s.out].peer == DL_NONE)
		s.reason = verify_fault_text(DL_VERIFY_DEAD_PORT);
	else if (s.vl == 15)
		s.reason = verify_fault_text(DL_VERIFY_NO_VL);
	else if (dl_fabric_peer_switch(f, s.out) != DL_NONE)
		s.next = f->ports[s.out].peer;
	else if (f->ports[s.out].peer != f->lid_port[lid])
		s.reason = verify_fault_text(DL_VERIFY_WRONG_END);
	return s;
}

bool path_passes(const struct dl_tables *t, uint32_t from, uint16_t lid, uint32_t port)
{
	uint32_t at = path_entrance(t->fabric, from);
	bool passed = false;

	for (uint32_t hop = 0; at != DL_NONE && hop <= t->fabric->nswitches; hop++) {
		struct path_step s = path_step(t, at, lid, PATH_SL);

		passed |= s.out == port;
		if (s.next == DL_NONE)
			return passed && !s.reason;
		at = s.next;
	}
	return false;
}

/* ---- documents ----------------------------------------------------------- */

static json_t *path_port_number(const struct dl_fabric *f, uint32_t port)
{
	return port == DL_NONE ? json_null() : json_integer(f->ports[port].num);
}

static json_t *hop_json(const struct tool_input *in, const struct path_request *r,
			const struct path_step *s, uint32_t node)
{
	const struct dl_fabric *f = in->fabric;
	bool cabled = s->out != DL_NONE && f->ports[s->out].num;
	json_t *j = tool_json_placed_node(&in->coords, f, node);

	json_object_update_new(
		j,
		json_pack("{s:o, s:o, s:o, s:o}", "in", path_port_number(f, s->in), "out",
			  path_port_number(f, s->out), "vl",
			  tool_json_or_null(s->vl != PATH_VL, s->vl), "speed",
			  cabled ? tool_json_speed(f->ports[s->out].width, f->ports[s->out].speed) :
				   json_null()));
	if (cabled && r->counted)
		json_object_set_new(j, "counters", path_counters_json(r, f, s->out));
	return j;
}

/* The hops into `hops`; returns why the packet does not arrive, or NULL. */
static const char *path_follow(const struct tool_input *in, const struct path_request *r,
			       uint32_t from, uint16_t lid, unsigned int sl, json_t *hops)
{
	const struct dl_tables *t = in->snapshot.tables;
	const struct dl_fabric *f = in->fabric;
	uint32_t at = path_entrance(f, from), hop = 0;
	struct path_step s = { DL_NONE, from, DL_NONE, path_vl(t, from, from, sl), NULL };

	if (!dl_fabric_is_switch(f, f->ports[from].node))
		json_array_append_new(hops, hop_json(in, r, &s, f->ports[from].node));
	if (at == DL_NONE)
		return verify_fault_text(DL_VERIFY_UNATTACHED);
	if (s.vl == 15 && !dl_fabric_is_switch(f, f->ports[from].node))
		return verify_fault_text(DL_VERIFY_NO_VL);
	for (; hop <= f->nswitches; hop++) {
		s = path_step(t, at, lid, sl);
		json_array_append_new(hops, hop_json(in, r, &s, f->ports[at].node));
		if (s.next == DL_NONE)
			return s.reason;
		at = s.next;
	}
	return verify_fault_text(DL_VERIFY_FORWARDING_LOOP);
}

static json_t *one_path(const struct tool_input *in, const struct path_request *r, uint32_t from,
			uint16_t lid, bool *delivered)
{
	const struct dl_tables *t = in->snapshot.tables;
	uint32_t to = in->fabric->lid_port[lid];
	unsigned int granted = dl_tables_path_sl(t, from, lid);
	unsigned int sl = r->sl == PATH_SL ? granted : r->sl;
	json_t *hops = json_array();
	const char *reason = path_follow(in, r, from, lid, sl, hops);

	*delivered &= !reason;
	return json_pack("{s:o, s:o, s:i, s:o, s:o, s:b, s:s?, s:o}", "from",
			 path_end_json(in, from), "to", path_end_json(in, to), "lid", lid, "sl",
			 tool_json_or_null(sl != DL_TABLES_NO_SL, sl), "path_sl",
			 tool_json_or_null(granted != DL_TABLES_NO_SL, granted), "delivered",
			 !reason, "reason", reason, "hops", hops);
}

json_t *path_pair_json(const struct tool_input *in, const struct path_request *r,
		       const struct find_result *from, const struct find_result *to)
{
	const struct find_result *ends[3] = { from, to, from };
	json_t *paths = json_array();
	bool delivered = true;

	for (unsigned int way = 0; way < 1u + r->both_ways; way++) {
		const struct dl_fabric_port *p = &in->fabric->ports[ends[way + 1]->port];
		uint16_t first = r->all_lids ? p->lid : ends[way + 1]->lid;
		uint32_t n = r->all_lids ? 1u << p->lmc : 1;

		for (uint32_t i = 0; i < n; i++)
			json_array_append_new(paths, one_path(in, r, ends[way]->port, first + i,
							      &delivered));
	}
	return json_pack("{s:b, s:o}", "delivered", delivered, "paths", paths);
}

/* ---- multicast ----------------------------------------------------------- */

/* A copy that enters a switch. */
struct copy {
	uint32_t in;
	uint32_t depth; /* switches before this one */
};

struct spread {
	const struct tool_input *in;
	const struct dl_tables_masks *masks;
	unsigned int sl;
	uint32_t from, to;
	bool reached;	     /* has `to` its copy? */
	const char *reason;  /* what is wrong, or NULL */
	struct copy *queue;  /* each switch once, unless copies meet */
	uint32_t head, tail; /* of the queue */
	bool *seen;	     /* by switch */
	json_t *hops, *members;
};

static void copy_out(struct spread *s, uint32_t in, uint32_t out, uint32_t depth, json_t *outs)
{
	const struct dl_fabric *f = s->in->fabric;
	unsigned int vl = f->ports[out].num ? path_vl(s->in->snapshot.tables, in, out, s->sl) :
					      PATH_VL;
	uint32_t far = f->ports[out].num ? f->ports[out].peer : out, sw;

	json_array_append_new(outs, json_pack("{s:i, s:o}", "port", f->ports[out].num, "vl",
					      tool_json_or_null(vl != PATH_VL, vl)));
	if (vl == 15)
		s->reason = "the SL maps to no VL of a port";
	if (far == DL_NONE || vl == 15)
		return;
	if (dl_fabric_is_end_port(f, far)) {
		s->reached |= far == s->to;
		json_array_append_new(s->members, path_end_json(s->in, far));
		return;
	}
	sw = f->nodes[f->ports[far].node].sw;
	if (s->seen[sw]) {
		s->reason = "two copies reach the same switch";
		return;
	}
	s->seen[sw] = true;
	s->queue[s->tail++] = (struct copy){ far, depth + 1 };
}

static void spread_at(struct spread *s, const struct copy *c)
{
	const struct dl_fabric *f = s->in->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->ports[c->in].node];
	json_t *hop = tool_json_placed_node(&s->in->coords, f, f->ports[c->in].node),
	       *outs = json_array();

	for (unsigned int p = 0; p <= n->nports; p++)
		if (p != f->ports[c->in].num && dl_tables_mask_get(s->masks, n->sw, p))
			copy_out(s, c->in, n->first_port + p, c->depth, outs);
	json_object_update_new(hop, json_pack("{s:i, s:i, s:o}", "depth", c->depth, "in",
					      f->ports[c->in].num, "out", outs));
	json_array_append_new(s->hops, hop);
}

static void path_spread_all(struct spread *s)
{
	uint32_t at = path_entrance(s->in->fabric, s->from);

	if (!s->masks)
		s->reason = "the switches have no such group";
	else if (at == DL_NONE)
		s->reason = verify_fault_text(DL_VERIFY_UNATTACHED);
	if (s->reason)
		return;
	s->seen[s->in->fabric->nodes[s->in->fabric->ports[at].node].sw] = true;
	s->queue[s->tail++] = (struct copy){ at, 0 };
	while (s->head < s->tail)
		spread_at(s, &s->queue[s->head++]);
	if (s->to != DL_NONE && !s->reached && !s->reason)
		s->reason = verify_fault_text(DL_VERIFY_NO_COPY);
}

json_t *path_multicast_json(const struct tool_input *in, const struct path_request *r,
			    uint32_t from, uint32_t to)
{
	const struct dl_tables *t = in->snapshot.tables;
	const struct dl_tables_mcast_group *group = dl_tables_find_group(t, r->mlid);
	uint32_t n = in->fabric->nswitches + 1;
	struct spread s = { .in = in,
			    .masks = group ? &group->masks : NULL,
			    .from = from,
			    .to = to,
			    .sl = r->sl == PATH_SL ? 0 : r->sl };
	json_t *document = NULL;

	s.queue = calloc(n, sizeof(*s.queue));
	s.seen = calloc(n, sizeof(*s.seen));
	if (s.queue && s.seen) {
		s.hops = json_array();
		s.members = json_array();
		path_spread_all(&s);
		document = json_pack("{s:b, s:{s:o, s:o, s:o, s:i, s:s?, s:o, s:o}}", "delivered",
				     !s.reason, "multicast", "from", path_end_json(in, from), "to",
				     to == DL_NONE ? json_null() : path_end_json(in, to), "mlid",
				     json_sprintf("0x%04X", r->mlid), "sl", s.sl, "reason",
				     s.reason, "hops", s.hops, "members", s.members);
	}
	free(s.queue);
	free(s.seen);
	return document;
}
