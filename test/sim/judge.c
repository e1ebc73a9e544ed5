/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the switches hold, judged at every write that arrives.
 *
 * For each unicast LID that somebody owns, or has owned, the judge keeps the next hop of every
 * switch, whether packets from there arrive, and what packets are on which link
 * (judge_flow.c); for each multicast group the latter (judge_groups.c).  A write
 * changes a few next hops; what follows from them is worked out along the path.
 *
 *	packets in a circle	found where a next hop changes, by following it
 *	credit loops		found where one channel begins to wait for another
 *				one (order.c)
 *	interrupted pairs	those whose packets arrived until a write came
 *
 * The twin is the full verifier on the same tables (judge_verify.c).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"

struct sim_judge *sim_judge_new(struct sim *sim)
{
	struct sim_judge *j = sim_alloc(1, sizeof(*j));
	uint32_t npairs = 0;

	sim->judge = j;
	j->end_of_port = sim_alloc(sim->nports, sizeof(*j->end_of_port));
	j->pair_first = sim_alloc(sim->nnodes, sizeof(*j->pair_first));
	j->lid = sim_alloc(sim->nports, sizeof(*j->lid));
	j->lmc = sim_alloc(sim->nports, sizeof(*j->lmc));
	j->carrying = sim_alloc(sim->nports, sizeof(*j->carrying));
	j->waits = sim_alloc(sim->nports, sizeof(*j->waits));
	for (uint32_t i = 0; i < sim->nnodes; i++) {
		const struct sim_node *n = &sim->nodes[i];

		for (unsigned int o = n->is_switch ? 0 : 1; o <= (n->is_switch ? 0 : n->nports);
		     o++)
			j->end_of_port[n->first + o] = j->nends++;
		j->pair_first[i] = npairs;
		if (n->is_switch)
			npairs += (n->nports + 1u) * (n->nports + 1u);
	}
	j->granted = sim_alloc(j->nends * (size_t)j->nends * SIM_PATHS, sizeof(*j->granted));
	j->pairs = sim_alloc(npairs, sizeof(*j->pairs));
	j->counts = sim_alloc(npairs * (size_t)(SIM_VLS * SIM_VLS), sizeof(*j->counts));
	j->closing = sim_alloc(SIM_MOST_CLOSING, sizeof(*j->closing));
	j->columns = sim_alloc(IB_LID_MCAST_START_HO, sizeof(*j->columns));
	for (uint32_t lid = 0; lid < IB_LID_MCAST_START_HO; lid++)
		j->columns[lid].owner = j->columns[lid].had = DL_NONE;
	j->groups = sim_alloc(SIM_MLIDS, sizeof(*j->groups));
	j->revised = DL_NONE;
	sim_order_init(sim);
	return j;
}

/* ---- does a packet arrive? ----------------------------------------------------- */

static void set_reached(struct sim *sim, struct sim_column *c, uint32_t node, bool reached)
{
	const struct sim_node *s = &sim->nodes[node];

	if (c->reached[node] == reached)
		return;
	c->reached[node] = reached;
	c->cut[node] |= !reached && sim->judge->by_write;
	c->lost[node] |= !reached && !sim->judge->by_write;
	for (unsigned int in = 1; in <= s->nports; in++) {
		uint32_t peer = sim->ports[s->first + in].peer, before;

		if (peer == DL_NONE)
			continue;
		before = sim->ports[peer].node;
		if (sim->nodes[before].is_switch && c->next[before] == peer)
			set_reached(sim, c, before, reached);
	}
}

/* Does a switch's packet come back to it? */
static bool goes_round(const struct sim *sim, const struct sim_column *c, uint32_t node)
{
	uint32_t at = node;

	for (uint32_t i = 0; i <= sim->nnodes && sim_is_link(c->next[at]); i++) {
		at = sim->ports[sim->ports[c->next[at]].peer].node;
		if (at == node)
			return true;
	}
	return false;
}

static bool has_circle(const struct sim *sim, const struct sim_column *c)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (sim->nodes[i].is_switch && goes_round(sim, c, i))
			return true;
	return false;
}

static uint32_t find_next(const struct sim *sim, const struct sim_column *c, uint32_t lid,
			  const struct sim_node *s)
{
	unsigned int out = sim_lft(s, lid);
	uint32_t link = s->first + out, peer;

	if (c->owner == s->first)
		return SIM_DELIVERED;
	if (!out || out > s->nports || !sim->judge->carrying[link])
		return DL_NONE;
	peer = sim->ports[link].peer;
	if (sim->nodes[sim->ports[peer].node].is_switch)
		return link;
	return peer == c->owner ? SIM_DELIVERED : DL_NONE;
}

