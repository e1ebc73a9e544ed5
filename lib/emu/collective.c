/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Known algorithms of collective operations, as programs.
 *
 * Each is a function that writes a rank's operations of a step; the next step
 * begins when all of them are done.  With n ranks, a latency of a and t for a
 * byte, and a `size` as in NCCL's tests, they take without congestion
 *
 *	allreduce-ring		2 (n - 1) (a + size t / n)
 *	allreduce-tree		2 log2(n) (a + size t)
 *	allreduce-doubling	log2(n) (a + size t)
 *	allgather		(n - 1) (a + size t / n)
 *	alltoall		(n - 1) (a + size t / n)
 *	halo			a + 2 size t for each dimension
 *	pipeline		(n - 1) (a + size t) + (count - 1) size t
 *
 * where n is a power of two.  Ring: the size is cut into n parts, which go round,
 * first to be added up, then to be given to all (Patarasuk and Yuan 2009).  Tree:
 * binomial, up to rank 0 and down again.  Doubling: in step k, ranks whose numbers
 * differ in bit k exchange everything; ranks above the largest power of two hand
 * theirs to a partner first, and get the result from it (Thakur, Rabenseifner and
 * Gropp 2005).  All to all: in step k, a rank sends to the k-th rank after it and
 * receives from the k-th before it.  Halo: on a grid that is a torus, with both
 * neighbours in each dimension, at once.  Pipeline: each rank passes `count`
 * messages on, receiving one while it sends the one before it.
 *
 * Each operation belongs to a phase, its number in the table below: once round the
 * ring; up or down the tree; an exchange, where the first phase is what is handed to a
 * partner before, and the last one what comes back; a step of all to all; a dimension;
 * the messages of one rank of the pipeline.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "emu/program.h"

#define SIZE_MAX_BYTES (UINT64_C(1) << 40)
#define MESSAGE_MAX_BYTES (UINT64_C(1) << 30)
#define COUNT_MAX 1000000

static int collective_op(struct dl_emu_op *op, enum dl_emu_op_kind kind, uint32_t peer,
			 uint32_t phase, uint32_t tag, uint64_t size)
{
	*op = (struct dl_emu_op){
		.kind = kind, .peer = peer, .phase = phase, .tag = tag, .size = size
	};
	return 1;
}

/* The bytes of one of n parts, `c` modulo n. */
static uint64_t collective_part(const struct dl_emu_program *p, uint32_t c)
{
	uint64_t n = p->nranks, part = c % n;

	return p->size * (part + 1) / n - p->size * part / n;
}

/* Round the ring: once, or twice; as often as the bus bandwidth says. */
static int collective_ring(const struct dl_emu_program *p, uint32_t rank, uint32_t step,
			   struct dl_emu_op *out)
{
	uint32_t n = p->nranks, from = (rank + n - 1) % n, ahead = 2 * n - step;
	uint32_t round = step / (n - 1);

	if (step >= p->kind->bus * (n - 1))
		return -1;
	collective_op(&out[0], DL_EMU_OP_SEND, (rank + 1) % n, round, step,
		      collective_part(p, rank + ahead));
	collective_op(&out[1], DL_EMU_OP_RECV, from, round, step, collective_part(p, from + ahead));
	return 2;
}

static int collective_all_to_all(const struct dl_emu_program *p, uint32_t rank, uint32_t step,
				 struct dl_emu_op *out)
{
	uint32_t n = p->nranks, to = (rank + step + 1ul) % n, from = (rank + n - step - 1) % n;

	if (step >= n - 1)
		return -1;
	collective_op(&out[0], DL_EMU_OP_SEND, to, step, step, collective_part(p, to));
	collective_op(&out[1], DL_EMU_OP_RECV, from, step, step, collective_part(p, rank));
	return 2;
}

enum { TREE_UP, TREE_DOWN };

/* Children of a rank are those that differ in a bit below its lowest one. */
static int collective_tree(const struct dl_emu_program *p, uint32_t rank, uint32_t step,
			   struct dl_emu_op *out)
{
	uint32_t low = rank & -rank, below = rank ? low : DL_EMU_NIL, children = 0;
	uint32_t child[32];
	int n = 0;

	for (uint32_t bit = 1; bit && bit < below && rank + (uint64_t)bit < p->nranks; bit <<= 1)
		child[children++] = rank + bit;
	if (step == 0) {
		for (uint32_t i = 0; i < children; i++)
			n += collective_op(&out[n], DL_EMU_OP_RECV, child[i], TREE_UP, TREE_UP,
					   p->size);
		return n;
	}
	if (step == 1 && rank) {
		n += collective_op(&out[n], DL_EMU_OP_SEND, rank - low, TREE_UP, TREE_UP, p->size);
		n += collective_op(&out[n], DL_EMU_OP_RECV, rank - low, TREE_DOWN, TREE_DOWN,
				   p->size);
	}
	if (step > 1 && step - 2 >= children)
		return -1;
	if (step > 1)
		n += collective_op(&out[n], DL_EMU_OP_SEND, child[children - 1 - (step - 2)],
				   TREE_DOWN, TREE_DOWN, p->size);
	return n;
}

