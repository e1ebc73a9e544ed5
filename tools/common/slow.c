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

json_t *tool_json_slow(const struct tool_coords *c, const struct dl_fabric *f)
{
	struct dl_torus_speeds speeds;
	json_t *list = json_array();

	if (dl_torus_speeds_init(&speeds, f, &c->grid, c->site)) {
		json_decref(list);
		return NULL;
	}
	for (uint32_t p = 0; p < f->nports; p++) {
		struct dl_fabric_speed_width agreed = dl_fabric_agreed(f, p);

		if (!speeds.slow[p] || p > f->ports[p].peer)
			continue;
		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "from",
						      tool_json_placed_port(c, f, p), "to",
						      tool_json_placed_port(c, f, f->ports[p].peer),
						      "speed",
						      tool_json_speed(agreed.width, agreed.speed),
						      "gbps", slow_gbps(speeds.rate[p]),
						      "usual_gbps", slow_gbps(speeds.usual[p])));
	}
	dl_torus_speeds_release(&speeds);
	return list;
}
