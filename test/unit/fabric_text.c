/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fabric_text.h"

static void hear(void *context, enum dl_log_level level, const char *message)
{
	struct heard *h = context;

	if (level == DL_LOG_ERROR) {
		h->errors++;
		snprintf(h->error, sizeof(h->error), "%s", message);
	} else if (level == DL_LOG_WARNING) {
		if (!h->warnings++)
			snprintf(h->warning, sizeof(h->warning), "%s", message);
	}
}

void heard_init(struct heard *h)
{
	*h = (struct heard){ .log = { hear, h } };
}

int read_bytes(fabric_reader read, const char *text, size_t len, struct heard *h,
	       struct dl_fabric **out)
{
	/* A stream in memory cannot be empty. */
	FILE *from = len ? fmemopen((void *)text, len, "r") : fopen("/dev/null", "r");
	int err;

	assert_non_null(from);
	heard_init(h);
	err = read(from, "test", &h->log, out);
	fclose(from);
	return err;
}

static void list_cables(const struct dl_fabric *f, FILE *to)
{
	for (uint32_t i = 0; i < f->nports; i++) {
		const struct dl_fabric_port *p = &f->ports[i], *peer;

		if (p->peer == DL_NONE || p->peer < i)
			continue;
		peer = &f->ports[p->peer];
		fprintf(to, "%u.%u-%u.%u ", p->node, p->num, peer->node, peer->num);
	}
}

static void list_lids(const struct dl_fabric *f, FILE *to)
{
	for (uint32_t i = 0; i < f->nports; i++)
		if (dl_fabric_is_end_port(f, i))
			fprintf(to, "%u ", f->ports[i].lid);
}

static void assert_list(void (*list)(const struct dl_fabric *f, FILE *to),
			const struct dl_fabric *f, const char *expected)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	list(f, to);
	fclose(to);
	if (len)
		text[len - 1] = '\0';
	if (expected)
		assert_string_equal(text, expected);
	free(text);
}

void assert_contradiction(fabric_reader read, const struct contradiction *c)
{
	struct dl_fabric *f = NULL;
	char place[20] = "";
	struct heard h;

	if (read_bytes(read, c->text, strlen(c->text), &h, &f))
		fail_msg("was not read: %s\n%s", c->text, h.error);
	assert_int_equal(h.errors, 0);
	if (!h.warnings || !strstr(h.warning, c->words))
		fail_msg("no warning with \"%s\": %s\n%s", c->words, c->text, h.warning);
	if (c->line)
		snprintf(place, sizeof(place), "test:%u: ", c->line);
	if (strncmp(h.warning, place, strlen(place)))
		fail_msg("not at %s: %s\n%s", place, c->text, h.warning);
	assert_list(list_cables, f, c->cables);
	assert_list(list_lids, f, c->lids);
	dl_fabric_free(f);
}

char *write_string(fabric_writer write, const struct dl_fabric *f)
{
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);

	assert_non_null(to);
	assert_int_equal(write(f, to), 0);
	fclose(to);
	return text;
}

void assert_same_fabric(const struct dl_fabric *a, const struct dl_fabric *b)
{
	uint32_t i;

	assert_int_equal(a->nnodes, b->nnodes);
	assert_int_equal(a->nports, b->nports);
	assert_int_equal(a->nswitches, b->nswitches);
	assert_int_equal(a->top_lid, b->top_lid);
	for (i = 0; i < a->nnodes; i++) {
		const struct dl_fabric_node *m = &a->nodes[i], *n = &b->nodes[i];

		assert_int_equal(m->guid, n->guid);
		assert_int_equal(m->system_guid, n->system_guid);
		assert_int_equal(m->first_port, n->first_port);
		assert_int_equal(m->sw, n->sw);
		assert_int_equal(m->vendor, n->vendor);
		assert_int_equal(m->device, n->device);
		assert_int_equal(m->type, n->type);
		assert_int_equal(m->nports, n->nports);
		assert_string_equal(dl_fabric_node_id(a, i), dl_fabric_node_id(b, i));
		assert_string_equal(a->names + m->desc, b->names + n->desc);
		assert_int_equal(a->by_guid[i], b->by_guid[i]);
	}
	for (i = 0; i < a->nports; i++) {
		const struct dl_fabric_port *p = &a->ports[i], *q = &b->ports[i];

		assert_int_equal(p->guid, q->guid);
		assert_int_equal(p->node, q->node);
		assert_int_equal(p->peer, q->peer);
		assert_int_equal(p->lid, q->lid);
		assert_int_equal(p->lmc, q->lmc);
		assert_int_equal(p->width, q->width);
		assert_int_equal(p->speed, q->speed);
		assert_int_equal(p->vls, q->vls);
	}
	for (i = 0; i <= a->top_lid; i++)
		assert_int_equal(a->lid_port[i], b->lid_port[i]);
}

void assert_error(const struct heard *h, unsigned int line, const char *words)
{
	char where[32];

	snprintf(where, sizeof(where), "test:%u: ", line);
	if (h->errors == 1 && !strncmp(h->error, where, strlen(where)) && strstr(h->error, words))
		return;
	fail_msg("expected one error \"%s...%s...\", heard %u: \"%s\"", where, words, h->errors,
		 h->error);
}

/* ---- mutation ----------------------------------------------------------- */

struct bytes {
	char *at;
	size_t len, cap;
};

/* Replace `cut` bytes at `at` by `len` others. */
static void splice(struct bytes *b, size_t at, size_t cut, const char *with, size_t len)
{
	char *copy = malloc(len + 1);

	assert_non_null(copy);
	assert_true(b->len - cut + len <= b->cap);
	memcpy(copy, with, len);
	memmove(b->at + at + len, b->at + at + cut, b->len - at - cut);
	memcpy(b->at + at, copy, len);
	b->len += len - cut;
	free(copy);
}

