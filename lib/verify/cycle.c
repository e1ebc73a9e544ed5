/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Credit loops: is the graph of dependencies free of cycles, and if not,
 * which one is shortest?
 *
 * Problem.  Channels (link, VL) are the vertices, "a packet that holds the
 * one waits for the other" the edges.  A cycle is a set of packets that may
 * wait for each other for ever (Dally and Seitz); without one there is always
 * a packet that can move.
 *
 * Method.  Tarjan's strongly connected components, without recursion: the
 * edges are never listed, they are read off the dependency matrices.  Then,
 * within each component of more than one channel, breadth first from every
 * channel in turn: to its successors, no further than the best cycle so far
 * permits, and never again to a channel that has had its turn, because all
 * cycles through that one are known.  Components are finished after all that
 * they wait for, which gives the ranks of a certificate.
 *
 * Complexity: linear when there is no loop.  Otherwise one bounded search per
 * channel in a component; a torus full of loops has short ones, which bound
 * the searches at once.
 *
 * The result does not depend on anything but the tables: among the shortest
 * cycles it is the one through the lowest channel number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verify/internal.h"

#define UNSEEN UINT32_MAX

/* The successors of a channel, one after the other. */
struct successors {
	const uint64_t *deps; /* from the channel's input port */
	uint32_t first;	      /* number of the first link out of there */
	uint32_t links, link; /* how many, and the next one to look at */
	uint32_t vls;	      /* what is left of the present one */
	unsigned int vl;      /* of the channel itself */
};

static void open_successors(const struct dl_verify_net *net, uint32_t channel, struct successors *i)
{
	const struct dl_fabric_link *link = &net->links.link[channel / net->nvl];

	i->deps = &net->deps[net->far[channel / net->nvl].dep * (size_t)net->words];
	i->first = net->links.first[link->to];
	i->links = dl_verify_net_links(net, link->to);
	i->link = 0;
	i->vls = 0;
	i->vl = channel % net->nvl;
}

static uint32_t next_successor(const struct dl_verify_net *net, struct successors *i)
{
	uint32_t vl;

	while (!i->vls) {
		unsigned int bit = i->vl * net->nvl;

		if (i->link == i->links)
			return DL_NONE;
		if (!net->certain || !net->vague[i->first + i->link])
			i->vls = i->deps[i->link * (size_t)net->words + bit / 64] >> bit % 64 &
				 ((1u << net->nvl) - 1);
		i->link++;
	}
	vl = __builtin_ctz(i->vls);
	i->vls &= i->vls - 1;
	return (i->first + i->link - 1) * net->nvl + vl;
}

/* ---- strongly connected components ------------------------------------- */

struct frame {
	uint32_t channel;
	struct successors next;
};

struct search {
	const struct dl_verify_net *net;
	uint32_t n;	 /* channels */
	uint32_t *index; /* order of discovery, or UNSEEN */
	uint32_t *low;
	uint32_t *stack, top; /* discovered, component not yet known */
	struct frame *frames;
	uint32_t nframes, frames_cap;
	uint32_t count;
	uint32_t *component; /* of a channel on a cycle, else DL_NONE */
	uint32_t ncomponents;
	uint32_t *rank; /* dl_verify_rank(); NULL: not asked */
	/* The breadth-first part: */
	uint32_t *parent, *queue;
};

static int cycle_enter(struct search *s, uint32_t channel)
{
	struct frame *frame;

	if (!dl_array_room(s->frames, s->nframes, 1, &s->frames_cap))
		return -ENOMEM;
	frame = &s->frames[s->nframes++];
	frame->channel = channel;
	open_successors(s->net, channel, &frame->next);
	s->index[channel] = s->low[channel] = s->count++;
	s->stack[s->top++] = channel;
	return 0;
}

static bool feeds_itself(const struct dl_verify_net *net, uint32_t channel)
{
	struct successors i;
	uint32_t next;

	open_successors(net, channel, &i);
	while ((next = next_successor(net, &i)) != DL_NONE)
		if (next == channel)
			return true;
	return false;
}

/* All that a channel waits for is finished before it: its rank is one above theirs. */
static uint32_t cycle_rank(const struct search *s, uint32_t channel)
{
	struct successors i;
	uint32_t next, rank = 0;

	open_successors(s->net, channel, &i);
	while ((next = next_successor(s->net, &i)) != DL_NONE)
		if (s->rank[next] >= rank)
			rank = s->rank[next] + 1;
	return rank;
}

/* All channels of a finished component leave the stack. */
static void close_component(struct search *s, uint32_t root)
{
	bool cyclic = s->stack[s->top - 1] != root || feeds_itself(s->net, root);
	uint32_t channel;

	do {
		channel = s->stack[--s->top];
		s->component[channel] = cyclic ? s->ncomponents : DL_NONE;
		s->low[channel] = UNSEEN; /* no longer on the stack */
	} while (channel != root);
	s->ncomponents += cyclic;
	if (s->rank && !cyclic)
		s->rank[root] = cycle_rank(s, root);
}

