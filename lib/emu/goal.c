/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Programs in GOAL (Hoefler, Siebert and Lumsdaine 2009), as text:
 *
 *	num_ranks 2
 *	rank 0 {
 *	l1: calc 100
 *	l2: send 8b to 1 tag 3
 *	l2 requires l1
 *	}
 *	rank 1 {
 *	l1: recv 8b from 0 tag 3
 *	}
 *
 * Words may stand in any lines.  After an operation may follow `cpu` and `nic`
 * with a number; the latter means nothing here.  Labels may be used before they
 * are defined.  Comments are those of C; one that begins with "phase: NAME" says of
 * which phase the operations after it are, up to the next one or the end of the rank.
 *
 * The k-th send of a rank to another one with a tag is received by its k-th
 * receive from there with this tag, in the order of the file.  So what does not
 * match is found here, and a message finds its receive at once.
 *
 * Requirements in a circle are refused; circles of messages of several ranks are not: a
 * run tells who waits for whom.
 *
 * Complexity: O(n log n); memory for what the file has.
 */
#include "config.h"

#include <ctype.h>
#include <search.h>
#include <string.h>

#include "emu/program.h"

#define WORD_MAX 64
#define CPUS_MAX 64
#define OPS_MAX INT32_MAX
#define CALC_NS_MAX INT64_C(1000000000000)
#define MESSAGE_MAX (1 << 30)

struct goal_label {
	uint32_t op; /* NIL: not defined yet */
	uint32_t line;
	char name[];
};

struct goal_edge {
	const struct goal_label *from, *to;
	bool begun;
};

struct goal {
	struct dl_text text;
	char word[WORD_MAX]; /* the present one; empty: the end of the file */
	bool comment;
	struct dl_emu_program *p;
	uint32_t ops_cap;
	void *labels; /* of the rank, by name: a tree */
	void *phases; /* by name: a tree of labels, too, whose operations are numbers of phases */
	uint32_t phase, phases_cap; /* the present one */
	struct goal_edge *edges;
	uint32_t nedges, edges_cap;
	struct dl_arena arena;
};

/* ---- labels and phases ---------------------------------------------------- */

static int goal_compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct goal_label *)a)->name, ((const struct goal_label *)b)->name);
}

/* The label of the present word in a tree; NULL: no memory. */
static struct goal_label *goal_label(struct goal *g, void **tree)
{
	size_t size = sizeof(struct goal_label) + strlen(g->word) + 1;
	struct goal_label *l = dl_arena_alloc(&g->arena, size), **found;

	if (!l)
		return NULL;
	*l = (struct goal_label){ .op = DL_EMU_NIL, .line = g->text.line };
	memcpy(l->name, g->word, size - sizeof(*l));
	found = (struct goal_label **)tsearch(l, tree, goal_compare_labels);
	return found ? *found : NULL;
}

static void goal_keep(void *label)
{
	(void)label; /* it is in the arena */
}

/* The phase of the present word is that of the operations that follow. */
static int goal_enter_phase(struct goal *g)
{
	struct goal_label *l = goal_label(g, &g->phases);
	struct dl_emu_program *p = g->p;

	if (!l || !dl_array_room(p->phases, p->nphases, 1, &g->phases_cap))
		return -ENOMEM;
	if (l->op == DL_EMU_NIL) {
		l->op = p->nphases++;
		p->phases[l->op] = (struct dl_emu_program_phase){ 0 };
		memcpy(p->phases[l->op].name, l->name, strlen(l->name) + 1);
	}
	g->phase = l->op;
	return 0;
}

/* What follows "phase:" in a comment. */
static int goal_read_phase(struct goal *g)
{
	size_t n = dl_text_at_end(&g->text) ? 0 : strlen(g->text.at);
	const char *end = g->comment ? strstr(g->text.at, "*/") : NULL;

	n = end ? (size_t)(end - g->text.at) : n;
	while (n && isspace((unsigned char)g->text.at[n - 1]))
		n--;
	if (!n || n >= WORD_MAX)
		return dl_text_expected(&g->text, "the name of a phase, of at most 63 bytes");
	memcpy(g->word, g->text.at, n);
	g->word[n] = '\0';
	dl_text_clean(g->word);
	return goal_enter_phase(g);
}

