/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When packets wait for what never comes.
 *
 * Problem.  Where flow-control packets may be lost, ports send them at every
 * deadline, for ever.  So a run whose packets cannot move any more never comes
 * to rest by itself, and a program, which has no end but its last message, never ends.
 *
 * Method.  A run has stalled when nothing is left to happen but deadlines and
 * the arrival of flow-control packets, and none of these can say something new
 * to a port with packets waiting.  A port is silent when all its flow-control
 * packets are lost.  An output can learn something as long as its peer is not
 * silent and
 *	- has not been heard since the link came up, or
 *	- would now grant another limit than the output knows, or
 *	- has not learned what was lost on the way to it, and the output is not silent.
 * All else that a packet may wait for (a link that is down, an adapter that takes
 * nothing, an arbiter that passes its VL over, room behind another packet that
 * waits) changes only with an event that is then pending.
 *
 * With losses below 100 per cent a flow-control packet comes through some day, so
 * the answer is exact.
 *
 * Complexity: O(ports + events).
 */
#include "config.h"

#include "emu/run.h"

#define STALL_ALL 1000000 /* millionths */

static bool stall_is_silent(const struct dl_emu *e, const struct dl_emu_link_port *p)
{
	const struct dl_emu_losses *l = &e->losses[p->number];

	return l->fcp_loss >= STALL_ALL || l->fcp_corrupt >= STALL_ALL;
}

/* May an output learn something that its packets wait for? */
static bool stall_may_hear(const struct dl_emu *e, const struct dl_emu_link_port *p, unsigned int v)
{
	const struct dl_emu_link_port *q = &e->ports[p->peer];
	struct dl_emu_vl_port o = p->vl[v];

	dl_emu_see_credit(e, &o);
	if (o.credit_at != DL_EMU_NEVER)
		return true;
	if (stall_is_silent(e, q))
		return false;
	return p->unheard || dl_link_credit_limit(&q->vl[v].rx) != o.tx.limit ||
	       (!stall_is_silent(e, p) && q->vl[v].rx.received != o.tx.sent);
}

/* The VLs with packets waiting; or, with an SL table, messages that wait to become some. */
static unsigned int stall_vls(const struct dl_emu *e, const struct dl_emu_link_port *p)
{
	const struct dl_emu_adapter *a = p->adapter == DL_EMU_NIL ? NULL : &e->adapters[p->adapter];
	unsigned int sls = a ? a->sched.ready & dl_emu_sl_table_sls(e->c.sl_table) : 0;
	unsigned int vls = p->waiting;

	for (unsigned int v = 0; sls && v < DL_LINK_VL_SMP; v++)
		vls |= (unsigned int)((a->vl_sls[v] & sls) != 0) << v;
	return vls & ((1u << DL_LINK_VL_SMP) - 1);
}

struct stall_count {
	const struct dl_emu *e;
	uint64_t credits;
	bool heard; /* one is on its way to a port with packets waiting, from one that is silent now */
};

static void stall_visit(void *context, uint64_t time, uint32_t log, unsigned int kind,
			uint64_t what)
{
	struct stall_count *c = context;
	const struct dl_emu_link_port *p = &c->e->ports[dl_emu_port_of(dl_emu_event_channel(what))];

	(void)time, (void)log;
	if (kind != DL_EMU_EV_CREDIT)
		return;
	c->credits++;
	c->heard |= stall_vls(c->e, p) && stall_is_silent(c->e, &c->e->ports[p->peer]);
}

/* Without losses a flow-control packet that has an event brings news. */
static bool stall_only_reports(struct stall_count *c)
{
	uint64_t events = 0, deadlines = 0;

	for (uint32_t i = 0; i < c->e->split.n; i++) {
		const struct dl_emu *shard = c->e->split.shard[i];

		if (c->e->mode.timers)
			dl_emu_events_each(&shard->events, stall_visit, c);
		events += dl_emu_events_count(&shard->events);
		deadlines += shard->background;
	}
	return events == deadlines + c->credits;
}

bool dl_emu_only_reports(const struct dl_emu *e)
{
	return stall_only_reports(&(struct stall_count){ .e = e });
}

bool dl_emu_has_stalled(const struct dl_emu *e)
{
	struct stall_count c = { .e = e };

	if (!e->mode.timers || !stall_only_reports(&c) || c.heard)
		return false;
	for (uint32_t i = 0; i < e->nports; i++) {
		const struct dl_emu_link_port *p = &e->ports[i];
		unsigned int vls = stall_vls(e, p);

		for (; vls && !(p->hold & DL_EMU_DOWN); vls &= vls - 1)
			if (stall_may_hear(e, p, __builtin_ctz(vls)))
				return false;
	}
	return true;
}

/* ---- who waits for what -------------------------------------------------- */

/* Of an output with packets waiting; or _NOTHING: for others that wait. */
static enum dl_emu_wait_kind stall_reason(const struct dl_emu *e, const struct dl_emu_link_port *p,
					  unsigned int v)
{
	const struct dl_emu_adapter *a;

	if (p->hold & DL_EMU_DOWN)
		return DL_EMU_WAIT_LINK;
	if (!p->unheard && (v == DL_LINK_VL_SMP || dl_emu_has_credit(e, &p->vl[v])))
		return DL_EMU_WAIT_NOTHING;
	if (stall_is_silent(e, &e->ports[p->peer]))
		return DL_EMU_WAIT_FLOW_CONTROL;
	if (p->to != DL_EMU_TO_ADAPTER)
		return DL_EMU_WAIT_NOTHING;
	a = &e->adapters[e->ports[p->peer].adapter];
	return a->stopped || !a->rate ? DL_EMU_WAIT_ADAPTER : DL_EMU_WAIT_NOTHING;
}

uint32_t dl_emu_waits(const struct dl_emu *e, struct dl_emu_wait *out, uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->nports; i++) {
		const struct dl_emu_link_port *p = &e->ports[i];

		for (unsigned int vls = p->waiting; vls; vls &= vls - 1) {
			unsigned int v = __builtin_ctz(vls);
			const struct dl_emu_pkt *pk = &e->packets[p->vl[v].head];
			uint32_t flow = e->origins[p->vl[v].head].flow;
			enum dl_emu_wait_kind kind = stall_reason(e, p, v);

			if (kind == DL_EMU_WAIT_NOTHING)
				continue;
			if (n < max)
				out[n] = (struct dl_emu_wait){
					.kind = kind,
					.port = e->fabric_port[i],
					.vl = v,
					.since = pk->since,
					.src = e->fabric_port[e->adapters[e->flows[flow].adapter]
								      .port],
					.dlid = pk->dlid,
				};
			n++;
		}
	}
	return n;
}
