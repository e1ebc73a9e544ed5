/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What switches hold when this subnet manager becomes the master, or no longer
 * knows: the marks (torus.h), which are written with the forwarding tables, and
 * the tables themselves, with which the first change begins (phases.c).
 *
 * They are read between discovery and routing, without OpenSM's lock, which the
 * thread that takes the answers needs, and stored where OpenSM keeps what it
 * knows of switches.  Only switches that have been set up before are asked: those
 * with a LinearFDBTop that this sweep has seen.  Others may have a multicast table, as a
 * write of LinearFDBTop can get lost, or one that was meant for another switch come here;
 * their forwarding tables are cleared (dl_marks_clear()).
 *
 * Tables.  All forwarding entries up to LinearFDBTop, block by block; the
 * SL-to-VL maps of ports with cables; and for these ports all multicast blocks of
 * the switch, or those up to MulticastFDBTop where it has one, since blocks in use
 * may stand behind empty ones.  If one answer is missing, the tables count as
 * unknown.  Of multicast are kept the ports that any group has, and the last block
 * in use: OpenSM clears these blocks, before all else unless they are a part of
 * the new tree.  Where no switch has been set up there is nothing to read.
 *
 * Blocks that already hold the right values are not written again: see
 * dl_recall_spare().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#include "recall.h"
#include "engine.h"
#include "log.h"
#include "marks.h"
#include "sweep.h"

/* NULL: no memory, which is said. */
static uint8_t *recall_grow(const struct dl_engine *e, const osm_switch_t *sw, uint8_t *entries,
			    uint32_t size)
{
	uint8_t *grown = realloc(entries, size);

	if (grown)
		memset(grown + sw->lft_size, OSM_NO_PATH, size - sw->lft_size);
	else
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL29: no memory for the forwarding table of %s",
		       sw->p_node->print_desc);
	return grown;
}

bool dl_recall_reserve(const struct dl_engine *e, osm_switch_t *sw, uint32_t size)
{
	uint8_t *lft, *new_lft;

	if (size <= sw->lft_size)
		return true;
	if (size > cl_ntoh16(sw->switch_info.lin_cap))
		return false;
	lft = recall_grow(e, sw, sw->lft, size);
	if (!lft)
		return false;
	sw->lft = lft;
	if (sw->new_lft) {
		new_lft = recall_grow(e, sw, sw->new_lft, size);
		if (!new_lft)
			return false;
		sw->new_lft = new_lft;
	}
	sw->lft_size = size;
	return true;
}

osm_madw_context_t dl_recall_context(const osm_switch_t *sw, bool set)
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

void dl_recall_get_along(struct dl_engine *e, const osm_switch_t *sw, const osm_dr_path_t *path,
			 ib_net16_t attribute, uint32_t modifier, const osm_madw_context_t *context)
{
	osm_req_get(&e->osm->sm, path, attribute, cl_hton32(modifier), FALSE,
		    ib_port_info_get_m_key(&port0_of(sw)->port_info),
		    DL_OSM_TIMEOUT CL_DISP_MSGID_NONE, context);
}

void dl_recall_get(struct dl_engine *e, const osm_switch_t *sw, ib_net16_t attribute,
		   uint32_t modifier, const osm_madw_context_t *context)
{
	dl_recall_get_along(e, sw, osm_physp_get_dr_path_ptr(port0_of(sw)), attribute, modifier,
			    context);
}

uint32_t dl_recall_top(const osm_switch_t *sw)
{
	osm_physp_t *p = port0_of(sw);

	return p && sw->p_node->discovery_count ? cl_ntoh16(sw->switch_info.lin_top) : 0;
}

/* ---- tables --------------------------------------------------------------- */

#define NO_ANSWER 0xFE /* a port that no switch has */
/* All SLs to VL 14: of no engine; path queries that come meanwhile refuse VL 15. */
#define NO_MAP 0xEE
#define MFT_BLOCK 32
#define MFT_PORTS 16
#define MOST_MFT_BLOCKS ((IB_LID_MCAST_END_HO - IB_LID_MCAST_START_HO) / MFT_BLOCK + 1u)

