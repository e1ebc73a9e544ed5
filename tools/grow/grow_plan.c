/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The larger fabric of a growth or removal, and when each of its cables is plugged in.
 *
 * New planes come behind the last one, at the dateline, and copy it: ports, adapters, and
 * the cables within the plane.  In the dimension that grows, a new switch uses the port
 * numbers of the last plane, too.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"

bool grow_is_new(const struct grow_plan *p, uint32_t sw)
{
	uint32_t c[DL_TORUS_DIMS];

	if (sw == DL_NONE || p->sw_site[sw] == DL_NONE)
		return false;
	dl_torus_site_coord(&p->large, p->sw_site[sw], c);
	return c[p->request->dim] >= p->small.radix[p->request->dim];
}

static uint32_t grow_port(const struct dl_fabric *f, uint32_t sw, unsigned int num)
{
	return f->nodes[f->switches[sw]].first_port + num;
}

static int grow_add_cable(struct grow_plan *p, uint32_t a, uint32_t b, uint32_t on, uint32_t off)
{
	if (!dl_array_room(p->cables, p->ncables, 1, &p->cables_cap))
		return -ENOMEM;
	p->cables[p->ncables++] = (struct grow_cable){ a, b, on, off };
	return 0;
}

/* ---- new planes ---------------------------------------------------------- */

/* A GUID that no node has yet: what the real one will be is not known. */
static uint64_t grow_guid(const struct dl_fabric *f, const uint32_t c[DL_TORUS_DIMS], uint32_t host)
{
	uint64_t guid = (uint64_t)(host ? 0xd2 : 0xd1) << 48 | (uint64_t)c[0] << 32 | c[1] << 24 |
			c[2] << 16 | host << 8;
	uint32_t i = 0;

	while (i < f->nnodes) {
		if (f->nodes[i++].guid != guid)
			continue;
		guid += UINT64_C(1) << 40;
		i = 0;
	}
	return guid;
}

static bool grow_has_name(const struct dl_fabric *f, const char *name)
{
	for (uint32_t i = 0; i < f->nnodes; i++)
		if (!strcmp(dl_fabric_node_name(f, i), name))
			return true;
	return false;
}

/* A new switch (host 0) or its n-th adapter, like a node that is there. */
static int grow_add_node(struct grow_plan *p, uint32_t like, const uint32_t c[DL_TORUS_DIMS],
			 uint32_t host, uint32_t *node)
{
	struct dl_fabric *f = p->all;
	struct dl_fabric_node from = f->nodes[like];
	uint64_t guid = grow_guid(f, c, host);
	char name[64];
	int len, err;

	len = snprintf(name, sizeof(name), "%c_%u_%u_%u", host ? 'H' : 'S', c[0], c[1], c[2]);
	if (host)
		snprintf(name + len, sizeof(name) - len, "_%u", host);
	/* Names need not go by coordinates. */
	len = strlen(name);
	for (unsigned int i = 1; grow_has_name(f, name); i++)
		snprintf(name + len, sizeof(name) - len, i == 1 ? "_new" : "_new%u", i);
	err = dl_fabric_add_node(f, from.type, from.nports, guid, name, node);
	if (!err)
		err = dl_fabric_set_desc(f, *node, name);
	if (err)
		return err;
	f->nodes[*node].lft_cap = from.lft_cap;
	for (unsigned int i = 0; i <= from.nports; i++) {
		struct dl_fabric_port *port = &f->ports[f->nodes[*node].first_port + i];

		*port = f->ports[from.first_port + i];
		port->node = *node;
		port->peer = DL_NONE;
		port->guid = host ? guid + i : guid;
		port->lid = port->lmc = 0;
	}
	return 0;
}

/* The new switches behind one of the last plane, with adapters; returns by plane their nodes. */
static int grow_add_column(struct grow_plan *p, uint32_t last, const uint32_t c[DL_TORUS_DIMS],
			   uint32_t *nodes)
{
	struct dl_fabric *f = p->all;
	uint32_t at[DL_TORUS_DIMS] = { c[0], c[1], c[2] }, host, n;
	int err = 0;

	for (int k = 0; !err && k < p->request->by; k++) {
		at[p->request->dim] = p->small.radix[p->request->dim] + k;
		err = grow_add_node(p, f->switches[last], at, 0, &nodes[k]);
		n = 0;
		for (unsigned int i = 1; !err && i <= f->nodes[f->switches[last]].nports; i++) {
			uint32_t peer = f->ports[grow_port(f, last, i)].peer;

			if (peer == DL_NONE || dl_fabric_is_switch(f, f->ports[peer].node))
				continue;
			err = grow_add_node(p, f->ports[peer].node, at, ++n, &host);
			if (!err)
				err = dl_fabric_connect(f, f->nodes[nodes[k]].first_port + i,
							f->nodes[host].first_port +
								f->ports[peer].num);
		}
	}
	return err;
}

