/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The marks (mark.h) in OpenSM: asked of the switches when this subnet manager
 * becomes the master, and written with the forwarding tables.
 *
 * They are asked for between discovery and routing, without OpenSM's lock,
 * which the thread that takes the answers needs, and stored where OpenSM keeps
 * what it knows of a forwarding table.  Only switches that somebody has set up
 * before are asked: those with a LinearFDBTop.
 *
 * A mark that has no room in the block of the highest LID is a block more,
 * which OpenSM knows nothing of: it is written here, if it changes or the switch
 * has lost it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#include "engine.h"
#include "mark.h"

/* OpenSM 3.3.20 knows of no timeout other than its own. */
#ifdef HAVE_OSM_REQ_TIMEOUT
#define OSM_TIMEOUT 0,
#else
#define OSM_TIMEOUT
#endif

/* Make room for the entries below `size`, as OpenSM does. */
static bool reserve(osm_switch_t *sw, uint32_t size)
{
	uint8_t *lft, *new_lft;

	if (size <= sw->lft_size)
		return true;
	if (size > cl_ntoh16(sw->switch_info.lin_cap))
		return false;
	lft = realloc(sw->lft, size);
	if (!lft)
		return false;
	sw->lft = lft;
	memset(lft + sw->lft_size, OSM_NO_PATH, size - sw->lft_size);
	if (sw->new_lft) {
		new_lft = realloc(sw->new_lft, size);
		if (!new_lft)
			return false;
		sw->new_lft = new_lft;
		memset(new_lft + sw->lft_size, OSM_NO_PATH, size - sw->lft_size);
	}
	sw->lft_size = size;
	return true;
}

static uint32_t first_entry(const osm_switch_t *sw, uint32_t top)
{
	return dl_mark_first(top, sw->num_ports - 1);
}

static osm_madw_context_t context_of(const osm_switch_t *sw, bool set)
{
	osm_madw_context_t context = { .lft_context.node_guid =
					       osm_node_get_node_guid(sw->p_node) };

	context.lft_context.set_method = set;
	return context;
}

static osm_physp_t *port0_of(const osm_switch_t *sw)
{
	return osm_node_get_physp_ptr(sw->p_node, 0);
}

/* Returns whether the switch has been set up before. */
static bool ask(struct dl_engine *e, osm_switch_t *sw)
{
	uint32_t top = cl_ntoh16(sw->switch_info.lin_top), block;
	osm_madw_context_t context = context_of(sw, false);
	osm_physp_t *p = port0_of(sw);

	if (!top || !p || !osm_physp_is_valid(p))
		return false;
	block = first_entry(sw, top) / DL_MARK_BLOCK;
	if (!reserve(sw, (block + 1) * DL_MARK_BLOCK))
		return true;
	/* What comes no answer for is no mark. */
	memset(sw->lft + block * DL_MARK_BLOCK, OSM_NO_PATH, DL_MARK_BLOCK);
	osm_req_get(&e->osm->sm, osm_physp_get_dr_path_ptr(p), IB_MAD_ATTR_LIN_FWD_TBL,
		    cl_hton32(block), FALSE, ib_port_info_get_m_key(&p->port_info),
		    OSM_TIMEOUT CL_DISP_MSGID_NONE, &context);
	return true;
}

void dl_recall_ask(struct dl_engine *e)
{
	cl_qmap_t *switches = &e->osm->subn.sw_guid_tbl;
	cl_map_item_t *item;

	e->set_up_before = false;
	/* Else it has been the master for a while. */
	if ((e->osm->subn.sm_state == IB_SMINFO_STATE_MASTER &&
	     !e->osm->subn.first_time_master_sweep) ||
	    !wait_for_pending_transactions)
		return;
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (item = cl_qmap_head(switches); item != cl_qmap_end(switches);
	     item = cl_qmap_next(item))
		e->set_up_before |= ask(e, (osm_switch_t *)item);
	CL_PLOCK_RELEASE(&e->osm->lock);
	if (e->set_up_before)
		wait_for_pending_transactions(&e->osm->stats);
}

