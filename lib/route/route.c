/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * dl_route(): all tables of a torus in one of the modes.  Classic mode is the
 * document's rules (unicast.c, tree.c) unless they refuse the fabric (classic.c);
 * proven mode changes and verifies them (proven/).  What one call needs and
 * does not hand out lies in one arena.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "route/internal.h"

#define DEFAULT_HIGH_LIMIT 4 /* 16 KiB */
#define DEFAULT_REPAIR_SECONDS 7

void dl_route_options_init(struct dl_route_options *o)
{
	o->mode = DL_ROUTE_PROVEN;
	o->ties = DL_ROUTE_TIES_CONFIGURED;
	o->weights[0] = o->weights[1] = 1;
	o->high_limit = DEFAULT_HIGH_LIMIT;
	o->repair_seconds = DEFAULT_REPAIR_SECONDS;
	o->clock = NULL;
	o->avoid = NULL;
}

const char *dl_route_mode_name(enum dl_route_mode mode)
{
	static const char *const names[] = {
		[DL_ROUTE_CLASSIC] = "classic",
		[DL_ROUTE_PROVEN] = "proven",
		[DL_ROUTE_ANY_SL] = "any-sl",
		[DL_ROUTE_UNCHECKED] = "unchecked",
	};

	return names[mode];
}

/* ---- data VLs ---------------------------------------------------------- */

static void route_least(unsigned int *vls, const struct dl_fabric_port *p)
{
	if (p->vls && p->vls < *vls)
		*vls = p->vls;
}

static struct dl_route_vls count_vls(const struct dl_torus *t)
{
	const struct dl_fabric *f = t->fabric;
	struct dl_route_vls vls = { 8, 8, false };
	uint32_t i;

	for (i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i];

		if (t->port_dir[i] != DL_TORUS_DIRS) {
			route_least(&vls.between, p);
		} else if (p->num && p->peer != DL_NONE && dl_fabric_is_end_port(f, i)) {
			route_least(&vls.end, p);
			route_least(&vls.end, &f->ports[p->peer]);
		} else if (dl_fabric_peer_switch(f, i) != DL_NONE) {
			/* A cable outside the torus is mapped like these. */
			route_least(&vls.end, p);
		}
	}
	return vls;
}

/* Say what few VLs cost; too few are refused. */
static bool enough_vls(const struct dl_route_pass *p)
{
	const struct dl_fabric *f = p->torus->fabric;
	unsigned int vls = p->vls.between;
	uint32_t i;

	if (vls == 1 && p->vls.any_sl)
		dl_log(p->log, DL_LOG_WARNING,
		       "only 1 data VL between switches: safe, but no QoS levels, and longer "
		       "paths: "
		       "a ring's dateline is crossed with the first hop or not at all");
	else if (vls == 1)
		dl_log(p->log, DL_LOG_ERROR, "only 1 data VL between switches: a torus needs 2");
	else if (p->vls.any_sl && vls < 8)
		dl_log(p->log, DL_LOG_WARNING,
		       "only %u data VLs between switches: no VL for turns "
		       "near failed switches%s",
		       vls, vls < 4 ? ", and no QoS levels" : "");
	else if (vls < 8)
		dl_log(p->log, DL_LOG_WARNING, "only %u data VLs between switches: no QoS levels%s",
		       vls, vls < 4 ? ", and no path round failed switches" : "");
	for (i = 0; vls == 1 && i < f->nports; i++) {
		const struct dl_fabric_port *port = &f->ports[i];

		if (p->torus->port_dir[i] == DL_TORUS_DIRS || port->vls != 1)
			continue;
		dl_log(p->log, p->vls.any_sl ? DL_LOG_WARNING : DL_LOG_ERROR,
		       "switch 0x%016" PRIx64 " \"%s\" port %u has 1 data VL",
		       f->nodes[port->node].guid, dl_fabric_node_name(f, port->node), port->num);
		break;
	}
	return vls > 1 || p->vls.any_sl;
}

/*
 * The same for what a port is concerned with: an adapter with one VL does without
 * QoS levels, and nobody else.
 */