/*
 * A port for a new switch, and free at the last one: the wanted one, such as that by which the
 * first plane leads back, or else any; 0: none.
 */
static unsigned int grow_free_port(const struct grow_plan *p, const struct dl_torus *t,
				   uint32_t last, uint32_t node, const uint8_t *out, uint32_t n,
				   unsigned int wanted)
{
	const struct dl_fabric_node *like = dl_fabric_switch_node(t->fabric, last);

	for (unsigned int i = 0; i <= like->nports; i++) {
		unsigned int num = i ? i : wanted;

		if (num <= like->nports && !memchr(out, num, n) &&
		    t->fabric->ports[like->first_port + num].peer == DL_NONE &&
		    p->all->ports[grow_port(p->all, last, num)].peer == DL_NONE &&
		    p->all->ports[p->all->nodes[node].first_port + num].peer == DL_NONE)
			return num;
	}
	return 0;
}

/* A new cable, like the one at a port of the same ring: ports that were free had none. */
static int grow_connect(struct dl_fabric *f, uint32_t a, uint32_t b, uint32_t like)
{
	for (unsigned int end = 0; end < 2; end++) {
		struct dl_fabric_port *port = &f->ports[end ? b : a];

		port->width = f->ports[like].width;
		port->speed = f->ports[like].speed;
		port->vls = f->ports[like].vls;
		port->arb_high_cap = f->ports[like].arb_high_cap;
		port->arb_low_cap = f->ports[like].arb_low_cap;
	}
	return dl_fabric_connect(f, a, b);
}

/*
 * The cables that close a ring, from the last plane to the first, open; in their place
 * the column is put.  On a line it is put behind the last switch, by the port numbers
 * of the switch before where they are free, else by others.
 */
static int grow_join_column(struct grow_plan *p, const struct dl_torus *t, uint32_t site,
			    const uint32_t *nodes)
{
	struct dl_fabric *f = p->all;
	unsigned int plus = dl_torus_dir(p->request->dim, false);
	uint32_t last = t->site_sw[site], from = last, n, before, back;
	const uint8_t *out, *in = dl_torus_group(t, last, dl_torus_opposite(plus));
	int err = 0;

	before = t->site_sw[dl_torus_site_next(&t->grid, site, dl_torus_opposite(plus))];
	if (!dl_torus_group_size(t, last, plus) && before != DL_NONE)
		from = before;
	out = dl_torus_group(t, from, plus);
	n = dl_torus_group_size(t, from, plus);
	back = dl_torus_group_size(t, last, dl_torus_opposite(plus));
	for (uint32_t i = 0; !err && i < n; i++) {
		unsigned int num = i < back ? in[i] : 0, lead = out[i];
		uint32_t end, far;

		p->lacking = f->switches[last];
		p->lacks = out[i];
		if (from != last && (lead > f->nodes[p->lacking].nports ||
				     f->ports[grow_port(f, last, lead)].peer != DL_NONE))
			lead = grow_free_port(p, t, last, nodes[0], out, n, lead);
		if (!lead)
			return -EBUSY;
		end = grow_port(f, last, lead);
		far = f->ports[end].peer;
		if (!num && far != DL_NONE)
			num = grow_free_port(p, t, last, nodes[0], out, n, f->ports[far].num);
		if (!num)
			return -EBUSY;
		if (far != DL_NONE)
			f->ports[far].peer = f->ports[end].peer = DL_NONE;
		for (int k = 0; !err && k < p->request->by; k++) {
			err = grow_connect(f, end, f->nodes[nodes[k]].first_port + num,
					   grow_port(f, from, out[i]));
			end = f->nodes[nodes[k]].first_port + lead;
		}
		if (!err && far != DL_NONE)
			err = dl_fabric_connect(f, end, far);
		if (!err && far != DL_NONE)
			err = grow_add_cable(p, grow_port(f, last, out[i]), far, 0, 0);
	}
	return err;
}

