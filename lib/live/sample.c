/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The path SLs of a large fabric from answers for a few of its pairs.
 *
 * Problem.  A subnet administrator answers some ten thousand questions a
 * second, and pairs of end ports are a thousand million.  But path SLs of torus
 * engines depend on the switches, with balanced ties on the destination LID's
 * parity, too, and there bit by bit on one coordinate of the source and one of
 * the destination.  Neither coordinates nor engine are known here, only that
 * there is some such order.
 *
 * Method.  Sources are switches; destinations are the LIDs of one parity at a
 * switch.  For each bit (and for "there is no path") both are sorted into
 * classes that the answers so far do not tell apart; a bit is then a function
 * of two classes.  Answers are those to and from some probes, which are asked
 * about with all others.  Pairs of classes that no answer covers are asked for
 * by themselves.  Then pairs drawn from all end ports are asked for.  A wrong
 * prediction shows two members of one class that differ, so its ends become
 * probes, and it begins anew; the result is taken when the last sample has no
 * wrong one.
 *
 * Limits.  A fabric without such an order needs too many probes: -ENOTSUP.  An
 * exception of a few pairs among millions can escape the sample: whoever uses
 * the result says that it is one of a sample.
 *
 * Complexity: some dozens of questions for each source and destination, two
 * million at most.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "live/internal.h"
#include "dateline/base.h"

#define BITS 5 /* of an SL, and "no path" */
#define FIRST_PROBES 8
#define PROBES_MAX 160
#define MOST_NEW 2	  /* probes of a round, each way */
#define SAMPLE_FIRST 2000 /* pairs, while there are wrong ones */
#define CLASSES_MAX 1024
#define UNKNOWN 2

struct probes {
	uint32_t at[PROBES_MAX]; /* destinations or sources */
	uint8_t *answers;	 /* a row for each: from all sources, or to all destinations */
	uint32_t n, asked;
};

/* One bit as a function of classes. */
struct bit {
	uint32_t *src, *dst; /* class of each */
	uint32_t nsrc, ndst;
	uint8_t *value; /* by class of source, class of destination */
};

struct sample {
	const struct dl_live_sample *s;
	struct dl_arena arena;
	struct dl_random random;
	struct probes to, from; /* all sources to the probes; the probes to all */
	struct bit bits[BITS];
	struct dl_live_pair *pairs;
	uint8_t *sls;
	uint32_t npairs, cap;
	uint64_t asked;
	bool found; /* a new probe in this round */
};

/* ---- questions --------------------------------------------------------- */

static int add_pair(struct sample *x, uint32_t from, uint32_t to, uint32_t choice)
{
	if (x->npairs == x->cap) {
		uint32_t cap = 2 * x->cap + 1024;
		struct dl_live_pair *pairs = realloc(x->pairs, cap * sizeof(*pairs));
		uint8_t *sls = realloc(x->sls, cap);

		x->pairs = pairs ? pairs : x->pairs;
		x->sls = sls ? sls : x->sls;
		if (!pairs || !sls)
			return -ENOMEM;
		x->cap = cap;
	}
	x->pairs[x->npairs++] = (struct dl_live_pair){ from, to, choice };
	return 0;
}

static int ask(struct sample *x)
{
	x->asked += x->npairs;
	if (x->asked > DL_LIVE_MANY_PAIRS)
		return -ENOTSUP;
	return x->npairs ? x->s->ask(x->s->context, x->pairs, x->npairs, x->sls) : 0;
}

static void add_probe(struct sample *x, struct probes *p, uint32_t at)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->at[i] == at)
			return;
	if (p->n == PROBES_MAX || (p->asked && p->n >= p->asked + MOST_NEW))
		return;
	p->at[p->n++] = at;
	x->found = true;
}

static int ask_probes(struct sample *x)
{
	uint32_t nsrc = x->s->nsrc, ndst = x->s->ndst;
	int err = 0;

	x->npairs = 0;
	for (uint32_t i = x->to.asked; i < x->to.n; i++)
		for (uint32_t s = 0; !err && s < nsrc; s++)
			err = add_pair(x, s, x->to.at[i], 0);
	for (uint32_t i = x->from.asked; i < x->from.n; i++)
		for (uint32_t t = 0; !err && t < ndst; t++)
			err = add_pair(x, x->from.at[i], t, 0);
	if (!err)
		err = ask(x);
	if (err)
		return err;
	memcpy(x->to.answers + x->to.asked * (size_t)nsrc, x->sls,
	       (x->to.n - x->to.asked) * (size_t)nsrc);
	memcpy(x->from.answers + x->from.asked * (size_t)ndst,
	       x->sls + (x->to.n - x->to.asked) * (size_t)nsrc,
	       (x->from.n - x->from.asked) * (size_t)ndst);
	x->to.asked = x->to.n;
	x->from.asked = x->from.n;
	return 0;
}

