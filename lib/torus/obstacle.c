/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Why the cabling shows no torus: the one obstacle that a person should look
 * at first, by name.
 *
 * In this order: there is no switch; the switches form islands; the cabling has
 * other radices than the configuration; a torus is recognisable, but too much of it
 * is wired differently; the fabric is a fat tree; switches have more neighbours than
 * three dimensions have directions; no switch has undamaged surroundings from which
 * to begin.
 *
 * Complexity: linear in the fabric; where radices were given, that of
 * dl_torus_infer().
 */
#include <stdlib.h>
#include <string.h>

#include "torus/internal.h"

#define MAX_LISTED 8
#define RIGHT 2 /* one switch in so many is right under what is near a torus */

struct obstacle {
	const struct dl_torus_solver *s;
	const struct dl_log *log;
	uint32_t most, least; /* switches with the most and the fewest neighbours */
};

/* Islands are the obstacle where the two largest are of one order. */
static bool name_islands(const struct obstacle *o)
{
	uint32_t n = o->s->n, islands = 0, size[2] = { 0 }, in[2] = { 0 };
	uint32_t *queue = malloc(n * sizeof(*queue));
	uint32_t *from = malloc(n * sizeof(*from));

	if (from)
		memset(from, 0xFF, n * sizeof(*from)); /* DL_NONE */
	for (uint32_t i = 0; queue && from && i < n; i++) {
		uint32_t sw = o->s->by_guid[i], count;
		unsigned int k;

		if (from[sw] != DL_NONE)
			continue;
		islands++;
		count = dl_torus_graph_search(&o->s->graph, sw, from, queue);
		k = count <= size[0];
		if (!k) {
			size[1] = size[0];
			in[1] = in[0];
		}
		if (count > size[k]) {
			size[k] = count;
			in[k] = sw;
		}
	}
	free(queue);
	free(from);
	if (islands < 2 || size[1] * 4 < size[0])
		return false;
	dl_log(o->log, DL_LOG_ERROR,
	       "the switches form %u islands without a cable between them: %u with %s, %u with "
	       "%s%s",
	       islands, size[0], dl_torus_show_switch(o->s->f, in[0]).text, size[1],
	       dl_torus_show_switch(o->s->f, in[1]).text, islands > 2 ? ", and smaller ones" : "");
	return true;
}

static bool has_adapters(const struct dl_fabric *f, uint32_t sw)
{
	const struct dl_fabric_node *n = dl_fabric_switch_node(f, sw);

	for (unsigned int p = 1; p <= n->nports; p++)
		if (dl_fabric_end_at(f, n, p) != DL_NONE)
			return true;
	return false;
}

/* Adapters only on switches that are not cabled to each other? */
static bool name_fat_tree(const struct obstacle *o)
{
	const struct dl_fabric *f = o->s->f;
	uint32_t leaves = 0, leaf = DL_NONE, spine = DL_NONE;

	for (uint32_t i = o->s->n; i--;) {
		uint32_t sw = o->s->by_guid[i];
		const uint32_t *c, *end;

		if (!has_adapters(f, sw)) {
			spine = sw;
			continue;
		}
		leaves++;
		leaf = sw;
		for (c = dl_torus_neighbours(&o->s->graph, sw, &end); c < end; c++)
			if (has_adapters(f, *c))
				return false;
	}
	if (leaves < 2 || spine == DL_NONE)
		return false;
	dl_log(o->log, DL_LOG_ERROR,
	       "the cabling is that of a fat tree: none of the %u switches with adapters, such as "
	       "%s, is cabled to another one, but to switches without, such as %s",
	       leaves, dl_torus_show_switch(o->s->f, leaf).text,
	       dl_torus_show_switch(o->s->f, spine).text);
	return true;
}

/* Do more than a few switches have more neighbours than there are directions? */
static bool name_crowded(const struct obstacle *o)
{
	uint32_t count = 0;

	for (uint32_t sw = 0; sw < o->s->n; sw++)
		count += dl_torus_degree(&o->s->graph, sw) > DIRS;
	if (count * 10 <= o->s->n)
		return false;
	dl_log(o->log, DL_LOG_ERROR,
	       "%u of %u switches have more than %d neighbours, and a torus of three dimensions "
	       "gives no more: %s has %u",
	       count, o->s->n, DIRS, dl_torus_show_switch(o->s->f, o->most).text,
	       dl_torus_degree(&o->s->graph, o->most));
	return true;
}

/* A torus with too many faults: name the first of them. */
static bool name_faults(const struct obstacle *o, const struct dl_torus_config *near,
			uint32_t wrong)
{
	struct dl_torus *t = NULL;

	if (wrong > o->s->n - o->s->n / RIGHT)
		return false;
	dl_log(o->log, DL_LOG_ERROR,
	       "too many wiring faults: the cabling resembles %s most, where %u of %u switches "
	       "are wired right, and nine in ten must be",
	       dl_torus_show_grid(&near->grid).text, o->s->n - wrong, o->s->n);
	if (dl_torus_discover(o->s->f, near, NULL, &t) ||
	    dl_torus_report_faults(t, MAX_LISTED, o->log))
		dl_log(o->log, DL_LOG_ERROR, "no memory to list them");
	dl_torus_free(t);
	return true;
}

static void name_damage(const struct obstacle *o)
{
	dl_log(o->log, DL_LOG_ERROR,
	       "too many faults: around none of the %u switches does the cabling show the rings of "
	       "a torus or mesh of at most three dimensions; fewest neighbours, %u, has %s",
	       o->s->n, dl_torus_degree(&o->s->graph, o->least),
	       dl_torus_show_switch(o->s->f, o->least).text);
}

/* Is it a torus of other radices than the configuration has? */
static bool name_radices(const struct obstacle *o, const struct dl_torus_grid *wanted)
{
	struct dl_torus_config *c = NULL;

	if (!wanted || dl_torus_infer(o->s->f, NULL, &c))
		return false;
	dl_log(o->log, DL_LOG_ERROR,
	       "the configuration contradicts the cabling: it says %s, and the cabling shows %s",
	       dl_torus_show_grid(wanted).text, dl_torus_show_grid(&c->grid).text);
	dl_torus_config_free(c);
	return true;
}

void dl_torus_name_obstacle(const struct dl_torus_solver *s, const struct dl_torus_grid *wanted,
			    const struct dl_torus_config *near, uint32_t wrong,
			    const struct dl_log *log)
{
	struct obstacle o = { .s = s, .log = log };

	if (!s->n) {
		dl_log(log, DL_LOG_ERROR, "there is no switch in the fabric");
		return;
	}
	o.most = o.least = s->by_guid[0];
	for (uint32_t i = 1; i < s->n; i++) {
		uint32_t sw = s->by_guid[i], degree = dl_torus_degree(&s->graph, sw);

		if (degree > dl_torus_degree(&s->graph, o.most))
			o.most = sw;
		if (degree < dl_torus_degree(&s->graph, o.least))
			o.least = sw;
	}
	if (!name_islands(&o) && !name_radices(&o, wanted) && !name_faults(&o, near, wrong) &&
	    !name_fat_tree(&o) && !name_crowded(&o))
		name_damage(&o);
	if (!wanted)
		dl_log(log, DL_LOG_ERROR,
		       "no torus or mesh was found from the cabling alone; if it is one, describe "
		       "it in a torus-2QoS.conf");
}
