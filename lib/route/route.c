/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * All tables of a torus, and the reasons for which the documents' rules
 * refuse one (rules A8).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "route/proven/internal.h"
#include "route/internal.h"
#include "dateline/route.h"

#define DEFAULT_HIGH_LIMIT 4 /* 16 KiB */
#define DEFAULT_REPAIR_SECONDS 10
#define MAX_LISTED 8 /* culprits named in one refusal */

void dl_route_options_init(struct dl_route_options *o)
{
	o->mode = DL_ROUTE_PROVEN;
	o->weights[0] = o->weights[1] = 1;
	o->high_limit = DEFAULT_HIGH_LIMIT;
	o->repair_seconds = DEFAULT_REPAIR_SECONDS;
	o->clock = NULL;
}

/* ---- data VLs ---------------------------------------------------------- */

static void least(unsigned int *vls, const struct dl_fabric_port *p)
{
	if (p->vls && p->vls < *vls)
		*vls = p->vls;
}

static struct dl_route_vls vl_budget(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_route_vls vls = { 8, 8 };
	uint32_t i;

	for (i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];

		if (t->port_dir[i] != DL_TORUS_DIRS) {
			least(&vls.between, p);
		} else if (p->num && p->peer != DL_NONE &&
			   dl_fabric_is_end_port(f, i)) {
			least(&vls.end, p);
			least(&vls.end, &f->ports[p->peer]);
		} else if (dl_fabric_peer_switch(f, i) != DL_NONE) {
			/* A cable outside the torus is mapped like these. */
			least(&vls.end, p);
		}
	}
	return vls;
}

static int check_vls(const struct dl_torus *t, const struct dl_route_vls *vls,
		     const struct dl_log *log)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t i;

	if (vls->between < 4)
		dl_log(log, vls->between < 2 ? DL_LOG_ERROR : DL_LOG_WARNING,
		       "only %u data VL%s between switches: %s", vls->between,
		       vls->between == 1 ? "" : "s",
		       vls->between < 2 ? "a torus needs 2" :
					  "no QoS levels, and no way round "
					  "failed switches");
	else if (vls->between < 8)
		dl_log(log, DL_LOG_WARNING,
		       "only %u data VLs between switches: no QoS levels",
		       vls->between);
	if (vls->between >= 2)
		return 0;
	for (i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];

		if (t->port_dir[i] == DL_TORUS_DIRS || p->vls != 1)
			continue;
		dl_log(log, DL_LOG_ERROR,
		       "switch 0x%016" PRIx64 " \"%s\" port %u has 1 data VL",
		       f->nodes[p->node].guid, dl_fabric_node_name(f, p->node),
		       p->num);
		break;
	}
	return -ENOTSUP;
}

/* ---- refusals ---------------------------------------------------------- */

/* Stubs and bridges are welcome; a wrong radix makes misfits. */
static int check_placed(const struct dl_torus *t, const struct dl_log *log)
{
	const struct dl_torus_grid *g = &t->grid;
	uint32_t cables, switches = dl_torus_count_unplaceable(t, &cables);

	if (!switches && !cables)
		return 0;
	dl_log(log, DL_LOG_ERROR,
	       "the fabric is no %ux%ux%u torus or mesh: %u of %u switches and "
	       "%u cables between switches do not fit; check the radices and "
	       "the seed",
	       g->radix[0], g->radix[1], g->radix[2], switches,
	       t->fabric->nswitches, cables);
	return -ENOTSUP;
}