/* ---- classes ----------------------------------------------------------- */

static unsigned int bit_of(uint8_t sl, unsigned int bit)
{
	if (bit == BITS - 1)
		return sl == DL_TABLES_NO_SL;
	return sl == DL_TABLES_NO_SL ? 0 : sl >> bit & 1;
}

/* Tell apart what this row tells apart.  Returns the number of classes. */
static uint32_t refine(uint32_t *class, uint32_t n, uint32_t nclasses, const uint8_t *row,
		       unsigned int bit)
{
	uint32_t renumbered[2 * CLASSES_MAX], next = 0;

	memset(renumbered, 0xFF, 2 * nclasses * sizeof(*renumbered));
	for (uint32_t s = 0; s < n; s++) {
		uint32_t *number = &renumbered[2 * class[s] + bit_of(row[s], bit)];

		if (*number == DL_NONE)
			*number = next++;
		class[s] = *number;
	}
	return next;
}

static int classify(const struct probes *p, unsigned int bit, uint32_t *class, uint32_t n,
		    uint32_t *nclasses)
{
	memset(class, 0, n * sizeof(*class));
	*nclasses = 1;
	for (uint32_t i = 0; i < p->n; i++) {
		*nclasses = refine(class, n, *nclasses, p->answers + i * (size_t)n, bit);
		if (*nclasses > CLASSES_MAX)
			return -ENOTSUP;
	}
	return 0;
}

/* An answer; one that contradicts another shows what the classes miss. */
static void learn(struct sample *x, unsigned int bit, uint32_t from, uint32_t to, uint8_t sl)
{
	struct bit *b = &x->bits[bit];
	uint8_t *value = &b->value[b->src[from] * (size_t)b->ndst + b->dst[to]];

	if (*value == UNKNOWN)
		*value = bit_of(sl, bit);
	if (*value == bit_of(sl, bit))
		return;
	add_probe(x, &x->from, from);
	add_probe(x, &x->to, to);
}

static int learn_bit(struct sample *x, unsigned int bit)
{
	struct bit *b = &x->bits[bit];
	uint32_t nsrc = x->s->nsrc, ndst = x->s->ndst;
	int err = classify(&x->to, bit, b->src, nsrc, &b->nsrc);

	if (!err)
		err = classify(&x->from, bit, b->dst, ndst, &b->ndst);
	if (err)
		return err;
	free(b->value);
	b->value = malloc((size_t)b->nsrc * b->ndst);
	if (!b->value)
		return -ENOMEM;
	memset(b->value, UNKNOWN, (size_t)b->nsrc * b->ndst);
	for (uint32_t i = 0; i < x->to.n; i++)
		for (uint32_t s = 0; s < nsrc; s++)
			learn(x, bit, s, x->to.at[i], x->to.answers[i * (size_t)nsrc + s]);
	for (uint32_t i = 0; i < x->from.n; i++)
		for (uint32_t t = 0; t < ndst; t++)
			learn(x, bit, x->from.at[i], t, x->from.answers[i * (size_t)ndst + t]);
	return 0;
}

/* Some member of each class. */
static void list_members(const uint32_t *class, uint32_t n, uint32_t member[CLASSES_MAX])
{
	for (uint32_t s = n; s-- > 0;)
		member[class[s]] = s;
}

/* Ask for pairs of classes that no probe covers. */
static int fill_cells(struct sample *x, unsigned int bit)
{
	struct bit *b = &x->bits[bit];
	uint32_t src[CLASSES_MAX], dst[CLASSES_MAX];
	int err = 0;

	list_members(b->src, x->s->nsrc, src);
	list_members(b->dst, x->s->ndst, dst);
	x->npairs = 0;
	for (uint32_t i = 0; i < b->nsrc; i++)
		for (uint32_t j = 0; !err && j < b->ndst; j++)
			if (b->value[i * (size_t)b->ndst + j] == UNKNOWN)
				err = add_pair(x, src[i], dst[j], 0);
	if (!err)
		err = ask(x);
	for (uint32_t i = 0; !err && i < x->npairs; i++)
		learn(x, bit, x->pairs[i].from, x->pairs[i].to, x->sls[i]);
	return err;
}

