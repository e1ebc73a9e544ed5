/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which switches and cables fail in a scenario; see whatif.h.
 *
 * Random scenarios take the first of a shuffled list, by numbers that depend
 * on the seed and the scenario alone.  All scenarios are numbered by the sets
 * of switches in lexicographic order, and within each by the sets of cables
 * between the switches that are left; a set is found from its number by
 * counting those before it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "whatif.h"

#define MAX_ITEMS 1000000 /* of an exhaustive campaign */

/* Sets of k out of n, or UINT64_MAX when they are too many to number. */
static uint64_t whatif_choose(uint64_t n, uint64_t k)
{
	unsigned __int128 sets = 1;

	if (k > n)
		return 0;
	if (k > n - k)
		k = n - k;
	for (uint64_t i = 1; i <= k; i++) {
		sets = sets * (n - k + i) / i;
		if (sets > MAX_ITEMS)
			return UINT64_MAX;
	}
	return sets;
}

/* The set number `rank` of k out of n, as ascending places in a list. */
static void pick_set(uint32_t *out, uint32_t n, uint32_t k, uint64_t rank)
{
	uint32_t place = 0;

	for (; k; k--, place++) {
		uint64_t with;

		while ((with = whatif_choose(n - place - 1, k - 1)) <= rank) {
			rank -= with;
			place++;
		}
		*out++ = place;
	}
}

/* Move k random ones of n to the front. */
static void whatif_shuffle(uint32_t *list, uint32_t n, uint32_t k, struct dl_random *random)
{
	uint32_t j, t;

	for (uint32_t i = 0; i < k; i++) {
		j = i + dl_random_below(random, n - i);
		t = list[i];
		list[i] = list[j];
		list[j] = t;
	}
}

int whatif_failures_init(struct whatif_failures *f, const struct whatif *w)
{
	const struct dl_fabric *fabric = w->whole.fabric;
	uint32_t most = w->nswitches > w->ncables ? w->nswitches : w->ncables;

	*f = (struct whatif_failures){ 0 };
	f->switches = dl_arena_array(&f->arena, w->fail_switches + 1, sizeof(*f->switches));
	f->cables = dl_arena_array(&f->arena, w->fail_cables + 1, sizeof(*f->cables));
	f->pool = dl_arena_array(&f->arena, most + 1, sizeof(*f->pool));
	f->dead = dl_arena_array(&f->arena, fabric->nnodes + 1, sizeof(*f->dead));
	f->cut = dl_arena_array(&f->arena, fabric->nports + 1, sizeof(*f->cut));
	return f->switches && f->cables && f->pool && f->dead && f->cut ? 0 : -ENOMEM;
}

void whatif_failures_release(struct whatif_failures *f)
{
	dl_arena_free(&f->arena);
}

/* Fill the pool with the cables between switches that are left. */
static uint32_t whatif_list_cables(struct whatif_failures *f, const struct whatif *w)
{
	const struct dl_fabric *fabric = w->whole.fabric;
	uint32_t n = 0;

	for (uint32_t i = 0; i < w->ncables; i++) {
		uint32_t port = w->cables[i];

		if (!f->dead[fabric->ports[port].node] &&
		    !f->dead[dl_fabric_peer_node(fabric, port)])
			f->pool[n++] = port;
	}
	return n;
}

static void fail_switch(struct whatif_failures *f, const struct whatif *w, uint32_t sw)
{
	f->switches[f->nswitches++] = sw;
	f->dead[w->whole.fabric->switches[sw]] = true;
}

static void fail_cable(struct whatif_failures *f, uint32_t port)
{
	f->cables[f->ncables++] = port;
	f->cut[port] = true;
}

static void whatif_heal(struct whatif_failures *f, const struct whatif *w)
{
	for (uint32_t i = 0; i < f->nswitches; i++)
		f->dead[w->whole.fabric->switches[f->switches[i]]] = false;
	for (uint32_t i = 0; i < f->ncables; i++)
		f->cut[f->cables[i]] = false;
	f->nswitches = f->ncables = 0;
}

static void fail_set_of_switches(struct whatif_failures *f, const struct whatif *w, uint64_t set)
{
	pick_set(f->pool, w->nswitches, w->fail_switches, set);
	for (uint32_t i = 0; i < w->fail_switches; i++)
		fail_switch(f, w, w->switches[f->pool[i]]);
}

