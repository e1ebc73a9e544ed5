/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Marks: coordinates that are stored in the switches themselves (torus.h).
 *
 * Marks are kept as they are read, until tables are in force.  The sweep that reads them
 * may move them, as they follow the highest LID, and end without tables, or another subnet
 * manager may do so: the next sweep would not find them again.
 *
 * A switch that leaves the tables in force may come back without its mark, as it has been
 * without power, while applications go on with the SLs of its paths: its place is kept, and
 * the coordinates by which these SLs were granted, which one off the torus has, too.
 *
 * A mark that has no room in the block of the highest LID takes one more block,
 * which OpenSM knows nothing of: it is written here, if it changes or the switch
 * has lost it.
 *
 * OpenSM raises LinearFDBTop before it writes the entries that come.  Until then packets
 * would go by the mark, or by whatever else stands there.  Where LinearFDBTop falls, as after
 * a restart at which switches with higher LIDs do not answer, the order of the SMPs is open,
 * and packets to these switches may still be under way: the mark waits until the new top
 * has been confirmed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#include "marks.h"
#include "engine.h"
#include "log.h"
#include "recall.h"
#include "sweep.h"

/* The site of either is DL_NONE if there is none. */
struct dl_recall_mark {
	uint64_t guid;
	struct dl_torus_mark mark;
	struct dl_torus_mark grant; /* of one that has left the tables in force: for its SLs */
};

unsigned int dl_marks_mode(const struct dl_engine *e, const struct dl_sweep *sweep)
{
	return dl_route_mark(&e->options.route, sweep->config);
}

static uint32_t marks_first(const osm_switch_t *sw, uint32_t top)
{
	return dl_torus_mark_first(top, sw->num_ports - 1);
}

bool dl_marks_ask(struct dl_engine *e, osm_switch_t *sw, bool anew)
{
	osm_madw_context_t context = dl_recall_context(sw, false);
	uint32_t top = dl_recall_top(sw), first, block;

	if (!top)
		return false;
	first = marks_first(sw, top);
	block = first / DL_TORUS_MARK_BLOCK;
	if (!dl_recall_reserve(e, sw, (block + 1) * DL_TORUS_MARK_BLOCK))
		return true;
	/* Without an answer there is no mark. */
	if (anew)
		memset(sw->lft + first, OSM_NO_PATH, dl_torus_mark_length(sw->num_ports - 1));
	dl_recall_get(e, sw, IB_MAD_ATTR_LIN_FWD_TBL, block, &context);
	return true;
}

void dl_marks_drop(struct dl_recall *r)
{
	free(r->marks);
	r->marks = NULL;
	r->nmarks = 0;
}

/* The mark that a switch holds; its site is DL_NONE if there is none. */
static struct dl_torus_mark marks_read(const osm_switch_t *sw, uint64_t guid)
{
	struct dl_torus_mark m = { .site = DL_NONE };
	uint32_t top = dl_recall_top(sw);
	uint32_t first = top ? marks_first(sw, top) : 0;

	if (!top || !sw->lft || first + dl_torus_mark_length(sw->num_ports - 1) > sw->lft_size ||
	    !dl_torus_mark_read(sw->lft + first, guid, sw->num_ports - 1, &m))
		m.site = DL_NONE;
	return m;
}

static int marks_compare_guids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b; /* the first member */

	return (*x > *y) - (*x < *y);
}

static struct dl_recall_mark *marks_find(const struct dl_recall *r, uint64_t guid)
{
	return r->nmarks ?
		       bsearch(&guid, r->marks, r->nmarks, sizeof(*r->marks), marks_compare_guids) :
		       NULL;
}

/* The tables in force by which this subnet manager knows coordinates; or NULL. */
static const struct dl_sweep *marks_in_force(const struct dl_engine *e)
{
	return e->osm->subn.first_time_master_sweep ? NULL : e->in_force;
}

/* Room for as many more, which are put behind the others, and sorted when all are there. */
static bool marks_reserve(struct dl_engine *e, uint32_t more)
{
	struct dl_recall_mark *marks =
		reallocarray(e->recall.marks, (size_t)e->recall.nmarks + more + 1, sizeof(*marks));

	if (marks)
		e->recall.marks = marks;
	else
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL29: no memory for marks of switches");
	return marks != NULL;
}

static void marks_sort(struct dl_recall *r, uint32_t n)
{
	r->nmarks = n;
	qsort(r->marks, n, sizeof(*r->marks), marks_compare_guids);
}