/* ---- words --------------------------------------------------------------- */

/*
 * Skip blanks and comments.  1: something stands in this line; 0: nothing more; or a
 * negative errno.
 */
static int goal_skip(struct goal *g)
{
	for (;;) {
		char *end = g->comment ? strstr(g->text.at, "*/") : NULL;
		bool line;
		int err;

		if (g->comment && !end)
			return 0;
		if (end)
			g->text.at = end + 2;
		g->comment = false;
		if (dl_text_at_end(&g->text))
			return 0;
		line = !strncmp(g->text.at, "//", 2);
		if (!line && strncmp(g->text.at, "/*", 2))
			return 1;
		g->text.at += 2;
		g->comment = !line;
		err = dl_text_take_string(&g->text, "phase:") ? goal_read_phase(g) : 0;
		if (err || line)
			return err;
	}
}

/* The next word, or one of the characters : { }.  0 or a negative errno, reported. */
static int goal_next(struct goal *g)
{
	size_t n = 0;
	int state;

	while (!(state = g->text.at ? goal_skip(g) : 0)) {
		state = dl_text_next(&g->text);
		g->word[0] = '\0';
		if (state <= 0)
			return state;
	}
	if (state < 0)
		return state;
	n = *g->text.at == '-'; /* of a number that is refused where it stands */
	while (isalnum((unsigned char)g->text.at[n]) || g->text.at[n] == '_')
		n++;
	if (!n && strchr(":{}", *g->text.at))
		n = 1;
	if (!n || n >= WORD_MAX)
		return dl_text_expected(&g->text, "a word of at most 63 characters, or : { }");
	memcpy(g->word, g->text.at, n);
	g->word[n] = '\0';
	g->text.at += n;
	return 0;
}

static bool goal_is(const struct goal *g, const char *word)
{
	return !strcmp(g->word, word);
}

static int goal_wrong(const struct goal *g, const char *expected)
{
	return dl_text_error(&g->text, "\"%s\": expected %s", g->word, expected);
}

static int goal_take(struct goal *g, const char *word)
{
	return goal_is(g, word) ? goal_next(g) : goal_wrong(g, word);
}

/* A number, with `unit` behind it where that is wanted. */
static int goal_number(struct goal *g, const char *unit, uint64_t max, const char *what,
		       uint64_t *out)
{
	const char *end = dl_number_scan(g->word, 10, out);

	if (end != g->word && !strcmp(end, unit))
		end += strlen(unit);
	if (end == g->word || *end || *out > max)
		return goal_wrong(g, what);
	return goal_next(g);
}

/* ---- operations ---------------------------------------------------------- */

/* What may follow an operation. */
static int goal_read_rest(struct goal *g, struct dl_emu_op *op)
{
	uint64_t value;
	int err = 0;

	while (!err && (goal_is(g, "tag") || goal_is(g, "cpu") || goal_is(g, "nic"))) {
		char first = g->word[0];

		err = goal_next(g);
		if (!err)
			err = goal_number(g, "", first == 'c' ? CPUS_MAX - 1 : UINT32_MAX,
					  first == 'c' ? "the number of a CPU, below 64" :
					  first == 't' ? "a tag below 2^32; any tag, -1, is not "
							 "supported" :
							 "a number below 2^32",
					  &value);
		if (!err && first == 't')
			op->tag = value;
		if (!err && first == 'c')
			op->cpu = value;
		if (!err && op->cpu >= g->p->ncpus)
			g->p->ncpus = op->cpu + 1;
	}
	return err;
}

static int goal_read_message(struct goal *g, struct dl_emu_op *op)
{
	uint64_t peer;
	int err = goal_number(g, "b", MESSAGE_MAX, "bytes, at most 1073741824, such as 8b",
			      &op->size);

	if (!err)
		err = goal_take(g, op->kind == DL_EMU_OP_SEND ? "to" : "from");
	if (!err)
		err = goal_number(g, "", g->p->nranks - 1,
				  op->kind == DL_EMU_OP_SEND ?
					  "the number of a rank" :
					  "the number of a rank; any source, -1, is not supported",
				  &peer);
	if (!err && peer == op->rank)
		return dl_text_error(&g->text, "expected another rank than the rank itself");
	op->peer = err ? 0 : peer;
	return err;
}