/* Cables within the new planes: those of the last one. */
static int grow_copy_cables(struct grow_plan *p, const struct dl_torus *t, const uint32_t *nodes)
{
	struct dl_fabric *f = p->all;
	unsigned int by = p->request->by;
	int err = 0;

	for (uint32_t port = 0; !err && port < t->fabric->nports; port++) {
		uint32_t peer = t->fabric->ports[port].peer, a, b;

		if (peer == DL_NONE || t->port_dir[port] == DL_TORUS_DIRS ||
		    dl_torus_dir_dim(t->port_dir[port]) == p->request->dim)
			continue;
		a = t->fabric->nodes[t->fabric->ports[port].node].sw;
		b = t->fabric->nodes[t->fabric->ports[peer].node].sw;
		for (unsigned int k = 0; !err && k < by && nodes[a * by] && nodes[b * by]; k++)
			err = dl_fabric_connect(f,
						f->nodes[nodes[a * by + k]].first_port +
							t->fabric->ports[port].num,
						f->nodes[nodes[b * by + k]].first_port +
							t->fabric->ports[peer].num);
	}
	return err;
}

static int grow_add_planes(struct grow_plan *p, const struct dl_torus *t)
{
	uint32_t c[DL_TORUS_DIMS], by = p->request->by;
	uint32_t *nodes = calloc(t->fabric->nswitches * (size_t)by + 1, sizeof(*nodes));
	int err = nodes ? 0 : -ENOMEM;

	for (uint32_t site = 0; !err && site < t->nsites; site++) {
		uint32_t sw = t->site_sw[site];

		dl_torus_site_coord(&t->grid, site, c);
		if (sw == DL_NONE || c[p->request->dim] + 1 != t->grid.radix[p->request->dim])
			continue;
		err = grow_add_column(p, sw, c, &nodes[sw * by]);
		if (!err)
			err = grow_join_column(p, t, site, &nodes[sw * by]);
	}
	if (!err)
		err = grow_copy_cables(p, t, nodes);
	if (!err)
		err = dl_fabric_finish(p->all, NULL);
	if (!err)
		err = dl_fabric_assign_lids(p->all, 0);
	free(nodes);
	return err;
}

/* ---- planes that go ------------------------------------------------------ */

/*
 * The port of the first plane that a port of the last plane that stays will lead to: as the
 * same port number of the last plane of all does.  So what has grown comes back with parallel
 * cables as they were.  0: that one closes no ring.
 */
static unsigned int grow_closing_port(const struct grow_plan *p, const struct dl_torus *t,
				      const uint32_t at[DL_TORUS_DIMS], unsigned int num)
{
	unsigned int dim = p->request->dim;
	uint32_t c[DL_TORUS_DIMS] = { at[0], at[1], at[2] }, sw;

	c[dim] = t->grid.radix[dim] - 1;
	sw = t->site_sw[dl_torus_site(&t->grid, c)];
	if (sw == DL_NONE || num > dl_fabric_switch_node(t->fabric, sw)->nports ||
	    t->port_dir[grow_port(t->fabric, sw, num)] != dl_torus_dir(dim, false))
		return 0;
	return t->fabric->ports[t->fabric->ports[grow_port(t->fabric, sw, num)].peer].num;
}

/* The cables that will close each ring without them. */
static int grow_close_rings(struct grow_plan *p, const struct dl_torus *t)
{
	unsigned int dim = p->request->dim;
	unsigned int plus = dl_torus_dir(dim, false), minus = dl_torus_dir(dim, true);
	uint32_t c[DL_TORUS_DIMS];
	const uint8_t *out;
	bool alike;
	int err = 0;

	for (uint32_t site = 0; !err && site < t->nsites && !t->grid.mesh[dim]; site++) {
		uint32_t first = t->site_sw[site], last, n, m;

		dl_torus_site_coord(&t->grid, site, c);
		if (c[dim] || first == DL_NONE)
			continue;
		c[dim] = p->small.radix[dim] - 1;
		last = p->site_sw[dl_torus_site(&p->large, c)];
		if (last == DL_NONE)
			continue;
		out = dl_torus_group(t, last, plus);
		n = dl_torus_group_size(t, last, plus);
		m = dl_torus_group_size(t, first, minus);
		alike = true;
		for (uint32_t i = 0; i < n; i++)
			alike &= grow_closing_port(p, t, c, out[i]) != 0;
		for (uint32_t i = 0; !err && i < n && i < m; i++)
			err = grow_add_cable(p, grow_port(p->all, last, out[i]),
					     grow_port(p->all, first,
						       alike ? grow_closing_port(p, t, c, out[i]) :
							       dl_torus_group(t, first, minus)[i]),
					     0, 0);
	}
	return err;
}

