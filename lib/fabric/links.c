/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Directed links between switches; see fabric.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/fabric.h"

int dl_fabric_links_init(struct dl_fabric_links *l, const struct dl_fabric *f)
{
	*l = (struct dl_fabric_links){
		.link = malloc((f->nports + 1) * sizeof(*l->link)),
		.first = malloc((f->nswitches + 1) * sizeof(*l->first)),
		.of_port = malloc((f->nports + 1) * sizeof(*l->of_port)),
	};
	if (!l->link || !l->first || !l->of_port)
		return -ENOMEM;
	memset(l->of_port, 0xFF, f->nports * sizeof(*l->of_port)); /* DL_NONE */
	for (uint32_t s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);

		l->first[s] = l->n;
		for (unsigned int o = 1; o <= n->nports; o++) {
			uint32_t port = n->first_port + o;
			uint32_t to = dl_fabric_peer_switch(f, port);

			if (to == DL_NONE)
				continue;
			l->of_port[port] = l->n;
			l->link[l->n++] = (struct dl_fabric_link){
				.port = port,
				.from = s,
				.to = to,
				.out = o,
				.in = f->ports[f->ports[port].peer].num,
			};
		}
	}
	l->first[f->nswitches] = l->n;
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t port = l->link[i].port, peer = f->ports[port].peer;

		/* A cable is stored at both ends. */
		if (dl_broken(NULL, f->ports[peer].peer == port) ||
		    dl_broken(NULL, l->of_port[peer] != DL_NONE))
			return -EPROTO;
		l->link[i].back = l->of_port[peer];
	}
	return 0;
}

void dl_fabric_links_release(struct dl_fabric_links *l)
{
	free(l->link);
	free(l->first);
	free(l->of_port);
	memset(l, 0, sizeof(*l));
}