static int goal_read_op(struct goal *g, uint32_t rank, struct goal_label *label)
{
	static const char *const kinds[] = { "send", "recv", "calc" };
	struct dl_emu_program *p = g->p;
	struct dl_emu_op op = { .rank = rank, .next = g->text.line, .phase = g->phase };
	int err;

	while (op.kind < 3 && !goal_is(g, kinds[op.kind]))
		op.kind++;
	if (op.kind == 3)
		return goal_wrong(g, "send, recv, calc or }");
	err = goal_next(g);
	if (!err && op.kind == DL_EMU_OP_CALC)
		err = goal_number(g, "", CALC_NS_MAX, "nanoseconds, at most 1000000000000",
				  &op.size);
	else if (!err)
		err = goal_read_message(g, &op);
	if (!err)
		err = goal_read_rest(g, &op);
	if (err)
		return err;
	op.size *= op.kind == DL_EMU_OP_CALC ? 1000 : 1;
	if (p->nops == OPS_MAX || !dl_array_room(p->ops, p->nops, 2, &g->ops_cap))
		return -ENOMEM;
	if (label)
		label->op = p->nops;
	p->ops[p->nops++] = op;
	p->ranks[rank].n++;
	return 0;
}

static int goal_read_requirement(struct goal *g, struct goal_label *to, bool begun)
{
	struct goal_label *from;
	int err = goal_next(g);

	if (err || !*g->word)
		return err ? err : goal_wrong(g, "a label");
	from = goal_label(g, &g->labels);
	if (!from || !dl_array_room(g->edges, g->nedges, 1, &g->edges_cap))
		return -ENOMEM;
	g->edges[g->nedges++] = (struct goal_edge){ from, to, begun };
	return goal_next(g);
}

/* "l1: send ...", "l1 requires l2", or an operation without a label. */
static int goal_read_statement(struct goal *g, uint32_t rank)
{
	struct goal_label *label;
	int err;

	if (goal_is(g, "send") || goal_is(g, "recv") || goal_is(g, "calc"))
		return goal_read_op(g, rank, NULL);
	if (!isalnum((unsigned char)g->word[0]) && g->word[0] != '_')
		return goal_wrong(g, "a label, send, recv, calc or }");
	label = goal_label(g, &g->labels);
	if (!label)
		return -ENOMEM;
	err = goal_next(g);
	if (!err && (goal_is(g, "requires") || goal_is(g, "irequires")))
		return goal_read_requirement(g, label, g->word[0] == 'i');
	if (!err)
		err = goal_take(g, ":");
	if (!err && label->op != DL_EMU_NIL)
		return dl_text_error(&g->text, "%s: expected a label only once in a rank",
				     label->name);
	return err ? err : goal_read_op(g, rank, label);
}

static int goal_check_labels(const struct goal *g, uint32_t first)
{
	for (uint32_t i = first; i < g->nedges; i++) {
		const struct goal_label *l[] = { g->edges[i].from, g->edges[i].to };

		for (unsigned int k = 0; k < 2; k++)
			if (l[k]->op == DL_EMU_NIL)
				return dl_fail(g->text.log, -EINVAL,
					       "%s:%u: %s: expected a label of this rank",
					       g->text.name, l[k]->line, l[k]->name);
	}
	return 0;
}

static int goal_read_rank(struct goal *g)
{
	struct dl_emu_program *p = g->p;
	uint32_t edges = g->nedges, line = g->text.line;
	uint64_t rank;
	int err = goal_take(g, "rank");

	if (!err)
		err = goal_number(g, "", p->nranks - 1, "the number of a rank", &rank);
	if (!err && p->ranks[rank].step)
		return dl_text_error(&g->text,
				     "expected rank %u only once: its operations begin in line %u",
				     (unsigned int)rank, p->ranks[rank].step);
	g->phase = 0;
	if (!err)
		err = goal_take(g, "{");
	if (err)
		return err;
	p->ranks[rank].step = line;
	p->ranks[rank].first = p->nops;
	while (!err && !goal_is(g, "}"))
		err = *g->word ? goal_read_statement(g, rank) : goal_wrong(g, "}");
	if (!err)
		err = goal_check_labels(g, edges);
	tdestroy(g->labels, goal_keep);
	g->labels = NULL;
	p->ranks[rank].left = p->ranks[rank].n;
	return err ? err : goal_next(g);
}