static bool is_all(const void *bytes, size_t n, uint8_t value)
{
	const uint8_t *b = bytes;

	while (n && b[n - 1] == value)
		n--;
	return !n;
}

enum recall_state {
	RECALL_NOTHING_ASKED,
	RECALL_ASKED,
	RECALL_SILENT,	     /* its last answer has not come */
	RECALL_STAYS_SILENT, /* nor one before that */
	RECALL_GONE,	     /* it was silent when a kind of table began: not known */
};

/*
 * A kind of table, which is read piece by piece.  `ask` marks the k-th one of a switch as
 * without an answer, and asks for it unless the switch is silent; false: there is none.
 * `has` tells of one that has been asked for whether the answer came.
 */
struct recall_kind {
	bool (*ask)(struct dl_engine *e, osm_switch_t *sw, uint32_t k, enum recall_state state);
	bool (*has)(const osm_switch_t *sw, uint32_t k);
};

static bool recall_ask_block(struct dl_engine *e, osm_switch_t *sw, uint32_t k,
			     enum recall_state state)
{
	osm_madw_context_t context = dl_recall_context(sw, false);
	uint32_t top = dl_recall_top(sw);

	if (!top || k > top / DL_TORUS_MARK_BLOCK ||
	    !dl_recall_reserve(e, sw, (k + 1) * DL_TORUS_MARK_BLOCK))
		return false;
	memset(sw->lft + k * DL_TORUS_MARK_BLOCK, NO_ANSWER, DL_TORUS_MARK_BLOCK);
	if (state < RECALL_SILENT)
		dl_recall_get(e, sw, IB_MAD_ATTR_LIN_FWD_TBL, k, &context);
	return true;
}

/* One that claims more entries than it has room for is not asked. */
static bool recall_has_block(const osm_switch_t *sw, uint32_t k)
{
	return (k + 1) * DL_TORUS_MARK_BLOCK <= sw->lft_size &&
	       !is_all(sw->lft + k * DL_TORUS_MARK_BLOCK, DL_TORUS_MARK_BLOCK, NO_ANSWER);
}

/*
 * With a cable, seen or not, or port 0: its packets have maps, too, and may join a loop.  A
 * port whose PortInfo got lost has no state, and counts as well.
 */
osm_physp_t *dl_recall_port_in_use(const osm_switch_t *sw, unsigned int port)
{
	osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, port);

	if (!p || !osm_physp_is_valid(p))
		return NULL;
	return !port || osm_physp_get_remote(p) || osm_physp_get_port_state(p) != IB_LINK_DOWN ?
		       p :
		       NULL;
}

bool dl_recall_has_maps(const osm_switch_t *sw)
{
	return dl_recall_top(sw) &&
	       port0_of(sw)->port_info.capability_mask & IB_PORT_CAP_HAS_SL_MAP;
}

static void recall_forget_map(osm_physp_t *out, unsigned int in)
{
	memset(osm_physp_get_slvl_tbl(out, in), NO_MAP, sizeof(ib_slvl_table_t));
}

static bool recall_ask_maps(struct dl_engine *e, osm_switch_t *sw, uint32_t in,
			    enum recall_state state)
{
	osm_madw_context_t context = { .slvl_context.node_guid =
					       osm_node_get_node_guid(sw->p_node) };

	if (in >= sw->num_ports || !dl_recall_has_maps(sw))
		return false;
	context.slvl_context.port_guid = osm_physp_get_port_guid(port0_of(sw));
	context.slvl_context.set_method = FALSE;
	for (unsigned int out = 1; dl_recall_port_in_use(sw, in) && out < sw->num_ports; out++) {
		osm_physp_t *p = dl_recall_port_in_use(sw, out);

		if (!p)
			continue;
		recall_forget_map(p, in);
		if (state < RECALL_SILENT)
			dl_recall_get(e, sw, IB_MAD_ATTR_SLVL_TABLE, in << 8 | out, &context);
	}
	return true;
}