/* ---- when ---------------------------------------------------------------- */

/* The number of a column or ring: of the coordinates but for one dimension, and the plane. */
static uint32_t grow_number(const struct grow_plan *p, uint32_t site, unsigned int along)
{
	uint32_t c[DL_TORUS_DIMS], radix[DL_TORUS_DIMS], n = 0;
	unsigned int dim = p->request->dim;

	dl_torus_site_coord(&p->large, site, c);
	memcpy(radix, p->large.radix, sizeof(radix));
	if (along != dim) {
		c[dim] -= p->small.radix[dim];
		radix[dim] -= p->small.radix[dim];
	}
	for (unsigned int d = DL_TORUS_DIMS; d-- > 0;)
		if (d != along)
			n = n * radix[d] + c[d];
	return n;
}

/* The rings within the new planes along dimensions before this one. */
static uint32_t grow_rings_before(const struct grow_plan *p, unsigned int before)
{
	uint32_t sites = dl_torus_grid_sites(&p->large) - dl_torus_grid_sites(&p->small);
	uint32_t rings = 0;

	for (unsigned int d = 0; d < before; d++)
		if (d != p->request->dim && p->large.radix[d] > 1)
			rings += sites / p->large.radix[d];
	return rings;
}

/* The step of a cable of a new switch: with its column, with its ring, or adapters last. */
static uint32_t grow_step(const struct grow_plan *p, uint32_t port)
{
	const struct dl_fabric *f = p->all;
	uint32_t sw = f->nodes[f->ports[port].node].sw, far = dl_fabric_peer_switch(f, port);
	unsigned int dim = p->request->dim, dir = DL_TORUS_DIRS;

	if (far == DL_NONE)
		return p->config + 1 + grow_rings_before(p, DL_TORUS_DIMS);
	if (p->sw_site[far] != DL_NONE)
		dir = dl_torus_direction(&p->large, p->sw_site[sw], p->sw_site[far]);
	if (dir == DL_TORUS_DIRS || dl_torus_dir_dim(dir) == dim)
		return 1 + grow_number(p, p->sw_site[sw], dim) / p->request->columns;
	return p->config + 1 + grow_rings_before(p, dl_torus_dir_dim(dir)) +
	       grow_number(p, p->sw_site[sw], dl_torus_dir_dim(dir));
}

/* All cables of the larger fabric; those that close rings are listed already. */
static int grow_list_cables(struct grow_plan *p)
{
	const struct dl_fabric *f = p->all;
	uint32_t columns = dl_torus_grid_sites(&p->small) / p->small.radix[p->request->dim];
	int err = 0;

	p->config = 1 + (columns + p->request->columns - 1) / p->request->columns;
	p->nsteps = p->config;
	for (uint32_t i = 0; i < p->ncables; i++) {
		uint32_t sw = f->nodes[f->ports[p->cables[i].a].node].sw;

		p->cables[i].off =
			1 + grow_number(p, p->sw_site[sw], p->request->dim) / p->request->columns;
	}
	for (uint32_t port = 0; !err && port < f->nports; port++) {
		uint32_t peer = f->ports[port].peer, on = 0;

		if (peer == DL_NONE || peer < port)
			continue;
		if (grow_is_new(p, f->nodes[f->ports[port].node].sw))
			on = grow_step(p, port);
		else if (grow_is_new(p, f->nodes[f->ports[peer].node].sw))
			on = grow_step(p, peer);
		if (on > p->nsteps)
			p->nsteps = on;
		err = grow_add_cable(p, port, peer, on, UINT32_MAX);
	}
	return err;
}

