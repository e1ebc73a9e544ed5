/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hosts as clients of the subnet administrator: each joins the broadcast group of
 * IPoIB, again when the subnet manager asks it to register again; and they ask for
 * paths, one by one or all from a host, until they get an answer.  What is granted is
 * held for ever, as connections do: packets of a pair may carry every SL that it was given,
 * until the log says that all have to reconnect.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define CLASS_SA 0x03
#define PATH_RECORD 0x35
#define MEMBER_RECORD 0x38
#define AGAIN (2 * SIM_SECOND)
#define JOIN_WITHIN (50 * SIM_MS)
#define SPACING (100 * SIM_US)
#define ALL_ENDS 150 /* more: only adapters ask for the path to each other */
#define DRAW UINT32_MAX
#define DRAW_TABLE (DRAW - 1)

static ib_sa_mad_t *new_request(struct sim *sim, struct sim_port *p, struct sim_msg **out)
{
	struct sim_msg *m = sim_msg_new(sim);
	ib_sa_mad_t *s = (ib_sa_mad_t *)m->mad.bytes;

	s->base_ver = 1;
	s->mgmt_class = CLASS_SA;
	s->class_ver = 2;
	m->mad.lid = be16toh(p->info.master_sm_base_lid);
	m->mad.qpn = 1;
	*out = m;
	return s;
}

static struct sim_port *asking_port(struct sim *sim, uint32_t port)
{
	struct sim_port *p = &sim->ports[port];

	return sim->nodes[p->node].dead || !p->info.base_lid || !p->info.master_sm_base_lid ? NULL :
											      p;
}

/* ---- groups ------------------------------------------------------------------- */

void sim_client_join(struct sim *sim, uint32_t port)
{
	struct sim_port *p = &sim->ports[port];
	uint64_t when = sim->now + sim_random(&sim->random_net, JOIN_WITHIN);

	if (!p->joining)
		sim_events_add(sim, when, SIM_JOIN, p->node, port, NULL);
	p->joining = true;
	p->joined = false;
}

static void join(struct sim *sim, uint32_t port)
{
	struct sim_port *p = asking_port(sim, port);
	ib_member_rec_t *r;
	struct sim_msg *m;
	ib_sa_mad_t *s;

	if (sim->ports[port].joined || !p) {
		sim->ports[port].joining = false;
		return;
	}
	sim_events_add(sim, sim->now + AGAIN, SIM_JOIN, p->node, port, NULL);
	s = new_request(sim, p, &m);
	s->method = IB_MAD_METHOD_SET;
	s->attr_id = htobe16(MEMBER_RECORD);
	s->attr_mod = htobe32(port); /* comes back in the answer */
	s->trans_id = htobe64(++sim->events.order);
	s->comp_mask = IB_MCR_COMPMASK_MGID | IB_MCR_COMPMASK_PORT_GID | IB_MCR_COMPMASK_JOIN_STATE;
	r = (ib_member_rec_t *)s->data;
	memcpy(r->mgid.raw, "\xFF\x12\x40\x1B\xFF\xFF\0\0\0\0\0\0\xFF\xFF\xFF\xFF", 16);
	r->port_gid.unicast.prefix = htobe64(UINT64_C(0xFE80000000000000));
	r->port_gid.unicast.interface_id = htobe64(sim->nodes[p->node].guid + p->num);
	r->scope_state = IB_MC_REC_STATE_FULL_MEMBER;
	sim_transmit(sim, &sim->nodes[p->node], m);
}

static void joined(struct sim *sim, const struct sim_msg *m, const ib_sa_mad_t *s)
{
	uint32_t port = be32toh(s->attr_mod);

	if (port >= sim->nports || s->status)
		return;
	sim->ports[port].joined = true;
	sim->ports[port].joined_sm = m->sm;
	sim->ports[port].joined_run = m->run;
	sim->last_join = sim->now;
}

/* ---- paths -------------------------------------------------------------------- */

static void new_query(struct sim *sim, uint32_t from, uint32_t to, uint32_t path, uint64_t when)
{
	sim->queries = dl_array_grow(sim->queries, sizeof(*sim->queries), sim->nqueries, 1,
				     &sim->queries_cap);
	if (!sim->queries)
		sim_die("no memory");
	sim->queries[sim->nqueries] = (struct sim_query){ from, to, path, when, true };
	sim_events_add(sim, when, SIM_ASK, sim->nqueries++, 0, NULL);
	sim->asked++;
}

