/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Failures by name; see fail.h. */
#include "config.h"

#include <stdlib.h>

#include "fail.h"
#include "find.h"

#define MAX_SEEDS 8

/* One name: a node dies, or a cable is cut. */
static int fail_mark(const struct find *f, const struct dl_log *log, const char *name, bool *dead,
		     bool *cut, json_t *failed)
{
	const struct dl_fabric *fabric = f->in->fabric;
	const struct tool_coords *c = &f->in->coords;
	uint32_t node, port, peer;
	int err = find_node_or_port(f, log, name, &node, &port);

	if (err)
		return err;
	if (port == DL_NONE) {
		dead[node] = true;
		json_array_append_new(failed, tool_json_placed_node(c, fabric, node));
		return 0;
	}
	peer = fabric->ports[port].peer;
	if (peer == DL_NONE)
		return dl_fail(log, -EINVAL, "--fail: there is no cable at %s", name);
	cut[port] = true;
	json_array_append_new(failed, json_pack("{s:o, s:o}", "from",
						tool_json_placed_port(c, fabric, port), "to",
						tool_json_placed_port(c, fabric, peer)));
	return 0;
}

static int fail_degrade(const struct dl_log *log, const struct tool_names *l,
			const struct tool_input *whole, struct dl_fabric **out, json_t *failed)
{
	bool *dead = calloc(whole->fabric->nnodes + 1, sizeof(*dead));
	bool *cut = calloc(whole->fabric->nports + 1, sizeof(*cut));
	struct find find = { 0 };
	int err = dead && cut ? find_begin(&find, whole) : -ENOMEM;

	for (uint32_t i = 0; !err && i < l->n; i++)
		err = fail_mark(&find, log, l->names[i], dead, cut, failed);
	if (!err)
		err = dl_fabric_degrade(whole->fabric, dead, cut, out);
	if (!err && !(*out)->nswitches)
		err = dl_fail(log, -EINVAL, "--fail: no switch is left");
	find_end(&find);
	free(dead);
	free(cut);
	return err;
}

/* Where switches are and datelines run is what it was before. */
static int fail_torus(const struct dl_log *log, const struct tool_input_options *o,
		      const struct tool_input *whole, struct tool_input *left)
{
	const struct dl_fabric *f = left->fabric;
	int err;

	if (dl_torus_is_rooted(whole->torus))
		return dl_torus_discover_any(f, NULL, log, &left->config, &left->torus);
	err = o->config ? dl_torus_config_read(o->config, log, &left->config) :
			  dl_torus_describe(whole->torus, MAX_SEEDS, &left->config);
	if (!err)
		err = dl_torus_discover(f, left->config, log, &left->torus);
	if (left->config && err == -EINVAL && o->any_fabric)
		err = dl_torus_discover_any(f, &left->config->grid, log, NULL, &left->torus);
	return err;
}

int fail_input(struct tool *tool, const struct tool_input_options *o, const struct tool_names *l,
	       const struct tool_input *whole, struct tool_input *left, json_t *failed)
{
	const struct dl_fabric_part part = { .from = DL_NONE,
					     .two_vls = !o->one_vl,
					     .level = DL_LOG_WARNING };
	int err = fail_degrade(&tool->log, l, whole, &left->snapshot.fabric, failed);

	if (!err)
		err = dl_fabric_main_part(left->snapshot.fabric, &part, &tool->log, &left->part);
	tool->finding |= err > 0;
	left->fabric = left->part ? left->part : left->snapshot.fabric;
	return err < 0 ? err : fail_torus(&tool->log, o, whole, left);
}
