/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets on links, and what they wait for.
 *
 * The packets of a LID on a link are those that its switch sends there now, and
 * those that came there by entries which are gone.  Each switch has one entry for
 * a LID, so a change of one concerns two paths: that behind the old entry, and
 * that behind the new one.  Both are followed as far as anything changes.
 *
 * Leftover packets (rules A14).  What a link does not get any more stays in the
 * buffer at its end for as long as the switch there may keep a packet
 * (SwitchInfo:LifeTimeValue), and takes that switch's entry as it is by then: so
 * the next link gets it, and keeps it as long again.  A link that goes down loses
 * all.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"

#define LIFE_UNIT 4096	/* ns */
#define LIFE_ENDLESS 20 /* LifeTimeValue: packets stay for ever */

unsigned int sim_flow_vls_of(unsigned int code)
{
	static const uint8_t vls[16] = { 0, 1, 2, 4, 8, 8 };

	return vls[code];
}

unsigned int sim_flow_vls(const struct sim_port *p)
{
	return sim_flow_vls_of(p->info.vl_enforce >> 4);
}

struct sim_set sim_flow_step(const uint8_t *map, unsigned int vls, const struct sim_set *s,
			     uint64_t *deps)
{
	struct sim_set to = { { 0, 0 } };

	*deps = 0;
	for (unsigned int vl = 0; vl < SIM_VLS; vl++) {
		unsigned int sls = s->w[vl / 4] >> 16 * (vl % 4) & 0xFFFF;

		for (; sls; sls &= sls - 1) {
			unsigned int sl = (unsigned int)__builtin_ctz(sls);
			unsigned int out = sl & 1 ? map[sl / 2] & 15 : map[sl / 2] >> 4;

			/* A VL that the link lacks drops the packet. */
			if (out >= vls)
				continue;
			to.w[out / 4] |= UINT64_C(1) << (16 * (out % 4) + sl);
			*deps |= UINT64_C(1) << (SIM_VLS * vl + out);
		}
	}
	return to;
}

/* ---- dependencies -------------------------------------------------------------- */

/* A dependency that closed a loop, and is gone; or all may be tried again. */
static void forget_closing(struct sim_judge *j, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < j->nclosing; i++)
		if (j->closing[i].from == from && j->closing[i].to == to) {
			j->closing[i] = j->closing[--j->nclosing];
			return;
		}
}

static void set_bit(struct sim *sim, uint32_t pair, unsigned int bit, uint32_t from, uint32_t to)
{
	struct sim_judge *j = sim->judge;
	char text[1024];

	j->dependencies++;
	if (sim_order_add(sim, from, to, text, sizeof(text))) {
		j->pairs[pair] |= UINT64_C(1) << bit;
		return;
	}
	if (j->nclosing == SIM_MOST_CLOSING)
		sim_die("too many credit loops at once");
	j->closing[j->nclosing++] = (struct sim_edge){ from, to };
	sim_log_unsafe(sim, SIM_LOOP, text);
}

static void clear_bit(struct sim *sim, uint32_t pair, unsigned int bit, uint32_t from, uint32_t to)
{
	struct sim_judge *j = sim->judge;

	j->dependencies--;
	if (j->pairs[pair] >> bit & 1)
		j->pairs[pair] &= ~(UINT64_C(1) << bit);
	else
		forget_closing(j, from, to);
}

/* Dependencies that closed loops which others have broken since. */
static void try_closing(struct sim *sim)
{
	struct sim_judge *j = sim->judge;
	char text[8];

	for (uint32_t i = 0; i < j->nclosing;) {
		struct sim_edge e = j->closing[i];
		const struct sim_port *p = &sim->ports[sim->ports[e.from / SIM_VLS].peer];
		const struct sim_node *s = &sim->nodes[p->node];
		uint32_t pair = j->pair_first[p->node] + p->num * (s->nports + 1u) +
				sim->ports[e.to / SIM_VLS].num;

		if (!sim_order_add(sim, e.from, e.to, text, sizeof(text))) {
			i++;
			continue;
		}
		j->pairs[pair] |= UINT64_C(1) << (SIM_VLS * (e.from % SIM_VLS) + e.to % SIM_VLS);
		j->closing[i] = j->closing[--j->nclosing];
	}
}