static void ask(struct sim *sim, uint32_t number)
{
	struct sim_query *q = &sim->queries[number];
	struct sim_port *from = asking_port(sim, q->from), *to = asking_port(sim, q->to);
	struct sim_msg *m;
	ib_path_rec_t *r;
	ib_sa_mad_t *s;

	if (!q->open)
		return;
	sim_events_add(sim, sim->now + AGAIN, SIM_ASK, number, 0, NULL);
	if (!from || !to)
		return;
	s = new_request(sim, from, &m);
	s->method = IB_MAD_METHOD_GET;
	s->attr_id = htobe16(PATH_RECORD);
	s->attr_mod = htobe32(number);
	s->trans_id = htobe64(++sim->events.order);
	s->comp_mask = IB_PR_COMPMASK_SLID | IB_PR_COMPMASK_DLID | IB_PR_COMPMASK_NUMBPATH;
	r = (ib_path_rec_t *)s->data;
	r->slid = from->info.base_lid;
	r->dlid = htobe16((uint16_t)(be16toh(to->info.base_lid) + q->path));
	r->num_path = 1;
	sim_transmit(sim, &sim->nodes[from->node], m);
}

/* Where every SL is safe, another one than before may be granted. */
static bool keeps_sls(const struct sim *sim, const struct sim_msg *answer)
{
	return answer->sm < 0 || !sim->sms[answer->sm].any_sl;
}

static bool is_end(const struct sim *sim, uint32_t port, bool all)
{
	const struct sim_port *p = &sim->ports[port];
	const struct sim_node *n = &sim->nodes[p->node];

	if (n->absent)
		return false;
	return n->is_switch ? all && !p->num : p->num && p->peer != DL_NONE;
}

/* Has a port the LID of another one, as a write went astray?  Of two ports nobody can tell. */
static bool is_misled(const struct sim *sim, uint32_t port)
{
	const struct sim_node *n = &sim->nodes[sim->ports[port].node];

	return (n->is_switch || n->nports == 1) && n->meant_lid &&
	       sim->ports[port].info.base_lid != n->meant_lid;
}

/* A path between two hosts, now and then. */
static void draw_query(struct sim *sim)
{
	uint32_t port[2];

	sim_events_add(sim, sim->now + sim->o.queries_ms * SIM_MS, SIM_ASK, DRAW, 0, NULL);
	for (unsigned int i = 0; i < 2; i++)
		do
			port[i] = sim_random(&sim->random_net, sim->nports);
		while (!is_end(sim, port[i], false));
	if (port[0] != port[1])
		new_query(sim, port[0], port[1],
			  sim_random(&sim->random_net, sim_judge_paths(sim, port[1])), sim->now);
}

/* ---- tables of paths ----------------------------------------------------------- */

/* All paths from a host, now and then; an answer that has not come until then never does. */
static void ask_table(struct sim *sim)
{
	struct sim_inbox *in = &sim->inbox;
	uint32_t port;
	struct sim_port *from;
	struct sim_msg *m;
	ib_sa_mad_t *s;

	sim_events_add(sim, sim->now + sim->o.tables_ms * SIM_MS, SIM_ASK, DRAW_TABLE, 0, NULL);
	do
		port = sim_random(&sim->random_net, sim->nports);
	while (!is_end(sim, port, false));
	from = asking_port(sim, port);
	if (!from)
		return;
	s = new_request(sim, from, &m);
	s->method = IB_MAD_METHOD_GETTABLE;
	s->attr_id = htobe16(PATH_RECORD);
	s->trans_id = htobe64(++sim->events.order);
	s->comp_mask = IB_PR_COMPMASK_SLID;
	((ib_path_rec_t *)s->data)->slid = from->info.base_lid;
	memset(in, 0, sizeof(*in));
	in->from = port;
	in->since = sim->now;
	in->transaction = s->trans_id;
	in->window = 1;
	sim->tables_asked++;
	sim_transmit(sim, &sim->nodes[from->node], m);
}

/* Has each host that is connected one of the paths? */
static void look_for_missing(struct sim *sim, const bool *listed)
{
	for (uint32_t p = 0; p < sim->nports; p++)
		if (is_end(sim, p, false) && p != sim->inbox.from && !listed[p] &&
		    sim_judge_connected(sim, p) && sim_judge_connected(sim, sim->inbox.from)) {
			sim_find(sim, SIM_PATHS_OF, "of those from %s none leads to %s",
				 sim->nodes[sim->ports[sim->inbox.from].node].name,
				 sim->nodes[sim->ports[p].node].name);
			return;
		}
}