static void update_next(struct sim *sim, uint32_t lid, struct sim_node *s)
{
	struct sim_column *c = &sim->judge->columns[lid];
	uint32_t node = (uint32_t)(s - sim->nodes), next = find_next(sim, c, lid, s);
	char text[128];
	bool reached;

	if (next == c->next[node])
		return;
	sim_flow_next(sim, lid, s, next);
	reached = next == SIM_DELIVERED;
	if (sim_is_link(next))
		sim_judge_led(sim, lid, next);
	if (sim_is_link(next) && goes_round(sim, c, node)) {
		snprintf(text, sizeof(text), "packets to LID %u (%s) come back to %s", lid,
			 sim->nodes[sim->ports[c->had].node].name, s->name);
		/* One that is there before a link is raised has been found. */
		if (!c->circular)
			sim_log_unsafe(sim, SIM_CIRCLE, text);
		c->circular = true;
	} else if (sim_is_link(next)) {
		reached = c->reached[sim->ports[sim->ports[next].peer].node];
	}
	set_reached(sim, c, node, reached);
}

/* ---- LIDs ---------------------------------------------------------------------- */

static bool is_end_port(const struct sim *sim, const struct sim_port *p)
{
	return sim->nodes[p->node].is_switch == !p->num;
}

static void open_column(struct sim *sim, uint32_t lid)
{
	struct sim_column *c = &sim->judge->columns[lid];

	if (lid >= sim->judge->ncolumns)
		sim->judge->ncolumns = lid + 1;
	if (c->next)
		return;
	c->next = sim_alloc(sim->nnodes, sizeof(*c->next));
	c->reached = sim_alloc(sim->nnodes, sizeof(*c->reached));
	c->cut = sim_alloc(sim->nnodes, sizeof(*c->cut));
	c->lost = sim_alloc(sim->nnodes, sizeof(*c->lost));
	for (uint32_t i = 0; i < sim->nnodes; i++)
		c->next[i] = DL_NONE;
}

/*
 * An end port has a LID that was another's: what was granted for it means nothing
 * any more, and whoever wants to send there asks again.
 */
static void forget_grants(struct sim *sim, uint32_t owner, uint32_t path)
{
	bool had = false;

	for (uint32_t p = 0; p < sim->nports; p++) {
		uint16_t *sls = sim_judge_sls(sim, p, owner, path);

		if (!is_end_port(sim, &sim->ports[p]))
			continue;
		had |= *sls != 0;
		*sls = 0;
	}
	if (had)
		sim_client_ask_again(sim, owner, path);
}

static void update_all(struct sim *sim, uint32_t lid)
{
	for (uint32_t i = 0; i < sim->nnodes; i++)
		if (sim->nodes[i].is_switch)
			update_next(sim, lid, &sim->nodes[i]);
}

/* Hosts send to a node that has gone, too, for as long as they do not know it. */
static void lose_owner(struct sim *sim, uint32_t lid)
{
	struct sim_column *c = &sim->judge->columns[lid];

	c->owner = DL_NONE;
	memset(c->reached, 0, sim->nnodes * sizeof(*c->reached));
	update_all(sim, lid);
}

static void set_owner(struct sim *sim, uint32_t lid, uint32_t owner)
{
	struct sim_column *c = &sim->judge->columns[lid];

	open_column(sim, lid);
	/* Packets to whoever had it are nowhere. */
	for (uint32_t i = 0; i < sim->nnodes && c->had != DL_NONE; i++)
		if (sim->nodes[i].is_switch) {
			sim_flow_next(sim, lid, &sim->nodes[i], DL_NONE);
			c->reached[i] = false;
		}
	c->owner = owner;
	c->path = lid - sim->judge->lid[owner];
	if (c->had != DL_NONE && c->had != owner)
		forget_grants(sim, owner, c->path);
	c->had = owner;
	/* What has been admitted comes into force. */
	c->circular |= c->doubtful;
	for (uint32_t p = 0; p < sim->nports && !c->flow.total; p++)
		if (is_end_port(sim, &sim->ports[p]) && *sim_judge_sls(sim, p, owner, c->path))
			sim_flow_open(sim, &c->flow);
	update_all(sim, lid);
}

/* One that has no power neither sends nor takes packets, whatever LID it had. */
static bool is_dead(const struct sim *sim, uint32_t port)
{
	return sim->nodes[sim->ports[port].node].dead;
}

