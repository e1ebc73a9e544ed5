/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Failures by name; see fail.h. */
#include "config.h"

#include <stdlib.h>

#include "fail.h"
#include "find.h"

#define MAX_SEEDS 8

/* What a name stands for: a cable by its port, or with DL_NONE a node. */
struct fail_named {
	uint32_t node, port;
};

/* One name: a node dies, or a cable is cut. */
static int fail_mark(const struct find *f, const struct dl_log *log, const char *name, bool *dead,
		     bool *cut, struct fail_named *out)
{
	const struct dl_fabric *fabric = f->in->fabric;
	int err = find_node_or_port(f, log, name, &out->node, &out->port);

	if (err)
		return err;
	if (out->port == DL_NONE) {
		dead[out->node] = true;
		return 0;
	}
	if (fabric->ports[out->port].peer == DL_NONE)
		return dl_fail(log, -EINVAL, "--fail: there is no cable at %s", name);
	cut[out->port] = true;
	return 0;
}

/* Is it named before, by either end, or does a cable go with a node that fails? */
static bool fail_is_implied(const struct dl_fabric *f, const struct fail_named *named, uint32_t i,
			    const bool *dead)
{
	uint32_t port = named[i].port, peer = port == DL_NONE ? DL_NONE : f->ports[port].peer;
	bool implied = port != DL_NONE && (dead[f->ports[port].node] || dead[f->ports[peer].node]);

	for (uint32_t k = 0; k < i && !implied; k++)
		implied = port == DL_NONE ?
				  named[k].port == DL_NONE && named[k].node == named[i].node :
				  named[k].port == port || named[k].port == peer;
	return implied;
}

static json_t *fail_json(const struct tool_input *in, const struct fail_named *n)
{
	uint32_t peer;

	if (n->port == DL_NONE)
		return tool_json_placed_node(&in->coords, in->fabric, n->node);
	peer = in->fabric->ports[n->port].peer;
	return json_pack("{s:o, s:o}", "from",
			 tool_json_placed_port(&in->coords, in->fabric, n->port), "to",
			 tool_json_placed_port(&in->coords, in->fabric, peer));
}

static int fail_degrade(const struct dl_log *log, const struct tool_names *l,
			const struct tool_input *whole, struct dl_fabric **out, json_t *failed)
{
	bool *dead = calloc(whole->fabric->nnodes + 1, sizeof(*dead));
	bool *cut = calloc(whole->fabric->nports + 1, sizeof(*cut));
	struct fail_named *named = calloc(l->n + 1ul, sizeof(*named));
	struct find find = { 0 };
	int err = dead && cut && named ? find_begin(&find, whole) : -ENOMEM;

	for (uint32_t i = 0; !err && i < l->n; i++)
		err = fail_mark(&find, log, l->names[i], dead, cut, &named[i]);
	for (uint32_t i = 0; !err && i < l->n; i++)
		if (!fail_is_implied(whole->fabric, named, i, dead))
			json_array_append_new(failed, fail_json(whole, &named[i]));
	if (!err)
		err = dl_fabric_degrade(whole->fabric, dead, cut, out);
	if (!err && !(*out)->nswitches)
		err = dl_fail(log, -EINVAL, "--fail: no switch is left");
	find_end(&find);
	free(dead);
	free(cut);
	free(named);
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
