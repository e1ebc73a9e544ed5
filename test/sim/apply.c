/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What each event does.  Those that cannot happen now do nothing: a cable that is
 * cut already, a switch whose death would tear the fabric apart, more failures at
 * once than a fabric of that size is to bear.
 */
#include "config.h"

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define MOST_DEAD 2
#define MOST_CUT 4
#define MOST_MUTE 2
#define MOST_SICK 1
#define MOST_LIARS 2
#define MOST_KEYED 2
#define FOREIGN_KEY UINT64_C(0xBAD0BAD0BAD0BAD0)

static bool is_host_of_sm(const struct sim *sim, const struct sim_node *n)
{
	for (uint32_t i = 0; i < sim->nsms; i++)
		if (&sim->nodes[sim->sms[i].node] == n)
			return true;
	return false;
}

/* A node without which a subnet manager reaches nobody. */
static bool is_vital(const struct sim *sim, const struct sim_node *n)
{
	if (is_host_of_sm(sim, n))
		return true;
	for (unsigned int o = 1; o <= n->nports; o++) {
		uint32_t peer = sim_port_at(sim, n, o)->peer;

		if (peer != DL_NONE && is_host_of_sm(sim, &sim->nodes[sim->ports[peer].node]))
			return true;
	}
	return false;
}

/* Would all live switches stay connected without a node, and without a cable? */
static bool stays_connected(const struct sim *sim, const struct sim_node *dead, uint32_t cut)
{
	uint32_t *queue = sim_alloc(sim->nnodes, sizeof(*queue)), n = 0, alive = 0;
	bool *in = sim_alloc(sim->nnodes, sizeof(*in));

	for (uint32_t i = 0; i < sim->nnodes; i++) {
		const struct sim_node *s = &sim->nodes[i];

		if (!s->is_switch || s->dead || s->sick || s == dead)
			continue;
		alive++;
		if (n)
			continue;
		in[i] = true;
		queue[n++] = i;
	}
	for (uint32_t k = 0; k < n; k++) {
		const struct sim_node *s = &sim->nodes[queue[k]];

		for (unsigned int o = 1; o <= s->nports; o++) {
			const struct sim_port *p = sim_port_at(sim, s, o);
			const struct sim_node *far;

			if (!sim_is_live(p) || s->first + o == cut || p->peer == cut)
				continue;
			far = &sim->nodes[sim->ports[p->peer].node];
			if (!far->is_switch || far->sick || far == dead || in[far - sim->nodes])
				continue;
			in[far - sim->nodes] = true;
			queue[n++] = (uint32_t)(far - sim->nodes);
		}
	}
	free(queue);
	free(in);
	return n == alive;
}

static uint32_t count_cut(const struct sim *sim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->nports; i++)
		n += sim->ports[i].cut;
	return n / 2;
}

/* Nodes of which something is true. */
static uint32_t count_nodes(const struct sim *sim, size_t flag)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->nnodes; i++)
		n += *(const bool *)((const char *)&sim->nodes[i] + flag);
	return n;
}

/* ---- cables -------------------------------------------------------------------- */

/* A cable between switches; or DL_NONE. */
static uint32_t find_cable(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);
	uint32_t port, peer;

	if (!n || !n->is_switch || !step->arg[0] || step->arg[0] > n->nports)
		return DL_NONE;
	port = n->first + step->arg[0];
	peer = sim->ports[port].peer;
	return peer != DL_NONE && sim->nodes[sim->ports[peer].node].is_switch ? port : DL_NONE;
}

static bool cut_cable(struct sim *sim, const struct sim_step *step)
{
	uint32_t port = find_cable(sim, step);

	if (port == DL_NONE || !sim_is_live(&sim->ports[port]) || count_cut(sim) >= MOST_CUT ||
	    !stays_connected(sim, NULL, port))
		return false;
	sim_nodes_link(sim, port, false);
	return true;
}

