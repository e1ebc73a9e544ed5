/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One emulation over several processes, which share no memory.
 *
 * Method.  Every process sets up the same emulation and is asked the same of
 * it, in the same order, but runs the windows of its own shards alone (see
 * shard.c).  After each window all exchange mail and the few numbers that
 * decide about the next window, dl_emu_trade().  Of the others' shards a
 * process has copies, which are out of date while these run.  Before anything
 * looks at the whole fabric (a fault, new tables, an audit, counters) all give
 * each other what theirs have become, dl_emu_gather().  Then all copies are
 * alike, and what every process does to them keeps them so.
 *
 * Packets have numbers of which each process gives out its own share, so they
 * are the same everywhere.  A source gives each flow's messages in the same
 * order whoever asks: what another process has taken is taken here, too.
 *
 * Both directions of a transfer are one function, so that they cannot differ:
 * a parcel that is being filled appends what it is shown, one that is being
 * emptied writes there.
 *
 * Complexity: a window costs two messages for each pair of processes; to bring
 * copies up to date costs O(ports + packets + events).
 */
#include "config.h"

#include <string.h>

#include "emu/shard.h"

struct parcel {
	char *data;
	uint32_t n, cap;
	const char *from; /* while it is emptied */
	size_t left;
	int err;
};

struct dl_emu_post {
	struct parcel parcel;
	struct dl_emu_bytes *out, *in; /* by rank */
	struct parcel *to;
};

static void move(struct parcel *p, void *at, size_t n)
{
	if (!n) /* `at` may be nowhere then */
		return;
	if (p->from) {
		if (n > p->left) {
			p->err = -EPROTO;
			return;
		}
		memcpy(at, p->from, n);
		p->from += n;
		p->left -= n;
		return;
	}
	if (!dl_array_room(p->data, p->n, n, &p->cap)) {
		p->err = -ENOMEM;
		return;
	}
	memcpy(p->data + p->n, at, n);
	p->n += n;
}

#define MOVE(p, what) move(p, &(what), sizeof(what))

static void begin_filling(struct parcel *p)
{
	p->n = 0;
	p->from = NULL;
}

static void begin_emptying(struct parcel *p, const struct dl_emu_bytes *in)
{
	p->from = in->data ? in->data : "";
	p->left = in->n;
}

/* ---- shards of a process ------------------------------------------------ */

uint32_t dl_emu_first_shard(const struct dl_emu *e, uint32_t rank)
{
	return e->c.ranks ? (uint64_t)e->nshards * rank / e->c.ranks->n :
			    rank * e->nshards; /* behind the last: all */
}

/* The process that runs a shard. */
uint32_t dl_emu_rank_of(const struct dl_emu *e, uint32_t shard)
{
	uint32_t rank = 0;

	while (e->c.ranks && dl_emu_first_shard(e, rank + 1) <= shard)
		rank++;
	return rank;
}

/* Of the packets' numbers each process has a share. */
uint32_t dl_emu_first_packet(const struct dl_emu *e, uint32_t rank)
{
	return e->c.ranks ? (uint64_t)e->packets_cap * rank / e->c.ranks->n : rank * e->packets_cap;
}

static bool is_of(const struct dl_emu *e, uint32_t port, uint32_t rank)
{
	return e->shard_of[port] >= dl_emu_first_shard(e, rank) &&
	       e->shard_of[port] < dl_emu_first_shard(e, rank + 1);
}

int dl_emu_set_up_post(struct dl_emu *e)
{
	uint32_t n = e->c.ranks ? e->c.ranks->n : 0;

	if (!n || e->nshards == 1)
		return 0;
	e->post = dl_arena_alloc(&e->arena, sizeof(*e->post));
	if (!e->post)
		return -ENOMEM;
	memset(e->post, 0, sizeof(*e->post));
	e->post->out = dl_arena_array(&e->arena, n, sizeof(*e->post->out));
	e->post->in = dl_arena_array(&e->arena, n, sizeof(*e->post->in));
	e->post->to = dl_arena_array(&e->arena, n, sizeof(*e->post->to));
	return e->post->out && e->post->in && e->post->to ? 0 : -ENOMEM;
}