/* ---- what belongs together ----------------------------------------------- */

static uint32_t goal_end_of(const struct dl_emu_op *op, bool source)
{
	return (op->kind == DL_EMU_OP_SEND) == source ? op->rank : op->peer;
}

/* By source, destination, tag, kind, and place in the file. */
static int goal_compare_messages(const void *left, const void *right, void *ops)
{
	const struct dl_emu_op *a = (struct dl_emu_op *)ops + *(const uint32_t *)left;
	const struct dl_emu_op *b = (struct dl_emu_op *)ops + *(const uint32_t *)right;
	const uint64_t keys[][2] = {
		{ goal_end_of(a, true), goal_end_of(b, true) },
		{ goal_end_of(a, false), goal_end_of(b, false) },
		{ a->tag, b->tag },
		{ a->kind, b->kind },
		{ a - b > 0, b - a > 0 },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i][0] != keys[i][1])
			return keys[i][0] < keys[i][1] ? -1 : 1;
	return 0;
}

static bool goal_same_group(const struct dl_emu_op *a, const struct dl_emu_op *b, bool tags)
{
	return goal_end_of(a, true) == goal_end_of(b, true) &&
	       goal_end_of(a, false) == goal_end_of(b, false) && (!tags || a->tag == b->tag);
}

/* The sends, and then the receives, of one source, destination and tag. */
static int goal_match(const struct goal *g, const uint32_t *list, uint32_t n)
{
	struct dl_emu_op *ops = g->p->ops, *odd = NULL;
	uint32_t sends = 0;

	while (sends < n && ops[list[sends]].kind == DL_EMU_OP_SEND)
		sends++;
	if (2 * sends != n)
		odd = &ops[list[2 * sends > n ? n - sends : 2 * sends]];
	for (uint32_t i = 0; !odd && i < sends; i++) {
		ops[list[i]].number = list[sends + i];
		if (ops[list[sends + i]].size < ops[list[i]].size)
			odd = &ops[list[sends + i]];
		ops[list[sends + i]].size = ops[list[i]].size;
	}
	if (odd)
		dl_log(g->text.log, DL_LOG_ERROR,
		       "%s:%u: expected a %s of rank %u for this one, with its tag and no fewer "
		       "bytes than are sent",
		       g->text.name, odd->next, odd->kind == DL_EMU_OP_SEND ? "receive" : "send",
		       odd->peer);
	return odd ? -EINVAL : 0;
}

/* Receives of sends; and a flow for each source and destination. */
static int goal_match_all(struct goal *g)
{
	struct dl_emu_program *p = g->p;
	struct dl_emu_op *ops = p->ops;
	uint32_t *list = malloc((p->nops + 1ul) * sizeof(*list)), n = 0, end;
	int err = list ? 0 : -ENOMEM;

	for (uint32_t i = 0; list && i < p->nops; i++)
		if (ops[i].kind != DL_EMU_OP_CALC)
			list[n++] = i;
	if (n)
		qsort_r(list, n, sizeof(*list), goal_compare_messages, ops);
	for (uint32_t i = 0; !err && i < n; i = end) {
		for (end = i; end < n && goal_same_group(&ops[list[i]], &ops[list[end]], true);)
			end++;
		err = goal_match(g, list + i, end - i);
		if (!i || !goal_same_group(&ops[list[i - 1]], &ops[list[i]], false))
			p->nflows++;
		for (uint32_t k = i; k < end; k++)
			ops[list[k]].flow = p->nflows - 1;
	}
	if (!err)
		err = dl_emu_program_arrays(p);
	for (uint32_t i = 0; !err && i < n; i++)
		p->flows[ops[list[i]].flow].rank = goal_end_of(&ops[list[i]], true);
	free(list);
	return err;
}

static int goal_compare_edges(const void *left, const void *right)
{
	uint32_t a = ((const struct goal_edge *)left)->to->op;
	uint32_t b = ((const struct goal_edge *)right)->to->op;

	return (a > b) - (a < b);
}

