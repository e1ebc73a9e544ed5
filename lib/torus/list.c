/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The list of coordinates, as torus-2QoS leaves it among OpenSM's dumps. */
#include <errno.h>
#include <inttypes.h>

#include "dateline/torus.h"

int dl_torus_write_list(const struct dl_torus *t, FILE *to)
{
	const struct dl_fabric *f = t->fabric;

	for (uint32_t site = 0; site < t->nsites; site++) {
		uint32_t sw = t->site_sw[site], c[DL_TORUS_DIMS];

		if (sw == DL_NONE)
			continue;
		dl_torus_site_coord(&t->grid, site, c);
		fprintf(to, "switch %u,%u,%u GUID 0x%016" PRIx64 " (%s)\n",
			c[0], c[1], c[2], f->nodes[f->switches[sw]].guid,
			dl_fabric_node_name(f, f->switches[sw]));
	}
	return fflush(to) || ferror(to) ? -EIO : 0;
}
