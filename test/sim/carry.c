/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MADs on their way: hop by hop along directed paths or the tables as they are at
 * that moment, with delays and losses; retries and timeouts as the kernel's
 * ib_umad has them; traps until they are repressed.
 *
 * A request that is delayed overtakes others by microseconds only.  An answer may
 * come a second late, twice, or never.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "sim.h"

#define CLASS_LID 0x01
#define CLASS_DIRECTED 0x81
#define CLASS_SA 0x03
#define CLASS_PERFORMANCE 0x04
#define ANSWER 0x80 /* in the method */
#define SMINFO 0x20
#define MOST_HOPS 64
#define HOP_NS (1 * SIM_US)
#define BASE_NS (2 * SIM_US)
#define JITTER_NS (20 * SIM_US)
#define LATEST_MS 1000
#define TRAP_FIRST (100 * SIM_US)
#define TRAP_AGAIN SIM_SECOND
#define TRAPS 10

struct sim_msg *sim_msg_new(struct sim *sim)
{
	struct sim_msg *m = sim->spare;

	if (m)
		sim->spare = m->next;
	else
		m = sim_alloc(1, sizeof(*m));
	memset(m, 0, sizeof(*m));
	m->sm = -1;
	return m;
}

void sim_msg_free(struct sim *sim, struct sim_msg *m)
{
	m->next = sim->spare;
	sim->spare = m;
}

static struct sim_msg *copy_msg(struct sim *sim, const struct sim_msg *from)
{
	struct sim_msg *m = sim_msg_new(sim);

	*m = *from;
	return m;
}

static ib_smp_t *smp_of(struct sim_msg *m)
{
	return (ib_smp_t *)m->mad.bytes;
}

static bool is_directed(struct sim_msg *m)
{
	return smp_of(m)->mgmt_class == CLASS_DIRECTED;
}

/* ---- routes ------------------------------------------------------------------- */

/* Along the initial path, recording the way back.  NULL: it breaks off. */
static struct sim_node *go_directed(struct sim *sim, struct sim_node *n, ib_smp_t *s)
{
	for (unsigned int h = 1; h <= s->hop_count && h < sizeof(s->initial_path); h++) {
		unsigned int out = s->initial_path[h];
		struct sim_port *p;

		if ((h > 1 && !n->is_switch) || !out || out > n->nports)
			return NULL;
		p = sim_port_at(sim, n, out);
		if (!sim_is_live(p))
			return NULL;
		s->return_path[h] = sim->ports[p->peer].num;
		n = &sim->nodes[sim->ports[p->peer].node];
	}
	s->hop_ptr = s->hop_count + 1;
	return n;
}

static struct sim_node *come_back(struct sim *sim, struct sim_node *n, ib_smp_t *s)
{
	for (unsigned int h = s->hop_count; h; h--) {
		unsigned int out = s->return_path[h];
		struct sim_port *p;

		if (!out || out > n->nports)
			return NULL;
		p = sim_port_at(sim, n, out);
		if (!sim_is_live(p))
			return NULL;
		n = &sim->nodes[sim->ports[p->peer].node];
	}
	s->hop_ptr = 0;
	return n;
}

/* By the forwarding tables.  Management packets pass links that are not active. */
static struct sim_node *go_by_lid(struct sim *sim, struct sim_node *n, uint16_t lid)
{
	for (unsigned int h = 0; h < MOST_HOPS; h++) {
		unsigned int out = sim_own_port(sim, n)->num;
		struct sim_port *p;

		for (unsigned int o = !n->is_switch; o <= (n->is_switch ? 0 : n->nports); o++)
			if (sim_owns(sim_port_at(sim, n, o), lid))
				return n;
		if (n->is_switch)
			out = sim_lft(n, lid);
		else if (h)
			return NULL;
		if (!out || out > n->nports)
			return NULL;
		p = sim_port_at(sim, n, out);
		if (!sim_is_live(p))
			return NULL;
		n = &sim->nodes[sim->ports[p->peer].node];
	}
	return NULL;
}