static bool mend_cable(struct sim *sim, const struct sim_step *step)
{
	uint32_t port = find_cable(sim, step);

	if (port == DL_NONE || !sim->ports[port].cut)
		return false;
	sim_nodes_link(sim, port, true);
	return true;
}

static bool flap_cable(struct sim *sim, const struct sim_step *step)
{
	uint32_t port = find_cable(sim, step);

	if (!cut_cable(sim, step))
		return false;
	sim_events_add(sim, sim->now + step->arg[1] * SIM_MS, SIM_RAISE, 0, port, NULL);
	return true;
}

/* It comes back with another number of lanes. */
static bool train_cable(struct sim *sim, const struct sim_step *step)
{
	struct sim_step flap = *step;

	flap.arg[1] = step->arg[2];
	if (!flap_cable(sim, &flap))
		return false;
	sim_nodes_train(sim, find_cable(sim, step), step->arg[1]);
	return true;
}

/* Two cables of a switch at a time; so all switches stay neighbours of those that they were. */
static bool swap_cables(struct sim *sim, const struct sim_step *step)
{
	struct sim_step other = *step;
	uint32_t a = find_cable(sim, step), b, moved = 0;

	other.arg[0] = step->arg[1];
	b = find_cable(sim, &other);
	if (a == DL_NONE || b == DL_NONE || a == b || !sim_is_live(&sim->ports[a]) ||
	    !sim_is_live(&sim->ports[b]))
		return false;
	for (uint32_t i = 0; i < sim->nports; i++)
		moved += sim->ports[i].peer != sim->ports[i].home;
	if (moved &&
	    (sim->ports[a].peer == sim->ports[a].home || sim->ports[b].peer == sim->ports[b].home))
		return false;
	sim_nodes_swap(sim, a, b);
	sim->swapped_at = sim->now;
	return true;
}

/* ---- nodes --------------------------------------------------------------------- */

static bool kill_switch(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);

	if (!n || !n->is_switch || n->dead || is_vital(sim, n) ||
	    count_nodes(sim, offsetof(struct sim_node, dead)) -
			    count_nodes(sim, offsetof(struct sim_node, absent)) >=
		    MOST_DEAD ||
	    !stays_connected(sim, n, DL_NONE))
		return false;
	sim_nodes_power(sim, n, false);
	return true;
}

static bool revive_switch(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);

	if (!n || !n->dead)
		return false;
	sim_nodes_power(sim, n, true);
	return true;
}

static bool mute_node(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);

	if (!n || n->mute || is_vital(sim, n) ||
	    count_nodes(sim, offsetof(struct sim_node, mute)) >= MOST_MUTE)
		return false;
	n->mute = true;
	return true;
}

/* What lies behind it must not depend on it; that it is well again counts as a change. */
static bool sicken_switch(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);

	if (!n || !n->is_switch || n->dead || n->sick || is_vital(sim, n) ||
	    count_nodes(sim, offsetof(struct sim_node, sick)) >= MOST_SICK ||
	    !stays_connected(sim, n, DL_NONE))
		return false;
	n->sick = true;
	sim->last_change = sim->now;
	return true;
}

static bool lie(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);
	uint32_t liars = 0;

	for (uint32_t i = 0; i < sim->nnodes; i++)
		liars += sim->nodes[i].lie != 0;
	if (!n || !step->arg[0] || step->arg[0] > SIM_LIES || n->lie || is_vital(sim, n) ||
	    liars >= MOST_LIARS)
		return false;
	n->lie = step->arg[0];
	n->lied = true;
	sim->disturbed = sim->now;
	return true;
}

/* Another subnet manager, which is not here any more, has set a node's M_Key. */
static bool set_key(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);

	if (!n || n->dead || n->is_keyed || step->arg[0] > 3 || is_vital(sim, n) ||
	    count_nodes(sim, offsetof(struct sim_node, is_keyed)) >= MOST_KEYED)
		return false;
	sim_agent_key(sim, n, FOREIGN_KEY, step->arg[0], (uint16_t)step->arg[1]);
	return true;
}