static bool recall_has_maps(const osm_switch_t *sw, uint32_t in)
{
	bool all = true;

	for (unsigned int out = 1; dl_recall_port_in_use(sw, in) && out < sw->num_ports; out++) {
		osm_physp_t *p = dl_recall_port_in_use(sw, out);

		all &= !p ||
		       !is_all(osm_physp_get_slvl_tbl(p, in), sizeof(ib_slvl_table_t), NO_MAP);
	}
	return all;
}

/*
 * Multicast blocks of a switch that may be in use: also of one that has never been set up,
 * where it may have been given what was meant for another.
 */
static uint32_t mft_blocks(const osm_switch_t *sw)
{
	uint32_t all = osm_switch_get_mcast_tbl_ptr(sw)->max_block + 1u;
	uint32_t top = cl_ntoh16(sw->switch_info.mcast_top), used;

	/* A switch may claim more than there are MLIDs. */
	all = all < MOST_MFT_BLOCKS ? all : MOST_MFT_BLOCKS;
	if (!sw->p_node->discovery_count || !osm_switch_supports_mcast(sw))
		return 0;
	if (!(port0_of(sw)->port_info.capability_mask & IB_PORT_CAP_HAS_MCAST_FDB_TOP) || !top)
		return all;
	used = top < IB_LID_MCAST_START_HO ? 0 : (top - IB_LID_MCAST_START_HO) / MFT_BLOCK + 1;
	return used < all ? used : all;
}

/*
 * A switch without a top holds nothing, or what has been written from the first block on.  After
 * a loss of power most are such: more is asked for only if there is something.
 */
static bool ends_with_first_block(const osm_switch_t *sw)
{
	osm_mcast_tbl_t *t = osm_switch_get_mcast_tbl_ptr(sw);
	bool any = dl_recall_top(sw);

	for (uint16_t i = 0; i < MFT_BLOCK && !any; i++)
		any = osm_mcast_tbl_is_any_port(t, IB_LID_MCAST_START_HO + i);
	return !any;
}

/* Is there a cable at one of the ports of this position? */
static bool has_cable(const osm_switch_t *sw, unsigned int position)
{
	for (unsigned int o = position * MFT_PORTS; o < (position + 1) * MFT_PORTS; o++)
		if (o && o < sw->num_ports && dl_recall_port_in_use(sw, o))
			return true;
	return false;
}

/* One that was silent is asked what it has answered before: does it refuse, or is it dead? */
static bool recall_ask_groups(struct dl_engine *e, osm_switch_t *sw, uint32_t k,
			      enum recall_state state)
{
	osm_mcast_tbl_t *t = osm_switch_get_mcast_tbl_ptr(sw);
	osm_madw_context_t context = { .mft_context.node_guid =
					       osm_node_get_node_guid(sw->p_node) };
	uint32_t blocks = mft_blocks(sw);

	context.mft_context.set_method = FALSE;
	if (k > blocks || (k && ends_with_first_block(sw)) ||
	    (state == RECALL_STAYS_SILENT && dl_recall_top(sw) && !recall_has_block(sw, 0)))
		return false;
	if (state == RECALL_SILENT)
		recall_ask_block(e, sw, 0, RECALL_ASKED);
	if (k == blocks || osm_mcast_tbl_realloc(t, (k + 1) * MFT_BLOCK - 1))
		return state == RECALL_SILENT;
	for (unsigned int p = 0; p <= t->max_position; p++) {
		/* Without an answer all of it counts as used. */
		for (unsigned int o = 0; has_cable(sw, p) && o < MFT_PORTS; o++)
			osm_mcast_tbl_set(t, IB_LID_MCAST_START_HO + k * MFT_BLOCK,
					  p * MFT_PORTS + o);
		if (has_cable(sw, p) && state < RECALL_SILENT)
			dl_recall_get(e, sw, IB_MAD_ATTR_MCAST_FWD_TBL, p << 28 | k, &context);
	}
	return true;
}