/* ---- the wire ----------------------------------------------------------------- */

static void add_to_hash(struct sim *sim, const void *bytes, size_t n)
{
	const uint64_t *words = bytes;

	for (size_t i = 0; i < n / sizeof(*words); i++)
		sim->hash = (sim->hash ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15) ^ sim->hash >> 29;
}

static bool draw(struct sim *sim, uint32_t of_1000)
{
	return of_1000 && sim_random(&sim->random_net, 1000) < of_1000;
}

void sim_transmit(struct sim *sim, struct sim_node *from, struct sim_msg *m)
{
	ib_smp_t *s = smp_of(m);
	bool answers = s->method & ANSWER;
	enum sim_event_kind kind = answers ? SIM_ANSWER : SIM_ARRIVE;
	uint32_t node = (uint32_t)(from - sim->nodes);
	uint64_t delay = BASE_NS;

	/* OpenSM leaves there what was on its stack. */
	if (is_directed(m)) {
		memset(s->initial_path + 1 + s->hop_count, 0, 63u - s->hop_count);
		delay += s->hop_count * HOP_NS;
	}
	delay += sim_random(&sim->random_net, JITTER_NS);
	sim->sent++;
	add_to_hash(sim, &sim->now, sizeof(sim->now));
	add_to_hash(sim, m->mad.bytes, SIM_MAD_SIZE);
	if (draw(sim, sim->loss)) {
		sim->lost++;
		sim->disturbed = sim->now;
		sim_msg_free(sim, m);
		return;
	}
	if (answers && draw(sim, sim->delay)) {
		delay += (100 + sim_random(&sim->random_net, LATEST_MS - 100)) * SIM_MS;
		sim->disturbed = sim->now;
	}
	if (answers && draw(sim, sim->twice))
		sim_events_add(sim, sim->now + 2 * delay, kind, node, 0, copy_msg(sim, m));
	sim_events_add(sim, sim->now + delay, kind, node, 0, m);
}

void sim_carry_send(struct sim *sim, struct sim_sm *sm, const struct sim_mad *mad)
{
	struct sim_msg *m = sim_msg_new(sim), *o;
	struct sim_node *n = &sim->nodes[sm->node];

	m->mad = *mad;
	m->sm = (int)(sm - sim->sms);
	m->run = sm->run;
	sm->last_sent = sim->now;
	/* A heavy sweep begins with the adapter itself. */
	if (is_directed(m) && !smp_of(m)->hop_count && smp_of(m)->attr_id == htobe16(0x11)) {
		sm->sweep_before = sm->sweep_at;
		sm->sweep_at = sim->now;
	}
	if (smp_of(m)->method == IB_MAD_METHOD_SET &&
	    (smp_of(m)->attr_id == htobe16(0x19) || smp_of(m)->attr_id == htobe16(0x1B)))
		sm->wrote_at = sim->now;
	if (mad->timeout_ms > 0 && !(smp_of(m)->method & ANSWER)) {
		o = copy_msg(sim, m);
		o->next = sm->pending;
		sm->pending = o;
		sim_events_add(sim, sim->now + (uint64_t)mad->timeout_ms * SIM_MS, SIM_TIMEOUT,
			       sm->node, 0, o);
	}
	if (sim_rmpp_is_active(m))
		sim_rmpp_send(sim, n, m);
	else
		sim_transmit(sim, n, m);
}

/* A subnet manager is gone: nobody waits for its answers; events free the rest. */
void sim_carry_forget(struct sim *sim, struct sim_sm *sm)
{
	struct sim_msg *m;

	sm->pending = NULL;
	while ((m = sm->waiting)) {
		sm->waiting = m->next;
		sim_msg_free(sim, m);
	}
}

/* ---- arrivals ----------------------------------------------------------------- */