static struct dl_route_vls vls_of(const struct dl_route_pass *pass, uint32_t port)
{
	const struct dl_fabric_port *ports = pass->whole->fabric->ports;
	struct dl_route_vls vls = pass->vls;

	if (pass->whole->port_dir[port] == DL_TORUS_DIRS && ports[port].vls) {
		vls.end = ports[port].vls;
		if (ports[port].peer != DL_NONE)
			route_least(&vls.end, &ports[ports[port].peer]);
	}
	return vls;
}

/* ---- tables ------------------------------------------------------------ */

static int fill_sl2vl(const struct dl_route_pass *pass, struct dl_tables *tables)
{
	const struct dl_fabric *f = pass->whole->fabric;
	uint16_t row[DL_TORUS_DIRS + 1][DL_TORUS_DIRS], end[2];
	unsigned int in, out;
	uint32_t s, p;

	for (in = 0; in <= DL_TORUS_DIRS; in++) {
		for (out = 0; out < DL_TORUS_DIRS; out++) {
			int n = dl_tables_row(tables, dl_route_sl2vl(in, out, &pass->vls));

			if (n < 0)
				return n;
			row[in][out] = n;
		}
	}
	/* Without and with QoS levels, wherever a packet comes from. */
	for (out = 0; out < 2; out++) {
		struct dl_route_vls vls = { pass->vls.between, 1 + out, pass->vls.any_sl };
		int n = dl_tables_row(tables, dl_route_sl2vl(DL_TORUS_DIRS, DL_TORUS_DIRS, &vls));

		if (n < 0)
			return n;
		end[out] = n;
	}
	for (s = 0; s < f->nswitches; s++) {
		const struct dl_fabric_node *n = dl_fabric_switch_node(f, s);
		const uint8_t *dir = &pass->torus->port_dir[n->first_port];
		uint16_t *map = &tables->sl2vl[tables->sl2vl_first[s]];

		for (in = 0; in <= n->nports; in++)
			for (out = 0; out <= n->nports; out++)
				*map++ = dir[out] != DL_TORUS_DIRS ?
						 row[dir[in]][dir[out]] :
						 end[vls_of(pass, n->first_port + out).end >= 2];
	}
	for (p = 0; p < f->nports; p++)
		if (f->ports[p].num && f->ports[p].peer != DL_NONE && dl_fabric_is_end_port(f, p))
			tables->end_sl2vl[p] = end[vls_of(pass, p).end >= 2];
	return 0;
}

static int fill_vlarb(const struct dl_route_pass *pass, struct dl_tables *tables)
{
	const struct dl_fabric *f = pass->whole->fabric;
	uint32_t p;

	for (p = 0; p < f->nports; p++) {
		const struct dl_fabric_port *port = &f->ports[p];
		struct dl_route_vls vls = vls_of(pass, p);
		bool between = pass->torus->port_dir[p] != DL_TORUS_DIRS;
		struct dl_tables_vlarb arb;
		uint16_t used;
		int n;

		if (port->vls == 1 ||
		    (port->peer == DL_NONE && !(port->num == 0 && dl_fabric_is_end_port(f, p))))
			continue;
		dl_route_vlarb(pass->options, &vls, between, port->arb_high_cap, port->arb_low_cap,
			       &arb);
		used = (1u << (between ? vls.between : vls.end < 2 ? 1 : 2)) - 1;
		if (used & ~dl_tables_vlarb_serves(&arb, port, used)) {
			dl_log(pass->log, DL_LOG_ERROR,
			       "\"%s\" port %u: VL arbitration tables of %u and %u entries%s "
			       "cannot serve its %u VLs",
			       dl_fabric_node_name(f, port->node), port->num, port->arb_high_cap,
			       port->arb_low_cap, arb.high_limit == 255 ? " without a limit" : "",
			       __builtin_popcount(used));
			pass->out->refusal = DL_ROUTE_TOO_FEW_VLS;
			return -ENOTSUP;
		}
		n = dl_tables_arb(tables, &arb);
		if (n < 0)
			return n;
		tables->vlarb[p] = n;
	}
	return 0;
}