/* A switch may fill a position, whose last ports few have, but not all of them. */
static bool recall_has_groups(const osm_switch_t *sw, uint32_t k)
{
	osm_mcast_tbl_t *t = osm_switch_get_mcast_tbl_ptr(sw);
	bool full = true;

	for (unsigned int o = 0; full && o < (t->max_position + 1u) * MFT_PORTS; o++)
		full = !has_cable(sw, o / MFT_PORTS) ||
		       osm_mcast_tbl_is_port(t, IB_LID_MCAST_START_HO + k * MFT_BLOCK, o);
	return !full;
}

static bool has_active_port(const osm_switch_t *sw)
{
	for (unsigned int o = 1; o < sw->num_ports; o++) {
		osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, o);

		if (p && osm_physp_get_port_state(p) == IB_LINK_ACTIVE)
			return true;
	}
	return false;
}

/* Returns whether the switch has a k-th piece. */
static bool recall_ask_piece(struct dl_engine *e, osm_switch_t *sw, const struct recall_kind *kind,
			     uint32_t k, enum recall_state *state)
{
	bool any;

	if (!k && *state >= RECALL_SILENT)
		*state = RECALL_GONE;
	if (*state == RECALL_GONE)
		return false;
	if (*state == RECALL_SILENT)
		*state = RECALL_STAYS_SILENT;
	else if (*state == RECALL_ASKED && !kind->has(sw, k - 1))
		*state = RECALL_SILENT;
	any = kind->ask(e, sw, k, *state);
	if (*state < RECALL_SILENT)
		*state = any ? RECALL_ASKED : RECALL_NOTHING_ASKED;
	return any;
}

/*
 * One piece of each switch after the other, or only of those without an active port, and
 * wait for it.  One that has left a question without an answer may be dead, and each
 * further one would wait as long; `states` (by OpenSM's order, may be NULL) tells of them.
 */
static void recall_ask_all(struct dl_engine *e, const struct recall_kind *kind, bool idle,
			   enum recall_state *states)
{
	bool more = true;

	for (uint32_t k = 0; more && !osm_exit_flag; k++) {
		uint32_t n = 0;

		more = false;
		CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
		for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw;
		     sw = dl_opensm_next(e->osm, sw), n++) {
			enum recall_state unknown = RECALL_NOTHING_ASKED;

			if (!idle || !has_active_port(sw))
				more |= recall_ask_piece(e, sw, kind, k,
							 states ? &states[n] : &unknown);
		}
		CL_PLOCK_RELEASE(&e->osm->lock);
		if (more)
			wait_for_pending_transactions(&e->osm->stats);
	}
}

static void recall_ask_kinds(struct dl_engine *e, unsigned int nkinds, bool idle)
{
	static const struct recall_kind kinds[] = { { recall_ask_block, recall_has_block },
						    { recall_ask_maps, recall_has_maps },
						    { recall_ask_groups, recall_has_groups } };
	enum recall_state *states;

	CL_PLOCK_ACQUIRE(&e->osm->lock);
	states = calloc(cl_qmap_count(&e->osm->subn.sw_guid_tbl) + 1, sizeof(*states));
	CL_PLOCK_RELEASE(&e->osm->lock);
	for (unsigned int i = 0; i < nkinds; i++)
		recall_ask_all(e, &kinds[i], idle, states);
	free(states);
}

bool dl_recall_knows_map(const ib_slvl_table_t *held)
{
	return !is_all(held, sizeof(*held), 0) && !is_all(held, sizeof(*held), NO_MAP);
}

/* Have all answers come?  Where one is missing, OpenSM's initial values return. */
static bool is_answered(osm_switch_t *sw)
{
	uint32_t top = dl_recall_top(sw);
	bool all = !top || top < sw->lft_size;

	for (uint32_t at = 0; top && at <= top && at + DL_TORUS_MARK_BLOCK <= sw->lft_size;
	     at += DL_TORUS_MARK_BLOCK) {
		if (recall_has_block(sw, at / DL_TORUS_MARK_BLOCK))
			continue;
		memset(sw->lft + at, OSM_NO_PATH, DL_TORUS_MARK_BLOCK);
		all = false;
	}
	for (unsigned int in = 0; dl_recall_has_maps(sw) && in < sw->num_ports; in++) {
		for (unsigned int out = 1; dl_recall_port_in_use(sw, in) && out < sw->num_ports;
		     out++) {
			osm_physp_t *p = dl_recall_port_in_use(sw, out);

			if (!p ||
			    !is_all(osm_physp_get_slvl_tbl(p, in), sizeof(ib_slvl_table_t), NO_MAP))
				continue;
			memset(osm_physp_get_slvl_tbl(p, in), 0, sizeof(ib_slvl_table_t));
			all = false;
		}
	}
	return all;
}

