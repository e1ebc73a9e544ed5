/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which switches make a shard of an emulation (see shard.c).
 *
 * Problem.  Parts of the same size, neighbours together, with few links between
 * them.
 *
 * Method.  From a switch at the rim a straight line leads as far as one
 * shortest path alone does; half of the switches, those nearer to its beginning
 * than to its end, make one part; and so on with both.  In a torus that cuts
 * between planes.  Where distance from the beginning alone cuts fewer links, it
 * counts.
 *
 * Complexity: O(switches * (ports + log switches) * log shards).
 */
#include "config.h"

#include "emu/run.h"

struct division {
	const struct dl_emu *e;
	uint16_t *shard; /* by switch; while it is divided: of its part */
	uint32_t *order; /* switches */
	uint32_t *queue;
	int32_t *near, *far; /* by switch: distances from two ends of a part */
	uint32_t *seen;	     /* by switch: search in which it was, and */
	bool *forked;	     /* whether several shortest paths lead to it */
	int64_t *key;
	uint32_t search;
};

/* The switch behind a port, if it belongs to the same part; else DL_EMU_NIL. */
static uint32_t neighbour_switch(const struct division *d, uint32_t sw, unsigned int number)
{
	const struct dl_emu *e = d->e;
	uint32_t port = e->switches[sw].ports[number];
	uint32_t peer = port == DL_EMU_NIL ? DL_EMU_NIL : e->ports[port].peer;
	uint32_t to = peer == DL_EMU_NIL ? DL_EMU_NIL : e->ports[peer].sw;

	return to != DL_EMU_NIL && d->shard[to] == d->shard[sw] ? to : DL_EMU_NIL;
}

/* Behind all others: the next one of a part that was not reached. */
static void go_elsewhere(struct division *d, const uint32_t *part, uint32_t at, int32_t *distance)
{
	while (d->seen[*part] == d->search)
		part++;
	d->queue[at] = *part;
	d->seen[*part] = d->search;
	d->forked[*part] = true;
	distance[*part] = at ? distance[d->queue[at - 1]] + 1 : 0;
}

/*
 * Distances of a part's switches from one of them; who is cut off comes last.
 * Returns the farthest one, or the farthest at the end of a straight line, to
 * which there is one shortest path alone.
 */
static uint32_t measure_part(struct division *d, const uint32_t *part, uint32_t n, uint32_t start,
			     int32_t *distance, bool straight)
{
	uint32_t tail = 1, end = start;

	d->search++;
	d->queue[0] = start;
	d->seen[start] = d->search;
	d->forked[start] = false;
	distance[start] = 0;
	for (uint32_t head = 0; head < n; head++) {
		uint32_t sw, to;

		if (head == tail)
			go_elsewhere(d, part, tail++, distance);
		sw = d->queue[head];
		if (!straight || !d->forked[sw])
			end = sw;
		for (unsigned int p = 1; p < d->e->switches[sw].nports; p++) {
			to = neighbour_switch(d, sw, p);
			if (to == DL_EMU_NIL)
				continue;
			if (d->seen[to] == d->search) {
				d->forked[to] |= distance[to] > distance[sw];
				continue;
			}
			d->seen[to] = d->search;
			d->forked[to] = d->forked[sw];
			distance[to] = distance[sw] + 1;
			d->queue[tail++] = to;
		}
	}
	return end;
}

static int by_distance(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/*
 * The first `here` switches by their distance from one end, or by how much
 * nearer they are to it than to the other, form a part of their own.  Returns
 * how many links it has to the rest.
 */
static uint32_t cut_part(struct division *d, uint32_t *part, uint32_t n, uint32_t here, bool both)
{
	uint32_t links = 0;

	for (uint32_t i = 0; i < n; i++)
		d->key[i] = (int64_t)(d->near[part[i]] - (both ? d->far[part[i]] : 0)) *
				    (INT64_C(1) << 32) +
			    part[i];
	qsort(d->key, n, sizeof(*d->key), by_distance);
	d->search++;
	for (uint32_t i = 0; i < n; i++) {
		part[i] = (uint32_t)d->key[i];
		if (i < here)
			d->seen[part[i]] = d->search;
	}
	for (uint32_t i = 0; i < here; i++)
		for (unsigned int p = 1; p < d->e->switches[part[i]].nports; p++) {
			uint32_t to = neighbour_switch(d, part[i], p);

			links += to != DL_EMU_NIL && d->seen[to] != d->search;
		}
	return links;
}

static void divide_part(struct division *d, uint32_t *part, uint32_t n, uint32_t shards)
{
	uint16_t first = d->shard[part[0]];
	uint32_t half = shards / 2, here = (uint64_t)n * half / shards, end;

	if (shards == 1)
		return;
	end = measure_part(d, part, n, part[0], d->near, false);
	end = measure_part(d, part, n, end, d->near, true);
	measure_part(d, part, n, end, d->far, false);
	if (cut_part(d, part, n, here, false) < cut_part(d, part, n, here, true))
		cut_part(d, part, n, here, false);
	for (uint32_t i = here; i < n; i++)
		d->shard[part[i]] = first + half;
	divide_part(d, part, here, half);
	divide_part(d, part + here, n - here, shards - half);
}

/* By port: the shard of its switch, or of the switch that its adapter is at. */
int dl_emu_divide(struct dl_emu *e, uint32_t shards)
{
	uint32_t n = e->f->nswitches;
	struct dl_arena arena = { 0 };
	struct division d = {
		.e = e,
		.shard = dl_arena_array(&arena, n, sizeof(*d.shard)),
		.order = dl_arena_array(&arena, n, sizeof(*d.order)),
		.queue = dl_arena_array(&arena, n, sizeof(*d.queue)),
		.near = dl_arena_array(&arena, n, sizeof(*d.near)),
		.far = dl_arena_array(&arena, n, sizeof(*d.far)),
		.seen = dl_arena_array(&arena, n, sizeof(*d.seen)),
		.forked = dl_arena_array(&arena, n, sizeof(*d.forked)),
		.key = dl_arena_array(&arena, n, sizeof(*d.key)),
	};
	bool fits = d.shard && d.order && d.queue && d.near && d.far && d.seen && d.forked && d.key;

	e->split.of = dl_arena_array(&e->arena, e->nports + 1ul, sizeof(*e->split.of));
	fits = fits && e->split.of;
	for (uint32_t i = 0; fits && i < n; i++)
		d.order[i] = i;
	if (fits)
		divide_part(&d, d.order, n, shards);
	for (uint32_t i = 0; fits && i < e->nports; i++) {
		const struct dl_emu_link_port *p = &e->ports[i];
		uint32_t sw = p->sw == DL_EMU_NIL && p->peer != DL_EMU_NIL ? e->ports[p->peer].sw :
									     p->sw;

		e->split.of[i] = sw == DL_EMU_NIL ? 0 : d.shard[sw];
	}
	dl_arena_free(&arena);
	return fits ? 0 : -ENOMEM;
}
