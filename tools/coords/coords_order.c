/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Adapters and hosts along the curve; see coords.h.
 *
 * A host is what the first word of an adapter's description says, as drivers
 * set it: "node17 HCA-1".  Adapters of the same first word are one host's.
 * Drivers number the adapters of a host, so where two have the whole
 * description in common, two hosts have that name, or one claims the other's:
 * nobody can say which is meant, and neither is a host here.
 * Complexity: O(n log n) in adapters and sites.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "coords.h"
#include "dateline/torus.h"

/* ---- adapters ---------------------------------------------------------- */

static bool is_cabled(const struct dl_fabric *f, const struct dl_fabric_node *n)
{
	for (uint32_t num = 1; num <= n->nports; num++)
		if (f->ports[n->first_port + num].peer != DL_NONE)
			return true;
	return false;
}

static void coords_add_port(struct coords_order *p, const uint32_t *site, const uint32_t *along,
			    uint32_t port)
{
	struct coords_adapter *at = &p->list[p->n++];
	uint32_t sw = dl_fabric_peer_switch(p->fabric, port);

	at->port = port;
	at->site = at->along = at->host = at->namesake = DL_NONE;
	at->lacking = NULL;
	if (p->fabric->ports[port].peer == DL_NONE) {
		at->lacking = "no cable";
	} else if (sw == DL_NONE) {
		at->lacking = "on no switch";
	} else if (site[sw] == DL_NONE) {
		at->lacking = "its switch has no place in the torus";
	} else {
		at->site = site[sw];
		at->along = along[site[sw]];
		p->nplaced++;
	}
}

static void coords_add_all(struct coords_order *p, const uint32_t *site, const uint32_t *along)
{
	const struct dl_fabric *f = p->fabric;

	for (uint32_t i = 0; i < f->nnodes; i++) {
		const struct dl_fabric_node *n = &f->nodes[i];

		if (n->type != DL_FABRIC_CA)
			continue;
		for (uint32_t num = 1; num <= n->nports; num++) {
			uint32_t port = n->first_port + num;

			if (f->ports[port].peer != DL_NONE || (num == 1 && !is_cabled(f, n)))
				coords_add_port(p, site, along, port);
		}
	}
}

/* Along the curve, then by port of the switch; those without coordinates by GUID. */
static int compare_adapters(const void *a, const void *b, void *context)
{
	const struct dl_fabric *f = context;
	const struct coords_adapter *x = a, *y = b;
	const struct dl_fabric_port *xp = &f->ports[x->port], *yp = &f->ports[y->port];
	uint64_t xg = f->nodes[xp->node].guid, yg = f->nodes[yp->node].guid;

	if (x->along != y->along)
		return x->along < y->along ? -1 : 1;
	if (x->along != DL_NONE)
		return f->ports[xp->peer].num - f->ports[yp->peer].num;
	if (xg != yg)
		return xg < yg ? -1 : 1;
	return (x->port > y->port) - (x->port < y->port);
}

/* The number on the curve of each site. */
static int number_sites(const struct dl_torus_grid *g, uint32_t **out)
{
	uint32_t n = dl_torus_grid_sites(g), i;
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	uint32_t *along = malloc((n + 1) * sizeof(*along));
	int err = order && along ? dl_torus_curve(g, order) : -ENOMEM;

	for (i = 0; !err && i < n; i++)
		along[order[i]] = i;
	free(order);
	if (err)
		free(along);
	else
		*out = along;
	return err;
}

/* ---- hosts ------------------------------------------------------------- */

/* Product names stand where no driver has put the host's: "MT4119 ...". */
static bool is_product(const char *name, size_t len)
{
	if (len < 3 || strncmp(name, "MT", 2))
		return false;
	for (size_t i = 2; i < len; i++)
		if (!isdigit((unsigned char)name[i]))
			return false;
	return true;
}

/* Slurm means all nodes by these, whatever their case. */
static bool is_reserved(const char *name, size_t len)
{
	return (len == 7 && !strncasecmp(name, "DEFAULT", len)) ||
	       (len == 3 && !strncasecmp(name, "ALL", len));
}

/* The host's name, for free(); NULL with *err 0: none. */
static char *host_name(const struct dl_fabric *f, uint32_t node, int *err)
{
	const char *desc = dl_fabric_node_name(f, node);
	size_t len = strcspn(desc, " \t"), i;
	char *name;

	*err = 0;
	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)desc[i]) && !strchr("._-", desc[i]))
			return NULL;
	if (!len || *desc == '-' || is_product(desc, len) || is_reserved(desc, len))
		return NULL;
	name = strndup(desc, len);
	*err = name ? 0 : -ENOMEM;
	return name;
}

static const char *coords_description(const struct coords_order *p, const struct coords_host *h)
{
	return dl_fabric_node_name(p->fabric, p->fabric->ports[p->list[h->adapter].port].node);
}

static int coords_compare_descriptions(const void *a, const void *b, void *order)
{
	const struct coords_host *x = a, *y = b;
	int sign = strcmp(coords_description(order, x), coords_description(order, y));

	return sign ? sign : (x->adapter > y->adapter) - (x->adapter < y->adapter);
}