/* ---- predictions ------------------------------------------------------- */

static uint8_t predict(const struct sample *x, uint32_t from, uint32_t to)
{
	uint8_t sl = 0;

	for (unsigned int bit = 0; bit < BITS; bit++) {
		const struct bit *b = &x->bits[bit];

		sl |= b->value[b->src[from] * (size_t)b->ndst + b->dst[to]] << bit;
	}
	return sl >> (BITS - 1) ? DL_TABLES_NO_SL : sl;
}

/* Pairs drawn from all: the ends of those that are wrong become probes. */
static int check(struct sample *x, uint32_t npairs)
{
	int err = 0;

	x->npairs = 0;
	for (uint32_t i = 0; !err && i < npairs; i++) {
		struct dl_random_block r = dl_random_four(&x->random);

		err = add_pair(x, (uint64_t)r.v[0] * x->s->nsrc >> 32,
			       (uint64_t)r.v[1] * x->s->ndst >> 32, r.v[2]);
	}
	if (!err)
		err = ask(x);
	for (uint32_t i = 0; !err && i < x->npairs; i++) {
		const struct dl_live_pair *p = &x->pairs[i];
		uint32_t nto = x->to.n, nfrom = x->from.n;

		if (predict(x, p->from, p->to) == x->sls[i])
			continue;
		add_probe(x, &x->to, p->to);
		add_probe(x, &x->from, p->from);
		/* Probes for their part agree: it is the end port that differs. */
		if (!x->found && nto == x->to.n && nfrom == x->from.n)
			err = -ENOTSUP;
	}
	return err;
}

static int one_round(struct sample *x)
{
	int err = ask_probes(x);

	x->found = false;
	for (unsigned int bit = 0; !err && bit < BITS; bit++)
		err = learn_bit(x, bit);
	for (unsigned int bit = 0; !err && !x->found && bit < BITS; bit++)
		err = fill_cells(x, bit);
	if (!err && !x->found)
		err = check(x, SAMPLE_FIRST);
	if (!err && !x->found)
		err = check(x, DL_LIVE_SAMPLE_CHECKED);
	if (!err && x->found && (x->to.n == PROBES_MAX || x->from.n == PROBES_MAX))
		err = -ENOTSUP;
	return err;
}

static int begin(struct sample *x)
{
	uint32_t nsrc = x->s->nsrc, ndst = x->s->ndst;

	x->to.answers = dl_arena_alloc(&x->arena, PROBES_MAX * (size_t)nsrc);
	x->from.answers = dl_arena_alloc(&x->arena, PROBES_MAX * (size_t)ndst);
	if (!x->to.answers || !x->from.answers)
		return -ENOMEM;
	for (unsigned int bit = 0; bit < BITS; bit++) {
		x->bits[bit].src = dl_arena_alloc(&x->arena, nsrc * sizeof(uint32_t));
		x->bits[bit].dst = dl_arena_alloc(&x->arena, ndst * sizeof(uint32_t));
		if (!x->bits[bit].src || !x->bits[bit].dst)
			return -ENOMEM;
	}
	for (unsigned int i = 0; i < FIRST_PROBES; i++) {
		add_probe(x, &x->to, dl_random_below(&x->random, ndst));
		add_probe(x, &x->from, dl_random_below(&x->random, nsrc));
	}
	return 0;
}

int dl_live_sample(const struct dl_live_sample *s, uint8_t *sls)
{
	struct sample x = { .s = s, .random = { .seed = 1 }, .found = true };
	int err = begin(&x);

	while (!err && x.found)
		err = one_round(&x);
	for (uint32_t from = 0; !err && from < s->nsrc; from++)
		for (uint32_t to = 0; to < s->ndst; to++)
			sls[from * (size_t)s->ndst + to] = predict(&x, from, to);
	for (unsigned int bit = 0; bit < BITS; bit++)
		free(x.bits[bit].value);
	free(x.pairs);
	free(x.sls);
	dl_arena_free(&x.arena);
	return err;
}
