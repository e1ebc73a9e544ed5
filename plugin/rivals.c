/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Other subnet managers, as the SMInfo of each tells that the last sweep has asked for. */
#include "rivals.h"
#include "engine.h"
#include "opensm.h"

static struct dl_rival *rivals_find(struct dl_rivals *r, uint64_t guid)
{
	struct dl_rival *found = NULL;

	for (unsigned int i = 0; i < DL_RIVALS && !found; i++)
		if (!r->list[i].guid || r->list[i].guid == guid)
			found = &r->list[i];
	return found;
}

bool dl_rivals_at_work(struct dl_engine *e)
{
	const cl_qmap_t *map = &e->osm->subn.sm_guid_tbl;
	uint32_t many = cl_qmap_count(&e->osm->subn.sw_guid_tbl);
	bool at_work = false;

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