/* Of the first 2 * rest ranks, the even ones leave the exchange to the odd ones. */
static int collective_doubling(const struct dl_emu_program *p, uint32_t rank, uint32_t step,
			       struct dl_emu_op *out)
{
	uint32_t steps = 31 - __builtin_clz(p->nranks), rest = p->nranks - (1u << steps), peer;
	bool folded = rank < 2 * rest;
	uint32_t number = folded ? rank / 2 : rank - rest, last = p->nphases - 1;

	if (step == 0 && folded)
		return collective_op(out, rank & 1 ? DL_EMU_OP_RECV : DL_EMU_OP_SEND, rank ^ 1, 0,
				     0, p->size);
	if (step == steps + 1 && folded)
		return collective_op(out, rank & 1 ? DL_EMU_OP_SEND : DL_EMU_OP_RECV, rank ^ 1,
				     last, last, p->size);
	if (step > steps)
		return -1;
	if (step == 0 || (folded && !(rank & 1)))
		return 0;
	peer = number ^ 1u << (step - 1);
	peer = peer < rest ? 2 * peer + 1 : peer + rest;
	collective_op(&out[0], DL_EMU_OP_SEND, peer, step, step, p->size);
	collective_op(&out[1], DL_EMU_OP_RECV, peer, step, step, p->size);
	return 2;
}

static int collective_halo(const struct dl_emu_program *p, uint32_t rank, uint32_t step,
			   struct dl_emu_op *out)
{
	uint32_t unit = 1;
	int n = 0;

	if (step)
		return -1;
	for (unsigned int d = 0; d < 3; d++) {
		uint32_t k = p->radix[d], c = rank / unit % k, base = rank - c * unit;
		uint32_t up = base + (c + 1) % k * unit, down = base + (c + k - 1) % k * unit;

		unit *= k;
		if (k == 1)
			continue;
		n += collective_op(&out[n], DL_EMU_OP_SEND, up, d, 2 * d, p->size);
		n += collective_op(&out[n], DL_EMU_OP_SEND, down, d, 2 * d + 1, p->size);
		n += collective_op(&out[n], DL_EMU_OP_RECV, down, d, 2 * d, p->size);
		n += collective_op(&out[n], DL_EMU_OP_RECV, up, d, 2 * d + 1, p->size);
	}
	return n;
}

static int collective_pipeline(const struct dl_emu_program *p, uint32_t rank, uint32_t step,
			       struct dl_emu_op *out)
{
	uint32_t sent = rank ? step - 1 : step;
	int n = 0;

	if (step > p->count)
		return -1;
	if (rank && step < p->count)
		n += collective_op(&out[n], DL_EMU_OP_RECV, rank - 1, rank - 1, step, p->size);
	if (rank + 1 < p->nranks && sent < p->count)
		n += collective_op(&out[n], DL_EMU_OP_SEND, rank + 1, rank, sent, p->size);
	return n;
}

static const struct dl_emu_collective collectives[] = {
	{ "allreduce-ring", collective_ring, 2, 1, 2, 0, true, "reduce-scatter", NULL,
	  "all-gather" },
	{ "allreduce-tree", collective_tree, 32, 1, 2, 0, false, "reduce", NULL, "broadcast" },
	{ "allreduce-doubling", collective_doubling, 2, 1, 2, 0, false, "fold", "exchange %u",
	  "unfold" },
	{ "allgather", collective_ring, 2, 1, 1, 0, true, "all-gather", NULL, NULL },
	{ "alltoall", collective_all_to_all, 2, 1, 1, 0, true, NULL, "step %u", NULL },
	{ "halo", collective_halo, 12, 6, 0, 'x', false, "x", "y", "z" },
	{ "pipeline", collective_pipeline, 2, 1, 0, 'n', false, NULL, "stage %u", NULL },
};

/* ---- their names --------------------------------------------------------- */

const char dl_emu_program_forms[] =
	"allreduce-ring:SIZE, allreduce-tree:SIZE, allreduce-doubling:SIZE, allgather:SIZE, "
	"alltoall:SIZE, halo:SIZE:XxYxZ or pipeline:SIZE:COUNT";

