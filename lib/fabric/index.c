/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finding end ports by GUID and nodes by name; see fabric.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/fabric.h"

/* A switch's port 0 may have its node's GUID alone. */
static uint64_t index_port_guid(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port];

	return p->guid || p->num ? p->guid : f->nodes[p->node].guid;
}

static int by_port_guid(const void *a, const void *b, void *fabric)
{
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
	uint64_t x = index_port_guid(fabric, p), y = index_port_guid(fabric, q);

	return x != y ? (x > y) - (x < y) : (p > q) - (p < q);
}

/* Of a node there are two: twice its number, and one more for its id. */
static const char *text_of(const struct dl_fabric *f, uint32_t item)
{
	return item & 1 ? dl_fabric_node_id(f, item / 2) : dl_fabric_node_name(f, item / 2);
}

static int by_text(const void *a, const void *b, void *fabric)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(text_of(fabric, x), text_of(fabric, y));

	return order ? order : (x > y) - (x < y);
}

int dl_fabric_index_ports(const struct dl_fabric *f, struct dl_fabric_index *x)
{
	*x = (struct dl_fabric_index){ malloc((f->nports + 1ul) * sizeof(*x->items)), 0 };
	if (!x->items)
		return -ENOMEM;
	for (uint32_t p = 0; p < f->nports; p++)
		if (dl_fabric_is_end_port(f, p) && index_port_guid(f, p))
			x->items[x->n++] = p;
	qsort_r(x->items, x->n, sizeof(*x->items), by_port_guid, (void *)f);
	return 0;
}

int dl_fabric_index_names(const struct dl_fabric *f, struct dl_fabric_index *x)
{
	*x = (struct dl_fabric_index){ malloc((2ul * f->nnodes + 1) * sizeof(*x->items)), 0 };
	if (!x->items)
		return -ENOMEM;
	for (x->n = 0; x->n < 2 * f->nnodes; x->n++)
		x->items[x->n] = x->n;
	qsort_r(x->items, x->n, sizeof(*x->items), by_text, (void *)f);
	return 0;
}

void dl_fabric_index_free(struct dl_fabric_index *x)
{
	free(x->items);
	*x = (struct dl_fabric_index){ NULL, 0 };
}

uint32_t dl_fabric_find_port(const struct dl_fabric *f, const struct dl_fabric_index *x,
			     uint64_t guid)
{
	uint32_t at = dl_array_count_before(i, x->n, index_port_guid(f, x->items[i]) < guid);

	return at < x->n && index_port_guid(f, x->items[at]) == guid ? x->items[at] : DL_NONE;
}

uint32_t dl_fabric_find_name(const struct dl_fabric *f, const struct dl_fabric_index *x,
			     const char *text)
{
	uint32_t at = dl_array_count_before(i, x->n, strcmp(text_of(f, x->items[i]), text) < 0);

	return at < x->n && !strcmp(text_of(f, x->items[at]), text) ? x->items[at] / 2 : DL_NONE;
}