static bool hear_node(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);

	if (!n || (!n->mute && !n->sick && !n->lie && !n->is_keyed))
		return false;
	if (n->sick)
		sim->last_change = sim->now;
	n->mute = n->sick = false;
	n->lie = 0;
	if (n->is_keyed)
		sim_agent_key(sim, n, 0, 0, 0);
	sim->disturbed = sim->now;
	return true;
}

static bool set_loss(struct sim *sim, const struct sim_step *step)
{
	sim->loss = step->arg[0];
	sim->delay = step->arg[1];
	sim->twice = step->arg[2];
	sim->disturbed = sim->now;
	return true;
}

/* ---- subnet managers ----------------------------------------------------------- */

/* The one that is running under the number; or NULL. */
static struct sim_sm *find_sm(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = &sim->sms[step->arg[0] % SIM_MOST_SMS];

	return step->arg[0] < sim->nsms && sm->pid ? sm : NULL;
}

static bool sweep(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = find_sm(sim, step);

	if (!sm || sm->paused)
		return false;
	sm->share->signal = SIGHUP;
	sm->share->ready = true;
	return true;
}

static bool stop_sm(struct sim *sim, const struct sim_step *step)
{
	if (!find_sm(sim, step))
		return false;
	sim_process_kill(sim, step->arg[0]);
	return true;
}

/* It is stopped as by a debugger: MADs wait for it, time passes. */
static bool pause_sm(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = find_sm(sim, step);

	if (!sm || sm->paused)
		return false;
	sm->paused = true;
	sim->disturbed = sim->now;
	return true;
}

static bool resume_sm(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = find_sm(sim, step);

	if (!sm || !sm->paused)
		return false;
	sm->paused = false;
	sm->last_sent = sim->disturbed = sim->now;
	return true;
}

static bool kill_sm_at(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = find_sm(sim, step);

	if (!sm || !step->arg[1])
		return false;
	sm->share->die = step->arg[1];
	return true;
}

static bool starve_sm(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = find_sm(sim, step);

	/* Without memory for the engine OpenSM has none. */
	if (!sm || !step->arg[1] || !sm->last_up)
		return false;
	sm->share->starve = step->arg[1];
	return true;
}

static bool deny_sm(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = find_sm(sim, step);

	if (!sm)
		return false;
	sm->share->deny = step->arg[1];
	return true;
}

static bool measure_sm(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = find_sm(sim, step);

	if (!sm || sm->paused)
		return false;
	sm->share->measure = sm->share->ready = true;
	return true;
}

static bool start_sm(struct sim *sim, const struct sim_step *step)
{
	struct sim_sm *sm = &sim->sms[step->arg[0]];

	if (step->arg[0] >= sim->nsms || sm->pid)
		return false;
	sim_process_start(sim, step->arg[0], sm->node);
	return true;
}

/* ---- out of use ---------------------------------------------------------------- */

/* All read the list again. */
static void sweep_all(struct sim *sim)
{
	sim->last_change = sim->now;
	for (uint32_t i = 0; i < sim->nsms; i++)
		sweep(sim, &(struct sim_step){ .arg = { i } });
}

/* Port 0 stands for the whole switch. */
static uint32_t find_avoidable(struct sim *sim, const struct sim_step *step)
{
	struct sim_node *n = sim_nodes_find(sim, step->node);

	if (step->arg[0])
		return find_cable(sim, step);
	return n && n->is_switch ? n->first : DL_NONE;
}

static bool change_list(struct sim *sim, const struct sim_step *step,
			bool (*change)(struct sim *sim, uint32_t port))
{
	uint32_t port = find_avoidable(sim, step);

	if (port == DL_NONE || !change(sim, port))
		return false;
	sweep_all(sim);
	return true;
}

static bool avoid(struct sim *sim, const struct sim_step *step)
{
	return change_list(sim, step, sim_avoid_add);
}

static bool unavoid(struct sim *sim, const struct sim_step *step)
{
	return change_list(sim, step, sim_avoid_remove);
}

