/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * dl_route(): all tables of a torus in one of the modes.  Classic mode is the
 * document's rules (dor.c, tree.c) unless they refuse the fabric (classic.c);
 * proven mode changes and verifies them (proven/).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dateline/base.h"
#include "route/internal.h"

#define DEFAULT_HIGH_LIMIT 4 /* 16 KiB */
#define DEFAULT_REPAIR_SECONDS 10

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

struct dl_route_vls dl_route_vls_of(const struct dl_torus *t)
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

static bool check_vls(const struct dl_torus *t, const struct dl_route_vls *vls,
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
		return true;
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
	return false;
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
			const struct dl_route_rings *rings,
			struct dl_tables **out)
{
	struct dl_route_vls vls = dl_route_vls_of(t);
	int err = dl_tables_new(t->fabric, out);

	if (!err)
		err = dl_route_unicast(rings, c, *out);
	if (!err)
		err = fill_sl2vl(t, &vls, *out);
	if (!err)
		err = fill_vlarb(t, o, &vls, *out);
	if (!err)
		err = fill_psl(t, *out);
	if (err) {
		dl_tables_free(*out);
		*out = NULL;
	}
	return err;
}

/* ---- the modes --------------------------------------------------------- */

/* DOR's tables and the tree of rules A9, as far as they go. */
static int route_unchecked(const struct dl_torus *t,
			   const struct dl_torus_config *c,
			   const struct dl_route_options *o,
			   const struct dl_log *log,
			   struct dl_route_result *out)
{
	struct dl_route_rings *rings;
	int err = dl_route_rings_new(t, &rings);

	(void)log;
	if (err)
		return err;
	err = dl_route_dor_tables(t, c, o, rings, &out->tables);
	if (!err)
		err = dl_route_partial_tree(t, DL_NONE, &out->tree);
	dl_route_rings_free(rings);
	return err;
}

static int route_classic(const struct dl_torus *t,
			 const struct dl_torus_config *c,
			 const struct dl_route_options *o,
			 const struct dl_log *log, struct dl_route_result *out)
{
	int err;

	out->refusal = dl_route_classic_refusal(t, log);
	if (out->refusal)
		return -ENOTSUP;
	err = route_unchecked(t, c, o, log, out);
	if (!err && !dl_route_tree_complete(t, out->tree, log)) {
		dl_route_tree_free(out->tree);
		out->tree = NULL;
	}
	return err;
}

int dl_route(const struct dl_torus *t, const struct dl_torus_config *c,
	     const struct dl_route_options *o, const struct dl_log *log,
	     struct dl_route_result *out)
{
	static int (*const modes[])(const struct dl_torus *t,
				    const struct dl_torus_config *c,
				    const struct dl_route_options *o,
				    const struct dl_log *log,
				    struct dl_route_result *out) = {
		[DL_ROUTE_CLASSIC] = route_classic,
		[DL_ROUTE_PROVEN] = dl_route_proven,
		[DL_ROUTE_UNCHECKED] = route_unchecked,
	};
	struct dl_route_vls vls = dl_route_vls_of(t);
	int err;

	memset(out, 0, sizeof(*out));
	if (o->mode > DL_ROUTE_UNCHECKED)
		return -EINVAL;
	if (!t->fabric->nswitches) {
		dl_log(log, DL_LOG_ERROR,
		       "the fabric has no switches: there is nothing to route");
		out->refusal = DL_ROUTE_NO_SWITCHES;
		return -ENOTSUP;
	}
	if (!check_vls(t, &vls, log)) {
		out->refusal = DL_ROUTE_TOO_FEW_VLS;
		return -ENOTSUP;
	}
	err = modes[o->mode](t, c, o, log, out);
	if (err) {
		dl_tables_free(out->tables);
		dl_route_tree_free(out->tree);
		out->tables = NULL;
		out->tree = NULL;
	}
	return err;
}

void dl_route_result_release(struct dl_route_result *r)
{
	dl_tables_free(r->tables);
	dl_route_tree_free(r->tree);
	dl_verify_result_free(r->verification);
	memset(r, 0, sizeof(*r));
}