static struct sim_sm *sm_at(struct sim *sim, const struct sim_node *n)
{
	return n->sm >= 0 && sim->sms[n->sm].pid ? &sim->sms[n->sm] : NULL;
}

static uint16_t lid_of(const struct sim *sim, const struct sim_node *n)
{
	return be16toh(sim_own_port(sim, n)->info.base_lid);
}

/* To the agent that a subnet manager has registered for the class. */
static void deliver(struct sim *sim, struct sim_node *n, struct sim_msg *m)
{
	struct sim_sm *sm = sm_at(sim, n);

	for (int a = 0; sm && a < SIM_AGENTS; a++)
		if (sm->share->agents[a] == smp_of(m)->mgmt_class + 1) {
			sim_process_deliver(sim, (uint32_t)n->sm, m, a);
			return;
		}
	sim_msg_free(sim, m);
}

/* What is known of a path, or room for it, in place of the one that was asked longest ago. */
static struct sim_way *find_way(struct sim_sm *sm, uint64_t path)
{
	struct sim_way *row = &sm->ways[(path >> 32) % (SIM_WAYS / SIM_WAYS_ROW) * SIM_WAYS_ROW],
		       *oldest = row;

	for (struct sim_way *w = row; w < row + SIM_WAYS_ROW; w++) {
		if (w->path == path)
			return w;
		if (w->at < oldest->at)
			oldest = w;
	}
	return oldest;
}

/*
 * Once cables have been exchanged, a directed path leads to another node, and what
 * was meant for one is written to the other, until the next sweep asks who is there.
 */
static void follow_way(struct sim *sim, struct sim_node *n, struct sim_msg *m)
{
	const ib_smp_t *s = smp_of(m);
	struct sim_sm *sm = &sim->sms[m->sm];
	uint64_t path = 0;
	struct sim_way *way;

	for (unsigned int h = 1; h <= s->hop_count; h++)
		path = (path ^ s->initial_path[h]) * UINT64_C(0x9E3779B97F4A7C15);
	way = find_way(sm, path);
	if (be16toh(s->attr_id) == 0x11) {
		way->path = path;
		way->at = sim->now;
		way->node = (uint32_t)(n - sim->nodes);
	} else if (s->method == IB_MAD_METHOD_SET && way->path == path &&
		   way->node != (uint32_t)(n - sim->nodes)) {
		sm->astray = sim->disturbed = sim->now;
		if (sim->o.verbose)
			sim_say(sim, "a write to %s went astray, to %s", sim->nodes[way->node].name,
				n->name);
	} else if (s->method == IB_MAD_METHOD_SET && be16toh(s->attr_id) == 0x15 &&
		   (!n->is_switch || !s->attr_mod)) {
		n->meant_lid = ((const ib_port_info_t *)s->data)->base_lid;
	}
}

/* The port of an adapter that a LID-routed MAD has come to. */
static unsigned int port_of_lid(const struct sim *sim, const struct sim_node *n, uint16_t lid)
{
	for (unsigned int o = 1; o <= n->nports; o++)
		if (sim_owns(sim_port_at(sim, n, o), lid))
			return o;
	return 1;
}

static void answer_by_agent(struct sim *sim, struct sim_node *n, struct sim_node *from,
			    struct sim_msg *m)
{
	ib_smp_t *s = smp_of(m);
	unsigned int at = n->is_switch ? 0 : port_of_lid(sim, n, m->mad.lid);
	int status;

	if (is_directed(m) && s->hop_count)
		at = s->return_path[s->hop_count];
	status = s->mgmt_class == CLASS_PERFORMANCE ? sim_agent_count(sim, n, s) :
						      sim_agent(sim, n, at, s);
	if (status < 0) {
		sim_msg_free(sim, m);
		return;
	}
	s->method = IB_MAD_METHOD_GET_RESP;
	s->status = htobe16((uint16_t)(status | (is_directed(m) ? 0x8000 : 0)));
	m->mad.lid = lid_of(sim, from);
	sim_transmit(sim, n, m);
}