/* Another end port that has a LID, too, as after a takeover, or DL_NONE. */
static uint32_t find_double(const struct sim *sim, uint32_t lid, uint32_t port)
{
	const struct sim_judge *j = sim->judge;
	uint32_t other = DL_NONE;

	for (uint32_t p = 0; j->has_doubles && p < sim->nports; p++)
		if (p != port && j->lid[p] && !is_dead(sim, p) && lid >= j->lid[p] &&
		    lid < j->lid[p] + (1u << j->lmc[p]))
			other = p;
	return other;
}

void sim_judge_trust(struct sim *sim)
{
	for (uint32_t lid = 1; lid < sim->judge->ncolumns; lid++)
		sim->judge->columns[lid].doubtful = false;
}

static void give_up(struct sim *sim, uint32_t lid, uint32_t port)
{
	uint32_t other = find_double(sim, lid, port);

	if (sim->judge->columns[lid].owner != port)
		return;
	if (other == DL_NONE)
		lose_owner(sim, lid);
	else
		set_owner(sim, lid, other);
}

/* OpenSM has given a node the LID of another one, because it claims it. */
static void note_double(struct sim *sim)
{
	sim->judge->has_doubles = true;
	sim->disturbed = sim->now;
	for (uint32_t i = 0; i < sim->nsms; i++)
		sim->sms[i].astray = sim->now;
}

static void update_lids(struct sim *sim, uint32_t port)
{
	struct sim_judge *j = sim->judge;
	const struct sim_port *p = &sim->ports[port];
	uint16_t lid = be16toh(p->info.base_lid);
	uint8_t lmc = p->info.mkey_lmc & 7;

	/* Packets to a host without a link go to whoever else has the LID: it may have lied. */
	if (lid + (1u << lmc) > IB_LID_MCAST_START_HO ||
	    (!sim->nodes[p->node].is_switch && !sim_is_live(p)))
		lid = 0;
	if (lid == j->lid[port] && lmc == j->lmc[port])
		return;
	for (uint32_t i = 0; j->lid[port] && i < 1u << j->lmc[port]; i++)
		give_up(sim, j->lid[port] + i, port);
	if (sim->o.verbose > 1)
		sim_say(sim, "LID of %s: %u, was %u", sim->nodes[p->node].name, lid, j->lid[port]);
	j->lid[port] = lid;
	j->lmc[port] = lmc;
	for (uint32_t i = 0; lid && i < 1u << lmc; i++) {
		uint32_t owner = j->columns[lid + i].owner;

		if (owner != DL_NONE && !is_dead(sim, owner))
			note_double(sim);
		set_owner(sim, lid + i, port);
	}
}

/* ---- what changes -------------------------------------------------------------- */

/* A link begins to carry data, or ceases to. */
static void update_link(struct sim *sim, uint32_t port)
{
	struct sim_judge *j = sim->judge;
	const struct sim_port *p = &sim->ports[port];
	struct sim_node *s = &sim->nodes[p->node], *far;
	bool carries = sim_carries(sim, p);

	if (j->carrying[port] == carries)
		return;
	far = &sim->nodes[sim->ports[p->peer].node];
	for (uint32_t g = 0; g < j->ngroups; g++)
		if (s->is_switch && far->is_switch && j->groups[g].total && !carries &&
		    sim_groups_has(s, g, p->num))
			sim_groups_depend(sim, g, s, p->num, false);
	j->carrying[port] = carries;
	for (uint32_t g = 0; g < j->ngroups; g++) {
		if (!j->groups[g].total)
			continue;
		if (s->is_switch && far->is_switch) {
			if (carries && sim_groups_has(s, g, p->num))
				sim_groups_depend(sim, g, s, p->num, true);
			sim_groups_refresh(sim, g, port);
			if (carries && sim_groups_has(s, g, p->num))
				sim_groups_circle(sim, g, s, p->num);
		} else if (far->is_switch) {
			sim_groups_switch(sim, g, far);
		}
	}
	for (uint32_t lid = 1; lid < j->ncolumns; lid++) {
		struct sim_column *c = &j->columns[lid];

		if (s->is_switch && c->had != DL_NONE)
			update_next(sim, lid, s);
		/* Packets to a LID that nobody has any more may be left there, too. */
		if (s->is_switch && far->is_switch)
			sim_flow_refresh(sim, lid, port);
		else if (!s->is_switch && c->had != DL_NONE)
			sim_flow_refresh(sim, lid, c->next[far - sim->nodes]);
	}
}

