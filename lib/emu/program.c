/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs of messages with dependencies, while they run.
 *
 * Problem.  What an application asks of a fabric is how long its messages take,
 * each of which is sent when those that it depends on have come.
 *
 * Model.  A rank is an adapter with operations: to send, to receive, to
 * calculate.  An operation begins when all that it requires is done (or, if so
 * asked, has begun).  A calculation takes the rank's CPU for its time; sends and
 * receives take it for `overhead`, before the message is handed to the adapter,
 * and after its last bit has come.  Operations of one CPU are served in the order
 * in which they may begin.  A receive has begun then, a calculation when its CPU takes
 * it up, a send when its first packet is made.  An eager send is done at this time,
 * others when the last bit has left the adapter; a
 * receive, when it has begun and all bytes of its message are there.  Messages
 * of a rank to different ranks have queue pairs of their own, which take turns
 * (slarb.c).  Nothing is sent again: with a packet that is lost,
 * all that depends on its message is.
 *
 * Method.  Everything about a rank happens in the shard of its adapter: what it
 * sends, what comes to it, and its CPUs.  So ranks share nothing, and results do
 * not depend on threads.  An operation ends in an event, so that long chains of
 * operations without any length need no stack.
 *
 * Known algorithms have too many operations to be listed (a ring of 13,824 ranks
 * has 764 million): a rank has those of its step, and gets the next ones when all
 * are done.  What comes too early for its receive is kept.
 *
 * Complexity: O(1) a requirement, and O(log n) for each of n operations that begin at
 * the same time; O(operations of a step and messages that came early) for a packet of
 * an algorithm.
 */
#include "config.h"

#include <string.h>

#include "emu/program.h"

/* At one moment, CPUs take up operations before they are done with any. */
#define DUE_BEGIN (UINT64_C(1) << 32) /* a rank; else an operation ... */
#define DUE_DONE (UINT64_C(1) << 33)  /* that its CPU is done with; else one that it takes up */

int dl_emu_program_arrays(struct dl_emu_program *p)
{
	p->flows = calloc(p->nflows + 1ul, sizeof(*p->flows));
	p->cpu_free = calloc((size_t)p->nranks * p->ncpus, sizeof(*p->cpu_free));
	for (uint32_t f = 0; p->flows && f < p->nflows; f++)
		p->flows[f].head = p->flows[f].next = p->flows[f].fresh = DL_EMU_NIL;
	for (uint32_t r = 0; r < p->nranks; r++)
		p->ranks[r].done = DL_EMU_NEVER;
	for (uint32_t i = 0; i < p->nphases; i++)
		p->phases[i].start = DL_EMU_NEVER;
	return p->flows && p->cpu_free ? 0 : -ENOMEM;
}

void dl_emu_program_free(struct dl_emu_program *p)
{
	if (!p)
		return;
	for (uint32_t r = 0; p->ranks && r < p->nranks; r++)
		free(p->ranks[r].early);
	free(p->ranks);
	free(p->ops);
	free(p->edges);
	free(p->flows);
	free(p->phases);
	free(p->cpu_free);
	free(p->rank);
	free(p);
}

/* ---- operations ---------------------------------------------------------- */