static void arrive(struct sim *sim, struct sim_node *from, struct sim_msg *m)
{
	ib_smp_t *s = smp_of(m);
	bool counts = s->mgmt_class == CLASS_PERFORMANCE;
	bool smp = is_directed(m) || s->mgmt_class == CLASS_LID || counts;
	struct sim_node *n = from->dead	    ? NULL :
			     is_directed(m) ? go_directed(sim, from, s) :
					      go_by_lid(sim, from, m->mad.lid);

	if (n && (n->mute || n->sick))
		sim->disturbed = sim->now;
	if (!n || n->dead || n->mute) {
		sim_msg_free(sim, m);
	} else if (smp && s->method == IB_MAD_METHOD_TRAP_REPRESS) {
		n->traps_due = 0;
		sim_msg_free(sim, m);
	} else if (smp && (counts || be16toh(s->attr_id) != SMINFO) &&
		   (s->method == IB_MAD_METHOD_GET || s->method == IB_MAD_METHOD_SET)) {
		if (is_directed(m) && s->hop_count)
			follow_way(sim, n, m);
		answer_by_agent(sim, n, from, m);
	} else {
		m->mad.lid = is_directed(m) ? 0xFFFF : lid_of(sim, from);
		deliver(sim, n, m);
	}
}

/* The request that an answer belongs to, taken off the list. */
static struct sim_msg *take_pending(struct sim_sm *sm, struct sim_msg *answer)
{
	for (struct sim_msg **p = &sm->pending, *o; (o = *p); p = &o->next) {
		if (smp_of(o)->trans_id != smp_of(answer)->trans_id ||
		    smp_of(o)->mgmt_class != smp_of(answer)->mgmt_class)
			continue;
		*p = o->next;
		o->done = true; /* its timeout frees it */
		return o;
	}
	return NULL;
}

static void answer(struct sim *sim, struct sim_node *from, struct sim_msg *m)
{
	struct sim_node *n = from->dead	    ? NULL :
			     is_directed(m) ? come_back(sim, from, smp_of(m)) :
					      go_by_lid(sim, from, m->mad.lid);
	struct sim_msg *request;
	struct sim_sm *sm;

	if (n && !n->dead && sim_rmpp_is_active(m)) {
		sim_rmpp_take(sim, n, m);
		sim_msg_free(sim, m);
		return;
	}
	if (n && smp_of(m)->mgmt_class == CLASS_SA && !n->dead)
		sim_client_answer(sim, n, m);
	sm = n && !n->dead ? sm_at(sim, n) : NULL;
	request = sm ? take_pending(sm, m) : NULL;
	if (!request) {
		sim->late += sm != NULL;
		sim_msg_free(sim, m);
		return;
	}
	m->mad.lid = is_directed(m) ? 0xFFFF : lid_of(sim, from);
	m->mad.status = 0;
	sim_process_deliver(sim, (uint32_t)n->sm, m, request->mad.agent);
}

static void time_out(struct sim *sim, struct sim_node *n, struct sim_msg *m)
{
	struct sim_sm *sm = &sim->sms[m->sm];

	if (m->done || !sm->pid || sm->run != m->run) {
		sim_msg_free(sim, m);
		return;
	}
	if (m->mad.retries-- > 0) {
		sim_events_add(sim, sim->now + (uint64_t)m->mad.timeout_ms * SIM_MS, SIM_TIMEOUT,
			       sm->node, 0, m);
		sim_transmit(sim, n, copy_msg(sim, m));
		return;
	}
	for (struct sim_msg **p = &sm->pending; *p; p = &(*p)->next)
		if (*p == m) {
			*p = m->next;
			break;
		}
	m->mad.status = ETIMEDOUT;
	sim_process_deliver(sim, (uint32_t)m->sm, m, m->mad.agent);
}