void dl_marks_keep(struct dl_engine *e)
{
	struct dl_recall *r = &e->recall;
	uint32_t n = r->nmarks;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	if (marks_reserve(e, cl_qmap_count(&e->osm->subn.sw_guid_tbl))) {
		for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw;
		     sw = dl_opensm_next(e->osm, sw)) {
			uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
			struct dl_torus_mark m = marks_read(sw, guid);
			struct dl_recall_mark *old = marks_find(r, guid);

			if (m.site == DL_NONE)
				continue;
			/* What was in force last tells more than a mark, whose write may be lost. */
			if (old && old->grant.site == DL_NONE)
				old->mark = m;
			else if (!old)
				r->marks[n++] =
					(struct dl_recall_mark){ guid, m, { .site = DL_NONE } };
		}
		marks_sort(r, n);
	}
	CL_PLOCK_RELEASE(&e->osm->lock);
}

void dl_marks_remember(struct dl_engine *e, const struct dl_sweep *gone,
		       const struct dl_sweep *next)
{
	const struct dl_torus *t = gone->torus;
	unsigned int mode = dl_marks_mode(e, gone);
	struct dl_recall *r = &e->recall;
	uint32_t n = r->nmarks;

	if (e->osm->subn.first_time_master_sweep || !marks_reserve(e, gone->fabric->nswitches))
		return;
	for (uint32_t s = 0; s < gone->fabric->nswitches; s++) {
		uint64_t guid = dl_fabric_switch_node(gone->fabric, s)->guid;
		struct dl_recall_mark m = {
			guid,
			{ t->grid, gone->provisional ? DL_NONE : t->sw_site[s], mode },
			{ t->grid, t->attachment[s], mode },
		};
		struct dl_recall_mark *old;

		if (next && dl_fabric_find_guid(next->fabric, guid) != DL_NONE)
			continue;
		old = marks_find(r, guid);
		*(old ? old : &r->marks[n++]) = m;
	}
	marks_sort(r, n);
}

void dl_marks_settle(struct dl_engine *e)
{
	const struct dl_sweep *in_force = marks_in_force(e);
	struct dl_recall *r = &e->recall;
	uint32_t n = 0;

	if (e->osm->subn.first_time_master_sweep)
		dl_marks_disown(e);
	if (!in_force)
		return;
	for (uint32_t i = 0; i < r->nmarks; i++)
		if (r->marks[i].grant.site != DL_NONE &&
		    dl_fabric_find_guid(in_force->fabric, r->marks[i].guid) == DL_NONE)
			r->marks[n++] = r->marks[i];
	r->nmarks = n;
}

void dl_marks_disown(struct dl_engine *e)
{
	struct dl_recall *r = &e->recall;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->nmarks; i++)
		if (r->marks[i].grant.site == DL_NONE)
			r->marks[n++] = r->marks[i];
	r->nmarks = n;
}

struct dl_torus_mark dl_marks_granted(const struct dl_engine *e, uint64_t guid)
{
	const struct dl_recall_mark *m = marks_find(&e->recall, guid);

	return m ? m->grant : (struct dl_torus_mark){ .site = DL_NONE };
}

struct dl_torus_mark dl_marks_foreign(const struct dl_engine *e, uint64_t guid)
{
	const struct dl_sweep *in_force = marks_in_force(e);
	const struct dl_torus *t = in_force && !in_force->provisional ? in_force->torus : NULL;
	const struct dl_recall_mark *read = marks_find(&e->recall, guid);
	uint32_t node = t && read ? dl_fabric_find_guid(t->fabric, guid) : DL_NONE;
	struct dl_torus_mark m = { .site = DL_NONE };

	if (node != DL_NONE && read->grant.site == DL_NONE &&
	    (read->mark.mode != dl_marks_mode(e, in_force) ||
	     read->mark.site != t->sw_site[t->fabric->nodes[node].sw] ||
	     !dl_torus_same_grid(&read->mark.grid, &t->grid)))
		m = read->mark;
	return m;
}

/* What is known of a switch: by the tables in force, or by its mark, if no other one is there. */
static struct dl_torus_mark marks_recall(const struct dl_engine *e, const struct dl_sweep *in_force,
					 uint64_t guid, bool *news)
{
	const struct dl_torus *t = in_force ? in_force->torus : NULL;
	const struct dl_recall_mark *kept = marks_find(&e->recall, guid);
	struct dl_torus_mark m = kept ? kept->mark : (struct dl_torus_mark){ .site = DL_NONE };
	uint32_t node = t ? dl_fabric_find_guid(t->fabric, guid) : DL_NONE;

	if (node != DL_NONE)
		return (struct dl_torus_mark){ t->grid, t->sw_site[t->fabric->nodes[node].sw],
					       dl_marks_mode(e, in_force) };
	if (t && m.site != DL_NONE &&
	    (memcmp(m.grid.radix, t->grid.radix, sizeof(m.grid.radix)) ||
	     t->site_sw[m.site] != DL_NONE))
		m.site = DL_NONE;
	*news |= m.site != DL_NONE;
	return m;
}

