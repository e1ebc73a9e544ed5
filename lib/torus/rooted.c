/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Coordinates for any connected fabric (rules A12), also at a cold start, with or
 * without a configuration.
 *
 * Problem.  Coordinates need a seed with all its switches and cables, or
 * surroundings from which radices can be inferred.  A badly damaged fabric has
 * neither, and must be routed all the same.
 *
 * Method.  Where the seeds of a configuration are of no use: first what the cabling
 * shows, with the radices of the configuration if there is one; then a torus of a
 * single site.  In that torus one switch, the root, is at (0,0,0), and all others are
 * off-torus switches with uplinks towards it (off_torus.c).  So all traffic goes
 * along a spanning tree, which closes no credit loop whatever SLs packets carry,
 * and all paths have the SL of their QoS level.
 *
 * The root is in the middle of a longest path that breadth-first search finds
 * from the switch with the lowest GUID: the same one at every start.
 *
 * Complexity: that of discovery, and three searches in O(ports).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

/* A breadth-first search: switches in the order of their distance, and from where. */
struct rooted_search {
	const struct dl_torus_graph *g;
	uint32_t *queue, *from; /* from[]: by switch; DL_NONE: not reached */
	uint32_t n;
};

/* Returns the last switch of those that are farthest. */
static uint32_t rooted_find_farthest(struct rooted_search *b, uint32_t start)
{
	const uint32_t *c, *end;
	uint32_t tail = 0;

	memset(b->from, 0xFF, b->n * sizeof(*b->from));
	b->from[start] = start;
	b->queue[tail++] = start;
	for (uint32_t head = 0; head < tail; head++) {
		for (c = dl_torus_neighbours(b->g, b->queue[head], &end); c < end; c++) {
			if (b->from[*c] != DL_NONE)
				continue;
			b->from[*c] = b->queue[head];
			b->queue[tail++] = *c;
		}
	}
	return b->queue[tail - 1];
}

static uint32_t rooted_find_middle(struct rooted_search *b, uint32_t start)
{
	uint32_t end = rooted_find_farthest(b, rooted_find_farthest(b, start));
	uint32_t half = 0;

	for (uint32_t sw = end; b->from[sw] != sw; sw = b->from[sw])
		half++;
	for (half /= 2; half; half--)
		end = b->from[end];
	return end;
}

/* The torus of one site; -EINVAL: there is no switch. */
static int rooted_make(const struct dl_fabric *f, const struct dl_torus_grid *grid, uint32_t *root,
		       struct dl_torus **out)
{
	struct dl_torus_graph g = { .first = NULL };
	struct rooted_search b = { .g = &g, .n = f->nswitches };
	uint32_t *sites = malloc((3 * b.n + 1ul) * sizeof(*sites)), first = DL_NONE;
	int err = !sites ? -ENOMEM : b.n ? dl_torus_graph_build(f, NULL, &g) : -EINVAL;

	if (!err) {
		for (uint32_t i = 0; first == DL_NONE; i++)
			first = f->nodes[f->by_guid[i]].sw;
		b.queue = sites + b.n;
		b.from = b.queue + b.n;
		*root = rooted_find_middle(&b, first);
		memset(sites, 0xFF, b.n * sizeof(*sites)); /* DL_NONE */
		sites[*root] = 0;
		err = dl_torus_make(f, grid, sites, out);
	}
	dl_torus_graph_free(&g);
	free(sites);
	return err;
}

bool dl_torus_is_rooted(const struct dl_torus *t)
{
	return t->nsites == 1 && t->nunplaced;
}

/* What fails here is no error yet: another attempt follows. */
static void rooted_demote(void *context, enum dl_log_level level, const char *message)
{
	dl_log(context, level == DL_LOG_ERROR ? DL_LOG_WARNING : level, "%s", message);
}

int dl_torus_discover_any(const struct dl_fabric *f, const struct dl_torus_grid *wanted,
			  const struct dl_log *log, struct dl_torus_config **c,
			  struct dl_torus **out)
{
	const struct dl_torus_grid grid = { .radix = { 1, 1, 1 }, .mesh = { true, true, true } };
	struct dl_log demoted = { rooted_demote, (void *)log, log ? log->progress : NULL };
	struct dl_torus_config *found = NULL;
	int err = dl_torus_discover_cabling(f, wanted, &demoted, &found, out);
	uint32_t root;

	if (err == -EINVAL || err == -ENOTSUP) {
		found = dl_torus_config_new(&grid, "(no coordinates)", 0);
		err = found ? rooted_make(f, &grid, &root, out) : -ENOMEM;
		if (!err)
			dl_log(log, DL_LOG_WARNING,
			       "no coordinates: all %u switches are routed along a spanning tree "
			       "from %s, at one SL for each QoS level",
			       f->nswitches, dl_torus_show_switch(f, root).text);
	}
	if (err || !c)
		dl_torus_config_free(found);
	else
		*c = found;
	return err;
}
