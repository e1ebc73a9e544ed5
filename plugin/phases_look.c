/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What OpenSM's view of the subnet says of a change that is planned (phases_plan.c): which
 * links between switches come, and which may still carry packets that the fabric does not
 * show; and what of it makes a proof impossible.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "phases_look.h"
#include "engine.h"
#include "log.h"
#include "marks.h"
#include "recall.h"
#include "sweep.h"

static osm_physp_t *find_physp(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			       unsigned int port)
{
	osm_switch_t *sw = dl_sweep_switch(e, f, s);

	return sw ? osm_node_get_physp_ptr(sw->p_node, port) : NULL;
}

static bool is_inactive(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			unsigned int o)
{
	osm_physp_t *physp = find_physp(e, f, s, o);

	return physp && osm_physp_get_port_state(physp) < IB_LINK_ACTIVE;
}

/* A port of a switch that OpenSM knows. */
static bool is_active(const struct dl_engine *e, const struct dl_fabric *f, uint32_t port)
{
	uint32_t s = f->nodes[f->ports[port].node].sw;

	return find_physp(e, f, s, f->ports[port].num) && !is_inactive(e, f, s, f->ports[port].num);
}

bool dl_phases_link_waits(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			  unsigned int o)
{
	return dl_fabric_joins_switches(f, dl_fabric_switch_node(f, s)->first_port + o) &&
	       is_inactive(e, f, s, o);
}

bool dl_phases_have_waiting_links(const struct dl_engine *e, const struct dl_fabric *f)
{
	bool any = false;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	for (uint32_t s = 0; s < f->nswitches && !any; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports && !any; o++)
			any = dl_phases_link_waits(e, f, s, o);
	CL_PLOCK_RELEASE(&e->osm->lock);
	return any;
}

/*
 * A port whose cable has gone from OpenSM's view, while the port is still active, may
 * carry packets of a switch that does not answer: the mixture is then more than the
 * fabric shows, until OpenSM takes the port down.
 */
static bool is_ghost(const struct dl_fabric *f, uint32_t port, const osm_physp_t *physp)
{
	return f->ports[port].peer == DL_NONE && physp &&
	       osm_physp_get_port_state(physp) > IB_LINK_INIT;
}

uint32_t dl_phases_count_ghosts(struct dl_engine *e, const struct dl_fabric *f)
{
	uint32_t ghosts = 0;

	e->unconfirmed = (struct dl_osm_names){ .n = 0 };
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		osm_switch_t *sw = dl_sweep_switch(e, f, s);
		uint32_t before = ghosts;

		for (unsigned int o = 1; sw && o <= n->nports; o++) {
			osm_physp_t *physp = osm_node_get_physp_ptr(sw->p_node, o);

			ghosts += is_ghost(f, n->first_port + o, physp) &&
				  !osm_physp_get_remote(physp);
		}
		if (ghosts > before)
			dl_osm_names_add(&e->unconfirmed, sw);
	}
	return ghosts;
}

/*
 * A link that comes in place of one in force whose ends are both still active: OpenSM was
 * misled by cables that were moved while it looked, and that one may carry packets.
 */
static bool is_torn(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
		    unsigned int o)
{
	const struct dl_fabric_port *far =
		&f->ports[f->ports[f->nodes[f->switches[s]].first_port + o].peer];
	const struct dl_fabric *was = e->in_force ? e->in_force->fabric : NULL;
	uint32_t node = was ? dl_fabric_find_guid(was, f->nodes[far->node].guid) : DL_NONE, before;

	if (node == DL_NONE || far->num > was->nodes[node].nports)
		return false;
	before = was->nodes[node].first_port + far->num;
	return dl_fabric_joins_switches(was, before) && is_active(e, was, before) &&
	       is_active(e, was, was->ports[before].peer) &&
	       dl_sweep_is_recabled(was, before, dl_sweep_switch(e, was, was->nodes[node].sw));
}

static void doubt_cables(const struct dl_engine *e, struct dl_phases *p, uint32_t s)
{
	dl_osm_names_add(&p->doubtful, dl_sweep_switch(e, p->next->fabric, s));
	p->doubt = "have the cables that OpenSM saw, as these were moved meanwhile";
}