void dl_recall_read_back(struct dl_engine *e)
{
	recall_ask_kinds(e, 2, true);
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw))
		if (!has_active_port(sw))
			is_answered(sw);
	CL_PLOCK_RELEASE(&e->osm->lock);
}

/* Reading has made room for all blocks. */
static void recall_shrink_groups(osm_mcast_tbl_t *t)
{
	uint32_t depth = MFT_BLOCK * (t->max_block_in_use < 0 ? 1 : t->max_block_in_use + 1);
	void *fits = NULL;

	if (t->p_mask_tbl && depth < t->mft_depth)
		fits = realloc(t->p_mask_tbl, depth * sizeof((*t->p_mask_tbl)[0]));
	if (!fits)
		return;
	t->p_mask_tbl = fits;
	t->mft_depth = depth;
	t->max_mlid_ho = IB_LID_MCAST_START_HO + depth - 1;
}

/*
 * Ports that any group has at a switch, and the last block in use, which is to
 * be written, as what it held must be forgotten.
 */
static void recall_keep_groups(osm_mcast_tbl_t *t, unsigned int nports, uint64_t *ports)
{
	t->max_block_in_use = -1;
	for (uint32_t i = 0; t->p_mask_tbl && i < t->mft_depth; i++) {
		uint16_t mlid = IB_LID_MCAST_START_HO + i;

		if (!osm_mcast_tbl_is_any_port(t, mlid))
			continue;
		t->max_block_in_use = i / MFT_BLOCK;
		for (unsigned int o = 0; o < nports; o++)
			if (osm_mcast_tbl_is_port(t, mlid, o))
				ports[o / 64] |= UINT64_C(1) << o % 64;
		osm_mcast_tbl_clear_mlid(t, mlid);
	}
	recall_shrink_groups(t);
}

static void recall_ask_tables(struct dl_engine *e)
{
	uint32_t n = 0;

	recall_ask_kinds(e, 3, false);
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	e->recall.groups =
		calloc(cl_qmap_count(&e->osm->subn.sw_guid_tbl) + 1, sizeof(*e->recall.groups));
	e->recall.known = !osm_exit_flag && e->recall.groups;
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		struct dl_recall_groups none = { 0 }, *g = &none;

		if (!sw->p_node->discovery_count)
			continue;
		if (e->recall.groups)
			g = &e->recall.groups[n++];
		g->guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));
		recall_keep_groups(osm_switch_get_mcast_tbl_ptr(sw), sw->num_ports, g->ports);
		if (is_answered(sw))
			continue;
		e->recall.known = false;
		dl_osm_names_add(&e->recall.silent, sw);
	}
	e->recall.ngroups = n;
	CL_PLOCK_RELEASE(&e->osm->lock);
	if (!e->recall.groups)
		DL_SAY(e->osm, OSM_LOG_ERROR, "ERR DL29: no memory for what the switches hold");
}

/* Maps that were not read, and arbitration tables, are written all the same. */
static void spare_port(osm_switch_t *sw, unsigned int out)
{
	osm_physp_t *p = dl_recall_port_in_use(sw, out);

	if (!p || osm_physp_get_port_state(p) < IB_LINK_ARMED)
		return;
	p->need_update = 0;
	memset(p->vl_arb, 0xFF, sizeof(p->vl_arb));
	for (unsigned int in = 0; in < sw->num_ports; in++) {
		/* Not read; what another subnet manager has written there OpenSM does not know. */
		if (!dl_recall_port_in_use(sw, in))
			recall_forget_map(p, in);
	}
}

