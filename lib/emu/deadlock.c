/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * When a deadlock is certain.
 *
 * Problem.  Tell packets that will never move again from packets that wait
 * long.  No time limit can do that.
 *
 * Method.  A buffer is suspected when its head waits for an output whose far
 * buffer has no room for it, whatever credit messages are still under way:
 * the books of the receiving end decide, and what is on its way to it, not
 * what the sender knows.  A suspect
 * is cleared when a buffer that it waits for is not suspected: that one's
 * head will leave some day and make room.  Clearing goes on until nothing
 * changes.  What remains is a set of full buffers whose heads all wait for
 * room in buffers of the set, and nothing else can free any: these packets
 * never move.  A multicast packet holds its buffer until its last copy has
 * left, so one copy that waits for the set is enough to keep it there.
 *
 * Not a deadlock, and never suspected: waiting for an adapter (it takes
 * packets in, or was stopped by a fault, which may end), for a link that is down,
 * for an arbiter that does not serve the VL (that is starvation), for credit
 * that was lost (the next message brings it).  And with a lifetime limit in
 * the switches nothing waits for ever; the engine does not ask then.
 *
 * Virtual output queues: a buffer is suspected as long as each of its queues waits
 * for a suspected one, and nothing is leaving it; what leaves by another output
 * would make room.
 *
 * Wormhole: a head flit may also wait for the worm that owns the channel.  If
 * the owner's next flit is there, both wait for the same far buffer.  If it is
 * not, the owner's buffer is empty, and the flit is coming.
 *
 * The circle shown is the shortest in the set, found breadth first from each
 * buffer, in verify's form: the channel that feeds the buffer, and the packet
 * at its head.
 *
 * Complexity: O(ports + packets waiting) for a look that finds nothing;
 * the circle is O(buffers of the set * what waits there), once.
 */
#include "config.h"

#include <string.h>

#include "emu/run.h"

struct look {
	const struct dl_emu *e;
	uint8_t *suspect;   /* by input channel */
	uint32_t *suspects; /* those suspected at first */
	uint32_t n;
	uint32_t *queue; /* cleared, to be looked at */
	uint32_t head, tail;
	uint32_t *parent; /* breadth first */
};

/* The buffer that an output channel leads to; NIL: an adapter or nothing. */
static uint32_t far_buffer(const struct dl_emu *e, uint32_t out)
{
	const struct dl_emu_link_port *p = &e->ports[dl_emu_port_of(out)];

	if (p->peer == DL_EMU_NIL || p->to == DL_EMU_TO_ADAPTER || p->hold & DL_EMU_DOWN)
		return DL_EMU_NIL;
	return dl_emu_channel(p->peer, dl_emu_vl_of(out));
}

/* The output channel that feeds a buffer. */
static uint32_t feeding_channel(const struct dl_emu *e, uint32_t in)
{
	return dl_emu_channel(e->ports[dl_emu_port_of(in)].peer, dl_emu_vl_of(in));
}

/* Is the next flit of the worm that has a channel still on its way there? */
static bool is_flit_coming(const struct dl_emu *e, uint32_t out)
{
	uint32_t owner = e->worm[out].owner, head = dl_emu_vl_at(e, out)->head;

	return owner != DL_EMU_NIL && (head == DL_EMU_NIL || e->packets[head].in != owner);
}

/* The buffer whose emptying a waiting packet waits for, or NIL. */
static uint32_t awaited_buffer(const struct dl_emu *e, uint32_t packet)
{
	uint32_t out = e->packets[packet].out, far, coming, units;
	const struct dl_emu_vl_port *o, *i;

	if (!dl_emu_is_data(out) || (e->mode.worms && is_flit_coming(e, out)))
		return DL_EMU_NIL;
	far = far_buffer(e, out);
	if (far == DL_EMU_NIL)
		return far;
	/*
	 * Those in front of it in the queue wait for the same buffer; the
	 * first one may be larger, and holds up the rest.
	 */
	o = dl_emu_vl_at(e, out);
	i = dl_emu_vl_at(e, far);
	coming = dl_link_credit_chunks(&e->terms, dl_emu_coming(e, o, i));
	units = e->c.switch_sl_table ? e->packets[packet].units : o->units;
	return i->rx.free >= units + coming ? DL_EMU_NIL : far;
}

/*
 * The packets that stand for the head of a buffer in queues of outputs: itself
 * or, of a multicast packet, the copies that still wait.
 */
struct reasons {
	uint32_t in, out, packet, end;
	bool copies;
};