/* A path of a table has the SL that was granted when it was asked for alone. */
static void compare_path(struct sim *sim, const struct sim_msg *m, const ib_path_rec_t *r,
			 bool *listed)
{
	uint32_t from = sim->inbox.from, path, to = sim_judge_owner(sim, be16toh(r->dlid), &path);
	unsigned int sl = be16toh(r->qos_class_sl) & 15;
	uint16_t granted;

	sim->records++;
	if (to == DL_NONE || to == from)
		return;
	listed[to] = true;
	granted = sim_judge_granted(sim, from, to, path);
	/* Classic mode may keep old tables for long, in which a LID is another's. */
	if (sim->o.promises && granted && !(granted & 1 << sl) && keeps_sls(sim, m))
		sim_find(sim, SIM_PATHS_OF, "%s to %s, path %u: SL %u, granted: SLs 0x%x",
			 sim->nodes[sim->ports[from].node].name,
			 sim->nodes[sim->ports[to].node].name, path, sl, granted);
}

void sim_client_table(struct sim *sim, const struct sim_msg *m, uint32_t size)
{
	struct sim_inbox *in = &sim->inbox;
	bool *listed = sim_alloc(sim->nports, sizeof(*listed));

	sim->tables++;
	for (uint32_t at = 0; size >= sizeof(ib_path_rec_t) && at + size <= in->n; at += size)
		compare_path(sim, m, (const ib_path_rec_t *)(in->bytes + at), listed);
	if (sim->settled_at && in->since > sim->settled_at)
		look_for_missing(sim, listed);
	free(listed);
}

bool sim_client_is_done(const struct sim *sim)
{
	for (uint32_t i = 0; i < sim->nqueries; i++)
		if (sim->queries[i].open)
			return false;
	return true;
}

/* Ask at a moment, which is then the next one's. */
static void want_path(struct sim *sim, uint32_t from, uint32_t to, uint32_t path, uint64_t *when)
{
	bool all = sim->switches_granted;

	if (from == to || !is_end(sim, from, all) || !is_end(sim, to, all))
		return;
	if (sim->o.any_sl)
		sim_judge_grant(sim, from, to, path, 0xFFFF);
	else
		new_query(sim, from, to, path, *when += SPACING);
}

static void want_paths(struct sim *sim, uint32_t from, uint32_t to, uint64_t *when)
{
	for (uint32_t i = 0; i < sim_judge_paths(sim, to); i++)
		want_path(sim, from, to, i, when);
}

void sim_client_start(struct sim *sim)
{
	uint64_t when = sim->now;
	uint32_t ends = 0;

	for (uint32_t p = 0; p < sim->nports; p++)
		ends += is_end(sim, p, true);
	sim->switches_granted = ends <= ALL_ENDS;
	for (uint32_t a = 0; a < sim->nports; a++)
		for (uint32_t b = 0; b < sim->nports; b++)
			want_paths(sim, a, b, &when);
	if (sim->o.queries_ms)
		sim_events_add(sim, sim->now, SIM_ASK, DRAW, 0, NULL);
	if (sim->o.tables_ms)
		sim_events_add(sim, sim->now, SIM_ASK, DRAW_TABLE, 0, NULL);
}

void sim_client_ask_again(struct sim *sim, uint32_t port, uint32_t path)
{
	uint64_t when = sim->now + SIM_SECOND;

	for (uint32_t a = 0; sim->script->granted && a < sim->nports; a++)
		want_path(sim, a, port, path, &when);
}

static bool is_transient(const struct sim *sim, uint32_t port)
{
	return sim->nodes[sim->ports[port].node].transient;
}

/* Do those whose path SLs change have a connection between two ports? */
static bool must_reconnect(const struct sim *sim, uint32_t from, uint32_t to)
{
	return is_end(sim, from, true) && is_end(sim, to, true) &&
	       (sim->reconnect == SIM_ALL || is_transient(sim, from) || is_transient(sim, to));
}

void sim_client_disconnect(struct sim *sim, enum sim_reconnect who)
{
	if (who > sim->reconnect)
		sim->reconnect = who;
	for (uint32_t i = 0; i < sim->nqueries; i++)
		if (must_reconnect(sim, sim->queries[i].from, sim->queries[i].to))
			sim->queries[i].open = false;
	sim->inbox.transaction = 0;
	for (uint32_t a = 0; a < sim->nports; a++)
		for (uint32_t b = 0; b < sim->nports; b++)
			if (must_reconnect(sim, a, b))
				sim_judge_revoke(sim, a, b);
}

