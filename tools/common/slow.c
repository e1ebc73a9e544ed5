/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Cables that are slower than others of their kind, as documents and for people. */
#include "config.h"

#include "input.h"

json_t *tool_json_speed(unsigned int width, unsigned int speed)
{
	return width && speed ? json_sprintf("%ux%s", width, dl_fabric_speed_name(speed)) :
				json_null();
}

static json_t *slow_gbps(uint32_t rate)
{
	return json_real((double)rate / DL_FABRIC_RATE_GBIT);
}

/* A cable by one of its ends. */
static json_t *slow_cable(const struct tool_coords *c, const struct dl_fabric *f,
			  const struct dl_torus_speeds *speeds, uint32_t port)
{
	struct dl_fabric_speed_width agreed = dl_fabric_agreed(f, port);

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "from", tool_json_placed_port(c, f, port),
			 "to", tool_json_placed_port(c, f, f->ports[port].peer), "speed",
			 tool_json_speed(agreed.width, agreed.speed), "gbps",
			 slow_gbps(speeds->rate[port]), "usual_gbps",
			 slow_gbps(speeds->usual[port]));
}

/* Is this the end with the lesser GUID, or of one node the lesser number? */
static bool slow_is_first(const struct dl_fabric *f, uint32_t port)
{
	const struct dl_fabric_port *p = &f->ports[port], *q = &f->ports[p->peer];
	uint64_t near = f->nodes[p->node].guid, far = f->nodes[q->node].guid;

	return near != far ? near < far : p->num < q->num;
}

json_t *tool_json_slow(const struct tool_coords *c, const struct dl_fabric *f)
{
	struct dl_torus_speeds speeds;
	json_t *list = json_array();

	if (dl_torus_speeds_init(&speeds, f, &c->grid, c->site)) {
		json_decref(list);
		return NULL;
	}
	/* By GUID: a file may have the nodes in any order. */
	for (uint32_t i = 0; i < f->nnodes; i++) {
		const struct dl_fabric_node *n = &f->nodes[f->by_guid[i]];

		for (uint32_t p = n->first_port; p <= n->first_port + n->nports; p++)
			if (speeds.slow[p] && slow_is_first(f, p))
				json_array_append_new(list, slow_cable(c, f, &speeds, p));
	}
	dl_torus_speeds_release(&speeds);
	return list;
}