/* The marks that can be read, and whose they are. */
static uint32_t read_marks(const struct dl_engine *e, const struct dl_fabric *f,
			   struct dl_mark *marks, uint32_t *sw_of)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < f->nswitches; s++) {
		const osm_switch_t *sw = dl_sweep_switch(e, f, s);
		uint32_t top = sw ? cl_ntoh16(sw->switch_info.lin_top) : 0, first;

		if (!top)
			continue;
		first = first_entry(sw, top);
		if (sw->lft && first + dl_mark_length(sw->num_ports - 1) <= sw->lft_size &&
		    dl_mark_read(sw->lft + first, f->nodes[f->switches[s]].guid, sw->num_ports - 1,
				 &marks[n]))
			sw_of[n++] = s;
	}
	return n;
}

int dl_recall_torus(const struct dl_engine *e, struct dl_arena *arena, const struct dl_fabric *f,
		    unsigned int *mode, struct dl_torus **out)
{
	struct dl_mark *marks = dl_arena_array(arena, f->nswitches + 1, sizeof(*marks));
	uint32_t *sw_of = dl_arena_array(arena, f->nswitches + 1, sizeof(*sw_of));
	struct dl_torus *t;
	uint32_t n;

	*out = NULL;
	if (!e->osm->subn.first_time_master_sweep || !e->set_up_before)
		return 0;
	if (!marks || !sw_of)
		return -ENOMEM;
	n = read_marks(e, f, marks, sw_of);
	if (!n)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->fabric = f;
	t->grid = dl_mark_common_grid(marks, n);
	t->nsites = dl_torus_grid_sites(&t->grid);
	t->site_sw = dl_arena_array(&t->arena, t->nsites, sizeof(*t->site_sw));
	if (!t->site_sw) {
		dl_torus_free(t);
		return -ENOMEM;
	}
	memset(t->site_sw, 0xFF, t->nsites * sizeof(*t->site_sw));
	for (uint32_t i = 0; i < n; i++)
		if (!memcmp(marks[i].grid.radix, t->grid.radix, sizeof(t->grid.radix)))
			t->site_sw[marks[i].site] = sw_of[i];
	*mode = marks[0].mode;
	*out = t;
	return 0;
}

/* A block that OpenSM does not write: see above. */
static void write_block(struct dl_engine *e, osm_switch_t *sw, uint32_t first)
{
	osm_madw_context_t context = context_of(sw, true);
	osm_physp_t *p = port0_of(sw);

	if (!p ||
	    (!sw->need_update && !memcmp(sw->lft + first, sw->new_lft + first, DL_MARK_BLOCK)))
		return;
	/* Should the answer get lost, the next sweep writes it again. */
	memset(sw->lft + first, 0, DL_MARK_BLOCK);
	osm_req_set(&e->osm->sm, osm_physp_get_dr_path_ptr(p), sw->new_lft + first, DL_MARK_BLOCK,
		    IB_MAD_ATTR_LIN_FWD_TBL, cl_hton32(first / DL_MARK_BLOCK), FALSE,
		    ib_port_info_get_m_key(&p->port_info), OSM_TIMEOUT CL_DISP_MSGID_NONE,
		    &context);
}

void dl_recall_mark(struct dl_engine *e, const struct dl_sweep *sweep, uint32_t s, osm_switch_t *sw)
{
	const struct dl_torus *t = sweep->torus;
	struct dl_mark m = { t->grid, t->sw_site[s], e->options.route.mode };
	uint32_t first = first_entry(sw, sw->max_lid_ho);

	if (m.site == DL_NONE || sweep->contradicted ||
	    !reserve(sw, (first / DL_MARK_BLOCK + 1) * DL_MARK_BLOCK))
		return;
	dl_mark_write(&m, t->fabric->nodes[t->fabric->switches[s]].guid, sw->num_ports - 1,
		      sw->new_lft + first);
	if (first / DL_MARK_BLOCK > sw->max_lid_ho / DL_MARK_BLOCK)
		write_block(e, sw, first);
}