void sim_flow_depend(struct sim *sim, const struct sim_node *s, unsigned int in, unsigned int out,
		     uint64_t before, uint64_t now)
{
	struct sim_judge *j = sim->judge;
	uint32_t pair = j->pair_first[s - sim->nodes] + in * (s->nports + 1u) + out;
	uint32_t from = sim->ports[s->first + in].peer * SIM_VLS, to = (s->first + out) * SIM_VLS;
	uint64_t gone = before & ~now, come = now & ~before;
	uint32_t *counts = j->counts + pair * (size_t)(SIM_VLS * SIM_VLS);

	for (; gone; gone &= gone - 1) {
		unsigned int bit = (unsigned int)__builtin_ctzll(gone);

		if (!--counts[bit]) {
			clear_bit(sim, pair, bit, from + bit / SIM_VLS, to + bit % SIM_VLS);
			if (j->nclosing)
				try_closing(sim);
		}
	}
	for (; come; come &= come - 1) {
		unsigned int bit = (unsigned int)__builtin_ctzll(come);

		if (!counts[bit]++)
			set_bit(sim, pair, bit, from + bit / SIM_VLS, to + bit % SIM_VLS);
	}
}

/* ---- what a link gets ---------------------------------------------------------- */

static const uint8_t *map_of(const struct sim *sim, const struct sim_node *s, unsigned int in,
			     unsigned int out)
{
	return sim->ports[s->first + out].sl2vl + 8 * in;
}

/* What comes in at a port, for a unicast LID. */
static struct sim_set arriving(const struct sim *sim, const struct sim_column *c,
			       const struct sim_node *s, unsigned int in)
{
	const struct sim_judge *j = sim->judge;
	struct sim_set set = { { 0, 0 } };
	uint32_t peer = sim->ports[s->first + in].peer;
	uint32_t source = in ? peer : s->first;

	if (!in || (peer != DL_NONE && !sim->nodes[sim->ports[peer].node].is_switch)) {
		if (source != c->had && (!in || j->carrying[peer]))
			set.w[0] = *sim_judge_sls(sim, source, c->had, c->path);
	} else if (peer != DL_NONE && j->carrying[peer]) {
		set = c->flow.total[peer];
	}
	return set;
}

static struct sim_set inflow(const struct sim *sim, const struct sim_column *c, uint32_t link)
{
	const struct sim_port *p = &sim->ports[link];
	const struct sim_node *s = &sim->nodes[p->node];
	struct sim_set sum = { { 0, 0 } };
	uint64_t deps;

	if (c->next[p->node] != link || c->had == DL_NONE)
		return sum;
	for (unsigned int in = 0; in <= s->nports; in++) {
		struct sim_set set = arriving(sim, c, s, in);

		if (sim_set_is_empty(&set))
			continue;
		set = sim_flow_step(map_of(sim, s, in, p->num), sim_flow_vls(p), &set, &deps);
		sum.w[0] |= set.w[0];
		sum.w[1] |= set.w[1];
	}
	return sum;
}

/* Set what is on a link; returns the next link that this may change. */
static uint32_t set_total(struct sim *sim, struct sim_column *c, uint32_t link,
			  const struct sim_set *now)
{
	const struct sim_port *in = &sim->ports[sim->ports[link].peer];
	const struct sim_node *s = &sim->nodes[in->node];
	uint32_t next = c->next[in->node];
	uint64_t before_deps, deps;

	if (sim_is_link(next)) {
		const struct sim_port *out = &sim->ports[next];
		const uint8_t *map = map_of(sim, s, in->num, out->num);

		sim_flow_step(map, sim_flow_vls(out), &c->flow.total[link], &before_deps);
		sim_flow_step(map, sim_flow_vls(out), now, &deps);
		c->flow.total[link] = *now;
		sim_flow_depend(sim, s, in->num, out->num, before_deps, deps);
	}
	c->flow.total[link] = *now;
	return next;
}