/* ---- all of it ------------------------------------------------------------------ */

static bool grow(struct sim *sim, const struct sim_step *step)
{
	(void)step;
	return sim_grow(sim);
}

static bool wait_only(struct sim *sim, const struct sim_step *step)
{
	(void)sim;
	(void)step;
	return false;
}

static bool has_lease(const struct sim *sim, const struct sim_node *n)
{
	return sim_end_port(sim, n, 1)->info.m_key_lease_period != 0;
}

/* Whatever disturbs answers ends, and there is a subnet manager. */
static bool calm(struct sim *sim, const struct sim_step *step)
{
	uint32_t running = 0;

	(void)step;
	if (sim->loss || sim->delay || sim->twice)
		sim->disturbed = sim->now;
	sim->loss = sim->delay = sim->twice = 0;
	for (uint32_t i = 0; i < sim->nnodes; i++) {
		if (sim->nodes[i].mute || sim->nodes[i].lie)
			sim->disturbed = sim->now;
		sim->nodes[i].mute = false;
		sim->nodes[i].lie = 0;
		/* A lease ends by itself. */
		if (sim->nodes[i].is_keyed && !has_lease(sim, &sim->nodes[i]))
			sim_agent_key(sim, &sim->nodes[i], 0, 0, 0);
	}
	for (uint32_t i = 0; i < sim->nsms; i++) {
		resume_sm(sim, &(struct sim_step){ .arg = { i } });
		running += sim->sms[i].pid != 0;
		if (sim->sms[i].pid)
			sim->sms[i].share->die = sim->sms[i].share->starve =
				sim->sms[i].share->deny = 0;
	}
	if (!running)
		sim_process_start(sim, 0, sim->sms[0].node);
	return true;
}

bool sim_apply(struct sim *sim, const struct sim_step *step)
{
	static bool (*const apply[SIM_STEP_KINDS])(struct sim *, const struct sim_step *) = {
		[SIM_STEP_CUT] = cut_cable,
		[SIM_STEP_MEND] = mend_cable,
		[SIM_STEP_FLAP] = flap_cable,
		[SIM_STEP_KILL] = kill_switch,
		[SIM_STEP_REVIVE] = revive_switch,
		[SIM_STEP_MUTE] = mute_node,
		[SIM_STEP_HEAR] = hear_node,
		[SIM_STEP_LOSS] = set_loss,
		[SIM_STEP_SWEEP] = sweep,
		[SIM_STEP_STOP] = stop_sm,
		[SIM_STEP_START] = start_sm,
		[SIM_STEP_SETTLE] = calm,
		[SIM_STEP_SICK] = sicken_switch,
		[SIM_STEP_DIE] = kill_sm_at,
		[SIM_STEP_PAUSE] = pause_sm,
		[SIM_STEP_RESUME] = resume_sm,
		[SIM_STEP_STARVE] = starve_sm,
		[SIM_STEP_DENY] = deny_sm,
		[SIM_STEP_MEASURE] = measure_sm,
		[SIM_STEP_SWAP] = swap_cables,
		[SIM_STEP_LIE] = lie,
		[SIM_STEP_KEY] = set_key,
		[SIM_STEP_AVOID] = avoid,
		[SIM_STEP_UNAVOID] = unavoid,
		[SIM_STEP_TRAIN] = train_cable,
		[SIM_STEP_GROW] = grow,
		[SIM_STEP_WAIT] = wait_only,
	};
	bool done = apply[step->kind](sim, step);

	if (done && step->kind != SIM_STEP_SETTLE)
		sim->settled_at = 0;
	if (done && step->kind != SIM_STEP_SETTLE && step->kind != SIM_STEP_AVOID &&
	    step->kind != SIM_STEP_UNAVOID)
		sim_avoid_forget(sim);
	if (done && sim->o.verbose) {
		fprintf(sim->out, "%12.6f ", sim_seconds(sim));
		sim_script_print(step, sim->out);
	}
	return done;
}