static int cycle_explore(struct search *s, uint32_t start)
{
	int err = cycle_enter(s, start);

	while (!err && s->nframes) {
		struct frame *top = &s->frames[s->nframes - 1];
		uint32_t c = top->channel;
		uint32_t next = next_successor(s->net, &top->next);

		if (next != DL_NONE) {
			if (s->index[next] == UNSEEN)
				err = cycle_enter(s, next);
			else if (s->low[next] != UNSEEN && s->index[next] < s->low[c])
				s->low[c] = s->index[next];
			continue;
		}
		s->nframes--;
		if (s->nframes) {
			uint32_t up = s->frames[s->nframes - 1].channel;

			if (s->low[c] < s->low[up])
				s->low[up] = s->low[c];
		}
		if (s->low[c] == s->index[c])
			close_component(s, c);
	}
	return err;
}

/* ---- the shortest cycle ------------------------------------------------ */

/*
 * A cycle through `start` of fewer than `bound` channels: its length, with
 * the path back from `*last` in s->parent; 0 when there is none.
 */
static uint32_t cycle_around(struct search *s, uint32_t start, uint32_t bound, uint32_t *last)
{
	uint32_t head = 0, n = 0, depth = 1, level_end = 1, found = 0;

	s->queue[n++] = start;
	while (head < n && depth < bound && !found) {
		uint32_t c = s->queue[head++], next;
		struct successors i;

		open_successors(s->net, c, &i);
		while ((next = next_successor(s->net, &i)) != DL_NONE) {
			if (next == start) {
				*last = c;
				found = depth;
				break;
			}
			if (s->component[next] != s->component[start] || s->parent[next] != DL_NONE)
				continue;
			s->parent[next] = c;
			s->queue[n++] = next;
		}
		if (head == level_end) {
			level_end = n;
			depth++;
		}
	}
	if (!found)
		for (uint32_t i = 1; i < n; i++)
			s->parent[s->queue[i]] = DL_NONE;
	return found;
}

static int keep_cycle(struct search *s, struct dl_cycle *out, uint32_t start, uint32_t last,
		      uint32_t len)
{
	struct dl_cycle_step *steps = calloc(len, sizeof(*steps));
	uint32_t nvl = s->net->nvl, c = last;

	if (!steps)
		return -ENOMEM;
	for (uint32_t i = len; i--;) {
		steps[i].port = s->net->links.link[c / nvl].port;
		steps[i].vl = c % nvl;
		c = i == 1 ? start : s->parent[c];
	}
	for (uint32_t i = 0; i < len; i++) {
		const struct dl_fabric_links *links = &s->net->links;
		uint32_t held = links->of_port[steps[i].port];
		uint32_t wanted = links->of_port[steps[(i + 1) % len].port];

		if (dl_broken(NULL, links->link[held].to == links->link[wanted].from)) {
			free(steps);
			return -EPROTO;
		}
	}
	free(out->steps);
	*out = (struct dl_cycle){ steps, len };
	return 0;
}

static int find_shortest(struct search *s, struct dl_cycle *out)
{
	uint32_t best = UINT32_MAX, last;
	int err;

	memset(s->parent, 0xFF, s->n * sizeof(*s->parent));
	for (uint32_t c = 0; c < s->n; c++) {
		uint32_t len;

		if (s->component[c] == DL_NONE)
			continue;
		len = cycle_around(s, c, best, &last);
		if (len) {
			err = keep_cycle(s, out, c, last, len);
			if (err)
				return err;
			best = len;
			memset(s->parent, 0xFF, s->n * sizeof(*s->parent));
		}
		s->component[c] = DL_NONE; /* searched */
	}
	return 0;
}

/* ---- all --------------------------------------------------------------- */

static int search_init(struct search *s)
{
	struct dl_arena *arena = s->net->arena;
	size_t size = (s->n + 1) * sizeof(uint32_t);

	s->index = dl_arena_alloc(arena, size);
	s->low = dl_arena_alloc(arena, size);
	s->stack = dl_arena_alloc(arena, size);
	s->component = dl_arena_alloc(arena, size);
	if (!s->index || !s->low || !s->stack || !s->component)
		return -ENOMEM;
	memset(s->index, 0xFF, size);
	return 0;
}

static int find_components(struct search *s)
{
	int err = search_init(s);

	for (uint32_t c = 0; !err && c < s->n; c++)
		if (s->index[c] == UNSEEN)
			err = cycle_explore(s, c);
	return err;
}

int dl_verify_rank(const struct dl_verify_net *net, uint32_t *rank)
{
	struct search s = { .net = net, .n = net->links.n * net->nvl, .rank = rank };
	int err = find_components(&s);

	free(s.frames);
	return err ? err : s.ncomponents ? -ELOOP : 0;
}

int dl_verify_cycle(const struct dl_verify_net *net, struct dl_cycle *out)
{
	struct search s = { .net = net, .n = net->links.n * net->nvl };
	int err = find_components(&s);

	if (!err && s.ncomponents) {
		/* The components are known: their arrays serve again. */
		s.parent = s.index;
		s.queue = s.low;
		err = find_shortest(&s, out);
	}
	free(s.frames);
	return err;
}