/* Name the ends of each region of a cut ring. */
static void report_cut(const struct dl_torus *t, uint32_t ring,
		       unsigned int dim, unsigned int regions,
		       const struct dl_log *log)
{
	const struct dl_torus_grid *g = &t->grid;
	uint32_t i, c[DL_TORUS_DIMS], next;

	dl_torus_site_coord(g, dl_route_ring_site(g, ring, dim, 0), c);
	dl_log(log, DL_LOG_ERROR,
	       "the %s along %c through (%u,%u,%u) is cut into %u regions:",
	       g->mesh[dim] ? "line" : "ring", 'x' + dim, c[0], c[1], c[2],
	       regions);
	for (i = 0; i < g->radix[dim]; i++) {
		uint32_t site = dl_route_ring_site(g, ring, dim, i);

		dl_torus_site_coord(g, site, c);
		if (t->site_sw[site] == DL_NONE) {
			dl_log(log, DL_LOG_ERROR, "  no switch at (%u,%u,%u)",
			       c[0], c[1], c[2]);
			continue;
		}
		next = dl_torus_site_next(g, site, dl_torus_dir(dim, false));
		if (next != DL_NONE && t->site_sw[next] != DL_NONE &&
		    !dl_route_hop_alive(t, site, dl_torus_dir(dim, false)))
			dl_log(log, DL_LOG_ERROR,
			       "  no cable from (%u,%u,%u) towards +%c", c[0],
			       c[1], c[2], 'x' + dim);
	}
}

static int check_rings(const struct dl_torus *t, const struct dl_log *log)
{
	uint32_t ring;
	unsigned int d;
	int err = 0;

	for (d = 0; d < DL_TORUS_DIMS; d++) {
		if (t->grid.radix[d] < 2)
			continue;
		for (ring = 0; ring < t->nsites / t->grid.radix[d]; ring++) {
			unsigned int regions =
				dl_route_ring_regions(t, ring, d);

			if (regions < 2)
				continue;
			report_cut(t, ring, d, regions, log);
			err = -ENOTSUP;
		}
	}
	return err;
}

/*
 * Missing switches are safe when they stand side by side on one ring of the
 * last dimension; that such a ring is in one piece is check_rings()'s part.
 */
static int check_missing(const struct dl_torus *t, const struct dl_log *log)
{
	unsigned int last = dl_torus_last_dim(&t->grid);
	uint32_t site, ring = DL_NONE, c[DL_TORUS_DIMS], listed = 0;
	bool scattered = false;

	for (site = 0; site < t->nsites; site++) {
		if (t->site_sw[site] != DL_NONE)
			continue;
		if (ring == DL_NONE)
			ring = dl_route_ring(&t->grid, site, last);
		scattered |= ring != dl_route_ring(&t->grid, site, last);
	}
	if (!scattered)
		return 0;
	dl_log(log, DL_LOG_ERROR,
	       "%u switches are missing, and not all side by side along %c:",
	       t->nsites - t->nplaced, 'x' + last);
	for (site = 0; site < t->nsites && listed < MAX_LISTED; site++) {
		if (t->site_sw[site] != DL_NONE)
			continue;
		dl_torus_site_coord(&t->grid, site, c);
		dl_log(log, DL_LOG_ERROR, "  no switch at (%u,%u,%u)", c[0],
		       c[1], c[2]);
		listed++;
	}
	return -ENOTSUP;
}

/* ---- tables ------------------------------------------------------------ */

static int fill_sl2vl(const struct dl_torus *t, const struct dl_route_vls *vls,
		      struct dl_tables *tables)
{
	const struct dl_fabric *f = t->fabric;
	uint16_t row[DL_TORUS_DIRS + 1][DL_TORUS_DIRS + 1];
	unsigned int in, out;
	uint32_t s, p;

	for (in = 0; in <= DL_TORUS_DIRS; in++) {
		for (out = 0; out <= DL_TORUS_DIRS; out++) {
			int n = dl_tables_row(tables,
					      dl_route_sl2vl(in, out, vls));

			if (n < 0)
				return n;
			row[in][out] = n;
		}
	}
	for (s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = &f->nodes[f->switches[s]];
		const uint8_t *dir = &t->port_dir[n->first_port];
		uint16_t *map = &tables->sl2vl[tables->sl2vl_first[s]];

		for (in = 0; in <= n->nports; in++)
			for (out = 0; out <= n->nports; out++)
				*map++ = row[dir[in]][dir[out]];
	}
	for (p = 0; p < f->nports; p++)
		if (f->ports[p].num && f->ports[p].peer != DL_NONE &&
		    dl_fabric_is_end_port(f, p))
			tables->end_sl2vl[p] =
				row[DL_TORUS_DIRS][DL_TORUS_DIRS];
	return 0;
}