/* Classes of destinations in the matrix of path SLs, by switch and parity. */
static uint32_t psl_class(const struct dl_route_pass *p, uint32_t sw, unsigned int parity)
{
	if (sw == DL_NONE)
		return DL_NONE;
	return p->rule.any_sl ? 0 : p->lid_parity ? 2 * sw + parity : sw;
}

static void route_classify(const struct dl_route_pass *p, struct dl_tables *tables)
{
	const struct dl_fabric *f = p->torus->fabric;
	uint32_t port, lid, sw;

	for (port = 0; port < f->nports; port++) {
		if (!dl_fabric_is_end_port(f, port))
			continue;
		sw = dl_fabric_access_switch(f, port);
		if (sw != DL_NONE)
			tables->psl_src[port] = p->rule.any_sl ? 0 : sw;
	}
	for (lid = 1; lid <= f->top_lid; lid++)
		if (f->lid_port[lid] != DL_NONE)
			tables->psl_dst[lid] =
				psl_class(p, dl_fabric_access_switch(f, f->lid_port[lid]),
					  dl_route_lid_parity(p, lid));
}

int dl_route_path_sls(struct dl_route_pass *p)
{
	struct dl_tables *tables = p->out->tables;
	const struct dl_torus *t = p->torus;
	uint32_t n = p->rule.any_sl ? 1 : t->fabric->nswitches, a, to;
	unsigned int k, parities = p->lid_parity && !p->rule.any_sl ? 2 : 1;
	uint8_t *row = dl_arena_array(&p->arena, t->fabric->nswitches + UINT32_C(1), 1);
	int err = row ? dl_tables_new_psl(tables, n, parities * n) : -ENOMEM;

	if (err)
		return err;
	route_classify(p, tables);
	/* What is disconnected from the torus crosses no dateline: SL 0. */
	memset(tables->psl, 0, (size_t)parities * n * n);
	for (to = 0; to < n && !p->rule.any_sl; to++) {
		dl_progress(p->log, "path SLs", " switches", to, n);
		for (k = 0; k < parities && t->attachment[to] != DL_NONE; k++) {
			if (parities == 1) {
				/* The same both ways. */
				dl_route_sls_to(&p->rule, t, to, k, &tables->psl[(size_t)to * n]);
				continue;
			}
			dl_route_sls_to(&p->rule, t, to, k, row);
			for (a = 0; a < n; a++)
				tables->psl[a * (size_t)(2 * n) + psl_class(p, to, k)] = row[a];
		}
	}
	dl_progress(p->log, "path SLs", " switches", 1, 1);
	return 0;
}

int dl_route_dor_tables(struct dl_route_pass *p)
{
	struct dl_tables *t;
	int err;

	dl_tables_free(p->out->tables);
	p->out->tables = NULL;
	err = dl_tables_new(p->torus->fabric, &t);
	if (err)
		return err;
	p->out->tables = t;
	err = dl_route_unicast(p, t);
	if (!err)
		err = fill_sl2vl(p, t);
	if (!err)
		err = fill_vlarb(p, t);
	return err;
}

int dl_route_forwarding(const struct dl_torus *t, const struct dl_torus_config *c,
			struct dl_tables *tables)
{
	struct dl_route_pass p = { .torus = t, .whole = t, .config = c };
	int err = dl_route_rings_init(&p);

	if (!err)
		err = dl_route_unicast(&p, tables);
	dl_arena_free(&p.arena);
	return err;
}

/* ---- the modes --------------------------------------------------------- */

/* DOR's tables and the tree of rules A9, as far as they go. */
static int route_unchecked(struct dl_route_pass *p)
{
	int err = dl_route_dor_tables(p);

	if (!err)
		err = dl_route_path_sls(p);
	return err ? err : dl_route_partial_tree(p->torus, p->leaf, DL_NONE, &p->out->tree);
}