static int coords_compare_names(const void *a, const void *b)
{
	const struct coords_host *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->adapter > y->adapter) - (x->adapter < y->adapter);
}

static int compare_hosts(const void *a, const void *b)
{
	const struct coords_host *x = a, *y = b;

	return (x->adapter > y->adapter) - (x->adapter < y->adapter);
}

/* One host for each adapter that names one. */
static int name_hosts(struct coords_order *p)
{
	p->hosts = calloc(p->n + 1, sizeof(*p->hosts));
	if (!p->hosts)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t node = p->fabric->ports[p->list[i].port].node;
		struct coords_host *h = &p->hosts[p->nhosts];
		int err;

		h->name = host_name(p->fabric, node, &err);
		h->adapter = i;
		if (err)
			return err;
		if (h->name)
			p->nhosts++;
		else
			p->unnamed++;
	}
	return 0;
}

static void coords_mark_namesakes(struct coords_order *p)
{
	qsort_r(p->hosts, p->nhosts, sizeof(*p->hosts), coords_compare_descriptions, p);
	for (uint32_t i = 1; i < p->nhosts; i++) {
		uint32_t first = p->hosts[i - 1].adapter, next = p->hosts[i].adapter;
		struct coords_adapter *x = &p->list[first], *y = &p->list[next];

		if (strcmp(coords_description(p, &p->hosts[i - 1]),
			   coords_description(p, &p->hosts[i])))
			continue;
		if (x->namesake == DL_NONE &&
		    p->fabric->ports[x->port].node != p->fabric->ports[y->port].node)
			x->namesake = first;
		y->namesake = x->namesake;
	}
}

/* Hosts in order of their names; names that are shared are nobody's. */
static void coords_drop_namesakes(struct coords_order *p)
{
	uint32_t n = 0, end;

	qsort(p->hosts, p->nhosts, sizeof(*p->hosts), coords_compare_names);
	for (uint32_t i = 0; i < p->nhosts; i = end) {
		bool shared = false;

		for (end = i; end < p->nhosts && !strcmp(p->hosts[end].name, p->hosts[i].name);
		     end++)
			shared |= p->list[p->hosts[end].adapter].namesake != DL_NONE;
		for (uint32_t k = end; shared && k > i; k--)
			free(p->hosts[k - 1].name);
		for (uint32_t k = i; !shared && k < end; k++)
			p->hosts[n++] = p->hosts[k];
		p->doubtful += shared;
	}
	p->nhosts = n;
}

/* Then those of the same name become one. */
static int unite_hosts(struct coords_order *p)
{
	uint32_t *first = malloc((p->n + 1) * sizeof(*first)), i, n = 0;

	if (!first)
		return -ENOMEM;
	coords_mark_namesakes(p);
	coords_drop_namesakes(p);
	for (i = 0; i < p->nhosts; i++) {
		struct coords_host h = p->hosts[i];

		if (n && !strcmp(p->hosts[n - 1].name, h.name))
			free(h.name);
		else
			p->hosts[n++] = h;
		first[h.adapter] = p->hosts[n - 1].adapter;
		p->list[h.adapter].host = 0;
	}
	p->nhosts = n;
	qsort(p->hosts, n, sizeof(*p->hosts), compare_hosts);
	for (i = 0; i < n; i++) {
		struct coords_host *h = &p->hosts[i];

		p->list[h->adapter].host = i;
		if (h->adapter >= p->nplaced)
			continue;
		p->nhosts_placed++;
		h->beside = i && p->list[h[-1].adapter].site == p->list[h->adapter].site ?
				    h[-1].beside + 1 :
				    0;
	}
	for (i = 0; i < p->n; i++)
		if (p->list[i].host != DL_NONE)
			p->list[i].host = p->list[first[i]].host;
	free(first);
	return 0;
}

/* ---- the whole --------------------------------------------------------- */

int coords_order_new(const struct dl_fabric *f, const struct dl_torus_grid *g, const uint32_t *site,
		     struct coords_order *out)
{
	struct coords_order p = { .fabric = f, .grid = *g };
	uint32_t *along = NULL;
	int err = number_sites(g, &along);

	if (err)
		return err;
	p.list = malloc((f->nports + 1) * sizeof(*p.list));
	if (p.list) {
		coords_add_all(&p, site, along);
		qsort_r(p.list, p.n, sizeof(*p.list), compare_adapters, (void *)f);
		err = name_hosts(&p);
	} else {
		err = -ENOMEM;
	}
	free(along);
	if (!err)
		err = unite_hosts(&p);
	if (err)
		coords_order_free(&p);
	else
		*out = p;
	return err;
}

void coords_order_free(struct coords_order *p)
{
	for (uint32_t i = 0; i < p->nhosts; i++)
		free(p->hosts[i].name);
	free(p->hosts);
	free(p->list);
	memset(p, 0, sizeof(*p));
}

double coords_order_step(const struct coords_order *p)
{
	uint64_t hops = 0;

	for (uint32_t i = 1; i < p->nhosts_placed; i++)
		hops += dl_torus_site_distance(&p->grid, p->list[p->hosts[i - 1].adapter].site,
					       p->list[p->hosts[i].adapter].site);
	return p->nhosts_placed < 2 ? 0 : (double)hops / (p->nhosts_placed - 1);
}