static void damage_once(struct bytes *b, struct test_random *r)
{
	static const char *const words[] = {
		"0",
		"1",
		"255",
		"65535",
		"4294967296",
		"\"",
		"#",
		"[",
		"]",
		"(",
		")",
		"{",
		"}",
		"=",
		"\n",
		"\r\n",
		"\r",
		"\t",
		"-",
		"x",
		"lid ",
		"lmc 9",
		"4x",
		"FDR10",
		"\xff",
		"w=",
		"s=2",
		"v=3",
		"include \"x\"\n",
		"Switch 2 \"n\"\n",
		"Ca 1 \"m\"\n",
		"[1] \"m\"\n",
		"switchguid=0xffffffffffffffff\n",
		"\0",
	};
	const char *word = words[test_random(r, sizeof(words) / sizeof(*words))];
	size_t at = test_random(r, b->len + 1), from, len;
	size_t most = b->len - at < 40 ? b->len - at : 40;

	switch (test_random(r, 8)) {
	case 0: /* another byte */
		if (at < b->len)
			b->at[at] = test_random(r, 256);
		break;
	case 1: /* another digit */
	case 2:
	case 3:
		while (at < b->len && !isxdigit((unsigned char)b->at[at]))
			at++;
		if (at < b->len)
			b->at[at] = "0123456789abcdef"[test_random(r, 16)];
		break;
	case 4: /* a word more */
		splice(b, at, 0, word, *word ? strlen(word) : 1);
		break;
	case 5: /* something less */
		splice(b, at, test_random(r, most + 1), "", 0);
		break;
	case 6: /* a word for something else */
		splice(b, at, test_random(r, most + 1), word, strlen(word));
		break;
	default: /* a piece again, elsewhere */
		from = test_random(r, b->len + 1);
		len = test_random(r, 200);
		if (len > b->len - from)
			len = b->len - from;
		splice(b, at, 0, b->at + from, len);
	}
}

/* Written, read, written: the same fabric, the same bytes. */
static void check_round_trip(fabric_reader read, fabric_writer write, const struct dl_fabric *f)
{
	char *first = write_string(write, f), *second;
	struct dl_fabric *again;
	struct heard h;

	if (read_bytes(read, first, strlen(first), &h, &again))
		fail_msg("cannot read what was written: %s\n%s", h.error, first);
	second = write_string(write, again);
	assert_string_equal(first, second);
	dl_fabric_free(again);
	free(first);
	free(second);
}

void mutate(fabric_reader read, fabric_writer write, const char *const *texts, unsigned int ntexts,
	    struct test_random *r, unsigned int rounds)
{
	unsigned int i, good = 0, bad = 0;

	for (i = 0; i < rounds; i++) {
		const char *text = texts[test_random(r, ntexts)];
		struct bytes b = { .len = strlen(text) };
		unsigned int n = 1 + test_random(r, 4);
		struct dl_fabric *f;
		struct heard h;
		int err;

		b.cap = b.len + 1000;
		b.at = malloc(b.cap);
		assert_non_null(b.at);
		memcpy(b.at, text, b.len);
		while (n--)
			damage_once(&b, r);
		err = read_bytes(read, b.at, b.len, &h, &f);
		if (err) {
			bad++;
			assert_int_equal(err, -EINVAL);
			assert_int_equal(h.errors, 1);
			assert_int_equal(strncmp(h.error, "test:", 5), 0);
		} else {
			good++;
			assert_int_equal(h.errors, 0);
			check_round_trip(read, write, f);
			dl_fabric_free(f);
		}
		free(b.at);
	}
	print_message("%u damaged texts: %u read, %u refused\n", rounds, good, bad);
	assert_true(good > rounds / 50 && bad > rounds / 50);
}

uint32_t text_seed(uint32_t fallback)
{
	const char *text = getenv("DATELINE_TEST_SEED");
	uint32_t seed = text ? strtoul(text, NULL, 0) : fallback;

	print_message("seed %u (set DATELINE_TEST_SEED to change it)\n", seed);
	return seed;
}

struct dl_fabric *small_fabric(bool lids)
{
	static const struct {
		enum dl_fabric_node_type type;
		unsigned int nports;
		uint64_t guid;
	} nodes[] = {
		{ DL_FABRIC_SWITCH, 4, 0xA0 },
		{ DL_FABRIC_SWITCH, 4, 0xB0 },
		{ DL_FABRIC_CA, 1, 0xC0 },
		{ DL_FABRIC_CA, 1, 0xD0 },
	};
	static const uint8_t cables[][4] = {
		/* node, port, node, port */
		{ 0, 1, 1, 1 },
		{ 0, 2, 2, 1 },
		{ 1, 2, 3, 1 },
	};
	struct dl_fabric *f;

	assert_int_equal(dl_fabric_new(&f), 0);
	for (unsigned int i = 0; i < 4; i++) {
		const char id[] = { 'a' + i, '\0' };

		assert_int_equal(dl_fabric_add_node(f, nodes[i].type, nodes[i].nports,
						    nodes[i].guid, id, NULL),
				 0);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(
			dl_fabric_connect(f, f->nodes[cables[i][0]].first_port + cables[i][1],
					  f->nodes[cables[i][2]].first_port + cables[i][3]),
			0);
	for (uint32_t i = 2; i < 4; i++)
		f->ports[f->nodes[i].first_port + 1].guid = f->nodes[i].guid + 1;
	assert_int_equal(dl_fabric_finish(f, NULL), 0);
	if (lids)
		assert_int_equal(dl_fabric_assign_lids(f, 0), 0);
	return f;
}