/* How long the switch at a link's end may keep a packet; 0: it is not judged. */
static uint64_t stay(const struct sim *sim, uint32_t link)
{
	const struct sim_node *s = &sim->nodes[sim->ports[sim->ports[link].peer].node];
	unsigned int life = s->switch_info.life_state >> 3;

	if (sim->o.stay_ms >= 0)
		return (uint64_t)sim->o.stay_ms * SIM_MS;
	return life >= LIFE_ENDLESS ? 3600 * SIM_SECOND : (uint64_t)LIFE_UNIT << life;
}

/*
 * The port that packets wait for which a link has brought: any port of the switch at its
 * end, as others may be before them in the buffer.
 */
static uint32_t waits_for(const struct sim *sim, uint32_t lid, uint32_t link)
{
	const struct sim_node *s = &sim->nodes[sim->ports[sim->ports[link].peer].node];
	uint32_t n = s->nports, at = lid + link;

	for (uint32_t i = 0; i < n && !sim->judge->carrying[s->first + 1 + at % n]; i++)
		at++;
	return s->first + 1 + at % n;
}

/* What was left behind a cable that is gone is lost. */
static bool is_cabled(const struct sim *sim, const struct sim_leaving *l)
{
	return sim->ports[l->port].peer != DL_NONE;
}

/*
 * PortXmitWait, as far as leftover packets move it: it has another value whenever some
 * wait, or have waited, for the port since it was read.
 */
uint32_t sim_judge_xmit_wait(const struct sim *sim, uint32_t port)
{
	const struct sim_judge *j = sim->judge;
	bool waiting = false;

	for (uint64_t i = j->first_leaving; i < j->nleaving && !waiting; i++) {
		const struct sim_leaving *l = &j->leaving[i];

		waiting = l->time > sim->now && is_cabled(sim, l) &&
			  waits_for(sim, l->lid, l->port) == port;
	}
	return j->waits[port] + (waiting ? (uint32_t)((sim->now - SIM_EPOCH) / 1000) : 0);
}

static void add_leaving(struct sim *sim, uint32_t lid, uint32_t link, uint64_t until)
{
	struct sim_judge *j = sim->judge;

	if (j->first_leaving && j->first_leaving * 2 > j->nleaving) {
		j->nleaving -= j->first_leaving;
		memmove(j->leaving, j->leaving + j->first_leaving,
			j->nleaving * sizeof(*j->leaving));
		j->first_leaving = 0;
	}
	j->leaving = dl_array_grow(j->leaving, sizeof(*j->leaving), (uint32_t)j->nleaving, 1,
				   &j->leaving_cap);
	if (!j->leaving)
		sim_die("no memory");
	j->leaving[j->nleaving++] = (struct sim_leaving){ until, lid, link };
	j->waits[waits_for(sim, lid, link)]++;
}

/* What a link had and does not get any more: what stays for a while. */
struct sim_set sim_flow_keep(struct sim *sim, struct sim_flow *f, uint32_t lid, uint32_t link,
			     const struct sim_set *in)
{
	struct sim_set *left = &f->left[link], *had = &f->total[link];
	struct sim_set gone = { { had->w[0] & ~in->w[0], had->w[1] & ~in->w[1] } };
	struct sim_set now = *in;
	uint64_t time = stay(sim, link), until;

	if (!sim->judge->carrying[link] || !time)
		memset(&gone, 0, sizeof(gone));
	if ((gone.w[0] & ~left->w[0]) | (gone.w[1] & ~left->w[1])) {
		until = sim->judge->clock + time;
		f->left_until[link] = (uint32_t)((until - SIM_EPOCH) / SIM_MS);
		add_leaving(sim, lid, link, until);
	}
	*left = gone;
	now.w[0] |= gone.w[0];
	now.w[1] |= gone.w[1];
	return now;
}

void sim_flow_refresh(struct sim *sim, uint32_t lid, uint32_t link)
{
	struct sim_column *c = &sim->judge->columns[lid];

	while (c->flow.total && sim_is_link(link)) {
		struct sim_set in = inflow(sim, c, link);
		struct sim_set now = sim_flow_keep(sim, &c->flow, lid, link, &in);

		if (sim_set_equal(&now, &c->flow.total[link]))
			return;
		link = set_total(sim, c, link, &now);
	}
}