bool dl_marks_exist(const struct dl_engine *e)
{
	return e->recall.nmarks || marks_in_force(e);
}

bool dl_marks_know(const struct dl_engine *e, uint64_t guid)
{
	const struct dl_sweep *in_force = marks_in_force(e);
	bool news = false;

	if (in_force && dl_fabric_find_guid(in_force->fabric, guid) != DL_NONE)
		return true;
	if (dl_marks_granted(e, guid).site != DL_NONE)
		return true;
	if (in_force && in_force->provisional)
		return false;
	return marks_recall(e, in_force, guid, &news).site != DL_NONE;
}

/* Do most cables of a switch lead to places beside this one?  It may have been moved. */
static bool marks_fit(const struct dl_torus *t, const struct dl_fabric *f, uint32_t s,
		      uint32_t site)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
	unsigned int beside = 0, elsewhere = 0;

	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->nports; p++) {
		uint32_t node, far;

		if (!dl_fabric_joins_switches(f, p))
			continue;
		node = dl_fabric_find_guid(t->fabric,
					   f->nodes[f->ports[f->ports[p].peer].node].guid);
		far = node == DL_NONE ? DL_NONE : t->sw_site[t->fabric->nodes[node].sw];
		if (far == DL_NONE)
			continue;
		if (dl_torus_direction(&t->grid, site, far) < DL_TORUS_DIRS)
			beside++;
		else
			elsewhere++;
	}
	return elsewhere <= beside;
}

/* The mark of a switch of this sweep; `news`: the tables in force do not tell it. */
static struct dl_torus_mark marks_place(const struct dl_engine *e, const struct dl_sweep *in_force,
					const struct dl_fabric *f, uint32_t s, bool *news)
{
	bool came = false;
	struct dl_torus_mark m =
		marks_recall(e, in_force, dl_fabric_switch_node(f, s)->guid, &came);

	if (came && in_force && !marks_fit(in_force->torus, f, s, m.site))
		m.site = DL_NONE;
	*news |= came && m.site != DL_NONE;
	return m;
}

/* Known to be off the torus is only what the tables in force hold without a place. */
static void marks_leave_open(struct dl_torus *t, const struct dl_sweep *in_force)
{
	uint32_t n = 0;

	for (uint32_t i = 0; in_force && i < t->nunplaced; i++)
		if (dl_fabric_find_guid(in_force->fabric,
					dl_fabric_switch_node(t->fabric, t->unplaced[i])->guid) !=
		    DL_NONE)
			t->unplaced[n++] = t->unplaced[i];
	t->nunplaced = n;
}

int dl_marks_torus(const struct dl_engine *e, struct dl_arena *arena, const struct dl_fabric *f,
		   unsigned int *modes, struct dl_torus **out)
{
	struct dl_torus_mark *marks = dl_arena_array(arena, f->nswitches + 1, sizeof(*marks));
	const struct dl_sweep *in_force = marks_in_force(e);
	unsigned int mode = 0, all = 0;
	bool news = false;
	int err;

	*out = NULL;
	if (!e->recall.nmarks || (in_force && in_force->provisional))
		return 0;
	if (!marks)
		return -ENOMEM;
	for (uint32_t s = 0; s < f->nswitches; s++) {
		marks[s] = marks_place(e, in_force, f, s, &news);
		all |= marks[s].site == DL_NONE ? 0 : 1u << marks[s].mode;
	}
	if (!news)
		return 0;
	err = dl_torus_of_marks(f, marks, &mode, out);
	if (*out && !in_force)
		*modes = all;
	if (err || !*out)
		return err;
	/* Marks name no seed: their coordinates count from the first one. */
	(*out)->seed = in_force ? in_force->torus->seed : 0;
	marks_leave_open(*out, in_force);
	return 0;
}

static void marks_send_block(struct dl_engine *e, osm_switch_t *sw, uint32_t first,
			     uint8_t *entries)
{
	osm_madw_context_t context = dl_recall_context(sw, true);
	osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, 0);

	if (p)
		osm_req_set(&e->osm->sm, osm_physp_get_dr_path_ptr(p), entries, DL_TORUS_MARK_BLOCK,
			    IB_MAD_ATTR_LIN_FWD_TBL, cl_hton32(first / DL_TORUS_MARK_BLOCK), FALSE,
			    ib_port_info_get_m_key(&p->port_info),
			    DL_OSM_TIMEOUT CL_DISP_MSGID_NONE, &context);
}