static bool is_reached_as(osm_node_t *node, osm_node_t *other)
{
	osm_physp_t *near = osm_node_get_physp_ptr(node, 0);
	osm_physp_t *far = osm_node_get_physp_ptr(other, 0);
	const osm_dr_path_t *a = near ? osm_physp_get_dr_path_ptr(near) : NULL;
	const osm_dr_path_t *b = far ? osm_physp_get_dr_path_ptr(far) : NULL;

	return a && b && a->hop_count == b->hop_count &&
	       !memcmp(a->path, b->path, a->hop_count + 1ul);
}

/* A switch that is left out: OpenSM writes to another one if its path leads there. */
static void look_at_left_out(const struct dl_engine *e, struct dl_phases *p, osm_node_t *node)
{
	const struct dl_fabric *f = p->next->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const osm_switch_t *sw = dl_sweep_switch(e, f, s);

		if (sw && is_reached_as(node, sw->p_node))
			doubt_cables(e, p, s);
	}
}

/*
 * Cables between switches that come must go active before entries name them.  One that
 * was down for a moment is named by old entries: its switches may have been down, too.
 */
static void look_at_port(const struct dl_engine *e, struct dl_phases *p, uint32_t s, unsigned int o)
{
	const struct dl_fabric *f = p->next->fabric;
	const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
	bool waits = dl_phases_link_waits(e, f, s, o);
	uint32_t was;

	p->ghost_ports |= is_ghost(f, n->first_port + o, find_physp(e, f, s, o));
	p->links_come |= waits;
	p->waits[n->first_port + o] = waits;
	if (waits && is_torn(e, f, s, o))
		doubt_cables(e, p, s);
	if (!dl_fabric_joins_switches(f, n->first_port + o))
		return;
	if (!dl_fabric_match_recabled(&p->old_of, s, o)) {
		p->links_return |= waits;
		return;
	}
	was = dl_fabric_match_port(&p->old_of, n->first_port + o);
	/* A new switch or a moved cable may lead into old branches. */
	p->old_branches |= was == DL_NONE || p->from->fabric->ports[was].peer != DL_NONE;
}

/*
 * A link goes down and trains at both ends.  If one end has just trained, the other is
 * active, and elsewhere an active port has no cable, OpenSM has met another switch than it
 * thought, along a path of before.  With tables in force is_torn() tells.
 */
static bool is_half_active(const struct dl_engine *e, const struct dl_fabric *f, uint32_t s,
			   unsigned int o)
{
	uint32_t port = f->nodes[f->switches[s]].first_port + o;
	osm_physp_t *physp = find_physp(e, f, s, o);

	return dl_fabric_joins_switches(f, port) && physp &&
	       osm_physp_get_port_state(physp) == IB_LINK_INIT &&
	       is_active(e, f, f->ports[port].peer);
}

static void look_at_ghosts(const struct dl_engine *e, struct dl_phases *p)
{
	const struct dl_fabric *f = p->next->fabric;

	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports; o++)
			if (is_half_active(e, f, s, o))
				doubt_cables(e, p, s);
}

/* Had other switches entries for a LID at a switch, or at its adapters? */
static bool had_routes(const struct dl_tables *t, uint32_t sw)
{
	const struct dl_fabric *f = t->fabric;

	for (uint32_t lid = 1; lid <= f->top_lid; lid++) {
		uint32_t end = f->lid_port[lid];

		if (end == DL_NONE || dl_fabric_sender_switch(f, end) != sw)
			continue;
		for (uint32_t s = 0; s < f->nswitches; s++)
			if (s != sw && dl_tables_lft(t, s, lid) != DL_TABLES_NO_PORT)
				return true;
	}
	return false;
}

/*
 * Did the SLs of its paths follow from a place that neither its mark shows nor its cables?
 * It may have gone before the tables came that switches hold, and have lost its mark.
 */
static bool is_place_lost(const struct dl_engine *e, const struct dl_sweep *next, uint32_t s)
{
	const struct dl_torus *t = next->torus;

	return t->sw_site[s] == DL_NONE && dl_torus_possible_site(t, s) != DL_NONE &&
	       !dl_marks_know(e, dl_fabric_switch_node(next->fabric, s)->guid);
}