static void open_reasons(const struct dl_emu *e, uint32_t in, struct reasons *r)
{
	uint32_t head = dl_emu_vl_at(e, in)->in;
	const struct dl_emu_switch *s;

	*r = (struct reasons){ .in = in, .packet = head };
	r->copies = e->mode.voq || (head != DL_EMU_NIL && e->packets[head].flags & DL_EMU_PK_MCAST);
	if (!r->copies)
		return;
	s = dl_emu_switch_of(e, &e->ports[dl_emu_port_of(in)]);
	r->out = dl_emu_channel(s->ports[0], 0);
	r->end = dl_emu_channel(s->ports[0] + s->nlinked, 0);
	r->packet = DL_EMU_NIL;
}

/* The next packet that stands for the head in some output's queue. */
static uint32_t next_waiting(const struct dl_emu *e, struct reasons *r)
{
	uint32_t head = dl_emu_vl_at(e, r->in)->in, packet;

	if (!r->copies) {
		packet = r->packet;
		r->packet = DL_EMU_NIL;
		return packet;
	}
	for (; r->out < r->end; r->out++) {
		for (packet = dl_emu_vl_at(e, r->out)->head; packet != DL_EMU_NIL;
		     packet = e->packets[packet].wait_next)
			if (e->mode.voq ? e->packets[packet].in == r->in :
					  dl_emu_parent(e, packet) == head) {
				r->out++;
				return packet;
			}
	}
	return DL_EMU_NIL;
}

/* The same of a buffer with virtual output queues: none of them goes on. */
static bool are_queues_held(const struct look *l, uint32_t in)
{
	const struct dl_emu *e = l->e;
	const struct dl_emu_switch *s = dl_emu_switch_of(e, &e->ports[dl_emu_port_of(in)]);
	uint32_t first = dl_emu_channel(s->ports[0], 0), head, far;
	bool any = false, sending;

	for (uint32_t out = first; out < first + s->nlinked * DL_EMU_VLS; out++) {
		head = dl_emu_voq_head(e, in, out, &sending);
		if (sending)
			return false;
		if (head == DL_EMU_NIL)
			continue;
		if (!(e->packets[head].flags & DL_EMU_PK_WAITING))
			return false;
		far = awaited_buffer(e, head);
		if (far == DL_EMU_NIL || !l->suspect[far])
			return false;
		any = true;
	}
	return any;
}

/* May the buffer's head stay for ever, as far as this set goes? */
static bool is_held(const struct look *l, uint32_t in)
{
	const struct dl_emu *e = l->e;
	struct reasons r;
	uint32_t packet, for_what;

	if (e->mode.voq)
		return are_queues_held(l, in);
	open_reasons(e, in, &r);
	while ((packet = next_waiting(e, &r)) != DL_EMU_NIL) {
		for_what = awaited_buffer(e, packet);
		if (for_what != DL_EMU_NIL && l->suspect[for_what])
			return true;
	}
	return false;
}

static void clear_suspect(struct look *l, uint32_t in)
{
	l->suspect[in] = false;
	l->queue[l->tail++] = in;
}

/* Whoever waits for a cleared buffer is cleared, too, if that was all. */
static void look_behind(struct look *l, uint32_t in)
{
	const struct dl_emu *e = l->e;
	uint32_t out = feeding_channel(e, in), packet;

	if (e->ports[dl_emu_port_of(in)].peer == DL_EMU_NIL)
		return;
	for (packet = dl_emu_vl_at(e, out)->head; packet != DL_EMU_NIL;
	     packet = e->packets[packet].wait_next) {
		uint32_t from = e->packets[packet].in;

		if (l->suspect[from] && !is_held(l, from))
			clear_suspect(l, from);
	}
}

/* Suspect the buffers whose heads wait for an output without room behind it. */
static void suspect_those_at(struct look *l, uint32_t out)
{
	const struct dl_emu *e = l->e;
	uint32_t packet = dl_emu_vl_at(e, out)->head;

	if (awaited_buffer(e, packet) == DL_EMU_NIL)
		return;
	for (; packet != DL_EMU_NIL; packet = e->packets[packet].wait_next) {
		uint32_t in = e->packets[packet].in;

		if (e->ports[dl_emu_port_of(in)].sw == DL_EMU_NIL || !dl_emu_is_data(in) ||
		    l->suspect[in])
			continue;
		l->suspect[in] = true;
		l->suspects[l->n++] = in;
	}
}

static uint32_t find_suspects(struct look *l)
{
	const struct dl_emu *e = l->e;
	uint32_t left = 0;

	for (uint32_t i = 0; i < e->nports; i++)
		for (unsigned int vls = e->ports[i].waiting; vls; vls &= vls - 1)
			suspect_those_at(l, dl_emu_channel(i, __builtin_ctz(vls)));
	for (uint32_t i = 0; i < l->n; i++)
		if (l->suspect[l->suspects[i]] && !is_held(l, l->suspects[i]))
			clear_suspect(l, l->suspects[i]);
	while (l->head < l->tail)
		look_behind(l, l->queue[l->head++]);
	for (uint32_t i = 0; i < l->n; i++)
		left += l->suspect[l->suspects[i]];
	return left;
}