/* A block that OpenSM does not write: see above. */
static void marks_write_block(struct dl_engine *e, osm_switch_t *sw, uint32_t first)
{
	if (!sw->need_update && !memcmp(sw->lft + first, sw->new_lft + first, DL_TORUS_MARK_BLOCK))
		return;
	/* Should the answer get lost, the next sweep writes it again. */
	memset(sw->lft + first, 0, DL_TORUS_MARK_BLOCK);
	marks_send_block(e, sw, first, sw->new_lft + first);
}

/*
 * Behind a switch's top no packet goes, up to the new one: what stood there is forgotten.  One
 * without a top may have been given entries all the same, by a change whose write of it got
 * lost, or that were meant for another: beside others that hold tables it is cleared.
 */
static bool marks_clear_switch(struct dl_engine *e, osm_switch_t *sw)
{
	uint32_t top = dl_recall_top(sw), new_top = sw->max_lid_ho;
	bool empty = !top && sw->p_node->discovery_count && e->recall.set_up_before;
	uint32_t first = empty ? 0 : (top + 1) / DL_TORUS_MARK_BLOCK;
	uint8_t entries[DL_TORUS_MARK_BLOCK];

	if (!(top || empty) || new_top <= top ||
	    !dl_recall_reserve(e, sw, (new_top / DL_TORUS_MARK_BLOCK + 1) * DL_TORUS_MARK_BLOCK))
		return false;
	for (uint32_t k = first; k <= new_top / DL_TORUS_MARK_BLOCK; k++) {
		for (uint32_t i = 0; i < DL_TORUS_MARK_BLOCK; i++) {
			uint32_t lid = k * DL_TORUS_MARK_BLOCK + i;

			entries[i] = empty || lid > top ? OSM_NO_PATH : sw->lft[lid];
		}
		marks_send_block(e, sw, k * DL_TORUS_MARK_BLOCK, entries);
	}
	return true;
}

bool dl_marks_clear(struct dl_engine *e)
{
	bool any = false;

	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw))
		any |= marks_clear_switch(e, sw);
	return any;
}

/* Into the table that OpenSM is going to write; NULL: none. */
static void marks_put(struct dl_engine *e, osm_switch_t *sw, const struct dl_torus_mark *m)
{
	uint32_t first = marks_first(sw, sw->max_lid_ho);

	if (!sw->new_lft ||
	    !dl_recall_reserve(e, sw, (first / DL_TORUS_MARK_BLOCK + 1) * DL_TORUS_MARK_BLOCK))
		return;
	if (m)
		dl_torus_mark_write(m, cl_ntoh64(osm_node_get_node_guid(sw->p_node)),
				    sw->num_ports - 1, sw->new_lft + first);
	if (first / DL_TORUS_MARK_BLOCK > sw->max_lid_ho / DL_TORUS_MARK_BLOCK)
		marks_write_block(e, sw, first);
}

void dl_marks_write(struct dl_engine *e, const struct dl_sweep *sweep, uint32_t s, osm_switch_t *sw)
{
	const struct dl_torus *t = sweep->torus;
	struct dl_torus_mark m = { t->grid, t->sw_site[s], dl_marks_mode(e, sweep) };

	if (dl_recall_top(sw) > sw->max_lid_ho) {
		/* The steps of a change write it.  Without any, once: a switch may lie. */
		if (e->next_sweep < DL_NEXT_HEAVY && e->last_asked_for < DL_NEXT_HEAVY)
			e->next_sweep = DL_NEXT_HEAVY;
		return;
	}
	/* SLs are no longer granted by the mark of a switch that has no place. */
	if (!sweep->provisional)
		marks_put(e, sw, m.site == DL_NONE ? NULL : &m);
}

void dl_marks_preserve(struct dl_engine *e, osm_switch_t *sw)
{
	uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
	const struct dl_sweep *in_force = marks_in_force(e);
	struct dl_torus_mark m = marks_read(sw, guid);
	bool news = false;

	/* It has just been left out, or cleared, as the highest LID is another one. */
	if (m.site == DL_NONE)
		m = marks_recall(e, in_force && in_force->provisional ? NULL : in_force, guid,
				 &news);
	if (m.site != DL_NONE && dl_recall_top(sw) <= sw->max_lid_ho)
		marks_put(e, sw, &m);
}
