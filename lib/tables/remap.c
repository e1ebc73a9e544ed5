/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The tables of one fabric, as another one holds them in which the same
 * switches and adapters still have them: after failures that nobody has routed
 * round yet, or with what has been added and not been routed yet.
 *
 * Nodes are the same when their GUIDs are.  What is new has empty tables, and
 * unknown path SLs.  Complexity: the size of the tables.
 */
#include <string.h>

#include "dateline/tables.h"

static int remap_rows(const struct dl_tables *from, struct dl_tables *t)
{
	uint32_t i;

	/* Each is there once: they keep their numbers. */
	for (i = 0; i < from->nrows; i++) {
		int n = dl_tables_row(t, from->rows[i]);

		if (n < 0)
			return n;
	}
	for (i = 0; i < from->narbs; i++) {
		int n = dl_tables_arb(t, &from->arbs[i]);

		if (n < 0)
			return n;
	}
	return 0;
}

static void remap_switch(const struct dl_tables *from, uint32_t old, struct dl_tables *t,
			 uint32_t sw)
{
	uint16_t top = from->top_lid < t->top_lid ? from->top_lid : t->top_lid;
	const uint16_t *map = &from->sl2vl[from->sl2vl_first[old]];
	size_t n = from->sl2vl_first[old + 1] - from->sl2vl_first[old];

	memcpy(t->lft + sw * (size_t)t->stride, from->lft + old * (size_t)from->stride, top + 1u);
	if (t->sl2vl_first[sw + 1] - t->sl2vl_first[sw] == n)
		memcpy(&t->sl2vl[t->sl2vl_first[sw]], map, n * sizeof(*map));
}

static int remap_path_sls(const struct dl_tables *from, struct dl_tables *t,
			  const struct dl_fabric_match *old_of)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t port, old, lid;
	int err;

	if (!from->psl)
		return 0;
	err = dl_tables_new_psl(t, from->npsl_src, from->npsl_dst);
	if (err)
		return err;
	memcpy(t->psl, from->psl, (size_t)t->npsl_src * t->npsl_dst);
	for (port = 0; port < f->nports; port++) {
		old = dl_fabric_match_port(old_of, port);
		if (old != DL_NONE)
			t->psl_src[port] = from->psl_src[old];
	}
	for (lid = 1; lid <= t->top_lid && lid <= from->top_lid; lid++) {
		port = f->lid_port[lid];
		if (port != DL_NONE &&
		    from->fabric->lid_port[lid] == dl_fabric_match_port(old_of, port))
			t->psl_dst[lid] = from->psl_dst[lid];
	}
	return 0;
}

int dl_tables_remap(const struct dl_tables *from, const struct dl_fabric *to,
		    struct dl_tables **out)
{
	struct dl_fabric_match old_of = { .node = NULL };
	struct dl_tables *t = NULL;
	uint32_t s, port, old;
	int err = dl_tables_new(to, &t);

	if (!err)
		err = dl_fabric_match(to, from->fabric, &old_of);
	if (!err)
		err = remap_rows(from, t);
	for (s = 0; !err && s < to->nswitches; s++) {
		old = dl_fabric_match_switch(&old_of, s);
		if (old != DL_NONE)
			remap_switch(from, old, t, s);
	}
	for (port = 0; !err && port < to->nports; port++) {
		old = dl_fabric_match_port(&old_of, port);
		if (old == DL_NONE)
			continue;
		t->end_sl2vl[port] = from->end_sl2vl[old];
		t->vlarb[port] = from->vlarb[old];
	}
	if (!err)
		err = remap_path_sls(from, t, &old_of);
	dl_fabric_match_release(&old_of);
	if (err)
		dl_tables_free(t);
	else
		*out = t;
	return err;
}