int grow_fabric(struct grow_plan *p, uint32_t state, struct dl_fabric **out)
{
	struct dl_fabric *f = p->all;
	bool *dead = calloc(f->nnodes + 1ul, sizeof(*dead));
	bool *cut = calloc(f->nports + 1ul, sizeof(*cut));
	int err = dead && cut ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < f->nnodes; i++)
		dead[i] = true;
	for (uint32_t i = 0; !err && i < f->nports; i++)
		f->ports[i].peer = DL_NONE;
	for (uint32_t i = 0; !err && i < p->ncables; i++) {
		const struct grow_cable *c = &p->cables[i];

		if (!grow_alive(c, state))
			continue;
		err = dl_fabric_connect(f, c->a, c->b);
		dead[f->ports[c->a].node] = dead[f->ports[c->b].node] = false;
	}
	if (!err)
		err = dl_fabric_degrade(f, dead, cut, out);
	free(dead);
	free(cut);
	return err;
}

/* ---- the whole ----------------------------------------------------------- */

/* Sites of the larger grid, by name where switches are new. */
static int grow_place(struct grow_plan *p, const struct dl_torus *t)
{
	uint32_t c[DL_TORUS_DIMS];

	p->sw_site = malloc((p->all->nswitches + 1ul) * sizeof(*p->sw_site));
	p->site_sw = malloc((dl_torus_grid_sites(&p->large) + 1ul) * sizeof(*p->site_sw));
	if (!p->sw_site || !p->site_sw)
		return -ENOMEM;
	memset(p->sw_site, 0xFF, p->all->nswitches * sizeof(*p->sw_site));
	memset(p->site_sw, 0xFF, dl_torus_grid_sites(&p->large) * sizeof(*p->site_sw));
	for (uint32_t sw = 0; sw < p->all->nswitches; sw++) {
		uint32_t at = DL_NONE;

		if (sw < t->fabric->nswitches && t->sw_site[sw] != DL_NONE) {
			dl_torus_site_coord(&t->grid, t->sw_site[sw], c);
			at = dl_torus_site(&p->large, c);
		} else if (sw >= t->fabric->nswitches &&
			   sscanf(dl_fabric_node_name(p->all, p->all->switches[sw]), "S_%u_%u_%u",
				  &c[0], &c[1], &c[2]) == 3) {
			at = dl_torus_site(&p->large, c);
		}
		p->sw_site[sw] = at;
		if (at != DL_NONE)
			p->site_sw[at] = sw;
	}
	return 0;
}

int grow_plan_make(const struct tool *tool, const struct grow_request *r,
		   const struct tool_input *in, struct grow_plan *p)
{
	const struct dl_torus *t = in->torus;
	uint32_t radix = t->grid.radix[r->dim];
	bool *nothing;
	int err;

	*p = (struct grow_plan){ .request = r, .small = t->grid, .large = t->grid };
	if (radix < 3 || (r->by < 0 && radix < 3u - r->by) ||
	    (r->by > 0 && radix + r->by > DL_TORUS_MAX_RADIX))
		return dl_fail(
			&tool->log, -EINVAL,
			"%c has radix %u: planes can be added to and removed from what keeps "
			"3 to %u",
			'x' + r->dim, radix, DL_TORUS_MAX_RADIX);
	(r->by > 0 ? &p->large : &p->small)->radix[r->dim] += r->by;
	nothing = calloc(in->fabric->nports + in->fabric->nnodes + 1ul, sizeof(*nothing));
	err = nothing ? dl_fabric_degrade(in->fabric, nothing, nothing, &p->all) : -ENOMEM;
	free(nothing);
	if (!err && r->by > 0)
		err = grow_add_planes(p, t);
	if (!err)
		err = grow_place(p, t);
	if (!err && r->by < 0)
		err = grow_close_rings(p, t);
	if (!err)
		err = grow_list_cables(p);
	if (err == -EBUSY || err == -EINVAL)
		return dl_fail(
			&tool->log, -EINVAL,
			"\"%s\" has no free port to connect the new plane in %c, where the plane "
			"before has port %u: free one",
			dl_fabric_node_name(in->fabric, p->lacking), 'x' + r->dim, p->lacks);
	return err;
}

void grow_plan_release(struct grow_plan *p)
{
	dl_fabric_free(p->all);
	free(p->site_sw);
	free(p->sw_site);
	free(p->cables);
	memset(p, 0, sizeof(*p));
}
