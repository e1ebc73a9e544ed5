/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What happens when: a binary heap, ordered by time and then by age. */
#include "config.h"

#include <stdlib.h>

#include "sim.h"

static bool is_before(const struct sim_event *a, const struct sim_event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

void sim_events_add(struct sim *sim, uint64_t time, enum sim_event_kind kind, uint32_t node,
		    uint32_t port, struct sim_msg *msg)
{
	struct sim_events *q = &sim->events;
	struct sim_event e = { time, q->order++, kind, node, port, msg };
	uint32_t i;

	q->heap = dl_array_grow(q->heap, sizeof(*q->heap), q->n, 1, &q->cap);
	if (!q->heap)
		sim_die("no memory");
	for (i = q->n++; i && is_before(&e, &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = e;
}

struct sim_event sim_events_take(struct sim *sim)
{
	struct sim_events *q = &sim->events;
	struct sim_event first = q->heap[0], last = q->heap[--q->n];
	uint32_t i = 0, child;

	while ((child = 2 * i + 1) < q->n) {
		if (child + 1 < q->n && is_before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!is_before(&q->heap[child], &last))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	return first;
}

uint64_t sim_events_next(const struct sim *sim)
{
	return sim->events.n ? sim->events.heap[0].time : SIM_NEVER;
}
