/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "grid_fabric.h"

uint32_t test_seed(uint32_t fallback)
{
	const char *text = getenv("DATELINE_TEST_SEED");
	uint32_t seed = text ? strtoul(text, NULL, 0) : fallback;

	print_message("seed %u (set DATELINE_TEST_SEED to change it)\n", seed);
	return seed;
}

bool grid_hop(const struct grid_fabric *g, uint32_t site, unsigned int dir)
{
	uint32_t next = dl_torus_site_next(&g->grid, site, dir);
	unsigned int dim = dl_torus_dir_dim(dir);

	if (next == DL_NONE || g->dead_switch[site] || g->dead_switch[next])
		return false;
	return !g->dead_hop[dir & 1 ? next : site][dim];
}

static void order(uint32_t *list, uint32_t n, struct test_random *shuffle)
{
	uint32_t i, j, swap;

	for (i = 0; i < n; i++)
		list[i] = i;
	for (i = n; shuffle && i-- > 1;) {
		j = test_random(shuffle, i + 1);
		swap = list[i];
		list[i] = list[j];
		list[j] = swap;
	}
}

/* Port numbers of a switch: place k is cabled to port ports[k]. */
static void port_order(uint8_t *ports, unsigned int n, struct test_random *shuffle)
{
	uint32_t list[DL_FABRIC_MAX_PORTS];
	unsigned int i;

	order(list, n, shuffle);
	for (i = 0; i < n; i++)
		ports[i] = list[i] + 1;
}

bool grid_connected(const struct grid_fabric *g)
{
	uint32_t queue[GRID_MAX_SITES], n = 0, i, dir, alive = 0;
	uint32_t sites = dl_torus_grid_sites(&g->grid);
	bool seen[GRID_MAX_SITES] = { false };

	for (i = 0; i < sites; i++)
		alive += !g->dead_switch[i];
	for (i = 0; i < sites && g->dead_switch[i]; i++)
		;
	if (i == sites)
		return false;
	queue[n++] = i;
	seen[i] = true;
	for (i = 0; i < n; i++) {
		for (dir = 0; dir < DL_TORUS_DIRS; dir++) {
			uint32_t next = dl_torus_site_next(&g->grid, queue[i], dir);

			if (!grid_hop(g, queue[i], dir) || seen[next])
				continue;
			seen[next] = true;
			queue[n++] = next;
		}
	}
	return n == alive;
}

void grid_build(struct grid_fabric *g)
{
	uint32_t sites = dl_torus_grid_sites(&g->grid), i, k, next, ca;
	unsigned int nports = DL_TORUS_DIRS * g->parallel + g->hosts + 1 + g->spare, dim, h;
	uint8_t(*ports)[DL_FABRIC_MAX_PORTS] = calloc(sites, sizeof(*ports));
	uint32_t *list = calloc(sites, sizeof(*list));
	struct dl_fabric *f;
	char id[32];

	assert_true(sites <= GRID_MAX_SITES && ports && list);
	assert_int_equal(dl_fabric_new(&f), 0);
	g->fabric = f;
	order(list, sites, g->shuffle);
	for (k = 0; k < sites; k++) {
		i = list[k];
		g->node[i] = DL_NONE;
		port_order(ports[i], nports, g->shuffle);
		if (g->dead_switch[i])
			continue;
		snprintf(id, sizeof(id), "S%u", i);
		assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_SWITCH, nports, 0x1000 + k, id,
						    &g->node[i]),
				 0);
	}
	for (i = 0; i < sites; i++) {
		for (h = 0; h < g->hosts && !g->dead_switch[i]; h++) {
			snprintf(id, sizeof(id), "H%u.%u", i, h);
			assert_int_equal(dl_fabric_add_node(f, DL_FABRIC_CA, 1,
							    0x100000 + i * 256 + h, id, &ca),
					 0);
			assert_int_equal(dl_fabric_connect(
						 f, f->nodes[ca].first_port + 1,
						 f->nodes[g->node[i]].first_port +
							 ports[i][DL_TORUS_DIRS * g->parallel + h]),
					 0);
		}
		for (dim = 0; dim < DL_TORUS_DIMS; dim++) {
			if (!grid_hop(g, i, dl_torus_dir(dim, false)))
				continue;
			next = dl_torus_site_next(&g->grid, i, dl_torus_dir(dim, false));
			for (h = 0; h < g->parallel; h++) {
				unsigned int out = 2 * dim * g->parallel + h;
				unsigned int in = out + g->parallel;

				assert_int_equal(
					dl_fabric_connect(
						f, f->nodes[g->node[i]].first_port + ports[i][out],
						f->nodes[g->node[next]].first_port +
							ports[next][in]),
					0);
			}
		}
	}
	free(ports);
	free(list);
	for (i = 0; i < f->nports; i++) {
		f->ports[i].vls = 8;
		f->ports[i].arb_high_cap = f->ports[i].arb_low_cap = 8;
	}
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	assert_int_equal(dl_fabric_assign_lids(f, g->lmc), 0);
}

void grid_seed(struct grid_fabric *g, uint32_t site, bool both_ways)
{
	uint32_t c[DL_TORUS_DIMS];
	unsigned int dim, dir;

	memset(&g->seed, 0, sizeof(g->seed));
	g->seed.from = g->fabric->nodes[g->node[site]].guid;
	g->seed.line = 2;
	dl_torus_site_coord(&g->grid, site, c);
	for (dim = 0; dim < DL_TORUS_DIMS; dim++) {
		g->seed.dateline[dim] = -(int32_t)c[dim];
		g->seed.has_dateline[dim] = true;
		for (dir = dl_torus_dir(dim, false); dir <= dl_torus_dir(dim, true); dir++) {
			uint32_t next = dl_torus_site_next(&g->grid, site, dir);

			if (!grid_hop(g, site, dir))
				continue;
			if (dir & 1 && g->seed.to[dir ^ 1] &&
			    (!both_ways || g->grid.radix[dim] == 2))
				continue;
			g->seed.to[dir] = g->fabric->nodes[g->node[next]].guid;
		}
	}
	g->config = (struct dl_torus_config){
		.grid = g->grid, .seeds = &g->seed, .nseeds = 1, .path = "test"
	};
}

void grid_free(struct grid_fabric *g)
{
	dl_fabric_free(g->fabric);
	g->fabric = NULL;
}