/* Requirements by the operation that is required; what requires it, in the order of the file. */
static int goal_sort_edges(struct goal *g)
{
	struct dl_emu_program *p = g->p;
	struct dl_emu_op *ops = p->ops;

	p->edges = calloc(g->nedges + 1ul, sizeof(*p->edges));
	if (!p->edges)
		return -ENOMEM;
	if (g->nedges)
		qsort(g->edges, g->nedges, sizeof(*g->edges), goal_compare_edges);
	for (uint32_t i = 0; i < g->nedges; i++) {
		ops[g->edges[i].from->op].edges++;
		ops[g->edges[i].to->op].waits++;
	}
	for (uint32_t i = 1; i <= p->nops; i++)
		ops[i].edges += ops[i - 1].edges;
	for (uint32_t i = g->nedges; i-- > 0;)
		p->edges[--ops[g->edges[i].from->op].edges] = (struct dl_emu_op_edge){
			.to = g->edges[i].to->op,
			.begun = g->edges[i].begun,
		};
	return 0;
}

/* Requirements in a circle would never be met: begin all operations in thought. */
static int goal_check_circles(const struct goal *g)
{
	const struct dl_emu_program *p = g->p;
	uint32_t *list = malloc((p->nops + 1ul) * sizeof(*list)), n = 0;
	uint32_t *waits = calloc(p->nops + 1ul, sizeof(*waits));
	int err = list && waits ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < p->nops; i++) {
		waits[i] = p->ops[i].waits;
		if (!waits[i])
			list[n++] = i;
	}
	for (uint32_t i = 0; !err && i < n; i++)
		for (uint32_t k = p->ops[list[i]].edges; k < p->ops[list[i] + 1].edges; k++)
			if (!--waits[p->edges[k].to])
				list[n++] = p->edges[k].to;
	for (uint32_t i = 0; !err && n < p->nops; i++)
		if (waits[i])
			err = dl_fail(g->text.log, -EINVAL,
				      "%s:%u: expected requirements that do not lead in a circle: "
				      "this operation would wait for itself, or for one that does",
				      g->text.name, p->ops[i].next);
	free(list);
	free(waits);
	return err;
}

/* ---- files --------------------------------------------------------------- */

static int goal_read_all(struct goal *g, uint32_t most)
{
	struct dl_emu_program *p = g->p;
	uint64_t ranks = 0;
	int err = goal_enter_phase(g); /* of operations for which the file names none */

	if (!err)
		err = goal_next(g);
	if (!err)
		err = goal_take(g, "num_ranks");
	if (!err)
		err = goal_number(g, "", UINT32_MAX, "the number of ranks", &ranks);
	if (err)
		return err;
	if (!ranks || ranks > most)
		return dl_text_error(&g->text, "expected 1 to %u ranks, as many as there are hosts",
				     most);
	p->nranks = ranks;
	p->ncpus = 1;
	p->ranks = calloc(ranks + 1, sizeof(*p->ranks));
	p->ops = calloc(1, sizeof(*p->ops));
	g->ops_cap = 1;
	if (!p->ranks || !p->ops)
		return -ENOMEM;
	while (!err && *g->word)
		err = goal_read_rank(g);
	if (!err)
		memset(&p->ops[p->nops], 0,
		       sizeof(*p->ops)); /* where the edges of the last one end */
	if (!err)
		err = goal_match_all(g);
	if (!err)
		err = goal_sort_edges(g);
	return err ? err : goal_check_circles(g);
}

int dl_emu_program_read(FILE *from, const char *name, uint32_t most, const struct dl_log *log,
			struct dl_emu_program **out)
{
	struct goal g = { .p = calloc(1, sizeof(*g.p)), .word = "main" };
	int err;

	if (!g.p)
		return -ENOMEM;
	dl_text_begin(&g.text, from, name, log);
	err = goal_read_all(&g, most);
	dl_text_end(&g.text);
	free(g.edges);
	tdestroy(g.phases, goal_keep);
	dl_arena_free(&g.arena);
	if (err)
		dl_emu_program_free(g.p);
	else
		*out = g.p;
	return err;
}