static int route_classic(struct dl_route_pass *p)
{
	int err;

	p->out->refusal = dl_route_classic_refusal(p->torus, p->log);
	if (p->out->refusal)
		return -ENOTSUP;
	err = route_unchecked(p);
	if (!err && !dl_route_tree_complete(p->torus, p->out->tree, p->log)) {
		dl_route_tree_free(p->out->tree);
		p->out->tree = NULL;
	}
	return err;
}

int dl_route_once(struct dl_route_pass *p)
{
	static int (*const modes[])(struct dl_route_pass * p) = {
		[DL_ROUTE_CLASSIC] = route_classic,
		[DL_ROUTE_PROVEN] = dl_route_proven,
		[DL_ROUTE_ANY_SL] = dl_route_proven,
		[DL_ROUTE_UNCHECKED] = route_unchecked,
	};
	int err = 0;

	if (p->options->mode > DL_ROUTE_UNCHECKED)
		return -EINVAL;
	if (p->options->avoid && p->options->mode != DL_ROUTE_PROVEN &&
	    p->options->mode != DL_ROUTE_ANY_SL)
		return -EINVAL;
	if (!dl_route_input_sound(p))
		return -EPROTO;
	if (!p->torus->fabric->nswitches) {
		dl_log(p->log, DL_LOG_ERROR,
		       "the fabric has no switches: there is nothing to route");
		p->out->refusal = DL_ROUTE_NO_SWITCHES;
		return -ENOTSUP;
	}
	p->vls = count_vls(p->torus);
	p->vls.any_sl = p->options->mode == DL_ROUTE_ANY_SL;
	if (!enough_vls(p)) {
		p->out->refusal = DL_ROUTE_TOO_FEW_VLS;
		return -ENOTSUP;
	}
	p->rule = dl_route_rule(p->options, p->config, &p->torus->grid, p->vls.between);
	if (p->rule.by_parity)
		err = dl_route_lid_parities(&p->rule, p->torus->fabric, &p->arena, &p->lid_parity);
	if (!err && p->options->avoid)
		err = dl_route_transit(p);
	if (!err)
		err = dl_route_rings_init(p);
	if (!err)
		err = modes[p->options->mode](p);
	if (!err && !p->trial && !dl_route_result_sound(p))
		err = -EPROTO;
	/* What is avoided is in the fabric after all. */
	if (p->out->tables)
		p->out->tables->fabric = p->whole->fabric;
	if (p->out->verification)
		p->out->verification->fabric = p->whole->fabric;
	if (!err && !p->trial && dl_broken(p->log, dl_route_avoid_kept(p)))
		err = -EPROTO;
	return err;
}

int dl_route(const struct dl_torus *t, const struct dl_torus_config *c,
	     const struct dl_route_options *o, const struct dl_log *log,
	     struct dl_route_result *out)
{
	struct dl_route_pass p = {
		.torus = t, .whole = t, .config = c, .options = o, .log = log, .out = out
	};
	int err;

	memset(out, 0, sizeof(*out));
	err = o->mode == DL_ROUTE_PROVEN || o->mode == DL_ROUTE_ANY_SL ? dl_route_weigh(&p) :
									 dl_route_once(&p);
	dl_arena_free(&p.arena);
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

static bool same_tree(const struct dl_route_tree *a, const struct dl_route_tree *b)
{
	size_t n = a->nswitches;

	return a->root == b->root && !memcmp(a->parent, b->parent, n * sizeof(*a->parent)) &&
	       !memcmp(a->cable_first, b->cable_first, (n + 1) * sizeof(*a->cable_first)) &&
	       !memcmp(a->cables, b->cables, a->cable_first[n] * sizeof(*a->cables));
}

bool dl_route_same_result(const struct dl_route_result *a, const struct dl_route_result *b)
{
	const struct dl_tables *x = a->tables, *y = b->tables;

	return x && y && a->tree && b->tree && x->stride == y->stride &&
	       !memcmp(x->lft, y->lft, x->fabric->nswitches * (size_t)x->stride) &&
	       dl_tables_same_vls(x, y) && same_tree(a->tree, b->tree);
}