void dl_emu_free_post(struct dl_emu *e)
{
	if (!e->post)
		return;
	free(e->post->parcel.data);
	for (uint32_t r = 0; e->post->to && r < e->c.ranks->n; r++)
		free(e->post->to[r].data);
}

/* ---- windows ------------------------------------------------------------ */

static void move_summary(struct parcel *p, struct dl_emu *s)
{
	if (!p->from) {
		s->next_bucket = dl_emu_events_next(&s->events);
		s->left = s->live ? 0 : dl_emu_events_count(&s->events);
	}
	MOVE(p, s->now);
	MOVE(p, s->next_bucket);
	MOVE(p, s->left);
	MOVE(p, s->live);
	MOVE(p, s->background);
	MOVE(p, s->err);
	MOVE(p, s->blocked);
	MOVE(p, s->sent);
	MOVE(p, s->totals);
}

static void move_box(struct parcel *p, struct dl_emu_box *box)
{
	uint32_t n = box->n;

	MOVE(p, n);
	if (p->err)
		return;
	if (p->from && n && !dl_array_room(box->mail, 0, n, &box->cap)) {
		p->err = -ENOMEM;
		return;
	}
	move(p, box->mail, n * sizeof(*box->mail));
	box->n = p->from ? n : 0;
}

/* From one process to another. */
static void move_mail(struct parcel *p, struct dl_emu *e, uint32_t from, uint32_t to)
{
	for (uint32_t i = dl_emu_first_shard(e, from); i < dl_emu_first_shard(e, from + 1); i++) {
		struct dl_emu *s = e->shards[i];

		move_summary(p, s);
		for (uint32_t k = dl_emu_first_shard(e, to); k < dl_emu_first_shard(e, to + 1); k++)
			move_box(p, &s->box[e->even][k]);
	}
}

static void fail(struct dl_emu *e, int err)
{
	if (err && !e->err)
		e->err = err;
}

void dl_emu_trade(struct dl_emu *e)
{
	const struct dl_emu_ranks *r = e->c.ranks;
	struct dl_emu_post *post = e->post;

	if (!post)
		return;
	for (uint32_t i = 0; i < r->n; i++) {
		begin_filling(&post->to[i]);
		if (i != r->rank)
			move_mail(&post->to[i], e, r->rank, i);
		post->out[i] = (struct dl_emu_bytes){ post->to[i].data, post->to[i].n };
		fail(e, post->to[i].err);
	}
	fail(e, r->exchange(r->context, post->out, post->in));
	for (uint32_t i = 0; !e->err && i < r->n; i++) {
		if (i == r->rank)
			continue;
		begin_emptying(&post->to[i], &post->in[i]);
		move_mail(&post->to[i], e, i, r->rank);
		fail(e, post->to[i].err);
	}
}

bool dl_emu_agree(struct dl_emu *e, bool any)
{
	const struct dl_emu_ranks *r = e->c.ranks;
	bool mine = any;

	if (!e->post)
		return any;
	for (uint32_t i = 0; i < r->n; i++)
		e->post->out[i] = (struct dl_emu_bytes){ &mine, sizeof(mine) };
	fail(e, r->exchange(r->context, e->post->out, e->post->in));
	for (uint32_t i = 0; !e->err && i < r->n; i++)
		any |= i != r->rank && *(const bool *)e->post->in[i].data;
	return any;
}

/* ---- everything --------------------------------------------------------- */

struct filling {
	struct parcel *p;
	uint64_t n;
};

static void fill_event(void *context, uint64_t time, uint32_t log, unsigned int kind, uint64_t what)
{
	struct filling *f = context;

	MOVE(f->p, time);
	MOVE(f->p, log);
	MOVE(f->p, kind);
	MOVE(f->p, what);
	f->n++;
}