/* ---- traps -------------------------------------------------------------------- */

void sim_carry_report(struct sim *sim, struct sim_node *n)
{
	if (!n->traps_due)
		sim_events_add(sim, sim->now + TRAP_FIRST, SIM_TRAP, (uint32_t)(n - sim->nodes), 0,
			       NULL);
	n->traps_due = TRAPS;
}

/* A trap of an end port, but for what it is about; NULL: it knows no subnet manager. */
static struct sim_msg *new_trap(struct sim *sim, const struct sim_port *p, uint8_t type,
				uint16_t number)
{
	struct sim_msg *m;
	ib_mad_notice_attr_t *notice;
	ib_smp_t *s;

	if (!p->info.base_lid || !p->info.master_sm_base_lid)
		return NULL;
	m = sim_msg_new(sim);
	s = smp_of(m);
	notice = (ib_mad_notice_attr_t *)s->data;
	s->base_ver = s->class_ver = 1;
	s->mgmt_class = CLASS_LID;
	s->method = IB_MAD_METHOD_TRAP;
	s->attr_id = htobe16(2);
	s->trans_id = htobe64(++sim->events.order);
	notice->generic_type = 0x80 | type;
	notice->g_or_v.generic.prod_type_lsb = htobe16(sim->nodes[p->node].is_switch ? 2 : 1);
	notice->g_or_v.generic.trap_num = htobe16(number);
	notice->issuer_lid = p->info.base_lid;
	m->mad.lid = be16toh(p->info.master_sm_base_lid);
	return m;
}

/* Trap 128: a link of this switch has changed. */
static void send_trap(struct sim *sim, struct sim_node *n)
{
	const struct sim_port *p = sim_port_at(sim, n, 0);
	struct sim_msg *m;

	if (!n->traps_due || n->dead) {
		n->traps_due = 0;
		return;
	}
	if (--n->traps_due)
		sim_events_add(sim, sim->now + TRAP_AGAIN, SIM_TRAP, (uint32_t)(n - sim->nodes), 0,
			       NULL);
	m = n->mute ? NULL : new_trap(sim, p, IB_NOTICE_TYPE_URGENT, 128);
	if (!m)
		return;
	((ib_mad_notice_attr_t *)smp_of(m)->data)->data_details.ntc_128.sw_lid = p->info.base_lid;
	sim_transmit(sim, n, m);
}

void sim_carry_report_key(struct sim *sim, struct sim_node *n, unsigned int at, const ib_smp_t *smp)
{
	struct sim_port *p = sim_end_port(sim, n, at);
	ib_mad_notice_attr_t *notice;
	struct sim_msg *m;

	if (p->told_key_at && sim->now < p->told_key_at + TRAP_AGAIN)
		return;
	m = new_trap(sim, p, IB_NOTICE_TYPE_SECURITY, 256);
	if (!m)
		return;
	p->told_key_at = sim->now;
	notice = (ib_mad_notice_attr_t *)smp_of(m)->data;
	notice->data_details.ntc_256.lid = p->info.base_lid;
	notice->data_details.ntc_256.dr_slid = 0xFFFF;
	notice->data_details.ntc_256.method = smp->method;
	notice->data_details.ntc_256.attr_id = smp->attr_id;
	notice->data_details.ntc_256.attr_mod = smp->attr_mod;
	notice->data_details.ntc_256.mkey = smp->m_key;
	sim_transmit(sim, n, m);
}

void sim_carry_event(struct sim *sim, const struct sim_event *e)
{
	struct sim_node *n = &sim->nodes[e->node];

	if (e->kind == SIM_ARRIVE)
		arrive(sim, n, e->msg);
	else if (e->kind == SIM_ANSWER)
		answer(sim, n, e->msg);
	else if (e->kind == SIM_TIMEOUT)
		time_out(sim, n, e->msg);
	else if (e->kind == SIM_TRAP)
		send_trap(sim, n);
}