static const struct dl_emu_collective *collective_find(const char *text)
{
	for (size_t i = 0; i < sizeof(collectives) / sizeof(*collectives); i++)
		if (strlen(collectives[i].name) == strcspn(text, ":") &&
		    !strncmp(collectives[i].name, text, strcspn(text, ":")))
			return &collectives[i];
	return NULL;
}

bool dl_emu_program_is_known(const char *text)
{
	return strchr(text, ':') && collective_find(text);
}

/* "64", "8K", "1M", "2G"; NULL: it is none. */
static const char *collective_size(const char *text, uint64_t *out)
{
	static const char units[] = "KkMmGg";
	const char *end = dl_number_scan(text, 10, out), *unit = *end ? strchr(units, *end) : NULL;
	unsigned int shift = unit ? 10 * ((unit - units) / 2 + 1) : 0;

	if (end == text || !*out || *out > SIZE_MAX_BYTES >> shift)
		return NULL;
	*out <<= shift;
	return end + (unit != NULL);
}

/* What follows the size; false: it is wrong. */
static bool collective_extra(struct dl_emu_program *p, const char *text)
{
	uint64_t value = 0, points = 1;

	p->radix[0] = p->radix[1] = p->radix[2] = 1;
	if (!p->kind->extra)
		return !*text;
	for (unsigned int d = 0; d < (p->kind->extra == 'x' ? 3 : 1); d++) {
		const char *end;

		if (*text != (d ? 'x' : ':'))
			return false;
		end = dl_number_scan(text + 1, 10, &value);
		if (end == text + 1 || !value || value > COUNT_MAX)
			return false;
		p->radix[d] = p->count = value;
		points *= value;
		text = end;
		if (!*text)
			break;
	}
	return !*text && (p->kind->extra == 'n' || points == p->nranks);
}

/* Phases that are numbered are fewer than ranks: those of the table, and more where it has a %. */
static int collective_phases(struct dl_emu_program *p)
{
	const struct dl_emu_collective *kind = p->kind;
	bool numbered = kind->between && strchr(kind->between, '%');
	uint32_t first = kind->first != NULL, between = kind->between != NULL;

	p->nphases = first + (numbered ? p->nranks - 1 : between) + (kind->last != NULL);
	p->phases = calloc(p->nphases + 1ul, sizeof(*p->phases));
	for (uint32_t i = 0; p->phases && i < p->nphases; i++) {
		char *name = p->phases[i].name;

		if ((!i && first) || (kind->last && i + 1 == p->nphases))
			snprintf(name, sizeof(p->phases->name), "%s", i ? kind->last : kind->first);
		else
			snprintf(name, sizeof(p->phases->name), kind->between, i + !first);
	}
	return p->phases ? 0 : -ENOMEM;
}

static int collective_fill(struct dl_emu_program *p)
{
	uint32_t most = p->kind->ops, sends = p->kind->sends;

	p->ncpus = 1;
	p->nflows = p->nranks * sends;
	p->nops = p->nranks * most;
	p->ranks = calloc(p->nranks, sizeof(*p->ranks));
	p->ops = calloc(p->nops + 1ul, sizeof(*p->ops));
	if (!p->ranks || !p->ops || collective_phases(p) || dl_emu_program_arrays(p))
		return -ENOMEM;
	for (uint32_t r = 0; r < p->nranks; r++)
		p->ranks[r].first = r * most;
	for (uint32_t f = 0; f < p->nflows; f++)
		p->flows[f].rank = f / sends;
	return 0;
}

int dl_emu_program_make(const char *text, uint32_t nranks, const struct dl_log *log,
			struct dl_emu_program **out)
{
	struct dl_emu_program *p = calloc(1, sizeof(*p));
	const char *colon = strchr(text, ':'), *after;
	int err = 0;

	if (!p)
		return -ENOMEM;
	p->kind = collective_find(text);
	p->nranks = nranks;
	after = p->kind && colon ? collective_size(colon + 1, &p->size) : NULL;
	if (nranks < 2 || nranks > DL_EMU_PORTS_MAX)
		err = dl_fail(log, -EINVAL, "%s: expected two ranks or more", text);
	else if (!after || !collective_extra(p, after))
		err = dl_fail(log, -EINVAL,
			      "%s: expected %s, with a size such as 4096 or 8M, and radices whose "
			      "product is %u, the number of ranks",
			      text, dl_emu_program_forms, nranks);
	else if (p->size / (p->kind->parts ? nranks : 1) >= MESSAGE_MAX_BYTES)
		err = dl_fail(log, -EINVAL, "%s: expected messages of less than 1G", text);
	if (!err)
		err = collective_fill(p);
	if (err)
		dl_emu_program_free(p);
	else
		*out = p;
	return err;
}