/* It has a place by its cables, and has been set up without one, or has lost its mark. */
static bool is_place_new(const struct dl_engine *e, const struct dl_sweep *next, uint32_t s,
			 const osm_switch_t *sw)
{
	return next->torus->sw_site[s] != DL_NONE && dl_marks_exist(e) && dl_recall_top(sw) &&
	       !dl_marks_know(e, dl_fabric_switch_node(next->fabric, s)->guid);
}

static bool is_place_doubtful(const struct dl_engine *e, const struct dl_phases *p, uint32_t s,
			      const osm_switch_t *sw)
{
	uint32_t was = dl_fabric_match_switch(&p->old_of, s);

	return is_place_new(e, p->next, s, sw) &&
	       (p->origin == DL_PHASES_FROM_FORCE ||
		(was != DL_NONE && had_routes(p->from->routed.tables, was)));
}

static void look_at_place(const struct dl_engine *e, struct dl_phases *p, uint32_t s)
{
	const osm_switch_t *sw = dl_sweep_switch(e, p->next->fabric, s);

	if (!sw || (!is_place_lost(e, p->next, s) && !is_place_doubtful(e, p, s, sw)))
		return;
	dl_osm_names_add(&p->doubtful, sw);
	p->doubt = DL_PHASES_PLACE_DOUBT;
}

void dl_phases_find_doubtful_places(const struct dl_engine *e, const struct dl_sweep *next,
				    struct dl_osm_names *names)
{
	*names = (struct dl_osm_names){ .n = 0 };
	for (uint32_t s = 0;
	     e->options.route.mode != DL_ROUTE_ANY_SL && s < next->fabric->nswitches; s++) {
		const osm_switch_t *sw = dl_sweep_switch(e, next->fabric, s);

		if (sw && (is_place_lost(e, next, s) || is_place_new(e, next, s, sw)))
			dl_osm_names_add(names, sw);
	}
}

int dl_phases_look(const struct dl_engine *e, struct dl_phases *p)
{
	const struct dl_fabric *f = p->next->fabric;
	osm_node_t *node = NULL;

	p->waits = calloc(f->nports + 1, sizeof(*p->waits));
	if (!p->waits)
		return -ENOMEM;
	CL_PLOCK_ACQUIRE(&e->osm->lock);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports; o++)
			look_at_port(e, p, s, o);
	if (p->ghost_ports && p->origin == DL_PHASES_FROM_SWITCHES)
		look_at_ghosts(e, p);
	for (uint32_t s = 0; s < f->nswitches; s++)
		if (p->origin != DL_PHASES_FROM_NOTHING && e->options.route.mode != DL_ROUTE_ANY_SL)
			look_at_place(e, p, s);
	while ((node = dl_opensm_next_node(e->osm, node)))
		if (dl_sweep_leaves_out(f, node))
			look_at_left_out(e, p, node);
	p->has_groups = p->origin != DL_PHASES_FROM_FORCE;
	for (uint32_t i = 0; i <= IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO; i++)
		p->has_groups |= e->osm->subn.mboxes[i] != NULL;
	CL_PLOCK_RELEASE(&e->osm->lock);
	return 0;
}

void dl_phases_hold_link(struct dl_engine *e, const struct dl_fabric *f, uint32_t s, unsigned int o)
{
	ib_port_info_set_port_state(&find_physp(e, f, s, o)->port_info, IB_LINK_DOWN);
	e->next_sweep = DL_NEXT_AT_ONCE;
}

/*
 * A link that OpenSM believed to be active has been down since it was planned: its cable
 * may lead elsewhere, or its switch have lost its tables.  OpenSM, which learns of it from
 * an answer, would raise it; it passes over ports that it believes to be down.
 */
void dl_phases_hold_links(struct dl_engine *e, const struct dl_phases *p, bool all)
{
	const struct dl_fabric *f = e->in_force->fabric;

	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (uint32_t s = 0; s < f->nswitches; s++)
		for (unsigned int o = 1; o <= f->nodes[f->switches[s]].nports; o++) {
			uint32_t port = f->nodes[f->switches[s]].first_port + o;

			if (!is_inactive(e, f, s, o) ||
			    !(all || dl_fabric_joins_switches(f, port)) ||
			    (p && (p->waits[port] || p->waits[f->ports[port].peer])))
				continue;
			dl_phases_hold_link(e, f, s, o);
		}
	CL_PLOCK_RELEASE(&e->osm->lock);
}
