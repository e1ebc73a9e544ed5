/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Coordinates for reports on a snapshot; see sites.h. */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sites.h"
#include "dateline/base.h"
#include "dateline/route.h"

/* ---- by discovery ------------------------------------------------------ */

static int discover(const struct dl_log *log, const struct dl_fabric *f,
		    const struct dl_torus_config *config, struct tool_coords *c)
{
	size_t size = f->nswitches * sizeof(*c->site);
	struct dl_torus *torus;
	int err = dl_torus_discover(f, config, log, &torus);

	if (err)
		return err;
	c->grid = torus->grid;
	c->site = malloc(size + 1);
	if (c->site)
		memcpy(c->site, torus->sw_site, size);
	dl_torus_free(torus);
	return c->site ? 0 : -ENOMEM;
}

static int from_config(const struct tool *tool, const struct dl_fabric *f,
		       const char *path, struct tool_coords *c)
{
	struct dl_torus_config *config;
	int err = dl_torus_config_read(path, &tool->log, &config);

	if (err)
		return err;
	err = discover(&tool->log, f, config, c);
	dl_torus_config_free(config);
	c->certain = true;
	return err;
}

/* Quietly: most fabrics are no torus, and that is no fault. */
static int from_cabling(const struct dl_fabric *f, struct tool_coords *c)
{
	struct dl_torus_config *config;
	int err = dl_torus_infer(f, NULL, &config);

	if (!err) {
		err = discover(NULL, f, config, c);
		dl_torus_config_free(config);
	}
	return err == -ENOMEM ? err : 0;
}

/* ---- by the engine's own list ------------------------------------------ */

static int read_switch(struct dl_text *text, const struct dl_fabric *f,
		       uint32_t coord[DL_TORUS_DIMS], uint32_t *sw)
{
	uint64_t value;
	uint32_t node;
	int err = 0;

	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++) {
		if (d && !dl_text_take(text, ','))
			return dl_text_expected(text, "\",\"");
		err = dl_text_number(text, 10, DL_TORUS_MAX_RADIX - 1,
				     "a coordinate, 0 to 254", &value);
		if (err)
			return err;
		coord[d] = value;
	}
	if (!dl_text_take_string(text, "GUID"))
		return dl_text_expected(text, "\"GUID\"");
	err = dl_text_number(text, 16, UINT64_MAX, "a GUID", &value);
	if (err)
		return err;
	node = dl_fabric_find_guid(f, value);
	*sw = node == DL_NONE ? DL_NONE : f->nodes[node].sw;
	return 0;
}

/* Is there a cable between the first and the last coordinate? */
static bool wraps(const struct dl_fabric *f, uint32_t (*coord)[DL_TORUS_DIMS],
		  const struct dl_torus_grid *g, unsigned int dim)
{
	for (uint32_t p = 0; p < f->nports; p++) {
		uint32_t peer = dl_fabric_peer_node(f, p), a, b;
		uint32_t node = f->ports[p].node;
		bool same = true;

		if (peer == DL_NONE || !dl_fabric_is_switch(f, node) ||
		    !dl_fabric_is_switch(f, peer))
			continue;
		a = f->nodes[node].sw;
		b = f->nodes[peer].sw;
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
			same &= d == dim || coord[a][d] == coord[b][d];
		if (same && !coord[a][dim] &&
		    coord[b][dim] == g->radix[dim] - 1)
			return true;
	}
	return false;
}

static int read_list(struct dl_text *text, const struct dl_fabric *f,
		     uint32_t (*coord)[DL_TORUS_DIMS], struct tool_coords *c)
{
	int err, state;

	for (uint32_t s = 0; s < f->nswitches; s++)
		c->site[s] = DL_NONE;
	while ((state = dl_text_next(text)) > 0) {
		uint32_t at[DL_TORUS_DIMS], sw = DL_NONE;

		if (!dl_text_take_string(text, "switch "))
			continue;
		err = read_switch(text, f, at, &sw);
		if (err)
			return err;
		for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
			if (at[d] >= c->grid.radix[d])
				c->grid.radix[d] = at[d] + 1;
		if (sw == DL_NONE)
			continue;
		memcpy(coord[sw], at, sizeof(at));
		c->site[sw] = 0;
	}
	return state;
}

static int from_list(const struct tool *tool, const struct dl_fabric *f,
		     const char *path, struct tool_coords *c)
{
	uint32_t(*coord)[DL_TORUS_DIMS] =
		calloc(f->nswitches + 1, sizeof(*coord));
	FILE *from = fopen(path, "r");
	struct dl_text text;
	int err = from ? -ENOMEM : -errno;

	dl_text_begin(&text, from, path, &tool->log);
	c->site = malloc((f->nswitches + 1) * sizeof(*c->site));
	if (from && coord && c->site)
		err = read_list(&text, f, coord, c);
	for (unsigned int d = 0; !err && d < DL_TORUS_DIMS; d++)
		c->grid.mesh[d] = c->grid.radix[d] > 2 &&
				  !wraps(f, coord, &c->grid, d);
	for (uint32_t s = 0; !err && s < f->nswitches; s++)
		if (c->site[s] != DL_NONE)
			c->site[s] = dl_torus_site(&c->grid, coord[s]);
	dl_text_end(&text);
	if (from)
		fclose(from);
	free(coord);
	c->certain = true;
	return err;
}

int tool_coords_find(const struct tool *tool, const struct dl_fabric *f,
		     const char *config, const char *dir, struct tool_coords *c)
{
	static const char *const lists[] = { "dateline-torus.dump",
					     "opensm-torus.dump", NULL };
	char path[PATH_MAX];

	memset(c, 0, sizeof(*c));
	for (unsigned int d = 0; d < DL_TORUS_DIMS; d++)
		c->grid.radix[d] = 1;
	if (config)
		return from_config(tool, f, config, c);
	for (unsigned int i = 0; lists[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, lists[i]);
		if (!access(path, R_OK))
			return from_list(tool, f, path, c);
	}
	return from_cabling(f, c);
}

void tool_coords_free(struct tool_coords *c)
{
	free(c->site);
	c->site = NULL;
}

bool tool_coords_of(const struct tool_coords *c, uint32_t sw,
		    uint32_t out[DL_TORUS_DIMS])
{
	if (!c->site || sw == DL_NONE || c->site[sw] == DL_NONE)
		return false;
	dl_torus_site_coord(&c->grid, c->site[sw], out);
	return true;
}

int tool_coords_path_sls(const struct tool_coords *c, struct dl_tables *t)
{
	const struct dl_fabric *f = t->fabric;
	uint32_t n = f->nswitches;
	int err = dl_tables_new_psl(t, n, n);

	if (err)
		return err;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			if (c->site[a] != DL_NONE && c->site[b] != DL_NONE)
				t->psl[a * (size_t)n + b] = dl_route_sl(
					&c->grid, c->site[a], c->site[b]);
	for (uint32_t lid = 1; lid <= t->top_lid; lid++) {
		uint32_t port = f->lid_port[lid];

		if (port == DL_NONE)
			continue;
		t->psl_src[port] = dl_fabric_access_switch(f, port);
		t->psl_dst[lid] = t->psl_src[port];
	}
	return 0;
}

int tool_coords_complete_sls(const struct tool *tool,
			     const struct tool_coords *coords,
			     struct dl_tables *t)
{
	if (t->psl || !coords->site || !coords->certain)
		return 0;
	dl_log(&tool->log, DL_LOG_INFO,
	       "no path SLs given: taken from the coordinates by the rule of "
	       "torus-2QoS");
	return tool_coords_path_sls(coords, t);
}
