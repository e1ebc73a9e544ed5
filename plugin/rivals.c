/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Other subnet managers, as the SMInfo of each tells that the last sweep has asked for, and
 * as switches name them.
 */
#include "rivals.h"
#include "engine.h"
#include "opensm.h"
#include "sweep.h"

static struct dl_rival *rivals_find(struct dl_rivals *r, uint64_t guid)
{
	struct dl_rival *found = NULL;

	for (unsigned int i = 0; i < DL_RIVALS && !found; i++)
		if (!r->list[i].guid || r->list[i].guid == guid)
			found = &r->list[i];
	return found;
}

/*
 * Does a switch in force name another master?  One has ruled while this subnet manager stood
 * still, as with its virtual machine, and may have ended since.
 */
static bool rivals_have_ruled(const struct dl_engine *e)
{
	const struct dl_fabric *f = e->in_force ? e->in_force->fabric : NULL;

	for (uint32_t s = 0; f && s < f->nswitches; s++) {
		const osm_switch_t *sw = dl_sweep_switch(e, f, s);
		const osm_physp_t *port0 = sw ? osm_node_get_physp_ptr(sw->p_node, 0) : NULL;

		if (port0 && port0->port_info.master_sm_base_lid &&
		    port0->port_info.master_sm_base_lid != e->osm->subn.sm_base_lid)
			return true;
	}
	return false;
}

bool dl_rivals_at_work(struct dl_engine *e)
{
	const cl_qmap_t *map = &e->osm->subn.sm_guid_tbl;
	uint32_t many = cl_qmap_count(&e->osm->subn.sw_guid_tbl);
	bool at_work = rivals_have_ruled(e);

	for (cl_map_item_t *at = cl_qmap_head(map); at != cl_qmap_end(map); at = cl_qmap_next(at)) {
		const ib_sm_info_t *sm = &((const osm_remote_sm_t *)at)->smi;
		struct dl_rival *r = rivals_find(&e->rivals, sm->guid);
		uint32_t sent = cl_ntoh32(sm->act_count);

		at_work |= !r || ib_sminfo_get_state(sm) == IB_SMINFO_STATE_MASTER ||
			   sent - r->sent > many;
		if (r)
			*r = (struct dl_rival){ sm->guid, sent };
	}
	return at_work;
}
