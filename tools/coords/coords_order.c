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

	*at = (struct coords_adapter){ .port = port,
				       .site = DL_NONE,
				       .along = DL_NONE,
				       .host = DL_NONE,
				       .namesake = DL_NONE };
	if (p->fabric->ports[port].peer == DL_NONE) {
		at->lacking = "no cable";
	} else if (sw == DL_NONE) {
		at->lacking = "on no switch";
	} else if (!site || site[sw] == DL_NONE) {
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

/* The length of the host's name that a description begins with; 0: it names none. */
static size_t coords_name_length(const char *desc)
{
	size_t len = strcspn(desc, " \t");

	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)desc[i]) && !strchr("._-", desc[i]))
			return 0;
	return *desc == '-' || is_product(desc, len) || is_reserved(desc, len) ? 0 : len;
}

static const char *coords_description(const struct coords_order *p, uint32_t adapter)
{
	return dl_fabric_node_name(p->fabric, p->fabric->ports[p->list[adapter].port].node);
}

/* Blanks, which end names, come before all that may stand in one: so do those of one name. */
static int compare_descriptions(const void *a, const void *b, void *order)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int sign = strcmp(coords_description(order, x), coords_description(order, y));

	return sign ? sign : (x > y) - (x < y);
}

static bool coords_same_name(const struct coords_order *p, uint32_t a, uint32_t b)
{
	const char *x = coords_description(p, a), *y = coords_description(p, b);
	size_t len = coords_name_length(x);

	return len == coords_name_length(y) && !strncmp(x, y, len);
}

/*
 * All adapters of one name, in order of descriptions, become one host, for now by the number
 * of its first.  False: some are namesakes, and the name is nobody's.
 */
static bool coords_unite(struct coords_order *p, const uint32_t *named, uint32_t n)
{
	uint32_t first = named[0];
	bool shared = false;

	for (uint32_t i = 1; i < n; i++) {
		struct coords_adapter *x = &p->list[named[i - 1]], *y = &p->list[named[i]];

		first = named[i] < first ? named[i] : first;
		if (strcmp(coords_description(p, named[i - 1]), coords_description(p, named[i])))
			continue;
		if (x->namesake == DL_NONE &&
		    p->fabric->ports[x->port].node != p->fabric->ports[y->port].node)
			x->namesake = named[i - 1];
		y->namesake = x->namesake;
		shared |= y->namesake != DL_NONE;
	}
	for (uint32_t i = 0; !shared && i < n; i++)
		p->list[named[i]].host = first;
	return !shared;
}

/* Hosts get their numbers in order of their first adapters. */
static int coords_number_hosts(struct coords_order *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct coords_adapter *at = &p->list[i];
		struct coords_host *h = &p->hosts[p->nhosts];
		const char *desc = coords_description(p, i);

		if (at->host != i) {
			at->host = at->host == DL_NONE ? DL_NONE : p->list[at->host].host;
			continue;
		}
		h->name = strndup(desc, coords_name_length(desc));
		if (!h->name)
			return -ENOMEM;
		h->adapter = i;
		if (i < p->nplaced && p->nhosts_placed++ && p->list[h[-1].adapter].site == at->site)
			h->beside = h[-1].beside + 1;
		at->host = p->nhosts++;
	}
	return 0;
}

static int coords_find_hosts(struct coords_order *p)
{
	uint32_t *named = malloc((p->n + 1ul) * sizeof(*named)), n = 0, end;

	p->hosts = calloc(p->n + 1ul, sizeof(*p->hosts));
	if (!named || !p->hosts) {
		free(named);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < p->n; i++)
		if (coords_name_length(coords_description(p, i)))
			named[n++] = i;
	p->unnamed = p->n - n;
	qsort_r(named, n, sizeof(*named), compare_descriptions, p);
	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && coords_same_name(p, named[i], named[end]);)
			end++;
		p->doubtful += !coords_unite(p, &named[i], end - i);
	}
	free(named);
	return coords_number_hosts(p);
}

/* ---- the whole --------------------------------------------------------- */

int coords_order_new(const struct dl_fabric *f, const struct dl_torus_grid *g, const uint32_t *site,
		     struct coords_order *out)
{
	uint32_t n = dl_torus_grid_sites(g);
	uint32_t *order = malloc((n + 1ul) * sizeof(*order));
	uint32_t *along = malloc((n + 1ul) * sizeof(*along));
	int err;

	*out = (struct coords_order){ .fabric = f, .grid = *g };
	out->list = malloc((f->nports + 1ul) * sizeof(*out->list));
	err = order && along && out->list ? dl_torus_curve(g, order) : -ENOMEM;
	for (uint32_t i = 0; !err && i < n; i++)
		along[order[i]] = i;
	if (!err) {
		coords_add_all(out, site, along);
		qsort_r(out->list, out->n, sizeof(*out->list), compare_adapters, (void *)f);
		err = coords_find_hosts(out);
	}
	free(order);
	free(along);
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