static int fill_vlarb(const struct dl_torus *t,
		      const struct dl_route_options *o,
		      const struct dl_route_vls *vls, struct dl_tables *tables)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t p;

	for (p = 0; p < f->nports; p++) {
		const struct dl_fabric_port *port = &f->ports[p];
		struct dl_tables_vlarb arb;
		int n;

		if (port->vls == 1 ||
		    (port->peer == DL_NONE &&
		     !(port->num == 0 && dl_fabric_is_end_port(f, p))))
			continue;
		dl_route_vlarb(o, vls, t->port_dir[p] != DL_TORUS_DIRS,
			       port->arb_high_cap, port->arb_low_cap, &arb);
		n = dl_tables_arb(tables, &arb);
		if (n < 0)
			return n;
		tables->vlarb[p] = n;
	}
	return 0;
}

static int fill_psl(const struct dl_torus *t, struct dl_tables *tables)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t a, p, lid, sw;
	int err = dl_tables_new_psl(tables, f->nswitches, f->nswitches);

	if (err)
		return err;
	for (p = 0; p < f->nports; p++) {
		if (!dl_fabric_is_end_port(f, p))
			continue;
		sw = dl_fabric_access_switch(f, p);
		if (sw != DL_NONE)
			tables->psl_src[p] = sw;
	}
	for (lid = 1; lid <= f->top_lid; lid++)
		if (f->lid_port[lid] != DL_NONE)
			tables->psl_dst[lid] =
				tables->psl_src[f->lid_port[lid]];
	/* What is cut off from the torus crosses no dateline: SL 0. */
	memset(tables->psl, 0, (size_t)f->nswitches * f->nswitches);
	for (a = 0; a < f->nswitches; a++)
		if (t->attachment[a] != DL_NONE)
			dl_route_sl_row(t, a,
					&tables->psl[(size_t)a * f->nswitches]);
	return 0;
}

int dl_route_dor_tables(const struct dl_torus *t,
			const struct dl_torus_config *c,
			const struct dl_route_options *o,
			const struct dl_log *log,
			struct dl_route_rings **out_rings,
			struct dl_tables **out, unsigned int *vls_between)
{
	struct dl_route_vls vls = vl_budget(t);
	struct dl_tables *tables = NULL;
	struct dl_route_rings *rings = NULL;
	int err = check_vls(t, &vls, log);

	if (!err)
		err = dl_tables_new(t->fabric, &tables);
	if (!err)
		err = dl_route_rings_new(t, &rings);
	if (!err)
		err = dl_route_unicast(rings, c, tables);
	if (!err)
		err = fill_sl2vl(t, &vls, tables);
	if (!err)
		err = fill_vlarb(t, o, &vls, tables);
	if (!err)
		err = fill_psl(t, tables);
	if (err) {
		dl_route_rings_free(rings);
		dl_tables_free(tables);
		return err;
	}
	*out_rings = rings;
	*out = tables;
	*vls_between = vls.between;
	return 0;
}

int dl_route_dor(const struct dl_torus *t, const struct dl_torus_config *c,
		 const struct dl_route_options *o, struct dl_tables **out)
{
	struct dl_route_rings *rings = NULL;
	unsigned int vls_between;
	int err = dl_route_dor_tables(t, c, o, NULL, &rings, out, &vls_between);

	dl_route_rings_free(rings);
	return err;
}

int dl_route(const struct dl_torus *t, const struct dl_torus_config *c,
	     const struct dl_route_options *o, const struct dl_log *log,
	     struct dl_tables **out)
{
	struct dl_route_vls vls = vl_budget(t);
	struct dl_route_rings *rings = NULL;
	int err;

	err = check_placed(t, log);
	if (!err && vls.between < 2)
		err = check_vls(t, &vls, log);
	if (!err)
		err = check_rings(t, log);
	if (!err)
		err = check_missing(t, log);
	if (!err)
		err = dl_route_dor_tables(t, c, o, log, &rings, out,
					  &vls.between);
	dl_route_rings_free(rings);
	return err;
}