void sim_judge_port(struct sim *sim, uint32_t port, bool by_write)
{
	struct sim_port *p = &sim->ports[port];

	sim->judge->by_write = by_write;
	if (is_end_port(sim, p))
		update_lids(sim, port);
	if (p->peer == DL_NONE)
		return;
	update_link(sim, port);
	update_link(sim, p->peer);
}

void sim_judge_lft(struct sim *sim, struct sim_node *n, uint32_t first, uint32_t end)
{
	bool doubtful = sim_log_is_doubtful(sim);

	sim->judge->by_write = true;
	for (uint32_t lid = first; lid < end && lid < IB_LID_MCAST_START_HO; lid++) {
		struct sim_column *c = &sim->judge->columns[lid];

		c->doubtful |= doubtful;
		if (c->had == DL_NONE)
			continue;
		update_next(sim, lid, n);
		c->circular = c->circular && has_circle(sim, c);
	}
}

/* OpenSM cuts maps to OperVLs as they are, and a map after power on is all zero. */
static bool is_cut_of(const uint8_t *was, const uint8_t *now)
{
	for (unsigned int mask = 0; mask < SIM_VLS; mask = 2 * mask + 1) {
		unsigned int same = 0;

		for (unsigned int i = 0; i < 8; i++)
			same += was[i] == (now[i] & (mask << 4 | mask));
		if (same == 8)
			return true;
	}
	return false;
}

/* OpenSM cuts maps to the VLs that the far end claims. */
static bool leads_to_liar(const struct sim *sim, const struct sim_port *p)
{
	return p->peer != DL_NONE && sim->nodes[sim->ports[p->peer].node].lied;
}

/* Is there a ring of switches behind one?  Each is marked with that from which it was reached. */
static bool finds_ring(const struct sim *sim, uint32_t *came, uint32_t node)
{
	const struct sim_node *s = &sim->nodes[node];

	for (unsigned int o = 1; o <= s->nports; o++) {
		uint32_t peer = sim->ports[s->first + o].peer, next;

		if (peer == DL_NONE ||
		    (!sim->judge->carrying[s->first + o] && !sim->judge->carrying[peer]))
			continue;
		next = sim->ports[peer].node;
		if (!sim->nodes[next].is_switch || next == came[node] || came[next] == node)
			continue;
		if (came[next] != DL_NONE)
			return true;
		came[next] = node;
		if (finds_ring(sim, came, next))
			return true;
	}
	return false;
}

/* Nothing comes back from a tree of switches, so that no ring waits there, whatever the VLs. */
static bool is_tree(const struct sim *sim, uint32_t root, uint32_t without)
{
	uint32_t *came = sim_alloc(sim->nnodes, sizeof(*came));
	bool ring;

	for (uint32_t i = 0; i < sim->nnodes; i++)
		came[i] = DL_NONE;
	came[root] = came[without] = without;
	ring = finds_ring(sim, came, root);
	free(came);
	return !ring;
}

static bool is_on_branch(const struct sim *sim, const struct sim_port *p)
{
	uint32_t far = sim->ports[p->peer].node;

	return is_tree(sim, far, p->node) || is_tree(sim, p->node, far);
}

void sim_judge_map(struct sim *sim, struct sim_node *n, unsigned int in, unsigned int out,
		   const uint8_t *before, unsigned int vls_code)
{
	const struct sim_port *o = sim_port_at(sim, n, out);
	struct sim_judge *j = sim->judge;
	char text[128];
	unsigned int vls_before = before ? sim_flow_vls(o) : sim_flow_vls_of(vls_code);
	unsigned int first = in == SIM_NO_PORT ? 0 : in, last = in == SIM_NO_PORT ? n->nports : in;

	sim->judge->by_write = true;
	if (!sim->judge->carrying[n->first + out])
		return;
	for (in = first; in <= last; in++) {
		const uint8_t *was = before ? before : o->sl2vl + 8 * in;

		for (uint32_t lid = 1; lid < sim->judge->ncolumns; lid++)
			sim_flow_map(sim, lid, n, in, out, was, vls_before);
		if (j->revised != DL_NONE && !n->lied && !leads_to_liar(sim, o) &&
		    !is_cut_of(was, o->sl2vl + 8 * in) && !is_on_branch(sim, o)) {
			snprintf(text, sizeof(text),
				 "on their way through %s from port %u to port %u", n->name, in,
				 out);
			sim_log_unsafe(sim, SIM_REVISED, text);
		}
		j->revised = DL_NONE;
		sim_groups_map(sim, n, in, out, was, vls_before);
	}
}

