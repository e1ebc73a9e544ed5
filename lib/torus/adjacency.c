/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The graph of switches, parallel cables taken together. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

int dl_torus_adjacency_build(const struct dl_fabric *f,
			     struct dl_torus_adjacency *a)
{
	uint32_t *seen = malloc((f->nswitches + 1) * sizeof(*seen));
	uint32_t i, total = 0;
	unsigned int p;

	a->first = malloc((f->nswitches + 1) * sizeof(*a->first));
	a->list = malloc((f->nports + 1) * sizeof(*a->list));
	if (!seen || !a->first || !a->list) {
		free(seen);
		dl_torus_adjacency_free(a);
		return -ENOMEM;
	}
	memset(seen, 0xFF, f->nswitches * sizeof(*seen));
	for (i = 0; i < f->nswitches; i++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[i]];

		a->first[i] = total;
		for (p = 1; p <= n->nports; p++) {
			uint32_t peer =
				dl_fabric_peer_switch(f, n->first_port + p);

			if (peer == DL_NONE || peer == i || seen[peer] == i)
				continue;
			seen[peer] = i;
			a->list[total++] = peer;
		}
	}
	a->first[i] = total;
	free(seen);
	return 0;
}

void dl_torus_adjacency_free(struct dl_torus_adjacency *a)
{
	free(a->first);
	free(a->list);
	a->first = a->list = NULL;
}