void whatif_failures_draw(struct whatif_failures *f, const struct whatif *w, uint64_t item)
{
	struct dl_random random = { .seed = w->seed, .stream = item };
	uint32_t n, k = w->fail_cables;

	whatif_heal(f, w);
	if (w->exhaustive) {
		uint64_t set = dl_array_count_before(i, w->nsets, w->first[i] <= item) - 1;

		fail_set_of_switches(f, w, set);
		n = whatif_list_cables(f, w);
		pick_set(f->cables, n, k, item - w->first[set]);
		for (uint32_t i = 0; i < k; i++)
			fail_cable(f, f->pool[f->cables[i]]);
		return;
	}
	memcpy(f->pool, w->switches, w->nswitches * sizeof(*f->pool));
	whatif_shuffle(f->pool, w->nswitches, w->fail_switches, &random);
	for (uint32_t i = 0; i < w->fail_switches; i++)
		fail_switch(f, w, f->pool[i]);
	n = whatif_list_cables(f, w);
	/* So many switches fail that fewer cables are left: all fail. */
	k = k < n ? k : n;
	whatif_shuffle(f->pool, n, k, &random);
	for (uint32_t i = 0; i < k; i++)
		fail_cable(f, f->pool[i]);
}

/* ---- the plan ------------------------------------------------------------ */

static int list_parts(struct whatif *w)
{
	const struct dl_torus *t = w->whole.torus;

	w->switches = malloc((t->nsites + 1) * sizeof(*w->switches));
	w->cables = malloc((t->nlinks + 1) * sizeof(*w->cables));
	if (!w->switches || !w->cables)
		return -ENOMEM;
	for (uint32_t site = 0; site < t->nsites; site++) {
		uint32_t sw = t->site_sw[site], port;

		if (sw == DL_NONE)
			continue;
		w->switches[w->nswitches++] = sw;
		port = t->fabric->nodes[t->fabric->switches[sw]].first_port;
		for (uint32_t dir = 0; dir < DL_TORUS_DIRS; dir += 2)
			for (uint32_t k = 0; k < dl_torus_group_size(t, sw, dir); k++)
				w->cables[w->ncables++] = port + dl_torus_group(t, sw, dir)[k];
	}
	return 0;
}

/* Number all sets. */
static int count_sets(struct whatif *w)
{
	struct whatif_failures f;
	uint64_t total = 0, sets;
	int err;

	w->nsets = whatif_choose(w->nswitches, w->fail_switches);
	if (w->nsets > MAX_ITEMS)
		return -E2BIG;
	w->first = malloc((w->nsets + 1) * sizeof(*w->first));
	err = whatif_failures_init(&f, w);
	if (!w->first)
		err = -ENOMEM;
	for (uint64_t set = 0; !err && set < w->nsets; set++) {
		w->first[set] = total;
		whatif_heal(&f, w);
		fail_set_of_switches(&f, w, set);
		sets = whatif_choose(whatif_list_cables(&f, w), w->fail_cables);
		if (sets > MAX_ITEMS || total + sets > MAX_ITEMS)
			err = -E2BIG;
		total += sets;
	}
	w->nitems = total;
	whatif_failures_release(&f);
	return err;
}

int whatif_plan(struct whatif *w, uint64_t samples, const struct dl_log *log)
{
	int err = list_parts(w);

	if (err)
		return err;
	if (w->fail_switches > w->nswitches || w->fail_cables > w->ncables)
		return dl_fail(log, -EINVAL,
			       "%u switch%s and %u cable%s cannot fail: this torus has %u and %u",
			       w->fail_switches, tool_es(w->fail_switches), w->fail_cables,
			       tool_s(w->fail_cables), w->nswitches, w->ncables);
	w->nitems = samples;
	if (!w->exhaustive)
		return 0;
	err = count_sets(w);
	if (err == -E2BIG)
		err = dl_fail(log, -EINVAL,
			      "there are more than %d scenarios: leave "
			      "--exhaustive out and draw --samples",
			      MAX_ITEMS);
	return err;
}

void whatif_release(struct whatif *w)
{
	background_drop(&w->route_whole);
	free(w->switches);
	free(w->cables);
	free(w->first);
	dl_route_result_release(&w->whole_routed);
	tool_input_free(&w->whole);
}
