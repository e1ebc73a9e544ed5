/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Is the channel dependency graph free of cycles?  Kept by a topological order
 * that is repaired for each new dependency (D. Pearce and P. Kelly, "A dynamic
 * topological sort algorithm for directed acyclic graphs", 2006): when a new edge
 * goes from a channel of higher rank to one of lower rank, only the channels
 * ranked in between can be concerned.  Those reached from the edge's head, and
 * those that reach its tail, share their ranks out among them again; if the tail
 * is among the former, the edge closes a cycle.
 *
 * Edges are not stored: the pairs of the judge's switches are the adjacency
 * lists.  An edge that closes a cycle is kept out of them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "judge.h"

void sim_order_init(struct sim *sim)
{
	struct sim_order *o = &sim->judge->order;
	uint32_t n = sim->nports * SIM_VLS;

	o->rank = sim_alloc(n, sizeof(*o->rank));
	o->stamp = sim_alloc(n, sizeof(*o->stamp));
	o->before = sim_alloc(n, sizeof(*o->before));
	o->after = sim_alloc(n, sizeof(*o->after));
	o->parent = sim_alloc(n, sizeof(*o->parent));
	for (uint32_t i = 0; i < n; i++)
		o->rank[i] = i;
}

static uint64_t pair_at(const struct sim *sim, const struct sim_node *s, unsigned int in,
			unsigned int out)
{
	const struct sim_judge *j = sim->judge;

	return j->pairs[j->pair_first[s - sim->nodes] + in * (s->nports + 1u) + out];
}

/* Channels that `c` waits for. */
static unsigned int list_after(const struct sim *sim, uint32_t c, uint32_t *list)
{
	const struct sim_port *p = &sim->ports[sim->ports[c / SIM_VLS].peer];
	const struct sim_node *s = &sim->nodes[p->node];
	unsigned int vl = c % SIM_VLS, n = 0;

	for (unsigned int out = 1; out <= s->nports; out++) {
		uint64_t bits = pair_at(sim, s, p->num, out) >> SIM_VLS * vl & 0xFF;

		for (; bits; bits &= bits - 1)
			list[n++] = (s->first + out) * SIM_VLS + (uint32_t)__builtin_ctzll(bits);
	}
	return n;
}

/* Channels that wait for `c`. */
static unsigned int list_before(const struct sim *sim, uint32_t c, uint32_t *list)
{
	const struct sim_port *p = &sim->ports[c / SIM_VLS];
	const struct sim_node *s = &sim->nodes[p->node];
	unsigned int vl = c % SIM_VLS, n = 0;

	for (unsigned int in = 1; in <= s->nports; in++) {
		uint64_t bits = pair_at(sim, s, in, p->num) >> vl & UINT64_C(0x0101010101010101);

		for (; bits; bits &= bits - 1)
			list[n++] = sim->ports[s->first + in].peer * SIM_VLS +
				    (uint32_t)__builtin_ctzll(bits) / SIM_VLS;
	}
	return n;
}

#define MOST_NEIGHBOURS (SIM_VLS * (DL_FABRIC_MAX_PORTS + 1))

/*
 * Search from `start` among ranks between low and high, into `found`.  Returns
 * how many, or 0: `stop` is among them.
 */
static uint32_t search(struct sim *sim, uint32_t start, bool forward, uint32_t low, uint32_t high,
		       uint32_t stop, uint32_t *found)
{
	struct sim_order *o = &sim->judge->order;
	uint32_t neighbours[MOST_NEIGHBOURS], n = 1;

	o->searches++;
	found[0] = start;
	o->stamp[start] = o->searches;
	for (uint32_t i = 0; i < n; i++) {
		unsigned int k = forward ? list_after(sim, found[i], neighbours) :
					   list_before(sim, found[i], neighbours);

		while (k--) {
			uint32_t c = neighbours[k];

			if (o->rank[c] < low || o->rank[c] > high || o->stamp[c] == o->searches)
				continue;
			o->parent[c] = found[i];
			if (c == stop)
				return 0;
			o->stamp[c] = o->searches;
			found[n++] = c;
		}
	}
	return n;
}

static int compare_ranks(const void *a, const void *b, void *ranks)
{
	const uint32_t *rank = ranks;
	uint32_t x = rank[*(const uint32_t *)a], y = rank[*(const uint32_t *)b];

	return x < y ? -1 : x > y;
}

/* Those before and those after share their ranks: the former get the lower ones. */
static void share_ranks(struct sim_order *o, uint32_t nbefore, uint32_t nafter)
{
	uint32_t n = nbefore + nafter, *ranks = malloc(n * sizeof(*ranks)), i = 0, b = 0, a = 0;

	if (!ranks)
		sim_die("no memory");
	qsort_r(o->before, nbefore, sizeof(*o->before), compare_ranks, o->rank);
	qsort_r(o->after, nafter, sizeof(*o->after), compare_ranks, o->rank);
	while (b < nbefore || a < nafter)
		if (a == nafter || (b < nbefore && o->rank[o->before[b]] < o->rank[o->after[a]]))
			ranks[i++] = o->rank[o->before[b++]];
		else
			ranks[i++] = o->rank[o->after[a++]];
	for (i = 0; i < nbefore; i++)
		o->rank[o->before[i]] = ranks[i];
	for (i = 0; i < nafter; i++)
		o->rank[o->after[i]] = ranks[nbefore + i];
	free(ranks);
}

static void describe_loop(const struct sim *sim, uint32_t from, uint32_t to, char *text,
			  size_t size)
{
	const struct sim_order *o = &sim->judge->order;
	size_t len = 0;

	for (uint32_t c = from, i = 0; i < 64 && len < size; c = o->parent[c], i++) {
		const struct sim_port *p = &sim->ports[c / SIM_VLS];

		len += (size_t)snprintf(text + len, size - len, "%s%s[%u] VL %u", i ? " < " : "",
					sim->nodes[p->node].name, p->num, c % SIM_VLS);
		if (c == to)
			break;
	}
}

bool sim_order_add(struct sim *sim, uint32_t from, uint32_t to, char *text, size_t size)
{
	struct sim_order *o = &sim->judge->order;
	uint32_t low = o->rank[to], high = o->rank[from], nafter, nbefore;

	if (from == to) {
		snprintf(text, size, "a channel waits for itself");
		return false;
	}
	if (high < low)
		return true;
	nafter = search(sim, to, true, low, high, from, o->after);
	if (!nafter) {
		describe_loop(sim, from, to, text, size);
		return false;
	}
	nbefore = search(sim, from, false, low, high, DL_NONE, o->before);
	share_ranks(o, nbefore, nafter);
	return true;
}
