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

static uint32_t rooted_find_middle(const struct dl_torus_graph *g, uint32_t n, uint32_t start,
				   uint32_t *from, uint32_t *queue)
{
	uint32_t half = 0;

	/* To one of the farthest switches, and from there again. */
	for (unsigned int i = 0; i < 2; i++) {
		memset(from, 0xFF, n * sizeof(*from)); /* DL_NONE */
		start = queue[dl_torus_graph_search(g, start, from, queue) - 1];
	}
	for (uint32_t sw = start; from[sw] != sw; sw = from[sw])
		half++;
	for (half /= 2; half; half--)
		start = from[start];
	return start;
}

/* The torus of one site; -EINVAL: there is no switch. */
static int rooted_make(const struct dl_fabric *f, const struct dl_torus_grid *grid, uint32_t *root,
		       struct dl_torus **out)
{
	struct dl_torus_graph g = { .first = NULL };
	uint32_t n = f->nswitches, first = DL_NONE;
	uint32_t *sites = malloc((3 * n + 1ul) * sizeof(*sites));
	int err = !sites ? -ENOMEM : n ? dl_torus_graph_build(f, NULL, &g) : -EINVAL;

	if (!err) {
		for (uint32_t i = 0; first == DL_NONE; i++)
			first = f->nodes[f->by_guid[i]].sw;
		*root = rooted_find_middle(&g, n, first, sites + n, sites + 2 * n);
		memset(sites, 0xFF, n * sizeof(*sites)); /* DL_NONE */
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