/* ---- changes ------------------------------------------------------------------- */

/* Dependencies of all that comes in and goes out on a link, as it does now. */
static void depend_all(struct sim *sim, struct sim_column *c, struct sim_node *s, uint32_t out,
		       bool add)
{
	const struct sim_port *o = &sim->ports[out];

	for (unsigned int in = 1; in <= s->nports; in++) {
		uint32_t peer = sim->ports[s->first + in].peer;
		uint64_t deps;

		if (peer == DL_NONE || !sim->nodes[sim->ports[peer].node].is_switch ||
		    sim_set_is_empty(&c->flow.total[peer]))
			continue;
		sim_flow_step(map_of(sim, s, in, o->num), sim_flow_vls(o), &c->flow.total[peer],
			      &deps);
		sim_flow_depend(sim, s, in, o->num, add ? 0 : deps, add ? deps : 0);
	}
}

void sim_flow_next(struct sim *sim, uint32_t lid, struct sim_node *s, uint32_t next)
{
	struct sim_column *c = &sim->judge->columns[lid];
	uint32_t node = (uint32_t)(s - sim->nodes), old = c->next[node];

	if (!c->flow.total) {
		c->next[node] = next;
		return;
	}
	if (sim_is_link(old))
		depend_all(sim, c, s, old, false);
	c->next[node] = next;
	if (sim_is_link(next))
		depend_all(sim, c, s, next, true);
	sim_flow_refresh(sim, lid, old);
	sim_flow_refresh(sim, lid, next);
}

void sim_flow_map(struct sim *sim, uint32_t lid, struct sim_node *s, unsigned int in,
		  unsigned int out, const uint8_t *before, unsigned int vls_before)
{
	struct sim_column *c = &sim->judge->columns[lid];
	uint32_t link = s->first + out, peer = sim->ports[s->first + in].peer;
	const struct sim_port *o = &sim->ports[link];
	uint64_t was, is;

	if (!c->flow.total || c->had == DL_NONE || c->next[s - sim->nodes] != link)
		return;
	if (in && peer != DL_NONE && sim->nodes[sim->ports[peer].node].is_switch) {
		sim_flow_step(before, vls_before, &c->flow.total[peer], &was);
		sim_flow_step(map_of(sim, s, in, out), sim_flow_vls(o), &c->flow.total[peer], &is);
		sim_flow_depend(sim, s, in, out, was, is);
		if (was != is)
			sim->judge->revised = link;
	}
	sim_flow_refresh(sim, lid, link);
}

static void expire_one(struct sim *sim, const struct sim_leaving *l)
{
	struct sim_column *c = &sim->judge->columns[l->lid];
	struct sim_set in;

	if (!c->flow.total || c->flow.left_until[l->port] > (l->time - SIM_EPOCH) / SIM_MS)
		return;
	memset(&c->flow.left[l->port], 0, sizeof(c->flow.left[l->port]));
	in = inflow(sim, c, l->port);
	if (!sim_set_equal(&in, &c->flow.total[l->port]))
		sim_flow_refresh(sim, l->lid, set_total(sim, c, l->port, &in));
}

/* Whatever leaves in the meantime makes others leave that much later. */
void sim_flow_expire(struct sim *sim)
{
	struct sim_judge *j = sim->judge;

	while (j->first_leaving < j->nleaving && j->leaving[j->first_leaving].time <= sim->now) {
		struct sim_leaving l = j->leaving[j->first_leaving++];

		j->clock = l.time;
		if (!is_cabled(sim, &l))
			continue;
		if (l.lid >= IB_LID_MCAST_START_HO)
			sim_groups_expire(sim, &l);
		else
			expire_one(sim, &l);
	}
	j->clock = sim->now;
}

void sim_flow_open(struct sim *sim, struct sim_flow *f)
{
	if (f->total)
		return;
	f->total = sim_alloc(sim->nports, sizeof(*f->total));
	f->left = sim_alloc(sim->nports, sizeof(*f->left));
	f->left_until = sim_alloc(sim->nports, sizeof(*f->left_until));
}