/* Something of an operation's phase happens; at other ranks, in other shards, too. */
static void program_note_phase(const struct dl_emu_program *p, const struct dl_emu *e,
			       const struct dl_emu_op *op)
{
	struct dl_emu_program_phase *f = &p->phases[op->phase];
	uint64_t start = __atomic_load_n(&f->start, __ATOMIC_RELAXED);
	uint64_t end = __atomic_load_n(&f->end, __ATOMIC_RELAXED);

	while (e->now < start && !__atomic_compare_exchange_n(&f->start, &start, e->now, false,
							      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	while (e->now > end && !__atomic_compare_exchange_n(&f->end, &end, e->now, false,
							    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

/* Has all of a receive's message come? */
static bool program_has_come(const struct dl_emu_op *op)
{
	return op->got >= op->size + !op->size;
}

/*
 * An event for an operation when its CPU has had the time for it; for calculations that wait,
 * another one when it takes them up.
 */
static void program_compute(struct dl_emu_program *p, struct dl_emu *e, struct dl_emu_op *op,
			    uint64_t time)
{
	uint64_t *until = &p->cpu_free[op->rank * (size_t)p->ncpus + op->cpu];

	if (*until < e->now)
		*until = e->now;
	if (p->edges && op->kind == DL_EMU_OP_CALC && *until > e->now)
		dl_emu_at(e, *until, DL_EMU_LOG_OTHER, DL_EMU_EV_DUE, op - p->ops);
	*until += time;
	dl_emu_at(e, *until, DL_EMU_LOG_OTHER, DL_EMU_EV_DUE, DUE_DONE | (op - p->ops));
}

/*
 * Operations to begin are a skew heap (Sleator and Tarjan 1986), so that those of a
 * time begin in the order of the file.  Its root, or NIL, is the first one.
 */
static uint32_t program_merge(struct dl_emu_program *p, uint32_t a, uint32_t b)
{
	uint32_t root, *at = &root;

	while (a != DL_EMU_NIL && b != DL_EMU_NIL) {
		struct dl_emu_op *first = &p->ops[a < b ? a : b];
		uint32_t rest = first->next;

		b = a < b ? b : a;
		*at = first - p->ops;
		first->next = first->left;
		at = &first->left;
		a = rest;
	}
	*at = a == DL_EMU_NIL ? b : a;
	return root;
}

static uint32_t program_add(struct dl_emu_program *p, uint32_t number, uint32_t heap)
{
	p->ops[number].left = p->ops[number].next = DL_EMU_NIL;
	return program_merge(p, number, heap);
}

/* What requires that this one has begun, or is done, joins those to begin. */
static uint32_t program_release(struct dl_emu_program *p, const struct dl_emu_op *op, bool begun,
				uint32_t heap)
{
	if (!p->edges)
		return heap;
	for (uint32_t i = op->edges; i < op[1].edges; i++)
		if (p->edges[i].begun == begun && !--p->ops[p->edges[i].to].waits)
			heap = program_add(p, p->edges[i].to, heap);
	return heap;
}

/* Has an operation that may begin begun at once? */
static bool program_begins(const struct dl_emu_program *p, const struct dl_emu *e,
			   const struct dl_emu_op *op)
{
	return op->kind == DL_EMU_OP_RECV ||
	       (op->kind == DL_EMU_OP_CALC &&
		p->cpu_free[op->rank * (size_t)p->ncpus + op->cpu] <= e->now);
}

/* Operations may begin; and what requires no more than that they have. */
static void program_begin(struct dl_emu_program *p, struct dl_emu *e, uint32_t heap)
{
	while (heap != DL_EMU_NIL) {
		struct dl_emu_op *op = &p->ops[heap];
		bool begins = program_begins(p, e, op);

		heap = program_merge(p, op->left, op->next);
		op->begun = true;
		if (op->kind != DL_EMU_OP_RECV)
			program_note_phase(p, e, op);
		if (op->kind != DL_EMU_OP_RECV || program_has_come(op))
			program_compute(p, e, op,
					op->kind == DL_EMU_OP_CALC ? op->size : p->overhead);
		if (begins)
			heap = program_release(p, op, true, heap);
	}
}

/* Those of a rank that require nothing. */
static void program_begin_all(struct dl_emu_program *p, struct dl_emu *e,
			      const struct dl_emu_program_rank *r)
{
	uint32_t heap = DL_EMU_NIL;

	for (uint32_t i = r->first + r->n; i-- > r->first;)
		if (!p->ops[i].waits)
			heap = program_add(p, i, heap);
	program_begin(p, e, heap);
}

/* What has come before its receive was known. */
static void program_take_early(struct dl_emu_program_rank *r, struct dl_emu_op *op)
{
	for (uint32_t i = 0; op->kind == DL_EMU_OP_RECV && i < r->nearly; i++)
		if (r->early[i].peer == op->peer && r->early[i].tag == op->tag) {
			op->got = r->early[i].got;
			r->early[i] = r->early[--r->nearly];
			return;
		}
}

/* A rank goes on with its next step that has operations, or has finished. */
static void program_next_step(struct dl_emu_program *p, struct dl_emu *e, uint32_t rank)
{
	struct dl_emu_program_rank *r = &p->ranks[rank];
	const struct dl_emu_collective *kind = p->kind;
	struct dl_emu_op *ops = &p->ops[r->first];
	uint32_t sends = 0;
	int n = 0;

	while (kind && !n)
		n = kind->step(p, rank, r->step++, ops);
	if (!kind || n < 0) {
		r->done = e->now;
		return;
	}
	r->n = r->left = n;
	for (int i = 0; i < n; i++) {
		ops[i].rank = rank;
		ops[i].number = ops[i].tag;
		ops[i].flow = rank * kind->sends + sends;
		sends += ops[i].kind == DL_EMU_OP_SEND;
		for (int k = 0; k < i; k++) /* on a ring of two, both neighbours are one */
			if (ops[k].kind == ops[i].kind && ops[k].peer == ops[i].peer)
				ops[i].flow = ops[k].flow;
		program_take_early(r, &ops[i]);
	}
	program_begin_all(p, e, r);
}

static void program_done(struct dl_emu_program *p, struct dl_emu *e, struct dl_emu_op *op)
{
	program_note_phase(p, e, op);
	program_begin(p, e, program_release(p, op, false, DL_EMU_NIL));
	if (!--p->ranks[op->rank].left)
		program_next_step(p, e, op->rank);
}

/* ---- messages ------------------------------------------------------------ */

static void program_send(struct dl_emu_program *p, struct dl_emu *e, struct dl_emu_op *op)
{
	struct dl_emu_program_flow *f = &p->flows[op->flow];
	uint32_t number = op - p->ops;

	op->at = e->now;
	op->next = DL_EMU_NIL;
	if (f->head == DL_EMU_NIL)
		f->head = number;
	else
		p->ops[f->tail].next = number;
	f->tail = number;
	if (f->next == DL_EMU_NIL)
		f->next = number;
	p->ranks[op->rank].messages++;
	p->ranks[op->rank].bytes += op->size;
	__atomic_fetch_add(&p->phases[op->phase].messages, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&p->phases[op->phase].bytes, op->size, __ATOMIC_RELAXED);
	dl_emu_flow_again(e, p->first_flow + op->flow);
}

bool dl_emu_program_next(struct dl_emu_program *p, uint32_t flow, struct dl_emu_message *out)
{
	struct dl_emu_program_flow *f = &p->flows[flow - p->first_flow];
	const struct dl_emu_op *op;

	if (f->next == DL_EMU_NIL)
		return false;
	op = &p->ops[f->next];
	f->fresh = f->next;
	f->next = op->next;
	*out = (struct dl_emu_message){
		.at = op->at,
		.bytes = op->size,
		.dlid = p->lid[op->peer],
		.sl = DL_TABLES_NO_SL,
		.number = op->number,
	};
	return true;
}

static bool program_is_eager(const struct dl_emu_program *p, const struct dl_emu_op *op)
{
	return p->eager && op->size <= p->eager;
}

static void program_leaves(struct dl_emu_program *p, struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_program_flow *f = &p->flows[flow - p->first_flow];
	struct dl_emu_op *op = f->fresh == DL_EMU_NIL ? NULL : &p->ops[f->fresh];

	/* (A packet of a message before it may have been lost.) */
	if (!op || op->number != e->flows[flow].message.number)
		return;
	f->fresh = DL_EMU_NIL;
	program_begin(p, e, program_release(p, op, true, DL_EMU_NIL));
	if (program_is_eager(p, op))
		program_done(p, e, op);
}

static void program_sent(struct dl_emu_program *p, struct dl_emu *e, uint32_t flow)
{
	struct dl_emu_program_flow *f = &p->flows[flow - p->first_flow];
	struct dl_emu_op *op = &p->ops[f->head];

	f->head = op->next;
	if (!program_is_eager(p, op))
		program_done(p, e, op);
}

/* The receive of a message; or where its bytes are counted until there is one; NULL: no memory. */
static uint32_t *program_receiver(struct dl_emu_program *p, uint32_t to, uint32_t from,
				  uint32_t number, struct dl_emu_op **op)
{
	struct dl_emu_program_rank *r = &p->ranks[to];

	*op = NULL;
	for (uint32_t i = r->first; p->kind && !*op && i < r->first + r->n; i++)
		if (p->ops[i].kind == DL_EMU_OP_RECV && p->ops[i].peer == from &&
		    p->ops[i].tag == number)
			*op = &p->ops[i];
	if (!p->kind)
		*op = &p->ops[number];
	if (*op)
		return &(*op)->got;
	for (uint32_t i = 0; i < r->nearly; i++)
		if (r->early[i].peer == from && r->early[i].tag == number)
			return &r->early[i].got;
	if (!dl_array_room(r->early, r->nearly, 1, &r->early_cap))
		return NULL;
	r->early[r->nearly] = (struct dl_emu_program_early){ from, number, 0 };
	return &r->early[r->nearly++].got;
}

static void program_arrived(struct dl_emu_program *p, struct dl_emu *e, uint32_t flow,
			    uint32_t port, uint32_t number, uint32_t bytes)
{
	struct dl_emu_op *op;
	uint32_t *got = program_receiver(p, p->rank[port], p->flows[flow - p->first_flow].rank,
					 number, &op);

	if (!got) {
		e->err = -ENOMEM;
		return;
	}
	*got += bytes + !bytes;
	if (op && op->begun && program_has_come(op))
		program_compute(p, e, op, p->overhead);
}

/* ---- a run --------------------------------------------------------------- */

/* A rank begins, or the CPU has had its time for an operation. */
static void program_due(struct dl_emu_program *p, struct dl_emu *e, uint64_t what)
{
	uint32_t number = what;

	if (what & DUE_BEGIN && (p->kind || !p->ranks[number].n))
		program_next_step(p, e, number);
	else if (what & DUE_BEGIN)
		program_begin_all(p, e, &p->ranks[number]);
	else if (!(what & DUE_DONE))
		program_begin(p, e, program_release(p, &p->ops[number], true, DL_EMU_NIL));
	else if (p->ops[number].kind == DL_EMU_OP_SEND)
		program_send(p, e, &p->ops[number]);
	else
		program_done(p, e, &p->ops[number]);
}

static void program_begin_ranks(struct dl_emu_program *p, struct dl_emu *e)
{
	for (uint32_t r = 0; r < p->nranks; r++)
		dl_emu_at(dl_emu_shard(e, e->own_port[p->port[r]]), e->now, DL_EMU_LOG_OTHER,
			  DL_EMU_EV_DUE, DUE_BEGIN | r);
}

int dl_emu_program_start(struct dl_emu_program *p, struct dl_emu_source *source,
			 const struct dl_fabric *f)
{
	p->rank = calloc(f->nports + 1ul, sizeof(*p->rank));
	if (!p->rank)
		return -ENOMEM;
	for (uint32_t r = 0; r < p->nranks; r++)
		p->rank[p->port[r]] = r;
	p->first_flow = source->first;
	source->program = p;
	source->begin = program_begin_ranks;
	source->due = program_due;
	source->leaves = program_leaves;
	source->sent = program_sent;
	source->arrived = program_arrived;
	return 0;
}

/* The operation that a rank waits for: a receive, or a send that has not left. */
static const struct dl_emu_op *program_missing(const struct dl_emu_program *p,
					       const struct dl_emu_program_rank *r)
{
	const struct dl_emu_op *sends = NULL;

	for (uint32_t i = r->first; i < r->first + r->n; i++) {
		const struct dl_emu_op *op = &p->ops[i];
		uint32_t sent = op->kind == DL_EMU_OP_SEND ? p->flows[op->flow].head : DL_EMU_NIL;

		if (op->kind == DL_EMU_OP_RECV && op->begun && !program_has_come(op))
			return op;
		if (!sends && sent != DL_EMU_NIL)
			sends = &p->ops[sent];
	}
	return sends;
}

uint32_t dl_emu_program_waits(const struct dl_emu_program *p, struct dl_emu_program_wait *out,
			      uint32_t max)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->nranks; i++) {
		const struct dl_emu_op *op =
			p->ranks[i].done == DL_EMU_NEVER ? program_missing(p, &p->ranks[i]) : NULL;

		if (op && n < max)
			out[n] = (struct dl_emu_program_wait){ i, op->peer,
							       op->kind == DL_EMU_OP_SEND };
		n += op != NULL;
	}
	return n;
}

struct dl_emu_program_result dl_emu_program_result(const struct dl_emu_program *p)
{
	struct dl_emu_program_result out = { .ranks = p->nranks };
	double n = p->nranks;

	for (uint32_t i = 0; i < p->nranks; i++) {
		const struct dl_emu_program_rank *r = &p->ranks[i];

		out.messages += r->messages;
		out.bytes += r->bytes;
		out.waiting += r->done == DL_EMU_NEVER;
		if (r->done != DL_EMU_NEVER && r->done > out.time)
			out.time = r->done;
	}
	if (!out.waiting && out.time && p->kind && p->kind->bus) {
		out.algorithm = p->size * 1e12 / out.time;
		out.bus = out.algorithm * p->kind->bus * (n - 1) / n;
	}
	return out;
}

uint32_t dl_emu_program_phases(const struct dl_emu_program *p,
			       const struct dl_emu_program_phase **out)
{
	*out = p->phases;
	return p->nphases;
}