/* Masks of one group at a switch. */
static void update_group(struct sim *sim, struct sim_node *n, uint32_t group, const uint16_t *was)
{
	struct sim_judge *j = sim->judge;
	const uint16_t *now = &n->mft[group * SIM_MFT_POSITIONS];
	bool come[DL_FABRIC_MAX_PORTS + 1] = { false };

	sim->last_tree = sim->now;
	sim_flow_open(sim, &j->groups[group]);
	if (group >= j->ngroups)
		j->ngroups = group + 1;
	for (unsigned int out = 1; out <= n->nports; out++) {
		uint32_t peer = sim->ports[n->first + out].peer;
		bool is = now[out / 16] >> out % 16 & 1, before = was[out / 16] >> out % 16 & 1;

		if (is != before && peer != DL_NONE && j->carrying[n->first + out] &&
		    sim->nodes[sim->ports[peer].node].is_switch) {
			sim_groups_depend(sim, group, n, out, is);
			come[out] = is;
			if (is)
				sim_judge_led(sim, group + IB_LID_MCAST_START_HO, n->first + out);
		}
	}
	sim_groups_switch(sim, group, n);
	for (unsigned int out = 1; out <= n->nports; out++)
		if (come[out])
			sim_groups_circle(sim, group, n, out);
}

void sim_judge_mft(struct sim *sim, struct sim_node *n, uint32_t first, const uint16_t *before)
{
	sim->judge->by_write = true;
	for (uint32_t g = first; g < first + 32; g++, before += SIM_MFT_POSITIONS)
		if (memcmp(before, &n->mft[g * SIM_MFT_POSITIONS],
			   SIM_MFT_POSITIONS * sizeof(*before)))
			update_group(sim, n, g, before);
}

/* Its links are down, and carry nothing: no packet waits by what it held. */
void sim_judge_node(struct sim *sim, struct sim_node *n)
{
	sim->judge->by_write = false;
	for (unsigned int o = n->is_switch ? 0 : 1; o <= (n->is_switch ? 0 : n->nports); o++)
		update_lids(sim, n->first + o);
	for (uint32_t lid = 1; n->is_switch && lid < sim->judge->ncolumns; lid++)
		if (sim->judge->columns[lid].had != DL_NONE)
			update_next(sim, lid, n);
}

static void set_grant(struct sim *sim, uint32_t from, uint32_t to, uint32_t path, uint16_t sls)
{
	struct sim_judge *j = sim->judge;
	uint16_t *g = sim_judge_sls(sim, from, to, path);
	const struct sim_port *p = &sim->ports[from];
	uint32_t at = p->num ? sim->ports[p->peer].node : p->node;

	if (*g == sls)
		return;
	*g = sls;
	for (uint32_t i = path % SIM_PATHS; j->lid[to] && i < 1u << j->lmc[to]; i += SIM_PATHS) {
		struct sim_column *c = &j->columns[j->lid[to] + i];

		sim_flow_open(sim, &c->flow);
		if (c->owner == to)
			sim_flow_refresh(sim, j->lid[to] + i, c->next[at]);
	}
}

void sim_judge_grant(struct sim *sim, uint32_t from, uint32_t to, uint32_t path, uint16_t sls)
{
	set_grant(sim, from, to, path, sls | sim_judge_granted(sim, from, to, path));
}

void sim_judge_revoke(struct sim *sim, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < SIM_PATHS; i++)
		set_grant(sim, from, to, i, 0);
}

uint16_t sim_judge_granted(const struct sim *sim, uint32_t from, uint32_t to, uint32_t path)
{
	return *sim_judge_sls(sim, from, to, path);
}

bool sim_judge_shares_lid(const struct sim *sim, const struct sim_node *n)
{
	bool shares = false;

	for (uint32_t p = n->first; p <= n->first + n->nports; p++)
		shares |= sim->judge->lid[p] && find_double(sim, sim->judge->lid[p], p) != DL_NONE;
	return shares;
}

uint32_t sim_judge_owner(const struct sim *sim, uint16_t lid, uint32_t *path)
{
	const struct sim_judge *j = sim->judge;
	uint32_t owner = lid < j->ncolumns ? j->columns[lid].owner : DL_NONE;

	*path = owner == DL_NONE ? 0 : lid - j->lid[owner];
	return find_double(sim, lid, owner) == DL_NONE ? owner : DL_NONE;
}

uint32_t sim_judge_paths(const struct sim *sim, uint32_t to)
{
	return 1u << sim->judge->lmc[to];
}