static void move_events(struct parcel *p, struct dl_emu_events *q)
{
	uint64_t n = p->from ? 0 : dl_emu_events_count(q), bucket = q->bucket, time, what;
	struct filling f = { .p = p };
	unsigned int kind;
	uint32_t log;

	MOVE(p, n);
	MOVE(p, bucket);
	if (!p->from) {
		dl_emu_events_each(q, fill_event, &f);
		return;
	}
	dl_emu_events_clear(q, bucket);
	for (; n && !p->err; n--) {
		MOVE(p, time);
		MOVE(p, log);
		MOVE(p, kind);
		MOVE(p, what);
		if (!p->err)
			dl_emu_events_push(q, time, log, kind, what);
	}
	if (q->err)
		p->err = q->err;
}

static void move_shard(struct parcel *p, struct dl_emu *s)
{
	move(p, &s->own_begin,
	     offsetof(struct dl_emu, own_end) - offsetof(struct dl_emu, own_begin));
	MOVE(p, s->nnotes);
	if (p->from && !p->err && s->nnotes &&
	    !dl_array_room(s->notes, 0, s->nnotes, &s->notes_cap)) {
		s->nnotes = 0;
		p->err = -ENOMEM;
	}
	if (s->nnotes)
		move(p, s->notes, s->nnotes * sizeof(*s->notes));
	move_events(p, &s->events);
}

/* What points into the process's own memory stays. */
static void move_port(struct parcel *p, struct dl_emu *e, struct dl_emu_link_port *port)
{
	struct dl_emu_link_port mine = *port;
	uint32_t i = port->number;

	move(p, port, sizeof(*port));
	port->arb.program = mine.arb.program;
	port->far_route = mine.far_route;
	MOVE(p, e->losses[i]);
	MOVE(p, e->counters[i]);
	if (e->worm)
		move(p, &e->worm[dl_emu_channel(i, 0)], DL_EMU_VLS * sizeof(*e->worm));
	if (port->adapter != DL_EMU_NIL) {
		struct dl_emu_adapter *a = &e->adapters[port->adapter], before = *a;

		MOVE(p, *a);
		a->sched.table = before.sched.table;
		a->sched.qps = before.sched.qps;
		a->path_sl = before.path_sl;
		for (uint32_t src = 0; e->pairs && src < e->nadapters; src++)
			MOVE(p, e->pairs[src * (size_t)e->nadapters + port->adapter]);
	}
}

static void move_flow(struct parcel *p, struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_flow *f = &e->flows[flow];
	struct dl_emu_message again;
	uint32_t taken = f->taken;

	MOVE(p, *f);
	MOVE(p, e->qps[flow]);
	for (; !p->err && taken != f->taken; taken++)
		e->source.next(e->source.context, flow, f->message.at, &again);
}

static void move_all(struct parcel *p, struct dl_emu *e, uint32_t rank)
{
	uint32_t first = dl_emu_first_packet(e, rank), n;

	MOVE(p, e->given[rank]);
	n = e->given[rank] - first;
	move(p, e->packets + first, n * sizeof(*e->packets));
	move(p, e->origins + first, n * sizeof(*e->origins));
	for (uint32_t i = dl_emu_first_shard(e, rank); i < dl_emu_first_shard(e, rank + 1); i++)
		move_shard(p, e->shards[i]);
	for (uint32_t i = 0; i < e->nports; i++)
		if (is_of(e, i, rank))
			move_port(p, e, &e->ports[i]);
	for (uint32_t i = 0; i < e->source.nflows; i++)
		if (is_of(e, e->adapters[e->flows[i].adapter].port, rank))
			move_flow(p, e, i);
}

void dl_emu_gather(struct dl_emu *e)
{
	const struct dl_emu_ranks *r = e->c.ranks;
	struct dl_emu_post *post = e->post;

	if (!post || !e->away)
		return;
	e->away = false;
	begin_filling(&post->parcel);
	move_all(&post->parcel, e, r->rank);
	fail(e, post->parcel.err);
	for (uint32_t i = 0; i < r->n; i++)
		post->out[i] = (struct dl_emu_bytes){ post->parcel.data, post->parcel.n };
	fail(e, r->exchange(r->context, post->out, post->in));
	for (uint32_t i = 0; !e->err && i < r->n; i++) {
		if (i == r->rank)
			continue;
		begin_emptying(&post->parcel, &post->in[i]);
		move_all(&post->parcel, e, i);
		fail(e, post->parcel.err);
	}
}