void sim_client_reconnect(struct sim *sim)
{
	uint64_t when = sim->now;

	for (uint32_t a = 0; sim->reconnect && a < sim->nports; a++)
		for (uint32_t b = 0; b < sim->nports; b++)
			if (must_reconnect(sim, a, b))
				want_paths(sim, a, b, &when);
	sim->reconnect = SIM_NOBODY;
}

void sim_client_welcome(struct sim *sim, uint32_t node)
{
	const struct sim_node *n = &sim->nodes[node];
	uint64_t when = sim->now + SIM_SECOND;

	for (uint32_t a = n->first; a <= n->first + n->nports; a++)
		for (uint32_t b = 0; b < sim->nports; b++) {
			want_paths(sim, a, b, &when);
			want_paths(sim, b, a, &when);
		}
}

static void answered(struct sim *sim, const struct sim_msg *m, const ib_sa_mad_t *s)
{
	uint32_t number = be32toh(s->attr_mod);
	const ib_path_rec_t *r = (const ib_path_rec_t *)s->data;
	unsigned int sl = be16toh(r->qos_class_sl) & 15;
	struct sim_query *q;
	uint32_t path;
	uint16_t before;

	/* An answer from before the change may have an SL of before. */
	if (number >= sim->nqueries || !sim->queries[number].open || sim->reconnect)
		return;
	q = &sim->queries[number];
	if (s->status) {
		sim->refused++;
		return;
	}
	/*
	 * A LID may be another's by now, or of two nodes, or believed to be, or the torus be
	 * another one: it is asked for again.
	 */
	if (sim_log_is_confused(sim) || (m->sm >= 0 && sim->sms[m->sm].misled) ||
	    is_misled(sim, q->from) || is_misled(sim, q->to) ||
	    sim_judge_owner(sim, be16toh(r->slid), &path) != q->from ||
	    sim_judge_owner(sim, be16toh(r->dlid), &path) != q->to || path != q->path)
		return;
	q->open = false;
	sim->answered++;
	if (sim->now - q->since > sim->slowest)
		sim->slowest = sim->now - q->since;
	before = sim_judge_granted(sim, q->from, q->to, q->path);
	/* The SL is that of the LID which it claims. */
	if (before &&
	    (sim->nodes[sim->ports[q->from].node].lied || sim->nodes[sim->ports[q->to].node].lied))
		return;
	if (before && !(before & 1 << sl) && keeps_sls(sim, m))
		sim_find(sim, SIM_SL, "%s to %s, path %u: SL %u, granted before: SLs 0x%x",
			 sim->nodes[sim->ports[q->from].node].name,
			 sim->nodes[sim->ports[q->to].node].name, q->path, sl, before);
	/* Both QoS levels. */
	sim_judge_grant(sim, q->from, q->to, q->path, (uint16_t)(1 << sl | 1 << (sl | 8)));
}

void sim_client_answer(struct sim *sim, struct sim_node *n, const struct sim_msg *m)
{
	const ib_sa_mad_t *s = (const ib_sa_mad_t *)m->mad.bytes;

	(void)n;
	if (s->attr_id == htobe16(PATH_RECORD))
		answered(sim, m, s);
	else if (s->attr_id == htobe16(MEMBER_RECORD))
		joined(sim, m, s);
}

void sim_client_check(struct sim *sim, uint64_t since, uint64_t bound)
{
	for (uint32_t i = 0; i < sim->nqueries; i++) {
		struct sim_query *q = &sim->queries[i];
		uint64_t begun;

		if (!q->open || sim_log_is_confused(sim))
			continue;
		begun = q->since > since ? q->since : since;
		if (sim->now > begun + bound && sim_judge_connected(sim, q->from) &&
		    sim_judge_connected(sim, q->to))
			sim_find(sim, SIM_SLOW, "%s asks for the path to %s since %.1f s",
				 sim->nodes[sim->ports[q->from].node].name,
				 sim->nodes[sim->ports[q->to].node].name,
				 (double)(sim->now - q->since) / SIM_SECOND);
	}
}

void sim_client_event(struct sim *sim, const struct sim_event *e)
{
	if (e->kind == SIM_JOIN)
		join(sim, e->port);
	else if (e->node == DRAW)
		draw_query(sim);
	else if (e->node == DRAW_TABLE)
		ask_table(sim);
	else
		ask(sim, e->node);
}
