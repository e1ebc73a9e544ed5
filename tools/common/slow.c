/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Cables that are slower than others of their kind, as documents and for people. */
#include "config.h"

#include <stdlib.h>

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

/* An end of a cable: the same order in whatever order a file has the nodes. */
struct slow_end {
	uint64_t guid;
	uint32_t num, port;
};

static struct slow_end slow_end_of(const struct dl_fabric *f, uint32_t port)
{
	return (struct slow_end){ f->nodes[f->ports[port].node].guid, f->ports[port].num, port };
}

static int slow_compare(const void *a, const void *b)
{
	const struct slow_end *x = a, *y = b;

	if (x->guid != y->guid)
		return x->guid < y->guid ? -1 : 1;
	return (x->num > y->num) - (x->num < y->num);
}

/* The lesser ends of all slow cables, sorted; returns how many. */
static uint32_t slow_ends(const struct dl_fabric *f, const bool *slow, struct slow_end *out)
{
	struct slow_end other;
	uint32_t n = 0;

	for (uint32_t p = 0; p < f->nports; p++) {
		if (!slow[p])
			continue;
		out[n] = slow_end_of(f, p);
		other = slow_end_of(f, f->ports[p].peer);
		if (slow_compare(&out[n], &other) < 0)
			n++;
	}
	qsort(out, n, sizeof(*out), slow_compare);
	return n;
}

json_t *tool_json_slow(const struct tool_coords *c, const struct dl_fabric *f)
{
	struct slow_end *end = calloc(f->nports + 1, sizeof(*end));
	struct dl_torus_speeds speeds;
	json_t *list = json_array();
	uint32_t n;

	if (!end || dl_torus_speeds_init(&speeds, f, &c->grid, c->site)) {
		free(end);
		json_decref(list);
		return NULL;
	}
	n = slow_ends(f, speeds.slow, end);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t p = end[i].port;
		struct dl_fabric_speed_width agreed = dl_fabric_agreed(f, p);

		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:o, s:o}", "from",
						      tool_json_placed_port(c, f, p), "to",
						      tool_json_placed_port(c, f, f->ports[p].peer),
						      "speed",
						      tool_json_speed(agreed.width, agreed.speed),
						      "gbps", slow_gbps(speeds.rate[p]),
						      "usual_gbps", slow_gbps(speeds.usual[p])));
	}
	dl_torus_speeds_release(&speeds);
	free(end);
	return list;
}