void dl_recall_spare(struct dl_engine *e, uint32_t top_lid)
{
	e->recall.forced = e->osm->subn.need_update;
	e->osm->subn.need_update = 0;
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		/* Blocks behind its top were not read. */
		if (dl_recall_top(sw) < top_lid) {
			sw->need_update = 1;
			continue;
		}
		sw->need_update = 0;
		for (unsigned int out = 1; dl_recall_has_maps(sw) && out < sw->num_ports; out++)
			spare_port(sw, out);
	}
}

void dl_recall_spare_end(struct dl_engine *e)
{
	if (!e->recall.forced)
		return;
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	e->osm->subn.need_update = e->recall.forced;
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw))
		sw->need_update = 1;
	CL_PLOCK_RELEASE(&e->osm->lock);
	e->recall.forced = 0;
}

/* ---- all of it ------------------------------------------------------------ */

static void recall_clear(struct dl_recall *r)
{
	free(r->groups);
	r->groups = NULL;
	r->ngroups = 0;
	r->known = false;
	r->silent = (struct dl_osm_names){ .n = 0 };
}

void dl_recall_release(struct dl_recall *r)
{
	recall_clear(r);
	dl_marks_drop(r);
}

/*
 * A switch that has never been set up, or has been without power since: OpenSM, which may
 * have raised a port of it meanwhile, does not know what it holds.
 */
static void recall_forget_maps(osm_switch_t *sw)
{
	for (unsigned int out = 1; out < sw->num_ports; out++) {
		osm_physp_t *p = osm_node_get_physp_ptr(sw->p_node, out);

		if (!p || !osm_physp_is_valid(p))
			continue;
		memset(p->vl_arb, 0xFF, sizeof(p->vl_arb));
		for (unsigned int in = 0; in < sw->num_ports; in++)
			recall_forget_map(p, in);
	}
}

static void recall_forget_all_maps(struct dl_engine *e)
{
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw))
		if (sw->p_node->discovery_count && !dl_recall_top(sw))
			recall_forget_maps(sw);
	CL_PLOCK_RELEASE(&e->osm->lock);
}

/*
 * This subnet manager has been the master for a while, and knows what the tables in force
 * tell.  A switch that they do not hold may come back with its mark: its place, by which
 * SLs were granted, may not follow from the cables that are left to it.
 */
static void recall_ask_returned(struct dl_engine *e)
{
	bool any = false;

	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw)) {
		uint64_t guid = cl_ntoh64(osm_node_get_node_guid(sw->p_node));

		if (dl_fabric_find_guid(e->in_force->fabric, guid) == DL_NONE)
			any |= dl_marks_ask(e, sw, false);
	}
	CL_PLOCK_RELEASE(&e->osm->lock);
	if (!any)
		return;
	wait_for_pending_transactions(&e->osm->stats);
	dl_marks_keep(e);
}

void dl_recall_ask(struct dl_engine *e)
{
	recall_forget_all_maps(e);
	e->recall.set_up_before = false;
	recall_clear(&e->recall);
	dl_marks_settle(e);
	if (!wait_for_pending_transactions)
		return;
	if (e->osm->subn.sm_state == IB_SMINFO_STATE_MASTER &&
	    !e->osm->subn.first_time_master_sweep && e->in_force &&
	    e->change == DL_CHANGE_SETTLED) {
		recall_ask_returned(e);
		return;
	}
	CL_PLOCK_EXCL_ACQUIRE(&e->osm->lock);
	for (osm_switch_t *sw = dl_opensm_next(e->osm, NULL); sw; sw = dl_opensm_next(e->osm, sw))
		e->recall.set_up_before |= dl_marks_ask(e, sw, true);
	CL_PLOCK_RELEASE(&e->osm->lock);
	e->recall.known = !e->recall.set_up_before;
	if (!e->recall.set_up_before)
		return;
	wait_for_pending_transactions(&e->osm->stats);
	dl_marks_keep(e);
	if (e->options.transitions && e->options.route.mode != DL_ROUTE_CLASSIC)
		recall_ask_tables(e);
}
