/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Answers of several MADs (RMPP, IBA 13.6): the sender is the kernel of a subnet
 * manager's host, which sends segments as far as the receiver has opened its window, and
 * again what is not acknowledged in time; the receiver is a host's client.  Segments may
 * overtake each other.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define DATA 1
#define ACK 2
#define WINDOW 4 /* segments; the first one goes alone */
#define AGAIN (2 * SIM_SECOND)
#define MOST_TRIES 4

struct sim_transfer {
	struct sim_transfer *next;
	struct sim_msg **segments;
	uint32_t number, n, cap, acked, sent, tries;
	uint32_t node;
};

static ib_sa_mad_t *sa_of(struct sim_msg *m)
{
	return (ib_sa_mad_t *)m->mad.bytes;
}

static bool has_flag(const ib_sa_mad_t *s, uint8_t flag)
{
	return s->rmpp_flags & flag;
}

bool sim_rmpp_is_active(const struct sim_msg *m)
{
	const ib_sa_mad_t *s = (const ib_sa_mad_t *)m->mad.bytes;

	return s->mgmt_class == IB_MCLASS_SUBN_ADM && has_flag(s, IB_RMPP_FLAG_ACTIVE);
}

/* ---- the sender ---------------------------------------------------------------- */

static void end_transfer(struct sim *sim, struct sim_transfer *t)
{
	struct sim_transfer **p = &sim->transfers;

	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	for (uint32_t i = 0; i < t->n; i++)
		sim_msg_free(sim, t->segments[i]);
	free(t->segments);
	free(t);
}

static void send_segments(struct sim *sim, struct sim_transfer *t, uint32_t last)
{
	for (; t->sent < t->n && t->sent < last; t->sent++) {
		struct sim_msg *m = sim_msg_new(sim);

		*m = *t->segments[t->sent];
		sim_transmit(sim, &sim->nodes[t->node], m);
	}
}

static struct sim_transfer *find_transfer(struct sim *sim, struct sim_msg *m, uint32_t node)
{
	struct sim_transfer *t = sim->transfers;

	while (t && (t->node != node || sa_of(t->segments[0])->trans_id != sa_of(m)->trans_id))
		t = t->next;
	return t;
}

void sim_rmpp_send(struct sim *sim, struct sim_node *n, struct sim_msg *m)
{
	uint32_t node = (uint32_t)(n - sim->nodes);
	struct sim_transfer *t = find_transfer(sim, m, node);

	if (!t) {
		t = sim_alloc(1, sizeof(*t));
		t->node = node;
		t->number = ++sim->ntransfers;
		t->next = sim->transfers;
		sim->transfers = t;
	}
	t->segments = dl_array_grow(t->segments, sizeof(*t->segments), t->n, 1, &t->cap);
	if (!t->segments)
		sim_die("no memory");
	t->segments[t->n++] = m;
	if (!has_flag(sa_of(m), IB_RMPP_FLAG_LAST))
		return;
	send_segments(sim, t, 1);
	sim_events_add(sim, sim->now + AGAIN, SIM_RMPP, node, t->number, NULL);
}

void sim_rmpp_event(struct sim *sim, const struct sim_event *e)
{
	struct sim_transfer *t = sim->transfers;

	while (t && t->number != e->port)
		t = t->next;
	if (!t)
		return;
	if (++t->tries == MOST_TRIES) {
		end_transfer(sim, t);
		return;
	}
	t->sent = t->acked;
	send_segments(sim, t, t->acked + 1);
	sim_events_add(sim, sim->now + AGAIN, SIM_RMPP, t->node, t->number, NULL);
}

static void take_ack(struct sim *sim, struct sim_node *n, struct sim_msg *m)
{
	struct sim_transfer *t = find_transfer(sim, m, (uint32_t)(n - sim->nodes));
	uint32_t acked = be32toh(sa_of(m)->seg_num);

	if (!t || acked < t->acked || acked > t->n)
		return;
	if (acked > t->acked)
		t->tries = 0;
	t->acked = acked;
	if (acked == t->n)
		end_transfer(sim, t);
	else
		send_segments(sim, t, be32toh(sa_of(m)->paylen_newwin));
}

/* ---- the receiver -------------------------------------------------------------- */

static void send_ack(struct sim *sim, struct sim_node *n, const struct sim_msg *data)
{
	struct sim_msg *m = sim_msg_new(sim);

	*m = *data;
	m->mad.lid = be16toh(sim_own_port(sim, n)->info.master_sm_base_lid);
	sa_of(m)->rmpp_type = ACK;
	sa_of(m)->rmpp_flags = IB_RMPP_FLAG_ACTIVE;
	sa_of(m)->seg_num = htobe32(sim->inbox.taken);
	sa_of(m)->paylen_newwin = htobe32(sim->inbox.window);
	sim_transmit(sim, n, m);
}

/* A segment finds its place, whichever came before; the last one tells how many there are. */
static void keep_segment(struct sim_inbox *in, struct sim_msg *m, uint32_t segment)
{
	uint32_t length = be32toh(sa_of(m)->paylen_newwin) - SIM_SA_HEADER;

	memcpy(in->bytes + (segment - 1) * (size_t)SIM_SA_DATA, sa_of(m)->data, SIM_SA_DATA);
	in->has[segment - 1] = true;
	while (in->taken < SIM_MOST_SEGMENTS && in->has[in->taken])
		in->taken++;
	if (!has_flag(sa_of(m), IB_RMPP_FLAG_LAST))
		return;
	in->last = segment;
	in->n = (segment - 1) * SIM_SA_DATA + (length <= SIM_SA_DATA ? length : 0);
}

static void take_data(struct sim *sim, struct sim_node *n, struct sim_msg *m)
{
	struct sim_inbox *in = &sim->inbox;
	uint32_t segment = be32toh(sa_of(m)->seg_num);
	bool known;

	if (sa_of(m)->trans_id != in->transaction || !segment || segment > SIM_MOST_SEGMENTS)
		return;
	known = in->has[segment - 1];
	if (!known)
		keep_segment(in, m, segment);
	if (known || in->taken >= in->window || in->taken == in->last) {
		in->window = in->taken + WINDOW;
		send_ack(sim, n, m);
	}
	if (!known && in->taken == in->last)
		sim_client_table(sim, m, (uint32_t)be16toh(sa_of(m)->attr_offset) * 8);
}

void sim_rmpp_take(struct sim *sim, struct sim_node *n, struct sim_msg *m)
{
	if (sa_of(m)->rmpp_type == ACK)
		take_ack(sim, n, m);
	else if (sa_of(m)->rmpp_type == DATA)
		take_data(sim, n, m);
}