/* ---- the circle -------------------------------------------------------- */

static bool visit_buffer(struct look *l, uint32_t from, uint32_t to, uint32_t start)
{
	if (to == DL_EMU_NIL || !l->suspect[to])
		return false;
	if (to == start)
		return true;
	if (l->parent[to] == DL_EMU_NIL) {
		l->parent[to] = from;
		l->queue[l->tail++] = to;
	}
	return false;
}

/* The last buffer of the shortest circle through `start`, or NIL. */
static uint32_t circle_through(struct look *l, uint32_t start)
{
	l->head = l->tail = 0;
	l->queue[l->tail++] = start;
	l->parent[start] = start;
	while (l->head < l->tail) {
		uint32_t at = l->queue[l->head++], packet;
		struct reasons r;

		open_reasons(l->e, at, &r);
		while ((packet = next_waiting(l->e, &r)) != DL_EMU_NIL)
			if (visit_buffer(l, at, awaited_buffer(l->e, packet), start))
				return at;
	}
	return DL_EMU_NIL;
}

static uint32_t length_from(const struct look *l, uint32_t last, uint32_t start)
{
	uint32_t n = 1;

	for (; last != start; last = l->parent[last])
		n++;
	return n;
}

/* The packet that keeps a buffer of the circle from moving on to the next one. */
static uint32_t packet_between(const struct dl_emu *e, uint32_t in, uint32_t next)
{
	uint32_t packet = dl_emu_vl_at(e, in)->in;
	struct reasons r;

	if (!e->mode.voq)
		return packet;
	open_reasons(e, in, &r);
	do
		packet = next_waiting(e, &r);
	while (awaited_buffer(e, packet) != next);
	return packet;
}

static struct dl_cycle_step step_of(const struct dl_emu *e, uint32_t in, uint32_t next)
{
	uint32_t out = feeding_channel(e, in), head = packet_between(e, in, next);
	const struct dl_emu_pkt *pk = &e->packets[head];

	return (struct dl_cycle_step){
		.port = e->fabric_port[dl_emu_port_of(out)],
		.vl = dl_emu_vl_of(in),
		.sl = pk->sl,
		.dlid = pk->dlid,
		.src = e->fabric_port[e->adapters[e->flows[e->origins[head].flow].adapter].port],
	};
}

static int write_circle(struct dl_emu *e, const struct look *l, uint32_t last, uint32_t start)
{
	uint32_t n = length_from(l, last, start), next = start;
	struct dl_cycle_step *cycle = malloc(n * sizeof(*cycle));

	if (!cycle)
		return -ENOMEM;
	for (uint32_t i = n; i--; last = l->parent[last]) {
		cycle[i] = step_of(e, last, next);
		next = last;
	}
	free(e->look.cycle.steps);
	e->look.cycle = (struct dl_cycle){ cycle, n };
	return 1;
}

#define MAX_STARTS 4096 /* a torus in deadlock has short circles */

static int shortest_circle(struct dl_emu *e, struct look *l, uint32_t n)
{
	uint32_t best = 0, starts = 0;
	int err = 0;

	for (uint32_t in = 0; in < n && starts < MAX_STARTS; in++) {
		uint32_t last;

		if (!l->suspect[in])
			continue;
		starts++;
		memset(l->parent, 0xFF, n * sizeof(*l->parent));
		last = circle_through(l, in);
		if (last == DL_EMU_NIL || (best && length_from(l, last, in) >= best))
			continue;
		best = length_from(l, last, in);
		err = write_circle(e, l, last, in);
		if (err < 0)
			return err;
	}
	return err;
}

int dl_emu_look_for_deadlock(struct dl_emu *e)
{
	uint32_t n = e->nports * DL_EMU_VLS;
	struct dl_arena arena = { 0 };
	struct look l = {
		.e = e,
		.suspect = dl_arena_array(&arena, n + 1ul, sizeof(*l.suspect)),
		.suspects = dl_arena_alloc(&arena, (n + 1ul) * sizeof(*l.suspects)),
		.queue = dl_arena_alloc(&arena, (n + 1ul) * sizeof(*l.queue)),
		.parent = dl_arena_alloc(&arena, (n + 1ul) * sizeof(*l.parent)),
	};
	int err = -ENOMEM;

	if (l.suspect && l.suspects && l.queue && l.parent)
		err = find_suspects(&l) ? shortest_circle(e, &l, n) : 0;
	dl_arena_free(&arena);
	return err;
}
